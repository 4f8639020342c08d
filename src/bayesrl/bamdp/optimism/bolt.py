"""BOLT, Bayesian optimistic local transitions (Araya-López, Thomas, Buffet 2012, Algorithm 1; survey §4.6).

Optimism about transitions instead of a bonus on rewards: after (s, a) the agent imagines that eta transitions to a next
state sigma of its choice were seen as well,

    P^(s'|s, (a, sigma)) = (phi_{s,a,s'} + eta 1[s' = sigma]) / (phi_{s,a} + eta),

and plans with the extended actions (a, sigma). However large eta is, the imagined model obeys the laws of probability,
so the method is less sensitive to eta than BEB is to beta.

Paper to code: the extended Bellman equation is `bamdp/optimism/_imagined.py`; `imagined` makes its weights,
eta / (phi_{s,a} + eta). There are |A||S| extended actions whatever eta is (ERRATA 16).
Theorem (corrected, ERRATA 7): with eta = H the values over H decisions are at least the Bayes-optimal ones, since no
row can be seen more than H times in H decisions; it holds for any Dirichlet counts, tied rows and discounts up to 1.
Deviations: with `horizon` None the infinite-horizon problem at the belief's discount is solved; the theorem then does
not apply. Sigma ranges over the outcomes that the belief lists, each with its own reward. Of an unknown reward with
finitely many values eta more are imagined too, each the largest there is, so the theorem holds as well; one without a
largest value is taken at its mean. Ties go to the first action.
Cost: one warm-started solve per decision, O(|S||A| outcomes) a sweep. Claims: equal to the listed extended MDP;
optimistic against `bamdp-exact` on random BAMDPs, with unknown rewards as well; values at a point belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, state_in
from bayesrl.bamdp.optimism._imagined import Imagined, for_ever, over_horizon
from bayesrl.bamdp.optimism.pac_bounds import THEORY, bolt_eta, effective_horizon, number_or_theory
from bayesrl.checks import Floats, choice, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.registry import register

TOL, SWEEPS = 1e-9, 1_000_000
"""Error of the values, and sweeps before giving up."""


@register(
    "bolt",
    kind="planner",
    survey="4.6",
    paper="araya12",
    example=lambda: BOLT(),
    evidence=(
        "tests/bamdp/test_optimism.py::test_bolt_equals_the_listed_extended_mdp",
        "tests/bamdp/test_optimism.py::test_bolt_is_optimistic_on_random_bamdps",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class BOLT:
    """Greedy on the mean model with eta imagined transitions wherever they help most."""

    eta: float | str = 1.0
    """Imagined transitions; "theory" for H (`horizon`, or the discount's effective one)."""
    horizon: int | None = None
    """Decisions planned ahead, H; None for the infinite horizon at the belief's discount."""
    ties: str = "first"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp", "counts")

    def __post_init__(self) -> None:
        number_or_theory("BOLT", "eta", self.eta)
        if self.horizon is not None:
            integer("BOLT", "horizon", self.horizon, 1)
        choice("BOLT", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor a horizon."""
        discounted("BOLT", belief.gamma, self.horizon)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the extended MDP and act greedily."""
        s, H = state_in("BOLT", belief, observation), self.horizon
        eta = bolt_eta(H or effective_horizon(belief.gamma)) if self.eta == THEORY else float(self.eta)
        q, values = extended_q("BOLT", imagined(belief, np.full((1, 1), eta), eta), H, memory)
        return Decision(best_action(q[s], self.ties, rng), values, {"q": q[s]})


def imagined(belief: Any, eta: Floats, paid: Floats | float) -> Imagined:
    """The mean model and the weight of eta (broadcast to (G, K)) imagined transitions in it; none where it is known.

    Of unknown rewards of finitely many values `paid` more (broadcast to their cells) are imagined, all the largest.
    """
    m = belief.mean_mdp()
    if hasattr(getattr(belief, "rewards", None), "value_counts"):
        m = belief.paying(m, hoped(belief.rewards, paid))
    o, count = m.outcomes, np.empty((m.outcomes.n_groups, 1))
    count[m.group, 0] = belief.counts()
    weight = np.ascontiguousarray(np.broadcast_to(eta / (count + eta), m.prob.shape))
    return Imagined(o.succ, o.reward, o.group, o.size, m.prob, weight, o.terminal, m.gamma)


def extended_q(planner: str, m: Imagined, horizon: int | None, warm: Floats | None) -> tuple[Floats, Floats | None]:
    """(q[s, a], values to start the next solve from)."""
    if horizon is not None:
        return over_horizon(m, horizon), None
    discounted(planner, m.gamma, horizon)
    v, q, error = for_ever(m, np.zeros(len(m.group)) if warm is None else warm, TOL, SWEEPS)
    if not error < 1e-6 * (1.0 + np.abs(v).max()):
        raise NotConverged(planner, q, error, f"{SWEEPS} sweeps")
    return q, v


def hoped(rewards: Any, paid: Floats | float) -> Floats:
    """The mean reward of each cell after so many more of the largest value: (n mean + paid r_max) / (n + paid)."""
    n = rewards.reward_counts()
    return np.asarray((n * rewards.mean_rewards() + paid * rewards.value_counts()[0].max()) / (n + paid))


def discounted(planner: str, gamma: float, horizon: int | None) -> None:
    """Refuse to plan for ever without a discount."""
    if gamma == 1.0 and horizon is None:
        raise InvalidArgument(planner, "horizon", "given where the discount is 1", None)
