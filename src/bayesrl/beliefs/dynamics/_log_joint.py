"""The log joint of a hidden trajectory, observations and learned rewards, its gradient in the states, and its maximum.

A process with inputs U, data y, prior mean m(U) and covariance A = K(U) + noise has the log density
-r'A^-1 r/2 - log|A|/2 - (n/2) log 2 pi with r = y - m(U). With b = A^-1 r and W = (bb' - A^-1)/2 its derivatives are

    in the data  -b,   in input k  sum_i b_ki dm_i/du_k + 2 sum_l W_kl dk(u_k, u_l)/du_k.

Inputs are states, and the data of the dynamics are the states after them. Learned rewards are data of the same inputs.
Derivatives of covariances are exact; those of a user's mean are central differences.
"""

from __future__ import annotations

import numpy as np

from bayesrl.beliefs.dynamics._pairs import slopes, steps
from bayesrl.beliefs.dynamics._trajectories import LOG_2_PI, Function, History, Model
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument


def log_joint(owner: str, model: Model, history: History, X: Floats) -> tuple[float, Floats]:
    """log N(x_1) of every sequence, plus both processes on the trajectory itself, and the gradient, (N, d)."""
    d = X.shape[1]
    white = np.linalg.solve(model.root, (X[history.first] - model.start).T)  # (d, S)
    total = -0.5 * float(np.sum(white * white)) - white.shape[1] * float(np.log(np.diagonal(model.root)).sum())
    total -= 0.5 * white.size * LOG_2_PI
    gradient = np.zeros(X.shape)
    gradient[history.first] -= np.linalg.solve(model.root.T, white).T
    before = history.before
    inputs = np.concatenate([X[before], history.actions], axis=1)
    data = X[before + 1]
    if model.learns_reward:
        data = np.column_stack([data, history.rewards])
    value, in_data, in_inputs = _process(owner, model.move, inputs, data, d)
    gradient[before + 1] += in_data[:, :d]
    gradient[before] += in_inputs
    seen, _, in_states = _process(owner, model.see, X[history.seen], history.observations, d)
    gradient[history.seen] += in_states
    return total + value + seen, gradient


def _process(owner: str, f: Function, U: Floats, y: Floats, d: int) -> tuple[float, Floats, Floats]:
    """The log density of a function's data, and its derivatives in the data and in the first d coordinates of U."""
    if len(U) == 0:
        return 0.0, np.zeros(y.shape), np.zeros((0, d))
    r, b, total = y - f.mean(U), np.zeros(y.shape), 0.0
    in_inputs = np.zeros((len(U), d))
    share = f.outputs // len(f.prior)  # coordinates that a covariance serves
    for c, (k, noise) in enumerate(zip(f.prior, f.noise, strict=True)):
        of = slice(c * share, (c + 1) * share)
        try:
            L = np.linalg.cholesky(k.matrix(U, U) + noise * np.eye(len(U)))
        except np.linalg.LinAlgError:
            raise InvalidArgument(owner, "states", "apart, or the noise larger", "a singular covariance") from None
        inverse = np.linalg.inv(L)
        white = inverse @ r[:, of]
        b[:, of] = inverse.T @ white
        total -= 0.5 * float(np.sum(white * white)) + share * float(np.log(np.diagonal(L)).sum())
        W = 0.5 * (b[:, of] @ b[:, of].T - share * (inverse.T @ inverse))
        in_inputs += 2.0 * np.einsum("kl,klx->kx", W, slopes(k, U, U)[:, :, :d])
    for axis, h in enumerate(steps(U).T[:d]):
        forth, back = U.copy(), U.copy()
        forth[:, axis] += h
        back[:, axis] -= h
        in_inputs[:, axis] += np.sum(b * (f.mean(forth) - f.mean(back)), axis=1) / (forth - back)[:, axis]
    return total - 0.5 * y.size * LOG_2_PI, -b, in_inputs


def maximised(owner: str, model: Model, history: History, starts: list[Floats]) -> Floats:
    """The trajectory of the largest log joint that L-BFGS finds from these starts."""
    from scipy.optimize import minimize

    def negative(x: Floats) -> tuple[float, Floats]:
        value, gradient = log_joint(owner, model, history, x.reshape(starts[0].shape))
        return -value, -gradient.ravel()

    options = {"maxiter": 2000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-8}
    found = [minimize(negative, x.ravel(), jac=True, method="L-BFGS-B", options=options) for x in starts]
    return np.asarray(min(found, key=lambda one: float(one.fun)).x).reshape(starts[0].shape)
