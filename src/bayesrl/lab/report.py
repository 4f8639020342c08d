"""Comparisons for the eye: a table for the terminal and curves for a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.lab.comparison import Comparison, Summary
from bayesrl.lab.figures import FAMILY_RATE, Difference, Figure
from bayesrl.lab.regret import Regret
from bayesrl.lab.statistics import Interval, mean_band

if TYPE_CHECKING:
    from rich.table import Table

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, told apart also by the colour-blind; with them lines change their dash (below)."""
DASHES = ("-", "--", "-.", ":")
POINTS = 500
"""Points drawn along a curve."""


# The table -----------------------------------------------------------------------------------------------------------


def comparison_table(
    comparison: Comparison,
    regrets: Mapping[str, Regret] | None = None,
    figures: Mapping[str, Sequence[Figure]] | None = None,
    title: str | None = None,
) -> Table:
    """Each method with its returns and, where given, its regrets and the published figures for its set-up.

    A published figure stands beside the measure it is of, and is judged (agrees, differs) only where its provenance
    allows; one that is merely recalled is shown as such. All that a table judges are one family (lab/figures.py).
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
) -> None:
    """Mean cumulative reward, and regret where given, with 95% bands; `references` are dashed lines at final returns.

    The file's ending decides the format (png, pdf, svg). Needs the extra `lab`.
    """
    from matplotlib.figure import Figure as Sheet  # drawn on this sheet alone: no global state, no screen

    path = Path(path)
    panels = [("cumulative reward", {label: comparison.cumulative(label) for label in comparison.labels})]
    if regrets:
        panels.append((next(iter(regrets.values())).name, {label: lost.curve for label, lost in regrets.items()}))
    sheet = Sheet(figsize=(6.4 * len(panels), 4.2), dpi=150, layout="constrained")
    style = {label: _look(k) for k, label in enumerate(comparison.labels)}
    for axes, (name, lines) in zip(np.atleast_1d(sheet.subplots(1, len(panels))), panels, strict=True):
        for label, values in lines.items():
            _line(axes, values, label, style[label])
        axes.set(xlabel="step", ylabel=f"{name} (mean, 95% band)", xlim=(0, comparison.steps))
        axes.grid(color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        if name == "cumulative reward":
            for text, level in (references or {}).items():
                axes.axhline(level, color="0.35", linestyle=(0, (4, 3)), linewidth=1.0)
                axes.annotate(
                    f"{text} {level:g}", (0.02, level), xycoords=("axes fraction", "data"), xytext=(0, 3),
                    textcoords="offset points", color="0.35", fontsize="small",
                )  # fmt: skip
    sheet.axes[0].legend(frameon=False, loc="best")
    size = f"{_counted(comparison.runs, 'run')} of {_counted(comparison.steps, 'step')}"
    sheet.suptitle(f"{title}, {size}" if title else size, fontsize="medium")
    try:
        sheet.savefig(path)
    except ValueError:
        raise InvalidArgument("curves", "path", "a file that ends in .png, .pdf or .svg", str(path)) from None
    except OSError as error:
        raise InvalidArgument("curves", "path", "a file that can be written", str(path), f"{error.strerror}.") from None


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
