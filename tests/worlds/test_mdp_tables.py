"""Bandits and tables of MDPs against plain loops: every number of a table, every draw of a stream, every limit."""

import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.registry import make_world
from bayesrl.worlds.bandits import _arms
from bayesrl.worlds.bandits._contextual import ContextualBandit, spread_features
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit, BernoulliFamily
from bayesrl.worlds.bandits.combinatorial import CombinatorialBandit, CombinatorialFamily
from bayesrl.worlds.bandits.gaussian import GaussianBandit, GaussianFamily
from bayesrl.worlds.bandits.linear import LinearFamily
from bayesrl.worlds.bandits.logistic import LogisticFamily
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.mdps._dirichlet_family import DirichletFamily
from bayesrl.worlds.mdps.cells import walk
from bayesrl.worlds.mdps.infinite_grid import InfiniteGrid, Place, uniform
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld, cumulative


def refused(call, *parts):
    """The call is refused in a sentence with these parts."""
    with pytest.raises(InvalidArgument) as error:
        call()
    for part in parts:
        assert part in str(error.value)


# Bandits --------------------------------------------------------------------------------------------------------------

MEANS = np.array([0.2, 0.9, 0.45])
BOTH = np.array([[0.2, 0.9, 0.45], [0.6, 0.1, 0.3]])


def test_arms_pay_what_the_stream_says():
    """One number for a step, or one for each replicate: below the mean pays 1; Gaussian noise is of deviation 1."""
    coin, bell = BernoulliBandit(MEANS, gamma=0.83), GaussianBandit(3.0 * MEANS, gamma=0.83)
    for seed, a in itertools.product(range(5), range(3)):
        paid = coin.step(None, a, default_rng(seed))
        assert tuple(paid) == (None, 0, float(default_rng(seed).random() < MEANS[a]), False)
        assert bell.step(None, a, default_rng(seed)).reward == 3.0 * MEANS[a] + default_rng(seed).standard_normal()
    action = np.array([2, 0])
    lost = [0.9 - 0.45, 0.0]
    assert_array_equal(
        BernoulliBandit(BOTH).step(None, action, default_rng(1)).reward, default_rng(1).random(2) < [0.45, 0.6]
    )
    noise = default_rng(1).standard_normal(2)
    assert_allclose(GaussianBandit(BOTH).step(None, action, default_rng(1)).reward, np.add(noise, [0.45, 0.6]))
    for kind in (BernoulliBandit, GaussianBandit):
        assert_allclose(kind(BOTH).gap(None, action), lost)
        assert_allclose([kind(MEANS).gap(None, a) for a in range(3)], [0.7, 0.0, 0.45])
        assert kind(MEANS).reset(default_rng(0)) == (None, 0)
        assert kind(MEANS).batch(4).means.shape == (4, 3)
        assert (kind(MEANS).n_actions, kind(BOTH).n_actions) == (3, 3)
        prior = kind(MEANS, gamma=0.83).default_prior()
        assert (prior.n_actions, prior.gamma) == (3, 0.83)
        for bad in (-1, 3, 1.0):
            refused(lambda k=kind, a=bad: k(MEANS).step(None, a, default_rng(0)), "'action' must be a whole number of")
        for bad in ([0, 3], [-1, 0], [0], 1, [0.0, 1.0]):
            refused(lambda k=kind, a=bad: k(BOTH).gap(None, a), "from 0 to 2, one for each of 2 replicates")
        refused(lambda k=kind: k(np.ones((1, 1, 1))), "'means' must be")
    BernoulliBandit([0.0, 1.0])
    refused(lambda: BernoulliBandit([0.5, np.nextafter(1.0, 2.0)]), "'means' must be probabilities")
    refused(lambda: BernoulliBandit([0.5, -1e-9]), "'means' must be")


