"""The linear quadratic regulator: x' = A x + B u + w, cost x'Qx + u'Ru, average cost, no discount (survey §4.8).

The value is x'Px, where P solves P = Q + A'P(A - BK) with the gain K = (R + B'PB)^-1 B'PA. The best action is u = -Kx,
and its average cost is trace(PW), where W is the covariance of w.

P is computed by the structure-preserving doubling algorithm (Chu, Fan, Lin and Wang 2004). Step k gives the matrix that
2^k steps of the plain iteration from P = 0 would give:

    A <- A M A,   G <- G + A M G A',   H <- H + A'H M A   with M = (I + GH)^-1, from A, G = BR^-1B' and H = Q.

H tends to P. A tends to zero if and only if the closed loop A - BK is stable, and that is the test for it. Where the
iteration from zero does not lead to a stable loop (an unstable part of the state may cost nothing), SciPy is asked.
Results are checked by the residual of the equation and by the spectral radius of the closed loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._shown import shown
from bayesrl.checks import Floats, array, frozen
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels.arrays import B1, F2, F3
from bayesrl.kernels.jit import njit

DOUBLINGS = 60
"""Doublings at most: 2^60 steps of the plain iteration."""
ACCURACY = 1e-6
"""The largest residual, relative to P, of a solution. It is mostly near 1e-15, but 1e-8 where P is 1e8."""


class LQSolution(NamedTuple):
    """The best controller of a known linear system."""

    P: Floats
    """The value of x is x'Px, (n, n)."""
    gain: Floats
    """K, (m, n): the best action is u = -Kx."""
    cost: float
    """The average cost of a step, trace(PW)."""
    residual: float
    """The largest entry of Q + A'P(A - BK) - P, relative to that of P."""
    radius: float
    """The spectral radius of A - BK, below 1."""

    def __repr__(self) -> str:
        return shown(self)


def lq_solution(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, W: ArrayLike | None = None) -> LQSolution:
    """The best controller of x' = A x + B u + w at the average cost of x'Qx + u'Ru; w has covariance W (default I).

    `NotConverged`, with the last P, if no controller stabilises the system.

    >>> found = lq_solution([[0.9]], [[0.5]], [[1.0]], [[0.2]], [[0.04]])
    >>> [round(float(x), 6) for x in (found.gain[0, 0], found.P[0, 0], found.cost)]
    [1.149545, 1.413836, 0.056553]
    """
    owner = "lq_solution"
    A = array(owner, "A", A, (None, None), moderate=True)
    n = len(A)
    A, B = array(owner, "A", A, (n, n)), array(owner, "B", B, (n, None), moderate=True)
    Q, R = check_costs(owner, Q, R, n, B.shape[1])
    W = np.eye(n) if W is None else semidefinite(owner, "W", array(owner, "W", W, (n, n), moderate=True))
    many = gains(A[None], B[None], Q, R)
    P, K = many.P[0], many.gain[0]
    error, radius = residual(A, B, Q, P, K), spectral_radius(A - B @ K)
    if not (error <= ACCURACY and radius < 1.0):
        budget = f"{DOUBLINGS} doublings, which leave a closed loop of spectral radius {radius:.3g}"
        raise NotConverged(owner, frozen(P), np.inf if not radius < 1.0 else error, budget)
    return LQSolution(frozen(P), frozen(K), float(np.sum(P * W)), error, radius)


def _by_scipy(A: Floats, B: Floats, Q: Floats, R: Floats, P: Floats, K: Floats) -> tuple[Floats, Floats]:
    """The stabilising solution, if SciPy finds one; otherwise P and K as they are."""
    from scipy.linalg import solve_discrete_are

    try:
        with np.errstate(all="ignore"):
            P = np.asarray(solve_discrete_are(A, B, Q, R))
            return P, np.asarray(np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A), np.float64)
    except (np.linalg.LinAlgError, ValueError):
        return P, K


def residual(A: Floats, B: Floats, Q: Floats, P: Floats, K: Floats) -> float:
    """The largest entry of Q + A'P(A - BK) - P, relative to that of P (or of Q, if P is zero)."""
    scale = max(np.abs(P).max(), np.abs(Q).max()) or 1.0
    return float(np.abs(Q + A.T @ P @ (A - B @ K) - P).max() / scale)


def spectral_radius(M: Floats) -> float:
    """The largest absolute value of an eigenvalue; infinite for a matrix that is not finite."""
    return float(np.abs(np.linalg.eigvals(M)).max()) if np.isfinite(M).all() else np.inf


def split(theta: Floats) -> tuple[Floats, Floats]:
    """A, (..., n, n), and B, (..., n, m), of the parameters (A, B)', (..., n + m, n)."""
    n = theta.shape[-1]
    both = np.swapaxes(theta, -1, -2)
    return both[..., :n], both[..., n:]


# Checks --------------------------------------------------------------------------------------------------------------


def semidefinite(owner: str, name: str, M: Floats, definite: bool = False) -> Floats:
    """The matrix, if it is symmetric and positive semidefinite (or definite)."""
    size = np.abs(M).max()
    low = float(np.linalg.eigvalsh(M).min()) if np.allclose(M, M.T, rtol=0.0, atol=1e-9 * size) else -np.inf
    if low < -1e-12 * size or (definite and low <= 0.0):
        raise InvalidArgument(owner, name, f"symmetric and positive {'' if definite else 'semi'}definite", M)
    return M


