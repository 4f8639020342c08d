"""`infer` by name gives what the same method gives if it is called directly."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.errors import BayesRLError
from bayesrl.inverse import (
    BIRL,
    BNIRL,
    DPMBIRL,
    EMIRL,
    MAPBIRL,
    GaussianPrior,
    ModifiedBIRL,
    MultitaskBIRL,
    demonstrate,
    value_loss,
)
from bayesrl.lab.inverse import SOLVERS, infer, uniform_loss

WORLD = b.make_world("gridworld-blocks", size=4, noise=0.1)
PHI = {"features": WORLD.features, "rationality": 5.0}
DEMOS = demonstrate(WORLD, WORLD.features @ WORLD.weights, 2, 12, default_rng(0))
WIDE = tuple(GaussianPrior(0.0, scale, -1.0, 1.0) for scale in (0.1, 0.5))  # the priors if none are given


def drawn(belief, weights):
    belief = belief.update_many(DEMOS).refresh(default_rng(1), 20)
    return belief, weights(belief)


def solved(belief, solver):
    found = solver.solve(belief.update_many(DEMOS), default_rng(1))
    return found, found.weights


DIRECT = {
    "birl": lambda: drawn(BIRL(WORLD, **PHI), lambda x: x.mean()),
    "modified-birl": lambda: drawn(ModifiedBIRL(WORLD, **PHI), lambda x: x.mean()),
    "bnirl": lambda: drawn(BNIRL(WORLD, rationality=5.0), lambda x: x.goal_posterior().mean(axis=0)),
    "dpm-birl": lambda: drawn(DPMBIRL(WORLD, **PHI), lambda x: x.means()),
    "multitask-birl": lambda: drawn(MultitaskBIRL(WORLD, priors=WIDE, **PHI), lambda x: x.means()),
    "map-birl": lambda: solved(BIRL(WORLD, **PHI), MAPBIRL(restarts=1)),
    "em-irl": lambda: solved(DPMBIRL(WORLD, **PHI), EMIRL(clusters=2, restarts=1)),
}


@pytest.mark.parametrize("method", DIRECT)
def test_a_name_stands_for_direct_calls(method):
    solver = {"map-birl": {"restarts": 1}, "em-irl": {"clusters": 2, "restarts": 1}}.get(method, {})
    found = infer(method, WORLD, DEMOS, {"rationality": 5.0, **solver}, 20, rng=default_rng(1))
    direct, weights = DIRECT[method]()
    assert found.posterior == direct or method in SOLVERS
    np.testing.assert_array_equal(found.weights, weights)
    score = {"birl": lambda: direct.log_posterior(weights), "map-birl": lambda: direct.log_posterior,
             "modified-birl": lambda: direct.log_posterior(weights),
             "em-irl": lambda: direct.log_likelihood}.get(method, lambda: None)()  # fmt: skip
    assert found.log_posterior == score
    rewards = [w if method == "bnirl" else WORLD.features @ w for w in np.atleast_2d(weights)]
    policies = found.policy if weights.ndim == 2 else [found.policy]
    assert max(value_loss(WORLD, R, p) for R, p in zip(rewards, policies, strict=True)) < 1e-8
    lost = [value_loss(WORLD, WORLD.mdp.mean_reward, p) for p in policies]
    assert found.value_loss == pytest.approx(np.mean(lost))


def test_features_are_given_or_the_worlds_or_those_of_states():
    """Of pairs, in the settings, and none: the policy is optimal for the weights and features that were used."""
    chain = b.make_world("chain")
    demos = demonstrate(chain, [0.0, 0.0, 0.0, 0.0, 1.0], 2, 12, default_rng(0))
    settings = {"restarts": 1, "rationality": 2.0}
    pairs = default_rng(2).normal(size=(5, 2, 3))
    for phi in (None, pairs, pairs[:, 0]):
        given = {} if phi is None else {"features": phi}
        found = infer("map-birl", chain, demos, settings | given, rng=default_rng(1))
        direct, weights = MAPBIRL(restarts=1).solve, BIRL(chain, features=phi, rationality=2.0).update_many(demos)
        np.testing.assert_array_equal(found.weights, direct(weights, default_rng(1)).weights)
        assert value_loss(chain, found.weights if phi is None else phi @ found.weights, found.policy) < 1e-8
    other = infer("map-birl", WORLD, DEMOS, settings | {"features": WORLD.features[:, :2]}, rng=default_rng(1))
    assert other.weights.shape == (2,)
    assert value_loss(WORLD, WORLD.features[:, :2] @ other.weights, other.policy) < 1e-8


def test_the_uniform_policy():
    mdp = WORLD.mdp
    V = np.linalg.solve(np.eye(16) - mdp.gamma * mdp.dense()[0].mean(axis=1), mdp.mean_reward.mean(axis=1))
    assert uniform_loss(WORLD) == pytest.approx(mdp.outcomes.start @ (b.solve(WORLD).values - V))


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: infer("psrl", WORLD, DEMOS, rng=default_rng(0)), "psrl"),
        (lambda: infer("birl", WORLD, DEMOS, {"problem": 3}, rng=default_rng(0)), "problem"),
        (lambda: infer("map-birl", WORLD, DEMOS, {"colour": 3}, rng=default_rng(0)), "colour"),
        (lambda: infer("birl", WORLD, DEMOS, sweeps=0, rng=default_rng(0)), "sweeps"),
        (lambda: infer("birl", WORLD, DEMOS, rng=3), "rng"),
        (lambda: infer("birl", b.make_world("tiger"), DEMOS, rng=default_rng(0)), "infer"),
        (
            lambda: uniform_loss(b.make_world("chain", gamma=1.0)),
            "uniform_loss: 'world' must be one whose episodes end",
        ),
    ],
)
def test_refused(call, word):
    with pytest.raises(BayesRLError, match=word):
        call()
