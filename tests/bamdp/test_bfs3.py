"""BFS3 against a naive transcription and exact values, and the replay of histories that it stands on."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.search.bfs3 import BFS3
from bayesrl.beliefs import RewardBeta, RewardNormal, SparseDirichletMDP, UnknownRewards
from bayesrl.beliefs.tabular.row_column_beta import RowColumnBeta
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.replay import likelihood, replay, undo
from bayesrl.kernels.simulator import step
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.testing import assert_mean_equal

TIED = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9), [[2.0, 1.0]])


def small(gamma=0.8):
    """Two states, a terminal third, uneven counts, rewards of both signs, some data, a known row."""
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.2, 1.0], [2.0, -0.5], [0, 0]], gamma, terminal=[2])
    alpha = [[0.5, 1.0, 0.3], [2.0, 0.2, 0.2], [0.3, 0.3, 0.3], [1.0, 1.0, 0.1]] + [[1.0] * 3] * 2
    prior = b.DirichletMDP.structured(mdp, alpha, known=np.arange(6) == 3)
    return prior.update(Transition(0, 1, 1.0, 1)).update(Transition(1, 0, 2.0, 0)).update(Transition(0, 1, 1.0, 1))


def undiscounted():
    return small(1.0)


def tied():
    return TIED


def flat():
    return b.DirichletMDP.flat(b.make_world("chain", gamma=0.9), 0.3).update(Transition(0, 0, 0.0, 1))


def sparse():
    prior = SparseDirichletMDP.flat(b.make_world("chain", gamma=0.9), 0.3)
    return prior.update(Transition(0, 0, 0.0, 1)).update(Transition(1, 0, 0.0, 2)).update(Transition(0, 0, 2.0, 0))


def unknown():
    return UnknownRewards(small(), RewardBeta(np.full((3, 2), 0.7), np.linspace(0.5, 2.0, 6).reshape(3, 2), -1.0, 2.0))


# Replay --------------------------------------------------------------------------------------------------------------


def predictive(belief, s, a):
    """{outcome as a simulator numbers it: probability}, by the belief's own mean."""
    o = belief.outcomes
    p = belief.mean_mdp().prob[o.group[s, a]]
    if not isinstance(belief, UnknownRewards):
        return dict(enumerate(p))
    pay = [belief.rewards.reward_predictive(belief.cell(s, a, k))[1] for k in range(o.n_outcomes)]
    return {k * 2 + j: p[k] * pay[k][j] for k in range(o.n_outcomes) for j in range(2)}


@pytest.mark.parametrize("prior", [small, flat, sparse, unknown])
def test_replay_and_undo_follow_the_belief(prior):
    """Down a random path and back: at every hyper-state the urns' probabilities are the updated belief's."""
    belief, rng = prior(), default_rng(0)
    model, path, beliefs, s = belief.simulate(50), [], [belief], 0
    start = [np.array(x) for x in likelihoods(model, belief)]
    for _ in range(50):
        a = int(rng.integers(2))
        expected = predictive(belief, s, a)
        found = {k: likelihood(model, s, a, k) for k in expected}
        np.testing.assert_allclose([*found.values()], [*expected.values()], atol=1e-12)
        k, y, r, _done, _mark = step(model, s, a, rng)
        undo(model, s, a, k)
        replay(model, s, a, k)
        belief = belief.update(Transition(s, a, r, int(y)))
        path.append((s, a, k))
        beliefs.append(belief)
        s = int(y) if not belief.outcomes.terminal[y] else 0
    for (s, a, k), before in zip(reversed(path), reversed(beliefs[:-1]), strict=True):
        undo(model, s, a, k)
        expected = predictive(before, s, a)
        np.testing.assert_allclose([likelihood(model, s, a, e) for e in expected], [*expected.values()], atol=1e-12)
    for x, y in zip(start, likelihoods(model, beliefs[0]), strict=True):
        np.testing.assert_allclose(x, y)


def likelihoods(model, belief):
    cells = [(s, a) for s in range(belief.n_states) if not belief.outcomes.terminal[s] for a in range(2)]
    return [[likelihood(model, s, a, k) for k in predictive(belief, s, a)] for s, a in cells]


# The search ----------------------------------------------------------------------------------------------------------


