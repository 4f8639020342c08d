"""The formulas of PAC-Bayes by hand, divergences against oracles, the decomposition of TD errors, and bad input."""

from math import comb, e, exp, inf, log, sqrt

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import dirichlet

import bayesrl as b
from bayesrl import pacbayes as pac
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP

# Formulas -------------------------------------------------------------------------------------------------------------


def test_lemma_by_hand():
    assert pac.lemma(1.5, 6.0, 9.0, 0.1) == pytest.approx(sqrt((1.5 + log((1 + 6 * 8) / 0.1)) / 8))
    assert pac.lemma(1.5, 6.0, 1.0, 0.1) == pac.lemma(inf, 6.0, 9.0, 0.1) == inf
    assert [pac.lemma(1.5, 6.0, exponent, 0.1) for exponent in (0.0, 0.3)] == [inf, inf]


def test_model_bound_by_hand():
    """S = 3, gamma = .8, n = 40, delta = .1, r_max = .2: k = .25, 2m = 5; l1: 39 / 32 in the denominator."""
    assert pac.model_bound(0.7, 3, 0.8, 40, 0.1, 0.2) == pytest.approx(sqrt((0.7 + log((1 + 6 * 4) / 0.1)) / 4))
    l1 = sqrt((0.7 - log(0.1) + 3 * log(2) + log(3) + log(40)) / (39 * 0.25**2 / 2))
    assert pac.model_bound(0.7, 3, 0.8, 40, 0.1, 0.2, form="l1") == pytest.approx(l1)
    assert pac.model_bound(0.7, 3, 0.8, 8, 0.1, 0.2) == inf  # 2m = 1
    assert pac.model_bound(0.7, 3, 0.8, 1, 0.1, 0.2, form="l1") == inf
    unknown = pac.model_bound(0.7, 3, 0.8, 40, 0.1, 0.2, known_rewards=False)  # k = .2
    assert unknown == pytest.approx(sqrt((0.7 + log((1 + 6 * 2.2) / 0.1)) / 2.2))


def test_value_bound_by_hand():
    """S = 3, A = 2, gamma = .8: the range is .8 with known rewards and 1 without, for r_max = .2."""
    for known, m in ((True, 2 * 40 / 0.64), (False, 80.0)):
        found = pac.value_bound(0.7, 3, 2, 0.8, 40, 0.1, 0.3, 0.2, known)
        deviation = sqrt((0.7 + log((1 + 12 * (m - 1)) / 0.1)) / (m - 1))
        assert found == pytest.approx((deviation, (0.3 + deviation) / 0.2))
        assert found == pytest.approx((found.deviation, found.total))
    assert pac.value_bound(0.0, 3, 2, 0.8, 40, 0.1, 0.3, 100.0) == (inf, inf)
    assert pac.value_bound(0.7, 1, 1, 0.0, 40, 0.1, 0.0, known_rewards=False).total < inf


def test_function_approximation_bound_by_hand():
    by_hand = 0.3 + 4 * sqrt((0.7 + log(2 * sqrt(50) / 0.1)) / 100)
    assert pac.function_approximation_bound(0.7, 50, 0.1, 0.3, 4.0) == pytest.approx(by_hand)
    assert pac.function_approximation_bound(0.7, 200, 0.1, 0.3, 4.0, mixing=2.0) == pytest.approx(by_hand)
    assert pac.function_approximation_bound(0.7, 3, 0.1, 0.3, 4.0, mixing=2.0) == inf
    assert pac.mcallester(0.7, 50, 0.1, 0.3) == pytest.approx(0.3 + sqrt((0.7 + log(2 * sqrt(50) / 0.1)) / 100))


def test_one_datum_has_a_bound():
    """Four steps that mix within two are worth one datum."""
    one = sqrt((0.7 + log(2 / 0.1)) / 2)
    assert pac.mcallester(0.7, 1, 0.1, 0.3) == pytest.approx(0.3 + one)
    assert pac.function_approximation_bound(0.7, 1, 0.1, 0.3, 4.0) == pytest.approx(0.3 + 4 * one)
    assert pac.function_approximation_bound(0.7, 4, 0.1, 0.3, 4.0, mixing=2.0) == pytest.approx(0.3 + 4 * one)


