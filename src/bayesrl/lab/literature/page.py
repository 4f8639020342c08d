"""Scores beside published figures as tables, as JSON and as the page docs/scores.md.

python -m bayesrl.lab.literature.page docs/scores.json docs/scores.md      makes the page from saved scores
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesrl._files import read_text, write_text
from bayesrl._version import code_version
from bayesrl.lab.build import named
from bayesrl.lab.literature.figures import FAMILY_RATE, Figure
from bayesrl.lab.literature.judgement import Line, exact, judge, missing
from bayesrl.lab.literature.scores import Score, read
from bayesrl.lab.literature.setups import chosen, row_key, set_ups
from bayesrl.lab.report import duration, interval

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("method", "prior", "runs", "ours", "per step", "published", "where from", "verdict", "would notice")


def cells(line: Line, first: bool, code: str | None = None) -> list[str]:
    """Write a line of the table. Only the first line of a score shows the score. Scores of other code are marked."""
    score, figure = line.score, line.figure
    row = score.row
    late = f", steps {row.since + 1} to {row.steps}" if row.since else ""
    other = f" (made by {score.version})" if code not in (None, score.version) else ""
    mine = [f"{row.method}{late}{other}", row.prior or "none", str(score.ours.n), interval(score.ours)]
    theirs = ["", "", "", ""]
    if figure is not None:
        of = "" if figure.runs is None else f", {figure.runs} runs"
        theirs = [_value(figure) + of, figure.provenance, line.verdict, line.detects]
    return [*(mine if first else [""] * 4), duration(score.seconds_per_step) if first else "", *theirs]


def _value(figure: Figure) -> str:
    return f"{figure.value:g}" if figure.spread is None else f"{figure.value:g} ± {figure.spread:g}"


def _measured(figure: Figure) -> str:
    return f"{figure.metric}, {figure.prior} prior" if figure.prior else figure.metric


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
            colour = {"agrees": "green", "differs": "red"}.get(line.verdict, "")
            texts = map(Text, cells(line, first, code_version()))
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
            p = line.gap.p if line.gap is not None and line.gap.judged else None
            tested = {"verdict": line.verdict or None, "p": p}
            found[-1]["published"].append({**known, **tested, "judged_together": line.judged})
    return found


def _by_world(lines: Sequence[Line]) -> dict[str, list[tuple[Line, bool]]]:
    """Group the lines by world, and say of each whether it is the first line of its score."""
    found: dict[str, list[tuple[Line, bool]]] = {}
    before = None
    for line in lines:
        found.setdefault(line.score.row.world, []).append((line, line.score is not before))
        before = line.score
    return found


def markdown(scores: Sequence[Score], notes: str = "") -> str:
    """The page of scores: a table for each world, and notes written by hand."""
    order = {row_key(row): k for k, row in enumerate(chosen())}
    scores = sorted(scores, key=lambda score: order.get(row_key(score.row), len(order)))
    lines = judge(scores)
    versions = sorted({(score.version, score.seed) for score in scores})
    made = " and ".join(f"version {version}, seed {seed}" for version, seed in versions)
    parts = [HEAD.format(made=made, judged=lines[0].judged if lines else 0, caption=caption(lines)), notes]
    for world, mine in _by_world(lines).items():
        name = named(world)[0]
        known = [f"{figure.method} {ours:.6g}, published {figure.value:.6g}" for figure, ours in exact(name)]
        steps = min(line.score.steps for line, _ in mine)
        counted = ", discounted return" if mine[0][0].score.row.discounted else ""
        told = f" Known exactly: {'; '.join(known)}." if known else ""
        parts += [f"## {world}\n", f"{steps} steps{counted}.{told}\n"]
        parts += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        parts += ["| " + " | ".join(cells(line, first)) + " |" for line, first in mine]
        parts.append("")
        said = {row_key(row): row.remark for row in set_ups()[name]}
        remarks = [(line.score.row.method, said.get(row_key(line.score.row))) for line, first in mine if first]
        parts += [f"- {method}: {remark}" for method, remark in dict.fromkeys(remarks) if remark]
        run = {row_key(line.score.row) for line, _ in mine}
        left = dict.fromkeys(row.method for row in set_ups()[name] if row_key(row) not in run)
        parts += [f"- Not run for this page, though `bayesrl reproduce` does: {', '.join(left)}."] if left else []
        elsewhere = [f"{figure.method} {_value(figure)} ({_measured(figure)})" for figure in missing(name)]
        if elsewhere:
            parts.append(f"- Published for methods that are not in this library: {', '.join(elsewhere)}.")
        parts.append("")
    return "\n".join(parts) + "\n"


HEAD = """\
# Scores

Every method of chapter 4 that acts, on the worlds of the literature, beside published figures. Made from
[scores.json](scores.json) ({made}) by `python -m bayesrl.lab.literature.page docs/scores.json docs/scores.md`;
do not edit the tables. `bayesrl reproduce --save scores.json` measures everything again, `--world double-loop` one
world, `--quick` what takes seconds.

How to read it: {caption}.
Figures are judged by a test of whether both samples can be of one distribution. The statistic is the difference of the
means over its standard error, where both samples are given the larger of the two standard deviations. It is compared
with Student's t with the degrees of freedom of the smaller sample. Returns are often bimodal (some runs never find the
reward). A sample that missed one mode understates its spread, and a test on both standard errors then raises false
alarms. With fewer than 30 runs of ours there is no verdict.
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
    old = read_text(page) if page.exists() else ""
    begin, end = "<!-- notes -->\n", "<!-- end of notes -->\n"
    inner = old.partition(begin)[2].partition(end)[0]
    write_text(page, markdown(read(source), begin + inner + end), "page")


if __name__ == "__main__":
    main(sys.argv[1:])
