"""Delayed feedback (Chapelle and Li 2011; survey §3.3): each reward arrives some steps after its action.

This tool wraps any agent. A transition waits in a queue for `delay` steps; then the agent inside learns from it.
For feedback in batches see batched_feedback.py.

Deviations: none. Cost: O(delay) per step to copy the queue. Claims: a delay of 0 changes nothing; the times and
contents of the updates, checked by hand.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

from numpy.random import Generator

from bayesrl.core import Agent, Decision, Planner, Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@runtime_checkable
class LockstepAgent(Protocol):
    """An agent that can run several replicates in lockstep."""

    def batch(self, replicates: int) -> Agent[Any]:
        """The same agent for `replicates` replicates."""


@runtime_checkable
class Believer(Protocol):
    """An agent made of a prior and a planner."""

    @property
    def prior(self) -> object:
        """The belief before the first step."""

    @property
    def planner(self) -> Planner[Any, Any]:
        """The planner that acts on the belief."""


class Waiting(NamedTuple):
    """The mind of the agent inside, and the transitions it has not learned from yet, oldest first."""

    inside: Any
    queue: tuple[Transition, ...]


class LearnsLate:
    """An agent that delays the learning of an agent inside."""

    __slots__ = ()
    agent: Agent[Any]

    def start(self) -> Waiting:
        """Nothing waits."""
        return Waiting(self.agent.start(), ())

    def act(self, mind: Waiting, observation: Any, rng: Generator) -> Decision:
        """Let the agent inside act on what it has learned."""
        action, inside, info = self.agent.act(mind.inside, observation, rng)
        return Decision(action, Waiting(inside, mind.queue), info)

    @property
    def planner(self) -> Planner[Any, Any]:
        """The planner inside."""
        return self._believer().planner

    @property
    def prior(self) -> object:
        """The prior inside."""
        return self._believer().prior

    def _believer(self) -> Believer:
        if not isinstance(self.agent, Believer):  # then hasattr(late, "planner") is False
            raise AttributeError(f"{type(self.agent).__name__} has no planner.")
        return self.agent


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
@declared
class DelayedFeedback(LearnsLate):
    """An agent that learns from each step only some steps later.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("bernoulli", arms=3)
    >>> agent = b.BayesAgent(world.default_prior(), b.make("thompson"))
    >>> late = DelayedFeedback(agent, delay=2)
    >>> mind = late.start()
    >>> for reward in (1.0, 0.0, 0.0):
    ...     mind = late.learn(mind, Transition(0, 0, reward, 0), None)
    >>> mind.inside.belief.plays(), len(mind.queue)
    (array([1., 0., 0.]), 2)
    """

    agent: Annotated[Agent[Any], "The agent inside."]
    delay: Annotated[int, AtLeast(0), "Steps between a transition and the update with it; 0: none."]

    def __post_init__(self) -> None:
        check_agent_inside("DelayedFeedback", self.agent)

    def learn(self, mind: Waiting, transition: Transition, rng: Generator) -> Waiting:
        """Queue the transition, and learn from the one that is `delay` steps old."""
        queue = (*mind.queue, transition)
        if len(queue) <= self.delay:
            return Waiting(mind.inside, queue)
        return Waiting(self.agent.learn(mind.inside, queue[0], rng), queue[1:])

    def batch(self, replicates: int) -> DelayedFeedback:
        """The same agent for each of several replicates in lockstep."""
        return dataclasses.replace(self, agent=in_lockstep(self.agent, replicates))


def check_agent_inside(owner: str, agent: object) -> None:
    """Refuse what is not an agent."""
    if not isinstance(agent, Agent):
        raise InvalidArgument(owner, "agent", "an agent (start, act, learn)", agent)


def in_lockstep(agent: Agent[Any], replicates: int) -> Agent[Any]:
    """The agent inside, for `replicates` replicates."""
    if not isinstance(agent, LockstepAgent):
        raise Incompatible("A lockstep run", type(agent).__name__, ["batch"])
    return agent.batch(replicates)
