"""Small problems in plain Python: what bandit planners, indices and bounds compute, exactly and at their limits."""

import importlib
import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from bayesrl.bandits import _normal_retirement, finite_horizon_index, gittins
from bayesrl.bandits import bounds_of_world as _bounds_of_world
from bayesrl.bandits._gopalan import gopalan
from bayesrl.bandits.bandit_bounds import Bound, bandit_bounds, entropy
from bayesrl.bandits.bayes_optimal_bandit import BayesOptimalBandit, bayes_optimal_q, bayes_optimal_value, policy_value
from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.information_directed import InformationDirected, information_ratio, two_points
from bayesrl.bandits.thompson import best
from bayesrl.bandits.ucb1 import UCB1
from bayesrl.beliefs.arms.bandit_models import BernoulliModels, GaussianModels, OutcomeModels
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.registry import make_world
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit

bounds = importlib.import_module("bayesrl.bandits.bandit_bounds")  # the package offers the function of that name
git = importlib.import_module("bayesrl.bandits.gittins")
tree = importlib.import_module("bayesrl.bandits.bayes_optimal_bandit")


def refused(call, *parts):
    """The call is refused in a sentence with these parts."""
    with pytest.raises(InvalidArgument) as error:
        call()
    for part in parts:
        assert part in str(error.value)


# One Gaussian arm -----------------------------------------------------------------------------------------------------


def test_one_play_of_a_gaussian_arm():
    """Q(x) = gamma E Y(x + s Z) for Y = -x G below b and a smooth function above, against quadrature.

    The panels end at 4.4, so that x is left of them, inside, and near their end; the window is 7.5 steps wide.
    """
    gamma, G, b, h, s = 0.83, 1.0 / 0.17, -0.4, 0.3, 0.21
    nodes = _normal_retirement.NODES
    y = np.array([b + h * (2.0 * j + 1.0 + u) for j in range(8) for u in nodes])

    def Y(v):
        return np.exp(-0.7 * v) * (1.5 + np.sin(v))

    for x in (-2.5, -0.55, -0.1, 0.8, 2.0, 4.2, 6.5):
        low = integrate.quad(lambda v, x=x: -v * G * stats.norm.pdf(v, x, s), x - 10 * s, b, epsabs=1e-12)[0]
        low = low if b > x - 10 * s else 0.0
        edges = np.linspace(b, b + 16 * h, 9)
        high = sum(
            integrate.quad(lambda v, x=x: Y(v) * stats.norm.pdf(v, x, s), *pair, epsabs=1e-12)[0]
            for pair in itertools.pairwise(edges)
        )
        found = _normal_retirement.value_of_play(x, s, b, h, y, Y(y), gamma, G)
        assert found == pytest.approx(gamma * (low + high), rel=2e-6, abs=1e-9)


def gaussian_boundaries(n0, wanted, rows, gamma):
    """-b_n by the same recursion on a fine grid of x, sums over steps, and interpolation; errors are below 1e-5."""
    G, grid, z = 1.0 / (1.0 - gamma), np.linspace(-5.0, 6.0, 4401), np.linspace(-8.0, 8.0, 641)
    weight = stats.norm.pdf(z) * (z[1] - z[0])
    Y, found = np.maximum(-grid * G, 0.0), {}
    for r in range(rows - 1, -1, -1):
        s = 1.0 / math.sqrt((n0 + r) * (n0 + r + 1.0))
        Q = np.zeros(len(grid))
        for step, w in zip(z, weight, strict=True):
            moved = grid + s * step
            Q += gamma * w * np.where(moved < grid[0], -moved * G, np.interp(moved, grid, Y))
        above = grid * G + Q
        i = int(np.argmax(above > 0.0))
        found[r] = -(grid[i] - (grid[1] - grid[0]) * above[i] / (above[i] - above[i - 1]))
        Y = np.maximum(-grid * G, Q)
    return [found[r] for r in range(wanted)]


@pytest.mark.parametrize("n0, wanted, rows, gamma", [(0.7, 3, 4, 0.6), (2.3, 1, 3, 0.85)])
def test_boundaries_of_a_gaussian_arm(n0, wanted, rows, gamma):
    found = _normal_retirement.boundaries(n0, wanted, rows, gamma, 1e-9)
    assert found.shape == (wanted,)
    assert_allclose(found, gaussian_boundaries(n0, wanted, rows, gamma), atol=1e-5)


