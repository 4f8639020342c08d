"""Planners for a known model: sparse sampling, UCT, FSSS. They plan in the mean model of a belief."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp.search.fsss import FSSS
from bayesrl.bamdp.search.sparse_sampling import SparseSampling
from bayesrl.bamdp.search.uct import UCT
from bayesrl.beliefs import RewardBeta, UnknownRewards
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import finite_horizon, solve
from bayesrl.testing import assert_mean_equal


def belief(gamma=0.8):
    """Two states, a terminal third, uneven counts: what is planned in is the mean model."""
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.2, -1.0], [2.0, 0.5], [0, 0]], gamma, terminal=[2])
    prior = b.DirichletMDP.structured(
        mdp, [[0.5, 1.0, 0.3], [2.0, 0.2, 0.2], [0.3, 0.3, 0.3], [1.0, 1.0, 0.1]] + [[1.0] * 3] * 2
    )
    return prior.update(Transition(0, 1, -1.0, 1)).update(Transition(1, 0, 2.0, 0))


CHAIN = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9), [[2.0, 1.0]])


def info(planner, belief, s=0, seed=0):
    return planner.plan(belief, s, None, default_rng(seed)).info


def drawn(mdp, s, a, rng):
    """(Outcome, next state, reward) by the inverse of the distribution function, one random number."""
    cdf = np.cumsum(mdp.prob[mdp.group[s, a]])
    k = int(np.searchsorted(cdf, rng.random() * cdf[-1], side="right"))
    return k, int(mdp.succ[s, a, k]), float(mdp.reward[s, a, k])


@pytest.mark.parametrize("gamma", [0.8, 1.0])
def test_sparse_sampling_equals_its_transcription_draw_for_draw(gamma):
    mdp, planner, rng = belief(gamma).mean_mdp(), SparseSampling(depth=3, width=3), default_rng(7)

    def estimate_v(h, s):
        return 0.0 if h == 0 or mdp.outcomes.terminal[s] else max(estimate_q(h, s, a) for a in range(2))

    def estimate_q(h, s, a):
        total = 0.0
        for _ in range(planner.width):
            _, y, r = drawn(mdp, s, a, rng)
            total += r + gamma * estimate_v(h - 1, y)
        return total / planner.width

    for _ in range(5):
        state = rng.bit_generator.state
        q = [estimate_q(3, 0, a) for a in range(2)]
        ours = default_rng()
        ours.bit_generator.state = state
        np.testing.assert_allclose(planner.plan(belief(gamma), 0, None, ours).info["q"], q)


def naive_uct(mdp, s0, planner, rng):
    """Kocsis and Szepesvari's search, as printed: statistics of (state, depth), untried actions first."""
    N, Q, returns = {}, {}, []

    def search(s, d):
        if mdp.outcomes.terminal[s] or d == planner.depth:
            return 0.0
        n, q = N.setdefault((s, d), np.zeros(2)), Q.setdefault((s, d), np.zeros(2))
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.log(n.sum()) / n
            u = np.where(n == 0, np.inf, q + c * np.sqrt(x) + e * x)
        a = int(rng.choice(np.flatnonzero(u == u.max())))
        _, y, r = drawn(mdp, s, a, rng)
        R = r + mdp.gamma * search(y, d + 1)
        n[a] += 1
        q[a] += (R - q[a]) / n[a]
        return R

    for _ in range(planner.simulations):
        c, e = planner.exploration, 0.0
        if c == "auto":
            c, e = (np.sqrt(2.0) * np.std(returns, ddof=1), np.ptp(returns) / 3.0) if len(returns) > 1 else (0.0, 0.0)
        returns.append(search(s0, 0))
    return Q[s0, 0], N[s0, 0]


