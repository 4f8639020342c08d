"""The registry of all methods and worlds. The decorator in a method's file is its only registration.

The command line, the documentation, the benchmark and the law suite read the registry.

    @register("beb", kind="planner", survey="4.6", paper="Kolter09", evidence=("tests/bamdp/test_beb.py::test_x",))
    @dataclass(frozen=True, slots=True)
    class BEB: ...

The package of an entry is the folder of `bayesrl` that contains the file. The summary is the first paragraph of the
docstring. `evidence` names the tests that would fail if the method were wrong. A method without evidence counts as
missing.

A belief also says how it is made for a problem: `prior_for=function`, or `prior_for={"flat": ..., "structured": ...}`
where there are several ways. `lab/priors.py` calls these functions.

A planner of bamdp says in `facets=Facets(...)` what it considers and how it decides: its row in the survey's table of
online methods (facets.py). `reading=` says what was read of a method whose paper we did not have.

A registered name has a file of its own, named after it, so `make("psrl")` imports that file and what the file needs.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from bayesrl._lazy import LOCK, imported
from bayesrl._shown import ShownList
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.facets import Facets
from bayesrl.renamed import in_new_words, words_of

T = TypeVar("T")

KINDS = ("belief", "planner", "agent", "solver", "tool", "world", "family")
PACKAGES = (
    "models", "beliefs", "bandits", "bamdp", "bapomdp", "continuous", "value", "gradient", "risk", "pacbayes",
    "inverse", "multiagent", "multitask", "worlds", "lab",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered method or world."""

    name: str
    kind: str
    package: str
    """The folder of `bayesrl`, such as bamdp; for a user's method the user's package."""
    survey: str
    paper: str
    summary: str
    evidence: tuple[str, ...]
    factory: Callable[..., Any]
    example: Callable[[], Any] | None
    """Makes a small instance for the law suite."""
    ways: Mapping[str, Callable[..., Any]] = dataclasses.field(default_factory=dict)
    """How a belief is made for a problem: functions (problem, **parameters), by the name that `--prior` takes."""
    taken_by: str = ""
    """The command or class that takes a belief about rewards, values or tasks. No agent takes such a belief."""
    words: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Old and new words of the parameters."""
    facets: Facets | None = None
    """The row of a planner in the survey's table of online methods."""
    reading: str = ""
    """A sentence about what was read, if the paper was not; empty otherwise."""

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the factory, by name."""
        return inspect.signature(self.factory).parameters

    def keyword(self, name: str) -> str | None:
        """The present name of a parameter that may be given by an old word; None if there is no such parameter."""
        found = self.words.get(name, name)
        return found if found in self.parameters else None

    def in_new_words(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Parameters by name, each under its present name. One that is given twice is refused."""
        return given if self.words.keys().isdisjoint(given) else in_new_words(self.factory, given)

    def card(self) -> dict[str, Any]:
        """The entry as JSON. Its key for the package is `family`, as in the first release."""
        return {
            "name": self.name,
            "kind": self.kind,
            "family": self.package,
            "survey": self.survey,
            "paper": self.paper,
            "summary": self.summary,
            "evidence": list(self.evidence),
            "reading": self.reading,
        }


_entries: dict[str, Entry] = {}


def register(
    name: str,
    *,
    kind: str,
    survey: str = "",
    paper: str = "",
    evidence: tuple[str, ...] = (),
    example: Callable[[], Any] | None = None,
    prior_for: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None = None,
    taken_by: str = "",
    facets: Facets | None = None,
    reading: str = "",
) -> Callable[[T], T]:
    """Register a class or a function under its name.

    `prior_for` says how a belief is made for a problem: a function (problem, **parameters), or several by name. A
    belief that no agent acts on names in `taken_by` what takes it. `facets` are the row of a planner in the
    survey's table of online methods, and `reading` says what was read instead of the paper.
    """
    if kind not in KINDS:
        raise InvalidArgument("register", "kind", "one of " + ", ".join(KINDS), kind)
    if prior_for is not None and kind != "belief":
        raise InvalidArgument("register", "prior_for", "given for a belief only", kind)
    if facets is not None and kind != "planner":
        raise InvalidArgument("register", "facets", "given for a planner only", kind)
    ways = {name: prior_for} if callable(prior_for) else dict(prior_for or {})

    def enter(thing: T) -> T:
        made: Any = thing
        if name in _entries and _entries[name].factory.__qualname__ != made.__qualname__:
            raise InvalidArgument("register", "name", "new", name)
        if inspect.isclass(made):
            from bayesrl._explained import explain_failures

            explain_failures(made)
        doc = inspect.getdoc(made) or ""
        summary = " ".join(doc.split("\n\n")[0].split())
        home = made.__module__.split(".")
        package = home[1] if home[0] == "bayesrl" else home[0]
        _entries[name] = Entry(
            name,
            kind,
            package,
            survey,
            paper,
            summary,
            evidence,
            made,
            example,
            ways,
            taken_by,
            words_of(made),
            facets,
            reading,
        )
        return thing

    return enter


