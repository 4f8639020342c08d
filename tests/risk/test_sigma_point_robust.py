"""Sigma points: moments and limits in closed form; the planner against its transcription, and its rate."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs, RewardBeta, UnknownRewards
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.risk import largest_beta, sigma_points
from bayesrl.risk.sigma_point_robust import SigmaPointRobust
from bayesrl.risk.sigma_points import roots
from bayesrl.testing import check_agent, check_needs, check_planner, check_point_belief

ALPHAS = [[6.0, 3.0], [1.0, 1.0, 1.0], [0.2, 5.0, 1.3, 9.0], [12.4, 9.1, 6.7], [40.0, 1.0, 2.0], [7.0]]
WORLD = b.make_world("machine-repair")


def q_of(belief, **options):
    planner = SigmaPointRobust(**options)
    return np.array([planner.plan(belief, s, None, default_rng(0)).info["q"] for s in range(belief.n_states)])


def covariance(alpha):
    a = np.asarray(alpha)
    p = a / a.sum()
    return p, (np.diag(p) - np.outer(p, p)) / (a.sum() + 1.0)


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_moments_of_sigma_points(alpha):
    """Sums, the mean and, for beta = sqrt(K) with equal weights of the 2K outer points, the covariance are exact."""
    K = len(alpha)
    p, sigma = covariance(alpha)
    for beta in (0.0, 0.7, K**0.5):
        found = sigma_points(alpha, beta)
        assert found.shape == (2 * K + 1, K)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-14)
        np.testing.assert_allclose(found.mean(axis=0), p, atol=1e-15)
        np.testing.assert_allclose(found[0], p, atol=1e-15)
    outer = found[1:] - p
    np.testing.assert_allclose(outer.T @ outer / (2 * K), sigma, atol=1e-15)
    np.testing.assert_allclose(sigma_points(alpha, 0.0), np.tile(p, (2 * K + 1, 1)), atol=1e-15)


@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_the_largest_beta_is_the_largest(alpha):
    """At it the points touch the border of the simplex; beyond it one leaves; one possible outcome has no limit."""
    most = largest_beta(alpha)
    if len(alpha) == 1:
        assert most == np.inf
        return
    assert sigma_points(alpha, most).min() == pytest.approx(0.0, abs=1e-15)
    assert sigma_points(alpha, 1.01 * most).min() < -1e-4
    assert sigma_points(alpha, 0.99 * most).min() >= 0.0


def test_outcomes_that_are_impossible_stay_so():
    """Exactly, whatever the rounding of the other outcomes' roots."""
    for counts in ([2.3, 0.7, 4.1], [1e-3, 5.0, 0.2], [3.0, 1e4, 7.7]):
        whole = np.zeros((1, 5, 5))
        whole[np.ix_([0], [0, 1, 3], [0, 1, 3])] = covariance(counts)[1]
        root = roots(whole)[0]
        assert not root[[2, 4]].any()
        assert not root[:, [2, 4]].any()
        np.testing.assert_allclose(root @ root.T, whole[0], atol=1e-12)


def test_two_outcomes_in_closed_form():
    """A Beta row has only two points besides the mean, sd / sqrt(2) away: the root of a rank-one matrix."""
    sd = np.sqrt(6.0 * 3.0 / (81.0 * 10.0))
    found = sigma_points([6.0, 3.0], 1.0)
    assert sorted(set(found[:, 0].round(12))) == pytest.approx([2 / 3 - sd / 2**0.5, 2 / 3, 2 / 3 + sd / 2**0.5])
    assert largest_beta([6.0, 3.0]) == pytest.approx((1 / 3) * 2**0.5 / sd)


