"""Beliefs about functions: regression, and values of states from temporal differences."""
