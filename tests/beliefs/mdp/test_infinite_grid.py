"""The belief about an infinite grid against quadrature, and its compiled simulations."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from probes_of_infinite_grids import READ, ROWS, GridProbe, enumerated
from scipy.special import roots_jacobi

from bayesrl.beliefs.mdp.row_column_beta import RowColumnBeta
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, rollout_action, step
from bayesrl.testing import assert_frequencies, assert_mean_equal

UP, RIGHT, DOWN, LEFT = range(4)
PRIOR = RowColumnBeta(rows=(2.0, 1.5), columns=(0.5, 1.0))
CELLS = ((0, 0, 1.0), (1, 0, 0.0), (0, 1, 0.0), (1, 1, 0.0), (2, 1, 1.0))  # x, y, reward: two rows, three columns


def learnt(cells=CELLS, prior=PRIOR):
    return prior.update_many(Transition((x - 1, y), RIGHT, r, (x, y)) for x, y, r in cells)


def quadrature(cells, prior=PRIOR, n=8):
    """Nodes and posterior weights over (p_0, p_1, q_0, q_1, q_2); exact, as the likelihood is a polynomial."""

    def beta_nodes(a, b):
        x, w = roots_jacobi(n, b - 1.0, a - 1.0)
        return (x + 1.0) / 2.0, w / w.sum()

    (p, wp), (q, wq) = beta_nodes(*prior.rows), beta_nodes(*prior.columns)
    nodes = np.meshgrid(p, p, q, q, q, indexing="ij")
    weight = np.einsum("a,b,c,d,e->abcde", wp, wp, wq, wq, wq)
    for x, y, r in cells:
        chance = nodes[y] * nodes[2 + x]
        weight = weight * (chance if r else 1.0 - chance)
    return nodes, weight


def test_posterior_matches_quadrature():
    """Means by 300 chains of 300 sweeps and first and second moments of 4000 draws; false alarm 1e-6 each.

    They see an error of about .001 in a mean and .02 in a moment; the prior's means are .17 away.
    """
    nodes, weight = quadrature(CELLS)
    exact = np.array([(weight * x).sum() for x in nodes]) / weight.sum()
    belief, rng = learnt(), default_rng(0)
    assert_mean_equal(
        [np.concatenate(belief.mean_rows_columns((0, 1), (0, 1, 2), rng, sweeps=300)) for _ in range(300)], exact
    )
    draws = np.array([np.concatenate(belief.sample_rows_columns((0, 1), (0, 1, 2), rng)) for _ in range(4000)])
    assert_mean_equal(draws, exact)
    moments = np.array([[(weight * x * y).sum() for x in nodes] for y in nodes]) / weight.sum()
    assert_mean_equal(draws[:, :, None] * draws[:, None, :], moments)


def test_rows_and_columns_never_seen_are_as_the_prior():
    p, q = learnt().mean_rows_columns((7,), (-3,), default_rng(0))
    np.testing.assert_allclose((p[0], q[0]), (2.0 / 3.5, 0.5 / 1.5))


def test_draws_of_rows_and_columns_have_the_posterior_means():
    """Seen lines and one that was never seen, 1500 draws against the long chain: five standard errors."""
    belief, rng, lines = learnt(), default_rng(4), ((0, 1, 7), (0, 1, 2, -3))
    draws = np.array([np.concatenate(belief.sample_rows_columns(*lines, rng)) for _ in range(1500)])
    means = np.concatenate(belief.mean_rows_columns(*lines, default_rng(5), sweeps=20000))
    assert (np.abs(draws.mean(axis=0) - means) < 5.0 * draws.std(axis=0) / np.sqrt(1500) + 0.01).all()
    assert abs(means[0] - 2.0 / 3.5) > 0.05  # the data say something


def test_the_enumeration_behind_the_laws():
    """The laws' own oracle agrees with the long chain where both can be had."""
    cells = ((1, 2, 0.0), (2, 2, 0.0), (2, 4, 1.0))
    belief = RowColumnBeta((2.0, 1.5), (0.5, 1.0)).update_many(
        Transition((x - 1, y), RIGHT, r, (x, y)) for x, y, r in cells
    )
    long = np.concatenate(belief.mean_rows_columns(ROWS, READ, default_rng(0), sweeps=200000))
    np.testing.assert_allclose(enumerated(belief), long, atol=0.01)
    np.testing.assert_allclose(GridProbe().expect(belief), enumerated(belief))


