"""LSTD(lambda) as a posterior mean: temporal differences under a noise covariance (Engel 2005; survey §5.1.2).

LSTD(lambda)'s weights are the maximum-likelihood solution of parametric GPTD if the noise has precision Z'Q Z /
sigma^2, with a trace z_t in column t of Z and any symmetric positive Q. We take Q = (sum phi_t phi_t')^-1 (pseudo-
inverse, relative cut 1e-12), because then lambda = 1 on complete episodes is `gptd-parametric`. With A and b of
`lstd_lambda.py`

    P = (I / prior_variance + A'Q A / sigma^2)^-1,   mean  P A'Q b / sigma^2.

Deviations: a literal covariance with H'Sigma^-1 equal to the traces would not be symmetric, so the survey's form is
read as above. The data enter through b, so `log_evidence` is the density of b = A W + N(0, sigma^2 Q^-1) on the range
of Q. Cost: O(k^2) for a transition, O(k^3) for the first query after it. Claims: a wide prior tends to LSTD(lambda);
lambda = 1 on complete episodes equals `gptd-parametric`.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from bayesrl.beliefs.features import Features, Tabular
from bayesrl.beliefs.values._linear import LinearPosterior, check_features
from bayesrl.beliefs.values.lstd_lambda import LeastSquares, Traces
from bayesrl.beliefs.values.observations import LOG_2_PI
from bayesrl.beliefs.values.triangular import positive_solved
from bayesrl.checks import Floats
from bayesrl.parameters import DISCOUNT, PROBABILITY, Above, value
from bayesrl.registry import register
from bayesrl.traits import Traits

CUT = 1e-12
"""Eigenvalues of the Gram matrix of features below this share of the largest count as zero."""


class Posterior(NamedTuple):
    """The weights: N(mean, covariance)."""

    mean: Floats
    covariance: Floats
    log_evidence: float


@register(
    "gptd-lambda",
    kind="belief",
    survey="5.1",
    paper="Engel05AR",
    example=lambda: LambdaGPTD(Tabular(3), lam=0.4, gamma=0.9),
    taken_by="LambdaGPTD.update_many, which learns the values of states from a log",
    evidence=(
        "tests/beliefs/values/test_lstd.py::test_lambda_one_is_parametric_gptd",
        "tests/beliefs/values/test_lstd.py::test_a_wide_prior_tends_to_lstd",
    ),
)
@value
class LambdaGPTD(LeastSquares, LinearPosterior):
    """A Gaussian belief about weights whose mean tends to LSTD(lambda) as the prior gets wide.

    Examples
    --------
    >>> from bayesrl.beliefs.features import Tabular
    >>> from bayesrl.core import Transition
    >>> belief = LambdaGPTD(Tabular(2), lam=0.0, noise=1.0, gamma=0.5, prior_variance=1e6)
    >>> belief = belief.update_many([Transition(0, 0, 0.0, 1), Transition(1, 0, 2.0, 0, terminated=True)])
    >>> belief.mean([0, 1]).round(3).tolist()
    [1.0, 2.0]
    """

    features: Annotated[Features, "phi: a row of features for each state."]
    lam: Annotated[float, PROBABILITY, "Decay of traces, lambda."] = 0.0
    noise: Annotated[float, Above(0.0), "Standard deviation, sigma."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.99
    prior_variance: Annotated[float, Above(0.0), "Prior variance of a weight."] = 1.0
    traces: Traces = field(init=False, repr=False)
    """Sums over the transitions seen."""
    tail: Floats | None = field(init=False, default=None, repr=False)
    """The state where the trajectory goes on, shape (1, d); None: a new one begins."""

    traits: ClassVar[Traits] = LeastSquares.traits._replace(depends_on_data=("posterior",))

    def __post_init__(self) -> None:
        check_features("LambdaGPTD", self.features)
        if "traces" not in vars(self):  # else a file holds them
            object.__setattr__(self, "traces", Traces.none(self.features.size))

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the weights."""
        A, b, gram, _ = self.traces
        s, k = self.noise**2, len(b)
        values, vectors = np.linalg.eigh(gram)
        kept = values > CUT * values[-1]
        root = vectors[:, kept] / np.sqrt(values[kept])  # Q = root root'
        B, y = root.T @ A, root.T @ b  # y = B W + N(0, s I)
        L = np.linalg.cholesky(np.eye(k) / self.prior_variance + B.T @ B / s)
        mean = positive_solved(L, (B.T @ y)[:, None])[:, 0] / s
        log_det = 2.0 * float(np.log(np.diagonal(L)).sum()) + k * np.log(self.prior_variance) + len(y) * np.log(s)
        fit = float(y @ y - mean @ (B.T @ y)) / s
        density = -0.5 * (fit + log_det + len(y) * LOG_2_PI + float(np.log(values[kept]).sum()))
        return Posterior(mean, positive_solved(L, np.eye(k)), float(density))

    def weight_moments(self) -> tuple[Floats, Floats]:
        """Mean, (k,), and covariance, (k, k), of the weights."""
        return self.posterior.mean, self.posterior.covariance

    def log_evidence(self) -> float:
        """Logarithm of the density of b."""
        return self.posterior.log_evidence
