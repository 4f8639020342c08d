"""Dynamics with unknown noise: conjugate if states are seen, against a Kalman filter on a grid if they are hidden."""

import pickle

import numpy as np
import pytest
from noise_oracles import ACTIONS, NOISE, SEEN, SENSOR, START, grid_filter
from numpy.random import default_rng
from own_probes import check_belief
from probes_of_dynamics import HiddenNoiseProbe

from bayesrl.beliefs import NormalWishart
from bayesrl.continuous import NormalWishartDynamics
from bayesrl.core import Transition
from bayesrl.errors import BrokenContract, ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.io.store import save
from bayesrl.testing.laws import check_calibration, check_martingale

FACTS = np.array([0.0992079, 1.547868, 0.168913, 0.237912, -0.007597, 0.219540, 0.168317])
NOISE_2D = NormalWishart([0.1, 0.0], 2.0, 7.0, [[0.5, 0.1], [0.1, 0.3]])
SENSOR_2D = NormalWishart([0.0, 0.0], 4.0, 8.0, 0.4 * np.eye(2))


def move(s, a, v):
    return s + a + v


def unmove(s, a, y):
    return y - s - a


def look(s, a, w):
    return s + w


def unlook(s, a, z):
    return z - s, np.zeros(len(s))


def cost(s, a):
    return -(s**2).sum(axis=1) - 0.1 * float(a @ a)


def scalar(n=20_000, noise=None, sensor=None, **more):
    given = {"observation": look, "inverse_observation": unlook, "state": START, "particles": n} | more
    sensor = NormalWishart(**SENSOR) if sensor is None else sensor
    return NormalWishartDynamics(move, NormalWishart(**NOISE) if noise is None else noise, sensor=sensor, **given)


def plane(n=300, **more):
    given = {"observation": look, "inverse_observation": unlook, "state": (np.zeros(2), 0.1 * np.eye(2))}
    return NormalWishartDynamics(move, NOISE_2D, sensor=SENSOR_2D, particles=n, **(given | {"reward": cost} | more))


def seen_plane(**more):
    return NormalWishartDynamics(move, NOISE_2D, inverse=unmove, reward=cost, **more)


def learned(belief, rng, actions=ACTIONS, seen=SEEN):
    for a, z in zip(actions, seen, strict=True):
        belief = belief.update(Transition(None, a, 0.0, z), rng)
    return belief


def summary(belief):
    (s, S), (v, V), (w, W) = belief.state_moments(), belief.noise_moments(), belief.sensor_moments()
    return np.array([np.exp(belief.log_evidence()), s[0], S[0, 0], v[0], w[0], V[0, 0], W[0, 0]])


# Hidden states -------------------------------------------------------------------------------------------------------


def test_the_grid_meets_the_reference():
    np.testing.assert_allclose(grid_filter(), FACTS, atol=6e-7)


def test_the_grids_kalman_filter_is_filterpys():
    """The peer, where it is installed: both noises known."""
    KalmanFilter = pytest.importorskip("filterpy.kalman").KalmanFilter
    peer, evidence = KalmanFilter(dim_x=1, dim_z=1, dim_u=1), 0.0
    peer.x, peer.P, peer.F, peer.H = np.zeros((1, 1)), np.array([[0.25]]), np.eye(1), np.eye(1)
    peer.B, peer.Q, peer.R = np.eye(1), np.array([[0.16]]), np.array([[0.09]])
    for a, z in zip(ACTIONS, SEEN, strict=True):
        peer.predict(u=np.array([[a]]))
        peer.update(np.array([[z]]))
        evidence += peer.log_likelihood
    found = grid_filter(noise={"known": 0.16}, sensor={"known": 0.09})
    np.testing.assert_allclose(np.log(found[0]), evidence, atol=1e-12)
    np.testing.assert_allclose(found[1:3], [peer.x[0, 0], peer.P[0, 0]], atol=1e-12)


