"""The plan of largest value for a measure over percentiles, by cutting planes (Chen and Bowling 2012, theorem 1).

The returns of the models are linear in a plan x (_information_sets.py). The value of returns is the smallest average
that an adversary can reach with the weights of the measure. So the problem is a linear program with one row for each
such weighting, of which few matter:

    maximise t over plans x and t, with t <= sum_m w_m (c_m . x) for each weighting w that is known

The adversary's answer to a plan is to sort its returns, which gives the next weighting. The program's value is an upper
bound, the value of a plan a lower one. The multipliers of the rows average the weightings to `adversary`: the best plan
against these fixed weights earns the value of the measure, which proves that no plan is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from bayesrl.checks import Floats, frozen
from bayesrl.errors import NotConverged
from bayesrl.kernels.ties import sizes, within
from bayesrl.models.mdp import UNIT, TabularMDP
from bayesrl.models.solve import solve
from bayesrl.risk._information_sets import (
    InformationSets,
    backward,
    coefficients,
    flow_of,
    forward,
    strategy_of,
)
from bayesrl.risk.measure import Measure

PRECISION = 1e-10
"""Cuts are added until the bounds differ by less, relative to the size of returns; HiGHS is as accurate."""
SMALL = 1e-4
"""The program is scaled by the returns of its first plans, but by no less than this share of the largest return."""
PROVED = 1e-8
"""The largest difference between the proven bounds of a solution, relative to the largest possible return."""
ROUNDS = 5000
"""The largest number of linear programs."""
TIE = 1e-12
"""Values that differ by less, relative to the largest possible return, are tied."""
SAME = 1e-14
"""Weightings that differ by less are the same."""
OPTIONS = {"primal_feasibility_tolerance": PRECISION, "dual_feasibility_tolerance": PRECISION}


class Plans(Protocol):
    """A space of policies in which returns are linear."""

    first: Floats
    """The inflow of each of the N sets from outside, (N,)."""
    returns: Floats
    """The coefficients c of the M models' returns, (M, N, A)."""
    largest: float
    """A bound on the size of every return."""

    def balance(self) -> sparse.csr_array:
        """The sparse matrix (N, N A) of the plans: balance . x = first."""

    def plan(self, strategy: Floats) -> Floats:
        """The plan of a strategy, (N, A)."""

    def respond(self, c: Floats) -> tuple[float, Floats]:
        """The largest c . x of any plan, with a bound on its error added, and a strategy (N, A) that reaches it."""


class SetPlans:
    """Plans over information sets."""

    def __init__(self, sets: InformationSets, models: Sequence[TabularMDP]) -> None:
        self.sets, self.flow = sets, flow_of(sets, models[0])
        self.first = self.flow.first
        self.returns = np.array([coefficients(sets, m) for m in models])
        discounts = models[0].gamma ** np.arange(int(sets.step[-1]) + 1)
        self.largest = _largest_reward(models) * float(discounts.sum())

    def balance(self) -> sparse.csr_array:
        """One minus what arrives along the edges."""
        sets, N, A = self.sets, len(self.sets), self.sets.n_actions
        return _own(N, A) - sparse.csr_array((self.flow.edge, (sets.child, sets.parent)), shape=(N, N * A))

    def plan(self, strategy: Floats) -> Floats:
        """Forward in time."""
        return forward(self.sets, strategy, self.flow)

    def respond(self, c: Floats) -> tuple[float, Floats]:
        """Backward in time."""
        q = backward(self.sets, c, self.flow)
        return float(self.first @ q.max(axis=1)), np.eye(q.shape[1])[within(q, 8.0 * UNIT * sizes(q))]


class StationaryPlans:
    """Discounted occupancies of (s, a), for models that share their transitions."""

    def __init__(self, models: Sequence[TabularMDP]) -> None:
        self.model = models[0]
        self.first = self.model.outcomes.start
        self.returns = np.array([m.mean_reward for m in models])
        self.largest = _largest_reward(models) / (1.0 - self.model.gamma)

    def balance(self) -> sparse.csr_array:
        """One minus what arrives after a transition, discounted. Nothing arrives in a terminal state from itself."""
        S, A = self.model.group.shape
        return _own(S, A) - sparse.csr_array(self.model.gamma * self.model.matrix.T)

    def plan(self, strategy: Floats) -> Floats:
        """The occupancy solves a linear system."""
        S, A = strategy.shape
        moves = np.einsum("sa,say->ys", strategy, self.model.matrix.reshape(S, A, S))
        arrive = np.linalg.solve(np.eye(S) - self.model.gamma * moves, self.first)
        return np.asarray(arrive[:, None] * strategy)

    def respond(self, c: Floats) -> tuple[float, Floats]:
        """Solve the model with rewards c."""
        solution = solve(self.model, tol=PRECISION * self.largest or None, bonus=c - self.model.mean_reward)
        q = solution.q
        return float(self.first @ solution.values) + solution.error_bound, np.eye(q.shape[1])[
            within(q, 8.0 * UNIT * sizes(q))
        ]


class Best(NamedTuple):
    """The best plan found, and the proof that no plan is better by more than upper - value."""

    strategy: Floats
    """(N, A)."""
    returns: Floats
    """Of each model, (M,)."""
    value: float
    adversary: Floats
    """Weights of the models, (M,)."""
    upper: float


