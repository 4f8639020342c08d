"""Compiled dynamic programming."""
