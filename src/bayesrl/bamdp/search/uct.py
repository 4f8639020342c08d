"""Upper confidence bounds applied to trees (Kocsis, Szepesvari 2006; survey §4.5).

Monte-Carlo planning in a known model. Every simulation chooses actions by the UCB rule at each (state, depth) it
passes, so that most draws go where values are high or uncertain. Returns are averaged along its path. Root values
converge to the finite-horizon optimum. BAMCP extends it to hyper-states.

The generative model is the belief's mean model (a point belief's only model). The belief is not updated inside the
plan.

Paper to code: `search` is MonteCarloPlanning with its recursion unrolled, selectAction is `select` in
kernels/search/search_bounds.py, N_{s,d} and N_{s,a,d} are `total` and `N`.
Deviations: the bonus is c sqrt(log N / n) with c = 2 C_p unscaled, so c is in units of returns. The paper has returns
in [0, 1]. By default the bonus is that of Bernstein's inequality, with the standard deviation and the range of the
returns simulated from the root so far (`ucb_constants`), so that the unit of rewards does not matter. Every
(state, depth) that a simulation passes has statistics, as in the paper: there is no separate rollout policy. Ties are
broken at random.
Cost: O(simulations x depth x A) time, O(S x depth x A) memory. Claims: equal in law to a naive transcription; root
values approach the finite-horizon optimum of the model (from below: returns include exploring).
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.search._lookahead import Exploration, Leaf, constant_of, leaf_values
from bayesrl.beliefs.choices import best_action
from bayesrl.capabilities import HasMeanMDP
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.arrays import F1, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.search.search_bounds import add_return, apart, select, ucb_constants
from bayesrl.kernels.simulators.simulator import borrowed, step
from bayesrl.kernels.simulators.urn import Urn, model_urn
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@register(
    "uct",
    kind="planner",
    survey="4.5",
    paper="kocsis06",
    example=lambda: UCT(simulations=20, depth=5),
    facets=Facets(
        depth="fixed d",
        actions="UCT criteria",
        successors="s' ~ Pr(s'|s,a,phi)",
        posterior="N/A: the mean model",
        solution="average returns in tree, heuristic at leaves",
        guarantee="optimal in the mean model in the limit",
    ),
    evidence=(
        "tests/bamdp/search/test_known_model_search.py::test_uct_equals_its_transcription_in_law",
        "tests/bamdp/search/test_known_model_search.py::test_root_values_approach_the_solved_ones",
    ),
)
@declared
class UCT:
    """Monte-Carlo tree search with the UCB rule in the mean model.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> point = b.DirichletMDP.structured(b.make_world("chain", gamma=0.9), known=True)
    >>> decision = UCT(simulations=2000, depth=8, exploration=30.0).plan(point, 4, None, default_rng(0))
    >>> decision.action, int(decision.info["visits"].sum())  # advance: it pays 10 there
    (0, 2000)
    """

    simulations: Annotated[int, AtLeast(1), "Simulations per decision."] = 1000
    depth: Annotated[int, AtLeast(1), "Decisions of a simulation, D."] = 50
    exploration: Annotated[
        Exploration,
        AtLeast(0),
        'The UCB constant, 2 C_p, in units of returns; "auto": Bernstein\'s bound on the returns simulated so far.',
    ] = "auto"
    leaf: Annotated[Leaf, "The value beyond the last decision: zero, or the mean model's."] = "zero"

    needs: ClassVar[tuple[type, ...]] = (HasMeanMDP,)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: HasMeanMDP, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Simulate in the mean model."""
        s = state_in("UCT", belief, observation)
        model, settings = model_urn(belief.mean_mdp()), np.array([belief.gamma, constant_of(self.exploration)])
        leaf = leaf_values("UCT", belief, belief.n_states, self.leaf)
        q, n = search(rng, model, s, settings, leaf, self.simulations, self.depth)
        return Decision(best_action(q, "random", rng), None, {"q": q, "visits": n, "simulations": self.simulations})


@njit
def search(rng: Generator, model: Urn, s0: int, settings: F1, V0: F1, K: int, D: int) -> tuple[F1, I1]:
    """K simulations of D decisions from s0: (Q(root, a), N(root, a))."""
    gamma, given = settings
    model, (S, A) = borrowed(model), model.place.shape[:2]
    N, Q = np.zeros((D * S, A), np.int64), np.zeros((D * S, A))  # of (depth, state) and action
    total = np.zeros(D * S, np.int64)
    path_h, path_a, path_r = np.empty(D, np.int64), np.empty(D, np.int64), np.empty(D)
    spread = np.zeros(4)
    for k in range(K):
        s, t, done = s0, 0, model.terminal[s0]
        (c, e), near = ucb_constants(given, spread, k), apart(spread)
        while t < D and not done:
            h = t * S + s
            a = select(rng, Q, N, max(total[h], 1), h, c, e, near)
            path_h[t], path_a[t] = h, a
            _k, s, path_r[t], done, _mark = step(model, s, a, rng)
            t += 1
        R = V0[s]
        for i in range(t - 1, -1, -1):
            R = path_r[i] + gamma * R
            h, a = path_h[i], path_a[i]
            total[h] += 1
            N[h, a] += 1
            Q[h, a] += (R - Q[h, a]) / N[h, a]
        add_return(spread, R, k + 1)
    return Q[s0].copy(), N[s0].copy()
