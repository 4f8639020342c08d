"""Capabilities: small protocols, one for each thing that a planner may ask of a belief.

A planner's `needs` names the protocols; its `plan` uses them as types. `BayesAgent` refuses a belief that lacks one:

    class Exploit:
        needs: ClassVar = (HasMeanMDP,)
        def plan(self, belief: HasMeanMDP, ...) -> Decision: ...

A planner that needs several capabilities combines them in a protocol, next to its class:

    class Asked(HasMeanMDP, CountsPairs, Protocol):
        \"\"\"What BEB asks.\"\"\"

A belief offers a capability by having its members; it need not inherit from anything. Each name has one meaning and one
signature in the whole library (docs/notation.md), and `rng` comes last. Planners never test the class of a belief: the
belief itself answers every question on which beliefs differ. A planner tests for an optional capability by `offers`.

Arrays state their shapes: S states, A actions, G groups (unknown distributions), K outcomes or arms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

from bayesrl.errors import BrokenContract, Incompatible
from bayesrl.traits import traits_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray
    from typing_extensions import TypeIs

    from bayesrl.beliefs._reward_priors import RewardPrior
    from bayesrl.beliefs.arms._best_arm import BestArm
    from bayesrl.beliefs.arms._states import ArmPosteriors, ArmStates
    from bayesrl.core import Planner, Transition
    from bayesrl.kernels.counts import Counts
    from bayesrl.kernels.simulator import Simulator
    from bayesrl.models.mdp import TabularMDP
    from bayesrl.models.outcomes import Outcomes
    from bayesrl.models.pomdp import TabularPOMDP

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]
    Bools = NDArray[np.bool_]

C = TypeVar("C")


# Any belief ----------------------------------------------------------------------------------------------------------


@runtime_checkable
class Restarts(Protocol):
    """A belief over a hidden, moving state."""

    def restart(self) -> Self:
        """The belief at the start of a new episode: it forgets the state and keeps the posterior of the parameters."""


@runtime_checkable
class Refreshes(Protocol):
    """A belief whose posterior is recomputed on request, not at every update."""

    def refresh(self, rng: Generator, sweeps: int = 1) -> Self:
        """The belief after `sweeps` sweeps of its sampler."""


@runtime_checkable
class Batches(Protocol):
    """A belief that can hold many replicates, for runs in lockstep."""

    def batch(self, replicates: int) -> Self:
        """The belief repeated `replicates` times. Arrays get a first axis of that length."""


@runtime_checkable
class LearnsLogs(Protocol):
    """A belief that can learn from a whole log at once, which is faster than step by step."""

    def update_many(self, log: Any, rng: Generator | None = None) -> Self:
        """The posterior after a log, oldest step first (`beliefs/_log.py`)."""


@runtime_checkable
class HasLogEvidence(Protocol):
    """A belief with the marginal likelihood of its data."""

    def log_evidence(self) -> Any:
        """Log probability of the data under the prior; one number for each replicate."""


# Finite MDPs ---------------------------------------------------------------------------------------------------------


@runtime_checkable
class ListsActions(Protocol):
    """A belief about a problem whose actions are numbered from 0."""

    @property
    def n_actions(self) -> int:
        """A."""


@runtime_checkable
class ListsStates(Protocol):
    """A belief about an MDP whose states and actions are numbered from 0."""

    @property
    def n_states(self) -> int:
        """S."""

    @property
    def n_actions(self) -> int:
        """A."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""


@runtime_checkable
class ListsOutcomes(ListsStates, Protocol):
    """A belief about an MDP whose possible outcomes are known."""

    @property
    def outcomes(self) -> Outcomes:
        """The possible outcomes of each action in each state, and their groups."""


@runtime_checkable
class SamplesMDPs(ListsStates, Protocol):
    """A belief from which whole models can be drawn."""

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief."""


@runtime_checkable
class ListsMDPs(ListsStates, Protocol):
    """A belief over finitely many models."""

    @property
    def models(self) -> tuple[TabularMDP, ...]:
        """The models."""

    def posterior(self) -> Floats:
        """The probability of each model, (N,)."""


@runtime_checkable
class HasMeanMDP(ListsStates, Protocol):
    """A belief with a mean model."""

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities (and unknown rewards) are the posterior means."""


