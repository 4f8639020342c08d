"""Beliefs, planners and agents in files, including a LiveAgent with its memory; without pickle.

    save(shop, "shop.zip")
    shop = load("shop.zip")          # continues exactly where it was, including its random numbers

The file is the zip of archive.py: a page of JSON that describes each value by its fields, and arrays as members. Frozen
dataclasses and named tuples of this library can be saved if they consist of plain values, tuples, lists, dicts and
arrays. Records and comparisons can be saved too (records.py). In the page

    {"type": "bayesrl.beliefs.arms.normal_arm:NormalArm", "fields": {...}}  a dataclass, derived fields included
    {"type": "bayesrl.core:Mind", "items": [...]}                         a named tuple
    {"array": [0, "<f8", [3]]}                                            member arrays/0.npy, the dtype and the shape
    {"tuple": [...]}  {"list": [...]}  {"dict": [[key, value], ...]}  {"float": "inf"}  {"ledger": ...}

Reading a file calls only constructors of this library, which check their arguments. Classes are looked up inside the
package only; a class that has moved since the file was written is found by its name. A field that is newer than the
file has its default; items of named tuples that have changed stand in older.py. Fields that constructors derive
(priors, evidence, ledgers) must have the type and shape that the constructor gives them. Fields that a class lists in
`grows` may have grown with data: the constructor finds them set already, and `check_grown` checks them. Nothing is made
whose size the file does not pay for. A damaged or foreign file is refused with one sentence.
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from copy import copy
from functools import cache, cached_property
from importlib import import_module
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from bayesrl._files import reading, write
from bayesrl.beliefs.mdp.ledger import Ledger
from bayesrl.beliefs.values.observations import Observations
from bayesrl.core import BayesAgent, Streams
from bayesrl.errors import BayesRLError, InvalidArgument, UnreadableFile
from bayesrl.io import archive
from bayesrl.io import records as record
from bayesrl.io.archive import PLAIN, Members, Refused
from bayesrl.io.older import ITEMS
from bayesrl.lab.comparison import Comparison
from bayesrl.live import LiveAgent
from bayesrl.record import Record
from bayesrl.registry import entries
from bayesrl.renamed import CLASSES, MODULES, in_new_words
from bayesrl.traits import traits_of

NAME = re.compile(r"(bayesrl(?:\.[a-z_]\w*)+):([A-Za-z]\w*)")
STREAMS = ("planner", "learning")
"""The generators of a LiveAgent whose states are saved."""
TABLE = ("n_states", "n_actions")
"""The sizes of the table with which an agent that keeps one starts."""


def save(thing: Any, path: str | os.PathLike[str]) -> None:
    """Write a LiveAgent, a belief, a planner, an agent, a record or a comparison; `load` reads it.

    The data is read back first. An existing file is replaced only by a complete one.
    """
    if isinstance(thing, (Record, Comparison)):
        record.save(thing, path)
        return
    if not isinstance(thing, LiveAgent) and not _is_ours(type(thing)):
        expected = "a record, a comparison, or a belief, planner or agent of this library"
        raise InvalidArgument("save", "thing", expected, thing)
    data = _pack(thing)
    try:
        _unpack(*archive.unpack(io.BytesIO(data)))
    except Refused as refused:
        raise InvalidArgument(
            "save", "thing", "one that can be read back", type(thing).__name__, f"But {refused}."
        ) from None
    write(path, data)


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote, or refuse with one sentence."""
    with reading(path) as file:
        try:
            page, members = archive.unpack(file)
            return _unpack(page, members) if "value" in page else record.records(page, members)
        except Refused as refused:
            raise UnreadableFile(path, str(refused)) from None


# Writing -------------------------------------------------------------------------------------------------------------


Arrays = dict[tuple[Any, ...], tuple[int, NDArray[Any]]]
"""The arrays of a file and their numbers, by content: each array is written once, and equal values give equal files."""


def _pack(thing: Any) -> bytes:
    arrays: Arrays = {}
    if isinstance(thing, LiveAgent):
        thing = copy(thing)  # between two calls of other threads
        value = {name: _encode(getattr(thing, name), arrays) for name in ("agent", "seed", "actions", "mind")}
        value |= {name: getattr(thing.streams, name).bit_generator.state for name in STREAMS}
        page = {"kind": "live agent", "value": value}
    else:
        page = {"kind": "value", "value": _encode(thing, arrays)}
    return archive.pack(page, {f"arrays/{n}.npy": np.atleast_1d(x) for n, x in arrays.values()})


