"""Feedback in batches (Chapelle and Li 2011, Table 1; survey §3.3).

Around any agent: rewards are handed over every so many steps, and the agent then learns from all of them in order.
Between batches it acts on what it knew: Thompson sampling goes on drawing, an index policy plays the same arm over and
over, which is why it suffers more.

Deviations: none. Cost: O(batch) to copy what waits. Claims: batches of 1 change nothing; what is learned, and when, by
hand.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from bayesrl.bandits.delayed_feedback import Waiting, act_meanwhile
from bayesrl.checks import integer
from bayesrl.core import Decision, Transition
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
@dataclass(frozen=True, slots=True)
class BatchedFeedback:
    """An agent that learns from its steps in batches."""

    agent: Any
    every: int
    """Steps in a batch; 1: learn at once."""

    def __post_init__(self) -> None:
        integer("BatchedFeedback", "every", self.every, 1)

    def start(self) -> Waiting:
        """Nothing waits."""
        return Waiting(self.agent.start(), ())

    def act(self, mind: Waiting, observation: Any, rng: Generator) -> Decision:
        """Act on what has been told."""
        return act_meanwhile(self.agent, mind, observation, rng)

    def learn(self, mind: Waiting, transition: Transition, rng: Generator) -> Waiting:
        """Queue what happened; when the batch is full, learn from all of it in order."""
        queue = (*mind.queue, transition)
        if len(queue) < self.every:
            return Waiting(mind.inside, queue)
        inside = mind.inside
        for datum in queue:
            inside = self.agent.learn(inside, datum, rng)
        return Waiting(inside, ())

    def batch(self, replicates: int) -> BatchedFeedback:
        """The same agent, so many times in lockstep."""
        return dataclasses.replace(self, agent=self.agent.batch(replicates))

    planner = property(lambda self: self.agent.planner, doc="The planner inside.")
    prior = property(lambda self: self.agent.prior, doc="The prior inside.")
