"""Gittins's index (Gittins 1979; survey §3.1, the theorem on simple families of alternative bandit processes).

An arm is a process whose state is the posterior. It moves only when it is played. Playing the arm of largest index

    G(s) = sup_{tau >= 1}  E[ sum_{t < tau} gamma^t R(s_t) ] / E[ sum_{t < tau} gamma^t ]

maximises the expected discounted reward. For independent arms this is the full Bayesian solution, and each index
depends on one arm only. The index also equals the sure income at which retiring is worth as much as playing on; it is
computed from this retirement problem.

`gittins_index` (Bernoulli arms): dynamic programming over the posteriors of the next k plays, gamma^k = 4e-4 (1 -
gamma)^(-1/3); afterwards one retires at once or never. The result is a lower bound. `gittins_bounds` also computes an
upper bound, by overvaluing the last row. The two are less than 5e-7 apart, tested for discounts from .2 to .99
(kernels/dynamic_programming/retirement.py).
`gittins_index_normal` (Gaussian arms of unit noise): the same problem with integrals of an analytic function
(bandits/_normal_retirement.py). The finite horizon costs at most 2e-7 by the bound in `_horizon`, the integration less
than 1e-9.
`gittins_index_process`: any finite bandit process. States are eliminated from the largest index down; the result is
exact up to rounding.

Deviations: states of one lattice (a0 + i, b0 + j) are computed together. If the belief's discount is 1 no index exists,
and the discount `surrogate` is used. Ties go to the first arm.
Cost: a Bernoulli state alone .8 ms at discount .99, in a table 11 microseconds, five times less at .9; a chain of
Gaussian states .35 s at .99. The planner computes an index when its state is first met.
Claims: reference tables to 1e-5; an independent retirement computation to 1e-6; the index policy's value is the optimum
on products of finite processes and on two Bernoulli arms.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.bandits._normal_retirement import boundaries
from bayesrl.bandits.thompson import best
from bayesrl.beliefs.arms.arms import distinct_rows
from bayesrl.capabilities import ArmStates
from bayesrl.checks import Floats, Ints, array, broadcast, number, rows_sum_to_one
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.dynamic_programming.gittins_roots import calibrate
from bayesrl.kernels.dynamic_programming.retirement import Lattice
from bayesrl.parameters import Within, declared
from bayesrl.registry import register
from bayesrl.traits import Traits

WIDTH = 2e-7
"""Width of the interval that encloses an index."""
DROP = 1e-8
"""Largest error of an index from neglecting option values that are almost zero."""
LARGEST = 1e12
"""Largest strength n of a Gaussian belief; beyond it the index equals the mean in floating point."""
FURTHEST = 10**6
"""Most plays that an index looks ahead; the work grows with their square, and takes hours."""
TOO_FAR = f"so far below 1 that no more than {FURTHEST} plays ahead matter"
BLOCK = 64
"""Number of states eliminated between two updates of the whole transition matrix."""


@runtime_checkable
class HasArmStates(Protocol):
    """A belief about independent arms, each of which is a bandit process whose state is its posterior."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    def arm_states(self) -> ArmStates:
        """The state of each arm."""


class Known(NamedTuple):
    """The indices of all states met so far, and those of the arms' present states."""

    about: tuple[str, float, tuple[int, ...]] | None
    """The kind of arms, the discount and the shape of `q`; indices of other arms or discounts do not serve."""
    table: dict[tuple[float, ...], float]
    key: Floats | None
    """The present states, shape (..., K, 2) or (..., K, 1)."""
    q: Floats | None
    """Their indices; for Gaussian arms the excess over the mean, in units of the noise."""


