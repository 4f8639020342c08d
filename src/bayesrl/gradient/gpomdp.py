"""GPOMDP (Baxter and Bartlett 2001; survey §5.2): a reward is credited to the actions before it.

    gradient = mean over paths of sum_t gamma^t r_t sum_k<=t trace^(t-k) u_k

A reward cannot depend on later actions, so leaving those out removes variance and no mean. A trace below 1 forgets
early actions: less variance, and a bias. Deviations: paths are episodes with discounted rewards, as everywhere in this
chapter; the paper has one endless path and average reward. Cost: O(n) for a step of a path. Claims: the estimate by
hand; unbiased with trace 1.
"""

from collections.abc import Iterable
from typing import Annotated

import numpy as np

from bayesrl.checks import Floats, number
from bayesrl.core import DifferentiablePolicy, Transition
from bayesrl.gradient._improve import Improved, improve
from bayesrl.gradient._learner import Learning, MonteCarlo
from bayesrl.gradient._paths import Path, paths_of
from bayesrl.gradient.reinforce import without_error_bars
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import PROBABILITY, declared
from bayesrl.registry import register


def gpomdp_gradient(
    transitions: Iterable[Transition], policy: DifferentiablePolicy, gamma: float = 1.0, trace: float = 1.0
) -> Floats:
    """The policy gradient from episodes, each reward credited to the actions before it, shape (n,).

    >>> policy = SoftmaxPolicy.tabular(1, 2)
    >>> steps = [Transition(0, 0, 1.0, 0), Transition(0, 1, 3.0, 0, terminated=True)]
    >>> gpomdp_gradient(steps, policy).tolist()
    [0.5, -0.5]
    """
    gamma = number("gpomdp_gradient", "gamma", gamma, 0.0, 1.0)
    trace = number("gpomdp_gradient", "trace", trace, 0.0, 1.0)
    return credited(tuple(paths_of("gpomdp_gradient", transitions, policy)), gamma, trace)


def credited(paths: tuple[Path, ...], gamma: float, trace: float) -> Floats:
    """The same from paths."""
    total = np.zeros(paths[0].scores.shape[1])
    for path in paths:
        z = np.zeros_like(total)
        for t, (u, r) in enumerate(zip(path.scores, path.rewards, strict=True)):
            z = trace * z + u
            total += gamma**t * r * z
    return total / len(paths)


@register(
    "gpomdp",
    kind="agent",
    survey="5.2",
    paper="Baxter01IP",
    example=lambda: GPOMDP(policy=SoftmaxPolicy.tabular(2, 2)),
    evidence=(
        "tests/gradient/test_baselines.py::test_gpomdp_by_hand",
        "tests/gradient/test_baselines.py::test_estimates_are_unbiased",
        "tests/gradient/test_agents.py::test_agents_improve",
    ),
)
@declared
class GPOMDP(MonteCarlo):
    """Monte-Carlo policy gradient with eligibility traces of scores.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = GPOMDP(paths=5, gamma=world.gamma, policy=SoftmaxPolicy.tabular(5, 2))
    >>> print(b.run(agent, world, steps=200, horizon=20, keep=("updates",)).updates.max())
    1
    """

    trace: Annotated[float, PROBABILITY, "Decay of the credit of earlier actions."] = 1.0

    def _improve(self, mind: Learning, paths: tuple[Path, ...], G: Floats) -> Improved:
        """The estimate, and a step."""
        gradient = without_error_bars(credited(paths, self.gamma, self.trace), G)
        return improve(self, mind.policy, gradient, G, mind.updates, mind.search)
