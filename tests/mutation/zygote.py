"""A process that has imported what takes long, and forks a child for each planted bug.

A line of JSON in: {"mutant": {"module": ..., "old": ..., "new": ...}, "tests": [...]}.
A line of JSON out: {"code": the exit code of pytest in the child, "said": what it said}.
Compilation is off, so that no compiled kernel hides a changed source.
"""

import json
import os
import signal
import sys
import tempfile

os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

import numba  # noqa: F401
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.stats  # noqa: F401

OPTIONS = ["-x", "-q", "-p", "plugin", "-p", "no:cacheprovider"]

for line in sys.stdin:
    order = json.loads(line)
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            signal.setitimer(
                signal.ITIMER_PROF, order.get("seconds", 240)
            )  # of processor time: a busy machine is no reason to fail
            signal.alarm(1200)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            os.environ["BAYESRL_MUTANT"] = json.dumps(order["mutant"])
            code = pytest.main([*OPTIONS, *order["tests"]])
            sys.stdout.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        print(json.dumps({"code": code, "said": said.read()[-4000:]}), flush=True)
