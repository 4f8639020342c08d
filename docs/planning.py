"""Write the tables and the pictures of docs/planning.md: `python docs/planning.py` (seconds).

The table of methods and the taxonomy come from the registry, the returns on the chain from docs/scores.json.
docs/planning.json has two rows that the scores do not have, BAMCP and UCT with their default constants;
`python docs/planning.py measure` measures them again (five minutes).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from bayesrl._files import read_text, write_text
from bayesrl.facets import COLUMNS
from bayesrl.lab import experiment, plot_taxonomy, plot_transitions
from bayesrl.lab.plots.sheet import PALETTE, new_sheet, open_axes, panels_of, write
from bayesrl.lab.taxonomy import DEPTHS
from bayesrl.models.solve import optimal_total
from bayesrl.registry import find, make_world, online_methods

DOCS = Path(__file__).parent
DATA, PAGE, IMAGES = DOCS / "planning.json", DOCS / "planning.md", DOCS / "images"
WORLD, PRIOR, STEPS, RUNS = "chain:gamma=0.99", "flat:1", 1000, 20
DEFAULTS = ("bamcp", "uct")
"""Methods that the scores have with the constant of a paper only."""


class Row(NamedTuple):
    """What a method earned."""

    method: str
    mean: float
    low: float
    high: float
    runs: int
    seconds: float
    """Of one decision."""


def measure() -> None:
    """Run the methods that the scores do not have, with their default settings."""
    rows = []
    for method in DEFAULTS:
        done = experiment((method,), WORLD, prior=PRIOR, steps=STEPS, runs=RUNS, seed=0)
        (found,) = done.comparison.summary().values()
        rows.append(Row(method, *(round(x, 2) for x in found.total[:3]), RUNS, found.seconds_per_step))
    write_text(DATA, json.dumps([row._asdict() for row in rows], indent=1) + "\n")


def returns() -> list[Row]:
    """Returns on the chain, the largest first."""
    best: dict[str, Row] = {row["method"]: Row(**row) for row in json.loads(read_text(DATA))}
    named = {e.name for e in online_methods()}
    for score in json.loads(read_text(DOCS / "scores.json")):
        row, ours = score["row"], score["ours"]
        label = row["method"]
        method = label.partition(":")[0]
        asked = (row["world"], row["prior"], score["metric"], row["since"]) == (WORLD, PRIOR, "return", 0)
        if asked and method in named and method not in DEFAULTS:
            mean, low, high, n = (ours[key] for key in ("mean", "low", "high", "n"))
            best[label] = Row(label, mean, low, high, n, score["seconds_per_step"])
    return sorted(best.values(), key=lambda row: -row.mean)


def optimum() -> float:
    """What the best policy earns on average if the chain is known."""
    return float(optimal_total(make_world("chain", gamma=0.99), STEPS))


def depth_of(row: Row) -> str:
    """The depth of a method in the survey's words."""
    facets = find(row.method.partition(":")[0]).facets
    assert facets is not None
    return facets.in_words_of_the_survey("depth")


def tables() -> dict[str, str]:
    """The tables of the page, by name."""
    rows = [(e.name, e.facets) for e in online_methods() if e.facets is not None]
    lines = [f"| method | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, facets in rows:
        cells = [facets.in_words_of_the_survey(c) + (" \\*" if c in facets.why() else "") for c in COLUMNS]
        cells = [cell.replace("|", "\\|") for cell in cells]
        bold = "**" if facets.in_survey else ""
        lines.append(f"| {bold}`{name}`{bold} | {' | '.join(cells)} |")
    reasons = [f"- `{name}`, {c}: {facets.here(c)}. {why}" for name, facets in rows for c, why in facets.why().items()]
    earned = ["| method | return | a decision takes | depth |", "|---|---|---|---|"]
    for row in returns():
        half = (row.high - row.low) / 2
        took = f"{1e3 * row.seconds:.2g} ms"
        earned.append(f"| `{row.method}` | {row.mean:.0f} ± {half:.0f} ({row.runs} runs) | {took} | {depth_of(row)} |")
    return {"methods": "\n".join([*lines, "", *reasons]), "chain": "\n".join(earned)}


def draw() -> None:
    """Draw the taxonomies and the returns."""
    plot_taxonomy(IMAGES / "taxonomy.png")
    plot_taxonomy(IMAGES / "online-methods.png", which="online")
    plot_transitions(make_world("chain", gamma=0.99), IMAGES / "chain-states.png")
    rows = returns()
    sheet = new_sheet("planning", 7.5, 0.5 + 0.22 * len(rows))
    axes = panels_of(sheet, 1, 1)[0]
    colours = dict(zip(DEPTHS, PALETTE, strict=False))
    for y, row in enumerate(rows):
        colour = colours[depth_of(row)]
        axes.hlines(y, row.low, row.high, color=colour, linewidth=2.5, alpha=0.5)
        axes.scatter([row.mean], [y], color=colour, s=22, zorder=3)
    for depth, words in DEPTHS.items():
        axes.plot([], [], "o", color=colours[depth], label=words)
    best = optimum()
    axes.axvline(best, color="black", linestyle="--", linewidth=1.0, label=f"optimum {best:.0f}")
    axes.set_yticks(range(len(rows)), [row.method for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("return in 1000 steps (line: 95%)")
    open_axes(axes)
    axes.legend(fontsize="small", framealpha=1.0, loc="lower right")
    write("planning", sheet, IMAGES / "planning-chain.png", "The chain, prior flat:1")


def page(text: str, made: dict[str, str]) -> str:
    """The page with its tables."""
    for name, table in made.items():
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        head, _, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        assert closed, f"the page has no place for {name}"
        text = f"{head}{begin}\n{table}\n{end}{tail}"
    return text


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        measure()
    draw()
    write_text(PAGE, page(read_text(PAGE), tables()))
