"""Simulators of hidden states beside plain Python with the same random numbers: a known POMDP, and hyper-states."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.kernels.jit import plain
from bayesrl.kernels.simulators import hidden_model, hyper_urn
from bayesrl.kernels.simulators.hidden_model import HiddenModel, Rooted, cumulative, rooted
from bayesrl.kernels.simulators.simulator import begin, forget, mask_illegal, rollout_action, root, step

S, A, Z, K, L = 4, 3, 5, 3, 2
GROUP, SIZE = np.array([[0, 1, 2], [2, 3, 0], [1, 0, 3], [3, 3, 3]]), np.array([3, 2, 3, 1])
SUCC = np.array([np.roll([0, 1, 2, 3], s + a)[:K] for s in range(S) for a in range(A)]).reshape(S, A, K)
SIGN_GROUP, SIGN_SIZE = np.array([[1, 0, 2], [0, 2, 1], [2, 1, 1], [0, 1, 2]]), np.array([1, 2, 2])
SIGN = np.array([np.roll(range(Z), 2 * s + a)[:L] for s in range(S) for a in range(A)]).reshape(S, A, L)
PROB = np.array([[0.2, 0.5, 0.3], [0.65, 0.35, 0.0], [0.0, 0.9, 0.1], [1.0, 0.0, 0.0]])
SIGN_PROB = np.array([[1.0, 0.0], [0.25, 0.75], [0.6, 0.4]])
TERMINAL = np.array([False, False, False, True])
REWARDS = default_rng(0).normal(size=(S, A, S, Z)) + 0.2


@pytest.fixture(autouse=True)
def not_compiled(uncompiled):
    uncompiled(hidden_model, hyper_urn)


def kernel(operation, model):
    """The Python function that implements an operation for this simulator."""
    return plain(operation.dispatch(type(model)))


def drawn(p, rng):
    """Inverse of the cumulative probabilities; the last of positive probability gets what rounding leaves."""
    if len(p) == 1:
        return 0
    u, last = rng.random(), int(np.flatnonzero(p)[-1])
    return min(int((u >= np.cumsum(p)).sum()), last)


def test_cumulative_probabilities():
    """Sums up to each entry; infinite from the last positive one on, so that rounding never draws another."""
    found = cumulative(np.array([[0.2, 0.0, 0.3, 0.5, 0.0], [0.0, 0.7, 0.2, 0.1, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]]))
    inf = np.inf
    expected = [[0.2, 0.2, 0.5, inf, inf], [0.0, 0.7, 0.9, inf, inf], [0.0, 0.0, inf, inf, inf]]
    np.testing.assert_allclose(found, expected)


def test_draws_by_binary_search():
    """The first entry above the number, for every length; one entry takes no number."""
    for n in range(1, 9):
        p = default_rng(n).dirichlet(np.ones(n))
        cdf, mine, theirs = np.vstack([np.zeros((1, n)), cumulative(p[None])]), default_rng(1), default_rng(1)
        for _ in range(40):
            assert hidden_model.draw_by(cdf, 1, n, mine) == drawn(p, theirs)
        assert mine.random() == theirs.random()
    edge = np.array([[0.0, 0.5, np.inf]])  # a number below .5 is not below 0

    class Half:
        def random(self):
            return 0.5

    assert hidden_model.draw_by(edge, 0, 3, Half()) == 2


@pytest.mark.parametrize("axes", [2, 3, 4])
@pytest.mark.parametrize("some_barred", [False, True])
def test_a_known_pomdp(axes, some_barred):
    """Steps, starts, illegal actions and rollouts; rewards that depend on the next state and what is seen, or not."""
    reward = REWARDS[:, :, : S if axes > 2 else 1, : Z if axes > 3 else 1]
    legal = np.ones((S, A), bool)
    legal[0, 1] = legal[2, 0] = legal[2, 2] = False
    model = HiddenModel(
        np.zeros(0, np.int64), np.zeros((1, 0)), SUCC, GROUP, SIZE, cumulative(PROB), SIGN, SIGN_GROUP, SIGN_SIZE,
        cumulative(SIGN_PROB), reward, TERMINAL, legal if some_barred else np.zeros((0, A), bool),
    )  # fmt: skip
    start = np.array([0.3, 0.0, 0.45, 0.25])
    model = rooted(model, start)
    assert model.states.tolist() == [0, 2, 3]
    mine, theirs = default_rng(2), default_rng(2)
    begin_, root_, step_, roll = (kernel(x, model) for x in (begin, root, step, rollout_action))
    for i in range(80):
        begin_(model, mine)
        assert root_(model, 1, mine) == [0, 2, 3][drawn(start[[0, 2, 3]], theirs)]
        s, a = i % S, i % A
        g = GROUP[s, a]
        y = int(SUCC[s, a, drawn(PROB[g, : SIZE[g]], theirs)])
        h = SIGN_GROUP[y, a]
        o = int(SIGN[y, a, drawn(SIGN_PROB[h, : SIGN_SIZE[h]], theirs)])
        paid = REWARDS[s, a, y if axes > 2 else 0, o if axes > 3 else 0]
        assert step_(model, s, a, mine) == (o, y, paid, y == 3, 0)
        kernel(forget, model)(model, np.zeros(1, np.int64), 1)
        Q, N = np.zeros((2, A)), np.zeros((2, A), np.int64)
        kernel(mask_illegal, model)(model, s, Q, N, 1)
        masked = ~legal[s] if some_barred else np.zeros(A, bool)
        assert Q[1].tolist() == [-np.inf if x else 0.0 for x in masked]
        assert N[1].tolist() == masked.tolist()
        assert not Q[0].any()
        table = np.array([[0, 1, 2]] * (S + 1), np.uint16)
        while True:
            u = theirs.random()
            a = int(3 * u / 0.4) if u < 0.4 else min(int(3 * (u - 0.4) / 0.6), 2)
            if not masked[a]:
                break
        assert roll(model, table, s, 0, 0.4, mine) == a
    assert mine.random() == theirs.random()


class Inner(NamedTuple):
    """A world whose every answer can be told apart."""

    shift: int


@root.register(Inner)
def _(model, s, rng):
    return model.shift + s


@step.register(Inner)
def _(model, s, a, rng):
    return s, a, model.shift + 0.5, True, 7


@rollout_action.register(Inner)
def _(model, table, s, a, epsilon, rng):
    return (model.shift, s, a, epsilon, len(table))


@mask_illegal.register(Inner)
def _(model, s, Q, N, h):
    Q[h], N[h] = s, model.shift


def test_a_rooted_world_asks_the_world():
    """All but the first state is the world's own; without a sample that is too."""
    inner, rng, table = Inner(30), default_rng(0), np.zeros((2, 2))
    none = Rooted(np.zeros(0, np.int64), np.zeros((1, 0)), inner)
    some = Rooted(np.array([5, 8]), cumulative(np.array([[0.3, 0.7]])), inner)
    assert kernel(root, none)(none, 4, rng) == 34
    found = [kernel(root, some)(some, 4, default_rng(i)) for i in range(20)]
    assert found == [5 if default_rng(i).random() < 0.3 else 8 for i in range(20)]
    assert kernel(step, some)(some, 3, 2, rng) == (3, 2, 30.5, True, 7)
    assert kernel(rollout_action, some)(some, table, 3, 2, 0.4, rng) == (30, 3, 2, 0.4, 2)
    Q, N = np.zeros((2, A)), np.zeros((2, A))
    kernel(mask_illegal, some)(some, 6, Q, N, 1)
    assert (Q.tolist(), N.tolist()) == ([[0.0] * A, [6.0] * A], [[0.0] * A, [30.0] * A])
    assert kernel(begin, some)(some, rng) is None
    assert kernel(forget, some)(some, np.zeros(1), 1) is None


