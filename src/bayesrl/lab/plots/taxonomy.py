"""The survey's taxonomy as a drawing.

plot_taxonomy("taxonomy.png")                         every method, by chapter and section
plot_taxonomy("online.png", which="online")           the planners of the table of online methods
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Literal

from bayesrl.checks import choice
from bayesrl.lab.plots.sheet import PALETTE, new_sheet, panels_of, write
from bayesrl.lab.taxonomy import Taxonomy, online_taxonomy, taxonomy

WIDTH = 88
"""Characters of a line of names."""
AT = (0.0, 1.3, 3.7)
"""Where branches, twigs and names begin."""
SPAN = 9.6
"""The width of the drawing in the same units."""
LINE = 0.15
"""The height of a line of names in inches."""


def plot_taxonomy(path: str | Path, which: Literal["all", "online"] = "all") -> Taxonomy:
    """Draw a taxonomy into a file (png, pdf, svg), and give back what was drawn."""
    choice("plot_taxonomy", "which", which, ("all", "online"))
    tree = taxonomy() if which == "all" else online_taxonomy()
    rows = {(branch, twig): textwrap.wrap(", ".join(names), WIDTH, break_on_hyphens=False)
            for branch, twigs in tree.items() for twig, names in twigs.items()}  # fmt: skip
    height = sum(len(lines) + 0.75 for lines in rows.values())
    sheet = new_sheet("plot_taxonomy", SPAN, 0.3 + LINE * height)
    axes = panels_of(sheet, 1, 1)[0]
    axes.set(xlim=(-0.1, SPAN), ylim=(height, -0.3))
    axes.set_axis_off()
    y = 0.0
    for k, (branch, twigs) in enumerate(tree.items()):
        colour, first, last = PALETTE[k % len(PALETTE)], y + 0.5, y
        for twig in twigs:
            lines = rows[branch, twig]
            last = y + 0.5
            axes.plot((AT[1] - 0.12, AT[1] - 0.02), (last, last), color=colour, linewidth=1.2)
            axes.text(AT[1], last, twig, fontsize=8, va="center", color=colour)
            axes.text(AT[2], y, "\n".join(lines), fontsize=8, va="top", linespacing=1.25)
            y += len(lines) + 0.75
        axes.plot((AT[1] - 0.12,) * 2, (first, last), color=colour, linewidth=1.2)
        axes.text(
            AT[0], first, "\n".join(textwrap.wrap(branch, 15)), fontsize=8.5, va="center", color=colour, weight="bold"
        )
    write("plot_taxonomy", sheet, path)
    return tree
