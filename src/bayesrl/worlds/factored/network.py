"""A network of computers of any size, with everything seen (as in survey §4.10: Ross and Pineau 2008).

Each of n computers works or fails. The rule is that of `sysadmin` (Katt, Oliehoek and Amato 2017): a working computer
goes on with probability .975 times .925 for each neighbour that has failed; a failed one stays failed. Action c reboots
computer c, which then works with probability .95, whatever happened; action n does nothing. Each computer that works
before the step pays 1, and a reboot costs 1. Nothing ends, and all computers work at first.

A state is a number: computer 0 is its first binary digit, computer n - 1 the last, so that it is the number of the
tuple (works_0, ..., works_{n-1}) as `FactoredDBN` counts. With 54 computers there are 2^54, more than 10^16, states.
Nothing here has that size: a step looks at n computers and their neighbours. Up to LISTED computers there is a table
too (`mdp`).

The topologies are those of the paper, a line and a tree in which each computer has three below it, and a ring, a star
around computer 0, and none. Any other is a list of pairs of neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Bools, Floats, as_array, choice, frozen, generator, integer, number, sequence
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import uniform
from bayesrl.kernels.simulators.simulator import begin, forget, implements, rollout_action, step
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.settings import Published, Setting

NAME = "network"
GOES_ON, WITH_FAILED, REBOOTED, COST = 0.975, 0.925, 0.95, 1.0
LISTED = 8
"""The most computers for which there is a table."""
SIMULATED = 62
"""The most computers whose states are 64-bit integers, which compiled searches need."""
MOST = 100_000
STEPS = 1000
FORMS = ("line", "ring", "star", "tree", "none")
BELOW = 3
"""Computers below each one in the tree."""
OPTIMUM = 3761.9882218203497
"""Of the default arguments."""
Pairs = Sequence[tuple[int, int]]


class Network(NamedTuple):
    """A network for compiled searches: the neighbours of computer c are `near[first[c] : first[c + 1]]`."""

    first: I1
    near: I1
    chances: F1
    """GOES_ON, WITH_FAILED, REBOOTED, COST."""


@njit
def works(n: int, s: int, c: int) -> int:
    """Whether computer c works in state s."""
    return (s >> (n - 1 - c)) & 1


@implements(begin, Network)
@njit
def _begin(model: Network, rng: Generator) -> None:
    pass


@implements(step, Network)
@njit
def _step(model: Network, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    n, y, r = len(model.first) - 1, 0, 0.0
    for c in range(n):
        up = works(n, s, c)
        p = 0.0
        if up == 1:
            p = model.chances[0]
            for i in range(model.first[c], model.first[c + 1]):
                if works(n, s, model.near[i]) == 0:
                    p *= model.chances[1]
        if c == a:
            p = model.chances[2]
        r += up
        y = 2 * y + (1 if uniform(rng) < p else 0)
    return y, y, r - (model.chances[3] if a < n else 0.0), False, 0


@implements(forget, Network)
@njit
def _forget(model: Network, marks: I1, n: int) -> None:
    pass


@implements(rollout_action, Network)
@njit
def _rollout_action(model: Network, P: I1, s: int, a: int, epsilon: float, rng: Generator) -> int:
    return int(uniform(rng) * len(model.first))


@explain_failures
@value
class NetworkWorld(Published):
    """Computers that fail, sooner beside failed ones, and are rebooted one at a time; everything is seen.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> world = NetworkWorld(54, tuple((c, c + 1) for c in range(53)))
    >>> state, _ = world.reset(default_rng(0))
    >>> step = world.step(state, 54, default_rng(0))
    >>> step.reward, (1 - world.works(step.state)).nonzero()[0].tolist()
    (54.0, [26, 27])
    """

    computers: Annotated[int, AtLeast(1), "Number of computers, n."]
    pairs: Annotated[tuple[tuple[int, int], ...], "Neighbours."] = field(default=(), repr=False)
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    setting: Annotated[Setting, "How the world is usually run."] = field(
        default=Setting("structured:1", steps=STEPS), repr=False
    )

    name: ClassVar[str] = NAME
    ends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        n = integer(NAME, "computers", self.computers, 1, MOST)
        object.__setattr__(self, "pairs", checked(n, self.pairs))
        object.__setattr__(self, "gamma", float(self.gamma))

    # A world ---------------------------------------------------------------------------------------------------------

    def reset(self, rng: Generator) -> tuple[int, int]:
        """All computers work."""
        generator(NAME, rng)
        return self.start, self.start

    def step(self, state: int, action: int, rng: Generator) -> WorldStep:
        """The next state, which is seen, and the reward. A step draws one random number for each computer."""
        p, reward = self.rates(state, action), self.reward(state, action)
        after = self.number(generator(NAME, rng).random(self.computers) < p)
        return WorldStep(after, after, reward)

    def rates(self, state: int, action: int) -> Floats:
        """The probability that each computer works after a step, (n,); given these, they are independent."""
        n, up = self.computers, self.works(state)
        a = integer(NAME, "action", action, 0, n)
        failed = np.zeros(n)
        i, j = self._ends
        np.add.at(failed, i, ~up[j])
        np.add.at(failed, j, ~up[i])
        p = np.where(up, GOES_ON * WITH_FAILED**failed, 0.0)
        if a < n:
            p[a] = REBOOTED
        return p

    def reward(self, state: int, action: int) -> float:
        """The number of computers that work, less the cost of a reboot."""
        a = integer(NAME, "action", action, 0, self.computers)
        return float(self.works(state).sum() - (COST if a < self.computers else 0.0))

    # Factors ---------------------------------------------------------------------------------------------------------

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each variable: two, fails (0) and works (1)."""
        return (2,) * self.computers

    def parents(self, computer: int) -> tuple[int, ...]:
        """The computers on which this one depends, itself included, unless it is rebooted."""
        c = integer(NAME, "computer", computer, 0, self.computers - 1)
        return tuple(sorted({c, *(j for i, j in self.pairs if i == c), *(i for i, j in self.pairs if j == c)}))

    def works(self, state: int) -> Bools:
        """Which computers work in a state, (n,)."""
        n = self.computers
        s = integer(NAME, "state", state, 0, self.n_states - 1, any_length=True)
        width = -(-n // 8)
        bits = np.unpackbits(np.frombuffer(s.to_bytes(width, "big"), np.uint8))
        return np.asarray(bits[8 * width - n :] == 1)

    def number(self, works: Bools) -> int:
        """The state in which these computers work, (n,)."""
        given = as_array(works)
        if given.shape != (self.computers,) or given.dtype != np.bool_:
            raise InvalidArgument(NAME, "works", f"truth values of shape ({self.computers},)", works)
        lead = -len(given) % 8
        return int.from_bytes(np.packbits(np.append(np.zeros(lead, np.bool_), given)).tobytes(), "big")

    def simulator(self) -> Network:
        """The compiled steps, for states that are 64-bit integers."""
        if self.computers > SIMULATED:
            raise InvalidArgument(NAME, "computers", f"at most {SIMULATED} for compiled searches", self.computers)
        return self._network

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step."""
        return -COST, float(self.computers)

    # Numbers ---------------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """2^n."""
        return 1 << self.computers

    @property
    def n_actions(self) -> int:
        """n + 1."""
        return self.computers + 1

    @property
    def start(self) -> int:
        """The state in which all computers work."""
        return self.n_states - 1

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions."""
        return (*(f"reboot-{c}" for c in range(self.computers)), "nothing")

    @property
    def unsupported(self) -> Mapping[str, str]:
        """Why a large network has no table."""
        if self.computers <= LISTED:
            return {}
        why = f"A network of more than {LISTED} computers has no table; rates(state, action) tells its dynamics."
        return dict.fromkeys(("mdp", "dense"), why)

    @cached_property
    def mdp(self) -> TabularMDP:
        """The table, if there are few computers."""
        if self.unsupported:
            raise InvalidArgument(NAME, "computers", f"at most {LISTED} for a table", self.computers)
        S, A = self.n_states, self.n_actions
        up = np.array([self.works(s) for s in range(S)])
        P = np.empty((S, A, S))
        for s, a in np.ndindex(S, A):
            P[s, a] = np.where(up, self.rates(s, a), 1.0 - self.rates(s, a)).prod(axis=1)
        R = np.array([[self.reward(s, a) for a in range(A)] for s in range(S)])
        return TabularMDP.from_dense(P, R, self.gamma, start=self.start)

    def dense(self) -> tuple[Floats, Floats]:
        """(P[s, a, s'], R[s, a, s']) of a small network."""
        return self.mdp.dense()

    def optimum(self, steps: int | None = None) -> float:
        """Expected undiscounted total of the best policy over a number of steps, in a network with a table."""
        if self.setting.optimum is not None and steps in (None, self.setting.steps):
            return self.setting.optimum
        from bayesrl.models.solve import optimal_total

        return optimal_total(self.mdp, self.setting.steps if steps is None else steps)

    @cached_property
    def _ends(self) -> tuple[Any, Any]:
        i, j = np.array(self.pairs, np.int64).reshape(-1, 2).T
        return i, j

    @cached_property
    def _network(self) -> Network:
        i, j = self._ends
        one, other = np.append(i, j), np.append(j, i)
        order = np.argsort(one, kind="stable")
        first = np.append(0, np.cumsum(np.bincount(one, minlength=self.computers)))
        chances = np.array([GOES_ON, WITH_FAILED, REBOOTED, COST])
        return Network(frozen(first.astype(np.int64)), frozen(other[order]), frozen(chances))


@register(
    NAME,
    kind="world",
    survey="4.10",
    paper="ross08uai",
    evidence=(
        "tests/worlds/factored/test_network.py::test_the_table_is_that_of_sysadmin",
        "tests/worlds/factored/test_network.py::test_compiled_steps_are_those_of_the_world",
        "tests/worlds/factored/test_network.py::test_declared_optimum",
    ),
)
def network(
    computers: Annotated[int, AtLeast(1), "Number of computers, n."] = 4,
    topology: Annotated[
        Literal["line", "ring", "star", "tree", "none"] | Pairs, "Who is whose neighbour: a name, or pairs."
    ] = "line",
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> NetworkWorld:
    """A network of computers that fail, sooner beside failed ones: reboot one in each step, or none.

    Runs last 1000 steps; the optimum of four computers in a line is 3761.988.

    Examples
    --------
    >>> world = network(computers=54, topology="tree")
    >>> world.n_states, world.n_actions, world.parents(1)
    (18014398509481984, 55, (0, 1, 4, 5, 6))
    """
    n = integer(NAME, "computers", computers, 1, MOST)
    discount = number(NAME, "gamma", gamma, 0.0, 1.0)
    form = choice(NAME, "topology", topology, FORMS) if isinstance(topology, str) else None
    pairs = checked(n, topology) if form is None else pairs_of(n, form)
    setting = Setting("structured:1", steps=STEPS, optimum=OPTIMUM if (n, form) == (4, "line") else None)
    return NetworkWorld(n, pairs, discount, setting)


def pairs_of(n: int, form: str) -> tuple[tuple[int, int], ...]:
    """The neighbours in a network of a named form."""
    if form == "line":
        return tuple((c, c + 1) for c in range(n - 1))
    if form == "ring":
        return tuple((c, (c + 1) % n) for c in range(n if n > 2 else n - 1))
    if form == "star":
        return tuple((0, c) for c in range(1, n))
    return tuple(((c - 1) // BELOW, c) for c in range(1, n)) if form == "tree" else ()


def checked(n: int, pairs: Any) -> tuple[tuple[int, int], ...]:
    """Pairs of neighbours, each once, or `InvalidArgument`."""
    expected = "a name of " + ", ".join(FORMS) + ", or pairs of two different computers, each pair once"
    found = []
    for pair in sequence(NAME, "topology", pairs, expected):
        two = sequence(NAME, "topology", pair, expected)
        if len(two) != 2:
            raise InvalidArgument(NAME, "topology", expected, pairs)
        found.append(tuple(integer(NAME, "topology", c, 0, n - 1) for c in two))
    if any(i == j for i, j in found) or len({frozenset(two) for two in found}) < len(found):
        raise InvalidArgument(NAME, "topology", expected, pairs)
    return tuple((i, j) for i, j in found)
