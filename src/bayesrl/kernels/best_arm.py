"""The probability that each of several independent arms is the best, and the arms' means given the best arm.

Let f_a and F_a be the density and distribution function of the mean of arm a, and m_b(x) = E[theta_b | theta_b <= x].
Then

    P(A* = a) = int f_a prod_{b != a} F_b,
    E[theta_a | A* = a] P(A* = a) = int x f_a prod_{b != a} F_b,
    E[theta_b | A* = a] P(A* = a) = int m_b f_a prod_{c != a} F_c.

The integrals are computed on panels of eight Gauss-Legendre nodes. A panel is about three standard deviations of the
narrowest arm wide, for Gaussian arms of the narrowest that lives there: K arms need at most 7 K panels, however far
apart and however narrow they are. The panels cover the range of the best arm's mean up to a probability of 1e-10. Beta
distribution functions are integrated together with the densities, by the matrix that integrates the polynomial through
a panel's nodes up to each node. The variable of integration is phi, x = sin^2 phi: in phi Betas have nearly equal
widths and, if their parameters are at least 1/2, no poles. The error is below 1e-8. It is up to 1e-4 if parameters are
below 1 and are not halves.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesrl.kernels.arrays import F1, F2, F3
from bayesrl.kernels.jit import njit

Floats = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
OF_NODES = np.linalg.inv(NODES[:, None] ** np.arange(8))
"""OF_NODES[n, k]: the coefficient of x^n in the polynomial that is 1 at node k and 0 at the others."""
UP_TO = (NODES[:, None] ** np.arange(1, 9) - (-1.0) ** np.arange(1, 9)) / np.arange(1, 9) @ OF_NODES
"""UP_TO[k, l]: weight of the value at node l in the integral from -1 to node k."""
TAIL = 25.0
"""-log of the probability that is neglected at each end of an arm's range."""
DEVIATIONS = math.sqrt(2.0 * TAIL)
PANELS = 5
"""Panels of a Gaussian density."""


