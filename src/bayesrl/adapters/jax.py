"""Many values beliefs at once with JAX, on a processor or a GPU (needs the extra `jax`).

    from bayesrl.adapters.jax import gptd_batch
    found = gptd_batch(covariance, states, rewards, query, noise=0.3, gamma=0.9)

`gptd_batch` conditions GPTD on R trajectories of equal length, each by itself, and for a grid of hyper-parameters. Its
numbers are those of the belief `GPTD`, in double precision. Use it for replicates of an experiment and for grids of
hyper-parameters; for one trajectory, or for transitions that come one at a time, use the belief.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import (
    Covariance,
    Discrete,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    Product,
    StateAction,
    Sum,
)
from bayesrl.checks import Floats, array, choice, probability
from bayesrl.errors import InvalidArgument, from_extra

LOG_2_PI = float(np.log(2.0 * np.pi))
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""A pivot's square below this share of the datum's variance, times the number of data, is rounding, as in `GPTD`."""
Kind = tuple[Any, ...]
"""A covariance without its hyper-parameters: its class, its fixed fields, and the kinds of its parts."""


class Batch(NamedTuple):
    """Posteriors of R trajectories. With G covariances the arrays have a first axis of length G."""

    mean: Floats
    """Posterior means at the queried states, shape (R, q)."""
    variance: Floats
    """Posterior variances at the queried states, shape (R, q)."""
    log_evidence: Floats
    """Logarithms of the densities of the rewards, shape (R,)."""


def gptd_batch(
    covariance: Covariance | Sequence[Covariance],
    states: ArrayLike,
    rewards: ArrayLike,
    query: ArrayLike,
    noise: ArrayLike = 0.3,
    gamma: float = 0.9,
    residuals: Literal["coloured", "white"] = "coloured",
) -> Batch:
    """The posterior of GPTD after each of R trajectories: as `GPTD(...).update_many((states[i], rewards[i]))`.

    `states` has shape (R, n + 1, d) for trajectories that go on, (R, n, d) for trajectories whose last step terminated.
    `rewards` has shape (R, n), `query` shape (q, d). A list of G covariances that differ in their hyper-parameters only
    is a grid; `noise` then is one standard deviation, or one for each covariance. `residuals` is "coloured" for `GPTD`
    and "white" for `WhiteGPTD`. Memory: about 3 G R n^2 numbers.
    """
    with from_extra("gptd_batch", "jax"):
        import jax
    one = isinstance(covariance, Covariance)
    grid = [covariance] if isinstance(covariance, Covariance) else list(covariance)
    kinds = {_kind(k) for k in grid}
    if len(kinds) != 1:
        raise InvalidArgument(
            "gptd_batch", "covariance", "one, or some that differ in hyper-parameters only", covariance
        )
    X = array("gptd_batch", "states", states, (None, None, None))
    r = array("gptd_batch", "rewards", rewards, (len(X), None), moderate=True)
    if X.shape[1] - r.shape[1] not in (0, 1):
        expected = f"{r.shape[1] + 1} in each trajectory, or {r.shape[1]} if it ends"
        raise InvalidArgument("gptd_batch", "states", expected, f"{X.shape[1]}")
    Z = array("gptd_batch", "query", query, (None, X.shape[2]))
    sd = array("gptd_batch", "noise", noise, low=0.0, moderate=True)
    if sd.size not in (1, len(grid)):
        raise InvalidArgument("gptd_batch", "noise", "a number, or one for each covariance", noise)
    choice("gptd_batch", "residuals", residuals, ("coloured", "white"))
    gamma = probability("gptd_batch", "gamma", gamma)
    theta = np.array([k.parameters for k in grid])
    variances = np.broadcast_to(sd.ravel() ** 2, len(grid))
    with _double(jax):
        run = _compiled(kinds.pop(), residuals == "coloured")
        mean, variance, evidence, share = (np.asarray(x) for x in run(theta, variances, gamma, X, r, Z))
    if not (share > ROUNDING * r.shape[1]).all():  # false for nan, the factor of a matrix that is not positive
        hint = "Points that repeat, or nearly repeat, need noise."
        expected = "large enough to tell the data apart"
        raise InvalidArgument("gptd_batch", "noise", expected, "a singular covariance", hint)
    found = Batch(mean, np.maximum(variance, 0.0), evidence)
    return Batch(*(x[0] for x in found)) if one else found


