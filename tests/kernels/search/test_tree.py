"""Rules of choice in trees: ties are broken evenly, wherever they stand."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.kernels.search.search_bounds import (
    LeafBounds,
    add_node,
    back_up,
    highest,
    select,
    sparse_tree,
    widest_child,
)

RUNS = 3000


def even(chosen, among, size):
    """Chi-squared test of equal frequencies of these choices, and none of the others. False alarm 1e-6."""
    counts = np.bincount(chosen, minlength=size)
    assert counts.sum() == counts[among].sum() == RUNS
    assert len(among) == 1 or stats.chisquare(counts[among]).pvalue > 1e-6


@pytest.mark.parametrize("x", [[1.0, 1.0], [0.0, 3.0, 3.0, -1.0, 3.0], [-np.inf, -np.inf, -np.inf], [5.0, 5.0, 7.0]])
def test_the_highest_is_drawn_evenly_among_ties(x):
    rng, x = default_rng(0), np.array(x)
    even([highest(rng, x) for _ in range(RUNS)], np.flatnonzero(x == x.max()), len(x))


def test_ucb_draws_evenly_among_ties():
    """Untried actions first; then the largest Q + c sqrt(log n / n_a), here that of actions 0, 2 and 3."""
    rng, Q = default_rng(1), np.array([[0.0, 9.0, 0.0, 0.0], [2.0, 1.0, 2.0, 2.0]])
    tried = np.array([[0, 5, 0, 0], [5, 5, 5, 5]])
    for h in range(2):
        even([select(rng, Q, tried, 20, h, 1.5) for _ in range(RUNS)], [0, 2, 3], 4)
    # the bonus decides: 1 + 3 sqrt(log 20 / 2) = 4.67 above 2 + 3 sqrt(log 20 / 9) = 3.73; with c = 1 the values do
    few = np.array([[9, 2, 9, 9]])
    assert {select(rng, Q[1:], few, 20, 0, 3.0) for _ in range(20)} == {1}
    assert {select(rng, Q[1:], few, 20, 0, 0.5) for _ in range(20)} == {0, 2, 3}


def test_the_widest_child_is_drawn_evenly_among_ties():
    """Gaps n (U - L) of .5 .5, .25 1, 0 and .125 2: a tie of three; no child once all bounds meet."""
    leaves = LeafBounds(0.5, np.zeros(0), np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]))
    tree = sparse_tree(8, 1, 4)
    root = add_node(tree, 0.0, 2.0)
    tree.size[root, 0] = 4
    tree.weight[root, 0, :, 0] = tree.weight[root, 0, :, 1] = [0.5, 0.25, 0.125, 0.125]
    tree.weight[root, 0, :, 2] = 1.0
    bounds = [(0.0, 0.5), (0.5, 1.5), (0.75, 0.75), (-0.5, 1.5)]
    for i, (low, high) in enumerate(bounds):
        tree.edge[root, 0, i] = [i, 0, 0, add_node(tree, low, high)]
    rng = default_rng(2)
    even([widest_child(rng, tree, leaves, root, 0, 2) for _ in range(RUNS)], [0, 1, 3], 4)
    back_up(tree, leaves, root, 0, 2)
    low, high = (
        1.0 + 0.5 * sum(n * b[j] for n, b in zip([0.5, 0.25, 0.125, 0.125], bounds, strict=True)) for j in (0, 1)
    )
    np.testing.assert_allclose(tree.value[root], [low, high, low, high])
    tree.value[1:5] = 0.5
    assert widest_child(rng, tree, leaves, root, 0, 2) == -1
