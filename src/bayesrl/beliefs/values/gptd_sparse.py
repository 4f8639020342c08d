"""Sparse temporal differences: a dictionary by approximate linear dependence (Engel et al. 2005; survey §5.1).

A state joins the dictionary if the prior's prediction of its value from the values in the dictionary has a variance
delta above `threshold`. With L the Cholesky factor of the dictionary's covariance, l(x) = L^-1 k(D, x) are *whitened*
coordinates, in which V(x) = l(x)'W with W ~ N(0, I), but for a part of variance delta = k(x, x) - l'l that is left out.
So the recursion of `gptd_parametric` serves with these coordinates. Earlier visits keep theirs, padded with zeros.

Mean l'w, covariance k(x, y) - l(x)'(I - P) l(y). Engel's variables are alpha = L^-T w and C = L^-T (I - P) L^-1
(`alpha`, `C`).

Deviations: the papers carry the inverse of the dictionary's covariance, which is worthless below threshold 1e-4. A
growing Cholesky factor is exact at 1e-10. `residuals="white"` is the model of `gptd_deterministic`. Cost: O(m^2) for a
transition with m states in the dictionary. Claims: equal to the projected model; threshold 0 is `gptd` up to rounding
where states are apart. A state whose variance given the dictionary is below 1e-10 of its own is never admitted, since
the rounding of later columns is divided by that variance: then values were up to 4e-5 and the log evidence up to 6e-4
away from those of `gptd` (40 to 200 random states in [-2, 2], scales .1 to 3, noise .3).
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import Covariance, Gaussian, points
from bayesrl.beliefs.values.dictionary import Dictionary
from bayesrl.beliefs.values.gaussian import GaussianFunction, nonnegative
from bayesrl.beliefs.values.recursion import Weights, differences, noise_of_rows
from bayesrl.beliefs.values.trajectory import (
    Episodes,
    Noise,
    Steps,
    alone,
    check_fields,
    check_tail,
    deviations,
    stretches,
)
from bayesrl.beliefs.values.triangular import transposed_solved
from bayesrl.checks import Floats, array
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, AtLeast, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits

CHUNK = 1024
"""Transitions that are learned at once."""


@register(
    "gptd-sparse",
    kind="belief",
    survey="5.1",
    paper="Engel05RL",
    example=lambda: SparseGPTD(Gaussian(scale=1.0), noise=0.3, gamma=0.9, threshold=0.1),
    taken_by="the agent gpsarsa",
    evidence=(
        "tests/beliefs/values/test_gptd.py::test_threshold_zero_is_the_full_posterior",
        "tests/beliefs/values/test_gptd.py::test_threshold_zero_where_states_are_close",
        "tests/beliefs/values/test_gptd.py::test_sparse_is_the_projected_model",
    ),
)
@value
class SparseGPTD(GaussianFunction):
    """A Gaussian process over values, represented by a dictionary of states.

    Examples
    --------
    >>> from bayesrl.beliefs.covariances import Gaussian
    >>> belief = SparseGPTD(covariance=Gaussian(scale=1.0), noise=0.3, gamma=0.9, threshold=0.1)
    >>> states = np.sin(np.arange(1001))
    >>> belief = belief.update_many((states, states[:-1]))
    >>> len(belief.dictionary), belief.mean([-1.0, 1.0]).round(2).tolist()
    (3, [-0.55, 0.55])
    """

    prior_covariance: Annotated[Covariance, "Prior covariance of values."]
    noise: Annotated[Noise, "Standard deviation of a return, sigma, or a function of states."] = 0.3
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.9
    threshold: Annotated[float, AtLeast(0.0), "Variance above which a state joins the dictionary."] = 0.1
    residuals: Annotated[
        Literal["coloured", "white"],
        "coloured: the tied noise of Monte-Carlo returns. white: independent noise, for deterministic transitions.",
    ] = "coloured"
    basis: Dictionary | None = field(init=False, default=None, repr=False)
    """The states in the dictionary; None before the first transition."""
    weights: Weights = field(init=False, repr=False)
    """The posterior of the weights of the whitened coordinates."""
    tail: Floats | None = field(init=False, default=None, repr=False)
    """The state where the trajectory goes on, shape (1, d); None: a new one begins."""

    traits: ClassVar[Traits] = Traits(renamed={"prior_covariance": "covariance"}, grows=("basis", "weights", "tail"))

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        if not isinstance(self.basis, Dictionary | None):
            raise InvalidArgument("SparseGPTD", "basis", "a dictionary", self.basis)
        m = 0 if self.basis is None else len(self.basis.states)
        self.weights.check("SparseGPTD", m)
        if self.basis is not None:
            array("SparseGPTD", "basis", self.basis.factor, (m, m))
        check_tail("SparseGPTD", self.tail, self.dims)

    def __init__(
        self,
        covariance: Covariance | None = None,
        noise: Noise = 0.3,
        gamma: float = 0.9,
        threshold: float = 0.1,
        residuals: Literal["coloured", "white"] = "coloured",
    ) -> None:
        given = (Gaussian(scale=1.0) if covariance is None else covariance, noise, gamma, threshold, residuals)
        for name, one in zip(("prior_covariance", "noise", "gamma", "threshold", "residuals"), given, strict=True):
            object.__setattr__(self, name, one)
        object.__setattr__(self, "basis", None)
        object.__setattr__(self, "weights", Weights.isotropic(0))
        object.__setattr__(self, "tail", None)
        self.__post_init__()

    def __post_init__(self) -> None:
        check_fields("SparseGPTD", self.prior_covariance, self.noise)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> SparseGPTD:
        """The posterior after a transition. The action is not used."""
        return self.update_many(alone("SparseGPTD.update", datum), rng)

    def update_many(self, log: Episodes, rng: Generator | None = None) -> SparseGPTD:
        """The posterior after transitions, or after the n + 1 states and n rewards of one trajectory that goes on."""
        new = self
        for steps in stretches("SparseGPTD.update", log, self.tail, self.dims):
            new = new.learn_steps(steps)
        return new

    def learn_steps(self, steps: Steps) -> SparseGPTD:
        """The posterior after one stretch of a trajectory."""
        new = self
        for chunk in _chunks(steps):
            new = new._learn(chunk)
        return new

    def _learn(self, steps: Steps) -> SparseGPTD:
        owner, (states, r, fresh, terminated, truncated) = "SparseGPTD.update", steps
        basis = Dictionary.empty(states.shape[1]) if self.basis is None else self.basis
        basis, coordinates = basis.admit(self.prior_covariance, states, self.threshold)
        variances = deviations(owner, self.noise, states) ** 2
        if self.residuals == "coloured":
            v, c = noise_of_rows(variances, len(r), self.gamma, fresh)
        else:
            v, c = variances[: len(r)].copy(), np.zeros(len(r))
        F = differences(coordinates, len(r), self.gamma)
        weights = self.weights.grown(len(basis)).after(owner, F, r, v, c)
        return unchecked(self, basis=basis, weights=weights, tail=None if terminated or truncated else states[-1:])

    def restart(self) -> SparseGPTD:
        """The same belief at the start of a new trajectory."""
        return unchecked(self, tail=None)

    # The posterior ---------------------------------------------------------------------------------------------------

    @property
    def dims(self) -> int | None:
        """Coordinates of a state; None before the first transition."""
        return None if self.basis is None else self.basis.states.shape[1]

    @property
    def dictionary(self) -> Floats:
        """The states in the dictionary, shape (m, d)."""
        return np.zeros((0, 1)) if self.basis is None else self.basis.states

    def coordinates(self, states: ArrayLike) -> Floats:
        """Whitened coordinates l of states, shape (n, m)."""
        Z = points("SparseGPTD", "states", states, self.dims)
        return np.zeros((len(Z), 0)) if self.basis is None else self.basis.coordinates(self.prior_covariance, Z)

    def mean(self, states: ArrayLike) -> Floats:
        """Posterior means of the values of states, shape (n,)."""
        return np.asarray(self.coordinates(states) @ self.weights.w)

    def covariance(self, states: ArrayLike) -> Floats:
        """Posterior covariance of the values of states, shape (n, n)."""
        Z = points("SparseGPTD", "states", states, self.dims)
        ell = self.coordinates(Z)
        return np.asarray(self.prior_covariance.matrix(Z, Z) - ell @ ell.T + ell @ self.weights.P @ ell.T)

    def variance(self, states: ArrayLike) -> Floats:
        """Posterior variances of the values of states, shape (n,)."""
        Z = points("SparseGPTD", "states", states, self.dims)
        ell, k = self.coordinates(Z), self.prior_covariance.variances(Z)
        left_out = nonnegative("SparseGPTD", k - np.sum(ell * ell, axis=1), k)
        return left_out + nonnegative("SparseGPTD", np.sum(ell @ self.weights.P * ell, axis=1), k)

    def prior_variances(self, states: ArrayLike) -> Floats:
        """Prior variances at states, shape (n,)."""
        return self.prior_covariance.diagonal(states)

    def log_evidence(self) -> float:
        """Logarithm of the density of the rewards seen."""
        return self.weights.log_evidence

    @property
    def alpha(self) -> Floats:
        """Engel's alpha: the mean is k(x, D) alpha, shape (m,)."""
        return np.zeros(0) if self.basis is None else _backward(self.basis.factor, self.weights.w)

    @property
    def C(self) -> Floats:
        """Engel's C: the covariance is k(x, y) - k(x, D) C k(D, y), shape (m, m)."""
        if self.basis is None:
            return np.zeros((0, 0))
        once = _backward(self.basis.factor, np.eye(len(self.basis)) - self.weights.P)
        return _backward(self.basis.factor, once.T)


def _backward(L: Floats, x: Floats) -> Floats:
    """L^-T x."""
    return transposed_solved(L, x.reshape(len(x), -1)).reshape(x.shape)


def _chunks(steps: Steps) -> list[Steps]:
    """A long stretch in pieces, of which each goes on where the last one ended."""
    states, r, fresh, terminated, truncated = steps
    made = []
    for start in range(0, len(r), CHUNK):
        end = min(start + CHUNK, len(r))
        at_end = end == len(r)
        piece = states[start : end + 1]
        made.append(Steps(piece, r[start:end], fresh and start == 0, terminated and at_end, truncated and at_end))
    return made
