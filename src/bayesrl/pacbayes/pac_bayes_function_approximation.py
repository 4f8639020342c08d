"""PAC-Bayes bound for value functions over large state spaces (Fard, Pineau, Szepesvári 2011; survey §7.1).

The prior p is over value functions V, tables or not. The data give the squared TD error (r + gamma V(s') - V(s))^2. Its
mean over q is bounded for all q at once. The Bellman error is what remains after the noise of the TD error is taken
away; it bounds the distance to the policy's values.

Proof. Losses of independent transitions in [0, loss_range]: this is `mcallester` times the range (`divergence.py`).
For one trajectory of a mixing chain, n is divided by the square of `mixing`, a norm of its mixing matrix (Samson 2000;
1 for independent transitions).

Decomposition. Given s, r + gamma V(s') has the mean (T V)(s), so that

    E (r + gamma V(s') - V(s))^2 = E (T V - V)^2 + E Var(r + gamma V(s') | s),

and the last term is gamma^2 E Var(V(s') | s) if the reward is determined by the state. With rho stationary under the
policy, P is no expansion in the norm of rho (Jensen), so V - V^pi = (V - T V) + gamma P (V - V^pi) gives ||V - V^pi||
<= ||T V - V|| / (1 - gamma).

Paper to code: Theorem for the TD error `function_approximation_bound`; the decomposition `td_decomposition`.
Deviations: constants for one trajectory are recalled, not proved here. The paper assumes rewards of states; rewards of
pairs or of transitions are noise too, and `variance` contains them.
Cost: bound none; decomposition O(S^2 A + S^3). Claims: by hand; at most delta failures for q chosen to fail; the
decomposition equals sums over all transitions; the distance is within the bound.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, frozen, integer, number
from bayesrl.core import Policy
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solve import evaluate_policy
from bayesrl.pacbayes.divergence import slack
from bayesrl.pacbayes.lemma import failure, nats
from bayesrl.registry import register

SQUARINGS = 64
"""Squarings of a chain's matrix at most: 2^64 steps."""


@register(
    "pac-bayes-function-approximation",
    kind="tool",
    survey="7.1",
    paper="fard11",
    reading="The survey; the constants for one trajectory are recalled.",
    evidence=(
        "tests/pacbayes/test_bounds.py::test_function_approximation_bound_by_hand",
        "tests/pacbayes/test_coverage.py::test_function_approximation_bound_fails_rarely",
    ),
)
def function_approximation_bound(
    kl: float, samples: int, delta: float, empirical: float, loss_range: float, mixing: float = 1.0
) -> float:
    """Bound E_q of the mean squared TD error for all distributions q over value functions at once.

    `empirical` is the mean of the squared TD errors of `samples` transitions over q; each is at most `loss_range`.
    `mixing` is 1 for independent transitions. The bound holds with probability 1 - delta.

    Examples
    --------
    >>> round(function_approximation_bound(kl=2.0, samples=500, delta=0.05, empirical=0.3, loss_range=4.0), 3)
    0.675
    """
    owner = "function_approximation_bound"
    kl, delta, n = nats(owner, kl), failure(owner, delta), integer(owner, "samples", samples, 1)
    most = number(owner, "loss_range", loss_range, 0.0, above=True, moderate=True)
    seen = number(owner, "empirical", empirical, 0.0, most)
    mixing = number(owner, "mixing", mixing, 1.0, moderate=True)
    return seen + most * slack(kl, n / mixing**2, delta)


class TDDecomposition(NamedTuple):
    """Mean squared errors of values under the stationary distribution of a policy."""

    td_error: float
    """E (r + gamma V(s') - V(s))^2 = bellman_error + variance."""
    bellman_error: float
    """E (T V - V)^2."""
    variance: float
    """E Var(r + gamma V(s') | s); gamma^2 E Var(V(s') | s) if the reward is determined by the state."""
    distance: float
    """||V - V^pi||, the root of the mean squared distance to the policy's values."""
    bound: float
    """sqrt(bellman_error) / (1 - gamma), at least the distance."""


def td_decomposition(mdp: TabularMDP, policy: Policy | ArrayLike, values: ArrayLike) -> TDDecomposition:
    """The parts of the mean squared TD error of `values` (S,) for a policy of a known MDP.

    >>> from bayesrl.models.mdp import TabularMDP
    >>> mdp = TabularMDP.from_dense([[[0.5, 0.5]], [[0.5, 0.5]]], [1.0, 0.0], gamma=0.5)
    >>> td_decomposition(mdp, [0, 0], [1.0, 0.0])       # V^pi = (1.5, .5)
    TDDecomposition(td_error=0.125, bellman_error=0.0625, variance=0.0625, distance=0.5, bound=0.5)
    """
    owner = "td_decomposition"
    mu, rho = _stationary(owner, mdp, policy)
    if mdp.gamma == 1.0:
        raise InvalidArgument(owner, "mdp", "one with a discount below 1", mdp.gamma)
    V = array(owner, "values", values, (mdp.n_states,), moderate=True)
    o, weight = mdp.outcomes, mu[:, :, None] * mdp.prob[mdp.group]  # (S, A, K)
    live = ~o.terminal[:, None, None]
    target = o.reward * live + mdp.gamma * V[o.succ]
    mean = (weight * target).sum(axis=(1, 2))  # T V
    td = float(rho @ (weight * (target - V[:, None, None]) ** 2).sum(axis=(1, 2)))
    variance = float(rho @ (weight * (target - mean[:, None, None]) ** 2).sum(axis=(1, 2)))
    bellman = float(rho @ (mean - V) ** 2)
    distance = sqrt(float(rho @ (V - evaluate_policy(mdp, mu)) ** 2))
    return TDDecomposition(td, bellman, variance, distance, sqrt(bellman) / (1.0 - mdp.gamma))


def stationary_distribution(mdp: TabularMDP, policy: Policy | ArrayLike) -> Floats:
    """The shares of time (S,) that a policy spends in each state in the long run, from the start of the problem.

    Terminal states are absorbing. The chain may be periodic, or have several closed classes.

    >>> from bayesrl.models.mdp import TabularMDP
    >>> stationary_distribution(TabularMDP.from_dense([[[0.5, 0.5]], [[1.0, 0.0]]], [0.0, 0.0], 0.5), [0, 0]).round(6)
    array([0.666667, 0.333333])
    """
    return _stationary("stationary_distribution", mdp, policy)[1]


def _stationary(owner: str, mdp: TabularMDP, policy: Policy | ArrayLike) -> tuple[Floats, Floats]:
    """A policy as a table, and its stationary distribution: the limit of the lazy chain, by squaring."""
    if not isinstance(mdp, TabularMDP):
        raise InvalidArgument(owner, "mdp", "a TabularMDP", mdp)
    S = mdp.n_states
    mu = policy_matrix(owner, policy, S, mdp.n_actions)
    L = 0.5 * (np.eye(S) + np.einsum("sa,say->sy", mu, mdp.matrix.reshape(S, -1, S)))
    for _ in range(SQUARINGS):
        before, L = L, L @ L
        L /= L.sum(axis=1, keepdims=True)
        if np.abs(L - before).max() < np.finfo(float).eps:
            break
    return mu, frozen(np.asarray(mdp.outcomes.start @ L))
