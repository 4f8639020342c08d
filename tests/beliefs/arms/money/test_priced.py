"""Priced arms against the same problem with listed outcomes, value for value, and against quadrature."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

import bayesrl as b
from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_q, policy_value, thompson
from bayesrl.bandits.finite_horizon_index import finite_horizon_index
from bayesrl.bandits.gittins import gittins_index
from bayesrl.beliefs import (
    BernoulliModels,
    BetaBernoulli,
    BinarisedRewards,
    FiniteModels,
    Forgetting,
    FullBandit,
    LogisticArms,
    LogisticLaplaceArms,
    NormalArm,
    OutcomeModels,
    PoissonArm,
    Priced,
    SemiBandit,
)
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.best_arm import best_beta, best_priced_beta
from bayesrl.live import LiveAgent

PRICES = np.array([4.0, 7.0, 12.0])
ALPHA, BETA = np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 4.5])
COINS = BetaBernoulli(ALPHA, BETA, 0.9)
FEATURES = np.array([[1.0, 0.0], [0.5, 0.5], [-0.3, 1.0]])
MEANS = np.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.5], [0.4, 0.4, 0.8]])
INSIDE = {
    "betas": COINS,
    "models": FiniteModels(BernoulliModels(MEANS)),
    "logistic": LogisticArms.isotropic(2, features=FEATURES),
    "laplace": LogisticLaplaceArms.isotropic(2, features=FEATURES),
    "forgetting": Forgetting(COINS, decay=0.9),
}


def log_of(steps=30, seed=0):
    rng = default_rng(seed)
    return [(int(a), bool(y)) for a, y in zip(rng.integers(3, size=steps), rng.random(steps) < 0.4, strict=True)]


def learnt(belief, log, prices=None):
    for a, y in log:
        belief = belief.update(Transition(0, a, float(y) * (1.0 if prices is None else prices[a]), 0))
    return belief


@pytest.mark.parametrize("name", INSIDE)
def test_answers_are_those_of_the_belief_inside_in_units_of_money(name):
    inside, log = INSIDE[name], log_of()
    priced, plain = learnt(Priced(inside, PRICES), log, PRICES), learnt(inside, log)
    assert priced.belief == plain
    assert_allclose(priced.mean(), PRICES * plain.mean(), rtol=1e-15)
    assert_allclose(priced.variance(), PRICES**2 * plain.variance(), rtol=1e-15)
    assert_allclose(priced.quantile(0.7), PRICES * plain.quantile(0.7), rtol=1e-15)
    drawn = priced.sample_means(None, default_rng(1))
    assert_allclose(drawn, PRICES * plain.sample_means(None, default_rng(1)), rtol=1e-15)
    assert priced.gamma == plain.gamma
    assert priced.n_actions == 3
    assert priced.reward_deviation() == 6.0
    for ask in ("plays", "average", "log_evidence", "n_weights", "features"):
        if hasattr(plain, ask) and ask not in priced.unsupported:
            mine, theirs = (x() if callable(x) else x for x in (getattr(priced, ask), getattr(plain, ask)))
            assert_allclose(mine, theirs * PRICES if ask == "average" else theirs)


@pytest.mark.parametrize("name", INSIDE)
def test_a_log_is_its_steps_and_lockstep_is_one_by_one(name):
    priced, n = Priced(INSIDE[name], PRICES), 4
    logs = [log_of(12, seed) for seed in range(n)]
    action = np.array([[a for a, _ in log] for log in logs]).T
    reward = np.array([[PRICES[a] * y for a, y in log] for log in logs]).T
    together = priced.batch(n)
    for a, r in zip(action, reward, strict=True):
        together = together.update(Transition(np.zeros(n, int), a, r, 0))
    for i in range(n):
        alone = learnt(priced, logs[i], PRICES)
        assert_allclose(together.mean()[i], alone.mean(), rtol=1e-10)
        assert_allclose(together.quantile(0.3)[i], alone.quantile(0.3), rtol=1e-8)
    columns = priced.update_many({"action": action[:, 0], "reward": reward[:, 0]})
    steps = [Transition(0, int(a), float(r), 0) for a, r in zip(action[:, 0], reward[:, 0], strict=True)]
    assert priced.update_many(steps).belief == columns.belief
    inside = INSIDE[name].update_many({"action": action[:, 0], "reward": (reward[:, 0] > 0.0).astype(float)})
    assert columns.belief == inside


def test_prices_of_one_change_nothing():
    priced, plain, log = Priced(COINS, np.ones(3)), COINS, log_of(9)
    priced, plain = learnt(priced, log, np.ones(3)), learnt(plain, log)
    for ask in ("mean", "variance", "plays", "average", "log_evidence"):
        assert_array_equal(getattr(priced, ask)(), getattr(plain, ask)())
    mine, theirs = priced.best_arm(), plain.best_arm()
    assert_allclose(mine.p, theirs.p, atol=1e-6)
    assert_allclose(mine.given, theirs.given, atol=1e-5)
    assert_allclose(mine.gain(), theirs.gain(), atol=1e-6)
    assert_allclose(bayes_optimal_q(priced, 5), bayes_optimal_q(plain, 5), rtol=1e-13)


def test_equals_the_problem_with_listed_outcomes():
    """Three bandits of two prices and a zero: `OutcomeModels` lists the outcomes, `Priced` knows the prices."""
    values = np.array([0.0, 4.0, 7.0, 12.0])
    prob = np.zeros((3, 3, 4))
    prob[..., 0] = 1.0 - MEANS
    for a in range(3):
        prob[:, a, a + 1] = MEANS[:, a]
    listed = FiniteModels(OutcomeModels(values, prob), gamma=0.9)
    priced = Priced(FiniteModels(BernoulliModels(MEANS), gamma=0.9), PRICES)
    log = log_of(7)
    listed, priced = (learnt(belief, log, PRICES) for belief in (listed, priced))
    assert_allclose(priced.log_evidence(), listed.log_evidence(), rtol=1e-13)
    assert_allclose(priced.belief.posterior(), listed.posterior(), rtol=1e-13)
    for ask in ("mean", "variance"):
        assert_allclose(getattr(priced, ask)(), getattr(listed, ask)(), rtol=1e-12)
    assert_allclose(priced.quantile(0.6), listed.quantile(0.6), rtol=1e-13)
    assert_array_equal(priced.sample_means(None, default_rng(5)), listed.sample_means(None, default_rng(5)))
    mine, theirs = priced.best_arm(), listed.best_arm()
    assert_allclose(mine.p, theirs.p, rtol=1e-12)
    assert_allclose(mine.given, theirs.given, rtol=1e-12)
    assert_allclose(mine.shortfall, theirs.shortfall, atol=1e-12)
    for T in (1, 2, 3):
        for criterion in ("reward", "regret"):
            found, expected = (bayes_optimal_q(belief, T, criterion) for belief in (priced, listed))
            assert_allclose(found, expected, rtol=1e-12)
            found, expected = (policy_value(belief, T, thompson, criterion) for belief in (priced, listed))
            assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def best_q(alpha, beta, prices, left, gamma):
    """Exact play by recursion over histories, in money."""
    q = np.empty(len(alpha))
    for a in range(len(alpha)):
        p = alpha[a] / (alpha[a] + beta[a])
        q[a] = p * prices[a]
        if left > 1:
            one = np.eye(len(alpha))[a]
            win = best_q(alpha + one, beta, prices, left - 1, gamma).max()
            lose = best_q(alpha, beta + one, prices, left - 1, gamma).max()
            q[a] += gamma * (p * win + (1.0 - p) * lose)
    return q


def test_exact_play_of_betas_equals_enumerated_histories():
    priced = Priced(COINS, PRICES)
    assert_allclose(bayes_optimal_q(priced, 4), best_q(ALPHA, BETA, PRICES, 4, 0.9), rtol=1e-12)
    four = np.array([[0.8, 1.5, 2.0], [1.8, 1.5, 2.0]] * 2)
    together = Priced(BetaBernoulli(four, np.tile(BETA, (4, 1)), 0.9), PRICES)
    q = b.make("bayes-optimal-bandit", depth=3).plan(together, 0, 0, default_rng(0)).info["q"]
    for i in (0, 1):
        assert_allclose(q[i], best_q(four[i], BETA, PRICES, 3, 0.9), rtol=1e-12)
    assert_array_equal(q[:2], q[2:])


def retirement(alpha, beta, price, gamma, plays):
    """Gittins's index by bisection on the income at which one retires, with `plays` plays at most: an oracle."""

    def worth(income):
        V = np.maximum(income / (1.0 - gamma), 0.0) * np.ones(plays + 1)
        for n in range(plays - 1, -1, -1):
            k = np.arange(n + 1)
            p = (alpha + k) / (alpha + beta + n)
            on = p * price + gamma * (p * V[1 : n + 2] + (1.0 - p) * V[: n + 1])
            V = np.maximum(on, income / (1.0 - gamma)) if n else on
        return float(V[0]) - income / (1.0 - gamma)

    low, high = 0.0, price
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if worth(middle) > 0.0 else (low, middle)
    return low


