"""Max-min over scenarios: oracles are enumeration of policies and of nature's choices, grids, and computed values."""

import itertools
import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from risk_tables import repeats

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs
from bayesrl.errors import Incompatible, InvalidArgument, NotConverged
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import evaluate_policy, solve
from bayesrl.risk import _rectangular
from bayesrl.risk import _static_max_min as _static
from bayesrl.risk._state_rectangular import games, two_actions
from bayesrl.risk.scenario_max_min import ScenarioMaxMin
from bayesrl.statistics import mean_interval

ROWS = ".9 .1 .3 .7 .2 .8 .6 .4  .3 .7 .9 .1 .5 .5 .1 .9  .6 .4 .6 .4 .1 .9 .9 .1"
R = np.array([[1.0, 0.6], [0.0, -0.4]])
THREE = tuple(TabularMDP.from_dense(P, R, 0.9) for P in np.reshape(ROWS.split(), (3, 2, 2, 2)).astype(float))
FORMS = [
    ("rectangular", "deterministic"),
    ("state-rectangular", "stationary"),
    ("static", "deterministic"),
    ("static", "stationary"),
]


def found(models, form, policies="deterministic", **options):
    return ScenarioMaxMin(form=form, policies=policies, **options).solve(models, default_rng(0))


def drawn(seed, n, S=3, A=3, gamma=0.9, terminal=()):
    rng = default_rng(seed)
    P, R = rng.dirichlet(np.full(S, 0.5), (n, S, A)), rng.normal(size=(n, S, A))
    start = rng.dirichlet(np.ones(S))
    return [TabularMDP.from_dense(P[j], R[j], gamma, start=start, terminal=terminal) for j in range(n)]


def worst(models, policy):
    return min(m.outcomes.start @ evaluate_policy(m, policy) for m in models)


def product(models):
    """Every model that takes each row from one of these models."""
    P, R = np.array([m.dense()[0] for m in models]), np.array([m.mean_reward for m in models])
    n, S, A, _ = P.shape
    s, a = np.indices((S, A))
    for choice in itertools.product(range(n), repeat=S * A):
        j = np.reshape(choice, (S, A))
        yield TabularMDP.from_dense(P[j, s, a], R[j, s, a], models[0].gamma, start=models[0].outcomes.start)


def test_three_scenarios_of_two_states():
    """The values were computed independently of this library; the grid is of 401 x 401 policies."""
    assert [solve(m).values[0] for m in THREE] == pytest.approx([8.27397, 5.15625, 6.03150], abs=1e-5)
    assert found(THREE, "rectangular").values[0] == pytest.approx(2.31707, abs=5e-6)
    assert found(THREE, "static").value == pytest.approx(3.45455, abs=5e-6)
    x, y = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 401))
    mu = np.stack([np.stack([x, 1 - x], -1), np.stack([y, 1 - y], -1)], axis=-2).reshape(-1, 2, 2)
    P = np.einsum("jsay,isa->ijsy", [m.dense()[0] for m in THREE], mu)
    V = np.linalg.solve(np.eye(2) - 0.9 * P, np.broadcast_to((mu * R).sum(2)[:, None, :, None], (len(mu), 3, 2, 1)))
    best = V[:, :, 0, 0].min(axis=1).max()
    assert best <= found(THREE, "static", "stationary").value <= best + 0.01


@pytest.mark.parametrize("seed", [0, 1, 4, 5])
def test_order_of_the_forms(seed):
    """Where nature may choose less, the agent gets more; a random policy is never worse; the limits hold."""
    models = drawn(seed, n=2 + seed % 3, A=2 + seed % 2, terminal=[2] if seed > 3 else ())
    one, two, sure, mixed = (found(models, *form, restarts=2) for form in FORMS)
    assert one.value <= two.value + 1e-9
    assert two.value <= mixed.value + 1e-9
    assert one.value <= sure.value + 1e-9
    assert sure.value <= mixed.value + 1e-9
    least = min(m.outcomes.start @ solve(m).values for m in models)
    for s in (one, two, sure, mixed):
        assert s.lower <= s.value <= s.upper <= least + 1e-6
        assert s.value == pytest.approx(models[0].outcomes.start @ s.values, abs=1e-9)
        assert s.error_bound <= (1e-4 if s is sure else 1e-8 if s is not mixed else np.inf)
    for s in (sure, mixed):
        assert s.value == pytest.approx(worst(models, s.policy), abs=1e-9)


