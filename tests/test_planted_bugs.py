"""Planted bugs keep up with the code: their text is in the sources, their tests exist (`make mutants` plants them)."""

import ast
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "mutation"))

from planted import bugs, home_of, source_of  # noqa: E402

BUGS = {}
for one in bugs():
    BUGS.setdefault(one.file, []).append(one)


def place(path):
    return path.relative_to(ROOT).as_posix()


@cache
def functions_in(path):
    return {n.name for n in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))) if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("file", BUGS, ids=place)
def test_planted_text_is_in_the_module_that_the_file_is_named_after(file):
    (module,) = {bug.module for bug in BUGS[file]}
    assert file == home_of(module), f"the bugs of {module} stand in {place(home_of(module))}"
    source = source_of(module).read_text("utf-8")
    lost = [bug.name for bug in BUGS[file] if bug.old not in source or bug.old == bug.new]
    assert not lost, "bring these bugs along with the code"
    changed = Counter(source.replace(bug.old, bug.new) for bug in BUGS[file])
    assert max(changed.values()) == 1, "the same bug is planted twice"


def test_tests_of_planted_bugs_exist():
    tests = {test for rows in BUGS.values() for bug in rows for test in bug.tests or ["none::none"]}
    files = {test.split("::")[0] for test in tests}
    assert not {file for file in files if not (ROOT / file).exists()}
    named = [test.split("::") for test in tests if "::" in test]
    assert not [f"{file}::{test}" for file, test in named if test.split("[")[0] not in functions_in(file)]
    assert sum(map(len, BUGS.values())) > 1000
