"""The parts of the retirement problem and of its calibration, each against its formula or a whole lattice."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.kernels.dynamic_programming import gittins_roots as calibration
from bayesrl.kernels.dynamic_programming import retirement
from bayesrl.kernels.dynamic_programming.retirement import LANES, Lattice

LATTICE = Lattice(1.3, 2.6, 0.83, 17, 4.9, True, 1e-3)


@pytest.fixture(autouse=True)
def not_compiled(uncompiled):
    uncompiled(retirement, calibration)


# Retirement ----------------------------------------------------------------------------------------------------------


def test_the_bonus_of_the_last_row():
    """The smaller of two bounds: by the variance of the mean after k = gamma / (1 - gamma) plays, and by Chernoff's."""
    k, n = 0.83 / 0.17, 20.9
    which = set()
    for p in (0.13, 0.4, 0.77):
        for lam in (0.05, 0.13, 0.35, 0.41, 0.8):
            d = abs(p - lam)
            variance = p * (1 - p) * k / ((n + 1) * (n + k))
            bounds = (math.hypot(d, math.sqrt(variance)) - d) / 2, math.sqrt(math.pi / 8 / n) / math.exp(2 * n * d**2)
            which.add(int(np.argmin(bounds)))
            assert retirement.bonus(p, lam, n, LATTICE) == pytest.approx(4.9 * min(bounds), rel=1e-12)
    assert which == {0, 1}


def test_the_margin_of_the_band():
    """d of exp(-n d^2 / 2v) G sqrt(pi / 8n) gamma^rows = little, with v the largest x (1 - x) between lambda and p."""
    n, little = 20.9, 1e-4
    for rows in (0, 5, 300):
        logs = max(math.log(4.9 * math.sqrt(math.pi / (8 * n)) * 0.83**rows / little), 0.0)
        for lam in (0.03, 0.2, 0.45, 0.5, 0.62, 0.97):
            x = max(lam, min(0.5, lam + math.sqrt(logs / (2 * n))))
            found = retirement.band_margin(lam, n, rows, little, LATTICE)
            assert found == pytest.approx(n * math.sqrt(2 * x * (1 - x) * logs / n), rel=1e-12)
    assert found == 0.0


@pytest.mark.parametrize("overvalued", [False, True])
@pytest.mark.parametrize("lam", [(0.2, 0.55), (0.0, 1.0), (0.48, 0.52), (0.001, 0.003), (0.995, 0.999)])
def test_the_band(overvalued, lam):
    """Successes at which the mean is between the incomes, rounded outwards, with margins if there is a bonus."""
    lattice, n = LATTICE._replace(overvalued=overvalued), 1.3 + 2.6 + 17
    first, last = n * lam[0] - 1.3, n * lam[1] - 1.3
    if overvalued:
        first -= retirement.band_margin(1.0 - lam[0], n, 3, 1e-3, lattice)
        last += retirement.band_margin(lam[1], n, 3, 1e-3, lattice)
    inside = [t for t in range(18) if first < t + 1 and t - 1 < last]
    found = retirement.band(np.array([lam[1], lam[0], 0.5 * sum(lam)]), 17, 3, 1e-3, lattice)
    expected = (inside[0], inside[-1]) if inside else found
    assert found == expected
    assert 0 <= found[0] <= 17
    assert 0 <= found[1] <= 17


