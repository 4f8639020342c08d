"""Chapters 5.2 and 5.3: beliefs about policy gradients, and agents that follow them. Policies live in `models`."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.models.policy import GaussianPolicy, SoftmaxPolicy

if TYPE_CHECKING:
    from bayesrl.gradient.actor_critic import ActorCritic as ActorCritic
    from bayesrl.gradient.bac import BAC as BAC
    from bayesrl.gradient.bac import bac as bac
    from bayesrl.gradient.bayesian_gradient import Gradient as Gradient
    from bayesrl.gradient.bayesian_gradient import bpg as bpg
    from bayesrl.gradient.bayesian_quadrature import GaussianMeasure as GaussianMeasure
    from bayesrl.gradient.bayesian_quadrature import Integral as Integral
    from bayesrl.gradient.bayesian_quadrature import UniformMeasure as UniformMeasure
    from bayesrl.gradient.bayesian_quadrature import bayesian_quadrature as bayesian_quadrature
    from bayesrl.gradient.bpg_1 import BPG1 as BPG1
    from bayesrl.gradient.bpg_2 import BPG2 as BPG2
    from bayesrl.gradient.bpg_hessian import BPGHessian as BPGHessian
    from bayesrl.gradient.bpg_hessian import bpg_hessian as bpg_hessian
    from bayesrl.gradient.fisher import fisher_information as fisher_information
    from bayesrl.gradient.gpomdp import GPOMDP as GPOMDP
    from bayesrl.gradient.gpomdp import gpomdp_gradient as gpomdp_gradient
    from bayesrl.gradient.reinforce import REINFORCE as REINFORCE
    from bayesrl.gradient.reinforce import reinforce_gradient as reinforce_gradient

__all__ = ["GaussianPolicy", "SoftmaxPolicy"]

export(
    __name__,
    {
        "bayesian_gradient": ("Gradient", "bpg"),
        "fisher": ("fisher_information",),
        "actor_critic": ("ActorCritic",),
        "bac": ("BAC", "bac"),
        "bayesian_quadrature": ("GaussianMeasure", "Integral", "UniformMeasure", "bayesian_quadrature"),
        "bpg_1": ("BPG1",),
        "bpg_2": ("BPG2",),
        "bpg_hessian": ("BPGHessian", "bpg_hessian"),
        "gpomdp": ("GPOMDP", "gpomdp_gradient"),
        "reinforce": ("REINFORCE", "reinforce_gradient"),
    },
)
