"""Maps of stochastic policies: what is drawn is what the policy says, read off the artists."""

from types import SimpleNamespace

import numpy as np
import pytest

import bayesrl as b
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.explanation import ARROWS, _map, plan_of, plot_policy
from bayesrl.models.policy import TabularPolicy


def cells(world, policy):
    """The artists of the map of a policy, by kind: texts, and arrows from tail to head."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(8, 2)).subplots()
    _map(axes, world.layout[0], plan_of(world, policy), world.actions, (None, None))
    arrows = [t for t in axes.texts if getattr(t, "arrow_patch", None) is not None]
    return [t for t in axes.texts if t not in arrows], arrows


def test_names_have_their_probabilities():
    world = b.make_world("machine-replacement")
    mu = np.tile([1.0, 0.0], (10, 1))
    mu[5], mu[6], mu[7] = [0.243, 0.757], [0.001, 0.999], [0.5, 0.5]
    texts, arrows = cells(world, mu)
    said = [t.get_text() for t in texts if not t.get_text().isdigit()]
    assert said[5:8] == ["repair 76%\nnothing 24%", "repair", "nothing 50%\nrepair 50%"]
    assert said[:5] + said[8:] == ["nothing"] * 7
    assert not arrows
    assert texts[10].get_fontsize() < texts[0].get_fontsize()  # two lines must fit into a cell


def test_arrows_are_as_long_as_their_actions_are_probable():
    world = b.make_world("grid5")
    mu = np.tile([0.1, 0.2, 0.3, 0.4], (25, 1))
    mu[7] = [0.0, 1.0, 0.0, 0.0]
    _, arrows = cells(world, TabularPolicy(mu))
    assert len(arrows) == 24 * 4 + 1
    ways = np.array([np.subtract(a.xy, a.xyann) for a in arrows])
    lengths = np.abs(ways).sum(axis=1)
    assert lengths[:4] == pytest.approx(0.28 * 1.6 * np.array([0.4, 0.3, 0.2, 0.1]))  # the most probable first
    for way, name in zip(ways[:4], ("left", "up", "right", "down"), strict=True):
        assert way / np.abs(way).max() == pytest.approx(np.array(ARROWS[name]), abs=1e-9)


def test_values_are_those_of_the_mixture():
    world = b.make_world("machine-replacement")
    mu = np.full((10, 2), 0.5)
    P, R = world.dense()
    P_mu, r_mu = P.mean(axis=1), (P * R).sum(axis=2).mean(axis=1)
    assert plan_of(world, mu).values == pytest.approx(np.linalg.solve(np.eye(10) - 0.8 * P_mu, r_mu), abs=1e-8)


def test_a_solution_is_drawn(tmp_path):
    world = b.make_world("inventory-binomial")
    solution = SimpleNamespace(policy=np.full((6, 6), 1 / 6))
    plot_policy(world, tmp_path / "map.svg", solution)
    assert "order 3 17%" in (tmp_path / "map.svg").read_text()
    assert b.lab.plot_policy is plot_policy


@pytest.mark.parametrize("policy", [np.full((10, 2), 0.4), np.zeros(9, int), "repair", np.full((10, 2), np.nan)])
def test_bad_policies(policy, tmp_path):
    with pytest.raises(InvalidArgument, match=r"^plot_policy: 'policy' must be .*\.$"):
        plot_policy(b.make_world("machine-replacement"), tmp_path / "map.png", policy)
