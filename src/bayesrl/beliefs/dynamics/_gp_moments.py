"""Moments of Gaussian-process dynamics where the state is uncertain: s ~ N(mu, S), exact for Gaussian covariances.

With inputs x_k, nu_k = x_k - (mu, a), squared scales L_i, S zero for the action, beta_i = (K_i + sigma^2 I)^-1 y_i, the
first two moments of the processes are

    mean         m_i = q'beta,                                   q_k = E k_i(x_k, x)
    covariance   beta_i'Q beta_j - m_i m_j,                      Q_kl = E k_i(x_k, x) k_j(x_l, x)
                 and v_i - trace((K_i + sigma^2 I)^-1 Q) + sigma^2 on the diagonal
    with input   sum_k beta_k q_k S (S + L_i)^-1 nu_k

Data are whitened by the factor C of K + sigma^2 I = C C', because C^-1 k(X, x) is bounded by the prior and beta is not.
`dense` forms Q. Where the noise is tiny, rounding in Q is multiplied by v/sigma^2, and all digits can be lost. So
`expanded` comes first: x = mu + B z with B B' = S, and k(x_k, x) is expanded in Hermite polynomials of z, whose
coefficients c_a are closed and decay like the powers of S (L + S)^-1. Then

    Q = sum c_a c_a',   q = c_0,   the covariance with the input comes from the first degree,

and each c_a is whitened by itself, as predictions are. Degrees end where they weigh less than rounding. If that takes
too many terms, S is large against the scales, and `dense` takes over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.values.gaussian import NEGATIVE, nonnegative
from bayesrl.beliefs.values.observations import Observations
from bayesrl.beliefs.values.triangular import unpacked
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument

ROUNDING = 1e-16
LOST = 1e12
"""Prior variance, as a multiple of a datum's least variance given the others, at which the matrices lose all digits."""
MOST = 1000
"""Terms of an expansion at most, and four for each datum."""


class Group(NamedTuple):
    """Processes that share a factor."""

    prior: Covariance
    data: Observations
    columns: tuple[int, ...]
    """The numbers of these processes."""
    noise: float
    """Standard deviation of the noise."""


Moments = tuple[Floats, Floats, Floats]
Share = tuple[Covariance, float, list[int]]
"""A covariance, a noise, and the numbers of the processes that have both."""


def shares(priors: list[Covariance], noise: float | Floats) -> list[Share]:
    """The distinct pairs of covariance and noise, in the order of their first process."""
    made: list[Share] = []
    for p, (prior, sd) in enumerate(zip(priors, np.broadcast_to(noise, len(priors)), strict=True)):
        same = [one for one in made if one[1] == sd and (one[0] is prior or one[0] == prior)]
        if same:
            same[0][2].append(p)
        else:
            made.append((prior, float(sd), [p]))
    return made


def moments(owner: str, groups: list[Group], mu: Floats, S: Floats, d: int) -> Moments:
    """Means (P,), covariance (P, P), and covariance with the first d inputs, (d, P), of all processes at N(mu, S)."""
    found = expanded(owner, groups, mu, S, d)
    return dense(owner, groups, mu, S, d) if found is None else found


def expanded(owner: str, groups: list[Group], mu: Floats, S: Floats, d: int) -> Moments | None:
    """Moments by the expansion in Hermite polynomials; None if it needs too many terms."""
    values, vectors = np.linalg.eigh(S)
    kept = values > ROUNDING * values[-1]
    B = vectors[:, kept] * np.sqrt(values[kept])
    r, n = B.shape[1], len(groups[0].data)
    P = sum(len(group.columns) for group in groups)
    weights, left = [], np.zeros(P)  # of each process: U'w, and v - trace + sigma^2
    for prior, data, columns, noise in groups:
        assert isinstance(prior, Gaussian)
        here = list(columns)
        left[here] = prior.variance + noise**2
        if n == 0:
            continue
        terms = coefficients(prior, data.points - mu, S, B, noise**2 * prior.variance, MOST + 4 * n)
        if terms is None:
            return None
        U = _solved(unpacked(data.factor, n), terms.T)  # C^-1 c, (n, F)
        left[here] = nonnegative(owner, np.array([prior.variance - np.sum(U * U)]), prior.variance) + noise**2
        weights.append((here, U.T @ data.w))
    Z = np.zeros((max([1 + r, *(len(u) for _, u in weights)]), P))
    for here, u in weights:
        Z[: len(u), here] = u
    return Z[0], Z[1:].T @ Z[1:] + np.diag(left), (B @ Z[1 : 1 + r])[:d]


