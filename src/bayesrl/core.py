"""The words of the library and the one loop that runs them. Read this file first.

Bayesian reinforcement learning has two axes: what I know (a *belief*) and what I do with it (a *planner*).
Together they are an *agent*. An agent meets a *world* in `run`, and what happened is a *record*:

    prior (a Belief) ─┐
    planner ──────────┴─► BayesAgent ─► run(agent, world, steps, seed) ─► Record

Everything is explicit. Beliefs, memories and world states are values: they are passed in and handed back, and never
changed. Randomness is an argument called `rng`, and it comes last. So every part can be used alone, and the user's own
loop is as good as ours:

    mind = agent.start()
    decision = agent.act(mind, observation, rng)               # choose
    ...                                                        # let the world answer
    mind = agent.learn(decision.memory, transition, rng)       # and learn from the answer

What a planner may ask of a belief is in `capabilities.py`, what a record holds in `record.py`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from bayesrl.capabilities import Batches, Restarts, demand
from bayesrl.checks import integer
from bayesrl.errors import BrokenContract, Incompatible, InvalidArgument
from bayesrl.provenance import describe, provenance
from bayesrl.record import Record as Record
from bayesrl.record import column

Datum = TypeVar("Datum", contravariant=True)
B_contra = TypeVar("B_contra", contravariant=True)
Problem = TypeVar("Problem", contravariant=True)
Result = TypeVar("Result", covariant=True)
M = TypeVar("M")
B = TypeVar("B", bound="Belief[Transition]")
Info = Mapping[str, Any]
tuple_new = tuple.__new__
"""Makes a named tuple in half the time, where one is made in every step."""


# What is passed around -----------------------------------------------------------------------------------------------


class Transition(NamedTuple):
    """One step as the agent saw it. In a fully observed world `state` and `next_state` read the same as observations.

    >>> seen = Transition(observation=0, action=1, reward=2.0, next_observation=3)
    >>> seen.state, seen.next_state
    (0, 3)
    """

    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool = False
    truncated: bool = False
    task: int = 0

    @property
    def state(self) -> Any:
        """The observation, in a fully observed world."""
        return self.observation

    @property
    def next_state(self) -> Any:
        """The next observation, in a fully observed world."""
        return self.next_observation

    @property
    def ends_episode(self) -> bool:
        """Whether the next step starts a new episode."""
        return bool(self.terminated or self.truncated)


class Decision(NamedTuple):
    """What to do now, what to remember, and why: `info` carries root values, visit counts, bounds."""

    action: Any
    memory: Any
    info: Info


class WorldStep(NamedTuple):
    """What a world's `step` returns. A plain tuple is as good."""

    state: Any
    """The true state after the step."""
    observation: Any
    """What the agent sees of it."""
    reward: Any
    """A number; in lockstep one for each replicate."""
    terminated: bool = False
    """Whether the episode has come to its end."""


class TaskStep(NamedTuple):
    """What `step` returns in a world of several tasks: the same, and the task that the next step belongs to."""

    state: Any
    observation: Any
    reward: Any
    terminated: bool
    task: int


class Step(NamedTuple):
    """One step of `play`: what was true, what the agent saw, what it decided, and what it knows afterwards."""

    state: Any
    """The true state in which the action was taken."""
    transition: Transition
    decision: Decision
    mind: Any
    """The agent's mind after learning from the transition."""
    observation: Any
    """What the agent sees next; after the end of an episode, the first observation of the next one."""


# The protocols -------------------------------------------------------------------------------------------------------


@runtime_checkable
class Belief(Protocol[Datum]):
    """What is known. A prior is a belief that nobody has updated yet.

    `update` is pure: it returns the posterior and leaves this belief as it was. Exact beliefs never touch `rng`.
    What else a planner may ask of a belief are separate protocols: see `capabilities.py`.
    """

    def update(self, datum: Datum, rng: Generator | None = None) -> Self:
        """The posterior after a datum."""