@runtime_checkable
class CountsPairs(Protocol):
    """A belief that counts transitions of each pair (s, a)."""

    def counts(self) -> Floats:
        """Total count of each (s, a), including prior pseudo-counts, (S, A); infinite if the row is known."""


@runtime_checkable
class HasRowVariance(Protocol):
    """A belief with posterior variances of transition probabilities."""

    def row_variance(self) -> Floats:
        """Posterior variance of the probability of each outcome of each group, (G, K); zero if it is known."""


@runtime_checkable
class HasRowCovariance(ListsOutcomes, Protocol):
    """A belief with independent groups, whose posterior covariances are known."""

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities (and unknown rewards) are the posterior means."""

    def row_covariance(self) -> Floats:
        """Posterior covariance of the probabilities of each group's outcomes, (G, K, K); zero if they are known."""


@runtime_checkable
class HasRewardMoments(ListsOutcomes, Protocol):
    """A belief over expected rewards alone: transitions are known, and the rewards of pairs are jointly Gaussian."""

    def mean_mdp(self) -> TabularMDP:
        """The model whose rewards are the posterior means."""

    def reward_moments(self) -> tuple[Floats, Floats]:
        """Mean (S, A) and covariance (S A, S A) of the expected rewards; pair (s, a) has index s A + a."""


@runtime_checkable
class HasRowQuantiles(ListsOutcomes, Protocol):
    """A belief with posterior quantiles of transition probabilities."""

    def row_quantile(self, p: float, state: int, action: int) -> Floats:
        """The p-quantile of the probability of each outcome of (s, a), in the order of `outcomes`."""


@runtime_checkable
class HasRewardRange(Protocol):
    """A belief that bounds the reward of a step."""

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step; infinite if there is no bound."""


@runtime_checkable
class KnowsRewards(Protocol):
    """A belief that says whether rewards are known."""

    @property
    def rewards_known(self) -> bool:
        """Whether drawn models list every possible reward; otherwise they hold mean rewards."""


@runtime_checkable
class GroupsVisits(Protocol):
    """A belief that says which pairs are learnt together."""

    def visit_groups(self) -> Ints:
        """The index of each pair's visit counter, (S, A). Pairs with the same unknown distributions share a counter."""


@runtime_checkable
class HasCertainPairs(Protocol):
    """A belief that says which pairs are known."""

    def certain_pairs(self) -> Bools:
        """Whether both the transitions and the rewards of each pair are known, (S, A)."""


@runtime_checkable
class HasInverseRewardCounts(Protocol):
    """A belief that counts the rewards that it has seen."""

    def inverse_reward_counts(self) -> Floats:
        """E[1 / (1 + n)] of each pair, (S, A); zero if rewards are known.

        Here n is the number of rewards seen with the next outcome, including prior pseudo-counts.
        """


@runtime_checkable
class HasRewardVariance(Protocol):
    """A belief about expected rewards of pairs."""

    def reward_variance(self, rows: Floats | None = None) -> Floats:
        """Posterior variance of the expected reward R(s, a), (S, A), due to unknown rows and unknown rewards.

        `rows` is the belief's `row_variance()`, if the caller has computed it already.
        """


@runtime_checkable
class HasPairMoments(Protocol):
    """A belief with posterior moments of the parameters of each pair."""

    def pair_means(self) -> Floats:
        """Posterior means of the unknown parameters of each pair, (S, A, n): probabilities, then mean rewards."""

    def pair_variances(self) -> Floats:
        """Their posterior variances, in the same order, (S, A, n)."""


@runtime_checkable
class HasOptimisticRewards(HasMeanMDP, Protocol):
    """A belief that can add pseudo-observations of the largest reward."""

    def optimistic_mdp(self, extra: Floats | float) -> TabularMDP:
        """The mean model after `extra` pseudo-observations of the largest reward in each cell of unknown rewards.

        If rewards are known, or have no largest value, this is the mean model.
        """


@runtime_checkable
class BoundsBestRewards(Protocol):
    """A belief that bounds how probable the largest reward is."""

    def best_reward_share(self, deviations: float) -> Floats:
        """Mean plus `deviations` standard deviations of the probability of the largest reward in each cell, at most 1.

        If rewards are known, or have no largest value, this is an array with the single entry 1.
        """