@pytest.mark.parametrize("form", ["rectangular", "state-rectangular"])
def test_values_are_those_of_plain_iteration(form):
    """Value iteration written out; a game of two actions is solved on a grid that holds its solution to 1e-3."""
    models = drawn(7, n=4, A=2)
    P, R = np.array([m.dense()[0] for m in models]), np.array([m.mean_reward for m in models])
    x = np.linspace(0.0, 1.0, 2001)
    v = np.zeros(3)
    for _ in range(300):
        q = R + 0.9 * np.einsum("nsay,y->nsa", P, v)
        if form == "rectangular":
            v = q.min(axis=0).max(axis=1)
        else:
            v = (q[:, :, :1] * x + q[:, :, 1:] * (1.0 - x)).min(axis=0).max(axis=1)
    s = found(models, form)
    np.testing.assert_allclose(s.values, v, atol=1e-9 if form == "rectangular" else 2e-2)
    assert s.error_bound < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_program_equals_enumeration(seed):
    models = drawn(20 + seed, n=4, terminal=[1] if seed == 2 else ())
    best = max(worst(models, policy) for policy in itertools.product(range(3), repeat=3))
    s = found(models, "static")
    assert s.value == pytest.approx(best, abs=1e-9)
    assert (s.policy.max(axis=1) == 1.0).all()
    assert best - 1e-9 <= s.upper <= best + 1e-4


def test_static_is_rectangular_on_the_product_set():
    """Nature gains nothing from choosing anew if every combination of rows is a scenario."""
    models = drawn(3, n=2, S=2, A=2)
    whole = list(product(models))
    value = found(models, "rectangular").value
    assert found(whole, "static").value == pytest.approx(value, abs=1e-7)
    assert found(whole, "static", "stationary", restarts=2).value == pytest.approx(value, abs=1e-6)
    assert found(whole, "rectangular").value == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_one_scenario_is_the_nominal_problem(form):
    (mdp,) = drawn(5, n=1)
    s = found([mdp], *form, restarts=1)
    assert s.value == pytest.approx(mdp.outcomes.start @ solve(mdp).values, abs=1e-8)
    np.testing.assert_allclose(evaluate_policy(mdp, s.policy), solve(mdp).values, atol=1e-6)
    assert s.upper == pytest.approx(s.value, abs=1e-4)


@pytest.mark.parametrize("form", FORMS[:3])
def test_more_scenarios_never_help(form):
    models = drawn(11, n=6)
    values = [found(models[:n], *form).value for n in (1, 2, 4, 6)]
    assert (np.diff(values) <= 1e-9).all()
    assert values[-1] < values[0] - 0.1


def test_games():
    """Both strategies prove the same value, also with equal and repeated payoffs; two actions as by the program."""
    rng = default_rng(0)
    for digits in (0, 1, 6):
        for A in (2, 3):
            q = rng.normal(size=(7, 5, A)).round(digits)
            mu, y = games(q)
            for rows in (mu, y):
                np.testing.assert_allclose(rows.sum(axis=1), 1.0)
                assert (rows >= 0.0).all()
            low = np.einsum("nsa,sa->ns", q, mu).min(axis=0)
            np.testing.assert_allclose(np.einsum("nsa,sn->sa", q, y).max(axis=1), low, atol=1e-9)
            more = np.concatenate([q, q[:, :, :1] - 1.0], axis=2)  # an action that is never taken
            np.testing.assert_allclose(np.einsum("nsa,sa->ns", more, games(more)[0]).min(axis=0), low, atol=1e-9)


