"""Each step of a sweep of `_beam.py` against its exact conditional distribution.

Geweke's test and the enumeration see a wrong step only through what it does to a few probabilities. Here each step
is drawn many times from the same state. Each statistical assertion has a false alarm of at most 1e-6.
"""

import itertools

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs.pomdp import _beam
from bayesrl.beliefs.pomdp._beam import Model, Rates, Sizes
from bayesrl.testing import assert_frequencies, assert_mean_equal

PRIOR = Rates(1.5, 1.2, 0.6)
SIZES = Sizes(2, 1, 2, 1, 2)
LENGTH = np.array([5, 3])
STEPS = np.array([(0, 0, 1, 0, 0), (0, 0, 0, 0, 1), (1, 0, 0, 0, 1), (0, 0, 1, 0, 0), (0, 0, 1, 0, 1),
                  (0, 0, 1, 0, 1), (1, 0, 1, 0, 0), (0, 0, 0, 0, 1)])  # fmt: skip
X = np.array([0, 0, 0, 1, 0, 0, 0, 0, 2, 1])
BETA = np.array([0.3, 0.45, 0.05, 0.2])
for _fixed in (LENGTH, STEPS, X, BETA):
    _fixed.setflags(write=False)  # as in a belief, so that the same compiled code is run


def drawn_model(seed, K=3):
    """Rows of K states and the rest that are not small."""
    rng = default_rng(seed)
    before, after = rng.dirichlet([3.0, 3.0], (2, K + 1, 1))
    return Model(rng.dirichlet(np.full(K + 1, 4.0)), rng.dirichlet(np.full(K + 1, 4.0), (K + 1, 2)), before, after)


def transitions(x):
    """Counts n[x, m, y], (3, 2, 3), and the steps one by one."""
    n, each = np.zeros((3, 2, 3), int), []
    i = t = 0
    for L in LENGTH:
        for _ in range(L):
            each.append((x[i], STEPS[t, 0], x[i + 1]))
            n[each[-1]] += 1
            i, t = i + 1, t + 1
        i += 1
    return n, each


def probabilities(model):
    """Of each start and step of X."""
    moves = iter(model.moves[one] for one in transitions(X)[1])
    return np.array([model.beta[X[i]] if i in (0, 6) else next(moves) for i in range(len(X))])


# Beta and rows given states ------------------------------------------------------------------------------------------


def tables_by_hand(n, c):
    """P(m tables | n customers), m = 0..n: |s(n, m)| c^m Gamma(c) / Gamma(c + n), with Stirling's recursion."""
    stirling = np.zeros(n + 1)
    stirling[0] = 1.0
    for i in range(n):
        stirling = i * stirling + np.append(0.0, stirling[:-1])
    return stirling * c ** np.arange(n + 1) / np.prod(c + np.arange(n))


@pytest.mark.parametrize("n, c", [(1, 0.01), (3, 0.5), (6, 2.0)])
def test_numbers_of_tables(n, c):
    rng = default_rng(0)
    drawn = np.bincount([_beam.tables(float(n), c, rng) for _ in range(1500)], minlength=n + 1)
    assert_frequencies(drawn, tables_by_hand(n, c))


def test_beta_and_rows_given_states():
    """Means and squares of beta, and means of rows, over all numbers of tables; 2500 draws.

    A concentration `row` in place of `row` beta_k moves a mean by ten standard errors.
    """
    rng = default_rng(1)
    models = [_beam.sweep(X, BETA, STEPS, LENGTH, SIZES, PRIOR, 0, 60, rng)[1] for _ in range(2500)]
    n, _ = transitions(X)
    totals = []  # P(number of tables of dish k)
    for k in range(3):
        p = np.ones(1)
        for j, a in itertools.product(range(3), range(2)):
            p = np.convolve(p, tables_by_hand(n[j, a, k], PRIOR.row * BETA[k]))
        totals.append(p)
    starts = np.array([2.0, 0.0, 0.0])  # both sequences begin in state 0
    mean, square = np.zeros(4), np.zeros(4)
    for m in itertools.product(*(range(len(p)) for p in totals)):
        p = np.prod([totals[k][m[k]] for k in range(3)])
        alpha = np.append(starts + m, PRIOR.stick)
        mean += p * alpha / alpha.sum()
        square += p * alpha * (alpha + 1.0) / (alpha.sum() * (alpha.sum() + 1.0))
    beta = np.array([model.beta for model in models])
    assert_mean_equal(beta, mean, what="beta")
    assert_mean_equal(beta**2, square, what="beta squared")
    rows = np.array([model.moves[:3] for model in models])
    counts = np.append(n, np.zeros((3, 2, 1)), axis=2)
    total = PRIOR.row + counts.sum(axis=2, keepdims=True)
    assert_mean_equal(rows, (PRIOR.row * mean + counts) / total, what="rows")
    left = rows - (PRIOR.row * beta[:, None, None] + counts) / total  # zero on average, whatever beta is
    assert_mean_equal(left * beta[:, None, None], np.zeros(rows.shape[1:]), what="rows around the new beta")
    spread = (PRIOR.row * beta[:, None, None] + counts) / total
    assert_mean_equal(left**2 - spread * (1.0 - spread) / (total + 1.0), np.zeros(rows.shape[1:]), what="spread")