def test_gittins_index_is_calibrated_in_money():
    priced = Priced(COINS, PRICES)
    q = b.make("gittins").plan(priced, 0, b.make("gittins").start(), default_rng(0)).info["q"]
    expected = [retirement(a, c, price, 0.9, 200) for a, c, price in zip(ALPHA, BETA, PRICES, strict=True)]
    assert_allclose(q, expected, atol=1e-5)
    assert_allclose(q, PRICES * gittins_index(ALPHA, BETA, 0.9), rtol=1e-6)


def test_finite_horizon_index_is_the_price_times_that_of_the_coins():
    priced = Priced(COINS, PRICES)
    planner = b.make("finite-horizon-index", horizon=7)
    q = planner.plan(priced, 0, 2, default_rng(0)).info["q"]
    assert_allclose(q, PRICES * finite_horizon_index(ALPHA, BETA, 5, 0.9), rtol=1e-12)
    one = Priced(BetaBernoulli([1.0, 1e9], [1.0, 1e9], 1.0), np.array([10.0, 1.0]))  # .5 is known of the second arm
    left = planner.plan(one, 0, 0, default_rng(0)).info["q"]
    assert_allclose(left, [10.0 * float(finite_horizon_index(1, 1, 7)), 0.5], rtol=1e-6)


