"""Worlds whose state is hidden."""