def test_replicates_up_to_the_largest_table(monkeypatch):
    monkeypatch.setattr(_arms, "MOST", 13)
    assert_array_equal(_arms.repeat_means(MEANS, 4), [MEANS] * 4)
    for bad in (0, 5):
        refused(
            lambda n=bad: _arms.repeat_means(MEANS, n), "'replicates' must be a whole number of at least 1 and at m"
        )
    assert _arms.shape_of(3, None) == (3,)
    assert _arms.shape_of(3, 5) == (5, 3)


def test_families_of_arms():
    """What a draw is, alone and for several replicates, with the discount of the family."""
    for family, draw in (
        (BernoulliFamily, "random"),
        (GaussianFamily, "standard_normal"),
        (CombinatorialFamily, "random"),
    ):
        made = family(arms=4, gamma=0.83)
        for n, shape in ((None, (4,)), (5, (5, 4))):
            world = (made if n is None else made.batch(n)).draw(default_rng(1))
            assert_array_equal(world.means, getattr(default_rng(1), draw)(shape))
            assert world.gamma == 0.83
        assert made.n_actions == 4
        assert made.default_prior().gamma == 0.83
        assert made.default_prior().n_actions == 4
        refused(lambda m=made: m.batch(0), "'replicates' must be")
        refused(lambda f=family: f(arms=0), "'arms' must be")
    for family, link in ((LinearFamily, lambda x: x), (LogisticFamily, special.expit)):
        made = family(arms=3, d=2, contexts=4, scale=1.7, gamma=0.83)
        X = spread_features(4, 3, 2)
        one = made.draw(default_rng(1))
        w = 1.7 * default_rng(1).standard_normal(2)
        assert_allclose(one.means, link(X @ w), rtol=1e-12)
        two = made.batch(5).draw(default_rng(1))
        w = 1.7 * default_rng(1).standard_normal((5, 2))
        assert_allclose(two.means, [link(X @ w[i]) for i in range(5)], rtol=1e-12)
        prior = made.default_prior()
        assert_array_equal(prior.features, X)
        assert (prior.gamma, one.gamma, one.n_contexts, one.n_actions) == (0.83, 0.83, 4, 3)
    assert_allclose(LinearFamily(d=2, scale=1.7).default_prior().covariance, 1.7**2 * np.eye(2))
    assert (
        LinearFamily(d=2, noise=0.4).default_prior().noise
        == LinearFamily(d=2, noise=0.4).draw(default_rng(0)).noise
        == 0.4
    )
    assert_allclose(LogisticFamily(d=2, scale=1.7).default_prior().precision, [1.7**-2] * 2)
    assert LogisticFamily(d=2).draw(default_rng(0)).noise is None


def test_features_are_spread_by_the_golden_ratio():
    """phi solves phi^(d + 1) = phi + 1; coordinate j of point n is the fraction of 1/2 + n / phi^j, scaled."""
    for C, K, d in ((2, 3, 1), (2, 2, 3)):
        phi = np.roots([1.0, *[0.0] * (d - 1), -1.0, -1.0])
        phi = float(phi[np.abs(phi.imag) < 1e-12].real.max())
        X = spread_features(C, K, d)
        for n, (c, k) in enumerate(itertools.product(range(C), range(K)), start=1):
            for j in range(d):
                u = (0.5 + n / phi ** (j + 1)) % 1.0
                assert X[c, k, j] == pytest.approx((2.0 * u - 1.0) / math.sqrt(d), abs=1e-9)


