"""MAP inference of rewards (Choi and Kim 2011; survey §7.2).

The weights with the largest posterior, instead of their mean. Where pi is the only optimal policy, Q* = M w with

    M = F + gamma P (I - gamma P_pi)^-1 F_pi,

so that the gradient of the log posterior is (d log likelihood / dQ) M plus that of the log prior; a subgradient
elsewhere. The same policy is optimal in a whole cone of weights: the map of each visited policy is kept, and used again
while its policy stays optimal. Each evaluation then costs O(S A d), without a solution of the MDP.

Paper to code: Theorem 3 `LinearMaps.gradient`; Algorithm 1, whose step 4 asks whether an earlier policy is optimal for
the new reward, `LinearMaps.at`.
Deviations: the ascent is L-BFGS-B in the prior's box instead of steps of given lengths along the gradient. Values of
policies are kept, X = (I - gamma P_pi)^-1 F_pi of shape (S, d), and M w = F w + gamma P X w is not formed. Starts are
drawn from the prior. The first of several optimal actions is taken. With a `FinitePrior` there is no gradient: the
result is the best entry of its list, exactly, and `restarts` and `steps` are not used.
Cost: O(S A d) for each evaluation, and one S by S system for each new policy.
Claims: gradients equal finite differences; enumeration; the trace never falls; facts of docs/inverse.md.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.rewards.likelihood import Counts, log_likelihood, slope
from bayesrl.beliefs.rewards.linear_rewards import LinearRewards
from bayesrl.beliefs.rewards.reward_priors import finite
from bayesrl.capabilities import HasLinearRewards, RewardPrior, require
from bayesrl.checks import Floats, Ints, frozen, generator
from bayesrl.errors import InvalidArgument
from bayesrl.inverse._ascent import ascend
from bayesrl.kernels.ties import first_best, greedy, within
from bayesrl.models.stationary_solution import StationarySolution
from bayesrl.parameters import AtLeast, Shape, declared, value
from bayesrl.registry import register

OWNER = "MAPBIRL"
KEPT = 2**24
"""The most numbers in the maps that are kept. The oldest are dropped."""
POLICIES = 1000
"""The most policies of one policy iteration, whose rounding errors might let it go round in circles."""
TIE = 1e-12
"""Difference of action values, as a share of the largest, below which an action counts as optimal."""


@runtime_checkable
class HasDemonstrations(HasLinearRewards, Protocol):
    """A belief about the reward of one expert."""

    @property
    def demonstrations(self) -> Ints:
        """The expert's choices: pairs (state, action), (N, 2)."""


@explain_failures
@value
class MAPSolution(StationarySolution):
    """The weights with the largest posterior, and a policy that is optimal for them. It is a planner."""

    policy: Annotated[Floats, Shape("(S, A)"), "The probability of each action in each state."]
    weights: Annotated[Floats, Shape("(d,)"), "The weights."]
    log_posterior: Annotated[float, "Log of prior times likelihood at the weights."]
    trace: Annotated[Floats, Shape("(n,)"), "Log posterior at the start and after each step of the best ascent."]


