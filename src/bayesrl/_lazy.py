"""Lazy imports: names are imported when they are first used, so that `import bayesrl` and `bayesrl --help` are fast.

A package calls `export(__name__)` once, at the end of its `__init__.py`. Its public names are listed in `__init__.pyi`
beside it, one to a line, with the modules that hold them:

    from bayesrl.bamdp.search.bamcp import BAMCP as BAMCP
    from bayesrl.beliefs.rewards.birl import BIRL as BIRL

Type checkers read the same list. `make docs` adds the names of new registered classes and of new plots.

Several threads may use names for the first time at once: they import one after the other. Python has a lock for each
module. Two threads that import modules in opposite orders wait for each other, and Python then lets one of them go on
with a module that is only partly there. `LOCK` prevents this for all imports through lazy names. A thread that imports
a module directly never asks for `LOCK`, because no module of this library uses a lazy name while it is imported; so no
two threads block each other. A test checks this. Imports of other libraries are not under this lock, and NumPy itself
must not be imported by several threads at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

from bayesrl.renamed import NAMES


class Package(ModuleType):
    """A package whose lazy names are not replaced by submodules of the same name when these are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in self.__dict__["_names"]):
            super().__setattr__(name, value)


LOCK = RLock()
"""Held by the thread that imports."""


def imported(module: str) -> ModuleType:
    """The module of that name, whole also if several threads ask for modules at once."""
    with LOCK:
        return import_module(module)


def export(package: str) -> None:
    """Export the names that are listed in the package's `__init__.pyi`, lazily. A name may live in another package."""
    here = sys.modules[package]
    with open(f"{os.path.splitext(str(here.__file__))[0]}.pyi", encoding="utf-8") as file:
        lines = [line.split() for line in file if line.startswith("from ")]
    home = {name: module for _, module, _, name, *_ in lines}
    public = sorted(home)

    old = NAMES.get(package, {})

    def get(name: str) -> Any:
        name = old.get(name, name)
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:
            return imported(f"{package}.{name}")
        return getattr(imported(home[name]), name)

    functions = {name for name in home if home[name] != package}
    here.__dict__.update(_names=functions, __getattr__=get, __dir__=lambda: public, __all__=public)
    here.__class__ = Package
