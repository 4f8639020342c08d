"""Draws that several files of tests use."""

from numpy.random import Generator

from bayesrl.checks import Floats


def one_of(p: Floats, rng: Generator) -> int:
    """An index with these probabilities: that of `rng.choice(len(p), p=p)`, in a fifth of its time."""
    below = p.cumsum()
    assert abs(below[-1] - 1.0) <= 1.5e-8, f"probabilities sum to {below[-1]}"
    assert p.min() >= 0.0, f"a probability is {p.min()}"
    below /= below[-1]
    return int(below.searchsorted(rng.random(), side="right"))
