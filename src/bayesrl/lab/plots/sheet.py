"""Matplotlib figures without a display or global state: making them and writing them to files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesrl import _files
from bayesrl.errors import InvalidArgument, from_extra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours for colour-blind readers; after seven lines the dash changes."""
DASHES = ("-", "--", "-.", ":")


def new_sheet(owner: str, width: float, height: float) -> Figure:
    """An empty figure of that size in inches; the error names `owner` if matplotlib is not installed."""
    with from_extra(owner):
        from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def panels_of(sheet: Figure, rows: int, columns: int) -> Sequence[Axes]:
    """The panels of a figure, row by row."""
    return list(np.atleast_1d(sheet.subplots(rows, columns)).ravel())


def look(k: int) -> Mapping[str, Any]:
    """The colour and the dash of line k."""
    return {"color": PALETTE[k % len(PALETTE)], "linestyle": DASHES[k // len(PALETTE) % len(DASHES)]}


def open_axes(axes: Axes) -> None:
    """A light grid behind the curves, and no frame above and at the right."""
    axes.grid(color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def write(
    owner: str, sheet: Figure, path: str | Path, title: str | None = None, dpi: float | Literal["figure"] = "figure"
) -> None:
    """Write a figure to a file; the suffix decides the format."""
    if title:
        sheet.suptitle(title, fontsize="medium")
    to, picture = _files.file_name(owner, path), BytesIO()
    try:
        sheet.savefig(picture, format=to.suffix[1:], dpi=dpi)
    except ValueError:
        raise InvalidArgument(owner, "path", "a file that ends in .png, .pdf or .svg", str(path)) from None
    _files.write(to, picture.getvalue(), owner)
