"""Beliefs: one conjugate or approximate posterior per file."""

from bayesrl._lazy import export

export(__name__)
