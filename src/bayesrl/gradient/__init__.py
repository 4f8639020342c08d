"""Chapters 5.2 and 5.3: beliefs about policy gradients, and agents that follow them. Policies live in `models`."""

from bayesrl._lazy import export

export(__name__)