def test_rows_and_their_parts():
    """Each loop over a row against the same formula with arrays (t, lane)."""
    rng, n = default_rng(0), 5
    Y, A = rng.uniform(0.1, 2.0, (n + 4, LANES)), np.repeat(1.3 + np.arange(n + 4.0), LANES).reshape(-1, LANES)
    lam = rng.uniform(0.2, 0.8, LANES)
    Lam, w, gamma, G = np.broadcast_to(lam, A.shape), 0.21, 0.83, 4.4
    flat = [np.ascontiguousarray(x).ravel() for x in (Y, A, Lam)]
    p = A[:n] * w
    keep = (Lam[:n] - p) * G
    go = gamma * ((1 - p) * Y[:n] + p * Y[1 : n + 1])
    Z = np.empty(n * LANES)
    retirement.value_of_play(flat[0][: (n + 1) * LANES], flat[1][: n * LANES], w, gamma, Z)
    np.testing.assert_allclose(Z.reshape(n, LANES), go, rtol=1e-12)
    args = flat[0][: (n + 1) * LANES], flat[1][: n * LANES], flat[2][: n * LANES]
    retirement.play_or_retire(*args, w, gamma, G, Z)
    np.testing.assert_allclose(Z.reshape(n, LANES), np.maximum(keep, go), rtol=1e-12)
    assert (keep > go).any()
    assert (keep < go).any()
    retirement.retire(flat[1], flat[2], w, G, Z)
    np.testing.assert_allclose(Z.reshape(n, LANES), keep, rtol=1e-12)
    taps, V = rng.uniform(0.1, 1.0, 5), np.empty(n * LANES)
    retirement.jump_rows(flat[0], taps, V)
    np.testing.assert_allclose(V.reshape(n, LANES), sum(taps[j] * Y[j : j + n] for j in range(5)), rtol=1e-12)
    out = np.zeros(LANES)
    retirement.scale(flat[0][LANES:], 2.7, out)
    np.testing.assert_allclose(out, 2.7 * Y[1])
    for t in range(n):
        playing = retirement.count_playing(flat[0][t * LANES :], lam, 0.3, G)
        assert playing == (Y[t] > (lam - 0.3) * G).sum()
    assert retirement.count_playing((lam - 0.3) * G, lam, 0.3, G) == 0
    top = Y[2].max()
    assert retirement.negligible(flat[0][2 * LANES :], top)
    assert not retirement.negligible(flat[0][2 * LANES :], np.nextafter(top, 0.0))
    assert retirement.negligible(-flat[0], 0.0)


def test_weights_are_undone():
    """Y = U / h, where h is the ratio of the probabilities of t successes: h(t - 1) / h(t) = odds b / a."""
    rng, row, odds = default_rng(1), 14, 1.9
    U, Y = rng.uniform(0.1, 2.0, (9, LANES)), np.zeros((9, LANES))
    flat = Y.ravel()
    retirement.unweigh(U.ravel(), 3, 6, 0.6, odds, row, LATTICE, flat)
    weight = 0.6
    for t in range(9):
        weight *= odds * (2.6 + row - t) / (1.3 + t - 1.0) if 3 < t <= 6 else 1.0
        np.testing.assert_allclose(Y[t], weight * U[t] if 3 <= t <= 6 else 0.0, rtol=1e-12)


def test_the_advantage_of_a_state():
    """From the next row: below the band all retire, in it Y holds, above the array it is zero."""
    rng, lo, rows = default_rng(2), 3, 6
    Y, lam = rng.uniform(0.1, 2.0, (rows, LANES)), rng.uniform(0.2, 0.8, LANES)
    w, before, gamma, G = 0.11, 0.1, 0.83, 4.4
    whole = np.vstack([Y, np.zeros((3, LANES))])
    for t in range(lo):
        whole[t] = (lam - (1.3 + t) * before) * G
    for t in range(rows + 2):
        C, p = np.empty(LANES), (1.3 + t) * w
        retirement.advantage_of_state(Y.ravel(), t, lo, lam, 1.3, w, before, gamma, G, C)
        expected = (p - lam) * (1.0 + gamma * G) + gamma * (p * whole[t + 1] + (1.0 - p) * whole[t])
        np.testing.assert_allclose(C, expected, rtol=1e-12)


def whole_lattice(lam, t, r, lattice):
    """C of the states by the recursion on all posteriors; the last row is worth its bonus too if it is overvalued."""
    a0, b0, gamma, rows, tail, overvalued, _ = lattice
    C = np.empty((len(r), len(lam)))
    for l, x in enumerate(lam):
        p = (a0 + np.arange(rows + 1)) / (a0 + b0 + rows)
        Y, G = np.maximum(0.0, (x - p) * tail), tail
        if overvalued:
            Y = Y + [retirement.bonus(each, x, a0 + b0 + rows, lattice) for each in p]
        for row in range(rows - 1, -1, -1):
            p = (a0 + np.arange(row + 1)) / (a0 + b0 + row)
            play, G = gamma * (p * Y[1:] + (1.0 - p) * Y[:-1]), 1.0 + gamma * G
            here = r == row
            C[here, l] = (p[t[here]] - x) * G + play[t[here]]
            Y = np.maximum((x - p) * G, play)
    return C


