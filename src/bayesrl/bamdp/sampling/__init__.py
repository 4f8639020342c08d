"""Planners that act on models drawn from the belief."""
