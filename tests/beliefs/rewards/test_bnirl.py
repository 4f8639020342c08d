"""Sub-goals: likelihood by hand, enumerated partitions, limits of the concentration, bad input."""

import numpy as np
import plain_clusters as plain
import plain_inverse
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.inverse import BNIRL

LINE = plain_inverse.line()
PAIRS = [(0, 1), (1, 1), (2, 0), (1, 0), (0, 0), (2, 1)]
ENDS = b.TabularMDP.from_dense(LINE.dense()[0], np.zeros(3), 0.9, terminal=[2])
FACTS = [1 / 6, 0.380556, 0.3125, 0.118056, 0.020833, 0.001389]
"""Six customers, concentration 1: the probability of one to six tables."""


def likelihood(pairs, candidates, rationality):
    """p(a_i | s_i, g) by value iteration on plain arrays, (N, G)."""
    P = LINE.dense()[0]
    found = np.zeros((len(pairs), len(candidates)))
    for j, g in enumerate(candidates):
        R = np.zeros((3, 2))
        R[g] = 1.0
        e = np.exp(rationality * plain_inverse.optimal_q(P, R, 0.9))
        found[:, j] = [e[s, a] / e[s].sum() for s, a in pairs]
    return found


@pytest.mark.parametrize(("n", "c", "candidates"), [(4, 0.5, [0, 1, 2]), (5, 2.0, [0, 2]), (6, 1.0, None)])
def test_draws_follow_the_enumerated_partitions(n, c, candidates):
    """15, 52 and 203 partitions: each probability, co-assignment, the number of clusters and goals, in 6000 sweeps."""
    pairs = PAIRS[:n]
    belief = BNIRL(LINE, rationality=6.0, concentration=c, candidates=candidates).update_many(pairs)
    states = belief.candidate_states()
    L = likelihood(pairs, states.tolist(), 6.0)
    np.testing.assert_allclose(belief.likelihood(), L, atol=1e-10)
    labels, p = plain.enumerated(lambda members: np.log(L[members].prod(axis=0).mean()), n, c)
    belief = belief.refresh(default_rng(n), sweeps=6000)
    z = belief.assignments
    plain.assert_near((z[:, None] == labels).all(axis=2), p)
    plain.assert_near((z[:, :, None] == z[:, None, :]).reshape(len(z), -1), plain.together(labels, p).ravel())
    np.testing.assert_allclose(belief.co_assignment(), plain.together(labels, p), atol=0.06)
    counts = labels.max(axis=1) + 1
    plain.assert_near((z.max(axis=1) + 1)[:, None] == np.arange(1, n + 1), np.bincount(counts, p)[1:])
    assert belief.n_clusters() == pytest.approx(p @ counts, abs=0.1)
    exact = np.zeros((n, 3))
    for w, partition in zip(p, labels, strict=True):
        for i in range(n):
            goal = L[partition == partition[i]].prod(axis=0)
            exact[i, states] += w * goal / goal.sum()
    np.testing.assert_allclose(belief.goal_posterior(), exact, atol=0.03)
    plain.assert_near((belief.goals[:, :, None] == np.arange(3)).reshape(len(z), -1), exact.ravel())


def test_draws_of_no_observations():
    """A clustering of nothing has no cluster and no goal, before and after sweeps."""
    belief = BNIRL(LINE)
    for n in (0, 3):
        belief = belief.refresh(default_rng(0), n) if n else belief
        assert belief.assignments.shape == belief.goals.shape == (n, 0)


def test_observations_that_say_nothing_follow_the_restaurant():
    """With one candidate every partition has the same likelihood: the facts' table of counts."""
    belief = BNIRL(LINE, candidates=[1]).update_many(PAIRS).refresh(default_rng(0), 6000)
    plain.assert_near((belief.assignments.max(axis=1) + 1)[:, None] == np.arange(1, 7), FACTS)
    np.testing.assert_array_equal(belief.goal_posterior(), np.tile([0.0, 1.0, 0.0], (6, 1)))


