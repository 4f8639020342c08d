"""Section 4.8: continuous states. Beliefs about dynamics and noise, and planners that steer while they learn."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs.dynamics.gp_dynamics import GPDynamics
from bayesrl.beliefs.dynamics.linear_gaussian_dynamics import LinearGaussianDynamics
from bayesrl.models.riccati import LQSolution, lq_solution

if TYPE_CHECKING:
    from bayesrl.beliefs.dynamics.gp_pomdp import GPPOMDP as GPPOMDP
    from bayesrl.beliefs.dynamics.normal_wishart_dynamics import NormalWishartDynamics as NormalWishartDynamics
    from bayesrl.continuous.certainty_equivalence import CertaintyEquivalence as CertaintyEquivalence
    from bayesrl.continuous.continuous_forward_search import ContinuousForwardSearch as ContinuousForwardSearch
    from bayesrl.continuous.gp_sparse_sampling import GPSparseSampling as GPSparseSampling
    from bayesrl.continuous.lazy_psrl import LazyPSRL as LazyPSRL

__all__ = ["GPDynamics", "LQSolution", "LinearGaussianDynamics", "lq_solution"]

export(
    __name__,
    {
        "certainty_equivalence": ("CertaintyEquivalence",),
        "continuous_forward_search": ("ContinuousForwardSearch",),
        "gp_sparse_sampling": ("GPSparseSampling",),
        "lazy_psrl": ("LazyPSRL",),
    },
    elsewhere={
        "bayesrl.beliefs.dynamics.gp_pomdp": ("GPPOMDP",),
        "bayesrl.beliefs.dynamics.normal_wishart_dynamics": ("NormalWishartDynamics",),
    },
)
