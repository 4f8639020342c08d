"""Chapter 7.2: inverse reinforcement learning. What does an expert want, given what it did?

The dynamics are known. A belief is about the weights w of the rewards R(s, a) = w . phi(s, a), which are paid in the
current state. Data are demonstrations: pairs of a state and the expert's action in it.
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs._reward_priors import FinitePrior, GaussianPrior, LaplacePrior, UniformPrior

if TYPE_CHECKING:
    from bayesrl.inverse._boltzmann import boltzmann_log_likelihood as boltzmann_log_likelihood
    from bayesrl.inverse._boltzmann import boltzmann_q as boltzmann_q
    from bayesrl.inverse._experts import demonstrate as demonstrate
    from bayesrl.inverse._experts import value_loss as value_loss
    from bayesrl.inverse._langevin import langevin as langevin
    from bayesrl.inverse.birl import BIRL as BIRL
    from bayesrl.inverse.bnirl import BNIRL as BNIRL
    from bayesrl.inverse.dpm_birl import DPMBIRL as DPMBIRL
    from bayesrl.inverse.em_irl import EMIRL as EMIRL
    from bayesrl.inverse.map_birl import MAPBIRL as MAPBIRL
    from bayesrl.inverse.modified_birl import ModifiedBIRL as ModifiedBIRL
    from bayesrl.inverse.multitask_birl import MultitaskBIRL as MultitaskBIRL

__all__ = ["FinitePrior", "GaussianPrior", "LaplacePrior", "UniformPrior"]

export(
    __name__,
    {
        "_boltzmann": ("boltzmann_log_likelihood", "boltzmann_q"),
        "_experts": ("demonstrate", "value_loss"),
        "_langevin": ("langevin",),
        "bnirl": ("BNIRL",),
        "birl": ("BIRL",),
        "modified_birl": ("ModifiedBIRL",),
        "em_irl": ("EMIRL",),
        "map_birl": ("MAPBIRL",),
        "dpm_birl": ("DPMBIRL",),
        "multitask_birl": ("MultitaskBIRL",),
    },
)
