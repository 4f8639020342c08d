"""Second-order moments of a policy's value under a posterior (Mannor, Simester, Sun, Tsitsiklis 2007; survey §6).

The value of a policy in the mean model is not the mean of its value, since V = (I - gamma P)^-1 R is not linear in P.
The second-order expansion of V in the unknown rows gives the bias and the covariance in closed form, without sampling.
The errors of this mean and this variance fall like 1 / n^2 in the counts n. The error of the mean model's value falls
like 1 / n only.

With groups theta_g independent, means theta_g and covariances Sigma_g, X = (I - gamma P)^-1 and V = X R in the mean
model, and J_g the gradient of V in theta_g (`_moments.py`):

    covariance = sum_g J_g Sigma_g J_g' + X D X',    D the covariance of mean rewards under the policy
    mean = V + gamma sum_g sum over pairs (s, a) of g of mu(a|s) X[:, s] sum_{k, l} Sigma_g[k, l] J_g[succ(s, a, k), l]
    second moment = V V' + delta V' + V delta' + covariance,    delta = mean - V

Paper to code: X and V as in the theorems; gamma Q V + B is `b`, and W is `C` of `_moments.py`.
Deviations: rows are outcomes with groups. The paper sums over rows, which is wrong if rows are tied; gradients are
summed over a group first. Rewards of outcomes make the paper's B non-zero. The theorems as printed in the survey are
corrected (ERRATA 10, 11). Rewards that are unknown and independent of transitions add X D X'.
Discount 1: the same formulas, if the policy ends in the mean model with probability one from every state: X then holds
expected visits. A policy that need not end is refused with the state. With few counts the true moments may be infinite
(the mean of 1 / p, p the probability to end, if p is Beta(a, b) with a <= 1), and a finite expansion does not show it.
Cost: O(S^3 + couples K + G K^2), where couples are the ordered couples of pairs that share a group.
Claims: equal to a naive transcription and to finite differences; errors of mean and variance fall with slope -2 in the
counts; the normal interval covers at its level if counts exceed 50.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayesrl._explained import explain_failures
from bayesrl.capabilities import HasRowCovariance
from bayesrl.checks import Floats, array, frozen, integer, number, rows_sum_to_one
from bayesrl.core import Policy
from bayesrl.errors import InvalidArgument
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solvers.proper import ENDS, endless_state_under, refuse_endless
from bayesrl.parameters import value
from bayesrl.registry import register
from bayesrl.risk._moments import expand, uncertain_model


class ValueInterval(NamedTuple):
    """An interval that holds the value with a given posterior probability."""

    low: float
    high: float


@explain_failures
@value
class Moments:
    """Second-order posterior moments of the values V of a policy."""

    nominal: Floats
    """V of the mean model, (S,)."""
    mean: Floats
    """Posterior mean of V, to second order, (S,)."""
    covariance: Floats
    """Posterior covariance of V, to second order, (S, S)."""
    start: Floats
    """P0, the distribution of the first state, (S,)."""

    @property
    def second_moment(self) -> Floats:
        """E[V V'], to second order, (S, S)."""
        bias = np.outer(self.mean - self.nominal, self.nominal)
        return np.asarray(np.outer(self.nominal, self.nominal) + bias + bias.T + self.covariance)

    def interval(self, start: int | ArrayLike | None = None, level: float = 0.95) -> ValueInterval:
        """The normal interval of P0 . V that holds the return with probability `level`.

        `start` is a state or a distribution of the first state; None is the problem's own.
        """
        owner, S = "Moments.interval", len(self.mean)
        level = number(owner, "level", level, 0.0, 1.0, above=True, below=True)
        if start is None:
            p = self.start
        elif np.ndim(start) == 0:
            p = np.eye(S)[integer(owner, "start", start, 0, S - 1)]
        else:
            p = rows_sum_to_one(owner, "start", array(owner, "start", start, (S,), low=0.0), start)
        mean, variance = float(p @ self.mean), max(float(p @ self.covariance @ p), 0.0)
        half = float(ndtri(0.5 + 0.5 * level)) * math.sqrt(variance)
        return ValueInterval(mean - half, mean + half)


@register(
    "value-moments",
    kind="tool",
    survey="6",
    paper="Mannor07BV",
    evidence=(
        "tests/risk/test_value_moments.py::test_naive_transcription",
        "tests/risk/test_value_moments.py::test_derivatives_are_finite_differences",
        "tests/risk/test_value_moments.py::test_errors_fall_with_the_counts",
        "tests/risk/test_undiscounted_risk.py::test_moments_are_second_differences",
    ),
)
def value_moments(belief: HasRowCovariance, policy: Policy | ArrayLike) -> Moments:
    """Second-order posterior mean and covariance of the values of a policy, given as actions (S,) or chances (S, A).

    With discount 1 the policy must end in the mean model with probability one, from every state.

    Examples
    --------
    Two states, one action, few data: the mean of the value is not the value of the mean model.

    >>> import bayesrl as b
    >>> mdp = b.TabularMDP.from_dense([[[0.5, 0.5]]] * 2, [[1.0], [0.0]], gamma=0.9)
    >>> belief = b.DirichletMDP.flat(mdp, [[3.0, 2.0], [2.0, 4.0]])
    >>> moments = value_moments(belief, [0, 0])
    >>> moments.nominal.round(3).tolist(), moments.mean.round(3).tolist()
    ([5.263, 3.947], [5.348, 3.899])
    >>> low, high = moments.interval(start=0, level=0.9)
    >>> round(low, 2), round(high, 2)
    (2.72, 7.98)
    """
    m = uncertain_model("value_moments", belief)
    mu = policy_matrix("value_moments", policy, *m.r.shape)
    if m.gamma == 1.0:
        refuse_endless("value_moments", "policy", endless_state_under(belief.mean_mdp(), mu), ENDS)
    if not np.isfinite(m.reward_covariance).all():
        hint = "Learn from more rewards, or choose a prior whose mean rewards have a variance."
        raise InvalidArgument("value_moments", "belief", "one with finite variances of mean rewards", np.inf, hint)
    _, X, V, _, _, b, C = expand(m, mu)
    return Moments(*map(frozen, (V, V + m.gamma * X @ b, X @ C @ X.T, m.start)))
