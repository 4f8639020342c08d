"""RiverSwim, the deep sea, the maze of clusters and the wumpus: rows by hand, optima, samples, refusals."""

from collections import Counter, deque
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import bayesrl as b
from bayesrl.beliefs import CRPDynamics
from bayesrl.errors import InvalidArgument
from bayesrl.models.solve import optimal_total, policy_total, solve
from bayesrl.registry import make_world
from bayesrl.testing import check_world
from bayesrl.worlds.mdps.cluster_maze import clusters
from bayesrl.worlds.mdps.wumpus import drawn

MADE = [
    ("river-swim", {}),
    ("river-swim", {"variant": "strehl"}),
    ("deep-sea", {}),
    ("deep-sea", {"size": 4, "seed": 3}),
    ("cluster-maze", {}),
    ("wumpus", {}),
    ("wumpus", {"seed": 1}),
    ("li-example", {"beta": 3.0}),
]


def leads_to(world, s, a):
    """{next state: probability}."""
    P, _ = world.dense()
    return {int(y): round(float(P[s, a, y]), 12) for y in np.flatnonzero(P[s, a])}


# Laws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, given", MADE, ids=str)
def test_samples_match_probabilities(name, given):
    """Two pairs each, 4000 draws, false alarm 1e-6; rewards and ends of each draw are the table's."""
    world = make_world(name, **given)
    for seed in (1, 2):
        check_world(world, rng=default_rng(seed))
    assert len(world.actions) in (0, world.n_actions)
    shown = world.layout[world.layout >= 0] if world.layout is not None else np.arange(world.n_states)
    ends = np.flatnonzero(world.mdp.outcomes.terminal)
    assert sorted(shown.tolist() + ends.tolist()) == list(range(world.n_states))


def best_of(P, R, start, terminal, steps):
    """The largest expected total, by plain backward induction."""
    V = np.zeros(len(P))
    for _ in range(steps):
        V = np.where(terminal, 0.0, (P * (R + V)).sum(axis=2).max(axis=1))
    return float(start @ V)


@pytest.mark.parametrize(
    "name, given, optimum",
    [
        ("river-swim", {}, 423.2631370199405),
        ("river-swim", {"variant": "strehl"}, 2195543.239819851),
        ("deep-sea", {}, 0.99),
        ("deep-sea", {"size": 25, "seed": 2}, 0.99),
        ("cluster-maze", {}, 59.1783639738822),
        ("wumpus", {}, 988.0),
        ("li-example", {}, 1500.0),
    ],
    ids=str,
)
def test_declared_optimum(name, given, optimum):
    world = make_world(name, **given)
    P, R = world.dense()
    outcomes = world.mdp.outcomes
    found = best_of(P, R, outcomes.start, outcomes.terminal, world.steps)
    assert world.declared_optimum == pytest.approx(optimum, rel=1e-9)
    assert world.optimum() == pytest.approx(found, rel=1e-9)


# RiverSwim -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variant, first, middle, last, rewards, start",
    [
        ("osband", (0.4, 0.6), (0.05, 0.6, 0.35), (0.4, 0.6), (0.005, 1.0), [1, 0, 0, 0, 0, 0]),
        ("strehl", (0.7, 0.3), (0.1, 0.6, 0.3), (0.7, 0.3), (5.0, 10000.0), [0.5, 0.5, 0, 0, 0, 0]),
    ],
)
def test_river_swim_by_hand(variant, first, middle, last, rewards, start):
    world = make_world("river-swim", variant=variant, gamma=0.83)
    assert leads_to(world, 0, 0) == {0: 1.0}
    assert [leads_to(world, s, 0) for s in range(1, 6)] == [{s - 1: 1.0} for s in range(1, 6)]
    assert leads_to(world, 0, 1) == dict(zip((0, 1), first, strict=True))
    for s in range(1, 5):
        assert leads_to(world, s, 1) == dict(zip((s - 1, s, s + 1), middle, strict=True))
    assert leads_to(world, 5, 1) == dict(zip((4, 5), last, strict=True))
    paid = np.zeros((6, 2))
    paid[0, 0], paid[5, 1] = rewards
    assert_array_equal(world.dense()[1], np.broadcast_to(paid[:, :, None], (6, 2, 6)))
    assert world.mdp.outcomes.start.tolist() == start
    assert (world.gamma, world.actions, world.layout.tolist()) == (0.83, ("left", "right"), [[[0, 1, 2, 3, 4, 5]]])


