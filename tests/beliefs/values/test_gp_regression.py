"""Regression against dense conditioning, quadrature and finite differences."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats
from scipy.linalg import block_diag

from bayesrl.beliefs import BayesianLinearRegression, GPRegression, covariances, features
from bayesrl.beliefs.covariances import (
    Direction,
    Discrete,
    Fisher,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    StateAction,
)
from bayesrl.beliefs.values.observations import Rows, _singular, is_regular
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import unchecked

RNG = default_rng(0)
X, Z = RNG.normal(size=(7, 2)), RNG.normal(size=(4, 2))
Y = RNG.normal(size=7)
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
KERNELS = {
    "gaussian": Gaussian(scale=0.8, variance=1.3),
    "gaussian, scales": Gaussian(scale=[0.8, 2.0]),
    "matern 1/2": Matern(smoothness=0.5, scale=1.2),
    "matern 3/2": Matern(smoothness=1.5, scale=[1.2, 0.4]),
    "matern 5/2": Matern(smoothness=2.5, scale=0.7, variance=2.0),
    "polynomial": Polynomial(degree=3, offset=0.5, variance=0.2),
    "linear": Linear(variance=2.0),
    "discrete": Discrete(variance=1.5),
    "sum": Gaussian(scale=0.8) + Linear(),
    "product": Gaussian(scale=0.8) * Matern(),
    "pairs": StateAction(Gaussian(scale=0.8), Gaussian(scale=0.3), dims=1),
}


# Covariances ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_covariances_are_symmetric_and_positive(name):
    k = KERNELS[name]
    K = k(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(K), k.diagonal(X), rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(k(X, Z), k(Z, X).T, rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_derivatives_match_finite_differences(name):
    k, step = KERNELS[name], 1e-6
    for i, slope in enumerate(k.derivatives(X)):
        logs = k.parameters
        up, down = logs.copy(), logs.copy()
        up[i] += step
        down[i] -= step
        numeric = (k.with_parameters(up)(X, X) - k.with_parameters(down)(X, X)) / (2.0 * step)
        np.testing.assert_allclose(slope, numeric, atol=1e-7)


def test_covariances_by_hand():
    r = np.sqrt(0.5**2 + 1.0**2)
    x, y = [[0.0, 0.0]], [[0.5, 2.0]]
    np.testing.assert_allclose(Gaussian(scale=[1.0, 2.0], variance=3.0)(x, y), 3.0 * np.exp(-0.5 * r**2))
    for nu, shape in ((0.5, 1.0), (1.5, 1.0 + np.sqrt(3) * r), (2.5, 1.0 + np.sqrt(5) * r + 5.0 * r**2 / 3.0)):
        expected = shape * np.exp(-np.sqrt(2.0 * nu) * r)
        np.testing.assert_allclose(Matern(smoothness=nu, scale=[1.0, 2.0])(x, y), expected)
    np.testing.assert_allclose(Direction(b=0.3)(UNIT[:1], UNIT[1:2]), 1.0 + 0.35 * (UNIT[0] @ UNIT[1] - 1.0))
    G = np.array([[2.0, 1.0], [1.0, 2.0]])
    inner = X[:1] @ np.linalg.inv(G) @ X[1:2].T
    np.testing.assert_allclose(Fisher(G)(X[:1], X[1:2]), inner)
    np.testing.assert_allclose(Fisher(G, degree=2)(X[:1], X[1:2]), (1.0 + inner) ** 2)


def test_fisher_takes_the_pseudo_inverse():
    G = np.array([[1.0, -1.0], [-1.0, 1.0]])
    scores = np.array([[0.5, -0.5], [2.0, -2.0]])
    np.testing.assert_allclose(Fisher(G)(scores, scores), scores @ np.linalg.pinv(G) @ scores.T)
    assert Fisher(G).root.shape == (2, 1)


def test_expectations_match_monte_carlo():
    """400,000 draws; five standard errors (false alarm 3e-6 for each of 5 numbers)."""
    k, mean, S = Gaussian(scale=[0.7, 1.4], variance=1.2), np.array([0.2, -0.4]), np.array([[0.5, 0.2], [0.2, 0.3]])
    rng = default_rng(1)
    x, y = (rng.multivariate_normal(mean, S, 400_000) for _ in range(2))
    draws = k(x, Z)
    assert (np.abs(draws.mean(0) - k.expectation(mean, S, Z)) < 5.0 * draws.std(0) / np.sqrt(len(x))).all()
    both = 1.2 * np.exp(-0.5 * np.sum(((x - y) / k.scale) ** 2, axis=1))
    assert abs(both.mean() - k.double_expectation(mean, S)) < 5.0 * both.std() / np.sqrt(len(x))
    several = k.expectation(np.array([mean, -mean]), np.array([S, 2.0 * S]), Z)
    np.testing.assert_allclose(several[1], k.expectation(-mean, 2.0 * S, Z))


# Gaussian-process regression -----------------------------------------------------------------------------------------


def conditioned(k, H, y, S):
    A, C = H @ k(X, X) @ H.T + S, k(Z, X) @ H.T
    evidence = stats.multivariate_normal(np.zeros(len(y)), A).logpdf(y)
    return C @ np.linalg.solve(A, y), k(Z, Z) - C @ np.linalg.solve(A, C.T), evidence


def same(belief, expected, tol=1e-9):
    mean, covariance, evidence = expected
    np.testing.assert_allclose(belief.mean(Z), mean, atol=tol)
    np.testing.assert_allclose(belief.covariance(Z), covariance, atol=tol)
    np.testing.assert_allclose(belief.variance(Z), np.diagonal(covariance), atol=tol)
    np.testing.assert_allclose(belief.log_evidence(), evidence, atol=tol)


@pytest.mark.parametrize("name", KERNELS)
def test_equal_to_dense_conditioning(name):
    expected = conditioned(KERNELS[name], np.eye(7), Y, 0.09 * np.eye(7))
    prior = GPRegression(KERNELS[name], noise=0.3)
    same(prior.update_many((X, Y)), expected)
    single = prior
    for x, y in zip(X, Y, strict=True):
        single = single.update((x, float(y)))
    same(single, expected)
    same(prior.update_many((X[:3], Y[:3])).update_many((X[3:], Y[3:])), expected)


def test_linear_statistical_model():
    """y = H f + noise with a full covariance, in one batch and after other data."""
    rng = default_rng(2)
    H, root = rng.normal(size=(5, 7)), rng.normal(size=(5, 5))
    S, y, k = root @ root.T + 0.1 * np.eye(5), rng.normal(size=5), Gaussian(scale=1.0)
    same(GPRegression(k).update_linear(X, H, y, S), conditioned(k, H, y, S))
    both = GPRegression(k, noise=0.3).update_many((X, Y)).update_linear(X, H, y, S)
    whole = np.zeros((12, 12))
    whole[:7, :7], whole[7:, 7:] = 0.09 * np.eye(7), S
    same(both, conditioned(k, np.vstack([np.eye(7), H]), np.append(Y, y), whole))
    plain = GPRegression(k, noise=0.3).update_linear(X, H, y)
    same(plain, conditioned(k, H, y, 0.09 * np.eye(5)))


def test_facts_of_the_reference():
    """Gaussian-process dynamics of the reference's oracle: scales (1, 1.5), sd 1.2, noise .1."""
    points = [(0.0, 1.0), (0.9, -1.0), (0.1, 0.0), (0.15, 1.0)]
    k = Gaussian(scale=[1.0, 1.5], variance=1.44)
    belief = GPRegression(k, noise=0.1).update_many((points, [0.9, 0.1, 0.15, 1.1]))
    np.testing.assert_allclose(belief.mean([[0.5, 0.5]]), 0.8783638, atol=5e-8)
    np.testing.assert_allclose(belief.variance([[0.5, 0.5]]), 0.1033768, atol=5e-8)
    np.testing.assert_allclose(belief.log_evidence(), -3.1413687, atol=5e-8)


