"""Plots of risk: what a policy's return may be over the posterior, and the mean against the tail.

    plot_values(belief, {"best guess": nominal, "safe": solution}, "returns.png", epsilon=0.05)
    plot_frontier(frontier(belief, 0.1, [0, 0.5, 1], rng=rng), "frontier.png")

Each function returns a matplotlib figure, writes it if it is given a path (png, pdf, svg), and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import default_rng

from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import PALETTE, new_sheet, open_axes, panels_of, write
from bayesrl.lab.risk import SAMPLES, Assessment, Drawable, assess
from bayesrl.risk.frontier import Frontier

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

BINS = 80


def plot_values(
    belief: Drawable,
    policies: Mapping[str, Any],
    path: str | Path | None = None,
    epsilon: float = 0.05,
    samples: int = SAMPLES,
    seed: int = 0,
    title: str | None = None,
) -> Sheet:
    """Draw the returns of each policy in common models drawn from a belief, and write them into a file if one is given.

    A histogram for each policy has lines at the epsilon-percentile, at the mean and at CVaR, the mean of the worst
    returns, a share epsilon of all. A policy is an array, a policy object, or a solution that has one.
    """
    return draw_values(assess(belief, policies, epsilon, samples, rng=default_rng(seed)), epsilon, path, title)


def draw_values(
    found: Mapping[str, Assessment], epsilon: float, path: str | Path | None = None, title: str | None = None
) -> Sheet:
    """Do the same for policies that `assess` has assessed."""
    sheet = values_sheet(found, epsilon)
    if title:
        sheet.suptitle(title, fontsize="medium")
    if path is not None:
        write("plot_values", sheet, path)
    return sheet


def values_sheet(found: Mapping[str, Assessment], epsilon: float) -> Sheet:
    """The matplotlib figure of `plot_values`: a row for each policy, on one axis.

    The axis has all but a few returns. The others are counted in the first and in the last bin.
    """
    every = np.concatenate([each.returns for each in found.values()])
    low, high = np.quantile(every, (0.001, 0.999))
    edges = np.linspace(low, high, BINS + 1) if low < high else np.linspace(low - 0.5, low + 0.5, BINS + 1)
    sheet = new_sheet("plot_values", 7.2, 0.9 + 1.3 * len(found))
    rows = panels_of(sheet, len(found), 1)
    for k, (axes, (name, each)) in enumerate(zip(rows, found.items(), strict=True)):
        colour = PALETTE[k % len(PALETTE)]
        axes.hist(np.clip(each.returns, *edges[[0, -1]]), edges.tolist(), color=colour, alpha=0.35, density=True)
        for at, dash, what in (
            (each.cvar, ":", f"CVaR at {epsilon:g}"),
            (each.quantile, "--", f"{100 * epsilon:g}% percentile"),
            (each.mean, "-", "mean"),
        ):
            axes.axvline(at, color=colour, linestyle=dash, linewidth=1.6, label=f"{what} {at:.4g}")
        axes.set(xlim=edges[[0, -1]], yticks=[], ylabel=name)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(labelbottom=axes is rows[-1])
        axes.legend(framealpha=0.9, edgecolor="none", fontsize="x-small", loc="upper left")
    rows[-1].set_xlabel("return in a drawn model")
    return sheet


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
