"""Bayesian policy gradient, model 2 (Ghavamzadeh and Engel 2006; survey §5.2.2).

After every M paths the posterior of the gradient under model 2 of `bayesian_gradient.py` moves the policy. The Gaussian
process is on the return rho(xi), with the linear Fisher kernel: Bayesian regression of returns on scores.

Choices where the survey leaves them open: the prior mean of returns is the average of the batch, because the kernel
takes a constant for noise; the information G comes from the steps of present and past paths; G^-1 is the
pseudo-inverse. With a G of the M paths alone the posterior mean would be the Monte-Carlo estimate times M / (M +
sigma^2). Cost: O(n^2 M) for an update with n
parameters. Claims: the integrals; that identity; squared error below that of Monte Carlo with a baseline; calibrated.
"""

from typing import ClassVar, Literal

from bayesrl.gradient._bpg import BPG
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import declared
from bayesrl.registry import register


@register(
    "bpg-2",
    kind="agent",
    survey="5.2",
    paper="Ghavamzadeh06BP",
    example=lambda: BPG2(policy=SoftmaxPolicy.tabular(2, 2)),
    evidence=(
        "tests/gradient/test_bpg.py::test_the_integrals_of_both_models",
        "tests/gradient/test_bpg.py::test_model_2_with_offset_is_below_the_baseline",
        "tests/gradient/test_bpg.py::test_model_2_on_its_own_information_is_monte_carlo",
        "tests/gradient/test_agents.py::test_an_update_by_hand",
        "tests/gradient/test_agents.py::test_agents_improve",
    ),
)
@declared
class BPG2(BPG):
    """Policy gradient with error bars: regression of returns on scores.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = BPG2(paths=5, gamma=world.gamma, policy=SoftmaxPolicy.tabular(5, 2))
    >>> print(b.run(agent, world, steps=200, horizon=20, keep=("updates",)).updates.max())
    1
    """

    model: ClassVar[Literal[1, 2]] = 2
