"""Plots: the densities drawn are the belief's, and every kind of belief about arms can be drawn."""

import numpy as np
import pytest
from scipy import integrate, stats

import bayesrl as b
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.posteriors import densities, plot_posteriors, plot_regret

BETAS = BetaBernoulli(np.array([3.0, 1.0, 80.0]), np.array([2.0, 20.0, 400.0]))
PNG = b"\x89PNG"


def test_densities_are_those_of_the_belief():
    x, height, ends, top = densities(BETAS)
    for a in range(3):
        exact = stats.beta.pdf(x[a], BETAS.alpha[a], BETAS.beta[a])
        np.testing.assert_allclose(height[a], exact, rtol=0.01, atol=0.01 * exact.max())
        np.testing.assert_allclose(integrate.trapezoid(height[a], x[a]), 1.0, atol=0.01)
    np.testing.assert_allclose(ends, stats.beta.ppf([[0.025], [0.975]], BETAS.alpha, BETAS.beta))
    assert top > 1.05 * height.max()  # nothing is cut off here
    spiky = densities(BetaBernoulli(np.array([0.2]), np.array([0.2])))
    assert spiky[3] < spiky[1].max()


def test_a_belief_of_finitely_many_values_is_a_histogram():
    x, height, ends, _ = densities(FiniteModels.two([0.5, 0.8], [0.5, 0.3], 0.2))
    np.testing.assert_allclose([integrate.trapezoid(h, y) for h, y in zip(height, x, strict=True)], 1.0)
    np.testing.assert_allclose(ends, [[0.5, 0.3], [0.5, 0.8]])


@pytest.mark.parametrize(
    "belief, context",
    [
        (BETAS, None),
        (SemiBandit(BETAS), None),
        (NormalGammaArm.weak(3), None),
        (LinearGaussianArms.isotropic(2), np.eye(2)),
        (LogisticArms.isotropic(2, features=np.ones((2, 3, 2))), 1),
        (FiniteModels.two([0.5, 0.8], [0.5, 0.8], 0.5), None),
        (BetaBernoulli.uniform(9), None),
    ],
)
def test_beliefs_are_drawn(belief, context, tmp_path):
    plot_posteriors(belief, tmp_path / "p.png", context=context, title="What is believed")
    assert (tmp_path / "p.png").read_bytes().startswith(PNG)


def test_regrets_are_drawn(tmp_path):
    world = b.make_world("online-shop")
    agents = {name: b.BayesAgent(world.default_prior(), b.make(name)) for name in ("thompson", "ucb1")}
    regrets = b.compare(agents, world, 20, 3).regret(world)
    plot_regret(regrets, tmp_path / "r.svg", title="The online shop")
    text = (tmp_path / "r.svg").read_text()
    assert text.startswith("<?xml")
    plot_regret(regrets, tmp_path / "r.png")
    assert (tmp_path / "r.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda: plot_posteriors(BETAS, "x.png", names=["a", "b"]),
            "plot_posteriors: 'names' must be 3 of them, one for each arm, got ['a', 'b'].",
        ),
        (
            lambda: plot_posteriors(BETAS.batch(2), "x.png"),
            "plot_posteriors: 'belief' must be of a single experiment, got an array of shape (2, 3).",
        ),
        (
            lambda: plot_posteriors(BETAS, "x.doc"),
            "plot_posteriors: 'path' must be a file that ends in .png, .pdf or .svg, got 'x.doc'.",
        ),
        (
            lambda: plot_posteriors(BETAS, "no/such/place.png"),
            "plot_posteriors: 'path' must be a file that can be written, got 'no/such/place.png'. "
            "No such file or directory: make the folder first.",
        ),
        (lambda: plot_regret({}, "x.png"), "plot_regret: 'regrets' must be of at least one method, got {}."),
    ],
)
def test_refusals(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument) as error:
        call()
    assert str(error.value) == sentence
    assert list(tmp_path.iterdir()) == []
