"""The urns of a belief, filled incrementally: after an outcome only its ball is added.

All posteriors of one sequence of updates share one array of balls. It belongs to the sequence's book (`ledger.py`) and
holds the data of the newest posterior that was simulated. A simulation writes its own balls behind those of the data,
so only one simulator may use the array. A simulator has it on loan (`_lent.py`); while a loan is out, the next
simulator gets a copy. In a run no loan is out, so that a decision costs O(1) for each new outcome instead of O(n) for n
outcomes.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesrl.beliefs.mdp._lent import Lent
from bayesrl.beliefs.mdp.ledger import Ledger
from bayesrl.checks import Ints
from bayesrl.kernels.simulators.sparse_urn import SparseUrn
from bayesrl.kernels.simulators.urn import Urn

U = TypeVar("U", Urn, SparseUrn)
Fill = Callable[[Ints, int], U]
"""Urns filled with entries, for simulations of some depth."""
Add = Callable[[U, NDArray[Any], Ints, Ints, int], U]
"""Add entries to rows and urns: `more_urns`."""
LENT = ("rows", "balls", "kinds")
"""The arrays of urns that a simulation writes."""


class KeptUrns:
    """The urns after the first n entries of a book, for simulations of `depth` steps.

    `rows` holds their rows. A search changes those that it has on loan.
    """

    __slots__ = ("_bytes", "_bytes_of_urn", "_lent", "_urn", "depth", "end", "lock", "n", "rows")

    def __init__(self, n: int, depth: int, urn: Any) -> None:
        self.lock, self.n, self.depth, self.end = Lock(), n, depth, np.array([len(urn.balls)])
        self.rows = urn.rows.copy()
        self._bytes = self.rows.view(np.uint64)
        self._own(urn)

    def _own(self, urn: Any) -> None:
        """Take these urns as one's own."""
        self._urn, self._bytes_of_urn = urn, urn.rows.view(np.uint64)
        self._lent = [(i, Lent(urn[i])) for i, name in enumerate(urn._fields) if name in LENT]

    def lend(self) -> Any:
        """The urns, for one simulator. No other must have them."""
        self._bytes_of_urn[:] = self._bytes
        fields = list(self._urn)
        for i, lent in self._lent:
            fields[i] = lent.to_write()
        return self._urn._make(fields)

    def advance(self, ledger: Ledger, add: Add[Any]) -> None:
        """Add the additional entries of a ledger, to a copy if a simulator has the urns."""
        for _, lent in self._lent:
            if lent.is_out:
                self._own(self._urn._replace(**{self._urn._fields[i]: one.own.copy() for i, one in self._lent}))
                break
        if self.n < len(ledger):
            urn, self.n = add(self._urn, self.rows, self.end, ledger.since(self.n), self.depth), len(ledger)
            if urn is not self._urn:
                self._own(urn)


def urns_of(ledger: Ledger, depth: int, fill: Fill[U], add: Add[U]) -> U:
    """The urns after the entries of a ledger: filled anew, or those kept and what was added since."""
    kept, n = ledger.kept_urns, len(ledger)
    if kept is None or kept.n > n or kept.depth != depth:
        urn = fill(ledger.entries, depth)
        if kept is not None and kept.n > n:
            return urn
        kept = ledger.kept_urns = KeptUrns(n, depth, urn)
    with kept.lock:
        if kept.n <= n:
            kept.advance(ledger, add)
            lent: U = kept.lend()
            return lent
    return urns_of(ledger, depth, fill, add)  # another thread has asked for a later posterior
