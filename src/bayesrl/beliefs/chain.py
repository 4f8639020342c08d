"""How well a Markov chain has mixed: effective sample size and split R-hat of its draws, and a warning.

Split R-hat (Gelman et al. 2013) compares the two halves of a chain: R^2 = ((n - 1)/n W + B) / W, where W is the mean
variance within halves and B the variance of their means. The effective sample size is n / (1 + 2 sum rho_t), where the
autocorrelations rho_t are summed in pairs until a pair is negative (Geyer 1992), and each pair is at most the one
before.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from bayesrl.checks import Floats, frozen

MIXED = 1.1
"""The largest R-hat without a warning."""
FEW = 20
"""The smallest effective sample size without a warning, for at least ten times as many draws."""
RARELY, OFTEN = 0.1, 0.9
"""Shares of accepted proposals outside which the step of a chain that mixes badly is too large or too small."""


class Diagnostics(NamedTuple):
    """How well a chain has mixed."""

    effective_sample_size: Floats
    """Of each quantity: independent draws that would estimate its mean as well."""
    r_hat: Floats
    """Split R-hat of each quantity: near 1 where the halves of the chain agree."""
    acceptance: float
    """Share of accepted proposals; nan if the sampler has none."""
    draws: int


class PoorMixing(UserWarning):
    """A chain has not mixed: its draws do not represent the posterior."""


def effective_sample_size(x: Floats) -> Floats:
    """Of each column of draws x (n, k). A constant column has size n."""
    n = len(x)
    if n < 4:
        return np.full(x.shape[1], float(n))
    z = x - x.mean(axis=0)
    power = np.abs(np.fft.rfft(z, 2 * n, axis=0)) ** 2
    covariance = np.fft.irfft(power, axis=0)[:n] / n
    constant = covariance[0] <= 1e-14 * np.abs(x).max(axis=0) ** 2
    rho = covariance / np.where(constant, 1.0, covariance[0])
    pairs = rho[0 : 2 * (n // 2) : 2] + rho[1 : 2 * (n // 2) : 2]
    pairs = np.minimum.accumulate(np.where(np.cumsum(pairs < 0.0, axis=0) > 0, 0.0, pairs), axis=0)
    size = n / np.maximum(2.0 * pairs.sum(axis=0) - 1.0, 1.0 / n)
    return np.where(constant, float(n), np.minimum(size, n * np.log10(max(n, 10))))


def split_r_hat(x: Floats) -> Floats:
    """Of each column of draws x (n, k): the two halves as two chains. A constant column has 1."""
    half = len(x) // 2
    if half < 2:
        return np.ones(x.shape[1])
    a, b = x[:half], x[len(x) - half :]
    within = (a.var(axis=0, ddof=1) + b.var(axis=0, ddof=1)) / 2.0
    between = (a.mean(axis=0) - b.mean(axis=0)) ** 2 / 2.0
    scale = np.abs(x).max(axis=0) ** 2
    still = within <= 1e-14 * scale
    ratio = np.sqrt((half - 1) / half + between / np.where(still, 1.0, within))
    return np.where(still, np.where(between <= 1e-14 * scale, 1.0, np.inf), ratio)


def diagnose(x: Floats, acceptance: float | None = None) -> Diagnostics:
    """The diagnostics of draws x (n, k)."""
    return Diagnostics(
        frozen(effective_sample_size(x)),
        frozen(split_r_hat(x)),
        np.nan if acceptance is None else float(acceptance),
        len(x),
    )


def warn_if_poor(owner: str, found: Diagnostics) -> None:
    """Warn if a chain has hardly moved or its halves disagree."""
    n, ess, r_hat = (
        found.draws,
        float(found.effective_sample_size.min(initial=np.inf)),
        float(found.r_hat.max(initial=1.0)),
    )
    accepted = f"{100 * found.acceptance:.3g}% of the proposals were accepted"
    step = "smaller" if found.acceptance < RARELY else "larger" if found.acceptance > OFTEN else ""
    advice = f"take more sweeps or a {step} 'step' ({accepted})" if step else "take more sweeps"
    why = ""
    if found.acceptance < 0.01 or found.acceptance > 0.999:
        why = f"{accepted}; take a {step} 'step'"
    elif n >= 10 * FEW and ess < FEW:
        why = f"{n} draws are worth {ess:.0f} independent ones; {advice}"
    elif n >= 10 * FEW and r_hat > MIXED:
        why = f"the halves of the chain disagree (R-hat {r_hat:.2f}); {advice}"
    if why:
        warnings.warn(f"{owner}: {why}.", PoorMixing, stacklevel=3)
