"""Values of several tasks with a common Gaussian prior, learned by EM (Lazaric and Ghavamzadeh 2010; survey §7.4).

Task m has rewards r = H w_m + noise, with H = Phi - gamma Phi', and weights w_m ~ N(mu, Sigma). The prior of (mu,
Sigma) is normal-inverse-Wishart: mu ~ N(0, Sigma / kappa), Sigma ~ IW(nu, Psi). EM maximises

    log p(mu, Sigma) + sum_m log N(r_m; H mu, H Sigma H' + noise),

where the weights are integrated out. With C_m and w_m the covariance and the mean of the weights given (mu, Sigma),

    mu    = sum_m w_m / (kappa + M),
    Sigma = [Psi + kappa mu mu' + sum_m (C_m + (w_m - mu)(w_m - mu)')] / (nu + d + 2 + M).

This M step is the exact maximiser: the exponent of |Sigma| in the expected log density is -(nu + d + 2 + M) / 2. So
the trace never falls. The result is the prior of a further task (`transfer`).

Paper to code: E step `condition`, M step `m_step`, the objective `log_prior` + evidence.
Deviations: logs are reduced to (d, d) matrices first (`value_tasks.py`); EM stops where the estimated distance from
its limit is below `tol`. Cost: O(M d^3) an iteration, whatever the length of the logs.
Claims: the fixed point is a maximum of the objective, found by direct maximisation too; the trace never falls.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, frozen
from bayesrl.errors import NotConverged
from bayesrl.multitask.value_tasks import Base, Given, Noise, Tasks, base_of, condition, read_tasks
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register

OWNER = "MultitaskGPTD"


@explain_failures
@value
class MultitaskGPTDSolution:
    """The most probable common prior, and the weights of each task given it."""

    mean: Annotated[Floats, Shape("(d,)"), "Mean of the weights, mu."]
    covariance: Annotated[Floats, Shape("(d, d)"), "Covariance of the weights, Sigma."]
    weights: Annotated[Floats, Shape("(M, d)"), "Posterior mean of each task's weights."]
    covariances: Annotated[Floats, Shape("(M, d, d)"), "Posterior covariance of each task's weights, C_m."]
    trace: Annotated[Floats, Shape("(n,)"), "The objective before the first and after each iteration."]
    noise: Annotated[float, Above(0.0), "Standard deviation of the noise, sigma."]
    coloured: Annotated[bool, "Whether the noise is that of Monte-Carlo returns."]
    gamma: Annotated[float | None, DISCOUNT, "Discount of coloured noise for tasks without G."]

    def transfer(self, task: tuple[Any, ...]) -> tuple[Floats, Floats]:
        """The posterior of a further task's weights: mean (d,) and covariance (d, d)."""
        found = self._given("MultitaskGPTDSolution.transfer", task)
        return frozen(found.w[0]), frozen(found.C[0])

    def log_predictive(self, task: tuple[Any, ...]) -> float:
        """The log density of a further task's rewards."""
        return float(self._given("MultitaskGPTDSolution.log_predictive", task).log_evidence[0])

    def _given(self, owner: str, task: tuple[Any, ...]) -> Given:
        noise = Noise(self.noise, self.coloured, self.gamma)
        tasks = read_tasks(owner, (task,), noise, len(self.mean))
        return condition(tasks, self.mean, self.covariance)


