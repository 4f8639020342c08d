"""Measure the constant of BAMCP's UCB rule on every world, and draw it: `python docs/exploration.py`.

Returns are kept in docs/exploration.json, run by run, and only those that are not there yet are measured (about eighty
minutes of CPU for all). Then the picture docs/images/exploration.png and the table in docs/convergence.md are made
again; `python docs/exploration.py draw` does that alone. Run i has the same world for every constant.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayesrl._files import read_text, write_text
from bayesrl.core import run
from bayesrl.lab.build import agent_for, named, world_for
from bayesrl.lab.plots import sheet as _sheet
from bayesrl.statistics import Interval, mean_interval
from bayesrl.worlds.settings import setting_of

DOCS = Path(__file__).parent
DATA, PAGE, PICTURE = DOCS / "exploration.json", DOCS / "convergence.md", DOCS / "images" / "exploration.png"
BEGIN, END = "<!-- swept -->", "<!-- end of the sweep -->"
CONSTANTS = (0.3, 1, 3, 10, 30, 100)
SIMULATIONS, BLOCK = 1000, 10


class Place(NamedTuple):
    """A world or family, in its setting."""

    world: str
    runs: int
    score: str
    """Which of a record's returns the literature reports."""


PLACES = (
    Place("gc", 60, "discounted"),
    Place("gdl", 60, "discounted"),
    Place("grid-bbrl", 60, "discounted"),
    Place("chain:gamma=0.99", 40, "total"),
    Place("double-loop", 40, "total"),
    Place("grid5", 40, "total"),
    Place("grid10", 20, "total"),
)
METHODS = {str(c): f"bamcp:simulations={SIMULATIONS},exploration={c}" for c in (*CONSTANTS, "auto")}
METHODS["random"] = "random"

Returns = dict[str, dict[str, list[float]]]


def read() -> Returns:
    """Returns by world and by constant, those measured so far."""
    return json.loads(read_text(DATA)) if DATA.exists() else {}


def write(returns: Returns) -> None:
    """Keep them, a line for each constant."""
    worlds = []
    for world, found in returns.items():
        lines = ",\n".join(f'  "{name}": {json.dumps([round(x, 6) for x in values])}' for name, values in found.items())
        worlds.append(f' "{world}": {{\n{lines}\n }}')
    write_text(DATA, "{\n" + ",\n".join(worlds) + "\n}\n")


def missing(returns: Returns) -> Iterator[tuple[Place, str, range]]:
    """What is not measured yet, in blocks of runs, so that every world has some before one has all."""
    for begin in range(0, max(p.runs for p in PLACES), BLOCK):
        for place in PLACES:
            for name in METHODS:
                done = len(returns.get(place.world, {}).get(name, ()))
                block = range(max(begin, done), min(begin + BLOCK, place.runs))
                if block:
                    yield place, name, block


def measure(place: Place, name: str, runs: range) -> list[float]:
    """What the runs earned."""
    world = world_for(place.world)
    method, params = named(METHODS[name])
    agent, steps = agent_for(method, world, params=params), setting_of(world).steps
    return [float(getattr(run(agent, world, steps, seed=0, replicate=i), place.score)) for i in runs]


def intervals(returns: Returns) -> dict[str, dict[str, Interval]]:
    """Means with their 95% intervals."""
    return {p.world: {name: mean_interval(x) for name, x in returns[p.world].items()} for p in PLACES}


def table(found: dict[str, dict[str, Interval]]) -> str:
    """A row for each world; the best of the constants in bold."""
    head = ["world", *METHODS]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    for place in PLACES:
        mine = found[place.world]
        best = max((str(c) for c in CONSTANTS), key=lambda name: mine[name].mean)
        digits = 0 if mine[best].mean > 100 else 1 if mine[best].mean > 10 else 2
        cells = []
        for name in METHODS:
            mean, half = f"{mine[name].mean:.{digits}f}", f"{mine[name].half_width:.{digits}f}"
            cells.append(f"{f'**{mean}**' if name == best else mean} ± {half} ({mine[name].n})")
        lines.append(f"| {place.world} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(found: dict[str, dict[str, Interval]]) -> None:
    """A panel for each world: constants along the axis, "auto" and random actions as bands."""
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(11, 5.6), layout="constrained")
    axes = sheet.subplots(2, 4).ravel()
    for place, ax in zip(PLACES, axes, strict=False):
        mine = found[place.world]
        swept = [mine[str(c)] for c in CONSTANTS]
        ax.errorbar(
            CONSTANTS, [x.mean for x in swept], [x.half_width for x in swept],
            color="#0072B2", marker="o", ms=4, lw=1.2, capsize=2, label="a number",
        )  # fmt: skip
        for name, colour in (("auto", "#D55E00"), ("random", "0.5")):
            ax.axhline(mine[name].mean, color=colour, lw=1.2, label="auto" if name == "auto" else "random actions")
            ax.axhspan(mine[name].low, mine[name].high, color=colour, alpha=0.15, lw=0)
        ax.set(xscale="log", xlabel="exploration", title=place.world)
        ax.set_ylabel("return" if place.score == "total" else "discounted return")
        ax.title.set_size(10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].axis("off")
    axes[-1].legend(*axes[0].get_legend_handles_labels(), loc="center", frameon=False)
    _sheet.write("docs", sheet, PICTURE, dpi=110)


def sweep() -> None:
    """Measure what is missing."""
    returns = read()
    for place, name, block in missing(returns):
        returns.setdefault(place.world, {}).setdefault(name, []).extend(measure(place, name, block))
        write(returns)
        print(place.world, name, f"{np.mean(returns[place.world][name]):.2f}", flush=True)


def tell() -> None:
    """Make the picture and the table again."""
    found = intervals(read())
    draw(found)
    before, _, rest = read_text(PAGE).partition(BEGIN)
    text = f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{rest.partition(END)[2]}"
    write_text(PAGE, text)


if __name__ == "__main__":
    if sys.argv[1:] != ["draw"]:
        sweep()
    tell()
