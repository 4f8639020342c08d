"""The tree of histories: every (history, edge) has a child of its own, also where hashes collide."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.kernels.search.history_tree import child_of, new_tree, subtree

A = 3


def grown(n):
    """A tree of n random histories, and {(parent, edge): child}."""
    tree, known, rng = new_tree(A, n), {}, default_rng(n)
    while len(known) < n:
        h, e = int(rng.integers(len(known) + 1)), int(rng.integers(4 * A))
        if (h, e) not in known:
            known[h, e] = len(known) + 1
            assert child_of(tree, h, e) == known[h, e]
    return tree, known


@pytest.mark.parametrize("n", [1, 40, 400])
def test_children_are_told_apart(n):
    tree, known = grown(n)
    for (h, e), child in known.items():
        assert child_of(tree, h, e) == child
        assert (tree.parent[child], tree.edge[child]) == (h, e)
    assert tree.used[0] == n + 1
    again = new_tree(A, 5, tree)  # hashed anew in a table of another size
    assert [child_of(again, *step) for step in known] == list(known.values())
    assert child_of(again, 0, 99) == n + 1


def test_a_subtree_has_the_histories_below_a_step():
    tree, known = grown(200)
    tree.N[:], tree.Q[:] = np.arange(len(tree.N))[:, None], 0.5
    tree.total[:] = np.arange(len(tree.N)) + 1
    (_, e), root = next((step, child) for step, child in known.items() if step[0] == 0)
    below, kept = {root}, subtree(tree, e // A, e % A)
    for (h, _), child in known.items():
        below |= {child} if h in below else set()
    assert kept.total.tolist() == [x + 1 for x in sorted(below)]
    assert kept.N[:, 0].tolist() == sorted(below)
    whole = new_tree(A, 1, kept)
    names = {h: i for i, h in enumerate(sorted(below))}
    for (h, edge), child in known.items():
        if h in below:
            assert child_of(whole, names[h], edge) == names[child]
    assert subtree(tree, 99, 0) is None
