"""A Gaussian process after linear observations: the one engine under regression, GPTD and the Bayesian actor-critic.

A datum says y = h'f + noise, where f holds the values at the points seen so far and h has few entries other than zero.
The noise may be tied to the noise of earlier data. With H the rows h', K the prior covariance at the points and Sigma
the covariance of the noise, the data have covariance A = H K H' + Sigma. The engine keeps the lower Cholesky factor L
of A, in packed rows, and w = L^-1 y. A datum costs one forward substitution:

    a = H K h + ties,   l = L^-1 a,   pivot^2 = h'Kh + noise - l'l,   new w = (y - l'w) / pivot.

Then with U(z) = L^-1 H k(z) the posterior is: mean U'w, covariance k - U'U, and the log evidence of the data is
-w'w/2 - sum log pivots - (n/2) log 2 pi. No matrix is inverted. Several functions that are independent, with the same
prior, the same rows and the same noise, share L: y and w have then a column for each, and evidences add up.

`Observations` are a value. Versions share one growing buffer, as the ledger of counts does (ADR 2): adding to the
newest version writes behind its last row, and adding to an older version copies that version first.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesrl.beliefs.covariances import Covariance
from bayesrl.beliefs.values.gaussian import NEGATIVE, nonnegative, not_positive
from bayesrl.beliefs.values.triangular import forward, lower_solved, pack, unpacked
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""A pivot's square below this share of the datum's variance, times the number of data, is rounding."""
FEW = 8
"""Columns up to which packed rows are solved one column at a time."""
Places = NDArray[np.int64]
LOG_2_PI = math.log(2.0 * math.pi)


class _Buffer:
    """The arrays that versions share. Rows below `points` and `data` are never written again."""

    __slots__ = ("L", "X", "data", "first", "index", "lock", "points", "w", "weight", "y")

    def __init__(
        self, X: Floats, L: Floats, y: Floats, w: Floats, first: Places, index: Places, weight: Floats
    ) -> None:
        self.X, self.L, self.y, self.w, self.first, self.index, self.weight = X, L, y, w, first, index, weight
        self.points, self.data, self.lock = 0, 0, Lock()


class Rows(NamedTuple):
    """New rows of H in compressed form: row i has weight[first[i]:first[i + 1]] at the points of those numbers."""

    weight: Floats
    point: Places
    """Numbers of points; new points are numbered after those that are there."""
    first: Places

    @staticmethod
    def of(H: Floats, known: int) -> Rows:
        """The entries of a matrix (n, p) that are not zero; its columns are the points after `known` others."""
        kept = H != 0.0
        kept[:, 0] |= ~kept.any(axis=1)  # no row is empty
        return Rows(H[kept], known + np.nonzero(kept)[1], np.append(0, np.cumsum(kept.sum(axis=1))))


class Version(NamedTuple):
    """How much of a buffer one version sees."""

    points: int
    data: int
    log_pivots: float
    squares: float
    """w'w."""