def test_fit_maximises_the_evidence():
    """The gradient is zero at the fitted values, the evidence is not less than anywhere near, data stay the same."""
    rng = default_rng(3)
    x = rng.uniform(-3.0, 3.0, 40)
    y = np.sin(2.0 * x) + 0.2 * rng.standard_normal(40)
    prior = GPRegression(Gaussian(scale=3.0, variance=0.1), noise=1.0).update_many((x, y))
    fitted = prior.fit(default_rng(0))
    assert fitted.log_evidence() > prior.log_evidence() + 5.0
    assert 0.1 < fitted.noise < 0.35
    for scale in (0.95, 1.05):
        near = GPRegression(
            Gaussian(fitted.prior_covariance.scale * scale, fitted.prior_covariance.variance), fitted.noise
        )
        assert near.update_many((x, y)).log_evidence() < fitted.log_evidence()
        near = GPRegression(fitted.prior_covariance, fitted.noise * scale).update_many((x, y))
        assert near.log_evidence() < fitted.log_evidence()
    again = GPRegression(fitted.prior_covariance, fitted.noise).update_many((x, y))
    np.testing.assert_allclose(again.log_evidence(), fitted.log_evidence(), atol=1e-8)


@pytest.mark.parametrize("name", ["process", "mixtures", "linear"])
def test_the_gradient_of_the_evidence_matches_differences(name, monkeypatch):
    """What `fit` maximises is the evidence of the belief with those hyper-parameters, with its gradient."""
    rng, asked = default_rng(5), []
    H, S = rng.normal(size=(3, 7)), np.diag([0.5, 0.3, 0.2]) + 0.1
    made = {
        "process": lambda logs: GPRegression(
            Gaussian(np.exp(logs[:2]), float(np.exp(logs[2]))), float(np.exp(logs[3]))
        ),
        "mixtures": lambda logs: GPRegression(
            Gaussian(np.exp(logs[:2]), float(np.exp(logs[2]))), float(np.exp(logs[3]))
        ),
        "linear": lambda logs: BayesianLinearRegression(features.Polynomial(2, 2), *map(float, np.exp(logs))),
    }[name]

    def told(logs):
        belief = made(logs).update_many((X, Y))
        return belief.update_linear(X, H, Y[:3], S) if name == "mixtures" else belief

    def watched(owner, evidence, first, starts, random):
        asked.append((evidence, first))
        return first

    where = "bayesian_linear_regression" if name == "linear" else "gp_regression"
    monkeypatch.setattr(f"bayesrl.beliefs.values.{where}.maximise_evidence", watched)
    logs = np.log([0.4, 1.7]) if name == "linear" else np.log([0.8, 2.0, 1.3, 0.4])
    again = told(logs).fit(default_rng(0))
    (evidence, first), h = asked[0], 1e-5
    np.testing.assert_allclose(first, logs, atol=1e-12)
    np.testing.assert_allclose(again.mean(Z), told(logs).mean(Z), rtol=1e-9)
    np.testing.assert_allclose(again.log_evidence(), told(logs).log_evidence(), rtol=1e-9)
    for at in (logs, logs + 0.3):
        reached, slope = evidence(at)
        assert reached == pytest.approx(told(at).log_evidence(), abs=1e-8)
        steps = h * np.eye(len(at))
        numeric = [(told(at + e).log_evidence() - told(at - e).log_evidence()) / (2.0 * h) for e in steps]
        np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.long
