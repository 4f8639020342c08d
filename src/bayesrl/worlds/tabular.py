"""A finite, fully observed world: a known MDP with the set-up in which the literature uses it.

The state is observed. One random number is drawn for each step, whatever happens, so that methods compared on the same
stream of a world stay aligned; a start that is certain draws none.

The default prior is written as in `bayesrl run --prior`, NAME[:CONCENTRATION]:

    flat:1/9       one Dirichlet for each (s, a) over all states, every count 1/9
    structured:1   the world's own outcomes and groups with unknown probabilities, every count 1

(`bayesrl.lab.priors.prior_for` builds it; the concentration is a decimal or a fraction, 1 if left out).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from functools import cached_property

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, Ints, frozen, integer
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import value

Step = tuple[int, int, float, bool]


@value
class MDPWorld:
    """A known MDP as a world: `reset` and `step`, its optimum, and how it is usually run."""

    name: str
    mdp: TabularMDP = field(repr=False)
    prior: str = "flat:1"
    """The prior an agent is given unless another is asked for."""
    steps: int = 1000
    """Length of a run in the published set-up."""
    declared: float | None = None
    """Expected undiscounted total of the best policy over that many steps; None: not known in advance."""
    actions: tuple[str, ...] = ()
    """What the actions are called."""
    layout: Ints | None = field(default=None, repr=False)
    """Where states lie on a map, (panels, rows, columns), -1 for a wall; None: the world has no map."""
    figures: tuple[str, ...] = ()
    """The names under which published figures know this world."""

    def __post_init__(self) -> None:
        if not isinstance(self.mdp, TabularMDP):
            raise InvalidArgument("MDPWorld", "mdp", "a TabularMDP", type(self.mdp).__name__)
        integer("MDPWorld", "steps", self.steps, 1)
        if self.layout is not None:
            object.__setattr__(self, "layout", frozen(np.array(self.layout, np.int32)))

    # A world ---------------------------------------------------------------------------------------------------------

    def reset(self, rng: Generator) -> tuple[int, int]:
        """The first state of an episode, which is also what is observed."""
        cumulative, states = self._first
        state = states[0] if len(states) == 1 else states[bisect_right(cumulative, rng.random())]
        return state, state

    def step(self, state: int, action: int, rng: Generator) -> Step:
        """The next state, the same as observed, the reward, and whether the episode has ended."""
        S, A = self._shape
        s = integer(self.name, "state", state, 0, S - 1)
        a = integer(self.name, "action", action, 0, A - 1)
        row = self._rows.get(s * A + a) or self._row(s, a)
        return row[1][bisect_right(row[0], rng.random())]

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return self.n_states, self.n_actions

    @cached_property
    def _first(self) -> tuple[list[float], list[int]]:
        start = self.mdp.outcomes.start
        states = np.flatnonzero(start)
        return _cumulative(start[states]), states.tolist()

    @cached_property
    def _rows(self) -> dict[int, tuple[list[float], list[Step]]]:
        return {}  # filled as (s, a) are met: a large dense model would not fit as Python objects

    def _row(self, s: int, a: int) -> tuple[list[float], list[Step]]:
        p = self.mdp.prob[self.mdp.group[s, a]]
        possible = np.flatnonzero(p)
        succ, reward = self.mdp.succ[s, a, possible], self.mdp.reward[s, a, possible]
        ends = self.mdp.outcomes.terminal[succ]
        steps = list(zip(succ.tolist(), succ.tolist(), reward.tolist(), ends.tolist(), strict=True))
        row = self._rows[s * self.n_actions + a] = _cumulative(p[possible]), steps
        return row

    # What is known about it ------------------------------------------------------------------------------------------

    gamma = property(lambda self: self.mdp.gamma, doc="Discount.")
    n_states = property(lambda self: self.mdp.n_states, doc="S.")
    n_actions = property(lambda self: self.mdp.n_actions, doc="A.")

    @property
    def start(self) -> int:
        """The state in which episodes start, where that is certain."""
        states = self._first[1]
        if len(states) > 1:
            raise InvalidArgument(self.name, "start", "a single state", states, "See mdp.outcomes.start.")
        return states[0]

    def dense(self) -> tuple[Floats, Floats]:
        """(P[s, a, s'], R[s, a, s'])."""
        return self.mdp.dense()

    def optimum(self, steps: int | None = None) -> float:
        """Expected undiscounted total of the best policy over so many steps (by default the published number)."""
        if self.declared is not None and steps in (None, self.steps):
            return self.declared
        from bayesrl.models.solve import optimal_total

        return optimal_total(self.mdp, self.steps if steps is None else steps)

    @cached_property
    def gaps(self) -> Floats:
        """V*(s) - Q*(s, a) at the world's discount, (S, A): what an action gives away, the unit of regret."""
        from bayesrl.models.solve import solve

        q = solve(self.mdp).q
        return frozen(q.max(axis=1, keepdims=True) - q)


def _cumulative(p: Floats) -> list[float]:
    """Cumulative probabilities of outcomes that are all possible; the last is one whatever the rounding."""
    total: list[float] = np.cumsum(p).tolist()
    total[-1] = 1.0
    return total
