"""Compiled simulators: what a search follows instead of the world."""
