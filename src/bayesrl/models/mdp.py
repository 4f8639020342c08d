"""Finite Markov decision processes as outcomes and groups.

One representation serves flat, listed, known and tied models, and is what compiled planners read:

    succ[s, a, k]    next state of outcome k           (int32, padded)
    reward[s, a, k]  reward of outcome k
    group[s, a]      which distribution draws the outcome
    prob[g, k]       probability of outcome k in group g (zero on padding)

`Outcomes` says what can happen and is shared by every model of one problem: the true one, the sampled ones, the mean
one. `TabularMDP` adds probabilities and a discount. A reward is defined for every (s, a, s'), also if the model gives
s' no probability, since a flat prior asks what it would pay. `otherwise` holds the rewards of what is not listed.

A terminal state is absorbing and pays nothing, whatever was said about its row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, as_array, frozen, indices, integer, number, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import B1, B2, F1, F2, F3, I1, I2, I3
from bayesrl.models._listed import (
    Listed,
    Matrices,
    from_environment,
    is_sparse,
    listed,
    listed_rewards,
    unlisted_rewards,
)
from bayesrl.parameters import value

MANY_CELLS = 2**20
"""Tables of flat outcomes are written out in lists and in descriptions up to this size."""


@explain_failures
@value
class Outcomes:
    """What can happen in each state under each action: the part of a model that is not uncertain."""

    succ: I3
    """Next state of outcome k, shape (S, A, K)."""
    reward: F3
    """Reward of outcome k, shape (S, A, K)."""
    group: I2
    """The distribution that draws the outcome of (s, a), shape (S, A), numbered from 0 without gaps."""
    size: I1
    """Number of outcomes of each group, shape (G,); outcomes k >= size[group[s, a]] are padding."""
    otherwise: Floats
    """Reward of an (s, a, s') that is not listed, broadcast to (S, A, S)."""
    start: F1
    """Distribution of the first state of an episode, shape (S,)."""
    terminal: B1
    """States that end an episode, shape (S,)."""
    not_saved: ClassVar[tuple[str, ...]] = ("flat_rewards",)  # a file holds the tables that it stands for
    end: int | None = None
    """The terminal state that stands for every end of an episode in a state that is not terminal; None: an episode
    ends in terminal states only."""

    def __post_init__(self) -> None:
        owner = "Outcomes"
        S, A, K = table.shape if (table := as_array(self.succ)).ndim == 3 else (None, None, None)
        succ = array(owner, "succ", self.succ, (S, A, K))
        S, A, K = succ.shape
        group = indices(owner, "group", self.group, (S, A), S * A)
        size = indices(owner, "size", self.size, (int(group.max()) + 1,), K + 1)
        if set(group.ravel().tolist()) != set(range(len(size))):
            raise InvalidArgument(owner, "group", "numbered from 0 without gaps", sorted(set(group.ravel().tolist())))
        if size.min() < 1:
            raise InvalidArgument(owner, "size", "at least 1 everywhere", int(size.min()))
        terminal = frozen(np.array(self.terminal, dtype=np.bool_))
        if terminal.shape != (S,):
            raise InvalidArgument(owner, "terminal", f"an array of shape ({S},)", terminal)
        reward = array(owner, "reward", self.reward, (S, A, K))
        otherwise = array(owner, "otherwise", self.otherwise)
        try:
            np.broadcast_to(otherwise, (S, A, S))
        except ValueError:
            raise InvalidArgument(owner, "otherwise", f"broadcastable to ({S}, {A}, {S})", otherwise) from None
        if self.end is not None and not terminal[integer(owner, "end", self.end, 0, S - 1)]:
            raise InvalidArgument(owner, "end", "a terminal state", self.end)
        start = array(owner, "start", self.start, (S,), low=0.0)
        start = rows_sum_to_one(owner, "start", start, self.start)
        # Padding is normalised, so that equal outcomes have equal arrays; terminal states absorb and pay nothing.
        pad = np.arange(K) >= size[group][:, :, None]
        succ = np.where(pad, 0, succ)
        succ[terminal] = np.flatnonzero(terminal)[:, None, None]
        set_ = object.__setattr__
        set_(self, "succ", indices(owner, "succ", succ, (S, A, K), S))
        set_(self, "reward", frozen(np.where(pad | terminal[:, None, None], 0.0, reward)))
        for name, new in (
            ("group", group),
            ("size", size),
            ("otherwise", otherwise),
            ("start", start),
            ("terminal", terminal),
        ):
            set_(self, name, new)

    def __getattr__(self, name: str) -> Any:
        """`succ` and `reward` of flat outcomes are written out, (S, A, S), when they are first asked for."""
        if name not in ("succ", "reward") or "flat_rewards" not in self.__dict__:
            raise AttributeError(f"'Outcomes' object has no attribute '{name}'")
        S, A = self.group.shape
        if name == "reward":
            new: Any = self.flat_rewards.table()
        else:
            new = np.array(np.broadcast_to(np.arange(S, dtype=np.int32), (S, A, S)), order="C")
            new[self.terminal] = np.flatnonzero(self.terminal)[:, None, None]
        return self.__dict__.setdefault(name, frozen(new))

    def __repr__(self) -> str:
        S, A, K = *self.group.shape, self.n_outcomes
        return f"Outcomes(states={S}, actions={A}, outcomes={K}, groups={self.n_groups})"

    @property
    def n_states(self) -> int:
        """S."""
        return int(self.group.shape[0])

    @property
    def n_actions(self) -> int:
        """A."""
        return int(self.group.shape[1])

    @property
    def n_outcomes(self) -> int:
        """K, the most outcomes any (s, a) has."""
        return self.n_states if self.made_flat else int(self.succ.shape[2])

    @property
    def made_flat(self) -> bool:
        """Whether `flat` has made these outcomes: then outcome k of every (s, a) leads to state k, but for ends."""
        return "flat_rewards" in self.__dict__

    def reward_of(self, s: int, a: int, k: int) -> float:
        """The reward of outcome k of (s, a); the table of all rewards is not written out for it."""
        try:
            if not self.made_flat:
                return float(self.reward[s, a, k])
            _, reward, place, _, _ = self.alike
            return float(reward[place[s, a, 1], k])
        except (IndexError, TypeError, ValueError):
            shape = (*self.group.shape, self.n_outcomes)
            raise InvalidArgument("Outcomes.reward_of", "outcome", f"s, a, k below {shape}", (s, a, k)) from None

    @property
    def n_groups(self) -> int:
        """G."""
        return int(self.size.shape[0])

    @cached_property
    def valid(self) -> B2:
        """Which entries of a (G, K) array are outcomes, not padding."""
        if self.made_flat:
            return np.broadcast_to(np.True_, (self.n_groups, self.n_outcomes))
        return frozen(np.arange(self.n_outcomes) < self.size[:, None])

    @cached_property
    def is_flat(self) -> bool:
        """Whether every (s, a) has a group of its own over all states in order: then prob is P, row for row."""
        if self.made_flat:
            return not self.terminal.any()
        S, A, K = self.succ.shape
        if K != S or self.n_groups != S * A or self.size.min() != S or self.terminal.any():
            return False
        rows = np.array_equal(self.group.ravel(), np.arange(S * A))
        return rows and bool((self.succ == np.arange(S)).all())

    @cached_property
    def alike(self) -> tuple[I2, F2, I3, bool, B1]:
        """What a simulation reads: each different list of outcomes once, so that lists stay in the cache.

        succ and reward (U, K); for each (s, a) its group and its list, (S, A, 2); whether the model is flat, with group
        s A + a for each (s, a), whose outcome k leads to state k; terminal. The lists of a flat model differ in their
        rewards alone: 264 states have 4 of them, not 1056.
        """
        if self.made_flat:
            succ, reward, which = self.flat_rewards.lists()
            place = np.stack([self.group, which], axis=-1).astype(np.uint32)
            return succ, reward, frozen(place), not self.terminal.any(), self.terminal
        S, A, K = self.succ.shape
        lists: dict[bytes, int] = {}
        which = [
            lists.setdefault(self.succ[s, a].tobytes() + self.reward[s, a].tobytes(), len(lists))
            for s, a in np.ndindex(S, A)
        ]
        first = np.unique(which, return_index=True)[1]
        succ = self.succ.reshape(S * A, K)[first].astype(np.uint32)
        place = np.stack([self.group, np.reshape(which, (S, A))], axis=-1).astype(np.uint32)
        plain = bool((succ == np.arange(K)).all() and (self.group.ravel() == np.arange(S * A)).all())
        return frozen(succ), frozen(self.reward.reshape(S * A, K)[first]), frozen(place), plain, self.terminal

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of any outcome; a terminal state pays 0."""
        if self.made_flat:
            paid = self.alike[1]
            return float(paid.min()), float(paid.max())
        paid = self.reward[self.valid[self.group]]
        return float(paid.min()), float(paid.max())

    def of_pairs(self, x: F2) -> F3:
        """A table of groups (G, K) as one of pairs (S, A, K); the same memory if possible."""
        return x.reshape(*self.group.shape, -1) if self.is_flat else np.asarray(x[self.group])

    @cached_property
    def largest_reward(self) -> float:
        """The largest |reward| of any outcome."""
        return float(np.abs(self.alike[1] if self.made_flat else self.reward).max())

    @cached_property
    def ambiguous(self) -> tuple[int, int] | None:
        """The first (s, a) that has two outcomes which look the same (next state and reward), if any."""
        if self.is_flat or self.made_flat:
            return None
        for s, a in np.ndindex(*self.group.shape):
            n = self.size[self.group[s, a]]
            seen = set(zip(self.succ[s, a, :n].tolist(), self.reward[s, a, :n].tolist(), strict=True))
            if len(seen) < n and not self.terminal[s]:
                return int(s), int(a)
        return None

    def rewards(self) -> F3:
        """R[s, a, s'] for every triple. Listed outcomes with one next state and several rewards have no such table."""
        return (self.flat_rewards if self.made_flat else FlatRewards.of(self)).table()

    def described(self) -> dict[str, object] | None:
        """What a record says of outcomes that are too many to be written out; None: all their arrays."""
        if not self.made_flat or self.group.size * self.n_outcomes <= MANY_CELLS:
            return None
        return {"type": "Outcomes", "flat": self.flat_rewards._asdict(), "start": self.start}

    def paying(self, reward: F3) -> Outcomes:
        """The same outcomes with other rewards (S, A, K), unchecked: for models drawn from a belief about rewards."""
        new = object.__new__(Outcomes)
        kept = ("succ", "group", "size", "otherwise", "start", "terminal", "end")
        new.__dict__.update({name: getattr(self, name) for name in kept}, reward=reward)
        return new

    def flat(self) -> Outcomes:
        """The same problem with one group for each (s, a) over all states: nothing is known of where actions lead.

        Its `succ` and `reward` are written out when they are first asked for. Until then it takes O(S A) memory, and
        one row for each different row of rewards.
        """
        if self.made_flat:
            return self
        S, A = self.group.shape
        new = object.__new__(Outcomes)
        new.__dict__.update(group=frozen(np.arange(S * A, dtype=np.int32).reshape(S, A)))
        new.__dict__.update(size=frozen(np.full(S * A, S, np.int32)), flat_rewards=FlatRewards.of(self))
        kept = [f.name for f in dataclasses.fields(self) if f.name not in ("succ", "reward", "group", "size")]
        new.__dict__.update({name: getattr(self, name) for name in kept})
        return new


class FlatRewards(NamedTuple):
    """R[s, a, s'] for every triple, as exceptions to a rule."""

    otherwise: F3
    """The rule: rewards that broadcast to (S, A, S)."""
    terminal: B1
    """States that pay nothing, (S,)."""
    shape: tuple[int, int, int]
    """S, A, S."""
    pair: I1
    """The exceptions: s A + a, in increasing order, (n,),"""
    y: I1
    """s', (n,),"""
    paid: F1
    """and the reward, (n,)."""

    @staticmethod
    def of(o: Outcomes) -> FlatRewards:
        """The rewards of listed outcomes, and those that hold otherwise."""
        S, A = o.group.shape
        s, a, k = np.nonzero(np.arange(o.n_outcomes) < o.size[o.group][:, :, None])
        y, paid = o.succ[s, a, k], o.reward[s, a, k]
        last = len(s) - 1 - np.unique(((s * A + a) * S + y)[::-1], return_index=True)[1]  # of two rewards of s'
        s, a, y, paid = s[last], a[last], y[last], paid[last]
        rule = cast(F3, o.otherwise.reshape((1,) * (3 - o.otherwise.ndim) + o.otherwise.shape))
        differs = paid != np.where(o.terminal[s], 0.0, np.broadcast_to(rule, (S, A, S))[s, a, y])
        return FlatRewards(rule, o.terminal, (S, A, S), (s * A + a)[differs], y[differs], paid[differs])

    def table(self) -> F3:
        """All of them, (S, A, S)."""
        R = np.array(np.broadcast_to(self.otherwise, self.shape), order="C")
        R[self.terminal] = 0.0
        R.reshape(-1, self.shape[2])[self.pair, self.y] = self.paid
        return R

    def row(self, s: int, a: int) -> F1:
        """Those of (s, a), (S,)."""
        r = np.array(np.broadcast_to(self.otherwise, self.shape)[s, a])
        if self.terminal[s]:
            r[:] = 0.0
        first, end = np.searchsorted(self.pair, [s * self.shape[1] + a, s * self.shape[1] + a + 1])
        r[self.y[first:end]] = self.paid[first:end]
        return r

    def lists(self) -> tuple[Any, F2, I2]:
        """Each different list of outcomes once: next states (U, S), rewards (U, S), and which list each pair has."""
        (S, A, _), rule = self.shape, self.otherwise
        exceptional = np.zeros(S * A, np.bool_)
        exceptional[self.pair] = True
        constant = rule.shape[2] == 1
        numbers: dict[object, int] = {}
        rows: list[tuple[int, int]] = []
        which = np.empty((S, A), np.int64)
        by_rule: dict[tuple[int, int], bytes] = {}
        for s, a in np.ndindex(S, A):
            key: object
            if self.terminal[s]:
                key = int(s)
            elif exceptional[s * A + a]:
                key = self.row(s, a).tobytes()
            else:
                i, j = s % rule.shape[0], a % rule.shape[1]
                if constant:
                    key = rule[i, j, 0].tobytes()
                elif (key := by_rule.get((i, j))) is None:
                    key = by_rule[i, j] = rule[i, j].tobytes()
            if key not in numbers:
                numbers[key] = len(rows)
                rows.append((s, a))
            which[s, a] = numbers[key]
        first = [s for s, _ in rows]
        if constant and not self.terminal.any() and not len(self.pair) and len(rows) * S > MANY_CELLS:
            values = np.array([rule[s % rule.shape[0], a % rule.shape[1], 0] for s, a in rows])
            reward = np.broadcast_to(values[:, None], (len(rows), S))
            return np.broadcast_to(np.arange(S, dtype=np.uint32), reward.shape), reward, which
        succ = np.array(np.broadcast_to(np.arange(S, dtype=np.uint32), (len(rows), S)), order="C")
        ends = self.terminal[first]
        succ[ends] = np.array(first, np.uint32)[ends][:, None]
        return frozen(succ), frozen(np.array([self.row(s, a) for s, a in rows])), which


@explain_failures
@value
class TabularMDP:
    """A known MDP: outcomes, their probabilities, and the discount (1 is allowed if episodes end)."""

    outcomes: Outcomes
    prob: F2
    """Probability of outcome k in group g, shape (G, K)."""
    gamma: float
    """Discount, in [0, 1]."""

    def __post_init__(self) -> None:
        owner = "TabularMDP"
        if not isinstance(self.outcomes, Outcomes):
            raise InvalidArgument(owner, "outcomes", "Outcomes", self.outcomes, "See from_dense for arrays.")
        shape = (self.outcomes.n_groups, self.outcomes.n_outcomes)
        prob = array(owner, "prob", self.prob, shape, low=0.0)
        if prob[~self.outcomes.valid].any():
            raise InvalidArgument(owner, "prob", "zero on padding", float(prob[~self.outcomes.valid].max()))
        prob = rows_sum_to_one(owner, "prob", prob, self.prob)
        object.__setattr__(self, "prob", prob)
        object.__setattr__(self, "gamma", number(owner, "gamma", self.gamma, 0.0, 1.0))

    @classmethod
    def unchecked(cls, outcomes: Outcomes, prob: Floats, gamma: float) -> TabularMDP:
        """For callers inside the library that know their rows sum to one (sampled and mean models)."""
        new = object.__new__(cls)
        object.__setattr__(new, "outcomes", outcomes)
        object.__setattr__(new, "prob", frozen(prob))
        object.__setattr__(new, "gamma", gamma)
        return new

    def __repr__(self) -> str:
        return f"TabularMDP(states={self.n_states}, actions={self.n_actions}, gamma={self.gamma})"

    # Constructors ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_dense(
        cls, P: ArrayLike, R: ArrayLike, gamma: float, start: int | ArrayLike = 0, terminal: Sequence[int] = ()
    ) -> TabularMDP:
        """From P[s, a, s'] and R as (S, A, S), (S, A) (meant for every s') or (S,) (paid for leaving s).

        >>> P = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
        >>> mdp = TabularMDP.from_dense(P, [[0.0, 0.0], [1.0, 1.0]], gamma=0.5)
        >>> mdp.n_states, mdp.n_actions
        (2, 2)
        """
        given, P = P, array("TabularMDP", "P", P, (None, None, None), low=0.0)
        S, A, n = P.shape
        if n != S:
            raise InvalidArgument("TabularMDP", "P", "of shape (S, A, S)", P)
        P = rows_sum_to_one("TabularMDP", "P", P, given)
        s, a, y = np.nonzero(P)
        return cls._of(Listed(S, A, s * A + a, y, P[s, a, y]), None, R, gamma, start, terminal)

    @classmethod
    def from_sparse(
        cls,
        P: Matrices,
        R: ArrayLike | Matrices,
        gamma: float,
        start: int | ArrayLike = 0,
        terminal: Sequence[int] = (),
    ) -> TabularMDP:
        """From one scipy sparse (S, S) matrix for each action, or a single one of shape (S*A, S) with row s*A + a.

        R is an array as in `from_dense`, or sparse like P. Sparse rewards are those of the possible transitions. What
        an impossible one would pay, which a flat prior asks for, follows the rule of `from_gymnasium`.
        """
        t = listed(P)
        if not is_sparse(R):
            return cls._of(t, None, R, gamma, start, terminal)
        return cls._of(t, listed_rewards(R, t), None, gamma, start, terminal)

    @classmethod
    def from_gymnasium(cls, env: Any, gamma: float) -> TabularMDP:
        """From an environment with a table `P[s][a] = [(probability, next state, reward, terminated), ...]`.

        A state that is only ever entered by terminating transitions is terminal. One that is also entered alive (in
        Taxi) keeps its row, and the terminating transitions lead to an added terminal state, `outcomes.end`. The
        environment never reports that state. Beliefs know what is meant if `terminated` is True; `observe` says it.

        What an (s, a, s') that is not in the table would pay is chosen such that the rewards do not say which
        transitions are possible: the reward of s' if each state is always entered with the same reward (FrozenLake);
        otherwise the reward of (s, a) (CliffWalking, Taxi), the most probable one if it has several.
        """
        t, reward, first, terminal, end = from_environment(env)
        return cls._of(t, reward, None, gamma, 0 if first is None else first, terminal, end)

    @classmethod
    def _of(
        cls,
        t: Listed,
        reward: Floats | None,
        R: ArrayLike | None,
        gamma: float,
        start: int | ArrayLike,
        terminal: Sequence[int],
        end: int | None = None,
    ) -> TabularMDP:
        """From a list of transitions with their rewards, or with a table R."""
        S, A = t.S, t.A
        if np.ndim(terminal) != 1:
            raise InvalidArgument("TabularMDP", "terminal", "a sequence of states", terminal)
        ends = np.zeros(S, dtype=np.bool_)
        ends[[integer("TabularMDP", "terminal", x, 0, S - 1) for x in terminal]] = True
        if reward is None:
            table = array("TabularMDP", "R", cast(ArrayLike, R))
            if table.shape not in ((S, A, S), (S, A), (S,)):
                raise InvalidArgument("TabularMDP", "R", f"of shape ({S}, {A}, {S}), ({S}, {A}) or ({S},)", table)
            otherwise = table.reshape(table.shape + (1,) * (3 - table.ndim))
            reward = np.broadcast_to(otherwise, (S, A, S))[t.pair // A, t.pair % A, t.y]
        else:
            otherwise = unlisted_rewards(t, reward, ends)
        n = np.bincount(t.pair, minlength=S * A)
        k = np.arange(len(t.p)) - np.repeat(np.cumsum(n) - n, n)
        K = int(n.max())
        succ, paid, prob = np.zeros((S * A, K), np.int32), np.zeros((S * A, K)), np.zeros((S * A, K))
        succ[t.pair, k], paid[t.pair, k], prob[t.pair, k] = t.y, reward, t.p
        if np.ndim(start) == 0:
            first = np.zeros(S)
            first[integer("TabularMDP", "start", start, 0, S - 1)] = 1.0
            start = first
        group, shape = np.arange(S * A).reshape(S, A), (S, A, K)
        given = cast(F1, start)  # Outcomes checks it
        outcomes = Outcomes(succ.reshape(shape), paid.reshape(shape), group, n, otherwise, given, ends, end)
        return cls(outcomes, prob, gamma)

    # Readings --------------------------------------------------------------------------------------------------------

    def observe(self, observation: int, terminated: bool = False) -> int:
        """The state of an environment's observation: another number only if the episode has ended (`outcomes.end`)."""
        state, end = integer("TabularMDP", "observation", observation, 0, self.n_states - 1), self.outcomes.end
        return end if terminated and end is not None and not self.outcomes.terminal[state] else state

    @property
    def n_states(self) -> int:
        """S."""
        return self.outcomes.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.outcomes.n_actions

    @property
    def succ(self) -> I3:
        """Next state of outcome k, (S, A, K)."""
        return self.outcomes.succ

    @property
    def reward(self) -> F3:
        """Reward of outcome k, (S, A, K)."""
        return self.outcomes.reward

    @property
    def group(self) -> I2:
        """The distribution that draws (s, a)'s outcome, (S, A)."""
        return self.outcomes.group

    @cached_property
    def mean_reward(self) -> F2:
        """Expected reward of (s, a), shape (S, A)."""
        if self.outcomes.is_flat:  # without a copy of every row
            return frozen(np.einsum("sak,sak->sa", self.prob.reshape(self.reward.shape), self.reward))
        return frozen(np.einsum("sak,sak->sa", self.prob[self.group], self.reward))

    @cached_property
    def matrix(self) -> F2:
        """P as a dense (S*A, S) matrix, for BLAS; terminal states absorb."""
        S, A, K = self.succ.shape
        if self.outcomes.is_flat:
            return self.prob
        cells = np.repeat(np.arange(S * A) * S, K) + self.succ.ravel()
        summed = np.bincount(cells, self.prob[self.group].ravel(), S * A * S)
        return frozen(np.asarray(summed, np.float64).reshape(S * A, S))

    def dense(self) -> tuple[F3, F3]:
        """(P[s, a, s'], R[s, a, s']), the reward defined for every triple."""
        S, A = self.group.shape
        return self.matrix.reshape(S, A, S).copy(), self.outcomes.rewards()
