"""`make evidence NAME=...` and `make mutants-changed`: which tests and which planted bugs they choose."""

import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bayesrl.registry import find

TESTS = Path(__file__).parent
EVIDENCE = runpy.run_path(str(TESTS / "evidence.py"))
SINCE = runpy.run_path(str(TESTS / "mutation" / "since.py"))
PSRL = find("psrl")
RUN_BY_NAME, PLAIN = PSRL.evidence[0], PSRL.evidence[1]


def item(node, **parameters):
    return SimpleNamespace(nodeid=node, callspec=SimpleNamespace(params=parameters))


def chosen(items):
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: None))
    EVIDENCE["OfOneName"](PSRL).pytest_collection_modifyitems(config, items)
    return [one.nodeid for one in items]


def test_evidence_and_laws_are_chosen_and_nothing_else():
    items = [
        item(f"{RUN_BY_NAME}[psrl]", name="psrl"),
        item(f"{RUN_BY_NAME}[boss]", name="boss"),
        item(f"{PLAIN}[chain]", world="chain"),
        SimpleNamespace(nodeid=PLAIN),
        item("tests/test_core.py::test_law[psrl-3]", pair=("psrl", 3)),
        item("tests/test_core.py::test_law[entry]", entry=PSRL),
        item("tests/test_core.py::test_law[beb]", name="beb"),
        SimpleNamespace(nodeid="tests/test_core.py::test_other"),
    ]
    laws = ["tests/test_core.py::test_law[psrl-3]", "tests/test_core.py::test_law[entry]"]
    assert chosen(items) == [f"{RUN_BY_NAME}[psrl]", f"{PLAIN}[chain]", PLAIN, *laws]


def test_files_of_a_name_hold_its_evidence_and_the_laws():
    files = EVIDENCE["files_for"](PSRL)
    assert {node.split("::")[0] for node in PSRL.evidence} <= set(files)
    assert {"tests/golden/test_golden.py", "tests/test_registry.py"} <= set(files)
    assert not [file for file in files if file.startswith(("tests/mutation/", "tests/soak/"))]


def test_an_unknown_name_fails_with_a_suggestion():
    command = [sys.executable, str(TESTS / "evidence.py"), "psrll"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "There is no method or world called 'psrll'. Did you mean psrl?\n"


@pytest.fixture
def history(tmp_path, monkeypatch):
    """A repository with three files; git(...) runs there."""

    def git(*command):
        as_somebody = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *as_somebody, *command], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    monkeypatch.setitem(SINCE["changed_since"].__globals__, "ROOT", tmp_path)
    git("init", "--quiet")
    for name in ("kept", "moved", "changed"):
        (tmp_path / name).write_text(f"{name}\n" * 9)
    git("add", "-A")
    git("commit", "--quiet", "-m", "landed")
    return git


def test_what_has_changed_since_a_commit(history, tmp_path):
    landed = history("rev-parse", "HEAD")
    assert SINCE["changed_since"](landed) == set()
    (tmp_path / "changed").write_text("otherwise\n")
    history("mv", "moved", "elsewhere")
    history("commit", "--quiet", "-am", "work")
    (tmp_path / "new").write_text("new\n")
    assert SINCE["changed_since"](landed) == {"changed", "new"}
    for unknown in ("", "f" * 40, "no such branch"):
        assert SINCE["changed_since"](unknown) is None
    here = history("rev-parse", "HEAD")
    history("checkout", "--quiet", landed)
    assert SINCE["changed_since"](here) is None, "HEAD does not descend from it"
