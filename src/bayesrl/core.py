"""The protocols of the library and the loop that runs them. Read this file first.

Bayesian reinforcement learning has two parts: what is known (a *belief*) and what to do with it (a *planner*).
Together they form an *agent*. `run` lets an agent act in a *world* and returns a *record* of what happened:

    prior (a Belief) ─┐
    planner ──────────┴─► BayesAgent ─► run(agent, world, steps, seed) ─► Record

Beliefs, memories and world states are values: functions take them as arguments, return new ones, and never change them.
Randomness is an argument called `rng`, and it comes last. Every part can therefore be used alone, and a user can write
the loop:

    mind = agent.start()
    decision = agent.act(mind, observation, rng)               # choose an action
    ...                                                        # take it in the world
    mind = agent.learn(decision.memory, transition, rng)       # learn from the transition

`capabilities/` lists what a planner may ask of a belief, and `problems.py` what else a world may offer. `record.py`
defines records.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from bayesrl._shown import shown
from bayesrl.capabilities import Batches, Restarts, demand, offers
from bayesrl.checks import integer, number
from bayesrl.errors import BrokenContract, Incompatible, InvalidArgument
from bayesrl.problems import Copies as Copies
from bayesrl.problems import Family as Family
from bayesrl.problems import GymnasiumEnvironment, HasDiscount, Hides, name_of
from bayesrl.problems import Limited as Limited
from bayesrl.record import Record as Record
from bayesrl.record import column, describe, provenance
from bayesrl.renamed import keep_old_names, with_old_words

Datum = TypeVar("Datum", contravariant=True)
B_contra = TypeVar("B_contra", contravariant=True)
Problem = TypeVar("Problem", contravariant=True)
Result = TypeVar("Result", covariant=True)
M = TypeVar("M")
B = TypeVar("B", bound="Belief[Transition]")
Info = Mapping[str, Any]
tuple_new = tuple.__new__
"""Makes a named tuple in half the time. It is used where every step makes one."""


# Data ----------------------------------------------------------------------------------------------------------------


class Transition(NamedTuple):
    """One step as the agent saw it. In a fully observed world `state` and `next_state` are the observations.

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
    """An action, the memory for the next decision, and `info` about the choice: root values, visit counts, bounds."""

    action: Any
    memory: Any
    info: Info

    def __repr__(self) -> str:
        return shown(self)


class WorldStep(NamedTuple):
    """The result of a world's `step`. A plain tuple is accepted too."""

    state: Any
    """The true state after the step."""
    observation: Any
    """The observation that the agent gets of it."""
    reward: Any
    """A number; in lockstep one for each replicate."""
    terminated: bool = False
    """Whether the episode ended."""


class TaskStep(NamedTuple):
    """The result of `step` in a world of several tasks: a `WorldStep`, and the task to which the next step belongs."""

    state: Any
    observation: Any
    reward: Any
    terminated: bool
    task: int


class Step(NamedTuple):
    """One step of `play`: the true state, the transition that the agent saw, its decision, and its mind afterwards."""

    state: Any
    """The true state in which the action was taken."""
    transition: Transition
    decision: Decision
    mind: Any
    """The agent's mind after learning from the transition."""
    observation: Any
    """The next observation; after the end of an episode, the first observation of the next episode."""

    def __repr__(self) -> str:
        return shown(self)


# The protocols -------------------------------------------------------------------------------------------------------


@runtime_checkable
class Belief(Protocol[Datum]):
    """The agent's knowledge. A prior is a belief that has not been updated yet.

    `update` is pure: it returns the posterior and does not change this belief. Exact beliefs never use `rng`. Separate
    protocols in `capabilities/` state what else a planner may ask of a belief.
    """

    def update(self, datum: Datum, rng: Generator | None = None) -> Self:
        """The posterior after a datum."""


