"""Declared parameters: what a declaration says, accepts and refuses, and what the decorators make of a class."""

import dataclasses
import inspect
import math
from dataclasses import KW_ONLY, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from bayesrl.errors import InvalidArgument
from bayesrl.parameters import (
    Above,
    AtLeast,
    Declaration,
    Shape,
    Within,
    check,
    declarations,
    declared,
    shared,
    unchecked,
    value,
    with_parameters,
)
from bayesrl.traits import Traits

NONE = Within()
WHOLE = Declaration("n", int, (), False, AtLeast(2), "", "How many.")


@pytest.mark.parametrize(
    "kind, words, optional, bounds, shape, said",
    [
        (int, (), False, AtLeast(2), "", "whole number at least 2"),
        (int, (), True, Within(2, 5), "", "whole number in [2, 5] or None"),
        (float, (), False, Above(0.5), "", "number greater than 0.5"),
        (float, (), False, Within(0.0, 1.0, open_high=True), "", "number in [0, 1)"),
        (float, (), False, Within(0.0, 1.0, open_low=True), "", "number in (0, 1]"),
        (float, ("auto",), False, Within(high=3.0), "", 'number at most 3 or "auto"'),
        (float, ("a", "b"), True, Within(high=3.0, open_high=True), "", 'number less than 3, "a", "b" or None'),
        (bool, (), False, NONE, "", "True or False"),
        (None, ("x",), False, NONE, "", '"x"'),
        (None, ("x", "y"), False, NONE, "", '"x" or "y"'),
        (None, (), True, NONE, "", "None"),
        (None, (), False, NONE, "", ""),
        (np.ndarray, (), False, NONE, "", "array"),
        (np.ndarray, (), False, AtLeast(0), "(S, A)", "array of shape (S, A) at least 0"),
        (str, (), False, NONE, "", ""),
    ],
)
def test_a_declaration_in_words(kind, words, optional, bounds, shape, said):
    assert Declaration("x", kind, words, optional, bounds, shape, "").expects == said


@pytest.fixture
def sample():
    """A declared class, made in the test."""

    @declared
    class Sample:
        """What is sampled.

        And more about it.
        """

        count: Annotated[int, Within(1, 4), "How many."]
        rate: Annotated[float, Within(0.0, 2.0, open_low=True)] = 0.5
        how: Annotated[Literal["fast", "slow"], "In which way."] = "slow"
        limit: Annotated[int | Literal["auto"] | None, AtLeast(1), "The limit."] = None
        scale: Annotated[float | Literal["auto"], Above(0), "The scale."] = "auto"
        firm: Annotated[bool, "Whether it is firm."] = False
        plain: int = 3

        def __post_init__(self) -> None:
            if self.count == 3:
                raise ValueError("never three")

    return Sample


def test_declarations_are_read_from_annotations(sample):
    found = {d.name: d for d in declarations(sample)}
    assert list(found) == ["count", "rate", "how", "limit", "scale", "firm"]
    assert found["count"] == Declaration("count", int, (), False, Within(1, 4), "", "How many.")
    assert found["rate"] == Declaration("rate", float, (), False, Within(0.0, 2.0, True), "", "")
    assert found["how"][1:4] == (None, ("fast", "slow"), False)
    assert found["limit"] == Declaration("limit", int, ("auto",), True, AtLeast(1), "", "The limit.")
    assert found["scale"][1:4] == (float, ("auto",), False)
    assert found["firm"].kind is bool

    def call(x: Annotated[NDArray[np.float64], Shape("(n,)"), "Data."], y: int, z: Annotated[int | float, "Either."]):
        return x, y, z

    assert [(d.name, d.kind, d.shape) for d in declarations(call)] == [("x", np.ndarray, "(n,)"), ("z", None, "")]


