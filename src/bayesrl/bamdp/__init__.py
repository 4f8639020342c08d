"""Chapter 4, discrete: planners for the Bayes-adaptive MDP, one method per file."""

from bayesrl._lazy import export

export(__name__)
