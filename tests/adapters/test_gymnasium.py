"""Gymnasium in and out: environments as worlds, worlds as environments, and the user's own loop."""

import subprocess
import sys
import warnings
from itertools import islice

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from gymnasium.utils.env_checker import check_env

from bayesrl import BayesAgent, Decision, DirichletMDP, TabularMDP, Transition, compare, make, make_world, run, solve
from bayesrl.adapters.gymnasium import GymWorld, WorldEnv, exported, register, to_gymnasium
from bayesrl.beliefs import covariances, features
from bayesrl.beliefs.mdp.sparse_dirichlet import SparseDirichletMDP
from bayesrl.core import Streams, World, play
from bayesrl.errors import BrokenContract, ImpossibleEvidence, InvalidArgument
from bayesrl.gradient import REINFORCE, GaussianPolicy, SoftmaxPolicy
from bayesrl.value import GPSARSA

IDS = [f"bayesrl/{entry.name}-v0" for entry in exported()]


# Out -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_every_world_is_a_proper_environment(name):
    with warnings.catch_warnings():  # a warning is an error in this suite, but for a recommendation
        warnings.filterwarnings("ignore", message=".*symmetric and normalized.*")
        check_env(gymnasium.make(name).unwrapped)


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
    # The class itself takes worlds that count less: one action, one observation.
    env = WorldEnv(Endless())
    assert (env.observation_space, env.action_space) == (Discrete(3), Discrete(1))
    Endless.n_observations = 4
    env = WorldEnv(Endless())
    assert (env.observation_space, env.action_space) == (Discrete(5, start=-1), Discrete(1))
    del Endless.n_states, Endless.n_observations
    assert WorldEnv(Endless()).observation_space == Discrete(1)


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
    state, seen, _, _ = world.step(state, 1, rng)
    assert seen == 2
    state, seen, _, _ = world.step(state, np.array([1.0]), rng)  # planners on vectors list numbers so
    assert seen == 2
    for action in (np.array([0.5]), np.array([2.0]), np.array([0.0, 0.0]), np.array([np.nan])):
        with pytest.raises(InvalidArgument, match="'action' must be a whole number"):
            world.step(state, action, rng)


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


def test_no_state_comes_twice_whatever_episode_it_is_of():
    world, rng = GymWorld(gymnasium.make("FrozenLake-v1", is_slippery=False), gamma=0.9), np.random.default_rng(0)
    met = []
    for steps in (2, 3, 1, 2):
        state, _ = world.reset(rng)
        for k in range(steps + 1):
            for old in met:
                with pytest.raises(InvalidArgument, match="'state' must be the latest one"):
                    world.step(old, 0, rng)
            met.append(state)
            if k < steps:
                state = world.step(state, 0, rng).state


def test_a_time_limit_belongs_to_the_loop():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=5)
    agent = BayesAgent(DirichletMDP.structured(TabularMDP.from_gymnasium(env, 0.9)), Stay())
    world = GymWorld(env, gamma=0.9)
    assert world.horizon == 5
    record = run(agent, world, steps=20)
    assert np.flatnonzero(record.truncated).tolist() == [4, 9, 14, 19]
    shorter = run(agent, GymWorld(env, gamma=0.9), steps=20, horizon=4)
    assert np.flatnonzero(shorter.truncated).tolist() == [3, 7, 11, 15, 19]
    with pytest.raises(InvalidArgument, match="run with horizon=5"):
        list(islice(play(agent, GymWorld(env, gamma=0.9), Streams.of(0)), 20))


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


# Ends in states that are not terminal --------------------------------------------------------------------------------


class Follow:
    """A planner that acts by a policy, whatever is believed."""

    needs = ()

    def __init__(self, policy):
        self.policy = policy

    def start(self):
        return None

    def plan(self, belief, observation, memory, rng, last=None):
        return Decision(int(self.policy[observation]), None, {})


TAXI = TabularMDP.from_gymnasium(gymnasium.make("Taxi-v4"), 0.95)
PRIORS = {
    "structured": DirichletMDP.structured(TAXI),
    "flat": DirichletMDP.flat(TAXI, 1 / 500),
    "sparse": SparseDirichletMDP.flat(TAXI),
}


def chance(mdp, s, a, y):
    return mdp.prob[mdp.group[s, a]][mdp.succ[s, a] == y].sum()


