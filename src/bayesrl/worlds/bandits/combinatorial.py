"""Combinatorial bandits: several Bernoulli arms are chosen at once, and their rewards add up (survey §3.3).

An action is a set of M different arms out of K. With *semi-bandit* feedback each chosen arm's reward is observed, with
*full-bandit* feedback only their sum. The family draws every arm's probability uniformly. Each step draws K random
numbers, one for each arm, so methods that are compared on the same stream have the same outcomes.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.checks import Floats, Ints, as_array, generator, integer
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, PROBABILITY, AtLeast, Shape, value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import Arms, ArmsFamily, check_probabilities, shape_of
from bayesrl.worlds.bandits.bernoulli import UNIFORM
from bayesrl.worlds.settings import Setting


@explain_failures
@value
class CombinatorialBandit(Arms):
    """Bernoulli arms of which several are chosen at once.

    Examples
    --------
    >>> world = CombinatorialBandit([0.0, 1.0, 1.0], suggestions=2)
    >>> _, paid, reward, _ = world.step(None, [0, 2], np.random.default_rng(0))
    >>> paid, reward
    (array([0., 1.]), 1.0)
    """

    means: Annotated[
        Floats, PROBABILITY, Shape("(K,), or (replicates, K) in lockstep"), "Probability that each arm pays."
    ]
    suggestions: Annotated[int, AtLeast(1), "Number of arms that are chosen at once, M."] = 3
    feedback: Annotated[
        Literal["semi", "full"], 'What is observed: every chosen arm\'s reward ("semi") or only their sum ("full").'
    ] = "semi"
    name: Annotated[str, "Name of the world."] = "combinatorial-bandit"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=UNIFORM, repr=False)

    def __post_init__(self) -> None:
        check_probabilities(self.name, self.means)
        integer(self.name, "suggestions", self.suggestions, 1, self.n_actions)
        object.__setattr__(self, "gamma", float(self.gamma))

    def reset(self, rng: Generator) -> tuple[None, Floats | int]:
        """A bandit has no state; the first observation is zero."""
        return None, np.zeros((*self.means.shape[:-1], self.suggestions)) if self.feedback == "semi" else 0

    def step(self, state: None, action: object, rng: Generator) -> WorldStep:
        """Choose a set of arms; the observation is the reward of each, or 0 with full-bandit feedback."""
        chosen = self._set(action)
        pays = (generator(self.name, rng).random(self.means.shape) < self.means).astype(np.float64)
        paid = np.take_along_axis(pays, chosen, axis=-1)
        total = paid.sum(axis=-1)
        return WorldStep(None, paid if self.feedback == "semi" else 0, total if total.ndim else float(total))

    def default_prior(self) -> SemiBandit | FullBandit:
        """Every probability is uniform; with full-bandit feedback, Gaussian with the same mean and variance."""
        return _prior(self.n_actions, self.suggestions, self.feedback, self.gamma)

    def gap(self, state: object, action: object) -> float | Floats:
        """The best set's mean minus the chosen set's."""
        best = np.sort(self.means, axis=-1)[..., -self.suggestions :].sum(axis=-1)
        lost = best - np.take_along_axis(self.means, self._set(action), axis=-1).sum(axis=-1)
        rounded: float | Floats = np.where(lost > 1e-12, lost, 0.0)[
            ()
        ]  # rounding: the two sums add in different orders
        return rounded

    def _set(self, action: object) -> Ints:
        chosen, K, M = (
            as_array(action),
            self.means.shape[-1],
            self.suggestions,
        )
        if chosen.shape != (*self.means.shape[:-1], M) or chosen.dtype.kind not in "iu":
            raise InvalidArgument(self.name, "action", f"sets of {M} arms", action)
        if chosen.min() < 0 or chosen.max() >= K or (np.diff(np.sort(chosen, axis=-1), axis=-1) == 0).any():
            raise InvalidArgument(self.name, "action", f"different arms from 0 to {K - 1}", action)
        return chosen


@explain_failures
@value
class CombinatorialFamily(ArmsFamily):
    """Combinatorial bandits whose arms' probabilities are drawn uniformly.

    Examples
    --------
    >>> family = CombinatorialFamily(arms=4, suggestions=2)
    >>> family.draw(np.random.default_rng(0)).means.round(2)
    array([0.64, 0.27, 0.04, 0.02])
    """

    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10
    suggestions: Annotated[int, AtLeast(1), "Number of arms that are chosen at once, M."] = 3
    feedback: Annotated[
        Literal["semi", "full"], 'What is observed: every chosen arm\'s reward ("semi") or only their sum ("full").'
    ] = "semi"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    replicates: Annotated[int | None, AtLeast(1), "Number of worlds in lockstep that a draw holds; None: one."] = None
    setting: Annotated[Setting, "How the family is usually run."] = field(default=UNIFORM, repr=False)

    registered: ClassVar[str] = "combinatorial"

    def __post_init__(self) -> None:
        integer("CombinatorialFamily", "suggestions", self.suggestions, 1, self.arms)

    def draw(self, rng: Generator) -> CombinatorialBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        means = generator(self.registered, rng).random(shape_of(self.arms, self.replicates))
        return CombinatorialBandit(means, self.suggestions, self.feedback, self.registered, self.gamma, self.setting)

    def default_prior(self) -> SemiBandit | FullBandit:
        """Every probability is uniform; with full-bandit feedback, Gaussian with the same mean and variance."""
        return _prior(self.arms, self.suggestions, self.feedback, self.gamma)


def _prior(arms: int, suggestions: int, feedback: str, gamma: float) -> SemiBandit | FullBandit:
    if feedback == "full":
        return FullBandit.uniform(arms, suggestions, gamma)
    return SemiBandit(BetaBernoulli.uniform(arms, gamma))


@register(
    "combinatorial",
    kind="family",
    survey="3.3",
    paper="Gopalan14TS",
    evidence=("tests/worlds/bandits/test_worlds.py::test_combinatorial_pays_and_shows_what_it_says",),
)
def combinatorial(
    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10,
    suggestions: Annotated[int, AtLeast(1), "Number of arms that are chosen at once, M."] = 3,
    feedback: Annotated[
        Literal["semi", "full"], "What is observed: every chosen arm's reward or only their sum."
    ] = "semi",
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> CombinatorialFamily:
    """Bernoulli arms of which several are chosen at once, probabilities drawn uniformly; semi- or full-bandit.

    Examples
    --------
    >>> type(combinatorial().default_prior()).__name__, type(combinatorial(feedback="full").default_prior()).__name__
    ('SemiBandit', 'FullBandit')
    """
    return CombinatorialFamily(arms, suggestions, feedback, gamma)