class Observations:
    """The points met, the rows of H, and the Cholesky factor of the data's covariance."""

    __slots__ = ("_buffer", "_seen")

    def __init__(self, dims: int, columns: int | None = None) -> None:
        """No data yet, about points of `dims` coordinates. `columns` functions share the factor; None: there is one."""
        none, numbers = np.empty(0), np.empty(0, np.int64)
        y = none if columns is None else np.empty((0, columns))
        self._buffer = _Buffer(np.empty((0, dims)), none, y, y, np.zeros(1, np.int64), numbers, none)
        self._seen = Version(0, 0, 0.0, 0.0)

    # Reading ---------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._seen.data

    @property
    def points(self) -> Floats:
        """The points met, shape (p, d)."""
        return self._buffer.X[: self._seen.points]

    @property
    def y(self) -> Floats:
        """The data, shape (n,), or (n, columns)."""
        return self._buffer.y[: self._seen.data]

    @property
    def w(self) -> Floats:
        """L^-1 y, of the shape of y."""
        return self._buffer.w[: self._seen.data]

    def log_evidence(self) -> float:
        """Logarithm of the density of the data, of all columns."""
        _, n, log_pivots, squares = self._seen
        columns = int(np.prod(self._buffer.y.shape[1:]))
        return -0.5 * (squares + columns * n * LOG_2_PI) - columns * log_pivots

    @property
    def factor(self) -> Floats:
        """L in packed rows, shape (n (n + 1) / 2,)."""
        n = self._seen.data
        return self._buffer.L[: n * (n + 1) // 2]

    def apply(self, values: Floats) -> Floats:
        """H times a matrix (or vector) with a row for each point."""
        n, buffer = self._seen.data, self._buffer
        entries = int(buffer.first[n])
        if n == 0:
            return np.zeros((0, *values.shape[1:]))
        terms = values[buffer.index[:entries]] * buffer.weight[:entries].reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(np.add.reduceat(terms, buffer.first[:n], axis=0))

    def whiten(self, values: Floats) -> Floats:
        """L^-1 H times a matrix (or vector) with a row for each point: shape (n, m)."""
        return self._forward(self.apply(values))

    def _forward(self, a: Floats) -> Floats:
        if a.ndim == 1:
            return forward(self._buffer.L, a)
        if a.shape[1] == 0:
            return a
        if a.shape[1] <= FEW:
            return np.column_stack([forward(self._buffer.L, column) for column in np.ascontiguousarray(a.T)])
        return lower_solved(unpacked(self._buffer.L, len(a)), a)

    def project(self, covariance: Covariance, Z: Floats) -> Floats:
        """U = L^-1 H k(Z), shape (n, m)."""
        if len(self) == 0:
            return np.zeros((0, len(Z)))
        return self.whiten(covariance.matrix(self.points, Z))

    # Adding ----------------------------------------------------------------------------------------------------------

    def add(
        self, owner: str, covariance: Covariance, X: Floats, rows: Rows, y: Floats, noise: Floats, tie: float = 0.0
    ) -> Observations:
        """The observations with more points X and more data y.

        `noise` is the covariance of the new data's noise, (m, m). `tie` is the covariance of the noise of the first new
        datum with that of the last old one.
        """
        if len(X) > 0:
            nonnegative(owner, covariance.variances(X), 0.0)
        new = self._grown(X, rows)
        weight, point, first = rows
        Kh = np.add.reduceat(covariance.matrix(new.points, new.points[point]) * weight, first[:-1], axis=1)
        cross = self.apply(Kh[: self._seen.points])
        if len(self) > 0:
            cross[-1, 0] += tie
        inner = np.add.reduceat(Kh[point] * weight[:, None], first[:-1], axis=0) + noise
        ell = self._forward(cross)
        try:
            factor: Floats = np.asarray(np.linalg.cholesky(inner - ell.T @ ell), np.float64)
        except np.linalg.LinAlgError:
            raise _singular(owner, covariance, new.points) from None
        spread = np.abs(weight) * np.sqrt(covariance.variances(new.points[point]))  # before terms of a row cancel out
        size = np.add.reduceat(spread, first[:-1]) ** 2 + np.diagonal(noise)
        if not is_regular(factor, size, len(new)):
            raise _singular(owner, covariance, new.points)
        w = lower_solved(factor, (y - ell.T @ self.w).reshape(len(y), -1)).reshape(y.shape)
        new._write(np.hstack([ell.T, factor]), y, w)
        return new

    def _grown(self, X: Floats, rows: Rows) -> Observations:
        """A version with room for more, with the new points and rows of H in it; the factor is still to be written."""
        p, n, log_pivots, squares = self._seen
        points, data, entries = p + len(X), n + len(rows.first) - 1, int(self._buffer.first[n])
        room = entries + len(rows.weight)
        buffer = self._buffer
        with buffer.lock:
            newest = buffer.points == p and buffer.data == n
            fits = points <= len(buffer.X) and data <= len(buffer.w) and room <= len(buffer.index)
            if not (newest and fits):
                buffer = self._copy(points, data, room)
            buffer.X[p:points] = X
            buffer.first[n + 1 : data + 1] = entries + rows.first[1:]
            buffer.index[entries:room] = rows.point
            buffer.weight[entries:room] = rows.weight
            buffer.points, buffer.data = points, data
        new = object.__new__(Observations)
        new._buffer, new._seen = buffer, Version(points, data, log_pivots, squares)
        return new

    def _copy(self, points: int, data: int, entries: int) -> _Buffer:
        """A buffer of its own for this version, with twice the room that is asked for."""
        p, n, _, _ = self._seen
        old, used = self._buffer, int(self._buffer.first[n])
        P, N, E = 2 * points + 16, 2 * data + 16, 2 * entries + 16
        new = _Buffer(
            np.empty((P, old.X.shape[1])), np.empty(N * (N + 1) // 2),
            np.empty((N, *old.y.shape[1:])), np.empty((N, *old.y.shape[1:])),
            np.zeros(N + 1, np.int64), np.empty(E, np.int64), np.empty(E),
        )  # fmt: skip
        new.X[:p], new.y[:n], new.w[:n], new.first[: n + 1] = old.X[:p], old.y[:n], old.w[:n], old.first[: n + 1]
        new.L[: n * (n + 1) // 2] = old.L[: n * (n + 1) // 2]
        new.index[:used], new.weight[:used] = old.index[:used], old.weight[:used]
        return new

    def _write(self, factor: Floats, y: Floats, w: Floats) -> None:
        """Write the last rows of the factor, of y and of w."""
        p, n, log_pivots, squares = self._seen
        old = n - len(w)
        pack(self._buffer.L, old, np.ascontiguousarray(factor))
        self._buffer.y[old:n], self._buffer.w[old:n] = y, w
        pivots = factor[np.arange(len(w)), old + np.arange(len(w))]
        self._seen = Version(p, n, log_pivots + float(np.log(pivots).sum()), squares + float(np.vdot(w, w)))

    def parts(self) -> tuple[Floats, ...]:
        """The arrays that make these observations; `of_parts` takes them back."""
        p, n, *sums = self._seen
        b, used = self._buffer, int(self._buffer.first[n])
        entries = b.first[: n + 1], b.index[:used], b.weight[:used], sums
        return tuple(np.array(x) for x in (b.X[:p], b.L[: n * (n + 1) // 2], b.y[:n], b.w[:n], *entries))

    @staticmethod
    def of_parts(parts: tuple[Any, ...]) -> Observations:
        """Observations from their arrays, which are checked: the points, the factor, y, w, the rows of H, and sums."""
        X, L, y, w, first, index, weight, sums = parts
        n = len(y)
        fits = (
            X.ndim == 2
            and L.shape == (n * (n + 1) // 2,)
            and y.shape == w.shape
            and y.ndim in (1, 2)
            and first.shape == (n + 1,)
        )
        fits = fits and sums.shape == (2,)
        fits = fits and index.shape == weight.shape == (int(first[-1]),) and int(first[0]) == 0
        fits = (
            fits and bool((np.diff(first) > 0).all()) and (not len(index) or 0 <= index.min() <= index.max() < len(X))
        )
        pivots = L[np.arange(n) * (np.arange(n) + 3) // 2] if fits else np.zeros(1)
        if not fits or not (pivots > 0.0).all() or not all(np.isfinite(x).all() for x in (X, L, y, w, weight, sums)):
            raise InvalidArgument("Observations", "parts", "arrays that belong together", "arrays that do not")
        new = object.__new__(Observations)
        new._buffer = _Buffer(X, L, y, w, first, index, weight)
        new._seen = Version(len(X), n, float(sums[0]), float(sums[1]))
        new._buffer.points, new._buffer.data = len(X), n
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return Observations.of_parts, (self.parts(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Observations):
            return NotImplemented
        mine, theirs = self.parts(), other.parts()
        return all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]  # it holds arrays


def is_regular(factor: Floats, size: Floats, n: int | None = None) -> bool:
    """Whether the pivots of a Cholesky factor are more than rounding of variances of this size, after n data in all."""
    n = len(factor) if n is None else n
    return bool((np.diagonal(factor) ** 2 > ROUNDING * n * size).all())


def _singular(owner: str, covariance: Covariance, X: Floats) -> InvalidArgument:
    """Why data cannot be told apart: the prior is no covariance, or there is too little noise."""
    values = np.linalg.eigvalsh(covariance.matrix(X, X))
    if not values[0] >= -NEGATIVE * values[-1]:
        return not_positive(owner, float(values[0]))
    hint = "Points that repeat, or nearly repeat, need noise."
    return InvalidArgument(owner, "noise", "large enough to tell the data apart", "a singular covariance", hint)