def test_river_swim_has_a_small_reward_downstream():
    world = make_world("river-swim")
    assert policy_total(world, np.zeros(6, int), 1000) == pytest.approx(5.0)
    assert policy_total(world, np.ones(6, int), 1000) == pytest.approx(423.2631370199405)
    assert solve(world).policy.tolist() == [1] * 6


# The deep sea --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size, seed", [(1, None), (2, 1), (3, None), (5, 7), (10, None)])
def test_deep_sea_by_hand(size, seed):
    world = make_world("deep-sea", size=size, seed=seed, gamma=1.0)
    n, end = size, size * (size + 1) // 2
    assert world.n_states == end + 1
    wrong = 0
    for row in range(n):
        for column in range(row + 1):
            s = int(world.layout[0, row, column])
            costs = [float(world.mdp.mean_reward[s, a]) for a in range(2)]
            treasure = row == column == n - 1
            right = int(np.argmax(np.abs(costs)))
            wrong += right == 0
            assert costs[1 - right] == 0.0
            assert costs[right] == pytest.approx(-0.01 / n + treasure)
            for a in range(2):
                there = column + 1 if a == right else max(column - 1, 0)
                assert leads_to(world, s, a) == {end if row == n - 1 else int(world.layout[0, row + 1, there]): 1.0}
        assert (world.layout[0, row, row + 1 :] == -1).all()
    assert (wrong > 0) == (seed is not None)
    assert world.mdp.outcomes.terminal.tolist() == [False] * end + [True]
    assert world.start == 0
    assert world.ends
    assert solve(world).values[0] == pytest.approx(0.99)
    assert world.actions == (("left", "right") if seed is None else ())


def test_random_actions_hardly_ever_find_the_treasure():
    world = make_world("deep-sea", size=6)
    uniform = np.full((world.n_states, 2), 0.5)
    assert policy_total(world, uniform, 6) == pytest.approx(2.0**-6 - 0.01 / 2)


def test_the_regret_of_a_run_counts_every_episode():
    from bayesrl.lab.measures.regret import optimal_totals

    world = make_world("deep-sea", size=4)
    assert_allclose(optimal_totals(world.mdp, 12, None)[-1], 3 * 0.99)


# The maze of clusters ------------------------------------------------------------------------------------------------

DRAWING = """
s . .|. . .
           
. . o|. . .
        ---
. . . . . .
---        
. . . o . .
      ---  
. o . . . .
           
. . .|. g .
"""  # fmt: skip
"""As in the source, without the outer walls; columns of characters are cells and gaps."""


def maze_by_drawing():
    """P and R, by walking on the drawing above with outer walls of its own."""
    lines = [line.ljust(11) for line in DRAWING.strip("\n").split("\n")]
    cells = [(y, x) for y in range(6) for x in range(6) if lines[2 * y][2 * x] in "s."]
    P, R = np.zeros((32, 4, 32)), np.full((32, 4, 32), np.nan)
    for s, (y, x) in enumerate(cells):
        for a in range(4):
            for way, p in ((a, 0.8), ((a + 1) % 4, 0.1), ((a - 1) % 4, 0.1)):
                dy, dx = ((-1, 0), (0, 1), (1, 0), (0, -1))[way]
                inside = 0 <= y + dy < 6 and 0 <= x + dx < 6
                if not inside or lines[2 * y + dy][2 * x + dx] != " ":
                    to, paid = s, -0.001
                elif (y + dy, x + dx) in cells:
                    to, paid = cells.index((y + dy, x + dx)), -0.001
                else:
                    to, paid = 0, 1.0 if lines[2 * (y + dy)][2 * (x + dx)] == "g" else -1.0
                P[s, a, to] += p
                R[s, a, to] = paid
    return cells, P, R