def chance_by_quadrature(alpha, beta, prices, a):
    """P(arm a is the best) and E[mean of each arm; arm a is the best] / P by adaptive quadrature."""
    others = [c for c in range(len(alpha)) if c != a]
    breaks = sorted({p / prices[a] for p in prices if p < prices[a]})

    def F(c, x):
        return stats.beta.cdf(min(x * prices[a] / prices[c], 1.0), alpha[c], beta[c])

    def both(t, of=None):
        each = stats.beta.pdf(t, alpha[a], beta[a]) * np.prod([F(c, t) for c in others if c != of])
        if of is None:
            return each
        top = min(t * prices[a] / prices[of], 1.0)
        part = stats.beta.cdf(top, alpha[of] + 1.0, beta[of]) * alpha[of] / (alpha[of] + beta[of])
        return each * part * prices[of]

    def whole(f):
        edges = [0.0, *breaks, 1.0]
        parts = [integrate.quad(f, lo, hi, limit=400, epsabs=1e-11)[0] for lo, hi in pairwise(edges)]
        return sum(parts)

    p = whole(both)
    given = [whole(lambda t: prices[a] * t * both(t)) if c == a else whole(lambda t, c=c: both(t, c)) for c in
             range(len(alpha))]  # fmt: skip
    return p, np.array(given) / p


