"""A plugin for mypy: the elements of numpy arrays have types.

numpy's stubs say that `x[i]`, iteration, `x.sum()` and a ufunc of a number are `Any`. The element's type and the number
of axes are known from the type of the array, so this plugin puts them in. An element of float64 is called `float`, a
signed integer of any width `int` and a bool `bool`: what Numba makes of them, and what arithmetic does with them. An
unsigned integer keeps its own type, because arithmetic with a signed one makes a float of both. If the number of axes
or the kind of an index is unknown, the answer of the stubs stays.
"""

from collections.abc import Callable

from mypy.plugin import AttributeContext, FunctionContext, MethodContext, Plugin
from mypy.types import AnyType, Instance, LiteralType, NoneType, TupleType, Type, TypeOfAny, UnionType, get_proper_type

ARRAY = "numpy.ndarray"
UFUNCS = {f"numpy._typing._ufunc._UFunc_Nin{n}_Nout1" for n in (1, 2)}
REDUCTIONS = {"sum", "prod", "min", "max", "mean", "std", "var", "any", "all"}
MEANS = {"mean", "std", "var"}
ADDING = {"sum", "prod"}
OPERATORS = {f"__{r}{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow") for r in ("", "r")}
OPERATORS |= {f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor")}
PREDICATES = {"isnan", "isinf", "isfinite", "signbit", "logical_not", "logical_and", "logical_or", "logical_xor"} | {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"
}  # fmt: skip
KEEPS = {"maximum", "minimum", "add", "subtract", "multiply", "absolute", "negative", "sign", "square", "power"} | {
    "floor_divide", "remainder", "fmax", "fmin", "positive", "clip"
}  # fmt: skip
"""Ufuncs that make an integer of integers."""
UNKNOWN = 99
"""More axes than any array: an unknown number of axes wins over a known one."""


def names_of(kind: Type) -> set[str]:
    """The names of a type's classes, its own and its parents'."""
    kind = get_proper_type(kind)
    if isinstance(kind, LiteralType):
        kind = kind.fallback
    return {base.fullname for base in kind.type.mro} if isinstance(kind, Instance) else set()


def scalar(array: Instance) -> Type | None:
    """numpy's type of an array's elements."""
    dtype = get_proper_type(array.args[1]) if len(array.args) == 2 else None
    return get_proper_type(dtype.args[0]) if isinstance(dtype, Instance) and dtype.args else None


def element(array: Instance) -> str | None:
    """The Python name of an array's elements, None if they are not numbers."""
    kind = scalar(array)
    return python_name(names_of(kind)) if kind is not None else None


def python_name(names: set[str]) -> str | None:
    """float, int or bool."""
    for numpy_name, name in (("floating", "float"), ("integer", "int"), ("bool", "bool")):
        if f"numpy.{numpy_name}" in names:
            return name
    for name in ("bool", "int", "float"):
        if f"builtins.{name}" in names:
            return name
    return None


def axes(array: Instance) -> int | None:
    """The number of axes, None if unknown."""
    shape = get_proper_type(array.args[0]) if array.args else None
    return len(shape.items) if isinstance(shape, TupleType) else None


def dtype_of(ctx: MethodContext | FunctionContext, name: str) -> Instance:
    """numpy's dtype of a Python number."""
    width = AnyType(TypeOfAny.explicit)
    kind = {
        "bool": ctx.api.named_generic_type("numpy.bool", [ctx.api.named_generic_type("builtins.bool", [])]),
        "int": ctx.api.named_generic_type("numpy.signedinteger", [width]),
        "float": ctx.api.named_generic_type("numpy.float64", []),
    }[name]
    return ctx.api.named_generic_type("numpy.dtype", [kind])


def with_axes(ctx: MethodContext | FunctionContext, array: Instance, n: int, of: str | None = None) -> Type:
    """An array of the same elements (or of `of`) with n axes; the element itself for n = 0."""
    if n == 0:
        name, kind = of or element(array), scalar(array)
        if of is None and kind is not None and "numpy.unsignedinteger" in names_of(kind):
            return kind
        return ctx.default_return_type if name is None else ctx.api.named_generic_type(f"builtins.{name}", [])
    whole = ctx.api.named_generic_type("builtins.int", [])
    shape = TupleType([whole] * n, ctx.api.named_generic_type("builtins.tuple", [whole]))
    return array.copy_modified(args=[shape, array.args[1] if of is None else dtype_of(ctx, of)])


def unknown_axes(ctx: MethodContext | FunctionContext) -> Type:
    """The shape of an array with an unknown number of axes."""
    return ctx.api.named_generic_type("builtins.tuple", [AnyType(TypeOfAny.explicit)])


def array_in(kind: Type) -> Instance | None:
    """The type as an array's, None if it is another."""
    kind = get_proper_type(kind)
    return kind if isinstance(kind, Instance) and kind.type.fullname == ARRAY else None


def shaped(ctx: AttributeContext) -> Type:
    """x.shape, if the number of axes is unknown: ints nevertheless."""
    array = array_in(ctx.type)
    if array is None or axes(array) is not None:
        return ctx.default_attr_type
    return ctx.api.named_generic_type("builtins.tuple", [ctx.api.named_generic_type("builtins.int", [])])


def indexed(ctx: MethodContext) -> Type:
    """x[key]."""
    array = array_in(ctx.type)
    n = None if array is None else axes(array)
    if array is None or n is None or not ctx.arg_types or not ctx.arg_types[0]:
        return ctx.default_return_type
    key = get_proper_type(ctx.arg_types[0][0])
    taken = kept = added = 0
    for part in map(get_proper_type, key.items if isinstance(key, TupleType) else [key]):
        names = names_of(part)
        if isinstance(part, NoneType):
            added += 1
        elif "builtins.int" in names or "numpy.integer" in names:
            taken += 1
        elif "builtins.slice" in names:
            kept += 1
        elif "types.EllipsisType" not in names and "builtins.ellipsis" not in names:
            return ctx.default_return_type
    if taken + kept > n:
        ctx.api.fail(f"An array of {n} axes is given {taken + kept} indices", ctx.context)
        return ctx.default_return_type
    return with_axes(ctx, array, n - taken + added)


def iterated(ctx: MethodContext) -> Type:
    """iter(x)."""
    array = array_in(ctx.type)
    n = None if array is None else axes(array)
    if array is None or not n or (n == 1 and element(array) is None):
        return ctx.default_return_type
    return ctx.api.named_generic_type("typing.Iterator", [with_axes(ctx, array, n - 1)])


def combined(ctx: MethodContext) -> Type:
    """x + y, x < y and their kind: as many axes as the operand with most of them."""
    made, left = array_in(ctx.default_return_type), array_in(ctx.type)
    other = get_proper_type(ctx.arg_types[0][0]) if ctx.arg_types and ctx.arg_types[0] else None
    if made is None or left is None or other is None:
        return ctx.default_return_type
    right = array_in(other)
    known = [axes(left)] + ([] if right is None else [axes(right)])
    if None in known or (right is None and python_name(names_of(other)) is None):
        return ctx.default_return_type
    return with_axes(ctx, made, max(n for n in known if n is not None))


def multiplied(ctx: MethodContext) -> Type:
    """x @ y: the last axis of x meets the last but one of y."""
    left, right = array_in(ctx.type), array_in(ctx.arg_types[0][0]) if ctx.arg_types and ctx.arg_types[0] else None
    if left is None or right is None:
        return ctx.default_return_type
    n, m, of = axes(left), axes(right), {element(left), element(right)}
    if not n or not m or None in of:
        return ctx.default_return_type
    left_over = max(n, m) if min(n, m) > 1 else max(n, m) - 1 if max(n, m) > 1 else 0
    return with_axes(ctx, left, left_over, "float" if "float" in of else "int")


def over_axes(name: str, ctx: MethodContext | FunctionContext, array: Instance | None) -> Type:
    """x.sum(), np.sum(x) and their kind: over all axes, or over one."""
    of = None if array is None else element(array)
    if array is None or of is None or not isinstance(get_proper_type(ctx.default_return_type), (AnyType, UnionType)):
        return ctx.default_return_type
    if name in MEANS:
        of = "float"
    elif name in ("any", "all"):
        of = "bool"
    elif of == "bool" and name in ADDING:
        of = "int"
    given = zip(ctx.callee_arg_names, ctx.arg_types, strict=False)
    axis = [kind for argument, kinds in given if argument == "axis" for kind in kinds]
    if any(not isinstance(get_proper_type(kind), NoneType) for kind in axis):
        n = axes(array)
        one = all("builtins.int" in names_of(kind) for kind in axis)
        if n and one:
            return with_axes(ctx, array, n - 1, of)
        return array.copy_modified(args=[unknown_axes(ctx), dtype_of(ctx, of)])
    return ctx.api.named_generic_type(f"builtins.{of}", [])


def reduced(name: str) -> Callable[[MethodContext], Type]:
    """The hook of x.sum()."""
    return lambda ctx: over_axes(name, ctx, array_in(ctx.type))


def reduced_by_function(name: str) -> Callable[[FunctionContext], Type]:
    """The hook of np.sum(x)."""
    return lambda ctx: over_axes(name, ctx, array_in(ctx.arg_types[0][0]) if ctx.arg_types[0] else None)


def ufunc(ctx: MethodContext) -> Type:
    """np.exp(number), np.maximum(number, number), np.exp(array) and their kind."""
    own = get_proper_type(ctx.type)
    label = get_proper_type(own.args[0]) if isinstance(own, Instance) and own.args else None
    if not isinstance(own, Instance) or not isinstance(label, LiteralType) or not isinstance(label.value, str):
        return ctx.default_return_type
    inputs = 2 if "Nin2" in own.type.name else 1
    if any(ctx.arg_types[inputs:]):  # out, dtype and others are left to the stubs
        return ctx.default_return_type
    kinds, arrays = [], []
    for given in (get_proper_type(kinds[0]) for kinds in ctx.arg_types[:inputs] if kinds):
        array = array_in(given)
        if array is not None:
            kinds.append(element(array))
            arrays.append(array)
        else:
            kinds.append(python_name(names_of(given)))
    if len(kinds) < inputs or None in kinds:
        return ctx.default_return_type
    if label.value in PREDICATES:
        of = "bool"
    elif label.value in KEEPS and set(kinds) <= {"int", "bool"}:
        of = "int"
    else:
        of = "float"
    if not arrays:
        return ctx.api.named_generic_type(f"builtins.{of}", [])
    widest = max(arrays, key=lambda array: axes(array) or UNKNOWN)
    return widest.copy_modified(args=[widest.args[0], dtype_of(ctx, of)])


class NumpyElements(Plugin):
    """The hooks by method."""

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """The hook of a method, None for nearly all of them."""
        owner, _, name = fullname.rpartition(".")
        if owner == ARRAY:
            if name == "__getitem__":
                return indexed
            if name == "__iter__":
                return iterated
            if name == "__matmul__":
                return multiplied
            if name in OPERATORS:
                return combined
            if name in REDUCTIONS:
                return reduced(name)
        if owner in UFUNCS and name == "__call__":
            return ufunc
        return None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """The hook of a function."""
        owner, _, name = fullname.rpartition(".")
        if owner == "numpy._core.fromnumeric" and name in REDUCTIONS | {"amin", "amax"}:
            return reduced_by_function(name)
        return None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """The hook of an attribute."""
        return shaped if fullname == f"{ARRAY}.shape" else None


def plugin(version: str) -> type[Plugin]:
    """What mypy asks for."""
    return NumpyElements