def assert_near(found, expected):
    """20,000 particles: 4 standard deviations of the log evidence, 6 of the other moments (docs/continuous.md)."""
    assert abs(np.log(found[0] / expected[0])) < 0.05
    np.testing.assert_allclose(found[1:3], expected[1:3], atol=0.02)
    np.testing.assert_allclose(found[3:], expected[3:], atol=0.01)


def test_hidden_system_equals_a_kalman_filter_on_a_grid():
    """Five seeds; their mean log evidence is within .02 of the grid's, which is 4 standard deviations."""
    expected = grid_filter()
    found = [summary(learned(scalar(), default_rng(seed))) for seed in range(5)]
    for one in found:
        assert_near(one, expected)
    assert abs(np.mean(np.log([one[0] for one in found])) - np.log(expected[0])) < 0.02


@pytest.mark.parametrize("known", ["noise", "sensor", "both"])
def test_a_noise_may_be_known(known):
    """As a standard deviation or as a covariance matrix."""
    noise, sensor = (0.4 if known != "sensor" else None), (np.array([[0.09]]) if known != "noise" else None)
    found = summary(learned(scalar(noise=noise, sensor=sensor), default_rng(1)))
    given = {"noise": {"known": 0.16}} if known != "sensor" else {}
    given |= {"sensor": {"known": 0.09}} if known != "noise" else {}
    expected = grid_filter(**given)
    assert_near(found, expected)


def test_a_missing_observation_weighs_nothing():
    seen = (1.1, None, 1.6)
    belief = learned(scalar(), default_rng(2), seen=seen)
    found, expected = summary(belief), grid_filter(seen=seen)
    assert_near(found, expected)
    one = learned(scalar(100), default_rng(2), seen=(None, None, None))
    assert one.log_evidence() == 0.0
    np.testing.assert_array_equal(one.sample.weights, np.full(100, 0.01))
    np.testing.assert_array_equal(one.sample.sensor.mean, np.zeros((100, 1)))
    assert one.sample.sensor.strength == SENSOR["strength"]
    assert one.sample.noise.strength == NOISE["strength"] + 3.0


def stretched(s, a, w):
    return np.sinh(2.0 * (s + w))


def unstretched(s, a, z):
    return 0.5 * np.arcsinh(z) - s, np.full(len(s), -np.log(2.0) - 0.5 * np.log1p(z @ z))


def test_the_evidence_is_a_density_of_observations():
    """z = sinh 2(s + w): the same posterior, and each density times |dw/dz|."""
    plain = learned(scalar(500), default_rng(3))
    seen = [np.sinh(2.0 * z) for z in SEEN]
    bent = scalar(500, observation=stretched, inverse_observation=unstretched)
    bent = learned(bent, default_rng(3), seen=seen)
    slopes = [-np.log(2.0 * np.cosh(2.0 * z)) for z in SEEN]
    assert bent.log_evidence() == pytest.approx(plain.log_evidence() + sum(slopes), abs=1e-9)
    np.testing.assert_allclose(bent.state_moments()[0], plain.state_moments()[0], atol=1e-9)


def test_the_derivative_weighs_particles():
    """z = s w (a multiplicative sensor): weights have the factor 1 / |s|, against importance sampling by hand."""

    def product(s, a, w):
        return s * w

    def factor(s, a, z):
        return z / s, -np.log(np.abs(s[:, 0]))

    def by_hand(n, rng):
        s = 0.5 * rng.standard_normal(n) + 1.0
        lam = rng.gamma(2.5, 2.0, n)
        s = s + 0.2 + rng.standard_normal(n) * np.sqrt(1.5 / lam)
        w = 1.3 / s
        student = (1.0 + w**2 * 3.0 / (4.0 * 0.9)) ** -3.5  # nu 6, kappa 3, psi .9
        p = student / np.abs(s)
        return np.sum(p * s) / p.sum()

    given = {"observation": product, "inverse_observation": factor}
    belief = scalar(100_000, **given).update(Transition(None, 1.0, 0.0, 1.3), default_rng(4))
    assert belief.state_moments()[0][0] == pytest.approx(by_hand(100_000, default_rng(5)), abs=0.03)


