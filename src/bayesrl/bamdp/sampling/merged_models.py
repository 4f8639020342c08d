"""Many sampled models at once: merged into one hyper-model (BOSS and its variants), or solved side by side.

A model drawn from a flat belief over many states gives nearly all of its probability to few of them. If a belief can
draw single rows as short lists (`SamplesShortRows`), only the rows that are used are drawn, and the hyper-model
consists of lists. Any other belief draws whole models.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.capabilities import ListsOutcomes, SamplesMDPs, offers
from bayesrl.checks import Floats, Ints, array, frozen
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.solve import solve, solve_many

SWEPT = 0.99
"""Largest discount at which a hyper-model of lists is solved by sweeps; factorised random lists fill in."""

N = TypeVar("N", Floats, Ints)
Sizes = NDArray[np.int64]
"""How many models each group may choose from, (G,)."""


@runtime_checkable
class SamplesShortRows(ListsOutcomes, Protocol):
    """A belief that can draw single rows as short lists of outcomes, for models with many states."""

    @property
    def draws_short_rows(self) -> bool:
        """Whether a drawn row has far fewer outcomes than there are states."""

    def sample_rows(self, groups: Ints, rng: Generator) -> tuple[Ints, Ints, Floats]:
        """Draw the rows of n groups as lists of at most L outcomes.

        Returns the lengths of the lists (n,), the outcomes (n, L) and their probabilities (n, L).
        """


class SamplesListedMDPs(SamplesMDPs, ListsOutcomes, Protocol):
    """A belief from which models with listed outcomes can be drawn."""


def hyper_q(belief: SamplesListedMDPs, sizes: Sizes, warm: Floats | None, rng: Generator) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of a hyper-model drawn from the belief; q is the best over its models.

    Group g may choose from the first sizes[g] of them. The solve starts from the values `warm`.
    """
    model, method = draw_merged(belief, sizes, rng), "auto"
    if draws_short_rows(belief):
        warm = model.mean_reward.max(axis=1) if warm is None else warm
        method = "modified-policy-iteration" if belief.gamma <= SWEPT else method
    solution = solve(model, initial=warm, method=method)
    S, A = belief.outcomes.group.shape
    return solution.q.reshape(S, -1, A).max(axis=1), solution.values


def draws_short_rows(belief: object) -> TypeGuard[SamplesShortRows]:
    """Whether the belief draws rows as short lists of outcomes."""
    return offers(belief, SamplesShortRows) and belief.draws_short_rows


def draw_merged(belief: SamplesListedMDPs, sizes: Sizes, rng: Generator) -> TabularMDP:
    """A hyper-model in which group g behaves as in one of sizes[g] models, all of them drawn from the belief."""
    if not draws_short_rows(belief):
        return hyper_model(within_sizes([belief.sample_mdp(rng) for _ in range(int(sizes.max()))], sizes))
    o, rows, most = belief.outcomes, np.repeat(np.arange(len(sizes)), sizes), int(sizes.max())
    S, A = o.group.shape
    size, succ, prob = belief.sample_rows(rows, rng)
    reward, r = listed_rewards(o.reward.reshape(S * A, -1), rows, size, succ, prob)
    # Action i A + a of s uses row `row`. An absent action has an empty row with reward -inf, so it is never best.
    i, first, sizes = np.arange(most)[:, None], np.cumsum(sizes) - sizes, sizes[o.group][:, None, :]
    row = np.where(i < sizes, first[o.group][:, None, :] + i, len(rows)).reshape(S, most * A)
    if (row == len(rows)).any():
        size, r, one = np.append(size, np.int32(0)), np.append(r, -np.inf), [(0, 1), (0, 0)]
        succ, prob, reward = np.pad(succ, one), np.pad(prob, one), np.pad(reward, one)
    outcomes = _unchecked(o, succ[row], reward[row], row, size)
    outcomes.__dict__.update(is_flat=False, largest_reward=o.largest_reward)
    model = TabularMDP.unchecked(outcomes, prob, belief.gamma)
    model.__dict__["mean_reward"] = frozen(r[row])
    return model