def test_fit_does_not_stop_where_data_look_like_white_noise():
    """With tiny scales the evidence is flat; from steep starts whole steps of L-BFGS ended there."""
    rng = default_rng(0)
    x = rng.uniform([-1.0, -4.0], [1.0, 4.0], (100, 2))
    slope = np.where(x[:, 0] < 0.0, 2.0 * x[:, 0] + 1.0, (1.0 + 5.0 * x[:, 0] ** 2) ** -1.5)
    y = 0.3 * (x[:, 1] - 9.81 * np.sin(np.arctan(slope)))  # how the velocity of the car on the hill changes
    prior = GPRegression(Gaussian(scale=[1.0, 8.0]), noise=0.01).update_many((x, y))
    for start in range(10):
        fitted = prior.fit(default_rng(start), starts=1)
        assert fitted.log_evidence() > 0.0  # white noise has about -170
        prior = GPRegression(Gaussian(scale=np.exp(rng.normal(size=2)) * [1.0, 8.0]), noise=0.01).update_many((x, y))


def test_fit_climbs_to_the_edge_of_singular_matrices():
    """Without noise in the data the evidence grows until the matrix is singular. No allowed neighbour has more."""
    x = default_rng(1).uniform(-2.0, 2.0, 30)
    data = x, np.sin(x) + 0.3 * x**2
    fitted = GPRegression(Gaussian(scale=[1.0]), noise=0.1).update_many(data).fit(default_rng(0), starts=1)
    logs, singular = np.append(fitted.prior_covariance.parameters, np.log(fitted.noise)), 0
    for i, step in [(i, step) for i in range(3) for step in (-0.5, 0.5)]:
        moved = logs + step * np.eye(3)[i]
        prior = GPRegression(fitted.prior_covariance.with_parameters(moved[:-1]), float(np.exp(moved[-1])))
        try:
            assert prior.update_many(data).log_evidence() < fitted.log_evidence()
        except InvalidArgument:
            singular += 1
    assert singular


