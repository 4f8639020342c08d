"""Comparisons for the eye: a table for the terminal and curves for a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.lab.comparison import Comparison, Summary
from bayesrl.lab.literature.figures import FAMILY_RATE, Difference, Figure
from bayesrl.lab.measures.regret import Regret
from bayesrl.lab.statistics import Interval, mean_band

if TYPE_CHECKING:
    from rich.table import Table

    from bayesrl.bandits.bandit_bounds import Bound

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, told apart also by the colour-blind; with them lines change their dash (below)."""
DASHES = ("-", "--", "-.", ":")
POINTS = 500
"""Points drawn along a curve."""
ROOM = {"exact": 10.0, "limit": 3.0, "leading": 3.0, "order": 1.0}
"""A bound widens the scale up to so many times what was measured, so that curves are not flattened to show it."""
SAYS = {"exact": "", "limit": "for large T", "leading": "leading term", "order": "shape only"}
"""What is to be said of a kind of bound."""


# The table -----------------------------------------------------------------------------------------------------------


def comparison_table(
    comparison: Comparison,
    regrets: Mapping[str, Regret] | None = None,
    figures: Mapping[str, Sequence[Figure]] | None = None,
    title: str | None = None,
) -> Table:
    """Each method with its returns and, where given, its regrets and the published figures for its set-up.

    A published figure stands beside the measure it is of, and is judged (agrees, differs) only where its provenance
    allows; one that is merely recalled is shown as such. All that a table judges are one family (figures.py).
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    regrets, figures = regrets or {}, figures or {}
    size = f"{_counted(comparison.runs, 'run')} of {_counted(comparison.steps, 'step')}"
    said = [size, *sorted({lost.name for lost in regrets.values()})]
    if comparison.runs > 1:
        said.insert(0, "mean ± half the 95% interval")
    summaries = comparison.summary()
    measured = {label: _measures(summary, regrets.get(label)) for label, summary in summaries.items()}
    gaps = {
        (label, k): figure.difference(measured[label][figure.metric])
        for label, found in figures.items()
        for k, figure in enumerate(found)
        if figure.metric in measured[label]
    }
    judged = sum(gap is not None for gap in gaps.values())
    if judged:
        said.append(f"{_counted(judged, 'figure')} judged, {FAMILY_RATE:.0%} false alarms among all")
    table = Table(title=title, caption=", ".join(said), box=box.SIMPLE_HEAD)
    table.show_edge, table.pad_edge, table.collapse_padding = False, False, True
    table.add_column("method", style="bold", no_wrap=True)
    table.add_column("return", justify="right", no_wrap=True)
    table.add_column("discounted", justify="right")
    if regrets:
        table.add_column("regret", justify="right")
        table.add_column("suboptimal", justify="right")
    table.add_column("per step", justify="right", no_wrap=True)
    if figures:
        table.add_column("published", min_width=12)
    for label, summary in summaries.items():
        lost = regrets.get(label)
        cells = [escape(label), interval(summary.total), interval(summary.discounted)]
        if regrets:
            cells += [interval(lost.total if lost else None), interval(lost.stochastic if lost else None)]
        cells.append(duration(summary.seconds_per_step))
        if figures:
            found = enumerate(figures.get(label, ()))
            cells.append("\n".join(_published(figure, gaps.get((label, k)), judged) for k, figure in found))
        table.add_row(*cells)
    return table


def bounds_table(bounds: Mapping[str, Bound]) -> Table:
    """Each bound with its value at the last step; where a constant is not known, only the shape means anything."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.show_edge, table.pad_edge, table.collapse_padding = False, False, True
    for name in ("bound", "on", "value"):
        table.add_column(name, justify="right" if name == "value" else "left", no_wrap=True)
    table.add_column("")
    for name, bound in sorted(bounds.items(), key=lambda item: (item[1].kind == "order", item[1].end)):
        on = "suboptimal choices" if bound.regret == "stochastic" else f"{bound.regret} regret"
        table.add_row(name, on, f"{bound.end:.4g}", ", ".join(filter(None, (bound.side, SAYS[bound.kind]))))
    return table


def interval(x: Interval | None) -> str:
    """A mean with half its interval, to the digits that the interval supports.

    >>> interval(Interval(3158.27, 3127.5, 3189.04, 500))
    '3158.3 ± 30.8'
    """
    if x is None:
        return "-"
    half = x.half_width
    # Two digits of the half width; an exact or a single value gets the digits it has, up to six in all.
    if 0.0 < half < np.inf:
        digits = int(np.clip(1 - np.floor(np.log10(half)), 0, 6)) if half < 10 else int(half < 100)
        return f"{x.mean:.{digits}f} ± {half:.{digits}f}"
    return f"{x.mean:.6g} ± 0" if half == 0.0 else f"{x.mean:.6g}"


def duration(seconds: float) -> str:
    """A short time in its own unit."""
    if np.isnan(seconds):
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _measures(summary: Summary, lost: Regret | None) -> dict[str, Interval]:
    """What was measured, by the names that published figures go by."""
    named = {"return": summary.total, "discounted return": summary.discounted}
    return named if lost is None else named | {"regret": lost.total, lost.name: lost.total}


def _published(figure: Figure, gap: Difference | None, judged: int) -> str:
    spread = "" if figure.spread is None else f" ± {figure.spread:g}"
    verdict = None if gap is None else gap.verdict(judged)
    colour = {"agrees": "green", "differs": "red", None: "dim"}[verdict]
    name = "" if figure.metric == "return" else f"{figure.metric} "
    return f"{name}{figure.value:g}{spread} [{colour}]{verdict or figure.provenance}[/]"


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


