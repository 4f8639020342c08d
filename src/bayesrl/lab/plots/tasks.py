"""Plots of clusters and of transfer: what was put together, and what a task gained from those before it.

    plot_co_assignment(belief, "classes.png")
    plot_task_curves({"with transfer": returns, "without": flat}, "transfer.png")

Each function returns a matplotlib figure, writes it if it is given a path (png, pdf, svg), and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from bayesrl.beliefs.crp import relabelled
from bayesrl.checks import Floats, Ints, array
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import look, new_sheet, open_axes, write
from bayesrl.statistics import mean_band

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

LABELLED = 40
"""The largest number of things whose names stand beside the matrix."""


def plot_co_assignment(
    matrix: Any, path: str | Path | None = None, names: Sequence[str] | None = None, title: str | None = None
) -> Sheet:
    """Draw how often two things share a cluster, in the order of the clusters.

    `matrix` is an array (N, N), or a belief with `co_assignment()` or `co_class()`. The clusters are those of average
    linkage: things are joined as long as clusters share, on average, more than half of the draws. Lines divide them.
    """
    owner = "plot_co_assignment"
    share = _matrix(owner, matrix)
    labels = consensus(share)
    order = np.lexsort((np.arange(len(labels)), labels))
    called = [str(i) for i in range(len(labels))] if names is None else [str(name) for name in names]
    if len(called) != len(labels):
        raise InvalidArgument(owner, "names", f"{len(labels)} names", names)
    sheet = new_sheet(owner, 5.2, 4.4)
    axes = sheet.subplots()
    drawn = axes.imshow(share[np.ix_(order, order)], cmap="Blues", vmin=0.0, vmax=1.0)
    for edge in np.flatnonzero(np.diff(labels[order])):
        axes.axhline(edge + 0.5, color="#D55E00", linewidth=1.0)
        axes.axvline(edge + 0.5, color="#D55E00", linewidth=1.0)
    if len(labels) <= LABELLED:
        upright: Any = {"rotation": 90 if max(map(len, called)) > 2 else 0, "fontsize": "x-small"}
        axes.set_xticks(range(len(labels)), [called[i] for i in order], **upright)
        axes.set_yticks(range(len(labels)), [called[i] for i in order], fontsize="x-small")
    sheet.colorbar(drawn, ax=axes, label="share of draws in one cluster")
    if path is not None:
        write(owner, sheet, path, title)
    elif title:
        sheet.suptitle(title, fontsize="medium")
    return sheet


def consensus(share: Floats) -> Ints:
    """The clusters of a matrix of co-assignments by average linkage, cut at one half; numbered by their first thing.

    >>> consensus(np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]])).tolist()
    [0, 1, 0]
    """
    if len(share) == 1:
        return np.zeros(1, np.int64)
    apart = np.maximum(1.0 - (share + share.T) / 2.0, 0.0)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average")
    return relabelled(fcluster(tree, np.nextafter(0.5, 0.0), "distance"))


def plot_task_curves(
    curves: Mapping[str, ArrayLike], path: str | Path | None = None, title: str | None = None, what: str = "return"
) -> Sheet:
    """Draw what each task in turn earned, with 95% bands: one line for each way to learn.

    `curves` maps names to arrays (runs, tasks): the return in the first steps of each task of a sequence, for example
    with and without transfer.
    """
    owner = "plot_task_curves"
    if not isinstance(curves, Mapping) or not curves:
        raise InvalidArgument(owner, "curves", "arrays (runs, tasks) by name", curves)
    found = {str(name): array(owner, "curves", x, (None, None)) for name, x in curves.items()}
    if len({x.shape[1] for x in found.values()}) > 1:
        raise InvalidArgument(owner, "curves", "of as many tasks each", [x.shape[1] for x in found.values()])
    sheet = new_sheet(owner, 6.4, 4.2)
    axes = sheet.subplots()
    for k, (name, x) in enumerate(found.items()):
        at, (mean, half) = np.arange(1, x.shape[1] + 1), mean_band(x.T)
        axes.plot(at, mean, "o", markersize=4, linewidth=1.6, label=name, **look(k))
        if np.isfinite(half).all():
            axes.fill_between(at, mean - half, mean + half, color=look(k)["color"], alpha=0.18, linewidth=0)
    runs = {len(x) for x in found.values()}
    over = f", {runs.pop()} runs" if len(runs) == 1 else ""
    axes.set(xlabel="task", ylabel=f"{what} (mean, 95% band{over})")
    axes.locator_params(axis="x", integer=True)
    open_axes(axes)
    axes.legend(frameon=False, fontsize="small")
    if path is not None:
        write(owner, sheet, path, title)
    elif title:
        sheet.suptitle(title, fontsize="medium")
    return sheet


def _matrix(owner: str, matrix: Any) -> Floats:
    """The matrix itself, or that of a belief over clusters."""
    for name in ("co_assignment", "co_class"):
        if callable(getattr(matrix, name, None)):
            matrix = getattr(matrix, name)()
            break
    share = array(owner, "matrix", matrix, (None, None), low=0.0)
    if share.shape[0] != share.shape[1] or (share > 1.0 + 1e-12).any() or not np.allclose(share, share.T):
        raise InvalidArgument(owner, "matrix", "a symmetric matrix of shares from 0 to 1", matrix)
    return share
