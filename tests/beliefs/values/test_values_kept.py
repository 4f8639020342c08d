"""Beliefs about values: what a file may hold, and where a trajectory may go on."""

import dataclasses
import inspect
from functools import cache

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import (
    GPTD,
    LSTD,
    BayesianLinearRegression,
    GPRegression,
    KernelSelection,
    LambdaGPTD,
    ParametricGPTD,
    SparseGPTD,
    WhiteGPTD,
)
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.features import Polynomial
from bayesrl.beliefs.values.dictionary import Dictionary
from bayesrl.beliefs.values.observations import Observations
from bayesrl.beliefs.values.trajectory import deviations, state_row, stretches
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.io.store import load, save
from bayesrl.parameters import unchecked
from bayesrl.registry import entries

X, R = default_rng(0).normal(size=(6, 2)), default_rng(1).normal(size=5)
PHI = Polynomial(degree=2, dims=2)
WALK = (X, R)
KEPT = {
    "gp-regression": lambda: (
        GPRegression(Gaussian(), noise=0.3).update_many((X, X[:, 0])).update_linear(X, np.eye(6), X[:, 1], np.eye(6))
    ),
    "mixtures": lambda: GPRegression(Gaussian(), noise=0.3).update_linear(X, np.eye(6)[:2], R[:2], np.eye(2)),
    "linear, few": lambda: BayesianLinearRegression(PHI).update_many((X[:3], R[:3])),
    "linear, many": lambda: BayesianLinearRegression(PHI).update_many((np.tile(X, (2, 1)), np.tile(X[:, 0], 2))),
    "gptd": lambda: GPTD(Gaussian()).update_many(WALK),
    "sparse": lambda: SparseGPTD(Gaussian(), threshold=0.01).update_many(WALK),
    "parametric": lambda: ParametricGPTD(PHI, noise=0.5).update_many(WALK),
    "lstd": lambda: LSTD(PHI, ridge=0.1).update_many(WALK),
    "selection": lambda: KernelSelection([Gaussian(0.5), Gaussian(2.0)], noise=0.3).update_many(WALK),
    "particles": lambda: KernelSelection([Gaussian(0.5)], noise=0.3, particles=4).update_many(WALK, default_rng(0)),
}


@cache
def kept(name):
    return KEPT[name]()


@pytest.mark.parametrize("name", KEPT)
def test_a_file_brings_them_back(name, tmp_path):
    """The same answers, and the same after more data: the open end of a trajectory is kept too."""
    belief = kept(name)
    belief.check_grown()
    save(belief, tmp_path / "kept")
    again = load(tmp_path / "kept")
    more = (np.vstack([X[-1:], X[:2] + 1.0]), R[:2])
    if name in ("gp-regression", "mixtures", "linear, few", "linear, many"):
        more = (X[:2] + 1.0, R[:2])
    for one, other in (
        (belief, again),
        (belief.update_many(more, default_rng(1)), again.update_many(more, default_rng(1))),
    ):
        np.testing.assert_array_equal(one.mean(X), other.mean(X))
        if name != "lstd":
            np.testing.assert_array_equal(one.covariance(X), other.covariance(X))
            assert one.log_evidence() == other.log_evidence()


def spoilt(name, field):
    """Values of a field that do not fit the others."""
    belief = kept(name)
    now = getattr(belief, field)
    if field == "data":
        return ["no observations"]
    if field == "blocks":
        return [((-1, np.eye(6)),), ((7, np.eye(6)),), ((0, np.ones((2, 3))),)]
    if name.startswith("linear"):
        n, gram, moment, _, rows, y = now
        found = [now._replace(gram=gram[1:]), now._replace(moment=moment[1:])]
        if rows is None:
            return [*found, now._replace(n=5), now._replace(rows=np.zeros((n, 6))), now._replace(y=np.zeros(n))]
        found += [now._replace(rows=rows[1:]), now._replace(y=y[1:]), now._replace(rows=None), now._replace(y=None)]
        return [*found, now._replace(rows=None, y=None)]
    if field == "tail" and name == "gptd":
        return [-1, 6]
    if field == "tail":
        return [
            np.zeros(2),
            np.array([[np.nan, 0.0]]),
            np.zeros((2, 2)),
            *([np.zeros((1, 3))] if name == "sparse" else []),
        ]
    if field == "basis":
        return ["no dictionary", Dictionary(now.states, now.factor[1:]), Dictionary(now.states[1:], now.factor)]
    if field == "traces":
        return [now._replace(**{part: np.asarray(getattr(now, part))[1:]}) for part in now._fields]
    if field == "weights" and name in ("sparse", "parametric"):
        changed = {"w": now.w[1:], "P": now.P[1:], "p": now.p[1:], "last": now.last[1:]}
        nan = [now._replace(w=now.w * np.nan), now._replace(log_evidence=np.inf)]
        return [*nan, *(now._replace(**{part: x}) for part, x in changed.items())]
    if field == "weights":
        return [now[1:], -now, now * np.nan]
    if field == "origin":
        return [now[1:], (-1, *now[1:]), (len(belief.candidates), *now[1:])]
    return []


