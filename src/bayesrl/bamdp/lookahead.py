"""What the searches share before they begin: the belief as counts, the rewards there can be, and what lies beyond."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.beliefs.dirichlet import DirichletMDP
from bayesrl.beliefs.infinite_grid import RowColumnBeta
from bayesrl.beliefs.sparse_dirichlet import SparseDirichletMDP
from bayesrl.beliefs.unknown_rewards import UnknownRewards
from bayesrl.checks import Floats
from bayesrl.errors import Incompatible
from bayesrl.kernels.tree import DRAWS, KINDS, Counts, Ends, weigh_all
from bayesrl.models.mdp import Outcomes
from bayesrl.models.solve import solve

LEAVES = ("zero", "mean")
"""Nothing, or the value of the mean model at the root, solved for an infinite horizon."""


def can_be_searched(planner: str, belief: Any, leaf: str) -> None:
    """Raise where sampled outcomes cannot be told apart, or where there is no mean model for the leaves."""
    if leaf == "mean" and not hasattr(belief, "mean_mdp"):
        raise Incompatible(f"{planner} with leaf='mean'", type(belief).__name__, ["mean_mdp"])
    if hasattr(belief, "rewards") and not hasattr(belief.rewards, "predictive"):
        raise Incompatible(planner, type(belief.rewards).__name__, ["finitely many values"])


def counts_of(planner: str, belief: Any, depth: int = 0) -> Counts:
    """A Dirichlet belief, with known rewards or unknown ones of finitely many values, as counts to enumerate.

    Or a sparse one, with room in its table of weights for what a search of `depth` steps may see.
    """
    if isinstance(belief, SparseDirichletMDP):
        return sparse_counts(belief, depth)
    moves = belief.transitions if isinstance(belief, UnknownRewards) else belief
    if not isinstance(moves, DirichletMDP):
        raise Incompatible(planner, type(belief).__name__, ["Dirichlet counts"])
    if belief is moves:
        cells, values, pay = np.zeros((1, 1, 1), np.int64), np.zeros(0), np.zeros((0, 0))
    elif hasattr(belief.rewards, "predictive"):
        shape = belief.rewards.mean().shape
        cells = np.arange(np.prod(shape)).reshape(*shape, *(1,) * (3 - len(shape)))
        cells = np.array(np.broadcast_to(cells, belief.outcomes.succ.shape))
        values, pay = belief.rewards.value_counts()
    else:
        raise Incompatible(planner, type(belief.rewards).__name__, ["finitely many values"])
    o, alpha = belief.outcomes, moves.alpha
    return Counts(
        o.succ, o.reward, o.group, o.terminal, o.size, np.array(alpha), alpha.sum(axis=1), 1.0 - moves.known,
        cells, np.array(values), np.array(pay), np.sum(pay, axis=1),
        0.0, 0.0, np.zeros((o.n_groups, 3)), np.zeros((0, 0)),
    )  # fmt: skip


def sparse_counts(belief: SparseDirichletMDP, depth: int) -> Counts:
    """The same of a sparse Dirichlet, whose rewards are known."""
    o, urn = belief.outcomes, belief.simulate(depth)
    m = Counts(
        o.succ, o.reward, o.group, o.terminal, o.size, np.array(belief.seen_counts), np.array(urn.rows["total"]),
        np.ones(o.n_groups), np.zeros((1, 1, 1), np.int64), np.zeros(0), np.zeros((0, 0)), np.zeros(0),
        float(belief.concentration), float(belief.size_exponent), np.zeros((o.n_groups, 3)), urn.weights,
    )  # fmt: skip
    m.support[:, KINDS], m.support[:, DRAWS] = urn.rows["kinds"], urn.rows["count"]
    weigh_all(m)
    return m


def rewards_of(belief: Any) -> Floats:
    """The rewards that a step may pay; in a terminal state zero."""
    if isinstance(belief, RowColumnBeta):
        return np.array([0.0, 1.0])
    if isinstance(belief, UnknownRewards):
        values: Floats = belief.rewards.value_counts()[0]
        return np.append(values, 0.0) if belief.outcomes.terminal.any() else values
    return listed_rewards(belief.outcomes)


def listed_rewards(outcomes: Outcomes) -> Floats:
    """The rewards of all outcomes, without padding."""
    return np.asarray(outcomes.reward[outcomes.valid[outcomes.group]])


def leaf_values(belief: Any, leaf: str) -> Floats:
    """The value beyond the last decision, V_0(s), shape (S,); zero in terminal states; empty where none are listed."""
    return np.array(solve(belief.mean_mdp()).values) if leaf == "mean" else np.zeros(getattr(belief, "n_states", 0))


def ends_of(rewards: Floats, gamma: float, depth: int, leaf: Floats) -> Ends:
    """Leaves, and the range of what d rewards and a leaf can come to: V_max(d + 1) = r_max + gamma V_max(d)."""
    low, high = rewards.min(), rewards.max()
    v = np.empty((depth + 1, 2))
    v[0] = (leaf.min(), leaf.max()) if len(leaf) else 0.0
    for d in range(depth):
        v[d + 1] = low + gamma * v[d, 0], high + gamma * v[d, 1]
    return Ends(gamma, leaf, v)