def naive(belief, s0, planner, rng):
    """BFS3 with a dictionary of histories and copied beliefs; bounds of the sampled trees only."""
    A, gamma, o, C = belief.n_actions, belief.gamma, belief.outcomes, planner.width
    paid = o.reward[o.valid[o.group]]
    if isinstance(belief, UnknownRewards):
        paid = np.array([belief.rewards.low, belief.rewards.high, 0.0])
    span = [np.zeros(2)]
    for _ in range(planner.depth):
        span.append(np.array([paid.min(), paid.max()]) + gamma * span[-1])

    def drawn(now, s, a):
        """(What is told apart, next state, reward)."""
        moves = now.transitions if isinstance(now, UnknownRewards) else now
        k = int(rng.choice(o.n_outcomes, p=moves.mean_mdp().prob[o.group[s, a]]))
        y, r = int(o.succ[s, a, k]), float(o.reward[s, a, k])
        if now is not moves:
            possible, p = now.rewards.reward_predictive(now.cell(s, a, k))
            r = float(rng.choice(possible, p=p))
        return k, y, r

    def fsss(s0, start, D, n):
        """Bounds of V(s0, start) after n trajectories."""
        nodes = {}

        def bounds(h, y, d):
            if o.terminal[y] or d == 0:
                return np.zeros(2)
            return nodes[h]["v"] if h in nodes else span[d]

        def back_up(h, s, a, d):
            x = nodes[h]
            x["q"][a] = sum(
                n / C * (r + gamma * bounds((*h, (a, k, r)), y, d - 1)) for (k, y, r), n in x["drawn"][a].items()
            )
            x["v"] = x["q"].max(axis=0)

        def trajectory(h, s, now, d):
            if h not in nodes:
                nodes[h] = {"q": np.full((A, 2), -np.inf), "drawn": [{} for _ in range(A)]}
                for a in range(A):
                    for _ in range(C):
                        told = drawn(now, s, a)
                        nodes[h]["drawn"][a][told] = nodes[h]["drawn"][a].get(told, 0) + 1
                for a in range(A):
                    back_up(h, s, a, d)
            U = nodes[h]["q"][:, 1]
            a = int(rng.choice(np.flatnonzero(U == U.max())))
            told = list(nodes[h]["drawn"][a])
            gap = np.array([
                nodes[h]["drawn"][a][k, y, r] * np.diff(bounds((*h, (a, k, r)), y, d - 1))[0] for k, y, r in told
            ])  # fmt: skip
            if gap.max() > 0.0:
                k, y, r = told[int(rng.choice(np.flatnonzero(gap == gap.max())))]
                trajectory((*h, (a, k, r)), y, now.update(Transition(s, a, r, y)), d - 1)
            back_up(h, s, a, d)

        if o.terminal[s0] or D == 0:
            return np.zeros(2)
        for _ in range(n):
            trajectory((), s0, start, D)
        return nodes[()]["v"]

    q = np.zeros((A, 2))
    for a in range(A):
        for _ in range(C):
            _, y, r = drawn(belief, s0, a)
            then = belief.update(Transition(s0, a, r, y))
            q[a] += (r + gamma * fsss(y, then, planner.depth - 1, max(1, planner.simulations // C))) / C
    return q[:, 1]


@pytest.mark.long
@pytest.mark.parametrize(("prior", "simulations"), [(small, 3), (small, 12), (sparse, 3), (unknown, 6)])
def test_equal_in_law_to_a_naive_transcription(prior, simulations):
    """Root values of 120 searches each, means and spread; false alarm 1e-6 each, sees half a standard deviation.

    One trajectory from each successor leaves bounds apart, several close them.
    """
    belief, planner, rng = prior(), BFS3(simulations, depth=3, width=3), default_rng(1)
    ours = np.array([planner.plan(belief, 0, None, rng).info["q"] for _ in range(120)])
    theirs = np.array([naive(belief, 0, planner, rng) for _ in range(120)])
    assert_mean_equal(ours - theirs, 0.0, what="q")
    centre = theirs.mean()
    assert_mean_equal((ours - centre) ** 2 - (theirs - centre) ** 2, 0.0, what="spread")


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("prior", [small, flat, tied, undiscounted, unknown])
def test_bounds_bracket_the_exact_values(prior, width):
    """For certain, at every budget; and on average they tighten."""
    belief, depth = prior(), 3
    gap = []
    for simulations in (1, 30, 300):
        gap.append([])
        for s in range(belief.n_states):
            exact = exact_q(belief, s, depth)
            for seed in range(4):
                found = BFS3(simulations, depth, width).plan(belief, s, None, default_rng(seed)).info
                assert (found["lower"] <= exact + 1e-9).all()
                assert (exact <= found["upper"] + 1e-9).all()
                gap[-1].append(found["upper"] - found["lower"])
    assert np.mean(gap[2]) <= np.mean(gap[1]) <= np.mean(gap[0])


def test_root_values_approach_the_exact_ones():
    """Both root values of the tied chain over six decisions, 7.171 and 6.882, averaged over ten seeds.

    Measured errors of the best: 8.90, 1.15, .12, .058 for width 2, 5, 15, 50 and 20, 500, 5000, 50000 trajectories.
    Each step must at least halve the error; the last one is left to the documentation.
    """
    exact, error = exact_q(TIED, 0, 6), []
    for width, simulations in ((2, 20), (5, 500), (15, 5000)):
        found = [BFS3(simulations, 6, width).plan(TIED, 0, None, default_rng(i)).info["q"] for i in range(10)]
        error.append(np.abs(np.mean(found, axis=0) - exact).max())
    assert error[2] < error[1] / 2 < error[0] / 4
    assert error[2] < 0.05 * exact.max()


def test_states_that_cannot_be_listed():
    """On the infinite grid: a cell known to hold a reward beats three that are not, whatever the seed."""
    grid = RowColumnBeta((1.0, 9.0), (1.0, 9.0)).update(Transition((0, 0), 1, 1.0, (1, 0))).restart()
    for seed in range(5):
        found = BFS3(40, 4, 4).plan(grid, (0, 0), None, default_rng(seed))
        assert found.action == 1
        assert (found.info["lower"] <= found.info["upper"]).all()


def test_leaves_small_budgets_and_ends():
    loop = b.DirichletMDP.structured(b.make_world("double-loop", gamma=0.9), known=True)
    q = solve(loop.mean_mdp()).q
    for s in range(9):  # nothing is random: one draw is as good as many, and with solved leaves exact
        found = BFS3(30, 3, 1, "mean").plan(loop, s, None, default_rng(0)).info
        np.testing.assert_allclose([found["q"], found["lower"], found["upper"]], [q[s]] * 3, atol=1e-8)
    assert BFS3(1, 1, 1).plan(TIED, 0, None, default_rng(0)).action in (0, 1)
    assert BFS3(1).plan(sparse(), 0, None, default_rng(0)).action in (0, 1)
    np.testing.assert_array_equal(BFS3(5).plan(small(), 2, None, default_rng(0)).info["q"], [0.0, 0.0])
    for wrong in ({"simulations": 0}, {"depth": 0}, {"width": 0}):
        with pytest.raises(
            InvalidArgument, match=f"BFS3: '{next(iter(wrong))}' must be a whole number of at least 1, got 0"
        ):
            BFS3(**wrong)
    with pytest.raises(Incompatible):
        b.BayesAgent(b.beliefs.FiniteMDPs((small().mean_mdp(),)), BFS3())


def test_simulations_are_counted():
    """Bounds of a deep tree do not meet: every draw of every action gets its share. Where they meet, none is run."""
    found = BFS3(simulations=12, depth=8, width=3).plan(flat(), 0, None, default_rng(0)).info
    assert found["simulations"] == 2 * 3 * (12 // 3)
    assert BFS3(simulations=12, depth=1, width=3).plan(flat(), 0, None, default_rng(0)).info["simulations"] == 0
    assert BFS3(simulations=2, depth=8, width=3).plan(flat(), 0, None, default_rng(0)).info["simulations"] == 6


def test_pairs_that_do_not_fit_are_refused_at_once():
    with pytest.raises(Incompatible, match="BFS3 with leaf='mean' needs a belief with 'mean_mdp', which RowColumnBeta"):
        b.BayesAgent(RowColumnBeta(), BFS3(leaf="mean"))
    mdp = TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.eye(2), 0.9)
    vague = UnknownRewards(b.DirichletMDP.flat(mdp), RewardNormal.strens((2, 2)))
    with pytest.raises(
        Incompatible,
        match="The rewards of RewardNormal do not take finitely many",
    ):
        b.BayesAgent(vague, BFS3())