# Hyper-states --------------------------------------------------------------------------------------------------------

ALPHA = np.array(
    [
        [0.4, 0.9, 0.3],
        [1.3, 0.2, 0.0],
        [0.6, 0.8, 0.5],
        [1.0, 0.0, 0.0],
        [0.7, 0.0, 0.0],
        [0.3, 0.7, 0.0],
        [0.9, 1.6, 0.0],
    ]
)
"""Rows of moves, then of signs; the fourth and the sixth are known."""
SIZES = np.array([3, 2, 3, 1, 1, 2, 2])
LEARNT = np.array([True, True, True, False, True, False, True])
MOVE, SHOW = GROUP, SIGN_GROUP + 4
STATES = [0, -1, 2]
COUNTED = [{(0, 1): 2, (2, 0): 1, (2, 2): 3}, {}, {(0, 0): 1, (1, 1): 1, (2, 1): 2, (6, 1): 1, (6, 0): 2}]
WEIGHT = np.array([0.2, 0.5, 0.3])
START = np.array([0.0, 0.6, 0.4, 0.0])


class PlainHyper:
    """Hyper-states as dicts of counts, and the balls of the running simulation."""

    def __init__(self, bound):
        self.bound = bound

    def begin(self, rng):
        self.now, self.balls = drawn(WEIGHT, rng), {}

    def root(self, rng):
        return STATES[self.now] if STATES[self.now] >= 0 else [1, 2][drawn(START[1:3], rng)]

    def draw(self, r, rng):
        prior = ALPHA[r, : SIZES[r]]
        if not LEARNT[r]:
            return drawn(prior, rng)
        counted = [k for (row, k), n in sorted(COUNTED[self.now].items()) if row == r for _ in range(n)]
        balls, mass = counted + self.balls.setdefault(r, []), prior.sum()
        u = rng.random() * (mass + len(balls))
        k = min(int((u >= np.cumsum(prior)).sum()), len(prior) - 1) if u < mass else balls[int(u - mass)]
        if mass + len(balls) < self.bound:
            self.balls[r].append(k)
        return k


