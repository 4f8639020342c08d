import pickle
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp

import bayesrl as b
from bayesrl.bamdp.search.bamcp import BAMCP
from bayesrl.beliefs import DirichletMDP
from bayesrl.beliefs.mdp.sparse_dirichlet import SparseDirichletMDP
from bayesrl.core import Transition
from bayesrl.kernels.simulators.simulator import forget
from bayesrl.kernels.simulators.sparse_urn import weight_of_all
from bayesrl.kernels.simulators.urn import draw
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.testing import assert_frequencies

MDP = TabularMDP.from_dense(np.full((4, 1, 4), 0.25), [[0.0], [1.0], [0.5], [2.0]], gamma=0.9)


def learnt(*seen, alpha=0.4, exponent=1.5):
    belief = SparseDirichletMDP.flat(MDP, alpha, exponent)
    return belief.update_many(Transition(0, 0, 0.0, y) for y in seen)


def enumerated(belief, seen):
    """Posterior over supports by brute force: (weight, support) for every subset that holds what was seen."""
    a, supports = belief.concentration, []
    N = np.bincount(seen, minlength=4) if len(seen) else np.zeros(4)
    for k in range(1, 5):
        sets = list(combinations(range(4), k))
        for support in sets:
            if all(y in support for y in seen):
                inside = sum(gammaln(a + N[i]) - gammaln(a) for i in support)
                likelihood = np.exp(inside + gammaln(k * a) - gammaln(k * a + len(seen)))
                supports.append((k**-belief.size_exponent / len(sets) * likelihood, support))
    return supports, N


@pytest.mark.parametrize("seen", [(), (2,), (2, 2, 2), (0, 3, 3), (0, 1, 2, 3, 1)])
def test_predictive_against_enumerated_supports(seen):
    belief = learnt(*seen)
    supports, N = enumerated(belief, seen)
    total, a = sum(w for w, _ in supports), belief.concentration
    first, second = np.zeros(4), np.zeros(4)
    for w, support in supports:
        n = len(support) * a + len(seen)
        for i in support:
            first[i] += w / total * (a + N[i]) / n
            second[i] += w / total * (a + N[i]) * (a + N[i] + 1) / (n * (n + 1))
    np.testing.assert_allclose(belief.mean_mdp().prob[0], first, atol=1e-12)
    np.testing.assert_allclose(belief.row_variance()[0], second - first**2, atol=1e-12)
    prior = sum(w for w, _ in enumerated(belief, ())[0])
    np.testing.assert_allclose(belief.log_evidence(), np.log(total / prior), atol=1e-12)


@pytest.mark.parametrize("seen", [(), (2,), (2, 2, 2), (0, 3, 3), (0, 1, 2, 2), (0, 1, 2, 3, 1)])
def test_covariance_against_enumerated_supports(seen):
    belief = learnt(*seen)
    supports, N = enumerated(belief, seen)
    total, a = sum(w for w, _ in supports), belief.concentration
    mean, product = np.zeros(4), np.zeros((4, 4))
    for w, support in supports:
        n, inside = len(support) * a + len(seen), np.isin(np.arange(4), support)
        x = np.where(inside, a + N, 0.0)
        mean += w / total * x / n
        product += w / total * (np.outer(x, x) + np.diag(x)) / (n * (n + 1.0))
    covariance = belief.row_covariance()
    np.testing.assert_allclose(covariance[0], product - np.outer(mean, mean), atol=1e-12)
    np.testing.assert_array_equal(np.diagonal(covariance, axis1=1, axis2=2), belief.row_variance())


def test_urn_has_the_law_of_a_model_drawn_once():
    """Joint frequencies of three simulated outcomes after two seen; 30000 draws, false alarm 1e-6."""
    belief, rng, counts = learnt(1, 1), default_rng(0), np.zeros((4, 4, 4))
    urn = belief.simulate(5)
    for _ in range(30000):
        counts[draw(urn, 0, rng), draw(urn, 0, rng), draw(urn, 0, rng)] += 1
        forget(urn, np.array([0]), 1)
    expected = np.zeros((4, 4, 4))
    for i, j, k in np.ndindex(4, 4, 4):
        p, seen = 1.0, (1, 1)
        for x in (i, j, k):
            p *= learnt(*seen).mean_mdp().prob[0, x]
            seen = (*seen, x)
        expected[i, j, k] = p
    assert_frequencies(counts, expected)


def test_urns_of_unequal_sizes_do_not_share_their_weights():
    """Two groups with the same data, one with 2 and one with 4 conceivable outcomes; 30000 draws each, alarm 1e-6."""
    succ, size = np.array([[[0, 1, 0, 0]], [[0, 1, 2, 3]], [[0, 1, 2, 3]], [[0, 1, 2, 3]]]), np.array([2, 4, 4, 4])
    outcomes = Outcomes(succ, 0.0 * succ, np.arange(4)[:, None], size, np.zeros(1), np.eye(4)[0], np.zeros(4, bool))
    belief = SparseDirichletMDP(outcomes, 0.4, 1.5, 0.9)
    belief = belief.update(Transition(1, 0, 0.0, 1)).update(Transition(0, 0, 0.0, 1))
    urn, rng = belief.simulate(1), default_rng(0)
    for g in (1, 0, 1):
        counts = np.zeros(4)
        for _ in range(30000):
            counts[draw(urn, g, rng)] += 1
            forget(urn, np.array([g]), 1)
        assert_frequencies(counts[: size[g]], belief.mean_mdp().prob[g, : size[g]])


