"""Checks of values at their limits: the value at a limit is accepted or refused as said, and the sentence says why."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl import BayesAgent, checks, make_world, run
from bayesrl.beliefs import GPTD, GPDynamics, NormalWishart
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.checks import LARGEST, ROW_SUM_TOLERANCE, SINGLE_ROW_SUM_TOLERANCE, SMALLEST, TINY, WORD
from bayesrl.continuous import GPPOMDP, ContinuousForwardSearch, LazyPSRL, NormalWishartDynamics
from bayesrl.core import Transition
from bayesrl.errors import BrokenContract, InvalidArgument
from bayesrl.models.policy import GaussianPolicy, SoftmaxPolicy
from bayesrl.pacbayes import select

INF = math.inf


def refused(call, *args, **kwargs):
    """The sentence with which a call is refused."""
    with pytest.raises(InvalidArgument) as error:
        call("Owner", "name", *args, **kwargs)
    said = str(error.value)
    assert said.startswith("Owner: 'name' must be ")
    return said.removeprefix("Owner: 'name' must be ")


def just_below(x):
    return math.nextafter(x, -INF)


def just_above(x):
    return math.nextafter(x, INF)


# Numbers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("low, high", [(-1.5, 2.5), (-INF, 2.5), (-1.5, INF), (-INF, INF)])
def test_ends_of_intervals(low, high, above, below):
    """An open end is refused, a closed one accepted; one step inside is accepted, one outside refused."""
    kind = {"above": above, "below": below}
    if low > -INF and high < INF:
        said = f"in {'(' if above else '['}-1.5, 2.5{')' if below else ']'}"
    elif low > -INF:
        said = f"{'greater than' if above else 'at least'} -1.5"
    elif high < INF:
        said = f"{'less than' if below else 'at most'} 2.5"
    else:
        said = "a finite number"
    good, bad = (
        [0, 1.25, np.float32(0.5), np.int8(1), np.array(0.75)],
        [INF, -INF, math.nan, True, np.True_, "1", None, [], 1j],
    )
    if low > -INF:
        (bad if above else good).append(low)
        good.append(just_above(low))
        bad.append(just_below(low))
    if high < INF:
        (bad if below else good).append(high)
        good.append(just_below(high))
        bad.append(just_above(high))
    for x in good:
        found = checks.number("Owner", "name", x, low, high, **kind)
        assert found == float(x)
        assert type(found) is float
    for x in bad:
        assert refused(checks.number, x, low, high, **kind).startswith(f"{said}, got ")


def test_moderate_numbers():
    """1e100 and, where 0 is refused, 1e-100 are the last that are accepted."""
    far = "Numbers beyond 1e+100 are refused, because their sums and squares overflow."
    near = "Positive numbers below 1e-100 are refused, because their reciprocals overflow."
    for sign in (1.0, -1.0):
        assert checks.number("Owner", "name", sign * LARGEST, moderate=True) == sign * LARGEST
        assert refused(checks.number, sign * just_above(LARGEST), moderate=True).endswith(far)
        assert checks.number("Owner", "name", sign * just_above(LARGEST)) == sign * just_above(LARGEST)
    assert checks.number("Owner", "name", SMALLEST, 0.0, above=True, moderate=True) == SMALLEST
    assert refused(checks.number, just_below(SMALLEST), 0.0, above=True, moderate=True).endswith(near)
    for low, kind in ((0.0, {}), (-1.0, {"above": True})):
        assert checks.number("Owner", "name", 1e-200, low, moderate=True, **kind) == 1e-200
    assert checks.number("Owner", "name", 1e-200, 0.0, above=True) == 1e-200
    x = np.array([1.0, LARGEST, SMALLEST])
    assert checks.array("Owner", "name", x, low=0.0, above=True, moderate=True).tolist() == x.tolist()
    for value, hint in ((just_above(LARGEST), far), (just_below(SMALLEST), near)):
        said = refused(checks.array, [1.0, value], low=0.0, above=True, moderate=True)
        assert said == f"of moderate size everywhere, got {value!r}. {hint}"
        assert checks.array("Owner", "name", [value], low=0.0, above=True).tolist() == [value]
    assert refused(checks.array, [-just_above(LARGEST)], moderate=True).endswith(far)
    assert checks.array("Owner", "name", [1e-200, -1e-200, 0.0], low=-1.0, above=True, moderate=True).size == 3
    assert checks.array("Owner", "name", [1e-200, 0.0], low=0.0, moderate=True).size == 2


def test_levels_of_quantiles():
    """From 0 to 1; positive ones below 1e-200 become that."""
    for p, expected in ((0.0, 0.0), (1.0, 1.0), (0.3, 0.3), (5e-324, TINY), (TINY, TINY), (1, 1.0), (0, 0.0)):
        assert checks.probability("Owner", "name", p) == expected
    assert checks.probability("Owner", "name", just_above(TINY)) == just_above(TINY)
    assert checks.probability("Owner", "name", np.float32(0.5)) == 0.5
    for p in (just_above(1.0), -5e-324, math.nan, True, "0.5", 2):
        assert refused(checks.probability, p).startswith("in [0, 1], got ")


@pytest.mark.parametrize("kind", [int, np.int64, np.int32])
def test_whole_numbers(kind):
    """Limits are accepted; beyond them, and beyond 64 bits, numbers are refused, unless any length will do."""
    for low, high in ((0, None), (-3, 5), (4, 4), (-7, None)):
        top = 40 if high is None else high
        assert [checks.integer("Owner", "name", kind(x), low, high) for x in (low, top)] == [low, top]
        said = f"a whole number of at least {low}" + ("" if high is None else f" and at most {high}")
        for x in [low - 1] + ([] if high is None else [high + 1]):
            assert refused(checks.integer, kind(x), low, high).startswith(f"{said}, got {x}")
    for x in (True, np.False_, 1.0, "1", None, [1]):
        assert refused(checks.integer, x, 0, 3).startswith("a whole number of at least 0 and at most 3, got ")
    assert type(checks.integer("Owner", "name", kind(3))) is int


def test_whole_numbers_beyond_words():
    for x in (WORD, -WORD):
        assert checks.integer("Owner", "name", x, -(2**70)) == x
        assert checks.integer("Owner", "name", x, -(2**70), 2**70) == x
    for x in (WORD + 1, -WORD - 1):
        for high in (None, 2**70):
            assert refused(checks.integer, x, -(2**70), high) == f"a whole number of at most {WORD}, got {x}."
            assert checks.integer("Owner", "name", x, -(2**70), high, any_length=True) == x
    assert refused(checks.integer, 2**70, 0, 2**69).startswith("a whole number of at least 0 and at most")
    assert refused(checks.integer, -1).startswith("a whole number of at least 0, got -1")


# Other single values -------------------------------------------------------------------------------------------------


def test_single_values():
    assert checks.sequence("Owner", "name", [3, "a"], "things") == (3, "a")
    assert checks.sequence("Owner", "name", "ab", "things") == ("a", "b")
    assert refused(checks.sequence, 5, "things") == "things, got 5."
    for x in (True, False, np.True_, np.False_):
        assert checks.truth("Owner", "name", x) is bool(x)
    for x in (1, 0, None, "True"):
        assert refused(checks.truth, x).startswith("True or False, got ")
    assert checks.choice("Owner", "name", "b", ("a", "b")) == "b"
    for x in ("c", "", 1, None, ["a"]):
        assert refused(checks.choice, x, ("a", "b")).startswith("one of a, b, got ")
    rng = default_rng(0)
    assert checks.generator("Owner", rng) is rng
    with pytest.raises(InvalidArgument, match=r"^Owner: 'rng' must be a numpy Generator, such as .*, got 0\.$"):
        checks.generator("Owner", 0)


# Arrays --------------------------------------------------------------------------------------------------------------


def test_arrays_are_finite_copies_that_cannot_be_changed():
    given = np.array([[1, 2, 3]], np.int16)
    found = checks.array("Owner", "name", given, (1, None))
    given[0, 0] = 9
    assert (found.tolist(), found.dtype, found.flags.writeable) == ([[1.0, 2.0, 3.0]], np.float64, False)
    assert checks.array("Owner", "name", [True, False]).tolist() == [1.0, 0.0]
    assert checks.array("Owner", "name", [[1.0]], (1, 1)).shape == (1, 1)
    assert checks.array("Owner", "name", 2.5, ()).shape == ()
    for x in ("a", ["1"], [1j], [[1.0], [1.0, 2.0]], {}, np.array(["2020"], "M8[Y]")):
        assert refused(checks.array, x).startswith("an array of numbers, got ")
    assert refused(checks.array, [[1.0, 2.0]], (None,)) == "an array of shape (any,), got an array of shape (1, 2)."
    assert refused(checks.array, [[1.0, 2.0]], (1, 3)) == "an array of shape (1, 3), got an array of shape (1, 2)."
    assert refused(checks.array, 7, (None, 2)) == "an array of shape (any, 2), got 7."
    assert refused(checks.array, []).startswith("a non-empty array, got ")
    assert refused(checks.array, np.zeros((2, 0)), (2, None)).startswith("a non-empty array, got ")
    bad = np.ones((2, 3))
    bad[1, 2] = bad[1, 1] = np.nan
    assert refused(checks.array, bad) == "finite everywhere, got nan. First at index (1, 1)."
    assert refused(checks.array, [1.0, -INF]) == "finite everywhere, got -inf. First at index 1."
    assert refused(checks.array, INF) == "finite everywhere, got inf."


def test_lower_bounds_of_arrays():
    for above in (False, True):
        assert checks.array("Owner", "name", [just_above(1.5), 7.0], low=1.5, above=above)[1] == 7.0
        said = f"{'greater than' if above else 'at least'} 1.5 everywhere, got {just_below(1.5)!r}. First at index 1."
        assert refused(checks.array, [2.0, just_below(1.5)], low=1.5, above=above) == said
    assert checks.array("Owner", "name", [1.5], low=1.5).tolist() == [1.5]
    assert refused(checks.array, [1.5], low=1.5, above=True).startswith("greater than 1.5 everywhere, got 1.5.")
    assert checks.array("Owner", "name", [-1e300]).tolist() == [-1e300]


def test_indices():
    found = checks.indices("Owner", "name", [[0, 3.0], [1, 2]], (2, None), 4)
    assert (found.tolist(), found.dtype, found.flags.writeable) == ([[0, 3], [1, 2]], np.int32, False)
    for x, got in (([0, 4], "4.0"), ([0, -1], "-1.0"), ([0, 0.5], "0.5")):
        assert refused(checks.indices, x, (2,), 4) == f"whole numbers from 0 to 3, got {got}. First at index 1."


def test_choices_of_actions():
    all_, some = np.ones((2, 3), bool), np.array([[True, False, False], [False, True, True]])
    assert checks.choices("Owner", "name", None, (2, 3)) is None
    found = checks.choices("Owner", "name", some, (2, 3))
    assert (found.tolist(), found.flags.writeable) == (some.tolist(), False)
    assert some.flags.writeable
    assert checks.choices("Owner", "name", all_, (2, 3), some).tolist() == some.tolist()
    said = "truth values of shape (2, 3), one of them true in each state, got "
    for x in (all_.T, all_.astype(int), np.array([[True] * 3, [False] * 3]), [[True], [True, False]], True):
        assert refused(checks.choices, x, (2, 3)).startswith(said)
    assert refused(checks.choices, ~some, (2, 3), some).startswith("legal for one action in each state at least, got ")
    half = np.array([[True, True, False], [True, False, False]])
    assert refused(checks.choices, half, (2, 3), some).startswith("legal for one action in each state at least, got ")


def test_rows_that_sum_to_one():
    """Within 1e-9; rows of single precision within 64 of its rounding errors, and they are divided by their sums."""
    for tolerance, given in ((ROW_SUM_TOLERANCE, None), (SINGLE_ROW_SUM_TOLERANCE, np.zeros(1, np.float32))):
        assert checks.row_tolerance(given) == tolerance
        for sign in (1.0, -1.0):
            good = np.array([[0.3, 0.7], [0.25, 0.75 + sign * 0.98 * tolerance]])
            found = checks.rows_sum_to_one("Owner", "name", good, given)
            if given is None:
                assert found is good
            else:
                np.testing.assert_allclose(found, good / good.sum(axis=1, keepdims=True), rtol=1e-15)
                assert not found.flags.writeable
            bad = np.array([[0.3, 0.7], [0.25, 0.75 + sign * 1.02 * tolerance]])
            said = refused(checks.rows_sum_to_one, bad, given)
            assert said == f"rows that sum to 1, got {float(bad[1].sum())!r}. First at row 1."
    assert checks.row_tolerance(np.zeros(1)) == ROW_SUM_TOLERANCE
    assert checks.row_tolerance([0.5]) == ROW_SUM_TOLERANCE
    assert refused(checks.rows_sum_to_one, np.array([0.5, 0.6])).startswith("rows that sum to 1, got 1.1.")
    deep = np.full((2, 2, 2), 0.5)
    deep[1, 0, 1] = 0.6
    assert refused(checks.rows_sum_to_one, deep).endswith("First at row (1, 0).")


def test_shapes_that_broadcast():
    a, b = checks.broadcast("Owner", one=np.ones((2, 1)), two=np.arange(3.0))
    assert a.shape == b.shape == (2, 3)
    assert b[1].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(InvalidArgument) as error:
        checks.broadcast("Owner", one=np.ones(2), two=np.ones(3))
    assert str(error.value) == "Owner: 'one, two' must be arrays whose shapes broadcast, got [(2,), (3,)]."
    assert checks.as_array([[1], [1, 2]]).shape == ()
    assert checks.as_array([1, 2]).shape == (2,)


def test_equal_values():
    """Arrays by their entries and shapes, tuples by their members and lengths, others by ==."""
    x = np.array([1.0, 2.0])
    assert checks.same(x, x.copy())
    assert checks.same((x, (1, "a")), (x.copy(), (1, "a")))
    assert checks.same(3, 3.0)
    for a, b in (
        (x, np.array([1.0, 3.0])), (x, x[None]), (x, 1.0), (1.0, np.array([1.0, 1.0])), ((x, 1), (x, 2)),
        ((1,), (1, 2)), ((1, 2), (1,)), ((1, 2), [1, 2]), ((x, 1), (np.array([2.0, 2.0]), 1)), (3, 4),
    ):  # fmt: skip
        assert not checks.same(a, b)
    y, z = np.zeros(2), np.zeros(3)
    made = (y, 5, (z, "a"))
    assert checks.all_frozen(made) is made
    assert not y.flags.writeable
    assert not z.flags.writeable
    assert checks.frozen(w := np.zeros(1)) is w
    assert not w.flags.writeable


def failing(kind, said):
    def f(*given):
        raise kind(said)

    return f


@pytest.mark.parametrize("kind", [ValueError, KeyError, ZeroDivisionError, np.linalg.LinAlgError, AssertionError])
def test_errors_of_a_users_function_are_quoted_and_kept(kind):
    """One sentence that names the function and what it was given; the user's own error is its cause."""
    with pytest.raises(BrokenContract) as error:
        checks.called("Owner", "f", failing(kind, "two\n lines."), np.zeros((2, 1)), default_rng(0))
    expected = "Owner: the function 'f' does not take an array of shape (2, 1), a numpy Generator: it raised "
    assert str(error.value).startswith(expected + kind.__name__ + ": ")
    assert "\n" not in str(error.value)
    cause = error.value.__cause__
    assert type(cause) is kind
    assert "failing" in cause.__traceback__.tb_next.tb_frame.f_code.co_qualname
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    silent = pytest.raises(BrokenContract, match=r"take 3\.0: it raised ValueError\.$")
    with silent:
        checks.called("Owner", "f", failing(ValueError, ""), 3.0)


