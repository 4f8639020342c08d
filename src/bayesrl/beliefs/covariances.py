"""Prior covariances of Gaussian processes: how much the values at two points have in common.

A covariance is a frozen value k. `k(X, Y)` is the matrix of k(x, y) for the rows x of X and y of Y, and `k.diagonal(X)`
is the vector of k(x, x). An array with one axis is read as points of one coordinate. `k + l` and `k * l` are
covariances too.

    Gaussian       v exp(-|x - y|^2 / (2 scale^2)), with one scale or one for each coordinate
    Matern         rougher functions: smoothness 1/2, 3/2 or 5/2
    Polynomial     v (x'y + offset)^degree
    Linear         v x'y
    Discrete       v if x equals y, otherwise 0
    Direction      1 + (1 - b)/2 (x'y - 1), for unit vectors (Engel, Mannor, Meir 2005)
    Fisher         x'G^-1 y for scores x and y, or (1 + x'G^-1 y)^2 (Ghavamzadeh and Engel 2006)
    StateAction    k_s(s, s') k_a(a, a') on rows that hold a state and then an action

`parameters` are the logarithms of the positive hyper-parameters. `with_parameters` replaces them, and `derivatives` are
those of k(X, X) in them; `GPRegression.fit` uses the three.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array, frozen, integer
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import PROBABILITY, Above, AtLeast, Shape, value

RANK_CUT = 1e-10
"""Eigenvalues of an information matrix below this share of the largest count as zero."""


def points(owner: str, name: str, X: ArrayLike, dims: int | None = None) -> Floats:
    """Points as the rows of a finite matrix, (n, d). Numbers are points of one coordinate."""
    x = array(owner, name, X, moderate=True)
    if x.ndim < 2:
        x = x.reshape(-1, 1)
    if x.ndim != 2 or (dims is not None and x.shape[1] != dims):
        expected = "an array of shape (n, d)" if dims is None else f"points of {dims} coordinate{'s' * (dims != 1)}"
        raise InvalidArgument(owner, name, expected, X)
    return x


class Covariance(ABC):
    """The base class of all covariances."""

    def __call__(self, X: ArrayLike, Y: ArrayLike) -> Floats:
        """The matrix of k(x, y), shape (n, m)."""
        owner = type(self).__name__
        x = points(owner, "X", X)
        return self.matrix(x, points(owner, "Y", Y, x.shape[1]))

    def diagonal(self, X: ArrayLike) -> Floats:
        """The vector of k(x, x), shape (n,)."""
        return self.variances(points(type(self).__name__, "X", X))

    @abstractmethod
    def matrix(self, X: Floats, Y: Floats) -> Floats:
        """k(x, y) for points that were checked, shape (n, m)."""

    @abstractmethod
    def variances(self, X: Floats) -> Floats:
        """k(x, x) for points that were checked, shape (n,)."""

    @property
    def parameters(self) -> Floats:
        """Logarithms of the positive hyper-parameters, shape (p,)."""
        return np.zeros(0)

    def with_parameters(self, logs: Floats) -> Self:
        """The same covariance with other hyper-parameters."""
        return self

    def derivatives(self, X: Floats) -> Floats:
        """Derivatives of k(X, X) in `parameters`, shape (p, n, n)."""
        return np.zeros((0, len(X), len(X)))

    def __add__(self, other: Covariance) -> Sum:
        return Sum(self, other) if isinstance(other, Covariance) else NotImplemented

    def __mul__(self, other: Covariance) -> Product:
        return Product(self, other) if isinstance(other, Covariance) else NotImplemented


def squared_distances(X: Floats, Y: Floats) -> Floats:
    """|x - y|^2 from differences, which keeps small distances exact, shape (n, m)."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, Y, "sqeuclidean"))


# Functions of distance -----------------------------------------------------------------------------------------------


