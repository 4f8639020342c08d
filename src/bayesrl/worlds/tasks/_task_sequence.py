"""Several tasks one after the other, in one world.

Each task is a known MDP on the same states and actions. After `length` steps the next task begins, in the state that
was reached, and after the last task the first one comes again. So every transition is one of its own task, and a record
has a column `task` from which beliefs over several tasks learn. The agent sees the state, and after a step its task.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, Ints, array, frozen, indices, integer, sequence
from bayesrl.core import TaskStep
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, value
from bayesrl.worlds.settings import Published, Setting
from bayesrl.worlds.tabular import MDPWorld


class Place(NamedTuple):
    """A state: the task, how many of its steps were taken, and the state of its MDP."""

    task: int
    age: int
    state: int


@explain_failures
@value
class TaskSequence(Published):
    """Tasks that take turns in one world.

    Examples
    --------
    >>> from bayesrl.models.mdp import TabularMDP
    >>> stay = MDPWorld("stay", TabularMDP.from_dense([[[1, 0]], [[0, 1]]], [[0], [1]], gamma=0.9))
    >>> swap = MDPWorld("swap", TabularMDP.from_dense([[[0, 1]], [[1, 0]]], [[0], [1]], gamma=0.9))
    >>> world, rng = TaskSequence("both", (stay, swap), [0, 1], length=1), np.random.default_rng(0)
    >>> world.step(world.reset(rng)[0], 0, rng)
    TaskStep(state=Place(task=1, age=0, state=0), observation=0, reward=0.0, terminated=False, task=1)
    """

    name: Annotated[str, "Name of the world."]
    tasks: Annotated[tuple[MDPWorld, ...], "M worlds with the same states, which never end."] = field(repr=False)
    classes: Annotated[Ints, "The true class of each task, (M,)."] = field(repr=False)
    length: Annotated[int, AtLeast(1), "Steps of a task before the next one begins."] = 50
    features: Annotated[Floats | None, "Features of each state, (S, d), if rewards are linear in them."] = field(
        default=None, repr=False
    )
    weights: Annotated[Floats | None, "The true weights of each task, (M, d)."] = field(default=None, repr=False)
    setting: Annotated[Setting, "How the world is usually run."] = field(default=Setting(), repr=False)
    actions: Annotated[tuple[str, ...], "Names of the actions."] = ()

    def __post_init__(self) -> None:
        owner, expected = "TaskSequence", "worlds with a table of the same states and actions, without terminal states"
        tasks = sequence(owner, "tasks", self.tasks, expected)
        if not tasks or not all(isinstance(task, MDPWorld) for task in tasks):
            raise InvalidArgument(owner, "tasks", expected, self.tasks)
        if any(task.ends or task.mdp.group.shape != tasks[0].mdp.group.shape for task in tasks):
            raise InvalidArgument(owner, "tasks", expected, tasks)
        M, S = len(tasks), tasks[0].n_states
        object.__setattr__(self, "tasks", tasks)
        object.__setattr__(self, "classes", indices(owner, "classes", self.classes, (M,), M))
        if (self.features is None) != (self.weights is None):
            raise InvalidArgument(owner, "weights", "given with the features", self.weights)
        if self.features is not None and self.weights is not None:
            features = array(owner, "features", self.features, (S, None))
            object.__setattr__(self, "features", features)
            object.__setattr__(self, "weights", array(owner, "weights", self.weights, (M, features.shape[1])))

    def reset(self, rng: Generator) -> tuple[Place, int]:
        """The first state of the first task."""
        state, seen = self.tasks[0].reset(rng)
        return Place(0, 0, state), seen

    def step(self, state: Place, action: int, rng: Generator) -> TaskStep:
        """A step of the task at hand; after `length` of them the next task goes on from the state that was reached."""
        if not isinstance(state, tuple) or len(state) != 3:
            raise InvalidArgument(self.name, "state", "a task, its age and a state", state)
        m = integer(self.name, "task", state[0], 0, len(self.tasks) - 1)
        after, seen, reward, _ = self.tasks[m].step(state[2], action, rng)
        age = integer(self.name, "age", state[1], 0) + 1
        if age >= self.length:
            m, age = (m + 1) % len(self.tasks), 0
        return TaskStep(Place(m, age, after), seen, reward, False, m)

    @property
    def ends(self) -> bool:
        """False: episodes do not end."""
        return False

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.tasks[0].gamma

    @property
    def n_states(self) -> int:
        """S."""
        return self.tasks[0].n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.tasks[0].n_actions


def drawn_classes(tasks: int, classes: int | None, rng: Generator) -> Ints:
    """The class of each task, uniform over the classes; None: every task has its own."""
    return frozen(np.arange(tasks) if classes is None else rng.integers(classes, size=tasks))
