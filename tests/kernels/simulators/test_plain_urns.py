"""Simulators of tables against lists of balls in plain Python, which draw with the same random numbers.

The problem has groups of different sizes, tied and known ones, an end, and prior counts that all differ. Every step,
every probability, and what is left after steps were undone or forgotten must be that of the lists.
"""

from copy import deepcopy
from itertools import accumulate

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import DirichletMixture, RewardDirichlet, SparseDirichletMDP, UnknownRewards
from bayesrl.core import Transition
from bayesrl.kernels.jit import plain as uncompiled
from bayesrl.kernels.search.uct_on_histories import best_actions
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, step
from bayesrl.kernels.simulators.urn import REDRAW, draw, draw_dirichlet, empty_urns, greedy_rollout, model_urn
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes

S, A, K, DEPTH = 4, 3, 3, 5
GROUP = np.array([[0, 1, 2], [2, 3, 4], [1, 0, 5], [0, 0, 0]])
SIZE = np.array([3, 2, 3, 1, 2, 3])
SUCC = np.array(
    [
        [[1, 2, 0], [2, 0, 0], [1, 3, 0]],
        [[0, 1, 2], [2, 0, 0], [1, 0, 0]],
        [[3, 1, 0], [0, 2, 1], [1, 2, 0]],
        [[3] * 3] * 3,
    ]
)
REWARD = default_rng(1).normal(size=(S, A, K)) - 0.3
OUTCOMES = Outcomes(SUCC, REWARD, GROUP, SIZE, np.zeros(1), [0.6, 0.3, 0.1, 0.0], [False, False, False, True])
ALPHA = np.array([[0.7, 1.3, 0.4], [2.1, 0.6, 0.0], [0.3, 0.9, 1.7], [0.8, 0.0, 0.0], [0.35, 0.65, 0.0], [0.5] * 3])
KNOWN = np.array([False, False, False, False, True, False])
SEEN = [(0, 0, 1), (0, 0, 0), (0, 0, 1), (1, 0, 2), (0, 1, 1), (2, 0, 0), (1, 1, 0), (2, 2, 1), (1, 0, 2), (0, 0, 2)]
VALUES = [-1.5, 0.25, 4.0]


def data(outcomes):
    return [Transition(s, a, float(outcomes.reward[s, a, k]), int(outcomes.succ[s, a, k])) for s, a, k in SEEN]


def learnt(belief):
    return belief.update_many(data(belief.outcomes))


def first_above(u, weights):
    """The first index whose cumulative weight exceeds u."""
    return next(k for k, below in enumerate(accumulate(weights)) if u < below)


# Lists of balls ------------------------------------------------------------------------------------------------------


class Balls:
    """The urn of one group: prior counts and a list of what was drawn, with room for so many more."""

    def __init__(self, prior, seen, room):
        self.prior, self.balls, self.room = list(map(float, prior)), list(seen), room + len(seen)

    def chance(self, k):
        return (self.prior[k] + self.balls.count(k)) / (sum(self.prior) + len(self.balls))

    def put(self, k):
        if len(self.balls) < self.room:
            self.balls.append(k)

    def draw(self, rng):
        mass = sum(self.prior)
        u = rng.random() * (mass + len(self.balls))
        k = first_above(u, self.prior) if u < mass else self.balls[int(u - mass)]
        self.put(k)
        return k


class SparseBalls(Balls):
    """The urn of a group whose support is unknown."""

    def __init__(self, alpha, exponent, size, seen, room):
        super().__init__([0.0] * size, seen, room)
        self.alpha, self.exponent, self.size = alpha, exponent, size

    def total(self):
        """1 / E[1 / (k alpha + N)] over the size k of the support, with products in place of gamma functions."""
        N, k0 = len(self.balls), len(set(self.balls))
        w = {}
        for k in range(max(k0, 1), self.size + 1):
            falling = np.prod([k - i for i in range(k0)])  # k! / (k - k0)!
            w[k] = k**-self.exponent * falling / np.prod([k * self.alpha + i for i in range(N)])
        return sum(w.values()) / sum(x / (k * self.alpha + N) for k, x in w.items())

    def chance(self, k):
        kinds, N, T = set(self.balls), len(self.balls), self.total()
        if k in kinds:
            return (self.alpha + self.balls.count(k)) / T
        return (1.0 - (len(kinds) * self.alpha + N) / T) / (self.size - len(kinds)) if k < self.size else 0.0

    def draw(self, rng):
        kinds = list(dict.fromkeys(self.balls))
        u = rng.random() * self.total() - len(kinds) * self.alpha
        if u < 0.0:
            k = kinds[int(-u / self.alpha)]
        elif u < len(self.balls) or len(kinds) == self.size:
            k = self.balls[min(int(u), len(self.balls) - 1)]
        else:
            while (k := int(rng.random() * self.size)) in kinds:
                pass
        self.put(k)
        return k


