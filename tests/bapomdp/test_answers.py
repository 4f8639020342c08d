"""Bayes risk, what an answer says about models, and how many models a Bayes risk needs: values by hand."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import after_answer, after_confirmation, bayes_risk, risk_samples
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.testing import assert_mean_equal

# Two models, three actions. Model 0 prefers action 1, model 1 prefers action 2.
Q = [[0.0, 10.0, -20.0], [1.0, -8.0, 4.0]]


def test_bayes_risk_by_hand():
    # w = (.6, .4): action 0 loses 10 and 3, action 1 loses 0 and 12, action 2 loses 30 and 0.
    np.testing.assert_allclose(bayes_risk(Q, [0.6, 0.4]), [-7.2, -4.8, -18.0], atol=1e-14)


def test_bayes_risk_uses_each_models_own_best_action():
    """With one best action in common some risk would be zero (ERRATA 9); here each action loses under some model."""
    assert bayes_risk(Q, [0.5, 0.5]).max() < -1.0
    assert bayes_risk(Q, [1.0, 0.0]).tolist() == [-10.0, 0.0, -30.0]


def test_the_best_action_of_the_mean_is_the_largest_risk():
    """The order of risks is that of mean values: both subtract the same sum_i w_i max_a Q_i(a)."""
    rng = default_rng(0)
    q, w = rng.normal(size=(5, 4)), rng.dirichlet(np.ones(5))
    np.testing.assert_allclose(bayes_risk(q, w), w @ q - w @ q.max(axis=1), atol=1e-14)


@pytest.mark.parametrize(
    "error, expected",
    [
        (0.0, [0.0, 0.6, 0.4, 0.0]),  # only models that agree stay
        (0.3, [0.1 * 0.15, 0.3 * 0.7, 0.2 * 0.7, 0.4 * 0.15]),  # error / (A - 1) = .15 for the others
        (1.0, [0.1 * 0.5, 0.0, 0.0, 0.4 * 0.5]),
    ],
)
def test_after_answer_by_hand(error, expected):
    w = after_answer([0.1, 0.3, 0.2, 0.4], [0, 1, 1, 2], action=1, n_actions=3, error=error)
    np.testing.assert_allclose(w, np.array(expected) / np.sum(expected), atol=1e-14)


@pytest.mark.parametrize(
    "yes, error, expected",
    [
        (True, 0.0, [0.0, 0.3, 0.2, 0.0]),
        (False, 0.0, [0.1, 0.0, 0.0, 0.4]),
        (1, 0.2, [0.02, 0.24, 0.16, 0.08]),
        (0, 0.2, [0.08, 0.06, 0.04, 0.32]),
    ],
)
def test_after_confirmation_by_hand(yes, error, expected):
    w = after_confirmation([0.1, 0.3, 0.2, 0.4], [0, 1, 1, 2], action=1, yes=yes, error=error)
    np.testing.assert_allclose(w, np.array(expected) / np.sum(expected), atol=1e-14)


def test_an_answer_is_a_martingale():
    """Averaged over the answers that the models expect, the weights are what they were."""
    w, best, A, error = np.array([0.1, 0.3, 0.2, 0.4]), np.array([0, 1, 1, 2]), 4, 0.3
    agree = best[:, None] == np.arange(A)
    p = w @ np.where(agree, 1 - error, error / (A - 1))
    np.testing.assert_allclose(p.sum(), 1.0)
    np.testing.assert_allclose(sum(p[a] * after_answer(w, best, a, A, error) for a in range(A)), w, atol=1e-14)
    yes = w @ np.where(agree, 1 - error, error)
    for a in range(A):
        after = [after_confirmation(w, best, a, answer, error) for answer in (0, 1)]
        np.testing.assert_allclose((1 - yes[a]) * after[0] + yes[a] * after[1], w, atol=1e-14)


def test_one_action_needs_no_answer():
    np.testing.assert_allclose(after_answer([0.3, 0.7], [0, 0], action=0, n_actions=1), [0.3, 0.7])


def test_risk_samples_by_hand():
    # W = (10 + 100) / .05 = 2200; 2200^2 ln 20 / (2 220^2) = 50 ln 20 = 149.79
    assert risk_samples(220.0, 0.05, r_min=-100.0, r_max=10.0, cost=1.0, gamma=0.95) == 150
    # A question that costs more than any reward widens the range: W = (1 + 3) / .5 = 8; 64 ln 2 / 2 = 22.18
    assert risk_samples(1.0, 0.5, r_min=-1.0, r_max=1.0, cost=3.0, gamma=0.5) == 23
    assert risk_samples(1.0, 1.0, r_min=0.0, r_max=1.0, cost=0.0, gamma=0.0) == 1


def test_risk_samples_keep_the_mean_within_epsilon():
    """Values at the ends of the range, the worst case, miss by epsilon in at most a share delta of samples.

    False alarm 1e-6: the miss rate is exactly computed below delta; 2000 samples.
    """
    n = risk_samples(0.2, 0.1, r_min=-1.0, r_max=0.0, cost=0.0, gamma=0.0)
    rng = default_rng(1)
    missed = np.array([rng.integers(0, 2, n).mean() - 0.5 >= 0.2 for _ in range(2000)], float)
    share = sum(math.comb(n, k) for k in range(n + 1) if k / n - 0.5 >= 0.2) / 2**n
    assert share <= 0.1
    assert_mean_equal(missed, share, false_alarm=1e-6)


@pytest.mark.parametrize(
    "call, sentence",
    {
        "one row": (lambda: bayes_risk([1.0, 2.0], [1.0]), "'q' must be an array of shape"),
        "weights of another length": (lambda: bayes_risk(Q, [1.0]), "'weights' must be an array of shape"),
        "weights that do not sum to one": (lambda: bayes_risk(Q, [0.6, 0.6]), "'weights' must be rows that sum to 1"),
        "a negative weight": (lambda: bayes_risk(Q, [1.5, -0.5]), "'weights' must be at least 0"),
        "NaN": (lambda: bayes_risk([[math.nan, 1.0]], [1.0]), "'q' must be finite"),
        "an action out of range": (lambda: after_answer([1.0], [0], 3, 3), "'action' must be a whole number"),
        "no answer": (lambda: after_answer([1.0], [0], -1, 3), "'action' must be a whole number"),
        "a fraction": (lambda: after_answer([1.0], [0.5], 0, 3), "'best' must be whole numbers"),
        "a best action out of range": (lambda: after_answer([1.0], [3], 0, 3), "'best' must be whole numbers"),
        "an error above one": (lambda: after_answer([1.0], [0], 0, 3, error=1.1), r"'error' must be in \[0, 1\]"),
        "neither yes nor no": (lambda: after_confirmation([1.0], [0], 0, -1), "'yes' must be a whole number"),
        "a word": (lambda: after_confirmation([1.0], [0], 0, "yes"), "'yes' must be a whole number"),
        "epsilon 0": (lambda: risk_samples(0.0, 0.1, 0.0, 1.0, 1.0, 0.9), "'epsilon' must be greater than 0"),
        "delta 0": (lambda: risk_samples(0.1, 0.0, 0.0, 1.0, 1.0, 0.9), r"'delta' must be in \(0, 1\]"),
        "rewards the wrong way round": (lambda: risk_samples(0.1, 0.1, 1.0, 0.0, 1.0, 0.9), "'r_max' must be at least"),
        "a negative cost": (lambda: risk_samples(0.1, 0.1, 0.0, 1.0, -1.0, 0.9), "'cost' must be at least 0"),
        "discount 1": (lambda: risk_samples(0.1, 0.1, 0.0, 1.0, 1.0, 1.0), r"'gamma' must be in \[0, 1\)"),
        "too many models": (lambda: risk_samples(1e-200, 0.1, 0.0, 1.0, 1.0, 0.9), "a finite number of models"),
    }.values(),
)
def test_refusals(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()


def test_an_answer_that_no_model_can_give():
    with pytest.raises(ImpossibleEvidence, match="the answer 2 has probability zero"):
        after_answer([0.5, 0.5], [0, 1], action=2, n_actions=3)
    with pytest.raises(ImpossibleEvidence, match="the answer no to action 1 has probability zero"):
        after_confirmation([0.0, 1.0], [0, 1], action=1, yes=False)
    assert b.bapomdp.after_confirmation([0.0, 1.0], [0, 1], action=1, yes=True).tolist() == [0.0, 1.0]
