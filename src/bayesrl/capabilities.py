"""What planners may ask of a belief: one small protocol for each thing.

A planner's `needs` names the protocols, its `plan` uses them as types, `BayesAgent` refuses a belief that lacks one:

    class Exploit:
        needs: ClassVar = (HasMeanMDP,)
        def plan(self, belief: HasMeanMDP, ...) -> Decision: ...

A planner that asks several things writes their combination as a protocol of its own, next to its class:

    class Asked(HasMeanMDP, CountsPairs, Protocol):
        \"\"\"What BEB asks.\"\"\"

A belief need not inherit from anything: it offers a capability by having its members. Each name has one meaning and one
signature in the whole library (docs/notation.md), and `rng` comes last. Planners never ask which class a belief is:
what differs between beliefs, the belief says. What a planner can use but does not need, it asks for with `offers`.

Arrays state their shapes: S states, A actions, G groups (unknown distributions), K outcomes or arms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

from bayesrl.errors import BrokenContract, Incompatible

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray
    from typing_extensions import TypeIs

    from bayesrl.beliefs.arms._best_arm import BestArm
    from bayesrl.beliefs.arms._states import ArmPosteriors, ArmStates
    from bayesrl.core import Planner, Transition
    from bayesrl.kernels.counts import Counts
    from bayesrl.models.mdp import TabularMDP
    from bayesrl.models.outcomes import Outcomes

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]
    Bools = NDArray[np.bool_]

C = TypeVar("C")


# Any belief ----------------------------------------------------------------------------------------------------------


@runtime_checkable
class Restarts(Protocol):
    """A belief over a hidden, moving state."""

    def restart(self) -> Self:
        """The belief at the start of a new episode: the state is forgotten, what was learnt of parameters stays."""


@runtime_checkable
class Refreshes(Protocol):
    """A belief whose posterior is moved by an explicit computation, not at every update."""

    def refresh(self, rng: Generator, sweeps: int = 1) -> Self:
        """The belief after `sweeps` sweeps of its sampler."""


@runtime_checkable
class Batches(Protocol):
    """A belief that can hold many replicates side by side, for runs in lockstep."""

    def batch(self, replicates: int) -> Self:
        """The same belief, `replicates` times; arrays get a first axis of that length."""


@runtime_checkable
class LearnsLogs(Protocol):
    """A belief that learns from a whole log at once, faster than step by step."""

    def update_many(self, log: Any, rng: Generator | None = None) -> Self:
        """The posterior after a log, oldest step first (`beliefs/_log.py`)."""


@runtime_checkable
class HasLogEvidence(Protocol):
    """A belief that knows how probable its data were."""

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
    """A belief about an MDP of which it is known what can happen."""

    @property
    def outcomes(self) -> Outcomes:
        """What can happen in each state under each action, and which group draws it."""


@runtime_checkable
class SamplesMDPs(ListsStates, Protocol):
    """A belief from which whole models can be drawn."""

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief."""


@runtime_checkable
class HasMeanMDP(ListsStates, Protocol):
    """A belief with a mean model."""

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities (and unknown rewards) are the posterior means."""


@runtime_checkable
class CountsPairs(Protocol):
    """A belief that says how much it knows about each pair (s, a) in numbers of transitions."""

    def counts(self) -> Floats:
        """Total count of each (s, a), prior pseudo-counts included, (S, A); infinite where the row is known."""


@runtime_checkable
class HasRowVariance(Protocol):
    """A belief with posterior variances of transition probabilities."""

    def row_variance(self) -> Floats:
        """Posterior variance of the probability of each outcome of each group, (G, K); zero where known."""


@runtime_checkable
class HasRowQuantiles(ListsOutcomes, Protocol):
    """A belief with posterior quantiles of transition probabilities."""

    def row_quantile(self, p: float, state: int, action: int) -> Floats:
        """The p-quantile of the probability of each outcome of (s, a), in the order of `outcomes`."""


@runtime_checkable
class HasRewardRange(Protocol):
    """A belief that bounds the reward of a step."""

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward that a step may pay; infinite where there is no bound."""


@runtime_checkable
class KnowsRewards(Protocol):
    """A belief that says whether rewards are part of what is unknown."""

    @property
    def rewards_known(self) -> bool:
        """Whether drawn models list every reward that can be seen; otherwise they hold mean rewards."""


@runtime_checkable
class GroupsVisits(Protocol):
    """A belief that says which pairs teach about each other."""

    def visit_groups(self) -> Ints:
        """For each pair the number of its counter of visits, (S, A); pairs that share all they teach share one."""


@runtime_checkable
class HasCertainPairs(Protocol):
    """A belief that says what is known for certain."""

    def certain_pairs(self) -> Bools:
        """Which pairs have nothing left to learn, (S, A): transitions and rewards are both known."""


@runtime_checkable
class HasRewardDoubt(Protocol):
    """A belief that says how few rewards it has seen."""

    def reward_doubt(self) -> Floats:
        """E[1 / (1 + n)] of each pair, (S, A): n counts the rewards, prior ones included, of the outcome that comes.

        Zero where rewards are known.
        """


