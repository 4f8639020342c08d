"""Bandits with prices: the same purchases as their counterparts that pay 1, in money."""

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import bayesrl as b
from bayesrl.bandits.bounds_of_world import bounds_of
from bayesrl.beliefs import BetaBernoulli, FullBandit, LogisticArms, Priced, SemiBandit
from bayesrl.errors import InvalidArgument
from bayesrl.lab.measures.regret import regret
from bayesrl.lab.priors import prior_for
from bayesrl.worlds import PricedBandit, PricedContextual, PricedFamily, PricedSeveral

RATES, PRICES = np.array([0.5, 0.1, 0.3]), np.array([4.0, 7.0, 12.0])
TABLE = np.array([[0.5, 0.1, 0.3], [0.2, 0.6, 0.1]])
BELIEF = LogisticArms.isotropic(6, features=np.eye(6).reshape(2, 3, 6))
SINGLE = PricedBandit(RATES, PRICES)
SEMI, FULL = (PricedSeveral(RATES, PRICES, 2, feedback) for feedback in ("semi", "full"))
CONTEXTUAL = PricedContextual(TABLE, PRICES, BELIEF)


def steps(world, actions, seed=0):
    rng = default_rng(seed)
    state, _ = world.reset(rng)
    for action in actions:
        made = world.step(state, action, rng)
        state = made.state
        yield made


@pytest.mark.parametrize("replicates", [None, 5])
@pytest.mark.parametrize("world", [SINGLE, CONTEXTUAL])
def test_profits_are_prices_of_the_same_purchases(world, replicates):
    world = world if replicates is None else world.batch(replicates)
    actions = default_rng(1).integers(3, size=(200,) if replicates is None else (200, replicates))
    actions = actions.tolist() if replicates is None else list(actions)
    for action, paid, coin in zip(actions, steps(world, actions), steps(world.coins, actions), strict=True):
        assert_array_equal(paid.reward, coin.reward * PRICES[action])
        assert_array_equal(paid.observation, coin.observation)
        assert type(paid.reward) is type(coin.reward)


@pytest.mark.parametrize("replicates", [None, 5])
def test_profits_of_several_add_up(replicates):
    semi, full = (world if replicates is None else world.batch(replicates) for world in (SEMI, FULL))
    sets = [np.broadcast_to([0, 2], (*semi.coins.means.shape[:-1], 2))] * 200
    for paid, total, coin in zip(steps(semi, sets), steps(full, sets), steps(semi.coins, sets), strict=True):
        assert_array_equal(paid.observation, coin.observation * [4.0, 12.0])
        assert_array_equal(paid.reward, paid.observation.sum(axis=-1))
        assert_array_equal(total.reward, paid.reward)
        assert total.observation == 0
    assert_allclose(np.mean([made.reward for made in steps(semi, sets)]), 0.5 * 4.0 + 0.3 * 12.0, atol=2.0)


def test_means_and_gaps():
    assert_allclose(SINGLE.means, [2.0, 0.7, 3.6])
    assert_allclose([SINGLE.gap(None, a) for a in range(3)], [1.6, 2.9, 0.0], atol=1e-15)
    assert_allclose([SEMI.gap(None, x) for x in ([0, 1], [2, 1], [0, 2], [2, 0])], [2.9, 1.3, 0.0, 0.0], atol=1e-12)
    assert SEMI.gap(None, [0, 2]) == SEMI.gap(None, [2, 0]) == 0.0
    assert_allclose(CONTEXTUAL.means, TABLE * PRICES)
    assert_allclose([[CONTEXTUAL.gap(c, a) for a in range(3)] for c in (0, 1)], [[1.6, 2.9, 0.0], [3.4, 0.0, 3.0]])
    both = CONTEXTUAL.batch(2)
    assert_allclose(both.gap(np.array([0, 1]), np.array([0, 0])), [1.6, 3.4])
    assert_allclose(SINGLE.batch(2).gap(None, np.array([0, 2])), [1.6, 0.0], atol=1e-15)
    assert SINGLE.batch(2).means.shape == SEMI.batch(2).means.shape == (2, 3)
    assert both.means.shape == (2, 2, 3)


def test_default_priors_know_the_prices():
    assert SINGLE.default_prior() == Priced(BetaBernoulli.uniform(3), PRICES)
    assert SEMI.default_prior() == Priced(SemiBandit(BetaBernoulli.uniform(3)), PRICES)
    assert CONTEXTUAL.default_prior() == Priced(BELIEF, PRICES)
    full = FULL.default_prior()
    assert full == FullBandit.at_prices(PRICES, 2)
    assert_allclose(full.mean(), PRICES / 2.0)
    assert_allclose(np.diag(full.weights.root) ** 2, PRICES**2 / 12.0)
    assert_allclose(full.weights.noise**2, (144.0 + 49.0) / 6.0)
    assert FullBandit.at_prices(np.ones(4), 2) == FullBandit.uniform(4, 2)