def test_the_parameters_section(sample):
    """After the summary, before the rest; defaults where there are some, no colon where nothing is expected."""
    expected = """What is sampled.

    Parameters
    ----------
    count: whole number in [1, 4]
        How many.
    rate = 0.5: number in (0, 2]
    how = 'slow': "fast" or "slow"
        In which way.
    limit = None: whole number at least 1, "auto" or None
        The limit.
    scale = 'auto': number greater than 0 or "auto"
        The scale.
    firm = False: True or False
        Whether it is firm.

    And more about it.
    """
    assert [x.strip() for x in sample.__doc__.split("\n")] == [x.strip() for x in expected.split("\n")]
    assert sample.__doc__.startswith(expected.partition("    And more")[0])
    free = Declaration("x", None, (), False, NONE, "", "Anything.")
    one = "Short.\n\n    Parameters\n    ----------\n    x\n        Anything.\n    "
    assert with_parameters("Short.", (free,), {}) == one
    assert with_parameters("Short.", (free,), {"x": field(default=3)}) == one
    assert "x = 3\n" in with_parameters("Short.", (free,), {"x": 3})


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"count": 0}, "'count' must be a whole number of at least 1 and at most 4, got 0."),
        ({"count": 5}, "'count' must be a whole number of at least 1 and at most 4, got 5."),
        ({"count": 2.0}, "'count' must be a whole number"),
        ({"rate": 0.0}, "'rate' must be in (0, 2], got 0.0."),
        ({"rate": math.nextafter(2.0, 3.0)}, "'rate' must be in (0, 2]"),
        ({"how": "medium"}, "'how' must be one of fast, slow, got 'medium'."),
        ({"how": 1}, "'how' must be one of fast, slow, got 1."),
        ({"limit": 0}, "'limit' must be a whole number of at least 1, got 0."),
        ({"limit": "none"}, "'limit' must be a whole number or \"auto\", got 'none'."),
        ({"scale": "none"}, "'scale' must be a number or \"auto\", got 'none'."),
        ({"scale": 0.0}, "'scale' must be greater than 0, got 0.0."),
        ({"scale": None}, "'scale' must be greater than 0, got None."),
        ({"firm": 1}, "'firm' must be True or False, got 1."),
    ],
)
def test_constructors_check_their_fields(sample, given, sentence):
    with pytest.raises(InvalidArgument) as error:
        sample(**{"count": 2} | given)
    assert str(error.value).startswith(f"Sample: {sentence}")


