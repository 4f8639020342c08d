"""Scalar linear systems drawn from a prior (survey §4.8; the family is ours).

x' = a x + b u + N(0, sd .1), cost x^2 + .3 u^2, x_0 = 0. (a, b) ~ N((.7, .6), sd `spread` each), restricted to
abs(a) < 1.1 and abs(b) > .15. The usual prior of an agent is the same normal distribution, V_0 = (.1/spread)^2 I, and
the draws of `lazy-psrl` have the same restriction.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.dynamics.linear_gaussian_dynamics import LinearGaussianDynamics
from bayesrl.checks import Floats, frozen, generator, integer
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import Above, AtLeast, declared, unchecked, value
from bayesrl.registry import register
from bayesrl.worlds.continuous._box import WIDE, Bounds
from bayesrl.worlds.continuous.linear_system import STANDARD, LinearSystem
from bayesrl.worlds.settings import Published, Setting

MEAN = (0.7, 0.6)
DEVIATION, EFFORT = 0.1, 0.3
MOST_TRIES = 1000
"""Draws of (a, b) at most, until one is inside the restriction."""


@declared
class Moderate:
    """Scalar systems that do not grow fast and can be moved.

    Examples
    --------
    >>> Moderate()(np.array([[1.0]]), np.array([[-0.5]])), Moderate()(np.array([[1.2]]), np.array([[0.5]]))
    (True, False)
    """

    growth: Annotated[float, Above(0.0), "abs(a) is smaller."] = 1.1
    effect: Annotated[float, AtLeast(0.0), "abs(b) is larger."] = 0.15

    def __call__(self, A: Floats, B: Floats) -> bool:
        """Whether a system is inside."""
        try:
            return bool(abs(float(A.item())) < self.growth and abs(float(B.item())) > self.effect)
        except (AttributeError, TypeError, ValueError):
            raise InvalidArgument("Moderate", "A, B", "two arrays with one number each", (A, B)) from None


@register(
    "lq",
    kind="family",
    survey="4.8",
    paper="abbasi15",
    evidence=("tests/worlds/continuous/test_linear_worlds.py::test_the_family_draws_what_it_says",),
)
@explain_failures
@value
class LQ(Published):
    """Scalar linear systems drawn from a normal prior, restricted to moderate ones.

    Examples
    --------
    >>> world = LQ().draw(np.random.default_rng(0))
    >>> world.A.round(3).item(), world.B.round(3).item()
    (0.763, 0.534)
    """

    spread: Annotated[float, Above(0.0), "Standard deviation of a and of b."] = 0.5
    replicates: Annotated[int | None, AtLeast(1), "Number of systems in lockstep that a draw holds; None: one."] = None
    setting: Annotated[Setting, "How the family is usually run."] = field(default=STANDARD, repr=False)

    registered: ClassVar[str] = "lq"
    accept: ClassVar[Moderate] = Moderate()
    """The restriction, for draws of `lazy-psrl`."""

    @property
    def gamma(self) -> float:
        """No discount."""
        return 1.0

    @property
    def observations(self) -> Bounds:
        """Those of a system."""
        return Bounds.of([-WIDE], [WIDE])

    @property
    def actions(self) -> Bounds:
        """Those of a system."""
        return Bounds.of([-WIDE], [WIDE])

    def default_prior(self) -> LinearGaussianDynamics:
        """The normal distribution that systems are drawn from, before the restriction."""
        V = np.eye(2) * (DEVIATION / self.spread) ** 2
        return LinearGaussianDynamics(np.array([MEAN]).T, V, DEVIATION, np.eye(1), EFFORT * np.eye(1))

    def batch(self, replicates: int) -> LQ:
        """The family whose draws hold this number of systems in lockstep."""
        return unchecked(self, replicates=integer("lq", "replicates", replicates, 1))

    def draw(self, rng: Generator) -> LinearSystem:
        """A system, or as many in lockstep as there are replicates. Those outside the restriction are drawn again."""
        inside, rng = self.accept, generator("lq", rng)
        drawn = rng.normal(MEAN, self.spread, (self.replicates or 1, 2))
        for _ in range(MOST_TRIES):
            out = [i for i, (a, b) in enumerate(drawn) if not inside(a, b)]
            if not out:
                A, B = (frozen(x.reshape(-1, 1, 1)) for x in drawn.T)
                one = _system(A[0], B[0], self.default_prior(), self.setting)
                return one if self.replicates is None else unchecked(one, A=A, B=B)
            drawn[out] = rng.normal(MEAN, self.spread, (len(out), 2))
        raise InvalidArgument("lq", "spread", f"one of which a draw in {MOST_TRIES} is moderate", self.spread)


def _system(A: Any, B: Any, prior: LinearGaussianDynamics, setting: Setting) -> LinearSystem:
    one = np.eye(1)
    return LinearSystem(A, B, one, EFFORT * one, DEVIATION**2 * one, prior, Moderate(), "lq", setting)