def test_states_of_one_gaussian_chain():
    """Asked together, in any order and shape, with several discounts and chains, each is what it is alone."""
    n, gamma = np.array([[2.5, 0.7], [1.5, 1.7]]), np.array([[0.4, 0.0], [0.4, 0.3]])
    mean = np.array([[0.3], [-1.0]])
    found = gittins.gittins_index_normal(mean, n, gamma)
    assert found.shape == (2, 2)
    for i in np.ndindex(2, 2):
        rows = git._horizon(n[i], gamma[i], 2e-7) if gamma[i] else 1
        alone = _normal_retirement.boundaries(n[i], 1, rows, gamma[i], 1e-8)[0] if gamma[i] else 0.0
        assert found[i] == pytest.approx(mean[i[0], 0] + alone, abs=4e-7)
    refused(lambda: gittins.gittins_index_normal(0.0, np.nextafter(1e12, np.inf), 0.3), "'n' must be from 1e-12 to")
    refused(lambda: gittins.gittins_index_normal(0.0, np.nextafter(1e-12, 0.0), 0.3), "'n' must be from 1e-12 to")
    for bad in (1.0, -0.1):
        refused(lambda g=bad: gittins.gittins_index_normal(0.0, 1.0, g), "'gamma' must be")


# Bernoulli arms -------------------------------------------------------------------------------------------------------


def retirement(a, b, gamma, plays):
    """The index by bisection: after `plays` plays one retires at once or never."""

    def advantage(lam):
        V = {i: max((a + i) / (a + b + plays), lam) / (1.0 - gamma) for i in range(plays + 1)}
        for k in range(plays - 1, -1, -1):
            p = {i: (a + i) / (a + b + k) for i in range(k + 1)}
            play = {i: p[i] + gamma * (p[i] * V[i + 1] + (1.0 - p[i]) * V[i]) for i in p}
            V = {i: max(play[i], lam / (1.0 - gamma)) for i in p}
        return play[0] - lam / (1.0 - gamma)

    low, high = a / (a + b), 1.0
    for _ in range(34):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if advantage(middle) > 0.0 else (low, middle)
    return low


def test_states_of_several_lattices_and_discounts():
    """Fractions that differ by rounding are one lattice; discount 0 is the mean; states far apart stay apart."""
    a = np.array([[1.0, 1.3, 0.1 + 0.2, 2.0], [70.3, 2.3, 1.0, 3.3]])
    b = np.array([[2.0, 0.5, 1.5, 1.0], [8.5, 1.5, 1.0, 90.5]])
    gamma = np.array([[0.3, 0.3, 0.3, 0.0], [0.3, 0.3, 0.2, 0.3]])
    found = gittins.gittins_index(a, b, gamma)
    low, high = gittins.gittins_bounds(a, b, gamma)
    for i in np.ndindex(2, 4):
        exact = retirement(a[i], b[i], gamma[i], 20) if gamma[i] else a[i] / (a[i] + b[i])
        assert found[i] == pytest.approx(exact, abs=5e-7)
        assert low[i] - 1e-9 <= exact <= high[i] + 1e-9
    assert (high - low).max() < 5e-7
    assert float(gittins.gittins_index(1.3, 0.5, 0.3)) == pytest.approx(found[0, 1], abs=3e-7)
    for bad in ({"alpha": 0.0, "beta": 1.0}, {"alpha": 1.0, "beta": 0.0}):
        refused(lambda k=bad: gittins.gittins_index(gamma=0.5, **k), "must be greater than 0 everywhere, got 0.0")
    for bad in (1.0, -0.1):
        refused(lambda g=bad: gittins.gittins_index(1.0, 1.0, g), "'gamma' must be")


def test_groups_of_equal_rows():
    labels = np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0], [0.0, 4.0], [0.0, 5.0]])
    found = git.groups(labels, np.array([10, 11, 12, 13, 14]))
    assert [group.tolist() for group in found] == [[13], [11, 14], [10, 12]]


def test_indices_that_the_planner_keeps():
    """Of states that are met, and of those that the next plays lead to; all are what they are alone."""
    known = git._bernoulli([(1.3, 0.5), (2.0, 1.0)], 0.3)
    assert {(1.3, 0.5), (2.3, 0.5), (1.3, 1.5), (2.0, 1.0)} <= known.keys()
    for (a, b), index in known.items():
        assert index == pytest.approx(retirement(a, b, 0.3, 14), abs=1e-6)
    many = [(1.0 + i, 1.0) for i in range(32)]
    assert git._bernoulli(many, 0.2).keys() == set(many)  # many states are not looked beyond
    normal = git._normal([(1.7,)], 0.2)
    assert {(1.7,), (2.7,), (3.7,)} <= normal.keys()
    for n in (1.7, 3.7, 50.7):
        assert normal[n,] == pytest.approx(float(gittins.gittins_index_normal(0.0, n, 0.2)), abs=4e-7)


