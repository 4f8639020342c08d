"""The public surface: what `dir` lists can be used, and no function is hidden by a module of its name."""

import re
import subprocess
import sys
from types import ModuleType

import pytest

import bayesrl as b
from bayesrl.registry import worlds

PACKAGES = (b, b.lab, b.io, b.adapters, b.worlds)
CONTRACTS = "Agent Belief Comparison GymWorld Interval MDPWorld Planner Policy World explain compare run make solve"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_listed_name_is_there(package):
    assert sorted(package.__all__) == dir(package)
    assert not [name for name in dir(package) if getattr(package, name, None) is None]


def test_the_contracts_are_at_the_top():
    assert {*CONTRACTS.split(), "problems"} <= set(dir(b))


def test_beliefs_of_games_and_of_rewards_are_exported_with_the_others():
    assert {"FinitePrior", "RepeatedGame", "TypeBelief"} <= set(dir(b.beliefs))
    assert b.beliefs.TypeBelief is b.multiagent.TypeBelief
    assert b.beliefs.FinitePrior is b.inverse.FinitePrior


def test_the_lab_has_what_its_page_advertises():
    table = b.lab.__doc__.split("\n\n")[1]
    names = {
        name for line in table.splitlines() for name in re.findall(r"[A-Za-z_]\w+", re.split(r"  |\(|\.\.\.", line)[0])
    }
    assert {"compare", "prior_for", "plot_bands", "lookup"} <= names <= set(dir(b.lab))


@pytest.mark.parametrize("package", [b.io, b.adapters], ids=lambda package: package.__name__)
def test_a_page_lists_all_names(package):
    said = set(re.findall(r"\w+", package.__doc__))
    assert {name for name in dir(package) if not isinstance(getattr(package, name), ModuleType)} <= said


def test_every_registered_world_is_exported():
    assert not [e.name for e in worlds() if getattr(b.worlds, e.factory.__name__, None) is not e.factory]
    assert b.worlds() == worlds()


# Functions and modules of one name ------------------------------------------------------------------------------------

ORDERS = """
import sys
from importlib import import_module
from pathlib import Path
import bayesrl

root = Path(bayesrl.__file__).parent
shared = []
for package in ["bayesrl", *sorted(f"bayesrl.{p.parent.name}" for p in root.glob("*/__init__.py"))]:
    folder = Path(import_module(package).__file__).parent
    for name in getattr(sys.modules[package], "_names", ()):
        if (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists():
            shared.append((package, name))
assert ("bayesrl.lab", "compare") in shared and ("bayesrl.gradient", "bac") in shared

def touched(package, name):
    for one in dir(sys.modules[package]):
        getattr(sys.modules[package], one)

def used(package, name):
    getattr(sys.modules[package], name)

def imported(package, name):
    import_module(f"{package}.{name}")

for package, name in shared:
    for step in STEPS:
        step(package, name)
    scope = {}
    exec(f"from {package} import {name}", scope)
    for found in (getattr(sys.modules[package], name), scope[name]):
        assert not isinstance(found, type(sys)), (package, name)
print(len(shared))
"""


@pytest.mark.parametrize("steps", ["imported", "used, imported", "imported, used", "touched, imported", "touched,"])
def test_no_module_hides_a_function_of_its_name(steps):
    code = ORDERS.replace("STEPS", f"({steps},)".replace(",,", ","))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert int(done.stdout or 0) >= 4, done.stderr


def test_the_laboratory_keeps_its_functions_after_compare_was_used():
    """`bayesrl.lab.compare` was a module as soon as `bayesrl.compare` had been touched."""
    code = "import bayesrl as b; b.compare; import bayesrl.lab.explain; assert b.lab.compare is b.compare"
    subprocess.run([sys.executable, "-c", f"{code} and callable(b.lab.explain)"], check=True)
