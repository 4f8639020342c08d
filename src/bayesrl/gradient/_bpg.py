"""The common code of `bpg-1` and `bpg-2`: one posterior of the gradient for each batch of paths, and a step."""

from typing import ClassVar, Literal

from bayesrl.checks import Floats
from bayesrl.gradient import _settings as declares
from bayesrl.gradient._improve import Improved, improve
from bayesrl.gradient._learner import Learning, LearnsFromPaths, scores_and_returns
from bayesrl.gradient._paths import Path
from bayesrl.gradient.bayesian_gradient import bpg
from bayesrl.parameters import shared


@shared
class BPG(LearnsFromPaths):
    """An agent that moves its policy by the posterior of the gradient under one of the two models."""

    noise: declares.Noise = 0.1
    rate: declares.Rate = 0.3
    direction: declares.Direction = "natural"
    length: declares.Length = "fisher"
    half_life: declares.HalfLife = None
    unit: declares.PathUnit = "steps"
    decay: declares.Decay = 0.9
    threshold: declares.Threshold = 0.0

    model: ClassVar[Literal[1, 2]]

    def _improve(self, mind: Learning, paths: tuple[Path, ...], G: Floats) -> Improved:
        """The posterior of the gradient, and a step."""
        U, rho = scores_and_returns(paths, self.gamma)
        gradient = bpg(U, rho, G, self.model, self.noise, "mean", self.threshold)
        return improve(self, mind.policy, gradient, G, mind.updates, mind.search)
