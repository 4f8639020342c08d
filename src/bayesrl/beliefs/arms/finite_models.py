"""Any prior on finitely many bandits: correlated arms, two models, particles (Gopalan et al. 2014; survey §3.3).

The true bandit is one of N, with prior weights. Bayes' rule multiplies each weight by the likelihood of what was seen.
Arms may be correlated in any way: a reward of one arm tells about the others through the models. A prior that cannot be
listed may be sampled: N bandits drawn from it with equal weights.

The kind of models decides how likely a reward is:

    BernoulliModels(means)        arm a of model i pays 1 with probability means[i, a], else 0
    GaussianModels(means, noise)  arm a of model i pays N(means[i, a], noise^2)
    OutcomeModels(values, prob)   arm a of model i pays values[y] with probability prob[i, a, y]
    BernoulliSums(means)          several arms are chosen at once, each pays 0 or 1, only the sum is seen

Liu and Li's (2015) case is `FiniteModels.two(true, false, weight)`: two arms, two models.

Deviations: none. Cost: O(N) for an update (sums: O(N M^2)) or a sample. Claims: weights equal Bayes' rule by hand; sums
against enumeration; belief laws.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs._log import Log, columns
from bayesrl.beliefs.arms._arms import check_set, chosen, paid, single, unchecked
from bayesrl.beliefs.arms._best_arm import DRAWS, BestArm, Law, weighted
from bayesrl.beliefs.arms._states import ArmPosteriors
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer, number, probability, rows_sum_to_one
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register


@runtime_checkable
class Models(Protocol):
    """Finitely many bandits: the arms' mean rewards, and how likely a reward is in each bandit."""

    @property
    def means(self) -> Floats:
        """Mean reward of arm a in model i, shape (N, K)."""

    @property
    def law(self) -> Law:
        """The law of a reward given its mean."""

    @property
    def deviation(self) -> float | None:
        """A reward of any model is sub-Gaussian with this deviation; None: it depends on the action."""

    @property
    def table(self) -> tuple[Floats, Floats] | None:
        """What arms can pay, (Y,), and the probabilities of that, (N, K, Y); None: that cannot be listed."""

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model, (N,) or (replicates, N)."""


@register(
    "finite-models",
    kind="belief",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: FiniteModels(BernoulliModels(np.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.5], [0.4, 0.4, 0.8]]))),
    evidence=(
        "tests/beliefs/test_finite_models.py::test_weights_are_bayes_rule",
        "tests/beliefs/test_finite_models.py::test_sums_match_enumeration",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class FiniteModels:
    """A bandit that is one of finitely many, with a weight for each.

    Examples
    --------
    >>> belief = FiniteModels(BernoulliModels([[0.1, 0.6], [0.7, 0.2]]))  # arms are correlated through the models
    >>> belief.update(Transition(0, action=1, reward=1.0, next_observation=0)).posterior()
    array([0.75, 0.25])
    """

    models: Annotated[Models, "The bandits."]
    weights: Annotated[ArrayLike | None, "Prior probability of each, (N,) or (replicates, N); None: equal."] = None
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    log_joint: Floats = field(init=False, repr=False)
    """Log of prior weight times likelihood of all that was seen, in the shape of the weights."""

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
        """Liu and Li's prior: Bernoulli means `true` with this weight, else `false`.

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
        single("FiniteModels.batch", self.log_joint)
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
            raise ImpossibleEvidence("FiniteModels", seen, "no model that is still possible gives it")
        return unchecked(self, log_joint=frozen(joint))

    def update_many(self, log: Log, rng: Generator | None = None) -> FiniteModels:
        """The posterior after a log of choices and rewards."""
        new = self
        for action, reward in zip(*columns("FiniteModels.update_many", log, "action", "reward"), strict=True):
            new = new.update(Transition(0, action, reward, 0))
        return new

    # What planners ask -----------------------------------------------------------------------------------------------

    @property
    def n_actions(self) -> int:
        """K."""
        return self.models.means.shape[1]

    @property
    def unsupported(self) -> dict[str, str]:
        """What these models cannot offer."""
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
        """The p-quantile of each arm's mean reward: the least one that is exceeded with probability at most 1 - p."""
        p = probability("FiniteModels.quantile", "p", p)
        order = np.argsort(self.models.means, axis=0)  # (N, K)
        below = np.cumsum(self.posterior()[..., order], axis=-2)
        first = np.argmax(below >= p * below[..., -1:, :], axis=-2)  # (..., K)
        K = np.arange(self.n_actions)
        return np.asarray(self.models.means[order[first, K], K])

    def log_evidence(self) -> Floats:
        """log P(rewards | choices) under the prior, for each replicate."""
        return np.asarray(special.logsumexp(self.log_joint, axis=-1))

    def model_means(self) -> Floats:
        """Mean reward of arm a in model i, (N, K)."""
        return self.models.means

    @property
    def tells_information(self) -> bool:
        """Whether rewards are 0 or 1, or Gaussian."""
        return self.models.law is not None

    def best_arm(self, context: object = None, samples: int = DRAWS, rng: Generator | None = None) -> BestArm:
        """Which arm is best, by sums over the models."""
        weight = self.posterior()
        theta = np.broadcast_to(self.models.means, (*weight.shape, self.n_actions))
        return weighted(theta, weight, self.models.law)

    def reward_deviation(self) -> float:
        """A reward of any model is sub-Gaussian with this deviation."""
        assert self.models.deviation is not None
        return self.models.deviation

    # What planners that look ahead ask -------------------------------------------------------------------------------

    @property
    def posterior_size(self) -> int:
        """Models times replicates."""
        return self.log_joint.size

    def reward_values(self) -> Floats:
        """What an arm can pay, (Y,)."""
        assert self.models.table is not None
        return self.models.table[0]

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The posteriors after seen[n, a, y] further outcomes y of arm a, (N, K, Y)."""
        assert self.models.table is not None
        table, means = self.models.table[1], self.models.means
        log_joint = self.log_joint[..., None, :] + special.xlogy(seen[:, None], table).sum(axis=(-2, -1))
        possible = log_joint.max(axis=-1, keepdims=True) > -np.inf  # others are never reached
        weight = np.where(possible, special.softmax(np.where(possible, log_joint, 0.0), axis=-1), 0.0)
        tied = (means >= means.max(axis=-1, keepdims=True)).astype(np.float64)  # (models, K)
        first = np.eye(self.n_actions)[means.argmax(axis=-1)]
        prob = np.tensordot(weight, table, axes=1)
        return ArmPosteriors(prob, lambda: np.asarray(weight @ tied), lambda: np.asarray(weight @ first))


# Kinds of models -----------------------------------------------------------------------------------------------------


@value
class BernoulliModels:
    """Arms that pay 1 or 0."""

    means: Annotated[Floats, AtLeast(0.0), Shape("(N, K)"), "Probability that arm a of model i pays."]

    law: ClassVar[Law] = "bernoulli"
    deviation: ClassVar[float | None] = 0.5

    def __post_init__(self) -> None:
        _check_probabilities("BernoulliModels", self.means)

    @property
    def table(self) -> tuple[Floats, Floats]:
        """0 and 1, and their probabilities, (N, K, 2)."""
        return np.array([0.0, 1.0]), np.stack([1.0 - self.means, self.means], axis=-1)

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        p, y = self.means.T[_arm(owner, action, replicates, self.means.shape[1])], _reward(owner, reward, replicates)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(y == 1.0, np.log(p), np.where(y == 0.0, np.log1p(-p), -np.inf)))


@value
class GaussianModels:
    """Arms with Gaussian rewards of known variance."""

    means: Annotated[Floats, Shape("(N, K)"), "Mean reward of arm a in model i."]
    noise: Annotated[float, Above(0.0), "Standard deviation of a reward."] = 1.0

    table: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check_matrix("GaussianModels", "means", self.means)

    @property
    def law(self) -> Law:
        """Gaussian."""
        return self.noise

    @property
    def deviation(self) -> float:
        """Noise plus a mean within the range of the models."""
        return float(np.sqrt(self.noise**2 + 0.25 * np.ptp(self.means, axis=0).max() ** 2))

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        m, x = self.means.T[_arm(owner, action, replicates, self.means.shape[1])], _reward(owner, reward, replicates)
        return np.asarray(-0.5 * ((x - m) / self.noise) ** 2 - 0.5 * np.log(2.0 * np.pi * self.noise**2))


@value
class OutcomeModels:
    """Arms that pay one of finitely many amounts."""

    values: Floats
    """What can be paid, all different, shape (Y,)."""
    prob: Floats
    """Probability that arm a of model i pays values[y], shape (N, K, Y)."""
    means: Floats = field(init=False, repr=False)
    """Mean reward of arm a in model i, shape (N, K)."""

    law: ClassVar[Law] = None

    def __post_init__(self) -> None:
        values = array("OutcomeModels", "values", self.values, (None,))
        prob = array("OutcomeModels", "prob", self.prob, (None, None, len(values)), low=0.0)
        prob = rows_sum_to_one("OutcomeModels", "prob", prob, self.prob)
        if len(np.unique(values)) < len(values):
            raise InvalidArgument("OutcomeModels", "values", "all different", values.tolist())
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "prob", prob)
        object.__setattr__(self, "means", frozen(prob @ values))

    @property
    def deviation(self) -> float:
        """Half of the range of rewards."""
        return float(0.5 * np.ptp(self.values))

    @property
    def table(self) -> tuple[Floats, Floats]:
        """What can be paid, and its probabilities."""
        return self.values, self.prob

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log likelihood of the reward under each model."""
        p = np.swapaxes(self.prob, 0, 1)[_arm(owner, action, replicates, self.means.shape[1])]  # (..., N, Y)
        hit = self.values == _reward(owner, reward, replicates)[..., None]  # (..., 1, Y)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.sum(p * hit, axis=-1)))


