"""A process that has imported what takes long, and forks a child for each planted bug.

A line of JSON in: {"first": [...], "mutant": {"module": ..., "old": ..., "new": ...}, "tests": [...]}. `first` names
modules of bayesrl that are imported here, for this bug and all later ones; they must not need the changed module.
A line of JSON out: {"code": the exit code of pytest in the child, "said": what it said}; the code is null if the
changed module is imported here already, so that the bug was not planted.
Compilation is off, so that no compiled kernel hides a changed source.
"""

import gc
import json
import os
import signal
import sys
import tempfile
from importlib import import_module

os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

import numba  # noqa: F401
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.stats  # noqa: F401

OPTIONS = ["-x", "-q", "--tb=native", "-p", "plugin", "-p", "no:cacheprovider"]


def run(order, said):
    """In the child: plant the bug, run the tests."""
    signal.setitimer(signal.ITIMER_PROF, order.get("seconds", 240))  # of processor time: a busy machine may be slow
    signal.alarm(1200)
    os.dup2(said.fileno(), 1)
    os.dup2(said.fileno(), 2)
    os.environ["BAYESRL_MUTANT"] = json.dumps(order["mutant"])
    code = pytest.main([*OPTIONS, *order["tests"]])
    sys.stdout.flush()
    os._exit(code)


for line in sys.stdin:
    order = json.loads(line)
    for module in order["first"]:
        import_module(module)
    if order["mutant"]["module"] in sys.modules:
        print(json.dumps({"code": None, "said": "its module is imported already"}), flush=True)
        continue
    gc.freeze()  # a child need not look at what is here when it collects garbage
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            run(order, said)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        print(json.dumps({"code": code, "said": said.read()[-4000:]}), flush=True)
