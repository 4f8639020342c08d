"""Episodes as temporal differences of pairs: what the actor-critics learn from.

A pair z = (s, a) is a row that holds the coordinates of s and then the score u(z). Transition t says
Q(z_t) - gamma Q(z_t+1) = r_t and noise. The last pair of a terminated episode has no successor; the last reward of a
truncated episode belongs to a pair whose successor was not chosen, so it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesrl.beliefs.covariances import Covariance
from bayesrl.beliefs.values.trajectory import state_row
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.gradient._paths import Path
from bayesrl.parameters import value


class Pairs(NamedTuple):
    """The pairs of one episode, in their order."""

    states: Floats
    """Shape (p, d)."""
    scores: Floats
    """Shape (p, n)."""
    rewards: Floats
    """Shape (m,): p if the episode terminated, otherwise p - 1."""


def pairs_of(owner: str, paths: Sequence[Path]) -> list[Pairs]:
    """The episodes that have a reward to learn from."""
    made: list[Pairs] = []
    dims = None
    for path in paths:
        m = len(path.rewards) if path.terminated else len(path.rewards) - 1
        if m == 0:
            continue
        rows = [state_row(owner, "observation", step.observation, dims) for step in path.steps]
        dims = rows[0].shape[1]
        made.append(Pairs(np.concatenate(rows), path.scores, path.rewards[:m]))
    if not made:
        hint = "The last reward of a truncated episode is left out."
        raise InvalidArgument(owner, "transitions", "at least one pair with a successor or an end", "none", hint)
    return made


@value
class StatePlusScore(Covariance):
    """k_s(s, s') + k_F(u, u') on rows that hold a state of `dims` coordinates and then a score."""

    state: Covariance
    score: Covariance
    dims: int

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        d = self.dims
        return self.state.matrix(X[:, :d], Y[:, :d]) + self.score.matrix(X[:, d:], Y[:, d:])

    def variances(self, X: Floats) -> Floats:
        return self.state.variances(X[:, : self.dims]) + self.score.variances(X[:, self.dims :])
