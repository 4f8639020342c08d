"""RockSample as a generative model: the same law as the table, and what is run where no table fits."""

import pickle

import gymnasium
import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
import bayesrl.adapters.gymnasium  # registers the worlds
from bayesrl.bapomdp import POMCP
from bayesrl.beliefs import POMDPFilter, POMDPParticles
from bayesrl.cli import main
from bayesrl.core import World
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.jit import plain
from bayesrl.kernels.simulators.simulator import mask_illegal, rollout_action, root, step
from bayesrl.lab.priors import prior_for
from bayesrl.models.solve import solve
from bayesrl.registry import make_world
from bayesrl.testing import assert_mean_equal
from bayesrl.worlds.pomdps._rocks import GenerativeRockSample, bounds, outcome
from bayesrl.worlds.pomdps.rock_sample import MAPS


class Told:
    """A generator that gives these numbers in turn."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0)


@pytest.fixture(scope="module")
def table():
    return make_world("rock-sample")


@pytest.fixture(scope="module")
def made():
    return make_world("rock-sample", table=False)


# The same law --------------------------------------------------------------------------------------------------------


def test_steps_are_those_of_the_table(table, made):
    """Every state and action of (4, 4): next state, reward, end, and for which random numbers which sign is seen."""
    pomdp, model, seen = table.pomdp, made.simulator(), table.pomdp.seen
    assert (made.n_states, made.n_actions, made.n_observations) == (257, 9, 2)
    assert (made.actions, made.observations, made.gamma) == (table.actions, table.observations, table.gamma)
    for s, a in np.ndindex(257, 9):
        y = int(pomdp.mdp.succ[s, a, 0])
        probability = seen[y, a]
        right = max(probability)
        for u, o in (
            (0.0, probability.argmax()),
            (right - 1e-9, probability.argmax()),
            (right + 1e-9, probability.argmin()),
        ):
            if u < 1.0:
                assert outcome(model, s, a, u) == (o, y, pomdp.reward(s, a, y, o), bool(pomdp.terminal[y]))
        for o in range(2):
            assert made.observation_probability(y, a, o) == pytest.approx(probability[o], abs=1e-12)
    for a, o in np.ndindex(9, 2):
        np.testing.assert_allclose(made.observation_probability(np.arange(257), a, o), seen[:, a, o], atol=1e-12)


def test_starts_are_those_of_the_table(table, made):
    model = made.simulator()
    first = [plain(root.dispatch(type(model)))(model, -1, Told((i + 0.5) / 16)) for i in range(16)]
    assert first == np.flatnonzero(table.pomdp.start).tolist()
    assert made.reset(default_rng(0)) == (first[int(default_rng(0).random() * 16)], -1)


def test_steps_of_the_world_and_of_the_simulator_are_outcomes(made):
    rng, model = default_rng(0), made.simulator()
    for s, a in ((37, 5), (37, 1), (37, 8), (52, 8)):
        beside = pickle.loads(pickle.dumps(rng))
        state, seen, reward, done = made.step(s, a, rng)
        assert (seen, state, reward, done) == outcome(model, s, a, beside.random(2)[1])
        assert beside.bit_generator.state == rng.bit_generator.state, "as many random numbers as a step of the table"
        assert plain(step.dispatch(type(model)))(model, s, a, Told(0.999))[:4] == outcome(model, s, a, 0.999)


@pytest.mark.parametrize("n, k", [(4, 4), (5, 7)])
def test_legal_and_preferred_actions(n, k):
    """Legal is what does not cost 100; the search bars the rest, and rollouts draw evenly from what is left."""
    table, made = (make_world("rock-sample", size=n, rocks=k, table=one) for one in (True, False))
    model, S, A = made.simulator(), table.n_states, k + 5
    choose, close = (plain(op.dispatch(type(model))) for op in (rollout_action, mask_illegal))
    paid = np.array([[table.pomdp.reward(s, a, 0, 0) for a in range(A)] for s in range(0, S, 2**k)])
    np.testing.assert_array_equal(table.legal[:: 2**k], paid > -100.0)
    np.testing.assert_array_equal(table.legal, np.repeat(table.legal[:: 2**k], 2**k, axis=0)[:S])
    assert table.legal[-1].all()
    for s in range(0, S, 2**k):
        Q, N = np.zeros((2, A)), np.zeros((2, A), np.int64)
        close(model, s, Q, N, 1)
        np.testing.assert_array_equal(Q, [np.zeros(A), np.where(table.legal[s], 0.0, -np.inf)])
        np.testing.assert_array_equal(N, [np.zeros(A), ~table.legal[s]])  # one visit
        for epsilon, allowed in ((1.0, table.legal[s]), (0.0, table.preferred[s])):
            some = np.arange(A) if epsilon else np.array([0, 1, 2, 3, A - 1])
            for j, a in enumerate(some.tolist()):
                told = Told((j + 0.5) / len(some), 1.5 / len(some))  # the second says east
                assert choose(model, None, s, -1, epsilon, told) == (a if allowed[a] else 1)


@pytest.mark.parametrize("rollout", ["uniform", "preferred"])
def test_searches_have_the_same_values(table, made, rollout):
    """Root values of 150 searches each on table and model; false alarm 1e-6 each; sees half a deviation."""
    planner, rng = POMCP(simulations=60, depth=12, exploration=10.0, rollout=rollout), default_rng(3)
    found = []
    assert prior_for(table).reward_range() == prior_for(made).reward_range() == (-10.0, 10.0)
    sampled = POMDPParticles(table)  # particles of the table keep to the same rules
    np.testing.assert_array_equal(sampled.simulate(3).legal, table.legal)
    np.testing.assert_array_equal(sampled.preferred_actions(), table.preferred)
    assert sampled.reward_range() == (-10.0, 10.0)
    assert POMDPFilter(table.pomdp).reward_range() == (-100.0, 10.0)
    for belief in (prior_for(table), prior_for(made)):
        infos = [planner.plan(belief, -1, None, rng).info for _ in range(150)]
        q, visits = (np.array([info[key] for info in infos]) for key in ("q", "visits"))
        assert (q[:, [3, 8]] == -np.inf).all(), "no cell to the west, no rock"
        assert not visits[:, [3, 8]].any()
        assert (visits.sum(axis=1) == 60).all()
        found.append(np.delete(np.concatenate([q, visits], axis=1), [3, 8, 12, 17], axis=1))
    assert_mean_equal(found[0] - found[1], 0.0)


def test_particles_follow_the_exact_filter(table, made):
    """Marginals of the rocks after checks, a move and a sample: 60 samples of 500; false alarm 1e-6, bias .01."""
    log = [b.Transition(-1, a, 0.0, o) for a, o in ((0, 0), (1, 0), (6, 0), (5, 1), (8, 0), (4, 1))]
    exact = POMDPFilter(table.pomdp).update_many(log)
    good = np.array([[s >> i & 1 for i in range(4)] for s in range(257)], float)
    found = []
    for i in range(60):
        belief = POMDPParticles(made, particles=500).update_many(log, default_rng(i))
        assert isinstance(belief.sample.states, np.ndarray)
        found.append([*(belief.sample.weights @ good[belief.sample.states]), belief.log_evidence()])
    assert_mean_equal(found, [*(exact.states() @ good), exact.log_evidence()], bias=0.01)
    west = b.Transition(-1, 3, -100.0, 0)
    with pytest.raises(ImpossibleEvidence, match="none of 500 particles explains it"):
        POMDPParticles(made, particles=500).update(west, default_rng(0))  # it would have ended the episode
    ended = POMDPParticles(made, particles=500).update(west._replace(terminated=True), default_rng(0))
    assert set(ended.sample.states) == {256}
    assert POMCP(20, 5).plan(ended, -1, None, default_rng(0)).info["q"].tolist() == [0.0] * 9


def test_a_kept_tree_forgets_what_is_not_legal(table):
    """Values of minus infinity are no returns: their spread stays finite when a part of the tree is kept."""
    belief, planner = prior_for(table), POMCP(200, 10, exploration="auto", reuse=True)
    first = planner.plan(belief, -1, None, default_rng(0))
    datum = b.Transition(-1, 1, 0.0, 0)
    second = planner.plan(belief.update(datum), 0, first.memory, default_rng(1), datum)
    assert np.isfinite(second.memory.tree.spread).all()
    assert second.info["visits"].sum() > 200


# Bounds and maps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, k", [(4, 4), (5, 5)])
def test_the_upper_bound_is_the_value_of_rocks_that_are_seen(n, k):
    """The best order of visits, against value iteration on all states; the lower bound is to go east."""
    for gamma in (0.95, 0.7):
        pomdp = make_world("rock-sample", size=n, rocks=k, gamma=gamma).pomdp
        low, high = bounds(n, MAPS[n, k], gamma)
        assert high == pytest.approx(pomdp.start @ solve(pomdp.mdp).values, abs=1e-6)
        assert low == pytest.approx(10.0 * gamma ** (n - 1))


def test_the_simple_bound_is_not_below_the_exact_one(monkeypatch):
    exact = bounds(7, MAPS[7, 8], 0.95)
    monkeypatch.setattr("bayesrl.worlds.pomdps._rocks.EXACT_BOUND", 3)
    low, high = bounds(7, MAPS[7, 8], 0.95)
    assert low == exact[0]
    assert exact[1] <= high < exact[1] + 15.0


def test_maps():
    for (n, k), chart in MAPS.items():
        assert len(set(chart.rocks)) == k
        assert all(0 <= z < n for place in (chart.start, *chart.rocks) for z in place)
    larger = {(x, y - 4) for x, y in MAPS[15, 15].rocks}
    assert set(MAPS[11, 11].rocks) <= larger
    drawn = [make_world("rock-sample", size=12, rocks=14, seed=i) for i in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0].chart.start == (0, 6)
    assert len(set(drawn[0].chart.rocks)) == 14
    assert make_world("rock-sample", size=3, rocks=3, seed=5).n_states == 9 * 8 + 1
    full = make_world("rock-sample", size=2, rocks=4, seed=0)
    assert full.legal[:-1, -1].all(), "a rock in every cell"
    for n, k, seed in ((1, 1, 0), (3, 1, 0), (100, 1, 0), (7, 40, 0)):
        assert make_world("rock-sample", size=n, rocks=k, seed=seed).n_states == n * n * 2**k + 1


def test_a_table_fits_up_to_its_largest_size(monkeypatch):
    """Three by three cells with two rocks: (9 2^2 + 1) states and 7 actions."""
    for largest, fits in ((37 * 7, True), (37 * 7 - 1, False)):
        monkeypatch.setattr("bayesrl.worlds.pomdps.rock_sample.LARGEST_TABLE", largest)
        assert hasattr(make_world("rock-sample", size=3, rocks=2, seed=0), "pomdp") is fits


@pytest.mark.parametrize(
    "settings, says",
    [
        ({"gamma": 1.01}, "'gamma' must be"),
        ({"size": 15, "rocks": 14}, "'size, rocks' must be one of the published maps"),
        ({"size": 2, "rocks": 5, "seed": 0}, "'rocks' must be a whole number of at least 1 and at most 4,"),
        ({"size": 9, "rocks": 41, "seed": 0}, "'rocks' must be a whole number of at least 1 and at most 40,"),
        ({"size": 101, "rocks": 4, "seed": 0}, "'size' must be a whole number of at least 1 and at most 100,"),
        ({"size": 0, "rocks": 1, "seed": 0}, "'size' must be a whole number of at least 1 and at most 100,"),
        ({"size": 3, "rocks": 0, "seed": 0}, "'rocks' must be a whole number of at least 1 and at most 40,"),
        ({"seed": -1}, "'seed' must be"),
        ({"seed": 0.5}, "'seed' must be"),
        ({"table": 1}, "'table' must be"),
        ({"size": 15, "rocks": 15, "table": True}, "'table' must be false beyond 4194304 pairs"),
    ],
)
def test_refusals(settings, says):
    with pytest.raises(InvalidArgument) as error:
        make_world("rock-sample", **settings)
    assert str(error.value).startswith(f"rock-sample: {says}")


# Where no table fits -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    return make_world("rock-sample", size=15, rocks=15)


def test_a_large_map_is_a_world(large):
    assert isinstance(large, World)
    assert isinstance(large, GenerativeRockSample)
    assert pickle.loads(pickle.dumps(large)) == large
    assert (large.n_states, large.n_actions) == (225 * 2**15 + 1, 20)
    low, high = large.value
    assert low == pytest.approx(10 * 0.95**14)
    assert 30.0 < high < 40.0
    for bad, name in (((-1, 0), "state"), ((large.n_states, 0), "state"), ((0, 20), "action"), ((0, None), "action")):
        with pytest.raises(InvalidArgument, match=f"^rock-sample: '{name}' must be a whole number"):
            large.step(*bad, default_rng(0))
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        large.step(0, 0, 0)


@pytest.mark.parametrize("settings", [{}, {"rollout": "preferred", "exploration": "auto"}])
def test_an_agent_acts_in_a_large_map(large, settings):
    agent = b.BayesAgent(prior_for(large, "known:200"), POMCP(simulations=50, depth=20, **settings))
    record = b.run(agent, large, steps=25, seed=0, keep=("state",))
    assert (record.reward > -100.0).all(), "searches try legal actions only"
    assert record.state.max() < large.n_states
    assert record.next_observation.max() <= 1
    agent = b.BayesAgent(prior_for(large, "known:200"), POMCP(simulations=50, depth=20, reuse=True))
    assert len(b.run(agent, large, steps=8, seed=0)) == 8


def test_priors_of_a_large_map(large):
    assert prior_for(large) == POMDPParticles(large, particles=1000, rescue=True)
    assert prior_for(large, "known:50").particles == 50
    for name in ("exact", "particle:10", "bounded"):
        with pytest.raises(Incompatible, match="Its model is known: the prior is known or known:PARTICLES"):
            prior_for(large, name)
    with pytest.raises(Incompatible):
        b.BayesAgent(prior_for(large), POMCP(leaf="mean"))
    with pytest.raises(InvalidArgument, match="'problem' must be a TabularPOMDP"):
        b.make("pbvi").solve(large)


def test_gymnasium_sees_a_large_map():
    env = gymnasium.make("bayesrl/rock-sample-v0", size=15, rocks=15, max_episode_steps=5)
    assert env.observation_space == gymnasium.spaces.Discrete(3, start=-1)
    assert env.action_space == gymnasium.spaces.Discrete(20)
    assert env.reset(seed=0)[0] == -1
    seen, reward, *_ = env.step(7)
    assert seen in (0, 1)
    assert reward == 0.0


def test_the_command_line_runs_a_large_map(capsys):
    large = "rock-sample:size=15,rocks=15"
    assert main(f"run pomcp {large} --runs 1 --steps 4 --prior known:100 --set simulations=20".split()) == 0
    assert "rock-sample" in capsys.readouterr().out
    assert main(f"explain pomcp {large} --prior known:100 --set simulations=20".split()) == 0
    assert "check-3" in capsys.readouterr().out
    for line, says in ((f"solve {large}", "solve"), (f"run pomcp {large} --prior exact", "known:PARTICLES")):
        assert main(line.split()) == 2
        assert says in capsys.readouterr().err
