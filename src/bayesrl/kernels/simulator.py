"""What a compiled search asks of a belief, whatever the belief is: arrays and urns, or a compiled outcome function.

`belief.simulate(depth)` gives a simulator, a NamedTuple of arrays, and four functions read it:

    begin(model, rng)                   before a simulation: draw what is drawn once, at the root
    step(model, s, a, rng)              take action a in state s: (outcome k, next state, reward, done, mark)
    forget(model, marks, n)             after it: undo its n steps, whose marks are in that order
    wander(model, P, s, a, epsilon, rng)
                                        an action of a rollout in s, after action a (-1: none yet)

A state is a whole number: its own where states are listed (`kernels/urn.py`), else one that `belief.encode` makes of
what is observed (`kernels/row_column.py`). Outcomes of one (s, a) are told apart by k, a whole number that is not
negative. `P` holds the best actions of each state, for a rollout policy that wants them.

`implements` chooses the kernel by the type of the model when a search is compiled, and `borrowed` spares the search
from counting references, so that a search on arrays is no slower than if it had been written for them: measured, 15 to
30 ns a simulated step on 9 to 264 states, where calling a compiled `draw` from the search took 150 to 210.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, TypeVar

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from bayesrl.kernels.jit import INLINED as INLINED
from bayesrl.kernels.jit import inlined as inlined

F = TypeVar("F")


@singledispatch
def begin(model, rng):
    """Draw what a simulation draws once, at the root."""


@singledispatch
def step(model, s, a, rng):
    """(outcome k, next state, reward, done, mark) of action a in state s."""


@singledispatch
def forget(model, marks, n):
    """Undo the n steps of a simulation."""


@singledispatch
def wander(model, P, s, a, epsilon, rng):
    """An action of a rollout in s, after action a."""


def implements(operation: Any, *kinds: type) -> Callable[[F], F]:
    """This kernel is the operation for models of these kinds, compiled and (with compilation off) plain."""

    def enter(kernel: F) -> F:
        for kind in kinds:
            operation.register(kind, kernel)

        @overload(operation, INLINED, strict=False)
        def choose(model, *rest):
            return getattr(kernel, "py_func", kernel) if getattr(model, "instance_class", None) in kinds else None

        return kernel

    return enter


# Without counting references -----------------------------------------------------------------------------------------


def borrowed(model: F) -> F:
    """The same arrays for a search that only looks at them: compiled, their references are not counted.

    Numba counts the references of every array of a tuple that is passed to a function, atomically: a dozen arrays cost
    50 ns a call, more than the draw itself. The caller's `model` must outlive the search.
    """
    return model


@overload(borrowed)
def _borrowed(model):
    return lambda model: _unowned(model)


@intrinsic
def _unowned(context, model):
    def without_owner(context, builder, kind, it):
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

    def codegen(context, builder, signature, args):
        return without_owner(context, builder, model, args[0])

    return model(model), codegen
