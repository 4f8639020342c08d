"""Beliefs about the arms of a bandit."""