def test_contextual_bandits_by_the_stream():
    """First the reward, then the next context; in lockstep one of each for every replicate."""
    prior = BetaBernoulli.uniform(3)
    for noise in (None, 0.6):
        world = ContextualBandit(BOTH, noise, prior, gamma=0.83)
        for seed, c, a in itertools.product(range(3), range(2), range(3)):
            rng = default_rng(seed)
            m = BOTH[c, a]
            r = float(rng.random() < m) if noise is None else m + 0.6 * rng.standard_normal()
            after = int(rng.integers(2))
            assert tuple(world.step(c, a, default_rng(seed))) == (after, after, r, False)
            assert world.gap(c, a) == pytest.approx(BOTH[c].max() - m)
        assert world.reset(default_rng(4)) == (int(default_rng(4).integers(2)),) * 2
        many = world.batch(3)
        assert many.means.shape == (3, 2, 3)
        assert (many.n_contexts, many.n_actions, many.gamma) == (2, 3, 0.83)
        state, action, rng = np.array([1, 0, 1]), np.array([2, 0, 1]), default_rng(5)
        m = BOTH[state, action]
        r = (rng.random(3) < m).astype(float) if noise is None else m + 0.6 * rng.standard_normal(3)
        found = many.step(state, action, default_rng(5))
        assert_allclose(found.reward, r)
        assert_array_equal(found.state, rng.integers(2, size=3))
        assert_allclose(many.gap(state, action), BOTH.max(axis=1)[state] - m)
        assert_array_equal(many.reset(default_rng(5))[0], default_rng(5).integers(2, size=3))
        for c, a, name in ((2, 0, "state"), (-1, 0, "state"), (0, 3, "action"), (0, -1, "action")):
            refused(lambda c=c, a=a, w=world: w.step(c, a, default_rng(0)), f"'{name}' must be")
            refused(lambda c=c, a=a, w=world: w.gap(c, a), f"'{name}' must be")
        refused(lambda w=world: w.batch(0), "'replicates' must be")
        assert world.default_prior() is prior
    ContextualBandit([[0.0, 1.0]], None, prior)
    for bad in ([[0.5, 1.0 + 1e-9]], [[-1e-9, 0.5]], [0.5, 0.5], np.full((1, 1, 1, 1), 0.5)):
        refused(lambda m=bad: ContextualBandit(m, None, prior), "'means' must be of shape (contexts, arms)")
    ContextualBandit([[-5.0, 7.0]], 0.5, prior)


def test_sets_of_arms_by_the_stream():
    """Each step draws a number for every arm; the set is paid its sum; the gap is that to the best set."""
    means = np.array([0.3, 0.8, 0.55, 0.1])
    semi, full = CombinatorialBandit(means, 2, gamma=0.83), CombinatorialBandit(means, 2, "full", gamma=0.83)
    for seed in range(4):
        pays = (default_rng(seed).random(4) < means).astype(float)
        for items in itertools.permutations(range(4), 2):
            state, seen, r, over = semi.step(None, np.array(items), default_rng(seed))
            assert (state, over, type(r)) == (None, False, float)
            assert_array_equal(seen, pays[list(items)])
            assert r == pays[list(items)].sum()
            assert tuple(full.step(None, list(items), default_rng(seed))) == (None, 0, r, False)
            assert semi.gap(None, list(items)) == pytest.approx(1.35 - means[list(items)].sum(), abs=1e-12)
    assert semi.gap(None, [2, 1]) == 0.0
    together, action = semi.batch(3), np.array([[0, 1], [2, 3], [1, 3]])
    pays = (default_rng(1).random((3, 4)) < means).astype(float)
    found = together.step(None, action, default_rng(1))
    assert_array_equal(found.observation, np.take_along_axis(pays, action, axis=1))
    assert_array_equal(found.reward, found.observation.sum(axis=1))
    assert_allclose(together.gap(None, action), 1.35 - means[action].sum(axis=1), atol=1e-12)
    assert_array_equal(semi.reset(default_rng(0))[1], np.zeros(2))
    assert_array_equal(together.reset(default_rng(0))[1], np.zeros((3, 2)))
    assert full.reset(default_rng(0)) == (None, 0)
    assert isinstance(semi.default_prior(), SemiBandit)
    assert isinstance(full.default_prior(), FullBandit)
    assert (full.default_prior().suggestions, full.default_prior().gamma) == (2, 0.83)
    for bad in ([0], [0, 1, 2], [0.0, 1.0], 3, [[0, 1]]):
        refused(lambda a=bad: semi.step(None, a, default_rng(0)), "'action' must be sets of 2 arms")
    for bad in ([1, 1], [0, 4], [-1, 0]):
        refused(lambda a=bad: semi.gap(None, a), "'action' must be different arms from 0 to 3")
    refused(lambda: CombinatorialBandit(means, 3).gap(None, [1, 1, 2]), "'action' must be different arms from 0 to 3")
    for M in (1, 4):
        CombinatorialBandit(means, M)
        CombinatorialFamily(arms=4, suggestions=M)
    for M in (0, 5):
        refused(lambda m=M: CombinatorialBandit(means, m), "'suggestions' must be")
        refused(lambda m=M: CombinatorialFamily(arms=4, suggestions=m), "'suggestions' must be")


