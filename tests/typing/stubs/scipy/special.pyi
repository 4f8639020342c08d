"""The special functions that the library uses: a number gives a number, arrays give an array of float64."""

from typing import Any, Literal, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Array = TypeVar("_Array", bound=NDArray[np.float64])

class _One(Protocol):
    @overload
    def __call__(self, x: float, /) -> float: ...
    @overload
    def __call__(self, x: _Array, /) -> _Array: ...
    @overload
    def __call__(self, x: ArrayLike, /) -> NDArray[np.float64]: ...

class _Two(Protocol):
    @overload
    def __call__(self, x: float, y: float, /) -> float: ...
    @overload
    def __call__(self, x: ArrayLike, y: ArrayLike, /) -> NDArray[np.float64]: ...

class _Three(Protocol):
    @overload
    def __call__(self, x: float, y: float, z: float, /) -> float: ...
    @overload
    def __call__(self, x: ArrayLike, y: ArrayLike, z: ArrayLike, /) -> NDArray[np.float64]: ...

expit: _One
gammaln: _One
ndtr: _One
ndtri: _One
log_ndtr: _One
digamma: _One
entr: _One
betaln: _Two
rel_entr: _Two
xlogy: _Two
stdtr: _Two
stdtrit: _Two
gammaincinv: _Two
gammainccinv: _Two
polygamma: _Two
betainc: _Three
bdtr: _Three
bdtrc: _Three
betaincinv: _Three

def softmax(x: _Array, axis: int | None = None) -> _Array: ...
@overload
def logsumexp(a: ArrayLike, axis: None = None, b: ArrayLike | None = None) -> float: ...
@overload
def logsumexp(
    a: ArrayLike, axis: int | tuple[int, ...], b: ArrayLike | None = None, keepdims: bool = False
) -> NDArray[np.float64]: ...
@overload
def comb(N: int, k: int, *, exact: Literal[True]) -> int: ...
@overload
def comb(N: float, k: float) -> float: ...
@overload
def comb(N: ArrayLike, k: ArrayLike) -> NDArray[np.float64]: ...
def roots_jacobi(n: int, alpha: float, beta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

cython_special: Any
