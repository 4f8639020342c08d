"""Section 4.8: continuous states. Beliefs about dynamics and noise, and planners that steer while they learn."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs import GPDynamics

__all__ = ["GPDynamics"]

if TYPE_CHECKING:
    from bayesrl.continuous.gp_pomdp import GPPOMDP as GPPOMDP
    from bayesrl.continuous.gp_sparse_sampling import GPSparseSampling as GPSparseSampling
    from bayesrl.continuous.normal_wishart_dynamics import NormalWishartDynamics as NormalWishartDynamics

export(
    __name__,
    {
        "gp_pomdp": ("GPPOMDP",),
        "gp_sparse_sampling": ("GPSparseSampling",),
        "normal_wishart_dynamics": ("NormalWishartDynamics",),
    },
)
