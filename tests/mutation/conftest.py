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
from planted import ROOT, source_of  # noqa: E402
from since import changed_since  # noqa: E402

from bayesrl.registry import entries  # noqa: E402

BEFORE = {}
"""Modules that a zygote may import before it plants a bug, by the module of the bug."""
CHOSEN = pytest.StashKey()


# Which bugs ----------------------------------------------------------------------------------------------------------


def pytest_addoption(parser):
    parser.addoption("--of", metavar="MODULE", help="only what is planted in this module")
    parser.addoption(
        "--since", metavar="COMMIT", help="only bugs whose module, or the tests named with them, changed since then"
    )


def planted_in(item):
    """The module that an item breaks, and the files that say how."""
    given = item.callspec.params
    if "bug" in given:
        bug = given["bug"]
        return bug.module, {bug.file.relative_to(ROOT).as_posix(), *(test.split("::")[0] for test in bug.tests)}
    entry = entries()[given["name"]]
    return entry.factory.__module__, {test.split("::")[0] for test in entry.evidence}


def chosen(config):
    """(wanted, reason): whether an item is wanted by the options, and what they ask for."""
    of, since = config.getoption("of", None), config.getoption("since", None)
    if of is not None:
        return lambda item: planted_in(item)[0] == of, f"planted bugs of {of}"
    if since is None:
        return lambda item: True, "all planted bugs"
    changed = changed_since(since)
    if changed is None:
        return lambda item: True, f"all planted bugs: the history does not tell what changed since {since or 'then'}"

    def wanted(item):
        module, files = planted_in(item)
        return bool(changed & {source_of(module).relative_to(ROOT).as_posix(), *files})

    return wanted, f"planted bugs whose module, or the tests named with them, changed since {since}"


def pytest_collection_modifyitems(config, items):
    """Bugs are planted in the order of imports: a zygote imports each module once, and its children import few."""
    wanted, config.stash[CHOSEN] = chosen(config)
    here = [item for item in items if HERE in item.path.parents]
    out = [item for item in here if not wanted(item)]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]
    module = {item: planted_in(item)[0] for item in items if "assert_caught" in item.fixturenames}
    order, before = import_order(set(module.values())) if module else ([], {})
    BEFORE.update({name: order[:n] for name, n in before.items()})
    items.sort(key=lambda item: before.get(module.get(item), 0))


def pytest_terminal_summary(terminalreporter, config):
    if CHOSEN in config.stash:
        terminalreporter.write_line(config.stash[CHOSEN])


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.getoption("since", None):
        session.exitstatus = pytest.ExitCode.OK  # nothing changed


# How they are planted ------------------------------------------------------------------------------------------------


@contextmanager
def zygote():
    """plant(**order): what zygote.py answers."""
    command = [sys.executable, str(HERE / "zygote.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:

        def plant(**order):
            print(json.dumps(order), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield plant


@pytest.fixture(scope="session")
def assert_caught():
    """assert_caught(bug): the tests named with a bug fail once it is planted."""
    with ExitStack() as stack:
        grown, bare = (cache(lambda: stack.enter_context(zygote())) for _ in range(2))

        def check(bug):
            mutant = {"module": bug.module, "old": bug.old, "new": bug.new}
            order = {"mutant": mutant, "tests": bug.tests}
            done = grown()(first=BEFORE[bug.module], **order)
            if done["code"] is None:
                done = bare()(first=[], **order)
            assert done["code"] == 1, f"{bug}: exit {done['code']}\n{done['said']}"

        yield check