def test_gittins_planner_looks_up_what_has_changed():
    """Two replicates; the surrogate only where the discount is 1; memory of other states is kept and not recomputed."""
    planner, rng = gittins.Gittins(surrogate=0.3), default_rng(0)
    start = planner.start()
    for gamma, used in ((1.0, 0.3), (0.2, 0.2)):
        belief = BetaBernoulli([[1.0, 2.0], [1.5, 1.0]], [[1.0, 1.0], [2.0, 3.0]], gamma)
        decision = planner.plan(belief, 0, start, rng)
        q = decision.info["q"]
        assert_allclose(q, gittins.gittins_index(belief.alpha, belief.beta, used), atol=4e-7)
        assert_array_equal(decision.action, q.argmax(axis=1))
        told = decision.memory.table | {(2.0, 1.0): 0.125}  # a number that no computation finds
        after = belief.update(Transition(0, np.array([0, 1]), np.array([1.0, 0.0]), 0))
        found = planner.plan(after, 0, decision.memory._replace(table=told), rng).info["q"]
        assert_allclose(found[0], [0.125, q[0, 1]])  # arm 0 has moved to (2, 1), arm 1 has not moved
        assert_allclose(found[1], [q[1, 0], float(gittins.gittins_index(1.0, 4.0, used))], atol=4e-7)


def stopping_rules(a, b, T, gamma):
    """(reward, time) of every rule that plays at least once and at most T times."""
    p = a / (a + b)
    if T == 1:
        return {(p, 1.0)}
    won, lost = (stopping_rules(*s, T - 1, gamma) | {(0.0, 0.0)} for s in ((a + 1, b), (a, b + 1)))
    return {
        (p + gamma * (p * r1 + (1 - p) * r0), 1.0 + gamma * (p * t1 + (1 - p) * t0))
        for r1, t1 in won
        for r0, t0 in lost
    }


@pytest.mark.parametrize("gamma", [1.0, 0.7])
def test_finite_horizon_indices_are_best_stopping_rules(gamma):
    a, b = np.array([[1.0, 0.6, 0.1 + 0.2], [2.0, 1.6, 5.0]]), np.array([[1.0, 0.3, 1.5], [1.0, 0.3, 2.0]])
    T = np.array([[3, 2, 3], [2, 1, 1]])
    found = finite_horizon_index(a, b, T, gamma)
    assert found.shape == (2, 3)
    for i in np.ndindex(2, 3):
        best_rule = max(r / t for r, t in stopping_rules(a[i], b[i], int(T[i]), gamma))
        assert found[i] == pytest.approx(best_rule, abs=2.1e-7)
    assert finite_horizon_index(2.0, 3.0, 1, gamma) == pytest.approx(0.4, abs=1e-12)
    for bad in (0.0, -0.5, 1.5):
        refused(lambda g=bad: finite_horizon_index(1, 1, 3, g), "finite_horizon_index: 'gamma' must be in (0, 1]")
    for name in ("alpha", "beta"):
        wrong = {"alpha": 1.0, "beta": 1.0, name: 0.0}
        refused(lambda w=wrong: finite_horizon_index(horizon=2, **w), f"'{name}' must be greater than 0 everywhere")
    whole = "'horizon' must be a whole number of at most 1000000, got 2.5"
    refused(lambda: finite_horizon_index(1, 1, [2.0, 2.5]), whole)
    refused(lambda: finite_horizon_index(1, 1, 0), "'horizon' must be at least 1 everywhere, got 0.0")


@pytest.mark.parametrize("block", [1, 2, 5, 64])
def test_process_indices_for_any_block(monkeypatch, block):
    """States are eliminated in blocks: each size gives the supremum over all sets of states to play on in."""
    monkeypatch.setattr(git, "BLOCK", block)
    rng, gamma, S = default_rng(3), 0.83, 5
    P, r = rng.dirichlet(np.full(S, 0.7), S), rng.normal(size=S)
    highest = np.full(S, -np.inf)
    for keep in itertools.product([0.0, 1.0], repeat=S):
        Q = np.eye(S) - gamma * P * np.array(keep)
        highest = np.maximum(highest, np.linalg.solve(Q, r) / np.linalg.solve(Q, np.ones(S)))
    assert_allclose(gittins.gittins_index_process(P, r, gamma), highest, rtol=1e-10)
    assert_allclose(gittins.gittins_index_process(P, r, 0.0), r)
    for bad in (1.0, -0.1):
        refused(lambda g=bad: gittins.gittins_index_process(P, r, g), "'gamma' must be in [0, 1)")
    refused(lambda: gittins.gittins_index_process(P[:, :3], r, gamma), "'P' must be a square matrix")
    refused(lambda: gittins.gittins_index_process(P, r[:3], gamma), "'r' must be an array of shape (5,)")