@runtime_checkable
class HasRewardVariance(Protocol):
    """A belief about expected rewards of pairs."""

    def reward_variance(self, rows: Floats | None = None) -> Floats:
        """Posterior variance of the expected reward R(s, a), (S, A), where both rows and rewards may be unknown.

        `rows` is the belief's `row_variance()`, from a caller who has it already.
        """


@runtime_checkable
class HasPairMoments(Protocol):
    """A belief whose movement can be measured pair by pair."""

    def pair_means(self) -> Floats:
        """Posterior means of all that is unknown about each pair, (S, A, n): probabilities, then mean rewards."""

    def pair_variances(self) -> Floats:
        """Their posterior variances, in the same order, (S, A, n)."""


@runtime_checkable
class ImaginesRewards(HasMeanMDP, Protocol):
    """A belief that can add imagined observations of the largest reward."""

    def hopeful_mdp(self, extra: Floats | float) -> TabularMDP:
        """The mean model after `extra` pseudo-observations of the largest reward in each cell of unknown rewards.

        It is the mean model itself where rewards are known, or have no largest value.
        """


@runtime_checkable
class BoundsBestRewards(Protocol):
    """A belief that bounds how probable the largest reward is."""

    def best_reward_share(self, deviations: float) -> Floats:
        """An upper bound on the probability of the largest reward in each cell: mean plus `deviations` deviations.

        At most 1; an array of a single 1 where rewards are known or have no largest value.
        """


@runtime_checkable
class HasDirichletRows(ListsOutcomes, Protocol):
    """A belief whose groups are independent Dirichlet distributions, some of them known."""

    @property
    def alpha(self) -> Floats:
        """Dirichlet counts of the outcomes of each group, (G, K), zero on padding; probabilities where known."""

    @property
    def known(self) -> Bools:
        """Which groups are known, (G,)."""


@runtime_checkable
class SharesSupport(Protocol):
    """A belief that says whether all its models agree on what is possible."""

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
        """Draws of these groups (n of them) as lists of length L.

        How many outcomes are listed (n,), which ones (n, L), and with what probability (n, L).
        """


# Search --------------------------------------------------------------------------------------------------------------


@runtime_checkable
class Simulates(Protocol):
    """A belief that compiled searches can simulate. States need not be listed: a search sees whole numbers."""

    @property
    def n_actions(self) -> int:
        """A."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def numbered_states(self) -> int:
        """How many states there are if they are numbered from 0; 0 if they cannot be listed."""

    def encode(self, observation: Any, owner: str = "encode") -> int:
        """The number by which compiled code knows the observed state; an error names the `owner` of the call."""

    def is_terminal(self, state: int) -> bool:
        """Whether an encoded state ends the episode."""

    def simulate(self, depth: int) -> object:
        """The belief as a compiled simulator for at most `depth` steps (`kernels/simulator.py`)."""


@runtime_checkable
class NamesOutcomes(Protocol):
    """A belief that finds a real transition among the outcomes of its simulator."""

    def code(self, datum: Transition) -> int:
        """The outcome that the simulator would have called this transition."""


@runtime_checkable
class Enumerates(ListsStates, Protocol):
    """A belief whose outcomes and their probabilities can be enumerated after any history."""

    def enumerable(self, depth: int) -> Counts:
        """The belief as counts that a search of `depth` steps adds to and takes from (`kernels/tree.py: Counts`)."""


@runtime_checkable
class ListsExactRows(ListsOutcomes, Protocol):
    """A belief that the exact oracle can expand."""

    def exact_rows(self) -> Any:
        """All unknown distributions as counts with their predictives (`beliefs/tabular/_known_rewards.py`)."""


# Arms of a bandit ----------------------------------------------------------------------------------------------------
#
# A context is what was observed before the choice: None, a whole number, or a matrix of features with a row for each
# arm. Results have shape (K,), or (replicates, K) in lockstep.


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
    """A belief that remembers how often each arm was played and what it earned on average."""

    def plays(self) -> Floats:
        """How often each arm has been played; the prior does not count."""

    def average(self) -> Floats:
        """The average reward of each arm, nan where it has not been played."""


@runtime_checkable
class HasBestArm(Protocol):
    """A belief that says which arm is best, and what that tells about the arms' means."""

    @property
    def tells_information(self) -> bool:
        """Whether `best_arm` can also say how much a play of each arm tells about which one is best."""

    def best_arm(self, context: object = None, samples: int = ..., rng: Generator | None = None) -> BestArm:
        """The distribution of the best arm and the arms' means given which one it is.

        It is exact if the belief can be integrated or listed. Otherwise it is estimated from `samples` draws by `rng`.
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
        """Prior count of ones plus those seen."""

    @property
    def beta(self) -> Floats:
        """Prior count of zeros plus those seen."""


@runtime_checkable
class ListsPosteriors(Protocol):
    """A belief about arms with finitely many outcomes, whose posteriors after any rewards can be listed."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    @property
    def n_actions(self) -> int:
        """K."""

    @property
    def posterior_size(self) -> int:
        """How many numbers one posterior takes per arm and outcome, replicates included."""

    def reward_values(self) -> Floats:
        """What an arm can pay, (Y,)."""

    def posteriors_after(self, seen: Ints) -> ArmPosteriors:
        """The posteriors after arm a has shown outcome y another seen[n, a, y] times, (N, K, Y)."""