def test_rows_of_zeros():
    """Entries of H that are zero are not kept, and a row of zeros says something about the noise alone."""
    H, y = np.zeros((3, len(X))), np.array([0.3, -0.2, 0.1])
    H[0, 2], H[2, :2] = 1.0, (0.5, -1.0)
    k, S = Gaussian(scale=0.7), np.diag([0.1, 0.2, 0.3])
    same(GPRegression(k).update_linear(X, H, y, S), conditioned(k, H, y, S))
    assert len(Rows.of(H, 0).weight) == 4


def test_data_of_every_shape_in_pieces():
    """Each part of the memory (points, rows, entries of rows) is in turn the first to be full, at one entry more.

    Every version must be what dense conditioning on all data says, and stay so when later ones were made.
    """
    rng, k = default_rng(7), Gaussian(scale=0.7)
    one, unused = np.ones((1, 1)), np.eye(6)[2:3]  # of six points five are not looked at
    for rows in (
        [one] * 38,
        [rng.uniform(0.5, 1.5, (5, 2)) for _ in range(8)],
        [rng.uniform(0.5, 1.5, (2, 6)), *[one] * 24],
        [unused] * 8,
    ):
        made, Xs, ys = [GPRegression(k, noise=0.4)], [], []
        for H in rows:
            x, y = rng.normal(size=(H.shape[1], 2)), rng.normal(size=len(H))
            Xs.append(x)
            ys.append(y)
            made.append(made[-1].update((x[0], y[0])) if H is one else made[-1].update_linear(x, H, y))
        for n in range(1, len(rows) + 1, 4 if one is rows[-1] else 1):
            H, x, y = block_diag(*rows[:n]), np.concatenate(Xs[:n]), np.concatenate(ys[:n])
            A, C = H @ k(x, x) @ H.T + 0.16 * np.eye(len(y)), k(Z, x) @ H.T
            evidence = stats.multivariate_normal(np.zeros(len(y)), A).logpdf(y)
            same(made[n], (C @ np.linalg.solve(A, y), k(Z, Z) - C @ np.linalg.solve(A, C.T), evidence), 1e-8)


