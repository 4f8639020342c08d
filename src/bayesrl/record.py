"""What happened in one run, a column per quantity, and where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesrl.errors import InvalidArgument, from_extra

READINGS = {
    "state": "observation",
    "next_state": "next_observation",
    "observation": "state",
    "next_observation": "next_state",
}
"""In a fully observed world these names read the same column (files of version 0.1 hold `state` and `next_state`)."""


@dataclass(frozen=True, eq=False)
class Record:
    """What happened in one run, a column per quantity, and where it came from.

    Columns are read as attributes: `record.reward`, `record.action`, `record.observation`. In a fully observed world
    `record.state` and `record.next_state` read the same as the observations. Where the true state is hidden, `state` is
    a column only if the run was asked to keep it.

    A run of a lockstep batch has one more axis, the replicates: `reward[t, i]`. `seconds` is the wall time of the run;
    it is not part of the record's identity and not saved, so that a file holds what the seed determines.
    """

    columns: Mapping[str, NDArray[Any]]
    gamma: float
    provenance: Mapping[str, Any]
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        named = isinstance(self.columns, Mapping)
        if not named or not all(isinstance(column, np.ndarray) for column in self.columns.values()):
            raise InvalidArgument("Record", "columns", "a mapping from names to arrays", self.columns)
        for column in self.columns.values():
            column.setflags(write=False)

    def __getattr__(self, name: str) -> NDArray[Any]:
        columns: Mapping[str, NDArray[Any]] = self.__dict__.get("columns", {})
        if name in columns:
            return columns[name]
        if READINGS.get(name) in columns and not self.provenance.get("hidden"):
            return columns[READINGS[name]]
        hint = " Keep it with run(..., keep=('state',))." if name == "state" else ""
        raise AttributeError(f"Record has no column {name!r}; it has {', '.join(columns)}.{hint}")

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __len__(self) -> int:
        return len(self.columns["reward"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        mine, theirs = self.columns, other.columns
        return (
            self.gamma == other.gamma
            and self.provenance == other.provenance
            and mine.keys() == theirs.keys()
            and all(_same(a, theirs[k]) for k, a in mine.items())
        )

    __hash__ = None  # type: ignore[assignment]  # Python's way to say that it has no hash

    @property
    def total(self) -> Any:
        """The undiscounted return."""
        return self.columns["reward"].sum(axis=0)

    @property
    def discounted(self) -> Any:
        """The return at the world's discount, counted from the start of the run."""
        weight = self.gamma ** np.arange(len(self))
        return weight @ self.columns["reward"]

    def to_frame(self) -> Any:
        """The columns as a pandas DataFrame, one row per step (needs the extra `lab`).

        The parts of a column of tuples become columns of their own, for example `observation.answer`.
        """
        with from_extra("Record.to_frame"):
            import pandas as pd

        flat: dict[str, Any] = {}
        for name, column in self.columns.items():
            parts = {f"{name}.{part}": column[part] for part in column.dtype.names or ()} or {name: column}
            flat |= {k: part if part.ndim == 1 else list(part) for k, part in parts.items()}
        return pd.DataFrame(flat).rename_axis(index="step")


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two columns are of one kind and hold the same; nan is the same as nan."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.names is not None:
        return all(_same(a[part], b[part]) for part in a.dtype.names)
    if a.dtype.kind == "O":  # vectors of different lengths
        return all(np.array_equal(x, y) for x, y in zip(a.flat, b.flat, strict=True))
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def column(name: str, values: Sequence[Any]) -> NDArray[Any]:
    """The values of one quantity, one for each step, as an array.

    Numbers make a vector, vectors and tuples of numbers a matrix. Tuples whose parts are of different kinds make a
    structured array, whose fields are called as in the named tuple, or else f0, f1, ...

    >>> column("observation", [(0, 0.5), (1, 0.25)]).dtype.names
    ('f0', 'f1')
    """
    first = values[0]
    if isinstance(first, tuple):
        parts = [np.asarray(part) for part in zip(*values, strict=True)] if len(first) else []
        if len({part.dtype.kind for part in parts}) > 1 or len({part.shape for part in parts}) > 1:
            names = getattr(first, "_fields", tuple(f"f{i}" for i in range(len(parts))))
            fields = [(n, part.dtype, part.shape[1:]) for n, part in zip(names, parts, strict=True)]
            table = np.empty(len(values), dtype=fields)
            for n, part in zip(names, parts, strict=True):
                table[n] = part
            return table
    try:
        return np.asarray(values)
    except ValueError:  # vectors of different lengths
        ragged = np.empty(len(values), dtype=object)
        ragged[:] = values
        return ragged
