"""Measure the regret of lazy posterior sampling and its baselines on linear systems: `python docs/linear.py`.

What was measured is kept in docs/linear.json, and only what is not there yet is measured (some minutes of CPU for all).
Then the tables of docs/continuous.md and the picture are made again; `python docs/linear.py draw` does that alone. All
methods of a world have the same systems and the same noise, in lockstep.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesrl as b
from bayesrl._files import read_text, write_text
from bayesrl.core import Streams, draw_world
from bayesrl.lab.build import agent_for, named, world_for
from bayesrl.lab.measures.regret import regret
from bayesrl.lab.plots.control import plot_control
from bayesrl.statistics import mean_interval

DOCS = Path(__file__).parent
DATA, PAGE, IMAGE = DOCS / "linear.json", DOCS / "continuous.md", DOCS / "images" / "linear-regret.png"
SYSTEMS, SEED = 400, 0
FAMILIES = {"lq:spread=0.2": 6400, "lq": 6400, "lq:spread=2": 6400, "lq-system": 6400, "web-server": 6400}
"""Worlds, and the steps of a run."""
METHODS = {
    "lazy": "lazy-psrl",
    "every step": "lazy-psrl:schedule=every",
    "certainty equivalence": "certainty-equivalence",
}
AT = (100, 400, 1600, 6400)
REFERENCE = ((12.9, 1.6), (21.1, 2.2), (33.7, 3.6), (55.1, 6.7))
"""The reference for `lazy` in `lq` at these steps: mean and standard error, over 400 systems of its own."""
CURVE = np.unique(np.geomspace(1, 6400, 120).round().astype(int))
"""The steps that the picture shows."""


class Row(NamedTuple):
    """A method in a world."""

    world: str
    method: str

    @property
    def label(self) -> str:
        """Its name in the data."""
        return f"{self.method} in {self.world}"


ROWS = [Row(world, method) for world in FAMILIES for method in METHODS]


def measured(row: Row, systems: int = SYSTEMS, steps: int | None = None) -> dict[str, Any]:
    """Regret in units of the optimal cost of a step, and draws of models.

    Regret of each system and the mean number of models drawn at the steps AT; mean regret and half a 95% interval at
    the steps CURVE; the steps at which the first system's controller drew.
    """
    world = world_for(row.world)
    name, params = named(METHODS[row.method])
    agent = agent_for(name, world, params=params)
    steps = FAMILIES[row.world] if steps is None else steps
    record = b.run(agent, world, steps, SEED, lockstep=systems, keep=("resampled",))
    cost = -draw_world(world, Streams.of(SEED, 0, True), systems).optimum()
    lost = regret(record, world).curve / cost
    at, curve = [t for t in AT if t <= steps], [int(t) for t in CURVE if t <= steps]
    bands = [mean_interval(lost[t - 1]) for t in curve]
    drawn = np.cumsum(record.resampled, axis=0)
    return {
        "regret": [[float(f"{x:.4g}") for x in lost[t - 1]] for t in at],
        "models": [round(float(drawn[t - 1].mean()), 3) for t in at],
        "drawn": [int(t) for t in np.flatnonzero(record.resampled[:, 0])] if row.method == "lazy" else [],
        "curve": [[float(f"{x:.4g}") for x in (band.mean, 0.5 * (band.high - band.low))] for band in bands],
    }


def read() -> dict[str, Any]:
    """What was measured so far."""
    return json.loads(read_text(DATA)) if DATA.exists() else {}


def write(found: dict[str, Any]) -> None:
    """Keep it, a line for each quantity."""
    rows = []
    for label, one in found.items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(x)}" for key, x in one.items())
        rows.append(f" {json.dumps(label)}: {{\n{lines}\n }}")
    write_text(DATA, "{\n" + ",\n".join(rows) + "\n}\n")


def measure(found: dict[str, Any]) -> None:
    """Measure what is missing."""
    for row in ROWS:
        if row.label not in found:
            found[row.label] = measured(row)
            write({r.label: found[r.label] for r in ROWS if r.label in found})


# The page ------------------------------------------------------------------------------------------------------------


def cell(x: Any) -> str:
    """A mean with half its 95% interval."""
    mean, low, high, _ = mean_interval(np.asarray(x, np.float64))
    digits = 0 if abs(mean) >= 1000.0 else 1
    return f"{mean:.{digits}f} ± {(high - low) / 2:.{digits}f}"


def table(found: dict[str, Any], world: str) -> str:
    """Regret of each method in a world at the steps AT, the median at the last, and models drawn."""
    head = ["method", *(f"{t} steps" for t in AT), f"median at {AT[-1]}", "models drawn"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for method in METHODS:
        one = found[Row(world, method).label]
        drawn = (
            ", ".join(f"{x:.3g}" for x in one["models"]) if method == "lazy" else {"every step": "all"}.get(method, "-")
        )
        cells = [cell(x) for x in one["regret"]]
        lines.append(f"| {method} | " + " | ".join([*cells, f"{np.median(one['regret'][-1]):.1f}", drawn]) + " |")
    if world == "lq":
        cells = [f"{mean:.1f} ± {1.96 * error:.1f}" for mean, error in REFERENCE]
        lines.append("| *lazy, reference* | " + " | ".join(f"*{x}*" for x in cells) + " | | *6, 8, 11, 13* |")
    return "\n".join(lines)


def page(text: str, found: dict[str, Any]) -> str:
    """The page with its tables."""
    for world in FAMILIES:
        begin, end = f"<!-- regret in {world} -->\n", f"\n<!-- end of regret in {world} -->"
        head, _, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        assert closed, f"the page has no place for {world}"
        text = f"{head}{begin}\n{table(found, world)}\n{end}{tail}"
    return text


def draw(found: dict[str, Any]) -> None:
    """The picture: three widths of the prior."""
    panels, drawn = {}, {}
    for world, name in (("lq:spread=0.2", "sd .2"), ("lq", "sd .5"), ("lq:spread=2", "sd 2")):
        title = f"prior {name}"
        panels[title] = {method: np.array(found[Row(world, method).label]["curve"]) for method in METHODS}
        drawn[title] = np.array(found[Row(world, "lazy").label]["drawn"]) + 1
    plot_control(panels, CURVE, drawn, IMAGE, "regret / J")


if __name__ == "__main__":
    kept = read()
    if sys.argv[1:] != ["draw"]:
        measure(kept)
    draw(kept)
    write_text(PAGE, page(read_text(PAGE), kept))
