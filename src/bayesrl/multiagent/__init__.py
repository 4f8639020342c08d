"""Chapter 7.3: several agents. Beliefs about the others: their strategies in a game, their types in a coalition."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    pass

export(__name__, {})
