"""Forward search in the Bayes-adaptive POMDP (Ross and others 2011, section 5; survey §4.9).

All histories of a few decisions are searched. The values are the Bayes-optimal ones of that many decisions: what is
learnt on the way, about the model and about the state, is taken into account. Nothing is sampled. Learning about the
model inside the tree shows from depth 3 on; Q_1 and Q_2 are those of the prior's mean model. Use it for few actions and
observations, and to check `ba-pomcp`.

Paper to code: Q_d(b, a) = sum b r + gamma sum_o P(o|b, a) max Q_{d-1}(tau(b, a, o)) is `value_of`; tau, the exact step
from the root's hyper-states on, is `step` in beliefs/pomdp/hyper_states.py.
Deviations: the paper's leaf is a value of the mean model (`leaf="mean"`: QMDP); ours is zero by default. Rewards may
depend on next states and observations. If the belief bounds its counts, so does the search. Ties are broken at random.
Cost: O((A Z)^(depth - 1) A) nodes, each of up to S^d times the root's hyper-states; equal ones merge.
Claims: equal to brute force over hidden paths at every depth.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bapomdp._hyper_search import (
    HyperSearchNeeds,
    SearchesHyperStates,
    compiled,
    expected,
    leaf_value,
    leaf_values,
)
from bayesrl.beliefs.pomdp.hyper_states import Branches, HyperStates, Rows, roots, step
from bayesrl.core import Decision, Transition
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import any_best
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@register(
    "bapomdp-forward-search",
    kind="planner",
    survey="4.9",
    paper="ross11",
    example=lambda: BAPOMDPForwardSearch(depth=2),
    evidence=(
        "tests/bapomdp/test_bapomdp_search.py::test_equals_brute_force_at_every_depth",
        "tests/bapomdp/test_bapomdp_search.py::test_learning_in_the_tree_shows_from_the_third_decision_on",
    ),
)
@declared
class BAPOMDPForwardSearch(SearchesHyperStates):
    """Full search over histories of an unknown POMDP, to a fixed depth.

    Examples
    --------
    A tiger whose accuracy is unknown: of three decisions the first two should listen.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.beliefs.ExactBAPOMDP(b.make_world("tiger", wrong=-20.0).model_prior())
    >>> decision = BAPOMDPForwardSearch(depth=3).plan(belief, -1, None, default_rng(0))
    >>> decision.action, decision.info["q"].round(3)
    (0, array([-1.574, -6.852, -6.852]))
    """

    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, d."] = 3

    def plan(
        self, belief: HyperSearchNeeds, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Search every future of `depth` decisions. The observation is not looked at: the belief knows it."""
        m, h = compiled(self, belief)
        q, nodes = search(m, h, self.depth, belief.gamma, leaf_values(self, belief, self.leaf), belief.n_observations)
        return Decision(any_best(q, rng), None, {"q": q, "lower": q, "upper": q, "nodes": int(nodes)})


class HyperSearch(NamedTuple):
    """Constants of a search."""

    gamma: float
    leaf: F2  # (S, A) Q after the last decision, or empty
    Z: int
    nodes: I1  # (1,) histories searched


@njit
def search(m: Rows, h: HyperStates, d: int, gamma: float, leaf: F2, Z: int) -> tuple[F1, int]:
    """(Q_d(b, a) of each action, histories searched)."""
    t = HyperSearch(gamma, leaf, Z, np.ones(1, np.int64))
    e = roots(h, 2 * d, len(m.mix))
    q: F1 = np.empty(m.move.shape[1])
    for a in range(len(q)):
        q[a] = value_of(m, h, e, a, d, t)
    return q, t.nodes[0]


@njit
def value_of(m: Rows, h: HyperStates, e: Branches, a: int, d: int, t: HyperSearch) -> float:
    """Q_d(b, a), times the weight of the branches."""
    q = expected(m, h, e, a, np.empty((0, 0)))
    for o in range(t.Z):
        if d == 1 and t.leaf.shape[0] == 0:
            continue
        new = step(m, h, e, a, o, False)
        if len(new.weight) == 0:
            continue
        v = -np.inf
        if d == 1:
            v = leaf_value(new, t.leaf)
        else:
            t.nodes[0] += 1
            for b in range(m.move.shape[1]):
                v = max(v, value_of(m, h, new, b, d - 1, t))
        q += t.gamma * v
    return q
