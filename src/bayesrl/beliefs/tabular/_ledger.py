"""An append-only list of what was seen, whose versions share one buffer.

A pure `update` must not copy a table of a million counts, and a planner wants both the counts and the list of outcomes
(an urn). A `Ledger` is a view of the first n entries of a shared, growing book: appending to the newest version writes
one entry behind it and returns a view of n + 1; appending to an older version, whose next place is taken, copies its
own entries first. What a view shows never changes, so threads may share it. Dense counts are carried along and brought
up to date every `CHUNK` entries: an append costs O(1) and, amortised, cells / CHUNK.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from bayesrl.checks import Floats, frozen

CHUNK = 256
"""How many entries may wait before the dense counts are brought up to date."""


class _Book:
    """The shared buffer; entries below `fill` are never written again."""

    __slots__ = ("entries", "fill", "lock")

    def __init__(self, entries: np.ndarray[Any, np.dtype[np.int64]], fill: int) -> None:
        self.entries, self.fill, self.lock = entries, fill, Lock()


class Ledger:
    """The first n entries of a book, each the number of a cell that was seen, and how often each cell was seen."""

    __slots__ = ("_book", "_counted", "_dense", "_n")

    def __init__(self, cells: int) -> None:
        self._book = _Book(np.empty(0, np.int64), 0)
        self._n = self._counted = 0
        self._dense: Floats = frozen(np.zeros(cells))  # counts of the first `_counted` entries

    def __len__(self) -> int:
        return self._n

    @property
    def entries(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The cells seen, oldest first (read-only)."""
        view = self._book.entries[: self._n]
        view.setflags(write=False)
        return view

    def counts(self) -> Floats:
        """How often each cell was seen; a fresh array."""
        return self._dense + 0.0 if self._n == self._counted else self._recount()

    def between(self, first: int, end: int) -> Floats:
        """How often each of the cells first, ..., end - 1 was seen; a fresh array."""
        counts = self._dense[first:end].copy()
        late = self._book.entries[self._counted : self._n]
        np.add.at(counts, late[(late >= first) & (late < end)] - first, 1.0)
        return counts

    def _recount(self) -> Floats:
        dense = self._dense.copy()
        np.add.at(dense, self._book.entries[self._counted : self._n], 1.0)
        return dense

    def append(self, cell: int) -> Ledger:
        """The ledger with one entry more; this one stays as it is."""
        book, n = self._book, self._n
        with book.lock:
            if book.fill == n < len(book.entries):
                book.entries[n] = cell
                book.fill = n + 1
            else:
                grown = np.empty(max(64, 2 * n), np.int64)
                grown[:n] = book.entries[:n]
                grown[n] = cell
                book = _Book(grown, n + 1)
        new = object.__new__(Ledger)
        new._book, new._n = book, n + 1
        new._dense, new._counted = self._dense, self._counted
        if n + 1 - self._counted >= CHUNK:
            new._dense, new._counted = frozen(new._recount()), n + 1
        return new

    def extend(self, cells: np.ndarray[Any, np.dtype[np.int64]]) -> Ledger:
        """The ledger with many entries more."""
        new = object.__new__(Ledger)
        entries = np.concatenate([self.entries, np.asarray(cells, np.int64)])
        new._book, new._n = _Book(entries, len(entries)), len(entries)
        new._dense, new._counted = self._dense, self._counted
        new._dense, new._counted = frozen(new._recount()), new._n
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (len(self._dense), np.array(self.entries))


def _rebuild(cells: int, entries: np.ndarray[Any, np.dtype[np.int64]]) -> Ledger:
    return Ledger(cells).extend(entries)
