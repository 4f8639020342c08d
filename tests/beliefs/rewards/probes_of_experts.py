"""Probes of beliefs about an expert's reward (`inverse/`)."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from draws import one_of
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.rewards.birl import BIRL
from bayesrl.beliefs.rewards.modified_birl import ModifiedBIRL
from bayesrl.checks import Floats
from bayesrl.testing import probe_for


class LatticeProbe:
    """Truths are points of the lattice of weights; data are pairs: a state by chance and the expert's action in it.

    The chain moves only after as many data as the laws look at, to save time. The quantities are the weights and the
    log odds of the expert's actions.
    """

    random = True
    sweeps = 60
    many = 100
    moves = (3, 8, 12, many)

    def __init__(self, belief: Any) -> None:
        self.belief = belief

    @cached_property
    def points(self) -> Floats:
        """All points of the lattice, (n, d)."""
        found = self.belief.lattice
        values = found.low + found.step * np.arange(len(found.log_prior))
        return np.array(list(product(values, repeat=self.belief.n_weights)))

    @cached_property
    def prior(self) -> Floats:
        """Their prior probabilities, (n,)."""
        return np.asarray(special.softmax(np.array([self.belief.log_prior(w) for w in self.points])))

    @cached_property
    def experts(self) -> Floats:
        """Probabilities of the actions of the expert with these weights, (n, S, A)."""
        q = np.array([self.belief.rewards.solve(w).q for w in self.points])
        return np.asarray(special.softmax(self.belief.rationality * q, axis=2))

    @cached_property
    def quantities(self) -> Floats:
        """The weights, and the log odds of each action against the last, (n, quantities)."""
        p = np.log(self.experts)
        return np.hstack([self.points, (p[:, :, :-1] - p[:, :, -1:]).reshape(len(p), -1)])

    def numbers(self, weights: Floats) -> Any:
        """The numbers of points, (m, d) to (m,)."""
        found = self.belief.lattice
        digits = np.rint((weights - found.low) / found.step).astype(np.int64)
        return digits @ len(found.log_prior) ** np.arange(digits.shape[1])[::-1]

    def draw(self, belief: Any, rng: Generator) -> int:
        if len(belief.draws):
            return int(self.numbers(belief.sample(rng)[None])[0])
        return one_of(self.prior, rng)

    def datum(self, belief: Any, theta: int, rng: Generator) -> tuple[int, int]:
        s = int(rng.integers(belief.n_states))
        return s, one_of(self.experts[theta, s], rng)

    def learn(self, belief: Any, datum: tuple[int, int], rng: Generator) -> Any:
        new = belief.update(datum)
        return new.refresh(rng, self.sweeps) if len(new.demonstrations) in self.moves else new

    def read(self, belief: Any, theta: int) -> Floats:
        return np.asarray(self.quantities[theta])

    def expect(self, belief: Any) -> Floats:
        if not len(belief.draws):
            return np.asarray(self.prior @ self.quantities)
        return np.asarray(self.quantities[self.numbers(belief.draws)].mean(axis=0))

    def readings(self, belief: Any, n: int, rng: Generator) -> Floats:
        """The quantities of n draws."""
        return np.asarray(self.quantities[self.numbers(belief.draws[rng.integers(len(belief.draws), size=n)])])


probe_for.register(BIRL, LatticeProbe)
probe_for.register(ModifiedBIRL, LatticeProbe)