@pytest.mark.parametrize(("exploration", "s", "K"), [(3.0, 0, 20), ("auto", 1, 60)])
def test_uct_equals_its_transcription_in_law(exploration, s, K):
    """Root values and visits of 300 searches each; false alarm 1e-6 each, sees a third of a standard deviation."""
    planner, rng, mdp = UCT(simulations=K, depth=4, exploration=exploration), default_rng(1), belief().mean_mdp()
    ours = [planner.plan(belief(), s, None, rng).info for _ in range(300)]
    theirs = [naive_uct(mdp, s, planner, rng) for _ in range(300)]
    for key, i in (("q", 0), ("visits", 1)):
        assert_mean_equal([o[key] - t[i] for o, t in zip(ours, theirs, strict=True)], 0.0, what=key)


def first_or_other(x, rng):
    """The place of the largest entry: each further one that is as large takes the place with chance 1 / how many."""
    place, ties = 0, 1
    for i in range(1, len(x)):
        if x[i] > x[place]:
            place, ties = i, 1
        elif x[i] == x[place]:
            ties += 1
            if rng.random() * ties < 1.0:
                place = i
    return place


def naive_fsss(mdp, s0, planner, rng):
    """FSSS with its nodes in a dictionary: bounds of Q^d(s, a) for the sampled tree, and of the value itself."""
    D, C, gamma, o = planner.depth, planner.width, mdp.gamma, mdp.outcomes
    paid = mdp.reward[o.valid[mdp.group]]
    span = [(0.0, 0.0)]
    for _ in range(D):
        span.append((paid.min() + gamma * span[-1][0], paid.max() + gamma * span[-1][1]))
    nodes = {(s0, D): {"v": np.array([*span[D], *span[D]])}}

    def bounds(y, d):
        return np.zeros(4) if o.terminal[y] or d == 0 else nodes[y, d]["v"]

    def back_up(s, a, d):
        x = nodes[s, d]
        total, rest = np.zeros(4), 1.0
        for k, n in x["drawn"][a].items():
            p = mdp.prob[mdp.group[s, a], k]
            total += np.array([n / C, n / C, p, p]) * (mdp.reward[s, a, k] + gamma * bounds(mdp.succ[s, a, k], d - 1))
            rest -= p
        total[2:] += max(rest, 0.0) * np.array(span[d])
        x["q"][a] = total
        x["v"] = x["q"].max(axis=0)

    def trajectory(s, d):
        x = nodes[s, d]
        if "drawn" not in x:
            x["drawn"], x["q"] = [{}, {}], np.full((2, 4), -np.inf)
            for a in range(2):
                for _ in range(C):
                    k, y, _ = drawn(mdp, s, a, rng)
                    x["drawn"][a][k] = x["drawn"][a].get(k, 0) + 1
                    nodes.setdefault((y, d - 1), {"v": np.array([*span[d - 1], *span[d - 1]])})
            for a in range(2):
                back_up(s, a, d)
        a = first_or_other(x["q"][:, 1], rng)
        successors = [int(mdp.succ[s, a, k]) for k in x["drawn"][a]]
        gap = [
            n * (v := bounds(y, d - 1))[1] - n * v[0] for y, n in zip(successors, x["drawn"][a].values(), strict=True)
        ]
        if max(gap) > 0.0:
            trajectory(successors[first_or_other(gap, rng)], d - 1)
        back_up(s, a, d)

    for done in range(planner.simulations):
        if nodes[s0, D]["v"][0] >= nodes[s0, D]["v"][1]:
            return nodes[s0, D]["q"], done
        trajectory(s0, D)
    return nodes[s0, D]["q"], planner.simulations


@pytest.mark.parametrize("gamma", [0.8, 1.0])
@pytest.mark.parametrize("simulations", [1, 3, 10, 200])
def test_fsss_equals_its_transcription_draw_for_draw(simulations, gamma):
    for seed in range(5):
        planner = FSSS(simulations, depth=4, width=5)
        q, done = naive_fsss(belief(gamma).mean_mdp(), 0, planner, default_rng(seed))
        found = info(planner, belief(gamma), 0, seed)
        assert found["simulations"] == done
        np.testing.assert_allclose([found["q"], found["lower"], found["upper"]], q[:, [1, 2, 3]].T, atol=1e-12)


