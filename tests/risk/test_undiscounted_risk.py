"""Discount 1 where episodes end: enumeration, linear systems and second differences; what need not end is refused."""

from itertools import product

import numpy as np
import pytest
from episodes import END, best_q, best_values, chances, dense, endless, policies, proper, value_of
from numpy.random import default_rng
from scipy.optimize import linprog
from scipy.special import ndtri

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk._rectangular import rectangular, scenarios_of
from bayesrl.risk._static_max_min import dense_of
from bayesrl.risk.local_ascent import drawn, worth_and_gradient
from bayesrl.risk.measure import Measure
from bayesrl.risk.percentile import Percentile
from bayesrl.risk.samples import value_samples
from bayesrl.risk.scenario_max_min import ScenarioMaxMin
from bayesrl.risk.sigma_point_robust import SigmaPointRobust
from bayesrl.risk.sigma_points import largest_betas, points, roots
from bayesrl.risk.value_moments import value_moments

MU = np.array([[0.3, 0.7], [0.8, 0.2], [0.5, 0.5], [1.0, 0.0]])
REFUSED = "one whose episodes end under every policy, as the discount is 1, got 'one that need not end from state 1'"


def belief(seed=0, size=12.0):
    """Rows with known zeros: counts of the outcomes that are possible."""
    mdp = proper(seed)
    return b.DirichletMDP(mdp.outcomes, size * mdp.prob + 0.4 * mdp.outcomes.valid, 1.0)


def value_in(model, theta, mu):
    """P0 . V with the probabilities theta of all groups."""
    o = model.outcomes
    w = mu * ~o.terminal[:, None]
    P, r = np.zeros((4, 4)), np.zeros(4)
    for s, a, k in np.ndindex(o.succ.shape):
        p = w[s, a] * theta[o.group[s, a], k]
        P[s, o.succ[s, a, k]] += p
        r[s] += p * o.reward[s, a, k]
    return np.linalg.solve(np.eye(4) - P, r)


def second_order(prior, mu, h=1e-4):
    """Mean and covariance of V, (4,) and (4, 4), by first and second differences group by group."""
    mean = prior.mean_mdp()
    theta, cov = mean.prob, prior.row_covariance()
    V = value_in(mean, theta, mu)
    bias, spread = np.zeros(4), np.zeros((4, 4))
    for g in range(len(theta)):
        values, vectors = np.linalg.eigh(cov[g])
        for x, direction in zip(values, vectors.T, strict=True):
            if x > 1e-12:  # along this direction the group has the variance x
                step = np.zeros_like(theta)
                step[g] = h * direction
                up, down = value_in(mean, theta + step, mu), value_in(mean, theta - step, mu)
                slope = (up - down) / (2.0 * h)
                bias += 0.5 * x * (up - 2.0 * V + down) / h**2
                spread += x * np.outer(slope, slope)
    return V + bias, spread


# Moments -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_moments_are_second_differences(seed):
    prior = belief(seed)
    found, (mean, spread) = value_moments(prior, MU), second_order(prior, MU)
    P, r = dense(prior.mean_mdp())
    np.testing.assert_allclose(found.nominal, value_of(P, r, MU), rtol=1e-12)
    np.testing.assert_allclose(found.mean, mean, atol=2e-5)
    np.testing.assert_allclose(found.covariance, spread, rtol=1e-5, atol=1e-8)


def test_moments_ask_only_for_their_own_policy():
    prior = b.DirichletMDP.structured(endless(), 5.0)
    assert np.isfinite(value_moments(prior, [0, 0, 0, 0]).mean).all()
    with pytest.raises(InvalidArgument, match=r"value_moments: 'policy' .* got 'one that need not end from state 1'"):
        value_moments(prior, [0, 1, 1, 0])


