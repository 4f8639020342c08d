"""Tasks whose values are linear in common features: r = H w + noise, with H = Phi - gamma Phi'.

A task is a pair (H, r) or a triple (H, r, G), which `task_matrices` makes from a log. White noise is N(0, sigma^2 I).
Coloured noise is N(0, sigma^2 G G'), that of Monte-Carlo returns (`beliefs/values/gptd.py`): G has a row (1, -gamma)
for each step, in the columns of the two visits that it connects, and (1) alone where an episode ends.

`Tasks` holds what a posterior needs, in units of the noise: by a QR decomposition of (H, r), after division by the
Cholesky factor of the noise, |r - H w|^2 / sigma^2 = |y - B w|^2 + rest with B (d, d). No later computation depends on
the length of the logs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from bayesrl.beliefs.dynamics.normal_wishart import covariance_matrix
from bayesrl.beliefs.features import Features
from bayesrl.beliefs.log import Log, transitions
from bayesrl.checks import Floats, Ints, array, frozen, indices, number, sequence
from bayesrl.errors import InvalidArgument

PAIR = "a pair (H, r) or a triple (H, r, G)"


class ValueTask(NamedTuple):
    """The steps of one task: r = H w + noise."""

    H: Floats
    """Features minus gamma times the features of the next state, (n, d)."""
    r: Floats
    """Rewards, (n,)."""
    G: Floats
    """Coloured noise is sigma G xi with xi ~ N(0, I); (n, visits)."""


class Tasks(NamedTuple):
    """M tasks in units of the noise."""

    B: Floats
    """(M, d, d)."""
    y: Floats
    """(M, d)."""
    constant: Floats
    """The terms of the log density of the rewards beside -|y - B w|^2 / 2, (M,)."""


# From logs to tasks --------------------------------------------------------------------------------------------------


def task_matrices(log: Log, features: Features | ArrayLike, gamma: float) -> ValueTask:
    """The matrices of a task, from a record or the transitions of one policy; the action is not used.

    `features` are those of `beliefs.features`, or a table (S, d). A step that does not start where the one before ended
    begins a new trajectory, and so does a step after the end of an episode.

    Examples
    --------
    >>> from bayesrl.core import Transition
    >>> log = [Transition(0, 0, 1.0, 1), Transition(1, 0, 2.0, 0, terminated=True)]
    >>> task = task_matrices(log, np.eye(2), gamma=0.5)
    >>> task.H.tolist(), task.r.tolist(), task.G.tolist()
    ([[1.0, -0.5], [0.0, 1.0]], [1.0, 2.0], [[1.0, -0.5], [0.0, 1.0]])
    """
    owner = "task_matrices"
    steps = steps_of(owner, log)
    now, after = (state_features(owner, features, states) for states in (steps.state, steps.next_state))
    return matrices(owner, steps, now, after, gamma)


class Steps(NamedTuple):
    """A log as columns."""

    state: Any
    action: list[Any]
    reward: Floats
    next_state: Any
    """At the end of an episode the state itself, which is not used."""
    goes_on: Floats
    """0 where the episode ended, else 1."""
    column: Ints
    """The column of G of each step's first visit."""


def steps_of(owner: str, log: Log) -> Steps:
    """Read a log, and number its visits."""
    steps = list(transitions(owner, log))
    if not steps:
        raise InvalidArgument(owner, "log", "at least one step", log)
    column, free = [], 0
    for i, step in enumerate(steps):
        last = steps[i - 1] if i else None
        if last is not None and not last.ends_episode and np.array_equal(last.next_state, step.state):
            free -= 1  # the visit in which the step before ended
        column.append(free)
        free += 1 if step.terminated else 2
    try:
        states = np.array([x.state for x in steps], float)
        after = np.array([x.state if x.terminated else x.next_state for x in steps], float)
    except (TypeError, ValueError):
        raise InvalidArgument(owner, "log", "states that are numbers, or vectors of one length", steps[0]) from None
    reward = frozen(np.array([number(owner, "reward", x.reward, moderate=True) for x in steps]))
    goes_on = np.array([0.0 if x.terminated else 1.0 for x in steps])
    return Steps(states, [x.action for x in steps], reward, after, goes_on, np.array(column))


def matrices(owner: str, steps: Steps, now: Floats, after: Floats, gamma: float) -> ValueTask:
    """H, r and G from the features (n, d) of each step's visits."""
    gamma = number(owner, "gamma", gamma, 0.0, 1.0)
    n, last = len(now), int(steps.column[-1] + steps.goes_on[-1])
    G, t = np.zeros((n, last + 1)), np.arange(n)
    G[t, steps.column] = 1.0
    go = steps.goes_on > 0.0
    G[t[go], steps.column[go] + 1] = -gamma
    return ValueTask(frozen(now - gamma * steps.goes_on[:, None] * after), steps.reward, frozen(G))


def state_features(owner: str, features: Features | ArrayLike, states: Any) -> Floats:
    """A row of features for each state, (n, d)."""
    if isinstance(features, Features):
        return features(states)
    table = array(owner, "features", features, (None, None), moderate=True)
    return np.asarray(table[indices(owner, "state", states, (None,), len(table))])


# From tasks to what posteriors need ----------------------------------------------------------------------------------