def transcription(belief, data, rng):
    """The filter in plain Python, one Normal-Wishart object for each particle, with the same random numbers."""
    n, d = belief.particles, len(belief.state[0])
    p, log_p = np.full(n, 1.0 / n), 0.0
    noise, sensor, family = [belief.noise] * n, [belief.sensor] * n, list(range(n))
    values, vectors = np.linalg.eigh(belief.state[1])
    s = belief.state[0] + rng.standard_normal((n, d)) @ (vectors * np.sqrt(values)).T
    for a, z in data:
        f = noise[0].degrees - d + 1.0
        normal, chi = rng.standard_normal((n, d)), rng.chisquare(f, n)
        for i in range(n):
            k, L = noise[i].strength, np.linalg.cholesky(noise[i].scatter)
            v = noise[i].mean + np.sqrt((k + 1.0) / (k * chi[i])) * L @ normal[i]
            s[i] = s[i] + a + v
            noise[i] = noise[i].update(v)
        if z is not None:
            for i in range(n):
                p[i] *= np.exp(sensor[i].log_predictive(z - s[i]))
                sensor[i] = sensor[i].update(z - s[i])
            log_p += np.log(p.sum())
            p = p / p.sum()
        if 1.0 / (p @ p) < 0.5 * n:
            u, below, chosen, i = rng.random(), 0.0, [], 0
            for j in range(n):
                below += p[j]
                while i < n and (i + u) / n < below:
                    chosen.append(j)
                    i += 1
            s, p = s[chosen].copy(), np.full(n, 1.0 / n)
            noise, sensor, family = ([x[j] for j in chosen] for x in (noise, sensor, family))
    return p, s, noise, sensor, family, log_p


def test_transcription():
    """Four steps of 40 particles in the plane, one of them without an observation; it resamples on the way."""
    data = [([0.5, 0.0], [0.9, 0.1]), ([0.0, 0.5], None), ([0.0, 0.0], [1.5, -0.6]), ([-0.5, 0.0], [0.2, 0.9])]
    belief, rng = plane(40), default_rng(6)
    for a, z in data:
        belief = belief.update(Transition(None, a, 0.0, z), rng)
    pairs = [(np.array(a), None if z is None else np.array(z)) for a, z in data]
    p, s, noise, sensor, family, log_p = transcription(plane(40), pairs, default_rng(6))
    assert belief.ancestors == len(set(family)) < 40
    assert belief.sample.origin.tolist() == family
    np.testing.assert_allclose(belief.sample.weights, p, rtol=1e-9)
    np.testing.assert_allclose(belief.sample.states, s, rtol=1e-9)
    assert belief.log_evidence() == pytest.approx(log_p, abs=1e-9)
    for one, many in ((noise, belief.sample.noise), (sensor, belief.sample.sensor)):
        np.testing.assert_allclose(many.mean, [x.mean for x in one], rtol=1e-9)
        np.testing.assert_allclose(many.scatter, [x.scatter for x in one], rtol=1e-9)
        assert (many.strength, many.degrees) == (one[0].strength, one[0].degrees)


def test_restart_keeps_the_statistics():
    rng = default_rng(7)
    belief = learned(scalar(200), rng)
    again = belief.restart()
    assert again.sample.states is None
    assert again.state_moments() == (0.0, 0.25)
    assert again.log_evidence() == belief.log_evidence()
    for name in ("noise_moments", "sensor_moments"):
        np.testing.assert_array_equal(getattr(again, name)()[1], getattr(belief, name)()[1])
    after = again.update(Transition(None, 1.0, 0.0, 1.1), rng)
    assert after.sample.noise.strength == NOISE["strength"] + 4.0
    assert scalar(5).restart() == scalar(5)


