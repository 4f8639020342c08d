"""Which prior covariance? Values under a mixture over covariances (survey §5.1, Reisinger et al. 2008).

**A list of candidates** is exact: the posterior weight of a candidate is its prior weight times the evidence of the
rewards under it. Values have the mixture's mean and covariance.

**Continuous hyper-parameters** (`particles` > 0) are sampled. Particles are drawn from a log-normal prior around the
candidates' hyper-parameters. If the effective number of particles falls below half, they are resampled systematically,
and each makes one random-walk Metropolis move in logarithms, for which the log of transitions is replayed.

Deviations: Reisinger et al. score covariances by the return they earn (recalled, not read again). A belief must not
depend on who acted, so ours scores by evidence. Cost: that of GPTD for each candidate or particle; a move replays the
log. Claims: weights are exact posteriors; particles agree with a fine grid of candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtr

from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.values._gaussian import GaussianFunction
from bayesrl.beliefs.values._trajectory import Episodes, Noise, Steps, stretches
from bayesrl.beliefs.values.gptd import GPTD
from bayesrl.beliefs.values.gptd_sparse import SparseGPTD
from bayesrl.checks import Floats, array, frozen, generator, probability, sequence
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, unchecked, value
from bayesrl.registry import register

Values = GPTD | SparseGPTD


@register(
    "kernel-selection",
    kind="belief",
    survey="5.1",
    paper="Reisinger08OK",
    example=lambda: KernelSelection([Gaussian(scale=0.5), Gaussian(scale=2.0)], noise=0.3, gamma=0.9),
    evidence=(
        "tests/beliefs/test_kernel_selection.py::test_weights_are_prior_times_evidence",
        "tests/beliefs/test_kernel_selection.py::test_particles_agree_with_a_grid",
    ),
)
@value
class KernelSelection(GaussianFunction):
    """Values under several prior covariances, weighted by the evidence of the rewards.

    Examples
    --------
    >>> from bayesrl.beliefs.covariances import Gaussian
    >>> belief = KernelSelection([Gaussian(scale=0.1), Gaussian(scale=3.0)], noise=0.1, gamma=0.0)
    >>> states = np.linspace(0.0, 1.0, 9)
    >>> belief.update_many((states, states[:-1])).weights.round(2).tolist()  # a smooth function
    [0.0, 1.0]
    """

    candidates: Annotated[Sequence[Covariance], "Prior covariances of values."]
    weights: Annotated[Floats | None, Shape("(n,)"), "Their prior probabilities; None: equal."] = None
    noise: Annotated[Noise, "Standard deviation of a return, sigma, or a function of states."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.99
    threshold: Annotated[float | None, AtLeast(0.0), "That of sparse GPTD; None: exact GPTD."] = None
    particles: Annotated[int, AtLeast(0), "Drawn covariances; 0: the candidates themselves."] = 0
    width: Annotated[float, Above(0.0), "Standard deviation of the prior of log hyper-parameters."] = 1.0
    spread: Annotated[float, Above(0.0), "Standard deviation of a Metropolis move in logarithms."] = 0.3
    values: tuple[Values, ...] = field(init=False, repr=False)
    """The belief about values under each candidate or particle."""
    origin: tuple[int, ...] = field(init=False, repr=False)
    """The candidate from whose prior each particle was drawn."""
    evidence: float = field(init=False, default=0.0, repr=False)
    """Logarithm of the density of the rewards seen; with particles an estimate."""
    log: tuple[Steps, ...] = field(init=False, default=(), repr=False)
    """The transitions seen, for moves of particles."""

    def __post_init__(self) -> None:
        owner = "KernelSelection"
        found = sequence(owner, "candidates", self.candidates, "several covariances")
        if not found or not all(isinstance(k, Covariance) for k in found):
            raise InvalidArgument(owner, "candidates", "at least one covariance", self.candidates)
        weights = np.full(len(found), 1.0 / len(found)) if self.weights is None else self.weights
        weights = array(owner, "weights", weights, (len(found),), low=0.0)
        if weights.sum() <= 0.0:
            raise InvalidArgument(owner, "weights", "not all zero", weights)
        object.__setattr__(self, "candidates", found)
        object.__setattr__(self, "weights", frozen(weights / weights.sum()))
        object.__setattr__(self, "values", tuple(self._made(k) for k in found))
        object.__setattr__(self, "origin", tuple(range(len(found))))

    def _made(self, k: Covariance) -> Values:
        """A belief about values under one covariance, before any transition."""
        if self.threshold is None:
            return GPTD(k, self.noise, self.gamma)
        return SparseGPTD(k, self.noise, self.gamma, self.threshold)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> KernelSelection:
        """The posterior after a transition. Particles use rng."""
        return self.update_many([datum], rng)

    def update_many(self, log: Episodes, rng: Generator | None = None) -> KernelSelection:
        """The posterior after transitions, or after the n + 1 states and n rewards of one trajectory that goes on."""
        owner = "KernelSelection.update"
        start = self if self.particles == 0 or self.log else self._drawn(generator(owner, rng))
        steps = stretches(owner, log, start._tail(), start.values[0].dims)
        values = tuple(_learned(v, steps) for v in start.values)
        gained = np.array([v.log_evidence() - u.log_evidence() for v, u in zip(values, start.values, strict=True)])
        logs = np.log(np.where(start._w > 0.0, start._w, 1e-300)) + gained
        new = unchecked(
            start,
            values=values,
            weights=frozen(np.exp(logs - logsumexp(logs))),
            evidence=start.evidence + float(logsumexp(logs)),
            log=(*start.log, *steps) if self.particles else (),
        )
        if self.particles and 1.0 / np.sum(new._w**2) < 0.5 * self.particles:
            new = new._rejuvenated(generator(owner, rng))
        return new

    def restart(self) -> KernelSelection:
        """The same belief at the start of a new trajectory."""
        return unchecked(self, values=tuple(v.restart() for v in self.values))

    def _tail(self) -> Floats | None:
        first = self.values[0]
        return first._open_state() if isinstance(first, GPTD) else first.tail

    @property
    def _w(self) -> Floats:
        assert self.weights is not None  # set by the constructor
        return self.weights

    # Particles -------------------------------------------------------------------------------------------------------

    def _drawn(self, rng: Generator) -> KernelSelection:
        """Particles from the prior: a candidate by its weight, its hyper-parameters log-normal."""
        origin = rng.choice(len(self.candidates), self.particles, p=self._w)
        made = []
        for i in origin:
            k = self.candidates[i]
            logs = k.parameters
            made.append(self._made(k.with_parameters(logs + self.width * rng.standard_normal(len(logs)))))
        equal = frozen(np.full(self.particles, 1.0 / self.particles))
        return unchecked(self, values=tuple(made), weights=equal, origin=tuple(int(i) for i in origin))

    def _rejuvenated(self, rng: Generator) -> KernelSelection:
        """Systematic resampling, then one Metropolis move for each particle, the log replayed."""
        n = self.particles
        places = (rng.random() + np.arange(n)) / n
        chosen = np.minimum(np.searchsorted(np.cumsum(self._w), places), n - 1)
        values, origin = [], []
        for i in chosen:
            value, home = self.values[i], self.origin[i]
            centre, logs = self.candidates[home].parameters, value.prior.parameters
            proposed = logs + self.spread * rng.standard_normal(len(logs))
            other = _learned(self._made(value.prior.with_parameters(proposed)), self.log)
            prior = float(np.sum((logs - centre) ** 2 - (proposed - centre) ** 2)) / (2.0 * self.width**2)
            if np.log(rng.random()) < other.log_evidence() - value.log_evidence() + prior:
                value = other
            values.append(value)
            origin.append(home)
        equal = frozen(np.full(n, 1.0 / n))
        return unchecked(self, values=tuple(values), weights=equal, origin=tuple(origin))

    # The mixture -----------------------------------------------------------------------------------------------------

    def mean(self, states: ArrayLike) -> Floats:
        """Posterior means of the values of states, shape (n,)."""
        return np.asarray(self._w @ np.array([v.mean(states) for v in self.values]))

    def covariance(self, states: ArrayLike) -> Floats:
        """Posterior covariance of the values of states, shape (n, n): within covariances, and between their means."""
        means = np.array([v.mean(states) for v in self.values])
        apart = means - self._w @ means
        inside = np.einsum("i,ijk->jk", self._w, np.array([v.covariance(states) for v in self.values]))
        return np.asarray(inside + (apart.T * self._w) @ apart)

    def variance(self, states: ArrayLike) -> Floats:
        """Posterior variances of the values of states, shape (n,)."""
        means = np.array([v.mean(states) for v in self.values])
        inside = self._w @ np.array([v.variance(states) for v in self.values])
        return np.asarray(inside + self._w @ (means - self._w @ means) ** 2)

    def quantile(self, p: float, states: ArrayLike) -> Floats:
        """The p-quantile of the mixture at each state, shape (n,), by bisection of its distribution function."""
        order = probability("KernelSelection.quantile", "p", p)
        means = np.array([v.mean(states) for v in self.values])
        each = np.array([v.quantile(order, states) for v in self.values])
        deviations = np.sqrt([v.variance(states) for v in self.values])
        low, high = each.min(axis=0), each.max(axis=0)
        if not np.isfinite(low).all():
            return np.asarray(low)
        for _ in range(100):
            middle = 0.5 * (low + high)
            z = np.where(deviations > 0.0, (middle - means) / np.where(deviations > 0.0, deviations, 1.0), 0.0)
            below = np.where(deviations > 0.0, ndtr(z), middle >= means)
            small = self._w @ below < order
            low, high = np.where(small, middle, low), np.where(small, high, middle)
        return np.asarray(0.5 * (low + high))

    def sample(self, states: ArrayLike, rng: Generator, draws: int = 1) -> Floats:
        """Joint draws of the values of states, shape (draws, n): a covariance by its weight, then values under it."""
        chosen = generator("KernelSelection.sample", rng).choice(len(self.values), draws, p=self._w)
        return np.concatenate([self.values[i].sample(states, rng) for i in chosen])

    def log_evidence(self) -> float:
        """Logarithm of the density of the rewards seen."""
        return self.evidence


def _learned(value: Values, steps: Sequence[Steps]) -> Values:
    """A belief about values after stretches of transitions."""
    for one in steps:
        value = value.learn_steps(one)
    return value
