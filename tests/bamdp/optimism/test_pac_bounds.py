"""The theorems' formulas by hand, their powers, and the one value that is our own."""

from inspect import signature
from math import log

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp.optimism import pac_bounds as pac
from bayesrl.bamdp.sampling.psrl import psrl_bound
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP


def test_bounds_by_hand():
    """S = 5, A = 2, gamma = .9, H = 10, eps = .2, delta = .05."""
    S, A, g, H, e, d = 5, 2, 0.9, 10, 0.2, 0.05
    assert pac.beb_beta(H) == 200.0
    assert pac.bolt_eta(H) == 10.0
    assert pac.beb_bound(S, A, H, e, d) == pytest.approx(10 * 10**6 / 0.04 * log(200))
    assert pac.bolt_bound(S, A, g, 10.0, e) == pytest.approx(10 * 100 / (0.04 * 0.01))
    rho = 0.05 / (2 * 25 * 4)
    np.testing.assert_allclose(pac.vbrb_betas(S, A, g, d), [rho**-0.5, 0.9 * 5 / 0.1 * rho**-0.5])
    m = (5 + log(10 / (0.2 * 0.1 * 0.05))) / (0.04 * 0.1**4)
    assert pac.mbie_eb_visits(S, A, g, e, d) == pytest.approx(m)
    assert pac.mbie_eb_beta(S, A, g, e, d) == pytest.approx((0.5 * log(2 * 10 * m / 0.05)) ** 0.5 / 0.1)
    assert pac.rmax_knownness(S, A, H, e, d) == (4 * 5 * 10 / 0.2) ** 3 + 1
    assert pac.rmax_knownness(1, 2, 1, 4.0, 1e-9) == int(np.ceil(6 * log(24e9) ** 3)) + 1
    assert pac.rmax_knownness(1, 3, 1, 4.0, 1e-9) == int(np.ceil(6 * log(54e9) ** 3)) + 1
    assert pac.dirichlet_visits(S, 0.5, 0.1, 0.2) == 2 * 5 / (0.25 * 0.02)
    B = pac.boss_knownness(S, A, g, 3, e, d)
    assert pytest.approx(2 * 5 / ((0.2 * 0.01) ** 2 * 0.05 / 10 * 0.05 / (100 * 3))) == B
    escapes = log(20) * log(1 / (0.2 * 0.1)) / (0.2 * 0.01)
    assert pac.boss_bound(S, A, g, 3, e, d) == pytest.approx(10 * B * escapes)
    C = 2 * 5 / ((0.25 * 0.2 * 0.01) ** 2 * 0.05 / 10 * 0.05 / 200)
    assert pac.vbrb_bound(S, A, g, e, d) == pytest.approx(10 * C * escapes)
    assert pac.mbie_eb_bound(S, A, g, e, d) == pytest.approx(10 * m * escapes)
    assert pac.bfs3_bound(S, A, 4, 7, 0.1) == pytest.approx(7 * 10 * 6 * 4 / 0.1)


def slope(f, x):
    return log(f(2 * x) / f(x)) / log(2)


def test_bounds_grow_as_their_theorems_say():
    """Powers of H, S and 1/eps, logarithms aside (which is what the tolerance allows for)."""
    assert slope(lambda H: pac.beb_bound(5, 2, H), 50) == pytest.approx(6)
    assert slope(lambda H: pac.bolt_bound(5, 2, 0.9, pac.bolt_eta(H)), 50) == pytest.approx(2)
    assert slope(lambda S: pac.beb_bound(S, 2, 10), 10**6) == pytest.approx(1, abs=0.1)
    assert slope(lambda x: pac.mbie_eb_bound(10**4, 2, 0.9, 1 / x), 10**6) == pytest.approx(3, abs=0.1)
    assert slope(lambda x: pac.bolt_bound(5, 2, 0.9, 10, 1 / x), 10) == pytest.approx(2)
    assert slope(lambda S: pac.mbie_eb_bound(S, 2, 0.9), 10**6) == pytest.approx(2, abs=0.1)


