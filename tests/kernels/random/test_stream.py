"""Random numbers of searches: the published generator, seeded from the one that was given."""

import numpy as np
from numpy.random import default_rng
from scipy import stats

from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import stream, uniform, xoshiro

MASK = 2**64 - 1


def published(state):
    """xoshiro256++ with whole numbers: (the next 64 bits, the next state)."""
    a, b, c, d = state
    x = (a + d) & MASK
    bits = (((x << 23) | (x >> 41)) + a) & MASK
    t = (b << 17) & MASK
    c, d = c ^ a, d ^ b
    b, a = b ^ c, a ^ d
    c ^= t
    return bits, (a, b, c, ((d << 45) | (d >> 19)) & MASK)


@njit
def numbers(rng, n):
    rng = stream(rng)
    x = np.empty(n)
    for i in range(n):
        x[i] = uniform(rng)
    return x


def test_numbers_are_those_of_the_published_generator():
    state, ours = (1, 2, 3, 4), np.array([1, 2, 3, 4], np.uint64)
    assert published(state)[0] == 41943041  # (1 + 4) 2^23 + 1
    for _ in range(1000):
        bits, state = published(state)
        with np.errstate(over="ignore"):  # sums are modulo 2^64; without compilation NumPy would warn
            assert xoshiro(ours) == (bits >> 11) * 2.0**-53
    assert ours.tolist() == list(state)


def test_streams_are_uniform_and_follow_their_generator():
    """Kolmogorov's test on 100,000 numbers, and on the first number of 2000 streams; false alarm 1e-6 each."""
    x = numbers(default_rng(0), 100_000)
    assert x.min() >= 0.0
    assert x.max() < 1.0
    assert stats.kstest(x, "uniform").pvalue > 1e-6
    assert stats.kstest([numbers(default_rng(i), 1)[0] for i in range(2000)], "uniform").pvalue > 1e-6
    assert np.array_equal(x[:10], numbers(default_rng(0), 10))
    rng = default_rng(0)
    assert not np.array_equal(numbers(rng, 10), numbers(rng, 10)), "a second search has a stream of its own"