class Stationary(Covariance):
    """Covariances that depend on the difference of two points, each coordinate measured in its scale."""

    scale: Any
    variance: float

    def __post_init__(self) -> None:
        scales = array(type(self).__name__, "scale", self.scale, low=0.0, above=True, moderate=True)
        if scales.ndim > 1:
            raise InvalidArgument(type(self).__name__, "scale", "a number, or one for each coordinate", scales)
        object.__setattr__(self, "scale", float(scales) if scales.ndim == 0 else scales)

    def scaled(self, X: Floats) -> Floats:
        """Points with each coordinate divided by its scale."""
        if np.ndim(self.scale) == 1 and len(self.scale) != X.shape[1]:
            raise InvalidArgument(type(self).__name__, "X", f"points of {len(self.scale)} coordinates", X)
        return np.asarray(X / self.scale)

    def variances(self, X: Floats) -> Floats:
        return np.full(len(X), self.variance)

    @property
    def parameters(self) -> Floats:
        return np.asarray(np.log(np.append(self.scale, self.variance)), np.float64)

    def with_parameters(self, logs: Floats) -> Self:
        scale = np.exp(logs[:-1])
        changed: dict[str, Any] = {"scale": scale if np.ndim(self.scale) == 1 else float(scale[0])}
        return replace(self, variance=float(np.exp(logs[-1])), **changed)  # type: ignore[type-var]

    def derivatives(self, X: Floats) -> Floats:
        """In the log scales: the slope in the squared scaled distance times minus twice a coordinate's share of it."""
        Z = self.scaled(X)
        D = squared_distances(Z, Z)
        slope = -2.0 * self.slope(D)
        if np.ndim(self.scale) == 0:
            shares = [D]
        else:
            shares = [squared_distances(z[:, None], z[:, None]) for z in Z.T]
        return np.array([slope * share for share in shares] + [self.of_distance(D)])

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        return self.of_distance(squared_distances(self.scaled(X), self.scaled(Y)))

    @abstractmethod
    def of_distance(self, D: Floats) -> Floats:
        """The covariance at squared scaled distances."""

    @abstractmethod
    def slope(self, D: Floats) -> Floats:
        """Its derivative in the squared scaled distance."""


@value
class Gaussian(Stationary):
    """v exp(-|x - y|^2 / (2 scale^2)): smooth functions.

    Examples
    --------
    >>> k = Gaussian(scale=2.0)
    >>> k([0.0, 2.0], [0.0]).round(3).tolist()
    [[1.0], [0.607]]
    >>> k.expectation([0.0], [[0.0]], [2.0]).round(3).tolist()  # a certain point
    [0.607]
    """

    scale: Annotated[Any, "Distance over which values change: one number, or one for each coordinate."] = 1.0
    variance: Annotated[float, Above(0.0), "Prior variance of a value, v."] = 1.0

    def of_distance(self, D: Floats) -> Floats:
        return np.asarray(self.variance * np.exp(-0.5 * D))

    def slope(self, D: Floats) -> Floats:
        return np.asarray(-0.5 * self.of_distance(D))

    def expectation(self, mean: ArrayLike, covariance: ArrayLike, X: ArrayLike) -> Floats:
        """E k(x, X_i) for x ~ N(mean, covariance), shape (n,).

        It is v |I + S/L|^-1/2 exp(-(X_i - m)'(L + S)^-1(X_i - m)/2) with the squared scales L. Several distributions
        at once, means (b, d) and covariances (b, d, d), give shape (b, n).
        """
        m, S = self._normal("Gaussian.expectation", mean, covariance)
        Z = points("Gaussian.expectation", "X", X, m.shape[-1])
        L = self._squared_scales(m.shape[-1])
        white = np.linalg.inv(np.linalg.cholesky(L + S))  # (..., d, d), with few coordinates d
        shrink = np.prod(np.sqrt(np.diagonal(L)) * np.diagonal(white, axis1=-2, axis2=-1), axis=-1)
        distance = np.zeros((*m.shape[:-1], len(Z)))
        for row in range(m.shape[-1]):
            w = white[..., row, :]
            distance += np.square(w @ Z.T - np.sum(w * m, axis=-1)[..., None])
        return np.asarray(self.variance * shrink[..., None] * np.exp(-0.5 * distance))

    def double_expectation(self, mean: ArrayLike, covariance: ArrayLike) -> float | Floats:
        """E k(x, y) for independent x and y of N(mean, covariance): v |I + 2S/L|^-1/2."""
        m, S = self._normal("Gaussian.double_expectation", mean, covariance)
        L = self._squared_scales(m.shape[-1])
        both = self.variance * np.sqrt(np.prod(np.diagonal(L)) / np.linalg.det(L + 2.0 * S))
        return float(both) if np.ndim(both) == 0 else np.asarray(both)

    def _squared_scales(self, d: int) -> Floats:
        if np.ndim(self.scale) == 1 and len(self.scale) != d:
            raise InvalidArgument("Gaussian", "mean", f"of {len(self.scale)} coordinates", d)
        return np.diag(np.broadcast_to(np.square(self.scale), d))

    @staticmethod
    def _normal(owner: str, mean: ArrayLike, covariance: ArrayLike) -> tuple[Floats, Floats]:
        m = np.atleast_1d(array(owner, "mean", mean, moderate=True))
        S = array(owner, "covariance", covariance, (*m.shape, m.shape[-1]), moderate=True)
        if not np.allclose(S, np.swapaxes(S, -1, -2), rtol=1e-9, atol=0.0) or np.linalg.eigvalsh(S).min() < -1e-12 * (
            np.abs(S).max()
        ):
            raise InvalidArgument(owner, "covariance", "symmetric without a negative eigenvalue", S)
        return m, S


