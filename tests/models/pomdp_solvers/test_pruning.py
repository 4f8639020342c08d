"""The parts of pruning, each against a plain computation: lines, games, and the sets that are kept."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.models.pomdp_solvers import _pruning
from bayesrl.models.pomdp_solvers._pruning import (
    IN,
    OPEN,
    OUT,
    TooMany,
    best_at,
    by_highs,
    clearly_best,
    crossing,
    drop_below,
    envelope,
    excess,
    largest_excess,
    lark,
    played,
    prune,
    solve_game,
)


def needed(vectors, slack):
    """Places of the vectors that exceed all others at some belief, each by its own linear program."""
    return [i for i in range(len(vectors)) if by_highs(vectors[i] - np.delete(vectors, i, axis=0))[0] > slack]


# Two states ----------------------------------------------------------------------------------------------------------


def test_lines():
    """Where two lines meet; how far a third is above them there, and at the nearer end if they do not meet inside."""
    rng = default_rng(0)
    for _ in range(50):
        x, y, z = rng.normal(size=(3, 2))
        p = crossing(x, z)
        at = np.array([1.0 - p, p])
        assert at @ x == pytest.approx(at @ z, abs=1e-9 * (1.0 + abs(p)))
        x, z = (x, z) if x[1] - x[0] < z[1] - z[0] else (z, x)
        p = min(max(crossing(x, z), 0.0), 1.0)
        at = np.array([1.0 - p, p])
        assert excess(y, x, z) == pytest.approx(at @ y - max(at @ x, at @ z), abs=1e-12)


def test_upper_envelope():
    """Against the vectors that are best somewhere on a fine grid; a witness is in the middle of where each is best."""
    grid = np.linspace(0.0, 1.0, 20_001)
    for seed in range(12):
        vectors = default_rng(seed).normal(size=(3 + seed, 2)) * 3.0
        values = (1.0 - grid)[:, None] * vectors[:, 0] + grid[:, None] * vectors[:, 1]
        best = np.argmax(values, axis=1)
        kept, witness = envelope(vectors, 1e-10)
        order = [int(best[0]), *(int(j) for i, j in pairwise(best) if i != j)]  # from 0 to 1
        assert kept.tolist() == order
        assert prune(vectors, np.zeros((0, 2)), 1e-10)[0].tolist() == order
        for i, x in zip(kept, witness, strict=True):
            assert x.sum() == pytest.approx(1.0, abs=1e-15)
            assert x[1] == pytest.approx(grid[best == i][[0, -1]].mean(), abs=1e-4)


@pytest.mark.parametrize("slack", [1e-10, 0.01])
def test_an_envelope_ignores_what_exceeds_by_the_slack(slack):
    """A line above the envelope at one end, or where two lines meet, by half the slack and by twice the slack."""
    two = np.array([[1.0, 0.0], [0.0, 1.0]])
    for above, kept in ((0.5, 2), (2.0, 3)):
        for line in ([0.5 + above * slack] * 2, [1.0 + above * slack, -0.5], [-0.5, 1.0 + above * slack]):
            for place in range(3):
                assert len(envelope(np.insert(two, place, line, axis=0), slack)[0]) == kept, line
    # of lines that agree within the slack one stays
    assert len(envelope(np.vstack([two, two + 0.5 * slack]), slack)[0]) == 2
    assert len(envelope(np.vstack([two + 0.5 * slack, two]), slack)[0]) == 2
    # a line that is best at both ends is alone
    kept, witness = envelope(np.vstack([two, [[2.0, 3.0]]]), slack)
    assert kept.tolist() == [2]
    assert witness.tolist() == [[0.5, 0.5]]


# Games ---------------------------------------------------------------------------------------------------------------


def tableau(M):
    """The simplex method in numpy: the steepest column enters; of equal ratios the smallest basic variable leaves."""
    n, S = M.shape
    body = np.hstack([1.0 + (M.T - M.min()) / (M.max() - M.min()), np.eye(S), np.ones((S, 1))])
    table = np.vstack([body, np.append(-np.ones(n), np.zeros(S + 1))])
    basis, pivots = np.arange(n, n + S), 0
    while table[-1, :-1].min() < -1e-12:
        enter = int(np.argmin(table[-1, :-1]))
        column = table[:-1, enter]
        ratio = np.where(column > 1e-11, table[:-1, -1] / np.where(column > 1e-11, column, 1.0), np.inf)
        leave = min(np.flatnonzero(ratio == ratio.min()), key=lambda s: basis[s])
        table[leave] /= table[leave, enter]
        for s in range(S + 1):
            if s != leave:
                table[s] -= table[s, enter] * table[leave]
        basis[leave], pivots = enter, pivots + 1
    y = np.zeros(n + S)
    y[basis] = table[:-1, -1]
    return y[:n] / y[:n].sum(), table[-1, n:-1] / table[-1, n:-1].sum(), (1 + pivots) * table.size


@pytest.mark.parametrize("rounded", [False, True])
def test_games_equal_their_transcription(rounded):
    """Weights, beliefs and the entries changed, on generic games, and on whole numbers, where ratios are equal."""
    rng, pivots = default_rng(1), set()
    for _ in range(25):
        n, S = rng.integers(2, 9, size=2)
        M = rng.integers(-2, 3, size=(n, S)).astype(float) if rounded else 40.0 * rng.normal(size=(n, S)) - 7.0
        if M.min() == M.max():
            continue
        (low, high, b, weight), changed = played(M)
        exact = tableau(M)
        np.testing.assert_allclose(weight, exact[0], atol=1e-12)
        np.testing.assert_allclose(b, exact[1], atol=1e-12)
        assert changed == exact[2]
        pivots.add(changed // ((S + 1) * (n + S + 1)))
        assert low == pytest.approx((M @ b).min(), abs=1e-12)
        assert high == pytest.approx((weight @ M).max(), abs=1e-12)
        assert high == pytest.approx(low, abs=1e-10)
        assert solve_game(M)[:2] == (low, high)
    assert len(pivots) > 3


def test_a_game_of_equal_entries():
    """Whatever is played, the value is the entry."""
    for entry in (0.0, -3.5):
        low, high, b, weight = solve_game(np.full((3, 4), entry))
        assert low == pytest.approx(entry, abs=1e-15)
        assert high == pytest.approx(entry, abs=1e-15)
        assert b.sum() == pytest.approx(1.0)
        assert weight.sum() == pytest.approx(1.0)


def test_highs_on_games_in_closed_form():
    """2 x 2 games without a saddle: value, belief and weights by formulas; and games of other sizes by both methods."""
    for scale in (1.0, 300.0, 1e-6):
        M = scale * np.array([[3.0, -1.0], [-2.0, 5.0]])
        low, high, b, weight = by_highs(M)
        assert low == pytest.approx(scale * 13.0 / 11.0, rel=1e-9)
        assert high == pytest.approx(scale * 13.0 / 11.0, rel=1e-9)
        np.testing.assert_allclose(b, [6.0 / 11.0, 5.0 / 11.0], atol=1e-9)
        np.testing.assert_allclose(weight, [7.0 / 11.0, 4.0 / 11.0], atol=1e-9)
    for seed in range(4):
        M = default_rng(seed).normal(size=(3 + seed, 4))
        low, high, b, weight = by_highs(M)
        mine = solve_game(M)
        assert low == pytest.approx(mine[0], abs=1e-9)
        assert high == pytest.approx(mine[1], abs=1e-9)
        np.testing.assert_allclose(b, mine[2], atol=1e-7)
        np.testing.assert_allclose(weight, mine[3], atol=1e-7)
    assert by_highs(np.zeros((2, 3)))[:2] == (0.0, 0.0)


def test_a_program_that_fails_gives_bounds_all_the_same(monkeypatch):
    """Uniform belief and weights."""
    import scipy.optimize

    class Failed:
        x = None

    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: Failed())
    M = default_rng(0).normal(size=(3, 4))
    low, high, b, weight = by_highs(M)
    assert b.tolist() == [0.25] * 4
    assert weight.tolist() == [1.0 / 3.0] * 3
    assert low == pytest.approx(M.mean(axis=1).min(), abs=1e-15)
    assert high == pytest.approx(M.mean(axis=0).max(), abs=1e-15)


def test_the_largest_excess(monkeypatch):
    """The best of all programs; nothing if all are below; the same if the compiled programs are useless."""
    rng = default_rng(3)
    vectors, upper = rng.normal(size=(5, 4)), rng.normal(size=(4, 4)) + 0.3
    exact = max(by_highs(u - vectors)[1] for u in upper)
    assert exact > 0.1
    assert largest_excess(upper, vectors) == pytest.approx(exact, abs=1e-10)
    assert largest_excess(upper[::-1], vectors) == pytest.approx(exact, abs=1e-10)
    assert largest_excess(vectors - 0.1, vectors) == 0.0
    assert largest_excess(vectors, vectors) == 0.0
    assert largest_excess(vectors + 0.25, vectors) >= 0.25 - 1e-12
    assert largest_excess(np.zeros((1, 4)), np.zeros((1, 4))) == 0.0
    monkeypatch.setattr(_pruning, "solve_game", lambda M: (-9.0, 9.0, None, None))
    assert largest_excess(upper, vectors) == pytest.approx(exact, abs=1e-10)


def test_programs_that_are_accurate_are_trusted(monkeypatch):
    """Up to 1e-12 of the largest entry, of either set; what is less accurate is solved again."""
    vectors, upper = np.array([[50.0, -200.0, 3.0]]), np.array([[51.0, 100.0, 5.0]])
    for sets in ((upper, vectors), (-vectors, -upper)):
        for error, value in ((1.9e-10, 7.0), (2.1e-10, 300.0)):
            monkeypatch.setattr(_pruning, "solve_game", lambda M, error=error: (7.0 - error, 7.0, None, None))
            assert largest_excess(*sets) == pytest.approx(value, abs=1e-9)


# Sets ----------------------------------------------------------------------------------------------------------------


def test_what_is_below_another_is_dropped():
    """By more than the slack somewhere and by no more than it elsewhere; of equal ones the first stays."""
    vectors = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 2.0], [1.05, 1.95, 3.0], [0.0, 9.0, 0.0], [1.05, 1.5, 3.05]])
    for slack, out in ((1e-9, [1]), (0.1, [1, 2, 4]), (0.04, [1])):
        state = np.zeros(5, np.int64)
        drop_below(vectors, state, slack)
        assert np.flatnonzero(state == OUT).tolist() == out
    reverse = np.zeros(5, np.int64)
    drop_below(vectors[::-1].copy(), reverse, 0.1)
    assert np.flatnonzero(reverse == OUT).tolist() == [0, 3, 4]  # of 2 and 0, which agree, 2 comes first
    already = np.array([OUT, OPEN, OPEN], np.int64)
    drop_below(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 2.0], [0.0, 0.0, 9.0]]), already, 1e-9)
    assert already.tolist() == [OUT, OPEN, OPEN]  # nothing is below one that is out


def test_the_best_at_a_belief():
    """Among those that are not out; ties to the largest in the first entry that differs, in any order of the set."""
    b = np.array([0.25, 0.5, 0.25])
    vectors = np.array([[2.0, 0.0, 2.0], [0.0, 1.0, 2.0], [0.0, 2.0, 0.0], [9.0, 9.0, 9.0], [0.5, 0.5, 0.5]])
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 3, 1, 4], [1, 3, 4, 0, 2]):
        state = np.where(np.array(order) == 3, OUT, np.where(np.array(order) == 1, IN, OPEN))
        assert order[best_at(vectors[order], state, b)] == 0
        state[order.index(0)] = OUT
        assert order[best_at(vectors[order], state, b)] == 2
        state[order.index(2)] = OUT
        assert order[best_at(vectors[order], state, b)] == 1
    almost = np.array([[0.0, 1.0], [1.0, 1e-14], [2.0, -1.0 - 1e-11]])
    assert best_at(almost, np.zeros(3, np.int64), np.array([0.5, 0.5])) == 1  # the third is lower by more than 1e-13
    assert best_at(-5.0 - almost, np.zeros(3, np.int64), np.array([0.5, 0.5])) == 2
    assert best_at(almost - 7.0, np.zeros(3, np.int64), np.array([0.5, 0.5])) == 1


def test_clearly_best():
    """By more than the slack above all others that are not out."""
    vectors, b = np.array([[1.0, 0.0], [0.0, 2.0], [0.75, 0.0], [5.0, 5.0]]), np.array([0.8, 0.2])
    state = np.array([OPEN, IN, OPEN, OUT], np.int64)
    for slack, clear in ((0.0, True), (0.19, True), (0.21, False)):
        assert clearly_best(vectors, state, b, 0, slack) is clear
    assert not clearly_best(vectors, state, b, 1, 0.0)
    equal = np.array([[1.0, 0.5], [1.0, 0.5]])
    assert not clearly_best(equal, np.zeros(2, np.int64), np.array([0.5, 0.5]), 0, 0.0)
    assert clearly_best(equal[:1], np.zeros(1, np.int64), np.array([0.5, 0.5]), 0, 0.0)


@pytest.mark.parametrize("S", [3, 4])
def test_pruning_keeps_what_is_needed(S):
    """The same places as a linear program for each vector, with and without guesses; each has its witness."""
    for seed in range(4):
        rng = default_rng(seed)
        vectors = rng.normal(size=(14, S)) + 2.0 * np.eye(S)[rng.integers(S, size=14)] * (seed % 2)
        exact = needed(vectors, 1e-9)
        assert 3 < len(exact) < 14
        for guesses in (np.zeros((0, S)), rng.dirichlet(np.ones(S), 6)):
            kept, witness = prune(vectors, guesses, 1e-10)
            assert kept.tolist() == exact
            np.testing.assert_allclose(witness.sum(axis=1), 1.0, atol=1e-12)
            best = witness @ vectors.T
            np.testing.assert_array_equal(np.argmax(best, axis=1), kept)
    assert prune(np.array([[1.0, -2.0, 0.5]]), np.zeros((0, 3)), 1e-10)[0].tolist() == [0]


def test_a_guess_saves_a_program():
    """A vector that is best at a guess, and at no corner, needs no linear program."""
    vectors = np.vstack([np.eye(3), np.full((1, 3), 0.5)])
    left = np.array([1000])
    kept, witness = prune(vectors, np.array([[0.4, 0.3, 0.3]]), 1e-10, left)
    assert kept.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(witness, np.vstack([np.eye(3), [[0.4, 0.3, 0.3]]]))
    assert left[0] == 1000


def test_a_slack_leaves_out_what_exceeds_by_less():
    """The middle one exceeds the three corners' by .1 at the centre."""
    vectors = np.vstack([np.eye(3), np.full((1, 3), 1.0 / 3.0 + 0.1)])
    for slack, kept in ((0.09, 4), (0.11, 3)):
        for guesses in (np.zeros((0, 3)), np.full((1, 3), 1.0 / 3.0)):
            for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
                found = prune(vectors[order], guesses, slack)[0]
                assert len(found) == kept