def test_bandit_bound_by_hand():
    arms, eps, t, delta, kl = 4, 0.2, 500, 0.1, 0.7
    lam = sqrt(8 * (log(4) + log(20)) * 0.04 / 500)
    by_hand = (kl + log(20)) / lam + lam * t / (8 * 0.04)
    assert pac.bandit_bound(kl, t, delta, eps, arms) == pytest.approx(by_hand)
    for t in (3, 500):  # epsilon limits lambda, and does not
        lam = min(0.2, sqrt((log(4) + log(20)) * 0.2 / ((e - 2) * t)))
        assert (lam == 0.2) == (t == 3)
        by_hand = (kl + log(20)) / lam + (e - 2) * lam * t / 0.2
        assert pac.bandit_bound(kl, t, delta, eps, arms, "bernstein") == pytest.approx(by_hand)
    third = pac.bandit_bound(0.0, 9, 0.1, 1 / 3, 3)
    assert third == pac.bandit_bound(0.0, 9, 0.1, np.float64(1) / 3, 3) < inf


def test_two_roots_of_n_are_enough():
    """E exp(n kl) is at most 2 sqrt(n) for every number of data, also below the eight of Maurer's proof."""
    for n in (*range(1, 30), 100, 1000):
        terms = (comb(n, k) * (k / n) ** k * (1 - k / n) ** (n - k) for k in range(n + 1))
        assert sum(terms) <= 2 * sqrt(n) + 1e-9


def test_bounds_for_the_smallest_problem_say_something():
    """S = 2, gamma = .5, 60 visits: below the range of values, which is 2, also for one of four policies."""
    assert pac.model_bound(log(4), 2, 0.5, 60, 0.05) < 0.6
    assert pac.model_bound(log(4), 2, 0.5, 60, 0.05, form="l1") < 2.0
    assert pac.value_bound(log(4), 2, 2, 0.5, 60, 0.05, 0.0).total < 2.0