@register(
    "map-birl",
    kind="solver",
    survey="7.2",
    paper="Choi11MA",
    example=lambda: MAPBIRL(restarts=2),
    evidence=(
        "tests/inverse/test_map_birl.py::test_no_point_of_a_lattice_is_better",
        "tests/inverse/test_map_birl.py::test_finite_prior",
        "tests/beliefs/rewards/test_undiscounted_rewards.py::test_the_map_is_above_a_lattice",
    ),
)
@declared
class MAPBIRL:
    """The rewards with the largest posterior given demonstrations, by gradient ascent.

    Examples
    --------
    >>> import bayesrl as b
    >>> world, rng = b.make_world("gridworld-blocks", size=4), np.random.default_rng(0)
    >>> R = world.features @ world.weights
    >>> demos = b.inverse.demonstrate(world, R, 10, 60, rng)
    >>> belief = b.inverse.BIRL(world, features=world.features, rationality=5.0).update_many(demos)
    >>> best = MAPBIRL(restarts=2).solve(belief, rng)
    >>> b.inverse.value_loss(world, R, best.policy) < 0.1
    True
    """

    restarts: Annotated[int, AtLeast(1), "Starts of the ascent, drawn from the prior; the best is kept."] = 10
    steps: Annotated[int, AtLeast(1), "The most steps of one run of the ascent."] = 500

    needs: ClassVar[tuple[type, ...]] = (HasDemonstrations,)

    def solve(self, belief: HasDemonstrations, rng: Generator) -> MAPSolution:
        """The best weights found."""
        require(OWNER, belief, HasDemonstrations, hint="Use a belief about one expert's reward, such as BIRL.")
        rng = generator(OWNER, rng)
        if not len(belief.demonstrations):
            raise InvalidArgument(OWNER, "belief", "a belief with demonstrations", "none")
        rewards = LinearRewards.read(belief.rewards)
        at = Posterior(rewards, belief.demonstrations, belief.reward_prior, belief.rationality)
        if listed := finite(belief.reward_prior):
            values = [at.value(w) for w in listed.weights]
            return self._solution(at, np.array(listed.weights[first_best(np.array(values))]), [max(values)])
        low, high, d = belief.reward_prior.low, belief.reward_prior.high, rewards.n_weights
        found = [ascend(at, belief.reward_prior.draw(d, rng), low, high, self.steps) for _ in range(self.restarts)]
        return self._solution(at, *found[first_best(np.array([trace[-1] for _, trace in found]))])

    def _solution(self, at: Posterior, w: Floats, trace: list[float]) -> MAPSolution:
        policy = np.eye(at.maps.shape[1])[at.maps.at(w)[0]]
        return MAPSolution(frozen(policy), frozen(w), trace[-1], frozen(np.array(trace)))


class Posterior:
    """The log posterior of weights, and its gradient."""

    def __init__(self, rewards: LinearRewards, pairs: Ints, reward_prior: RewardPrior, rationality: float) -> None:
        self.maps, self.reward_prior, self.c = LinearMaps(rewards), reward_prior, rationality
        self.n = Counts.of(pairs, self.maps.shape[1])

    def value(self, w: Floats) -> float:
        """Log of prior times likelihood."""
        prior = self.reward_prior.log_density(w)
        return prior if prior == -np.inf else prior + log_likelihood(self.maps.at(w)[1], self.n, self.c)

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        """The same, and its gradient, (d,)."""
        pi, Q = self.maps.at(w)
        value = self.reward_prior.log_density(w) + log_likelihood(Q, self.n, self.c)
        return value, self.reward_prior.gradient(w) + self.maps.gradient(pi, slope(Q, self.n, self.c))


class LinearMaps:
    """Optimal action values by the linear maps of policies."""

    def __init__(self, rewards: LinearRewards) -> None:
        self.rewards, self.shape = rewards, rewards.mdp.group.shape
        self.states = np.arange(self.shape[0])
        self.kept: dict[bytes, Floats] = {}
        self.last: Ints | None = None

    def at(self, w: Floats) -> tuple[Ints, Floats]:
        """An optimal policy (S,) and Q* (S, A), by policy iteration from the policy that was optimal before."""
        R = self.rewards.table(w)
        pi = greedy(R) if self.last is None else self.last
        for _ in range(POLICIES):
            Q = R + self.rewards.mdp.gamma * (self.rewards.P @ (self.values(pi) @ w)).reshape(self.shape)
            best = Q.max(axis=1)
            slack = TIE * (1e-300 + np.abs(best).max())
            worse = Q[self.states, pi] < best - slack
            if not worse.any():
                break
            pi = np.where(worse, within(Q, 0.5 * slack), pi)
        self.last = pi
        return pi, Q

    def values(self, pi: Ints) -> Floats:
        """X, (S, d): the values of a policy are X w."""
        key = pi.tobytes()
        if key not in self.kept:
            X = self.rewards.factors(pi).solve(self.rewards.features[self.states, pi])
            while self.kept and (len(self.kept) + 1) * X.size > KEPT:
                del self.kept[next(iter(self.kept))]
            self.kept[key] = X
        return self.kept[key]

    def gradient(self, pi: Ints, y: Floats) -> Floats:
        """y' M, (d,), for y (S, A) and the map M of a policy."""
        r = self.rewards
        after = r.mdp.gamma * (r.P.T @ y.ravel())
        return np.asarray(np.einsum("sa,sad->d", y, r.features) + after @ self.values(pi))
