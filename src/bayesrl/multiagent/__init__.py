"""Chapter 7.3: several agents. Beliefs about the others: their strategies in a game, their types in a coalition."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.multiagent._formation import Formation as Formation
    from bayesrl.multiagent._formation import formation as formation
    from bayesrl.multiagent.coalition_formation import CoalitionFormation as CoalitionFormation
    from bayesrl.multiagent.coalition_formation import CoalitionProblem as CoalitionProblem
    from bayesrl.multiagent.coalition_formation import TypeBelief as TypeBelief

export(
    __name__,
    {
        "_formation": ("Formation", "formation"),
        "coalition_formation": ("CoalitionFormation", "CoalitionProblem", "TypeBelief"),
    },
)
