"""Lazy imports: names are imported when they are first used, so that `import bayesrl` and `bayesrl --help` are fast.

A package calls `export` once, at the end of its `__init__.py`, with the modules of its public names:

    export(__name__, {"search.bamcp": ("BAMCP",), "sampling.psrl": ("PSRL", "psrl_bound")})

Type checkers do not run this, so the package also imports the same names under `if TYPE_CHECKING`. A test checks that
the two lists agree.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any


def export(package: str, homes: Mapping[str, Sequence[str]], modules: Sequence[str] = ()) -> None:
    """Export the names of `homes` (names by submodule) and the submodules `modules` from `package`, lazily."""
    home = {name: f"{package}.{module}" for module, names in homes.items() for name in names}
    here = sys.modules[package]
    public = sorted({*home, *modules, *getattr(here, "__all__", ())})

    def get(name: str) -> Any:
        if name in home:
            return getattr(import_module(home[name]), name)
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    here.__dict__.update(__getattr__=get, __dir__=lambda: public, __all__=public)
    for name, module in home.items():
        if module == f"{package}.{name}":  # otherwise a later import of the module would replace the function
            here.__dict__[name] = getattr(import_module(module), name)
