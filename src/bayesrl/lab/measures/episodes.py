"""How episodes went: their number, and what the last ones paid (totals over fixed steps say little there)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesrl.checks import Floats
from bayesrl.record import Record
from bayesrl.statistics import Interval, mean_interval

LAST = 20
"""Finished episodes that `final_return` is the mean of."""


class Episodes(NamedTuple):
    """The episodes of a method, on average over the runs."""

    finished: Interval
    """Number of finished episodes of a run."""
    final_return: Interval
    """Mean undiscounted return of a run's last finished episodes, over the runs that finished one."""


def episode_returns(record: Record) -> list[Floats]:
    """The undiscounted returns of the finished episodes of each run, in their order."""
    reward, ends = record.columns["reward"], record.columns["terminated"] | record.columns["truncated"]
    steps = len(reward)
    made = []
    for paid, over in zip(reward.reshape(steps, -1).T, ends.reshape(steps, -1).T, strict=True):
        total = np.append(0.0, np.cumsum(paid)[over])
        made.append(np.diff(total))
    return made


def episodes(record: Record, confidence: float = 0.95) -> Episodes | None:
    """How the episodes of a record went; None if no episode has ended."""
    returns = episode_returns(record)
    final = np.array([paid[-LAST:].mean() for paid in returns if len(paid)])
    if len(final) == 0:
        return None
    counts = np.array([float(len(paid)) for paid in returns])
    return Episodes(mean_interval(counts, confidence), mean_interval(final, confidence))
