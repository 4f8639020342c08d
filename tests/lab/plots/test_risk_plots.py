"""Posterior returns of policies: the numbers against value_samples, the picture read off its artists, bad input."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binom

import bayesrl as b
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.lab.plots.risk import plot_values, values_sheet
from bayesrl.lab.risk import Assessment, assess, policies_for
from bayesrl.risk import value_samples
from bayesrl.risk.local_ascent import drawn, worth_and_gradient

WORLD = b.make_world("machine-replacement")
BELIEF = b.DirichletMDP.structured(WORLD, concentration=2.0)
WAIT, UNIFORM = np.zeros(10, int), np.full((10, 2), 0.5)


@pytest.fixture(scope="module")
def found():
    return assess(BELIEF, {"wait": WAIT, "toss": UNIFORM}, epsilon=0.1, samples=500, rng=default_rng(3))


def test_policies_are_assessed_on_common_models(found):
    for name, policy in (("wait", np.eye(2)[WAIT]), ("toss", UNIFORM)):
        returns = value_samples(BELIEF, policy, 500, default_rng(3)) @ np.full(10, 0.1)
        each = found[name]
        assert each.returns == pytest.approx(returns, abs=1e-12)
        assert each.mean == pytest.approx(returns.mean())
        assert each.quantile == pytest.approx(np.quantile(returns, 0.1))
        assert each.cvar == pytest.approx(np.sort(returns)[:50].mean())
        k = max(k for k in range(1, 51) if binom.sf(k - 1, 500, 0.1) >= 0.99)
        assert each.guarantee == np.sort(returns)[k - 1]
        assert each.cvar < each.guarantee < each.quantile < each.mean


def test_the_facts_of_machine_replacement():
    """Counts 10 P, optimal policy, uniform start: mean -6.170, CVaR at 10% -9.17, percentiles -8.85, -8.13 and -6.00.

    20000 draws here and there; they state theirs to .05. The tolerance is above four standard errors of each.
    """
    belief = b.DirichletMDP(WORLD.mdp.outcomes, 10.0 * WORLD.mdp.prob, 0.8)
    policies = {"nominal": b.solve(belief.mean_mdp()).policy}
    ten = assess(belief, policies, epsilon=0.1, rng=default_rng(0))["nominal"]
    assert (ten.mean, ten.quantile, ten.cvar) == pytest.approx((-6.170, -8.13, -9.17), abs=0.15)
    assert np.quantile(ten.returns, [0.05, 0.5]) == pytest.approx([-8.85, -6.00], abs=0.15)


def test_what_is_drawn_is_what_was_assessed(found):
    sheet = values_sheet(found, 0.1)
    assert [axes.get_ylabel() for axes in sheet.axes] == ["wait", "toss"]
    for axes, each in zip(sheet.axes, found.values(), strict=True):
        at = {line.get_linestyle(): line.get_xdata()[0] for line in axes.lines}
        assert at == {":": each.cvar, "--": each.quantile, "-": each.mean}
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels == [
            f"CVaR at 0.1 {each.cvar:.4g}",
            f"10% percentile {each.quantile:.4g}",
            f"mean {each.mean:.4g}",
        ]
        share = sum(bar.get_height() * bar.get_width() for bar in axes.patches)
        assert share == pytest.approx(1.0)  # nothing is left out
    assert sheet.axes[0].get_xlim() == sheet.axes[1].get_xlim()


def test_equal_returns_are_drawn():
    one = Assessment(1.0, 1.0, 1.0, 1.0, np.ones(5))
    low, high = values_sheet({"certain": one}, 0.5).axes[0].get_xlim()
    assert low < 1.0 < high


def test_a_picture_is_written_and_returned(tmp_path):
    solution = b.make("percentile", epsilon=0.1, restarts=2, samples=100).solve(BELIEF, default_rng(0))
    policies = {"best guess": b.solve(BELIEF.mean_mdp()).policy, "safe": solution}
    sheet = b.lab.plot_values(BELIEF, policies, tmp_path / "returns.svg", epsilon=0.1, samples=200, title="Machine")
    text = (tmp_path / "returns.svg").read_text()
    assert all(word in text for word in ("best guess", "safe", "Machine", "10% percentile"))
    again = plot_values(BELIEF, policies, epsilon=0.1, samples=200)
    assert [a.lines[0].get_xdata()[0] for a in again.axes] == [a.lines[0].get_xdata()[0] for a in sheet.axes]


@pytest.mark.parametrize("epsilon, least", [(0.01, 459), (0.5, 100)])
def test_enough_samples_for_a_rare_event(epsilon, least, monkeypatch):
    """The percentile's own guarantee needs ln .01 / ln(1 - epsilon) draws, and at least 100 are taken."""
    asked = {}
    nothing = SimpleNamespace(solve=lambda belief, rng: SimpleNamespace(policy=UNIFORM))
    monkeypatch.setattr("bayesrl.lab.risk.make", lambda name, **fields: asked.update({name: fields}) or nothing)
    found = policies_for(BELIEF, ("percentile",), epsilon, default_rng(0))
    assert asked == {"percentile": {"epsilon": epsilon, "samples": least}}
    assert found["percentile"] is UNIFORM


