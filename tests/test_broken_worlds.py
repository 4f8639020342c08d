"""A world that returns nonsense is named, and so is what it should have returned."""

import numpy as np
import pytest

import bayesrl as b
from bayesrl.beliefs import BetaBernoulli
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
REWARD = "Odd.step does not return a finite number as reward"
END = "Odd.step does not return True or False as end"
TASK = "Odd.step does not return a whole number of at least 0 as task, its fifth value (GymWorld adapts Gymnasium)"


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
        (Odd(answer=(0, 0, 1.0, "no")), f"{END}: it gave 'no'."),
        (Odd(answer=(0, 0, 1.0, None)), f"{END}: it gave None."),
        (Odd(answer=(0, 0, 1.0, 2)), f"{END}: it gave 2."),
        (Odd(answer=(0, 0, 1.0, {})), f"{END}: it gave {{}}."),
        (Odd(answer=(0, 0, 1.0, np.nan)), f"{END}: it gave nan."),
        (Odd(answer=(0, 0, 1.0, np.array([True, False]))), f"{END}: it gave an array of shape (2,)."),
        (Odd(answer=(0, 0, np.nan, False)), f"{REWARD}: it gave nan."),
        (Odd(answer=(0, 0, -np.inf, False)), f"{REWARD}: it gave -inf."),
        (Odd(answer=(0, 0, np.float32(np.inf), False)), f"{REWARD}: it gave inf."),
        (Odd(answer=(0, 0, np.array(np.nan), False)), f"{REWARD}: it gave nan."),
        (Odd(answer=(0, 0, 10**400, False)), f"{REWARD}: it gave 1{'0' * 76}...."),
        (Odd(answer=(0, 0, 1.0, False, "x")), f"{TASK}: it gave 'x'."),
        (Odd(answer=(0, 0, 1.0, False, np.nan)), f"{TASK}: it gave nan."),
        (Odd(answer=(0, 0, 1.0, False, False)), f"{TASK}: it gave False."),
        (Odd(answer=(0, 0, 1.0, False, -1)), f"{TASK}: it gave -1."),
        (Odd(answer=(0, 0, 1.0, False, 2**63)), f"{TASK}: it gave {2**63}."),
        (Odd(answer=(0, 1.0, False, False, {})), f"{TASK}: it gave {{}}."),
    ],
)
def test_nonsense(world, sentence):
    with pytest.raises(BrokenContract) as error:
        b.run(Acts(), world, 3)
    assert str(error.value) == sentence


@pytest.mark.parametrize("prior", [b.DirichletMDP.flat(b.make_world("chain")), BetaBernoulli.uniform(2)])
def test_the_world_is_blamed_before_the_belief(prior):
    """Gymnasium's order puts the reward where the observation belongs, and an array of rewards is for lockstep."""
    agent = b.BayesAgent(prior, b.make("thompson" if isinstance(prior, BetaBernoulli) else "exploit"))
    for answer in [(0, 1.0, False, False, {}), (0, 0, np.ones(2), False)]:
        with pytest.raises(BrokenContract, match=r"Odd\.step"):
            b.run(agent, Odd(answer=answer), 3)


@pytest.mark.parametrize("reward", [1.0, 1, True, np.float32(1.0), np.int64(1), np.array(1.0)])
@pytest.mark.parametrize("ended", [False, np.False_, 0, np.array(False)])
@pytest.mark.parametrize("kind", [tuple, list])
def test_sense(reward, ended, kind):
    world = Odd(first=kind((0, 0)), answer=kind((0, 0, reward, ended)))
    assert b.run(Acts(), world, 3).reward.tolist() == [1.0] * 3
    assert b.run(Acts(), Odd(answer=kind((0, 0, reward, ended, 1))), 3).task.tolist() == [0, 1, 1]


def test_a_world_with_a_name_is_called_by_it():
    odd = Odd(answer=None)
    odd.name = "my-plant"
    with pytest.raises(BrokenContract, match=r"^my-plant\.step does not return a state"):
        b.run(Acts(), odd, steps=3)
