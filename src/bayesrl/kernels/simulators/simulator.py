"""The functions by which a compiled search simulates a belief.

`belief.simulate(depth)` returns a `Simulator`, a NamedTuple of arrays. Six functions take it as `model`:

    begin(model, rng)                   start a simulation: draw what is drawn once, at the root
    root(model, s, rng)                 the state in which it starts: s, or a hidden state, drawn from the belief
    mask_illegal(model, s, Q, N, h)     at a new node h of the tree: mask the actions that are not legal in s
    step(model, s, a, rng)              take action a in state s: (outcome k, next state, reward, done, mark)
    forget(model, marks, n)             end a simulation: undo its n steps, given their marks in order
    rollout_action(model, P, s, a, epsilon, rng)
                                        choose an action of a rollout in s, after action a (-1 if there is none)

A state is an integer: its index if states are listed (`kernels/simulators/urn.py`), otherwise what `belief.encode`
computes from the observation (`kernels/simulators/infinite_grid_simulator.py`). An outcome of (s, a) is identified by
an integer k >= 0; where the state is hidden, k is the observation. `P` holds the best actions of each state, for
rollout policies that use them.

`implements` chooses the kernel by the type of the model when a search is compiled, and `borrowed` avoids reference
counting. A search is then as fast as one that was written for a single type of model: it takes 15 to 30 ns for a
simulated step on 9 to 264 states, compared with 150 to 210 ns if the search calls a compiled `draw`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, Protocol, TypeVar

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.random import Generator

from bayesrl.kernels.arrays import F2, I1, I2
from bayesrl.kernels.jit import INLINED as INLINED
from bayesrl.kernels.jit import inlined as inlined
from bayesrl.kernels.jit import overloads, plain

F = TypeVar("F", bound=Callable[..., object])
M = TypeVar("M")


class Simulator(Protocol):
    """A belief in compiled form: a NamedTuple of arrays for whose class `step` and its kin are implemented.

    `grep "implements(step"` lists the classes. Protocols can ask for the fields of a NamedTuple only;
    tests/kernels/simulators/test_simulators.py checks that every belief's simulator has the functions.
    """

    @property
    def _fields(self) -> tuple[str, ...]: ...


@singledispatch
def begin(model: Simulator, rng: Generator) -> None:
    """Start a simulation: draw what is drawn once, at the root."""


@singledispatch
def root(model: Simulator, s: int, rng: Generator) -> int:
    """The state in which a simulation starts: s, unless the model draws it."""
    return s


@overloads(root, inline=True)
def _root(model: types.Type, *rest: types.Type) -> Callable[..., int] | None:
    own = getattr(model, "instance_class", object)
    return (lambda model, s, rng: s) if own is object or own not in root.registry else None


@singledispatch
def mask_illegal(model: Simulator, s: int, Q: F2, N: I2, h: int) -> None:
    """Mask actions of a new node that are not legal in s: value minus infinity, one visit. Usually all are legal."""


@overloads(mask_illegal, inline=True)
def _mask_illegal(model: types.Type, *rest: types.Type) -> Callable[..., None] | None:
    own = getattr(model, "instance_class", object)
    return (lambda model, s, Q, N, h: None) if own is object or own not in mask_illegal.registry else None


@singledispatch
def step(model: Simulator, s: int, a: int, rng: Generator) -> tuple[int, int, float, bool, int]:
    """Take action a in state s; returns (outcome k, next state, reward, done, mark)."""
    raise NotImplementedError


@singledispatch
def forget(model: Simulator, marks: I1, n: int) -> None:
    """Undo the n steps of a simulation."""


@singledispatch
def rollout_action(model: Simulator, P: I2, s: int, a: int, epsilon: float, rng: Generator) -> int:
    """Choose an action of a rollout in s, after action a."""
    raise NotImplementedError


def implements(operation: Any, *kinds: type) -> Callable[[F], F]:
    """Register a kernel as the implementation of an operation for these types of models, compiled or not."""

    def enter(kernel: F) -> F:
        for kind in kinds:
            operation.register(kind, kernel)

        @overloads(operation, inline=True)
        def choose(model: types.Type, *rest: types.Type) -> Callable[..., object] | None:
            return plain(kernel) if getattr(model, "instance_class", None) in kinds else None

        return kernel

    return enter


# Avoiding reference counts -------------------------------------------------------------------------------------------


def borrowed(model: M) -> M:
    """The same arrays without reference counts, for a search that does not keep them.

    Numba counts the references of every array of a tuple that is passed to a function, atomically. A dozen arrays cost
    50 ns per call, which is more than the draw itself. The caller's `model` must outlive the search.
    """
    return model


@overloads(borrowed)
def _borrowed(model: types.Type) -> Callable[[M], M]:
    return lambda model: _unowned(model)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _unowned(context: Any, model: Any) -> Any:
    def without_owner(context: Any, builder: Any, kind: Any, it: Any) -> Any:
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, it)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)  # an array that owns nothing
            return array._getvalue()
        if isinstance(kind, types.BaseTuple):
            parts = cgutils.unpack_tuple(builder, it)
            return context.make_tuple(
                builder, kind, [without_owner(context, builder, *x) for x in zip(kind, parts, strict=True)]
            )
        return it

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return without_owner(context, builder, model, args[0])

    return model(model), codegen
