"""Errors for wrong arguments, found after a call has failed.

The public methods of registered classes declare their arguments in their signatures: `state: int`, `rows: Floats`,
`datum: Transition`, `rng: Generator`. Checking arguments before every call would cost time in every step. Instead, if a
call fails with a foreign exception, its arguments are compared with the signature, and `InvalidArgument` names the
first that does not fit. If all types fit, and the exception is about sizes or shapes (an index, a shape that does
not broadcast), it names the first array or number that may have the wrong size, and quotes Python's message.
If memory runs out, the arguments are not blamed: `OutOfMemory` says so.
The original exception is the cause. Any other exception is a bug of ours and is raised unchanged.
"""

from __future__ import annotations

import inspect
import operator
import re
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import demand
from bayesrl.checks import WORD
from bayesrl.core import Transition
from bayesrl.errors import BayesRLError, InvalidArgument, OutOfMemory, show

T = TypeVar("T")
HOT = frozenset({"sample_means", "quantile", "reward_of"})
"""Methods of beliefs that take a microsecond or two. They check their own arguments."""
ARRAYS = ("Floats", "Ints", "Bools", "NDArray", "ArrayLike", "F1", "F2", "F3", "I1", "I2", "I3")
"""Names of array types in signatures."""
COUNTED = {"state": "n_states", "s": "n_states", "action": "n_actions", "a": "n_actions"}
"""Arguments that are indices, and the attributes that hold their number."""
EXPLAINED = "explains_failures"
"""The attribute of a method that is wrapped already."""
DOES_NOT_FIT = (IndexError, ValueError, OverflowError)
"""Exceptions for an argument of the right type and the wrong size."""


def explain_failures(cls: type[T]) -> type[T]:
    """Wrap the public methods of a class, including inherited ones, so that they explain failures."""
    for name in dir(cls):
        if name.startswith("_") or name in HOT or name == "unchecked":
            continue
        home = next(parent for parent in cls.__mro__ if name in vars(parent))
        if home.__module__.split(".")[0] in ("builtins", "typing"):
            continue
        method = vars(home)[name]
        inner = method.__func__ if isinstance(method, (classmethod, staticmethod)) else method
        if not isinstance(inner, FunctionType) or hasattr(inner, EXPLAINED) or inspect.isgeneratorfunction(inner):
            continue
        if len(inspect.signature(inner).parameters) < (1 if isinstance(method, staticmethod) else 2):
            continue
        told = FIXED.get(name, _explaining)(cls.__name__, inner)
        setattr(told, EXPLAINED, True)
        setattr(cls, name, type(method)(told) if inner is not method else told)
    return cls


def _explaining(owner: str, method: FunctionType) -> Callable[..., Any]:
    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except BayesRLError:
            raise
        except Exception as wrong:
            explanation = _explanation(owner, method, args, kwargs, wrong)
            if explanation is None:
                raise
            raise explanation from wrong

    return call


def _explaining_update(owner: str, method: FunctionType) -> Callable[..., Any]:
    """Do the same for `update`. Fixed arguments cost less, and it is called in every step."""

    @wraps(method)
    def update(self: Any, datum: Any, rng: Generator | None = None) -> Any:
        try:
            return method(self, datum, rng)
        except BayesRLError:
            raise
        except Exception as wrong:
            explanation = _explanation(owner, method, (self, datum, rng), {}, wrong)
            if explanation is None:
                raise
            raise explanation from wrong

    return update


def _explaining_step(owner: str, method: FunctionType) -> Callable[..., Any]:
    """Do the same for the `step` of a world."""

    @wraps(method)
    def step(self: Any, state: Any, action: Any, rng: Generator) -> Any:
        try:
            return method(self, state, action, rng)
        except BayesRLError:
            raise
        except Exception as wrong:
            explanation = _explanation(owner, method, (self, state, action, rng), {}, wrong)
            if explanation is None:
                raise
            raise explanation from wrong

    return step


def _explaining_plan(owner: str, method: FunctionType) -> Callable[..., Any]:
    """Do the same for `plan`."""

    @wraps(method)
    def plan(self: Any, belief: object, observation: Any, memory: Any, rng: Any, last: Any = None) -> Any:
        try:
            return method(self, belief, observation, memory, rng, last)
        except BayesRLError:
            raise
        except Exception as wrong:
            explanation = _explanation(owner, method, (self, belief, observation, memory, rng, last), {}, wrong)
            if explanation is None:
                raise
            raise explanation from wrong

    return plan


FIXED = {"update": _explaining_update, "step": _explaining_step, "plan": _explaining_plan}
"""Methods that are called in every step: their wrappers have the fixed arguments of the protocols."""


