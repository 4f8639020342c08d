"""Known transitions and jointly Gaussian mean rewards (Delage and Mannor 2010; survey §6).

The mean rewards r of the pairs have one Gaussian belief, r ~ N(m, C); pair (s, a) has index i = s A + a. A reward of
pair i is r_i plus Gaussian noise of standard deviation sigma. An observed reward R updates the belief by

    c = C_ii + sigma^2,   m' = m + C e_i (R - m_i) / c,   C' = C - C e_i e_i' C / c,

a rank-one update. Correlated pairs learn from each other. The paper fits such a posterior to data and then holds it
fixed; the update is the usual linear-Gaussian one.

Deviations: none. Cost: O((S A)^2) for an update; a draw takes a factor of C, O((S A)^3) once after each update, or
O((S A)^2) if C is diagonal. Claims: belief laws; the posterior equals conditioning of the joint Gaussian; evidence.
"""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.log import Log, transitions
from bayesrl.checks import Bools, Floats, Ints, array, frozen, generator, integer, number
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP, mdp_of
from bayesrl.models.outcomes import Outcomes, impossible, outcome_of
from bayesrl.parameters import Above, Shape, unchecked, value
from bayesrl.traits import Traits

ROUNDING = 1e-9
"""How far a covariance may be from symmetric, and below positive semi-definite, as a share of its largest value."""


