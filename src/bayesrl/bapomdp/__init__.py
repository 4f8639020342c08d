"""Chapter 4.9: planners and agents for POMDPs whose model is unknown, one method per file."""

from bayesrl._lazy import export

export(__name__)
