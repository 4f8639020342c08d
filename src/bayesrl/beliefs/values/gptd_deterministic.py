"""Gaussian-process temporal differences for deterministic transitions (Engel, Mannor, Meir 2003; survey §5.1.1).

If transitions are deterministic, r_t = V(s_t) - gamma V(s_t+1) + N(0, sigma(s_t)^2), and the noise of a transition is
independent of all others. The rows are those of `gptd.py`; only the noise differs. Unlike the Monte-Carlo model this
one bootstraps: it uses what it knows of the next state's value.

Deviations: none. Cost: as `gptd.py`. Claims: equal to dense conditioning.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.values.gptd import TemporalDifferences
from bayesrl.beliefs.values.trajectory import Noise
from bayesrl.checks import Floats
from bayesrl.parameters import value
from bayesrl.registry import register


@register(
    "gptd-deterministic",
    kind="belief",
    survey="5.1",
    paper="Engel03BM",
    example=lambda: WhiteGPTD(Gaussian(scale=1.0), noise=0.3, gamma=0.9),
    taken_by="WhiteGPTD.update_many, which learns the values of states from a log",
    evidence=("tests/beliefs/values/test_gptd.py::test_equal_to_dense_conditioning",),
)
@value
class WhiteGPTD(TemporalDifferences):
    """A Gaussian process over values, from transitions with independent noise.

    Examples
    --------
    >>> from bayesrl.beliefs.covariances import Gaussian
    >>> belief = WhiteGPTD(covariance=Gaussian(scale=1.0), noise=0.1, gamma=0.9)
    >>> belief.update_many(([0.0, 1.0, 2.0], [0.0, 1.0])).mean([0.0, 1.0]).round(2).tolist()
    [0.61, 0.67]
    """

    noise: Annotated[Noise, "Standard deviation of a reward, sigma, or a function of states."] = 0.3

    def __init__(self, covariance: Covariance | None = None, noise: Noise = 0.3, gamma: float = 0.9) -> None:
        self._set(covariance, noise, gamma)

    def noise_covariance(self, variances: Floats, rows: int) -> Floats:
        """sigma_t^2 on the diagonal."""
        return np.diag(variances[:rows])

    def tie(self, variance: float) -> float:
        """None."""
        return 0.0
