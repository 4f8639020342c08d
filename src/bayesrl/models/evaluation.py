"""The exact values of a stationary policy: the linear system (I - gamma P) V = R (Puterman 1994, section 6.1).

Small systems are eliminated in compiled code, dense ones by LAPACK, sparse ones by SuperLU; the matrix is diagonally
dominant, so that the sparse factors need no pivoting and keep the order that fills in least. Both libraries are loaded
where they are used, since that takes longer than to solve most problems.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bayesrl.checks import Floats, frozen
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.bellman import Model, eliminate, follow
from bayesrl.kernels.jit import njit
from bayesrl.models.solution import LISTS, Indices, model_of, policy_matrix, table_of

SMALL = 200
"""Number of states up to which elimination in compiled code is the fastest."""


def evaluate_policy(problem: Any, policy: ArrayLike) -> Floats:
    """The values of a policy: (S,) actions or (S, A) probabilities of actions.

    >>> from bayesrl.models.mdp import TabularMDP
    >>> stay_or_go = TabularMDP.from_dense([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], [[0, 0], [1, 1]], gamma=0.5)
    >>> evaluate_policy(stay_or_go, [1, 0]).tolist()
    [1.0, 2.0]
    """
    mdp = table_of(problem, "evaluate_policy")
    m = model_of(mdp)
    S, A = m.r.shape
    if np.ndim(policy) == 1:
        policy_matrix("evaluate_policy", policy, S, A)
        values = evaluate(m, np.asarray(policy, dtype=np.int64))
    else:
        values = evaluate(mixture(m, policy_matrix("evaluate_policy", policy, S, A)), np.zeros(S, np.int64))
    if values is None:
        expected = "one that ends its episodes, as the discount is 1"
        raise InvalidArgument("evaluate_policy", "policy", expected, np.asarray(policy))
    return values


def evaluate(m: Model, pi: Indices) -> Floats | None:
    """The values of a deterministic policy; None if it never ends and gamma is 1."""
    S, A = m.r.shape
    v, new = np.empty(S), np.empty(S)
    if S <= SMALL:
        return v if eliminate(m, pi, v, np.empty((S, S))) else None
    at = np.arange(S)
    if len(m.matrix):
        from scipy import linalg

        system = m.matrix[at * A + pi]
        system *= -m.gamma
        system[at, at] += 1.0
        factors = linalg.lu_factor(system, overwrite_a=True, check_finite=False)
        solve = partial(linalg.lu_solve, factors, check_finite=False)
    else:
        from scipy.sparse.linalg import splu

        ends, columns, entries = policy_rows(m, pi)
        transposed = sparse.csc_array((entries, columns, ends), shape=(S, S))
        options = {"SymmetricMode": True}
        try:
            factors = splu(transposed, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:  # exactly singular
            return None
        solve = partial(factors.solve, trans="T")
    v = solve(m.r[at, pi])
    follow(m, pi, v, new)
    v += solve(new - v)  # one step of iterative refinement
    return v if np.isfinite(v).all() else None


def mixture(m: Model, weight: Floats) -> Model:
    """The model with one action, which is to act at random with these probabilities (S, A)."""
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
    """I - gamma P under the policy, by rows: where each ends, its columns, its entries."""
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
