"""Declared parameters: each field states its type, its bounds and its meaning once.

    @declared
    class BOSS:
        \"\"\"Act on the best of K sampled models in every state.\"\"\"

        samples: Annotated[int, AtLeast(1), "Models drawn, K."] = 5
        leaf: Annotated[Literal["zero", "mean"], "The value beyond the last decision."] = "zero"
        horizon: Annotated[int | None, AtLeast(1), "Decisions planned ahead, H; None: no limit."] = None

`declared` makes a frozen dataclass with slots. Its constructor checks every field and raises `InvalidArgument`. The
Parameters section of `help()`, the command line's help and the catalogue show the same declarations. A class checks
conditions on several fields in its own `__post_init__`, which runs after these checks. `value` does the same for
classes that hold arrays. `shared` marks a plain base class whose fields belong to every subclass.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MemberDescriptorType, NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, dataclass_transform, get_args, get_origin

import numpy as np

from bayesrl import checks
from bayesrl._shown import shown
from bayesrl.errors import InvalidArgument
from bayesrl.renamed import with_old_words
from bayesrl.traits import traits_of

T = TypeVar("T")
EXACT = 2**53
"""Whole numbers up to this one are floats without rounding, and fit in a machine word."""


# Bounds --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Within:
    """Bounds of a number, or of every entry of an array. An open end excludes the bound itself."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False


def AtLeast(low: float) -> Within:
    """Numbers that are at least `low`."""
    return Within(low)


def Above(low: float) -> Within:
    """Numbers greater than `low`."""
    return Within(low, open_low=True)


PROBABILITY = Within(0.0, 1.0)
"""Numbers from 0 to 1."""
DISCOUNT = Within(0.0, 1.0)
"""Discounts. A discount of 1 is allowed if episodes end."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an array in the letters of docs/notation.md, for example Shape("(S, A)")."""

    text: str


# Declarations --------------------------------------------------------------------------------------------------------


class Declaration(NamedTuple):
    """The declaration of one parameter."""

    name: str
    kind: type | None
    """int, float, bool, str or ndarray; None if the type is not checked here."""
    words: tuple[str, ...]
    """Allowed words (besides values of `kind`, if there is a kind)."""
    optional: bool
    """Whether None is allowed."""
    bounds: Within
    shape: str
    doc: str

    @property
    def expects(self) -> str:
        """The allowed values, in a few words."""
        said = []
        if self.kind is not None and self.kind.__name__ == "ndarray":
            said.append(f"array of shape {self.shape}" if self.shape else "array")
        elif self.kind is not None:
            said.append({"int": "whole number", "float": "number", "bool": "True or False"}.get(self.kind.__name__, ""))
        b = self.bounds
        if b.low != -math.inf and b.high != math.inf:
            said.append(f"in {'(' if b.open_low else '['}{b.low:g}, {b.high:g}{')' if b.open_high else ']'}")
        elif b.low != -math.inf:
            said.append(f"{'greater than' if b.open_low else 'at least'} {b.low:g}")
        elif b.high != math.inf:
            said.append(f"{'less than' if b.open_high else 'at most'} {b.high:g}")
        text = " ".join(word for word in said if word)
        alternatives = [text] if text else []
        alternatives += [f'"{word}"' for word in self.words] + (["None"] if self.optional else [])
        return ", ".join(alternatives[:-1]) + (" or " if len(alternatives) > 1 else "") + "".join(alternatives[-1:])


def declarations(thing: type | Callable[..., Any]) -> tuple[Declaration, ...]:
    """The declared parameters of a class, in the order of its constructor, or of a function.

    A class whose constructor calls a field by another keyword says so in its traits (`renamed`).
    """
    keyword = traits_of(thing).renamed
    return tuple(d._replace(name=keyword.get(d.name, d.name)) for d in _fields(thing))


def _fields(thing: type | Callable[..., Any]) -> tuple[Declaration, ...]:
    return tuple(_declaration(name, hint) for name, hint in _hints(thing).items())


