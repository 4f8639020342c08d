"""Bandits and the survey's online shop."""
