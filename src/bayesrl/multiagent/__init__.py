"""Chapter 7.3: several agents. Beliefs about the others: their strategies in a game, their types in a coalition."""

from bayesrl._lazy import export

export(__name__)
