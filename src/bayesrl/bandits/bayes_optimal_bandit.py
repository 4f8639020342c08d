"""Bayes-optimal play of small bandits: dynamic programming over posteriors (survey §3.1; Guha and Munagala 2014, §3.3).

A posterior after t plays is determined by how often each arm showed each outcome. So the posteriors after t plays are
the ways to write t as an ordered sum of K Y counts. They are listed in lexicographic order and looked up by their rank.
Backward induction gives

    Q_t(c, a) = r_t(c, a) + gamma sum_y P(y | c, a) V_{t+1}(c + e_{a y}),

where r is the expected reward of arm a, or the probability that no arm is better. In the second case T - V is the
*stochastic regret*, the expected number of plays of worse arms. `policy_value` evaluates any policy exactly on the same
tree, for example `thompson`, which plays an arm with the probability that it is best. The belief must be able to list
its posteriors, as Beta beliefs about Bernoulli arms and finitely many models with finitely many outcomes can.

Deviations: none (the survey only names the computation). Cost: the last of T steps has binom(T + K Y - 1, K Y - 1)
posteriors. Claims: equal to enumeration of all histories; expected successes of two uniform arms over ten plays
6.021786; Thompson's stochastic regret is within twice the optimum on Guha and Munagala's cases.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

from bayesrl.bandits.thompson import best
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.capabilities import ListsPosteriors, offers
from bayesrl.checks import Floats, Ints, as_array, choice, frozen, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels import ties
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register
from bayesrl.traits import Traits

CRITERIA = ("reward", "regret")
Arms = ListsPosteriors | Sequence[tuple[float, float]]
"""A belief whose posteriors can be listed, or (alpha, beta) of each Bernoulli arm."""
LARGEST = 20_000_000
"""The largest allowed number of array entries for one step of the tree."""


@runtime_checkable
class MergesReplicates(Protocol):
    """A belief in lockstep that can merge equal replicates."""

    def distinct_replicates(self) -> tuple[Self, Ints]:
        """The distinct replicates, and the index among them of each replicate."""

    def some_replicates(self, part: slice) -> Self:
        """The belief with these replicates only."""


class Posteriors(NamedTuple):
    """All posteriors after some number of plays. N of them; leading axes, if any, are replicates."""

    seen: NDArray[np.int64]
    """How often arm a has shown outcome y, shape (N, K, Y)."""
    prob: Floats
    """P(arm a shows y next), (..., N, K, Y)."""
    reward: Floats
    """Reward of each outcome, (Y,), or of each outcome of each arm, (K, Y)."""
    best: Callable[[], Floats]
    """P(no arm is better than arm a), (..., N, K)."""
    drawn: Callable[[], Floats]
    """P(Thompson sampling plays arm a), (..., N, K). It plays the first of equally good arms."""
    left: int
    """Plays that are left, including this one."""

    @property
    def mean(self) -> Floats:
        """Expected reward of each arm, (..., N, K)."""
        if self.reward.ndim == 1:
            return np.asarray(self.prob @ self.reward)
        return np.asarray((self.prob * self.reward).sum(axis=-1))


Policy = Callable[[Posteriors], Floats]
"""Probabilities of playing each arm in each posterior, (..., N, K)."""


@register(
    "bayes-optimal-bandit",
    kind="planner",
    survey="3.1",
    paper="guha2014stochastic",
    example=lambda: BayesOptimalBandit(depth=3),
    evidence=(
        "tests/bandits/test_bayes_optimal.py::test_two_uniform_arms",
        "tests/bandits/test_bayes_optimal.py::test_values_equal_enumerated_histories",
        "tests/bandits/test_bayes_optimal.py::test_thompson_is_within_twice_the_optimum",
        "tests/bandits/test_bayes_optimal.py::test_planner_earns_the_optimal_value",
    ),
)
@declared
class BayesOptimalBandit:
    """Exact dynamic programming over posteriors, a given number of plays ahead.

    Examples
    --------
    >>> import bayesrl as b
    >>> two = b.make_world("bernoulli", arms=2)
    >>> agent = b.BayesAgent(two.default_prior(), BayesOptimalBandit(depth=10, horizon=10))
    >>> b.run(agent, two, steps=10).action
    array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    depth: Annotated[int, AtLeast(1), "How many plays to look ahead, including this one."] = 3
    horizon: Annotated[
        int | None,
        AtLeast(1),
        "Number of plays in all, T: nothing is planned beyond it. With depth T the policy is optimal. None: no end.",
    ] = None
    criterion: Annotated[
        Literal["reward", "regret"], "Maximise the expected reward, or the expected number of plays of the best arm."
    ] = "reward"

    needs: ClassVar[tuple[type, ...]] = (ListsPosteriors,)
    traits: ClassVar[Traits] = Traits(batched=True)

    def start(self) -> int:
        """Plays so far."""
        return 0

    def plan(
        self, belief: ListsPosteriors, observation: Any, memory: int, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """The action of largest value; ties go to the first."""
        left = self.depth if self.horizon is None else min(self.depth, max(self.horizon - memory, 1))
        q = _each(belief, left, self.criterion)
        return Decision(best(q), memory + 1, {"q": q})


def _each(belief: ListsPosteriors, left: int, criterion: str) -> Floats:
    """Root values for every replicate. Equal replicates are solved once, in batches that fit into memory."""
    if belief.posterior_size == 1 or not offers(belief, MergesReplicates):
        return bayes_optimal_q(belief, left, criterion)
    some: Any
    some, which = belief.distinct_replicates()
    m = some.n_actions * some.reward_values().shape[-1]
    at_once = max(LARGEST // (m * int(special.comb(left + m - 2, m - 1, exact=True))), 1)
    parts = [some.some_replicates(slice(i, i + at_once)) for i in range(0, some.posterior_size, at_once)]
    return np.asarray(np.concatenate([bayes_optimal_q(part, left, criterion) for part in parts])[which])


# Values --------------------------------------------------------------------------------------------------------------


def bayes_optimal_value(arms: Arms, horizon: int, criterion: str = "reward") -> float:
    """The largest expected reward of `horizon` plays, or the least expected number of suboptimal plays.

    `arms` is a belief, or (alpha, beta) of each Bernoulli arm. The discount is the belief's (1 for a list).

    >>> round(bayes_optimal_value([(1, 1), (1, 1)], horizon=10), 6)
    6.021786
    """
    value = float(bayes_optimal_q(arms, horizon, criterion).max())
    return _total(_belief(arms).gamma, horizon) - value if criterion == "regret" else value


def bayes_optimal_q(arms: Arms, horizon: int, criterion: str = "reward") -> Floats:
    """The value of each first play if optimal plays follow, (..., K): expected reward, or plays of the best arm."""
    return _backwards(_belief(arms), horizon, criterion, lambda _, q: q.max(axis=-1))


def policy_value(arms: Arms, horizon: int, policy: Policy, criterion: str = "reward") -> float:
    """The expected reward of a policy, or its expected number of suboptimal plays (stochastic regret)."""
    belief = _belief(arms)
    q = _backwards(belief, horizon, criterion, lambda known, q: (policy(known) * q).sum(axis=-1))
    value = float((policy(_posteriors(belief, 0, horizon)) * q).sum())
    return _total(belief.gamma, horizon) - value if criterion == "regret" else value


def thompson(known: Posteriors) -> Floats:
    """Thompson sampling: play each arm with the probability that it is the best."""
    return known.drawn()


def greedy(index: Callable[[Posteriors], Floats]) -> Policy:
    """The policy that plays the first arm of largest index: `greedy(lambda known: known.mean)`."""
    return lambda known: np.eye(known.seen.shape[1])[ties.greedy(index(known))]


def _backwards(
    belief: ListsPosteriors, horizon: int, criterion: str, value: Callable[[Posteriors, Floats], Floats]
) -> Floats:
    """Q at the root by backward induction; `value` maps a step's posteriors and action values to its values."""
    T = integer("bayes_optimal_q", "horizon", horizon, 1)
    choice("bayes_optimal_q", "criterion", criterion, CRITERIA)
    V: Floats | None = None
    for t in range(T - 1, -1, -1):
        known = _posteriors(belief, t, T - t)
        q = known.mean if criterion == "reward" else known.best()
        if V is not None:
            q = q + belief.gamma * (known.prob * V[..., _successors(t, *known.seen.shape[1:])]).sum(axis=-1)
        V = value(known, q)
    return np.asarray(q[..., 0, :])


def _total(gamma: float, T: int) -> float:
    return float(T if gamma == 1.0 else (1.0 - gamma**T) / (1.0 - gamma))


# Posteriors ----------------------------------------------------------------------------------------------------------


def _belief(arms: Arms) -> ListsPosteriors:
    if offers(arms, ListsPosteriors):
        return arms
    pairs = as_array(arms if isinstance(arms, Sequence) else None)
    if pairs.shape[1:] == (2,) and pairs.dtype.kind in "iuf":
        return BetaBernoulli(*pairs.T)
    expected = "a belief with finitely many outcomes, such as BetaBernoulli, or pairs (alpha, beta)"
    raise InvalidArgument("bayes_optimal_value", "arms", expected, arms)


def _posteriors(belief: ListsPosteriors, plays: int, left: int) -> Posteriors:
    """All posteriors that `plays` plays can lead to."""
    values = belief.reward_values()
    K, Y = belief.n_actions, values.shape[-1]
    _check(plays, K, Y, belief.posterior_size)
    seen = _counts(plays, K, Y)
    prob, best_arm, drawn = belief.posteriors_after(seen)
    return Posteriors(seen, prob, values, best_arm, drawn, left)


def _check(t: int, K: int, Y: int, replicates: int) -> None:
    N = special.comb(t + K * Y - 1, K * Y - 1, exact=True)
    if N * K * Y * replicates > LARGEST:
        expected = f"smaller, as {N} posteriors after {t} plays of {K} arms with {Y} outcomes do not fit into memory"
        raise InvalidArgument("bayes_optimal_value", "horizon", expected, t + 1)


@lru_cache(maxsize=64)
def _counts(t: int, K: int, Y: int) -> NDArray[np.int64]:
    """The ways to write t as an ordered sum of K Y counts, in lexicographic order, (N, K, Y)."""
    m = K * Y
    bars = np.array(list(itertools.combinations(range(t + m - 1), m - 1)), np.int64).reshape(-1, m - 1)
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), t + m - 1)])
    return frozen((np.diff(edges, axis=1) - 1).reshape(-1, K, Y))


@lru_cache(maxsize=64)
def _successors(t: int, K: int, Y: int) -> NDArray[np.int64]:
    """The rank of the posterior after one more outcome y of arm a, among those after t + 1 plays, (N, K, Y)."""
    m = K * Y
    more = _counts(t, K, Y).reshape(-1, 1, m) + np.eye(m, dtype=np.int64)
    choose = special.comb(np.arange(t + m + 1)[:, None], np.arange(m)[None, :])  # exact up to 2^53
    rank, rest = np.zeros(more.shape[:2]), np.full(more.shape[:2], t + 1)
    for j in range(m - 1):  # count the sums that agree so far and have a smaller count here
        after = rest - more[:, :, j]
        rank += choose[rest + m - j - 1, m - j - 1] - choose[after + m - j - 1, m - j - 1]
        rest = after
    return frozen(np.rint(rank).astype(np.int64).reshape(-1, K, Y))
