"""Beliefs over finite MDPs against plain loops, on a problem with shared, known and short rows, and an end."""

import itertools
import math
import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bayesrl.beliefs.mdp import _incremental_mean as _kept_mean
from bayesrl.beliefs.mdp import dirichlet_mdp
from bayesrl.beliefs.mdp import dirichlet_rows as _dirichlet_rows
from bayesrl.beliefs.mdp import ledger as _ledger
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.mdp.dirichlet_mixture import DirichletMixture
from bayesrl.beliefs.mdp.finite_mdps import FiniteMDPs
from bayesrl.beliefs.mdp.known_rewards import row_reward_variance
from bayesrl.beliefs.mdp.row_column_beta import FAR, RowColumnBeta, cell
from bayesrl.beliefs.mdp.sparse_dirichlet import SparseDirichletMDP
from bayesrl.beliefs.mdp.unknown_rewards import UnknownRewards
from bayesrl.beliefs.rewards.gaussian_rewards import GaussianRewards, checked_covariance, covariance_root, is_diagonal
from bayesrl.beliefs.rewards.reward_beta import RewardBeta, observed
from bayesrl.beliefs.rewards.reward_dirichlet import RewardDirichlet
from bayesrl.beliefs.rewards.reward_normal import RewardNormal
from bayesrl.checks import DEEPEST
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.simulators.infinite_grid_simulator import EMPTY, TAKEN, THERE
from bayesrl.models.mdp import TabularMDP, read_problem
from bayesrl.models.outcomes import Outcomes, locate, outcome_of, reached_state

S, A, K = 4, 2, 3
SUCC = np.array(
    [[[1, 2, 0], [2, 0, 0]], [[0, 3, 1], [2, 0, 1]], [[3, 1, 0], [0, 2, 3]], [[3, 3, 3], [3, 3, 3]]]
)  # state 3 is terminal
REWARD = np.array(
    [
        [[0.5, -1.0, 2.0], [1.5, 0.25, 0.0]],
        [[-0.75, 3.0, 0.1], [0.6, -2.0, 0.9]],
        [[4.0, -0.3, 0.0], [1.1, 0.7, -1.4]],
        [[0.0] * 3] * 2,
    ]
)
GROUP = np.array([[0, 1], [2, 0], [3, 4], [5, 5]])
SIZE = np.array([3, 2, 3, 2, 3, 1])
OUTCOMES = Outcomes(SUCC, REWARD, GROUP, SIZE, np.zeros(1), np.array([0.5, 0.3, 0.2, 0.0]), np.arange(S) == 3)
PROB = np.array([[0.5, 0.2, 0.3], [0.6, 0.4, 0], [0.1, 0.2, 0.7], [0.35, 0.65, 0], [0.3, 0.3, 0.4], [1.0, 0, 0]])
ALPHA = np.array([[0.7, 1.3, 2.1], [0.4, 3.0, 0], [0.1, 0.2, 0.7], [1.2, 0.8, 0], [0.9, 2.2, 1.7], [1.0, 0, 0]])
KNOWN = np.array([False, False, True, False, False, True])
MDP = TabularMDP(OUTCOMES, PROB, 0.83)
LOG = [(0, 0, 1), (0, 1, 0), (1, 1, 2), (2, 1, 0), (0, 0, 1), (1, 0, 1), (2, 0, 1), (2, 1, 0), (1, 1, 0)]
"""Outcomes (s, a, k)."""


def step(s, a, k):
    return Transition(s, a, REWARD[s, a, k], int(SUCC[s, a, k]), bool(SUCC[s, a, k] == 3))


def refused(call, *parts):
    """The call is refused in a sentence with these parts."""
    with pytest.raises((InvalidArgument, ImpossibleEvidence)) as error:
        call()
    for part in parts:
        assert part in str(error.value)


def counted(log=LOG):
    """Counts of the outcomes of groups that are not known."""
    n = np.zeros((6, K))
    for s, a, k in log:
        n[GROUP[s, a], k] += not KNOWN[GROUP[s, a]]
    return n


# Dirichlet rows -------------------------------------------------------------------------------------------------------


def test_rows_are_normalised_gamma_variates():
    """Above .1 of the variates themselves; below, of their logarithms, Gamma(a + 1) U^(1 / a)."""
    large = np.where(ALPHA >= 0.4, ALPHA, 0.0)
    large[large > 0.0] = np.maximum(large[large > 0.0], _dirichlet_rows.SMALL_ALPHA)
    large[0, 0] = 0.1
    x = default_rng(1).standard_gamma(large)
    assert_allclose(_dirichlet_rows.dirichlet_rows(large, default_rng(1)), x / x.sum(axis=1, keepdims=True))
    small = large.copy()
    small[0, 0] = np.nextafter(0.1, 0.0)
    rng, a = default_rng(1), np.where(small > 0.0, small, 1.0)
    g, u = rng.standard_gamma(a + 1.0), rng.random(a.shape)
    x = np.where(small > 0.0, g * u ** (1.0 / a), 0.0)
    assert_allclose(_dirichlet_rows.dirichlet_rows(small, default_rng(1)), x / x.sum(axis=1, keepdims=True), rtol=1e-9)
    tiny = _dirichlet_rows.dirichlet_rows(np.full((50, 3), 1e-4), default_rng(2))
    assert_allclose(tiny.sum(axis=1), 1.0)


def test_when_counts_are_even():
    """At least 64 outcomes, equal counts of at most 1 / 64 in each group, no group known; padding does not count."""
    valid = np.ones((2, 64), bool)
    valid[1, 60:] = False
    least = 1.0 / 64
    even = np.where(valid, [[least], [0.005]], 0.0)
    free = np.zeros(2, bool)
    assert_array_equal(_dirichlet_rows.even_counts(even, valid, free), [least, 0.005])
    assert _dirichlet_rows.even_counts(even[:, :63], valid[:, :63], free) is None
    assert _dirichlet_rows.even_counts(even, valid, np.array([False, True])) is None
    for row in range(2):
        larger = even.copy()
        larger[row] *= 4.0
        assert _dirichlet_rows.even_counts(larger, valid, free) is None
    other = even.copy()
    other[1, 3] *= 0.5
    assert _dirichlet_rows.even_counts(other, valid, free) is None
    one = np.broadcast_to(np.float64(least), (2, 64))
    found = _dirichlet_rows.even_counts(one, np.ones((2, 64), bool), free)
    assert_array_equal(found, [least, least])
    assert not found.flags.writeable
    assert _dirichlet_rows.even_counts(np.broadcast_to(np.float64(0.016), (2, 64)), valid, free) is None


