"""Worlds with hidden states: tables by hand, values by slow oracles, samples against probabilities."""

import math
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import ExactBAPOMDP, ParticleBAPOMDP
from bayesrl.core import World
from bayesrl.errors import InvalidArgument
from bayesrl.models.pomdp import NOTHING, TabularPOMDP
from bayesrl.models.solve import solve
from bayesrl.registry import make, make_world
from bayesrl.testing import check_hidden_world
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.shop import Shop

NAMES = (
    "tiger", "tiger-episodic", "tiger-tied", "load-unload", "shuttle", "hallway", "rock-sample", "follow", "sysadmin",
    "online-shop-hidden", "dialogue",
)  # fmt: skip


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
        (world.observation_counts, world.pomdp.observation_prob),
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
    assert plain.pomdp.observed.group.tolist() == [[0, 2, 2], [1, 2, 2]]
    assert tied.pomdp.observed.group.tolist() == [[0, 1, 1], [0, 1, 1]]
    assert tied.pomdp.observed.observation[:, 0].tolist() == [[0, 1], [1, 0]]  # the right side first
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
    assert tiger_value(wrong=-20.0) <= high < 200.0  # less than the right door for ever


def test_the_bracket_of_a_large_world_is_that_of_seen_states(monkeypatch):
    monkeypatch.setattr("bayesrl.worlds.hidden.LARGE", 1)
    # Listening for ever; and listening once, if right doors for ever were to follow.
    assert make_world("tiger", wrong=-20.0).value == pytest.approx((-20.0, -1.0 + 0.95 * 200.0))


@pytest.mark.parametrize(
    "name, size, near",
    [("tiger", 40, 1e-3), ("load-unload", 40, 1e-3), ("shuttle", 60, 1e-3), ("sysadmin", 150, 0.3),
     ("online-shop-hidden", 150, 0.1)],
)  # fmt: skip
def test_a_point_based_policy_comes_near_the_bracket(name, size, near):
    """From below: its value is a lower bound, and no farther from the declared one than measured (twice that)."""
    low, high = make_world(name).value
    solved = make("pbvi", size=size, tol=1e-4).solve(make_world(name), default_rng(0)).start_value
    assert low - near <= solved <= high + 1e-9


@pytest.mark.parametrize(
    "name, bad",
    [("accuracy", 1.5), ("accuracy", None), ("correct", 0), ("incorrect", -1), ("wrong", np.nan), ("gamma", 1.2)],
)
@pytest.mark.parametrize("which", ["tiger", "tiger-tied", "tiger-episodic"])
def test_tigers_refuse(which, name, bad):
    with pytest.raises(InvalidArgument, match=rf"^{which}: '{name}' must be .*, got .*\.$"):
        make_world(which, **{name: bad})


# The other worlds ----------------------------------------------------------------------------------------------------


def leads_to(P, s, a):
    """{next state: probability}."""
    return {int(y): round(float(P[s, a, y]), 12) for y in np.flatnonzero(P[s, a])}


def test_load_unload_by_hand():
    world = make_world("load-unload", positions=4)
    P, O, r = world.pomdp.dense()
    # 0 unload; 1, 2 at position 1, unloaded and loaded; 3, 4 at position 2; 5 load
    assert [leads_to(P, s, 0) for s in range(6)] == [{y: 1.0} for y in (0, 0, 0, 1, 2, 4)]
    assert [leads_to(P, s, 1) for s in range(6)] == [{y: 1.0} for y in (1, 3, 4, 5, 5, 5)]
    assert (O == O[:, :1]).all()
    assert O[:, 0].argmax(axis=1).tolist() == [0, 2, 2, 2, 2, 1]
    paid = np.zeros((6, 2))
    paid[2, 0] = 1.0
    assert np.array_equal(r, paid)
    assert world.pomdp.start.tolist() == [1, 0, 0, 0, 0, 0]
    assert world.value == pytest.approx((0.95**5 / (1 - 0.95**6),) * 2, rel=1e-12)
    # Actions are learnt as ways to go: after one step towards load, action 1 is known better everywhere.
    learned = world.model_prior().learned(0, 1, 1, 2).mean_pomdp().dense()[0]
    assert leads_to(learned, 3, 1) == {1: round(1 / 3, 12), 5: round(2 / 3, 12)}
    assert leads_to(learned, 3, 0) == {1: 0.5, 5: 0.5}
    assert make_world("load-unload").n_states == 14
    assert make_world("load-unload", positions=500).n_states == 998
    assert make_world("sysadmin", computers=8).n_states == 256
    assert make_world("load-unload").value == pytest.approx((1.001985,) * 2, abs=5e-7)


