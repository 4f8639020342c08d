"""Percentile criterion with Gaussian rewards (Delage and Mannor 2010; survey §6).

Transitions are known, and the mean rewards of the pairs are N(m, C). The return of a policy with discounted visits
x(s, a) of pairs is N(m . x, x' C x). With L L' = C and z = Phi^-1(1 - epsilon), the best epsilon-percentile of the
return is a second-order cone program:

    maximise  F(x) = m . x - z |L' x|   over x >= 0  with  sum_a x(y, a) - gamma sum_{s, a} P(y|s, a) x(s, a) = P0(y).

The policy is x / sum_a x. It is often random: mixing actions whose rewards are independent lowers the risk.

The certificate `error_bound` needs no cone solver. For a vector |u| <= 1 and the visits y of any policy,
|L' y| >= u . L' y. So F(y) <= (m - z L u) . y, which is at most the optimal return of the known MDP with rewards
m - z L u. At u = L' x / |L' x| these are the rewards m - z C x / |L' x|, the linearisation of F at x, and the bound is
tight if x is optimal. The dual variable of the cone is a second u to try. It is more accurate, and it is needed where
|L' x| = 0, at a kink of F.

Paper to code: the program `cone_program`, the certificate `upper_bound`.
Deviations: a cone solver's zeros are small numbers, which `policy_of` removes; an unreached state takes the mean
model's action. Visits and value are then computed anew, so that the value is exactly that of the policy. No action is
taken in terminal states: their visits are zero. At epsilon = 1/2, or where nothing is uncertain, the optimum is the
mean model's, and cvxpy is not needed. A program whose certificate is not small enough is solved again, at most twice,
with a scale from its own solution and tighter tolerances.
Cost: the cone program; S A variables, S + rank + 1 rows. Claims: closed form of one state; enumeration; certificates.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import sparse
from scipy.special import ndtri

from bayesrl._explained import explain_failures
from bayesrl.beliefs.rewards.gaussian_rewards import covariance_root
from bayesrl.capabilities import HasRewardMoments
from bayesrl.checks import Floats, frozen, number
from bayesrl.errors import InvalidArgument, NotConverged, from_extra
from bayesrl.kernels.ties import better
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import StationarySolution
from bayesrl.models.solve import solve
from bayesrl.parameters import Above, Shape, declared, value
from bayesrl.registry import register
from bayesrl.risk.models import require_belief
from bayesrl.traits import Traits

OWNER = "PercentileRewards"
UNREACHED, UNUSED = 1e-8, 1e-6
"""Visits of a state, as a share of all, and of an action, as a share of its state's, that are a cone solver's zero."""
ENOUGH = 1e-6
"""The error_bound, as a share of |m . x| + z |L' x|, below which the program is not solved again."""


@explain_failures
@value
class PercentileRewardsSolution(StationarySolution):
    """The policy with the best epsilon-percentile of the return."""

    policy: Annotated[Floats, Shape("(S, A)"), "The probability of each action in each state."]
    value: Annotated[float, "The epsilon-percentile of the policy's return, F(x)."]
    occupancy: Annotated[Floats, Shape("(S, A)"), "The policy's discounted visits of pairs, x."]
    error_bound: Annotated[float, "No policy has a percentile that is larger by more."]
    epsilon: Annotated[float, "The probability of a return below `value`."]
    mean: Annotated[float, "The mean of the return, m . x."]
    deviation: Annotated[float, "The standard deviation of the return, |L' x|."]


