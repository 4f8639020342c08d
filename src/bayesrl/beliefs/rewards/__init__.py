"""Beliefs about rewards: of pairs, and of experts."""