# The curves ----------------------------------------------------------------------------------------------------------


def curves(
    comparison: Comparison,
    path: str | Path,
    regrets: Mapping[str, Regret] | None = None,
    references: Mapping[str, float] | None = None,
    title: str | None = None,
    bounds: Mapping[str, Bound] | None = None,
) -> None:
    """Mean cumulative reward, and regret where given, with 95% bands; `references` are dashed lines at final returns.

    Bounds stand beside the regret that they are of (see `regret_panel`). The file's ending decides the format (png,
    pdf, svg). Needs the extra `lab`.
    """
    write("curves", sheet_of(comparison, regrets, references, title, bounds), path)


def sheet_of(
    comparison: Comparison,
    regrets: Mapping[str, Regret] | None = None,
    references: Mapping[str, float] | None = None,
    title: str | None = None,
    bounds: Mapping[str, Bound] | None = None,
) -> Any:
    """The matplotlib figure that `curves` writes."""
    from matplotlib.figure import Figure as Sheet  # drawn on this sheet alone: no global state, no screen

    regrets, bounds = regrets or {}, bounds or {}
    of_choices = {name: bound for name, bound in bounds.items() if bound.regret == "stochastic"}
    panels = 1 + bool(regrets) + bool(regrets and of_choices)
    sheet = Sheet(figsize=(6.4 * panels, 4.4), dpi=150, layout="constrained")
    axes = np.atleast_1d(sheet.subplots(1, panels))
    for k, label in enumerate(comparison.labels):
        _line(axes[0], comparison.cumulative(label), label, _look(k))
    _frame(axes[0], "cumulative reward", comparison.steps)
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
    abreast = max(66 * panels // (8 + max(map(len, labels))), 1)  # a panel is some 66 letters wide
    sheet.legend(handles, labels, frameon=False, loc="outside lower center", ncols=min(len(labels), abreast))
    size = f"{_counted(comparison.runs, 'run')} of {_counted(comparison.steps, 'step')}"
    sheet.suptitle(f"{title}, {size}" if title else size, fontsize="medium")
    return sheet


def regret_panel(
    axes: Any,
    regrets: Mapping[str, Regret],
    bounds: Mapping[str, Bound],
    labels: Sequence[str],
    choices: bool = False,
) -> None:
    """Mean regret over time (or suboptimal choices) with 95% bands, and the bounds on it as thin lines with names.

    Lower bounds are drawn through, upper ones dashed; dotted is what is known up to a constant, of which only the shape
    means anything. The scale is that of what was measured and of bounds that are not too much larger (ROOM); bounds
    that leave it at once are named below, with their values at the end.
    """
    first = next(iter(regrets.values()))
    for label, lost in regrets.items():
        curve = lost.suboptimal if choices else lost.curve
        if curve is not None:
            _line(axes, curve, label, _look(labels.index(label)))
    name = "suboptimal choices" if choices else first.name
    _frame(axes, name, len(first.curve))
    kind = "stochastic" if choices else first.name.partition(" ")[0]
    drawn = {name: bound for name, bound in bounds.items() if bound.regret == kind}
    if drawn:
        _draw_bounds(axes, drawn)


def _draw_bounds(axes: Any, bounds: Mapping[str, Bound]) -> None:
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
    for k, (y, x, text, colour) in enumerate(sorted(marks, reverse=True)):  # beside the axes, one below the other
        height = min(height, max(y / top, 0.055 * (len(marks) - k)))
        where = {"xycoords": "data", "textcoords": "axes fraction", "va": "center", "annotation_clip": False}
        leader = {"arrowstyle": "-", "color": "0.8", "linewidth": 0.6, "relpos": (0.0, 0.5)} if y <= top else None
        name = text if y <= top else f"{text} \N{UPWARDS ARROW}"
        axes.annotate(
            name, (x, min(y, top)), (1.03, height), color=colour, fontsize="x-small", arrowprops=leader, **where
        )
        height -= 0.055
    off = [f"{name} {bound.end:.3g}" for name, bound in bounds.items() if name not in seen]
    if off:
        note = "off the scale at the end: " + "; ".join(off)
        axes.annotate(
            fill(note, 72), (0.5, -0.17), xycoords="axes fraction", ha="center", va="top", color="0.45",
            fontsize="x-small",
        )  # fmt: skip


def _frame(axes: Any, name: str, steps: int) -> None:
    axes.set(xlabel="step", ylabel=f"{name} (mean, 95% band)", xlim=(0, steps))
    axes.grid(color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def write(owner: str, sheet: Any, path: str | Path) -> None:
    """Write a figure into a file."""
    try:
        sheet.savefig(path)
    except ValueError:
        raise InvalidArgument(owner, "path", "a file that ends in .png, .pdf or .svg", str(path)) from None
    except OSError as error:
        raise InvalidArgument(owner, "path", "a file that can be written", str(path), f"{error.strerror}.") from None


def _look(k: int) -> dict[str, Any]:
    return {"color": PALETTE[k % len(PALETTE)], "linestyle": DASHES[k // len(PALETTE) % len(DASHES)]}


def _line(axes: Any, values: Floats, label: str, look: Mapping[str, Any]) -> None:
    steps = len(values)
    at = np.unique(np.linspace(0, steps - 1, min(POINTS, steps)).round().astype(int))
    mean, half = mean_band(values[at])
    x, mean, half = np.append(0, at + 1), np.append(0.0, mean), np.append(0.0, half)
    axes.plot(x, mean, label=label, linewidth=1.6, **look)
    if np.isfinite(half).all():
        axes.fill_between(x, mean - half, mean + half, color=look["color"], alpha=0.18, linewidth=0)