@runtime_checkable
class HasDirichletRows(ListsOutcomes, Protocol):
    """A belief whose groups are independent Dirichlet distributions, some of them known."""

    @property
    def alpha(self) -> Floats:
        """Dirichlet counts of the outcomes of each group, (G, K), zero on padding; probabilities if it is known."""

    @property
    def known(self) -> Bools:
        """Which groups are known, (G,)."""


@runtime_checkable
class SharesSupport(Protocol):
    """A belief that says whether all its models have the same support."""

    @property
    def same_support(self) -> bool:
        """Whether every drawn model gives a positive probability to the same outcomes as the mean model."""


@runtime_checkable
class SamplesShortRows(ListsOutcomes, Protocol):
    """A belief that can draw single rows as short lists of outcomes, for models with many states."""

    @property
    def draws_short_rows(self) -> bool:
        """Whether a drawn row has far fewer outcomes than there are states."""

    def sample_rows(self, groups: Ints, rng: Generator) -> tuple[Ints, Ints, Floats]:
        """Draw the rows of n groups as lists of at most L outcomes.

        Returns the lengths of the lists (n,), the outcomes (n, L) and their probabilities (n, L).
        """


# Search --------------------------------------------------------------------------------------------------------------


@runtime_checkable
class Simulates(Protocol):
    """A belief that compiled searches can simulate. A search represents every state by an integer."""

    @property
    def n_actions(self) -> int:
        """A."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def numbered_states(self) -> int:
        """The number of states if they are numbered from 0; 0 if they cannot be listed."""

    def encode(self, observation: Any, owner: str = "encode") -> int:
        """The integer that represents the observed state in compiled code. An error names the `owner` of the call."""

    def is_terminal(self, state: int) -> bool:
        """Whether an encoded state ends the episode."""

    def simulate(self, depth: int) -> Simulator:
        """The belief as a compiled simulator for at most `depth` steps (`kernels/simulator.py`)."""


@runtime_checkable
class NamesOutcomes(Protocol):
    """A belief that can identify a transition among the outcomes of its simulator."""

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in the simulator."""


@runtime_checkable
class Enumerates(ListsStates, Protocol):
    """A belief whose outcomes and their probabilities can be enumerated after any history."""

    def enumerable(self, depth: int) -> Counts:
        """The belief as counts, which a search of `depth` steps changes (`Counts` in `kernels/counts.py`)."""


@runtime_checkable
class ListsExactRows(ListsOutcomes, Protocol):
    """A belief that the exact oracle can expand."""

    def exact_rows(self) -> Any:
        """All unknown distributions as counts with predictives (`beliefs/tabular/_known_rewards.py`)."""


# Hidden states -------------------------------------------------------------------------------------------------------
#
# Z is the number of observations. The belief knows everything that was seen, so planners do not need the observation.


@runtime_checkable
class HasStates(ListsStates, Restarts, Protocol):
    """A belief over the hidden state of a POMDP."""

    @property
    def n_observations(self) -> int:
        """Z."""

    def states(self) -> Floats:
        """Probability of each state now, (S,)."""

    def predictive(self, action: int) -> Floats:
        """Probability of each observation after an action, (Z,)."""


@runtime_checkable
class HasMeanPOMDP(HasStates, Protocol):
    """A belief with a mean model of a hidden state."""

    def mean_pomdp(self) -> TabularPOMDP:
        """The model of posterior means. Its `start` is the belief over the state now."""


@runtime_checkable
class SamplesPOMDPs(HasStates, Protocol):
    """A belief from which a hidden state can be drawn together with its model."""

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """A model drawn from the belief. Its `start` is certain: the state that was drawn with it."""


@runtime_checkable
class SimulatesHidden(ListsActions, Protocol):
    """A belief over a hidden state that compiled searches can simulate."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step; infinite if there is no bound."""

    def simulate(self, depth: int) -> Simulator:
        """The belief as a compiled simulator for at most `depth` steps, which draws the state at the root."""


@runtime_checkable
class PrefersActions(Protocol):
    """A belief that knows which actions are worth a try in a state, for rollouts."""

    def preferred_actions(self) -> Bools:
        """Whether an action is preferred in a state, (S, A); in each state at least one is.

        If states are not listed, the array is empty: the rollouts of the simulator prefer actions by themselves.
        """


