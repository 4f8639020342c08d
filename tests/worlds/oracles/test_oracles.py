"""Oracles as worlds: what they answer, what they charge, and that the world inside is as it was."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import POMDPFilter
from bayesrl.core import Decision, World
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.models.pomdp import NOTHING
from bayesrl.registry import make_world

STATE, ACTION, CONFIRMATION = NAMES = ("asking-for-state", "asking-for-action", "asking-for-confirmation")
COST = 2.5
LISTEN, OPEN_LEFT, OPEN_RIGHT = range(3)


@pytest.fixture(scope="module")
def oracles():
    return {name: make_world(name, world="tiger", cost=COST) for name in NAMES}


class Script:
    """An agent that does what a list says."""

    def __init__(self, actions):
        self.actions = actions

    def start(self):
        return 0

    def act(self, mind, observation, rng):
        return Decision(self.actions[mind % len(self.actions)], mind + 1, {})

    def learn(self, mind, transition, rng):
        return mind


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("inside", ["tiger", "tiger-episodic"])
def test_inside(name, inside):
    """Without questions an oracle's world is the world inside: states, observations, rewards, random numbers."""
    plain, asked = make_world(inside), make_world(name, world=inside)
    assert isinstance(asked, World)
    one, two = (b.run(Script([0, 0, 1, 0, 2]), world, 60, seed=3, keep=("state",)) for world in (plain, asked))
    assert two.reward.tolist() == one.reward.tolist()
    assert two.terminated.tolist() == one.terminated.tolist()
    assert two.next_observation[:, 0].tolist() == one.next_observation.tolist()
    assert (two.next_observation[:, 1:] == NOTHING).all()
    assert (two.observation[0] == NOTHING).all()
    states = two.state if name == STATE else [s[0] for s in two.state]
    assert np.array_equal(states, one.state)
    assert (asked.gamma, asked.n_observations, asked.hidden) == (plain.gamma, 2, True)
    assert asked.pomdp == plain.pomdp
    assert asked.steps == plain.steps


def test_state_oracle(oracles):
    world = oracles[STATE]
    assert (world.n_actions, world.answers) == (6, (2, 2))
    record = b.run(Script([3, 4, 0, 5]), world, 400, seed=1, keep=("state",))
    asked = record.action >= 3
    before, after = record.state, np.append(record.state[1:], -5)
    seen, s, y = record.next_observation.T
    assert (s[asked] == before[asked]).all()
    assert (y[asked][:-1] == after[asked][:-1]).all()
    assert (s[~asked] == NOTHING).all()
    assert (y[~asked] == NOTHING).all()
    assert set(seen.tolist()) == {0, 1}
    paid = np.array([world.pomdp.rewards[i, a] for i, a in zip(before, record.action % 3, strict=True)])
    np.testing.assert_allclose(record.reward, paid - COST * asked)
    assert (s[asked] != y[asked]).any()  # a door moves the tiger


def test_state_oracle_draws_like_the_world_inside(oracles):
    """A question changes nothing but the price and the answer."""
    for s in range(2):
        for a in range(3):
            plain, asked = (oracles[STATE].step(s, a + q, default_rng(7)) for q in (0, 3))
            assert asked.state == plain.state
            assert asked.observation == (plain.observation[0], s, plain.state)
            assert (asked.reward, asked.terminated) == (plain.reward - COST, plain.terminated)


def test_action_oracle(oracles):
    """The tiger at discount .95: open at a belief beyond .960346, that is at two more on one side; else listen."""
    world, rng = oracles[ACTION], default_rng(0)
    assert (world.n_actions, world.answers) == (4, (3,))
    state, seen = world.reset(rng)
    assert seen == (NOTHING, NOTHING)
    filter_, more, answers = POMDPFilter(world.pomdp), 0, set()
    for _ in range(300):
        before = state
        state, seen, reward, ended = world.step(state, 3, rng)
        assert state == before, "a question changes nothing"
        assert (seen[0], reward, ended) == (NOTHING, -COST, False)
        best = LISTEN if abs(more) < 2 else OPEN_RIGHT if more > 0 else OPEN_LEFT
        assert seen[1] == best == world.advised(state)
        answers.add(best)
        state, (o, said), reward, _ = world.step(state, best, rng)
        filter_ = filter_.update(b.Transition(NOTHING, best, reward, o))
        np.testing.assert_allclose(state.belief, filter_.states(), atol=1e-12)
        assert said == NOTHING
        more = more + 1 - 2 * o if best == LISTEN else 0
    assert answers == {LISTEN, OPEN_LEFT, OPEN_RIGHT}