@pytest.mark.parametrize("dense", [True, False])
def test_ledgers_are_lists(monkeypatch, dense):
    """Appending to any version, again and again, and counting, against lists; counts are kept every three entries."""
    monkeypatch.setattr(_ledger, "CHUNK", 3)
    monkeypatch.setattr(_ledger, "DENSE", 7 if dense else 6)
    rng = default_rng(3)
    versions = [(_ledger.Ledger(7), [])]
    for _ in range(150):
        ledger, told = versions[int(rng.integers(max(len(versions) - 6, 0), len(versions)))]
        if rng.random() < 0.85:
            new = int(rng.integers(7))
            versions.append((ledger.append(new), [*told, new]))
        else:
            more = rng.integers(7, size=rng.integers(0, 5))
            versions.append((ledger.extend(more), [*told, *more.tolist()]))
    for ledger, told in versions:
        count = np.array([told.count(i) for i in range(7)], float)
        assert ledger.entries.tolist() == told
        assert len(ledger) == len(told)
        assert_array_equal(ledger.counts(), count)
        for first, end in ((0, 7), (2, 5), (6, 7), (0, 1)):
            assert_array_equal(ledger.between(first, end), count[first:end])
        ledger.between(0, 7)[:] = 99.0
        ledger.counts()[:] = 99.0
        assert_array_equal(ledger.counts(), count)
    again = pickle.loads(pickle.dumps(versions[-1][0]))
    assert again.entries.tolist() == versions[-1][1]
    assert_array_equal(again.counts(), versions[-1][0].counts())
    refused_write = versions[-1][0].entries
    assert not refused_write.flags.writeable


@pytest.mark.parametrize("small", [4096, 0])
def test_dirichlet_belief_by_hand(monkeypatch, small):
    """All that it tells, after nine transitions, of which one is of a known row; both ways to keep the mean."""
    monkeypatch.setattr(_kept_mean, "SMALL", small)
    monkeypatch.setattr(dirichlet_mdp, "SMALL", small)
    prior = DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN)
    belief, evidence, n = prior, 0.0, ALPHA.copy()
    for s, a, k in LOG:
        g = GROUP[s, a]
        assert belief.chance(s, a, k) == pytest.approx(n[g, k] / n[g].sum())
        assert_allclose(belief.predictive_row(s, a), n[g] / n[g].sum())
        assert_allclose(belief.mean_mdp().prob, n / n.sum(axis=1, keepdims=True), rtol=1e-12)
        if not KNOWN[g]:
            evidence += math.log(n[g, k] / n[g].sum())
            n[g, k] += 1.0
        belief = belief.update(step(s, a, k))
    assert_allclose(belief.alpha, ALPHA + counted())
    assert_allclose(n, belief.alpha)
    assert belief.seen == 8
    cells = [GROUP[s, a] * K + k for s, a, k in LOG if not KNOWN[GROUP[s, a]]]
    assert belief.entries.tolist() == cells
    assert belief.log_evidence() == pytest.approx(evidence, rel=1e-12)
    at_once = prior.update_many([step(*o) for o in LOG])
    assert at_once == belief
    assert at_once.log_evidence() == pytest.approx(evidence, rel=1e-12)
    p = n / n.sum(axis=1, keepdims=True)
    assert_allclose(belief.mean_mdp().prob, p, rtol=1e-12)
    mean_reward = [
        [sum(p[GROUP[s, a], k] * OUTCOMES.reward[s, a, k] for k in range(K)) for a in range(A)] for s in range(S)
    ]
    assert_allclose(belief.mean_mdp().mean_reward, mean_reward, rtol=1e-12)
    total = np.where(KNOWN, np.inf, n.sum(axis=1))
    assert_allclose(belief.counts(), total[GROUP])
    assert_array_equal(belief.certain_pairs(), KNOWN[GROUP])
    covariance = np.zeros((6, K, K))
    for g, i, j in itertools.product(range(6), range(K), range(K)):
        if not KNOWN[g]:
            covariance[g, i, j] = (p[g, i] * (i == j) - p[g, i] * p[g, j]) / (n[g].sum() + 1.0)
    assert_allclose(belief.row_covariance(), covariance, atol=1e-15)
    assert_allclose(belief.row_variance(), np.einsum("gii->gi", covariance), atol=1e-15)
    assert_allclose(belief.pair_means(), p[GROUP])
    assert_allclose(belief.pair_variances(), belief.row_variance()[GROUP])
    spread = [
        [OUTCOMES.reward[s, a] @ covariance[GROUP[s, a]] @ OUTCOMES.reward[s, a] for a in range(A)] for s in range(S)
    ]
    assert_allclose(belief.reward_variance(), spread, atol=1e-14)
    for s, a in itertools.product(range(3), range(A)):
        g, L = GROUP[s, a], SIZE[GROUP[s, a]]
        found = belief.row_quantile(0.3, s, a)
        expected = p[g, :L] if KNOWN[g] else stats.beta.ppf(0.3, n[g, :L], n[g].sum() - n[g, :L])
        assert_allclose(found, expected, rtol=1e-9)
    assert_allclose(belief.row_quantile(0.3, 3, 1), [1.0])
    rows = belief.exact_rows()
    assert [row.counts for row in rows.rows] == [n[g, : SIZE[g]].tolist() for g in range(6)]
    assert [row.learns for row in rows.rows] == (~KNOWN).tolist()
    assert_allclose(rows.rows[0].predictive([0.5, 1.5, 2.0]), [0.125, 0.375, 0.5])
    table = belief.enumerable(3)
    assert_allclose(table[5], n)
    assert_allclose(table[6], n.sum(axis=1))
    assert_array_equal(table[7], np.where(KNOWN, 0.0, 1.0))
    assert_array_equal(table[14], np.zeros((6, 3)))
    x = default_rng(4).standard_gamma(n)
    drawn = np.where(KNOWN[:, None], ALPHA, x / np.maximum(x.sum(axis=1, keepdims=True), 1e-300))
    assert_allclose(belief.sample_mdp(default_rng(4)).prob, drawn, rtol=1e-12)
    assert belief.code(step(1, 1, 2)) == 2
    assert (belief.numbered_states, belief.encode(3), belief.is_terminal(3), belief.is_terminal(2)) == (
        4,
        3,
        True,
        False,
    )
    for bad in (-1, 4):
        refused(lambda s=bad: belief.encode(s), "'observation' must be")
    assert pickle.loads(pickle.dumps(belief)) == belief