def test_a_line_through_the_meeting_point_replaces_none():
    """Scenarios 1 and 2 meet at height 1; scenario 0 passes there too, rising, level or falling, and is not lower."""
    q = np.array([[[0.5, 1.5], [1.0, 1.0], [1.5, 0.5]], [[0.0, 2.0]] * 3, [[2.0, 0.0]] * 3])
    mu, y = two_actions(q)
    assert mu.tolist() == [[0.5, 0.5]] * 3
    assert y.tolist() == [[0.0, 0.5, 0.5]] * 3


def test_gradients_of_returns():
    """Finite differences; false steps of 1e-6 leave errors of about 1e-8."""
    models = drawn(2, n=3)
    first = models[0].outcomes
    d = _static.dense_of(_rectangular.scenarios_of(tuple(models)), first.start, first.terminal)
    mu = default_rng(1).dirichlet(np.ones(3), 3)
    _, gradients = _static.returns_and_gradients(d, mu)
    for s, a in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[s, a] = 1e-6
        up, down = (_static.values_of(d, mu + sign * step) @ d.start for sign in (1, -1))
        np.testing.assert_allclose(gradients[:, s, a], (up - down) / 2e-6, rtol=1e-5, atol=1e-7)


def test_outcomes_that_differ_and_those_that_are_shared():
    """Models with their own lists, models that share their lists, and the same models as dense matrices."""
    world = b.make_world("chain-tied")
    belief = b.DirichletMDP.structured(world)
    rng = default_rng(0)
    models = [belief.sample_mdp(rng) for _ in range(5)]
    dense = [TabularMDP.from_dense(*m.dense(), m.gamma) for m in models]
    sparse = np.where(dense[1].dense()[0] > 0.3, dense[1].dense()[0], 0.0)
    other = [*dense, TabularMDP.from_dense(sparse / sparse.sum(axis=2, keepdims=True), world.dense()[1], 0.95)]
    for form in ("rectangular", "state-rectangular"):
        np.testing.assert_allclose(found(models, form).values, found(dense, form).values, atol=1e-8)
    q = min_q(other, found(other, "rectangular").values)
    np.testing.assert_allclose(q.max(axis=1), found(other, "rectangular").values, atol=1e-8)
    same = ScenarioMaxMin(scenarios=5).solve(belief, default_rng(0))
    np.testing.assert_allclose(same.values, found(models, "rectangular").values, atol=1e-12)
    assert (same.scenarios, same.form, same.policies) == (5, "rectangular", "deterministic")


def min_q(models, v):
    return np.min([m.mean_reward + m.gamma * m.dense()[0] @ v for m in models], axis=0)


def test_belief_over_finitely_many_models():
    """Its models are the scenarios; those that are ruled out are not."""
    belief = FiniteMDPs(THREE)
    assert ScenarioMaxMin().solve(belief).value == pytest.approx(found(THREE, "rectangular").value)
    without = FiniteMDPs(THREE, weights=np.array([1.0, 0.0, 1.0]) / 2)
    assert ScenarioMaxMin().solve(without).value == pytest.approx(found(THREE[::2], "rectangular").value)


def test_a_solution_is_a_planner():
    world = b.make_world("machine-repair")
    belief = b.DirichletMDP.structured(world, 5)
    s = ScenarioMaxMin(form="state-rectangular", scenarios=10).solve(belief, default_rng(0))
    record = b.run(b.BayesAgent(belief, s), world, steps=30, seed=0)
    assert len(record) == 30
    decision = s.plan(belief, 1, s.start(), default_rng(0))
    assert decision.info["probability"].tolist() == s.policy[1].tolist()
    assert pickle.loads(pickle.dumps(s)) == s
    assert not s.policy.flags.writeable
    assert not s.values.flags.writeable


@pytest.mark.long
def test_forms_table():
    """The tables of docs/risk.md: values of the forms, and what they differ by in random problems."""
    belief = b.DirichletMDP.structured(b.make_world("machine-repair"), 5)
    for n in (10, 30, 100, 300):
        rng = [default_rng(0) for _ in FORMS]
        made = [ScenarioMaxMin(form=form, policies=policies, scenarios=n) for form, policies in FORMS]
        print(n, [round(x.solve(belief, r).value, 1) for x, r in zip(made, rng, strict=True)])
    values = np.array([[found(drawn(1000 + i, n=4), *form).value for form in FORMS] for i in range(repeats(200, 40))])
    for form, column in zip(FORMS[1:], values.T[1:], strict=True):
        print(form, mean_interval(column - values[:, 0]), "at most", (column - values[:, 0]).max())
    assert (values[:, :1] <= values + 1e-9).all()
    assert (values <= values[:, 3:] + 1e-9).all()


