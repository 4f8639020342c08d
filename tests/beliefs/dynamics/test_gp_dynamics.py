"""Gaussian-process dynamics against dense conditioning, quadrature, and rolled-out functions."""

import itertools

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.beliefs.covariances import Gaussian, Linear, Matern
from bayesrl.beliefs.dynamics import _gp_moments
from bayesrl.beliefs.dynamics._gp_arrays import learn, predict
from bayesrl.continuous import GPDynamics
from bayesrl.core import Transition
from bayesrl.errors import BrokenContract, Incompatible, InvalidArgument
from bayesrl.io.store import load, save
from bayesrl.parameters import unchecked

SAME = Gaussian(scale=[1.0, 1.5, 2.0], variance=1.4)
TWO = [SAME, Gaussian(scale=[0.7, 2.0, 1.1], variance=0.6)]
NOISES = [0.2, 0.35]
FORMS = {"shared": (SAME, 0.2), "different": (TWO, NOISES), "noises": (SAME, NOISES)}
S0, COV = np.array([0.3, -0.4]), np.array([[0.3, 0.1], [0.1, 0.2]])
ACTION = np.array([0.5])


def log(n, noise=0.1):
    rng = default_rng(0)
    s, a = rng.normal(size=(n, 2)), rng.normal(size=(n, 1))
    after = s + np.column_stack([np.sin(s[:, 0]) + a[:, 0], s[:, 0] * s[:, 1]]) + noise * rng.normal(size=(n, 2))
    paid = np.sum(s * s, axis=1) + noise * rng.normal(size=n)
    return [Transition(s[i], a[i], float(paid[i]), after[i]) for i in range(n)]


def both(found, wanted):
    return zip(found, wanted, strict=True)


def arrays_of(steps, mean):
    """Inputs, targets (n, 2) and rewards."""
    X = np.array([np.append(step.observation, step.action) for step in steps])
    Y = np.array([step.next_observation for step in steps]) - (X[:, :2] if mean == "state" else 0.0)
    return X, Y, np.array([step.reward for step in steps])


def dense(k, noise, X, y, Z):
    """Mean and covariance at Z and log evidence of a process, by the inverse of the data's covariance."""
    A = k(X, X) + noise**2 * np.eye(len(X))
    B = k(Z, X) @ np.linalg.inv(A)
    return B @ y, k(Z, Z) - B @ k(X, Z), stats.multivariate_normal(np.zeros(len(X)), A).logpdf(y)


def processes(form):
    covariance, noise = FORMS[form]
    return [
        (k, s)
        for k, s in zip([covariance] * 2 if covariance is SAME else covariance, np.broadcast_to(noise, 2), strict=True)
    ]


@pytest.mark.parametrize("mean", ["state", "zero"])
@pytest.mark.parametrize("form", FORMS)
def test_equal_to_dense_conditioning(form, mean):
    """Predictions and evidence, learned one by one, at once, and in another order; with a learned reward too."""
    steps, k_r = log(9), Gaussian(scale=0.8)
    covariance, noise = FORMS[form]
    X, Y, R = arrays_of(steps, mean)
    z = np.append(S0, ACTION)[None]
    found = [dense(k, s, X, y, z) for (k, s), y in zip(processes(form), Y.T, strict=True)]
    expected = np.array([m[0] for m, _, _ in found]) + (S0 if mean == "state" else 0.0)
    latent = np.array([v[0, 0] for _, v, _ in found])
    prior = GPDynamics(covariance, noise, mean)
    singly = prior
    for step in steps:
        singly = singly.update(step)
    for belief in (singly, prior.update_many(steps), prior.update_many(steps[4:]).update_many(steps[:4])):
        m, v = belief.predictive(S0, ACTION)
        np.testing.assert_allclose(m, expected, atol=1e-9)
        np.testing.assert_allclose(v, latent + np.square(noise), atol=1e-9)
        np.testing.assert_allclose(belief.predictive(S0, ACTION, latent=True)[1], latent, atol=1e-9)
        assert belief.log_evidence() == pytest.approx(sum(e for _, _, e in found), abs=1e-8)
    rows = np.array([S0, -S0])
    np.testing.assert_allclose(belief.predictive(rows, ACTION)[0][0], expected, atol=1e-9)
    m_r, _, e_r = dense(k_r, np.max(noise), X, R, z)
    noises = noise if np.ndim(noise) == 0 else [*noise, max(noise)]
    belief = GPDynamics(covariance, noises, mean, reward=k_r).update_many(steps)
    assert belief.expected_reward(S0, ACTION) == pytest.approx(float(m_r[0]), abs=1e-9)
    assert belief.log_evidence() == pytest.approx(e_r + sum(e for _, _, e in found), abs=1e-8)
    np.testing.assert_allclose(belief.predictive(S0, ACTION)[0], expected, atol=1e-9)