def test_dirichlet_priors():
    """Counts broadcast from the right; refusals name the argument."""
    model = MDP
    flat = DirichletMDP.flat(model, 0.3)
    assert flat.alpha.shape == (flat.outcomes.n_groups, S)
    for s, a, y in itertools.product(range(3), range(A), range(S)):
        assert flat.alpha[flat.outcomes.group[s, a], y] == 0.3
    row = DirichletMDP.flat(model, [[0.1, 0.2, 0.3, 0.4]])
    assert_allclose(row.alpha[row.outcomes.group[1, 1]], [0.1, 0.2, 0.3, 0.4])
    G = flat.outcomes.n_groups
    assert DirichletMDP.flat(model, np.full((G, 1), 0.3)) == flat
    assert DirichletMDP.flat(model, [0.3]) == flat
    for bad in (np.ones(2), np.ones((2, 1)), np.ones((1, 1, 1)), np.ones((2, 2, 2)), np.ones((G, 3))):
        refused(lambda c=bad: DirichletMDP.flat(model, c), "DirichletMDP.flat: 'concentration' must be broadcastable")
    for bad in (0.0, -1.0, 1e101):
        refused(lambda c=bad: DirichletMDP.flat(model, c), "DirichletMDP.flat: 'concentration' must be")
    endless = TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.zeros((2, 2)), 0.9)
    one = DirichletMDP.flat(endless, 0.7)
    assert_array_equal(one.alpha, np.full((4, 2), 0.7))
    assert one == DirichletMDP.flat(endless, [[0.7, 0.7]])
    own = DirichletMDP.structured(model, 0.3, KNOWN)
    assert_allclose(own.alpha, np.where(KNOWN[:, None], PROB, np.where(OUTCOMES.valid, 0.3, 0.0)))
    assert_array_equal(own.known, KNOWN)
    assert DirichletMDP.structured(model, 0.3, True).known.all()
    assert not DirichletMDP.structured(model, 0.3).known.any()
    for bad in ([True] * 5, [1, 0, 0, 0, 0, 0]):
        refused(lambda k=bad: DirichletMDP.structured(model, 0.3, k), "'known' must be a truth value, or 6 of them")
    refused(lambda: DirichletMDP(OUTCOMES, ALPHA, 0.83, [True] * 5), "'known' must be an array of 6 truth values")
    wrong = ALPHA.copy()
    wrong[1, 2] = 0.25
    refused(lambda: DirichletMDP(OUTCOMES, wrong, 0.83, KNOWN), "'alpha' must be zero on padding, got 0.25")
    wrong = ALPHA.copy()
    wrong[4, 1] = 0.0
    refused(lambda: DirichletMDP(OUTCOMES, wrong, 0.83, KNOWN), "'alpha' must be greater than 0 for every outcome")
    wrong = ALPHA.copy()
    wrong[2] = [0.1, 0.2, 0.6]
    refused(lambda: DirichletMDP(OUTCOMES, wrong, 0.83, KNOWN), "alpha (known groups)")
    assert DirichletMDP(OUTCOMES, wrong, 0.83).alpha[2, 2] == 0.6
    for bad in (-0.1, 1.1):
        refused(lambda g=bad: DirichletMDP(OUTCOMES, ALPHA, g, KNOWN), "'gamma' must be in [0, 1]")
    single = ALPHA.copy()
    single[5, 0] = 2.5
    assert_array_equal(DirichletMDP(OUTCOMES, single, 0.83).row_quantile(0.3, 3, 1), [1.0])  # the only outcome
    never = ALPHA.copy()
    never[2] = [0.3, 0.7, 0.0]
    impossible = DirichletMDP(OUTCOMES, never, 0.83, KNOWN)
    refused(lambda: impossible.update(step(1, 0, 2)), "no outcome is listed for it")
    impossible.update(step(1, 0, 1))
    for depth in (-1, DEEPEST + 1):
        refused(lambda d=depth: impossible.simulate(d), "DirichletMDP.simulate: 'depth' must be")


# Reading outcomes -----------------------------------------------------------------------------------------------------


def test_outcomes_are_found():
    for s, a in itertools.product(range(3), range(A)):
        for k in range(SIZE[GROUP[s, a]]):
            assert outcome_of("W", OUTCOMES, step(s, a, k)) == (s, a, k)
            other = step(s, a, k)._replace(reward=99.0)
            assert outcome_of("W", OUTCOMES, other, rewarded=False) == (s, a, k)
            refused(lambda x=other: outcome_of("W", OUTCOMES, x), "with reward 99", "no outcome is")
    near = step(2, 0, 0)._replace(reward=4.0 + 4e-9)  # rewards agree up to 1e-9 (1 + |r|)
    assert outcome_of("W", OUTCOMES, near) == (2, 0, 0)
    far = near._replace(reward=4.0 + 6e-9)
    refused(lambda: outcome_of("W", OUTCOMES, far), "no outcome is listed for it")
    refused(lambda: outcome_of("W", OUTCOMES, Transition(3, 0, 0.0, 3)), "a terminal state has no tr")
    refused(lambda: outcome_of("W", OUTCOMES, Transition(0, 1, 0.0, 1)), "W:", "(0, 1) -> 1")
    for i, name, high in ((0, "state", 3), (1, "action", 1), (3, "next_state", 3)):
        for bad in (-1, high + 1, 0.0, None):
            wrong = list(step(0, 0, 0))
            wrong[i] = bad
            sentence = f"W.update: '{name}' must be a whole number from 0 to {high}"
            refused(lambda w=wrong: outcome_of("W", OUTCOMES, Transition(*w)), sentence)
    for bad in ("x", None, np.nan, np.inf):
        wrong = step(0, 0, 0)._replace(reward=bad)
        refused(lambda w=wrong: outcome_of("W", OUTCOMES, w), "W.update: 'reward' must be a finite nu")
    refused(lambda: outcome_of("W", OUTCOMES, (0, 0, 0.5, 1)), "W.update: 'datum' must be a Transi")
    flat = OUTCOMES.flat()
    assert outcome_of("W", flat, step(1, 1, 0)) == (1, 1, 2)
    assert outcome_of("W", flat, step(1, 1, 0)._replace(reward=7.0), rewarded=False) == (1, 1, 2)
    assert outcome_of("W", flat, near) == (2, 0, 3)
    refused(lambda: outcome_of("W", flat, far), "no outcome is listed for it")


def test_rows_with_an_outcome_for_each_state_and_others():
    """The outcome with this next state and this reward, or the first with this state if no reward is given."""
    succ, reward = np.array([0, 1, 1, 0, 2], OUTCOMES.succ.dtype), np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    succ.setflags(write=False)  # as those of outcomes are, for which the kernel is compiled
    reward.setflags(write=False)
    for size, y, r, k in (
        (5, 0, 0.5, 0), (5, 1, 1.0, 1), (5, 1, 2.0, 2), (5, 0, 3.0, 3), (5, 2, 4.0, 4), (4, 2, 4.0, -1),
        (5, 1, 3.0, -1), (5, 1, math.nan, 1), (5, 2, math.nan, 4), (1, 1, 1.0, -1), (2, 1, 1.0, 1),
        (5, 0, 0.5 + 1.4e-9, 0), (5, 0, 0.5 + 1.6e-9, -1), (5, 1, 2.0 - 2.9e-9, 2), (5, 1, 2.0 - 3.1e-9, -1),
    ):  # fmt: skip
        assert locate(succ, reward, OUTCOMES.size.dtype.type(size), y, r) == k


def test_ends_of_episodes():
    ended = step(0, 0, 0)._replace(terminated=True)  # in state 1, which is not terminal
    sentence = "The end of the episode in state 1"
    refused(lambda: reached_state("W", OUTCOMES, 1, ended), sentence, "that state is not terminal")
    assert reached_state("W", OUTCOMES, 3, ended) == 3
    assert reached_state("W", OUTCOMES, 1, step(0, 0, 0)) == 1
    with_end = Outcomes(SUCC, REWARD, GROUP, SIZE, np.zeros(1), OUTCOMES.start, OUTCOMES.terminal, end=3)
    assert reached_state("W", with_end, 1, ended) == 3
    assert outcome_of("W", with_end, Transition(1, 0, 3.0, 0, True)) == (1, 0, 1)


