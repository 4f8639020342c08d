"""The words of the library and the one loop that runs them. Read this file first.

Bayesian reinforcement learning has two axes: what I know (a *belief*) and what I do with it (a *planner*).
Together they are an *agent*; an agent meets a *world* in `run`, and what happened is a *record*:

    prior (a Belief) ─┐
    planner ──────────┴─► BayesAgent ─► run(agent, world, steps, seed) ─► Record

Everything is explicit. Beliefs, memories and world states are values that are passed in and handed back, never
changed; randomness is an argument called `rng`, last. So every part can be used alone, and the user's own loop is
as good as ours:

    mind = agent.start()
    decision = agent.act(mind, observation, rng)               # choose
    ...                                                        # let the world answer
    mind = agent.learn(decision.memory, transition, rng)       # and learn from the answer

Of the library this module imports nothing but its errors.
"""

from __future__ import annotations

import dataclasses
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from bayesrl.errors import Incompatible, InvalidArgument

Datum = TypeVar("Datum", contravariant=True)
B = TypeVar("B", contravariant=True)
M = TypeVar("M")
Info = Mapping[str, Any]


# What is passed around -----------------------------------------------------------------------------------------------


class Transition(NamedTuple):
    """One step as the agent saw it; in a partially observed world a state here is an observation."""

    state: Any
    action: Any
    reward: float
    next_state: Any
    terminated: bool = False
    truncated: bool = False
    task: int = 0

    @property
    def ends_episode(self) -> bool:
        """Whether the next step starts a new episode."""
        return bool(self.terminated or self.truncated)


class Decision(NamedTuple):
    """What to do now, what to remember, and why: `info` carries root values, visit counts, bounds."""

    action: Any
    memory: Any
    info: Info


# The protocols -------------------------------------------------------------------------------------------------------


@runtime_checkable
class Belief(Protocol[Datum]):
    """What is known. A prior is a belief that nobody has updated yet.

    `update` is pure: it returns the posterior and leaves this belief as it was. Exact beliefs never touch `rng`.
    What else planners may ask of a belief (`sample_mdp`, `mean_mdp`, `row_variance`, `restart`, `batch`, ...) are
    separate capabilities, recognised by name.
    """

    def update(self, datum: Datum, rng: Generator | None = None) -> Self: ...  # noqa: D102


class Planner(Protocol[B, M]):
    """What to do with a belief.

    `needs` names the capabilities a belief must have; a planner that asks for more than names can say also has
    `check(belief)`, which raises where the two do not fit. `last` is the transition just seen (None at the very start),
    for planners that also learn or that act on the ends of episodes.
    """

    needs: ClassVar[tuple[str, ...]]

    def start(self) -> M: ...  # noqa: D102

    def plan(  # noqa: D102
        self, belief: B, observation: Any, memory: M, rng: Generator, last: Transition | None = None
    ) -> Decision: ...


class Policy(Protocol):
    """A way of acting that needs no further thought."""

    def sample(self, observation: Any, rng: Generator) -> Any: ...  # noqa: D102

    def log_prob(self, observation: Any, action: Any) -> float: ...  # noqa: D102


class Solver(Protocol):
    """Work done ahead: from a known problem or a prior to a policy, a planner or a solution."""

    def solve(self, problem: Any, rng: Generator | None = None) -> Any: ...  # noqa: D102


class Agent(Protocol[M]):
    """Anything that can be run. The mind `M` is all it remembers; `act` returns the new mind as `memory`."""

    def start(self) -> M: ...  # noqa: D102

    def act(self, mind: M, observation: Any, rng: Generator) -> Decision: ...  # noqa: D102

    def learn(self, mind: M, transition: Transition, rng: Generator) -> M: ...  # noqa: D102


@runtime_checkable
class World(Protocol):
    """What may be out there. The state is explicit, so that a world doubles as a generative model."""

    def reset(self, rng: Generator) -> tuple[Any, Any]:
        """The first state of an episode and what is observed of it."""

    def step(self, state: Any, action: Any, rng: Generator) -> tuple[Any, Any, float, bool]:
        """The next state, what is observed of it, the reward, and whether the episode has terminated."""


@runtime_checkable
class Family(Protocol):
    """A distribution over worlds; `run` draws one for each run."""

    def draw(self, rng: Generator) -> World: ...  # noqa: D102


# The agent that is nearly all agents ---------------------------------------------------------------------------------


