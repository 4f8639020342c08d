"""Worlds of tasks and of games, their whole tables and draws, against loops under the same random numbers."""

from itertools import product
from math import ceil

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs.games.coalitions import CoalitionProblem
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.stochastic_game import StochasticGame
from bayesrl.testing import assert_mean_equal
from bayesrl.worlds.games._game_world import GameWorld
from bayesrl.worlds.games.coalitions import CoalitionFamily, CoalitionWorld, contract, prior_of, problem_of
from bayesrl.worlds.games.two_agent_chain import TwoAgentChain
from bayesrl.worlds.tabular import MDPWorld
from bayesrl.worlds.tasks import gridworld_blocks as blocks
from bayesrl.worlds.tasks._task_sequence import Place, TaskSequence, drawn_classes
from bayesrl.worlds.tasks.coloured_maze import ColouredMazes
from bayesrl.worlds.tasks.highway import STYLES, highway
from bayesrl.worlds.tasks.random_mdp import RandomMDPs

# Blocks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size, block, noise", [(6, 2, 0.3), (3, 1, 0.0), (4, 4, 1.0), (1, 1, 0.4)])
def test_blocks_in_loops(size, block, noise):
    """Moves north, south, west and east; with probability `noise` one of the four; a wall stays."""
    d = (size // block) ** 2
    w = default_rng(d).normal(size=d)
    world = blocks.gridworld_blocks(size, block, noise, 0.83, w)
    P, steps = world.mdp.dense()[0], ((0, -1), (0, 1), (-1, 0), (1, 0))
    expected, features = np.zeros_like(P), np.zeros((size * size, d))
    for y, x in product(range(size), repeat=2):
        s = y * size + x
        features[s, (y // block) * (size // block) + x // block] = 1.0
        reached = []
        for dx, dy in steps:
            inside = 0 <= x + dx < size and 0 <= y + dy < size
            reached.append((y + dy) * size + x + dx if inside else s)
        for a in range(4):
            expected[s, a, reached[a]] += 1.0 - noise
            for other in reached:
                expected[s, a, other] += noise / 4
    np.testing.assert_allclose(P, expected, atol=1e-12)
    np.testing.assert_array_equal(world.features, features)
    np.testing.assert_allclose(world.mdp.mean_reward, np.repeat((features @ w)[:, None], 4, axis=1))
    np.testing.assert_allclose(world.mdp.outcomes.start, 1.0 / size**2)
    assert (world.gamma, world.setting.steps) == (0.83, 600)
    np.testing.assert_array_equal(world.layout, np.arange(size * size).reshape(1, size, size))


def test_weights_of_blocks():
    """The last is 1, ceil(.3 d) others are uniform on [-1, 0], the rest is 0; 2000 draws, false alarm 1e-6."""
    for d in (1, 2, 3, 4, 10, 16):
        w = np.array([blocks.block_weights(d, default_rng(seed)) for seed in range(60)])
        assert (w[:, -1] == 1.0).all()
        assert ((w[:, :-1] < 0.0).sum(axis=1) == min(ceil(0.3 * d), d - 1)).all()
        assert (w[:, :-1] >= -1.0).all()
    rng = default_rng(1)
    w = np.array([blocks.block_weights(4, rng) for _ in range(2000)])[:, :3]
    assert_mean_equal(w, np.full(3, -1 / 3), false_alarm=1e-6)  # two of three have mean -1/2
    assert_mean_equal(w**2, np.full(3, 2 / 9), false_alarm=1e-6)
    np.testing.assert_array_equal(blocks.gridworld_blocks(4).weights, blocks.block_weights(4, default_rng(0)))


def test_limits_of_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "LARGEST", 3)
    assert blocks.gridworld_blocks(3, 3).mdp.n_states == 9
    for size, block, name in ((4, 2, "size"), (0, 1, "size"), (3, 4, "block"), (3, 0, "block"), (3, 2, "block")):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
            blocks.gridworld_blocks(size, block)
    assert blocks.gridworld_blocks(2, 1, gamma=0.0).gamma == 0.0
    for bad in ({"noise": -0.01}, {"noise": 1.01}, {"gamma": -0.01}, {"gamma": 1.0}):
        with pytest.raises(InvalidArgument, match=f"'{next(iter(bad))}' must be"):
            blocks.gridworld_blocks(2, 1, **bad)


# Highway -------------------------------------------------------------------------------------------------------------


def test_highway_in_loops():
    """The rows of 70 random states, the road of positions 1 to 8 as the text has it; features of all of them."""
    world, rng = highway("demolition", 0.8), default_rng(2)
    shape, arrives = (2, 3, 8, 8, 8), (0.4, 0.6, 0.8)
    m = world.mdp
    np.testing.assert_array_equal(world.weights, [1.0, 0.0, 0.0, 0.0, 0.0, 0.1])
    assert {name: w for name, w in STYLES.items() if name != "demolition"} == {
        "fast": (-1.0, 0.0, 0.0, 0.0, 0.0, 0.1),
        "safe": (-1.0, 0.0, 0.0, 0.1, 0.0, 0.0),
    }
    assert (m.gamma, world.setting.steps) == (0.8, 600)
    start = np.zeros(3072)
    start[np.ravel_multi_index((0, 1, 0, 0, 0), shape)] = 1.0
    np.testing.assert_array_equal(m.outcomes.start, start)
    for s in rng.choice(3072, 70, replace=False):
        speed, lane, *cars = (int(x) for x in np.unravel_index(s, shape))
        cars = [x + 1 for x in cars]
        f = [float(cars[lane] in (5, 6, 7)), *np.eye(3)[lane], *np.eye(2)[speed]]
        np.testing.assert_array_equal(world.features[s], f)
        down = [x + speed + 1 if x > 1 else 1 for x in cars]
        down = [x if x <= 8 else 1 for x in down]
        empty = [i for i in range(3) if cars[i] == 1]
        roads = {}
        for drawn in product((False, True), repeat=len(empty)):
            p = np.prod([arrives[i] if yes else 1.0 - arrives[i] for i, yes in zip(empty, drawn, strict=True)])
            new = list(down)
            if sum(drawn) == 1:
                new[empty[drawn.index(True)]] = 2
            roads[tuple(new)] = roads.get(tuple(new), 0.0) + p
        for a in range(5):
            wanted = [(speed, lane), (speed, max(lane - 1, 0)), (speed, min(lane + 1, 2)), (1, lane), (0, lane)][a]
            works = 1.0 if speed == 0 else (1.0, 0.4, 0.4, 0.8, 0.8)[a]
            expected = {}
            for (v, here), share in ((wanted, works), ((speed, lane), 1.0 - works)):
                for road, p in roads.items():
                    y = int(np.ravel_multi_index((v, here, *(x - 1 for x in road)), shape))
                    expected[y] = expected.get(y, 0.0) + share * p
            found = {}
            for y, p in zip(m.succ[s, a].tolist(), m.prob[m.group[s, a]].tolist(), strict=True):
                found[y] = found.get(y, 0.0) + p
            found = {y: p for y, p in found.items() if p > 0.0}
            expected = {y: p for y, p in expected.items() if p > 0.0}
            assert found.keys() == expected.keys()
            np.testing.assert_allclose([found[y] for y in expected], list(expected.values()), rtol=1e-12)
            assert m.mean_reward[s, a] == pytest.approx(f[0] + 0.1 * f[5])


# Tasks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [None, 2, 4])
def test_random_mdps_under_the_same_random_numbers(classes):
    """Gamma variates of the rows, then the classes; tasks of a class share the rows, and classes are numbered anew."""
    family = RandomMDPs(4, 3, classes, 6, 7, 0.4, 0.8)
    for seed in range(3):
        world, rng = family.draw(default_rng(seed)), default_rng(seed)
        kinds = 6 if classes is None else classes
        weight = rng.standard_gamma(0.4, (kinds, 12, 4))
        labels = np.arange(6) if classes is None else rng.integers(classes, size=6)
        names = sorted(set(labels.tolist()))
        assert world.classes.tolist() == [names.index(j) for j in labels]
        for m, j in enumerate(labels):
            np.testing.assert_allclose(world.tasks[m].mdp.prob, weight[j] / weight[j].sum(axis=1, keepdims=True))
            np.testing.assert_allclose(world.tasks[m].mdp.mean_reward[:, 0], [0.0, 0.0, 0.0, 1.0], rtol=1e-12)
        assert (world.length, world.gamma, world.n_states, world.n_actions, world.ends) == (7, 0.8, 4, 3, False)
    np.testing.assert_array_equal(family.default_prior().alpha, np.full((12, 4), 0.4))
    assert drawn_classes(3, None, default_rng(0)).tolist() == [0, 1, 2]


def test_rows_that_underflow():
    """Counts of 1e-5: most gamma variates are 0, and a row of zeros becomes uniform."""
    world = RandomMDPs(3, 2, None, 4, 5, 1e-5).draw(default_rng(0))
    rows = np.array([task.mdp.prob for task in world.tasks])
    np.testing.assert_allclose(rows.sum(axis=2), 1.0)
    assert (np.abs(rows - 1 / 3) < 1e-12).all(axis=2).any()


@pytest.mark.parametrize("classes", [None, 2])
def test_coloured_mazes_under_the_same_random_numbers(classes):
    """Colours, means of classes, classes, weights; moves by loops; what a flat belief knows about a cell."""
    maze = ColouredMazes(3, 2, classes, 4, 9, 0.6, 0.2, prize=7.0, slip=0.3, gamma=0.8)
    world, rng = maze.draw(default_rng(5)), default_rng(5)
    kinds = 4 if classes is None else classes
    features = np.eye(2)[rng.integers(2, size=9)]
    features[8] = 0.0
    means = rng.normal(-1.0, 0.6, (kinds, 2))
    labels = np.arange(4) if classes is None else rng.integers(classes, size=4)
    weights = rng.normal(means[labels], 0.2)
    np.testing.assert_array_equal(world.features, features)
    np.testing.assert_allclose(world.weights, weights)
    names = sorted(set(labels.tolist()))
    assert world.classes.tolist() == [names.index(j) for j in labels]
    assert (world.length, world.gamma) == (9, 0.8)
    P, steps = np.zeros((9, 4, 9)), ((0, -1), (1, 0), (0, 1), (-1, 0))
    for s, a in product(range(8), range(4)):
        for k, p in ((a, 0.7), ((a + 1) % 4, 0.15), ((a - 1) % 4, 0.15)):
            x, y = s % 3 + steps[k][0], s // 3 + steps[k][1]
            P[s, a, 3 * y + x if 0 <= x < 3 and 0 <= y < 3 else s] += p
    P[8, :, 0] = 1.0
    for m, task in enumerate(world.tasks):
        np.testing.assert_allclose(task.mdp.dense()[0], P, atol=1e-12)
        np.testing.assert_allclose(task.mdp.mean_reward[:, 2], features @ weights[m] + 7.0 * (np.arange(9) == 8))
    for s, paid in ((8, 7.0), (2, -1.3)):
        task, x, r = maze.datum(Transition(s, 0, paid, 0, task=3), features)
        assert (task, x.tolist(), r) == (3, features[s].tolist(), 0.0 if s == 8 else -1.3)
    prior = maze.default_prior()
    mean, variance = prior.reward_moments()
    np.testing.assert_allclose(mean, np.repeat([[-1.0]] * 8 + [[7.0]], 4, axis=1))
    same = np.kron(np.eye(9), np.ones((4, 4)))  # all actions of a cell pay the same
    np.testing.assert_allclose(variance, same * np.repeat([0.36 + 0.04] * 8 + [1e-6], 4))
    after = prior.update(Transition(2, 1, -1.8, 5)).reward_moments()[0]
    np.testing.assert_allclose(after[2], -1.0 - 0.8 * 0.4 / (0.4 + 1e-4))
    np.testing.assert_allclose(after[3], -1.0)


def test_tasks_in_turn():
    """After `length` steps the next task goes on from the state that was reached, and the first follows the last."""
    rng = default_rng(6)
    worlds = tuple(
        MDPWorld(f"{i}", TabularMDP.from_dense(P, R, gamma=0.7))
        for i, (P, R) in enumerate(zip(rng.dirichlet(np.ones(3), (3, 3, 2)), rng.normal(size=(3, 3, 2)), strict=True))
    )
    world = TaskSequence("turns", worlds, [0, 1, 0], length=2)
    place, seen = world.reset(default_rng(0))
    assert (place.task, place.age, place.state) == (0, 0, seen)
    ours, theirs, m, age = default_rng(7), default_rng(7), 0, 0
    for t in range(14):
        after, observation, reward, _ = worlds[m].step(place.state, t % 2, theirs)
        step = world.step(place, t % 2, ours)
        age += 1
        if age == 2:
            m, age = (m + 1) % 3, 0
        assert (step.observation, step.reward, step.terminated, step.task) == (observation, reward, False, m)
        assert step.state == Place(m, age, after)
        place = step.state
    for wrong, name in (
        ((0, 0), "state"),
        ((3, 0, 0), "task"),
        ((-1, 0, 0), "task"),
        ((0, -1, 0), "age"),
        (0, "state"),
    ):
        with pytest.raises(InvalidArgument, match=f"turns: '{name}' must be"):
            world.step(wrong, 0, default_rng(0))
    assert world.step((2, 5, 1), 0, default_rng(0)).task == 0  # older than its length
    given = {"features": np.ones((3, 2)), "weights": np.ones((3, 2))}
    for name in given:
        with pytest.raises(InvalidArgument, match="'weights' must be given with the features"):
            TaskSequence("x", worlds, [0, 1, 2], **{name: given[name]})
        with pytest.raises(InvalidArgument, match=f"'{name}' must be an array of shape"):
            TaskSequence("x", worlds, [0, 1, 2], **given | {name: np.ones((4, 2))})
    assert TaskSequence("x", worlds, [2, 0, 1], **given).classes.tolist() == [2, 0, 1]
    with pytest.raises(InvalidArgument, match="'classes' must be whole numbers from 0 to 2"):
        TaskSequence("x", worlds, [0, 1, 3])
    ends = MDPWorld("ends", TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)), 0.7, terminal=[1]))
    wide = MDPWorld("wide", TabularMDP.from_dense(np.full((3, 3, 3), 1 / 3), np.zeros((3, 3)), 0.7))
    for wrong in (ends, wide):
        with pytest.raises(InvalidArgument, match="'tasks' must be worlds with a table of the same states and actions"):
            TaskSequence("x", (worlds[0], wrong), [0, 1])


