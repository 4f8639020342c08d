"""Feedback that comes late (Chapelle and Li 2011; survey §3.3): each answer some steps after its choice.

This tool wraps any agent. An answer of the world waits in the mind until its time has come; then the agent inside
learns from it as if it had just happened. Feedback in batches: batched_feedback.py.

Deviations: none. Cost: O(delay) to copy the queue. Claims: a delay of 0 changes nothing; what is learned, and when, by
hand.
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
    """An agent that can hold many replicates side by side."""

    def batch(self, replicates: int) -> Agent[Any]:
        """The same agent, `replicates` times."""


@runtime_checkable
class Believer(Protocol):
    """An agent made of a prior and a planner."""

    @property
    def prior(self) -> object:
        """What is believed at the start."""

    @property
    def planner(self) -> Planner[Any, Any]:
        """What to do with a belief."""


class Waiting(NamedTuple):
    """The mind of the agent inside, and the transitions that it has not been told yet, the oldest first."""

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
@declared
class DelayedFeedback:
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
    delay: Annotated[int, AtLeast(0), "Steps between an answer and the update with it; 0: none."]

    def __post_init__(self) -> None:
        check_agent_inside("DelayedFeedback", self.agent)

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
        """The same agent for each of several replicates in lockstep."""
        return dataclasses.replace(self, agent=in_lockstep(self.agent, replicates))

    @property
    def planner(self) -> Planner[Any, Any]:
        """The planner inside."""
        return inside(self.agent).planner

    @property
    def prior(self) -> object:
        """The prior inside."""
        return inside(self.agent).prior


def act_meanwhile(agent: Agent[Any], mind: Waiting, observation: Any, rng: Generator) -> Decision:
    """Let the agent inside act on what it has been told."""
    action, inside, info = agent.act(mind.inside, observation, rng)
    return Decision(action, Waiting(inside, mind.queue), info)


def check_agent_inside(owner: str, agent: object) -> None:
    """Refuse what is not an agent."""
    if not isinstance(agent, Agent):
        raise InvalidArgument(owner, "agent", "an agent (start, act, learn)", agent)


def in_lockstep(agent: Agent[Any], replicates: int) -> Agent[Any]:
    """The agent inside, `replicates` times."""
    if not isinstance(agent, LockstepAgent):
        raise Incompatible("A lockstep run", type(agent).__name__, ["batch"])
    return agent.batch(replicates)


def inside(agent: Agent[Any]) -> Believer:
    """The agent inside as one that has a prior and a planner."""
    if not isinstance(agent, Believer):  # then hasattr(late, "planner") is False
        raise AttributeError(f"{type(agent).__name__} has no planner.")
    return agent
