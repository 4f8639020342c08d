"""Moments of Gaussian-process dynamics where the state is uncertain: s ~ N(mu, S), exact for Gaussian covariances.

With inputs x_k, nu_k = x_k - (mu, a), squared scales L_i, S zero for the action, and the data's factor C_i (here C, as
L is taken), the first two moments of the processes are

    mean         m_i = q'beta,                                   q_k = E k_i(x_k, x)
    covariance   beta_i'Q beta_j - m_i m_j,                      Q_kl = E k_i(x_k, x) k_j(x_l, x)
                 and v_i - trace((K_i + sigma^2 I)^-1 Q) + sigma^2 on the diagonal
    with input   sum_k beta_k q_k S (S + L_i)^-1 nu_k

All of them are computed from whitened quantities, C_i^-1 q and C_i^-1 Q C_j^-T with beta_i = C_i^-T w_i: these are
bounded by the prior, where beta is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.values._observations import Observations
from bayesrl.beliefs.values._triangular import unpacked
from bayesrl.checks import Floats


class Group(NamedTuple):
    """Processes that share a factor."""

    prior: Covariance
    data: Observations
    columns: tuple[int, ...]
    """The numbers of these processes."""
    noise: float
    """Standard deviation of the noise."""


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


def moments(groups: list[Group], mu: Floats, S: Floats, d: int) -> tuple[Floats, Floats, Floats]:
    """Means (P,), covariance (P, P), and covariance with the first d inputs, (d, P), of all processes at N(mu, S)."""
    P = sum(len(group.columns) for group in groups)
    mean, second, cross = np.zeros(P), np.zeros((P, P)), np.zeros((d, P))
    factors = [unpacked(group.data.factor, len(group.data)) for group in groups]
    for i, (prior, data, columns, noise) in enumerate(groups):
        assert isinstance(prior, Gaussian)
        nu, here = data.points - mu, list(columns)
        if len(data) == 0:
            second[here, here] = prior.variance + noise**2
            continue
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
                block += (prior.variance - np.trace(Q) + noise**2) * np.eye(len(here))
            second[np.ix_(here, other.columns)] = block
            second[np.ix_(other.columns, here)] = block.T
    return mean, 0.5 * (second + second.T) - np.outer(mean, mean), cross


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
