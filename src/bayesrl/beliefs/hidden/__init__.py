"""Beliefs over hidden states, with known and with unknown models."""
