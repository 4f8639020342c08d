"""Beliefs about continuous dynamics and noise."""
