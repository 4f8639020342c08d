"""Measures over percentiles (Chen and Bowling 2012; survey §6): how much each percentile of the return counts.

A measure is a distribution on [0, 1], held by its cumulative function Psi. Percentile 0 is the worst return (ERRATA
12). The value of returns v with probabilities w is the sum of [Psi(c_j) - Psi(c_{j-1})] v_(j), where v_(j) are the
returns in ascending order, and c_j are their cumulative probabilities.

The density must not increase. Worse returns then count at least as much as better ones, the value is concave in the
returns, and the best policy is the solution of a linear program. A single percentile has no such density.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, bdtrc

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, frozen, integer, number, rows_sum_to_one, sequence
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import declared

TOLERANCE = 1e-6
"""How far the integral of a density may be from 1, and by how much, relative to its size, it may seem to increase."""
PANEL_ERROR = 1e-11
"""A panel is halved until the two halves agree with it within this error."""
HALVINGS = 60
"""The largest number of times that a panel is halved: [0, 1] becomes as short as the resolution of numbers."""
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)
A_PERCENTILE = 'A single percentile is the criterion of make("percentile", epsilon=...).'


@declared
class Tail:
    """The mean of the worst returns: those below percentile `level`; level 0 is the worst return alone."""

    level: float

    def cumulative(self, x: Floats) -> Floats:
        """Psi(x) = min(x / level, 1), and 1 for x > 0 if the level is 0."""
        return np.minimum(x / self.level, 1.0) if self.level > 0.0 else np.asarray(x > 0.0, np.float64)

    def density(self, x: Floats) -> Floats:
        """1 / level below the level, 0 from there on. At level 0 it is infinite at 0."""
        if self.level == 0.0:
            return np.where(x == 0.0, np.inf, 0.0)
        return np.where((x < self.level) | (self.level == 1.0), 1.0 / self.level, 0.0)

    def __str__(self) -> str:
        return {0.0: "max_min()", 1.0: "mean()"}.get(self.level, f"cvar({self.level:g})")


@declared
class WorstOfDraws:
    """The mean of the k worst of n independent draws of the return."""

    k: int
    n: int

    def cumulative(self, x: Floats) -> Floats:
        """Psi(x) = E min(k, Bin(n, x)) / k = (n x / k) P(Bin(n - 1, x) <= k - 1) + P(Bin(n, x) > k)."""
        return np.asarray(x * self.density(x) + bdtrc(self.k, self.n, x))

    def density(self, x: Floats) -> Floats:
        """(n / k) P(Bin(n - 1, x) <= k - 1)."""
        return np.asarray(self.n / self.k * bdtr(self.k - 1, self.n - 1, x))

    def __str__(self) -> str:
        return f"k_of_n({self.k}, {self.n})"


@declared
class Density:
    """A user's density. Its integral is computed once, on panels that are halved where it is not smooth."""

    function: Callable[[Any], Any]
    edges: Floats = field(init=False, compare=False, repr=False)
    """The ends of the panels, (n + 1,)."""
    below: Floats = field(init=False, compare=False, repr=False)
    """The integral up to each of them, (n + 1,)."""

    def __post_init__(self) -> None:
        for name, new in zip(("edges", "below"), integrate(self.function), strict=True):
            object.__setattr__(self, name, frozen(new))

    def cumulative(self, x: Floats) -> Floats:
        """The integral from 0 to x: whole panels, and a Gauss rule on the rest."""
        edges, below = self.edges, self.below
        i = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
        half, total = 0.5 * (x - edges[i]), np.array(below[i])
        inside = half > 0.0  # the function may be infinite at 0
        points = edges[i][inside][:, None] + half[inside][:, None] * (1.0 + POINTS)
        total[inside] += half[inside] * (evaluate(self.function, points) @ WEIGHTS)
        return np.asarray(np.clip(total / below[-1], 0.0, 1.0))

    def density(self, x: Floats) -> Floats:
        """The user's function."""
        return evaluate(self.function, x)

    def __str__(self) -> str:
        return f"from_density({getattr(self.function, '__name__', 'function')})"


