"""Beliefs about finite problems with a hidden state."""