def test_concentration_pools_and_separates():
    rng = default_rng(1)
    pooled = BNIRL(LINE, 1.0, 1e-9).update_many(PAIRS).refresh(rng, 50)
    apart = BNIRL(LINE, 1.0, 1e9).update_many(PAIRS).refresh(rng, 50)
    np.testing.assert_array_equal(pooled.co_assignment(), 1.0)
    np.testing.assert_array_equal(apart.co_assignment(), np.eye(6))
    assert (pooled.n_clusters(), apart.n_clusters()) == (1.0, 6.0)
    L = likelihood(PAIRS, [0, 1, 2], 1.0)
    np.testing.assert_allclose(apart.goal_posterior(), L / L.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(pooled.goal_posterior()[2], L.prod(axis=0) / L.prod(axis=0).sum())


def test_the_chain_goes_on_and_drops_draws_of_the_old_posterior():
    belief = BNIRL(LINE).update_many(PAIRS).refresh(default_rng(2), 10)
    assert belief.refresh(default_rng(3), 5).assignments.shape == (15, 6)
    more = belief.update((0, 1))
    assert more.assignments.shape == (0, 7)
    np.testing.assert_array_equal(more.labels, [*belief.assignments[-1], -1])
    assert belief.update_many(PAIRS[:1]) == belief.update(b.Transition(0, 1, 0.0, 1)) == more
    drawn = belief.sample(default_rng(4))
    assert (belief.assignments == drawn.assignments).all(axis=1).any()
    empty = BNIRL(LINE).refresh(default_rng(0), 3)
    assert empty.n_clusters() == 0.0
    assert empty.goal_posterior().shape == (0, 3)


def test_a_stuck_chain_warns():
    """Two long parts that a sure expert makes nearly inseparable from their cluster: the chain hardly ever moves."""
    pairs = 40 * [(0, 1)] + 40 * [(2, 0)]
    with pytest.warns(PoorMixing, match="BNIRL.refresh"):
        BNIRL(LINE, 1.5, 0.05).update_many(pairs).refresh(default_rng(0), 200)


BELIEF = BNIRL(LINE).update_many(PAIRS)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: BNIRL(LINE, rationality=0.0), "'rationality' must be greater than 0"),
        (lambda: BNIRL(LINE, rationality=np.nan), "'rationality' must be greater than 0"),
        (lambda: BNIRL(LINE, concentration=0.0), "'concentration' must be greater than 0"),
        (lambda: BNIRL(LINE, concentration=-1.0), "'concentration' must be greater than 0"),
        (lambda: BNIRL(LINE, concentration="1"), "'concentration' must be greater than 0"),
        (lambda: BNIRL(LINE, candidates=[]), "'candidates' must be "),
        (lambda: BNIRL(LINE, candidates=[0, 3]), "'candidates' must be whole numbers from 0 to 2"),
        (lambda: BNIRL(ENDS, candidates=[0, 2]), "'candidates' must be "),
        (lambda: BNIRL(LINE, candidates=[-1]), "'candidates' must be whole numbers from 0 to 2"),
        (lambda: BNIRL(LINE, candidates=[0.5]), "'candidates' must be whole numbers from 0 to 2"),
        (lambda: BNIRL(LINE, candidates=1), "'candidates' must be "),
        (lambda: BNIRL(LINE, candidates="all"), "'candidates' must be "),
        (lambda: BNIRL(None), "'problem' must be a TabularMDP"),
        (lambda: BNIRL(plain_inverse.line(1.0)), "'problem' must be one whose episodes end under every policy"),
        (lambda: BELIEF.update((3, 0)), "'state' must be "),
        (lambda: BELIEF.update((0, 2)), "'action' must be "),
        (lambda: BELIEF.update((0, np.nan)), "'action' must be "),
        (lambda: BELIEF.update(3), "'demonstrations' must be "),
        (lambda: BELIEF.update_many([]), "'demonstrations' must be at least one pair"),
        (lambda: BELIEF.refresh(default_rng(0), 0), "'sweeps' must be a whole number of at least 1"),
        (lambda: BELIEF.refresh(0), "'rng' must be a numpy Generator"),
        (lambda: BELIEF.co_assignment(), "'self' must be a belief with draws"),
        (lambda: BELIEF.n_clusters(), "'self' must be a belief with draws"),
        (lambda: BELIEF.goal_posterior(), "'self' must be a belief with draws"),
        (lambda: BELIEF.sample(default_rng(0)), "'self' must be a belief with draws"),
        (lambda: BELIEF.diagnostics(), "'self' must be a belief with draws"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()
    assert len(BELIEF.demonstrations) == 6


def test_impossible_steps_and_terminal_goals():
    with pytest.raises(ImpossibleEvidence):
        BELIEF.update(b.Transition(0, 1, 0.0, 2))
    ends = b.TabularMDP.from_dense(LINE.dense()[0], np.zeros(3), 0.9, terminal=[2])
    with pytest.raises(InvalidArgument, match="none of them terminal"):
        BNIRL(ends, candidates=[2])
