"""RockSample as a generative model: compiled steps instead of a table.

Memory grows with the number of cells, not with the number of states, which is n^2 2^k.

Shapes: C = n^2 cells, after which one stands for the end; k rocks, A = k + 5 actions.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Bools, Floats, frozen, generator, integer
from bayesrl.core import WorldStep
from bayesrl.kernels.arrays import B2, F2, I1, I2
from bayesrl.kernels.jit import njit, plain
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.simulator import implements, mask_illegal, rollout_action, root, step
from bayesrl.models.pomdp import NOTHING
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.worlds.hidden import KNOWN
from bayesrl.worlds.settings import Published, Setting

DX, DY = np.array([0, 1, 0, -1]), np.array([1, 0, -1, 0])
LEFT, FORBIDDEN, GOOD, BAD = 10.0, -100.0, 10.0, -10.0
"""Rewards of leaving by the east edge, of what ends the episode otherwise, and of samples."""
LARGEST_SIZE, MOST_ROCKS = 100, 40
"""A state is a 64-bit integer, and one random number draws all rocks."""
EXACT_BOUND = 16
"""With more rocks the bound of the value is a simple sum."""


class Map(NamedTuple):
    """A map of rocks."""

    start: tuple[int, int]
    rocks: tuple[tuple[int, int], ...]
    half: float
    """The distance d0 at which half the efficiency of a check is lost."""
    value: tuple[float, float] | None = None
    """Bounds of the optimal value of the start at discount .95, if they are known better than `bounds` computes."""


class Rocks(NamedTuple):
    """RockSample for compiled searches."""

    k: int
    start: int  # the first cell
    to: I2  # (C, 4) the cell that a move leads to; C: it leaves the map
    rock: I1  # (C + 1,) the rock of a cell; -1: none
    right: F2  # (C, k) probability that a check is right
    legal: B2  # (C + 1, A) whether an action does not cost 100


@njit
def outcome(model: Rocks, s: int, a: int, u: float) -> tuple[int, int, float, bool]:
    """Take action a in s: (observation, next state, reward, done). A check is right if u is small enough."""
    k, cell, C = model.k, s >> model.k, len(model.to)
    end = C << k
    if s == end:
        return 0, end, 0.0, True
    if a < 4:
        there = model.to[cell, a]
        if there == C:
            return 0, end, LEFT if a == 1 else FORBIDDEN, True
        return 0, s + ((there - cell) << k), 0.0, False
    if a < 4 + k:
        bad = 1 - (s >> (a - 4) & 1)
        return (bad if u < model.right[cell, a - 4] else 1 - bad), s, 0.0, False
    i = model.rock[cell]
    if i < 0:
        return 0, end, FORBIDDEN, True
    good = s >> i & 1
    return 0, s - (good << i), GOOD if good == 1 else BAD, False


@implements(root, Rocks)
@njit
def _root(model: Rocks, s: int, rng: Generator) -> int:
    return (model.start << model.k) + int(uniform(rng) * (1 << model.k))


@implements(step, Rocks)
@njit
def _step(model: Rocks, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    o, y, r, done = outcome(model, s, a, uniform(rng) if 4 <= a < 4 + model.k else 0.0)
    return o, y, r, done, 0


@implements(mask_illegal, Rocks)
@njit
def _bar(model: Rocks, s: int, Q: F2, N: I2, h: int) -> None:
    for a in range(Q.shape[1]):
        if not model.legal[s >> model.k, a]:
            Q[h, a], N[h, a] = -np.inf, 1


@implements(rollout_action, Rocks)
@njit
def _rollout(model: Rocks, P: I2, s: int, a: int, epsilon: float, rng: Generator) -> int:
    checks = model.k if epsilon > 0.0 else 0  # a rollout learns nothing, so one that prefers checks nothing
    while True:
        a = int(uniform(rng) * (5 + checks))
        if a == 4 + checks:
            a = 4 + model.k
        if model.legal[s >> model.k, a]:
            return a


@explain_failures
@value
class GenerativeRockSample(Published):
    """RockSample without a table: the world of maps whose states are too many to list.

    Searches try legal actions only: those that do not cost 100. The belief is a sample of states (`POMDPParticles`).

    Examples
    --------
    The rover starts in (0, 2), beside a rock in (1, 2), which is bad, and another one far away.

    >>> from numpy.random import default_rng
    >>> world = GenerativeRockSample(4, Map((0, 2), ((1, 2), (3, 0)), 20.0), 0.95)
    >>> world.step(2 << 2, 1, default_rng(0))
    WorldStep(state=24, observation=0, reward=0.0, terminated=False)
    >>> world.step(24, 6, default_rng(0)).reward
    -10.0
    """

    size: Annotated[int, AtLeast(1), "Cells on each side of the map, n."]
    chart: Map
    gamma: Annotated[float, DISCOUNT, "Discount."]
    setting: Annotated[Setting, "How the world is usually run."] = field(default=KNOWN, repr=False)

    name: ClassVar[str] = "rock-sample"
    hidden: ClassVar[bool] = True
    ends: ClassVar[bool] = True
    n_observations: ClassVar[int] = 2
    observations: ClassVar[tuple[str, ...]] = ("good", "bad")

    def reset(self, rng: Generator) -> tuple[int, int]:
        """The first state of an episode: one random number draws all rocks. Nothing is seen."""
        return int(plain(_root)(self._rocks, -1, generator(self.name, rng))), NOTHING

    def step(self, state: int, action: int, rng: Generator) -> WorldStep:
        """The next state, the observation, the reward, and whether the episode has ended; two random numbers."""
        s = integer(self.name, "state", state, 0, self.n_states - 1)
        a = integer(self.name, "action", action, 0, self.n_actions - 1)
        generator(self.name, rng).random()  # as many as a step of a table draws
        o, y, r, done = plain(outcome)(self._rocks, s, a, rng.random())
        return WorldStep(int(y), int(o), r, done)

    def observation_probability(self, next_state: Any, action: int, observation: int) -> Any:
        """The probability of an observation after an action, for a next state or an array of them."""
        y, k = np.asarray(next_state), len(self.chart.rocks)
        if not 4 <= action < 4 + k:
            return np.where(observation == 0, 1.0, np.zeros(y.shape))
        ended = y == self.n_states - 1
        right = self._rocks.right[np.where(ended, 0, y >> k), action - 4]
        agrees = 1 - (y >> (action - 4) & 1) == observation
        return np.where(ended, observation == 0, np.where(agrees, right, 1.0 - right))

    def simulator(self) -> Rocks:
        """The compiled steps."""
        return self._rocks

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a legal step."""
        return BAD, GOOD

    @property
    def n_states(self) -> int:
        """S."""
        return (self.size**2 << len(self.chart.rocks)) + 1

    @property
    def n_actions(self) -> int:
        """A."""
        return len(self.chart.rocks) + 5

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions."""
        return names_of(len(self.chart.rocks))

    @property
    def preferred(self) -> Bools:
        """No rows: states are not listed, and the simulator knows what rollouts prefer."""
        return frozen(np.zeros((0, self.n_actions), np.bool_))

    @cached_property
    def value(self) -> tuple[float, float]:
        """Bounds of the optimal value of the start: those of the map if they are known, or `bounds`."""
        known = self.chart.value if self.gamma == 0.95 else None
        return bounds(self.size, self.chart, self.gamma) if known is None else known

    @cached_property
    def _rocks(self) -> Rocks:
        return rocks_of(self.size, self.chart)


# Maps ----------------------------------------------------------------------------------------------------------------


def names_of(k: int) -> tuple[str, ...]:
    """Names of the actions."""
    return ("north", "east", "south", "west", *(f"check-{i}" for i in range(k)), "sample")


def drawn(n: int, k: int, rng: Generator) -> Map:
    """A random map: k different cells, a start in the middle of the west edge, and d0 = 20."""
    cells = rng.choice(n * n, k, replace=False).tolist()
    return Map((0, n // 2), tuple((cell // n, cell % n) for cell in cells), 20.0)


def rocks_of(n: int, chart: Map) -> Rocks:
    """The arrays of a map."""
    k, cells = len(chart.rocks), np.arange(n * n)
    x, y = cells[:, None] // n + DX, cells[:, None] % n + DY
    to = np.where((x >= 0) & (x < n) & (y >= 0) & (y < n), x * n + y, n * n)
    rock = np.full(n * n + 1, -1)
    for i, (rx, ry) in enumerate(chart.rocks):
        rock[rx * n + ry] = i
    legal = np.ones((n * n + 1, k + 5), np.bool_)
    legal[:-1, [0, 2, 3]], legal[:-1, k + 4] = to[:, [0, 2, 3]] < n * n, rock[:-1] >= 0
    right = (1.0 + 2.0 ** (-distances(n, chart) / chart.half)) / 2.0
    return Rocks(k, chart.start[0] * n + chart.start[1], to, rock, right, legal)


def distances(n: int, chart: Map) -> Floats:
    """From each cell to each rock, (C, k)."""
    cells, rocks = np.arange(n * n)[:, None], np.array(chart.rocks)
    far: Floats = np.hypot(cells // n - rocks[:, 0], cells % n - rocks[:, 1])
    return far


def bounds(n: int, chart: Map, gamma: float) -> tuple[float, float]:
    """Bounds of the optimal value of the start: go east at once; and know which rocks are good.

    With the rocks seen the optimum visits good ones in the best order and leaves. f[i, G] is its value at rock i if the
    good ones that are left are G. For more than EXACT_BOUND rocks each is worth what it is worth if visited first.
    """
    k, rocks = len(chart.rocks), np.array([*chart.rocks, chart.start])
    leave = LEFT * gamma ** (n - 1.0 - rocks[:, 0])
    far = np.abs(rocks[:, None] - rocks).sum(axis=2)  # steps
    if k > EXACT_BOUND:
        return float(leave[k]), float(leave[k] + GOOD / 2.0 * (gamma ** far[k, :k]).sum())
    f = np.repeat(leave[:, None], 1 << k, axis=1)
    for G in range(1 << k):
        left = [i for i in range(k) if G >> i & 1]
        if left:
            then = GOOD + gamma * f[left, [G - (1 << i) for i in left]]
            f[:, G] = np.maximum(f[:, G], (gamma ** far[:, left] * then).max(axis=1))
    return float(leave[k]), float(f[k].mean())
