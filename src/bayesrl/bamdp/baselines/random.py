"""Random: every action has the same probability under every belief. Every method should beat this baseline."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import ListsActions, offers
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.facets import Facets
from bayesrl.parameters import declared
from bayesrl.problems import ChoosesSeveral, name_of
from bayesrl.registry import register


@register(
    "random",
    kind="planner",
    survey="4.2",
    example=lambda: Random(),
    facets=Facets(
        depth="N/A",
        actions="a ~ rand()",
        successors="N/A",
        posterior="N/A",
        solution="N/A",
        guarantee="none",
    ),
    evidence=(
        "tests/bamdp/test_planners.py::test_random_frequencies",
        "tests/bamdp/test_figures.py::test_random_returns",
    ),
)
@declared
class Random:
    """Act uniformly at random.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), Random())
    >>> b.run(agent, world, steps=10, seed=0).action
    array([0, 0, 0, 0, 1, 0, 1, 1, 0, 1])
    """

    needs: ClassVar[tuple[type, ...]] = (ListsActions,)

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a bandit of which several arms are chosen at once."""
        if offers(world, ChoosesSeveral):
            raise InvalidArgument("Random", "world", "one in which one action is chosen", name_of(world))

    def start(self) -> None:
        """Nothing to remember."""
        return

    def plan(
        self, belief: ListsActions, observation: object, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Draw an action uniformly."""
        A = belief.n_actions
        return Decision(int(rng.random() * A), None, {"probability": np.full(A, 1.0 / A)})
