"""The compiled loop is `run`: the same record, bit for bit."""

import numpy as np
import pytest

from bayesrl.bandits.batched_feedback import BatchedFeedback
from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.delayed_feedback import DelayedFeedback
from bayesrl.bandits.simulate_bandit import simulate
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.ucb1 import UCB1
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.core import BayesAgent, Transition, run
from bayesrl.errors import InvalidArgument
from bayesrl.registry import make_world

PLANNERS = [Thompson(), UCB1(), BayesUCB(), BayesUCB.theorem(600)]


@pytest.mark.parametrize("planner", PLANNERS, ids=lambda p: f"{type(p).__name__}-{getattr(p, 'c', '')}")
@pytest.mark.parametrize("name", ["bernoulli", "gaussian"])
@pytest.mark.parametrize("every", [1, 7])
def test_simulate_is_run(name, planner, every):
    family = make_world(name, arms=9)
    agent = BayesAgent(family.default_prior(), planner)
    agent = agent if every == 1 else BatchedFeedback(agent, every)
    for replicate in range(3):
        expected = run(agent, family, 600, seed=5, replicate=replicate)
        assert simulate(agent, family, 600, seed=5, replicate=replicate) == expected


@pytest.mark.parametrize("planner", PLANNERS[:3], ids=lambda p: type(p).__name__)
def test_simulate_starts_from_what_is_known_already(planner):
    seen = [Transition(0, a % 3, float(a % 2), 0) for a in range(20)]
    for name, prior in [
        ("bernoulli", BetaBernoulli(np.full(3, 0.5), np.full(3, 2.0))),
        ("gaussian", NormalArm.standard(3)),
    ]:
        family = make_world(name, arms=3)
        agent = BayesAgent(prior.update_many(seen), planner)
        assert simulate(agent, family, 300) == run(agent, family, 300)


def test_simulate_refuses_what_it_cannot_compile():
    family = make_world("bernoulli")
    agent = BayesAgent(family.default_prior(), Thompson())
    for wrong in (DelayedFeedback(agent, 3), BayesAgent(NormalArm.standard(10), Thompson()), agent.batch(2)):
        with pytest.raises(InvalidArgument, match="simulate: 'agent' must be Thompson, UCB1 or BayesUCB on"):
            simulate(wrong, family, 10)