# Tables ---------------------------------------------------------------------------------------------------------------


def test_moves_with_slips():
    """Three moves in a cycle on an L of cells; a move out stays."""
    cells, moves = [(0, 0), (1, 0), (1, 1)], [(1, 0), (0, 1), (-1, 0)]
    P = walk(cells, moves, 0.3)
    for c, (x, y) in enumerate(cells):
        to = [cells.index((x + dx, y + dy)) if (x + dx, y + dy) in cells else c for dx, dy in moves]
        for a in range(3):
            row = np.zeros(3)
            row[to[a]] += 0.7
            row[to[(a + 1) % 3]] += 0.15
            row[to[(a + 2) % 3]] += 0.15
            assert_allclose(P[c, a], row)


@pytest.mark.parametrize("name, length", [("grid5", 5), ("grid10", 10)])
def test_grids(name, length):
    """State length x + y; down, right, up, left, each with a slip of .1 to either side; the last cell restarts."""
    world = make_world(name, gamma=0.83)
    n, moves = length, [(0, 1), (1, 0), (0, -1), (-1, 0)]
    P, R = np.zeros((n * n, 4, n * n)), np.zeros((n * n, 4, n * n))
    R[-1] = 1.0
    for x, y, a in itertools.product(range(n), range(n), range(4)):
        row = P[n * x + y, a]
        if (x, y) == (n - 1, n - 1):
            row[0] = 1.0
        else:
            for b, p in ((a, 0.8), ((a + 1) % 4, 0.1), ((a - 1) % 4, 0.1)):
                u, v = x + moves[b][0], y + moves[b][1]
                row[n * u + v if 0 <= u < n and 0 <= v < n else n * x + y] += p
        assert world.layout[0, y, x] == n * x + y
    assert_allclose(world.dense()[0], P, atol=1e-15)
    assert_array_equal(world.dense()[1], R)
    assert (world.gamma, world.start, world.actions) == (0.83, 0, ("down", "right", "up", "left"))


def test_chains_and_loops():
    for name in ("chain", "chain-semi", "chain-tied"):
        world = make_world(name, gamma=0.83)
        P, R = world.dense()
        for s, a in itertools.product(range(5), range(2)):
            row = np.zeros(5)
            row[min(s + 1, 4)] += (0.8, 0.2)[a]
            row[0] += (0.2, 0.8)[a]
            assert_allclose(P[s, a], row)
            for y in range(5):
                assert R[s, a, y] == (2.0 if y == 0 else 10.0 if s == y == 4 else 0.0)
        assert (world.gamma, world.start, world.actions) == (0.83, 0, ("a", "b"))
        assert_array_equal(world.layout, [[[0, 1, 2, 3, 4]]])
    P, R = make_world("double-loop").dense()
    for s, a in itertools.product(range(9), range(2)):
        if s == 0:
            y = (1, 5)[a]
        elif s < 5:
            y = (s + 1) % 5
        else:
            y = s + 1 if a == 1 and s < 8 else 0
        assert_array_equal(P[s, a], np.arange(9) == y)
        assert R[s, a, y] == {4: 1.0, 8: 2.0}.get(s, 0.0)