def _encode(x: Any, arrays: Arrays) -> Any:
    """The value as JSON; its arrays are added to `arrays`."""

    def inside(y: Any) -> Any:
        return _encode(y, arrays)

    if x is None or type(x) in (bool, int, str):
        return x
    if type(x) is float:
        return x if math.isfinite(x) else {"float": repr(x)}
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in PLAIN:
        content = (x.dtype.str, x.shape, np.isfortran(x), x.tobytes())
        n, _ = arrays.setdefault(content, (len(arrays), np.asarray(x)))
        return {"array" if isinstance(x, np.ndarray) else "scalar": [n, x.dtype.str, list(x.shape)]}
    if type(x) in (tuple, list):
        return {type(x).__name__: [inside(y) for y in x]}
    if type(x) is dict:
        return {"dict": [[inside(key), inside(y)] for key, y in x.items()]}
    if type(x) is Ledger:
        return {"ledger": inside(np.array(x.entries))}
    if type(x) is Observations:
        return {"observations": inside(x.parts())}
    if _is_ours(type(x)):
        name = f"{type(x).__module__}:{type(x).__name__}"
        if isinstance(x, tuple):
            return {"type": name, "items": [inside(y) for y in x]}
        return {"type": name, "fields": {key: inside(y) for key, y in _state(x).items()}}
    raise InvalidArgument("save", "thing", "made of values of this library, numbers, text and arrays", type(x).__name__)


def _state(x: Any) -> dict[str, Any]:
    """The fields of a dataclass and its other attributes, without cached properties."""
    extras = _extras(x)
    state = {f.name: getattr(x, f.name) if f.init else extras.get(f.name, None) for f in dataclasses.fields(x)}
    state |= {f.name: getattr(x, f.name) for f in dataclasses.fields(x) if state[f.name] is None}
    return state | {name: y for name, y in extras.items() if name not in state}


def _extras(x: Any) -> dict[str, Any]:
    held = x.__getstate__()  # a class may leave out more
    if not isinstance(held, dict):
        return {}
    left_out = traits_of(type(x)).not_saved
    cached = {k for k in held if isinstance(inspect.getattr_static(type(x), k, None), cached_property)}
    return {k: v for k, v in held.items() if k not in cached and k not in left_out}


def _is_ours(kind: type) -> bool:
    made = dataclasses.is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    return made and NAME.fullmatch(f"{kind.__module__}:{kind.__qualname__}") is not None


# Reading -------------------------------------------------------------------------------------------------------------


def _unpack(page: Mapping[str, Any], members: Members) -> Any:
    try:
        with np.errstate(all="ignore"):
            if page["kind"] == "live agent":
                return _live(page["value"], members)
            return _decode(page["value"], members)
    except BayesRLError as error:  # a constructor refused an argument
        raise Refused(f"it holds a value that is refused ({str(error).removesuffix('.')})") from None
    except Refused:
        raise
    except MemoryError:
        raise Refused("it needs more memory than there is") from None
    except Exception:  # a foreign page can cause any error
        raise Refused("its meta.json does not describe a saved value") from None


def _live(page: Mapping[str, Any], members: Members) -> LiveAgent:
    agent, seed, actions, mind = (_decode(page[name], members) for name in ("agent", "seed", "actions", "mind"))
    if not isinstance(agent, BayesAgent) and _entries(mind) < math.prod(getattr(agent, n, 1) for n in TABLE):
        raise Refused("its mind is not one of its agent's")  # whose `start` makes the whole table
    live = LiveAgent(agent, seed, actions)
    if not _is_mind(mind, agent, live.mind):
        raise Refused("its mind is not one of its agent's")
    live.mind = mind
    states = in_new_words(Streams, page)
    for name in STREAMS:
        getattr(live.streams, name).bit_generator.state = states[name]
    return live


def _is_mind(mind: Any, agent: Any, first: Any) -> bool:
    """Whether a mind has the classes of the agent's first one.

    An agent that begins without a mind names the class of later ones in what `start` returns, `Learning | None`.
    """
    if first is None:
        later = get_args(get_type_hints(type(agent).start).get("return"))
        return mind is None or type(mind) in later
    beliefs = [type(getattr(x, "belief", None)) for x in (mind, first)]
    return type(mind) is type(first) and beliefs[0] is beliefs[1]


