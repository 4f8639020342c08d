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
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtr

from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.values.gaussian import GaussianFunction
from bayesrl.beliefs.values.gptd import GPTD
from bayesrl.beliefs.values.gptd_sparse import SparseGPTD
from bayesrl.beliefs.values.trajectory import Episodes, Noise, Steps, alone, stretches
from bayesrl.checks import Floats, array, frozen, generator, integer, probability, sequence
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits

Values = GPTD | SparseGPTD


@register(
    "kernel-selection",
    kind="belief",
    survey="5.1",
    paper="Reisinger08OK",
    example=lambda: KernelSelection([Gaussian(scale=0.5), Gaussian(scale=2.0)], noise=0.3, gamma=0.9),
    taken_by="KernelSelection.update_many, which learns the values of states from a log",
    reading="The survey; the paper's score by returns is recalled, and ours is the evidence.",
    evidence=(
        "tests/beliefs/values/test_kernel_selection.py::test_weights_are_prior_times_evidence",
        "tests/beliefs/values/test_kernel_selection.py::test_particles_agree_with_a_grid",
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
    prior_weights: Annotated[Floats, Shape("(n,)"), "Their prior probabilities; None: equal."]
    noise: Annotated[Noise, "Standard deviation of a return, sigma, or a function of states."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.99
    threshold: Annotated[float | None, AtLeast(0.0), "That of sparse GPTD; None: exact GPTD."] = None
    particles: Annotated[int, AtLeast(0), "Drawn covariances; 0: the candidates themselves."] = 0
    width: Annotated[float, Above(0.0), "Standard deviation of the prior of log hyper-parameters."] = 1.0
    spread: Annotated[float, Above(0.0), "Standard deviation of a Metropolis move in logarithms."] = 0.3
    weights: Floats = field(init=False, repr=False)
    """Posterior probabilities of the candidates or particles, shape (n,)."""
    values: tuple[Values, ...] = field(init=False, repr=False)
    """The belief about values under each candidate or particle."""
    origin: tuple[int, ...] = field(init=False, repr=False)
    """The candidate from whose prior each particle was drawn."""
    evidence: float = field(init=False, default=0.0, repr=False)
    """Logarithm of the density of the rewards seen; with particles an estimate."""
    log: tuple[Steps, ...] = field(init=False, default=(), repr=False)
    """The transitions seen, for moves of particles."""

    traits: ClassVar[Traits] = Traits(
        renamed={"prior_weights": "weights"}, grows=("weights", "values", "origin", "evidence", "log")
    )

    def __init__(
        self,
        candidates: Sequence[Covariance],
        weights: ArrayLike | None = None,
        noise: Noise = 1.0,
        gamma: float = 0.99,
        threshold: float | None = None,
        particles: int = 0,
        width: float = 1.0,
        spread: float = 0.3,
    ) -> None:
        owner = "KernelSelection"
        found = sequence(owner, "candidates", candidates, "several covariances")
        if not found or not all(isinstance(k, Covariance) for k in found):
            raise InvalidArgument(owner, "candidates", "at least one covariance", candidates)
        equal = np.full(len(found), 1.0 / len(found))
        prior = array(owner, "weights", equal if weights is None else weights, (len(found),), low=0.0)
        if prior.sum() <= 0.0:
            raise InvalidArgument(owner, "weights", "not all zero", prior)
        given = (found, prior, noise, gamma, threshold, particles, width, spread)
        names = ("candidates", "prior_weights", "noise", "gamma", "threshold", "particles", "width", "spread")
        for name, one in zip(names, given, strict=True):
            object.__setattr__(self, name, one)
        self.__post_init__()

    def __post_init__(self) -> None:
        derived = {
            "weights": frozen(self.prior_weights / self.prior_weights.sum()),
            "values": tuple(self._made(k) for k in self.candidates),
            "origin": tuple(range(len(self.candidates))),
            "evidence": 0.0,
            "log": (),
        }
        for name, one in derived.items():
            object.__setattr__(self, name, one)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        n = len(self.values)
        array("KernelSelection", "weights", self.weights, (n,), low=0.0)
        if len(self.origin) != n or not all(0 <= i < len(self.candidates) for i in self.origin):
            raise InvalidArgument("KernelSelection", "origin", "one candidate for each particle", self.origin)

    def _made(self, k: Covariance) -> Values:
        """A belief about values under one covariance, before any transition."""
        if self.threshold is None:
            return GPTD(k, self.noise, self.gamma)
        return SparseGPTD(k, self.noise, self.gamma, self.threshold)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> KernelSelection:
        """The posterior after a transition. Particles use rng."""
        return self.update_many(alone("KernelSelection.update", datum), rng)

    def update_many(self, log: Episodes, rng: Generator | None = None) -> KernelSelection:
        """The posterior after transitions, or after the n + 1 states and n rewards of one trajectory that goes on."""
        owner = "KernelSelection.update"
        steps = stretches(owner, log, self._tail(), self.values[0].dims)
        if not steps:
            return self
        start = self if self.particles == 0 or self.log else self._drawn(generator(owner, rng))
        values = tuple(_learned(v, steps) for v in start.values)
        gained = np.array([v.log_evidence() - u.log_evidence() for v, u in zip(values, start.values, strict=True)])
        logs = np.log(np.where(start.weights > 0.0, start.weights, 1e-300)) + gained
        new = unchecked(
            start,
            values=values,
            weights=frozen(np.exp(logs - logsumexp(logs))),
            evidence=start.evidence + float(logsumexp(logs)),
            log=(*start.log, *steps) if self.particles else (),
        )
        if self.particles and 1.0 / np.sum(new.weights**2) < 0.5 * self.particles:
            new = new._rejuvenated(generator(owner, rng))
        return new

    def restart(self) -> KernelSelection:
        """The same belief at the start of a new trajectory."""
        return unchecked(self, values=tuple(v.restart() for v in self.values))

    def _tail(self) -> Floats | None:
        first = self.values[0]
        return first._open_state() if isinstance(first, GPTD) else first.tail

    # Particles -------------------------------------------------------------------------------------------------------

    def _drawn(self, rng: Generator) -> KernelSelection:
        """Particles from the prior: a candidate by its weight, its hyper-parameters log-normal."""
        origin = rng.choice(len(self.candidates), self.particles, p=self.weights)
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
        chosen = np.minimum(np.searchsorted(np.cumsum(self.weights), places), n - 1)
        values, origin = [], []
        for i in chosen:
            value, home = self.values[i], self.origin[i]
            centre, logs = self.candidates[home].parameters, value.prior_covariance.parameters
            proposed = logs + self.spread * rng.standard_normal(len(logs))
            other = _learned(self._made(value.prior_covariance.with_parameters(proposed)), self.log)
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
        return np.asarray(self.weights @ np.array([v.mean(states) for v in self.values]))

    def covariance(self, states: ArrayLike) -> Floats:
        """Posterior covariance of the values of states, shape (n, n): within covariances, and between their means."""
        means = np.array([v.mean(states) for v in self.values])
        apart = means - self.weights @ means
        inside = np.einsum("i,ijk->jk", self.weights, np.array([v.covariance(states) for v in self.values]))
        return np.asarray(inside + (apart.T * self.weights) @ apart)

    def variance(self, states: ArrayLike) -> Floats:
        """Posterior variances of the values of states, shape (n,)."""
        means = np.array([v.mean(states) for v in self.values])
        inside = self.weights @ np.array([v.variance(states) for v in self.values])
        return np.asarray(inside + self.weights @ (means - self.weights @ means) ** 2)

    def prior_variances(self, states: ArrayLike) -> Floats:
        """Prior variances of the values of states, under the present weights, shape (n,)."""
        return np.asarray(self.weights @ np.array([v.prior_variances(states) for v in self.values]))

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
            small = self.weights @ below < order
            low, high = np.where(small, middle, low), np.where(small, high, middle)
        return np.asarray(0.5 * (low + high))

    def sample(self, states: ArrayLike, rng: Generator, draws: int = 1) -> Floats:
        """Joint draws of the values of states, shape (draws, n): a covariance by its weight, then values under it."""
        owner = "KernelSelection.sample"
        n = integer(owner, "draws", draws, 1)
        chosen = generator(owner, rng).choice(len(self.values), n, p=self.weights)
        return np.concatenate([self.values[i].sample(states, rng) for i in chosen])

    def log_evidence(self) -> float:
        """Logarithm of the density of the rewards seen."""
        return self.evidence


def _learned(value: Values, steps: Sequence[Steps]) -> Values:
    """A belief about values after stretches of transitions."""
    for one in steps:
        value = value.learn_steps(one)
    return value
