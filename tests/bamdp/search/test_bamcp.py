import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.search.bamcp import BAMCP, Memory, learned
from bayesrl.beliefs import RewardBeta, RewardNormal, UnknownRewards
from bayesrl.checks import frozen
from bayesrl.core import Transition, run
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.search import uct_on_histories
from bayesrl.kernels.search.history_tree import new_tree, subtree
from bayesrl.kernels.search.search_bounds import AUTO, ucb_constants
from bayesrl.kernels.search.uct_on_histories import SearchSettings, best_actions, search
from bayesrl.kernels.simulators.simulator import forget, step
from bayesrl.kernels.simulators.urn import draw, greedy_rollout
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import finite_horizon, solve
from bayesrl.testing import assert_frequencies, assert_mean_equal

TIED = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9), [[1.0, 1.0]])


def small(rng=None):
    """Two states, a terminal third, an uneven prior with some data behind it."""
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.0, 1.0], [2.0, 0.5], [0, 0]], gamma=0.8, terminal=[2])
    prior = b.DirichletMDP.structured(
        mdp, [[0.5, 1.0, 0.3], [2.0, 0.2, 0.2], [0.3, 0.3, 0.3], [1.0, 1.0, 0.1]] + [[1.0, 1.0, 1.0]] * 2
    )
    return prior.update(Transition(0, 1, 1.0, 1)).update(Transition(1, 0, 2.0, 0)).update(Transition(0, 1, 1.0, 1))


def test_urns_draw_like_a_model_drawn_once():
    """Three outcomes of one row: joint frequencies as from a Dirichlet drawn once; 30000 draws, alarm 1e-6."""
    belief, rng = small(), default_rng(0)
    urn, g, counts = belief.simulate(5), 1, np.zeros((3, 3, 3))
    for _ in range(30000):
        counts[draw(urn, g, rng), draw(urn, g, rng), draw(urn, g, rng)] += 1
        forget(urn, np.array([g]), 1)
    alpha, expected = belief.alpha[g], np.zeros((3, 3, 3))
    for i, j, k in np.ndindex(3, 3, 3):
        a = alpha.copy()
        p = 1.0
        for x in (i, j, k):
            p *= a[x] / a.sum()
            a[x] += 1
        expected[i, j, k] = p
    assert_frequencies(counts, expected)


def test_pairs_of_a_flat_model_may_share_an_urn():
    """Outcomes are numbered as the states are, and yet no pair has an urn of its own: what one teaches, all know."""
    flat = TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)), gamma=0.8).outcomes.flat()
    shared = dataclasses.replace(flat, group=np.zeros_like(flat.group), size=flat.size[:1])
    belief = b.DirichletMDP(shared, [[0.01, 0.01, 0.01]], 0.8).update(Transition(0, 1, 0.0, 1))
    model, rng = belief.simulate(1), default_rng(0)
    assert {int(step(model, 1, 0, rng)[0]) for _ in range(3)} == {1}


def bonus(planner, returns, n):
    """The number that was given times sqrt(x), or Bernstein's bound with the deviation and range of returns so far."""
    x = np.log(n.sum()) / n
    if planner.exploration != "auto":
        return planner.exploration * np.sqrt(x)
    sigma = np.std(returns, ddof=1) if len(returns) > 1 else 0.0
    return np.sqrt(2.0 * sigma**2 * x) + np.ptp(returns) * x / 3.0