def _entries(x: Any) -> int:
    """The number of entries of all arrays of a mind."""
    return sum(map(_entries, x)) if isinstance(x, tuple) else int(np.size(x))


def _decode(node: Any, members: Members) -> Any:
    """The value that a node of the page describes."""

    def inside(y: Any) -> Any:
        return _decode(y, members)

    if node is None or isinstance(node, (bool, int, float, str)):
        return node
    if "type" in node:
        return _build(node, members)
    ((tag, content),) = node.items()
    if tag == "float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content]
    if tag in ("array", "scalar"):
        n, dtype, shape = content
        x = members.array(f"arrays/{int(n)}.npy", dtype, shape or [1]).reshape(shape)
        return x if tag == "array" else x[()]
    if tag in ("tuple", "list"):
        return (tuple if tag == "tuple" else list)(inside(y) for y in content)
    if tag == "dict":
        return {inside(key): inside(y) for key, y in content}
    if tag == "observations":
        return Observations.of_parts(inside(content))
    if tag == "ledger":
        entries = inside(content)
        if entries.ndim != 1 or entries.dtype != np.int64:
            raise Refused("its ledger is not a list of cells")
        return entries
    raise Refused(f"it holds something called {tag!r}, which this library does not know")


def _build(node: Mapping[str, Any], members: Members) -> Any:
    """Build an object with its constructor, then set the derived fields to the saved values."""
    kind = _class(node["type"])
    if issubclass(kind, tuple):
        items = [_decode(y, members) for y in node["items"]]
        number, present = ITEMS.get(node["type"], (-1, kind))
        return kind(*present(*items)) if len(items) == number else kind(*items)
    fields = in_new_words(kind, node["fields"])
    stored = {f.name: f.default for f in dataclasses.fields(kind) if f.init and f.default is not dataclasses.MISSING}
    stored |= {name: _decode(y, members) for name, y in fields.items()}
    init = {f.name for f in dataclasses.fields(kind) if f.init}
    traits = traits_of(kind)
    grown = set(traits.grows) & fields.keys()
    made = object.__new__(kind)
    for name in grown:  # what the file holds, the constructor need not make
        object.__setattr__(made, name, stored[name])
    made.__init__(**{traits.renamed.get(name, name): stored[name] for name in init})
    if stored.keys() != _state(made).keys():
        raise Refused(f"its {kind.__name__} has other fields than this library's")
    held = {}
    for name in stored.keys() - init:
        fresh, saved = getattr(made, name), stored[name]
        if isinstance(fresh, Ledger):
            if saved.size and not 0 <= saved.min() <= saved.max() < len(fresh.counts()):
                raise Refused("its ledger has cells that do not exist")
            saved = fresh.extend(saved)
        elif name not in grown and not _same_kind(fresh, saved):
            raise Refused(f"its {kind.__name__} has a field {name} of the wrong kind")
        held[name] = saved
    if held:  # values computed from the replaced fields are dropped
        kept = _extras(made) | held
        vars(made).clear()
        vars(made).update(kept)
    if traits.grows:
        made.check_grown()
    return made


def _class(name: str) -> Any:
    """The class of that name, which must be in this package."""
    found = NAME.fullmatch(name)
    if found is None:
        raise Refused(f"it holds a {name}, which is not a value of this library")
    module = MODULES.get(found[1], found[1])
    try:
        kind = getattr(import_module(module), found[2])
    except (ImportError, AttributeError):
        kind = None
    if not isinstance(kind, type) or not _is_ours(kind) or kind.__module__ != module:
        kind = classes_by_name().get(CLASSES.get(name, found[2]))  # it may have moved since the file was written
    if kind is None:
        raise Refused(f"it holds a {name}, which is not a value of this library")
    return kind


@cache
def classes_by_name() -> Mapping[str, type]:
    """All classes of this library that can be saved, by name; ambiguous names are left out."""
    entries()  # imports every package
    ours = [module for name, module in sys.modules.items() if name.startswith("bayesrl.")]
    kinds = {kind for module in ours for kind in vars(module).values() if isinstance(kind, type) and _is_ours(kind)}
    names = Counter(kind.__name__ for kind in kinds)
    return {kind.__name__: kind for kind in kinds if names[kind.__name__] == 1}


def _same_kind(a: Any, b: Any) -> bool:
    """Whether two values have the same class, dtype, shape and length; an empty tuple may have grown."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype) and a.shape == b.shape
    if a == () and b:
        return all(_same_kind(b[0], entry) for entry in b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same_kind, a, b))
    return True
