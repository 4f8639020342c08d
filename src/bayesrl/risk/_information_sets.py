"""Information sets over a horizon: what a policy may know when it decides, for both solvers of Chen and Bowling (2012).

If all models share their transitions, a set is a pair (t, s), index t S + s. Otherwise a set is a history
(s0, a0, s1, ..., st), since states seen tell which model it is, and the optimum depends on them. Rewards are not
observed. Sets are numbered in order of time. An edge leads from a set, an action and a next state to the next set. No
edge leads to a terminal state, or from the last step.

    plan x[i, a]     sum_a x[i, a] = first[i] + sum over the edges e into i of flow[e] x[parent of e]
    return of m      sum over i, a of c_m[i, a] x[i, a]

For histories, first and flow are 1: x is the product of the player's own probabilities (a realisation plan), and c_m
contains gamma^t, the probability that m gives to the states of the history, and the mean reward. For sets (t, s), first
is P0 and flow is P: x is the probability of being in s at t and taking a, and c_m is gamma^t times the mean reward. The
strategy of a plan is x[i, a] / sum_a x[i, a]. The average of plans is a plan; the average of strategies is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Bools, Floats, Ints, frozen, indices, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import draw_action
from bayesrl.parameters import value

NONE = -1
"""No information set: before the first decision, or in a state that no set has."""

COUNTED = 1000
"""A tree that is too large is counted for at most this number of steps."""


@explain_failures
@value
class InformationSets:
    """N information sets in order of time, and the edges between them. Edges are sorted by set, action, next state."""

    state: Ints
    """The state of each set, (N,)."""
    step: Ints
    """The decisions before each set, (N,)."""
    entry: Ints
    """The first set of each state, (S,); -1 if no set has it."""
    offset: Ints
    """The edges of set i and action a are offset[i A + a] up to offset[i A + a + 1], (N A + 1,)."""
    seen: Ints
    """The next state of each edge, (E,)."""
    child: Ints
    """The next set of each edge, (E,)."""
    histories: bool
    """Whether sets are histories, and not pairs (t, s)."""

    def __post_init__(self) -> None:
        owner, N, S, E = "InformationSets", np.size(self.state), np.size(self.entry), np.size(self.seen)
        tops = {"state": S, "step": N, "offset": E + 1, "seen": S, "child": N}
        for name, top in tops.items():
            given = np.asarray(getattr(self, name))
            checked = given if given.size == 0 else indices(owner, name, given, (None,), top)
            object.__setattr__(self, name, frozen(checked.astype(np.int64)))
        entry = indices(owner, "entry", np.asarray(self.entry) + 1, (S,), N + 1).astype(np.int64) - 1
        object.__setattr__(self, "entry", frozen(entry))
        A, rest = divmod(len(self.offset) - 1, N)
        if rest or A < 1 or len(self.child) != E or (np.diff(self.offset) < 0).any() or self.offset[-1] != E:
            raise InvalidArgument(owner, "offset", "the first edge of each set and action", self.offset)

    def __len__(self) -> int:
        return len(self.state)

    @property
    def n_actions(self) -> int:
        """A."""
        return (len(self.offset) - 1) // len(self.state)

    @cached_property
    def parent(self) -> Ints:
        """The set and action i A + a of each edge, (E,)."""
        return frozen(np.repeat(np.arange(len(self.offset) - 1), np.diff(self.offset)))

    @cached_property
    def levels(self) -> tuple[tuple[int, int], ...]:
        """The first set of each step and the first set after it."""
        cuts = np.searchsorted(self.step, np.arange(int(self.step[-1]) + 2)).tolist()
        return tuple(pairwise(cuts))

    def next_set(self, i: int, a: int, s: int) -> int:
        """The set after set i, action a and next state s; -1 if there is none."""
        low, high = self.offset[i * self.n_actions + a : i * self.n_actions + a + 2]
        e = int(low + np.searchsorted(self.seen[low:high], s))
        return int(self.child[e]) if e < high and self.seen[e] == s else NONE

    def on_edges(self, matrix: Floats) -> Floats:
        """The probabilities of the edges in a model with this transition matrix (S A, S), shape (E,)."""
        i, a = np.divmod(self.parent, self.n_actions)
        return np.asarray(matrix[self.state[i] * self.n_actions + a, self.seen])


class Flow(NamedTuple):
    """Which plans there are (see the formula above)."""

    first: Floats
    """(N,)."""
    edge: Floats
    """(E,)."""


# Making them ---------------------------------------------------------------------------------------------------------


def share_transitions(models: Sequence[TabularMDP]) -> bool:
    """Whether all models have the same transition probabilities."""
    one = models[0]
    return all(
        (m.outcomes is one.outcomes and m.prob is one.prob) or np.array_equal(m.matrix, one.matrix) for m in models[1:]
    )


def possible_in(models: Sequence[TabularMDP]) -> Bools:
    """The next states of each pair that have positive probability in a model, (S A, S)."""
    return np.asarray(np.any([m.matrix > 0.0 for m in models], axis=0))


def pairs_in_time(owner: str, model: TabularMDP, horizon: int, nodes: int) -> InformationSets:
    """The sets (t, s), t < horizon, index t S + s, for models that share the transitions of this one."""
    S, A = model.group.shape
    if horizon * S > nodes:
        hint = f"There are 'horizon' times {S} pairs of step and state. Lower 'horizon'."
        raise InvalidArgument(owner, "nodes", f"at least {horizon * S} for {horizon} steps", nodes, hint)
    pair, seen = np.nonzero(_continues(possible_in([model]), model))
    late = np.arange(horizon - 1)[:, None]
    parent, child = (late * S * A + pair).ravel(), ((late + 1) * S + seen).ravel()
    offset = np.searchsorted(parent, np.arange(horizon * S * A + 1))
    state, step = np.tile(np.arange(S), horizon), np.repeat(np.arange(horizon), S)
    return InformationSets(state, step, np.arange(S), offset, np.tile(seen, horizon - 1), child, False)


def histories(owner: str, model: TabularMDP, possible: Bools, horizon: int, nodes: int) -> InformationSets:
    """The histories of up to `horizon` decisions that start, end and go on as in this model.

    `possible` (S A, S) lists the next states of each pair. More than `nodes` histories are refused.
    """
    S, A = model.group.shape
    possible = _continues(possible, model)
    roots = np.flatnonzero((model.outcomes.start > 0.0) & ~model.outcomes.terminal)
    if len(roots) == 0:
        raise InvalidArgument(owner, "problem", "able to start in a state that is not terminal", "no such state")
    _refuse_many(owner, possible, roots, (S, A, horizon), nodes)
    pair, next_ = np.nonzero(possible)
    below = np.searchsorted(pair, np.arange(S * A + 1))  # the successors of a pair, in order
    states, offsets, seen = [roots], [np.zeros(1, np.int64)], [np.zeros(0, np.int64)]
    for step in range(horizon):
        pairs = (states[-1][:, None] * A + np.arange(A)).ravel()
        n = np.diff(below)[pairs] if step < horizon - 1 else np.zeros(len(pairs), np.int64)
        ends = np.cumsum(n)
        found = next_[np.repeat(below[pairs] - (ends - n), n) + np.arange(ends[-1])]
        offsets.append(offsets[-1][-1] + ends)
        seen.append(found)
        if len(found) == 0:
            break
        states.append(found)
    state, edges = np.concatenate(states), np.concatenate(seen)
    steps = np.repeat(np.arange(len(states)), [len(level) for level in states])
    entry = np.full(S, NONE)
    entry[state[::-1]] = np.arange(len(state))[::-1]  # the first of each
    child = len(roots) + np.arange(len(edges))
    return InformationSets(state, steps, entry, np.concatenate(offsets), edges, child, True)


def _continues(possible: Bools, model: TabularMDP) -> Bools:
    """The next states of each pair after which an episode goes on, (S A, S)."""
    ends = model.outcomes.terminal
    return np.asarray(possible & ~ends & ~np.repeat(ends, model.n_actions)[:, None])


def _refuse_many(owner: str, possible: Bools, roots: Ints, size: tuple[int, int, int], nodes: int) -> None:
    """Count the histories, and raise an error if there are more than `nodes`."""
    S, A, horizon = size
    moves = possible.reshape(S, A, S).sum(axis=1, dtype=np.float64)
    ending = np.bincount(roots, minlength=S).astype(np.float64)
    total, fits = 0.0, 0
    for step in range(horizon):
        total += ending.sum()
        fits = step + 1 if total <= nodes else fits
        if not ending.any() or total > 1e300 or (total > nodes and step > COUNTED):
            break
        ending = ending @ moves
    if total > nodes:
        hint = f"Lower 'horizon' ({fits} would fit), or raise 'nodes'." if fits else "Raise 'nodes'."
        raise InvalidArgument(owner, "nodes", f"at least {total:.7g} for the histories of {horizon} steps", nodes, hint)


# Plans and values ----------------------------------------------------------------------------------------------------


def flow_of(sets: InformationSets, model: TabularMDP) -> Flow:
    """Which plans there are: realisation plans of histories, or occupancies of (t, s) with a model's transitions."""
    root = sets.step == 0
    if sets.histories:
        return Flow(root.astype(np.float64), np.ones(len(sets.seen)))
    return Flow(np.where(root, model.outcomes.start[sets.state], 0.0), sets.on_edges(model.matrix))


