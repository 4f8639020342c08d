"""Posterior draws of a policy's value: the law of solving drawn models one by one, computed percentiles, coverage."""

import math

import numpy as np
import pytest
from numba import config
from numpy.random import default_rng
from scipy import stats

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs, GaussianRewards, RewardBeta, SparseDirichletMDP, UnknownRewards
from bayesrl.capabilities import SamplesMDPs
from bayesrl.errors import BayesRLError
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.solve import evaluate_policy
from bayesrl.risk import samples as _samples
from bayesrl.risk import value_moments, value_samples
from bayesrl.testing import assert_mean_equal
from bayesrl.testing.stripped import stripped

MACHINE = b.make_world("machine-replacement").mdp
BEST = [0, 0, 0, 0, 0, 1, 1, 1, 0, 1]
S, A, K = 4, 2, 3
MU = default_rng(0).dirichlet(np.ones(A), S)


def tied(terminal=(), known=()):
    """Groups of unequal sizes, shared by pairs, with rewards of outcomes."""
    rng, group = default_rng(1), np.array([[0, 1], [1, 0], [2, 1], [3, 3]])
    succ = np.array([[rng.permutation(S)[:K] for _ in range(A)] for _ in range(S)])
    ends, size = np.isin(np.arange(S), terminal), np.array([3, 2, 1, 3])
    o = Outcomes(succ, rng.normal(size=(S, A, K)), group, size, np.zeros(1), np.full(S, 0.25), ends)
    alpha, fixed = np.where(o.valid, rng.uniform(0.3, 4.0, (4, K)), 0.0), np.isin(np.arange(4), known)
    alpha[fixed] /= alpha[fixed].sum(axis=1, keepdims=True)
    return b.DirichletMDP(o, alpha, 0.8, fixed)


