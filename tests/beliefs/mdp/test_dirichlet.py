import dataclasses
import pickle
from threading import Thread

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.sparse import csr_array

from bayesrl.beliefs import DirichletMDP, DirichletMixture, FiniteMDPs, RewardBeta, SparseDirichletMDP, UnknownRewards
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.beliefs.mdp.ledger import CHUNK, Ledger
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.testing import assert_mean_equal

P = np.array([[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.2, 0.8]]])
R = np.array([[0.0, 1.0], [0.5, 0.0]])
MDP = TabularMDP.from_dense(P, R, gamma=0.9)


def test_posterior_matches_quadrature():
    """Prior density times likelihood, integrated on a grid, has the belief's mean and variance; and its evidence."""
    belief = DirichletMDP(MDP.outcomes, [[0.7, 1.6]] * 4, 0.9)
    seen = [Transition(0, 1, 1.0, y) for y in (1, 1, 0, 1)]
    posterior = belief.update_many(seen)
    theta = (np.arange(200000) + 0.5) / 200000  # probability of outcome 0 of (0, 1)
    density = theta ** (0.7 - 1) * (1 - theta) ** (1.6 - 1)
    likelihood = theta**1 * (1 - theta) ** 3
    weight = density * likelihood / (density * likelihood).sum()
    mean = (weight * theta).sum()
    variance = (weight * (theta - mean) ** 2).sum()
    np.testing.assert_allclose(posterior.predictive_row(0, 1), [mean, 1 - mean], rtol=1e-3)
    np.testing.assert_allclose(posterior.row_variance()[1], variance, rtol=1e-3)
    evidence = np.log((density * likelihood).sum() / density.sum())
    np.testing.assert_allclose(posterior.log_evidence(), evidence, rtol=1e-3)
    np.testing.assert_array_equal(posterior.alpha[[0, 2, 3]], belief.alpha[[0, 2, 3]])


def test_evidence_is_the_product_of_predictives():
    belief, total = DirichletMDP.flat(MDP, 0.3), 0.0
    rng = default_rng(0)
    for _ in range(40):
        s, a = int(rng.integers(2)), int(rng.integers(2))
        y = int(rng.integers(2))
        total += np.log(belief.predictive_row(s, a)[y])
        belief = belief.update(Transition(s, a, R[s, a], y))
    np.testing.assert_allclose(belief.log_evidence(), total, rtol=1e-12)


def test_replace_sets_the_prior_and_forgets_the_data():
    belief = DirichletMDP.flat(MDP, 2.0).update(Transition(0, 0, 0.0, 1))
    new = dataclasses.replace(belief, alpha=np.full((4, 2), 3.0))
    assert new.seen == 0
    np.testing.assert_array_equal(new.alpha, 3.0)
    kept = dataclasses.replace(belief, gamma=0.5)
    np.testing.assert_array_equal(kept.alpha, belief.alpha)
    assert belief.seen == 1


def test_arrays_are_read_only_and_equality_is_by_value():
    belief = DirichletMDP.flat(MDP)
    after = belief.update(Transition(0, 0, 0.0, 1))
    for b in (belief, after):
        with pytest.raises(ValueError, match="read-only"):
            b.alpha[0, 0] = 9.0
    assert belief == DirichletMDP.flat(MDP)
    assert belief != after
    assert after == DirichletMDP.flat(MDP).update(Transition(0, 0, 0.0, 1))
    assert pickle.loads(pickle.dumps(after)) == after


def test_known_groups_are_not_learnt_but_still_refuse_the_impossible():
    certain = TabularMDP.from_dense([[[1.0, 0.0], [0.4, 0.6]], [[0.0, 1.0], [0.5, 0.5]]], R, gamma=0.9)
    belief = DirichletMDP.structured(certain, known=[True, False, True, False])
    assert belief.update(Transition(0, 0, 0.0, 0)) == belief
    with pytest.raises(ImpossibleEvidence):
        belief.update(Transition(0, 0, 0.0, 1))
    np.testing.assert_array_equal(belief.counts(), [[np.inf, 2.0], [np.inf, 2.0]])