@value
class Matern(Stationary):
    """Matern's covariance: functions with smoothness - 1/2 derivatives.

    Examples
    --------
    >>> Matern(smoothness=0.5)([0.0], [0.0, 1.0]).round(3).tolist()
    [[1.0, 0.368]]
    """

    smoothness: Annotated[float, "1/2, 3/2 or 5/2."] = 1.5
    scale: Annotated[Any, "Distance over which values change: one number, or one for each coordinate."] = 1.0
    variance: Annotated[float, Above(0.0), "Prior variance of a value, v."] = 1.0

    def __post_init__(self) -> None:
        if self.smoothness not in (0.5, 1.5, 2.5):
            raise InvalidArgument("Matern", "smoothness", "0.5, 1.5 or 2.5", self.smoothness)
        super().__post_init__()

    def of_distance(self, D: Floats) -> Floats:
        u = np.sqrt(2.0 * self.smoothness * D)
        polynomial = np.ones_like(u)
        if self.smoothness > 0.5:
            polynomial += u
        if self.smoothness > 1.5:
            polynomial += u * u / 3.0
        return np.asarray(self.variance * polynomial * np.exp(-u))

    def slope(self, D: Floats) -> Floats:
        """With u = sqrt(2 nu D): -e^-u / (2u), -3 e^-u / 2 and -5 (1 + u) e^-u / 6, times v."""
        u = np.sqrt(2.0 * self.smoothness * D)
        if self.smoothness == 0.5:  # infinite at 0, where a share of the distance, which is 0, multiplies it
            factor = -0.5 / np.where(u > 0.0, u, 1.0)
        else:
            factor = np.full_like(u, -1.5) if self.smoothness == 1.5 else -5.0 / 6.0 * (1.0 + u)
        return np.asarray(self.variance * factor * np.exp(-u))


# Functions of inner products -----------------------------------------------------------------------------------------


@value
class Polynomial(Covariance):
    """v (x'y + offset)^degree: polynomials.

    Examples
    --------
    >>> Polynomial(degree=2)([1.0, 2.0], [3.0]).tolist()
    [[16.0], [49.0]]
    """

    degree: Annotated[int, AtLeast(1), "Degree of the polynomials."] = 2
    offset: Annotated[float, AtLeast(0.0), "What is added to inner products; 0 leaves only the highest power."] = 1.0
    variance: Annotated[float, Above(0.0), "Factor of the covariance, v."] = 1.0

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        return np.asarray(self.variance * (X @ Y.T + self.offset) ** self.degree)

    def variances(self, X: Floats) -> Floats:
        return np.asarray(self.variance * (np.sum(X * X, axis=1) + self.offset) ** self.degree)

    @property
    def parameters(self) -> Floats:
        return np.log([self.offset, self.variance] if self.offset > 0.0 else [self.variance])

    def with_parameters(self, logs: Floats) -> Self:
        offset = float(np.exp(logs[0])) if len(logs) == 2 else self.offset
        return replace(self, offset=offset, variance=float(np.exp(logs[-1])))

    def derivatives(self, X: Floats) -> Floats:
        inner = X @ X.T + self.offset
        in_offset = self.variance * self.degree * inner ** (self.degree - 1) * self.offset
        both = [in_offset] if self.offset > 0.0 else []
        return np.array([*both, self.variance * inner**self.degree])


class OnlyVariance(Covariance):
    """A covariance whose only parameter is its variance."""

    variance: float

    @property
    def parameters(self) -> Floats:
        return np.log([self.variance])

    def with_parameters(self, logs: Floats) -> Self:
        return replace(self, variance=float(np.exp(logs[0])))  # type: ignore[type-var]

    def derivatives(self, X: Floats) -> Floats:
        return self.matrix(X, X)[None]


