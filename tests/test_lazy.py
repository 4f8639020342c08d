"""Names that are imported when they are first used: from several threads, and never while a module is imported."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bayesrl
from bayesrl._lazy import Package
from bayesrl.capabilities import BESIDE_THEIR_USERS

ROOT = Path(bayesrl.__file__).parent


def at_import(tree):
    """The statements that run when a module is imported: not those of functions, nor those for type checkers."""
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from at_import(node)
        yield node


def test_no_module_uses_a_lazy_name_while_it_is_imported():
    """Else two threads could wait for each other, one for the lock of lazy names and one for the lock of a module."""
    lazy = {
        f"{name}.{one}"
        for name, package in sys.modules.items()
        if isinstance(package, Package)
        for one in package.__dict__["_names"]
    }
    lazy |= {f"bayesrl.capabilities.{name}" for name in BESIDE_THEIR_USERS}
    assert {"bayesrl.compare", "bayesrl.capabilities.NamesOutcomes"} <= lazy
    found = []
    for path in ROOT.rglob("*.py"):
        for node in at_import(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                found += [
                    f"{path.name}: {node.module}.{x.name}" for x in node.names if f"{node.module}.{x.name}" in lazy
                ]
    assert found == []


def test_a_submodule_does_not_replace_the_function_of_its_name():
    code = """
import bayesrl.gradient.bac, bayesrl.gradient
assert callable(bayesrl.gradient.bac)
from bayesrl.gradient import bac
assert bac is bayesrl.gradient.bac
"""
    subprocess.run([sys.executable, "-c", code], check=True)


THREADS = """
import json, random, sys, threading
import numpy  # the rule for threads: docs/simulation.md
import bayesrl

sys.setswitchinterval(1e-6)
rng = random.Random(int(sys.argv[1]))
packages = "bandits bamdp bapomdp beliefs continuous gradient inverse models multiagent multitask risk value".split()
jobs = [(package, None) for package in rng.sample(packages, 4)] + [(None, name) for name in ("compare", "solve")]
jobs += [("direct", package) for package in rng.sample(packages, 2)]
rng.shuffle(jobs)
gate, wrong = threading.Barrier(len(jobs)), []

def use(package, name):
    gate.wait()
    try:
        if package == "direct":
            __import__(f"bayesrl.{name}")
        elif package is None:
            getattr(bayesrl, name)
        else:
            home = getattr(bayesrl, package)
            for one in home.__all__[:: len(home.__all__) // 3]:
                getattr(home, one)
    except BaseException as error:
        wrong.append(f"{package} {name}: {error!r}")

threads = [threading.Thread(target=use, args=job, daemon=True) for job in jobs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
print(wrong, [job for job, thread in zip(jobs, threads) if thread.is_alive()], flush=True)
import os
os._exit(0)  # threads that wait for ever would not let it end
"""


@pytest.mark.parametrize("seed", [0])
def test_eight_threads_use_names_for_the_first_time(seed):
    done = subprocess.run([sys.executable, "-c", THREADS, str(seed)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[] []\n", "")
