"""Capabilities: small protocols, one for each thing that a planner may ask of a belief.

A planner's `needs` names the protocols; its `plan` uses them as types. `BayesAgent` refuses a belief that lacks one:

    class Exploit:
        needs: ClassVar = (HasMeanMDP,)
        def plan(self, belief: HasMeanMDP, ...) -> Decision: ...

A planner that needs several capabilities combines them in a protocol, next to its class:

    class BEBNeeds(HasMeanMDP, CountsPairs, Protocol):
        \"\"\"What BEB asks.\"\"\"

A belief offers a capability by having its members; it need not inherit from anything. Each name has one meaning and one
signature in the whole library (docs/notation.md), and `rng` comes last. Planners never test the class of a belief: the
belief itself answers every question on which beliefs differ. A planner tests for an optional capability by `offers`.

The pages stand by subject: `any_belief`, `mdp`, `hidden`, `arms`, `continuous`, `experts`. `checking` compares a belief
with what is asked. A protocol that one file alone asks stands in that file; this package has it all the same.

Arrays state their shapes: S states, A actions, G groups (unknown distributions), K outcomes or arms.
"""

from typing import TYPE_CHECKING, Any

from bayesrl._lazy import imported
from bayesrl.capabilities.any_belief import (
    Batches as Batches,
)
from bayesrl.capabilities.any_belief import (
    HasLogEvidence as HasLogEvidence,
)
from bayesrl.capabilities.any_belief import (
    LearnsLogs as LearnsLogs,
)
from bayesrl.capabilities.any_belief import (
    Refreshes as Refreshes,
)
from bayesrl.capabilities.any_belief import (
    Restarts as Restarts,
)
from bayesrl.capabilities.arms import (
    ArmPosteriors as ArmPosteriors,
)
from bayesrl.capabilities.arms import (
    ArmStates as ArmStates,
)
from bayesrl.capabilities.arms import (
    BestArm as BestArm,
)
from bayesrl.capabilities.arms import (
    CountsPlays as CountsPlays,
)
from bayesrl.capabilities.arms import (
    HasBestArm as HasBestArm,
)
from bayesrl.capabilities.arms import (
    HasMeans as HasMeans,
)
from bayesrl.capabilities.arms import (
    HasPrices as HasPrices,
)
from bayesrl.capabilities.arms import (
    HasQuantiles as HasQuantiles,
)
from bayesrl.capabilities.arms import (
    HasRewardDeviation as HasRewardDeviation,
)
from bayesrl.capabilities.arms import (
    HasVariances as HasVariances,
)
from bayesrl.capabilities.arms import (
    ListsArms as ListsArms,
)
from bayesrl.capabilities.arms import (
    ListsPosteriors as ListsPosteriors,
)
from bayesrl.capabilities.arms import (
    SamplesMeans as SamplesMeans,
)
from bayesrl.capabilities.arms import (
    TakesFeatures as TakesFeatures,
)
from bayesrl.capabilities.checking import (
    Needy as Needy,
)
from bayesrl.capabilities.checking import (
    demand as demand,
)
from bayesrl.capabilities.checking import (
    lacking as lacking,
)
from bayesrl.capabilities.checking import (
    members as members,
)
from bayesrl.capabilities.checking import (
    offers as offers,
)
from bayesrl.capabilities.checking import (
    reasons as reasons,
)
from bayesrl.capabilities.checking import (
    require as require,
)
from bayesrl.capabilities.continuous import (
    HasMeanSystem as HasMeanSystem,
)
from bayesrl.capabilities.experts import (
    FeatureRewards as FeatureRewards,
)
from bayesrl.capabilities.experts import (
    HasLinearRewards as HasLinearRewards,
)
from bayesrl.capabilities.experts import (
    RewardPrior as RewardPrior,
)
from bayesrl.capabilities.hidden import (
    HasMeanPOMDP as HasMeanPOMDP,
)
from bayesrl.capabilities.hidden import (
    HasStates as HasStates,
)
from bayesrl.capabilities.hidden import (
    PrefersActions as PrefersActions,
)
from bayesrl.capabilities.hidden import (
    SamplesPOMDPs as SamplesPOMDPs,
)
from bayesrl.capabilities.hidden import (
    SimulatesHidden as SimulatesHidden,
)
from bayesrl.capabilities.mdp import (
    CountsPairs as CountsPairs,
)
from bayesrl.capabilities.mdp import (
    Enumerates as Enumerates,
)
from bayesrl.capabilities.mdp import (
    ExactRow as ExactRow,
)
from bayesrl.capabilities.mdp import (
    ExactRows as ExactRows,
)
from bayesrl.capabilities.mdp import (
    GroupsVisits as GroupsVisits,
)
from bayesrl.capabilities.mdp import (
    HasCertainPairs as HasCertainPairs,
)
from bayesrl.capabilities.mdp import (
    HasDirichletRows as HasDirichletRows,
)
from bayesrl.capabilities.mdp import (
    HasMeanMDP as HasMeanMDP,
)
from bayesrl.capabilities.mdp import (
    HasOptimisticRewards as HasOptimisticRewards,
)
from bayesrl.capabilities.mdp import (
    HasPairMoments as HasPairMoments,
)
from bayesrl.capabilities.mdp import (
    HasRewardMoments as HasRewardMoments,
)
from bayesrl.capabilities.mdp import (
    HasRewardRange as HasRewardRange,
)
from bayesrl.capabilities.mdp import (
    HasRewardVariance as HasRewardVariance,
)
from bayesrl.capabilities.mdp import (
    HasRowCovariance as HasRowCovariance,
)
from bayesrl.capabilities.mdp import (
    HasRowQuantiles as HasRowQuantiles,
)
from bayesrl.capabilities.mdp import (
    HasRowVariance as HasRowVariance,
)
from bayesrl.capabilities.mdp import (
    KnowsRewards as KnowsRewards,
)
from bayesrl.capabilities.mdp import (
    ListsActions as ListsActions,
)
from bayesrl.capabilities.mdp import (
    ListsExactRows as ListsExactRows,
)
from bayesrl.capabilities.mdp import (
    ListsMDPs as ListsMDPs,
)
from bayesrl.capabilities.mdp import (
    ListsOutcomes as ListsOutcomes,
)
from bayesrl.capabilities.mdp import (
    ListsStates as ListsStates,
)
from bayesrl.capabilities.mdp import (
    Predictive as Predictive,
)
from bayesrl.capabilities.mdp import (
    SamplesMDPs as SamplesMDPs,
)
from bayesrl.capabilities.mdp import (
    SharesSupport as SharesSupport,
)
from bayesrl.capabilities.mdp import (
    Simulates as Simulates,
)