def test_random_chains_loops_and_grids():
    """Counts and rewards of the families, cell by cell."""
    gc = make_world("gc", gamma=0.83)
    for s, a, y in itertools.product(range(5), range(3), range(5)):
        assert gc.transition_counts[s, a, y] == (y in (0, min(s + 1, 4)))
        assert gc.rewards[s, a, y] == {0: 2.0, 4: 10.0}.get(y, 0.0)
    gdl = make_world("gdl", gamma=0.83)
    following = [(1, 5), (2,), (3,), (4,), (0,), (0, 6), (0, 7), (0, 8), (0,)]
    for s, a, y in itertools.product(range(9), range(2), range(9)):
        assert gdl.transition_counts[s, a, y] == (y in following[s])
        assert gdl.rewards[s, a, y] == (1.0 if (s, y) == (4, 0) else 2.0 if (s, y) == (8, 0) else 0.0)
    grid = make_world("grid-bbrl", gamma=0.83)
    moves = [(0, -1), (0, 1), (-1, 0), (1, 0)]
    for row, column, a in itertools.product(range(5), range(5), range(4)):
        s, (u, v) = 5 * row + column, (row + moves[a][0], column + moves[a][1])
        to, pay = (0, 10.0) if (u, v) == (4, 4) else (5 * u + v, 0.0) if 0 <= u < 5 and 0 <= v < 5 else (s, 0.0)
        expected = np.zeros(25)
        expected[[s, to]] = 1.0
        assert_array_equal(grid.transition_counts[s, a], expected)
        assert grid.rewards[s, a, to] == pay
        assert grid.rewards[s, a].sum() == pay
    assert grid.actions == ("left", "right", "up", "down")
    for family, S, A in ((gc, 5, 3), (gdl, 9, 2), (grid, 25, 4)):
        assert (family.gamma, family.n_states, family.n_actions) == (0.83, S, A)


def test_dirichlet_families_draw_their_rows():
    """Normalised gamma variates of the positive counts, in the order of the outcomes; padding stays 0."""
    counts = np.array(
        [[[0.7, 0.0, 2.0], [1.0, 3.0, 0.4]], [[0.0, 0.0, 5.0], [0.6, 1.2, 0.0]], [[1.0] * 3, [2.0, 0, 1]]]
    )
    rewards = default_rng(1).normal(size=(3, 2, 3))
    family = DirichletFamily("mine", counts, rewards, 0.83, actions=("x", "y"))
    K = family.outcomes.n_outcomes
    alpha = np.zeros((6, K))
    for s, a in itertools.product(range(3), range(2)):
        positive = counts[s, a][counts[s, a] > 0.0]
        alpha[2 * s + a, : len(positive)] = positive
    assert_array_equal(family.alpha, alpha)
    world = family.draw(default_rng(2))
    x = default_rng(2).standard_gamma(alpha)
    assert_allclose(world.mdp.prob, x / x.sum(axis=1, keepdims=True))
    assert (world.gamma, world.actions, world.setting.prior, world.setting.runs) == (
        0.83,
        ("x", "y"),
        "structured:1",
        None,
    )
    P, R = world.dense()
    assert_array_equal(P > 0.0, counts > 0.0)
    assert_allclose(R[P > 0.0], rewards[P > 0.0])
    for bad, name in (
        (counts[:2], "rewards"),
        (counts[:, :, :2], "rewards"),
        (counts * 0.0, "transition_counts"),
        (-counts, "transition_counts"),
    ):
        refused(lambda c=bad: DirichletFamily("mine", c, rewards), f"'{name}' must be")
    refused(
        lambda: DirichletFamily("mine", np.ones((2, 1, 3)), np.ones((2, 1, 3))),
        "'transition_counts' must be of shape (S, A, S)",
    )


