"""Agents and worlds by name: `agent("beb", "chain", "flat:1/9", beta=3)` and `world_for("chain:gamma=0.9")`.

The command line, scripts and configuration files use the same names; `names.py` has their grammar, `priors.py` that of
priors. `fits.py` lists what fits what.

A planner without a given prior takes the world's own if it fits, else the first that does (`choose` says which).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Annotated, Any, NamedTuple, Protocol, Union, get_args, get_origin

from numpy.random import default_rng

from bayesrl.capabilities import demand, offers
from bayesrl.core import BayesAgent, ChecksWorld, World
from bayesrl.errors import BayesRLError, InvalidArgument, UnknownName
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.names import FILE
from bayesrl.lab.names import merged as merged
from bayesrl.lab.names import named as named
from bayesrl.lab.names import scalar as scalar
from bayesrl.lab.names import settings as settings
from bayesrl.lab.priors import prior_for, ways
from bayesrl.parameters import declarations
from bayesrl.problems import (
    ChoosesSeveral,
    Family,
    HasDiscount,
    HasMDP,
    HasOutcomes,
    LeavesUnknown,
    Limited,
    NumbersActions,
    NumbersStates,
    StatesPrior,
    is_hidden,
    name_of,
)
from bayesrl.registry import Entry, entries, lookup, make, make_world, with_article
from bayesrl.renamed import saying
from bayesrl.traits import traits_of
from bayesrl.worlds.hidden import POMDPWorld

SOLVE_SEED = 0
"""The seed of solvers; all runs of an experiment share one solution, whatever their own seeds are."""
OF_THE_WORLD = ("n_states", "n_actions")
"""Parameters that the world determines."""


class NamesPriors(Protocol):
    """A planner for which some priors suit better than others that also fit."""

    @property
    def priors_first(self) -> tuple[str, ...]:
        """The names of these priors, tried in this order after the world's own."""


class Choice(NamedTuple):
    """An agent, and the name of its prior."""

    agent: Any
    prior: str | None
    """None: it has none, or was given an object."""


def agent(method: str, world: str | World | Family, prior: Any = None, **parameters: Any) -> Any:
    """An agent by name: a planner on a prior, a solver's solution, or an agent that learns without a belief.

    `world` and `prior` are names or objects, and `parameters` are those of the method. Without a prior it is the
    world's own if it fits the method, else the first that does.

    >>> agent("beb", "double-loop", beta=2).planner
    BEB(beta=2, ties='first')
    >>> type(agent("ba-pomcp", "tiger", simulations=50).prior).__name__
    'ParticleBAPOMDP'
    """
    place = world_for(world) if isinstance(world, str) else world
    name, own = named(method) if isinstance(method, str) else (method, {})
    return choose(name, place, prior, merged(name, own, parameters)).agent


def agent_for(
    method: str, world: World | Family, prior: str | None = None, params: Mapping[str, Any] | None = None
) -> Any:
    """`agent` for a world that is an object, with the parameters in a mapping.

    >>> from bayesrl.registry import make_world
    >>> agent_for("beb", make_world("double-loop"), params={"beta": 2}).planner
    BEB(beta=2, ties='first')
    """
    return choose(method, world, prior, params or {}).agent


def choose(method: str, world: World | Family, prior: Any, params: Mapping[str, Any]) -> Choice:
    """An agent for this world, and the name of the prior that was chosen for it. A solver is run here."""
    entry = acting(method)
    if entry.words.keys().isdisjoint(params):
        return _choose(entry, world, prior, params)
    with saying(entry.words, params):
        return _choose(entry, world, prior, entry.in_new_words(params))


def _choose(entry: Entry, world: World | Family, prior: Any, params: Mapping[str, Any]) -> Choice:
    if not believes(entry):
        return Choice(_without_prior(entry, world, prior, params), None)
    made = make(entry.name, **{**suggested(world, entry), **params})
    check_place(made, world)
    name, belief = believed(made, world, prior)
    return Choice(
        BayesAgent(belief, made if entry.kind == "planner" else made.solve(belief, default_rng(SOLVE_SEED))), name
    )


