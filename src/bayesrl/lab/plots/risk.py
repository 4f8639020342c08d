"""Plots of risk: what a policy's return may be over the posterior, and the mean against the tail.

    plot_frontier(frontier(belief, 0.1, [0, 0.5, 1], rng=rng), "frontier.png")

Each function writes a file (png, pdf, svg) and needs the extra `lab`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots._sheet import PALETTE, new_sheet, open_axes, write
from bayesrl.risk._frontier import Frontier

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet


def plot_frontier(frontier: Frontier, path: str | Path | None = None, title: str | None = None) -> Sheet:
    """Draw the mean of each policy against its tail, with the weight of the tail beside each point.

    It returns the matplotlib figure, and writes it if `path` is given.
    """
    owner = "plot_frontier"
    if not isinstance(frontier, Frontier):
        raise InvalidArgument(owner, "frontier", "what risk.frontier returns", frontier)
    sheet = new_sheet(owner, 5.2, 4.0)
    axes = sheet.subplots()
    order = frontier.weights.argsort()
    mean, tail = frontier.mean[order], frontier.tail[order]
    axes.plot(tail, mean, "o-", color=PALETTE[0], markersize=5)
    for x, y, weight in zip(tail, mean, frontier.weights[order], strict=True):
        axes.annotate(f"{weight:g}", (x, y), textcoords="offset points", xytext=(6, 4), fontsize="small")
    drawn = ", of drawn models" if frontier.sampled else ""
    axes.set(xlabel=f"mean of the worst {frontier.level:.4g} of the returns{drawn}", ylabel="mean of the returns")
    open_axes(axes)
    if path is not None:
        write(owner, sheet, path, title)
    return sheet
