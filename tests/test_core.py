"""The loop: streams, episodes, families, records, and the agreement between an agent and its parts."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.core import BayesAgent, Decision, Record, Streams, Transition, run
from bayesrl.errors import BrokenContract, Incompatible, InvalidArgument
from bayesrl.models.policy import TabularPolicy


class Hidden(NamedTuple):
    """A belief over a hidden, moving state and a parameter: a new episode forgets the first and keeps the second."""

    steps_seen: int = 0
    steps_in_episode: int = 0

    def update(self, datum, rng=None):
        return Hidden(self.steps_seen + 1, self.steps_in_episode + 1)

    def restart(self):
        return Hidden(self.steps_seen, 0)


class CountsSteps(Protocol):
    """A belief that counts its data."""

    steps_seen: int


@dataclass(frozen=True)
class Listener:
    """Remembers all it was shown; acts at random."""

    needs: ClassVar = (CountsSteps,)
    draws: int = 1

    def start(self):
        return ()

    def plan(self, belief, observation, memory, rng, last=None):
        [rng.random() for _ in range(self.draws)]
        return Decision(0, (*memory, (belief, observation, last)), {})


@dataclass(frozen=True)
class Corridor:
    """States 0..length; the last one terminates and pays 5."""

    length: int = 4
    gamma: float = 1.0

    def reset(self, rng):
        return 0, 0

    def step(self, state, action, rng):
        noise = rng.random()
        state += 1
        return state, state, (5.0 if state == self.length else noise), state == self.length


@dataclass(frozen=True)
class Corridors:
    gamma: float = 1.0

    def draw(self, rng):
        return Corridor(int(rng.integers(2, 50)))


def remembered(agent, world, steps, **kwargs):
    """The planner's memory at the end, through the user's own loop, which must be `run`'s."""
    streams, mind, age = Streams.of(0), agent.start(), 0
    state, seen = world.reset(streams.world)
    rewards = []
    for _ in range(steps):
        action, mind, _ = agent.act(mind, seen, streams.planner)
        state, new, reward, terminated = world.step(state, action, streams.world)
        age += 1
        truncated = age == kwargs.get("horizon") and not terminated
        mind = agent.learn(mind, Transition(seen, action, reward, new, terminated, truncated), streams.learning)
        rewards.append(reward)
        if terminated or truncated:
            (state, new), age = world.reset(streams.world), 0
        seen = new
    record = run(agent, world, steps, **kwargs)
    np.testing.assert_array_equal(record.reward, rewards)
    return mind, record


def test_the_loop_shows_the_planner_what_happened():
    mind, record = remembered(BayesAgent(Hidden(), Listener()), Corridor(3), 7)
    beliefs, observations, lasts = zip(*mind.memory, strict=True)
    assert observations == (0, 1, 2, 0, 1, 2, 0)
    assert [x.steps_seen for x in beliefs] == [0, 1, 2, 3, 4, 5, 6]
    assert [x.steps_in_episode for x in beliefs] == [0, 1, 2, 0, 1, 2, 0]
    assert lasts[0] is None
    assert [t.terminated for t in lasts[1:]] == [False, False, True, False, False, True]
    assert lasts[3].next_state == 3
    np.testing.assert_array_equal(record.state, observations)
    np.testing.assert_array_equal(record.next_state, [1, 2, 3, 1, 2, 3, 1])
    np.testing.assert_array_equal(record.terminated, [0, 0, 1, 0, 0, 1, 0])


def test_episodes_are_cut_at_the_horizon():
    mind, record = remembered(BayesAgent(Hidden(), Listener()), Corridor(4), 7, horizon=3)
    np.testing.assert_array_equal(record.state, [0, 1, 2, 0, 1, 2, 0])
    np.testing.assert_array_equal(record.truncated, [0, 0, 1, 0, 0, 1, 0])
    assert not record.terminated.any()
    assert [x[0].steps_in_episode for x in mind.memory] == [0, 1, 2, 0, 1, 2, 0]
    ended = run(BayesAgent(Hidden(), Listener()), Corridor(3), 6, horizon=3)
    assert ended.terminated.sum() == 2
    assert not ended.truncated.any(), "an episode that has terminated is not truncated as well"