@pytest.mark.parametrize(
    "alpha, beta, prices",
    [
        ([2.0, 3.0, 1.0], [5.0, 1.0, 1.0], [4.0, 1.0, 2.0]),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [4.0, 7.0, 12.0]),
        ([0.8, 1.5, 2.0], [1.3, 1.0, 4.5], [4.0, 7.0, 12.0]),
        ([120.0, 3.0, 40.0], [400.0, 9.0, 300.0], [10.0, 9.0, 20.0]),
        ([0.5, 0.5], [0.5, 0.5], [1.0, 3.0]),
    ],
)
def test_best_arm_of_betas_at_prices_is_quadrature(alpha, beta, prices):
    p, M = best_priced_beta(*(np.array(x) for x in (alpha, beta, prices)))
    tol = 2e-7 if min(*alpha, *beta) >= 1.0 else 1e-6
    for a in range(len(prices)):
        chance, given = chance_by_quadrature(alpha, beta, prices, a)
        assert_allclose(p[a], chance, atol=tol)
        assert_allclose(M[a], given, rtol=20 * tol)
    assert_allclose(p.sum(), 1.0, rtol=1e-14)


def test_best_arm_at_equal_prices_is_that_of_the_coins():
    rng = default_rng(0)
    for K in (1, 2, 5):
        alpha, beta = rng.integers(1, 40, (2, 3, K)).astype(float)
        (p, M), (q, N) = best_beta(alpha, beta), best_priced_beta(alpha, beta, np.full(K, 5.0))
        assert_allclose(q, p, rtol=1e-6, atol=1e-8)
        assert_allclose(N[q > 1e-3], 5.0 * M[q > 1e-3], rtol=1e-5)


def test_an_arm_that_cannot_be_the_best_is_never_drawn():
    p, M = best_priced_beta(np.array([50.0, 1.0]), np.array([1.0, 1.0]), np.array([100.0, 1.0]))
    assert p[1] < 1e-12
    assert np.isfinite(M).all()
    assert_allclose(M[0], [100.0 * 50.0 / 51.0, 0.5], rtol=1e-6)


def test_information_of_a_play_is_that_of_the_outcome():
    """I(A*; Y_b) by enumeration over three models."""
    priced = Priced(FiniteModels(BernoulliModels(MEANS), weights=[0.2, 0.5, 0.3]), PRICES)
    w, best = np.array([0.2, 0.5, 0.3]), (MEANS * PRICES).argmax(axis=1)
    known = priced.best_arm()
    for arm in range(3):
        joint = np.zeros((3, 2))
        for i in range(3):
            joint[best[i]] += w[i] * np.array([1.0 - MEANS[i, arm], MEANS[i, arm]])
        outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        expected = sum(joint[i, y] * np.log(joint[i, y] / outer[i, y]) for i, y in np.ndindex(3, 2) if joint[i, y])
        assert_allclose(known.gain()[arm], expected, rtol=1e-9)
    assert_allclose(known.mean, PRICES * (w @ MEANS))
    drawn = Priced(LogisticArms.isotropic(2, features=FEATURES), PRICES).best_arm(None, 500, default_rng(0))
    assert_allclose(drawn.p.sum(), 1.0)
    assert (drawn.gain() >= 0.0).all()
    assert drawn.gain().max() < np.log(3.0)


def test_information_of_a_play_by_draws_is_that_of_the_outcome():
    """A belief that is drawn from: the same draws, and the information from the joint law of A* and Y."""
    logistic = LogisticArms.isotropic(2, features=FEATURES)
    theta = np.array([logistic.sample_means(None, rng) for rng in [default_rng(3)] for _ in range(400)])
    known = Priced(logistic, PRICES).best_arm(None, 400, default_rng(3))
    best = (theta * PRICES).argmax(axis=1)
    for arm in range(3):
        gain = 0.0
        for a in range(3):
            share, inside, whole = (best == a).mean(), theta[best == a, arm], theta[:, arm].mean()
            for p, q in ((inside.mean(), whole), (1.0 - inside.mean(), 1.0 - whole)) if inside.size else ():
                gain += share * p * np.log(p / q)
        assert_allclose(known.gain()[arm], gain, rtol=1e-9)


