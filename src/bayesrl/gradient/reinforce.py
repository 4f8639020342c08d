"""REINFORCE (Williams 1992; survey §5.2): the Monte-Carlo policy gradient, the baseline of this chapter.

    gradient = mean over paths of (rho - baseline) u

with u the score of the path, rho its discounted return, and the baseline 0 or the average return. The average return of
the same M paths shrinks the estimate by (M - 1)/M in expectation. Deviations: none. Cost: O(n) for a step of a path.
Claims: the estimate by hand; unbiased without a baseline.
"""

from collections.abc import Iterable
from typing import Annotated

import numpy as np

from bayesrl.checks import Floats, number, truth
from bayesrl.core import DifferentiablePolicy, Transition
from bayesrl.gradient._improve import Improved, improve
from bayesrl.gradient._learner import Learning, MonteCarlo, scores_and_returns
from bayesrl.gradient._paths import Path, paths_of
from bayesrl.gradient.bayesian_gradient import Gradient, Whitened
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import declared
from bayesrl.registry import register


def reinforce_gradient(
    transitions: Iterable[Transition], policy: DifferentiablePolicy, gamma: float = 1.0, baseline: bool = False
) -> Floats:
    """The Monte-Carlo estimate of the policy gradient from episodes, shape (n,).

    With `baseline` the average return is subtracted from returns.

    >>> policy = SoftmaxPolicy.tabular(1, 2)
    >>> steps = [Transition(0, 0, 1.0, 0, terminated=True), Transition(0, 1, 3.0, 0, terminated=True)]
    >>> reinforce_gradient(steps, policy).tolist()
    [-0.5, 0.5]
    """
    gamma = number("reinforce_gradient", "gamma", gamma, 0.0, 1.0)
    truth("reinforce_gradient", "baseline", baseline)
    return monte_carlo(tuple(paths_of("reinforce_gradient", transitions, policy)), gamma, baseline)


def monte_carlo(paths: tuple[Path, ...], gamma: float, baseline: bool) -> Floats:
    """The same from paths."""
    U, rho = scores_and_returns(paths, gamma)
    return np.asarray((rho - (rho.mean() if baseline else 0.0)) @ U / len(rho))


def without_error_bars(mean: Floats, G: Floats) -> Gradient:
    """A gradient that comes without a covariance."""
    white = Whitened.by("policy gradient", G, len(mean))
    return Gradient(mean, np.zeros_like(G), white.root @ (white.root.T @ mean))


@register(
    "reinforce",
    kind="agent",
    survey="5.2",
    paper="Williams92SS",
    example=lambda: REINFORCE(policy=SoftmaxPolicy.tabular(2, 2)),
    evidence=(
        "tests/gradient/test_baselines.py::test_reinforce_by_hand",
        "tests/gradient/test_baselines.py::test_estimates_are_unbiased",
        "tests/gradient/test_agents.py::test_agents_improve",
    ),
)
@declared
class REINFORCE(MonteCarlo):
    """Monte-Carlo policy gradient, with or without the average return as a baseline.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = REINFORCE(paths=5, gamma=world.gamma, policy=SoftmaxPolicy.tabular(5, 2))
    >>> print(b.run(agent, world, steps=200, horizon=20, keep=("updates",)).updates.max())
    1
    """

    baseline: Annotated[bool, "Whether the average return is subtracted from returns."] = True

    def _improve(self, mind: Learning, paths: tuple[Path, ...], G: Floats) -> Improved:
        """The Monte-Carlo estimate, and a step."""
        gradient = without_error_bars(monte_carlo(paths, self.gamma, self.baseline), G)
        return improve(self, mind.policy, gradient, G, mind.updates, mind.search)
