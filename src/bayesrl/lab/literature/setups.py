"""The set-ups of the literature: how every acting method of chapter 4 is run on each world (data/setups.json).

A world has one prior or a list of them. With a list, a row stands for each of them unless it names its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from bayesrl.errors import UnknownName, UnreadableFile
from bayesrl.lab.build import acting, acts, believes, named
from bayesrl.registry import Entry, entries

OPTIMUM = "optimum"
"""The row of a family of worlds in which every world drawn is solved: what an agent that knows its world earns."""
QUICK_RUNS, QUICK_SECONDS = 3, 2.0
"""With --quick: at most this number of runs of each row, and only rows of which a run takes at most these seconds."""


@dataclass(frozen=True, slots=True)
class Row:
    """How one method is run on one world."""

    world: str
    """With its parameters, as on the command line."""
    method: str
    """With its parameters."""
    prior: str | None
    """None where the method has no belief."""
    runs: int
    steps: int | None = None
    """None: the world's own."""
    since: int = 0
    """The return is counted after this number of steps."""
    seconds: float = 0.5
    """The approximate time of a run, in seconds."""
    remark: str = ""
    discounted: bool = False
    """Whether the return is counted at the world's discount."""

    @property
    def metric(self) -> str:
        """The measured quantity, by its name in published figures."""
        if self.since:
            return f"return in steps {self.since + 1} to {self.steps}"
        return "discounted return" if self.discounted else "return"


@cache
def set_ups() -> dict[str, tuple[Row, ...]]:
    """How everything is run, by the name of the world."""
    page = files("bayesrl.lab.literature").joinpath("data/setups.json")
    try:
        return {named(each["world"])[0]: _rows(each) for each in json.loads(page.read_text("utf-8"))}
    except (OSError, ValueError, TypeError, KeyError):
        raise UnreadableFile("bayesrl/lab/literature/data/setups.json", "the installation is damaged") from None


def _rows(page: Mapping[str, Any]) -> tuple[Row, ...]:
    priors = [page["prior"]] if isinstance(page["prior"], str) else page["prior"]
    shared = {"world": page["world"], "discounted": page.get("discounted", False)}
    found = []
    for prior in priors:
        for row in page["rows"]:
            name = named(row["method"])[0]
            if name == OPTIMUM or not believes(acting(name)):
                if prior == priors[0]:
                    found.append(Row(**shared, **row, prior=None))
            elif row.get("prior", prior) == prior or row["prior"] not in priors:
                found.append(Row(**shared, **({"prior": prior} | row)))
    return tuple(found)


def chapter() -> list[Entry]:
    """The methods that have a row on every world: the acting methods of chapter 4."""
    return [entry for entry in entries().values() if entry.package == "bamdp" and acts(entry)]


def chosen(worlds: Sequence[str] = (), *, quick: bool = False) -> list[Row]:
    """The rows of these worlds (all, if none is named)."""
    known = set_ups()
    for name in worlds:
        if name not in known:
            raise UnknownName("world with published scores", name, known)
    rows = [row for name in worlds or known for row in known[name]]
    return [row for row in rows if row.seconds <= QUICK_SECONDS] if quick else rows


def row_key(row: Row) -> tuple[Any, ...]:
    """The key that identifies a row."""
    return row.world, row.method, row.prior, row.steps, row.since
