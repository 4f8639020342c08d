"""Questions to continuous beliefs, and decisions of their planners, beside plain sums with the same random numbers."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import ndtri
from scipy.stats import multivariate_normal

from bayesrl.beliefs import GPRegression, NormalWishart
from bayesrl.beliefs.covariances import Gaussian, Matern
from bayesrl.beliefs.dynamics import _gp_pomdp_model as given
from bayesrl.beliefs.dynamics import _particles, _slices, gp_pomdp
from bayesrl.beliefs.dynamics._log_joint import log_joint
from bayesrl.beliefs.dynamics.normal_wishart import normal_wishart_draw
from bayesrl.beliefs.features import Polynomial
from bayesrl.beliefs.values.observations import Observations
from bayesrl.continuous import (
    GPPOMDP,
    CertaintyEquivalence,
    ContinuousForwardSearch,
    GPDynamics,
    GPSparseSampling,
    LazyPSRL,
    LinearGaussianDynamics,
    NormalWishartDynamics,
    lq_solution,
)
from bayesrl.continuous.gp_sparse_sampling import GOLDEN, covariance_root, learned
from bayesrl.continuous.lazy_psrl import LazyPSRLPlan, due
from bayesrl.core import Transition
from bayesrl.errors import BrokenContract, InvalidArgument
from bayesrl.parameters import unchecked
from bayesrl.registry import make_world


def near(found, expected, tolerance=1e-10):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


# Hidden trajectories -------------------------------------------------------------------------------------------------

K_T, K_Z = Gaussian(scale=[1.0, 1.5], variance=0.5), Gaussian(scale=1.2, variance=0.3)
STEPS = [Transition([0.4], [1.0], 0.0, [1.3]), Transition([1.3], [-0.5], 0.0, [0.3])]


def cost(x, a):
    return -((x[:, 0] - 0.3) ** 2) + 0.7 * a[0] * x[:, 0]


def hidden(particles=7, **changed):
    """One state, one action, means that are neither the state nor zero."""
    said = {"transition": K_T, "observation": K_Z, "transition_noise": 0.3, "observation_noise": 0.25}
    said |= {"transition_mean": lambda x, a: 0.8 * x + 0.5 * a, "observation_mean": lambda x: x + 0.1}
    said |= {"state": ([0.2], [[0.5]]), "reward": cost, "gamma": 0.83}
    return GPPOMDP(**(said | changed), particles=particles)


def conditioned(k, noise, X, y, x):
    """Mean and deviation of a datum at x, given data y at X with prior means zero, by a dense solution."""
    c = np.linalg.solve(k(X, X) + noise**2 * np.eye(len(X)), k(X, x[None])[:, 0])
    return c @ y, np.sqrt(k.variances(x[None])[0] + noise**2 - c @ k(X, x[None])[:, 0])


def test_draws_and_rewards_of_hidden_trajectories():
    """Each draw takes a particle by its weight, moves its state under its own process, and sees it under its own."""
    belief = hidden(resample=0.0).update_many(STEPS, default_rng(0))
    X, p = belief.sample.states[:, :, 0], belief.sample.weights
    assert p.max() > 1.5 * p.min()
    rng = default_rng(1)
    chosen = rng.choice(7, 5, p=p)
    e, expected = rng.standard_normal((5, 1)), []
    for one, normal in zip(chosen, e[:, 0], strict=True):
        x, U = X[one], np.array([[X[one, 0], 1.0], [X[one, 1], -0.5]])
        y = x[1:] - 0.8 * U[:, 0] - 0.5 * U[:, 1]
        mean, sd = conditioned(K_T, 0.3, U, y, np.array([x[2], 0.7]))
        new = 0.8 * x[2] + 0.5 * 0.7 + mean + sd * normal
        expected.append((new, *conditioned(K_Z, 0.25, x[:, None], [0.4, 1.3, 0.3] - x - 0.1, np.array([new]))))
    z = rng.standard_normal((5, 1))[:, 0]
    near(
        belief.draw([9.0], [0.7], default_rng(1), 5)[:, 0],
        [x + 0.1 + m + s * w for (x, m, s), w in zip(expected, z, strict=True)],
    )
    near(belief.expected_reward(None, 0.7), p @ cost(X[:, 2:], [0.7]))
    near(belief.effective, 1.0 / np.sum(p**2))
    mean, covariance = belief.state_moments()
    near(mean, [p @ X[:, 2]])
    near(covariance, [[p @ (X[:, 2] - p @ X[:, 2]) ** 2]])
    for reward in (lambda x, a: cost(x, a)[:, None], lambda x, a: 2.5):
        other = unchecked(belief, reward=reward)
        near(other.expected_reward(None, 0.7), p @ np.broadcast_to(np.ravel(reward(X[:, 2:], [0.7])), 7))
    for reward in (lambda x, a: np.where(x[:, 0] > X[:, 2].mean(), np.nan, 1.0), lambda x, a: np.zeros((7, 2))):
        with pytest.raises(BrokenContract, match="the function 'reward' does not return"):
            unchecked(belief, reward=reward).expected_reward(None, 0.7)


def test_before_a_sequence():
    """Points spread over the first state, weighted by its observation; nothing else is known yet."""
    belief = hidden(9)
    x = 0.2 + np.sqrt(0.5) * given.spread(9, 1)
    w = np.exp(-0.5 * (0.6 - x[:, 0] - 0.1) ** 2 / (0.3 + 0.25**2))
    near(belief.expected_reward([0.6], 0.7), w @ cost(x, [0.7]) / w.sum())
    near(belief.expected_reward(None, 0.7), cost(x, [0.7]).mean())
    assert (belief.effective, belief.ancestors) == (pytest.approx(9.0), 9)
    near(belief.state_moments()[0], [0.2])
    near(belief.state_moments()[1], [[0.5]])
    assert belief.unsupported == {}
    assert list(hidden(reward=None).unsupported) == ["expected_reward"]
    rng = default_rng(2)
    later = belief.update_many(STEPS, rng)
    assert later.thinned(9, rng) is later
    assert later.thinned(8, rng).sample.states.shape == (8, 3, 1)
    near(later.restart().state_moments()[0], [0.2])
    assert later.restart().update(STEPS[0], rng).history.first.tolist() == [0, 3]


def test_where_the_maximum_is_looked_for(monkeypatch):
    """First the mean path, then the prior's central one, then distinct particles from the best log joint down."""
    belief, asked = hidden(6).update_many(STEPS, default_rng(3)), []
    X = belief.sample.states.copy()
    X[4] = X[1]  # the same trajectory twice counts once
    walk = _slices.rebuilt(belief._model, belief.history, X, drawn=False)
    belief = unchecked(belief, sample=walk.sample(belief.sample.weights))
    monkeypatch.setattr(gp_pomdp, "maximised", lambda owner, model, history, starts: asked.append(starts) or starts[0])
    order = sorted([0, 1, 2, 3, 5], key=lambda i: -belief.log_joint(X[i]))
    central = [0.2, 0.8 * 0.2 + 0.5]
    c, _ = conditioned(K_T, 0.3, np.array([[0.2, 1.0]]), [0.0], np.array([central[1], -0.5]))
    assert c == 0.0
    central = np.array([*central, 0.8 * central[1] - 0.25])[:, None]
    near_paths = [belief.path_moments()[0], central, *X[order]]
    for n in (1, 2, 3, 5, 20):
        belief.map_states(n)
        assert len(asked[-1]) == min(n, 7)
        for found, expected in zip(asked[-1], near_paths, strict=False):
            near(found, expected)
    monkeypatch.setattr(_slices, "maximised", lambda owner, model, history, starts: asked.append(starts) or starts[0])
    _slices.around(belief._model, belief.history)
    near(asked[-1], [central])


