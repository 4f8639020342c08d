"""Where a record comes from: what agent and world were made of, the numbers of the run, the versions of the code."""

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
    """The versions that a record's numbers may depend on."""
    from bayesrl._version import code_version

    numbers = {name: version(name) for name in ("numpy", "numba")}
    return {"python": platform.python_version(), "bayesrl": code_version(), **numbers}


def provenance(made_of: Mapping[str, Any], numbers: Mapping[str, int | None], hidden: bool = False) -> dict[str, Any]:
    """What a run was: agent, world, its numbers, and the versions of what computed it."""
    plain = {name: None if number is None else int(number) for name, number in numbers.items()}
    return {**made_of, **plain, **({"hidden": True} if hidden else {}), **versions()}


_digests: dict[int, tuple[ref[NDArray[Any]], str]] = {}
"""Content hashes of read-only arrays, by id; an entry is valid as long as its array lives."""


def _digest(x: NDArray[Any]) -> str:
    """The content hash of an array. That of a read-only array is computed once, whatever the number of replicates."""
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
    """What a value was made of, as JSON: dataclasses by their fields, arrays by shape and content hash."""
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
    brief = thing.described() if hasattr(thing, "described") else None  # too large to be written out
    if brief is not None:
        return describe(brief)
    if dataclasses.is_dataclass(thing):
        named = {f.name: describe(getattr(thing, f.name)) for f in dataclasses.fields(thing) if f.init}
        return {"type": type(thing).__name__, **named}
    return {"type": type(thing).__name__}
