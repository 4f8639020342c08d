"""Gittins indices against published-style tables, independent computations and exact optima."""

import itertools
import math
import sys

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import special

from bayesrl import BayesAgent, run
from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_value, greedy, policy_value
from bayesrl.bandits.gittins import (
    Gittins,
    _horizon,
    gittins_bounds,
    gittins_index,
    gittins_index_normal,
    gittins_index_process,
)
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.poisson_arm import PoissonArm
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.dynamic_programming.gittins_roots import calibrate
from bayesrl.kernels.dynamic_programming.retirement import LANES, Lattice, advantage
from bayesrl.registry import make_world
from bayesrl.testing import check_planner

# Computed independently of this project: rows beta = 1..5, columns alpha = 1..5.
TABLES = {
    0.5: [
        [0.55902, 0.70597, 0.77723, 0.81991, 0.84852],
        [0.37582, 0.53587, 0.62890, 0.68990, 0.73330],
        [0.28022, 0.42976, 0.52577, 0.59373, 0.64414],
        [0.22229, 0.35771, 0.45115, 0.52010, 0.57361],
        [0.18369, 0.30583, 0.39468, 0.46259, 0.51648],
    ],
    0.7: [
        [0.60460, 0.73580, 0.79846, 0.83595, 0.86116],
        [0.41182, 0.56500, 0.65203, 0.70876, 0.74892],
        [0.30751, 0.45459, 0.54718, 0.61210, 0.65990],
        [0.24340, 0.37885, 0.47005, 0.53703, 0.58873],
        [0.20045, 0.32370, 0.41158, 0.47786, 0.53048],
    ],
    0.9: [
        [0.70289, 0.80006, 0.84520, 0.87225, 0.89054],
        [0.50013, 0.63463, 0.70717, 0.75392, 0.78691],
        [0.37963, 0.51632, 0.60100, 0.65789, 0.69964],
        [0.30210, 0.43416, 0.51841, 0.58095, 0.62764],
        [0.24880, 0.37204, 0.45614, 0.51793, 0.56763],
    ],
}
STATES = np.array([(a, n - a) for n in range(2, 62) for a in range(1, n)])  # 1830 of them


@pytest.mark.parametrize("gamma", TABLES)
def test_bernoulli_table(gamma):
    n = np.arange(1, 6)
    np.testing.assert_allclose(gittins_index(n, n[:, None], gamma), TABLES[gamma], atol=1e-5)


def retirement_index(a, b, gamma, plays):
    """The index by bisection on the retirement value of a whole triangle of posteriors, in plain array code."""

    def worth_playing(lam):
        row = np.arange(plays + 1)
        V = np.maximum((a + row) / (a + b + plays), lam) / (1.0 - gamma)
        for k in range(plays - 1, -1, -1):
            p = (a + np.arange(k + 1)) / (a + b + k)
            play = p + gamma * (p * V[1 : k + 2] + (1.0 - p) * V[: k + 1])
            V = np.maximum(play, lam / (1.0 - gamma))
        return play[0] > lam / (1.0 - gamma)

    low, high = a / (a + b), 1.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if worth_playing(middle) else (low, middle)
    return low


@pytest.mark.parametrize(
    "a, b, gamma, plays",
    [
        (1, 1, 0.5, 60),
        (3, 7, 0.9, 220),
        (0.3, 0.8, 0.9, 220),
        (0.2, 0.3, 0.9, 220),
        (300, 0.4, 0.9, 220),
        (40, 2, 0.95, 400),
        (1, 1, 0.99, 1100),
        (5, 30, 0.99, 1100),
    ],
)
def test_against_an_independent_retirement_computation(a, b, gamma, plays):
    assert gittins_index(a, b, gamma) == pytest.approx(retirement_index(a, b, gamma, plays), abs=1e-6)


@pytest.mark.parametrize("gamma", [0.2, 0.5, 0.9, 0.99])
def test_bounds_hold_the_index_and_are_tight(gamma):
    alpha, beta = STATES.T
    lower, upper = gittins_bounds(alpha, beta, gamma)
    index = gittins_index(alpha, beta, gamma)
    assert (lower <= index).all()
    assert (index <= upper).all()
    assert (upper - lower).max() < 5e-7
    # The bounds are of the infinite problem: a longer horizon stays between them.
    for s in (5, 1829):
        a, b = STATES[s]
        plays = math.ceil(math.log(1e-5) / math.log(gamma))
        assert lower[s] - 2e-9 <= retirement_index(a, b, gamma, plays) <= upper[s]


