"""From a gradient to the next policy: directions, lengths of steps, and a line search (survey §5.2.2).

Directions

    plain       the mean of the gradient
    natural     G^-1 times it
    conjugate   Polak-Ribiere directions, and along each one a line search that only looks at the sign of the inner
                product of direction and gradient (Baxter, Bartlett and Weaver 2001). A probe costs a batch of paths.

Lengths, each times c / (c + j) in update j if a half-life c is given

    fixed        rate
    fisher       rate / sqrt(d'G d): steps of one length in the metric of the information. Policies near determinism
                 have a tiny information, so parameters must then move far
    covariance   rate m'm / (m'm + trace Cov): our reading of "the larger the variance the smaller the step"

A step that leaves the domain of the parameters, such as a negative sigma, is halved until it does not.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.checks import Floats
from bayesrl.core import DifferentiablePolicy
from bayesrl.errors import InvalidArgument
from bayesrl.gradient.bayesian_gradient import Gradient

PROBES = 6
"""The most probes of one line search."""
HALVINGS = 60


@runtime_checkable
class ParametricPolicy(DifferentiablePolicy, Protocol):
    """A policy whose parameters can be replaced."""

    @property
    def parameters(self) -> Floats:
        """The parameters, shape (n,)."""

    def with_parameters(self, parameters: ArrayLike) -> Self:
        """The same policy with other parameters."""


class Rule(Protocol):
    """How far to go, and where."""

    @property
    def direction(self) -> Literal["plain", "natural", "conjugate"]:
        """Where to."""

    @property
    def length(self) -> Literal["fixed", "fisher", "covariance"]:
        """How far."""

    @property
    def rate(self) -> float:
        """Size of steps."""

    @property
    def half_life(self) -> float | None:
        """c, if the rate falls as c / (c + j)."""


class LineSearch(NamedTuple):
    """A line search under way: the next gradient is that at base + step direction."""

    base: Floats
    gradient: Floats
    """At the base."""
    direction: Floats
    step: float
    probes: int = 0
    uphill: tuple[float, float] | None = None
    """The longest step where the return still grows along the direction, and its slope there."""
    downhill: tuple[float, float] | None = None
    """The shortest step where it falls."""
    settled: bool = False
    """Whether the search is over: the next gradient is that at a new base."""


class Improved(NamedTuple):
    """The result of an update."""

    policy: ParametricPolicy
    gradient: Gradient
    search: LineSearch | None = None


def improve(
    rule: Rule, policy: ParametricPolicy, gradient: Gradient, G: Floats, updates: int, search: LineSearch | None
) -> Improved:
    """The policy after a step by the rule; in update 0 nothing has been updated yet."""
    rate = rule.rate if rule.half_life is None else rule.rate * rule.half_life / (rule.half_life + updates)
    if rule.direction == "conjugate":
        search = conjugate(search, policy.parameters, gradient.mean)
        if search.probes == 0:
            search = search._replace(step=step_length(rule.length, rate, search.direction, gradient, G))
        at_base = policy.with_parameters(search.base)
        moved, share = step_from(at_base, search.step * search.direction)
        return Improved(moved, gradient, search._replace(step=share * search.step))
    d = gradient.mean if rule.direction == "plain" else gradient.natural
    moved, _ = step_from(policy, step_length(rule.length, rate, d, gradient, G) * d)
    return Improved(moved, gradient)


def step_length(length: str, rate: float, d: Floats, gradient: Gradient, G: Floats) -> float:
    """The factor of the direction."""
    if length == "fisher":
        norm = math.sqrt(max(float(d @ G @ d), 0.0))
        return rate / norm if norm > 0.0 else 0.0
    if length == "covariance":
        squared = float(gradient.mean @ gradient.mean)
        total = squared + float(np.trace(gradient.covariance))
        return rate * squared / total if total > 0.0 else 0.0
    return rate


def step_from(policy: ParametricPolicy, step: Floats) -> tuple[ParametricPolicy, float]:
    """The policy after a step, and the share of the step that was taken."""
    theta, share = policy.parameters, 1.0
    for _ in range(HALVINGS):
        try:
            return policy.with_parameters(theta + share * step), share
        except InvalidArgument:
            share *= 0.5
    return policy, 0.0


def conjugate(search: LineSearch | None, theta: Floats, gradient: Floats) -> LineSearch:
    """The line search after the gradient at theta; a new one has probes = 0 and no step yet."""
    if search is None or search.settled:
        direction = gradient
        if search is not None:
            squared = float(search.gradient @ search.gradient)
            turn = float((gradient - search.gradient) @ gradient) / squared if squared > 0.0 else 0.0
            direction = gradient + turn * search.direction
            if direction @ gradient < 0.0:
                direction = gradient
        return LineSearch(theta, gradient, direction, 0.0)
    slope, s = float(gradient @ search.direction), search.step
    search = search._replace(probes=search.probes + 1)
    search = search._replace(uphill=(s, slope)) if slope > 0.0 else search._replace(downhill=(s, slope))
    if search.uphill is not None and search.downhill is not None:
        (low, up), (high, down) = search.uphill, search.downhill
        return search._replace(step=low + (high - low) * up / (up - down), settled=True)
    if search.probes >= PROBES:
        return search._replace(settled=True)
    return search._replace(step=2.0 * s if slope > 0.0 else 0.5 * s)
