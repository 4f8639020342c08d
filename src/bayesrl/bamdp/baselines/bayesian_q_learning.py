"""Bayesian Q-learning (Dearden, Friedman, Russell 1998; survey §7.3).

The belief is about returns; there is no model. The return after (s, a) is normal with unknown mean mu and precision
tau. For each pair (s, a) the prior of (mu, tau) is normal-gamma (mu_0, lambda, alpha, beta), independent of the other
pairs. The marginal law of mu is Student's t with 2 alpha degrees of freedom, centre mu_0 and scale sqrt(beta / (lambda
alpha)).

A transition (s, a, r, s') is an observation of r + gamma R'. The return R' from s' is not observed: the agent uses its
belief about the action that seems best in s'. There are two update rules:

- "moment": update as if one return with the mean and the mean square of r + gamma R' had been seen;
- "mixture": average the posterior given r + gamma x over x ~ R', and project the average on a normal-gamma by matching
  E[tau], E[mu tau], E[mu^2 tau] and E[log tau] (the nearest one in Kullback-Leibler divergence). The moment update
  becomes certain too early; this one does not.

There are two ways to choose: "sampling" takes the best of one draw of each mu, and "vpi" the largest mean plus myopic
value of perfect information.

The default prior was not tuned. A return lies between r_min / (1 - gamma) and r_max / (1 - gamma), so its prior has the
mean and the variance of the uniform law on that range. The prior counts as one return (lambda = 1). alpha = 2 is the
smallest integer at which the variance is finite; there E[1 / tau] = beta, so beta is that variance. Like R-max, the
agent must know the range of rewards; the lab passes it on if a world lists its outcomes.

Paper to code: `conjugate` is the normal-gamma update, `future` the moments of R', then `moment_update` and
`mixture_update`; `vpi` is the survey's definition (§4.4, corrected, ERRATA 3) in closed form.
Deviations: at the end of an episode the return is r. The integral over x is a quadrature of `NODES` points. A projected
alpha is at least `LEAST`, so that R' has a variance. The agent has no model, so it holds the discount and the sizes. We
do not know the prior of the authors' experiments.
Cost: O(A) per step, and O(NODES) for a mixture. Claims: every update against quadrature or Monte Carlo; the projection
matches its four expectations; VPI against integration; it learns. Totals of 1000 steps at discount .95, means of 20
runs with their standard errors; the prior was fixed before the runs:

    world        mixture, VPI  mixture, sampling  moment, VPI  moment, sampling
    chain        2842 (69)     1485 (33)          2425 (85)    1595 (51)
    double-loop  242.2 (.1)    163.8 (1.9)        237.7 (.7)   168.0 (1.9)
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.bamdp._checks import step_in
from bayesrl.beliefs.choices import best_action
from bayesrl.beliefs.normal_gamma import NormalGamma, increments, sample_means, scale_of_mean
from bayesrl.checks import Floats, frozen, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Within, declared
from bayesrl.registry import register

LEAST = 1.01
"""Smallest alpha; the variance of a return is finite above 1."""
NODES = 64
"""Points of the quadrature over the return to come."""
REACH = 12.0
"""How many standard deviations of the angle the quadrature covers; the rest has a probability below 1e-31."""
STEEPEST = 1e9
"""Largest prior alpha; far above it, log(alpha) - digamma(alpha) is lost to rounding."""
NARROW = 1e-100
"""The smallest range of rewards, and the inverse of the largest; between them variances are representable."""


@register(
    "bayesian-q-learning",
    kind="agent",
    survey="7.3",
    paper="dearden98bayesian",
    example=lambda: BayesianQLearning(n_states=2, n_actions=2, gamma=0.9),
    evidence=(
        "tests/bamdp/baselines/test_bayesian_q_learning.py::test_conjugate_update_matches_quadrature",
        "tests/bamdp/baselines/test_bayesian_q_learning.py::test_moment_update_by_hand",
        "tests/bamdp/baselines/test_bayesian_q_learning.py::test_mixture_update_matches_monte_carlo",
        "tests/bamdp/baselines/test_bayesian_q_learning.py::test_vpi_matches_integration",
        "tests/bamdp/baselines/test_bayesian_q_learning.py::test_choices",
        "tests/bamdp/baselines/test_bayesian_q_learning.py::test_visits_narrow_what_is_drawn",
    ),
)
@declared
class BayesianQLearning:
    """Normal-gamma beliefs about Q-values, with moment or mixture updates and VPI or sampled choices.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = BayesianQLearning(n_states=5, n_actions=2, gamma=world.gamma, r_max=10.0)
    >>> print(b.run(agent, world, steps=200, seed=0).total)
    434.0
    """

    n_states: Annotated[int, AtLeast(1), "Number of states, S."]
    n_actions: Annotated[int, AtLeast(1), "Number of actions, A."]
    gamma: Annotated[float, DISCOUNT, "Discount."]
    update: Annotated[Literal["moment", "mixture"], "How the agent learns from an unobserved return."] = "mixture"
    choose: Annotated[Literal["vpi", "sampling"], "How actions are chosen."] = "vpi"
    r_min: Annotated[float, "The smallest reward that a step can pay."] = 0.0
    r_max: Annotated[float, "The largest reward that a step can pay."] = 1.0
    mean: Annotated[float | None, "Prior mean of a return, mu_0; None for the middle of the possible returns."] = None
    strength: Annotated[float, Above(0), "How many returns the prior mean is worth, lambda."] = 1.0
    shape: Annotated[float, Within(1, STEEPEST, open_low=True), "Shape of the prior of the precision, alpha."] = 2.0
    rate: Annotated[
        float | None,
        Above(0),
        "Rate of the prior of the precision, beta: the expected variance of a return is beta / (alpha - 1). "
        "None for the variance of the uniform law on the possible returns.",
    ] = None

    def __post_init__(self) -> None:
        owner = "BayesianQLearning"
        number(owner, "r_max", self.r_max, self.r_min)
        if None in (self.mean, self.rate):
            hint = "Otherwise give the prior: mean and rate."
            if self.gamma == 1.0:
                raise InvalidArgument(owner, "gamma", "below 1", self.gamma, hint)
            if self.rate is None and self.r_min == self.r_max:
                raise InvalidArgument(owner, "r_max", f"greater than {self.r_min:g}", self.r_max, hint)
            if self.rate is None and not NARROW <= self.r_max - self.r_min <= 1.0 / NARROW:
                expected = f"greater than r_min ({self.r_min:g}) by {NARROW:g} to {1.0 / NARROW:g}"
                raise InvalidArgument(owner, "r_max", expected, self.r_max, hint)

    def prior(self) -> NormalGamma:
        """The belief about a return before any is seen."""
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
        """Take the action with the largest draw, or with the largest mean plus value of information."""
        s = integer("BayesianQLearning", "observation", observation, 0, self.n_states - 1)
        here = NormalGamma(*(x[s] for x in mind))
        if self.choose == "sampling":
            return Decision(first_best(sample_means(here, rng)), mind, {"q": here.mean})
        gain = vpi(here)
        return Decision(best_action(here.mean + gain, "random", rng), mind, {"q": here.mean, "vpi": gain})

    def learn(self, mind: NormalGamma, transition: Transition, rng: Generator) -> NormalGamma:
        """The belief after a transition, on copies."""
        s, a, r, y = step_in("BayesianQLearning", self.n_states, self.n_actions, transition)
        cell = NormalGamma(*(float(x[s, a]) for x in mind))
        if y is None:
            new = conjugate(cell, r, r * r)
        else:
            best = first_best(mind.mean[y])
            after = NormalGamma(*(float(x[y, best]) for x in mind))
            learnt = moment_update if self.update == "moment" else mixture_update
            new = learnt(cell, after, r, self.gamma)
        arrays = [x.copy() for x in mind]
        for x, value in zip(arrays, new, strict=True):
            x[s, a] = value
        return NormalGamma(*map(frozen, arrays))


# Learning (a cell holds numbers, or arrays for several x) ------------------------------------------------------


def conjugate(cell: NormalGamma, x: Floats | float, square: Floats | float) -> NormalGamma:
    """The posterior after one return of mean x and mean square `square` (of value x if that is x^2)."""
    new = NormalGamma(*(old + more for old, more in zip(cell, increments(cell.strength, x - cell.mean), strict=True)))
    return new._replace(rate=new.rate + 0.5 * (square - x * x))


def future(after: NormalGamma) -> tuple[float, float]:
    """E[R'] and E[R'^2] of the return from a pair: centre mu_0, variance (1 + 1/lambda) E[1/tau]."""
    mu, lam, alpha, beta = after
    return mu, mu * mu + (lam + 1.0) / lam * beta / (alpha - 1.0)


def moment_update(cell: NormalGamma, after: NormalGamma, r: float, gamma: float) -> NormalGamma:
    """Update as if a return with the mean and the mean square of r + gamma R' had been seen."""
    first, second = future(after)
    return conjugate(cell, r + gamma * first, r * r + 2.0 * gamma * r * first + gamma * gamma * second)


