"""The urns of a belief, filled incrementally: after an outcome only its ball is added.

All posteriors of one sequence of updates share one array of balls. It belongs to the sequence's book (`_ledger.py`) and
holds the data of the newest posterior that was simulated. A simulation writes its own balls behind those of the data,
so only one simulator may use the array: while another one exists, it is copied. In a run there is none, so that a
decision costs O(1) for each new outcome instead of O(n) for n outcomes.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesrl.beliefs.tabular._kept_mean import ALONE
from bayesrl.beliefs.tabular._ledger import Ledger
from bayesrl.checks import Ints
from bayesrl.kernels.sparse_urn import SparseUrn
from bayesrl.kernels.urn import Urn

U = TypeVar("U", Urn, SparseUrn)
Fill = Callable[[Ints, int], U]
"""Urns filled with entries, for simulations of some depth."""
Add = Callable[[U, NDArray[Any], Ints, Ints, int], U]
"""Add entries to rows and urns: `more_urns`."""


class KeptUrns:
    """The urns after the first n entries of a book, for simulations of `depth` steps.

    `rows` holds their rows; a search changes those of `urn`.
    """

    __slots__ = ("_bytes", "_bytes_of_urn", "depth", "end", "lock", "n", "rows", "urn")

    def __init__(self, n: int, depth: int, urn: Any) -> None:
        self.lock, self.n, self.depth, self.end = Lock(), n, depth, np.array([len(urn.balls)])
        self.rows = urn.rows.copy()
        self._bytes = self.rows.view(np.uint64)
        self._lend(urn)

    def _lend(self, urn: Any) -> None:
        self.urn, self._bytes_of_urn = urn, urn.rows.view(np.uint64)

    def advance(self, ledger: Ledger, add: Add[Any]) -> Any:
        """The urns after the entries of a ledger."""
        alone = getrefcount(self.urn) <= ALONE and getrefcount(self.urn.balls) <= ALONE
        if not alone or getrefcount(self.urn.rows) > ALONE + 1:  # the bytes refer to the rows
            own = {
                name: getattr(self.urn, name).copy() for name in ("rows", "balls", "kinds") if hasattr(self.urn, name)
            }
            self._lend(self.urn._replace(**own))
        if self.n < len(ledger):
            self.urn, self.n = add(self.urn, self.rows, self.end, ledger.since(self.n), self.depth), len(ledger)
        self._bytes_of_urn[:] = self._bytes
        return self.urn


def urns_of(ledger: Ledger, depth: int, fill: Fill[U], add: Add[U]) -> U:
    """The urns after the entries of a ledger: filled anew, or those kept and what was added since."""
    kept, n = ledger.kept_urns, len(ledger)
    if kept is None or kept.n > n or kept.depth != depth:
        urn = fill(ledger.entries, depth)
        if kept is None or kept.n <= n:
            ledger.kept_urns = KeptUrns(n, depth, urn)
        return urn
    with kept.lock:
        if kept.n <= n:
            made: U = kept.advance(ledger, add)
            return made
    return urns_of(ledger, depth, fill, add)  # another thread has asked for a later posterior