def test_a_set_is_handed_on_as_zeros_and_ones():
    priced = Priced(SemiBandit(COINS), PRICES)
    made = priced.as_purchase(Transition(0, np.array([0, 2]), 16.0, np.array([4.0, 12.0])))
    assert made.reward == 2.0
    assert made.next_observation.tolist() == [1.0, 1.0]


def test_thompson_shares_are_the_chances_of_being_the_best():
    """20,000 draws: false alarm 1e-6, sees .02."""
    priced, rng = Priced(COINS, PRICES), default_rng(0)
    shares = np.bincount([priced.sample_means(None, rng).argmax() for _ in range(20_000)], minlength=3) / 20_000
    assert_allclose(shares, priced.best_arm().p, atol=5.0 * np.sqrt(0.25 / 20_000))
    root = priced.posteriors_after(np.zeros((1, 3, 2), int))
    assert_allclose(root.drawn()[0], priced.best_arm().p, rtol=1e-12)


def test_ties_of_models_in_money_are_kept():
    """Rates times prices that are equal in exact arithmetic tie, whatever their rounding."""
    priced = Priced(FiniteModels(BernoulliModels([[0.3, 0.1]])), np.array([0.1, 0.3]))
    root = priced.posteriors_after(np.zeros((1, 2, 2), int))
    assert root.best().tolist() == [[1.0, 1.0]]
    assert root.drawn().tolist() == [[1.0, 0.0]]


# Several at once -----------------------------------------------------------------------------------------------------


def test_around_a_semi_bandit_and_inside_one():
    outside, inside = Priced(SemiBandit(COINS), PRICES), SemiBandit(Priced(COINS, PRICES))
    plain = SemiBandit(COINS)
    rng = default_rng(0)
    for _ in range(10):
        a = rng.choice(3, 2, replace=False)
        y = (rng.random(2) < 0.5).astype(float)
        paid = y * PRICES[a]
        datum = Transition(0, a, float(paid.sum()), paid)
        outside, inside = outside.update(datum), inside.update(datum)
        plain = plain.update(Transition(0, a, float(y.sum()), y))
    assert outside.belief == plain
    assert_allclose(outside.mean(), PRICES * plain.mean())
    assert_allclose(inside.mean(), outside.mean())
    log = {"action": np.array([[0, 1], [1, 2]]), "reward": np.array([7.0, 19.0]),
           "next_observation": np.array([[0.0, 7.0], [7.0, 12.0]])}  # fmt: skip
    assert outside.update_many(log) == inside_out(inside.update_many(log))
    together = Priced(SemiBandit(COINS), PRICES).batch(2)
    both = Transition(0, np.array([[0, 1], [2, 1]]), np.array([4.0, 7.0]), np.array([[4.0, 0.0], [0.0, 7.0]]))
    assert_allclose(together.update(both).mean()[1], [4.0 * 0.8 / 2.1, 7.0 * 2.5 / 3.5, 12.0 * 2.0 / 7.5])


def inside_out(belief):
    return Priced(SemiBandit(belief.arms.belief), belief.arms.prices)


def test_forgetting_around_prices_is_forgetting_inside():
    log = log_of(20)
    outside = learnt(Forgetting(Priced(COINS, PRICES), decay=0.8), log, PRICES)
    inside = learnt(Priced(Forgetting(COINS, decay=0.8), PRICES), log, PRICES)
    assert_allclose(outside.mean(), inside.mean(), rtol=1e-13)
    assert_allclose(outside.log_evidence(), inside.log_evidence(), rtol=1e-13)
    logistic = LogisticArms.isotropic(2, features=FEATURES)
    outside = learnt(Forgetting(Priced(logistic, PRICES), decay=0.8), log, PRICES)
    inside = learnt(Priced(Forgetting(logistic, decay=0.8), PRICES), log, PRICES)
    assert_allclose(outside.log_evidence(), inside.log_evidence(), rtol=1e-12)
    together = Forgetting(Priced(COINS, PRICES), decay=0.8).batch(2)
    assert together.update(Transition(0, np.array([0, 1]), np.array([4.0, 0.0]), 0)).log_evidence().shape == (2,)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", [1.0, 3.9, -4.0, 8.0])