@pytest.mark.parametrize("overvalued", [False, True])
@pytest.mark.parametrize("drop", [1e-9, 2e-3])
@pytest.mark.parametrize("wide, a0, b0", [(True, 1.3, 2.6), (False, 0.4, 5.2), (False, 6.1, 0.7), (False, 40.0, 0.4)])
def test_advantages_on_a_small_lattice(overvalued, drop, wide, a0, b0):
    """No more is missing than what may be dropped, which is much in the second case; nothing is added."""
    rng = default_rng(3)
    r, t = np.array([9, 9, 6, 2, 2, 0]), np.array([9, 2, 3, 0, 2, 0])
    middle = a0 / (a0 + b0)
    lam = np.sort(rng.uniform(0.01, 0.99, LANES)) if wide else np.sort(middle + rng.uniform(-0.05, 0.1, LANES))
    lam = np.minimum(lam, 0.5 * (middle + 1.0))  # near 1 the band reaches the last success
    lattice = Lattice(a0, b0, 0.83, 35, 1.0 / 0.17, overvalued, drop)
    C = np.empty((len(r), LANES))
    retirement.advantage(lam, t, r, lattice, C)
    missing = whole_lattice(lam, t, r, lattice) - C
    assert missing.min() > -1e-11
    assert missing.max() < drop


@pytest.mark.parametrize("a0, b0, gamma, rows, tail, low, high", [
    (39.6, 0.033, 0.97, 31, 1.0 / 0.03, 0.66, 0.89),
    (30.1, 1.27, 0.97, 54, 0.0, 0.64, 0.895),
    (11.7, 0.11, 1.0, 23, 0.0, 0.31, 0.78),
])  # fmt: skip
def test_advantages_of_an_arm_that_nearly_always_succeeds(a0, b0, gamma, rows, tail, low, high):
    """The band reaches the last success and is cut there, row after row. What is dropped above it stays below 1e-8."""
    r, t = np.array([3, 1, 0]), np.array([2, 1, 0])
    lam, lattice = np.linspace(low, high, LANES), Lattice(a0, b0, gamma, rows, tail, False, 1e-8)
    C = np.empty((len(r), LANES))
    retirement.advantage(lam, t, r, lattice, C)
    missing = whole_lattice(lam, t, r, lattice) - C
    assert missing.min() > -1e-11
    assert missing.max() < 1e-8


# Calibration ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma, tail", [(0.83, 4.9), (1.0, 0.0), (0.6, 0.0)])
def test_bounds_of_an_index(gamma, tail):
    """The mean, and the mean plus T sigma / sqrt(1 + 2 T), at most 1; G is the sum of the weights of all steps left."""
    lattice = LATTICE._replace(gamma=gamma, tail=tail)
    for t, r in ((0, 0), (3, 5), (11, 12), (2, 16)):
        n, weights = 1.3 + 2.6 + r, [gamma**k for k in range(17 - r)] + [tail * gamma ** (17 - r)]
        p, T = (1.3 + t) / n, (sum(weights) - 1.0) / 2.0
        high = p + T / math.sqrt(1 + 2 * T) * math.sqrt(p * (1 - p) / (n + 1))
        np.testing.assert_allclose(calibration.index_bounds(t, r, lattice), (p, min(high, 1.0)), rtol=1e-12)


def test_incomes_are_kept_next_to_the_zero():
    """After many incomes, the two nearest on each side of the zero; those within 1e-9 of a known one are left out."""
    rng = default_rng(4)
    for _ in range(40):
        zero = rng.uniform(0.3, 0.7)
        x, c = np.array([-np.inf, 0.2, 0.9, np.inf]), np.full(4, np.nan)
        known = {0.2, 0.9}
        for lam in rng.uniform(0.21, 0.89, 9):
            calibration.tighten(x, c, lam, zero - lam)
            known.add(lam)
            near = sorted(known)
            left, right = [y for y in near if y < zero], [y for y in near if y >= zero]
            assert x[1] == left[-1]
            assert x[2] == right[0]
            if len(left) > 1:
                assert x[0] == left[-2]
            if len(right) > 1:
                assert x[3] == right[1]
            for i in range(4):
                assert np.isnan(c[i]) if x[i] in (0.2, 0.9) or np.isinf(x[i]) else c[i] == zero - x[i]
    x, c = np.array([0.1, 0.4, 0.6, 0.8]), np.array([3.0, 1.0, -1.0, -2.0])
    before = x.copy(), c.copy()
    for lam, value in ((0.4 + 9e-10, 0.9), (0.4 - 9e-10, 1.1), (0.1, 3.0), (0.05, 3.3), (0.6 - 9e-10, -0.9)):
        calibration.tighten(x, c, lam, value)
    for lam, value in ((0.6 + 9e-10, -1.1), (0.8, -2.0), (0.85, -2.2)):
        calibration.tighten(x, c, lam, value)
    assert (x.tolist(), c.tolist()) == (before[0].tolist(), before[1].tolist())
    calibration.tighten(x, c, 0.5, 0.0)  # an exact zero is one on the right
    assert x.tolist() == [0.1, 0.4, 0.5, 0.6]
    assert c.tolist() == [3.0, 1.0, 0.0, -1.0]