@explain_failures
@declared
class Measure:
    """How much each percentile of the return counts; percentile 0 is the worst. Make one with a class method.

    Examples
    --------
    >>> Measure.cvar(0.5).value([3.0, 1.0, 2.0, 4.0])
    1.5
    >>> Measure.k_of_n(1, 2).density(0.25)
    array(1.5)
    >>> Measure.mixture([Measure.mean(), Measure.max_min()], [0.75, 0.25])
    Measure.mixture((mean(), max_min()), (0.75, 0.25))
    """

    terms: tuple[Tail | WorstOfDraws | Density, ...]
    """The measures that are mixed; one, if it is not a mixture."""
    weights: tuple[float, ...] = (1.0,)
    """Their weights, which sum to 1."""

    def __post_init__(self) -> None:
        terms = sequence("Measure", "terms", self.terms, "a tuple of terms")
        if not terms or not all(isinstance(term, (Tail, WorstOfDraws, Density)) for term in terms):
            raise InvalidArgument("Measure", "terms", "made by a class method, such as Measure.cvar(0.1)", self.terms)
        weights = array("Measure", "weights", self.weights, (len(terms),), low=0.0)
        weights = rows_sum_to_one("Measure", "weights", weights, self.weights)
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "weights", tuple(weights.tolist()))
        for term in terms:
            if isinstance(term, Tail):
                number("Measure", "level", term.level, 0.0, 1.0)
            elif isinstance(term, WorstOfDraws):
                integer("Measure", "k", term.k, 1, integer("Measure", "n", term.n, 1))

    def __repr__(self) -> str:
        if len(self.terms) == 1:
            return f"Measure.{self.terms[0]}"
        weights = ", ".join(f"{w:g}" for w in self.weights)
        return f"Measure.mixture(({', '.join(map(str, self.terms))}), ({weights}))"

    # Constructors ----------------------------------------------------------------------------------------------------

    @classmethod
    def mean(cls) -> Measure:
        """Every percentile counts the same: density 1."""
        return cls((Tail(1.0),))

    @classmethod
    def cvar(cls, level: float) -> Measure:
        """The mean of the worst `level` of the returns (conditional value at risk); level is in (0, 1]."""
        return cls((Tail(number("Measure.cvar", "level", level, 0.0, 1.0, above=True)),))

    @classmethod
    def max_min(cls) -> Measure:
        """The worst return that is possible. All weight is at percentile 0, so that its density is infinite there."""
        return cls((Tail(0.0),))

    @classmethod
    def k_of_n(cls, k: int, n: int) -> Measure:
        """The mean of the k worst of n draws, with density (n / k) P(Bin(n - 1, x) <= k - 1)."""
        n = integer("Measure.k_of_n", "n", n, 1)
        return cls((WorstOfDraws(integer("Measure.k_of_n", "k", k, 1, n), n),))

    @classmethod
    def mixture(cls, measures: Sequence[Measure], weights: ArrayLike) -> Measure:
        """The mixture of measures with these weights, which must sum to 1."""
        owner = "Measure.mixture"
        parts = sequence(owner, "measures", measures, "a sequence of measures")
        if not parts or not all(isinstance(part, Measure) for part in parts):
            raise InvalidArgument(owner, "measures", "a sequence of measures", measures)
        shares = rows_sum_to_one(owner, "weights", array(owner, "weights", weights, (len(parts),), low=0.0), weights)
        mixed = [(term, w * u) for part, w in zip(parts, shares.tolist(), strict=True) for term, u in part._listed()]
        return cls(tuple(term for term, _ in mixed), tuple(w for _, w in mixed))

    @classmethod
    def from_density(cls, g: Callable[[Any], Any]) -> Measure:
        """The measure with a density g(x) on [0, 1], which must not increase and must integrate to 1 within 1e-6.

        It may be infinite at 0. Jumps are integrated too. It is then scaled to integrate to exactly 1.
        A measure of a function cannot be saved to a file.
        """
        if not callable(g):
            raise InvalidArgument("Measure.from_density", "g", "a function of x in [0, 1]", g)
        return cls((Density(g),))

    @classmethod
    def percentile(cls, level: float) -> NoReturn:
        """Refuse: a single percentile has no density that does not increase."""
        raise InvalidArgument("Measure", "density", "non-increasing", f"a single percentile, {level!r}", A_PERCENTILE)

    # What it says ----------------------------------------------------------------------------------------------------

    def cumulative(self, x: ArrayLike) -> Floats:
        """Psi(x), the weight of the percentiles up to x."""
        at = _within("Measure.cumulative", x)
        return np.asarray(sum(w * term.cumulative(at) for term, w in self._listed()))

    def density(self, x: ArrayLike) -> Floats:
        """The weight of percentile x relative to a uniform one. It is infinite at 0 if `max_min` is mixed in."""
        at = _within("Measure.density", x)
        return np.asarray(sum(w * term.density(at) for term, w in self._listed() if w > 0.0))

    def value(self, returns: ArrayLike, weights: ArrayLike | None = None) -> float:
        """The value of finitely many returns with these probabilities; without them all are equally probable."""
        return float(self.shares(returns, weights) @ np.asarray(returns, np.float64))

    def shares(self, returns: ArrayLike, weights: ArrayLike | None = None) -> Floats:
        """How much each return counts in `value`, in the order given. They sum to 1, and the value is minimal for them.

        The value is the least that returns of the same probabilities earn under any order, so that these are the
        weights of an adversary who chooses the order.
        """
        owner = "Measure.value"
        v = array(owner, "returns", returns, (None,))
        w = np.full(len(v), 1.0 / len(v))
        if weights is not None:
            w = array(owner, "weights", weights, (len(v),), low=0.0)
            w = rows_sum_to_one(owner, "weights", w, weights)
        order = np.argsort(v, kind="stable")
        below = np.cumsum(w[order])
        shares = np.empty(len(v))
        shares[order] = np.diff(self.cumulative(below / below[-1]), prepend=0.0)
        return shares

    def _listed(self) -> zip[tuple[Tail | WorstOfDraws | Density, float]]:
        return zip(self.terms, self.weights, strict=True)


