"""The outcomes of a finite MDP, and the groups of pairs that share their probabilities.

One representation serves flat, listed, known and tied models. Compiled planners read it:

    succ[s, a, k]    next state of outcome k           (int32, padded)
    reward[s, a, k]  reward of outcome k
    group[s, a]      index of the distribution of the outcome

All models of one problem share their `Outcomes`: the true model, sampled models and the mean model. A model adds the
probabilities of each group. A reward is defined for every (s, a, s'), even if the model gives s' no probability, since
a flat prior needs it. `otherwise` holds the rewards of transitions that are not listed.

A terminal state is absorbing and pays nothing, whatever its row says.

`outcome_of` finds the outcome that a transition shows.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, as_array, frozen, indices, integer, rows_sum_to_one
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.arrays import B1, B2, F1, F2, F3, I1, I2, I3
from bayesrl.kernels.jit import njit
from bayesrl.models._flat_rewards import MANY_CELLS, FlatRewards
from bayesrl.parameters import value
from bayesrl.traits import Traits


@explain_failures
@value
class Outcomes:
    """The possible outcomes of each action in each state. This part of a model is never uncertain."""

    succ: I3
    """Next state of outcome k, shape (S, A, K)."""
    reward: F3
    """Reward of outcome k, shape (S, A, K)."""
    group: I2
    """The index of the distribution of (s, a)'s outcome, shape (S, A). Groups are numbered from 0 without gaps."""
    size: I1
    """Number of outcomes of each group, shape (G,); outcomes k >= size[group[s, a]] are padding."""
    otherwise: Floats
    """Reward of a transition (s, a, s') that is not listed, broadcast to (S, A, S)."""
    start: F1
    """Distribution of the first state of an episode, shape (S,)."""
    terminal: B1
    """States that end an episode, shape (S,)."""
    traits: ClassVar[Traits] = Traits(not_saved=("flat_rewards",))  # a file holds `succ` and `reward` instead
    end: int | None = None
    """The terminal state that represents the end of an episode in a state that is not terminal. None if episodes end in
    terminal states only."""

    def __post_init__(self) -> None:
        owner = "Outcomes"
        S, A, K = table.shape if (table := as_array(self.succ)).ndim == 3 else (None, None, None)
        succ = array(owner, "succ", self.succ, (S, A, K))
        S, A, K = succ.shape
        group, size = grouped(owner, self.group, self.size, (S, A, K))
        terminal = as_array(self.terminal)
        if terminal.shape != (S,) or terminal.dtype.kind not in "biuf":
            raise InvalidArgument(owner, "terminal", f"an array of shape ({S},)", self.terminal)
        terminal = frozen(terminal.astype(np.bool_))
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
        # Padding is set to 0, so that equal outcomes have equal arrays. Terminal states are absorbing and pay nothing.
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
        """Compute `succ` and `reward` of flat outcomes, (S, A, S), when they are first needed."""
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
        """K, the largest number of outcomes of any (s, a)."""
        return self.n_states if self.made_flat else int(self.succ.shape[2])

    @property
    def made_flat(self) -> bool:
        """Whether `flat` made these outcomes. Outcome k then leads to state k, except from terminal states."""
        return "flat_rewards" in self.__dict__

    def reward_of(self, s: int, a: int, k: int) -> float:
        """The reward of outcome k of (s, a), without writing out the table of all rewards."""
        try:
            if not self.made_flat:
                return float(self.reward[s, a, k])
            _, reward, place, _, _ = self.distinct_lists
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
    def has_terminals(self) -> bool:
        """Whether any state is terminal."""
        return bool(self.terminal.any())

    @cached_property
    def is_flat(self) -> bool:
        """Whether every (s, a) has its own group over all states in order. `prob` then equals P, row by row."""
        if self.made_flat:
            return not self.terminal.any()
        S, A, K = self.succ.shape
        if K != S or self.terminal.any():
            return False
        rows = np.array_equal(self.group.ravel(), np.arange(S * A))
        return rows and bool((self.succ == np.arange(S)).all())

    @cached_property
    def distinct_lists(self) -> tuple[I2, F2, I3, bool, B1]:
        """The outcomes in the form that simulations read, where equal lists are stored once and stay in the cache.

        Returns succ (U, K); reward (U, K); the group and the list of each (s, a), shape (S, A, 2); whether the model is
        flat (the group of (s, a) is s A + a, and outcome k leads to state k); and terminal. The lists of a flat model
        differ only in their rewards: the maze with 264 states has 4 of them, not 1056.
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
        """The smallest and the largest reward of any outcome, including the 0 of terminal states."""
        if self.made_flat:
            paid = self.distinct_lists[1]
            return float(paid.min()), float(paid.max())
        paid = self.reward[self.valid[self.group]]
        return float(paid.min()), float(paid.max())

    def of_pairs(self, x: F2) -> F3:
        """Convert a table by groups (G, K) to one by pairs (S, A, K), without a copy if possible."""
        return x.reshape(*self.group.shape, -1) if self.is_flat else np.asarray(x[self.group])

    @cached_property
    def largest_reward(self) -> float:
        """The largest |reward| of any outcome."""
        return float(np.abs(self.distinct_lists[1] if self.made_flat else self.reward).max())

    @cached_property
    def ambiguous(self) -> tuple[int, int] | None:
        """The first (s, a) with two outcomes that have the same next state and reward; None if there is none."""
        if self.is_flat or self.made_flat:
            return None
        for s, a in np.ndindex(*self.group.shape):
            n = self.size[self.group[s, a]]
            seen = set(zip(self.succ[s, a, :n].tolist(), self.reward[s, a, :n].tolist(), strict=True))
            if len(seen) < n and not self.terminal[s]:
                return int(s), int(a)
        return None

    def rewards(self) -> F3:
        """R[s, a, s'] for every triple. If a next state is listed with several rewards, the last one counts."""
        return (self.flat_rewards if self.made_flat else FlatRewards.of(self)).table()

    def described(self) -> dict[str, object] | None:
        """The sizes that a record stores in place of too many outcomes; None if it stores the arrays."""
        if not self.made_flat or self.group.size * self.n_outcomes <= MANY_CELLS:
            return None
        return {"type": "Outcomes", "flat": self.flat_rewards._asdict(), "start": self.start}

    def with_rewards(self, reward: F3) -> Outcomes:
        """The same outcomes with other rewards (S, A, K), unchecked, for models drawn from a belief about rewards."""
        new = object.__new__(Outcomes)
        kept = ("succ", "group", "size", "otherwise", "start", "terminal", "end")
        new.__dict__.update({name: getattr(self, name) for name in kept}, reward=reward)
        return new

    def flat(self) -> Outcomes:
        """The same problem with one group over all states for each (s, a), so that every next state is possible.

        `succ` and `reward` are computed when they are first needed. Until then the result takes O(S A) memory, and a
        row of memory for each distinct row of rewards.
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


def grouped(owner: str, group: ArrayLike, size: ArrayLike, shape: tuple[int, int, int]) -> tuple[I2, I1]:
    """Check the groups (S, A) of pairs and their numbers of outcomes (G,), at most K, where `shape` is (S, A, K)."""
    S, A, K = shape
    group = indices(owner, "group", group, (S, A), S * A)
    size = indices(owner, "size", size, (int(group.max()) + 1,), K + 1)
    if set(group.ravel().tolist()) != set(range(len(size))):
        raise InvalidArgument(owner, "group", "numbered from 0 without gaps", sorted(set(group.ravel().tolist())))
    if size.min() < 1:
        raise InvalidArgument(owner, "size", "at least 1 everywhere", int(size.min()))
    return group, size


# The outcome of a transition ------------------------------------------------------------------------------------------


def outcome_of(owner: str, outcomes: Outcomes, datum: Transition, rewarded: bool = True) -> tuple[int, int, int]:
    """The outcome (s, a, k) of a transition. `rewarded=False` identifies it by the next state only."""
    s, a, y = _indices(owner, outcomes, datum)
    r = _reward(owner, datum) if rewarded else np.nan
    y = reached_state(owner, outcomes, y, datum) if datum.terminated else y
    if outcomes.made_flat:
        k = y if not rewarded or abs(outcomes.reward_of(s, a, y) - r) <= 1e-9 * (1.0 + abs(r)) else -1
    else:
        k = locate(outcomes.succ[s, a], outcomes.reward[s, a], outcomes.size[outcomes.group.item(s, a)], y, r)
    if k < 0 or outcomes.terminal[s]:
        raise impossible(owner, outcomes, datum, rewarded)
    return s, a, k


def impossible(owner: str, outcomes: Outcomes, datum: Transition, rewarded: bool) -> ImpossibleEvidence:
    """The error for a transition that cannot happen."""
    seen = f"({datum.state}, {datum.action}) -> {datum.next_state}"
    why = "a terminal state has no transitions" if outcomes.terminal[datum.state] else "no outcome is listed for it"
    return ImpossibleEvidence(owner, seen + (f" with reward {datum.reward:g}" if rewarded else ""), why)


def reached_state(owner: str, outcomes: Outcomes, y: int, datum: Transition) -> int:
    """The state that a transition reached. If it is `terminated` in a state that is not terminal, this is the model's
    state `end`. A model without such a state raises an error."""
    if not datum.terminated or outcomes.terminal[y]:
        return y
    if outcomes.end is None:
        seen = f"The end of the episode in state {datum.next_state}"
        raise ImpossibleEvidence(owner, seen, "that state is not terminal")
    return outcomes.end


@njit
def locate(succ: Any, reward: Any, size: int, y: int, r: float) -> int:
    """The outcome with next state y and reward r (any reward if r is NaN), or -1. A flat row has it at k = y."""
    if y < size and succ[y] == y and (np.isnan(r) or abs(reward[y] - r) <= 1e-9 * (1.0 + abs(r))):
        return y
    for k in range(size):
        if succ[k] == y and (np.isnan(r) or abs(reward[k] - r) <= 1e-9 * (1.0 + abs(r))):
            return k
    return -1


def _indices(owner: str, outcomes: Outcomes, datum: Transition) -> tuple[int, int, int]:
    S, A = outcomes.n_states, outcomes.n_actions
    try:
        if not isinstance(datum, Transition):
            raise TypeError
        s, a, y = operator.index(datum[0]), operator.index(datum[1]), operator.index(datum[3])
        if 0 <= s < S and 0 <= a < A and 0 <= y < S:
            return s, a, y
    except TypeError:
        pass
    for name, high in (("state", S), ("action", A), ("next_state", S)):
        if not hasattr(datum, name):
            break
        got = getattr(datum, name)
        if not (isinstance(got, (int, np.integer)) and 0 <= got < high):
            raise InvalidArgument(f"{owner}.update", name, f"a whole number from 0 to {high - 1}", got)
    raise InvalidArgument(f"{owner}.update", "datum", "a Transition", datum)


def _reward(owner: str, datum: Transition) -> float:
    try:
        r = math.nan if isinstance(datum.reward, (str, bytes)) else float(datum.reward)
    except (TypeError, ValueError, OverflowError):
        r = math.nan
    if not math.isfinite(r):
        raise InvalidArgument(f"{owner}.update", "reward", "a finite number", datum.reward)
    return r
