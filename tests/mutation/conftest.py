import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def assert_caught():
    """assert_caught(name, module, old, new, tests): the tests fail once `old` in the module's source reads `new`."""
    command = [sys.executable, str(HERE / "zygote.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=HERE.parents[1], **pipes) as zygote:

        def check(name, module, old, new, tests):
            order = {"mutant": {"module": module, "old": old, "new": new}, "tests": tests}
            print(json.dumps(order), file=zygote.stdin, flush=True)
            done = json.loads(zygote.stdout.readline())
            assert done["code"] == 1, f"{name}: exit {done['code']}\n{done['said']}"

        yield check
