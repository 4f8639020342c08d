"""Probes: how the laws draw a truth theta from a belief, draw data given theta, and compute test quantities.

A test quantity is a vector of numbers computed from theta; the probe also gives its exact expectation under the belief.
`probe_for` finds the probe of a belief; tests may pass their own.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats
from bayesrl.core import Belief

B = TypeVar("B", contravariant=True)


class Probe(Protocol[B]):
    """The generative side of a belief."""

    def draw(self, belief: B, rng: Generator) -> Any:
        """A truth theta from the belief."""

    def datum(self, belief: B, theta: Any, rng: Generator) -> Any:
        """A datum from the likelihood of theta."""

    def read(self, belief: B, theta: Any) -> Floats:
        """The test quantities of theta."""

    def expect(self, belief: B) -> Floats:
        """Their exact expectation under the belief."""


@singledispatch
def probe_for(belief: object) -> Probe[Any]:
    """The probe of a belief."""
    raise NotImplementedError(f"no probe for {type(belief).__name__}: register one with probe_for.register")


def learned(probe: Probe[Any], belief: Belief[Any], datum: Any, rng: Generator | None) -> Any:
    """The posterior after a datum. A probe whose data are episodes says itself how a belief learns from one."""
    learn = getattr(probe, "learn", None)
    return belief.update(datum, rng) if learn is None else learn(belief, datum, rng)


def readings(probe: Probe[Any], belief: Belief[Any], n: int, rng: Generator) -> Floats:
    """The test quantities of n truths drawn from a belief, (n, quantities). A probe may draw them all at once."""
    at_once = getattr(probe, "readings", None)
    if at_once is not None:
        return np.asarray(at_once(belief, n, rng))
    return np.array([probe.read(belief, probe.draw(belief, rng)) for _ in range(n)])
