"""Purchases of random amounts: a spike at zero and a log-normal amount (zero-inflated revenue; survey §2.1).

A customer buys with probability theta_a. A purchase pays an amount Y with log Y ~ N(mu_a, sigma^2), else the reward is
0. The belief about theta_a is Beta(alpha_a, beta_a), that about mu_a is N(m_a, sigma^2 / kappa_a). Both are conjugate:
every reward tells about theta_a, and a positive one about mu_a. The mean reward is theta_a exp(mu_a + sigma^2 / 2).

The spread sigma of the logarithms is known. If it were not, the conjugate belief about it would give the mean reward an
infinite expectation: exp(sigma^2 / 2) grows faster than the tail of a gamma belief about 1 / sigma^2 falls. To choose
it, compare `log_evidence` on one log.

Quantiles: log theta + N(M, s^2) is at most x with probability

    Phi(z) + int_0^inf I(exp(-y); alpha, beta) phi(z + y / s) dy / s,   z = (x - M) / s,

where I is the distribution function of the Beta. The integral is computed on panels that begin and end where either
density does.

Deviations: none, there is no paper. Cost: O(K) for an update, two draws an arm for a sample, 10 ms for the quantiles of
three arms. Claims: belief laws; moments, quantiles and evidence against quadrature of prior times likelihood.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.arms._problems import SellsAtPrices, pays_amounts
from bayesrl.beliefs.arms.arms import (
    add_at,
    arm_index,
    check_reward,
    check_shapes,
    fade_normal,
    fade_towards,
    read_log,
    sum_at,
    tile_replicates,
    unchecked,
)
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_by_draws
from bayesrl.beliefs.log import Log
from bayesrl.capabilities import BestArm, offers
from bayesrl.checks import LARGEST, Floats, frozen, generator, integer, number, probability
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.best_arm import NODES, OUTSIDE, WEIGHTS
from bayesrl.parameters import DISCOUNT, Above, Shape, value
from bayesrl.registry import register

DATA = ("alpha", "beta", "log_mean", "strength")
DEVIATIONS, PANELS, HALVINGS = 8.5, 10, 50
"""Half width of the Gaussian's range, panels of each density, bisections of a quantile."""


def prior_for(
    problem: object, spread: Annotated[float, Above(0.0), "Standard deviation of the logarithm of an amount."] = 1.0
) -> LogNormalPurchase:
    """`weak` for the arms of a bandit whose rewards are not negative; amounts near the prices, if it has some."""
    own = pays_amounts("log-normal-purchase", problem)
    made = LogNormalPurchase.weak(own.n_actions, spread, own.gamma)
    if not offers(problem, SellsAtPrices):
        return made
    return LogNormalPurchase(made.alpha, made.beta, np.log(problem.prices), made.strength, spread, own.gamma)