def test_confirming_oracle(oracles):
    advisor, world, rng = oracles[ACTION], oracles[CONFIRMATION], default_rng(0)
    assert (world.n_actions, world.answers) == (6, (2,))
    state, seen = world.reset(rng)
    assert seen == (NOTHING, NOTHING)
    for _ in range(50):
        best = advisor.advised(state)
        steps = [world.step(state, 3 + a, rng) for a in range(3)]
        assert [step.observation for step in steps] == [(NOTHING, int(a == best)) for a in range(3)]
        assert [(step.state, step.reward, step.terminated) for step in steps] == [(state, -COST, False)] * 3
        state = world.step(state, best, rng).state


def test_an_oracle_begins_anew_with_the_episode():
    world, rng = make_world(ACTION, world="tiger-episodic"), default_rng(0)
    state, _ = world.reset(rng)
    while world.advised(state) == LISTEN:
        state = world.step(state, LISTEN, rng).state
    step = world.step(state, world.advised(state), rng)
    assert step.terminated
    assert step.state.belief == (0.0, 0.0, 1.0)
    assert world.reset(rng)[0].belief == (0.5, 0.5, 0.0)


@pytest.mark.parametrize("name", (ACTION, CONFIRMATION))
def test_a_question_draws_as_many_numbers_as_a_step(oracles, name):
    world = oracles[name]
    state = world.reset(default_rng(0))[0]
    one, two = default_rng(5), default_rng(5)
    world.step(state, 0, one)
    world.step(state, 3, two)
    assert one.bit_generator.state == two.bit_generator.state


@pytest.mark.parametrize("name, most", [("tiger", 2), (STATE, 5), (ACTION, 3), (CONFIRMATION, 5)])
def test_a_query_in_a_world_that_takes_none(name, most):
    world, rng = make_world(name), default_rng(0)
    state = world.reset(rng)[0]
    for action in (most + 1, -1, 0.5, None):
        with pytest.raises(InvalidArgument, match=f"'action' must be a whole number of at least 0 and at most {most}"):
            world.step(state, action, rng)


@pytest.mark.parametrize("name", NAMES)
def test_refusals(oracles, name):
    with pytest.raises(InvalidArgument, match="'cost' must be at least 0"):
        make_world(name, cost=-1.0)
    with pytest.raises(InvalidArgument, match="'world' must be a world with a listed hidden state, got 'chain'"):
        make_world(name, world="chain")
    with pytest.raises(InvalidArgument, match="'world' must be a world with a listed hidden state, got 3"):
        make_world(name, world=3)
    with pytest.raises(UnknownName, match="Did you mean tiger"):
        make_world(name, world="tigger")
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        oracles[name].step(oracles[name].reset(default_rng(0))[0], oracles[name].n_actions - 1, 0)
    if name != STATE:
        for state in (0, (0, (0.5,)), (0, (0.5, 0.6)), (2, (0.5, 0.5)), (0, (1.5, -0.5))):
            with pytest.raises(InvalidArgument, match=r"'state' must be|'belief' must be"):
                oracles[name].step(state, 0, default_rng(0))
        assert oracles[name].step((0, [0.5, 0.5]), 0, default_rng(0)).reward == -1.0


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_sees_tuples(name):
    gymnasium = pytest.importorskip("gymnasium")
    import bayesrl.adapters.gymnasium  # noqa: F401 (registers the worlds)

    env = gymnasium.make(f"bayesrl/{name}-v0")
    seen, _ = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(20):
        assert seen in env.observation_space
        seen = env.step(env.action_space.sample())[0]
    assert len(env.observation_space.spaces) == len(make_world(name).answers) + 1


@pytest.mark.parametrize("inside", ["tiger-episodic", "tiger", "rock-sample", "follow"])
def test_a_state_oracle_tells_both_states_of_every_step(inside):
    """Also of the step that ends an episode; and without a question it is the step of the world inside."""
    world, ended = make_world("asking-for-state", world=inside, cost=0.5), 0
    plain, rng = world.inside, np.random.default_rng(0)
    for i in range(60):
        state, action = int(rng.choice(np.flatnonzero(~plain.pomdp.terminal))), i % plain.n_actions
        inner = plain.step(state, action, np.random.default_rng(i))
        asked = world.step(state, action + plain.n_actions, np.random.default_rng(i))
        silent = world.step(state, action, np.random.default_rng(i))
        assert asked == (inner.state, (inner.observation, state, inner.state), inner.reward - 0.5, inner.terminated)
        assert silent == (inner.state, (inner.observation, -1, -1), inner.reward, inner.terminated)
        ended += inner.terminated
    assert bool(ended) == plain.ends