ROWS = tied(terminal=(2,))
FEW = FiniteMDPs(tuple(TabularMDP.from_dense(default_rng(i).dirichlet(np.ones(S), (S, A)), MU, 0.8) for i in range(3)))
OTHERS = {
    "only sample_mdp": stripped(ROWS, (SamplesMDPs,)),
    "unknown rewards of pairs": UnknownRewards(ROWS, RewardBeta(np.ones((S, A)), 1.0 + MU)),
    "unknown rewards of outcomes": UnknownRewards(ROWS, RewardBeta(*np.ones((2, S, A, K)))),
    "Gaussian rewards": GaussianRewards(ROWS.mean_mdp(), MU, 0.3 * np.eye(S * A) + 0.2),
    "finitely many": FEW,
    "sparse": SparseDirichletMDP.flat(FEW.models[0]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_equal_to_solving_drawn_models_one_by_one(name, monkeypatch):
    """Beliefs that draw models one by one: equal under the same generator."""
    belief, rng = OTHERS[name], default_rng(3)
    one_by_one = [evaluate_policy(belief.sample_mdp(rng), MU) for _ in range(5)]
    monkeypatch.setattr(_samples, "CELLS", 2 * S * S)  # solved two at a time
    np.testing.assert_allclose(value_samples(belief, MU, 5, default_rng(3)), one_by_one, rtol=1e-10, atol=1e-12)


def drawn(belief, n, seed):
    """The probabilities in the models that `value_samples` draws, (n, S, A, K): at discount 0 one outcome pays 1."""
    o, P = belief.outcomes, np.zeros((n, *belief.outcomes.succ.shape))
    for a, k in np.ndindex(o.succ.shape[1:]):
        pays = o.with_rewards(
            np.where((np.arange(o.n_outcomes) == k) & ~o.terminal[:, None, None], 1.0, 0.0 * o.reward)
        )
        paying = b.DirichletMDP(pays, belief.alpha, 0.0, belief.known)
        P[:, :, a, k] = value_samples(paying, np.full(o.n_states, a), n, default_rng(seed))
    return P


@pytest.mark.parametrize("known", [(), (0, 3), (0, 1, 2, 3)])
def test_equal_to_solving_the_models_that_are_drawn(known):
    """Tied, known and terminal rows. Every policy sees the same models."""
    belief = tied((2,), known)
    P, o = drawn(belief, 7, 4), belief.outcomes
    for g in range(o.n_groups):
        s, a = np.nonzero((o.group == g) & ~o.terminal[:, None])
        row = belief.alpha[g] if g in known else P[:, s[:1], a[:1]]
        np.testing.assert_allclose(P[:, s, a], np.broadcast_to(row, P[:, s, a].shape), rtol=1e-12)
    for mu in (MU, np.eye(A)[[0, 1, 1, 0]]):
        w = np.where(o.terminal[:, None], 0.0, mu)
        M = np.tile(np.eye(S), (7, 1, 1))
        for s, a, k in np.ndindex(S, A, K):
            M[:, s, o.succ[s, a, k]] -= belief.gamma * w[s, a] * P[:, s, a, k]
        R = np.einsum("sa,nsak,sak->ns", w, P, o.reward)
        one_by_one = [np.linalg.solve(m, r) for m, r in zip(M, R, strict=True)]
        np.testing.assert_allclose(value_samples(belief, mu, 7, default_rng(4)), one_by_one, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "counts",
    [(0.1, 0.5, 1.0), (0.3, 0.9, 2.4), (1.0, 3.0, 40.0), (2.0, 1.0, 1.0), (1e5, 2e5, 7e5), (0.01, 0.02, 3.0)],
)
def test_drawn_rows_are_dirichlet(counts):
    """Marginals are Beta (Kolmogorov, 20,000 draws, sees a distance of .02), covariances those of a Dirichlet.

    False alarm 1e-6 for each of two marginals, and for all moments.
    """
    o = TabularMDP.from_dense(np.full((3, 1, 3), 1 / 3), np.zeros((3, 1)), 0.9).outcomes
    belief = b.DirichletMDP(o, [counts, counts[::-1], (1.0, 1.0, 1.0)], 0.9)
    x = drawn(belief, 20_000, 5)[:, :, 0]
    np.testing.assert_allclose(x.sum(axis=2), 1.0, rtol=1e-12)
    for k in range(2):  # the third is rounded to 1 if the others are tiny
        assert stats.kstest(x[:, 0, k], stats.beta(counts[k], sum(counts) - counts[k]).cdf).pvalue > 1e-6
    away = x - belief.mean_mdp().prob
    assert_mean_equal(x, belief.mean_mdp().prob)
    assert_mean_equal(away[:, :, :, None] * away[:, :, None, :], belief.row_covariance())
    assert_mean_equal(away[:, 0, :] * away[:, 1, :], np.zeros(3))


def test_counts_that_underflow():
    """Flat rows with counts of .001: one outcome has nearly all probability, and no value is lost."""
    belief = b.DirichletMDP.flat(TabularMDP.from_dense(np.full((5, 1, 5), 0.2), np.arange(5.0)[:, None], 0.9), 0.001)
    P = drawn(belief, 300, 0)[:, :, 0]
    np.testing.assert_allclose(P.sum(axis=2), 1.0, rtol=1e-12)
    assert (P.max(axis=2) > 0.99).mean() > 0.95
    assert_mean_equal(P.argmax(axis=2), np.full(5, 2.0))


def test_computed_percentiles_of_machine_replacement():
    """20,000 draws, counts 10 P: the fact sheet's percentiles, good to .1 at 1% and to .05 at the others, and CVaR.

    Its figures and ours have sampling errors of a third of these.
    """
    belief = b.DirichletMDP(MACHINE.outcomes, 10.0 * MACHINE.prob, MACHINE.gamma)
    v = np.sort(value_samples(belief, BEST, 20_000, default_rng(0)) @ MACHINE.outcomes.start)
    np.testing.assert_allclose(np.quantile(v, [0.05, 0.1, 0.5]), [-8.85, -8.13, -6.0], atol=0.1)
    assert np.quantile(v, 0.01) == pytest.approx(-10.5, abs=0.2)
    assert v[:2000].mean() == pytest.approx(-9.17, abs=0.1)
    assert_mean_equal(v, -6.170, error=0.001)


def test_moments_interval_covers_at_its_rate():
    """Rows with 60 counts, 20,000 draws: coverage within .015 of the level; the draws' own error is .003."""
    belief = b.DirichletMDP(MACHINE.outcomes, 60.0 * MACHINE.prob, MACHINE.gamma)
    v = value_samples(belief, BEST, 20_000, default_rng(1))
    moments = value_moments(belief, BEST)
    for start, drawn in ((None, v @ MACHINE.outcomes.start), (3, v[:, 3]), (np.eye(10)[8], v[:, 8])):
        for level in (0.5, 0.8, 0.95):
            low, high = moments.interval(start, level)
            assert np.mean((low < drawn) & (drawn < high)) == pytest.approx(level, abs=0.015)


def test_draws_do_not_depend_on_the_policy():
    """Afterwards the generators agree, so that equal generators compare policies in the same models."""
    one, two = default_rng(7), default_rng(7)
    value_samples(ROWS, MU, 3, one)
    value_samples(ROWS, np.zeros(S, int), 3, two)
    assert one.random() == two.random()


ONE = b.DirichletMDP(MACHINE.outcomes, 10.0 * MACHINE.prob, 1.0)
BAD = {
    "a world": (b.make_world("machine-replacement"), BEST, 9, "'belief' must be a belief, got 'MDPWorld'"),
    "a model": (MACHINE, BEST, 9, "'belief' must be a belief, got 'TabularMDP'"),
    "nothing": (None, BEST, 9, "'sample_mdp'"),
    "arms": (b.make_world("bernoulli").default_prior(), BEST, 9, "'sample_mdp'"),
    "discount 1": (ONE, BEST, 9, "'policy' must be one that ends with probability one"),
    "too short": (ROWS, [0, 1], 9, "'policy' must be"),
    "absent action": (ROWS, [0, 1, 2, 0], 9, "'policy' must be"),
    "not summing to one": (ROWS, 0.9 * MU, 9, "'policy'"),
    "not a number": (ROWS, MU * [1.0, np.nan], 9, "'policy'"),
    "words": (ROWS, "left", 9, "'policy'"),
    "no samples": (ROWS, MU, 0, "'samples' must be a whole number of at least 1, got 0"),
    "half a sample": (ROWS, MU, 0.5, "'samples' must be a whole number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    belief, policy, samples, sentence = BAD[name]
    with pytest.raises(BayesRLError) as caught:
        value_samples(belief, policy, samples, default_rng(0))
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("value_samples")
    if "sample" not in name and "sample_mdp" not in sentence:
        with pytest.raises(BayesRLError) as caught:
            value_moments(belief, policy)
        assert sentence in str(caught.value)


def test_bad_generator():
    with pytest.raises(BayesRLError, match="value_samples: 'rng' must be"):
        value_samples(ROWS, MU, 9, 0)


class Stream:
    """xoshiro256++ in whole numbers, as `stream.py` says; without compilation a stream is `rng` itself."""

    def __init__(self, rng):
        words = [(int(rng.random() * 2.0**32) << 32) | int(rng.random() * 2.0**32) for _ in range(4)]
        self.state = [words[0] | 1, *words[1:]]

    def random(self):
        most = 2**64 - 1
        a, b_, c, d = self.state
        turned = (a + d) & most
        bits = ((((turned << 23) | (turned >> 41)) & most) + a) & most
        c, d = c ^ a, d ^ b_
        self.state = [a ^ d, b_ ^ c, c ^ ((b_ << 17) & most), ((d << 45) | (d >> 19)) & most]
        return (bits >> 11) * 2.0**-53


def transcribed(belief, mu, n, rng):
    """Marsaglia and Tsang's gamma variates without the bound that saves logarithms, and a linear system per model."""
    luck = rng if config.DISABLE_JIT else Stream(rng)
    o, found, again = belief.outcomes, [], 0
    cells = [(g, k) for g in range(o.n_groups) for k in range(o.size[g]) if not belief.known[g] and o.size[g] > 1]
    for _ in range(n):
        x = [rng.standard_normal() for _ in cells]
        u = [1.0 - luck.random() for _ in cells]
        log_y = {}
        for (g, k), z, v in zip(cells, x, u, strict=True):
            d = belief.alpha[g, k] + (belief.alpha[g, k] < 1.0) - 1.0 / 3.0
            while True:
                cube = (1.0 + z / math.sqrt(9.0 * d)) ** 3
                if cube > 0.0 and math.log(v) < 0.5 * z * z + d - d * cube + d * math.log(cube):
                    break
                z, v, again = rng.standard_normal(), 1.0 - luck.random(), again + 1
            log_y[g, k] = math.log(d * cube)
        rows = np.array(belief.alpha / belief.alpha.sum(axis=1, keepdims=True))
        for g in sorted({g for g, _ in cells}):
            a = belief.alpha[g, : o.size[g]]
            y = np.array([log_y[g, k] for k in range(len(a))])
            if (a < 1.0).any():  # Gamma(a + 1) U^(1/a); a number is drawn for every cell of such a row
                y += [math.log(1.0 - luck.random()) * (1.0 / one if one < 1.0 else 0.0) for one in a]
            rows[g, : len(a)] = np.exp(y - y.max()) / np.exp(y - y.max()).sum()
        M, R = np.eye(S), np.zeros(S)
        for s, a, k in np.ndindex(S, A, K):
            if not o.terminal[s]:
                M[s, o.succ[s, a, k]] -= belief.gamma * mu[s, a] * rows[o.group[s, a], k]
                R[s] += mu[s, a] * rows[o.group[s, a], k] * o.reward[s, a, k]
        found.append(np.linalg.solve(M, R))
    return np.array(found), again


@pytest.mark.parametrize("terminal, known", [((), ()), ((2,), (1,))])
def test_transcription_under_the_same_random_numbers(terminal, known):
    """Counts below and above 1 in one row and in several, rejections, a row of one outcome, a known row, one draw."""
    belief = tied(terminal, known)
    alpha = np.where((belief.alpha > 1.0) & (belief.alpha < 2.5), 1.0, belief.alpha)  # and some of exactly 1
    belief = b.DirichletMDP(belief.outcomes, alpha, belief.gamma, belief.known)
    assert (alpha[belief.outcomes.valid & ~belief.known[:, None]] < 1.0).any()
    assert (alpha == 1.0).any()
    expected, again = transcribed(belief, MU, 120, default_rng(9))
    assert again > 3
    np.testing.assert_allclose(value_samples(belief, MU, 120, default_rng(9)), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        value_samples(belief, MU, 1, default_rng(9)), transcribed(belief, MU, 1, default_rng(9))[0], rtol=1e-9
    )


def test_one_model_at_a_time(monkeypatch):
    """If a single model has more cells than are kept, the draws are the same."""
    belief = OTHERS["unknown rewards of pairs"]
    expected = value_samples(belief, MU, 4, default_rng(3))
    monkeypatch.setattr(_samples, "CELLS", 1)
    np.testing.assert_array_equal(value_samples(belief, MU, 4, default_rng(3)), expected)