class EndsOnce:
    """Episodes go on for good, but the first one, which ends after two steps."""

    gamma = 0.9

    def __init__(self):
        self.episodes = 0

    def reset(self, rng):
        self.episodes += 1
        return 0, 0

    def step(self, state, action, rng):
        return state + 1, state + 1, 0.0, self.episodes == 1 and state == 1


def test_the_age_of_an_episode_starts_anew_after_an_end():
    record = run(BayesAgent(Hidden(), Listener()), EndsOnce(), 9, horizon=3)
    np.testing.assert_array_equal(np.flatnonzero(record.terminated), [1])
    np.testing.assert_array_equal(np.flatnonzero(record.truncated), [4, 7])


def test_thinking_harder_does_not_change_the_worlds_luck():
    one, two = (run(BayesAgent(Hidden(), Listener(n)), Corridor(9), 20) for n in (1, 7))
    np.testing.assert_array_equal(one.reward, two.reward)


def test_a_family_is_drawn_anew_for_each_replicate_and_alike_for_each_method():
    def length(replicate, draws=1):
        record = run(BayesAgent(Hidden(), Listener(draws)), Corridors(), 60, replicate=replicate)
        return int(np.argmax(record.terminated))

    lengths = [length(i) for i in range(8)]
    assert len(set(lengths)) > 3
    assert [length(i, draws=5) for i in range(8)] == lengths


def test_records():
    agent = BayesAgent(Hidden(), Listener())
    one, two = run(agent, Corridor(3), 5, seed=4), run(agent, Corridor(3), 5, seed=4)
    assert one == two
    assert one != run(agent, Corridor(3), 5, seed=5)
    assert one.total == pytest.approx(one.reward.sum())
    half = Record(one.columns, 0.5, one.provenance)
    assert half.discounted == pytest.approx(sum(0.5**t * r for t, r in enumerate(one.reward)))
    with pytest.raises(AttributeError, match="no column 'rewrad'"):
        _ = one.rewrad
    with pytest.raises(ValueError, match="read-only"):
        one.reward[0] = 3.0
    frame = one.to_frame()
    assert list(frame["reward"]) == list(one.reward)
    assert one.provenance["agent"]["planner"] == {"type": "Listener", "draws": 1}
    assert one.provenance["seed"] == 4


@pytest.mark.parametrize(
    "other",
    [
        np.array([0.0, np.nan, 3.0]),
        np.array([0.0, 1.0, np.nan]),
        np.array([0.0, np.nan]),
        np.array([[0.0], [np.nan], [2.0]]),
        np.array([0.0, np.nan, 2.0], np.float32),
        np.array([0, 1, 2]),
        np.array(["0", "1", "2"]),
        np.array([(0, 0.0), (1, np.nan), (2, 2.0)], [("i", int), ("x", float)]),
    ],
)
def test_records_differ_in_any_column(other):
    """In an entry, the shape or the type; nan equals nan, also in parts of a structured column."""
    column = np.array([0.0, np.nan, 2.0])
    one = Record({"reward": column}, 0.9, {})
    assert one == Record({"reward": column.copy()}, 0.9, {})
    assert one != Record({"reward": other}, 0.9, {})
    assert Record({"reward": other}, 0.9, {}) != one
    assert Record({"reward": other}, 0.9, {}) == Record({"reward": other.copy()}, 0.9, {})
    for changed in (Record({"reward": column}, 0.8, {}), Record({"reward": column}, 0.9, {"seed": 1})):
        assert one != changed
    assert one != Record({"reward": column, "more": column}, 0.9, {})
    assert one != Record({"paid": column}, 0.9, {})


