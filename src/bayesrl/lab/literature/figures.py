"""Figures that others published, to stand beside ours: `lookup("beb", "double-loop", "flat:1/9", {"beta": 1}, 1000)`.

The rows of data/figures.json name methods, worlds and priors as the registry does. Where a figure comes from decides
what may be concluded from it:

    computed, found, peer code run here     ours must agree
    recalled, recomputed                    a published figure from memory that an independent computation confirmed: so must ours
    recalled                                a published figure from memory: shown, never judged
    recalled, NOT reproduced                an independent attempt gave something else: shown with that remark

The verdict is a test. Ours, n runs with standard error e, and theirs, n' runs with e', differ when

    |mean - value| / sqrt(e^2 + e'^2)  >  Student's t quantile at 1 - level / 2,   level = 0.01 / (figures judged together),

with Welch and Satterthwaite's degrees of freedom; an exact figure has e' = 0. So all verdicts of one table together
cry wolf with probability at most 1% (Bonferroni). What was not stated is assumed, on the side of agreement: a spread of
unknown kind is a standard error, unknown runs were ASSUMED_RUNS, and runs without a spread spread as ours do.
"""  # noqa: E501

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from bayesrl.errors import UnreadableFile
from bayesrl.lab.priors import same_prior
from bayesrl.lab.statistics import Interval

JUDGED = ("computed", "found", "peer code run here", "recalled, recomputed")
SHOWN = ("recalled", "recalled, NOT reproduced")
FAMILY_RATE = 0.01
"""The probability that any of the figures judged together is said to differ though all agree."""
ASSUMED_RUNS = 10
"""How many runs a figure is taken to stand for that does not say; the sources that do mostly say 5 to 30."""
ROUNDING = 1e-9
"""Relative differences below this are of arithmetic."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One published number and the set-up it belongs to; what is None or left out of `params` was not stated."""

    method: str
    world: str
    prior: str | None
    gamma: float | None
    steps: int | None
    params: Mapping[str, Any]
    metric: str
    """return, discounted return, regret, or what else was measured."""
    value: float
    spread: float | None
    spread_kind: str
    """exact, standard error, 95% interval (its half width), or unstated."""
    runs: int | None
    source: str
    provenance: str
    note: str = ""

    def difference(self, ours: Interval) -> Difference | None:
        """How far ours (a mean with its 95% interval) is from this figure; None where that cannot be judged."""
        if self.provenance not in JUDGED or ours.n < 2:
            return None
        e1, n1 = ours.half_width / float(stdtrit(ours.n - 1, 0.975)), ours.n
        n2 = self.runs or ASSUMED_RUNS
        if self.spread_kind == "exact":
            e2 = 0.0
        elif self.spread is None:
            e2 = e1 * float(np.sqrt(n1 / n2))
        else:
            e2 = self.spread / float(stdtrit(n2 - 1, 0.975)) if self.spread_kind == "95% interval" else self.spread
        u, v = e1**2, e2**2
        freedom = (u + v) ** 2 / (u**2 / (n1 - 1) + v**2 / (n2 - 1)) if u + v > 0.0 else np.inf
        gap = ours.mean - self.value
        return Difference(0.0 if abs(gap) <= ROUNDING * abs(self.value) else gap, float(np.sqrt(u + v)), float(freedom))


class Difference(NamedTuple):
    """Ours less theirs, with the standard error and the degrees of freedom of that."""

    gap: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """The chance of a difference at least as large if there were none."""
        if self.error == 0.0:
            return float(self.gap == 0.0)
        return 2.0 * float(stdtr(self.freedom, -abs(self.gap) / self.error))

    def verdict(self, judged: int) -> str:
        """agrees or differs, being one of so many judged together."""
        return "differs" if self.p < FAMILY_RATE / judged else "agrees"

    def detectable(self, judged: int, power: float = 0.9) -> float:
        """The true difference that would be noticed with this probability."""
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
    """The published figures of this method in this set-up, those that judge first.

    What either side leaves open (None, or a parameter not named) is taken to fit.
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