def test_contexts_come_with_their_frequency():
    """4000 contexts: false alarm 1e-6, sees .04."""
    world = PricedContextual(TABLE, PRICES, BELIEF, frequency=[0.2, 0.8])
    seen = [made.observation for made in steps(world, [0] * 4000)]
    assert_allclose(np.mean(seen), 0.8, atol=5.0 * np.sqrt(0.16 / 4000))
    together = [made.observation for made in steps(world.batch(50), [np.zeros(50, int)] * 80)]
    assert_allclose(np.mean(together), 0.8, atol=5.0 * np.sqrt(0.16 / 4000))
    assert isinstance(world.reset(default_rng(0))[0], int)
    first = [int(world.reset(default_rng(i))[0]) for i in range(400)]
    assert_allclose(np.mean(first), 0.8, atol=5.0 * np.sqrt(0.16 / 400))
    never = PricedContextual(TABLE, PRICES, BELIEF, frequency=[1.0, 0.0])
    assert {made.observation for made in steps(never, [0] * 50)} == {0}


def test_a_family_draws_uniform_rates():
    family = PricedFamily(PRICES)
    world = family.draw(default_rng(0))
    assert_array_equal(world.rates, default_rng(0).random(3))
    assert_array_equal(world.prices, PRICES)
    assert family.batch(4).draw(default_rng(0)).rates.shape == (4, 3)
    assert family.default_prior() == world.default_prior()
    assert_array_equal(family.coins.draw(default_rng(0)).means, world.rates)


PLANNERS = ("thompson", "bayes-ucb", "ucb1", "gittins", "finite-horizon-index", "information-directed",
            "bayes-optimal-bandit")  # fmt: skip


@pytest.mark.parametrize("name", PLANNERS)
def test_planners_of_arms_act_on_profits(name):
    record = b.run(b.BayesAgent(SINGLE.default_prior(), b.make(name)), SINGLE, steps=40)
    assert set(np.unique(record.reward)) <= {0.0, 4.0, 7.0, 12.0}
    lost = regret(record, SINGLE)
    assert_allclose(lost.curve[-1, 0], sum(SINGLE.gap(None, a) for a in record.action))
    agent = b.BayesAgent(SINGLE.default_prior(), b.make(name))
    both = b.compare({name: agent}, SINGLE, steps=5, runs=3)
    assert both.records[name].reward.shape == (5, 3)


def test_a_family_has_bayesian_regret():
    family = PricedFamily(PRICES)
    found = b.compare({"t": b.BayesAgent(family.default_prior(), b.make("thompson"))}, family, steps=60, runs=20)
    lost = regret(found.records["t"], family)
    assert lost.drawn
    assert 0.0 < lost.total.mean < 60 * 12.0


def test_several_and_contexts_are_learnt():
    for world, planner in ((SEMI, b.make("thompson-combinatorial", suggestions=2)),
                           (FULL, b.make("thompson-combinatorial", suggestions=2)),
                           (CONTEXTUAL, b.make("thompson")), (CONTEXTUAL, b.make("bayes-ucb"))):  # fmt: skip
        record = b.run(b.BayesAgent(world.default_prior(), planner), world, steps=400)
        lost = regret(record, world)
        late = lost.curve[-1, 0] - lost.curve[199, 0]
        assert late < 0.5 * 200 * 1.5


def test_bounds_are_in_money():
    """Lai and Robbins with known prices by hand, and that of the coins at prices of 1; the entropy bound."""
    found = bounds_of(SINGLE, 1000.0)
    assert list(found) == ["Lai-Robbins"]
    rate, least = 0.1, 3.6 / 7.0  # of the second arm; the first would need a rate of 0.9 > 3.6 / 4
    kl = [r * np.log(r / q) + (1 - r) * np.log((1 - r) / (1 - q)) for r, q in ((0.5, 0.9), (rate, least))]
    assert_allclose(found["Lai-Robbins"].end, (1.6 / kl[0] + 2.9 / kl[1]) * np.log(1000.0))
    ones = bounds_of(PricedBandit(RATES, np.ones(3)), 1000.0)["Lai-Robbins"]
    assert_allclose(ones.end, bounds_of(SINGLE.coins, 1000.0)["Lai-Robbins"].end)
    dear = PricedBandit([0.9, 0.5], [10.0, 5.0])  # the second arm is never the best: nothing need be lost
    assert bounds_of(dear, 1000.0)["Lai-Robbins"].end == 0.0
    assert bounds_of(CONTEXTUAL, 1000.0) == {}
    family = PricedFamily(PRICES)
    entropy = family.default_prior().best_arm().p
    bound = bounds_of(family, 10_000.0)["Thompson, Russo-Van Roy"]
    assert_allclose(bound.end, 6.0 * np.sqrt(2.0 * 3 * 10_000.0 * -(entropy * np.log(entropy)).sum()), rtol=1e-9)
    assert "Thompson, Agrawal-Goyal 2013" not in bounds_of(family, 10_000.0)


