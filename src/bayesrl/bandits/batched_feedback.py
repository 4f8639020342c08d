"""Feedback in batches (Chapelle and Li 2011, Table 1; survey §3.3).

This tool wraps any agent. At the end of each batch of steps the agent learns from all transitions of the batch, in
order. Within a batch its belief does not change. Thompson sampling then still varies its arms, but an index policy
repeats one arm, so batches cost it more.

Deviations: none. Cost: O(batch) per step to copy the queue. Claims: batches of 1 change nothing; the times and contents
of the updates, checked by hand.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from numpy.random import Generator

from bayesrl.bandits.delayed_feedback import LearnsLate, Waiting, check_agent_inside, in_lockstep
from bayesrl.core import Agent, Transition
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@register(
    "batched-feedback",
    kind="tool",
    survey="3.3",
    paper="Chapelle11EE",
    evidence=(
        "tests/bandits/test_feedback.py::test_no_delay_changes_nothing",
        "tests/bandits/test_feedback.py::test_what_is_learned_when",
    ),
)
@declared
class BatchedFeedback(LearnsLate):
    """An agent that learns from its steps in batches.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("bernoulli", arms=3)
    >>> agent = b.BayesAgent(world.default_prior(), b.make("ucb1"))
    >>> b.run(BatchedFeedback(agent, every=5), world, steps=10).action
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """

    agent: Annotated[Agent[Any], "The agent inside."]
    every: Annotated[int, AtLeast(1), "Steps in a batch; 1: learn at once."]

    def __post_init__(self) -> None:
        check_agent_inside("BatchedFeedback", self.agent)

    def learn(self, mind: Waiting, transition: Transition, rng: Generator) -> Waiting:
        """Queue the transition; when the batch is full, learn from all of it in order."""
        queue = (*mind.queue, transition)
        if len(queue) < self.every:
            return Waiting(mind.inside, queue)
        known = mind.inside
        for datum in queue:
            known = self.agent.learn(known, datum, rng)
        return Waiting(known, ())

    def batch(self, replicates: int) -> BatchedFeedback:
        """The same agent for each of several replicates in lockstep."""
        return dataclasses.replace(self, agent=in_lockstep(self.agent, replicates))
