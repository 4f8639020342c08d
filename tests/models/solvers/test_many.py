"""Many models at once equal the same models one by one."""

import numpy as np
import pytest

from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import solve, solve_many


def flat(rng, S=6, A=3):
    P = rng.dirichlet(np.ones(S), (S, A))
    return TabularMDP.from_dense(P, rng.normal(size=(S, A, S)), 0.9)


def tied(rng, S=6, A=2, terminal=()):
    G, K = 4, 3
    group = rng.permutation(np.concatenate([np.arange(G), rng.integers(G, size=S * A - G)])).reshape(S, A)
    size = np.array([3, 2, 1, 3])
    ends = np.zeros(S, bool)
    ends[list(terminal)] = True
    outcomes = Outcomes(
        rng.integers(S, size=(S, A, K)), rng.normal(size=(S, A, K)), group, size, np.zeros(1), np.eye(S)[0], ends
    )
    prob = np.where(np.arange(K) < size[:, None], 1.0, 0.0)
    return TabularMDP(outcomes, prob / prob.sum(axis=1, keepdims=True), 0.9)


def sampled(mdp, n, rng):
    prob = rng.exponential(size=(n, *mdp.prob.shape)) * mdp.outcomes.valid
    return prob / prob.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("gamma", [0.0, 0.9, 0.999])
@pytest.mark.parametrize("kind", ["flat", "tied", "tied with an end"])
def test_equal_to_one_by_one(kind, gamma):
    rng = np.random.default_rng(0)
    mdp = flat(rng) if kind == "flat" else tied(rng, terminal=(2,) if "end" in kind else ())
    prob = sampled(mdp, 30, rng)
    values, q = solve_many(mdp.outcomes, prob, gamma, tol=1e-9)
    again, _ = solve_many(mdp.outcomes, prob, gamma, tol=1e-9, initial=values)
    for p, v, w, x in zip(prob, values, q, again, strict=True):
        one = solve(TabularMDP(mdp.outcomes, p, gamma), 1e-9)
        np.testing.assert_allclose(v, one.values, atol=3e-9)
        np.testing.assert_allclose(w, one.q, atol=3e-9)
        np.testing.assert_allclose(x, one.values, atol=3e-9)


def test_rewards_of_each_model():
    rng = np.random.default_rng(1)
    mdp = tied(rng, terminal=(1,))
    prob, rewards = sampled(mdp, 10, rng), rng.normal(size=(10, 6, 2))
    values, q = solve_many(mdp.outcomes, prob, 0.9, rewards=rewards)
    for p, r, v, w in zip(prob, rewards, values, q, strict=True):
        model = TabularMDP(mdp.outcomes, p, 0.9)
        one = solve(model, bonus=r - model.mean_reward)
        np.testing.assert_allclose(v, one.values, atol=3e-9)
        np.testing.assert_allclose(w, one.q, atol=3e-9)


@pytest.mark.parametrize("S, end", [(60, ()), (60, (7,)), (210, (205,))])
def test_slow_models_fall_back_to_policy_iteration(S, end):
    # Rings of 60 or 210 states: sweeps alone would take thousands.
    succ = np.stack([np.stack([(np.arange(S) + 1) % S, (np.arange(S) - 1) % S], axis=1)] * 2, axis=1)
    succ[:, 1] = succ[:, 1, ::-1]
    reward = np.zeros((S, 2, 2))
    reward[0], reward[20] = 1.0, 0.5
    terminal = np.isin(np.arange(S), end)
    outcomes = Outcomes(
        succ, reward, np.arange(2 * S).reshape(S, 2), np.full(2 * S, 2), np.zeros(1), np.eye(S)[0], terminal
    )
    p = np.random.default_rng(2).uniform(0.7, 0.9, size=(5 if S == 60 else 1, 2 * S))
    prob = np.stack([p, 1.0 - p], axis=2)
    values, q = solve_many(outcomes, prob, 0.99, initial=np.full((len(p), S), 3.0))
    assert (values[:, terminal] == 0.0).all()
    for x, v, w in zip(prob, values, q, strict=True):
        one = solve(TabularMDP(outcomes, x, 0.99), method="policy-iteration")
        np.testing.assert_allclose(v, one.values, atol=1e-9)
        np.testing.assert_allclose(w, one.q, atol=1e-9)


