"""POMDPs from lists of outcomes: what the files of this folder have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesrl.checks import Floats, Ints
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes, TabularPOMDP, mean_over_observations

Rows = Sequence[Sequence[float]]
"""One row for each group; they may have different lengths."""


def listed_pomdp(
    succ: Ints,
    group: Ints,
    prob: Rows,
    observed: ObservationOutcomes,
    observation_prob: Rows,
    R: Floats,
    gamma: float,
    start: Floats,
    terminal: Sequence[int] = (),
) -> TabularPOMDP:
    """A POMDP from next states succ[s, a, k], their groups (S, A) and rows, what is seen, and R, without P[s, a, s'].

    R has the shape (S, A), (S, A, S) or (S, A, S, Z).
    """
    S, A, _ = succ.shape
    rows = padded(prob)
    shown = padded(observation_prob)
    if R.ndim == 4:
        seen = np.zeros((S, A, observed.n_observations))
        np.add.at(seen, (*np.indices((S, A))[..., None], observed.observation), shown[observed.group])
        paid = mean_over_observations(R, seen)
    else:
        paid = R
    table = paid[:, :, None] if paid.ndim == 2 else paid
    each = np.broadcast_to(table, succ.shape) if paid.ndim == 2 else np.take_along_axis(table, succ, axis=2)
    ends = np.zeros(S, np.bool_)
    ends[list(terminal)] = True
    size = np.array([len(row) for row in prob])
    mdp = TabularMDP(Outcomes(succ, each, group, size, table, start, ends), rows, gamma)
    return TabularPOMDP(mdp, observed, shown, R)


def padded(rows: Rows) -> Floats:
    """Rows of different lengths as one table (G, K), zero beyond the end of a row."""
    table = np.zeros((len(rows), max(map(len, rows))))
    for g, row in enumerate(rows):
        table[g, : len(row)] = row
    return table


def observations_by_state(shown: ArrayLike, n_actions: int) -> tuple[ObservationOutcomes, list[list[float]]]:
    """The observations, if they depend on the state reached only, and their rows, from the probabilities (S, Z)."""
    seen: NDArray[np.float64] = np.asarray(shown, np.float64)
    S, Z = seen.shape
    kinds, which = np.unique(seen, axis=0, return_inverse=True)
    some = [np.flatnonzero(row).tolist() for row in kinds]
    observation = np.zeros((S, n_actions, max(map(len, some))), np.int64)
    for s, g in enumerate(which.ravel().tolist()):
        observation[s, :, : len(some[g])] = some[g]
    group = np.repeat(which.reshape(S, 1), n_actions, axis=1)
    size = np.array([len(one) for one in some])
    return ObservationOutcomes(observation, group, size, Z), [
        row[one].tolist() for row, one in zip(kinds, some, strict=True)
    ]
