"""Demonstrations: what an expert did, as pairs of a state and an action, and how likely that is.

They may be given as a record, as columns, as transitions, as pairs, or as a sequence of such logs. Where next states
are given, they must be possible: the dynamics are known.

Their likelihood is that of an expert that prefers good actions,

    p(D | w) = prod_i exp(c Q*(s_i, a_i)) / sum_b exp(c Q*(s_i, b)),

normalised for each pair. It depends on the pairs through their numbers n(s, a) only, so that its cost is that of the
demonstrated states. A constant added to all rewards changes nothing; c R with rationality 1 is R with rationality c.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bayesrl.beliefs.log import Frame, columns, table_of
from bayesrl.checks import Floats, Ints, frozen, indices
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.record import Record

EXPECTED = "a record, transitions, or pairs (state, action)"


def pairs_of(owner: str, log: Any, mdp: TabularMDP) -> Ints:
    """The pairs of demonstrations, (N, 2), oldest first. A sequence of logs is one log after the other."""
    found = list(_parts(owner, log, mdp))
    if not found:
        raise InvalidArgument(owner, "demonstrations", "at least one pair (state, action)", log)
    return frozen(np.concatenate(found))


def trajectories_of(owner: str, logs: Any, mdp: TabularMDP) -> tuple[Ints, ...]:
    """The pairs of each demonstration in a sequence of logs, each (N, 2)."""
    one = isinstance(logs, (str, Transition)) or not isinstance(logs, Iterable) or table_of(logs) is not None
    one = one or np.ndim(_first_axis(logs)) == 0
    listed = [] if one else list(logs)
    if one or any(_is_step(part) for part in listed):
        raise InvalidArgument(owner, "demonstrations", "a sequence of logs, one for each trajectory", logs)
    if not listed:
        raise InvalidArgument(owner, "demonstrations", "at least one trajectory", logs)
    return tuple(pairs_of(owner, part, mdp) for part in listed)


def _is_step(part: Any) -> bool:
    """Whether something is a transition or a pair."""
    if isinstance(part, Transition):
        return True
    listed = part.ndim > 0 if isinstance(part, np.ndarray) else isinstance(part, (tuple, list))
    return listed and len(part) == 2 and all(np.ndim(x) == 0 for x in part)


def _parts(owner: str, log: Any, mdp: TabularMDP) -> Iterable[Ints]:
    if not isinstance(log, (list, tuple)) and isinstance(log, (Record, Mapping, Frame)):
        if isinstance(log, Record):
            _check_sizes(owner, log, mdp)
        yield _from_table(owner, log, mdp)
    elif isinstance(log, str) or not isinstance(log, Iterable) or np.ndim(_first_axis(log)) == 0:
        raise InvalidArgument(owner, "demonstrations", EXPECTED, log)
    elif isinstance(log, np.ndarray) and log.ndim == 2 and log.shape[1:] == (2,) and log.dtype != object:
        if len(log):
            yield _checked(owner, log[:, 0], log[:, 1], mdp)
    else:
        yield from _from_steps(owner, list(log), mdp)


def _first_axis(log: Any) -> Any:
    return log if isinstance(log, np.ndarray) else [0]


def _from_steps(owner: str, steps: list[Any], mdp: TabularMDP) -> Iterable[Ints]:
    if all(isinstance(x, Transition) for x in steps) and steps:
        s, a, y = ([getattr(x, name) for x in steps] for name in ("observation", "action", "next_observation"))
        yield _checked(owner, s, a, mdp, y, [bool(x.terminated) for x in steps])
    elif all(_is_step(x) and not isinstance(x, Transition) for x in steps) and steps:
        yield _checked(owner, [x[0] for x in steps], [x[1] for x in steps], mdp)
    else:
        for x in steps:
            if _is_step(x):
                yield from _from_steps(owner, [x], mdp)
            else:
                yield from _parts(owner, x, mdp)


def _from_table(owner: str, log: Any, mdp: TabularMDP) -> Ints:
    s, a = columns(owner, log, "observation", "action")
    if not len(s):
        raise InvalidArgument(owner, "demonstrations", "at least one step", log)
    table = table_of(log)
    later = {name for name in ("next_observation", "next_state", "terminated") if table is not None and name in table}
    if not later - {"terminated"}:
        return _checked(owner, s, a, mdp)
    (y,) = columns(owner, log, "next_observation")
    ended = columns(owner, log, "terminated")[0] if "terminated" in later else np.zeros(len(y), bool)
    return _checked(owner, s, a, mdp, y, ended)


def _checked(owner: str, s: Any, a: Any, mdp: TabularMDP, y: Any = None, ended: Any = None) -> Ints:
    """Pairs within range whose next states, if known, are possible."""
    S, A = mdp.group.shape
    state, action = indices(owner, "state", s, (None,), S), indices(owner, "action", a, (len(s),), A)
    if y is not None:
        o = mdp.outcomes
        after = indices(owner, "next_state", y, (len(s),), S)
        if o.end is not None:
            after = np.where(np.asarray(ended, bool) & ~o.terminal[after], o.end, after)
        for i in np.flatnonzero(~_possible(mdp, state, action, after))[:1]:
            seen = f"({state[i]}, {action[i]}) -> {after[i]}"
            raise ImpossibleEvidence(owner, seen, "the dynamics do not allow it; is this a record of another world?")
    return np.stack([state, action], axis=1).astype(np.int64)


def _possible(mdp: TabularMDP, s: Ints, a: Ints, y: Ints) -> Any:
    """Whether next states have positive probability, (N,)."""
    if mdp.outcomes.is_flat:
        return mdp.prob[mdp.group[s, a], y] > 0.0
    return ((mdp.succ[s, a] == y[:, None]) & (mdp.prob[mdp.group[s, a]] > 0.0)).any(axis=1)


def _check_sizes(owner: str, record: Record, mdp: TabularMDP) -> None:
    """Raise an error if a record says that its world had other numbers of states and actions."""
    said = record.provenance.get("world")
    for name in ("mdp", "outcomes", "group"):
        said = said.get(name) if isinstance(said, Mapping) else None
    shape = said.get("array") if isinstance(said, Mapping) else None
    if shape is not None and tuple(shape) != mdp.group.shape:
        expected = "a record of this world, with {} states and {} actions".format(*mdp.group.shape)
        raise InvalidArgument(owner, "demonstrations", expected, "one with {} and {}".format(*shape))


# The likelihood -------------------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """How often each action was taken in the demonstrated states."""

    states: Ints
    """The demonstrated states, (n,)."""
    taken: Floats
    """n(s, a) for these states, (n, A)."""

    @staticmethod
    def of(pairs: Ints, n_actions: int) -> Counts:
        """Count pairs (N, 2)."""
        states, at = np.unique(pairs[:, 0], return_inverse=True)
        taken = np.bincount(at * n_actions + pairs[:, 1], minlength=len(states) * n_actions)
        return Counts(states, taken.reshape(len(states), n_actions).astype(np.float64))


def log_softmax(q: Floats, c: float) -> Floats:
    """Log probability of each action, (..., A), for action values q (..., A) and rationality c."""
    z = c * q
    z -= z.max(axis=-1, keepdims=True)
    return np.asarray(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))


def log_likelihood(q: Floats, n: Counts, c: float) -> float:
    """Log probability of the demonstrations given action values (S, A)."""
    return float((n.taken * log_softmax(q[n.states], c)).sum())


def slope(q: Floats, n: Counts, c: float) -> Floats:
    """The derivative of the log likelihood in the action values, (S, A): c (n(s, a) - n(s) p(a | s))."""
    y = np.zeros(q.shape)
    y[n.states] = c * (n.taken - n.taken.sum(axis=1, keepdims=True) * special.softmax(c * q[n.states], axis=-1))
    return y
