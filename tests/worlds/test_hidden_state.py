"""A world with a hidden state and an oracle: it runs, its state is recorded, saved and loaded, and its laws hold."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import bayesrl as b
from bayesrl.core import Decision, Streams, World, play, run
from bayesrl.models.pomdp import NOTHING
from bayesrl.worlds.pomdps.tiger import LISTEN, OPEN_LEFT, OPEN_RIGHT

LEFT, RIGHT = 0, 1
TIGER = b.make_world("asking-for-state", world="tiger-episodic", cost=2.0)


class Action(NamedTuple):
    """What to do, and whether to ask the oracle."""

    act: int
    ask: int = 0


@dataclass(frozen=True)
class Pairs:
    """The tiger with an oracle, whose actions are pairs."""

    gamma: float = 0.95
    hidden = True

    def reset(self, rng):
        return TIGER.reset(rng)

    def step(self, state, action, rng):
        return TIGER.step(state, action[0] + 3 * action[1], rng)


class Asking:
    """Asks once, then opens the door without the tiger."""

    def start(self):
        return None

    def act(self, mind, observation, rng):
        if observation[2] == NOTHING:
            return Decision(Action(LISTEN, ask=1), None, {"sure": False})
        return Decision(Action(OPEN_RIGHT if observation[2] == LEFT else OPEN_LEFT), None, {"sure": True})

    def learn(self, mind, transition, rng):
        return None


class Guessing:
    """Listens and opens at random."""

    def start(self):
        return None

    def act(self, mind, observation, rng):
        return Decision(Action(int(rng.integers(3)), int(rng.integers(2))), None, {})

    def learn(self, mind, transition, rng):
        return None


def test_it_is_a_world_and_runs():
    assert isinstance(Pairs(), World)
    record = run(Asking(), Pairs(), 200, seed=3)
    # Listening and asking cost 3, the right door pays 10: the oracle knows where the tiger is.
    assert record.reward.tolist() == [-3.0, 10.0] * 100
    assert record.terminated.tolist() == [False, True] * 100
    assert record.observation.shape == (200, 3)
    assert record.action.shape == (200, 2)


def test_the_hidden_state_is_recorded_if_asked_for():
    record = run(Asking(), Pairs(), 200, seed=3, keep=("state", "sure"))
    assert record.sure.tolist() == [False, True] * 100
    assert record.state.shape == (200,)
    assert set(record.state.tolist()) == {LEFT, RIGHT}  # two episodes differ
    assert (record.state[::2] == record.state[1::2]).all()  # the tiger stays where it is
    assert (record.next_observation[::2, 1] == record.state[::2]).all()  # the oracle tells the truth
    plain = run(Asking(), Pairs(), 200, seed=3)
    assert np.array_equal(plain.observation, record.observation)
    for name in ("state", "next_state"):  # an observation is not the state here
        with pytest.raises(AttributeError, match="Record has no column"):
            getattr(plain, name)


def test_a_record_survives_a_file(tmp_path):
    record = run(Guessing(), Pairs(), 50, seed=1, keep=("state",))
    b.save(record, tmp_path / "tiger.zip")
    found = b.load(tmp_path / "tiger.zip")
    assert found == record
    assert np.array_equal(found.state, record.state)
    assert found.provenance["hidden"] is True


def test_it_is_compared():
    found = b.compare({"asking": Asking(), "guessing": Guessing()}, Pairs(), 40, runs=5)
    assert found.summary()["asking"].total.mean == 140.0 > found.summary()["guessing"].total.mean


def test_play_shows_what_was_true():
    steps = play(Asking(), Pairs(), Streams.of(0))
    first, second = next(steps), next(steps)
    assert first.transition.next_observation[2] == first.state == second.state
    assert first.transition.observation == (NOTHING, NOTHING, NOTHING)
    assert isinstance(second.transition.action, Action)


# Laws of generative worlds -------------------------------------------------------------------------------------------


def test_a_step_from_a_state_is_determined_by_the_generator():
    for state in (LEFT, RIGHT):
        for action in range(6):
            answers = {TIGER.step(state, action, np.random.default_rng(5)) for _ in range(3)}
            assert len(answers) == 1
    assert TIGER.reset(np.random.default_rng(2)) == TIGER.reset(np.random.default_rng(2))


@pytest.mark.parametrize("state", [LEFT, RIGHT])
def test_frequencies(state):
    # Five standard errors: false alarms 6e-7 each. 4000 draws detect an accuracy that is wrong by .03.
    rng, n = np.random.default_rng(7), 4000
    heard = np.array([TIGER.step(state, LISTEN, rng).observation[0] for _ in range(n)])
    assert abs((heard == state).mean() - 0.85) < 5 * np.sqrt(0.85 * 0.15 / n)
    starts = np.array([TIGER.reset(rng)[0] for _ in range(n)])
    assert abs(starts.mean() - 0.5) < 5 * np.sqrt(0.25 / n)


def test_rewards_by_hand():
    rng = np.random.default_rng(0)
    paid = {(s, a): TIGER.step(s, a, rng).reward for s in range(2) for a in range(6)}
    assert [paid[LEFT, a] for a in range(3)] == [-1.0, -100.0, 10.0]
    assert [paid[RIGHT, a] for a in range(3)] == [-1.0, 10.0, -100.0]
    assert all(paid[s, a + 3] == paid[s, a] - 2.0 for s in range(2) for a in range(3))
