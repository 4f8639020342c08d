"""Robust planning on sigma points (Bertuccelli, Wu, How 2012; survey §6): a worst case that shrinks as data come in.

Draws from a posterior need many samples to show its spread. Sigma points are placed instead: for each group of outcomes
the mean p and the 2K points p + beta c_i and p - beta c_i, where c_i are the columns of the symmetric root of the
covariance (sigma_points.py). The agent plans for the worst of them in every pair, acts, learns, and plans again. The
distance of the points from the mean falls as (alpha_0 + 1)^(-1/2) with the counts, and so does the gap to the values of
the mean model.

It never explores. Where the worst case of an action is poor, the action is not taken, and nothing is learnt about it.
Convergence to the optimum needs data on every pair: from another policy, or from a log.

Paper to code: the points `points`; min-max dynamic programming `rectangular` (_rectangular.py).
Deviations: beta is open in the survey; the default is one. A row whose points would leave the simplex uses its own
largest beta, and `info["shrunk"]` counts such rows; nothing is clipped. The points come from the belief's covariances,
so that rows need not be Dirichlet. Nature chooses a point for each pair, also for pairs that share a group: this is
rectangular, and more pessimistic than one choice for the group. Unknown rewards have their means, since only
transitions are uncertain here. Ties go to the first action.
Discount 1: every policy must end in the mean model with probability one, from every state; if one need not, the belief
is refused with the state. A row at its largest beta gives some outcome probability zero. If that outcome is the end,
nature could forbid it, and the worst case would be infinite or decided by rounding. A row therefore uses at most half
of its largest beta: no outcome is less than half as probable as in the mean, so every choice of nature ends.
Cost: every re-planning takes the roots of the covariances that changed, O(K^3) each, and a few backups of
O((2K + 1) S A K), from the values of the last.
Claims: at beta = 0 the mean model's values; equal to a transcription; values fall with beta; the gap to the mean
model's values has slope -1/2 in the counts.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import HasRowCovariance
from bayesrl.checks import Floats, frozen, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import NotConverged
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register
from bayesrl.risk._moments import refuse_many_covariances
from bayesrl.risk._rectangular import expected_rewards, listed_scenarios, rectangular
from bayesrl.risk.models import require_ends
from bayesrl.risk.sigma_points import largest_betas, points, roots

OWNER = "SigmaPointRobust"
TOL = 1e-9
"""Accuracy of the values."""
INSIDE = 0.5
"""With discount 1, the share of its largest beta that a row uses at most."""


class SigmaPointPlan(NamedTuple):
    """The robust values in use, for how many more steps they are used, and the roots of the covariances."""

    q: Floats  # (S, A)
    policy: Floats  # (S, A)
    values: Floats  # (S,)
    shrunk: int
    covariance: Floats  # (G, K, K)
    root: Floats  # (G, K, K)
    left: int


@register(
    "sigma-point-robust",
    kind="planner",
    survey="6",
    paper="Bertuccelli12RA",
    example=lambda: SigmaPointRobust(),
    evidence=(
        "tests/risk/test_sigma_point_robust.py::test_equal_to_its_transcription",
        "tests/risk/test_sigma_point_robust.py::test_moments_of_sigma_points",
        "tests/risk/test_sigma_point_robust.py::test_no_uncertainty_is_the_mean_model",
        "tests/risk/test_sigma_point_robust.py::test_the_gap_shrinks_with_the_root_of_the_counts",
        "tests/risk/test_undiscounted_risk.py::test_sigma_point_robust_equals_its_transcription",
    ),
)
@declared
class SigmaPointRobust:
    """Act on the best worst case over sigma points of the posterior, and plan again as data come in.

    It never explores: convergence to the optimum needs data on every pair of state and action. With discount 1 every
    policy of the mean model must end, and no point takes more than half of the probability of an outcome.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("machine-repair")
    >>> agent = b.BayesAgent(b.DirichletMDP.structured(world, 5), SigmaPointRobust(beta=1.0))
    >>> print(b.run(agent, world, steps=50, seed=0).total)
    560.0
    """

    beta: Annotated[float, AtLeast(0), "Distance of the sigma points from the mean, in standard deviations."] = 1.0
    every: Annotated[int, AtLeast(1), "Steps for which a plan is used."] = 1

    needs: ClassVar[tuple[type, ...]] = (HasRowCovariance,)

    def check(self, belief: HasRowCovariance) -> None:
        """Refuse a discount of 1 if episodes need not end, and covariances that memory cannot hold."""
        require_ends(OWNER, belief)
        refuse_many_covariances(OWNER, belief)

    def start(self) -> SigmaPointPlan | None:
        """No plan yet."""
        return None

    def plan(
        self,
        belief: HasRowCovariance,
        observation: int,
        memory: SigmaPointPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Act on the plan in use, or on a new one. `info` has its robust values `q` and the number `shrunk`."""
        s = integer(OWNER, "observation", observation, 0, belief.n_states - 1)
        if memory is None or memory.left == 0:
            memory = self._plan(belief, memory)
        new = memory._replace(left=memory.left - 1)
        return Decision(int(memory.policy[s].argmax()), new, {"q": memory.q[s], "shrunk": memory.shrunk})

    def _plan(self, belief: HasRowCovariance, last: SigmaPointPlan | None) -> SigmaPointPlan:
        """Max-min values over the sigma points. The roots of rows that did not change are kept."""
        self.check(belief)
        mean, covariance = belief.mean_mdp(), belief.row_covariance()
        if last is None:
            root = roots(covariance)
        else:
            changed = (covariance != last.covariance).any(axis=(1, 2))
            root = last.root.copy()
            root[changed] = roots(covariance[changed])
        most = largest_betas(mean.prob, root)
        if mean.gamma == 1.0:
            most = most * INSIDE
        rows = points(mean.prob, root, np.where(most < self.beta, most, self.beta))
        r = expected_rewards(rows, mean.group, mean.reward)
        x = listed_scenarios(mean.succ, mean.group, rows, r, mean.gamma, mean.outcomes.terminal)
        found = rectangular(x, TOL, None if last is None else last.values)
        if not found.converged:
            raise NotConverged(OWNER, found, found.error_bound, "as many backups as gained anything")
        shrunk = int((most < self.beta).sum())
        q, policy, values = frozen(found.q.min(axis=0)), frozen(found.policy), frozen(found.values)
        return SigmaPointPlan(q, policy, values, shrunk, frozen(covariance), frozen(root), self.every)
