"""Evidence tests what is registered: where all methods of the class raise an error, a test named as evidence fails.

If they all pass nevertheless, they test helpers, or another class.
"""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from bayesrl.registry import PACKAGES, entries

ROOT = Path(__file__).parents[2]
EVIDENCE = {name: e.evidence for name, e in entries().items() if e.package in PACKAGES}


@pytest.fixture(scope="module")
def said_without():
    """said_without(name, nodes): whether tests show the error of the registered thing, and the end of what they say."""
    command, pipes = [sys.executable, str(Path(__file__).with_name("evidence_zygote.py"))], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipes, stdout=pipes, text=True) as zygote:

        def run(name, nodes):
            print(json.dumps({"name": name, "tests": nodes}), file=zygote.stdin, flush=True)
            return json.loads(zygote.stdout.readline())

        yield run


@cache
def is_run_by_name(node):
    """Whether a test is run for everything registered, by name."""
    path, _, test = node.partition("::")
    functions = [n for n in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))) if isinstance(n, ast.FunctionDef)]
    (found,) = [n for n in functions if n.name == test.split("[")[0]]
    return any("parametrize('name', BELIEFS" in ast.unparse(d) for d in found.decorator_list) and "test_laws" in path


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_fails_without_what_is_registered(name, said_without):
    found = said_without(name, [f"{node}[{name}]" if is_run_by_name(node) else node for node in EVIDENCE[name]])
    assert found["broken"], f"the evidence of {name} does not test it\n{found['said']}"