def test_what_counts_as_rounding():
    """A pivot squared must exceed 4 eps n times the variance; an eigenvalue may be negative by 1e-8 of the largest."""
    size, eps = np.array([3.0, 0.2, 50.0]), np.finfo(float).eps
    for n, number in ((7, 7), (None, 3)):
        at_limit = np.sqrt(4.0 * eps * number * size)
        for i in range(3):
            for share, fine in ((0.999, False), (1.001, True)):
                pivots = 2.0 * at_limit
                pivots[i] = share * at_limit[i]
                assert is_regular(np.diag(pivots) + np.tri(3, k=-1), size, n) == fine

    for least, said in ((2.9e-6, "'noise' must be large enough"), (3.1e-6, "'covariance' must be positive definite")):
        given = {"matrix": lambda self, X, Y, least=least: np.diag([-least, 20.0, 300.0])}
        assert said in str(_singular("owner", type("Fixed", (Gaussian,), given)(), X[:3]))


# Linear regression ---------------------------------------------------------------------------------------------------


def test_both_forms_of_linear_regression_agree():
    """Fewer data than features, and then more: each form against the other's formula."""
    phi = features.Polynomial(degree=2, dims=2)
    prior = BayesianLinearRegression(phi, noise=0.4, prior_variance=1.7)
    for n in (1, 3, 5, 6, 7):
        P = phi(X[:n])
        weights = np.linalg.solve(P.T @ P + 0.16 / 1.7 * np.eye(6), P.T @ Y[:n])
        belief = prior.update_many((X[:n], Y[:n]))
        np.testing.assert_allclose(belief.weights, weights, atol=1e-10)
        spread = 0.16 * np.linalg.inv(P.T @ P + 0.16 / 1.7 * np.eye(6))
        np.testing.assert_allclose(belief.covariance(Z), phi(Z) @ spread @ phi(Z).T, atol=1e-10)
        density = stats.multivariate_normal(np.zeros(n), 1.7 * P @ P.T + 0.16 * np.eye(n)).logpdf(Y[:n])
        np.testing.assert_allclose(belief.log_evidence(), density, atol=1e-9)
        single = prior
        for x, y in zip(X[:n], Y[:n], strict=True):
            single = single.update((x, float(y)))
        np.testing.assert_allclose(single.weights, weights, atol=1e-10)


def test_few_data_without_noise_are_interpolated():
    """Fewer data than features and no noise: the k x k form would be singular."""
    belief = BayesianLinearRegression(features.Polynomial(degree=2, dims=2), noise=0.0).update_many((X[:4], Y[:4]))
    np.testing.assert_allclose(belief.mean(X[:4]), Y[:4], atol=1e-9)
    np.testing.assert_allclose(belief.variance(X[:4]), 0.0, atol=1e-9)
    assert (belief.variance(Z) > 1e-3).all()


def test_linear_regression_is_gp_regression():
    phi = features.RBF(X[:4], scale=0.9)
    linear = BayesianLinearRegression(phi, noise=0.4, prior_variance=2.0).update_many((X, Y))
    process = GPRegression(Linear(variance=2.0), noise=0.4).update_many((phi(X), Y))
    np.testing.assert_allclose(linear.mean(Z), process.mean(phi(Z)), atol=1e-10)
    np.testing.assert_allclose(linear.variance(Z), process.variance(phi(Z)), atol=1e-10)
    np.testing.assert_allclose(linear.log_evidence(), process.log_evidence(), atol=1e-9)


def test_linear_fit_maximises_the_evidence():
    rng = default_rng(4)
    x = rng.uniform(-2.0, 2.0, 60)
    y = 1.0 + 2.0 * x + 0.3 * rng.standard_normal(60)
    prior = BayesianLinearRegression(features.Polynomial(1), noise=2.0).update_many((x, y))
    fitted = prior.fit(default_rng(0))
    assert 0.2 < fitted.noise < 0.4
    for noise, variance in ((1.05, 1.0), (0.95, 1.0), (1.0, 1.1), (1.0, 0.9)):
        near = BayesianLinearRegression(fitted.features, fitted.noise * noise, fitted.prior_variance * variance)
        assert near.update_many((x, y)).log_evidence() < fitted.log_evidence()


