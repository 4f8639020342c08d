"""Bandit planners: naive transcriptions under the same random numbers, laws, lockstep, sets of arms."""

import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import special, stats

from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial
from bayesrl.bandits.ucb1 import UCB1
from bayesrl.beliefs.arms.bandit_models import BernoulliSums
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.core import BayesAgent, Streams, Transition, run
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.lab.compare import compare
from bayesrl.testing import check_agent, check_planner
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit, bernoulli
from bayesrl.worlds.bandits.combinatorial import combinatorial
from bayesrl.worlds.bandits.gaussian import gaussian
from bayesrl.worlds.bandits.logistic import logistic

MEANS = [0.3, 0.55, 0.5, 0.1]


# Naive transcriptions: lists and loops, the papers' lines in their order ---------------------------------------------


def naive_thompson(rng, t, wins, losses):
    draws = [rng.beta(1 + w, 1 + f) for w, f in zip(wins, losses, strict=True)]
    return draws.index(max(draws))


def naive_ucb1(rng, t, wins, losses):
    plays = [w + f for w, f in zip(wins, losses, strict=True)]
    if 0 in plays:
        return plays.index(0)
    index = [w / n + math.sqrt(2 * math.log(sum(plays)) / n) for w, n in zip(wins, plays, strict=True)]
    return index.index(max(index))


def naive_bayes_ucb(rng, t, wins, losses, c=0, horizon=10):
    p = 1 - 1 / (t * math.log(horizon) ** c)
    index = [special.betaincinv(1 + w, 1 + f, p) for w, f in zip(wins, losses, strict=True)]
    return index.index(max(index))


NAIVE = {
    "thompson": (Thompson(), naive_thompson),
    "ucb1": (UCB1(), naive_ucb1),
    "bayes-ucb": (BayesUCB(), naive_bayes_ucb),
    "bayes-ucb, theorem": (BayesUCB.theorem(400), lambda *now: naive_bayes_ucb(*now, c=5, horizon=400)),
}


@pytest.mark.parametrize("name", NAIVE)
def test_planner_equals_naive_transcription(name):
    planner, naive = NAIVE[name]
    for seed in range(5):
        record = run(BayesAgent(BetaBernoulli.uniform(4), planner), BernoulliBandit(np.array(MEANS)), 400, seed)
        streams = Streams.of(seed)
        wins, losses = [0] * 4, [0] * 4
        for t in range(1, 401):
            a = naive(streams.planner, t, wins, losses)
            r = streams.world.random() < MEANS[a]
            assert (record.action[t - 1], record.reward[t - 1]) == (a, r), f"step {t}"
            wins[a] += r
            losses[a] += not r