def test_brackets_of_convex_functions():
    """The chord's zero above, the outer secants' below; unknown values give no secant."""

    def crossing(i, j):
        return x[i] + c[i] * (x[j] - x[i]) / (c[i] - c[j])

    x, c = np.array([0.1, 0.4, 0.6, 0.8]), np.array([3.0, 0.9, -0.2, -0.7])
    for gone in ((), (0,), (3,), (0, 3), (1, 0), (2, 3), (0, 1, 2, 3)):
        known = c.copy()
        known[list(gone)] = np.nan
        low, high = x[1], x[2]
        if not {1, 2} & set(gone):
            high = min(high, crossing(1, 2))
        if not {0, 1} & set(gone):
            low = max(low, crossing(0, 1))
        if not {2, 3} & set(gone):
            low = max(low, crossing(3, 2))
        np.testing.assert_allclose(calibration.bracket_zero(x, known), (low, high), rtol=1e-12)
        assert low < high
    steep = np.array([3.0, 0.9, -2.0, -2.1])  # not convex by rounding: the interval is empty, and is made a point
    low, high = calibration.bracket_zero(x, steep)
    assert low == high == pytest.approx(max(0.4 + 0.9 * 0.3 / 2.1, 0.6 - 2.0 * 0.2 / 0.1))


def test_the_zero_by_interpolation():
    """The cubic through (C, income) at 0; the middle if it lies outside or if a value is unknown."""
    x, c = np.array([0.1, 0.4, 0.6, 0.8]), np.array([3.0, 0.9, -0.2, -0.7])
    cubic = np.polynomial.polynomial.polyfit(c, x, 3)[0]
    assert calibration.interpolate_zero(x, c, 0.4, 0.6) == pytest.approx(cubic, rel=1e-10)
    assert 0.4 < cubic < 0.6
    assert calibration.interpolate_zero(x, c, cubic + 0.01, 0.6) == pytest.approx(0.5 * (cubic + 0.61))
    assert calibration.interpolate_zero(x, c, 0.4, cubic - 0.01) == pytest.approx(0.5 * (cubic + 0.39))
    for i in range(4):
        unknown = c.copy()
        unknown[i] = np.nan
        assert calibration.interpolate_zero(x, unknown, 0.41, 0.59) == pytest.approx(0.5)
    assert calibration.interpolate_zero(x, np.array([3.0, 3.0, -0.2, -0.7]), 0.42, 0.6) == pytest.approx(0.51)


@pytest.mark.parametrize("copies", [1, 2, 6])
def test_intervals_contain_the_zeros(copies):
    """Of fewer, as many and more states than lanes: each interval has the width asked for, and C changes sign in it."""
    r, t = np.repeat([7, 7, 4, 1], copies), np.repeat([6, 1, 2, 1], copies)
    lattice = Lattice(1.3, 2.6, 0.83, 20, 1.0 / 0.17, False, 1e-11)
    low, high = calibration.calibrate(t, r, lattice, 1e-6)
    assert (high - low <= 1e-6).all()
    for s in range(0, len(r), copies):
        ends = np.array([low[s] - 1e-9, high[s] + 1e-9])
        C = whole_lattice(ends, t[s : s + 1], r[s : s + 1], lattice)[0]
        assert C[0] > 0.0 > C[1]


