"""Errors found after a call has failed: which argument is named, for every kind of declared type."""

import pickle
import sys
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from bayesrl._explained import _is_array, _is_number, explain_failures, explained, may_not_fit, misfit_of
from bayesrl.checks import WORD, Floats
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument, OutOfMemory

STEP = Transition(0, 1, 2.0, 3)
RNG = default_rng(0)
X = np.ones(2)


class Thing:
    """Has five states and three actions."""

    n_states, n_actions = 5, 3


class Other:
    pass


def method(self, x):
    pass


GENERATOR = "a numpy Generator, such as numpy.random.default_rng(0)"


@pytest.mark.parametrize(
    "name, hint, good, bad, expected",
    [
        ("rng", "Any", [RNG], [0, None, "x"], GENERATOR),
        ("source", "Generator", [RNG], [0], GENERATOR),
        ("source", "Generator | None", [RNG], [0], GENERATOR),
        ("transition", "Any", [STEP], [(0, 1, 2.0, 3), 5], "a Transition"),
        ("last", "Transition | None", [STEP], [5], "a Transition"),
        ("datum", "Transition", [STEP], [5], "a Transition"),
        ("rows", "Floats", [X, np.ones(2, np.int8), np.ones(2, bool)], [[1.0], 2.0, X * 1j], "an array of numbers"),
        ("rows", "NDArray[np.float64]", [X], [[1.0], 3], "an array of numbers"),
        ("rows", "F2 | None", [X], [3], "an array of numbers"),
        ("rows", "Floats | float", [X, 2.0, 3], ["a", [1.0], np.inf], "an array of numbers"),
        ("n", "int", [0, np.int8(3), WORD], [-1, 2.0, True, np.True_, WORD + 1], f"a whole number from 0 to {WORD}"),
        ("state", "int", [0, 4], [5, -1], "a whole number from 0 to 4"),
        ("s", "int", [4], [5], "a whole number from 0 to 4"),
        ("action", "int", [0, 2], [3], "a whole number from 0 to 2"),
        ("a", "int", [2], [3], "a whole number from 0 to 2"),
        ("p", "float", [0.5, 3, np.float32(1.0), True], ["a", None, [1.0], np.inf, np.nan], "a number"),
        ("p", "float | int", [0.5], ["a"], "a number"),
        ("flag", "bool", [True, np.False_], [1, "a"], "True or False"),
        ("word", "str", ["a"], [1, b"a"], "text"),
        ("other", "Self", [Thing()], [Other()], "a Thing"),
        ("other", "Thing", [Thing()], [Other()], "a Thing"),
        ("other", "Other", [Other()], [Thing(), 3], "a Other"),
        ("x", "Any", [1, "a", None], [], ""),
        ("x", "object", [1, "a"], [], ""),
        ("x", "int | str", [1, "a", 2.0], [], ""),
        ("x", "Nowhere", [1], [], ""),
    ],
)  # fmt: skip
def test_what_an_argument_must_be(name, hint, good, bad, expected):
    for x in good:
        assert misfit_of(name, x, hint, Thing(), method) is None
    for x in bad:
        assert misfit_of(name, x, hint, Thing(), method) == expected


def test_numbers_and_arrays():
    top = sys.float_info.max
    for x in (0, -3.5, np.float32(3.0), np.int8(1), top, -top, 10**300):
        assert _is_number(x)
    for x in (np.inf, -np.inf, np.nan, np.float32(np.inf), 10**400, 1j, "1", None, [1]):
        assert not _is_number(x)
    assert all(_is_array(np.ones(1, kind)) for kind in ("?", "i2", "u1", "f4"))
    assert not any(_is_array(x) for x in (np.ones(1, "c8"), np.array(["a"]), np.array([None]), [1.0]))


def test_which_sizes_may_be_wrong():
    """Arrays and anything; numbers whose limit is not known; numbers that are no index if an index is wrong."""
    index, size = IndexError("x"), ValueError("x")
    for hint in ("Floats", "F1 | None", "ArrayLike", "Any", "object", "Sequence[Any]"):
        assert may_not_fit("x", hint, Thing(), index)
    assert may_not_fit("n", "int", Thing(), index)
    assert may_not_fit("state", "int", Other(), index)
    for name in ("state", "s", "action", "a"):
        assert not may_not_fit(name, "int", Thing(), index)
    assert may_not_fit("p", "float", Thing(), size)
    assert not may_not_fit("p", "float", Thing(), index)
    assert not may_not_fit("p", "str", Thing(), size)


