"""Late feedback: what is learned, when, and that no lateness changes nothing."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.bandits.batched_feedback import BatchedFeedback
from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.delayed_feedback import DelayedFeedback
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial
from bayesrl.bandits.ucb1 import UCB1
from bayesrl.core import BayesAgent, Decision, Transition, run
from bayesrl.errors import InvalidArgument
from bayesrl.lab.compare import broadcasts, compare
from bayesrl.testing import check_agent
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit, bernoulli
from bayesrl.worlds.bandits.combinatorial import combinatorial
from bayesrl.worlds.bandits.linear import linear

FAMILIES = {
    "thompson": (bernoulli(arms=4), Thompson()),
    "ucb1": (bernoulli(arms=4), UCB1()),
    "bayes-ucb": (bernoulli(arms=4), BayesUCB()),
    "linear": (linear(arms=4, d=2), Thompson()),
    "combinatorial": (combinatorial(arms=5, suggestions=2), ThompsonCombinatorial(2)),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("lockstep", [None, 3])
def test_no_delay_changes_nothing(name, lockstep):
    family, planner = FAMILIES[name]
    agent = BayesAgent(family.default_prior(), planner)
    plain = run(agent, family, 40, lockstep=lockstep)
    for late in (DelayedFeedback(agent, 0), BatchedFeedback(agent, 1)):
        record = run(late, family, 40, lockstep=lockstep)
        assert np.array_equal(record.action, plain.action)
        assert np.array_equal(record.reward, plain.reward)


def learned(agent, n):
    """The sum of the numbers 1, 2, 4, ... of the steps that the belief knows of after n steps: which ones they are."""
    mind, rng = agent.start(), default_rng(0)
    for t in range(n):
        mind = agent.act(mind, 0, rng).memory
        mind = agent.learn(mind, Transition(0, 0, float(2**t), 0), rng)
    belief = mind.inside.belief
    total = belief.strength[0] * belief.mean_[0]
    return round(float(total))


@pytest.mark.parametrize(
    "late, after",
    [
        (lambda a: DelayedFeedback(a, 2), [0, 0, 0, 1, 3, 7, 15]),
        (lambda a: BatchedFeedback(a, 3), [0, 0, 0, 7, 7, 7, 63]),
    ],
    ids=["delayed", "batched"],
)
def test_what_is_learned_when(late, after):
    from bayesrl.beliefs.arms.normal_arm import NormalArm

    agent = late(BayesAgent(NormalArm.standard(2), Thompson()))
    assert [learned(agent, n) for n in range(7)] == after
    check_agent(late(BayesAgent(bernoulli().default_prior(), Thompson())), bernoulli())


class Notes:
    """An agent that notes what it learns."""

    def start(self):
        return ()

    def act(self, mind, observation, rng):
        return Decision(0, mind, {})

    def learn(self, mind, transition, rng):
        return (*mind, transition)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_what_waits_is_learned_in_order_over_the_ends_of_episodes(n):
    """A step comes late whether its episode, or a later one, has ended by itself, by its horizon, or not yet."""
    steps = [Transition(t, 0, 0.0, t + 1, t % 5 == 3, t % 7 == 2) for t in range(24)]
    late, batched = DelayedFeedback(Notes(), n), BatchedFeedback(Notes(), n + 1)
    one, two = late.start(), batched.start()
    for t, step in enumerate(steps, start=1):
        one, two = late.learn(one, step, default_rng(0)), batched.learn(two, step, default_rng(0))
        assert (one.inside, one.queue) == (tuple(steps[: max(t - n, 0)]), tuple(steps[max(t - n, 0) : t]))
        known = t // (n + 1) * (n + 1)
        assert (two.inside, two.queue) == (tuple(steps[:known]), tuple(steps[known:t]))


def test_thompson_suffers_less_from_batches_than_ucb():
    """Chapelle and Li's observation, on a small case: 10 arms, 4000 steps, batches of 200, 64 runs in lockstep."""
    world = BernoulliBandit(np.array([0.5] + [0.4] * 9))
    lost = {}
    for planner in (Thompson(), UCB1()):
        agent = BayesAgent(world.default_prior(), planner)
        for every in (1, 200):
            record = run(BatchedFeedback(agent, every), world, 4000, lockstep=64)
            lost[type(planner), every] = 0.1 * (record.action > 0).sum(axis=0).mean()
    assert lost[Thompson, 200] - lost[Thompson, 1] < 0.6 * (lost[UCB1, 200] - lost[UCB1, 1])


def test_late_agents_run_in_lockstep():
    family = bernoulli()
    agent = DelayedFeedback(BayesAgent(family.default_prior(), Thompson()), 10)
    assert broadcasts(agent, family)
    assert compare({"late": agent}, family, 20, runs=3)["late"].reward.shape == (20, 3)
    for make in (lambda: DelayedFeedback(agent, -1), lambda: BatchedFeedback(agent, 0)):
        with pytest.raises(InvalidArgument, match="a whole number of at least"):
            make()
