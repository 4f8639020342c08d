"""The mean model of a belief, kept along its updates: after an outcome only the row that it belongs to is computed.

The table of probabilities is one buffer for all posteriors of a line. It belongs to the book of the line's ledger
(`_ledger.py`) and is as the newest posterior that was asked. A buffer that somebody still looks at is never written:
every model handed out holds a view, a view holds a reference to the buffer, and if there is one the buffer is copied
first. In a run nobody looks at the model of the step before, so that a step costs O(K) and not O(G K).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

import numpy as np

from bayesrl.beliefs.tabular._ledger import Ledger
from bayesrl.checks import Floats, Ints, frozen
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes

SMALL = 4096
"""Cells up to which a model is computed anew in less time than it takes to find what has changed."""
ALONE = 2
"""References to a buffer that only its keeper holds: its own, and the one that asking makes."""


class Rows(NamedTuple):
    """Rows of the mean model."""

    prob: Floats
    """Mean probabilities of the outcomes, (n, K)."""
    total: Floats
    """Total count, (n,)."""


Compute = Callable[[Ints | None], Rows]
"""The rows of these groups, or of all groups (None)."""


class KeptMean:
    """The mean model after the first n entries of a book."""

    __slots__ = ("lock", "mean_reward", "n", "prob", "total")

    def __init__(self, n: int, rows: Rows, mean_reward: Floats) -> None:
        self.lock, self.n, self.mean_reward = Lock(), n, mean_reward
        self.prob, self.total = rows

    def advance(self, ledger: Ledger, outcomes: Outcomes, compute: Compute) -> None:
        """Bring the model up to date with a ledger that has more entries."""
        groups = np.unique(ledger.entries[self.n :] // outcomes.n_outcomes)
        rows = compute(groups)
        if sys.getrefcount(self.prob) > ALONE:
            self.prob = self.prob.copy()
        self.prob[groups], self.n = rows.prob, len(ledger)
        self.total, self.mean_reward = self.total.copy(), self.mean_reward.copy()
        self.total[groups] = rows.total
        if outcomes.is_flat:
            s, a = np.divmod(groups, outcomes.n_actions)
        else:
            s, a = np.nonzero(np.isin(outcomes.group, groups))
        self.mean_reward[s, a] = _paid(self.prob[outcomes.group[s, a]], outcomes.reward[s, a])


def mean_of(ledger: Ledger, outcomes: Outcomes, gamma: float, compute: Compute) -> tuple[TabularMDP, Floats]:
    """The mean model and the total count of each group, (G,), after what a ledger holds."""
    if outcomes.n_groups * outcomes.n_outcomes <= SMALL:
        rows = compute(None)
        return TabularMDP.unchecked(outcomes, rows.prob, gamma), rows.total
    kept = ledger.kept_mean
    if kept is None or kept.n > len(ledger):
        rows = compute(None)
        new = KeptMean(len(ledger), rows, _paid(outcomes.of_pairs(rows.prob), outcomes.reward))
        if kept is None:
            ledger.kept_mean = new
        return _model(new, outcomes, gamma)
    with kept.lock:
        if kept.n < len(ledger):
            kept.advance(ledger, outcomes, compute)
        if kept.n == len(ledger):
            return _model(kept, outcomes, gamma)
    return mean_of(ledger, outcomes, gamma, compute)  # another thread has asked for a later posterior


def _model(kept: KeptMean, outcomes: Outcomes, gamma: float) -> tuple[TabularMDP, Floats]:
    model = TabularMDP.unchecked(outcomes, kept.prob.view(), gamma)
    model.__dict__["mean_reward"] = frozen(kept.mean_reward.view())
    return model, kept.total


def _paid(prob: Floats, reward: Floats) -> Floats:
    """Expected rewards: sums over the last axis."""
    return np.asarray(np.einsum("...k,...k->...", prob, reward))
