"""Planners that add a bonus or assume the best that is plausible."""
