"""Known models against plain loops: outcomes, lists of transitions, tables of environments, POMDPs, games, policies."""

import itertools

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import sparse

from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.dynamic_programming.bellman import bound_of, first_best, rounding_error
from bayesrl.models import StochasticGame, TabularPOMDP, _flat_rewards, outcomes
from bayesrl.models._flat_rewards import FlatRewards
from bayesrl.models._listed import Listed, ends, from_matrices, is_sparse, most_probable, unlisted_rewards
from bayesrl.models.mdp import TabularMDP, contraction, model_of
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.policy import (
    ControllerPolicy,
    GaussianPolicy,
    SoftmaxPolicy,
    TabularPolicy,
    draw_action,
    policy_matrix,
)
from bayesrl.models.pomdp_solvers.pbvi import PBVI
from bayesrl.models.pomdp_solvers.perseus import Perseus
from bayesrl.models.pomdp_solvers.pomdp_value_iteration import POMDPValueIteration
from bayesrl.models.riccati import doubled, gains, lq_solution, residual, spectral_radius, split, times
from bayesrl.models.solve import solve
from bayesrl.models.solvers.evaluation import dense_factors, refined

# Outcomes ------------------------------------------------------------------------------------------------------------

RULES = {"one": (), "next": (1, 1, 4), "pair": (4, 3, 1), "state": (4, 1, 1), "all": (4, 3, 4)}


def tied(rule="all", terminal=(2,), K=3, seed=0, shift=0.0):
    """Four states, three actions, five groups of one to three outcomes; next states may be listed twice."""
    rng = default_rng(seed)
    group = np.array([[0, 1, 2], [3, 4, 0], [1, 1, 3], [2, 4, 0]])
    ends = np.isin(np.arange(4), terminal)
    reward = rng.normal(size=(4, 3, K)) + shift
    size = np.array([K, 2, 1, K, 2])
    start = np.array([0.1, 0.2, 0.4, 0.3])
    otherwise = np.array(rng.normal(size=RULES[rule]))
    return Outcomes(rng.integers(4, size=(4, 3, K)), reward, group, size, otherwise, start, ends)


def plain_rewards(o):
    """R (S, A, S): what is not listed follows the rule, the last of several rewards counts, the end pays nothing."""
    S, A = o.group.shape
    R = np.zeros((S, A, S)) + o.otherwise
    for s, a in np.ndindex(S, A):
        for k in range(o.size[o.group[s, a]]):
            R[s, a, o.succ[s, a, k]] = o.reward[s, a, k]
        if o.terminal[s]:
            R[s] = 0.0
    return R


