"""Chapter 7.2: inverse reinforcement learning. What does an expert want, given what it did?

The dynamics are known. A belief is about the weights w of the rewards R(s, a) = w . phi(s, a), which are paid in the
current state. Data are demonstrations: pairs of a state and the expert's action in it.
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export
from bayesrl.beliefs.rewards.reward_priors import FinitePrior, GaussianPrior, LaplacePrior, UniformPrior

if TYPE_CHECKING:
    from bayesrl.beliefs.rewards.birl import BIRL as BIRL
    from bayesrl.beliefs.rewards.bnirl import BNIRL as BNIRL
    from bayesrl.beliefs.rewards.dpm_birl import DPMBIRL as DPMBIRL
    from bayesrl.beliefs.rewards.langevin import langevin as langevin
    from bayesrl.beliefs.rewards.modified_birl import ModifiedBIRL as ModifiedBIRL
    from bayesrl.beliefs.rewards.multitask_birl import MultitaskBIRL as MultitaskBIRL
    from bayesrl.inverse.boltzmann import boltzmann_log_likelihood as boltzmann_log_likelihood
    from bayesrl.inverse.boltzmann import boltzmann_q as boltzmann_q
    from bayesrl.inverse.em_irl import EMIRL as EMIRL
    from bayesrl.inverse.experts import demonstrate as demonstrate
    from bayesrl.inverse.experts import value_loss as value_loss
    from bayesrl.inverse.map_birl import MAPBIRL as MAPBIRL

__all__ = ["FinitePrior", "GaussianPrior", "LaplacePrior", "UniformPrior"]

export(
    __name__,
    {
        "boltzmann": ("boltzmann_log_likelihood", "boltzmann_q"),
        "experts": ("demonstrate", "value_loss"),
        "em_irl": ("EMIRL",),
        "map_birl": ("MAPBIRL",),
    },
    elsewhere={
        "bayesrl.beliefs.rewards.langevin": ("langevin",),
        "bayesrl.beliefs.rewards.bnirl": ("BNIRL",),
        "bayesrl.beliefs.rewards.birl": ("BIRL",),
        "bayesrl.beliefs.rewards.modified_birl": ("ModifiedBIRL",),
        "bayesrl.beliefs.rewards.dpm_birl": ("DPMBIRL",),
        "bayesrl.beliefs.rewards.multitask_birl": ("MultitaskBIRL",),
    },
)
