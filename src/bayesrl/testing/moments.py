"""The law "moments agree": the closed forms of a belief agree with its own draws.

Means, variances, quantiles, predictive probabilities and counts are computed by other code than draws; both must
describe the same distribution. The law is checked on a belief with data, since errors may not show at a symmetric prior
or if a variance is 1. The capabilities of the belief determine what is checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.mdp.unknown_rewards import FiniteRewards, RewardBelief
from bayesrl.capabilities import (
    Batches,
    CountsPairs,
    CountsPlays,
    HasBestArm,
    HasCertainPairs,
    HasMeanMDP,
    HasMeans,
    HasPairMoments,
    HasQuantiles,
    HasRewardVariance,
    HasRowCovariance,
    HasRowQuantiles,
    HasRowVariance,
    HasVariances,
    ListsExactRows,
    SamplesMDPs,
    SamplesMeans,
    SharesSupport,
    offers,
)
from bayesrl.checks import Floats
from bayesrl.core import Belief
from bayesrl.testing.probes import Probe, learned, probe_for, readings
from bayesrl.testing.statistics import assert_mean_equal, assert_quantiles

LEVELS = np.array([0.03, 0.2, 0.5, 0.8, 0.97])
"""Levels of the quantiles that are compared."""
DATA = 12
"""Number of data that the belief gets first, unless its probe has `data`."""


def check_moments(belief: Belief[Any], probe: Probe[Any] | None = None, *, rng: Generator, draws: int = 10_000) -> None:
    """A belief with data describes the distribution that it draws from.

    Each quantity is one statistical test, with false-alarm rate 1e-6 over all its entries. 10,000 draws detect a mean
    that is off by a sixteenth of a standard deviation, a variance that is off by a tenth, and a quantile whose level is
    off by three hundredths.
    """
    probe = probe_for(belief) if probe is None else probe
    theta = probe.draw(belief, rng)
    seen = [probe.datum(belief, theta, rng) for _ in range(getattr(probe, "data", DATA))]
    for datum in seen:
        belief = learned(probe, belief, datum, rng)
    assert_mean_equal(readings(probe, belief, draws // 4, rng), probe.expect(belief), what="quantity of the probe")
    if offers(belief, SamplesMeans):
        _check_arms(belief, draws, rng)
    if offers(belief, CountsPlays) and not getattr(probe, "approximate", False):
        _check_plays(belief, seen)
    if offers(belief, SamplesMDPs):
        _check_models(belief, probe, draws, rng)
    if isinstance(belief, RewardBelief):
        _check_rewards(belief, probe, draws, rng)


# Arms ----------------------------------------------------------------------------------------------------------------


def _check_arms(belief: SamplesMeans, draws: int, rng: Generator) -> None:
    """Compare draws of the arms' means, single and in lockstep, with the belief's closed forms."""
    x = np.array([belief.sample_means(None, rng) for _ in range(draws // 2)])
    if offers(belief, Batches):
        side_by_side = belief.batch(draws // 2)
        x = np.concatenate([x, side_by_side.sample_means(None, rng)])
    mean = x.mean(axis=0)
    if offers(belief, HasMeans):
        mean = belief.mean()
        assert_mean_equal(x, mean, what="mean")
    if offers(belief, HasVariances):
        assert_mean_equal((x - mean) ** 2, belief.variance(), what="variance")
    if offers(belief, HasQuantiles):
        assert_quantiles(x, LEVELS, np.array([belief.quantile(p) for p in LEVELS.tolist()]))
    if offers(belief, HasBestArm):
        best, hit = belief.best_arm(None, draws, rng), np.eye(x.shape[1])[x.argmax(axis=1)]
        joint = hit[:, :, None] * x[:, None, :]
        n = np.sqrt(len(x))  # a belief that cannot be integrated draws too, perhaps a best arm that is none here
        spread = np.sqrt(best.p * (1.0 - best.p))
        error = np.maximum(hit.std(axis=0), spread) / n
        assert_mean_equal(hit, best.p, what="chance that the arm is best", error=error)
        expected = best.p[:, None] * best.given
        error = np.maximum(joint.std(axis=0), spread[:, None] * np.abs(best.given)) / n
        assert_mean_equal(joint, expected, what="mean where another is best", error=error)
        assert_mean_equal(x, best.mean, what="mean beside the best arm", error=x.std(axis=0) / n)


def _check_plays(belief: CountsPlays, seen: list[Any]) -> None:
    """Plays and averages are those of the data, also for an arm that was not played."""
    plays, average = belief.plays(), belief.average()
    for arm in range(len(plays)):
        paid = [float(datum.reward) for datum in seen if datum.action == arm]
        np.testing.assert_allclose(plays[arm], len(paid), atol=1e-9, err_msg="plays")
        np.testing.assert_allclose(average[arm], np.mean(paid) if paid else np.nan, atol=1e-9, err_msg="average")


# Models --------------------------------------------------------------------------------------------------------------


def _check_models(belief: SamplesMDPs, probe: Probe[Any], draws: int, rng: Generator) -> None:
    """Compare drawn models with the mean model, the variances and quantiles of rows and rewards, and the counts."""
    drawn = [belief.sample_mdp(rng) for _ in range(draws)]
    R = np.array([model.mean_reward for model in drawn])
    if offers(belief, HasMeanMDP):
        mean = belief.mean_mdp()
        assert_mean_equal([model.dense()[0] for model in drawn], mean.dense()[0], what="mean probability")
        assert_mean_equal(R, mean.mean_reward, what="mean reward")
    if not offers(belief, HasRowVariance) or not offers(belief, HasMeanMDP):
        return
    mean, o = belief.mean_mdp(), belief.mean_mdp().outcomes
    x = np.array([model.prob for model in drawn])
    apart = (x - mean.prob) ** 2
    assert_mean_equal(apart, belief.row_variance(), what="variance of a probability")
    if offers(belief, HasRowCovariance):
        _check_covariance(belief.row_covariance(), belief.row_variance(), x - mean.prob)
    if offers(belief, HasCertainPairs):
        assert not apart[:, o.group[belief.certain_pairs()]].max(initial=0.0) > 1e-24, "a certain pair varies"
    if offers(belief, HasPairMoments):
        pairs = np.array([_pairs(model, belief.pair_means().shape[2]) for model in drawn])[:, ~o.terminal]
        means, variances = belief.pair_means()[~o.terminal], belief.pair_variances()[~o.terminal]
        assert_mean_equal(pairs, means, what="mean of a pair's quantity")
        assert_mean_equal((pairs - means) ** 2, variances, what="variance of a pair's quantity")
    if offers(belief, HasRowQuantiles):
        for s, a in np.ndindex(*o.group.shape):
            q = np.array([belief.row_quantile(p, s, a) for p in LEVELS.tolist()])
            assert_quantiles(x[:, o.group[s, a], : q.shape[1]], LEVELS, q, what=f"quantile of the row of {s, a}")
        if offers(belief, HasRewardVariance):  # exact for Dirichlet rows, which have quantiles
            assert_mean_equal((R - mean.mean_reward) ** 2, belief.reward_variance(), what="variance of mean reward")
    if offers(belief, CountsPairs):
        _check_counts(belief, probe, x, mean.prob, o.group)
    if offers(belief, ListsExactRows):
        for g, row in enumerate(belief.exact_rows().rows[: o.n_groups]):
            np.testing.assert_allclose(row.predictive(row.counts), mean.prob[g, : o.size[g]], rtol=1e-9)
    if hasattr(belief, "predictive_row"):
        rows = np.array([belief.predictive_row(s, a) for s, a in np.ndindex(*o.group.shape)])
        np.testing.assert_allclose(rows, mean.prob[o.group.ravel()], rtol=1e-12, err_msg="predictive row")


def _check_covariance(covariance: Floats, variance: Floats, away: Floats) -> None:
    """Covariances within groups; `away` are drawn rows less their means, (n, G, K). Groups must be uncorrelated."""
    diagonal = np.diagonal(covariance, axis1=1, axis2=2)
    np.testing.assert_allclose(diagonal, variance, rtol=1e-12, err_msg="variances on the diagonal")
    np.testing.assert_allclose(covariance.sum(axis=2), 0.0, atol=1e-12, err_msg="rows of probabilities sum to one")
    within = away[:, :, :, None] * away[:, :, None, :]
    assert_mean_equal(within, covariance, what="covariance of two probabilities")
    if away.shape[1] > 1:
        between = away[:, :, :, None] * np.roll(away, 1, axis=1)[:, :, None, :]
        assert_mean_equal(between, np.zeros(covariance.shape), what="covariance between groups")


def _pairs(model: Any, n: int) -> Floats:
    """The unknown numbers of each pair in a drawn model, (S, A, n): probabilities, then rewards if there are more."""
    rows = model.outcomes.of_pairs(model.prob)
    return np.concatenate([rows, model.reward], axis=2)[:, :, :n]


def _check_counts(belief: CountsPairs, probe: Probe[Any], x: Floats, mean: Floats, group: Any) -> None:
    """A row with total count n has variance p (1 - p) / (n + 1), summed over its outcomes; x are drawn rows (n, G, K).

    If models differ in their support, the count is that of the drawn support: the probe's `counts` of a row.
    """
    n = belief.counts()
    if offers(belief, SharesSupport):
        total = ((x - mean) ** 2).sum(axis=2)[:, group]
        spread = (mean * (1.0 - mean)).sum(axis=1)[group]
        unknown = np.isfinite(n)
        if unknown.any():
            assert_mean_equal(total[:, unknown] * (1.0 + n[unknown]), spread[unknown], what="count")
        assert not total[:, ~unknown].max(initial=0.0) > 1e-24, "an infinite count is that of a known row"
    else:
        assert_mean_equal([probe.counts(belief, rows)[group] for rows in x], n, what="count")  # type: ignore[attr-defined]


# Rewards -------------------------------------------------------------------------------------------------------------


def _check_rewards(belief: RewardBelief, probe: Probe[Any], draws: int, rng: Generator) -> None:
    """Drawn mean rewards of cells, and counts: the n-th reward r moves the mean m by (r - m) / n."""
    x = np.array([belief.sample_rewards(rng) for _ in range(draws)])
    mean, n = belief.mean_rewards(), belief.reward_counts()
    assert_mean_equal(x, mean, what="mean reward")
    assert_mean_equal((x - mean) ** 2, belief.reward_variances(), what="variance of mean reward")
    theta = probe.draw(belief, rng)
    for _ in range(20):
        cell, r = probe.datum(belief, theta, rng)
        after = mean[cell] + (r - mean[cell]) / (n[cell] + 1.0)
        np.testing.assert_allclose(belief.update((cell, r)).mean_rewards()[cell], after, rtol=1e-9, atol=1e-12)
    if isinstance(belief, FiniteRewards):
        values, counts = belief.value_counts()
        for i, cell in enumerate(np.ndindex(*mean.shape)):
            r, p = belief.reward_predictive(cell)
            np.testing.assert_allclose(p.sum(), 1.0, rtol=1e-9, err_msg="predictive reward")
            np.testing.assert_allclose(p @ r, mean[cell], rtol=1e-9, err_msg="predictive reward")
            np.testing.assert_allclose(counts[i].sum(), n[cell], rtol=1e-9, err_msg="counts of values")
            np.testing.assert_allclose(counts[i] @ values, n[cell] * mean[cell], rtol=1e-9, err_msg="counts of values")
