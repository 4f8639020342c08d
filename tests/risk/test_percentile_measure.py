"""Percentile measures against the linear program with all orders, walks through histories, and expectimax."""

import itertools

import numpy as np
import pytest
from risk_tables import repeats
from scipy import stats
from scipy.optimize import linprog

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument, NotConverged
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import Measure, _cutting_planes

S, A = 2, 2
UNEQUAL = np.array([0.1, 0.2, 0.3, 0.4])
MEASURES = [
    Measure.mean(),
    Measure.cvar(0.3),
    Measure.max_min(),
    Measure.k_of_n(1, 3),
    Measure.mixture([Measure.mean(), Measure.cvar(0.25)], [0.4, 0.6]),
    Measure.from_density(lambda x: 2.0 - 2.0 * x),
]


def posterior(shared, weights=UNEQUAL, seed=0, terminal=(), n=4):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(S), (n, S, A))
    P = np.broadcast_to(P[:1], P.shape) if shared else P
    R = rng.normal(size=(n, S, A))
    models = tuple(TabularMDP.from_dense(p, r, 0.9, [0.7, 0.3], terminal) for p, r in zip(P, R, strict=True))
    return FiniteMDPs(models, weights)


def orders(measure, weights):
    """The weights of the models for every order of their returns: the rows of the paper's program."""
    rows = []
    for order in itertools.permutations(range(len(weights))):
        below = np.cumsum(weights[list(order)])
        psi = measure.cumulative(np.minimum(below, 1.0))
        row = np.zeros(len(weights))
        row[list(order)] = np.diff(psi, prepend=0.0)
        rows.append(row)
    return np.array(rows)


def program(measure, weights, C, equal, first):
    """Maximise the smallest average of the returns C x over all orders; returns the value."""
    rows = orders(measure, weights) @ C
    n = C.shape[1]
    found = linprog(
        np.append(np.zeros(n), -1.0),
        np.hstack([-rows, np.ones((len(rows), 1))]),
        np.zeros(len(rows)),
        np.hstack([equal, np.zeros((len(equal), 1))]),
        first,
        [(0, None)] * n + [(None, None)],
    )
    return found.x[-1]


def naive_histories(models, horizon):
    """The realisation plans over all histories, written as tuples: (C, equal, first)."""
    levels = [[(s,) for s in range(S)]]
    for _ in range(horizon - 1):
        levels.append([(*h, a, y) for h in levels[-1] for a in range(A) for y in range(S)])
    sets = [h for level in levels for h in level]
    place = {h: i for i, h in enumerate(sets)}
    equal, first, C = np.zeros((len(sets), len(sets) * A)), np.zeros(len(sets)), np.zeros((len(models), len(sets) * A))
    for h, i in place.items():
        equal[i, i * A : i * A + A] = 1.0
        if len(h) == 1:
            first[i] = 1.0
        else:
            equal[i, place[h[:-2]] * A + h[-2]] = -1.0
        for m, model in enumerate(models):
            P, R = model.dense()
            reach = model.outcomes.start[h[0]]
            for s, a, y in zip(h[:-2:2], h[1::2], h[2::2], strict=True):
                reach *= P[s, a, y] * (not model.outcomes.terminal[s])
            t, s = len(h) // 2, h[-1]
            C[m, i * A : i * A + A] = model.gamma**t * reach * (P[s] * R[s]).sum(axis=1)
    return C, equal, first


def naive_pairs(models, horizon):
    """Occupancies of (t, s)."""
    n = horizon * S
    equal, first, C = np.zeros((n, n * A)), np.zeros(n), np.zeros((len(models), n * A))
    P = models[0].dense()[0]
    first[:S] = models[0].outcomes.start
    for t, s in itertools.product(range(horizon), range(S)):
        i = t * S + s
        equal[i, i * A : i * A + A] = 1.0
        if t:
            for z, a in itertools.product(range(S), range(A)):
                equal[i, ((t - 1) * S + z) * A + a] -= P[z, a, s]
        for m, model in enumerate(models):
            C[m, i * A : i * A + A] = model.gamma**t * (model.dense()[0][s] * model.dense()[1][s]).sum(axis=1)
    return C, equal, first


