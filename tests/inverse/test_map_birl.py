"""map-birl against finite differences, enumerated lattices and planted rewards."""

import numpy as np
import pytest
from plain_inverse import DEMONSTRATION, lattice, line
from plain_inverse import log_likelihood as plain_log_likelihood

import bayesrl as b
from bayesrl.errors import BayesRLError, Incompatible
from bayesrl.inverse import BIRL, FinitePrior, GaussianPrior, LaplacePrior, UniformPrior, demonstrate, value_loss
from bayesrl.inverse.map_birl import LinearMaps, Posterior

MANY = [(0, 1), (1, 0), (2, 1), (1, 1), (2, 0), (0, 1), (0, 0), (2, 1)]


def posterior(prior, pairs=DEMONSTRATION, rationality=1.0):
    belief = BIRL(line(), reward_prior=prior, rationality=rationality).update_many(pairs)
    return belief, Posterior(belief.rewards, belief.demonstrations, prior, rationality)


@pytest.fixture(scope="module")
def grid():
    """A grid of 16 states with an optimal expert."""
    world, rng = b.make_world("gridworld-blocks", size=4), np.random.default_rng(1)
    demos = demonstrate(world, world.features @ world.weights, 6, 20, rng)
    return world, BIRL(world, features=world.features, rationality=3.0).update_many(demos)


