"""Covariances of many particles at once, and their derivatives in a point.

`between(k, x, Y)` is k(x_p, Y_pn) for each particle p, with x of shape (P, k) and Y of shape (P, n, k). `slopes(k, X,
Y)` is the derivative of k(x_i, y_j) in x_i, of shape (n, m, k). Covariances without a rule of their own are evaluated
one particle at a time, and differentiated by central differences.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from bayesrl.beliefs.covariances import (
    Covariance,
    Discrete,
    Linear,
    Polynomial,
    Product,
    StateAction,
    Stationary,
    Sum,
    squared_distances,
)
from bayesrl.checks import Floats

STEP = 1e-6
"""Step of central differences, relative to a coordinate's size."""


def steps(X: Floats) -> Floats:
    """Steps of central differences at these points, of the same shape."""
    return np.asarray(STEP * np.maximum(1.0, np.abs(X)))


@singledispatch
def between(k: Covariance, x: Floats, Y: Floats) -> Floats:
    """k(x_p, Y_pn), shape (P, n)."""
    return np.array([k.matrix(one[None], many)[0] for one, many in zip(x, Y, strict=True)])


@singledispatch
def slopes(k: Covariance, X: Floats, Y: Floats) -> Floats:
    """The derivative of k(x_i, y_j) in x_i, shape (n, m, k)."""
    columns = []
    for axis, h in enumerate(steps(X).T):
        forth, back = X.copy(), X.copy()
        forth[:, axis] += h
        back[:, axis] -= h
        columns.append((k.matrix(forth, Y) - k.matrix(back, Y)) / (forth - back)[:, axis, None])
    return np.stack(columns, axis=2)


@between.register
def _(k: Stationary, x: Floats, Y: Floats) -> Floats:
    D = np.square(k.scaled(x)[:, None] - k.scaled(Y.reshape(-1, x.shape[1])).reshape(Y.shape))
    return k.of_distance(D.sum(axis=2))


@slopes.register
def _(k: Stationary, X: Floats, Y: Floats) -> Floats:
    D = squared_distances(k.scaled(X), k.scaled(Y))
    return np.asarray(2.0 * k.slope(D)[:, :, None] * (X[:, None] - Y) / np.square(k.scale))


@between.register
def _(k: Polynomial, x: Floats, Y: Floats) -> Floats:
    return np.asarray(k.variance * (np.einsum("pk,pnk->pn", x, Y) + k.offset) ** k.degree)


@slopes.register
def _(k: Polynomial, X: Floats, Y: Floats) -> Floats:
    return np.asarray((k.variance * k.degree * (X @ Y.T + k.offset) ** (k.degree - 1))[:, :, None] * Y)


@between.register
def _(k: Linear, x: Floats, Y: Floats) -> Floats:
    return np.asarray(k.variance * np.einsum("pk,pnk->pn", x, Y))


@slopes.register
def _(k: Linear, X: Floats, Y: Floats) -> Floats:
    return np.broadcast_to(k.variance * Y, (len(X), *Y.shape))


@between.register
def _(k: Discrete, x: Floats, Y: Floats) -> Floats:
    return np.asarray(k.variance * (x[:, None] == Y).all(axis=2))


@slopes.register
def _(k: Discrete, X: Floats, Y: Floats) -> Floats:
    return np.zeros((len(X), *Y.shape))


@between.register
def _(k: Sum, x: Floats, Y: Floats) -> Floats:
    return between(k.left, x, Y) + between(k.right, x, Y)


@slopes.register
def _(k: Sum, X: Floats, Y: Floats) -> Floats:
    return slopes(k.left, X, Y) + slopes(k.right, X, Y)


@between.register
def _(k: Product, x: Floats, Y: Floats) -> Floats:
    return between(k.left, x, Y) * between(k.right, x, Y)


@slopes.register
def _(k: Product, X: Floats, Y: Floats) -> Floats:
    left, right = k.left.matrix(X, Y)[:, :, None], k.right.matrix(X, Y)[:, :, None]
    return np.asarray(slopes(k.left, X, Y) * right + left * slopes(k.right, X, Y))


@between.register
def _(k: StateAction, x: Floats, Y: Floats) -> Floats:
    d = k.dims
    return between(k.state, x[:, :d], Y[:, :, :d]) * between(k.action, x[:, d:], Y[:, :, d:])


@slopes.register
def _(k: StateAction, X: Floats, Y: Floats) -> Floats:
    d = k.dims
    of_state, of_action = slopes(k.state, X[:, :d], Y[:, :d]), slopes(k.action, X[:, d:], Y[:, d:])
    states, actions = k.state.matrix(X[:, :d], Y[:, :d]), k.action.matrix(X[:, d:], Y[:, d:])
    return np.concatenate([of_state * actions[:, :, None], states[:, :, None] * of_action], axis=2)