def test_shuttle_by_hand():
    world = make_world("shuttle")
    P, O, _ = world.pomdp.dense()
    assert P[:, 0].argmax(axis=1).tolist() == [1, 4, 5, 6, 1, 2, 3, 1]
    assert P[:, 1].argmax(axis=1).tolist() == [4, 1, 1, 2, 5, 6, 6, 4]
    assert (P[:, :2].max(axis=2) == 1.0).all()
    assert leads_to(P, 0, 2) == leads_to(P, 7, 2) == {7: 1.0}
    assert leads_to(P, 1, 2) == {1: 0.4, 2: 0.3, 4: 0.3}
    assert leads_to(P, 2, 2) == {2: 0.1, 3: 0.8, 6: 0.1}
    assert leads_to(P, 3, 2) == {0: 0.7, 3: 0.3}
    assert leads_to(P, 4, 2) == {4: 0.3, 7: 0.7}
    assert leads_to(P, 5, 2) == {1: 0.1, 4: 0.8, 5: 0.1}
    assert leads_to(P, 6, 2) == {3: 0.3, 5: 0.3, 6: 0.4}
    seen = np.zeros((8, 5))
    for s, row in enumerate(({4: 1}, {1: 1}, {1: 0.7, 3: 0.3}, {3: 1}, {3: 1}, {0: 0.7, 3: 0.3}, {0: 1}, {2: 1})):
        seen[s, list(row)] = list(row.values())
    assert (O == seen[:, None]).all()
    paid = {place: world.pomdp.reward(*place, 0) for place in np.ndindex(8, 3, 8)}
    assert {k: x for k, x in paid.items() if x} == {(1, 1, 1): -3.0, (6, 1, 6): -3.0, (3, 2, 0): 10.0}
    assert world.pomdp.start.tolist() == [0, 0, 0, 0, 0, 0, 0, 1]
    # The states are nearly seen: with states seen the value is only a little higher.
    assert solve(world.pomdp.mdp).values[7] == pytest.approx(32.8897, abs=1e-4)


MAP = """
###########
@@@@@@@@@@@
##1#2#3#4##
"""


