"""Bayesian sparse sampling on a box (Wang, Lizotte, Bowling, Schuurmans 2005; survey §4.8).

A bandit whose actions are the points of a box. The reward function has a Gaussian-process belief. The actions are
reduced to a list of candidates, so that the belief is a joint normal distribution N(m, S) and a reward of candidate a
changes it by one vector: with c = S_a / sqrt(S_aa + noise^2) and the standardised reward z the mean becomes m + c z
and the covariance S - cc'. The tree grows where a good action may be. At a decision a function is drawn from the
posterior and its best candidate is taken, so that a candidate is taken with the probability that it is the best one.
Then follows one of at most `width` rewards. The last decision needs no tree: its value is the largest posterior mean.
Values are backed up by mean over rewards and maximum over the actions tried.

`depth=1` is the greedy action of the posterior mean. `depth=0` is Thompson sampling: one function and its best
candidate.

Paper to code: a simulation is one descent of `search`; the drawn function is `drawn`, the reward's effect `learned`.
Deviations: the paper's candidates are unknown to us; ours are the first points of Sobol's sequence on the box, not
scrambled, so that they are the same at each decision, or a list. Rewards are not independent draws: the i-th reward of
every action at a level has the quantile u + i (golden ratio) modulo 1, u uniform. Each is normal, a mean over them is
unbiased, and it is much less noisy. Rewards are not discounted, since the belief has no discount. An action never tried
has, in `info["q"]`, the value of what is paid without learning anything, and is not chosen. Ties go to the first.
Cost: O(n^2) for a function of n candidates, O(n depth) for a reward; `simulations` times `depth` of them.
Claims: depth 1 is the posterior mean's maximum; depth 2 is the closed form of two correlated actions, depth 3
quadrature; equal to a transcription that conditions densely.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from bayesrl.beliefs.covariances import points
from bayesrl.checks import Floats, array, frozen, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import first_best
from bayesrl.parameters import AtLeast, value
from bayesrl.registry import register

GOLDEN = 0.5 * (5.0**0.5 - 1.0)
"""Multiples of the golden ratio modulo 1 spread evenly, however many there are."""
FLAT = 1e-12
"""A posterior variance below this share of the largest is rounding: its reward teaches nothing."""
MOST = 4096
"""The most candidates, because their covariance is a matrix."""


@runtime_checkable
class HasRewardFunction(Protocol):
    """A belief about what the actions of a box pay: a Gaussian process."""

    @property
    def noise(self) -> float:
        """Standard deviation of a reward."""

    def action_moments(self, actions: Any) -> tuple[Floats, Floats]:
        """The mean rewards of actions, (n, e): posterior mean, (n,), and covariance, (n, n)."""


@register(
    "gp-sparse-sampling",
    kind="planner",
    survey="4.8",
    paper="wang05sparse",
    example=lambda: GPSparseSampling(candidates=8, simulations=50, width=4),
    evidence=(
        "tests/continuous/test_gp_sparse_sampling.py::test_one_decision_is_the_posterior_mean",
        "tests/continuous/test_gp_sparse_sampling.py::test_two_decisions_are_the_closed_form_of_two_actions",
        "tests/continuous/test_gp_sparse_sampling.py::test_three_decisions_are_quadrature",
        "tests/continuous/test_gp_sparse_sampling.py::test_equal_to_a_transcription_that_conditions_densely",
    ),
)
@value
class GPSparseSampling:
    """A tree of sampled rewards for a bandit on a box with a Gaussian-process reward.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.beliefs.GPRegression(b.beliefs.covariances.Gaussian(scale=0.2), noise=0.1)
    >>> belief = belief.update_many(([0.1, 0.4, 0.5], [0.0, 1.0, 1.1]))
    >>> planner = GPSparseSampling(candidates=[0.1, 0.45, 0.8])
    >>> greedy = GPSparseSampling(candidates=[0.1, 0.45, 0.8], depth=1)
    >>> [made.plan(belief, 0, None, default_rng(0)).info["q"].round(2).tolist() for made in (greedy, planner)]
    [[0.0, 1.08, 0.31], [1.08, 2.17, 1.53]]
    """

    candidates: Annotated[Any, "Number of points of Sobol's sequence on the box, or a list of actions, (n, e)."] = 64
    depth: Annotated[int, AtLeast(0), "Decisions looked ahead, d; 0: Thompson sampling."] = 2
    simulations: Annotated[int, AtLeast(1), "Descents of the tree for each decision, K."] = 2000
    width: Annotated[int, AtLeast(1), "Rewards of an action at a node, C."] = 8
    low: Annotated[Any, "Lower corner of the box: a number or a vector, (e,)."] = 0.0
    high: Annotated[Any, "Upper corner of the box."] = 1.0

    needs: ClassVar[tuple[type, ...]] = (HasRewardFunction,)

    def __post_init__(self) -> None:
        owner = "GPSparseSampling"
        low, high = (np.atleast_1d(array(owner, name, getattr(self, name))) for name in ("low", "high"))
        if low.ndim != 1 or low.shape != high.shape or not (low < high).all():
            raise InvalidArgument(owner, "low", "below 'high' in each coordinate", self.low)
        object.__setattr__(self, "low", frozen(low))
        object.__setattr__(self, "high", frozen(high))
        if not isinstance(self.candidates, (list, tuple, np.ndarray)):
            integer(owner, "candidates", self.candidates, 1, MOST)
            return
        listed = points(owner, "candidates", self.candidates)
        integer(owner, "candidates", len(listed), 1, MOST)
        object.__setattr__(self, "candidates", frozen(listed))

    def start(self) -> None:
        """Nothing to remember."""

    def points(self) -> Floats:
        """The candidates, (n, e)."""
        if isinstance(self.candidates, np.ndarray):
            return self.candidates
        from scipy.stats.qmc import Sobol

        n = int(self.candidates)
        unit = Sobol(len(self.low), scramble=False).random_base2((n - 1).bit_length())[:n]
        return np.asarray(self.low + (self.high - self.low) * unit)

    def plan(
        self, belief: HasRewardFunction, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Grow the tree. The observation is not looked at: a bandit has one state."""
        X = self.points()
        m, S = belief.action_moments(X)
        if self.depth == 1:
            return self._decision(X, first_best(m), {"q": m})
        root = covariance_root(S)
        if self.depth == 0:
            function = drawn(rng, m, root)
            return self._decision(X, first_best(function), {"q": m, "sample": function})
        shifts = rng.random(self.depth - 1)[:, None] + GOLDEN * np.arange(min(self.width, self.simulations))
        z = ndtri(np.clip(shifts % 1.0, 1e-15, 1.0 - 1e-15))
        q, visits = search(rng, m, S, root, belief.noise, z, self.simulations)
        tried = visits > 0
        best = first_best(np.where(tried, q, -np.inf))
        return self._decision(X, best, {"q": np.where(tried, q, m + (self.depth - 1) * m.max()), "visits": visits})

    @staticmethod
    def _decision(X: Floats, best: int, info: dict[str, Any]) -> Decision:
        return Decision(X[best].copy(), None, info)


