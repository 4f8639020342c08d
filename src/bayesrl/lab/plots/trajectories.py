"""A hidden trajectory with its band: what a belief says of the state at each time, a row for each coordinate.

    plot_trajectory(belief, "hidden.png", real=states, seen={0: observations}, names=["height", "velocity"])

Every belief with `path_moments()` can be drawn. It writes a file (png, pdf, svg) and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayesrl.checks import Floats, array, number
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import PALETTE, new_sheet, open_axes, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet


class HasPaths(Protocol):
    """A belief about a hidden trajectory."""

    def path_moments(self) -> tuple[Floats, Floats]:
        """Mean, (N, d), and covariance, (N, d, d), of the state at each time."""


def plot_trajectory(
    belief: HasPaths,
    path: str | Path,
    real: ArrayLike | None = None,
    seen: Mapping[int, ArrayLike] | None = None,
    best: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    title: str | None = None,
) -> None:
    """Draw the mean of a hidden trajectory with a band.

    Beside it, if they are given: the real trajectory (N, d), the most probable one (N, d), and observations (N,) of
    coordinates. The band is that of a normal law with the variances of the belief.
    """
    write("plot_trajectory", trajectory_sheet(belief, real, seen, best, names, level), path, title)


def trajectory_sheet(
    belief: HasPaths,
    real: ArrayLike | None = None,
    seen: Mapping[int, ArrayLike] | None = None,
    best: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
) -> Sheet:
    """The matplotlib figure that `plot_trajectory` writes."""
    owner = "plot_trajectory"
    mean, covariance = belief.path_moments()
    N, d = mean.shape
    lines = {name: x for name, x in (("real", real), ("best", best)) if x is not None}
    drawn = {name: array(owner, name, x, (N, d)) for name, x in lines.items()}
    dots = {i: array(owner, "seen", z, (N,)) for i, z in (seen or {}).items()}
    labels = [f"coordinate {i + 1}" for i in range(d)] if names is None else list(names)
    if len(labels) != d or not set(dots) <= set(range(d)):
        raise InvalidArgument(owner, "names", f"one for each of {d} coordinates, and seen of some of them", names)
    p = 0.5 * (1.0 - number(owner, "level", level, 0.0, 1.0, above=True, below=True))
    reach = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)) * -ndtri(p)
    sheet, t = new_sheet(owner, 6.4, 0.8 + 2.2 * d), np.arange(N)
    panels = sheet.subplots(d, 1, squeeze=False, sharex=True)[:, 0]
    for i, axes in enumerate(panels):
        low, high = mean[:, i] - reach[:, i], mean[:, i] + reach[:, i]
        axes.fill_between(
            t, low, high, color=PALETTE[0], alpha=0.2, linewidth=0, label=f"{100 * level:g}% of the belief"
        )
        axes.plot(t, mean[:, i], color=PALETTE[0], linewidth=1.6, label="mean", gid="mean")
        if "best" in drawn:
            axes.plot(t, drawn["best"][:, i], color="0.4", linestyle=":", label="most probable", gid="best")
        if "real" in drawn:
            axes.plot(t, drawn["real"][:, i], color=PALETTE[1], linestyle="--", label="real", gid="real")
        if i in dots:
            axes.plot(t, dots[i], ".", color="0.3", markersize=4, label="seen", gid="seen")
        axes.set(xlabel="step" if i == d - 1 else "", ylabel=labels[i])
        open_axes(axes)
    known = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    sheet.legend(known.values(), known.keys(), frameon=False, loc="outside lower center", ncols=len(known))
    return sheet
