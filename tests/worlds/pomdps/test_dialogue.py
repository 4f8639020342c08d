"""The dialogue: its tables by hand, its value by a stopping problem, what the Bayes-adaptive version leaves unknown."""

import numpy as np
import pytest
from dialogue_value import dialogue_value
from numpy.random import default_rng

import bayesrl as b
from bayesrl.errors import InvalidArgument
from bayesrl.registry import make_world


def test_dialogue_by_hand():
    world = make_world("dialogue", goals=3, heard=0.6, confirmed=0.9, correct=4, incorrect=3, gamma=0.83)
    P, O, R = world.pomdp.dense()
    ask, confirm, submit = 0, [1, 2, 3], [4, 5, 6]
    for a in (ask, *confirm):
        assert (P[:, a] == np.eye(3)).all()
        assert (R[:, a] == -1.0).all()
    for g, a in enumerate(submit):
        assert np.allclose(P[:, a], 1 / 3)
        assert R[:, a].tolist() == [10.0 if s == g else -20.0 for s in range(3)]
        assert np.allclose(O[:, a], [[1 / 3, 1 / 3, 1 / 3, 0, 0]] * 3)
    assert np.allclose(O[:, ask], [[0.6, 0.2, 0.2, 0, 0], [0.2, 0.6, 0.2, 0, 0], [0.2, 0.2, 0.6, 0, 0]])
    for g, a in enumerate(confirm):
        assert np.allclose(O[:, a], [[0, 0, 0, 0.9, 0.1] if s == g else [0, 0, 0, 0.1, 0.9] for s in range(3)])
    assert np.allclose(world.pomdp.start, 1 / 3)
    assert (world.gamma, world.ends) == (0.83, False)
    assert world.actions == ("ask", "confirm-0", "confirm-1", "confirm-2", "submit-0", "submit-1", "submit-2")
    assert world.observations == ("goal-0", "goal-1", "goal-2", "yes", "no")
    assert np.allclose(world.observation_counts, [[4, 1.5, 1.5], [4, 3, 0], [0, 0, 0]])
    assert world.transition_counts is None


def test_answers_are_tied():
    """A word that was right for one goal is expected for the others; confirmations are another row."""
    prior = make_world("dialogue").model_prior()
    learned = prior.learned(1, 0, 1, 1).mean_pomdp().dense()[1]
    before = prior.mean_pomdp().dense()[1]
    assert np.allclose(before[2, 0], [1 / 12, 1 / 12, 3 / 4, 1 / 12, 0, 0])
    assert np.allclose(learned[2, 0], [1 / 15, 1 / 15, 4 / 5, 1 / 15, 0, 0])
    assert np.allclose(learned[:, 1:], before[:, 1:])
    sure = prior.learned(1, 2, 1, 4).mean_pomdp().dense()[1]
    assert np.allclose(sure[3, 4], [0, 0, 0, 0, 4 / 5, 1 / 5])
    assert np.allclose(sure[3, 1], [0, 0, 0, 0, 1 / 5, 4 / 5])


def test_the_value_is_that_of_a_stopping_problem():
    """The declared bracket of the default lies in that of an oracle that goes through all series of twelve answers; the
    computed one of other parameters is around the oracle's."""
    low, high = make_world("dialogue").value
    below, above = dialogue_value(4, 0.7, 0.85, 0.95, 12)
    assert below <= low < high <= above
    assert above - below < 0.1
    assert high - low < 1e-3
    low, high = make_world("dialogue", goals=3, heard=0.8).value
    below, above = dialogue_value(3, 0.8, 0.85, 0.95, 10)
    assert low <= below <= above <= high


@pytest.mark.long
def test_the_declared_bracket_is_what_twenty_answers_tell():
    low, high = make_world("dialogue").value
    below, above = dialogue_value(4, 0.7, 0.85, 0.95, 20)
    assert (low, high) == (np.floor(below * 1e4) / 1e4, np.ceil(above * 1e4) / 1e4)


def test_a_point_based_policy_asks_confirms_and_submits():
    """The value found by 150 beliefs is below the declared bracket, by less than .02."""
    world = make_world("dialogue")
    solution = b.make("pbvi", size=150, tol=1e-4).solve(world, default_rng(0))
    low, high = world.value
    assert low - 0.02 <= solution.start_value <= high + 1e-9


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"goals": 1}, "dialogue: 'goals' must be a whole number of at least 2 and at most 50, got 1."),
        ({"goals": 51}, "dialogue: 'goals' must be a whole number of at least 2 and at most 50, got 51."),
        ({"heard": 1.5}, "dialogue: 'heard' must be in [0, 1], got 1.5."),
        ({"confirmed": float("nan")}, "dialogue: 'confirmed' must be in [0, 1], got nan."),
        ({"correct": 0}, "dialogue: 'correct' must be greater than 0, got 0."),
        ({"incorrect": -1}, "dialogue: 'incorrect' must be greater than 0, got -1."),
        ({"gamma": None}, "dialogue: 'gamma' must be in [0, 1], got None."),
    ],
)
def test_refusals(given, sentence):
    with pytest.raises(InvalidArgument) as caught:
        make_world("dialogue", **given)
    assert str(caught.value) == sentence