def entries(packages: tuple[str, ...] = PACKAGES) -> dict[str, Entry]:
    """All entries by name, after importing these packages."""
    for package in packages:
        _import_all(package)
    return dict(sorted(_entries.items()))


@cache
def _import_all(package: str) -> None:
    with LOCK:
        spec = find_spec(f"bayesrl.{package}")
        for module in pkgutil.walk_packages((spec and spec.submodule_search_locations) or [], f"bayesrl.{package}."):
            import_module(module.name)


@cache
def _files() -> Mapping[str, tuple[str, ...]]:
    """The modules of each file name in the packages. Nothing is imported."""
    found: dict[str, tuple[str, ...]] = {}
    top = os.path.dirname(__file__)
    for package in PACKAGES:
        for folder, _, files in os.walk(os.path.join(top, package)):
            inside = ".".join(["bayesrl", *os.path.relpath(folder, top).split(os.sep)])
            for file in files:
                stem, end = os.path.splitext(file)
                if end == ".py" and not stem.startswith("_"):
                    found[stem] = (*found.get(stem, ()), f"{inside}.{stem}")
    return found


def lookup(name: str) -> Entry | None:
    """The entry of that name, if there is one. A file of that name is imported first, and everything if none has it."""
    for module in () if name in _entries else _files().get(name.replace("-", "_"), ()):
        imported(module)
    return _entries.get(name) or entries().get(name)


def methods() -> list[Entry]:
    """All registered methods (beliefs, planners, agents, solvers, tools), by name."""
    return ShownList(e for e in entries().values() if not _is_world(e))


def online_methods() -> list[Entry]:
    """The planners of the survey's table of online methods and those beside it, in the order of the survey."""
    found = [e for e in entries(("bamdp",)).values() if e.facets is not None]
    return sorted(found, key=lambda e: ([int(part) for part in e.survey.split(".")], e.name))


def worlds() -> list[Entry]:
    """All registered worlds and families of worlds, by name."""
    return ShownList(e for e in entries(("worlds",)).values() if _is_world(e))


def make(name: str, **parameters: Any) -> Any:
    """Build a method or a world by its name: `make("beb", beta=3.0)`, `make("chain", gamma=0.95)`."""
    return _build(find(name, "make", "method"), parameters)


def make_world(name: str, **parameters: Any) -> Any:
    """Build a world or a family of worlds by its name: `make_world("chain", gamma=0.95)`."""
    _check_name("make_world", "a world", name)
    entry = lookup(name)
    if entry is None or not _is_world(entry):
        hint = "" if entry is None else f'{name} is {with_article(entry.kind)}: make("{name}").'
        raise UnknownName("world", name, [world.name for world in worlds()], hint)
    return _build(entry, parameters)


def find(name: str, owner: str = "find", kind: str = "method or world") -> Entry:
    """The entry of that name, whatever its kind. An error names the `owner` of the call and what was looked for."""
    _check_name(owner, "a method or a world", name)
    entry = lookup(name)
    if entry is None:
        raise UnknownName(kind, name, entries())
    return entry


def _is_world(entry: Entry) -> bool:
    return entry.kind in ("world", "family")


def with_article(kind: str) -> str:
    """A kind of entry with its article: "an agent", "a planner"."""
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _check_name(owner: str, of: str, name: object) -> None:
    if not isinstance(name, str):
        raise InvalidArgument(owner, "name", f"the name of {of}", name)


def _build(entry: Entry, parameters: Mapping[str, Any]) -> Any:
    takes, named = entry.parameters, entry.in_new_words(parameters)
    for given in named:
        if given not in takes:
            raise UnknownName(f"parameter of {entry.name}", given, takes)
    missing = [p.name for p in takes.values() if p.default is p.empty and p.name not in named]
    if missing:
        raise InvalidArgument(entry.name, missing[0], "given", None)
    return entry.factory(**parameters)


def parameters_of(thing: Any) -> dict[str, Any]:
    """The hyper-parameters of a built method, for tables and JSON."""
    return {f.name: getattr(thing, f.name) for f in _fields(thing)}


def _fields(thing: Any) -> Iterator[dataclasses.Field[Any]]:
    return (f for f in dataclasses.fields(thing) if f.init)
