"""Beta row and column parameters of a grid of rewards (Guez, Silver, Dayan 2012, section 5.2; survey §4.5).

Row y has p_y ~ Beta(rows), column x has q_x ~ Beta(columns), and cell (x, y) holds a reward with probability p_y q_x,
independently given p and q. A reward can be collected once. Every cell that is entered gives information about its row
and column, and so about all other cells in them. The plane is unbounded and its states cannot be listed, so that
searches use a compiled outcome function (`simulate`).

The belief stores the cells seen; `update` only adds to them. Because of the product, the posterior of p and q is not
conjugate. It is computed by Gibbs sampling (`kernels/simulators/infinite_grid_simulator.py`: two coins for each cell,
with p and q integrated out). `sample_rows_columns` and `mean_rows_columns` are those of a Markov chain after a fixed
number of sweeps, and simulations follow such a chain.

Deviations: the authors update (p, q) of a random cell by Metropolis-Hastings, 10 times before the first simulation and
20 times before each later one. Coins need no proposals, and after 200 real steps their chain forgets its start within
20 sweeps; we make 50. Rewards are paid on arrival; the author's code pays them on leaving. The decisions are the same,
and each reward comes one step earlier. `restart` (a new episode in the same grid) restores the rewards and keeps the
data; each of the authors' runs is one episode.
Cost: update O(n) for n cells seen; a sweep O(n); a simulated step O(1). Claims: the posterior equals quadrature over p
and q; the belief laws; simulations follow the predictive distribution.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import own_prior
from bayesrl.beliefs.log import Log, transitions
from bayesrl.checks import DEEPEST, Floats, Ints, array, as_array, generator, integer, number, sequence
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.simulators import infinite_grid_simulator as row_column
from bayesrl.kernels.simulators.infinite_grid_simulator import DX, DY, EMPTY, HALF, TAKEN, THERE, WIDTH, RowColumn
from bayesrl.parameters import DISCOUNT, unchecked, value
from bayesrl.registry import register

Cell = tuple[int, int]
FAR = 2**30
"""Largest distance of a cell from the start, in each coordinate."""


def prior_for(problem: object) -> RowColumnBeta:
    """The usual prior of the infinite grid."""
    return own_prior("row-column-beta", problem, RowColumnBeta)


@register(
    "row-column-beta",
    kind="belief",
    survey="4.5",
    paper="guez12",
    example=lambda: RowColumnBeta(),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/mdp/test_infinite_grid.py::test_posterior_matches_quadrature",
        "tests/beliefs/mdp/test_infinite_grid.py::test_simulations_have_the_law_of_the_predictive",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class RowColumnBeta:
    """Beta parameters of the rows and columns of an unbounded grid of rewards.

    Examples
    --------
    An empty cell lowers the posterior means of its row and its column:

    >>> belief = RowColumnBeta().update(Transition((0, 0), 1, 0.0, (1, 0)))
    >>> p, q = belief.mean_rows_columns([0], [1], np.random.default_rng(0))
    >>> bool(p[0] < 2 / 3), bool(q[0] < 1 / 3)
    (True, True)
    """

    rows: Annotated[tuple[float, float], "Counts (alpha, beta) of a row's parameter p, rewards first."] = (2.0, 1.0)
    columns: Annotated[tuple[float, float], "Counts (alpha, beta) of a column's parameter q."] = (1.0, 2.0)
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.97
    seen: tuple[tuple[int, int, int], ...] = field(init=False, repr=False)
    """The cells entered as (x, y, what is known about them), sorted by x and y."""

    n_actions: ClassVar[int] = 4

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            counts = array("RowColumnBeta", name, getattr(self, name), (2,), low=0.0, above=True, moderate=True)
            object.__setattr__(self, name, (float(counts[0]), float(counts[1])))
        object.__setattr__(self, "seen", ())

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> RowColumnBeta:
        """The posterior after a step onto a cell with or without a reward."""
        x, y = cell("RowColumnBeta.update", "state", datum.state)
        a = integer("RowColumnBeta.update", "action", datum.action, 0, 3)
        there = cell("RowColumnBeta.update", "next_state", datum.next_state)
        r = number("RowColumnBeta.update", "reward", datum.reward)
        step = f"{(x, y)} -> {there} with reward {r:g}"
        if there != (x + DX[a], y + DY[a]):
            raise ImpossibleEvidence("RowColumnBeta", step, f"action {a} leads to {(x + DX[a], y + DY[a])}")
        if datum.terminated:
            raise ImpossibleEvidence("RowColumnBeta", f"The end of the episode in cell {there}", "no cell is terminal")
        if r not in (0.0, 1.0):
            raise ImpossibleEvidence("RowColumnBeta", step, "a reward is 0 or 1")
        i = bisect_left(self.seen, there)
        if i == len(self.seen) or self.seen[i][:2] != there:
            return self._with(i, i, (*there, TAKEN if r else EMPTY))
        if (r == 1.0) != (self.seen[i][2] == THERE):
            known = "is known to hold one" if self.seen[i][2] == THERE else "has none left"
            raise ImpossibleEvidence("RowColumnBeta", step, f"the cell {known}")
        return self._with(i, i + 1, (*there, TAKEN)) if r else self

    def update_many(self, log: Log, rng: Generator | None = None) -> RowColumnBeta:
        """The posterior after a log: transitions, a record, or columns state, action, reward, next_state.

        Where an episode is cut off, the next one begins (`restart`).
        """
        new = self
        for datum in transitions("RowColumnBeta.update_many", log):
            new = new.update(datum)
            new = new.restart() if datum.ends_episode else new
        return new

    def restart(self) -> RowColumnBeta:
        """A new episode in the same grid: collected rewards are restored."""
        return unchecked(self, seen=tuple((x, y, THERE if what else EMPTY) for x, y, what in self.seen))

    def _with(self, i: int, j: int, new: tuple[int, int, int]) -> RowColumnBeta:
        return unchecked(self, seen=(*self.seen[:i], new, *self.seen[j:]))

    # What is believed ------------------------------------------------------------------------------------------------

    def sample_rows_columns(self, rows: Sequence[int], columns: Sequence[int], rng: Generator) -> tuple[Floats, Floats]:
        """(p of these rows, q of these columns), drawn jointly from the posterior."""
        generator("RowColumnBeta.sample_rows_columns", rng)
        return row_column.sample(self.simulate(0), *_lines(rows, columns), rng)

    def mean_rows_columns(
        self, rows: Sequence[int], columns: Sequence[int], rng: Generator, *, sweeps: int = 1000
    ) -> tuple[Floats, Floats]:
        """Posterior means of (p of these rows, q of these columns), estimated with `sweeps` sweeps."""
        generator("RowColumnBeta.mean_rows_columns", rng)
        n = integer("RowColumnBeta.mean_rows_columns", "sweeps", sweeps, 1)
        return row_column.mean(self.simulate(0), *_lines(rows, columns), n, rng)

    @property
    def numbered_states(self) -> int:
        """0, since the plane is unbounded."""
        return 0

    def encode(self, observation: Cell, owner: str = "RowColumnBeta") -> int:
        """The integer that represents the cell in compiled simulations."""
        x, y = cell(owner, "observation", observation)
        return x * WIDTH + y + HALF

    def is_terminal(self, state: int) -> bool:
        """False for every cell."""
        return False

    def reward_range(self) -> tuple[float, float]:
        """A step pays 0 or 1."""
        return 0.0, 1.0

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in compiled simulations."""
        return int(number("RowColumnBeta.code", "reward", datum.reward, 0.0, 1.0))

    def simulate(self, depth: int) -> RowColumn:
        """The belief as coins, for simulations of at most `depth` steps; see `infinite_grid_simulator.py`."""
        depth = integer("RowColumnBeta.simulate", "depth", depth, 0, DEEPEST)
        seen = np.array(self.seen, np.int64).reshape(-1, 3)
        entries = 1 << (6 * (len(seen) + depth) + 16).bit_length()  # cells, rows and columns; half full
        model = RowColumn(
            key=np.zeros((entries, 3), np.int64),
            used=np.zeros(entries, np.bool_),
            n=np.zeros((entries, 2)),
            pairs=np.zeros((int((seen[:, 2] == EMPTY).sum()), 4), np.int64),
            prior=np.array([(1.0, 1.0), self.rows[::-1], self.columns[::-1]]),
            noted=np.zeros((4 * depth + 4, 2), np.int64),  # a step, and at most a cell, a row and a column
            noted_n=np.zeros((4 * depth + 4, 2)),
            fill=np.zeros(2, np.int64),
        )
        row_column.learn(model, seen)
        return model


def cell(owner: str, name: str, x: Any) -> Cell:
    """A pair of integers of any sign."""
    if as_array(x).shape != (2,):
        raise InvalidArgument(owner, name, "a cell (x, y)", x)
    i, j = (integer(owner, name, n, -FAR, FAR) for n in x)
    return i, j


def _lines(rows: Sequence[int], columns: Sequence[int]) -> tuple[Ints, Ints]:
    ys, xs = (
        np.array(
            [
                integer("RowColumnBeta", name, n, -FAR, FAR)
                for n in sequence("RowColumnBeta", name, lines, "whole numbers")
            ],
            np.int64,
        )
        for name, lines in (("rows", rows), ("columns", columns))
    )
    return ys, xs
