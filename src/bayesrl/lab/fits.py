"""Methods, worlds and priors that fit: all that can be run together.

    fits(world="tiger")          the methods that act in the tiger, each with a prior
    fits(method="bamcp")         the worlds in which it acts
    fits("psrl", "chain", "crp-dynamics")

Nothing is run, and no list is kept by hand. A prior is made for the world, and the planner's `needs` and `check` are
asked (`capabilities.demand`); an agent without a prior is made and asked by its `check_world`. The prior of a fit is
the world's own if it satisfies the method, else the first that does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from bayesrl._shown import ShownTuple
from bayesrl.capabilities import demand
from bayesrl.core import World
from bayesrl.errors import BayesRLError, InvalidArgument
from bayesrl.lab.build import acting, acts, believes, candidates, check_place, choose, suggested, world_for
from bayesrl.lab.names import named
from bayesrl.lab.priors import parsed, prior_for, way_of
from bayesrl.problems import Family
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
    found = (fit for place in places for fit in _fits_in(place, methods, prior))
    return ShownTuple(fit for fit in found if fit is not None)


def _own_names(places: list[str]) -> set[str]:
    """The names of the worlds' own priors."""
    return {next(candidates(world_for(place))) for place in places}


KNOWN: dict[tuple[str, str, str | None], Fit | None] = {}
"""Results of this process, by method, world and given prior."""


def _fits_in(place: str, methods: list[str], prior: str | None) -> list[Fit | None]:
    """The fit of each method in a world. The priors of the world are kept until all methods have been asked."""
    missing = [method for method in methods if (method, place, prior) not in KNOWN]
    if missing:
        world = world_for(place)

        @cache
        def make_prior(spec: str) -> Any:
            try:
                return prior_for(world, spec)
            except BayesRLError:
                return None

        for method in missing:
            fits, chosen = _chosen(method, world, prior, make_prior)
            KNOWN[method, place, prior] = Fit(method, place, chosen) if fits else None
    return [KNOWN[method, place, prior] for method in methods]


def _chosen(
    method: str, world: World | Family, prior: str | None, make_prior: Callable[[str], Any]
) -> tuple[bool, str | None]:
    """Whether a method acts in a world with this prior, or with any if none is given, and the prior."""
    name, params = named(method)
    entry = acting(name)
    if not believes(entry):
        return prior is None and _accepted(lambda: choose(name, world, None, params)), None
    try:
        made = make(name, **(suggested(world, entry) | params))
        check_place(made, world)
    except BayesRLError:
        return False, None
    for spec in candidates(world, made) if prior is None else [prior]:
        if (belief := make_prior(spec)) is not None and _accepted(partial(demand, made, belief)):
            return True, spec
    return False, None


def _accepted(attempt: Callable[[], object]) -> bool:
    """Whether something can be done without an error of the library."""
    try:
        attempt()
    except BayesRLError:
        return False
    return True
