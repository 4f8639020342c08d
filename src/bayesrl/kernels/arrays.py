"""Names for the arrays that compiled functions take, by element and number of axes: `F2` is a matrix of float64.

Every compiled function annotates its array arguments and its result with these names, and numbers with `int`, `float`
and `bool`. mypy checks it as strictly as the rest of the library. Numba ignores annotations, since it compiles a
function for the types that it is called with. A local array needs an annotation only if mypy cannot infer its number of
axes: `q: F1 = np.zeros(n)`.

numpy's stubs give `Any` for `x[i]`. The plugin `tests/typing/numpy_elements.py` gives the element instead, as Numba
does: `x[i]` of `F1` is a `float`, `x[i]` of `F2` is `F1`, and an element of `I1` (signed, of any width) is an `int`.
An element of `U1` stays `np.uint64`. Numba turns a uint64 and a signed integer into floats, so mixing them is an error.

mypy refuses an array whose number of axes is known to be different (`np.zeros((n, m))` for an `F1`). It accepts every
array whose number of axes is unknown (`NDArray[np.float64]`).
"""

from typing import Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

F1: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
F2: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]
F3: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]
F4: TypeAlias = np.ndarray[tuple[int, int, int, int], np.dtype[np.float64]]
"""Arrays of float64 with one to four axes."""

I1: TypeAlias = np.ndarray[tuple[int], np.dtype[np.integer[Any]]]
I2: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.integer[Any]]]
I3: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.integer[Any]]]
I4: TypeAlias = np.ndarray[tuple[int, int, int, int], np.dtype[np.integer[Any]]]
"""Arrays of integers (signed, of any width) with one to four axes."""

U1: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint64]]
"""A vector of uint64: hashes, and the state of a random stream (`stream.py`)."""

B1: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]
B2: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.bool_]]
B3: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.bool_]]
"""Arrays of bools with one to three axes."""

Record = TypeVar("Record", covariant=True)


class Records(Protocol[Record]):
    """A vector of records, a structured array of numpy's. `Record` is a Protocol that names the fields and their types.

    Numba reads a field as an attribute, `rows[i].total`, and so does numpy if the dtype is `np.record`.
    """

    @overload
    def __getitem__(self, i: int, /) -> Record: ...
    @overload
    def __getitem__(self, name: str, /) -> NDArray[Any]: ...
    def __len__(self) -> int: ...
