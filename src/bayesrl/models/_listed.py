"""Lists of transitions, from sparse matrices or from the table of a Gymnasium environment.

A list has one entry for each possible (s, a, s'), in that order. No array of shape (S, A, S) is made.

A model also needs the rewards of transitions that are not listed, since a flat prior gives them a probability. The
source does not contain them. `unlisted_rewards` chooses the simplest rule that agrees with the list, so that the
rewards do not reveal which successors are possible:

1. If every state is always entered with the same reward, then the reward is a function of s'.
2. Otherwise, if every (s, a) has one reward, then the reward is a function of (s, a).
3. Otherwise the reward of (s, a) is its most probable one (the smaller one in a tie).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bayesrl.checks import Bools, Floats, Ints, array, frozen, number, rows_sum_to_one, sequence
from bayesrl.errors import InvalidArgument

Matrices = Any
"""One scipy sparse (S*A, S) matrix, or a sequence of A sparse (S, S) matrices (scipy has no types)."""


class Listed(NamedTuple):
    """The possible transitions of a model, sorted by (s, a, s')."""

    S: int
    A: int
    pair: Ints
    """s A + a."""
    y: Ints
    """The next state."""
    p: Floats
    """Its probability."""


class Ended(NamedTuple):
    """A Gymnasium table: its transitions, their rewards, and where episodes start and end."""

    listed: Listed
    reward: Floats
    start: Floats | None
    terminal: Sequence[int]
    end: int | None


def from_matrices(name: str, P: Matrices) -> tuple[int, int, sparse.csr_array]:
    """Convert sparse matrices in either form to (S, A, a matrix of shape (S*A, S)); duplicates are added up."""
    if sparse.issparse(P):
        S, A = P.shape[1], P.shape[0] // max(P.shape[1], 1)
        if A * S != P.shape[0] or A == 0:
            raise InvalidArgument("TabularMDP", name, "of shape (S*A, S)", P.tocoo())
        return S, A, sorted_rows(sparse.csr_array(P))
    try:
        parts = [sparse.coo_array(M) for M in P]
    except (TypeError, ValueError):
        parts = []
    if not parts or any(M.shape != parts[0].shape or M.shape[0] != M.shape[1] for M in parts):
        raise InvalidArgument("TabularMDP", name, "one square sparse matrix for each action", type(P).__name__)
    S, A = parts[0].shape[0], len(parts)
    rows = np.concatenate([M.row.astype(np.int64) * A + a for a, M in enumerate(parts)])
    columns, data = (np.concatenate([getattr(M, f) for M in parts]) for f in ("col", "data"))
    return S, A, sorted_rows(sparse.coo_array((data, (rows, columns)), shape=(S * A, S)).tocsr())


def is_sparse(R: ArrayLike | Matrices) -> bool:
    """Whether rewards are given as sparse matrices."""
    return sparse.issparse(R) or (isinstance(R, Sequence) and len(R) > 0 and sparse.issparse(R[0]))


def sorted_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """Copy a matrix, with sorted rows and duplicates added up."""
    new = matrix.copy()
    new.sum_duplicates()
    return new


def listed(P: Matrices) -> Listed:
    """The transitions of sparse matrices; rows must sum to one."""
    S, A, matrix = from_matrices("P", P)
    if matrix.nnz == 0:
        raise InvalidArgument("TabularMDP", "P", "rows that sum to 1", 0.0, "First at row (0, 0).")
    p = array("TabularMDP", "P", matrix.data, (None,), low=0.0)
    counts = np.diff(matrix.indptr)
    total = np.asarray(np.bincount(np.repeat(np.arange(S * A), counts), p, S * A), np.float64).reshape(S, A)
    whole = rows_sum_to_one("TabularMDP", "P", total[:, :, None], matrix.data)
    p = p / (total / whole[:, :, 0]).ravel().repeat(counts)
    return Listed(S, A, np.repeat(np.arange(S * A), counts), matrix.indices, p)


def listed_rewards(R: Matrices, t: Listed) -> Floats:
    """The entries of sparse rewards at the listed transitions."""
    S, A, matrix = from_matrices("R", R)
    if (S, A) != (t.S, t.A):
        raise InvalidArgument("TabularMDP", "R", f"of {t.S} states and {t.A} actions, as P", f"{S} and {A}")
    return array("TabularMDP", "R", np.asarray(matrix[t.pair, t.y]).ravel(), (len(t.p),))


def unlisted_rewards(t: Listed, reward: Floats, terminal: Bools) -> Floats:
    """The rewards of transitions that are not listed, to be broadcast to (S, A, S), by the rule above."""
    live = ~terminal[t.pair // t.A]
    pair, y, p, r = t.pair[live], t.y[live], t.p[live], reward[live]
    common = most_probable(np.zeros(len(r), np.int64), p, r, 1)[0] if len(r) else 0.0
    if is_function(y, r, t.S):
        paid = np.full(t.S, common)
        paid[y] = r
        return frozen(paid.reshape(1, 1, t.S))
    return frozen(most_probable(pair, p, r, t.S * t.A).reshape(t.S, t.A, 1))


def is_function(key: Ints, r: Floats, n: int) -> bool:
    """Whether entries with the same key have the same reward."""
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, key, r)
    np.maximum.at(high, key, r)
    return bool((high - low <= 1e-9 * (1.0 + np.abs(high)))[key].all())


def most_probable(key: Ints, p: Floats, r: Floats, n: int) -> Floats:
    """The most probable reward of each key, the smaller one in a tie; 0 for a key without entries. Shape (n,)."""
    order = np.lexsort((r, key))
    key, p, r = key[order], p[order], r[order]
    first = np.ones(len(key), np.bool_)
    first[1:] = (key[1:] != key[:-1]) | (r[1:] != r[:-1])
    mass = np.add.reduceat(p, np.flatnonzero(first)) if len(key) else p
    key, r = key[first], r[first]
    best = np.lexsort((-r, mass, key))  # the last entry of a key: the largest mass, then the smallest reward
    found = np.zeros(n)
    found[key[best]] = r[best]
    return found


# Gymnasium -----------------------------------------------------------------------------------------------------------


def from_environment(env: object) -> Ended:
    """Read the table `P[s][a] = [(probability, next state, reward, terminated), ...]` of an environment, or a table.

    A state that is entered only by terminating transitions is terminal. If other transitions enter it too, or if an
    episode may start in it, or end while staying in it, the state keeps its row. The terminating transitions then lead
    to an added terminal state (`end`) instead.
    """
    inner = getattr(env, "unwrapped", env)
    table = getattr(inner, "P", env)
    if not isinstance(table, Mapping) or not table:
        raise InvalidArgument("TabularMDP", "env", "an environment with a transition table P", type(env).__name__)
    listed_rows = [row for row in table.values() if isinstance(row, (Mapping, Sequence))]
    numbers = [set(row if isinstance(row, Mapping) else range(len(row))) for row in listed_rows]
    S, A = len(table), max(map(len, numbers), default=0)
    if set(table) != set(range(S)) or numbers != [set(range(A))] * S:
        raise InvalidArgument("TabularMDP", "P", "a table of every state and action, numbered from 0", list(table))
    rows = [(s, a, *out) for s in range(S) for a in range(A) for out in _outcomes(table, s, a)]
    if not rows:
        raise InvalidArgument("TabularMDP", "P", "a table of outcomes, one of them with a positive probability", table)
    first = getattr(inner, "initial_state_distrib", None)
    final, both = ends(rows, set() if first is None else set(np.flatnonzero(first).tolist()))
    n = S + bool(both)
    moved = [(s, a, p, S if done and y in both else y, r) for s, a, p, y, r, done in rows]
    moved += [(S, a, 1.0, S, 0.0) for a in range(A)] if both else []
    s_, a_, p_, y_, r_ = (np.array(column) for column in zip(*moved, strict=True))
    cells = (s_ * A + a_, y_)
    mass = sorted_rows(sparse.coo_array((p_, cells), shape=(n * A, n)).tocsr())
    paid = sorted_rows(sparse.coo_array((p_ * r_, cells), shape=(n * A, n)).tocsr())  # the same cells, zeros included
    start = None if first is None else np.append(first, [0.0] * (n - S))
    reward = paid.data / mass.data
    return Ended(listed(mass), reward, start, sorted(final) + ([S] if both else []), S if both else None)


def _outcomes(table: Mapping[Any, Any], s: int, a: int) -> Iterator[tuple[float, int, float, bool]]:
    """The possible outcomes (probability, next state, reward, terminated) of a pair, checked."""
    name, expected = f"P[{s}][{a}]", "a list of (probability, next state, reward, terminated)"
    for out in sequence("TabularMDP", name, table[s][a], expected):
        if not isinstance(out, (list, tuple)) or len(out) != 4:
            raise InvalidArgument("TabularMDP", name, expected, out)
        p, y, r, done = out
        if number("TabularMDP", f"{name}, a probability", p, 0.0) == 0.0:
            continue
        if y not in range(len(table)):
            raise InvalidArgument("TabularMDP", name, "of states that are in the table", y)
        yield float(p), int(y), number("TabularMDP", f"{name}, a reward", r), bool(done)


Row = tuple[int, int, float, int, float, bool]


def ends(rows: Sequence[Row], starts: set[int]) -> tuple[set[int], set[int]]:
    """(terminal states, states in which an episode may end although they are not terminal)."""
    entered = {y for s, _, _, y, _, done in rows if done and y != s}
    alive = {y for s, _, _, y, _, done in rows if not done and y != s} | starts
    in_place = {s for s, _, _, y, _, done in rows if done and y == s}
    lasting = {s for s, _, _, y, _, done in rows if not (done and y == s)}
    final = (entered | (in_place - lasting)) - alive
    return final, (entered | in_place) - final
