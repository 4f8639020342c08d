"""Logs: past steps as transitions, as a record, or as columns of a table.

Columns have the names of the fields of a `Transition`. In a fully observed world they may be called `state` and
`next_state` instead of `observation` and `next_observation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.record import READINGS, Record


@runtime_checkable
class Frame(Protocol):
    """A data frame: columns by name."""

    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, name: str) -> Any: ...

    def to_numpy(self) -> NDArray[Any]:
        """The columns as one array."""


Log = Iterable[Transition] | Mapping[str, ArrayLike] | Frame | Record
"""Past steps: transitions, a record, a data frame, or a mapping of columns."""


def table_of(log: Log) -> Mapping[str, ArrayLike] | Frame | None:
    """The columns of a log, or None if it consists of transitions."""
    if isinstance(log, Record):
        return log.columns
    return log if isinstance(log, (Mapping, Frame)) else None


def column_name(table: Mapping[str, ArrayLike] | Frame, name: str) -> str | None:
    """The name of a column in this table, or None if there is no such column."""
    return next((called for called in (name, READINGS.get(name)) if called is not None and called in table), None)


def columns(owner: str, log: Log, *names: str) -> list[NDArray[Any]]:
    """The named columns of a log as arrays of equal length; raise an error if one is missing or shorter."""
    table = table_of(log)
    if table is None:
        steps = list(transitions(owner, log))
        found = [np.asarray([getattr(step, name) for step in steps]) for name in names]
    else:
        found = []
        for name in names:
            called = column_name(table, name)
            if called is None:
                raise InvalidArgument(owner, "log", f"with a column '{name}'", list(table))
            found.append(np.asarray(table[called]))
    if len({len(column) for column in found}) != 1:
        raise InvalidArgument(owner, "log", "columns of one length", [len(column) for column in found])
    return found


def transitions(owner: str, log: Log, *names: str) -> Iterator[Transition]:
    """The transitions of a log. A table must have the named columns, by default the first four of a transition."""
    table = table_of(log)
    if table is None:
        expected = "transitions, a record, or columns " + ", ".join(names or Transition._fields[:4])
        try:
            steps = iter(log)  # type: ignore[arg-type]
        except TypeError:  # an array without axes has __iter__, but cannot be iterated
            raise InvalidArgument(owner, "log", expected, log) from None
        for step in steps:
            if not isinstance(step, Transition):
                raise InvalidArgument(owner, "log", expected, step)
            yield step
        return
    wanted = names or Transition._fields[:4]
    extra = [name for name in Transition._fields if name not in wanted and column_name(table, name) is not None]
    found = [column.tolist() for column in columns(owner, log, *wanted, *extra)]
    blank = Transition(None, None, 0.0, None)
    for row in zip(*found, strict=True):
        yield blank._replace(**dict(zip((*wanted, *extra), row, strict=True)))