def maximise(owner: str, plans: Plans, measure: Measure, weights: Floats) -> Best:
    """The plan whose returns have the largest value for the measure; models have these probabilities (M,)."""
    _, N, A = plans.returns.shape
    starts = (np.full((N, A), 1.0 / A), plans.respond(np.tensordot(weights, plans.returns, 1))[1])
    x, adversary = _ascend(plans, measure, weights, [plans.plan(strategy) for strategy in starts])
    upper, against = plans.respond(np.tensordot(adversary, plans.returns, 1))
    best = evaluate(plans, measure, weights, strategy_of(x, against), adversary, upper)
    if upper - best.value > PROVED * plans.largest:
        raise NotConverged(owner, best, upper - best.value, "the linear programs that could be solved")
    return best


def then_maximise(plans: Plans, first: Measure, best: Best, second: Measure, weights: Floats) -> Best:
    """Among the plans of the largest value for the first measure, which `best` has, that of the largest second one."""
    x, _ = _ascend(plans, second, weights, [plans.plan(best.strategy)], (first, best.value))
    return evaluate(plans, first, weights, strategy_of(x, best.strategy), best.adversary, best.upper)


def evaluate(plans: Plans, measure: Measure, weights: Floats, strategy: Floats, w: Floats, upper: float) -> Best:
    """The value of a strategy, whatever the accuracy of the linear programs."""
    returns = plans.returns.reshape(len(weights), -1) @ plans.plan(strategy).ravel()
    value = measure.value(returns, weights)
    return Best(strategy, frozen(returns), value, frozen(w), max(upper, value))


def _ascend(
    plans: Plans, measure: Measure, weights: Floats, starts: list[Floats], floor: tuple[Measure, float] | None = None
) -> tuple[Floats, Floats]:
    """A plan (N, A) of the largest value, and the adversary's weights. `floor` is a measure and its least value.

    Each program gives two cuts: at its own plan, and half way from there to the best plan, where cuts are deeper.
    """
    M, N, A = plans.returns.shape
    C, balance = plans.returns.reshape(M, N * A), plans.balance()
    scale = max(np.abs([C @ x.ravel() for x in starts]).max(), SMALL * plans.largest) or 1.0
    C = C / scale
    guard, least = (measure, -np.inf) if floor is None else (floor[0], floor[1] / scale - TIE)
    cuts, guards, adversary = [weights], [weights], weights
    best, lower, upper, ahead = starts[0], -np.inf, np.inf, starts
    for _ in range(ROUNDS):
        n = len(cuts)
        for x in ahead:
            returns = C @ x.ravel()
            cuts.append(measure.shares(returns, weights))
            guards.append(guard.shares(returns, weights))
            if guards[-1] @ returns >= least and (worth := float(cuts[-1] @ returns)) > lower:
                best, lower = x, worth
        exhausted = upper < np.inf and _all_known(cuts, n) and _all_known(guards, n)
        if exhausted or upper - lower <= PRECISION:
            break
        found = _master(np.array(cuts) @ C, np.array(guards) @ C if floor else None, least, balance, plans.first)
        if found is None:
            break
        x, t, multipliers = found
        adversary, upper = multipliers @ np.array(cuts), min(upper, t)
        x = plans.plan(strategy_of(x.reshape(N, A), best))
        ahead = [x, 0.5 * (x + best)]
    return best, adversary


def _all_known(cuts: list[Floats], n: int) -> bool:
    """Whether the cuts from number n on are among those before, so that the programs' accuracy is exhausted."""
    old = np.array(cuts[:n])
    return all((np.abs(old - new).max(axis=1) <= SAME).any() for new in cuts[n:])


def _master(
    cuts: Floats, guards: Floats | None, least: float, balance: sparse.csr_array, first: Floats
) -> tuple[Floats, float, Floats] | None:
    """The plan, the value and the multipliers of the linear program with these rows; None if it fails."""
    from scipy.optimize import linprog  # slow to load, and rarely wanted

    rows, at_most = np.hstack([-cuts, np.ones((len(cuts), 1))]), np.zeros(len(cuts))
    if guards is not None:
        rows = np.vstack([rows, np.hstack([-guards, np.zeros((len(guards), 1))])])
        at_most = np.append(at_most, np.full(len(guards), -least))
    equal = sparse.hstack([balance, np.zeros((len(first), 1))], format="csc")
    goal = np.zeros(rows.shape[1])
    goal[-1] = -1.0
    bounds = [(0.0, None)] * (len(goal) - 1) + [(None, None)]
    found = linprog(goal, sparse.csr_array(rows), at_most, equal, first, bounds, method="highs-ds", options=OPTIONS)
    if found.status != 0:
        return None
    multipliers = np.maximum(-found.ineqlin.marginals[: len(cuts)], 0.0)
    return found.x[:-1], float(found.x[-1]), multipliers / multipliers.sum()


def _own(N: int, A: int) -> sparse.csr_array:
    """The sparse matrix that sums a plan over actions, (N, N A)."""
    pairs = np.arange(N * A)
    return sparse.csr_array((np.ones(N * A), (pairs // A, pairs)), shape=(N, N * A))


def _largest_reward(models: Sequence[TabularMDP]) -> float:
    return max(float(np.abs(m.mean_reward).max()) for m in models)
