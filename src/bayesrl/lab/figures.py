"""Figures that others published, to stand beside ours: `lookup("beb", "double-loop", "flat:1/9", {"beta": 1}, 1000)`.

The rows of data/figures.json name methods, worlds and priors as the registry does. Where a figure comes from decides
what may be concluded from it:

    computed, found, peer code run here     ours must agree
    recalled, recomputed                    a published figure from memory that an independent computation confirmed: so must ours
    recalled                                a published figure from memory: shown, never judged
    recalled, NOT reproduced                an independent attempt gave something else: shown with that remark
"""  # noqa: E501

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from scipy.special import stdtrit

from bayesrl.errors import UnreadableFile
from bayesrl.lab.statistics import Interval

JUDGED = ("computed", "found", "peer code run here", "recalled, recomputed")
SHOWN = ("recalled", "recalled, NOT reproduced")


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

    @property
    def half_width(self) -> float:
        """Half width of its 95% interval; a spread of unstated kind is read as a standard error, the wider reading."""
        if self.spread is None:
            return 0.0 if self.spread_kind == "exact" else np.inf
        if self.spread_kind == "95% interval":
            return self.spread
        t = 1.96 if self.runs is None else float(stdtrit(self.runs - 1, 0.975))
        return t * self.spread

    def verdict(self, ours: Interval) -> str | None:
        """Whether our interval and theirs meet: "agrees" or "differs"; None where there is nothing to judge by."""
        reach = ours.half_width + self.half_width
        if self.provenance not in JUDGED or not np.isfinite(reach):
            return None
        return "agrees" if abs(ours.mean - self.value) <= reach + 1e-9 * abs(self.value) else "differs"


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
            and (None in (row.prior, prior) or _prior(row.prior) == _prior(prior))
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
    page = files("bayesrl.lab").joinpath("data/figures.json")
    try:
        return tuple(Figure(**row) for row in json.loads(page.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        raise UnreadableFile("bayesrl/lab/data/figures.json", "the installation is damaged") from None


def _prior(spec: str | None) -> tuple[str, float]:
    """(name, concentration) of NAME[:CONCENTRATION], so that flat and flat:1, 1/4 and .25 are the same."""
    name, _, amount = (spec or "").partition(":")
    try:
        return name, float(Fraction(amount or "1"))
    except (ValueError, ZeroDivisionError):
        return spec or "", 1.0
