"""Text, tables and JSON on standard output."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from bayesrl.lab.experiment import Experiment


def console() -> Console:
    """A console on standard output; lines are not cut unless it is a terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 1000, highlight=False)


def put(text: str, style: str = "") -> None:
    """Print a line or a paragraph."""
    from rich.text import Text

    console().print(Text(text, style))


def put_results(done: Experiment) -> None:
    """Print the table of an experiment, without regrets if the terminal is too narrow."""
    out, table = console(), done.table()
    published = any("regret" in figure.metric for found in done.figures().values() for figure in found)
    wide = out.measure(table, options=out.options.update_width(1000)).maximum > out.width
    out.print(done.table(regrets=False) if wide and not published else table)
    if done.bounds:
        from bayesrl.lab.report import bounds_table

        out.print("", bounds_table(done.bounds))


def put_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a plain table; long text in the last column is wrapped."""
    from rich.table import Table
    from rich.text import Text

    *first, last = columns
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in first:
        table.add_column(name, no_wrap=True)
    table.add_column(last, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


def put_notes(notes: Iterable[str]) -> None:
    """Print sentences on standard error."""
    for note in notes:
        print(note, file=sys.stderr)


def put_json(page: object) -> None:
    """Print strict JSON; a number that is not finite becomes null."""
    print(json.dumps(_finite(page), indent=2, allow_nan=False))


def _finite(x: object) -> object:
    if isinstance(x, dict):
        return {key: _finite(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_finite(value) for value in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x
