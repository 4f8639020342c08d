"""Bandits on a box: reward functions drawn from a Gaussian process (survey §4.8; numbers of our own).

An action is a point of [0, 1]^dims. It pays f(a) plus normal noise of standard deviation .1, and f is drawn from a
Gaussian process with mean zero, scale .2 and variance 1. The function is drawn at the points of a grid with a quarter
of the scale between them, and interpolated by its conditional mean given those values. The variance that is lost
between the points is less than 1e-6 of the process's.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from itertools import product
from math import ceil
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.values.gp_regression import GPRegression
from bayesrl.checks import Floats, array, frozen, generator
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import Bounds, check_action
from bayesrl.worlds.settings import Published, Setting

OURS = Setting("process", steps=50)
MOST = 2000
"""The most points of the grid on which a function is drawn."""
CUT = 1e-12
"""Eigenvalues of the grid's covariance below this share of the largest are left out."""
NEWTON = 3
"""Newton's steps that polish the best action."""
FINE = 400
"""Points of a line on which the best action is looked for; then it is improved."""


class BoxBandit(Published):
    """The common parts of the family and its worlds: the box of the actions."""

    dims: int
    registered: ClassVar[str] = "continuous-bandit"

    @property
    def observations(self) -> int:
        """One: a bandit has one state."""
        return 1

    @property
    def actions(self) -> Bounds:
        """The unit box."""
        return Bounds.of(np.zeros(self.dims), np.ones(self.dims))


@explain_failures
@value
class ContinuousBandit(BoxBandit):
    """A bandit on the unit box with a known reward function f(a) = sum_i weights_i k(a, centres_i).

    Examples
    --------
    >>> world = ContinuousBandit([[0.5]], [2.0], Gaussian(scale=0.2))
    >>> world.mean([[0.5], [0.7]]).round(3).tolist(), world.best.round(3).tolist(), world.gap(None, [0.5])
    ([2.0, 1.213], [0.5], 0.0)
    """

    centres: Annotated[Floats, Shape("(n, e)"), "Points of the box."]
    weights: Annotated[Floats, Shape("(n,)"), "Weight of each."]
    covariance: Annotated[Gaussian, "The covariance k."]
    noise: Annotated[float, Above(0), "Standard deviation of a reward."] = 0.1
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=OURS, repr=False)

    def __post_init__(self) -> None:
        array("ContinuousBandit", "weights", self.weights, (len(array("ContinuousBandit", "centres", self.centres)),))
        if self.centres.ndim != 2 or not isinstance(self.covariance, Gaussian):
            raise InvalidArgument("ContinuousBandit", "centres", "rows of points, with a Gaussian covariance", self)

    @property
    def dims(self) -> int:  # type: ignore[override]  # a field of the family
        """Coordinates of an action, e."""
        return self.centres.shape[1]

    def mean(self, actions: Any) -> Floats:
        """The mean rewards of actions, (n, e), as (n,)."""
        return np.asarray(self.covariance(actions, self.centres) @ self.weights)

    @cached_property
    def best(self) -> Floats:
        """The best action, (e,): the best point of a fine grid, improved by a search and by Newton's steps."""
        from scipy.optimize import minimize

        per_axis = ceil(FINE ** (1.0 / self.dims))
        line = np.linspace(0.0, 1.0, max(per_axis, 20))
        grid = np.array(list(product(line, repeat=self.dims)))
        start = grid[first_best(self.mean(grid))]
        bounds = [(0.0, 1.0)] * self.dims
        found = minimize(lambda a: -float(self.mean(a[None])[0]), start, bounds=bounds, options={"ftol": 1e-14}).x
        return frozen(max((start, found, self._polished(found)), key=lambda a: float(self.mean(a[None])[0])))

    def _polished(self, a: Floats) -> Floats:
        """Newton's steps from an action near a maximum of f; coordinates at the edge of the box stay there.

        The derivatives are closed. Differences of f are not exact enough: large weights cancel, up to 1e-10 of f.
        """
        for _ in range(NEWTON):
            L = np.broadcast_to(np.square(self.covariance.scale), a.shape)
            D, paid = (a - self.centres) / L, self.covariance(a[None], self.centres)[0] * self.weights
            slope, curved = -paid @ D, (D.T * paid) @ D - paid.sum() * np.diag(1.0 / L)
            free = np.flatnonzero((a > 0.0) & (a < 1.0))
            if not len(free) or np.linalg.eigvalsh(curved[np.ix_(free, free)])[-1] >= 0.0:
                break
            a = a.copy()
            a[free] = np.clip(a[free] - np.linalg.solve(curved[np.ix_(free, free)], slope[free]), 0.0, 1.0)
        return a

    def gap(self, state: object, action: Any) -> float:
        """The best mean reward minus that of an action: the regret of a step."""
        a = check_action(self.registered, self.actions, action)
        return max(0.0, float(np.diff(self.mean(np.array([a, self.best])))[0]))

    def reset(self, rng: Generator) -> tuple[None, int]:
        """A bandit has no state."""
        return None, 0

    def step(self, state: None, action: Any, rng: Generator) -> WorldStep:
        """Draw the reward of a point of the box."""
        a = check_action(self.registered, self.actions, action)
        paid = float(self.mean(a[None])[0]) + self.noise * generator(self.registered, rng).standard_normal()
        return WorldStep(None, 0, paid)


