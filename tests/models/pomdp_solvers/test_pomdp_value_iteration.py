"""Exact alpha-vectors: against expectimax over histories, the fact sheet, and themselves."""

import numpy as np
import pytest
from known_pomdps import expectimax, hallway, line, random_pomdp, shuttle, tiger
from numpy.random import default_rng

import bayesrl as b
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models import POMDPValueIteration
from bayesrl.models.pomdp_solvers import _pruning
from bayesrl.models.pomdp_solvers._pruning import by_highs, largest_excess, prune, solve_game
from bayesrl.models.pomdp_solvers.pomdp_value_iteration import evaluated, live_of


def beliefs(S, n, seed=0):
    """Corners, edges and points inside."""
    return np.vstack([np.eye(S), default_rng(seed).dirichlet(np.full(S, 0.5), n)])


# Values --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "horizon"),
    [
        ({"S": 2, "A": 3, "Z": 2}, 5),
        ({"S": 3, "A": 2, "Z": 2}, 5),
        ({"S": 3, "A": 2, "Z": 2, "ends": 1}, 5),
        ({"S": 4, "A": 2, "Z": 3, "ends": 1, "gamma": 1.0}, 4),
        ({"S": 5, "A": 3, "Z": 2, "gamma": 0.0}, 2),
        ({"S": 1, "A": 3, "Z": 2}, 3),
    ],
)
def test_equal_to_expectimax(shape, horizon):
    """Values and action values at corners, edges and inside, for every horizon up to this one."""
    for seed in range(2):
        pomdp = random_pomdp(seed, **shape)
        points = beliefs(pomdp.n_states, 4, seed)
        for h in range(1, horizon + 1):
            solution = POMDPValueIteration(horizon=h).solve(pomdp)
            exact = np.array([expectimax(pomdp, x, h) for x in points])
            np.testing.assert_allclose(solution.value(points), exact.max(axis=1), atol=1e-8)
            assert solution.error_bound < 1e-8
            np.testing.assert_allclose(solution.q(points), exact, atol=1e-8)
            acted = exact[np.arange(len(points)), [solution.action(x) for x in points]]  # it begins with a best action
            np.testing.assert_allclose(acted, exact.max(axis=1), atol=1e-8)


def test_tiger():
    """The fact sheet: finite and endless horizons, and every accuracy."""
    finite = {1: -1.0, 2: -1.95, 3: 2.3098, 4: 1.795544, 5: 2.763096, 6: 4.428531, 10: 6.693368, 20: 11.879569}
    for h, value in finite.items():
        assert POMDPValueIteration(horizon=h).solve(tiger()).start_value == pytest.approx(value, abs=5e-7)
    for h, value in {1: -1.0, 2: -1.75, 3: 0.905, 4: 0.483125}.items():
        assert POMDPValueIteration(horizon=h).solve(tiger(gamma=0.75)).start_value == pytest.approx(value, abs=5e-7)
    endless = {0.75: -0.495903, 0.8: 8.966838, 0.85: 19.371368, 0.9: 33.142507, 0.95: 43.151066}
    for accuracy, value in endless.items():
        solution = POMDPValueIteration(tol=1e-7).solve(tiger(accuracy))
        assert solution.start_value == pytest.approx(value, abs=7e-7)
        assert solution.error_bound <= 1e-7
    assert POMDPValueIteration().solve(tiger(gamma=0.75)).start_value == pytest.approx(1.933439, abs=2e-6)
    assert POMDPValueIteration().solve(tiger(episodic=True)).start_value == pytest.approx(3.770189, abs=2e-6)
    ending = POMDPValueIteration().solve(tiger(episodic=True, gamma=1.0))
    assert ending.start_value == pytest.approx(5.159919, abs=2e-6)
    assert ending.error_bound <= 1e-6


def test_discounts_near_one():
    """A controller for the witnesses is evaluated by a linear system; sweeps alone need 1 / (1 - gamma) of them.

    The bound is at most a millionth of the largest entry; what `NotConverged` carries is not worse than it says.
    """
    gained = []
    for gamma in (0.999, 0.99999):
        solution = POMDPValueIteration().solve(tiger(gamma=gamma))
        assert solution.iterations < 20
        assert solution.error_bound <= 1e-6 * np.abs(solution.vectors).max()
        gained.append((1.0 - gamma) * solution.start_value)
    assert gained == pytest.approx([1.081511, 1.083766], abs=2e-6)
    with pytest.raises(NotConverged) as caught:  # rounding leaves more
        POMDPValueIteration().solve(tiger(gamma=0.999999))
    assert caught.value.best.error_bound < 20.0
    assert 1e-6 * caught.value.best.start_value == pytest.approx(1.083786, abs=2e-5)


