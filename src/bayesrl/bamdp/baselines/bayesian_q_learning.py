"""Bayesian Q-learning (Dearden, Friedman, Russell 1998; survey §7.3).

A belief about the return itself, without a model: the return after (s, a) is normal with unknown mean mu and precision
tau, and (mu, tau) is normal-gamma (mu_0, lambda, alpha, beta) for each pair, independent of the others. mu's own law is
Student's t with 2 alpha degrees of freedom, centre mu_0 and scale sqrt(beta / (lambda alpha)).

What a transition (s, a, r, s') teaches is r + gamma R', where the return R' from s' is not seen, only believed: it is
that of the action that seems best there. Two ways to learn from it,

- "moment": as if one return with the mean and the mean square of r + gamma R' had been seen;
- "mixture": the posterior given r + gamma x, averaged over x ~ R' and projected on a normal-gamma by matching E[tau],
  E[mu tau], E[mu^2 tau] and E[log tau] (the nearest one in Kullback-Leibler divergence). It is the more careful one:
  moment updating grows sure of a value too soon.

and two ways to choose: "sampling", the best of one draw of each mu, and "vpi", the largest mean plus myopic value of
perfect information.

The default prior follows a principle and was not found by trial. A return lies between r_min / (1 - gamma) and r_max /
(1 - gamma), and nothing else is known of it, so its prior has the mean and the variance of the uniform law on that
range. It is worth one return (lambda = 1), and alpha = 2 is the first whole number at which the variance is finite;
there E[1 / tau] = beta, so beta is that variance. The range of rewards is the agent's to know, as it is R-max's; the
lab tells it where a world lists its outcomes.

Paper to code: `conjugate` is the normal-gamma update, `future` the moments of R', then `moment_update` and
`mixture_update`; `vpi` is the survey's definition (§4.4, corrected, ERRATA 3) in closed form.
Deviations: an episode's end teaches r alone. The integral over x is a quadrature of `NODES` points. A projected alpha
is at least `LEAST`, so that R' has a variance. Discount and sizes are the agent's own, as it has no model. What the
authors' prior was in their experiments we do not know.
Cost: O(A) per step, and O(NODES) for a mixture. Claims: every update against quadrature or Monte Carlo; the projection
matches its four expectations; VPI against integration; it learns. Totals of 1000 steps at discount .95 with this prior,
fixed before it was tried, 20 runs (standard error): chain, mixture 2842 (69) by VPI and 1485 (33) by sampling, moment
2425 (85) and 1595 (51); double-loop 242.2 (.1) and 163.8 (1.9), 237.7 (.7) and 168.0 (1.9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.bamdp._greedy import best_action, step_in
from bayesrl.checks import Floats, choice, frozen, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register

LEAST = 1.01
"""Smallest alpha; the variance of a return is finite above 1."""
NODES = 64
"""Points of the quadrature over the return to come."""
NARROW = 1e-100
"""The least range of rewards, and one by the largest: variances are numbers in between."""
UPDATES = ("moment", "mixture")
CHOICES = ("vpi", "sampling")


class NormalGamma(NamedTuple):
    """Beliefs about the mean and precision of returns: arrays (S, A), or the numbers of one pair."""

    mean: Any  # mu_0
    strength: Any  # lambda
    shape: Any  # alpha
    rate: Any  # beta


@register(
    "bayesian-q-learning",
    kind="agent",
    survey="7.3",
    paper="dearden98bayesian",
    example=lambda: BayesianQLearning(n_states=2, n_actions=2, gamma=0.9),
    evidence=(
        "tests/bamdp/test_bayesian_q_learning.py::test_conjugate_update_matches_quadrature",
        "tests/bamdp/test_bayesian_q_learning.py::test_moment_update_by_hand",
        "tests/bamdp/test_bayesian_q_learning.py::test_mixture_update_matches_monte_carlo",
        "tests/bamdp/test_bayesian_q_learning.py::test_vpi_matches_integration",
        "tests/bamdp/test_bayesian_q_learning.py::test_choices",
    ),
)
@dataclass(frozen=True, slots=True)
class BayesianQLearning:
    """Normal-gamma beliefs about Q-values, with moment or mixture updates and VPI or sampled choices."""

    n_states: int
    """S."""
    n_actions: int
    """A."""
    gamma: float
    """Discount, in [0, 1]."""
    update: str = "mixture"
    """How the unseen return to come is learnt from: "moment" or "mixture"."""
    choose: str = "vpi"
    """How actions are chosen: "vpi" or "sampling"."""
    r_min: float = 0.0
    """The smallest reward there is."""
    r_max: float = 1.0
    """The largest reward there is."""
    mean: float | None = None
    """Prior mean of a return, mu_0; None for the middle of the returns that there can be."""
    strength: float = 1.0
    """Returns that the prior mean is worth, lambda."""
    shape: float = 2.0
    """Shape of the prior of the precision, alpha, above 1."""
    rate: float | None = None
    """Rate of the prior of the precision, beta: the variance of a return is expected to be beta / (alpha - 1).

    None for that of the uniform law on the returns that there can be."""

    def __post_init__(self) -> None:
        owner = "BayesianQLearning"
        integer(owner, "n_states", self.n_states, 1)
        integer(owner, "n_actions", self.n_actions, 1)
        number(owner, "gamma", self.gamma, 0.0, 1.0)
        choice(owner, "update", self.update, UPDATES)
        choice(owner, "choose", self.choose, CHOICES)
        number(owner, "r_min", self.r_min)
        number(owner, "r_max", self.r_max, self.r_min)
        number(owner, "strength", self.strength, 0.0, above=True)
        number(owner, "shape", self.shape, 1.0, above=True)
        if self.mean is not None:
            number(owner, "mean", self.mean)
        if self.rate is not None:
            number(owner, "rate", self.rate, 0.0, above=True)
        if None in (self.mean, self.rate):
            hint = "Else the prior must be given: mean and rate."
            if self.gamma == 1.0:
                raise InvalidArgument(owner, "gamma", "below 1", self.gamma, hint)
            if self.rate is None and self.r_min == self.r_max:
                raise InvalidArgument(owner, "r_max", f"greater than {self.r_min:g}", self.r_max, hint)
            if self.rate is None and not NARROW <= self.r_max - self.r_min <= 1.0 / NARROW:
                expected = f"greater than r_min ({self.r_min:g}) by {NARROW:g} to {1.0 / NARROW:g}"
                raise InvalidArgument(owner, "r_max", expected, self.r_max, hint)

    def prior(self) -> NormalGamma:
        """The belief about a return before any was seen."""
        if self.mean is not None and self.rate is not None:
            return NormalGamma(self.mean, self.strength, self.shape, self.rate)
        low, high = self.r_min / (1.0 - self.gamma), self.r_max / (1.0 - self.gamma)
        mean = 0.5 * (low + high) if self.mean is None else self.mean
        rate = (high - low) ** 2 / 12.0 * (self.shape - 1.0) if self.rate is None else self.rate
        return NormalGamma(mean, self.strength, self.shape, rate)

    def start(self) -> NormalGamma:
        """The prior of every pair."""
        return NormalGamma(*(frozen(np.full((self.n_states, self.n_actions), float(x))) for x in self.prior()))

    def act(self, mind: NormalGamma, observation: int, rng: Generator) -> Decision:
        """The action with the largest draw, or with the largest mean plus value of information; ties at random."""
        s = integer("BayesianQLearning", "observation", observation, 0, self.n_states - 1)
        here = NormalGamma(*(x[s] for x in mind))
        if self.choose == "sampling":
            return Decision(int(np.argmax(sampled_means(here, rng))), mind, {"q": here.mean})
        gain = vpi(here)
        return Decision(best_action(here.mean + gain, "random", rng), mind, {"q": here.mean, "vpi": gain})

    def learn(self, mind: NormalGamma, transition: Transition, rng: Generator) -> NormalGamma:
        """The belief after a transition, on copies."""
        s, a, r, y = step_in("BayesianQLearning", self.n_states, self.n_actions, transition)
        cell = NormalGamma(*(float(x[s, a]) for x in mind))
        if y is None:
            new = conjugate(cell, r, r * r)
        else:
            best = int(np.argmax(mind.mean[y]))
            after = NormalGamma(*(float(x[y, best]) for x in mind))
            learnt = moment_update if self.update == "moment" else mixture_update
            new = learnt(cell, after, r, self.gamma)
        arrays = [x.copy() for x in mind]
        for x, value in zip(arrays, new, strict=True):
            x[s, a] = value
        return NormalGamma(*map(frozen, arrays))


# Learning (a cell holds numbers, or arrays where there are many x) ----------------------------------------------------


def conjugate(cell: NormalGamma, x: Floats | float, square: Floats | float) -> NormalGamma:
    """The posterior after one return of mean x and mean square `square` (of value x if that is x^2)."""
    mu, lam, alpha, beta = cell
    spread = 0.5 * (square - x * x) + 0.5 * lam * (x - mu) ** 2 / (lam + 1.0)
    return NormalGamma((lam * mu + x) / (lam + 1.0), lam + 1.0, alpha + 0.5, beta + spread)


def future(after: NormalGamma) -> tuple[float, float]:
    """E[R'] and E[R'^2] of the return from a pair: centre mu_0, variance (1 + 1/lambda) E[1/tau]."""
    mu, lam, alpha, beta = after
    return mu, mu * mu + (lam + 1.0) / lam * beta / (alpha - 1.0)


def moment_update(cell: NormalGamma, after: NormalGamma, r: float, gamma: float) -> NormalGamma:
    """As if a return with the mean and the mean square of r + gamma R' had been seen."""
    first, second = future(after)
    return conjugate(cell, r + gamma * first, r * r + 2.0 * gamma * r * first + gamma * gamma * second)


