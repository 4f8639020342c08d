"""Random MDPs in classes: the family that hierarchical priors over MDPs assume (Wilson et al. 2007; survey §7.4).

A world is a sequence of tasks. Each class has a row for every pair (s, a), drawn from a Dirichlet; tasks of a class
share them. The class of each task is uniform. Being in the last state pays 1, which the agent knows. A task begins in
the state where the one before ended. With `classes=None` every task has rows of its own, and nothing can be
transferred.

The literature has no fixed sizes for such a family; those here are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, NoReturn

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.checks import generator
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import DISCOUNT, Above, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.settings import Published, Setting
from bayesrl.worlds.tabular import MDPWorld
from bayesrl.worlds.tasks._task_sequence import TaskSequence, drawn_classes

SETTING = Setting("flat", steps=600)
NO_TABLE = "That is a family of worlds, which has no table: draw(rng) a world first."


@explain_failures
@value
class RandomMDPs(Published):
    """Sequences of random MDPs in classes.

    Examples
    --------
    >>> world = RandomMDPs(tasks=4, classes=2).draw(np.random.default_rng(0))
    >>> world.classes.tolist(), len(world.tasks), world.n_states
    ([1, 0, 0, 0], 4, 6)
    """

    states: Annotated[int, AtLeast(1), "States, S."] = 6
    n_actions: Annotated[int, AtLeast(1), "Actions, A."] = 3
    classes: Annotated[int | None, AtLeast(1), "Classes of tasks; None: every task is its own."] = 3
    tasks: Annotated[int, AtLeast(1), "Tasks in a sequence, M."] = 12
    length: Annotated[int, AtLeast(1), "Steps of a task before the next one begins."] = 50
    concentration: Annotated[float, Above(0), "Dirichlet count of every next state."] = 0.3
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    setting: Annotated[Setting, "How the family is usually run."] = field(default=SETTING, repr=False)

    unsupported: ClassVar[Mapping[str, str]] = {"mdp": NO_TABLE}

    def draw(self, rng: Generator) -> TaskSequence:
        """The rows of the classes, then the class of each task."""
        generator("random-mdp", rng)
        kinds = self.tasks if self.classes is None else self.classes
        weight = rng.standard_gamma(self.concentration, (kinds, self.states * self.n_actions, self.states))
        weight += 1e-300  # where all of a row underflow
        models = [TabularMDP(self.outcomes, w / w.sum(axis=1, keepdims=True), self.gamma) for w in weight]
        labels = drawn_classes(self.tasks, self.classes, rng)
        tasks = tuple(MDPWorld(f"random-mdp {m}", models[j]) for m, j in enumerate(labels.tolist()))
        return TaskSequence("random-mdp", tasks, np.unique(labels, return_inverse=True)[1], self.length)

    def default_prior(self) -> DirichletMDP:
        """The distribution that the rows of one task are drawn from."""
        return DirichletMDP.flat(self, self.concentration)

    @cached_property
    def outcomes(self) -> Outcomes:
        """Every next state, of every pair; being in the last state pays 1."""
        S, A = self.states, self.n_actions
        pay = np.zeros(S)
        pay[-1] = 1.0
        return TabularMDP.from_dense(np.full((S, A, S), 1.0 / S), pay, self.gamma).outcomes

    @property
    def n_states(self) -> int:
        """S."""
        return self.states

    @property
    def mdp(self) -> NoReturn:
        """A family has no table; the tasks of its worlds have."""
        raise InvalidArgument("mdp", "world", "a single world", "random-mdp", NO_TABLE)


@register(
    "random-mdp",
    kind="family",
    survey="7.4",
    paper="Wilson07MR",
    evidence=(
        "tests/worlds/tasks/test_task_worlds.py::test_tasks_of_a_class_share_their_rows",
        "tests/worlds/tasks/test_task_worlds.py::test_rows_have_their_law",
    ),
)
def random_mdp(
    states: int = 6,
    actions: int = 3,
    classes: int | None = 3,
    tasks: int = 12,
    length: int = 50,
    concentration: float = 0.3,
    gamma: float = 0.95,
) -> RandomMDPs:
    """Sequences of tasks from a few classes of random MDPs; tasks of a class have the same transitions.

    The task changes every `length` steps, and a record has a column `task`. With `classes=None` tasks are unrelated.
    """
    return RandomMDPs(states, actions, classes, tasks, length, concentration, gamma)
