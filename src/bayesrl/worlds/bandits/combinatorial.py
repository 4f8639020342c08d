"""Combinatorial bandits: several Bernoulli arms at once, the rewards add up (survey §3.3, several suggestions).

An action is a set of M different arms out of K. With *semi-bandit* feedback each chosen arm's reward is observed, with
*full-bandit* feedback their sum alone. The family draws every arm's probability uniformly. K random numbers are drawn
for each step, one for each arm, so that methods compared on the same stream meet the same customers.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.checks import Floats, array, choice, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import shape_of, side_by_side

FEEDBACK = ("semi", "full")


@value
class CombinatorialBandit:
    """Bernoulli arms of which several are chosen at once."""

    means: Floats
    """Probability that an arm pays, shape (K,), or (replicates, K) in lockstep."""
    suggestions: int = 3
    """How many arms are chosen at once, M."""
    feedback: str = "semi"
    """What is observed: every chosen arm's reward ("semi") or only their sum ("full")."""
    name: str = "combinatorial-bandit"
    gamma: float = 1.0
    """Discount."""
    prior: str = "uniform"
    """The prior an agent is given unless another is asked for."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    def __post_init__(self) -> None:
        means = array(self.name, "means", self.means, low=0.0)
        if means.ndim not in (1, 2) or means.max() > 1.0:
            raise InvalidArgument(self.name, "means", "probabilities of shape (arms,)", means)
        object.__setattr__(self, "means", means)
        integer(self.name, "suggestions", self.suggestions, 1, means.shape[-1])
        choice(self.name, "feedback", self.feedback, FEEDBACK)
        object.__setattr__(self, "gamma", number(self.name, "gamma", self.gamma, 0.0, 1.0))

    def reset(self, rng: Generator) -> tuple[None, Any]:
        """A bandit has no state; nothing has been paid yet."""
        return None, np.zeros((*self.means.shape[:-1], self.suggestions)) if self.feedback == "semi" else 0

    def step(self, state: None, action: Any, rng: Generator) -> tuple[None, Any, Any, bool]:
        """Choose a set of arms; what is observed is what each paid, or nothing but the sum."""
        chosen = self._set(action)
        pays = (rng.random(self.means.shape) < self.means).astype(np.float64)
        paid = np.take_along_axis(pays, chosen, axis=-1)
        total = paid.sum(axis=-1)
        return None, paid if self.feedback == "semi" else 0, total if total.ndim else float(total), False

    def batch(self, replicates: int) -> CombinatorialBandit:
        """The same arms for so many replicates."""
        return dataclasses.replace(self, means=side_by_side(self.means, replicates))

    def default_prior(self) -> SemiBandit | FullBandit:
        """Every probability uniform; where sums alone are seen, a Gaussian of the same mean and variance."""
        return _prior(self.n_actions, self.suggestions, self.feedback, self.gamma)

    def gap(self, state: object, action: Any) -> Any:
        """The best set's mean less the chosen one's."""
        best = np.sort(self.means, axis=-1)[..., -self.suggestions :].sum(axis=-1)
        lost = best - np.take_along_axis(self.means, self._set(action), axis=-1).sum(axis=-1)
        return np.where(lost > 1e-12, lost, 0.0)[()]  # the two sums may add in different orders

    @property
    def n_actions(self) -> int:
        """K, the arms to choose from."""
        return self.means.shape[-1]

    def _set(self, action: Any) -> Any:
        chosen, K, M = np.asarray(action), self.means.shape[-1], self.suggestions
        if chosen.shape != (*self.means.shape[:-1], M) or chosen.dtype.kind not in "iu":
            raise InvalidArgument(self.name, "action", f"sets of {M} arms", action)
        if chosen.min() < 0 or chosen.max() >= K or (np.diff(np.sort(chosen, axis=-1), axis=-1) == 0).any():
            raise InvalidArgument(self.name, "action", f"different arms from 0 to {K - 1}", action)
        return chosen


@value
class CombinatorialFamily:
    """Combinatorial bandits whose arms' probabilities are drawn uniformly."""

    arms: int = 10
    suggestions: int = 3
    """How many arms are chosen at once, M."""
    feedback: str = "semi"
    """What is observed: every chosen arm's reward ("semi") or only their sum ("full")."""
    gamma: float = 1.0
    """Discount."""
    replicates: int | None = None
    """How many worlds a draw holds in lockstep."""
    prior: str = "uniform"
    """The prior an agent is given unless another is asked for: the one worlds are drawn from."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    def __post_init__(self) -> None:
        integer("combinatorial", "arms", self.arms, 1)
        integer("combinatorial", "suggestions", self.suggestions, 1, self.arms)
        choice("combinatorial", "feedback", self.feedback, FEEDBACK)
        number("combinatorial", "gamma", self.gamma, 0.0, 1.0)

    def draw(self, rng: Generator) -> CombinatorialBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        means = rng.random(shape_of(self.arms, self.replicates))
        told = ("combinatorial", self.gamma, self.prior, self.steps)
        return CombinatorialBandit(means, self.suggestions, self.feedback, *told)

    def batch(self, replicates: int) -> CombinatorialFamily:
        """The family of so many worlds in lockstep."""
        return dataclasses.replace(self, replicates=integer("combinatorial", "replicates", replicates, 1))

    def default_prior(self) -> SemiBandit | FullBandit:
        """Every probability uniform; where sums alone are seen, a Gaussian of the same mean and variance."""
        return _prior(self.arms, self.suggestions, self.feedback, self.gamma)

    @property
    def n_actions(self) -> int:
        """K, the arms to choose from."""
        return self.arms


def _prior(arms: int, suggestions: int, feedback: str, gamma: float) -> SemiBandit | FullBandit:
    if feedback == "full":
        return FullBandit.uniform(arms, suggestions, gamma)
    return SemiBandit(BetaBernoulli.uniform(arms, gamma))


@register(
    "combinatorial",
    kind="family",
    survey="3.3",
    paper="Gopalan14TS",
    evidence=("tests/bandits/test_worlds.py::test_combinatorial_pays_and_shows_what_it_says",),
)
def combinatorial(
    arms: int = 10, suggestions: int = 3, feedback: str = "semi", gamma: float = 1.0
) -> CombinatorialFamily:
    """Bernoulli arms of which several are chosen at once, probabilities drawn uniformly; semi- or full-bandit."""
    return CombinatorialFamily(arms, suggestions, feedback, gamma)