# The tree ------------------------------------------------------------------------------------------------------------


class GPTree(NamedTuple):
    """Nodes are beliefs; an edge is an action tried at a node. Edges of a node, and children of an edge, are chains."""

    edge: I1  # first edge of a node, or -1
    value: F1  # of a node
    reward: F1  # the standardised reward that leads to a node
    sibling: I1  # next child of the same edge, in a ring
    action: I1  # of an edge
    next: I1  # next edge of the same node, or -1
    child: I1  # child of an edge that was visited last, or -1
    children: I1  # how many it has
    visits: I1  # of an edge
    paid: F1  # expected reward of an edge
    total: F1  # sum of its children's values


@njit
def search(rng: Generator, m: F1, S: F2, root: F2, noise: float, z: F2, K: int) -> tuple[F1, I1]:
    """Root values and visits of the candidates; z, (d - 1, C), holds the standardised rewards of each level."""
    n, (D, C) = len(m), z.shape
    most = K * D + 1
    t = GPTree(
        np.full(most, -1), np.zeros(most), np.zeros(most), np.full(most, -1), np.zeros(most, np.int64),
        np.full(most, -1), np.full(most, -1), np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most),
        np.zeros(most),
    )  # fmt: skip
    nodes, edges = 1, 0
    parent, path = np.zeros(D, np.int64), np.zeros(D, np.int64)  # nodes and edges from the root on
    mean, c, v, seen = np.empty((D + 1, n)), np.empty((D, n)), np.empty(D), np.empty(D)  # the belief along the path
    mean[0] = m
    for _ in range(K):
        node, length = 0, D
        for d in range(D):
            f = drawn(rng, m, root)
            for j in range(d):  # the same function, given the rewards of the path (Matheron's rule)
                b = t.action[path[j]]
                if v[j] > 0.0:
                    y = (f[b] + noise * rng.standard_normal() - mean[j, b]) / np.sqrt(v[j])
                    for i in range(n):
                        f[i] += c[j, i] * (seen[j] - y)
            a, e = first_best(f), t.edge[node]
            while e >= 0 and t.action[e] != a:
                e = t.next[e]
            if e < 0:
                e, edges = edges, edges + 1
                t.action[e], t.paid[e], t.next[e], t.edge[node] = a, mean[d, a], t.edge[node], e
            parent[d], path[d] = node, e
            t.visits[e] += 1
            if t.children[e] == C and d == D - 1:
                length = D - 1  # there is nothing new
                break
            if t.children[e] < C:
                node, nodes = nodes, nodes + 1
                t.reward[node] = z[d, t.children[e]]
                t.sibling[node] = node if t.children[e] == 0 else t.sibling[t.child[e]]
                if t.children[e] > 0:
                    t.sibling[t.child[e]] = node
                t.children[e] += 1
            else:
                node = t.sibling[t.child[e]]
            t.child[e] = node
            v[d], seen[d] = learned(S, c, d, a, noise), t.reward[node]
            for i in range(n):
                mean[d + 1, i] = mean[d, i] + c[d, i] * seen[d]
        if length == D:
            t.value[node] = mean[D].max()
            t.total[path[D - 1]] += t.value[node]
        for d in range(D - 1, 0, -1):
            new = best_of(t, parent[d])
            t.total[path[d - 1]] += new - t.value[parent[d]]
            t.value[parent[d]] = new
    q, visits = np.zeros(n), np.zeros(n, np.int64)
    e = t.edge[0]
    while e >= 0:
        q[t.action[e]], visits[t.action[e]] = t.paid[e] + t.total[e] / t.children[e], t.visits[e]
        e = t.next[e]
    return q, visits


