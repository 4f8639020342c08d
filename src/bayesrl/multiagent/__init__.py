"""Chapter 7.3: several agents. Beliefs about the others: their strategies in a game, their types in a coalition."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs.games._dirichlet_game import DirichletGame
from bayesrl.beliefs.games._finite_games import FiniteGames
from bayesrl.beliefs.games._joint import JointTransition
from bayesrl.beliefs.games._repeated_game import RepeatedGame
from bayesrl.models.stochastic_game import StochasticGame

if TYPE_CHECKING:
    from bayesrl.multiagent._formation import Formation as Formation
    from bayesrl.multiagent._formation import formation as formation
    from bayesrl.multiagent._play import play as play
    from bayesrl.multiagent._play import run_game as run_game
    from bayesrl.multiagent.bayesian_marl import BayesianMARL as BayesianMARL
    from bayesrl.multiagent.coalition_formation import CoalitionFormation as CoalitionFormation
    from bayesrl.multiagent.coalition_formation import CoalitionProblem as CoalitionProblem
    from bayesrl.multiagent.coalition_formation import TypeBelief as TypeBelief

__all__ = ["DirichletGame", "FiniteGames", "JointTransition", "RepeatedGame", "StochasticGame"]

export(
    __name__,
    {
        "_formation": ("Formation", "formation"),
        "_play": ("play", "run_game"),
        "bayesian_marl": ("BayesianMARL",),
        "coalition_formation": ("CoalitionFormation", "CoalitionProblem", "TypeBelief"),
    },
)
