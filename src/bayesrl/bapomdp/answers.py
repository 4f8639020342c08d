"""The evidence of an oracle's answer about finitely many models, and the Bayes risk that decides whether to ask.

The models are weighted by w_i. Each has its own belief b_i over the state, its action values Q_i(b_i, a), and its own
best action argmax_a Q_i(b_i, a). An oracle that knows the true model says which action is best, or whether an action
is best. It errs with probability `error`.

Claims: hand values; Hoeffding's bound for `risk_samples`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, Ints, array, as_array, indices, integer, number, rows_sum_to_one
from bayesrl.errors import ImpossibleEvidence, InvalidArgument


def bayes_risk(q: ArrayLike, weights: ArrayLike) -> Floats:
    """BR(a) = sum_i w_i [Q_i(a) - max_a' Q_i(a')], shape (A,), from Q_i(a) of shape (N, A) and w of shape (N,).

    It is never positive: what an action loses against each model's *own* best action (ERRATA 9). The best choice has
    the largest risk in this sign (ERRATA 34).

    >>> bayes_risk([[1.0, 0.0], [0.0, 4.0]], [0.75, 0.25]).tolist()
    [-1.0, -0.75]
    """
    values = array("bayes_risk", "q", q, (None, None))
    w = _weights("bayes_risk", weights, len(values))
    return np.asarray(w @ (values - values.max(axis=1, keepdims=True)))


def after_answer(weights: ArrayLike, best: ArrayLike, action: int, n_actions: int, error: float = 0.0) -> Floats:
    """The weights after the oracle has named `action` as the best one. best[i] is the best action of model i.

    The answer has probability 1 - `error` if the model agrees. Otherwise the oracle erred, and named one of the other
    actions: error / (A - 1).

    >>> after_answer([0.5, 0.5], [0, 1], action=1, n_actions=3, error=0.2).round(3).tolist()
    [0.111, 0.889]
    """
    owner = "after_answer"
    A = integer(owner, "n_actions", n_actions, 1)
    w, best_actions = _models(owner, weights, best, A)
    said = integer(owner, "action", action, 0, A - 1)
    wrong = number(owner, "error", error, 0.0, 1.0)
    return _posterior(owner, w * answer_likelihood(best_actions, said, A, wrong), f"the answer {said}")


def after_confirmation(weights: ArrayLike, best: ArrayLike, action: int, yes: bool | int, error: float = 0.0) -> Floats:
    """The weights after the oracle has said whether `action` is the best one. best[i] is the best action of model i.

    A yes has probability 1 - `error` under models that agree, and `error` under the others; a no the reverse.

    >>> after_confirmation([0.5, 0.5], [0, 1], action=1, yes=True, error=0.2).tolist()
    [0.2, 0.8]
    """
    owner = "after_confirmation"
    w, best_actions = _models(owner, weights, best, None)
    asked = integer(owner, "action", action, 0)
    answer = bool(yes) if isinstance(yes, (bool, np.bool_)) else bool(integer(owner, "yes", yes, 0, 1))
    likelihood = confirmation_likelihood(best_actions, asked, answer, number(owner, "error", error, 0.0, 1.0))
    return _posterior(owner, w * likelihood, f"the answer {'yes' if answer else 'no'} to action {asked}")


def answer_likelihood(best: Ints, action: int, n_actions: int, error: float) -> Floats:
    """The probability of the answer `action` under models with these best actions, (N,)."""
    return np.where(best == action, 1.0 - error, error / max(n_actions - 1, 1))


def confirmation_likelihood(best: Ints, action: int, yes: bool, error: float) -> Floats:
    """The probability of a yes or a no to `action` under models with these best actions, (N,)."""
    return np.where((best == action) == yes, 1.0 - error, error)


def risk_samples(epsilon: float, delta: float, r_min: float, r_max: float, cost: float, gamma: float) -> int:
    """The number of models that bring a mean of their values within `epsilon`, except with probability `delta`.

    Values lie in an interval of length W = (r_max - min(r_min, -cost)) / (1 - gamma), so Hoeffding's inequality gives
    W^2 ln(1/delta) / (2 epsilon^2).

    >>> risk_samples(epsilon=10.0, delta=0.1, r_min=-1.0, r_max=1.0, cost=1.0, gamma=0.9)
    5
    """
    owner = "risk_samples"
    e = number(owner, "epsilon", epsilon, 0.0, above=True)
    d = number(owner, "delta", delta, 0.0, 1.0, above=True)
    low, high = number(owner, "r_min", r_min), number(owner, "r_max", r_max)
    if high < low:
        raise InvalidArgument(owner, "r_max", f"at least r_min, which is {low:g}", high)
    least = min(low, -number(owner, "cost", cost, 0.0))
    width = (high - least) / (1.0 - number(owner, "gamma", gamma, 0.0, 1.0, below=True))
    models = (width / e) * (width / e) * (math.log(1.0 / d) / 2.0)
    if not math.isfinite(models):
        raise InvalidArgument(owner, "epsilon", "large enough for a finite number of models", epsilon)
    return max(math.ceil(models), 1)


def _weights(owner: str, weights: ArrayLike, n: int | None) -> Floats:
    return rows_sum_to_one(owner, "weights", array(owner, "weights", weights, (n,), low=0.0), as_array(weights))


def _models(owner: str, weights: ArrayLike, best: ArrayLike, n_actions: int | None) -> tuple[Floats, Ints]:
    """The checked weights and best actions of N models."""
    w = _weights(owner, weights, None)
    return w, indices(owner, "best", best, w.shape, 2**31 - 1 if n_actions is None else n_actions)


def _posterior(owner: str, joint: Floats, answer: str) -> Floats:
    total = joint.sum()
    if total <= 0.0:
        raise ImpossibleEvidence(owner, answer, "no model with positive weight can give it")
    return np.asarray(joint / total)