def test_values_of_the_reference():
    """The facts' oracle: scales (1, 1.5), sd 1.2, noise .1, zero mean."""
    inputs, targets = [(0.0, 1.0), (0.9, -1.0), (0.1, 0.0), (0.15, 1.0)], [0.9, 0.1, 0.15, 1.1]
    belief = GPDynamics(Gaussian(scale=[1.0, 1.5], variance=1.44), noise=0.1, mean="zero")
    belief = belief.update_many([Transition(s, a, 0.0, y) for (s, a), y in both(inputs, targets)])
    mean, variance = belief.predictive(0.5, 0.5, latent=True)
    assert mean[0] == pytest.approx(0.8783638, abs=1e-7)
    assert variance[0] == pytest.approx(0.1033768, abs=1e-7)
    assert belief.log_evidence() == pytest.approx(-3.1413687, abs=1e-7)


def quadrature(belief, mean, covariance, action, points=40):
    """Moments by a product rule of Gauss and Hermite: over states, of means and variances of the next state."""
    x, w = np.polynomial.hermite_e.hermegauss(points)
    d, root = len(mean), np.linalg.cholesky(covariance)
    z = np.array(list(itertools.product(x, repeat=d)))
    weight = np.prod(list(itertools.product(w / w.sum(), repeat=d)), axis=1)
    s = mean + z @ root.T
    m, v = belief.predictive(s, action)
    expected = weight @ m
    apart, moved = m - expected, s - mean
    spread = (apart * weight[:, None]).T @ apart + np.diag(weight @ v)
    return expected, spread, (moved * weight[:, None]).T @ apart


@pytest.mark.parametrize("way", ["expanded", "dense"])
@pytest.mark.parametrize("mean", ["state", "zero"])
@pytest.mark.parametrize("form", FORMS)
def test_moments_equal_quadrature(form, mean, way, monkeypatch):
    """By either way: the expansion, and the matrices Q of the formulas."""
    monkeypatch.setattr(_gp_moments, "dense" if way == "expanded" else "expanded", lambda *arguments: None)
    covariance, noise = FORMS[form]
    belief = GPDynamics(covariance, noise, mean).update_many(log(12))
    for found, wanted in both(belief.predict_uncertain(S0, COV, ACTION), quadrature(belief, S0, COV, ACTION)):
        np.testing.assert_allclose(found, wanted, atol=1e-7)
    certain = belief.predict_uncertain(S0, np.zeros((2, 2)), ACTION)
    m, v = belief.predictive(S0, ACTION)
    np.testing.assert_allclose(certain[0], m, atol=1e-10)
    np.testing.assert_allclose(certain[1], np.diag(v), atol=1e-10)
    np.testing.assert_allclose(certain[2], 0.0, atol=1e-12)


def test_moments_before_any_data_and_in_one_dimension():
    prior = GPDynamics(SAME, 0.2)
    m, V, C = prior.predict_uncertain(S0, COV, ACTION)
    np.testing.assert_allclose(m, S0)
    np.testing.assert_allclose(V, COV + (1.4 + 0.04) * np.eye(2))
    np.testing.assert_allclose(C, COV)
    scalar = GPDynamics(Gaussian(scale=0.5), 0.1, "zero").update_many(
        [Transition(x, 0.0, 0.0, np.sin(3.0 * x)) for x in np.linspace(-1.0, 1.0, 6)]
    )
    for found, wanted in both(scalar.predict_uncertain(0.2, [[0.3]], 0.0), quadrature(scalar, [0.2], [[0.3]], 0.0)):
        np.testing.assert_allclose(found, wanted, atol=1e-7)