@runtime_checkable
class ListsHyperStates(HasStates, Protocol):
    """A belief that is a finite mixture of hyper-states: a hidden state and counts of transitions and observations."""

    @property
    def n_hyper_states(self) -> int:
        """The number of hyper-states with positive weight."""

    def hyper_states(self) -> list[tuple[float, int, Floats, Floats]]:
        """The mixture as (weight, s, phi, psi): phi[s, a, s'] and psi[s', a, o] are its counts."""


@runtime_checkable
class EnumeratesHyperStates(HasStates, Protocol):
    """A belief over hyper-states that exact searches can expand."""

    def compiled_hyper_states(self) -> tuple[Any, Any]:
        """What all hyper-states share, and the hyper-states (`beliefs/hidden/_hyper_states.py`)."""


# Continuous states ---------------------------------------------------------------------------------------------------
#
# States, actions and observations are vectors. A belief over a hidden state knows what was seen and ignores the
# observation.


@runtime_checkable
class DrawsObservations(Protocol):
    """A belief that can draw what will be seen next, learn it, and value a decision. Forward searches ask this."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    def update(self, datum: Transition, rng: Generator | None = None) -> Self:
        """The posterior after a transition."""

    def draw(self, observation: Any, action: Any, rng: Generator, n: int = 1) -> Floats:
        """Next observations drawn from the predictive distribution, each under its own model, (n, d)."""

    def expected_reward(self, observation: Any, action: Any) -> float:
        """The expected reward of an action now: over the state where it is hidden, over the reward where it is learned.

        `Incompatible` if the belief was given no reward.
        """


@runtime_checkable
class RewardsStates(Protocol):
    """A belief whose expected rewards depend on the state seen alone. What a search's tree learns changes none."""

    def expected_rewards(self, observations: Any, action: Any) -> Floats:
        """The expected reward of an action in several states, (n, d): (n,)."""


@runtime_checkable
class GrowsTrees(Protocol):
    """A belief that grows the tree of a forward search in one call."""

    def grow_tree(self, observation: Any, actions: Floats, width: int, seeds: tuple[Ints, ...]) -> list[Floats]:
        """Observations of each level, (1, d), (A C, d), ...: what `draw` would draw, every path learning what it draws.

        Child i of action a of a node has row (node A + a) C + i. `seeds` are those of the nodes of each level, (1,),
        (C,), ...: one for all nodes that differ only in the actions before.
        """


@runtime_checkable
class HasRewardFunction(Protocol):
    """A belief about what the actions of a box pay: a Gaussian process."""

    @property
    def noise(self) -> float:
        """Standard deviation of a reward."""

    def action_moments(self, actions: Any) -> tuple[Floats, Floats]:
        """What actions, (n, e), pay on average: posterior mean, (n,), and covariance, (n, n)."""


@runtime_checkable
class Thins(Protocol):
    """A particle belief that searches can make smaller."""

    def thinned(self, particles: int, rng: Generator) -> Self:
        """The same belief with at most this many particles, drawn by their weights."""


@runtime_checkable
class HasMeanSystem(Protocol):
    """A belief over linear systems x' = A x + B u + w with quadratic costs x'Qx + u'Ru."""

    @property
    def Q(self) -> Floats:
        """Costs of the state, (n, n)."""

    @property
    def R(self) -> Floats:
        """Costs of the action, (m, m)."""

    @property
    def theta(self) -> Floats:
        """The posterior mean of (A, B)', (n + m, n)."""


@runtime_checkable
class SamplesSystems(HasMeanSystem, Protocol):
    """A belief from which linear systems can be drawn."""

    @property
    def precision(self) -> Floats:
        """V, the precision of the parameters in units of the noise, (n + m, n + m)."""

    def sample_system(self, rng: Generator, replicates: Ints | None = None) -> tuple[Floats, Floats]:
        """A system drawn from the belief: A, (n, n), and B, (n, m). In lockstep: one for each of these replicates."""


# Arms of a bandit ----------------------------------------------------------------------------------------------------
#
# A context is the observation before the choice: None, an integer, or a matrix with a row of features for each arm.
# Results have shape (K,), or (replicates, K) in lockstep.


