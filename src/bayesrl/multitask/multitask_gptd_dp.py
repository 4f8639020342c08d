"""Values of tasks of several classes: a Dirichlet process of common priors (Lazaric and Ghavamzadeh 2010; survey §7.4).

If tasks do not belong together, one common prior hurts (negative transfer). Here tasks fall into classes by a Chinese
restaurant process with parameter c. Class k has its own prior N(mu_k, Sigma_k) of the weights, drawn from the
normal-inverse-Wishart base of `multitask-gptd`. The number of classes is not given; c may be learnt too
(`LogUniform`).

Paper to code: the sweeps are `_class_sampler.sample`; transfer to a further task is `transfer`.
Deviations: beside draws of the classes with auxiliary variables, a sweep draws them given the weights, with (mu, Sigma)
integrated out, and splits or merges classes: with many features the chain would not leave one class otherwise.
`transfer` is exact given the draws: a further task belongs to class k of a draw with probability proportional to n_k,
and to a new class to c, times the density of its rewards. The chain begins with one class, mu = 0 and Sigma = I.
Cost: O(M (K + a) d^3 + M^2 d^2) a sweep for K classes and a auxiliary ones, whatever the length of the logs.
Claims: equal to enumerated partitions; calibrated; one class as c tends to 0, all apart as it tends to infinity.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp, softmax

from bayesrl._explained import explain_failures
from bayesrl.beliefs.chain import Diagnostics, diagnose, warn_if_poor
from bayesrl.beliefs.crp import (
    LogUniform,
    check_concentration,
    cluster_counts,
    mean_clusters,
    together,
    weight_of_new,
)
from bayesrl.checks import Floats, Ints, frozen, generator
from bayesrl.errors import InvalidArgument
from bayesrl.multitask._class_sampler import Chain, Draws, Problem, sample
from bayesrl.multitask.value_tasks import Given, Noise, base_of, condition, read_tasks
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register

OWNER = "MultitaskGPTDDP"
BLOCK = 100
"""Sweeps of one compiled call."""


@explain_failures
@value
class MultitaskGPTDDPSolution:
    """Draws from the posterior of the classes and the weights of the tasks."""

    weights: Annotated[Floats, Shape("(M, d)"), "Posterior mean of each task's weights."]
    samples: Annotated[Floats, Shape("(n, M, d)"), "Drawn weights."]
    assignments: Annotated[Ints, Shape("(n, M)"), "Drawn classes, numbered in the order of their first task."]
    class_means: Annotated[Floats, Shape("(N, d)"), "mu of each draw's classes and of a new one, draw after draw."]
    class_covariances: Annotated[Floats, Shape("(N, d, d)"), "Their Sigma."]
    concentration: Annotated[float | LogUniform, Above(0.0), "Parameter of the Chinese restaurant process, c."]
    noise: Annotated[float, Above(0.0), "Standard deviation of the noise, sigma."]
    coloured: Annotated[bool, "Whether the noise is that of Monte-Carlo returns."]
    gamma: Annotated[float | None, DISCOUNT, "Discount of coloured noise for tasks without G."]

    def __post_init__(self) -> None:
        labels = frozen(np.asarray(self.assignments).astype(np.int64))
        object.__setattr__(self, "assignments", labels)
        owner = type(self).__name__
        object.__setattr__(self, "concentration", check_concentration(owner, self.concentration))
        if labels.ndim != 2 or self.samples.shape[:2] != labels.shape:
            raise InvalidArgument(owner, "assignments", "a class for each drawn task", labels)
        N = (cluster_counts(labels) + 1).sum()
        if self.class_means.shape[:1] != (N,) or self.class_covariances.shape[:1] != (N,):
            raise InvalidArgument(owner, "class_means", "those of each draw's classes and a new one", self.class_means)

    def co_class(self) -> Floats:
        """Posterior probability that two tasks are of one class, (M, M)."""
        return frozen(together(self.assignments))

    def n_classes(self) -> float:
        """Posterior mean of the number of classes."""
        return mean_clusters(self.assignments)

    def diagnostics(self) -> Diagnostics:
        """How well the chain has mixed: the number of classes, then each weight."""
        n = len(self.samples)
        return diagnose(np.column_stack([cluster_counts(self.assignments), self.samples.reshape(n, -1)]))

    def transfer(self, task: tuple[Any, ...]) -> tuple[Floats, Floats]:
        """The posterior of a further task's weights: mean (d,) and covariance (d, d) of the mixture of classes."""
        found, log_p = self._given("MultitaskGPTDDPSolution.transfer", task)
        p = softmax(log_p)
        mean = p @ found.w
        off = found.w - mean
        return frozen(mean), frozen(np.tensordot(p, found.C, 1) + (p[:, None] * off).T @ off)

    def log_predictive(self, task: tuple[Any, ...]) -> float:
        """The log density of a further task's rewards."""
        return float(logsumexp(self._given("MultitaskGPTDDPSolution.log_predictive", task)[1]))

    def _given(self, owner: str, task: tuple[Any, ...]) -> tuple[Given, Floats]:
        """The posterior given each class of each draw, and the log of prior times density of the rewards."""
        d, (n, M) = self.class_means.shape[1], self.assignments.shape
        one = read_tasks(owner, (task,), Noise(self.noise, self.coloured, self.gamma), d)
        found = condition(one, self.class_means, self.class_covariances)
        c = weight_of_new(self.concentration, cluster_counts(self.assignments), M + 1)
        shares = [np.append(np.bincount(z), new) / (n * (M + new)) for z, new in zip(self.assignments, c, strict=True)]
        return found, np.log(np.concatenate(shares)) + found.log_evidence