@pytest.mark.parametrize("name", KEPT)
def test_fields_that_do_not_belong_together_are_refused(name):
    belief, tried = kept(name), 0
    for field in belief.traits.grows:
        for wrong in spoilt(name, field):
            with pytest.raises(InvalidArgument, match="must be"):
                unchecked(belief, **{field: wrong}).check_grown()
            tried += 1
    assert tried > 0


def test_parts_of_observations_are_checked():
    """Eight arrays; each is refused if it is too short, too long, not finite, or says what cannot be."""
    data = kept("gp-regression").data
    parts = data.parts()
    assert Observations.of_parts(parts) == data
    names = ("X", "L", "y", "w", "first", "index", "weight", "sums")

    def change(**new):
        return tuple(new.get(name, part) for name, part in zip(names, parts, strict=True))

    X_, L, _, _, first, index, _, _ = parts
    wrong = [change(**{name: part[1:]}) for name, part in zip(names, parts, strict=True) if name != "X"]
    wrong += [
        change(**{name: np.append(part, part[-1])}) for name, part in zip(names, parts, strict=True) if name != "X"
    ]
    for name, part in zip(names, parts, strict=True):
        if name not in ("first", "index"):
            infinite = part.copy()
            infinite[1] = np.inf
            wrong.append(change(**{name: infinite}))
    wrong += [change(X=X_[:, 0]), change(X=X_[: index.max()]), change(index=index - index.min() - 1)]
    flat, late, back = first.copy(), first + 1, first.copy()
    flat[1], back[1] = 0, 3
    wrong += [change(first=flat), change(first=late), change(first=back[[0, 2, 1, *range(3, len(first))]])]
    for pivot, place in ((0.0, 0), (-1.0, len(L) - 1)):
        factor = L.copy()
        factor[place] = pivot
        wrong.append(change(L=factor))
    for one in wrong:
        with pytest.raises(InvalidArgument, match="arrays that belong together"):
            Observations.of_parts(one)
    empty = Observations(3)
    assert Observations.of_parts(empty.parts()) == empty
    assert empty != "observations"
    assert data != kept("gptd").data


# Trajectories --------------------------------------------------------------------------------------------------------


def step(a, b, reward=0.0, **ends):
    return Transition([float(a)], 0, reward, [float(b)], **ends)


def test_stretches_of_trajectories():
    """Ends close a stretch; a truncated one keeps its last state; what is open goes on."""
    log = [
        step(0, 1, 1.0),
        step(1, 2, 2.0, terminated=True),
        step(5, 6, 3.0, truncated=True),
        step(7, 8, 4.0),
        step(8, 9, 5.0),
    ]
    one, two, three = stretches("belief", log, None, None)
    assert (one.states.ravel().tolist(), one.rewards.tolist(), one[2:]) == ([0, 1], [1, 2], (True, True, False))
    assert (two.states.ravel().tolist(), two.rewards.tolist(), two[2:]) == ([5, 6], [3], (True, False, True))
    assert (three.states.ravel().tolist(), three.rewards.tolist(), three[2:]) == (
        [7, 8, 9],
        [4, 5],
        (True, False, False),
    )
    (on,) = stretches("belief", [step(4, 5)], np.array([[4.0]]), 1)
    assert not on.fresh
    (columns,) = stretches("belief", ([4.0, 5.0], [1.0]), np.array([[4.0]]), 1)
    assert (columns.fresh, columns.terminated, columns.truncated) == (False, False, False)
    first, then = stretches("belief", [step(4, 5, truncated=True), step(1, 2)], np.array([[4.0]]), 1)
    assert (first.fresh, then.fresh) == (False, True)
    assert stretches("belief", ([4.0, 5.0], [1.0]), None, 1)[0].fresh


