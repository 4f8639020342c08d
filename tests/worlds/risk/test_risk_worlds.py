"""Worlds of chapter 6: tables by hand, values that were computed independently of this library, samples."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import chisquare

import bayesrl as b
from bayesrl.errors import InvalidArgument

NAMES = ("machine-replacement", "inventory-binomial")
make_world = cache(b.make_world)


def leads_to(world, s, a):
    """{next state: probability}."""
    row = world.dense()[0][s, a]
    return {int(y): round(float(row[y]), 12) for y in np.flatnonzero(row)}


def test_machine_replacement_is_worth_what_was_computed():
    world = make_world("machine-replacement")
    optimal = b.solve(world)
    values = [-1.76658, -2.31864, -3.04321, -3.99421, -5.24240, -6.88065, -12.88065, -12.88065, -1.82216, -8.93329]
    assert optimal.values == pytest.approx(values, abs=5e-6)
    assert list(optimal.policy) == [0, 0, 0, 0, 0, 1, 1, 1, 0, 1]
    assert world.mdp.outcomes.start @ optimal.values == pytest.approx(-5.97624, abs=5e-6)
    current = b.solve(b.make_world("machine-replacement", rewards="current"))
    assert current.values[0] == pytest.approx(-1.41326, abs=5e-6)
    assert list(current.policy) == list(optimal.policy)
    assert list(b.solve(b.make_world("machine-replacement", gamma=0.9)).policy) == [0, 0, 0, 0, 1, 1, 1, 1, 0, 1]


def test_machine_replacement_by_hand():
    world = make_world("machine-replacement")
    nothing, repair = range(2)
    for s in range(7):
        assert leads_to(world, s, nothing) == {s: 0.2, s + 1: 0.8}
        assert leads_to(world, s, repair) == {s + 1: 0.3, 8: 0.6, 9: 0.1}
    assert [leads_to(world, s, nothing) for s in (7, 8, 9)] == [{7: 1.0}, {0: 0.8, 8: 0.2}, {9: 1.0}]
    assert [leads_to(world, s, repair) for s in (7, 8, 9)] == [{7: 0.3, 8: 0.6, 9: 0.1}, {8: 1.0}, {8: 0.6, 9: 0.4}]
    R = world.dense()[1]
    assert (R == [0, 0, 0, 0, 0, 0, 0, -20, -2, -10]).all()  # of the state reached, wherever the step began
    now = b.make_world("machine-replacement", rewards="current").dense()[1]
    assert (now == np.reshape([0, 0, 0, 0, 0, 0, 0, -20, -2, -10], (10, 1, 1))).all()
    assert (world.mdp.outcomes.start == 0.1).all()
    assert b.DirichletMDP.structured(world).alpha.sum() == 7 * 5 + 4 + 3 + 3


def test_inventory_binomial_is_worth_what_was_computed():
    optimal = b.solve(make_world("inventory-binomial"))
    assert optimal.values[0] == pytest.approx(12.74030, abs=5e-6)
    assert list(optimal.policy) == [4, 3, 2, 1, 0, 0]


def test_inventory_binomial_by_hand():
    world = make_world("inventory-binomial")
    q = 0.7**10  # nobody buys
    assert leads_to(world, 0, 0) == {0: 1.0}
    assert leads_to(world, 0, 1) == leads_to(world, 1, 0) == {0: round(1 - q, 12), 1: round(q, 12)}
    assert sum(leads_to(world, 2, 5).values()) == pytest.approx(1.0)
    assert leads_to(world, 2, 5) == leads_to(world, 5, 0) == leads_to(world, 3, 2)  # orders stop at the capacity
    R = world.dense()[1]
    assert R[2, 5, 1] == 4 * 1.5 - 3.0  # three units fit and are paid for, four are sold
    assert R[5, 5, 5] == 0.0
    assert R[1, 2, 0] == 3 * 1.5 - 2.0
    mean = world.mdp.mean_reward[1, 3]  # - order + 1.5 E min(demand, 4), demand Binomial(10, .3)
    demand = [0.0282475249, 0.121060821, 0.2334744405, 0.266827932]
    sold = np.dot(demand, range(4)) + 4 * (1 - sum(demand))
    assert mean == pytest.approx(1.5 * sold - 3.0, abs=1e-9)


def test_days_with_the_same_stock_after_delivery_are_tied():
    prior = b.DirichletMDP.structured(make_world("inventory-binomial"))
    assert prior.alpha.shape == (6, 6)
    belief = prior.update_many({"state": [0, 1], "action": [3, 2], "reward": [0.0, 2.5], "next_state": [1, 0]})
    assert belief.alpha[3].tolist() == [1, 1, 2, 2, 0, 0]
    assert (belief.alpha[[0, 1, 2, 4, 5]] == prior.alpha[[0, 1, 2, 4, 5]]).all()


@pytest.mark.parametrize("capacity", [1, 12])
def test_other_capacities(capacity):
    world = b.make_world("inventory-binomial", capacity=capacity)
    assert world.mdp.prob.shape == (capacity + 1, min(capacity, 10) + 1)  # at most ten customers
    assert world.mdp.prob.sum(axis=1) == pytest.approx(1.0)
    assert (world.mdp.prob[world.mdp.outcomes.valid] > 0.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_samples_match_probabilities(name):
    """10000 uniformly random pairs against their rows, chi-square pooled by probability: false alarm 1e-4 per world."""
    world, rng = make_world(name), np.random.default_rng(7)
    P, R = world.dense()
    S, A, n = world.n_states, world.n_actions, 10_000
    seen = np.zeros_like(P)
    for s, a in zip(rng.integers(S, size=n).tolist(), rng.integers(A, size=n).tolist(), strict=True):
        step = world.step(s, a, rng)
        assert step.reward == R[s, a, step.state]
        seen[s, a, step.state] += 1
    assert (seen[P == 0] == 0).all()
    levels = P.round(9)
    expected = [(seen.sum(2, keepdims=True) * P)[levels == p].sum() for p in np.unique(levels[P > 0])]
    counted = [seen[levels == p].sum() for p in np.unique(levels[P > 0])]
    assert chisquare(counted, expected).pvalue > 1e-4


@pytest.mark.parametrize(
    "name, arguments, sentence",
    [
        ("machine-replacement", {"rewards": "both"}, "'rewards' must be one of reached, current, got 'both'."),
        ("machine-replacement", {"rewards": None}, "'rewards' must be one of reached, current, got None."),
        ("machine-replacement", {"gamma": 1.2}, "'gamma' must be in [0, 1], got 1.2."),
        ("inventory-binomial", {"capacity": 0}, "'capacity' must be a whole number of at least 1 and at most 200,"),
        ("inventory-binomial", {"capacity": 2.5}, "'capacity' must be a whole number of at least 1 and at most 200,"),
        ("inventory-binomial", {"gamma": float("nan")}, "'gamma' must be"),
    ],
)
def test_bad_arguments(name, arguments, sentence):
    with pytest.raises(InvalidArgument) as caught:
        b.make_world(name, **arguments)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name, given, steps, start, actions, layout",
    [
        ("inventory", {"capacity": 3}, 60, 0, [f"order {n}" for n in range(4)], None),
        ("inventory", {"capacity": 1}, 60, 0, ["order 0", "order 1"], None),
        ("inventory-binomial", {"capacity": 3}, 60, 0, [f"order {n}" for n in range(4)], [[[0, 1, 2, 3]]]),
        ("inventory-binomial", {"capacity": 1}, 60, 0, ["order 0", "order 1"], [[[0, 1]]]),
        ("machine-repair", {}, 100, 0, ["maintain/repair", "nothing/replace"], None),
        (
            "machine-replacement", {}, 500, None, ["nothing", "repair"],
            [[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, -1, -1, -1, -1, -1, -1]]],
        ),
    ],
)  # fmt: skip
def test_how_worlds_are_run_and_shown(name, given, steps, start, actions, layout):
    """The length of a run, the prior, the first state, the names of the actions and the map."""
    world = b.make_world(name, **given)
    assert (world.steps, world.prior, list(world.actions)) == (steps, "structured:1", actions)
    first = np.full(10, 0.1) if start is None else np.eye(world.n_states)[start]
    np.testing.assert_array_equal(world.mdp.outcomes.start, first)
    assert (world.layout if layout is None else world.layout.tolist()) == layout


@pytest.mark.parametrize(
    "name, pays",
    [
        ("inventory", lambda s, a, y: 2.1 * max(min(s + a, 4) - y, 0) - a - 0.05 * y),
        ("inventory-binomial", lambda s, a, y: 1.5 * max(min(s + a, 4) - y, 0) - (min(s + a, 4) - s)),
    ],
)
def test_rewards_of_a_flat_prior(name, pays):
    """It lists every next stock, also those that cannot be left over: then nothing was sold."""
    prior = b.DirichletMDP.flat(b.make_world(name, capacity=4))
    expected = [[[pays(s, a, y) for y in range(5)] for a in range(5)] for s in range(5)]
    np.testing.assert_allclose(prior.outcomes.rewards(), expected, atol=1e-12)