def coefficients(prior: Gaussian, nu: Floats, S: Floats, B: Floats, unit: float, most: int) -> Floats | None:
    """c_a(x_k) for the multi-indices a of degree 0, 1, ..., (F, n); None if `most` terms are not enough.

    They are derivatives at t = 0 of q(nu - B t) = q(nu) exp(g't - t'G t / 2) over sqrt(a!), with g = B'(L + S)^-1 nu
    and G = B'(L + S)^-1 B. So c_(b + e_j) = (g_j c_b - sum_l G_jl sqrt(b_l) c_(b - e_l)) / sqrt(b_j + 1). Degrees end
    after two whose squares are below rounding of `unit`.
    """
    r = B.shape[1]
    inner = np.linalg.solve(S + np.diag(squared_scales(prior, len(S))), B)
    g, G = (nu @ inner).T, B.T @ inner
    made = {(0,) * r: prior.expectation(np.zeros(len(S)), S, nu)}
    degree, small = list(made), 0
    while small < 2 and r > 0:
        new: dict[tuple[int, ...], Floats] = {}
        for b in degree:
            for j in range(r):
                if any(b[:j]):
                    break  # each index is reached once: by raising its first entry that is not zero
                total = g[j] * made[b]
                for k in range(r):
                    if b[k] > 0:
                        total = total - G[j, k] * np.sqrt(b[k]) * made[_moved(b, k, -1)]
                new[_moved(b, j, 1)] = total / np.sqrt(b[j] + 1.0)
        made |= new
        degree = list(new)
        small = small + 1 if sum(float(c @ c) for c in new.values()) < ROUNDING * unit else 0
        if len(made) > most:
            return None
    return np.array(list(made.values()))


def _moved(b: tuple[int, ...], j: int, by: int) -> tuple[int, ...]:
    return (*b[:j], b[j] + by, *b[j + 1 :])


def dense(owner: str, groups: list[Group], mu: Floats, S: Floats, d: int) -> Moments:
    """Moments by the matrices Q."""
    P = sum(len(group.columns) for group in groups)
    mean, second, cross = np.zeros(P), np.zeros((P, P)), np.zeros((d, P))
    factors = [unpacked(group.data.factor, len(group.data)) for group in groups]
    for C, group in zip(factors, groups, strict=True):
        if len(C) and group.prior.variances(mu[None])[0] > LOST * np.diagonal(C).min() ** 2:
            raise _too_wide(owner, S)
    for i, (prior, data, columns, noise) in enumerate(groups):
        assert isinstance(prior, Gaussian)
        nu, here = data.points - mu, list(columns)
        q = prior.expectation(mu, S, data.points)
        white = _solved(factors[i], np.column_stack([q, q[:, None] * nu]))  # C^-1 (q, q nu')
        mean[here] = white[:, 0] @ data.w
        cross[:, here] = (S @ np.linalg.solve(S + np.diag(squared_scales(prior, len(S))), white[:, 1:].T @ data.w))[:d]
        for j, other in enumerate(groups[: i + 1]):
            assert isinstance(other.prior, Gaussian)
            half = _solved(factors[i], products(prior, other.prior, nu, S))  # C_i^-1 Q
            Q = _solved(factors[j], half.T)  # C_j^-1 Q' C_i^-T
            block = data.w.T @ Q.T @ other.data.w
            if i == j:
                rest = float(prior.variance - np.trace(Q))
                if rest < -NEGATIVE * prior.variance:
                    raise _too_wide(owner, S)
                block += (max(rest, 0.0) + noise**2) * np.eye(len(here))
            second[np.ix_(here, other.columns)] = block
            second[np.ix_(other.columns, here)] = block.T
    return mean, 0.5 * (second + second.T) - np.outer(mean, mean), cross


def _too_wide(owner: str, S: Floats) -> InvalidArgument:
    expected = "smaller against the scales, as the noise is too small for the matrices"
    return InvalidArgument(owner, "covariance", expected, S, "Sampled paths have no such limit.")


def _solved(C: Floats, B: Floats) -> Floats:
    return np.asarray(solve_triangular(C, B, lower=True, check_finite=False))


def squared_scales(prior: Gaussian, dims: int) -> Floats:
    """One for each coordinate, (dims,)."""
    return np.broadcast_to(np.square(prior.scale), dims)


def products(prior: Gaussian, other: Gaussian, nu: Floats, S: Floats) -> Floats:
    """Q_kl = E k(x_k, x) l(x_l, x) = k(x_k, mu) l(x_l, mu) |R|^-1/2 exp(t'R^-1 S t / 2), (n, n).

    Here t = L^-1 nu_k + M^-1 nu_l and R = S (L^-1 + M^-1) + I. All exponents are summed before exp is taken.
    """
    L, M = squared_scales(prior, len(S)), squared_scales(other, len(S))
    a, b = nu / L, nu / M
    R = S * (1.0 / L + 1.0 / M) + np.eye(len(S))
    T = np.linalg.solve(R, S)
    left = 0.5 * np.sum(a @ T * a - nu * a, axis=1)
    right = 0.5 * np.sum(b @ T * b - nu * b, axis=1)
    exponent = left[:, None] + right + a @ T @ b.T
    return np.asarray(prior.variance * other.variance / np.sqrt(np.linalg.det(R)) * np.exp(exponent))
