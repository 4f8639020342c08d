"""Whether a belief offers a capability, and what is said if it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from bayesrl.errors import BrokenContract, Incompatible
from bayesrl.traits import traits_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

C = TypeVar("C")


class Needy(Protocol):
    """A planner, as far as it is asked what it needs."""

    needs: ClassVar[tuple[type, ...]]


def offers(thing: object, capability: type[C]) -> TypeIs[C]:
    """Whether a belief or a world offers a capability."""
    return not lacking(thing, capability)


def lacking(thing: object, capability: type) -> list[str]:
    """The members of a capability that a belief or a world lacks.

    If a belief's parameters rule out a member, the belief lists it in `unsupported`, a mapping from names to reasons
    (for example, rewards with infinitely many values cannot be simulated).
    """
    unsupported: Mapping[str, str] = getattr(thing, "unsupported", {})
    return [name for name in members(capability) if name in unsupported or not _has(thing, name)]


def reasons(thing: object, missing: Iterable[str]) -> str:
    """The reasons that a belief or a world gives for not supporting these members."""
    unsupported: Mapping[str, str] = getattr(thing, "unsupported", {})
    return " ".join(dict.fromkeys(unsupported[name] for name in missing if name in unsupported))


@cache
def members(capability: type) -> tuple[str, ...]:
    """The names of a capability's members, including those of its parents."""
    names: dict[str, None] = {}
    for parent in reversed(capability.__mro__):
        if getattr(parent, "_is_protocol", False) and parent is not Protocol:
            own = {**vars(parent).get("__annotations__", {}), **vars(parent)}
            names |= dict.fromkeys(name for name in own if not name.startswith("_"))
    return tuple(names)


def require(owner: str, belief: object, *needs: type, hint: str = "") -> None:
    """Raise `Incompatible`, naming the missing members, if a belief lacks a capability that `owner` needs."""
    missing = dict.fromkeys(name for need in needs for name in lacking(belief, need))
    if missing:
        raise Incompatible(owner, type(belief).__name__, missing, reasons(belief, missing) or hint)


def demand(planner: Needy, belief: object) -> None:
    """Raise an error if a belief lacks a capability that a planner needs, or if the planner's `check` refuses it."""
    needs = planner.needs
    if not isinstance(needs, tuple) or not all(getattr(need, "_is_protocol", False) for need in needs):
        duty = "hold a tuple of protocols such as (HasMeanMDP,)"
        raise BrokenContract(f"{type(planner).__name__}.needs", duty, needs)
    if not all(offers(belief, need) for need in needs):
        require(type(planner).__name__, belief, *needs, hint=traits_of(planner).elsewhere)
    check = getattr(planner, "check", None)
    if check is not None:
        check(belief)


def _has(thing: object, name: str) -> bool:
    """Whether a belief or a world has a member. Properties are not read, since they may be costly."""
    if hasattr(type(thing), name) or name in getattr(thing, "__dict__", ()):
        return True
    return hasattr(type(thing), "__getattr__") and hasattr(thing, name)  # a wrapper may pass on members
