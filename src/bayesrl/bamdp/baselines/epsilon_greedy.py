"""Epsilon-greedy on the mean model (survey §4.2).

The action is uniformly random with probability epsilon, and otherwise greedy on the mean model.

Deviations: none. Cost: one warm-started solve per decision. Claims: action frequencies; values at a point belief.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._mean_model import OnMeanModel
from bayesrl.beliefs.choices import Ties, best_action
from bayesrl.checks import Floats
from bayesrl.facets import Facets
from bayesrl.kernels.ties import size, tied
from bayesrl.parameters import PROBABILITY, declared
from bayesrl.registry import register


@register(
    "epsilon-greedy",
    kind="planner",
    survey="4.2",
    paper="Sutton98IR",
    example=lambda: EpsilonGreedy(),
    facets=Facets(
        depth="N/A",
        actions="all a, or a ~ rand()",
        successors="all s'",
        posterior="N/A",
        solution="Q solved by DP",
        guarantee="none",
    ),
    evidence=(
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_epsilon_greedy_frequencies",
        "tests/bamdp/test_figures.py::test_bbrl_chain_family",
    ),
)
@declared
class EpsilonGreedy(OnMeanModel):
    """Act greedily on the mean model, but at random with a small probability.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), EpsilonGreedy(epsilon=0.2))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    130.0
    """

    epsilon: Annotated[float, PROBABILITY, "Probability of a random action."] = 0.1
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "random"

    def choose(self, q: Floats, values: Floats, rng: Generator) -> tuple[int, dict[str, Any]]:
        """The best action, or one at random."""
        if rng.random() < self.epsilon:
            action = int(rng.random() * len(q))
        else:
            action = best_action(q, self.ties, rng, size(values))
        greedy = tied(q[None], size(values))[0]
        probability = self.epsilon / len(q) + (1.0 - self.epsilon) * greedy / greedy.sum()
        return action, {"probability": np.asarray(probability)}
