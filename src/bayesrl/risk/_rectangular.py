"""Max-min values where nature chooses a scenario anew in each step: lists of scenarios, and their iteration.

Nature may see the state and the action ("rectangular"),

    v(s) = max_a min_j [ r_j(s, a) + gamma sum_k p_j(k|s, a) v(succ(s, a, k)) ],

or the state only ("state-rectangular"). Then each state has a matrix game, and the best policy is random. Both
operators contract by gamma, as the Bellman operator does, so that the residual of v bounds its distance from the
solution.

With discount 1 every choice of both players must end the episode with probability one (`models/solvers/proper.py`).
Let w(s) be the largest expected number of steps to the end over the choices of both, L = max_s w(s). The operators
contract by 1 - 1 / L in the norm max_s |v(s)| / w(s), and a residual of x bounds the distance by x L.

Plain iteration takes log(tol) / log(gamma) backups of n scenarios. Here each backup fixes the choices of both players,
and the next values are those of the chain that they make (Newton's method for games: Filar and Tolwinski 1991). Such a
step may fail to improve. The residual shows that, and the plain step is then taken, so that every round contracts as
plain iteration does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesrl._shown import shown
from bayesrl.checks import ROW_SUM_TOLERANCE, Bools, Floats, Ints, frozen
from bayesrl.kernels.arrays import F1, F3, I2, I3
from bayesrl.kernels.dynamic_programming.bellman import Model, short_dot
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.solution import LISTS, UNIT, first_best
from bayesrl.models.solvers.evaluation import evaluate
from bayesrl.models.solvers.proper import SMALL, Rows, endless_choice, longest_choices, refuse_endless

ROUNDS = 10_000
"""The most rounds. A round that gains nothing but rounding errors ends the iteration sooner."""


class Scenarios(NamedTuple):
    """n scenarios of one problem as lists. The rows of terminal states are empty."""

    succ: I3  # (S, A, K)
    group: I2  # (S, A)
    prob: F3  # (n, G, K)
    r: F3  # (n, S, A), expected rewards
    gamma: float
    lasts: F1  # (S,), w: the longest expected episode from each state if the discount is 1, else ones


class Backup(NamedTuple):
    """One backup of values v, and the choices of both players."""

    values: Floats
    """Tv, (S,)."""
    error: float
    """A bound on the error of Tv, besides rounding."""
    policy: Floats
    """Probabilities of actions, (S, A)."""
    succ: Ints
    prob: Floats
    r: Floats
    """The chain that the choices make: next states and probabilities, (S, L), and expected rewards, (S,)."""


class Robust(NamedTuple):
    """Max-min values and the policy that attains them."""

    values: Floats
    """v(s), (S,)."""
    q: Floats
    """r_j(s, a) + gamma P_j v of every scenario, (n, S, A)."""
    policy: Floats
    """Probabilities of actions, (S, A)."""
    error_bound: float
    """max |values - max-min values| is at most this, rounding included."""
    converged: bool

    def __repr__(self) -> str:
        return shown(self)


def scenarios_of(models: tuple[TabularMDP, ...]) -> Scenarios:
    """Lists of models of one problem. If their outcomes differ, a pair lists every next state of any model."""
    first = models[0].outcomes
    S, A = first.group.shape
    if all(_same(first, m.outcomes, "succ", "group") for m in models):
        succ, group, prob = first.succ, first.group, np.stack([m.prob for m in models])
    else:
        P = np.stack([m.matrix for m in models])  # (n, S A, S)
        possible = P.any(axis=0)
        listed = np.argsort(~possible, axis=1, kind="stable")[:, : possible.sum(axis=1).max()]
        prob = np.take_along_axis(P, listed[None], axis=2)
        succ, group = listed.astype(np.int32).reshape(S, A, -1), np.arange(S * A, dtype=np.int32).reshape(S, A)
    if succ is first.succ and all(_same(first, m.outcomes, "reward") for m in models):
        r = expected_rewards(prob, group, first.reward)
    else:
        r = np.stack([m.mean_reward for m in models])
    return listed_scenarios(succ, group, prob, r, models[0].gamma, first.terminal)


def _same(one: Outcomes, two: Outcomes, *names: str) -> bool:
    return one is two or all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)


def expected_rewards(prob: Floats, group: I2, reward: Floats) -> Floats:
    """Expected rewards of every scenario, (n, S, A), for rewards of outcomes (S, A, K)."""
    r = np.zeros((len(prob), *group.shape))
    scenario_values(frozen(np.ascontiguousarray(reward)), frozen(group), frozen(prob), r, r)
    return r


def listed_scenarios(succ: I3, group: I2, prob: Floats, r: Floats, gamma: float, terminal: Bools) -> Scenarios:
    """Scenarios with empty rows of terminal states. The arrays become read-only."""
    if terminal.any():
        n, G, K = prob.shape
        group = np.where(terminal[:, None], G, group).astype(np.int32)
        prob, r = np.concatenate([prob, np.zeros((n, 1, K))], axis=1), np.where(terminal[:, None], 0.0, r)
    x = Scenarios(frozen(succ), frozen(group), frozen(prob), frozen(r), gamma, frozen(np.ones(len(succ))))
    return x if gamma < 1.0 else x._replace(lasts=episodes_of(x, terminal))


def must_end(owner: str, name: str, x: Scenarios, terminal: Bools) -> None:
    """Refuse discount 1 if the agent and nature, who mixes scenarios, need not end some episode."""
    if x.gamma == 1.0 and not np.isfinite(x.lasts).all():
        state = endless_choice(Rows(x.succ, x.group, x.prob), terminal)
        hint = "Nature may take each step from another scenario."
        refuse_endless(owner, name, state, hint=hint)


def episodes_of(x: Scenarios, terminal: Bools) -> Floats:
    """w, (S,), for discount 1; infinite everywhere if nature and the agent together need not end some episode."""
    rows = Rows(x.succ, x.group, x.prob)
    endless = endless_choice(rows, terminal) is not None
    return frozen(np.full(len(terminal), np.inf)) if endless else longest_choices(rows, terminal)


# Iteration -----------------------------------------------------------------------------------------------------------


def rectangular(x: Scenarios, tol: float, v: Floats | None = None) -> Robust:
    """Max-min values against nature that sees the state and the action. Ties go to the first action."""
    _, S, A = x.r.shape
    s = np.arange(S)

    def worst(q: F3) -> Backup:
        low = q.min(axis=0)
        a = low.argmax(axis=1)
        j = q[:, s, a].argmin(axis=0)
        return Backup(low[s, a], 0.0, np.eye(A)[a], x.succ[s, a], x.prob[j, x.group[s, a]], x.r[j, s, a])

    found = iterate(x, worst, tol, v)
    return found._replace(policy=np.eye(A)[first_best(found.q.min(axis=0), found.error_bound)])


def iterate(x: Scenarios, choose: Callable[[F3], Backup], tol: float, v: Floats | None) -> Robust:
    """The fixed point of v -> choose(q(v)).values, to within `tol` or to within rounding, from v (default: zero)."""
    S = len(x.succ)
    q, units = np.empty(x.r.shape), UNIT * (x.prob.shape[2] + 4)
    largest, rate, contracts = float(np.abs(x.r).max()), 1.0 - x.gamma * (1.0 + ROW_SUM_TOLERANCE), x.gamma
    if x.gamma == 1.0:
        L = max(float(x.lasts.max()), 1.0)
        rate, contracts = (1.0 - L * SMALL) / L**2, 1.0 - 1.0 / L  # w is that of the rows as they are, but for SMALL
    unit = np.maximum(x.lasts, 1.0)

    def back_up(v: Floats) -> tuple[Backup, float, float]:
        """The backup, the largest change in units of w, and the rounding error of the backup."""
        scenario_values(frozen(x.gamma * v[x.succ]), x.group, x.prob, x.r, q)
        b = choose(q)
        change = float((np.abs(b.values - v) / unit).max()) + b.error
        return b, change, units * (largest + x.gamma * float(np.abs(v).max()))

    b, change, rounding = back_up(np.zeros(S) if v is None else v)
    for _ in range(ROUNDS):
        if change + rounding <= max(tol * rate, 3.0 * rounding):
            break
        v = evaluate(chain_of(b, x.gamma), np.zeros(S, np.int64))
        there = None if v is None else back_up(v)
        if there is None or not there[1] <= contracts * change:
            there = back_up(b.values)
        if not there[1] < change:  # only rounding is left
            break
        b, change, rounding = there
    done = change + rounding <= max(tol * rate, 10.0 * rounding)
    return Robust(b.values, q, b.policy, (change + rounding) / rate, done)


def chain_of(b: Backup, gamma: float) -> Model:
    """The chain of a backup as a model with one action."""
    S, L = b.prob.shape
    succ, prob, r = frozen(b.succ[:, None, :].copy()), frozen(b.prob.copy()), frozen(b.r[:, None].copy())
    group, size = frozen(np.arange(S, dtype=np.int32)[:, None]), frozen(np.full(S, L, np.int32))
    return Model(LISTS, succ, prob, group, size, r, gamma, 0.0, UNIT * (L + 4), False)


@njit
def scenario_values(w: F3, group: I2, prob: F3, r: F3, q: F3) -> None:
    """q[j, s, a] <- r_j(s, a) + sum_k p_j(k|s, a) w(s, a, k)."""
    n, S, A = q.shape
    for j in range(n):
        for s in range(S):
            for a in range(A):
                q[j, s, a] = r[j, s, a] + short_dot(prob[j, np.uint32(group[s, a])], w[s, a])
