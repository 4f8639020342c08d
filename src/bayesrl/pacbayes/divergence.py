"""Divergences in nats, and the bound on a mean loss that they give (McAllester 1999).

For independent losses in [0, 1], with mean L and average L^ over n data, with probability at least 1 - delta for all q
at once (Langford and Seeger; Maurer): kl(E_q L^, E_q L) <= (KL(q, p) + ln(2 sqrt(n) / delta)) / n. Here kl(a, b) is the
divergence of two coins. `kl_inverse` solves for the mean. Pinsker's inequality kl(a, b) >= 2 (a - b)^2 gives the
looser closed form, `mcallester`. Both rest on E exp(n kl(L^, L)) <= sum_k binom(n, k) (k/n)^k (1 - k/n)^(n - k) <=
2 sqrt(n), then Markov's inequality and change of measure as in `lemma.py`.
"""

from __future__ import annotations

from math import expm1, inf, isinf, log, log1p, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, rel_entr

from bayesrl.checks import Floats, array, integer, number, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.pacbayes.lemma import failure, nats

SERIES = 1e4
"""Above this, Stirling's series are exact in double precision."""


def kl(q: ArrayLike, p: ArrayLike) -> float:
    """KL(q, p) of two distributions over the same things; infinite if q has mass where p has none.

    >>> round(kl([0.5, 0.5], [0.25, 0.75]), 12)
    0.143841036226
    >>> kl([0.5, 0.5], [1.0, 0.0])
    inf
    """
    a, b = probabilities("kl", "q", q), probabilities("kl", "p", p)
    if len(a) != len(b):
        raise InvalidArgument("kl", "p", f"of length {len(a)}, as q is", b)
    return divergence(a, b)


def divergence(q: Floats, p: Floats) -> float:
    """KL(q, p) of checked distributions; rounding never makes it negative."""
    return max(float(rel_entr(q, p).sum()), 0.0)


def kl_dirichlet(alpha: ArrayLike, beta: ArrayLike) -> float:
    """KL(Dirichlet(alpha), Dirichlet(beta)) of positive counts (K,); for tables (..., K) the sum over their rows.

    >>> round(kl_dirichlet([2.0, 1.0], [1.0, 1.0]), 6)      # density 2 x: the mean of ln(2 x) is ln 2 - 1/2
    0.193147
    """
    owner = "kl_dirichlet"
    a = array(owner, "alpha", alpha, low=0.0, above=True, moderate=True)
    b = array(owner, "beta", beta, low=0.0, above=True, moderate=True)
    if a.ndim == 0 or a.shape != b.shape:
        raise InvalidArgument(owner, "beta", f"of the shape {a.shape or '(K,)'} of alpha", b.shape)
    total, other = a.sum(axis=-1, keepdims=True), b.sum(axis=-1, keepdims=True)
    # ln Gamma(x) = h(x) + x (psi(x) - 1) and psi(x) = g(x) + ln x: large terms cancel on paper, not in floating point
    parts = _h(b) - _h(a) + b * (_g(b) - _g(a) - _g(other) + _g(total)) + other * rel_entr(b / other, a / total)
    return float(np.maximum((_h(total) - _h(other))[..., 0] + parts.sum(axis=-1), 0.0).sum())


def _h(x: Floats) -> Floats:
    """ln Gamma(x) - x psi(x) + x."""
    y = np.minimum(x, SERIES)
    series = 0.5 * (log(2.0 * pi) + 1.0 - np.log(x)) + 1.0 / (6.0 * np.maximum(x, 1.0))
    return np.asarray(np.where(x > SERIES, series, gammaln(y) - y * digamma(y) + y))


def _g(x: Floats) -> Floats:
    """psi(x) - ln x."""
    y, z = np.minimum(x, SERIES), np.maximum(x, 1.0)
    return np.asarray(np.where(x > SERIES, -0.5 / z - 1.0 / 12.0 / z / z, digamma(y) - np.log(y)))


def kl_inverse(empirical: float, c: float) -> float:
    """The largest mean x of a coin with kl(empirical, x) <= c. An average `empirical` leaves at most this mean.

    The smallest one is 1 - kl_inverse(1 - empirical, c).

    >>> kl_inverse(0.0, 0.5), round(kl_inverse(0.1, 0.02), 4)
    (0.3934693402873666, 0.1704)
    """
    owner = "kl_inverse"
    a = number(owner, "empirical", empirical, 0.0, 1.0)
    try:
        c = inf if float(c) == inf else number(owner, "c", c, 0.0)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(owner, "c", "at least 0", c) from None
    if a == 0.0:
        return -expm1(-c)
    low, high = a, 1.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if _coins(a, middle) <= c else (low, middle)
    return high if c > 0.0 else a


def _coins(a: float, x: float) -> float:
    """kl(a, x) of two coins, 0 < a <= x < 1."""
    return a * log(a / x) + ((1.0 - a) * (log1p(-a) - log1p(-x)) if a < 1.0 else 0.0)


def mcallester(kl: float, samples: int, delta: float, empirical: float) -> float:
    """empirical + sqrt((KL + ln(2 sqrt(n) / delta)) / 2n): bounds E_q of a mean loss in [0, 1] over n independent data.

    >>> round(mcallester(kl=1.0, samples=100, delta=0.05, empirical=0.1), 4)
    0.287
    """
    owner = "mcallester"
    kl, delta, n = nats(owner, kl), failure(owner, delta), integer(owner, "samples", samples, 1)
    return number(owner, "empirical", empirical, 0.0, 1.0) + slack(kl, n, delta)


def slack(kl: float, n: float, delta: float) -> float:
    """sqrt((KL + ln(2 sqrt(n) / delta)) / 2n); infinite below one datum."""
    return inf if isinf(kl) or n < 1.0 else sqrt((kl + log(2.0) + 0.5 * log(n) - log(delta)) / (2.0 * n))


def probabilities(owner: str, name: str, x: Any) -> Floats:
    """Probabilities (n,) that sum to one."""
    return rows_sum_to_one(owner, name, array(owner, name, x, (None,), low=0.0), x)
