"""The known MDP itself: what constructors make of their arguments and what its readings say, against plain loops."""

import subprocess
import sys
from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from scipy import sparse

from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import solve


def random_arrays(rng, S=4, A=2):
    P = rng.dirichlet(np.ones(S), (S, A))
    P[rng.random(P.shape) < 0.4] = 0.0
    P[:, :, 0] += P.sum(axis=2) == 0.0
    return P / P.sum(axis=2, keepdims=True), rng.normal(size=(S, A, S))


def tied(rng, S=5, A=2, G=3, K=3, gamma=0.9, terminal=()):
    """Groups that several (s, a) share, with outcomes that may lead to one state twice."""
    group = rng.permutation(np.concatenate([np.arange(G), rng.integers(G, size=S * A - G)])).reshape(S, A)
    size = rng.integers(1, K + 1, size=G)
    size[0] = K
    ends = np.zeros(S, bool)
    ends[list(terminal)] = True
    succ, reward = rng.integers(S, size=(S, A, K)), rng.normal(size=(S, A, K))
    outcomes = Outcomes(succ, reward, group, size, np.zeros(1), np.eye(S)[0], ends)
    prob = np.where(np.arange(K) < size[:, None], rng.exponential(size=(G, K)), 0.0)
    return TabularMDP(outcomes, prob / prob.sum(axis=1, keepdims=True), gamma)


@pytest.mark.parametrize("seed", range(5))
def test_readings_equal_loops(seed):
    mdp = tied(np.random.default_rng(seed), terminal=(3,))
    S, A = mdp.group.shape
    R, P = np.zeros((S, A)), np.zeros((S, A, S))
    for s in range(S):
        for a in range(A):
            for k in range(mdp.outcomes.size[mdp.group[s, a]]):
                p = mdp.prob[mdp.group[s, a], k]
                P[s, a, mdp.succ[s, a, k]] += p
                R[s, a] += p * mdp.reward[s, a, k]
    np.testing.assert_allclose(mdp.mean_reward, R, atol=1e-15)
    np.testing.assert_allclose(mdp.matrix, P.reshape(S * A, S), atol=1e-15)
    assert mdp.outcomes.largest_reward == np.abs(mdp.reward).max()


@pytest.mark.parametrize("seed", range(5))
def test_dense_and_sparse_sources_make_the_same_model(seed):
    P, R = random_arrays(np.random.default_rng(seed))
    dense = TabularMDP.from_dense(P, R, 0.9)
    by_action = [sparse.csr_array(P[:, a]) for a in range(P.shape[1])]
    assert TabularMDP.from_sparse(by_action, R, 0.9) == dense
    assert TabularMDP.from_sparse(sparse.csr_array(P.reshape(-1, P.shape[0])), R, 0.9) == dense
    P2, R2 = dense.dense()
    np.testing.assert_array_equal(P2, P)
    np.testing.assert_array_equal(R2, R)
    np.testing.assert_allclose(dense.mean_reward, np.einsum("say,say->sa", P, R), atol=1e-15)


def test_rewards_of_every_shape():
    P, _ = random_arrays(np.random.default_rng(0))
    by_action = np.arange(8.0).reshape(4, 2)
    assert (TabularMDP.from_dense(P, by_action, 0.9).dense()[1] == by_action[:, :, None]).all()
    leaving = np.arange(4.0)
    assert (TabularMDP.from_dense(P, leaving, 0.9).dense()[1] == leaving[:, None, None]).all()


def test_terminal_states_absorb_and_pay_nothing():
    rng = np.random.default_rng(1)
    P, R = random_arrays(rng)
    mdp = TabularMDP.from_dense(P, R + 5.0, 0.9, terminal=[2])
    assert (mdp.succ[2] == 2).all()
    assert (mdp.reward[2] == 0.0).all()
    assert (mdp.mean_reward[2] == 0.0).all()
    np.testing.assert_allclose(mdp.matrix.reshape(4, 2, 4)[2], np.eye(4)[[2, 2]], atol=1e-15)