@pytest.mark.parametrize(
    "a, b, gamma, plays", [(1, 1, 0.5, 60), (3, 7, 0.8, 130), (0.3, 0.8, 0.8, 130), (40, 2, 0.6, 80)]
)
def test_bounds_of_single_states(a, b, gamma, plays):
    lower, upper = gittins_bounds(a, b, gamma)
    assert lower - 2e-9 <= retirement_index(a, b, gamma, plays) <= upper < lower + 5e-7


def test_states_do_not_disturb_each_other():
    rng = default_rng(3)
    a, b = rng.integers(1, 300, 40) + rng.choice([0.0, 0.3, 0.5], 40), rng.integers(1, 300, 40) * 1.0
    gamma = rng.choice([0.0, 0.6, 0.9], 40)
    together = gittins_index(a.reshape(8, 5), b.reshape(8, 5), gamma.reshape(8, 5))
    alone = [gittins_index(*state) for state in zip(a, b, gamma, strict=True)]
    np.testing.assert_allclose(together.ravel(), alone, atol=3e-7)
    np.testing.assert_array_equal(together.ravel()[gamma == 0.0], (a / (a + b))[gamma == 0.0])


def whole_lattice(lam, t, r, lattice):
    """C of the states for each income by the recursion on all posteriors, without a band or anything skipped."""
    a0, b0, gamma, rows, tail, _, _ = lattice
    C = np.empty((len(r), len(lam)))
    for l, x in enumerate(lam):
        G, Y = tail, np.maximum(0.0, (x - (a0 + np.arange(rows + 1)) / (a0 + b0 + rows)) * tail)
        for row in range(rows - 1, -1, -1):
            p = (a0 + np.arange(row + 1)) / (a0 + b0 + row)
            play, G = gamma * (p * Y[1:] + (1.0 - p) * Y[:-1]), 1.0 + gamma * G
            here = r == row
            C[here, l] = (p[t[here]] - x) * G + play[t[here]]
            Y = np.maximum((x - p) * G, play)
    return C


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("gamma, tail", [(0.5, 2.0), (0.97, 1 / 0.03), (0.97, 0.0), (1.0, 0.0)])
def test_the_kernel_against_the_whole_lattice(gamma, tail, wide):
    """No more is missing than the kernel says, whatever the prior, the incomes and the states asked for."""
    rng = default_rng(5)
    for a0, b0 in ((1.0, 1.0), (0.3, 0.5), (0.3, 7.25), (0.01, 200.0), (3000.0, 0.3)):
        r = np.sort(rng.integers(0, 40, 7))[::-1].copy()
        t = rng.integers(0, r + 1)
        middle = a0 / (a0 + b0)
        lam = np.sort(rng.random(LANES)) if wide else np.clip(middle + 0.02 * rng.random(LANES), 1e-9, 1.0)
        lattice = Lattice(a0, b0, gamma, int(r[0]) + 120, tail, False, 1e-8)
        C = np.empty((len(r), LANES))
        advantage(lam, t, r, lattice, C)
        missing = whole_lattice(lam, t, r, lattice) - C
        assert -1e-11 < missing.min()
        assert missing.max() < 1e-8


def test_many_copies_of_a_state_are_one_state():
    """Incomes tried for one are tried for all, and nearly equal incomes must not be taken for a secant."""
    t, r = np.repeat([3, 1, 0, 2, 1, 0], 9), np.repeat([4, 4, 2, 2, 1, 1], 9)
    lattice = Lattice(1.0, 200.0, 0.99, 34, 0.0, False, 1e-8)
    together = np.array(calibrate(t, r, lattice, 2e-8))
    alone = np.hstack([np.array(calibrate(t[i : i + 1], r[i : i + 1], lattice, 2e-8)) for i in range(len(t))])
    np.testing.assert_allclose(together, alone, atol=4e-8)


# Gaussian arms -------------------------------------------------------------------------------------------------------


