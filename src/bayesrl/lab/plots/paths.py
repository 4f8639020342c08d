"""Predicted paths beside a real one: bands of moments and bands of samples, a row for each coordinate.

    plot_paths({"moments": belief.predict_path(s, actions), "samples": ...}, "paths.png", real=states)

It writes a file (png, pdf, svg) and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayesrl.beliefs.dynamics.gp_paths import Path
from bayesrl.checks import array, number
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import PALETTE, new_sheet, open_axes, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

FEW = 20
"""Drawn paths that are shown one by one."""


def plot_paths(
    paths: Mapping[str, Path],
    path: str | File,
    real: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    title: str | None = None,
) -> None:
    """Draw predicted paths with bands, a column for each prediction, and the real path (T + 1, d) if it is given.

    A band of samples lies between their quantiles, a band of moments between those of a normal law.
    """
    write("plot_paths", paths_sheet(paths, real, names, level), path, title)


def paths_sheet(
    paths: Mapping[str, Path],
    real: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
) -> Sheet:
    """The matplotlib figure that `plot_paths` writes."""
    owner = "plot_paths"
    if not paths or len({one.mean.shape for one in paths.values()}) != 1:
        raise InvalidArgument(owner, "paths", "at least one path, all of the same length and size", dict(paths))
    T, d = next(iter(paths.values())).mean.shape
    true = None if real is None else array(owner, "real", real, (T, d))
    labels = [f"coordinate {i + 1}" for i in range(d)] if names is None else list(names)
    if len(labels) != d:
        raise InvalidArgument(owner, "names", f"one for each of {d} coordinates", names)
    p = 0.5 * (1.0 - number(owner, "level", level, 0.0, 1.0, above=True, below=True))
    sheet, steps = new_sheet(owner, 0.8 + 4.2 * len(paths), 0.8 + 2.4 * d), np.arange(T)
    panels = sheet.subplots(d, len(paths), squeeze=False, sharex=True, sharey="row")
    for column, (label, one) in enumerate(paths.items()):
        reach = np.sqrt(np.diagonal(one.covariance, axis1=1, axis2=2)) * -ndtri(p)
        low, high = one.mean - reach, one.mean + reach
        if one.samples is not None:
            low, high = np.quantile(one.samples, p, axis=0), np.quantile(one.samples, 1.0 - p, axis=0)
        for i in range(d):
            axes = panels[i][column]
            for drawn in [] if one.samples is None else one.samples[:FEW]:
                axes.plot(steps, drawn[:, i], color="0.6", linewidth=0.5)
            said = f"{100 * level:g}% of the prediction"
            axes.fill_between(steps, low[:, i], high[:, i], color=PALETTE[0], alpha=0.2, linewidth=0, label=said)
            axes.plot(steps, one.mean[:, i], color=PALETTE[0], linewidth=1.6, label="predicted mean", gid="mean")
            if true is not None:
                axes.plot(steps, true[:, i], color=PALETTE[1], linestyle="--", label="real path", gid="real")
            axes.set(xlabel="step" if i == d - 1 else "", ylabel=labels[i] if column == 0 else "")
            axes.set_title(label if i == 0 else "", fontsize="medium")
            open_axes(axes)
    handles, said_of = panels[0][0].get_legend_handles_labels()
    sheet.legend(handles, said_of, frameon=False, loc="outside lower center", ncols=len(said_of))
    return sheet