def test_update_many_reads_transitions_columns_and_records():
    rng = default_rng(1)
    steps = [Transition(s, a, R[s, a], y) for s, a, y in rng.integers(2, size=(700, 3)).tolist()]
    one = DirichletMDP.flat(MDP)
    for t in steps:
        one = one.update(t)
    columns = {name: [getattr(t, name) for t in steps] for name in ("state", "action", "reward", "next_state")}
    assert one == DirichletMDP.flat(MDP).update_many(steps) == DirichletMDP.flat(MDP).update_many(columns)
    assert DirichletMDP.flat(MDP).update_many([]) == DirichletMDP.flat(MDP)


@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 0.09, 0.5, 3.0])
def test_rows_are_dirichlet_also_for_tiny_counts(alpha):
    """Mean and second moment of 20000 draws; false alarm 1e-6. Tiny counts would underflow as plain gamma variates."""
    a = np.array([alpha, 2 * alpha, 3 * alpha])
    draws = dirichlet_rows(np.tile(a, (20000, 1)), default_rng(3))
    p, n = a / a.sum(), a.sum()
    assert_mean_equal(draws, p)
    assert_mean_equal(draws**2, p * p + p * (1 - p) / (n + 1))
    np.testing.assert_allclose(draws.sum(axis=1), 1.0)


def test_ledger_versions_never_change():
    """Random branching over several chunks: every version keeps showing what it showed."""
    rng = default_rng(0)
    versions = [(Ledger(7), ())]
    for _ in range(3 * CHUNK):
        ledger, entries = versions[-1] if rng.random() < 0.9 else versions[int(rng.integers(len(versions)))]
        cell = int(rng.integers(7))
        versions.append((ledger.append(cell), (*entries, cell)))
    for ledger, entries in versions:
        assert tuple(ledger.entries) == entries
        np.testing.assert_array_equal(ledger.counts(), np.bincount(np.array(entries, int), minlength=7))