def naive(belief, s0, planner, Q_rollout, rng):
    """Guez's Algorithm 1 as printed: a model is drawn at the root of every simulation and followed."""
    A, gamma, N, Q, returns = belief.n_actions, belief.gamma, {}, {}, []

    def rollout_action(s):
        if rng.random() < planner.rollout_epsilon:
            return int(rng.integers(A))
        return int(rng.choice(np.flatnonzero(Q_rollout[s] == Q_rollout[s].max())))

    def step(model, s, a):
        k = int(rng.choice(belief.outcomes.n_outcomes, p=model.prob[model.group[s, a]]))
        return k, int(model.succ[s, a, k]), float(model.reward[s, a, k])

    def rollout(model, s, d):
        if d == planner.depth or belief.outcomes.terminal[s]:
            return 0.0
        _, y, r = step(model, s, rollout_action(s))
        return r + gamma * rollout(model, y, d + 1)

    def simulate(model, h, s, d):
        if d == planner.depth or belief.outcomes.terminal[s]:
            return 0.0
        if h not in N:
            N[h], Q[h] = np.zeros(A), np.zeros(A)
            a = rollout_action(s)
            _, y, r = step(model, s, a)
            R = r + gamma * rollout(model, y, d + 1)
        else:
            n = N[h]
            with np.errstate(divide="ignore", invalid="ignore"):
                u = np.where(n == 0, np.inf, Q[h] + bonus(planner, returns, n))
            a = int(rng.choice(np.flatnonzero(u == u.max())))
            k, y, r = step(model, s, a)
            R = r + gamma * simulate(model, (*h, a, k), y, d + 1)
        N[h][a] += 1
        Q[h][a] += (R - Q[h][a]) / N[h][a]
        return R

    for _ in range(planner.simulations):
        returns.append(simulate(belief.sample_mdp(rng), (), s0, 0))
    return Q[()], N[()]


@pytest.mark.long
@pytest.mark.parametrize("exploration", [1.0, "auto"])
def test_equal_in_law_to_a_naive_transcription(exploration):
    """Root values and visits of 500 searches each; false alarm 1e-6 each; sees a quarter of a standard deviation."""
    planner = BAMCP(simulations=40, depth=6, exploration=exploration, rollout_epsilon=0.3)
    belief, rng = small(), default_rng(1)
    Q_rollout = np.array([[0.0, 1.0], [0.5, 0.5], [0.0, 0.0]])
    ours = [planner.plan(belief, 0, Memory(Q_rollout, None), rng).info for _ in range(500)]
    theirs = [naive(belief, 0, planner, Q_rollout, rng) for _ in range(500)]
    for key, i in (("q", 0), ("visits", 1)):
        assert_mean_equal([o[key] - t[i] for o, t in zip(ours, theirs, strict=True)], 0.0, what=key)


def coin(level=0.0):
    """One state, two actions, one step: a return is `level` or one more."""
    reward = level + np.array([[[0.0, 1.0]] * 2])
    outcomes = Outcomes(
        np.zeros((1, 2, 2), int), reward, [[0, 1]], np.array([2, 2]), 0.0, np.ones(1), np.zeros(1, bool)
    )
    return b.DirichletMDP(outcomes, [[2.0, 1.0], [1.0, 3.0]], 0.9)


@pytest.mark.parametrize("level", [0.0, 1e6])
@pytest.mark.parametrize("budget", [{"simulations": 300}, {"milliseconds": 20.0}], ids=["at once", "in chunks"])
def test_the_spread_is_that_of_the_returns(budget, level):
    """Returns of 0 or 1 with mean p have variance p (1 - p) and range 1, wherever zero is, in one search or many."""
    decision = BAMCP(depth=1, reuse=True, **budget).plan(coin(level), 0, None, default_rng(0))
    tree, n = decision.memory.tree, decision.info["simulations"]
    mean, squares, lowest, highest = tree.spread
    p = tree.N[0] @ tree.Q[0] / n - level
    assert mean - level == pytest.approx(p, abs=1e-8 + n * np.spacing(level))  # n roundings at that level
    assert squares == pytest.approx(n * p * (1 - p), rel=1e-6)
    assert (lowest, highest) == (level, level + 1.0)
    expected = np.sqrt(2 * p * (1 - p) * n / (n - 1)), 1 / 3
    assert ucb_constants(AUTO, tree.spread, n) == pytest.approx(expected, rel=1e-6)