def test_dirichlet_visits_are_enough():
    """Truth and data from the prior: the posterior beyond epsilon of the truth exceeds rho in at most delta of all."""
    S, eps, delta, rho = 3, 0.5, 0.2, 0.3
    n, rng, bad = pac.dirichlet_visits(S, eps, delta, rho), default_rng(0), 0
    assert n == 400
    for _ in range(300):
        truth = rng.dirichlet(np.full(S, 0.5))
        draws = rng.dirichlet(0.5 + rng.multinomial(n // 8, truth), 200)  # an eighth of it is still enough
        bad += float((np.abs(draws - truth).sum(axis=1) > eps).mean() > rho)
    assert bad <= delta * 300


def test_effective_horizon():
    assert 0.95**90 <= 0.01 < 0.95**89
    assert pac.effective_horizon(0.95) == 90
    assert pac.effective_horizon(0.0) == 1
    for undiscounted in (
        lambda: pac.effective_horizon(1.0),
        lambda: pac.vbrb_betas(5, 2, 1.0),
        lambda: pac.mbie_eb_beta(5, 2, 1.0),
        lambda: pac.boss_knownness(5, 2, 1.0, 5),
    ):
        with pytest.raises(InvalidArgument, match=r"'gamma' must be in \[0, 1\), got 1.0"):
            undiscounted()


def test_table_of_bounds():
    bounds = b.make("pac-bounds", states=5, actions=2, gamma=0.9, horizon=10)
    assert bounds["beb"] == pac.beb_bound(5, 2, 10)
    assert bounds["bolt"] == pac.bolt_bound(5, 2, 0.9, 10.0)
    assert bounds["boss"] == pac.boss_bound(5, 2, 0.9)
    assert bounds["vbrb"] == pac.vbrb_bound(5, 2, 0.9)
    assert bounds["mbie-eb"] == pac.mbie_eb_bound(5, 2, 0.9)
    assert b.make("pac-bounds", states=5, actions=2)["beb"] == pac.beb_bound(5, 2, 90)
    with pytest.raises(InvalidArgument, match=r"pac_bounds: 'gamma' must be in \[0, 1\), got 1.0"):
        b.make("pac-bounds", states=5, actions=2, gamma=1.0)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "many", True, None])
@pytest.mark.parametrize("name", ["states", "actions", "gamma", "horizon", "epsilon", "delta"])
def test_nonsense_is_refused(name, bad):
    if (name, bad) in (("gamma", 0), ("horizon", None)):  # nothing counts but the next reward; the effective horizon
        assert min(b.make("pac-bounds", **({"states": 5, "actions": 2} | {name: bad})).values()) > 0.0
        return
    with pytest.raises(InvalidArgument, match=f"pac_bounds: '{name}' must be .*, got {bad!r}"):
        b.make("pac-bounds", **({"states": 5, "actions": 2} | {name: bad}))


@pytest.mark.parametrize(
    "f",
    ["effective_horizon", "beb_beta", "bolt_eta", "vbrb_betas", "mbie_eb_visits", "mbie_eb_beta", "rmax_knownness",
     "dirichlet_visits", "boss_knownness", "boss_bound", "beb_bound", "vbrb_bound", "bolt_bound", "bfs3_bound",
     "mbie_eb_bound"],
)  # fmt: skip
def test_every_function_refuses_nonsense(f):
    """Each argument in turn: what is not a number, and what no theorem allows."""
    good = {"gamma": 0.9, "epsilon": 0.1, "delta": 0.1, "rho": 0.1, "accuracy": 0.1, "reward_range": 1.0, "eta": 2.0}
    given = {name: good.get(name, 3) for name in signature(getattr(pac, f)).parameters}
    assert np.min(getattr(pac, f)(**given)) > 0.0
    for name in given:
        for bad in (-1, float("nan"), float("inf"), "many", True, None):
            with pytest.raises(InvalidArgument, match=f"{f}: '{name}' must be .*, got {bad!r}"):
                getattr(pac, f)(**given | {name: bad})


@pytest.mark.parametrize(
    ("f", "given", "said"),
    [
        (pac.pac_bounds, {"epsilon": 1e-300}, "boss_bound: 'epsilon' {}, got 1e-300."),
        (pac.pac_bounds, {"epsilon": 1e-150}, "boss_bound: 'epsilon' {}, got 1e-150."),
        (pac.pac_bounds, {"delta": 1e-300}, "boss_bound: 'delta' {}, got 1e-300."),
        (pac.pac_bounds, {"horizon": 10**70}, f"beb_bound: 'horizon' {{}}, got {10**70}."),
        (
            pac.boss_knownness,
            {"gamma": 0.9, "samples": 5, "epsilon": 1e-300},
            "boss_knownness: 'epsilon' {}, got 1e-300.",
        ),
        (pac.mbie_eb_beta, {"gamma": 0.9, "reward_range": 1e200}, "mbie_eb_beta: 'reward_range' {}, got 1e+200."),
        (pac.vbrb_betas, {"gamma": 0.9, "reward_range": 1e308}, "vbrb_betas: 'reward_range' {}, got 1e+308."),
        (pac.rmax_knownness, {"horizon": 9, "reward_range": 1e200}, "rmax_knownness: 'reward_range' {}, got 1e+200."),
    ],
)
def test_what_leaves_the_range_of_numbers_is_refused(f, given, said):
    """The argument that is most extreme is named, by the function in whose theorem it stands."""
    with pytest.raises(InvalidArgument) as error:
        f(5, 2, **given)
    expected = "must be less extreme, as the theorem prescribes too large a number"
    assert str(error.value) == said.format(expected)


