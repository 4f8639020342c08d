"""The common parts of exact searches of a Bayes-adaptive POMDP: expected rewards, leaves, the choice at the root.

A node is a history, and its belief a list of branches (`beliefs/pomdp/hyper_states.py`), which are not normalised:
they sum to the probability of the history. Values of nodes are multiplied by it too.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from bayesrl.beliefs.pomdp.hyper_states import FRESH, Branches, HyperStates, Rows, counts_in, present
from bayesrl.capabilities import HasMeanPOMDP, HasStates, demand
from bayesrl.checks import Floats
from bayesrl.core import Planner
from bayesrl.errors import Incompatible
from bayesrl.kernels.arrays import F2
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.simulator import borrowed
from bayesrl.models.solve import solve
from bayesrl.parameters import shared
from bayesrl.traits import Traits

Leaf = Literal["zero", "mean"]
"""The value after the last decision: zero, or QMDP's, in the mean model at the root."""
HYPER_STATES = "Beliefs over hyper-states fit (ExactBAPOMDP, ParticleBAPOMDP; on the command line --prior exact)."
"""The hint for a belief that does not fit."""


@runtime_checkable
class EnumeratesHyperStates(HasStates, Protocol):
    """A belief over hyper-states that exact searches can expand."""

    def compiled_hyper_states(self) -> tuple[Rows, HyperStates]:
        """The arrays that all hyper-states share, and the hyper-states."""


class HyperSearchNeeds(HasMeanPOMDP, EnumeratesHyperStates, Protocol):
    """A belief for the exact searches."""


@shared
class SearchesHyperStates:
    """An exact search: what it needs, and its leaves."""

    __slots__ = ()

    _: KW_ONLY
    leaf: Annotated[Leaf, "The value after the last decision: zero, or QMDP's in the mean model."] = "zero"

    needs: ClassVar[tuple[type, ...]] = (HyperSearchNeeds,)
    traits: ClassVar[Traits] = Traits(elsewhere=HYPER_STATES)
    priors_first: ClassVar[tuple[str, ...]] = ("bounded",)
    """The tree has a branch for each hyper-state; this prior begins with few of them."""

    def start(self) -> None:
        """Nothing to remember."""


def leaf_values(planner: Planner[Any, Any], belief: HyperSearchNeeds, leaf: Leaf) -> Floats:
    """Q(s, a) of the mean model if states are seen from then on, (S, A); empty if leaves are zero."""
    if leaf == "zero":
        return np.zeros((0, 0))
    try:
        return np.array(solve(belief.mean_pomdp().mdp).q)
    except AttributeError:
        demand(planner, belief)
        raise


def compiled(planner: Planner[Any, Any], belief: HyperSearchNeeds) -> tuple[Rows, HyperStates]:
    """The belief's hyper-states. Without an agent, a belief that does not fit raises the same error as `BayesAgent`."""
    try:
        return belief.compiled_hyper_states()
    except (AttributeError, Incompatible):
        demand(planner, belief)
        raise


@njit
def expected(m: Rows, h: HyperStates, e: Branches, a: int, after: F2) -> float:
    """The sum over branches of w E[r + after(root, s')], where s' is not terminal. `after` is (1, S), or (N, S)."""
    m, h = borrowed(m), borrowed(h)
    W, total = m.alpha.shape[1], 0.0
    x, z = np.empty(W), np.empty(W)
    by_next, by_sign, none = m.reward.shape[2] > 1, m.reward.shape[3] > 1, after.shape[0] == 0
    for i in range(len(e.weight)):
        t = 0 if after.shape[0] == 1 else e.root[i]
        for s in present(m, e.state[i]):
            w = e.weight[i] * (m.start[s] if e.state[i] == FRESH else 1.0)
            if w > 0.0 and not by_next and not by_sign:
                total += w * m.reward[s, a, 0, 0]
            if w == 0.0 or (none and not by_next and not by_sign):
                continue
            g = m.move[s, a]
            moves = counts_in(m, h, e.root[i], e.path[i], g, x)
            for k in range(m.size[g]):
                y = m.succ[s, a, k]
                p = w * x[k] / moves
                if p == 0.0:
                    continue
                if not none and not m.terminal[y]:
                    total += p * after[t, y]
                if by_sign:
                    r = m.show[y, a]
                    shows = counts_in(m, h, e.root[i], e.path[i], r, z)
                    for j in range(m.size[r]):
                        o = m.observation[y, a, j]
                        total += p * (z[j] / shows) * m.reward[s, a, y if by_next else 0, o]
                elif by_next:
                    total += p * m.reward[s, a, y, 0]
    return total


@njit
def leaf_value(e: Branches, leaf: F2) -> float:
    """QMDP's value: max_a sum_s b(s) Q(s, a); zero without leaves."""
    if leaf.shape[0] == 0:
        return 0.0
    q = np.zeros(leaf.shape[1])
    for i in range(len(e.weight)):
        q += e.weight[i] * leaf[e.state[i]]
    return q.max()
