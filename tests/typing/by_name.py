"""Write what type checkers and `bayesrl._lazy` read: `make docs`.

src/bayesrl/_by_name.pyi has the types of `make`, `make_world` and `agent` for each name. A type checker then knows what
`make("psrl")` is and which parameters it takes, and an editor completes both. It is made from the registry.

The `__init__.pyi` of a package lists its public names. This adds the registered classes and functions of the package,
and to that of the laboratory every `plot_...` of its plots. All other lines stay; write a line for each further name.
A test compares all files with what this writes.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from numpy.typing import ArrayLike

from bayesrl._files import write_text
from bayesrl.checks import Bools, Floats, Ints
from bayesrl.core import BayesAgent
from bayesrl.lab.build import acts, believes
from bayesrl.registry import PACKAGES, Entry, entries

ROOT = Path(__file__).parents[2] / "src" / "bayesrl"
HEAD = '''\
"""The types of `make`, `make_world` and `agent` by name, for type checkers and editors.

`make docs` writes this file from the registry; do not edit it. A name that is known only when the program runs gives
`Any`, and its parameters are then a mapping: `make(name, **parameters)`. The functions of `bayesrl.registry` take any
parameters of any name.
"""

'''
ALIASES = {"Floats": Floats, "Ints": Ints, "Bools": Bools}
PLAIN = (int, float, bool, str, NoneType)


class Names:
    """The text of types, and the imports that it needs."""

    def __init__(self) -> None:
        self.home = {"Any": "typing", "Literal": "typing", "overload": "typing"}

    def __call__(self, name: str, module: str) -> str:
        """A name for something from a module; one that another module took gets the module's name before it."""
        taken = f"{name} as {module.split('.')[-1]}_{name}" if self.home.get(name, module) != module else name
        self.home[taken] = module
        return taken.split(" as ")[-1]

    def lines(self) -> Iterator[str]:
        """The imports, sorted."""
        for module in sorted(set(self.home.values())):
            names = sorted(name for name, home in self.home.items() if home == module)
            yield f"from {module} import {', '.join(names)}"

    def text(self, kind: Any) -> str:
        """A type as code."""
        for alias, meaning in ALIASES.items():
            if kind == meaning:
                return self(alias, "bayesrl.checks")
        origin, parts = get_origin(kind), get_args(kind)
        if kind is NoneType or kind is None:
            return "None"
        if kind is Any or isinstance(kind, TypeVar):
            return "Any"
        if kind is Ellipsis:
            return "..."
        if isinstance(kind, list):
            return f"[{', '.join(map(self.text, kind))}]"
        if origin in (Union, UnionType):
            return self.union(parts)
        if origin is Literal:
            return f"Literal[{', '.join(map(repr, parts))}]"
        if origin is not None:
            return f"{self.name(origin)}[{', '.join(map(self.text, parts))}]"
        free = len(getattr(kind, "__parameters__", ()))
        return self.name(kind) + (f"[{', '.join(['Any'] * free)}]" if free else "")

    def name(self, kind: Any) -> str:
        """The name of a class."""
        return str(kind.__name__) if kind.__module__ == "builtins" else self(kind.__name__, kind.__module__)

    def union(self, parts: tuple[Any, ...]) -> str:
        """A union; NumPy's name for what can become an array stands for its parts, which depend on the version."""
        like = set(get_args(ArrayLike))
        if like <= set(parts):
            rest = [part for part in parts if part not in like]
            return " | ".join([*map(self.text, rest), self("ArrayLike", "numpy.typing")])
        return " | ".join(map(self.text, parts))


def signature(entry: Entry, names: Names, all_optional: bool = False, without: tuple[str, ...] = ()) -> str:
    """The parameters of an entry, by keyword."""
    factory = entry.factory
    hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    told = []
    for p in entry.parameters.values():
        if p.name not in without:
            must = p.default is p.empty and not all_optional
            default = "..." if p.default is p.empty or type(p.default) not in PLAIN else repr(p.default)
            told.append(f"{p.name}: {names.text(hints[p.name])}" + ("" if must else f" = {default}"))
    return ", ".join(told)


def made(entry: Entry, names: Names) -> str:
    """The type of what an entry makes."""
    factory = entry.factory
    return names.text(factory if inspect.isclass(factory) else get_type_hints(factory)["return"])


def overload(function: str, first: str, parameters: str, result: str) -> str:
    """The lines for one name."""
    told = f"{first}, *, {parameters}" if parameters else first
    return f"@overload\ndef {function}({told}) -> {result}: ..."


def page() -> str:
    """The whole file."""
    known = [e for e in entries().values() if e.package in PACKAGES]  # not what a user registered beside ours
    names, lines = Names(), []
    for function, some in (("make", known), ("make_world", [e for e in known if e.kind in ("world", "family")])):
        for e in some:
            given = f"name: Literal[{e.name!r}]"
            lines.append(overload(function, given, signature(e, names), made(e, names)))
        lines.append(f"@overload\ndef {function}(name: str) -> Any: ...")
    place = f"world: str | {names('World', 'bayesrl.core')} | {names('Family', 'bayesrl.problems')}, prior: Any = None"
    for e in filter(acts, known):
        given = signature(e, names, all_optional=True, without=("world", "prior", "n_states", "n_actions"))
        result = names.text(BayesAgent) if believes(e) else made(e, names)
        lines.append(overload("agent", f"method: Literal[{e.name!r}], {place}", given, result))
    lines.append(f"@overload\ndef agent(method: str, {place}) -> Any: ...")
    return HEAD + "\n".join([*names.lines(), "", *lines, ""])


def listed(path: Path, more: Iterable[tuple[str, str]]) -> str:
    """A list of exports with more of them: pairs of a module and a name."""
    lines = set(path.read_text(encoding="utf-8").splitlines())
    return "\n".join(sorted(lines | {f"from {module} import {name} as {name}" for module, name in more})) + "\n"


def plots() -> Iterator[tuple[str, str]]:
    """The plots of the laboratory, read from the sources."""
    for path in (ROOT / "lab" / "plots").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("plot_"):
                yield f"bayesrl.lab.plots.{path.stem}", node.name


def pages() -> dict[Path, str]:
    """All files."""
    found = {ROOT / "_by_name.pyi": page()}
    for path in sorted(ROOT.rglob("__init__.pyi")):
        package = path.parent.name
        own = [e.factory for e in entries().values() if e.package == package]
        more = plots() if package == "lab" else ((made.__module__, made.__name__) for made in own)
        found[path] = listed(path, more)
    return found


if __name__ == "__main__":
    for path, text in pages().items():
        write_text(path, text)
