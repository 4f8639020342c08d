"""Probes of beliefs about functions and values.

A truth is the values at three places. Data of a belief about values are short episodes: the order of episodes does not
matter, the order of transitions does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.values.bayesian_linear_regression import BayesianLinearRegression
from bayesrl.beliefs.values.gaussian import GaussianFunction
from bayesrl.beliefs.values.gp_regression import GPRegression
from bayesrl.beliefs.values.gptd import GPTD
from bayesrl.beliefs.values.gptd_deterministic import WhiteGPTD
from bayesrl.beliefs.values.gptd_lambda import LambdaGPTD
from bayesrl.beliefs.values.gptd_parametric import ParametricGPTD
from bayesrl.beliefs.values.gptd_sparse import SparseGPTD
from bayesrl.beliefs.values.kernel_selection import KernelSelection
from bayesrl.beliefs.values.lstd_lambda import LSTD
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import Probe, probe_for

PLACES = np.array([0.0, 1.0, 2.0])


class RegressionProbe:
    """Data are noisy values at one of the places."""

    def draw(self, belief: GaussianFunction, rng: Generator) -> Floats:
        return np.asarray(belief.sample(PLACES, rng)[0])

    def datum(self, belief: Any, theta: Floats, rng: Generator) -> tuple[float, float]:
        i = int(rng.integers(len(PLACES)))
        return float(PLACES[i]), float(rng.normal(theta[i], belief.noise))

    def read(self, belief: Any, theta: Floats) -> Floats:
        return theta

    def readings(self, belief: GaussianFunction, n: int, rng: Generator) -> Floats:
        """Of n truths."""
        return belief.sample(PLACES, rng, n)

    def expect(self, belief: GaussianFunction) -> Floats:
        return belief.mean(PLACES)


class EpisodeProbe(NamedTuple):
    """Data are episodes of one to three steps between the places, terminated or truncated."""

    coloured: bool = True
    """Whether residuals are those of Monte-Carlo returns; otherwise rewards have independent noise."""
    approximate: bool = False
    """Whether only purity and concentration are checked: it is not exact, or its own tests show that it is."""

    point: bool = False
    """Whether the belief is an estimate without a distribution."""

    def draw(self, belief: Any, rng: Generator) -> Floats:
        return rng.standard_normal(len(PLACES)) if isinstance(belief, LSTD) else belief.sample(PLACES, rng)[0]

    def datum(self, belief: Any, theta: Floats, rng: Generator) -> list[Transition]:
        length, ends = int(rng.integers(1, 4)), bool(rng.random() < 0.5)
        path = rng.integers(len(PLACES), size=length + 1)
        noise, gamma = getattr(belief, "noise", 0.3), belief.gamma
        D = noise * rng.standard_normal(length + 1)
        episode = []
        for i in range(length):
            last = i == length - 1
            r = theta[path[i]] + D[i]
            if not (last and ends):
                r -= gamma * (theta[path[i + 1]] + (D[i + 1] if self.coloured else 0.0))
            places = float(PLACES[path[i]]), float(PLACES[path[i + 1]])
            episode.append(Transition(places[0], 0, float(r), places[1], last and ends, last and not ends))
        return episode

    def learn(self, belief: Any, episode: list[Transition], rng: Generator | None) -> Any:
        return belief.update_many(episode, rng)

    def read(self, belief: Any, theta: Floats) -> Floats:
        return theta

    def readings(self, belief: Any, n: int, rng: Generator) -> Floats:
        """Of n truths."""
        return np.asarray(belief.sample(PLACES, rng, n))

    def expect(self, belief: Any) -> Floats:
        return np.asarray(belief.mean(PLACES))


PROBES: dict[type, Probe] = {
    GPRegression: RegressionProbe(),
    BayesianLinearRegression: RegressionProbe(),
    GPTD: EpisodeProbe(),
    WhiteGPTD: EpisodeProbe(coloured=False),
    SparseGPTD: EpisodeProbe(),
    ParametricGPTD: EpisodeProbe(),
    KernelSelection: EpisodeProbe(approximate=True),
    LambdaGPTD: EpisodeProbe(approximate=True),
    LSTD: EpisodeProbe(approximate=True, point=True),
}
for kind, probe in PROBES.items():
    probe_for.register(kind, lambda belief, probe=probe: probe)