def test_discounts_of_almost_one_have_bounds():
    assert np.isfinite(list(pac.pac_bounds(5, 2, gamma=1.0 - 2**-53).values())).all()


def test_an_error_that_every_policy_makes_bounds_no_steps():
    for bound in (pac.boss_bound, pac.vbrb_bound, pac.mbie_eb_bound):
        assert bound(5, 2, 0.9, epsilon=11.0) == 0.0 < bound(5, 2, 0.9, epsilon=9.0)


def test_regret_of_posterior_sampling():
    """tau S sqrt(A T log(S A T))."""
    assert psrl_bound(5, 2, 10, 100) == pytest.approx(50 * (200 * log(1000)) ** 0.5)
    with pytest.raises(InvalidArgument, match="psrl_bound: 'states' must be a whole number of at least 1, got 0"):
        psrl_bound(0, 2, 10, 100)


def test_rewards_that_differ_by_nothing_need_no_bonus():
    """Every policy is within epsilon where a whole life is worth no more: the formula's logarithm would be negative."""
    assert pac.mbie_eb_beta(5, 2, 0.9, epsilon=0.1, reward_range=0.0) == 0.0
    assert pac.mbie_eb_beta(5, 2, 0.9, epsilon=0.1, reward_range=0.009) == 0.0
    assert pac.mbie_eb_beta(5, 2, 0.5, epsilon=0.5, reward_range=0.25) == 0.0  # exactly a whole life
    assert pac.mbie_eb_beta(5, 2, 0.9, epsilon=0.1, reward_range=0.011) > 0.0
    alike = b.DirichletMDP.flat(TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.ones((2, 2)), 0.9))
    decision = b.make("mbie-eb", beta="theory").plan(alike, 0, None, default_rng(0))
    np.testing.assert_allclose(decision.info["q"], 10.0)


def test_one_state_and_one_action_are_a_problem():
    assert all(x > 0.0 for x in pac.pac_bounds(1, 1, gamma=0.9).values())


def test_bonuses_scale_with_the_range_of_rewards():
    """Rewards and accuracy in another unit: beta of MBIE-EB is in that unit, the visits are the same."""
    for scale in (0.2, 5.0):
        one = pac.mbie_eb_beta(6, 3, 0.9, 0.1, 0.05)
        assert pac.mbie_eb_beta(6, 3, 0.9, 0.1 * scale, 0.05, scale) == pytest.approx(scale * one)
    assert pac.mbie_eb_beta(6, 3, 0.9, 0.1, 0.05, 0.02) > 0.0
    assert pac.mbie_eb_beta(6, 3, 0.9, 0.1, 0.05, 0.009) == 0.0


def test_bounds_of_problems_beyond_all_machines():
    assert np.isfinite(list(pac.pac_bounds(2**70, 2**65, gamma=0.9).values())).all()


@pytest.mark.parametrize("call", [
    lambda x: pac.boss_bound(5, 2, 0.9, delta=x), lambda x: pac.vbrb_betas(5, 2, 0.9, delta=x),
])  # fmt: skip
def test_probabilities_of_failure_are_at_most_one(call):
    call(1.0)
    for x in (0.0, 1.5):
        with pytest.raises(InvalidArgument, match="'delta' must be"):
            call(x)


LIMITS = {
    "gamma": ([0.0], [1.0], r"in \[0, 1\)"),
    "accuracy": ([], [0.0, 1.0, 1.5], r"in \(0, 1\)"),
    "delta": ([1.0], [0.0, 1.5], r"in \(0, 1\]"),
    "rho": ([1.0], [0.0, 1.5], r"in \(0, 1\]"),
    "epsilon": ([1.5], [0.0], "greater than 0"),
    "reward_range": ([0.0, 1.5], [-1e-9], "at least 0"),
    "eta": ([0.0, 1.5], [-1e-9], "at least 0"),
    "a count": ([1, 2**70], [0, 1.5], "a whole number of at least 1"),
}


