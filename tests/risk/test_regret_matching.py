"""The iterations of k-of-n against plans and coefficients of `_information_sets.py`, and its draws in bulk."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs, GaussianRewards
from bayesrl.checks import frozen
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import _information_sets as I
from bayesrl.risk import _regret_matching as r
from bayesrl.risk._draws import Drawn
from bayesrl.testing import assert_mean_equal

S, A, M, GAMMA, T = 3, 2, 37, 0.83, 3


def listed(shared, n=M, seed=0):
    """A belief over more models than are evaluated together (16), a terminal state, and impossible next states."""
    rng = default_rng(seed)
    P = rng.dirichlet(np.ones(S), (n, S, A))
    P[:, 0, 1] = [0.0, 0.7, 0.3]
    P = np.broadcast_to(P[:1], P.shape) if shared else P
    R = rng.normal(size=(n, S, A)) + 0.3
    models = tuple(TabularMDP.from_dense(p, x, GAMMA, [0.6, 0.4, 0.0], terminal=[2]) for p, x in zip(P, R, strict=True))
    return FiniteMDPs(models, rng.dirichlet(np.ones(n)))


def made(shared):
    belief = listed(shared)
    drawn = Drawn("test", belief, T, 1000, default_rng(0))
    assert drawn.sets.histories is not shared
    return belief, drawn, r.game_of(drawn), I.flow_of(drawn.sets, belief.models[0])


both = pytest.mark.parametrize("shared", [True, False])


@both
def test_plans_and_returns(shared):
    """A plan, and its return in models in any order, some of them twice, as by `forward` and `coefficients`."""
    belief, drawn, game, flow = made(shared)
    sigma = default_rng(1).dirichlet(np.ones(A), len(drawn.sets))
    sigma[1] = [0.0, 1.0]  # some sets are not reached
    arrive, x = r.plan_of(game, sigma)
    np.testing.assert_allclose(x, I.forward(drawn.sets, sigma, flow), atol=1e-15)
    np.testing.assert_allclose(arrive, x.sum(axis=1), atol=1e-15)
    expected = np.array([(I.coefficients(drawn.sets, m) * x).sum() for m in belief.models])
    for n in (1, 15, 16, 17, 32, 33, 90):
        column = default_rng(n).choice(M, n)
        np.testing.assert_allclose(r.returns_of(game, arrive, x, *drawn.all, column), expected[column], atol=1e-13)


def test_matching():
    """In proportion to positive regrets; uniform where there are none."""
    regret = np.array([[1.0, 3.0, -2.0], [0.0, 0.0, 0.0], [-1.0, -0.5, -3.0], [0.2, 0.0, 0.3]])
    third = 1.0 / 3.0
    expected = [[0.25, 0.75, 0.0], [third] * 3, [third] * 3, [0.4, 0.0, 0.6]]
    np.testing.assert_allclose(r.match(regret), expected, rtol=1e-15)


def test_the_worst_of_draws():
    """As by a stable sort: the worst first, of equal returns the first drawn, for every k."""
    rng, worst_of = default_rng(3), getattr(r.worst_of, "py_func", r.worst_of)  # alone it need not be compiled
    for n in (1, 2, 9):
        returns, column = rng.integers(0, 4, n).astype(float), rng.integers(50, size=n)
        for k in range(1, n + 1):
            expected = column[np.argsort(returns, kind="stable")[:k]]
            assert worst_of(returns, column, k).tolist() == expected.tolist()


@both
@pytest.mark.parametrize("plus, n, k", [(True, 40, 33), (False, 40, 33), (True, 5, 1), (False, 20, 16)])
def test_iterations(shared, plus, n, k):
    """Three iterations, the fifth to the seventh of all: regrets against the k worst of n models, and sums of plans."""
    belief, drawn, game, flow = made(shared)
    rng, N, done = default_rng(4), len(drawn.sets), 4
    c = np.array([I.coefficients(drawn.sets, m) for m in belief.models])
    regret, total = rng.normal(size=(N, A)), rng.random((N, A))
    if plus:
        regret = np.maximum(regret, 0.0)
    which = rng.choice(M, (3, n))
    expected, plans = regret.copy(), total.copy()
    for t, columns in enumerate(which):
        positive = np.maximum(expected, 0.0)
        whole = positive.sum(axis=1, keepdims=True)
        sigma = np.where(whole > 0.0, positive / np.where(whole > 0.0, whole, 1.0), 1.0 / A)
        x = I.forward(drawn.sets, sigma, flow)
        returns = (c[columns] * x).sum(axis=(1, 2))
        q = I.backward(drawn.sets, c[columns[np.argsort(returns, kind="stable")[:k]]].mean(axis=0), flow, sigma)
        expected = expected + q - (sigma * q).sum(axis=1, keepdims=True)
        expected = np.maximum(expected, 0.0) if plus else expected
        plans += (done + t + 1 if plus else 1) * x
    r.iterate(game, *drawn.all, which, k, plus, done, regret, total)
    np.testing.assert_allclose(regret, expected, atol=1e-12)
    np.testing.assert_allclose(total, plans, atol=1e-12)


# Draws ---------------------------------------------------------------------------------------------------------------


def test_tables_of_listed_models():
    """All models as columns: next states that a pair can have and after which an episode goes on, and mean rewards."""
    belief, drawn, _, _ = made(False)
    pairs = [(s, a, y) for s, a, y in np.ndindex(2, A, 2) if (s, a, y) != (0, 1, 0)]
    assert list(zip(*divmod(drawn.pair, A), drawn.seen, strict=True)) == pairs
    np.testing.assert_array_equal(drawn.weights, belief.posterior())
    for j, m in enumerate(belief.models):
        np.testing.assert_array_equal(drawn.all.prob[:, j], [m.matrix[s * A + a, y] for s, a, y in pairs])
        np.testing.assert_array_equal(drawn.all.reward[:, j], m.mean_reward.ravel())
    assert drawn.size == 1
    table, column = drawn.columns(500, default_rng(1))
    assert table is drawn.all
    np.testing.assert_array_equal(column, default_rng(1).choice(M, 500, p=belief.posterior()))
    shared = made(True)[1]
    assert len(shared.pair) == 0  # known transitions need no list
    assert shared.all.prob.shape == (0, M)


def test_gaussian_rewards_in_bulk():
    """Known transitions; means, variances and covariances of 20,000 draws. Each false alarm has probability 1e-6."""
    rng, model = default_rng(5), listed(True, 1).models[0]
    root = rng.normal(size=(S * A, S * A))
    belief = GaussianRewards(model, rng.normal(size=(S, A)), 0.3 * root @ root.T)
    drawn = Drawn("test", belief, T, 1000, default_rng(0))
    assert not drawn.sets.histories
    assert drawn.weights is None
    table, column = drawn.columns(20_000, default_rng(6))
    assert column.tolist() == list(range(20_000))
    assert table.prob.shape == (0, 20_000)
    assert drawn.size == S * A + model.prob.size
    mean, covariance = belief.reward_moments()
    assert not table.reward[4:].any()  # the end pays nothing
    away = table.reward[:4].T - mean.ravel()[:4]
    assert_mean_equal(away, np.zeros(4))
    assert_mean_equal(away[:, :, None] * away[:, None, :], covariance[:4, :4])


def test_dirichlet_rows_in_bulk():
    """Pairs share groups, a row is known, a state ends: the table is that of the same rows, one model after another."""
    group = np.array([[0, 1], [1, 2], [3, 3]])
    succ = np.array([[[0, 1, 2], [1, 0, 2]], [[0, 2, 1], [2, 1, 0]], [[2, 2, 2], [2, 2, 2]]])
    rng = default_rng(7)
    ends = np.array([False, False, True])
    o = b.models.outcomes.Outcomes(
        succ, rng.normal(size=(S, A, 3)), group, np.array([3, 2, 3, 3]), np.zeros(1), np.array([0.6, 0.4, 0.0]), ends
    )
    alpha = np.where(o.valid, rng.uniform(0.5, 4.0, (4, 3)), 0.0)
    alpha[2] = [0.2, 0.5, 0.3]
    belief = b.DirichletMDP(o, alpha, GAMMA, known=np.array([False, False, True, False]))
    drawn = Drawn("test", belief, T, 1000, default_rng(0))
    table, _ = drawn.columns(5, default_rng(8))
    one_by_one = default_rng(8)
    for j in range(5):
        m = belief.sample_mdp(one_by_one)
        np.testing.assert_allclose(table.prob[:, j], m.matrix[drawn.pair, drawn.seen], atol=1e-12)
        np.testing.assert_allclose(table.reward[:, j], m.mean_reward.ravel(), atol=1e-12)
    assert drawn.size == len(drawn.pair) + S * A + alpha.size
    assert (~ends[drawn.seen]).all()
    assert frozen(table.prob) is table.prob
