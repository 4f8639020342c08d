"""Gymnasium in and out: environments as worlds, worlds as environments, and the user's own loop."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from bayesrl import BayesAgent, DirichletMDP, TabularMDP, Transition, make, make_world, run
from bayesrl.adapters.gymnasium import GymWorld, exported, register, to_gymnasium
from bayesrl.core import World
from bayesrl.errors import InvalidArgument

IDS = [f"bayesrl/{entry.name}-v0" for entry in exported()]


# Out -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_every_world_is_a_proper_environment(name):
    check_env(gymnasium.make(name).unwrapped)  # a warning is an error in this suite


def test_registering_again_changes_nothing():
    before = dict(gymnasium.registry)
    register()
    assert gymnasium.registry == before


def test_gymnasium_finds_the_worlds_by_itself():
    make_it = 'gymnasium.make("bayesrl.adapters.gymnasium:bayesrl/chain-v0", gamma=0.5)'
    code = f"import gymnasium; print({make_it}.unwrapped.world)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "name='chain'" in done.stdout


def test_an_environment_is_its_world_under_the_same_generator():
    world, env = make_world("grid5"), gymnasium.make("bayesrl/grid5-v0", max_episode_steps=50)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(3)))
    state, seen = world.reset(rng)
    assert env.reset(seed=3) == (seen, {})
    for t in range(50):
        state, seen, reward, terminated = world.step(state, t % 4, rng)
        assert env.step(t % 4) == (seen, reward, terminated, t == 49, {})


def test_parameters_reach_the_world():
    assert gymnasium.make("bayesrl/chain-v0", gamma=0.5).unwrapped.world.gamma == 0.5


def test_a_family_is_drawn_from_at_a_seed_or_when_asked():
    env = to_gymnasium(make_world("gc"))
    env.reset(seed=1)
    first = env.world
    env.reset()
    assert env.world is first
    env.reset(options={"draw": True})
    assert env.world != first
    env.reset(seed=1)
    assert env.world == first


def test_what_cannot_be_counted_is_refused():
    class Endless:
        n_states = 3

        def reset(self, rng): ...

    with pytest.raises(
        InvalidArgument,
        match=r"must be one in which one of finitely many actions is chosen at a time, got 'Endless'\.",
    ):
        to_gymnasium(Endless())


# In ------------------------------------------------------------------------------------------------------------------


class Offset(gymnasium.Env):
    """Observations and actions that do not start at 0."""

    observation_space = gymnasium.spaces.Discrete(3, start=5)
    action_space = gymnasium.spaces.Discrete(2, start=-1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.int64(5), {}

    def step(self, action):
        assert action in (-1, 0)
        return np.int64(6 + action + 1), np.float32(1.5), False, False, {}


def test_discrete_spaces_are_counted_from_zero():
    world, rng = GymWorld(Offset(), gamma=0.9), np.random.default_rng(0)
    assert isinstance(world, World)
    assert (world.n_states, world.n_actions, world.horizon) == (3, 2, None)
    state, seen = world.reset(rng)
    assert seen == 0
    state, seen, reward, terminated = world.step(state, 0, rng)
    assert (seen, reward, terminated) == (1, 1.5, False)
    assert [type(part) for part in (seen, reward, terminated)] == [int, float, bool]
    assert world.step(state, 1, rng)[1] == 2


def test_a_world_survives_the_round_trip():
    world = make_world("double-loop")
    agent = BayesAgent(DirichletMDP.flat(world), make("random"))
    straight = run(agent, world, steps=200)
    around = run(agent, GymWorld(to_gymnasium(world), gamma=0.95), steps=200)
    assert np.array_equal(around.state, straight.state)  # the world is deterministic, the thoughts are the same
    assert around.total == straight.total


def test_an_environment_cannot_go_back():
    world, rng = GymWorld(gymnasium.make("FrozenLake-v1"), gamma=0.9), np.random.default_rng(0)
    with pytest.raises(InvalidArgument, match="'state' must be in an episode that has not ended"):
        world.step(0, 0, rng)
    state, _ = world.reset(rng)
    world.step(state, 0, rng)
    with pytest.raises(InvalidArgument, match="'state' must be the latest one, as the environment cannot go back"):
        world.step(state, 0, rng)
    state, _ = world.reset(rng)
    with pytest.raises(InvalidArgument, match="'action' must be a whole number of at least 0 and at most 3, got 4"):
        world.step(state, 4, rng)
    world.step(state, 3, rng)  # the failed call changed nothing


def test_a_time_limit_belongs_to_the_loop():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=5)
    agent = BayesAgent(DirichletMDP.structured(TabularMDP.from_gymnasium(env, 0.9)), Stay())
    world = GymWorld(env, gamma=0.9)
    assert world.horizon == 5
    record = run(agent, world, steps=20, horizon=world.horizon)
    assert np.flatnonzero(record.truncated).tolist() == [4, 9, 14, 19]
    with pytest.raises(InvalidArgument, match="run with horizon=5"):
        run(agent, GymWorld(env, gamma=0.9), steps=20)


class Stay:
    needs = ()

    def start(self):
        return None

    def plan(self, belief, observation, memory, rng, last=None):
        return 0, None, {}  # left, into the wall


def test_continuous_spaces_pass_through():
    env = gymnasium.make("MountainCarContinuous-v0")
    world, rng = GymWorld(env, gamma=0.99), np.random.default_rng(0)
    state, seen = world.reset(rng)
    assert seen.shape == (2,)
    _, seen, reward, terminated = world.step(state, np.array([0.5], np.float32), rng)
    assert reward < 0
    assert not terminated
    with pytest.raises(InvalidArgument, match="GymWorld: 'action_space' must be discrete to be counted"):
        _ = world.n_actions


def test_an_environment_is_asked_for():
    with pytest.raises(InvalidArgument, match=r"GymWorld: 'env' must be a Gymnasium environment, got 'str'\."):
        GymWorld("FrozenLake-v1")
    with pytest.raises(InvalidArgument, match=r"GymWorld: 'gamma' must be in \[0, 1\], got 2\."):
        GymWorld(Offset(), gamma=2)


# The user's own loop -------------------------------------------------------------------------------------------------


def test_the_users_own_loop():
    env = gymnasium.make("FrozenLake-v1")
    agent = BayesAgent(DirichletMDP.structured(TabularMDP.from_gymnasium(env, gamma=0.95)), make("bayesian-dp"))
    rng = np.random.default_rng(0)
    mind = agent.start()
    observation, _ = env.reset(seed=0)
    goals = 0.0
    for _ in range(2000):
        action, mind, _ = agent.act(mind, observation, rng)
        new, reward, terminated, truncated, _ = env.step(action)
        mind = agent.learn(mind, Transition(observation, action, reward, new, terminated, truncated), rng)
        goals += reward
        observation = env.reset()[0] if terminated or truncated else new
    assert mind.belief.seen == 2000
    # Random play reaches the goal 1 to 4 times in 2000 steps, this agent 18 to 28 times (three seeds each).
    assert goals >= 12


def test_the_same_through_run():
    env = gymnasium.make("FrozenLake-v1")
    agent = BayesAgent(DirichletMDP.structured(TabularMDP.from_gymnasium(env, gamma=0.95)), make("bayesian-dp"))
    world = GymWorld(env, gamma=0.95)
    record = run(agent, world, steps=500, seed=1, horizon=world.horizon)
    again = run(agent, GymWorld(gymnasium.make("FrozenLake-v1"), gamma=0.95), steps=500, seed=1, horizon=100)
    assert record == again  # the seed determines the environment too
    assert record.terminated.any()