def test_a_number_given_by_name_is_the_constant():
    """None explores nothing but what is untried or as good; an enormous one visits actions equally often."""
    unequal = TabularMDP.from_dense(np.ones((1, 2, 1)), [[1.0, 0.0]], gamma=0.5)
    visits = [
        BAMCP(100, 2, c).plan(b.DirichletMDP.flat(unequal), 0, None, default_rng(0)).info["visits"] for c in (0.0, 1e9)
    ]
    np.testing.assert_array_equal(visits, [[99, 1], [50, 50]])


def test_the_kept_tree_keeps_the_spread_of_returns():
    """Its number of returns is that of its visits, their mean that of its values, variance and range the old ones."""
    belief, happened = small(), Transition(0, 1, 1.0, 1)
    planner = BAMCP(simulations=300, depth=5, reuse=True)
    first = planner.plan(belief, 0, None, default_rng(0))
    tree = first.memory.tree
    kept = subtree(tree, belief.code(happened), 1)
    n = kept.total[0]
    assert kept.spread[0] == pytest.approx(kept.N[0] @ kept.Q[0] / n)
    assert kept.spread[1] / n == pytest.approx(tree.spread[1] / tree.total[0])
    np.testing.assert_allclose(kept.spread[2:] - kept.spread[0], tree.spread[2:] - tree.spread[0])
    again = planner.plan(belief.update(happened), 1, first.memory, default_rng(1), happened).memory.tree
    assert again.spread[0] == pytest.approx(again.N[0] @ again.Q[0] / again.total[0])
    assert again.spread[1] > kept.spread[1]
    assert again.spread[2] <= kept.spread[2] < kept.spread[3] <= again.spread[3]


def test_the_search_never_settles_for_good():
    """A wage of .4 or a coin that pays 1 with chance .3: the coin is tried again however many wages were paid."""
    outcomes = Outcomes(
        np.zeros((1, 2, 2), int), np.array([[[0.4, 0.0], [0.0, 1.0]]]), [[0, 1]], np.array([1, 2]), 0.0, np.ones(1),
        np.zeros(1, bool),
    )  # fmt: skip
    belief = b.DirichletMDP(outcomes, [[1.0, 0.0], [7.0, 3.0]], 0.9)
    for n in (10**3, 10**5):
        visits = [BAMCP(n, depth=1).plan(belief, 0, None, default_rng(i)).info["visits"][1] for i in range(10)]
        least = np.log(n) / 3  # a coin that never paid is tried again while .4 log(n) / (3 visits) is above .4
        assert least - 1 < min(visits)
        assert max(visits) < 100


def test_returns_that_do_not_differ_leave_the_choice_open():
    """The constants are zero then: every action is tried, and equal ones alike; 2000 visits, false alarm 1e-6."""
    world = TabularMDP.from_dense(np.full((2, 3, 2), 0.5), np.full((2, 3), 0.1), gamma=0.9)
    decision = BAMCP(simulations=2000, depth=4, reuse=True).plan(b.DirichletMDP.flat(world), 0, None, default_rng(0))
    assert decision.memory.tree.spread[1] == np.ptp(decision.memory.tree.spread[2:]) == 0.0
    assert decision.info["q"] == pytest.approx(0.1 * (1 - 0.9**4) / 0.1)
    assert_frequencies(decision.info["visits"], np.full(3, 1 / 3))


def test_root_values_approach_the_exact_ones():
    """The best root value of the tied chain over 6 steps, averaged over ten seeds, nears the exact one.

    UCT's root value is a mean of returns that include exploring, so it rises slowly: measured errors 1.13, .41, .15 of
    6.97 for 10^3, 10^4, 10^5 simulations. Each tenfold budget must at least halve the error.
    """
    exact, errors = exact_q(TIED, 0, 6).max(), []
    for K in (1000, 10000, 100000):
        planner = BAMCP(simulations=K, depth=6, exploration=10.0)
        q = np.mean([planner.plan(TIED, 0, None, default_rng(i)).info["q"].max() for i in range(10)])
        errors.append(exact - q)
    assert 0 < errors[2] < errors[1] / 2 < errors[0] / 4
    assert errors[2] < 0.03 * exact


