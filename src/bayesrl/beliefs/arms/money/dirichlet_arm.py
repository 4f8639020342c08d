"""Arms with finitely many outcomes of known rewards, with a Dirichlet belief for each (survey §2.1 and §2.5).

Arm a shows outcome y with unknown probability theta_ay, and pays the known amount v_ay; theta_a has a Dirichlet
distribution with counts alpha_a. An outcome adds one to its count. The mean reward is the linear form sum_y v_ay
theta_ay, with the variance (sum_y p_y v_y^2 - m^2) / (n + 1), where p = alpha / n is the mean, n the sum of the counts.

Quantiles: theta is a vector of independent gamma variables G_y over their sum, so that the linear form is at most x
where sum_y G_y c_y <= 0, c_y = v_y - x. The distribution function of this sum follows from its characteristic function
(Gil-Pelaez 1951, Imhof 1961):

    P = 1/2 - (1 / pi) int sin(sum_y alpha_y arctan(c_y t)) prod_y (1 + c_y^2 t^2)^(-alpha_y / 2) dt / t.

With t = e^s the integrand decays exponentially on both sides and the trapezoid rule converges exponentially; its step
falls with the rate of the sine. Two
outcomes are a Beta, with quantiles and Gittins's indices of its own.

Deviations: none. Cost: O(n) for an update, K n gamma draws for a sample, 10 ms for the quantiles of three arms. The
chance that an arm is the best (the criterion "regret" of exact play) is computed for two outcomes. Claims: equal to
Bernoulli arms and to `Priced` for two outcomes, to finitely many models by Bayes' rule; quantiles against draws and
against Betas; belief laws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.arms._problems import SellsAtPrices, pays_ones, usual
from bayesrl.beliefs.arms.arms import (
    MOST,
    add_at,
    arm_index,
    check_reward,
    distinct_rows,
    fade_towards,
    read_log,
    sum_at,
    unchecked,
)
from bayesrl.beliefs.arms.best_arm import DRAWS, best_arm_of_list, check_draws
from bayesrl.beliefs.log import Log
from bayesrl.capabilities import ArmPosteriors, ArmStates, BestArm, offers
from bayesrl.checks import Floats, Ints, as_array, frozen, generator, integer, probability
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.best_arm import best_priced_beta
from bayesrl.kernels.ties import RELATIVE, greedy
from bayesrl.parameters import DISCOUNT, Above, Shape, value
from bayesrl.registry import register

STEP, FAR = 0.15, 30.0
"""Largest step of the trapezoid rule in s, and -log of what is neglected at either end."""
HALVINGS = 50
"""Bisections of a quantile."""


def prior_for(
    problem: object, count: Annotated[float, Above(0.0), "Prior count of every outcome."] = 1.0
) -> DirichletArm:
    """The same count for both outcomes of every arm of a bandit that pays 1 or 0, or a known price or 0."""
    if offers(problem, SellsAtPrices):
        own = usual("dirichlet-arm", problem)
        values = np.stack([np.zeros(own.n_actions), problem.prices], axis=-1)
    else:
        own, values = pays_ones("dirichlet-arm", problem), np.array([0.0, 1.0])
    return DirichletArm(np.full((own.n_actions, 2), count), values, own.gamma)


@register(
    "dirichlet-arm",
    kind="belief",
    survey="2.1",
    example=lambda: DirichletArm(
        np.array([[0.8, 1.5, 2.0], [1.3, 1.0, 0.7], [2.0, 0.6, 0.4]]), np.array([0.0, 4.0, 7.0])
    ),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/money/test_dirichlet_arm.py::test_two_outcomes_are_bernoulli_arms",
        "tests/beliefs/arms/money/test_dirichlet_arm.py::test_evidence_and_moments_are_bayes_rule",
        "tests/beliefs/arms/money/test_dirichlet_arm.py::test_quantiles_match_draws",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class DirichletArm:
    """Arms with finitely many outcomes, whose rewards are known and whose probabilities are not.

    Examples
    --------
    >>> belief = DirichletArm(np.ones((2, 3)), values=np.array([0.0, 5.0, 20.0]))
    >>> belief.update(Transition(0, action=1, reward=20.0, next_observation=0)).mean().round(3)
    array([ 8.333, 11.25 ])
    """

    alpha: Annotated[
        Floats,
        Above(0.0),
        Shape("(K, n) or (replicates, K, n)"),
        "Prior count of each outcome of each arm plus those seen.",
    ]
    values: Annotated[Floats, Shape("(n,) or (K, n)"), "Reward of each outcome; those of one arm are all different."]
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    prior_alpha: Floats = field(init=False, repr=False, compare=False)
    """alpha before any reward."""

    tells_information: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner, set_ = "DirichletArm", object.__setattr__
        if self.alpha.ndim not in (2, 3):
            raise InvalidArgument(
                owner, "alpha", "of shape (arms, outcomes) or (replicates, arms, outcomes)", self.alpha
            )
        K, n = self.alpha.shape[-2:]
        if self.values.shape not in ((n,), (K, n)):
            raise InvalidArgument(owner, "values", f"of shape ({n},) or ({K}, {n})", self.values)
        ordered = np.sort(np.atleast_2d(self.values), axis=-1)
        if n > 1 and (np.diff(ordered, axis=-1) <= 2.0 * RELATIVE * np.abs(ordered).max(axis=-1, keepdims=True)).any():
            raise InvalidArgument(owner, "values", "different for all outcomes of an arm", self.values)
        set_(self, "prior_alpha", self.alpha)

    def batch(self, replicates: int) -> DirichletArm:
        """The same belief for each of several replicates in lockstep."""
        owner = "DirichletArm.batch"
        if self.alpha.ndim != 2:
            raise InvalidArgument(owner, "belief", "of a single experiment", self.alpha)
        n = integer(owner, "replicates", replicates, 1, MOST // self.alpha.size)
        alpha, prior = (frozen(np.tile(x, (n, 1, 1))) for x in (self.alpha, self.prior_alpha))
        return unchecked(self, alpha=alpha, prior_alpha=prior)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> DirichletArm:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        owner, shape = "DirichletArm.update", self.alpha.shape[:-1]
        where = arm_index(owner, shape, datum.action)
        r = check_reward(owner, shape, datum.reward)
        return unchecked(self, alpha=add_at(self.alpha, self._outcome(where, r), 1.0))

    def update_many(self, log: Log, rng: Generator | None = None) -> DirichletArm:
        """The posterior after a log of choices and rewards."""
        where, r = read_log("DirichletArm.update_many", self.alpha.shape[:-1], log)
        if not np.size(where):
            return self
        return unchecked(self, alpha=frozen(self.alpha + sum_at(self.alpha.shape, self._outcome(where, r), 1.0)))

    def _outcome(self, where: int | Ints, reward: float | Floats) -> Ints:
        """The index in the flattened counts of the outcome of these arms with these rewards."""
        K, n = self.alpha.shape[-2:]
        arm = np.asarray(where) % K
        v = self.values if self.values.ndim == 1 else self.values[arm]  # (..., n)
        near = np.abs(v - np.asarray(reward)[..., None])
        k = near.argmin(axis=-1)
        off = np.take_along_axis(near, k[..., None], axis=-1)[..., 0] > RELATIVE * np.abs(v).max(axis=-1)
        if off.any():
            bad, a = float(np.asarray(reward)[off].ravel()[0]), int(arm[off].ravel()[0])
            pays = ", ".join(f"{x:.9g}" for x in np.broadcast_to(self.values, (K, n))[a])
            raise ImpossibleEvidence("DirichletArm", f"reward {bad:.9g} of arm {a}", f"it pays one of {pays}")
        index: Ints = np.asarray(where) * n + k
        return index

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.alpha.shape[-2]

    @property
    def unsupported(self) -> Mapping[str, str]:
        """The members that these outcomes rule out, and the reasons."""
        if self.alpha.shape[-1] == 2:
            return {}
        return {"arm_states": "Gittins's index is computed for arms with two outcomes."}

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""
        return np.asarray((self._draw(generator("DirichletArm.sample_means", rng)) * self.values).sum(axis=-1))

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return np.asarray((self._chances() * self.values).sum(axis=-1))

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        off = self.values - self.mean()[..., None]
        return np.asarray((self._chances() * off**2).sum(axis=-1) / (self.alpha.sum(axis=-1) + 1.0))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""
        p = probability("DirichletArm.quantile", "p", p)
        low, high = self._ends()
        if p in (0.0, 1.0) or self.alpha.shape[-1] == 1:
            return np.asarray(low if p < 1.0 else high)
        if self.alpha.shape[-1] == 2:
            worst, best = self._sorted_alpha()
            return np.asarray(low + (high - low) * special.betaincinv(best, worst, p))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            below = self._below(middle) < p
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(0.5 * (low + high))

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""
        return np.asarray((self.alpha - self.prior_alpha).sum(axis=-1))

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""
        with np.errstate(invalid="ignore"):
            return np.asarray(((self.alpha - self.prior_alpha) * self.values).sum(axis=-1) / self.plays())

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        each = special.gammaln(self.alpha).sum(axis=-1) - special.gammaln(self.alpha.sum(axis=-1))
        each -= special.gammaln(self.prior_alpha).sum(axis=-1) - special.gammaln(self.prior_alpha.sum(axis=-1))
        return np.asarray(each.sum(axis=-1))

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, estimated from draws. The information is that of the outcomes."""
        rng = check_draws(self, samples, rng)
        drawn = np.stack([self._draw(rng) for _ in range(samples)], axis=-3)  # (..., samples, K, n)
        theta = (drawn * self.values).sum(axis=-1)
        p, given, mean, _ = best_arm_of_list(theta, np.full(theta.shape[:-1], 1.0 / samples), None)
        return BestArm(p, given, mean, partial(_information, drawn, theta))

    def reward_deviation(self) -> float:
        """Half of the largest range of an arm's rewards."""
        return 0.5 * float(np.ptp(np.atleast_2d(self.values), axis=-1).max())

    def fade(self, prior: DirichletArm, decay: float) -> DirichletArm:
        """Counts that fade towards those of the prior."""
        return unchecked(self, alpha=fade_towards(self.alpha, prior.alpha, decay))

    # For look-ahead planners -----------------------------------------------------------------------------------------

    def arm_states(self) -> ArmStates:
        """Two outcomes: the counts of the better and of the worse one."""
        worst, best = self._sorted_alpha()
        low, high = self._ends()
        return ArmStates("bernoulli", np.stack([best, worst], axis=-1), low, high - low)

    @property
    def posterior_size(self) -> int:
        """Replicates."""
        return self.alpha.size // (self.alpha.shape[-1] * self.n_actions)

    def reward_values(self) -> Floats:
        """The rewards of the outcomes, (n,) or (K, n)."""
        return self.values

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The posteriors after seen[n, a, y] further outcomes y of arm a."""
        counts = as_array(seen)
        if counts.dtype.kind not in "iu" or counts.min(initial=0) < 0:
            raise InvalidArgument("DirichletArm.posteriors_after", "seen", "whole numbers of at least 0", seen)
        alpha = self.alpha[..., None, :, :] + seen
        prob = alpha / alpha.sum(axis=-1, keepdims=True)

        def best() -> Floats:
            return self._chance_of_best(alpha)

        return ArmPosteriors(prob, best, best)

    def distinct_replicates(self) -> tuple[DirichletArm, Ints]:
        """The distinct replicates, and for each replicate which of them it is equal to."""
        self._check_lockstep("DirichletArm.distinct_replicates")
        rows, which = distinct_rows(self.alpha.reshape(len(self.alpha), -1))
        return DirichletArm(rows.reshape(-1, *self.alpha.shape[1:]), self.values, self.gamma), which

    def some_replicates(self, part: slice) -> DirichletArm:
        """Only these replicates."""
        self._check_lockstep("DirichletArm.some_replicates")
        return unchecked(self, alpha=self.alpha[part], prior_alpha=self.prior_alpha[part])

    # Distributions ---------------------------------------------------------------------------------------------------

    def _chances(self) -> Floats:
        """Expected probability of each outcome."""
        return np.asarray(self.alpha / self.alpha.sum(axis=-1, keepdims=True))

    def _draw(self, rng: Generator) -> Floats:
        """Probabilities of the outcomes. G(a) = G(a + 1) U^(1 / a), which in logarithms does not vanish for small a."""
        log = np.log(rng.standard_gamma(self.alpha + 1.0)) - rng.standard_exponential(self.alpha.shape) / self.alpha
        return np.asarray(special.softmax(log, axis=-1))

    def _ends(self) -> tuple[Floats, Floats]:
        """The smallest and the largest reward of each arm, in the shape of the means."""
        shape = self.alpha.shape[:-1]
        ends = (np.broadcast_to(pick(self.values, axis=-1), shape) for pick in (np.min, np.max))
        low, high = ends
        return low, high

    def _sorted_alpha(self) -> tuple[Floats, Floats]:
        """Of two outcomes the counts of the worse and of the better one."""
        order = np.broadcast_to(np.argsort(self.values, axis=-1), self.alpha.shape)
        both = np.take_along_axis(self.alpha, order, axis=-1)
        return both[..., 0], both[..., 1]

    def _below(self, x: Floats) -> Floats:
        """P(the mean reward of an arm is at most x) by the trapezoid rule, x within the arm's range."""
        (low, high), total, d = self._ends(), self.alpha.sum(axis=-1), x - self.mean()
        # The linear form is sub-Gaussian with variance range^2 / 4 (n + 1) (Marchal and Arbel 2017).
        sure = 2.0 * (total + 1.0) * d**2 > FAR * (high - low) ** 2
        c = self.values - np.where(sure, x - d, x)[..., None]  # (..., K, n)
        c = c / np.abs(c).max(axis=-1, keepdims=True)
        first, last = -FAR - np.log1p(total.max()), FAR / min(float(total.min()), 1.0)
        ct = c[..., None] * np.exp(np.arange(first, last, STEP))  # (..., K, n, nodes)
        a = self.alpha[..., None]
        matters = (0.5 * a * np.log1p(ct * ct)).sum(axis=-2) < FAR
        rate = np.abs((a * ct / (1.0 + ct * ct)).sum(axis=-2))  # of the phase, in s
        step = min(STEP, 2.0 / (10.0 + float((rate * matters).max())))
        t = np.exp(np.arange(first, last, step))
        phase, fall = np.zeros((*x.shape, len(t))), np.zeros((*x.shape, len(t)))
        for k in range(c.shape[-1]):
            ct, a = c[..., k, None] * t, self.alpha[..., k, None]
            phase += a * np.arctan(ct)
            fall += 0.5 * a * np.log1p(ct * ct)
        p = 0.5 - step / np.pi * (np.sin(phase) * np.exp(-fall)).sum(axis=-1)
        return np.asarray(np.where(sure, d > 0.0, p))

    def _chance_of_best(self, alpha: Floats) -> Floats:
        low, high = (end.reshape(-1, self.n_actions)[0] for end in self._ends())
        if alpha.shape[-1] != 2 or np.ptp(low) > RELATIVE * np.abs(self.values).max():
            why = "It is computed for two outcomes, the worse of which pays all arms the same. Use criterion='reward'."
            raise Incompatible("The criterion 'regret'", "DirichletArm", ["the chance that an arm is the best"], why)
        order = np.broadcast_to(np.argsort(self.values, axis=-1), alpha.shape)
        both = np.take_along_axis(alpha, order, axis=-1)
        return best_priced_beta(both[..., 1], both[..., 0], high - low)[0]

    def _check_lockstep(self, owner: str) -> None:
        if self.alpha.ndim != 3:
            raise InvalidArgument(owner, "belief", "one in lockstep, see `batch`", self)


def _information(drawn: Floats, theta: Floats) -> Floats:
    """I(A*; Y_b) of the outcomes Y_b, over draws of their probabilities (..., samples, K, n)."""
    samples, K = theta.shape[-2:]
    hit = np.eye(K)[greedy(theta.reshape(-1, K))].reshape(theta.shape)  # (..., samples, K)
    joint = np.einsum("...na,...nby->...aby", hit, drawn) / samples  # P(A* = a, Y_b = y)
    p, marginal = hit.mean(axis=-2), drawn.mean(axis=-3)
    outer = p[..., :, None, None] * marginal[..., None, :, :]
    return np.asarray(special.rel_entr(joint, outer).sum(axis=(-3, -1)))
