"""Beliefs about finite MDPs and their rewards."""
