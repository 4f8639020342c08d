"""Section 4.8: continuous states. Beliefs about dynamics and noise, and planners that steer while they learn."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs.continuous.gp_dynamics import GPDynamics
from bayesrl.beliefs.continuous.linear_gaussian_dynamics import LinearGaussianDynamics
from bayesrl.models._riccati import LQSolution, lq_solution

if TYPE_CHECKING:
    from bayesrl.continuous.certainty_equivalence import CertaintyEquivalence as CertaintyEquivalence
    from bayesrl.continuous.continuous_forward_search import ContinuousForwardSearch as ContinuousForwardSearch
    from bayesrl.continuous.gp_pomdp import GPPOMDP as GPPOMDP
    from bayesrl.continuous.gp_sparse_sampling import GPSparseSampling as GPSparseSampling
    from bayesrl.continuous.lazy_psrl import LazyPSRL as LazyPSRL
    from bayesrl.continuous.normal_wishart_dynamics import NormalWishartDynamics as NormalWishartDynamics

__all__ = ["GPDynamics", "LQSolution", "LinearGaussianDynamics", "lq_solution"]

export(
    __name__,
    {
        "gp_pomdp": ("GPPOMDP",),
        "certainty_equivalence": ("CertaintyEquivalence",),
        "continuous_forward_search": ("ContinuousForwardSearch",),
        "gp_sparse_sampling": ("GPSparseSampling",),
        "lazy_psrl": ("LazyPSRL",),
        "normal_wishart_dynamics": ("NormalWishartDynamics",),
    },
)
