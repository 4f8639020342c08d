"""Checks of values that enter the library, and their conversion to read-only arrays.

Only these functions decide which numbers, indices and arrays are accepted. Each raises `InvalidArgument`. A class
declares the bounds of its fields instead of calling these functions: see `parameters.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from bayesrl.errors import BayesRLError, BrokenContract, InvalidArgument, show

T = TypeVar("T")
A = TypeVar("A", bound=NDArray[Any])
N = TypeVar("N", bound=tuple[Any, ...])
Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]

ROW_SUM_TOLERANCE = 1e-9
"""How far the sum of a row of probabilities may be from one: the rounding error of a few hundred terms."""
SINGLE_ROW_SUM_TOLERANCE = 64 * float(np.finfo(np.float32).eps)
"""The same for rows given in single precision."""
LARGEST = 1e100
"""The largest number that a belief accepts. Sums and squares of a thousand such numbers are finite."""
SMALLEST = 1e-100
"""The smallest number that a belief accepts where numbers must be positive. Its reciprocal and square are finite."""
DEEPEST = 10**7
"""The largest depth of a compiled simulation. More steps would exhaust the memory."""
TINY = 1e-200
"""Positive quantile levels below this are replaced by it, since scipy's quantiles are NaN or have the wrong sign."""
WORD = 2**63 - 1
"""The largest integer that compiled code can hold."""


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal. Arrays are compared elementwise, tuples entry by entry."""
    if type(a) is type(b) and isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.array_equal(a, b))
    return bool(a == b)


def frozen(array: A) -> A:
    """Make an array read-only and return it. The caller must not write to it any more."""
    array.setflags(write=False)
    return array


def all_frozen(things: N) -> N:
    """Make all arrays of a tuple, and of the tuples in it, read-only, and return the tuple.

    To Numba, an array that may be written has another type. A kernel is compiled once if its models are always
    read-only.
    """
    for thing in things:
        if isinstance(thing, np.ndarray):
            frozen(thing)
        elif isinstance(thing, tuple):
            all_frozen(thing)
    return things


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
    """A finite number in [low, high]. `above` and `below` make the lower and the upper end open.

    `moderate` also refuses numbers beyond 1e100, whose squares overflow, and numbers below 1e-100, whose reciprocals
    overflow, if 0 is refused.
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
    return y + 0.0  # numpy takes -0.0 for a negative scale


def _too_far(y: float) -> str:
    """The reason for refusing a number within its bounds."""
    if abs(y) > LARGEST:
        return f"Numbers beyond {LARGEST:g} are refused, because their sums and squares overflow."
    return f"Positive numbers below {SMALLEST:g} are refused, because their reciprocals overflow."


def probability(owner: str, name: str, x: Any) -> float:
    """A quantile level from 0 to 1. Positive levels below `TINY` are replaced by `TINY`."""
    p = x if type(x) is float and 0.0 <= x <= 1.0 else number(owner, name, x, 0.0, 1.0)
    return max(p, TINY) if p > 0.0 else p


def integer(owner: str, name: str, x: Any, low: int = 0, high: int | None = None, *, any_length: bool = False) -> int:
    """An integer from low to high. Unless `any_length` is set, compiled code must be able to hold it."""
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
    """Convert to an array. Rows of different lengths give an array of shape (), which no check accepts."""
    try:
        return np.asarray(x)
    except ValueError:
        return np.asarray(None)


def called(owner: str, name: str, function: Callable[..., Any] | None, *given: Any) -> Any:
    """Call a user's function. An error that it raises is quoted in one sentence, and is the cause of ours."""
    if function is None:
        raise InvalidArgument(owner, name, "given for this question", None)
    try:
        return function(*given)
    except (BayesRLError, MemoryError):
        raise
    except Exception as wrong:
        things = ", ".join("a numpy Generator" if isinstance(x, Generator) else show(x) for x in given)
        said = f"{type(wrong).__name__}: {' '.join(str(wrong).split())}".removesuffix(".").removesuffix(": ")
        duty = f"take {things}" if given else "answer without arguments"
        raise BrokenContract(f"{owner}: the function '{name}'", duty, None, said) from wrong


def returned(
    owner: str, name: str, function: Callable[..., Any] | None, shape: Sequence[int | None], *given: Any
) -> Floats:
    """The finite numbers of this shape that a user's function gives."""
    found = called(owner, name, function, *given)
    try:
        return array(owner, name, found, shape)
    except InvalidArgument as wrong:
        duty = f"return {'' if wrong.expected.startswith('a') else 'numbers '}{wrong.expected}"
        raise BrokenContract(f"{owner}: the function '{name}'", duty, wrong.got) from None


def broadcast(owner: str, **named: Floats) -> tuple[Floats, ...]:
    """Broadcast arrays to one shape; raise an error if their shapes do not fit."""
    try:
        return tuple(np.broadcast_arrays(*named.values()))
    except ValueError:
        shapes = [x.shape for x in named.values()]
        raise InvalidArgument(owner, ", ".join(named), "arrays whose shapes broadcast", shapes) from None


def truth(owner: str, name: str, x: Any) -> bool:
    """True or False."""
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
    """A finite, read-only copy as an array of floats with the given shape, where None allows any length.

    `moderate` is explained in `number`.
    """
    try:
        given = np.asarray(x)
        if given.dtype.kind not in "biufO" or (given.dtype.kind == "O" and any(v is None for v in given.flat)):
            raise TypeError  # numpy would convert text, complex numbers and None silently
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
    """A read-only array of integers in 0..high-1."""
    y = array(owner, name, x, shape)
    bad = (y != np.floor(y)) | (y < 0) | (y >= high)
    if bad.any():
        raise InvalidArgument(owner, name, f"whole numbers from 0 to {high - 1}", float(y[bad][0]), _where(bad))
    return frozen(y.astype(np.int32))


def choices(owner: str, name: str, x: Any, shape: tuple[int, int], among: Any = None) -> Any:
    """Truth values (S, A), at least one in each row, `among` others if they are given; None is no choice."""
    if x is None:
        return None
    y = as_array(x)
    if y.shape != shape or y.dtype != np.bool_ or not y.any(axis=1).all():
        raise InvalidArgument(owner, name, f"truth values of shape {shape}, one of them true in each state", x)
    y = y.copy() if among is None else y & among
    if not y.any(axis=1).all():
        raise InvalidArgument(owner, name, "legal for one action in each state at least", x)
    return frozen(y)


def rows_sum_to_one(owner: str, name: str, p: Floats, given: Any = None) -> Floats:
    """Rows (last axis) of probabilities; raise an error if one does not sum to one.

    `given` is the caller's array. If it is in single precision, rows need to sum to one only within that precision, and
    they are normalised in double precision.
    """
    single = row_tolerance(given) > ROW_SUM_TOLERANCE
    total = p.sum(axis=-1)
    bad = np.abs(total - 1.0) > row_tolerance(given)
    if bad.any():
        raise InvalidArgument(owner, name, "rows that sum to 1", float(total[bad][0]), _where(bad, "row"))
    return frozen(p / total[..., None]) if single else p


def row_tolerance(given: Any) -> float:
    """How far the sum of a row may be from one, given the precision of the caller's array."""
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