def test_signs_given_states():
    """Rows of signs are Dirichlet with the counts of the state *before* and *after* a step; means and squares."""
    rng = default_rng(2)
    models = [_beam.sweep(X, BETA, STEPS, LENGTH, SIZES, PRIOR, 0, 60, rng)[1] for _ in range(1500)]
    before, after = np.full((2, 3, 2), PRIOR.concentration)
    for (x, _, y), (_, _, v, _, z) in zip(transitions(X)[1], STEPS, strict=True):
        before[x, v] += 1.0
        after[y, z] += 1.0
    for alpha, drawn in ((before, [m.before for m in models]), (after, [m.after for m in models])):
        p, total = np.array(drawn)[:, :3, 0], alpha.sum(axis=1, keepdims=True)
        assert_mean_equal(p[..., 0], (alpha / total)[:, 0], what="observed")
        assert_mean_equal(p**2, alpha * (alpha + 1.0) / (total * (total + 1.0)), what="squares of signs")
    for model in models[:3]:  # the rest is the mean of the prior
        np.testing.assert_array_equal(model.moves[3], [model.beta] * 2)
        assert (model.before[3] == 0.5).all()
        assert (model.after[3] == 0.5).all()


# Slices and new states -----------------------------------------------------------------------------------------------


def test_slices():
    """u divided by the probability of its step is uniform on (0, 1]: ten classes of 2000 draws."""
    model, rng = drawn_model(3), default_rng(3)
    u = np.array([_beam.slices(X.copy(), model, STEPS, LENGTH, rng) for _ in range(2000)])
    share = u / probabilities(model)
    assert share.min() > 0.0
    assert share.max() <= 1.0
    for i in range(len(X)):
        assert_frequencies(np.histogram(share[:, i], 10, (0.0, 1.0))[0], np.full(10, 0.1), false_alarm=1e-7)


def test_a_state_broken_off_the_rest():
    """The state's share of beta and of each row, its own rows and its signs: means, and spreads; 2500 draws."""
    model, rng, c = drawn_model(4), default_rng(4), PRIOR.concentration
    new = [_beam.broken(model, PRIOR, rng) for _ in range(2500)]
    for one in new[:20]:  # what was there stays
        for now, then in ((one.beta, model.beta), (one.moves[:3], model.moves[:3])):
            np.testing.assert_array_equal(now[..., :3], then[..., :3])
            np.testing.assert_allclose(now[..., 3:].sum(axis=-1), then[..., 3], rtol=1e-12)
        np.testing.assert_array_equal(one.before[:3], model.before[:3])
        np.testing.assert_array_equal(one.after[:3], model.after[:3])
        np.testing.assert_array_equal(one.moves[4], [one.beta] * 2)
    beta, moves = np.array([one.beta for one in new]), np.array([one.moves for one in new])
    v, stick = beta[:, 3] / model.beta[3], PRIOR.stick
    assert_mean_equal(np.array([v, v**2]).T, [1.0 / (1.0 + stick), 2.0 / ((1.0 + stick) * (2.0 + stick))], what="beta")
    # what is left of each old row: Beta(row beta_3, row beta_4)
    share = moves[:, :3, :, 3] / model.moves[:3, :, 3]
    p, total = v[:, None, None], PRIOR.row * model.beta[3]
    nothing = np.zeros((3, 2))
    assert_mean_equal(share - p, nothing, what="share of a row")
    assert_mean_equal((share - p) * p, nothing, what="share of a row, with beta")
    assert_mean_equal((share - p) ** 2 - p * (1.0 - p) / (total + 1.0), nothing, what="spread of a share")
    # the row of the new state: Dirichlet(row beta)
    p, nothing = beta[:, None], np.zeros((2, 5))
    assert_mean_equal(moves[:, 3] - p, nothing, what="new row")
    assert_mean_equal((moves[:, 3] - p) * p, nothing, what="new row, with beta")
    assert_mean_equal((moves[:, 3] - p) ** 2 - p * (1.0 - p) / (PRIOR.row + 1.0), nothing, what="spread of a new row")
    for observed in ([one.before[3, 0] for one in new], [one.after[3, 0] for one in new]):
        assert_mean_equal(observed, [0.5, 0.5], what="new signs")
        assert_mean_equal(np.square(observed), (c + 1.0) / (2.0 * (2.0 * c + 1.0)), what="squares of new signs")


