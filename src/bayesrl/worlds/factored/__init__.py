"""Worlds whose states are tuples of variables, too many to list."""