def best_beta(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """p[..., a] = P(A* = a) and M[..., a, b] = E[theta_b | A* = a] for arms Beta(alpha[..., a], beta[..., a])."""
    shape, K = alpha.shape, alpha.shape[-1]
    alpha, beta = (np.array(x.reshape(-1, K), order="C") for x in (alpha, beta))  # copies: one type to compile for
    low, high, width = beta_ranges(alpha, beta)
    below = special.betainc(alpha, beta, np.sin(low)[:, None] ** 2)
    p, M = np.empty((len(alpha), K)), np.empty((len(alpha), K, K))
    beta_arms(alpha, beta, low, high, width, below, p, M)
    return p.reshape(shape), M.reshape(*shape, K)


@njit
def panels(mean: F1, deviation: F1, low: float, high: float, each: int) -> tuple[F1, F1, F1]:
    """Nodes and weights (8 P,), and half widths (P,), of panels from low to high that resolve Gaussian densities.

    A density lives within DEVIATIONS of its mean. Where it lives no panel is wider than that range over `each`, and a
    panel of wider ones ends where it begins. Where none lives there is no panel. So each density has at most each + 2.
    """
    begin, end, width = (
        mean - DEVIATIONS * deviation,
        mean + DEVIATIONS * deviation,
        2.0 * DEVIATIONS / each * deviation,
    )
    most = (each + 3) * len(mean)
    x, w, half = np.empty(8 * most), np.empty(8 * most), np.empty(most)
    left, n = low, 0
    while left < high and n < most:
        widest = np.inf
        for a in range(len(mean)):
            if begin[a] <= left < end[a]:
                widest = min(widest, width[a])
        right = min(left + widest, high)
        for a in range(len(mean)):
            if left < begin[a] < right and width[a] < widest:
                right = begin[a]
        if widest < np.inf:
            half[n] = 0.5 * (right - left)
            for k in range(8):
                x[8 * n + k], w[8 * n + k] = left + half[n] * (1.0 + NODES[k]), half[n] * WEIGHTS[k]
            n += 1
        left = right
    return x[: 8 * n], w[: 8 * n], half[:n]


def best_normal(mean: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """p[..., a] = P(A* = a) and M[..., a, b] = E[theta_b | A* = a] for arms N(mean[..., a], deviation[..., a]^2)."""
    shape, K = mean.shape, mean.shape[-1]
    mean, deviation = (np.array(x.reshape(-1, K), order="C") for x in (mean, deviation))
    p, M = np.empty((len(mean), K)), np.empty((len(mean), K, K))
    normal_arms(mean, deviation, p, M)
    return p.reshape(shape), M.reshape(*shape, K)


@njit
def beta_ranges(alpha: F2, beta: F2) -> tuple[F1, F1, F1]:
    """The smallest and largest phi of the best arm's mean, and the width of a panel, for each replicate.

    With l = TAIL / n, |theta - p| <= l + sqrt(l^2 + 2 p (1 - p) l), except with probability exp(-TAIL) on each side.
    This follows from Chernoff's bound exp(-n KL(p, x)) and KL >= d^2 / (2 (p (1 - p) + d)).
    """
    R, K = alpha.shape
    low, high, width = np.empty(R), np.empty(R), np.empty(R)
    up = np.empty(K)
    for i in range(R):
        least, most, wide = 0.0, 0.0, math.pi / 8.0
        for a in range(K):
            n = alpha[i, a] + beta[i, a]
            p, l = alpha[i, a] / n, TAIL / n
            d = l + math.sqrt(l * l + 2.0 * p * (1.0 - p) * l)
            up[a] = p + d
            least, most = max(least, p - d), max(most, p + d)
        for a in range(K):
            if up[a] > least:
                # The standard deviation of phi is about 1 / (2 sqrt n).
                wide = min(wide, 1.5 / math.sqrt(alpha[i, a] + beta[i, a]))
        low[i], high[i], width[i] = math.asin(math.sqrt(least)), math.asin(math.sqrt(min(most, 1.0))), wide
    return low, high, width


@njit
def beta_arms(alpha: F2, beta: F2, low: F1, high: F1, width: F1, below: F2, p: F2, M: F3) -> None:
    """Write P(A* = a) into p[i, a] and E[theta_b | A* = a] into M[i, a, b] for Beta arms; below[i, b] = F_b(low[i])."""
    K = alpha.shape[1]
    for i in range(len(alpha)):
        panels = max(math.ceil((high[i] - low[i]) / width[i]), 1)
        half = 0.5 * (high[i] - low[i]) / panels
        X = panels * 8
        x, w, log_x, log_y = np.empty(X), np.empty(X), np.empty(X), np.empty(X)
        for o in range(X):
            phi = low[i] + half * (2 * (o // 8) + 1 + NODES[o % 8])
            x[o], w[o] = math.sin(phi) ** 2, half * WEIGHTS[o % 8]
            log_x[o], log_y[o] = 2.0 * math.log(math.sin(phi)), 2.0 * math.log(math.cos(phi))
        f, F, m = np.empty((K, X)), np.empty((K, X)), np.empty((K, X))
        for a in range(K):
            s, t = alpha[i, a], beta[i, a]
            c = math.lgamma(s + t) - math.lgamma(s) - math.lgamma(t)
            for o in range(X):  # the density of phi is 2 x^(s - 1/2) (1 - x)^(t - 1/2) / B(s, t)
                f[a, o] = 2.0 * math.exp(c + (s - 0.5) * log_x[o] + (t - 0.5) * log_y[o])
            # F and int y f up to `low`: I_x(s + 1, t) = I_x(s, t) - x^s (1 - x)^t / (s B(s, t))
            at, mass, first = math.sin(low[i]) ** 2, below[i, a], 0.0
            if at > 0.0:
                first = (s * mass - math.exp(c + s * math.log(at) + t * math.log1p(-at))) / (s + t)
            for j in range(0, X, 8):
                total, moment = 0.0, 0.0
                for k in range(8):
                    up, up_x = 0.0, 0.0
                    for l in range(8):
                        up += UP_TO[k, l] * f[a, j + l]
                        up_x += UP_TO[k, l] * f[a, j + l] * x[j + l]
                    F[a, j + k] = min(max(mass + half * up, 0.0), 1.0)
                    ratio = (first + half * up_x) / max(F[a, j + k], 1e-300)
                    m[a, j + k] = min(max(ratio, 0.0), x[j + k])
                    total += WEIGHTS[k] * f[a, j + k]
                    moment += WEIGHTS[k] * f[a, j + k] * x[j + k]
                mass += half * total
                first += half * moment
        condition(x, w, f, F, m, p[i], M[i])


@njit
def normal_arms(mean: F2, deviation: F2, p: F2, M: F3) -> None:
    """Write P(A* = a) into p[i, a] and E[theta_b | A* = a] into M[i, a, b] for Gaussian arms."""
    K = mean.shape[1]
    for i in range(len(mean)):
        s = deviation[i]
        zero = mean[i, np.argmax(mean[i] - DEVIATIONS * s)]  # x and means count from it, since s may be small beside it
        mu = mean[i] - zero
        x, w, _ = panels(mu, s, (mu - DEVIATIONS * s).max(), (mu + DEVIATIONS * s).max(), PANELS)
        X = len(x)
        f, F, m = np.empty((K, X)), np.empty((K, X)), np.empty((K, X))
        for a in range(K):
            for o in range(X):
                z = (x[o] - mu[a]) / s[a]
                f[a, o] = math.exp(-0.5 * z * z) / (s[a] * math.sqrt(2.0 * math.pi))
                F[a, o] = 0.5 * math.erfc(-z / math.sqrt(2.0))
                m[a, o] = mu[a] - s[a] ** 2 * f[a, o] / F[a, o] if F[a, o] > 1e-300 else x[o]
        condition(x, w, f, F, m, p[i], M[i])
        M[i] += zero


@njit
def condition(x: F1, w: F1, f: F2, F: F2, m: F2, p: F1, M: F2) -> None:
    """Compute the integrals of the module docstring from f, F and m at nodes x with weights w, and normalise p."""
    K, X = f.shape
    h, rest = np.empty((K, X)), np.empty(X)
    rest[:] = w
    for a in range(K):  # h_a = w f_a prod_{b < a} F_b
        for o in range(X):
            h[a, o] = f[a, o] * rest[o]
            rest[o] *= F[a, o]
    rest[:] = 1.0
    for a in range(K - 1, -1, -1):  # ... prod_{b > a} F_b
        for o in range(X):
            h[a, o] *= rest[o]
            rest[o] *= F[a, o]
    M[:] = h @ m.T
    for a in range(K):
        p[a] = max(h[a].sum(), 0.0)
        M[a, a] = h[a] @ x
        if p[a] > 0.0:
            M[a] /= p[a]
    p /= p.sum()


# Betas times prices ---------------------------------------------------------------------------------------------------

PRICED_PANELS = 12
"""Panels of a Beta density times a price."""
OUTSIDE = 1e-13
"""Probability that is neglected at each end of its range."""


def best_priced_beta(alpha: Floats, beta: Floats, prices: Floats) -> tuple[Floats, Floats]:
    """p[..., a] = P(A* = a) and M[..., a, b] = E[m_b | A* = a] for means m_a = prices[a] Beta(alpha_a, beta_a).

    Supports [0, price] differ here, so that the variable is the mean x itself. Panels begin and end where the range of
    an arm does, in particular at its price, and each arm has PRICED_PANELS of them in its own phi, x = price sin^2 phi.
    Within a panel x = left + width sin^2 psi: square roots at either end, as of a density with counts of 1/2, are
    smooth in psi. The same as `best_beta` if all prices are 1, where the error is below 1e-8.
    """
    shape, K = alpha.shape, alpha.shape[-1]
    a, b = alpha.reshape(-1, K, 1), beta.reshape(-1, K, 1)
    mean = a / (a + b)
    low = np.arcsin(np.sqrt(special.betaincinv(a, b, OUTSIDE)))
    high = np.arccos(np.sqrt(special.betaincinv(b, a, OUTSIDE)))
    high = np.where(0.5 * math.pi - high < 0.1 * (high - low), 0.5 * math.pi, high)  # no panel ends just before a price
    phi = low + (high - low) * np.linspace(0.0, 1.0, PRICED_PANELS + 1)
    edges = np.sort((prices[:, None] * np.sin(phi) ** 2).reshape(len(a), -1), axis=-1)
    psi = 0.25 * math.pi * (1.0 + NODES)
    left, width = edges[:, :-1, None], np.diff(edges, axis=-1)[..., None]
    x = (left + width * np.sin(psi) ** 2).reshape(len(a), -1)  # (R, X)
    w = (width * np.sin(2.0 * psi) * 0.25 * math.pi * WEIGHTS).reshape(len(a), -1)
    theta = x[:, None, :] / prices[:, None]  # (R, K, X)
    inside = (theta > 0.0) & (theta < 1.0)
    t = np.where(inside, theta, 0.5)
    kernel = np.where(inside, np.exp(a * np.log(t) + b * np.log1p(-t) - special.betaln(a, b)), 0.0)
    F = special.betainc(a, b, np.clip(theta, 0.0, 1.0))
    f = kernel / (t * (1.0 - t)) / prices[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # E[m_b | m_b <= x] = price (I_t(a, b) - kernel / a) a / n / I
        m = prices[:, None] * mean * (1.0 - kernel / (a * F))
    m = np.clip(np.where(F > 0.0, m, 0.0), 0.0, x[:, None, :])
    up = np.cumprod(np.concatenate([np.ones_like(F[:, :1]), F[:, :-1]], axis=1), axis=1)
    down = np.cumprod(np.concatenate([np.ones_like(F[:, :1]), F[:, :0:-1]], axis=1), axis=1)[:, ::-1]
    h = w[:, None, :] * f * up * down  # the probability that a is the best, at x
    p = h.sum(axis=-1)
    M = h @ np.swapaxes(m, -1, -2)
    M[:, np.arange(K), np.arange(K)] = (h @ x[..., None])[..., 0]
    M = np.where(p[..., None] > 0.0, M / np.where(p > 0.0, p, 1.0)[..., None], M)
    return (p / p.sum(axis=-1, keepdims=True)).reshape(shape), M.reshape(*shape, K)
