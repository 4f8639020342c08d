"""A finite, fully observed world: a known MDP that can be acted in.

The state is observed. Each step draws exactly one random number, so methods that are compared on the same stream stay
aligned. A certain start draws none.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, Ints, frozen, generator, integer
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import value
from bayesrl.worlds.settings import Published, Setting

Row = tuple[list[float], list[WorldStep]]
"""Cumulative probabilities of the possible outcomes of one (s, a), and the outcomes."""


@explain_failures
@value
class MDPWorld(Published):
    """A known MDP as a world.

    Examples
    --------
    >>> stay_or_go = TabularMDP.from_dense([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], [[0, 0], [1, 1]], gamma=0.5)
    >>> world = MDPWorld("mine", stay_or_go, Setting(steps=3), actions=("stay", "go"))
    >>> world.step(0, 1, np.random.default_rng(0))
    WorldStep(state=1, observation=1, reward=0.0, terminated=False)
    >>> world.optimum()
    2.0
    """

    name: Annotated[str, "Name of the world."]
    mdp: Annotated[TabularMDP, "The dynamics and rewards."] = field(repr=False)
    setting: Annotated[Setting, "How the world is usually run."] = field(default=Setting(), repr=False)
    actions: Annotated[tuple[str, ...], "Names of the actions."] = ()
    layout: Annotated[
        Ints | None, "States on a map, (panels, rows, columns), -1 for a wall; None: there is no map."
    ] = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mdp, TabularMDP):
            raise InvalidArgument("MDPWorld", "mdp", "a TabularMDP", type(self.mdp).__name__)
        if not isinstance(self.setting, Setting):
            raise InvalidArgument("MDPWorld", "setting", "a Setting", self.setting)
        if self.layout is not None:
            object.__setattr__(self, "layout", frozen(np.array(self.layout, np.int32)))

    @property
    def ends(self) -> bool:
        """Whether an episode can end."""
        return bool(self.mdp.outcomes.terminal.any())

    # A world ---------------------------------------------------------------------------------------------------------

    def reset(self, rng: Generator) -> tuple[int, int]:
        """The first state of an episode, and the observation, which is the same."""
        cumulative, states = self._first
        generator(self.name, rng)
        state = states[0] if len(states) == 1 else states[bisect_right(cumulative, rng.random())]
        return state, state

    def step(self, state: int, action: int, rng: Generator) -> WorldStep:
        """The next state, the observation (the same), the reward, and whether the episode has ended."""
        S, A = self._shape
        s = integer(self.name, "state", state, 0, S - 1)
        a = integer(self.name, "action", action, 0, A - 1)
        row = self._rows.get(s * A + a) or self._row(s, a)
        try:
            return row[1][bisect_right(row[0], rng.random())]
        except AttributeError:
            generator(self.name, rng)
            raise

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return self.n_states, self.n_actions

    @cached_property
    def _first(self) -> tuple[list[float], list[int]]:
        start = self.mdp.outcomes.start
        states = np.flatnonzero(start)
        return cumulative(start[states]), states.tolist()

    @cached_property
    def _rows(self) -> dict[int, Row]:
        return {}  # filled when a pair is first used; all rows of a large model would not fit into memory

    def _row(self, s: int, a: int) -> Row:
        p = self.mdp.prob[self.mdp.group[s, a]]
        possible = np.flatnonzero(p)
        succ, reward = self.mdp.succ[s, a, possible], self.mdp.reward[s, a, possible]
        ends = self.mdp.outcomes.terminal[succ]
        steps = list(map(WorldStep, succ.tolist(), succ.tolist(), reward.tolist(), ends.tolist()))
        row = self._rows[s * self.n_actions + a] = cumulative(p[possible]), steps
        return row

    # Properties -------------------------------------------------------------------------------------------------------

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.mdp.gamma

    @property
    def n_states(self) -> int:
        """S."""
        return self.mdp.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.mdp.n_actions

    @property
    def start(self) -> int:
        """The state in which episodes start, if that is certain."""
        states = self._first[1]
        if len(states) > 1:
            raise InvalidArgument(self.name, "start", "a single state", states, "See mdp.outcomes.start.")
        return states[0]

    def dense(self) -> tuple[Floats, Floats]:
        """(P[s, a, s'], R[s, a, s'])."""
        return self.mdp.dense()

    def optimum(self, steps: int | None = None) -> float:
        """Expected undiscounted total of the best policy over a number of steps (by default the setting's number)."""
        setting = self.setting
        if setting.optimum is not None and steps in (None, setting.steps):
            return setting.optimum
        from bayesrl.models.solve import optimal_total

        return optimal_total(self.mdp, setting.steps if steps is None else steps)

    @cached_property
    def gaps(self) -> Floats:
        """V*(s) - Q*(s, a) at the world's discount, (S, A): the loss of each action."""
        from bayesrl.models.solve import solve

        q = solve(self.mdp).q
        return frozen(q.max(axis=1, keepdims=True) - q)


def cumulative(p: Floats) -> list[float]:
    """Cumulative probabilities; the last one is exactly 1."""
    total: list[float] = np.cumsum(p).tolist()
    total[-1] = 1.0
    return total