def test_maze():
    """All 264 states: moves with slips, flags picked up on arrival, the goal pays the flags and starts again."""
    rows, flags = ("SX$.X.G", ".X..X..", ".......", "XX...XX", "......$", "$.....X"), [(0, 5), (2, 0), (6, 4)]
    cells = [(x, y) for x in range(7) for y in range(6) if rows[y][x] != "X"]
    world = make_world("dearden-maze", gamma=0.83)
    P, moves = np.zeros((264, 4, 264)), [(0, -1), (1, 0), (0, 1), (-1, 0)]
    for c, (x, y) in enumerate(cells):
        for f, a in itertools.product(range(8), range(4)):
            row = P[8 * c + f, a]
            if (x, y) == (6, 0):
                row[0] = 1.0
            else:
                for b, p in ((a, 0.9), ((a + 1) % 4, 0.05), ((a - 1) % 4, 0.05)):
                    to = (x + moves[b][0], y + moves[b][1])
                    to = to if to in cells else (x, y)
                    held = f | (1 << flags.index(to) if to in flags else 0)
                    row[8 * cells.index(to) + held] += p
            assert world.mdp.mean_reward[8 * c + f, a] == (bin(f).count("1") if (x, y) == (6, 0) else 0.0)
            assert world.layout[f, y, x] == 8 * c + f
    assert_allclose(world.mdp.dense()[0], P, atol=1e-15)
    assert (world.layout == -1).sum() == 8 * (42 - 33)


def test_a_world_follows_its_table():
    """One number of the stream for each step, in the order of the outcomes; the first state likewise."""
    rng = default_rng(3)
    P, R = rng.dirichlet(np.ones(3), (3, 2)), rng.normal(size=(3, 2, 3))
    P[0, 1] = [0.4, 0.0, 0.6]
    mdp = TabularMDP.from_dense(P, R, 0.83, [0.3, 0.0, 0.7], terminal=[1])
    world = MDPWorld("mine", mdp, Setting(steps=4))
    for seed, s, a in itertools.product(range(8), (0, 2), range(2)):
        u = default_rng(seed).random()
        y = int(np.searchsorted(np.cumsum(P[s, a]), u, side="right"))
        assert tuple(world.step(s, a, default_rng(seed))) == (y, y, R[s, a, y], y == 1)
        first = 0 if u < 0.3 else 2
        assert world.reset(default_rng(seed)) == (first, first)
    for s, a, name in ((-1, 0, "state"), (3, 0, "state"), (0, -1, "action"), (0, 2, "action")):
        refused(lambda s=s, a=a: world.step(s, a, default_rng(0)), f"'{name}' must be")
    refused(lambda: world.start, "'start' must be a single state")
    assert world.ends
    V = np.zeros(3)
    for _ in range(4):
        V = np.where([True, False, True], np.einsum("say,say->sa", P, R + V).max(axis=1), 0.0)
    assert world.optimum() == pytest.approx(0.3 * V[0] + 0.7 * V[2])
    declared = MDPWorld("mine", mdp, Setting(steps=4, optimum=5.0))
    assert (declared.optimum(), declared.optimum(4)) == (5.0, 5.0)
    best = np.einsum("say,say->sa", P, R).max(axis=1)
    assert declared.optimum(1) == pytest.approx(0.3 * best[0] + 0.7 * best[2])
    V = np.zeros(3)
    for _ in range(300):
        q = np.where([[True], [False], [True]], np.einsum("say,say->sa", P, R + 0.83 * V), 0.0)
        V = q.max(axis=1)
    assert_allclose(world.gaps, V[:, None] - q, atol=1e-6)
    assert cumulative(np.array([0.25, 0.5, 0.25 - 1e-12])) == [0.25, 0.75, 1.0]


def test_rows_that_a_world_keeps_are_those_of_their_pairs():
    """The chain, every pair twice: a number below .8 is the action's own effect."""
    world = make_world("chain")
    for _, s, a, seed in itertools.product(range(2), range(4, -1, -1), range(2), range(5)):
        on = (default_rng(seed).random() < 0.8) == (a == 0)
        y, r = (min(s + 1, 4), 10.0 if s == 4 else 0.0) if on else (0, 2.0)
        assert tuple(world.step(s, a, default_rng(seed))) == (y, y, r, False)


