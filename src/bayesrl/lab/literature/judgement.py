"""Scores beside published figures, with verdicts (the test is described in figures.py).

A figure is placed beside the last row of its method whose set-up it does not contradict. All verdicts of one report are
tested together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bayesrl.lab.build import named, world_for
from bayesrl.lab.literature.figures import JUDGED, Difference, Figure, lookup, published
from bayesrl.lab.literature.scores import Score
from bayesrl.lab.literature.setups import chapter
from bayesrl.models.solve import policy_total
from bayesrl.worlds.tabular import MDPWorld


class Line(NamedTuple):
    """A score and a published figure, or None."""

    score: Score
    figure: Figure | None
    gap: Difference | None
    judged: int
    """The number of figures with a verdict in this report."""

    @property
    def verdict(self) -> str:
        """agrees, differs, too few runs to judge, or an empty string."""
        return "" if self.gap is None else self.gap.verdict(self.judged)

    @property
    def detects(self) -> str:
        """The true difference that the test detects nine times in ten."""
        if self.gap is None or not self.gap.judged:
            return ""
        return f"{float(f'{self.gap.detectable(self.judged):.2g}'):g}"


def judge(scores: Sequence[Score]) -> list[Line]:
    """Every score with its published figures."""
    beside: dict[int, list[Figure]] = {k: [] for k in range(len(scores))}
    rows = [_figures_of(score) for score in scores]
    for figure in published():
        fits = [k for k, row in enumerate(rows) if figure in row]
        if fits:
            beside[fits[-1]].append(figure)
    order = {kind: k for k, kind in enumerate(JUDGED)}
    found: list[tuple[Score, Figure | None, Difference | None]] = []
    for score, figures in zip(scores, beside.values(), strict=True):
        figures.sort(key=lambda figure: order.get(figure.provenance, len(order)))
        found += [(score, figure, figure.difference(score.ours)) for figure in figures] or [(score, None, None)]
    judged = sum(gap is not None and gap.judged for *_, gap in found)
    return [Line(*each, judged) for each in found]


def _figures_of(score: Score) -> list[Figure]:
    row = score.row
    return lookup(
        named(row.method)[0], named(row.world)[0], row.prior, score.params, score.steps,
        gamma=score.gamma, metric=row.metric,
    )  # fmt: skip


def missing(world: str) -> list[Figure]:
    """Figures published for this world by methods that are not in the library."""
    names = {entry.name for entry in chapter()} | set(EXACT)
    return [figure for figure in published() if figure.world == world and figure.method not in names]


EXACT: dict[str, Callable[[MDPWorld], float]] = {
    "optimum": lambda world: float(world.optimum()),
    "always-a": lambda world: _always(world, 0),
    "always-b": lambda world: _always(world, 1),
    "easy-loop": lambda world: _always(world, 0),
}
"""Returns that can be computed exactly, by their names in figures.json."""


def _always(world: MDPWorld, action: int) -> float:
    policy = np.zeros((world.n_states, world.n_actions))
    policy[:, action] = 1.0
    return float(policy_total(world, policy, world.steps))


def exact(world: str) -> list[tuple[Figure, float]]:
    """Exact figures for this world, each with our exact value."""
    place = world_for(world)
    return [(figure, EXACT[figure.method](place)) for figure in published() if _exact_of(figure, world)]


def _exact_of(figure: Figure, world: str) -> bool:
    return figure.world == world and figure.method in EXACT and figure.spread_kind == "exact"