@pytest.mark.parametrize("terminal", [(), (2,), (0, 3)], ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_rewards_of_all_transitions(rule, terminal):
    """Of listed and of flat outcomes: the table, single rows, single rewards, lists, ranges."""
    o = tied(rule, terminal)
    R, flat = plain_rewards(o), o.flat()
    np.testing.assert_array_equal(o.rewards(), R)
    np.testing.assert_array_equal(flat.rewards(), R)
    np.testing.assert_array_equal(flat.reward, R)
    rows = FlatRewards.of(o)
    for s, a in np.ndindex(4, 3):
        np.testing.assert_array_equal(rows.row(s, a), R[s, a])
        assert [flat.reward_of(s, a, k) for k in range(4)] == R[s, a].tolist()
        assert [o.reward_of(s, a, k) for k in range(3)] == o.reward[s, a].tolist()
    to = np.where(np.isin(np.arange(4), terminal)[:, None], np.arange(4)[:, None], np.arange(4))
    np.testing.assert_array_equal(flat.succ, np.repeat(to[:, None], 3, axis=1))
    succ, paid, place, plain, _ = flat.distinct_lists
    np.testing.assert_array_equal(succ[place[..., 1]], flat.succ)
    np.testing.assert_array_equal(paid[place[..., 1]], R)
    np.testing.assert_array_equal(place[..., 0], np.arange(12).reshape(4, 3))
    kinds = {(s if s in terminal else -1, R[s, a].tobytes()) for s, a in np.ndindex(4, 3)}
    assert (len(succ), plain) == (len(kinds), not terminal)
    assert flat.reward_range == (R.min(), R.max())
    assert flat.largest_reward == np.abs(R).max()
    assert flat.is_flat == (not terminal)
    assert (flat.n_outcomes, flat.n_groups, flat.valid.shape, flat.valid.all()) == (4, 12, (12, 4), True)
    assert flat.flat() is flat
    assert flat.ambiguous is None
    listed = [o.reward[s, a, k] for s, a in np.ndindex(4, 3) for k in range(o.size[o.group[s, a]])]
    assert o.reward_range == (min(listed), max(listed))
    assert o.largest_reward == np.abs(listed).max()
    for bad in ((4, 0, 0), (0, 3, 0), (0, 0, 4), (0, 0, "x")):
        for each in (o, flat):
            with pytest.raises(InvalidArgument, match="'outcome' must be s, a, k below"):
                each.reward_of(*bad)


def test_large_flat_models_keep_one_number_for_a_list(monkeypatch):
    """Rewards of pairs without exceptions: the lists are the same; a record describes such outcomes by their rule."""
    paid = default_rng(1).normal(size=(4, 3))
    paid[3] = paid[0]
    o = TabularMDP.from_dense(np.full((4, 3, 4), 0.25), paid, 0.9).outcomes.flat()
    small = o.distinct_lists
    monkeypatch.setattr(_flat_rewards, "MANY_CELLS", 9 * 4 - 1)
    large = TabularMDP.from_dense(np.full((4, 3, 4), 0.25), paid, 0.9).outcomes.flat().distinct_lists
    for one, two in zip(small, large, strict=True):
        np.testing.assert_array_equal(one, two)
    assert large[1].strides[1] == 0 != small[1].strides[1]
    for most, described in ((48, False), (47, True)):
        monkeypatch.setattr(outcomes, "MANY_CELLS", most)
        assert (o.described() is not None) == described
    assert tied().described() is None


def test_outcomes_are_put_in_order():
    """Padding is zero, the end absorbs; positive rewards are not mixed with the zeros of padding."""
    o = tied(terminal=(), shift=20.0)
    for s, a in np.ndindex(4, 3):
        n = o.size[o.group[s, a]]
        assert (o.succ[s, a, n:] == 0).all()
        assert (o.reward[s, a, n:] == 0.0).all()
    assert o.reward_range[0] > 10.0
    np.testing.assert_array_equal(o.valid, np.arange(3) < np.array([3, 2, 1, 3, 2])[:, None])
    ends = tied(terminal=(2,), shift=20.0)
    assert (ends.succ[2] == 2).all()
    assert ends.reward_range[0] == 0.0
    assert (ends.has_terminals, o.has_terminals) == (True, False)
    x = default_rng(2).normal(size=(5, 3))
    np.testing.assert_array_equal(o.of_pairs(x), x[o.group])
    new = o.with_rewards(o.reward + 1.0)
    np.testing.assert_array_equal(new.reward, o.reward + 1.0)
    assert new.succ is o.succ


def test_two_outcomes_that_look_alike():
    """The first pair with two equal outcomes, terminal states and padding left out."""
    succ, reward = np.tile([0, 1, 2], (3, 2, 1)), np.tile([0.5, 1.5, 0.5], (3, 2, 1))
    group, size = np.arange(6).reshape(3, 2), np.full(6, 3)

    def made(ends=(), size=size):
        terminal = np.isin(np.arange(3), ends)
        return Outcomes(succ, reward, group, size, 0.0, np.eye(3)[0], terminal)

    assert made().ambiguous is None
    succ[1, 1, 2] = succ[2, 0, 2] = 0
    assert made().ambiguous == (1, 1)
    assert made(ends=[1]).ambiguous == (2, 0)
    assert made(ends=[1, 2]).ambiguous is None
    assert made(size=np.array([3, 3, 3, 2, 3, 3])).ambiguous == (2, 0)


def test_what_is_flat():
    """All states in order, a group for each pair in order, no end; each condition alone decides."""
    S, A = 3, 2
    good = {
        "succ": np.tile(np.arange(S), (S, A, 1)), "reward": np.zeros((S, A, S)), "group": np.arange(6).reshape(S, A),
        "size": np.full(6, S), "otherwise": 0.0, "start": np.eye(S)[0], "terminal": np.zeros(S, bool),
    }  # fmt: skip
    assert Outcomes(**good).is_flat
    assert Outcomes(**good).distinct_lists[3]
    assert not Outcomes(**(good | {"group": np.array([[0, 1], [2, 3], [5, 4]])})).distinct_lists[3]
    x = np.arange(18.0).reshape(6, 3)
    np.testing.assert_array_equal(Outcomes(**good).of_pairs(x), x.reshape(3, 2, 3))
    for o in (Outcomes(**good), Outcomes(**good).flat()):
        assert not hasattr(o, "successor")
    turned = np.tile(np.arange(S), (S, A, 1))
    turned[2, 1] = [0, 2, 1]
    for change in (
        {"succ": turned},
        {"group": np.array([[0, 1], [2, 3], [5, 4]])},
        {"group": np.array([[0, 1], [2, 3], [4, 4]]), "size": np.full(5, S)},
        {"size": np.array([3, 3, 3, 2, 3, 3])},
        {"terminal": np.array([False, False, True])},
        {"succ": np.tile([0, 1], (S, A, 1)), "reward": np.zeros((S, A, 2)), "size": np.full(6, 2)},
    ):
        assert not Outcomes(**(good | change)).is_flat
    for change, sentence in (
        ({"size": np.array([3, 3, 3, 0, 3, 3])}, "'size' must be at least 1 everywhere"),
        ({"size": np.array([3, 3, 3, 4, 3, 3])}, "'size' must be whole numbers from 0 to 3"),
        ({"group": np.array([[0, 1], [2, 3], [5, 5]])}, "'group' must be numbered from 0 without gaps"),
        ({"terminal": np.zeros(2, bool)}, r"'terminal' must be an array of shape \(3,\)"),
        ({"otherwise": np.zeros((2, 2))}, r"'otherwise' must be broadcastable to \(3, 2, 3\)"),
        ({"succ": np.zeros((3, 2))}, "'succ' must be"),
        ({"succ": np.full((3, 2, 3), 3)}, "'succ' must be whole numbers from 0 to 2"),
        ({"start": np.array([0.5, 0.4, 0.0])}, "'start' must be"),
        ({"end": 3}, "'end' must be a whole number of at least 0 and at most 2"),
    ):
        with pytest.raises(InvalidArgument, match=f"Outcomes: {sentence}"):
            Outcomes(**(good | change))


# Lists of transitions ------------------------------------------------------------------------------------------------


def test_sparse_matrices_in_either_form():
    """Entries that stand twice are added; rows are sorted; three states and two actions, and what has no such form."""
    rng = default_rng(3)
    dense = rng.random((2, 3, 3))
    rows, columns = np.r_[np.repeat(range(3), 3), 2], np.r_[np.tile(range(3), 3), 1]  # (2, 1) is there twice
    parts = [sparse.coo_array((np.r_[M.ravel(), 1.0], (rows, columns))) for M in dense]
    dense[:, 2, 1] += 1.0
    S, A, found = from_matrices("P", parts)
    assert (S, A) == (3, 2)
    whole = dense.transpose(1, 0, 2).reshape(6, 3)
    np.testing.assert_allclose(found.toarray(), whole)
    S, A, same = from_matrices("P", sparse.csr_array(whole))
    assert (S, A) == (3, 2)
    np.testing.assert_array_equal(same.toarray(), whole)
    for bad in (np.zeros((5, 3)), np.zeros((2, 3)), np.zeros((0, 3))):
        with pytest.raises(InvalidArgument, match=r"'P' must be of shape \(S\*A, S\)"):
            from_matrices("P", sparse.csr_array(bad))
    for bad in ([], 3, [sparse.eye_array(3), sparse.eye_array(2)], [sparse.csr_array((3, 2))]):
        with pytest.raises(InvalidArgument, match="'P' must be one square sparse matrix for each action"):
            from_matrices("P", bad)
    assert [is_sparse(x) for x in (parts, parts[0], [], dense, [[1.0]])] == [True, True, False, False, False]
    rounded = whole / whole.sum(axis=1, keepdims=True)
    rounded[4] *= 1.0 + 1e-10
    model = TabularMDP.from_sparse(sparse.csr_array(rounded), np.zeros(3), 0.9)
    np.testing.assert_allclose(model.prob.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(model.prob, TabularMDP.from_dense(rounded.reshape(3, 2, 3), np.zeros(3), 0.9).prob)
    with pytest.raises(InvalidArgument, match="'P' must be rows that sum to 1"):
        TabularMDP.from_sparse(sparse.csr_array((6, 3)), np.zeros(3), 0.9)


def likeliest(entries):
    """Of (p, r): the reward with the largest sum of p, the smaller one in a tie."""
    mass = {}
    for p, r in entries:
        mass[r] = mass.get(r, 0.0) + p
    return min(mass, key=lambda r: (-mass[r], r)) if mass else 0.0


@pytest.mark.parametrize("seed", range(6))
def test_rewards_that_are_not_listed(seed):
    """Of next states if these always pay the same; of pairs otherwise. Rows of the end do not count."""
    rng, S, A = default_rng(seed), 5, 2
    pair = np.sort(rng.integers(S * A, size=14))
    y, p = rng.integers(S - 1, size=14), rng.integers(1, 4, size=14) / 4
    terminal = np.arange(S) == 1
    by_next = np.array([2.0, -1.0, 0.5, -1.0])[y]
    mixed = rng.integers(-1, 2, size=14).astype(float)
    for r in (np.where(terminal[pair // A], 9.0, by_next), mixed):
        live = [i for i in range(14) if pair[i] // A != 1]
        found = unlisted_rewards(Listed(S, A, pair, y, p), r, terminal)
        if r is mixed:
            pays = [likeliest([(p[i], r[i]) for i in live if pair[i] == x]) for x in range(S * A)]
            assert found[:, :, 0].tolist() == np.reshape(pays, (S, A)).tolist()
        else:
            common = likeliest([(p[i], r[i]) for i in live])
            pays = {y[i]: r[i] for i in live}
            assert found.tolist() == [[[pays.get(x, common) for x in range(S)]]]
    none = unlisted_rewards(Listed(S, A, pair, y, p), mixed, np.ones(S, bool))
    assert none.tolist() == [[[0.0] * S]]
    assert most_probable(np.array([2, 0, 2]), np.array([0.5, 0.1, 0.5]), np.array([3.0, -1.0, 1.0]), 4).tolist() == [
        -1.0, 0.0, 1.0, 0.0,
    ]  # fmt: skip


class Table:
    """The least that is read of an environment."""

    def __init__(self, P, start):
        self.P = P
        if start is not None:
            self.initial_state_distrib = start


@pytest.mark.parametrize("seed", range(12))
def test_tables_of_environments(seed):
    """Random tables with ends: which states are terminal, where terminating steps lead, what is paid on average."""
    rng, S, A = default_rng(seed), 5, 2
    ending = rng.random(S) < 0.5  # states that are always entered by the end of an episode, if they are
    rows = []
    for s, a in np.ndindex(S, A):
        for p in rng.dirichlet(np.ones(3)):
            y = int(rng.integers(S)) if rng.random() < 0.8 else s
            done = bool(ending[y]) if rng.random() < 0.9 else rng.random() < 0.5
            rows.append((s, a, p, y, float(rng.integers(-3, 4)), done))
    if seed % 3 == 0:  # a state that only ends in place
        rows = [(s, a, p, 4, 0.0, True) if s == 4 else (s, a, p, y, r, done) for s, a, p, y, r, done in rows]
    start = None if seed % 2 else np.array([0.0, 0.25, 0.75, 0.0, 0.0])
    final, both = [], []
    for t in range(S):
        entered = any(y == t != s and done for s, _, _, y, _, done in rows)
        going_on = any(y == t != s and not done for s, _, _, y, _, done in rows) or (start is not None and start[t] > 0)
        ends_here = [y == t and done for s, _, _, y, _, done in rows if s == t]
        if (entered or all(ends_here)) and not going_on:
            final.append(t)
        elif entered or any(ends_here):
            both.append(t)
    table = {s: {a: [] for a in range(A)} for s in range(S)}
    n = S + bool(both)
    P, paid = np.zeros((n, A, n)), np.zeros((n, A))
    for s, a, p, y, r, done in rows:
        table[s][a] += [(p, y, r, done), (0.0, 99, 1.0, False)]  # what has no probability is not read
        P[s, a, S if done and y in both else y] += p
        paid[s, a] += p * r
    over = final + [S] * bool(both)
    P[over], paid[over] = np.eye(n)[over][:, None], 0.0
    mdp = TabularMDP.from_gymnasium(Table(table, start), 0.9)
    assert np.flatnonzero(mdp.outcomes.terminal).tolist() == over
    assert mdp.outcomes.end == (S if both else None)
    np.testing.assert_allclose(mdp.dense()[0], P, atol=1e-12)
    np.testing.assert_allclose(mdp.mean_reward, paid, atol=1e-12)
    np.testing.assert_array_equal(mdp.outcomes.start[:S], np.eye(S)[0] if start is None else start)
    for s in range(n):
        assert mdp.observe(s) == s
        assert mdp.observe(s, True) == (S if both and s not in over else s)
    with pytest.raises(InvalidArgument, match="'observation' must be a whole number of at least 0 and at most"):
        mdp.observe(n)


def test_states_in_which_episodes_end():
    """Terminal states, and others in which an episode may end: single cases."""
    rows = [(0, 0, 1.0, 0, 0.0, True)]  # it only ends in place
    rows += [(1, 0, 0.5, 1, 0.0, True), (1, 0, 0.5, 4, 0.0, False)]  # it ends in place, and goes on
    rows += [(2, 0, 0.5, 2, 0.0, True), (2, 0, 0.5, 3, 0.0, True)]  # it ends in place, and elsewhere
    rows += [(3, 0, 1.0, 3, 0.0, False)]  # entered by an end only; its own row does not count
    rows += [(4, 0, 1.0, 1, 0.0, False), (5, 0, 0.5, 5, 0.0, True), (5, 0, 0.5, 5, 0.0, False)]
    assert ends(rows, set()) == ({0, 3}, {1, 2, 5})
    assert ends(rows, {0, 4}) == ({3}, {0, 1, 2, 5})
    assert ends(rows, {3}) == ({0}, {1, 2, 3, 5})


def test_tables_that_are_not_complete():
    good = {0: {0: [(1.0, 1, 0.0, False)]}, 1: {0: [(1.0, 0, 0.0, False)]}}
    lists = {s: [row[0]] for s, row in good.items()}
    assert TabularMDP.from_gymnasium(lists, 0.9) == TabularMDP.from_gymnasium(good, 0.9)
    for bad, sentence in (
        ({0: good[0], 2: good[1]}, "'P' must be a table of every state and action, numbered from 0"),
        ({0: good[0], 1: {1: good[1][0]}}, "'P' must be a table of every state and action"),
        ({0: good[0], 1: {0: good[1][0], 1: good[1][0]}}, "'P' must be a table of every state and action"),
        ({0: good[0]}, r"'P\[0\]\[0\]' must be of states that are in the table"),
        ({}, "'env' must be an environment with a transition table P"),
        ([good[0]], "'env' must be an environment with a transition table P"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            TabularMDP.from_gymnasium(bad, 0.9)


# POMDPs and games ----------------------------------------------------------------------------------------------------


def hidden(depends, terminal=(), seed=5):
    """Three states, two actions, four observations; some are impossible."""
    rng = default_rng(seed)
    P, O = rng.dirichlet(np.ones(3), (3, 2)), rng.dirichlet(np.ones(4), (3, 2))
    P[0, 1, 2] = P[1, 0, 0] = O[1, 1, 3] = O[2, 0, 1] = 0.0
    P, O = P / P.sum(axis=2, keepdims=True), O / O.sum(axis=2, keepdims=True)
    R = rng.normal(size=(3, 2, 3, 4)[:depends]) * 3.0
    if depends > 2:  # what is impossible would pay most
        R[0, 1, 2], R[1, 0, 0] = 50.0 + R[0, 1, 2], -60.0 + R[1, 0, 0]
    if depends > 3:
        R[:, 1, 1, 3], R[:, 0, 2, 1] = 70.0, -80.0
    return P, O, R, TabularPOMDP.from_dense(P, O, R, 0.8, [0.2, 0.5, 0.3], terminal)


@pytest.mark.parametrize("terminal", [(), (1,)], ids=str)
@pytest.mark.parametrize("depends", [2, 3, 4])
def test_readings_of_a_pomdp(depends, terminal):
    """What is seen, the mean reward, single rewards, and the range of what may be paid, also of some actions."""
    P, O, R, pomdp = hidden(depends, terminal)
    full = np.zeros((3, 2, 3, 4)) + R.reshape(R.shape + (1,) * (4 - depends))
    mean, paid = np.zeros((3, 2)), {}
    for s, a, y, o in np.ndindex(3, 2, 3, 4):
        r = 0.0 if s in terminal else full[s, a, y, o]
        assert pomdp.reward(s, a, y, o) == r
        mean[s, a] += P[s, a, y] * O[y, a, o] * r
        if P[s, a, y] * O[y, a, o] > 0.0:
            paid.setdefault((s, a), []).append(r)
    np.testing.assert_allclose(pomdp.seen, O)
    np.testing.assert_allclose(pomdp.mean_reward, mean)
    assert pomdp.rewards.shape == R.shape
    every = [r for rs in paid.values() for r in rs]
    assert pomdp.reward_range == (min(every), max(every))
    legal = np.array([[True, False], [True, True], [False, True]])
    some = [r for (s, a), rs in paid.items() for r in rs if legal[s, a] or s in terminal]
    assert pomdp.reward_range_of(legal) == (min(some), max(some))
    moved = pomdp.starting(np.array([0.1, 0.1, 0.8]))
    assert moved.start.tolist() == [0.1, 0.1, 0.8]
    np.testing.assert_array_equal(moved.seen, pomdp.seen)


@pytest.mark.parametrize("depends", [2, 3, 4])
def test_a_reward_that_is_seen_is_an_observation(depends):
    """The probability of every pair of two pairs (o, r), by sums over the hidden states of both problems."""
    P, O, R, pomdp = hidden(depends)
    full = np.zeros((3, 2, 3, 4)) + R.reshape(R.shape + (1,) * (4 - depends))
    shown, expected = pomdp.showing_rewards(), {}
    for s, y, z, o, q in np.ndindex(3, 3, 3, 4, 4):
        key = (o, full[s, 1, y, o], q, full[y, 0, z, q])
        p = pomdp.start[s] * P[s, 1, y] * O[y, 1, o] * P[y, 0, z] * O[z, 0, q]
        expected[key] = expected.get(key, 0.0) + p
    reached = [(y, full[s, a, y]) for s, a, y in np.ndindex(3, 2, 3) if P[s, a, y] > 0.0]
    rewards = [r for _, row in reached for r in enumerate(row.tolist())]
    pairs = sorted({*rewards, *((o, 0.0) for o in range(4))})
    T, Omega, _ = shown.dense()
    assert shown.n_observations == len(pairs)
    total = 0.0
    for i, j in itertools.product(range(len(pairs)), repeat=2):
        found = ((shown.start @ T[:, 1]) * Omega[:, 1, i]) @ T[:, 0] @ Omega[:, 0, j]
        assert found == pytest.approx(expected.get((*pairs[i], *pairs[j]), 0.0), abs=1e-12)
        total += found
    assert total == pytest.approx(1.0)
    assert all(shown.reward(0, 0, 0, z) == r for z, (_, r) in enumerate(pairs))


def test_which_solver_a_pomdp_gets(monkeypatch):
    """Two states that do not end: exact. More: PBVI. The tolerance is passed on if it is given."""
    for kind in (PBVI, Perseus, POMDPValueIteration):
        monkeypatch.setattr(kind, "solve", lambda self, pomdp: self)
    three, ends = hidden(2)[3], hidden(2, (1,))[3]
    assert isinstance(solve(three), PBVI)
    assert isinstance(solve(ends), POMDPValueIteration)
    for name, kind in (("pbvi", PBVI), ("perseus", Perseus), ("pomdp-value-iteration", POMDPValueIteration)):
        assert isinstance(solve(three, method=name), kind)
        assert solve(three, method=name) == kind()
        assert solve(three, 0.0625, method=name) == kind(tol=0.0625)
    for name in ("initial", "bonus"):
        with pytest.raises(InvalidArgument, match=f"solve: '{name}' must be None for a POMDP"):
            solve(three, **{name: np.zeros(3)})


@pytest.mark.parametrize("depends", [3, 4])
def test_games(depends):
    """Three states, two and four actions: the MDP against a strategy, and the game of the other player, by loops."""
    rng = default_rng(6)
    P = rng.dirichlet(np.ones(3), (3, 2, 4))
    P[0, 1, :, 2] = 0.0
    P /= P.sum(axis=3, keepdims=True)
    R, other = rng.normal(size=(2, *(3, 2, 4, 3)[:depends]))
    game, x = StochasticGame(P, R, 0.8, other, 2), rng.dirichlet(np.ones(4), 3)
    full, theirs = (np.zeros(P.shape) + r.reshape(r.shape + (1,) * (4 - depends)) for r in (R, other))
    np.testing.assert_array_equal(game.rewards(), full)
    np.testing.assert_array_equal(game.rewards(1), theirs)
    for strategy, rows in ((x, x), (x[0], np.tile(x[0], (3, 1)))):
        mdp = game.against(strategy)
        for s, a in np.ndindex(3, 2):
            np.testing.assert_allclose(mdp.dense()[0][s, a], rows[s] @ P[s, a])
            expected = sum(rows[s, j] * P[s, a, j] @ full[s, a, j] for j in range(4))
            assert mdp.mean_reward[s, a] == pytest.approx(expected)
        assert (mdp.gamma, mdp.outcomes.start.tolist()) == (0.8, [0.0, 0.0, 1.0])
    turned = game.swapped()
    np.testing.assert_array_equal(turned.P, P.swapaxes(1, 2))
    np.testing.assert_array_equal(turned.rewards(), theirs.swapaxes(1, 2))
    np.testing.assert_array_equal(turned.rewards(1), full.swapaxes(1, 2))
    assert (turned.n_actions, turned.n_others, turned.start, turned.gamma) == (4, 2, 2, 0.8)
    same = StochasticGame(P, R, 0.8).swapped()
    np.testing.assert_array_equal(same.rewards(), full.swapaxes(1, 2))
    assert same.R_other is None
    np.testing.assert_array_equal(StochasticGame(P, R, 0.8).rewards(1), full)
    stage = StochasticGame.stage(R[0, :, :] if depends == 3 else R[0, :, :, 0], 0.7, np.arange(8.0).reshape(2, 4))
    assert stage.rewards(1)[0, :, :, 0].tolist() == np.arange(8.0).reshape(2, 4).tolist()
    for bad, sentence in (
        ((P[:, :, :, :2], R, 0.8), "'P' must be of shape"),
        ((P, R[:, :, :3], 0.8), r"'R' must be of shape \(3, 2, 4\) or \(3, 2, 4, 3\)"),
        ((P, R, 0.8, other[:2]), r"'R_other' must be of shape"),
        ((P, R, 0.8, other, 3), "'start' must be a whole number of at least 0 and at most 2"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            StochasticGame(*bad)
    for bad in (x.T, x[0, :3], [0.5, 0.4, 0.0, 0.0]):
        with pytest.raises(InvalidArgument, match="'strategy' must be"):
            game.against(bad)


# Solutions and policies ----------------------------------------------------------------------------------------------


def test_models_for_kernels():
    """A bonus is added to the rewards; terminal rows are empty; the discount may be another one."""
    o = tied(terminal=(2,))
    prob = np.where(o.valid, default_rng(7).random((5, 3)), 0.0)
    mdp = TabularMDP(o, prob / prob.sum(axis=1, keepdims=True), 0.8)
    bonus = default_rng(8).normal(size=(4, 3))
    for m, gamma in ((model_of(mdp, bonus), 0.8), (model_of(mdp, bonus, 0.6), 0.6)):
        r = mdp.mean_reward + bonus
        r[2] = 0.0
        np.testing.assert_allclose(m.r, r)
        assert m.gamma == gamma
        rows = m.prob[m.group]
        assert (rows[2] == 0.0).all()
        assert m.size[m.group[2]].tolist() == [0, 0, 0]
        live = [0, 1, 3]
        np.testing.assert_array_equal(rows[live], mdp.prob[o.group[live]])
        assert len(m.matrix) == 0
    plain = model_of(TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), np.ones((3, 2)), 0.8))
    np.testing.assert_allclose(plain.matrix, 1 / 3)


def test_bounds_of_solutions():
    """The contraction of a discount, the bound of a residual, and the first action that may be the best."""
    m = model_of(TabularMDP(tied(), np.where(tied().valid, 1.0 / tied().size[:, None], 0.0), 0.8))
    assert contraction(m) == pytest.approx(0.2, abs=1e-8)
    near = contraction(m._replace(gamma=1.0 - 1e-8))
    assert 0.0 < near < 1e-8
    assert near == pytest.approx(1e-8, rel=1e-5)
    assert contraction(m._replace(gamma=1.0)) == 0.0
    assert bound_of(0.2, 0.01, -0.3, 0.1) == pytest.approx(0.31 / 0.2)
    assert bound_of(0.2, 0.01, -0.1, 0.3) == pytest.approx(0.31 / 0.2)
    assert bound_of(0.0, 0.01, -0.1, 0.3) == np.inf
    assert bound_of(contraction(m), rounding_error(m, np.zeros(4)), -0.3, 0.1) >= 0.3 / 0.2
    q = np.array([[1.0, 3.0, 2.9], [0.5, 0.31, 0.7], [2.0, 1.0, 2.0]])
    assert first_best(q, 0.0).tolist() == [1, 2, 0]
    assert first_best(q, 0.125).tolist() == [1, 0, 0]
    assert first_best(q, 0.0625).tolist() == [1, 2, 0]


def test_actions_are_drawn_from_one_random_number():
    p = np.array([0.0, 0.3, 0.0, 0.45, 0.25])
    rng, same = default_rng(9), default_rng(9)
    for _ in range(30):
        assert draw_action("test", p, rng) == int((np.cumsum(p) <= same.random() * p.sum()).sum())
    table = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    theta = default_rng(1).normal(size=(2, 3))
    soft = SoftmaxPolicy(theta, temperature=0.7)
    e = np.exp(theta / 0.7)
    np.testing.assert_allclose(soft.probabilities(), e / e.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(policy_matrix("test", soft, 2, 3), e / e.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(policy_matrix("test", TabularPolicy([2, 0], n_actions=3), 2, 3), np.eye(3)[[2, 0]])
    np.testing.assert_array_equal(policy_matrix("test", TabularPolicy(table), 2, 3), table)
    walk = ControllerPolicy(TabularPolicy(table), moves=[[1, 0, 1, 1], [0, 0, 1, 0]])
    np.testing.assert_allclose(policy_matrix("test", walk, 2, 3), table)
    assert [walk.learn(n, Transition(0, 0, 0.0, o), rng) for n in range(2) for o in range(4)] == [
        1,
        0,
        1,
        1,
        0,
        0,
        1,
        0,
    ]
    assert walk.learn(0, Transition(0, 0, 0.0, 2, terminated=True), rng) == 0
    with pytest.raises(InvalidArgument, match="'observation' must be a whole number of at least 0 and at most 3"):
        walk.learn(0, Transition(0, 0, 0.0, 4), rng)
    assert walk.act(1, None, default_rng(2)).action == draw_action("test", table[1], default_rng(2))
    pure = TabularPolicy([2, 0, 1])
    assert (pure.n_actions, pure.n_states, pure.deterministic) == (3, 3, True)
    assert [[pure.log_prob(s, a) for a in range(3)] for s in range(3)] == np.log(
        np.maximum(np.eye(3)[[2, 0, 1]], 0.0), where=np.eye(3)[[2, 0, 1]] > 0.0, out=np.full((3, 3), -np.inf)
    ).tolist()
    np.testing.assert_array_equal(pure.probabilities(), np.eye(3)[[2, 0, 1]])
    assert TabularPolicy([0, 0]).n_actions == 1
    assert TabularPolicy([1, 0], n_actions=2) != TabularPolicy([1, 0], n_actions=3)
    for bad in ([1, 3], [-1, 0]):
        with pytest.raises(InvalidArgument, match="'table' must be whole numbers from 0 to 2"):
            TabularPolicy(bad, n_actions=3)


def test_policies_at_their_limits():
    """Real actions from one standard normal number for each entry; tables of one state; the first state too many."""
    x, theta = np.array([0.5, -1.5]), np.array([[0.3, 0.8], [1.1, -0.2], [0.4, 0.6]])
    for weights, noise in ((theta[0], default_rng(4).standard_normal()), (theta, default_rng(4).standard_normal(3))):
        policy = GaussianPolicy(None, weights, sigma=0.7)
        np.testing.assert_allclose(policy.sample(x, default_rng(4)), weights @ x + 0.7 * noise)
        z = np.atleast_1d(noise)
        expected = -0.5 * (z**2).sum() - len(z) * np.log(0.7 * np.sqrt(2 * np.pi))
        assert policy.log_prob(x, weights @ x + 0.7 * noise) == pytest.approx(expected)
    assert SoftmaxPolicy.tabular(1, 1).probabilities().tolist() == [[1.0]]
    soft = SoftmaxPolicy.tabular(2, 3, temperature=0.4)
    assert (soft.n_states, soft.n_actions, soft.temperature) == (2, 3, 0.4)
    features = SoftmaxPolicy([0.3, -0.8], np.arange(24.0).reshape(3, 4, 2) / 7.0, temperature=0.6)
    assert (features.n_states, features.n_actions) == (3, 4)
    e = np.exp(np.arange(24.0).reshape(3, 4, 2) / 7.0 @ [0.3, -0.8] / 0.6)
    np.testing.assert_allclose(features.probabilities(), e / e.sum(axis=1, keepdims=True))
    table = SoftmaxPolicy(default_rng(5).normal(size=(2, 3)), temperature=0.4)
    waves = SoftmaxPolicy(default_rng(6).normal(size=(2, 3)), lambda s: [np.sin(s), np.cos(s)], temperature=1.7)
    for policy, s in ((features, 2), (table, 1), (waves, 0.8)):
        at, n = policy.parameters, len(policy.parameters)
        near = [[policy.with_parameters(at + e) for e in (d, -d)] for d in 1e-6 * np.eye(n)]
        for a in range(3):
            slopes = [(up.log_prob(s, a) - down.log_prob(s, a)) / 2e-6 for up, down in near]
            np.testing.assert_allclose(policy.score(s, a), slopes, atol=1e-7)
            curves = [(up.score(s, a) - down.score(s, a)) / 2e-6 for up, down in near]
            np.testing.assert_allclose(policy.hessian(s, a), curves, atol=1e-7)
    pure = TabularPolicy([1, 0], n_actions=3)
    for call, name in (
        (lambda: soft.log_prob(2, 0), "observation"),
        (lambda: soft.log_prob(-1, 0), "observation"),
        (lambda: soft.log_prob(0, 3), "action"),
        (lambda: soft.score(0, -1), "action"),
        (lambda: soft.hessian(0, 3), "action"),
        (lambda: features.log_prob(3, 0), "observation"),
        (lambda: pure.log_prob(2, 0), "observation"),
        (lambda: pure.log_prob(0, 3), "action"),
        (lambda: pure.sample(-1, default_rng(0)), "observation"),
        (lambda: SoftmaxPolicy.tabular(0, 1), "n_states"),
        (lambda: SoftmaxPolicy.tabular(1, 0), "n_actions"),
    ):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be a whole number"):
            call()
    with pytest.raises(InvalidArgument, match="'theta' must be 6 numbers"):
        SoftmaxPolicy.tabular(2, 3, np.zeros(5))


def test_many_regulators_at_once():
    """Three systems: one that is plain, one whose free part SciPy stabilises, one that cannot be stabilised."""
    A = np.array([[[0.9, 0.3], [-0.2, 1.1]], [[1.5, 0.0], [0.2, 0.4]], [[1.2, 0.0], [0.0, 0.5]]])
    B = np.array([[[0.3, 0.1], [0.7, -0.4]], [[1.0, 0.3], [0.0, 0.5]], [[0.0, 0.0], [1.0, 0.2]]])
    Q, R = np.diag([0.0, 2.0]), np.array([[0.6, 0.1], [0.1, 0.9]])
    found = gains(A, B, Q, R)
    assert found.stable.tolist() == [True, True, False]
    for i in range(2):
        one = lq_solution(A[i], B[i], Q, R, np.array([[0.4, 0.1], [0.1, 0.2]]))
        np.testing.assert_allclose(found.P[i], one.P, atol=1e-9)
        np.testing.assert_allclose(found.gain[i], one.gain, atol=1e-9)
        assert one.cost == pytest.approx(0.4 * one.P[0, 0] + 0.2 * one.P[0, 1] + 0.2 * one.P[1, 1])
        K = np.linalg.solve(R + B[i].T @ one.P @ B[i], B[i].T @ one.P @ A[i])
        np.testing.assert_allclose(one.gain, K, atol=1e-9)
        assert one.radius == pytest.approx(np.abs(np.linalg.eigvals(A[i] - B[i] @ K)).max())
    X, Y = default_rng(4).normal(size=(3, 2)), default_rng(5).normal(size=(2, 4))
    np.testing.assert_allclose(times(X, Y), X @ Y)
    G, small = B[:1] @ np.linalg.inv(R) @ B[:1].transpose(0, 2, 1), 1e-9 * A[:1]
    assert doubled(A[:1], B[:1], G, Q, R)[2].tolist() == [True]
    P, K, stable = doubled(small, B[:1], G, Q, R)  # after one step nothing is left of the state: P is Q
    assert stable.tolist() == [True]
    np.testing.assert_allclose(P[0], Q, atol=1e-15)
    np.testing.assert_allclose(K[0], np.linalg.solve(R + B[0].T @ Q @ B[0], B[0].T @ Q @ small[0]), rtol=1e-9)
    P, K = np.array([[3.0, 0.5], [0.5, 1.0]]), np.array([[0.2, -0.4], [0.1, 0.3]])
    error = np.abs(Q + A[0].T @ P @ (A[0] - B[0] @ K) - P).max()
    assert residual(A[0], B[0], Q, P, K) == pytest.approx(error / 3.0)
    assert residual(A[0], B[0], 5.0 * Q, 0.0 * P, K) == pytest.approx(1.0)
    assert residual(A[0], B[0], 0.0 * Q, 0.0 * P, K) == 0.0
    assert spectral_radius(np.array([[0.0, 2.0], [-2.0, 0.0]])) == pytest.approx(2.0)
    assert spectral_radius(np.array([[np.nan, 0.0], [0.0, 1.0]])) == np.inf
    theta = default_rng(3).normal(size=(4, 5, 3))
    left, right = split(theta)
    np.testing.assert_array_equal(left, theta[:, :3].transpose(0, 2, 1))
    np.testing.assert_array_equal(right, theta[:, 3:].transpose(0, 2, 1))


def test_solutions_are_refined():
    """Solvers that find a share of the solution: the rest is added as long as the residual is at least halved."""
    rng, pi = default_rng(4), np.array([1, 0, 2, 1])
    P, R = rng.dirichlet(np.ones(4), size=(4, 3)), rng.normal(size=(4, 3))
    m = model_of(TabularMDP.from_dense(P, R, 0.83))
    at = np.arange(4)
    system, r = np.eye(4) - 0.83 * P[at, pi], R[at, pi]
    exact = np.linalg.solve(system, r)
    for share, missing in ((1.0, 0.0), (0.7, 0.0), (0.4, 0.36), (0.1, 0.81)):  # the second share is always added
        v, residual = refined(m, pi, lambda b, share=share: share * np.linalg.solve(system, b))
        np.testing.assert_allclose(v, (1.0 - missing) * exact, rtol=1e-13)
        np.testing.assert_allclose(residual, missing * np.abs(r).max(), rtol=1e-12, atol=1e-15)
    v, residual = refined(m, pi, dense_factors(m, pi, np.float32))
    np.testing.assert_allclose(v, exact, rtol=1e-13)
    assert residual <= 1e-15
    assert refined(m, pi, None) == refined(m, pi, lambda b: b * np.nan) == (None, np.inf)