def test_errors_that_are_not_the_functions():
    for ours in (InvalidArgument("Other", "x", "good", 3), MemoryError("full"), KeyboardInterrupt()):
        with pytest.raises(type(ours)) as error:
            checks.called("Owner", "f", lambda ours=ours: (_ for _ in ()).throw(ours))
        assert error.value is ours


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (1.0, "an array of shape (2,): it gave 1.0."),
        ([1.0, 2.0, 3.0], "an array of shape (2,): it gave an array of shape (3,)."),
        ("ab", "an array of numbers: it gave 'ab'."),
        (None, "an array of numbers: it gave None."),
        ([1.0, np.nan], "numbers finite everywhere: it gave nan."),
    ],
)
def test_results_of_a_users_function(given, said):
    with pytest.raises(BrokenContract) as error:
        checks.returned("Owner", "f", lambda x: given, (2,), np.zeros(2))
    assert str(error.value) == "Owner: the function 'f' does not return " + said
    assert checks.returned("Owner", "f", lambda x: x + 1.0, (2,), np.zeros(2)).tolist() == [1.0, 1.0]


def broken(*given):
    return {}["price"]


K, LQ = Gaussian(scale=1.0), make_world("lq")
NOISE = NormalWishart([0.0], 1.0, 3.0, [[1.0]])
STEP = Transition([0.0], [0.0], 0.0, [0.0])
SEEN = GPDynamics(Gaussian(scale=[1.0, 1.0]), reward=lambda s, a: s[:, 0]).update(STEP)
HIDDEN = GPPOMDP(Gaussian(scale=[1.0, 1.0]), K, 0.1, 0.1, "state", "state", ([0.0], 1.0), particles=2)