def test_problems_are_read():
    class World:
        mdp = MDP

    class Family:
        outcomes, gamma = OUTCOMES, 0.7

    for problem, gamma, prob in ((MDP, 0.83, PROB), (World(), 0.83, PROB), (Family(), 0.7, None)):
        found = read_problem("W", problem)
        assert found[0] == OUTCOMES
        assert found[1] == gamma
        assert found[2] is None if prob is None else np.array_equal(found[2], prob)
    refused(lambda: read_problem("W", 3), "W: 'problem' must be a TabularMDP or a world with a table")
    refused(lambda: DirichletMDP.structured(Family(), 1.0, True), "'problem' must be a known MDP when 'known' is given")


# Sparse ---------------------------------------------------------------------------------------------------------------


def supports(L, seen, a, exponent):
    """Every support that holds what was seen, with its weight: prior times the likelihood of the counts."""
    found = []
    for size in range(1, L + 1):
        for support in itertools.combinations(range(L), size):
            if all(i in support for i in range(L) if seen[i]):
                n = np.array([a + seen[i] if i in support else 0.0 for i in range(L)])
                log = -exponent * math.log(size) - math.log(math.comb(L, size))
                log += math.lgamma(size * a) - math.lgamma(n.sum())
                log += sum(math.lgamma(n[i]) - math.lgamma(a) for i in support)
                found.append((math.exp(log), n))
    return found


def test_sparse_belief_against_all_supports():
    a, exponent = 0.6, 1.3
    prior = SparseDirichletMDP(OUTCOMES, a, exponent, 0.83)
    belief = prior
    for outcome in LOG:
        belief = belief.update(step(*outcome))
    assert belief == prior.update_many([step(*o) for o in LOG])
    assert belief != prior
    n = np.zeros((6, K))
    for s, act, k in LOG:
        n[GROUP[s, act], k] += 1.0
    assert_array_equal(belief.seen_counts, n)
    mean, second, total, evidence = np.zeros((6, K)), np.zeros((6, K, K)), np.zeros(6), 0.0
    for g in range(6):
        L = SIZE[g]
        parts = supports(L, n[g], a, exponent)
        weight = np.array([w for w, _ in parts])
        before = sum(w for w, _ in supports(L, np.zeros(L), a, exponent))
        evidence += math.log(weight.sum() / before)
        for w, (_, counts) in zip(weight / weight.sum(), parts, strict=True):
            N = counts.sum()
            mean[g, :L] += w * counts / N
            second[g, :L, :L] += w * (np.outer(counts, counts) + np.diag(counts)) / (N * (N + 1.0))
            total[g] += w * N
    covariance = second - mean[:, :, None] * mean[:, None, :]
    assert_allclose(belief.mean_mdp().prob, mean, rtol=1e-10, atol=1e-14)
    assert_allclose(belief.row_covariance(), covariance, atol=1e-12)
    assert_allclose(belief.row_variance(), np.einsum("gii->gi", covariance), atol=1e-12)
    assert_allclose(belief.counts(), total[GROUP], rtol=1e-10)
    assert belief.log_evidence() == pytest.approx(evidence, rel=1e-10)
    rows = belief.exact_rows()
    for g in range(6):
        assert rows.rows[g].counts == n[g, : SIZE[g]].tolist()
        assert rows.rows[g].learns
        assert_allclose(rows.rows[g].predictive(rows.rows[g].counts), mean[g, : SIZE[g]], rtol=1e-9)
    assert belief.seen == len(LOG)
    assert belief.code(step(1, 1, 2)) == 2
    for depth in (-1, DEEPEST + 1):
        refused(lambda d=depth: belief.simulate(d), "SparseDirichletMDP.simulate: 'depth' must be")
    again = pickle.loads(pickle.dumps(belief))
    assert again == belief
    assert_array_equal(again.seen_counts, n)
    assert (belief == 3) is False


def test_sparse_draws():
    """4,000 models: mean and variance of each probability, and how often it is 0. False alarm below 1e-6 each; sees
    errors of a tenth of a deviation."""
    a, exponent = 0.6, 1.3
    belief = SparseDirichletMDP(OUTCOMES, a, exponent, 0.83).update_many([step(*o) for o in LOG])
    rng, m = default_rng(5), 4000
    drawn = np.array([belief.sample_mdp(rng).prob for _ in range(m)])
    assert_allclose(drawn.sum(axis=2), 1.0)
    error = drawn.std(axis=0) / math.sqrt(m)
    assert (np.abs(drawn.mean(axis=0) - belief.mean_mdp().prob) <= 5.2 * error + 1e-12).all()
    squares = (drawn - belief.mean_mdp().prob) ** 2
    assert (
        np.abs(squares.mean(axis=0) - belief.row_variance()) <= 5.2 * squares.std(axis=0) / math.sqrt(m) + 1e-12
    ).all()
    for g in range(6):
        n = belief.seen_counts[g]
        parts = supports(SIZE[g], n, a, exponent)
        weight = sum(w for w, _ in parts)
        for i in range(SIZE[g]):
            absent = sum(w for w, counts in parts if counts[i] == 0.0) / weight
            rate = (drawn[:, g, i] == 0.0).mean()
            assert abs(rate - absent) <= 5.2 * math.sqrt(absent * (1 - absent) / m) + 1e-12


def test_the_table_of_weights_grows_and_is_shared():
    belief = SparseDirichletMDP(OUTCOMES, 0.6, 1.3, 0.83)
    first = belief._table(0, 0)
    assert first.shape == (1, 256)
    assert np.isnan(first).all()
    first[0, 5] = 7.0
    assert belief._table(0, 255) is first
    later = belief.update(step(*LOG[0]))
    wide = later._table(1, 256)
    assert wide.shape == (2, 512)
    assert wide[0, 5] == 7.0
    assert np.isnan(wide).sum() == 2 * 512 - 1
    assert belief._table(1, 511) is wide
    assert later._table(9, 10).shape == (K + 1, 512)  # no more than all outcomes are ever seen
    tall = belief._table(2, 600)
    assert tall.shape == (K + 1, 1200)
    assert tall[0, 5] == 7.0


# Mixtures and finitely many models ------------------------------------------------------------------------------------