def test_a_model_that_does_not_converge_is_named_with_its_error(monkeypatch):
    """If policies never converge, the error says which model, and bounds its distance from the optimum."""
    monkeypatch.setattr("bayesrl.models.solvers.many.converged", lambda *given: False)
    monkeypatch.setattr("bayesrl.models.solvers.many.sweep_each", lambda m, p, r, v, q, target: np.ones(len(v), bool))
    mdp = flat(np.random.default_rng(0))
    with pytest.raises(NotConverged, match="policies of model 0") as caught:
        solve_many(mdp.outcomes, mdp.prob[None], 0.9)
    values, _ = caught.value.best
    exact = solve(mdp, method="policy-iteration").values
    assert np.abs(values[0] - exact).max() <= caught.value.residual + 1e-12
    assert 0.0 < caught.value.residual < 1e-9


def test_the_callers_arrays_stay():
    rng = np.random.default_rng(0)
    mdp = flat(rng)
    prob = sampled(mdp, 3, rng)
    before, initial = prob.copy(), np.ones((3, 6))
    solve_many(mdp.outcomes, prob, 0.9, initial=initial)
    assert prob.flags.writeable
    assert (prob == before).all()
    assert (initial == 1.0).all()
    solve_many(mdp.outcomes, prob.tolist(), 0.9)
    np.testing.assert_array_equal(
        solve_many(mdp.outcomes, np.asfortranarray(prob), 0.9)[0], solve_many(mdp.outcomes, prob, 0.9)[0]
    )


def change(where, x):
    prob = np.full((2, 12, 6), 1 / 6)
    prob[where] = x
    return prob


OUTCOMES = flat(np.random.default_rng(0), A=2).outcomes
TIED = tied(np.random.default_rng(0)).outcomes
GOOD = {"outcomes": OUTCOMES, "prob": change(0, 1 / 6), "gamma": 0.9}


@pytest.mark.parametrize(
    "bad, sentence",
    [
        ({"outcomes": 3}, "'outcomes' must be Outcomes, got 'int'."),
        ({"prob": change((1, 2), 0.5)}, "'prob' must be rows that sum to 1, got 3.0. First at row (1, 2)."),
        (
            {"prob": change((1, 2, 3), np.nan)},
            "'prob' must be finite everywhere, got nan. First at index (1, 2, 3).",
        ),
        (
            {"prob": change((1, 2), [1.5, -0.5, 0, 0, 0, 0])},
            "'prob' must be at least 0 everywhere, got -0.5. First at index (1, 2, 1).",
        ),
        (
            {"prob": np.ones((2, 3))},
            "'prob' must be an array of shape (any, 12, 6), got an array of shape (2, 3).",
        ),
        ({"prob": np.ones((0, 12, 6))}, "'prob' must be a non-empty array, got an array of shape (0, 12, 6)."),
        (
            {"outcomes": TIED, "prob": np.full((1, 4, 3), 1 / 3)},
            "'prob' must be zero on padding, got 0.3333333333333333.",
        ),
        ({"gamma": 1.0}, "'gamma' must be in [0, 1), got 1.0."),
        ({"tol": 0}, "'tol' must be greater than 0, got 0."),
        (
            {"rewards": np.zeros((6, 2))},
            "'rewards' must be an array of shape (2, 6, 2), got an array of shape (6, 2).",
        ),
        ({"initial": np.zeros(6)}, "'initial' must be an array of shape (2, 6), got an array of shape (6,)."),
    ],
)
def test_bad_input(bad, sentence):
    with pytest.raises(InvalidArgument) as caught:
        solve_many(**(GOOD | bad))
    assert str(caught.value) == "solve_many: " + sentence


def test_rows_of_single_precision_are_divided_by_their_sums():
    """Their sums differ from one by 1e-7. Values are those of the rows that sum to one."""
    rng = np.random.default_rng(4)
    mdp = tied(rng)
    rough = sampled(mdp, 5, rng).astype(np.float32)
    exact = rough.astype(np.float64)
    exact /= exact.sum(axis=2, keepdims=True)
    one, two = (solve_many(mdp.outcomes, p, 0.99, tol=1e-9)[0] for p in (rough, exact))
    np.testing.assert_allclose(one, two, rtol=0.0, atol=1e-8)
