"""Parametric temporal differences: values linear in features, with a Gaussian belief about the weights (Engel 2005).

V = phi(s)'W with W ~ N(0, prior_variance I), and the noise of `gptd.py` (survey §5.1.2). The posterior is updated by
recursion in O(k^2) for k features, whatever the number of transitions (`recursion.py`).

Deviations: none. Claims: equal to `gptd` with the covariance prior_variance phi'phi; as the prior gets wide, the mean
tends to that of least squares with lambda = 1.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

from numpy.random import Generator

from bayesrl.beliefs.features import Features, Tabular
from bayesrl.beliefs.values._linear import LinearPosterior, check_features
from bayesrl.beliefs.values.recursion import Weights, differences, noise_of_rows
from bayesrl.beliefs.values.trajectory import Episodes, Noise, alone, check_noise, check_tail, deviations, stretches
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.parameters import DISCOUNT, Above, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits


@register(
    "gptd-parametric",
    kind="belief",
    survey="5.1",
    paper="Engel05AR",
    example=lambda: ParametricGPTD(Tabular(3), noise=1.0, gamma=0.9),
    taken_by="ParametricGPTD.update_many, which learns the values of states from a log",
    evidence=("tests/beliefs/values/test_gptd.py::test_parametric_is_gptd_with_the_covariance_of_its_features",),
)
@value
class ParametricGPTD(LinearPosterior):
    """Values linear in features, with a Gaussian belief about the weights.

    Examples
    --------
    >>> from bayesrl.beliefs.features import Tabular
    >>> belief = ParametricGPTD(Tabular(2), noise=1.0, gamma=0.5)
    >>> belief = belief.update(Transition(0, 0, reward=3.0, next_observation=0, terminated=True))
    >>> belief.mean([0, 1]).round(3).tolist(), belief.variance([0, 1]).round(3).tolist()
    ([1.5, 0.0], [0.5, 1.0])
    """

    features: Annotated[Features, "phi: a row of features for each state."]
    noise: Annotated[Noise, "Standard deviation of a return, sigma, or a function of states."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.99
    prior_variance: Annotated[float, Above(0.0), "Prior variance of a weight."] = 1.0
    weights: Weights = field(init=False, repr=False)
    """The posterior of the weights."""
    tail: Floats | None = field(init=False, default=None, repr=False)
    """The state where the trajectory goes on, shape (1, d); None: a new one begins."""

    def __post_init__(self) -> None:
        check_features("ParametricGPTD", self.features)
        check_noise("ParametricGPTD", self.noise)
        if "weights" not in vars(self):  # else a file holds them
            object.__setattr__(self, "weights", Weights.isotropic(self.features.size, self.prior_variance))

    traits: ClassVar[Traits] = Traits(grows=("weights", "tail"))

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        self.weights.check("ParametricGPTD", self.features.size)
        check_tail("ParametricGPTD", self.tail, None)

    def update(self, datum: Transition, rng: Generator | None = None) -> ParametricGPTD:
        """The posterior after a transition. The action is not used."""
        return self.update_many(alone("ParametricGPTD.update", datum), rng)

    def update_many(self, log: Episodes, rng: Generator | None = None) -> ParametricGPTD:
        """The posterior after transitions, or after the n + 1 states and n rewards of one trajectory that goes on."""
        owner, new, tail = "ParametricGPTD.update", self.weights, self.tail
        for states, r, fresh, terminated, truncated in stretches(owner, log, tail, None):
            v, c = noise_of_rows(deviations(owner, self.noise, states) ** 2, len(r), self.gamma, fresh)
            new = new.after(owner, differences(self.features(states), len(r), self.gamma), r, v, c, self.prior_variance)
            tail = None if terminated or truncated else states[-1:]
        return unchecked(self, weights=new, tail=tail)

    def restart(self) -> ParametricGPTD:
        """The same belief at the start of a new trajectory."""
        return unchecked(self, tail=None)

    def weight_moments(self) -> tuple[Floats, Floats]:
        """Mean, (k,), and covariance, (k, k), of the weights."""
        return self.weights.w, self.weights.P

    def log_evidence(self) -> float:
        """Logarithm of the density of the rewards seen."""
        return self.weights.log_evidence
