"""Clicks with log-odds linear in features: online logistic regression (Chapelle and Li 2011, Algorithm 3; survey §3.3).

Arm a with features x_a pays 1 with probability sigmoid(w' x_a), else 0. The belief about w is Gaussian with independent
coordinates, N(m_i, 1 / q_i). After a batch of answers m moves to the mode of prior times likelihood, and each q_i grows
by the curvature there:

    m' = argmin_w  1/2 sum_i q_i (w_i - m_i)^2 + sum_j log(1 + exp(-+ w' x_j)),
    q_i' = q_i + sum_j x_ij^2 p_j (1 - p_j).

With one answer at a time the mode lies on the line m + c x / q, and c is the root of an equation in one unknown. The
factor `reshaping` multiplies the standard deviations of draws, alpha in the paper's Table 2.

Deviations: none; `update` is the paper's batch of one, `update_many` one batch. The belief approximates the posterior
and depends on the order of batches. Cost: O(d) for an update, O(K d) for a sample. Claims: the mode's gradient
vanishes; moments against quadrature; near the exact posterior if there is much data. logistic_laplace_arms.py keeps
correlations.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs.arms._contexts import PaysClicks, apply, chance_at_mode, check_features, check_weights, read_log
from bayesrl.beliefs.arms._problems import clicked
from bayesrl.beliefs.arms.arms import check_binary, check_like, check_single, fade_normal, unchecked
from bayesrl.beliefs.log import Log
from bayesrl.checks import Floats, array, frozen, generator, integer, number
from bayesrl.core import Transition
from bayesrl.kernels.logistic import mode_after_many
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, value
from bayesrl.registry import register


def prior_for(
    problem: object, regularisation: Annotated[float, Above(0.0), "Inverse variance of a weight."] = 1.0
) -> LogisticArms:
    """Independent weights of the known features of a bandit's arms that pay 1 or 0."""
    own = clicked("logistic-arms", problem)
    return LogisticArms.isotropic(own.n_weights, regularisation, own.features, own.gamma)


@register(
    "logistic-arms",
    kind="belief",
    survey="3.3",
    paper="Chapelle11EE",
    example=lambda: LogisticArms.isotropic(2, features=np.array([[1.0, 0.0], [0.5, 0.5], [-0.3, 1.0]])),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/arms/test_contextual.py::test_logistic_update_is_the_mode_and_its_curvature",
        "tests/beliefs/arms/test_contextual.py::test_logistic_moments_match_quadrature",
        "tests/beliefs/arms/test_contextual.py::test_logistic_concentrates",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class LogisticArms(PaysClicks):
    """Zeros and ones with log-odds linear in the arms' features, and independent Gaussian weights.

    Examples
    --------
    >>> belief = LogisticArms.isotropic(2)  # the context is a matrix with a row of features for each arm
    >>> arms = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> belief.update(Transition(arms, action=1, reward=1.0, next_observation=0)).mean(arms).round(3)
    array([0.571, 0.626])
    """

    mean_: Annotated[Floats, Shape("(d,) or (replicates, d)"), "Mean of the weights, m."]
    precision: Annotated[Floats, Above(0.0), Shape("(d,) or (replicates, d)"), "Inverse variance of each weight, q."]
    reshaping: Annotated[float, AtLeast(0.0), "Factor on the standard deviation of draws, alpha."] = 1.0
    features: Annotated[
        Floats | None,
        Shape("(K, d), or (C, K, d) for C contexts"),
        "The arms' features if they are known in advance.",
    ] = None
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0

    tells_information: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner, d = "LogisticArms", self.mean_.shape[-1:]
        check_weights(owner, self.mean_)
        check_like(owner, "precision", self.precision, self.mean_.shape)
        object.__setattr__(self, "features", check_features(owner, self.features, *d))

    @classmethod
    def isotropic(
        cls, d: int, regularisation: float = 1.0, features: ArrayLike | None = None, gamma: float = 1.0
    ) -> LogisticArms:
        """Weights N(0, 1 / regularisation), the paper's lambda."""
        d = integer("LogisticArms.isotropic", "d", d, 1)
        q = number("LogisticArms.isotropic", "regularisation", regularisation, 0.0, above=True) * np.ones(d)
        x = None if features is None else array("LogisticArms.isotropic", "features", features)
        return cls(np.zeros(d), q, 1.0, x, gamma)

    def batch(self, replicates: int) -> LogisticArms:
        """The same belief for each of several replicates in lockstep."""
        n = integer("LogisticArms.batch", "replicates", replicates, 1)
        check_single("LogisticArms.batch", self.mean_)
        mean, precision = (frozen(np.tile(x, (n, 1))) for x in (self.mean_, self.precision))
        return unchecked(self, mean_=mean, precision=precision)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> LogisticArms:
        """The belief after a choice and its answer (or one of each for every replicate)."""
        x, y = self._clicked(datum)
        lever = x / self.precision
        s, h = np.sum(x * self.mean_, axis=-1), np.sum(x * lever, axis=-1)
        p = chance_at_mode(s, h, y)
        return unchecked(
            self,
            mean_=frozen(self.mean_ + lever * (y - p)[..., None]),
            precision=frozen(self.precision + x * x * (p * (1.0 - p))[..., None]),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> LogisticArms:
        """The belief of one experiment after a log, taken as one batch."""
        owner = "LogisticArms.update_many"
        check_single(owner, self.mean_)
        X, y = read_log(owner, self.features, log, len(self.mean_))
        check_binary("LogisticArms", y)
        move, weight = mode_after_many(X, y, X @ self.mean_, np.diag(self.precision))
        return unchecked(self, mean_=frozen(self.mean_ + move), precision=frozen(self.precision + weight @ (X * X)))

    # Capabilities ----------------------------------------------------------------------------------------------------

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Probabilities of the arms for weights drawn from the belief (reshaped by alpha)."""
        X = self._features("sample_means", context)
        z = generator("LogisticArms.sample_means", rng).standard_normal(self.mean_.shape)
        w = self.mean_ + self.reshaping * z / np.sqrt(self.precision)
        return np.asarray(special.expit(apply(X, w)))

    def fade(self, prior: LogisticArms, decay: float) -> LogisticArms:
        """Precision and precision times mean of each weight fade towards those of the prior."""
        q, m, _ = fade_normal(self.precision, self.mean_, prior.precision, prior.mean_, decay)
        return unchecked(self, mean_=m, precision=q)

    def _score(self, asked: str, context: object) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each arm's log-odds."""
        X = self._features(asked, context)
        return apply(X, self.mean_), np.sqrt(apply(X * X, 1.0 / self.precision))