def test_mixture_by_hand():
    other = np.where(OUTCOMES.valid, 2.0, 0.0)
    parts = [DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN), DirichletMDP(OUTCOMES, other, 0.83)]
    belief = DirichletMixture(tuple(parts), [0.3, 0.7])
    joint = np.array([0.3, 0.7])
    for outcome in LOG:
        joint *= [part.chance(*outcome) for part in parts]
        parts = [part.update(step(*outcome)) for part in parts]
        belief = belief.update(step(*outcome))
    w = joint / joint.sum()
    assert_allclose(belief.posterior(), w, rtol=1e-10)
    assert belief.log_evidence() == pytest.approx(math.log(joint.sum()))
    means = [part.alpha / part.alpha.sum(axis=1, keepdims=True) for part in parts]
    mean = w[0] * means[0] + w[1] * means[1]
    assert_allclose(belief.mean_mdp().prob, mean, rtol=1e-10)
    variance = sum(v * (part.row_variance() + (p - mean) ** 2) for v, part, p in zip(w, parts, means, strict=True))
    assert_allclose(belief.row_variance(), variance, atol=1e-13)
    count = [(mean[g] * (1 - mean[g])).sum() / variance[g].sum() - 1.0 for g in range(5)]
    assert_allclose(belief.counts()[:3], np.array(count)[GROUP[:3]], rtol=1e-9)
    assert belief.gamma == 0.83
    assert belief.code(step(1, 1, 2)) == 2
    zero = ALPHA.copy()
    zero[2] = [0.3, 0.7, 0.0]
    lacks = DirichletMixture((DirichletMDP(OUTCOMES, zero, 0.83, KNOWN), parts[1]))
    assert not lacks.same_support
    assert belief.same_support
    assert_allclose(lacks.weights, [0.5, 0.5])
    assert lacks.update(step(1, 0, 2)).posterior().tolist() == [0.0, 1.0]
    alone = DirichletMixture((DirichletMDP(OUTCOMES, zero, 0.83, KNOWN),))
    refused(lambda: alone.update(step(1, 0, 2)), "DirichletMixture", "no outcome is listed for it")
    single = DirichletMixture((DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN),))
    assert_allclose(single.counts(), np.where(KNOWN, np.inf, ALPHA.sum(axis=1))[GROUP], rtol=1e-9)
    for bad in ((), 3, (3,)):
        refused(lambda c=bad: DirichletMixture(c), "'components' must be a sequence of DirichletMDP")
    unlike = (parts[0], DirichletMDP(OUTCOMES, other, 0.8)), (parts[0], DirichletMDP.flat(MDP))
    for bad in unlike:
        refused(lambda c=bad: DirichletMixture(c), "'components' must be equal in outcomes and discount")
    for depth in (-1, DEEPEST + 1):
        refused(lambda d=depth: belief.simulate(d), "DirichletMixture.simulate: 'depth' must be")


def test_mixture_draws_a_component_by_its_weight():
    """The first number of the stream chooses the component, the rest is its own draw."""
    other = np.where(OUTCOMES.valid, 2.0, 0.0)
    parts = DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN), DirichletMDP(OUTCOMES, other, 0.83)
    belief = DirichletMixture(parts, [0.3, 0.7])
    chosen = set()
    for seed in range(8):
        rng = default_rng(seed)
        part = parts[0 if rng.random() < 0.3 else 1]
        chosen.add(part is parts[0])
        assert_array_equal(belief.sample_mdp(default_rng(seed)).prob, part.sample_mdp(rng).prob)
    assert chosen == {True, False}


def test_finite_mdps_by_hand():
    """Three models with other numbers of outcomes; rewards count as evidence; rewards of the mean given the next."""
    rng = default_rng(6)
    P = rng.dirichlet(np.ones(3), (3, 3, 2))
    R = rng.normal(size=(3, 3, 2, 3))
    R[1, 0, 0], R[2, 0, 0] = R[0, 0, 0], R[0, 0, 0]
    R[1, 1, 1] = R[0, 1, 1]
    models = tuple(TabularMDP.from_dense(P[i], R[i], 0.83, terminal=[2]) for i in range(3))
    w = np.array([0.5, 0.3, 0.2])
    belief, joint = FiniteMDPs(models, w), w.copy()
    for s, a, y in ((0, 0, 1), (1, 1, 0), (0, 0, 2)):
        r = R[0, s, a, y]
        joint *= [P[i, s, a, y] * (R[i, s, a, y] == r) for i in range(3)]
        belief = belief.update(Transition(s, a, r, y, y == 2))
    v = joint / joint.sum()
    assert_allclose(belief.posterior(), v, rtol=1e-10)
    assert belief.log_evidence() == pytest.approx(math.log(joint.sum()))
    prior = FiniteMDPs(models, w)
    mean = prior.mean_mdp()
    dense, reward = np.einsum("i,isay->say", w, P), np.einsum("i,isay,isay->say", w, P, R)
    assert_allclose(mean.dense()[0][:2], dense[:2], rtol=1e-10)
    assert_allclose(mean.mean_reward[:2], reward.sum(axis=2)[:2], rtol=1e-10)
    for s, a, y in itertools.product(range(2), range(2), range(3)):
        assert mean.outcomes.rewards()[s, a, y] == pytest.approx(reward[s, a, y] / dense[s, a, y])
    assert not mean.mean_reward[2].any()
    kept = R[:, :2]
    assert prior.reward_range() == (min(kept.min(), 0.0), max(kept.max(), 0.0))
    assert_array_equal(prior.visit_groups(), prior.outcomes.group)
    near = Transition(0, 0, R[0, 0, 0, 1] + 0.9e-9, 1)
    prior.update(near)
    far = near._replace(reward=R[0, 0, 0, 1] + 1.1e-9 * (1.0 + abs(R[0, 0, 0, 1])))
    refused(lambda: prior.update(far), "no model with positive weight allows it")
    for name, high in (("state", 2), ("action", 1), ("next_state", 2)):
        for bad in (-1, high + 1):
            wrong = {"state": 0, "action": 0, "reward": 0.0, "next_state": 0, name: bad}
            refused(lambda d=wrong: prior.update(Transition(*d.values())), f"FiniteMDPs.update: '{name}' must be")
    chosen = set()
    for seed in range(12):
        u = default_rng(seed).random()
        i = 0 if u < 0.5 else 1 if u < 0.8 else 2
        chosen.add(i)
        assert prior.sample_mdp(default_rng(seed)) is models[i]
    assert chosen == {0, 1, 2}


# Rewards --------------------------------------------------------------------------------------------------------------


