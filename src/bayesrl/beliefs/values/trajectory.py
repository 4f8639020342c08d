"""Transitions as rows of temporal differences: where a trajectory begins, goes on and ends.

A transition says r = V(s) - gamma V(s') + noise. Beliefs about values learn from trajectories, so the next transition
must start where the last one ended. After `restart()`, or after an end, a new trajectory begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import Covariance, points
from bayesrl.checks import Floats, array, called, number
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument

Noise = float | Callable[[Floats], ArrayLike]
"""A standard deviation, or a function from states (n, d) to standard deviations (n,)."""
Episodes = Iterable[Transition] | tuple[ArrayLike, ArrayLike]
"""Transitions, or the n + 1 states and n rewards of one trajectory that goes on."""


class Steps(NamedTuple):
    """Checked transitions of one stretch of a trajectory."""

    states: Floats
    """States in the order of visits, shape (m + 1, d), or (m, d) if the last step terminated."""
    rewards: Floats
    """Shape (m,)."""
    fresh: bool
    """Whether the first state starts a trajectory; otherwise it is the state in which the last step ended."""
    terminated: bool
    truncated: bool


def check_noise(owner: str, noise: Any) -> None:
    """A standard deviation or a function of states."""
    if not callable(noise):
        number(owner, "noise", noise, 0.0, moderate=True)


def check_fields(owner: str, covariance: object, noise: object) -> None:
    """The first is a covariance, the noise a standard deviation or a function."""
    if not isinstance(covariance, Covariance):
        raise InvalidArgument(owner, "covariance", "a covariance, such as covariances.Gaussian(scale=1.0)", covariance)
    check_noise(owner, noise)


def check_tail(owner: str, tail: Any, dims: int | None) -> None:
    """The state where a trajectory goes on: a row of finite numbers, or None."""
    if tail is not None:
        array(owner, "tail", tail, (1, dims))


def deviations(owner: str, noise: Noise, states: Floats) -> Floats:
    """The standard deviation of the residual at each state, shape (n,)."""
    if not callable(noise):
        return np.full(len(states), float(noise))
    sd = array(owner, "noise", called(owner, "noise", noise, states), low=0.0, moderate=True)
    if sd.size not in (1, len(states)):
        raise InvalidArgument(owner, "noise", f"a function that returns {len(states)} standard deviations", sd)
    return np.broadcast_to(sd.ravel(), len(states))


def state_row(owner: str, name: str, state: Any, dims: int | None) -> Floats:
    """One state as a row, shape (1, d); a number is a state of one coordinate."""
    x = array(owner, name, state, moderate=True)
    if x.ndim > 1 or (dims is not None and x.size != dims):
        expected = "a number or a vector" if dims is None else f"a state of {dims} coordinate{'s' * (dims != 1)}"
        raise InvalidArgument(owner, name, expected, state)
    return x.reshape(1, -1)


def alone(owner: str, datum: Any) -> list[Transition]:
    """One transition as a log."""
    if not isinstance(datum, Transition):
        raise InvalidArgument(owner, "datum", "a Transition", datum)
    return [datum]


def stretches(owner: str, episodes: Episodes, tail: Floats | None, dims: int | None) -> list[Steps]:
    """Transitions, or states and rewards, as stretches of trajectories. `tail` is the state where the last one is open.

    A transition that does not start where the one before ended is refused.
    """
    if isinstance(episodes, tuple) and not isinstance(episodes, Transition) and len(episodes) == 2:
        return [_columns(owner, episodes, tail, dims)]
    if isinstance(episodes, Transition):
        raise InvalidArgument(owner, "log", "several transitions, or states and rewards", episodes)
    made: list[Steps] = []
    states: list[Floats] = []
    rewards: list[float] = []
    fresh = tail is None

    def close(terminated: bool, truncated: bool) -> None:
        made.append(Steps(np.concatenate(states), np.array(rewards), fresh, terminated, truncated))
        states.clear()
        rewards.clear()

    try:
        steps = list(episodes)
    except TypeError:
        raise InvalidArgument(owner, "log", "transitions, or a pair of states and rewards", episodes) from None
    for step in steps:
        if not isinstance(step, Transition):
            raise InvalidArgument(owner, "log", "transitions, or a pair of states and rewards", step)
        start = state_row(owner, "observation", step.observation, dims)
        dims = start.shape[1]
        if tail is not None and not np.array_equal(tail, start):
            hint = "Call restart() where a new trajectory begins."
            raise InvalidArgument(owner, "observation", "where the last transition ended", step.observation, hint)
        if not states:
            fresh = tail is None
            states.append(start)
        rewards.append(number(owner, "reward", step.reward, moderate=True))
        if step.terminated:
            tail = None
            close(True, False)
            continue
        tail = state_row(owner, "next_observation", step.next_observation, dims)
        states.append(tail)
        if step.truncated:
            tail = None
            close(False, True)
    if rewards:
        close(False, False)
    return made


def _columns(owner: str, columns: tuple[ArrayLike, ArrayLike], tail: Floats | None, dims: int | None) -> Steps:
    """One trajectory that goes on, given by its states and rewards."""
    states = points(owner, "states", columns[0], dims)
    rewards = array(owner, "rewards", columns[1], (None,), moderate=True)
    if len(states) != len(rewards) + 1:
        expected = f"one more than the {len(rewards)} rewards"
        raise InvalidArgument(owner, "states", expected, f"{len(states)} states")
    if tail is not None and not np.array_equal(tail, states[:1]):
        hint = "Call restart() where a new trajectory begins."
        raise InvalidArgument(owner, "states", "a trajectory that starts where the last one ended", states[0], hint)
    return Steps(states, rewards, tail is None, False, False)
