"""The inventory: computed values, and rows by hand."""

import numpy as np
import pytest
from scipy.stats import norm

import bayesrl as b
from bayesrl.errors import InvalidArgument
from bayesrl.models.solve import optimal_total, solve


def test_computed_values():
    # Computed independently of this library, for capacity 5.
    world = b.make_world("inventory", capacity=5)
    assert optimal_total(world, 2) == pytest.approx(4.62037, abs=5e-6)
    solved = solve(world)
    assert solved.q.argmax(axis=1).tolist() == [3, 2, 1, 0, 0, 0]
    assert solved.values[0] == pytest.approx(25.21389, abs=5e-6)


def test_rows_by_hand():
    world = b.make_world("inventory")
    assert (world.n_states, world.n_actions, world.start, world.gamma) == (30, 30, 0, 0.9)
    P, R = world.dense()
    demand = norm(14.5, 29 / 6)
    for s, a in ((0, 0), (3, 12), (29, 29), (10, 29)):
        x = min(s + a, 29)
        mass = np.append(np.diff(demand.cdf(np.arange(x + 1) - 0.5)), demand.sf(x - 0.5))
        np.testing.assert_allclose(P[s, a, : x + 1][::-1], mass / mass.sum(), atol=1e-12)
        assert not P[s, a, x + 1 :].any()
        for y in range(x + 1):
            assert R[s, a, y] == pytest.approx(2.1 * (x - y) - a - 0.05 * y)


def test_the_structured_prior_learns_sales():
    world = b.make_world("inventory", capacity=5)
    prior = b.DirichletMDP.structured(world)
    assert prior.outcomes.ambiguous is None
    after = prior.update(b.Transition(1, 3, 2.1 * 2 - 3 - 0.05 * 2, 2))  # four on the shelf, two sold
    assert after.alpha[world.mdp.group[1, 3]].tolist() == [1, 1, 2, 1, 1, 0]
    assert (after.alpha != prior.alpha).sum() == 1


@pytest.mark.parametrize(
    "given", [{"capacity": 0}, {"capacity": 2.5}, {"capacity": "5"}, {"capacity": 201}, {"gamma": 1.1}, {"gamma": None}]
)
def test_bad_input(given):
    with pytest.raises(InvalidArgument, match=f"inventory: '{next(iter(given))}' must be"):
        b.make_world("inventory", **given)