def test_simulations_have_the_law_of_the_predictive():
    """Joint frequencies of what lies in two new cells of seen columns and in one that has been emptied.

    20000 simulations, each with its first sweeps; false alarm 1e-6, sees .02.
    """
    belief = learnt(CELLS[:-2])
    model, rng, counts, expected = belief.simulate(3), default_rng(1), np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    new = [(belief.encode(c), a) for c, a in (((1, 2), DOWN), ((1, 0), RIGHT), ((-1, 1), RIGHT))]
    for _ in range(20000):
        model.fill[1] = 0
        begin(model, rng)
        ks = [step(model, s, a, rng)[0] for s, a in new]
        counts[tuple(ks)] += 1
        forget(model, np.zeros(3, np.int64), 3)
    nodes, weight = quadrature(CELLS[:-2])
    one, two = nodes[1] * nodes[3], nodes[0] * nodes[4]  # of (1, 1) and (2, 0); (0, 1) was seen to be empty
    for i, j in np.ndindex(2, 2):
        expected[i, j, 0] = (weight * (one if i else 1 - one) * (two if j else 1 - two)).sum() / weight.sum()
    assert_frequencies(counts, expected)


def test_coins_of_a_simulation_are_remembered_in_it():
    """Joint frequencies of three new cells of one row, 30000 simulations from the prior; false alarm 1e-6."""
    model, rng, counts = PRIOR.simulate(3), default_rng(2), np.zeros((2, 2, 2))
    for _ in range(30000):
        begin(model, rng)
        s, ks = PRIOR.encode((0, 0)), []
        for _ in range(3):
            k, s, r, done, _ = step(model, s, RIGHT, rng)
            ks.append(k)
            assert r == k
            assert not done
        counts[tuple(ks)] += 1
        forget(model, np.zeros(3, np.int64), 3)
    nodes, weight = quadrature(())
    expected = np.zeros((2, 2, 2))
    for ks in np.ndindex(2, 2, 2):
        chance = [nodes[0] * nodes[2 + i] for i in range(3)]
        expected[ks] = (weight * np.prod([c if k else 1 - c for c, k in zip(chance, ks, strict=True)], axis=0)).sum()
    assert_frequencies(counts, expected)


def test_a_simulation_leaves_no_trace():
    model, rng = learnt().restart().simulate(40), default_rng(3)
    begin(model, rng)
    key, used, n = model.key.copy(), model.used.copy(), model.n.copy()
    s, a, found = PRIOR.encode((0, 0)), -1, []
    for _ in range(40):
        a = rollout_action(model, np.zeros((0, 4)), s, a, 0.5, rng)
        k, s, _, _, _ = step(model, s, a, rng)
        found.append((s, k))
    taken = [s for s, k in found if k]
    assert len(taken) == len(set(taken))  # a reward is had once
    assert (model.used != used).any()
    forget(model, np.zeros(40, np.int64), 40)
    assert (model.used == used).all()
    assert (model.n[used] == n[used]).all()
    assert (model.key[used] == key[used]).all()


def test_known_rewards_are_to_be_had_again_after_a_restart():
    belief, rng = learnt(), default_rng(0)
    for known, reward in ((belief, 0), (belief.restart(), 1)):
        model = known.simulate(3)
        begin(model, rng)
        assert step(model, belief.encode((-1, 0)), RIGHT, rng)[0] == reward  # onto (0, 0), where a reward was found
        assert step(model, belief.encode((-1, 0)), RIGHT, rng)[0] == 0
    again = belief.restart().update(Transition((-1, 0), RIGHT, 1.0, (0, 0)))
    assert again.seen[0] == (0, 0, 1)
    p, q = (np.concatenate(b.mean_rows_columns((0, 1), (0, 1, 2), default_rng(1))) for b in (belief, again))
    assert (p == q).all()  # nothing new has been learnt


def test_a_reward_is_replayed_once():
    """A known reward that a history takes is gone in what follows, and there again once the step is taken back."""
    belief = learnt().restart()
    model, west, east = belief.simulate(4), belief.encode((-1, 0)), belief.encode((1, 0))
    assert likelihood(model, west, RIGHT, 1) == 1.0
    replay(model, west, RIGHT, 1)  # onto (0, 0), where a reward was found before
    assert likelihood(model, east, LEFT, 1) == 0.0
    undo(model, west, RIGHT, 1)
    assert likelihood(model, east, LEFT, 1) == 1.0


def test_histories_are_replayed_and_taken_back():
    """Told outcomes: the next probability is that of quadrature for one cell told, within 1% of it for two."""
    belief = learnt(((0, 0, 1.0),))
    model, start = belief.simulate(4), belief.encode((1, 1))
    down, up = belief.encode((2, 1)), belief.encode((1, -1))
    before = model.n.copy(), model.used.copy()
    for k in (0, 1):
        cells = ((0, 0, 1.0), (1, 0, float(k)))
        replay(model, start, DOWN, k)  # onto (1, 0)
        assert likelihood(model, up, UP, 1) == 0.0  # it has nothing left
        nodes, weight = quadrature(cells)
        exact = (weight * nodes[0] * nodes[4]).sum() / weight.sum()
        np.testing.assert_allclose(likelihood(model, down, DOWN, 1), exact, rtol=1e-9)  # onto (2, 0), the same row
        assert likelihood(model, down, DOWN, 0) == 1.0 - likelihood(model, down, DOWN, 1)
        replay(model, down, DOWN, 0)
        nodes, weight = quadrature((*cells, (2, 0, 0.0)))
        exact = (weight * nodes[1] * nodes[3]).sum() / weight.sum()  # of (1, 1), the column of the first cell told
        np.testing.assert_allclose(likelihood(model, belief.encode((1, 2)), DOWN, 1), exact, rtol=0.02)
        undo(model, down, DOWN, 0)
        undo(model, start, DOWN, k)
        assert (model.used == before[1]).all()
        assert (model.n[model.used] == before[0][model.used]).all()