@pytest.mark.parametrize("kind", ["rows", "one by one"])
def test_value_samples_solve_the_drawn_models(kind):
    models = tuple(proper(seed) for seed in range(3))
    prior = belief() if kind == "rows" else FiniteMDPs(models)
    found = value_samples(prior, MU, 60, default_rng(0))
    if kind == "rows":  # the mean of many independent values of the same law
        rng = default_rng(1)
        other = np.array([value_of(*dense(prior.sample_mdp(rng)), MU) for _ in range(4000)])
        many = value_samples(prior, MU, 4000, default_rng(2))
        error = np.sqrt((many.var(axis=0) + other.var(axis=0)) / 4000)[:END]
        assert (np.abs(many.mean(axis=0) - other.mean(axis=0))[:END] < 5.5 * error).all()  # false alarm 1e-7
    else:
        exact = np.array([value_of(*dense(m), MU) for m in models])
        assert (np.abs(found[:, None] - exact).max(axis=2).min(axis=1) < 1e-12).all()


def test_values_without_end_are_refused_with_the_state():
    with pytest.raises(InvalidArgument, match=r"value_samples: 'policy' .* need not end from state 1'"):
        value_samples(b.DirichletMDP.structured(endless(), 5.0), [0, 1, 1, 0], 3, default_rng(0))
    with pytest.raises(InvalidArgument, match=r"value_samples: 'policy' .* need not end from state 1'"):
        value_samples(FiniteMDPs((endless(),)), [0, 1, 1, 0], 3, default_rng(0))
    stays = TabularMDP.from_dense([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 1.0, terminal=[1])
    rare = b.DirichletMDP(stays.outcomes, np.array([[1e6, 0.01], [1.0, 0.0]]), 1.0)
    with pytest.raises(InvalidArgument, match=r"need not end from state 0'\. An end is too rare"):
        value_samples(rare, [0, 0], 200, default_rng(0))


# Percentile ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["second-order", "normal"])
def test_percentile_is_the_best_of_all_that_second_differences_know(criterion):
    prior, start = belief(1), np.eye(4)[0]
    found = Percentile(criterion=criterion, samples=500, restarts=4).solve(prior, default_rng(0))
    z = ndtri(0.9) if criterion == "normal" else 0.0

    def F(mu):
        mean, spread = second_order(prior, mu)
        return start @ mean - z * np.sqrt(start @ spread @ start)

    assert found.objective == pytest.approx(F(found.policy), abs=2e-5)
    grid = np.linspace(0.0, 1.0, 5)
    tried = [np.array([[x, 1 - x] for x in xs] + [[1.0, 0.0]]) for xs in product(grid, repeat=3)]
    assert found.objective >= max(map(F, tried)) - 2e-5
    returns = value_samples(prior, found.policy, 4000, default_rng(7)) @ start
    low, high = np.quantile(returns, [0.05, 0.16])  # 500 draws: the tenth is within six deviations of .0134
    assert low <= found.quantile <= high
    P, r = dense(prior.mean_mdp())
    np.testing.assert_allclose(start @ value_of(P, r, found.nominal_policy), best_values(P, r)[0], atol=1e-9)


def test_percentile_refuses_what_need_not_end():
    prior = b.DirichletMDP.structured(endless(), 5.0)
    with pytest.raises(InvalidArgument, match=f"Percentile: 'belief' must be {REFUSED}"):
        Percentile(samples=100).solve(prior, default_rng(0))
    with pytest.raises(InvalidArgument, match="Percentile: 'belief' must be"):
        Percentile(samples=100).check(prior)


def test_the_ascent_on_drawn_models_has_the_gradient_of_finite_differences():
    d = drawn(belief(2), 5, default_rng(0))
    worth, slope = worth_and_gradient(MU, d, Measure.mean())
    values = [d.start @ value_of(P, r, MU) for P, r in zip(d.P, d.r, strict=True)]
    assert worth == pytest.approx(np.mean(values), abs=1e-12)
    for s, a in product(range(3), range(2)):
        h = 1e-6 * np.eye(8)[2 * s + a].reshape(4, 2)
        up, down = (worth_and_gradient(MU + x, d, Measure.mean())[0] for x in (h, -h))
        assert slope[s, a] == pytest.approx((up - down) / 2e-6, abs=1e-6)
    with pytest.raises(InvalidArgument, match=REFUSED):
        drawn(b.DirichletMDP.structured(endless(), 5.0), 2, default_rng(0))


# Max-min -------------------------------------------------------------------------------------------------------------


def scenarios(seed, n=3):
    return tuple(proper(100 * seed + j) for j in range(n))


def arrays(models):
    return np.array([dense(m)[0] for m in models]), np.array([dense(m)[1] for m in models])


@pytest.mark.parametrize("seed", range(4))
def test_rectangular_is_enumerated(seed):
    """Every policy against every choice of a scenario in each state."""
    models = scenarios(seed)
    P, r = arrays(models)
    s = np.arange(4)

    def against(pi):
        choices = (np.array((*j, 0)) for j in product(range(3), repeat=3))
        return np.min([np.linalg.solve(np.eye(4) - P[j, s, pi], r[j, s, pi]) for j in choices], axis=0)

    exact = np.max([against(pi) for pi in policies(4)], axis=0)
    found = ScenarioMaxMin(form="rectangular").solve(models)
    np.testing.assert_allclose(found.values, exact, atol=1e-9)
    np.testing.assert_allclose(against(found.policy.argmax(axis=1)), exact, atol=1e-9)
    assert found.error_bound <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_error_bound_holds_from_any_start(seed):
    x = scenarios_of(scenarios(seed))
    exact = rectangular(x, 1e-12).values
    for tol in (10.0, 1.0, 0.1, 1e-3):
        for size in (0.0, 30.0):
            found = rectangular(x, tol, size * default_rng(seed).normal(size=4) * [1.0, 1.0, 1.0, 0.0])
            assert np.abs(found.values - exact).max() <= found.error_bound <= max(tol, 1e-9)


def game(q):
    """The value of one state's game q (n, A), by a linear program."""
    n, A = q.shape
    rows = np.hstack([-q, np.ones((n, 1))])
    total = np.append(np.ones(A), 0.0)[None]
    return -linprog(np.append(np.zeros(A), -1.0), rows, np.zeros(n), total, [1.0], [(0, None)] * A + [(None, None)]).fun


def test_state_rectangular_is_the_fixed_point_of_games():
    models = scenarios(5)
    P, r = arrays(models)
    found = ScenarioMaxMin(form="state-rectangular").solve(models)
    v = found.values
    q = r + np.einsum("nsay,y->nsa", P, v)
    np.testing.assert_allclose(v, [game(q[:, s]) for s in range(4)], atol=1e-8)
    low = ScenarioMaxMin(form="rectangular").solve(models).value
    assert low <= found.value + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_static_is_enumerated(seed):
    models = scenarios(seed + 7)
    P, r = arrays(models)
    exact = max(min(value_of(p, x, pi)[0] for p, x in zip(P, r, strict=True)) for pi in policies(4))
    found = ScenarioMaxMin(form="static").solve(models)
    assert found.value == pytest.approx(exact, abs=1e-7)
    mixed = ScenarioMaxMin(form="static", policies="stationary", restarts=3).solve(models, default_rng(0))
    assert exact - 1e-9 <= mixed.value <= mixed.upper + 1e-9
    assert mixed.value == pytest.approx(min(value_of(p, x, mixed.policy)[0] for p, x in zip(P, r, strict=True)))


def test_scenarios_that_end_alone_and_not_together():
    """One goes from 0 to 1 and ends there, the other from 1 to 0: mixed, they need not end."""
    ends = np.array([[0.0, 0.0, 1.0]])
    one = [[[0.0, 1.0, 0.0]] * 2, [ends[0]] * 2, [ends[0]] * 2]
    two = [[ends[0]] * 2, [[1.0, 0.0, 0.0]] * 2, [ends[0]] * 2]
    R = np.array([[1.0, 3.0], [2.0, -1.0], [0.0, 0.0]])
    models = tuple(TabularMDP.from_dense(P, R, 1.0, terminal=[2]) for P in (one, two))
    for policies_ in ("deterministic", "stationary"):
        found = ScenarioMaxMin(form="static", policies=policies_).solve(models, default_rng(0))
        assert found.value == pytest.approx(3.0)  # action 1 in state 0; then 2 or nothing
    d = dense_of(scenarios_of(models), np.eye(3)[0], np.arange(3) == 2)
    for j, model in enumerate(models):  # each scenario's own values
        P, r = dense(model)
        np.testing.assert_allclose(d.best[j], best_q(P, r), atol=1e-8)
        np.testing.assert_allclose(d.low[j], -best_q(P, -r), atol=1e-8)
    for form in ("rectangular", "state-rectangular"):
        with pytest.raises(InvalidArgument, match=r"'problem' .* need not end from state 0'\. Nature may take each"):
            ScenarioMaxMin(form=form).solve(models)


def test_a_scenario_is_solved_to_its_end_where_mixtures_need_not_end():
    """To wait for a reward in state 2 pays in the first scenario; the second goes from 2 to 0."""
    e = np.eye(4)
    one = np.array([[e[1], e[3]], [e[2], e[3]], [e[3], e[3]], [e[3], e[3]]])
    two = np.array([[e[3], e[3]], [e[3], e[3]], [e[0], e[0]], [e[3], e[3]]])
    R = [[0.0, -1.0], [0.0, 1.0], [5.0, 0.0], [0.0, 0.0]]
    models = tuple(TabularMDP.from_dense(P, R, 1.0, terminal=[3]) for P in (one, two))
    d = dense_of(scenarios_of(models), e[0], np.arange(4) == 3)
    for j, model in enumerate(models):
        np.testing.assert_allclose(d.best[j], best_q(*dense(model)), atol=1e-12)


def test_max_min_refuses_what_need_not_end():
    with pytest.raises(InvalidArgument, match=f"ScenarioMaxMin: 'problem' must be {REFUSED}"):
        ScenarioMaxMin(form="static").solve((proper(), endless()))
    with pytest.raises(InvalidArgument, match=f"ScenarioMaxMin: 'belief' must be {REFUSED}"):
        ScenarioMaxMin().check(b.DirichletMDP.structured(endless()))
    with pytest.raises(InvalidArgument, match=f"ScenarioMaxMin: 'belief' must be {REFUSED}"):
        ScenarioMaxMin().check(FiniteMDPs((proper(), endless())))
    ScenarioMaxMin().check(FiniteMDPs((proper(), endless()), np.array([1.0, 0.0])))


# Sigma points --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.0, 0.4, 2.0, 50.0])
def test_sigma_point_robust_equals_its_transcription(beta):
    """Plain min-max sweeps over the points; no point loses more than half of an outcome's probability."""
    prior = belief(4)
    mean, root = prior.mean_mdp(), roots(prior.row_covariance())
    rows = points(mean.prob, root, np.minimum(0.5 * largest_betas(mean.prob, root), beta))
    assert (rows >= 0.5 * mean.prob - 1e-15).all()
    o, v = mean.outcomes, np.zeros(4)
    for _ in range(3000):
        q = (rows[:, o.group] * (o.reward + v[o.succ])).sum(axis=3).min(axis=0)
        v = np.where(o.terminal, 0.0, q.max(axis=1))
    planner = SigmaPointRobust(beta=beta)
    for s in range(END):
        found = planner.plan(prior, s, None, default_rng(0))
        np.testing.assert_allclose(found.info["q"], q[s], atol=1e-8)
        assert found.info["shrunk"] == int((0.5 * largest_betas(mean.prob, root) < beta).sum())
    if beta == 0.0:
        np.testing.assert_allclose(v, best_values(*dense(mean)), atol=1e-8)


def test_sigma_point_robust_refuses_what_need_not_end():
    with pytest.raises(InvalidArgument, match=f"SigmaPointRobust: 'belief' must be {REFUSED}"):
        b.BayesAgent(b.DirichletMDP.structured(endless(), 5.0), SigmaPointRobust())
    assert chances([1, 0]).tolist() == [[0.0, 1.0], [1.0, 0.0]]