def test_cluster_maze_by_hand():
    world = make_world("cluster-maze", gamma=0.83)
    cells, P, R = maze_by_drawing()
    ours, paid = world.dense()
    assert_allclose(ours, P, atol=1e-15)
    assert_allclose(paid[P > 0.0], R[P > 0.0])
    assert [(int(y), int(x)) for y, x in zip(*np.nonzero(world.layout[0] >= 0), strict=True)] == cells
    assert (world.gamma, world.start, world.ends) == (0.83, 0, False)
    assert world.actions == ("north", "east", "south", "west")
    beside, above = int(world.layout[0, 5, 5]), int(world.layout[0, 4, 5])
    assert leads_to(world, beside, 3) == {0: 0.8, above: 0.1, beside: 0.1}


def test_states_of_a_cluster_have_the_same_rows():
    world, kinds = make_world("cluster-maze"), clusters()
    rows = world.mdp.prob.reshape(32, 4, 5)
    for s, y in product(range(32), repeat=2):
        assert (kinds[s] == kinds[y]) == np.array_equal(rows[s], rows[y])
    assert len(set(kinds)) == 9
    assert world.mdp.outcomes.ambiguous is None


def test_clusters_are_learnt_from_steps():
    """The belief that was made for it accepts the maze, and walls seen in some cells are expected in others."""
    world = make_world("cluster-maze")
    prior = CRPDynamics(world.mdp.outcomes, world.gamma)
    agent = b.agent("psrl", world, "crp-dynamics")
    assert agent.prior.outcomes.n_states == prior.outcomes.n_states == 32
    assert len(b.run(agent, world, steps=3)) == 3


# The wumpus ----------------------------------------------------------------------------------------------------------


def test_wumpus_by_hand():
    """A walk on the map of the book: each step names the action, what it pays, and where it ends."""
    world = make_world("wumpus")
    forward, left, right, grab, shoot, climb = range(6)
    cell = {
        int(s): (x + 1, 4 - y)
        for p, y, x in zip(*np.nonzero(world.layout >= 0), strict=True)
        for s in [world.layout[p, y, x]]
    }

    def walk(actions):
        s, total = world.start, 0.0
        for a in actions:
            s, _, paid, over = world.step(s, a, default_rng(0))
            total += paid
        return None if over else cell[s], total

    assert walk([forward]) == ((2, 1), -1.0)
    assert walk([forward, forward]) == (None, -1002.0)  # a pit
    assert walk([left, forward]) == ((1, 2), -2.0)
    assert walk([left, forward, forward]) == (None, -1003.0)  # the wumpus
    assert walk([left, shoot, forward, forward]) == ((1, 3), -14.0)  # the arrow met it
    assert walk([shoot, left, shoot, forward, forward]) == (None, -1015.0)  # one arrow, and it flew east
    assert walk([forward, left, forward, forward, left, shoot, forward]) == ((1, 3), -17.0)  # from the east
    assert walk([right, forward]) == ((1, 1), -2.0)  # a wall
    assert walk([left, left, forward]) == ((1, 1), -3.0)
    assert walk([climb]) == (None, -1.0)
    assert walk([forward, climb]) == ((2, 1), -2.0)
    assert walk([grab, climb]) == (None, -2.0)  # no gold here
    there = [forward, left, forward, forward]
    back = [left, left, forward, forward, right, forward]
    assert walk(there)[0] == (2, 3)
    assert walk([*there, grab, *back, climb]) == (None, 988.0)
    assert walk([*there, *back, climb]) == (None, -11.0)
    assert (world.n_states, world.start, world.ends) == (297, 0, True)
    assert world.actions == ("forward", "left", "right", "grab", "shoot", "climb")
    assert world.layout.shape == (24, 4, 4)
    assert solve(world).values[0] == pytest.approx(-(1 - 0.95**12) / 0.05 + 1000 * 0.95**11)


