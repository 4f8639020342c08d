"""How values enter the library: checked once, and turned into read-only arrays.

The functions below are the only places that decide what an acceptable number, index or array is. Each raises
`InvalidArgument` with one sentence. A class declares the bounds of its fields instead of calling them: `parameters.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from bayesrl.errors import InvalidArgument

T = TypeVar("T")
A = TypeVar("A", bound=NDArray[Any])
Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]

ROW_SUM_TOLERANCE = 1e-9
"""How far a row of probabilities may be from one: rounding of a few hundred terms, not a modelling error."""
SINGLE_ROW_SUM_TOLERANCE = 64 * float(np.finfo(np.float32).eps)
"""The same for rows that came in single precision."""
LARGEST = 1e100
"""What a belief is made of is at most this large: sums and squares of a thousand of these are finite."""
SMALLEST = 1e-100
"""What a belief is made of and must be positive is at least this large: reciprocals and squares are finite."""
DEEPEST = 10**7
"""The most steps that a belief makes room for in a compiled simulation: with more, memory would run out."""
TINY = 1e-200
"""Orders of quantiles between 0 and this are taken as this: below, scipy's quantiles are NaN or of the wrong sign."""
WORD = 2**63 - 1
"""The largest whole number that compiled code can hold."""


def same(a: Any, b: Any) -> bool:
    """Equality that understands arrays."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.array_equal(a, b))
    return bool(a == b)


def frozen(array: A) -> A:
    """The same array, made read-only (the caller gives it up)."""
    array.setflags(write=False)
    return array


def number(
    owner: str,
    name: str,
    x: Any,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    above: bool = False,
    below: bool = False,
    moderate: bool = False,
) -> float:
    """A finite number in [low, high]; `above` and `below` make that end open.

    `moderate` also refuses what arithmetic cannot carry: numbers beyond 1e100, and below 1e-100 if 0 is refused.
    """
    expected = _interval(low, high, above, below)
    if isinstance(x, (bool, np.bool_, str)) or x is None:
        raise InvalidArgument(owner, name, expected, x)
    try:
        y = float(x)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(owner, name, expected, x) from None
    if not np.isfinite(y) or y < low or y > high or (above and y == low) or (below and y == high):
        raise InvalidArgument(owner, name, expected, x)
    if moderate and (abs(y) > LARGEST or (above and low == 0.0 and y < SMALLEST)):
        raise InvalidArgument(owner, name, expected, x, _too_far(y))
    return y


def _too_far(y: float) -> str:
    """Why a number within its bounds is refused."""
    if abs(y) > LARGEST:
        return f"Numbers beyond {LARGEST:g} are refused, because their sums and squares overflow."
    return f"Positive numbers below {SMALLEST:g} are refused, because their reciprocals overflow."


def probability(owner: str, name: str, x: Any) -> float:
    """A number from 0 to 1. The order of a quantile: between 0 and `TINY` it is `TINY`."""
    p = x if type(x) is float and 0.0 <= x <= 1.0 else number(owner, name, x, 0.0, 1.0)
    return max(p, TINY) if p > 0.0 else p


def integer(owner: str, name: str, x: Any, low: int = 0, high: int | None = None, *, any_length: bool = False) -> int:
    """A whole number from low to high that compiled code can hold (`any_length`: that Python can hold)."""
    if type(x) is int and -WORD <= x and low <= x <= (WORD if high is None else high) <= WORD:  # as in most calls
        return x
    top = "" if high is None else f" and at most {high}"
    expected = f"a whole number of at least {low}{top}"
    try:
        if isinstance(x, (bool, np.bool_)):
            raise TypeError
        y = operator.index(x)
    except TypeError:
        raise InvalidArgument(owner, name, expected, x) from None
    if y < low or (high is not None and y > high):
        raise InvalidArgument(owner, name, expected, x)
    if abs(y) > WORD and not any_length:
        raise InvalidArgument(owner, name, f"a whole number of at most {WORD}", x)
    return y


def sequence(owner: str, name: str, x: Any, expected: str) -> tuple[Any, ...]:
    """The members of a sequence."""
    try:
        return tuple(x)
    except TypeError:
        raise InvalidArgument(owner, name, expected, x) from None


def as_array(x: Any) -> NDArray[Any]:
    """What came as an array, unchecked; rows of different lengths give an array of shape () that no check accepts."""
    try:
        return np.asarray(x)
    except ValueError:
        return np.asarray(None)


def broadcast(owner: str, **named: Floats) -> tuple[Floats, ...]:
    """Arrays of one shape; those whose shapes do not go together are refused."""
    try:
        return tuple(np.broadcast_arrays(*named.values()))
    except ValueError:
        shapes = [x.shape for x in named.values()]
        raise InvalidArgument(owner, ", ".join(named), "arrays whose shapes broadcast", shapes) from None


def truth(owner: str, name: str, x: Any) -> bool:
    """Yes or no."""
    if not isinstance(x, (bool, np.bool_)):
        raise InvalidArgument(owner, name, "True or False", x)
    return bool(x)


def generator(owner: str, rng: Any) -> Generator:
    """A numpy Generator."""
    if not isinstance(rng, Generator):
        raise InvalidArgument(owner, "rng", "a numpy Generator, such as numpy.random.default_rng(0)", rng)
    return rng


def choice(owner: str, name: str, x: Any, options: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(x, str) or x not in options:
        raise InvalidArgument(owner, name, "one of " + ", ".join(options), x)
    return str(x)


def array(
    owner: str,
    name: str,
    x: ArrayLike,
    shape: Sequence[int | None] | None = None,
    *,
    low: float = -np.inf,
    above: bool = False,
    moderate: bool = False,
) -> Floats:
    """A finite, read-only array of floats of the given shape (None: any length), a copy of what came.

    `moderate` also refuses what arithmetic cannot carry: numbers beyond 1e100, and below 1e-100 if 0 is refused.
    """
    try:
        if np.asarray(x).dtype.kind not in "biufO":  # text and complex numbers would be converted in silence
            raise TypeError
        y = np.array(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(owner, name, "an array of numbers", x) from None
    if shape is not None and (
        y.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, y.shape, strict=True))
    ):
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise InvalidArgument(owner, name, f"an array of shape {wanted}", y if y.ndim else x)
    if y.size == 0:
        raise InvalidArgument(owner, name, "a non-empty array", y)
    bad = ~np.isfinite(y)
    if bad.any():
        raise InvalidArgument(owner, name, "finite everywhere", float(y[bad][0]), _where(bad))
    if low > -np.inf and (bad := (y <= low) if above else (y < low)).any():
        expected = f"{'greater than' if above else 'at least'} {low:g} everywhere"
        raise InvalidArgument(owner, name, expected, float(y[bad][0]), _where(bad))
    if moderate:
        bad = (np.abs(y) > LARGEST) | ((y < SMALLEST) if above and low == 0.0 else False)
        if bad.any():
            far = float(y[bad][0])
            raise InvalidArgument(owner, name, "of moderate size everywhere", far, _too_far(far))
    return frozen(y)


def indices(owner: str, name: str, x: ArrayLike, shape: Sequence[int | None], high: int) -> Ints:
    """A read-only array of whole numbers in 0..high-1."""
    y = array(owner, name, x, shape)
    bad = (y != np.floor(y)) | (y < 0) | (y >= high)
    if bad.any():
        raise InvalidArgument(owner, name, f"whole numbers from 0 to {high - 1}", float(y[bad][0]), _where(bad))
    return frozen(y.astype(np.int32))


def rows_sum_to_one(owner: str, name: str, p: Floats, given: Any = None) -> Floats:
    """Rows (last axis) of probabilities; those that do not sum to one are refused.

    `given` is what `p` was made of. Rows given in single precision need only sum to one within that precision: they are
    normalised in double precision.
    """
    single = row_tolerance(given) > ROW_SUM_TOLERANCE
    total = p.sum(axis=-1)
    bad = np.abs(total - 1.0) > row_tolerance(given)
    if bad.any():
        raise InvalidArgument(owner, name, "rows that sum to 1", float(total[bad][0]), _where(bad, "row"))
    return frozen(p / total[..., None]) if single else p


def row_tolerance(given: Any) -> float:
    """How far from one the rows of an array may be, given the precision in which they came."""
    single = given is not None and getattr(given, "dtype", None) == np.float32
    return SINGLE_ROW_SUM_TOLERANCE if single else ROW_SUM_TOLERANCE


def _where(bad: Bools, what: str = "index") -> str:
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"First at {what} {first[0] if len(first) == 1 else first}." if first else ""


def _interval(low: float, high: float, above: bool, below: bool) -> str:
    if low == -np.inf and high == np.inf:
        return "a finite number"
    if high == np.inf:
        return f"{'greater than' if above else 'at least'} {low:g}"
    if low == -np.inf:
        return f"{'less than' if below else 'at most'} {high:g}"
    return f"in {'(' if above else '['}{low:g}, {high:g}{')' if below else ']'}"
