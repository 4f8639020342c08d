"""Worlds of chapter 6: machines and stocks, whose models are fitted to little data."""
