"""The second-order percentile of a policy's return, and its gradient in the policy.

With the letters of `_moments.py` and o = X' P0, the return P0 . V of a policy mu has

    mean F = P0 . V + gamma o . b,    variance D = o' C o.

The gradient of F - z sqrt(D) is the adjoint of these formulas and of `expand`: one pass backwards through the same
steps, where d_y is the derivative of the result by y. All derivatives by X are collected in one matrix, since
dX = gamma X dP X. Cost: O(S^3 + S A K^2 + couples K), as for the moments. No linear system is solved for a single pair.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats, Ints
from bayesrl.risk._moments import Expansion, UncertainModel, expand, summed


def objective(mu: Floats, m: UncertainModel, z: float) -> float:
    """F - z sqrt(D) of a policy (S, A)."""
    return value_of(expand(m, mu), m, z)[0]


def value_of(e: Expansion, m: UncertainModel, z: float) -> tuple[float, float]:
    """F - z sqrt(D), and sqrt(D)."""
    o = m.start @ e.X
    root = max(float(o @ e.C @ o), 0.0) ** 0.5
    return float(m.start @ e.V + m.gamma * (o @ e.b)) - z * root, root


def criterion(mu: Floats, m: UncertainModel, z: float) -> tuple[float, Floats]:
    """F - z sqrt(D) of a policy (S, A), and its gradient by the probabilities, (S, A)."""
    (S, A), i, j, e = mu.shape, m.first, m.second, expand(m, mu)
    (F, root), (w, X, _, q, h, b, C) = value_of(e, m, z), e
    o, R = m.start @ X, (w.reshape(S, A) * m.r).sum(axis=1)
    d_D = -0.5 * z / root if root > 0.0 else 0.0  # without a variance there is nothing to differentiate
    # Each couple adds w_i w_j (d_b sum_k X[succ_i(k), s_j] h_j(k) + d_C q_i . h_j), as b is linear and C bilinear in o.
    s, o_pairs = i // A, np.repeat(o, A)
    d_b, d_C = (m.gamma * o[s])[:, None], (d_D * o[s] * o_pairs[j])[:, None]
    place = m.succ[i] * S + (j // A)[:, None]
    back, w_i, w_j = X.ravel()[place], w[i, None], w[j, None]
    each = ((d_b * back + d_C * q[i]) * h[j]).sum(axis=1)
    d_w = summed(i, w[j] * each, S * A) + summed(j, w[i] * each, S * A)
    d_h = rows_summed(j, w_i * w_j * (d_b * back + d_C * q[i]), S * A)
    d_q = rows_summed(i, w_i * w_j * d_C * h[j], S * A) + np.einsum("nkl,nk->nl", m.covariance, d_h)
    d_X = summed(place.ravel(), (w_i * w_j * d_b * h[j]).ravel(), S * S).reshape(S, S)
    x, rewards = o_pairs * w, m.reward_covariance
    d_w += 2.0 * d_D * o_pairs * (rewards * x if rewards.ndim == 1 else rewards @ x)
    d_V = m.start + m.gamma * summed(m.succ.ravel(), d_q.ravel(), S)
    d_X += np.outer(d_V, R) + np.outer(m.start, m.gamma * b + 2.0 * d_D * (C @ o))
    d_P = m.gamma * X.T @ d_X @ X.T
    d_mu = d_w.reshape(S, A) + np.einsum("sy,say->sa", d_P, m.P) + (d_V @ X)[:, None] * m.r
    return F, m.running[:, None] * d_mu


def rows_summed(where: Ints, rows: Floats, n: int) -> Floats:
    """The sums of rows (m, K) by their places 0 to n - 1, (n, K)."""
    total = np.zeros((n, rows.shape[1]))
    np.add.at(total, where, rows)
    return total