def _double(jax: Any) -> Any:
    """Double precision inside a `with`, whatever the user's setting is."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


@cache
def _compiled(kind: Kind, coloured: bool) -> Any:
    """The compiled posteriors: over covariances (first two arguments), then over trajectories."""
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def posterior(theta: Any, v: Any, gamma: Any, X: Any, r: Any, Z: Any) -> Any:
        n = len(r)

        def H(M: Any) -> Any:  # rows m_t - gamma m_t+1; at an end m_t alone
            return M[:n] - gamma * jnp.pad(M[1:], ((0, n + 1 - len(M)), (0, 0)))

        K, noise = _matrix(kind, theta, X, X), v * jnp.eye(len(X))
        if coloured:  # each visit has its residual, and rewards are their differences, as those of values
            A = H(H(K + noise).T)
        else:
            A = H(H(K).T) + noise[:n, :n]
        L = jnp.linalg.cholesky(A)
        solved = solve_triangular(L, jnp.column_stack([r, H(_matrix(kind, theta, X, Z))]), lower=True)
        w, U, pivots = solved[:, 0], solved[:, 1:], jnp.diagonal(L)
        prior = jax.vmap(lambda z: _matrix(kind, theta, z[None], z[None])[0, 0])(Z)
        evidence = -0.5 * (w @ w + n * LOG_2_PI) - jnp.log(pivots).sum()
        return U.T @ w, prior - (U * U).sum(axis=0), evidence, (pivots**2 / jnp.diagonal(A)).min()

    over_trajectories = jax.vmap(posterior, (None, None, None, 0, 0, None))
    return jax.jit(jax.vmap(over_trajectories, (0, 0, None, None, None, None)))


def _kind(k: object) -> Kind:
    """The class of a covariance, its number of hyper-parameters, what is fixed in it, and the kinds of its parts."""
    if not isinstance(k, Gaussian | Matern | Polynomial | Linear | Discrete | Sum | Product | StateAction):
        expected = "made of Gaussian, Matern, Polynomial, Linear, Discrete, +, * and StateAction"
        raise InvalidArgument("gptd_batch", "covariance", expected, k)
    fixed = [getattr(k, name) for name in ("smoothness", "degree", "dims") if hasattr(k, name)]
    parts = [_kind(part) for part in k.parts()] if isinstance(k, Sum | Product | StateAction) else []
    return type(k), len(k.parameters), *fixed, *parts


def _matrix(kind: Kind, theta: Any, X: Any, Y: Any) -> Any:
    """k(x, y), shape (n, m), for the logarithms `theta` of the hyper-parameters; each as in `covariances.py`."""
    import jax.numpy as jnp

    made, _, *rest = kind
    if made in (Sum, Product, StateAction):
        *dims, one, other = rest
        (x, xx), (y, yy) = ((M[:, : dims[0]], M[:, dims[0] :]) if dims else (M, M) for M in (X, Y))
        left, right = _matrix(one, theta[: one[1]], x, y), _matrix(other, theta[one[1] :], xx, yy)
        return left + right if made is Sum else left * right
    v = jnp.exp(theta[-1])
    if made is Linear:
        return v * (X @ Y.T)
    if made is Polynomial:
        return v * (X @ Y.T + (jnp.exp(theta[0]) if len(theta) == 2 else 0.0)) ** rest[0]
    if made is Discrete:
        return v * (X[:, None] == Y).all(axis=2)
    scale = jnp.exp(theta[:-1])
    D = (((X / scale)[:, None] - Y / scale) ** 2).sum(axis=2)
    if made is Gaussian:
        return v * jnp.exp(-0.5 * D)
    u = jnp.sqrt(2.0 * rest[0] * D)
    polynomial = 1.0 + (u if rest[0] > 0.5 else 0.0) + (u * u / 3.0 if rest[0] > 1.5 else 0.0)
    return v * polynomial * jnp.exp(-u)
