"""PBVI and Perseus, the planner that they yield, and upper bounds."""

import pickle

import numpy as np
import pytest
from known_pomdps import expectimax, hallway, random_pomdp, tiger
from numpy.random import default_rng

import bayesrl as b
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models import (
    PBVI,
    AlphaVectors,
    Perseus,
    POMDPValueIteration,
    TabularPOMDP,
    bracket,
    fast_informed_bound,
    qmdp_bound,
)
from bayesrl.models.pomdp_solvers._backups import arrays_of, successors, sweep
from bayesrl.models.pomdp_solvers.alpha_vectors import lowest
from bayesrl.models.pomdp_solvers.pbvi import expand
from bayesrl.models.pomdp_solvers.perseus import explore, stage

SHAPES = [{"S": 3, "A": 2, "Z": 2}, {"S": 4, "A": 3, "Z": 3, "ends": 1}]


def backup(pomdp, vectors, x):
    """A point backup in plain numpy: the vector, the values of all actions, and what it rests on: (w, place) pairs."""
    P, O, r = pomdp.dense()
    found, rests = [], []
    for a in range(pomdp.n_actions):
        alpha, rest = r[:, a].copy(), []
        for o in range(pomdp.n_observations):
            each = pomdp.gamma * (P[:, a] * O[:, a, o]) @ vectors.T  # (S, N)
            alpha += each[:, np.argmax(x @ each)]
            rest.append((x @ (P[:, a] * O[:, a, o]), np.argmax(x @ each)))
        found.append(np.where(pomdp.terminal, 0.0, alpha))
        rests.append(rest)
    a = int(np.argmax([x @ alpha for alpha in found]))
    return found[a], np.array([x @ alpha for alpha in found]), rests[a]


def swept(pomdp, vectors, points):
    """A sweep in plain numpy."""
    made = [backup(pomdp, vectors, x) for x in points]
    new = np.array([alpha for alpha, _, _ in made])
    stays = {
        j for _, _, rest in made for w, j in rest if (new @ w).max() < vectors[j] @ w - 1e-12 * np.abs(vectors).max()
    }
    return np.vstack([new, vectors[sorted(stays)]])


def interior(pomdp, n, seed=0):
    """Beliefs under which every observation is possible, without terminal states."""
    going = ~pomdp.terminal
    points = np.zeros((n, pomdp.n_states))
    points[:, going] = default_rng(seed).dirichlet(np.ones(going.sum()), n)
    return points