def test_a_step_can_be_taken_back():
    """As searches draw at a node: the law of the first step is untouched by steps taken back; false alarm 1e-6."""
    model, rng, s = learnt().simulate(3), default_rng(0), PRIOR.encode((2, -1))
    replay(model, PRIOR.encode((3, 0)), DOWN, 1)
    chance, found = likelihood(model, s, UP, 1), []
    for _ in range(20000):
        k = step(model, s, UP, rng)[0]
        found.append(k)
        undo(model, s, UP, k)
    assert_frequencies(np.bincount(found, minlength=2), [1.0 - chance, chance])


def test_rollouts_do_not_turn_back():
    """Each of the three other ways alike; 3000 draws, false alarm 1e-6."""
    model, rng = PRIOR.simulate(1), default_rng(0)
    for a in range(4):
        chosen = [rollout_action(model, np.zeros((0, 4)), 0, a, 0.5, rng) for _ in range(3000)]
        assert_frequencies(np.bincount(chosen, minlength=4), [0.0 if b == (a + 2) % 4 else 1 / 3 for b in range(4)])
    assert {rollout_action(model, np.zeros((0, 4)), 0, -1, 0.5, rng) for _ in range(100)} == {0, 1, 2, 3}


def test_cells_as_numbers():
    for x, y in ((0, 0), (-1, 5), (3, -(2**30)), (2**30, 2**30)):
        model, rng = PRIOR.simulate(4), default_rng(0)
        for a, there in ((UP, (x, y + 1)), (RIGHT, (x + 1, y)), (DOWN, (x, y - 1)), (LEFT, (x - 1, y))):
            s = step(model, PRIOR.encode((x, y)), a, rng)[1]
            assert (s >> 32, s % 2**32 - 2**31) == there
    with pytest.raises(InvalidArgument, match=r"'observation' must be a cell \(x, y\), got 7\."):
        PRIOR.encode(7)


def test_what_was_seen_is_a_value():
    forward, backward = learnt(), learnt(CELLS[::-1])
    assert forward == backward
    assert forward.seen == ((0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 0), (2, 1, 1))
    assert PRIOR.seen == ()
    assert pickle.loads(pickle.dumps(forward)) == forward
    assert forward.update(Transition((1, 0), LEFT, 0.0, (0, 0))) is forward  # nothing there any more: nothing learnt


@pytest.mark.parametrize(
    "datum, sentence",
    [
        (((0, 0), UP, 0.0, (1, 0)), r"\(0, 0\) -> \(1, 0\) with reward 0 .* action 0 leads to \(0, 1\)\."),
        (((1, 1), LEFT, 0.5, (0, 1)), "a reward is 0 or 1"),
        (((1, 0), LEFT, 1.0, (0, 0)), "the cell has none left"),
    ],
)
def test_impossible_evidence(datum, sentence):
    with pytest.raises(ImpossibleEvidence, match=sentence):
        learnt().update(Transition(*datum))


def test_a_known_reward_cannot_be_missing():
    with pytest.raises(ImpossibleEvidence, match="the cell is known to hold one"):
        learnt().restart().update(Transition((1, 0), LEFT, 0.0, (0, 0)))


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: RowColumnBeta(rows=(0.0, 1.0)), r"'rows' must be greater than 0 everywhere, got 0\.0"),
        (lambda: RowColumnBeta(columns=(1.0,)), r"'columns' must be an array of shape \(2,\)"),
        (lambda: RowColumnBeta(gamma=1.5), r"'gamma' must be in \[0, 1\], got 1\.5"),
        (lambda: PRIOR.update(Transition(0, UP, 0.0, (0, 1))), r"'state' must be a cell \(x, y\), got 0\."),
        (lambda: PRIOR.update(Transition((0, 0), 4, 0.0, (0, 1))), "'action' must be a whole number of at least 0 and"),
        (
            lambda: PRIOR.mean_rows_columns((0,), (0,), default_rng(0), sweeps=0),
            "'sweeps' must be a whole number of at least 1, got 0",
        ),
        (
            lambda: PRIOR.sample_rows_columns((0.5,), (0,), default_rng(0)),
            r"'rows' must be a whole number .*, got 0\.5",
        ),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()


def test_codes_of_simulations():
    """A cell pays 0 or 1, and simulations count them so."""
    for r in (0.0, 1.0):
        assert PRIOR.code(Transition((0, 0), RIGHT, r, (1, 0))) == int(r)
    for r in (-1.0, 2.0, np.nan):
        with pytest.raises(InvalidArgument, match="'reward' must be"):
            PRIOR.code(Transition((0, 0), RIGHT, r, (1, 0)))
