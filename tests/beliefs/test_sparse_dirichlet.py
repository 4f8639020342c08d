from itertools import combinations

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import gammaln

import bayesrl as b
from bayesrl.bamdp.search.bamcp import BAMCP
from bayesrl.beliefs.tabular.sparse_dirichlet import SparseDirichletMDP
from bayesrl.core import Transition
from bayesrl.kernels.simulator import forget
from bayesrl.kernels.urn import draw
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
