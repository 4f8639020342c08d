"""Covariances and features by hand: every formula, its parameters, and what is refused at the edge."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import special

from bayesrl.beliefs.covariances import (
    Direction,
    Discrete,
    Fisher,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    StateAction,
    points,
    root_of_inverse,
)
from bayesrl.beliefs.features import RBF, Fourier, Tabular, Tiles
from bayesrl.beliefs.features import Polynomial as Monomials
from bayesrl.errors import InvalidArgument

RNG = default_rng(0)
X, Y = RNG.normal(size=(6, 2)), RNG.normal(size=(4, 2))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
G = np.array([[2.0, 1.0], [1.0, 3.0]])
KERNELS = {
    "gaussian": Gaussian(scale=0.8, variance=1.3),
    "gaussian, scales": Gaussian(scale=[0.8, 2.0], variance=0.7),
    "matern": Matern(smoothness=2.5, scale=[0.7, 0.2], variance=2.0),
    "rough": Matern(smoothness=0.5, scale=[0.7, 0.4], variance=1.7),
    "once differentiable": Matern(smoothness=1.5, scale=0.6, variance=0.4),
    "polynomial": Polynomial(degree=3, offset=0.5, variance=0.2),
    "no offset": Polynomial(degree=2, offset=0.0, variance=0.3),
    "linear": Linear(variance=2.0),
    "discrete": Discrete(variance=1.5),
    "direction": Direction(b=0.3),
    "fisher": Fisher(G),
    "fisher squared": Fisher(G, degree=2),
    "sum": Gaussian(scale=0.8) + Linear(variance=3.0),
    "product": Gaussian(scale=[0.8, 0.1]) * Polynomial(variance=3.0),
    "pairs": StateAction(Gaussian(scale=0.8, variance=4.0), Matern(scale=0.3), dims=1),
}


@pytest.mark.parametrize("name", KERNELS)
def test_variances_are_the_diagonal(name):
    """k(x, x) at once and one by one; positive definite; one row of the matrix for each point."""
    k, x = KERNELS[name], UNIT if name == "direction" else X
    K = k(x, x)
    np.testing.assert_allclose(k.diagonal(x), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(x), [k(z[None], z[None])[0, 0] for z in x], rtol=1e-12)
    np.testing.assert_allclose(k(x[:4], x[2:5]), K[:4, 2:5], rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10


@pytest.mark.parametrize("name", KERNELS)
def test_parameters_are_logarithms(name):
    """Replaced by themselves they change nothing; each has a derivative; other fields stay."""
    k, x = KERNELS[name], UNIT if name == "direction" else X
    logs = k.parameters
    assert k.derivatives(x).shape == (len(logs), len(x), len(x))
    again = k.with_parameters(logs)
    np.testing.assert_allclose(again(x, x), k(x, x), rtol=1e-12)
    np.testing.assert_allclose(k.with_parameters(logs + 0.1).parameters, logs + 0.1, rtol=1e-12)
    for i, slope in enumerate(k.derivatives(x)):
        step = 1e-6 * np.eye(len(logs))[i]
        numeric = (k.with_parameters(logs + step)(x, x) - k.with_parameters(logs - step)(x, x)) / 2e-6
        np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-7)


def test_parameters_by_hand():
    np.testing.assert_allclose(np.exp(KERNELS["gaussian, scales"].parameters), [0.8, 2.0, 0.7])
    np.testing.assert_allclose(np.exp(KERNELS["gaussian"].parameters), [0.8, 1.3])
    np.testing.assert_allclose(np.exp(KERNELS["polynomial"].parameters), [0.5, 0.2])
    np.testing.assert_allclose(np.exp(KERNELS["no offset"].parameters), [0.3])
    np.testing.assert_allclose(np.exp(KERNELS["sum"].parameters), [0.8, 1.0, 3.0])
    np.testing.assert_allclose(np.exp(KERNELS["pairs"].parameters), [0.8, 4.0, 0.3, 1.0])
    assert len(KERNELS["direction"].parameters) == len(KERNELS["fisher"].parameters) == 0
    assert isinstance(KERNELS["gaussian"].with_parameters(np.zeros(2)).scale, float)


def test_covariances_are_their_formulas():
    inner, apart = X @ Y.T, ((X[:, None] - Y) ** 2).sum(axis=2)
    np.testing.assert_allclose(KERNELS["polynomial"](X, Y), 0.2 * (inner + 0.5) ** 3, rtol=1e-12)
    np.testing.assert_allclose(KERNELS["linear"](X, Y), 2.0 * inner, rtol=1e-12)
    gaussian = np.exp(-0.5 * apart / 0.64)
    np.testing.assert_allclose(KERNELS["gaussian"](X, Y), 1.3 * gaussian, rtol=1e-12)
    np.testing.assert_allclose(KERNELS["sum"](X, Y), gaussian + 3.0 * inner, rtol=1e-12)
    k = Gaussian(scale=0.8, variance=4.0)(X[:, :1], Y[:, :1]) * Matern(scale=0.3)(X[:, 1:], Y[:, 1:])
    np.testing.assert_allclose(KERNELS["pairs"](X, Y), k, rtol=1e-12)
    both = Gaussian(scale=[0.8, 0.1])(X, Y) * Polynomial(variance=3.0)(X, Y)
    np.testing.assert_allclose(KERNELS["product"](X, Y), both, rtol=1e-12)
    grid = np.array(list(product([0.0, 1.0], repeat=2)))
    np.testing.assert_array_equal(KERNELS["discrete"](grid, grid), 1.5 * np.eye(4))
    np.testing.assert_allclose(KERNELS["fisher squared"](X, Y), (1.0 + X @ np.linalg.inv(G) @ Y.T) ** 2, rtol=1e-10)


@pytest.mark.parametrize("smoothness", [0.5, 1.5, 2.5])
def test_matern_is_a_bessel_function(smoothness):
    """v 2^(1 - nu) / Gamma(nu) u^nu K_nu(u) with u = sqrt(2 nu) |x - y| / scale; made here, with scales of its own."""
    scales = np.array([0.7, 1.9])
    u = np.sqrt(2.0 * smoothness * (((X[:, None] - Y) / scales) ** 2).sum(axis=2))
    expected = 1.3 * 2.0 ** (1.0 - smoothness) / special.gamma(smoothness) * u**smoothness * special.kv(smoothness, u)
    np.testing.assert_allclose(Matern(smoothness, scales, 1.3)(X, Y), expected, rtol=1e-10)
    for bad in (0.0, 1.0, 2.0, 3.5, 5.0):
        with pytest.raises(InvalidArgument, match=r"'smoothness' must be 0\.5, 1\.5 or 2\.5"):
            Matern(bad)


def test_directions_are_a_line_in_the_cosine():
    """1 for the same direction and b for the opposite one, whatever b."""
    for b in (0.0, 0.3, 1.0):
        cosine = UNIT @ UNIT[:4].T
        np.testing.assert_allclose(Direction(b)(UNIT, UNIT[:4]), b + (1.0 - b) * (1.0 + cosine) / 2.0, rtol=1e-12)
        np.testing.assert_array_equal(Direction(b).diagonal(UNIT), np.ones(6))


def test_sums_and_products_keep_their_order():
    """The left part comes first, also in the parameters; what is no covariance cannot be added or multiplied."""
    one, other = Gaussian(scale=[0.8, 0.5], variance=2.0), Polynomial(degree=2, offset=0.7, variance=3.0)
    for both in (one + other, one * other, StateAction(one, other, 2)):
        assert both.parts() == (one, other)
        np.testing.assert_allclose(np.exp(both.parameters), [0.8, 0.5, 2.0, 0.7, 3.0])
        again = both.with_parameters(np.log([0.3, 0.4, 0.6, 0.9, 1.1]))
        assert again.parts()[0].scale.round(12).tolist() == [0.3, 0.4]
        assert (round(again.parts()[1].offset, 12), round(again.parts()[1].variance, 12)) == (0.9, 1.1)
        rows = RNG.normal(size=(5, 4 if isinstance(both, StateAction) else 2))
        np.testing.assert_allclose(both.diagonal(rows), np.diagonal(both(rows, rows)), rtol=1e-12)
    for wrong in (lambda: one + 1.0, lambda: one * 2.0):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong()
    plain = Fisher(G)
    assert plain.parameters.shape == (0,)
    assert plain.with_parameters(np.zeros(0)) is plain


def test_numbers_must_be_moderate():
    """1e101 is refused wherever a number enters; scales are above 0."""
    k = Gaussian(scale=[1.0, 2.0])
    zero, unit = np.zeros(2), np.eye(2)
    for name, call in {
        "X": lambda: k([[1e101, 0.0]], [zero]),
        "Y": lambda: k([zero], [[1e101, 0.0]]),
        "mean": lambda: k.expectation([1e101, 0.0], unit, [zero]),
        "covariance": lambda: k.expectation(zero, 1e101 * unit, [zero]),
        "scale": lambda: Gaussian(scale=1e101),
        "information": lambda: root_of_inverse("Fisher", 1e101 * unit),
    }.items():
        with pytest.raises(InvalidArgument, match=f"'{name}' must be of moderate size"):
            call()
    for kind in (Gaussian, Matern):
        for scale in (0.0, [1.0, 0.0], -1.0):
            with pytest.raises(InvalidArgument, match="'scale' must be greater than 0"):
                kind(scale=scale)


def test_fisher_drops_small_eigenvalues():
    """Below 1e-10 of the largest they count as zero, also if rounding makes them negative."""
    Q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    for least, rank in ((5e-10, 3), (5e-11, 2), (-5e-11, 2)):
        k = Fisher(Q @ np.diag([2.0, 1.0, 2.0 * least]) @ Q.T)
        assert k.root.shape == (3, rank)
        expected = Q[:, :2] @ np.diag([0.5, 1.0]) @ Q[:, :2].T
        if rank == 2:
            np.testing.assert_allclose(k.root @ k.root.T, expected, atol=1e-9)
    with pytest.raises(InvalidArgument, match="without negative eigenvalues"):
        Fisher(Q @ np.diag([2.0, 1.0, -4e-10]) @ Q.T)
    nearly = G + np.array([[0.0, 1e-10], [-1e-10, 0.0]])
    np.testing.assert_allclose(Fisher(nearly).root @ Fisher(nearly).root.T, np.linalg.inv(G), rtol=1e-8)
    with pytest.raises(InvalidArgument, match="symmetric"):
        Fisher(G + np.array([[0.0, 1e-8], [-1e-8, 0.0]]))
    for bad, degree in ((np.ones((2, 3)), 1), (np.ones(3), 1), (G, 3)):
        with pytest.raises(InvalidArgument, match="must be"):
            Fisher(bad, degree)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
def test_limits_of_an_information_matrix(unit):
    """Shares of the largest eigenvalue, 5, in any unit: below 1e-10 zero, below -1e-10 refused; asymmetry to 1e-9."""
    Q = np.linalg.qr(default_rng(5).normal(size=(3, 3)))[0]

    def made(share):
        return Fisher(unit * (Q * [1.0, 5.0, 5.0 * share]) @ Q.T, degree=2)

    assert [made(share).root.shape[1] for share in (-0.98e-10, 0.98e-10, 1.02e-10)] == [2, 2, 3]
    for share in (-1.02e-10, -2.0):
        with pytest.raises(InvalidArgument, match="'information' must be without negative eigenvalues"):
            made(share)
    with pytest.raises(InvalidArgument, match="without negative eigenvalues"):
        Fisher(-unit * np.eye(2))
    x = X[:2, :1] * unit
    np.testing.assert_allclose(Fisher([[4.0 * unit]])(x, x), x @ x.T / (4.0 * unit), rtol=1e-12)
    assert Fisher(np.zeros((2, 2))).root.shape == (2, 0)
    for off, fits in ((0.98e-9, True), (1.02e-9, False)):
        crooked = unit * np.array([[5.0, 5.0 * off], [0.0, 3.0]])
        if fits:
            assert Fisher(crooked).root.shape == (2, 2)
        else:
            with pytest.raises(InvalidArgument, match="'information' must be symmetric"):
                Fisher(crooked)


def test_unit_vectors_may_round():
    long = np.array([[np.sqrt(1.0 + 5e-7), 0.0]])
    assert Direction()(long, UNIT).shape == (1, 6)
    for k in (lambda x: Direction()(x, UNIT), lambda x: Direction()(UNIT, x), Direction().diagonal):
        for length in (1.0 + 2e-6, 1.0 - 2e-6):
            with pytest.raises(InvalidArgument, match="unit vectors"):
                k(np.array([[1.0, 0.0], [0.0, np.sqrt(length)]]))
    with pytest.raises(InvalidArgument, match="a vector of length 3"):
        Direction()([[1.0, 0.0], [3.0, 0.0], [0.5, 0.0]], UNIT)
    for lengths, far in (([1.0, 1.2, 0.1], "0.1"), ([1.0, np.sqrt(1.9), np.sqrt(0.5)], "1.3784")):  # the worst one
        with pytest.raises(InvalidArgument, match=f"a vector of length {far}"):
            Direction().diagonal(np.array([[x, 0.0] for x in lengths]))


def test_points_are_rows():
    assert points("k", "X", 2.0).tolist() == [[2.0]]
    assert points("k", "X", [1.0, 2.0]).tolist() == [[1.0], [2.0]]
    assert points("k", "X", [[1.0, 2.0]], 2).tolist() == [[1.0, 2.0]]
    for x, dims, said in (
        (np.zeros((1, 1, 1)), None, r"an array of shape \(n, d\)"),
        ([1.0], 2, "points of 2 coordinates"),
        ([[1.0, 2.0]], 1, "points of 1 coordinate, got"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            points("k", "X", x, dims)
    for k, x in ((Gaussian(scale=[1.0, 2.0]), [[1.0]]), (Gaussian(scale=[1.0, 2.0]), np.zeros((1, 3)))):
        with pytest.raises(InvalidArgument, match="points of 2 coordinates"):
            k(x, x)
    with pytest.raises(InvalidArgument, match="a number, or one for each coordinate"):
        Gaussian(scale=np.ones((2, 2)))
    for kernel, x in ((StateAction(Gaussian(), Gaussian(), dims=2), X), (Fisher(G), np.zeros((1, 3)))):
        with pytest.raises(InvalidArgument, match="must be"):
            kernel(x, x)


def test_expectations_of_a_certain_point_and_of_several():
    """With covariance 0 the expectation is k(m, X); several distributions at once are one by one."""
    k, m, S = Gaussian(scale=[0.7, 1.4], variance=1.2), RNG.normal(size=(3, 2)), np.zeros((3, 2, 2))
    np.testing.assert_allclose(k.expectation(m, S, Y), k(m, Y), rtol=1e-12)
    np.testing.assert_allclose(k.double_expectation(m, S), [1.2] * 3, rtol=1e-12)
    S = np.array([a @ a.T for a in RNG.normal(size=(3, 2, 2))])
    np.testing.assert_allclose(k.expectation(m, S, Y), [k.expectation(a, b, Y) for a, b in zip(m, S, strict=True)])
    # E k(x, y) is E of the expectation, a Gaussian integral again: v |L| / sqrt(|L^2 + 2 S|)
    L = np.diag([0.49, 1.96])
    for a, b in zip(m, S, strict=True):
        both = k.double_expectation(a, b)
        assert isinstance(both, float)
        assert both == pytest.approx(1.2 * np.sqrt(np.linalg.det(L) / np.linalg.det(L + 2.0 * b)))
    for bad in ([[1.0, 0.5], [0.4, 1.0]], [[1.0, 2.0], [2.0, 1.0]]):
        with pytest.raises(InvalidArgument, match="symmetric without a negative eigenvalue"):
            k.expectation(m[0], bad, Y)
    with pytest.raises(InvalidArgument, match="of 2 coordinates"):
        k.double_expectation([0.0], [[1.0]])


def test_expectations_are_integrals():
    """E k(x, X_i) and E k(x, y) by Gauss-Hermite quadrature in two dimensions, the covariance not diagonal."""
    k, m, S = Gaussian(scale=[0.9, 1.7], variance=1.3), np.array([0.4, -0.7]), np.array([[0.5, 0.2], [0.2, 0.3]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    z, w = np.array(list(product(nodes, repeat=2))), np.outer(weights, weights).ravel() / (2.0 * np.pi)
    x = m + z @ np.linalg.cholesky(S).T
    np.testing.assert_allclose(k.expectation(m, S, Y), w @ k(x, Y), rtol=1e-8)
    assert k.double_expectation(m, S) == pytest.approx(w @ k(x, x) @ w, rel=1e-8)


def test_covariance_matrices_of_points_may_round():
    """Symmetric to 1e-9, and eigenvalues down to -1e-12 of the largest entry; also in a stack of matrices."""
    k, m = Gaussian(scale=[0.7, 1.4]), np.zeros(2)

    def expectation(S, stacked):
        return k.expectation(np.array([m, m]), [np.eye(2), S], Y)[1] if stacked else k.expectation(m, S, Y)

    for stacked in (False, True):
        for S in ([[3.0, 0.5], [0.5 * (1.0 + 0.9e-9), 2.0]], [[3.0, 0.0], [0.0, -2.9e-12]], [[3.0, 0.0], [0.0, 0.0]]):
            assert np.isfinite(expectation(np.array(S), stacked)).all()
        for S in ([[3.0, 0.5], [0.5 * (1.0 + 1.1e-9), 2.0]], [[3.0, 0.0], [0.0, -3.1e-12]]):
            with pytest.raises(InvalidArgument, match="'covariance' must be symmetric without a negative eigenvalue"):
                expectation(np.array(S), stacked)


# Features ------------------------------------------------------------------------------------------------------------


def test_features_are_their_formulas():
    np.testing.assert_array_equal(Tabular(3)([2, 0, 2]), np.eye(3)[[2, 0, 2]])
    np.testing.assert_allclose(RBF(Y, scale=0.5)(X), np.exp(-2.0 * ((X[:, None] - Y) ** 2).sum(axis=2)), rtol=1e-12)
    powers = [(i, j) for i in range(4) for j in range(4) if i + j <= 3]
    expected = np.column_stack([X[:, 0] ** i * X[:, 1] ** j for i, j in powers])
    np.testing.assert_allclose(Monomials(degree=3, dims=2)(X), expected, rtol=1e-12)
    low, high = np.array([-3.0, -1.0]), np.array([3.0, 4.0])
    unit = (X - low) / (high - low)
    waves = np.column_stack([np.cos(np.pi * (i * unit[:, 0] + j * unit[:, 1])) for i in range(3) for j in range(3)])
    np.testing.assert_allclose(Fourier(low, high, order=2)(X), waves, atol=1e-12)
    for phi, size in ((Tabular(3), 3), (RBF(Y), 4), (Monomials(3, 2), 10), (Fourier(low, high, 2), 9)):
        assert phi.size == size


def test_tiles_are_cells_of_shifted_grids():
    """Grid i of n marks cell floor(u tiles + i / n) of every coordinate u in [0, 1], the first coordinate fastest."""
    low, high, tiles, tilings = np.array([-1.0, 0.0]), np.array([1.0, 4.0]), 3, 4
    phi = Tiles(low, high, tiles=tiles, tilings=tilings)
    assert phi.size == 4 * 16
    states = np.vstack([default_rng(1).uniform(low, high, (50, 2)), [low, high, low - 1.0, high + 1.0]])
    for state, row in zip(states, phi(states), strict=True):
        unit = np.clip((state - low) / (high - low), 0.0, 1.0)
        for i, grid in enumerate(row.reshape(tilings, 4, 4)):
            a, b = np.minimum(np.floor(unit * tiles + i / tilings).astype(int), tiles)
            expected = np.zeros((4, 4))
            expected[b, a] = 1.0
            np.testing.assert_array_equal(grid, expected)


def test_boxes_have_corners():
    assert Fourier(0.0, 2.0, order=1)([1.0]).round(12).tolist() == [[1.0, 0.0]]
    for low, high in (([0.0, 0.0], [1.0, 0.0]), ([0.0], [-1.0]), ([0.0, 0.0], [1.0])):
        for kind in (Tiles, Fourier):
            with pytest.raises(InvalidArgument, match="must be"):
                kind(low, high)


def test_defaults():
    """Values that are not in the catalogue: unit scales and variances, the usual sizes of features."""
    assert (Gaussian(), Matern()) == (Gaussian(1.0, 1.0), Matern(1.5, 1.0, 1.0))
    assert (Polynomial(), Linear(), Discrete()) == (Polynomial(2, 1.0, 1.0), Linear(1.0), Discrete(1.0))
    assert (Direction(), Fisher(G).degree) == (Direction(0.1), 1)
    assert (RBF(Y).scale, Monomials()) == (1.0, Monomials(2, 1))
    assert (Tiles([0.0], [1.0]), Fourier([0.0], [1.0])) == (Tiles([0.0], [1.0], 8, 8), Fourier([0.0], [1.0], 3))
