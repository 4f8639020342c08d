"""Gaussian-process temporal differences for Monte-Carlo returns (Engel, Mannor, Meir 2005; survey §5.1.2).

The value function of the policy that is followed has a Gaussian-process prior. The discounted return from a visit to s
is V(s) + D, where the residual D ~ N(0, sigma(s)^2) is drawn anew for every visit. So transition t says

    r_t = V(s_t) - gamma V(s_t+1) + D_t - gamma D_t+1,

and the noise of neighbouring transitions is tied: its covariance Sigma has sigma_t^2 + gamma^2 sigma_t+1^2 on the
diagonal and -gamma sigma_t^2 beside it.

Ends of episodes (ERRATA 37). Terminated: the row is V(s_t) alone, the noise variance sigma_t^2 alone, and the tie to
the row before stays. Truncated: the full row; then a new trajectory begins, which is tied to nothing. A state met twice
is two visits with one value.

Paper to code: `GPTD.learn_steps` writes the rows of H and Sigma; `observations.py` conditions on them. Deviations: a
Cholesky factor grows by a row for each transition, where the paper carries an inverse. Cost: O(n^2) for a transition
and for a query after n transitions. Claims: equal to dense conditioning; complete episodes equal regression on
discounted returns (appendix B); calibrated.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from typing import Annotated, ClassVar, Self

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.values._exact import ExactPosterior
from bayesrl.beliefs.values.observations import Observations, Rows
from bayesrl.beliefs.values.trajectory import Episodes, Noise, Steps, alone, check_fields, deviations, stretches
from bayesrl.checks import Floats, integer
from bayesrl.core import Transition
from bayesrl.parameters import DISCOUNT, shared, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits


@shared
class TemporalDifferences(ExactPosterior):
    """The common parts of the two exact models: everything but the covariance of the noise."""

    prior_covariance: Annotated[Covariance, "Prior covariance of values."]
    noise: Noise
    _: KW_ONLY
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.9
    data: Observations | None = field(init=False, default=None, repr=False)
    """The transitions seen."""
    tail: int | None = field(init=False, default=None, repr=False)
    """The number of the point where the trajectory goes on; None: a new one begins."""

    traits: ClassVar[Traits] = ExactPosterior.traits._replace(grows=("data", "tail"))

    def __post_init__(self) -> None:
        check_fields(type(self).__name__, self.prior_covariance, self.noise)

    def _set(self, covariance: Covariance | None, noise: Noise, gamma: float) -> None:
        """Set the fields in the constructor, whose keyword `covariance` becomes the field `prior_covariance`."""
        prior = Gaussian(scale=1.0) if covariance is None else covariance
        for name, given in (
            ("prior_covariance", prior),
            ("noise", noise),
            ("gamma", gamma),
            ("data", None),
            ("tail", None),
        ):
            object.__setattr__(self, name, given)
        self.__post_init__()

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        super().check_grown()
        last = -1 if self.data is None else len(self.data.points) - 1
        if self.tail is not None:
            integer(type(self).__name__, "tail", self.tail, 0, last)

    def noise_covariance(self, variances: Floats, rows: int) -> Floats:
        """The covariance of the noise of rows whose states have residuals of these variances, shape (m, m)."""
        raise NotImplementedError

    def tie(self, variance: float) -> float:
        """The covariance of the noise of a row with the row before it; `variance` is that of the state between."""
        raise NotImplementedError

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> Self:
        """The posterior after a transition. The action is not used."""
        return self.update_many(alone(f"{type(self).__name__}.update", datum), rng)

    def update_many(self, log: Episodes, rng: Generator | None = None) -> Self:
        """The posterior after transitions, or after the n + 1 states and n rewards of one trajectory that goes on."""
        owner = f"{type(self).__name__}.update"
        new = self
        for steps in stretches(owner, log, self._open_state(), self.dims):
            new = new.learn_steps(steps)
        return new

    def learn_steps(self, steps: Steps) -> Self:
        """The posterior after one stretch of a trajectory: the rows of H and Sigma."""
        owner = f"{type(self).__name__}.update"
        states, r, fresh, terminated, truncated = steps
        data = Observations(states.shape[1]) if self.data is None else self.data
        m, known = len(r), len(data.points)
        start = known if fresh or self.tail is None else self.tail  # a visit goes on, so its point is known
        visits = np.append(start, np.arange(len(states) - 1) + (known + 1 if start == known else known))
        weight = np.tile([1.0, -self.gamma], m)
        index = np.column_stack([visits[:m], np.append(visits[1:], visits[-1])[:m]]).ravel()
        first = np.arange(0, 2 * m + 1, 2)
        if terminated:
            weight, index, first[-1] = weight[:-1], index[:-1], 2 * m - 1
        variances = deviations(owner, self.noise, states) ** 2
        new = data.add(
            owner,
            self.prior_covariance,
            states if start == known else states[1:],
            Rows(weight, index, first),
            r,
            self.noise_covariance(variances, m),
            0.0 if fresh else self.tie(float(variances[0])),
        )
        return unchecked(self, data=new, tail=None if terminated or truncated else int(visits[-1]))

    def restart(self) -> Self:
        """The same belief at the start of a new trajectory."""
        return unchecked(self, tail=None)

    def _open_state(self) -> Floats | None:
        return None if self.data is None or self.tail is None else self.data.points[self.tail][None]


@register(
    "gptd",
    kind="belief",
    survey="5.1",
    paper="Engel05RL",
    example=lambda: GPTD(Gaussian(scale=1.0), noise=0.3, gamma=0.9),
    taken_by="GPTD.update_many, which learns the values of states from a log",
    evidence=(
        "tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning",
        "tests/beliefs/values/test_gptd.py::test_complete_episodes_are_regression_on_returns",
        "tests/beliefs/values/test_gptd.py::test_calibrated",
    ),
)
@value
class GPTD(TemporalDifferences):
    """A Gaussian process over the values of the policy that is followed, from transitions with tied noise.

    The keyword of the constructor is `covariance`; the field is `prior_covariance`, because `covariance(states)` is the
    posterior's.

    Examples
    --------
    >>> from bayesrl.beliefs.covariances import Gaussian
    >>> belief = GPTD(covariance=Gaussian(scale=1.0), noise=0.3, gamma=0.9)
    >>> belief = belief.update_many(([0.0, 1.0, 2.0], [0.0, 1.0]))  # three states, the two rewards between them
    >>> belief.mean([0.0, 1.0, 2.0]).round(2).tolist()
    [0.55, 0.51, -0.34]
    >>> belief.variance([1.0, 9.0]).round(2).tolist()
    [0.67, 1.0]
    """

    noise: Annotated[Noise, "Standard deviation of a return, sigma, or a function of states."] = 0.3

    def __init__(self, covariance: Covariance | None = None, noise: Noise = 0.3, gamma: float = 0.9) -> None:
        self._set(covariance, noise, gamma)

    def noise_covariance(self, variances: Floats, rows: int) -> Floats:
        """sigma_t^2 + gamma^2 sigma_t+1^2 on the diagonal, -gamma sigma_t^2 beside it; no successor at an end."""
        after = np.append(variances, 0.0)[1 : rows + 1]
        beside = -self.gamma * variances[1:rows]
        return np.diag(variances[:rows] + self.gamma**2 * after) + np.diag(beside, 1) + np.diag(beside, -1)

    def tie(self, variance: float) -> float:
        """-gamma sigma_t^2."""
        return -self.gamma * variance