# The tree of posteriors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t, K, Y", [(0, 2, 2), (1, 3, 2), (3, 2, 2), (2, 2, 3), (4, 1, 2)])
def test_counts_and_their_successors(t, K, Y):
    """All tables of K Y counts that sum to t, in lexicographic order, and where one more outcome leads."""

    def tables(n):
        return [c for c in itertools.product(range(n + 1), repeat=K * Y) if sum(c) == n]

    counts = tree._counts(t, K, Y)
    assert counts.shape == (len(tables(t)), K, Y)
    assert [tuple(c.ravel()) for c in counts] == tables(t)
    later = {c: i for i, c in enumerate(tables(t + 1))}
    found = tree._successors(t, K, Y)
    for i, c in enumerate(tables(t)):
        for a, y in itertools.product(range(K), range(Y)):
            more = list(c)
            more[a * Y + y] += 1
            assert found[i, a, y] == later[tuple(more)]
    assert not any(array.flags.writeable for array in (counts, found))


def test_the_largest_tree(monkeypatch):
    """Two arms: after t plays binom(t + 3, 3) posteriors of four numbers."""
    monkeypatch.setattr(tree, "LARGEST", 4 * math.comb(3 + 3, 3))
    bayes_optimal_q([(1, 1), (1, 1)], 4)
    refused(lambda: bayes_optimal_q([(1, 1), (1, 1)], 5), "'horizon' must be smaller, as 35 posteriors after 4 plays")
    pair = BetaBernoulli(np.ones((2, 2)), np.ones((2, 2)))
    monkeypatch.setattr(tree, "LARGEST", 2 * 4 * math.comb(2 + 3, 3))
    bayes_optimal_q(pair, 3)
    refused(lambda: bayes_optimal_q(pair, 4), "of 2 arms with 2 outcomes do not fit into memory", "got 4")


def histories(belief, T, choose):
    """Value of `choose` (a function of the belief, plays left and each arm's value) over T plays, by all histories."""
    q = []
    for a in range(belief.n_actions):
        p = float(belief.mean()[a])
        value = p
        if T > 1:
            for y, chance in ((1.0, p), (0.0, 1.0 - p)):
                value += belief.gamma * chance * histories(belief.update(Transition(0, a, y, 0)), T - 1, choose)[1]
        q.append(value)
    return q, choose(belief, T, q)


def test_discounted_values_of_policies_are_those_of_all_histories():
    belief = BetaBernoulli([1.3, 0.8, 2.0], [0.9, 0.4, 2.5], 0.83)
    q, value = histories(belief, 3, lambda b, left, q: max(q))
    assert_allclose(bayes_optimal_q(belief, 3), q, rtol=1e-12)
    assert bayes_optimal_value(belief, 3) == pytest.approx(value, rel=1e-12)

    def weights(mean, left):
        return mean / mean.sum(axis=-1, keepdims=True) if left % 2 else 1.0 * (mean == mean.min(axis=-1, keepdims=True))

    _, value = histories(belief, 3, lambda b, left, q: float(weights(b.mean(), left) @ q))
    assert policy_value(belief, 3, lambda known: weights(known.mean, known.left)) == pytest.approx(value, rel=1e-12)
    # Stochastic regret: what is discounted in all, less the discounted plays of the best arm.
    for gamma in (0.83, 1.0):
        sure = FiniteModels(BernoulliModels([[0.2, 0.7]]), gamma=gamma)
        total = sum(gamma**t for t in range(3))
        assert bayes_optimal_value(sure, 3, "regret") == pytest.approx(0.0, abs=1e-12)
        worst = policy_value(sure, 3, lambda known: np.tile([1.0, 0.0], (len(known.seen), 1)), "regret")
        assert worst == pytest.approx(total)
        half = policy_value(sure, 3, lambda known: np.tile([0.75, 0.25], (len(known.seen), 1)), "regret")
        assert half == pytest.approx(0.75 * total)


def test_equal_replicates_are_solved_once_and_in_batches(monkeypatch):
    rng = default_rng(2)
    rows = rng.uniform(0.5, 3.0, (2, 4, 2))
    alpha, beta = rows[:, [0, 1, 0, 2, 3, 1]]
    belief = BetaBernoulli(alpha, beta, 0.83)
    expected = [bayes_optimal_q(BetaBernoulli(a, b, 0.83), 3) for a, b in zip(alpha, beta, strict=True)]
    solved, solve = [], tree.bayes_optimal_q

    def watched(arms, *rest):
        solved.append(arms.posterior_size)
        return solve(arms, *rest)

    monkeypatch.setattr(tree, "bayes_optimal_q", watched)
    for largest, sizes in ((20_000_000, [4]), (3 * 4 * math.comb(2 + 3, 3), [3, 1]), (4 * math.comb(5, 3), [1] * 4)):
        monkeypatch.setattr(tree, "LARGEST", largest)
        solved.clear()
        decision = BayesOptimalBandit(depth=3).plan(belief, 0, 0, rng)
        assert solved == sizes
        assert_allclose(decision.info["q"], expected, rtol=1e-12)
        assert_array_equal(decision.action, np.argmax(expected, axis=1))