def hallway_by_rule():
    """P, O and R of hallway, from a drawing: @ is the corridor, digits are rooms, # is wall; rows go south."""
    rows = MAP.split()
    cells = [(1, c) for c in range(11)] + [(2, rows[2].index(d)) for d in "1234"]
    south = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
    compass, right = "NESW", {"N": "E", "E": "S", "S": "W", "W": "N"}
    P, O, R = np.zeros((60, 5, 60)), np.zeros((60, 5, 21)), np.zeros((60, 5, 60))
    open_ = [s for s in range(60) if s // 4 != 14]
    for i, cell in enumerate(cells):
        for h, facing in enumerate(compass):
            s = 4 * i + h
            if i == 14:
                P[s][:, open_] = 1 / 56
                O[s, :, 20] = 1.0
                continue

            def go(way, then, s=s, cell=cell):
                there = (cell[0] + south[way][0], cell[1] + south[way][1])
                return 4 * cells.index(there) + compass.index(then) if there in cells else s

            P[s, 0, s] = 1.0
            R[s, :, 56:] = 1.0
            rightward, back = right[facing], right[right[facing]]
            left = right[back]
            for p, y in (
                (0.8, go(facing, facing)), (0.05, go(left, left)), (0.05, go(rightward, rightward)),
                (0.025, go(back, back)), (0.025, go(back, facing)), (0.05, s),
            ):  # fmt: skip
                P[s, 1, y] += p
            for a, odds in ((2, (0.1, 0.7, 0.1, 0.1)), (3, (0.1, 0.15, 0.6, 0.15)), (4, (0.1, 0.1, 0.1, 0.7))):
                way = facing
                for p in odds:
                    P[s, a, 4 * i + compass.index(way)] += p
                    way = right[way]
            if facing == "S" and i in (2, 4, 6, 8):
                O[s, :, 15 + i // 2] = 1.0
                continue
            for z in range(16):
                p = 1.0
                for bit, way in ((8, facing), (4, rightward), (2, back), (1, left)):
                    wall = go(way, way) == s
                    says = bool(z & bit)
                    p *= (0.9 if says else 0.1) if wall else (0.05 if says else 0.95)
                O[s, :, z] = p
    return P, O, R


def test_hallway_follows_the_rule():
    world = make_world("hallway")
    P, O, R = hallway_by_rule()
    ours = world.pomdp.dense()
    np.testing.assert_allclose(ours[0], P, atol=1e-15)
    np.testing.assert_allclose(ours[1], O, atol=1e-15)
    assert np.array_equal(world.pomdp.rewards, R)
    np.testing.assert_allclose(world.pomdp.start, [1 / 56] * 56 + [0] * 4)
    assert not world.ends


def rock_sample_by_rule(n, k, start, rocks, half):
    """(s, a) -> (s', reward), and (s', a) -> P(bad), by the words of the paper."""
    end = n * n * 2**k

    def number(x, y, good):
        return (x * n + y) * 2**k + sum(2**i for i in good)

    def step(x, y, good, a):
        if a < 4:
            x, y = x + (a == 1) - (a == 3), y + (a == 0) - (a == 2)
            if x == n:
                return end, 10.0
            return (number(x, y, good), 0.0) if 0 <= x and 0 <= y < n else (end, -100.0)
        if a < 4 + k:
            return number(x, y, good), 0.0
        if (x, y) not in rocks:
            return end, -100.0
        i = rocks.index((x, y))
        return number(x, y, good - {i}), 10.0 if i in good else -10.0

    def bad(x, y, good, a):
        if not 4 <= a < 4 + k:
            return 0.0
        d = ((x - rocks[a - 4][0]) ** 2 + (y - rocks[a - 4][1]) ** 2) ** 0.5
        right = 0.5 + 0.5 * 2 ** (-d / half)
        return 1 - right if a - 4 in good else right

    return number, step, bad


@pytest.mark.parametrize("n, k, half, start", [(4, 4, np.log(2), (0, 2)), (5, 5, 4, (0, 2)), (7, 8, 20, (0, 3))])
def test_rock_sample_follows_the_rule(n, k, half, start):
    rocks = {
        4: ((3, 1), (2, 1), (1, 3), (1, 0)),
        5: ((2, 4), (0, 4), (3, 3), (2, 2), (4, 1)),
        8: ((2, 0), (0, 1), (3, 1), (6, 3), (2, 4), (3, 4), (5, 5), (1, 6)),
    }[k]
    world = make_world("rock-sample", size=n, rocks=k)
    pomdp = world.pomdp
    assert (pomdp.n_states, pomdp.n_actions, pomdp.n_observations) == (n * n * 2**k + 1, k + 5, 2)
    assert np.flatnonzero(pomdp.terminal).tolist() == [n * n * 2**k]
    number, step, bad = rock_sample_by_rule(n, k, start, rocks, half)
    rng = default_rng(0)
    some = [frozenset(np.flatnonzero(rng.random(k) < 0.5).tolist()) for _ in range(2**k if k < 6 else 20)]
    seen = pomdp.seen
    for x, y, good in product(range(n), range(n), some):
        s = number(x, y, good)
        for a in range(k + 5):
            after, paid = step(x, y, good, a)
            assert pomdp.mdp.prob[pomdp.mdp.group[s, a]].tolist() == [1.0]
            assert pomdp.mdp.succ[s, a, 0] == after
            assert pomdp.reward(s, a, after, 0) == paid
            assert seen[s, a, 1] == pytest.approx(bad(x, y, good, a), abs=1e-9)
            assert world.preferred[s, a] == (paid > -100.0 and not 4 <= a < 4 + k)
    first = np.flatnonzero(pomdp.start)
    assert first.tolist() == sorted({number(*start, {i for i in range(k) if g >> i & 1}) for g in range(2**k)})
    assert (pomdp.start[first] == 2.0**-k).all()
    # Checks from the same distance are learnt together.
    distances = {round(float(np.hypot(x - rx, y - ry)), 9) for x, y in product(range(n), repeat=2) for rx, ry in rocks}
    assert len(world.observation_counts) == 1 + len(distances)


@pytest.mark.parametrize("size, rocks", [(4, 5), (0, 4), (3, 3), (11, 10)])
def test_rock_sample_refuses_what_has_no_map(size, rocks):
    with pytest.raises(InvalidArgument, match=r"^rock-sample: 'size.*' must be "):
        make_world("rock-sample", size=size, rocks=rocks)


def test_follow_by_hand():
    world = make_world("follow")
    P, O, _ = world.pomdp.dense()

    def at(person, dx, dy):
        return 25 * person + 5 * (dx + 2) + dy + 2

    stay, north, east, west = 0, 1, 2, 4
    assert leads_to(P, at(0, 0, 0), stay) == {
        at(0, 0, 0): 0.3, at(0, 0, 1): 0.4, at(0, 1, 0): 0.2, at(0, 0, -1): 0.05, at(0, -1, 0): 0.05
    }  # fmt: skip
    # The robot goes north: seen from it, the person is one cell further south.
    assert leads_to(P, at(1, 0, 0), north) == {
        at(1, 0, -1): 0.1, at(1, 0, 0): 0.05, at(1, 1, -1): 0.8, at(1, 0, -2): 0.03, at(1, -1, -1): 0.02
    }  # fmt: skip
    assert leads_to(P, at(0, 2, 2), stay) == {at(0, 2, 2): 0.3, 50: 0.6, at(0, 2, 1): 0.05, at(0, 1, 2): 0.05}
    assert leads_to(P, at(1, 2, 0), west) == {
        50: 0.98, at(1, 2, 0): 0.02
    }  # fmt: skip
    paid = [world.pomdp.reward(at(0, 0, 0), 0, y, 0) for y in (at(0, 0, 0), at(0, 1, -1), at(0, 0, 2), 50)]
    assert paid == [1.0, 0.0, -1.0, -20.0]
    directions = {(0, 0): 0, (0, 1): 1, (1, 0): 2, (0, -1): 3, (-1, 0): 4, (1, 1): 1, (-2, 1): 4, (2, -2): 3, (2, 1): 2}
    for (dx, dy), o in directions.items():
        assert {i: round(x, 12) for i, x in enumerate(O[at(1, dx, dy), 2].tolist()) if x} == {o: 0.8, 5: 0.2}
    assert O[50, 0, 5] == 1.0
    assert world.pomdp.terminal.tolist() == [False] * 50 + [True]
    assert {s: p for s, p in enumerate(world.pomdp.start.tolist()) if p} == {at(0, 0, 0): 0.5, at(1, 0, 0): 0.5}
    # A step of person 0 to the north, seen anywhere, teaches about person 0 everywhere, and about person 1 nothing.
    learned = world.model_prior().learned(at(0, 0, 0), east, at(0, -1, 1), 1).mean_pomdp().dense()[0]
    assert leads_to(learned, at(0, 1, 1), stay)[at(0, 1, 2)] == round(4 / 11, 12)
    assert leads_to(learned, at(1, 1, 1), stay)[at(1, 1, 2)] == round(1 / 10, 12)


@pytest.mark.parametrize("topology", ["line", "none"])
def test_sysadmin_by_hand(topology):
    world = make_world("sysadmin", topology=topology)
    P, O, _ = world.pomdp.dense()
    near = {"line": {0: [1], 1: [0, 2], 2: [1]}, "none": {0: [], 1: [], 2: []}}[topology]
    for s, a, y in product(range(8), range(6), range(8)):
        p = 1.0
        for c in range(3):
            goes_on = 0.975 * 0.925 ** sum(1 for d in near[c] if not s >> d & 1) if s >> c & 1 else 0.0
            works = 0.95 if a == 3 + c else goes_on
            p *= works if y >> c & 1 else 1 - works
        assert P[s, a, y] == pytest.approx(p, abs=1e-15)
        assert O[y, a, 1] == (0.95 if y >> a % 3 & 1 else pytest.approx(0.05))
        assert world.pomdp.reward(s, a, y, 0) == bin(y).count("1") - (a >= 3)
    assert world.pomdp.start.tolist() == [0] * 7 + [1]
    assert not world.ends
    assert (make_world("sysadmin", topology=None) == world) == (topology == "none")  # as the command line says it


def test_shop_by_hand():
    """A young customer of middling willingness with product 0, which is of the brand of product 1."""
    world = make_world("online-shop-hidden", shop=Shop(same_brand=2.0))
    P, O, r = world.pomdp.dense()
    at, shop = world.states.index, Shop(same_brand=2.0)
    here = at("kind0-will1-0")
    assert here == shop.state(0, 1, (0,))
    for a, odds in ((0, 0.2 + 2.0), (1, -0.6 + 2.0), (2, -2.8)):
        adds = 0.8 / (1.0 + math.exp(-odds))
        expected = {at(f"kind0-will1-0+{a}"): adds, at("kind0-will0-0"): 0.8 - adds, at("checked-out"): 0.2}
        assert leads_to(P, here, a) == {y: round(p, 12) for y, p in expected.items()}
        assert r[here, a] == pytest.approx(0.2 * 4.0)
    assert leads_to(P, at("kind0-will0-0+0"), 1) == {at("kind0-will0-0+0"): 0.55, at("checked-out"): 0.45}
    for y, name in enumerate(world.states):  # the cart is seen, or that the customer has gone
        shown = "checked-out" if name == "checked-out" else name.split("-")[-1]
        assert world.observations[O[y, 0].argmax()] == shown
        assert O[y].max(axis=1).tolist() == [1.0] * 3
    assert world.pomdp.start.sum() == pytest.approx(1.0)
    assert world.pomdp.start[at("kind1-will2-empty")] == 0.5 * 0.5
    prob = world.pomdp.mdp.prob
    asked = (world.transition_counts - (world.transition_counts > 0.0))[prob.max(axis=1) < 1.0]
    assert np.abs(asked / 5.0 - prob[prob.max(axis=1) < 1.0]).max() <= 0.1


@pytest.mark.parametrize(
    "name, parameters, single, seen",
    [
        ("sysadmin", {"topology": "line"}, None, 56.6353),
        ("sysadmin", {"topology": "none"}, None, 56.9678),
        ("online-shop-hidden", {}, 4.9921, 6.9370),
    ],
)
def test_values_of_seen_states(name, parameters, single, seen):
    """The values were computed independently of this library."""
    world = make_world(name, **parameters)
    low, high = replace(world, bracket=None).value
    assert world.pomdp.start @ solve(world.pomdp.mdp).values == pytest.approx(seen, abs=5e-5)
    assert world.value[1] <= high < seen
    assert single is None or low == pytest.approx(single, abs=5e-5)


@pytest.mark.parametrize(
    "name, parameter, bad",
    [
        ("load-unload", "positions", 501),
        ("load-unload", "positions", 1), ("load-unload", "positions", 2.5), ("load-unload", "gamma", -0.1),
        ("shuttle", "gamma", 1.5), ("hallway", "gamma", "x"), ("follow", "gamma", None), ("sysadmin", "computers", 0),
        ("sysadmin", "computers", 9), ("sysadmin", "topology", "ring"), ("online-shop-hidden", "shop", 1.1),
        ("online-shop-hidden", "gamma", np.nan), ("rock-sample", "gamma", 2.0), ("rock-sample", "size", None),
    ],
)  # fmt: skip
def test_parameters_are_refused(name, parameter, bad):
    with pytest.raises(InvalidArgument, match=rf"^{name}: '{parameter}' must be .*, got .*\.$"):
        make_world(name, **{parameter: bad})


# Counts --------------------------------------------------------------------------------------------------------------


def test_counts_are_of_what_is_unknown():
    prior = make_world("tiger").model_prior()
    np.testing.assert_allclose(prior.mean_pomdp().seen[:, 0], [[0.625, 0.375], [0.375, 0.625]])
    np.testing.assert_array_equal(prior.mean_pomdp().dense()[0], make_world("tiger").pomdp.dense()[0])
    heard = prior.learned(0, 0, 0, 0).mean_pomdp().seen[:, 0]  # one right answer with the tiger on the left
    np.testing.assert_allclose(heard, [[6 / 9, 3 / 9], [3 / 8, 5 / 8]])
    heard = make_world("tiger-tied").model_prior().learned(0, 0, 0, 0).mean_pomdp().seen[:, 0]
    np.testing.assert_allclose(heard, [[6 / 9, 3 / 9], [3 / 9, 6 / 9]])


def test_counts_serve_beliefs_over_hyper_states(world):
    """What happens in the world is possible under its counts, and evidence falls with each step."""
    for belief in (ParticleBAPOMDP(world.model_prior(), particles=300), ExactBAPOMDP(world.model_prior(), limit=10**6)):
        rng = default_rng(4)
        state, _ = world.reset(rng)
        before = 0.0
        for action in [4, 5, 6, 7] if world.name == "rock-sample" else [0, world.n_actions - 1, 0]:
            state, seen, reward, terminated = world.step(state, action, rng)
            if terminated:
                break
            belief = belief.update(b.Transition(NOTHING, action, reward, seen), rng)
            assert belief.states()[state] > 0.0
            assert belief.log_evidence() <= before + 1e-12
            before = belief.log_evidence()


def test_without_declared_counts_the_possible_has_one_each():
    prior = small().model_prior()
    assert prior.fixed[0].tolist() == [False, True, True, True]
    np.testing.assert_allclose(prior.mean_pomdp().dense()[0][0, 0], [0.5, 0.5])
    assert prior.psi[:4].tolist() == [[1.0, 1.0]] * 4


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
        ("defaults", 3, "a mapping from methods to arguments"),
        ("legal", [[False, False], [True, False]], "truth values of shape"),
        ("preferred", np.ones((2, 2)), "truth values of shape"),
        ("preferred", [[True, False], [False, False]], "truth values of shape"),
    ],
)
def test_a_world_refuses(field, bad, expected):
    with pytest.raises(InvalidArgument, match=f"^POMDPWorld: '{field}' must be {expected}"):
        small(**{field: bad})


def test_what_is_preferred_must_be_legal():
    liked, legal = np.eye(2, dtype=bool), np.array([[True, True], [False, True]])
    world = small(preferred=~liked | legal, legal=legal)
    assert world.preferred.tolist() == legal.tolist()
    with pytest.raises(InvalidArgument, match=r"^POMDPWorld: 'preferred' must be legal for one action in each state"):
        small(preferred=~liked, legal=legal)


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
