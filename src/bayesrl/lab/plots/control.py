"""Regret of controllers that learn: mean curves with 95% bands, and ticks where models were drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import look, new_sheet, open_axes, panels_of, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 4.0
"""The scale reaches this multiple of the largest value of the lowest curve. A curve above it is named, without band."""

Bands = Mapping[str, ArrayLike]
"""For each method the mean and half the interval at each step, (k, 2)."""


def plot_control(
    panels: Mapping[str, Bands],
    steps: ArrayLike,
    drawn: Mapping[str, ArrayLike],
    path: str | Path,
    measure: str = "regret",
) -> None:
    """Draw the curves of several methods at these steps, (k,), in each panel, into a file.

    `drawn` holds, by the name of a panel, the steps at which one run of its first method drew a model. They are ticks
    at the lower edge. Needs the extra `lab`.
    """
    write("plot_control", control_sheet(panels, steps, drawn, measure), path)


def control_sheet(
    panels: Mapping[str, Bands], steps: ArrayLike, drawn: Mapping[str, ArrayLike], measure: str = "regret"
) -> Figure:
    """The matplotlib figure that `plot_control` writes."""
    at = array("plot_control", "steps", steps, (None,), low=1.0)
    if not panels or not all(panels.values()):
        raise InvalidArgument("plot_control", "panels", "curves by method, for each panel", panels)
    sheet = new_sheet("plot_control", 4.6 * len(panels), 4.2)
    for axes, (name, bands) in zip(panels_of(sheet, 1, len(panels)), panels.items(), strict=True):
        curves = {label: array("plot_control", "panels", band, (len(at), 2)) for label, band in bands.items()}
        _panel(axes, at, curves)
        axes.set(title=name, xlabel="step", ylabel=f"{measure} (mean, 95% band)")
        if name in drawn:
            ticks = array("plot_control", "drawn", drawn[name], (None,))
            low = np.full(len(ticks), axes.get_ylim()[0])
            axes.plot(ticks, low, "|", color=look(0)["color"], markersize=12, clip_on=False, gid="drawn")
    handles, labels = sheet.axes[0].get_legend_handles_labels()
    sheet.legend(handles, labels, frameon=False, loc="outside lower center", ncols=len(labels))
    return sheet


def _panel(axes: Axes, at: Floats, curves: Mapping[str, Floats]) -> None:
    highest = {label: float(band.sum(axis=1).max()) for label, band in curves.items()}
    top = min(max(highest.values()), ROOM * max(min(highest.values()), 1e-9))
    low = 0.0
    for k, (label, band) in enumerate(curves.items()):
        mean, half = band.T
        axes.plot(at, mean, label=label, linewidth=1.6, **look(k))
        if highest[label] <= top:
            axes.fill_between(at, mean - half, mean + half, color=look(k)["color"], alpha=0.18, linewidth=0)
            low = min(low, float((mean - half).min()))
    axes.set(xscale="log", xlim=(at[0], at[-1]), ylim=(low - 0.04 * (top - low), top + 0.04 * (top - low)))
    above = [f"{label} ends at {curves[label][-1, 0]:.3g}" for label in curves if highest[label] > top]
    if above:
        axes.annotate(
            "; ".join(above), (0.97, 0.95), xycoords="axes fraction", ha="right", fontsize="small", color="0.35"
        )
    open_axes(axes)