def test_two_episodes_share_the_noises():
    """Two episodes of one step against a grid: the second state starts anew, given the same means and precisions."""
    rng = default_rng(8)
    log = [Transition(None, 1.0, 0.0, 1.6, truncated=True), Transition(None, 1.0, 0.0, 1.9, truncated=True)]
    belief = scalar(20_000).update_many(log, rng)
    # In one episode the sum of both observations' precision-weighted parts is not exchangeable; here it is:
    swapped = scalar(20_000).update_many(log[::-1], default_rng(9))
    assert belief.log_evidence() == pytest.approx(swapped.log_evidence(), abs=0.05)
    for name in ("noise_moments", "sensor_moments"):
        np.testing.assert_allclose(getattr(belief, name)()[0], getattr(swapped, name)()[0], atol=0.01)
    assert belief.noise_moments()[0][0] > 0.3


def test_numbers_of_particles():
    belief = scalar(64)
    assert (belief.effective, belief.ancestors) == (64.0, 64)
    rng = default_rng(10)
    for _ in range(30):
        belief = belief.update(Transition(None, 0.0, 0.0, 0.1), rng)
    assert belief.ancestors < 20  # they get lost, and the belief says so
    assert 32.0 <= belief.effective <= 64.0
    never = learned(scalar(64, resample=0.0), default_rng(10))
    assert never.ancestors == 64
    always = learned(scalar(64, resample=1.0), default_rng(10))
    np.testing.assert_array_equal(always.sample.weights, np.full(64, 1.0 / 64.0))


def test_thinned():
    rng = default_rng(11)
    belief = learned(scalar(4000), rng)
    few = belief.thinned(50, rng)
    assert (few.particles, few.sample.states.shape, few.sample.noise.mean.shape) == (50, (50, 1), (50, 1))
    assert abs(few.state_moments()[0][0] - belief.state_moments()[0][0]) < 0.2  # 3 standard errors of 50 draws
    assert belief.thinned(4000, rng) is belief
    assert scalar(100).thinned(7, rng).update(Transition(None, 0.0, 0.0, 0.1), rng).sample.states.shape == (7, 1)
    assert belief.restart().thinned(9, rng).sample.states is None


# States that are seen ------------------------------------------------------------------------------------------------


def test_seen_states_are_conjugate():
    rng, untouched = default_rng(12), default_rng(0)
    belief, noise, data = seen_plane(), NOISE_2D, []
    for _ in range(6):
        s, a, v = rng.standard_normal((3, 2))
        data.append(Transition(s, a, 0.0, s + a + v))
        belief, noise = belief.update(data[-1], untouched), noise.update(v)
    np.testing.assert_allclose(belief.noise.mean, noise.mean, rtol=1e-12)
    np.testing.assert_allclose(belief.noise.scatter, noise.scatter, rtol=1e-12)
    assert belief.log_evidence() == pytest.approx(noise.log_evidence(), abs=1e-9)
    drift, covariance = belief.noise_moments()
    np.testing.assert_allclose(drift, noise.mean, rtol=1e-12)
    np.testing.assert_allclose(covariance, noise.expected_covariance(), rtol=1e-12)
    assert untouched.bit_generator.state == default_rng(0).bit_generator.state
    assert seen_plane().update_many(data) == belief
    assert belief.update(data[0]._replace(next_observation=None)) is belief
    assert belief.restart() is belief
    assert belief.sample is None


def test_a_known_noise_of_seen_states():
    belief = NormalWishartDynamics(move, 0.5, inverse=unmove).update(Transition(0.0, 1.0, 0.0, 1.2))
    assert belief.log_evidence() == pytest.approx(-0.5 * 0.16 - np.log(0.5 * np.sqrt(2.0 * np.pi)))
    assert belief.noise_moments() == (0.0, 0.25)


def test_the_evidence_of_seen_states_may_be_a_density_of_states():
    def double(s, a, v):
        return s + a + 2.0 * v

    def half(s, a, y):
        return 0.5 * (y - s - a), np.full(1, -np.log(2.0))

    noise, step = NormalWishart(**NOISE), Transition(0.0, 1.0, 0.0, 1.5)
    belief = NormalWishartDynamics(double, noise, inverse=half).update(step)
    assert belief.log_evidence() == pytest.approx(noise.log_predictive(0.25) - np.log(2.0))


# Planning ------------------------------------------------------------------------------------------------------------


