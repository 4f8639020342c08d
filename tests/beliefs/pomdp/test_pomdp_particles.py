"""Particles against the exact filter: by weights, by rejection, in a world without a table; deprivation and rescue."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import POMCP
from bayesrl.beliefs import POMDPFilter, POMDPParticles
from bayesrl.core import run
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.testing import assert_mean_equal
from bayesrl.testing.coins import CoinWorld

P = np.array([[[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]], [[0.1, 0.8, 0.1], [0.5, 0.4, 0.1]], [[0, 0, 1.0]] * 2])
O = np.array([[[0.8, 0.2], [0.5, 0.5]], [[0.3, 0.7], [0.1, 0.9]], [[0.6, 0.4]] * 2])
POMDP = TabularPOMDP.from_dense(P, O, [[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], 0.9, [0.6, 0.4, 0.0], [2])
LOG = [b.Transition(-1, 0, 0.0, 1), b.Transition(1, 1, 0.0, 1), b.Transition(1, 0, 0.0, 0)]


class Bare:
    """The same world without a table: states are words, and observations pairs."""

    hidden, gamma, n_actions = True, 0.9, 2
    names = ("left", "right", "end")

    def reset(self, rng):
        return self.names[int(rng.random() < 0.4)], None

    def step(self, state, action, rng):
        y = int(rng.choice(3, p=P[self.names.index(state), action]))
        return self.names[y], ("saw", int(rng.random() < O[y, action, 1])), 0.0, y == 2


class Telling(Bare):
    """It also says how probable an observation is."""

    def observation_probability(self, next_state, action, observation):
        return O[self.names.index(next_state), action, observation[1]]


def share_of(belief, name):
    """The weight of the particles in a state of the worlds above."""
    return sum(w for s, w in zip(*belief.sample, strict=True) if s == name)


def worded(log):
    return [datum._replace(next_observation=("saw", datum.next_observation)) for datum in log]


@pytest.mark.parametrize("world", [Bare, Telling])
def test_worlds_without_a_table(world):
    """Rejection and weights: the mean over 60 samples of 100 is that of the exact filter; false alarm 1e-6.

    A mean of weights has a bias of order 1/N; .004 is allowed for it. Evidence: the same with .02.
    """
    exact, found = POMDPFilter(POMDP).update_many(LOG), []
    for i in range(60):
        belief = POMDPParticles(world(), particles=100).update_many(worded(LOG), default_rng(i))
        found.append([share_of(belief, "left"), share_of(belief, "end"), belief.log_evidence()])
    expected = [exact.states()[0], 0.0, exact.log_evidence()]
    assert_mean_equal(found, expected, bias=np.array([0.004, 0.0, 0.02]))


def test_the_error_falls_as_the_root_of_the_particles():
    """The slope of log error over log N is -1/2: 40 samples of 50, 500 and 5000; measured -.51, deviation .03.

    False alarm below 1e-6 for a slope within .2 (six deviations). Resampling keeps the size.
    """
    exact, errors, sizes = POMDPFilter(POMDP).update_many(LOG).states(), [], (50, 500, 5000)
    for n in sizes:
        samples = [POMDPParticles(POMDP, particles=n).update_many(LOG, default_rng(i)) for i in range(40)]
        errors.append(np.sqrt(np.mean([((x.states() - exact) ** 2).sum() for x in samples])))
        assert {len(x.sample.weights) for x in samples} == {n}
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert abs(slope + 0.5) < 0.2
    assert errors[2] < 0.02


def test_evidence_is_estimated_without_bias():
    """The mean of exp(log evidence) over 300 samples is the probability of the log; false alarm 1e-6."""
    found = [
        np.exp(POMDPParticles(POMDP, particles=50).update_many(LOG, default_rng(i)).log_evidence()) for i in range(300)
    ]
    assert_mean_equal(found, np.exp(POMDPFilter(POMDP).update_many(LOG).log_evidence()))


def test_predictive_and_models_are_those_of_the_sample():
    belief = POMDPParticles(POMDP, particles=200).update_many(LOG, default_rng(0))
    states = belief.states()
    assert states.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(belief.predictive(1), states @ P[:, 1] @ O[:, 1], atol=1e-12)
    np.testing.assert_array_equal(belief.mean_pomdp().start, states)
    drawn = np.mean([belief.sample_pomdp(default_rng(i)).start for i in range(2000)], axis=0)
    np.testing.assert_allclose(drawn, states, atol=0.07)  # six standard errors
    assert belief.restart().states().tolist() == [0.6, 0.4, 0.0]
    assert belief.restart().log_evidence() == belief.log_evidence()
    assert belief.reward_range() == (0.0, 2.0)
    assert pickle.loads(pickle.dumps(belief)) == belief


def test_the_end_of_an_episode_is_evidence():
    ended = b.Transition(-1, 0, 0.0, 0, True)
    np.testing.assert_allclose(POMDPParticles(POMDP).update(ended, default_rng(0)).states(), [0, 0, 1], atol=1e-12)
    bare = POMDPParticles(Bare(), particles=30).update(worded([ended])[0], default_rng(0))
    assert share_of(bare, "end") == pytest.approx(1.0)
    going = POMDPParticles(Telling(), particles=30).update(worded(LOG)[0], default_rng(0))
    assert share_of(going, "end") == 0.0


# Deprivation ---------------------------------------------------------------------------------------------------------

RARE = TabularPOMDP.from_dense(
    np.eye(2)[:, None, :], [[[1.0, 0.0]], [[0.5, 0.5]]], [[0.0], [0.0]], 0.9, start=[0.99, 0.01]
)
"""Observation 1 shows state 1, which one episode in a hundred starts in."""


class RareWorld:
    """The same without a table."""

    def reset(self, rng):
        return int(rng.random() < 0.01), None

    def step(self, state, action, rng):
        return state, int(rng.random() < 0.5 * state), 0.0, False


@pytest.mark.parametrize("world", [RARE, RareWorld()])
def test_no_particle_explains_what_came(world):
    """Ten particles hold no state 1 after a 0: the error says what to do, and a rescue finds it."""
    log = [b.Transition(-1, 0, 0.0, 0), b.Transition(0, 0, 0.0, 1)]
    belief = POMDPParticles(world, particles=10).update(log[0], default_rng(0))
    before = pickle.dumps(belief.sample)
    with pytest.raises(ImpossibleEvidence, match="none of 10 particles explains it; take more, or rescue=True to"):
        belief.update(log[1], default_rng(1))
    assert pickle.dumps(belief.sample) == before
    rescued = POMDPParticles(world, particles=10, rescue=True).update_many(log, default_rng(0))
    assert set(rescued.sample.states) == {1}
    assert len(rescued.sample.weights) == 10
    never = TabularPOMDP.from_dense(RARE.dense()[0], [[[1.0, 0.0]]] * 2, [[0.0], [0.0]], 0.9)
    with pytest.raises(ImpossibleEvidence, match="nor did up to 640 from the episode's start"):
        POMDPParticles(never, particles=10, rescue=True).update(log[1], default_rng(0))


def test_a_rescue_replays_the_whole_episode():
    """Action 0 tells state 2 from the others, action 1 tells state 0 from the others: only state 1 explains both."""
    seen = np.array([[[1, 0], [1, 0]], [[1, 0], [0, 1]], [[0, 1], [0, 1]]], float)
    pomdp = TabularPOMDP.from_dense(
        np.eye(3)[:, None, :].repeat(2, axis=1), seen, np.zeros((3, 2)), 0.9, [0.9, 0.05, 0.05]
    )
    log = [b.Transition(-1, 0, 0.0, 0), b.Transition(0, 1, 0.0, 1)]
    for i in range(5):
        belief = POMDPParticles(pomdp, particles=4, rescue=True).update_many(log, default_rng(i))
        assert set(belief.sample.states) == {1}


def test_a_rescue_replays_this_episode_only():
    """After a restart it is the rescue of a belief that has seen nothing, whatever was seen before."""
    new = POMDPParticles(RARE, particles=10, rescue=True)
    old = new.update_many([b.Transition(-1, 0, 0.0, 0), b.Transition(0, 0, 0.0, 1)], default_rng(0)).restart()
    log = [b.Transition(-1, 0, 0.0, 0), b.Transition(0, 0, 0.0, 1)]
    for i in range(3):
        one, other = (belief.update_many(log, default_rng(i)) for belief in (old, new))
        np.testing.assert_array_equal(one.sample.states, other.sample.states)
        assert one.log_evidence() - old.log_evidence() == pytest.approx(other.log_evidence(), abs=1e-12)


@pytest.mark.parametrize("states, particles, runs", [(40, 4, 800), (300, 30, 300)])
def test_evidence_after_a_rescue_is_estimated_without_bias(states, particles, runs):
    """A state is seen that one episode in 40, or in 300, starts in; false alarm 1e-6.

    The deviation of an estimate is 1.7 times its mean, so a mean 30% off for 40 states, 50% for 300, is seen.
    """
    pomdp = TabularPOMDP.from_dense(np.eye(states)[:, None], np.eye(states)[:, None], np.zeros((states, 1)), 0.9)
    belief, datum = POMDPParticles(pomdp, particles=particles, rescue=True), b.Transition(-1, 0, 0.0, states - 1)
    found = [np.exp(belief.update(datum, default_rng(i)).log_evidence()) for i in range(runs)]
    assert_mean_equal(found, 1 / states)


# Searches ------------------------------------------------------------------------------------------------------------


def test_pomcp_on_a_world_that_cannot_be_listed():
    """After seeing 1 twice the coin shows 1 with .94: guessing 1 is worth that now, and .85 more in the next step."""
    belief, planner = POMDPParticles(CoinWorld(), particles=400), POMCP(simulations=3000, depth=2)
    fresh = planner.plan(belief, -1, None, default_rng(0)).info["q"]
    np.testing.assert_allclose(fresh, 0.5 + 0.9 * 0.8, atol=0.08)
    for i in range(2):
        belief = belief.update(b.Transition(-1, 0, 0.0, 1), default_rng(i))
    decision = planner.plan(belief, 1, None, default_rng(0))
    assert decision.action == 1
    assert decision.info["q"][1] == pytest.approx(16 / 17 * 1.9, abs=0.08)


def test_pomcp_on_particles_of_a_table_acts():
    world = b.make_world("tiger")
    agent = b.BayesAgent(POMDPParticles(world, particles=100), POMCP(simulations=50, depth=5))
    assert len(run(agent, world, 20, seed=0)) == 20


def test_what_a_world_lacks_is_said():
    with pytest.raises(Incompatible, match="neither a table `pomdp` nor a compiled"):
        b.BayesAgent(POMDPParticles(Bare()), POMCP())
    unbounded = CoinWorld()
    unbounded.reward_range = lambda: (-np.inf, np.inf)
    with pytest.raises(InvalidArgument, match="'exploration' must be a number"):
        b.BayesAgent(POMDPParticles(unbounded), POMCP())
    with pytest.raises(InvalidArgument, match="one with a table `pomdp` for this question"):
        POMDPParticles(Bare()).states()


@pytest.mark.parametrize("bad", [{"world": 3}, {"particles": 0}, {"particles": 1.5}, {"rescue": 1}])
def test_bad_arguments_are_refused(bad):
    with pytest.raises(InvalidArgument, match=f"POMDPParticles: '{next(iter(bad))}' must be"):
        POMDPParticles(**({"world": POMDP} | bad))


@pytest.mark.parametrize(
    "field, bad", [("action", 2), ("action", None), ("next_observation", -1), ("next_observation", 0.5)]
)
def test_bad_steps_are_refused(field, bad):
    with pytest.raises(InvalidArgument, match=f"POMDPParticles.update: '{field}' must be a whole number"):
        POMDPParticles(POMDP).update(LOG[0]._replace(**{field: bad}), default_rng(0))
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        POMDPParticles(POMDP).update(LOG[0])
