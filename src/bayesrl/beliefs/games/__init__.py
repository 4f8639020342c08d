"""Beliefs about a game and the other player: what joint actions do, and what the other will do."""