def test_draws_of_seen_states():
    belief, rng = seen_plane(), default_rng(13)
    x = belief.draw([1.0, 2.0], [0.5, 0.0], rng, 20_000)
    assert x.shape == (20_000, 2)
    expected = NOISE_2D.expected_covariance() * 1.5
    assert np.abs(x.mean(axis=0) - [1.6, 2.0]).max() < 5.0 * np.sqrt(expected.max() / 20_000)
    np.testing.assert_allclose(np.cov(x.T), expected, atol=0.02)
    assert belief.draw([0.0, 0.0], [0.0, 0.0], rng).shape == (1, 2)
    assert belief.expected_reward([1.0, 2.0], [1.0, 0.0]) == pytest.approx(-5.1)


def test_draws_of_hidden_states():
    """40,000 draws have the mean and the variance of the next observation on the grid."""
    belief = learned(scalar(), default_rng(14))
    x = belief.draw(None, 0.5, default_rng(15), 40_000)
    assert x.shape == (40_000, 1)
    mean, variance = grid_filter(ahead=0.5)
    assert x.mean() == pytest.approx(mean, abs=0.02)
    assert x.var() == pytest.approx(variance, rel=0.06)


def test_expected_rewards_of_hidden_states():
    belief = plane(500)
    assert belief.expected_reward(None, [1.0, 0.0]) == pytest.approx(-0.3, abs=1e-12)  # -E s's - .1
    rng = default_rng(16)
    belief = belief.update(Transition(None, [0.5, 0.5], 0.0, [0.4, 0.7]), rng)
    s, S = belief.state_moments()
    assert belief.expected_reward(None, [0.0, 0.0]) == pytest.approx(-(s @ s) - np.trace(S), abs=1e-12)
    with pytest.raises(Incompatible, match="'reward'"):
        scalar(5).expected_reward(None, 0.0)
    assert set(scalar(5, observation=None).unsupported) == {"expected_reward", "expected_rewards", "draw"}
    deep = NormalWishartDynamics(
        move, 1.0, inverse_observation=unlook, sensor=1.0, state=(np.ones(6), 0.25 * np.eye(6)), reward=cost
    )
    assert deep.expected_reward(None, np.zeros(6)) == pytest.approx(-7.5, abs=1e-12)


# Laws ----------------------------------------------------------------------------------------------------------------


def test_hidden_states_obey_the_laws():
    """Purity, concentration and moments of particles; false-alarm rate 1e-6 for each."""
    weak = (
        NormalWishart([0.1, 0.0], 0.5, 6.0, [[0.5, 0.1], [0.1, 0.3]]),
        NormalWishart([0.0, 0.0], 1.0, 6.0, 0.4 * np.eye(2)),
    )
    given = {"observation": look, "inverse_observation": unlook, "state": (np.zeros(2), 0.01 * np.eye(2))}
    check_belief(NormalWishartDynamics(move, weak[0], sensor=weak[1], **given), rng=default_rng(17))


@pytest.mark.long
def test_martingale_of_particles():
    """In distribution: 500 draws of a filter with 200 particles, false-alarm rate 1e-6.

    They detect a shift of .2 to .4 posterior standard deviations (six standard errors). The filter's own bias is of
    order 1 / 200.
    """
    check_martingale(plane(200), HiddenNoiseProbe(length=2), rng=default_rng(18), draws=500, data=2)


def test_calibration_of_particles():
    """In distribution: 300 replicates over 10 ranks, false-alarm rate 1e-6.

    Measured with one of six quantities wrong: a posterior that is twice or half as wide, or off by .7 of its width, is
    always found (60 of 60); off by half its width, in 50 of 60; wider by a half, in 18 of 60.
    """
    check_calibration(plane(300), HiddenNoiseProbe(), rng=default_rng(19), replicates=300, draws=9, data=2)


