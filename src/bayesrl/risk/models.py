"""The models that the methods of this chapter plan for: a belief, or finitely many models with weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import HasMeanMDP, ListsMDPs, SamplesMDPs, offers, require
from bayesrl.checks import Floats, frozen, generator
from bayesrl.core import Belief, Family, World
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solvers.proper import must_be_proper


class Models(NamedTuple):
    """Finitely many models of one problem: the same states, actions, discount, start and terminal states."""

    models: tuple[TabularMDP, ...]
    weights: Floats
    """Their probabilities, (n,)."""
    sampled: bool
    """Whether they were drawn from a belief with more models."""


PRIOR = "Make a prior of it first: DirichletMDP.structured(world)."


def require_belief(owner: str, given: object, *needs: type, hint: str = PRIOR) -> None:
    """Raise `Incompatible` if a belief lacks what `owner` needs. Models and worlds are refused with a hint."""
    if isinstance(given, TabularMDP) or offers(given, World) or (offers(given, Family) and not offers(given, Belief)):
        raise InvalidArgument(owner, "belief", "a belief", type(given).__name__, hint)
    require(owner, given, *needs)


def require_ends(owner: str, belief: object) -> None:
    """Refuse a discount of 1 if some policy need not end in the mean model, or in a model of a belief that lists them.

    A belief that has neither is asked when its models are drawn.
    """
    if offers(belief, ListsMDPs):
        for i in np.flatnonzero(belief.posterior()) if belief.gamma == 1.0 else ():
            must_be_proper(owner, "belief", belief.models[i])
    elif offers(belief, HasMeanMDP) and belief.gamma == 1.0:
        must_be_proper(owner, "belief", belief.mean_mdp())


def models_of(owner: str, given: Any, samples: int, rng: Generator | None) -> Models:
    """The models of a belief over finitely many, those of a sequence, or `samples` draws from any other belief."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        models = tuple(given)
        return Models(alike(owner, models), frozen(np.full(len(models), 1.0 / len(models))), False)
    if offers(given, ListsMDPs):
        weights = given.posterior()
        kept = np.flatnonzero(weights)
        models = tuple(given.models[i] for i in kept)
        return Models(alike(owner, models), frozen(weights[kept]), False)
    require_belief(owner, given, SamplesMDPs)
    rng = generator(owner, rng)
    models = tuple(given.sample_mdp(rng) for _ in range(samples))
    return Models(alike(owner, models), frozen(np.full(samples, 1.0 / samples)), True)


def alike(owner: str, models: tuple[object, ...]) -> tuple[TabularMDP, ...]:
    """Check that models describe one problem."""
    if not models:
        raise InvalidArgument(owner, "problem", "at least one model", models)
    checked: list[TabularMDP] = []
    for m in models:
        if not isinstance(m, TabularMDP):
            raise InvalidArgument(owner, "problem", "a belief or a sequence of TabularMDP", type(m).__name__)
        if checked and (why := _differs(checked[0], m)):
            raise InvalidArgument(owner, "problem", f"models with the same {why}", f"model {len(checked)}")
        checked.append(m)
    return tuple(checked)


def _differs(one: TabularMDP, two: TabularMDP) -> str:
    """The first property in which two models differ; empty if they describe one problem."""
    if one.group.shape != two.group.shape:
        return "numbers of states and actions"
    if one.gamma != two.gamma:
        return "discount"
    if one.outcomes is two.outcomes:
        return ""
    if not np.array_equal(one.outcomes.terminal, two.outcomes.terminal):
        return "terminal states"
    return "" if np.array_equal(one.outcomes.start, two.outcomes.start) else "distribution of the first state"
