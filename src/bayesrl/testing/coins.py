"""A compiled world without a table, for tests of searches: a hidden coin, and an action that guesses its side.

It stands here and not beside the tests, because Numba lists its type in the cache of the searches. Where the type
cannot be imported, they are compiled again (`kernels/jit.py`).
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from numpy.random import Generator

from bayesrl.kernels.jit import njit, plain
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.simulator import implements, rollout_action, root, step
from bayesrl.kernels.simulators.urn import greedy_rollout


class Coins(NamedTuple):
    """One of 10^9 coins; its last bit pays the action that guesses it, and is seen with probability .8."""

    sides: int


@implements(root, Coins)
@njit
def _root(model: Coins, s: int, rng: Generator) -> int:
    return int(uniform(rng) * 1e9)


@implements(step, Coins)
@njit
def _step(model: Coins, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    right = uniform(rng) < 0.8
    return (s % 2 if right else 1 - s % 2), s, 1.0 if s % 2 == a else 0.0, False, 0


implements(rollout_action, Coins)(greedy_rollout)


class CoinWorld:
    """The world of a hidden coin. It does not say how probable an observation is."""

    hidden: ClassVar[bool] = True
    gamma: ClassVar[float] = 0.9
    n_actions: ClassVar[int] = 2

    def reset(self, rng: Generator) -> tuple[int, int]:
        """A coin; nothing is seen."""
        return int(rng.random() * 1e9), -1

    def step(self, state: int, action: int, rng: Generator) -> tuple[int, int, float, bool]:
        """The same coin, the side that is seen, and 1 for a right guess."""
        o, y, r, done, _ = plain(_step)(Coins(2), state, action, rng)
        return y, o, r, done

    def reward_range(self) -> tuple[float, float]:
        """Nothing, or 1."""
        return 0.0, 1.0

    def simulator(self) -> Coins:
        """The compiled steps."""
        return Coins(2)