class Example:
    """Methods that fail as they are told."""

    n_states = 4

    def row(self, state: "int", rows: "Floats", scale: "float" = 1.0, rng: "Generator | None" = None) -> None:
        raise self.wrong

    def maybe(self, x: "int" = None, y: "int | None" = 3, *, z: "str" = "a") -> None:  # noqa: RUF013
        raise self.wrong


def said(wrong, method, *args, **kwargs):
    thing = Example()
    thing.wrong = wrong
    found = explained("Example.call", method, (thing, *args), kwargs, wrong)
    return found and str(found)


def test_the_first_argument_that_does_not_fit_is_named():
    row = Example.row
    wrong = KeyError("x")
    assert said(wrong, row, 9, "a", "b") == "Example.call: 'state' must be a whole number from 0 to 3, got 9."
    assert said(wrong, row, 3, "a", "b") == "Example.call: 'rows' must be an array of numbers, got 'a'."
    assert said(wrong, row, 3, X, "b") == "Example.call: 'scale' must be a number, got 'b'."
    assert said(wrong, row, 3, X, rng=5).startswith("Example.call: 'rng' must be a numpy Generator")
    assert said(wrong, row, 3, X, None) == "Example.call: 'scale' must be a number, got None."
    assert said(wrong, row, 3, X, 2.0, None) is None
    assert said(wrong, Example.maybe, None, None, z="b") is None
    assert said(wrong, Example.maybe, 1, 2, z=3) == "Example.call: 'z' must be text, got 3."
    assert said(wrong, row, 3).startswith("Example.call: 'arguments' must be those of its signature: missing")
    assert said(wrong, row, 3, X, bad=1).startswith(
        "Example.call: 'arguments' must be those of its signature: got an unexp"
    )


def test_sizes_are_named_if_all_types_fit():
    row = Example.row
    for kind in (IndexError, ValueError, OverflowError):
        assert said(kind("too   big\nhere"), row, 3, X) == (
            "Example.call: 'rows' must be one that fits (too big here), got an array of shape (2,)."
        )
    assert said(KeyError("x"), row, 3, X) is None
    assert said(TypeError("x"), row, 3, X) is None
    typing_error = type("TypingError", (Exception,), {})
    assert said(typing_error("axes"), row, 3, X).startswith("Example.call: 'rows' must be one that fits (axes)")
    assert said(ValueError("x"), Example.maybe, None, 4) == "Example.call: 'y' must be one that fits (x), got 4."


def test_memory_that_runs_out_is_no_wrong_argument():
    """Nor is Ctrl-C or the end of the program. What was asked for is said, whatever the arguments are."""

    class Greedy:
        def plan(self, belief, observation, memory, rng, last=None):
            raise belief

        def update(self, datum, rng=None):
            raise datum

        def step(self, state, action, rng):
            raise state

        def rows(self, state: int):
            raise state

    made = explain_failures(Greedy)()
    calls = {
        "plan": lambda error: made.plan(error, 0, None, RNG),
        "update": lambda error: made.update(error, RNG),
        "step": lambda error: made.step(error, 0, RNG),
        "rows": made.rows,
    }
    for name, call in calls.items():
        with pytest.raises(OutOfMemory) as error:
            call(MemoryError("Unable to allocate 298. GiB"))
        assert str(error.value) == (
            f"Greedy.{name} needs more memory than there is (Unable to allocate 298. GiB). "
            "Use a sparser prior, or fewer states or samples."
        )
        assert isinstance(error.value, MemoryError)
        assert isinstance(error.value.__cause__, MemoryError)
        assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
        for kind in (KeyboardInterrupt, SystemExit):
            with pytest.raises(kind):
                call(kind())


def test_a_planner_says_what_a_belief_lacks():
    """The belief comes first; the error is the planner's own demand."""
    from bayesrl.bandits import Thompson

    found = explained("Thompson.plan", Thompson.plan, (Thompson(), 5, "seen", None, RNG), {}, KeyError("x"))
    assert isinstance(found, Incompatible)
    assert "which int lacks" in str(found)


