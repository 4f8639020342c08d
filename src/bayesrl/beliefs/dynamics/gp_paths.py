"""Several steps ahead under Gaussian-process dynamics: by moments, or by paths that each follow one function."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.covariances import Gaussian, points
from bayesrl.beliefs.dynamics._gp_arrays import Processes, follow
from bayesrl.beliefs.dynamics._gp_moments import Group, squared_scales
from bayesrl.checks import Floats, array, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument

if TYPE_CHECKING:
    from bayesrl.beliefs.dynamics.gp_dynamics import GPDynamics


class Path(NamedTuple):
    """Where a sequence of actions leads: moments after 0 to T steps."""

    mean: Floats
    """(T + 1, d)."""
    covariance: Floats
    """(T + 1, d, d), noise included."""
    samples: Floats | None
    """Drawn paths, (paths, T + 1, d); None if moments were propagated."""


def path_of_moments(belief: GPDynamics, state: ArrayLike, actions: ArrayLike, covariance: ArrayLike | None) -> Path:
    """Moments after each action, the state before it taken for normal."""
    owner = "GPDynamics.predict_path"
    A = points(owner, "actions", actions, belief.sizes[1])
    s = belief.inputs(owner, state, A[0])[0][0]
    means, spreads = [s], [np.zeros((len(s), len(s))) if covariance is None else normal(owner, s, covariance)[1]]
    for a in A:
        m, V, _ = belief.predict_uncertain(means[-1], spreads[-1], a)
        means.append(m)
        spreads.append(V)
    return Path(np.array(means), np.array(spreads), None)


def path_of_samples(drawn: Floats) -> Path:
    """Moments of drawn paths."""
    apart = drawn - drawn.mean(axis=0)
    return Path(drawn.mean(axis=0), np.einsum("pti,ptj->tij", apart, apart) / max(len(drawn) - 1, 1), drawn)


def sampled_paths(
    belief: GPDynamics,
    state: ArrayLike,
    actions: ArrayLike,
    covariance: ArrayLike | None,
    paths: int,
    rng: Generator | None,
) -> Floats:
    """Paths (N, T + 1, d). A path learns each state that it draws, so that it goes on under the same function.

    A learned reward is seen at its mean on the way, which moves no prediction of states.
    """
    owner = "GPDynamics.sample_paths"
    A = points(owner, "actions", actions, belief.sizes[1])
    s = belief.inputs(owner, state, A[0])[0][0]
    N, T, d = integer(owner, "paths", paths, 1), len(A), len(s)
    z = generator(owner, rng).standard_normal((N, T + 1, d))
    starts = np.repeat(s[None], N, axis=0)
    if covariance is not None:
        values, vectors = np.linalg.eigh(normal(owner, s, covariance)[1])
        starts = starts + z[:, T] @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    if belief.is_gaussian:
        gp = belief.arrays(d, A.shape[1], room=T)
        return follow(gp, len(gp.X) - T, starts, A, z)
    drawn = np.empty((N, T + 1, d))
    for i in range(N):
        now, drawn[i, 0] = belief, starts[i]
        for t in range(T):
            mean, variance = now.predictive(drawn[i, t], A[t])
            drawn[i, t + 1] = mean + np.sqrt(variance) * z[i, t]
            r = now.expected_reward(drawn[i, t], A[t]) if now.learns_reward else 0.0
            now = now.update(Transition(drawn[i, t], A[t], r, drawn[i, t + 1]))
    return drawn


def normal(owner: str, mean: Floats, covariance: ArrayLike) -> tuple[Floats, Floats]:
    """The parameters of a normal distribution."""
    S = array(owner, "covariance", covariance, (len(mean), len(mean)), moderate=True)
    size = np.abs(S).max()
    if np.abs(S - S.T).max() > 1e-9 * size or np.linalg.eigvalsh(S).min() < -1e-9 * size:
        raise InvalidArgument(owner, "covariance", "symmetric without a negative eigenvalue", S)
    return mean, 0.5 * (S + S.T)


def processes(groups: list[Group], dims: int, room: int, relative: bool) -> Processes:
    """A copy of the data as arrays, with room for more."""
    n, G, P = len(groups[0].data), len(groups), sum(len(one.columns) for one in groups)
    N = n + room
    gp = Processes(
        np.zeros((N, dims)), np.zeros((G, N * (N + 1) // 2)), np.zeros((P, N)), np.zeros(P, np.int64),
        np.empty((G, dims)), np.empty(G), np.empty(G), relative,
    )  # fmt: skip
    gp.X[:n] = groups[0].data.points
    for g, (prior, data, columns, noise) in enumerate(groups):
        assert isinstance(prior, Gaussian)
        here = list(columns)
        gp.L[g, : n * (n + 1) // 2], gp.w[here, :n], gp.factor[here] = data.factor, data.w.T, g
        gp.scale[g], gp.variance[g], gp.noise[g] = np.sqrt(squared_scales(prior, dims)), prior.variance, noise**2
    return gp