@value
class Linear(OnlyVariance):
    """v x'y: linear functions through the origin.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """

    variance: Annotated[float, Above(0.0), "Prior variance of a weight, v."] = 1.0

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        return np.asarray(self.variance * (X @ Y.T))

    def variances(self, X: Floats) -> Floats:
        return np.asarray(self.variance * np.sum(X * X, axis=1))


@value
class Discrete(OnlyVariance):
    """v where two points are equal, otherwise 0: values that have nothing in common.

    Examples
    --------
    >>> Discrete(variance=4.0)([0, 1, 1], [1]).tolist()
    [[0.0], [4.0], [4.0]]
    """

    variance: Annotated[float, Above(0.0), "Prior variance of a value, v."] = 1.0

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        equal = np.ones((len(X), len(Y)), bool)
        for x, y in zip(X.T, Y.T, strict=True):
            equal &= x[:, None] == y
        return self.variance * equal

    def variances(self, X: Floats) -> Floats:
        return np.full(len(X), self.variance)


@value
class Direction(Covariance):
    """1 + (1 - b)/2 (x'y - 1) for unit vectors: 1 for the same direction, b for opposite ones.

    Examples
    --------
    >>> Direction(b=0.1)([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]).round(3).tolist()
    [[1.0, 0.55, 0.1]]
    """

    b: Annotated[float, PROBABILITY, "Covariance of opposite directions."] = 0.1

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        self._check(X)
        self._check(Y)
        return np.asarray(1.0 + 0.5 * (1.0 - self.b) * (X @ Y.T - 1.0))

    def variances(self, X: Floats) -> Floats:
        self._check(X)
        return np.ones(len(X))

    @staticmethod
    def _check(X: Floats) -> None:
        length = np.sum(X * X, axis=1)
        if np.abs(length - 1.0).max() > 1e-6:
            far = float(np.sqrt(length[np.abs(length - 1.0).argmax()]))
            raise InvalidArgument("Direction", "X", "unit vectors", f"a vector of length {far:g}")


@value
class Fisher(Covariance):
    """x'G^-1 y for scores x and y of a policy, or its quadratic form (1 + x'G^-1 y)^2.

    G^-1 is the pseudo-inverse, because the information of a tabular softmax policy is singular. Its eigenvalues below
    1e-10 of the largest count as zero.

    Examples
    --------
    >>> Fisher([[1.0, 0.0], [0.0, 2.0]])([[1.0, 0.0]], [[1.0, 2.0]]).tolist()
    [[1.0]]
    >>> Fisher([[1.0, 0.0], [0.0, 2.0]], degree=2)([[1.0, 0.0]], [[1.0, 2.0]]).tolist()
    [[4.0]]
    """

    information: Annotated[Floats, Shape("(n, n)"), "Fisher information of the policy, G."]
    degree: Annotated[int, AtLeast(1), "1: x'G^-1 y. 2: (1 + x'G^-1 y)^2."] = 1
    root: Floats = field(init=False, repr=False, compare=False)
    """W with W W' = G^-1, shape (n, rank)."""

    def __post_init__(self) -> None:
        if self.degree > 2:
            raise InvalidArgument("Fisher", "degree", "1 or 2", self.degree)
        object.__setattr__(self, "root", frozen(root_of_inverse("Fisher", self.information)))

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        inner = self.whiten(X) @ self.whiten(Y).T
        return np.asarray(inner if self.degree == 1 else (1.0 + inner) ** 2)

    def variances(self, X: Floats) -> Floats:
        inner = np.sum(self.whiten(X) ** 2, axis=1)
        return np.asarray(inner if self.degree == 1 else (1.0 + inner) ** 2)

    def whiten(self, X: Floats) -> Floats:
        """Scores in coordinates in which the information is the identity, shape (n, rank)."""
        if X.shape[1] != len(self.root):
            raise InvalidArgument("Fisher", "X", f"scores of {len(self.root)} parameters", X)
        return np.asarray(X @ self.root)


def root_of_inverse(owner: str, information: ArrayLike, name: str = "information") -> Floats:
    """A matrix W of shape (n, rank) with W W' = the pseudo-inverse of an information matrix."""
    G = array(owner, name, information, moderate=True)
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        raise InvalidArgument(owner, name, "a square matrix", G)
    if np.abs(G - G.T).max() > 1e-9 * np.abs(G).max():
        raise InvalidArgument(owner, name, "symmetric", G)
    values, vectors = np.linalg.eigh(0.5 * (G + G.T))
    if values[0] < -RANK_CUT * values[-1]:
        raise InvalidArgument(owner, name, "without negative eigenvalues", float(values[0]))
    kept = values > RANK_CUT * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


