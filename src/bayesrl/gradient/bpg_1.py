"""Bayesian policy gradient, model 1 (Ghavamzadeh and Engel 2006; survey §5.2.2).

After every M paths the posterior of the gradient under model 1 of `bayesian_gradient.py` moves the policy. The Gaussian
process is on rho(xi) u(xi), with the quadratic Fisher kernel.

Choices where the survey leaves them open: the prior mean of returns is the average of the batch; the information comes
from the steps of present and past paths; G^-1 is the pseudo-inverse, and b_0 = 1 + rank G. Cost: O(M^3) for an update
of M paths. Claims: b and b_0 are the integrals they stand for; squared error below Monte Carlo's on the chains of the
tests (not where returns are mostly luck and `noise` is small: docs/gradients.md); the published bandit.
"""

from typing import ClassVar, Literal

from bayesrl.gradient._bpg import BPG
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import declared
from bayesrl.registry import register


@register(
    "bpg-1",
    kind="agent",
    survey="5.2",
    paper="Ghavamzadeh06BP",
    example=lambda: BPG1(policy=SoftmaxPolicy.tabular(2, 2)),
    evidence=(
        "tests/gradient/test_bpg.py::test_the_integrals_of_both_models",
        "tests/gradient/test_bpg.py::test_model_1_is_below_monte_carlo",
        "tests/gradient/test_bpg.py::test_the_published_bandit",
        "tests/gradient/test_agents.py::test_an_update_by_hand",
        "tests/gradient/test_agents.py::test_agents_improve",
    ),
)
@declared
class BPG1(BPG):
    """Policy gradient with error bars: quadrature of returns times scores.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = BPG1(paths=5, gamma=world.gamma, policy=SoftmaxPolicy.tabular(5, 2))
    >>> print(b.run(agent, world, steps=200, horizon=20, keep=("updates",)).updates.max())
    1
    """

    model: ClassVar[Literal[1, 2]] = 1
