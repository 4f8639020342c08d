"""Agents and worlds by name: `agent_for("beb", world, "flat:1/9", {"beta": 3})` and `world_for("chain:gamma=0.9")`.

The command line, scripts and configuration files use the same names:

    NAME                      beb                  with default parameters
    NAME:KEY=VALUE,...        beb:beta=3           with other parameters
                              chain:gamma=9/10

    FILE.pomdp                tiger.pomdp          the POMDP in a file, as a world
    FILE.pomdp:KEY=VALUE,...  4x3.pomdp:gamma=.9   with another discount, or with a `terminal` state (name or number)

A value is a whole number, a decimal, a fraction, true, false, none, or otherwise a word.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from numpy.random import default_rng

from bayesrl.core import BayesAgent, Family, World
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.lab.priors import prior_for
from bayesrl.parameters import declarations
from bayesrl.registry import Entry, entries, make, make_world, with_article, worlds
from bayesrl.traits import traits_of
from bayesrl.worlds.hidden import POMDPWorld

SOLVE_SEED = 0
"""The seed of solvers; all runs of an experiment share one solution, whatever their own seeds are."""
FILE = ".pomdp"
"""The end of the name of a file that is a world."""
OF_THE_WORLD = ("n_states", "n_actions")
"""Parameters that the world determines."""


def agent_for(
    method: str, world: World | Family, prior: str | None = None, params: Mapping[str, Any] | None = None
) -> Any:
    """An agent for this world from a method's name: a planner on a prior (default: the world's), or an agent itself.

    A solver that yields a planner is run on the prior here.

    >>> from bayesrl.registry import make_world
    >>> agent_for("beb", make_world("double-loop"), params={"beta": 2}).planner
    BEB(beta=2, ties='first')
    """
    entry, params = acting(method), dict(params or {})
    if believes(entry):
        made, belief = make(method, **(suggested(world, entry) | params)), prior_for(world, prior)
        return BayesAgent(belief, made if entry.kind == "planner" else made.solve(belief, default_rng(SOLVE_SEED)))
    if prior is not None:
        raise InvalidArgument(method, "prior", "left out", prior, "It has no belief, so it takes no prior.")
    for name in OF_THE_WORLD:
        if name in params:
            raise InvalidArgument(method, name, "left to the world", params[name])
    told = {name: getattr(world, name, None) for name in (*OF_THE_WORLD, "gamma") if name in entry.parameters}
    for name, known in told.items():
        if known is None:
            raise InvalidArgument(method, "world", f"one with '{name}'", type(world).__name__)
    told |= {name: paid for name, paid in rewards_of(world).items() if name in entry.parameters}
    if "prior" in entry.parameters and hasattr(world, "counts"):
        told["prior"] = world.counts()
    told |= suggested(world, entry)
    return make(method, **(told | params))


def suggested(world: World | Family, entry: Entry) -> dict[str, Any]:
    """The arguments that a world suggests for a method: its own, and those of its package that it takes.

    >>> from bayesrl.registry import make_world
    >>> sorted(suggested(make_world("random-walk"), entries()["bac"]))
    ['covariance', 'policy']
    """
    given = getattr(world, "defaults", {})
    shared = {name: x for name, x in given.get(entry.package, {}).items() if name in entry.parameters}
    return shared | dict(given.get(entry.name, {}))


def rewards_of(world: World | Family) -> dict[str, float]:
    """The smallest and the largest reward, r_min and r_max, of a world that lists its outcomes.

    >>> from bayesrl.registry import make_world
    >>> rewards_of(make_world("chain"))
    {'r_min': 0.0, 'r_max': 10.0}
    """
    o = world.outcomes if hasattr(world, "outcomes") else getattr(getattr(world, "mdp", None), "outcomes", None)
    if o is None:
        return {}
    paid = o.reward[o.valid[o.group]]
    return {"r_min": float(paid.min()), "r_max": float(paid.max())}


def world_for(text: str, params: Mapping[str, Any] | None = None) -> Any:
    """A world or a family of worlds from its name, the parameters after a colon, and further parameters.

    The name of a file that ends in .pomdp gives the POMDP in it as a world.
    """
    name, own = named(text)
    if name.endswith(FILE):
        told = merged(name, own, params or {})
        for key in told.keys() - {"gamma", "terminal"}:
            raise UnknownName("parameter of a file", key, ("gamma", "terminal"))
        return POMDPWorld.from_file(name, **told)
    if all(name != entry.name for entry in worlds()) and (other := entries().get(name)) is not None:
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
    known = entries()
    if method not in known:
        raise UnknownName("method", method, [entry.name for entry in known.values() if acts(entry)])
    if not acts(known[method]):
        hint = f"It is {with_article(known[method].kind)}, not something that acts."
        raise InvalidArgument("agent_for", "method", "a planner or an agent", method, hint)
    return known[method]


# Names and values -----------------------------------------------------------------------------------------------------


def named(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of NAME or NAME:KEY=VALUE,KEY=VALUE.

    >>> named("q-learning:rate=1/5,temperature=none")
    ('q-learning', {'rate': 0.2, 'temperature': None})
    """
    path, file, rest = text.partition(FILE)
    name, colon, rest = (path + file, *rest.partition(":")[1:]) if file else text.partition(":")
    return name, settings(name, rest.split(",")) if colon else {}


def settings(owner: str, pairs: Iterable[str]) -> dict[str, Any]:
    """The parameters of KEY=VALUE pairs."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (equals and key.strip().isidentifier() and text.strip()):
            raise InvalidArgument(owner, "setting", "KEY=VALUE", pair)
        if key.strip() in found:
            raise InvalidArgument(owner, key.strip(), "set once", pair)
        found[key.strip()] = scalar(text.strip())
    return found


def merged(owner: str, own: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both sets of parameters; refuse a parameter that is in both."""
    for key in own.keys() & more.keys():
        raise InvalidArgument(owner, key, "set once", more[key])
    return {**own, **more}


def scalar(text: str) -> Any:
    """The value of a word.

    >>> [scalar(word) for word in ("3", ".5", "1/9", "true", "none", "first")]
    [3, 0.5, 0.1111111111111111, True, None, 'first']
    """
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    for read in (int, float, lambda word: float(Fraction(word))):
        try:
            return read(text)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
    return text


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
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    tree = ast.parse(text, mode="eval").body
    if isinstance(tree, ast.Subscript) and ast.unparse(tree.value).endswith("Annotated"):
        assert isinstance(tree.slice, ast.Tuple)
        return ast.unparse(tree.slice.elts[0])
    return text
