"""Exact solvers of known MDPs."""
