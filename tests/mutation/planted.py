"""Planted bugs: pieces of source text, their replacements, and tests that fail with them.

They stand beside the tests of their module: the bugs of `bayesrl.bamdp.sampling.psrl` are in
tests/bamdp/sampling/planted_psrl.py, a dictionary from a name to (old text, new text, tests).
"""

import runpy
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"


class Bug(NamedTuple):
    """Some `tests` fail once `old` in the source of `module` reads `new`."""

    file: Path
    module: str
    name: str
    old: str
    new: str
    tests: list[str]

    def __str__(self):
        return f"{self.module}: {self.name}"


def source_of(module):
    return ROOT.joinpath("src", *module.split(".")).with_suffix(".py")


def home_of(module):
    """The file in which the bugs of a module stand."""
    *folders, file = module.split(".")[1:]
    return TESTS.joinpath(*folders, f"planted_{file}.py")


def bugs():
    """All planted bugs, file by file."""
    for path in sorted(TESTS.rglob("planted_*.py")):
        written = runpy.run_path(str(path))
        for name, row in written["PLANTED"].items():
            yield Bug(path, written["MODULE"], name, *row)