def test_moments_stay_accurate_with_little_noise(monkeypatch):
    """Forty data with noise 1e-3 make K nearly singular. A line without noise, fitted by the evidence, does worse.

    There v / sigma^2 is beyond 1e12, and the formulas with Q lose all digits, so that they are refused; the answer is
    .9^2 S and .9 S.
    """
    belief = GPDynamics(Gaussian(scale=2.0, variance=9.0), 1e-3).update_many(log(40, 1e-3))
    for found, wanted in both(
        belief.predict_uncertain(S0, 0.1 * COV, ACTION), quadrature(belief, S0, 0.1 * COV, ACTION)
    ):
        np.testing.assert_allclose(found, wanted, atol=1e-7)
    steps = [Transition([x], [u], 0.0, [0.9 * x + u]) for x in (-1.0, 0.0, 1.0) for u in (-0.5, 0.0, 0.5)]
    line = GPDynamics(Gaussian(scale=[2.0, 2.0]), 0.05).update_many(steps).fit(default_rng(0))
    assert line.covariance[0].variance / line.noise[0] ** 2 > 1e12
    m, V, C = line.predict_uncertain([0.5], [[0.04]], [0.2])
    np.testing.assert_allclose([m[0], V[0, 0], C[0, 0]], [0.65, 0.0324, 0.036], atol=1e-5)
    monkeypatch.setattr(_gp_moments, "expanded", lambda *arguments: None)
    with pytest.raises(InvalidArgument, match=r"'covariance' must be smaller .* Sampled paths have no such limit"):
        line.predict_uncertain([0.5], [[0.04]], [0.2])


def test_wide_states_take_the_matrices():
    """Where S is large against the scales the expansion gives up; means and variances of 20,000 draws agree."""
    belief, wide = GPDynamics(TWO, NOISES).update_many(log(12)), 30.0 * COV
    groups, mu, S = belief.groups(2, 3), np.append(S0, ACTION), np.zeros((3, 3))
    S[:2, :2] = wide
    assert _gp_moments.expanded("test", groups, mu, S, 2) is None
    m, V, _ = belief.predict_uncertain(S0, wide, ACTION)
    rng = default_rng(0)
    states = rng.multivariate_normal(S0, wide, 20_000)
    mean, variance = belief.predictive(states, ACTION)
    drawn = mean + np.sqrt(variance) * rng.standard_normal(mean.shape)
    np.testing.assert_allclose(drawn.mean(axis=0), m, atol=5.0 * np.sqrt(np.diagonal(V).max() / 20_000))
    np.testing.assert_allclose(np.cov(drawn.T), V, atol=5.0 * np.diagonal(V).max() * np.sqrt(2.0 / 20_000))


# Arrays and paths ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", ["state", "zero"])
@pytest.mark.parametrize("form", FORMS)
def test_arrays_are_the_belief(form, mean):
    """Compiled predictions equal the belief's, after data that a tree has added, and after it has gone back."""
    covariance, noise = FORMS[form]
    steps = log(7)
    belief = GPDynamics(covariance, noise, mean).update_many(steps[:5])
    gp = belief.arrays(2, 1, room=3)
    m, sd, z = np.empty(2), np.empty(2), np.array([0.7, -1.2])

    def compare(now, n, step):
        predict(gp, n, step.observation, step.action, m, sd)
        expected, variance = now.predictive(step.observation, step.action)
        np.testing.assert_allclose(m, expected, atol=1e-10)
        np.testing.assert_allclose(sd**2, variance, atol=1e-10)
        learn(gp, n, z)
        return now.update(step._replace(next_observation=m + sd * z))

    for first, second in ((5, 6), (6, 5)):  # two branches on the same stack
        deeper = compare(belief, 5, steps[first])
        compare(compare(deeper, 6, steps[second]), 7, steps[0])
    empty = GPDynamics(covariance, noise, mean)
    gp = empty.arrays(2, 1, room=2)
    compare(empty, 0, steps[0])


