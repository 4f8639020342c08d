"""Rows of counts of a `DirichletPOMDP`: their checks, lists and densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from bayesrl.checks import SMALLEST, Bools, Floats, Ints, array, frozen, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.models.outcomes import Outcomes

OWNER = "DirichletPOMDP"


def truths(name: str, known: ArrayLike | None, shape: tuple[int, ...]) -> Bools:
    """Which rows are known: an array of truth values; none if `known` is None."""
    fixed = np.zeros(shape, np.bool_) if known is None else np.array(known)
    if fixed.shape != shape or fixed.dtype != np.bool_:
        raise InvalidArgument(OWNER, name, f"truth values of shape {shape}", known)
    return frozen(fixed)


def checked_counts(name: str, counts: ArrayLike, valid: Bools, fixed: Bools) -> Floats:
    """Counts of groups, zero on padding, a positive one in each row; rows that are known sum to one."""
    x = array(OWNER, name, counts, valid.shape, low=0.0, moderate=True)
    if x[~valid].any():
        raise InvalidArgument(OWNER, name, "zero on padding", float(x[~valid].max()))
    if (few := (x > 0.0) & (x < SMALLEST)).any():
        raise InvalidArgument(OWNER, name, f"zero or at least {SMALLEST:g}", float(x[few][0]))
    if (empty := x.sum(axis=1) <= 0.0).any():
        raise InvalidArgument(OWNER, name, "rows with a positive count", f"none in row {int(np.argmax(empty))}")
    if fixed.any():
        rows_sum_to_one(OWNER, f"{name} (known rows)", x[fixed], counts)
    return x


def listed(name: str, x: Floats) -> tuple[Ints, Ints, Floats]:
    """The columns with positive entries of each row of (S, A, n), (S, A, K), their number (S A,) and the entries."""
    rows = x.reshape(-1, x.shape[2])
    size = (rows > 0.0).sum(axis=1)
    if not size.all():
        where = tuple(int(i) for i in np.unravel_index(int(np.argmin(size)), x.shape[:2]))
        raise InvalidArgument(OWNER, name, "rows with a positive count", f"none in row {where}")
    columns = np.argsort(rows <= 0.0, axis=1, kind="stable")[:, : size.max()]
    return columns.reshape(*x.shape[:2], -1), size, np.take_along_axis(rows, columns, axis=1)


def means(counts: Floats) -> Floats:
    """The mean of each row."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def rewards_of(outcomes: Outcomes, rewards: Floats) -> Any:
    """The reward of each outcome, (S, A, K), given rewards (S, A) or (S, A, S)."""
    succ = outcomes.succ
    paid = (
        np.take_along_axis(rewards, succ, 2) if rewards.ndim == 3 else np.broadcast_to(rewards[..., None], succ.shape)
    )
    listed = outcomes.valid[outcomes.group] & ~outcomes.terminal[:, None, None]
    return frozen(np.where(listed, paid, 0.0))


def group_rows(group: Ints, size: Ints, target: Ints, rows: Floats, live: Bools, unknown: Bools) -> Floats:
    """The probabilities of unknown groups, read from rows (S, A, n) of a model that may list them differently.

    They are NaN beyond the size of a group.
    """
    prob = np.full((len(size), target.shape[2]), np.nan)
    for s, a in np.ndindex(*group.shape):
        g, n = group[s, a], size[group[s, a]]
        own = target[s, a, :n]
        if not live[s] or not unknown[g] or len(np.unique(own)) < n:
            continue
        if not np.isnan(prob[g, 0]) and np.abs(prob[g, :n] - rows[s, a, own]).max() > 1e-9:
            raise InvalidArgument(f"{OWNER}.log_density", "pomdp", "one with equal probabilities in tied rows", (s, a))
        prob[g, :n] = rows[s, a, own]
    unread = np.isnan(prob[:, 0]) & unknown
    if unread.any():
        hint = "No pair of the group tells all its outcomes apart: use a model of this prior's own outcomes."
        raise InvalidArgument(f"{OWNER}.log_density", "pomdp", "one that shows every group", int(unread.argmax()), hint)
    return prob


def dirichlet_log_density(alpha: Floats, p: Floats) -> float:
    """Sum of the log Dirichlet densities of rows. A row with probability on an outcome without count has density 0."""
    possible = alpha > 0.0
    if np.abs(np.where(possible, p, 0.0).sum(axis=1) - 1.0).max(initial=0.0) > 1e-9:
        return -np.inf
    a, q = alpha[possible], p[possible]
    return float(gammaln(alpha.sum(axis=1)).sum() - gammaln(a).sum() + xlogy(a - 1.0, q).sum())
