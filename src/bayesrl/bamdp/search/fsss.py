"""Forward-search sparse sampling (Walsh, Goschin, Littman 2010; survey §4.5 and §4.6).

Sparse sampling guided by bounds: every node, a state with d decisions to go, has a lower and an upper bound. A
trajectory takes the action of highest upper bound. Of the C successors drawn for it, it follows the one with the
largest n (U - L), where n is how often the successor was drawn (not how often it was visited, ERRATA 35). The
trajectory ends at the last decision, and bounds are backed up along its path. The method finds the value of sparse
sampling's tree without visiting all of it. BFS3 extends it to hyper-states.

The generative model is the belief's mean model. The belief is not updated inside the plan.

Paper to code: a trajectory is the inner loop of `search`; K^d(s, a), L and U are the arrays of `Sparse` in
kernels/search/search_bounds.py. As in the paper, a state with the same number of decisions to go is one node.
Deviations: V_min and V_max with d decisions to go are those of d rewards, which are tighter than r / (1 - gamma) and
finite at discount 1. The paper's bounds bracket the value of the sampled tree; its upper bounds are `q`. Since the
model's probabilities are known, `lower` and `upper` also bracket the true value: draws are weighted by their
probabilities, and outcomes that were not drawn are taken at their worst and best. Ties are broken at random.
No parameter is in units of reward: the bounds come from the model's own rewards.
Cost: O(simulations x depth x width), and A width draws for each new node. Claims: equal to a naive transcription draw
for draw; `lower` and `upper` bracket the solved values and tighten with every trajectory.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import Leaf, bounds_of_leaves, leaf_values
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import HasMeanMDP
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.arrays import F2, I2
from bayesrl.kernels.jit import njit
from bayesrl.kernels.search.search_bounds import (
    CHILD,
    DONE,
    LOWER,
    STATE,
    SURE_LOWER,
    SURE_UPPER,
    UPPER,
    LeafBounds,
    Sparse,
    add_node,
    back_up,
    highest,
    leaf_bounds,
    sample,
    sparse_tree,
    widest_child,
)
from bayesrl.kernels.simulators.simulator import borrowed
from bayesrl.kernels.simulators.urn import Urn, model_urn
from bayesrl.kernels.ties import better
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@register(
    "fsss",
    kind="planner",
    survey="4.5",
    paper="walsh10",
    example=lambda: FSSS(simulations=20, depth=4, width=3),
    facets=Facets(
        depth="variable d",
        actions="argmax_a U(s,a)",
        successors="argmax_s' n(s') (U(s') - L(s')) of C drawn",
        posterior="N/A: the mean model",
        solution="backups in tree, heuristic at leaves",
        guarantee="near-optimal in the mean model",
    ),
    evidence=(
        "tests/bamdp/search/test_known_model_search.py::test_fsss_equals_its_transcription_draw_for_draw",
        "tests/bamdp/search/test_known_model_search.py::test_fsss_bounds_bracket_and_tighten",
        "tests/bamdp/search/test_known_model_search.py::test_root_values_approach_the_solved_ones",
    ),
)
@declared
class FSSS:
    """Sparse sampling in the mean model, guided by bounds.

    Examples
    --------
    The bounds bracket the solved values of the mean model.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> world = b.make_world("chain", gamma=0.9)
    >>> point = b.DirichletMDP.structured(world, known=True)
    >>> info = FSSS(simulations=200, depth=10, leaf="mean").plan(point, 4, None, default_rng(0)).info
    >>> q = b.solve(world).q[4]
    >>> bool((info["lower"] <= q).all() and (q <= info["upper"]).all())
    True
    """

    simulations: Annotated[
        int,
        AtLeast(1),
        "Largest number of trajectories per decision; the search stops when the value of the tree is known.",
    ] = 500
    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, H."] = 20
    width: Annotated[int, AtLeast(1), "Successors drawn for each node and action, C."] = 10
    leaf: Leaf = "zero"

    needs: ClassVar[tuple[type, ...]] = (HasMeanMDP,)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: HasMeanMDP, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search the mean model; `q` is the upper bound of the sampled tree, by which the action is chosen."""
        s = state_in("FSSS", belief, observation)
        mdp = belief.mean_mdp()
        leaf = leaf_values("FSSS", belief, belief.n_states, self.leaf)
        leaves = bounds_of_leaves(mdp.outcomes.reward_range, mdp.gamma, self.depth, leaf)
        q, done = search(rng, model_urn(mdp), leaves, s, self.simulations, self.depth, self.width)
        info = {"q": q[UPPER], "lower": q[SURE_LOWER], "upper": q[SURE_UPPER], "simulations": int(done)}
        return Decision(best_action(q[UPPER], "random", rng), None, info)


@njit
def search(rng: Generator, model: Urn, leaves: LeafBounds, s0: int, K: int, D: int, C: int) -> tuple[F2, int]:
    """Run at most K trajectories of D decisions from s0: (bounds of Q(s0, a), number of trajectories)."""
    model, (S, A) = borrowed(model), model.place.shape[:2]
    tree = sparse_tree(min(1 + (D - 1) * S, 1 + K * (D - 1) * A * C), A, C)
    node = np.full((D, S), -1, np.int64)  # the node of a state after t decisions
    path_h, path_a = np.empty(D, np.int64), np.empty(D, np.int64)
    low, high = leaf_bounds(leaves, s0, D, model.terminal[s0])
    root, done, scale = add_node(tree, low, high), 0, max(abs(low), abs(high))
    while done < K and better(tree.value[root, UPPER], tree.value[root, LOWER], scale):
        h, s, t = root, s0, 0
        while True:
            if tree.size[h, 0] == 0:
                sample(rng, tree, model, h, s)
                link(tree, node, leaves, h, t)
                for a in range(A):
                    back_up(tree, leaves, h, a, D - t)
            a = highest(rng, tree.q[h, UPPER], scale)
            i = widest_child(rng, tree, leaves, h, a, D - t, scale)
            path_h[t], path_a[t] = h, a
            if i < 0:
                break
            h, s, t = tree.edge[h, a, i, CHILD], tree.edge[h, a, i, STATE], t + 1
        for u in range(t, -1, -1):
            back_up(tree, leaves, path_h[u], path_a[u], D - u)
        done += 1
    if done == 0:  # terminal, or every reward is the same
        for j in range(4):
            for a in range(A):
                tree.q[root, j, a] = tree.value[root, j]
    return tree.q[root].copy(), done


@njit
def link(tree: Sparse, node: I2, leaves: LeafBounds, h: int, t: int) -> None:
    """Set the children of h: the node that (depth, state) already has, or a new one."""
    D = len(node)
    for a in range(tree.q.shape[2]):
        for i in range(tree.size[h, a]):
            y = tree.edge[h, a, i, STATE]
            if t + 1 < D and not tree.edge[h, a, i, DONE]:
                if node[t + 1, y] < 0:
                    low, high = leaf_bounds(leaves, y, D - t - 1, False)
                    node[t + 1, y] = add_node(tree, low, high)
                tree.edge[h, a, i, CHILD] = node[t + 1, y]