def test_a_posterior_can_be_pickled_and_compared():
    belief = learned(scalar(30), default_rng(20))
    assert pickle.loads(pickle.dumps(belief)) == belief
    assert learned(scalar(30), default_rng(20)) == belief
    assert learned(scalar(30), default_rng(21)) != belief
    for x in (belief.sample.states, belief.sample.weights, belief.sample.noise.scatter, belief.sample.origin):
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed, said", [
    ({"transition": None}, "'transition' must be a function of rows, got None"),
    ({"particles": 0}, "'particles' must be a whole number of at least 1"),
    ({"noise": 0.0}, "'noise' must be greater than 0"),
    ({"noise": "x"}, "'noise' must be a NormalWishart, a covariance matrix or a standard deviation"),
    ({"noise": [[1.0, 2.0], [2.0, 1.0]]}, "'noise' must be a positive definite matrix"),
    ({"sensor": [[1.0, 0.0], [0.5, 1.0]]}, "'sensor' must be a symmetric matrix"),
    ({"sensor": -1.0}, "'sensor' must be greater than 0"),
    ({"inverse_observation": None}, "'inverse_observation' must be given, since states are hidden"),
    ({"sensor": None}, "'inverse' must be given, since states are seen"),
    ({"state": None}, "'state' must be the mean and the covariance"),
    ({"state": (np.zeros(2), np.eye(3))}, "'state' must be an array of shape"),
    ({"state": (np.zeros(2), -np.eye(2))}, "'state' must be a mean and a symmetric covariance"),
    ({"state": ([0.0, np.nan], np.eye(2))}, "'state' must be finite"),
    ({"gamma": 1.5}, "'gamma' must be in"),
    ({"resample": 2.0}, "'resample' must be in"),
    ({"reward": 3.0}, "'reward' must be a function of rows"),
])  # fmt: skip
def test_bad_parameters(changed, said):
    given = {"transition": move, "noise": NOISE_2D, "observation": look, "inverse_observation": unlook}
    given |= {"sensor": SENSOR_2D, "state": (np.zeros(2), np.eye(2))}
    with pytest.raises(InvalidArgument, match=said):
        NormalWishartDynamics(**(given | changed))


@pytest.mark.parametrize("changed, said", [
    ({"action": [np.nan, 0.0]}, "'action' must be finite"),
    ({"action": [0.0]}, "'action' must be a vector of 2 numbers"),
    ({"action": [0.0, 0.0, 0.0]}, "'action' must be a vector of 2 numbers"),
    ({"next_observation": [0.0, np.nan]}, "'next_observation' must be finite"),
    ({"next_observation": [0.0]}, "'next_observation' must be a vector of 2 numbers"),
    ({"next_observation": "x"}, "'next_observation' must be an array of numbers"),
])  # fmt: skip
def test_bad_data(changed, said):
    rng = default_rng(22)
    good = Transition([0.0, 0.0], [0.5, 0.5], 0.0, [0.4, 0.7])
    for belief in (plane(20).update(good, rng), seen_plane().update(good)):
        before = pickle.dumps(belief)
        with pytest.raises(InvalidArgument, match=said):
            belief.update(good._replace(**changed), rng)
        assert pickle.dumps(belief) == before
    with pytest.raises(BrokenContract, match="the function 'transition' does not take an array of shape"):
        plane(20).update(good._replace(action=[1.0, 2.0, 3.0]), rng)
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        plane(20).update(good)
    with pytest.raises(InvalidArgument, match="'observation' must be a vector of 2 numbers"):
        seen_plane().update(good._replace(observation=[0.0]))
    with pytest.raises(InvalidArgument, match="states are seen"):
        seen_plane().state_moments()


