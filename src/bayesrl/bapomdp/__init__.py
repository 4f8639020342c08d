"""Chapter 4.9: planners and agents for POMDPs whose model is unknown, one method per file."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.bapomdp.action_oracle import ActionOracle as ActionOracle
    from bayesrl.bapomdp.answers import after_answer as after_answer
    from bayesrl.bapomdp.answers import after_confirmation as after_confirmation
    from bayesrl.bapomdp.answers import risk_samples as risk_samples
    from bayesrl.bapomdp.ba_pomcp import BAPOMCP as BAPOMCP
    from bayesrl.bapomdp.bapomdp_branch_and_bound import BAPOMDPBranchAndBound as BAPOMDPBranchAndBound
    from bayesrl.bapomdp.bapomdp_forward_search import BAPOMDPForwardSearch as BAPOMDPForwardSearch
    from bayesrl.bapomdp.bayes_risk import BayesRisk as BayesRisk
    from bayesrl.bapomdp.bayes_risk import bayes_risk as bayes_risk
    from bayesrl.bapomdp.count_bounds import bounded_error as bounded_error
    from bayesrl.bapomdp.count_bounds import value_difference_bound as value_difference_bound
    from bayesrl.bapomdp.medusa import Medusa as Medusa
    from bayesrl.bapomdp.policy_prior_search import PolicyPriorSearch as PolicyPriorSearch
    from bayesrl.bapomdp.pomcp import POMCP as POMCP
    from bayesrl.bapomdp.sampled_pomdps import SampledPOMDPs as SampledPOMDPs

export(
    __name__,
    {
        "answers": ("after_answer", "after_confirmation", "risk_samples"),
        "action_oracle": ("ActionOracle",),
        "ba_pomcp": ("BAPOMCP",),
        "bayes_risk": ("BayesRisk", "bayes_risk"),
        "medusa": ("Medusa",),
        "count_bounds": ("bounded_error", "value_difference_bound"),
        "bapomdp_branch_and_bound": ("BAPOMDPBranchAndBound",),
        "bapomdp_forward_search": ("BAPOMDPForwardSearch",),
        "policy_prior_search": ("PolicyPriorSearch",),
        "pomcp": ("POMCP",),
        "sampled_pomdps": ("SampledPOMDPs",),
    },
)