@explain_failures
@value
class GaussianRewards:
    """A belief about the mean rewards of pairs, which are jointly Gaussian; transitions are known.

    Examples
    --------
    >>> import bayesrl as b
    >>> mdp = b.TabularMDP.from_dense([[[1.0], [1.0]]], [[0.0, 0.0]], gamma=0.9)  # one state, two actions
    >>> belief = GaussianRewards(mdp, [0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> belief.update(b.Transition(0, 0, 2.0, 0)).reward_moments()[0]  # a reward of one action tells about the other
    array([[1. , 0.5]])
    """

    mdp: Annotated[TabularMDP, "The known transitions, the start and the discount; its rewards are ignored."]
    mean_: Annotated[Floats, Shape("(S, A) or (S A,)"), "Mean of the pairs' mean rewards, m."]
    covariance_: Annotated[Floats, Shape("(S A, S A)"), "Their covariance, C; pair (s, a) has index s A + a."] = field(
        repr=False
    )
    noise: Annotated[float, Above(0), "Standard deviation of a reward around its mean, sigma."] = 1.0
    evidence: float = field(init=False, repr=False)
    """Log density of the data under the prior."""

    traits: ClassVar[Traits] = Traits(depends_on_data=("root", "_mean_mdp"))
    same_support: ClassVar[bool] = True
    rewards_known: ClassVar[bool] = False

    def __post_init__(self) -> None:
        owner = "GaussianRewards"
        mdp = mdp_of(self.mdp, owner, "mdp")
        S, A = mdp.group.shape
        if self.mean_.shape not in ((S, A), (S * A,)):
            raise InvalidArgument(owner, "mean_", f"an array of shape ({S}, {A}) or ({S * A},)", self.mean_)
        mean, C = self.mean_.reshape(S, A).copy(), checked_covariance(owner, self.covariance_, S * A).copy()
        ends = np.repeat(mdp.outcomes.terminal, A)  # terminal states pay nothing, whatever is said of them
        mean[mdp.outcomes.terminal], C[ends], C[:, ends] = 0.0, 0.0, 0.0
        new = {"mdp": mdp, "mean_": frozen(mean), "covariance_": frozen(C), "noise": float(self.noise), "evidence": 0.0}
        for name, x in new.items():
            object.__setattr__(self, name, x)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> GaussianRewards:
        """The posterior after a transition and its reward: the equations above."""
        o, owner = self.outcomes, "GaussianRewards"
        s, a, k = outcome_of(owner, o, datum, rewarded=False)
        p = float(self.mdp.prob[o.group[s, a]][o.succ[s, a] == o.succ[s, a, k]].sum())
        if p == 0.0:
            raise impossible(owner, o, datum, rewarded=False)
        R = number("GaussianRewards.update", "reward", datum.reward, moderate=True)
        C, i = self.covariance_, s * o.n_actions + a
        c = float(C[i, i]) + self.noise**2
        error, row = R - float(self.mean_[s, a]), C[i]
        gain = row / math.sqrt(c)
        shrunk = C - np.outer(gain, gain)  # exactly symmetric
        shrunk[i] = shrunk[:, i] = row * (self.noise**2 / c)  # the same without cancellation
        return unchecked(
            self,
            mean_=frozen(self.mean_ + (row * (error / c)).reshape(self.mean_.shape)),
            covariance_=frozen(shrunk),
            evidence=self.evidence + math.log(p) - 0.5 * (error**2 / c + math.log(2.0 * math.pi * c)),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> GaussianRewards:
        """The posterior after a log: transitions, a record, or columns state, action, reward, next_state."""
        new = self
        for datum in transitions("GaussianRewards.update_many", log):
            new = new.update(datum)
        return new

    def log_evidence(self) -> float:
        """Log density of the rewards seen, and log probability of the next states, given the actions."""
        return self.evidence

    # Models ----------------------------------------------------------------------------------------------------------

    def reward_moments(self) -> tuple[Floats, Floats]:
        """Mean (S, A) and covariance (S A, S A) of the mean rewards; pair (s, a) has index s A + a."""
        return self.mean_, self.covariance_

    def mean_mdp(self) -> TabularMDP:
        """The model whose rewards are the posterior means."""
        return self._mean_mdp

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief; its rewards are the drawn means."""
        z = generator("GaussianRewards.sample_mdp", rng).standard_normal(self.root.shape[1])
        return self._with_rewards(self.mean_ + (self.root @ z).reshape(self.mean_.shape))

    @cached_property
    def root(self) -> Floats:
        """A matrix L, (S A, rank), with L L' = C."""
        return frozen(covariance_root(self.covariance_))

    @cached_property
    def _mean_mdp(self) -> TabularMDP:
        return self._with_rewards(self.mean_)

    def _with_rewards(self, r: Floats) -> TabularMDP:
        reward = np.array(np.broadcast_to(r[:, :, None], self.outcomes.succ.shape))
        return TabularMDP.unchecked(self.outcomes.with_rewards(frozen(reward)), self.mdp.prob, self.mdp.gamma)

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> Outcomes:
        """The possible outcomes and their groups; their rewards are not read."""
        return self.mdp.outcomes

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""
        return self.mdp.gamma

    @property
    def n_states(self) -> int:
        """S."""
        return self.outcomes.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.outcomes.n_actions

    def counts(self) -> Floats:
        """Infinite for every pair, (S, A), since transitions are known."""
        return np.full(self.mean_.shape, np.inf)

    def row_variance(self) -> Floats:
        """Zero for every outcome, (G, K)."""
        return np.zeros(self.mdp.prob.shape)

    def row_covariance(self) -> Floats:
        """Zero for every group, (G, K, K)."""
        G, K = self.mdp.prob.shape
        return np.zeros((G, K, K))

    def reward_variance(self, rows: Floats | None = None) -> Floats:
        """Posterior variance of the mean reward of each pair, (S, A)."""
        return np.diagonal(self.covariance_).reshape(self.mean_.shape).copy()

    def reward_range(self) -> tuple[float, float]:
        """Infinite: a Gaussian reward has no bound."""
        return -np.inf, np.inf

    def inverse_reward_counts(self) -> Floats:
        """1 / (1 + n) of each pair, (S, A): a variance v of the mean is worth n = sigma^2 / v rewards."""
        v = self.reward_variance()
        return np.asarray(v / (v + self.noise**2))

    def visit_groups(self) -> Ints:
        """The index of each pair, (S, A): every pair has its own counter."""
        return np.arange(self.mean_.size).reshape(self.mean_.shape)

    def certain_pairs(self) -> Bools:
        """Which pairs have a known reward, (S, A)."""
        return np.asarray(self.reward_variance() == 0.0)

    def pair_means(self) -> Floats:
        """Probabilities of outcomes, then the posterior mean of the reward, (S, A, K + 1)."""
        return np.concatenate([self.outcomes.of_pairs(self.mdp.prob), self.mean_[:, :, None]], axis=2)

    def pair_variances(self) -> Floats:
        """Zeros for the probabilities, then the posterior variance of the reward, (S, A, K + 1)."""
        rows = np.zeros((*self.mean_.shape, self.mdp.prob.shape[1]))
        return np.concatenate([rows, self.reward_variance()[:, :, None]], axis=2)

    @property
    def numbered_states(self) -> int:
        """S."""
        return self.n_states

    def encode(self, observation: Any, owner: str = "encode") -> int:
        """The observed state, which must be a listed one."""
        return integer(owner, "observation", observation, 0, self.n_states - 1)

    def is_terminal(self, state: int) -> bool:
        """Whether a state ends the episode."""
        return bool(self.outcomes.terminal[state])


def checked_covariance(owner: str, C: Floats, n: int) -> Floats:
    """The covariance, exactly symmetric; raise an error if it is not a covariance of n numbers."""
    C = array(owner, "covariance_", C, (n, n), moderate=True)
    size = float(np.abs(C).max())
    if np.abs(C - C.T).max() > ROUNDING * size:
        raise InvalidArgument(owner, "covariance_", "symmetric", C)
    C = 0.5 * (C + C.T)
    lowest = float(np.diagonal(C).min() if is_diagonal(C) else np.linalg.eigvalsh(C)[0])
    if lowest < (0.0 if is_diagonal(C) else -ROUNDING * size):
        hint = f"Its smallest eigenvalue is {lowest:.3g}."
        raise InvalidArgument(owner, "covariance_", "positive semi-definite", C, hint)
    return C


def covariance_root(C: Floats) -> Floats:
    """A matrix L, (n, rank), with L L' = C. Pairs without variance and directions of rounding get no column."""
    some = np.flatnonzero(np.diagonal(C) > 0.0)
    if is_diagonal(C):
        L = np.zeros((len(C), len(some)))
        L[some, np.arange(len(some))] = np.sqrt(np.diagonal(C)[some])
        return L
    inner = C[np.ix_(some, some)]
    try:
        columns = np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(inner)
        kept = values > len(values) * np.finfo(float).eps * values[-1]
        columns = vectors[:, kept] * np.sqrt(values[kept])
    L = np.zeros((len(C), columns.shape[1]))
    L[some] = columns
    return L


def is_diagonal(C: Floats) -> bool:
    """Whether all entries off the diagonal are zero."""
    return bool(np.count_nonzero(C) == np.count_nonzero(np.diagonal(C)))
