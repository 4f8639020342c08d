"""Chapter 3: Bayesian bandits, one method per file."""

from bayesrl._lazy import export

export(__name__)
