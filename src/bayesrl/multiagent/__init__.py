"""Chapter 7.3: several agents. Beliefs about the others: their strategies in a game, their types in a coalition."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs.games.dirichlet_game import DirichletGame
from bayesrl.beliefs.games.finite_games import FiniteGames
from bayesrl.beliefs.games.joint import JointTransition
from bayesrl.beliefs.games.repeated_game import RepeatedGame
from bayesrl.models.stochastic_game import StochasticGame

if TYPE_CHECKING:
    from bayesrl.multiagent.bayesian_marl import BayesianMARL as BayesianMARL
    from bayesrl.multiagent.coalition_formation import CoalitionFormation as CoalitionFormation
    from bayesrl.multiagent.coalition_formation import CoalitionProblem as CoalitionProblem
    from bayesrl.multiagent.coalition_formation import TypeBelief as TypeBelief
    from bayesrl.multiagent.formation import Formation as Formation
    from bayesrl.multiagent.formation import formation as formation
    from bayesrl.multiagent.run_game import play as play
    from bayesrl.multiagent.run_game import run_game as run_game

__all__ = ["DirichletGame", "FiniteGames", "JointTransition", "RepeatedGame", "StochasticGame"]

export(
    __name__,
    {
        "formation": ("Formation", "formation"),
        "run_game": ("play", "run_game"),
        "bayesian_marl": ("BayesianMARL",),
        "coalition_formation": ("CoalitionFormation", "CoalitionProblem", "TypeBelief"),
    },
)
