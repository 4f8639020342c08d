"""A base class of objects that read like the array that they hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class ReadsAsArray(ABC):
    """An object that can be indexed, listed, measured and handed to NumPy like its array."""

    @abstractmethod
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return np.asarray(self).shape

    @property
    def ndim(self) -> int:
        """The number of axes of the array."""
        return np.asarray(self).ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the array's entries."""
        return np.asarray(self).dtype

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __len__(self) -> int:
        return len(np.asarray(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def tolist(self) -> list[Any]:
        """The array as a list."""
        return list(np.asarray(self).tolist())

    def round(self, decimals: int = 0) -> NDArray[Any]:
        """The array, rounded."""
        return np.asarray(self).round(decimals)