def test_each_criterion_is_best_at_what_it_maximises(monkeypatch):
    monkeypatch.setattr("bayesrl.lab.risk.MODELS", 400)  # fast
    belief = BELIEF.update_many(b.run(b.BayesAgent(BELIEF, b.make("random")), WORLD, 60, seed=1))
    policies = policies_for(belief, ("percentile", "max-min", "cvar", "mean"), 0.1, default_rng(0))
    assert list(policies) == ["nominal", "percentile", "max-min", "cvar", "mean"]
    models = drawn(belief, 2000, default_rng(5))  # fresh ones; the margin allows for the draws of the ascent
    for name, level in (("cvar", 0.1), ("mean", 1.0)):
        worth = {k: worth_and_gradient(mu, models, b.risk.Measure.cvar(level))[0] for k, mu in policies.items()}
        assert worth[name] >= max(worth.values()) - 0.15, worth


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"policies": {}}, "assess: 'policies' must be a mapping from names to policies, got {}."),
        ({"policies": [WAIT]}, "assess: 'policies' must be a mapping from names to policies"),
        ({"policies": {"a": UNIFORM[:9]}}, "assess: 'policy' must be an array of shape (10, 2)"),
        ({"policies": {"a": 0.9 * UNIFORM}}, "assess: 'policy' must be"),
        ({"policies": {"a": np.full(10, 2)}}, "assess: 'policy' must be"),
        ({"policies": {"a": np.nan * UNIFORM}}, "assess: 'policy' must be finite"),
        ({"epsilon": 0.0}, "assess: 'epsilon' must be in (0, 0.5], got 0.0."),
        ({"epsilon": 0.6}, "assess: 'epsilon' must be in (0, 0.5], got 0.6."),
        ({"epsilon": "5%"}, "assess: 'epsilon' must be"),
        ({"samples": 0}, "assess: 'samples' must be a whole number of at least 1, got 0."),
        ({"samples": 20}, "assess: 'samples' must be at least"),
        ({"belief": WORLD}, "assess: 'belief' must be a belief, got 'MDPWorld'."),
        (
            {"belief": b.DirichletMDP.structured(b.make_world("chain", gamma=1.0))},
            "assess: 'policy' must be",
        ),
    ],
)
def test_bad_input(change, sentence):
    given = {"belief": BELIEF, "policies": {"toss": UNIFORM}} | change
    with pytest.raises(InvalidArgument) as caught:
        plot_values(**given)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_belief_without_models_is_refused():
    with pytest.raises(Incompatible, match="sample_mdp"):
        plot_values(b.make_world("bernoulli").default_prior(), {"first": [0]})