def test_one_task_comes_again_and_the_first_one_begins():
    """A sequence of one task; of two, episodes start as the first one does."""
    rows = np.full((3, 2, 3), 1 / 3)
    one, two = (MDPWorld("m", TabularMDP.from_dense(rows, np.zeros((3, 2)), 0.7, start)) for start in (2, 1))
    alone = TaskSequence("x", (one,), [0], 1, np.ones((3, 2)), np.ones((1, 2)))
    assert (alone.gamma, alone.n_states, alone.n_actions) == (0.7, 3, 2)
    assert alone.reset(default_rng(0)) == (Place(0, 0, 2), 2)
    assert alone.step((0, 0, 2), 1, default_rng(0)).task == 0
    assert TaskSequence("x", (two, one), [0, 1]).reset(default_rng(0)) == (Place(0, 0, 1), 1)
    for wrong in ((), (one, 3), (3, one)):
        with pytest.raises(InvalidArgument, match="TaskSequence: 'tasks' must be worlds with a table"):
            TaskSequence("x", wrong, [0, 0])


# Games ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slip", [0.0, 0.35])
def test_the_chain_of_two_in_loops(slip):
    """Agreement moves on or back, with the other effect by `slip`; disagreement goes back and pays nothing."""
    family = TwoAgentChain(slip, 2.5, 0.8)
    P, R = np.zeros((5, 2, 2, 5)), np.zeros((5, 2, 2, 5))
    for s, a in product(range(5), range(2)):
        P[s, a, 1 - a, 0] = 1.0
        forward = 1.0 - slip if a == 0 else slip
        P[s, a, a, min(s + 1, 4)] += forward
        P[s, a, a, 0] += 1.0 - forward
        R[s, a, a, 0] = 2.0
    R[4, 0, 0, 4] = R[4, 1, 1, 4] = 10.0
    np.testing.assert_allclose(family.game.P, P)
    possible = P > 0.0
    np.testing.assert_array_equal(family.game.rewards()[possible], R[possible])
    world = family.draw(default_rng(8))
    np.testing.assert_array_equal(world.partner, default_rng(8).dirichlet([2.5, 2.5], 5))
    assert (world.gamma, family.n_actions, family.n_observations, family.answers) == (0.8, 2, 5, (2,))
    assert (world.setting.steps, family.default_prior().known) == (100, False)
    np.testing.assert_array_equal(family.default_prior().transitions, 1.0)


