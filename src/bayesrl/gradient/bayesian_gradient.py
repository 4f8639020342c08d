"""Bayesian policy gradient: a posterior over the gradient of the expected return (Ghavamzadeh and Engel 2006; §5.2.2).

The gradient is an integral over paths of rho(xi) grad Pr(xi). Quadrature with a Fisher kernel makes it Gaussian.

    model 1   f = rho u has prior covariance k = (1 + u'G^-1u')^2 in each component, and the data are rho_i u_i. With
              b_i = 1 + u_i'G^-1u_i, b_0 = 1 + rank G and C = (K + sigma^2 I)^-1 the gradient has mean
              sum_i (C b)_i rho_i u_i and covariance (b_0 - b'C b) I.
    model 2   f = rho has prior covariance k = u'G^-1u', and the data are rho_i. Mean U C y, covariance G - U C U'.

Everything is computed in whitened scores x = W'u with W W' = G^-1 (the pseudo-inverse: the information of a tabular
softmax policy is singular, and scores lie in its range; a part of a score outside it has no prior variance and is left
out). Both kernels then are inner products of few coordinates phi: those of x itself in model 2, all monomials up to
degree 2 in model 1, whose integral beta is (1, 0, ..., 1 at squares, ...). So with Phi a row for each path

    C b = Phi (Phi'Phi + sigma^2 I)^-1 beta,   b_0 - b'C b = sigma^2 beta'(Phi'Phi + sigma^2 I)^-1 beta,

and no M x M matrix is made where there are more paths than coordinates. `threshold` > 0 takes whitened coordinates on a
dictionary of paths instead (approximate linear dependence, as `gptd-sparse`): mean Y (A K A' + sigma^2 I)^-1 A b.

`offset` is a constant prior mean of returns. It integrates to zero against the gradient of the density, but without it
the linear kernel takes a constant in the returns for noise.

Units: means are linear in returns, and covariances do not depend on them. Model 2's prior says that the part of a
return that is linear in the score has variance rank G. So for error bars divide returns by their standard deviation,
and multiply back (docs/gradients.md); means stay the same.

Cost: O(n^2 M) for model 2; O(M min(M, n^2/2)^2) for model 1.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from bayesrl._shown import shown
from bayesrl.beliefs.covariances import Covariance, Linear, Polynomial, root_of_inverse
from bayesrl.beliefs.values.dictionary import Dictionary
from bayesrl.beliefs.values.gaussian import nonnegative
from bayesrl.checks import Floats, array, frozen, number
from bayesrl.errors import InvalidArgument


class Gradient(NamedTuple):
    """The posterior of a gradient: Gaussian."""

    mean: Floats
    """Shape (n,)."""
    covariance: Floats
    """Shape (n, n)."""
    natural: Floats
    """G^-1 times the mean, shape (n,)."""

    def __repr__(self) -> str:
        return shown(self)


class Whitened(NamedTuple):
    """Coordinates in which the information is the identity."""

    root: Floats
    """W with W W' = G^-1, shape (n, r): scores become U W, and weights of scores are W w."""
    back: Floats
    """G W, shape (n, r): gradients are G W w."""

    @staticmethod
    def by(owner: str, information: ArrayLike, n: int) -> Whitened:
        """By the information of n parameters."""
        W = root_of_inverse(owner, information)
        if len(W) != n:
            raise InvalidArgument(owner, "information", f"of the {n} parameters of the scores", f"one of {len(W)}")
        return Whitened(W, np.asarray(information, np.float64) @ W)

    def gradient(self, mean: Floats, covariance: Floats) -> Gradient:
        """The posterior of the gradient, given that of the whitened weights."""
        spread = self.back @ covariance @ self.back.T
        return Gradient(frozen(self.back @ mean), frozen(0.5 * (spread + spread.T)), frozen(self.root @ mean))


def bpg(
    scores: ArrayLike,
    returns: ArrayLike,
    information: ArrayLike,
    model: Literal[1, 2] = 1,
    noise: float = 0.1,
    offset: float | Literal["mean"] = 0.0,
    threshold: float = 0.0,
) -> Gradient:
    """The posterior of the policy gradient from the scores (M, n) and returns (M,) of paths.

    `information` is G, shape (n, n); for model 2 it should not come from these paths alone, because then the mean is
    the Monte-Carlo estimate times M / (M + sigma^2). `noise` is the standard deviation sigma of the data. `offset` is
    the prior mean of returns; "mean" takes their average. Paths whose prior variance given the others is below
    `threshold` are represented by the others.

    >>> found = bpg([[1.0], [-1.0]], [2.0, 0.0], [[1.0]], model=2, noise=1.0)
    >>> found.mean.round(3).tolist(), found.covariance.round(3).tolist()
    ([0.667], [[0.333]])
    """
    if not isinstance(model, (int, np.integer)) or isinstance(model, bool) or model not in (1, 2):
        raise InvalidArgument("bpg", "model", "1 or 2", model)
    U, y, sigma = checked_paths("bpg", scores, returns, noise, offset)
    white = Whitened.by("bpg", information, U.shape[1])
    threshold = number("bpg", "threshold", threshold, 0.0)
    X = U @ white.root
    if model == 2:
        return white.gradient(*_linear("bpg", X, y, sigma, threshold))
    weights, variance = quadrature_weights("bpg", X, sigma, threshold)
    mean = (weights * y) @ U
    return Gradient(frozen(mean), frozen(variance * np.eye(len(mean))), frozen(white.root @ (white.root.T @ mean)))