@pytest.mark.parametrize("cells", [(2, 2), (2, 2, 2)])
def test_unknown_rewards_approach_the_exact_values(cells):
    """Beta rewards, horizon 3, ten seeds: the best root value within 3% of the exact one, nearer with more search."""
    P = [[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.2, 0.8]]]
    flat = b.DirichletMDP.flat(TabularMDP.from_dense(P, np.zeros((2, 2)), gamma=0.9), 0.5)
    belief = UnknownRewards(flat, RewardBeta(np.full(cells, 0.3), np.full(cells, 0.3)))
    exact, errors = exact_q(belief, 0, 3).max(), []
    for K in (300, 30000):
        q = [BAMCP(K, 3, 2.0).plan(belief, 0, None, default_rng(i)).info["q"].max() for i in range(10)]
        errors.append(abs(np.mean(q) - exact))
    assert errors[1] < min(errors[0], 0.03 * exact)


def test_known_model_is_uct():
    """On a point belief the best root value nears the finite-horizon optimum, 31.9, with a UCB constant of its order.

    Ten seeds gave errors 2.22, 1.23 and .50 (standard errors .10, .04, .01) at 2000, 20000 and 200000 simulations. (A
    constant of 3 leaves some searches in a wrong branch for good: these gave 1.7 at 200000.)
    """
    world = b.make_world("chain", gamma=0.9)
    point, exact = b.DirichletMDP.structured(world, known=True), finite_horizon(world, 8).values[8, 4]
    error = [
        exact - np.mean([BAMCP(K, 8, 30.0).plan(point, 4, None, default_rng(i)).info["q"].max() for i in range(5)])
        for K in (20000, 200000)
    ]
    assert 0 < error[1] < error[0] / 2
    assert error[1] < 0.02 * exact


def test_rollouts_are_epsilon_greedy_with_ties_at_random():
    """Frequencies of 20000 actions, epsilon .3, where ties divide the columns and where not; false alarm 1e-6."""
    model, rng, tied = small().simulate(1), default_rng(0), np.zeros(11)
    tied[:7] = 1.0
    for q in ([1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.0, 1.0], tied, 0.0 * tied):
        P, best = best_actions(frozen(np.array([q]))), np.equal(q, np.max(q))
        actions = [int(greedy_rollout(model, P, 0, -1, 0.3, rng)) for _ in range(20000)]
        assert_frequencies(np.bincount(actions, minlength=len(q)), 0.3 / len(q) + 0.7 * best / best.sum())


def test_one_simulation_gives_a_legal_action():
    assert BAMCP(simulations=1).plan(TIED, 0, None, default_rng(0)).action in (0, 1)
    assert BAMCP(simulations=5, depth=1).plan(small(), 2, None, default_rng(0)).action in (0, 1)


@pytest.mark.parametrize("count", [1e-322, 1e308])
def test_draws_stay_inside_however_small_or_large_the_counts(count):
    """A draw may round up to the mass of an empty urn, and the mass may overflow: every outcome is one of three."""
    world = TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)), gamma=0.8)
    belief = b.DirichletMDP.flat(world, 1.0)
    belief.__dict__["_prior"] = np.full((6, 3), count)  # the constructor refuses such counts
    with np.errstate(all="ignore"):
        model = belief.simulate(0)
    rng = default_rng(0)
    assert max(int(draw(model, g % 6, rng)) for g in range(60000)) < 3


def test_values_that_are_not_numbers_leave_every_action_open():
    """Where no action is the best one, rollouts take any."""
    P = best_actions(frozen(np.array([[np.nan, 1.0], [0.0, 1.0]])))
    assert set(P[0]) == {0, 1}
    assert set(P[1]) == {1}


