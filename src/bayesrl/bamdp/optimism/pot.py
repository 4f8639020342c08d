"""POT, probably optimistic transitions (Kawaguchi and Araya 2013; survey §4.6).

BOLT imagines that every one of eta coming transitions from (s, a) may lead to the state it likes best. That is far more
than is likely. POT imagines only as many as are probable: an upper confidence bound on the share of sigma,

    eta(s, a, sigma) = eta min(1, E[P(sigma|s, a)] + beta sd[P(sigma|s, a)]),

from the present estimate of the transition and the posterior's deviation. It is greedier than BOLT, and the more so the
surer the posterior is; a prior that thinks the good transitions next to impossible misleads it.

Paper to code: the bound is `probable_share`; the rest is BOLT's (`imagined`, `extended_q`).
Deviations: the paper was not at hand. The survey says that eta is no longer constant, that it is found online for each
state and action from the estimate of the transition and its variance in the manner of an upper confidence bound, and
that beta sets it; the formula above is our reading of that, with BOLT's eta kept as the number of coming transitions.
Of the largest value of an unknown reward as many more are imagined as are probable, by the same bound on its share;
rewards without a largest value are taken at their means. Ties go to the first action.
Cost: as BOLT. Claims: equal to the listed extended MDP; between the mean model's values and BOLT's, equal to BOLT's for
large beta; values at a point belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, state_in
from bayesrl.bamdp.optimism.bolt import discounted, extended_q, imagined
from bayesrl.bamdp.optimism.pac_bounds import THEORY, bolt_eta, effective_horizon, number_or_theory
from bayesrl.checks import Floats, choice, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


@register(
    "pot",
    kind="planner",
    survey="4.6",
    paper="kawaguchi13",
    example=lambda: POT(),
    evidence=(
        "tests/bamdp/test_optimism.py::test_pot_equals_the_listed_extended_mdp",
        "tests/bamdp/test_optimism.py::test_pot_lies_between_the_mean_model_and_bolt",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class POT:
    """Greedy on the mean model with as many imagined transitions as are probable."""

    beta: float = 1.0
    """Standard deviations above the mean that count as probable."""
    eta: float | str = 10.0
    """Coming transitions from a (s, a), BOLT's eta; "theory" for H (`horizon`, or the discount's effective one)."""
    horizon: int | None = None
    """Decisions planned ahead, H; None for the infinite horizon at the belief's discount."""
    ties: str = "first"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp", "counts", "row_variance")

    def __post_init__(self) -> None:
        number("POT", "beta", self.beta, 0.0)
        number_or_theory("POT", "eta", self.eta)
        if self.horizon is not None:
            integer("POT", "horizon", self.horizon, 1)
        choice("POT", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor a horizon."""
        discounted("POT", belief.gamma, self.horizon)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the extended MDP and act greedily."""
        s, H = state_in("POT", belief, observation), self.horizon
        eta = bolt_eta(H or effective_horizon(belief.gamma)) if self.eta == THEORY else float(self.eta)
        paid = eta * probable_pay(belief, self.beta)
        q, values = extended_q("POT", imagined(belief, eta * probable_share(belief, self.beta), paid), H, memory)
        return Decision(best_action(q[s], self.ties, rng), values, {"q": q[s]})


def probable_share(belief: Any, beta: float) -> Floats:
    """The share of each outcome that is still probable, (G, K): mean plus beta standard deviations, at most 1."""
    above = belief.mean_mdp().prob + beta * np.sqrt(belief.row_variance())
    return np.asarray(np.minimum(1.0, above))


def probable_pay(belief: Any, beta: float) -> Floats:
    """The same of the largest value of each unknown reward; 1 where there is none."""
    if not hasattr(getattr(belief, "rewards", None), "value_counts"):
        return np.ones(1)
    values, alpha = belief.rewards.value_counts()
    n = alpha.sum(axis=1)
    p = alpha[:, np.argmax(values)] / n
    above = p + beta * np.sqrt(p * (1.0 - p) / (n + 1.0))
    return np.asarray(np.minimum(1.0, above).reshape(belief.rewards.mean_rewards().shape))