def test_laplaces_approximation_is_a_little_wider():
    """root root' = 1.3^2 H^-1, H the negative second derivatives of the log joint at its maximum; flat ones raised."""
    belief = hidden(3).update_many(STEPS, default_rng(4))
    chart = _slices.around(belief._model, belief.history)
    mode, h, H = chart.mode.ravel(), 1e-3, np.zeros((3, 3))
    f = lambda x: belief.log_joint(x)  # noqa: E731
    for i in range(3):
        for j in range(3):
            a, b = h * np.eye(3)[i], h * np.eye(3)[j]
            H[i, j] = -(f(mode + a + b) - f(mode + a - b) - f(mode - a + b) + f(mode - a - b)) / (4.0 * h * h)
    near(log_joint("", belief._model, belief.history, chart.mode)[1], 0.0, 1e-4)
    near(chart.root @ chart.root.T @ H, 1.69 * np.eye(3), 1e-3)
    sample = belief.sample
    e = chart.coordinates(sample)
    near(chart.mode.ravel() + e.reshape(3, 3) @ chart.root.T, sample.states.reshape(3, 3), 1e-8)
    near(chart.built(e).X, sample.states, 1e-8)
    near(chart.likelihood(sample, e), [f(x) + 0.5 * np.sum(y**2) for x, y in zip(sample.states, e, strict=True)], 1e-8)
    inner = _slices.Innovations(belief._model, belief.history)
    near(inner.built(inner.coordinates(sample)).X, sample.states, 1e-8)
    flat = hidden(3, state=([0.2], [[1e9]]), observation=Gaussian(scale=1.2, variance=1e-3), observation_noise=1e-3)
    blind = flat.update(Transition(None, 0.0, 0.0, 0.5), default_rng(5))
    root = _slices.around(blind._model, blind.history).root
    sizes = np.linalg.svd(root)[1]
    assert sizes.max() / sizes.min() <= 1000.001