def test_reward_beliefs_by_hand():
    alpha, beta = np.array([[0.7, 1.3], [2.0, 0.4], [1.1, 3.0]]), np.array([[1.2, 0.6], [0.9, 2.5], [0.3, 0.8]])
    two = RewardBeta(alpha, beta, -1.5, 2.0).update(((2, 1), 2.0)).update(((0, 1), -1.5))
    a, b = alpha.copy(), beta.copy()
    a[2, 1] += 1
    b[0, 1] += 1
    assert_allclose(two.mean_rewards(), (2.0 * a - 1.5 * b) / (a + b))
    assert_allclose(two.reward_variances(), 3.5**2 * stats.beta.var(a, b))
    assert_allclose(two.reward_counts(), a + b)
    assert_allclose(two.sample_rewards(default_rng(1)), -1.5 + 3.5 * default_rng(1).beta(a, b))
    values, counts = two.value_counts()
    assert values.tolist() == [-1.5, 2.0]
    assert_allclose(counts, np.stack([b.ravel(), a.ravel()], axis=1))
    values, chance = two.reward_predictive((2, 1))
    assert_allclose(chance, [b[2, 1] / (a + b)[2, 1], a[2, 1] / (a + b)[2, 1]])
    refused(lambda: two.update(((0, 0), 0.0)), "RewardBeta", "rewards are -1.5 or 2")
    refused(lambda: RewardBeta(alpha, beta, 1.0, 1.0), "RewardBeta: 'high' must be")
    refused(lambda: RewardBeta(alpha, beta[:2]), "RewardBeta: 'beta' must be an array of shape (3, 2)")
    values = np.array([-2.0, 0.5, 3.0])
    n = default_rng(2).uniform(0.3, 2.0, (3, 2, 3))
    few = RewardDirichlet(values, n).update(((1, 0), 3.0)).update(((1, 0), -2.0)).update(((2, 1), 0.5))
    m = n.copy()
    for at in ((1, 0, 2), (1, 0, 0), (2, 1, 1)):
        m[at] += 1.0
    for i in np.ndindex(3, 2):
        p, t = m[i] / m[i].sum(), m[i].sum()
        mean = sum(p * values)
        assert few.mean_rewards()[i] == pytest.approx(mean)
        assert few.reward_variances()[i] == pytest.approx(sum(p * (values - mean) ** 2) / (t + 1.0))
        assert few.reward_counts()[i] == pytest.approx(t)
        assert_allclose(few.reward_predictive(i)[1], p)
    x = default_rng(1).standard_gamma(m)
    assert_allclose(few.sample_rewards(default_rng(1)), (x / x.sum(axis=-1, keepdims=True)) @ values)
    assert_allclose(few.value_counts()[1], m.reshape(6, 3))
    for bad in (4.0, 0.6, -3.0):
        refused(lambda r=bad: few.update(((0, 0), r)), "RewardDirichlet", "rewards are one of -2, 0.5, 3")
    refused(lambda: RewardDirichlet([0.0, 0.0, 1.0], n), "'values' must be strictly increasing")
    refused(lambda: RewardDirichlet(values, n[..., :2]), "'alpha' must be of shape (..., 3)")
    refused(lambda: RewardDirichlet(values, n[0, 0]), "'alpha' must be of shape (..., 3)")
    strens = RewardNormal.strens((3, 2), mu0=0.4, sigma0=1.5)
    assert_allclose(
        [strens.mean_[0, 0], strens.strength[2, 1], strens.shape[1, 1], strens.rate[2, 0]], [0.4, 1, 1, 1.125]
    )
    refused(lambda: RewardNormal.strens((3, 2), mu0=np.ones(2)), "'mu0' must be a number or an array of shape (3, 2)")
    refused(lambda: RewardNormal.strens((0, 2)), "RewardNormal.strens: 'cells' must be")
    refused(lambda: RewardNormal.strens((10**8 + 1,)), "RewardNormal.strens: 'cells' must be")
    assert observed("W", ((np.int64(2), 1), 5.0), (3, 2)) == ((2, 1), 5.0)
    for bad in (3, ((0, 0),), ((0, 0), 1.0, 2.0), [(0, 0), 1.0]):
        refused(lambda d=bad: observed("W", d, (3, 2)), "W: 'datum' must be a pair (cell, reward)")
    for bad in ([0, 0], (0,), (0, 0, 0), (0.0, 1)):
        refused(lambda c=bad: observed("W", (c, 1.0), (3, 2)), "W: 'cell' must be a tuple of 2 whole numbers")
    for bad in ((3, 0), (0, 2), (-1, 0), (0, -1)):
        refused(lambda c=bad: observed("W", (c, 1.0), (3, 2)), "W: 'cell' must be inside the shape (3, 2)")


CELLS = {"pairs": (S, A), "outcomes": (S, A, K)}


@pytest.mark.parametrize("cells", CELLS)
def test_unknown_rewards_by_hand(cells):
    """Transitions and rewards learn apart. Rewards of pairs or of outcomes, with values -1.5 and 2."""
    shape, rng = CELLS[cells], default_rng(7)
    alpha, beta = rng.uniform(0.4, 3.0, (2, *shape))
    moves = DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN)
    belief = UnknownRewards(moves, RewardBeta(alpha, beta, -1.5, 2.0))
    log = [(o, (-1.5, 2.0)[i % 2]) for i, o in enumerate(LOG)]
    a, b = alpha.copy(), beta.copy()
    for (s, act, k), r in log:
        belief = belief.update(step(s, act, k)._replace(reward=r))
        at = (s, act) if cells == "pairs" else (s, act, k)
        (a if r == 2.0 else b)[at] += 1.0
    n = ALPHA + counted()
    p = (n / n.sum(axis=1, keepdims=True))[GROUP]
    mean = (2.0 * a - 1.5 * b) / (a + b)
    full = np.broadcast_to(mean if mean.ndim == 3 else mean[:, :, None], (S, A, K)).copy()
    full[3] = 0.0
    assert_allclose(belief.mean_mdp().reward, full)
    assert_allclose(belief.mean_mdp().mean_reward, (p * full).sum(axis=2), rtol=1e-12)
    share = 1.0 / (1.0 + a + b)
    assert_allclose(belief.inverse_reward_counts(), share if share.ndim == 2 else (p * share).sum(axis=2))
    var, doubt = belief.row_variance()[GROUP], 3.5**2 * stats.beta.var(a, b)
    covariance = belief.row_covariance()[GROUP]
    own = doubt if doubt.ndim == 2 else ((var + p * p) * doubt).sum(axis=2)
    spread = np.einsum("sak,sakl,sal->sa", full, covariance, full)
    assert_allclose(belief.reward_variance(), spread + own, rtol=1e-9)
    hopeful = (mean * (a + b) + 2.5 * 2.0) / (a + b + 2.5)
    hopeful = np.broadcast_to(hopeful if hopeful.ndim == 3 else hopeful[:, :, None], (S, A, K)).copy()
    hopeful[3] = 0.0
    assert_allclose(belief.optimistic_mdp(2.5).reward, hopeful)
    q = a / (a + b)
    above = np.minimum(1.0, q + 0.7 * np.sqrt(q * (1 - q) / (a + b + 1.0)))
    assert_allclose(belief.best_reward_share(0.7), above)
    assert belief.best_reward_share(50.0).max() == 1.0
    assert belief.reward_range() == (-1.5, 2.0)
    assert_array_equal(belief.visit_groups(), np.arange(S * A).reshape(S, A))
    assert not belief.certain_pairs().any()
    assert belief.certain_pairs().shape == (S, A)
    assert_allclose(belief.pair_means(), np.concatenate([p, mean.reshape(S, A, -1)], axis=2))
    assert_allclose(belief.pair_variances(), np.concatenate([var, doubt.reshape(S, A, -1)], axis=2))
    assert belief.code(step(1, 1, 2)._replace(reward=2.0)) == 5
    assert belief.code(step(1, 1, 0)._replace(reward=-1.5)) == 0
    index = np.arange(np.prod(shape)).reshape(shape)
    index = np.broadcast_to(index if index.ndim == 3 else index[:, :, None], (S, A, K))
    rows = belief.exact_rows()
    assert_array_equal(rows.pay, 6 + index)
    assert rows.values == [-1.5, 2.0]
    assert len(rows.rows) == 6 + a.size
    for i, counts in enumerate(zip(b.ravel(), a.ravel(), strict=True)):
        assert_allclose(rows.rows[6 + i].counts, counts)
        assert rows.rows[6 + i].learns
    table = belief.enumerable(2)
    assert_array_equal(table.cell, index)
    assert_allclose(table.pay_total, (a + b).ravel())
    model = belief.sample_mdp(default_rng(3))
    stream = default_rng(3)
    assert_array_equal(model.prob, belief.transitions.sample_mdp(stream).prob)
    drawn = belief.rewards.sample_rewards(stream)
    assert model.reward[1, 1, 0] == (drawn[1, 1] if cells == "pairs" else drawn[1, 1, 0])
    for depth in (-1, DEEPEST + 1):
        refused(lambda d=depth: belief.simulate(d), "UnknownRewards.simulate: 'depth' must be")


