"""Plots of beliefs about values: a surface, bands along a line, and the weights of competing covariances.

    plot_surface(belief, world.observations, "surface.png")
    plot_bands({"after 20 episodes": belief}, states, "bands.png", truth=values)
    plot_weights([belief.weights, ...], "weights.png", names=["short scale", "long scale"])

Every Gaussian belief about values, and every mixture of them, can be drawn. Each function writes a file (png, pdf, svg)
and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import points
from bayesrl.capabilities import offers, require
from bayesrl.checks import Floats, array, integer, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import PALETTE, look, new_sheet, open_axes, panels_of, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

SHADES = (0.32, 0.14)
"""Opacity of the narrow and of the wide band."""


class KnowsFunction(Protocol):
    """A belief about a function: its readings at points."""

    def mean(self, states: ArrayLike) -> Floats:
        """Posterior means at points, shape (n,)."""

    def variance(self, states: ArrayLike) -> Floats:
        """Posterior variances at points, shape (n,)."""

    def quantile(self, p: float, states: ArrayLike) -> Floats:
        """The p-quantile of the value at each point, shape (n,)."""


class HasDictionary(Protocol):
    """A belief that is represented by few states."""

    @property
    def dictionary(self) -> Floats:
        """These states, shape (m, d)."""


def plot_surface(
    belief: KnowsFunction,
    box: tuple[ArrayLike, ArrayLike],
    path: str | Path,
    names: Sequence[str] = ("first coordinate", "second coordinate"),
    resolution: int = 80,
    title: str | None = None,
) -> None:
    """Draw means and standard deviations of values over a box of two coordinates, and the belief's dictionary.

    `box` holds the lower and the upper corner, as `world.observations` does.
    """
    write("plot_surface", surface_sheet(belief, box, names, resolution), path, title)


def surface_sheet(
    belief: KnowsFunction,
    box: tuple[ArrayLike, ArrayLike],
    names: Sequence[str] = ("first coordinate", "second coordinate"),
    resolution: int = 80,
) -> Sheet:
    """The matplotlib figure that `plot_surface` writes."""
    owner = "plot_surface"
    require(owner, belief, KnowsFunction)
    try:
        low, high = box
    except (TypeError, ValueError):
        raise InvalidArgument(owner, "box", "a lower and an upper corner", box) from None
    low, high = array(owner, "box", low, (2,)), array(owner, "box", high, (2,))
    if not (low < high).all():
        raise InvalidArgument(owner, "box", "a lower corner below the upper one", (low.tolist(), high.tolist()))
    labels = _labels(owner, names, 2, "coordinate")
    n = integer(owner, "resolution", resolution, 2)
    x, y = (low[i] + (high[i] - low[i]) * (np.arange(n) + 0.5) / n for i in range(2))
    cells = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    known = belief.dictionary if offers(belief, HasDictionary) else np.zeros((0, 2))
    sheet = new_sheet(owner, 10.4, 4.2)
    drawn = {"mean of the value": belief.mean(cells), "standard deviation": np.sqrt(belief.variance(cells))}
    for axes, (what, values) in zip(panels_of(sheet, 1, 2), drawn.items(), strict=True):
        colours = "viridis" if what.startswith("mean") else "magma"
        ends = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
        image = axes.imshow(values.reshape(n, n), cmap=colours, origin="lower", extent=ends, aspect="auto")
        if len(known):
            axes.plot(
                known[:, 0], known[:, 1], "o", color="white", markeredgecolor="black", markersize=3.5, clip_on=False
            )
        axes.set(xlabel=labels[0], ylabel=labels[1], xlim=ends[:2], ylim=ends[2:])
        counted = f", {len(known)} states in the dictionary" if len(known) else ""
        axes.set_title(what + counted, fontsize="medium")
        sheet.colorbar(image, ax=axes)
    return sheet


def plot_bands(
    beliefs: Mapping[str, KnowsFunction],
    states: ArrayLike,
    path: str | Path,
    truth: ArrayLike | None = None,
    levels: tuple[float, float] = (0.5, 0.95),
    name: str = "state",
    title: str | None = None,
) -> None:
    """Draw mean and central bands of values along a line of states, a panel for each belief, with true values if given.

    `levels` are the probabilities of the narrow and of the wide band. States of several coordinates are placed by their
    distance from the first one, measured along the line.
    """
    write("plot_bands", bands_sheet(beliefs, states, truth, levels, name), path, title)


def bands_sheet(
    beliefs: Mapping[str, KnowsFunction],
    states: ArrayLike,
    truth: ArrayLike | None = None,
    levels: tuple[float, float] = (0.5, 0.95),
    name: str = "state",
) -> Sheet:
    """The matplotlib figure that `plot_bands` writes."""
    owner = "plot_bands"
    if not beliefs:
        raise InvalidArgument(owner, "beliefs", "at least one belief", dict(beliefs))
    line = points(owner, "states", states)
    true = None if truth is None else array(owner, "truth", truth, (len(line),))
    narrow, wide = array(owner, "levels", levels, (2,))
    if not 0.0 < narrow < wide < 1.0:
        raise InvalidArgument(owner, "levels", "two probabilities between 0 and 1, the smaller first", levels)
    x = line[:, 0] if line.shape[1] == 1 else _along(line)
    sheet = new_sheet(owner, 0.8 + 3.6 * len(beliefs), 3.6)
    shared: Any = None
    for k, (label, belief) in enumerate(beliefs.items()):
        require(owner, belief, KnowsFunction)
        axes = shared = sheet.add_subplot(1, len(beliefs), k + 1, sharex=shared, sharey=shared)
        for p, shade in ((wide, SHADES[1]), (narrow, SHADES[0])):
            low, high = belief.quantile(0.5 - 0.5 * p, line), belief.quantile(0.5 + 0.5 * p, line)
            said = f"{100 * p:g}% of the posterior"
            axes.fill_between(x, low, high, color=PALETTE[0], alpha=shade, linewidth=0, label=said)
        axes.plot(x, belief.mean(line), color=PALETTE[0], linewidth=1.6, label="posterior mean", gid="mean")
        if true is not None:
            axes.plot(x, true, color=PALETTE[1], linestyle="--", linewidth=1.4, label="true value", gid="truth")
        axes.set(xlabel=name, ylabel="value" if k == 0 else "")
        axes.set_title(label, fontsize="medium")
        open_axes(axes)
    handles, labels = shared.get_legend_handles_labels()
    sheet.legend(handles, labels, frameon=False, loc="outside lower center", ncols=min(len(labels), 1 + len(beliefs)))
    return sheet


def plot_weights(
    weights: ArrayLike,
    path: str | Path,
    names: Sequence[str],
    steps: ArrayLike | None = None,
    title: str | None = None,
) -> None:
    """Draw the weights of competing covariances over time: a row of `weights` (T, n) for each moment.

    `steps` are the numbers of transitions seen at these moments; the default is 0, 1, ..., T - 1.
    """
    write("plot_weights", weights_sheet(weights, names, steps), path, title)


def weights_sheet(weights: ArrayLike, names: Sequence[str], steps: ArrayLike | None = None) -> Sheet:
    """The matplotlib figure that `plot_weights` writes."""
    owner = "plot_weights"
    w = rows_sum_to_one(owner, "weights", array(owner, "weights", weights, (None, None), low=0.0), weights)
    labels = _labels(owner, names, w.shape[1], "covariance")
    t = array(owner, "steps", np.arange(len(w)) if steps is None else steps, (len(w),))
    if (np.diff(t) <= 0.0).any():
        raise InvalidArgument(owner, "steps", "increasing", t.tolist())
    sheet = new_sheet(owner, 6.4, 3.6)
    axes = sheet.subplots()
    for k, label in enumerate(labels):
        axes.plot(t, w[:, k], label=label, linewidth=1.6, **look(k))
    axes.set(xlabel="transitions seen", ylabel="posterior weight", ylim=(-0.02, 1.02), xlim=(t[0], t[-1] or 1.0))
    open_axes(axes)
    axes.legend(frameon=False)
    return sheet


def _along(line: Floats) -> Floats:
    """Distances from the first point along the line, shape (n,)."""
    return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))


def _labels(owner: str, names: Sequence[str], n: int, what: str) -> list[str]:
    labels = [str(name) for name in names]
    if isinstance(names, str) or len(labels) != n:
        raise InvalidArgument(owner, "names", f"{n} of them, one for each {what}", names)
    return labels
