"""Beliefs about dynamics with structure: clusters, factors, continuous states."""
