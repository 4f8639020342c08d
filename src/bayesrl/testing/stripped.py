"""A belief stripped to the members that a planner's `needs` names: reading any other member is an error.

    agent = BayesAgent(stripped(prior, planner.needs), planner)

This agent fails if the planner uses a member that it did not declare.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.random import Generator

from bayesrl.capabilities import members


class Stripped:
    """A belief with only some of its members; `update` returns another one."""

    def __init__(self, inside: Any, names: frozenset[str]) -> None:
        self._inside, self._names = inside, names

    def update(self, datum: Any, rng: Generator | None = None) -> Stripped:
        """The posterior, stripped in the same way."""
        return Stripped(self._inside.update(datum, rng), self._names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"the planner asked its belief for {name!r}, which is not among its needs")
        return getattr(self._inside, name)


def stripped(belief: object, needs: Iterable[type]) -> Stripped:
    """The belief with only `update` and the members of these capabilities."""
    return Stripped(belief, frozenset(name for need in needs for name in members(need)))