def rolled_out(k, noise, start, actions, n, rng):
    """Paths of one coordinate under functions drawn whole, on a fine grid of states for each action; mean zero."""
    grid = np.linspace(-8.0, 8.0, 801)
    levels = sorted(set(actions))
    Z = np.array([(x, a) for a in levels for x in grid[::8]])
    values, vectors = np.linalg.eigh(k(Z, Z))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    paths = np.empty((n, len(actions) + 1))
    paths[:, 0] = start
    for i in range(n):
        f = (root @ rng.standard_normal(len(Z))).reshape(len(levels), -1)
        for t, a in enumerate(actions):
            there = np.interp(paths[i, t], grid[::8], f[levels.index(a)])
            paths[i, t + 1] = there + noise * rng.standard_normal()
    return paths


def moments_of(paths):
    """States, squares and products of neighbours, for comparisons of means."""
    return np.column_stack([paths, paths**2, paths[:, 1:] * paths[:, :-1], paths[:, 2:] * paths[:, :-2]])


def test_paths_follow_one_function():
    """Paths of the belief have the moments of paths under functions drawn whole (grid spacing .16, scale 2).

    Also with a Linear covariance, where a function is its slope. 2 x 19 comparisons at 4.5 standard errors: a false
    alarm in 4,000. Fresh functions at each step move the products of neighbours by many standard errors.
    """
    actions, n, rng = [0.0, 0.0, 0.0, 0.0], 4000, default_rng(5)
    k = Gaussian(scale=[2.0, 1.0], variance=1.0)
    belief = GPDynamics(k, 0.1, "zero")
    drawn = belief.sample_paths([0.7], np.array(actions), rng, n)[:, :, 0]
    agree(drawn, rolled_out(k, 0.1, 0.7, actions, n, rng))
    line = GPDynamics(Linear(variance=0.5), 0.3, "zero")
    n = 500
    drawn = line.sample_paths([0.7], np.zeros(3), rng, n)[:, :, 0]
    truth = np.full((n, 4), 0.7)
    slope = np.sqrt(0.5) * rng.standard_normal(n)
    for t in range(3):
        truth[:, t + 1] = slope * truth[:, t] + 0.3 * rng.standard_normal(n)
    agree(np.tanh(drawn), np.tanh(truth))


def agree(first, second):
    a, b = moments_of(first), moments_of(second)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / len(a))
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 4.5 * error + 1e-12).all()


def test_compiled_paths_equal_the_plain_ones():
    """The same random numbers give the same paths: compiled, and by updates of beliefs; with a learned reward."""
    steps, actions = log(6), np.array([[0.5], [-0.2], [0.1]])
    for reward in (None, Gaussian(scale=0.7)):
        belief = GPDynamics(TWO, NOISES if reward is None else [*NOISES, 0.1], reward=reward).update_many(steps)
        drawn = belief.sample_paths(S0, actions, default_rng(1), 3, COV)
        plain = GPDynamics([Plain(k) for k in TWO], belief.noise, reward=reward and Plain(reward)).update_many(steps)
        np.testing.assert_allclose(drawn, plain.sample_paths(S0, actions, default_rng(1), 3, COV), atol=1e-9)


class Plain(Matern):
    """A Gaussian covariance that does not say so."""

    def __init__(self, k):
        object.__setattr__(self, "k", k)

    def matrix(self, X, Y):
        return self.k.matrix(X, Y)

    def variances(self, X):
        return self.k.variances(X)

    def __eq__(self, other):
        return self.k == other.k


def test_propagation():
    """One step of either way has the moments of `predict_uncertain`; a path of moments goes on from them."""
    belief = GPDynamics(TWO, NOISES).update_many(log(12))
    actions = np.array([[0.5], [-0.5]])
    mean, covariance, _ = belief.predict_uncertain(S0, COV, actions[0])
    path = belief.predict_path(S0, actions, COV)
    np.testing.assert_allclose(path.mean[1], mean)
    np.testing.assert_allclose(path.covariance[2], belief.predict_uncertain(mean, covariance, actions[1])[1])
    sampling = GPDynamics(TWO, NOISES, propagate="samples").update_many(log(12))
    drawn = sampling.predict_path(S0, actions, COV, paths=4000, rng=default_rng(2))
    assert drawn.samples.shape == (4000, 3, 2)
    error = 5.0 / np.sqrt(4000)
    np.testing.assert_allclose(drawn.mean[1], mean, atol=error * np.sqrt(np.diagonal(covariance)).max())
    np.testing.assert_allclose(drawn.covariance[1], covariance, atol=2.0 * error * np.diagonal(covariance).max())
    assert belief.predict_path(S0, actions).covariance[0].max() == 0.0


