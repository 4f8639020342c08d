"""The exact values of a stationary policy: the linear system (I - gamma P) V = R (Puterman 1994, section 6.1).

Small systems are solved by elimination in compiled code. Larger dense ones are factored by LAPACK, first in single
precision, which takes half the time. Larger sparse ones are factored by SuperLU. Iterative refinement then removes the
rounding errors. The matrix is diagonally dominant, so that sparse factors need no pivoting and keep the order with the
least fill-in. Both libraries are imported when they are first used, since importing them takes longer than solving most
problems.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bayesrl.checks import Floats, frozen
from bayesrl.core import Policy
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.dynamic_programming.bellman import Model, eliminate, is_small, policy_backup, rounding_error
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import LISTS, Problem, mdp_of, model_of
from bayesrl.models.policy import policy_matrix


def evaluate_policy(problem: Problem, policy: Policy | ArrayLike) -> Floats:
    """The values of a policy, shape (S,). A policy may be given as actions (S,) or as probabilities (S, A).

    >>> from bayesrl.models.mdp import TabularMDP
    >>> stay_or_go = TabularMDP.from_dense([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], [[0, 0], [1, 1]], gamma=0.5)
    >>> evaluate_policy(stay_or_go, [1, 0]).tolist()
    [1.0, 2.0]
    """
    m = model_of(mdp_of(problem, "evaluate_policy"))
    S, A = m.r.shape
    weight = policy_matrix("evaluate_policy", policy, S, A)
    if (weight.max(axis=1) == 1.0).all():
        values = evaluate(m, weight.argmax(axis=1))
    else:
        values = evaluate(mixture(m, weight), np.zeros(S, np.int64))
    if values is None:
        expected = "one that ends its episodes, as the discount is 1"
        raise InvalidArgument("evaluate_policy", "policy", expected, policy)
    return values


def evaluate(m: Model, pi: I1) -> F1 | None:
    """The values of a deterministic policy; None if it never ends and gamma is 1."""
    if is_small(m):
        small = np.empty(len(m.r))
        return small if eliminate(m, pi, small, np.empty((len(m.r), len(m.r)))) else None
    if not len(m.matrix):
        return refined(m, pi, sparse_factors(m, pi))[0]
    v, residual = refined(m, pi, dense_factors(m, pi, np.float32))
    if v is None or not residual <= rounding_error(m, v):
        v, _ = refined(m, pi, dense_factors(m, pi, np.float64))
    return v


Solve = Callable[[F1], F1]


def refined(m: Model, pi: I1, solve: Solve | None) -> tuple[F1 | None, float]:
    """Solve, then refine the solution as long as this halves the residual; returns (solution, residual)."""
    if solve is None:
        return None, np.inf
    v = np.array(solve(m.r[np.arange(len(m.r)), pi]), dtype=np.float64)
    new, residual, before = np.empty(len(v)), np.inf, np.inf
    while True:
        low, high = policy_backup(m, pi, v, new)
        residual, before = max(high, -low), residual
        if not 0.1 * rounding_error(m, v) < residual <= 0.5 * before:
            break
        v += solve(new - v)
    return (v, residual) if np.isfinite(v).all() else (None, np.inf)


def dense_factors(m: Model, pi: I1, precision: type) -> Solve | None:
    """A solver for I - gamma P by LAPACK. It factors the transpose, since LAPACK stores matrices by columns."""
    from scipy.linalg import get_lapack_funcs

    at = np.arange(len(m.r))
    system = m.matrix[at * m.r.shape[1] + pi].astype(precision)
    system *= precision(-m.gamma)
    system[at, at] += precision(1.0)
    getrf, getrs = get_lapack_funcs(("getrf", "getrs"), (system,))
    factors, pivots, failed = getrf(system.T, overwrite_a=True)
    return None if failed else lambda b: getrs(factors, pivots, b, trans=1)[0]


def sparse_factors(m: Model, pi: I1) -> Solve | None:
    """A solver for I - gamma P by SuperLU. It factors the transpose, since our matrix is stored by rows."""
    from scipy.sparse.linalg import splu

    ends, columns, entries = policy_rows(m, pi)
    transposed = sparse.csc_array((entries, columns, ends), shape=(len(m.r), len(m.r)))
    options = {"SymmetricMode": True}
    try:
        factors = splu(transposed, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError:  # exactly singular
        return None
    return partial(factors.solve, trans="T")


def mixture(m: Model, weight: F2) -> Model:
    """The model whose only action is to draw an action with these probabilities (S, A)."""
    S, A, K = m.succ.shape
    r = frozen(np.einsum("sa,sa->s", weight, m.r)[:, None])
    if len(m.matrix):
        matrix = np.einsum("sa,say->sy", weight, m.matrix.reshape(S, A, S))
        unused = np.zeros((S, 1, 1), np.int32)
        return m._replace(matrix=frozen(matrix), succ=frozen(unused), group=frozen(unused[:, :, 0].copy()), r=r)
    prob = (weight[:, :, None] * m.prob[m.group]).reshape(S, A * K)
    group, size = np.arange(S, dtype=np.int32)[:, None], np.full(S, A * K, np.int32)
    succ = m.succ.reshape(S, 1, A * K)
    return m._replace(matrix=LISTS, succ=succ, prob=frozen(prob), group=frozen(group), size=frozen(size), r=r)


@njit
def policy_rows(m: Model, pi: Any) -> Any:
    """I - gamma P under the policy, in compressed rows: (end of each row, columns, entries)."""
    S, _, K = m.succ.shape
    ends, columns, entries = np.zeros(S + 1, np.int32), np.empty(S * (K + 1), np.int32), np.empty(S * (K + 1))
    n = 0
    for s in range(S):
        g, own = m.group[s, pi[s]], n
        columns[own], entries[own] = s, 1.0
        n += 1
        for k in range(m.size[g]):
            y, p = m.succ[s, pi[s], k], m.prob[g, k]
            if y == s:
                entries[own] -= m.gamma * p
            elif p > 0.0:
                columns[n], entries[n] = y, -m.gamma * p
                n += 1
        ends[s + 1] = n
    return ends, columns[:n], entries[:n]