def test_games_as_worlds():
    """Two random numbers a step: the other's action, then the next state; the best response by backward induction."""
    rng = default_rng(9)
    P, R, x = rng.dirichlet(np.ones(3), (3, 2, 4)), rng.normal(size=(3, 2, 4, 3)).round(1), rng.dirichlet(np.ones(4), 3)
    world = GameWorld("g", StochasticGame(P, R, 0.9, start=2), x)
    assert world.reset(default_rng(0)) == (2, (2, -1))
    ours, theirs, s = default_rng(10), default_rng(10), 2
    for t in range(40):
        first, second = theirs.random(2)
        o = int(np.searchsorted(np.cumsum(x[s]), first, side="right"))
        y = int(np.searchsorted(np.cumsum(P[s, t % 2, o]), second, side="right"))
        step = world.step(s, t % 2, ours)
        assert (step.state, step.observation, step.reward, step.terminated) == (y, (y, o), R[s, t % 2, o, y], False)
        s = y
    V = np.zeros(3)
    for _ in range(6):
        V = np.array([[(x[s] @ (P[s, a] * (R[s, a] + V)).sum(axis=1)) for a in range(2)] for s in range(3)]).max(axis=1)
    assert world.optimum(6) == pytest.approx(V[2], rel=1e-10)
    assert world.optimum() == pytest.approx(world.optimum(50), rel=1e-12)
    assert (world.n_actions, world.n_observations, world.answers, world.gamma) == (2, 3, (4,), 0.9)
    prior = world.default_prior()
    np.testing.assert_array_equal(prior.values, np.unique(R))
    np.testing.assert_array_equal(prior.rewards, 0.1)
    np.testing.assert_array_equal(prior.transitions, 0.1)
    assert not prior.known
    uniform = GameWorld("g", StochasticGame(P, R[..., 0], 0.9))
    np.testing.assert_array_equal(uniform.partner, np.full((3, 4), 0.25))
    stage = GameWorld("s", StochasticGame.stage([[1.0, 3.0], [2.0, 0.5], [0.0, 1.0]], 0.9), concentration=0.4)
    assert stage.default_prior().known
    assert stage.payoff.tolist() == [[1.0, 3.0], [2.0, 0.5], [0.0, 1.0]]
    np.testing.assert_array_equal(stage.default_prior().rewards, 0.4)
    one = StochasticGame(np.ones((1, 2, 2, 1)), np.zeros((1, 2, 2, 1)), 0.9)
    for wrong in (uniform, GameWorld("t", one)):
        with pytest.raises(InvalidArgument, match="'world' must be a game of one state"):
            wrong.payoff  # noqa: B018
    for call, name in ((lambda: world.step(3, 0, ours), "state"), (lambda: world.step(0, 2, ours), "action")):
        with pytest.raises(InvalidArgument, match=f"g: '{name}' must be"):
            call()


