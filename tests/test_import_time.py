"""Help must answer at once: the command line imports nothing heavy before a command needs it.

The structure is tested, not the time: which modules have been imported is the same on every machine.
"""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "numba", "scipy", "pandas", "matplotlib", "pyarrow", "gymnasium"}


def imported_after(code):
    """The top-level modules that are there after running the code in a fresh interpreter."""
    report = "\nimport sys; print(chr(10).join({m.partition('.')[0] for m in sys.modules}), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import bayesrl",
        "import bayesrl.cli",
        "from bayesrl.cli import main; main(['--help'])",
        "from bayesrl.cli import main; main(['run', '--help'])",
        "from bayesrl.cli import main; main(['--version'])",
    ],
)
def test_nothing_heavy(code):
    assert imported_after(code) & HEAVY == set()


def test_listing_methods_compiles_nothing_and_draws_nothing():
    """`bayesrl methods` reads every registered module: kernels are declared, not compiled, and no lab is needed."""
    code = """
import numba.core.dispatcher as d
def compile(self, sig): raise SystemExit("compiled " + self.py_func.__name__)
d.Dispatcher.compile = compile
from bayesrl.cli import main
assert main(["methods", "--json"]) == 0
"""
    assert imported_after(code) & {"pandas", "matplotlib", "pyarrow", "gymnasium"} == set()


@pytest.mark.parametrize("name", ["psrl", "ba-pomcp", "gpsarsa", "chain", "tiger"])
def test_one_name_imports_its_file_and_what_that_needs(name):
    code = f"""
import sys
from bayesrl.registry import lookup
assert lookup({name!r}).name == {name!r}
found = [module for module in sys.modules if module.startswith("bayesrl.")]
assert len(found) <= 80, len(found)
"""
    imported_after(code)
