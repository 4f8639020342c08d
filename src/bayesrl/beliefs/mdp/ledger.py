"""An append-only list of observations, whose versions share one buffer.

A pure `update` must not copy a table of a million counts, and planners need both the counts and the list of outcomes
(for urns). A `Ledger` is a view of the first n entries of a shared, growing book. Appending to the newest version
writes the next entry and returns a view of n + 1 entries. If the next entry is taken already, appending copies the
ledger's own entries first. The entries of a view never change, so threads may share it. For at most `DENSE` cells the
counts are stored too, and updated every `CHUNK` entries: an append costs O(1), plus cells / CHUNK on average. With more
cells only the entries are stored, and counts are computed when they are needed.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesrl.checks import Floats, frozen

if TYPE_CHECKING:
    from bayesrl.beliefs.mdp._incremental_mean import KeptMean
    from bayesrl.beliefs.mdp._kept_urns import KeptUrns

Entries = NDArray[np.int64]

CHUNK = 256
"""Number of entries after which the counts of all cells are updated."""
FIRST = 64
"""Room for entries in a new book, at least."""
DENSE = 2**20
"""The largest number of cells whose counts are stored."""


class _Book:
    """The shared buffer; entries below `fill` are never written again."""

    __slots__ = ("entries", "fill", "kept_mean", "kept_urns", "lock")

    def __init__(self, entries: Entries, fill: int) -> None:
        self.entries, self.fill, self.lock = entries, fill, Lock()
        self.kept_mean: KeptMean | None = None
        self.kept_urns: KeptUrns | None = None


class Ledger:
    """The first n entries of a book, each the index of an observed cell, and the counts of the cells."""

    __slots__ = ("_book", "_cells", "_counted", "_dense", "_n")

    def __init__(self, cells: int) -> None:
        self._book = _Book(np.empty(0, np.int64), 0)
        self._n = self._counted = 0
        self._cells = cells
        self._dense: Floats | None = frozen(np.zeros(cells)) if cells <= DENSE else None  # of `_counted` entries

    def __len__(self) -> int:
        return self._n

    @property
    def entries(self) -> Entries:
        """The observed cells, oldest first (read-only)."""
        view = self._book.entries[: self._n]
        view.setflags(write=False)
        return view

    def since(self, n: int) -> Entries:
        """The entries after the first n, which must not be written."""
        return self._book.entries[n : self._n]

    def counts(self) -> Floats:
        """The count of each cell, as a new array."""
        if self._dense is None:
            return np.bincount(self.entries, minlength=self._cells).astype(np.float64)
        dense = self._dense.copy()
        np.add.at(dense, self._book.entries[self._counted : self._n], 1.0)
        return dense

    def between(self, first: int, end: int) -> Floats:
        """The counts of the cells first, ..., end - 1, as a new array."""
        counts = np.zeros(end - first) if self._dense is None else self._dense[first:end].copy()
        late = self._book.entries[self._counted : self._n]
        np.add.at(counts, late[(late >= first) & (late < end)] - first, 1.0)
        return counts

    @property
    def kept_mean(self) -> KeptMean | None:
        """The mean model that the posteriors of this book share (`_incremental_mean.py`)."""
        return self._book.kept_mean

    @kept_mean.setter
    def kept_mean(self, kept: KeptMean) -> None:
        self._book.kept_mean = kept

    @property
    def kept_urns(self) -> KeptUrns | None:
        """The urns that the posteriors of this book share (`_kept_urns.py`)."""
        return self._book.kept_urns

    @kept_urns.setter
    def kept_urns(self, kept: KeptUrns) -> None:
        self._book.kept_urns = kept

    def append(self, cell: int) -> Ledger:
        """A ledger with one more entry. This ledger does not change."""
        book, n = self._book, self._n
        with book.lock:
            if book.fill == n < len(book.entries):
                book.entries[n] = cell
                book.fill = n + 1
            else:
                grown = np.empty(max(FIRST, 2 * n), np.int64)
                grown[:n] = book.entries[:n]
                grown[n] = cell
                old, book = book, _Book(grown, n + 1)
                if old.fill == n:  # the newest version continues in the new book
                    book.kept_mean, book.kept_urns = old.kept_mean, old.kept_urns
                    old.kept_mean = old.kept_urns = None
        new = object.__new__(Ledger)
        new._book, new._n, new._cells = book, n + 1, self._cells
        new._dense, new._counted = self._dense, self._counted
        if n + 1 - self._counted >= CHUNK and new._dense is not None:
            new._dense, new._counted = frozen(new.counts()), n + 1
        return new

    def extend(self, cells: Entries) -> Ledger:
        """A ledger with many more entries."""
        new = object.__new__(Ledger)
        entries = np.concatenate([self.entries, np.asarray(cells, np.int64)])
        new._book, new._n, new._cells = _Book(entries, len(entries)), len(entries), self._cells
        new._dense, new._counted = self._dense, self._counted
        if new._dense is not None:
            new._dense, new._counted = frozen(new.counts()), new._n
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._cells, np.array(self.entries))


def _rebuild(cells: int, entries: Entries) -> Ledger:
    return Ledger(cells).extend(entries)