def test_a_hidden_world_follows_its_tables():
    """Two numbers of the stream for each step: the next state, then what is seen of it."""
    rng = default_rng(4)
    P, O, R = rng.dirichlet(np.ones(3), (3, 2)), rng.dirichlet(np.ones(4), (3, 2)), rng.normal(size=(3, 2))
    pomdp = TabularPOMDP.from_dense(P, O, R, 0.83, [0.3, 0.0, 0.7])
    world = POMDPWorld("mine", pomdp)
    for seed, s, a in itertools.product(range(8), range(3), range(2)):
        u, v = default_rng(seed).random(2)
        y = int(np.searchsorted(np.cumsum(P[s, a]), u, side="right"))
        o = int(np.searchsorted(np.cumsum(O[y, a]), v, side="right"))
        found = world.step(s, a, default_rng(seed))
        assert tuple(found)[:2] == (y, o)
        assert found.reward == pytest.approx(R[s, a])
        assert not found.terminated
        assert world.reset(default_rng(seed)) == (0 if u < 0.3 else 2, -1)
    for s, a, name in ((-1, 0, "state"), (3, 0, "state"), (0, -1, "action"), (0, 2, "action")):
        refused(lambda s=s, a=a: world.step(s, a, default_rng(0)), f"'{name}' must be")
    assert (world.gamma, world.n_states, world.n_actions, world.n_observations, world.ends) == (0.83, 3, 2, 4, False)
    low, high = world.value
    fixed = []
    for a in range(2):
        value = np.linalg.solve(np.eye(3) - 0.83 * P[:, a], R[:, a])
        fixed.append(0.3 * value[0] + 0.7 * value[2])
    assert low == pytest.approx(max(fixed), abs=1e-6)
    assert high >= low
    assert POMDPWorld("mine", pomdp, bracket=(1.0, 1.0)).value == (1.0, 1.0)
    refused(lambda: POMDPWorld("mine", pomdp, bracket=(1.0, 0.9)), "'bracket' must be two numbers in ascending order")
    for name, n in (("states", 3), ("actions", 2), ("observations", 4)):
        assert getattr(POMDPWorld("mine", pomdp, **{name: ["z"] * n}), name) == ("z",) * n
        refused(lambda k=name, m=n: POMDPWorld("mine", pomdp, **{k: ["z"] * (m - 1)}), f"'{name}' must be {n} names")


def test_hashes_of_the_infinite_grid():
    """SplitMix64's mixing, with 64-bit integers of NumPy; rewards where it is below p q."""

    def plain(*numbers):
        h = np.uint64(0)
        with np.errstate(over="ignore"):
            for n in numbers:
                h = h + np.uint64(0x9E3779B97F4A7C15) + np.uint64(n % 2**64)
                h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                h = h ^ (h >> np.uint64(31))
        return int(h >> np.uint64(11)) / 2.0**53

    for numbers in ((3,), (3, 1, -5, 2), (2**62 + 7, 0, 4, -9)):
        assert uniform(*numbers) == plain(*numbers)
    grid = InfiniteGrid(77, (1.5, 0.7), (0.6, 2.2))
    from bayesrl.kernels.simulators.infinite_grid_simulator import CELL, COLUMN, ROW

    rewarded = []
    for x, y in itertools.product(range(-3, 4), range(-3, 4)):
        p = stats.beta.ppf(plain(77, ROW, y, 0), 1.5, 0.7)
        q = stats.beta.ppf(plain(77, COLUMN, x, 0), 0.6, 2.2)
        assert grid.p(y) == pytest.approx(p, rel=1e-9)
        assert grid.q(x) == pytest.approx(q, rel=1e-9)
        assert grid.rewarded(x, y) == (plain(77, CELL, x, y) < p * q)
        rewarded.append(grid.rewarded(x, y))
    assert any(rewarded)
    assert not all(rewarded)
    for a in range(4):
        state, seen, r, over = grid.step(Place(0, 0), a, default_rng(0))
        assert (state.x, state.y) == seen
        assert abs(seen[0]) + abs(seen[1]) == 1
        assert r == grid.rewarded(*seen)
        assert state.taken == (frozenset([seen]) if r else frozenset())
        assert grid.step(Place(0, 0, frozenset([seen])), a, default_rng(0)).reward == 0.0
        assert not over
    for bad in (-1, 4):
        refused(lambda a=bad: grid.step(Place(0, 0), a, default_rng(0)), "'action' must be")
