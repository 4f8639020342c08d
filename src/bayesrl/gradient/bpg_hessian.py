"""Newton steps from a Bayesian Hessian (Vien, Yu and Chung 2011; survey §5.2.2).

The Hessian of the expected return is the integral of rho (u u' + Hess log Pr). The weights of model 1 give its
posterior: mean sum_i (C b)_i rho_i (u_i u_i' + Hess log Pr_i), each entry with variance b_0 - b'C b. A step is the
gradient in the Hessian's eigenvectors, divided by the absolute eigenvalues, which are at least `damping`; a step longer
than `radius` is cut to it.

Deviations: the survey only says that the mean Hessian sets the learning rate; absolute values, floor and cap are ours.
Cost: O(M^3 + n^3) for an update. Claims: the exact Hessian in the limit; symmetric.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._shown import shown
from bayesrl.checks import Floats, array, frozen
from bayesrl.gradient import _settings as declares
from bayesrl.gradient._improve import Improved, step_from
from bayesrl.gradient._learner import Learning, LearnsFromPaths, check_policy, scores_and_returns
from bayesrl.gradient._paths import Known, Path, path_hessian
from bayesrl.gradient.bayesian_gradient import Whitened, bpg, checked_paths, quadrature_weights
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import Above, declared
from bayesrl.registry import register


class Hessian(NamedTuple):
    """The posterior of a Hessian: Gaussian, entry by entry."""

    mean: Floats
    """Shape (n, n)."""
    variance: float
    """Of each entry."""

    def __repr__(self) -> str:
        return shown(self)


def bpg_hessian(
    scores: ArrayLike,
    hessians: ArrayLike | Sequence[Floats],
    returns: ArrayLike,
    information: ArrayLike,
    noise: float = 0.1,
    offset: float | Literal["mean"] = 0.0,
) -> Hessian:
    """The posterior of the Hessian of the expected return.

    From the scores (M, n), the Hessians of the log-probabilities (M, n, n) and the returns (M,) of paths. `offset` is
    the prior mean of returns: it integrates to zero here too.

    >>> found = bpg_hessian([[1.0], [-1.0]], [[[-1.0]], [[-1.0]]], [2.0, 0.0], [[1.0]])
    >>> found.mean.tolist(), round(found.variance, 3)
    ([[0.0]], 0.005)
    """
    U, y, sigma = checked_paths("bpg_hessian", scores, returns, noise, offset)
    M, n = U.shape
    second = array("bpg_hessian", "hessians", hessians, (M, n, n), moderate=True)
    X = U @ Whitened.by("bpg_hessian", information, n).root
    weights, variance = quadrature_weights("bpg_hessian", X, sigma, 0.0)
    mean = (U * (weights * y)[:, None]).T @ U + np.tensordot(weights * y, second, 1)
    return Hessian(frozen(0.5 * (mean + mean.T)), variance)


@register(
    "bpg-hessian",
    kind="agent",
    survey="5.2",
    paper="Vien11HM",
    example=lambda: BPGHessian(policy=SoftmaxPolicy.tabular(2, 2)),
    evidence=(
        "tests/gradient/test_bpg.py::test_the_exact_hessian_is_reached",
        "tests/gradient/test_agents.py::test_a_newton_step_by_hand",
        "tests/gradient/test_agents.py::test_agents_improve",
    ),
)
@declared
class BPGHessian(LearnsFromPaths):
    """Newton steps on the expected return, from the posterior means of its gradient and Hessian.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = BPGHessian(paths=5, gamma=world.gamma, policy=SoftmaxPolicy.tabular(5, 2))
    >>> print(b.run(agent, world, steps=200, horizon=20, keep=("updates",)).updates.max())
    1
    """

    noise: declares.Noise = 0.1
    damping: Annotated[float, Above(0), "Least absolute eigenvalue of the Hessian that is divided by."] = 1e-3
    radius: Annotated[float, Above(0), "Length of the longest step."] = 1.0

    def __post_init__(self) -> None:
        check_policy("BPGHessian", self.policy, "hessian")

    def _improve(self, mind: Learning, paths: tuple[Path, ...], G: Floats) -> Improved:
        """Both posteriors, and a Newton step."""
        U, rho = scores_and_returns(paths, self.gamma)
        known: Known = {}
        second = [path_hessian("BPGHessian", path, mind.policy, known) for path in paths]
        gradient = bpg(U, rho, G, 1, self.noise, "mean")
        hessian = bpg_hessian(U, second, rho, G, self.noise, "mean")
        step = newton(gradient.mean, hessian.mean, self.damping, self.radius)
        return Improved(step_from(mind.policy, step)[0], gradient)


def newton(gradient: Floats, hessian: Floats, damping: float, radius: float) -> Floats:
    """An ascent step, shape (n,)."""
    values, vectors = np.linalg.eigh(hessian)
    step = vectors @ (vectors.T @ gradient / np.maximum(np.abs(values), damping))
    length = float(np.linalg.norm(step))
    return np.asarray(step * (radius / length) if length > radius else step)