def test_pairs_of_counts_are_a_belief():
    found = tree._belief([(1.5, 2.0), (3.0, 0.5), (1.0, 1.0)])
    assert found == BetaBernoulli([1.5, 3.0, 1.0], [2.0, 0.5, 1.0])
    for bad in ([], [(1, 1), (1, 1, 1)], 3, "ab", [(1, 1), 2]):
        refused(lambda arms=bad: tree._belief(arms), "bayes_optimal_value: 'arms' must be a belief with finitely many")


# Information-directed sampling ----------------------------------------------------------------------------------------


def test_two_points_against_a_search():
    """The least ratio over pairs of arms, with a fine grid of q; where it is known, the pair and q."""
    rng = default_rng(4)
    delta, g = rng.uniform(0.05, 1.0, (6, 4)), rng.uniform(0.01, 0.8, (6, 4)) ** 2
    first, second, chance = two_points(delta, g, delta, True)
    grid = np.linspace(0.0, 1.0, 4001)
    for r in range(6):
        least = min(
            ((grid * delta[r, i] + (1 - grid) * delta[r, j]) ** 2 / (grid * g[r, i] + (1 - grid) * g[r, j])).min()
            for i in range(4)
            for j in range(4)
        )
        i, j, q = first[r], second[r], chance[r]
        found = (q * delta[r, i] + (1 - q) * delta[r, j]) ** 2 / (q * g[r, i] + (1 - q) * g[r, j])
        assert 0.0 <= q <= 1.0
        assert found == pytest.approx(least, rel=1e-5)
    # By hand: D = (1, 2), g = (.1, 1): q of the first is 2 / (1 - 2) - 2 * 1 / (.1 - 1) = .2222.
    first, second, chance = two_points(np.array([[1.0, 2.0]]), np.array([[0.1, 1.0]]), np.ones((1, 2)), True)
    q = chance[0] if first[0] == 0 else 1.0 - chance[0]
    assert {int(first[0]), int(second[0])} == {0, 1}
    assert q == pytest.approx(2.0 / 0.9 - 2.0)
    # Nothing to learn: the least shortfall. Nothing to lose: that arm, also if nothing is learnt from it.
    delta, g = np.array([[0.5, 0.2, 0.4], [0.5, 0.0, 0.4]]), np.array([[0.0] * 3, [0.3, 0, 1]])
    first, second, chance = two_points(delta, g, np.ones((2, 3)), True)
    assert (first[0], second[0]) == (1, 1)
    assert np.where(chance[1] == 1.0, first[1], second[1]) == 1


@pytest.mark.parametrize("form", ["information", "variance"])
def test_information_directed_plays_its_distribution(form):
    """The probabilities of both arms from shortfalls and gains, and the arm that one number of the stream chooses."""
    means, weights = np.array([[0.2, 0.7, 0.5], [0.9, 0.4, 0.1], [0.5, 0.3, 0.65]]), np.array([0.5, 0.2, 0.3])
    belief = FiniteModels(BernoulliModels(means), weights)
    known = belief.best_arm()
    gain = known.gain() if form == "information" else known.variance
    grid = np.linspace(0.0, 1.0, 2001)
    options = []
    for i, j in itertools.permutations(range(3), 2):
        ratio = (grid * known.shortfall[i] + (1 - grid) * known.shortfall[j]) ** 2 / (
            grid * gain[i] + (1 - grid) * gain[j]
        )
        k = int(ratio.argmin())
        options.append((ratio[k], i, j, grid[k]))
    _, i, j, q = min(options)
    pi = np.zeros(3)
    pi[i], pi[j] = q, 1 - q
    planner = InformationDirected(form)
    decision = planner.plan(belief, 0, None, default_rng(1))
    assert_allclose(decision.info["probability"], pi, atol=1e-3)
    assert_allclose(decision.info["q"], belief.mean())
    first, second, chance = (
        x[0] for x in two_points(known.shortfall[None], gain[None], known.mean[None], form == "information")
    )
    for seed in range(12):
        drawn = planner.plan(belief, 0, None, default_rng(seed)).action
        assert type(drawn) is int
        assert drawn == (first if default_rng(seed).random(1)[0] < chance else second)
    both = planner.plan(belief.batch(4), 0, None, default_rng(1))
    assert both.action.shape == (4,)
    assert_allclose(both.info["probability"], np.tile(decision.info["probability"], (4, 1)))