@runtime_checkable
class Planner(Protocol[B_contra, M]):
    """A way to choose actions, given a belief.

    `needs` names the capabilities that a belief must offer. If a planner has requirements that capabilities cannot
    express, its `check(belief)` raises an error for a belief that does not meet them. `last` is the last transition
    (None at the start), for planners that also learn or that depend on the ends of episodes.
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
    """A distribution over actions for each observation. The policies in `bayesrl.models.policy` are also agents."""

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
    """A computation made in advance: from a known problem or a prior to a solution with a policy or a planner."""

    def solve(self, problem: Problem, rng: Generator | None = None) -> Result:
        """Solve a problem."""


@runtime_checkable
class Agent(Protocol[M]):
    """Anything that can be run. The mind `M` is all that it remembers; `act` returns the new mind as `memory`."""

    def start(self) -> M:
        """The mind before the first step."""

    def act(self, mind: M, observation: Any, rng: Generator) -> Decision:
        """Choose an action."""

    def learn(self, mind: M, transition: Transition, rng: Generator) -> M:
        """The mind after a transition."""


@runtime_checkable
class World(Protocol):
    """The dynamics of a problem. The state is an argument, so a world is also a generative model.

    A world sets `hidden = True` if the agent does not observe the true state.
    """

    def reset(self, rng: Generator) -> tuple[Any, Any]:
        """The first state of an episode and its observation."""

    def step(self, state: Any, action: Any, rng: Generator) -> WorldStep | TaskStep | tuple[Any, Any, Any, bool]:
        """Draw the next state, the observation and the reward after an action in a state."""


@runtime_checkable
class ChecksWorld(Protocol):
    """An agent that cannot act in every world."""

    def check_world(self, world: object, horizon: int | None) -> None:
        """Raise an error for a world, with episodes of at most `horizon` steps, that it cannot act in."""


# The usual agent -----------------------------------------------------------------------------------------------------


class Mind(NamedTuple, Generic[B]):
    """The mind of a BayesAgent, carried from step to step."""

    belief: B
    memory: Any
    last: Transition | None

    def __repr__(self) -> str:
        return shown(self)


@dataclass(frozen=True, slots=True)
class BayesAgent(Generic[B]):
    """A prior and a planner: plan with the belief, act, update the belief.

    The constructor raises an error if the prior lacks a capability that the planner needs, and names it.
    """

    prior: B
    planner: Planner[B, Any]

    __repr__ = shown

    def __post_init__(self) -> None:
        if not isinstance(self.planner, Planner):
            raise InvalidArgument("BayesAgent", "planner", "a planner (needs, start, plan)", self.planner)
        demand(self.planner, self.prior)

    def start(self) -> Mind[B]:
        """The mind before the first step: the prior and an empty memory."""
        return Mind(self.prior, self.planner.start(), None)

    def act(self, mind: Mind[B], observation: Any, rng: Generator) -> Decision:
        """Plan with the current belief."""
        if type(mind) is not Mind:
            raise InvalidArgument("BayesAgent.act", "mind", "one that start, act or learn gave", mind)
        decision = self.planner.plan(mind.belief, observation, mind.memory, rng, mind.last)
        action, memory, info = decision if type(decision) is Decision else _read(self.planner, "plan", decision)
        return tuple_new(Decision, (action, tuple_new(Mind, (mind.belief, memory, mind.last)), info))

    def learn(self, mind: Mind[B], transition: Transition, rng: Generator) -> Mind[B]:
        """Update the belief. At the end of an episode, a belief over a hidden, moving state restarts."""
        if type(mind) is not Mind:
            raise InvalidArgument("BayesAgent.learn", "mind", "one that start, act or learn gave", mind)
        belief = mind.belief.update(transition, rng)
        if (transition.terminated or transition.truncated) and offers(belief, Restarts):
            belief = belief.restart()
        return tuple_new(Mind, (belief, mind.memory, transition))

    def batch(self, replicates: int) -> BayesAgent[B]:
        """The same agent for `replicates` runs in lockstep. The belief must offer `Batches`."""
        if not offers(self.prior, Batches):
            raise Incompatible("A lockstep run", type(self.prior).__name__, ["batch"])
        return dataclasses.replace(self, prior=self.prior.batch(replicates))


def _read(who: object, duty: str, said: object) -> Decision:
    """Convert a plain tuple to a decision; raise `BrokenContract` for anything else."""
    if not isinstance(said, tuple) or len(said) != 3:
        raise BrokenContract(f"{type(who).__name__}.{duty}", "return a Decision", said)
    return Decision(*said)


# The loop ------------------------------------------------------------------------------------------------------------


@with_old_words
class Streams(NamedTuple):
    """The four random generators of a run. They are separate, so that methods are compared on common random numbers."""

    draw: Generator
    """For drawing a world from a family."""
    world: Generator
    """For the world's `reset` and `step`."""
    planner: Generator
    """For the planner."""
    learning: Generator
    """For the belief's `update`."""

    @staticmethod
    def of(seed: int, replicate: int = 0, lockstep: bool = False) -> Streams:
        """The streams of one replicate, or of one lockstep block of replicates. They depend on these numbers only."""
        seed = integer("Streams", "seed", seed, any_length=True)
        replicate = integer("Streams", "replicate", replicate)
        key = (0, replicate) if lockstep else (replicate,)  # keys of different lengths are never equal
        return Streams._make(map(default_rng, SeedSequence(seed, spawn_key=key).spawn(4)))