def test_gymnasium_table():
    lake = TabularMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 0.99)
    assert (lake.n_states, lake.n_actions) == (16, 4)
    assert set(np.flatnonzero(lake.outcomes.terminal)) == {5, 7, 11, 12, 15}
    np.testing.assert_allclose(lake.mean_reward.max(), 1 / 3)
    cliff = TabularMDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), 1.0)
    assert cliff.outcomes.start.argmax() == 36
    assert (cliff.mean_reward[~cliff.outcomes.terminal] <= -1.0).all()


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"P": [[[0.5, 0.4]], [[0.0, 1.0]]]}, "'P' must be rows that sum to 1, got 0.9. First at row (0, 0)."),
        (
            {"P": [[[1.5, -0.5]], [[0.0, 1.0]]]},
            "'P' must be at least 0 everywhere, got -0.5. First at index (0, 0, 1).",
        ),
        ({"P": np.ones((2, 2))}, "'P' must be an array of shape (any, any, any), got an array of shape (2, 2)."),
        ({"R": np.zeros((3, 2))}, "'R' must be of shape (2, 1, 2), (2, 1) or (2,), got an array of shape (3, 2)."),
        ({"R": [[np.nan], [0.0]]}, "'R' must be finite everywhere, got nan. First at index (0, 0)."),
        ({"gamma": 1.2}, "'gamma' must be in [0, 1], got 1.2."),
        ({"start": 2}, "'start' must be a whole number of at least 0 and at most 1, got 2."),
        ({"terminal": [5]}, "'terminal' must be a whole number of at least 0 and at most 1, got 5."),
    ],
)
def test_bad_arrays(change, sentence):
    good = {"P": [[[0.5, 0.5]], [[0.0, 1.0]]], "R": [[0.0], [1.0]], "gamma": 0.9}
    with pytest.raises(InvalidArgument) as caught:
        TabularMDP.from_dense(**(good | change))
    assert str(caught.value) == "TabularMDP: " + sentence


@pytest.mark.parametrize("succ, group, plain", [
    ([[0, 1], [0, 1]], [[0], [1]], True),
    ([[1, 0], [1, 0]], [[0], [1]], False),  # every outcome leads elsewhere
    ([[0, 1], [1, 0]], [[0], [1]], False),
    ([[0, 1], [0, 1]], [[1], [0]], False),
])  # fmt: skip
def test_a_flat_model_is_told_from_others(succ, group, plain):
    """Flat: outcome k leads to state k, and the group of (s, a) is s A + a."""
    reward = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
    o = Outcomes(
        np.array(succ)[:, None], reward, np.array(group), np.array([2, 2]), np.zeros(1), np.eye(2)[0], np.zeros(2, bool)
    )
    assert o.distinct_lists[3] is plain


def test_lists_that_are_alike_are_kept_once():
    """Every (s, a) finds its own outcomes in its list; a flat model has as many lists as it has kinds of rewards."""
    for mdp in (tied(np.random.default_rng(3), terminal=(2,)), tied(np.random.default_rng(4))):
        for o in (mdp.outcomes, mdp.outcomes.flat()):
            succ, reward, place, plain, _ = o.distinct_lists
            assert np.array_equal(succ[place[..., 1]], o.succ)
            assert np.array_equal(reward[place[..., 1]], o.reward)
            assert np.array_equal(place[..., 0], o.group)
            own = np.arange(o.group.size).reshape(o.group.shape)
            assert plain == bool((o.succ == np.arange(o.n_outcomes)).all() and (o.group == own).all())
    paid = np.zeros((6, 2))
    paid[3] = 1.0
    flat = TabularMDP.from_dense(np.full((6, 2, 6), 1 / 6), paid, 0.9).outcomes.flat()
    assert len(flat.distinct_lists[0]) == 2
    assert flat.distinct_lists[3]


# Sparse models take what they hold -----------------------------------------------------------------------------------