def test_contractors():
    """Two halves succeed independently with s / (s + n); a step takes one random number; priors know the own type."""
    for a, types in ((0, (1, 2, 0)), (1, (2,)), (2, (1, 1))):
        p = sum(types) / (sum(types) + (1.0, 3.0, 6.0)[a])
        np.testing.assert_allclose(contract(a, types), [(1 - p) ** 2, 2 * p * (1 - p), p**2], rtol=1e-12)
    problem = problem_of(3, 0.7, 1)
    assert (problem.types, problem.me, problem.gamma) == ((3, 3, 3), 1, 0.7)
    np.testing.assert_array_equal(problem.rewards, [[0.0, 0.5, 1.0], [0.0, 1.5, 4.0], [0.0, 3.0, 12.0]])
    world, ours, theirs = CoalitionWorld(problem, (2, 0, 1)), default_rng(11), default_rng(11)
    assert world.reset(ours) == (None, -1)
    for m, (members, a) in enumerate(problem.options * 2):
        law = contract(a, tuple((2, 0, 1)[i] for i in members))
        o = int(np.searchsorted(np.cumsum(law), theirs.random(), side="right"))
        step = world.step(None, m % len(problem.options) if m % 2 else (members, a), ours)
        assert (step.state, step.observation, step.terminated) == (None, o, False)
        assert step.reward == pytest.approx(problem.rewards[a, o] / len(members))
    shares = {
        (members, a): np.dot(contract(a, tuple((2, 0, 1)[i] for i in members)), problem.rewards[a]) / len(members)
        for members, a in problem.options
    }
    for m, option in enumerate(problem.options):
        assert world.gap(None, m) == pytest.approx(max(shares.values()) - shares[option], abs=1e-12)
    for belief in (prior_of(problem, 2), CoalitionFamily(problem, 2).default_prior()):
        np.testing.assert_allclose(belief.joint[:, 2], np.full((3, 3), 1 / 9))
        assert not belief.joint[:, :2].any()
    np.testing.assert_array_equal(world.default_prior().joint, prior_of(problem, 0).joint)
    drawn = default_rng(12).integers((3, 3, 3))
    assert CoalitionFamily(problem, 2).draw(default_rng(12)).types == (drawn[0], 2, drawn[2])
    for made in (world, CoalitionFamily(problem, 2)):
        assert (made.gamma, made.n_actions, made.n_observations, made.setting.steps) == (0.7, 12, 3, 50)
    for wrong in (-1, 3):
        with pytest.raises(InvalidArgument, match="'ability' must be"):
            prior_of(problem, wrong)
    with pytest.raises(InvalidArgument, match="'types' must be"):
        CoalitionWorld(problem, (2, 0, 3))
    for n in (0, 9):
        with pytest.raises(InvalidArgument, match="'agents' must be a whole number of at least 1 and at most 8"):
            problem_of(n)


def test_types_of_agents_with_different_numbers_of_them():
    """Every type is below the number of its own agent's types, not of another's."""
    problem = CoalitionProblem((1, 3, 2), lambda a, types: [0.4, 0.6], np.array([[0.0, 1.0]]))
    assert CoalitionWorld(problem, (0, 2, 1)).types == (0, 2, 1)
    for wrong in ((1, 2, 1), (0, 2, 2), (0, 3, 1), (0, 2, -1)):
        with pytest.raises(InvalidArgument, match="CoalitionWorld: 'types' must be"):
            CoalitionWorld(problem, wrong)
