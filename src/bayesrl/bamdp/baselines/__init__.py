"""Baselines: acting on the mean model, at random, or without a model."""
