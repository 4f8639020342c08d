"""Published figures to compare with ours: `lookup("beb", "double-loop", "flat:1/9", {"beta": 1}, 1000)`.

The rows of data/figures.json name methods, worlds and priors as the registry does. The provenance of a figure decides
what may be concluded from it:

    computed, found, peer code run here     our result must agree
    recalled, recomputed                    recalled from a publication and confirmed by an independent computation; our
                                            result must agree
    recalled                                recalled from a publication: shown, never tested
    recalled, NOT reproduced                an independent attempt gave another result: shown with that remark

The verdict is a test of the hypothesis that our runs and theirs come from one distribution. Ours are n runs with
standard deviation s, theirs n' runs with s'. They differ if

    |mean - value| / (max(s, s') sqrt(1/n + 1/n'))  >  Student's t quantile at 1 - level / 2,

with min(n, n') - 1 degrees of freedom and level = 0.01 / (number of figures tested together). Then the probability of
any false alarm in one table is at most 1% (Bonferroni). The larger standard deviation is used for both samples, because
returns are often bimodal, and a sample without one of the modes underestimates its spread. Welch's test uses each
sample's own spread and raises far more false alarms there (500 times its level for 400 runs of which one in ten fails,
against 5 published ones). With fewer than MIN_RUNS runs of ours there is no verdict, unless all runs equal the figure
exactly. `tests/lab/literature/test_figures.py` measures the false-alarm rate on bimodal returns. An exact figure has no
spread, and only our spread counts (n' is infinite).

Missing information is assumed in favour of agreement: a spread of unknown kind is a standard error, unknown runs are
ASSUMED_RUNS, and runs without a spread have ours.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from scipy.special import stdtr, stdtrit

from bayesrl.errors import UnreadableFile
from bayesrl.lab.priors import same_prior
from bayesrl.statistics import Interval

JUDGED = ("computed", "found", "peer code run here", "recalled, recomputed")
SHOWN = ("recalled", "recalled, NOT reproduced")
FAMILY_RATE = 0.01
"""The probability that any of the figures tested together gets the verdict "differs" although all agree."""
MIN_RUNS = 30
"""With fewer runs of ours there is no verdict."""
TOO_FEW = "too few runs to judge"
ASSUMED_RUNS = 10
"""The number of runs assumed if a source does not state it; most sources state 5 to 30."""
ROUNDING = 1e-9
"""Relative differences below this come from rounding."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One published number and its set-up; None, or a parameter that is not in `params`, was not stated."""

    method: str
    world: str
    prior: str | None
    gamma: float | None
    steps: int | None
    params: Mapping[str, Any]
    metric: str
    """return, discounted return, regret, or another measure."""
    value: float
    spread: float | None
    spread_kind: str
    """exact, standard error, 95% interval (its half width), or unstated."""
    runs: int | None
    source: str
    provenance: str
    note: str = ""

    def difference(self, ours: Interval) -> Difference | None:
        """The difference between our mean (with its 95% interval) and this figure; None if it cannot be tested."""
        if self.provenance not in JUDGED or ours.n < 2:
            return None
        n, s = ours.n, ours.half_width / float(stdtrit(ours.n - 1, 0.975)) * math.sqrt(ours.n)
        gap = ours.mean - self.value
        gap = 0.0 if abs(gap) <= ROUNDING * abs(self.value) else gap
        if self.spread_kind == "exact":
            return Difference(gap, s / math.sqrt(n), n - 1, n)
        m = self.runs or ASSUMED_RUNS
        theirs = s if self.spread is None else self._standard_error(m) * math.sqrt(m)
        return Difference(gap, max(s, theirs) * math.sqrt(1.0 / n + 1.0 / m), min(n, m) - 1, n)

    def _standard_error(self, runs: int) -> float:
        assert self.spread is not None
        return self.spread / float(stdtrit(runs - 1, 0.975)) if self.spread_kind == "95% interval" else self.spread


class Difference(NamedTuple):
    """Our value minus theirs, with its standard error and degrees of freedom, and our number of runs."""

    gap: float
    error: float
    freedom: int
    runs: int

    @property
    def judged(self) -> bool:
        """Whether there are enough runs for a verdict; runs that all equal the figure always are."""
        return self.runs >= MIN_RUNS or (self.gap == 0.0 and self.error == 0.0)

    @property
    def p(self) -> float:
        """The probability of a difference at least as large if both are draws from one distribution."""
        if self.error == 0.0:
            return float(self.gap == 0.0)
        return 2.0 * float(stdtr(self.freedom, -abs(self.gap) / self.error))

    def verdict(self, judged: int) -> str:
        """agrees, differs, or too few runs to judge; `judged` figures are tested together."""
        if not self.judged:
            return TOO_FEW
        return "differs" if self.p < FAMILY_RATE / judged else "agrees"

    def detectable(self, judged: int, power: float = 0.9) -> float:
        """The true difference that the test detects with this probability."""
        if self.error == 0.0:
            return 0.0
        reach = stdtrit(self.freedom, 1.0 - FAMILY_RATE / judged / 2.0) + stdtrit(self.freedom, power)
        return float(reach * self.error)


def lookup(
    method: str,
    world: str,
    prior: str | None = None,
    params: Mapping[str, Any] | None = None,
    steps: int | None = None,
    *,
    gamma: float | None = None,
    metric: str | None = None,
) -> list[Figure]:
    """The published figures of this method in this set-up, those with a verdict first.

    Values that either side does not state (None, or a missing parameter) match everything.
    """
    params = params or {}

    def fits(row: Figure) -> bool:
        return (
            (row.method, row.world) == (method, world)
            and (row.prior is None or prior is None or same_prior(row.prior, prior))
            and (None in (row.steps, steps) or row.steps == steps)
            and (None in (row.gamma, gamma) or row.gamma == gamma)
            and (None in (row.metric, metric) or row.metric == metric)
            and all(params[name] == stated for name, stated in row.params.items() if name in params)
        )

    order = {kind: k for k, kind in enumerate(JUDGED + SHOWN)}
    return sorted(filter(fits, published()), key=lambda row: order[row.provenance])


@cache
def published() -> tuple[Figure, ...]:
    """Every figure that comes with the library."""
    page = files("bayesrl.lab.literature").joinpath("data/figures.json")
    try:
        return tuple(Figure(**row) for row in json.loads(page.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        raise UnreadableFile("bayesrl/lab/literature/data/figures.json", "the installation is damaged") from None