@register(
    "log-normal-purchase",
    kind="belief",
    survey="2.1",
    example=lambda: LogNormalPurchase(
        alpha=np.array([0.8, 1.5, 2.0]),
        beta=np.array([1.3, 1.0, 0.7]),
        log_mean=np.array([0.5, 1.0, -0.3]),
        strength=np.array([1.0, 2.0, 0.7]),
        spread=0.6,
    ),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/money/test_log_normal_purchase.py::test_matches_quadrature",
        "tests/beliefs/arms/money/test_log_normal_purchase.py::test_quantiles_match_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class LogNormalPurchase:
    """Arms that pay nothing or a log-normal amount, with unknown rates and unknown typical amounts.

    Examples
    --------
    >>> belief = LogNormalPurchase.weak(2, spread=0.5)
    >>> belief.update(Transition(0, action=1, reward=20.0, next_observation=0)).mean().round(3)
    array([0.642, 3.596])
    """

    alpha: Annotated[Floats, Above(0.0), Shape("(K,) or (replicates, K)"), "Prior count of purchases plus those seen."]
    beta: Annotated[Floats, Above(0.0), Shape("like alpha"), "Prior count of zeros plus those seen."]
    log_mean: Annotated[Floats, Shape("like alpha"), "Posterior mean of the mean logarithm of an amount, m."]
    strength: Annotated[Floats, Above(0.0), Shape("like alpha"), "Effective number of amounts, kappa."]
    spread: Annotated[float, Above(0.0), "Standard deviation of the logarithm of an amount, sigma."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    earned: Floats = field(init=False, repr=False)
    """Sum of the rewards of each arm."""
    amounts: Floats = field(init=False, repr=False)
    """Log density of the amounts of each arm under the prior."""
    prior_parameters: tuple[Floats, Floats, Floats, Floats] = field(init=False, repr=False, compare=False)
    """alpha, beta, log_mean and strength before any reward."""

    tells_information: ClassVar[bool] = False

    def __post_init__(self) -> None:
        owner, set_ = "LogNormalPurchase", object.__setattr__
        own = {name: getattr(self, name) for name in DATA}
        check_shapes(owner, **own)
        if (np.abs(self.log_mean) + 2.0 * self.spread**2 * (1.0 + 1.0 / self.strength)).max() > math.log(LARGEST):
            expected = "such that mean and variance of a reward are finite (a smaller spread, or more strength)"
            raise InvalidArgument(owner, "log_mean", expected, self.log_mean)
        set_(self, "prior_parameters", tuple(own.values()))
        for name in ("earned", "amounts"):
            set_(self, name, frozen(np.zeros(self.alpha.shape)))

    @classmethod
    def weak(cls, arms: int, spread: float = 1.0, gamma: float = 1.0) -> LogNormalPurchase:
        """A uniform rate, and the weight of one amount of 1."""
        one = np.ones(integer("LogNormalPurchase.weak", "arms", arms, 1))
        spread = number("LogNormalPurchase.weak", "spread", spread, 0.0, above=True)
        return cls(one, one, 0.0 * one, one, spread, gamma)

    def batch(self, replicates: int) -> LogNormalPurchase:
        """The same belief for each of several replicates in lockstep."""
        names = (*DATA, "earned", "amounts")
        own = [getattr(self, name) for name in names]
        tiled = tile_replicates("LogNormalPurchase.batch", replicates, *own, *self.prior_parameters)
        return unchecked(
            self, prior_parameters=tuple(tiled[len(names) :]), **dict(zip(names, tiled[: len(names)], strict=True))
        )

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> LogNormalPurchase:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        where = arm_index("LogNormalPurchase.update", self.alpha.shape, datum.action)
        r = np.asarray(check_reward("LogNormalPurchase.update", self.alpha.shape, datum.reward))
        bought = _bought(r)
        kappa, m = self.strength.reshape(-1)[where], self.log_mean.reshape(-1)[where]
        x = np.log(np.where(bought, r, 1.0))
        off = (x - m) * bought
        density = -0.5 * (math.log(2.0 * math.pi * self.spread**2) + np.log1p(1.0 / kappa))
        density = (density - 0.5 * kappa / (kappa + 1.0) * (off / self.spread) ** 2 - x) * bought
        return unchecked(
            self,
            alpha=add_at(self.alpha, where, 1.0 * bought),
            beta=add_at(self.beta, where, 1.0 - bought),
            log_mean=add_at(self.log_mean, where, off / (kappa + 1.0)),
            strength=add_at(self.strength, where, 1.0 * bought),
            earned=add_at(self.earned, where, r),
            amounts=add_at(self.amounts, where, density),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> LogNormalPurchase:
        """The posterior after a log of choices and rewards."""
        shape = self.alpha.shape
        where, r = read_log("LogNormalPurchase.update_many", shape, log)
        bought = _bought(r)
        x = np.log(np.where(bought, r, 1.0))
        k, none = sum_at(shape, where, 1.0 * bought), sum_at(shape, where, 1.0 - bought)
        centre = sum_at(shape, where, x * bought) / np.maximum(k, 1.0)
        within = sum_at(shape, where, bought * (x - centre.reshape(-1)[where]) ** 2)
        kappa, delta = self.strength + k, centre - self.log_mean
        squares = (within + self.strength * k / kappa * delta**2) / self.spread**2
        density = -0.5 * (k * math.log(2.0 * math.pi * self.spread**2) + np.log(kappa / self.strength) + squares)
        return unchecked(
            self,
            alpha=frozen(self.alpha + k),
            beta=frozen(self.beta + none),
            log_mean=frozen(self.log_mean + k / kappa * delta),
            strength=frozen(kappa),
            earned=frozen(self.earned + sum_at(shape, where, r)),
            amounts=frozen(self.amounts + density - k * centre),
        )

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.alpha.shape[-1]

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        rate = generator("LogNormalPurchase.sample_means", rng).beta(self.alpha, self.beta)
        centre, s = self._log_amount()
        return np.asarray(rate * np.exp(centre + s * rng.standard_normal(self.alpha.shape)))

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        centre, s = self._log_amount()
        return np.asarray(self.alpha / (self.alpha + self.beta) * np.exp(centre + 0.5 * s * s))

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        n, (_, s) = self.alpha + self.beta, self._log_amount()
        square = (self.alpha + 1.0) * n / (self.alpha * (n + 1.0))  # E[theta^2] / E[theta]^2
        return np.asarray(self.mean() ** 2 * (square * np.exp(s * s) - 1.0))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("LogNormalPurchase.quantile", "p", p)
        if p in (0.0, 1.0):
            return np.full(self.alpha.shape, 0.0 if p == 0.0 else np.inf)
        centre, s = self._log_amount()
        low = (
            centre - DEVIATIONS * s + np.log(special.betaincinv(self.alpha, self.beta, min(0.5 * p, OUTSIDE)) + 1e-300)
        )
        high = centre + DEVIATIONS * s
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            below = self._below(middle) < p
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(np.exp(0.5 * (low + high)))

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return (self.alpha - self.prior_parameters[0]) + (self.beta - self.prior_parameters[1])

    def average(self) -> Floats:
        """The average reward of each arm, zeros included; nan if the arm has not been played."""
        with np.errstate(invalid="ignore"):
            return self.earned / self.plays()

    def log_evidence(self) -> Floats:
        """Log probability of the purchases and density of the amounts under the prior, for each replicate."""
        each = special.betaln(self.alpha, self.beta) - special.betaln(*self.prior_parameters[:2])
        return np.asarray((each + self.amounts).sum(axis=-1))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, estimated from draws."""
        return best_arm_by_draws(self, context, samples, rng, None)

    def fade(self, prior: LogNormalPurchase, decay: float) -> LogNormalPurchase:
        """Counts, precision and precision times mean fade towards those of the prior."""
        kappa, m, _ = fade_normal(self.strength, self.log_mean, prior.strength, prior.log_mean, decay)
        return unchecked(
            self,
            alpha=fade_towards(self.alpha, prior.alpha, decay),
            beta=fade_towards(self.beta, prior.beta, decay),
            log_mean=m,
            strength=kappa,
            earned=frozen(decay * self.earned),
        )

    def _log_amount(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the logarithm of an arm's mean amount."""
        return self.log_mean + 0.5 * self.spread**2, self.spread / np.sqrt(self.strength)

    def _below(self, x: Floats) -> Floats:
        """P(the logarithm of the mean reward is at most x)."""
        centre, s = self._log_amount()
        z = (x - centre) / s
        # Panels in y = -log theta >= 0: where the Gaussian lives, and where the Beta does.
        first = np.arcsin(np.sqrt(special.betaincinv(self.alpha, self.beta, OUTSIDE)))
        last = np.arccos(np.sqrt(special.betaincinv(self.beta, self.alpha, OUTSIDE)))
        grid = np.linspace(0.0, 1.0, PANELS + 1)
        phi = first[..., None] + (last - first)[..., None] * grid
        beta_edges = -2.0 * np.log(np.maximum(np.sin(phi), 1e-150))
        normal_edges = s[..., None] * (DEVIATIONS * (2.0 * grid - 1.0) - z[..., None])
        top = np.maximum(s * (DEVIATIONS - z), 0.0)[..., None]
        edges = np.sort(np.clip(np.concatenate([beta_edges, normal_edges, 0.0 * top], axis=-1), 0.0, top), axis=-1)
        psi = 0.25 * math.pi * (1.0 + NODES)
        left, width = edges[..., :-1, None], np.diff(edges, axis=-1)[..., None]
        y = (left + width * np.sin(psi) ** 2).reshape(*x.shape, -1)
        w = (width * np.sin(2.0 * psi) * 0.25 * math.pi * WEIGHTS).reshape(*x.shape, -1)
        F = special.betainc(self.alpha[..., None], self.beta[..., None], np.exp(-y))
        u = z[..., None] + y / s[..., None]
        inside = (w * F * np.exp(-0.5 * u * u)).sum(axis=-1) / (s * math.sqrt(2.0 * math.pi))
        return np.asarray(special.ndtr(z) + inside)


def _bought(r: Floats) -> Floats:
    """Which rewards are purchases, zeros and ones."""
    bad = r < 0.0
    if bad.any():
        raise ImpossibleEvidence("LogNormalPurchase", f"reward {r[bad].ravel()[0]:g}", "rewards are not negative")
    return np.asarray(r > 0.0, np.float64)
