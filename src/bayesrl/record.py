"""Records of runs: one column for each quantity, and the provenance of the run.

The provenance holds the parameters of agent and world, the arguments of the run, and the code versions.
"""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from bayesrl.checks import same
from bayesrl.errors import InvalidArgument, from_extra

READINGS = {
    "state": "observation",
    "next_state": "next_observation",
    "observation": "state",
    "next_observation": "next_state",
}
"""In a fully observed world both names mean the same column (files of version 0.1 hold `state` and `next_state`)."""


@dataclass(frozen=True, eq=False)
class Record:
    """The events of one run: a column for each quantity, and the provenance of the run.

    Columns are read as attributes: `record.reward`, `record.action`, `record.observation`. In a fully observed world
    `record.state` and `record.next_state` are the observations. If the true state is hidden, `state` is a column only
    if `run` was called with keep=("state",).

    The columns of a lockstep run have a second axis for the replicates: `reward[t, i]`. `seconds` is the wall time of
    the run. It is neither compared nor saved, so that a file depends on the seed only.
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
        for column in self.columns.values():  # a pickle does not keep that they are read-only
            column.setflags(write=False)

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

    __hash__ = None  # type: ignore[assignment]  # not hashable

    def __repr__(self) -> str:
        names, reward = ", ".join(self.columns), self.columns.get("reward", np.zeros(0))
        runs = f", runs={reward.shape[1]}" if reward.ndim > 1 else ""
        total = f"{'mean_total' if runs else 'total'}={reward.sum(axis=0).mean():.6g}"
        return f"Record(steps={len(reward)}{runs}, {total}, gamma={self.gamma:g}, columns=({names}))"

    @property
    def total(self) -> Any:
        """The undiscounted return."""
        return self.columns["reward"].sum(axis=0)

    @property
    def discounted(self) -> Any:
        """The discounted return, at the world's discount and from the start of the run."""
        weight = self.gamma ** np.arange(len(self))
        return weight @ self.columns["reward"]

    def to_frame(self) -> Any:
        """The columns as a pandas DataFrame, one row per step (needs the extra `lab`).

        Each field of a structured column becomes a column, for example `observation.answer`.
        """
        with from_extra("Record.to_frame"):
            import pandas as pd

        flat: dict[str, Any] = {}
        for name, column in self.columns.items():
            parts = {f"{name}.{part}": column[part] for part in column.dtype.names or ()} or {name: column}
            flat |= {k: part if part.ndim == 1 else list(part) for k, part in parts.items()}
        return pd.DataFrame(flat).rename_axis(index="step")


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two columns have equal types, shapes and entries; nan equals nan."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.names is not None:
        return all(_same(a[part], b[part]) for part in a.dtype.names)
    if a.dtype.kind == "O":  # vectors of different lengths
        return all(map(same, a.flat, b.flat))
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def _ragged(values: Sequence[tuple[Any, ...]]) -> bool:
    """Whether a part of these tuples is itself a tuple whose length differs, such as a coalition."""
    return any(len({len(x) for x in part if isinstance(x, tuple)}) > 1 for part in zip(*values, strict=True))


def column(name: str, values: Sequence[Any]) -> NDArray[Any]:
    """Make an array of the values of one quantity, one for each step.

    Numbers make a vector; vectors and tuples of numbers make a matrix. Tuples with parts of different types make a
    structured array. Its fields have the names of the named tuple, or f0, f1, ... for a plain tuple. Tuples that hold
    tuples of different lengths stay as they are, in an array of objects.

    >>> column("observation", [(0, 0.5), (1, 0.25)]).dtype.names
    ('f0', 'f1')
    """
    first = values[0]
    if isinstance(first, tuple) and not _ragged(values):
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


def as_tuples(column: NDArray[Any]) -> NDArray[Any]:
    """The same column (n,) as an array of objects; plain tuples and their parts are tuples again.

    >>> as_tuples(column("action", [((0, 1), 2)])).tolist()
    [((0, 1), 2)]
    """
    entries: Iterable[Any] = column
    if column.dtype.names is not None and column.dtype.names[0] == "f0":
        parts = [column[name].tolist() for name in column.dtype.names]
        entries = zip(*([tuple(x) if isinstance(x, list) else x for x in part] for part in parts), strict=True)
    return np.fromiter(entries, object, len(column))


# Provenance ----------------------------------------------------------------------------------------------------------


@cache
def versions() -> Mapping[str, str]:
    """The versions of all code on which a record may depend."""
    from bayesrl._version import code_version

    numbers = {name: version(name) for name in ("numpy", "numba")}
    return {"python": platform.python_version(), "bayesrl": code_version(), **numbers}


def provenance(made_of: Mapping[str, Any], numbers: Mapping[str, int | None], hidden: bool = False) -> dict[str, Any]:
    """The provenance of a run: agent, world, its arguments, and the code versions."""
    plain = {name: None if number is None else int(number) for name, number in numbers.items()}
    return {**made_of, **plain, **({"hidden": True} if hidden else {}), **versions()}


_digests: dict[int, tuple[ref[NDArray[Any]], str]] = {}
"""Content hashes of read-only arrays, by id. An entry is valid while its array exists."""


def _digest(x: NDArray[Any]) -> str:
    """The content hash of an array. The hash of a read-only array is computed once for all replicates."""
    from hashlib import sha256

    kept = _digests.get(id(x))
    if kept is not None and kept[0]() is x and not x.flags.writeable:
        return kept[1]
    digest = sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:16]
    if not x.flags.writeable:
        number = id(x)
        _digests[number] = ref(x, lambda _: _digests.pop(number, None)), digest
    return digest


def describe(thing: Any) -> Any:
    """Describe a value as JSON: dataclasses by their fields, arrays by their shape and content hash."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, np.ndarray):
        return {"array": list(thing.shape), "dtype": str(thing.dtype), "sha256": _digest(thing)}
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, Mapping):
        return {str(k): describe(v) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [describe(v) for v in thing]
    brief = thing.described() if hasattr(thing, "described") else None  # for values with very large arrays
    if brief is not None:
        return describe(brief)
    if dataclasses.is_dataclass(thing):
        named = {f.name: describe(getattr(thing, f.name)) for f in dataclasses.fields(thing) if f.init}
        return {"type": type(thing).__name__, **named}
    return {"type": type(thing).__name__}
