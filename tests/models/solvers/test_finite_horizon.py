"""Backward induction against enumeration, and the reference totals of the chain."""

from itertools import product

import numpy as np
import pytest

from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import evaluate_policy, finite_horizon, optimal_total, policy_total, solve


def random_mdp(seed, S=3, A=2, gamma=0.8, terminal=()):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(S), (S, A))
    start = rng.dirichlet(np.ones(S))
    return TabularMDP.from_dense(P, rng.normal(size=(S, A, S)), gamma, start=start, terminal=terminal)


def chain():
    P, R = np.zeros((5, 2, 5)), np.zeros((5, 2, 5))
    for s, a in product(range(5), range(2)):
        P[s, a, min(s + 1, 4)] += 0.8 if a == 0 else 0.2
        P[s, a, 0] += 0.2 if a == 0 else 0.8
    R[:, :, 0], R[4, :, 4] = 2.0, 10.0
    return TabularMDP.from_dense(P, R, 0.95)


def expectimax(mdp, s, n, gamma):
    """The optimal return with n steps to go, by the tree of everything that can happen."""
    if n == 0 or mdp.outcomes.terminal[s]:
        return 0.0
    P, R = mdp.dense()
    return max(
        sum(P[s, a, y] * (R[s, a, y] + gamma * expectimax(mdp, y, n - 1, gamma)) for y in range(mdp.n_states))
        for a in range(mdp.n_actions)
    )


@pytest.mark.parametrize("terminal", [(), (1,)])
@pytest.mark.parametrize("gamma", [None, 1.0, 0.3])
def test_against_the_tree(gamma, terminal):
    mdp = random_mdp(4, terminal=terminal)
    found = finite_horizon(mdp, 4, gamma=gamma)
    discount = mdp.gamma if gamma is None else gamma
    for n in range(5):
        tree = [expectimax(mdp, s, n, discount) for s in range(3)]
        np.testing.assert_allclose(found.values[n], tree, atol=1e-14)
    np.testing.assert_allclose(found.q.max(axis=1), found.values[4], atol=1e-14)
    np.testing.assert_allclose(found.start_value, mdp.outcomes.start @ found.values[4], atol=1e-14)


@pytest.mark.parametrize("mdp", [random_mdp(1, S=5, A=3), chain()], ids=["random", "chain"])
def test_the_policy_earns_the_values(mdp):
    """Followed from its first step on, the policy earns the optimum; on the chain it changes as the end comes near."""
    horizon, S = 6, 5
    found = finite_horizon(mdp, horizon)
    P, at = mdp.matrix.reshape(S, -1, S), np.arange(S)
    V = np.zeros(S)
    for n, policy in enumerate(found.policy[::-1]):
        V = mdp.mean_reward[at, policy] + mdp.gamma * P[at, policy] @ V
        np.testing.assert_allclose(V, found.values[n + 1], atol=1e-13)
    assert found.values.shape == (horizon + 1, S)
    assert found.policy.shape == (horizon, S)


def test_the_policy_changes_as_the_end_comes_near():
    """One may take 1 and stay, or go, for nothing, to where each step pays 3: going is for those who have the time."""
    P = [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]
    found = finite_horizon(TabularMDP.from_dense(P, [[1.0, 0.0], [3.0, 3.0]], 0.5), 4, gamma=1.0)
    assert found.policy[:, 0].tolist() == [1, 1, 1, 0]
    assert found.values[:, 0].tolist() == [0.0, 1.0, 3.0, 6.0, 9.0]
    assert found.policy.dtype == np.int32


def test_a_long_horizon_is_the_discounted_optimum():
    mdp = random_mdp(2)
    np.testing.assert_allclose(finite_horizon(mdp, 300).values[-1], solve(mdp).values, atol=1e-9)


def test_totals_of_the_chain():
    # Reference figures: optimum 3665.83, always forward 3663.69, always back 1603.19, over 1000 steps.
    assert optimal_total(chain(), 1000) == pytest.approx(3665.832448, abs=1e-6)
    assert finite_horizon(chain(), 1000, gamma=1.0).start_value == pytest.approx(3665.832448, abs=1e-6)
    assert policy_total(chain(), [0] * 5, 1000) == pytest.approx(3663.6928, abs=1e-6)
    assert policy_total(chain(), [1] * 5, 1000) == pytest.approx(1603.1872, abs=1e-6)


@pytest.mark.parametrize("terminal", [(), (2,)])
def test_policy_total_equals_powers(terminal):
    mdp = random_mdp(3, S=4, A=3, terminal=terminal)
    rng = np.random.default_rng(0)
    for policy in (rng.integers(3, size=4), rng.dirichlet(np.ones(3), 4)):
        weight = np.eye(3)[policy] if policy.ndim == 1 else policy
        P = np.einsum("sa,say->sy", weight, mdp.matrix.reshape(4, 3, 4))
        r = np.einsum("sa,sa->s", weight, mdp.mean_reward)
        total = sum(mdp.outcomes.start @ np.linalg.matrix_power(P, t) @ r for t in range(7))
        np.testing.assert_allclose(policy_total(mdp, policy, 7), total, atol=1e-13)


def test_values_of_a_policy_are_the_limit_of_its_totals():
    mdp = TabularMDP.from_dense(random_mdp(3).matrix.reshape(3, 2, 3), np.ones((3, 2)), 1.0, terminal=[2])
    start = mdp.outcomes.start
    assert policy_total(mdp, [0, 1, 0], 5000) == pytest.approx(start @ evaluate_policy(mdp, [0, 1, 0]), rel=1e-12)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: finite_horizon(chain(), 0), "finite_horizon: 'horizon' must be a whole number of at least 1, got 0."),
        (
            lambda: finite_horizon(chain(), 2.5),
            "finite_horizon: 'horizon' must be a whole number of at least 1, got 2.5.",
        ),
        (lambda: finite_horizon(chain(), 2, gamma=1.5), "finite_horizon: 'gamma' must be in [0, 1], got 1.5."),
        (lambda: optimal_total(chain(), -1), "optimal_total: 'steps' must be a whole number of at least 1, got -1."),
        (
            lambda: policy_total(chain(), [0, 0], 3),
            "policy_total: 'policy' must be an array of shape (5,), got an array of shape (2,).",
        ),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value) == sentence