def test_the_end_of_taxi_is_a_state_of_the_table():
    # A drop-off ends the episode in a state that is also entered alive, when the passenger is put down elsewhere.
    assert (TAXI.n_states, TAXI.outcomes.end) == (501, 500)
    assert np.flatnonzero(TAXI.outcomes.terminal).tolist() == [500]
    assert [TAXI.observe(0, terminated) for terminated in (False, True)] == [0, 500]
    assert TAXI.outcomes.flat().end == 500
    with pytest.raises(InvalidArgument, match="'observation' must be a whole number of at least 0 and at most 500"):
        TAXI.observe(501)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_taxi_is_learnt_in_the_users_own_loop(prior):
    env, rng, done = gymnasium.make("Taxi-v4"), np.random.default_rng(0), []
    agent = BayesAgent(prior, Follow(solve(TAXI).policy))
    mind = agent.start()
    observation, _ = env.reset(seed=0)
    for _ in range(60):
        action, mind, _ = agent.act(mind, observation, rng)
        new, reward, terminated, truncated, _ = env.step(action)
        seen = Transition(observation, action, reward, new, terminated, truncated)
        mind = agent.learn(mind, seen, rng)
        done += [seen] if terminated else []
        observation = env.reset()[0] if terminated or truncated else new
    assert len(done) >= 2
    assert mind.belief.seen == 60
    last = done[-1]
    ends = [chance(belief.mean_mdp(), last.state, last.action, 500) for belief in (prior, mind.belief)]
    assert ends[1] > ends[0] + 0.4 or ends == [1.0, 1.0]  # the structured prior knew it
    # A log says the same as the steps one by one.
    assert prior.update_many(done).seen == len(done)


def test_psrl_learns_taxi():
    world = GymWorld(gymnasium.make("Taxi-v4"), gamma=0.95)
    agent = BayesAgent(PRIORS["structured"], make("psrl"))
    record = run(agent, world, 1000, horizon=world.horizon)
    assert record.terminated.sum() > 40  # the best policy is done after 13 steps
    assert record.next_state.max() < 500  # the environment reports no state of the table's own


def test_an_end_that_the_table_does_not_know_is_still_impossible():
    lake = DirichletMDP.structured(TabularMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 0.95))
    with pytest.raises(ImpossibleEvidence, match="that state is not terminal"):
        lake.update(Transition(0, 0, 0.0, 4, terminated=True))


# Many runs -----------------------------------------------------------------------------------------------------------


def test_each_run_has_an_environment_of_its_own():
    # On threads a shared environment is stepped by several runs at once, and refuses.
    env = gymnasium.make("FrozenLake-v1")
    agent = BayesAgent(DirichletMDP.structured(TabularMDP.from_gymnasium(env, 0.95)), make("random"))
    world = GymWorld(env, gamma=0.95)
    agents = {"random": agent}
    alone, together = (
        compare(agents, world, 150, runs=6, horizon=world.horizon, workers=workers, progress=False)
        for workers in (1, 3)
    )
    assert np.array_equal(alone.records["random"].reward, together.records["random"].reward)
    single = run(agent, world, 150, replicate=4, horizon=world.horizon)
    assert np.array_equal(alone.records["random"].state[:, 4], single.state)


def test_fresh_environments():
    world = GymWorld(gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=7), gamma=0.9)
    copy = world.fresh()
    assert copy.env is not world.env
    assert (copy.gamma, copy.horizon, copy.env.spec.kwargs) == (0.9, 7, world.env.spec.kwargs)
    without_spec = GymWorld(Offset())
    assert without_spec.fresh().env is not without_spec.env
    made = GymWorld(Offset, gamma=0.5)  # a function that makes one
    assert isinstance(made.fresh().env, Offset)
    assert made.fresh().gamma == 0.5


def test_an_environment_that_cannot_be_copied_is_refused_by_name():
    class Single(Offset):
        def __deepcopy__(self, memo):
            raise RuntimeError("there is one of me")

    with pytest.raises(
        InvalidArgument,
        match=r"GymWorld: 'env' must be one that can be made again, as runs cannot share it, got 'Single'. "
        "GymWorld also takes a function that makes an environment.",
    ):
        GymWorld(Single()).fresh()


def test_compare_wants_a_world_not_an_environment():
    env = gymnasium.make("FrozenLake-v1")
    agent = BayesAgent(DirichletMDP.structured(TabularMDP.from_gymnasium(env, 0.95)), make("random"))
    with pytest.raises(InvalidArgument, match="must be a world, not a Gymnasium environment"):
        compare(agent, env, 10, runs=2)