def mixture_update(cell: NormalGamma, after: NormalGamma, r: float, gamma: float) -> NormalGamma:
    """Average the posterior over R' and project the average on a normal-gamma."""
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

    The density in the angle is proportional to cos^(nu - 1), so a Gauss rule on the angle covers the tails. For a large
    nu the angle has a standard deviation of about 1 / sqrt(nu), and the rule covers `REACH` of them.
    """
    mu, lam, alpha, beta = after
    nu, scale = 2.0 * alpha, np.sqrt(beta * (lam + 1.0) / (lam * alpha))
    points, gauss = GAUSS
    angle = min(0.5 * np.pi, REACH / np.sqrt(nu)) * points
    weight = gauss * np.cos(angle) ** (nu - 1.0)
    return mu + scale * np.sqrt(nu) * np.tan(angle), weight / weight.sum()


GAUSS: tuple[Floats, Floats] = np.polynomial.legendre.leggauss(NODES)


def inverse_gap(gap: float) -> float:
    """Solve log(alpha) - digamma(alpha) = gap > 0 for alpha by Newton's method in 1 / alpha."""
    x = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)  # within 1.5% for every gap
    for _ in range(5):
        x = 1.0 / (1.0 / x + (np.log(x) - special.digamma(x) - gap) / (x * x * (1.0 / x - special.polygamma(1, x))))
    return float(x)


# Choosing -------------------------------------------------------------------------------------------------------------


def vpi(cells: NormalGamma) -> Floats:
    """Myopic value of perfect information of each action of a state."""
    mu, _, alpha, _ = cells
    if len(mu) == 1:
        return np.zeros(1)
    second, first = np.argsort(mu, kind="stable")[-2:]
    level = np.full(len(mu), mu[first])
    level[first] = mu[second]
    side = np.where(np.arange(len(mu)) == first, -1.0, 1.0)  # a gain if the best is worse, or another better
    return excess(side * mu, 2.0 * alpha, scale_of_mean(cells), side * level)


def excess(centre: Floats, nu: Floats, scale: Floats, level: Floats) -> Floats:
    """E[max(T - level, 0)] for T of Student's law with nu > 1 degrees of freedom."""
    z = (level - centre) / scale
    log_density = (
        special.gammaln(0.5 * (nu + 1.0)) - special.gammaln(0.5 * nu) - 0.5 * np.log(nu * np.pi)
        - 0.5 * (nu + 1.0) * np.log1p(z * z / nu)
    )  # fmt: skip
    above = special.stdtr(nu, -z)
    return np.asarray((centre - level) * above + scale * (nu + z * z) / (nu - 1.0) * np.exp(log_density))