def transcription(belief, beta):
    """Plain value iteration over the points of each pair, for Dirichlet rows."""
    o, alpha = belief.outcomes, belief.alpha
    S, A = o.group.shape
    shrunk, rows = 0, []
    for g in range(o.n_groups):
        counts = alpha[g, : o.size[g]]
        most = np.inf if belief.known[g] else largest_beta(counts)
        shrunk += most < beta
        rows.append(counts[None] / counts.sum() if belief.known[g] else sigma_points(counts, min(beta, most)))
    V = np.zeros(S)
    for _ in range(2000):
        Q = np.zeros((S, A))
        for s, a in np.ndindex(S, A):
            n = o.size[o.group[s, a]]
            after = o.reward[s, a, :n] + belief.gamma * V[o.succ[s, a, :n]] * ~o.terminal[o.succ[s, a, :n]]
            Q[s, a] = 0.0 if o.terminal[s] else min(p @ after for p in rows[o.group[s, a]])
        if np.abs(Q.max(axis=1) - V).max() < 1e-12:
            break
        V = Q.max(axis=1)
    return Q, shrunk


@pytest.mark.parametrize("name", ["flat", "tied", "ended"])
@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_equal_to_its_transcription(name, beta):
    """Rows of their own, tied rows, and an end with a known group; small counts, so that some rows are shrunk."""
    world = b.make_world("chain-tied" if name == "tied" else "chain", gamma=0.8)
    if name == "ended":
        P, R = b.make_world("chain").dense()
        world = TabularMDP.from_dense(P, R, 0.8, terminal=[3])
    belief = b.DirichletMDP.structured(world, 2.0) if name != "flat" else b.DirichletMDP.flat(world, 0.7)
    belief = belief.update(Transition(0, 0, 0.0, 1)).update(Transition(1, 0, 0.0, 2))
    Q, shrunk = transcription(belief, beta)
    np.testing.assert_allclose(q_of(belief, beta=beta), Q, atol=1e-8)
    assert SigmaPointRobust(beta=beta).plan(belief, 0, None, default_rng(0)).info["shrunk"] == shrunk


def test_rows_that_would_leave_the_simplex_are_counted():
    """Sparse rows shrink to their own largest beta; more beta then changes nothing, and nothing is clipped."""
    belief = b.DirichletMDP.structured(WORLD, 0.1)  # three unknown rows of Beta(.1, .1); replacement is certain
    told = [SigmaPointRobust(beta=x).plan(belief, 0, None, default_rng(0)).info for x in (0.5, 2.0, 50.0)]
    most = largest_beta([0.1, 0.1])
    assert 0.5 < most < 2.0
    assert [info["shrunk"] for info in told] == [0, 3, 3]
    np.testing.assert_allclose(told[2]["q"], told[1]["q"])
    np.testing.assert_allclose(told[1]["q"], q_of(belief, beta=most)[0])


def test_no_uncertainty_is_the_mean_model():
    """At beta = 0, and where everything is known."""
    belief = b.DirichletMDP.structured(WORLD, 3.0).update(Transition(0, 0, 80.0, 0))
    np.testing.assert_allclose(q_of(belief, beta=0.0), solve(belief.mean_mdp()).q, atol=1e-8)
    point = b.DirichletMDP.structured(WORLD, known=True)
    check_point_belief(SigmaPointRobust(), point, solve(WORLD).q)
    unknown = UnknownRewards(belief, RewardBeta(np.ones((2, 2)), np.full((2, 2), 3.0)))
    np.testing.assert_allclose(q_of(unknown, beta=0.0), solve(unknown.mean_mdp()).q, atol=1e-8)


def test_values_fall_with_beta():
    belief = b.DirichletMDP.structured(b.make_world("machine-replacement"), 5.0)
    values = np.array([q_of(belief, beta=beta) for beta in (0.0, 0.25, 0.5, 1.0)])
    assert (np.diff(values, axis=0) <= 1e-8).all()
    assert (np.diff(values.max(axis=2).mean(axis=1)) < -0.01).all()


def test_the_gap_shrinks_with_the_root_of_the_counts():
    """Counts n P: the slope of log gap in log n tends to -1/2."""
    P = np.maximum(WORLD.mdp.prob, 1e-3)
    beliefs = [b.DirichletMDP.structured(WORLD, scale * P) for scale in (1e3, 1e4, 1e5, 1e6)]
    gaps = [(q_of(belief, beta=0.0) - q_of(belief)).max() for belief in beliefs]
    np.testing.assert_allclose(np.diff(np.log(gaps)) / np.log(10.0), -0.5, atol=0.01)