@runtime_checkable
class MergesReplicates(Protocol):
    """A belief in lockstep that can tell which of its replicates are equal."""

    def distinct_replicates(self) -> tuple[Self, Ints]:
        """The distinct replicates, and for each replicate which of them it is equal to."""

    def some_replicates(self, part: slice) -> Self:
        """Only these replicates."""


@runtime_checkable
class ListsArms(Protocol):
    """A belief that knows how many arms there are."""

    @property
    def n_actions(self) -> int:
        """K."""


@runtime_checkable
class HasRewardDeviation(Protocol):
    """A belief that bounds the tails of a reward."""

    def reward_deviation(self) -> float:
        """A reward of any arm is sub-Gaussian with this deviation, now and after any further rewards."""


@runtime_checkable
class KnowsUniform(Protocol):
    """A belief that says whether it is the uniform one that theorems assume."""

    @property
    def is_uniform(self) -> bool:
        """Whether arms pay 0 or 1 and every probability is uniform on [0, 1]."""


@runtime_checkable
class ListsArmModels(Protocol):
    """A belief that the bandit is one of finitely many."""

    def model_means(self) -> Floats:
        """Mean reward of arm a in model i, (N, K)."""

    def posterior(self) -> Floats:
        """Probability of each model, (N,)."""


@runtime_checkable
class LinearInFeatures(Protocol):
    """A belief about rewards that are linear in known features of the arms."""

    def linear_features(self) -> Floats:
        """The arms' features, (K, d), or (C, K, d) for C kinds of contexts."""


@runtime_checkable
class TakesFeatures(Protocol):
    """A belief to which a context may be a matrix with a row of features for each arm."""

    @property
    def n_weights(self) -> int:
        """d, the number of features of an arm."""

    @property
    def features(self) -> Floats | None:
        """The arms' features if they are known in advance, (K, d) or (C, K, d)."""


@runtime_checkable
class Fades(Protocol):
    """A belief in the exponential family, whose evidence can be made to count less."""

    def fade(self, prior: Self, keep: float) -> Self:
        """The belief with natural parameters (1 - keep) prior + keep own."""


# Asking --------------------------------------------------------------------------------------------------------------


def offers(belief: object, capability: type[C]) -> TypeIs[C]:
    """Whether a belief offers a capability that a planner can use but does not need."""
    return not lacking(belief, capability)


def lacking(belief: object, capability: type) -> list[str]:
    """The members of a capability that a belief lacks.

    A belief that cannot offer a member with the parameters it was given says so in `unsupported`, a mapping from names
    to reasons (for example rewards with infinitely many values cannot be simulated).
    """
    unsupported: Mapping[str, str] = getattr(belief, "unsupported", {})
    return [name for name in members(capability) if name in unsupported or not _has(belief, name)]


def reasons(belief: object, missing: Iterable[str]) -> str:
    """Why a belief cannot offer these members, as far as it says."""
    unsupported: Mapping[str, str] = getattr(belief, "unsupported", {})
    return " ".join(dict.fromkeys(unsupported[name] for name in missing if name in unsupported))


@cache
def members(capability: type) -> tuple[str, ...]:
    """The names that a capability asks for, those of its parents included."""
    names: dict[str, None] = {}
    for parent in reversed(capability.__mro__):
        if getattr(parent, "_is_protocol", False) and parent is not Protocol:
            own = {**vars(parent).get("__annotations__", {}), **vars(parent)}
            names |= dict.fromkeys(name for name in own if not name.startswith("_"))
    return tuple(names)


def require(owner: str, belief: object, *needs: type, hint: str = "") -> None:
    """Raise `Incompatible`, with the names of what is missing, if a belief lacks a capability that `owner` needs."""
    missing = dict.fromkeys(name for need in needs for name in lacking(belief, need))
    if missing:
        raise Incompatible(owner, type(belief).__name__, missing, reasons(belief, missing) or hint)


def demand(planner: Planner[Any, Any], belief: object) -> None:
    """Raise an error if a belief does not offer what a planner needs, or if the planner's own `check` refuses it."""
    needs = planner.needs
    if not isinstance(needs, tuple) or not all(getattr(need, "_is_protocol", False) for need in needs):
        duty = "hold a tuple of protocols such as (HasMeanMDP,)"
        raise BrokenContract(f"{type(planner).__name__}.needs", duty, needs)
    require(type(planner).__name__, belief, *needs, hint=getattr(planner, "elsewhere", ""))
    check = getattr(planner, "check", None)
    if check is not None:
        check(belief)


def _has(belief: object, name: str) -> bool:
    """Whether a belief has a member, without reading it: a property may be costly."""
    if hasattr(type(belief), name) or name in getattr(belief, "__dict__", ()):
        return True
    return hasattr(type(belief), "__getattr__") and hasattr(belief, name)  # it may pass on what another one offers