@njit
def best_of(t: GPTree, node: int) -> float:
    """The largest value of the actions tried at a node: what each pays, and the mean over its rewards."""
    best, e = -np.inf, t.edge[node]
    while e >= 0:
        best = max(best, t.paid[e] + t.total[e] / t.children[e])
        e = t.next[e]
    return best


@njit
def learned(S: F2, c: F2, d: int, a: int, noise: float) -> float:
    """Write c_d = S_a / sqrt(S_aa + noise^2), S after d rewards, and return the variance of the reward, or 0."""
    v = S[a, a] + noise * noise
    for j in range(d):
        v -= c[j, a] * c[j, a]
    known = v <= FLAT * (S[a, a] + noise * noise)
    for i in range(len(S)):
        x = S[a, i]
        for j in range(d):
            x -= c[j, a] * c[j, i]
        c[d, i] = 0.0 if known else x / np.sqrt(v)
    return 0.0 if known else v


@njit
def drawn(rng: Generator, m: F1, root: F2) -> F1:
    """A function of N(m, S) at the candidates; S = root'root, and root is upper triangular."""
    f = m.copy()
    for j in range(len(m)):
        z = rng.standard_normal()
        for i in range(j, len(m)):
            f[i] += z * root[j, i]
    return f


@njit
def covariance_root(S: F2) -> F2:
    """An upper triangular matrix with S = root'root. A pivot that is rounding is zero, and so is its row."""
    n, left, root = len(S), S.copy(), np.zeros(S.shape)
    for j in range(n):
        if left[j, j] <= FLAT * S[j, j]:
            continue
        pivot = np.sqrt(left[j, j])
        for i in range(j, n):
            root[j, i] = left[j, i] / pivot
        for i in range(j + 1, n):
            for k in range(i, n):
                left[i, k] -= root[j, i] * root[j, k]
    return root
