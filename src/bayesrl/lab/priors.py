"""Priors by name: `prior_for(world, "flat:1/9")`.

A prior is NAME, NAME:VALUE or NAME:KEY=VALUE,... NAME is that of a registered belief, or a short name of one of the
ways to make it; VALUE is the first parameter:

    flat:1/9         one Dirichlet for each (s, a) over all states, every count 1/9; default 1
    structured:0.5   the world's own outcomes and groups with unknown probabilities, every count 0.5; default 1
    sparse:0.2       for each (s, a) a Dirichlet over an unknown subset of the states (a support of size k has weight
                     k^-2), every count 0.2; default 0.2, the prior of the published grid results

If the state is hidden, `model_prior` of the world says what is unknown:

    known            the model is known, the state is filtered
    known:5000       the same by 5000 particles, in a world that is too large for a table; default 1000
    particle:500     a sample of 500 hyper-states (a state and counts); default 1000
    most-probable:50 the 50 most probable hyper-states; default 1000
    bounded:30       rows are counted up to this total; default 20 more than the largest total of the world's counts
    exact            all hyper-states; their number grows with every step

A family of worlds has the two priors of its literature: `accurate` (the counts that worlds are drawn from) and
`inaccurate` (a count of 1 for every state). A world may make its usual prior itself (a bandit does), or have arguments
for a belief suggested by the literature.

How a belief is made for a problem stands in its own file (`prior_for=` of `register`); no list is kept here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from numpy.random import default_rng

from bayesrl.capabilities import offers
from bayesrl.core import World
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.names import scalar, settings
from bayesrl.parameters import check, declarations
from bayesrl.problems import Family, MakesPrior, StatesPrior
from bayesrl.registry import Entry, entries, lookup, make, with_article

SEED = 0
"""The seed of priors that draw models; all runs of an experiment share one prior, whatever their own seeds are."""
SHORT = {
    "flat": "dirichlet-mdp", "structured": "dirichlet-mdp", "accurate": "dirichlet-mdp", "inaccurate": "dirichlet-mdp",
    "sparse": "sparse-dirichlet", "known": "pomdp-filter", "particle": "bapomdp-particle",
    "most-probable": "bapomdp-most-probable", "bounded": "bapomdp-bounded", "exact": "bapomdp-exact",
}  # fmt: skip
"""The belief of each short name: its file alone is imported. Priors are tried in this order, then the others."""


class Way(NamedTuple):
    """A way to make a belief for a problem."""

    name: str
    """The name that `--prior` takes."""
    belief: Entry
    function: Callable[..., Any]
    """A function of the problem and of the parameters."""

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The given parameters, checked, with defaults for the others."""
        taken = inspect.signature(self.function).parameters
        told = {d.name: d for d in declarations(self.function)}
        given = self.belief.in_new_words(given)
        for key in given:
            if key not in told:
                raise UnknownName(f"parameter of the prior {self.name}", key, told)
        own = {key: check(self.name, told[key], x) for key, x in given.items()}
        return {key: own.get(key, taken[key].default) for key in told}

    def make(self, problem: object, given: Mapping[str, Any]) -> Any:
        """The belief for a problem."""
        drawn = {"rng": default_rng(SEED)} if "rng" in inspect.signature(self.function).parameters else {}
        return self.function(problem, **self.arguments(given), **drawn)


def prior_for(world: World | Family, spec: str | None = None) -> Any:
    """The prior of that name for this world or family; the default is that of the literature.

    >>> from bayesrl.registry import make_world
    >>> prior_for(make_world("chain-tied"), "structured:1/2").alpha
    array([[0.5, 0.5]])
    """
    if not isinstance(spec, str | None):
        raise InvalidArgument("prior", "spec", "NAME, NAME:VALUE or NAME:KEY=VALUE,...", spec)
    spec = usual_prior(world) if spec is None else spec
    if offers(world, MakesPrior) and spec == world.prior:
        return world.default_prior()
    name, given = parsed(spec)
    suggested = suggestions_for(world).get(name)
    if suggested is not None and (entry := lookup(name)) is not None and entry.kind == "belief":
        return make(name, **(dict(suggested) | _by_name(name, given, next(iter(entry.parameters)))))
    way = way_of(name)
    return way.make(world, _by_name(name, given, next(iter(way.arguments({})), None)))


def usual_prior(world: object) -> str:
    """The name of a world's own prior."""
    if not offers(world, StatesPrior):
        raise InvalidArgument("prior", "world", "a world or a family with a prior of its own", world)
    return world.prior


def ways() -> list[Way]:
    """Every way to make a belief for a problem: those with short names first, then by name."""
    found = [Way(name, e, f) for e in entries().values() if e.kind == "belief" for name, f in e.ways.items()]
    order = list(SHORT)
    return sorted(found, key=lambda way: (order.index(way.name) if way.name in order else len(order), way.name))


@cache
def way_of(name: str) -> Way:
    """The way of that name. A belief with several ways has its own name for the first of them."""
    entry = lookup(SHORT.get(name, name))
    found = {} if entry is None else entry.ways
    if entry is not None and (entry.ways or entry.kind == "belief"):
        if name in found or found:
            chosen = name if name in found else next(iter(found))
            return Way(name, entry, found[chosen])
        hint = f"It is taken by {entry.taken_by}."
        raise InvalidArgument("prior", "name", "a belief that agents act on", name, hint if entry.taken_by else "")
    if entry is not None:
        raise InvalidArgument("prior", "name", "a belief", name, f"It is {with_article(entry.kind)}.")
    for way in ways():
        if way.name == name:
            return way
    raise UnknownName("prior", name, {way.name for way in ways()} | {way.belief.name for way in ways()})


def parsed(spec: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a prior; the key of a value without one is empty.

    >>> parsed("flat:1/4"), parsed("sparse:concentration=.2,size_exponent=1"), parsed("exact")
    (('flat', {'': 0.25}), ('sparse', {'concentration': 0.2, 'size_exponent': 1}), ('exact', {}))
    """
    name, colon, rest = spec.partition(":")
    if not colon:
        return name, {}
    if not name.strip() or not rest.strip():
        raise InvalidArgument("prior", "spec", "NAME, NAME:VALUE or NAME:KEY=VALUE,...", spec)
    return name, settings(name, rest.split(",")) if "=" in rest else {"": scalar(rest.strip())}


def _by_name(name: str, given: Mapping[str, Any], first: str | None) -> dict[str, Any]:
    """Parameters by name; a value without a key is that of the first parameter."""
    if "" in given and first is None:
        raise InvalidArgument("prior", name, "given without a value", given[""])
    return {key or str(first): x for key, x in given.items()}


def same_prior(a: str, b: str) -> bool:
    """Whether two specifications mean the same prior: flat and flat:1 do, and sparse:1/5 and sparse.

    >>> same_prior("sparse", "sparse:1/5"), same_prior("flat", "structured")
    (True, False)
    """
    return _meaning(a) == _meaning(b)


def _meaning(spec: str) -> object:
    try:
        name, given = parsed(spec)
        way = way_of(name)
        return way.function, way.arguments(_by_name(name, given, next(iter(way.arguments({})), None)))
    except (InvalidArgument, UnknownName):
        return spec