@value
class BernoulliSums:
    """Several arms at once, each of which pays 1 or 0. Only the sum is seen (full-bandit feedback)."""

    means: Annotated[Floats, AtLeast(0.0), Shape("(N, K)"), "Probability that arm a of model i pays."]

    law: ClassVar[Law] = None
    deviation: ClassVar[float | None] = None
    table: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check_probabilities("BernoulliSums", self.means)

    def log_likelihood(self, owner: str, action: Any, reward: Any, replicates: tuple[int, ...]) -> Floats:
        """Log probability of the sum under each model: a Poisson-binomial, one arm folded in after the other."""
        p = self.means.T[check_set(owner, (*replicates, self.means.shape[1]), action)]  # (..., M, N)
        M = p.shape[-2]
        mass = np.zeros((*p.shape[:-2], M + 1, p.shape[-1]))
        mass[..., 0, :] = 1.0
        for j in range(M):
            q = p[..., j, None, :]
            mass[..., 1:, :] = mass[..., 1:, :] * (1.0 - q) + mass[..., :-1, :] * q
            mass[..., 0, :] *= 1.0 - q[..., 0, :]
        hit = np.arange(M + 1.0)[:, None] == _reward(owner, reward, replicates)[..., None]  # (..., M + 1, 1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.sum(mass * hit, axis=-2)))


def _check_matrix(owner: str, name: str, x: Floats) -> None:
    if x.ndim != 2:
        raise InvalidArgument(owner, name, "an array of shape (any, any)", x)


def _check_probabilities(owner: str, means: Floats) -> None:
    _check_matrix(owner, "means", means)
    if means.max() > 1.0:
        raise InvalidArgument(owner, "means", "at most 1 everywhere", float(means.max()))


def _arm(owner: str, action: Any, replicates: tuple[int, ...], K: int) -> Any:
    where = chosen(owner, (*replicates, K), action)
    return where % K if replicates else where


def _reward(owner: str, reward: Any, replicates: tuple[int, ...]) -> Floats:
    """The reward with an axis for the models: (1,) or (replicates, 1)."""
    return np.asarray(paid(owner, (*replicates, 1), reward), np.float64)[..., None]
