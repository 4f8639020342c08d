"""Scores on the worlds of the literature, beside what others published: `bayesrl reproduce --world double-loop`.

data/setups.json says, for each world, how every acting method of chapter 4 is run there (prior, parameters, number of
runs). Each of its rows is one `experiment`; nothing is measured in another way. Published figures
(figures.py) stand beside the last row of their method whose set-up they do not contradict, and all that are judged in
one report are one family.

    python -m bayesrl.lab.literature.reproduce docs/scores.json docs/scores.md  the page, from saved scores
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesrl._version import code_version
from bayesrl.errors import UnknownName, UnreadableFile
from bayesrl.lab.build import acting, acts, believes, named, world_for
from bayesrl.lab.experiment import experiment
from bayesrl.lab.literature.figures import FAMILY_RATE, JUDGED, Difference, Figure, lookup, published
from bayesrl.lab.report import duration, interval
from bayesrl.lab.statistics import Interval, mean_interval
from bayesrl.models.solve import policy_total
from bayesrl.registry import Entry, entries

if TYPE_CHECKING:
    from rich.table import Table

QUICK_RUNS, QUICK_SECONDS = 3, 2.0
"""With --quick: at most so many runs of each row, and no row of which a run takes longer than so many seconds."""


# What is run ---------------------------------------------------------------------------------------------------------


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
    """The return is counted after so many steps."""
    seconds: float = 0.5
    """What a run takes, roughly."""
    remark: str = ""

    @property
    def metric(self) -> str:
        """What is measured, by the name that published figures go by."""
        return f"return in steps {self.since + 1} to {self.steps}" if self.since else "return"


@cache
def set_ups() -> dict[str, tuple[Row, ...]]:
    """How everything is run, by the name of the world."""
    page = files("bayesrl.lab.literature").joinpath("data/setups.json")
    try:
        return {named(each["world"])[0]: _rows(each) for each in json.loads(page.read_text("utf-8"))}
    except (OSError, ValueError, TypeError, KeyError):
        raise UnreadableFile("bayesrl/lab/literature/data/setups.json", "the installation is damaged") from None


def _rows(page: Mapping[str, Any]) -> tuple[Row, ...]:
    rows = [{"prior": page["prior"], **row, "world": page["world"]} for row in page["rows"]]
    for row in rows:
        if not believes(acting(named(row["method"])[0])):
            row["prior"] = None
    return tuple(Row(**row) for row in rows)


def chapter() -> list[Entry]:
    """The methods that every world has a row for: those of chapter 4 that act."""
    return [entry for entry in entries().values() if entry.package == "bamdp" and acts(entry)]


def chosen(worlds: Sequence[str] = (), *, quick: bool = False) -> list[Row]:
    """The rows of these worlds (all, if none is named)."""
    known = set_ups()
    for name in worlds:
        if name not in known:
            raise UnknownName("world with published scores", name, known)
    rows = [row for name in worlds or known for row in known[name]]
    return [row for row in rows if row.seconds <= QUICK_SECONDS] if quick else rows


# Running it ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """What a row gave."""

    row: Row
    ours: Interval
    params: Mapping[str, Any]
    steps: int
    gamma: float
    seed: int
    seconds_per_step: float
    version: str

    def to_json(self) -> dict[str, Any]:
        """As JSON, from which `read` makes it again."""
        row = {name: getattr(self.row, name) for name in Row.__slots__ if name != "seconds"}
        mine = {name: getattr(self, name) for name in Score.__slots__ if name not in ("row", "ours")}
        return {"row": row, "metric": self.row.metric, "ours": self.ours.to_json(), **mine}


def measure(row: Row, seed: int = 0, runs: int | None = None, **how: Any) -> Score:
    """Run one row; `how` are further arguments of `compare`."""
    done = experiment([row.method], row.world, row.prior, steps=row.steps, runs=runs or row.runs, seed=seed, **how)
    page = done.pages()[0]
    record = done.comparison[row.method]
    ours = mean_interval(record.columns["reward"][row.since :].sum(axis=0) if row.since else record.total)
    pace = float(page["seconds_per_step"])
    return Score(row, ours, page["params"], page["steps"], float(done.world.gamma), seed, pace, code_version())


def reproduce(
    rows: Sequence[Row],
    seed: int = 0,
    runs: int | None = None,
    known: Sequence[Score] = (),
    tell: Callable[[Row, Score], None] = lambda row, score: None,
    **how: Any,
) -> list[Score]:
    """Run rows one after the other, but for those that are `known` already; `tell` hears of each new score."""
    old = {_identity(score.row, score.ours.n, score.seed, score.version): score for score in known}
    scores = []
    for row in rows:
        score = old.get(_identity(row, runs or row.runs, seed, code_version()))
        if score is None:
            score = measure(row, seed, runs, **how)
            tell(row, score)
        scores.append(score)
    return scores


def _identity(row: Row, runs: int, seed: int, version: str) -> tuple[Any, ...]:
    return *_row_of(row), runs, seed, version


def _row_of(row: Row) -> tuple[Any, ...]:
    return row.world, row.method, row.prior, row.steps, row.since


def write(scores: Iterable[Score], path: Path) -> None:
    """Keep scores in a file of JSON, one in a line."""
    lines = [json.dumps(score.to_json()) for score in scores]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def read(path: Path) -> list[Score]:
    """Scores from a file that `write` made."""
    try:
        pages = json.loads(path.read_text("utf-8"))
        return [_score(page) for page in pages]
    except (OSError, ValueError, TypeError, KeyError):
        raise UnreadableFile(str(path), "it does not hold scores") from None


def _score(page: Mapping[str, Any]) -> Score:
    row = Row(**page["row"])
    mean, low, high, n = (page["ours"][name] for name in ("mean", "low", "high", "n"))
    ours = Interval(mean, -np.inf if low is None else low, np.inf if high is None else high, n)
    return Score(row, ours, **{name: page[name] for name in Score.__slots__ if name not in ("row", "ours")})


# Judging it ----------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A score and one published figure beside it, or none."""

    score: Score
    figure: Figure | None
    gap: Difference | None
    judged: int
    """How many figures are judged in this report."""

    @property
    def verdict(self) -> str:
        """agrees, differs, or nothing."""
        return "" if self.gap is None else self.gap.verdict(self.judged)

    @property
    def detects(self) -> str:
        """The difference that would be noticed nine times in ten."""
        return "" if self.gap is None else f"{float(f'{self.gap.detectable(self.judged):.2g}'):g}"


