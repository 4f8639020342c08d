"""What fits what: every method, world and prior that can be run together.

    fits(world="tiger")          the methods that act in the tiger, each with a prior
    fits(method="bamcp")         the worlds in which it acts
    fits("psrl", "chain", "crp-dynamics")

Nothing is run, and no list is kept by hand. A prior is made for the world, and the planner's `needs` and `check` are
asked (`capabilities.demand`); an agent without a prior is made and asked by its `check_world`. The prior of a fit is
the world's own if it satisfies the method, else the first that does.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from bayesrl.capabilities import demand
from bayesrl.errors import BayesRLError, InvalidArgument
from bayesrl.lab.build import acting, acts, believes, candidates, choose, suggested, world_for
from bayesrl.lab.names import named
from bayesrl.lab.priors import parsed, prior_for, way_of
from bayesrl.registry import entries, make, worlds


class Fit(NamedTuple):
    """Three names that can be run together."""

    method: str
    world: str
    prior: str | None
    """None: the method has no prior."""


def fits(method: str | None = None, world: str | None = None, prior: str | None = None) -> tuple[Fit, ...]:
    """All fits of a method, of a world, of a prior, or of those that are given; names as on the command line.

    >>> fits("ba-pomcp", "tiger")
    (Fit(method='ba-pomcp', world='tiger', prior='particle'),)
    >>> fits("thompson", "tiger")
    ()
    """
    for name, given in (("method", method), ("world", world), ("prior", prior)):
        if not isinstance(given, str | None):
            raise InvalidArgument("fits", name, "a name", given)
    methods = [e.name for e in entries().values() if acts(e)] if method is None else [method]
    places = [e.name for e in worlds()] if world is None else [world]
    for text in methods:
        acting(named(text)[0])
    if prior is not None and prior not in _own_names(places):
        way_of(parsed(prior)[0])
    found = (_fit(text, place, prior) for place in places for text in methods)
    return tuple(fit for fit in found if fit is not None)


def _own_names(places: list[str]) -> set[str]:
    """The names of the worlds' own priors."""
    return {next(candidates(_world(place))) for place in places}


@cache
def _fit(method: str, place: str, prior: str | None) -> Fit | None:
    name, params = named(method)
    entry, world = acting(name), _world(place)
    if not believes(entry):
        return Fit(method, place, None) if prior is None and _acts_without_prior(name, world, params) else None
    try:
        made = make(name, **(suggested(world, entry) | params))
    except BayesRLError:
        return None
    for spec in candidates(world, made) if prior is None else [prior]:
        if (belief := _prior(place, spec)) is not None and _satisfies(made, belief):
            return Fit(method, place, spec)
    return None


def _acts_without_prior(method: str, world: Any, params: dict[str, Any]) -> bool:
    try:
        choose(method, world, None, params)
    except BayesRLError:
        return False
    return True


def _satisfies(made: Any, belief: object) -> bool:
    try:
        demand(made, belief)
    except BayesRLError:
        return False
    return True


@cache
def _world(text: str) -> Any:
    return world_for(text)


@cache
def _prior(place: str, spec: str) -> Any:
    """The prior of that name for a world; None if it cannot be made for it."""
    try:
        return prior_for(_world(place), spec)
    except BayesRLError:
        return None