def coefficients(sets: InformationSets, model: TabularMDP) -> Floats:
    """c of a model: its return is the sum of c times a plan, (N, A)."""
    reach = np.ones(len(sets))
    if sets.histories:  # times the probability of the states
        start, prob = np.where(sets.step == 0, model.outcomes.start[sets.state], 0.0), sets.on_edges(model.matrix)
        reach = forward(sets, np.ones((len(sets), sets.n_actions)), Flow(start, prob))[:, 0]
    return np.asarray((model.gamma**sets.step * reach)[:, None] * model.mean_reward[sets.state])


def forward(sets: InformationSets, strategy: Floats, flow: Flow) -> Floats:
    """The plan x of a strategy (N, A), shape (N, A)."""
    A = sets.n_actions
    arrive, x = flow.first.copy(), np.empty_like(strategy)
    for low, high in sets.levels:
        x[low:high] = arrive[low:high, None] * strategy[low:high]
        edges = slice(sets.offset[low * A], sets.offset[high * A])
        moved = np.bincount(sets.child[edges] - high, x.ravel()[sets.parent[edges]] * flow.edge[edges])
        arrive[high : high + len(moved)] += moved
    return x


def backward(sets: InformationSets, c: Floats, flow: Flow, strategy: Floats | None = None) -> Floats:
    """The return of an action from its set on, per unit of plan, q[i, a]; without a strategy the best one follows.

    The return of the strategy is first . v, where v[i] is the average of q[i], or the maximum for the best strategy.
    """
    A, q, v = sets.n_actions, np.array(c, dtype=np.float64), np.zeros(len(sets))
    for low, high in reversed(sets.levels):
        edges = slice(sets.offset[low * A], sets.offset[high * A])
        earned = flow.edge[edges] * v[sets.child[edges]]
        q[low:high] += np.bincount(sets.parent[edges] - low * A, earned, (high - low) * A).reshape(-1, A)
        v[low:high] = q[low:high].max(axis=1) if strategy is None else (strategy[low:high] * q[low:high]).sum(axis=1)
    return q


