"""Long runs about processes and threads: many kills of workers and parents, and first uses from many threads."""

import os
import random
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak
TESTS = Path(__file__).parent.parent
COMPARES = """
import sys
import bayesrl as b

if __name__ == "__main__":
    world = b.make_world("chain")
    agents = {name: b.BayesAgent(b.DirichletMDP.flat(world), b.make(name)) for name in ("psrl", "exploit")}
    b.save(b.compare(agents, world, 3000, 30, workers=int(sys.argv[2]), backend=sys.argv[3]), sys.argv[1])
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    (folder / "compares.py").write_text(COMPARES)
    subprocess.run([sys.executable, folder / "compares.py", folder / "undisturbed", "1", "threads"], check=True)
    return folder


def workers_of(session):
    """The other processes of a session: workers, and those that Python needs to start them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session and fields[0] != "Z" and int(entry.name) != session:
            found.append(int(entry.name))
    return found


def test_killed_workers_change_nothing(program, tmp_path):
    """In each of twenty comparisons one or two processes are killed: the result is the same, bit for bit."""
    rng, wrong = random.Random(0), []
    for trial in range(20):
        path = tmp_path / f"{trial}"
        command = [sys.executable, program / "compares.py", path, "2", "processes"]
        script = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
        for _ in range(rng.randint(1, 2)):
            time.sleep(rng.uniform(1.0, 4.0))
            if victims := sorted(workers_of(script.pid))[-2:]:  # the newest are workers
                os.kill(rng.choice(victims), signal.SIGKILL)
        _, said = script.communicate(timeout=120)
        same = path.exists() and path.read_bytes() == (program / "undisturbed").read_bytes()
        if not same:
            wrong.append(said.splitlines()[-1:])
    assert wrong == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nobody_is_left_behind(number, program, tmp_path):
    rng = random.Random(int(number))
    for trial in range(10):
        command = [sys.executable, program / "compares.py", tmp_path / f"{trial}", "2", "processes"]
        script = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.5, 4.0))
        script.send_signal(number)
        script.wait(timeout=60)
        deadline = time.monotonic() + 30
        while workers_of(script.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert workers_of(script.pid) == [], trial


def test_first_uses_from_eight_threads():
    program = runpy.run_path(str(TESTS / "test_lazy.py"))["THREADS"]
    for seed in range(1, 41):
        done = subprocess.run([sys.executable, "-c", program, str(seed)], capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("[] []\n", ""), seed