def judge(scores: Sequence[Score]) -> list[Line]:
    """Every score with the figures that stand beside it."""
    beside: dict[int, list[Figure]] = {k: [] for k in range(len(scores))}
    for figure in published():
        fits = [k for k, score in enumerate(scores) if _fits(figure, score)]
        if fits:
            beside[fits[-1]].append(figure)
    order = {kind: k for k, kind in enumerate(JUDGED)}
    found: list[tuple[Score, Figure | None, Difference | None]] = []
    for score, figures in zip(scores, beside.values(), strict=True):
        figures.sort(key=lambda figure: order.get(figure.provenance, len(order)))
        found += [(score, figure, figure.difference(score.ours)) for figure in figures] or [(score, None, None)]
    judged = sum(gap is not None for *_, gap in found)
    return [Line(*each, judged) for each in found]


def _fits(figure: Figure, score: Score) -> bool:
    row = score.row
    rows = lookup(
        named(row.method)[0], named(row.world)[0], row.prior, score.params, score.steps,
        gamma=score.gamma, metric=row.metric,
    )  # fmt: skip
    return figure in rows


def missing(world: str) -> list[Figure]:
    """Figures published for this world that no row stands beside: their method is not in the library."""
    names = {entry.name for entry in chapter()} | set(EXACT)
    return [figure for figure in published() if figure.world == world and figure.method not in names]


EXACT: dict[str, Callable[[Any], float]] = {
    "optimum": lambda world: float(world.optimum()),
    "always-a": lambda world: _always(world, 0),
    "always-b": lambda world: _always(world, 1),
    "easy-loop": lambda world: _always(world, 0),
}
"""Returns that are known without running anything, by the names that figures.json has for them."""


def _always(world: Any, action: int) -> float:
    policy = np.zeros((world.n_states, world.n_actions))
    policy[:, action] = 1.0
    return float(policy_total(world, policy, world.steps))


def exact(world: str) -> list[tuple[Figure, float]]:
    """Exact figures for this world, each with what we compute."""
    place = world_for(world)
    return [(figure, EXACT[figure.method](place)) for figure in published() if _exact_of(figure, world)]


def _exact_of(figure: Figure, world: str) -> bool:
    return figure.world == world and figure.method in EXACT and figure.spread_kind == "exact"


# Saying it -----------------------------------------------------------------------------------------------------------

COLUMNS = ("method", "prior", "runs", "ours", "per step", "published", "where from", "verdict", "would notice")


def cells(line: Line, first: bool) -> list[str]:
    """A line of the table; only the first of a score repeats the score."""
    score, figure = line.score, line.figure
    row = score.row
    late = f", steps {row.since + 1} to {row.steps}" if row.since else ""
    mine = [f"{row.method}{late}", row.prior or "none", str(score.ours.n), interval(score.ours)]
    theirs = ["", "", "", ""]
    if figure is not None:
        of = "" if figure.runs is None else f", {figure.runs} runs"
        theirs = [_value(figure) + of, figure.provenance, line.verdict, line.detects]
    return [*(mine if first else [""] * 4), duration(score.seconds_per_step) if first else "", *theirs]


def _value(figure: Figure) -> str:
    return f"{figure.value:g}" if figure.spread is None else f"{figure.value:g} ± {figure.spread:g}"


