"""Statistical assertions with stated false-alarm rates and detectable errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bayesrl.checks import Floats


def assert_mean_equal(
    samples: ArrayLike,
    expected: ArrayLike,
    *,
    false_alarm: float = 1e-6,
    what: str = "mean",
    bias: float = 0.0,
    error: ArrayLike = 0.0,
) -> None:
    """Fail when the mean of the samples (first axis) is not `expected`, entry by entry.

    A two-sided Student test for each of m entries at false_alarm / m (Bonferroni), so a correct program fails with
    probability at most `false_alarm` in all (for means that are nearly normal). A true discrepancy of about
    (|z| + 1) standard errors is seen five times in six. `bias` is a known bound on the error of the samples
    themselves, such as a solver's tolerance; `error` is the standard error of what is expected, where that is an
    estimate too.
    """
    x = np.asarray(samples, dtype=np.float64)
    n = x.shape[0]
    x = x.reshape(n, -1)
    mu = np.broadcast_to(np.asarray(expected, dtype=np.float64), np.shape(samples)[1:]).ravel()
    both = np.hypot(x.std(axis=0, ddof=1) / np.sqrt(n), np.broadcast_to(error, np.shape(samples)[1:]).ravel())
    width = stats.t.isf(false_alarm / (2 * x.shape[1]), n - 1) * both
    rounding = 1e-12 * (1.0 + np.abs(mu))
    off = np.abs(x.mean(axis=0) - mu) - width - rounding - bias
    if off.max() > 0.0:
        i = int(off.argmax())
        raise AssertionError(
            f"{what}[{i}]: the mean of {n} samples is {x.mean(axis=0)[i]:.6g} (standard error {both[i]:.2g}), "
            f"expected {mu[i]:.6g}; chance of this if equal is below {false_alarm:g}"
        )


def assert_quantiles(
    samples: ArrayLike, levels: Floats, quantiles: Floats, *, false_alarm: float = 1e-6, what: str = "quantile"
) -> None:
    """Fail when `quantiles` (one row for each level) are not those of the samples (first axis), entry by entry.

    If q is the p-quantile, at most a share p of the distribution lies below q and at least a share p at or below it;
    both are binomial tests at false_alarm / (2 m) for m entries. So distributions with atoms are served too.
    """
    x = np.asarray(samples, dtype=np.float64)
    n, slack = len(x), 1e-12 * (1.0 + np.abs(quantiles))
    below = np.array([(x < row).sum(axis=0) for row in quantiles - slack])
    up_to = np.array([(x <= row).sum(axis=0) for row in quantiles + slack])
    p = np.broadcast_to(levels.reshape(-1, *(1,) * (x.ndim - 1)), below.shape)
    chance = np.minimum(stats.binom.sf(below - 1, n, p), stats.binom.cdf(up_to, n, p))
    if chance.min() < false_alarm / (2 * chance.size):
        i = np.unravel_index(int(chance.argmin()), chance.shape)
        raise AssertionError(
            f"{what}{list(map(int, i[1:]))}: {quantiles[i]:.6g} is said to be the {p[i]:g}-quantile; of {n} samples "
            f"{below[i]} lie below and {up_to[i]} up to it, chance {chance[i]:.2g}"
        )


def assert_uniform_ranks(ranks: ArrayLike, levels: int, *, false_alarm: float = 1e-6, what: str = "rank") -> None:
    """Fail when ranks in 0..levels-1 (first axis: replicates) are not uniform, statistic by statistic.

    Chi-square over at most 20 bins for each of m statistics at false_alarm / m.
    """
    r = np.asarray(ranks).reshape(len(np.asarray(ranks)), -1)
    bins = next(b for b in (20, 16, 10, 8, 5, 4, 2, 1) if levels % b == 0)
    for i in range(r.shape[1]):
        counts = np.bincount(r[:, i] * bins // levels, minlength=bins)
        chance = stats.chisquare(counts).pvalue if bins > 1 else 1.0
        if chance < false_alarm / r.shape[1]:
            raise AssertionError(f"{what}[{i}] is not uniform: counts {counts.tolist()}, chance {chance:.2g}")


def assert_frequencies(counts: ArrayLike, probabilities: ArrayLike, *, false_alarm: float = 1e-6) -> None:
    """Fail when counts do not have these probabilities; what has probability zero must not occur."""
    n: Floats = np.asarray(counts, dtype=np.float64).ravel()
    p: Floats = np.asarray(probabilities, dtype=np.float64).ravel()
    if n[p == 0.0].any():
        raise AssertionError(f"an event of probability zero occurred {int(n[p == 0.0].max())} times")
    n, p = n[p > 0.0], p[p > 0.0]
    if len(n) > 1:
        chance = stats.chisquare(n, p / p.sum() * n.sum()).pvalue
        if chance < false_alarm:
            raise AssertionError(f"frequencies {(n / n.sum()).tolist()} against {p.tolist()}: chance {chance:.2g}")


def assert_chain_mean(x: ArrayLike, expected: ArrayLike, errors: float = 5.0, batches: int = 40) -> None:
    """The mean of a chain's draws x (n, k) is within that many batch-means standard errors of the expected one, (k,).

    The error is about Student's t with `batches` - 1 degrees of freedom: 5 errors fail a correct chain with probability
    1e-5 for each quantity. A quantity in [0, 1] has the error of independent draws at least, so that rare events pass.
    """
    draws, exact = np.asarray(x, np.float64), np.asarray(expected, np.float64)
    n = len(draws) - len(draws) % batches
    means = draws[:n].reshape(batches, n // batches, -1).mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(batches)
    error = np.maximum(error, np.sqrt(np.maximum(exact * (1.0 - exact), 0.0) / n)) + 1e-9
    far = np.abs(draws.mean(axis=0) - exact) / error
    assert (far <= errors).all(), f"a mean is {far.max():.1f} standard errors from the expected one"