def test_ranges_of_unknown_rewards():
    """0 counts where states are terminal; Gaussian rewards have no range."""
    ones = np.ones((S, A))
    moves = DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN)
    assert UnknownRewards(moves, RewardBeta(ones, ones, 1.0, 2.0)).reward_range() == (0.0, 2.0)
    assert UnknownRewards(moves, RewardBeta(ones, ones, -2.0, -1.0)).reward_range() == (-2.0, 0.0)
    endless = DirichletMDP.flat(TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.zeros((2, 2)), 0.9))
    pair = np.ones((2, 2))
    assert UnknownRewards(endless, RewardBeta(pair, pair, 1.0, 2.0)).reward_range() == (1.0, 2.0)
    normal = UnknownRewards(endless, RewardNormal.strens((2, 2)))
    assert normal.reward_range() == (-np.inf, np.inf)
    assert_array_equal(normal.best_reward_share(3.0), [1.0])
    assert set(normal.unsupported) == {"simulate", "code", "enumerable", "exact_rows"}
    assert_array_equal(normal.optimistic_mdp(5.0).reward, np.zeros((2, 2, 2)))
    refused(lambda: normal.simulate(3), "'rewards' must be a reward belief with finitely many values")
    refused(lambda: UnknownRewards(moves, RewardBeta(pair, pair)), "'rewards' must be a reward belief with cells of sh")
    refused(lambda: UnknownRewards(3, RewardBeta(pair, pair)), "'transitions' must be a DirichletMDP")
    twice = Outcomes(np.array([[[0, 0]]]), np.array([[[0.0, 1.0]]]), [[0]], [2], np.zeros(1), [1.0], [False])
    one = np.ones((1, 1))
    sentence = "'transitions' must be distinguishable by next state"
    refused(lambda: UnknownRewards(DirichletMDP(twice, [[1.0, 1.0]], 0.9), RewardBeta(one, one)), sentence)


def test_reward_variance_of_rows():
    """c (E r^2 - (E r)^2) with c = sum Var / sum p (1 - p); 0 if a row is sure."""
    variance = np.where(OUTCOMES.valid, 0.02 * np.arange(1, 7)[:, None], 0.0)
    found = row_reward_variance(MDP, variance)
    for s, a in itertools.product(range(3), range(A)):
        p, r = PROB[GROUP[s, a]], OUTCOMES.reward[s, a]
        c = variance[GROUP[s, a]].sum() / sum(p * (1 - p))
        assert found[s, a] == pytest.approx(c * (sum(p * r * r) - sum(p * r) ** 2))
    assert_array_equal(found[3], [0.0, 0.0])


# Gaussian rewards -----------------------------------------------------------------------------------------------------


def test_gaussian_rewards_against_one_regression():
    rng, noise = default_rng(8), 0.7
    root = rng.normal(size=(S * A, S * A))
    m, C = rng.normal(size=(S, A)), root @ root.T
    belief = GaussianRewards(MDP, m, C, noise)
    ends = np.repeat(np.arange(S) == 3, A)
    C, m = np.where(ends[:, None] | ends[None, :], 0.0, C), np.where(ends.reshape(S, A), 0.0, m)
    assert_allclose(belief.reward_moments()[1], C, rtol=1e-12)
    log = [(o, float(rng.normal())) for o in LOG]
    chance = 0.0
    for (s, a, k), r in log:
        belief = belief.update(step(s, a, k)._replace(reward=r))
        chance += math.log(PROB[GROUP[s, a], k])
    X = np.zeros((len(log), S * A))
    X[np.arange(len(log)), [s * A + a for (s, a, _), _ in log]] = 1.0
    r = np.array([r for _, r in log])
    V = X @ C @ X.T + noise**2 * np.eye(len(r))
    gain = C @ X.T @ np.linalg.inv(V)
    mean, covariance = belief.reward_moments()
    assert_allclose(mean.ravel(), m.ravel() + gain @ (r - X @ m.ravel()), rtol=1e-8, atol=1e-12)
    assert_allclose(covariance, C - gain @ X @ C, rtol=1e-7, atol=1e-10)
    seen = stats.multivariate_normal(X @ m.ravel(), V).logpdf(r)
    assert belief.log_evidence() == pytest.approx(seen + chance, rel=1e-9)
    v = np.diagonal(covariance).reshape(S, A)
    assert_allclose(belief.reward_variance(), v)
    assert_allclose(belief.inverse_reward_counts(), v / (v + noise**2))
    assert_array_equal(belief.certain_pairs(), np.arange(S)[:, None] * np.ones((1, A)) == 3)
    assert_allclose(belief.mean_mdp().reward[:3], np.broadcast_to(mean[:3, :, None], (3, A, K)))
    assert_allclose(belief.pair_means(), np.concatenate([PROB[GROUP], mean[:, :, None]], axis=2))
    assert_allclose(belief.pair_variances(), np.concatenate([np.zeros((S, A, K)), v[:, :, None]], axis=2))
    assert_array_equal(belief.visit_groups(), np.arange(S * A).reshape(S, A))
    assert np.isinf(belief.counts()).all()
    assert belief.counts().shape == (S, A)
    assert_array_equal(belief.row_variance(), np.zeros((6, K)))
    assert_array_equal(belief.row_covariance(), np.zeros((6, K, K)))
    assert belief.reward_range() == (-np.inf, np.inf)
    assert (belief.encode(3), belief.is_terminal(3), belief.is_terminal(0)) == (3, True, False)
    for bad in (-1, 4):
        refused(lambda s=bad: belief.encode(s), "'observation' must be")
    z = default_rng(9).standard_normal(belief.root.shape[1])
    drawn = belief.sample_mdp(default_rng(9)).reward[:3, :, 0]
    assert_allclose(drawn, mean[:3] + (belief.root @ z).reshape(S, A)[:3], rtol=1e-10)
    flat = GaussianRewards(MDP, m.ravel(), C, noise)
    assert flat == GaussianRewards(MDP, m, C, noise)
    refused(lambda: GaussianRewards(MDP, m.T, C), "'mean_' must be an array of shape (4, 2) or (8,)")
    refused(lambda: GaussianRewards(3, m, C), "'mdp' must be a TabularMDP or a world that has one")
    for size in (1e101, -1e101):
        wrong = step(0, 0, 0)._replace(reward=size)
        refused(lambda d=wrong: flat.update(d), "GaussianRewards.update: 'reward' must be")