def test_budgets():
    """A program that is cut off carries the best policy that it has found, and limits that hold."""
    models = drawn(0, n=6, S=5)
    with pytest.raises(NotConverged, match="not converged after a program of at most 1 branches") as error:
        found(models, "static", branches=1)
    best = error.value.best
    assert best.lower == best.value == pytest.approx(worst(models, best.policy))
    assert best.value < best.upper
    assert best.upper >= found(models, "static").value


def test_a_program_whose_presolve_fails():
    """HiGHS ends with an error after its presolve; without it, the program is solved. Action 2 has the best minimum."""
    R = np.array([[1017, 998, 1001, 984], [1005, 988, 1000, 998], [1013, 997, 992, 1010], [982, 1000, 1001, 1012.0]])
    models = [TabularMDP.from_dense(np.ones((1, 4, 1)), 1000.0 * r[None], 0.0) for r in R]
    assert found(models, "static").value == pytest.approx(992_000.0)


def test_a_stalled_iteration_says_so(monkeypatch):
    monkeypatch.setattr(_rectangular, "ROUNDS", 1)
    with pytest.raises(NotConverged, match="after as many backups as gained anything") as error:
        found(drawn(0, n=6, S=5), "state-rectangular")
    best = error.value.best
    monkeypatch.undo()
    assert best.lower <= found(drawn(0, n=6, S=5), "state-rectangular").value <= best.upper


@pytest.mark.parametrize(
    "problem, said",
    [
        ([], "'problem' must be at least one model"),
        ([THREE[0], None], "'problem' must be a belief or a sequence of TabularMDP, got 'NoneType'"),
        ([THREE[0], drawn(0, 1, S=2, A=3)[0]], "models with the same numbers of states and actions"),
        ([THREE[0], TabularMDP.from_dense(THREE[0].dense()[0], R, 0.8)], "models with the same discount"),
        (
            [THREE[0], TabularMDP.from_dense(THREE[0].dense()[0], R, 0.9, terminal=[1])],
            "models with the same terminal states",
        ),
        (
            [THREE[0], TabularMDP.from_dense(THREE[0].dense()[0], R, 0.9, start=1)],
            "models with the same distribution of the first state",
        ),
        (
            [TabularMDP.from_dense(THREE[0].dense()[0], R, 1.0)],
            "'problem' must be one whose episodes end under every policy",
        ),
        (THREE[0], "Make a prior of it first"),
        (b.make_world("chain"), "Make a prior of it first"),
        (b.make_world("gc"), "Make a prior of it first"),
        ("chain", "'problem'|needs a belief"),
        (None, "needs a belief with"),
    ],
)
def test_bad_problems(problem, said):
    with pytest.raises((InvalidArgument, Incompatible), match=said):
        ScenarioMaxMin().solve(problem, default_rng(0))


@pytest.mark.parametrize(
    "options",
    [
        {"form": "dynamic"}, {"form": None}, {"policies": "any"}, {"scenarios": 0}, {"scenarios": 1.5},
        {"restarts": -1}, {"branches": 0}, {"tol": 0.0}, {"tol": np.nan}, {"tol": "1"},
    ],
)  # fmt: skip
def test_bad_options(options):
    with pytest.raises(InvalidArgument, match=f"ScenarioMaxMin: '{next(iter(options))}' must be"):
        ScenarioMaxMin(**options)


def test_draws_need_a_generator():
    for rng in (None, 0, np.random):
        with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
            ScenarioMaxMin().solve(b.DirichletMDP.flat(b.make_world("chain")), rng)
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        ScenarioMaxMin(form="static", policies="stationary").solve(THREE)
    assert ScenarioMaxMin(form="static", policies="stationary", restarts=0).solve(THREE).value > 3.4