@pytest.mark.parametrize("prior", [UniformPrior(-1, 1), GaussianPrior(0.2, 0.7), LaplacePrior()])
def test_values_and_gradients_equal_finite_differences(prior):
    """Values: value iteration. Gradients: differences, at points of general position, where the policy is unique."""
    belief, at = posterior(prior, MANY, 2.0)
    P, rng = line().dense()[0], np.random.default_rng(0)
    for _ in range(5):
        w = rng.uniform(-0.9, 0.9, 3)
        value, g = at(w)
        plain = plain_log_likelihood(P, np.repeat(w, 2).reshape(3, 2), 0.9, MANY, 2.0) + prior.log_density(w)
        np.testing.assert_allclose([value, belief.log_posterior(w)], plain, atol=1e-9)
        differences = [(at.value(w + 1e-5 * e) - at.value(w - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
        np.testing.assert_allclose(g, differences, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(g, belief.gradient(w), atol=1e-8)


def test_gradients_with_features_of_blocks(grid):
    world, belief = grid
    at = Posterior(belief.rewards, belief.demonstrations, belief.reward_prior, 3.0)
    for w in np.random.default_rng(3).uniform(-1, 1, (4, 4)):
        differences = [(at.value(w + 1e-6 * e) - at.value(w - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
        np.testing.assert_allclose(at(w)[1], differences, rtol=1e-5, atol=1e-5)
    assert world.features.shape == (16, 4)


def test_maps_are_kept_and_used_while_their_policy_is_optimal(grid, monkeypatch):
    """Weights of one cone need one linear system; a policy that comes back needs none; the oldest is dropped."""
    maps = LinearMaps(grid[1].rewards)
    solved = []
    factors = type(maps.rewards).factors
    monkeypatch.setattr(type(maps.rewards), "factors", lambda self, pi: solved.append(1) or factors(self, pi))
    w = np.array([0.3, -0.2, 0.1, 1.0])
    first, Q = maps.at(w)
    n = len(solved)
    np.testing.assert_allclose(maps.at(2.0 * w)[1], 2.0 * Q)
    assert len(solved) == n
    other, _ = maps.at(-w)
    maps.at(w)
    maps.at(-w)
    n = len(solved)
    maps.at(w)
    maps.at(-w)
    assert len(solved) == n
    assert (first != other).any()
    monkeypatch.setattr("bayesrl.inverse.map_birl.KEPT", 64)  # one map of 16 by 4
    np.testing.assert_allclose(maps.at(w)[1], Q, atol=1e-12)
    maps.at(np.array([1.0, 0.1, 0.0, 0.0]))
    assert len(maps.kept) == 1


@pytest.fixture(scope="module")
def enumerated():
    """2197 points and the log likelihood of each."""
    _, at = posterior(UniformPrior(-1, 1), MANY, 3.0)
    points = lattice(np.linspace(-1, 1, 13))
    return points, [at.value(w) + 3.0 * np.log(2.0) for w in points]


@pytest.mark.parametrize("prior", [UniformPrior(-1, 1), GaussianPrior(0.0, 0.3), LaplacePrior()])
def test_no_point_of_a_lattice_is_better(prior, enumerated):
    """By enumeration; and the trace never falls."""
    belief, _ = posterior(prior, MANY, 3.0)
    found = b.make("map-birl", restarts=4).solve(belief, np.random.default_rng(0))
    best = max(prior.log_density(w) + likelihood for w, likelihood in zip(*enumerated, strict=True))
    assert found.log_posterior >= best - 1e-8
    np.testing.assert_allclose(found.log_posterior, belief.log_posterior(found.weights), atol=1e-8)
    assert (np.diff(found.trace) >= 0.0).all()
    assert found.trace[-1] == found.log_posterior
    assert found.trace[0] < found.trace[-1]
    values = b.solve(belief.rewards.model(found.weights)).values
    np.testing.assert_allclose(b.models.evaluate_policy(belief.rewards.model(found.weights), found.policy), values)


def test_restarts_leave_local_maxima():
    """A posterior with two maxima, of which single starts find either."""
    rng = np.random.default_rng(2)
    pairs = np.stack([rng.integers(3, size=8), rng.integers(2, size=8)], axis=1)
    belief, _ = posterior(GaussianPrior(0.0, 0.3), pairs)
    one = [b.make("map-birl", restarts=1).solve(belief, np.random.default_rng(seed)) for seed in range(6)]
    alone = [x.log_posterior for x in one]
    assert max(alone) > min(alone) + 0.01
    found = b.make("map-birl", restarts=8).solve(belief, np.random.default_rng(0))
    assert found.log_posterior >= max(alone) - 1e-7


def test_one_action_says_nothing():
    """The log likelihood is 0 everywhere, and so is the log posterior with a box of width 1."""
    alone = b.TabularMDP.from_dense([[[0.0, 1.0]], [[1.0, 0.0]]], [0.0, 0.0], gamma=0.9)
    belief = b.inverse.BIRL(alone, reward_prior=b.inverse.UniformPrior(-0.5, 0.5)).update_many([(0, 0), (1, 0)])
    found = b.inverse.MAPBIRL(restarts=2).solve(belief, np.random.default_rng(0))
    assert found.log_posterior == 0.0
    assert found.policy.tolist() == [[1.0], [1.0]]
    several = b.inverse.DPMBIRL(alone, reward_prior=b.inverse.UniformPrior(-0.5, 0.5)).update_many([[(0, 0)], [(1, 0)]])
    kinds = b.inverse.EMIRL(clusters=2, restarts=1).solve(several, np.random.default_rng(0))
    assert kinds.log_likelihood == pytest.approx(0.0, abs=1e-12)


def test_finite_prior():
    """The best entry of the list: prior times likelihood, by value iteration."""
    weights = lattice([-1.0, -0.5, 0.0, 0.5, 1.0])
    p = np.random.default_rng(0).dirichlet(np.ones(len(weights)))
    belief = BIRL(line(), reward_prior=FinitePrior(weights, p)).update_many(DEMONSTRATION)
    found = b.make("map-birl", restarts=1).solve(belief, np.random.default_rng(0))
    P = line().dense()[0]
    joint = [plain_log_likelihood(P, np.repeat(w, 2).reshape(3, 2), 0.9, DEMONSTRATION, 1.0) for w in weights] + np.log(
        p
    )
    assert found.weights.tolist() == weights[np.argmax(joint)].tolist()
    np.testing.assert_allclose(found.log_posterior, max(joint), atol=1e-8)
    np.testing.assert_allclose(found.log_posterior - belief.log_evidence(), np.log(belief.posterior().max()), atol=1e-8)


def test_the_solution_is_a_planner(grid):
    world, belief = grid
    found = b.make("map-birl", restarts=2).solve(belief, np.random.default_rng(0))
    assert found.policy.shape == (16, 4)
    record = b.run(b.BayesAgent(belief, found), world, steps=5, seed=0)
    assert all(found.policy[s, a] == 1.0 for s, a in zip(record.observation, record.action, strict=True))
    again = b.make("map-birl", restarts=2).solve(belief, np.random.default_rng(0))
    assert again == found


def test_records_to_policy():
    """Ten trajectories of sixty steps on the 8 by 8 grid: less than a tenth of what random policies lose."""
    world, rng = b.make_world("gridworld-blocks"), np.random.default_rng(0)
    R = world.features @ world.weights
    demos = demonstrate(world, R, 10, 60, rng)
    belief = BIRL(world, features=world.features, rationality=10.0).update_many(demos)
    found = b.make("map-birl", restarts=3).solve(belief, rng)
    at_random = np.mean([value_loss(world, R, rng.integers(4, size=64)) for _ in range(20)])
    assert value_loss(world, R, found.policy) < 0.1 * at_random


def test_bad_input(grid):
    world, belief = grid
    rng = np.random.default_rng(0)
    for bad in ({"restarts": 0}, {"restarts": 1.5}, {"restarts": None}, {"steps": 0}, {"steps": "x"}):
        with pytest.raises(BayesRLError, match=next(iter(bad))):
            b.make("map-birl", **bad)
    solver = b.make("map-birl", restarts=1)
    with pytest.raises(BayesRLError, match="demonstrations"):
        solver.solve(BIRL(world, features=world.features), rng)
    for wrong in (None, world, b.DirichletMDP.flat(world), 3):
        with pytest.raises(Incompatible, match="demonstrations"):
            solver.solve(wrong, rng)
    for wrong in (None, 0, "x"):
        with pytest.raises(BayesRLError, match="rng"):
            solver.solve(belief, wrong)
