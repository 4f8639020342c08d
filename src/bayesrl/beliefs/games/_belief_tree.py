"""Exact expectimax over the beliefs that a game can lead to, with equal beliefs merged.

A node is a state with what has been counted since the root. Orders of the same events lead to the same node: after t
rounds of the 2 by 2 game with 8 events there are C(7 + t, t) nodes in place of 8^t paths. The tree depends on what is
possible and on no count, so it is grown once for many decisions; a decision is a few array operations.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bayesrl.beliefs.games._urns import Urns, mean_model, models, shares, solved
from bayesrl.checks import Bools, Floats, Ints
from bayesrl.errors import InvalidArgument

MOST = 2_000_000
"""The largest number of entries of a level: beliefs times events."""


class TreeShape(NamedTuple):
    """What a tree depends on besides its root: sizes, what is possible, and what is learned."""

    sizes: tuple[int, int, int, int, int]
    possible: bytes
    """Whether joint action j in s may lead to y and pay v, as (S, J, S, V) truth values."""
    moves_learn: bool
    pays_learn: bool


class Tree(NamedTuple):
    """The nodes of all levels, N in all; `first[t]` is the first node of level t, and the last entry is N."""

    first: tuple[int, ...]
    state: Ints
    context: Ints
    moved: Floats
    """What has been counted at this state and context: next states (N, J, S), rewards (N, J, V), others (N, B)."""
    paid: Floats
    played: Floats
    child: Ints
    """The node after an event, (N', J, S, V), for the nodes N' of all levels but the last."""
    events: Ints
    """What happened on the way to the nodes of the last level, (n, depth)."""


def shape_of(u: Urns) -> TreeShape:
    """The shape of the trees of a belief."""
    possible = (u.moves[..., None] > 0.0) & (u.pays[:, :, None, :] > 0.0)
    return TreeShape(u.shape, possible.tobytes(), u.moves_learn, u.pays_learn)


def lookahead(owner: str, u: Urns, shape: TreeShape, state: int, last: int, depth: int, leaf: str) -> Floats:
    """Values (A,) of the actions over `depth` rounds if every later action is the best given what was seen by then.

    `shape` is `shape_of(u)`, which no step changes.
    """
    S, J, V, _, B = u.shape
    means = leaf == "mean"
    t = grow(owner, shape, state, u.context(state, last), depth if means else depth - 1, depth)
    inner = t.first[depth] if means else t.first[-1]
    s = t.state[:inner]
    moves = shares(u.moves[s] + t.moved[:inner]) if u.moves_learn else u.moves[s]
    pays = shares(u.pays[s] + t.paid[:inner]) if u.pays_learn else u.pays[s]
    others = shares(u.others[t.context[:inner]] + t.played[:inner])
    p = (moves[..., None] * pays[:, :, None, :]).reshape(inner, J // B, B, S * V) * others[:, None, :, None]
    worth = u.worth.reshape(S, J // B, B * S * V)
    p = p.reshape(inner, J // B, B * S * V)
    q: Floats = np.einsum("nae,nae->na", p, worth[s])
    child = t.child.reshape(len(t.child), J // B, B * S * V)
    v = np.empty(t.first[-1])
    if means:
        v[inner:] = leaf_values(u, t)
    for low, high in reversed(list(zip(t.first[:depth], t.first[1 : depth + 1], strict=True))):
        if high < t.first[-1]:
            q[low:high] += u.gamma * np.einsum("nae,nae->na", p[low:high], v[child[low:high]])
        v[low:high] = q[low:high].max(axis=1)
    return np.asarray(q[0])


def leaf_values(u: Urns, t: Tree) -> Floats:
    """The mean model's value at each node of the last level, (n,)."""
    _, J, _, C, B = u.shape
    most = max(MOST // (C * C * J // B), 1)
    contexts, parts = t.context[t.first[-2] :], range(0, len(t.events), most)
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
def grow(owner: str, shape: TreeShape, state: int, context: int, depth: int, asked: int) -> Tree:
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
    child = np.concatenate(children) if children else np.zeros((0, J, S, V), np.int64)
    return Tree(tuple(first), s, c, moved, paid, played, child, events)


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
