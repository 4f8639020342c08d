"""Gain and bias against enumeration of policies and stationary distributions."""

from itertools import product

import numpy as np
import pytest

from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import optimal_total
from bayesrl.models.solvers.average_reward import average_reward


def gain_of(mdp, policy):
    """Reward per step of a policy, from its stationary distribution."""
    S, A = mdp.group.shape
    P = mdp.matrix.reshape(S, A, S)[np.arange(S), policy]
    M = np.vstack([P.T - np.eye(S), np.ones(S)])
    pi = np.linalg.lstsq(M, np.append(np.zeros(S), 1.0), rcond=None)[0]
    return pi @ mdp.mean_reward[np.arange(S), policy]


@pytest.mark.parametrize("seed", range(5))
def test_against_every_policy(seed):
    rng = np.random.default_rng(seed)
    mdp = TabularMDP.from_dense(rng.dirichlet(np.ones(4) * 0.3, (4, 3)), rng.normal(size=(4, 3, 4)), 0.9)
    best = max(gain_of(mdp, policy) for policy in product(range(3), repeat=4))
    found = average_reward(mdp)
    assert abs(found.gain - best) <= found.error_bound + 1e-12
    assert found.error_bound < 1e-12
    assert gain_of(mdp, found.policy) == pytest.approx(best, abs=1e-12)
    q = mdp.mean_reward + (mdp.matrix @ found.bias).reshape(4, 3)
    np.testing.assert_allclose(q.max(axis=1), found.gain + found.bias, atol=1e-12)
    assert found.bias[-1] == 0.0


def test_chain():
    # The stationary reward of going forward: 3.6768; periodic problems (two states in turn) are no trouble.
    P, R = np.zeros((5, 2, 5)), np.zeros((5, 2, 5))
    for s, a in product(range(5), range(2)):
        P[s, a, min(s + 1, 4)] += 0.8 if a == 0 else 0.2
        P[s, a, 0] += 0.2 if a == 0 else 0.8
    R[:, :, 0], R[4, :, 4] = 2.0, 10.0
    chain = TabularMDP.from_dense(P, R, 0.95)
    found = average_reward(chain)
    assert found.gain == pytest.approx(3.6768, abs=1e-12)
    assert optimal_total(chain, 2001) - optimal_total(chain, 2000) == pytest.approx(found.gain, abs=1e-9)


def ring(S, prizes):
    P, R = np.zeros((S, 2, S)), np.zeros((S, 2))
    for s, a in product(range(S), range(2)):
        P[s, a, (s + 2 * a - 1) % S] = 1.0
    for s, prize in prizes.items():
        R[s] = prize
    return TabularMDP.from_dense(P, R, 0.9)


def test_many_states():
    # To and fro between the best place and its neighbour pays every other step.
    found = average_reward(ring(251, {0: 1.0, 80: 0.5}))
    assert found.gain == pytest.approx(0.5, abs=1e-9)
    assert found.error_bound < 1e-9


def test_two_equal_loops():
    # The best policy has two recurrent classes, so that its bias equations are singular; the gain is still enclosed.
    found = average_reward(ring(40, {0: 1.0, 20: 1.0}))
    assert abs(found.gain - 0.5) <= found.error_bound < 1e-3


def test_refusals():
    P = np.eye(2)[:, None, :]
    with pytest.raises(InvalidArgument, match="same from every state, got 'gains from 0 to 1'"):
        average_reward(TabularMDP.from_dense(P, [[0.0], [1.0]], 0.9))
    with pytest.raises(InvalidArgument, match="must be one without terminal states"):
        average_reward(TabularMDP.from_dense(P, [[0.0], [1.0]], 0.9, terminal=[0]))


@pytest.mark.parametrize("share, fine", [(0.99, True), (1.01, False)])
def test_gains_that_differ_a_little(share, fine):
    """Three states that are never left: half the difference of gains may be a thousandth of 1 + the largest reward.

    The policy has three recurrent classes, so that its bias is that of the discounted values.
    """
    apart = share * 2.0 * 1e-3 * (1.0 + 9.0)
    P = np.repeat(np.eye(3)[:, None, :], 2, axis=1)
    mdp = TabularMDP.from_dense(P, [[3.0, -9.0], [3.0 - apart, -9.0], [3.0 - 0.3 * apart, -8.0]], 0.9)
    if not fine:
        with pytest.raises(InvalidArgument, match="same from every state"):
            average_reward(mdp)
        return
    found = average_reward(mdp)
    assert (found.gain, found.error_bound) == (pytest.approx(3.0 - 0.5 * apart), pytest.approx(0.5 * apart))
    assert found.bias[-1] == 0.0
    assert found.bias[0] > 0.0 > found.bias[1]
    assert (found.policy.tolist(), found.iterations) == ([0, 0, 0], 1)
