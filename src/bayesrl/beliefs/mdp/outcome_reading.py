"""Identify the outcome of a transition in a finite MDP.

The beliefs over outcomes (`dirichlet_mdp.py`, `sparse_dirichlet.py`) share these functions. They read problems, find
the outcome with the observed next state and reward, and raise errors for wrong data.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from bayesrl.capabilities import offers
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.jit import njit
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.reading import find_mdp
from bayesrl.problems import HasOutcomes


def read_problem(owner: str, problem: Any) -> tuple[Outcomes, float, Floats | None]:
    """Outcomes, discount and (if they are known) probabilities of a model, a world or a family."""
    mdp = find_mdp(problem)
    if mdp is None and offers(problem, HasOutcomes):
        return problem.outcomes, problem.gamma, None
    if mdp is None:
        raise InvalidArgument(owner, "problem", "a TabularMDP or a world with a table", type(problem).__name__)
    return mdp.outcomes, mdp.gamma, mdp.prob


def outcome_of(owner: str, outcomes: Outcomes, datum: Transition, rewarded: bool = True) -> tuple[int, int, int]:
    """The outcome (s, a, k) of a transition. `rewarded=False` identifies it by the next state only."""
    s, a, y = _indices(owner, outcomes, datum)
    r = _reward(owner, datum) if rewarded else np.nan
    y = reached_state(owner, outcomes, y, datum) if datum.terminated else y
    if outcomes.made_flat:
        k = y if not rewarded or abs(outcomes.reward_of(s, a, y) - r) <= 1e-9 * (1.0 + abs(r)) else -1
    else:
        k = locate(outcomes.succ[s, a], outcomes.reward[s, a], outcomes.size[outcomes.group.item(s, a)], y, r)
    if k < 0 or outcomes.terminal[s]:
        raise impossible(owner, outcomes, datum, rewarded)
    return s, a, k


def impossible(owner: str, outcomes: Outcomes, datum: Transition, rewarded: bool) -> ImpossibleEvidence:
    """The error for a transition that cannot happen."""
    seen = f"({datum.state}, {datum.action}) -> {datum.next_state}"
    why = "a terminal state has no transitions" if outcomes.terminal[datum.state] else "no outcome is listed for it"
    return ImpossibleEvidence(owner, seen + (f" with reward {datum.reward:g}" if rewarded else ""), why)


def reached_state(owner: str, outcomes: Outcomes, y: int, datum: Transition) -> int:
    """The state that a transition reached. If it is `terminated` in a state that is not terminal, this is the model's
    state `end`. A model without such a state raises an error."""
    if not datum.terminated or outcomes.terminal[y]:
        return y
    if outcomes.end is None:
        seen = f"The end of the episode in state {datum.next_state}"
        raise ImpossibleEvidence(owner, seen, "that state is not terminal")
    return outcomes.end


@njit
def locate(succ: Any, reward: Any, size: int, y: int, r: float) -> int:
    """The outcome with next state y and reward r (any reward if r is NaN), or -1. A flat row has it at k = y."""
    if y < size and succ[y] == y and (np.isnan(r) or abs(reward[y] - r) <= 1e-9 * (1.0 + abs(r))):
        return y
    for k in range(size):
        if succ[k] == y and (np.isnan(r) or abs(reward[k] - r) <= 1e-9 * (1.0 + abs(r))):
            return k
    return -1


def _indices(owner: str, outcomes: Outcomes, datum: Transition) -> tuple[int, int, int]:
    S, A = outcomes.n_states, outcomes.n_actions
    try:
        if not isinstance(datum, Transition):
            raise TypeError
        s, a, y = operator.index(datum[0]), operator.index(datum[1]), operator.index(datum[3])
        if 0 <= s < S and 0 <= a < A and 0 <= y < S:
            return s, a, y
    except TypeError:
        pass
    for name, high in (("state", S), ("action", A), ("next_state", S)):
        if not hasattr(datum, name):
            break
        got = getattr(datum, name)
        if not (isinstance(got, (int, np.integer)) and 0 <= got < high):
            raise InvalidArgument(f"{owner}.update", name, f"a whole number from 0 to {high - 1}", got)
    raise InvalidArgument(f"{owner}.update", "datum", "a Transition", datum)


def _reward(owner: str, datum: Transition) -> float:
    try:
        r = math.nan if isinstance(datum.reward, (str, bytes)) else float(datum.reward)
    except (TypeError, ValueError, OverflowError):
        r = math.nan
    if not math.isfinite(r):
        raise InvalidArgument(f"{owner}.update", "reward", "a finite number", datum.reward)
    return r
