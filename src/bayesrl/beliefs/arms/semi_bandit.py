"""Semi-bandit feedback: of several arms chosen at once, each one's reward is seen (survey §3.3, several suggestions).

This belief wraps any belief about single arms. The datum's action is a set of arms, its `next_observation` is the
reward of each of them, and its reward is their sum. The arms' rewards are independent observations.

Deviations: none. Cost: one update of the belief inside for each arm chosen. Claims: equal to single updates.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._log import Log, columns
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register


@register(
    "semi-bandit",
    kind="belief",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: SemiBandit(BetaBernoulli.uniform(4)),
    evidence=(
        "tests/bandits/test_planners.py::test_semi_bandit_is_single_updates",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@dataclass(frozen=True)
class SemiBandit:
    """A belief about single arms that learns from several at once, each one's reward being seen."""

    arms: Any
    """The belief about single arms."""

    def batch(self, replicates: int) -> SemiBandit:
        """So many experiments side by side."""
        return dataclasses.replace(self, arms=self.arms.batch(replicates))

    def update(self, datum: Transition, rng: Generator | None = None) -> SemiBandit:
        """The posterior after a set of arms and what each paid."""
        items, paid = np.asarray(datum.action), np.asarray(datum.next_observation)
        if items.ndim == 0 or items.shape != paid.shape:
            raise InvalidArgument("SemiBandit.update", "next_observation", f"a reward for each of {items.shape}", paid)
        inside = self.arms
        for j in range(items.shape[-1]):
            one: Any = items[..., j], paid[..., j]
            a, r = one if items.ndim > 1 else (int(one[0]), float(one[1]))
            inside = inside.update(Transition(datum.observation, a, r, 0), rng)
        return SemiBandit(inside)

    def update_many(self, log: Log) -> SemiBandit:
        """The posterior after a log of sets of arms ('action') and what each paid ('next_observation')."""
        new = self
        for action, paid in zip(*columns("SemiBandit.update_many", log, "action", "next_observation"), strict=True):
            new = new.update(Transition(0, action, float(np.sum(paid)), paid))
        return new

    gamma = property(lambda self: self.arms.gamma, doc="Discount.")
    n_actions = property(lambda self: self.arms.n_actions, doc="K, the arms to choose from.")

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of single arms drawn from the belief."""
        return np.asarray(self.arms.sample_means(None, rng))

    def mean(self, context: Any = None) -> Floats:
        """Expected reward of each arm."""
        return np.asarray(self.arms.mean())
