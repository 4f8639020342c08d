"""Known POMDPs: a hidden Markov decision process, what is seen after each step, and what is paid.

A step goes from s by action a to s' ~ T(.|s, a). Then o ~ Omega(.|s', a) is seen, and R(s, a, s', o) is paid. At a
reset nothing is seen: the observation is NOTHING.

What is seen has the form of `outcomes.py`: `observation[s', a, k]` is the observation of outcome k, and `group[s', a]`
the index of the distribution of k. Known, listed and tied rows are then what they are for transitions.

The observation is drawn given the state that was *reached*. A problem in which it tells of the state before the step
needs states that carry it (as those of `showing_rewards` do).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.capabilities import offers
from bayesrl.checks import Bools, Floats, array, as_array, frozen, indices, integer, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import B1, B2, F1, F2, F3, I1, I2, I3
from bayesrl.models._listed import Matrices, from_matrices
from bayesrl.models.mdp import TabularMDP, no_model
from bayesrl.models.outcomes import grouped
from bayesrl.parameters import unchecked, value
from bayesrl.problems import HasPOMDP
from bayesrl.renamed import keep_old_names

NOTHING = -1
"""The observation at a reset. It is no evidence, and no index."""


@explain_failures
@value
class ObservationOutcomes:
    """The possible observations after each action in each state reached. This part of a model is never uncertain."""

    observation: I3
    """Observation of outcome k after reaching s' by a, shape (S, A, K)."""
    group: I2
    """The index of the distribution of the observation, shape (S, A). Groups are numbered from 0 without gaps."""
    size: I1
    """Number of outcomes of each group, shape (G,); outcomes k >= size[group[s', a]] are padding."""
    n_observations: int
    """Z."""

    def __post_init__(self) -> None:
        owner = "ObservationOutcomes"
        shape = table.shape if (table := as_array(self.observation)).ndim == 3 else (None, None, None)
        S, A, K = array(owner, "observation", self.observation, shape).shape
        Z = integer(owner, "n_observations", self.n_observations, 1)
        group, size = grouped(owner, self.group, self.size, (S, A, K))
        pad = np.arange(K) >= size[group][:, :, None]
        observation = indices(owner, "observation", np.where(pad, 0, np.asarray(self.observation)), (S, A, K), Z)
        for name, new in (("observation", observation), ("group", group), ("size", size), ("n_observations", Z)):
            object.__setattr__(self, name, new)

    def __repr__(self) -> str:
        S, A, K = self.observation.shape
        G, Z = len(self.size), self.n_observations
        return f"ObservationOutcomes(states={S}, actions={A}, outcomes={K}, groups={G}, observations={Z})"

    @cached_property
    def valid(self) -> B2:
        """Which entries of a (G, K) array are outcomes, not padding."""
        return frozen(np.arange(self.observation.shape[2]) < self.size[:, None])


