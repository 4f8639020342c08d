"""Plots of predicted paths: what is drawn is what the belief says, read off the artists."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs.covariances import Gaussian
from bayesrl.continuous import GPDynamics
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.paths import paths_sheet, plot_paths

STEPS = [Transition([x, 0.1 * x], [0.5], 0.0, [0.9 * x, 0.2]) for x in (-1.0, 0.0, 1.0)]


@pytest.fixture(scope="module")
def predicted():
    """A path of moments and one of samples."""
    return {
        how: GPDynamics(Gaussian(scale=2.0), propagate=how).update_many(STEPS).predict_path(
            [0.5, 0.0], [[0.5], [0.4]], paths=30, rng=default_rng(0)
        )
        for how in ("moments", "samples")
    }  # fmt: skip


def test_bands_are_those_of_the_paths(predicted, tmp_path):
    real = np.array([[0.5, 0.0], [0.45, 0.2], [0.4, 0.2]])
    sheet = paths_sheet(predicted, real, ("height", "velocity"))
    assert len(sheet.axes) == 4
    for axes, (how, i) in zip(sheet.axes, [(h, i) for i in range(2) for h in predicted], strict=True):
        path = predicted[how]
        lines = {line.get_gid(): line.get_ydata() for line in axes.lines}
        np.testing.assert_allclose(lines["mean"], path.mean[:, i])
        np.testing.assert_allclose(lines["real"], real[:, i])
        low, high = (f(axes.collections[0].get_paths()[0].vertices[:, 1]) for f in (np.min, np.max))
        sd = np.sqrt(path.covariance[:, i, i])
        if how == "moments":
            assert low == pytest.approx((path.mean[:, i] - 1.959964 * sd).min(), abs=1e-6)
            assert high == pytest.approx((path.mean[:, i] + 1.959964 * sd).max(), abs=1e-6)
        else:
            assert low == pytest.approx(np.quantile(path.samples[:, :, i], 0.025, axis=0).min())
            assert len(axes.lines) == 2 + 20
    plot_paths(predicted, tmp_path / "paths.png")
    assert (tmp_path / "paths.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"paths": {}}, "'paths' must be at least one path"),
        ({"real": [[0.0]]}, "'real' must be an array of shape"),
        ({"names": ["one"]}, "'names' must be one for each of 2 coordinates"),
        ({"level": 1.0}, "'level' must be"),
    ],
)
def test_bad_input(bad, said, predicted, tmp_path):
    with pytest.raises(InvalidArgument, match=said):
        plot_paths(**({"paths": predicted, "path": tmp_path / "x.png"} | bad))
