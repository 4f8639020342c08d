"""Families of tasks: what tasks of a class share, the laws of what is drawn, tasks in turn, bad input."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binomtest

import bayesrl as b
from bayesrl.core import Family, Transition, World
from bayesrl.errors import InvalidArgument
from bayesrl.multitask import HierarchicalMDP, LinearRewardClasses
from bayesrl.testing import assert_mean_equal, check_world
from bayesrl.worlds.tasks._task_sequence import TaskSequence

FAMILY, MAZE = b.make_world("random-mdp"), b.make_world("coloured-maze", size=4)


def test_tasks_of_a_class_share_their_rows():
    world = FAMILY.draw(default_rng(0))
    rows = np.array([task.mdp.prob for task in world.tasks])
    S = FAMILY.n_states
    for task in world.tasks:  # being in the last state pays 1
        np.testing.assert_allclose(task.mdp.mean_reward, np.repeat(np.eye(S)[-1], FAMILY.n_actions).reshape(S, -1))
    same = (rows[:, None] == rows).all(axis=(2, 3))
    np.testing.assert_array_equal(same, world.classes[:, None] == world.classes)
    assert 1 < world.classes.max() + 1 <= 3
    apart = b.make_world("random-mdp", classes=None).draw(default_rng(0))
    np.testing.assert_array_equal(apart.classes, np.arange(12))
    for family in (FAMILY, MAZE):
        assert isinstance(family, Family)
        assert isinstance(family.draw(default_rng(1)), World)
        assert family.draw(default_rng(1)) == family.draw(default_rng(1)) != family.draw(default_rng(2))


def test_rows_have_their_law():
    """Means 1/6, second moments p (n p + 1) / (n + 1) with n = 1.8, of 200 worlds; false alarm 1e-6."""
    family = b.make_world("random-mdp", tasks=1)
    rows = np.array([family.draw(default_rng(i)).tasks[0].mdp.prob for i in range(200)])
    assert_mean_equal(rows, np.full((18, 6), 1 / 6))
    assert_mean_equal(rows**2, np.full((18, 6), (0.3 * 1.3) / (1.8 * 2.8)))
    labels = np.array([b.make_world("random-mdp", tasks=2).draw(default_rng(i)).classes for i in range(300)])
    assert binomtest(int((labels[:, 0] == labels[:, 1]).sum()), 300, 1 / 3).pvalue > 1e-6
    np.testing.assert_array_equal(FAMILY.default_prior().alpha, 0.3)


def test_costs_are_linear_in_the_colours():
    world = MAZE.draw(default_rng(3))
    P, goal = MAZE.moves, 15
    for m, task in enumerate(world.tasks):
        paid = world.features @ world.weights[m]
        paid[goal] += 10.0
        np.testing.assert_allclose(task.mdp.mean_reward, np.repeat(paid[:, None], 4, axis=1))
        np.testing.assert_array_equal(task.dense()[0], P)
    assert (world.features[:goal].sum(axis=1) == 1.0).all()
    np.testing.assert_allclose(P[0, 0, [0, 1]], [0.95, 0.05])  # up and left of the corner are walls
    np.testing.assert_allclose(P[5, 1, [6, 1, 9]], [0.9, 0.05, 0.05])
    np.testing.assert_array_equal(P[goal, :, 0], 1.0)
    check_world(world.tasks[0], rng=default_rng(4), draws=400)
    step = Transition(goal, 0, 10.0, 0, task=2)
    assert MAZE.datum(step, world.features)[0] == 2
    assert MAZE.datum(step, world.features)[2] == 0.0
    belief = MAZE.default_prior().update(Transition(0, 0, -2.0, 0))
    np.testing.assert_allclose(belief.reward_moments()[0][0], -2.0, atol=1e-3)
    np.testing.assert_allclose(belief.reward_moments()[0][1], -1.0)


def test_weights_have_their_law():
    """Two tasks of one class: mean -1, variance .26, covariance .25, of 400 worlds; false alarm 1e-6."""
    family = b.make_world("coloured-maze", size=2, colours=1, classes=1, tasks=2)
    w = np.array([family.draw(default_rng(i)).weights[:, 0] for i in range(400)])
    assert_mean_equal(w, [-1.0, -1.0])
    both = (w + 1.0)[:, :, None] * (w + 1.0)[:, None, :]
    assert_mean_equal(both, [[0.26, 0.25], [0.25, 0.26]])
    assert_mean_equal((w[:, 0] - w[:, 1]) ** 2, 0.02)


def test_tasks_take_turns_and_records_say_whose_step_it_was():
    family = b.make_world("random-mdp", tasks=3, length=4)
    agent = b.BayesAgent(family.default_prior(), b.make("exploit"))
    record = b.run(agent, family, steps=14, seed=1)
    np.testing.assert_array_equal(record.columns["task"], [0] * 4 + [1] * 4 + [2] * 4 + [0] * 2)
    np.testing.assert_array_equal(record.columns["next_observation"][:-1], record.columns["observation"][1:])
    belief = HierarchicalMDP(family, alpha=0.3).update_many(record)
    assert [seen.counts.sum() for seen in belief.data] == [6.0, 4.0, 4.0]


def test_weights_are_learnt_from_a_record():
    """All tasks of one class, noise .01: after 20 steps of the first task the next one knows the colours it saw."""
    family = b.make_world("coloured-maze", size=3, classes=1, class_deviation=0.01, tasks=2, length=20)
    world = family.draw(default_rng(5))
    agent = b.BayesAgent(family.default_prior(), b.make("exploit"))
    record = b.run(agent, world, steps=20, seed=1)
    eye = np.eye(4)
    belief = LinearRewardClasses(0.01, 0.01, 1e-4 * eye, np.full(4, -1.0), 0.25 * eye)
    steps = zip(record.columns["observation"].tolist(), record.reward.tolist(), strict=True)
    seen = [family.datum(b.Transition(s, 0, r, 0), world.features) for s, r in steps]
    belief = belief.update_many(seen)
    visited = np.array([x for _, x, _ in seen]).any(axis=0)
    np.testing.assert_allclose(belief.new_task().mean[visited], world.weights[1][visited], atol=0.1)


ONE = FAMILY.draw(default_rng(0)).tasks[0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: TaskSequence("x", (), [0]), "'tasks' must be worlds with a table"),
        (lambda: TaskSequence("x", (ONE, 3), [0, 0]), "'tasks' must be worlds with a table"),
        (lambda: TaskSequence("x", (ONE, b.make_world("chain")), [0, 0]), "'tasks' must be worlds with a table"),
        (lambda: TaskSequence("x", (ONE,), [1]), "'classes' must be whole numbers from 0 to 0"),
        (lambda: TaskSequence("x", (ONE,), [0], 0), "'length' must be a whole number of at least 1"),
        (lambda: TaskSequence("x", (ONE,), [0], 1, np.ones((6, 2))), "'weights' must be given with the features"),
        (lambda: TaskSequence("x", (ONE,), [0], 1, np.ones((6, 2)), np.ones((1, 3))), "'weights' must be an array"),
        (lambda: TaskSequence("x", (ONE,), [0]).step(0, 0, default_rng(0)), "'state' must be a task"),
        (lambda: TaskSequence("x", (ONE,), [0]).step((1, 0, 0), 0, default_rng(0)), "'task' must be a whole number"),
        (lambda: b.make_world("random-mdp", states=0), "'states' must be a whole number of at least 1"),
        (lambda: b.make_world("random-mdp", classes=0), "'classes' must be a whole number of at least 1"),
        (lambda: b.make_world("random-mdp", concentration=0.0), "'concentration' must be greater than 0"),
        (lambda: b.make_world("coloured-maze", size=1), "'size' must be a whole number of at least 2"),
        (lambda: b.make_world("coloured-maze", tasks=-1), "'tasks' must be a whole number of at least 1"),
        (lambda: FAMILY.draw(0), "'rng' must be a numpy Generator"),
        (lambda: FAMILY.mdp, "'world' must be a single world"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()