def draw_world(world: World | Family, streams: Streams, lockstep: int | None = None) -> World:
    """The world of a run: drawn if `world` is a family, and batched for `lockstep` replicates."""
    if lockstep is not None and offers(world, Batches):  # which `_check_run` has made sure of
        world = world.batch(lockstep)
    return world.draw(streams.draw) if offers(world, Family) else world


def _check_play(agent: object, world: object, streams: object, horizon: object) -> None:
    """Raise an error for arguments that `play` cannot run."""
    if not isinstance(agent, Agent):
        raise InvalidArgument("play", "agent", "an agent (start, act, learn)", agent)
    if not offers(world, World):
        raise InvalidArgument("play", "world", "a world (reset, step)", world)
    if not (isinstance(streams, tuple) and len(streams) == 4 and all(isinstance(x, Generator) for x in streams)):
        raise InvalidArgument("play", "streams", "four generators, such as Streams.of(0)", streams)
    limit = None if horizon is None else integer("play", "horizon", horizon, 1)
    if isinstance(agent, ChecksWorld):
        agent.check_world(world, limit)


def play(
    agent: Agent[M], world: World, streams: Streams, *, horizon: int | None = None, lockstep: int | None = None
) -> Iterator[Step]:
    """Let an agent act in a world, and yield the steps without end.

    This is the only loop in which an agent acts in a world. `bandits.simulate` repeats it in compiled form, bit for
    bit. Two things that are not this have loops of their own: `multiagent.run_game`, where two agents act at the same
    time, and the walks of an expert in `inverse.demonstrate`, which has no agent.

    An episode is truncated after `horizon` steps. After a terminated or truncated episode, another one starts in the
    same world. `lockstep` is the number of replicates, if agent and world are batched.

    >>> from itertools import islice
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("exploit", ties="first"))
    >>> [step.transition.reward for step in islice(play(agent, world, Streams.of(0)), 4)]
    [0.0, 2.0, 2.0, 2.0]
    """
    _check_play(agent, world, streams, horizon)
    _, world_rng, planner_rng, learning_rng = streams
    mind = agent.start()
    state, seen = _first(world, world_rng)
    age, task = 0, 0
    while True:
        decision = agent.act(mind, seen, planner_rng)
        if type(decision) is not Decision:
            decision = _read(agent, "act", decision)
        action, mind, _ = decision
        answer = world.step(state, action, world_rng)
        if not isinstance(answer, (tuple, list)) or not 4 <= len(answer) <= 5:
            raise BrokenContract(f"{name_of(world)}.step", STEP, answer)
        after, new, reward, terminated = answer if len(answer) == 4 else answer[:4]
        if type(reward) is not float or reward - reward:  # which is zero if it is finite
            _check_reward(world, reward, lockstep)
        if terminated is not False and terminated is not True:
            _check_end(world, terminated)
        following = 0 if len(answer) == 4 else _task(world, answer[4])
        age += 1
        truncated = age == horizon and not terminated
        transition = tuple_new(Transition, (seen, action, reward, new, terminated, truncated, task))
        mind = agent.learn(mind, transition, learning_rng)
        task = following
        if terminated or truncated:
            after, new = _first(world, world_rng)
            age = task = 0
        yield tuple_new(Step, (state, transition, decision, mind, new))
        state, seen = after, new


LARGEST = sys.float_info.max
STEP = "return a state, an observation, a reward, whether the episode ended, and perhaps a task"
TASK = "return a whole number of at least 0 as task, its fifth value (GymWorld adapts Gymnasium)"


def _first(world: World, rng: Generator) -> tuple[Any, Any]:
    """The first state and observation of an episode."""
    answer = world.reset(rng)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise BrokenContract(f"{name_of(world)}.reset", "return a state and an observation", answer)
    return answer[0], answer[1]


