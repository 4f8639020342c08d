"""Solvers of known POMDPs: alpha-vectors, exact and at points, and bounds of the optimum."""