class Noise(NamedTuple):
    """The noise of rewards."""

    sigma: float
    coloured: bool
    gamma: float | None
    """The discount of G for tasks without G, whose rows are the steps of one trajectory that goes on."""

    def factor(self, owner: str, task: tuple[Any, ...], n: int) -> Floats | None:
        """The lower triangular factor of G G', (n, n); None if the noise is white."""
        if not self.coloured:
            return None
        if len(task) == 3 and task[2] is not None:
            G = array(owner, "G", task[2], (n, None), moderate=True)
        elif self.gamma is not None:
            G = np.eye(n, n + 1) - self.gamma * np.eye(n, n + 1, 1)
        else:
            raise InvalidArgument(owner, "gamma", "given for coloured noise, or each task a triple (H, r, G)", None)
        try:
            return cholesky(G @ G.T)
        except np.linalg.LinAlgError:
            raise InvalidArgument(owner, "G", "a matrix of full row rank", G) from None


def read_tasks(owner: str, tasks: Any, noise: Noise, d: int | None = None) -> Tasks:
    """Check tasks, all with the same number d of features, and reduce them."""
    given = sequence(owner, "tasks", tasks, f"a sequence of tasks, each {PAIR}")
    if not given:
        raise InvalidArgument(owner, "tasks", "at least one task", tasks)
    made = []
    for task in given:
        made.append(reduced(owner, task, noise, d))
        d = len(made[0][1])
    return Tasks(*(frozen(np.array(part)) for part in zip(*made, strict=True)))


def reduced(owner: str, task: Any, noise: Noise, d: int | None) -> tuple[Floats, Floats, float]:
    """B, y and the constant of one task."""
    parts = sequence(owner, "task", task, PAIR)
    if len(parts) not in (2, 3):
        raise InvalidArgument(owner, "task", PAIR, task)
    H = array(owner, "H", parts[0], (None, d), moderate=True)
    r = array(owner, "r", parts[1], (None,), moderate=True)
    n, d = H.shape
    if len(r) != n:
        raise InvalidArgument(owner, "r", f"as long as H has rows ({n})", r)
    rows, log_det = np.column_stack([H, r]), n * np.log(noise.sigma)
    if (L := noise.factor(owner, parts, n)) is not None:
        rows, log_det = solve_triangular(L, rows, lower=True), log_det + np.log(np.diagonal(L)).sum()
    T = np.zeros((d + 1, d + 1))
    R = np.linalg.qr(rows / noise.sigma, mode="r")
    T[: len(R)] = R
    constant = -0.5 * n * np.log(2.0 * np.pi) - log_det - 0.5 * T[d, d] ** 2
    if not np.isfinite(constant):
        raise InvalidArgument(owner, "noise", "large enough for these rewards", noise.sigma)
    return T[:d, :d], T[:d, d], float(constant)


class Given(NamedTuple):
    """The posterior N(w, C) of each task's weights if w ~ N(mu, Sigma)."""

    w: Floats
    """(M, d)."""
    C: Floats
    """(M, d, d)."""
    log_evidence: Floats
    """Log density of each task's rewards, (M,)."""


def cholesky(A: Floats) -> Floats:
    """The lower triangular factor of matrices (..., n, n)."""
    return np.asarray(np.linalg.cholesky(A), np.float64)


def condition(tasks: Tasks, mu: Floats, Sigma: Floats) -> Given:
    """The posterior of the weights; mu (d,) or (N, d), Sigma (d, d) or (N, d, d), for one task or for N.

    With S S' = Sigma, X = B S and K K' = I + X'X:  w = mu + S v, v = K^-T K^-1 X'(y - B mu), C = S K^-T K^-1 S'.
    """
    (B, y, constant), S = tasks, cholesky(Sigma)
    X, e = B @ S, y - np.einsum("...ij,...j->...i", B, mu)
    K = cholesky(np.eye(B.shape[-1]) + np.swapaxes(X, -1, -2) @ X)
    half = np.linalg.solve(K, np.swapaxes(S, -1, -2) + np.zeros_like(X))
    u = np.linalg.solve(K, np.einsum("...ji,...j->...i", X, e)[..., None])
    v = np.linalg.solve(np.swapaxes(K, -1, -2), u)[..., 0]
    off = e - np.einsum("...ij,...j->...i", X, v)
    log_det = np.log(np.diagonal(K, axis1=-2, axis2=-1)).sum(axis=-1)
    log_evidence = constant - log_det - 0.5 * ((off**2).sum(axis=-1) + (v**2).sum(axis=-1))
    w = mu + np.einsum("...ij,...j->...i", S, v)
    return Given(w, np.swapaxes(half, -1, -2) @ half, log_evidence)


class Base(NamedTuple):
    """The normal-inverse-Wishart distribution of (mu, Sigma)."""

    kappa: float
    nu: float
    Psi: Floats
    """(d, d)."""


def base_of(owner: str, strength: float, degrees: float | None, scale: Floats | None, d: int) -> Base:
    """The base for d features: by default nu = d + 2 and Psi = I; a number is that multiple of I."""
    Psi = np.eye(d) if scale is None else scale * np.eye(d) if np.ndim(scale) == 0 else scale
    nu = d + 2.0 if degrees is None else float(degrees)
    if not nu > d - 1.0:
        raise InvalidArgument(owner, "degrees", f"greater than d - 1 = {d - 1}", degrees)
    return Base(float(strength), nu, covariance_matrix(owner, "scale", Psi, d))
