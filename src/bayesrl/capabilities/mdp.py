"""Capabilities of a belief about a finite MDP, and of one that a search simulates or expands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from bayesrl.kernels.simulators.counts import Counts
    from bayesrl.kernels.simulators.simulator import Simulator
    from bayesrl.models.mdp import TabularMDP
    from bayesrl.models.outcomes import Outcomes

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]
    Bools = NDArray[np.bool_]


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
        """The belief as a compiled simulator for at most `depth` steps (`kernels/simulators/simulator.py`)."""


@runtime_checkable
class Enumerates(ListsStates, Protocol):
    """A belief whose outcomes and their probabilities can be enumerated after any history."""

    def enumerable(self, depth: int) -> Counts:
        """The belief as counts, which a search of `depth` steps changes (`Counts` in `counts.py`)."""


class ExactRow(NamedTuple):
    """One unknown distribution in the form that the exact oracle reads: counts, and the predictive given counts."""

    counts: list[float]
    learns: bool
    """Whether seeing an outcome adds one to its count."""
    predictive: Predictive


class Predictive(Protocol):
    """Probabilities of the outcomes, given their counts."""

    def __call__(self, counts: list[float], /) -> list[float]:
        """One probability for each outcome."""


class ExactRows(NamedTuple):
    """All unknown distributions: first those of the groups, then those of the reward cells."""

    rows: list[ExactRow]
    pay: Ints | None
    """The row of the reward of outcome k of (s, a), (S, A, K); None if rewards are known."""
    values: list[float]
    """The possible rewards."""


@runtime_checkable
class ListsExactRows(ListsOutcomes, Protocol):
    """A belief that the exact oracle can expand."""

    def exact_rows(self) -> ExactRows:
        """All unknown distributions as counts with predictives."""