# Priors by name ------------------------------------------------------------------------------------------------------


def test_priors_by_name():
    assert prior_for(SINGLE) == prior_for(SINGLE, "priced") == SINGLE.default_prior()
    made = prior_for(SINGLE, "priced:belief=beta-bernoulli")
    assert made == SINGLE.default_prior()
    assert type(prior_for(SINGLE, "priced:forgetting").belief).__name__ == "Forgetting"
    assert prior_for(SINGLE, "priced:finite-models").belief == prior_for(SINGLE.coins, "finite-models")
    assert type(prior_for(CONTEXTUAL, "priced:logistic-laplace-arms").belief).__name__ == "LogisticLaplaceArms"
    assert prior_for(SEMI, "priced") == prior_for(SEMI, "priced:semi-bandit") == SEMI.default_prior()
    assert prior_for(FULL, "full-bandit") == FULL.default_prior()
    assert prior_for(SINGLE, "forgetting").belief == SINGLE.default_prior()


@pytest.mark.parametrize("name", ["beta-bernoulli", "binarised-rewards", "finite-models"])
def test_beliefs_about_ones_are_refused_with_the_remedy(name):
    with pytest.raises(InvalidArgument, match=r"pays 1 or 0.* got 'priced-bandit'.*priced:belief=NAME"):
        prior_for(SINGLE, name)


@pytest.mark.parametrize("name, world", [("logistic-arms", CONTEXTUAL), ("logistic-laplace-arms", CONTEXTUAL),
                                         ("semi-bandit", SEMI)])  # fmt: skip
def test_other_beliefs_about_ones_are_refused_with_the_remedy(name, world):
    with pytest.raises(InvalidArgument, match=r"pays 1 or 0.*priced:belief=NAME"):
        prior_for(world, name)


@pytest.mark.parametrize("name", ["normal-arm", "tiger", "nothing", 5])
def test_the_belief_inside_is_checked(name):
    with pytest.raises((InvalidArgument, b.errors.UnknownName)):
        prior_for(SINGLE, f"priced:belief={name}")


def test_a_world_without_prices_has_no_priced_prior():
    with pytest.raises(b.errors.Incompatible, match="'prices', 'coins'"):
        prior_for(b.make_world("bernoulli"), "priced")


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: PricedBandit([0.5, 1.1], [1.0, 2.0]), "'rates' must be probabilities of shape"),
        (lambda: PricedBandit([0.5, -0.1], [1.0, 2.0]), "'rates' must be at least 0"),
        (lambda: PricedBandit(0.5, [1.0]), "'rates' must be probabilities of shape"),
        (lambda: PricedBandit([0.5, 0.1], [1.0]), r"'prices' must be of shape \(2,\)"),
        (lambda: PricedBandit([0.5, 0.1], [1.0, 0.0]), "'prices' must be greater than 0"),
        (lambda: PricedFamily([[1.0]]), r"'prices' must be of shape \(arms,\)"),
        (lambda: PricedSeveral(RATES, PRICES, 4), "'suggestions' must be a whole number of at least 1 and at most 3"),
        (lambda: PricedContextual(RATES, PRICES, BELIEF), "'rates' must be probabilities of shape"),
        (lambda: PricedContextual(TABLE, PRICES, BELIEF, frequency=[1.0]), "'frequency' must be probabilities"),
        (lambda: PricedContextual(TABLE, PRICES, BELIEF, frequency=[0.5, 0.4]), "'frequency' must be rows that sum"),
        (lambda: PricedContextual(TABLE, PRICES, FullBandit.uniform(3, 2)), "'belief' must be a belief about arms"),
        (lambda: SINGLE.step(None, 3, default_rng(0)), "'action' must be"),
        (lambda: SINGLE.gap(None, -1), "'action' must be"),
        (lambda: SEMI.step(None, [0, 0], default_rng(0)), "'action' must be different arms"),
        (lambda: SEMI.gap(None, [0]), "'action' must be sets of 2 arms"),
        (lambda: CONTEXTUAL.step(2, 0, default_rng(0)), "'state' must be"),
        (lambda: CONTEXTUAL.gap(0, 3), "'action' must be"),
        (lambda: FullBandit.at_prices([1.0, 0.0], 1), "'prices' must be greater than 0"),
        (lambda: FullBandit.at_prices([1.0, 2.0], 3), "'suggestions' must be"),
    ],
)
def test_wrong_arguments_are_refused(make, said):
    with pytest.raises(InvalidArgument, match=said):
        make()
