"""The frontier of mean and tail: equal to other programs, monotone, with ties resolved; and its picture."""

import numpy as np
import pytest
from scipy.optimize import linprog

import bayesrl as b
from bayesrl.beliefs import FiniteMDPs
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.risk import plot_frontier
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import Measure, frontier

S, A, M, LEVEL = 3, 2, 6, 0.3
LAM = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
RNG = np.random.default_rng(4)
WEIGHTS = RNG.dirichlet(np.ones(M))
P = RNG.dirichlet(np.ones(S), (S, A))
R = RNG.normal(size=(M, S, A))
BELIEF = FiniteMDPs(tuple(TabularMDP.from_dense(P, r, 0.9, [0.5, 0.5, 0.0]) for r in R), WEIGHTS)
FOUND = frontier(BELIEF, LEVEL, LAM)


def tail_program(weight, floor=None):
    """Maximise (1 - weight) mean + weight CVaR by the program of Rockafellar and Uryasev; variables x, eta, shortfall.

    `floor` is the least tail: then the mean is maximised.
    """
    equal = np.hstack([np.repeat(np.eye(S), A, axis=1) - 0.9 * P.reshape(S * A, S).T, np.zeros((S, 1 + M))])
    C = R.reshape(M, S * A)
    tail = np.concatenate([np.zeros(S * A), [1.0], -WEIGHTS / LEVEL])
    mean = np.concatenate([WEIGHTS @ C, np.zeros(1 + M)])
    rows, at_most = np.hstack([-C, np.ones((M, 1)), -np.eye(M)]), np.zeros(M)  # eta - return <= shortfall
    if floor is not None:
        rows, at_most = np.vstack([rows, -tail]), np.append(at_most, -floor)
    bounds = [(0, None)] * (S * A) + [(None, None)] + [(0, None)] * M
    goal = mean if floor is not None else (1.0 - weight) * mean + weight * tail
    return -linprog(-goal, rows, at_most, equal, [0.5, 0.5, 0.0], bounds).fun


def test_equal_to_the_program_of_the_tail():
    for lam, mean, tail in zip(LAM, FOUND.mean, FOUND.tail, strict=True):
        assert (1 - lam) * mean + lam * tail == pytest.approx(tail_program(lam), abs=1e-7)
    assert FOUND.mean[-1] == pytest.approx(tail_program(None, FOUND.tail[-1] - 1e-9), abs=1e-6)


def test_the_mean_falls_and_the_tail_rises():
    assert (np.diff(FOUND.mean) <= 1e-9).all()
    assert (np.diff(FOUND.tail) >= -1e-9).all()
    assert FOUND.mean[0] > FOUND.mean[-1] + 1e-3
    again = frontier(BELIEF, LEVEL, LAM[::-1])
    np.testing.assert_allclose(again.mean[::-1], FOUND.mean, atol=1e-8)


def test_policies_have_these_means_and_tails():
    for policy, mean, tail in zip(FOUND.policies, FOUND.mean, FOUND.tail, strict=True):
        moves, r = np.einsum("sa,say->sy", policy, P), (policy * R).sum(axis=2)
        returns = np.linalg.solve(np.eye(S) - 0.9 * moves, r.T).T @ [0.5, 0.5, 0.0]
        assert WEIGHTS @ returns == pytest.approx(mean, abs=1e-10)
        assert Measure.cvar(LEVEL).value(returns, WEIGHTS) == pytest.approx(tail, abs=1e-10)


@pytest.mark.parametrize("horizon", [None, 1])
@pytest.mark.parametrize(
    ("lam", "rewards", "mean", "tail"),
    [
        (1.0, ([0.0, 0.0, -1.0], [0.0, 2.0, 10.0]), 1.0, 0.0),  # actions 0 and 1 have the same tail
        (0.0, ([0.0, 1.0, 1.0], [2.0, 1.0, 0.0]), 1.0, 1.0),  # actions 0 and 1 have the same mean
    ],
)
def test_ties_go_to_the_better_of_the_other(lam, rewards, mean, tail, horizon):
    """Whatever the order of the actions."""
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]):
        models = [TabularMDP.from_dense(np.ones((1, 3, 1)), [np.array(r)[order]], 0.0) for r in rewards]
        found = frontier(models, 0.5, [lam], horizon)
        np.testing.assert_allclose([found.mean[0], found.tail[0]], [mean, tail], atol=1e-8)


def test_histories_and_draws():
    belief = b.DirichletMDP.structured(b.make_world("chain"))
    models = [belief.sample_mdp(np.random.default_rng(i)) for i in range(10)]
    found = frontier(models, 0.2, [0.0, 0.5, 1.0], horizon=3)
    assert (np.diff(found.mean) <= 1e-9).all()
    assert (np.diff(found.tail) >= -1e-9).all()
    assert found.policies == found.solutions
    assert not found.sampled
    drawn = frontier(belief, 0.2, [0.5], 1, np.random.default_rng(0))
    assert drawn.sampled
    assert len(drawn.solutions[0].returns) == 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((BELIEF, 0.0, LAM), r"'level' must be in \(0, 1\]"),
        ((BELIEF, 1.5, LAM), "'level'"),
        ((BELIEF, "0.1", LAM), "'level'"),
        ((BELIEF, 0.1, [-0.1]), "'weights' must be at least 0"),
        ((BELIEF, 0.1, [1.1]), "'weights' must be at most 1"),
        ((BELIEF, 0.1, [np.nan]), "'weights'"),
        ((BELIEF, 0.1, []), "'weights'"),
        ((BELIEF, 0.1, 0.5), "'weights'"),
        ((BELIEF, 0.1, LAM, 0), "'horizon'"),
        ((b.make_world("chain"), 0.1, LAM), "DirichletMDP.structured"),
        ((b.DirichletMDP.flat(b.make_world("chain")), 0.1, LAM), "'rng'"),
    ],
)
def test_refused(arguments, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        frontier(*arguments)


def test_saved(tmp_path):
    b.save(FOUND, tmp_path / "kept.zip")
    assert b.load(tmp_path / "kept.zip") == FOUND


def test_the_picture_shows_the_frontier(tmp_path):
    backwards = frontier(BELIEF, LEVEL, LAM[::-1])
    sheet = plot_frontier(backwards, tmp_path / "frontier.png", title="A test")
    (axes,) = sheet.axes
    tail, mean = axes.lines[0].get_data()
    np.testing.assert_array_equal(tail, backwards.tail[::-1])
    np.testing.assert_array_equal(mean, backwards.mean[::-1])
    assert [text.get_text() for text in axes.texts] == ["0", "0.25", "0.5", "0.75", "1"]
    assert axes.get_xlabel() == "mean of the worst 0.3 of the returns"
    assert axes.get_ylabel() == "mean of the returns"
    assert (tmp_path / "frontier.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidArgument, match="'frontier'"):
        plot_frontier(FOUND.mean)
    with pytest.raises(InvalidArgument, match="'path'"):
        plot_frontier(FOUND, tmp_path / "frontier.txt")