@explain_failures
@value
class ContinuousBanditFamily(BoxBandit):
    """Bandits on the unit box whose reward functions are drawn from a Gaussian process.

    Examples
    --------
    >>> world = ContinuousBanditFamily().draw(np.random.default_rng(0))
    >>> world.best.round(2).tolist(), round(float(world.mean([world.best])[0]), 2)
    ([0.19], 0.58)
    """

    scale: Annotated[float, Above(0), "Distance over which rewards change."] = 0.2
    noise: Annotated[float, Above(0), "Standard deviation of a reward."] = 0.1
    dims: Annotated[int, AtLeast(1), "Coordinates of an action, e."] = 1
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the family is usually run."] = field(default=OURS, repr=False)

    def __post_init__(self) -> None:
        if self.per_axis ** min(self.dims, MOST.bit_length()) > MOST:
            expected = f"so large that a grid with a quarter of it between points has at most {MOST} points"
            raise InvalidArgument(self.registered, "scale", expected, self.scale)

    @property
    def per_axis(self) -> int:
        """Points of the grid along an axis."""
        return ceil(min(4.0 / self.scale, 1e6)) + 1

    def draw(self, rng: Generator) -> ContinuousBandit:
        """A world whose function is drawn at the grid: weights K^-1 f = K^-1/2 z with f ~ N(0, K) and z standard."""
        grid = np.array(list(product(np.linspace(0.0, 1.0, self.per_axis), repeat=self.dims)))
        k = Gaussian(scale=self.scale)
        values, vectors = np.linalg.eigh(k(grid, grid))
        kept = values > CUT * values[-1]
        z = generator(self.registered, rng).standard_normal(len(grid))
        weights = vectors[:, kept] @ (vectors[:, kept].T @ z / np.sqrt(values[kept]))
        return ContinuousBandit(grid, weights, k, self.noise, self.gamma, self.setting)

    def default_prior(self) -> GPRegression:
        """The process that functions are drawn from."""
        return GPRegression(Gaussian(scale=self.scale), self.noise)


@register(
    "continuous-bandit",
    kind="family",
    survey="4.8",
    paper="wang05sparse",
    evidence=("tests/worlds/continuous/test_continuous_bandit.py::test_functions_have_the_covariance_of_the_process",),
)
def continuous_bandit(
    scale: Annotated[float, Above(0), "Distance over which rewards change."] = 0.2,
    noise: Annotated[float, Above(0), "Standard deviation of a reward."] = 0.1,
    dims: Annotated[int, AtLeast(1), "Coordinates of an action, e."] = 1,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> ContinuousBanditFamily:
    """Bandits on the unit box whose reward functions are drawn from a Gaussian process.

    Examples
    --------
    >>> continuous_bandit().default_prior().variance([0.3])
    array([1.])
    """
    return ContinuousBanditFamily(scale, noise, dims, gamma)
