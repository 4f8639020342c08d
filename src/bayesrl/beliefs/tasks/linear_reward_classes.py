"""Classes of tasks whose rewards are linear in features (Wilson, Fern, Ray, Tadepalli 2007; survey §7.4).

The reward of a step of task m is w_m . features + N(0, noise^2). The weights of a task are N(phi, class_covariance),
where phi is the mean of its class, and phi is N(base_mean, base_covariance). Tasks fall into classes by a Chinese
restaurant process. A new task of a known class begins with a narrow prior, one of a new class with the base.

Paper to code (recalled, not re-read): the model of the coloured mazes, with the covariance of a class known; sampling
classes is `refresh`. Deviations: as recalled, the paper draws the means of classes and auxiliary new classes
(Neal's algorithm 8). Here weights and means are integrated out: the model is Gaussian, so that a task's weight for each
class has a closed form, and the chain moves over clusterings alone. A sweep also proposes to split or to merge classes
(Dahl 2005): where the base is wide, one task alone does not leave a class of two kinds. A learnt c is ours.
Cost: an update O(M d^2); a sweep O(M classes d^3).
Claims: draws follow the enumerated posterior of all clusterings, with the evidence of dense Gaussians; calibration.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.beliefs.chain import FEW, Diagnostics, diagnose, warn_if_poor
from bayesrl.beliefs.crp import (
    LogUniform,
    check_concentration,
    cluster_counts,
    draw_clustering,
    mean_clusters,
    relabelled,
    together,
    weight_of_new,
)
from bayesrl.beliefs.tasks._splits_of_weights import split_or_merge
from bayesrl.beliefs.tasks.hierarchical_mdp import MOST_TASKS
from bayesrl.beliefs.values.linear_model import log_partition, seen_through
from bayesrl.checks import Bools, Floats, Ints, array, frozen, generator, integer, number, sequence
from bayesrl.errors import InvalidArgument
from bayesrl.models.riccati import semidefinite
from bayesrl.parameters import Above, Shape, unchecked, value
from bayesrl.traits import Traits

NAME = "LinearRewardClasses"


class Weights(NamedTuple):
    """The posterior moments of the weights of one task."""

    mean: Floats
    """(d,)."""
    covariance: Floats
    """(d, d)."""


@explain_failures
@value
class LinearRewardClasses:
    """Reward weights of tasks in an unknown number of classes. A datum is (task, features, reward).

    Examples
    --------
    Three tasks pay for the first feature and two for the second. The third task of five has a single datum:

    >>> belief = LinearRewardClasses(1.0, 0.1, 0.01 * np.eye(2), [0.0, 0.0], np.eye(2))
    >>> belief = belief.update_many([(m, [1.0, 0.0], float(m < 3)) for m in (0, 1, 2, 3, 4)])
    >>> belief = belief.update_many([(m, [0.0, 1.0], float(m >= 3)) for m in (0, 1, 3, 4)])
    >>> belief = belief.refresh(np.random.default_rng(0), sweeps=200)
    >>> belief.means()[2].round(1).tolist(), belief.co_class()[0].round().tolist()
    ([1.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0])
    """

    concentration: Annotated[
        float | LogUniform,
        Above(0),
        "Concentration of the Chinese restaurant process over classes, c; LogUniform() if it is to be learnt.",
    ]
    noise: Annotated[float, Above(0), "Standard deviation of a reward."]
    class_covariance: Annotated[Floats, Shape("(d, d)"), "Covariance of the weights of a class around its mean."]
    base_mean: Annotated[Floats, Shape("(d,)"), "Mean of the classes' means."]
    base_covariance: Annotated[Floats, Shape("(d, d)"), "Covariance of the classes' means."]
    gram: Floats = field(init=False, repr=False)
    """Sum of features features' / noise^2 of each task, (M, d, d)."""
    moment: Floats = field(init=False, repr=False)
    """Sum of features reward / noise^2 of each task, (M, d)."""
    labels: Ints = field(init=False, repr=False)
    """The state of the chain: the class of each task, (M,); -1 for a task that was in no sweep yet."""
    assignments: Ints = field(init=False, repr=False)
    """The drawn classes of the tasks, (n, M), numbered in the order of their first task."""

    traits: ClassVar[Traits] = Traits(grows=("gram", "moment", "labels", "assignments"))

    def __post_init__(self) -> None:
        set_, mean = object.__setattr__, array(NAME, "base_mean", self.base_mean, (None,), moderate=True)
        d = len(mean)
        for name in ("class_covariance", "base_covariance"):
            semidefinite(NAME, name, array(NAME, name, getattr(self, name), (d, d), moderate=True), definite=True)
        set_(self, "concentration", check_concentration(NAME, self.concentration))
        set_(self, "noise", float(self.noise))
        set_(self, "gram", frozen(np.zeros((0, d, d))))
        set_(self, "moment", frozen(np.zeros((0, d))))
        set_(self, "labels", frozen(np.zeros(0, np.int64)))
        set_(self, "assignments", frozen(np.zeros((0, 0), np.int64)))

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        M, d = len(self.moment), len(self.base_mean)
        if self.gram.shape != (M, d, d) or self.moment.shape != (M, d):
            raise InvalidArgument(NAME, "gram", f"that of {M} tasks", self.gram)
        for name, x, axes, low in (("labels", self.labels, 1, -1), ("assignments", self.assignments, 2, 0)):
            if x.ndim != axes or x.shape[-1] != M or ((x < low) | (x >= max(M, 1))).any():
                raise InvalidArgument(NAME, name, f"classes of {M} tasks", x)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: tuple[int, ArrayLike, float], rng: Generator | None = None) -> LinearRewardClasses:
        """The belief after a reward of one task. Draws of the old posterior are dropped; see `refresh`."""
        return self._learn([datum], "update")

    def update_many(self, log: Any, rng: Generator | None = None) -> LinearRewardClasses:
        """The belief after several data (task, features, reward)."""
        owner = f"{NAME}.update_many"
        return self._learn(list(sequence(owner, "log", log, "a sequence of (task, features, reward)")), "update_many")

    def _learn(self, data: list[Any], asked: str) -> LinearRewardClasses:
        owner, d, read = f"{NAME}.{asked}", len(self.base_mean), []
        for datum in data:
            if not isinstance(datum, (tuple, list)) or len(datum) != 3:
                raise InvalidArgument(owner, "datum", "a task, its features and a reward", datum)
            m = integer(owner, "task", datum[0], 0, MOST_TASKS - 1)
            x = array(owner, "features", datum[1], (d,), moderate=True)
            read.append((m, x, number(owner, "reward", datum[2], moderate=True)))
        M, more = self.n_tasks, max((m for m, _, _ in read), default=-1) + 1 - self.n_tasks
        gram = np.concatenate([self.gram, np.zeros((max(more, 0), d, d))])
        moment = np.concatenate([self.moment, np.zeros((max(more, 0), d))])
        for m, x, r in read:
            gram[m] += np.outer(x, x) / self.noise**2
            moment[m] += x * (r / self.noise**2)
        labels = np.append(self.labels, np.full(len(gram) - M, -1, np.int64))
        none = frozen(np.zeros((0, len(gram)), np.int64))
        return unchecked(self, gram=frozen(gram), moment=frozen(moment), labels=frozen(labels), assignments=none)

    def refresh(self, rng: Generator, sweeps: int = 1) -> LinearRewardClasses:
        """The belief after further sweeps of the chain, each of which adds a draw. A badly mixed chain warns."""
        generator(f"{NAME}.refresh", rng)
        drawn = np.zeros((integer(f"{NAME}.refresh", "sweeps", sweeps, 1), self.n_tasks), np.int64)
        z, told = np.array(self.labels), seen_through(self.gram, self.moment, self.class_covariance)
        for i in range(len(drawn)):
            self._sweep(z, *told, rng)
            z = drawn[i] = relabelled(z)
        kept = np.concatenate([self.assignments, drawn]) if len(self.assignments) else drawn
        new = unchecked(self, labels=frozen(z), assignments=frozen(kept))
        if len(kept) >= 10 * FEW:
            warn_if_poor(f"{NAME}.refresh", new.diagnostics())
        return new

    def _sweep(self, z: Ints, precision: Floats, shift: Floats, rng: Generator) -> None:
        """Draw the class of one task after the other, given the others; z (M,) changes in place."""
        for m in range(len(z)):
            names, log_w = self._choices(z, m, precision, shift)
            w = np.cumsum(np.exp(log_w - log_w.max()))
            z[m] = names[int(np.searchsorted(w, rng.random() * w[-1], side="right"))]
        if len(z) > 1:
            new = weight_of_new(self.concentration, np.arange(len(z) + 1), len(z))
            split_or_merge(z, new, self._base(), (precision, shift), rng)

    def _choices(self, z: Ints, m: int, precision: Floats, shift: Floats) -> tuple[Ints, Floats]:
        """The classes of the other tasks and a new one, and the log weights with which task m joins them.

        The weight of class j is n_j Z(P_j + its precision, eta_j + its shift) / Z(P_j, eta_j).
        """
        P0, eta0 = self._base()
        others = np.where(np.arange(len(z)) == m, -1, z)
        names, sizes = np.unique(others[others >= 0], return_counts=True)
        inside = (others == names[:, None]).astype(float)
        P = np.concatenate([P0 + np.tensordot(inside, precision, axes=1), P0[None]])
        eta = np.concatenate([eta0 + inside @ shift, eta0[None]])
        new = weight_of_new(self.concentration, len(names), len(z))
        log_w = np.log(np.append(sizes, new)) - log_partition(P, eta)
        log_w += log_partition(P + precision[m], eta + shift[m])
        return np.append(names, names.max(initial=-1) + 1), log_w

    def _base(self) -> tuple[Floats, Floats]:
        P0 = np.asarray(np.linalg.inv(self.base_covariance), np.float64)
        return P0, P0 @ self.base_mean

    # Classes ---------------------------------------------------------------------------------------------------------

    @property
    def n_tasks(self) -> int:
        """M: one more than the largest task number seen."""
        return len(self.moment)

    def co_class(self) -> Floats:
        """Posterior probability that two tasks are of one class, (M, M)."""
        return together(self._draws("co_class"))

    def n_classes(self) -> float:
        """Posterior mean of the number of classes among the tasks seen."""
        return mean_clusters(self._draws("n_classes"))

    def diagnostics(self) -> Diagnostics:
        """How well the chain has mixed: the number of classes and the number of tasks in the class of each task."""
        z = self._draws("diagnostics")
        sizes = [(z == z[:, [m]]).sum(axis=1) for m in range(z.shape[1])]
        return diagnose(np.column_stack([cluster_counts(z), *sizes]))

    # Weights ---------------------------------------------------------------------------------------------------------

    def means(self) -> Floats:
        """Posterior mean of the weights of each task, (M, d)."""
        self._draws("means")
        return np.array([self.task(m).mean for m in range(self.n_tasks)]).reshape(self.n_tasks, len(self.base_mean))

    def task(self, index: int) -> Weights:
        """Posterior mean and covariance of the weights of one task."""
        hint = "new_task() has the weights of a task without data."
        if not self.n_tasks:
            raise InvalidArgument(f"{NAME}.task", "index", "the number of a task that has data", index, hint)
        m = integer(f"{NAME}.task", "index", index, 0, self.n_tasks - 1)
        z = self._draws("task")
        return self._mixed([(members, 1.0) for members in z == z[:, [m]]], self.gram[m], self.moment[m])

    def new_task(self, log: Any = ()) -> Weights:
        """Mean and covariance of the weights of the next task, after data (features, reward) of its own, if any."""
        seen, weighted, _ = self._next("new_task", log)
        return seen._mixed(weighted, seen.gram[-1], seen.moment[-1])

    def log_predictive(self, log: Any) -> float:
        """The log density of the rewards in data (features, reward) of the next task."""
        return self._next("log_predictive", log)[2]

    def _next(self, asked: str, log: Any) -> tuple[LinearRewardClasses, list[tuple[Bools, float]], float]:
        """The belief with the next task's data, the classes it may be in with their probabilities, its log density."""
        z, M, C = self._draws(asked), self.n_tasks, self.class_covariance
        given = [(M, *pair) for pair in pairs(f"{NAME}.{asked}", log)]
        seen = self._learn(given or [(M, np.zeros_like(self.base_mean), 0.0)], asked)
        A, b = seen.gram[M], seen.moment[M]
        c = weight_of_new(self.concentration, cluster_counts(z), M + 1)  # one for each draw
        drawn = [
            (labels == j, n / (M + x))
            for labels, x in zip(z, c, strict=True)
            for j, n in enumerate(np.bincount(labels))
        ]
        members, shares = merged([*drawn, (np.zeros(M, np.bool_), float((c / (M + c)).sum()))])
        (precision, shift), (P0, eta0) = seen_through(seen.gram, seen.moment, C), self._base()
        P, eta = P0 + np.tensordot(members.astype(float), precision[:M], axes=1), eta0 + members @ shift[:M]
        log_w = np.log(shares) + log_partition(P + precision[M], eta + shift[M]) - log_partition(P, eta)
        total = np.logaddexp.reduce(log_w)
        r = np.array([float(reward) for _, _, reward in given]) / self.noise
        rest = b @ self._given(0.0 * b, A, b)[0] - r @ r - np.linalg.slogdet(np.eye(len(C)) + C @ A)[1]
        rest -= len(r) * np.log(2.0 * np.pi * self.noise**2)
        inside = np.column_stack([members, np.ones(len(members), np.bool_)])
        return seen, list(zip(inside, np.exp(log_w - total), strict=True)), float(total + 0.5 * rest)

    def sample(self, rng: Generator, tasks: int | None = None) -> Floats:
        """The weights of all tasks, drawn together, (M, d). `tasks` is their number; those beyond the seen are new."""
        generator(f"{NAME}.sample", rng)
        z = self._draws("sample")
        n = self.n_tasks if tasks is None else integer(f"{NAME}.sample", "tasks", tasks, self.n_tasks)
        labels = draw_clustering(n, self.concentration, rng, z[int(rng.random() * len(z))])
        more = n - self.n_tasks
        gram = np.concatenate([self.gram, np.zeros((more, *self.class_covariance.shape))])
        moment = np.concatenate([self.moment, np.zeros((more, len(self.base_mean)))])
        phi = [
            rng.multivariate_normal(*self._class(labels[: self.n_tasks] == j))
            for j in range(labels.max(initial=-1) + 1)
        ]
        found = [self._given(phi[j], A, b) for j, A, b in zip(labels, gram, moment, strict=True)]
        return np.array([rng.multivariate_normal(mean, C) for mean, C, _ in found]).reshape(n, len(self.base_mean))

    def _class(self, members: Bools) -> Weights:
        """The posterior of the mean of a class with these tasks."""
        precision, shift = seen_through(self.gram[members], self.moment[members], self.class_covariance)
        P0, eta0 = self._base()
        covariance = np.linalg.inv(P0 + precision.sum(axis=0))
        return Weights(covariance @ (eta0 + shift.sum(axis=0)), (covariance + covariance.T) / 2.0)

    def _given(self, phi: Floats, A: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Mean and covariance of weights with information A, b, given the mean phi of their class; d mean / d phi."""
        C = self.class_covariance
        keep = np.asarray(np.linalg.inv(np.eye(len(C)) + C @ A), np.float64)
        return keep @ (phi + C @ b), (keep @ C + (keep @ C).T) / 2.0, keep

    def _mixed(self, weighted: list[tuple[Bools, float]], A: Floats, b: Floats) -> Weights:
        """The moments of weights with information A, b over classes with these members; equal ones are put together."""
        classes, w = merged(weighted)
        means, spread = [], np.zeros_like(self.class_covariance)
        for share, members in zip(w, classes, strict=True):
            phi, S = self._class(members)
            mean, C, keep = self._given(phi, A, b)
            means.append(mean)
            spread = spread + share * (C + keep @ S @ keep.T)
        mean = w @ np.array(means)
        apart = np.array(means) - mean
        return Weights(mean, spread + (apart.T * w) @ apart)

    def _draws(self, asked: str) -> Ints:
        """The drawn clusterings. Up to one task there is only one clustering."""
        if len(self.assignments):
            return self.assignments
        if self.n_tasks > 1:
            hint = "refresh(rng, sweeps) draws classes; update drops the draws of the posterior before."
            raise InvalidArgument(f"{NAME}.{asked}", "belief", "one that was refreshed", self, hint)
        return np.zeros((1, self.n_tasks), np.int64)


def merged(weighted: list[tuple[Bools, float]]) -> tuple[Bools, Floats]:
    """The different classes by their members, (K, M), and their weights, which sum to one."""
    weights = dict[bytes, float]()
    for members, weight in weighted:
        key = members.tobytes()
        weights[key] = weights.get(key, 0.0) + weight
    classes = {members.tobytes(): members for members, _ in weighted}
    return np.array([classes[key] for key in weights]), np.array(list(weights.values())) / sum(weights.values())


def pairs(owner: str, log: Any) -> list[Any]:
    """Read data (features, reward)."""
    found = list(sequence(owner, "log", log, "a sequence of (features, reward)"))
    for pair in found:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InvalidArgument(owner, "datum", "features and a reward", pair)
    return found