class Plain:
    """A table of urns: a step draws a move."""

    def __init__(self, outcomes, urns):
        self.o, self.urns, self.path = outcomes, urns, []

    def urn(self, s, a):
        return self.urns[self.o.group[s, a]]

    def begin(self):
        pass

    def step(self, s, a, rng):
        self.path.append(deepcopy(self.urns))
        k = self.urn(s, a).draw(rng)
        return self.told(s, a, k)

    def told(self, s, a, k):
        y = int(self.o.succ[s, a, k])
        return k, y, float(self.o.reward[s, a, k]), bool(self.o.terminal[y])

    def replay(self, s, a, k):
        self.path.append(deepcopy(self.urns))
        self.urn(s, a).put(k)

    def undo(self):
        self.urns = self.path.pop()

    def chances(self, s, a):
        return [self.urn(s, a).chance(k) for k in range(int(self.o.size[self.o.group[s, a]]))]


class PlainPaid(Plain):
    """Moves and rewards: urns are pairs of lists, and an outcome is k V + j."""

    def step(self, s, a, rng):
        self.path.append(deepcopy(self.urns))
        k = self.urns[0][self.o.group[s, a]].draw(rng)
        j = self.urns[1][s][a][k].draw(rng)
        y = int(self.o.succ[s, a, k])
        return k * len(VALUES) + j, y, VALUES[j], bool(self.o.terminal[y])

    def replay(self, s, a, k):
        self.path.append(deepcopy(self.urns))
        self.urns[0][self.o.group[s, a]].put(k // len(VALUES))
        self.urns[1][s][a][k // len(VALUES)].put(k % len(VALUES))

    def chances(self, s, a):
        g = int(self.o.group[s, a])
        return [
            self.urns[0][g].chance(k) * self.urns[1][s][a][k].chance(j)
            for k in range(int(self.o.size[g]))
            for j in range(len(VALUES))
        ]


class PlainMixture(Plain):
    """Components and their weights; a simulation draws its component at its first step."""

    def __init__(self, outcomes, components, weights):
        super().__init__(outcomes, (components, list(weights), None))

    def begin(self):
        self.urns = (*self.urns[:2], None)

    def step(self, s, a, rng):
        self.path.append(deepcopy(self.urns))
        parts, w, c = self.urns
        c = first_above(rng.random() * sum(w), w) if c is None else c
        self.urns = parts, w, c
        return self.told(s, a, parts[c][self.o.group[s, a]].draw(rng))

    def replay(self, s, a, k):
        self.path.append(deepcopy(self.urns))
        parts, w, _ = self.urns
        g = self.o.group[s, a]
        w = [x * part[g].chance(k) for x, part in zip(w, parts, strict=True)]
        for part in parts:
            part[g].put(k)
        self.urns = parts, [x / sum(w) for x in w], None

    def chances(self, s, a):
        """Those of a history told so far; a running simulation keeps to its component."""
        g, (parts, w, _) = self.o.group[s, a], self.urns
        each = [[part[g].chance(k) for k in range(int(self.o.size[g]))] for part in parts]
        return np.dot(np.array(w) / sum(w), each).tolist()


# Beliefs and their lists ---------------------------------------------------------------------------------------------


def seen_by_group(outcomes):
    return [[k for s, a, k in SEEN if outcomes.group[s, a] == g] for g in range(outcomes.n_groups)]


def tables(outcomes, alpha, known):
    return [
        Balls(alpha[g, : outcomes.size[g]], [] if known[g] else seen, 0 if known[g] else DEPTH)
        for g, seen in enumerate(seen_by_group(outcomes))
    ]


def tied():
    return learnt(b.DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN)), Plain(OUTCOMES, tables(OUTCOMES, ALPHA, KNOWN))


def flat(concentration):
    mdp = TabularMDP.from_dense(np.full((S, A, S), 1.0 / S), REWARD[:, :, 0], 0.83)
    belief = learnt(b.DirichletMDP.flat(mdp, concentration))
    alpha = np.broadcast_to(concentration, (S * A, S))
    return belief, Plain(belief.outcomes, tables(belief.outcomes, alpha, np.zeros(S * A, bool)))


def sparse():
    belief = learnt(SparseDirichletMDP(OUTCOMES, 0.35, 1.6, 0.83))
    urns = [SparseBalls(0.35, 1.6, int(SIZE[g]), seen, DEPTH) for g, seen in enumerate(seen_by_group(OUTCOMES))]
    return belief, Plain(OUTCOMES, urns)


def mixture():
    priors = [ALPHA * 1.9, np.where(ALPHA > 0.0, 1.0 / (0.3 + ALPHA), 0.0), np.where(ALPHA > 0.0, 0.45, 0.0)]
    none = np.zeros(len(SIZE), bool)
    weights = np.array([0.5, 0.2, 0.3])
    belief = learnt(DirichletMixture(tuple(b.DirichletMDP(OUTCOMES, p, 0.83) for p in priors), weights))
    chances = []  # of all data under each component
    for prior in priors:
        plain, p = Plain(OUTCOMES, [Balls(prior[g, : SIZE[g]], [], 99) for g in range(len(SIZE))]), 1.0
        for s, a, k in SEEN:
            p *= plain.chances(s, a)[k]
            plain.replay(s, a, k)
        chances.append(p)
    after = weights * chances / np.dot(weights, chances)
    return belief, PlainMixture(OUTCOMES, [tables(OUTCOMES, p, none) for p in priors], after)


def paid():
    counts = default_rng(3).uniform(0.2, 2.0, (S, A, K, len(VALUES)))
    belief = UnknownRewards(b.DirichletMDP(OUTCOMES, ALPHA, 0.83, KNOWN), RewardDirichlet(VALUES, counts))
    for i, (s, a, k) in enumerate(SEEN):
        belief = belief.update(Transition(s, a, VALUES[i % 3], int(SUCC[s, a, k])))
        counts[s, a, k, i % 3] += 1.0
    rewards = [[[Balls(counts[s, a, k], [], DEPTH) for k in range(K)] for a in range(A)] for s in range(S)]
    return belief, PlainPaid(OUTCOMES, (tables(OUTCOMES, ALPHA, KNOWN), rewards))


CASES = {
    "tied": tied,
    "flat, unequal counts": lambda: flat(np.array([0.3, 1.1, 0.6, 0.9])),
    "flat, equal counts": lambda: flat(0.45),
    "sparse": sparse,
    "mixture": mixture,
    "paid": paid,
}


def check_chances(model, plain, s):
    for a in range(A):
        expected = plain.chances(s, a)
        found = [likelihood(model, s, a, k) for k in range(len(expected))]
        np.testing.assert_allclose(found, expected, rtol=1e-11)
        assert sum(found) == pytest.approx(1.0)


@pytest.mark.parametrize("name", CASES)
def test_simulations_are_those_of_lists_of_balls(name):
    """Simulations with more draws of an urn than it has room for; every third draw is undone."""
    belief, plain = CASES[name]()
    model, mine, theirs = belief.simulate(DEPTH), default_rng(5), default_rng(5)
    for i in range(12):
        begin(model, mine)
        plain.begin()
        start, marks, s = len(plain.path), [], i % 3
        for t in range(DEPTH + 2 if name != "mixture" else DEPTH):
            a = (i + t * (i % 4)) % A
            if name != "mixture" or t == 0:
                check_chances(model, plain, s)
            if i % 3 == 0 and t < 3:
                k, *told, _ = step(model, s, a, mine)
                assert [int(k), *told] == list(plain.step(s, a, theirs))
                undo(model, s, a, k)
                plain.undo()
            k, y, r, done, mark = step(model, s, a, mine)
            assert (int(k), int(y), float(r), bool(done)) == plain.step(s, a, theirs)
            marks.append(mark)
            s = s if i % 2 or done else int(y)  # the same row again and again, or a path
        forget(model, np.array(marks, np.int64), len(marks))
        plain.urns = plain.path[start]
        del plain.path[start:]
        check_chances(model, plain, i % 3)


@pytest.mark.parametrize("name", CASES)
def test_histories_are_those_of_lists_of_balls(name):
    """Outcomes told, a simulation from there, and all of it undone step by step."""
    belief, plain = CASES[name]()
    model, mine, theirs, told = belief.simulate(DEPTH), default_rng(6), default_rng(6), []
    for s, a, k in [(0, 0, 2), (1, 0, 0), (0, 0, 2), (2, 2, 1)]:
        replay(model, s, a, k)
        plain.replay(s, a, k)
        told.append((s, a, k))
        for x in range(S - 1):
            check_chances(model, plain, x)
        k, *rest, _ = step(model, s, a, mine)  # a mixture draws its component anew from the weights of this history
        assert [int(k), *rest] == list(plain.step(s, a, theirs))
        undo(model, s, a, k)
        plain.undo()
    begin(model, mine)
    plain.begin()
    for s, a in [(0, 0), (2, 2), (0, 0)][: 1 if name == "sparse" else 3]:
        k, *rest, _ = step(model, s, a, mine)
        assert [int(k), *rest] == list(plain.step(s, a, theirs))
        told.append((s, a, k))
    for one in reversed(told):
        undo(model, *one)
        plain.undo()
    for x in range(S - 1):
        check_chances(model, plain, x)
    assert plain.path == []


@pytest.mark.parametrize("name", ["tied", "sparse"])
def test_what_is_not_listed_has_no_chance(name):
    """Group 1 has two outcomes; the table has room for a third."""
    belief, _ = CASES[name]()
    assert (GROUP[0, 1], SIZE[1], K) == (1, 2, 3)
    assert likelihood(belief.simulate(DEPTH), 0, 1, 2) == 0.0


def test_a_known_model_as_urns():
    """Draws add nothing: the inverse of the cumulative probabilities, again and again."""
    prob = default_rng(8).dirichlet(np.ones(K), len(SIZE)) * (np.arange(K) < SIZE[:, None])
    prob /= prob.sum(axis=1, keepdims=True)
    model, mine, theirs = model_urn(TabularMDP(OUTCOMES, prob, 0.83)), default_rng(7), default_rng(7)
    for i in range(60):
        s, a = i % 3, (i // 3) % A
        k, y, r, done, mark = step(model, s, a, mine)
        p = prob[GROUP[s, a], : SIZE[GROUP[s, a]]]
        expected = min(int((theirs.random() * p.sum() >= np.cumsum(p)).sum()), len(p) - 1)
        assert (int(k), int(y), float(r)) == (expected, SUCC[s, a, expected], OUTCOMES.reward[s, a, expected])
        assert (bool(done), int(mark)) == (y == 3, GROUP[s, a])


@pytest.mark.parametrize("shared", [False, True])
def test_rows_of_empty_urns(shared):
    """Sums of prior counts, and whether they are equal, by loops; rows that are one row in memory are summed once."""
    size = np.full(len(SIZE), K) if shared else SIZE
    alpha = np.broadcast_to(ALPHA[0], ALPHA.shape) if shared else np.where(np.arange(K) < SIZE[:, None], ALPHA, 0.0)
    rows, cdf = empty_urns(alpha, size, ~KNOWN)
    assert len(cdf) == (1 if shared else len(SIZE))
    for g in range(len(SIZE)):
        counts = alpha[g, : size[g]].tolist()
        row = rows[g]
        np.testing.assert_allclose(cdf[row["prior"]][: size[g]], list(accumulate(counts)))
        assert (row["last"], bool(row["limit"])) == (size[g] - 1, not KNOWN[g])
        assert row["mass"] == pytest.approx(sum(counts))
        even = len(set(counts)) == 1
        assert row["scale"] == pytest.approx(size[g] / sum(counts) if even else 0.0)
        assert (row["prior"] == 0) or not shared
    assert rows.dtype.itemsize == 64


def test_a_number_beyond_the_sum_draws_the_last():
    """Rounding can lead there; here totals are made too large: the last outcome, or the last ball."""
    belief, rng = b.DirichletMDP(OUTCOMES, ALPHA, 0.83), default_rng(0)
    for name in ("total", "mass"):
        for seen in (False, True):
            model = (learnt(belief) if seen else belief).simulate(0)
            for g in range(len(SIZE)):
                balls = [k for s, a, k in SEEN if seen and GROUP[s, a] == g]
                model.rows["total"][g] *= 1e12
                if name == "mass":
                    model.rows["mass"][g] = model.rows["total"][g]
                expected = balls[-1] if balls and name == "total" else SIZE[g] - 1
                assert draw(model, g, rng) == expected
    model = learnt(SparseDirichletMDP(OUTCOMES, 0.35, 1.6, 0.83)).simulate(0)
    model.rows["total"][0] = model.rows["total_seen"][0] = 1e12  # group 0 has seen all that it can
    assert draw(model, 0, rng) == 2


@pytest.mark.parametrize("actions, columns", [(2, 12), (3, 12), (4, 24), (5, 60), (7, 60), (16, 120)])
def test_tables_of_best_actions(actions, columns):
    """Each best action has the same number of columns, in order; the last row has all actions, the rest says REDRAW."""
    Q = default_rng(actions).normal(size=(5, actions))
    Q[1] = 0.7  # all are best
    Q[2, [0, -1]] = 9.0  # two are
    Q[3, 1] = np.nan  # none is
    P = uncompiled(best_actions)(Q)
    assert P.shape == (6, columns)
    listed = [[int(Q[0].argmax())], range(actions), [0, actions - 1], range(actions), [int(Q[4].argmax())]]
    for row, best in zip(P, [*listed, range(actions)], strict=True):
        each = columns // len(best)
        assert row.tolist() == [a for a in best for _ in range(each)] + (columns - each * len(best)) * [int(REDRAW)]


@pytest.mark.parametrize("epsilon", [0.0, 0.23, 0.8, 1.0])
def test_rollouts_read_the_table_by_one_number(epsilon):
    """Below epsilon the number is stretched over all actions, above it over the best ones; REDRAW takes another."""
    P = np.array([[0, 0, 2, 4, 4, REDRAW, 1], [3, 1, 1, 1, REDRAW, 2, 0], [0, 1, 2, 3, 4, REDRAW, REDRAW]], np.uint16)
    mine, theirs = default_rng(2), default_rng(2)
    for i in range(300):
        while True:
            u = theirs.random()
            if u < epsilon:
                a = P[2][int(7 * u / epsilon)]
            else:
                a = P[i % 2][min(int(7 * (u - epsilon) / (1.0 - epsilon)), 6)]
            if a != REDRAW:
                break
        with np.errstate(divide="ignore"):
            assert uncompiled(greedy_rollout)(None, P, i % 2, -1, np.float64(epsilon), mine) == a


class Told:
    """A generator whose next number is known."""

    def __init__(self, number):
        self.random = lambda: number


def test_numbers_at_the_ends():
    """A number equal to the mass draws the first ball; stretched numbers that round up stay in the last column."""
    first = Transition(1, 0, float(OUTCOMES.reward[1, 0, 0]), int(SUCC[1, 0, 0]))
    belief = b.DirichletMDP(OUTCOMES, np.where(ALPHA > 0.0, 1.0, 0.0), 0.83).update_many([first, first])
    model = belief.simulate(0)  # group 2: mass 3, two balls of outcome 0; a number of .6 is the mass
    assert uncompiled(draw_dirichlet)(model, 2, Told(0.6)) == 0
    assert uncompiled(draw_dirichlet)(model, 2, Told(0.2)) == 1  # u = 1: the second of equal counts
    P = np.array([np.arange(60), np.arange(100, 160)], np.uint16)
    roll = uncompiled(greedy_rollout)
    assert roll(None, P, 0, -1, np.float64(0.23), Told(np.nextafter(0.23, 0.0))) == 159
    assert roll(None, P, 0, -1, np.float64(0.1), Told(1.0 - 2.0**-53)) == 59
    assert roll(None, P, 0, -1, np.float64(0.5), Told(0.5)) == 0