def test_covariances_are_checked():
    C = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.7]])
    assert_array_equal(checked_covariance("W", C, 3), C)
    slightly = C.copy()
    slightly[0, 1] += 1.9e-9  # 1e-9 of the largest entry, 2
    found = checked_covariance("W", slightly, 3)
    assert_array_equal(found, found.T)
    assert found[0, 1] == pytest.approx(0.5 + 0.95e-9, abs=1e-13)
    slightly[0, 1] = 0.5 + 2.1e-9
    refused(lambda: checked_covariance("W", slightly, 3), "W: 'covariance_' must be symmetric")
    refused(lambda: checked_covariance("W", C, 4), "W: 'covariance_' must be an array of shape (4, 4)")
    refused(lambda: checked_covariance("W", np.diag([1.0, -1e-12]), 2), "'covariance_' must be positive semi-definite")
    assert_array_equal(checked_covariance("W", np.diag([1.0, 0.0]), 2), np.diag([1.0, 0.0]))
    for low, good in ((-1.9e-9, True), (-2.1e-9, False)):  # the smallest eigenvalue beside entries of up to 2
        turned = np.array([[1.0, 1.0], [1.0, -1.0]]) / math.sqrt(2.0)
        matrix = turned @ np.diag([4.0, low]) @ turned
        if good:
            checked_covariance("W", matrix, 2)
        else:
            refused(lambda x=matrix: checked_covariance("W", x, 2), "must be positive semi-definite")


def test_roots_of_covariances():
    """Full rank, without variance in one place, diagonal, and of lower rank."""
    full = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.7]])
    hole = np.zeros((4, 4))
    hole[np.ix_([0, 1, 3], [0, 1, 3])] = full
    x = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])
    for C, rank in ((full, 3), (hole, 3), (np.diag([4.0, 0.0, 9.0]), 2), (x @ x.T, 2), (np.zeros((2, 2)), 0)):
        L = covariance_root(C)
        assert_allclose(L @ L.T, C, atol=1e-12)
        assert L.shape[0] == len(C)
        assert rank <= L.shape[1] <= rank + (rank == 2 and not is_diagonal(C))
    assert_array_equal(covariance_root(np.diag([4.0, 0.0, 9.0])), [[2.0, 0.0], [0.0, 0.0], [0.0, 3.0]])
    assert is_diagonal(np.diag([1.0, 0.0]))
    assert not is_diagonal(full)


# The infinite grid ----------------------------------------------------------------------------------------------------


def test_cells_of_the_grid():
    assert cell("W", "x", (np.int64(-FAR), FAR)) == (-FAR, FAR)
    for bad in ((FAR + 1, 0), (0, -FAR - 1), (0.5, 0), (True, 0)):
        refused(lambda c=bad: cell("W", "x", c), "W: 'x' must be a whole number of at least")
    for bad in (3, (1,), (1, 2, 3), None, "ab"):
        refused(lambda c=bad: cell("W", "x", c), "W: 'x' must be a cell (x, y)")


def test_what_a_grid_belief_learns():
    belief = RowColumnBeta(rows=(1.5, 0.7), columns=(0.6, 2.2))
    moves = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    found = {a: d for a in range(4) for d in moves if _leads(belief, a, d)}
    assert sorted(found.values()) == sorted(moves)
    to = {d: a for a, d in found.items()}
    one = belief.update(Transition((0, 0), to[1, 0], 1.0, (1, 0)))
    assert one.seen == ((1, 0, TAKEN),)
    two = one.update(Transition((1, 0), to[-1, 0], 0.0, (0, 0)))
    assert two.seen == ((0, 0, EMPTY), (1, 0, TAKEN))
    three = two.update(Transition((0, 0), to[0, 1], 1.0, (0, 1)))
    assert three.seen == ((0, 0, EMPTY), (0, 1, TAKEN), (1, 0, TAKEN))
    assert three.update(Transition((0, 0), to[1, 0], 0.0, (1, 0))) is three  # taken already
    again = Transition((0, 0), to[1, 0], 1.0, (1, 0))
    refused(lambda: three.update(again), "the cell has none left")
    new = three.restart()
    assert new.seen == ((0, 0, EMPTY), (0, 1, THERE), (1, 0, THERE))
    assert new.update(again).seen == ((0, 0, EMPTY), (0, 1, THERE), (1, 0, TAKEN))
    refused(lambda: new.update(again._replace(reward=0.0)), "the cell is known to hold one")
    refused(lambda: belief.update(again._replace(next_observation=(0, 1))), f"action {to[1, 0]} leads to (1, 0)")
    refused(lambda: belief.update(again._replace(terminated=True)), "no cell is terminal")
    refused(lambda: belief.update(again._replace(reward=0.5)), "a reward is 0 or 1")
    for bad in (-1, 4):
        refused(lambda a=bad: belief.update(again._replace(action=a)), "RowColumnBeta.update: 'action' must be")
    codes = {c: belief.encode(c) for c in itertools.product((-3, 0, 4), (-2, 0, 5))}
    assert len(set(codes.values())) == 9
    assert codes[0, 5] - codes[0, 0] == 5
    assert codes[4, 0] - codes[0, 0] == 4 * (belief.encode((1, 0)) - belief.encode((0, 0)))
    assert (belief.numbered_states, belief.is_terminal(0), belief.reward_range()) == (0, False, (0.0, 1.0))
    assert [belief.code(again._replace(reward=r)) for r in (0.0, 1.0)] == [0, 1]
    for bad in (-0.1, 1.1):
        refused(lambda r=bad: belief.code(again._replace(reward=r)), "RowColumnBeta.code: 'reward' must be")
    for name in ("rows", "columns"):
        for bad in ((1.0,), (1.0, 0.0), (0.0, 1.0), (1.0, 1e101)):
            refused(lambda n=name, c=bad: RowColumnBeta(**{n: c}), f"RowColumnBeta: '{name}' must be")
    for depth in (-1, DEEPEST + 1):
        refused(lambda d=depth: belief.simulate(d), "RowColumnBeta.simulate: 'depth' must be")
    refused(lambda: belief.mean_rows_columns([0], [0], default_rng(0), sweeps=0), "'sweeps' must be")
    refused(lambda: belief.sample_rows_columns(3, [0], default_rng(0)), "'rows' must be whole numbers")
    refused(lambda: belief.sample_rows_columns([0], [FAR + 1], default_rng(0)), "'columns' must be")


def _leads(belief, action, move):
    try:
        belief.update(Transition((0, 0), action, 0.0, move))
    except ImpossibleEvidence:
        return False
    return True
