"""Completeness: what is registered is documented, cited, and held to tests that exist."""

from __future__ import annotations

import ast
import pathlib
import re
from dataclasses import replace
from typing import Annotated, Literal

import pytest

import bayesrl as b
from bayesrl import registry
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.lab.build import parameters
from bayesrl.parameters import DISCOUNT, AtLeast, declared
from bayesrl.registry import entries, find, register

ROOT = pathlib.Path(__file__).parents[1]
ENTRIES = {name: e for name, e in entries().items() if e.factory.__module__.startswith("bayesrl.")}


def names_in(path):
    return {n.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("name", ENTRIES)
def test_evidence_exists(name):
    assert ENTRIES[name].evidence, "a system without evidence counts as missing"
    for node in ENTRIES[name].evidence:
        path, _, test = node.partition("::")
        assert (ROOT / path).is_file(), f"{path} does not exist"
        assert test.split("[")[0] in names_in(ROOT / path), f"{path} has no {test}"


@pytest.mark.parametrize("name", ENTRIES)
def test_summary_and_paper(name):
    entry = ENTRIES[name]
    assert entry.summary.endswith("."), "the docstring's first sentence is the summary"
    assert len(entry.summary) < 200
    assert re.fullmatch(r"\d(\.\d+)?", entry.survey)
    keys = re.findall(r"@\w+\{([^,\s]+),", (ROOT / "docs/references.bib").read_text())
    assert not entry.paper or entry.paper in keys, f"{entry.paper} is not in references.bib"


@pytest.mark.parametrize("name", [n for n, e in ENTRIES.items() if e.kind in ("belief", "planner", "agent")])
def test_fields_are_documented_and_an_example_exists(name):
    entry = ENTRIES[name]
    assert entry.example is not None, "the law suite needs an example"
    entry.example()
    undocumented = [p.name for p in parameters(entry) if not p.doc and isinstance(entry.factory, type)]
    assert not undocumented, f"{undocumented} have no docstring"


def test_a_file_registers_one_method():
    homes = [e.factory.__module__ for e in ENTRIES.values()]
    twice = {home for home in homes if homes.count(home) > 1}
    assert not twice


def test_unknown_names_are_answered_with_near_ones():
    with pytest.raises(UnknownName, match="Did you mean beb"):
        b.make("bebb")
    with pytest.raises(UnknownName, match="Did you mean double-loop"):
        b.make_world("doubleloop")
    with pytest.raises(UnknownName, match=r"no parameter of beb called 'bta'\. Did you mean beta"):
        b.make("beb", bta=3)
    with pytest.raises(UnknownName):
        find("nothing")
    with pytest.raises(UnknownName, match=r"^There is no method called 'PSRL'\. Did you mean psrl\?$"):
        b.make("PSRL")


def test_methods_and_worlds_have_one_namespace():
    assert b.make("chain", gamma=0.9) == b.make_world("chain", gamma=0.9)
    with pytest.raises(UnknownName, match=r"There is no world called 'psrl'\. psrl is a planner: make\(\"psrl\"\)\."):
        b.make_world("psrl")
    for name in ([], None, 3, {}):
        for build, of in ((b.make, "a method or a world"), (b.make_world, "a world"), (find, "a method or a world")):
            with pytest.raises(InvalidArgument, match=f"'name' must be the name of {of}, got"):
                build(name)


def test_a_new_entry_has_a_known_kind():
    with pytest.raises(InvalidArgument, match="'kind' must be one of"):
        register("x", kind="thing", survey="4.1")


def test_an_entry_says_where_it_comes_from(monkeypatch):
    """The package is the folder of this library, or a user's own package; the summary is the first paragraph."""
    monkeypatch.setattr(registry, "_entries", {})

    def mine():
        """Do one
        thing.

        And more.
        """

    for module, package in (("bayesrl.value.deep.file", "value"), ("theirs.inner.file", "theirs"), ("alone", "alone")):
        mine.__module__ = module
        assert register("mine", kind="tool", survey="4.1", paper="P", evidence=("a",))(mine) is mine
        entry = registry._entries["mine"]
        assert (entry.package, entry.summary, entry.kind, entry.survey) == (package, "Do one thing.", "tool", "4.1")
        assert (entry.paper, entry.evidence, entry.factory, entry.example) == ("P", ("a",), mine, None)
    with pytest.raises(InvalidArgument, match="register: 'name' must be new, got 'mine'"):
        register("mine", kind="tool", survey="4.1")(lambda: None)
    assert [registry.with_article(kind) for kind in ("agent", "world")] == ["an agent", "a world"]
    with pytest.raises(InvalidArgument, match="mine: 'n' must be given, got None"):
        registry._build(replace(entry, factory=lambda n, m=3: n), {"m": 4})
    assert registry._build(replace(entry, factory=lambda n, m=3: (n, m)), {"n": 4}) == (4, 3)


def test_what_is_registered_later_is_listed_too(monkeypatch):
    """A list is made anew each time. One that was made before knows nothing of it, and may be changed."""
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    before, worlds_before = entries(), b.worlds()
    before["never"] = find("beb")
    register("mine-later", kind="tool", survey="4.1")(lambda: None)
    register("world-later", kind="world", survey="4.1")(lambda: None)
    assert "mine-later" not in before
    assert "never" not in entries()
    assert {"mine-later", "world-later"} <= entries().keys()
    assert "mine-later" in {e.name for e in b.methods()}
    assert {e.name for e in b.worlds()} - {e.name for e in worlds_before} == {"world-later"}
    with pytest.raises(UnknownName, match="mine-later"):
        b.make("mine-latest")


def test_methods_and_worlds_are_listed():
    assert {"beb", "psrl", "dirichlet-mdp", "value-iteration"} <= {e.name for e in b.methods()}
    assert {"chain", "gc", "dearden-maze"} <= {e.name for e in b.worlds()}
    card = find("beb").card()
    assert set(card) == {"name", "kind", "family", "survey", "paper", "summary", "evidence", "reading"}
    assert card["family"] == find("beb").package == "bamdp"


def test_parameters_are_read_from_their_declarations():
    """Type, allowed values, default and meaning come from the declaration; classes and functions both have them."""
    entry = replace(find("beb"), factory=Toy)
    assert [tuple(p) for p in parameters(entry)] == [
        ("size", "int", None, "Number of things, n.", "whole number at least 1"),
        ("rule", "Literal['one', 'two'] | None", "'one'", "Which rule.", '"one", "two" or None'),
        ("plain", "str", "''", "", ""),
    ]
    assert [tuple(p) for p in parameters(replace(entry, factory=toy))] == [
        ("gamma", "float", "0.5", "Discount.", "number in [0, 1]")
    ]


@declared
class Toy:
    """A thing."""

    size: Annotated[int, AtLeast(1), "Number of things, n."]
    rule: Annotated[Literal["one", "two"] | None, "Which rule."] = "one"
    plain: str = ""


def toy(gamma: Annotated[float, DISCOUNT, "Discount."] = 0.5) -> None:
    """A function that declares its parameter."""
