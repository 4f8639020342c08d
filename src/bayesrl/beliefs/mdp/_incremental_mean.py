"""The mean model of a belief, updated incrementally: after an outcome only its row is computed.

All posteriors of one sequence of updates share one buffer of probabilities. The buffer belongs to the sequence's book
(`ledger.py`) and holds the mean of the newest posterior that was asked for it. Every returned model has a loan of the
buffer (`_lent.py`). While a loan is out, the buffer is copied before it is written. In a run no model of an earlier
step is in use, so that a step costs O(K) instead of O(G K).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

import numpy as np

from bayesrl.beliefs.mdp._lent import Lent
from bayesrl.beliefs.mdp.ledger import Ledger
from bayesrl.checks import Floats, Ints, frozen
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes

SMALL = 4096
"""Up to this number of cells, computing the whole model is faster than finding the changed rows."""


class MeanRows(NamedTuple):
    """Rows of the mean model."""

    prob: Floats
    """Mean probabilities of the outcomes, (n, K)."""
    total: Floats
    """Total count, (n,)."""


Compute = Callable[[Ints | None], MeanRows]
"""The rows of these groups, or of all groups (None)."""


class KeptMean:
    """The mean model after the first n entries of a book."""

    __slots__ = ("lock", "mean_reward", "n", "prob", "total")

    def __init__(self, n: int, rows: MeanRows, mean_reward: Floats) -> None:
        self.lock, self.n, self.mean_reward = Lock(), n, mean_reward
        self.prob, self.total = Lent(rows.prob), rows.total

    def advance(self, ledger: Ledger, outcomes: Outcomes, compute: Compute) -> None:
        """Update the model for the additional entries of a ledger."""
        groups = ledger.since(self.n) // outcomes.n_outcomes
        if len(groups) > 1:
            groups = np.unique(groups)
        rows = compute(groups)
        if self.prob.is_out:
            self.prob = Lent(self.prob.own.copy())
        prob = self.prob.own
        prob[groups], self.n = rows.prob, len(ledger)
        self.total, self.mean_reward = self.total.copy(), self.mean_reward.copy()
        self.total[groups] = rows.total
        if outcomes.is_flat:
            s, a = np.divmod(groups, outcomes.n_actions)
        else:
            s, a = np.nonzero(np.isin(outcomes.group, groups))
        self.mean_reward[s, a] = _paid(prob[outcomes.group[s, a]], outcomes.reward[s, a])


def mean_of(ledger: Ledger, outcomes: Outcomes, gamma: float, compute: Compute) -> tuple[TabularMDP, Floats]:
    """The mean model and the total count of each group, (G,), after the entries of a ledger."""
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
    model = TabularMDP.unchecked(outcomes, kept.prob.to_read(), gamma)
    model.__dict__["mean_reward"] = frozen(kept.mean_reward.view())
    return model, kept.total


def _paid(prob: Floats, reward: Floats) -> Floats:
    """Expected rewards: sums over the last axis."""
    return np.asarray(np.einsum("...k,...k->...", prob, reward))
