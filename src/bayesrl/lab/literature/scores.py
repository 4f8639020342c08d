"""Scores: what the rows of setups.py give, measured, kept in a file and read again.

Each row is one `experiment`; nothing is measured in another way, except the optimum of a family of worlds, which no
agent can be. A score says which code made it, and `reproduce` does not take a score that other code made for its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesrl._files import read_text, write_text
from bayesrl._version import code_version
from bayesrl.core import Streams, draw_world, run
from bayesrl.errors import UnreadableFile
from bayesrl.lab.build import world_for
from bayesrl.lab.compare import gather
from bayesrl.lab.experiment import experiment
from bayesrl.lab.literature.setups import OPTIMUM, Row, row_key
from bayesrl.lab.names import named
from bayesrl.models.solve import solve
from bayesrl.problems import discount_of
from bayesrl.record import Record
from bayesrl.registry import entries
from bayesrl.renamed import in_new_words
from bayesrl.statistics import Interval, mean_interval
from bayesrl.worlds.tabular import MDPWorld


@dataclass(frozen=True, slots=True)
class Score:
    """The result of a row."""

    row: Row
    ours: Interval
    params: Mapping[str, Any]
    steps: int
    gamma: float
    seed: int
    seconds_per_step: float
    version: str

    def to_json(self) -> dict[str, Any]:
        """The score as JSON; `read` reads it back."""
        row = {name: getattr(self.row, name) for name in Row.__slots__ if name != "seconds"}
        mine = {name: getattr(self, name) for name in Score.__slots__ if name not in ("row", "ours")}
        return {"row": row, "metric": self.row.metric, "ours": self.ours.to_json(), **mine}


def measure(row: Row, seed: int = 0, runs: int | None = None, **how: Any) -> Score:
    """Run one row; `how` are further arguments of `compare`."""
    if row.method == OPTIMUM:
        return _optimum(row, seed, runs or row.runs)
    done = experiment([row.method], row.world, row.prior, steps=row.steps, runs=runs or row.runs, seed=seed, **how)
    page = done.pages()[0]
    pace = float(page["seconds_per_step"])
    gamma = float(discount_of(done.world))
    earned = _earned(row, done.comparison[row.method])
    return Score(row, earned, page["params"], page["steps"], gamma, seed, pace, code_version())


def _earned(row: Row, record: Record) -> Interval:
    """The mean return of the runs, counted as the row says."""
    if row.since:
        return mean_interval(record.columns["reward"][row.since :].sum(axis=0))
    return mean_interval(record.discounted if row.discounted else record.total)


def _optimum(row: Row, seed: int, runs: int) -> Score:
    """Run the best policy of each world that the runs of this seed meet, with the same random streams."""
    family = world_for(row.world)
    steps = row.steps or family.steps
    records = []
    for i in range(runs):
        drawn = draw_world(family, Streams.of(seed, i))
        assert isinstance(drawn, MDPWorld)  # the families of the literature are families of these
        records.append(run(solve(drawn).policy, family, steps, seed, replicate=i))
    pace = float(np.median([record.seconds for record in records])) / steps
    return Score(row, _earned(row, gather(records, runs)), {}, steps, family.gamma, seed, pace, code_version())


def reproduce(
    rows: Sequence[Row],
    seed: int = 0,
    runs: int | None = None,
    known: Sequence[Score] = (),
    tell: Callable[[Row, Score], None] = lambda row, score: None,
    reuse: bool = False,
    **how: Any,
) -> list[Score]:
    """Run rows one after the other, except those that are `known` already; `tell` is called with each new score.

    A known score that other code made is measured again, unless `reuse` asks to take it as it is.
    """
    here = code_version()
    old = {_identity(score.row, score.ours.n, score.seed): score for score in known if reuse or score.version == here}
    scores = []
    for row in rows:
        score = old.get(_identity(row, runs or row.runs, seed))
        if score is None:
            score = measure(row, seed, runs, **how)
            tell(row, score)
        scores.append(score)
    return scores


def replaced(scores: Sequence[Score], new: Score) -> list[Score]:
    """The scores with a new one in the place of the old one of the same row, runs and seed."""
    key = _identity(new.row, new.ours.n, new.seed)
    return [score for score in scores if _identity(score.row, score.ours.n, score.seed) != key] + [new]


def _identity(row: Row, runs: int, seed: int) -> tuple[Any, ...]:
    return *row_key(row), runs, seed


def write(scores: Iterable[Score], path: Path) -> None:
    """Keep scores in a file of JSON, one in a line; an existing file is replaced only by a complete one."""
    lines = [json.dumps(score.to_json()) for score in scores]
    write_text(path, "[\n" + ",\n".join(lines) + "\n]\n", "scores.write")


def read(path: Path) -> list[Score]:
    """Scores from a file that `write` made."""
    text = read_text(path)
    try:
        return [_score(page) for page in json.loads(text)]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UnreadableFile(str(path), "it does not hold scores") from None


def _score(page: Mapping[str, Any]) -> Score:
    row = Row(**page["row"])
    mean, low, high, n = (page["ours"][name] for name in ("mean", "low", "high", "n"))
    ours = Interval(mean, -np.inf if low is None else low, np.inf if high is None else high, n)
    told = {name: page[name] for name in Score.__slots__ if name not in ("row", "ours")}
    entry = entries().get(named(row.method)[0])
    if entry is not None:
        told["params"] = in_new_words(entry.factory, told["params"])
    return Score(row, ours, **told)
