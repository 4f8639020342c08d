"""Planted bugs keep up with the code: their text is in the sources, their tests exist (`make mutants` plants them)."""

import ast
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUITES = sorted((ROOT / "tests" / "mutation").glob("test_*mutants*.py"))
MUTANTS = {(path.stem, name): bug for path in SUITES for name, bug in runpy.run_path(str(path))["MUTANTS"].items()}


def names_in(path):
    return {n.name for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_planted_text_is_in_the_sources(suite):
    lost = []
    for (stem, name), (module, old, new, tests) in MUTANTS.items():
        if stem == suite.stem:
            spec = find_spec(module)
            source = Path(spec.origin).read_text("utf-8") if spec else ""
            lost += [name] if old not in source or old == new or not tests else []
    assert not lost, "bring these mutants along with the code"


def test_tests_of_mutants_exist():
    files = {test.split("::")[0] for *_, tests in MUTANTS.values() for test in tests}
    known = {path: names_in(ROOT / path) for path in files if path.endswith(".py")}
    missing = {
        test
        for *_, tests in MUTANTS.values()
        for test in tests
        if "::" in test and test.split("::")[1].split("[")[0] not in known[test.split("::")[0]]
    }
    assert not missing
    assert len(MUTANTS) > 200
