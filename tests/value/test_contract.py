"""Every name, signature, default and attribute of chapter 5 that users and checks rely on, as they are written down."""

import inspect
import json

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl import beliefs, gradient, value
from bayesrl.beliefs import covariances, features
from bayesrl.cli import main
from bayesrl.core import Transition

X = np.array([[0.0], [0.5], [2.0]])
END = Transition(0, 1, -1.0, 1, terminated=True)


def parameters(of):
    """Names and defaults in their order; `...` where there is none."""
    found = inspect.signature(of).parameters.values()
    return [(p.name, ... if p.default is p.empty else p.default) for p in found]


COVARIANCES = {
    "Gaussian": [("scale", 1.0), ("variance", 1.0)],
    "Matern": [("smoothness", 1.5), ("scale", 1.0), ("variance", 1.0)],
    "Polynomial": [("degree", 2), ("offset", 1.0), ("variance", 1.0)],
    "Linear": [("variance", 1.0)],
    "Discrete": [("variance", 1.0)],
    "Direction": [("b", 0.1)],
    "Fisher": [("information", ...), ("degree", 1)],
    "StateAction": [("state", ...), ("action", ...), ("dims", ...)],
}
BELIEFS = {
    "GPRegression": [("covariance", ...), ("noise", 0.1)],
    "BayesianLinearRegression": [("features", ...), ("noise", 0.1), ("prior_variance", 1.0)],
    "GPTD": [("covariance", ...), ("noise", 0.3), ("gamma", 0.9)],
    "WhiteGPTD": [("covariance", ...), ("noise", 0.3), ("gamma", 0.9)],
    "SparseGPTD": [("covariance", ...), ("noise", 0.3), ("gamma", 0.9), ("threshold", 0.1)],
    "ParametricGPTD": [("features", ...), ("noise", 1.0), ("gamma", 0.99), ("prior_variance", 1.0)],
    "LambdaGPTD": [("features", ...), ("lam", ...), ("noise", ...), ("gamma", ...), ("prior_variance", ...)],
    "LSTD": [("features", ...), ("lam", 0.0), ("gamma", 0.99), ("ridge", 0.0)],
    "KernelSelection": [("candidates", ...), ("weights", None), ("noise", 1.0), ("gamma", 0.99), ("threshold", None)],
}
VALUE = {
    "GPSARSA": [
        ("actions", ...), ("covariance", ...), ("noise", 1.0), ("gamma", 0.99), ("threshold", 0.1),
        ("choose", "epsilon"), ("epsilon", 0.1), ("half_life", None), ("bonus", 1.0), ("residuals", "coloured"),
        ("candidates", 32),
    ],
    "GPRL": [
        ("support", ...), ("actions", ...), ("target", ...), ("width", ...), ("gamma", ...), ("dynamics", ...),
        ("noise", ...), ("covariance", ...), ("mean", "state"), ("jitter", 1e-6), ("fit", True),
    ],
}  # fmt: skip
GRADIENT = {
    "bayesian_quadrature": [
        ("points", ...), ("values", ...), ("covariance", ...), ("measure", ...), ("noise", 0.0), ("prior_mean", 0.0),
    ],
    "GaussianMeasure": [("mean", ...), ("covariance", ...)],
    "UniformMeasure": [("low", ...), ("high", ...)],
    "GaussianPolicy": [("features", ...), ("theta", ...), ("sigma", 1.0), ("learn_sigma", False)],
    "bpg": [
        ("scores", ...), ("returns", ...), ("information", ...), ("model", 1), ("noise", 0.1), ("offset", 0.0),
    ],
    "bpg_hessian": [("scores", ...), ("hessians", ...), ("returns", ...), ("information", ...), ("noise", 0.1)],
    "bac": [
        ("transitions", ...), ("policy", ...), ("information", ...), ("covariance", ...), ("noise", 1.0),
        ("gamma", 0.99), ("threshold", None),
    ],
    "fisher_information": [("transitions", ...), ("policy", ...), ("unit", "pairs"), ("gamma", 1.0)],
    "reinforce_gradient": [("transitions", ...), ("policy", ...), ("gamma", 1.0), ("baseline", False)],
    "gpomdp_gradient": [("transitions", ...), ("policy", ...), ("gamma", 1.0), ("trace", 1.0)],
}  # fmt: skip
EVERY = [(module, name, *one) for module, told in (
    (covariances, COVARIANCES), (beliefs, BELIEFS), (value, VALUE), (gradient, GRADIENT),
) for name, one in zip(told, ([given] for given in told.values()), strict=True)]  # fmt: skip