@pytest.mark.parametrize("f", [f for f in vars(pac).values() if hasattr(f, "__wrapped__")], ids=lambda f: f.__name__)
def test_every_argument_has_its_range(f):
    """The values at the ends of a range that belong to it are accepted; the others are refused by its sentence."""
    good = {"gamma": 0.9, "epsilon": 0.1, "delta": 0.1, "rho": 0.1, "accuracy": 0.1, "reward_range": 1.0, "eta": 2.0}
    given = {name: good.get(name, 3) for name in signature(f).parameters}
    for name in given:
        accepted, refused, said = LIMITS[name if name in LIMITS else "a count"]
        for x in accepted:
            assert np.min(f(**given | {name: x})) >= 0.0
        for x in refused:
            with pytest.raises(InvalidArgument, match=f"{f.__name__}: '{name}' must be {said}, got {x!r}"):
                f(**given | {name: x})


def test_bounds_in_generic_position():
    """Each formula once more, at numbers of which none is 1 or 2, and no two are equal."""
    S, A, g, H, e, d, r, K = 7, 3, 0.83, 5, 0.37, 0.23, 1.7, 4
    pairs, left = S * A, 1.0 - g
    assert pac.effective_horizon(g, 0.3) == next(n for n in range(1, 99) if g**n <= 0.3) == 7
    assert pac.beb_beta(H, r) == pytest.approx(2 * H * H * r)
    rho = d / (2 * S * S * A * A)
    np.testing.assert_allclose(pac.vbrb_betas(S, A, g, d, r), [rho**-0.5, r * g * S / left * rho**-0.5])
    m = lambda x: (S + log(S * A / (x * left * d))) / (x * x * left**4)  # noqa: E731
    assert pac.mbie_eb_visits(S, A, g, e, d) == pytest.approx(m(e))
    beta = r * (0.5 * log(2 * S * A * m(e / r) / d)) ** 0.5 / left
    assert pac.mbie_eb_beta(S, A, g, e, d, r) == pytest.approx(beta)
    for range_, lead in ((r, (4 * S * H * r / e) ** 3), (1e-4, -6 * log(d / (6 * S * A * A)) ** 3)):
        assert pac.rmax_knownness(S, A, H, e, d, range_) == int(np.ceil(lead)) + 1
    visits = lambda x, y, z: int(np.ceil(2 * S / (x * x * y * z)))  # noqa: E731
    assert pac.dirichlet_visits(S, e, d, 0.41) == visits(e, d, 0.41)
    B = visits(e * left**2, d / pairs, d / (pairs**2 * K))
    assert pac.boss_knownness(S, A, g, K, e, d) == B
    escapes = log(1 / d) * log(1 / (e * left)) / (e * left**2)
    assert pac.boss_bound(S, A, g, K, e, d) == pytest.approx(pairs * B * escapes)
    assert pac.beb_bound(S, A, H, e, d) == pytest.approx(pairs * H**6 / e**2 * log(pairs / d))
    C = visits(e * left**2 / 4, d / pairs, d / (2 * pairs**2))
    assert pac.vbrb_bound(S, A, g, e, d) == pytest.approx(pairs * C * escapes)
    assert pac.bolt_bound(S, A, g, 2.6, e) == pytest.approx(pairs * 2.6**2 / (e * left) ** 2)
    assert pac.bfs3_bound(S, A, 6, 11, d) == pytest.approx(11 * pairs * (S + 1) * 6 / d)
    assert pac.mbie_eb_bound(S, A, g, e, d) == pytest.approx(pairs * m(e) * escapes)
    table = {
        "boss": pac.boss_bound(S, A, g, 5, e, d), "beb": pac.beb_bound(S, A, H, e, d),
        "vbrb": pac.vbrb_bound(S, A, g, e, d), "bolt": pac.bolt_bound(S, A, g, H, e),
        "mbie-eb": pac.mbie_eb_bound(S, A, g, e, d),
    }  # fmt: skip
    assert pac.pac_bounds(S, A, g, H, e, d) == table
    for name, x in (("epsilon", 1.0), ("delta", 1.0)):
        pac.pac_bounds(S, A, g, H, **{name: x})
        with pytest.raises(InvalidArgument, match=f"pac_bounds: '{name}' must be in"):
            pac.pac_bounds(S, A, g, H, **{name: 1.01})


def test_the_most_extreme_argument_is_named():
    """Distances from one in orders of magnitude; a discount counts by what it lacks, and zero is no distance."""
    assert pac._extremity("epsilon", 1e-3) == pac._extremity("epsilon", 1e3) == pytest.approx(3 * log(10))
    assert pac._extremity("gamma", 0.999) == pytest.approx(3 * log(10))
    assert pac._extremity("gamma", 0.0) == pac._extremity("reward_range", 0.0) == pac._extremity("eta", 1.0) == 0.0