def _explanation(
    owner: str, method: FunctionType, args: tuple[Any, ...], kwargs: Mapping[str, Any], wrong: Exception
) -> BayesRLError | None:
    return explained(f"{owner}.{method.__name__}", method, args, kwargs, wrong)


def explained(
    owner: str, method: FunctionType, args: tuple[Any, ...], kwargs: Mapping[str, Any], wrong: Exception
) -> BayesRLError | None:
    """The error that names the argument of a failed call that does not fit its signature; None if all fit."""
    if isinstance(wrong, MemoryError):
        return OutOfMemory(owner, str(wrong))
    signature = inspect.signature(method)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as misfit:  # arguments are missing, or there are too many
        return InvalidArgument(owner, "arguments", f"those of its signature: {misfit}", show(kwargs or args))
    given = {name: x for name, x in bound.arguments.items() if name not in ("self", "cls")}
    self = args[0] if args else None
    hints = {name: _written(signature.parameters[name].annotation) for name in given}
    for name, x in given.items():
        if x is None and ("None" in hints[name] or signature.parameters[name].default is None):
            continue
        if name == "belief" and self is not None and hasattr(self, "needs"):  # also a solver that yields one
            try:
                demand(self, x)
            except BayesRLError as misfit:
                return misfit
        expected = misfit_of(name, x, hints[name], self, method)
        if expected is not None:
            return InvalidArgument(owner, name, expected, x)
    if isinstance(wrong, DOES_NOT_FIT) or type(wrong).__name__ == "TypingError":  # Numba's, about an array's axes
        for name, x in given.items():  # types fit, so a size or a shape is wrong
            if x is not None and may_not_fit(name, hints[name], self, wrong):
                return InvalidArgument(owner, name, f"one that fits ({' '.join(str(wrong).split())})", x)
    return None


def _written(annotation: Any) -> str:
    """An annotation as it is written: without the modules of its names, also where it is not a text."""
    return annotation if isinstance(annotation, str) else re.sub(r"\w+\.", "", inspect.formatannotation(annotation))


def may_not_fit(name: str, hint: str, self: Any, wrong: Exception) -> bool:
    """Whether an argument of the right type may have the wrong size.

    An index below its known number, and a number where an index is wrong, cannot be to blame: then it is a bug of ours.
    """
    if any(word in hint for word in (*ARRAYS, "Any", "object")):
        return True
    if "int" in hint:
        return not isinstance(getattr(self, COUNTED.get(name, ""), None), int)
    return "float" in hint and not isinstance(wrong, IndexError)


def misfit_of(name: str, x: Any, hint: str, self: Any, method: FunctionType) -> str | None:
    """The requirement that an argument fails; None if it fits, or if its declared type is too general."""
    parts = [part for part in (one.strip() for one in hint.split("|")) if part != "None"]
    if name == "rng" or "Generator" in parts:
        return None if isinstance(x, Generator) else "a numpy Generator, such as numpy.random.default_rng(0)"
    if name in ("transition", "last") or "Transition" in parts:
        return None if isinstance(x, Transition) else "a Transition"
    if any(part.startswith(ARRAYS) for part in parts):
        return None if _is_array(x) or ("float" in parts and _is_number(x)) else "an array of numbers"
    if parts == ["int"]:
        return _whole(x, getattr(self, COUNTED.get(name, ""), None))
    if "float" in parts:
        return None if _is_number(x) else "a number"
    if parts == ["bool"]:
        return None if isinstance(x, (bool, np.bool_)) else "True or False"
    if parts == ["str"]:
        return None if isinstance(x, str) else "text"
    if parts == ["Self"] or parts == [type(self).__name__]:
        return None if isinstance(x, type(self)) else f"a {type(self).__name__}"
    kind = vars(sys.modules[method.__module__]).get(parts[0]) if len(parts) == 1 else None
    if (
        inspect.isclass(kind)
        and kind is not Any
        and not getattr(kind, "_is_protocol", False)
        and not isinstance(x, kind)
    ):
        return f"a {kind.__name__}"
    return None


def _whole(x: Any, count: Any) -> str | None:
    high = count - 1 if isinstance(count, int) else WORD
    try:
        if not isinstance(x, (bool, np.bool_)) and 0 <= operator.index(x) <= high:
            return None
    except TypeError:
        pass
    return f"a whole number from 0 to {high}"


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "biuf" and not np.ma.is_masked(x)


def _is_number(x: Any) -> bool:
    if not isinstance(x, (int, float, np.integer, np.floating)):
        return False
    size: Any = abs(
        float(x) if isinstance(x, np.floating) else x
    )  # a float32 cannot be compared with the largest float
    return bool(size <= sys.float_info.max)