def test_equal_values_at_all_corners():
    """No vector is clearly best at a corner, so that one is put in at the centre; the set is complete all the same."""
    vectors = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    kept, witness = prune(vectors, np.zeros((0, 4)), 1e-10)
    points = default_rng(0).dirichlet(np.ones(4), 300)
    np.testing.assert_allclose((points @ vectors[kept].T).max(axis=1), (points @ vectors.T).max(axis=1), atol=1e-12)
    assert len(witness) == len(kept) == len(needed(vectors[kept], 1e-9))


def test_entries_run_out():
    """Nothing more is asked once no entries are left, and what is undecided stays open; prune says so."""
    vectors = np.vstack([np.eye(3), default_rng(0).dirichlet(np.ones(3), 5) * 0.3 + 0.35])
    left = np.array([0])
    state, _ = lark(vectors, np.zeros((0, 3)), 1e-10, left)
    assert state[:3].tolist() == [IN] * 3
    assert (state[3:] != IN).all()
    assert (state == OPEN).any()
    assert left[0] == 0
    cost = 10**6
    left = np.array([cost])
    prune(vectors, np.zeros((0, 3)), 1e-10, left)
    cost -= left[0]
    with pytest.raises(TooMany, match="linear programs that change more entries than are allowed"):
        prune(vectors, np.zeros((0, 3)), 1e-10, np.array([cost]))
    prune(vectors, np.zeros((0, 3)), 1e-10, np.array([cost + 1]))


def test_what_is_open_is_decided_by_highs(monkeypatch):
    """Each open vector against those that are in: by the upper bound of its excess, and the slack."""
    vectors = np.vstack([np.eye(3), [[0.4] * 3, [0.5] * 3, [0.3] * 3]])

    def undecided(vectors, guesses, slack, left):
        return np.array([IN, IN, IN, OPEN, OPEN, OUT]), np.vstack([np.eye(3), np.zeros((3, 3))])

    monkeypatch.setattr(_pruning, "lark", undecided)
    for slack, kept in ((0.05, [0, 1, 2, 3, 4]), (0.07, [0, 1, 2, 4]), (0.2, [0, 1, 2])):
        found, witness = prune(vectors, np.zeros((0, 3)), slack)
        assert found.tolist() == kept
        np.testing.assert_array_equal(witness[:3], np.eye(3))
        for x in witness[3:]:
            assert x.sum() == pytest.approx(1.0)