@pytest.mark.parametrize("planner", [Thompson(), UCB1(), BayesUCB()], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("family", [bernoulli(arms=5), gaussian(arms=5)], ids=["bernoulli", "gaussian"])
def test_laws_and_lockstep(planner, family):
    agent = BayesAgent(family.default_prior(), planner)
    seen = [Transition(0, a, 1.0, 0) for a in (0, 1, 1, 2, 3, 4)]
    check_planner(planner, family.default_prior().update_many(seen), 0, rng=default_rng(0))
    check_agent(agent, family)
    together = run(agent, family, 50, lockstep=7)
    assert together.action.shape == together.reward.shape == (50, 7)
    # Indices are functions of the belief alone: a block of beliefs has the indices of its rows.
    if not isinstance(planner, Thompson):
        beliefs = [family.default_prior().update_many(seen * k) for k in (1, 2, 3)]
        rows = {"action": np.tile([s.action for s in seen * 3], (3, 1)).T, "reward": np.ones((18, 3))}
        block = family.default_prior().batch(3).update_many(rows)
        memory = planner.start()
        alone = planner.plan(beliefs[2], 0, memory, default_rng(0))
        assert_allclose(planner.plan(block, 0, memory, default_rng(0)).info["q"][1], alone.info["q"])


def test_thompson_matches_the_probability_of_being_best():
    """Probability matching, against an exact integral. False alarm 1e-5; sees shifts of .015."""
    belief = BetaBernoulli([3.0, 2.0, 5.0], [2.0, 2.0, 4.0])
    x = np.linspace(0.0, 1.0, 20_001)
    pdf = [stats.beta.pdf(x, a, b) for a, b in zip(belief.alpha, belief.beta, strict=True)]
    cdf = [stats.beta.cdf(x, a, b) for a, b in zip(belief.alpha, belief.beta, strict=True)]
    best = [np.trapezoid(pdf[a] * np.prod([cdf[b] for b in range(3) if b != a], axis=0), x) for a in range(3)]
    n = 40_000
    actions = Thompson().plan(belief.batch(n), 0, None, default_rng(0)).action
    assert stats.chisquare(np.bincount(actions, minlength=3), n * np.array(best) / sum(best)).pvalue > 1e-5


def test_thompson_uses_the_context():
    """Two kinds of customers with opposite tastes: after some learning each gets its own arm."""
    table = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    for prior in (
        LogisticArms.isotropic(2, 0.1, features=table),
        LinearGaussianArms.isotropic(2, 1.0, 0.5, features=table),
    ):
        belief, rng = prior, default_rng(1)
        for t in range(300):
            a = Thompson().plan(belief, t % 2, None, rng).action
            good = a == t % 2
            belief = belief.update(Transition(t % 2, a, float(rng.random() < (0.8 if good else 0.2)), 0))
        late = [Thompson().plan(belief, c, None, rng).action == c for c in (0, 1) for _ in range(100)]
        assert np.mean(late) > 0.9


def test_beliefs_that_do_not_fit_are_refused():
    with pytest.raises(Incompatible, match="UCB1 needs a belief with 'plays', 'average', which LogisticArms lacks"):
        BayesAgent(LogisticArms.isotropic(2), UCB1())
    with pytest.raises(InvalidArgument, match="BayesUCB: 'horizon' must be given if c is not 0"):
        BayesUCB(c=5.0)
    assert BayesUCB.theorem(1000) == BayesUCB(5.0, 1000)


# Sets of arms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("M", [1, 2, 4, 5])
def test_combinatorial_set_is_the_best_of_all_sets(M):
    belief = SemiBandit(BetaBernoulli.uniform(5))
    for seed in range(20):
        decision = ThompsonCombinatorial(M).plan(belief, 0, None, default_rng(seed))
        q = decision.info["q"]
        best = max(itertools.combinations(range(5), M), key=lambda chosen: sum(q[list(chosen)]))
        assert decision.action.tolist() == sorted(best)
    many = ThompsonCombinatorial(M).plan(belief.batch(3), 0, None, default_rng(0))
    for q, chosen in zip(many.info["q"], many.action, strict=True):
        assert set(chosen) == set(np.argsort(q)[-M:])
    with pytest.raises(InvalidArgument, match="at most 5, the number of arms, got 6"):
        ThompsonCombinatorial(6).plan(belief, 0, None, default_rng(0))


def test_semi_bandit_is_single_updates():
    rng, n = default_rng(2), 3
    items = np.array([rng.choice(6, 2, replace=False) for _ in range(n)])
    paid = rng.integers(2, size=(n, 2)).astype(float)
    together = SemiBandit(BetaBernoulli.uniform(6).batch(n)).update(Transition(0, items, paid.sum(axis=1), paid))
    for i in range(n):
        one = SemiBandit(BetaBernoulli.uniform(6)).update(Transition(0, items[i], paid[i].sum(), paid[i]))
        by_hand = BetaBernoulli.uniform(6)
        for a, r in zip(items[i].tolist(), paid[i].tolist(), strict=True):
            by_hand = by_hand.update(Transition(0, a, r, 0))
        assert one.arms == by_hand
        assert together.arms.alpha[i].tolist() == by_hand.alpha.tolist()


def test_full_bandit_is_regression_on_indicators():
    belief, rng = FullBandit.uniform(5, 2), default_rng(3)
    rows, totals = [], []
    for _ in range(30):
        items = rng.choice(5, 2, replace=False)
        rows.append(np.isin(np.arange(5), items).astype(float))
        totals.append(float(rng.integers(3)))
        belief = belief.update(Transition(0, items, totals[-1], 0))
    X, r, noise = np.array(rows), np.array(totals), 2 / 6
    covariance = np.linalg.inv(12 * np.eye(5) + X.T @ X / noise)
    assert_allclose(belief.weights.covariance, covariance, rtol=1e-9, atol=1e-14)
    assert_allclose(belief.mean(), covariance @ (12 * np.full(5, 0.5) + X.T @ r / noise), rtol=1e-9)


@pytest.mark.parametrize("feedback", ["semi", "full"])
def test_combinatorial_learns_under_both_kinds_of_feedback(feedback):
    """Regret in the last fifth is less than a third of that in the first fifth (64 worlds, 500 steps)."""
    family = combinatorial(arms=8, suggestions=3, feedback=feedback)
    agent = BayesAgent(family.default_prior(), ThompsonCombinatorial(3))
    curve = compare({"ts": agent}, family, 500, runs=64).regret(family)["ts"].curve.mean(axis=1)
    assert curve[-1] - curve[400] < curve[99] / 3.0


def test_full_bandit_on_finitely_many_models_finds_the_true_one():
    means = np.array([[0.9, 0.1, 0.5, 0.2], [0.1, 0.9, 0.2, 0.5], [0.3, 0.3, 0.9, 0.9]])
    belief, rng = FiniteModels(BernoulliSums(means)), default_rng(4)
    for _ in range(150):
        chosen = ThompsonCombinatorial(2).plan(belief, 0, None, rng).action
        belief = belief.update(Transition(0, chosen, float((rng.random(2) < means[2, chosen]).sum()), 0))
    assert belief.posterior()[2] > 0.99


def test_gaussian_thompson_equals_its_formula():
    belief = NormalArm([0.0, 0.5], [2.0, 4.0], noise=0.5)
    q = Thompson().plan(belief, 0, None, default_rng(7)).info["q"]
    assert_allclose(q, [0.0, 0.5] + 0.5 / np.sqrt([2.0, 4.0]) * default_rng(7).standard_normal(2), rtol=1e-15)


def test_logistic_family_through_run():
    family = logistic(arms=4, contexts=3)
    record = run(BayesAgent(family.default_prior(), Thompson()), family, 60, lockstep=5)
    assert record.state.shape == (60, 5)
    assert set(np.unique(record.state)) <= {0, 1, 2}
