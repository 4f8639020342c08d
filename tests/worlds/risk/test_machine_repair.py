"""The machine of Bertuccelli et al. The values were computed independently of this library."""

import numpy as np
import pytest

from bayesrl.models.solve import optimal_total, solve
from bayesrl.registry import make_world


def test_values():
    world = make_world("machine-repair")
    assert world.gamma == 0.9
    solution = solve(world)
    np.testing.assert_allclose(solution.q, [[328.0, 312.6], [308.0, 245.2]], atol=1e-8)
    assert solution.policy.tolist() == [0, 0]
    assert optimal_total(world, world.steps) == pytest.approx(world.optimum(), rel=1e-12)


def test_by_hand():
    world = make_world("machine-repair")
    P, R = world.dense()
    np.testing.assert_allclose(P, [[[0.6, 0.4], [0.3, 0.7]], [[0.6, 0.4], [1.0, 0.0]]], atol=1e-15)
    assert R.tolist() == [[[80.0, -20.0], [100.0, 0.0]], [[60.0, -40.0], [-50.0, -150.0]]]
    assert world.start == 0
    assert len(world.actions) == 2