def test_wumpus_states_are_those_that_can_be_reached():
    for seed in (None, 0, 1, 2):
        world = make_world("wumpus", seed=seed)
        P = world.dense()[0]
        reached, queue = {0}, deque([0])
        while queue:
            for y in set(np.flatnonzero(P[queue.popleft()].any(axis=0)).tolist()) - reached:
                reached.add(y)
                queue.append(y)
        assert len(reached) == world.n_states


def test_drawn_caves_have_the_law_of_the_book():
    """2000 maps: 15 cells for wumpus and gold, pits with .2 elsewhere. False alarm 1e-6 each (6 deviations)."""
    rng, n = default_rng(4), 2000
    caves = [drawn(rng) for _ in range(n)]
    for which in ("wumpus", "gold"):
        counts = Counter(getattr(cave, which) for cave in caves)
        assert len(counts) == 15
        assert (0, 0) not in counts
        assert max(abs(c - n / 15) for c in counts.values()) < 6 * (n * 14 / 225) ** 0.5
    free = [
        (cave, (x, y))
        for cave in caves
        for x in range(4)
        for y in range(4)
        if (x, y) not in ((0, 0), cave.wumpus, cave.gold)
    ]
    pits = sum(cell in cave.pits for cave, cell in free)
    assert abs(pits - 0.2 * len(free)) < 6 * (0.16 * len(free)) ** 0.5
    assert not any({(0, 0), cave.wumpus, cave.gold} & cave.pits for cave in caves)


def test_an_optimum_of_a_drawn_map_is_solved_for():
    world = make_world("wumpus", seed=1)
    assert world.declared_optimum is None
    assert world.optimum(30) == pytest.approx(optimal_total(world, 30))


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, given, sentence",
    [
        ("river-swim", {"variant": "osbnd"}, "river-swim: 'variant' must be one of osband, strehl, got 'osbnd'."),
        ("river-swim", {"gamma": 1.1}, "river-swim: 'gamma' must be in [0, 1], got 1.1."),
        ("deep-sea", {"size": 0}, "deep-sea: 'size' must be a whole number of at least 1 and at most 60, got 0."),
        ("deep-sea", {"size": 61}, "deep-sea: 'size' must be a whole number of at least 1 and at most 60, got 61."),
        ("deep-sea", {"size": 2.5}, "deep-sea: 'size' must be a whole number of at least 1 and at most 60, got 2.5."),
        ("deep-sea", {"seed": -1}, "deep-sea: 'seed' must be a whole number of at least 0, got -1."),
        ("deep-sea", {"gamma": float("nan")}, "deep-sea: 'gamma' must be in [0, 1], got nan."),
        ("cluster-maze", {"gamma": -0.1}, "cluster-maze: 'gamma' must be in [0, 1], got -0.1."),
        ("cluster-maze", {"gamma": "x"}, "cluster-maze: 'gamma' must be in [0, 1], got 'x'."),
        ("wumpus", {"seed": -3}, "wumpus: 'seed' must be a whole number of at least 0, got -3."),
        ("wumpus", {"seed": "a"}, "wumpus: 'seed' must be a whole number of at least 0, got 'a'."),
        ("wumpus", {"gamma": None}, "wumpus: 'gamma' must be in [0, 1], got None."),
        ("li-example", {"beta": 0}, "li-example: 'beta' must be greater than 0, got 0."),
        ("li-example", {"beta": float("inf")}, "li-example: 'beta' must be greater than 0, got inf."),
        ("li-example", {"gamma": 2}, "li-example: 'gamma' must be in [0, 1], got 2."),
    ],
)  # fmt: skip
def test_refusals(name, given, sentence):
    with pytest.raises(InvalidArgument) as caught:
        make_world(name, **given)
    assert str(caught.value) == sentence
