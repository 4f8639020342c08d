"""A dictionary of states by approximate linear dependence, in whitened coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesrl.beliefs.covariances import Covariance
from bayesrl.beliefs.values.gaussian import nonnegative
from bayesrl.beliefs.values.triangular import lower_solved
from bayesrl.checks import Floats, frozen

LEAST = 1e-10
"""A state whose variance given the dictionary is below this share of its own is never admitted."""


class Dictionary(NamedTuple):
    """States and the Cholesky factor of their prior covariance."""

    states: Floats
    """Shape (m, d)."""
    factor: Floats
    """L, lower triangular, shape (m, m): k(D, D) = L L'."""

    @staticmethod
    def empty(dims: int) -> Dictionary:
        """No state yet."""
        return Dictionary(np.zeros((0, dims)), np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.states)

    def coordinates(self, covariance: Covariance, Z: Floats) -> Floats:
        """l(z) = L^-1 k(D, z) of each state, shape (n, m)."""
        if len(self.states) == 0:
            return np.zeros((len(Z), 0))
        K = covariance.matrix(self.states, Z)
        return lower_solved(self.factor, K).T

    def admit(self, covariance: Covariance, visits: Floats, threshold: float) -> tuple[Dictionary, Floats]:
        """Offer visited states in their order: the new dictionary, and the coordinates of every visit, (n, m).

        The coordinates of a visit that came before a state was admitted are zero at that state. A state that is
        admitted adds one column to the coordinates of all later visits, so nothing is solved again.
        """
        ell, k = self.coordinates(covariance, visits), covariance.variances(visits)
        delta = k - np.sum(ell * ell, axis=1)
        least = np.maximum(threshold, LEAST * k)
        nonnegative("Dictionary", k, 0.0)
        columns = [ell]
        states, factor_rows = [self.states], []
        start = 0
        while len(late := np.flatnonzero(delta[start:] > least[start:])) > 0:
            i = start + int(late[0])
            known = np.hstack(columns)
            root = np.sqrt(delta[i])
            column = np.zeros((len(visits), 1))
            column[i:, 0] = (covariance.matrix(visits[i:], visits[i : i + 1])[:, 0] - known[i:] @ known[i]) / root
            column[i, 0] = root
            factor_rows.append(np.append(known[i], root))
            columns.append(column)
            states.append(visits[i : i + 1])
            delta[i:] -= column[i:, 0] ** 2
            start = i + 1
        nonnegative("Dictionary", delta, k)
        if not factor_rows:
            return self, ell
        m, n = len(self), len(self) + len(factor_rows)
        factor = np.zeros((n, n))
        factor[:m, :m] = self.factor
        for j, row in enumerate(factor_rows):
            factor[m + j, : len(row)] = row
        return Dictionary(frozen(np.concatenate(states)), frozen(factor)), np.hstack(columns)