def test_other_rewards_are_refused(reward):
    belief = Priced(COINS, PRICES)
    said = r"Priced: reward \S+ of arm 0 has probability zero under this belief: it pays 0 or its price, 4."
    with pytest.raises(ImpossibleEvidence, match=said):
        belief.update(Transition(0, 0, reward, 0))
    with pytest.raises(ImpossibleEvidence, match=said):
        belief.update_many({"action": [1, 0], "reward": [7.0, reward]})
    with pytest.raises(ImpossibleEvidence, match=said):
        belief.batch(2).update(Transition(0, np.array([1, 0]), np.array([7.0, reward]), 0))
    assert belief == Priced(COINS, PRICES)


def test_a_price_is_met_up_to_rounding():
    belief = Priced(BetaBernoulli.uniform(1), np.array([0.1 + 0.2]))
    assert belief.update(Transition(0, 0, 0.3, 0)).belief == BetaBernoulli([2.0], [1.0])


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), "x", None, 1e101, [4.0, 4.0]])
def test_rewards_that_are_no_numbers_are_refused(reward):
    belief = Priced(COINS, PRICES)
    with pytest.raises(InvalidArgument, match="'reward' must be"):
        belief.update(Transition(0, 0, reward, 0))
    with pytest.raises(InvalidArgument):
        belief.update_many({"action": [0], "reward": [reward]})


@pytest.mark.parametrize("action", [3, -1, 0.5, "x", None])
def test_arms_that_do_not_exist_are_refused(action):
    with pytest.raises(InvalidArgument, match="'action' must be"):
        Priced(COINS, PRICES).update(Transition(0, action, 4.0, 0))
    with pytest.raises(InvalidArgument):
        Priced(COINS, PRICES).update_many({"action": [action], "reward": [0.0]})


@pytest.mark.parametrize(
    "prices, said",
    [
        ([4.0, 7.0], r"'prices' must be of shape \(3,\), one for each arm"),
        ([[4.0, 7.0, 1.0]], r"'prices' must be of shape \(3,\), one for each arm"),
        ([4.0, 0.0, 1.0], "'prices' must be greater than 0 everywhere"),
        ([4.0, -1.0, 1.0], "'prices' must be greater than 0 everywhere"),
        ([4.0, float("nan"), 1.0], "'prices' must be finite everywhere"),
        ([4.0, 1e101, 1.0], "'prices' must be of moderate size"),
        ("x", "'prices' must be an array of numbers"),
        (None, "'prices' must be an array of numbers"),
        ([], "'prices' must be a non-empty array"),
    ],
)
def test_prices_are_checked(prices, said):
    with pytest.raises(InvalidArgument, match=said):
        Priced(COINS, prices)


@pytest.mark.parametrize("inside", [NormalArm.standard(3),
                                    PoissonArm.exponential(3), FullBandit.uniform(3, 2), 5, None,
                                    SemiBandit(PoissonArm.exponential(3)), Priced(COINS, PRICES),
                                    FiniteModels(OutcomeModels([0.0, 1.0], np.full((1, 3, 2), 0.5)))])  # fmt: skip
def test_only_beliefs_about_zeros_and_ones_have_prices(inside):
    with pytest.raises(InvalidArgument, match="'belief' must be a belief about arms that pay 0 or 1"):
        Priced(inside, PRICES)