def test_controllers_are_evaluated():
    """The values of a controller solve its equations up to rounding."""
    pomdp = tiger(gamma=0.99999)
    p = live_of(pomdp, 100, 10**6)
    chosen, after = np.array([0, 1, 2]), np.array([[1, 2], [0, 0], [0, 1]])
    alpha = evaluated(p, chosen, after)
    backup = [
        p.r[a] + p.gamma * sum(p.P[a] @ (p.seen[a, o] * alpha[j]) for o, j in enumerate(after[i]))
        for i, a in enumerate(chosen)
    ]
    np.testing.assert_allclose(alpha, backup, rtol=1e-14)


def test_tiger_thresholds():
    """Listen between the published beliefs, open outside; so say the vectors' own actions too."""
    for horizon in (1, 3, None):
        solution = POMDPValueIteration(horizon=horizon).solve(tiger())
        assert [solution.action(x) for x in ([1.0, 0.0], [0.5, 0.5], [0.0, 1.0])] == [2, 0, 1]
    for gamma, threshold in ((0.95, 0.960346), (0.75, 0.947386)):
        solution = POMDPValueIteration(tol=1e-7).solve(tiger(gamma=gamma))
        assert int(np.argmax(solution.q([threshold - 2e-6, 1.0 - threshold + 2e-6]))) == 0
        assert int(np.argmax(solution.q([threshold + 2e-6, 1.0 - threshold - 2e-6]))) == 2


def test_other_problems():
    """Values of the fact sheet: a line of four states, and the shuttle (to the accuracy that takes a second)."""
    assert POMDPValueIteration().solve(line()).start_value == pytest.approx(1.26034, abs=6e-6)
    solution = POMDPValueIteration(tol=0.2).solve(shuttle())
    assert solution.start_value <= 32.8897 + 5e-5
    assert solution.start_value >= 32.8897 - solution.error_bound


@pytest.mark.parametrize("seed", range(3))
def test_the_error_bound_is_true(seed):
    """Loose solutions against one that is a thousand times more accurate, at the worst of many beliefs."""
    pomdp = random_pomdp(seed, S=3, A=3, Z=2, gamma=0.8, ends=seed % 2)
    fine = POMDPValueIteration(tol=1e-6).solve(pomdp)
    points = beliefs(3, 200)
    for tol in (1.0, 0.1, 1e-3):
        loose = POMDPValueIteration(tol=tol).solve(pomdp)
        assert loose.error_bound <= tol
        gap = fine.value(points) - loose.value(points)
        assert (gap >= -1e-6).all()
        assert gap.max() <= loose.error_bound + 1e-6


# Parsimony -----------------------------------------------------------------------------------------------------------


def test_parsimonious():
    """The tiger's published numbers; and in random problems every vector is best somewhere, by a linear program."""
    counts = [len(POMDPValueIteration(horizon=h).solve(tiger()).vectors) for h in range(1, 7)]
    assert counts == [3, 5, 9, 7, 13, 15]
    for seed in range(3):
        vectors = POMDPValueIteration(horizon=4).solve(random_pomdp(seed, S=3, A=3, Z=2)).vectors
        for i in range(len(vectors)):
            others = np.delete(vectors, i, axis=0)
            if len(others):
                assert by_highs(vectors[i] - others)[0] > 1e-12


@pytest.mark.parametrize("S", [2, 3, 5])
def test_pruning_loses_nothing(S):
    """Random sets with repeated, dominated and nearly equal vectors: the same upper envelope, each vector needed."""
    for seed in range(5):
        rng = default_rng(seed)
        full = rng.normal(size=(30, S))
        full = np.vstack([full, full[:4], full[4:8] - 0.1, full[8:12] + 1e-15, 0.5 * (full[:3] + full[3:6])])
        full = full[rng.permutation(len(full))]
        kept, witness = prune(full, np.zeros((0, S)), 1e-10)
        points = beliefs(S, 2000, seed)
        np.testing.assert_allclose((points @ full[kept].T).max(axis=1), (points @ full.T).max(axis=1), atol=1e-9)
        for i, x in enumerate(witness):
            assert x @ full[kept[i]] >= (full @ x).max() - 1e-9
            assert len(kept) == 1 or by_highs(full[kept[i]] - full[np.delete(kept, i)])[0] > 0.0