@runtime_checkable
class Planner(Protocol[B_contra, M]):
    """What to do with a belief.

    `needs` names the capabilities that a belief must offer. A planner that asks for more than capabilities can say also
    has `check(belief)`, which raises an error if the two do not fit. `last` is the transition just seen (None at the
    very start), for planners that also learn or that act on the ends of episodes.
    """

    needs: ClassVar[tuple[type, ...]]

    def start(self) -> M:
        """The memory before the first decision."""

    def plan(
        self, belief: B_contra, observation: Any, memory: M, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Choose an action."""


@runtime_checkable
class Policy(Protocol):
    """A way of acting that needs no further thought. `bayesrl.models.policy` has the usual ones; each is an agent."""

    def sample(self, observation: Any, rng: Generator) -> Any:
        """An action drawn from the policy."""

    def log_prob(self, observation: Any, action: Any) -> float:
        """The logarithm of the probability (or density) of an action."""


@runtime_checkable
class DifferentiablePolicy(Policy, Protocol):
    """A policy with parameters."""

    def score(self, observation: Any, action: Any) -> NDArray[np.float64]:
        """The gradient of `log_prob` in the parameters, shape (n,)."""


@runtime_checkable
class Solver(Protocol[Problem, Result]):
    """Work done ahead: from a known problem or a prior to a solution that is, or holds, a policy or a planner."""

    def solve(self, problem: Problem, rng: Generator | None = None) -> Result:
        """Solve a problem."""


@runtime_checkable
class Agent(Protocol[M]):
    """Anything that can be run. The mind `M` is all it remembers; `act` returns the new mind as `memory`."""

    def start(self) -> M:
        """The mind before the first step."""

    def act(self, mind: M, observation: Any, rng: Generator) -> Decision:
        """Choose an action."""

    def learn(self, mind: M, transition: Transition, rng: Generator) -> M:
        """The mind after a transition."""


@runtime_checkable
class World(Protocol):
    """What may be out there. The state is explicit, so a world doubles as a generative model.

    A world in which the true state is not what the agent observes says so with `hidden = True`.
    """

    def reset(self, rng: Generator) -> tuple[Any, Any]:
        """The first state of an episode and what is observed of it."""

    def step(self, state: Any, action: Any, rng: Generator) -> WorldStep | TaskStep | tuple[Any, Any, Any, bool]:
        """What follows an action in a state."""


@runtime_checkable
class Copies(Protocol):
    """A world that changes when it is used, as environments of other libraries do. Parallel runs need copies of it."""

    def fresh(self) -> World:
        """The same world, not yet used."""


@runtime_checkable
class Family(Protocol):
    """A distribution over worlds; `run` draws one for each run."""

    def draw(self, rng: Generator) -> World:
        """A world."""


# The agent that is nearly all agents ---------------------------------------------------------------------------------


class Mind(NamedTuple, Generic[B]):
    """What a BayesAgent carries from step to step."""

    belief: B
    memory: Any
    last: Transition | None


@dataclass(frozen=True, slots=True)
class BayesAgent(Generic[B]):
    """A prior and a planner: plan on the belief, act, update the belief.

    A pair that does not fit is refused here, and the error names what is missing.
    """

    prior: B
    planner: Planner[B, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.planner, Planner):
            raise InvalidArgument("BayesAgent", "planner", "a planner (needs, start, plan)", self.planner)
        demand(self.planner, self.prior)

    def start(self) -> Mind[B]:
        """The mind before the first step: the prior and an empty memory."""
        return Mind(self.prior, self.planner.start(), None)

    def act(self, mind: Mind[B], observation: Any, rng: Generator) -> Decision:
        """Plan on the present belief."""
        if type(mind) is not Mind:
            raise InvalidArgument("BayesAgent.act", "mind", "one that start, act or learn gave", mind)
        decision = self.planner.plan(mind.belief, observation, mind.memory, rng, mind.last)
        action, memory, info = decision if type(decision) is Decision else _read(self.planner, "plan", decision)
        return tuple_new(Decision, (action, tuple_new(Mind, (mind.belief, memory, mind.last)), info))

    def learn(self, mind: Mind[B], transition: Transition, rng: Generator) -> Mind[B]:
        """Update the belief. A belief over a hidden, moving state forgets that state where an episode ends."""
        if type(mind) is not Mind:
            raise InvalidArgument("BayesAgent.learn", "mind", "one that start, act or learn gave", mind)
        belief = mind.belief.update(transition, rng)
        if (transition.terminated or transition.truncated) and isinstance(belief, Restarts):
            belief = belief.restart()
        return tuple_new(Mind, (belief, mind.memory, transition))

    def batch(self, replicates: int) -> BayesAgent[B]:
        """The same agent, `replicates` times in lockstep. The belief must offer `Batches`."""
        if not isinstance(self.prior, Batches):
            raise Incompatible("A lockstep run", type(self.prior).__name__, ["batch"])
        return dataclasses.replace(self, prior=self.prior.batch(replicates))


def _read(who: object, duty: str, said: object) -> Decision:
    """A plain tuple as a decision; anything else breaks the contract."""
    if not isinstance(said, tuple) or len(said) != 3:
        raise BrokenContract(f"{type(who).__name__}.{duty}", "return a Decision", said)
    return Decision(*said)


# The loop ------------------------------------------------------------------------------------------------------------


class Streams(NamedTuple):
    """The four random generators of a run. Compared methods share the world's luck, not their own."""

    draw: Generator
    """Draws a world from a family."""
    world: Generator
    """Decides what the world does."""
    thought: Generator
    """Serves the planner."""
    learning: Generator
    """Serves the belief's update."""

    @staticmethod
    def of(seed: int, replicate: int = 0, lockstep: bool = False) -> Streams:
        """The streams of one replicate, or of one lockstep block of them: a function of these numbers alone."""
        key = (0, replicate) if lockstep else (replicate,)  # keys of different length never meet
        return Streams(*map(default_rng, SeedSequence(seed, spawn_key=key).spawn(4)))


def meet(world: World | Family, streams: Streams, lockstep: int | None = None) -> World:
    """The world that a run meets: drawn if there is a family of them, `lockstep` of them side by side."""
    if lockstep is not None and isinstance(world, Batches):  # which `_check_run` has made sure of
        world = world.batch(lockstep)
    return world.draw(streams.draw) if isinstance(world, Family) else world


def _check_play(agent: object, world: object, streams: object, horizon: object) -> None:
    """Refuse what `play` cannot run."""
    if not isinstance(agent, Agent):
        raise InvalidArgument("play", "agent", "an agent (start, act, learn)", agent)
    if not isinstance(world, World):
        raise InvalidArgument("play", "world", "a world (reset, step)", world)
    if not (isinstance(streams, tuple) and len(streams) == 4 and all(isinstance(x, Generator) for x in streams)):
        raise InvalidArgument("play", "streams", "four generators, such as Streams.of(0)", streams)
    if horizon is not None:
        integer("play", "horizon", horizon, 1)


def play(agent: Agent[M], world: World, streams: Streams, *, horizon: int | None = None) -> Iterator[Step]:
    """Let an agent act in a world, for as long as steps are asked for. This is the only loop of the library.

    An episode that terminates, or that has lasted `horizon` steps (then it is truncated), is followed by another one in
    the same world.

    >>> from itertools import islice
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("exploit", ties="first"))
    >>> [step.transition.reward for step in islice(play(agent, world, Streams.of(0)), 4)]
    [0.0, 2.0, 2.0, 2.0]
    """
    _check_play(agent, world, streams, horizon)
    _, luck, thought, learning = streams
    mind = agent.start()
    state, seen = world.reset(luck)
    age, task = 0, 0
    while True:
        decision = agent.act(mind, seen, thought)
        if type(decision) is not Decision:
            decision = _read(agent, "act", decision)
        action, mind, _ = decision
        answer = world.step(state, action, luck)
        after, new, reward, terminated = answer if len(answer) == 4 else answer[:4]
        age += 1
        truncated = age == horizon and not terminated
        transition = tuple_new(Transition, (seen, action, reward, new, terminated, truncated, task))
        mind = agent.learn(mind, transition, learning)
        task = answer[4] if len(answer) > 4 else 0
        if terminated or truncated:
            after, new = world.reset(luck)
            age = 0
        yield tuple_new(Step, (state, transition, decision, mind, new))
        state, seen = after, new


def run(
    agent: Agent[Any],
    world: World | Family,
    steps: int,
    seed: int = 0,
    *,
    replicate: int = 0,
    horizon: int | None = None,
    lockstep: int | None = None,
    keep: Sequence[str] = (),
) -> Record:
    """Let an agent act in a world for a number of steps, and record what happened.

    A family of worlds is drawn from first. Replicate i of a comparison is `run(..., replicate=i)`. With `lockstep=n`
    agent and world are batched (`batch(n)`): n replicates share every step and one set of streams, and `replicate` then
    numbers the block.

    `keep` names further columns of the record: "state" is the true state, any other name an entry of the decisions'
    `info`, for example keep=("state", "q").
    """
    _check_run(agent, world, steps, seed, replicate, horizon, lockstep, keep)
    made_of = {"agent": describe(agent), "world": describe(world)}
    gamma = float(getattr(world, "gamma", 1.0))
    streams = Streams.of(seed, replicate, lockstep is not None)
    if lockstep is not None and isinstance(agent, Batches):  # which `_check_run` has made sure of
        agent = agent.batch(lockstep)
    world = meet(world, streams, lockstep)
    if not isinstance(world, World):
        raise InvalidArgument("run", "world", "a world (reset, step) or a family of worlds (draw)", world)

    began = time.perf_counter()
    taken: list[Transition] = []
    states: list[Any] = []
    kept: dict[str, list[Any]] = {name: [] for name in keep if name != "state"}
    for state, transition, decision, _, _ in islice(play(agent, world, streams, horizon=horizon), steps):
        taken.append(transition)
        if keep:
            states.append(state)
            for name, values in kept.items():
                if name not in decision.info:
                    expected = "names of entries of every decision's info, or state"
                    raise InvalidArgument("run", "keep", expected, name, f"There are {', '.join(decision.info)}.")
                values.append(decision.info[name])
    columns = columns_of(taken)
    if "state" in keep:
        columns = {"state": column("state", states), **columns}
    columns |= {name: column(name, values) for name, values in kept.items()}
    numbers = {"steps": steps, "seed": seed, "replicate": replicate, "horizon": horizon, "lockstep": lockstep}
    seconds = time.perf_counter() - began
    return Record(columns, gamma, provenance(made_of, numbers, bool(getattr(world, "hidden", False))), seconds)


def names_to_keep(owner: str, keep: Sequence[str]) -> Sequence[str]:
    """The names of further columns, checked."""
    if not isinstance(keep, (tuple, list)) or not all(isinstance(name, str) for name in keep):
        raise InvalidArgument(owner, "keep", 'a tuple of names, such as ("state", "q")', keep)
    return keep


def columns_of(taken: Sequence[Transition]) -> dict[str, NDArray[Any]]:
    """The columns that every record has."""
    observations, actions, rewards, successors, terminations, truncations, tasks = zip(*taken, strict=True)
    columns = {
        "observation": column("observation", observations),
        "action": column("action", actions),
        "reward": np.asarray(rewards, dtype=np.float64),
        "next_observation": column("next_observation", successors),
        "terminated": np.asarray(terminations, dtype=np.bool_),
        "truncated": np.asarray(truncations, dtype=np.bool_),
    }
    return columns | ({"task": np.asarray(tasks, dtype=np.int64)} if any(tasks) else {})


def _check_run(
    agent: object,
    world: object,
    steps: int,
    seed: int,
    replicate: int,
    horizon: int | None,
    lockstep: int | None,
    keep: Sequence[str],
) -> None:
    counts = {"steps": (steps, 1), "seed": (seed, 0), "replicate": (replicate, 0)}
    optional = {"horizon": (horizon, 1), "lockstep": (lockstep, 1)}
    for name, (number, low) in (counts | {k: v for k, v in optional.items() if v[0] is not None}).items():
        integer("run", name, number, low, any_length=name == "seed")
    names_to_keep("run", keep)
    if not isinstance(agent, Agent):
        hint = "A planner needs a belief: BayesAgent(prior, planner)." if hasattr(agent, "plan") else ""
        raise InvalidArgument("run", "agent", "an agent (start, act, learn)", agent, hint)
    if hasattr(world, "observation_space"):
        hint = "bayesrl.adapters.gymnasium.GymWorld(env) makes a world of it."
        raise InvalidArgument("run", "world", "a world, not a Gymnasium environment", type(world).__name__, hint)
    for name, batched in (("agent", agent), ("world", world)):
        if lockstep is not None and not hasattr(batched, "batch"):
            raise InvalidArgument("run", name, "one that can run in lockstep (batch)", batched)
