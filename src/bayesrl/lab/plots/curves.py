"""Curves over time: mean cumulative reward and regret with 95% bands, the optimum, and bounds on regret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesrl.checks import Floats
from bayesrl.lab.comparison import Comparison
from bayesrl.lab.measures.regret import Regret
from bayesrl.lab.plots.sheet import look, new_sheet, open_axes, panels_of, write
from bayesrl.lab.report import SAYS
from bayesrl.statistics import mean_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

    from bayesrl.bandits.bandit_bounds import Bound

POINTS = 500
"""Number of points on a curve."""
ROOM = {"exact": 10.0, "limit": 3.0, "leading": 3.0, "order": 1.0}
"""A bound extends the scale up to this multiple of the measured regret, so that curves stay readable."""


def curves(
    comparison: Comparison,
    path: str | Path,
    regrets: Mapping[str, Regret] | None = None,
    references: Mapping[str, float] | None = None,
    title: str | None = None,
    bounds: Mapping[str, Bound] | None = None,
    optimum: Floats | None = None,
) -> None:
    """Draw mean cumulative reward, and regret if given, with 95% bands; `references` are dashed horizontal lines.

    `optimum` is the largest expected total of the first t steps, (steps,), which is drawn as a line from the origin
    (`bayesrl.lab.measures.regret.optimal_totals` computes it). Bounds are drawn in the panel of their regret (see
    `regret_panel`). The suffix of the file decides the format (png, pdf, svg). Needs the extra `lab`.
    """
    write("curves", sheet_of(comparison, regrets, references, title, bounds, optimum), path)


def sheet_of(
    comparison: Comparison,
    regrets: Mapping[str, Regret] | None = None,
    references: Mapping[str, float] | None = None,
    title: str | None = None,
    bounds: Mapping[str, Bound] | None = None,
    optimum: Floats | None = None,
) -> Sheet:
    """The matplotlib figure that `curves` writes."""
    regrets, bounds = regrets or {}, bounds or {}
    of_choices = {name: bound for name, bound in bounds.items() if bound.regret == "stochastic"}
    panels = 1 + bool(regrets) + bool(regrets and of_choices)
    sheet = new_sheet("curves", 6.4 * panels, 4.4)
    axes = panels_of(sheet, 1, panels)
    for k, label in enumerate(comparison.labels):
        _line(axes[0], comparison.cumulative(label), label, look(k))
    _frame(axes[0], "cumulative reward", comparison.steps)
    if optimum is not None:
        x, y = np.arange(len(optimum) + 1), np.append(0.0, optimum)
        axes[0].plot(x, y, color="0.35", linestyle=(0, (4, 3)), linewidth=1.2, label="optimum", gid="optimum")
    for text, level in (references or {}).items():
        axes[0].axhline(level, color="0.35", linestyle=(0, (4, 3)), linewidth=1.0)
        axes[0].annotate(
            f"{text} {level:g}", (0.02, level), xycoords=("axes fraction", "data"), xytext=(0, 3),
            textcoords="offset points", color="0.35", fontsize="small",
        )  # fmt: skip
    if regrets:
        regret_panel(axes[1], regrets, bounds, comparison.labels)
    if panels == 3:
        regret_panel(axes[2], regrets, of_choices, comparison.labels, choices=True)
    handles, labels = axes[0].get_legend_handles_labels()
    abreast = max(66 * panels // (8 + max(map(len, labels))), 1)  # a panel is about 66 characters wide
    sheet.legend(handles, labels, frameon=False, loc="outside lower center", ncols=min(len(labels), abreast))
    sheet.suptitle(f"{title}, {comparison.size}" if title else comparison.size, fontsize="medium")
    return sheet


def regret_panel(
    axes: Axes,
    regrets: Mapping[str, Regret],
    bounds: Mapping[str, Bound],
    labels: Sequence[str],
    choices: bool = False,
) -> None:
    """Draw mean regret over time (or suboptimal choices) with 95% bands, and its bounds as thin lines with names.

    Lower bounds are solid, upper bounds dashed; a bound without its constant is dotted. The scale fits the measured
    regret and bounds that are not much larger (ROOM). Bounds outside the scale are listed below with their final
    values.
    """
    first = next(iter(regrets.values()))
    for label, lost in regrets.items():
        curve = lost.suboptimal if choices else lost.curve
        if curve is not None:
            _line(axes, curve, label, look(labels.index(label)))
    name = "suboptimal choices" if choices else first.name
    _frame(axes, name, len(first.curve))
    kind = "stochastic" if choices else first.name.partition(" ")[0]
    drawn = {name: bound for name, bound in bounds.items() if bound.regret == kind}
    if drawn:
        _draw_bounds(axes, drawn)


def _draw_bounds(axes: Axes, bounds: Mapping[str, Bound]) -> None:
    measured = axes.dataLim.y1
    top = 1.05 * max([measured, *(b.end for b in bounds.values() if b.end <= ROOM[b.kind] * measured)])
    axes.set_ylim(min(axes.dataLim.y0, 0.0), top)
    early = 0.05 * axes.get_xlim()[1]
    seen = {name: b for name, b in bounds.items() if np.interp(early, np.ravel(b.steps), np.ravel(b.value)) < top}
    marks = []
    for name, bound in seen.items():
        rough = bound.kind == "order"
        colour, dash = "0.55" if rough else "0.25", (0, (6, 3)) if bound.side == "upper" else "-"
        axes.plot(bound.steps, bound.value, color=colour, linestyle=":" if rough else dash, linewidth=1.0, gid=name)
        says = f" ({SAYS[bound.kind]})" if SAYS[bound.kind] else ""
        marks.append((bound.end, np.ravel(bound.steps)[-1], f"{bound.side}: {name}{says}", colour))
    height = 1.0
    for k, (y, x, text, colour) in enumerate(
        sorted(marks, reverse=True)
    ):  # labels beside the axes, one below the other
        height = min(height, max(y / top, 0.055 * (len(marks) - k)))
        where: Any = {"xycoords": "data", "textcoords": "axes fraction", "va": "center", "annotation_clip": False}
        leader = {"arrowstyle": "-", "color": "0.8", "linewidth": 0.6, "relpos": (0.0, 0.5)} if y <= top else None
        name = text if y <= top else f"{text} \N{UPWARDS ARROW}"
        axes.annotate(
            name, (x, min(y, top)), (1.03, height), color=colour, fontsize="x-small", arrowprops=leader, **where
        )
        height -= 0.055
    off = [
        f"{name} {bound.end:.3g}{' (vacuous)' if bound.vacuous else ''}"
        for name, bound in bounds.items()
        if name not in seen
    ]
    if off:
        note = "off the scale at the end: " + "; ".join(off)
        axes.annotate(
            fill(note, 72), (0.5, -0.17), xycoords="axes fraction", ha="center", va="top", color="0.45",
            fontsize="x-small",
        )  # fmt: skip


def _frame(axes: Axes, name: str, steps: int) -> None:
    axes.set(xlabel="step", ylabel=f"{name} (mean, 95% band)", xlim=(0, steps))
    open_axes(axes)


def _line(axes: Axes, values: Floats, label: str, look: Mapping[str, Any]) -> None:
    steps = len(values)
    at = np.unique(np.linspace(0, steps - 1, min(POINTS, steps)).round().astype(int))
    mean, half = mean_band(values[at])
    x, mean, half = np.append(0, at + 1), np.append(0.0, mean), np.append(0.0, half)
    axes.plot(x, mean, label=label, linewidth=1.6, **look)
    if np.isfinite(half).all():
        axes.fill_between(x, mean - half, mean + half, color=look["color"], alpha=0.18, linewidth=0)
