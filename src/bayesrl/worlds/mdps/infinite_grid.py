"""The infinite grid (Guez, Silver and Dayan 2012, section 5.2; survey §4.5): rewards along good rows and columns.

Row y has a parameter p_y ~ Beta, column x one q_x ~ Beta, and cell (x, y) holds a reward of 1 with probability p_y q_x.
Actions up, right, down and left always succeed. Entering a cell pays its reward, once. The reward of the start cell is
paid on the first return to it.

From the author's code (bamcp2d) we know: the law above, discount .97, 200 steps, and, in its example, Beta(2, 1) for
rows and Beta(1, 2) for columns (as recalled, the paper's figure exchanges rows and columns, which is the same problem);
2000 simulations, UCB constant 5, rollouts that do not turn back, and trees that are reused. In that code a reward is
paid on leaving the cell and the first cell is seen at once: the decisions are the same, and each reward comes one step
later. The paper also runs the search with the two priors exchanged, and its films use Beta(.5, .5) and others. We do
not know the returns of its figure.

Nothing is stored: p, q and the rewards are functions of the position and of a key that is drawn with the world (a hash,
then the inverse of the Beta's distribution function). So the plane has no bounds, and a world can be copied. A run
draws no further random numbers.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, NamedTuple

from numpy.random import Generator
from scipy.special import betaincinv

from bayesrl._explained import explain_failures
from bayesrl.beliefs.mdp.row_column_beta import Cell, RowColumnBeta, cell
from bayesrl.checks import generator, integer
from bayesrl.core import WorldStep
from bayesrl.kernels.simulators.infinite_grid_simulator import CELL, COLUMN, DX, DY, ROW
from bayesrl.parameters import DISCOUNT, value
from bayesrl.registry import register
from bayesrl.worlds.settings import Published, Setting

MASK = (1 << 64) - 1
SETTING = Setting("accurate", steps=200)
"""The prior is the distribution from which worlds are drawn."""


class Place(NamedTuple):
    """A state: the position, and the cells whose rewards have been taken."""

    x: int
    y: int
    taken: frozenset[Cell] = frozenset()


@explain_failures
@value
class InfiniteGrid:
    """One infinite grid.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> grid = InfiniteGrid(key=3)
    >>> grid.step(Place(0, 0), 1, default_rng(0))[1:]
    ((1, 0), 0.0, False)
    """

    key: Annotated[int, "The random key that determines all rewards."]
    rows: Annotated[tuple[float, float], "Beta counts of a row's parameter p."] = (2.0, 1.0)
    columns: Annotated[tuple[float, float], "Beta counts of a column's parameter q."] = (1.0, 2.0)
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.97

    n_actions = 4

    def reset(self, rng: Generator) -> tuple[Place, Cell]:
        """The origin; no reward has been taken."""
        return Place(0, 0), (0, 0)

    def step(self, state: Place, action: int, rng: Generator) -> WorldStep:
        """The neighbouring cell and its reward."""
        a = integer("infinite-grid", "action", action, 0, 3)
        here = cell("infinite-grid", "state", state[:2])
        there = here[0] + DX[a], here[1] + DY[a]
        if there in state.taken or not self.rewarded(*there):
            return WorldStep(Place(*there, state.taken), there, 0.0)
        return WorldStep(Place(*there, state.taken | {there}), there, 1.0)

    def rewarded(self, x: int, y: int) -> bool:
        """Whether the cell holds a reward at the start."""
        return uniform(self.key, CELL, x, y) < self.p(y) * self.q(x)

    def p(self, y: int) -> float:
        """The parameter of a row."""
        return float(betaincinv(*self.rows, uniform(self.key, ROW, y, 0)))

    def q(self, x: int) -> float:
        """The parameter of a column."""
        return float(betaincinv(*self.columns, uniform(self.key, COLUMN, x, 0)))


@explain_failures
@value
class InfiniteGridFamily(Published):
    """Infinite grids with Beta row and column parameters.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> InfiniteGridFamily(rows=(0.5, 0.5)).draw(default_rng(0)).rows
    (0.5, 0.5)
    """

    rows: Annotated[tuple[float, float], "Beta counts of a row's parameter p."] = (2.0, 1.0)
    columns: Annotated[tuple[float, float], "Beta counts of a column's parameter q."] = (1.0, 2.0)
    gamma: Annotated[float, "Discount."] = 0.97
    setting: Annotated[Setting, "How the family is usually run."] = field(default=SETTING, repr=False)
    actions: Annotated[tuple[str, ...], "Names of the actions."] = ("up", "right", "down", "left")

    n_actions = 4

    def __post_init__(self) -> None:
        checked = RowColumnBeta(self.rows, self.columns, self.gamma)
        for name in ("rows", "columns", "gamma"):
            object.__setattr__(self, name, getattr(checked, name))

    def draw(self, rng: Generator) -> InfiniteGrid:
        """A world of this family."""
        return InfiniteGrid(int(generator("infinite-grid", rng).integers(1 << 63)), self.rows, self.columns, self.gamma)

    def default_prior(self) -> RowColumnBeta:
        """The distribution that worlds are drawn from."""
        return RowColumnBeta(self.rows, self.columns, self.gamma)


@register(
    "infinite-grid",
    kind="family",
    survey="4.5",
    paper="guez12",
    evidence=(
        "tests/worlds/mdps/test_infinite_grid.py::test_rewards_have_their_law",
        "tests/worlds/mdps/test_infinite_grid.py::test_steps_by_hand",
    ),
)
def infinite_grid(
    gamma: float = 0.97, rows: tuple[float, float] = (2.0, 1.0), columns: tuple[float, float] = (1.0, 2.0)
) -> InfiniteGridFamily:
    """An unbounded grid whose rewards lie along good rows and columns; each is paid once.

    Runs last 200 steps. For the author's search: `bamcp:simulations=2000,depth=151,exploration=5` (151 decisions are
    accuracy .01 at discount .97).
    """
    return InfiniteGridFamily(rows, columns, gamma)


def uniform(*numbers: int) -> float:
    """Hash these numbers to [0, 1) with the mixing function of SplitMix64 (Steele et al. 2014)."""
    h = 0
    for n in numbers:
        h = (h + 0x9E3779B97F4A7C15 + n) & MASK
        h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & MASK
        h ^= h >> 31
    return (h >> 11) * 2.0**-53