def test_a_tie_at_a_witness_keeps_nothing_superfluous():
    """The first vector is the mean of the next two, but for rounding, and ties with them where it is asked for."""
    between = [[1.0 + 1e-15, 1.0, 1.0], [1.0, 1.2, 0.8], [1.0, 0.8, 1.2]]
    vectors = np.vstack([between, 6.0 * np.eye(3) - 3.0])
    np.testing.assert_array_equal(prune(vectors, np.zeros((0, 3)), 1e-10)[0], [1, 2, 3, 4, 5])


def test_games():
    """The compiled simplex method against HiGHS: certificates of both kinds, on random, rounded and repeated rows."""
    rng = default_rng(0)
    for _ in range(60):
        n, S = rng.integers(1, 30), rng.integers(1, 9)
        M = rng.normal(size=(n, S)) * 10.0 ** rng.uniform(-3, 3)
        M = M.round(1) if rng.random() < 0.3 else M
        M[rng.integers(n)] = M[0]
        low, high, x, y = solve_game(M)
        scale = 1e-12 + np.abs(M).max()
        assert high - low < 1e-12 * scale
        assert by_highs(M)[0] - 1e-8 * scale <= high
        assert low <= by_highs(M)[1] + 1e-8 * scale
        assert x.sum() == pytest.approx(1.0)
        assert y.sum() == pytest.approx(1.0)
        assert min(x.min(), y.min()) >= 0.0


def test_highs_takes_over(monkeypatch):
    """If the compiled programs were useless, the result would be the same."""
    vectors = default_rng(1).normal(size=(20, 3))
    right = prune(vectors, np.zeros((0, 3)), 1e-10)[0]

    def undecided(vectors, guesses, slack, left):
        state, witness = np.zeros(len(vectors), np.int64), np.zeros(vectors.shape)
        state[np.argmax(vectors[:, 0])] = _pruning.IN
        return state, witness

    monkeypatch.setattr(_pruning, "lark", undecided)
    kept = prune(vectors, np.zeros((0, 3)), 1e-10)[0]
    assert set(right) <= set(kept)
    assert largest_excess(vectors[kept], vectors[right]) < 1e-9


# Limits and bad input ------------------------------------------------------------------------------------------------


def test_too_many_vectors():
    """The best so far is a solution with a true bound."""
    with pytest.raises(NotConverged) as error:
        POMDPValueIteration(horizon=6, limit=6).solve(tiger())
    exact = POMDPValueIteration(horizon=6).solve(tiger())
    assert abs(error.value.best.start_value - exact.start_value) <= error.value.residual
    n, (P, O, r) = error.value.best.iterations, tiger().dense()
    missing = sum(tiger().gamma ** i for i in range(n, 6))  # each decision that is left may pay the largest reward
    for unit in (1.0, 2.0**-10, 2.0**10):
        small = b.TabularPOMDP.from_dense(P, O, unit * r, tiger().gamma, tiger().start)
        with pytest.raises(NotConverged, match=f"{n} of 6 decisions") as error:
            POMDPValueIteration(horizon=6, limit=6).solve(small)
        assert error.value.residual == pytest.approx(unit * np.abs(r).max() * missing, rel=1e-6)
    with pytest.raises(NotConverged, match="after 2 sweeps"):
        POMDPValueIteration(sweeps=2).solve(tiger())
    with pytest.raises(NotConverged) as error:
        POMDPValueIteration(limit=300).solve(hallway())
    best = error.value.best
    assert best.start_value <= 0.9887
    assert best.error_bound == error.value.residual >= 0.9887 - best.start_value
    assert "more than 300" in str(error.value)


def test_errors_that_rounding_leaves():
    """A tolerance below rounding is met as well as rounding allows, or refused: at 1 - 1e-6 it is as large as V."""
    P, O, r = tiger().dense()
    near, nearer = (b.TabularPOMDP.from_dense(P, O, r, gamma, tiger().start) for gamma in (0.999, 1.0 - 1e-6))
    solved = POMDPValueIteration().solve(near)
    assert 1e-6 < solved.error_bound < 1e-6 * solved.start_value
    assert solved.iterations < 10
    with pytest.raises(NotConverged, match="and 20000 over witnesses") as error:
        POMDPValueIteration(sweeps=1).solve(nearer)
    assert error.value.residual == error.value.best.error_bound > 1.0


