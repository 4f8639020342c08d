"""Lazy imports: names are imported when they are first used, so that `import bayesrl` and `bayesrl --help` are fast.

A package calls `export` once, at the end of its `__init__.py`, with the modules of its public names:

    export(__name__, {"search.bamcp": ("BAMCP",), "sampling.psrl": ("PSRL", "psrl_bound")})

Several threads may use names for the first time at once: they import one after the other. Python has a lock for each
module. Two threads that import modules in opposite orders wait for each other, and Python then lets one of them go on
with a module that is only partly there. `LOCK` prevents this for all imports through lazy names. Nobody waits for ever:
a thread that imports a module directly never asks for `LOCK`, because no module of this library uses a lazy name while
it is imported. A test checks this. Imports of other libraries are not under this lock, and NumPy itself must not be
imported by several threads at once.

Type checkers do not run this, so the package also imports the same names under `if TYPE_CHECKING`. A test checks that
the two lists agree.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any


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


def export(
    package: str,
    homes: Mapping[str, Sequence[str]],
    modules: Sequence[str] = (),
    elsewhere: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """Export the names of `homes` (names by submodule) and the submodules `modules` from `package`, lazily.

    `elsewhere` holds names that live in another package, by the full names of their modules.
    """
    home = {name: f"{package}.{module}" for module, names in homes.items() for name in names}
    home |= {name: module for module, names in elsewhere.items() for name in names}
    here = sys.modules[package]
    public = sorted({*home, *modules, *getattr(here, "__all__", ())})

    def get(name: str) -> Any:
        if name in home:
            return getattr(imported(home[name]), name)
        if name in modules:
            return imported(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    here.__dict__.update(_names=home, __getattr__=get, __dir__=lambda: public, __all__=public)
    here.__class__ = Package
