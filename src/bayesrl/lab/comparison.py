"""The result of a comparison: for each method a record with an additional axis, the replicates.

Every step is stored: `comparison["beb"].reward[t, i]` is the reward of step t in replicate i, and likewise for states
and actions. Integers have the smallest type that holds them. A step of a run takes about 13 bytes, so 500 runs of 1000
steps take 6.5 MB. Curves, regrets and differences are computed on demand.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesrl.checks import Floats, choice
from bayesrl.core import Family, World
from bayesrl.errors import UnknownName, from_extra
from bayesrl.parameters import value
from bayesrl.record import Record
from bayesrl.statistics import Interval, independent_difference, mean_interval, paired_difference

if TYPE_CHECKING:
    from bayesrl.bandits.bandit_bounds import Bound
    from bayesrl.lab.literature.figures import Figure
    from bayesrl.lab.measures.regret import Regret

SHOWN, LONGEST = 18, 60
"""The largest number of methods, and the longest label, in the representation of a comparison."""


class Summary(NamedTuple):
    """The mean returns of a method over the runs."""

    total: Interval
    """The undiscounted return."""
    discounted: Interval
    """The return at the world's discount."""
    seconds_per_step: float
    """Median over the runs, so that compilation in the first run does not count; nan if it was not measured."""


@value
class Comparison:
    """Several methods on one world; replicates share the world's random numbers."""

    records: Mapping[str, Record]
    """For each label the record of all runs, columns of shape (steps, runs, ...)."""
    seconds_per_step: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Wall time, median over the runs; it is neither compared nor saved."""

    def __getitem__(self, label: str) -> Record:
        if label not in self.records:
            raise UnknownName("method in this comparison", label, self.records)
        return self.records[label]

    def __repr__(self) -> str:
        from bayesrl.lab.report import interval

        methods = counted(len(self.records), "method")
        lines = [f"Comparison of {methods}, {self.size}: mean return ± half the 95% interval"]
        width = min(max(map(len, self.labels)), LONGEST)
        for label, summary in islice(self.summary().items(), SHOWN):
            lines.append(f"  {textwrap.shorten(label, LONGEST, placeholder='...'):{width}}  {interval(summary.total)}")
        rest = len(self.records) - SHOWN
        return "\n".join([*lines, f"  ... and {rest} more"] if rest > 0 else lines)

    @property
    def labels(self) -> tuple[str, ...]:
        """The methods, in the given order."""
        return tuple(self.records)

    @property
    def steps(self) -> int:
        """The length of a run."""
        return len(next(iter(self.records.values())))

    @property
    def runs(self) -> int:
        """The number of replicates."""
        return int(next(iter(self.records.values())).columns["reward"].shape[1])

    @property
    def size(self) -> str:
        """The number and the length of the runs, in words."""
        return f"{counted(self.runs, 'run')} of {counted(self.steps, 'step')}"

    def summary(self, confidence: float = 0.95) -> dict[str, Summary]:
        """Mean returns with their intervals, by label."""
        return {
            label: Summary(
                mean_interval(record.total, confidence),
                mean_interval(record.discounted, confidence),
                self.seconds_per_step.get(label, float("nan")),
            )
            for label, record in self.records.items()
        }

    def difference(self, a: str, b: str, of: str = "total", confidence: float = 0.95) -> Interval:
        """How much more a earned than b (`of` is "total" or "discounted").

        Replicate i of both had the same world and the same random numbers, so differences are taken run by run. If one
        method ran in lockstep and the other did not, the two samples are independent.
        """
        choice("difference", "of", of, ("total", "discounted"))
        x, y = (self[label] for label in (a, b))
        shared = x.provenance["lockstep"] == y.provenance["lockstep"]
        contrast = paired_difference if shared else independent_difference
        return contrast(getattr(x, of), getattr(y, of), confidence)

    def cumulative(self, label: str) -> Floats:
        """Reward up to and including step t in replicate i, shape (steps, runs)."""
        return np.asarray(np.cumsum(self[label].columns["reward"], axis=0))

    def regret(self, world: World | Family) -> dict[str, Regret]:
        """The regret of each method; `world` is the world of the comparison."""
        from bayesrl.lab.measures.regret import regrets

        return regrets(self, world)

    def bounds(self, world: World | Family, prior: Any = None) -> dict[str, Bound]:
        """The bounds on regret that hold in this bandit (see `bayesrl.bandits.bounds_of`), for `plot`."""
        from bayesrl.bandits import bounds_of

        return bounds_of(world, np.unique(np.geomspace(2, max(self.steps, 2), 200).round()), prior)

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row for each method and run (needs the extra `lab`)."""
        with from_extra("Comparison.to_frame"):
            import pandas as pd

        rows = [
            pd.DataFrame({"method": label, "run": np.arange(self.runs), "total": r.total, "discounted": r.discounted})
            for label, r in self.records.items()
        ]
        return pd.concat(rows, ignore_index=True)

    def table(
        self, regrets: Mapping[str, Regret] | None = None, figures: Mapping[str, Sequence[Figure]] | None = None
    ) -> Any:
        """A table for `rich.print`: returns with intervals, and regrets and published figures if given."""
        from bayesrl.lab.report import comparison_table

        return comparison_table(self, regrets, figures)

    def plot(
        self,
        path: str | Path,
        regrets: Mapping[str, Regret] | None = None,
        bounds: Mapping[str, Bound] | None = None,
        optimum: Floats | None = None,
    ) -> None:
        """Draw the mean cumulative reward with 95% bands into a file, and regret with its bounds if given.

        `optimum` is the largest expected total of the first t steps, drawn as a line. Needs the extra `lab`.
        """
        from bayesrl.lab.plots.curves import curves

        curves(self, path, regrets, bounds=bounds, optimum=optimum)


def counted(n: int, thing: str) -> str:
    """A number with its noun: "1 run", "3 runs"."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"
