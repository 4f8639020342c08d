"""Worlds whose states or actions are vectors, and the random walk of the actor-critic papers."""
