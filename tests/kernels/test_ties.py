"""Values that differ by rounding are ties, in whatever units; clear differences are none."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.kernels import ties
from bayesrl.kernels.search.search_bounds import highest

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_the_tolerance_is_in_units_of_the_values(unit):
    near, far = np.array([-2.0, 1.0 - 1e-9, 1.0]) * unit, np.array([-2.0, 1.0 - 4e-9, 1.0]) * unit
    assert ties.best(near) == (1, 2)
    assert ties.best(far) == (2, 1)
    assert ties.equal(near[1], near[2])
    assert not ties.better(near[2], near[1])
    assert ties.better(far[2], far[1])
    assert not ties.better(far[1], far[2])
    assert not ties.equal(far[2], far[1])
    assert {highest(default_rng(i), near) for i in range(20)} == {1, 2}
    assert {highest(default_rng(i), far) for i in range(20)} == {2}


def test_values_that_cancel_need_the_scale_of_what_was_added_up():
    noise = np.array([-3e-15, 1e-16, 2e-15])
    assert ties.best(noise) == (2, 1)
    assert ties.best(noise, 1.0) == (0, 3)
    assert ties.equal(noise[0], noise[2], 1.0)
    assert not ties.better(noise[2], noise[0], 1.0)
    assert ties.better(noise[2], noise[0])
    assert ties.better(1e-12, 0.0, 1.0)


def test_small_values_beside_large_ones_keep_their_order():
    """A table has rows of values 1e-12 and of 1: each row in its own units, but for the rounding of the largest."""
    q = np.array([[1.0, 0.5], [1e-12, 2e-12], [1e-15, 2e-15], [0.3, 0.1 + 0.2]])
    assert ties.greedy(q).tolist() == [0, 1, 0, 0]
    assert ties.tied(q).tolist() == [[True, False], [False, True], [True, True], [True, True]]
    assert ties.greedy(q, 100.0).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("x", "first", "n"),
    [
        ([NAN, 1.0, 2.0], 2, 1), ([2.0, NAN, 2.0], 0, 2), ([NAN, NAN], 0, 2), ([-INF, -INF], 0, 2), ([NAN, -INF], 1, 1),
        ([INF, 1.0, INF], 0, 2), ([1e300, INF], 1, 1), ([-INF, 1.0, 1.0 + 1e-6], 2, 1), ([-INF, 3.0], 1, 1),
        ([4.0], 0, 1), ([0.0, -0.0], 0, 2),
    ],
)  # fmt: skip
def test_infinite_values_and_values_that_are_no_numbers(x, first, n):
    x = np.array(x)
    assert ties.best(x) == (first, n)
    assert ties.first_best(x) == ties.pick(x, 0.0) == first
    assert ties.size(x) == max([abs(v) for v in x if np.isfinite(v)], default=0.0)


def test_fast_choices_equal_the_rule():
    """Entries at or above the threshold are best; `best` and `first_best` look at clear choices only once."""
    rng = default_rng(3)
    for _ in range(2000):
        x = rng.choice([0.0, 1.0, 1.0 - 1e-10, 1.0 - 3e-9, -2.0, 1e-14, NAN, INF, -INF], rng.integers(1, 5))
        for scale in (0.0, 1.0):
            places = np.flatnonzero(x >= ties.threshold(x, scale))
            first, n = (places[0], len(places)) if len(places) else (0, len(x))
            assert ties.best(x, scale) == (first, n)
            assert ties.first_best(x, scale) == first


def test_a_table_of_many_states_is_read_like_its_rows():
    """The fast pass over a table agrees with the choice in each row, at ties, at NaN and at infinite values."""
    rng = default_rng(0)
    entries = np.array([0.0, 1.0, 1.0 - 1e-10, 1.0 + 1e-10, 1e-14, 1e5, 1e5 - 5e-5, -1.0, NAN, INF, -INF])
    for trial in range(600):
        q = rng.choice(entries[: 8 if trial % 2 else 11], (3, 3))
        size = ties.sizes(q)
        assert ties.greedy(q).tolist() == [ties.first_best(row, size) for row in q]
        assert ties.greedy(q, 1e4).tolist() == [ties.first_best(row, max(1e4, size)) for row in q]


def test_pairs_of_infinite_values():
    assert ties.equal(INF, INF)
    assert ties.better(INF, 1e300)
    assert ties.better(1.0, -INF)
    for x, y in ((NAN, 1.0), (1.0, NAN), (NAN, NAN), (NAN, INF)):
        assert not ties.equal(x, y)
        assert not ties.better(x, y)
    assert not ties.equal(INF, -INF)
    assert not ties.better(-INF, -INF)


def test_the_best_are_picked_evenly_and_a_clear_choice_draws_nothing():
    x = np.array([1.0, 0.0, 1.0 - 1e-12, -5.0, 1.0 + 1e-12])
    assert [ties.pick(x, u) for u in (0.0, 0.33, 0.34, 0.66, 0.67, 1.0 - 2.0**-53)] == [0, 0, 2, 2, 4, 4]
    assert [ties.pick(np.array([NAN, NAN]), u) for u in (0.2, 0.7)] == [0, 1]
    for y, draws in ((x, 1), (np.array([1.0, 2.0]), 0)):
        rng, same = default_rng(3), default_rng(3)
        assert ties.any_best(y, rng) == ties.pick(y, default_rng(3).random())
        assert rng.random() == same.random(2)[draws]