def _hints(thing: type | Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a class or a function that are `Annotated`, or names of such."""
    own = vars(thing) if isinstance(thing, type) else {"__annotations__": getattr(thing, "__annotations__", {})}
    scope = {**vars(sys.modules[thing.__module__]), **own}
    found = {}
    for name, hint in own.get("__annotations__", {}).items():
        hint = _named(hint, scope) if isinstance(hint, str) else hint
        if "Annotated" in str(hint):
            found[name] = eval(hint, scope) if isinstance(hint, str) else hint
    return found


def _named(hint: str, scope: Mapping[str, Any]) -> Any:
    """The meaning of a name such as `Noise` or `declares.Noise`; the text itself if it is no name."""
    first, *rest = hint.split(".")
    found = scope.get(first)
    for name in rest:
        found = getattr(found, name, None)
    return hint if found is None else found


def _declaration(name: str, hint: Any) -> Declaration:
    bounds, shape, doc = Within(), "", ""
    hint, *told = get_args(hint)
    for one in told:
        if isinstance(one, Within):
            bounds = one
        elif isinstance(one, Shape):
            shape = one.text
        elif isinstance(one, str):
            doc = one
    parts = list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]
    words = tuple(w for part in parts if get_origin(part) is Literal for w in get_args(part))
    optional = NoneType in parts
    rest = [part for part in parts if part is not NoneType and get_origin(part) is not Literal]
    kind = _kind(rest[0]) if len(rest) == 1 else None
    return Declaration(name, kind, words, optional, bounds, shape, doc)


def _kind(hint: Any) -> type | None:
    numbers: dict[Any, type] = {int: int, float: float, bool: bool}
    if hint in numbers:
        return numbers[hint]
    origin = get_origin(hint)
    alias = getattr(origin, "__value__", None)  # NDArray is a lazy alias from NumPy 2.5 on
    return np.ndarray if (origin if alias is None else get_origin(alias)) is np.ndarray else None


def check(owner: str, declaration: Declaration, x: Any) -> Any:
    """Check a value and return it: a number as Python's, an array as a read-only copy.

    Numbers whose squares or reciprocals overflow are refused (`moderate` in `checks.number`).
    """
    name, kind, words, optional, bounds, _, _ = declaration
    if (optional and x is None) or (isinstance(x, str) and x in words):
        return x
    low, high = bounds.low, bounds.high
    if isinstance(x, str) and words and kind in (int, float):
        expected = f"a {'whole ' if kind is int else ''}number or " + " or ".join(f'"{word}"' for word in words)
        raise InvalidArgument(owner, name, expected, x)
    if kind is int:
        return checks.integer(owner, name, x, _whole(low, -sys.maxsize), None if high == math.inf else int(high))
    if kind is float:
        y = checks.number(owner, name, x, low, high, above=bounds.open_low, below=bounds.open_high, moderate=True)
        return x if type(x) is int and abs(x) <= EXACT else y
    if kind is bool:
        checks.truth(owner, name, x)
    elif kind is not None:
        return checks.array(owner, name, x, low=low, above=bounds.open_low, moderate=True)
    elif words:
        checks.choice(owner, name, x, words)
    return x


def _whole(x: float, otherwise: int) -> int:
    return otherwise if math.isinf(x) else int(x)


# The decorators ------------------------------------------------------------------------------------------------------


@dataclass_transform(frozen_default=True)
def declared(cls: type[T]) -> type[T]:
    """Make a frozen dataclass with slots whose constructor checks its declared fields."""
    _prepare(cls)
    return with_old_words(dataclasses.dataclass(frozen=True, slots=True, repr=False)(cls))


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Do the same for a class that holds arrays. Two instances are equal if all compared fields are, elementwise.

    Arrays stay read-only in a pickled copy: it cannot be changed either, and no kernel is compiled again for it.
    """

    def equal(self: Any, other: Any) -> Any:
        if type(self) is not type(other):
            return NotImplemented
        compared = (f.name for f in dataclasses.fields(self) if f.compare)
        return all(checks.same(getattr(self, name), getattr(other, name)) for name in compared)

    def restore(self: Any, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        checks.all_frozen(tuple(state.values()))

    cls.__setstate__ = restore  # type: ignore[attr-defined]  # mypy does not know that cls has it
    if "__eq__" not in vars(cls):  # a class may define its own comparison
        cls.__eq__ = equal  # type: ignore[method-assign]  # as dataclass(eq=True) does
    cls.__hash__ = None  # type: ignore[assignment]  # not hashable
    _prepare(cls)
    init = "__init__" not in vars(cls)
    return with_old_words(dataclasses.dataclass(frozen=True, eq=False, init=init, repr=False)(cls))


@dataclass_transform(frozen_default=True)
def shared(cls: type[T]) -> type[T]:
    """Mark a plain base class that declares parameters of its subclasses, which are `declared` in turn.

    Its fields come before those of a subclass, or behind them if they stand below a line `_: KW_ONLY`. (Type checkers
    want the latter by keyword.) If a subclass declares a field again, its own declaration and place hold.
    """
    return cls


def unchecked(thing: T, /, **changed: Any) -> T:
    """`dataclasses.replace` without the checks, for an `update` whose values are known to be valid.

    Cached values are kept, except for those that the class's traits list in `depends_on_data`.
    """
    kind: type = type(thing)
    new: T = object.__new__(kind)
    new.__dict__.update(thing.__dict__, **changed)
    for name in _depends_on_data(kind):
        if name not in changed:
            new.__dict__.pop(name, None)
    return new


@cache
def _depends_on_data(kind: type) -> tuple[str, ...]:
    return traits_of(kind).depends_on_data


def _inherit(cls: type) -> None:
    """Give a class the fields that its base classes share, with their defaults."""
    own: dict[str, Any] = vars(cls).get("__annotations__", {})
    first: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for parent in cls.__mro__[1:]:
        if dataclasses.is_dataclass(parent):  # which has them already
            break
        new = {name: hint for name, hint in _shared(parent).items() if name not in {*own, *first, *last}}
        names = [*vars(parent).get("__annotations__", ()), "_"]
        before = names[: names.index("_")]
        first = {name: new[name] for name in before if name in new} | first
        last |= {name: hint for name, hint in new.items() if name not in first}
        for name in new.keys() & vars(parent).keys():
            setattr(cls, name, vars(parent)[name])
    if first or last:
        cls.__annotations__ = first | own | last


def _shared(parent: type) -> dict[str, Any]:
    """The fields of a plain base class: those that are `Annotated`, and those given by `dataclasses.field`."""
    hints, given = _hints(parent), vars(parent)
    told: dict[str, Any] = given.get("__annotations__", {})
    fields = {name for name in told if name in hints or isinstance(given.get(name), dataclasses.Field)}
    return {name: hints.get(name, hint) for name, hint in told.items() if name in fields}


def _prepare(cls: type) -> None:
    """Put the checks into `__post_init__`, the Parameters section into `__doc__`, and a short `__repr__`."""
    if "__repr__" not in vars(cls):
        cls.__repr__ = shown  # type: ignore[method-assign, assignment]
    _inherit(cls)
    told = _fields(cls)
    if not told:
        return
    own = getattr(cls, "__post_init__", None)

    def checked(self: Any) -> None:
        for d in told:
            given = getattr(self, d.name)
            new = check(cls.__name__, d, given)
            if new is not given:
                object.__setattr__(self, d.name, new)
        if own is not None:
            own(self)

    cls.__post_init__ = checked  # type: ignore[attr-defined]  # mypy does not know that cls has it
    cls.__doc__ = with_parameters(cls.__doc__ or "", declarations(cls), vars(cls))


def with_parameters(doc: str, told: tuple[Declaration, ...], defaults: Mapping[str, Any]) -> str:
    """A docstring with a Parameters section: after the summary, before the rest."""
    lines = []
    for d in told:
        default = defaults.get(d.name, dataclasses.MISSING)
        plain = default is not dataclasses.MISSING and not isinstance(
            default, (dataclasses.Field, MemberDescriptorType)
        )
        lines.append(f"    {d.name}{f' = {default!r}' if plain else ''}: {d.expects}".rstrip(": "))
        lines += [f"        {d.doc}"] if d.doc else []
    head, _, rest = doc.partition("\n\n")
    section = "    Parameters\n    ----------\n" + "\n".join(lines)
    return head.rstrip() + "\n\n" + section + ("\n\n" + rest if rest.strip() else "\n    ")