def made(bound, depth):
    first = np.cumsum([0, *map(len, COUNTED)])
    cells = [(r * K + k, n) for counted in COUNTED for (r, k), n in sorted(counted.items())]
    cell, times = np.array(cells).T
    alpha = ALPHA.copy()
    alpha[3, 1:] = 0.0
    priors = hyper_urn.priors(START, SUCC, MOVE, SIGN, SHOW, alpha, SIZES, LEARNT, REWARDS, TERMINAL)
    urn = hyper_urn.hyper_urn(priors, WEIGHT, np.array(STATES), first, cell, times, bound, depth)
    return priors, urn


@pytest.mark.parametrize("bound", [1e100, 4.5])
def test_simulations_of_hyper_states(bound):
    """Steps of fifty simulations from drawn hyper-states; rows that are full get no more balls."""
    priors, model = made(bound, 14)
    plain_, mine, theirs = PlainHyper(bound), default_rng(3), default_rng(3)
    begin_, root_, step_ = (kernel(x, model) for x in (begin, root, step))
    for i in range(50):
        begin_(model, mine)
        plain_.begin(theirs)
        assert model.now.tolist() == [plain_.now, i + 1]
        s = root_(model, 9, mine)
        assert s == plain_.root(theirs)
        for t in range(7):
            a = (i + t * t) % A
            y = int(SUCC[s, a, plain_.draw(MOVE[s, a], theirs)])
            o = int(SIGN[y, a, plain_.draw(SHOW[y, a], theirs)])
            assert step_(model, s, a, mine) == (o, y, REWARDS[s, a, y, o], y == 3, 0)
            s = s if t % 2 else y
        kernel(forget, model)(model, np.zeros(7, np.int64), 7)
        for r in range(len(SIZES)):
            row = model.rows[r]
            if LEARNT[r] and r in plain_.balls:
                counted = sum(n for (x, _), n in COUNTED[plain_.now].items() if x == r)
                assert (row.count, row.seen) == (len(plain_.balls[r]), counted)
                assert row.total == pytest.approx(ALPHA[r, : SIZES[r]].sum() + row.count + row.seen)
    assert not priors.rows["count"].any(), "the shared rows are not touched"
    assert mine.random() == theirs.random()


def test_rows_of_hyper_states():
    """Masses, last entries, cumulative counts, and room for the balls of each row that learns."""
    priors, model = made(1e100, 6)
    assert priors.starts.tolist() == [1, 2]
    np.testing.assert_allclose(priors.start, [[0.6, np.inf]])
    np.testing.assert_allclose(model.below, [[0.2, 0.7, np.inf]])
    np.testing.assert_allclose(priors.rows["mass"], ALPHA.sum(axis=1))
    assert priors.rows["last"].tolist() == (SIZES - 1).tolist()
    for r, n in enumerate(SIZES):
        np.testing.assert_allclose(priors.cdf[r, : n - 1], np.cumsum(ALPHA[r])[: n - 1])
        assert np.isinf(priors.cdf[r, n - 1 :]).all()
    learnt = np.flatnonzero(LEARNT)
    assert model.rows["first"][learnt].tolist() == [6 * i for i in range(len(learnt))]
    assert len(model.balls) == 6 * len(learnt)
    assert model.now.tolist() == [0, 0]


def test_a_number_beyond_the_sum_draws_the_last_of_hyper_states():
    """Rounding can lead there; here totals are made too large: the last entry, the last cell counted, the last ball."""
    rng = default_rng(0)
    for now, r, balls, expected in ((1, 0, (), 2), (0, 2, (), 2), (0, 2, (0, 1), 1), (2, 6, (), 1)):
        _, model = made(0.0, 6)
        model.now[:] = now, 1
        row = model.rows[r]
        hyper_urn.touch(model, r, row)
        for i, k in enumerate(balls):
            model.balls[row.first + i] = k
        row.count = len(balls)
        if row.seen == 0:
            row.mass *= 1e12
        row.total = row.mass if row.seen == 0 else 1e12
        assert hyper_urn.draw_from(model, r, rng) == expected