def test_every_simulation_starts_from_the_belief_and_stops_at_the_end():
    """What a simulation imagined is forgotten after it, and nothing is simulated beyond a terminal state."""
    belief = small()
    model = belief.simulate(6)
    settings = SearchSettings(0.8, 1.0, 0.5, 6)
    steps = search(default_rng(0), model, 0, frozen(np.zeros((3, 2))), np.zeros(3), settings, new_tree(2, 40), 40)
    assert (model.rows["count"] == model.rows["seen"]).all()
    assert (model.rows["total"] == model.rows["mass"] + model.rows["seen"]).all()
    assert steps < 40 * 6


@pytest.mark.parametrize(("action", "state"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_the_kept_tree_is_the_part_below_what_happened(action, state):
    """Counts and values of the child become the root's; the search goes on from them, and finds the old histories."""
    belief = small()
    first = BAMCP(simulations=300, depth=5, exploration=3.0, reuse=True).plan(belief, 0, None, default_rng(0))
    happened = Transition(0, action, [0.0, 1.0][action], state)
    tree, k = first.memory.tree, belief.code(happened)
    children = {int(tree.edge[h]): h for h in range(1, tree.used[0]) if tree.parent[h] == 0}
    child = children[k * 2 + action]
    visits = [int(tree.total[h]) for h in children.values() if tree.total[h] > 0]
    assert len(set(visits)) == len(visits) == 4, "the children can be told apart"
    kept = subtree(tree, k, action)
    assert kept.total[0] == tree.total[child]
    np.testing.assert_array_equal(kept.Q[0], tree.Q[child])
    grandchildren = [h for h in range(tree.used[0]) if tree.parent[h] == child]
    assert sorted(tree.total[grandchildren]) == sorted(kept.total[1:][kept.parent[1:] == 0])
    again = BAMCP(simulations=100, depth=5, reuse=True).plan(
        belief.update(happened), state, first.memory, default_rng(1), happened
    )
    assert again.info["visits"].sum() == 100 + tree.total[child]
    found = again.memory.tree
    pairs = {(found.parent[h], found.edge[h]) for h in range(1, found.used[0])}
    assert len(pairs) == found.used[0] - 1, "a history is entered twice"


def test_time_instead_of_simulations():
    """What was done is said, however little time there is."""
    for milliseconds in (30.0, 1e-6):
        decision = BAMCP(milliseconds=milliseconds, depth=6).plan(TIED, 0, None, default_rng(0))
        assert decision.info["visits"].sum() == decision.info["simulations"] >= 1
        assert decision.action in (0, 1)


class Clock:
    """A clock that moves by what simulations are said to cost; a call costs more than a simulation."""

    def __init__(self, first=0.0):
        self.now, self.first, self.chunks = 0.0, first, []

    def __call__(self):
        return self.now

    def simulations(self, tree, n):
        assert tree.used[0] + n <= len(tree.total), "a simulation enters at most one history"
        tree.used[0] += n
        tree.total[0] += n
        self.now += 1e-3 * (1 + 0.1 * n) + (0.0 if self.chunks else self.first)
        self.chunks.append(n)
        return 2 * n


@pytest.mark.parametrize("first", [0.0, 5.0], ids=["compiled", "to be compiled"])
def test_the_time_is_used_and_not_exceeded(monkeypatch, first):
    """By a clock of the test's own: chunks grow up to a tenth of the time, growing the tree loses nothing, and what the
    first simulation took to compile does not count."""
    clock = Clock(first)
    monkeypatch.setattr(uct_on_histories, "perf_counter", clock)
    tree, done, steps = uct_on_histories.search_for(2.0, clock.simulations, new_tree(2, 10), 0.0)
    assert done == sum(clock.chunks) == tree.total[0]
    assert steps == 2 * done
    spent = clock.now - (first and first + 1.1e-3)
    assert 1.8 < spent <= 2.2
    assert clock.chunks[0] == 1
    assert 1000 < max(clock.chunks) < 4000
    assert done > 15_000
    nothing = Clock()
    monkeypatch.setattr(uct_on_histories, "perf_counter", nothing)
    assert uct_on_histories.search_for(1e-9, nothing.simulations, new_tree(2, 10), 0.0)[1] == 1


def test_rollouts_learn_from_real_transitions():
    Q = np.zeros((3, 2))
    one = learned(Q, Transition(0, 1, 2.0, 1), 0.5, 0.2)
    assert one[0, 1] == 0.4
    two = learned(one, Transition(1, 0, 1.0, 0), 0.5, 0.2)
    np.testing.assert_allclose(two[1, 0], 0.2 * (1.0 + 0.5 * 0.4))
    np.testing.assert_allclose(learned(one, Transition(1, 0, 1.0, 0, terminated=True), 0.5, 0.2)[1, 0], 0.2)
    assert not Q.any()


@pytest.mark.long
def test_returns_of_the_authors_code():
    """Double-loop, flat prior 1/9, K = 10: the author's C++ gives 245.6 (standard error .8) over 1000 steps.

    24 runs; a Student test of both errors at false alarm 1e-4 sees a difference of about 8.
    """
    world = b.make_world("double-loop")
    agent = b.BayesAgent(b.DirichletMDP.flat(world, 1 / 9), BAMCP(simulations=10, exploration=3.0))
    totals = np.array([run(agent, world, 1000, seed=2, replicate=i).total for i in range(24)])
    error = np.hypot(totals.std(ddof=1) / np.sqrt(len(totals)), 0.8)
    assert abs(totals.mean() - 245.6) < 4.7 * error


@pytest.mark.parametrize("simulations", [1, 50], ids=["in the rollout", "in the tree"])
def test_the_leaf_is_worth_what_the_mean_model_promises(simulations):
    """A known cycle with one action: whatever the depth, rewards on the way and the leaf come to the value."""
    cycle = TabularMDP.from_dense(np.roll(np.eye(3), 1, axis=1)[:, None], [[1.0], [0.0], [2.0]], gamma=0.9)
    point = b.DirichletMDP.structured(cycle, known=True)
    value = solve(cycle).values[0]
    for depth in (1, 2, 5):
        q = BAMCP(simulations, depth, leaf="mean").plan(point, 0, None, default_rng(0)).info["q"]
        assert q == pytest.approx(value)
        assert BAMCP(simulations, depth).plan(point, 0, None, default_rng(0)).info["q"] < value - 1


def test_nothing_comes_after_the_end():
    """At a terminal state every action is worth nothing, where rewards are unknown too and whatever a leaf is worth."""
    belief = UnknownRewards(small(), RewardBeta(np.ones((3, 2)), np.ones((3, 2))))
    for planner in (BAMCP(50), BAMCP(50, leaf="mean"), BAMCP(milliseconds=1.0)):
        assert (planner.plan(belief, 2, None, default_rng(0)).info["q"] == 0.0).all()


def test_no_tree_is_kept_over_a_reset():
    """An episode is cut off elsewhere than the next one begins: the tree of what might have followed is of no use."""
    P = np.array([[[0, 1.0]] * 2, [[1.0, 0]] * 2])
    point = b.DirichletMDP.structured(TabularMDP.from_dense(P, np.eye(2), gamma=0.0), known=True)
    planner = BAMCP(simulations=20, depth=3, reuse=True)
    first = planner.plan(point, 0, None, default_rng(0))
    cut = Transition(0, first.action, 1.0, 1, False, True)
    again = planner.plan(point, 0, first.memory, default_rng(1), cut)
    np.testing.assert_array_equal(again.info["q"], [1.0, 0.0])
    assert again.info["visits"].sum() == 20


def test_settings_of_other_kinds():
    assert BAMCP(simulations=np.int64(5)).plan(small(), 0, None, default_rng(0)).info["visits"].sum() == 5
    with pytest.raises(InvalidArgument, match="'reuse' must be True or False, got 'no'"):
        BAMCP(reuse="no")
    gaussian = RewardNormal(*np.ones((4, 3, 2)))
    with pytest.raises(Incompatible, match="finitely many values"):
        b.BayesAgent(UnknownRewards(small(), gaussian), BAMCP())
