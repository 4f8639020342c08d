"""Structured priors: clusterings of states, graphs of variables."""
