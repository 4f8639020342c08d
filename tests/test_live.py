"""A LiveAgent is `run` by hand, takes names, vectors and logs, is not changed by questions, and fails without trace."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

import bayesrl as b
from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.delayed_feedback import DelayedFeedback
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.binarised_rewards import BinarisedRewards
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.forgetting import Forgetting
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.core import BayesAgent, Decision, Transition, run
from bayesrl.errors import BayesRLError, InvalidArgument, UnknownName
from bayesrl.live import LiveAgent

SHELF = ["book", "film", "game"]
BETAS = BetaBernoulli(np.array([3.0, 1.0, 8.0]), np.array([2.0, 1.0, 4.0]))


def shop(belief=BETAS, planner=None, **options):
    return LiveAgent(BayesAgent(belief, planner or Thompson()), **options)


def everything(live):
    """All that a LiveAgent could change."""
    return copy.deepcopy(
        (live.mind, live.streams.planner.bit_generator.state, live.streams.learning.bit_generator.state)
    )


# The loop ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["online-shop", "contextual-shop", "online-shop-several"])
def test_a_loop_of_act_and_learn_is_run(name):
    world = b.make_world(name)
    planner = ThompsonCombinatorial(2) if name == "online-shop-several" else Thompson()
    agent = BayesAgent(world.default_prior(), planner)
    record = run(agent, world, 60, seed=5)
    live, stream = LiveAgent(agent, seed=5), b.core.Streams.of(5).world
    state, seen = world.reset(stream)
    actions, rewards = [], []
    for _ in range(60):
        action = live.act(None if name == "online-shop-several" else seen)
        state, new, reward, _ = world.step(state, action, stream)
        live.learn(
            action, new if name == "online-shop-several" else reward, seen if name == "contextual-shop" else None
        )
        actions.append(action)
        rewards.append(reward)
        seen = new
    assert actions == record.action.tolist()
    assert rewards == record.reward.tolist()


def test_late_feedback_in_any_order_is_the_same_belief():
    told = [("book", 1, None), ("game", 0, None), ("film", 1, None), ("book", 0, None)]
    forward, backward = shop(actions=SHELF), shop(actions=SHELF)
    for one, other in zip(told, reversed(told), strict=True):
        forward.learn(*one)
        backward.learn(*other)
    assert forward.belief == backward.belief
    np.testing.assert_array_equal(forward.belief.plays(), [2.0, 1.0, 1.0])


def test_names_stand_for_arms():
    live, plain = shop(actions=np.array(SHELF)), shop()
    for _ in range(20):
        name, number = live.act(), plain.act()
        assert name == SHELF[number]
        live.learn(np.str_(name), True)
        plain.learn(number, 1.0)
    assert live.belief == plain.belief
    ids = shop(actions=[101, 205, 7])
    chosen = ids.act()
    assert chosen in (101, 205, 7)
    ids.learn(np.int64(205), 0)
    assert ids.belief.plays().tolist() == [0.0, 1.0, 0.0]


def test_sets_are_lists_of_names():
    live = shop(SemiBandit(BETAS), ThompsonCombinatorial(2), actions=SHELF)
    chosen = live.act()
    assert len(chosen) == 2
    assert set(chosen) < set(SHELF)
    live.learn(["game", "book"], [1, 0])
    assert live.belief.arms.alpha.tolist() == [3.0, 1.0, 9.0]
    assert live.belief.arms.beta.tolist() == [3.0, 1.0, 4.0]
    live.learn(("film",), [1])
    assert live.belief.arms.alpha.tolist() == [3.0, 2.0, 9.0]
    assert shop(SemiBandit(BETAS), ThompsonCombinatorial(2)).act() == sorted(map(SHELF.index, chosen))


class Chooses:
    """A planner of a fixed set."""

    needs = ()

    def __init__(self, chosen):
        self.chosen = np.array(chosen)

    def start(self):
        return None

    def plan(self, belief, observation, memory, rng, last=None):
        return b.Decision(self.chosen, None, {})


@pytest.mark.parametrize("chosen", [[2, 0], [1, 2, 0], [0]])
def test_sets_keep_the_order_of_the_planner(chosen):
    """So a list of rewards belongs to the names that `act` returned."""
    live = shop(SemiBandit(BETAS), Chooses(chosen), actions=SHELF)
    assert live.act() == [SHELF[a] for a in chosen]
    before = live.belief.arms.alpha.copy()
    live.learn(live.act(), [1, *[0] * (len(chosen) - 1)])
    assert (live.belief.arms.alpha - before).tolist() == np.eye(3)[chosen[0]].tolist()


# Contexts ------------------------------------------------------------------------------------------------------------


def blocks(x):
    """Features with which every arm has weights of its own on x, written out."""
    matrix = np.zeros((len(SHELF), len(SHELF) * len(x)))
    for a in range(len(SHELF)):
        matrix[a, a * len(x) : (a + 1) * len(x)] = x
    return matrix


@pytest.mark.parametrize("kind", [LogisticLaplaceArms, LinearGaussianArms])
def test_a_vector_means_weights_of_its_own_for_every_action(kind):
    x = np.array([1.0, -0.5])
    by_vector, by_matrix = (shop(kind.isotropic(6), actions=SHELF, seed=3) for _ in range(2))
    for reward in (1.0, 0.0, 1.0):
        action = by_vector.act(x)
        assert by_matrix.act(blocks(x)) == action
        by_vector.learn(action, reward, context=pd.Series(x))
        by_matrix.learn(action, reward, context=blocks(x))
        x = x + 0.25
    assert by_vector.belief == by_matrix.belief
    np.testing.assert_array_equal(by_vector.probability(x, draws=50), by_matrix.probability(blocks(x), draws=50))


def test_a_context_of_the_wrong_size_is_refused_as_the_customer_gave_it():
    live = shop(LogisticLaplaceArms.isotropic(6), actions=SHELF)
    said = r"'context' must be of 2 numbers \(6 weights for 3 arms\), got 3\."
    for call in (
        lambda: live.act([1.0, 2.0, 3.0]),
        lambda: live.learn(SHELF[0], 1, [1.0, 2.0, 3.0]),
        lambda: live.warm_start(frame(5).assign(more=1.0), "shown", "bought", ["age", "cart", "more"]),
    ):
        with pytest.raises(InvalidArgument, match=said):
            call()
    assert live.belief == LogisticLaplaceArms.isotropic(6)


# Logs ----------------------------------------------------------------------------------------------------------------


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    a = rng.integers(3, size=n)
    bought = rng.random(n) < special.expit(x[:, 0] * (a - 1))
    return pd.DataFrame({"shown": np.array(SHELF)[a], "bought": bought, "age": x[:, 0], "cart": x[:, 1]})


def test_warm_start_from_a_data_frame():
    log = frame()
    live = shop(actions=SHELF)
    live.warm_start(log, action="shown", reward="bought")
    wins = [log[log["shown"] == name]["bought"].sum() for name in SHELF]
    np.testing.assert_array_equal(live.belief.alpha, BETAS.alpha + wins)
    columns = {"action": log["shown"].map(SHELF.index), "reward": log["bought"].to_numpy()}
    numbered = shop()
    numbered.warm_start(columns)
    assert numbered.belief == live.belief


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: Forgetting(x, decay=0.99)], ids=["plain", "forgetting"])
@pytest.mark.parametrize("kind", [LogisticLaplaceArms, LinearGaussianArms])
def test_warm_start_with_columns_of_context(kind, wrap):
    log = frame(30)
    live = shop(wrap(kind.isotropic(6)), actions=SHELF)
    live.warm_start(log, action="shown", reward="bought", context=["age", "cart"])
    rows = zip(log["shown"], log["bought"], log[["age", "cart"]].to_numpy(), strict=True)
    steps = [Transition(blocks(x), SHELF.index(a), float(y), 0) for a, y, x in rows]
    expected = wrap(kind.isotropic(6)).update_many(steps)
    np.testing.assert_allclose(live.belief.mean(blocks([1.0, 2.0])), expected.mean(blocks([1.0, 2.0])), rtol=1e-9)
    np.testing.assert_allclose(
        live.belief.variance(blocks([1.0, 2.0])), expected.variance(blocks([1.0, 2.0])), rtol=1e-9
    )
    one = shop(wrap(kind.isotropic(6)), actions=SHELF)
    log["x"] = list(log[["age", "cart"]].to_numpy())
    one.warm_start(log, "shown", "bought", "x")
    assert one.belief == live.belief


@pytest.mark.parametrize("kind", [LogisticLaplaceArms, LinearGaussianArms])
def test_warm_start_with_vectors_beside_a_table(kind):
    """A belief that holds features of arms learns the same from vectors of a log as one that holds none."""
    log, table = frame(20), np.random.default_rng(1).normal(size=(4, 3, 6))
    live, plain = (shop(kind.isotropic(6, features=held), actions=SHELF) for held in (table, None))
    for one in (live, plain):
        one.warm_start(log, "shown", "bought", ["age", "cart"])
    np.testing.assert_allclose(live.belief.mean_, plain.belief.mean_, rtol=1e-9)
    np.testing.assert_allclose(live.belief.variance(2), plain.belief.variance(table[2]), rtol=1e-9)


@pytest.mark.parametrize("actions", [SHELF, None])
def test_warm_start_with_a_matrix_for_each_row(actions):
    """A column of matrices, a row for each arm: the features themselves, with names of arms or without."""
    log, rng = frame(12), np.random.default_rng(3)
    matrices, arms = rng.normal(size=(12, 3, 4)), [SHELF.index(name) for name in log["shown"]]
    table = {"shown": log["shown"] if actions else arms, "bought": log["bought"].to_numpy(float), "x": matrices}
    live = shop(LinearGaussianArms.isotropic(4, features=np.ones((2, 3, 4))), actions=actions)
    live.warm_start(table, "shown", "bought", "x")
    steps = [Transition(x, a, float(y), 0) for x, a, y in zip(matrices, arms, log["bought"], strict=True)]
    np.testing.assert_allclose(live.belief.mean_, LinearGaussianArms.isotropic(4).update_many(steps).mean_, rtol=1e-9)


def test_warm_start_with_kinds_of_customers():
    features = np.arange(12.0).reshape(2, 3, 2) / 12
    kinds = {"kind": [0, 1, 1], "action": [2, 0, 1], "reward": [0.5, 1.0, -1.0]}
    live = shop(LinearGaussianArms.isotropic(2, features=features))
    live.warm_start(kinds, context="kind")
    steps = [Transition(k, a, r, 0) for k, a, r in zip(*kinds.values(), strict=True)]
    assert live.belief == LinearGaussianArms.isotropic(2, features=features).update_many(steps)
    # A belief that takes no context refuses one.
    with pytest.raises(InvalidArgument, match="'context' must be left out: BetaBernoulli has no contexts"):
        shop(actions=SHELF).warm_start(frame(), "shown", "bought", ["age", "cart"])


class Keeps:
    """A belief that keeps its data, and says only how many actions there are."""

    n_actions = 3

    def __init__(self, seen):
        self.seen = seen

    def update(self, datum, rng=None):
        return Keeps((*self.seen, datum))


def test_warm_start_of_beliefs_that_learn_otherwise():
    log = {"action": [0, 2, 1, 0], "reward": [1.0, 0.0, 1.0, 0.0]}
    finite = FiniteModels.two([0.5, 0.8, 0.1], [0.5, 0.3, 0.9], 0.2)
    coins = shop(BinarisedRewards(BETAS))  # tosses coins, even for zeros and ones
    coins.warm_start(log)
    assert coins.belief.inside == BETAS.update_many(log)
    models = shop(finite)
    models.warm_start(log)
    steps = [Transition(None, a, r, 0) for a, r in zip(*log.values(), strict=True)]
    assert models.belief == finite.update_many(steps)
    several = shop(SemiBandit(BETAS), ThompsonCombinatorial(2))
    several.warm_start({"action": [[0, 2], [1, 2]], "reward": [[1, 0], [0, 1]]})
    assert several.belief.arms.alpha.tolist() == [4.0, 1.0, 9.0]
    with pytest.raises(InvalidArgument, match=r"'reward' must be a number for each of \(2, 2\), got an array of shape"):
        several.warm_start({"action": [[0, 2], [1, 2]], "reward": [[1], [0]]})
    keeps = shop(Keeps(()), b.make("random"), actions=SHELF)
    keeps.warm_start(
        {"action": ["film", "game"], "reward": [0.5, -2.0], "x": [0.3, 1.1], "z": [7.0, -4.0]}, context=["x", "z"]
    )
    for step, a, r, x in zip(keeps.belief.seen, (1, 2), (0.5, -2.0), ([0.3, 7.0], [1.1, -4.0]), strict=True):
        assert (step.action, step.reward, step.next_observation) == (a, r, 0)
        assert step.observation.tolist() == [[*x, 0, 0, 0, 0], [0, 0, *x, 0, 0], [0, 0, 0, 0, *x]]
    tossed = shop(BinarisedRewards(BETAS))
    streams = [rng.bit_generator.state for rng in (tossed.streams.planner, tossed.streams.learning)]
    tossed.warm_start({"action": [0, 2], "reward": [0.3, 0.6]})
    after = [rng.bit_generator.state for rng in (tossed.streams.planner, tossed.streams.learning)]
    assert [before == now for before, now in zip(streams, after, strict=True)] == [True, False]
    empty = shop()
    empty.warm_start({"action": [], "reward": []})
    assert empty.belief == BETAS


# Questions -----------------------------------------------------------------------------------------------------------


def test_probability_is_that_of_being_best():
    # Thompson plays an arm with the probability that it is the best: computed by quadrature for three Betas. 4000
    # draws; five standard errors for each of three arms: false alarm below 2e-6, and a shift of .04 is seen.
    x = np.linspace(0.0, 1.0, 4001)[1:-1]
    pdf = stats.beta.pdf(x[:, None], BETAS.alpha, BETAS.beta)
    cdf = stats.beta.cdf(x[:, None], BETAS.alpha, BETAS.beta)
    best = [integrate.trapezoid(pdf[:, a] * cdf[:, [k for k in range(3) if k != a]].prod(axis=1), x) for a in range(3)]
    found = shop().probability(draws=4000)
    np.testing.assert_allclose(found.sum(), 1.0)
    assert (np.abs(found - best) < 5.0 * np.sqrt(np.multiply(best, np.subtract(1.0, best)) / 4000)).all()


def test_probability_is_exact_where_nothing_is_drawn_or_the_planner_says_it():
    assert shop(planner=BayesUCB()).probability().tolist() in np.eye(3).tolist()
    uniform = shop(planner=b.make("random"))
    np.testing.assert_array_equal(uniform.probability(), np.full(3, 1 / 3))
    sets = shop(SemiBandit(BETAS), ThompsonCombinatorial(2)).probability(draws=200)
    np.testing.assert_allclose(sets.sum(), 2.0)


def test_questions_change_nothing():
    live, other = shop(actions=SHELF, seed=9), shop(actions=SHELF, seed=9)
    before = everything(live)
    first = live.probability(draws=100)
    np.testing.assert_array_equal(live.probability(draws=100), first)
    live.explain(draws=50)
    assert everything(live) == before
    for _ in range(20):
        live.probability(draws=10)
        assert live.act() == other.act()


def test_explain_gives_means_intervals_and_probabilities():
    live = shop(actions=SHELF)
    table = pd.DataFrame(live.explain(confidence=0.8))
    assert table["action"].tolist() == SHELF
    np.testing.assert_array_equal(table["mean"], BETAS.mean())
    np.testing.assert_allclose(table["low"], stats.beta.ppf(0.1, BETAS.alpha, BETAS.beta))
    np.testing.assert_allclose(table["high"], stats.beta.ppf(0.9, BETAS.alpha, BETAS.beta))
    np.testing.assert_array_equal(table["probability"], live.probability())
    # Without quantiles, those of draws: each end within .03, ten standard errors of a quantile of 4000 draws.
    drawn = pd.DataFrame(shop(SemiBandit(BETAS), ThompsonCombinatorial(1)).explain(confidence=0.8, draws=4000))
    np.testing.assert_allclose(drawn[["low", "high"]], table[["low", "high"]], atol=0.03)
    assert drawn["action"].tolist() == [0, 1, 2]


def test_repr_says_what_it_is():
    assert repr(shop(actions=SHELF, seed=2)).startswith("LiveAgent(BayesAgent(prior=BetaBernoulli(")
    assert repr(shop(actions=SHELF, seed=2)).endswith("seed=2, actions=('book', 'film', 'game'))")


# Failures leave no trace ---------------------------------------------------------------------------------------------


class Fails:
    """Draws, and then breaks."""

    needs = ()

    def __init__(self, how=RuntimeError):
        self.how = how

    def start(self):
        return None

    def plan(self, belief, observation, memory, rng, last=None):
        rng.random(3)
        raise self.how("broken")


class Coins:
    """A belief that draws, and then breaks."""

    n_actions = 2

    def __init__(self, how=RuntimeError):
        self.how = how

    def update(self, datum, rng=None):
        rng.random(3)
        raise self.how("broken")


@pytest.mark.parametrize("how", [RuntimeError, InvalidArgument, KeyboardInterrupt, SystemExit])
def test_a_failed_call_changes_neither_mind_nor_generators(how):
    """Ctrl-C is a failure too."""
    made = (lambda _: InvalidArgument("a", "b", "c", 0)) if how is InvalidArgument else how
    live = shop(planner=Fails(made))
    before = everything(live)
    with pytest.raises(how):
        live.act()
    assert everything(live) == before
    live = shop(belief=Coins(made), planner=b.make("random"))
    state = live.streams.learning.bit_generator.state
    for call in (lambda: live.learn(0, 1.0), lambda: live.warm_start({"action": [0], "reward": [1.0]})):
        with pytest.raises(how):
            call()
        assert live.streams.learning.bit_generator.state == state
        assert live.mind.last is None


NAMED = shop(actions=SHELF)
CONTEXTUAL = shop(LogisticLaplaceArms.isotropic(6), actions=SHELF)
TABLE = shop(LinearGaussianArms.isotropic(2, features=np.zeros((2, 3, 2))))
LOG = frame(6)
GAPS = {"action": SHELF, "reward": [1.0, np.nan, 0.0]}


@pytest.mark.parametrize(
    "live, call, sentence",
    [
        (NAMED, lambda s: s.learn("bok", 1), "There is no action called 'bok'. Did you mean book?"),
        (NAMED, lambda s: s.learn(None, 1), "There is no action called None. Known: book, film, game."),
        (NAMED, lambda s: s.learn("book", "1"), "LiveAgent.learn: 'reward' must be an array of numbers, got '1'."),
        (NAMED, lambda s: s.learn("book", np.nan), "LiveAgent.learn: 'reward' must be finite everywhere, got nan."),
        (
            NAMED,
            lambda s: s.learn("book", 0.5),
            "BetaBernoulli: reward 0.5 has probability zero under this belief: rewards are 0 or 1.",
        ),
        (
            NAMED,
            lambda s: s.learn("book", [1, 0]),
            "LiveAgent.learn: 'reward' must be a number for each of book, got [1, 0].",
        ),
        (
            shop(),
            lambda s: s.learn(3, 1),
            "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got 3.",
        ),
        (
            CONTEXTUAL,
            lambda s: s.act(),
            "LogisticLaplaceArms.sample_means: 'context' must be a matrix of shape (arms, 6), got None.",
        ),
        (
            CONTEXTUAL,
            lambda s: s.act([1.0]),
            "LiveAgent: 'context' must be of 2 numbers (6 weights for 3 arms), got 1.",
        ),
        (
            CONTEXTUAL,
            lambda s: s.act(np.ones((2, 6))),
            "LiveAgent: 'context' must be a matrix with a row for each of 3 arms, got an array of shape (2, 6).",
        ),
        (
            CONTEXTUAL,
            lambda s: s.learn("game", 1, np.ones((4, 6))),
            "LiveAgent: 'context' must be a matrix with a row for each of 3 arms, got an array of shape (4, 6).",
        ),
        (
            CONTEXTUAL,
            lambda s: s.warm_start({"action": ["book"], "reward": [1], "x": np.ones((1, 2, 6))}, context="x"),
            "LiveAgent.warm_start: 'context' must be a matrix with a row for each of 3 arms, "
            "got an array of shape (1, 2, 6).",
        ),
        (
            TABLE,
            lambda s: s.act(np.ones((4, 2))),
            "LiveAgent: 'context' must be a matrix with a row for each of 3 arms, got an array of shape (4, 2).",
        ),
        (
            shop(LinearGaussianArms.isotropic(7), actions=list("abcde")),
            lambda s: s.act([1.0, 2.0]),
            "LiveAgent: 'context' must be a matrix of shape (5, 7), because 7 weights do not divide among 5 arms, "
            "got 'a vector of 2 numbers'.",
        ),
        (
            NAMED,
            lambda s: s.act([1.0, 2.0]),
            "LiveAgent: 'context' must be left out: BetaBernoulli has no contexts, got [1.0, 2.0].",
        ),
        (
            NAMED,
            lambda s: s.learn("book", 1, 2),
            "LiveAgent: 'context' must be left out: BetaBernoulli has no contexts, got 2.",
        ),
        (
            NAMED,
            lambda s: s.warm_start(LOG, "shown", "bought", "age"),
            "LiveAgent.warm_start: 'context' must be left out: BetaBernoulli has no contexts, got 'age'.",
        ),
        (
            NAMED,
            lambda s: s.warm_start(None),
            "LiveAgent.warm_start: 'log' must be transitions, a record, or columns "
            "observation, action, reward, next_observation, got None.",
        ),
        (NAMED, lambda s: s.learn(np.array(3), 1.0), "There is no action called 3. Known: book, film, game."),
        (
            shop(),
            lambda s: s.learn(np.array(3), 1.0),
            "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got 3.",
        ),
        (
            shop(),
            lambda s: s.learn("book", 1.0),
            "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got 'book'.",
        ),
        (
            CONTEXTUAL,
            lambda s: s.act([1.0, np.inf]),
            "LiveAgent: 'context' must be finite everywhere, got inf. First at index 1.",
        ),
        (CONTEXTUAL, lambda s: s.act(["a", "b"]), "LiveAgent: 'context' must be an array of numbers, got ['a', 'b']."),
        (
            CONTEXTUAL,
            lambda s: s.learn("book", 1),
            "LogisticLaplaceArms.update: 'context' must be a matrix of shape (arms, 6), got None.",
        ),
        (
            TABLE,
            lambda s: s.act(2),
            "LinearGaussianArms.sample_means: 'context' must be whole numbers from 0 to 1, got 2.",
        ),
        (
            NAMED,
            lambda s: s.warm_start(LOG),
            "LiveAgent.warm_start: 'log' must be with a column 'action', got ['shown', 'bought', 'age', 'cart'].",
        ),
        (
            NAMED,
            lambda s: s.warm_start(LOG, "shown", "bought", "x"),
            "LiveAgent.warm_start: 'log' must be with a column 'x', got ['shown', 'bought', 'age', 'cart'].",
        ),
        (
            NAMED,
            lambda s: s.warm_start({"action": SHELF, "reward": [1]}),
            "LiveAgent.warm_start: 'log' must be columns of one length, got [3, 1].",
        ),
        (
            NAMED,
            lambda s: s.warm_start(GAPS),
            "LiveAgent.warm_start: 'reward' must be finite everywhere, got nan. First at index 1.",
        ),
        (
            NAMED,
            lambda s: s.warm_start({"action": ["cd"], "reward": [1]}),
            "There is no action called 'cd'. Known: book, film, game.",
        ),
        (
            NAMED,
            lambda s: s.warm_start({"action": SHELF, "reward": [1, 2, 0]}),
            "BetaBernoulli: reward 2 has probability zero under this belief: rewards are 0 or 1.",
        ),
        (
            CONTEXTUAL,
            lambda s: s.warm_start(LOG, "shown", "bought", ["age"]),
            "LiveAgent.warm_start: 'context' must be of 2 numbers (6 weights for 3 arms), got 1.",
        ),
        (
            NAMED,
            lambda s: s.probability(draws=0),
            "LiveAgent.probability: 'draws' must be a whole number of at least 1, got 0.",
        ),
        (NAMED, lambda s: s.explain(confidence=1.0), "LiveAgent.explain: 'confidence' must be in (0, 1), got 1.0."),
    ],
)
def test_refusals_change_nothing(live, call, sentence):
    before = everything(live)
    with pytest.raises(BayesRLError) as error:
        call(live)
    assert str(error.value) == sentence
    assert everything(live)[1:] == before[1:]
    assert everything(live)[0].belief == before[0].belief


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda: LiveAgent(Thompson()),
            "LiveAgent: 'agent' must be an agent (start, act, learn), got Thompson(). A "
            "planner needs a belief: BayesAgent(prior, planner).",
        ),
        (lambda: shop(seed=-1), "LiveAgent: 'seed' must be a whole number of at least 0, got -1."),
        (lambda: shop(actions="abc"), "LiveAgent: 'actions' must be different words or whole numbers, got 'abc'."),
        (
            lambda: shop(actions=["a", "a", "b"]),
            "LiveAgent: 'actions' must be different words or whole numbers, got ['a', 'a', 'b'].",
        ),
        (lambda: shop(actions=["a", "b"]), "LiveAgent: 'actions' must be 3 names, one for each arm, got ['a', 'b']."),
    ],
)
def test_refused_at_construction(call, sentence):
    with pytest.raises(InvalidArgument) as error:
        call()
    assert str(error.value) == sentence


def test_an_agent_without_a_plain_belief_acts_but_does_not_show_one():
    live = LiveAgent(DelayedFeedback(BayesAgent(NormalArm.standard(2), Thompson()), 1))
    live.learn(live.act(), 0.5)
    assert live.probability(draws=10).shape == (2,)
    with pytest.raises(InvalidArgument, match="'agent' must be a BayesAgent to have a belief"):
        _ = live.belief
    with pytest.raises(UnknownName):
        LiveAgent(live.agent, actions=["a", "b"]).learn("c", 1.0)


@dataclass(frozen=True)
class Remembering:
    """A belief that remembers its data."""

    data: tuple = ()
    n_actions = 4

    def update(self, datum, rng=None):
        return Remembering((*self.data, datum))


def test_the_reward_of_a_set_is_the_sum_of_its_rewards():
    live = LiveAgent(BayesAgent(Remembering(), b.make("random")), actions=["a", "b", "c", "d"])
    live.learn(["b", "d"], [0.5, 2.0])
    live.learn(["b", "d"], 2.5)
    live.warm_start({"action": [["a", "c"], ["c", "d"]], "reward": [[1.0, 0.25], [3.0, 4.0]]})
    assert [step.reward for step in live.belief.data] == [2.5, 2.5, 1.25, 7.0]
    assert [np.ravel(step.action).tolist() for step in live.belief.data] == [[1, 3], [1, 3], [0, 2], [2, 3]]
    assert [np.ravel(step.next_observation).tolist() for step in live.belief.data] == [[0.5, 2], [0], [1, 0.25], [3, 4]]


# Threads, copies, forks ----------------------------------------------------------------------------------------------


class Slow:
    """An agent whose mind is a list of what happened, and whose calls let other threads run in between."""

    def start(self):
        return ()

    def act(self, mind, observation, rng):
        time.sleep(1e-3)
        return b.Decision(0, (*mind, "acted"), {})

    def learn(self, mind, transition, rng):
        time.sleep(1e-3)
        return (*mind, transition.reward)


def in_threads(*jobs):
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_lose_nothing():
    live = LiveAgent(Slow())

    def work(n):
        for i in range(3):
            live.act()
            live.learn(0, 10.0 * n + i)

    in_threads(*(partial(work, n) for n in range(8)))
    happened = Counter(live.mind)
    assert happened == Counter({"acted": 24} | {10.0 * n + i: 1 for n in range(8) for i in range(3)})


def test_a_log_is_learnt_whole_beside_other_threads():
    live = LiveAgent(BayesAgent(Yielding(BETAS), Thompson()))
    log = {"action": [1] * 5, "reward": [1.0] * 5}
    in_threads(*[partial(live.warm_start, log)] * 4, *[partial(live.learn, 0, 0.0)] * 4)
    assert live.belief.inside.alpha.tolist() == [3.0, 21.0, 8.0]
    assert live.belief.inside.beta.tolist() == [6.0, 1.0, 4.0]


@dataclass(frozen=True)
class Yielding:
    """A belief whose updates let other threads run in between."""

    inside: BetaBernoulli
    n_actions = 3

    def update(self, datum, rng=None):
        time.sleep(1e-3)
        return Yielding(self.inside.update(datum))

    def sample_means(self, observation, rng):
        return self.inside.sample_means(observation, rng)


@dataclass(frozen=True)
class Interrupting:
    """A planner that is interrupted: while it plans, another thread learns."""

    meanwhile: list
    needs = ()

    def start(self):
        return None

    def plan(self, belief, observation, memory, rng, last=None):
        for call in self.meanwhile:
            in_threads(call)
        return b.Decision(0, None, {"probability": belief.mean()})


def test_an_answer_belongs_to_one_mind():
    meanwhile = []
    live = LiveAgent(BayesAgent(BETAS, Interrupting(meanwhile)))
    meanwhile.append(lambda: live.learn(0, 1.0))
    for row, mean in zip(live.explain(), BETAS.mean(), strict=True):
        assert row.probability == row.mean == mean
    assert live.belief.alpha[0] == BETAS.alpha[0] + 1.0


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda live: pickle.loads(pickle.dumps(live))])
def test_a_copy_goes_on_alone_from_the_same_mind(again):
    live = shop(seed=3)
    live.learn(live.act(), 1.0)
    copied = again(live)
    expected = copy.deepcopy(live.streams.planner).random()
    assert [copied.act() for _ in range(5)] == [live.act() for _ in range(5)]
    copied.learn(0, 1.0)
    copied.act()
    assert copied.belief != live.belief
    assert again(shop(seed=3)).streams.planner.random() == shop(seed=3).streams.planner.random() != expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_fork_waits_for_the_call_that_runs():
    """The child of a fork has no other thread, so a lock held in the parent would never be released in it."""
    live, inside, go = LiveAgent(Slow()), threading.Event(), threading.Event()
    Held = type("Held", (Slow,), {"learn": lambda self, mind, step, rng: (inside.set(), go.wait(), (*mind, "held"))[2]})
    live.agent = Held()
    other = threading.Thread(target=live.learn, args=(0, 1.0))
    other.start()
    inside.wait()
    threading.Timer(0.05, go.set).start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks in programs with threads
        child = os.fork()
    if child == 0:
        signal.alarm(20)
        live.agent = Slow()
        live.learn(0, 2.0)
        os._exit(0 if live.mind == ("held", 2.0) else 1)
    other.join()
    assert os.waitpid(child, 0)[1] == 0
    assert live.mind == ("held",)


class Asks:
    """An agent that asks another live agent, and makes a third one."""

    def __init__(self, inner):
        self.inner = inner

    def start(self):
        return 0

    def act(self, mind, seen, rng):
        time.sleep(0.002)
        copy.deepcopy(self.inner)
        return Decision(self.inner.act(), mind, {})

    def learn(self, mind, step, rng):
        return mind


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_fork_among_agents_that_ask_each_other():
    """A fork must not hold the lock of one agent while it waits for another, nor wait for ever in a busy service."""
    script = """
import os, threading
from bayesrl.live import LiveAgent
from tests.test_live import Asks, shop
outer, stop = [LiveAgent(Asks(shop())) for _ in range(4)], threading.Event()

def busy(agent):
    while not stop.is_set():
        agent.act()

threads = [threading.Thread(target=busy, args=(agent,), daemon=True) for agent in outer]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        outer[0].act()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
"""
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=30, cwd=root, check=False)
    assert done.returncode == 0
