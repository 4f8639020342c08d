"""Slow and obviously right: a Kalman filter for each point of a grid of both precisions."""

import numpy as np
from scipy import stats

ACTIONS, SEEN = (1.0, -0.5, 0.3), (1.1, 0.9, 1.6)
NOISE = {"mean": 0.2, "strength": 2.0, "degrees": 5.0, "scatter": 1.0}
SENSOR = {"mean": 0.0, "strength": 3.0, "degrees": 6.0, "scatter": 0.9}
START = (0.0, 0.25)


def precisions(prior, points):
    """A grid of precisions, from one tail of the prior to the other, and their prior weights."""
    gamma = stats.gamma(0.5 * prior["degrees"], scale=2.0 / prior["scatter"])
    logs = np.linspace(np.log(gamma.ppf(1e-7)), np.log(gamma.isf(1e-9)), points)
    weight = gamma.pdf(np.exp(logs)) * np.exp(logs)
    return np.exp(logs), weight / weight.sum()


def grid_filter(noise=NOISE, sensor=SENSOR, start=START, actions=ACTIONS, seen=SEEN, points=120, ahead=None):
    """Evidence, E s, Var s, E mu_v, E mu_w, E var_v, E var_w of s' = s + a + v, z = s + w; None in `seen` is missing.

    A precision that is known is given as {"known": variance}. Given both precisions the vector (s, mu_v, mu_w) is
    normal, and a Kalman filter is exact. With `ahead`, the mean and the variance of the observation after that action.
    """
    lam_v, p_v = (np.array([1.0 / noise["known"]]), np.ones(1)) if "known" in noise else precisions(noise, points)
    lam_w, p_w = (np.array([1.0 / sensor["known"]]), np.ones(1)) if "known" in sensor else precisions(sensor, points)
    v, w = (x.ravel() for x in np.meshgrid(1.0 / lam_v, 1.0 / lam_w, indexing="ij"))
    log_w = np.log(np.outer(p_v, p_w).ravel())
    n = len(v)
    m = np.tile([start[0], noise.get("mean", 0.0), sensor.get("mean", 0.0)], (n, 1))
    P = np.zeros((n, 3, 3))
    P[:, 0, 0], P[:, 1, 1], P[:, 2, 2] = start[1], v / noise.get("strength", np.inf), w / sensor.get("strength", np.inf)
    F, H = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([1.0, 0.0, 1.0])
    for a, z in zip(actions, seen, strict=True):
        m = m @ F.T + [a, 0.0, 0.0]
        P = F @ P @ F.T
        P[:, 0, 0] += v
        if z is None:
            continue
        S = P @ H @ H + w
        gap, K = z - m @ H, P @ H / S[:, None]
        log_w += -0.5 * (gap**2 / S + np.log(2.0 * np.pi * S))
        m = m + K * gap[:, None]
        P = P - K[:, :, None] * (P @ H)[:, None, :]
    p = np.exp(log_w - log_w.max())
    evidence = p.sum() * np.exp(log_w.max())
    p = p / p.sum()
    if ahead is not None:
        m, P = m @ F.T + [ahead, 0.0, 0.0], F @ P @ F.T
        z, S = m @ H, P @ H @ H + v + w
        return p @ z, p @ (S + z**2) - (p @ z) ** 2
    mean = p @ m
    return np.array([
        evidence, mean[0], p @ (P[:, 0, 0] + m[:, 0] ** 2) - mean[0] ** 2, mean[1], mean[2], p @ v, p @ w,
    ])  # fmt: skip
