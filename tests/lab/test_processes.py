"""Comparisons on processes and threads end as they should: with their parent, at Ctrl-C, and saying what was done."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lab_toys
import numpy as np
import pytest
from lab_toys import Always, Arms

from bayesrl.core import run
from bayesrl.errors import InvalidArgument, OutOfMemory
from bayesrl.lab import _progress
from bayesrl.lab.compare import compare

HELPERS = Path(lab_toys.__file__).parent
FIXED = Arms(np.array([0.3, 0.6, 0.5]))
SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
from lab_toys import Always, Arms, Busy
from bayesrl.lab.compare import compare

if __name__ == "__main__":
    agents = dict(quick=Always(), busy=Busy(folder={folder!r}))
    compare(agents, Arms(np.array([0.3, 0.6])), 10**4, 4, workers=2, backend={backend!r})
"""


def started(folder, backend):
    """A script that compares, when two of its runs have begun. They would last for ever."""
    program = SCRIPT.format(here=str(HELPERS), folder=str(folder), backend=backend)
    (folder.parent / "script.py").write_text(program)
    kinds = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    script = subprocess.Popen([sys.executable, folder.parent / "script.py"], **kinds)
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    return script


def left(session):
    """The processes of a session that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, of = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(of) == session and state != "Z":
                found.append(int(entry.name))
    return found


def ends(session):
    """Whether all processes of a session end."""
    deadline = time.monotonic() + 20
    while left(session) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not left(session)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "begun"
    made.mkdir()
    return made


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_workers_end_with_their_parent(folder):
    script = started(folder, "processes")
    try:
        assert len(left(script.pid)) >= 3
        script.kill()
        assert script.wait() == -signal.SIGKILL
        assert ends(script.pid)
    finally:
        for process in left(script.pid):
            os.kill(process, signal.SIGKILL)
        script.stderr.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
@pytest.mark.parametrize("backend", ["processes", "threads"])
def test_ctrl_c_to_the_parent_alone(backend, folder):
    script = started(folder, backend)
    try:
        script.send_signal(signal.SIGINT)
        _, said = script.communicate(timeout=60)
        assert script.returncode == -signal.SIGINT
        assert ends(script.pid)
        assert "KeyboardInterrupt" in said
        assert said.endswith("of 8 runs were finished (quick 4, busy 0).\n")
    finally:
        for process in left(script.pid):
            os.kill(process, signal.SIGKILL)


# How far it is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers, backend", [(1, "threads"), (2, "threads")])
def test_lines_where_there_is_no_terminal(workers, backend, capsys, monkeypatch):
    """A line for each tenth, by steps within runs; nothing on standard output."""
    monkeypatch.setattr(_progress, "LINES", 0.0)
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    compare({"long": Always()}, FIXED, 2000, 1, workers=workers, backend=backend, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[-1].startswith("compare: long 100% after ")
    if workers == 1:
        shares = [int(line.split("%")[0].rpartition(" ")[2]) for line in lines]
        assert shares == [*range(10, 101, 10), 100]


def test_lines_that_nobody_asked_for(capsys, monkeypatch):
    for after, some in ((1000.0, False), (0.0, True)):
        monkeypatch.setattr(_progress, "LONG", after)
        monkeypatch.setattr(_progress, "EVERY", 0.0)
        compare(Always(), FIXED, 100, 2)
        assert ("compare: Always" in capsys.readouterr().err) == some
        compare(Always(), FIXED, 100, 2, progress=False)
        assert capsys.readouterr() == ("", "")


def test_a_run_can_be_watched():
    seen = []

    def watch(steps):
        for step in steps:
            seen.append(step.transition.action)
            yield step

    assert run(Always(1), FIXED, 5, watch=watch) == run(Always(1), FIXED, 5)
    assert seen == [1] * 5


TOY = Arms([0.2, 0.8])


class TwoParts(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)


class FailsOddly(Always):
    def act(self, mind, observation, rng):
        raise TwoParts("the cause ", "of it all")


def test_an_error_that_cannot_come_back_is_told():
    """Exceptions of several arguments are often pickled, but not unpickled."""
    with pytest.raises(TypeError) as raised:
        compare([FailsOddly(0)], TOY, 2, 2, workers=2, backend="processes", progress=False)
    assert "TwoParts: the cause of it all" in str(raised.value.__cause__)


@pytest.mark.parametrize("backend", ["threads", "processes"])
@pytest.mark.parametrize("workers", [1, 2])
def test_memory_that_runs_out_is_said(workers, backend):
    """A decision raises Python's MemoryError, which says nothing."""
    agents = {"small": Always(), "large": lab_toys.Exhausting()}
    with pytest.raises(OutOfMemory, match=r"^compare: a run of 'large' needs more memory than there is") as said:
        compare(agents, FIXED, 20, 4, workers=workers, backend=backend)
    assert str(said.value).endswith("Use fewer workers.")


def test_without_standard_error(monkeypatch):
    """A program without a console has none."""
    monkeypatch.setattr(sys, "stderr", None)
    assert compare([Always(0)], TOY, 2, 2, progress=True).records


def test_a_daemonic_process_starts_no_others(monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(InvalidArgument, match="'backend' must be \"threads\" in a daemonic process"):
        compare([Always(0)], TOY, 2, 2, workers=2, backend="processes")


def test_a_program_that_cannot_be_imported(tmp_path):
    """A worker that fails before its first job has not been killed for want of memory."""
    script = tmp_path / "script.py"
    script.write_text(
        "if __name__ != '__main__': raise ImportError('no such module')\n"
        "from bayesrl import BayesAgent, compare, make, make_world\n"
        "from bayesrl.beliefs import BetaBernoulli\n"
        "if __name__ == '__main__':\n"
        "    agent = BayesAgent(BetaBernoulli.uniform(10), make('thompson'))\n"
        "    compare([agent], make_world('bernoulli'), 2, 2, workers=2, backend='processes')\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert "ImportError: no such module" in done.stderr
    assert "for a program that a worker process cannot import" in done.stderr
    assert "killed" not in done.stderr


FORKED = """
import os, sys
sys.path.insert(0, {here!r})
import numpy as np
from lab_toys import Always, Arms
from bayesrl.lab.compare import compare

def total():
    return compare(Always(), Arms(np.array([0.3, 0.6])), 20, 4, workers=2, backend="processes").records["Always"].total

if __name__ == "__main__":
    before = total()
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(total(), before) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(total(), before)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_of_a_process_that_has_compared(tmp_path):
    (tmp_path / "script.py").write_text(FORKED.format(here=str(HELPERS)))
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