def test_states_are_broken_off_until_none_of_the_rest_can_be_reached():
    """Every rest is below the least u of a start or of its input, and with one state fewer it is not."""
    model, rng = drawn_model(5), default_rng(5)
    first, low = (0, 6), ([1, 2, 4, 5, 7, 9], [3, 8])  # places of u: of starts, and of steps of each input
    grew = 0
    for _ in range(300):
        u = _beam.slices(X.copy(), model, STEPS, LENGTH, rng) * rng.choice([1.0, 0.3])
        new = _beam.extended(model, u, STEPS, LENGTH, PRIOR, 300, rng)

        def enough(beta, rows, u=u):
            """Whether the last entries of beta and of rows (K, M) are below."""
            return beta < u[list(first)].min() and all((rows[:, a] < u[low[a]].min()).all() for a in range(2))

        K = len(new.beta) - 1
        assert enough(new.beta[K], new.moves[:K, :, K])
        if K > 3:
            assert not enough(new.beta[K - 1 :].sum(), new.moves[: K - 1, :, K - 1 :].sum(axis=2))
        grew += K > 4
    assert grew > 100


# States given slices -------------------------------------------------------------------------------------------------


def weights_of_paths(model, u, q):
    """The weight of each path of sequence q, from first principles: steps above u, times the signs."""
    i, t, L = sum(LENGTH[:q]) + q, sum(LENGTH[:q]), LENGTH[q]
    K, found = len(model.beta) - 1, {}
    for x in itertools.product(range(K), repeat=L + 1):
        w = float(model.beta[x[0]] >= u[i])
        for l in range(L):
            m, g, v, h, z = STEPS[t + l]
            w *= model.moves[x[l], m, x[l + 1]] >= u[i + l + 1]
            w *= model.before[x[l], g, v] * model.after[x[l + 1], h, z]
        found[x] = w
    return {x: w / sum(found.values()) for x, w in found.items()}


@pytest.mark.parametrize("seed", [9, 10, 17])
def test_paths_given_slices(seed):
    """The paths of each sequence have their weights by enumeration; 2000 draws."""
    rng, model = default_rng(seed), drawn_model(seed)
    u = 0.8 * probabilities(model)
    u[[0, 6]] = np.sort(model.beta[:3])[:2].mean()  # no start in one of the states
    drawn = np.array([_beam.paths(model, u, STEPS, LENGTH, rng) for _ in range(2000)])
    for q, part in enumerate((drawn[:, :6], drawn[:, 6:])):
        weights = weights_of_paths(model, u, q)
        assert 0.0 in weights.values()
        assert sum(w > 0.0 for w in weights.values()) > 5
        seen = dict.fromkeys(weights, 0)
        for x in part.tolist():
            seen[tuple(x)] += 1
        assert_frequencies(list(seen.values()), list(weights.values()), false_alarm=1e-7)


def test_states_are_numbered_as_they_appear():
    """Empty states go to the rest. A state in the rest gets a piece of it: Beta(1, stick)."""
    rng, beta = default_rng(8), np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    x, kept = _beam.renumbered(np.array([3, 1, 3, 0, 1]), beta, 1.2, rng)
    assert x.tolist() == [0, 1, 0, 2, 1]
    np.testing.assert_allclose(kept, [0.15, 0.2, 0.1, 0.55])
    pieces = []
    for _ in range(1500):
        x, kept = _beam.renumbered(np.array([2, 4, 2, 4, 0]), beta, 1.2, rng)
        assert x.tolist() == [0, 1, 0, 1, 2]
        np.testing.assert_allclose(kept[[0, 2]], [0.3, 0.1])
        assert kept.sum() == pytest.approx(1.0)
        pieces.append([kept[1] / 0.25, (kept[1] / 0.25) ** 2])
    assert_mean_equal(pieces, [1.0 / 2.2, 2.0 / (2.2 * 3.2)], what="piece")
