"""Random numbers for searches: a generator that is compiled into the loop that calls it.

A search draws two random numbers for every simulated step of 25 ns. numpy's generator cannot be inlined, and a call to
it costs 3 to 4 ns. `stream(rng)` seeds xoshiro256++ (Blackman, Vigna 2021) from the search's generator. `uniform(rng)`
draws from a generator or from a stream. In compiled code a stream is the array of its state. Without compilation a
stream is the generator itself, as the annotations say.
"""

from collections.abc import Callable

import numpy as np
from numba import types
from numpy.random import Generator

from bayesrl.kernels.arrays import U1
from bayesrl.kernels.jit import njit, overloads, plain


def stream(rng: Generator) -> Generator:
    """Seed a stream for one search from `rng`; returns the four words of its state."""
    return rng


@overloads(stream)
def _stream(rng: types.Type) -> Callable[[Generator], U1]:
    def seeded(rng: Generator) -> U1:
        state = np.empty(4, np.uint64)
        for i in range(4):
            state[i] = (np.uint64(rng.random() * 2.0**32) << np.uint64(32)) | np.uint64(rng.random() * 2.0**32)
        state[0] |= np.uint64(1)  # the state must not be zero
        return state

    return seeded


def uniform(rng: Generator) -> float:
    """Draw a number in [0, 1) from a generator or a stream."""
    return rng.random()


@overloads(uniform, inline=True)
def _uniform(rng: types.Type) -> Callable[[U1], float] | Callable[[Generator], float]:
    if isinstance(rng, types.Array):
        return plain(xoshiro)
    return lambda rng: rng.random()


@njit
def xoshiro(rng: U1) -> float:
    """Draw the next number of a stream from the upper 53 of 64 bits."""
    a, b, c, d = rng[0], rng[1], rng[2], rng[3]
    bits = rotated(a + d, 23) + a
    c ^= a
    d ^= b
    rng[0], rng[1], rng[2], rng[3] = a ^ d, b ^ c, c ^ (b << np.uint64(17)), rotated(d, 45)
    return np.int64(bits >> np.uint64(11)) * 2.0**-53


@njit
def rotated(x: np.uint64, k: int) -> np.uint64:
    """x with its bits rotated to the left by k."""
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))
