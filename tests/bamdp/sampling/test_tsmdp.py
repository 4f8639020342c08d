"""TSMDP: its expected reward against an enumeration of models and histories, and one policy for each epoch."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs
from bayesrl.core import Transition, run
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solvers.average_reward import average_reward
from bayesrl.testing import assert_mean_equal
from bayesrl.worlds.tabular import MDPWorld

R = np.array([[0.0, 0.3], [1.0, 0.0], [0.0, 2.0]])


def models():
    """Three models of three states and two actions, with different best policies."""
    rng = default_rng(7)
    return tuple(TabularMDP.from_dense(rng.dirichlet(np.full(3, 0.5), (3, 2)), R, 0.9, start=1) for _ in range(3))


PRIOR = FiniteMDPs(models(), np.array([0.5, 0.3, 0.2]))


def expected_reward(truth, reference, steps):
    """The mean total reward: a sum over the models that are drawn and over the states that are visited."""
    P = [m.dense()[0] for m in PRIOR.models]
    policies = [average_reward(m).policy for m in PRIOR.models]

    def to_go(s, weights, model, n):
        if n == 0:
            return 0.0
        if model is None or s == reference:
            chances = weights / weights.sum()
            return sum(p * ahead(s, weights, i, n) for i, p in enumerate(chances))
        return ahead(s, weights, model, n)

    def ahead(s, weights, i, n):
        a = int(policies[i][s])
        total = R[s, a]
        for y, p in enumerate(P[truth][s, a]):
            after = weights * [rows[s, a, y] for rows in P]
            total += p * to_go(y, after, i, n - 1)
        return total

    return to_go(1, np.array([0.5, 0.3, 0.2]), None, steps)


@pytest.mark.parametrize("reference", [0, 1])
def test_expected_reward_equals_enumeration(reference):
    """600 runs of 6 steps from state 1; false alarm 1e-6.

    A draw at every step would move the mean by 8 standard errors (reference 0), one draw in all by 11 (reference 1).
    """
    truth = 0
    world = MDPWorld("one of three", PRIOR.models[truth])
    agent = b.BayesAgent(PRIOR, b.make("tsmdp", reference=reference))
    totals = [run(agent, world, 6, seed=seed).total for seed in range(600)]
    assert_mean_equal(np.array(totals, float), expected_reward(truth, reference, 6))


def test_one_policy_for_each_epoch():
    """A new model exactly at the first decision and at visits to the reference state; ends of episodes do not count."""
    planner, rng = b.make("tsmdp", reference=2), default_rng(0)
    memory, last, kept = planner.start(), None, []
    visits = [1, 0, 2, 1, 1, 2, 2, 0, 1]
    for t, s in enumerate(visits):
        decision = planner.plan(b.DirichletMDP.flat(PRIOR.models[0]), s, memory, rng, last)
        kept.append(decision.memory)
        memory, last = decision.memory, Transition(s, decision.action, 0.0, 0, truncated=t == 3)
    assert [t for t in range(9) if t == 0 or kept[t] is not kept[t - 1]] == [0, 2, 5, 6]


def test_values_are_those_of_the_drawn_model():
    """Gain and relative values solve the average-reward equation of the model that the same generator draws."""
    planner, belief = b.make("tsmdp"), b.DirichletMDP.flat(PRIOR.models[0])
    for seed in range(5):
        info = planner.plan(belief, 0, None, default_rng(seed)).info
        P, rewards = belief.sample_mdp(default_rng(seed)).dense()
        h = np.zeros(3)
        for _ in range(20000):  # relative value iteration, damped
            new = 0.5 * h + 0.5 * ((P * (rewards + h)).sum(axis=2)).max(axis=1)
            h, moved = new - new[-1], np.abs(new - new[-1] - h).max()
            if moved < 1e-13:
                break
        q = (P * (rewards + h)).sum(axis=2)
        np.testing.assert_allclose(info["q"], q[0], atol=1e-9)
        assert info["gain"] == pytest.approx(q[-1].max() - h[-1], abs=1e-9)


def test_a_state_that_is_none_and_models_that_end_are_refused():
    """When the agent is made, in one sentence."""
    with pytest.raises(InvalidArgument, match=r"TSMDP: 'reference' must be .* at most 2, got 3"):
        b.BayesAgent(PRIOR, b.make("tsmdp", reference=3))
    with pytest.raises(InvalidArgument, match="TSMDP: 'reference' must be a whole number of at least 0, got -1"):
        b.make("tsmdp", reference=-1)
    ending = TabularMDP.from_dense([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.9, terminal=[1])
    with pytest.raises(InvalidArgument, match="TSMDP: 'belief' must be one without terminal states"):
        b.BayesAgent(b.DirichletMDP.flat(ending), b.make("tsmdp"))
    apart = TabularMDP.from_dense([[[1.0, 0.0]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.9)
    agent = b.BayesAgent(FiniteMDPs((apart,)), b.make("tsmdp"))
    with pytest.raises(InvalidArgument, match="best gain is the same from every state"):
        agent.act(agent.start(), 0, default_rng(0))
