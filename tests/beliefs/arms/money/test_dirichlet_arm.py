"""Arms with finitely many outcomes against Bernoulli arms, priced arms, Bayes' rule by hand, draws and histories."""

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

import bayesrl as b
from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_q, policy_value, thompson
from bayesrl.beliefs import BetaBernoulli, DirichletArm, Priced
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.worlds import PricedBandit

ALPHA, BETA = np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 4.5])
PRICES = np.array([4.0, 7.0, 12.0])
TWO = DirichletArm(np.stack([BETA, ALPHA], axis=-1), np.stack([np.zeros(3), PRICES], axis=-1), 0.9)
PRICED = Priced(BetaBernoulli(ALPHA, BETA, 0.9), PRICES)
THREE = DirichletArm(np.array([[0.8, 1.5, 2.0], [1.3, 1.0, 0.7]]), np.array([0.0, 4.0, 7.0]), 0.9)
OWN = DirichletArm(np.array([[0.8, 1.5, 2.0], [1.3, 1.0, 0.7]]), np.array([[3.0, -1.0, 7.0], [5.0, 4.0, 0.5]]), 0.9)


def learnt(belief, log):
    for a, r in log:
        belief = belief.update(Transition(0, a, r, 0))
    return belief


def test_two_outcomes_are_bernoulli_arms():
    log = [(0, 4.0), (2, 0.0), (1, 7.0), (1, 7.0), (2, 12.0), (0, 0.0)]
    mine, theirs = learnt(TWO, log), learnt(PRICED, log)
    for ask in ("mean", "variance", "plays", "average", "log_evidence"):
        assert_allclose(getattr(mine, ask)(), getattr(theirs, ask)(), rtol=1e-12, err_msg=ask)
    for p in (0.0, 0.01, 0.5, 0.9, 1.0):
        assert_allclose(mine.quantile(p), theirs.quantile(p), rtol=1e-9)
    assert mine.reward_deviation() == theirs.reward_deviation() == 6.0
    for T in (1, 3, 4):
        for criterion in ("reward", "regret"):
            found, expected = (bayes_optimal_q(x, T, criterion) for x in (mine, theirs))
            assert_allclose(found, expected, rtol=1e-11)
    assert_allclose(policy_value(mine, 3, thompson), policy_value(theirs, 3, thompson), rtol=1e-11)
    for name in ("gittins", "finite-horizon-index"):
        planner = b.make(name)
        found, expected = (planner.plan(x, 0, planner.start(), default_rng(0)).info["q"] for x in (mine, theirs))
        assert_allclose(found, expected, rtol=1e-12)


def test_the_better_outcome_may_come_first_and_the_worse_one_may_pay():
    turned = DirichletArm(np.stack([ALPHA, BETA], axis=-1), np.array([3.0, -1.0]), 0.9)
    plain = BetaBernoulli(ALPHA, BETA, 0.9)
    assert_allclose(turned.quantile(0.3), 4.0 * plain.quantile(0.3) - 1.0, rtol=1e-12)
    kind, state, base, scale = turned.arm_states()
    assert kind == "bernoulli"
    assert_array_equal(state, np.stack([ALPHA, BETA], axis=-1))
    assert_array_equal(base + 0.0 * ALPHA, [-1.0] * 3)
    assert_array_equal(scale + 0.0 * ALPHA, [4.0] * 3)
    q = 4.0 * bayes_optimal_q(plain, 3) - (1.0 + 0.9 + 0.81)
    assert_allclose(bayes_optimal_q(turned, 3), q, rtol=1e-12)


def test_evidence_and_moments_are_bayes_rule():
    """Counts by hand; the variance from the moments of a Dirichlet; evidence as a product of predictive chances."""
    log = [(0, 7.0), (1, 5.0), (0, 7.0), (0, -1.0), (1, 0.5)]
    posterior, chance, now = learnt(OWN, log), 0.0, OWN
    for a, r in log:
        k = int(np.flatnonzero(OWN.values[a] == r)[0])
        chance += np.log(now.alpha[a, k] / now.alpha[a].sum())
        now = now.update(Transition(0, a, r, 0))
    assert_allclose(posterior.log_evidence(), chance, rtol=1e-12)
    assert_allclose(posterior.alpha - OWN.alpha, [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]], atol=1e-12)
    for a in range(2):
        v, alpha = OWN.values[a], posterior.alpha[a]
        law = stats.dirichlet(alpha)
        assert_allclose(posterior.mean()[a], law.mean() @ v, rtol=1e-12)
        assert_allclose(posterior.variance()[a], v @ law.cov() @ v, rtol=1e-10)
    assert_allclose(posterior.plays(), [3.0, 2.0])
    assert_allclose(posterior.average(), [13.0 / 3.0, 2.75])
    assert np.isnan(OWN.average()).all()


