"""An array that its owner lends, and writes again only when the loan is over.

The posteriors of a run share buffers (`_incremental_mean.py`, `_kept_urns.py`), which a belief hands out with its
models. What it hands out is a loan: an array over the owner's memory. Every slice of a loan refers to the loan, since
NumPy's chain of bases ends at an array that was made from a memory view. A loan therefore lives as long as anybody can
read the buffer through it. The owner keeps a weak reference to it. When this reference is dead, the loan is out of
reach, on every interpreter. Where memory is freed late, the owner only copies more often.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

A = TypeVar("A", bound=NDArray[Any])


class Lent(Generic[A]):
    """An array, and the loan of it that somebody may have. Nobody but its owner refers to the array."""

    __slots__ = ("_dtype", "_loan", "_memory", "_shape", "own")

    def __init__(self, own: A) -> None:
        self.own, self._shape, self._dtype = own, own.shape, own.dtype
        self._memory = own.view(np.uint8).data
        self._loan: ref[NDArray[np.uint8]] | None = None

    @property
    def is_out(self) -> bool:
        """Whether somebody still has the loan, or a part of it. Then the owner must not write the array."""
        return self._loan is not None and self._loan() is not None

    def to_read(self) -> A:
        """The loan, which cannot be written: that which somebody has, or a new one."""
        loan = None if self._loan is None else self._loan()
        if loan is None:
            loan = np.asarray(self._memory.toreadonly())
            self._loan = ref(loan)
        return np.ndarray(self._shape, self._dtype, loan)  # type: ignore[return-value]

    def to_write(self) -> A:
        """A new loan, which its holder may write. The one before must be over."""
        loan = np.asarray(self._memory)
        self._loan = ref(loan)
        return np.ndarray(self._shape, self._dtype, loan)  # type: ignore[return-value]
