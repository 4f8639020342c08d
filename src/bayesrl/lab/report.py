"""Comparisons as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesrl.lab.comparison import Comparison, Summary, counted
from bayesrl.lab.literature.figures import FAMILY_RATE, Difference, Figure
from bayesrl.lab.measures.episodes import LAST, episodes
from bayesrl.lab.measures.regret import Regret
from bayesrl.statistics import Interval

if TYPE_CHECKING:
    from rich.table import Table

    from bayesrl.bandits.bandit_bounds import Bound

SAYS = {"exact": "", "limit": "for large T", "leading": "leading term", "order": "shape only"}
"""Remarks on the kinds of bounds."""


def comparison_table(
    comparison: Comparison,
    regrets: Mapping[str, Regret] | None = None,
    figures: Mapping[str, Sequence[Figure]] | None = None,
    title: str | None = None,
    measures: Mapping[str, Mapping[str, Interval]] | None = None,
) -> Table:
    """A table of methods with their returns and, if given, their regrets and published figures.

    Where episodes end, it also has their number and the mean return of the last ones, both averages over runs.

    A published figure gets a verdict (agrees, differs) only if its provenance allows it; otherwise the provenance is
    shown. All verdicts of one table are tested together (literature/figures.py). `measures` are quantities that figures
    are about, besides those that all records have.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    regrets, figures = regrets or {}, figures or {}
    said = [comparison.size, *sorted({lost.name for lost in regrets.values()})]
    if comparison.runs > 1:
        said.insert(0, "mean ± half the 95% interval")
    summaries = comparison.summary()
    measured = {label: _measures(summary, regrets.get(label)) for label, summary in summaries.items()}
    measured = {label: found | dict((measures or {}).get(label, {})) for label, found in measured.items()}
    gaps = {
        (label, k): figure.difference(measured[label][figure.metric])
        for label, found in figures.items()
        for k, figure in enumerate(found)
        if figure.metric in measured[label]
    }
    judged = sum(gap is not None and gap.judged for gap in gaps.values())
    if judged:
        said.append(f"{counted(judged, 'figure')} judged, {FAMILY_RATE:.0%} false alarms among all")
    ended = {label: episodes(comparison[label]) for label in summaries}
    if any(ended.values()):
        said.append(f"last {LAST}: return of the last {LAST} episodes")
    table = Table(title=title, caption=", ".join(said), box=box.SIMPLE_HEAD)
    table.show_edge, table.pad_edge, table.collapse_padding = False, False, True
    table.add_column("method", style="bold", no_wrap=True)
    table.add_column("return", justify="right", no_wrap=True)
    table.add_column("discounted", justify="right")
    if any(ended.values()):
        table.add_column("episodes", justify="right")
        table.add_column(f"last {LAST}", justify="right", no_wrap=True)
    if regrets:
        table.add_column("regret", justify="right")
        table.add_column("suboptimal", justify="right")
    table.add_column("per step", justify="right", no_wrap=True)
    if figures:
        table.add_column("published", min_width=12)
    for label, summary in summaries.items():
        lost = regrets.get(label)
        cells = [escape(label), interval(summary.total), interval(summary.discounted)]
        if any(ended.values()):
            went = ended[label]
            cells += ["-", "-"] if went is None else [f"{went.finished.mean:.0f}", interval(went.final_return)]
        if regrets:
            cells += [interval(lost.total if lost else None), interval(lost.stochastic if lost else None)]
        cells.append(duration(summary.seconds_per_step))
        if figures:
            found = enumerate(figures.get(label, ()))
            cells.append("\n".join(_published(figure, gaps.get((label, k)), judged) for k, figure in found))
        table.add_row(*cells)
    return table


def bounds_table(bounds: Mapping[str, Bound]) -> Table:
    """A table of bounds with their values at the last step."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.show_edge, table.pad_edge, table.collapse_padding = False, False, True
    for name in ("bound", "on", "value"):
        table.add_column(name, justify="right" if name == "value" else "left", no_wrap=True)
    table.add_column("")
    for name, bound in sorted(bounds.items(), key=lambda item: (item[1].kind == "order", item[1].end)):
        on = "suboptimal choices" if bound.regret == "stochastic" else f"{bound.regret} regret"
        empty = "vacuous: above the largest possible regret" if bound.vacuous else ""
        table.add_row(name, on, f"{bound.end:.4g}", ", ".join(filter(None, (bound.side, SAYS[bound.kind], empty))))
    return table


def interval(x: Interval | None) -> str:
    """A mean and the half width of its interval, rounded to the digits that the interval supports.

    >>> interval(Interval(3158.27, 3127.5, 3189.04, 500))
    '3158.3 ± 30.8'
    """
    if x is None:
        return "-"
    half = x.half_width
    # Two digits of the half width; an exact or a single value is shown with up to six digits.
    if 0.0 < half < np.inf:
        digits = int(np.clip(1 - np.floor(np.log10(half)), 0, 6)) if half < 10 else int(half < 100)
        return f"{x.mean:.{digits}f} ± {half:.{digits}f}"
    return f"{x.mean:.6g} ± 0" if half == 0.0 else f"{x.mean:.6g}"


def duration(seconds: float) -> str:
    """A time in a suitable unit."""
    if np.isnan(seconds):
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _measures(summary: Summary, lost: Regret | None) -> dict[str, Interval]:
    """The measured quantities by the names of published figures."""
    named = {"return": summary.total, "discounted return": summary.discounted}
    return named if lost is None else named | {"regret": lost.total, lost.name: lost.total}


def _published(figure: Figure, gap: Difference | None, judged: int) -> str:
    spread = "" if figure.spread is None else f" ± {figure.spread:g}"
    verdict = None if gap is None else gap.verdict(judged)
    colour = {"agrees": "green", "differs": "red"}.get(verdict or "", "dim")
    name = "" if figure.metric == "return" else f"{figure.metric} "
    return f"{name}{figure.value:g}{spread} [{colour}]{verdict or figure.provenance}[/]"
