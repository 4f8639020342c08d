"""Exact expectimax over the beliefs that a game can lead to, with equal beliefs merged.

A node is a state with what has been counted since the root. Orders of the same events lead to the same node: after t
rounds of the 2 by 2 game with 8 events there are C(7 + t, t) nodes in place of 8^t paths. The tree depends on what is
possible and on no count, so it is grown once for many decisions; a decision is one compiled pass over its nodes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bayesrl.beliefs.games._urns import Urns, mean_model, models, shares, solved
from bayesrl.checks import Bools, Floats, Ints, all_frozen
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, F3, I1, I4
from bayesrl.kernels.jit import njit

MOST = 2_000_000
"""The largest number of entries of a level: beliefs times events."""


class TreeShape(NamedTuple):
    """The parts of a tree that do not change: sizes, possible outcomes, and which parts of the game are learned."""

    sizes: tuple[int, int, int, int, int]
    possible: bytes
    """Whether joint action j in s may lead to y and pay v, as (S, J, S, V) truth values."""
    moves_learn: bool
    pays_learn: bool


class Nodes(NamedTuple):
    """The nodes of all levels, N in all, and what has been counted on the way at their state and context."""

    state: I1
    context: I1
    moved: F3
    """Counts of next states, (N, J, S)."""
    paid: F3
    """Counts of rewards, (N, J, V)."""
    played: F2
    """Counts of the other's actions, (N, B)."""
    child: I4
    """The node after an event, (N', J, S, V), for the nodes N' of all levels but the last."""


class BeliefTree(NamedTuple):
    """The nodes; the first node of the last level; and what happened on the way to its n nodes, (n, depth)."""

    nodes: Nodes
    last: int
    events: Ints


def shape_of(u: Urns) -> TreeShape:
    """The shape of the trees of a belief."""
    possible = np.broadcast_to(u.moves[..., None] > 0.0, u.worth.shape)  # every listed reward is possible
    return TreeShape(u.shape, possible.tobytes(), u.moves_learn, u.pays_learn)


def lookahead(owner: str, u: Urns, shape: TreeShape, state: int, last: int, depth: int, leaf: str) -> Floats:
    """Values (A,) of the actions over `depth` rounds if every later action is the best given what was seen by then.

    `shape` is `shape_of(u)`, which no step changes.
    """
    t = grow(owner, shape, state, u.context(state, last), depth if leaf == "mean" else depth - 1, depth)
    v = np.zeros(len(t.nodes.state))
    inner = len(v)
    if leaf == "mean":
        inner = t.last
        v[inner:] = leaf_values(u, t)
    return back_up(t.nodes, u, v, inner)


