"""The common parts of agents that hold solved models and listen to an oracle."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.finite_pomdps import FinitePOMDPs
from bayesrl.capabilities import offers
from bayesrl.checks import Floats, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.pomdp import NOTHING, TabularPOMDP
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors
from bayesrl.models.pomdp_solvers.pbvi import PBVI
from bayesrl.problems import TakesQueries, name_of


def solved(models: list[TabularPOMDP], size: int, rng: Generator) -> tuple[AlphaVectors, ...]:
    """The solution of each model, by point-based value iteration on at most `size` beliefs."""
    return tuple(PBVI(size=size).solve(model, rng) for model in models)


def model_values(belief: FinitePOMDPs, solutions: tuple[AlphaVectors, ...]) -> Floats:
    """Q_i(b_i, a), shape (N, A); zeros under a model that is excluded."""
    q = np.zeros((len(solutions), belief.n_actions))
    for i, (b, solution) in enumerate(zip(belief.per_model(), solutions, strict=True)):
        if b.any():
            q[i] = solution.q(b)
    return q


def read_observation(owner: str, transition: Transition, n: int) -> tuple[int, ...]:
    """The entries of an observation from an oracle: what was seen, and its answers."""
    seen = transition.next_observation
    if not isinstance(seen, (tuple, list, np.ndarray)) or len(seen) != n:
        hint = "An oracle's world shows it, such as asking-for-state."
        raise InvalidArgument(owner, "next_observation", f"a tuple of {n} numbers", seen, hint)
    return tuple(integer(owner, "next_observation", x, NOTHING) for x in seen)


def check_counts(owner: str, counts: object) -> None:
    """Refuse a prior that is not a set of counts."""
    if not isinstance(counts, DirichletPOMDP):
        hint = "A world with a hidden state has it as model_prior()."
        raise InvalidArgument(owner, "model_prior", "a DirichletPOMDP", counts, hint)


def check_query(owner: str, world: object, query: str) -> None:
    """Refuse a world that does not take these questions."""
    if not offers(world, TakesQueries) or world.query != query:
        expected = f"one that takes questions, such as asking-for-{query}"
        raise InvalidArgument(owner, "world", expected, name_of(world))
