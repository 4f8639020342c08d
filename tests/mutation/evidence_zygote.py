"""A process that has imported everything registered, and forks a child for each piece of evidence.

A line of JSON in: {"name": a registered name, "tests": [...]}. In the child the registered function, or every public
method of the registered class, raises an error. A line of JSON out: {"broken": whether pytest showed that error, "said":
the end of what it said}.
"""

import gc
import inspect
import json
import os
import signal
import sys
import tempfile
from dataclasses import replace
from functools import wraps

import pytest

from bayesrl import registry

MARK = "broken on purpose"
LEFT = {"start", "check"}
"""Methods that are called when an agent is merely made."""
SECONDS = 120
"""Processor time of one test; it fails at its first call of the class, if it tests the class."""


def broken(thing):
    """What stands for a function: the same signature, and an error."""

    @wraps(thing)
    def fails(*_, **__):
        raise AssertionError(MARK)

    return fails


def breaks(name):
    """Break what is registered under a name."""
    thing = ENTRIES[name].factory
    if inspect.isclass(thing):
        for method, function in list(vars(thing).items()):
            if inspect.isfunction(function) and not method.startswith("_") and method not in LEFT:
                setattr(thing, method, broken(function))
        return
    instead = broken(thing)
    registry._entries[name] = replace(ENTRIES[name], factory=instead)
    for module in list(sys.modules.values()):
        for attribute in [a for a, x in getattr(module, "__dict__", {}).items() if x is thing]:
            setattr(module, attribute, instead)


if __name__ == "__main__":
    ENTRIES = registry.entries()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    gc.freeze()  # a child need not look at what is here when it collects garbage
    for line in sys.stdin:
        order = json.loads(line)
        with tempfile.TemporaryFile("w+") as said:
            child = os.fork()
            if child == 0:
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                breaks(order["name"])
                code = pytest.main(["-x", "-q", "--tb=native", "-p", "no:cacheprovider", *order["tests"]])
                sys.stdout.flush()
                os._exit(code)
            os.waitpid(child, 0)
            said.seek(0)
            text = said.read()
            print(json.dumps({"broken": MARK in text, "said": text[-2000:]}), flush=True)
