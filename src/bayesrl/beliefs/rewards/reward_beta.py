"""Binary rewards with unknown probability: a Beta for each cell (Wang et al. 2005; survey §4.7).

A cell is a state-action pair or one of its outcomes, depending on the shape of the arrays. The reward is `high` with
unknown probability p ~ Beta(alpha, beta), else `low`. A reward adds one to one of the two counts (the survey's l.626
misprints this update; ERRATA 1).

Deviations: none. Cost: update O(cells), a copy. Claims: belief laws; mean and variance of the Beta.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen, generator, number
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import Above, Shape, unchecked, value
from bayesrl.registry import register


@register(
    "reward-beta",
    kind="belief",
    survey="4.7",
    paper="wang05sparse",
    example=lambda: RewardBeta(np.full((2, 2), 0.8), np.full((2, 2), 1.3)),
    taken_by="beliefs.UnknownRewards, beside a belief about transitions",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_rewards.py::test_beta_matches_quadrature",
        "tests/bamdp/offline/test_exact.py::test_exact_with_unknown_rewards_equals_brute_force",
    ),
)
@value
class RewardBeta:
    """Rewards that take one of two values, with a Beta belief for each cell.

    Examples
    --------
    A cell is a pair (state, action); here there are two states and one action:

    >>> belief = RewardBeta(np.ones((2, 1)), np.ones((2, 1)))
    >>> belief.update(((0, 0), 1.0)).mean_rewards().round(2).tolist()
    [[0.67], [0.5]]
    """

    alpha: Annotated[Floats, Above(0), Shape("(S, A) or (S, A, K)"), "Counts of the high reward."]
    beta: Annotated[Floats, Above(0), Shape("(S, A) or (S, A, K)"), "Counts of the low reward."]
    low: Annotated[float, "The smaller reward."] = 0.0
    high: Annotated[float, "The larger reward."] = 1.0

    def __post_init__(self) -> None:
        owner = "RewardBeta"
        array(owner, "beta", self.beta, self.alpha.shape)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", number(owner, "high", self.high, self.low, above=True))

    def update(self, datum: tuple[tuple[int, ...], float], rng: Generator | None = None) -> RewardBeta:
        """The posterior after a reward in a cell."""
        cell, r = observed("RewardBeta.update", datum, self.alpha.shape)
        win = r == self.high
        if not win and r != self.low:
            raise ImpossibleEvidence("RewardBeta", f"reward {r}", f"rewards are {self.low:g} or {self.high:g}")
        field = "alpha" if win else "beta"
        return unchecked(self, **{field: add_at(getattr(self, field), cell, 1.0)})

    def mean_rewards(self) -> Floats:
        """Expected reward of each cell."""
        return self.low + (self.high - self.low) * self.alpha / (self.alpha + self.beta)

    def reward_variances(self) -> Floats:
        """Posterior variance of each cell's mean reward."""
        n = self.alpha + self.beta
        return (self.high - self.low) ** 2 * self.alpha * self.beta / (n * n * (n + 1.0))

    def reward_counts(self) -> Floats:
        """The effective number of rewards of each cell, including prior counts."""
        return self.alpha + self.beta

    def sample_rewards(self, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        generator("RewardBeta.sample_rewards", rng)
        return self.low + (self.high - self.low) * rng.beta(self.alpha, self.beta)

    def value_counts(self) -> tuple[Floats, Floats]:
        """The values, and the count of each value in each cell, (cells, 2)."""
        return np.array([self.low, self.high]), np.stack([self.beta.ravel(), self.alpha.ravel()], axis=1)

    def reward_predictive(self, cell: tuple[int, ...]) -> tuple[Floats, Floats]:
        """The possible rewards of a cell and their probabilities."""
        p = self.alpha[cell] / (self.alpha[cell] + self.beta[cell])
        return np.array([self.low, self.high]), np.array([1.0 - p, p])


def observed(owner: str, datum: Any, shape: tuple[int, ...]) -> tuple[tuple[int, ...], Any]:
    """The cell and the reward of a datum. The cell is checked against the shape of the cells."""
    if not (isinstance(datum, tuple) and len(datum) == 2):
        raise InvalidArgument(owner, "datum", "a pair (cell, reward)", datum)
    cell, r = datum
    whole = isinstance(cell, tuple) and all(isinstance(i, (int, np.integer)) for i in cell)
    if not whole or len(cell) != len(shape):
        raise InvalidArgument(owner, "cell", f"a tuple of {len(shape)} whole numbers", cell)
    if not all(0 <= i < n for i, n in zip(cell, shape, strict=True)):
        raise InvalidArgument(owner, "cell", f"inside the shape {shape}", cell)
    return cell, r


def add_at(counts: Floats, cell: tuple[int, ...], amount: Any) -> Floats:
    """A read-only copy with `amount` added to one entry."""
    new = counts.copy()
    new[cell] += amount
    return frozen(new)