@njit
def listed_rewards(reward: Floats, rows: Ints, size: Ints, succ: Ints, prob: Floats) -> tuple[Floats, Floats]:
    """Rewards of listed outcomes (n, L), and the expected reward of each row (n,)."""
    listed, r = np.zeros(succ.shape), np.zeros(len(rows))
    for n in range(len(rows)):
        for k in range(size[n]):
            listed[n, k] = reward[rows[n], succ[n, k]]
            r[n] += prob[n, k] * listed[n, k]
    return listed, r


def within_sizes(models: Sequence[TabularMDP], sizes: Sizes) -> list[TabularMDP]:
    """The models; model i >= sizes[g] has the rows of the first model in group g."""
    if sizes.min() == sizes.max():
        return list(models)
    first, group = models[0], models[0].group
    kept = []
    for i, m in enumerate(models):
        own = i < sizes
        reward = np.where(own[group][:, :, None], m.reward, first.reward)
        prob = np.where(own[:, None], m.prob, first.prob)
        kept.append(TabularMDP.unchecked(m.outcomes.with_rewards(frozen(reward)), prob, m.gamma))
    return kept


def hyper_model(models: Sequence[TabularMDP]) -> TabularMDP:
    """M#: the states are those of the models; action i A + a does what action a does in model i."""
    S, A = models[0].group.shape
    G, K = S * len(models) * A, max(m.outcomes.n_outcomes for m in models)
    prob = np.concatenate([_padded(m.prob[m.group], K) for m in models], axis=1)
    outcomes = _unchecked(
        models[0].outcomes,
        np.concatenate([_padded(m.succ, K) for m in models], axis=1),
        np.concatenate([_padded(m.reward, K) for m in models], axis=1),
        np.arange(G).reshape(S, -1),
        np.concatenate([m.outcomes.size[m.group] for m in models], axis=1).ravel(),
    )
    return TabularMDP.unchecked(outcomes, prob.reshape(G, K), models[0].gamma)


def _padded(x: N, K: int) -> N:
    """The same outcomes, padded to K."""
    return x if x.shape[2] == K else np.pad(x, [(0, 0), (0, 0), (0, K - x.shape[2])])


def _unchecked(like: Outcomes, succ: Ints, reward: Floats, group: Ints, size: Ints) -> Outcomes:
    """Outcomes from valid parts, without checks, with the start and the terminal states of `like`."""
    new = object.__new__(Outcomes)
    group, size = group.astype(np.int32), size.astype(np.int32)
    new.__dict__.update(succ=frozen(succ), reward=frozen(reward), group=frozen(group), size=frozen(size))
    new.__dict__.update(otherwise=frozen(np.zeros(1)), start=like.start, terminal=like.terminal)
    return new


def solve_each(models: Sequence[TabularMDP], warm: Floats | None) -> tuple[Floats, Floats]:
    """(values[i, s], q[i, s, a]) of every model; all solves start from the values `warm` (S,)."""
    first = models[0]
    if first.gamma == 1.0 or any(m.succ is not first.succ or m.group is not first.group for m in models):
        return solve_in_turn(models, warm)
    S = len(first.group)
    initial = None if warm is None else np.broadcast_to(array("solve_each", "warm", warm, (S,)), (len(models), S))
    prob = np.array([m.prob for m in models])
    r = None if first.reward is models[-1].reward else np.array([m.mean_reward for m in models])
    return solve_many(first.outcomes, prob, first.gamma, rewards=r, initial=initial)


def solve_in_turn(models: Iterable[TabularMDP], warm: Floats | None) -> tuple[Floats, Floats]:
    """The same, one model after the other."""
    solutions = [solve(m, initial=warm) for m in models]
    return np.array([s.values for s in solutions]), np.array([s.q for s in solutions])
