"""A pytest plugin for `make bounds`: compiled code may not count from the end of an array, but by a constant.

Numba's own check of bounds comes after an index below zero has been taken as one that counts from the end, so that it
sees only those below minus the length. Here the first step is left out unless the index is a constant, such as -1.
"""

from llvmlite import ir
from numba import types
from numba.np import arrayobj

wrapped = arrayobj.fix_integer_index


def is_constant(value):
    """Whether a value is a constant, also as a part of a tuple that was just put together."""
    if isinstance(value, ir.instructions.ExtractValue):
        (made,), place = value.operands, list(value.indices)
        while isinstance(made, ir.instructions.InsertValue):
            if list(made.indices) == place:
                return is_constant(made.operands[1])
            made = made.operands[0]
    return isinstance(value, ir.Constant)


def fix_integer_index(context, builder, idxty, idx, size):
    """The index as it is, for the check of bounds that follows."""
    if idxty.signed and not is_constant(idx):
        return context.cast(builder, idx, idxty, types.intp)
    return wrapped(context, builder, idxty, idx, size)


arrayobj.fix_integer_index = fix_integer_index


def pytest_configure():
    """The laws of beliefs take fewer replicates: they call the same compiled functions, and `make test` takes all."""
    from bayesrl.testing import laws

    laws.check_martingale.__kwdefaults__["draws"] = 800
    laws.check_calibration.__kwdefaults__["replicates"] = 300