@pytest.mark.parametrize("belief", [THREE, OWN, DirichletArm(np.array([[50.0, 200.0, 90.0, 3.0]]), np.arange(4.0))])
def test_quantiles_match_draws(belief):
    """4000 draws: false alarm 1e-6 of a Kolmogorov-Smirnov test for each arm, sees .04."""
    rng = default_rng(1)
    draws = np.array([belief.sample_means(None, rng) for _ in range(4000)])
    for a in range(belief.n_actions):
        x = np.sort(draws[:, a])[::40]
        found = np.array([belief._below(np.full(belief.n_actions, y))[a] for y in x])
        assert np.abs(found - np.arange(len(x)) * 40 / 4000).max() < 0.042
    for p in (1e-4, 0.2, 0.5, 0.99):
        at = belief.quantile(p)
        assert_allclose(belief._below(at), p, atol=1e-9)
    assert_array_equal(belief.quantile(0.0), belief.values.min(axis=-1) + 0.0 * belief.mean())
    assert_array_equal(belief.quantile(1.0), belief.values.max(axis=-1) + 0.0 * belief.mean())


def test_the_inversion_is_the_beta_for_two_outcomes_and_for_ties_in_disguise():
    """Two equal values are one outcome whose count is the sum: Beta again. Values 4 and 4.000001 are nearly that."""
    for alpha in ([0.3, 0.4], [0.8, 1.5], [30.0, 2.0], [900.0, 400.0]):
        belief = DirichletArm(np.array([alpha]), np.array([1.0, 3.0]))
        for x in (1.001, 1.5, 2.3, 2.9):
            expected = special.betainc(alpha[1], alpha[0], 0.5 * (x - 1.0))
            assert_allclose(belief._below(np.array([x]))[0], expected, atol=1e-10)
    near = DirichletArm(np.array([[1.0, 2.0, 0.5]]), np.array([0.0, 4.0, 4.00000001]))
    assert_allclose(near.quantile(0.3), 4.0 * special.betaincinv(2.5, 1.0, 0.3), rtol=1e-7)


def test_a_log_is_its_steps_and_lockstep_is_one_by_one():
    rng, n = default_rng(3), 4
    action = rng.integers(2, size=(25, n))
    reward = OWN.values[action, rng.integers(3, size=(25, n))]
    together = OWN.batch(n)
    for a, r in zip(action, reward, strict=True):
        together = together.update(Transition(0, a, r, 0))
    assert OWN.batch(n).update_many({"action": action, "reward": reward}) == together
    for i in range(n):
        alone = learnt(OWN, zip(action[:, i].tolist(), reward[:, i].tolist(), strict=True))
        assert OWN.update_many({"action": action[:, i], "reward": reward[:, i]}) == alone
        for ask in ("mean", "variance", "plays", "average", "log_evidence"):
            assert_allclose(getattr(together, ask)()[i], getattr(alone, ask)(), rtol=1e-12)
        assert_allclose(together.quantile(0.8)[i], alone.quantile(0.8), rtol=1e-9)
    some, which = OWN.batch(3).distinct_replicates()
    assert some.alpha.shape == (1, 2, 3)
    assert which.tolist() == [0, 0, 0]
    assert together.some_replicates(slice(1, 3)).alpha.tolist() == together.alpha[1:3].tolist()
    assert OWN.update_many([]) == OWN


def history_q(alpha, values, left, gamma):
    q = np.empty(len(alpha))
    for a in range(len(alpha)):
        p = alpha[a] / alpha[a].sum()
        q[a] = p @ values[a]
        for k in range(len(p) if left > 1 else 0):
            more = alpha.copy()
            more[a, k] += 1.0
            q[a] += gamma * p[k] * history_q(more, values, left - 1, gamma).max()
    return q


@pytest.mark.parametrize("belief", [THREE, OWN])
def test_exact_play_equals_enumerated_histories(belief):
    values = np.broadcast_to(belief.values, belief.alpha.shape)
    assert_allclose(bayes_optimal_q(belief, 3), history_q(belief.alpha, values, 3, 0.9), rtol=1e-12)


def test_information_is_that_of_the_outcomes():
    """For two outcomes the draws agree with the integral of Betas: 20,000 draws, an error of about .01."""
    mine = TWO.best_arm(None, 20_000, default_rng(0))
    theirs = PRICED.best_arm()
    assert_allclose(mine.p, theirs.p, atol=0.02)
    assert_allclose(mine.gain(), theirs.gain(), atol=0.02)
    assert_allclose(mine.given, theirs.given, atol=0.3)
    agent = b.BayesAgent(OWN, b.make("information-directed", samples=50))
    assert agent.act(agent.start(), 0, default_rng(0)).action in (0, 1)