@pytest.mark.parametrize("module, name, expected", EVERY, ids=[f"{m.__name__}.{n}" for m, n, _ in EVERY])
def test_signatures(module, name, expected):
    """The listed parameters come first and in this order, with these defaults; `...`: any default."""
    found = parameters(getattr(module, name))
    assert [one for one, _ in found[: len(expected)]] == [one for one, _ in expected]
    for (one, default), (_, given) in zip(expected, found, strict=False):
        assert default is ... or given == default, one
    assert all(given is not ... for _, given in found[len(expected) :])  # what is not listed may be left out


def test_names_of_packages():
    for name in ("GPTD", "WhiteGPTD", "SparseGPTD", "ParametricGPTD", "LambdaGPTD", "LSTD", "KernelSelection"):
        assert getattr(value, name) is getattr(beliefs, name)
    assert parameters(features.RBF)[:2] == [("centres", ...), ("scale", 1.0)]
    assert parameters(features.Tabular) == [("n", ...)]
    assert parameters(gradient.SoftmaxPolicy.tabular) == [
        ("n_states", ...), ("n_actions", ...), ("theta", None), ("temperature", 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize("name", COVARIANCES)
def test_covariances(name):
    made = {
        "Direction": lambda: covariances.Direction(),
        "Fisher": lambda: covariances.Fisher(np.eye(2)),
        "StateAction": lambda: covariances.StateAction(covariances.Gaussian(), covariances.Discrete(), dims=1),
    }
    k = made.get(name, getattr(covariances, name))()
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    assert k(rows, rows[:2]).shape == (3, 2)
    np.testing.assert_allclose(k.diagonal(rows), np.diagonal(k(rows, rows)))
    np.testing.assert_allclose((k + k)(rows, rows), 2.0 * k(rows, rows))
    np.testing.assert_allclose((k * k)(rows, rows), k(rows, rows) ** 2)


def test_expectations_of_a_gaussian():
    k = covariances.Gaussian(scale=[1.0, 2.0], variance=3.0)
    mean, S, Z = np.array([0.1, -0.2]), np.array([[0.5, 0.1], [0.1, 0.3]]), np.array([[0.0, 1.0], [2.0, 0.0]])
    L = np.diag([1.0, 4.0])
    d = Z - mean
    by_hand = 3.0 / np.sqrt(np.linalg.det(np.eye(2) + S @ np.linalg.inv(L)))
    by_hand = by_hand * np.exp(-0.5 * np.einsum("ij,jk,ik->i", d, np.linalg.inv(L + S), d))
    np.testing.assert_allclose(k.expectation(mean, S, Z), by_hand, rtol=1e-12)
    twice = 3.0 / np.sqrt(np.linalg.det(np.eye(2) + 2.0 * S @ np.linalg.inv(L)))
    np.testing.assert_allclose(k.double_expectation(mean, S), twice, rtol=1e-12)


def test_regression():
    gp = beliefs.GPRegression(covariances.Gaussian()).update((0.3, 1.0)).update_many((X, [0.0, 1.0, 2.0]))
    gp = gp.update_linear(X, np.ones((1, 3)), [3.0], np.array([[0.1]]))
    linear = beliefs.BayesianLinearRegression(features.RBF(X, scale=1.0)).update_many((X, [0.0, 1.0, 2.0]))
    for belief in (gp, gp.fit(default_rng(0)), linear, linear.fit(default_rng(0))):
        answers(belief)


def answers(belief, at=X):
    """Everything that a posterior of functions says."""
    n = len(at)
    assert belief.mean(at).shape == belief.variance(at).shape == belief.quantile(0.9, at).shape == (n,)
    assert belief.covariance(at).shape == (n, n)
    assert belief.sample(at, default_rng(0)).shape == (1, n)
    assert belief.sample(at, default_rng(0), draws=4).shape == (4, n)
    assert np.isfinite(belief.log_evidence())


VALUES = {
    "GPTD": lambda: value.GPTD(covariance=b.beliefs.covariances.Gaussian(scale=1.0), noise=0.3, gamma=0.9),
    "noise of states": lambda: value.GPTD(noise=lambda states: 0.1 + np.abs(np.asarray(states)[:, 0])),
    "WhiteGPTD": lambda: value.WhiteGPTD(covariance=covariances.Gaussian(scale=1.0), noise=0.3, gamma=0.9),
    "SparseGPTD": lambda: value.SparseGPTD(covariances.Gaussian(scale=1.0), noise=0.3, gamma=0.9, threshold=0.1),
    "ParametricGPTD": lambda: value.ParametricGPTD(features=features.RBF(X, scale=1.0)),
    "LambdaGPTD": lambda: value.LambdaGPTD(features.RBF(X, 1.0), 0.5, 1.0, 0.9, 1.0),
    "KernelSelection": lambda: value.KernelSelection([covariances.Gaussian(), covariances.Gaussian(scale=3.0)]),
}


@pytest.mark.parametrize("name", VALUES)
def test_beliefs_about_values(name):
    belief = VALUES[name]()
    answers(belief.update_many((X, [1.0, 2.0])))
    answers(belief.update(Transition(0.5, None, 1.0, 2.0)).restart().update(Transition(0.1, 0, 1.0, 9.0, True)))
    log = [Transition([0.0], 0, 1.0, [0.5]), Transition([0.5], 0, 1.0, [0.0], truncated=True)]
    found = belief.update_many(log)
    answers(found)
    if name == "SparseGPTD":
        assert found.dictionary.shape[1] == 1
    if name == "KernelSelection":
        assert found.weights.shape == (2,)
        assert found.weights.sum() == pytest.approx(1.0)


def test_the_default_prior_is_the_gaussian():
    for make in (value.GPTD, value.WhiteGPTD, value.SparseGPTD):
        assert make().prior_covariance == covariances.Gaussian(scale=1.0)
        assert (make().noise, make().gamma) == (0.3, 0.9)


def test_lstd():
    found = value.LSTD(features.Tabular(2)).update_many([END, Transition(1, 0, 2.0, 0, terminated=True)])
    assert found.weights.tolist() == [-1.0, 2.0]
    assert found.mean([1, 0]).tolist() == [2.0, -1.0]


def test_gpsarsa():
    k = covariances.StateAction(covariances.Gaussian(), covariances.Gaussian(), dims=1)
    listed = value.GPSARSA([[-1.0], [0.0], [1.0]], k, 1.0, 0.99, 0.1, "epsilon", 0.1, None, 1.0, "coloured", 32)
    decision = listed.act(listed.start(), 0.2, default_rng(0))
    assert decision.action in (0, 1, 2)
    assert decision.info["q"].shape == (3,)

    class Box:
        low, high = np.array([-1.0]), np.array([1.0])

    decision = (box := value.GPSARSA(Box(), k)).act(box.start(), 0.2, default_rng(0))
    assert np.shape(decision.action) == (1,)
    assert abs(float(decision.action[0])) <= 1.0


def test_gprl():
    rng = default_rng(0)
    drawn = zip(rng.uniform(-1.0, 1.0, 30), rng.choice([-0.5, 0.5], 30), strict=True)
    log = [Transition([x], [a], 0.0, [x + a]) for x, a in drawn]
    solver = value.GPRL(
        np.linspace(-1.0, 1.0, 9), [[-0.5], [0.5]], [0.5], 0.3, 0.5, covariances.Gaussian(scale=[1.0, 1.0]), 0.05,
        covariances.Gaussian(scale=0.4), mean="state", jitter=1e-4, fit=False,
    )  # fmt: skip
    found = solver.solve(log, rng)
    assert found.values.shape == (9,)
    assert found.policy.shape == (9,)
    assert set(found.policy.tolist()) == {0, 1}


def test_quadrature():
    points, k = np.array([[0.0], [1.0]]), covariances.Gaussian()
    measures = gradient.GaussianMeasure([0.0], [[1.0]]), gradient.UniformMeasure([-1.0], [1.0])
    for measure in measures:
        found = gradient.bayesian_quadrature(points, [1.0, 2.0], k, measure)
        assert found.weights.shape == (2,)
        assert found.mean == pytest.approx(found.weights @ [1.0, 2.0])
        assert 0.0 < found.variance < 1.0


def test_policies():
    softmax = gradient.SoftmaxPolicy.tabular(2, 3, theta=np.arange(6.0), temperature=2.0)
    p = np.exp(np.arange(3.0, 6.0) / 2.0)
    np.testing.assert_allclose(np.exp(softmax.log_prob(1, 0)), p[0] / p.sum())
    normal = gradient.GaussianPolicy(features.Polynomial(degree=1), [0.5, 1.0], sigma=2.0, learn_sigma=True)
    for policy, state, n in ((softmax, 1, 6), (normal, 0.3, 3)):
        action = policy.sample(state, default_rng(0))
        assert np.isfinite(policy.log_prob(state, action))
        assert policy.score(state, action).shape == (n,)
        assert policy.hessian(state, action).shape == (n, n)


def test_gradients():
    policy = gradient.SoftmaxPolicy.tabular(2, 2)
    log = [Transition(0, 1, 1.0, 1), Transition(1, 0, 2.0, 0, terminated=True), END]
    G = gradient.fisher_information(log, policy)
    U, H = np.array([[1.0, -1.0], [-1.0, 1.0], [0.5, 1.0]]), np.zeros((3, 2, 2))
    rho, I2 = np.array([1.0, 2.0, 3.0]), np.eye(2)
    for found, n in (
        (gradient.bpg(U, rho, I2), 2),
        (gradient.bpg(U, rho, I2, model=2, noise=0.1, offset="mean"), 2),
        (gradient.bac(log, policy, G, covariances.Discrete()), 4),
    ):
        assert found.mean.shape == found.natural.shape == (n,)
        assert found.covariance.shape == (n, n)
    centred = gradient.bpg(U, rho - 2.0, I2)
    np.testing.assert_allclose(gradient.bpg(U, rho, I2, offset="mean").mean, centred.mean)
    curved = gradient.bpg_hessian(U, H, rho, I2, noise=0.1)
    assert curved.mean.shape == (2, 2)
    assert curved.variance > 0.0
    assert gradient.reinforce_gradient(log, policy, gamma=1.0, baseline=True).shape == (4,)
    assert gradient.gpomdp_gradient(log, policy, gamma=1.0, trace=1.0).shape == (4,)


PATHS = {"paths": 10, "noise": 0.1, "rate": 0.3, "direction": "natural", "length": "fisher", "unit": "steps"}
PATHS |= {"decay": 0.9, "threshold": 0.0}
AGENTS = {
    "bpg-1": PATHS,
    "bpg-2": PATHS,
    "bpg-hessian": {"damping": 1e-3, "radius": 1.0},
    "bac": {"episodes": 5, "noise": 3.0, "rate": 0.1, "direction": "natural", "length": "fixed"},
}


@pytest.mark.parametrize("name", AGENTS)
def test_agents(name):
    """The written values are the defaults."""
    agent = b.make(name, **AGENTS[name])
    assert agent == b.make(name)
    for one, given in AGENTS[name].items():
        assert getattr(agent, one) == given


@pytest.mark.parametrize("method, world", [("bac", "random-walk"), ("gpsarsa", "mountain-car")])
def test_the_command_line(method, world, capsys):
    assert main(["run", method, world, "--json", "--steps", "800", "--runs", "2", "--workers", "1"]) == 0
    said = json.loads(capsys.readouterr().out)
    for name in ("episodes", "final_return"):
        assert set(said[name]) >= {"mean", "low", "high", "n"}
        assert said[name]["n"] == 2
    assert -1000.0 <= said["final_return"]["mean"] < 0.0
