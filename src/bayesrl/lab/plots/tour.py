"""The plot of a tour of the shop: what methods earn in each view of it, beside the optimum of the view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesrl.lab.plots.sheet import PALETTE, new_sheet, write

if TYPE_CHECKING:
    from bayesrl.lab.tour import Part


def plot_tour(parts: Sequence[Part], path: str | Path, title: str | None = "Profit of a customer, by view") -> None:
    """Draw each method's mean profit with its interval, part by part, and the optimum of each part as a line.

    Needs the extra `lab`.
    """
    lines = sum(len(part.rows) + 1 for part in parts)
    sheet = new_sheet("plot_tour", 7.2, 1.2 + 0.24 * lines)
    axes = sheet.subplots()
    y, places, labels = 0.0, [], []
    for k, part in enumerate(parts):
        color = PALETTE[k % len(PALETTE)]
        axes.text(0.0, y, f" {part.chapter}  {part.title}", fontsize="small", weight="bold", color=color, va="center")
        axes.plot([part.optimum] * 2, [y + 0.5, y + len(part.rows) + 0.5], color="0.4", linestyle="--", linewidth=1.2)
        for row in part.rows:
            y += 1.0
            if row.low is not None and row.high is not None:
                axes.plot([row.low, row.high], [y, y], color=color, linewidth=2.0, solid_capstyle="butt")
            axes.plot(row.profit, y, "o", color=color, markersize=4.5)
            places.append(y)
            labels.append(row.method)
        y += 1.0
    axes.set(xlim=(0.0, None), ylim=(y - 0.3, -0.7), yticks=places)
    axes.set_yticklabels(labels, fontsize="small")
    axes.set_xlabel("mean profit of a customer (bar: 95%; dashed: the optimum of the view)")
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    write("plot_tour", sheet, path, title)