@pytest.mark.parametrize(
    "log, tail, sentence",
    [
        (([0.0, 1.0], [1.0, 2.0]), None, "'states' must be one more than the 2 rewards, got '2 states'"),
        (([0.0, 1.0, 2.0], [1.0]), None, "'states' must be one more than the 1 rewards, got '3 states'"),
        (([1.0, 2.0], [1.0]), [[0.0]], "'states' must be a trajectory that starts where the last one ended"),
        ([step(0, 1), step(2, 3)], None, "'observation' must be where the last transition ended"),
        ([step(1, 2)], [[0.0]], "'observation' must be where the last transition ended"),
        (step(0, 1), None, "'log' must be several transitions, or states and rewards"),
        ([1.0], None, "'log' must be transitions, or a pair of states and rewards"),
        (3, None, "'log' must be transitions, or a pair of states and rewards"),
        ([Transition([0.0], 0, 0.0, [1.0, 2.0])], None, "'next_observation' must be a state of 1 coordinate,"),
        ([Transition([[0.0]], 0, 0.0, [1.0])], None, "'observation' must be a number or a vector"),
        ([Transition([0.0], 0, 1e200, [1.0])], None, "'reward' must be"),
        (([0.0, 1.0], [1e200]), None, "'rewards' must be"),
    ],
)
def test_what_is_no_trajectory_is_refused(log, tail, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        stretches("belief", log, None if tail is None else np.array(tail), None)


def test_states_and_deviations():
    assert state_row("belief", "x", 2.0, None).tolist() == [[2.0]]
    assert state_row("belief", "x", [1.0, 2.0], 2).tolist() == [[1.0, 2.0]]
    with pytest.raises(InvalidArgument, match="a state of 2 coordinates,"):
        state_row("belief", "x", 1.0, 2)
    states = np.arange(3.0)[:, None]
    assert deviations("belief", 0.5, states).tolist() == [0.5, 0.5, 0.5]
    assert deviations("belief", lambda s: s[:, 0] + 1.0, states).tolist() == [1.0, 2.0, 3.0]
    assert deviations("belief", lambda s: 2.0, states).tolist() == [2.0, 2.0, 2.0]
    for wrong in (lambda s: [1.0, 2.0], lambda s: -s[:, 0]):
        with pytest.raises(InvalidArgument, match="'noise' must be"):
            deviations("belief", wrong, states)


@pytest.mark.parametrize("name", [name for name in KEPT if name != "lstd"])
def test_one_draw_unless_more_are_asked_for(name):
    assert kept(name).sample(X[:3], default_rng(0)).shape == (1, 3)
    assert kept(name).sample(X[:3], default_rng(0), draws=4).shape == (4, 3)


@pytest.mark.parametrize("kind", [GPRegression, GPTD, WhiteGPTD, SparseGPTD, KernelSelection])
def test_constructors_repeat_the_defaults_of_their_fields(kind):
    """A constructor that is written out states each default a second time."""
    stated = {p.name: p.default for p in inspect.signature(kind).parameters.values() if p.default is not p.empty}
    fields = {f.name: f.default for f in dataclasses.fields(kind) if f.init and f.default is not dataclasses.MISSING}
    assert fields.items() <= stated.items()
    assert {stated[name] for name in stated.keys() - fields.keys()} <= {None}


def test_memory_does_not_grow_with_the_data():
    """Rows are kept as long as there are fewer data than features, in batches and one by one."""
    prior = BayesianLinearRegression(PHI)
    few, many = prior.update_many((X[:5], R)), prior.update_many((X, X[:, 0]))
    assert (few.sums.rows.shape, few.sums.y.shape) == ((5, 6), (5,))
    assert many.sums.rows is many.sums.y is None
    assert few.update((X[5], 1.0)).sums.rows is None
    assert many.update((X[5], 1.0)).sums.rows is None


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_values_do_not_depend_on_the_unit_of_rewards(unit):
    """Rewards, noise and prior deviations in another unit: values in that unit, nothing is taken for rounding."""
    for plain, scaled in (
        (ParametricGPTD(PHI, noise=0.1), ParametricGPTD(PHI, noise=0.1 * unit, prior_variance=unit**2)),
        (
            SparseGPTD(Gaussian(), 0.1, threshold=0.01),
            SparseGPTD(Gaussian(1.0, unit**2), 0.1 * unit, threshold=0.01 * unit**2),
        ),
        (GPTD(Gaussian(), 0.1), GPTD(Gaussian(1.0, unit**2), 0.1 * unit)),
    ):
        one, other = plain.update_many((X, R)), scaled.update_many((X, unit * R))
        np.testing.assert_allclose(other.mean(X), unit * one.mean(X), rtol=1e-6, atol=1e-9 * unit)
        np.testing.assert_allclose(other.variance(X), unit**2 * one.variance(X), rtol=1e-6, atol=1e-9 * unit**2)


SQUARES, K = Polynomial(degree=2), Gaussian(0.7, 2.0)
UNSEEN = {
    "bayesian-linear-regression": BayesianLinearRegression(SQUARES, prior_variance=3.0),
    "gp-regression": GPRegression(K),
    "gptd": GPTD(K),
    "gptd-deterministic": WhiteGPTD(K),
    "gptd-lambda": LambdaGPTD(SQUARES, prior_variance=3.0),
    "gptd-parametric": ParametricGPTD(SQUARES, prior_variance=3.0),
    "gptd-sparse": SparseGPTD(K),
    "kernel-selection": KernelSelection([K, Gaussian(0.2, 5.0)], [0.25, 0.75]),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_prior_variances_are_those_before_any_data(name):
    """By hand for three states: 3 (1 + x^2 + x^4), or the variance of the covariance."""
    x = np.array([-1.0, 0.5, 2.0])
    expected = 3.0 * (1.0 + x**2 + x**4) if hasattr(UNSEEN[name], "features") else np.full(3, 2.0)
    expected = np.full(3, 0.25 * 2.0 + 0.75 * 5.0) if name == "kernel-selection" else expected
    np.testing.assert_allclose(UNSEEN[name].prior_variances(x), expected)
    np.testing.assert_allclose(UNSEEN[name].variance(x), expected)
    np.testing.assert_allclose(np.diagonal(UNSEEN[name].covariance(x)), expected)
    assert set(UNSEEN) == {
        n for n, e in entries().items() if e.kind == "belief" and hasattr(e.factory, "prior_variances")
    }


@pytest.mark.parametrize("kind", [GPTD, WhiteGPTD])
def test_futures_of_one_belief_do_not_disturb_each_other(kind):
    """From each version of a trajectory three futures: it ends, it ends with another reward, it goes on.

    An end adds a row about a point that is known, so that the number of points stays. Each future must stay what the
    same transitions teach a fresh belief, after all the others were made from the same buffer.
    """
    prior, states, rewards = kind(Gaussian(0.8), 0.4, 0.83), [0.3, -1.2, 0.9, 2.1], [1.0, -0.6, 0.4]
    log = [Transition(s, 0, r, y) for s, r, y in zip(states[:-1], rewards, states[1:], strict=True)]
    belief, made = prior, []
    for n, s in enumerate(states):
        for last in (
            Transition(s, 0, 5.0, 7.0, terminated=True),
            Transition(s, 0, -3.0, 7.0, terminated=True),
            Transition(s, 0, 2.0, 1.4),
        ):
            made.append((belief.update(last), [*log[:n], last]))
        if n < len(log):
            belief = belief.update(log[n])
    made.append((belief, log))
    for future, seen in made:
        fresh = kind(Gaussian(0.8), 0.4, 0.83).update_many(seen)
        np.testing.assert_allclose(future.mean(states), fresh.mean(states), atol=1e-10)
        np.testing.assert_allclose(future.covariance(states), fresh.covariance(states), atol=1e-10)
        assert future.log_evidence() == pytest.approx(fresh.log_evidence(), abs=1e-9)


@pytest.mark.parametrize("residuals", ["coloured", "white"])
def test_sparse_gptd_learns_the_same_in_small_chunks(monkeypatch, residuals):
    """A trajectory that goes on, and one that ends, in chunks of 1, 2, 3 and 7 transitions."""
    rng = default_rng(3)
    states, rewards = rng.uniform(-2.0, 2.0, 15), rng.normal(size=14)
    belief = SparseGPTD(Gaussian(scale=0.7), lambda x: 0.3 + 0.1 * np.cos(x[:, 0]), 0.9, 0.1, residuals)
    ended = [
        Transition([x], None, r, [y], terminated=i == 13)
        for i, (x, y, r) in enumerate(zip(states, states[1:], rewards, strict=False))
    ]
    for log in ((states, rewards), ended):
        whole = belief.update_many(log)
        for size in (1, 2, 3, 7):
            monkeypatch.setattr("bayesrl.beliefs.values.gptd_sparse.CHUNK", size)
            found = belief.update_many(log)
            np.testing.assert_array_equal(found.dictionary, whole.dictionary)
            np.testing.assert_allclose(found.mean(states), whole.mean(states), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found.variance(states), whole.variance(states), rtol=1e-9, atol=1e-12)
            assert found.log_evidence() == pytest.approx(whole.log_evidence(), rel=1e-10)
            assert (found.tail is None) == (whole.tail is None)
        monkeypatch.undo()
