"""Plots of beliefs about noise: marginal posteriors of drift and spread over time.

    plot_noise([prior, after_one_step, ...], "noise.png", rng, truth=(drift, covariance))

The function writes a file (png, pdf, svg) and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.capabilities import require
from bayesrl.checks import Floats, array, generator, integer, sequence
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import PALETTE, look, new_sheet, open_axes, panels_of, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

LEVELS = (0.025, 0.25, 0.5, 0.75, 0.975)
"""The ends of the bands, and the median."""
SHADES = (0.14, 0.32)


@runtime_checkable
class SamplesNoise(Protocol):
    """A belief about a noise of unknown mean and covariance."""

    def sample_noise(self, rng: Generator) -> tuple[Floats, Floats]:
        """A mean, (d,), and a precision, (d, d), drawn from the belief."""


def plot_noise(
    beliefs: Sequence[SamplesNoise],
    path: str | Path,
    rng: Generator,
    truth: tuple[ArrayLike, ArrayLike] | None = None,
    draws: int = 400,
    first: int = 0,
    title: str | None = None,
) -> None:
    """Draw medians and central bands (50%, 95%) of the noise's mean and standard deviations, a belief for each step.

    `truth` is the true mean and covariance. The bands are quantiles of `draws` models drawn from each belief. The first
    belief has seen `first` steps.
    """
    write("plot_noise", noise_sheet(beliefs, rng, truth, draws, first), path, title)


def noise_sheet(
    beliefs: Sequence[SamplesNoise],
    rng: Generator,
    truth: tuple[ArrayLike, ArrayLike] | None = None,
    draws: int = 400,
    first: int = 0,
) -> Sheet:
    """The matplotlib figure that `plot_noise` writes."""
    owner = "plot_noise"
    expected = "a list of beliefs, one for each step"
    beliefs = sequence(owner, "beliefs", beliefs, expected)
    if not beliefs:
        raise InvalidArgument(owner, "beliefs", expected, beliefs)
    rng, n = generator(owner, rng), integer(owner, "draws", draws, 2)
    for belief in beliefs:
        require(owner, belief, SamplesNoise)
    q = np.array([quantiles_of(belief, n, rng) for belief in beliefs])  # (T, 5, 2, d)
    d = q.shape[3]
    true: Any = None
    if truth is not None:
        covariance = array(owner, "truth", truth[1], (d, d))
        true = array(owner, "truth", truth[0], (d,)), np.sqrt(np.diagonal(covariance))
    sheet = new_sheet(owner, 10.4, 3.8)
    t = integer(owner, "first", first) + np.arange(len(beliefs))
    for which, axes in enumerate(panels_of(sheet, 1, 2)):
        for i in range(d):
            shown = q[:, :, which, i]
            for low, high, shade in ((0, 4, SHADES[0]), (1, 3, SHADES[1])):
                colour = PALETTE[i % len(PALETTE)]
                axes.fill_between(t, shown[:, low], shown[:, high], color=colour, alpha=shade, linewidth=0)
            axes.plot(t, shown[:, 2], linewidth=1.6, label=f"coordinate {i + 1}", gid=f"median {i}", **look(i))
            if true is not None:
                axes.axhline(true[which][i], color=PALETTE[i % len(PALETTE)], linestyle=":", linewidth=1.4)
        axes.set(xlabel="steps", ylabel=("mean of the noise", "standard deviation of the noise")[which])
        open_axes(axes)
    sheet.axes[0].legend(frameon=False)
    return sheet


def quantiles_of(belief: SamplesNoise, draws: int, rng: Generator) -> Floats:
    """Quantiles of the mean and of the standard deviations of drawn models, (5, 2, d)."""
    models = [belief.sample_noise(rng) for _ in range(draws)]
    means = np.array([mean for mean, _ in models])
    spreads = np.array([np.sqrt(np.diagonal(np.linalg.inv(precision))) for _, precision in models])
    return np.asarray(np.quantile(np.stack([means, spreads], axis=1), LEVELS, axis=0))
