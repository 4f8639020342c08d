"""The traits of a class, for the parts of the library that handle classes of every kind.

A class of a belief, a planner, a solver or a world declares its traits in one attribute:

    traits: ClassVar[Traits] = Traits(grows=("data",), renamed={"prior_covariance": "covariance"})

A class without the attribute has no traits. A subclass inherits those of its parent as a whole. To add to them it names
them: `traits = Parent.traits._replace(depends_on_data=("posterior",))`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

NOTHING: Mapping[str, str] = MappingProxyType({})


class Traits(NamedTuple):
    """Traits of a class: of its fields and of its files, and, at the end, of planners and solvers."""

    renamed: Mapping[str, str] = NOTHING
    """Fields whose keyword in the constructor has another name, with that name."""
    depends_on_data: tuple[str, ...] = ()
    """Cached values that change with the data; `parameters.unchecked` drops them."""
    grows: tuple[str, ...] = ()
    """Fields that grow with the data. A file restores them, and then the class's `check_grown()` checks them."""
    not_saved: tuple[str, ...] = ()
    """Attributes that a file leaves out, because they can be computed from the others."""
    batched: bool = False
    """Whether a planner decides for many replicates at once, in lockstep."""
    yields: str = ""
    """The use of a solver's solution: "planner", or nothing."""
    elsewhere: str = ""
    """The hint for a belief that does not fit this planner."""


NONE = Traits()


def traits_of(kind: object) -> Traits:
    """The traits of a class, or of an instance's class."""
    found: Traits = getattr(kind, "traits", NONE)
    return found
