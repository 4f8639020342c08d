"""What is known about one registered name: its evidence, its laws and the bugs planted in its module.

    python tests/evidence.py psrl            (or: make evidence NAME=psrl)

Evidence are the tests that the registration names. Laws are tests with the name among their parameters: they are run
for everything registered, and here for this name only. Long tests and the soak are left to `make figures` and
`make soak`. The exit status is that of the first part that fails; 2 if there is no such name.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bayesrl.errors import UnknownName
from bayesrl.registry import Entry, find

ROOT = Path(__file__).parents[1]
FOR_ALL = ("entries(", "methods()", "worlds()")
"""What a file says that takes parameters of tests from the registry."""


def files_for(entry: Entry) -> list[str]:
    """The files of the evidence, and those in which a test may have the name among its parameters."""
    files = {test.split("::")[0] for test in entry.evidence}
    for path in (ROOT / "tests").rglob("test_*.py"):
        place, text = path.relative_to(ROOT), path.read_text("utf-8")
        if place.parts[1] not in ("mutation", "soak") and any(x in text for x in (f'"{entry.name}"', *FOR_ALL)):
            files.add(place.as_posix())
    return sorted(files)


def names_given(item: pytest.Item) -> Iterator[str]:
    """The parameters of a test that are text or registered; those of a tuple one by one."""
    for given in getattr(getattr(item, "callspec", None), "params", {}).values():
        for one in given if isinstance(given, tuple) else (given,):
            name = one.name if isinstance(one, Entry) else one
            if isinstance(name, str):
                yield name


class OfOneName:
    """A pytest plugin that leaves the evidence and the laws of one name."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """A test of the evidence that is run for each name is run for this one only."""
        run_by_name = {item.nodeid.split("[")[0] for item in items if self.is_law(item)}
        chosen = [self.is_law(item) or self.is_evidence(item.nodeid, run_by_name) for item in items]
        config.hook.pytest_deselected(items=[item for item, wanted in zip(items, chosen, strict=True) if not wanted])
        items[:] = [item for item, wanted in zip(items, chosen, strict=True) if wanted]

    def is_law(self, item: pytest.Item) -> bool:
        """Whether the name is among the parameters of a test."""
        return self.entry.name in names_given(item)

    def is_evidence(self, node: str, run_by_name: set[str]) -> bool:
        """Whether the registration names a test, with its parameters or without, that is not run for each name."""
        test = node.split("[")[0]
        return test not in run_by_name and (node in self.entry.evidence or test in self.entry.evidence)


def main(name: str) -> int:
    """Run all three, and say which part comes."""
    try:
        entry = find(name)
    except UnknownName as error:
        print(error, file=sys.stderr)
        return 2
    module = entry.factory.__module__
    print(f"{name}: {len(entry.evidence)} tests of its evidence, and its laws", flush=True)
    options = ["-n", "0", "-m", "not long and not soak", *files_for(entry)]
    failed = pytest.main(options, plugins=[OfOneName(entry)])
    if failed:
        return int(failed)
    print(f"{name}: bugs planted in {module}; each must be caught", flush=True)
    command = [sys.executable, "-m", "pytest", "-n", "0", "tests/mutation", f"--of={module}"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
