"""The tree of a search on histories: rows of flat arrays, found by hashing (parent, action, outcome).

Shapes: n rows (the capacity), A actions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesrl.kernels.arrays import F1, F2, I1, I2
from bayesrl.kernels.jit import njit
from bayesrl.kernels.search.search_bounds import MEAN, SQUARES


class Tree(NamedTuple):
    """Histories h as rows of flat arrays; row 0 is the root. Children come after their parents."""

    N: I2  # (n, A) visits N(h, a)
    Q: F2  # (n, A) values Q(h, a)
    total: I1  # (n,) N(h)
    parent: I1  # (n,) the preceding history
    edge: I1  # (n,) outcome * A + action of the step from the parent
    slots: I1  # hash table: (parent, edge) -> h, or -1
    used: I1  # (1,) rows in use
    spread: F1  # (4,) statistics of the total[0] returns from the root (`kernels/search/search_bounds.py: add_return`)


def new_tree(A: int, more: int, kept: Tree | None = None) -> Tree:
    """A tree with the histories of `kept` and room for `more`."""
    used = 1 if kept is None else int(kept.used[0])
    n = used + int(more) + 1
    slots = np.full(1 << (2 * n).bit_length(), -1, np.int64)
    tree = Tree(
        np.zeros((n, A), np.int64), np.zeros((n, A)), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.zeros(n, np.int64), slots, np.array([used]), np.zeros(4) if kept is None else kept.spread.copy(),
    )  # fmt: skip
    if kept is not None:
        for mine, theirs in zip(tree[:5], kept[:5], strict=True):
            mine[:used] = theirs[:used]
    hash_all(tree)
    return tree


def subtree(tree: Tree, code: int, action: int) -> Tree | None:
    """The subtree below a real step from the root, or None if the tree does not contain it.

    The returns from the new root were not kept one by one. Their mean is that of its values, and their variance and
    range are taken to be those of the returns from the old root.
    """
    root = int(tree.slots[find_slot(tree, 0, code * tree.N.shape[1] + action)])
    if root < 0:
        return None
    place = renumber(tree.parent[: tree.used[0]], root)
    rows = np.flatnonzero(place >= 0)
    parent = place[tree.parent[rows]]
    parent[0] = 0
    n, count = np.array([len(rows)]), tree.total[root]
    legal = tree.Q[root] > -np.inf
    mean = tree.N[root, legal] @ tree.Q[root, legal] / max(count, 1)
    spread = tree.spread + (mean - tree.spread[MEAN])
    spread[SQUARES] = tree.spread[SQUARES] * count / tree.total[0]
    return Tree(tree.N[rows], tree.Q[rows], tree.total[rows], parent, tree.edge[rows], tree.slots[:0], n, spread)


@njit
def renumber(parent: I1, root: int) -> I1:
    """New row numbers for a root and the histories below it, in order; -1 for all others."""
    place, n = np.full(len(parent), -1), 1
    place[root] = 0
    for h in range(root + 1, len(parent)):
        if place[parent[h]] >= 0:
            place[h] = n
            n += 1
    return place


@njit
def child_of(tree: Tree, h: int, e: int) -> int:
    """The history that follows h by edge e; it is added if it is new."""
    slot = find_slot(tree, h, e)
    if tree.slots[slot] < 0:
        new = tree.used[0]
        tree.slots[slot], tree.parent[new], tree.edge[new] = new, h, e
        tree.used[0] = new + 1
    return tree.slots[slot]


@njit
def hash_all(tree: Tree) -> None:
    """Enter the histories of a tree into its hash table."""
    for h in range(1, tree.used[0]):
        tree.slots[find_slot(tree, tree.parent[h], tree.edge[h])] = h


@njit
def find_slot(tree: Tree, h: int, e: int) -> int:
    """The slot of the history that follows h by edge e, or the free slot for it."""
    slot = ((h * 0x9E3779B1 + e * 0x85EBCA77) >> 3) & (len(tree.slots) - 1)
    while tree.slots[slot] >= 0 and (tree.parent[tree.slots[slot]] != h or tree.edge[tree.slots[slot]] != e):
        slot = (slot + 1) & (len(tree.slots) - 1)
    return slot
