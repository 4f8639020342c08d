"""Gymnasium environments as worlds, and worlds as Gymnasium environments.

    world = GymWorld(gymnasium.make("FrozenLake-v1"), gamma=0.99)     # in
    env = to_gymnasium(make_world("chain"))                           # out

Importing this module registers every world and family as `bayesrl/NAME-v0`. Gymnasium 1 does not search for plugins,
but it imports a module that is named before a colon, so both of these work:

    import bayesrl.adapters.gymnasium; gymnasium.make("bayesrl/chain-v0")
    gymnasium.make("bayesrl.adapters.gymnasium:bayesrl/chain-v0", gamma=0.9)

Most of our worlds never end: `gymnasium.make(..., max_episode_steps=1000)` sets a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, Space, Tuple
from numpy.random import Generator

from bayesrl.capabilities import offers
from bayesrl.checks import as_array, called, generator, integer, number
from bayesrl.core import Family, World, WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.problems import ChoosesSeveral, NumbersActions, NumbersObservations, NumbersStates
from bayesrl.registry import Entry, make_world, worlds


@dataclass(eq=False)
class GymWorld:
    """A Gymnasium environment as a world. Discrete observations and actions are counted from 0.

    Parameters
    ----------
    env: a Gymnasium environment, or a function without arguments that makes one
    gamma = 1.0: number in [0, 1]
        Discount.

    The true state is inside the environment, so the world can only be stepped forward: a state is the number of the
    step, and only the latest one is accepted. Each episode is seeded from `rng`. `run` cuts episodes at the
    environment's time limit, `horizon`; `play` does if it is told.

    `run` uses the given environment. `compare` makes a separate environment for each run (`fresh`).

    Examples
    --------
    >>> world = GymWorld(gymnasium.make("FrozenLake-v1", is_slippery=False), gamma=0.95)
    >>> from numpy.random import default_rng
    >>> state, seen = world.reset(default_rng(0))
    >>> world.step(state, 2, default_rng(0)).observation
    1
    """

    env: Any
    gamma: float = 1.0
    _now: int = field(default=0, init=False, repr=False)
    _over: bool = field(default=True, init=False, repr=False)
    _make: Callable[[], Any] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.env, gymnasium.Env) and callable(self.env):
            self._make = self.env
            self.env = called("GymWorld", "env", self._make)
        if not isinstance(self.env, gymnasium.Env):
            raise InvalidArgument("GymWorld", "env", "a Gymnasium environment", type(self.env).__name__)
        self.gamma = number("GymWorld", "gamma", self.gamma, 0.0, 1.0)

    def fresh(self) -> GymWorld:
        """The same world with a separate environment: from the function or the `spec`, otherwise a copy."""
        if self._make is not None:
            return GymWorld(self._make, self.gamma)
        try:
            made = deepcopy(self.env) if self.env.spec is None else gymnasium.make(self.env.spec)
        except Exception as error:  # an environment may raise anything
            expected = "one that can be made again, as runs cannot share it"
            hint = "GymWorld also takes a function that makes an environment."
            raise InvalidArgument("GymWorld", "env", expected, type(self.env).__name__, hint) from error
        return GymWorld(made, self.gamma)

    @property
    def n_states(self) -> int:
        """Number of observations, if they are discrete."""
        return _size("observation_space", self.env.observation_space)

    @property
    def n_actions(self) -> int:
        """Number of actions, if they are discrete."""
        return _size("action_space", self.env.action_space)

    @property
    def horizon(self) -> int | None:
        """The environment's limit on the steps of an episode, or None."""
        return self.env.spec.max_episode_steps if self.env.spec is not None else None

    def reset(self, rng: Generator) -> tuple[int, Any]:
        """A new episode."""
        seen, _ = self.env.reset(seed=int(generator("GymWorld", rng).integers(2**31)))
        self._now, self._over = self._now + 1, False
        return self._now, self._observed(seen)

    def step(self, state: int, action: Any, rng: Generator) -> WorldStep:
        """Take one step. The environment uses its own generator, not `rng`."""
        if state != self._now:
            raise InvalidArgument("GymWorld", "state", "the latest one, as the environment cannot go back", state)
        if self._over:
            hint = f"If the environment has a time limit, run with horizon={self.horizon}."
            raise InvalidArgument("GymWorld", "state", "in an episode that has not ended", state, hint)
        space = self.env.action_space
        if isinstance(space, Discrete):
            action = integer("GymWorld", "action", _counted(action), 0, self.n_actions - 1) + int(space.start)
        elif isinstance(space, Box):
            action = _in_box(space, action)
        elif action not in space:
            raise InvalidArgument("GymWorld", "action", f"in {space}", action)
        seen, reward, terminated, truncated, _ = self.env.step(action)
        self._now, self._over = self._now + 1, bool(terminated or truncated)
        return WorldStep(self._now, self._observed(seen), float(reward), bool(terminated))

    def _observed(self, seen: Any) -> Any:
        space = self.env.observation_space
        return int(seen) - int(space.start) if isinstance(space, Discrete) else seen


def _counted(action: Any) -> Any:
    """The number in a vector of one whole number, which is how planners on vectors list numbered actions."""
    vector = isinstance(action, np.ndarray) and action.shape == (1,) and action.dtype.kind in "iuf"
    return int(action[0]) if vector and action[0] == np.floor(action[0]) else action