# Features ------------------------------------------------------------------------------------------------------------

FEATURES = {
    "tabular": (features.Tabular(4), [0, 3]),
    "rbf": (features.RBF(X, scale=0.5), Z),
    "tiles": (features.Tiles([-3.0, -3.0], [3.0, 3.0], tiles=4, tilings=3), Z),
    "polynomial": (features.Polynomial(degree=3, dims=2), Z),
    "fourier": (features.Fourier([-3.0, -3.0], [3.0, 3.0], order=2), Z),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features_have_their_size(name):
    phi, states = FEATURES[name]
    assert phi(states).shape == (len(states), phi.size)


def test_every_tiling_marks_one_tile():
    phi, states = FEATURES["tiles"]
    np.testing.assert_array_equal(phi(states).reshape(len(states), 3, -1).sum(axis=2), 1.0)
    edges = phi([[3.0, 3.0], [-3.0, -3.0]])
    assert edges.sum() == 6.0


BAD = {
    "scale": lambda: Gaussian(scale=0.0),
    "scale nan": lambda: Gaussian(scale=float("nan")),
    "variance": lambda: Gaussian(variance=-1.0),
    "smoothness": lambda: Matern(smoothness=1.0),
    "degree": lambda: Polynomial(degree=0),
    "offset": lambda: Polynomial(offset=-1.0),
    "b": lambda: Direction(b=2.0),
    "unit": lambda: Direction()([[2.0, 0.0]], [[1.0, 0.0]]),
    "information": lambda: Fisher([[1.0, 2.0], [0.0, 1.0]]),
    "eigenvalue": lambda: Fisher([[1.0, 2.0], [2.0, 1.0]]),
    "scores": lambda: Fisher(np.eye(2))([[1.0]], [[1.0]]),
    "dims": lambda: StateAction(Gaussian(), Gaussian(), dims=3)(X, X),
    "parts": lambda: StateAction(1, Gaussian(), dims=1),
    "points": lambda: Gaussian()(X, [[1.0]]),
    "nan": lambda: Gaussian()([np.nan], [1.0]),
    "spread": lambda: Gaussian().expectation([0.0], [[-1.0]], [0.0]),
    "noise": lambda: GPRegression(noise=-0.1),
    "repeated": lambda: GPRegression(noise=0.0).update_many(([1.0, 1.0], [0.0, 0.0])),
    "y": lambda: GPRegression().update((0.0, np.inf)),
    "lengths": lambda: GPRegression().update_many(([0.0, 1.0], [0.0])),
    "H": lambda: GPRegression().update_linear([0.0, 1.0], [[1.0]], [0.0]),
    "noise covariance": lambda: GPRegression().update_linear([0.0], [[1.0]], [0.0], [[-1.0]]),
    "no data": lambda: GPRegression().fit(default_rng(0)),
    "tabular": lambda: features.Tabular(2)([2]),
    "box": lambda: features.Fourier([0.0], [0.0]),
    "centres": lambda: features.RBF([np.nan]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_a_sentence(name):
    with pytest.raises(InvalidArgument, match="must be"):
        BAD[name]()


def test_modules_are_reached_from_the_package():
    import bayesrl

    assert bayesrl.beliefs.covariances is covariances


# Both regressions ----------------------------------------------------------------------------------------------------

BOTH = {
    "process": lambda **how: GPRegression(Gaussian(scale=0.8), **how),
    "linear": lambda **how: BayesianLinearRegression(features.Polynomial(degree=1, dims=2), **how),
}


@pytest.mark.parametrize("name", BOTH)
def test_data_are_pairs(name):
    """Tuples of a point and its value, alone or in a list; anything else is refused by the name of the argument."""
    prior = BOTH[name](noise=0.3)
    x, y = [0.5, -1.0], 0.7
    for datum in ([x, y], (x,), (x, y, y), x, None, {x[0]: y}):
        with pytest.raises(InvalidArgument, match="update: 'datum' must be a point and its value"):
            prior.update(datum)
    for log in ([(x, y), 3.0], [], (X,), (X, Y, Y), [X, Y], None):
        with pytest.raises(InvalidArgument, match="update_many: 'log' must be points and their values"):
            prior.update_many(log)
    for bad in (1e160, -1e160, np.inf, np.nan, "a"):
        with pytest.raises(InvalidArgument, match="update: 'y' must be"):
            prior.update((x, bad))
        with pytest.raises(InvalidArgument, match="update_many: 'y' must be"):
            prior.update_many(([x, x], [0.0, bad]))
        with pytest.raises(InvalidArgument, match="must be"):
            prior.update(([0.5, bad], 0.7))
    listed = prior.update_many([(x, y), ([0.1, 0.2], -0.4)])
    both = prior.update_many(([x, [0.1, 0.2]], [y, -0.4]))
    np.testing.assert_allclose(listed.mean(Z), both.mean(Z), atol=1e-12)


@pytest.mark.parametrize("name", BOTH)
def test_a_noise_of_one_is_a_noise(name):
    """Also where there are more data than features, and for `fit`; without noise, data that repeat are refused."""
    prior = BOTH[name](noise=1.0).update_many((X, Y))
    K = Gaussian(scale=0.8)(X, X) if name == "process" else prior.features(X) @ prior.features(X).T
    density = stats.multivariate_normal(np.zeros(7), K + np.eye(7)).logpdf(Y)
    assert prior.log_evidence() == pytest.approx(density, abs=1e-9)
    assert prior.fit(default_rng(0), starts=1).log_evidence() > prior.log_evidence()
    with pytest.raises(InvalidArgument, match="'noise' must be"):
        BOTH[name](noise=0.0).update_many((np.tile(X, (2, 1)), np.tile(Y, 2))).mean(Z)
    with pytest.raises(InvalidArgument, match="fit: 'self' must be a belief with data"):
        BOTH[name]().fit(default_rng(0))
    for starts in (0, 1.5, None):
        with pytest.raises(InvalidArgument, match="fit: 'starts' must be a whole number of at least 1"):
            prior.fit(default_rng(0), starts=starts)


def test_linear_regression_with_as_many_data_as_features():
    """Rows are no longer kept then: such a belief is as it should be, and one datum less without rows is not."""
    phi = features.Polynomial(degree=1, dims=2)  # three features
    belief = BayesianLinearRegression(phi, noise=0.4).update_many((X[:3], Y[:3]))
    assert belief.sums.rows is None
    belief.check_grown()
    with pytest.raises(InvalidArgument, match="rows and values of fewer data than features"):
        unchecked(belief, sums=belief.sums._replace(n=2)).check_grown()
    with pytest.raises(InvalidArgument, match="fit: 'noise' must be greater than 0"):
        BayesianLinearRegression(phi, noise=0.0).update_many((X[:2], Y[:2])).fit(default_rng(0))


def test_a_fit_keeps_the_noise_that_was_given():
    """A second fit starts from the first one, with the same covariances of data."""
    X = np.linspace(0.0, 2.0, 5)
    belief = GPRegression(Gaussian(), noise=0.3).update_linear(X, np.eye(5), np.sin(X), 0.01 * np.eye(5))
    once = belief.fit(default_rng(0), 1)
    for one, other in zip(once.blocks, belief.blocks, strict=True):
        assert one[0] == other[0]
        np.testing.assert_array_equal(one[1], other[1])
    np.testing.assert_allclose(once.fit(default_rng(0), 1).mean(X), once.mean(X), 1e-4)