@pytest.mark.parametrize("shape", SHAPES)
def test_sweep_equals_its_transcription(shape):
    """Five sweeps from r_min / (1 - gamma), by values at the beliefs and elsewhere, and one step ahead."""
    pomdp = random_pomdp(1, **shape)
    points = interior(pomdp, 6)
    r = pomdp.mean_reward[~pomdp.terminal]
    vectors = np.where(pomdp.terminal, 0.0, min(r.min(), 0.0 if pomdp.terminal.any() else np.inf) / 0.1)[None]
    for _ in range(5):
        vectors = swept(pomdp, vectors, points)
    m = arrays_of(pomdp)
    mine, actions = lowest(pomdp, "test")[None], np.zeros(1, np.int64)
    for _ in range(5):
        mine, actions, v = sweep(m, points, successors(m, points), mine, actions)
    np.testing.assert_allclose(mine, vectors, atol=1e-12)
    np.testing.assert_allclose(v, (points @ vectors.T).max(axis=1), atol=1e-12)
    solution = AlphaVectors(pomdp, mine, actions)
    for x in interior(pomdp, 4, seed=1):
        np.testing.assert_allclose(solution.q(x), backup(pomdp, vectors, x)[1], atol=1e-12)
        assert solution.value(x) == pytest.approx((vectors @ x).max(), abs=1e-12)
        assert solution.action(x) == actions[np.argmax(vectors @ x)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_stage_equals_its_transcription(shape):
    """Five stages of Perseus in plain numpy, with the same permutations."""
    pomdp = random_pomdp(1, **shape)
    points, rng = interior(pomdp, 8), default_rng(0)
    m = arrays_of(pomdp)
    mine = theirs = lowest(pomdp, "test")[None]
    actions, w = np.zeros(1, np.int64), successors(m, points)
    for _ in range(5):
        order = rng.permutation(8)
        mine, actions, v = stage(m, points, w, mine, actions, order)
        old, new = points @ theirs.T, []
        for i in order:
            if not new or (np.array(new) @ points[i]).max() < old[i].max():
                alpha = backup(pomdp, theirs, points[i])[0]
                new.append(alpha if alpha @ points[i] >= old[i].max() else theirs[np.argmax(old[i])])
        theirs = np.array(new)
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
        np.testing.assert_allclose(v, (points @ theirs.T).max(axis=1), atol=1e-12)
        assert (v >= old.max(axis=1) - 1e-12).all()


def test_a_stage_backs_up_no_belief_that_has_its_old_value():
    """A hidden state that stays, and a better action: (2, -1, .5) is the fixed point, in numbers without rounding.

    The first backup gives all beliefs their old values, so that a stage makes no other one.
    """
    O = np.array([[[0.75, 0.25]] * 2, [[0.5, 0.5]] * 2, [[0.25, 0.75]] * 2])
    r = [[1.0, -1.0], [-0.5, -2.0], [0.25, 0.0]]
    pomdp = TabularPOMDP.from_dense(np.repeat(np.eye(3)[:, None], 2, axis=1), O, r, 0.5)
    points = np.array([[0.25, 0.5, 0.25], [0.5, 0.125, 0.375], [0.125, 0.125, 0.75], [1.0, 0.0, 0.0]])
    m, fixed = arrays_of(pomdp), np.array([[2.0, -1.0, 0.5]])
    for seed in range(3):
        order = default_rng(seed).permutation(4)
        new, actions, v = stage(m, points, successors(m, points), fixed, np.ones(1, np.int64), order)
        np.testing.assert_array_equal(new, fixed)
        assert actions.tolist() == [0], "the action of the backup, not the old one"
        np.testing.assert_array_equal(v, points @ fixed[0])
    both, corner = np.vstack([fixed, [[-4.0, 8.0, -4.0]]]), np.array([[0.0, 1.0, 0.0]])  # a backup there gives 3.5
    order = np.zeros(1, np.int64)
    new, actions, v = stage(m, corner, successors(m, corner), both, np.array([0, 1]), order)
    assert (new.tolist(), actions.tolist(), v.tolist()) == ([[-4.0, 8.0, -4.0]], [1], [8.0]), "the best old vector"


@pytest.mark.parametrize("solver", [PBVI, Perseus])
@pytest.mark.parametrize("shape", SHAPES)
def test_below_exact_values(shape, solver):
    """Everywhere, with few beliefs and with many; with many they meet, at what can be reached from the start."""
    pomdp = random_pomdp(5, gamma=0.8, **shape)
    exact = POMDPValueIteration(tol=1e-7).solve(pomdp)
    everywhere = interior(pomdp, 300)
    gaps = []
    for size in (1, 5, 60):
        solution = solver(size=size, tol=1e-6).solve(pomdp, default_rng(size))
        assert (solution.value(everywhere) <= exact.value(everywhere) + 1e-6).all()
        gaps.append(exact.start_value - solution.start_value)
        assert solution.error_bound >= (exact.value(everywhere) - solution.value(everywhere)).max() - 1e-6
    assert gaps[0] > gaps[2] - 1e-6
    assert abs(gaps[2]) < 1e-3


@pytest.mark.parametrize("solver", [PBVI, Perseus])
@pytest.mark.parametrize("shape", SHAPES)
def test_fixed_point_on_given_beliefs(shape, solver):
    """At the end a backup at the given beliefs changes nothing."""
    pomdp = random_pomdp(2, **shape)
    points = interior(pomdp, 8)
    solution = solver(beliefs=points, tol=1e-9).solve(pomdp)
    np.testing.assert_allclose(solution.q(points).max(axis=1), solution.value(points), atol=1e-8)


@pytest.mark.parametrize("seed", [4, 11, 19])
def test_perseus_goes_on_after_an_idle_stage(seed):
    """Problems in which a stage moves no value before the fixed point is reached (found by trying forty)."""
    pomdp = random_pomdp(seed, S=4, A=3, Z=3)
    points = interior(pomdp, 8, seed)
    solution = Perseus(beliefs=points, tol=1e-9).solve(pomdp)
    assert (solution.q(points).max(axis=1) <= solution.value(points) + 1e-8).all()


FALLING = [2, 6, 52]
"""Problems in which plain sweeps over these beliefs lower a value at one of them (found by trying sixty)."""


@pytest.mark.parametrize("seed", FALLING)
def test_values_at_the_beliefs_never_fall(seed):
    """Sweep by sweep, each is the value one step ahead; a transcription that keeps no old vectors does fall."""
    pomdp = random_pomdp(seed, S=4, A=3, Z=3, gamma=0.5)
    points = np.vstack([np.eye(4), interior(pomdp, 4)])
    m = arrays_of(pomdp)
    mine, actions, v = lowest(pomdp, "test")[None], np.zeros(1, np.int64), -np.inf
    plain, least = mine, 0.0
    for _ in range(30):
        ahead = AlphaVectors(pomdp, mine, actions).q(points).max(axis=1)
        mine, actions, new = sweep(m, points, successors(m, points), mine, actions)
        assert (new >= v - 1e-12).all()
        np.testing.assert_allclose(new, ahead, atol=1e-12)
        before, plain = (points @ plain.T).max(axis=1), np.array([backup(pomdp, plain, x)[0] for x in points])
        v, least = new, min(least, ((points @ plain.T).max(axis=1) - before).min())
    assert least < -1e-4


def test_a_sweep_lowers_nothing_that_was_kept():
    """A vector that promises more than one step ahead of it gives, as Perseus may keep one: here by far."""
    pomdp = TabularPOMDP.from_dense([[[0.0, 1.0]], [[0.0, 1.0]]], np.ones((2, 1, 1)), np.zeros((2, 1)), 0.5)
    m, points = arrays_of(pomdp), np.array([[1.0, 0.0]])
    assert sweep(m, points, successors(m, points), np.array([[100.0, 0.0]]), np.array([0]))[2] == 100.0


@pytest.mark.parametrize("seed", FALLING)
def test_stages_never_fall(seed):
    pomdp = random_pomdp(seed, S=4, A=3, Z=3, gamma=0.5)
    points, rng = np.vstack([np.eye(4), interior(pomdp, 4)]), default_rng(seed)
    m = arrays_of(pomdp)
    mine, actions, v = lowest(pomdp, "test")[None], np.zeros(1, np.int64), -np.inf
    for _ in range(100):
        mine, actions, _ = stage(m, points, successors(m, points), mine, actions, rng.permutation(8))
        new = (points @ mine.T).max(axis=1)
        assert (new >= v - 1e-12).all()
        v = new


def test_the_first_vector_is_a_lower_bound():
    """At every corner, also where rewards are positive and episodes end, or all are negative."""
    for shift, ends in ((3.0, 1), (-3.0, 1), (3.0, 0), (-3.0, 0)):
        wild = random_pomdp(7, S=3, ends=ends)
        pomdp = TabularPOMDP.from_dense(*wild.dense()[:2], wild.mean_reward + shift, 0.9, terminal=[2] if ends else [])
        first = lowest(pomdp, "test")
        assert (first <= POMDPValueIteration(tol=1e-3).solve(pomdp).value(np.eye(3)) + 1e-9).all()
        assert (backup(pomdp, first[None], pomdp.start)[0] >= first - 1e-12).all()


def test_the_farthest_successor_is_added():
    """A dull ear, a sharp one, and an action that tells nothing."""
    O = [[[0.6, 0.4], [0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9], [0.5, 0.5]]]
    P = np.repeat(np.eye(2)[:, None], 3, axis=1)
    m = arrays_of(TabularPOMDP.from_dense(P, O, np.zeros((2, 3)), 0.9))
    for seed in range(5):
        points = expand(m, np.array([[0.5, 0.5]]), 9, default_rng(seed))
        np.testing.assert_allclose(points[0], [0.5, 0.5])
        np.testing.assert_allclose(np.sort(points[1]), [0.1, 0.9])
        assert len(points) == 2
    for seed in range(20):  # no two are the same, and one that has room is the farthest of two
        points = np.array([[0.5, 0.5], [0.5 + 1e-7, 0.5 - 1e-7]])
        more = expand(m, points, 9, default_rng(seed))
        assert np.abs(more[:, None] - more).sum(axis=2)[np.triu_indices(len(more), 1)].min() > 1e-9
        one = expand(m, np.array([[0.9, 0.1], [0.5, 0.5]]), 3, default_rng(seed))
        assert len(one) == 3
    exact = np.array([[0.5, 0.5], [0.5, 0.5]])  # equal beliefs have equal successors
    assert max(len(expand(m, exact, 9, default_rng(seed))) for seed in range(20)) == 4
    assert min(len(expand(m, exact, 9, default_rng(seed))) for seed in range(20)) == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_are_above_what_any_history_earns(shape):
    """QMDP and the fast informed bound, against expectimax of five decisions and what comes after at least."""
    pomdp = random_pomdp(4, gamma=0.5, **shape)
    loose, tight = qmdp_bound(pomdp), fast_informed_bound(pomdp)
    assert loose.shape == tight.shape == (pomdp.n_actions, pomdp.n_states)
    assert (tight <= loose + 1e-12).all()
    assert (tight < loose - 1e-3).any()
    worst = min(pomdp.mean_reward.min(), 0.0) / (1.0 - pomdp.gamma)
    for x in interior(pomdp, 3):
        q = expectimax(pomdp, x, 5) + pomdp.gamma**5 * worst
        assert (tight @ x >= q).all()
    P, O, r = pomdp.dense()
    again = r.T + pomdp.gamma * np.einsum("saoc->as", np.einsum("say,yao,cy->saoc", P, O, tight).max(axis=3)[..., None])
    np.testing.assert_allclose(np.where(pomdp.terminal, 0.0, again), tight, atol=1e-6)


def test_tiger_by_points():
    """Values of the fact sheet, from below; the bracket of them."""
    solution = PBVI(size=40, tol=1e-6).solve(tiger())
    assert 19.371368 - 1e-4 < solution.value([0.5, 0.5]) <= 19.371368 + 1e-6
    low, high = bracket(tiger(), size=20)
    assert low <= 19.371368 <= high
    assert PBVI(size=30, tol=1e-7).solve(tiger(episodic=True)).start_value == pytest.approx(3.770189, abs=1e-5)
    assert PBVI(size=30, tol=1e-7).solve(tiger(episodic=True, gamma=1.0)).start_value == pytest.approx(
        5.159919, abs=1e-5
    )


def test_explored_beliefs():
    """They are distinct, begin with the start, and hold no terminal state."""
    pomdp = random_pomdp(0, S=4, A=3, Z=3, ends=1)
    points = explore(arrays_of(pomdp), np.array(pomdp.start), 30, default_rng(0))
    assert points.shape == (30, 4)
    np.testing.assert_array_equal(points[0], pomdp.start)
    np.testing.assert_allclose(points.sum(axis=1), 1.0)
    assert not points[:, pomdp.terminal].any()
    assert len({x.round(9).tobytes() for x in points}) == 30
    assert len(explore(arrays_of(tiger(0.5)), np.array([0.5, 0.5]), 30, default_rng(0))) == 1  # nothing is ever learned


def test_hallway_is_lower_with_few_beliefs():
    low, high = bracket(hallway(), size=20, tol=0.01)
    assert 0.4 < low <= 0.9887
    assert high >= 0.9887


def test_a_solution_is_kept_and_pickled():
    solution = PBVI(size=10).solve(tiger())
    again = pickle.loads(pickle.dumps(solution))
    assert again == solution
    np.testing.assert_array_equal(again.q([0.3, 0.7]), solution.q([0.3, 0.7]))
    np.testing.assert_array_equal(solution.q([[0.3, 0.7], [0.5, 0.5]])[0], solution.q([0.3, 0.7]))
    assert solution.error_bound > 0.0
    assert not solution.vectors.flags.writeable


def scaled(unit, gamma=0.95):
    P, O, r = tiger().dense()
    return b.TabularPOMDP.from_dense(P, O, unit * r, gamma, tiger().start)


@pytest.mark.parametrize("solver", [PBVI, Perseus, POMDPValueIteration])
def test_values_that_no_number_holds_are_refused(solver):
    """Rewards that may add up beyond 1e300 are refused, whatever their sign; below, there is only rounding."""
    says = r"'problem' must be one whose values are at most 1e\+300, got 'rewards up to"
    for unit, gamma in ((1e305, 0.95), (-1e305, 0.95), (6e296, 0.95), (1e290, 1.0 - 1e-15)):
        with pytest.raises(InvalidArgument, match=says):
            solver().solve(scaled(unit, gamma))
    with pytest.raises(NotConverged):
        solver(sweeps=2, tol=1e100).solve(scaled(4e296))
    if solver is POMDPValueIteration:
        with pytest.raises(InvalidArgument, match=says):
            solver(horizon=3).solve(scaled(4e297))
        found, plain = solver(horizon=3).solve(scaled(3e297)), solver(horizon=3).solve(tiger(gamma=0.95))
        assert found.start_value / 3e297 == pytest.approx(plain.start_value, rel=1e-9)


def test_solve_has_a_budget():
    """`sweeps` is that of each method; the error carries the best solution, its error and the budget."""
    for method, most in (("pbvi", 2), ("perseus", 2), ("pomdp-value-iteration", 1), ("auto", 1)):
        with pytest.raises(NotConverged, match=f"not converged after {most} s") as error:
            b.solve(tiger(), method=method, sweeps=most)
        best = error.value.best
        assert best.iterations == most
        assert best.start_value <= b.solve(tiger()).start_value
        assert error.value.residual > 1e-3
    with pytest.raises(InvalidArgument, match="'sweeps' must be None for an MDP"):
        b.solve(b.make_world("chain"), sweeps=3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: PBVI(beliefs=[[0.5, 0.6]]).solve(tiger()), "'beliefs' must be rows that sum to 1"),
        (lambda: PBVI(beliefs=[[1.5, -0.5]]).solve(tiger()), "'beliefs' must be at least 0"),
        (lambda: PBVI(beliefs=[[1.0, 0.0, 0.0]]).solve(tiger()), "'beliefs' must be an array of shape"),
        (lambda: PBVI(beliefs=[[np.nan, 1.0]]).solve(tiger()), "'beliefs' must be finite"),
        (lambda: PBVI(size=0), "'size' must be a whole number of at least 1"),
        (lambda: PBVI(tol=0.0), "'tol' must be greater than 0"),
        (lambda: PBVI().solve(b.make_world("chain")), "'problem' must be a TabularPOMDP"),
        (lambda: PBVI().solve(tiger(gamma=1.0)), "'problem' must be one that ends, or whose discount is below 1"),
        (lambda: Perseus(beliefs=[[0.5, 0.6]]).solve(tiger()), "'beliefs' must be rows that sum to 1"),
        (lambda: Perseus(size=0), "'size' must be a whole number of at least 1"),
        (lambda: Perseus().solve(tiger(gamma=1.0)), "'problem' must be one that ends, or whose discount is below 1"),
        (lambda: qmdp_bound(3), "'problem' must be a TabularPOMDP"),
        (lambda: bracket(tiger(), size=0), "'size' must be a whole number of at least 1"),
        (lambda: fast_informed_bound(tiger(), tol=-1.0), "'tol' must be greater than 0"),
        (lambda: PBVI(size=2).solve(tiger()).value([0.5, 0.6]), "'states' must be rows that sum to 1"),
        (lambda: PBVI(size=2).solve(tiger()).q([1.0]), "'states' must be an array of shape"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(InvalidArgument) as error:
        call()
    assert says in str(error.value)
