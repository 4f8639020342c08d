"""A hierarchical prior over MDPs: tasks fall into classes (Wilson, Fern, Ray, Tadepalli 2007; survey §7.4).

Tasks have the same states, actions and rewards. An unknown number of classes of MDPs exists, and tasks of one class
share their transition probabilities. A task joins a class of n tasks with probability proportional to n, and a new
class with `concentration` c: a Chinese restaurant process. The rows of a class are Dirichlet with counts `alpha`. The
belief learns the classes from the logs of all tasks. `task(i)` is then what is known about one task, and `new_task()`
is the prior of the next one. Use it where logs of similar tasks exist and the next task has few data. If it is unknown
whether tasks are similar at all, let c be learnt, `concentration=LogUniform()`: then unrelated tasks lose next to
nothing.

The rows of classes are integrated out. A sweep of Gibbs sampling takes task m out of its class, and puts it

    into class j with weight   n_j DM(counts_j + counts_m) / DM(counts_j)      (n_j and counts_j without task m),
    into a new one with weight c DM(counts_m),

where DM is the Dirichlet-multinomial probability of steps in their order, a product over pairs (s, a). An unknown c is
integrated out: its posterior mean given the number of classes takes its place (beliefs/crp.py).

Paper to code (recalled, not re-read): the generative model above; sampling the classes of the tasks seen is `gibbs`
(_gibbs_of_counts.py); the prior of the next task is `new_task`.
Deviations: as recalled, the paper samples the parameters of classes, with auxiliary new classes; here Dirichlet rows
are integrated out. Each sweep also proposes to split or to merge classes, because single moves hardly ever do
(_gibbs_of_counts.py). A learnt c is ours. The paper learns rewards of classes too: `LinearRewardClasses`.
Cost: an update O(cells that its task has seen); a sweep O(sum over tasks of classes x cells seen), whatever the lengths
of the logs, because a task is its counts. `task` and `new_task` make one Dirichlet for each distinct drawn class.
Claims: draws follow the enumerated posterior of all clusterings of 4, 5 and 6 tasks, c known or not; calibration; c to
0 pools and c to infinity separates; held-out tasks gain, and unrelated tasks lose no return (docs/multitask.md).
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import Concentration, needed
from bayesrl.beliefs.chain import FEW, Diagnostics, diagnose, warn_if_poor
from bayesrl.beliefs.crp import (
    LogUniform,
    check_concentration,
    cluster_counts,
    concentrations,
    draw_clustering,
    mean_clusters,
    together,
    weight_of_new,
)
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.mdp.dirichlet_mixture import DirichletMixture
from bayesrl.beliefs.tasks._gibbs_of_counts import Steps, gibbs
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import OverOutcomes, TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import Above, unchecked, value
from bayesrl.problems import HasMDP
from bayesrl.registry import register
from bayesrl.traits import Traits

MOST_TASKS = 1_000_000
"""The largest number of tasks. Tasks that were skipped in the numbering take memory too."""


ENOUGH = 10 * FEW
"""Draws before which a chain is not judged."""


class Seen(NamedTuple):
    """The steps of one task: cell g K + k is outcome k of group g."""

    cells: Ints
    """The cells seen, in increasing order, (n,)."""
    counts: Floats
    """How often, (n,)."""


NOTHING = Seen(frozen(np.zeros(0, np.int64)), frozen(np.zeros(0)))


def _example() -> HierarchicalMDP:
    P = [[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.2, 0.8]]]
    return HierarchicalMDP(TabularMDP.from_dense(P, [[0.0, 1.0], [0.5, 0.0]], gamma=0.9), 0.8, 0.7)


def prior_for(
    problem: object,
    concentration: Annotated[float, Above(0), "Concentration of the process over classes of tasks, c."] = 1.0,
    alpha: Concentration = 1.0,
) -> HierarchicalMDP:
    """One Dirichlet for each (s, a) over all states in every class of tasks."""
    return HierarchicalMDP(needed("hierarchical-mdp", problem, HasMDP), concentration, alpha)


@register(
    "hierarchical-mdp",
    kind="belief",
    survey="7.4",
    paper="Wilson07MR",
    example=_example,
    prior_for=prior_for,
    reading="The survey, and the paper as recalled; the sampler of classes is ours.",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/tasks/test_hierarchical_mdp.py::test_draws_follow_the_enumerated_clusterings",
        "tests/beliefs/tasks/test_hierarchical_mdp.py::test_tasks_are_mixtures_over_the_clusterings",
    ),
)
@value
class HierarchicalMDP(OverOutcomes):
    """Tasks in an unknown number of classes; tasks of a class have the same transition probabilities.

    `Transition.task` says whose step a datum is. Tasks are numbered from 0.

    Examples
    --------
    Two customers come back after a purchase, and two do not. A fifth is probably like one of these:

    >>> import bayesrl as b
    >>> mdp = b.TabularMDP.from_dense([[[0.5, 0.5]], [[0.5, 0.5]]], [[0.0], [1.0]], gamma=0.9)
    >>> log = [b.Transition(1, 0, 1.0, int(i < 2), task=i) for i in range(4)]
    >>> belief = HierarchicalMDP(mdp).update_many(10 * log).refresh(np.random.default_rng(0), sweeps=200)
    >>> belief.co_class().round().astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> belief.task(0).mean_mdp().prob[1].round(2).tolist(), belief.new_task().mean_mdp().prob[1].round(1).tolist()
    ([0.05, 0.95], [0.5, 0.5])
    """

    problem: Annotated[
        Any,
        "A model, world or family with the tasks' rewards: every next state is possible. Or a DirichletMDP: "
        "the prior of a class, instead of alpha.",
    ] = field(repr=False)
    concentration: Annotated[
        float | LogUniform,
        Above(0),
        "Concentration of the Chinese restaurant process over classes, c; LogUniform() if it is to be learnt.",
    ] = 1.0
    alpha: Annotated[float, Above(0), "Prior count of every outcome in a class."] = 1.0
    data: tuple[Seen, ...] = field(init=False, repr=False)
    """The steps of each task."""
    labels: Ints = field(init=False, repr=False)
    """The state of the chain: the class of each task, (M,); -1 for a task that was in no sweep yet."""
    assignments: Ints = field(init=False, repr=False)
    """The drawn classes of the tasks, (n, M), numbered in the order of their first task."""

    traits: ClassVar[Traits] = Traits(grows=("data", "labels", "assignments"))

    def __post_init__(self) -> None:
        given = self.problem
        prior = given if isinstance(given, DirichletMDP) else DirichletMDP.flat(given, self.alpha)
        c = check_concentration("HierarchicalMDP", self.concentration)
        made: dict[str, Any] = {"problem": prior, "concentration": c, "alpha": float(self.alpha)}
        made |= {"data": (), "labels": frozen(np.zeros(0, np.int64)), "assignments": frozen(np.zeros((0, 0), np.int64))}
        for name, x in made.items():
            object.__setattr__(self, name, x)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        owner, M, top = "HierarchicalMDP", len(self.data), self.problem.alpha.size
        for cells, counts in self.data:
            array(owner, "data", counts, cells.shape, low=0.0, above=True) if len(cells) else None
            if (np.diff(cells, prepend=-1) <= 0).any() or (cells >= top).any() or cells.dtype.kind != "i":
                raise InvalidArgument(owner, "data", "cells of the problem in increasing order", cells)
        for name, x, axes, low in (("labels", self.labels, 1, -1), ("assignments", self.assignments, 2, 0)):
            if x.ndim != axes or x.shape[-1] != M or x.dtype.kind != "i" or ((x < low) | (x >= max(M, 1))).any():
                raise InvalidArgument(owner, name, f"classes of {M} tasks", x)

    def __repr__(self) -> str:
        o, n = self.outcomes, int(sum(seen.counts.sum() for seen in self.data))
        shape = f"states={o.n_states}, actions={o.n_actions}, tasks={self.n_tasks}, seen={n}"
        return f"HierarchicalMDP({shape}, concentration={self.concentration}, draws={len(self.assignments)})"

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> HierarchicalMDP:
        """The belief after one step of one task. Draws of the old posterior are dropped; see `refresh`."""
        return self._learn((datum,))

    def update_many(self, log: Log, rng: Generator | None = None) -> HierarchicalMDP:
        """The same after a log: transitions, a record, or columns state, action, reward, next_state and task."""
        return self._learn(transitions("HierarchicalMDP.update_many", log))

    def _learn(self, steps: Any) -> HierarchicalMDP:
        prior, K, new = self.problem, self.outcomes.n_outcomes, dict[int, list[int]]()
        for datum in steps:
            s, a, k = prior.outcome(datum)
            m = integer("HierarchicalMDP.update", "task", datum.task, 0, MOST_TASKS - 1)
            g = self.outcomes.group.item(s, a)
            new.setdefault(m, []).extend([] if prior.known[g] else [g * K + k])
        data = [*self.data, *[NOTHING] * (max(new, default=-1) + 1 - self.n_tasks)]
        for m, entries in new.items():
            cells, where = np.unique(np.concatenate([data[m].cells, entries]).astype(np.int64), return_inverse=True)
            counts = np.bincount(where, np.append(data[m].counts, np.ones(len(entries))), len(cells))
            data[m] = Seen(frozen(cells), frozen(counts.astype(np.float64)))
        labels = np.append(self.labels, np.full(len(data) - self.n_tasks, -1, np.int64))
        none = frozen(np.zeros((0, len(data)), np.int64))
        return unchecked(self, data=tuple(data), labels=frozen(labels), assignments=none)

    def refresh(self, rng: Generator, sweeps: int = 1) -> HierarchicalMDP:
        """The belief after further sweeps of the chain, each of which adds a draw. A badly mixed chain warns."""
        generator("HierarchicalMDP.refresh", rng)
        drawn = np.zeros((integer("HierarchicalMDP.refresh", "sweeps", sweeps, 1), self.n_tasks), np.int64)
        if self.n_tasks:
            c = weight_of_new(self.concentration, np.arange(self.n_tasks + 1), self.n_tasks)
            gibbs(rng, np.array(self.labels), self._steps(), c, drawn)
        kept = np.concatenate([self.assignments, drawn]) if len(self.assignments) else drawn
        new = unchecked(self, labels=frozen(drawn[-1].copy()), assignments=frozen(kept))
        if len(kept) >= ENOUGH:
            warn_if_poor("HierarchicalMDP.refresh", new.diagnostics())
        return new

    def _steps(self) -> Steps:
        """The counts of all tasks, over the cells that some task has seen."""
        cells, cell = np.unique(np.concatenate([seen.cells for seen in self.data]), return_inverse=True)
        groups, group = np.unique(cells // self.outcomes.n_outcomes, return_inverse=True)
        start = np.cumsum([0, *(len(seen.cells) for seen in self.data)])
        n, alpha = np.concatenate([seen.counts for seen in self.data]), self.problem.alpha
        return Steps(start, cell, n, group, alpha.ravel()[cells], alpha[groups].sum(axis=1))

    # Classes ---------------------------------------------------------------------------------------------------------

    @property
    def n_tasks(self) -> int:
        """M: one more than the largest task number seen."""
        return len(self.data)

    def co_class(self) -> Floats:
        """Posterior probability that two tasks are of one class, (M, M)."""
        return together(self._draws("co_class"))

    def n_classes(self) -> float:
        """Posterior mean of the number of classes among the tasks seen."""
        return mean_clusters(self._draws("n_classes"))

    def concentrations(self) -> tuple[Floats, Floats]:
        """The values of the concentration and their posterior probabilities, two arrays; one value if it is known."""
        return concentrations(self.concentration, cluster_counts(self._draws("concentrations")), max(self.n_tasks, 1))

    def diagnostics(self) -> Diagnostics:
        """How well the chain has mixed: the number of classes and the number of tasks in the class of each task."""
        z = self._draws("diagnostics")
        return diagnose(
            np.column_stack([cluster_counts(z), *((z == z[:, [m]]).sum(axis=1) for m in range(z.shape[1]))])
        )

    # Tasks -----------------------------------------------------------------------------------------------------------

    def task(self, index: int, draws: int | None = None) -> DirichletMixture:
        """The belief about one task: for each drawn clustering, the Dirichlet rows of its class. It can go on learning.

        `draws` is how many of the stored clusterings are used, evenly spaced; None: all.
        """
        owner = "HierarchicalMDP.task"
        hint = "new_task() is the belief about a task that has no data."
        if not self.n_tasks:
            raise InvalidArgument(owner, "index", "the number of a task that has data", index, hint)
        m = integer(owner, "index", index, 0, self.n_tasks - 1)
        z = self._draws("task", draws)
        return self._mixture([(members, 1.0) for members in z == z[:, [m]]])

    def new_task(self, draws: int | None = None) -> DirichletMixture:
        """The belief about the next task: a class of n of the M tasks has weight n / (M + c), a new one c / (M + c).

        If c is unknown, it is its mean given the number of classes of the draw.
        """
        z, M = self._draws("new_task", draws), self.n_tasks
        c = weight_of_new(self.concentration, cluster_counts(z), M + 1)
        old = [
            (labels == j, (labels == j).sum() / (M + c[i]))
            for i, labels in enumerate(z)
            for j in range(labels.max(initial=-1) + 1)
        ]
        new = [(np.zeros(M, np.bool_), n * x / (M + x)) for x, n in zip(*np.unique(c, return_counts=True), strict=True)]
        return self._mixture(old + new)

    def sample(self, rng: Generator, tasks: int | None = None) -> tuple[TabularMDP, ...]:
        """One model for each task, drawn together: tasks of a class have the same one.

        `tasks` is the number of tasks; those beyond the ones seen are new. None: the tasks seen.
        """
        generator("HierarchicalMDP.sample", rng)
        z = self._draws("sample")
        first = z[int(rng.random() * len(z))]
        n = self.n_tasks if tasks is None else integer("HierarchicalMDP.sample", "tasks", tasks, self.n_tasks)
        labels = draw_clustering(n, self.concentration, rng, first)
        members = [labels[: self.n_tasks] == j for j in range(labels.max(initial=-1) + 1)]
        models = [self._class(one).sample_mdp(rng) for one in members]
        return tuple(models[j] for j in labels)

    def _mixture(self, weighted: list[tuple[Any, float]]) -> DirichletMixture:
        """The mixture over classes with these members; equal ones are put together."""
        weights, classes = dict[bytes, float](), dict[bytes, Any]()
        for members, weight in weighted:
            key = members.tobytes()
            weights[key], classes[key] = weights.get(key, 0.0) + weight, members
        w = np.array(list(weights.values()))
        return DirichletMixture(tuple(map(self._class, classes.values())), w / w.sum())

    def _class(self, members: Any) -> DirichletMDP:
        """The posterior of a class with these tasks."""
        prior: DirichletMDP = self.problem
        tasks = [self.data[m] for m in np.flatnonzero(members)]
        if not tasks:
            return prior
        cells, counts = (np.concatenate(x) for x in zip(*tasks, strict=True))
        more = np.bincount(cells, counts, prior.alpha.size).reshape(prior.alpha.shape)
        return DirichletMDP(prior.outcomes, prior.alpha + more, prior.gamma, prior.known)

    def _draws(self, asked: str, draws: int | None = None) -> Ints:
        """The drawn clusterings, or as many of them as asked for. Up to one task there is only one clustering."""
        z = self.assignments
        if not len(z) and self.n_tasks > 1:
            hint = "refresh(rng, sweeps) draws classes; update drops the draws of the posterior before."
            raise InvalidArgument(f"HierarchicalMDP.{asked}", "belief", "one that was refreshed", self, hint)
        if not len(z):
            z = np.zeros((1, self.n_tasks), np.int64)
        n = len(z) if draws is None else integer(f"HierarchicalMDP.{asked}", "draws", draws, 1)
        return z if n >= len(z) else z[np.linspace(0, len(z) - 1, n).round().astype(int)]

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> Outcomes:  # type: ignore[override]
        """The possible outcomes and their groups, of every task."""
        found: Outcomes = self.problem.outcomes
        return found

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""
        return float(self.problem.gamma)