def test_what_the_belief_inside_lacks_is_refused_with_the_reason():
    priced = Priced(LogisticArms.isotropic(2, features=FEATURES), PRICES)
    for planner in ("gittins", "bayes-optimal-bandit", "ucb1", "finite-horizon-index"):
        with pytest.raises(Incompatible, match="The belief inside, LogisticArms, lacks"):
            b.BayesAgent(priced, b.make(planner))
    with pytest.raises(Incompatible, match=r"Priced\.log_evidence needs a belief with 'log_evidence'"):
        priced.log_evidence()
    with pytest.raises(Incompatible, match=r"Priced\.reward_values needs"):
        priced.reward_values()
    with pytest.raises(Incompatible, match=r"Priced\.plays"):
        priced.plays()


def test_is_a_value():
    priced = learnt(Priced(COINS, PRICES), log_of(5), PRICES)
    assert pickle.loads(pickle.dumps(priced)) == priced
    assert priced != Priced(COINS, PRICES)
    assert not priced.prices.flags.writeable
    binarised = Priced(BinarisedRewards(BetaBernoulli.uniform(2)), np.array([3.0, 9.0]))
    assert binarised.update(Transition(0, 1, 9.0, 0), default_rng(0)).mean()[1] == pytest.approx(6.0)


# Agents --------------------------------------------------------------------------------------------------------------


def test_a_service_learns_prices(tmp_path):
    shop = LiveAgent(
        b.BayesAgent(Priced(BetaBernoulli.uniform(3), PRICES), b.make("thompson")), actions=["x", "y", "z"]
    )
    for suggestion, reward in (("x", 4.0), ("z", 0.0), ("y", 7.0)):
        shop.learn(suggestion, reward=reward)
    assert [row.mean for row in shop.explain()] == pytest.approx([8 / 3, 14 / 3, 4.0])
    with pytest.raises(ImpossibleEvidence):
        shop.learn("x", reward=1.0)
    assert [row.mean for row in shop.explain()] == pytest.approx([8 / 3, 14 / 3, 4.0])
    shop.warm_start({"said": ["x", "y"], "paid": [0.0, 7.0]}, action="said", reward="paid")
    assert_allclose(shop.belief.mean(), [2.0, 5.25, 4.0])
    p = shop.probability(draws=4000)
    assert_allclose(p, shop.belief.best_arm().p, atol=0.04)
    path = tmp_path / "shop"
    b.save(shop, path)
    again = b.load(path)
    assert again.belief == shop.belief
    assert [again.act() for _ in range(5)] == [shop.act() for _ in range(5)]
    with pytest.raises(InvalidArgument, match="has no contexts"):
        shop.act(context=[1.0, 2.0])


def test_a_service_with_contexts_learns_prices():
    """A vector about the customer becomes a matrix of features; the price is that of the named arm."""
    belief = Priced(LogisticLaplaceArms.isotropic(3 * 2), PRICES)
    shop = LiveAgent(b.BayesAgent(belief, b.make("thompson")), actions=["x", "y", "z"])
    told = {"said": ["x", "z", "y", "z"], "paid": [4.0, 0.0, 7.0, 12.0], "age": [0.1, 0.2, 0.3, 0.4], "one": [1.0] * 4}
    shop.warm_start(told, action="said", reward="paid", context=["one", "age"])
    plain = LiveAgent(b.BayesAgent(belief.belief, b.make("thompson")), actions=["x", "y", "z"])
    plain.warm_start(told | {"paid": [1.0, 0.0, 1.0, 1.0]}, action="said", reward="paid", context=["one", "age"])
    assert_allclose(shop.belief.belief.mean_, plain.belief.mean_, rtol=1e-12)
    shop.learn("y", reward=7.0, context=[1.0, 0.5])
    plain.learn("y", reward=1.0, context=[1.0, 0.5])
    assert_allclose(
        [row.mean for row in shop.explain([1.0, 0.5])],
        PRICES * [row.mean for row in plain.explain([1.0, 0.5])],
        rtol=1e-10,
    )