def checked_paths(
    owner: str, scores: ArrayLike, returns: ArrayLike, noise: float, offset: float | str
) -> tuple[Floats, Floats, float]:
    """Scores (M, n), returns less their prior mean (M,), and sigma."""
    U = array(owner, "scores", scores, (None, None), moderate=True)
    rho = array(owner, "returns", returns, (len(U),), moderate=True)
    sigma = number(owner, "noise", noise, 0.0, moderate=True)
    given = float(rho.mean()) if isinstance(offset, str) and offset == "mean" else offset
    prior = number(owner, "offset", given, moderate=True)
    return U, rho - prior, sigma


def quadrature_weights(owner: str, X: Floats, sigma: float, threshold: float) -> tuple[Floats, float]:
    """C b and b_0 - b'C b of model 1, for whitened scores of M paths."""
    M, r = X.shape
    b, b_0 = 1.0 + np.sum(X * X, axis=1), 1.0 + r
    if threshold > 0.0 and r > 0:
        Phi, L, kept = _dictionary(Polynomial(degree=2, offset=1.0), X, threshold)
        beta = solve_triangular(L, 1.0 + np.sum(kept * kept, axis=1), lower=True)
        left_out = b_0 - float(beta @ beta)
    elif sigma > 0.0 and (r + 1) * (r + 2) // 2 <= M:
        Phi, beta, left_out = *_monomials(X), 0.0
    else:
        L = factor(owner, (1.0 + X @ X.T) ** 2, sigma)
        t = solve_triangular(L, b, lower=True)
        return _transposed(L, t), float(nonnegative(owner, np.array([b_0 - t @ t]), np.array([b_0]))[0])
    L = factor(owner, Phi.T @ Phi, sigma)
    t = solve_triangular(L, beta, lower=True)
    return np.asarray(Phi @ _transposed(L, t)), left_out + sigma**2 * float(t @ t)


def _linear(owner: str, X: Floats, y: Floats, sigma: float, threshold: float) -> tuple[Floats, Floats]:
    """Model 2: mean (r,) and covariance (r, r) of w, for returns X w with w ~ N(0, I)."""
    M, r = X.shape
    if threshold > 0.0 and r > 0:
        Phi, L, kept = _dictionary(Linear(), X, threshold)
        T = solve_triangular(L, kept, lower=True)  # w is T'v and a part that is left out
        L = factor(owner, Phi.T @ Phi, sigma)
        S = solve_triangular(L, T, lower=True)
        return S.T @ solve_triangular(L, Phi.T @ y, lower=True), np.eye(r) - T.T @ T + sigma**2 * S.T @ S
    if sigma == 0.0 or M < r:
        L = factor(owner, X @ X.T, sigma)
        Q = solve_triangular(L, X, lower=True)
        return Q.T @ solve_triangular(L, y, lower=True), np.eye(r) - Q.T @ Q
    L = factor(owner, X.T @ X, sigma)
    inverse = solve_triangular(L, np.eye(r), lower=True)
    return inverse.T @ (inverse @ (X.T @ y)), sigma**2 * inverse.T @ inverse


def factor(owner: str, K: Floats, sigma: float) -> Floats:
    """The lower Cholesky factor of K + sigma^2 I; a singular matrix is refused."""
    A = K + sigma**2 * np.eye(len(K))
    try:
        L = np.linalg.cholesky(A)
        regular = bool((np.diagonal(L) ** 2 > 4.0 * np.finfo(float).eps * len(A) * np.diagonal(A)).all())
    except np.linalg.LinAlgError:
        regular = False
    if not regular:
        hint = "More data than the kernel has dimensions, or data that repeat, need noise."
        expected = "large enough to tell the data apart"
        raise InvalidArgument(owner, "noise", expected, "a singular covariance", hint)
    return np.asarray(L)


def _dictionary(k: Covariance, X: Floats, threshold: float) -> tuple[Floats, Floats, Floats]:
    """Whitened coordinates of paths (M, m), the factor of the dictionary's kernel matrix, and the paths in it."""
    basis, Phi = Dictionary.empty(X.shape[1]).admit(k, X, threshold)
    if len(basis) == 0:
        raise InvalidArgument("bpg", "threshold", "small enough to keep a path", threshold)
    return Phi, basis.factor, basis.states


def _monomials(X: Floats) -> tuple[Floats, Floats]:
    """Phi with Phi Phi' = (1 + X X')^2 in entries, and the mean of a row if x has mean 0 and covariance I."""
    M, r = X.shape
    i, j = np.triu_indices(r)
    crossed = X[:, i] * X[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))
    Phi = np.hstack([np.ones((M, 1)), np.sqrt(2.0) * X, crossed])
    return Phi, np.concatenate([[1.0], np.zeros(r), np.where(i == j, 1.0, 0.0)])


def _transposed(L: Floats, t: Floats) -> Floats:
    """L^-T t."""
    return np.asarray(solve_triangular(L, t, lower=True, trans="T"))