class Points:
    """The incomes known for one state and their C, as a dict; the zero lies between `ends`."""

    def __init__(self, low, high):
        self.ends, self.known = (low, high), {}

    def sides(self):
        """Two (income, C) on either side, the nearest first; the ends count as incomes whose C is unknown."""
        left = [*sorted(((x, c) for x, c in self.known.items() if c > 0.0), reverse=True), (self.ends[0], math.nan)]
        right = [*sorted((x, c) for x, c in self.known.items() if c <= 0.0), (self.ends[1], math.nan)]
        return [*left, (-math.inf, math.nan)][:2], [*right, (math.inf, math.nan)][:2]

    def four(self):
        left, right = self.sides()
        return tuple(np.array(x) for x in zip(left[1], left[0], right[0], right[1], strict=True))


@pytest.mark.parametrize("S", [1, 3, 16, 37, 170])
def test_which_incomes_are_tried(monkeypatch, S):
    """First a grid over all indices, in groups, for states that still need it; then each state's own incomes.

    `advantage` is replaced by convex functions whose zeros are known, and says what it was asked. Lanes are dealt to
    the states in turn: a state with one lane gets its interpolated zero, others evenly spaced incomes in their bracket.
    """
    rng, width, asked, zero = default_rng(S), 1e-5, [], {}
    r = np.sort(rng.integers(0, 15, S))[::-1].copy()
    t, lattice = rng.integers(0, r + 1), Lattice(1.3, 2.6, 0.83, 17, 1.0 / 0.17, False, 1e-9)
    bounds = [calibration.index_bounds(t[s], r[s], lattice) for s in range(S)]
    for s, (low, high) in enumerate(bounds):  # equal states have equal zeros
        zero[t[s], r[s]] = low + (high - low) * (0.2 + 0.6 * ((7 * t[s] + 3 * r[s]) % 11) / 11.0)

    def value(state, lam):
        d = lam - zero[state]
        return -d + 0.3 * (math.exp(-4.0 * d) - 1.0)

    def advantage(lam, t, r, lattice, C):
        asked.append((lam.tolist(), list(zip(t.tolist(), r.tolist(), strict=True))))
        for i, state in enumerate(asked[-1][1]):
            C[i] = [value(state, x) for x in lam]

    monkeypatch.setattr(calibration, "advantage", advantage)
    found = np.array(calibration.calibrate(t, r, lattice, width))

    points, expected = [Points(*each) for each in bounds], []

    def ask(lam, who):
        expected.append((lam, [(int(t[s]), int(r[s])) for s in who]))
        for s in who:
            for x in lam:
                if bounds[s][0] + 1e-9 < x < bounds[s][1] - 1e-9:
                    points[s].known[x] = value((t[s], r[s]), x)

    sweeps = min(max(S // 56, 2), 32)
    least, most = min(low for low, _ in bounds), max(high for _, high in bounds)
    apart = (most - least) / (16 * sweeps + 1)
    for j in range(sweeps):
        lam = [least + apart * (16 * j + i) for i in range(1, 17)]
        who = [s for s in range(S) if bounds[s][0] <= lam[-1] + 2.0 * apart and np.isnan(points[s].four()[1][3])]
        if who:
            ask(lam, who)
    todo, brackets = list(range(S)), [None] * S
    while todo:
        near = {}
        for s in todo:
            brackets[s] = calibration.bracket_zero(*points[s].four())
            near[s] = calibration.interpolate_zero(*points[s].four(), *brackets[s])
        todo = [s for s in todo if brackets[s][1] - brackets[s][0] > width]
        todo = [todo[i] for i in np.argsort([near[s] for s in todo])] if todo else []
        for j in range(0, len(todo), 16):
            who, lam = sorted(todo[j : j + 16]), [0.0] * 16
            for i, s in enumerate(who):
                lanes, (low, high) = range(i, 16, len(who)), brackets[s]
                for k, l in enumerate(lanes, start=1):
                    lam[l] = near[s] if len(lanes) == 1 else low + (high - low) * k / (len(lanes) + 1)
            ask(lam, who)
    assert [states for _, states in asked] == [states for _, states in expected]
    np.testing.assert_allclose([lam for lam, _ in asked], [lam for lam, _ in expected], rtol=1e-9)
    np.testing.assert_allclose(found.T, brackets, rtol=1e-9)
    for s in range(S):
        assert found[0, s] - 1e-12 <= zero[t[s], r[s]] <= found[1, s] + 1e-12
