"""Plots of beliefs about gradients: posterior ellipses beside the exact gradient, and squared errors by episodes.

    plot_gradients({"bpg-2": bpg(...), "REINFORCE": reinforce_gradient(...)}, "ellipses.png", exact=gradient)
    plot_errors({"bpg-2": errors, ...}, [5, 10, 20, 40], "errors.png")

Each function writes a file (png, pdf, svg) and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import array, indices, number
from bayesrl.errors import InvalidArgument, from_extra
from bayesrl.gradient.bayesian_gradient import Gradient
from bayesrl.lab.plots.sheet import PALETTE, look, new_sheet, open_axes, write
from bayesrl.statistics import mean_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

Estimates = Mapping[str, Gradient | ArrayLike]
"""Posteriors of the gradient, or estimates without error bars, by name."""


def plot_gradients(
    gradients: Estimates,
    path: str | Path,
    exact: ArrayLike | None = None,
    coordinates: tuple[int, int] = (0, 1),
    level: float = 0.9,
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> None:
    """Draw two coordinates of gradients: means, the ellipses that hold `level` of each posterior, the exact gradient.

    An estimate without a posterior is drawn as a point. `names` are those of the two coordinates.
    """
    write("plot_gradients", gradients_sheet(gradients, exact, coordinates, level, names), path, title)


def gradients_sheet(
    gradients: Estimates,
    exact: ArrayLike | None = None,
    coordinates: tuple[int, int] = (0, 1),
    level: float = 0.9,
    names: Sequence[str] | None = None,
) -> Sheet:
    """The matplotlib figure that `plot_gradients` writes."""
    sheet = new_sheet("plot_gradients", 5.6, 5.0)
    axes = sheet.subplots()
    gradient_panel(axes, gradients, exact, coordinates, level, names)
    axes.legend(frameon=False, fontsize="small")
    return sheet


def gradient_panel(
    axes: Axes,
    gradients: Estimates,
    exact: ArrayLike | None = None,
    coordinates: tuple[int, int] = (0, 1),
    level: float = 0.9,
    names: Sequence[str] | None = None,
) -> None:
    """Draw means and ellipses on axes; see `plot_gradients`."""
    owner = "plot_gradients"
    with from_extra(owner):
        from matplotlib.patches import Ellipse

    if not gradients:
        raise InvalidArgument(owner, "gradients", "at least one estimate", dict(gradients))
    squared_radius = -2.0 * np.log1p(-number(owner, "level", level, 0.0, 1.0, above=True, below=True))
    means = [g.mean if isinstance(g, Gradient) else array(owner, "gradients", g, (None,)) for g in gradients.values()]
    n = len(means[0])
    if any(len(mean) != n for mean in means):
        raise InvalidArgument(owner, "gradients", "of equal length", [len(mean) for mean in means])
    pair = indices(owner, "coordinates", coordinates, (2,), n)
    labels = [f"coordinate {i}" for i in pair] if names is None else [str(name) for name in names]
    if len(labels) != 2:
        raise InvalidArgument(owner, "names", "2 of them, one for each coordinate", names)
    for k, ((label, given), mean) in enumerate(zip(gradients.items(), means, strict=True)):
        x, y = mean[pair]
        colour = PALETTE[k % len(PALETTE)]
        axes.plot([x], [y], "o" if isinstance(given, Gradient) else "s", color=colour, markersize=5, label=label)
        if isinstance(given, Gradient):
            variances, vectors = np.linalg.eigh(given.covariance[np.ix_(pair, pair)])
            width, height = 2.0 * np.sqrt(squared_radius * np.maximum(variances, 0.0))
            angle = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
            style = {"facecolor": (colour, 0.12), "edgecolor": colour, "linewidth": 1.5}
            axes.add_patch(Ellipse((x, y), width, height, angle=angle, gid=label, **style))
    if exact is not None:
        x, y = array(owner, "exact", exact, (n,))[pair]
        axes.plot([x], [y], "*", color="black", markersize=12, label="exact", gid="exact", zorder=4)
    axes.set(xlabel=labels[0], ylabel=labels[1], aspect="equal")
    axes.set_adjustable("datalim")
    axes.autoscale_view()
    open_axes(axes)


def plot_errors(
    errors: Mapping[str, ArrayLike],
    episodes: Sequence[int],
    path: str | Path,
    references: Mapping[str, float] | None = None,
    title: str | None = None,
) -> None:
    """Draw mean squared errors of gradient estimates by the number of episodes, with 95% bands.

    Each entry of `errors` has a row of squared errors for each number of episodes, (len(episodes), repetitions).
    `references` are dashed horizontal lines, such as the squared norm of the exact gradient: the error of zero.
    """
    write("plot_errors", errors_sheet(errors, episodes, references), path, title)


def errors_sheet(
    errors: Mapping[str, ArrayLike], episodes: Sequence[int], references: Mapping[str, float] | None = None
) -> Sheet:
    """The matplotlib figure that `plot_errors` writes."""
    owner = "plot_errors"
    if not errors:
        raise InvalidArgument(owner, "errors", "of at least one method", dict(errors))
    x = array(owner, "episodes", episodes, (None,), low=0.0, above=True)
    if (np.diff(x) <= 0.0).any():
        raise InvalidArgument(owner, "episodes", "increasing", list(episodes))
    sheet = new_sheet(owner, 7.6, 4.6)
    axes = sheet.subplots()
    for k, (label, given) in enumerate(errors.items()):
        style = look(k)
        mean, half = mean_band(array(owner, "errors", given, (len(x), None), low=0.0))
        axes.plot(x, mean, marker="o", label=label, linewidth=1.6, markersize=3.5, **style)
        if np.isfinite(half).all():
            axes.fill_between(x, mean - half, mean + half, color=style["color"], alpha=0.18, linewidth=0)
    for text, level in (references or {}).items():
        axes.axhline(level, color="0.35", linestyle=(0, (4, 3)), linewidth=1.0, gid=text)
        where: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axes.annotate(text, (0.99, level), xytext=(0, 3), color="0.35", fontsize="small", ha="right", **where)
    axes.set(xscale="log", yscale="log", xlabel="episodes", ylabel="squared error of the gradient (mean, 95% band)")
    axes.set_xticks(x, [f"{n:g}" for n in x])
    axes.minorticks_off()
    open_axes(axes)
    sheet.legend(frameon=False, loc="outside right upper")
    return sheet