@njit
def back_up(t: Nodes, u: Urns, v: F1, inner: int) -> F1:
    """v <- values of the first `inner` nodes, from the last to the first; returns the action values of the root."""
    S, J, V = u.pays.shape
    B = u.others.shape[1]
    q = np.zeros(J // B)
    for n in range(inner - 1, -1, -1):
        s, c = t.state[n], t.context[n]
        q[:] = 0.0
        seen = u.others[c].sum() + t.played[n].sum()
        for j in range(J):
            a, o = j // B, j % B
            moves = u.moves[s, j].sum() + t.moved[n, j].sum() if u.moves_learn else 1.0
            pays = u.pays[s, j].sum() + t.paid[n, j].sum() if u.pays_learn else 1.0
            x = 0.0
            for y in range(S):
                to = u.moves[s, j, y] + (t.moved[n, j, y] if u.moves_learn else 0.0)
                if to > 0.0:
                    for k in range(V):
                        paid = u.pays[s, j, k] + (t.paid[n, j, k] if u.pays_learn else 0.0)
                        later = u.gamma * v[t.child[n, j, y, k]] if n < len(t.child) else 0.0
                        x += to * paid * (u.worth[s, j, y, k] + later)
            q[a] += (u.others[c, o] + t.played[n, o]) / seen * x / (moves * pays)
        v[n] = q.max()
    return q


def leaf_values(u: Urns, t: BeliefTree) -> Floats:
    """The mean model's value at each node of the last level, (n,)."""
    _, J, _, C, B = u.shape
    most = max(MOST // (C * C * J // B), 1)
    contexts, parts = t.nodes.context[t.last :], range(0, len(t.events), most)
    return np.concatenate([values_after(u, t.events[i : i + most], contexts[i : i + most]) for i in parts])


def values_after(u: Urns, events: Ints, context: Ints) -> Floats:
    """The mean model's value after the events of n paths, (n, depth), in their contexts."""
    S, _, _, C, B = u.shape
    n = len(events)
    moves, pays, others = (np.repeat(x[None], n, axis=0) for x in (u.moves, u.pays, u.others))
    c, j, y, v = decoded(events, u.shape)
    i = np.arange(n)[:, None]
    s = c // (C // S)
    if u.moves_learn:
        np.add.at(moves, (i, s, j, y), 1.0)
    if u.pays_learn:
        np.add.at(pays, (i, s, j, v), 1.0)
    np.add.at(others, (i, c, j % B), 1.0)
    q = solved(*models(shares(moves), shares(pays), shares(others), u), u.gamma)
    return np.asarray(q[np.arange(n), context].max(axis=1))


def mean_values(u: Urns, context: int) -> Floats:
    """Values (A,) of the mean game against the predictive strategy."""
    return np.asarray(solved(*mean_model(u), u.gamma)[0, context])


# The tree ------------------------------------------------------------------------------------------------------------
#
# An event is a number: ((c J + j) S + y) V + v. What is not learned is left out of it, so that more nodes are equal:
# then j is the other's action, y is 0, v is 0.


def decoded(event: Ints, sizes: tuple[int, int, int, int, int]) -> tuple[Ints, Ints, Ints, Ints]:
    """(c, j, y, v) of events."""
    S, J, V, _, _ = sizes
    rest, v = np.divmod(event, V)
    rest, y = np.divmod(rest, S)
    c, j = np.divmod(rest, J)
    return c, j, y, v


@lru_cache(maxsize=64)
def grow(owner: str, shape: TreeShape, state: int, context: int, depth: int, asked: int) -> BeliefTree:
    """The tree of `depth` steps from a state and a context; its owner was asked for a lookahead of `asked` steps."""
    S, J, V, C, B = shape.sizes
    possible = np.frombuffer(shape.possible, np.bool_).reshape(S, J * S * V)
    j, y, v = (x.ravel() for x in np.indices((J, S, V)))
    learns = shape.moves_learn or shape.pays_learn
    part = ((j if learns else j % B) * S + (y if shape.moves_learn else 0)) * V + (v if shape.pays_learn else 0)
    s, c, events = np.array([state]), np.array([context]), np.zeros((1, 0), np.int64)
    levels, children, first = [counted(s, c, events, shape)], [], [0, 1]
    for t in range(depth):
        node, event = np.nonzero(possible[s])
        after = np.sort(np.column_stack([events[node], c[node] * (J * S * V) + part[event]]), axis=1)
        reached = y[event]
        beyond = reached if C == S else reached * (J + 1) + j[event] + 1
        keys, index = np.unique(np.column_stack([after, beyond]), axis=0, return_inverse=True)
        if len(keys) * len(j) > MOST:
            expected = f"smaller, as there are {len(keys)} beliefs with {len(j)} events each after {t + 1} steps"
            raise InvalidArgument(owner, "depth", expected, asked)
        child = np.zeros((len(s), J * S * V), np.int64)
        child[node, event] = first[-1] + index.ravel()
        c, events = keys[:, -1], keys[:, :-1]
        s = c if C == S else c // (J + 1)
        levels.append(counted(s, c, events, shape))
        children.append(child.reshape(-1, J, S, V))
        first.append(first[-1] + len(s))
    s, c, moved, paid, played = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    after_all: I4 = np.concatenate(children) if children else np.zeros((0, J, S, V), np.int64)
    return BeliefTree(all_frozen(Nodes(s, c, moved, paid, played, after_all)), first[-2], events)


def counted(s: Ints, c: Ints, events: Ints, shape: TreeShape) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    """The nodes of a level: state, context, and what the events add to the urns at them."""
    S, J, V, C, B = shape.sizes
    n = len(s)
    moved, paid, played = np.zeros((n, J, S)), np.zeros((n, J, V)), np.zeros((n, B))
    for where, j, y, v in (decoded(event, shape.sizes) for event in events.T):
        here = np.flatnonzero(where // (C // S) == s)
        moved[here, j[here], y[here]] += 1.0
        paid[here, j[here], v[here]] += 1.0
        same: Bools = where == c
        played[same, j[same] % B] += 1.0
    return s, c, moved, paid, played
