"""Sparse sampling (Kearns, Mansour, Ng 1999; survey §4.5).

Plan in a known model with draws from it: from the present state draw C successors of every action, then C successors
of each of their actions, and so on for d decisions. The tree is backed up by mean over draws and maximum over actions.
The number of draws for a given accuracy does not depend on the number of states. Bayesian sparse sampling and BFS3
extend the method.

The generative model is the belief's mean model. The belief is not updated inside the plan.

Paper to code: EstimateQ is `estimate`; EstimateV is the maximum over actions in it.
Deviations: rewards may depend on the outcome. All levels have the same width, as in the paper's main algorithm. Ties
are broken at random. No parameter is in units of reward: every action is drawn equally often.
Cost: O((A width)^depth). Claims: equal to a naive transcription draw for draw; root values
approach the finite-horizon optimum of the model as the width grows, from above, since the maximum of noisy means is
biased upwards.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import Leaf, leaf_values
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import HasMeanMDP
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.arrays import F1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.simulator import borrowed, step
from bayesrl.kernels.simulators.urn import Urn, model_urn
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@register(
    "sparse-sampling",
    kind="planner",
    survey="4.5",
    paper="kearns99sparse",
    example=lambda: SparseSampling(depth=2, width=3),
    facets=Facets(
        depth="fixed d",
        actions="all a",
        successors="C of s' ~ Pr(s'|s,a,phi)",
        posterior="N/A: the mean model",
        solution="backups in tree, heuristic at leaves",
        guarantee="near-optimal in the mean model",
    ),
    evidence=(
        "tests/bamdp/search/test_known_model_search.py::test_sparse_sampling_equals_its_transcription_draw_for_draw",
        "tests/bamdp/search/test_known_model_search.py::test_root_values_approach_the_solved_ones",
    ),
)
@declared
class SparseSampling:
    """A sampled lookahead tree of fixed depth and width in the mean model.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> point = b.DirichletMDP.structured(b.make_world("chain", gamma=0.9), known=True)
    >>> SparseSampling(depth=3, width=8).plan(point, 4, None, default_rng(0)).action  # advance: it pays 10 there
    0
    """

    depth: Annotated[int, AtLeast(1), "Decisions looked ahead, H."] = 4
    width: Annotated[int, AtLeast(1), "Successors drawn for each node and action, C."] = 4
    leaf: Leaf = "zero"

    needs: ClassVar[tuple[type, ...]] = (HasMeanMDP,)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: HasMeanMDP, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Draw the tree from the mean model."""
        s = state_in("SparseSampling", belief, observation)
        model, leaf = model_urn(belief.mean_mdp()), leaf_values("SparseSampling", belief, belief.n_states, self.leaf)
        q = search(rng, model, s, self.depth, self.width, belief.gamma, leaf)
        return Decision(best_action(q, "random", rng), None, {"q": q})


@njit
def search(rng: Generator, model: Urn, s: int, d: int, C: int, gamma: float, V0: F1) -> F1:
    """Q_d(s, a) of each action."""
    model, q = borrowed(model), np.zeros(model.place.shape[1])
    if not model.terminal[s]:
        for a in range(len(q)):
            q[a] = estimate(rng, model, s, a, d, C, gamma, V0)
    return q


@njit
def estimate(rng: Generator, model: Urn, s: int, a: int, d: int, C: int, gamma: float, V0: F1) -> float:
    """Q_d(s, a) = 1/C sum over C draws (r, y) of r + gamma max_b Q_{d-1}(y, b)."""
    q = 0.0
    for _ in range(C):
        _k, y, r, done, _mark = step(model, s, a, rng)
        v = V0[y]
        if d > 1 and not done:
            v = -np.inf
            for b in range(model.place.shape[1]):
                v = max(v, estimate(rng, model, y, b, d - 1, C, gamma, V0))
        q += (r + gamma * v) / C
    return q