def test_ratio_of_finitely_many_models():
    means, weights = np.array([[0.2, 0.7, 0.5], [0.9, 0.4, 0.1], [0.5, 0.3, 0.65]]), np.array([0.5, 0.2, 0.3])
    belief = FiniteModels(BernoulliModels(means), weights)
    known = belief.best_arm()
    expected = sum(known.p * known.shortfall) / math.sqrt(sum(known.p * known.gain()))
    assert information_ratio(belief) == pytest.approx(expected)
    assert information_ratio(belief) > 0.1
    twice = information_ratio(belief.batch(2).update(Transition(0, np.array([0, 1]), np.array([1.0, 0.0]), 0)))
    for ratio, (a, r) in zip(twice, ((0, 1.0), (1, 0.0)), strict=True):
        assert ratio == pytest.approx(float(information_ratio(belief.update(Transition(0, a, r, 0)))))


# Quantiles and counts -------------------------------------------------------------------------------------------------


def test_orders_of_quantiles():
    """1 - 1 / (t (log n)^c), and 0 at the first step of the version without a horizon."""
    plain, theirs = BayesUCB(), BayesUCB(c=2.0, horizon=50)
    assert plain.order(1) == 0.0
    assert [plain.order(t) for t in (2, 5)] == [0.5, 0.8]
    for t in (1, 2, 7):
        assert theirs.order(t) == pytest.approx(1.0 - 1.0 / (t * math.log(50.0) ** 2))
    assert BayesUCB(c=0.0, horizon=50).order(4) == 0.75
    belief = NormalArm([0.3, -0.1, 0.2], [1.0, 3.0, 0.4], 0.7)
    decision = theirs.plan(belief, None, 6, default_rng(0))
    assert_allclose(decision.info["q"], belief.quantile(theirs.order(7)))
    assert decision.action == decision.info["q"].argmax()
    assert decision.memory == 7
    assert theirs.start() == 0


def test_ucb1_by_hand():
    prior = NormalArm([5.0, 5.0, 5.0], [1.0, 2.0, 0.5])
    belief = prior.batch(2)
    for a, r in (((0, 1), (1.0, 0.2)), ((1, 2), (0.5, 0.9)), ((0, 0), (0.0, 0.4)), ((2, 0), (0.7, 0.1))):
        belief = belief.update(Transition(0, np.array(a), np.array(r), 0))
    expected = [
        [0.5 + math.sqrt(2 * math.log(4) / 2), 0.5 + math.sqrt(2 * math.log(4)), 0.7 + math.sqrt(2 * math.log(4))],
        [0.25 + math.sqrt(2 * math.log(4) / 2), 0.2 + math.sqrt(2 * math.log(4)), 0.9 + math.sqrt(2 * math.log(4))],
    ]
    decision = UCB1().plan(belief, None, None, default_rng(0))
    assert_allclose(decision.info["q"], expected, rtol=1e-9)
    assert_array_equal(decision.action, np.argmax(expected, axis=1))
    first = prior.update(Transition(0, 0, 1.0, 0))
    decision = UCB1().plan(first, None, None, default_rng(0))
    assert_allclose(decision.info["q"], [1.0, np.inf, np.inf])
    assert decision.action == 1
    assert UCB1().plan(prior, None, None, default_rng(0)).action == 0
    assert best(np.array([0.1, 0.7, 0.7])) == 1
    assert_array_equal(best(np.array([[0.1, 0.7, 0.7], [0.3, 0.2, 0.1]])), [1, 0])
    assert best(np.array([0.1, 0.7 - 1e-16, 0.7])) == 1
    assert_array_equal(best(np.array([[0.1, 0.7 - 1e-16, 0.7], [0.3 - 1e-16, 0.3, 0.1]])), [1, 0])
    assert_array_equal(best(np.array([[-np.inf, np.inf, np.inf]])), [1])


# Bounds ---------------------------------------------------------------------------------------------------------------

