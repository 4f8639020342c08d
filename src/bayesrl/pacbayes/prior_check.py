"""Prior or data: policies drawn from a prior, their returns in the empirical model, and what both guarantee.

The prior p over policies: the optimal policies of models drawn from a belief that has not seen the log, with a share
DOUBT left to all deterministic policies alike. So p gives every policy a probability, and a policy made from the data
can be a candidate too, at its price: the logarithm of the number of policies. Returns are estimated in the empirical
model of the log. `select` finds the Gibbs posterior with the largest lower bound on the true mean return. It is
compared with its two ends: p itself, and the policy with the best estimate.

The guarantee holds for the log of an agent that learns. Think of the outcomes of each pair as a list, drawn ahead; the
i-th visit reads entry i. For a fixed n the first n entries of each pair are independent draws, whatever the agent does.
So the bound uses the first n visits of each pair, and `delta` / (n (n + 1)) for each n. These sum to `delta`, so n may
be chosen after the data. It is the n with the best guarantee among those for which at least half of p can be
estimated. A policy that uses a pair with fewer than n visits cannot be estimated. It keeps its prior probability but
gets no weight in q: KL(q, p) is that from the other policies, minus the logarithm of their share. Values are in units
of their range, since the bound depends on the unit (`lemma.py`). Rewards that the belief knows and that pairs
determine are not estimated.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial
from typing import Literal, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.log import Log, transitions
from bayesrl.capabilities import (
    HasCertainPairs,
    HasMeanMDP,
    HasRewardRange,
    KnowsRewards,
    LearnsLogs,
    SamplesMDPs,
    offers,
    require,
)
from bayesrl.checks import Bools, Floats, Ints, frozen, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import solve
from bayesrl.pacbayes.lemma import failure
from bayesrl.pacbayes.pac_bayes_model import model_bound
from bayesrl.pacbayes.select import gibbs, select
from bayesrl.parameters import value

TEMPERATURES = (0.0, *np.geomspace(0.1, 1e4, 41))
"""In units of the inverse range of returns."""
DATA_ALONE = 1e12
"""The temperature of the policy with the best estimate."""
CERTAIN = 2**40
"""Visits of a pair that is known."""
MOST = 0.5
"""The share of the drawn policies that must be estimated."""
DOUBT = 0.05
"""The share of p that all deterministic policies have alike."""


class PriorCheckNeeds(SamplesMDPs, HasMeanMDP, HasRewardRange, LearnsLogs, Protocol):
    """A prior that can be checked."""


@explain_failures
@value
class PriorCheck:
    """Whether prior or data rule, and the distribution over policies with the best guarantee."""

    rules: Literal["prior", "data", "neither"]
    """Which end has the larger lower bound; "neither" if none is above the smallest possible return."""
    policies: Ints
    """The different policies drawn, (n, S); 0 in states that a policy cannot reach."""
    prior_weights: Floats
    """p, (n,)."""
    weights: Floats
    """q, (n,)."""
    temperature: float
    """lambda in units of the inverse range of returns; 0 is the prior."""
    kl: float
    """KL(q, p)."""
    empirical: float
    """The mean return over q in the empirical model."""
    lower: float
    """With probability 1 - delta, the mean return over q is at least this."""
    prior_lower: float
    """The same for the prior."""
    data_lower: float
    """The same for the policy with the best estimate."""
    least: float
    """The smallest possible return; `lower` is never below it."""
    highest: float
    """The largest possible return."""
    visits: int
    """n, the visits of each pair that were used."""
    needed: int
    """Visits of each pair after which the bound would say something, for q = p and the same return; 2^62 at most."""
    delta: float
    """The probability that a guarantee fails."""

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        sure = f"with probability {1.0 - self.delta:g}"
        if self.rules == "prior":
            return (
                f"The prior rules: its policies return at least {self.prior_lower:.5g} {sure}, "
                f"the policy that looks best in the data {self.data_lower:.5g}."
            )
        if self.rules == "data":
            return (
                f"The data rule: the policy that looks best in them returns at least {self.data_lower:.5g} {sure}, "
                f"the policies of the prior {self.prior_lower:.5g}."
            )
        return (
            f"Neither rules yet: after {self.visits} visit{'s' * (self.visits != 1)} of each pair the bound says no "
            f"more than that returns are at least {self.least:.5g}; it needs about {self.needed} visits of each pair."
        )


def prior_check(
    belief: PriorCheckNeeds, log: Log, policies: int = 200, delta: float = 0.05, *, rng: Generator
) -> PriorCheck:
    """Draw policies from a prior that has not seen the log, and choose between prior and data by a lower bound.

    The bound is `model_bound`, on the return from the start of the problem.

    >>> import bayesrl as b
    >>> world = b.make_world("chain", gamma=0.3)
    >>> log = b.run(b.BayesAgent(b.DirichletMDP.flat(world), b.make("random")), world, steps=5000, seed=0)
    >>> found = prior_check(b.DirichletMDP.flat(world), log, rng=np.random.default_rng(0))
    >>> found.rules, found.visits, found.needed
    ('neither', 139, 1135)
    """
    owner = "prior_check"
    require(owner, belief, SamplesMDPs, HasMeanMDP, HasRewardRange, LearnsLogs)
    rng, delta = generator(owner, rng), failure(owner, delta)
    mdp, gamma = belief.mean_mdp(), belief.gamma
    low, high = belief.reward_range()
    if gamma == 1.0 or not np.isfinite([low, high]).all():
        expected = "one with a discount below 1 and bounded rewards"
        raise InvalidArgument(owner, "belief", expected, (gamma, low, high))
    steps = list(transitions(owner, log))
    belief.update_many(steps)  # refuses what cannot happen
    for step in steps:
        if not low <= step.reward <= high:
            raise InvalidArgument(owner, "log", f"one with rewards from {low:g} to {high:g}", step.reward)
    drawn = [np.asarray(solve(belief.sample_mdp(rng)).policy) for _ in range(integer(owner, "policies", policies, 1))]
    pi, count = np.unique([np.where(reached(mdp, one), one, 0) for one in drawn], axis=0, return_counts=True)
    certain = belief.certain_pairs() if offers(belief, HasCertainPairs) else np.zeros(mdp.group.shape, bool)
    seen = visited(mdp, steps, certain)
    known = gamma > 0.0 and offers(belief, KnowsRewards) and belief.rewards_known and pairs_pay(mdp)
    need = np.array([_fewest(mdp, one, seen) for one in pi])
    least, width = low / (1.0 - gamma), (high - low) / (1.0 - gamma)

    def bound(n: int, price: float, kl: float) -> float:
        """In units of the range of returns."""
        sure = delta / n / (n + 1)
        return model_bound(price + kl, mdp.n_states, gamma, n, sure, 1.0 - gamma, known_rewards=known) if width else 0.0

    best = None
    chosen, p, q = pi, count / len(drawn), count / len(drawn)
    n, price, ends = 0, 0.0, (0.0, 0.0)
    for level in np.unique(need[need > 0]).tolist():
        if count[need >= level].sum() < MOST * len(drawn):
            break
        P, r = empirical_model(mdp, steps, level, certain)
        tried, chance = candidates(mdp, pi[need >= level], count[need >= level] / len(drawn), P, r, seen >= level)
        share = float(chance.sum())
        x = (returns(mdp, tried, P, r) - least) / (width or 1.0)
        paid = partial(bound, level, max(-math.log(share), 0.0))
        found = select(x, chance / share, TEMPERATURES, paid)
        if best is None or found.lower > best.lower:
            best, n, price = found, level, max(-math.log(share), 0.0)
            chosen, p, q = tried, chance, found.weights
            alone, own = (gibbs(x, chance / share, t, paid).lower for t in (DATA_ALONE, 0.0))
            ends = own, alone
    lower, prior_lower, data_lower = (least + width * max(x, 0.0) for x in (best.lower if best else 0.0, *ends))
    hope = best.empirical if best and best.empirical > 0.0 else 1.0
    return PriorCheck(
        rules="neither" if max(ends) <= 0.0 else "prior" if ends[0] >= ends[1] else "data",
        policies=frozen(chosen),
        prior_weights=frozen(p),
        weights=frozen(q),
        temperature=best.temperature if best else 0.0,
        kl=best.kl + price if best else 0.0,
        empirical=least + width * best.empirical if best else least,
        lower=lower,
        prior_lower=prior_lower,
        data_lower=data_lower,
        least=least,
        highest=least + width,
        visits=n,
        needed=1 + bisect_left(range(1, 2**62), True, key=lambda n: bound(n, 0.0, 0.0) < hope),
        delta=delta,
    )


def reached(mdp: TabularMDP, pi: Ints) -> Bools:
    """The states (S,) that a policy may reach from the start, in any model with the same outcomes; no ends."""
    S = mdp.n_states
    P = mdp.matrix.reshape(S, -1, S)[np.arange(S), pi] > 0.0
    found = mdp.outcomes.start > 0.0
    while (more := found | P[found].any(axis=0)).sum() > found.sum():
        found = more
    return np.asarray(found & ~mdp.outcomes.terminal)


def visited(mdp: TabularMDP, steps: list[Transition], certain: Bools) -> Ints:
    """How often each pair was visited, (S, A); known pairs count as visited very often."""
    seen = np.zeros(mdp.group.shape, np.int64)
    for step in steps:
        seen[step.state, step.action] += 1
    return np.where(certain, CERTAIN, seen)


def _fewest(mdp: TabularMDP, pi: Ints, seen: Ints) -> int:
    """The least number of visits of a pair that a policy uses."""
    used = reached(mdp, pi)
    return int(seen[np.arange(len(pi)), pi][used].min(initial=CERTAIN))


def pairs_pay(mdp: TabularMDP) -> bool:
    """Whether the reward of each pair does not depend on the next state."""
    o = mdp.outcomes
    return bool((~o.valid[o.group] | (o.reward == o.reward[:, :, :1])).all())


def empirical_model(mdp: TabularMDP, steps: list[Transition], n: int, certain: Bools) -> tuple[Floats, Floats]:
    """P (S, A, S) and r (S, A) of the first n visits of each pair. Known pairs are as they are; ends lead nowhere."""
    S, A = mdp.group.shape
    P, r, seen = np.zeros((S, A, S)), np.zeros((S, A)), np.zeros((S, A), np.int64)
    for step in steps:
        s, a = step.state, step.action
        if seen[s, a] < n:
            seen[s, a] += 1
            P[s, a, mdp.observe(step.next_state, step.terminated)] += 1.0
            r[s, a] += step.reward
    P, r = P / np.maximum(seen, 1)[:, :, None], r / np.maximum(seen, 1)
    P[certain], r[certain] = mdp.matrix.reshape(S, A, S)[certain], mdp.mean_reward[certain]
    P[mdp.outcomes.terminal], r[mdp.outcomes.terminal] = 0.0, 0.0
    return P, r


def returns(mdp: TabularMDP, pi: Ints, P: Floats, r: Floats) -> Floats:
    """The returns of policies (policies, S) in a model."""
    s, identity = np.arange(len(r)), np.eye(len(r))
    V = [np.linalg.solve(identity - mdp.gamma * P[s, one], r[s, one]) for one in pi]
    return np.asarray(V @ mdp.outcomes.start)


def candidates(mdp: TabularMDP, pi: Ints, drawn: Floats, P: Floats, r: Floats, seen: Bools) -> tuple[Ints, Floats]:
    """Drawn policies and the best one of the empirical model among pairs seen, with their probabilities under p.

    A policy here stands for all that agree with it where it can go: A^-states of all deterministic policies.
    """
    best, s = np.where(seen, r, -np.inf).argmax(axis=1), np.arange(len(r))
    while True:  # policy iteration
        V = np.linalg.solve(np.eye(len(r)) - mdp.gamma * P[s, best], r[s, best])
        Q = np.where(seen, r + mdp.gamma * P @ V, -np.inf)
        better = np.where(Q.max(axis=1) > Q[s, best] + 1e-9 * np.abs(r).max(), Q.argmax(axis=1), best)
        if (better == best).all():
            break
        best = better
    used = reached(mdp, best)
    best = np.where(used, best, 0)
    if seen[s, best][used].all() and not (pi == best).all(axis=1).any():
        pi, drawn = np.vstack([pi, best]), np.append(drawn, 0.0)
    ways = np.array([reached(mdp, one).sum() for one in pi])
    return pi, (1.0 - DOUBT) * drawn + DOUBT * float(r.shape[1]) ** -ways