def mixture_update(cell: NormalGamma, after: NormalGamma, r: float, gamma: float) -> NormalGamma:
    """The posterior averaged over R' and projected on a normal-gamma."""
    x, weight = returns(after)
    mu, lam, alpha, beta = conjugate(cell, target := r + gamma * x, target * target)
    tau = weight @ (alpha / beta)  # E[tau]
    log_tau = weight @ (special.digamma(alpha) - np.log(beta))  # E[log tau]
    mean = weight @ (mu * alpha / beta) / tau  # E[mu tau] / E[tau]
    spread = 1.0 / lam + weight @ ((mu - mean) ** 2 * alpha / beta)  # E[mu^2 tau] - E[tau] mean^2
    shape = max(LEAST, inverse_gap(float(np.log(tau) - log_tau)))
    return NormalGamma(mean, 1.0 / spread, shape, shape / tau)


def returns(after: NormalGamma) -> tuple[Floats, Floats]:
    """Points and weights for expectations over R', which is Student's t: x = centre + scale sqrt(nu) tan(angle).

    The density in the angle is proportional to cos^(nu - 1), so a Gauss rule on the angle sees all of the tails.
    """
    mu, lam, alpha, beta = after
    nu, scale = 2.0 * alpha, np.sqrt(beta * (lam + 1.0) / (lam * alpha))
    angle, gauss = ANGLES
    weight = gauss * np.cos(angle) ** (nu - 1.0)
    return mu + scale * np.sqrt(nu) * np.tan(angle), weight / weight.sum()