def test_ledger_is_safe_among_threads():
    """Eight threads branch from one version at once; each keeps its own future."""
    root = Ledger(8).extend(np.arange(8))
    grown = {}

    def grow(i):
        ledger = root
        for _ in range(500):
            ledger = ledger.append(i)
        grown[i] = ledger

    threads = [Thread(target=grow, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for i in range(8):
        np.testing.assert_array_equal(grown[i].counts(), 1 + 500 * (np.arange(8) == i))
    np.testing.assert_array_equal(root.counts(), 1)


def test_rows_in_single_precision():
    """Rows that sum to one within float32's rounding are accepted and normalised; a wrong float32 row is refused."""
    rng = default_rng(0)
    P32 = rng.dirichlet(np.ones(50), size=(50, 2)).astype(np.float32)
    assert np.abs(P32.sum(axis=2, dtype=np.float64) - 1.0).max() > 1e-9  # the plain test would refuse them
    dense = TabularMDP.from_dense(P32, np.zeros((50, 2)), gamma=0.9)
    listed = TabularMDP.from_sparse([csr_array(P32[:, a]) for a in range(2)], np.zeros((50, 2)), gamma=0.9)
    for mdp in (dense, listed, TabularMDP(dense.outcomes, dense.prob.astype(np.float32), 0.9)):
        assert mdp.prob.dtype == np.float64
        np.testing.assert_allclose(mdp.prob.sum(axis=1), 1.0, atol=1e-14)
    known = DirichletMDP(dense.outcomes, dense.prob.astype(np.float32), 0.9, known=np.full(100, True))
    np.testing.assert_allclose(known.alpha.sum(axis=1), 1.0, atol=1e-14)
    weights = FiniteMDPs((dense, dense, dense), np.full(3, 1 / 3, np.float32)).weights
    np.testing.assert_allclose(weights.sum(), 1.0, atol=1e-15)
    mixture = DirichletMixture((known, known, known), np.full(3, 1 / 3, np.float32))
    np.testing.assert_allclose(mixture.weights.sum(), 1.0, atol=1e-15)
    P32[0, 0, 0] += 1e-4
    with pytest.raises(InvalidArgument, match="rows that sum to 1"):
        TabularMDP.from_dense(P32, np.zeros((50, 2)), gamma=0.9)
    with pytest.raises(InvalidArgument, match="rows that sum to 1"):  # float64 is held to its own precision
        TabularMDP.from_dense(dense.prob.reshape(50, 2, 50).astype(np.float32).astype(float), np.zeros((50, 2)), 0.9)


ENDING = TabularMDP.from_dense([[[0.5, 0.3, 0.2]]] * 3, [[1.0]] * 3, 0.9, terminal=[2])


@pytest.mark.parametrize(
    "belief",
    [
        DirichletMDP.flat(ENDING),
        DirichletMDP.structured(ENDING),
        SparseDirichletMDP.flat(ENDING),
        FiniteMDPs((ENDING,)),
        UnknownRewards(DirichletMDP.flat(ENDING), RewardBeta(np.ones((3, 1)), np.ones((3, 1)))),
    ],
    ids=lambda belief: type(belief).__name__,
)
def test_episodes_end_in_terminal_states_only(belief):
    belief.update(Transition(0, 0, 1.0, 2, terminated=True))
    belief.update(Transition(0, 0, 1.0, 1, truncated=True))
    sentence = "The end of the episode in state 1 has probability zero under this belief: that state is not terminal"
    with pytest.raises(ImpossibleEvidence, match=sentence):
        belief.update(Transition(0, 0, 1.0, 1, terminated=True))
    columns = {"state": [0], "action": [0], "reward": [1.0], "next_state": [1], "terminated": [True]}
    if hasattr(belief, "update_many") and not isinstance(belief, UnknownRewards):
        with pytest.raises(ImpossibleEvidence, match=sentence):
            belief.update_many(columns)


@pytest.mark.parametrize("least", [1e-3, 0.05, 0.5])
def test_padding_stays_zero_however_small_the_counts(least):
    """By gammas and by their logarithms: rows sum to 1, padding is 0, means are those of the Dirichlet (5 sd)."""
    alpha = np.array([[least, 2.0 * least, 0.0], [0.0, 0.3, 0.6]])
    draws = np.array([dirichlet_rows(alpha, default_rng(i)) for i in range(3000)])
    np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    assert (draws[:, alpha == 0.0] == 0.0).all()
    mean = alpha / alpha.sum(axis=1, keepdims=True)
    deviation = np.sqrt(mean * (1.0 - mean) / (alpha.sum(axis=1, keepdims=True) + 1.0) / 3000)
    assert (np.abs(draws.mean(axis=0) - mean) <= 5.0 * deviation).all()


def test_counts_of_any_group_are_moderate():
    """Also if other groups are known, or are padded."""
    P = np.array([[[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], [[0.0, 0.0, 1.0]] * 2])
    o = TabularMDP.from_dense(P, np.zeros((3, 2)), 0.9).outcomes
    good, known = np.where(o.valid, 1.0, 0.0), np.zeros(o.n_groups, bool)
    assert not o.valid.all()
    DirichletMDP(o, good, 0.9)
    for bad in (1e200, 1e-200):
        alpha = good.copy()
        alpha[0, 0] = bad
        for some in (None, known, ~(np.arange(o.n_groups) == 0)):
            given = (
                alpha
                if some is None or not some.any()
                else np.where(some[:, None], good / good.sum(axis=1)[:, None], alpha)
            )
            with pytest.raises(InvalidArgument, match="'alpha' must be"):
                DirichletMDP(o, given, 0.9, some)
