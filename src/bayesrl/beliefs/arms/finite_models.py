"""A prior over finitely many bandits: correlated arms, two models, particles (Gopalan et al. 2014; survey §3.3).

The true bandit is one of N, with prior weights. Bayes' rule multiplies each weight by the likelihood of the data. Arms
may be correlated in any way: a reward of one arm gives information about the others through the models. An infinite
prior can be approximated by N bandits drawn from it, with equal weights.

The class of the models (`bandit_models.py`) determines the likelihood of a reward. The case of Liu and Li (2015), with
two arms and two models, is `FiniteModels.two(true, false, weight)`.

Deviations: none. Cost: O(N) for an update (sums: O(N M^2)) or a sample. Claims: weights equal Bayes' rule by hand; sums
against enumeration; belief laws.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs._problems import Draws
from bayesrl.beliefs.arms._problems import pays_coins
from bayesrl.beliefs.arms.arms import check_single, unchecked
from bayesrl.beliefs.arms.bandit_models import BernoulliModels, Models
from bayesrl.beliefs.arms.best_arm import DRAWS, bernoulli_information, best_arm_of_list
from bayesrl.beliefs.log import Log, columns
from bayesrl.capabilities import ArmPosteriors, BestArm
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer, number, probability, rows_sum_to_one
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.ties import RELATIVE
from bayesrl.parameters import DISCOUNT, value
from bayesrl.registry import register


def prior_for(problem: object, models: Draws = 20, rng: Generator | None = None) -> FiniteModels:
    """Bandits whose arms have means drawn from the usual prior of a bandit that pays 1 or 0."""
    own, rng = pays_coins("finite-models", problem), generator("finite-models", rng)
    means = np.array([own.sample_means(None, rng) for _ in range(models)])
    return FiniteModels(BernoulliModels(means), gamma=own.gamma)


@register(
    "finite-models",
    kind="belief",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: FiniteModels(BernoulliModels(np.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.5], [0.4, 0.4, 0.8]]))),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_finite_models.py::test_weights_are_bayes_rule",
        "tests/beliefs/arms/test_finite_models.py::test_sums_match_enumeration",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class FiniteModels:
    """A belief over finitely many bandits, with a weight for each.

    Examples
    --------
    >>> belief = FiniteModels(BernoulliModels([[0.1, 0.6], [0.7, 0.2]]))  # arms are correlated through the models
    >>> belief.update(Transition(0, action=1, reward=1.0, next_observation=0)).posterior()
    array([0.75, 0.25])
    """

    models: Annotated[Models, "The bandits."]
    weights: Annotated[ArrayLike | None, "Prior probability of each, (N,) or (replicates, N); None if equal."] = None
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    log_joint: Floats = field(init=False, repr=False)
    """Log of prior weight times the likelihood of the data, in the shape of the weights."""

    def __post_init__(self) -> None:
        owner, set_ = "FiniteModels", object.__setattr__
        if not isinstance(self.models, Models):
            expected = "BernoulliModels, GaussianModels, OutcomeModels, BernoulliSums or the like"
            raise InvalidArgument(owner, "models", expected, self.models)
        N = len(self.models.means)
        w = array(owner, "weights", np.full(N, 1.0 / N) if self.weights is None else self.weights, low=0.0)
        if w.ndim not in (1, 2) or w.shape[-1] != N:
            raise InvalidArgument(owner, "weights", f"of shape ({N},)", w)
        w = rows_sum_to_one(owner, "weights", w, self.weights)
        set_(self, "weights", w)
        with np.errstate(divide="ignore"):
            set_(self, "log_joint", frozen(np.log(w)))

    @classmethod
    def two(cls, true: ArrayLike, false: ArrayLike, weight: float, gamma: float = 1.0) -> FiniteModels:
        """Liu and Li's prior: the Bernoulli means are `true` with probability `weight`, else `false`.

        >>> belief = FiniteModels.two([0.5, 0.8], [0.5, 0.3], 0.2)
        >>> belief.update(Transition(0, 1, 1.0, 0)).posterior()
        array([0.4, 0.6])
        """
        p = number("FiniteModels.two", "weight", weight, 0.0, 1.0)
        one = array("FiniteModels.two", "true", true, (None,))
        other = array("FiniteModels.two", "false", false, one.shape)
        return cls(BernoulliModels(np.array([one, other])), np.array([p, 1.0 - p]), gamma)

    def batch(self, replicates: int) -> FiniteModels:
        """The same belief for each of several replicates in lockstep."""
        n = integer("FiniteModels.batch", "replicates", replicates, 1)
        check_single("FiniteModels.batch", self.log_joint)
        weights, joint = (frozen(np.tile(np.asarray(x), (n, 1))) for x in (self.weights, self.log_joint))
        return unchecked(self, weights=weights, log_joint=joint)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> FiniteModels:
        """The posterior after a choice and its reward (or one of each for every replicate)."""
        replicates = self.log_joint.shape[:-1]
        each = self.models.log_likelihood("FiniteModels.update", datum.action, datum.reward, replicates)
        joint = self.log_joint + each
        if np.any(np.max(joint, axis=-1) == -np.inf):
            seen = f"reward {datum.reward} of {datum.action}"
            raise ImpossibleEvidence("FiniteModels", seen, "no model with positive weight allows it")
        return unchecked(self, log_joint=frozen(joint))

    def update_many(self, log: Log, rng: Generator | None = None) -> FiniteModels:
        """The posterior after a log of choices and rewards."""
        new = self
        for action, reward in zip(*columns("FiniteModels.update_many", log, "action", "reward"), strict=True):
            new = new.update(Transition(0, action, reward, 0))
        return new

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.models.means.shape[1]

    @property
    def unsupported(self) -> dict[str, str]:
        """The members that these models cannot offer, and the reasons."""
        kind = type(self.models).__name__
        missing: dict[str, str] = {}
        if self.models.table is None:
            why = f"The rewards of {kind} do not take finitely many values."
            missing |= dict.fromkeys(("posterior_size", "reward_values", "posteriors_after"), why)
        if self.models.deviation is None:
            missing["reward_deviation"] = f"The spread of a reward of {kind} depends on how many arms are chosen."
        return missing

    def posterior(self) -> Floats:
        """Posterior probability of each model."""
        return np.asarray(special.softmax(self.log_joint, axis=-1))

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of the arms in a model drawn from the belief."""
        below = np.cumsum(self.posterior(), axis=-1)
        u = generator("FiniteModels.sample_means", rng).random(below.shape[:-1]) * below[..., -1]
        model = np.sum(below <= u[..., None] if below.ndim == 2 else below <= u, axis=-1)
        return np.asarray(self.models.means[model])

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""
        return self.posterior() @ self.models.means

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""
        w, mean = self.posterior(), self.mean()
        return np.asarray(np.einsum("...i,...ik->...k", w, (self.models.means - mean[..., None, :]) ** 2))

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward: the smallest with P(larger) <= 1 - p."""
        p = probability("FiniteModels.quantile", "p", p)
        order = np.argsort(self.models.means, axis=0)  # (N, K)
        below = np.cumsum(self.posterior()[..., order], axis=-2)
        first = np.argmax(below >= (p - RELATIVE) * below[..., -1:, :], axis=-2)  # (..., K)
        K = np.arange(self.n_actions)
        return np.asarray(self.models.means[order[first, K], K])

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        return np.asarray(special.logsumexp(self.log_joint, axis=-1))

    def model_means(self) -> Floats:
        """Mean reward of arm a in model i, (N, K)."""
        return self.models.means

    @property
    def pays_ones(self) -> bool:
        """Whether every arm pays 0 or 1."""
        return self.models.law == "bernoulli"

    @property
    def tells_information(self) -> bool:
        """Whether rewards are 0 or 1, or Gaussian."""
        return self.models.law is not None

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, by sums over the models."""
        weight = self.posterior()
        theta = np.broadcast_to(self.models.means, (*weight.shape, self.n_actions))
        return best_arm_of_list(theta, weight, self.models.law)

    def best_arm_at(self, prices: Floats) -> BestArm:
        """The distribution of the arm of largest mean times price. Rewards are 0 or 1."""
        weight = self.posterior()
        theta = np.broadcast_to(self.models.means * prices, (*weight.shape, self.n_actions))
        p, given, mean, _ = best_arm_of_list(theta, weight, None)
        return BestArm(p, given, mean, partial(bernoulli_information, p, given / prices, mean / prices))

    def reward_deviation(self) -> float:
        """A standard deviation for which every reward is sub-Gaussian."""
        assert self.models.deviation is not None
        return self.models.deviation

    # For look-ahead planners -----------------------------------------------------------------------------------------

    @property
    def posterior_size(self) -> int:
        """The number of models times the number of replicates."""
        return self.log_joint.size

    def reward_values(self) -> Floats:
        """The possible rewards of an arm, (Y,)."""
        assert self.models.table is not None
        return self.models.table[0]

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The posteriors after arm a has paid reward y another seen[n, a, y] times; `seen` has shape (N, K, Y)."""
        assert self.models.table is not None
        table, means, weight = self.models.table[1], self.models.means, self._weights_after(seen)
        tied = (means >= means.max(axis=-1, keepdims=True)).astype(np.float64)  # (models, K)
        first = np.eye(self.n_actions)[means.argmax(axis=-1)]
        prob = np.tensordot(weight, table, axes=1)
        return ArmPosteriors(prob, lambda: np.asarray(weight @ tied), lambda: np.asarray(weight @ first))

    def posteriors_at(self, prices: Floats, seen: Ints) -> ArmPosteriors:
        """The same posteriors if a one of arm a is worth prices[a]. Rewards are 0 or 1."""
        prob, (weight, worth) = (
            self.posteriors_after(seen).prob,
            (self._weights_after(seen), self.models.means * prices),
        )
        top = np.abs(worth).max(axis=-1, keepdims=True)
        tied = (worth >= worth.max(axis=-1, keepdims=True) - RELATIVE * top).astype(np.float64)
        first = np.eye(self.n_actions)[tied.argmax(axis=-1)]
        return ArmPosteriors(prob, lambda: np.asarray(weight @ tied), lambda: np.asarray(weight @ first))

    def _weights_after(self, seen: Ints) -> Floats:
        """Probability of each model after those rewards, (..., N, models); zeros if no model allows them."""
        assert self.models.table is not None
        more = special.xlogy(seen[:, None], self.models.table[1]).sum(axis=(-2, -1))
        log_joint = self.log_joint[..., None, :] + more
        possible = log_joint.max(axis=-1, keepdims=True) > -np.inf  # impossible data are never reached
        return np.where(possible, special.softmax(np.where(possible, log_joint, 0.0), axis=-1), 0.0)
