"""Rewards from a finite set of values: a Dirichlet over the values for each cell (survey §4.7).

A cell is a state-action pair, or an outcome of one. Seeing reward values[j] adds one to alpha[cell, j].

Deviations: none. Cost: update O(cells x values), a copy. Claims: belief laws; mean and variance against sampling.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.beliefs.rewards.reward_beta import add_at, observed
from bayesrl.checks import Floats, array, generator
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import Above, Shape, unchecked, value
from bayesrl.registry import register


@register(
    "reward-dirichlet",
    kind="belief",
    survey="4.7",
    paper="strens00",
    example=lambda: RewardDirichlet(np.array([0.0, 2.0, 10.0]), np.full((2, 2, 3), 0.6)),
    taken_by="beliefs.UnknownRewards, beside a belief about transitions",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_rewards.py::test_dirichlet_moments",
        "tests/bamdp/offline/test_exact.py::test_exact_with_unknown_rewards_equals_brute_force",
    ),
)
@value
class RewardDirichlet:
    """Rewards that take one of a few known values, with a Dirichlet belief for each cell.

    Examples
    --------
    >>> belief = RewardDirichlet([0.0, 2.0, 10.0], np.ones((1, 1, 3)))  # one state, one action
    >>> belief.update(((0, 0), 10.0)).mean_rewards().tolist()
    [[5.5]]
    """

    values: Annotated[Floats, Shape("(n,)"), "The possible rewards, strictly increasing."]
    alpha: Annotated[Floats, Above(0), Shape("(S, A, n) or (S, A, K, n)"), "Counts of each value in each cell."]

    def __post_init__(self) -> None:
        owner = "RewardDirichlet"
        array(owner, "values", self.values, (None,))
        if (np.diff(self.values) <= 0.0).any():
            raise InvalidArgument(owner, "values", "strictly increasing", self.values.tolist())
        if self.alpha.ndim < 2 or self.alpha.shape[-1] != len(self.values):
            raise InvalidArgument(owner, "alpha", f"of shape (..., {len(self.values)})", self.alpha)

    def update(self, datum: tuple[tuple[int, ...], float], rng: Generator | None = None) -> RewardDirichlet:
        """The posterior after a reward in a cell."""
        cell, r = observed("RewardDirichlet.update", datum, self.alpha.shape[:-1])
        j = int(np.searchsorted(self.values, r))
        if j == len(self.values) or self.values[j] != r:
            known = ", ".join(f"{v:g}" for v in self.values)
            raise ImpossibleEvidence("RewardDirichlet", f"reward {r}", f"rewards are one of {known}")
        return unchecked(self, alpha=add_at(self.alpha, (*cell, j), 1.0))

    def mean_rewards(self) -> Floats:
        """Expected reward of each cell."""
        return np.asarray(self.alpha @ self.values / self.alpha.sum(axis=-1))

    def reward_variances(self) -> Floats:
        """Posterior variance of each cell's mean reward: (E[r^2] - E[r]^2) / (total + 1)."""
        n = self.alpha.sum(axis=-1)
        return np.asarray((self.alpha @ self.values**2 / n - self.mean_rewards() ** 2) / (n + 1.0))

    def reward_counts(self) -> Floats:
        """The effective number of rewards of each cell, including prior counts."""
        return np.asarray(self.alpha.sum(axis=-1))

    def sample_rewards(self, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        generator("RewardDirichlet.sample_rewards", rng)
        return np.asarray(dirichlet_rows(self.alpha, rng) @ self.values)

    def value_counts(self) -> tuple[Floats, Floats]:
        """The values, and the count of each value in each cell, (cells, n)."""
        return self.values, self.alpha.reshape(-1, len(self.values))

    def reward_predictive(self, cell: tuple[int, ...]) -> tuple[Floats, Floats]:
        """The possible rewards of a cell and their probabilities."""
        return self.values, self.alpha[cell] / self.alpha[cell].sum()