def _check_reward(world: object, reward: Any, lockstep: int | None) -> None:
    """Refuse a reward unless it is a finite number or, in lockstep, an array of finite numbers."""
    if isinstance(reward, (float, int)):
        finite = -LARGEST <= reward <= LARGEST
    elif not isinstance(reward, np.integer):
        numeric = isinstance(reward, (np.ndarray, np.generic)) and reward.dtype.kind in "biuf"
        finite = numeric and reward.ndim <= (lockstep is not None) and bool(np.isfinite(reward).all())
    else:
        finite = True
    if not finite:
        raise BrokenContract(f"{name_of(world)}.step", "return a finite number as reward", reward)


def _check_end(world: object, terminated: Any) -> None:
    """Refuse what is neither true nor false."""
    scalar = isinstance(terminated, (int, np.ndarray, np.generic)) and np.ndim(terminated) == 0
    if not scalar or terminated not in (0, 1):
        raise BrokenContract(f"{name_of(world)}.step", "return True or False as end", terminated)


def _task(world: object, task: Any) -> Any:
    """The number of a task; refuse anything else."""
    scalar = isinstance(task, (np.ndarray, np.generic)) and task.dtype.kind in "iu" and task.ndim == 0
    if not (type(task) is int or scalar) or not 0 <= task < 2**63:
        raise BrokenContract(f"{name_of(world)}.step", TASK, task)
    return task


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
    watch: Callable[[Iterator[Step]], Iterable[Step]] | None = None,
) -> Record:
    """Let an agent act in a world for a number of steps, and record what happened.

    If `world` is a family, a world is drawn from it first. Replicate i of a comparison is `run(..., replicate=i)`. With
    `lockstep=n`, agent and world are batched (`batch(n)`): n replicates share every step and one set of streams, and
    `replicate` is the number of the block.

    An episode lasts at most `horizon` steps; None: the world\'s own `horizon`, if it has one.

    `keep` names further columns of the record: "state" is the true state, and any other name is an entry of the
    decisions' `info`, for example keep=("state", "q"). `watch` takes the steps and passes them on, as a progress bar
    does.
    """
    _check_run(agent, world, steps, seed, replicate, horizon, lockstep, keep)
    made_of = {"agent": describe(agent), "world": describe(world)}
    discount = world.gamma if offers(world, HasDiscount) else 1.0
    streams = Streams.of(seed, replicate, lockstep is not None)
    if lockstep is not None and isinstance(agent, Batches):  # which `_check_run` has made sure of
        agent = agent.batch(lockstep)
    world = draw_world(world, streams, lockstep)
    if not offers(world, World):
        raise InvalidArgument("run", "world", "a world (reset, step) or a family of worlds (draw)", world)
    gamma = number("run", "world.gamma", discount, 0.0, 1.0)
    if horizon is None and offers(world, Limited):
        horizon = world.horizon

    began = time.perf_counter()
    taken: list[Transition] = []
    states: list[Any] = []
    kept: dict[str, list[Any]] = {name: [] for name in keep if name != "state"}
    happening = islice(play(agent, world, streams, horizon=horizon, lockstep=lockstep), steps)
    for state, transition, decision, _, _ in happening if watch is None else watch(happening):
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
    given = {"steps": steps, "seed": seed, "replicate": replicate, "horizon": horizon, "lockstep": lockstep}
    numbers = {name: None if x is None else int(x) for name, x in given.items()}
    seconds = time.perf_counter() - began
    hidden = offers(world, Hides) and bool(world.hidden)
    return Record(columns, gamma, provenance(made_of, numbers, hidden), seconds)


def names_to_keep(owner: str, keep: Sequence[str]) -> Sequence[str]:
    """Check the names of further columns."""
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
    for name, (given, low) in (counts | {k: v for k, v in optional.items() if v[0] is not None}).items():
        integer("run", name, given, low, any_length=name == "seed")
    names_to_keep("run", keep)
    if not isinstance(agent, Agent):
        hint = "A planner needs a belief: BayesAgent(prior, planner)." if hasattr(agent, "plan") else ""
        raise InvalidArgument("run", "agent", "an agent (start, act, learn)", agent, hint)
    if offers(world, GymnasiumEnvironment):
        hint = "bayesrl.adapters.gymnasium.GymWorld(env) makes a world of it."
        raise InvalidArgument("run", "world", "a world, not a Gymnasium environment", type(world).__name__, hint)
    for name, batched in (("agent", agent), ("world", world)):
        if lockstep is not None and not offers(batched, Batches):
            raise InvalidArgument("run", name, "one that can run in lockstep (batch)", batched)


keep_old_names(__name__)
