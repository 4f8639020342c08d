"""BA-POMCP against expectimax over hyper-states, naive transcriptions, and a search that is not Bayes-optimal."""

from collections import defaultdict

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import BAPOMCP, POMCP
from bayesrl.beliefs import BoundedBAPOMDP, DirichletPOMDP, ExactBAPOMDP, ParticleBAPOMDP, POMDPFilter
from bayesrl.core import run
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.simulators.simulator import begin, root, step
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.models.solve import solve
from bayesrl.testing import assert_frequencies, assert_mean_equal

MILD = b.make_world("tiger", wrong=-20.0, correct=2.0, incorrect=1.0)


def uneven():
    """Two states and an end: tied and known rows, two outcomes to one state, rewards that depend on what is seen."""
    succ = np.array([[[0, 1, 0], [1, 2, 0]], [[1, 0, 1], [0, 2, 0]], [[2, 2, 2], [2, 2, 2]]])
    outcomes = Outcomes(
        succ, np.zeros((3, 2, 3)), [[0, 1], [0, 1], [0, 1]], [3, 2], np.zeros(1), [0.7, 0.3, 0.0], [False, False, True]
    )
    observed = ObservationOutcomes(
        [[[0, 1], [0, 1]], [[1, 0], [0, 1]], [[0, 1], [0, 1]]], [[0, 1], [0, 1], [0, 1]], [2, 2], 2
    )
    R = default_rng(8).normal(size=(3, 2, 3, 2))
    phi, psi = [[0.5, 0.4, 0.3], [1.0, 0.2, 0.0]], [[0.8, 0.2], [0.5, 0.5]]
    return DirichletPOMDP(outcomes, phi, observed, psi, R, 0.8, [False, False], [False, True])


HISTORY = [b.Transition(-1, 0, 0.0, 1), b.Transition(1, 0, 0.0, 0), b.Transition(0, 1, 0.0, 1)]


# Slow and obviously right ---------------------------------------------------------------------------------------------


def successors(prior, s, phi, psi, a):
    """(probability, s', o, phi', psi') for every outcome k and sign j. Counts are tuples of rows."""
    g, fixed = int(prior.outcomes.group[s, a]), prior.fixed
    for k in range(int(prior.outcomes.size[g])):
        y = int(prior.outcomes.succ[s, a, k])
        h = int(prior.observed.group[y, a])
        for j in range(int(prior.observed.size[h])):
            p = phi[g][k] / sum(phi[g]) * psi[h][j] / sum(psi[h])
            if p > 0.0:
                moved = phi if fixed[0][g] or prior.outcomes.terminal[s] else one_more(phi, g, k)
                yield p, y, int(prior.observed.observation[y, a, j]), moved, psi if fixed[1][h] else one_more(psi, h, j)


def one_more(rows, g, k):
    row = tuple(x + (i == k) for i, x in enumerate(rows[g]))
    return (*rows[:g], row, *rows[g + 1 :])


def paid(prior, s, a, y, o):
    return 0.0 if prior.outcomes.terminal[s] else float(prior.rewards[(s, a, y, o)[: prior.rewards.ndim]])


def mixture(prior, log=()):
    """The belief after some steps, as a dict of hyper-states, by enumeration."""
    phi, psi = (tuple(map(tuple, x.tolist())) for x in (prior.phi, prior.psi))
    mix = {(s, phi, psi): w for s, w in enumerate(prior.start.tolist()) if w > 0}
    for step_ in log:
        new = defaultdict(float)
        for (s, phi, psi), w in mix.items():
            for p, y, o, f, g in successors(prior, s, phi, psi, step_.action):
                if o == step_.next_observation and prior.outcomes.terminal[y] == step_.terminated:
                    new[y, f, g] += w * p
        mix = {h: w / sum(new.values()) for h, w in new.items()}
    return mix


def expectimax(prior, mix, depth):
    """Q_d(b, a) = sum b r + gamma sum_o max Q_{d-1}(unnormalised successor), over hyper-states."""
    q = np.zeros(prior.outcomes.n_actions)
    for a in range(len(q)):
        after = defaultdict(lambda: defaultdict(float))
        for (s, phi, psi), w in mix.items():
            for p, y, o, f, g in successors(prior, s, phi, psi, a):
                q[a] += w * p * paid(prior, s, a, y, o)
                if not prior.outcomes.terminal[y]:
                    after[o][y, f, g] += w * p
        if depth > 1:
            q[a] += prior.gamma * sum(expectimax(prior, new, depth - 1).max() for new in after.values())
    return q


