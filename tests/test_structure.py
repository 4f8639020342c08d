"""The shape of the sources: files are named as what they register, contracts are types, exports are complete."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import bayesrl
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
    """A file in a folder inside may import it too, and so may the probes of testing/, which know each belief."""
    private = {module(p): module(p).rpartition(".")[0] for p in FILES if re.match(r"_[a-z]", p.name)}
    users = {module(p).removesuffix(".__init__"): p for p in FILES if not place(p).startswith("testing/")}
    uses = [(user, used) for user, p in users.items() for used in imported_modules(p) if used in private]
    assert uses
    assert not [f"{user} imports {used}" for user, used in uses if not f"{user}.".startswith(f"{private[used]}.")]


def test_no_folder_is_crowded():
    folders = {place(f): sum(not p.name.startswith("_") for p in f.glob("*.py")) for f in {p.parent for p in FILES}}
    assert not {folder: n for folder, n in folders.items() if n > MOST_FILES}


# Exports -------------------------------------------------------------------------------------------------------------


def lists_of_exports(path):
    """What type checkers read and what `export` is told: two sets of (module, name)."""
    typed, lazy, package = set(), set(), module(path).removesuffix(".__init__")
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            imports = [one for one in node.body if isinstance(one, ast.ImportFrom)]
            typed |= {(one.module, alias.name) for one in imports for alias in one.names}
        elif ast.unparse(node).startswith("export("):
            call = node.value
            for home, names in ast.literal_eval(call.args[1]).items():
                lazy |= {(f"{package}.{home}", name) for name in names}
            given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
            lazy |= {(package, name) for name in given.get("modules", ())}
            lazy |= {(home, name) for home, names in given.get("elsewhere", {}).items() for name in names}
    return typed, lazy


EXPORTING = [p for p in FILES if p.name == "__init__.py" and "\nexport(" in p.read_text("utf-8")]


@pytest.mark.parametrize("path", EXPORTING, ids=place)
def test_lazy_exports_are_what_type_checkers_read(path):
    typed, lazy = lists_of_exports(path)
    assert typed == lazy
    package = import_module(module(path).removesuffix(".__init__"))
    for home, name in lazy:
        if home != package.__name__:
            assert getattr(package, name) is getattr(import_module(home), name)


def test_every_family_exports_its_methods():
    assert "__init__.py" in map(place, EXPORTING)
    families = [e for e in ENTRIES.values() if e.package in ("bamdp", "bandits", "beliefs", "gradient")]
    packages = {e.name: import_module(f"bayesrl.{e.package}") for e in families}
    assert not [e.name for e in families if getattr(packages[e.name], e.factory.__name__, None) is not e.factory]


# Contracts -----------------------------------------------------------------------------------------------------------

ASKING = {
    "capabilities/checking.py": "this is how capabilities are asked for",
    "bandits/simulate_bandit.py": "its compiled loops stand for `run` with two classes of beliefs, bit for bit",
    "core.py": "the loop asks for Restarts and Batches, which are capabilities",
}
"""Where a belief may be asked what it is or has, besides beliefs/ and testing/ (whose probes know each belief)."""
ABOUT_BELIEFS = {"belief", "prior"}

ASKING_WORLDS = {
    "multiagent/run_game.py": "it refuses a game of another class, as constructors refuse a parameter",
    "risk/models.py": "a sequence of models is no world",
}
"""Where a world may be asked, besides worlds/, beliefs/ and testing/. models/reading.py asks for the model in a thing,
and adapters/ ask foreign environments, under other names."""
ABOUT_WORLDS = {"world", "place", "problem", "truth", "family", "rules", "game", "met", "judged", "inside"}
"""Names under which functions know a world or a family."""


def questions(path, names):
    """Calls of isinstance, hasattr and getattr about a thing of one of these names; whether it is text may be asked."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "hasattr", "getattr"):
            about, what = ast.unparse(node.args[0]).removeprefix("self."), ast.unparse(node.args[1])
            if about in names and what != "str":
                yield f"{place(path)}:{node.lineno} {ast.unparse(node)}"


def test_nobody_asks_who_a_belief_is():
    elsewhere = [p for p in FILES if place(p).split("/")[0] not in ("beliefs", "testing") and place(p) not in ASKING]
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
    for asking, names in ((ASKING, ABOUT_BELIEFS), (ASKING_WORLDS, ABOUT_WORLDS)):
        for name in asking:
            assert list(questions(ROOT / name, names)), f"{name} needs no exception"


METHODS_OWN = re.compile(r"bayesrl\.(beliefs\.(covariances|features)|models\.polic)")
DRAWN = {"continuous/continuous_bandit.py": "its reward functions are drawn from a Gaussian process: that is the world"}


def test_worlds_know_no_arguments_of_methods():
    """Covariances, features and policies that suit a method in a world are data of lab/literature/suggestions.py."""
    knowing = {p for p in (ROOT / "worlds").rglob("*.py") if METHODS_OWN.search(p.read_text("utf-8"))}
    assert {p.relative_to(ROOT / "worlds").as_posix() for p in knowing} == set(DRAWN)


def test_contracts_are_named():
    """But for a mind, which holds whatever belief its agent has; and in testing/, whose laws take anything."""
    loose = re.compile(r"\b(belief|planner|world): Any\b")
    files = [p for p in FILES if not place(p).startswith(("testing/", "core.py"))]
    assert not [place(p) for p in files if loose.search(p.read_text("utf-8"))]


def test_needs_name_protocols():
    planners = [e for e in ENTRIES.values() if e.kind == "planner"]
    assert not [e.name for e in planners for need in e.factory.needs if not getattr(need, "_is_protocol", False)]


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
