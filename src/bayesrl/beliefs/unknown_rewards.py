"""Unknown transitions and unknown rewards together (survey §4.7).

The two beliefs are independent: a transition teaches the Dirichlet where the action led and the reward belief what it
paid. The reward belief's cells are state-action pairs (S, A) or outcomes (S, A, K); its own kind (`reward-beta`,
`reward-dirichlet`, `reward-normal`) says what rewards there can be. Outcomes are told apart by next state alone.
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
from bayesrl.models.mdp import Outcomes, TabularMDP


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

    def mean_mdp(self) -> TabularMDP:
        """The model of posterior means."""
        return self._paying(self.transitions.mean_mdp(), self.rewards.mean())

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief; its rewards are the drawn means."""
        model = self.transitions.sample_mdp(rng)
        return self._paying(model, self.rewards.sample(rng))

    def _paying(self, model: TabularMDP, r: Floats) -> TabularMDP:
        o = self.outcomes
        reward = np.array(np.broadcast_to(r if r.ndim == 3 else r[:, :, None], o.succ.shape))
        reward[o.terminal] = 0.0
        return TabularMDP.unchecked(o.paying(frozen(reward)), model.prob, model.gamma)