def searched(**given):
    return lambda: ContinuousForwardSearch(**({"actions": [0.0]} | given)).plan(SEEN, [0.0], None, default_rng(0))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("features", lambda: SoftmaxPolicy([[0.0]], broken).sample(0, default_rng(0))),
        ("features", lambda: SoftmaxPolicy([0.0], broken).sample(0, default_rng(0))),
        ("features", lambda: GaussianPolicy(broken, [0.0]).sample(0, default_rng(0))),
        ("noise", lambda: GPTD(K, broken).update(STEP)),
        ("actions", searched(actions=broken)),
        ("leaf", searched(leaf=broken)),
        ("reward", lambda: replace(SEEN, reward=broken).expected_reward([0.0], [0.0])),
        ("reward", lambda: replace(HIDDEN, reward=broken).expected_reward([0.0], [0.0])),
        ("transition_mean", lambda: replace(HIDDEN, transition_mean=broken).update(STEP, default_rng(0))),
        ("observation_mean", lambda: replace(HIDDEN, observation_mean=broken)),
        ("inverse", lambda: NormalWishartDynamics(np.add, NOISE, inverse=broken).update(STEP)),
        ("bound", lambda: select([0.0, 1.0], [0.5, 0.5], [1.0], broken)),
        ("accept", lambda: run(BayesAgent(LQ.default_prior(), LazyPSRL(accept=broken)), LQ, 1)),
    ],
)  # fmt: skip
def test_every_users_function_is_named(name, call):
    """The sentence names it, and the user's KeyError is its cause."""
    with pytest.raises(
        BrokenContract, match=rf"the function '{name}' does not take .* raised KeyError: 'price'\.$"
    ) as e:
        call()
    assert isinstance(e.value.__cause__, KeyError)