def test_information_by_hand():
    """The mutual information of the same draws, term by term."""
    samples = 60
    rng = default_rng(2)
    drawn = np.array([OWN._draw(rng) for _ in range(samples)])  # (samples, K, n)
    best = (drawn * OWN.values).sum(axis=-1).argmax(axis=1)
    known = OWN.best_arm(None, samples, default_rng(2))
    for arm in range(2):
        gain = 0.0
        for a, k in np.ndindex(2, 3):
            joint = drawn[best == a, arm, k].sum() / samples
            gain += joint * np.log(joint / ((best == a).mean() * drawn[:, arm, k].mean()))
        assert_allclose(known.gain()[arm], gain, rtol=1e-9)


def test_small_counts_can_be_drawn():
    belief = DirichletArm(np.full((2, 3), 1e-6), np.array([0.0, 1.0, 2.0]))
    drawn = np.array([belief.sample_means(None, default_rng(i)) for i in range(50)])
    assert np.isfinite(drawn).all()
    assert set(np.round(drawn.ravel(), 6)) <= {0.0, 1.0, 2.0}


def test_what_needs_two_outcomes_is_refused_with_the_reason():
    with pytest.raises(Incompatible, match="Gittins's index is computed for arms with two outcomes"):
        b.BayesAgent(THREE, b.make("gittins"))
    with pytest.raises(Incompatible, match="criterion='reward'"):
        bayes_optimal_q(THREE, 2, "regret")


def test_priors_by_name():
    made = prior_for(PricedBandit([0.5, 0.1], [3.0, 20.0]), "dirichlet-arm:0.5")
    assert made == DirichletArm(np.full((2, 2), 0.5), np.array([[0.0, 3.0], [0.0, 20.0]]))
    assert prior_for(b.make_world("bernoulli", arms=2), "dirichlet-arm") == DirichletArm(
        np.ones((2, 2)), np.array([0.0, 1.0])
    )
    with pytest.raises(InvalidArgument, match="pays 1 or 0"):
        prior_for(b.make_world("gaussian"), "dirichlet-arm")


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: DirichletArm([1.0, 1.0], [0.0, 1.0]), "'alpha' must be of shape"),
        (lambda: DirichletArm([[1.0, 0.0]], [0.0, 1.0]), "'alpha' must be greater than 0"),
        (lambda: DirichletArm([[1.0, 1.0]], [0.0, 1.0, 2.0]), r"'values' must be of shape \(2,\) or \(1, 2\)"),
        (lambda: DirichletArm([[1.0, 1.0]], [1.0, 1.0]), "'values' must be different"),
        (lambda: DirichletArm([[1.0, 1.0]], [1.0, np.inf]), "'values' must be finite"),
        (lambda: DirichletArm([[1.0, 1.0]], "x"), "'values' must be an array of numbers"),
        (lambda: DirichletArm([[1.0, 1.0]], [0.0, 1.0], 1.5), r"'gamma' must be in \[0, 1\]"),
        (lambda: OWN.batch(0), "'replicates' must be"),
        (lambda: OWN.batch(2).batch(2), "'belief' must be of a single experiment"),
        (lambda: OWN.distinct_replicates(), "'belief' must be one in lockstep"),
        (lambda: OWN.update(Transition(0, 2, 7.0, 0)), "'action' must be"),
        (lambda: OWN.update(Transition(0, 0, float("nan"), 0)), "'reward' must be a finite number"),
        (lambda: OWN.quantile(1.5), "'p' must be"),
    ],
)
def test_wrong_arguments_are_refused(make, said):
    with pytest.raises(InvalidArgument, match=said):
        make()


@pytest.mark.parametrize("reward", [0.0, 4.0, 6.99])
def test_other_rewards_are_refused(reward):
    said = r"DirichletArm: reward \S+ of arm 0 has probability zero under this belief: it pays one of 3, -1, 7"
    with pytest.raises(ImpossibleEvidence, match=said):
        OWN.update(Transition(0, 0, reward, 0))
    with pytest.raises(ImpossibleEvidence, match=said):
        OWN.update_many({"action": [1, 0], "reward": [5.0, reward]})


@pytest.mark.parametrize("wrong", [np.inf, -1, [[[1, -1, 0]]], [[0.5]]])
def test_outcomes_seen_are_counts(wrong):
    belief = DirichletArm(np.ones((2, 3)), values=np.array([0.0, 5.0, 20.0]))
    with pytest.raises(InvalidArgument, match="'seen' must be whole numbers of at least 0"):
        belief.posteriors_after(wrong)