@explain_failures
@value
class TabularPOMDP:
    """A known POMDP. Terminal states are absorbing and pay nothing."""

    mdp: TabularMDP
    """The hidden part. Its rewards are the expected ones, given s, a and s'."""
    observed: ObservationOutcomes
    """The possible observations, in groups."""
    observation_prob: F2
    """Probability of outcome k in group g of `observed`, shape (G, K)."""
    rewards: Floats
    """R in the smallest of the shapes (S, A), (S, A, S) and (S, A, S, Z) that holds it."""

    def __post_init__(self) -> None:
        owner = "TabularPOMDP"
        if not isinstance(self.mdp, TabularMDP):
            raise InvalidArgument(owner, "mdp", "a TabularMDP", self.mdp, "See from_dense for arrays.")
        if not isinstance(self.observed, ObservationOutcomes):
            raise InvalidArgument(owner, "observed", "ObservationOutcomes", self.observed, "See from_dense for arrays.")
        S, A, Z = self.n_states, self.n_actions, self.n_observations
        if self.observed.group.shape != (S, A):
            raise InvalidArgument(owner, "observed", f"those of {S} states and {A} actions", self.observed.group.shape)
        prob = array(owner, "observation_prob", self.observation_prob, self.observed.valid.shape, low=0.0)
        if prob[~self.observed.valid].any():
            raise InvalidArgument(owner, "observation_prob", "zero on padding", float(prob[~self.observed.valid].max()))
        object.__setattr__(
            self, "observation_prob", rows_sum_to_one(owner, "observation_prob", prob, self.observation_prob)
        )
        object.__setattr__(self, "rewards", smallest(owner, self.rewards, S, A, Z))

    def __repr__(self) -> str:
        S, A, Z = self.n_states, self.n_actions, self.n_observations
        return f"TabularPOMDP(states={S}, actions={A}, observations={Z}, gamma={self.gamma})"

    @classmethod
    def from_dense(
        cls,
        P: ArrayLike,
        O: ArrayLike,
        R: ArrayLike,
        gamma: float,
        start: int | ArrayLike | None = None,
        terminal: Sequence[int] = (),
    ) -> TabularPOMDP:
        """Make a model from P[s, a, s'], O[s', a, o] and R of shape (S, A), (S, A, S) or (S, A, S, Z).

        `start` is a state or a distribution; None: every state that is not terminal has the same probability.

        >>> P = [[[1.0, 0.0]], [[0.0, 1.0]]]
        >>> pomdp = TabularPOMDP.from_dense(P, [[[0.9, 0.1]], [[0.2, 0.8]]], [[0.0], [1.0]], gamma=0.5)
        >>> pomdp, pomdp.start
        (TabularPOMDP(states=2, actions=1, observations=2, gamma=0.5), array([0.5, 0.5]))
        """
        P = array("TabularPOMDP", "P", P, (None, None, None), low=0.0)
        if P.shape[2] != P.shape[0]:
            raise InvalidArgument("TabularPOMDP", "P", "of shape (S, A, S)", P)
        return cls._of(P, (P.shape[0], P.shape[1]), TabularMDP.from_dense, O, R, gamma, start, terminal)

    @classmethod
    def from_sparse(
        cls,
        P: Matrices,
        O: ArrayLike,
        R: ArrayLike,
        gamma: float,
        start: int | ArrayLike | None = None,
        terminal: Sequence[int] = (),
    ) -> TabularPOMDP:
        """Make a model from a scipy sparse (S, S) matrix for each action, or one of shape (S*A, S), row s*A + a.

        The other arguments are those of `from_dense`. With R of shape (S, A), no array of shape (S, A, S) is made.

        >>> from scipy.sparse import csr_array
        >>> P = csr_array(np.eye(1000))
        >>> stay = TabularPOMDP.from_sparse([P], np.ones((1000, 1, 1)), np.zeros((1000, 1)), gamma=0.5)
        >>> stay
        TabularPOMDP(states=1000, actions=1, observations=1, gamma=0.5)
        """
        S, A, _ = from_matrices("P", P)
        return cls._of(P, (S, A), TabularMDP.from_sparse, O, R, gamma, start, terminal)

    @classmethod
    def _of(
        cls,
        P: Any,
        sizes: tuple[int, int],
        make: Callable[..., TabularMDP],
        O: ArrayLike,
        R: ArrayLike,
        gamma: float,
        start: int | ArrayLike | None,
        terminal: Sequence[int],
    ) -> TabularPOMDP:
        """Make a model from a table P of that many states and actions, and from what is seen and paid."""
        owner, (S, A) = "TabularPOMDP", sizes
        given, seen = O, array(owner, "O", O, (None, None, None), low=0.0)
        seen = rows_sum_to_one(owner, "O", seen, given)
        Z = seen.shape[2]
        if seen.shape[:2] != (S, A):
            raise InvalidArgument(owner, "O", f"of shape ({S}, {A}, Z)", seen)
        rewards = smallest(owner, R, S, A, Z)
        if np.ndim(terminal) != 1:
            raise InvalidArgument(owner, "terminal", "a sequence of states", terminal)
        if start is None:
            going = [s for s in range(S) if s not in terminal] or range(S)
            start = np.bincount(going, minlength=S) / len(going)
        mdp = make(P, mean_over_observations(rewards, seen), gamma, start, terminal)
        s, a, o = np.nonzero(seen)
        pair = s * A + a
        size = np.bincount(pair, minlength=S * A)
        k = np.arange(len(pair)) - np.repeat(np.cumsum(size) - size, size)
        observation, prob = np.zeros((S * A, size.max()), np.int32), np.zeros((S * A, size.max()))
        observation[pair, k], prob[pair, k] = o, seen[s, a, o]
        observed = ObservationOutcomes(observation.reshape(S, A, -1), np.arange(S * A).reshape(S, A), size, Z)
        return cls(mdp, observed, prob, rewards)

    # Readings --------------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """S."""
        return self.mdp.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.mdp.n_actions

    @property
    def n_observations(self) -> int:
        """Z."""
        return self.observed.n_observations

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.mdp.gamma

    @property
    def start(self) -> F1:
        """Distribution of the first state of an episode, shape (S,)."""
        return self.mdp.outcomes.start

    @property
    def terminal(self) -> B1:
        """States that end an episode, shape (S,)."""
        return self.mdp.outcomes.terminal

    @cached_property
    def seen(self) -> F3:
        """Omega as O[s', a, o], shape (S, A, Z)."""
        S, A, K = self.observed.observation.shape
        Z = self.n_observations
        cells = np.repeat(np.arange(S * A) * Z, K) + self.observed.observation.ravel()
        summed = np.bincount(cells, self.observation_prob[self.observed.group].ravel(), S * A * Z)
        return frozen(np.asarray(summed, np.float64).reshape(S, A, Z))

    @cached_property
    def mean_reward(self) -> F2:
        """r(s, a), the expected reward, shape (S, A); zero in terminal states."""
        if self.rewards.ndim == 2:
            return frozen(np.where(self.terminal[:, None], 0.0, self.rewards))
        P = self.mdp.matrix.reshape(self.n_states, self.n_actions, -1)
        paid = np.einsum("say,say->sa", P, mean_over_observations(self.rewards, self.seen))
        return frozen(np.where(self.terminal[:, None], 0.0, paid))

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a possible step, including the 0 of terminal states."""
        return self.reward_range_of(np.ones((self.n_states, self.n_actions), np.bool_))

    def reward_range_of(self, legal: Bools) -> tuple[float, float]:
        """The same, of some actions only, (S, A)."""
        s, a = np.nonzero(legal & ~self.terminal[:, None])
        paid = self.rewards[s, a]
        if self.rewards.ndim > 2:
            P = self.mdp.matrix.reshape(self.n_states, self.n_actions, -1)[s, a] > 0.0
            paid = paid[P if self.rewards.ndim == 3 else P[..., None] & (self.seen > 0.0).transpose(1, 0, 2)[a]]
        paid = np.append(paid, np.zeros(int(self.terminal.any())))
        return float(paid.min()), float(paid.max())

    def starting(self, start: F1) -> TabularPOMDP:
        """The same problem with another start (S,), unchecked: beliefs know that it is a distribution."""
        outcomes = unchecked(self.mdp.outcomes, start=frozen(start))
        return unchecked(self, mdp=unchecked(self.mdp, outcomes=outcomes))

    def reward(self, state: int, action: int, next_state: int, observation: int) -> float:
        """R(s, a, s', o)."""
        if self.terminal[state]:
            return 0.0
        return float(self.rewards[(state, action, next_state, observation)[: self.rewards.ndim]])

    def dense(self) -> tuple[F3, F3, F2]:
        """The arrays (P[s, a, s'], O[s', a, o], r[s, a])."""
        S, A = self.n_states, self.n_actions
        return self.mdp.matrix.reshape(S, A, S).copy(), self.seen.copy(), self.mean_reward.copy()

    def showing_rewards(self) -> TabularPOMDP:
        """The same problem for an agent that sees the pair (observation, reward), numbered as one observation.

        Its state is a pair too: the hidden state, and what would be paid for each observation on the way to it. Pairs
        that cannot be reached are left out. Observation z stands for the z-th pair (o, r) in ascending order.
        """
        S, A, Z = self.n_states, self.n_actions, self.n_observations
        P, seen, _ = self.dense()
        paid = np.zeros((S, A, S, Z)) + self.rewards.reshape(self.rewards.shape + (1,) * (4 - self.rewards.ndim))
        paid[self.terminal] = 0.0
        states: list[tuple[int, Floats]] = []
        place: dict[tuple[int, bytes], int] = {}

        def number(s: int, row: Floats) -> int:
            if (key := (s, row.tobytes())) not in place:
                place[key] = len(states)
                states.append((s, row))
            return place[key]

        first = [number(s, np.zeros(Z)) for s in np.flatnonzero(self.start).tolist()]
        moves = [
            (i, a, number(y, paid[s, a, y]), P[s, a, y])
            for i, (s, _) in enumerate(states)  # which grow meanwhile
            for a in range(A)
            for y in np.flatnonzero(P[s, a]).tolist()
        ]
        pairs = sorted({(o, r) for _, row in states for o, r in enumerate(row.tolist())})
        shown = {pair: z for z, pair in enumerate(pairs)}
        n = len(states)
        T, Omega, start = np.zeros((n, A, n)), np.zeros((n, A, len(pairs))), np.zeros(n)
        for i, a, j, p in moves:
            T[i, a, j] += p
        for j, (s, row) in enumerate(states):
            for o, r in enumerate(row.tolist()):
                Omega[j, :, shown[o, r]] += seen[s, :, o]
        start[first] = self.start[self.start > 0]
        R = np.zeros((n, A, n, len(pairs))) + np.array([r for _, r in pairs])
        ends = [i for i, (s, _) in enumerate(states) if self.terminal[s]]
        return TabularPOMDP.from_dense(T, Omega, R, self.gamma, start, ends)


def smallest(owner: str, R: ArrayLike, S: int, A: int, Z: int) -> Floats:
    """R in the smallest of the shapes (S, A), (S, A, S) and (S, A, S, Z)."""
    R = array(owner, "R", R)
    shapes = ((S, A), (S, A, S), (S, A, S, Z))
    if R.shape not in shapes:
        raise InvalidArgument(owner, "R", " or ".join(f"of shape {shape}" for shape in shapes), R)
    while R.ndim > 2 and (R == R[..., :1]).all():
        R = R[..., 0]
    return frozen(R)


def mean_over_observations(rewards: Floats, seen: F3) -> Floats:
    """E[R | s, a, s'] (or R, if it does not depend on what is seen), given O[s', a, o]."""
    return np.asarray(np.einsum("sayo,yao->say", rewards, seen)) if rewards.ndim == 4 else rewards


POMDPProblem = TabularPOMDP | HasPOMDP
"""The problems that a solver of POMDPs takes."""


def find_pomdp(thing: object) -> TabularPOMDP | None:
    """The POMDP of a thing: itself, or its `pomdp`; None if it has none."""
    pomdp = thing.pomdp if not isinstance(thing, TabularPOMDP) and offers(thing, HasPOMDP) else thing
    return pomdp if isinstance(pomdp, TabularPOMDP) else None


def pomdp_of(problem: object, owner: str) -> TabularPOMDP:
    """The POMDP of a problem: itself, or the `.pomdp` of a world or a filter."""
    pomdp = find_pomdp(problem)
    if pomdp is None:
        raise no_model(owner, "problem", problem, "a TabularPOMDP, or a world or filter that has one")
    return pomdp


keep_old_names(__name__)