def check_costs(owner: str, Q: ArrayLike, R: ArrayLike, n: int, m: int | None) -> tuple[Floats, Floats]:
    """Q, (n, n), positive semidefinite, and R, (m, m), positive definite."""
    R = array(owner, "R", R, (m, m), moderate=True)
    R = semidefinite(owner, "R", array(owner, "R", R, (len(R), len(R))), definite=True)
    return semidefinite(owner, "Q", array(owner, "Q", Q, (n, n), moderate=True)), R


# Many systems --------------------------------------------------------------------------------------------------------


class Gains(NamedTuple):
    """The controllers of several systems."""

    P: Floats
    """(k, n, n)."""
    gain: Floats
    """(k, m, n)."""
    stable: B1
    """Whether a stable closed loop was found, (k,)."""


def gains(A: Floats, B: Floats, Q: Floats, R: Floats) -> Gains:
    """The controllers of the systems A, (k, n, n), and B, (k, n, m), with the same costs."""
    G = B @ np.linalg.inv(R) @ np.swapaxes(B, 1, 2)
    P, K, stable = doubled(*(np.array(x, order="C") for x in (A, B, G, Q, R)))  # copies: one type to compile for
    for i in np.flatnonzero(~stable):
        P[i], K[i] = _by_scipy(A[i], B[i], Q, R, P[i], K[i])
        good = residual(A[i], B[i], Q, P[i], K[i]) <= ACCURACY and spectral_radius(A[i] - B[i] @ K[i]) < 1.0
        stable[i] = good
    return Gains(P, K, stable)


@njit
def doubled(As: F3, Bs: F3, Gs: F3, Q: F2, R: F2) -> tuple[F3, F3, B1]:
    """P, the gain, and whether the closed loop is stable, for each system; G = B R^-1 B'."""
    k, n, m = Bs.shape
    P, K, stable = np.empty((k, n, n)), np.empty((k, m, n)), np.zeros(k, np.bool_)
    X, M, Y = np.empty((n, 2 * n)), np.empty((m, m)), np.empty((m, n))
    for i in range(k):
        A, G, H = As[i].copy(), Gs[i].copy(), Q.copy()
        done = False
        for _ in range(DOUBLINGS):
            W = times(G, H)
            for r in range(n):
                W[r, r] += 1.0
                for c in range(n):
                    X[r, c], X[r, n + c] = A[r, c], G[r, c]
            eliminate(W, X)  # (I + GH)^-1 (A, G)
            HX, AX = times(H, X), times(A, X)
            change, left, size = 0.0, 0.0, 0.0
            for r in range(n):
                for c in range(r + 1):  # H and G are symmetric
                    h = g = 0.0
                    for j in range(n):
                        h += A[j, r] * HX[j, c]
                        g += AX[r, n + j] * A[c, j]
                    H[r, c] += h
                    G[r, c] += g
                    H[c, r], G[c, r] = H[r, c], G[r, c]
                    change, size = max(change, abs(h)), max(size, abs(H[r, c]))
            for r in range(n):
                for c in range(n):
                    A[r, c] = AX[r, c]
                    left = max(left, abs(A[r, c]))
            done = change <= 1e-15 * size and left < 1e-8
            if done or not left < 1e150 or not size < 1e150:
                break
        HA, HB = times(H, As[i]), times(H, Bs[i])
        for r in range(m):  # (R + B'HB) K = B'HA
            for c in range(m):
                M[r, c] = R[r, c]
                for j in range(n):
                    M[r, c] += Bs[i, j, r] * HB[j, c]
            for c in range(n):
                Y[r, c] = 0.0
                for j in range(n):
                    Y[r, c] += Bs[i, j, r] * HA[j, c]
        eliminate(M, Y)
        P[i], K[i], stable[i] = H, Y, done
    return P, K, stable


@njit
def times(A: F2, B: F2) -> F2:
    """AB, for small matrices."""
    C = np.empty((len(A), B.shape[1]))
    for i in range(len(A)):
        for j in range(B.shape[1]):
            total = 0.0
            for h in range(len(B)):
                total += A[i, h] * B[h, j]
            C[i, j] = total
    return C


@njit
def eliminate(M: F2, X: F2) -> None:
    """Write M^-1 X into X, by elimination with pivots. M is overwritten."""
    n = len(M)
    for c in range(n):
        p = c
        for r in range(c + 1, n):
            p = r if abs(M[r, c]) > abs(M[p, c]) else p
        for j in range(n):
            M[c, j], M[p, j] = M[p, j], M[c, j]
        for j in range(X.shape[1]):
            X[c, j], X[p, j] = X[p, j], X[c, j]
        pivot = M[c, c] if M[c, c] != 0.0 else 1e-300
        for r in range(n):
            f = M[r, c] / pivot if r != c else 0.0
            for j in range(c, n):
                M[r, j] -= f * M[c, j]
            for j in range(X.shape[1]):
                X[r, j] -= f * X[c, j]
        for j in range(X.shape[1]):
            X[c, j] /= pivot
        for j in range(c, n):
            M[c, j] /= pivot
