"""POMCP against expectimax on histories, a naive transcription, and hand-made cases."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import POMCP
from bayesrl.beliefs import POMDPFilter
from bayesrl.core import run
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.search.history_tree import subtree
from bayesrl.kernels.search.search_bounds import AUTO, MEAN
from bayesrl.kernels.simulators.hidden_model import cumulative
from bayesrl.kernels.simulators.simulator import root, step
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.testing import assert_frequencies, assert_mean_equal

MILD = b.make_world("tiger", wrong=-20.0)


def uneven():
    """Three states and an end, moves and observations that say something, rewards of all four arguments."""
    rng = default_rng(3)
    P, O = rng.dirichlet(np.full(4, 0.5), (4, 2)), rng.dirichlet(np.full(3, 0.4), (4, 2))
    R = rng.normal(size=(4, 2, 4, 3))
    return TabularPOMDP.from_dense(P, O, R, 0.8, start=[0.5, 0.3, 0.2, 0.0], terminal=[3])


def expectimax(pomdp, states, depth, leaf=None):
    """Q_d(b, a) = sum_s b r + gamma sum_o P(o|b, a) max Q_{d-1}, by recursion over unnormalised beliefs."""
    P, O, r = pomdp.dense()
    going = ~pomdp.terminal
    V0 = np.zeros(len(states)) if leaf is None else leaf

    def q(x, d):
        if d == 0:
            return np.array([x @ V0])
        values = np.empty(pomdp.n_actions)
        for a in range(pomdp.n_actions):
            y = (x @ P[:, a]) * going
            values[a] = x @ r[:, a] + pomdp.gamma * sum(q(y * O[:, a, o], d - 1).max() for o in range(O.shape[2]))
        return values

    return q(states, depth)


def naive(belief, planner, rng, preferred=None):
    """Silver and Veness's Algorithm 1 in plain Python, on the POMDP's arrays; a new node counts its first action."""
    pomdp = belief.pomdp
    P, O, _ = pomdp.dense()
    A, gamma, N, Q, returns = pomdp.n_actions, pomdp.gamma, {}, {}, []
    low, high = belief.reward_range()

    def preferring(s):
        return int(rng.integers(A)) if preferred is None else int(rng.choice(np.flatnonzero(preferred[s])))

    def follow(s, a):
        y = int(rng.choice(len(P), p=P[s, a]))
        o = int(rng.choice(O.shape[2], p=O[y, a]))
        return y, o, pomdp.reward(s, a, y, o)

    def rollout(s, d):
        if d == planner.depth or pomdp.terminal[s]:
            return 0.0
        y, _, r = follow(s, preferring(s))
        return r + gamma * rollout(y, d + 1)

    def simulate(h, s, d):
        if d == planner.depth or pomdp.terminal[s]:
            return 0.0
        if h not in N:
            N[h], Q[h] = np.zeros(A), np.zeros(A)
            a = preferring(s)
            y, _, r = follow(s, a)
            R = r + gamma * rollout(y, d + 1)
        else:
            n = N[h]
            x = np.where(n == 0, np.inf, np.log(n.sum()) / np.maximum(n, 1))
            c, e = (high - low, 0.0) if planner.exploration is None else (planner.exploration, 0.0)
            if planner.exploration == "auto":
                c, e = (np.std(returns, ddof=1) * np.sqrt(2.0), np.ptp(returns) / 3.0) if len(returns) > 1 else (0, 0)
            with np.errstate(invalid="ignore"):
                u = np.where(n == 0, np.inf, Q[h] + c * np.sqrt(x) + e * x)
            a = int(rng.choice(np.flatnonzero(u == u.max())))
            y, o, r = follow(s, a)
            R = r + gamma * simulate((*h, a, o), y, d + 1)
        N[h][a] += 1
        Q[h][a] += (R - Q[h][a]) / N[h][a]
        return R

    for _ in range(planner.simulations):
        returns.append(simulate((), int(rng.choice(len(P), p=belief.states())), 0))
    return Q[()], N[()], len(N)


# The simulator -------------------------------------------------------------------------------------------------------


def test_steps_follow_the_model():
    """States at the root, next states and observations: 5000 draws each, false alarm 1e-6 each; rewards exactly."""
    belief, rng = POMDPFilter(uneven()).update(b.Transition(-1, 1, 0.0, 0)), default_rng(0)
    model, (P, O, _) = belief.simulate(3), belief.pomdp.dense()
    roots = np.bincount([root(model, -1, rng) for _ in range(5000)], minlength=4)
    assert_frequencies(roots, belief.states())
    seen = np.zeros((4, 3))
    for _ in range(5000):
        o, y, r, done, _ = step(model, 2, 1, rng)
        seen[y, o] += 1
        assert r == belief.pomdp.rewards[2, 1, y, o]
        assert done == (y == 3)
    assert_frequencies(seen, P[2, 1][:, None] * O[:, 1])
    assert step(model, 3, 0, rng)[1:4] == (3, 0.0, True), "the end is absorbing and pays nothing"


def test_what_has_no_probability_is_never_drawn():
    """Whatever a random number rounds to: from the last possible outcome on, cumulative probabilities are infinite."""
    rows = np.array([[0.1, 0.2, 0.7, 0.0], [0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.5]])
    cdf = cumulative(rows)
    for u in (0.0, 0.05, np.nextafter(1.0, 0.0)):
        assert (rows[np.arange(3), (u < cdf).argmax(axis=1)] > 0.0).all()
    assert np.isinf(cdf[:, -1]).all()


# Values --------------------------------------------------------------------------------------------------------------


def test_root_values_approach_the_exact_ones():
    """The mild tiger, four decisions, ten seeds: each tenfold budget at least halves the error.

    UCT's root value is a mean of returns that include exploring, so it rises to the exact one from below: measured
    errors 5.8, 1.2, .18 of 8.04 for 10^3, 10^4, 10^5 simulations.
    """
    belief = POMDPFilter(MILD.pomdp)
    exact, errors = expectimax(MILD.pomdp, belief.states(), 4).max(), []
    for K in (1000, 10000, 100000):
        q = [POMCP(simulations=K, depth=4).plan(belief, -1, None, default_rng(i)).info["q"].max() for i in range(10)]
        errors.append(exact - np.mean(q))
    assert 0 < errors[2] < errors[1] / 2 < errors[0] / 4
    assert errors[2] < 0.03 * exact


@pytest.mark.parametrize("leaf", ["zero", "mean"])
def test_root_values_with_an_end_and_rewards_of_all_arguments(leaf):
    """Four decisions after an observation: within .03 of the exact value of about 1 over ten seeds, for both leaves."""
    pomdp = uneven()
    belief = POMDPFilter(pomdp).update(b.Transition(-1, 0, 0.0, 1))
    V0 = b.solve(pomdp.mdp).values if leaf == "mean" else None
    exact = expectimax(pomdp, belief.states(), 4, V0)
    planner = POMCP(simulations=30000, depth=4, exploration=1.0, leaf=leaf)
    q = np.mean([planner.plan(belief, -1, None, default_rng(i)).info["q"] for i in range(10)], axis=0)
    assert abs(q.max() - exact.max()) < 0.03
    assert q.argmax() == exact.argmax()


@pytest.mark.parametrize("settings", [{}, {"exploration": "auto"}, {"exploration": 0.5, "rollout": "preferred"}])
def test_equal_in_law_to_a_naive_transcription(settings):
    """Root values, visits and nodes of 250 searches each; false alarm 1e-6 each; sees half of a deviation."""
    preferred = np.array([[True, False], [True, True], [False, True], [True, True]])
    planner = POMCP(simulations=40, depth=5, **settings)
    belief = POMDPFilter(uneven(), preferred).update(b.Transition(-1, 1, 0.0, 2))
    rng = default_rng(1)
    ours = [planner.plan(belief, -1, None, rng).info for _ in range(250)]
    liked = preferred if "rollout" in settings else None
    theirs = [naive(belief, planner, rng, liked) for _ in range(250)]
    for key, i in (("q", 0), ("visits", 1)):
        assert_mean_equal([o[key] - t[i] for o, t in zip(ours, theirs, strict=True)], 0.0, what=key)


@pytest.mark.parametrize("leaf, value", [("zero", 1.9375), ("mean", 2.0)])
def test_one_simulation_by_hand(leaf, value):
    """Action 1 pays 1, action 0 nothing; rollouts prefer 1: five rewards at discount 1/2, and 2 / 32 beyond them."""
    pomdp = TabularPOMDP.from_dense([[[1.0], [1.0]]], [[[1.0], [1.0]]], [[0.0, 1.0]], 0.5)
    planner = POMCP(simulations=1, depth=5, rollout="preferred", leaf=leaf)
    for i in range(5):
        info = planner.plan(POMDPFilter(pomdp, [[False, True]]), -1, None, default_rng(i)).info
        np.testing.assert_allclose(info["q"], [0.0, value], rtol=1e-9)
        assert info["steps"] == 5


# Settings ------------------------------------------------------------------------------------------------------------


def test_the_usual_constant_is_the_range_of_one_reward():
    belief, rng = POMDPFilter(MILD.pomdp), default_rng(5)
    one, other = (POMCP(100, 5, c).plan(belief, -1, None, default_rng(5)).info for c in (None, 30.0))
    np.testing.assert_array_equal(one["q"], other["q"])
    assert not np.array_equal(one["q"], POMCP(100, 5, 29.0).plan(belief, -1, None, rng).info["q"])
    assert AUTO < 0.0


def test_reuse_keeps_what_happened():
    """Visits of the history that was really seen are kept, and dropped at the start of an episode."""
    belief, planner = POMDPFilter(MILD.pomdp), POMCP(simulations=500, depth=6, reuse=True)
    first = planner.plan(belief, -1, None, default_rng(0))
    datum = b.Transition(-1, 0, -1.0, 1)
    second = planner.plan(belief.update(datum), 1, first.memory, default_rng(1), datum)
    kept = int(second.info["visits"].sum()) - 500
    assert 100 < kept < 400
    for last in (None, datum._replace(truncated=True)):
        assert planner.plan(belief, 1, first.memory, default_rng(1), last).info["visits"].sum() == 500
    assert second.memory.tree.spread[MEAN] == pytest.approx(
        second.info["visits"] @ second.info["q"] / second.info["visits"].sum(), abs=1e-6
    )


@pytest.mark.parametrize("action", [0, 1, 2])
@pytest.mark.parametrize("seen", [0, 1])
def test_reuse_keeps_the_tree_of_the_action_and_the_observation(action, seen):
    belief, planner = POMDPFilter(MILD.pomdp), POMCP(simulations=500, depth=6, reuse=True)
    first = planner.plan(belief, -1, None, default_rng(0))
    below, datum = subtree(first.memory.tree, seen, action), b.Transition(-1, action, -1.0, seen)
    assert below is not None
    second = planner.plan(belief.update(datum), seen, first.memory, default_rng(1), datum)
    assert second.info["visits"].sum() == 500 + below.N[0].sum()
    assert below.N[0].sum() <= first.info["visits"][action]


def test_time_instead_of_simulations():
    belief = POMDPFilter(MILD.pomdp)
    POMCP(milliseconds=1.0, depth=5).plan(belief, -1, None, default_rng(0))  # compiled
    info = POMCP(milliseconds=20.0, depth=5).plan(belief, -1, None, default_rng(0)).info
    assert info["visits"].sum() == info["simulations"] > 1000
    assert info["nodes"] <= info["simulations"] + 1


def test_nothing_comes_after_the_end():
    """At the end every action is worth nothing; simulations of the episodic tiger stop at a door."""
    episodic = b.make_world("tiger-episodic")
    ended = POMDPFilter(episodic.pomdp).update(b.Transition(-1, 1, 10.0, 0, True))
    info = POMCP(50, 10).plan(ended, 0, None, default_rng(0)).info
    assert info["q"].tolist() == [0.0, 0.0, 0.0]
    info = POMCP(1000, 50).plan(POMDPFilter(episodic.pomdp), -1, None, default_rng(0)).info
    assert info["steps"] < 5000
    assert (info["q"][1:] >= -100.0).all()
    assert (info["q"][1:] <= 10.0).all()


def test_an_agent_acts_in_every_hidden_world():
    for name in ("tiger", "tiger-episodic", "shuttle", "rock-sample"):
        world = b.make_world(name)
        record = run(b.BayesAgent(POMDPFilter(world.pomdp), POMCP(simulations=30, depth=8)), world, 12, seed=0)
        assert len(record) == 12


# Refusals ------------------------------------------------------------------------------------------------------------


def test_beliefs_that_do_not_fit_are_refused():
    flat = b.DirichletMDP.flat(b.make_world("chain"))
    for use in (lambda: b.BayesAgent(flat, POMCP()), lambda: POMCP().plan(flat, 0, None, default_rng(0))):
        with pytest.raises(Incompatible, match="POMCP needs a belief with 'restart', which DirichletMDP lacks"):
            use()
    with pytest.raises(Incompatible, match=r"POMCP with rollout='preferred' needs.*Give the filter `preferred`"):
        b.BayesAgent(POMDPFilter(MILD.pomdp), POMCP(rollout="preferred"))


@pytest.mark.parametrize("bad", [{"simulations": 0}, {"depth": 0}, {"exploration": -1.0}, {"exploration": "x"},
    {"rollout": "home"}, {"milliseconds": 0.0}, {"leaf": "best"}, {"reuse": 1}])  # fmt: skip
def test_bad_settings_are_refused(bad):
    with pytest.raises(InvalidArgument, match=f"POMCP: '{next(iter(bad))}' must be"):
        POMCP(**bad)


@pytest.mark.parametrize("bad", [np.ones((2, 3)), np.zeros((2, 3), bool), np.ones((3, 2), bool), "all"])
def test_bad_preferences_are_refused(bad):
    with pytest.raises(InvalidArgument, match="POMDPFilter: 'preferred' must be truth values of shape"):
        POMDPFilter(MILD.pomdp, bad)
