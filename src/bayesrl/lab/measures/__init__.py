"""Measures of recorded runs."""
