"""A distribution over worlds given by Dirichlet counts (BBRL: Castronovo et al. 2015).

Every row P(. | s, a) of a world is drawn from a Dirichlet with that row's counts; a count of zero means impossible. The
agent is told the rewards and one of two priors: *accurate*, the counts from which worlds are drawn, or *inaccurate*,
ones over all states.

The published set-up: 500 worlds, each run for 250 steps; the score is the mean discounted return with its 95% interval.
One set of 500 worlds serves every agent and both priors. BBRL seeds its generator with the clock, so that its worlds
cannot be drawn again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, NoReturn

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, frozen, generator
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import DISCOUNT, AtLeast, Shape, value
from bayesrl.worlds.settings import Published, Setting
from bayesrl.worlds.tabular import MDPWorld

BBRL = Setting("accurate", steps=250, runs=500)
"""The published set-up: the prior is the distribution from which worlds are drawn."""
NO_TABLE = "That is a family of worlds, which has no table: draw(rng) a world first."


@explain_failures
@value
class DirichletFamily(Published):
    """Worlds whose rows are drawn from Dirichlet distributions; state 0 is the start.

    Examples
    --------
    >>> coins = DirichletFamily("coins", transition_counts=np.ones((2, 1, 2)), rewards=np.zeros((2, 1, 2)))
    >>> coins.draw(np.random.default_rng(0)).mdp.prob.round(2).tolist()
    [[0.4, 0.6], [0.9, 0.1]]
    """

    name: Annotated[str, "What the family is called."]
    transition_counts: Annotated[Floats, AtLeast(0), Shape("(S, A, S)"), "Dirichlet counts."] = field(repr=False)
    rewards: Annotated[Floats, Shape("(S, A, S)"), "R[s, a, s'], known to the agent."] = field(repr=False)
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    setting: Annotated[Setting, "How the family is usually run."] = field(default=BBRL, repr=False)
    actions: Annotated[tuple[str, ...], "What the actions are called."] = ()

    unsupported: ClassVar[Mapping[str, str]] = {"mdp": NO_TABLE, "dense": NO_TABLE}

    def __post_init__(self) -> None:
        owner = "DirichletFamily"
        counts = array(owner, "transition_counts", self.transition_counts, (None, None, None), low=0.0)
        array(owner, "rewards", self.rewards, counts.shape)
        object.__setattr__(self, "gamma", float(self.gamma))
        if counts.shape[0] != counts.shape[2]:
            raise InvalidArgument(owner, "transition_counts", "of shape (S, A, S)", counts)
        if not counts.any(axis=2).all():
            raise InvalidArgument(owner, "transition_counts", "positive somewhere in every row", 0.0)

    def draw(self, rng: Generator) -> MDPWorld:
        """A world of this family."""
        weight = generator(self.name, rng).standard_gamma(self.alpha)  # zero if the count is zero
        mdp = TabularMDP(self.outcomes, weight / weight.sum(axis=1, keepdims=True), self.gamma)
        return MDPWorld(self.name, mdp, self._setting_of_a_world, self.actions)

    @cached_property
    def _setting_of_a_world(self) -> Setting:
        return dataclasses.replace(self.setting, prior="structured:1", runs=None)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcomes that are possible in some world of the family: the next states with a positive count."""
        mean = self.transition_counts / self.transition_counts.sum(axis=2, keepdims=True)
        return TabularMDP.from_dense(mean, self.rewards, self.gamma).outcomes

    @cached_property
    def alpha(self) -> Floats:
        """The counts of those outcomes, (G, K), zero on padding."""
        S, A, K = self.outcomes.succ.shape
        listed = np.take_along_axis(self.transition_counts, self.outcomes.succ, axis=2).reshape(S * A, K)
        return frozen(np.where(self.outcomes.valid, listed, 0.0))

    @property
    def n_states(self) -> int:
        """S."""
        return self.transition_counts.shape[0]

    @property
    def n_actions(self) -> int:
        """A."""
        return self.transition_counts.shape[1]

    @property
    def mdp(self) -> NoReturn:
        """A family has no table; its worlds have."""
        raise self._no_table("mdp")

    def dense(self) -> NoReturn:
        """A family has no table; its worlds have."""
        raise self._no_table("dense")

    def _no_table(self, asked: str) -> InvalidArgument:
        return InvalidArgument(asked, "world", "a single world", self.name, NO_TABLE)