LEAN = """
import resource
import numpy as np
from scipy import sparse
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve

def ring(S):
    s = np.arange(S)
    right = sparse.coo_array((np.full(2 * S, 0.5), (np.tile(s, 2), np.r_[(s + 1) % S, s])), shape=(S, S))
    return [right, right.T]

small = TabularMDP.from_sparse(ring(100), np.ones((100, 2)), 0.5)
solve(small)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
S = 20_000
by_pair = TabularMDP.from_sparse(ring(S), np.ones((S, 2)), 0.5)
by_move = TabularMDP.from_sparse(ring(S), ring(S), 0.5)
table = {s: {a: [(1.0, (s + 1 + a) % S, float(s == 7), False)] for a in range(2)} for s in range(S)}
listed = TabularMDP.from_gymnasium(table, 0.5)
assert solve(by_pair).values[0] == 2.0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_sparse_model_takes_what_it_holds():
    # An identity of 20,000 states alone would take 3.2 GB.
    done = subprocess.run([sys.executable, "-c", LEAN], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150_000  # kB


def test_sparse_rewards():
    P = np.array([[[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]] * 2])
    R = np.where(P > 0, np.arange(18.0).reshape(3, 2, 3), 0.0)
    full = TabularMDP.from_dense(P, R, 0.9)
    both = (
        TabularMDP.from_sparse(sparse.csr_array(P.reshape(6, 3)), sparse.csr_array(R.reshape(6, 3)), 0.9),
        TabularMDP.from_sparse(*([sparse.csr_array(X[:, a]) for a in range(2)] for X in (P, R)), 0.9),
    )
    for mdp in both:
        np.testing.assert_array_equal(mdp.reward, full.reward)
        np.testing.assert_array_equal(mdp.prob, full.prob)
        # (0, 0) pays 1 or 2, as often: what it would pay elsewhere is the smaller one. The others pay one reward.
        assert mdp.outcomes.otherwise[..., 0].tolist() == [[1.0, 3.0], [7.0, 11.0], [12.0, 15.0]]
    with pytest.raises(InvalidArgument, match="'R' must be of 3 states and 2 actions, as P, got '2 and 2'"):
        TabularMDP.from_sparse(sparse.csr_array(P.reshape(6, 3)), [sparse.eye_array(2)] * 2, 0.9)


def test_a_start_that_ends_episodes_elsewhere_is_not_terminal():
    """Entered only by terminating transitions, but episodes start there: it keeps its row, and an end is added."""

    class Table:
        P: ClassVar = {0: {0: [(1.0, 1, 2.0, True)]}, 1: {0: [(1.0, 0, 1.0, True)]}}

    class Started(Table):
        initial_state_distrib: ClassVar = np.array([0.5, 0.5])

    plain, started = (TabularMDP.from_gymnasium(kind(), 0.9) for kind in (Table, Started))
    assert (plain.n_states, np.flatnonzero(plain.outcomes.terminal).tolist()) == (2, [0, 1])
    assert (started.n_states, np.flatnonzero(started.outcomes.terminal).tolist()) == (3, [2])
    np.testing.assert_allclose(solve(started).values, [2.0, 1.0, 0.0], atol=1e-9)
    np.testing.assert_array_equal(started.outcomes.start, [0.5, 0.5, 0.0])


def test_what_is_not_listed_pays_what_its_state_pays_if_states_pay():
    P = np.array([[[0.5, 0.5, 0.0]], [[0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]]])
    R = np.where(P > 0, [4.0, 5.0, 6.0], 0.0)
    mdp = TabularMDP.from_sparse([sparse.csr_array(P[:, 0])], [sparse.csr_array(R[:, 0])], 0.9)
    assert (mdp.dense()[1] == [4.0, 5.0, 6.0]).all()


def test_the_end_must_be_terminal():
    o = tied(np.random.default_rng(0), terminal=(3,)).outcomes
    parts = (o.succ, o.reward, o.group, o.size, o.otherwise, o.start, o.terminal)
    assert Outcomes(*parts, end=3).end == 3
    with pytest.raises(InvalidArgument, match=r"Outcomes: 'end' must be a terminal state, got 2\."):
        Outcomes(*parts, end=2)
