"""Many sampled models at once: merged into one hyper-model (BOSS and its kin), or solved side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesrl.checks import Floats
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import solve, solve_many


def hyper_model(models: Sequence[TabularMDP]) -> TabularMDP:
    """M#: the states of the models, and action i A + a does what action a does in model i."""
    o, n = models[0].outcomes, len(models)
    S, A = o.group.shape
    K = max(m.outcomes.n_outcomes for m in models)
    prob = np.concatenate([_padded(m.prob[m.group], K) for m in models], axis=1)
    outcomes = Outcomes(
        succ=np.concatenate([_padded(m.succ, K) for m in models], axis=1),
        reward=np.concatenate([_padded(m.reward, K) for m in models], axis=1),
        group=np.arange(S * n * A).reshape(S, n * A),
        size=np.concatenate([m.outcomes.size[m.group] for m in models], axis=1).ravel(),
        otherwise=np.zeros(1),
        start=o.start,
        terminal=o.terminal,
    )
    return TabularMDP.unchecked(outcomes, prob.reshape(S * n * A, K), models[0].gamma)


def _padded(x: NDArray[np.generic], K: int) -> NDArray[np.generic]:
    return x if x.shape[2] == K else np.pad(x, [(0, 0), (0, 0), (0, K - x.shape[2])])


def hyper_q(models: Sequence[TabularMDP], warm: Floats | None) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the hyper-model, q being the best over the models."""
    solution = solve(hyper_model(models), initial=warm)
    S, A = models[0].group.shape
    return solution.q.reshape(S, len(models), A).max(axis=1), solution.values


def solve_each(models: Sequence[TabularMDP], warm: Floats | None) -> tuple[Floats, Floats]:
    """(values[i, s], q[i, s, a]) of every model; `warm` (S,) are values to start all of them from."""
    first = models[0]
    if first.gamma == 1.0 or any(m.succ is not first.succ or m.group is not first.group for m in models):
        solutions = [solve(m, initial=warm) for m in models]
        return np.array([s.values for s in solutions]), np.array([s.q for s in solutions])
    initial = None if warm is None else np.broadcast_to(warm, (len(models), len(warm)))
    prob = np.array([m.prob for m in models])
    r = None if first.reward is models[-1].reward else np.array([m.mean_reward for m in models])
    return solve_many(first.outcomes, prob, first.gamma, rewards=r, initial=initial)
