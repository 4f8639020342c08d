"""Proper problems: episodes with discount 1 that end whatever is done (Bertsekas and Tsitsiklis 1991).

A policy never ends from some state if and only if it keeps forever to a set of states that are not terminal. A set can
be kept if each of its states has an action all of whose outcomes are in the set. The union of such sets is found by
removing, again and again, the states whose actions may all leave. If nothing remains, the problem is proper: every
policy ends with probability one from every state, whether it is stationary, random, or remembers the past, and

    w(s) = 1 + max_a sum_s' P(s'|s, a) w(s')

has one solution: the largest expected number of steps from s over all policies, which a deterministic one attains. The
longest episode L = max_s w(s) is what 1 / (1 - gamma) is with a discount:
- every value lies between L min(r_min, 0) and L max(r_max, 0);
- the Bellman operator contracts in the norm max_s |v(s)| / w(s), by 1 - 1 / L;
- values whose backup moves by at most x are at most x L from the optimum, since v + x w and v - x w bound it.
The same holds where nature chooses among rows, if w is the maximum over her choices too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesrl.checks import Bools, Floats, frozen
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F3, I2, I3
from bayesrl.kernels.dynamic_programming.bellman import backup, improve
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solution import model_of
from bayesrl.models.solvers.evaluation import evaluate

PROPER = "one whose episodes end under every policy, as the discount is 1"
ENDS = "one that ends with probability one from every state, as the discount is 1"
SMALL = 1e-12
"""A policy lasts longer than another if it does by more than this share of the longest episode."""
LONGEST = 1e9
"""Where an end is so rare that an episode may be longer, values have too few digits left to be worth more."""


class Rows(NamedTuple):
    """The rows among which an agent and nature choose, in every state: n of them for each of A actions."""

    succ: I3  # (S, A, K)
    group: I2  # (S, A)
    prob: F3  # (n, G, K)


def endless_state(leaves: Callable[[Bools], Bools], ended: Bools) -> int | None:
    """The first state of the largest set that can be kept forever; None if there is none.

    leaves(set)[s, b] says whether choice b in state s may lead out of a set of states (S,).
    """
    kept = ~ended
    while kept.any():
        fewer = kept & ~leaves(kept).all(axis=1)
        if (fewer == kept).all():
            return int(kept.argmax())
        kept = fewer
    return None


def endless_state_of(mdp: TabularMDP) -> int | None:
    """The first state that some policy keeps to without end, or near which it stays; None if all policies end."""
    o = mdp.outcomes
    possible = mdp.prob[o.group] > 0.0
    return endless_state(lambda kept: (possible & ~kept[o.succ]).any(axis=2), o.terminal)


def endless_choice(rows: Rows, ended: Bools) -> int | None:
    """The same where nature chooses the row of each pair."""
    possible = rows.prob > 0.0

    def leaves(kept: Bools) -> Bools:
        out = (possible[:, rows.group] & ~kept[rows.succ]).any(axis=3)  # (n, S, A)
        return out.swapaxes(0, 1).reshape(len(ended), -1)

    return endless_state(leaves, ended)


def endless_state_under(mdp: TabularMDP, policy: Floats) -> int | None:
    """The first state from which a policy (S, A) cannot reach an end; None if it ends from every state."""
    o = mdp.outcomes
    possible = (mdp.prob[o.group] > 0.0) & (policy > 0.0)[:, :, None]
    reached = o.terminal.copy()
    while not reached.all():
        more = reached | (possible & reached[o.succ]).any(axis=(1, 2))
        if (more == reached).all():
            return int(reached.argmin())
        reached = more
    return None


def refuse_endless(owner: str, name: str, state: int | None, expected: str = PROPER, hint: str = "") -> None:
    """Raise an error that names the state, unless there is none."""
    if state is not None:
        raise InvalidArgument(owner, name, expected, f"one that need not end from state {state}", hint)


def must_be_proper(owner: str, name: str, mdp: TabularMDP, hint: str = "") -> None:
    """Refuse a model with discount 1 in which some policy does not end."""
    if mdp.gamma == 1.0:
        refuse_endless(owner, name, endless_state_of(mdp), hint=hint)


# The longest episode -------------------------------------------------------------------------------------------------


def longest_episodes(mdp: TabularMDP) -> Floats:
    """w(s), the largest expected number of steps to the end over all policies, (S,), in a proper model."""
    m = model_of(mdp, gamma=1.0)
    live = ~mdp.outcomes.terminal
    m = m._replace(r=frozen(np.where(live[:, None], 1.0, 0.0) * np.ones(m.r.shape)))
    pi, q = np.zeros(len(live), np.int64), np.empty(m.r.shape)
    while True:
        w = evaluate(m, pi)
        if w is None:
            raise InvalidArgument("longest_episodes", "problem", "one whose ends have probabilities above 1e-16", mdp)
        backup(m, w, q)
        if improve(q, pi, SMALL * float(w.max(initial=1.0))) == 0:
            return frozen(w)


def longest_episode(mdp: TabularMDP) -> float:
    """L = max_s w(s); 0 if every state is an end.

    >>> coin = TabularMDP.from_dense([[[0.5, 0.5], [0.9, 0.1]], [[0, 1], [0, 1]]], [0.0, 0.0], 1.0, terminal=[1])
    >>> round(longest_episode(coin), 9)
    10.0
    """
    return float(longest_episodes(mdp).max())


def longest_path(mdp: TabularMDP) -> int | None:
    """The most steps that an episode can take; None if some state may come back."""
    o = mdp.outcomes
    possible = mdp.prob[o.group] > 0.0
    over, n = o.terminal, 0
    while not over.all():
        more = over | ~(possible & ~over[o.succ]).any(axis=(1, 2))
        if (more == over).all():
            return None
        over, n = more, n + 1
    return n


def value_scale(mdp: TabularMDP) -> float:
    """The largest value of rewards of size 1: 1 / (1 - gamma), or L if the discount is 1."""
    return longest_episode(mdp) if mdp.gamma == 1.0 else 1.0 / (1.0 - mdp.gamma)


def longest_choices(rows: Rows, ended: Bools) -> Floats:
    """w(s) where nature chooses the row of each pair to make the episode last, (S,)."""
    n, S, A = len(rows.prob), *rows.group.shape
    s, pick = np.arange(S), np.zeros(S, np.int64)
    while True:
        j, a = np.divmod(pick, A)
        moves, at = rows.prob[j, rows.group[s, a]], rows.succ[s, a]
        system = np.eye(S)
        np.subtract.at(system, (s[:, None], at), np.where(ended[:, None], 0.0, moves))
        w = np.asarray(np.linalg.solve(system, (~ended).astype(np.float64)))
        if not (np.isfinite(w).all() and w.max() <= LONGEST):
            expected = f"one with episodes of at most {LONGEST:g} steps"
            raise InvalidArgument("longest_choices", "problem", expected, f"longer ones from state {int(w.argmax())}")
        q = np.einsum("nsak,sak->nsa", rows.prob[:, rows.group], w[rows.succ]).swapaxes(0, 1).reshape(S, n * A)
        better = q.max(axis=1) > q[s, pick] + SMALL * w.max()
        if not (better & ~ended).any():
            return frozen(w)
        pick = np.where(better, q.argmax(axis=1), pick)