@register(
    "multitask-gptd-dp",
    kind="solver",
    survey="7.4",
    paper="Lazaric10BM",
    example=lambda: MultitaskGPTDDP(noise=0.5, sweeps=50, burn_in=10),
    evidence=(
        "tests/multitask/test_multitask_gptd_dp.py::test_equal_to_enumerated_partitions",
        "tests/multitask/test_multitask_gptd_dp.py::test_calibrated",
        "tests/multitask/test_multitask_gptd_dp.py::test_transfer_is_the_mixture_over_enumerated_partitions",
    ),
)
@value
class MultitaskGPTDDP:
    """Learn the values of several tasks of unknown classes, each class with its own Gaussian prior.

    Examples
    --------
    >>> tasks = [(np.eye(1), [r]) for r in (5.0, 5.2, -5.0, -4.8)]
    >>> solver = MultitaskGPTDDP(noise=0.5, concentration=0.5, strength=0.05, degrees=6.0, scale=[[0.5]], sweeps=500)
    >>> found = solver.solve(tasks, np.random.default_rng(0))
    >>> (found.co_class()[0] > 0.5).tolist()  # which tasks belong to the first one
    [True, True, False, False]
    """

    noise: Annotated[float, Above(0.0), "Standard deviation of the noise, sigma."] = 1.0
    concentration: Annotated[
        float | LogUniform,
        Above(0.0),
        "Parameter of the Chinese restaurant process, c; LogUniform() if it is to be learnt.",
    ] = 1.0
    strength: Annotated[float, Above(0.0), "Tasks that the base of a mean is worth, kappa."] = 1.0
    degrees: Annotated[float | None, "Degrees of freedom, nu, more than d - 1; None: d + 2."] = None
    scale: Annotated[Floats | None, Shape("(d, d)"), "Psi; a number is a multiple of I, None: I."] = None
    sweeps: Annotated[int, AtLeast(1), "Draws that are kept."] = 1000
    burn_in: Annotated[int, AtLeast(0), "Sweeps before them."] = 200
    auxiliary: Annotated[int, AtLeast(1), "New classes that a task may choose from in a sweep, a."] = 3
    coloured: Annotated[bool, "Whether the noise is that of Monte-Carlo returns, sigma^2 G G'."] = False
    gamma: Annotated[float | None, DISCOUNT, "Discount of coloured noise for tasks without G."] = None

    def __post_init__(self) -> None:
        check_concentration(OWNER, self.concentration)
        if self.scale is not None:
            base_of(OWNER, self.strength, self.degrees, self.scale, len(np.atleast_1d(self.scale)))

    def solve(self, tasks: Any, rng: Generator | None = None) -> MultitaskGPTDDPSolution:
        """Draw classes and weights given tasks (H, r)."""
        data = read_tasks(OWNER, tasks, Noise(self.noise, self.coloured, self.gamma))
        M, d = data.y.shape
        base = base_of(OWNER, self.strength, self.degrees, self.scale, d)
        rng = generator(OWNER, rng)
        a, c = int(self.auxiliary), weight_of_new(self.concentration, np.arange(M + 1), M).astype(np.float64)
        p = Problem(np.array(data.B), np.array(data.y), np.array(base.Psi), base.kappa, base.nu, c, a)
        x = Chain(
            np.zeros(M, np.int64), np.zeros(M + a), np.zeros((M + a, d)), np.zeros((M + a, d, d)), np.zeros((M, d))
        )
        x.size[0] = M
        x.S[0] = np.eye(d)
        if self.burn_in:
            sweep_blocks(rng, p, x, self.burn_in)
        z, w, w_mean, mu, S = sweep_blocks(rng, p, x, self.sweeps)
        if not np.isfinite(w_mean).all():
            raise InvalidArgument(OWNER, "scale", "of the size of the tasks' weights", self.scale, "Numbers overflow.")
        made = MultitaskGPTDDPSolution(
            w_mean.mean(axis=0), w, z, mu, S @ np.swapaxes(S, 1, 2), self.concentration, float(self.noise),
            bool(self.coloured), self.gamma,
        )  # fmt: skip
        warn_if_poor(OWNER, made.diagnostics())
        return made


def sweep_blocks(rng: Generator, p: Problem, x: Chain, sweeps: int) -> tuple[Ints, Floats, Floats, Floats, Floats]:
    """Draws of z, w and its mean given the classes, and mu and S of the classes in use, draw after draw."""
    M, d = p.y.shape
    blocks = []
    for first in range(0, sweeps, BLOCK):
        n = min(BLOCK, sweeps - first)
        z, w, mu, S = (
            np.zeros((n, M), np.int64),
            np.zeros((n, M, d)),
            np.zeros((n, M + 1, d)),
            np.zeros((n, M + 1, d, d)),
        )
        out = Draws(z, w, np.zeros((n, M, d)), mu, S)
        sample(rng, p, x, out)
        used = np.arange(M + 1) <= cluster_counts(out.z)[:, None]
        blocks.append((out.z, out.w, out.w_mean, out.mu[used], out.S[used]))
    parts = [np.concatenate(part) for part in zip(*blocks, strict=True)]
    return parts[0], parts[1], parts[2], parts[3], parts[4]
