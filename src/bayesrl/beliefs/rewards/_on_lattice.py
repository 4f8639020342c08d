"""Beliefs about rewards whose sampler walks on a lattice of weights: what `birl` and `modified-birl` have in common.

A weight has the values low + j step inside the box of the prior. With a `FinitePrior` there is no lattice: draws are
independent draws of the exact posterior.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.chain import FEW, warn_if_poor
from bayesrl.beliefs.rewards._over_rewards import OverRewards
from bayesrl.beliefs.rewards._policy_walk import Lattice, Schedule, policy_walk, walk_many
from bayesrl.beliefs.rewards.likelihood import Counts
from bayesrl.beliefs.rewards.linear_rewards import DENSE
from bayesrl.beliefs.rewards.reward_priors import finite
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import unchecked
from bayesrl.traits import Traits

MOST_POINTS = 10_000
"""The largest number of values of a weight."""
PRECISION = 1e-12
"""An action is better if its advantage is larger than this share of the largest value."""
ENOUGH = 10 * FEW
"""Proposals before which a chain is not judged."""


class OnLattice(OverRewards):
    """A belief whose chain walks on a lattice."""

    step: float
    initial: Floats | None
    at: Ints
    """Where the chain stands: the number j of the value of each weight, (d,)."""

    traits: ClassVar[Traits] = OverRewards.traits._replace(grows=("demonstrations", "draws", "accepted", "at"))

    def _begin_walk(self) -> None:
        """Check what both beliefs have, and put the chain at its start."""
        self._begin()
        object.__setattr__(self, "step", float(self.step))
        object.__setattr__(self, "at", frozen(self._first()))

    def check_grown(self) -> None:
        """Refuse fields that do not belong together, when a file is read."""
        owner, d, (S, A) = type(self).__name__, self.n_weights, self.problem.group.shape
        top = len(self.lattice.log_prior) if self.lattice else 1
        shapes = {"demonstrations": (-1, 2), "draws": (-1, d), "accepted": (2,), "at": (d,)}
        for name, shape in shapes.items():
            x, kind = getattr(self, name), "f" if name == "draws" else "i"
            if x.ndim != len(shape) or x.shape[-1] != shape[-1] or x.dtype.kind != kind or not np.isfinite(x).all():
                raise InvalidArgument(owner, name, f"of shape {shape}", x)
        pairs = self.demonstrations
        if (pairs < 0).any() or (pairs >= (S, A)).any() or (self.at < 0).any() or (self.at >= top).any():
            raise InvalidArgument(owner, "demonstrations", "pairs of the problem", pairs)

    # The lattice -----------------------------------------------------------------------------------------------------

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice; None if the prior lists its weights or has no finite box."""
        prior, owner = self.reward_prior, type(self).__name__
        if finite(prior) or not np.isfinite([prior.low, prior.high]).all():
            return None
        wide, most = prior.high - prior.low, MOST_POINTS - 1
        if not wide / most <= self.step <= wide * (1.0 + 1e-9):
            expected = f"at most the width of the box, {wide:g}, and at least {wide / most:.3g}"
            raise InvalidArgument(owner, "step", expected, self.step)
        values = prior.low + self.step * np.arange(int(wide / self.step * (1.0 + 1e-9)) + 1)
        inside = np.minimum(values, prior.high)  # the last value may be outside by a rounding error
        log_prior = frozen(np.array([prior.log_density([x]) for x in inside]))
        slack = PRECISION * (1.0 + self.rewards.largest * float(np.abs(values).max()))
        return Lattice(float(prior.low), self.step, log_prior, slack)

    def _first(self) -> Ints:
        """The point of the lattice at `initial`, or in the middle of the box."""
        owner, lattice, d = type(self).__name__, self.lattice, self.n_weights
        if self.initial is None:
            return np.full(d, 0 if lattice is None else (len(lattice.log_prior) - 1) // 2, np.int64)
        w = array(owner, "initial", self.initial, (d,), moderate=True)
        if lattice is None:
            raise InvalidArgument(owner, "initial", "None for a prior without a lattice", self.initial)
        j = (w - lattice.low) / lattice.step
        nearest = np.round(j)
        if (np.abs(j - nearest) > 1e-6).any():
            expected = f"on the lattice {lattice.low:g} + j {lattice.step:g}"
            raise InvalidArgument(owner, "initial", expected, self.initial)
        if (nearest < 0).any() or (nearest >= len(lattice.log_prior)).any():
            expected = f"inside the box from {self.reward_prior.low:g} to {self.reward_prior.high:g}"
            raise InvalidArgument(owner, "initial", expected, self.initial)
        return nearest.astype(np.int64)

    # The chain -------------------------------------------------------------------------------------------------------

    def _walked(self, rng: Generator, sweeps: int, chosen: Floats, cooling: int = 0) -> Self:
        """The belief after more sweeps. Weights are chosen in proportion to `chosen` (d,).

        A chain without draws first makes `cooling` sweeps. In these the log posterior is multiplied by a factor that
        rises to 1. They give no draws.
        """
        owner = f"{type(self).__name__}.refresh"
        generator(owner, rng)
        n = integer(owner, "sweeps", sweeps, 1)
        draws, at, new = np.zeros((n, self.n_weights)), self.at.copy(), np.zeros(2, np.int64)
        if listed := finite(self.reward_prior):
            below = np.cumsum(self.posterior())
            draws = listed.weights[np.searchsorted(below, rng.random(n) * below[-1], side="right")]
        else:
            cold = 0 if len(self.draws) else cooling
            share = np.minimum(np.arange(1, cold + n + 1) / (cold + 1.0), 1.0)
            new = np.array([self._walk(rng, at, Schedule(np.cumsum(chosen), share), draws), n * len(at)])
        known = frozen(np.concatenate([self.draws, draws]))
        moved = unchecked(self, draws=known, at=frozen(at), accepted=frozen(self.accepted + new))
        if moved.accepted[1] >= ENOUGH:
            warn_if_poor(owner, moved.diagnostics())
        return moved

    def _walk(self, rng: Generator, at: Ints, go: Schedule, draws: Floats) -> int:
        """Walk from `at` and fill `draws`; the number of accepted proposals."""
        if self.lattice is None:
            expected = "one with a finite box, whose weights form a lattice"
            raise InvalidArgument(f"{type(self).__name__}.refresh", "reward_prior", expected, self.reward_prior)
        n = Counts(frozen(self.counts.states), frozen(self.counts.taken))
        setting: Any = n, self.rationality, self.lattice, Schedule(*(frozen(x) for x in go)), at, draws
        if self.n_states > DENSE:
            return walk_many(rng, self.rewards, *setting)[0]
        return policy_walk(rng, self.rewards.ground, *setting)[0]
