"""Solvers that work ahead on the Bayes-adaptive MDP."""
