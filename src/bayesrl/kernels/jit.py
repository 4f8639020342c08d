"""Decorators that compile a function with Numba and keep its signature for mypy.

Compiled functions are annotated with the names of `arrays.py`. Numba ignores annotations.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.extending import overload

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F")
INLINED = {"forceinline": True, "error_model": "numpy"}
"""Options of `inlined`. After inlining, LLVM sees that `simulator.borrowed` arrays need no reference counts. numpy's
error model does not check divisors for zero, so that a choice between two quotients needs no branch."""


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel: nopython, cached on disk, without the GIL."""
    return cast(Callable[P, R], _readable(numba.njit(cache=True, nogil=True)(function)))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function into each kernel that calls it. Use this for small functions that take a model's arrays."""
    return cast(Callable[P, R], _readable(numba.njit(cache=True, nogil=True, **INLINED)(function)))


def any_order(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel whose short sums may be added in any order, so that they are vectorised."""
    return cast(
        Callable[P, R], _readable(numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})(function))
    )


def _readable(kernel: Any) -> Any:
    """Let a kernel take a list of compiled forms that it cannot read as an empty one.

    Numba lists them by the types of their arguments. One may be a simulator of a user's script, which another script
    cannot import. It then compiles its own forms anew.
    """
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is not None:
        read = file._load_index

        def load_index() -> Any:
            try:
                return read()
            except (ImportError, AttributeError):
                return {}

        file._load_index = load_index
    return kernel


def plain(kernel: Callable[P, R]) -> Callable[P, R]:
    """The Python function of a kernel, for Numba's `overload`; the kernel itself if compilation is off."""
    return cast(Callable[P, R], getattr(kernel, "py_func", kernel))


def overloads(function: Callable[..., object], inline: bool = False) -> Callable[[F], F]:
    """Numba's `overload`: the decorated function chooses, by types, the compiled implementation of `function`.

    It is not `strict`: strictness compares annotations, which differ between `function` and its implementations.
    """
    return cast(Callable[[F], F], overload(function, INLINED if inline else {}, strict=False))
