"""A world that returns nonsense is named, and so is what it should have returned."""

import numpy as np
import pytest

import bayesrl as b
from bayesrl.core import Decision
from bayesrl.errors import BrokenContract


class Odd:
    def __init__(self, first=(0, 0), answer=(0, 0, 1.0, False)):
        self.first, self.answer = first, answer

    def reset(self, rng):
        return self.first

    def step(self, state, action, rng):
        return self.answer


class Acts:
    def start(self):
        return None

    def act(self, mind, seen, rng):
        return Decision(0, None, {})

    def learn(self, mind, transition, rng):
        return None


FIVE = "Odd.step does not return a state, an observation, a reward, whether the episode ended, and perhaps a task"
REWARD = "Odd.step does not return a number as reward"


@pytest.mark.parametrize(
    "world, sentence",
    [
        (Odd(first=None), "Odd.reset does not return a state and an observation: it gave None."),
        (Odd(first=0), "Odd.reset does not return a state and an observation: it gave 0."),
        (Odd(first=(0, 0, {})), "Odd.reset does not return a state and an observation: it gave (0, 0, {})."),
        (Odd(first="ab"), "Odd.reset does not return a state and an observation: it gave 'ab'."),
        (Odd(answer=None), f"{FIVE}: it gave None."),
        (Odd(answer=(0, 0, 1.0)), f"{FIVE}: it gave (0, 0, 1.0)."),
        (Odd(answer=(0, 0, 1.0, False, 0, {})), f"{FIVE}: it gave (0, 0, 1.0, False, 0, {{}})."),
        (Odd(answer="abcd"), f"{FIVE}: it gave 'abcd'."),
        (Odd(answer=(0, 0, "much", False)), f"{REWARD}: it gave 'much'."),
        (Odd(answer=(0, 0, None, False)), f"{REWARD}: it gave None."),
        (Odd(answer=(0, 0, [1.0], False)), f"{REWARD}: it gave [1.0]."),
        (Odd(answer=(0, 0, 1j, False)), f"{REWARD}: it gave 1j."),
        (Odd(answer=(0, 0, np.ones((2, 2)), False)), f"{REWARD}: it gave an array of shape (2, 2)."),
        (Odd(answer=(0, 0, np.ones(2), False)), f"{REWARD}: it gave an array of shape (2,)."),
        (Odd(answer=(0, 0, 1.0, "no")), "Odd.step does not return True or False as end: it gave 'no'."),
        (Odd(answer=(0, 0, 1.0, None)), "Odd.step does not return True or False as end: it gave None."),
    ],
)
def test_nonsense(world, sentence):
    with pytest.raises(BrokenContract) as error:
        b.run(Acts(), world, 3)
    assert str(error.value) == sentence


@pytest.mark.parametrize("reward", [1.0, 1, True, np.float32(1.0), np.int64(1), np.array(1.0)])
@pytest.mark.parametrize("ended", [False, np.False_, 0, np.array(False)])
@pytest.mark.parametrize("kind", [tuple, list])
def test_sense(reward, ended, kind):
    world = Odd(first=kind((0, 0)), answer=kind((0, 0, reward, ended)))
    assert b.run(Acts(), world, 3).reward.tolist() == [1.0] * 3
    assert b.run(Acts(), Odd(answer=kind((0, 0, reward, ended, 1))), 3).task.tolist() == [0, 1, 1]