def _in_box(space: Box, action: Any) -> Any:
    """A vector of a box in the box's own precision; rounding at its faces is cut off."""
    given = as_array(action)
    if given.dtype.kind in "iuf" and given.size == int(np.prod(space.shape)):
        there = given.reshape(space.shape).astype(np.float64)
        inside = np.clip(there, space.low, space.high)
        if np.allclose(there, inside, rtol=1e-6, atol=1e-9):
            return inside.astype(space.dtype)
    raise InvalidArgument("GymWorld", "action", f"in {space}", action)


Counted = World | Family
"""A world or a family with finitely many actions, `n_actions`."""


@runtime_checkable
class HasSpaces(Protocol):
    """A world that says between which bounds it moves, or how many observations and actions there are."""

    @property
    def observations(self) -> Any:
        """Bounds, or a number."""

    @property
    def actions(self) -> Any:
        """Bounds, or a number."""


@runtime_checkable
class Answers(Protocol):
    """A world whose observations are tuples: what is seen, and what another player or an oracle says."""

    @property
    def answers(self) -> tuple[int, ...]:
        """The number of possible answers of each."""


@runtime_checkable
class NumbersContexts(Protocol):
    """A contextual bandit."""

    @property
    def n_contexts(self) -> int:
        """The number of contexts."""


@runtime_checkable
class DrawsContexts(Protocol):
    """A family of contextual bandits."""

    @property
    def contexts(self) -> int:
        """The number of contexts."""


class WorldEnv(gymnasium.Env[Any, Any]):
    """A world as a Gymnasium environment: observations and actions are numbers, or vectors between bounds.

    The observation of a contextual bandit is the number of the context; that of a plain bandit is always 0. If the
    state is hidden, observations are counted from -1, which means that nothing is seen: the observation at a reset.
    With an oracle they are tuples: what is seen, and what the oracle says.
    A family draws a world at the first reset, at every reset with a seed (so the seed determines everything after it)
    and at a reset with `options={"draw": True}`. Other resets keep the drawn world.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own convention)

    def __init__(self, world: Counted) -> None:
        self.family = world if offers(world, Family) else None
        self.world: World | None = world if offers(world, World) else None
        if offers(world, NumbersObservations):  # the state is hidden
            answers = world.answers if offers(world, Answers) else ()
            spaces = [Discrete(n + 1, start=-1) for n in (world.n_observations, *answers)]
            self.observation_space = Tuple(spaces) if offers(world, Answers) else spaces[0]
            self.action_space = Discrete(_actions(world))
        elif offers(world, HasSpaces):
            self.observation_space, self.action_space = _space(world.observations), _space(world.actions)
        else:
            self.observation_space, self.action_space = Discrete(_observations(world)), Discrete(_actions(world))
        self._state: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first observation of an episode."""
        super().reset(seed=seed)
        if self.family is not None and (self.world is None or seed is not None or (options or {}).get("draw")):
            self.world = self.family.draw(self.np_random)
        assert self.world is not None
        self._state, seen = self.world.reset(self.np_random)
        return seen, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward, terminated, truncated (always False), and an empty info."""
        assert self.world is not None  # after a reset
        self._state, seen, reward, terminated = self.world.step(self._state, action, self.np_random)[:4]
        return seen, reward, terminated, False, {}


def to_gymnasium(world: Counted) -> WorldEnv:
    """A world, or a family of worlds, as a Gymnasium environment."""
    one_of_many = offers(world, NumbersActions) and not offers(world, ChoosesSeveral)
    if not offers(world, HasSpaces) and not one_of_many:
        expected = "one in which one of finitely many actions is chosen at a time"
        raise InvalidArgument("to_gymnasium", "world", expected, type(world).__name__)
    return WorldEnv(world)


def make_env(world: str, **parameters: Any) -> WorldEnv:
    """The environment of a registered world; `gymnasium.make` calls this."""
    return to_gymnasium(make_world(world, **parameters))


def exported() -> list[Entry]:
    """The worlds that are Gymnasium environments: one action at a time, finitely many observations."""
    left_out = {"suggestions", "rows"}
    return [entry for entry in worlds() if not left_out & entry.parameters.keys()]


def register() -> None:
    """Register every world and family with Gymnasium as `bayesrl/NAME-v0`, unless it is registered already.

    Worlds with several actions at a time and worlds with unlisted states are left out.
    """
    for entry in exported():
        if (name := f"bayesrl/{entry.name}-v0") not in gymnasium.registry:
            limit = entry.parameters["horizon"].default if "horizon" in entry.parameters else None
            where = f"{__name__}:make_env"
            gymnasium.register(name, entry_point=where, kwargs={"world": entry.name}, max_episode_steps=limit)


def _observations(world: object) -> int:
    """The number of observations of a world that numbers its states or its contexts; a plain bandit has one."""
    if offers(world, NumbersStates):
        return world.n_states
    if offers(world, NumbersContexts):
        return world.n_contexts
    return world.contexts if offers(world, DrawsContexts) else 1


def _actions(world: object) -> int:
    return world.n_actions if offers(world, NumbersActions) else 1


def _space(of: Any) -> Space[Any]:
    """The space of a number of things, or of vectors between bounds."""
    return Discrete(of) if isinstance(of, int) else Box(of.low, of.high, dtype=np.float64)


def _size(name: str, space: Space[Any]) -> int:
    if not isinstance(space, Discrete):
        raise InvalidArgument("GymWorld", name, "discrete to be counted", space)
    return int(space.n)


register()
