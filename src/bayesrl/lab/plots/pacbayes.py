"""Plots of PAC-Bayes: bounds against the number of data, with the true error.

    plot_bound(visits, {"hoeffding": bounds}, errors, "bound.png", vacuous=2.0)

It returns a matplotlib figure, writes it if it is given a path (png, pdf, svg), and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import array, as_array, number
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import PALETTE, look, new_sheet, open_axes, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet


def plot_bound(
    visits: ArrayLike,
    bounds: Mapping[str, ArrayLike],
    error: ArrayLike | None = None,
    path: str | Path | None = None,
    vacuous: float | None = None,
    title: str | None = None,
) -> Sheet:
    """Draw bounds against the number of data, and the true error that they bound, on logarithmic axes.

    `visits` (n,) are numbers of data; each of the `bounds` is (n,), infinite where it says nothing. `error` is (n,), or
    (n, runs), drawn as the median and the band from the 5% to the 95% percentile. From `vacuous` on a bound says
    nothing: the largest possible error.
    """
    owner = "plot_bound"
    x = array(owner, "visits", visits, (None,), low=0.0, above=True)
    if not isinstance(bounds, Mapping) or not bounds:
        raise InvalidArgument(owner, "bounds", "a mapping from names to arrays", bounds)
    top = None if vacuous is None else number(owner, "vacuous", vacuous, 0.0, above=True)
    sheet = new_sheet(owner, 6.4, 4.0)
    axes = sheet.subplots()
    for k, (name, given) in enumerate(bounds.items()):
        y = as_array(given)
        if y.shape != x.shape or y.dtype.kind not in "iuf" or np.isnan(y).any() or (y < 0).any():
            raise InvalidArgument(owner, "bounds", f"arrays of shape {x.shape} of numbers, perhaps infinite", given)
        axes.plot(x, np.where(np.isfinite(y), y, np.nan), label=str(name), **look(k))
    if error is not None:
        table = array(owner, "error", error, low=0.0)
        if table.shape[:1] != x.shape or table.ndim > 2:
            raise InvalidArgument(owner, "error", f"of shape {x.shape} or ({len(x)}, runs)", table)
        low, middle, high = np.quantile(table.reshape(len(x), -1), (0.05, 0.5, 0.95), axis=1)
        axes.plot(x, middle, "o-", color=PALETTE[-1], markersize=3, label="true error")
        axes.fill_between(x, low, high, color=PALETTE[-1], alpha=0.15, linewidth=0)
    if top is not None:
        axes.axhline(top, color="0.4", linestyle=":", label="says nothing above")
    axes.set(xscale="log", yscale="log", xlabel="number of data", ylabel="error and bounds")
    open_axes(axes)
    axes.legend(frameon=False, fontsize="small")
    if path is not None:
        write(owner, sheet, path, title)
    elif title:
        sheet.suptitle(title, fontsize="medium")
    return sheet