def believed(made: Any, world: World | Family, given: Any = None) -> tuple[str | None, Any]:
    """The name and the belief of the prior for a planner or a solver in this world.

    Without a given prior it is the world's own, else the first that fits; if none fits, the error is that of the own.
    """
    if given is not None:
        name = given if isinstance(given, str) else None
        belief = given if name is None else prior_for(world, name)
        demand(made, belief)
        return name, belief
    refused: BayesRLError | None = None
    for name in candidates(world, made):
        try:
            belief = prior_for(world, name)
            demand(made, belief)
        except BayesRLError as error:
            refused = refused or error
        else:
            return name, belief
    assert refused is not None
    raise refused


def candidates(world: World | Family, made: object = None) -> Iterator[str]:
    """The names of the priors to try: the world's own, those that the planner names, and all others."""
    own = (world.prior,) if offers(world, StatesPrior) else ()
    named_first = made.priors_first if offers(made, NamesPriors) else ()
    yield from dict.fromkeys((*own, *named_first))
    yield from (way.name for way in ways() if way.name not in (*own, *named_first))


def note_on_prior(method: str, world: str, own: str | None, given: object, chosen: str | None) -> str:
    """A sentence about a prior that is not the world's own although none was given; else nothing."""
    if given is not None or own is None or chosen in (None, own):
        return ""
    return f"{method}: the prior {own} of {world} does not fit it; {chosen} is the first that does."


def _without_prior(entry: Entry, world: World | Family, prior: object, params: Mapping[str, Any]) -> Any:
    """An agent that has no belief about the world, or one of its own."""
    if prior is not None:
        raise InvalidArgument(entry.name, "prior", "left out", prior, "It has no belief, so it takes no prior.")
    for name in OF_THE_WORLD:
        if name in params:
            raise InvalidArgument(entry.name, name, "left to the world", params[name])
    if "n_states" in entry.parameters and is_hidden(world):
        raise InvalidArgument(entry.name, "world", "one whose state is observed", name_of(world))
    told = _sizes(entry, world) | {n: x for n, x in rewards_of(world).items() if n in entry.parameters}
    needed = next((name for name in ("model_prior", "prior") if name in entry.parameters), None)
    if needed is not None and offers(world, LeavesUnknown):
        told[needed] = world.model_prior()
    told |= suggested(world, entry) | dict(params)
    if needed is not None and needed not in told:
        raise InvalidArgument(entry.name, "world", "one that leaves a model unknown", name_of(world))
    made = make(entry.name, **told)
    check_place(made, world)
    return made


def _sizes(entry: Entry, world: object) -> dict[str, Any]:
    """The numbers of states and actions and the discount of a world, if the method takes them."""
    known = {
        "n_states": world.n_states if offers(world, NumbersStates) else None,
        "n_actions": world.n_actions if offers(world, NumbersActions) else None,
        "gamma": world.gamma if offers(world, HasDiscount) else None,
    }
    told = {name: x for name, x in known.items() if name in entry.parameters}
    for name, x in told.items():
        if x is None:
            raise InvalidArgument(entry.name, "world", f"one with '{name}'", name_of(world))
    return told


def check_place(made: object, world: World | Family) -> None:
    """Raise the error of an agent that cannot act in this world, in episodes of the world's own length.

    A world without such a length is taken to be cut off, as `run` may be told.
    """
    if isinstance(made, ChecksWorld):
        place = world.draw(default_rng(SOLVE_SEED)) if offers(world, Family) else world
        made.check_world(place, place.horizon if offers(place, Limited) else 1)


def suggested(world: World | Family, entry: Entry) -> dict[str, Any]:
    """The arguments that suit a method in a world: its own, and those of its package that it takes.

    >>> from bayesrl.registry import make_world
    >>> sorted(suggested(make_world("random-walk"), entries()["bac"]))
    ['covariance', 'policy']
    """
    given = suggestions_for(world)
    several = {"suggestions": world.suggestions} if offers(world, ChoosesSeveral) else {}
    shared = {n: x for n, x in {**several, **given.get(entry.package, {})}.items() if n in entry.parameters}
    return shared | dict(given.get(entry.name, {}))