@register(
    "percentile-rewards",
    kind="solver",
    survey="6",
    paper="Delage10PO",
    example=lambda: PercentileRewards(epsilon=0.1),
    evidence=(
        "tests/risk/test_percentile_rewards.py::test_facts",
        "tests/risk/test_percentile_rewards.py::test_one_state_has_a_closed_form",
        "tests/risk/test_percentile_rewards.py::test_no_deterministic_policy_is_better",
        "tests/risk/test_percentile_rewards.py::test_certificates",
    ),
)
@declared
class PercentileRewards:
    """Maximise a percentile of the return when transitions are known and mean rewards are Gaussian.

    Examples
    --------
    >>> import bayesrl as b
    >>> family = b.make_world("machine-costs", n_states=10)
    >>> safe = PercentileRewards(epsilon=0.1).solve(family.belief)
    >>> round(safe.value, 3), safe.policy[-1].round(3).tolist()  # in the last state: keep, repair
    (-66.264, [0.243, 0.757])
    >>> len(b.run(b.BayesAgent(family.belief, safe), family, steps=30, seed=0))
    30
    """

    epsilon: Annotated[float, Above(0), "Probability of a return below the percentile, at most 1/2."] = 0.1
    tol: Annotated[float, Above(0), "Largest accepted error_bound, as a share of the largest risky return."] = 1e-6

    needs: ClassVar[tuple[type, ...]] = (HasRewardMoments,)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def __post_init__(self) -> None:
        if self.epsilon > 0.5:
            hint = "Above a half the program is not convex."
            raise InvalidArgument(OWNER, "epsilon", "in (0, 0.5]", self.epsilon, hint)

    def check(self, belief: HasRewardMoments) -> None:
        """Refuse a discount of 1."""
        number(OWNER, "gamma", belief.gamma, 0.0, 1.0, below=True)

    def solve(self, problem: HasRewardMoments, rng: Generator | None = None) -> PercentileRewardsSolution:
        """The best policy of a belief with known transitions and Gaussian mean rewards, with a certificate."""
        hint = "Make a belief about its rewards first: GaussianRewards(world, mean, covariance), or family.belief."
        require_belief(OWNER, problem, HasRewardMoments, hint=hint)
        number(OWNER, "gamma", problem.gamma, 0.0, 1.0, below=True)
        p, z = arrays_of(problem), -float(ndtri(self.epsilon))
        nominal = np.eye(p.model.n_actions)[np.asarray(solve(p.model, accuracy(p, z)).policy)]
        if z == 0.0 or p.root.shape[1] == 0:
            return self._solution(p, z, nominal, np.inf)
        best, upper, status = None, np.inf, ""
        for tight in (False, True, True):
            x, u, status = cone_program(p, z, best if tight else None)
            if x is None or u is None:
                continue
            upper = min(upper, upper_bound(p, z, u))
            for cut in (UNUSED, 0.0):  # an action that is rarely used may matter if its deviation is large
                new = self._solution(p, z, policy_of(p, x, nominal, cut), upper)
                best = new if best is None or better(new.value, best.value) else best
                if best.error_bound <= ENOUGH * size_of(best, z):
                    return best
        best = max(filter(None, (best, self._solution(p, z, nominal, upper))), key=lambda one: one.value)
        if best.error_bound <= self.tol * largest_return(p, z):
            return best
        raise NotConverged(OWNER, best, best.error_bound, f"the cone program ({status})")

    def _solution(self, p: Arrays, z: float, policy: Floats, upper: float) -> PercentileRewardsSolution:
        """A policy with its value and its certificate; `upper` is an upper bound of the optimum."""
        x = occupancy_of(p, policy)
        risk = np.asarray(p.root.T @ x.ravel())
        mean, deviation = float(x.ravel() @ p.m), float(np.linalg.norm(risk))
        found = mean - z * deviation
        bound = min(upper, upper_bound(p, z, risk / deviation if deviation > 0.0 else risk)) - found
        return PercentileRewardsSolution(policy, found, x, max(bound, 0.0), float(self.epsilon), mean, deviation)


class Arrays(NamedTuple):
    """The problem; terminal states are absorbing and pay nothing."""

    model: TabularMDP
    """The mean model."""
    m: Floats
    """Mean reward of each pair, (S A,)."""
    root: Any
    """L, a sparse array (S A, rank) with L L' = C."""
    deviation: float
    """The largest standard deviation of a mean reward."""


def arrays_of(belief: HasRewardMoments) -> Arrays:
    """Read a belief."""
    model, (m, C) = belief.mean_mdp(), belief.reward_moments()
    m, deviation = m.ravel(), float(np.sqrt(np.diagonal(C).max()))
    if model.outcomes.has_terminals:
        ends = np.repeat(model.outcomes.terminal, model.n_actions)
        m, C = np.where(ends, 0.0, m), np.where(ends[:, None] | ends, 0.0, C)
    return Arrays(model, m, sparse.csr_array(covariance_root(C)), deviation)


