"""Counts of a game as urns, for the beliefs that learn by counting.

A step draws three times: the other's action o from the urn of its context (the state, or the state and the last joint
action), then the next state and the reward, each from its urn of the state and the joint action j = a B + o. An urn
learns, or is known. The model that the mean urns make, and models drawn from them, are MDPs over contexts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.solve import solve_many


class Urns(NamedTuple):
    """A belief about a game as urns. Known urns hold probabilities."""

    moves: Floats
    """Counts of next states, (S, J, S)."""
    pays: Floats
    """Counts of the listed rewards, (S, J, V)."""
    worth: Floats
    """The listed rewards, (S, J, S, V)."""
    others: Floats
    """Counts of the other's actions, (C, B). There are S contexts, or S (J + 1) with the last joint action."""
    moves_learn: bool
    pays_learn: bool
    gamma: float

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """S, J, V, C, B."""
        (S, J, V), (C, B) = self.pays.shape, self.others.shape
        return S, J, V, C, B

    def context(self, state: int, last: int) -> int:
        """The context in a state after joint action `last`; -1: there was none."""
        S, J, _, C, _ = self.shape
        return state if C == S else state * (J + 1) + last + 1


def shares(counts: Floats) -> Floats:
    """Rows (last axis) divided by their sums."""
    return counts / counts.sum(axis=-1, keepdims=True)


def drawn_rows(counts: Floats, learns: bool, n: int, rng: Generator) -> Floats:
    """n draws of all rows from their Dirichlets, or the known rows n times."""
    if not learns:
        return np.broadcast_to(counts, (n, *counts.shape))
    logs = log_gammas(np.broadcast_to(counts, (n, *counts.shape)), rng)
    return shares(np.exp(logs - logs.max(axis=-1, keepdims=True)))


def log_gammas(counts: Floats, rng: Generator) -> Floats:
    """Logarithms of gamma variates, so that small counts do not make rows of zeros; -inf where a count is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        boost = np.log(rng.random(counts.shape)) / counts  # G(c) = G(c + 1) U^(1/c)
        return np.where(counts > 0.0, np.log(rng.standard_gamma(counts + 1.0)) + boost, -np.inf)


def mean_model(u: Urns) -> tuple[Floats, Floats]:
    """The mean game against the predictive strategy as one MDP: prob (1, C, A, C), reward (1, C, A)."""
    return models(shares(u.moves)[None], shares(u.pays)[None], shares(u.others)[None], u)


def drawn_models(u: Urns, n: int, rng: Generator) -> tuple[Floats, Floats]:
    """n games with strategies, drawn from the belief, as MDPs."""
    moves = drawn_rows(u.moves, u.moves_learn, n, rng)
    pays = drawn_rows(u.pays, u.pays_learn, n, rng)
    return models(moves, pays, drawn_rows(u.others, True, n, rng), u)


def models(moves: Floats, pays: Floats, others: Floats, u: Urns) -> tuple[Floats, Floats]:
    """The MDPs over contexts of n games: moves (n, S, J, S), pays (n, S, J, V), others (n, C, B)."""
    S, J, _, C, B = u.shape
    n, A = len(moves), J // B
    paid = np.einsum("nsjy,nsjv,sjyv->nsj", moves, pays, u.worth)
    x = others.reshape(n, S, C // S, B)
    r = np.einsum("nslb,nsab->nsla", x, paid.reshape(n, S, A, B)).reshape(n, C, A)
    moves = moves.reshape(n, S, A, B, S)
    if C == S:
        return np.einsum("nsb,nsaby->nsay", others, moves), r
    prob = np.zeros((n, S, J + 1, A, S, J + 1))
    to = np.einsum("nslb,nsaby->nslayb", x, moves)  # after a and b the last joint action is a B + b
    for a in range(A):
        prob[:, :, :, a, :, 1 + a * B : 1 + (a + 1) * B] = to[:, :, :, a]
    return prob.reshape(n, C, A, C), r


def solved(prob: Floats, reward: Floats, gamma: float) -> Floats:
    """Optimal action values (n, C, A) of n MDPs."""
    n, C, A, _ = prob.shape
    flat = shares(np.ascontiguousarray(prob).reshape(n, C * A, C))
    return solve_many(_outcomes(C, A), flat, gamma, rewards=reward)[1]


@lru_cache(maxsize=16)
def _outcomes(C: int, A: int) -> Outcomes:
    return TabularMDP.from_dense(np.full((C, A, C), 1.0 / C), np.zeros((C, A)), 0.5).outcomes