def rewards_of(world: World | Family) -> dict[str, float]:
    """The smallest and the largest reward, r_min and r_max, of a world that lists its outcomes.

    >>> from bayesrl.registry import make_world
    >>> rewards_of(make_world("chain"))
    {'r_min': 0.0, 'r_max': 10.0}
    """
    known = world if offers(world, HasOutcomes) else world.mdp if offers(world, HasMDP) else None
    if known is None:
        return {}
    o = known.outcomes
    paid = o.reward[o.valid[o.group]]
    return {"r_min": float(paid.min()), "r_max": float(paid.max())}


def world_for(text: str, params: Mapping[str, Any] | None = None) -> Any:
    """A world or a family of worlds from its name, the parameters after a colon, and further parameters.

    The name of a file that ends in .pomdp gives the POMDP in it as a world.
    """
    if not isinstance(text, str):
        raise InvalidArgument("world_for", "world", "the name of a world or of a file", text)
    name, own = named(text)
    if name.endswith(FILE):
        told = merged(name, own, params or {})
        for key in told.keys() - {"gamma", "terminal"}:
            raise UnknownName("parameter of a file", key, ("gamma", "terminal"))
        return POMDPWorld.from_file(name, **told)
    if (other := lookup(name)) is not None and other.kind not in ("world", "family"):
        hint = f"It is {with_article(other.kind)}."
        raise InvalidArgument("world_for", "world", "a world or a family of worlds", name, hint)
    return make_world(name, **merged(name, own, params or {}))


def believes(entry: Entry) -> bool:
    """Whether a method uses a belief: it is a planner, or a solver that yields one."""
    return entry.kind == "planner" or (entry.kind == "solver" and traits_of(entry.factory).yields == "planner")


def acts(entry: Entry) -> bool:
    """Whether a method can act, as an agent or with a belief."""
    return entry.kind == "agent" or believes(entry)


def acting(method: str) -> Entry:
    """The entry of a method that can act."""
    entry = lookup(method) if isinstance(method, str) else None
    if entry is None:
        raise UnknownName("method", method, [entry.name for entry in entries().values() if acts(entry)])
    if not acts(entry):
        hint = f"It is {with_article(entry.kind)}, not something that acts."
        raise InvalidArgument("agent_for", "method", "a planner or an agent", method, hint)
    return entry


# Parameters -----------------------------------------------------------------------------------------------------------


class Parameter(NamedTuple):
    """One parameter of a method or a world, as text."""

    name: str
    type: str
    default: str | None
    """The default as Python code; None: it must be given."""
    doc: str
    allowed: str
    """The allowed values in a few words; empty if the type is enough."""


def parameters(entry: Entry) -> list[Parameter]:
    """The parameters of an entry, as its class or function declares them.

    >>> parameters(entries()["psrl"])[0].name
    'horizon'
    """
    told = {d.name: d for d in declarations(entry.factory)}
    return [
        Parameter(
            p.name,
            _type(p.annotation),
            None if p.default is p.empty else repr(p.default),
            told[p.name].doc if p.name in told else "",
            told[p.name].expects if p.name in told else "",
        )
        for p in entry.parameters.values()
    ]


def _type(annotation: Any) -> str:
    """An annotation as text, without what `Annotated` adds to it."""
    if get_origin(annotation) is Annotated:
        return _type(get_args(annotation)[0])
    if get_origin(annotation) is Union:  # its text depends on the version of Python
        return " | ".join("None" if kind is NoneType else _type(kind) for kind in get_args(annotation))
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    tree = ast.parse(text, mode="eval").body
    if isinstance(tree, ast.Subscript) and ast.unparse(tree.value).endswith("Annotated"):
        assert isinstance(tree.slice, ast.Tuple)
        return ast.unparse(tree.slice.elts[0])
    return text
