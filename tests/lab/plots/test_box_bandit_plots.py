"""The picture of a bandit on an interval."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import GPRegression
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.continuous import GPSparseSampling
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.box_bandit import box_bandit_sheet, plot_box_bandit

pytest.importorskip("matplotlib")
BELIEF = GPRegression(Gaussian(scale=0.2)).update_many(([0.1, 0.5], [0.3, 1.0]))


def test_the_band_is_the_posterior_and_the_line_the_decision(tmp_path):
    decision = GPSparseSampling(candidates=8, simulations=20).plan(BELIEF, 0, None, default_rng(0))
    axes = box_bandit_sheet(BELIEF, {"two": decision}, np.sin, level=0.9).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    x = lines["mean"].get_xdata()[:, None]
    np.testing.assert_allclose(lines["mean"].get_ydata(), BELIEF.mean(x))
    corners = axes.collections[0].get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(BELIEF.quantile(0.95, x).max())
    assert corners[:, 1].min() == pytest.approx(BELIEF.quantile(0.05, x).min())
    assert lines["next: two"].get_xdata()[0] == decision.action[0]
    np.testing.assert_array_equal(lines["rewards seen"].get_ydata(), [0.3, 1.0])
    plot_box_bandit(BELIEF, tmp_path / "bandit.png", {"two": decision})
    assert (tmp_path / "bandit.png").stat().st_size > 1000


def test_what_cannot_be_drawn_is_refused(tmp_path):
    plane = GPRegression(Gaussian()).update(([0.1, 0.2], 1.0))
    with pytest.raises(InvalidArgument, match=r"^plot_box_bandit: 'belief' must be one about actions of one"):
        box_bandit_sheet(plane)
    with pytest.raises(InvalidArgument, match=r"^plot_box_bandit: 'level' must be"):
        box_bandit_sheet(BELIEF, level=1.0)
    with pytest.raises(InvalidArgument, match=r"^plot_box_bandit: 'high' must be"):
        box_bandit_sheet(BELIEF, low=1.0, high=0.0)
