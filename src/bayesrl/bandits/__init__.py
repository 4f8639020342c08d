"""Chapter 3: Bayesian bandits, one method per file."""