class Mind(NamedTuple):
    """What a BayesAgent carries from step to step."""

    belief: Any
    memory: Any
    last: Transition | None


@dataclass(frozen=True, slots=True)
class BayesAgent:
    """A prior and a planner: plan on the belief, act, update the belief.

    A pair that does not fit is refused here, with the name of what is missing.
    """

    prior: Any
    planner: Any

    def __post_init__(self) -> None:
        if not all(hasattr(self.planner, need) for need in ("needs", "start", "plan")):
            raise InvalidArgument("BayesAgent", "planner", "a planner (needs, start, plan)", self.planner)
        missing = [need for need in self.planner.needs if not hasattr(self.prior, need)]
        if missing:
            raise Incompatible(type(self.planner).__name__, type(self.prior).__name__, missing)
        if hasattr(self.planner, "check"):
            self.planner.check(self.prior)

    def start(self) -> Mind:
        """The mind before the first step: the prior and an empty memory."""
        return Mind(self.prior, self.planner.start(), None)

    def act(self, mind: Mind, observation: Any, rng: Generator) -> Decision:
        """Plan on the present belief."""
        action, memory, info = self.planner.plan(mind.belief, observation, mind.memory, rng, mind.last)
        return Decision(action, Mind(mind.belief, memory, mind.last), info)

    def learn(self, mind: Mind, transition: Transition, rng: Generator) -> Mind:
        """Update the belief; one over a hidden, moving state forgets that state where an episode ends."""
        belief = mind.belief.update(transition, rng)
        if transition.ends_episode and hasattr(belief, "restart"):
            belief = belief.restart()
        return Mind(belief, mind.memory, transition)

    def batch(self, replicates: int) -> BayesAgent:
        """The same agent, `replicates` times in lockstep (needs a belief that broadcasts)."""
        if not hasattr(self.prior, "batch"):
            raise Incompatible("A lockstep run", type(self.prior).__name__, ["batch"])
        return dataclasses.replace(self, prior=self.prior.batch(replicates))


