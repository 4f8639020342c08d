"""Short representations: what a prompt shows of a belief, a record, a solution or a world.

`shown` is the `__repr__` of every class that `declared` and `value` make, and of the results that hold arrays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence, Sized
from typing import Any, TypeVar

T = TypeVar("T")

LINES, LETTERS = 20, 3000
"""The largest representation."""
PART = 80
"""The most letters of a field where the whole is too long."""


def shown(thing: Any) -> str:
    """`Class(field=value, ...)`, with sizes in place of what is long if the whole is longer than LINES or LETTERS.

    >>> from bayesrl.core import Decision
    >>> Decision(0, None, {"q": list(range(2000))})
    Decision(action=0, memory=None, info=<dict of 1>)
    """
    parts = dict(_parts(thing))
    if not any(isinstance(x, (tuple, list, dict)) and len(x) > LETTERS for x in parts.values()):
        full = _written(thing, {name: repr(x) for name, x in parts.items()})
        if len(full) <= LETTERS and full.count("\n") < LINES:
            return full
    return _written(thing, {name: _brief(x) for name, x in parts.items()})


FIRST = 12
"""The rows that a prompt shows of a longer list."""


class ShownList(list[T]):
    """A list that a prompt shows by its first rows if it is long.

    >>> ShownList(range(500))
    [0,
     1,
     2,
     3,
     4,
     5,
     6,
     7,
     8,
     9,
     10,
     11,
     ... 500 in all]
    """

    def __repr__(self) -> str:
        return _rows(self, "[", "]", super().__repr__)


class ShownTuple(tuple[T, ...]):
    """The same for a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _rows(self, "(", ")", super().__repr__)


def _rows(rows: Sequence[object], begin: str, end: str, full: Callable[[], str]) -> str:
    """All rows if they are few, else the first ones, each on a line of its own."""
    if len(rows) <= FIRST and len(text := full()) <= LETTERS and text.count("\n") < LINES:
        return text
    lines = [" ".join(repr(row).split()) for row in rows[:FIRST]]
    most = LETTERS // (FIRST + 1)
    cut = [line if len(line) <= most else f"{line[: most - 3]}..." for line in lines]
    return begin + ",\n ".join([*cut, f"... {len(rows)} in all"]) + end


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass or of a named tuple."""
    if isinstance(thing, tuple):
        yield from zip(getattr(thing, "_fields", ()), thing, strict=True)
    else:
        yield from ((f.name, getattr(thing, f.name)) for f in dataclasses.fields(thing) if f.repr)


def _written(thing: object, parts: dict[str, str]) -> str:
    return f"{type(thing).__qualname__}({', '.join(f'{name}={text}' for name, text in parts.items())})"


def _brief(x: Any) -> str:
    """A value in one short line."""
    kind = type(x).__name__
    if isinstance(x, (tuple, list, dict, set, frozenset)) and len(x) > PART:
        return f"<{kind} of {len(x)}>"
    text = repr(x)
    if len(text) <= PART and "\n" not in text:
        return text
    shape = getattr(x, "shape", None)
    if isinstance(shape, tuple) and hasattr(x, "dtype"):
        return f"<array of shape {tuple(map(int, shape))}>"
    if isinstance(x, Sized) and isinstance(x, (tuple, list, dict, set, frozenset)) and not hasattr(x, "_fields"):
        return f"<{kind} of {len(x)}>"
    return f"{kind}(...)"
