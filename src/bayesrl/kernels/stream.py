"""Random numbers for searches: a generator that is compiled into the loop that asks it.

A search draws two numbers for every simulated step, and numpy's generator cannot be inlined: called from compiled code
it costs, with the registers saved around it, 3 to 4 of 25 ns. `stream(rng)` seeds xoshiro256++ (Blackman, Vigna 2021)
from the generator that the search was given, `uniform(rng)` draws from whichever of the two it gets. With compilation
off a stream is the generator itself.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulator import INLINED


def stream(rng: Any) -> Any:
    """A stream of its own for a search: the four words of its state."""
    return rng


@overload(stream)
def _stream(rng):
    def seeded(rng):
        state = np.empty(4, np.uint64)
        for i in range(4):
            state[i] = (np.uint64(rng.random() * 2.0**32) << np.uint64(32)) | np.uint64(rng.random() * 2.0**32)
        state[0] |= np.uint64(1)  # never zero altogether
        return state

    return seeded


def uniform(rng: Any) -> Any:
    """A number in [0, 1) from a generator or a stream."""
    return rng.random()


@overload(uniform, INLINED)
def _uniform(rng):
    if isinstance(rng, types.Array):
        return getattr(xoshiro, "py_func", xoshiro)
    return lambda rng: rng.random()


@njit
def xoshiro(rng):
    """The next number of a stream: the upper 53 of 64 bits."""
    a, b, c, d = rng[0], rng[1], rng[2], rng[3]
    bits = rotated(a + d, 23) + a
    c ^= a
    d ^= b
    rng[0], rng[1], rng[2], rng[3] = a ^ d, b ^ c, c ^ (b << np.uint64(17)), rotated(d, 45)
    return np.int64(bits >> np.uint64(11)) * 2.0**-53


@njit
def rotated(x, k):
    """x with its bits moved k to the left, those that fall out coming in at the right."""
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))
