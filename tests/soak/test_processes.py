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
    found = b.compare(agents, world, 1500, 20, workers=int(sys.argv[2]), backend=sys.argv[3], progress=False)
    b.save(found, sys.argv[1])
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    (folder / "compares.py").write_text(COMPARES)
    subprocess.run([sys.executable, folder / "compares.py", folder / "undisturbed", "1", "threads"], check=True)
    return folder


@pytest.fixture(scope="module")
def seconds(program):
    """How long a comparison with two processes lasts here and now."""
    began = time.monotonic()
    subprocess.run([sys.executable, program / "compares.py", program / "processes", "2", "processes"], check=True)
    assert (program / "processes").read_bytes() == (program / "undisturbed").read_bytes()
    return time.monotonic() - began


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


def test_killed_workers_change_nothing(program, seconds, tmp_path):
    """In each of twelve comparisons two processes are killed: the result is the same, bit for bit."""
    rng, killed = random.Random(0), 0
    for trial in range(12):
        path = tmp_path / f"{trial}"
        command = [sys.executable, program / "compares.py", path, "2", "processes"]
        script = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
        for _ in range(2):
            time.sleep(rng.uniform(0.2, 0.6) * seconds)
            if victims := sorted(workers_of(script.pid))[-2:]:  # the newest are workers
                os.kill(rng.choice(victims), signal.SIGKILL)
                killed += 1
        _, said = script.communicate(timeout=20 * seconds)
        assert said == ""
        assert path.read_bytes() == (program / "undisturbed").read_bytes()
    print(f"{killed} processes were killed")
    assert killed >= 12


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nobody_is_left_behind(number, program, seconds, tmp_path):
    rng = random.Random(int(number))
    for trial in range(6):
        command = [sys.executable, program / "compares.py", tmp_path / f"{trial}", "2", "processes"]
        script = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.1, 0.9) * seconds)
        script.send_signal(number)
        script.wait(timeout=60)
        deadline = time.monotonic() + 30
        while workers_of(script.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert workers_of(script.pid) == [], trial


def test_first_uses_from_eight_threads():
    program = runpy.run_path(str(TESTS / "test_lazy.py"))["THREADS"]
    for seed in range(1, 21):
        done = subprocess.run([sys.executable, "-c", program, str(seed)], capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("[] []\n", ""), seed