def test_it_learns_what_it_does_and_nothing_else():
    """Robust values approach the optimum where data come from every pair; alone it keeps to what it knows."""
    prior, rng = b.DirichletMDP.structured(WORLD, 1.0), default_rng(0)
    alone = b.run(b.BayesAgent(prior, SigmaPointRobust()), WORLD, steps=100, seed=0)
    for s in (0, 1):  # it stays with one action of each state after a while
        assert len(set(alone.action[50:][alone.observation[50:] == s].tolist())) <= 1
    belief = prior
    for i in range(2000):
        s, a = (i // 2) % 2, i % 2
        step = WORLD.step(s, a, rng)
        belief = belief.update(Transition(s, a, step.reward, step.observation))
    np.testing.assert_allclose(q_of(belief), solve(WORLD).q, rtol=0.15)
    assert q_of(belief).argmax(axis=1).tolist() == [0, 0]


def test_a_plan_is_used_for_a_number_of_steps():
    """The values stay, although the belief learns; a warm start changes nothing; unchanged rows keep their roots."""
    planner, rng = SigmaPointRobust(every=3), default_rng(0)
    belief, memory, seen = b.DirichletMDP.structured(WORLD, 2.0), None, []
    for _ in range(7):
        decision = planner.plan(belief, 0, memory, rng)
        if decision.memory.left == 2:
            np.testing.assert_allclose(decision.info["q"], q_of(belief)[0], atol=1e-8)
        memory, belief = decision.memory, belief.update(Transition(0, 0, -20.0, 1))
        seen.append(memory.values)
    assert [t for t in range(7) if t == 0 or seen[t] is not seen[t - 1]] == [0, 3, 6]


def test_planner_laws():
    belief = b.DirichletMDP.structured(WORLD, 2.0)
    check_planner(SigmaPointRobust(), belief, 1, rng=default_rng(0))
    check_needs(SigmaPointRobust(), belief, WORLD)
    check_agent(b.BayesAgent(belief, SigmaPointRobust(every=2)), WORLD)


def test_bad_input():
    for options in ({"beta": -1.0}, {"beta": np.nan}, {"beta": "1"}, {"beta": None}, {"every": 0}, {"every": 1.5}):
        with pytest.raises(InvalidArgument, match=f"SigmaPointRobust: '{next(iter(options))}' must be"):
            SigmaPointRobust(**options)
    models = FiniteMDPs((WORLD.mdp, WORLD.mdp))
    with pytest.raises(Incompatible, match="SigmaPointRobust needs a belief with 'row_covariance'"):
        b.BayesAgent(models, SigmaPointRobust())
    endless = b.DirichletMDP.flat(b.make_world("chain", gamma=1.0))
    with pytest.raises(InvalidArgument, match="SigmaPointRobust: 'belief' must be one whose episodes end under"):
        b.BayesAgent(endless, SigmaPointRobust())
    belief = b.DirichletMDP.structured(WORLD)
    for observation in (-1, 2, 0.5, None, "0", True):
        with pytest.raises(InvalidArgument, match="'observation' must be a whole number of at least 0 and at most 1"):
            SigmaPointRobust().plan(belief, observation, None, default_rng(0))
    for alpha in ([], [[1.0, 2.0]], [1.0, -1.0], [np.nan, 1.0], "ab", None, [0.0, 0.0], [0.0, 1.0], [np.inf, 1.0], 3.0):
        for call in (largest_beta, lambda x: sigma_points(x, 1.0)):
            with pytest.raises(InvalidArgument, match="'alpha' must be"):
                call(alpha)
    for beta in (-0.1, np.nan, np.inf, None, "1"):
        with pytest.raises(InvalidArgument, match="sigma_points: 'beta' must be"):
            sigma_points([1.0, 2.0], beta)
