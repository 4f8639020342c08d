"""The second-order expansion of a policy's value in the unknown rows of a belief (`value_moments.py`).

    w(s, a) = mu(a|s), zero in terminal states      q(s, a, k) = r(s, a, k) + gamma V(succ(s, a, k))
    P = sum_a w P(.|s, a)    R = sum_a w r(s, a)     h(s, a, .) = Sigma_g q(s, a, .), g the group of (s, a)
    X = (I - gamma P)^-1     V = X R

J_g[:, k] = sum over pairs (s, a) of g of w(s, a) X[:, s] q(s, a, k) is the gradient of V in theta_g[k]. Sums over
groups of products of gradients are sums over ordered couples of pairs of one group, i = (s, a) and j = (s', a'):

    sum_g J_g Sigma_g J_g' = X C X',   C[s, s'] = sum over couples of w_i w_j q_i . h_j
    b(s) = sum over couples of w_i w_j sum_k X[succ_i(k), s'] h_j(k),   mean = V + gamma X b

Without ties each pair is a couple with itself only, and mu(a|s)^2 appears. A terminal state has an empty row.
`uncertain_model` computes once what does not depend on the policy; `expand` takes O(S^3 + S A K^2 + couples K).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesrl.capabilities import HasPairMoments, HasRewardMoments, HasRowCovariance, offers
from bayesrl.checks import Floats, Ints
from bayesrl.errors import InvalidArgument
from bayesrl.risk.models import require_belief


class UncertainModel(NamedTuple):
    """The mean model of a belief, and how uncertain its rows and its rewards are. N = S A pairs, pair s A + a."""

    gamma: float
    start: Floats
    """P0, (S,)."""
    running: Floats
    """1 in states that are not terminal, 0 in terminal states, (S,)."""
    P: Floats
    """Mean probabilities, (S, A, S)."""
    r: Floats
    """Mean rewards, (S, A)."""
    succ: Ints
    """Next states of outcomes, (N, K)."""
    reward: Floats
    """Mean rewards of outcomes, (N, K)."""
    covariance: Floats
    """Sigma of the group of each pair, (N, K, K)."""
    first: Ints
    """i of each couple: an ordered couple of pairs whose group is the same and unknown."""
    second: Ints
    """j of each couple."""
    reward_covariance: Floats
    """Of the mean rewards of pairs: their variances (N,) if they are independent, else their covariance (N, N)."""
    longest: float = 0.0
    """The longest expected episode, if the discount is 1 and a solver needs it."""


class Expansion(NamedTuple):
    """The terms of the expansion for one policy; letters as above."""

    w: Floats
    """(N,)."""
    X: Floats
    """(S, S)."""
    V: Floats
    """(S,)."""
    q: Floats
    """(N, K)."""
    h: Floats
    """(N, K)."""
    b: Floats
    """(S,)."""
    C: Floats
    """(S, S), of the rows and the rewards."""


MOST = 10**9
"""The most entries of the covariances of all rows, (G, K, K): 8 GB."""


def refuse_many_covariances(owner: str, belief: HasRowCovariance) -> None:
    """Refuse a belief whose rows have more covariances than fit into memory."""
    o = belief.outcomes
    entries = o.n_groups * o.n_outcomes**2
    if entries > MOST:
        expected = f"about rows with at most {MOST} covariances in all"
        raise InvalidArgument(owner, "belief", expected, entries, "Use a sparser prior, or fewer states.")


def uncertain_model(owner: str, belief: HasRowCovariance) -> UncertainModel:
    """Read what the expansion needs from a belief, whose groups must be independent."""
    require_belief(owner, belief, HasRowCovariance)
    mean = belief.mean_mdp()
    o = mean.outcomes
    S, A, K = o.succ.shape
    rows = belief.row_covariance()
    rewards = np.zeros(S * A)
    if offers(belief, HasRewardMoments):
        rewards = belief.reward_moments()[1]
    elif offers(belief, HasPairMoments):
        doubt = belief.pair_variances()[:, :, K:]  # of the pair's reward, of its outcomes' rewards, or empty
        share = o.of_pairs(mean.prob) ** 2 if doubt.shape[2] == K else np.ones(1)
        doubt = np.sum(share * doubt, axis=2)
        rewards = np.where(o.terminal[:, None], 0.0, doubt).ravel()  # a terminal state may have an infinite one
    running = ~o.terminal
    unknown = running[:, None] & rows.any(axis=(1, 2))[o.group]
    first, second = couples(np.where(unknown, o.group, -1).ravel())
    by_pairs = rows if o.is_flat else rows[o.group.ravel()]
    return UncertainModel(
        belief.gamma, o.start, running.astype(np.float64), mean.matrix.reshape(S, A, S), mean.mean_reward,
        o.succ.reshape(S * A, K), o.reward.reshape(S * A, K), by_pairs, first, second, rewards,
    )  # fmt: skip


def couples(group: Ints) -> tuple[Ints, Ints]:
    """All ordered couples (i, j) of pairs with the same group; pairs of group -1 have none."""
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    _, begins, n = np.unique(group[order], return_index=True, return_counts=True)
    each = np.repeat(n, n)  # the size of the group of each pair in `order`
    first = np.repeat(order, each)
    within = np.arange(len(first)) - np.repeat(np.cumsum(each) - each, each)
    return first, order[np.repeat(np.repeat(begins, n), each) + within]


def expand(m: UncertainModel, policy: Floats) -> Expansion:
    """The expansion for a policy, (S, A)."""
    S, A = policy.shape
    w = m.running[:, None] * policy
    X = np.linalg.inv(np.eye(S) - m.gamma * np.einsum("sa,say->sy", w, m.P))
    V = X @ (w * m.r).sum(axis=1)
    w = w.ravel()
    q = m.reward + m.gamma * V[m.succ]
    q = q - q[:, :1]  # Sigma has no constant part; a large one in q would leave rounding errors
    h = np.einsum("nkl,nl->nk", m.covariance, q)
    i, j = m.first, m.second
    s, y, ww = i // A, j // A, w[i] * w[j]
    b = summed(s, ww * (X[m.succ[i], y[:, None]] * h[j]).sum(axis=1), S)
    C = summed(s * S + y, ww * (q[i] * h[j]).sum(axis=1), S * S).reshape(S, S)
    if m.reward_covariance.ndim == 1:
        C[np.arange(S), np.arange(S)] += (w**2 * m.reward_covariance).reshape(S, A).sum(axis=1)
    else:
        C += (np.outer(w, w) * m.reward_covariance).reshape(S, A, S, A).sum(axis=(1, 3))
    return Expansion(w, X, V, q, h, b, C)


def summed(where: Ints, x: Floats, n: int) -> Floats:
    """The sums of x by its places 0 to n - 1."""
    return np.bincount(where, x, n).astype(np.float64, copy=False)
