"""Measures over percentiles: closed forms, enumerated draws, and what is refused."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import integrate, stats

import bayesrl as b
from bayesrl.errors import InvalidArgument
from bayesrl.risk import Measure

RETURNS = np.array([0.3, -1.0, 2.0, 0.7])
WEIGHTS = np.array([0.4, 0.1, 0.2, 0.3])
MIXED = Measure.mixture([Measure.mean(), Measure.cvar(0.3), Measure.max_min()], [0.5, 0.3, 0.2])
MEASURES = {
    "mean": Measure.mean(),
    "cvar": Measure.cvar(0.3),
    "max-min": Measure.max_min(),
    "k-of-n": Measure.k_of_n(2, 5),
    "many draws": Measure.k_of_n(10, 100),
    "mixture": MIXED,
    "density": Measure.from_density(lambda x: 0.5 / np.sqrt(x)),
    "steps": Measure.from_density(lambda x: 1.5 if x < 0.5 else 0.5),
}
each = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


@each
def test_the_cumulative_function_is_the_integral_of_the_density(measure):
    for low, high in ((0.05, 0.2), (0.2, 0.35), (0.35, 1.0)):  # percentile 0 may have weight of its own
        jumps = [0.3, 0.5]
        area = integrate.quad(lambda x: float(measure.density(x)), low, high, points=jumps)[0]
        assert measure.cumulative(high) - measure.cumulative(low) == pytest.approx(area, abs=1e-9)
    np.testing.assert_allclose(measure.cumulative([0.0, 1.0]), [0.0, 1.0], atol=1e-12)
    assert (np.diff(measure.density(np.linspace(0.001, 1.0, 200))) <= 1e-12).all()


@pytest.mark.parametrize(
    ("k", "n", "weights"), [(1, 2, None), (2, 3, WEIGHTS), (1, 4, WEIGHTS), (3, 3, WEIGHTS), (2, 5, None)]
)
def test_k_of_n_is_the_mean_of_the_worst_of_enumerated_draws(k, n, weights):
    p = np.full(4, 0.25) if weights is None else weights
    expected = sum(
        p[list(drawn)].prod() * np.sort(RETURNS[list(drawn)])[:k].mean()
        for drawn in itertools.product(range(4), repeat=n)
    )
    assert Measure.k_of_n(k, n).value(RETURNS, weights) == pytest.approx(expected, abs=1e-12)


def test_reference_values_of_the_density():
    assert float(Measure.k_of_n(1, 5).density(0.1)) == pytest.approx(3.2805, abs=1e-12)
    assert float(Measure.k_of_n(2, 5).density(0.1)) == pytest.approx(2.36925, abs=1e-12)
    x = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(Measure.k_of_n(1, 2).density(x), 2.0 - 2.0 * x, atol=1e-14)
    np.testing.assert_allclose(Measure.from_density(lambda x: 2 - 2 * x).cumulative(x), 2.0 * x - x**2, atol=1e-14)


def test_k_equal_to_n_and_level_one_are_the_mean():
    for measure in (Measure.mean(), Measure.cvar(1), Measure.cvar(1.0), Measure.k_of_n(4, 4), Measure.k_of_n(1, 1)):
        assert measure.value(RETURNS, WEIGHTS) == pytest.approx(WEIGHTS @ RETURNS, abs=1e-14)
        np.testing.assert_allclose(measure.density([0.0, 0.4, 1.0]), 1.0, atol=1e-14)
    assert Measure.cvar(1) == Measure.mean()


def test_values_by_hand():
    assert Measure.max_min().value(RETURNS, WEIGHTS) == -1.0
    assert Measure.max_min().value(RETURNS, [0.5, 0.0, 0.0, 0.5]) == 0.3  # -1 cannot happen
    assert Measure.cvar(0.3).value(RETURNS, WEIGHTS) == pytest.approx((0.1 * -1.0 + 0.2 * 0.3) / 0.3, abs=1e-14)
    assert Measure.cvar(0.5).value(RETURNS) == pytest.approx((-1.0 + 0.3) / 2, abs=1e-14)
    mean, tail = WEIGHTS @ RETURNS, Measure.cvar(0.3).value(RETURNS, WEIGHTS)
    assert MIXED.value(RETURNS, WEIGHTS) == pytest.approx(0.5 * mean + 0.3 * tail + 0.2 * -1.0, abs=1e-14)
    nested = Measure.mixture([MIXED, Measure.mean()], [0.5, 0.5])
    assert nested.value(RETURNS, WEIGHTS) == pytest.approx(0.5 * MIXED.value(RETURNS, WEIGHTS) + 0.5 * mean, abs=1e-14)


@pytest.mark.parametrize(
    ("measure", "pure", "mixed"),
    [
        (Measure.k_of_n(1, 2), -0.564190, -0.398942),
        (Measure.k_of_n(10, 100), -1.729791, -1.223147),
        (Measure.cvar(0.1), -1.754983, -1.240961),
    ],
    ids=str,
)
def test_normal_returns(measure, pure, mixed):
    """Values of a standard normal return and of the mean of two; 40,000 equally probable cells, each at its mean."""
    n = 40_000
    edges = stats.norm.ppf(np.arange(n + 1) / n)
    returns = -n * np.diff(stats.norm.pdf(edges))
    assert measure.value(returns) == pytest.approx(pure, abs=2e-6)
    assert measure.value(returns / np.sqrt(2.0)) == pytest.approx(mixed, abs=2e-6)


@each
def test_shares_are_those_of_the_worst_order(measure):
    shares = measure.shares(RETURNS, WEIGHTS)
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert (shares >= 0.0).all()
    assert measure.value(RETURNS, WEIGHTS) == pytest.approx(shares @ RETURNS, abs=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(10):  # any other order of the returns gives weights that earn no less
        assert measure.shares(rng.permutation(4), WEIGHTS) @ RETURNS >= shares @ RETURNS - 1e-12


@each
def test_the_value_is_concave(measure):
    rng = np.random.default_rng(1)
    for _ in range(10):
        one, two = rng.normal(size=(2, 4))
        middle = measure.value(0.5 * (one + two), WEIGHTS)
        assert middle >= 0.5 * (measure.value(one, WEIGHTS) + measure.value(two, WEIGHTS)) - 1e-12


def test_printed_compared_saved(tmp_path):
    assert repr(Measure.cvar(0.1)) == "Measure.cvar(0.1)"
    assert repr(Measure.k_of_n(2, 5)) == "Measure.k_of_n(2, 5)"
    assert repr(MIXED) == "Measure.mixture((mean(), cvar(0.3), max_min()), (0.5, 0.3, 0.2))"
    assert Measure.cvar(0.1) != Measure.cvar(0.2)
    for measure in (MIXED, Measure.k_of_n(2, 5)):
        b.save(measure, tmp_path / "kept.zip")
        assert b.load(tmp_path / "kept.zip") == measure == pickle.loads(pickle.dumps(measure))
    with pytest.raises(InvalidArgument, match="'thing'"):
        b.save(MEASURES["density"], tmp_path / "kept.zip")


def raises(x):
    raise RuntimeError("no")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Measure.cvar(0.0), r"'level' must be in \(0, 1\]"),
        (lambda: Measure.cvar(1.1), "'level'"),
        (lambda: Measure.cvar(np.nan), "'level'"),
        (lambda: Measure.cvar("0.1"), "'level'"),
        (lambda: Measure.k_of_n(0, 3), "'k' must be a whole number of at least 1 and at most 3"),
        (lambda: Measure.k_of_n(4, 3), "'k'"),
        (lambda: Measure.k_of_n(1, 0), "'n'"),
        (lambda: Measure.k_of_n(1.5, 3), "'k'"),
        (lambda: Measure.percentile(0.1), r"non-increasing, .* make\(\"percentile\""),
        (lambda: Measure.from_density(lambda x: 2 * x), r"non-increasing, .* make\(\"percentile\""),
        (lambda: Measure.from_density(lambda x: 5.0 if 0.7 < x < 0.9 else 0.0), "non-increasing"),
        (lambda: Measure.from_density(lambda x: x * np.nan), "finite and at least 0"),
        (lambda: Measure.from_density(lambda x: 3 - 4 * x), "finite and at least 0"),
        (lambda: Measure.from_density(lambda x: 0.9), "integrates to 1, got 'one that integrates to 0.9'"),
        (lambda: Measure.from_density(raises), "It raised RuntimeError: no"),
        (lambda: Measure.from_density(lambda x: None), "a function of x"),
        (lambda: Measure.from_density(0.5), "a function of x"),
        (lambda: Measure.mixture([Measure.mean()], [0.9]), "'weights' must be rows that sum to 1, got 0.9"),
        (lambda: Measure.mixture([Measure.mean()] * 2, [-0.5, 1.5]), "'weights' must be at least 0"),
        (lambda: Measure.mixture([Measure.mean()] * 2, [1.0]), "'weights'"),
        (lambda: Measure.mixture([], []), "'measures'"),
        (lambda: Measure.mixture(["mean"], [1.0]), "'measures'"),
        (lambda: Measure.mixture(None, [1.0]), "'measures'"),
        (lambda: Measure((0.1,)), "'terms'"),
        (lambda: Measure.mean().cumulative(1.5), "'x' must be at most 1"),
        (lambda: Measure.mean().density(-0.5), "'x' must be at least 0"),
        (lambda: Measure.mean().value([]), "'returns'"),
        (lambda: Measure.mean().value([1.0, np.nan]), "'returns'"),
        (lambda: Measure.mean().value([[1.0]]), "'returns'"),
        (lambda: Measure.mean().value([1.0, 2.0], [0.5, 0.6]), "'weights'"),
        (lambda: Measure.mean().value([1.0, 2.0], [1.5, -0.5]), "'weights'"),
        (lambda: Measure.mean().value([1.0, 2.0], [1.0]), "'weights'"),
    ],
)  # fmt: skip
def test_refused(make, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        make()


def steps(*heights):
    """A density that is constant on equal parts of [0, 1]; it takes numbers only."""
    return lambda x: heights[min(int(x * len(heights)), len(heights) - 1)]


@pytest.mark.parametrize("jump", [1.0 / 3.0, 0.5, 127.0 / 128.0, 0.998])
def test_jumps_are_integrated(jump):
    """Made anew: the cumulative function of two steps in closed form, at points on all sides of the jump."""
    high = 1.2 / (0.2 * jump + 1.0)  # 1.2 times the height after the jump
    low = high / 1.2

    def g(x):
        return high if x < jump else low

    measure = Measure.from_density(g)
    x = np.unique(np.concatenate([np.linspace(0.0, 1.0, 301), jump + np.linspace(-0.01, 0.01, 41)]).clip(0.0, 1.0))
    expected = high * np.minimum(x, jump) + low * np.maximum(x - jump, 0.0)
    np.testing.assert_allclose(measure.cumulative(x), expected, atol=1e-9)
    np.testing.assert_array_equal(measure.density(x), np.where(x < jump, high, low))
    edges, below = measure.terms[0].edges, measure.terms[0].below
    assert (np.diff(edges) >= 0.0).all()
    assert (edges[0], edges[-1], below[0]) == (0.0, 1.0, 0.0)
    np.testing.assert_allclose(below, high * np.minimum(edges, jump) + low * np.maximum(edges - jump, 0.0), atol=1e-9)


def test_densities_of_arrays_or_numbers_alone():
    """Functions that take only arrays, only numbers, both, or that return one number for all points."""
    x = np.linspace(0.0, 1.0, 7)
    forms = {
        "arrays": lambda x: 2.0 - 2.0 * x.astype(float),
        "numbers": lambda x: 2.0 - 2.0 * (x if x < 2.0 else np.nan),
        "both": lambda x: 2.0 - 2.0 * x,
    }
    for g in forms.values():
        np.testing.assert_allclose(Measure.from_density(g).cumulative(x), 2.0 * x - x**2, atol=1e-12)
    np.testing.assert_allclose(Measure.from_density(lambda x: 1.0).cumulative(x), x, atol=1e-12)


@pytest.mark.parametrize(("heights", "accepted"), [
    ((1.5, 1.5 + 2.4e-6, 0.5, 0.5), True), ((1.5, 1.5 + 2.6e-6, 0.5, 0.5), False),
    ((1.5, 1.5, 0.5, 0.5 + 1.4e-6), True), ((1.5, 1.5, 0.5, 0.5 + 1.6e-6), False),
])  # fmt: skip
def test_how_much_a_density_may_seem_to_increase(heights, accepted):
    """By 1e-6 of 1 plus its size there."""
    if accepted:
        assert Measure.from_density(steps(*heights)).cumulative(0.5) == pytest.approx(0.75, abs=1e-5)
    else:
        near = "0.25" if heights[1] > 1.5 else "0.75"
        with pytest.raises(InvalidArgument, match=f"non-increasing, got 'one that increases near x = {near}"):
            Measure.from_density(steps(*heights))


def test_how_far_an_integral_may_be_from_one():
    """By 1e-6; the measure is then scaled."""
    for off in (9e-7, -9e-7):
        assert Measure.from_density(steps(1.0 + off)).cumulative(0.7) == pytest.approx(0.7, abs=1e-12)
        with pytest.raises(InvalidArgument, match="integrates to 1"):
            Measure.from_density(steps(1.0 + off * 1.2))


def test_densities_at_the_level_and_at_zero():
    """From the level on nothing counts. A term of weight 0 does not count, although its density is infinite."""
    assert Measure.cvar(0.25).density([0.0, 0.2499, 0.25, 0.3, 1.0]).tolist() == [4.0, 4.0, 0.0, 0.0, 0.0]
    assert Measure.max_min().density([0.0, 1e-9, 1.0]).tolist() == [np.inf, 0.0, 0.0]
    none = Measure.mixture([Measure.mean(), Measure.max_min()], [1.0, 0.0])
    assert none.density([0.0, 0.5, 1.0]).tolist() == [1.0, 1.0, 1.0]
    some = Measure.mixture([Measure.cvar(0.4), Measure.max_min()], [0.75, 0.25])
    np.testing.assert_allclose(some.density([0.0, 0.1, 0.5]), [np.inf, 0.75 / 0.4, 0.0], rtol=1e-15)
    np.testing.assert_allclose(some.cumulative([0.0, 0.1, 0.5]), [0.0, 0.25 + 0.75 * 0.25, 1.0], rtol=1e-15)


def test_one_bad_part_is_enough():
    good = Measure.mean()
    term = good.terms[0]
    for make, sentence in (
        (lambda: Measure((term, 0.1), (0.5, 0.5)), "Measure: 'terms' must be made by a class method"),
        (lambda: Measure.mixture([good, "mean"], [0.5, 0.5]), "Measure.mixture: 'measures' must be a sequence of"),
        (lambda: good.cumulative([0.5, 1.5]), "Measure.cumulative: 'x' must be at most 1 everywhere, got 1.5"),
        (lambda: good.density([1.5, 0.5]), "Measure.density: 'x' must be at most 1 everywhere, got 1.5"),
        (lambda: Measure((type(term)(1.01),)), r"Measure: 'level' must be in \[0, 1\]"),
        (lambda: Measure((type(term)(-0.01),)), r"Measure: 'level' must be in \[0, 1\]"),
        (lambda: Measure((type(Measure.k_of_n(1, 2).terms[0])(3, 2),)), "Measure: 'k' must be"),
        (lambda: Measure((type(Measure.k_of_n(1, 2).terms[0])(0, 2),)), "Measure: 'k' must be"),
        (lambda: Measure((type(Measure.k_of_n(1, 2).terms[0])(1, 0),)), "Measure: 'n' must be"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            make()
    assert Measure((type(term)(0.0),)) == Measure.max_min()
    assert Measure.k_of_n(1, 1).value([3.0, 5.0]) == pytest.approx(4.0)
