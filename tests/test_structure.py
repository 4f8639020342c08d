"""The shape of the sources: files are named as what they register, contracts are types, exports are complete."""

import ast
import inspect
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import bayesrl
from bayesrl import capabilities
from bayesrl.registry import PACKAGES, entries
from bayesrl.traits import Traits, traits_of

ROOT = Path(bayesrl.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
ENTRIES = {name: e for name, e in entries().items() if e.package in PACKAGES}
MOST_FILES = 18


def place(path):
    return path.relative_to(ROOT).as_posix()


def module(path):
    return ".".join(["bayesrl", *path.relative_to(ROOT).with_suffix("").parts])


# Folders -------------------------------------------------------------------------------------------------------------


def test_a_registered_name_has_a_file_of_its_own():
    homes = {name: e.factory.__module__ for name, e in ENTRIES.items()}
    assert not {n: home for n, home in homes.items() if home.rpartition(".")[2] != n.replace("-", "_")}


def imported_modules(path):
    """The modules of this library that a file imports, by their full names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesrl"):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_an_underscore_means_private_to_its_folder():
    """A file in a folder inside may import it too."""
    private = {module(p): module(p).rpartition(".")[0] for p in FILES if re.match(r"_[a-z]", p.name)}
    users = {module(p).removesuffix(".__init__"): p for p in FILES}
    uses = [(user, used) for user, p in users.items() for used in imported_modules(p) if used in private]
    assert uses
    assert not [f"{user} imports {used}" for user, used in uses if not f"{user}.".startswith(f"{private[used]}.")]


def test_no_folder_is_crowded():
    folders = {place(f): sum(not p.name.startswith("_") for p in f.glob("*.py")) for f in {p.parent for p in FILES}}
    assert not {folder: n for folder, n in folders.items() if n > MOST_FILES}


# Exports -------------------------------------------------------------------------------------------------------------


def exports(path):
    """The names that a package exports, each with its module."""
    lines = path.read_text("utf-8").splitlines()
    found = [re.fullmatch(r"from (\S+) import (\w+) as (\w+)", line) for line in lines]
    assert all(one and one[2] == one[3] for one in found), path
    return {one[2]: one[1] for one in found}


EXPORTING = sorted(ROOT.rglob("__init__.pyi"))


@pytest.mark.parametrize("path", EXPORTING, ids=place)
def test_a_package_exports_what_its_list_says(path):
    package = import_module(".".join(("bayesrl", *path.relative_to(ROOT).parent.parts)))
    listed = exports(path)
    assert sorted(listed) == package.__all__ == dir(package)
    for name, home in listed.items():
        found = import_module(f"{home}.{name}") if home == package.__name__ else getattr(import_module(home), name)
        assert getattr(package, name) is found
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        package.no_such_name  # noqa: B018


def test_packages_that_export_have_lists():
    assert {p.with_suffix(".pyi") for p in FILES if "\nexport(" in p.read_text("utf-8")} == set(EXPORTING)


def test_every_package_exports_what_it_registers():
    homes = {e.name: import_module(f"bayesrl.{e.package}") for e in ENTRIES.values()}
    assert not [e.name for e in ENTRIES.values() if getattr(homes[e.name], e.factory.__name__, None) is not e.factory]


# Contracts -----------------------------------------------------------------------------------------------------------

ABOUT_BELIEFS = {"belief", "prior", "agent.prior", "mind.belief"}
"""Names under which functions know a belief."""

ASKING_WORLDS = {
    "multiagent/run_game.py": "it refuses a game of another class, as constructors refuse a parameter",
}
"""Where a world may be asked, besides worlds/, beliefs/ and testing/. models/mdp.py and pomdp.py ask for the model in a
thing, and adapters/ ask foreign environments, under other names."""
ABOUT_WORLDS = {"world", "place", "problem", "truth", "family", "rules", "game", "met", "judged", "inside"}
"""Names under which functions know a world or a family."""


def questions_in(text, names):
    """The questions about a thing of one of these names: calls of isinstance, hasattr and getattr, and comparisons of
    its type. Whether it is text, and whether two are of one class, may be asked."""
    for node in ast.walk(ast.parse(text)):
        asking = isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "hasattr", "getattr")
        about, what = map(ast.unparse, node.args[:2]) if asking else ("", "")
        alike = isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]).startswith("type(")
        if isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("type(") and not alike:
            about = ast.unparse(node.left).removeprefix("type(").removesuffix(")")
        if about.removeprefix("self.") in names and what != "str":
            yield f"{node.lineno} {ast.unparse(node)}"


def questions(path, names):
    return [f"{place(path)}:{line}" for line in questions_in(path.read_text("utf-8"), names)]


@pytest.mark.parametrize(
    "line", ["isinstance(world, MDP)", "hasattr(self.world, 'P')", "getattr(world, 'P', 0)", "type(world) is MDP"]
)
def test_a_question_is_noticed(line):
    assert list(questions_in(f"if {line}:\n    pass", ABOUT_WORLDS))
    assert not list(questions_in("isinstance(world, str), type(world).__name__, offers(world, HasMDP)", ABOUT_WORLDS))


def test_nobody_asks_who_a_belief_is():
    elsewhere = [p for p in FILES if place(p).split("/")[0] not in ("beliefs", "testing")]
    assert not [line for path in elsewhere for line in questions(path, ABOUT_BELIEFS)]


def test_nobody_asks_who_a_world_is():
    """They ask `offers` for the protocols of problems.py."""
    own = ("worlds", "beliefs", "testing")
    elsewhere = [p for p in FILES if place(p).split("/")[0] not in own and place(p) not in ASKING_WORLDS]
    assert not [line for path in elsewhere for line in questions(path, ABOUT_WORLDS)]


def test_no_class_name_stands_in_more_than_three_files():
    homes = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(place(path))
    assert not {name: sorted(files) for name, files in homes.items() if len(files) > 3}


def test_traits_are_read_in_one_place():
    """No other part asks a class for a trait, and no class has one outside its `traits`."""
    reading = re.compile(rf"\b[gh]etattr\([^()]*(\([^()]*\))?, \"({'|'.join(Traits._fields)}|traits)\"")
    assert [place(p) for p in FILES if reading.search(p.read_text("utf-8"))] == ["traits.py"]
    classes = [c for p in FILES for c in ast.walk(ast.parse(p.read_text("utf-8"))) if isinstance(c, ast.ClassDef)]
    own = {(c.name, n) for c in classes for node in c.body for n in names_of(node) if n in Traits._fields}
    assert own == {("Traits", name) for name in Traits._fields}


def names_of(node):
    """The names that a statement of a class gives a value."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_a_subclass_keeps_the_traits_of_its_parents():
    kinds = {kind for module in OURS for kind in vars(module).values() if isinstance(kind, type)}
    kinds = [kind for kind in kinds if kind.__module__.startswith("bayesrl.") and "traits" in vars(kind)]
    assert len(kinds) > 40
    for kind in kinds:
        assert isinstance(kind.traits, Traits)
        for parent in kind.__mro__[1:]:
            theirs = traits_of(parent)
            assert kind.traits.renamed.items() >= theirs.renamed.items()
            assert all(set(getattr(kind.traits, name)) >= set(getattr(theirs, name)) for name in LISTS)
            assert kind.traits.batched >= theirs.batched
    assert traits_of(int) == traits_of(3) == Traits()


LISTS = ("depends_on_data", "grows", "not_saved")
OURS = [import_module(module(p).removesuffix(".__init__")) for p in FILES if p.name != "__main__.py"]


def test_exceptions_are_still_needed():
    for name in ASKING_WORLDS:
        assert questions(ROOT / name, ABOUT_WORLDS), f"{name} needs no exception"


def test_the_laws_know_contracts_only():
    """The probes of our own beliefs stand beside their tests."""
    ours = {e.factory for e in ENTRIES.values()}
    known = [vars(module).values() for module in OURS if module.__name__.startswith("bayesrl.testing")]
    assert len(known) > 5
    assert not [thing for things in known for thing in things if isinstance(thing, type) and thing in ours]


METHODS_OWN = re.compile(r"bayesrl\.(beliefs\.(covariances|features)|models\.polic)")
DRAWN = {"continuous/continuous_bandit.py": "its reward functions are drawn from a Gaussian process: that is the world"}


def test_worlds_know_no_arguments_of_methods():
    """Covariances, features and policies that suit a method in a world are data of lab/literature/suggestions.py."""
    knowing = {p for p in (ROOT / "worlds").rglob("*.py") if METHODS_OWN.search(p.read_text("utf-8"))}
    assert {p.relative_to(ROOT / "worlds").as_posix() for p in knowing} == set(DRAWN)


def test_contracts_are_named():
    loose = re.compile(r"\b(belief|planner|world): Any\b")
    assert not [place(p) for p in FILES if loose.search(p.read_text("utf-8"))]


def test_needs_name_protocols():
    planners = [e for e in ENTRIES.values() if e.kind == "planner"]
    assert not [e.name for e in planners for need in e.factory.needs if not getattr(need, "_is_protocol", False)]


def test_a_protocol_that_one_file_asks_stands_there():
    """The pages of `capabilities` hold those that several files import, or that `testing` or another protocol names."""
    pages = [p for p in FILES if p.parent.name == "capabilities" and p.name != "__init__.py"]
    asked = Counter(name for p in FILES if p.parent.name != "capabilities" for name in imported_modules(p))
    asked.update(name for p in FILES if p.parent.name == "testing" for name in imported_modules(p))
    named = Counter(re.findall(r"\w+", " ".join(p.read_text("utf-8") for p in pages)))
    protocols = [kind for name in capabilities.__all__ if is_protocol(kind := getattr(capabilities, name))]
    here = [kind.__name__ for kind in protocols if kind.__module__.startswith("bayesrl.capabilities.")]
    assert len(protocols) > len(here) > 40
    assert not [name for name in here if named[name] == 1 and asked[f"bayesrl.capabilities.{name}"] == 1]


def is_protocol(thing):
    return getattr(thing, "_is_protocol", False)


def test_a_protocol_is_a_contract_only():
    """No class that is used is derived from a protocol, and no protocol has code; a base class is a plain class."""
    kinds = {kind for module in OURS for kind in vars(module).values() if isinstance(kind, type)}
    kinds = {kind for kind in kinds if kind.__module__.startswith("bayesrl.")}
    protocols = {kind for kind in kinds if getattr(kind, "_is_protocol", False)}
    assert len(protocols) > 80
    assert not [kind for kind in kinds - protocols if protocols & set(kind.__mro__)]
    assert not [f"{place(p)}: {found}" for p in FILES for found in code_of_protocols(p)]


def code_of_protocols(path):
    """The methods of protocols that have a body besides a docstring."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).startswith("Protocol") for base in node.bases):
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and not all(is_text_or_dots(line) for line in one.body):
                    yield f"{node.name}.{one.name}"


def is_text_or_dots(line):
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def signatures(thing):
    for name, member in inspect.getmembers(thing, inspect.isroutine):
        if not name.startswith("_"):
            try:
                yield name, list(inspect.signature(member).parameters.values())
            except (TypeError, ValueError):  # built-in
                continue


def test_docstrings_name_the_thing():
    """A docstring begins with a noun phrase or a verb: "The loss of a policy", and not "What a policy loses"."""
    telling = re.compile(r'^\s*[rf]?"""What ', re.MULTILINE)
    assert not [place(p) for p in FILES if telling.search(p.read_text("utf-8"))]


CLASSES = [e for e in ENTRIES.values() if isinstance(e.factory, type)]


@pytest.mark.parametrize("entry", CLASSES, ids=lambda e: e.name)
def test_rng_is_last(entry):
    """Only parameters with a default may follow `rng` (for example `last` in `plan`)."""
    for name, parameters in signatures(entry.factory):
        names = [p.name for p in parameters]
        if "rng" in names:
            after = parameters[names.index("rng") + 1 :]
            assert not [p.name for p in after if p.default is p.empty], f"{entry.name}.{name}"


@pytest.mark.parametrize("entry", CLASSES, ids=lambda e: e.name)
def test_help_shows_parameters_and_an_example(entry):
    doc = entry.factory.__doc__
    assert not entry.parameters or "Parameters" in doc
    assert ">>> " in doc
