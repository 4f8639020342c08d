"""Reward maps and plots of chains: what they draw is what the belief says."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import diagnose
from bayesrl.errors import BayesRLError
from bayesrl.lab.plots.inverse import plot_chain, plot_reward_map

WORLD = b.make_world("gridworld-blocks")
MEAN, DEVIATION = np.linspace(-1.0, 0.5, 64), np.linspace(0.1, 0.6, 64)


class Known:
    """A belief about rewards of states."""

    def reward_table(self):
        return np.repeat(MEAN, 4).reshape(64, 4), np.repeat(DEVIATION, 4).reshape(64, 4)


def test_a_map_shows_mean_and_deviation_of_every_cell(tmp_path):
    sheet = plot_reward_map(WORLD, Known(), tmp_path / "map.png", title="driver")
    mean, deviation = (axes.images[0] for axes in sheet.axes[:2])
    np.testing.assert_allclose(mean.get_array(), MEAN.reshape(8, 8))
    np.testing.assert_allclose(deviation.get_array(), DEVIATION.reshape(8, 8))
    assert mean.get_clim() == (-1.0, 1.0)  # zero is white
    assert (tmp_path / "map.png").stat().st_size > 1000


def chain(x):
    return SimpleNamespace(samples=x, diagnostics=lambda: diagnose(x))


def test_a_chain_shows_its_worst_weights_and_their_ranks(tmp_path):
    x = default_rng(0).normal(size=(400, 3))
    x[:, 1] = np.cumsum(x[:, 1])  # hardly mixes
    sheet = plot_chain(chain(x), tmp_path / "chain.svg")
    trace, ranks = sheet.axes
    assert trace.get_legend_handles_labels()[1][0].startswith("1: ")
    np.testing.assert_allclose(trace.lines[0].get_ydata(), x[:, 1])
    counts = np.array([line.get_ydata()[:-1] for line in ranks.lines])
    assert counts.shape == (4, 20)
    assert (counts.sum(axis=1) == 100).all()
    assert (counts.sum(axis=0) == 20).all()  # every rank once
    assert "rank of weight 1" in (tmp_path / "chain.svg").read_text()


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: plot_reward_map(b.make_world("machine-repair"), Known()), "one with a map"),
        (lambda: plot_reward_map(b.make_world("gridworld-blocks", size=4), Known()), "16 states"),
        (lambda: plot_reward_map(WORLD, 3), "reward_table"),
        (lambda: plot_chain(3), "samples"),
        (lambda: plot_chain(chain(np.zeros((40, 2)))), "80 draws"),
        (lambda: plot_reward_map(WORLD, Known(), "map.txt"), "path"),
    ],
)
def test_refused(call, word):
    with pytest.raises(BayesRLError, match=word):
        call()
