"""VBRB, variance-based reward bonus (Sorg, Singh, Lewis 2010; survey §4.6).

Act greedily on the mean model with a bonus for what the posterior does not know, in standard deviations,

    beta_R sd[R(s, a)] + beta_P sqrt( sum_s' Var[P(s'|s, a)] ).

By Chebyshev's inequality the truth is probably not above that, so the plan is optimistic about the true MDP. With
Dirichlet counts the bonus falls as 1/sqrt(n) (the bonus, not the sample complexity: ERRATA 17), slower than BEB's.

Paper to code: `bonus`; the Bellman equation, with the gamma and the t-1 that the survey lacks (ERRATA 6), is
`mean_model_q`; the theorem's coefficients are `vbrb_betas`.
Deviations: R(s, a) is the expectation over outcomes, so where rewards depend on s' it is uncertain even if each is
known. Its variance is exact for Dirichlet rows with known or unknown rewards; for another belief the covariance of a
row is taken to be that of the Dirichlet with its means and total variance. Ties go to the first action.
Cost: one warm-started solve per decision. Claims: variances equal the Dirichlet's, and Monte Carlo's with unknown
rewards; equal to a transcription; values at a point belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, mean_model_q, must_end, state_in
from bayesrl.bamdp._posterior import reward_bounds
from bayesrl.bamdp.optimism.pac_bounds import THEORY, number_or_theory, vbrb_betas
from bayesrl.checks import Floats, choice
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register


@register(
    "vbrb",
    kind="planner",
    survey="4.6",
    paper="sorg10",
    example=lambda: VBRB(),
    evidence=(
        "tests/bamdp/test_optimism.py::test_vbrb_variances_are_the_dirichlets",
        "tests/bamdp/test_optimism.py::test_vbrb_reward_variance_by_monte_carlo",
        "tests/bamdp/test_optimism.py::test_vbrb_equals_its_transcription",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class VBRB:
    """Greedy on the mean model with a bonus from the posterior's variances."""

    beta_r: float | str = 1.0
    """Bonus for a standard deviation of the reward, beta_R; "theory" for the theorem's."""
    beta_p: float | str = 1.0
    """Bonus for the root of the summed variances of transitions, beta_P; "theory" for the theorem's."""
    ties: str = "first"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp", "counts", "row_variance", "outcomes", "gamma")

    def __post_init__(self) -> None:
        number_or_theory("VBRB", "beta_r", self.beta_r)
        number_or_theory("VBRB", "beta_p", self.beta_p)
        choice("VBRB", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor an end, or no bonus: of infinite variances, or in theory."""
        self.bonus(belief)
        must_end("VBRB", belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean model with the bonus and act greedily."""
        s = state_in("VBRB", belief, observation)
        q, values = mean_model_q(belief, memory, self.bonus(belief))
        return Decision(best_action(q[s], self.ties, rng), values, {"q": q[s]})

    def bonus(self, belief: Any) -> Floats:
        """R^(s, a), (S, A)."""
        beta_r, beta_p = self.beta_r, self.beta_p
        if THEORY in (beta_r, beta_p):
            low, high = reward_bounds("VBRB", belief)
            betas = vbrb_betas(belief.n_states, belief.n_actions, belief.gamma, reward_range=high - low)
            beta_r, beta_p = (b if x == THEORY else x for b, x in zip(betas, (beta_r, beta_p), strict=True))
        variance_r, variance_p = variances(belief)
        if not np.isfinite(variance_r).all():
            hint = "A normal reward needs a shape above 1."
            raise InvalidArgument("VBRB", "belief", "one with finite variances of rewards", np.inf, hint)
        return float(beta_r) * np.sqrt(variance_r) + float(beta_p) * np.sqrt(variance_p)


def variances(belief: Any) -> tuple[Floats, Floats]:
    """(Var[R(s, a)], sum_s' Var[P(s'|s, a)]), both (S, A).

    A Dirichlet row with means p has covariance c (diag(p) - p p'), where c = sum Var / sum p (1 - p) = 1 / (n + 1).
    """
    model = belief.mean_mdp()
    p, r, var = model.prob[model.group], model.reward, belief.row_variance()[model.group]
    total, most = var.sum(axis=2), (p * (1.0 - p)).sum(axis=2)
    c = np.divide(total, most, out=np.zeros_like(total), where=most > 0.0)
    mean = (p * r).sum(axis=2)
    variance_r = c * ((p * r * r).sum(axis=2) - mean**2)
    if hasattr(belief, "rewards"):  # independent of the row: adds E[p_k^2] Var[r_k], or Var[r] where s' does not matter
        doubt = belief.rewards.reward_variances()
        variance_r += doubt if doubt.ndim == 2 else ((var + p * p) * doubt).sum(axis=2)
    return np.maximum(variance_r, 0.0), total
