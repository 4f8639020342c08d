"""Plots of hidden trajectories: what is drawn is what the belief says, read off the artists."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs.covariances import Gaussian
from bayesrl.continuous import GPPOMDP
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.trajectories import plot_trajectory, trajectory_sheet

K = Gaussian(scale=2.0, variance=0.1)


@pytest.fixture(scope="module")
def belief():
    prior = GPPOMDP(K, K, 0.1, 0.2, "state", "state", ([0.0, 1.0], np.eye(2)), particles=50)
    steps = [Transition([0.1, 0.9], 1.0, 0.0, [0.3, 1.2]), Transition(None, 0.0, 0.0, [0.2, 1.4])]
    return prior.update_many(steps, default_rng(0))


def test_the_band_is_that_of_the_belief(belief, tmp_path):
    real, best, z = np.ones((3, 2)), np.zeros((3, 2)), np.array([0.9, 1.2, 1.4])
    sheet = trajectory_sheet(belief, real, {1: z}, best, names=("height", "speed"), level=0.9)
    mean, covariance = belief.path_moments()
    for i, axes in enumerate(sheet.axes):
        lines = {line.get_gid(): line.get_ydata() for line in axes.lines}
        np.testing.assert_allclose(lines["mean"], mean[:, i])
        np.testing.assert_allclose(lines["real"], real[:, i])
        np.testing.assert_allclose(lines["best"], best[:, i])
        assert ("seen" in lines) == (i == 1)
        reach = 1.644854 * np.sqrt(covariance[:, i, i])
        drawn = axes.collections[0].get_paths()[0].vertices[:, 1]
        assert drawn.min() == pytest.approx((mean[:, i] - reach).min(), abs=1e-6)
        assert drawn.max() == pytest.approx((mean[:, i] + reach).max(), abs=1e-6)
    np.testing.assert_allclose(lines["seen"], z)
    plot_trajectory(belief, tmp_path / "hidden.png")
    assert (tmp_path / "hidden.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "bad", [{"real": np.ones((2, 2))}, {"names": ["one"]}, {"seen": {2: np.ones(3)}}, {"level": 1.0}]
)
def test_what_does_not_fit_is_refused(bad, belief):
    with pytest.raises(InvalidArgument, match="plot_trajectory: "):
        trajectory_sheet(belief, **bad)