# Learning ------------------------------------------------------------------------------------------------------------


def test_fit_raises_the_evidence_of_each_process():
    belief = GPDynamics(SAME, 0.2, reward=Gaussian(scale=[1.0, 1.0, 9.0])).update_many(log(30))
    fitted = belief.fit(default_rng(0), starts=1)
    assert fitted.log_evidence() > belief.log_evidence() + 5.0
    assert len(fitted.data) == 3  # one factor each
    X, Y, R = arrays_of(log(30), "state")
    evidences = [
        dense(k, s, X, y, X[:1])[2]
        for k, s, y in zip([*fitted.covariance, fitted.reward], fitted.noise, [*Y.T, R], strict=True)
    ]
    assert fitted.log_evidence() == pytest.approx(sum(evidences), abs=1e-6)
    with pytest.raises(InvalidArgument, match="a belief with data"):
        GPDynamics(SAME).fit(default_rng(0))


def test_one_factor_where_all_is_the_same():
    steps = log(5)
    assert len(GPDynamics(SAME).update_many(steps).data) == 1
    assert len(GPDynamics([SAME, SAME]).update_many(steps).data) == 1
    assert len(GPDynamics(SAME, NOISES).update_many(steps).data) == 2


def test_older_versions_stay_as_they_are():
    steps = log(6)
    old = GPDynamics(SAME).update_many(steps[:4])
    before = old.predictive(S0, ACTION)
    one, other = old.update(steps[4]), old.update(steps[5])
    assert old.predictive(S0, ACTION)[0].tolist() == before[0].tolist()
    assert one.log_evidence() != other.log_evidence()
    assert GPDynamics(SAME).update_many([]) == GPDynamics(SAME)


def test_files_keep_everything(tmp_path):
    for belief in (GPDynamics(SAME, 0.2), GPDynamics(TWO, [0.1, 0.2, 0.3], reward=SAME).update_many(log(6))):
        save(belief, tmp_path / "belief.zip")
        assert load(tmp_path / "belief.zip") == belief
    with pytest.raises(InvalidArgument, match="got 'function'"):
        save(GPDynamics(SAME, reward=lambda s, a: s[:, 0]), tmp_path / "belief.zip")
    with pytest.raises(InvalidArgument, match="'data' must be observations of every coordinate"):
        unchecked(belief, data=belief.data[:2]).check_grown()


def test_draws_and_rewards():
    """Draws have the predictive's moments, within five standard errors; a known reward is the function's."""
    belief = GPDynamics(TWO, NOISES, reward=lambda s, a: s[:, 0] + 2.0 * a[0]).update_many(log(8))
    mean, variance = belief.predictive(S0, ACTION)
    drawn = belief.draw(S0, ACTION, default_rng(3), 4000)
    assert drawn.shape == (4000, 2)
    assert (np.abs(drawn.mean(axis=0) - mean) < 5.0 * np.sqrt(variance / 4000)).all()
    assert (np.abs(drawn.var(axis=0) - variance) < 5.0 * variance * np.sqrt(2.0 / 4000)).all()
    assert belief.expected_reward(S0, ACTION) == pytest.approx(0.3 + 1.0)


# Bad input -----------------------------------------------------------------------------------------------------------