@pytest.mark.parametrize("width", [1, 4, 30])
def test_fsss_bounds_bracket_and_tighten(width):
    """For certain, at every number of trajectories of one search: they are the same draws and more."""
    for prior, s in ((belief(), 0), (belief(1.0), 1), (CHAIN, 0)):
        exact = finite_horizon(prior.mean_mdp(), 5).q[s]
        for seed in range(5):
            lower, upper = np.full(2, -np.inf), np.full(2, np.inf)
            for simulations in (1, 2, 3, 5, 8, 13, 21, 40, 80):
                found = info(FSSS(simulations, 5, width), prior, s, seed)
                assert (found["lower"] <= exact + 1e-9).all()
                assert (exact <= found["upper"] + 1e-9).all()
                assert (found["lower"] >= lower - 1e-12).all()
                assert (found["upper"] <= upper + 1e-12).all()
                lower, upper = found["lower"], found["upper"]


def test_root_values_approach_the_solved_ones():
    """The best root value of the chain's mean model, mean error without sign over ten seeds.

    Measured: sparse sampling of width 2, 8, 32 over three decisions (value 3.613) .72, .28, .12; over six decisions
    (6.537) UCT of 10^2, 10^3, 10^4 simulations .95, .42, .14 and FSSS of width 5, 50, 500 .42, .10, .04. Each must
    fall, to less than 5% at last.
    """
    deep, shallow = (finite_horizon(CHAIN.mean_mdp(), d).q[0].max() for d in (6, 3))
    budgets = {
        "sparse-sampling": ([SparseSampling(3, C) for C in (2, 8, 32)], shallow),
        "uct": ([UCT(K, 6, 5.0) for K in (100, 1000, 10000)], deep),
        "fsss": ([FSSS(500, 6, C) for C in (5, 50, 500)], deep),
    }
    for name, (planners, exact) in budgets.items():
        error = [np.mean([abs(info(p, CHAIN, 0, i)["q"].max() - exact) for i in range(10)]) for p in planners]
        assert error[2] < error[1] < error[0], name
        assert error[2] < 0.05 * exact, name


def test_at_a_point_belief_leaves_give_the_solved_values():
    """Where nothing is random and the leaves are solved, one draw is as good as many."""
    loop = b.DirichletMDP.structured(b.make_world("double-loop", gamma=0.9), known=True)
    q = solve(loop.mean_mdp()).q
    for planner in (SparseSampling(3, 1, "mean"), FSSS(50, 4, 1, "mean")):
        for s in range(9):
            np.testing.assert_allclose(info(planner, loop, s)["q"].max(), q[s].max(), atol=1e-8)
    np.testing.assert_allclose(info(UCT(3000, 3, 1.0, "mean"), loop, 5)["q"].max(), q[5].max(), rtol=0.02)


@pytest.mark.parametrize("planner", [SparseSampling(1, 1), UCT(1, 1), UCT(1), FSSS(1, 1, 1), FSSS(1)])
def test_small_budgets_ends_and_unknown_rewards(planner):
    unknown = UnknownRewards(CHAIN, RewardBeta(np.ones((5, 2)), np.ones((5, 2))))
    for prior in (CHAIN, unknown):
        assert planner.plan(prior, 0, None, default_rng(0)).action in (0, 1)
    np.testing.assert_array_equal(info(planner, belief(), 2)["q"], [0.0, 0.0])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SparseSampling(0), "SparseSampling: 'depth' must be a whole number of at least 1, got 0."),
        (lambda: SparseSampling(1, 0), "SparseSampling: 'width' must be a whole number of at least 1, got 0."),
        (lambda: UCT(0), "UCT: 'simulations' must be a whole number of at least 1, got 0."),
        (lambda: UCT(exploration=-1.0), "UCT: 'exploration' must be at least 0, got -1.0."),
        (lambda: FSSS(0), "FSSS: 'simulations' must be a whole number of at least 1, got 0."),
        (lambda: FSSS(width=0), "FSSS: 'width' must be a whole number of at least 1, got 0."),
    ],
)
def test_budgets_of_nothing_are_refused(make, said):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert str(error.value) == said
