"""All that can be asked of a belief, and all that it holds, as numbers.

`answers(belief)` calls every public method that does not learn, with arguments by their names and with a generator of
its own, and reads every public property. What a method raises is an answer too. Laws of plumbing compare answers: of a
belief that came from a file, that was asked before, that learnt from one log or from several.
"""

import dataclasses
import functools
import inspect
import types
from collections.abc import Mapping

import numpy as np
from numpy.random import default_rng

from bayesrl.beliefs.mdp.ledger import Ledger
from bayesrl.beliefs.values.observations import Observations
from bayesrl.kernels.simulators.counts import Counts
from bayesrl.kernels.simulators.simulator import begin, forget, root, step

LEARNS = {
    "batch", "check_grown", "compiled_hyper_states", "described", "fade", "fit", "learn_steps", "learned", "observe",
    "refresh", "restart", "seen_outcome", "some_replicates", "thinned", "update", "update_linear", "update_many",
}  # fmt: skip
"""Methods that give another belief, or an object for searches."""
KEPT = {"arrays", "grow_tree", "groups", "inputs", "map_states", "cluster", "prior_urns"}
"""Methods with arrays that are not filled, or that take long."""
GIVEN = {
    "p": 0.3, "depth": 3, "extra": 1.5, "deviations": 2.0, "weight": 0.5, "draws": 2, "samples": 30, "sweeps": 2,
    "context": None, "index": 0, "i": 0, "s": 0, "a": 0, "k": 0, "variable": 0, "rows": [0, 1], "columns": [0, 2],
    "state": 0, "action": 0, "actions": [[0.2], [0.1]], "cell": (0, 0), "variance": 0.5, "paths": 3, "agent": 0,
    "depths": 2, "leaf": "zero", "seen": np.ones((1, 3, 2), np.int64), "coalition": (0, 1),
}  # fmt: skip


def answers(belief, unasked=(), **given):
    """Every answer of a belief but those `unasked`, by its name. `given` has arguments by the names of parameters."""
    given = GIVEN | given
    found = {"itself": plain(belief)}
    for name in sorted(set(dir(type(belief))) | set(vars(belief))):
        if (
            name.startswith("_")
            or name in LEARNS | KEPT
            or name in unasked
            or name in vars(type(belief)).get("traits", ())
        ):
            continue
        kind = inspect.getattr_static(type(belief), name, None)
        if isinstance(kind, (classmethod, staticmethod)):
            continue
        found[name] = asked(belief, name, given)
    return found


def asked(belief, name, given):
    """What one member says."""
    try:
        member = getattr(belief, name)
        if not inspect.ismethod(member):
            return plain(member)
        arguments, rng = {}, default_rng(7)
        for parameter in inspect.signature(member).parameters.values():
            if parameter.name == "rng":
                arguments["rng"] = rng
            elif parameter.name in given and (parameter.default is parameter.empty or parameter.name in FEWER):
                arguments[parameter.name] = given[parameter.name]
        return plain(member(**arguments))
    except Exception as error:  # whatever it is, both must say it
        return f"{type(error).__name__}"


FEWER = ("draws", "samples", "sweeps", "context", "paths")
"""Parameters whose defaults take long."""


def plain(x):
    """Arrays, numbers, words, and lists and dictionaries of them."""
    if isinstance(x, (str, bytes, bool, int, float, complex, type(None), type, np.generic)):
        return x
    if isinstance(x, np.ndarray):
        return np.array(x) if x.dtype != object else [plain(y) for y in x.ravel()]
    if isinstance(x, Ledger):
        return np.sort(x.entries)
    if isinstance(x, Observations):
        return [np.array(part) for part in x.parts()]
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        if type(x) in step.registry:
            return drawn(x)
        return {name: plain(y) for name, y in zip(x._fields, x, strict=True) if (type(x), name) not in TABLES}
    if isinstance(x, (tuple, list)):
        return [plain(y) for y in x]
    if isinstance(x, Mapping):
        return {str(key): plain(y) for key, y in x.items()}
    if isinstance(x, functools.partial):
        return plain(x())
    if isinstance(x, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return "a function"
    if dataclasses.is_dataclass(x):
        return {f.name: plain(getattr(x, f.name)) for f in dataclasses.fields(x) if f.name not in UNREAD}
    return type(x).__name__


TABLES = {(Counts, "weights")}
"""Fields of what is computed once, on demand."""
UNREAD = {"_weights", "_shared"}
"""Tables that beliefs of one prior share, and fill as they are asked."""


def drawn(model, simulations=4, steps=3, actions=1):
    """Simulations with a generator of its own, of which all but the last are forgotten."""
    rng, seen = default_rng(11), []
    for last in range(simulations):
        begin(model, rng)
        s, marks = int(root(model, 0, rng)), np.zeros(steps, np.int64)
        done = t = 0
        while t < steps and not done:
            k, s, r, done, marks[t] = step(model, s, t % actions, rng)
            seen.append((int(k), int(s), float(r), bool(done)))
            t += 1
        if last < simulations - 1:
            forget(model, marks, t)
    return np.array(seen)


def same(one, other, rtol=0.0, path=""):
    """The first place where two answers differ, or nothing."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f"{path}: {sorted(one.keys() ^ other.keys())}"
        return next(filter(None, (same(one[k], other[k], rtol, f"{path}.{k}") for k in one)), "")
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{path}: {len(one)} or {len(other)}"
        pairs = enumerate(zip(one, other, strict=True))
        return next(filter(None, (same(a, b, rtol, f"{path}[{i}]") for i, (a, b) in pairs)), "")
    if isinstance(one, (np.ndarray, float, np.floating)) and isinstance(other, (np.ndarray, float, np.floating)):
        a, b = np.asarray(one), np.asarray(other)
        if a.shape == b.shape and a.dtype.kind in "fc" and np.allclose(a, b, rtol, 1e-11 * (rtol > 0), equal_nan=True):
            return ""
        return "" if a.shape == b.shape and np.array_equal(a, b) else f"{path}: {one} or {other}"
    return "" if type(one) is type(other) and one == other else f"{path}: {one!r} or {other!r}"