def walk_index(n, gamma, plays, step, spread, low=-2.0, high=3.0):
    """The index of N(0, 1/n) with the Gaussian steps replaced by steps on a grid, a convex function of them being
    interpolated: an upper bound, and a lower one if the Gaussian's variance is reduced by (2 pi / 16) step^2, since a
    two-point step of mean 0 and width `step` is smaller in convex order than N(0, (2 pi / 16) step^2)."""
    x = np.arange(low, high, step)
    G = 1.0 / (1.0 - gamma)
    U = np.maximum(x, 0.0) * G
    for k in range(plays - 1, -1, -1):
        s = math.sqrt(1.0 / ((n + k) * (n + k + 1)) - spread * step**2)
        reach = math.ceil(8.0 * s / step)
        z = np.arange(-reach - 1, reach + 2) * step / s
        loss = s * (np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - z * special.ndtr(-z))
        weight = np.diff(loss, 2) / step
        padded = np.concatenate([np.zeros(reach), U, (x[-1] + step * np.arange(1, reach + 1)) * G])
        C = x + gamma * np.convolve(padded, weight, mode="valid")
        U = np.maximum(C, 0.0)
    i = np.flatnonzero(C > 0.0)[0]
    return -(x[i] - step * C[i] / (C[i] - C[i - 1]))


def test_normal_index():
    # Recalled from the book's table, which an independent computation confirmed to four decimals.
    np.testing.assert_allclose(gittins_index_normal(0.0, 1.0, [0.5, 0.7, 0.9]), [0.2057, 0.3691, 0.7466], atol=5e-5)
    for n, gamma, plays in ((1.0, 0.5, 24), (2.5, 0.7, 40)):
        low, high = (walk_index(n, gamma, plays, 0.002, spread) for spread in (2.0 * math.pi / 16.0, 0.0))
        assert high - low < 5e-4
        # Interpolating the zero of a convex function on the grid errs by less than 1e-6.
        assert low - 1e-6 <= gittins_index_normal(0.0, n, gamma) <= high + 1e-6


@pytest.mark.parametrize("n, gamma, plays, step", [(0.05, 0.5, 24, 0.01), (0.05, 0.8, 60, 0.02), (0.3, 0.7, 40, 0.005)])
def test_normal_index_where_little_is_known(n, gamma, plays, step):
    """As above. The first step is longer than the noise, 4.4 and 1.6 standard deviations of it."""
    low, high = (walk_index(n, gamma, plays, step, spread, -9.0, 12.0) for spread in (2.0 * math.pi / 16.0, 0.0))
    assert high - low < 5e-3
    assert low - 1e-5 <= gittins_index_normal(0.0, n, gamma) <= high + 1e-5


def test_plays_to_look_ahead():
    """The least k for which what comes later is worth at most the error; it is never less than that."""
    for n, gamma, error in ((1.0, 0.5, 1e-3), (0.2, 0.8, 1e-4), (50.0, 0.9, 2e-7), (1000.0, 0.999, 2e-7)):
        k, later = np.arange(1, 40_000), gamma / (1.0 - gamma)
        missed = 0.5 * gamma**k / (1.0 - gamma) * np.sqrt(later / ((n + k) * (n + k + later)))
        least = int(k[missed <= error][0])
        found = _horizon(n, gamma, error)
        assert least <= found <= least + least // 100 + (least > 100)


def test_normal_states_do_not_disturb_each_other():
    """Chains n, n + 1, ... with different fractions and discounts are computed apart."""
    n, gamma = np.array([1.0, 1.5, 2.5, 3.0, 1.5]), np.array([0.8, 0.8, 0.8, 0.8, 0.6])
    alone = [float(gittins_index_normal(0.0, a, c)) for a, c in zip(n, gamma, strict=True)]
    np.testing.assert_allclose(gittins_index_normal(0.0, n, gamma), alone, atol=1e-7)
    far = gittins_index_normal(0.0, [1.0, 41.0], 0.5)  # more rows apart than a look-ahead has
    np.testing.assert_allclose(far, [gittins_index_normal(0.0, n, 0.5) for n in (1.0, 41.0)], atol=1e-7)


def test_normal_index_moves_with_the_mean_and_falls_with_n():
    n = np.array([0.05, 0.5, 1.0, 1.5, 2.0, 30.0, 31.5])
    v = gittins_index_normal(0.0, n, 0.9)
    assert (np.diff(v) < 0.0).all()
    np.testing.assert_allclose(gittins_index_normal(3.0, n, 0.9), 3.0 + v, atol=1e-12)
    np.testing.assert_allclose([gittins_index_normal(0.0, m, 0.9) for m in n], v, atol=3e-7)