def strategy_of(x: Floats, otherwise: Floats) -> Floats:
    """The strategy of a plan, (N, A); sets that it does not reach take the rows of `otherwise`."""
    x = np.maximum(x, 0.0)
    total = x.sum(axis=1, keepdims=True)
    reached = total > 0.0
    return frozen(np.where(reached, x / np.where(reached, total, 1.0), otherwise))


# Acting --------------------------------------------------------------------------------------------------------------


class HistorySolution:
    """A solution over information sets. It is a planner: it ignores the belief, and its memory is its information set.

    It moves along `last`: the action taken and the state seen lead to the next set. A new episode begins in the first
    set of the observed state. After `horizon` decisions it starts again in the same way, also within an episode. If no
    set has the state, its actions are uniform.
    """

    needs: ClassVar[tuple[type, ...]] = ()
    sets: InformationSets
    """The information on which it may decide."""
    strategy: Floats
    """The probability of each action in each information set, (N, A)."""

    def start(self) -> int:
        """No information set yet."""
        return NONE

    def plan(
        self, belief: object, observation: int, memory: int, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Move to the next information set and draw an action. `info` has the set and its probabilities."""
        owner, sets = type(self).__name__, self.sets
        s = integer(owner, "observation", observation, 0, len(sets.entry) - 1)
        i = NONE
        if memory != NONE and last is not None and not last.ends_episode:
            i = sets.next_set(memory, integer(owner, "action", last.action, 0, sets.n_actions - 1), s)
        i = int(sets.entry[s]) if i == NONE else i
        row = self.strategy[i] if i != NONE else np.full(sets.n_actions, 1.0 / sets.n_actions)
        return Decision(draw_action(owner, row, rng), i, {"probability": row, "information_set": i})