def _angles() -> tuple[Floats, Floats]:
    x, w = np.polynomial.legendre.leggauss(NODES)
    return 0.5 * np.pi * x, w


ANGLES = _angles()


def inverse_gap(gap: float) -> float:
    """alpha with log(alpha) - digamma(alpha) = gap > 0, by Newton's method on 1/alpha's scale."""
    x = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)  # within 1.5% for every gap
    for _ in range(5):
        x = 1.0 / (1.0 / x + (np.log(x) - special.digamma(x) - gap) / (x * x * (1.0 / x - special.polygamma(1, x))))
    return float(x)


# Choosing -------------------------------------------------------------------------------------------------------------


def sampled_means(cells: NormalGamma, rng: Generator) -> Floats:
    """A draw of mu for each cell: the precision first, then the mean given it."""
    tau = rng.standard_gamma(cells.shape) / cells.rate
    return np.asarray(cells.mean + rng.standard_normal(cells.mean.shape) / np.sqrt(cells.strength * tau))


def vpi(cells: NormalGamma) -> Floats:
    """Myopic value of perfect information of each action of a state."""
    mu, lam, alpha, beta = cells
    if len(mu) == 1:
        return np.zeros(1)
    second, first = np.argsort(mu, kind="stable")[-2:]
    level = np.full(len(mu), mu[first])
    level[first] = mu[second]
    side = np.where(np.arange(len(mu)) == first, -1.0, 1.0)  # the best action must fall, the others must rise
    return excess(side * mu, 2.0 * alpha, np.sqrt(beta / (lam * alpha)), side * level)


def excess(centre: Floats, nu: Floats, scale: Floats, level: Floats) -> Floats:
    """E[max(T - level, 0)] for T of Student's law with nu > 1 degrees of freedom."""
    z = (level - centre) / scale
    log_density = (
        special.gammaln(0.5 * (nu + 1.0)) - special.gammaln(0.5 * nu) - 0.5 * np.log(nu * np.pi)
        - 0.5 * (nu + 1.0) * np.log1p(z * z / nu)
    )  # fmt: skip
    above = special.stdtr(nu, -z)
    return np.asarray((centre - level) * above + scale * (nu + z * z) / (nu - 1.0) * np.exp(log_density))
