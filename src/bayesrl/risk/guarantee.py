"""A lower limit of a percentile, from samples alone: an order statistic with its binomial confidence.

Of n independent draws, the number that do not exceed the epsilon-percentile is at least binomial, Bin(n, epsilon). The
k-th smallest draw is at most the percentile if that number is at least k. This holds for every distribution.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc

from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument


def guaranteed(owner: str, returns: Floats, epsilon: float, confidence: float) -> float:
    """A number that is at most the epsilon-percentile of the distribution of `returns`, with probability `confidence`.

    >>> import numpy as np
    >>> guaranteed("me", np.arange(1.0, 101.0), 0.1, 0.99)
    4.0
    """
    k = rank(owner, len(returns), epsilon, confidence)
    return float(np.partition(returns, k - 1)[k - 1])


def rank(owner: str, n: int, epsilon: float, confidence: float) -> int:
    """The largest k with P(Bin(n, epsilon) >= k) >= confidence. An error says how many samples have one.

    >>> rank("me", 20_000, 0.1, 0.99)
    1902
    >>> rank("me", 40, 0.1, 0.99)
    Traceback (most recent call last):
    ...
    bayesrl.errors.InvalidArgument: me: 'samples' must be at least 44 for epsilon 0.1 and confidence 0.99, got 40.
    """
    if at_least(1, n, epsilon) < confidence:
        least = samples_needed(epsilon, confidence)
        raise InvalidArgument(
            owner, "samples", f"at least {least} for epsilon {epsilon:g} and confidence {confidence:g}", n
        )
    low, high = 1, n + 1  # k is in [low, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at_least(middle, n, epsilon) >= confidence else (low, middle)
    return low


def samples_needed(epsilon: float, confidence: float) -> int | float:
    """The smallest n with 1 - (1 - epsilon)^n >= confidence. It is a float if it is beyond 1e15."""
    about = math.log1p(-confidence) / math.log1p(-epsilon) if epsilon > 1e-300 else math.inf
    if about > 1e15:
        return about
    n = max(1, math.floor(about) - 1)
    while at_least(1, n, epsilon) < confidence:
        n += 1
    return n


def at_least(k: int, n: int, epsilon: float) -> float:
    """P(Bin(n, epsilon) >= k), for k from 1 to n."""
    return float(betainc(k, n - k + 1, epsilon))
