"""Beliefs about finite MDPs."""
