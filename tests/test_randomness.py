"""Streams and episodes of everything registered: a stream serves one part, episodes differ where a world is random."""

import gymnasium
import numpy as np
import pytest
from numpy.random import default_rng
from scripts import actions_of

from bayesrl.adapters.gymnasium import GymWorld, exported, to_gymnasium
from bayesrl.beliefs import BetaBernoulli, BinarisedRewards
from bayesrl.core import BayesAgent, Decision, Family, Streams, run
from bayesrl.lab.build import agent_for
from bayesrl.lab.priors import prior_for
from bayesrl.registry import entries, make, make_world, worlds
from bayesrl.testing import check_episodes, check_streams
from bayesrl.testing.randomness import Scripted

WORLDS = [entry.name for entry in worlds()]
CERTAIN = {
    "double-loop", "deep-sea", "wumpus", "load-unload", "infinite-grid", "bpg-bandit", "car-on-the-hill",
    "ship-steering",
}  # fmt: skip
"""Where nothing is left to chance once a world is drawn."""
DRAWING = {"double-loop", "deep-sea", "wumpus", "load-unload"}
"""Worlds among them that draw random numbers all the same, because they are tables."""
HOMES = {"bamdp": "chain", "bandits": "bernoulli"}
OWN_HOMES = {"thompson-combinatorial": "combinatorial", "lazy-psrl": "lq-system", "certainty-equivalence": "lq-system"}
ACTORS = {name: e for name, e in entries().items() if e.kind in ("planner", "agent")}
ACTING = [name for name, e in ACTORS.items() if e.package in HOMES or name in OWN_HOMES]


def world_of(name):
    world = make_world(name)
    return world.draw(default_rng(1)) if isinstance(world, Family) else world


# Streams -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_use_their_stream_alone(name):
    """A family is drawn by one stream, a world lives by another; a script needs neither thought nor learning."""
    world = make_world(name)
    used = check_streams(Scripted(actions_of(world)), world)
    drawn = {"draw"} if isinstance(world, Family) else set()
    assert used == drawn | ({"world"} if name not in CERTAIN - DRAWING else set())


@pytest.mark.parametrize("name", ACTING)
def test_methods_use_their_streams_alone(name):
    """No method draws from the world's streams, and exact beliefs do not draw when they learn."""
    entry = entries()[name]
    world = make_world(OWN_HOMES.get(name) or HOMES[entry.package])
    small = entry.kind == "planner" and name not in OWN_HOMES
    agent = BayesAgent(prior_for(world), entry.example()) if small else agent_for(name, world)
    used = check_streams(agent, world)
    assert "learning" not in used
    if name in ("random", "thompson", "psrl", "bamcp", "epsilon-greedy", "lazy-psrl"):
        assert "planner" in used


def test_a_belief_that_tosses_coins_uses_the_learning_stream():
    agent = BayesAgent(BinarisedRewards(BetaBernoulli.uniform(10)), make("thompson"))
    assert check_streams(agent, make_world("bernoulli")) == {"draw", "world", "planner", "learning"}


class Cheat:
    """An agent that acts by a stream of its own choice, or by one that it has kept."""

    def __init__(self, how):
        self.how, self.kept = how, default_rng(0)

    def start(self):
        return None

    def act(self, mind, seen, rng):
        if self.how == "numpy":
            return Decision(int(np.random.randint(2)), rng, {})  # noqa: NPY002
        return Decision(int((self.kept if self.how == "own" else rng).integers(2)), rng, {})

    def learn(self, mind, transition, rng):
        if self.how == "other":
            mind.random()
        return mind


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("numpy", "a call for the stream 'planner' used numpy.random"),
        ("other", "a call for the stream 'learning' used planner"),
        ("own", "the agent's decisions depend on more than"),
    ],
)
def test_cheats_are_found_out(how, said):
    with pytest.raises(AssertionError, match=said):
        check_streams(Cheat(how), make_world("chain"))


def test_the_streams_of_a_run_differ():
    """Between streams, seeds, replicates and lockstep blocks, all first numbers are different."""
    made = [Streams.of(seed, i, block) for seed in range(3) for i in range(3) for block in (False, True)]
    first = [stream.random() for streams in made for stream in streams]
    assert len(set(first)) == len(first) == 72
    assert [x.random() for x in Streams.of(5, 2)] == [x.random() for x in Streams.of(5, 2)]


# Episodes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
def test_episodes_differ_where_the_world_is_random(name):
    world = world_of(name)
    assert check_episodes(world, actions_of(world)) == (name not in CERTAIN)


@pytest.mark.parametrize(
    ("name", "random"), [("FrozenLake", True), ("Taxi", True), ("CliffWalking", False), ("CartPole", True)]
)
def test_episodes_of_gymnasium_worlds(name, random):
    """The lake is slippery, the taxi and the pole start anywhere, the cliff leaves nothing to chance."""
    newest = max(known for known in gymnasium.registry if known.startswith(f"{name}-v"))
    world = GymWorld(gymnasium.make(newest))
    assert check_episodes(world, actions_of(world)) == random
    assert check_streams(Scripted(actions_of(world)), world) == {"world"}


@pytest.mark.parametrize("name", [entry.name for entry in exported()])
def test_episodes_of_exported_worlds(name):
    """A world is as random when it comes back from Gymnasium, and in a loop that seeds the first episode alone."""
    world = world_of(name)
    env, actions = to_gymnasium(world), actions_of(world)
    assert check_episodes(GymWorld(env), actions) == (name not in CERTAIN)

    def episode(**seeded):
        return repr([env.reset(**seeded), *(env.step(action)[:3] for action in actions)])

    assert episode(seed=1) == episode(seed=1)
    assert (len({episode() for _ in range(8)}) > 1) == (name not in CERTAIN)


class Spy(gymnasium.Env):
    """Writes down the seeds that it is given; episodes end after three steps."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.seeds, self.age = [], 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seeds, self.age = [*self.seeds, seed], 0
        return 0, {}

    def step(self, action):
        self.age += 1
        return 0, float(self.np_random.random()), self.age == 3, False, {}


def test_each_episode_of_a_gymnasium_world_has_a_seed_of_its_own():
    """Nine episodes: nine seeds, the same in a run of the same seed, others in another one, spread over the range."""
    seeds = []
    for seed in (0, 0, 1):
        world = GymWorld(Spy())
        record = run(Scripted([0] * 24), world, 24, seed=seed)
        assert len(set(record.reward.tolist())) == 24
        seeds.append(world.env.seeds)
    assert seeds[0] == seeds[1]
    assert len({*seeds[0], *seeds[2]}) == 18
    assert max(seeds[0]) > 2**29
