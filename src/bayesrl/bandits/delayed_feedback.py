"""Feedback that comes late (Chapelle and Li 2011; survey §3.3): each answer some steps after its choice.

Around any agent. What the world answered waits in the mind until its time has come; then the agent inside learns from
it as if it had just happened. Feedback in batches: batched_feedback.py.

Deviations: none. Cost: O(delay) to copy what waits. Claims: a delay of 0 changes nothing; what is learned, and when, by
hand.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.random import Generator

from bayesrl.checks import integer
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


class Waiting(NamedTuple):
    """The mind of the agent inside, and what it has not been told yet, the oldest first."""

    inside: Any
    queue: tuple[Transition, ...]


@register(
    "delayed-feedback",
    kind="tool",
    survey="3.3",
    paper="Chapelle11EE",
    evidence=(
        "tests/bandits/test_feedback.py::test_no_delay_changes_nothing",
        "tests/bandits/test_feedback.py::test_what_is_learned_when",
    ),
)
@dataclass(frozen=True, slots=True)
class DelayedFeedback:
    """An agent that learns from each step only some steps later."""

    agent: Any
    delay: int
    """Steps between an answer and its being learned from; 0: none."""

    def __post_init__(self) -> None:
        integer("DelayedFeedback", "delay", self.delay, 0)

    def start(self) -> Waiting:
        """Nothing waits."""
        return Waiting(self.agent.start(), ())

    def act(self, mind: Waiting, observation: Any, rng: Generator) -> Decision:
        """Act on what has been told."""
        return act_meanwhile(self.agent, mind, observation, rng)

    def learn(self, mind: Waiting, transition: Transition, rng: Generator) -> Waiting:
        """Queue what happened, and learn from what happened `delay` steps ago."""
        queue = (*mind.queue, transition)
        if len(queue) <= self.delay:
            return Waiting(mind.inside, queue)
        return Waiting(self.agent.learn(mind.inside, queue[0], rng), queue[1:])

    def batch(self, replicates: int) -> DelayedFeedback:
        """The same agent, so many times in lockstep."""
        return dataclasses.replace(self, agent=self.agent.batch(replicates))

    planner = property(lambda self: self.agent.planner, doc="The planner inside.")
    prior = property(lambda self: self.agent.prior, doc="The prior inside.")


def act_meanwhile(agent: Any, mind: Waiting, observation: Any, rng: Generator) -> Decision:
    """Let the agent inside act on what it has been told."""
    action, inside, info = agent.act(mind.inside, observation, rng)
    return Decision(action, Waiting(inside, mind.queue), info)
