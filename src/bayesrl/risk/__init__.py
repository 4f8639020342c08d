"""Chapter 6: risk. How badly may a policy do if the model is wrong, and which policy has a better guarantee.

Risk here is parametric: it comes from not knowing the model, and not from chance within one model. Every method takes a
belief. A policy is a table of probabilities (S, A). The return of a policy in a model is P0 . V, where P0 is the
distribution of the first state, or the expected total over `horizon` steps. Percentile 0 is the worst (ERRATA 12).
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.risk.frontier import Frontier as Frontier
    from bayesrl.risk.frontier import frontier as frontier
    from bayesrl.risk.k_of_n import KOfN as KOfN
    from bayesrl.risk.k_of_n import KOfNSolution as KOfNSolution
    from bayesrl.risk.k_of_n import k_of_n_iterations as k_of_n_iterations
    from bayesrl.risk.measure import Measure as Measure
    from bayesrl.risk.percentile import Percentile as Percentile
    from bayesrl.risk.percentile import PercentileSolution as PercentileSolution
    from bayesrl.risk.percentile_measure import PercentileMeasure as PercentileMeasure
    from bayesrl.risk.percentile_rewards import PercentileRewards as PercentileRewards
    from bayesrl.risk.percentile_rewards import PercentileRewardsSolution as PercentileRewardsSolution
    from bayesrl.risk.samples import value_samples as value_samples
    from bayesrl.risk.scenario_max_min import MaxMin as MaxMin
    from bayesrl.risk.scenario_max_min import ScenarioMaxMin as ScenarioMaxMin
    from bayesrl.risk.sigma_point_robust import SigmaPointRobust as SigmaPointRobust
    from bayesrl.risk.sigma_points import largest_beta as largest_beta
    from bayesrl.risk.sigma_points import sigma_points as sigma_points
    from bayesrl.risk.value_moments import Moments as Moments
    from bayesrl.risk.value_moments import value_moments as value_moments

export(
    __name__,
    {
        "frontier": ("Frontier", "frontier"),
        "measure": ("Measure",),
        "k_of_n": ("KOfN", "KOfNSolution", "k_of_n_iterations"),
        "percentile": ("Percentile", "PercentileSolution"),
        "percentile_measure": ("PercentileMeasure",),
        "percentile_rewards": ("PercentileRewards", "PercentileRewardsSolution"),
        "sigma_points": ("largest_beta", "sigma_points"),
        "sigma_point_robust": ("SigmaPointRobust",),
        "scenario_max_min": ("MaxMin", "ScenarioMaxMin"),
        "samples": ("value_samples",),
        "value_moments": ("Moments", "value_moments"),
    },
)
