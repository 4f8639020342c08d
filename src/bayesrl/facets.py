"""The columns of the survey's table of online methods (its table 4.1), for every planner of `bayesrl.bamdp`.

    facets=Facets(depth="fixed d", actions="all a", ..., posterior=Differs("sample 1 per step", here="...", why="..."))

A cell is in the survey's words. Where this library, or the paper itself, does otherwise, the cell is a `Differs`: the
survey's words, what happens here, and why. Planners that the survey's table leaves out have the same columns and words.

The rule of the table: every planner of the package bamdp has facets and nothing else does. The columns are about a
planner that acts online in a finite MDP with unknown transitions; of other families several would have no meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COLUMNS = ("depth", "actions", "successors", "posterior", "solution", "guarantee")
"""The columns of the table, in the survey's order."""


@dataclass(frozen=True, slots=True)
class Differs:
    """A cell in which the survey's words are not what happens here."""

    survey: str
    here: str
    why: str
    """A sentence."""


@dataclass(frozen=True, slots=True)
class Facets:
    """A row of the table of online methods."""

    depth: str | Differs
    """How deep a decision looks: fixed d, variable d, N/A (no tree)."""
    actions: str | Differs
    """The actions that a decision considers."""
    successors: str | Differs
    """The next states that it considers."""
    posterior: str | Differs
    """How the posterior is used: when models are drawn from it."""
    solution: str | Differs
    """How values are computed."""
    guarantee: str | Differs
    """The theorem, in short."""
    in_survey: bool = False
    """Whether the survey's own table has the row."""

    def cell(self, column: str) -> str:
        """A cell as text: the survey's words, and what happens here if that is something else."""
        said, here = self.in_words_of_the_survey(column), self.here(column)
        return said if said == here else f"{said}; here: {here}"

    def in_words_of_the_survey(self, column: str) -> str:
        """A cell in the survey's words alone."""
        found: str | Differs = getattr(self, column)
        return found if isinstance(found, str) else found.survey

    def here(self, column: str) -> str:
        """A cell in words for this library alone."""
        found: str | Differs = getattr(self, column)
        return found if isinstance(found, str) else found.here

    def why(self) -> Mapping[str, str]:
        """Why cells differ, by column."""
        cells = {column: getattr(self, column) for column in COLUMNS}
        return {column: found.why for column, found in cells.items() if isinstance(found, Differs)}

    def row(self, name: str) -> dict[str, str]:
        """The row of a planner as text."""
        return {"name": name, **{column: self.cell(column) for column in COLUMNS}}