# Combinations --------------------------------------------------------------------------------------------------------


class Pair(Covariance):
    """Two covariances that make a third one: their hyper-parameters side by side."""

    def parts(self) -> tuple[Covariance, Covariance]:
        """Both, in the order of their hyper-parameters."""
        raise NotImplementedError

    @property
    def parameters(self) -> Floats:
        one, other = self.parts()
        return np.concatenate([one.parameters, other.parameters])

    def split(self, logs: Floats) -> tuple[Covariance, Covariance]:
        """Both with new hyper-parameters."""
        one, other = self.parts()
        n = len(one.parameters)
        return one.with_parameters(logs[:n]), other.with_parameters(logs[n:])

    @staticmethod
    def check(owner: str, **parts: object) -> None:
        """Refuse parts that are not covariances."""
        for name, part in parts.items():
            if not isinstance(part, Covariance):
                raise InvalidArgument(owner, name, "a covariance", part)


@value
class Sum(Pair):
    """k + l: the sum of two independent functions."""

    left: Covariance
    right: Covariance

    def __post_init__(self) -> None:
        self.check("Sum", left=self.left, right=self.right)

    def parts(self) -> tuple[Covariance, Covariance]:
        return self.left, self.right

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        return self.left.matrix(X, Y) + self.right.matrix(X, Y)

    def variances(self, X: Floats) -> Floats:
        return self.left.variances(X) + self.right.variances(X)

    def with_parameters(self, logs: Floats) -> Self:
        left, right = self.split(logs)
        return replace(self, left=left, right=right)

    def derivatives(self, X: Floats) -> Floats:
        return np.concatenate([self.left.derivatives(X), self.right.derivatives(X)])


@value
class Product(Pair):
    """k l: values have much in common where both covariances are large."""

    left: Covariance
    right: Covariance

    def __post_init__(self) -> None:
        self.check("Product", left=self.left, right=self.right)

    def parts(self) -> tuple[Covariance, Covariance]:
        return self.left, self.right

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        return self.left.matrix(X, Y) * self.right.matrix(X, Y)

    def variances(self, X: Floats) -> Floats:
        return self.left.variances(X) * self.right.variances(X)

    def with_parameters(self, logs: Floats) -> Self:
        left, right = self.split(logs)
        return replace(self, left=left, right=right)

    def derivatives(self, X: Floats) -> Floats:
        K, L = self.left.matrix(X, X), self.right.matrix(X, X)
        return np.concatenate([self.left.derivatives(X) * L, self.right.derivatives(X) * K])


@value
class StateAction(Pair):
    """k_s(s, s') k_a(a, a') on rows that hold a state of `dims` coordinates and then an action.

    Examples
    --------
    >>> k = StateAction(Gaussian(), Discrete(), dims=1)
    >>> k([[0.0, 1]], [[0.0, 1], [0.0, 0], [1.0, 1]]).round(3).tolist()
    [[1.0, 0.0, 0.607]]
    """

    state: Annotated[Covariance, "Covariance of states, k_s."]
    action: Annotated[Covariance, "Covariance of actions, k_a."]
    dims: Annotated[int, AtLeast(1), "Coordinates of a state."]

    def __post_init__(self) -> None:
        self.check("StateAction", state=self.state, action=self.action)
        integer("StateAction", "dims", self.dims, 1)

    def parts(self) -> tuple[Covariance, Covariance]:
        return self.state, self.action

    def matrix(self, X: Floats, Y: Floats) -> Floats:
        s, a = self._columns(X)
        t, b = self._columns(Y)
        return self.state.matrix(s, t) * self.action.matrix(a, b)

    def variances(self, X: Floats) -> Floats:
        s, a = self._columns(X)
        return self.state.variances(s) * self.action.variances(a)

    def with_parameters(self, logs: Floats) -> Self:
        state, action = self.split(logs)
        return replace(self, state=state, action=action)

    def derivatives(self, X: Floats) -> Floats:
        s, a = self._columns(X)
        K, L = self.state.matrix(s, s), self.action.matrix(a, a)
        return np.concatenate([self.state.derivatives(s) * L, self.action.derivatives(a) * K])

    def _columns(self, X: Floats) -> tuple[Floats, Floats]:
        if X.shape[1] <= self.dims:
            raise InvalidArgument("StateAction", "X", f"rows of more than {self.dims} numbers: state, action", X)
        return X[:, : self.dims], X[:, self.dims :]