# What a move that the table does not list would pay ------------------------------------------------------------------


def test_flat_rewards_do_not_tell_the_successor():
    cliff = TabularMDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), 0.95)
    R = cliff.outcomes.flat().reward  # (S, A, S)
    live = ~cliff.outcomes.terminal
    assert (R[live] == cliff.mean_reward[live][:, :, None]).all()  # the same, wherever it leads
    assert R[live].max() == -1.0  # no impossible move is better than the real ones
    # FrozenLake pays for coming to the goal, from wherever one comes.
    for slippery in (True, False):
        lake = TabularMDP.from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=slippery), 0.95)
        R = lake.outcomes.flat().reward[~lake.outcomes.terminal]
        assert (R == np.eye(16)[15]).all()


def test_an_end_in_place():
    # Action 1 of state 0 gives up where it stands; state 2 ends whatever is done there.
    table = {
        0: {0: [(0.5, 1, 1.0, False), (0.5, 0, 0.0, False)], 1: [(1.0, 0, -1.0, True)]},
        1: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 2, 5.0, True)]},
        2: {0: [(1.0, 2, 0.0, True)], 1: [(1.0, 2, 0.0, True)]},
    }
    mdp = TabularMDP.from_gymnasium(table, 0.5)
    assert np.flatnonzero(mdp.outcomes.terminal).tolist() == [2, 3]
    assert mdp.outcomes.end == 3
    assert mdp.succ[0, 1, 0] == 3
    assert [mdp.observe(2, True), mdp.observe(0, True), mdp.observe(0)] == [2, 3, 0]
    belief = DirichletMDP.structured(mdp).update(Transition(0, 1, -1.0, 0, terminated=True))
    assert belief.seen == 1
    assert solve(mdp).values.round(6).tolist() == [2.333333, 5.0, 0.0, 0.0]  # V = (1 + 5 / 2) / 2 + V / 4


@pytest.mark.parametrize(
    "name, dims",
    [("CartPole-v1", 4), ("MountainCar-v0", 2), ("Acrobot-v1", 6), ("Pendulum-v1", 3), ("MountainCarContinuous-v0", 2)],
)
def test_classic_control_runs_unchanged(name, dims):
    """GPSARSA and a policy gradient act in all of Gymnasium's classic control; `run` cuts at its time limits."""
    world = GymWorld(lambda: gymnasium.make(name), gamma=0.99)
    space = world.env.action_space
    counted = isinstance(space, Discrete)
    k_a = covariances.Discrete() if counted else covariances.Gaussian()
    k = covariances.StateAction(covariances.Gaussian(scale=1.0, variance=100.0), k_a, dims=dims)
    phi = features.Polynomial(degree=1, dims=dims)
    if counted:
        policy = SoftmaxPolicy(np.zeros((phi.size, int(space.n))), phi)
    else:
        policy = GaussianPolicy(phi, np.zeros((1, phi.size)), sigma=0.1)
    for agent in (GPSARSA(int(space.n) if counted else space, k, threshold=10.0), REINFORCE(paths=1, policy=policy)):
        record = run(agent, world, 210)
        assert np.isfinite(record.reward).all()
        if world.horizon == 200:
            assert record.truncated[199]


def test_vectors_at_the_faces_of_a_box_are_in_it():
    world = GymWorld(gymnasium.make("Pendulum-v1"))
    state, _ = world.reset(np.random.default_rng(0))
    state = world.step(state, np.array([2.0 + 1e-9]), np.random.default_rng(0)).state
    for action in ([2.1], 2.1, [np.nan], [0.0, 0.0], "x", None, True):
        with pytest.raises(InvalidArgument, match="'action' must be in Box"):
            world.step(state, action, np.random.default_rng(0))


def test_hidden_states_are_seen_from_minus_one():
    env = gymnasium.make("bayesrl/tiger-v0")
    assert env.observation_space == gymnasium.spaces.Discrete(3, start=-1)
    assert env.action_space == gymnasium.spaces.Discrete(3)
    seen, _ = env.reset(seed=0)
    assert seen == -1
    after = {env.step(0)[0] for _ in range(30)}
    assert after == {0, 1}


def test_a_function_that_makes_no_environment():
    with pytest.raises(BrokenContract, match="'env' does not answer without arguments: it raised"):
        GymWorld(len)
