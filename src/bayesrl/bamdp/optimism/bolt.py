"""BOLT, Bayesian optimistic local transitions (Araya-López, Thomas, Buffet 2012, Algorithm 1; survey §4.6).

The agent is optimistic about transitions and adds no bonus to rewards: after (s, a) it imagines that eta transitions to
a next state sigma of its choice were seen as well,

    P^(s'|s, (a, sigma)) = (phi_{s,a,s'} + eta 1[s' = sigma]) / (phi_{s,a} + eta),

and plans with the extended actions (a, sigma). The imagined rows are probability distributions for every eta, so the
method is less sensitive to eta than BEB is to beta.

Paper to code: the extended Bellman equation is `bamdp/optimism/_imagined.py`; `imagined_model` computes its weights,
eta / (phi_{s,a} + eta). There are |A||S| extended actions whatever eta is (ERRATA 16).
Theorem (corrected, ERRATA 7): with eta = H the values over H decisions are at least the Bayes-optimal ones, since no
row can be seen more than H times in H decisions; it holds for any Dirichlet counts, tied rows and discounts up to 1.
Deviations: with `depth` None the infinite-horizon problem at the belief's discount is solved; the theorem then does
not apply. With discount 1 that problem is the extended MDP until the end of the episode; every policy of the mean model
must end, and then every extended one does (`_imagined.py`). A belief that need not end is refused with the state.
Sigma ranges over the outcomes that the belief lists, each with its own reward. If rewards are unknown and
take finitely many values, eta pseudo-observations of the largest one are added to each cell, so the theorem still
holds. Unknown rewards without a largest value are taken at their means. Ties go to the first action.
Cost: one warm-started solve per decision, O(|S||A| outcomes) a sweep. Claims: equal to the listed extended MDP;
optimistic against `bamdp-exact` on random BAMDPs, with unknown rewards as well; values at a point belief.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.optimism._imagined import Imagined, finite_horizon_q, infinite_horizon, undiscounted
from bayesrl.bamdp.optimism.pac_bounds import THEORY, bolt_eta, effective_horizon
from bayesrl.beliefs.choices import Ties, best_action
from bayesrl.capabilities import CountsPairs, HasOptimisticRewards
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.ties import sizes
from bayesrl.models.solvers.proper import must_be_proper
from bayesrl.parameters import AtLeast, declared, shared
from bayesrl.registry import register

TOL, SWEEPS = 1e-9, 1_000_000
"""Error of the values, and sweeps before giving up."""


class BOLTNeeds(HasOptimisticRewards, CountsPairs, Protocol):
    """A belief for BOLT."""


@shared
class PlansWithImagined:
    """A planner that solves the mean model with imagined transitions: BOLT and POT."""

    __slots__ = ()

    _: KW_ONLY
    depth: Annotated[
        int | None,
        AtLeast(1),
        "Decisions planned ahead, H; None for the infinite horizon at the belief's discount. With discount 1 that is "
        "the end of the episode, and every policy of the mean model must end.",
    ] = None
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "first"

    def check(self, belief: HasOptimisticRewards) -> None:
        """Raise an error if the discount is 1 without a depth, and episodes need not end or theory has no horizon."""
        if belief.gamma == 1.0 and self.depth is None:
            hint = "Or give a depth."
            must_be_proper(type(self).__name__, "belief", belief.optimistic_mdp(0.0), hint)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def _imagined(self, eta: float | Literal["theory"], gamma: float) -> float:
        """The number of imagined transitions."""
        if eta == THEORY and gamma == 1.0 and self.depth is None:
            raise InvalidArgument(type(self).__name__, "depth", "given for theory if the discount is 1", None)
        return bolt_eta(self.depth or effective_horizon(gamma)) if eta == THEORY else float(eta)

    def _decide(self, model: Imagined, s: int, memory: Floats | None, rng: Generator) -> Decision:
        """Solve the extended MDP, from the values of the last step on, and act greedily."""
        q, values = extended_q(type(self).__name__, model, self.depth, memory)
        return Decision(best_action(q[s], self.ties, rng, sizes(q)), values, {"q": q[s]})


@register(
    "bolt",
    kind="planner",
    survey="4.6",
    paper="araya12",
    example=lambda: BOLT(),
    facets=Facets(
        depth="N/A",
        actions="A x S",
        successors="all s'",
        posterior=Differs(
            "create eta per step",
            here="N/A: eta imagined transitions",
            why="No model is drawn: eta counts are imagined, for |A||S| extended actions whatever eta is (ERRATA 16).",
        ),
        solution="Q solved by DP",
        guarantee="PAC-BAMDP",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/optimism/test_optimism.py::test_bolt_equals_the_listed_extended_mdp",
        "tests/bamdp/optimism/test_optimism.py::test_bolt_is_optimistic_on_random_bamdps",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_undiscounted.py::test_bolt_and_pot_are_the_enumerated_extended_mdp",
    ),
)
@declared
class BOLT(PlansWithImagined):
    """Act greedily on the mean model with eta imagined transitions to the outcome that helps most.

    With discount 1 and no depth it plans until the end of the episode; every policy of the mean model must end.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), BOLT(eta=3.0))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    158.0
    """

    eta: Annotated[
        float | Literal["theory"],
        AtLeast(0),
        'Imagined transitions; "theory" for H (`depth`, or the effective horizon of the discount).',
    ] = 1.0

    needs: ClassVar[tuple[type, ...]] = (BOLTNeeds,)

    def plan(
        self, belief: BOLTNeeds, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the extended MDP and act greedily."""
        s, eta = state_in("BOLT", belief, observation), self._imagined(self.eta, belief.gamma)
        return self._decide(imagined_model(belief, np.full((1, 1), eta), eta), s, memory, rng)


def imagined_model(belief: BOLTNeeds, eta: Floats, extra: Floats | float) -> Imagined:
    """The mean model and the weight of eta (broadcast to (G, K)) imagined transitions in it; zero if they are known.

    If rewards are unknown, `extra` pseudo-observations of the largest reward are added to each of their cells.
    """
    m = belief.optimistic_mdp(extra)
    o, count = m.outcomes, np.empty((m.outcomes.n_groups, 1))
    count[m.group, 0] = belief.counts()
    weight = np.array(np.broadcast_to(eta / (count + eta), m.prob.shape), order="C")
    return Imagined(o.succ, o.reward, o.group, o.size, m.prob, weight, o.terminal, m.gamma)


def extended_q(planner: str, m: Imagined, depth: int | None, warm: Floats | None) -> tuple[Floats, Floats | None]:
    """(q[s, a], values to start the next solve from)."""
    if depth is not None:
        return finite_horizon_q(m, depth), None
    if warm is not None and warm.shape != (len(m.group),):
        raise InvalidArgument(planner, "memory", f"values of {len(m.group)} states, as its decisions give them", warm)
    first = np.zeros(len(m.group)) if warm is None else warm
    v, q, error = infinite_horizon(m, first, TOL, SWEEPS) if m.gamma < 1.0 else undiscounted(m, first)
    if not error < 1e-6 * (1.0 + np.abs(v).max()):
        raise NotConverged(planner, q, error, f"{SWEEPS} sweeps")
    return q, v