def naive_stationary(models):
    P, gamma = models[0].dense()[0], models[0].gamma
    equal = np.repeat(np.eye(S), A, axis=1) - gamma * P.reshape(S * A, S).T
    C = np.array([(m.dense()[0] * m.dense()[1]).sum(axis=2).ravel() for m in models])
    return C, equal, models[0].outcomes.start


SPACES = {
    "stationary": (True, None, lambda models: naive_stationary(models)),
    "pairs": (True, 3, lambda models: naive_pairs(models, 3)),
    "histories": (False, 3, lambda models: naive_histories(models, 3)),
}
spaces = pytest.mark.parametrize("space", SPACES)


def solved(belief, measure, horizon):
    return b.make("percentile-measure", measure=measure, horizon=horizon).solve(belief)


@pytest.mark.parametrize("weights", [np.full(4, 0.25), UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
@spaces
def test_equal_to_the_program_with_all_orders(space, measure, weights):
    shared, horizon, naive = SPACES[space]
    belief = posterior(shared, weights)
    solution = solved(belief, measure, horizon)
    expected = program(measure, weights, *naive(belief.models))
    assert solution.value == pytest.approx(expected, abs=1e-7)
    assert 0.0 <= solution.gap < 1e-7
    assert solution.value == pytest.approx(measure.value(solution.returns, solution.weights), abs=1e-12)


@spaces
def test_planning_against_the_adversary_earns_the_value(space):
    shared, horizon, naive = SPACES[space]
    belief = posterior(shared)
    for measure in MEASURES:
        solution = solved(belief, measure, horizon)
        C, equal, first = naive(belief.models)
        found = linprog(-(solution.adversary @ C), A_eq=equal, b_eq=first)
        assert -found.fun == pytest.approx(solution.value, abs=1e-7)
        assert solution.adversary.sum() == pytest.approx(1.0, abs=1e-12)
        assert solution.upper == pytest.approx(-found.fun, abs=1e-7)


def walked(solution, model, horizon):
    """The return in a model, from the probabilities that `plan` gives along every history."""
    P, R = model.dense()
    r = (P * R).sum(axis=2)
    rng = np.random.default_rng(0)

    def earn(s, memory, last, t):
        if t == horizon or model.outcomes.terminal[s]:
            return 0.0
        decision = solution.plan(None, s, memory, rng, last)
        total = 0.0
        for a, p in enumerate(decision.info["probability"]):
            for y in range(S):
                if p * P[s, a, y]:
                    seen = Transition(s, a, 0.0, y)
                    total += p * P[s, a, y] * model.gamma * earn(y, decision.memory, seen, t + 1)
            total += p * r[s, a]
        return total

    return sum(model.outcomes.start[s] * earn(s, solution.start(), None, 0) for s in range(S))


@pytest.mark.parametrize("terminal", [(), (1,)])
@pytest.mark.parametrize("shared", [True, False])
def test_the_policy_walked_through_plan_has_its_value(shared, terminal):
    belief = posterior(shared, terminal=terminal)
    for measure in MEASURES[1:4]:
        solution = solved(belief, measure, 3)
        returns = [walked(solution, m, 3) for m in belief.models]
        np.testing.assert_allclose(returns, solution.returns, atol=1e-10)
        assert measure.value(returns, UNEQUAL) == pytest.approx(solution.value, abs=1e-10)


def test_the_stationary_policy_has_its_value():
    belief = posterior(True)
    solution = solved(belief, Measure.cvar(0.3), None)
    for m, value in zip(belief.models, solution.returns, strict=True):
        P, R = m.dense()
        moves = np.einsum("sa,say->sy", solution.policy, P)
        r = (solution.policy * (P * R).sum(axis=2)).sum(axis=1)
        assert m.outcomes.start @ np.linalg.solve(np.eye(S) - m.gamma * moves, r) == pytest.approx(value, abs=1e-10)


def test_the_mean_is_the_bayes_adaptive_optimum():
    """Expectimax over the posterior of the models, by brute force; the mean model's optimum is another."""
    belief, horizon = posterior(False, seed=3), 4
    P, R = (np.array([m.dense()[i] for m in belief.models]) for i in (0, 1))
    r = (P * R).sum(axis=3)

    def best(s, w, t):  # w: prior times likelihood of the states seen
        if t == horizon:
            return 0.0
        return max(w @ r[:, s, a] + 0.9 * sum(best(y, w * P[:, s, a, y], t + 1) for y in range(S)) for a in range(A))

    start = belief.models[0].outcomes.start
    optimum = sum(start[s] * best(s, UNEQUAL, 0) for s in range(S))
    solution = solved(belief, Measure.mean(), horizon)
    assert solution.value == pytest.approx(optimum, abs=1e-9)
    mean_p, mean_r, values = np.tensordot(UNEQUAL, P, 1), np.tensordot(UNEQUAL, r, 1), np.zeros(S)
    for _ in range(horizon):
        values = (mean_r + 0.9 * mean_p @ values).max(axis=1)
    assert abs(start @ values - optimum) > 1e-3


def two_actions(n):
    """One state, two actions with independent standard normal rewards, each replaced by n equally probable values."""
    edges = stats.norm.ppf(np.arange(n + 1) / n)
    points = -n * np.diff(stats.norm.pdf(edges))
    return [TabularMDP.from_dense(np.ones((1, 2, 1)), [[x, y]], 0.0) for x in points for y in points]


def test_two_normal_actions():
    """The even mix is worth -1/sqrt(2 pi) under 1-of-2; with n values for each action the error falls like 1/n."""
    errors = []
    for n in (8, 16):
        solution = solved(two_actions(n), Measure.k_of_n(1, 2), None)
        np.testing.assert_allclose(solution.policy, 0.5, atol=1e-6)
        errors.append(solution.value + 1.0 / np.sqrt(2.0 * np.pi))
    assert abs(errors[1]) < 0.5 * abs(errors[0]) < 0.02


def test_a_belief_is_sampled_and_says_so():
    belief = b.DirichletMDP.structured(b.make_world("chain"))
    solver = b.make("percentile-measure", measure=Measure.cvar(0.25), horizon=2, models=8)
    solution = solver.solve(belief, np.random.default_rng(0))
    assert solution.sampled
    assert len(solution.returns) == 8
    assert solution == solver.solve(belief, np.random.default_rng(0))
    assert not solved(posterior(True), Measure.mean(), 2).sampled


@spaces
def test_a_solution_runs_and_is_saved(space, tmp_path):
    shared, horizon, _ = SPACES[space]
    belief = posterior(shared)
    solution = solved(belief, Measure.k_of_n(1, 3), horizon)
    b.save(solution, tmp_path / "kept.zip")
    assert b.load(tmp_path / "kept.zip") == solution
    world = b.make_world("chain")
    record = b.run(b.BayesAgent(b.DirichletMDP.flat(world), solution_for(world, horizon)), world, steps=12, seed=0)
    assert len(record) == 12


def solution_for(world, horizon):
    prior = b.DirichletMDP.structured(world)
    models = [prior.mean_mdp()] * 2 if horizon is None else [prior.sample_mdp(np.random.default_rng(i)) for i in (0, 1)]
    return b.make("percentile-measure", horizon=horizon and 2).solve(models)


def test_a_failed_program_leaves_the_best_iterate(monkeypatch):
    monkeypatch.setattr(_cutting_planes, "_master", lambda *args: None)
    with pytest.raises(NotConverged) as failed:
        solved(posterior(False), Measure.cvar(0.3), 3)
    best = failed.value.best
    assert best.value == pytest.approx(Measure.cvar(0.3).value(best.returns, UNEQUAL), abs=1e-12)
    assert failed.value.residual == pytest.approx(best.upper - best.value)


@spaces
def test_without_rewards_every_plan_is_the_best(space):
    """All values are zero and proved, and the first plan, which is uniform, stays: no other is better."""
    shared, horizon, _ = SPACES[space]
    P = posterior(shared).models
    models = tuple(TabularMDP.from_dense(m.dense()[0], np.zeros((S, A)), 0.9, [0.7, 0.3]) for m in P)
    solution = solved(FiniteMDPs(models, UNEQUAL), Measure.cvar(0.3), horizon)
    assert solution.value == solution.gap == 0.0
    plans = _cutting_planes.StationaryPlans(models)
    first, second = (plans.plan(x) for x in (np.full((S, A), 1.0 / A), np.eye(A)[[0] * S]))
    best, _ = _cutting_planes._ascend(plans, Measure.cvar(0.3), UNEQUAL, [first, second])
    assert best is first


ONE = posterior(True)


@pytest.mark.parametrize(
    ("parameters", "problem", "sentence"),
    [
        ({"measure": 0.1}, ONE, "'measure' must be a Measure"),
        ({"measure": None}, ONE, "'measure'"),
        ({"horizon": 0}, ONE, "'horizon'"),
        ({"horizon": 2.5}, ONE, "'horizon'"),
        ({"models": 0}, ONE, "'models'"),
        ({"nodes": 0}, ONE, "'nodes'"),
        ({"horizon": None}, posterior(False), "'horizon' must be a number of steps, got None. The models differ"),
        ({"horizon": 12}, posterior(False), "for the histories of 12 steps, .*Lower 'horizon'"),
        ({"horizon": 3, "nodes": 5}, ONE, "'nodes' must be at least 6"),
        ({"horizon": 3}, [], "'problem' must be at least one model"),
        ({"horizon": 3}, ["model"], "'problem'"),
        ({}, [TabularMDP.from_dense([[[1.0]]], [[0.0]], 1.0)], "'gamma'"),
        ({}, b.make_world("chain"), "DirichletMDP.structured"),
        ({"horizon": 2}, b.DirichletMDP.flat(b.make_world("chain")), "'rng'"),
    ],
)  # fmt: skip
def test_refused(parameters, problem, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        b.make("percentile-measure", **parameters).solve(problem)


def test_a_belief_that_cannot_be_sampled_is_refused():
    with pytest.raises(Incompatible, match="sample_mdp"):
        b.make("percentile-measure").solve(b.make("beta-bernoulli", alpha=[1.0, 1.0], beta=[1.0, 1.0]))


# Draws of a belief with a known optimum ------------------------------------------------------------------------------


@pytest.mark.long
def test_bias_table():
    """CVaR of 10% with Gaussian costs: its value on the draws, its exact value, and the cone program's optimum.

    The return of a policy is Gaussian, so that its CVaR is mean - 1.755 deviations. The table of docs/risk.md has
    forty seeds for each number of draws. A false alarm needs a mean six standard errors off.
    """
    belief = b.make_world("machine-costs", n_states=10).belief
    z = stats.norm.pdf(stats.norm.ppf(0.1)) / 0.1
    optimum = b.make("percentile-rewards", epsilon=float(1.0 - stats.norm.cdf(z))).solve(belief).value
    m, covariance = belief.reward_moments()
    model = belief.mean_mdp()

    def exact(policy):
        n = len(policy)
        moves = np.einsum("sa,say->ys", policy, model.dense()[0])
        x = (np.linalg.solve(np.eye(n) - model.gamma * moves, model.outcomes.start)[:, None] * policy).ravel()
        return m.ravel() @ x - z * np.sqrt(x @ covariance @ x)

    print(f"\noptimum {optimum:.3f}")
    losses, seeds = [], repeats(40, 10)
    for models in (50, 200, 800):
        solver = b.make("percentile-measure", measure=Measure.cvar(0.1), models=models)
        found = [solver.solve(belief, np.random.default_rng(seed)) for seed in range(seeds)]
        on_draws, in_truth = np.array([(one.value, exact(one.policy)) for one in found]).T
        assert (in_truth <= optimum + 1e-6).all()
        error = on_draws.std(ddof=1) / np.sqrt(seeds)
        assert on_draws.mean() > optimum - 6 * error  # the best value on draws is biased upwards
        losses.append(optimum - in_truth.mean())
        half = 2.02 * in_truth.std(ddof=1) / np.sqrt(seeds)
        print(f"{models}: on the draws {on_draws.mean():.3f} +- {2.02 * error:.3f}")
        print(f"{models}: exact {in_truth.mean():.3f} +- {half:.3f}")
    assert losses[0] > losses[1] > losses[2]
