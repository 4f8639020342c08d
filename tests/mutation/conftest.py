import json
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from import_order import import_order  # noqa: E402

BEFORE = {}
"""Modules that a zygote may import before it plants a bug, by the module of the bug."""


def pytest_collection_modifyitems(items):
    """Bugs are planted in the order of imports: a zygote imports each module once, and its children import few."""
    planted = [item for item in items if "assert_caught" in getattr(item, "fixturenames", ())]
    module = {item: item.module.MUTANTS[item.callspec.params["name"]][0] for item in planted}
    order, before = import_order(set(module.values())) if planted else ([], {})
    BEFORE.update({name: order[:n] for name, n in before.items()})
    items.sort(key=lambda item: before.get(module.get(item), 0))


@contextmanager
def zygote():
    """plant(**order): what zygote.py answers."""
    command = [sys.executable, str(HERE / "zygote.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=HERE.parents[1], **pipes) as process:

        def plant(**order):
            print(json.dumps(order), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield plant


@pytest.fixture(scope="session")
def assert_caught():
    """assert_caught(name, module, old, new, tests): the tests fail once `old` in the module's source reads `new`."""
    with ExitStack() as stack:
        grown, bare = (cache(lambda: stack.enter_context(zygote())) for _ in range(2))

        def check(name, module, old, new, tests):
            order = {"mutant": {"module": module, "old": old, "new": new}, "tests": tests}
            done = grown()(first=BEFORE[module], **order)
            if done["code"] is None:
                done = bare()(first=[], **order)
            assert done["code"] == 1, f"{name}: exit {done['code']}\n{done['said']}"

        yield check