BESIDE_THEIR_USERS = {
    "HasInverseRewardCounts": "bayesrl.bamdp.optimism.beb",
    "BoundsBestRewards": "bayesrl.bamdp.optimism.pot",
    "SamplesShortRows": "bayesrl.bamdp.sampling.merged_models",
    "NamesOutcomes": "bayesrl.bamdp.search.bamcp",
    "MergesReplicates": "bayesrl.bandits.bayes_optimal_bandit",
    "KnowsUniform": "bayesrl.bandits.bounds_of_world",
    "LinearInFeatures": "bayesrl.bandits.bounds_of_world",
    "ListsArmModels": "bayesrl.bandits.bounds_of_world",
    "HasArmStates": "bayesrl.bandits.gittins",
    "HasBetaArms": "bayesrl.beliefs.arms._problems",
    "ListsHyperStates": "bayesrl.bapomdp.ba_pomcp",
    "Fades": "bayesrl.beliefs.arms.forgetting",
    "DrawsObservations": "bayesrl.continuous.continuous_forward_search",
    "GrowsTrees": "bayesrl.continuous.continuous_forward_search",
    "RewardsStates": "bayesrl.continuous.continuous_forward_search",
    "Thins": "bayesrl.continuous.continuous_forward_search",
    "HasRewardFunction": "bayesrl.continuous.gp_sparse_sampling",
    "SamplesSystems": "bayesrl.continuous.lazy_psrl",
    "KeepsTrajectories": "bayesrl.inverse.em_irl",
    "HasDemonstrations": "bayesrl.inverse.map_birl",
}
"""Protocols that one file alone asks, and that file. Type checkers read them there."""
__all__ = [name for name, thing in globals().items() if getattr(thing, "__module__", "").startswith(__name__ + ".")]
__all__ += BESIDE_THEIR_USERS

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A protocol that stands beside its user; this package lies below all users, so it imports none of them."""
        if name in BESIDE_THEIR_USERS:
            return getattr(imported(BESIDE_THEIR_USERS[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