def tables(scores: Sequence[Score]) -> list[Table]:
    """One table for each world, for `rich.print`."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    lines, made = judge(scores), []
    for world, mine in _by_world(lines).items():
        table = Table(title=world, caption=caption(lines), box=box.SIMPLE_HEAD)
        table.show_edge, table.pad_edge, table.collapse_padding = False, False, True
        for name in COLUMNS:
            table.add_column(name, overflow="fold", justify="right" if name in ("runs", "ours", "per step") else "left")
        for line, first in mine:
            colour = {"agrees": "green", "differs": "red", "": ""}[line.verdict]
            texts = map(Text, cells(line, first))
            table.add_row(*(Text(t.plain, colour) if k == COLUMNS.index("verdict") else t for k, t in enumerate(texts)))
        made.append(table)
    return made


def caption(lines: Sequence[Line]) -> str:
    """The rule of the verdicts, in a sentence."""
    judged = lines[0].judged if lines else 0
    return (
        f"ours: mean ± half the 95% interval; published: ± as published; {judged} figures judged, each at "
        f"{FAMILY_RATE:g} / {judged}: all verdicts together raise a false alarm with probability {FAMILY_RATE:.0%}"
    )


def pages(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Scores with their figures and verdicts, ready for JSON."""
    found: list[dict[str, Any]] = []
    for line, first in [pair for mine in _by_world(judge(scores)).values() for pair in mine]:
        if first:
            found.append({**line.score.to_json(), "published": []})
        if line.figure is not None:
            names = ("value", "spread", "spread_kind", "runs", "source", "provenance", "note")
            known = {name: getattr(line.figure, name) for name in names}
            tested = {"verdict": line.verdict or None, "p": None if line.gap is None else line.gap.p}
            found[-1]["published"].append({**known, **tested, "judged_together": line.judged})
    return found


def _by_world(lines: Sequence[Line]) -> dict[str, list[tuple[Line, bool]]]:
    """Lines by world, each with whether it is the first of its score."""
    found: dict[str, list[tuple[Line, bool]]] = {}
    before = None
    for line in lines:
        found.setdefault(line.score.row.world, []).append((line, line.score is not before))
        before = line.score
    return found


# The page ------------------------------------------------------------------------------------------------------------


def markdown(scores: Sequence[Score], notes: str = "") -> str:
    """The page of scores: a table for each world, and notes written by hand."""
    order = {_row_of(row): k for k, row in enumerate(chosen())}
    scores = sorted(scores, key=lambda score: order.get(_row_of(score.row), len(order)))
    lines = judge(scores)
    versions = sorted({(score.version, score.seed) for score in scores})
    made = ", ".join(f"version {version}, seed {seed}" for version, seed in versions)
    parts = [HEAD.format(made=made, judged=lines[0].judged if lines else 0, caption=caption(lines)), notes]
    for world, mine in _by_world(lines).items():
        name = named(world)[0]
        known = [f"{figure.method} {ours:.6g}, published {figure.value:.6g}" for figure, ours in exact(name)]
        steps = min(line.score.steps for line, _ in mine)
        parts += [f"## {world}\n", f"{steps} steps.{' Known exactly: ' + '; '.join(known) + '.' if known else ''}\n"]
        parts += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        parts += ["| " + " | ".join(cells(line, first)) + " |" for line, first in mine]
        parts.append("")
        said = {_row_of(row): row.remark for row in set_ups()[name]}
        remarks = [(line.score.row.method, said.get(_row_of(line.score.row))) for line, first in mine if first]
        parts += [f"- {method}: {remark}" for method, remark in remarks if remark]
        run = {_row_of(line.score.row) for line, _ in mine}
        left = dict.fromkeys(row.method for row in set_ups()[name] if _row_of(row) not in run)
        parts += [f"- Not run for this page, though `bayesrl reproduce` does: {', '.join(left)}."] if left else []
        elsewhere = [f"{figure.method} {_value(figure)} ({figure.metric})" for figure in missing(name)]
        if elsewhere:
            parts.append(f"- Published for methods that are not in this library: {', '.join(elsewhere)}.")
        parts.append("")
    return "\n".join(parts) + "\n"


HEAD = """\
# Scores

Every method of chapter 4 that acts, on the worlds of the literature, beside published figures. Made from
[scores.json](scores.json) ({made}) by `python -m bayesrl.lab.literature.reproduce docs/scores.json docs/scores.md`;
do not edit the tables. `bayesrl reproduce --save scores.json` measures everything again, `--world double-loop` one
world, `--quick` what takes seconds.

How to read it: {caption}.
Figures are judged by Welch's test of our mean against the published one, with both standard errors and Student's t.
Only figures that were computed, found in a repository, made by running the author's code, or recalled and recomputed
are judged; those that are merely recalled from a paper are shown. Assumed where nothing is stated: ten runs; a spread
is a standard error; runs without a spread spread as ours do. *would notice* is the true difference that the test finds
nine times in ten: an "agrees" says no more than that. Parameters not written are the library's defaults, chosen for no
world in particular, so a low score of a method without a published figure is no verdict on the method. Times per step
are the least that were measured, on a core that other work shared: some are several times too high.
"""


def main(arguments: Sequence[str]) -> None:
    """Make the page from a file of scores; notes written by hand (between the marks) stay."""
    source, page = (Path(name) for name in arguments)
    old = page.read_text("utf-8") if page.exists() else ""
    begin, end = "<!-- notes -->\n", "<!-- end of notes -->\n"
    inner = old.partition(begin)[2].partition(end)[0]
    page.write_text(markdown(read(source), begin + inner + end), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