LIMITS = [
    # a function of one argument, its name in the sentence, values accepted, values refused
    (lambda x: bounds.kaufmann_thompson([0.2, 0.5], 10, x), "epsilon", [0.0, 3.0], [-1e-9]),
    (lambda x: bounds.kaufmann_bayes_ucb([0.2, 0.5], 10, x), "epsilon", [0.0, 3.0], [-1e-9]),
    (lambda x: bounds.liu_li(x, 10), "weight", [1e-9, 1.0], [0.0, 1.0 + 1e-9]),
    (lambda x: bounds.agrawal_goyal_linear(2, 10, x), "epsilon", [1e-9, 1.0 - 1e-9], [0.0, 1.0]),
    (lambda x: bounds.agrawal_goyal_linear(x, 10, 0.5), "d", [1], [0]),
    (lambda x: bounds.agrawal_goyal_independent(x, 10), "arms", [1], [0]),
    (lambda x: bounds.russo_van_roy(x, 2, 10), "H", [0.0], [-1e-9]),
    (lambda x: bounds.russo_van_roy(0.5, x, 10), "arms", [1], [0]),
    (lambda x: bounds.russo_van_roy(0.5, 2, 10, x), "deviation", [0.0], [-1e-9]),
    (lambda x: bounds.russo_van_roy_linear(x, 10), "d", [1], [0]),
    (lambda x: bounds.linear_lower(x, 10), "d", [1], [0]),
    (lambda x: bounds.bayesian_lower(x, 10), "arms", [1], [0]),
    (lambda x: bounds.lai_robbins([0.2, 0.5], x), "steps", [1.0], [0.999]),
    (lambda x: bounds.mannor_tsitsiklis([0.2, 0.5], x), "steps", [1.0], [0.999]),
    (lambda x: bounds.agrawal_goyal_dependent([0.2, 0.5], x), "steps", [1.0], [0.999]),
    (lambda x: bounds.kaufmann_thompson([0.2, 0.5], x), "steps", [2.0], [1.999]),
    (lambda x: bounds.lai_robbins_constant([0.2, x]), "means", [0.0, 1.0], [-1e-9, 1.0 + 1e-9]),
    (lambda x: bounds.lai_robbins_constant([0.2, 5.0], x), "noise", [1e-9], [0.0]),
    (lambda x: _bounds_of_world.bounds_of(BernoulliBandit(np.array([0.2, 0.5])), x), "steps", [2.0], [1.999]),
    (lambda x: gopalan([[0.2, x]], 0, 10), "models", [0.0, 1.0], [-1e-9, 1.0 + 1e-9]),
    (lambda x: gopalan([[0.2, 0.5], [0.2, 0.1]], x, 10), "truth", [0, 1], [-1, 2]),
    (lambda x: gopalan([[0.2, 0.5]], 0, 10, x), "epsilon", [0.0, 0.999], [-1e-9, 1.0]),
    (lambda x: gopalan([[0.2, 0.5]], 0, x), "steps", [2.0], [1.999]),
    (lambda x: entropy([0.5, x]), "p", [0.0], [-1e-9]),
]  # fmt: skip


@pytest.mark.parametrize("call, name, good, bad", LIMITS, ids=range(len(LIMITS)))
def test_arguments_of_bounds_at_their_limits(call, name, good, bad):
    for x in good:
        call(x)
    for x in bad:
        refused(lambda x=x: call(x), f"'{name}' must be")


def test_a_bound_says_something_up_to_the_largest_regret():
    """Vacuous above most times the last step, not at it; a bound without a constant never is."""
    steps = np.array([2.0, 8.0])
    bound = Bound(steps, np.array([9.0, 2.0]), "upper", "exact", "Bayesian", "key", 0.25)
    assert bound.end == 2.0
    assert not bound.vacuous
    assert bound._replace(value=np.array([0.0, 2.1])).vacuous
    assert not bound._replace(value=np.array([0.0, 2.1]), kind="order").vacuous
    assert not Bound(steps, np.array([9.0, 1e300]), "upper", "exact", "Bayesian", "key").vacuous