@runtime_checkable
class SamplesMeans(Protocol):
    """A belief from which the arms' mean rewards can be drawn."""

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of the arms, drawn from the belief."""


@runtime_checkable
class HasMeans(Protocol):
    """A belief with expected rewards of arms."""

    def mean(self, context: object = None) -> Floats:
        """Expected reward of each arm."""


@runtime_checkable
class HasVariances(Protocol):
    """A belief with posterior variances of arms' mean rewards."""

    def variance(self, context: object = None) -> Floats:
        """Posterior variance of each arm's mean reward."""


@runtime_checkable
class HasQuantiles(Protocol):
    """A belief with posterior quantiles of arms' mean rewards."""

    def quantile(self, p: float, context: object = None) -> Floats:
        """The p-quantile of each arm's mean reward."""


@runtime_checkable
class CountsPlays(Protocol):
    """A belief with the number of plays and the average reward of each arm."""

    def plays(self) -> Floats:
        """The number of plays of each arm, without prior pseudo-counts."""

    def average(self) -> Floats:
        """The average reward of each arm; nan if the arm has not been played."""


@runtime_checkable
class HasBestArm(Protocol):
    """A belief with a posterior over which arm is best."""

    @property
    def tells_information(self) -> bool:
        """Whether `best_arm` also computes the information that a play of each arm gives about the best arm."""

    def best_arm(self, context: object = None, samples: int = ..., rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm, and the arms' means given the best arm.

        It is exact if it can be computed by integration or enumeration. Otherwise it is estimated from `samples` draws.
        """


@runtime_checkable
class HasArmStates(Protocol):
    """A belief about independent arms, each of which is a bandit process whose state is its posterior."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    def arm_states(self) -> ArmStates:
        """The state of each arm."""


@runtime_checkable
class HasBetaArms(Protocol):
    """A belief about independent arms that pay 0 or 1, with a Beta distribution for each."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def alpha(self) -> Floats:
        """Prior count of ones plus the number of ones seen."""

    @property
    def beta(self) -> Floats:
        """Prior count of zeros plus the number of zeros seen."""


@runtime_checkable
class ListsPosteriors(Protocol):
    """A belief about arms with finitely many outcomes, with the posteriors after any further rewards."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def n_actions(self) -> int:
        """K."""

    @property
    def posterior_size(self) -> int:
        """The size of one posterior for each arm and outcome, times the number of replicates."""

    def reward_values(self) -> Floats:
        """The possible rewards of an arm, (Y,)."""

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The N posteriors after arm a has paid reward y another seen[n, a, y] times; `seen` has shape (N, K, Y)."""


@runtime_checkable
class MergesReplicates(Protocol):
    """A belief in lockstep that can merge equal replicates."""

    def distinct_replicates(self) -> tuple[Self, Ints]:
        """The distinct replicates, and the index among them of each replicate."""

    def some_replicates(self, part: slice) -> Self:
        """The belief with these replicates only."""


@runtime_checkable
class ListsArms(Protocol):
    """A belief with a known number of arms."""

    @property
    def n_actions(self) -> int:
        """K."""


@runtime_checkable
class HasRewardDeviation(Protocol):
    """A belief that bounds the tails of a reward."""

    def reward_deviation(self) -> float:
        """A standard deviation for which every arm's reward is sub-Gaussian, now and after any further rewards."""


@runtime_checkable
class KnowsUniform(Protocol):
    """A belief that says whether it is the uniform prior that theorems assume."""

    @property
    def is_uniform(self) -> bool:
        """Whether arms pay 0 or 1 and every probability is uniform on [0, 1]."""


@runtime_checkable
class ListsArmModels(Protocol):
    """A belief over finitely many bandits."""

    def model_means(self) -> Floats:
        """Mean reward of arm a in model i, (N, K)."""

    def posterior(self) -> Floats:
        """Probability of each model, (N,)."""


@runtime_checkable
class LinearInFeatures(Protocol):
    """A belief about rewards that are linear in known features of the arms."""

    def linear_features(self) -> Floats:
        """The arms' features, (K, d), or (C, K, d) for C contexts."""


@runtime_checkable
class TakesFeatures(Protocol):
    """A belief whose context may be a matrix with a row of features for each arm."""

    @property
    def n_weights(self) -> int:
        """d, the number of features of an arm."""

    @property
    def features(self) -> Floats | None:
        """The arms' features if they are known in advance, (K, d) or (C, K, d)."""


@runtime_checkable
class Fades(Protocol):
    """A belief in the exponential family, whose data can be down-weighted."""

    def fade(self, prior: Self, keep: float) -> Self:
        """The belief with natural parameters (1 - keep) prior + keep own."""


# Rewards of an expert -------------------------------------------------------------------------------------------------
#
# The dynamics are known, and rewards are linear in features. What is unknown are their weights, (d,).


@runtime_checkable
class HasLinearRewards(Protocol):
    """A belief about the weights of experts' rewards, w, (d,)."""

    @property
    def rewards(self) -> Any:
        """The known problem with its features: `LinearRewards` (`inverse/_rewards.py`)."""

    @property
    def prior(self) -> RewardPrior:
        """The prior over the weights of one expert."""

    @property
    def confidence(self) -> float:
        """How surely an expert takes the best action, c."""


@runtime_checkable
class HasDemonstrations(HasLinearRewards, Protocol):
    """A belief about the reward of one expert."""

    @property
    def demonstrations(self) -> Ints:
        """What the expert did: pairs (state, action), (N, 2)."""


@runtime_checkable
class KeepsTrajectories(HasLinearRewards, Protocol):
    """A belief about the rewards of several experts, whose trajectories it keeps apart."""

    @property
    def trajectories(self) -> tuple[Ints, ...]:
        """The pairs (state, action) of each trajectory, each (N, 2)."""


# Checking ------------------------------------------------------------------------------------------------------------


def offers(belief: object, capability: type[C]) -> TypeIs[C]:
    """Whether a belief offers a capability."""
    return not lacking(belief, capability)


def lacking(belief: object, capability: type) -> list[str]:
    """The members of a capability that a belief lacks.

    If a belief's parameters rule out a member, the belief lists it in `unsupported`, a mapping from names to reasons
    (for example, rewards with infinitely many values cannot be simulated).
    """
    unsupported: Mapping[str, str] = getattr(belief, "unsupported", {})
    return [name for name in members(capability) if name in unsupported or not _has(belief, name)]


def reasons(belief: object, missing: Iterable[str]) -> str:
    """The reasons that a belief gives for not supporting these members."""
    unsupported: Mapping[str, str] = getattr(belief, "unsupported", {})
    return " ".join(dict.fromkeys(unsupported[name] for name in missing if name in unsupported))


@cache
def members(capability: type) -> tuple[str, ...]:
    """The names of a capability's members, including those of its parents."""
    names: dict[str, None] = {}
    for parent in reversed(capability.__mro__):
        if getattr(parent, "_is_protocol", False) and parent is not Protocol:
            own = {**vars(parent).get("__annotations__", {}), **vars(parent)}
            names |= dict.fromkeys(name for name in own if not name.startswith("_"))
    return tuple(names)


def require(owner: str, belief: object, *needs: type, hint: str = "") -> None:
    """Raise `Incompatible`, naming the missing members, if a belief lacks a capability that `owner` needs."""
    missing = dict.fromkeys(name for need in needs for name in lacking(belief, need))
    if missing:
        raise Incompatible(owner, type(belief).__name__, missing, reasons(belief, missing) or hint)


def demand(planner: Planner[Any, Any], belief: object) -> None:
    """Raise an error if a belief lacks a capability that a planner needs, or if the planner's `check` refuses it."""
    needs = planner.needs
    if not isinstance(needs, tuple) or not all(getattr(need, "_is_protocol", False) for need in needs):
        duty = "hold a tuple of protocols such as (HasMeanMDP,)"
        raise BrokenContract(f"{type(planner).__name__}.needs", duty, needs)
    require(type(planner).__name__, belief, *needs, hint=traits_of(planner).elsewhere)
    check = getattr(planner, "check", None)
    if check is not None:
        check(belief)


def _has(belief: object, name: str) -> bool:
    """Whether a belief has a member. Properties are not read, since they may be costly."""
    if hasattr(type(belief), name) or name in getattr(belief, "__dict__", ()):
        return True
    return hasattr(type(belief), "__getattr__") and hasattr(belief, name)  # a wrapper may pass on members
