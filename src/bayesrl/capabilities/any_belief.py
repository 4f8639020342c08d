"""Capabilities of any belief, whatever it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from numpy.random import Generator


@runtime_checkable
class Restarts(Protocol):
    """A belief over a hidden, moving state."""

    def restart(self) -> Self:
        """The belief at the start of a new episode: it forgets the state and keeps the posterior of the parameters."""


@runtime_checkable
class Refreshes(Protocol):
    """A belief whose posterior is recomputed on request, not at every update."""

    def refresh(self, rng: Generator, sweeps: int = 1) -> Self:
        """The belief after `sweeps` sweeps of its sampler."""


@runtime_checkable
class Batches(Protocol):
    """A belief that can hold many replicates, for runs in lockstep."""

    def batch(self, replicates: int) -> Self:
        """The belief repeated `replicates` times. Arrays get a first axis of that length."""


@runtime_checkable
class LearnsLogs(Protocol):
    """A belief that can learn from a whole log at once, which is faster than step by step."""

    def update_many(self, log: Any, rng: Generator | None = None) -> Self:
        """The posterior after a log, oldest step first (`beliefs/log.py`)."""


@runtime_checkable
class HasLogEvidence(Protocol):
    """A belief with the marginal likelihood of its data."""

    def log_evidence(self) -> Any:
        """Log probability of the data under the prior; one number for each replicate."""