def test_every_bound_of_an_instance():
    """Names, sides, kinds and values, for Gaussian and for Bernoulli arms; the steps are kept."""
    T = np.array([3.0, 50.0])
    means = [0.2, 0.65, 0.5]
    gaps = [0.45, 0.15]
    for noise in (None, 0.7):
        if noise is None:
            kl = [p * math.log(p / 0.65) + (1 - p) * math.log((1 - p) / 0.35) for p in (0.2, 0.5)]
        else:
            kl = [d * d / (2 * 0.49) for d in gaps]
        c = sum(d / k for d, k in zip(gaps, kl, strict=True))
        belief = FiniteModels(BernoulliModels([[0.2, 0.7, 0.5], [0.9, 0.4, 0.1]]), [0.3, 0.7])
        found = bandit_bounds(means, T, noise, belief, epsilon=0.3)
        assert found.keys() == {
            "Lai-Robbins", "Mannor-Tsitsiklis", "Thompson, Agrawal-Goyal 2012", "Thompson, Kaufmann",
            "Bayes-UCB, Kaufmann", "Thompson, Agrawal-Goyal 2013", "Bubeck-Cesa-Bianchi", "Thompson, Russo-Van Roy",
        }  # fmt: skip
        H = -0.3 * math.log(0.3) - 0.7 * math.log(0.7)
        expected = {
            "Lai-Robbins": c * np.log(T),
            "Mannor-Tsitsiklis": (1 / 0.45 + 1 / 0.15) * np.log(T),
            "Thompson, Agrawal-Goyal 2012": (1 / 0.45**2 + 1 / 0.15**2) ** 2 * np.log(T),
            "Thompson, Kaufmann": 1.3 * c * (np.log(T) + np.log(np.log(T))),
            "Bayes-UCB, Kaufmann": 1.3 * c * np.log(T),
            "Thompson, Agrawal-Goyal 2013": np.sqrt(3 * T * np.log(T)),
            "Bubeck-Cesa-Bianchi": np.sqrt(3 * T),
            "Thompson, Russo-Van Roy": 0.5 * np.sqrt(2 * H * 3 * T),
        }
        for name, value in expected.items():
            assert_allclose(found[name].value, value, rtol=1e-9)
            assert_array_equal(found[name].steps, T)
            most = math.inf if found[name].regret == "Bayesian" else 0.45
            assert found[name].most == pytest.approx(most)


def test_few_points_of_a_curve():
    """At most ten whole numbers of steps, spread evenly, the first and the last among them."""
    assert _bounds_of_world._few(np.array([2.0, 2.5, 7.0, 3.9])).tolist() == [2.0, 3.0, 7.0]
    assert _bounds_of_world._few(np.arange(2.0, 12.0)).tolist() == list(range(2, 12))
    found = _bounds_of_world._few(np.arange(5.0, 105.0))
    assert found.tolist() == [5.0 + 11.0 * i for i in range(10)]
    assert _bounds_of_world._few(np.array([9.5])).tolist() == [9.0]


def test_the_longest_horizon_of_an_optimum(monkeypatch):
    """Guha and Munagala's bound up to the limit, for two arms only, and only where posteriors can be listed."""
    monkeypatch.setattr(_bounds_of_world, "OPTIMAL_STEPS", 4)
    name = "Thompson, Guha-Munagala"
    two = make_world("bernoulli", arms=2)
    found = _bounds_of_world.bounds_of(two, [2.0, 3.0, 4.0], vacuous=True)[name]
    assert_array_equal(found.steps, [2.0, 3.0, 4.0])
    assert_allclose(found.value, [2.0 * bayes_optimal_value([(1, 1), (1, 1)], t, "regret") for t in (2, 3, 4)])
    assert found.most == 1.0
    assert name not in _bounds_of_world.bounds_of(two, [2.0, 4.5], vacuous=True)
    assert name not in _bounds_of_world.bounds_of(make_world("bernoulli", arms=3), [2.0, 3.0], vacuous=True)
    assert name not in _bounds_of_world.bounds_of(make_world("gaussian", arms=2), [2.0, 3.0], vacuous=True)


def test_bounds_for_finitely_many_models():
    """The true model may be any of them; Liu and Li's bounds are for two arms and two models of positive weight."""
    T = np.array([10.0, 40.0])
    models = np.array([[0.7, 0.9, 0.6], [0.7, 0.5, 0.4], [0.7, 0.8, 0.95]])
    found = _bounds_of_world._of_models(models[1], FiniteModels(BernoulliModels(models)), T)
    assert found["Thompson, Gopalan"].value.tolist() == [gopalan(models, 1, 10), gopalan(models, 1, 40)]
    assert found.keys() == {"Thompson, Gopalan"}
    pair = FiniteModels.two([0.5, 0.4], [0.5, 0.6], 0.8)
    found = _bounds_of_world._of_models(np.array([0.5, 0.6]), pair, T)
    assert_allclose(found["Thompson, Liu-Li, unlikely truth"].value, np.sqrt(T / 0.2))
    assert_allclose(found["Thompson, Liu-Li, likely truth"].value, np.sqrt(0.8 * T))
    sure = FiniteModels.two([0.5, 0.4], [0.5, 0.6], 1.0)
    assert _bounds_of_world._of_models(np.array([0.5, 0.6]), sure, T).keys() == {"Thompson, Gopalan"}
    for other in (
        FiniteModels(OutcomeModels(np.array([0.0, 2.0]), np.full((1, 2, 2), 0.5))),
        FiniteModels(GaussianModels(np.array([[1.0, 1.0]]))),
    ):
        assert _bounds_of_world._of_models(np.array([1.0, 1.0]), other, T) == {}