BOUNDS = {
    "model": (pac.model_bound, {"n_states": 3, "gamma": 0.5, "visits": 50, "delta": 0.05}),
    "model l1": (pac.model_bound, {"n_states": 3, "gamma": 0.5, "visits": 50, "delta": 0.05, "form": "l1"}),
    "value": (
        lambda **k: pac.value_bound(**k).total,
        {"n_states": 3, "n_actions": 2, "gamma": 0.5, "visits": 50, "delta": 0.05, "empirical": 0.1},
    ),
    "function": (
        pac.function_approximation_bound,
        {"samples": 50, "delta": 0.05, "empirical": 0.1, "loss_range": 4.0, "mixing": 1.5},
    ),
    "bandit": (
        lambda **k: pac.bandit_bound(**k) / k["steps"],
        {"steps": 50, "delta": 0.05, "epsilon": 0.1, "arms": 3},
    ),
    "bernstein": (
        lambda **k: pac.bandit_bound(**k) / k["steps"],
        {"steps": 50, "delta": 0.05, "epsilon": 0.1, "arms": 3, "form": "bernstein"},
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_grow_with_divergence_and_fall_with_data(name):
    """Nothing is NaN at the ends: KL 0 and infinite, delta near 0 and 1, one datum and 2^62, gamma near 0 and 1."""
    f, given = BOUNDS[name]
    data = next(word for word in ("visits", "samples", "steps") if word in given)
    by_kl = [f(kl=kl, **given) for kl in (0.0, 1e-9, 0.1, 1.0, 10.0, 1e300, inf)]
    assert by_kl == sorted(by_kl)
    assert by_kl[0] < by_kl[3] < by_kl[-1] == inf
    by_data = [f(kl=1.0, **given | {data: n}) for n in (1, 2, 10, 50, 10**4, 10**9, 2**62)]
    assert by_data == sorted(by_data, reverse=True)
    assert by_data[-1] < (0.3 if "empirical" in given else 1e-3)
    by_delta = [f(kl=1.0, **given | {"delta": d}) for d in (5e-324, 1e-300, 0.05, 0.9, 1 - 1e-16)]
    assert by_delta == sorted(by_delta, reverse=True)
    assert by_delta[0] < inf
    if "gamma" in given:
        by_gamma = [f(kl=1.0, **given | {"gamma": g}) for g in (1e-300, 1e-9, 0.5, 0.9, 1 - 1e-16)]
        assert by_gamma == sorted(by_gamma)
        assert by_gamma[0] < 1.0
        assert by_gamma[-1] > 1e9


# Divergences ----------------------------------------------------------------------------------------------------------


def test_kl_by_hand():
    assert pac.kl([0.2, 0.8], [0.5, 0.5]) == pytest.approx(0.2 * log(0.4) + 0.8 * log(1.6))
    assert pac.kl([0.0, 1.0], [0.5, 0.5]) == pytest.approx(log(2))
    assert pac.kl([0.3, 0.7], [0.3, 0.7]) == 0.0
    assert pac.kl([0.3, 0.7], [0.0, 1.0]) == inf
    assert pac.kl([0.0, 1.0], [0.0, 1.0]) == 0.0


def test_kl_dirichlet_is_an_integral():
    a, beta = np.array([2.5, 1.5]), np.array([0.7, 3.0])

    def integrand(x):
        at = [x, 1 - x]
        return dirichlet.pdf(at, a) * (dirichlet.logpdf(at, a) - dirichlet.logpdf(at, beta))

    assert pac.kl_dirichlet(a, beta) == pytest.approx(quad(integrand, 0, 1)[0], abs=1e-8)
    assert pac.kl_dirichlet([a, beta], [beta, a]) == pytest.approx(
        pac.kl_dirichlet(a, beta) + pac.kl_dirichlet(beta, a)
    )
    assert pac.kl_dirichlet(a, a) == 0.0


def test_kl_dirichlet_of_large_and_small_counts():
    """Against mpmath's formula in 300 digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(300):
        for a, beta in (
            ([1e100, 1e100], [1.0, 1.0]), ([2e99, 1e99], [1e98, 2e98]), ([1e-100, 1.0], [1.0, 1e-100]),
            ([9999.0, 20000.0], [10001.0, 3.0]), ([1e8, 1e8], [1e8 + 1e5, 1e8]), ([0.01, 5.0, 300.0], [2.0, 0.3, 1e5]),
        ):  # fmt: skip
            x, y = [mpmath.mpf(c) for c in a], [mpmath.mpf(c) for c in beta]
            exact = mpmath.loggamma(sum(x)) - mpmath.loggamma(sum(y))
            for c, d in zip(x, y, strict=True):
                exact += mpmath.loggamma(d) - mpmath.loggamma(c) + (c - d) * (mpmath.psi(0, c) - mpmath.psi(0, sum(x)))
            assert pac.kl_dirichlet(a, beta) == pytest.approx(float(exact), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("a", [0.0, 1e-12, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("c", [0.0, 1e-6, 0.02, 1.0, 30.0, inf])
def test_kl_inverse_solves_for_the_mean(a, c):
    x = pac.kl_inverse(a, c)
    assert a <= x <= 1.0
    if c == 0.0 or a == 1.0:
        assert x == a
    elif c < 5.0:
        root = brentq(lambda y: pac.kl([a, 1 - a], [y, 1 - y]) - c, a, 1 - 1e-15, xtol=1e-15)
        assert x == pytest.approx(root, abs=1e-9)
        assert x <= a + sqrt(c / 2) + 1e-12  # Pinsker
    else:
        assert x > 0.99 if a > 0.01 else x >= 1 - exp(-c) - 1e-12


# The decomposition of TD errors ---------------------------------------------------------------------------------------


def drawn(rng, S=4, A=2, gamma=0.8, rewards=None):
    P = rng.dirichlet(np.full(S, 0.5), (S, A))
    return TabularMDP.from_dense(P, rng.random(rewards or (S,)), gamma, start=rng.dirichlet(np.ones(S)))


def test_decomposition_sums_over_all_transitions():
    """Naive sums; with rewards of states the variance is gamma^2 Var V(s'), and the distance is within the bound."""
    rng = default_rng(0)
    for rewards in ((4,), (4, 2), (4, 2, 4)):
        mdp, mu, V = drawn(rng, rewards=rewards), rng.dirichlet(np.ones(2), 4), rng.normal(size=4)
        P, R = mdp.dense()
        chain = np.einsum("sa,say->sy", mu, P)
        rho = np.linalg.matrix_power(chain, 10_000)[0]
        np.testing.assert_allclose(pac.stationary_distribution(mdp, mu), rho, atol=1e-12)
        td = bellman = variance = 0.0
        for s in range(4):
            target = [(mu[s, a] * P[s, a, y], R[s, a, y] + 0.8 * V[y]) for a in range(2) for y in range(4)]
            mean = sum(w * x for w, x in target)
            td += rho[s] * sum(w * (x - V[s]) ** 2 for w, x in target)
            bellman += rho[s] * (mean - V[s]) ** 2
            variance += rho[s] * sum(w * (x - mean) ** 2 for w, x in target)
        found = pac.td_decomposition(mdp, mu, V)
        assert found[:3] == pytest.approx((td, bellman, variance))
        assert found.td_error == pytest.approx(found.bellman_error + found.variance)
        if rewards == (4,):
            assert found.variance == pytest.approx(0.64 * rho @ (chain @ V**2 - (chain @ V) ** 2))
        off = V - b.models.evaluate_policy(mdp, mu)
        assert found.distance == pytest.approx(sqrt(rho @ off**2))
        assert found.distance <= found.bound == pytest.approx(sqrt(bellman) / 0.2)


def test_the_norm_is_that_of_the_stationary_distribution():
    """Periodic chains, several closed classes and ends; the bound is reached by a constant error."""
    ring = TabularMDP.from_dense([[[0.0, 1.0]], [[1.0, 0.0]]], [1.0, 0.0], 0.5)
    assert pac.stationary_distribution(ring, [0, 0]) == pytest.approx([0.5, 0.5])
    V = b.models.evaluate_policy(ring, [0, 0])
    assert pac.td_decomposition(ring, [0, 0], V) == pytest.approx((0.0, 0.0, 0.0, 0.0, 0.0), abs=1e-12)
    apart = pac.td_decomposition(ring, [0, 0], V + 3.0)
    assert (apart.distance, apart.bound) == pytest.approx((3.0, 3.0))
    two = TabularMDP.from_dense([[[0.0, 0.25, 0.75]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]], [5.0, 1.0, 2.0], 0.5)
    assert pac.stationary_distribution(two, [0, 0, 0]) == pytest.approx([0.0, 0.25, 0.75])
    ends = TabularMDP.from_dense([[[0.5, 0.5]], [[0.0, 1.0]]], [1.0, 7.0], 0.5, terminal=[1])
    found = pac.td_decomposition(ends, [0, 0], [9.0, 2.0])
    assert found == pytest.approx((1.0, 1.0, 0.0, 2.0, 2.0))  # the end pays nothing: V - gamma V = 1


# Bad input ------------------------------------------------------------------------------------------------------------

NUMBERS = (None, "x", np.nan, [], 1j, True)
MODEL = {"kl": 1.0, "n_states": 2, "gamma": 0.5, "visits": 9, "delta": 0.1}
CASES = [
    (pac.model_bound, MODEL, {
        "kl": (*NUMBERS, -0.1), "n_states": (0, 1.5, None), "gamma": (*NUMBERS, 0.0, 1.0, 1.2), "visits": (0, -1, 2.5),
        "delta": (*NUMBERS, 0.0, 1.0, -1, inf), "r_max": (0.0, -1.0, inf, 1e101, 1e-101),
        "form": ("L1", None, 3), "known_rewards": (2,),
    }),
    (pac.value_bound, MODEL | {"n_actions": 2, "empirical": 0.1}, {
        "kl": (*NUMBERS, -0.1), "n_states": (0,), "n_actions": (0,), "gamma": (0.0, 1.0), "visits": (0,),
        "delta": (0.0, 1.0), "empirical": (*NUMBERS, -0.1, inf, 1e101), "r_max": (0.0, 1e101, 1e-101),
        "known_rewards": ("yes",),
    }),
    (pac.function_approximation_bound, {"kl": 1.0, "samples": 9, "delta": 0.1, "empirical": 0.1, "loss_range": 1.0}, {
        "kl": (*NUMBERS, -0.1), "samples": (0, 1.5), "delta": (0.0, 1.0), "empirical": (-0.1, 1.1, np.nan),
        "loss_range": (0.0, -1.0, 1e101, 1e-101), "mixing": (0.5, np.nan, inf, 1e101),
    }),
    (pac.bandit_bound, {"kl": 1.0, "steps": 9, "delta": 0.1, "epsilon": 0.2, "arms": 3}, {
        "kl": (*NUMBERS, -0.1), "steps": (0, 2.5), "delta": (0.0, 1.0), "epsilon": (0.0, 0.34, np.nan, 1e-101),
        "arms": (0, 1.5), "form": ("azuma", None),
    }),
    (pac.mcallester, {"kl": 1.0, "samples": 9, "delta": 0.1, "empirical": 0.1}, {
        "kl": (-1.0, np.nan), "samples": (0,), "delta": (0.0, 1.0), "empirical": (-0.1, 1.1),
    }),
    (pac.lemma, {"kl": 1.0, "constant": 2.0, "exponent": 3.0, "delta": 0.1}, {
        "kl": (-1.0, np.nan), "constant": (0.0, inf, 1e101, 1e-101), "exponent": (-1.0, np.nan), "delta": (0.0, 1.0),
    }),
    (pac.kl, {"q": [0.5, 0.5], "p": [0.5, 0.5]}, {
        "q": ([0.5, 0.6], [], [1.5, -0.5], "x", None, [[1.0]], [np.nan, 1.0]),
        "p": ([1.0], [0.5, 0.2, 0.3], [0.5, np.inf]),
    }),
    (pac.kl_dirichlet, {"alpha": [1.0, 2.0], "beta": [1.0, 1.0]}, {
        "alpha": ([0.0, 1.0], [], None, [np.nan, 1.0], [1e101, 1.0], [1e-101, 1.0]),
        "beta": ([1.0], [-1.0, 1.0], "x", 3.0, [1e101, 1.0], [1e-101, 1.0]),
    }),
    (pac.kl_inverse, {"empirical": 0.1, "c": 0.1}, {"empirical": (*NUMBERS, -0.1, 1.1), "c": (*NUMBERS, -0.1)}),
]  # fmt: skip
BAD = [(f, given, name, x) for f, given, cases in CASES for name, xs in cases.items() for x in xs]


@pytest.mark.parametrize("f, given, name, x", BAD, ids=lambda x: getattr(x, "__name__", None))
def test_bad_input(f, given, name, x):
    with pytest.raises(InvalidArgument) as error:
        f(**given | {name: x})
    assert str(error.value).startswith(f"{f.__name__}: '{name}' must be ")


def test_bad_input_of_the_decomposition():
    mdp = drawn(default_rng(0))
    still = TabularMDP.from_dense([[[1.0]]], [0.0], 1.0)
    for given, name in (
        ((None, [0] * 4, np.zeros(4)), "mdp"),
        ((still, [0], [0.0]), "mdp"),
        ((mdp, [0], np.zeros(4)), "policy"),
        ((mdp, [[1], [2, 3]], np.zeros(4)), "policy"),
        ((mdp, [0, 0, 0, 2], np.zeros(4)), "policy"),
        ((mdp, [0] * 4, np.zeros(3)), "values"),
        ((mdp, [0] * 4, [0.0, np.nan, 0.0, 0.0]), "values"),
        ((mdp, [0] * 4, [0.0, 1e101, 0.0, 0.0]), "values"),
    ):
        with pytest.raises(InvalidArgument, match=f"td_decomposition: '{name}' must be"):
            pac.td_decomposition(*given)