def naive(prior, mix, planner, rng, follow):
    """Katt's Algorithms 1 to 3 in plain Python. `follow` starts a simulation: its step function, given counts."""
    A, gamma, N, Q = prior.outcomes.n_actions, prior.gamma, {}, {}
    low, high = prior.reward_range()
    listed, weights = list(mix), np.array(list(mix.values()))

    def ended(s, d):
        return d == planner.depth or prior.outcomes.terminal[s]

    def rollout(step_, s, d):
        if ended(s, d):
            return 0.0
        y, _, r = step_(s, int(rng.integers(A)))
        return r + gamma * rollout(step_, y, d + 1)

    def simulate(step_, h, s, d):
        if ended(s, d):
            return 0.0
        if h not in N:
            N[h], Q[h] = np.zeros(A), np.zeros(A)
            a = int(rng.integers(A))
            y, _, r = step_(s, a)
            R = r + gamma * rollout(step_, y, d + 1)
        else:
            x = np.where(N[h] == 0, np.inf, np.log(N[h].sum()) / np.maximum(N[h], 1))
            u = Q[h] + (high - low) * np.sqrt(x)
            a = int(rng.choice(np.flatnonzero(u == u.max())))
            y, o, r = step_(s, a)
            R = r + gamma * simulate(step_, (*h, a, o), y, d + 1)
        N[h][a] += 1
        Q[h][a] += (R - Q[h][a]) / N[h][a]
        return R

    for _ in range(planner.simulations):
        s, phi, psi = listed[rng.choice(len(listed), p=weights)]
        simulate(follow(prior, phi, psi, rng), (), s, 0)
    return Q[()], N[()]


def copying_counts(prior, phi, psi, rng):
    """A step draws from the means of the counts, and counts what it drew in a copy."""
    counts = [phi, psi]

    def step_(s, a):
        found = list(successors(prior, s, *counts, a))
        _, y, o, counts[0], counts[1] = found[rng.choice(len(found), p=np.array([x[0] for x in found]))]
        return y, o, paid(prior, s, a, y, o)

    return step_


def drawing_a_model(prior, phi, psi, rng):
    """A model is drawn at the root and followed."""
    model = prior.drawn(np.array(phi), np.array(psi), rng)
    P, O, _ = model.dense()

    def step_(s, a):
        y = int(rng.choice(len(P), p=P[s, a]))
        o = int(rng.choice(O.shape[2], p=O[y, a]))
        return y, o, paid(prior, s, a, y, o)

    return step_


# The simulator --------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("log", [[], HISTORY], ids=["at the start", "after three steps"])
def test_urns_draw_like_enumerated_hyper_states(log):
    """Two steps from the root: joint frequencies of states and observations in 4000 draws; false alarm 1e-6."""
    prior, rng = uneven(), default_rng(0)
    belief, mix = ExactBAPOMDP(prior).update_many(log), mixture(prior, log)
    model, seen, expected = belief.simulate(2), np.zeros((3, 3, 2, 3, 2)), np.zeros((3, 3, 2, 3, 2))
    for (s, phi, psi), w in mix.items():
        for p, y, o, f, g in successors(prior, s, phi, psi, 0):
            for q, z, e, _, _ in successors(prior, y, f, g, 0):
                expected[s, y, o, z, e] += w * p * q
    for _ in range(4000):
        begin(model, rng)
        s = root(model, -1, rng)
        o, y, r, done, _ = step(model, s, 0, rng)
        e, z, _, _, _ = step(model, y, 0, rng)
        seen[s, y, o, z, e] += 1
        assert r == paid(prior, s, 0, y, o)
        assert done == (y == 2)
    assert_frequencies(seen, expected)


def test_bounded_rows_stop_counting():
    """At its bound a row draws from the same counts for ever: six listenings in one simulation, 2000 simulations.

    False alarm 1e-6. The share of simulations that hear the same side six times would be .20 if rows went on counting;
    with the bound at the prior's total it is .088 + .0014.
    """
    prior = b.make_world("tiger", correct=2.0, incorrect=1.0).model_prior()
    model, rng = BoundedBAPOMDP(prior, bound=3).simulate(6), default_rng(1)
    right = []
    for _ in range(2000):
        begin(model, rng)
        s = root(model, -1, rng)
        right.append([step(model, s, 0, rng)[0] == s for _ in range(6)])
    same = np.array(right).sum(axis=1)
    p = (2 / 3) ** 6 + (1 / 3) ** 6
    assert_frequencies(np.bincount((same % 6 == 0).astype(int), minlength=2), np.array([1 - p, p]))


# Values ---------------------------------------------------------------------------------------------------------------


def root_value(planner, belief):
    """The best root value, averaged over ten seeds."""
    return np.mean([planner.plan(belief, -1, None, default_rng(i)).info["q"].max() for i in range(10)])