@register(
    "gittins",
    kind="planner",
    survey="3.1",
    paper="Gittins79BP",
    example=lambda: Gittins(surrogate=0.5),
    evidence=(
        "tests/bandits/test_gittins.py::test_bernoulli_table",
        "tests/bandits/test_gittins.py::test_bounds_hold_the_index_and_are_tight",
        "tests/bandits/test_gittins.py::test_index_policy_is_optimal_for_finite_processes",
        "tests/bandits/test_gittins.py::test_index_policy_is_optimal_for_two_bernoulli_arms",
        "tests/bandits/test_gittins.py::test_normal_index",
        "tests/bandits/test_gittins.py::test_planner_plays_the_largest_index",
    ),
)
@declared
class Gittins:
    """Play the arm with the largest Gittins index: optimal for independent arms and discounted rewards.

    Examples
    --------
    >>> import bayesrl as b
    >>> shop = b.make_world("online-shop", gamma=0.9)
    >>> agent = b.BayesAgent(shop.default_prior(), Gittins())
    >>> b.run(agent, shop, steps=50).action[:10]
    array([2, 2, 1, 2, 2, 1, 2, 0, 1, 2])
    """

    surrogate: Annotated[
        float, Within(0.0, 1.0, open_high=True), "Discount to use if the belief's is 1, for which no index exists."
    ] = 0.99

    needs: ClassVar[tuple[type, ...]] = (HasArmStates,)
    traits: ClassVar[Traits] = Traits(batched=True)

    def start(self) -> Known:
        """No index is known."""
        return Known(None, {}, None, None)

    def plan(
        self, belief: HasArmStates, observation: Any, memory: Known, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Look up the indices of the arms whose states have changed, and play the largest."""
        gamma = belief.gamma if belief.gamma < 1.0 else self.surrogate
        kind, state, base, scale = belief.arm_states()
        key = np.round(state, 9)  # counts that differ by rounding only are the same state
        about = (kind, gamma, key.shape[:-1])
        memory = memory if memory.about == about else self.start()
        table, q = memory.table, np.empty(key.shape[:-1]) if memory.q is None else memory.q.copy()
        new = np.ones(q.shape, np.bool_) if memory.key is None else (key != memory.key).any(axis=-1)
        states = [tuple(state) for state in key[new].tolist()]
        missing = sorted({state for state in states if state not in table})
        if missing:
            table = table | (_bernoulli(missing, gamma) if kind == "bernoulli" else _normal(missing, gamma))
        q[new] = [table[state] for state in states]
        index = base + scale * q
        return Decision(best(index), Known(about, table, key, q), {"q": index})


def _bernoulli(states: list[tuple[float, ...]], gamma: float) -> dict[tuple[float, ...], float]:
    """The indices of these states. Few states are computed together with those of the next three plays."""
    ahead = 4 if len(states) < 32 else 1
    wanted = sorted(
        {(round(a + i, 9), round(b + j, 9)) for a, b in states for i in range(ahead) for j in range(ahead - i)}
    )
    alpha, beta = np.array(wanted).T
    return dict(zip(wanted, gittins_index(alpha, beta, gamma).tolist(), strict=True))


def _normal(states: list[tuple[float, ...]], gamma: float) -> dict[tuple[float, ...], float]:
    """The indices of these states and of at least the next hundred, since a chain costs as much as its first state."""
    wanted = sorted({(round(n + i, 9),) for (n,) in states for i in range(max(100, int(n)))})
    return dict(zip(wanted, gittins_index_normal(0.0, np.array(wanted)[:, 0], gamma).tolist(), strict=True))


# Bernoulli arms ------------------------------------------------------------------------------------------------------


def gittins_index(alpha: ArrayLike, beta: ArrayLike, gamma: ArrayLike) -> Floats:
    """Gittins index of Bernoulli arms with Beta(alpha, beta) beliefs, within 5e-7 (arguments broadcast).

    >>> gittins_index([1, 2], 1, 0.9).round(5)
    array([0.70289, 0.80006])
    """
    low, high = _calibrate_all("gittins_index", alpha, beta, gamma, overvalued=False)
    return np.asarray(0.5 * (low + high))


def gittins_bounds(alpha: ArrayLike, beta: ArrayLike, gamma: ArrayLike) -> tuple[Floats, Floats]:
    """Proven bounds on the Gittins index of Bernoulli arms: (lower, upper), less than 5e-7 apart."""
    low, _ = _calibrate_all("gittins_bounds", alpha, beta, gamma, overvalued=False)
    _, high = _calibrate_all("gittins_bounds", alpha, beta, gamma, overvalued=True)
    return low, high + DROP


def _calibrate_all(
    owner: str, alpha: ArrayLike, beta: ArrayLike, gamma: ArrayLike, overvalued: bool
) -> tuple[Floats, Floats]:
    """Intervals that contain the indices, computed for each lattice and each discount in turn."""
    a, b, c = broadcast(
        owner,
        alpha=array(owner, "alpha", alpha, low=0.0, above=True, moderate=True),
        beta=array(owner, "beta", beta, low=0.0, above=True, moderate=True),
        gamma=array(owner, "gamma", gamma, low=0.0),
    )
    if c.max() >= 1.0:
        raise InvalidArgument(owner, "gamma", "in [0, 1)", float(c.max()))
    states, back = distinct_rows(np.stack([c, a, b], axis=-1).reshape(-1, 3))
    low = states[:, 1] / (states[:, 1] + states[:, 2])  # the index at discount 0
    high = low.copy()
    # Posteriors of one arm differ by whole numbers; the rounding merges fractions that differ by float error only.
    lattice = np.column_stack([states[:, 0], np.round(states[:, 1:] % 1.0, 9) % 1.0])
    for which in groups(lattice[states[:, 0] > 0.0], np.flatnonzero(states[:, 0] > 0.0)):
        gamma_ = float(states[which[0], 0])
        k = math.ceil(math.log(4e-4 * (1.0 - gamma_) ** (-1.0 / 3.0)) / math.log(gamma_))
        if not 0 < k <= FURTHEST:
            raise InvalidArgument(owner, "gamma", TOO_FAR, gamma_)
        plays = states[which, 1] + states[which, 2]
        for rows in groups(((plays - plays.min()) // max(k, 64))[:, None], which):
            low[rows], high[rows] = _one_lattice(states[rows, 1], states[rows, 2], gamma_, k, overvalued)
    shape = np.shape(a)
    return low[back].reshape(shape), high[back].reshape(shape)


def groups(labels: Floats, members: Ints) -> list[Ints]:
    """Groups of members with equal labels (rows)."""
    names, group = distinct_rows(labels)
    return [members[group == g] for g in range(len(names))]


def _one_lattice(a: Floats, b: Floats, gamma: float, k: int, overvalued: bool) -> tuple[Floats, Floats]:
    a0, b0 = float(a.min()), float(b.min())
    t, r = np.rint(a - a0).astype(np.int64), np.rint(a - a0 + b - b0).astype(np.int64)
    order = np.argsort(-r, kind="stable")
    G = 1.0 / (1.0 - gamma)
    found = calibrate(t[order], r[order], Lattice(a0, b0, gamma, int(r.max()) + k, G, overvalued, DROP), WIDTH)
    low, high = np.empty(a.shape), np.empty(a.shape)
    low[order], high[order] = found
    return low, high


# Gaussian arms -------------------------------------------------------------------------------------------------------


def gittins_index_normal(mean: ArrayLike, n: ArrayLike, gamma: ArrayLike) -> Floats:
    """Gittins index of Gaussian arms of unit noise with beliefs N(mean, 1/n), within 3e-7 (arguments broadcast).

    The index is the mean plus a function of n and gamma. For noise sigma and belief N(m, sigma^2 / n) it is sigma times
    the index of (m / sigma, n).

    >>> gittins_index_normal(0.0, 1.0, [0.5, 0.7, 0.9]).round(4)
    array([0.2057, 0.3691, 0.7466])
    """
    owner = "gittins_index_normal"
    m, n_, c = broadcast(
        owner,
        mean=array(owner, "mean", mean),
        n=array(owner, "n", n, low=0.0, above=True),
        gamma=array(owner, "gamma", gamma, low=0.0),
    )
    if c.max() >= 1.0:
        raise InvalidArgument(owner, "gamma", "in [0, 1)", float(c.max()))
    if n_.max() > LARGEST or n_.min() < 1.0 / LARGEST:
        bad = float(n_.max()) if n_.max() > LARGEST else float(n_.min())
        raise InvalidArgument(owner, "n", f"from {1.0 / LARGEST:g} to {LARGEST:g}", bad)
    states, back = distinct_rows(np.stack([c, n_], axis=-1).reshape(-1, 2))
    above = np.zeros(len(states))
    chain = np.column_stack([states[:, 0], np.round(states[:, 1] % 1.0, 9) % 1.0])
    for which in groups(chain[states[:, 0] > 0.0], np.flatnonzero(states[:, 0] > 0.0)):
        gamma_, n0 = float(states[which[0], 0]), float(states[which, 1].min())
        r = np.rint(states[which, 1] - n0).astype(np.int64)
        k = _horizon(n0 + float(r.max()), gamma_, 2e-7)
        if k > FURTHEST:
            raise InvalidArgument(owner, "gamma", TOO_FAR, gamma_)
        above[which] = boundaries(n0, int(r.max()) + 1, int(r.max()) + k, gamma_, DROP)[r]
    return np.asarray(m + above[back].reshape(np.shape(m)))


def _horizon(n: float, gamma: float, error: float) -> int:
    """How many plays k to look ahead from N(mu, 1/n) so that the index errs by at most `error`.

    Later plays are undervalued by at most gamma^k G / 2 times the standard deviation of the mean over the next
    1 / (1 - gamma) plays (see `retirement.bonus`). The error of the index is not larger.
    """
    later = gamma / (1.0 - gamma)
    k = 1
    while gamma**k / (1.0 - gamma) / 2.0 * math.sqrt(later / ((n + k) * (n + k + later))) > error:
        k += 1 + k // 100
    return k


# Finite bandit processes ---------------------------------------------------------------------------------------------


def gittins_index_process(P: ArrayLike, r: ArrayLike, gamma: float) -> Floats:
    """Gittins index of each state of a finite bandit process with transitions P[s, s'] and rewards r[s].

    The index of the state with the largest reward per unit of discounted time is that ratio. Since it is optimal to
    play on from this state, it can be removed: its transitions, reward and time are added to those of the states that
    lead to it (Sonin's elimination). The step is repeated until no state is left, O(S^3) in all. The
    corrections of BLOCK states are applied as one matrix product.

    >>> gittins_index_process([[0.0, 1.0], [0.0, 1.0]], [0.0, 1.0], 0.9).round(6)
    array([0.9, 1. ])
    """
    owner = "gittins_index_process"
    Q = array(owner, "P", P, (None, None), low=0.0)
    S = len(Q)
    if Q.shape != (S, S):
        raise InvalidArgument(owner, "P", "a square matrix", Q)
    Q = rows_sum_to_one(owner, "P", Q, P)
    reward = array(owner, "r", r, (S,))
    Q = number(owner, "gamma", gamma, 0.0, 1.0, below=True) * Q
    time, index, left = np.ones(S), np.empty(S), np.arange(S)
    while left.size:
        n = min(BLOCK, left.size)
        U, V = np.empty((left.size, n)), np.empty((n, left.size))  # the present transitions are Q + U V
        alive = np.ones(left.size, np.bool_)
        for c in range(n):
            ratio = np.where(alive, reward / time, -np.inf)
            k = int(ratio.argmax())
            index[left[k]], alive[k] = ratio[k], False
            V[c] = Q[k] + U[k, :c] @ V[:c]
            U[:, c] = (Q[:, k] + U[:, :c] @ V[:c, k]) / (1.0 - V[c, k])
            reward, time = reward + U[:, c] * reward[k], time + U[:, c] * time[k]
        Q = Q[np.ix_(alive, alive)] + U[alive] @ V[:, alive]
        left, reward, time = left[alive], reward[alive], time[alive]
    return index
