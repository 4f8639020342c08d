"""Oracles: worlds with a hidden state in which questions may be asked, at a price."""
