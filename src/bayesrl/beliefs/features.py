"""Features of states: phi(s), the vector in which a value function is linear.

Features are frozen values. `phi(states)` is a matrix with a row for each state, and `phi.size` is the length of a row.

    Tabular      one indicator for each of n states
    RBF          exp(-|s - c|^2 / (2 scale^2)) for each centre c
    Tiles        tile coding: the cells of several shifted grids (Sutton 1996)
    Polynomial   monomials up to a degree
    Fourier      cos(pi c . s) for whole vectors c, on states scaled to the unit cube (Konidaris et al. 2011)
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import points, squared_distances
from bayesrl.checks import Floats, Ints, array, frozen, indices
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import Above, AtLeast, Shape, value


class Features(ABC):
    """The base class of all features."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers in a row."""

    @abstractmethod
    def __call__(self, states: ArrayLike) -> Floats:
        """A row of features for each state, shape (n, size)."""


@value
class Tabular(Features):
    """One indicator for each of n states.

    Examples
    --------
    >>> Tabular(3)([2, 0]).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    n: Annotated[int, AtLeast(1), "Number of states."]

    @property
    def size(self) -> int:
        return self.n

    def __call__(self, states: ArrayLike) -> Floats:
        numbers = points("Tabular", "states", states, 1)[:, 0]
        return np.eye(self.n)[indices("Tabular", "states", numbers, (None,), self.n)]


@value
class RBF(Features):
    """Radial basis functions exp(-|s - c|^2 / (2 scale^2)), one for each centre.

    Examples
    --------
    >>> RBF([0.0, 1.0], scale=1.0)([1.0]).round(3).tolist()
    [[0.607, 1.0]]
    """

    centres: Annotated[Floats, Shape("(k, d), or (k,) for states of one coordinate"), "Centres, c."]
    scale: Annotated[float, Above(0.0), "Width of every function."] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "centres", points("RBF", "centres", self.centres))

    @property
    def size(self) -> int:
        return len(self.centres)

    def __call__(self, states: ArrayLike) -> Floats:
        x = points("RBF", "states", states, self.centres.shape[1])
        return np.exp(-0.5 * squared_distances(x / self.scale, self.centres / self.scale))


@value
class Tiles(Features):
    """Tile coding: each of several grids marks the cell in which a state lies. Grid i is shifted by i / tilings cells.

    Examples
    --------
    >>> Tiles([0.0], [1.0], tiles=2, tilings=2)([0.3]).tolist()  # three cells in each grid, because of the shift
    [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]]
    """

    low: Annotated[Floats, Shape("(d,)"), "Least coordinates."]
    high: Annotated[Floats, Shape("(d,)"), "Largest coordinates."]
    tiles: Annotated[int, AtLeast(1), "Cells of a grid along each coordinate."] = 8
    tilings: Annotated[int, AtLeast(1), "Number of grids."] = 8

    def __post_init__(self) -> None:
        low, high = box("Tiles", self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def size(self) -> int:
        return int(self.tilings * (self.tiles + 1) ** len(self.low))

    def __call__(self, states: ArrayLike) -> Floats:
        d, side = len(self.low), self.tiles + 1
        unit = np.clip((points("Tiles", "states", states, d) - self.low) / (self.high - self.low), 0.0, 1.0)
        rows = np.zeros((len(unit), self.tilings, side**d))
        for i in range(self.tilings):
            cells = np.minimum((unit * self.tiles + i / self.tilings).astype(int), self.tiles)
            rows[np.arange(len(unit)), i, cells @ side ** np.arange(d)] = 1.0
        return rows.reshape(len(unit), -1)


@value
class Polynomial(Features):
    """All monomials of the coordinates up to a degree, the constant first.

    Examples
    --------
    >>> Polynomial(degree=2, dims=2)([[2.0, 3.0]]).tolist()
    [[1.0, 3.0, 9.0, 2.0, 6.0, 4.0]]
    """

    degree: Annotated[int, AtLeast(0), "Largest sum of exponents."] = 2
    dims: Annotated[int, AtLeast(1), "Coordinates of a state."] = 1
    powers: Ints = field(init=False, repr=False, compare=False)
    """The exponents of each monomial, shape (k, d)."""

    def __post_init__(self) -> None:
        every = itertools.product(range(self.degree + 1), repeat=self.dims)
        object.__setattr__(self, "powers", frozen(np.array([p for p in every if sum(p) <= self.degree])))

    @property
    def size(self) -> int:
        return len(self.powers)

    def __call__(self, states: ArrayLike) -> Floats:
        x = points("Polynomial", "states", states, self.dims)
        return np.asarray(np.prod(x[:, None, :] ** self.powers, axis=2))


@value
class Fourier(Features):
    """cos(pi c . s) for all vectors c of whole numbers up to `order`, on states scaled to the unit cube.

    Examples
    --------
    >>> Fourier([0.0], [2.0], order=2)([1.0]).round(3).tolist()
    [[1.0, 0.0, -1.0]]
    """

    low: Annotated[Floats, Shape("(d,)"), "Least coordinates."]
    high: Annotated[Floats, Shape("(d,)"), "Largest coordinates."]
    order: Annotated[int, AtLeast(0), "Largest frequency of a coordinate."] = 3

    def __post_init__(self) -> None:
        low, high = box("Fourier", self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def size(self) -> int:
        return int((self.order + 1) ** len(self.low))

    def __call__(self, states: ArrayLike) -> Floats:
        d = len(self.low)
        unit = (points("Fourier", "states", states, d) - self.low) / (self.high - self.low)
        frequencies = np.array(list(itertools.product(range(self.order + 1), repeat=d)))
        return np.asarray(np.cos(np.pi * unit @ frequencies.T))


def box(owner: str, low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
    """The corners of a box, each of shape (d,)."""
    below = np.atleast_1d(array(owner, "low", low))
    above = array(owner, "high", np.atleast_1d(np.asarray(high)), below.shape)
    if (above <= below).any():
        raise InvalidArgument(owner, "high", "greater than low in every coordinate", above)
    return frozen(below), above