def test_records_of_vectors_of_any_length():
    def record(*lengths):
        ragged = np.empty(len(lengths), object)
        ragged[:] = [np.arange(n) for n in lengths]
        return Record({"x": ragged}, 0.9, {})

    assert record(2, 3) == record(2, 3)
    assert record(2, 3) != record(2, 4)
    assert record(2, 3) != record(1, 3)


def test_a_pair_that_does_not_fit_is_refused():
    with pytest.raises(Incompatible, match="Listener needs a belief with 'steps_seen', which DirichletMDP lacks"):
        BayesAgent(b.DirichletMDP.flat(b.make_world("chain")), Listener())


@pytest.mark.parametrize("bad", [("steps_seen",), "steps_seen", CountsSteps, (int,)])
def test_needs_are_protocols(bad):
    @dataclass(frozen=True)
    class Loose(Listener):
        needs: ClassVar = bad

    with pytest.raises(
        BrokenContract, match=r"^Loose.needs does not hold a tuple of protocols such as .*: it gave .*\.$"
    ):
        BayesAgent(Hidden(), Loose())


def test_a_planner_may_check_more_than_names():
    @dataclass(frozen=True)
    class Picky(Listener):
        def check(self, belief):
            raise Incompatible("Picky", type(belief).__name__, ["manners"])

    with pytest.raises(Incompatible, match="Picky needs a belief with 'manners', which Hidden lacks"):
        BayesAgent(Hidden(), Picky())


@pytest.mark.parametrize("bad", [{"steps": 0}, {"steps": 2.5}, {"seed": -1}, {"horizon": 0}, {"replicate": -2}])
def test_nonsense_is_refused(bad):
    with pytest.raises(InvalidArgument, match=f"run: '{next(iter(bad))}' must be a whole number"):
        run(BayesAgent(Hidden(), Listener()), Corridor(), **({"steps": 3} | bad))


def test_the_users_own_loop_with_gymnasium():
    import gymnasium

    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    mdp = b.TabularMDP.from_gymnasium(env, gamma=0.95)
    agent, rng = BayesAgent(b.DirichletMDP.flat(mdp, 0.1), b.make("bayesian-dp", every=5)), default_rng(0)
    mind, goals = agent.start(), 0
    for episode in range(60):
        seen, _ = env.reset(seed=episode)
        done = False
        while not done:
            action, mind, _ = agent.act(mind, seen, rng)
            new, reward, terminated, truncated, _ = env.step(action)
            mind = agent.learn(mind, Transition(seen, action, reward, new, terminated, truncated), rng)
            seen, done = new, terminated or truncated
            goals += reward > 0
    assert goals > 10


def test_a_transition_goes_on_in_the_first_task_unless_told_otherwise():
    step = Transition(0, 1, 2.0, 3)
    assert (step.terminated, step.truncated, step.task, step.ends_episode) == (False, False, 0, False)
    assert Transition(0, 1, 2.0, 3, terminated=True).ends_episode
    assert Transition(0, 1, 2.0, 3, truncated=True).ends_episode


class Alternating:
    """One state; a step pays its action, and each step belongs to the other task."""

    n_states, n_actions, gamma, actions = 1, 2, 0.9, ()

    def reset(self, rng):
        return 0, 0

    def step(self, state, action, rng):
        return state + 1, 0, float(action), False, (state + 1) % 2


def test_tasks_are_recorded_where_there_are_several():
    agent = TabularPolicy([0, 0, 0, 0, 0], n_actions=2)
    assert set(run(agent, Alternating(), steps=5).task.tolist()) == {0, 1}
    assert "task" not in run(agent, b.make_world("chain"), steps=5).columns
    assert run(agent, Alternating(), steps=6, horizon=3).task.tolist() == [0, 1, 0, 0, 1, 0]  # an episode begins with 0
