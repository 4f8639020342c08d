"""The picture of a noise: medians are those of the posterior, bands hold their shares, the truth is dotted."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.beliefs import DirichletMDP, NormalWishart
from bayesrl.continuous import NormalWishartDynamics
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.lab.plots.noise import noise_sheet, plot_noise
from bayesrl.registry import make_world

PRIOR = NormalWishartDynamics(
    lambda s, a, v: s + a + v, NormalWishart([0.3, 0.0], 2.0, 8.0, np.diag([2.0, 1.0])),
    inverse=lambda s, a, y: y - s - a,
)  # fmt: skip


def after(n):
    beliefs, rng = [PRIOR], default_rng(1)
    for _ in range(n):
        s, a = rng.standard_normal((2, 2))
        y = s + a + [0.5, -0.5] + 0.3 * rng.standard_normal(2)
        beliefs.append(beliefs[-1].update(Transition(s, a, 0.0, y)))
    return beliefs


def test_bands_are_quantiles_of_the_posterior(tmp_path):
    """Medians of 600 draws against the Student and inverse-gamma marginals: 5 standard errors, 24 of them."""
    beliefs = after(3)
    sheet = noise_sheet(beliefs, default_rng(2), ([0.5, -0.5], 0.09 * np.eye(2)), draws=600)
    drift, spread = sheet.axes
    for t, belief in enumerate(beliefs):
        noise = belief.noise
        f, Psi = noise.degrees - 1.0, np.diagonal(noise.scatter)
        for i in range(2):
            seen = next(x for x in drift.lines if x.get_gid() == f"median {i}").get_ydata()[t]
            marginal = stats.t(f, noise.mean[i], np.sqrt(Psi[i] / (noise.strength * f)))
            assert abs(marginal.cdf(seen) - 0.5) < 5.0 * 0.5 / np.sqrt(600)
            seen = next(x for x in spread.lines if x.get_gid() == f"median {i}").get_ydata()[t]
            marginal = stats.invgamma(0.5 * f, scale=0.5 * Psi[i])
            assert abs(marginal.cdf(seen**2) - 0.5) < 5.0 * 0.5 / np.sqrt(600)
    dotted = [x.get_ydata()[0] for axes in sheet.axes for x in axes.lines if x.get_linestyle() == ":"]
    assert dotted == pytest.approx([0.5, -0.5, 0.3, 0.3])
    widest = drift.collections[0].get_paths()[0].vertices[:, 1]
    assert widest.min() < marginal_quantile(beliefs[0], 0.04) < marginal_quantile(beliefs[0], 0.96) < widest.max()
    plot_noise(beliefs, tmp_path / "noise.png", default_rng(2), draws=10)
    assert (tmp_path / "noise.png").read_bytes()[:4] == b"\x89PNG"


def marginal_quantile(belief, p):
    noise = belief.noise
    f = noise.degrees - 1.0
    return stats.t(f, noise.mean[0], np.sqrt(noise.scatter[0, 0] / (noise.strength * f))).ppf(p)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InvalidArgument, match="'beliefs' must be"):
        noise_sheet([], default_rng(0))
    with pytest.raises(InvalidArgument, match="'draws' must be"):
        noise_sheet([PRIOR], default_rng(0), draws=1)
    with pytest.raises(InvalidArgument, match="'rng' must be"):
        noise_sheet([PRIOR], None)
    with pytest.raises(InvalidArgument, match="'truth' must be"):
        noise_sheet([PRIOR], default_rng(0), ([0.0], np.eye(2)))
    with pytest.raises(Incompatible, match="'sample_noise'"):
        noise_sheet([DirichletMDP.flat(make_world("chain"))], default_rng(0))
