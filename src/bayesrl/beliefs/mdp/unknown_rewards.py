"""Unknown transitions combined with unknown rewards (survey §4.7).

The two beliefs are independent. A transition updates the Dirichlet by its next state and the reward belief by its
reward. The cells of the reward belief are state-action pairs (S, A) or outcomes (S, A, K). Its class (`reward-beta`,
`reward-dirichlet`, `reward-normal`) determines the possible rewards. Outcomes are identified by their next state only.

`row_variance` is that of the transitions, `rewards.reward_variances()` is that of the mean rewards, and
`reward_variance` combines both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.log import Log
from bayesrl.beliefs.log import transitions as transitions_of
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.mdp.known_rewards import dirichlet_predictive, row_reward_variance
from bayesrl.capabilities import ExactRow, ExactRows
from bayesrl.checks import DEEPEST, Bools, Floats, Ints, frozen, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.simulators.counts import Counts
from bayesrl.kernels.simulators.reward_urn import RewardUrn
from bayesrl.kernels.simulators.urn import empty_urns, urns
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import unchecked, value

_NO_MOVES = TabularMDP.from_dense(np.ones((1, 1, 1)), np.zeros((1, 1)), 0.0).outcomes.distinct_lists
"""Moves of an urn of rewards. They are never read."""


@runtime_checkable
class RewardBelief(Protocol):
    """A belief about the mean reward of each cell; arrays have the shape of the cells."""

    def update(self, datum: tuple[tuple[int, ...], float], rng: Generator | None = None) -> Self:
        """The posterior after a reward in a cell."""

    def mean_rewards(self) -> Floats:
        """Expected reward of each cell."""

    def reward_variances(self) -> Floats:
        """Posterior variance of each cell's mean reward."""

    def reward_counts(self) -> Floats:
        """The effective number of rewards of each cell, including the prior."""

    def sample_rewards(self, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief."""


@runtime_checkable
class FiniteRewards(RewardBelief, Protocol):
    """A reward belief whose rewards take finitely many values."""

    def value_counts(self) -> tuple[Floats, Floats]:
        """The values, (n,), and the count of each value in each cell, (cells, n)."""

    def reward_predictive(self, cell: tuple[int, ...]) -> tuple[Floats, Floats]:
        """The possible rewards of a cell and their probabilities."""


@value
class UnknownRewards:
    """A belief about an MDP's transitions combined with a belief about its rewards.

    Examples
    --------
    >>> import bayesrl as b
    >>> from bayesrl.beliefs import RewardBeta
    >>> mdp = TabularMDP.from_dense([[[0.5, 0.5]]] * 2, [[0.0]] * 2, gamma=0.9)
    >>> belief = UnknownRewards(b.DirichletMDP.flat(mdp), RewardBeta(np.ones((2, 1)), np.ones((2, 1))))
    >>> belief.update(b.Transition(0, 0, 1.0, 1)).mean_mdp().mean_reward.round(2).tolist()
    [[0.67], [0.5]]
    """

    transitions: Annotated[DirichletMDP, "The belief about transitions; the rewards of its outcomes are ignored."]
    rewards: Annotated[RewardBelief, "The belief about rewards, with cells (S, A) or (S, A, K)."]

    def __post_init__(self) -> None:
        if not isinstance(self.transitions, DirichletMDP):
            raise InvalidArgument("UnknownRewards", "transitions", "a DirichletMDP", type(self.transitions).__name__)
        o = self.outcomes
        shape = self.rewards.mean_rewards().shape if isinstance(self.rewards, RewardBelief) else None
        if shape not in (o.group.shape, o.succ.shape):
            expected = f"a reward belief with cells of shape {o.group.shape} or {o.succ.shape}"
            raise InvalidArgument("UnknownRewards", "rewards", expected, shape or self.rewards)
        for s, a in np.ndindex(*o.group.shape):
            n = o.size[o.group[s, a]]
            if len(set(o.succ[s, a, :n].tolist())) < n and not o.terminal[s]:
                raise InvalidArgument("UnknownRewards", "transitions", "distinguishable by next state", (s, a))

    @property
    def outcomes(self) -> Outcomes:
        """The possible outcomes and their groups."""
        return self.transitions.outcomes

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.transitions.gamma

    @property
    def n_states(self) -> int:
        """S."""
        return self.outcomes.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.outcomes.n_actions

    def cell(self, s: int, a: int, k: int) -> tuple[int, ...]:
        """The reward belief's cell for outcome k of (s, a)."""
        return (s, a) if self.rewards.mean_rewards().ndim == 2 else (s, a, k)

    def update(self, datum: Transition, rng: Generator | None = None) -> UnknownRewards:
        """The posterior after one transition."""
        s, a, k = self.transitions.outcome(datum, rewarded=False)
        rewards = self.rewards.update((self.cell(s, a, k), datum.reward))
        return unchecked(self, transitions=self.transitions.seen_outcome(s, a, k), rewards=rewards)

    def update_many(self, log: Log, rng: Generator | None = None) -> UnknownRewards:
        """The posterior after a log: transitions, a record, or columns state, action, reward, next_state."""
        new = self
        for datum in transitions_of("UnknownRewards.update_many", log):
            new = new.update(datum)
        return new

    def counts(self) -> Floats:
        """Total transition count of each (s, a), including prior counts."""
        return self.transitions.counts()

    def row_variance(self) -> Floats:
        """Posterior variance of each transition probability, (G, K)."""
        return self.transitions.row_variance()

    def row_covariance(self) -> Floats:
        """Posterior covariance of each group's transition probabilities, (G, K, K)."""
        return self.transitions.row_covariance()

    def row_quantile(self, p: float, state: int, action: int) -> Floats:
        """The p-quantile of the probability of each outcome of (s, a)."""
        return self.transitions.row_quantile(p, state, action)

    def mean_mdp(self) -> TabularMDP:
        """The model of posterior means."""
        return self.with_rewards(self.transitions.mean_mdp(), self.rewards.mean_rewards())

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief; its rewards are the drawn means."""
        generator("UnknownRewards.sample_mdp", rng)
        model = self.transitions.sample_mdp(rng)
        return self.with_rewards(model, self.rewards.sample_rewards(rng))

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome, a pair of move and reward, in compiled simulations."""
        values = self._value_counts()[0]
        k = self.transitions.outcome(datum, rewarded=False)[2]
        return k * len(values) + int(np.searchsorted(values, datum.reward))

    def simulate(self, depth: int) -> RewardUrn:
        """Both beliefs as urns for compiled simulations, if rewards take finitely many values; see `reward_urn.py`."""
        depth = integer("UnknownRewards.simulate", "depth", depth, 0, DEEPEST)
        values, alpha = self._value_counts()
        rows, cdf = empty_urns(alpha, np.full(len(alpha), len(values)), True)
        pays = urns(_NO_MOVES, rows, cdf, np.zeros(0, np.int64), depth)
        return RewardUrn(self.transitions.simulate(depth), pays, self._cells, values)

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def rewards_known(self) -> bool:
        """False."""
        return False

    @property
    def _finite(self) -> bool:
        """Whether rewards take finitely many values."""
        return isinstance(self.rewards, FiniteRewards)

    def _value_counts(self) -> tuple[Floats, Floats]:
        """The values that rewards take, and their counts in each cell."""
        if not isinstance(self.rewards, FiniteRewards):
            expected = "a reward belief with finitely many values"
            raise InvalidArgument("UnknownRewards", "rewards", expected, type(self.rewards).__name__)
        return self.rewards.value_counts()

    @property
    def unsupported(self) -> Mapping[str, str]:
        """The members that this belief cannot offer if rewards take infinitely many values, and the reason."""
        if self._finite:
            return {}
        why = f"The rewards of {type(self.rewards).__name__} do not take finitely many values."
        return dict.fromkeys(("simulate", "code", "enumerable", "exact_rows"), why)

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step, including the 0 of terminal states."""
        if not self._finite:
            return -np.inf, np.inf
        values = self._value_counts()[0]
        ends = [0.0] if self.outcomes.terminal.any() else []
        return float(min([*values, *ends])), float(max([*values, *ends]))

    def inverse_reward_counts(self) -> Floats:
        """E[1 / (1 + n)] of each pair, (S, A), for n rewards seen with the next outcome, including prior counts."""
        share = 1.0 / (1.0 + self.rewards.reward_counts())
        if share.ndim == 2:
            return np.asarray(share)
        model = self.transitions.mean_mdp()
        return np.asarray((model.prob[model.group] * share).sum(axis=2))

    def reward_variance(self, rows: Floats | None = None) -> Floats:
        """Var[R(s, a)], (S, A): that of the row, plus sum_k E[p_k^2] Var[r_k], or plus Var[r] for cells (S, A)."""
        model, variance = self.mean_mdp(), self.row_variance() if rows is None else rows
        p, var, doubt = model.prob[model.group], variance[model.group], self.rewards.reward_variances()
        own = doubt if doubt.ndim == 2 else ((var + p * p) * doubt).sum(axis=2)
        return np.asarray(row_reward_variance(model, variance) + own)

    def optimistic_mdp(self, extra: Floats | float) -> TabularMDP:
        """The mean model after `extra` pseudo-observations of the largest reward in each cell, if it exists."""
        model = self.transitions.mean_mdp()
        if not self._finite:
            return self.with_rewards(model, self.rewards.mean_rewards())
        n, best = self.rewards.reward_counts(), self._value_counts()[0].max()
        return self.with_rewards(model, np.asarray((n * self.rewards.mean_rewards() + extra * best) / (n + extra)))

    def best_reward_share(self, deviations: float) -> Floats:
        """Mean plus `deviations` standard deviations of the probability of the largest reward in each cell."""
        if not self._finite:
            return np.ones(1)
        values, alpha = self._value_counts()
        n = alpha.sum(axis=1)
        p = alpha[:, np.argmax(values)] / n
        above = p + deviations * np.sqrt(p * (1.0 - p) / (n + 1.0))
        return np.asarray(np.minimum(1.0, above).reshape(self.rewards.mean_rewards().shape))

    def visit_groups(self) -> Ints:
        """The index of each pair, (S, A): every pair has its own counter, since rewards are not shared."""
        return np.arange(self.outcomes.group.size).reshape(self.outcomes.group.shape)

    def certain_pairs(self) -> Bools:
        """False for every pair, (S, A), since rewards are never known."""
        return np.zeros(self.outcomes.group.shape, np.bool_)

    def pair_means(self) -> Floats:
        """Posterior means of the probabilities of outcomes, then of rewards, (S, A, n)."""
        return self._beside(self.transitions.pair_means(), self.rewards.mean_rewards())

    def pair_variances(self) -> Floats:
        """Posterior variances of the probabilities of outcomes, then of rewards, (S, A, n)."""
        return self._beside(self.transitions.pair_variances(), self.rewards.reward_variances())

    @staticmethod
    def _beside(rows: Floats, rewards: Floats) -> Floats:
        return np.concatenate([rows, rewards.reshape(*rows.shape[:2], -1)], axis=2)

    @property
    def same_support(self) -> bool:
        """Whether all models of the transitions have the same support."""
        return self.transitions.same_support

    @property
    def numbered_states(self) -> int:
        """S."""
        return self.outcomes.n_states

    def encode(self, observation: Any, owner: str = "encode") -> int:
        """The observed state, which must be a listed one."""
        return self.transitions.encode(observation, owner)

    def is_terminal(self, state: int) -> bool:
        """Whether a state ends the episode."""
        return self.transitions.is_terminal(state)

    def enumerable(self, depth: int) -> Counts:
        """Both beliefs as counts, for a search that enumerates outcomes."""
        values, pay = self._value_counts()
        return self.transitions.enumerable(depth)._replace(
            cell=self._cells, values=np.array(values), pay=np.array(pay), pay_total=np.sum(pay, axis=1)
        )

    def exact_rows(self) -> ExactRows:
        """The groups, then the reward cells, as rows for the exact oracle."""
        rows = self.transitions.exact_rows().rows
        values, alpha = self._value_counts()
        pay = [ExactRow(counts.tolist(), True, dirichlet_predictive) for counts in alpha]
        return ExactRows(rows + pay, len(rows) + self._cells, values.tolist())

    @property
    def _cells(self) -> Ints:
        """The index of the reward cell of outcome k of (s, a), (S, A, K)."""
        shape = self.rewards.mean_rewards().shape
        cells = np.arange(np.prod(shape)).reshape(*shape, *(1,) * (3 - len(shape)))
        return np.array(np.broadcast_to(cells, self.outcomes.succ.shape))

    def with_rewards(self, model: TabularMDP, r: Floats) -> TabularMDP:
        """The model with rewards r of the cells, (S, A) or (S, A, K). Terminal states pay nothing."""
        o = self.outcomes
        reward = np.array(np.broadcast_to(r if r.ndim == 3 else r[:, :, None], o.succ.shape))
        reward[o.terminal] = 0.0
        return TabularMDP.unchecked(o.with_rewards(frozen(reward)), model.prob, model.gamma)