# Finite processes ----------------------------------------------------------------------------------------------------


def random_process(S, rng):
    P = rng.dirichlet(np.full(S, 0.5), size=S)
    return P, rng.normal(size=S)


def test_process_index_is_the_best_stopping_set():
    """The supremum over stopping times is attained by playing on in a set of states: try them all."""
    P, r = random_process(6, default_rng(0))
    gamma = 0.9
    best = np.full(6, -np.inf)
    for keep in itertools.product([False, True], repeat=6):
        Q = gamma * P * np.array(keep)[None, :]  # play on in these states after the first play
        reward, time = np.linalg.solve(np.eye(6) - Q, r), np.linalg.solve(np.eye(6) - Q, np.ones(6))
        best = np.maximum(best, reward / time)
    np.testing.assert_allclose(gittins_index_process(P, r, gamma), best, atol=1e-10)


def test_process_agrees_with_bernoulli_arms():
    states = {s: i for i, s in enumerate(itertools.product(range(1, 13), repeat=2)) if sum(s) <= 24}
    P, r = np.zeros((len(states), len(states))), np.empty(len(states))
    for (a, b), i in states.items():
        p = r[i] = a / (a + b)
        P[i, states.get((a + 1, b), i)] += p
        P[i, states.get((a, b + 1), i)] += 1.0 - p
    found = gittins_index_process(P, r, 0.3)
    for a, b in ((1, 1), (2, 1), (1, 3)):
        assert found[states[a, b]] == pytest.approx(gittins_index(a, b, 0.3), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_index_policy_is_optimal_for_finite_processes(seed):
    """Two processes side by side are one MDP: its optimum is what the index policy earns, from every pair of states."""
    rng, gamma = default_rng(seed), 0.9
    (P, r), (Q, s) = random_process(5, rng), random_process(4, rng)
    x, y = gittins_index_process(P, r, gamma), gittins_index_process(Q, s, gamma)
    moves = np.kron(P, np.eye(4)), np.kron(np.eye(5), Q)
    pays = np.repeat(r, 4), np.tile(s, 5)
    V = np.zeros(20)
    for _ in range(600):
        V = np.maximum(pays[0] + gamma * moves[0] @ V, pays[1] + gamma * moves[1] @ V)
    first = (x[:, None] >= y[None, :]).ravel()
    M, pay = np.where(first[:, None], *moves), np.where(first, *pays)
    np.testing.assert_allclose(np.linalg.solve(np.eye(20) - gamma * M, pay), V, atol=1e-9)


@pytest.mark.parametrize("arms", [[(1, 1), (1, 1)], [(1, 2), (3, 3)], [(2, 1), (0.7, 0.4)]])
def test_index_policy_is_optimal_for_two_bernoulli_arms(arms):
    gamma, T = 0.6, 26
    belief = BetaBernoulli(*np.array(arms, float).T, gamma)

    def index(known):
        a, b = belief.alpha + known.seen[..., 1], belief.beta + known.seen[..., 0]
        return gittins_index(a, b, gamma)

    value = policy_value(belief, T, greedy(index))
    best = bayes_optimal_value(belief, T)
    # Over T plays the index policy may fall short by what comes later: gamma^T / (1 - gamma) = 4e-6.
    assert best - 5e-6 <= value <= best + 1e-12
    if arms != [(1, 2), (3, 3)]:  # where greed is optimal too, or nearly so
        assert policy_value(belief, T, greedy(lambda known: known.mean)) < best - 1e-4


# The planner ---------------------------------------------------------------------------------------------------------


def test_planner_plays_the_largest_index():
    rng, planner = default_rng(1), Gittins()
    for belief, naive in (
        (BetaBernoulli(np.array([0.8, 1.0, 2.0]), np.ones(3), 0.8), lambda b: gittins_index(b.alpha, b.beta, 0.8)),
        (
            NormalArm(np.array([0.1, 0.0, -0.2]), np.array([1.0, 0.4, 2.0]), 0.7, 0.8),
            lambda b: 0.7 * gittins_index_normal(b.mean_ / 0.7, b.strength, 0.8),
        ),
    ):
        memory = planner.start()
        for _ in range(12):
            action, memory, info = planner.plan(belief, 0, memory, rng)
            np.testing.assert_allclose(info["q"], naive(belief), atol=5e-7)
            assert action == info["q"].argmax()
            belief = belief.update(Transition(0, action, float(rng.random() < 0.5), 0))


def test_planner_of_normal_arms_at_a_small_discount():
    """The index in units of the noise: m + sigma v(n)."""
    belief = NormalArm(np.array([0.3, -0.2]), np.array([1.0, 2.0]), noise=0.7, gamma=0.3)
    q = Gittins().plan(belief, 0, Gittins().start(), default_rng(0)).info["q"]
    expected = belief.mean_ + 0.7 * gittins_index_normal(0.0, [1.0, 2.0], 0.3)
    np.testing.assert_allclose(q, expected, atol=1e-6)


def test_memory_of_other_arms_or_discounts_is_a_fresh_one():
    """Indices hold for one kind of arms and one discount; a belief that replaces another gets its own."""
    planner, rng = Gittins(surrogate=0.5), default_rng(0)
    beliefs = [
        BetaBernoulli(np.array([1.0, 2.0]), np.ones(2), 0.7),
        BetaBernoulli(np.array([1.0, 2.0]), np.ones(2), 0.9),
        BetaBernoulli(np.array([1.0, 2.0]), np.ones(2), 1.0),
        NormalArm(np.zeros(2), np.array([1.0, 2.0]), 0.7, 0.5),
        NormalArm(np.zeros(2), np.array([1.0, 2.0]), 0.7, 0.3),
        BetaBernoulli(np.array([1.0, 2.0, 1.0]), np.ones(3), 0.7),
    ]
    memory = planner.start()
    for belief in beliefs + beliefs[::-1]:
        action, memory, info = planner.plan(belief, 0, memory, rng)
        alone = planner.plan(belief, 0, planner.start(), rng)
        np.testing.assert_array_equal(info["q"], alone.info["q"])
        assert action == alone.action


def test_planner_in_lockstep_is_the_planner_alone():
    world = make_world("bernoulli", arms=3, gamma=0.7)
    block = run(BayesAgent(world.default_prior(), Gittins()), world, 25, lockstep=4)
    planner = Gittins()
    for i in range(4):
        belief, memory = world.default_prior(), planner.start()
        for t in range(25):
            action, memory, _ = planner.plan(belief, 0, memory, default_rng(0))
            assert action == block.action[t, i]
            belief = belief.update(Transition(0, action, block.reward[t, i], 0))


def test_planner_is_lawful_and_needs_a_belief_with_an_index():
    check_planner(Gittins(0.5), BetaBernoulli.uniform(3), 0, rng=default_rng(0))
    check_planner(Gittins(0.5), NormalArm.standard(3), 0, rng=default_rng(0))
    with pytest.raises(Incompatible, match="Gittins needs a belief with 'arm_states', which PoissonArm lacks"):
        BayesAgent(PoissonArm(np.ones(2), np.ones(2)), Gittins())


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: gittins_index(0.0, 1.0, 0.9), "gittins_index: 'alpha' must be greater than 0 everywhere, got 0.0."),
        (lambda: gittins_index(1.0, 1.0, 1.0), "gittins_index: 'gamma' must be in [0, 1), got 1.0."),
        (
            lambda: gittins_index_normal(0.0, -1.0, 0.9),
            "gittins_index_normal: 'n' must be greater than 0 everywhere, got -1.0.",
        ),
        (lambda: gittins_index_process([[0.5, 0.4], [0, 1]], [0, 1], 0.9), "rows that sum to 1, got 0.9"),
        (lambda: gittins_index_process([[1.0, 0.0]], [0.0], 0.9), "'P' must be a square matrix"),
        (lambda: Gittins(1.0), "Gittins: 'surrogate' must be in [0, 1), got 1.0."),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument) as error:
        call()
    assert sentence in str(error.value)


def test_states_are_eliminated_in_blocks_of_any_size(monkeypatch):
    rng = default_rng(8)
    P, r = rng.dirichlet(np.ones(9), 9), rng.normal(size=9)
    whole = gittins_index_process(P, r, 0.9)
    for size in (1, 2, 4, 8):
        monkeypatch.setattr(sys.modules["bayesrl.bandits.gittins"], "BLOCK", size)
        np.testing.assert_allclose(gittins_index_process(P, r, 0.9), whole, rtol=1e-10)