def test_mean_of_sampled_models():
    """20000 draws against the mean, entry by entry through their frequencies of support; false alarm 1e-6."""
    belief, rng = learnt(1, 1, 3), default_rng(1)
    draws = np.array([belief.sample_mdp(rng).prob[0] for _ in range(20000)])
    from bayesrl.testing import assert_mean_equal

    assert_mean_equal(draws, belief.mean_mdp().prob[0])
    assert_mean_equal((draws - belief.mean_mdp().prob[0]) ** 2, belief.row_variance()[0])
    assert (draws == 0.0).any(), "some supports are smaller than all outcomes"


def test_bamcp_plans_on_it():
    world = b.make_world("grid5")
    prior = SparseDirichletMDP.flat(world)
    decision = BAMCP(simulations=200).plan(prior, 0, None, default_rng(0))
    assert decision.action in range(4)
    assert decision.info["visits"].sum() == 200


def test_a_large_flat_prior_takes_what_was_seen():
    """Memory of 1000 updates and of a simulator over 5000 states and 4 actions, where a table has 10^8 cells.

    The tables that a small model writes out are those that rows, lists and single rewards say.
    """
    S, A, rng = 5000, 4, default_rng(0)
    rows, to = np.arange(S), [(np.arange(S) * (a + 2) + 1) % S for a in range(A)]
    moves = [csr_array((np.ones(S), (rows, to[a])), shape=(S, S)) for a in range(A)]
    mdp = TabularMDP.from_sparse(moves, rng.normal(size=(S, A)), gamma=0.95)
    tracemalloc.start()
    for belief in (SparseDirichletMDP.flat(mdp), DirichletMDP.flat(mdp, 1 / S)):
        s = 0
        for a in rng.integers(A, size=1000).tolist():
            y = int(to[a][s])
            belief, s = belief.update(Transition(s, a, float(mdp.reward[s, a, 0]), y)), y
        belief.simulate(20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


@pytest.mark.parametrize("R", [(), (4, 2), (4, 2, 4)])
def test_flat_outcomes_say_the_same_written_out_or_not(R):
    rng = default_rng(1)
    succ, reward = np.array([[[1, 2], [0, 3]]] * 4), rng.normal(size=(4, 2, 2))
    rule = rng.normal(size=(*R, *(1,) * (3 - len(R)))) if R else np.zeros(1)
    if R == (4, 2, 4):
        reward = np.take_along_axis(rule, succ, axis=2)  # the rule holds for all that is listed
    listed = Outcomes(
        succ,
        reward,
        np.arange(8).reshape(4, 2),
        np.full(8, 2),
        rule,
        np.eye(4)[0],
        np.array([False, False, False, True]),
    )
    flat = listed.flat()
    written = Outcomes(
        np.broadcast_to(np.arange(4), (4, 2, 4)),
        listed.rewards(),
        flat.group,
        flat.size,
        rule,
        flat.start,
        flat.terminal,
    )
    for name in ("is_flat", "reward_range", "largest_reward", "ambiguous", "n_outcomes", "n_states", "n_actions"):
        assert getattr(flat, name) == getattr(written, name)
    for one, two in zip(flat.distinct_lists, written.distinct_lists, strict=True):
        assert np.array_equal(one, two)
    for s, a, k in np.ndindex(4, 2, 4):
        assert flat.reward_of(s, a, k) == written.reward[s, a, k]
    assert "reward" not in vars(flat)
    assert flat.reward.flags.c_contiguous
    assert flat.succ.flags.c_contiguous
    assert pickle.loads(pickle.dumps(flat)) == flat == written == flat.flat()


@pytest.mark.parametrize("k0, N", [(0, 0), (3, 40), (3, 5000), (17, 10**6)])
def test_weights_of_supports_do_not_overflow(k0, N):
    """T(k0, N) = 1 / E[1 / (k alpha + N)], in logarithms."""
    L, alpha, exponent = 20, 0.3, 1.5
    k = np.arange(max(k0, 1), L + 1.0)
    logs = (
        -exponent * np.log(k) + gammaln(k + 1.0) - gammaln(k - k0 + 1.0) + gammaln(k * alpha) - gammaln(k * alpha + N)
    )
    expected = np.exp(logsumexp(logs) - logsumexp(logs - np.log(k * alpha + N)))
    np.testing.assert_allclose(weight_of_all(float(k0), float(N), float(L), alpha, exponent), expected, rtol=1e-9)


def test_the_table_of_weights_grows_to_what_is_asked():
    """By one kind or one draw at a time; what it holds stays."""
    table = learnt()._table
    for k0, N in ((1, 3), (2, 3), (2, 255), (2, 256), (3, 300), (4, 513), (9, 513)):
        found = table(k0, N)
        assert found.shape[0] > min(k0, 4)
        assert found.shape[1] > N
        if (k0, N) == (1, 3):
            found[1, 3] = 7.0
        assert found[1, 3] == 7.0
        assert np.isnan(found[min(k0, 4), N]) or (k0, N) == (1, 3)
