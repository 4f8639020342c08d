"""Planted bugs keep up with the code: their text is in the sources, their tests exist (`make mutants` plants them)."""

import ast
import sys
from collections import Counter
from functools import cache
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "mutation"))

from planted import bugs, home_of, source_of  # noqa: E402

BUGS = {file: list(rows) for file, rows in groupby(bugs(), key=lambda bug: bug.file)}


def place(path):
    return path.relative_to(ROOT).as_posix()


@cache
def functions_in(path):
    return {n.name for n in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))) if isinstance(n, ast.FunctionDef)}


def test_a_file_is_named_after_the_module_of_its_bugs():
    wrong = {place(file): bug.module for file, rows in BUGS.items() for bug in rows if file != home_of(bug.module)}
    assert not wrong
    assert not [place(file) for file, rows in BUGS.items() if not source_of(rows[0].module).is_file()]


def test_planted_text_is_in_the_sources():
    sources = {file: source_of(rows[0].module).read_text("utf-8") for file, rows in BUGS.items()}
    lost = [str(bug) for bug in bugs() if bug.old not in sources[bug.file] or bug.old == bug.new]
    assert not lost, "bring these bugs along with the code"
    changed = Counter((bug.module, sources[bug.file].replace(bug.old, bug.new)) for bug in bugs())
    assert max(changed.values()) == 1, "the same bug is planted twice"


def test_tests_of_planted_bugs_exist():
    tests = {test for rows in BUGS.values() for bug in rows for test in bug.tests or ["none::none"]}
    files = {test.split("::")[0] for test in tests}
    assert not {file for file in files if not (ROOT / file).exists()}
    named = [test.split("::") for test in tests if "::" in test]
    assert not [f"{file}::{test}" for file, test in named if test.split("[")[0] not in functions_in(file)]
    assert sum(map(len, BUGS.values())) > 1000
