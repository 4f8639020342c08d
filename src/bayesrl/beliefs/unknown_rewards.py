"""Unknown transitions and unknown rewards together (survey §4.7).

The two beliefs are independent: a transition teaches the Dirichlet where the action led and the reward belief what it
paid. The reward belief's cells are state-action pairs (S, A) or outcomes (S, A, K); its own kind (`reward-beta`,
`reward-dirichlet`, `reward-normal`) says what rewards there can be. Outcomes are told apart by next state alone.

Being independent, each answers for itself: `row_variance` is of the transitions, `rewards.variance()` of the mean
rewards, and what a planner wants of both (VBRB: the variance of the expected reward) it puts together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dirichlet import DirichletMDP
from bayesrl.checks import Floats, frozen, value
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.paid_urn import PaidUrn
from bayesrl.kernels.urn import empty_urns, urns
from bayesrl.models.mdp import Outcomes, TabularMDP

_NO_MOVES = TabularMDP.from_dense(np.ones((1, 1, 1)), np.zeros((1, 1)), 0.0).outcomes.alike
"""An urn of rewards leads nowhere; these moves are not read."""


@value
class UnknownRewards:
    """A belief about an MDP's transitions composed with one about its rewards."""

    transitions: DirichletMDP
    """Where actions lead; the rewards of its outcomes are ignored."""
    rewards: Any
    """What they pay: a reward belief with cells (S, A) or (S, A, K)."""

    def __post_init__(self) -> None:
        if not isinstance(self.transitions, DirichletMDP):
            raise InvalidArgument("UnknownRewards", "transitions", "a DirichletMDP", type(self.transitions).__name__)
        o = self.outcomes
        shape = self.rewards.mean().shape if hasattr(self.rewards, "mean") else None
        if shape not in (o.group.shape, o.succ.shape):
            expected = f"a reward belief with cells of shape {o.group.shape} or {o.succ.shape}"
            raise InvalidArgument("UnknownRewards", "rewards", expected, shape or self.rewards)
        for s, a in np.ndindex(*o.group.shape):
            n = o.size[o.group[s, a]]
            if len(set(o.succ[s, a, :n].tolist())) < n and not o.terminal[s]:
                raise InvalidArgument("UnknownRewards", "transitions", "distinguishable by next state", (s, a))

    @property
    def outcomes(self) -> Outcomes:
        """What can happen."""
        return self.transitions.outcomes

    gamma = property(lambda self: self.transitions.gamma, doc="Discount.")
    n_states = property(lambda self: self.outcomes.n_states, doc="S.")
    n_actions = property(lambda self: self.outcomes.n_actions, doc="A.")

    def cell(self, s: int, a: int, k: int) -> tuple[int, ...]:
        """The reward belief's cell for outcome k of (s, a)."""
        return (s, a) if self.rewards.mean().ndim == 2 else (s, a, k)

    def update(self, datum: Transition, rng: Generator | None = None) -> UnknownRewards:
        """The posterior after one transition."""
        s, a, k = self.transitions.outcome(datum, rewarded=False)
        rewards = self.rewards.update((self.cell(s, a, k), datum.reward))
        new = object.__new__(UnknownRewards)
        new.__dict__.update(transitions=self.transitions.seen_outcome(s, a, k), rewards=rewards)
        return new

    def update_many(self, log: Iterable[Transition]) -> UnknownRewards:
        """The posterior after a log of transitions."""
        new = self
        for datum in log:
            new = new.update(datum)
        return new

    def counts(self) -> Floats:
        """Total transition count of each (s, a), prior counts included."""
        return self.transitions.counts()

    def row_variance(self) -> Floats:
        """Posterior variance of each probability, (G, K); that of mean rewards is `rewards.variance()`."""
        return self.transitions.row_variance()

    def mean_mdp(self) -> TabularMDP:
        """The model of posterior means."""
        return self.paying(self.transitions.mean_mdp(), self.rewards.mean())

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief; its rewards are the drawn means."""
        model = self.transitions.sample_mdp(rng)
        return self.paying(model, self.rewards.sample(rng))

    def code(self, datum: Transition) -> int:
        """The outcome that a compiled simulation would have called this transition: where it led, and what it paid."""
        values = self.rewards.value_counts()[0]
        k = self.transitions.outcome(datum, rewarded=False)[2]
        return k * len(values) + int(np.searchsorted(values, datum.reward))

    def simulate(self, depth: int) -> PaidUrn:
        """Both beliefs as urns for a compiled simulation; rewards of finitely many values (`kernels/paid_urn.py`)."""
        if not hasattr(self.rewards, "predictive"):
            expected = "a reward belief with finitely many values"
            raise InvalidArgument("UnknownRewards.simulate", "rewards", expected, type(self.rewards).__name__)
        o, shape = self.outcomes, self.rewards.mean().shape
        cells = np.arange(np.prod(shape)).reshape(shape)
        cell = np.array(np.broadcast_to(cells if cells.ndim == 3 else cells[:, :, None], o.succ.shape))
        values, alpha = self.rewards.value_counts()
        rows = empty_urns(alpha, np.full(len(alpha), len(values)), True)
        pays = urns(_NO_MOVES, rows, np.cumsum(alpha, axis=1), np.zeros(0, np.int64), depth)
        return PaidUrn(self.transitions.simulate(depth), pays, cell, values)

    def paying(self, model: TabularMDP, r: Floats) -> TabularMDP:
        """A model with other rewards, those of the cells (S, A) or (S, A, K); terminal states pay nothing."""
        o = self.outcomes
        reward = np.array(np.broadcast_to(r if r.ndim == 3 else r[:, :, None], o.succ.shape))
        reward[o.terminal] = 0.0
        return TabularMDP.unchecked(o.paying(frozen(reward)), model.prob, model.gamma)
