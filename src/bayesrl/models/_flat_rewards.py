"""R[s, a, s'] for every transition of a flat model, stored as a rule and its exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bayesrl.checks import frozen
from bayesrl.kernels.arrays import B1, F1, F2, F3, I1, I2

if TYPE_CHECKING:
    from bayesrl.models.outcomes import Outcomes

MANY_CELLS = 2**20
"""Tables of flat outcomes are written out up to this number of entries."""


class FlatRewards(NamedTuple):
    """Rewards that follow a rule, except for n transitions."""

    otherwise: F3
    """The rule: rewards that broadcast to (S, A, S)."""
    terminal: B1
    """States that pay nothing, (S,)."""
    shape: tuple[int, int, int]
    """S, A, S."""
    pair: I1
    """s A + a of each exception, in increasing order, (n,)."""
    y: I1
    """s' of each exception, (n,)."""
    paid: F1
    """The reward of each exception, (n,)."""

    @staticmethod
    def of(o: Outcomes) -> FlatRewards:
        """The rewards of listed outcomes and of all other transitions."""
        S, A = o.group.shape
        s, a, k = np.nonzero(np.arange(o.n_outcomes) < o.size[o.group][:, :, None])
        y, paid = o.succ[s, a, k], o.reward[s, a, k]
        last = len(s) - 1 - np.unique(((s * A + a) * S + y)[::-1], return_index=True)[1]  # the last of several rewards
        s, a, y, paid = s[last], a[last], y[last], paid[last]
        rule = cast(F3, o.otherwise.reshape((1,) * (3 - o.otherwise.ndim) + o.otherwise.shape))
        differs = paid != np.where(o.terminal[s], 0.0, np.broadcast_to(rule, (S, A, S))[s, a, y])
        return FlatRewards(rule, o.terminal, (S, A, S), (s * A + a)[differs], y[differs], paid[differs])

    def table(self) -> F3:
        """The rewards of all transitions, (S, A, S)."""
        R = np.array(np.broadcast_to(self.otherwise, self.shape), order="C")
        R[self.terminal] = 0.0
        R.reshape(-1, self.shape[2])[self.pair, self.y] = self.paid
        return R

    def row(self, s: int, a: int) -> F1:
        """The rewards of (s, a), (S,)."""
        r = np.array(np.broadcast_to(self.otherwise, self.shape)[s, a])
        if self.terminal[s]:
            r[:] = 0.0
        first, end = np.searchsorted(self.pair, [s * self.shape[1] + a, s * self.shape[1] + a + 1])
        r[self.y[first:end]] = self.paid[first:end]
        return r

    def lists(self) -> tuple[Any, F2, I2]:
        """The distinct lists of outcomes: next states (U, S), rewards (U, S), and the list of each pair (S, A)."""
        (S, A, _), rule = self.shape, self.otherwise
        exceptional = np.zeros(S * A, np.bool_)
        exceptional[self.pair] = True
        constant = rule.shape[2] == 1
        numbers: dict[object, int] = {}
        rows: list[tuple[int, int]] = []
        which = np.empty((S, A), np.int64)
        by_rule: dict[tuple[int, int], bytes] = {}
        for s, a in np.ndindex(S, A):
            key: object
            if self.terminal[s]:
                key = int(s)
            elif exceptional[s * A + a]:
                key = self.row(s, a).tobytes()
            else:
                i, j = s % rule.shape[0], a % rule.shape[1]
                if constant:
                    key = rule[i, j, 0].tobytes()
                elif (key := by_rule.get((i, j))) is None:
                    key = by_rule[i, j] = rule[i, j].tobytes()
            if key not in numbers:
                numbers[key] = len(rows)
                rows.append((s, a))
            which[s, a] = numbers[key]
        first = [s for s, _ in rows]
        if constant and not self.terminal.any() and not len(self.pair) and len(rows) * S > MANY_CELLS:
            values = np.array([rule[s % rule.shape[0], a % rule.shape[1], 0] for s, a in rows])
            reward = np.broadcast_to(values[:, None], (len(rows), S))
            return np.broadcast_to(np.arange(S, dtype=np.uint32), reward.shape), reward, which
        succ = np.array(np.broadcast_to(np.arange(S, dtype=np.uint32), (len(rows), S)), order="C")
        ends = self.terminal[first]
        succ[ends] = np.array(first, np.uint32)[ends][:, None]
        return frozen(succ), frozen(np.array([self.row(s, a) for s, a in rows])), which
