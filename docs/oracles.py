"""Measure what the agents of section 4.9 ask and earn in the tiger, with oracles: `python docs/oracles.py`.

Runs are kept in docs/oracles.json, and only what is not there yet is measured (a few minutes of CPU for all). Then
the tables in docs/oracles.md are made again; `python docs/oracles.py draw` does that alone. Run i has the same streams
of random numbers for every method.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesrl as b
from bayesrl._files import read_text, write_text
from bayesrl.statistics import mean_interval

DOCS = Path(__file__).parent
DATA, PAGE = DOCS / "oracles.json", DOCS / "oracles.md"
STEPS, BLOCK, RUNS = 300, 100, 30
SMALL = {"models": 10, "size": 20}
"""Settings of all agents; those that have a belief over hyper-states have PARTICLES of them."""
PARTICLES = 300


class Row(NamedTuple):
    """An agent in a world."""

    method: str
    world: str
    inside: str
    settings: dict[str, Any] = {}  # noqa: RUF012 (never changed)

    @property
    def label(self) -> str:
        """Its name in the data."""
        more = "".join(f", {name} {x:g}" for name, x in self.settings.items())
        return f"{self.method} in {self.inside}{more}"


ROWS = (
    Row("sampled-pomdps", "", "tiger"),
    Row("action-oracle", "asking-for-action", "tiger"),
    Row("bayes-risk", "asking-for-confirmation", "tiger"),
    Row("medusa", "asking-for-state", "tiger"),
    Row("medusa", "asking-for-state", "tiger-episodic"),
    Row("medusa", "asking-for-state", "tiger-episodic", {"threshold": 2.0}),
)

Runs = dict[str, list[dict[str, list[float]]]]
"""By row, for each run: questions, and rewards with what they cost, in blocks of steps."""


def read() -> Runs:
    """The runs measured so far."""
    return json.loads(read_text(DATA)) if DATA.exists() else {}


def write(runs: Runs) -> None:
    """Keep them, a line for each run."""
    rows = []
    for label, found in runs.items():
        lines = ",\n".join(f"  {json.dumps(one)}" for one in found)
        rows.append(f" {json.dumps(label)}: [\n{lines}\n ]")
    write_text(DATA, "{\n" + ",\n".join(rows) + "\n}\n")


def measured(row: Row, replicate: int) -> dict[str, list[float]]:
    """One run: questions and total rewards of each block of steps."""
    if row.world:
        world = b.make_world(row.world, world=row.inside)
        particles = {} if row.method == "medusa" else {"particles": PARTICLES}
        agent = b.make(row.method, model_prior=world.model_prior(), **SMALL, **particles, **row.settings)
        keep = ("asked",)
    else:
        world = b.make_world(row.inside)
        prior = b.beliefs.ParticleBAPOMDP(world.model_prior(), PARTICLES)
        agent, keep = b.BayesAgent(prior, b.make(row.method, **SMALL, **row.settings)), ()
    record = b.run(agent, world, STEPS, seed=0, replicate=replicate, keep=keep)
    asked = record.asked if row.world else np.zeros(STEPS)
    blocks = (STEPS // BLOCK, BLOCK)
    questions, rewards = asked.reshape(blocks).sum(axis=1), record.reward.reshape(blocks).sum(axis=1)
    return {"questions": [int(n) for n in questions], "rewards": [round(float(x), 6) for x in rewards]}


def measure(runs: Runs) -> None:
    """Measure what is missing."""
    for row in ROWS:
        found = runs.setdefault(row.label, [])
        while len(found) < RUNS:
            found.append(measured(row, len(found)))
            write(runs)


def interval(x: Any) -> str:
    """A mean with its 95% interval."""
    mean, low, high, _ = mean_interval(np.asarray(x, np.float64))
    return f"{mean:.2f} ± {(high - low) / 2:.2f}"


def tables(runs: Runs) -> dict[str, str]:
    """The tables of the page, by name."""
    ends = [f"{i * BLOCK + 1}-{(i + 1) * BLOCK}" for i in range(STEPS // BLOCK)]
    head = ["agent, world inside", *(f"steps {end}" for end in ends), "all"]
    made = {}
    for name, key, scale in (("questions", "questions", 1.0), ("rewards", "rewards", 1.0 / BLOCK)):
        lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        for row in ROWS:
            if not (row.world or key == "rewards"):
                continue
            x = np.array([run[key] for run in runs[row.label]]) * scale
            total = x.sum(axis=1) if key == "questions" else x.mean(axis=1)
            cells = [interval(x[:, i]) for i in range(x.shape[1])]
            lines.append(
                "| " + " | ".join([row.label.replace(row.method, f"`{row.method}`"), *cells, interval(total)]) + " |"
            )
        made[name] = "\n".join(lines)
    return made


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
    kept = read()
    if sys.argv[1:] != ["draw"]:
        measure(kept)
    write_text(PAGE, page(read_text(PAGE), tables(kept)))
