"""Mistakes of a caller, explained: what Python says of them becomes one of our own sentences.

The methods of registered classes take arguments of a few roles, which have the same names everywhere: `rng`, `belief`,
`datum`, `transition`, ... Checking them at every call would cost time in every step. So they are not checked before a
call. If it fails with an exception that is not ours, the arguments are looked at, and one that does
not fit its role is named. If all fit, the exception stands as it is: it is a bug of ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any

from numpy.random import Generator

from bayesrl.capabilities import demand
from bayesrl.core import Planner, Transition
from bayesrl.errors import BayesRLError, InvalidArgument, show

ROLES = frozenset({"rng", "belief", "datum", "transition", "last", "log"})
"""Parameters whose role is known by their name."""
HOT = frozenset({"update", "sample_means"})
"""Methods of beliefs that take a microsecond or two: they check what they are given themselves."""


def explain_failures(cls: type) -> None:
    """Let the public methods of a class that take arguments of known roles explain why they failed."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and not name.startswith("_") and name not in HOT:
            parameters = inspect.signature(method).parameters
            if ROLES & parameters.keys():
                setattr(cls, name, _explaining(cls.__name__, method))


def _explaining(owner: str, method: FunctionType) -> Callable[..., Any]:
    if method.__name__ == "plan":
        return _explaining_plan(owner, method)

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except BayesRLError:
            raise
        except Exception as wrong:
            explanation = explained(f"{owner}.{method.__name__}", method, self, args, kwargs)
            if explanation is None:
                raise
            raise explanation from wrong

    return call


def _explaining_plan(owner: str, plan: FunctionType) -> Callable[..., Any]:
    """The same for `plan`, whose signature is known: it is called in every step."""

    @wraps(plan)
    def call(self: Any, belief: Any, observation: Any, memory: Any, rng: Any, last: Any = None) -> Any:
        try:
            return plan(self, belief, observation, memory, rng, last)
        except BayesRLError:
            raise
        except Exception as wrong:
            explanation = explained(f"{owner}.plan", plan, self, (belief, observation, memory, rng, last), {})
            if explanation is None:
                raise
            raise explanation from wrong

    return call


def explained(
    owner: str, method: Callable[..., Any], self: object, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> BayesRLError | None:
    """The error that says which argument of a failed call does not fit its role, if one does not."""
    try:
        given = inspect.signature(method).bind(self, *args, **kwargs)
    except TypeError as wrong:  # arguments are missing, or there are too many
        return InvalidArgument(owner, "arguments", f"those of its signature: {wrong}", show(kwargs or args))
    given.apply_defaults()
    parameters = inspect.signature(method).parameters
    for name, x in given.arguments.items():
        if x is None and parameters[name].default is None:
            continue
        if name == "rng" and not isinstance(x, Generator):
            return InvalidArgument(owner, name, "a numpy Generator, such as numpy.random.default_rng(0)", x)
        if name in ("transition", "last") and not isinstance(x, Transition):
            return InvalidArgument(owner, name, "a Transition", x)
        if name == "datum" and "Transition" in str(parameters[name].annotation) and not isinstance(x, Transition):
            return InvalidArgument(owner, name, "a Transition", x)
        if name == "belief" and isinstance(self, Planner):
            try:
                demand(self, x)
            except BayesRLError as misfit:
                return misfit
    return None