# The record ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Record:
    """What happened in one run, a column per quantity, and where it came from.

    A run of a lockstep batch has one more axis, the replicates: `reward[t, i]`. `seconds` is the wall time of the run;
    it is not part of the record's identity and not saved, so that a file holds what the seed determines.
    """

    columns: Mapping[str, NDArray[Any]]
    gamma: float
    provenance: Mapping[str, Any]
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        for column in self.columns.values():
            column.setflags(write=False)

    def __getattr__(self, name: str) -> NDArray[Any]:
        columns = object.__getattribute__(self, "columns") if name != "columns" else {}
        if name in columns:
            return columns[name]  # type: ignore[no-any-return]
        raise AttributeError(f"Record has no column {name!r}; it has {', '.join(columns)}.")

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __len__(self) -> int:
        return len(self.columns["reward"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        mine, theirs = self.columns, other.columns
        return (
            self.gamma == other.gamma
            and self.provenance == other.provenance
            and mine.keys() == theirs.keys()
            and all(a.dtype == theirs[k].dtype and np.array_equal(a, theirs[k]) for k, a in mine.items())
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def total(self) -> Any:
        """The undiscounted return."""
        return self.columns["reward"].sum(axis=0)

    @property
    def discounted(self) -> Any:
        """The return at the world's discount, counted from the start of the run."""
        weight = self.gamma ** np.arange(len(self))
        return weight @ self.columns["reward"]

    def to_frame(self) -> Any:
        """The columns as a pandas DataFrame, one row per step (needs the extra `lab`)."""
        import pandas as pd

        flat = {name: column if column.ndim == 1 else list(column) for name, column in self.columns.items()}
        return pd.DataFrame(flat).rename_axis(index="step")


# The loop ------------------------------------------------------------------------------------------------------------


class Streams(NamedTuple):
    """The four generators of a run. Methods that are compared share the world's luck, not their thoughts."""

    draw: Generator
    world: Generator
    thought: Generator
    learning: Generator

    @staticmethod
    def of(seed: int, replicate: int = 0, lockstep: bool = False) -> Streams:
        """The streams of one replicate, or of one lockstep block of them: a function of these numbers alone."""
        key = (0, replicate) if lockstep else (replicate,)  # keys of different length never meet
        return Streams(*map(default_rng, SeedSequence(seed, spawn_key=key).spawn(4)))


def meet(world: Any, streams: Streams, lockstep: int | None = None) -> Any:
    """The world that a run meets: drawn where there is a family of them, `lockstep` of them side by side."""
    world = world if lockstep is None else world.batch(lockstep)
    return world.draw(streams.draw) if isinstance(world, Family) else world


def run(
    agent: Any,
    world: Any,
    steps: int,
    seed: int = 0,
    *,
    replicate: int = 0,
    horizon: int | None = None,
    lockstep: int | None = None,
) -> Record:
    """Let an agent live in a world for a number of steps.

    A family of worlds is drawn from first. An episode that terminates, or that has lasted `horizon` steps (then it is
    truncated), is followed by another one in the same world. Replicate i of a comparison is `run(..., replicate=i)`.
    With `lockstep=n` agent and world are batched (`batch(n)`) and n replicates share every step and one set of streams;
    `replicate` then numbers the block.
    """
    counts = {"steps": (steps, 1), "seed": (seed, 0), "replicate": (replicate, 0)}
    optional = {"horizon": (horizon, 1), "lockstep": (lockstep, 1)}
    for name, (number, low) in (counts | {k: v for k, v in optional.items() if v[0] is not None}).items():
        if isinstance(number, bool) or not (isinstance(number, (int, np.integer)) and number >= low):
            raise InvalidArgument("run", name, f"a whole number of at least {low}", number)
    if not all(hasattr(agent, need) for need in ("start", "act", "learn")):
        hint = "A planner needs a belief: BayesAgent(prior, planner)." if hasattr(agent, "plan") else ""
        raise InvalidArgument("run", "agent", "an agent (start, act, learn)", agent, hint)
    for name, batched in (("agent", agent), ("world", world)):
        if lockstep is not None and not hasattr(batched, "batch"):
            raise InvalidArgument("run", name, "one that can run in lockstep (batch)", batched)
    told = {"agent": describe(agent), "world": describe(world)}
    gamma = float(getattr(world, "gamma", 1.0))
    streams = Streams.of(seed, replicate, lockstep is not None)
    agent, world = agent if lockstep is None else agent.batch(lockstep), meet(world, streams, lockstep)
    if not isinstance(world, World):
        raise InvalidArgument("run", "world", "a world (reset, step) or a family of worlds (draw)", world)

    began = time.perf_counter()
    states: list[Any] = []
    actions: list[Any] = []
    rewards: list[Any] = []
    successors: list[Any] = []
    terminations: list[bool] = []
    truncations: list[bool] = []
    mind = agent.start()
    state, seen = world.reset(streams.world)
    age = 0
    for _ in range(steps):
        action, mind, _info = agent.act(mind, seen, streams.thought)
        state, new, reward, terminated = world.step(state, action, streams.world)
        age += 1
        truncated = age == horizon and not terminated
        mind = agent.learn(mind, Transition(seen, action, reward, new, terminated, truncated), streams.learning)
        states.append(seen)
        actions.append(action)
        rewards.append(reward)
        successors.append(new)
        terminations.append(terminated)
        truncations.append(truncated)
        if terminated or truncated:
            state, new = world.reset(streams.world)
            age = 0
        seen = new
    columns = {
        "state": np.asarray(states),
        "action": np.asarray(actions),
        "reward": np.asarray(rewards, dtype=np.float64),
        "next_state": np.asarray(successors),
        "terminated": np.asarray(terminations, dtype=np.bool_),
        "truncated": np.asarray(truncations, dtype=np.bool_),
    }
    provenance = {
        **told,
        "steps": int(steps),
        "seed": int(seed),
        "replicate": int(replicate),
        "horizon": None if horizon is None else int(horizon),
        "lockstep": None if lockstep is None else int(lockstep),
        **VERSIONS,
    }
    return Record(columns, gamma, provenance, time.perf_counter() - began)


VERSIONS = {"python": platform.python_version()} | {name: version(name) for name in ("bayesrl", "numpy", "numba")}


def describe(thing: Any) -> Any:
    """What a value was made of, as JSON: dataclasses by their fields, arrays by shape and content hash."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, np.ndarray):
        from hashlib import sha256

        digest = sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()[:16]
        return {"array": list(thing.shape), "dtype": str(thing.dtype), "sha256": digest}
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, Mapping):
        return {str(k): describe(v) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [describe(v) for v in thing]
    if dataclasses.is_dataclass(thing):
        named = {f.name: describe(getattr(thing, f.name)) for f in dataclasses.fields(thing) if f.init}
        return {"type": type(thing).__name__, **named}
    return {"type": type(thing).__name__}