def test_what_constructors_accept(sample):
    for given in (
        {"count": 1}, {"count": 4}, {"rate": 2.0}, {"rate": 1e-100}, {"how": "fast"}, {"limit": "auto"}, {"limit": 1},
        {"limit": 10**9}, {"scale": 1e100}, {"firm": True}, {"plain": "not checked"},
    ):  # fmt: skip
        made = sample(**{"count": 2} | given)
        assert all(getattr(made, name) == x for name, x in given.items())
    with pytest.raises(ValueError, match="never three"):
        sample(3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample(2).count = 3
    assert not hasattr(sample(2), "__dict__")
    assert check("Owner", WHOLE, 2) == 2
    down = Declaration("n", int, (), False, Within(-math.inf, 3), "", "")
    assert [check("Owner", down, n) for n in (3, -(10**12))] == [3, -(10**12)]
    with pytest.raises(InvalidArgument, match="at most 3"):
        check("Owner", down, 4)


@pytest.fixture
def held():
    """A class of values, made in the test."""

    @value
    class Held:
        """It holds arrays."""

        table: Annotated[NDArray[np.float64], AtLeast(0), Shape("(n, 2)"), "A table."]
        weight: Annotated[float, Above(0), "A weight."] = 1.0
        note: Any = field(default="", compare=False)

        traits: ClassVar[Traits] = Traits(depends_on_data=("sum",))

    return Held


def test_values_hold_copies_that_cannot_be_changed(held):
    given = np.array([[1.0, 2.0]])
    made = held(given)
    given[0, 0] = 7.0
    assert made.table.tolist() == [[1.0, 2.0]]
    assert not made.table.flags.writeable
    for bad in ([[-1.0]], [[np.nan]], "a", [[1e101]]):
        with pytest.raises(InvalidArgument, match="Held: 'table' must be"):
            held(bad)
    for bad in (0.0, 1e-101, 1e101):
        with pytest.raises(InvalidArgument, match="Held: 'weight' must be"):
            held(given, bad)
    copy = object.__new__(held)  # as pickle does
    copy.__setstate__({"table": np.array([[1.0, 2.0]]), "weight": 1.0, "note": ""})
    assert copy == made
    assert not copy.table.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.weight = 2.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


def test_values_are_equal_if_all_compared_fields_are(held):
    x = np.array([[1.0, 2.0]])
    assert held(x) == held(x.copy()) == held(x, 1.0, "other")
    assert held(x) != held(x, 2.0)
    assert held(x) != held(x + 1.0)
    assert held(x) != (x, 1.0)
    assert held(x).__eq__(3) is NotImplemented


def test_replacing_without_checks(held):
    """Cached values are kept, but for those that depend on data, unless they are given."""
    made = held(np.ones((1, 2)))
    made.__dict__.update(sum=2.0, size=1)
    new = unchecked(made, weight=-5.0)
    assert (new.weight, new.size, made.weight) == (-5.0, 1, 1.0)
    assert "sum" not in vars(new)
    assert made.sum == 2.0
    assert unchecked(made, sum=3.0).sum == 3.0
    assert type(new) is held


def test_classes_of_other_kinds():
    """Text annotations are read in their module; a comparison or a constructor of a class's own is kept."""

    @declared
    class Told:
        n: "Annotated[int, AtLeast(2), 'How many.']" = 5

    assert declarations(Told) == (Declaration("n", int, (), False, AtLeast(2), "", "How many."),)
    assert "n = 5: whole number at least 2" in Told.__doc__
    with pytest.raises(InvalidArgument, match="Told: 'n' must be a whole number of at least 2, got 1"):
        Told(1)

    @value
    class Own:
        """It has nothing to declare."""

        x: int

        def __init__(self, y):
            object.__setattr__(self, "x", 2 * y)

        def __eq__(self, other):
            return "asked"

    assert Own(3).x == 6
    assert (Own(3) == 4) == "asked"
    assert Own.__doc__ == "It has nothing to declare."

    @declared
    class Renamed:
        """Called otherwise."""

        inside: Annotated[int, AtLeast(0), "A number."]

        traits: ClassVar[Traits] = Traits(renamed={"inside": "outside"})

    assert [d.name for d in declarations(Renamed)] == ["outside"]
    assert (Above(3.0).open_low, Above(3.0).low, AtLeast(3.0).open_low) == (True, 3.0, False)


# Base classes --------------------------------------------------------------------------------------------------------


@shared
class Far:
    first: Annotated[int, AtLeast(1), "The first."] = 1
    _: KW_ONLY
    end: Annotated[float, Above(0), "The end."] = 0.5
    rule: Annotated[Literal["a", "b"], "A rule."] = "a"


@shared
class Near(Far):
    second: Annotated[int, "The second."] = 2
    _: KW_ONLY
    late: Annotated[int, "Late."] = 8
    kept: list[int] | None = dataclasses.field(init=False, default=None, repr=False)
    rule: Annotated[Literal["b", "c"], "Another rule."] = "b"


def test_fields_of_base_classes():
    """The first ones before a class's own, the others behind them, those of the nearest class first."""

    @declared
    class Own(Near):
        """An example."""

        x: Annotated[int, AtLeast(0), "Its own."] = 5
        end: Annotated[float, Above(1), "Declared again."] = 1.5

        def __post_init__(self):
            assert self.end < 9.0

    defaults = {"first": 1, "second": 2, "x": 5, "end": 1.5, "late": 8, "rule": "b"}
    told = inspect.signature(Own).parameters.values()
    assert {p.name: p.default for p in told} == defaults
    assert [d.name for d in declarations(Own)] == list(defaults)
    assert list(Own.__slots__) == ["first", "second", "x", "end", "late", "kept", "rule"]
    assert Own().kept is None
    assert all(f"    {name} = {default!r}: " in Own.__doc__ for name, default in defaults.items())
    assert repr(Own(3, 4, 6)).endswith("Own(first=3, second=4, x=6, end=1.5, late=8, rule='b')")
    for wrong in ({"first": 0}, {"end": 1.0}, {"rule": "a"}, {"late": 0.5}):
        with pytest.raises(InvalidArgument, match=f"Own: '{next(iter(wrong))}'"):
            Own(**wrong)
    assert dataclasses.replace(Own(), late=1).late == 1
    assert (Far.first, Near.rule) == (1, "b")  # the base classes stay as they are