@register(
    "multitask-gptd",
    kind="solver",
    survey="7.4",
    paper="Lazaric10BM",
    example=lambda: MultitaskGPTD(noise=0.5),
    evidence=(
        "tests/multitask/test_multitask_gptd.py::test_the_fixed_point_is_the_direct_maximum",
        "tests/multitask/test_multitask_gptd.py::test_equal_to_a_transcription",
        "tests/multitask/test_multitask_gptd.py::test_the_trace_is_the_objective_and_never_falls",
    ),
)
@value
class MultitaskGPTD:
    """Learn the values of several tasks and their common Gaussian prior by EM.

    Examples
    --------
    >>> H = np.eye(2)
    >>> tasks = [(H, [1.0, 0.2]), (H, [1.2, -0.1]), (H, [0.8, 0.0])]
    >>> found = MultitaskGPTD(noise=0.1, strength=0.1, degrees=4.0, scale=0.1 * np.eye(2)).solve(tasks)
    >>> found.mean.round(2).tolist()
    [0.95, 0.03]
    >>> mean, covariance = found.transfer((H[:1], [1.1]))  # one step of a further task
    >>> mean.round(2).tolist()
    [1.06, 0.03]
    """

    noise: Annotated[float, Above(0.0), "Standard deviation of the noise, sigma."] = 1.0
    strength: Annotated[float, Above(0.0), "Tasks that the prior of the mean is worth, kappa."] = 1.0
    degrees: Annotated[float | None, "Degrees of freedom, nu, more than d - 1; None: d + 2."] = None
    scale: Annotated[Floats | None, Shape("(d, d)"), "Psi; a number is a multiple of I, None: I."] = None
    coloured: Annotated[bool, "Whether the noise is that of Monte-Carlo returns, sigma^2 G G'."] = False
    gamma: Annotated[float | None, DISCOUNT, "Discount of coloured noise for tasks without G."] = None
    tol: Annotated[float, Above(0.0), "Accepted distance from the fixed point, as a share of its size."] = 1e-10
    iterations: Annotated[int, AtLeast(1), "Most iterations."] = 100_000

    def __post_init__(self) -> None:
        if self.scale is not None:
            base_of(OWNER, self.strength, self.degrees, self.scale, len(np.atleast_1d(self.scale)))

    def solve(self, tasks: Any, rng: Generator | None = None) -> MultitaskGPTDSolution:
        """The most probable prior of tasks (H, r); nothing is random."""
        data = read_tasks(OWNER, tasks, Noise(self.noise, self.coloured, self.gamma))
        d = data.y.shape[1]
        base = base_of(OWNER, self.strength, self.degrees, self.scale, d)
        mu, Sigma, trace = np.zeros(d), np.eye(d), list[float]()
        last, left, rate = 0.0, np.inf, np.inf
        for _ in range(self.iterations):
            found = condition(data, mu, Sigma)
            trace.append(float(log_prior(base, mu, Sigma) + found.log_evidence.sum()))
            new = m_step(base, found)
            step = distance((mu, Sigma), new)
            before, rate = rate, step / last if last > 0.0 else np.inf
            slow = max(before, rate)  # of the last two rates
            left = step * slow / (1.0 - slow) if slow < 1.0 else np.inf  # the sum of all later steps
            (mu, Sigma), last = new, step
            if left <= self.tol or step < 1e-15:
                return self._solution(data, base, mu, Sigma, trace)
        best = self._solution(data, base, mu, Sigma, trace)
        raise NotConverged(OWNER, best, float(left), f"{self.iterations} iterations")

    def _solution(
        self, data: Tasks, base: Base, mu: Floats, Sigma: Floats, trace: list[float]
    ) -> MultitaskGPTDSolution:
        found = condition(data, mu, Sigma)
        last = float(log_prior(base, mu, Sigma) + found.log_evidence.sum())
        kept = (float(self.noise), bool(self.coloured), self.gamma)
        return MultitaskGPTDSolution(mu, Sigma, found.w, found.C, np.array([*trace, last]), *kept)


def m_step(base: Base, found: Given) -> tuple[Floats, Floats]:
    """The (mu, Sigma) of largest expected log density, given the posterior of the weights."""
    kappa, nu, Psi = base
    M, d = found.w.shape
    mu = found.w.sum(axis=0) / (kappa + M)
    off = found.w - mu
    Sigma = (Psi + kappa * np.outer(mu, mu) + found.C.sum(axis=0) + off.T @ off) / (nu + d + 2.0 + M)
    return mu, 0.5 * (Sigma + Sigma.T)


def log_prior(base: Base, mu: Floats, Sigma: Floats) -> float:
    """The log density of the normal-inverse-Wishart distribution at (mu, Sigma)."""
    kappa, nu, Psi = base
    d = len(mu)
    log_det, log_det_Psi = (float(np.linalg.slogdet(S)[1]) for S in (Sigma, Psi))
    spread = float(np.trace(np.linalg.solve(Sigma, Psi + kappa * np.outer(mu, mu))))
    normal = 0.5 * d * np.log(kappa / (2.0 * np.pi))
    gammas = 0.25 * d * (d - 1) * np.log(np.pi) + float(gammaln(0.5 * (nu - np.arange(d))).sum())
    wishart = 0.5 * nu * log_det_Psi - 0.5 * nu * d * np.log(2.0) - gammas
    return float(normal + wishart - 0.5 * (nu + d + 2.0) * log_det - 0.5 * spread)


def distance(old: tuple[Floats, Floats], new: tuple[Floats, Floats]) -> float:
    """The change of (mu, Sigma), in units of the standard deviation and the size of the mean."""
    size = float(np.sqrt(np.diagonal(new[1]).max()) + np.abs(new[0]).max())
    return float(max(np.abs(new[0] - old[0]).max() / size, np.abs(new[1] - old[1]).max() / size**2))