@pytest.mark.parametrize("unit", [1e-300, 1e-100, 1e100])
def test_units_of_reward_change_nothing(unit):
    """Sets of vectors are those of the problem in other units; with tiny rewards the filter did not end."""
    pomdp = random_pomdp(3, S=4)
    P, O, r = pomdp.dense()
    small = b.TabularPOMDP.from_dense(P, O, unit * r, pomdp.gamma, pomdp.start)
    plain, other = (POMDPValueIteration(horizon=3).solve(one) for one in (pomdp, small))
    points = default_rng(0).dirichlet(np.ones(4), 50)
    np.testing.assert_allclose(other.value(points) / unit, plain.value(points), rtol=1e-9)


def test_too_many_linear_programs():
    """The best so far is a solution with a true bound. The shuttle takes 2.5 billion entries to converge.

    Follow, with 50 states, is given up before the number of its vectors would end it.
    """
    ahead = POMDPValueIteration(horizon=7).solve(shuttle()).start_value
    for settings, value in (({}, 32.8897), ({"horizon": 7}, ahead)):
        with pytest.raises(NotConverged, match="linear programs that change more entries than are allowed") as error:
            POMDPValueIteration(entries=10_000_000, **settings).solve(shuttle())
        best = error.value.best
        assert best.iterations > 3
        assert best.error_bound == error.value.residual < 100.0
        assert value - error.value.residual <= best.start_value <= value + 5e-5
    with pytest.raises(NotConverged, match="linear programs that change more"):
        POMDPValueIteration(entries=30_000_000, limit=10**6).solve(b.make_world("follow"))


def test_programs_are_counted():
    """Three vectors are best in corners; the fourth takes one program. Two states take an envelope, and no program.

    The table of a program with 3 vectors and 3 states is 4 x 7; it is filled, and changed by each of three pivots.
    """
    left = np.array([1000])
    assert len(prune(np.vstack([np.eye(3), np.full((1, 3), 0.5)]), np.zeros((0, 3)), 1e-10, left)[0]) == 4
    assert left[0] == 1000 - 4 * 28
    prune(np.vstack([np.eye(2), np.full((1, 2), 0.6)]), np.zeros((0, 2)), 1e-10, left)
    assert left[0] == 1000 - 4 * 28


def test_a_prior_about_too_large_a_pomdp_is_refused():
    """Pairs of a live state and an action count, whatever the horizon is; `solve` takes any POMDP."""
    for world in ("tiger", "tiger-episodic"):
        assert b.agent("pomdp-value-iteration", world, pairs=6, horizon=2).planner.iterations == 2
        for settings in ({}, {"horizon": 2}):
            with pytest.raises(InvalidArgument, match=r"at most 5 pairs of a state and an action, got 6\. .*'pairs'"):
                b.agent("pomdp-value-iteration", world, pairs=5, **settings)
        assert POMDPValueIteration(horizon=1, pairs=5).solve(b.make_world(world)).iterations == 1
    with pytest.raises(InvalidArgument, match="at most 30 pairs of a state and an action, got 2304"):
        b.agent("pomdp-value-iteration", "rock-sample")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: POMDPValueIteration(horizon=0), "'horizon' must be a whole number of at least 1"),
        (lambda: POMDPValueIteration(horizon=1.5), "'horizon' must be"),
        (lambda: POMDPValueIteration(tol=0.0), "'tol' must be greater than 0"),
        (lambda: POMDPValueIteration(tol=np.nan), "'tol' must be"),
        (lambda: POMDPValueIteration(limit=0), "'limit' must be a whole number of at least 1"),
        (lambda: POMDPValueIteration(entries=0), "'entries' must be a whole number of at least 1"),
        (lambda: POMDPValueIteration().solve(None), "'problem' must be a TabularPOMDP"),
        (lambda: POMDPValueIteration().solve(b.make_world("chain").mdp), "'problem' must be a TabularPOMDP"),
        (lambda: POMDPValueIteration().solve(b.make_world("bernoulli")), "draw a world from it first"),
        (lambda: POMDPValueIteration().solve(tiger(gamma=1.0)), "must be one that ends, or whose discount is below 1"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(InvalidArgument) as error:
        call()
    assert says in str(error.value)
