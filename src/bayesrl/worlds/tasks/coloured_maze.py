"""Coloured mazes (Wilson, Fern, Ray, Tadepalli 2007; survey §7.4): colours of cells cost, differently in each task.

A grid of size x size cells, each of one colour. A step in a cell pays the weight of its colour, which is negative on
average: the reward of task m in state s is weights[m] . features[s], and `prize` in the goal. The start is the upper
left cell, the goal the lower right one; from the goal every action leads back to the start. Actions up, right, down and
left succeed with probability 1 - slip, otherwise the agent moves to one of the sides; walls stay. Moves and prize are
known, weights are not. The weights of a task are N(mean of its class, class_deviation^2), those means are
N(-1, deviation^2), and the class of each task is uniform. One map of colours is drawn for a world; all tasks have it.

The paper's numbers are recalled only as to this structure: sizes, colours and classes are ours. In the paper a cell may
have several colours and an episode ends in the goal.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.rewards.gaussian_rewards import GaussianRewards
from bayesrl.checks import Floats, generator, integer, number
from bayesrl.core import Transition
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT, PROBABILITY, Above, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.mdps.cells import DOWN, LEFT, RIGHT, UP, walk
from bayesrl.worlds.settings import Published, Setting
from bayesrl.worlds.tabular import MDPWorld
from bayesrl.worlds.tasks._task_sequence import TaskSequence, drawn_classes

SETTING = Setting("gaussian", steps=1200)
NAMES = ("up", "right", "down", "left")


@explain_failures
@value
class ColouredMazes(Published):
    """Sequences of tasks in a maze, whose weights of colours come from a few classes.

    Examples
    --------
    >>> world = ColouredMazes(size=3, colours=2, tasks=2).draw(np.random.default_rng(0))
    >>> world.features.shape, world.weights.shape
    ((9, 2), (2, 2))
    """

    size: Annotated[int, AtLeast(2), "Cells of a side."] = 5
    colours: Annotated[int, AtLeast(1), "Colours, d."] = 4
    classes: Annotated[int | None, AtLeast(1), "Classes of tasks; None: every task is its own."] = 3
    tasks: Annotated[int, AtLeast(1), "Tasks in a sequence, M."] = 12
    length: Annotated[int, AtLeast(1), "Steps of a task before the next one begins."] = 100
    deviation: Annotated[float, Above(0), "Standard deviation of the mean weights of classes around -1."] = 0.5
    class_deviation: Annotated[float, Above(0), "Standard deviation of the weights of a class around their mean."] = 0.1
    prize: Annotated[float, "Reward in the goal."] = 10.0
    slip: Annotated[float, PROBABILITY, "Probability that a move goes to a side."] = 0.1
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    setting: Annotated[Setting, "How the family is usually run."] = field(default=SETTING, repr=False)
    actions: Annotated[tuple[str, ...], "Names of the actions."] = NAMES

    n_actions = 4

    def draw(self, rng: Generator) -> TaskSequence:
        """The map of colours, the means of the classes, then the class and the weights of each task."""
        generator("coloured-maze", rng)
        S, d, kinds = self.size**2, self.colours, self.tasks if self.classes is None else self.classes
        features = np.eye(d)[rng.integers(d, size=S)]
        features[-1] = 0.0
        means = rng.normal(-1.0, self.deviation, (kinds, d))
        labels = drawn_classes(self.tasks, self.classes, rng)
        weights = rng.normal(means[labels], self.class_deviation)
        tasks = tuple(self.task(features @ w, f"coloured-maze {m}") for m, w in enumerate(weights))
        classes = np.unique(labels, return_inverse=True)[1]
        return TaskSequence("coloured-maze", tasks, classes, self.length, features, weights, actions=self.actions)

    def task(self, pay: Floats, name: str = "coloured-maze") -> MDPWorld:
        """The maze with these rewards of cells, (S,), and the prize in the goal."""
        paid = pay + self.prize * (np.arange(self.n_states) == self.n_states - 1)
        return MDPWorld(name, TabularMDP.from_dense(self.moves, paid, self.gamma), actions=self.actions)

    def datum(self, step: Transition, features: Floats) -> tuple[int, Floats, float]:
        """A step as LinearRewardClasses learns it: task, features of the cell, and the reward without the prize."""
        s = integer("ColouredMaze", "state", step.state, 0, self.n_states - 1)
        r = number("ColouredMaze", "reward", step.reward)
        return step.task, features[s], r - self.prize * (s == self.n_states - 1)

    def default_prior(self) -> GaussianRewards:
        """Independent weights of cells, with the mean and the variance that one cell has; the prize is known."""
        S, A = self.n_states, self.n_actions
        mean, variance = np.full((S, A), -1.0), np.full((S, A), self.deviation**2 + self.class_deviation**2)
        mean[-1], variance[-1] = self.prize, 1e-6
        same = np.asarray(np.kron(np.diag(variance[:, 0]), np.ones((A, A))), np.float64)
        return GaussianRewards(self.task(np.zeros(S)).mdp, mean, same, noise=0.01)

    @cached_property
    def moves(self) -> Floats:
        """P[s, a, s']; state y size + x is cell (x, y), and the last one is the goal."""
        cells = [(x, y) for y in range(self.size) for x in range(self.size)]
        P = walk(cells, (UP, RIGHT, DOWN, LEFT), self.slip)
        P[-1] = np.eye(len(cells))[0]
        return P

    @property
    def n_states(self) -> int:
        """S."""
        return self.size**2


@register(
    "coloured-maze",
    kind="family",
    survey="7.4",
    paper="Wilson07MR",
    evidence=(
        "tests/worlds/tasks/test_task_worlds.py::test_costs_are_linear_in_the_colours",
        "tests/worlds/tasks/test_task_worlds.py::test_weights_have_their_law",
    ),
)
def coloured_maze(
    size: int = 5,
    colours: int = 4,
    classes: int | None = 3,
    tasks: int = 12,
    length: int = 100,
    deviation: float = 0.5,
    class_deviation: float = 0.1,
    gamma: float = 0.95,
) -> ColouredMazes:
    """A maze of coloured cells; what a colour costs depends on the task, and tasks fall into classes.

    The task changes every `length` steps, and a record has a column `task`. With `classes=None` tasks are unrelated.
    """
    return ColouredMazes(size, colours, classes, tasks, length, deviation, class_deviation, gamma=gamma)