def cone_program(
    p: Arrays, z: float, last: PercentileRewardsSolution | None
) -> tuple[Floats | None, Floats | None, str]:
    """Visits (S, A), the direction u of the cone's dual variable, and the solver's word; None if it found none.

    Visits are scaled to 1 per state on average, and returns to at most 1: Clarabel then needs a third fewer iterations.
    After a `last` solution that was not accurate enough, returns are scaled by its size, and tolerances are tightened.
    """
    with from_extra(OWNER, "cone"):
        import cvxpy as cp

        import_module("clarabel")  # cvxpy's solver
    (S, A, K), gamma = p.model.succ.shape, p.model.gamma
    pair, visits = np.arange(S * A), S * (1.0 - gamma)
    own = sparse.csr_array((np.ones(S * A), (pair // A, pair)))
    moves = p.model.prob[p.model.group].ravel(), (p.model.succ.ravel(), np.repeat(pair, K))
    after = sparse.csr_array(moves, shape=(S, S * A))
    flow = own - gamma * after
    scale = visits * largest_return(p, z)
    options = {}
    if last is not None:
        scale = max(visits * size_of(last, z), 1e-9 * scale)
        options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    x, t = cp.Variable(S * A, nonneg=True), cp.Variable()
    cone = cp.SOC(t, ((z / scale) * p.root.T) @ x)
    program = cp.Problem(cp.Maximize((p.m / scale) @ x - t), [flow @ x == visits * p.model.outcomes.start, cone])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the certificate says how accurate the solution is
            program.solve(solver=cp.CLARABEL, **options)
    except cp.SolverError:
        return None, None, "solver_error"
    if x.value is None or not np.isfinite(x.value).all():
        return None, None, str(program.status)
    u = -np.asarray(cone.dual_value[1]).ravel()
    return x.value.reshape(S, A) / visits, u / max(float(np.linalg.norm(u)), 1.0), str(program.status)


def largest_return(p: Arrays, z: float) -> float:
    """The return if every reward were the largest |m| + z times the largest standard deviation: the scale of errors."""
    return float(np.abs(p.m).max() + z * p.deviation) / (1.0 - p.model.gamma)


def size_of(solution: PercentileRewardsSolution, z: float) -> float:
    """The size of the numbers whose difference is the value."""
    return abs(solution.mean) + z * solution.deviation


def accuracy(p: Arrays, z: float) -> float:
    """The error that `solve` may make, far below that of the cone solver."""
    return max(1e-12 * largest_return(p, z), 1e-300)


def policy_of(p: Arrays, x: Floats, nominal: Floats, cut: float) -> Floats:
    """Normalise visits in each state; an unreached or terminal state takes the nominal action."""
    total = np.where(p.model.outcomes.terminal, 0.0, x.sum(axis=1))[:, None]
    x = np.where(total > UNREACHED * total.sum(), np.where(x > cut * total, x, 0.0), nominal)
    return np.asarray(x / x.sum(axis=1, keepdims=True))


def occupancy_of(p: Arrays, policy: Floats) -> Floats:
    """The discounted visits of pairs, (S, A): the solution of the flow equations for a policy."""
    S, A = policy.shape
    P = np.einsum("sa,say->sy", policy, p.model.matrix.reshape(S, A, S))
    visits = np.linalg.solve(np.eye(S) - p.model.gamma * P.T, p.model.outcomes.start)
    visits[p.model.outcomes.terminal] = 0.0
    return frozen(np.maximum(visits, 0.0)[:, None] * policy)


def upper_bound(p: Arrays, z: float, u: Floats) -> float:
    """An upper bound of F over all policies: the optimal return with rewards m - z L u, where |u| <= 1."""
    reward = (p.m - z * (p.root @ u)).reshape(p.model.group.shape)
    best = solve(p.model, accuracy(p, z), bonus=reward - p.model.mean_reward)
    return float(p.model.outcomes.start @ best.values) + best.error_bound
