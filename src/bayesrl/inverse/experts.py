"""Experts for experiments: demonstrations of a known reward, and what a policy loses under it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs.rewards.linear_rewards import rewarded
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer, number
from bayesrl.core import Policy
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import tied
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import policy_matrix
from bayesrl.models.reading import Problem, mdp_of
from bayesrl.models.solve import evaluate_policy, solve
from bayesrl.models.solvers.proper import must_be_proper
from bayesrl.renamed import with_old_words


@with_old_words
def demonstrate(
    problem: Problem,
    reward: ArrayLike,
    trajectories: int,
    length: int,
    rng: Generator,
    rationality: float | None = None,
) -> list[Ints]:
    """Trajectories of an expert that knows the reward: pairs (state, action), each of shape (length, 2).

    A trajectory starts in a first state of the problem and is shorter if it reaches a terminal state. The expert takes
    action a with probability proportional to exp(rationality Q*(s, a)). If `rationality` is None, it is optimal, and
    every optimal action is equally probable.

    Parameters
    ----------
    problem: a TabularMDP or a world that has one
    reward: array of shape (S,) or (S, A)
        Paid in the current state.
    trajectories: whole number at least 1
    length: whole number at least 1
    rng: generator
    rationality = None: number greater than 0 or None

    Examples
    --------
    >>> import bayesrl as b
    >>> line = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.9)
    >>> demonstrate(line, [0.0, 1.0], 1, 3, np.random.default_rng(0))[0].tolist()
    [[0, 1], [1, 1], [1, 1]]
    """
    owner = "demonstrate"
    mdp = with_reward(owner, problem, reward)
    n, most = integer(owner, "trajectories", trajectories, 1), integer(owner, "length", length, 1)
    rng = generator(owner, rng)
    found = solve(mdp, 1e-12)
    if rationality is None:
        best = tied(found.q)
        expert = best / best.sum(axis=1, keepdims=True)
    else:
        expert = special.softmax(number(owner, "rationality", rationality, 0.0, above=True) * found.q, axis=1)
    return [frozen(_walk(mdp, np.cumsum(expert, axis=1), most, rng)) for _ in range(n)]


def _walk(mdp: TabularMDP, expert: Floats, length: int, rng: Generator) -> Ints:
    """One trajectory; `expert` holds cumulative probabilities of actions."""
    o, pairs = mdp.outcomes, np.zeros((length, 2), np.int64)
    s = _drawn(np.cumsum(o.start), rng)
    for t in range(length):
        if o.terminal[s]:
            return pairs[:t]
        a = _drawn(expert[s], rng)
        pairs[t] = s, a
        s = int(mdp.succ[s, a, _drawn(np.cumsum(mdp.prob[mdp.group[s, a]]), rng)])
    return pairs


def _drawn(cumulative: Floats, rng: Generator) -> int:
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


def value_loss(problem: Problem, reward: ArrayLike, policy: Policy | ArrayLike) -> float:
    """The loss of a policy under the true reward: P0 . (V* - V), where P0 is the distribution of the first state.

    Parameters
    ----------
    problem: a TabularMDP or a world that has one
    reward: array of shape (S,) or (S, A)
        The true reward, paid in the current state.
    policy: a policy, actions (S,) or probabilities (S, A)

    Examples
    --------
    >>> import bayesrl as b
    >>> line = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.5)
    >>> value_loss(line, [0.0, 1.0], [0, 0])  # it stays at 0, where the optimal policy earns 1 from the next step on
    1.0
    """
    mdp = with_reward("value_loss", problem, reward)
    mu = policy_matrix("value_loss", policy, *mdp.group.shape)
    return float(mdp.outcomes.start @ (solve(mdp, 1e-12).values - evaluate_policy(mdp, mu)))


def with_reward(owner: str, problem: Any, reward: ArrayLike) -> TabularMDP:
    """The problem with other rewards, (S,) or (S, A)."""
    mdp = mdp_of(problem, owner)
    S, A = mdp.group.shape
    R = array(owner, "reward", reward)
    if R.shape not in ((S,), (S, A)):
        raise InvalidArgument(owner, "reward", f"an array of shape ({S},) or ({S}, {A})", reward)
    must_be_proper(owner, "problem", mdp)
    return rewarded(mdp, np.broadcast_to(R.reshape(S, -1), (S, A)))
