"""Fisher information of a policy: how much its actions, or its paths, tell about its parameters (survey §5.2.2, §5.3).

Four estimates of G from episodes. The scores are those of the policy that acted.

    paths    mean over paths of u u', where u is the score of the whole path
    steps    mean over paths of the sum of u_t u_t' over steps: the same expectation, because the score of an action has
             mean zero given the past; lower variance
    pairs    mean over episodes of the sum of gamma^t u_t u_t': the information under the discounted weighting of
             pairs that the actor-critic needs. It is not normalised: its mass is that of the weighting (ERRATA 32)
    model    the same sum, exactly, in the maximum-likelihood model of the transitions; for tables. A pair that was
             never tried ends the path
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from bayesrl.checks import Floats, choice, integer, number
from bayesrl.core import DifferentiablePolicy, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.gradient._paths import Path, demand_policy, paths_of
from bayesrl.models.policy import TablePolicy
from bayesrl.renamed import with_old_words

Unit = Literal["paths", "steps", "pairs", "model"]
UNITS = ("paths", "steps", "pairs", "model")
OWNER = "fisher_information"


def fisher_information(
    transitions: Iterable[Transition], policy: DifferentiablePolicy, unit: Unit = "pairs", gamma: float = 1.0
) -> Floats:
    """The Fisher information G of a policy from episodes in which it acted, shape (n, n).

    `gamma` weighs the steps of "pairs" and "model"; "paths" and "steps" are about whole paths.

    >>> from bayesrl.models.policy import SoftmaxPolicy
    >>> policy = SoftmaxPolicy.tabular(1, 2)
    >>> fisher_information([Transition(0, 0, 1.0, 0, terminated=True)], policy).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    choice(OWNER, "unit", unit, UNITS)
    gamma = number(OWNER, "gamma", gamma, 0.0, 1.0)
    return information(paths_of(OWNER, transitions, policy), policy, unit, gamma)


def information(paths: Sequence[Path], policy: DifferentiablePolicy, unit: Unit, gamma: float) -> Floats:
    """The same from paths."""
    if unit == "model":
        return _of_model(paths, policy, gamma)
    if unit == "paths":
        U = np.array([path.scores.sum(axis=0) for path in paths])
        return np.asarray(U.T @ U / len(paths))
    U = np.concatenate([path.scores for path in paths])
    weight = np.ones(len(U))
    if unit == "pairs":
        weight = np.concatenate([gamma ** np.arange(len(path.scores)) for path in paths])
    return np.asarray((U * weight[:, None]).T @ U / len(paths))


@with_old_words
class RunningInformation(NamedTuple):
    """A weighted mean of the estimates of successive policies: each update multiplies the older weights by `decay`."""

    total: Floats | float = 0.0
    weight: float = 0.0

    def after(self, G: Floats, decay: float) -> RunningInformation:
        """With one estimate more."""
        return RunningInformation(np.asarray(decay * self.total + G), decay * self.weight + 1.0)

    @property
    def mean(self) -> Floats:
        """The weighted mean, shape (n, n)."""
        return np.asarray(self.total / self.weight)


def _of_model(paths: Sequence[Path], policy: DifferentiablePolicy, gamma: float) -> Floats:
    demand_policy(OWNER, policy, "score", "probabilities")
    assert isinstance(policy, TablePolicy)
    pi = policy.probabilities()
    S, A = pi.shape
    seen, ended, start = np.zeros((S, A, S)), np.zeros((S, A)), np.zeros(S)

    def state(x: object) -> int:
        return integer(OWNER, "observation", x, 0, S - 1)

    for path in paths:
        start[state(path.steps[0].observation)] += 1.0 / len(paths)
        for step in path.steps:
            s, a = state(step.observation), integer(OWNER, "action", step.action, 0, A - 1)
            if step.terminated:
                ended[s, a] += 1.0
            else:
                seen[s, a, state(step.next_observation)] += 1.0
    tried = np.maximum(seen.sum(axis=2) + ended, 1.0)
    P = np.einsum("sa,say->sy", pi, seen / tried[:, :, None])
    try:
        nu = np.linalg.solve(np.eye(S) - gamma * P.T, start)
    except np.linalg.LinAlgError:
        nu = np.full(S, np.inf)
    if not (nu <= 1e12).all():
        raise InvalidArgument(OWNER, "gamma", "less than 1, because some paths never end", gamma)
    G: Floats | float = 0.0
    for s in np.flatnonzero(nu > 0.0):
        for a in np.flatnonzero(pi[s]):
            u = policy.score(int(s), int(a))
            G = G + nu[s] * pi[s, a] * np.outer(u, u)
    return np.asarray(G)