BELIEF = GPDynamics(SAME, 0.2).update_many(log(3))
STEP = log(1)[0]
RNG = default_rng(0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: GPDynamics(3.0), "GPDynamics: 'covariance' must be a covariance"),
        (lambda: GPDynamics([]), "'covariance' must be a covariance"),
        (lambda: GPDynamics(SAME, 0.0), "'noise' must be greater than 0"),
        (lambda: GPDynamics(SAME, np.nan), "'noise' must be finite"),
        (lambda: GPDynamics(TWO, [0.1, 0.1, 0.1]), "'noise' must be one number, or one for each of 2 processes"),
        (lambda: GPDynamics(SAME, mean="nought"), "'mean' must be"),
        (lambda: GPDynamics(SAME, propagate="luck"), "'propagate' must be"),
        (lambda: GPDynamics(SAME, reward=3.0), "'reward' must be a function"),
        (lambda: GPDynamics(SAME, gamma=1.5), "'gamma' must be"),
        (lambda: BELIEF.update((S0, ACTION)), "'datum' must be a Transition"),
        (lambda: BELIEF.update(STEP._replace(action=[np.nan])), "'action' must be finite"),
        (lambda: BELIEF.update(STEP._replace(observation=[0.0])), "'observation' must be a vector of 2 numbers"),
        (lambda: BELIEF.update(STEP._replace(next_observation=[1, 2, 3])), "'next_observation' must be a vector of 2"),
        (lambda: BELIEF.update(STEP._replace(action=[1.0, 2.0])), "'action' must be a vector of 1 number,"),
        (lambda: GPDynamics(TWO).update(Transition([1.0], [1.0, 1.0], 0.0, [1.0])), "must be a vector of 2 numbers"),
        (lambda: BELIEF.predictive([np.inf, 0.0], ACTION), "'state' must be finite"),
        (lambda: BELIEF.predictive(S0, [0.0, 0.0]), "'action' must be a vector of 1 number,"),
        (lambda: BELIEF.predict_uncertain(S0, [[1.0, 0.5], [0.4, 1.0]], ACTION), "'covariance' must be symmetric"),
        (lambda: BELIEF.predict_uncertain(S0, [[1.0, 2.0], [2.0, 1.0]], ACTION), "'covariance' must be symmetric"),
        (lambda: BELIEF.predict_uncertain(S0, [[1.0]], ACTION), r"'covariance' must be an array of shape \(2, 2\)"),
        (lambda: BELIEF.draw(S0, ACTION, None), "'rng' must be"),
        (lambda: BELIEF.draw(S0, ACTION, RNG, 0), "'n' must be"),
        (lambda: BELIEF.sample_paths(S0, [[0.0]], None), "'rng' must be"),
        (lambda: BELIEF.sample_paths(S0, [[0.0, 1.0]], RNG), "'actions' must be points of 1 coordinate"),
        (lambda: BELIEF.sample_paths(S0, [[0.0]], RNG, 0), "'paths' must be"),
    ],
)  # fmt: skip
def test_bad_input(call, sentence):
    before = BELIEF.log_evidence()
    with pytest.raises(InvalidArgument, match=sentence):
        call()
    assert BELIEF.log_evidence() == before


def test_incompatible():
    rough = GPDynamics(Matern(), reward=None).update_many(log(3))
    for call in (
        lambda: rough.predict_uncertain(S0, COV, ACTION),
        lambda: rough.predict_path(S0, [[0.0]]),
        lambda: rough.arrays(2, 1, 1),
    ):
        with pytest.raises(Incompatible, match=r"'expectation'.*samples"):
            call()
    assert np.isfinite(rough.sample_paths(S0, [[0.0], [1.0]], RNG, 2)).all()
    with pytest.raises(Incompatible, match="'reward'"):
        rough.expected_reward(S0, ACTION)


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (lambda s, a: s[:, 9], "take an array of shape (1, 2), an array of shape (1,): it raised IndexError: index 9"),
        (lambda s, a: {}["price"], "take an array of shape (1, 2), an array of shape (1,): it raised KeyError: 'pr"),
        (lambda s, a: 1.0, "return an array of shape (1,): it gave 1.0."),
        (lambda s, a: [np.nan], "return numbers finite everywhere: it gave nan."),
        (lambda s, a: None, "return an array of numbers: it gave None."),
    ],
)
def test_a_reward_function_that_fails_is_named(reward, said):
    belief = GPDynamics(SAME, 0.2, reward=reward).update_many(log(3))
    with pytest.raises(BrokenContract) as error:
        belief.expected_reward(S0, ACTION)
    assert str(error.value).startswith("GPDynamics.expected_reward: the function 'reward' does not " + said)