def test_root_values_approach_the_exact_ones():
    """The mild tiger with counts (2, 1), four decisions, ten seeds: each tenfold budget at least halves the error.

    Measured errors: 4.0, 1.4, .36, .080 for 10^3, 10^4, 10^5 and 10^6 simulations.
    """
    belief = ExactBAPOMDP(MILD.counts())
    exact = expectimax(MILD.counts(), mixture(MILD.counts()), 4).max()
    assert exact == pytest.approx(-1.566, abs=5e-4)
    errors = [exact - root_value(BAPOMCP(simulations=K, depth=4), belief) for K in (2000, 20000, 200000)]
    assert 0 < errors[2] < errors[1] / 2 < errors[0] / 4
    assert errors[2] < 0.3


def test_a_fixed_mean_model_is_told_apart():
    """A search that keeps the mean model within a simulation goes to -.822, far above the Bayes-optimal -1.566."""
    belief = ExactBAPOMDP(MILD.counts())
    ours = root_value(BAPOMCP(200000, 4), belief)
    mean_model = root_value(POMCP(200000, 4), POMDPFilter(belief.mean_pomdp()))
    assert abs(ours + 1.566) < 0.3
    assert abs(mean_model + 0.822) < 0.3


@pytest.mark.parametrize("belief", [ExactBAPOMDP, lambda prior: BoundedBAPOMDP(prior, bound=100)])
def test_root_values_after_data_with_ties_and_an_end(belief):
    """Three decisions after three steps: the best root value is within .03 over ten seeds."""
    prior = uneven()
    exact = expectimax(prior, mixture(prior, HISTORY), 3)
    planner = BAPOMCP(simulations=60000, depth=3)
    posterior = belief(prior).update_many(HISTORY)
    q = np.mean([planner.plan(posterior, -1, None, default_rng(i)).info["q"] for i in range(10)], axis=0)
    assert abs(q.max() - exact.max()) < 0.03


@pytest.mark.parametrize("follow", [copying_counts, drawing_a_model])
def test_equal_in_law_to_a_naive_transcription(follow):
    """Root values and visits of 250 searches each; false alarm 1e-6 each; sees half a standard deviation."""
    prior, planner, rng = uneven(), BAPOMCP(simulations=30, depth=4), default_rng(2)
    posterior, mix = ExactBAPOMDP(prior).update_many(HISTORY), mixture(prior, HISTORY)
    ours = [planner.plan(posterior, -1, None, rng).info for _ in range(250)]
    theirs = [naive(prior, mix, planner, rng, follow) for _ in range(250)]
    for key, i in (("q", 0), ("visits", 1)):
        assert_mean_equal([o[key] - t[i] for o, t in zip(ours, theirs, strict=True)], 0.0, what=key)


# Agents and refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"leaf": "mean"}, {"reuse": True}, {"exploration": "auto"}])
def test_an_agent_learns_in_the_tiger(settings):
    world = b.make_world("tiger-episodic")
    agent = b.BayesAgent(
        ParticleBAPOMDP(world.model_prior(), particles=50), BAPOMCP(simulations=60, depth=10, **settings)
    )
    record = run(agent, world, 30, seed=0, horizon=20)
    assert len(record) == 30
    assert record == run(agent, world, 30, seed=0, horizon=20)


def test_a_filter_is_refused():
    known = POMDPFilter(MILD.pomdp)
    for use in (lambda: b.BayesAgent(known, BAPOMCP()), lambda: BAPOMCP().plan(known, -1, None, default_rng(0))):
        with pytest.raises(
            Incompatible, match=r"BAPOMCP needs a belief with .*'hyper_states'.*, which POMDPFilter lacks"
        ):
            use()


@pytest.mark.parametrize("bad", [{"simulations": 0}, {"depth": 0}, {"exploration": -1.0}, {"milliseconds": 0.0}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(InvalidArgument, match=f"BAPOMCP: '{next(iter(bad))}' must be"):
        BAPOMCP(**bad)


def test_leaf_values_of_an_older_mean_model_are_not_kept():
    """They are those of the belief's own mean model."""
    planner = b.make("ba-pomcp", leaf="mean", simulations=5, depth=1)
    belief = ExactBAPOMDP(uneven())
    memory = planner.plan(belief, None, None, default_rng(0)).memory
    later = belief.update(b.Transition(None, 0, 0.0, 1), default_rng(1))
    mdp, values = planner.plan(later, None, memory, default_rng(0)).memory.leaf
    np.testing.assert_array_equal(mdp.prob, later.mean_pomdp().mdp.prob)
    np.testing.assert_array_equal(values, solve(later.mean_pomdp().mdp).values)
    assert np.abs(values - memory.leaf[1]).max() > 1e-6
