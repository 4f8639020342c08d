"""The provenance of a record: the parameters of agent and world, the arguments of the run, and the code versions."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray


@cache
def versions() -> Mapping[str, str]:
    """The versions of all code on which a record may depend."""
    from bayesrl._version import code_version

    numbers = {name: version(name) for name in ("numpy", "numba")}
    return {"python": platform.python_version(), "bayesrl": code_version(), **numbers}


def provenance(made_of: Mapping[str, Any], numbers: Mapping[str, int | None], hidden: bool = False) -> dict[str, Any]:
    """The provenance of a run: agent, world, its arguments, and the code versions."""
    plain = {name: None if number is None else int(number) for name, number in numbers.items()}
    return {**made_of, **plain, **({"hidden": True} if hidden else {}), **versions()}


_digests: dict[int, tuple[ref[NDArray[Any]], str]] = {}
"""Content hashes of read-only arrays, by id. An entry is valid while its array exists."""


def _digest(x: NDArray[Any]) -> str:
    """The content hash of an array. The hash of a read-only array is computed once for all replicates."""
    from hashlib import sha256

    kept = _digests.get(id(x))
    if kept is not None and kept[0]() is x and not x.flags.writeable:
        return kept[1]
    digest = sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:16]
    if not x.flags.writeable:
        number = id(x)
        _digests[number] = ref(x, lambda _: _digests.pop(number, None)), digest
    return digest


def describe(thing: Any) -> Any:
    """Describe a value as JSON: dataclasses by their fields, arrays by their shape and content hash."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, np.ndarray):
        return {"array": list(thing.shape), "dtype": str(thing.dtype), "sha256": _digest(thing)}
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, Mapping):
        return {str(k): describe(v) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [describe(v) for v in thing]
    brief = thing.described() if hasattr(thing, "described") else None  # for values with very large arrays
    if brief is not None:
        return describe(brief)
    if dataclasses.is_dataclass(thing):
        named = {f.name: describe(getattr(thing, f.name)) for f in dataclasses.fields(thing) if f.init}
        return {"type": type(thing).__name__, **named}
    return {"type": type(thing).__name__}