def test_which_methods_explain():
    """Public methods with arguments, inherited ones too; static and class methods stay what they are."""

    class Base:
        def inherited(self, n: "int"):
            raise KeyError("foreign")

        def size(self):
            raise KeyError("foreign")

    @explain_failures
    class Wrapped(Base):
        n_states = 2

        def row(self, state: "int"):
            if state == 1:
                raise InvalidArgument("Own", "x", "y", 1)
            raise KeyError("foreign")

        def update(self, datum: "Transition", rng: "Generator | None" = None):
            raise KeyError("foreign")

        def step(self, state: "int", action: "int", rng: "Generator"):
            raise KeyError("foreign")

        def plan(self, belief: "object", observation: "Any", memory: "Any", rng: "Generator", last=None):
            raise KeyError("foreign")

        def quantile(self, n: "int"):
            raise KeyError("foreign")

        def _private(self, n: "int"):
            raise KeyError("foreign")

        def listed(self, n: "int"):
            yield n

        @staticmethod
        def of(n: "int"):
            raise KeyError("foreign")

        @classmethod
        def made(cls, n: "int"):
            assert cls is Wrapped
            raise KeyError("foreign")

        @property
        def width(self):
            return 1

    it = Wrapped()
    for call, named in (
        (lambda: it.row(2), "Wrapped.row: 'state'"), (lambda: it.row(state="a"), "Wrapped.row: 'state'"),
        (lambda: it.inherited(-1), "Wrapped.inherited: 'n'"), (lambda: it.update(5), "Wrapped.update: 'datum'"),
        (lambda: it.update(STEP, 5), "Wrapped.update: 'rng'"), (lambda: it.step("a", 0, RNG), "Wrapped.step: 'state'"),
        (lambda: it.step(0, "a", RNG), "Wrapped.step: 'action'"), (lambda: it.step(0, 0, 7), "Wrapped.step: 'rng'"),
        (lambda: it.plan(0, 0, 0, 7), "Wrapped.plan: 'rng'"),
        (lambda: it.plan(0, 0, 0, RNG, 3), "Wrapped.plan: 'last'"), (lambda: Wrapped.of("a"), "Wrapped.of: 'n'"),
        (lambda: Wrapped.made("a"), "Wrapped.made: 'n'"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument) as error:
            call()
        assert str(error.value).startswith(f"{named} must be ")
        assert isinstance(error.value.__cause__, KeyError)
    for call in (
        lambda: it.row(0), lambda: it.inherited(3), lambda: it.size(), lambda: it.quantile("a"),
        lambda: it._private("a"), lambda: it.update(STEP), lambda: it.update(STEP, RNG), lambda: it.step(0, 0, RNG),
        lambda: it.plan(0, 0, 0, RNG), lambda: Wrapped.of(3), lambda: Wrapped.made(3),
    ):  # fmt: skip
        with pytest.raises(KeyError, match="foreign"):
            call()
    with pytest.raises(InvalidArgument, match="Own: 'x'"):
        it.row(1)
    assert list(it.listed("a")) == ["a"]
    assert it.width == 1
    assert isinstance(vars(Wrapped)["of"], staticmethod)
    assert isinstance(vars(Wrapped)["made"], classmethod)
    for name in ("quantile", "_private", "listed", "size"):
        assert not hasattr(getattr(Wrapped, name), "__wrapped__")
    again = explain_failures(Wrapped)
    assert not hasattr(again.row.__wrapped__, "__wrapped__"), "a method is wrapped once"


def test_methods_of_builtins_stay_as_they_are():
    @explain_failures
    class Table(dict):
        def row(self, n: "int"):
            raise KeyError("foreign")

    table = Table(a=1)
    assert table.get("b", 3) == 3
    assert table.pop("a") == 1
    assert Table.get is dict.get
    with pytest.raises(InvalidArgument, match=r"Table\.row: 'n' must be"):
        table.row("a")


def test_annotations_that_are_no_texts():
    """A module without `from __future__ import annotations` has the types themselves: its arguments are named too."""

    def counts(self, state: int, other: Other | None, rows: np.ndarray) -> None:
        state + other.n

    for given, name in (((Thing(), "x", None, X), "state"), ((Thing(), 1, 3, X), "other")):
        error = explained("Thing.counts", counts, given, {}, TypeError("no"))
        assert isinstance(error, InvalidArgument)
        assert error.name == name
