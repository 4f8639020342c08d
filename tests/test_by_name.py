"""Types of `make`, `make_world` and `agent` by name. `make check` runs mypy on `tests/typing/names.py`."""

import ast
import runpy
from importlib import import_module
from pathlib import Path

import pytest

import bayesrl
import bayesrl._by_name
from bayesrl.lab.build import acts, agent
from bayesrl.registry import PACKAGES, entries

ROOT = Path(__file__).parents[1]
STUB = Path(bayesrl.__file__).with_name("_by_name.pyi")


def test_what_make_docs_writes_is_up_to_date():
    pages = runpy.run_path(str(ROOT / "tests" / "typing" / "by_name.py"))["pages"]()
    assert STUB in pages
    assert len(pages) > 15
    assert not [path for path, text in pages.items() if path.read_text(encoding="utf-8") != text], "run: make docs"


@pytest.fixture(scope="module")
def told():
    """The overloads of each function, by name: parameters with whether they may be left out."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and isinstance(kind := node.args.args[0].annotation, ast.Subscript):
            given = {a.arg: d is not None for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)}
            found.setdefault(node.name, {})[ast.literal_eval(kind.slice)] = given
    return found


def test_every_name_is_there_with_its_parameters(told):
    known = {n: e for n, e in entries().items() if e.package in PACKAGES}
    assert set(told["make_world"]) == {n for n, e in known.items() if e.kind in ("world", "family")}
    assert set(told["agent"]) == {n for n, e in known.items() if acts(e)}
    assert told["make"] == {
        n: {p.name: p.default is not p.empty for p in e.parameters.values()} for n, e in known.items()
    }
    assert all(told["make"][name] == given for name, given in told["make_world"].items())


def test_imported_names_exist():
    imports = [n for n in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(n, ast.ImportFrom)]
    assert len(imports) > 100
    assert all(hasattr(import_module(n.module), alias.name) for n in imports for alias in n.names)


def test_the_functions_are_those_of_the_registry():
    assert bayesrl._by_name.make is bayesrl.make is bayesrl.registry.make
    assert bayesrl._by_name.make_world is bayesrl.make_world is bayesrl.registry.make_world
    assert bayesrl._by_name.agent is bayesrl.agent is agent