def test_files_of_trajectories_are_checked():
    """Weights that are negative, too many or do not sum to one within 1e-9; other lengths of history."""
    belief = hidden(5).update_many(STEPS, default_rng(6))
    p, sample = belief.sample.weights, belief.sample
    near_one = unchecked(belief, sample=sample._replace(weights=p * (1.0 + 0.9e-9)))
    belief.check_grown()
    near_one.check_grown()
    hidden(5).check_grown()
    negative = p.copy()
    negative[:2] = -0.1, p[0] + p[1] + 0.1
    zero = p.copy()
    zero[:2] = 0.0, p[0] + p[1]
    unchecked(belief, sample=sample._replace(weights=zero)).check_grown()
    for broken, words in (
        (sample._replace(weights=negative), "trajectories that belong"), (None, "trajectories that belong"),
        (sample._replace(weights=p * (1.0 + 1.1e-9)), "numbers that sum to 1"),
        (sample._replace(weights=p * (1.0 - 1.1e-9)), "numbers that sum to 1"), (3, "weighted trajectories"),
        (sample._replace(states=sample.states + 0.01), "trajectories that belong"),
        (sample._replace(move=sample.move * 1.01), "trajectories that belong"),
        (sample._replace(see_w=sample.see_w + 0.01), "trajectories that belong"),
        (sample._replace(see=sample.see[:, :, :-1]), "trajectories that belong"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=words):
            unchecked(belief, sample=broken).check_grown()
    with pytest.raises(InvalidArgument, match="trajectories that belong"):
        unchecked(belief, particles=6).check_grown()
    with pytest.raises(InvalidArgument, match="weighted trajectories"):
        unchecked(belief, history=None).check_grown()


# Unknown noises ------------------------------------------------------------------------------------------------------

NOISE = NormalWishart([0.1, -0.2], 1.3, 6.0, [[0.5, 0.1], [0.1, 0.3]])
SENSOR = NormalWishart([0.05, 0.0], 2.2, 7.0, [[0.4, -0.1], [-0.1, 0.6]])
START = np.array([0.3, -0.4]), np.array([[0.5, 0.2], [0.2, 0.3]])


def drag(s, a, v):
    return 0.9 * s + a + v


def pay(s, a):
    return s[:, 0] - 2.0 * s[:, 1] ** 2 + 0.3 * a[0]


def unseen(**changed):
    said = {"transition": drag, "noise": NOISE, "observation": lambda s, a, w: s - 0.5 * w, "sensor": SENSOR}
    said |= {"inverse_observation": lambda s, a, z: (2.0 * (s - z), 2.0 * np.log(2.0)), "state": START, "particles": 6}
    return NormalWishartDynamics(**(said | {"reward": pay, "gamma": 0.83, "resample": 0.0} | changed))


def seen(**changed):
    said = {"inverse": lambda s, a, y: y - 0.9 * s - a, "reward": pay}
    return NormalWishartDynamics(drag, NOISE, **(said | changed))


DATUM = Transition([0.2, 0.1], [0.5, -0.5], 0.0, [0.9, -0.7])


def test_what_beliefs_about_noise_cannot_say():
    of_seen = {"state_moments", "sensor_moments", "sample_sensor", "effective", "ancestors", "thinned"}
    assert set(seen().unsupported) == of_seen
    assert set(seen(reward=None).unsupported) == of_seen | {"expected_reward", "expected_rewards"}
    assert unseen().unsupported == {"expected_rewards": "Its states are hidden."}
    assert set(unseen(observation=None).unsupported) == {"expected_rewards", "draw"}
    none = "It was given no 'reward'."
    assert unseen(reward=None).unsupported == {"expected_reward": none, "expected_rewards": none}
    assert (seen().hidden, unseen().hidden) == (False, True)
    assert seen().sizes == (0, 0)
    assert unseen().update(DATUM, default_rng(0)).sizes == (2, 2)
    assert unseen().update(DATUM._replace(next_observation=None), default_rng(0)).sizes == (2, 0)


def test_draws_under_unknown_noises():
    """Draws pick a particle by its weight and then follow the functions, each with the predictive of its own noise."""
    belief = unseen().update(DATUM, default_rng(7))
    s, p = belief.sample.states, belief.sample.weights
    assert p.max() > 1.2 * p.min()
    rng = default_rng(8)
    some = belief.sample.chosen(_particles.pick(p, 4, rng))
    v = _particles.drawn(some.noise, 4, rng)[0]
    w = _particles.drawn(some.sensor, 4, rng)[0]
    near(belief.draw(None, [0.1, 0.2], default_rng(8), 4), 0.9 * some.states + [0.1, 0.2] + v - 0.5 * w)
    near(belief.expected_reward(None, [0.1, 0.2]), p @ pay(s, [0.1, 0.2]))
    mean, covariance = belief.state_moments()
    near(mean, p @ s)
    near(covariance, sum(p[i] * np.outer(s[i] - p @ s, s[i] - p @ s) for i in range(6)))
    near(belief.effective, 1.0 / np.sum(p**2))
    assert belief.ancestors == 6
    for name, of in (("noise", belief.sample.noise), ("sensor", belief.sample.sensor)):
        rng = default_rng(9)
        i = int(_particles.pick(p, 1, rng)[0])
        expected = normal_wishart_draw(of.mean[i], of.strength, of.degrees, of.scatter[i], rng)
        for a, b in zip(getattr(belief, f"sample_{name}")(default_rng(9)), expected, strict=True):
            near(a, b)
        m, S = getattr(belief, f"{name}_moments")()
        near(m, p @ of.mean)
        near(S, sum(p[i] * of.scatter[i] for i in range(6)) / (of.degrees - 3.0))
    first = unseen()  # at the start states are drawn from the prior, after the particles were picked
    rng = default_rng(10)
    some = first._sample().chosen(_particles.pick(np.full(6, 1.0 / 6.0), 4, rng))
    s = _particles.started(START, 4, rng)
    v = _particles.drawn(some.noise, 4, rng)[0]
    w = _particles.drawn(some.sensor, 4, rng)[0]
    near(first.draw(None, [0.1, 0.2], default_rng(10), 4), 0.9 * s + [0.1, 0.2] + v - 0.5 * w)
    m, S = START
    near(first.expected_reward(None, [0.1, 0.2]), m[0] - 2.0 * (m[1] ** 2 + S[1, 1]) + 0.03)
    near(first.sample_noise(default_rng(11))[1], NOISE.sample(default_rng(11))[1])
    known = seen().update(DATUM)
    rng = default_rng(12)
    _particles.pick(np.ones(1), 4, rng)
    expected = np.add(known.noise.draw(rng, 4), [0.28, 0.47])
    near(known.draw([0.2, 0.3], [0.1, 0.2], default_rng(12), 4), expected)
    near(known.expected_reward([0.2, 0.3], [0.1, 0.2]), pay(np.array([[0.2, 0.3]]), [0.1])[0])
    rows = np.array([[0.2, 0.3], [0.4, -0.1], [0.0, 0.9]])
    near(known.expected_rewards(rows, [0.1, 0.2]), pay(rows, [0.1]))


def test_one_step_of_the_filter():
    """Weights are predictive densities of the sensor's noise times |dw/dz|; their mean is the evidence."""
    belief, rng = unseen().update(DATUM, default_rng(13)), default_rng(13)
    s = _particles.started(START, 6, rng)
    v = _particles.drawn(unseen()._sample().noise, 6, rng)[0]
    s = 0.9 * s + DATUM.action + v
    near(belief.sample.states, s)
    logs = np.array([SENSOR.log_predictive(2.0 * (x - DATUM.next_observation)) for x in s]) + 2.0 * np.log(2.0)
    near(belief.sample.weights, np.exp(logs) / np.exp(logs).sum())
    near(belief.log_evidence(), np.log(np.exp(logs).mean()))
    again = belief.update(DATUM, rng)
    assert again.log_evidence() != belief.log_evidence()
    for share, resampled in ((0.99 * belief.effective / 6.0, False), (1.01 * belief.effective / 6.0, True)):
        after = unseen(resample=share).update(DATUM, default_rng(13))
        assert bool(after.sample.weights.std() < 1e-12) is resampled
    few = belief.thinned(3, default_rng(14))
    near(few.sample.states, s[_particles.systematic(belief.sample.weights, 3, default_rng(14))])
    assert (few.particles, belief.thinned(6, rng)) == (3, belief)
    assert belief.thinned(5, rng).particles == 5
    with pytest.raises(InvalidArgument, match="'inverse_observation' must be the inverse of 'observation'"):
        unseen(observation=lambda s, a, w: s + 0.5 * w).update(DATUM, rng)


@pytest.mark.parametrize("shared", [True, False])
def test_two_states_and_three_observations(shared):
    """The log joint, factors of particles, the first evidence and Laplace's law, by scipy's densities of whole vectors.

    One covariance for all coordinates, or one for each. An observation inside a sequence and the last one are missing.
    """
    k_t, k_z = Gaussian(scale=[1.0, 2.0, 1.5], variance=0.4), Gaussian(scale=1.3, variance=0.3)
    l_t, l_z = Gaussian(scale=0.9, variance=0.2), Gaussian(scale=[2.0, 0.7], variance=0.5)
    moves, sees = ((k_t, k_t), (k_z,) * 3) if shared else ((k_t, l_t), (k_z, l_z, k_z))
    sd_t, sd_z = ([0.3, 0.3], [0.25] * 3) if shared else ([0.3, 0.2], [0.25, 0.4, 0.15])
    H, F = np.array([[1.0, 0.2, -0.5], [0.3, -1.0, 0.4]]), np.array([[0.9, 0.1], [-0.2, 0.8]])
    start = np.array([0.2, -0.1]), np.array([[0.5, 0.1], [0.1, 0.4]])
    forms = (k_t, k_z, 0.3, 0.25) if shared else (moves, sees, sd_t, sd_z)
    prior = GPPOMDP(*forms, lambda x, a: x @ F + 0.5 * a, lambda x: x @ H, start, particles=4, resample=0.0)
    z = default_rng(28).normal(size=(3, 3))
    log = [Transition(z[0], 0.7, 0.0, None), Transition(None, -0.4, 0.0, z[1]), Transition(None, 0.2, 0.0, None)]
    belief = prior.update_many(log, default_rng(29))
    seen_at = [0, 2]

    def dense(X):
        U = np.column_stack([X[:3], [0.7, -0.4, 0.2]])
        total = multivariate_normal.logpdf(X[0], *start)
        for i, (k, sd) in enumerate(zip(moves, sd_t, strict=True)):
            mean = U[:, :2] @ F[:, i] + 0.5 * U[:, 2]
            total += multivariate_normal.logpdf(X[1:, i], mean, k(U, U) + sd**2 * np.eye(3))
        for i, (k, sd) in enumerate(zip(sees, sd_z, strict=True)):
            V = X[seen_at]
            total += multivariate_normal.logpdf(z[:2, i], V @ H[:, i], k(V, V) + sd**2 * np.eye(2))
        return total

    sample = belief.sample
    near(_slices.joint_densities(belief._model, belief.history, sample), [dense(X) for X in sample.states], 1e-9)
    near([belief.log_joint(X) for X in sample.states], [dense(X) for X in sample.states], 1e-9)
    C, D = (1, 1) if shared else (2, 3)
    assert [x.shape for x in sample] == [(4, 4, 2), (4, C, 6), (4, 2, 3), (4, D, 3), (4, 3, 2), (4,)]
    X, (_, gradient) = sample.states[0], log_joint("", belief._model, belief.history, sample.states[0])
    for t in range(4):
        for i in range(2):
            e = np.zeros((4, 2))
            e[t, i] = 1e-5
            assert gradient[t, i] == pytest.approx((dense(X + e) - dense(X - e)) / 2e-5, abs=1e-5)
    chart = _slices.around(belief._model, belief.history)
    assert chart.mode.shape == (4, 2)
    e = chart.coordinates(sample)
    near(chart.mode.ravel() + e.reshape(4, 8) @ chart.root.T, sample.states.reshape(4, 8), 1e-8)
    near(chart.built(e).X, sample.states, 1e-8)
    belief.check_grown()
    one = prior.restart()._grown(None, z[0], default_rng(29))
    logs = []
    for x in one.sample.states[:, 0]:
        v = [k.variances(x[None])[0] + sd**2 for k, sd in zip(sees, sd_z, strict=True)]
        logs.append(multivariate_normal.logpdf(z[0], x @ H, np.diag(v)))
    near(one.log_evidence(), np.log(np.mean(np.exp(logs))))
    near(one.sample.weights, np.exp(logs) / np.sum(np.exp(logs)))


def test_one_is_enough():
    """Of draws, particles, sweeps and starts: one is accepted; zero is refused, and the sentence names it."""
    belief, noise, rng = (
        hidden(3).update_many(STEPS, default_rng(0)),
        unseen().update(DATUM, default_rng(0)),
        default_rng(1),
    )
    assert belief.draw(None, 0.7, rng).shape == belief.draw(None, 0.7, rng, 1).shape == (1, 1)
    assert noise.draw(None, [0.1, 0.2], rng).shape == (1, 2)
    assert belief.thinned(1, rng).particles == noise.thinned(1, rng).particles == 1
    moved = belief.refresh(default_rng(2))
    assert moved == belief.refresh(default_rng(2), 1)
    assert moved != belief.refresh(default_rng(2), 2)
    process, line, x, u = GPDynamics(TWO).update_many(walked()), linear(), np.zeros(3), np.zeros(2)
    assert process.draw([0.3, -0.4], [0.5], rng).shape == process.draw([0.3, -0.4], [0.5], rng, 1).shape == (1, 2)
    assert line.draw(x, u, rng).shape == line.draw(x, u, rng, 1).shape == (1, 3)
    assert line.batch(1).mean.shape == (1, 5, 3)
    assert process.sample_paths([0.3, -0.4], [[0.5]], rng, 1).shape == (1, 2, 2)
    assert NOISE.draw(rng).shape == NOISE.draw(rng, 1).shape == (1, 2)
    for name, call in (
        ("n", lambda: belief.draw(None, 0.7, rng, 0)), ("n", lambda: noise.draw(None, [0.1, 0.2], rng, 0)),
        ("particles", lambda: belief.thinned(0, rng)), ("particles", lambda: noise.thinned(0, rng)),
        ("sweeps", lambda: belief.refresh(rng, 0)), ("starts", lambda: belief.map_states(0)),
        ("n", lambda: process.draw([0.3, -0.4], [0.5], rng, 0)), ("n", lambda: line.draw(x, u, rng, 0)),
        ("replicates", lambda: line.batch(0)), ("paths", lambda: process.sample_paths([0.3, -0.4], [[0.5]], rng, 0)),
        ("rng", lambda: belief.draw(None, 0.7, None)), ("rng", lambda: noise.draw(None, [0.1, 0.2], None)),
        ("rng", lambda: belief.thinned(2, None)), ("rng", lambda: noise.thinned(2, None)),
        ("rng", lambda: belief.refresh(None)), ("rng", lambda: noise.sample_noise(None)),
        ("rng", lambda: noise.sample_sensor(None)), ("rng", lambda: line.sample_parameters(None)),
        ("rng", lambda: line.draw(x, u, None)), ("rng", lambda: process.draw([0.3, -0.4], [0.5], None)),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=rf"^\w+(\.\w+)?: '{name}' must be"):
            call()


def test_actions_and_observations_of_other_lengths():
    """States of two coordinates and actions of one: what was learned first says the lengths of what comes later."""
    push = lambda s, a, v: s + a[0] * np.array([1.0, 0.5]) + v  # noqa: E731
    pull = lambda s, a, y: y - s - a[0] * np.array([1.0, 0.5])  # noqa: E731
    known = NormalWishartDynamics(push, NOISE, inverse=pull, reward=pay)
    veiled = NormalWishartDynamics(
        push, NOISE, observation=lambda s, a, w: s + w, inverse_observation=lambda s, a, z: (z - s, 0.0), sensor=SENSOR,
        state=START, particles=5, reward=pay,
    )  # fmt: skip
    step, rng = Transition([0.2, 0.1], [0.5], 0.0, [0.9, -0.7]), default_rng(30)
    for prior in (known, veiled):
        assert prior.sizes == (0, 0)
        belief = prior.update(step, rng)
        assert belief.sizes == (1, 2)
        assert belief.update(step, rng).sizes == (1, 2)
        assert belief.draw([0.2, 0.1], [0.5], rng, 3).shape == (3, 2)
        near(belief.expected_reward([0.2, 0.1], 0.5), belief.expected_reward([0.2, 0.1], [0.5]))
        for call in (
            lambda one=belief: one.update(step._replace(action=[0.5, 0.1]), rng),
            lambda one=belief: one.draw([0.2, 0.1], [0.5, 0.1], rng),
            lambda one=belief: one.expected_reward([0.2, 0.1], [0.5, 0.1]),
        ):
            with pytest.raises(InvalidArgument, match="'action' must be a vector of 1 number,"):
                call()
        with pytest.raises(InvalidArgument, match="'next_observation' must be a vector of 2 numbers"):
            belief.update(step._replace(next_observation=[0.5]), rng)
    belief = known.update(step)
    near(belief.expected_rewards([[0.2, 0.1], [0.4, 0.3]], 0.5), pay(np.array([[0.2, 0.1], [0.4, 0.3]]), [0.5]))
    for call in (
        lambda: belief.draw([0.2], [0.5], rng), lambda: belief.expected_reward([0.2], [0.5]),
        lambda: belief.update(step._replace(observation=[0.2])),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match="'observation' must be a vector of 2 numbers"):
            call()
    with pytest.raises(InvalidArgument, match="'action' must be a vector of 1 number,"):
        belief.expected_rewards([[0.2, 0.1]], [0.5, 0.1])
    with pytest.raises(InvalidArgument, match=r"'observations' must be an array of shape \(any, 2\)"):
        belief.expected_rewards([[0.2]], [0.5])
    for missing in ({"observation": None}, {"next_observation": None}):
        assert belief.update(step._replace(**missing)) is belief
    log_p = veiled.update(step, default_rng(31))
    again = log_p.restart()
    assert again.sample.states is None
    near(again.state_moments()[0], START[0])
    assert veiled.restart() is veiled
    rng = default_rng(32)
    by_hand = log_p.update(step, rng).restart().update(step, rng)
    assert log_p.update_many([step._replace(truncated=True), step], default_rng(32)) == by_hand


# Gaussian-process dynamics -------------------------------------------------------------------------------------------

TWO = [Gaussian(scale=[1.0, 1.5, 2.0], variance=1.4), Gaussian(scale=[0.7, 2.0, 1.1], variance=0.6)]


def walked(n=6):
    rng = default_rng(15)
    return [
        Transition(rng.normal(size=2), rng.normal(size=1), float(rng.normal()), rng.normal(size=2)) for _ in range(n)
    ]


def test_what_a_belief_about_processes_knows():
    """Coordinates before and after data, draws with the same numbers, what it cannot say, and files that are broken."""
    k_r, log = Gaussian(scale=0.8), walked()
    for belief, before in (
        (GPDynamics(TWO[0]), (None, None)), (GPDynamics(TWO), (2, None)), (GPDynamics(TWO[0], [0.1, 0.2]), (2, None)),
        (GPDynamics(TWO[0], [0.1, 0.2, 0.3], reward=k_r), (2, None)), (GPDynamics(TWO, 0.1, reward=k_r), (2, None)),
    ):  # fmt: skip
        assert belief.sizes == before
        after = belief.update_many(log)
        assert after.sizes == (2, 1)
        after.check_grown()
        with pytest.raises(InvalidArgument, match="'data' must be observations of every coordinate"):
            unchecked(after, data=after.data * 2).check_grown()
    belief = GPDynamics(TWO, [0.2, 0.35], gamma=0.83).update_many(log)
    mean, variance = belief.predictive([0.3, -0.4], [0.5])
    z = default_rng(16).standard_normal((3, 2))
    near(belief.draw([0.3, -0.4], [0.5], default_rng(16), 3), mean + np.sqrt(variance) * z)
    rows = np.array([[0.3, -0.4], [0.1, 0.9]])
    both = belief.predictive(rows, [0.5])
    near(both[0][0], mean)
    near(both[1][0], variance)
    assert both[0].shape == both[1].shape == (2, 2)
    assert set(belief.unsupported) == {"expected_reward", "expected_rewards"}
    assert GPDynamics(TWO, reward=k_r).unsupported == {}
    assert set(GPDynamics([TWO[0], Matern()], reward=pay).unsupported) == {"grow_tree"}
    for noise, reward in (([0.1], k_r), ([[0.1, 0.2]], None)):
        with pytest.raises(InvalidArgument, match="'noise' must be one number, or one for each coordinate"):
            GPDynamics(TWO[0], noise, reward=reward)
    for noise, reward in (([0.1, 0.2], k_r), ([0.1], None), ([0.1, 0.2, 0.3], None)):
        with pytest.raises(InvalidArgument, match="'noise' must be one number, or one for each of"):
            GPDynamics(TWO, noise, reward=reward)
    assert GPDynamics(TWO[0], [0.1, 0.2], reward=k_r).sizes == (1, None)
    paths = belief.sample_paths([0.3, -0.4], [[0.5], [0.1]], default_rng(17), 3, [[0.3, 0.1], [0.1, 0.2]])
    values, vectors = np.linalg.eigh([[0.3, 0.1], [0.1, 0.2]])
    z = default_rng(17).standard_normal((3, 3, 2))
    near(paths[:, 0], [0.3, -0.4] + z[:, 2] @ (vectors * np.sqrt(values)).T)
    mean, variance = belief.predictive(paths[1, 0], [0.5])
    near(paths[1, 1], mean + np.sqrt(variance) * z[1, 0])
    thin = belief.sample_paths([0.3, -0.4], [[0.5]], default_rng(17), 3, [[1.0, 1.0], [1.0, 1.0]])
    near(np.diff(thin[:, 0], axis=1), -0.7, 1e-7)  # both coordinates move alike


def test_fitted_processes_are_fitted_one_by_one():
    """With the same stream: each coordinate, and the reward last, as a regression of its own."""
    log, k_r = walked(8), Gaussian(scale=0.8)
    belief = GPDynamics(TWO, [0.2, 0.35, 0.3], reward=k_r, gamma=0.83, propagate="samples").update_many(log)
    fitted, rng = belief.fit(default_rng(18), 1), default_rng(18)
    X = np.array([np.append(t.observation, t.action) for t in log])
    Y = np.array([np.append(t.next_observation - t.observation, t.reward) for t in log])
    for i, (k, noise) in enumerate(zip([*TWO, k_r], [0.2, 0.35, 0.3], strict=True)):
        one = GPRegression(k, noise).update_many((X, Y[:, i])).fit(rng, 1)
        assert one.prior_covariance == (fitted.covariance[i] if i < 2 else fitted.reward)
        assert one.noise == fitted.noise[i]
    assert (fitted.gamma, fitted.propagate, fitted.mean) == (0.83, "samples", "state")
    assert fitted.update_many([]) is fitted
    same = GPDynamics(fitted.covariance, fitted.noise, reward=fitted.reward).update_many(log)
    near(fitted.predictive([0.3, -0.4], [0.5]), same.predictive([0.3, -0.4], [0.5]), 1e-7)


def test_data_of_processes_fit_together():
    """Files: one factor for each pair of covariance and noise, with its columns, on rows with an action at least."""
    same, other, reward = GPDynamics(TWO[0]), GPDynamics(TWO), GPDynamics(TWO[0], reward=Gaussian(scale=0.8))
    several = GPDynamics(TWO[0], [0.1, 0.2])
    none = Observations
    for belief, data, fits in (
        (same, (none(3, 2),), True), (same, (none(3, 1),), True), (same, (none(2, 2),), False), (same, (), True),
        (same, (none(1, 2),), False), (same, (none(3),), False), (same, (none(3, 1), none(3, 1)), False),
        (same, (none(3, 0),), False), (same, [none(3, 2)], False), (same, (none(3, 2), 5), False), (same, 3, False),
        (other, (none(3, 1), none(3, 1)), True), (other, (none(3, 1), none(4, 1)), False),
        (other, (none(3, 2),), False), (other, (none(3, 1), none(3, 2)), False), (other, (none(2, 1),) * 2, False),
        (reward, (none(3, 2), none(3, 1)), True), (reward, (none(3, 1), none(3, 2)), False),
        (reward, (none(3, 3),), False), (several, (none(3, 1), none(3, 1)), True), (several, (none(3, 2),), False),
    ):  # fmt: skip
        grown = unchecked(belief, data=data)
        if fits:
            grown.check_grown()
        else:
            with pytest.raises(InvalidArgument, match="'data' must be observations of every coordinate"):
                grown.check_grown()


def test_a_tree_of_one_action():
    """One action has the value of its path: here the reward now and the expected one after a draw."""
    belief = GPDynamics(TWO, [0.2, 0.35], reward=lambda s, a: 2.0 * s[:, 0] - s[:, 1] + a[0], gamma=0.83)
    belief = belief.update_many(walked())
    q = ContinuousForwardSearch([[0.5]], 2, 4000).plan(belief, [0.3, -0.4], None, default_rng(33)).info["q"]
    mean, variance = belief.predictive([0.3, -0.4], [0.5])
    error = 0.83 * np.sqrt((4.0 * variance[0] + variance[1]) / 4000)
    assert q.shape == (1,)
    # plain draws would have this standard error; those of strata have less: false alarm below 1e-6
    assert abs(q[0] - (0.6 + 0.4 + 0.5 + 0.83 * (2.0 * mean[0] - mean[1] + 0.5))) < 4.9 * error


def test_an_expansion_goes_on_after_a_degree_that_vanishes():
    """One datum at the mean of the state: odd degrees are zero. Moments by a Gauss-Hermite rule over the state."""
    belief = GPDynamics(Gaussian(scale=0.8, variance=1.3), 0.2, "zero").update(Transition(0.3, 0.5, 0.0, 1.7))
    z, w = np.polynomial.hermite_e.hermegauss(60)
    m, v = (x[:, 0] for x in belief.predictive((0.3 + np.sqrt(0.2) * z)[:, None], 0.5))
    w = w / w.sum()
    mean, covariance, cross = belief.predict_uncertain(0.3, [[0.2]], 0.5)
    near(mean, [w @ m], 1e-8)
    near(covariance, [[w @ (m - w @ m) ** 2 + w @ v]], 1e-8)
    near(cross, [[0.0]], 1e-8)
    assert w @ (m - w @ m) ** 2 > 0.01


# Linear dynamics -----------------------------------------------------------------------------------------------------


def linear(**changed):
    rng = default_rng(19)
    M, C, D, E = (rng.normal(size=(n, n)) for n in (5, 3, 3, 2))
    said = {"mean": 0.3 * rng.normal(size=(5, 3)), "precision": M @ M.T + np.eye(5), "noise": C @ C.T + 0.2 * np.eye(3)}
    return LinearGaussianDynamics(**(said | {"Q": D @ D.T, "R": E @ E.T + 0.1 * np.eye(2)} | changed))


def test_questions_to_linear_dynamics():
    """Three states and two actions, full matrices: predictions, draws, rewards and evidence."""
    belief, x, u = linear(), np.array([0.4, -1.0, 0.7]), np.array([0.6, -0.2])
    z = np.append(x, u)
    mean, covariance = belief.predictive(x, u)
    near(mean, belief.mean.T @ z)
    near(covariance, (1.0 + z @ np.linalg.inv(belief.precision) @ z) * belief.noise)
    e = default_rng(20).standard_normal((4, 3))
    near(belief.draw(x, u, default_rng(20), 4), [mean + np.linalg.cholesky(covariance) @ one for one in e])
    rows = default_rng(21).normal(size=(4, 3))
    near(belief.expected_rewards(rows, u), [-(r @ belief.Q @ r) - u @ belief.R @ u for r in rows])
    near(belief.expected_reward(x, u), -(x @ belief.Q @ x) - u @ belief.R @ u)
    y = np.array([0.3, 0.1, -0.6])
    after = belief.update(Transition(x, u, 0.0, y))
    near(after.log_evidence(), multivariate_normal(mean, covariance).logpdf(y))
    near(after.precision, belief.precision + np.outer(z, z))
    near(after.precision @ after.mean, belief.precision @ belief.mean + np.outer(z, y))
    assert isinstance(belief.log_evidence(), float)
    assert set(belief.unsupported) == {"mean"}
    assert set(linear(Q=None, R=None).unsupported) == {"mean", "Q", "R", "expected_reward", "expected_rewards"}
    phi = Polynomial(1, dims=5)
    wide = linear(mean=np.zeros((6, 3)), precision=np.eye(6), features=phi)
    assert set(wide.unsupported) == {"mean", "sample_system"}
    near(wide.predictive(x, u)[1], (2.0 + z @ z) * belief.noise)
    many = belief.batch(2)
    for ask in (many.covariance, lambda: many.predictive(x, u), lambda: many.batch(2)):
        with pytest.raises(InvalidArgument, match="one experiment, not replicates in lockstep"):
            ask()
    near(LinearGaussianDynamics([[0.5, 0.1], [1.0, 0.2], [0.3, 0.4]], np.eye(3), 0.3).noise, 0.09 * np.eye(2))
    assert linear(mean=np.zeros((4, 3)), precision=np.eye(4), R=[[0.3]]).mean.shape == (4, 3)
    with pytest.raises(InvalidArgument, match="with m of at least 1"):
        linear(mean=np.zeros((3, 3)), precision=np.eye(3))
    for one in ({"Q": None}, {"R": None}):
        with pytest.raises(InvalidArgument, match=f"'{next(iter(one))}' must be given, as the other cost is"):
            linear(**one)
    for datum in (Transition(x, [1e101, 0.0], 0.0, y), Transition([0.0, 1e101, 0.0], u, 0.0, y)):
        with pytest.raises(InvalidArgument, match=r"must be at most 1e\+100 in size"):
            belief.update(datum)
    line = LinearGaussianDynamics([[0.5], [1.0]], np.eye(2), 0.2)
    assert np.isfinite(line.update(Transition(0.0, 1e100, 0.0, 0.0)).mean).all()


# Decisions -----------------------------------------------------------------------------------------------------------


def test_when_a_system_is_due():
    """By the growth of the determinant, at every step, or every n steps; each replicate by itself."""
    memory = LazyPSRLPlan(np.zeros((3, 1, 2)), np.array([1.0, 2.0, 3.0]), 4)
    now = np.array([1.0, 2.0, 3.0]) + np.log(1.7) + [1e-6, -1e-6, -0.9e-9]
    assert due(LazyPSRL(1.7), memory, now).tolist() == [True, False, True]
    assert due(LazyPSRL(1.7), memory, now - 0.2e-9).tolist() == [True, False, False]
    for rule, expected in (
        (LazyPSRL(schedule="every"), True),
        (LazyPSRL(schedule=4), True),
        (LazyPSRL(schedule=5), False),
    ):
        assert due(rule, memory, now).tolist() == [expected] * 3
    assert due(LazyPSRL(schedule=5), None, now).tolist() == [True] * 3
    assert due(LazyPSRL(1.7), None, 0.3).shape == ()


def test_replicates_remember_their_own_draws():
    """Where one of three replicates draws, the others keep their gain and their determinant, and steps go on."""
    one = make_world("lq-system").default_prior()
    many = one.batch(3)
    x = np.array([[0.5, -1.0], [0.2, 0.3], [1.0, 0.4]])
    first = LazyPSRL().plan(many, x, None, default_rng(22))
    A, B = many.sample_system(default_rng(22))
    gains = np.array([lq_solution(a, b, one.Q, one.R).gain for a, b in zip(A, B, strict=True)])
    near(first.info["gain"], gains, 1e-6)
    near(first.action, -np.einsum("kij,kj->ki", gains, x), 1e-6)
    log_det = np.linalg.slogdet(one.precision)[1]
    near(first.memory.log_det, [log_det] * 3)
    assert first.memory.steps == 1
    precision = many.precision.copy()
    precision[1] *= 1.5  # the determinant grows by 1.5^3
    grown = LinearGaussianDynamics(many.mean, precision, one.noise, one.Q, one.R)
    second = LazyPSRL().plan(grown, x, first.memory, default_rng(23))
    assert second.info["resampled"].tolist() == [False, True, False]
    near(second.info["gain"][[0, 2]], gains[[0, 2]], 1e-6)
    A, B = grown.sample_system(default_rng(23), [1])
    near(second.info["gain"][1], lq_solution(A[0], B[0], one.Q, one.R).gain, 1e-6)
    near(second.memory.log_det, [log_det, log_det + 3.0 * np.log(1.5), log_det])
    assert second.memory.steps == 2
    assert (
        LazyPSRL()
        .plan(
            grown.update(Transition(10.0 * x, np.full((3, 1), 9.0), np.zeros(3), x)), x, second.memory, default_rng(24)
        )
        .memory.steps
        == 1
    )
    for memory in (
        first.memory._replace(gain=first.memory.gain[:2]),
        3,
        LazyPSRL().plan(one, x[0], None, default_rng(0)).memory,
    ):
        with pytest.raises(InvalidArgument, match=r"^LazyPSRL: 'memory' must be what start or plan gave"):
            LazyPSRL().plan(many, x, memory, default_rng(0))
    mean = lq_solution(one.mean[:2].T, one.mean[2:].T, one.Q, one.R).gain
    alone, together = (
        CertaintyEquivalence().plan(some, y, None, default_rng(0)) for some, y in ((one, x[0]), (many, x))
    )
    near(alone.info["gain"], mean, 1e-6)
    near(together.info["gain"], [mean] * 3, 1e-6)
    near(alone.action, -mean @ x[0], 1e-6)
    near(together.action, -x @ mean.T, 1e-6)
    assert alone.info["resampled"] is False
    assert together.info["resampled"].tolist() == [False] * 3
    scalar = LinearGaussianDynamics([[0.5], [1.0]], 1e18 * np.eye(2), 0.2, [[1.0]], [[0.3]])
    K = lq_solution([[0.5]], [[1.0]], [[1.0]], [[0.3]]).gain
    near(LazyPSRL().plan(scalar, 0.7, None, default_rng(0)).action, -K[0] * 0.7, 1e-6)


def test_forward_search_takes_the_best_action():
    """The first of the best ones, of beliefs with and without a compiled tree; trees of 10^8 branches, and no more."""
    for belief in (seen(), GPDynamics(TWO[0], 0.2, reward=pay), GPDynamics(Matern(), 0.2, reward=pay)):
        actions = (
            [[0.5], [-0.4], [0.9], [0.9]] if isinstance(belief, GPDynamics) else [[0.5, 0.1], [-0.4, 0.2], [0.9, 0.7]]
        )
        for depth in (1, 2):
            decision = ContinuousForwardSearch(actions, depth, 3).plan(belief, [0.2, 0.1], None, default_rng(25))
            q = decision.info["q"].tolist()
            assert q.index(max(q)) != q.index(min(q))
            assert decision.action.tolist() == actions[q.index(max(q))]
    assert ContinuousForwardSearch([0.1, 0.2, 0.3, 0.4, 0.5], depth=9, width=2).depth == 9
    assert ContinuousForwardSearch(lambda rng: [0.1], depth=9, width=10).depth == 9
    for actions, depth, width in (([0.1, 0.2, 0.3, 0.4, 0.5], 10, 2), (lambda rng: [0.1], 9, 11), ([0.1] * 6, 9, 2)):
        with pytest.raises(InvalidArgument, match="such that the tree has at most 1e"):
            ContinuousForwardSearch(actions, depth=depth, width=width)


def test_a_point_that_is_known_teaches_nothing_more():
    """Without noise the second reward of a point is certain, so that all later decisions repeat the first reward."""
    belief = GPRegression(Gaussian(scale=0.2), noise=0.0).update_many(([0.25, 0.75], [-5.0, 5.0]))
    X = np.array([0.3, 0.7])
    decision = GPSparseSampling(X, depth=4, simulations=50, width=3).plan(belief, 0, None, default_rng(26))
    m, S = belief.mean(X), belief.covariance(X)
    z = ndtri((default_rng(26).random(3)[0] + GOLDEN * np.arange(3)) % 1.0)
    near(decision.info["q"][1], m[1] + 3.0 * np.mean(m[1] + np.sqrt(S[1, 1]) * z), 1e-6)
    near(decision.info["q"][0], m[0] + 3.0 * m[1], 1e-9)
    assert decision.info["visits"].tolist() == [0, 50]
    assert decision.action == 0.7


def test_rewards_change_the_belief_by_one_vector():
    """c_d = S_a / sqrt(S_aa + noise^2), S after the rewards before; a root of S, whose rows of rounding are zero."""
    rng = default_rng(27)
    M = rng.normal(size=(4, 4))
    S, c, left = M @ M.T + 0.1 * np.eye(4), np.zeros((4, 4)), M @ M.T + 0.1 * np.eye(4)
    for d, a in enumerate([2, 0, 2, 3]):
        v = learned(S, c, d, a, 0.7)
        near(v, left[a, a] + 0.49)
        near(c[d], left[a] / np.sqrt(left[a, a] + 0.49))
        left = left - np.outer(c[d], c[d])
    root = covariance_root(S)
    near(root, np.linalg.cholesky(S).T)
    flat = S[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    root = covariance_root(flat)
    near(root.T @ root, flat)
    assert not root[1].any()
    assert not np.tril(root, -1).any()
    c = np.zeros((2, 4))
    learned(S, c, 0, 1, 0.0)
    assert learned(S, c, 1, 1, 0.0) == 0.0
    assert not c[1].any()
    assert learned(np.zeros((4, 4)), c, 0, 2, 0.0) == 0.0  # certain from the beginning
    assert not c.any()


# Huge numbers --------------------------------------------------------------------------------------------------------

HUGE, EYE = 1e101, np.eye(2)
BELIEF = seen().update(DATUM)


@pytest.mark.parametrize("name, call", [
    ("mean", lambda: NormalWishart([HUGE, 0.0], 1.0, 4.0, EYE)),
    ("scatter", lambda: NormalWishart([0.0, 0.0], 1.0, 4.0, HUGE * EYE)),
    ("data", lambda: NOISE.update_many([[HUGE, 0.0]])),
    ("datum", lambda: NOISE.update([HUGE, 0.0])),
    ("noise", lambda: NormalWishartDynamics(drag, HUGE, inverse=drag)),
    ("noise", lambda: NormalWishartDynamics(drag, 1e-101, inverse=drag)),
    ("sensor", lambda: unseen(sensor=HUGE)),
    ("state", lambda: unseen(state=([HUGE, 0.0], EYE))),
    ("state", lambda: unseen(state=([0.0, 0.0], HUGE * EYE))),
    ("action", lambda: BELIEF.update(DATUM._replace(action=[HUGE, 0.0]))),
    ("next_observation", lambda: BELIEF.update(DATUM._replace(next_observation=[HUGE, 0.0]))),
    ("observations", lambda: BELIEF.expected_rewards([[HUGE, 0.0]], [0.0, 0.0])),
    ("state", lambda: hidden(state=([HUGE], [[1.0]]))),
    ("state", lambda: hidden(state=([0.0], [[HUGE]]))),
    ("transition_noise", lambda: hidden(transition_noise=HUGE)),
    ("transition_noise", lambda: hidden(transition_noise=[[HUGE]])),
    ("observation_noise", lambda: hidden(observation_noise=1e-101)),
    ("action", lambda: hidden().update(STEPS[0]._replace(action=HUGE), default_rng(0))),
    ("next_observation", lambda: hidden().update(STEPS[0]._replace(next_observation=HUGE), default_rng(0))),
    ("observation", lambda: hidden().update(STEPS[0]._replace(observation=HUGE), default_rng(0))),
    ("states", lambda: hidden().update(STEPS[0], default_rng(0)).log_joint([HUGE, 0.0])),
    ("noise", lambda: GPDynamics(TWO, HUGE)),
    ("noise", lambda: GPDynamics(TWO, 1e-101)),
    ("reward", lambda: GPDynamics(TWO, reward=TWO[0]).update(walked(1)[0]._replace(reward=HUGE))),
    ("state", lambda: GPDynamics(TWO).predictive([[HUGE, 0.0]], [0.0])),
    ("covariance", lambda: GPDynamics(TWO).predict_uncertain([0.0, 0.0], HUGE * EYE, [0.0])),
    ("noise", lambda: LinearGaussianDynamics([[0.5], [1.0]], EYE, HUGE)),
    ("state", lambda: make_world("blimp").step([HUGE, 0.0], 0.0, default_rng(0))),
    ("state", lambda: make_world("car-on-the-hill").step([HUGE, 0.0], 0.0, default_rng(0))),
    ("drift", lambda: make_world("robot-navigation", drift=(HUGE, 0.0))),
    ("goal", lambda: make_world("robot-navigation", goal=(HUGE, 0.0))),
    ("noise", lambda: make_world("web-server", noise=HUGE)),
    ("noise", lambda: make_world("web-server", noise=1e-101)),
    ("noise", lambda: make_world("web-server", noise=0.0)),
])  # fmt: skip
def test_huge_numbers_are_refused(name, call):
    """Their squares overflow; the sentence names the argument."""
    with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
        call()
