"""Policies: a distribution over actions for each observation.

    TabularPolicy     an action, or a distribution over actions, for each state
    SoftmaxPolicy     probabilities proportional to exp(theta . phi(s, a) / temperature)
    GaussianPolicy    a real action with a mean linear in features
    ControllerPolicy  a finite-state controller: an action for each node, and a next node for each observation

Each implements `core.Policy` (`sample`, `log_prob`) and is an agent (`start`, `act`, `learn`). A policy can thus be
run, compared, saved and evaluated like every other method. `solve(mdp).policy` is a TabularPolicy.

A `StationarySolution`, the base class of solvers' results, is a planner that draws from its policy.

Softmax and Gaussian policies have `parameters`, `with_parameters`, a `score` and a `hessian`: the gradient and the
Hessian of `log_prob` in the parameters. The mean of the score under the policy is zero.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, as_array, indices, integer, rows_sum_to_one
from bayesrl.core import Decision, Policy, Transition
from bayesrl.models.policies.controller_policy import ControllerPolicy
from bayesrl.models.policies.gaussian_policy import GaussianPolicy
from bayesrl.models.policies.sampling import draw_action
from bayesrl.models.policies.softmax_policy import SoftmaxPolicy
from bayesrl.models.policies.tabular_policy import TabularPolicy

__all__ = [
    "ControllerPolicy",
    "GaussianPolicy",
    "SoftmaxPolicy",
    "StationarySolution",
    "TabularPolicy",
    "draw_action",
    "policy_matrix",
]


@runtime_checkable
class TablePolicy(Protocol):
    """A policy over finitely many states and actions that can list its probabilities."""

    def probabilities(self) -> Floats:
        """The probability of each action in each state, shape (S, A)."""


def policy_matrix(owner: str, policy: Policy | ArrayLike, S: int, A: int) -> Floats:
    """A policy of S states and A actions as probabilities of actions, shape (S, A)."""
    if isinstance(policy, TabularPolicy):
        policy = policy.table
    elif isinstance(policy, TablePolicy):
        policy = policy.probabilities()
    elif isinstance(policy, Policy):
        policy = np.exp([[policy.log_prob(s, a) for a in range(A)] for s in range(S)])
    if as_array(policy).ndim == 1:  # rows of different lengths are refused below
        return np.eye(A)[indices(owner, "policy", policy, (S,), A)]
    weight = array(owner, "policy", policy, (S, A), low=0.0)
    return rows_sum_to_one(owner, "policy", weight, policy)


class StationarySolution:
    """A solution with a stationary policy. It is a planner: it ignores the belief and draws from its own policy.

    Its information set is the state, so that its memory is the state of the last decision.
    """

    needs: ClassVar[tuple[type, ...]] = ()
    policy: Floats
    """The probability of each action in each state, (S, A)."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        rows_sum_to_one(owner, "policy", array(owner, "policy", self.policy, (None, None), low=0.0))

    def start(self) -> None:
        """No state yet."""
        return

    def plan(
        self, belief: object, observation: int, memory: int | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Draw an action from the policy's row. `info` has its probabilities."""
        owner = type(self).__name__
        s = integer(owner, "observation", observation, 0, len(self.policy) - 1)
        row = self.policy[s]
        return Decision(draw_action(owner, row, rng), s, {"probability": row})
