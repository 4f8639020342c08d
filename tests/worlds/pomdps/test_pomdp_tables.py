"""Tables of hidden worlds from lists, and what their other tests leave open: priors, brackets, names, other sizes."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.errors import InvalidArgument
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.registry import make_world
from bayesrl.worlds.pomdps import _rocks, rock_sample
from bayesrl.worlds.pomdps._rocks import GenerativeRockSample, Map, bounds, distances, drawn, names_of, rocks_of
from bayesrl.worlds.pomdps._tables import listed_pomdp, observations_by_state, padded
from bayesrl.worlds.shop import Shop

# Lists ---------------------------------------------------------------------------------------------------------------


def test_rows_of_different_lengths():
    assert padded([[0.5, 0.5], [1.0], [0.2, 0.3, 0.5]]).tolist() == [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]


@pytest.mark.parametrize("ndim", [2, 3, 4])
def test_a_listed_pomdp_is_the_dense_one(ndim):
    """Three states of which one is an end, two actions, four observations; tied rows, some next states listed twice."""
    rng = default_rng(ndim)
    succ, group = rng.integers(3, size=(3, 2, 3)), np.array([[0, 1], [2, 0], [1, 2]])
    prob, shown = [[0.2, 0.3, 0.5], [1.0], [0.6, 0.4]], [[0.1, 0.9], [0.7, 0.3], [1.0]]
    observed = ObservationOutcomes(
        rng.integers(4, size=(3, 2, 2)), np.array([[1, 0], [2, 1], [0, 0]]), np.array([2, 2, 1]), 4
    )
    R = rng.normal(size=(3, 2, 3, 4)[:ndim])
    start = np.array([0.3, 0.7, 0.0])
    made = listed_pomdp(succ, group, prob, observed, shown, R, 0.83, start, (2,))
    P, O = np.zeros((3, 2, 3)), np.zeros((3, 2, 4))
    for s, a in np.ndindex(3, 2):
        for k, p in enumerate(prob[group[s, a]]):
            P[s, a, succ[s, a, k]] += p
        for j, p in enumerate(shown[observed.group[s, a]]):
            O[s, a, observed.observation[s, a, j]] += p
    P[2] = [0.0, 0.0, 1.0]
    four = np.broadcast_to(R.reshape(R.shape + (1,) * (4 - ndim)), (3, 2, 3, 4))
    r = np.einsum("say,yao,sayo->sa", P, O, four) * [[1.0], [1.0], [0.0]]
    mine = made.dense()
    np.testing.assert_allclose(mine[0], P, atol=1e-15)
    np.testing.assert_allclose(mine[1], O, atol=1e-15)
    np.testing.assert_allclose(mine[2], r, atol=1e-14)
    np.testing.assert_allclose(made.mdp.mean_reward, r, atol=1e-14)
    for s, a, y, o in np.ndindex(2, 2, 3, 4):
        assert made.reward(s, a, y, o) == four[s, a, y, o]
    assert (made.gamma, made.start.tolist(), made.terminal.tolist()) == (0.83, [0.3, 0.7, 0.0], [False, False, True])
    assert not listed_pomdp(succ, group, prob, observed, shown, R, 0.83, start).terminal.any()


def test_signs_of_states():
    """States that show the same share a row, which lists what is possible only; all actions show the same."""
    shown = np.array([[0.0, 0.2, 0.8, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.2, 0.8, 0.0], [0.3, 0.3, 0.0, 0.4]])
    observed, rows = observations_by_state(shown, 3)
    assert observed.n_observations == 4
    assert len(rows) == 3
    assert sorted(map(len, rows)) == [1, 2, 3]
    assert observed.group.shape == (4, 3)
    assert (observed.group[0] == observed.group[2]).all()
    for s, a in np.ndindex(4, 3):
        g = observed.group[s, a]
        dense = np.zeros(4)
        dense[observed.observation[s, a, : observed.size[g]]] = rows[g]
        assert observed.size[g] == len(rows[g])
        np.testing.assert_array_equal(dense, shown[s])


# Priors, brackets, names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, topology", [(1, "line"), (2, "line"), (4, "line"), (4, "none")])
def test_sysadmin_of_other_sizes(n, topology):
    """Moves, signs, rewards; the prior is ten steps from each state, in which .9 go on whatever the neighbours do."""
    world = make_world("sysadmin", computers=n, topology=topology)
    P, O, _ = world.pomdp.dense()
    near = [[d for d in (c - 1, c + 1) if 0 <= d < n and topology == "line"] for c in range(n)]
    counts = world.transition_counts.reshape(2**n, 2 * n, 2**n)
    for s, a, y in product(range(2**n), range(2 * n), range(2**n)):
        p = q = 1.0
        for c in range(n):
            true = 0.975 * 0.925 ** sum(not s >> d & 1 for d in near[c]) * (s >> c & 1)
            thought = 0.9 * (s >> c & 1)
            true, thought = (0.95, 0.95) if a == n + c else (true, thought)
            p, q = (x * (w if y >> c & 1 else 1.0 - w) for x, w in ((p, true), (q, thought)))
        assert P[s, a, y] == pytest.approx(p, abs=1e-14)
        assert counts[s, a, y] == pytest.approx(10.0 * q, abs=1e-13)
        assert world.pomdp.reward(s, a, y, 0) == bin(y).count("1") - (a >= n)
        assert O[y, a, 1] == pytest.approx(0.95 if y >> a % n & 1 else 0.05, abs=1e-15)
    assert world.pomdp.start.argmax() == 2**n - 1
    assert world.pomdp.start.max() == 1.0
    assert world.bracket is None
    assert world.observation_counts is None
    assert world.actions == (*(f"look-{c}" for c in range(n)), *(f"reboot-{c}" for c in range(n)))
    assert world.observations == ("fails", "works")


BRACKETS = {
    "sysadmin": ({"computers": 3}, (53.3329, 53.4365), {"computers": 2}),
    "follow": ({}, (2.9207, 4.4714), None),
    "hallway": ({}, (0.9887, 1.2091), None),
    "shuttle": ({}, (32.88965, 32.88975), None),
    "online-shop-hidden": ({}, (5.111176, 5.111178), {"shop": Shop(same_brand=0.5)}),
}
"""As their docstrings say them, at the usual settings; others for which nothing is declared."""


@pytest.mark.parametrize("name", BRACKETS)
def test_brackets_are_declared_for_what_was_solved(name):
    usual, declared, other = BRACKETS[name]
    assert make_world(name, **usual).bracket == pytest.approx(declared, abs=1e-9)
    for settings in ({**usual, "gamma": 0.5}, *([other] if other else [])):
        assert make_world(name, **settings).bracket is None
    assert make_world("sysadmin", topology="none").bracket == (54.6316, 54.6729)
    for gamma in (0.0, 1.0):
        assert make_world(name, gamma=gamma).gamma == gamma
    for bad in (-1e-9, 1.0 + 1e-9):
        with pytest.raises(InvalidArgument, match=f"^{name}: 'gamma' must be"):
            make_world(name, gamma=bad)


def test_sizes_and_rates_at_their_limits():
    """What is at the limit is accepted, and the next one refused."""
    for name, setting, low, high in (
        ("sysadmin", "computers", 1, 8),
        ("load-unload", "positions", 2, 500),
    ):
        assert make_world(name, **{setting: low}).n_actions == 2
        for bad in (low - 1, high + 1):
            with pytest.raises(
                InvalidArgument, match=f"'{setting}' must be a whole number of at least {low} and at most"
            ):
                make_world(name, **{setting: bad})
    for rate in (0.0, 1.0):
        O = make_world("tiger", accuracy=rate).pomdp.seen
        np.testing.assert_array_equal(O[:, 0], [[rate, 1 - rate], [1 - rate, rate]])
    for bad in (-1e-9, 1.0 + 1e-9):
        with pytest.raises(InvalidArgument, match="'accuracy' must be"):
            make_world("tiger", accuracy=bad)


def test_priors_of_the_other_worlds():
    """Counts of each group, in the order of its outcomes, as the words of the files say."""
    hallway = make_world("hallway")
    outcomes, counts = hallway.pomdp.mdp.outcomes, hallway.transition_counts
    assert counts.shape == hallway.pomdp.mdp.prob.shape == (6, 56)
    for g, row in enumerate(([0.0], [4.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1, 4, 1, 1], [1, 1, 4, 1], [1, 1, 1, 4], [0.0])):
        assert counts[g].tolist() == [*row, *[0.0] * (56 - len(row))]
    assert outcomes.size.tolist() == [1, 6, 4, 4, 4, 56]
    assert hallway.states[:5] == ("0-N", "0-E", "0-S", "0-W", "1-N")
    assert hallway.states[-1] == "14-W"
    shuttle = make_world("shuttle")
    assert shuttle.transition_counts.sum(axis=1).tolist() == [0, 3, 3, 2, 2, 3, 3]
    assert set(shuttle.transition_counts.ravel().tolist()) == {0.0, 1.0}
    np.testing.assert_array_equal(shuttle.transition_counts[1:] > 0.0, shuttle.pomdp.mdp.prob[1:] > 0.0)
    shop = make_world("online-shop-hidden")
    prob, outcomes = shop.pomdp.mdp.prob, shop.pomdp.mdp.outcomes
    for g, size in enumerate(outcomes.size):
        asked = np.round(5 * prob[g, :size]) + 1.0 if size > 1 else np.zeros(1)
        assert shop.transition_counts[g].tolist() == [*asked, *[0.0] * (3 - size)]
    assert sorted(set(outcomes.size.tolist())) == [1, 2, 3]
    assert shop.states[:2] == ("kind0-will0-empty", "kind0-will0-0")
    assert (shop.states[39], shop.states[-2:]) == ("kind1-will0-2+2", ("kind1-will2-2+2", "checked-out"))
    assert shop.actions == tuple(f"product-{a}" for a in range(3))
    assert shop.observations[:5] == ("empty", "0", "1", "2", "0+0")
    assert shop.observations[-2:] == ("2+2", "checked-out")
    follow = make_world("follow")
    assert follow.transition_counts.tolist() == [[2, 3, 1, 2, 2], [2, 1, 3, 2, 2], [0, 0, 0, 0, 0]]
    assert (follow.states[0], follow.states[12], follow.states[26]) == ("0-m2-m2", "0-0-0", "1-m2-m1")
    assert follow.states[-2:] == ("1-2-2", "lost")
    load = make_world("load-unload", positions=3)
    assert load.transition_counts.tolist() == [[1, 1], [1, 1]]
    assert load.states == ("0-unloaded", "1-unloaded", "1-loaded", "2-loaded")
    tiger = make_world("tiger", correct=0.5, incorrect=0.25)
    assert tiger.observation_counts.tolist() == [[0.5, 0.25], [0.5, 0.25], [0.0, 0.0]]
    assert tiger.states == ("tiger-left", "tiger-right")
    assert make_world("tiger-episodic").states == ("tiger-left", "tiger-right", "over")
    assert suggestions_for(tiger) == {"pomcp": {"exploration": "auto"}}
    assert suggestions_for(make_world("tiger-episodic")) == {}
    assert make_world("tiger", wrong=-99.0).bracket is None


def test_follow_everywhere():
    """All places, moves of the robot and moves of the person; the reward of every place that is reached."""
    world = make_world("follow", gamma=0.8)
    P, O, _ = world.pomdp.dense()
    ways = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))
    odds = ((0.3, 0.4, 0.2, 0.05, 0.05), (0.1, 0.05, 0.8, 0.03, 0.02))
    for person, x, y in product(range(2), range(5), range(5)):
        s = 25 * person + 5 * x + y
        for a, (rx, ry) in enumerate(ways):
            row = np.zeros(51)
            for p, (px, py) in zip(odds[person], ways, strict=True):
                there = (x + px - rx, y + py - ry)
                row[25 * person + 5 * there[0] + there[1] if set(there) <= set(range(5)) else 50] += p
            np.testing.assert_allclose(P[s, a], row, atol=1e-15)
            far = max(abs(x - 2), abs(y - 2))
            assert world.pomdp.reward(3, a, s, 0) == (1.0, 0.0, -1.0)[far]
            seen = np.flatnonzero(O[s, a, :5])
            assert len(seen) == 1
            dx, dy = x - 2, y - 2
            vertical = abs(dy) >= abs(dx)
            along = 0 if far == 0 else (1 if dy > 0 else 3) if vertical else (2 if dx > 0 else 4)
            assert seen[0] == along
            assert O[s, a, along] == 0.8
            assert O[s, a, 5] == pytest.approx(0.2)
    assert P[50, :, 50].tolist() == [1.0] * 5
    assert world.pomdp.reward(0, 0, 50, 5) == -20.0


@pytest.mark.parametrize("n", [2, 3, 6])
def test_load_unload_of_other_sizes(n):
    """One round by steps: to the load and back, in 2n - 2 steps, with one reward at its end; the value of that."""
    world = make_world("load-unload", positions=n, gamma=0.9)
    pomdp, s, total = world.pomdp, 0, 0.0
    for t in range(2 * (2 * n - 2)):
        a = 1 if t % (2 * n - 2) < n - 1 else 0
        row = pomdp.dense()[0][s, a]
        y = int(row.argmax())
        assert row[y] == 1.0
        o = int(pomdp.seen[y, a].argmax())
        r = pomdp.reward(s, a, y, o)
        assert r == (t % (2 * n - 2) == 2 * n - 3)
        total += 0.9**t * r
        p = abs(int(world.states[y].split("-")[0]))
        assert world.observations[o] == ("unload" if p == 0 else "load" if p == n - 1 else "between")
        s = y
    assert s == 0
    assert world.value[0] == world.value[1] == pytest.approx(total / (1 - 0.9 ** (4 * n - 4)), rel=1e-12)
    assert make_world("load-unload", positions=n, gamma=1.0).bracket is None


# Rocks ---------------------------------------------------------------------------------------------------------------

CHART = Map((1, 2), ((0, 3), (2, 0), (3, 3)), 1.7)


def test_the_arrays_of_a_map():
    """Cells by (x, y), moves north, east, south, west; rocks, accuracies and what is legal."""
    model, n = rocks_of(4, CHART), 4
    assert (model.k, model.start) == (3, 6)
    for x, y in product(range(4), repeat=2):
        cell = 4 * x + y
        around = [(x, y + 1), (x + 1, y), (x, y - 1), (x - 1, y)]
        to = [4 * i + j if 0 <= i < n and 0 <= j < n else 16 for i, j in around]
        assert model.to[cell].tolist() == to
        assert model.rock[cell] == (CHART.rocks.index((x, y)) if (x, y) in CHART.rocks else -1)
        legal = [to[0] < 16, True, to[2] < 16, to[3] < 16, True, True, True, (x, y) in CHART.rocks]
        assert model.legal[cell].tolist() == legal
        for i, (rx, ry) in enumerate(CHART.rocks):
            d = ((x - rx) ** 2 + (y - ry) ** 2) ** 0.5
            assert distances(4, CHART)[cell, i] == pytest.approx(d, abs=1e-14)
            assert model.right[cell, i] == pytest.approx(0.5 * (1.0 + 2.0 ** (-d / 1.7)), abs=1e-14)
    assert model.rock[16] == -1
    assert model.legal[16].all()
    assert names_of(3) == ("north", "east", "south", "west", "check-0", "check-1", "check-2", "sample")


def test_a_table_is_its_generative_model():
    """Every state and action of a small map of our own: steps, signs, starts, what is legal and what is preferred."""
    world, made = rock_sample.tabled(4, CHART, 0.83), GenerativeRockSample(4, CHART, 0.83)
    pomdp, k = world.pomdp, 3
    assert (world.n_states, world.n_actions) == (made.n_states, made.n_actions) == (129, 8)
    seen = pomdp.seen
    for s, a in np.ndindex(129, 8):
        y = int(pomdp.mdp.succ[s, a, 0])
        for u in (0.0, 0.999999):
            o, after, r, done = _rocks.plain(_rocks.outcome)(made.simulator(), s, a, u)
            assert (after, done) == (y, y == 128)
            assert r == (pomdp.reward(s, a, y, o) if s < 128 else 0.0)
        for o in range(2):
            assert made.observation_probability(y, a, o) == pytest.approx(seen[y, a, o], abs=1e-12)
        assert world.legal[s, a] == made.simulator().legal[s >> k, a]
        assert world.preferred[s, a] == (world.legal[s, a] and not 4 <= a < 7)
    assert np.flatnonzero(pomdp.start).tolist() == list(range(6 * 8, 7 * 8))
    assert world.observation_counts[0].tolist() == [0.0, 0.0]
    assert (world.observation_counts[1:] == [3.0, 1.0]).all()
    groups = pomdp.observed.group[:128, 4:7].reshape(16, 8, 3)
    assert (groups == groups[:, :1]).all()
    far = distances(4, CHART)
    for (c, i), (d, j) in product(product(range(16), range(3)), repeat=2):
        assert (groups[c, 0, i] == groups[d, 0, j]) == (abs(far[c, i] - far[d, j]) < 1e-9)
    assert pomdp.observed.size.tolist() == [1, *[2] * (len(pomdp.observation_prob) - 1)]
    assert world.bracket is None  # few states: it is computed
    assert made.preferred.shape == (0, 8)
    assert made.reward_range() == (-10.0, 10.0)


def test_bounds_by_orders_of_visits(monkeypatch):
    """The mean over all kinds of rocks of the best order of visits; the simple sum for more rocks; go east at once."""
    from itertools import permutations

    gamma, n = 0.83, 4

    def walk(places):
        at, steps, total = CHART.start, 0, 0.0
        for place in places:
            steps += abs(place[0] - at[0]) + abs(place[1] - at[1])
            total, steps, at = total + 10.0 * gamma**steps, steps + 1, place
        return total + 10.0 * gamma ** (steps + n - 1 - at[0])

    best = []
    for good in product((0, 1), repeat=3):
        some = [place for place, g in zip(CHART.rocks, good, strict=True) if g]
        best.append(max(walk(order) for m in range(len(some) + 1) for order in permutations(some, m)))
    low, high = bounds(n, CHART, gamma)
    assert low == pytest.approx(10.0 * gamma**2, abs=1e-12)
    assert high == pytest.approx(np.mean(best), abs=1e-12)
    assert GenerativeRockSample(n, CHART, gamma).value == (low, high)
    known = CHART._replace(value=(1.0, 2.0))
    assert GenerativeRockSample(n, known, 0.95).value == (1.0, 2.0)
    assert GenerativeRockSample(n, known, gamma).value == (low, high)
    monkeypatch.setattr(_rocks, "EXACT_BOUND", 2)
    far = [abs(x - 1) + abs(y - 2) for x, y in CHART.rocks]
    simple = 10.0 * gamma**2 + 5.0 * sum(gamma**d for d in far)
    assert bounds(n, CHART, gamma) == pytest.approx((low, simple), abs=1e-12)
    monkeypatch.setattr(_rocks, "EXACT_BOUND", 3)
    assert bounds(n, CHART, gamma)[1] == pytest.approx(np.mean(best), abs=1e-12)


def test_large_tables_declare_simple_bounds(monkeypatch):
    """Where the fast informed bound takes too long: beyond LARGE triples of a state, an action and an observation."""
    known = CHART._replace(value=(1.0, 2.0))
    triples = 129 * 8 * 2
    for large, few in ((triples, True), (triples - 1, False)):
        monkeypatch.setattr(rock_sample, "LARGE", large)
        assert rock_sample.tabled(4, CHART, 0.83).bracket == (None if few else bounds(4, CHART, 0.83))
        assert rock_sample.tabled(4, known, 0.95).bracket == (1.0, 2.0)
        assert rock_sample.tabled(4, known, 0.83).bracket == (None if few else bounds(4, CHART, 0.83))


def test_a_drawn_map():
    """Different cells, a start in the middle of the west edge, half of the efficiency lost at 20."""
    for n, k in ((3, 9), (5, 7), (6, 3)):
        chart = drawn(n, k, default_rng(k))
        cells = default_rng(k).choice(n * n, k, replace=False)
        assert chart.rocks == tuple((int(c) // n, int(c) % n) for c in cells)
        assert (chart.start, chart.half, chart.value) == ((0, n // 2), 20.0, None)
        assert make_world("rock-sample", size=n, rocks=k, seed=k, table=False).chart == chart


def test_a_table_if_it_fits(monkeypatch):
    """Pairs of a state and an action at the limit, and one less; a map may have one cell and one rock."""
    assert make_world("rock-sample", size=1, rocks=1, seed=0).n_states == 3
    pairs = (9 * 8 + 1) * 8
    for limit, fits in ((pairs, True), (pairs - 1, False)):
        monkeypatch.setattr(rock_sample, "LARGEST_TABLE", limit)
        assert isinstance(make_world("rock-sample", size=3, rocks=3, seed=0), GenerativeRockSample) is not fits
        assert isinstance(make_world("rock-sample", size=3, rocks=3, seed=0, table=False), GenerativeRockSample)
    with pytest.raises(InvalidArgument, match="'table' must be false beyond"):
        make_world("rock-sample", size=3, rocks=3, seed=0, table=True)
