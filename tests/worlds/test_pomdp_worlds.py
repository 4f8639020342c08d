"""Worlds with hidden states: tables by hand, values by slow oracles, samples against probabilities."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.core import World
from bayesrl.errors import InvalidArgument
from bayesrl.models.pomdp import NOTHING, TabularPOMDP
from bayesrl.registry import make_world
from bayesrl.testing import check_hidden_world
from bayesrl.worlds.hidden import POMDPWorld

NAMES = ("tiger", "tiger-episodic", "tiger-tied")


@pytest.fixture(scope="module", params=NAMES)
def world(request):
    return make_world(request.param)


def test_hidden_world_laws(world):
    """False alarm 1e-6 for each of a start and three pairs; 4000 draws detect an error of a tenth in a half."""
    check_hidden_world(world, rng=default_rng(1))


def test_a_world_is_a_value(world):
    assert isinstance(world, World)
    assert world.hidden
    assert pickle.loads(pickle.dumps(world)) == world
    assert world.prior == "known"
    sizes = (len(world.states), len(world.actions), len(world.observations))
    assert all(n in (0, m) for n, m in zip(sizes, (world.n_states, world.n_actions, world.n_observations), strict=True))
    for counts, prob in (
        (world.transition_counts, world.pomdp.mdp.prob),
        (world.observation_counts, world.pomdp.sign_prob),
    ):
        if counts is not None:
            assert counts.shape == prob.shape
            assert not counts[(prob == 0.0).all(axis=1)].any()
    assert any(x is not None and x.any() for x in (world.transition_counts, world.observation_counts))


# The tigers ----------------------------------------------------------------------------------------------------------


def test_tiger_by_hand():
    P, O, r = make_world("tiger").pomdp.dense()
    assert P.tolist() == [[[1, 0], [0.5, 0.5], [0.5, 0.5]], [[0, 1], [0.5, 0.5], [0.5, 0.5]]]
    np.testing.assert_allclose(O, [[[0.85, 0.15], [0.5, 0.5], [0.5, 0.5]], [[0.15, 0.85], [0.5, 0.5], [0.5, 0.5]]])
    assert r.tolist() == [[-1, -100, 10], [-1, 10, -100]]
    episodic = make_world("tiger-episodic", wrong=-20.0)
    P, O, r = episodic.pomdp.dense()
    assert P[:2].tolist() == [[[1, 0, 0], [0, 0, 1], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [0, 0, 1]]]
    np.testing.assert_allclose(O[:2, 0], [[0.85, 0.15], [0.15, 0.85]])
    assert (O[2] == 0.5).all()
    assert r.tolist() == [[-1, -20, 10], [-1, 10, -20], [0, 0, 0]]
    assert episodic.pomdp.terminal.tolist() == [False, False, True]
    assert episodic.pomdp.start.tolist() == [0.5, 0.5, 0.0]
    assert episodic.ends
    assert not make_world("tiger").ends


def test_tigers_differ_in_what_is_tied():
    plain, tied = make_world("tiger", correct=2, incorrect=1), make_world("tiger-tied", correct=2, incorrect=1)
    for mine, theirs in zip(plain.pomdp.dense(), tied.pomdp.dense(), strict=True):
        assert np.array_equal(mine, theirs)
    assert plain.observation_counts.tolist() == [[2, 1], [2, 1], [0, 0]]
    assert tied.observation_counts.tolist() == [[2, 1], [0, 0]]
    assert plain.pomdp.signs.group.tolist() == [[0, 2, 2], [1, 2, 2]]
    assert tied.pomdp.signs.group.tolist() == [[0, 1, 1], [0, 1, 1]]
    assert tied.pomdp.signs.sign[:, 0].tolist() == [[0, 1], [1, 0]]  # the right side first
    assert plain.transition_counts is None


def tiger_value(accuracy=0.85, gamma=0.95, wrong=-100.0, episodic=False, most=14):
    """The value of an even belief: value iteration on how much more often one side was heard, at most `most`."""
    V = np.zeros(most + 1)
    for _ in range(4000):
        new = V.copy()
        for d in range(most + 1):
            p = accuracy**d / (accuracy**d + (1 - accuracy) ** d)  # that the tiger is on that side
            more = p * accuracy + (1 - p) * (1 - accuracy)
            up, down = V[min(d + 1, most)], V[abs(d - 1)]
            door = p * 10 + (1 - p) * wrong + (0.0 if episodic else gamma * V[0])
            new[d] = max(-1 + gamma * (more * up + (1 - more) * down), door)
        if np.abs(new - V).max() < 1e-12:
            break
        V = new
    return V[0]


@pytest.mark.parametrize("accuracy, gamma", [(0.85, 0.95), (0.85, 0.75), (0.7, 0.95), (0.8, 0.95), (0.95, 0.95)])
def test_tiger_values(accuracy, gamma):
    low, high = make_world("tiger", accuracy=accuracy, gamma=gamma).value
    assert high - low <= 2.1e-6
    assert low <= tiger_value(accuracy, gamma) <= high
    assert make_world("tiger-tied", accuracy=accuracy, gamma=gamma).value == (low, high)


@pytest.mark.parametrize("gamma", [0.95, 1.0])
def test_values_of_the_episodic_tiger(gamma):
    low, high = make_world("tiger-episodic", gamma=gamma).value
    assert high - low <= 2.1e-6
    assert low <= tiger_value(gamma=gamma, episodic=True) <= high


def test_the_bracket_of_other_parameters_is_computed():
    low, high = make_world("tiger", wrong=-20.0).value
    assert low == pytest.approx(-20.0)  # listening for ever
    assert high == pytest.approx(200.0)  # the right door for ever
    assert low <= tiger_value(wrong=-20.0) <= high


@pytest.mark.parametrize(
    "name, bad",
    [("accuracy", 1.5), ("accuracy", None), ("correct", 0), ("incorrect", -1), ("wrong", np.nan), ("gamma", 1.2)],
)
@pytest.mark.parametrize("which", ["tiger", "tiger-tied", "tiger-episodic"])
def test_tigers_refuse(which, name, bad):
    with pytest.raises(InvalidArgument, match=rf"^{which}: '{name}' must be .*, got .*\.$"):
        make_world(which, **{name: bad})


# Any POMDP -----------------------------------------------------------------------------------------------------------


def small(**more):
    P = [[[0.5, 0.5], [1, 0]], [[0, 1], [1, 0]]]
    O = [[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.5, 0.5]]]
    R = np.arange(16.0).reshape(2, 2, 2, 2)
    return POMDPWorld("small", TabularPOMDP.from_dense(P, O, R, gamma=0.5, start=[0.25, 0.75]), **more)


def test_a_reward_that_depends_on_what_is_seen():
    check_hidden_world(small(), rng=default_rng(2))
    rng = default_rng(3)
    steps = [small().step(0, 0, rng) for _ in range(50)]
    assert {(y, o, r) for y, o, r, _ in steps} == {(0, 0, 0.0), (0, 1, 1.0), (1, 0, 2.0), (1, 1, 3.0)}


def test_a_certain_start_draws_nothing():
    rng = default_rng(0)
    world = POMDPWorld("one", TabularPOMDP.from_dense([[[1.0]]], [[[1.0]]], [[0.0]], gamma=0.5, start=0))
    assert world.reset(rng) == (0, NOTHING)
    assert rng.bit_generator.state == default_rng(0).bit_generator.state


@pytest.mark.parametrize(
    "field, bad, expected",
    [
        ("states", ("a",), "2 names"),
        ("actions", 3, "2 names"),
        ("observations", ("a", "b", "c"), "2 names"),
        ("bracket", (1.0, 0.0), "two numbers in ascending order"),
        ("bracket", (np.nan, 0.0), "a finite number"),
        ("transition_counts", np.ones((4, 3)), "an array of shape"),
        ("observation_counts", -np.ones((4, 2)), "at least 0 everywhere"),
        ("setting", "known", "a Setting"),
    ],
)
def test_a_world_refuses(field, bad, expected):
    with pytest.raises(InvalidArgument, match=f"^POMDPWorld: '{field}' must be {expected}"):
        small(**{field: bad})


def test_steps_refuse():
    for state, action, name in ((2, 0, "state"), (-1, 0, "state"), (0, 2, "action"), (0, None, "action")):
        with pytest.raises(InvalidArgument, match=f"^small: '{name}' must be a whole number"):
            small().step(state, action, default_rng(0))
    with pytest.raises(InvalidArgument, match=r"^small: 'rng' must be a numpy Generator"):
        small().step(0, 0, 0)
    with pytest.raises(InvalidArgument, match=r"^small: 'rng' must be a numpy Generator"):
        small().reset(None)
    with pytest.raises(InvalidArgument, match=r"^POMDPWorld: 'pomdp' must be a TabularPOMDP"):
        POMDPWorld("x", None)
