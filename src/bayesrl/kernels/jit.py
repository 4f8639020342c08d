"""The one way in which this library compiles: cached on disk, without the GIL, types kept for the reader."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel (nopython, cached, GIL released)."""
    return numba.njit(cache=True, nogil=True)(function)