def test_functions_that_do_not_fit():
    rng, step = default_rng(23), Transition(None, [0.0, 0.0], 0.0, [0.4, 0.7])
    for name, function, said in (
        (
            "transition",
            lambda s, a, v: s[:, :1],
            r"'transition' must be a function that gives an array of shape \(9, 2\)",
        ),
        ("transition", lambda s, a, v: s * np.nan, "'transition' must be a function that gives finite numbers"),
        ("inverse_observation", lambda s, a, z: z - s, "a function that gives a pair"),
        ("inverse_observation", lambda s, a, z: ((z - s)[:, :1], 0.0), r"shape \(9, 2\)"),
        ("inverse_observation", lambda s, a, z: (z - s, np.full(len(s), np.nan)), "finite, or with a log derivative"),
        ("inverse_observation", lambda s, a, z: (np.sqrt(-1.0 - s * s), 0.0), "finite, or with a log derivative"),
        ("inverse_observation", lambda s, a, z: (z - 2.0 * s, 0.0), "must be the inverse of 'observation'"),
    ):
        with pytest.raises(InvalidArgument, match=said), np.errstate(invalid="ignore"):
            NormalWishartDynamics(**(functions() | {name: function})).update(step, rng)
    wrong = NormalWishartDynamics(move, NOISE_2D, inverse=lambda s, a, y: y - s)
    with pytest.raises(InvalidArgument, match="'inverse' must be the inverse of 'transition'"):
        wrong.update(Transition([0.0, 0.0], [1.0, 0.0], 0.0, [0.4, 0.7]))
    with pytest.raises(InvalidArgument, match="'reward' must be a function that gives an array of shape"):
        plane(9, reward=lambda s, a: s).expected_reward(None, [0.0, 0.0])


def test_columns_will_do():
    """For a log derivative and for rewards, which are one number for each row."""
    given = {"inverse_observation": lambda s, a, z: (z - s, np.zeros_like(s)), "reward": lambda s, a: -(s**2)}
    column = learned(scalar(50, **given), default_rng(27))
    plain = learned(scalar(50, reward=lambda s, a: -(s[:, 0] ** 2)), default_rng(27))
    np.testing.assert_array_equal(column.sample.weights, plain.sample.weights)
    assert column.expected_reward(None, 0.0) == plain.expected_reward(None, 0.0)


def test_users_functions_are_not_written_to_files(tmp_path):
    with pytest.raises(InvalidArgument, match="'thing' must be made of values of this library"):
        save(learned(scalar(5), default_rng(0)), tmp_path / "belief.zip")


def functions():
    given = {"transition": move, "noise": NOISE_2D, "observation": look, "inverse_observation": unlook}
    return given | {"sensor": SENSOR_2D, "state": (np.zeros(2), np.eye(2)), "particles": 9}


def test_impossible_evidence_leaves_the_belief_as_it_was():
    """No particle explains an observation outside [-1, 1]; where some do, the others get no weight."""

    def inside(s, a, z):
        ok = np.abs(z[0] - s[:, 0]) < 1.0
        return z - s, np.where(ok, 0.0, -np.inf)

    belief = learned(scalar(50, inverse_observation=inside), default_rng(24), ACTIONS[:1], SEEN[:1])
    before, rng = pickle.dumps(belief.sample), default_rng(25)
    with pytest.raises(ImpossibleEvidence, match=r"observation \[99\.0\] has probability zero"):
        belief.update(Transition(None, 0.0, 0.0, 99.0), rng)
    assert pickle.dumps(belief.sample) == before
    after = belief.update(Transition(None, 0.0, 0.0, 1.5), rng)
    assert (after.sample.weights > 0.0).any()
    assert np.isfinite(after.state_moments()[0]).all()


@pytest.mark.long
def test_the_error_falls_as_the_root_of_the_particles():
    """The slope of the log error in log N is -1/2, within .1 of it; 150 filters for each of four numbers N.

    The logarithm of a root mean square of 150 errors has the deviation .058, and the slope .019: false-alarm rate 1e-6.
    """
    sizes, expected = np.array([125, 500, 2000, 8000]), grid_filter()
    logs = []
    for n in sizes.tolist():
        found = np.array([summary(learned(scalar(n), default_rng([26, n, i]))) for i in range(150)])
        found[:, 0], exact = np.log(found[:, 0]), np.append(np.log(expected[0]), expected[1:])
        logs.append(0.5 * np.log(np.mean((found - exact) ** 2, axis=0)))
    slope = np.polyfit(np.log(sizes), np.array(logs), 1)[0]
    assert np.abs(slope + 0.5).max() < 0.1, slope