def _within(owner: str, x: ArrayLike) -> Floats:
    """Percentiles from 0 to 1."""
    at = array(owner, "x", x, low=0.0)
    if at.max() > 1.0:
        raise InvalidArgument(owner, "x", "at most 1 everywhere", float(at.max()))
    return at


# A user's density ----------------------------------------------------------------------------------------------------


def evaluate(g: Callable[[Any], Any], x: Floats) -> Floats:
    """g at every point of an array; a function that takes only numbers is called for each."""
    try:
        y = np.asarray(g(x), np.float64)
        if y.shape == x.shape:
            return y
    except Exception:  # it may compare x with a number, as in `if x < 0.5`
        pass
    try:
        return np.array([float(g(float(point))) for point in x.ravel()]).reshape(x.shape)
    except Exception as error:
        expected, hint = "a function of x in [0, 1]", f"It raised {type(error).__name__}: {error}."
        raise InvalidArgument("Measure.from_density", "g", expected, g, hint) from error


def integrate(g: Callable[[Any], Any]) -> tuple[Floats, Floats]:
    """Panels of [0, 1], shape (n + 1,), and the integral of g up to each edge; raise an error if g is no density."""
    owner = "Measure.from_density"
    known_x, known_y = [], []

    def panels(a: Floats, b: Floats) -> Floats:
        half = 0.5 * (b - a)
        x = a[:, None] + half[:, None] * (1.0 + POINTS)
        y = evaluate(g, x)
        bad = ~np.isfinite(y) | (y < 0.0)
        if bad.any():
            hint = f"First at x = {x[bad][0]:.6g}."
            raise InvalidArgument(owner, "g", "finite and at least 0 on (0, 1)", float(y[bad][0]), hint)
        known_x.append(x.ravel())
        known_y.append(y.ravel())
        return np.asarray(half * (y @ WEIGHTS))

    a, b = np.arange(64) / 64, np.arange(1, 65) / 64
    area = panels(a, b)
    done: list[tuple[Floats, Floats]] = []
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        left, right = panels(a, middle), panels(middle, b)
        rough = np.abs(left + right - area) > PANEL_ERROR
        done += [(np.append(a[~rough], middle[~rough]), np.append(left[~rough], right[~rough]))]
        a, b = np.append(a[rough], middle[rough]), np.append(middle[rough], b[rough])
        area = np.append(left[rough], right[rough])
    edges, areas = (np.concatenate(parts) for parts in zip(*done, (a, area), strict=True))
    order = np.argsort(edges)
    x, y = np.concatenate(known_x), np.concatenate(known_y)
    y = y[np.argsort(x, kind="stable")]
    if (up := np.diff(y) > TOLERANCE * (1.0 + y[:-1])).any():
        at = float(np.sort(x)[1:][up][0])
        raise InvalidArgument(owner, "g", "non-increasing", f"one that increases near x = {at:.6g}", A_PERCENTILE)
    total = float(areas.sum())
    if abs(total - 1.0) > TOLERANCE:
        raise InvalidArgument(owner, "g", "a density that integrates to 1", f"one that integrates to {total:.6g}")
    return np.append(edges[order], 1.0), np.append(0.0, np.cumsum(areas[order]))
