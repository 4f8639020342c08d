"""`prior_check` against a plain transcription of what its page says, in problems without symmetry."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl import pacbayes as pac
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP

S, A = 4, 3
START = (0.5, 0.2, 0.3, 0.0)


def problem(gamma=0.37, rewards="pairs", seed=0, start=START):
    """Four states, of which the last is terminal, and three actions; some next states are impossible."""
    rng = default_rng(seed)
    P = rng.dirichlet(np.full(S, 1.3), (S, A))
    P[0, 0, 2] = P[1, 2, 0] = P[2, 1, 1] = P[2, 0, 3] = 0.0
    P[0, 1] = [0.1, 0.6, 0.0, 0.3]
    if start != START:
        P[1, :2, 2] = 0.0  # then state 2 cannot be reached by all policies
    P /= P.sum(axis=2, keepdims=True)
    R = rng.uniform(-0.7, 1.6, (S, A) if rewards == "pairs" else (S, A, S))
    if rewards in ("one", "none"):
        R = np.full((S, A), 0.7 if rewards == "one" else 0.0)
    return TabularMDP.from_dense(P, R, gamma, start=start, terminal=[3])


def log_of(mdp, visits, seed):
    """As many visits of each pair as the table says, in a random order."""
    rng, (P, R) = default_rng(seed), mdp.dense()
    steps = [
        Transition(s, a, float(R[s, a, y]), int(y), terminated=bool(y == 3))
        for s, a in np.ndindex(3, A)
        for y in rng.choice(S, visits[s][a], p=P[s, a])
    ]
    return [steps[i] for i in rng.permutation(len(steps))]


# The transcription ----------------------------------------------------------------------------------------------------


def can_reach(mdp, pi):
    """The states that a policy can be in, ends left out, by walking the possible transitions."""
    P, _ = mdp.dense()
    found, ahead = set(), np.flatnonzero(mdp.outcomes.start).tolist()
    while ahead:
        s = ahead.pop()
        if s not in found and s != 3:
            found.add(s)
            ahead += [y for y in range(S) if P[s, pi[s], y] > 0.0]
    return found


def short(mdp, pi):
    """A policy with 0 where it cannot be."""
    found = can_reach(mdp, pi)
    return tuple(int(pi[s]) if s in found else 0 for s in range(S))


def solved(gamma, P, r, pi):
    chain = np.array([P[s, pi[s]] for s in range(S)])
    return np.linalg.solve(np.eye(S) - gamma * chain, [r[s, pi[s]] for s in range(S)])


def plain(belief, log, policies, delta, rng, certain=(), known=True):
    """What the module's page says, with sets, dictionaries and loops."""
    mdp, gamma = belief.mean_mdp(), belief.gamma
    draws = [short(mdp, np.asarray(b.solve(belief.sample_mdp(rng)).policy)) for _ in range(policies)]
    low, high = belief.reward_range()
    least, width = low / (1.0 - gamma), (high - low) / (1.0 - gamma)
    visits = dict.fromkeys(np.ndindex(S, A), 0)
    for step in log:
        visits[step.state, step.action] += 1
    for pair in certain:
        visits[pair] = math.inf
    need = {pi: min((visits[s, pi[s]] for s in can_reach(mdp, pi)), default=math.inf) for pi in set(draws)}

    def bound(n, kl):
        if width == 0.0:
            return 0.0
        return pac.model_bound(kl, S, gamma, n, delta / (n * (n + 1)), 1.0 - gamma, known_rewards=known)

    best, found = None, {}
    for n in sorted(set(need.values()) - {0}):
        n = 2**40 if n == math.inf else n
        usable = [pi for pi in draws if need[pi] >= n]
        if len(usable) < 0.5 * len(draws):
            break
        P, r, seen = np.zeros((S, A, S)), np.zeros((S, A)), np.zeros((S, A))
        for step in log:
            if seen[step.state, step.action] < n:
                seen[step.state, step.action] += 1
                P[step.state, step.action, step.next_state] += 1
                r[step.state, step.action] += step.reward
        for s, a in np.ndindex(3, A):
            if seen[s, a] > 0:
                P[s, a], r[s, a] = P[s, a] / seen[s, a], r[s, a] / seen[s, a]
            if (s, a) in certain:
                P[s, a], r[s, a] = mdp.matrix[s * A + a], mdp.mean_reward[s, a]
        allowed = [[a for a in range(A) if visits[s, a] >= n] or [0] for s in range(3)]
        tried = sorted(set(usable))
        top = max(product(*allowed, [0]), key=lambda pi: solved(gamma, P, r, pi)[:3].sum())  # best in every state
        if all(visits[s, top[s]] >= n for s in can_reach(mdp, top)) and short(mdp, top) not in tried:
            tried.append(short(mdp, top))
        p = np.array([0.95 * draws.count(pi) / policies + 0.05 * A ** -float(len(can_reach(mdp, pi))) for pi in tried])
        x = np.array([(solved(gamma, P, r, pi) @ mdp.outcomes.start - least) / (width or 1.0) for pi in tried])
        for t in (0.0, *(0.1 * 10 ** (i / 8) for i in range(41)), 1e12):
            q = p * np.exp(t * (x - x.max()))
            q /= q.sum()
            kl = sum(u * math.log(u / v) for u, v in zip(q, p, strict=True) if u > 0.0)
            lower = q @ x - bound(n, max(kl, 0.0))
            if t == 0.0:
                own = lower
            elif t == 1e12:
                alone = lower
            if t < 1e12 and (t == 0.0 or lower > found["lower"]):
                found = {"policies": tried, "prior_weights": p, "weights": q, "temperature": t, "kl": kl,
                         "empirical": q @ x, "lower": lower, "visits": n}  # fmt: skip
        found |= {"prior_lower": own, "data_lower": alone}
        if best is None or found["lower"] > best["lower"]:
            best = found
    if best is None:  # nothing can be estimated
        tried = sorted(set(draws))
        p = np.array([draws.count(pi) / policies for pi in tried])
        best = {"policies": tried, "prior_weights": p, "weights": p, "temperature": 0.0, "kl": 0.0, "empirical": 0.0,
                "lower": 0.0, "visits": 0, "prior_lower": 0.0, "data_lower": 0.0}  # fmt: skip
    ends = best["prior_lower"], best["data_lower"]
    rules = "neither" if max(ends) <= 0.0 else "prior" if ends[0] >= ends[1] else "data"
    hope = best["empirical"] or 1.0
    for name in ("lower", "prior_lower", "data_lower"):
        best[name] = least + width * max(best[name], 0.0)
    best["empirical"] = least + width * best["empirical"]
    return best | {"rules": rules, "least": least, "highest": least + width, "delta": delta}, bound, hope


FEW = [[61, 43, 17], [29, 0, 87], [53, 37, 71]]
MANY = [[305, 215, 85], [145, 255, 435], [265, 185, 355]]
ONCE = [[1, 1, 1]] * 3
UNEVEN = [[900, 800, 3], [700, 2, 40], [1500, 600, 0]]


def prior_for(mdp, seed):
    """A belief that knows what is possible and has seen two visits of each pair."""
    return b.DirichletMDP.structured(mdp).update_many(log_of(mdp, [[2] * A] * 3, seed))


def assert_equal(belief, log, seed, policies=23, **told):
    """Everything that `prior_check` says is what the transcription says."""
    expected, bound, hope = plain(belief, log, policies, 0.13, default_rng(seed), **told)
    found = pac.prior_check(belief, log, policies, 0.13, rng=default_rng(seed))
    assert list(map(tuple, found.policies.tolist())) == expected.pop("policies")
    for name, value in expected.items():
        if name in ("rules", "visits"):
            assert getattr(found, name) == value, name
        else:
            np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, atol=1e-12, err_msg=name)
    assert bound(found.needed, 0.0) < hope
    assert found.needed == 1 or bound(found.needed - 1, 0.0) >= hope
    return found


@pytest.mark.parametrize(
    ("gamma", "rewards", "visits", "seed", "rules"),
    [
        (0.37, "pairs", FEW, 1, "neither"),  # nothing can be estimated
        (0.37, "pairs", FEW, 2, "data"),
        (0.37, "pairs", FEW, 3, "prior"),
        (0.37, "pairs", MANY, 1, "data"),
        (0.21, "pairs", UNEVEN, 1, "prior"),
        (0.37, "outcomes", MANY, 0, "data"),
        (0.37, "outcomes", MANY, 1, "data"),
        (0.0, "pairs", FEW, 2, "neither"),
        (0.0, "pairs", FEW, 5, "prior"),
        (0.37, "one", FEW, 2, "prior"),
        (0.37, "none", FEW, 2, "neither"),
        (0.13, "pairs", ONCE, 5, "prior"),
        (0.9, "pairs", FEW, 2, "neither"),  # the bound is infinite for every number of visits
    ],
)
def test_equal_to_the_transcription(gamma, rewards, visits, seed, rules):
    """Rewards of pairs and of outcomes, a discount of 0, returns that differ by their length alone, and no rewards."""
    mdp = problem(gamma, rewards, seed)
    known = gamma > 0.0 and rewards != "outcomes"
    assert assert_equal(prior_for(mdp, seed), log_of(mdp, visits, seed), seed, known=known).rules == rules


def test_half_of_the_policies_are_enough():
    """Two policies of which one can be estimated with 600 visits; both could be with two."""
    mdp = problem(0.37, "outcomes", 1)
    found = assert_equal(prior_for(mdp, 1), log_of(mdp, UNEVEN, 1), 1, policies=2, known=False)
    assert found.visits == 600


@pytest.mark.parametrize(
    ("visits", "seed"),
    [
        ([[305, 307, 300], [301, 304, 308], [303, 306, 302]], 1),
        ([[307, 304, 300], [306, 308, 305], [303, 302, 301]], 3),
    ],
)
def test_more_visits_may_guarantee_less(visits, seed):
    """With one visit more fewer policies can be estimated, and the price is higher than the gain."""
    mdp = problem(seed=seed)
    found = assert_equal(prior_for(mdp, seed), log_of(mdp, visits, seed), seed, policies=60)
    assert found.visits == 302


def test_a_return_that_no_number_of_visits_shows():
    """All that can be reached pays almost nothing, beside a reward that cannot be reached: 2^62 visits are told."""
    P = np.zeros((3, 1, 3))
    P[0, 0, :2], P[1, 0, :2], P[2, 0] = (0.5, 0.5), (0.25, 0.75), (0.0, 0.0, 1.0)
    belief = b.DirichletMDP.structured(TabularMDP.from_dense(P, [[1e-14], [0.0], [1.0]], 0.3))
    log = [Transition(0, 0, 1e-14, 1), Transition(1, 0, 0.0, 0)]
    assert pac.prior_check(belief, log, 1, rng=default_rng(0)).needed == 2**62


def test_known_pairs_need_no_visits():
    """Pairs whose rows are known count as seen, and are as they are; with all pairs known no log is needed."""
    mdp = problem(seed=7)
    fixed = {(1, 1), (2, 0)}
    known = np.array([any(mdp.group[pair] == g for pair in fixed) for g in range(mdp.outcomes.n_groups)])
    belief = b.DirichletMDP.structured(mdp, known=known)
    found = assert_equal(belief, log_of(mdp, FEW, 7), 7, certain=fixed)
    assert (found.policies[found.weights.argmax()] == [0, 1, 0, 0]).sum() >= 2
    sure = assert_equal(
        b.DirichletMDP.structured(mdp, known=True), log_of(mdp, FEW, 7), 7, certain=set(np.ndindex(3, A))
    )
    assert sure.visits == 2**40


def test_states_that_a_policy_cannot_reach():
    """Two policies that differ only there are one, and the pairs there need no visits."""
    mdp = problem(0.37, "outcomes", 5, start=(1.0, 0.0, 0.0, 0.0))
    found = assert_equal(
        b.DirichletMDP.structured(mdp), log_of(mdp, [[400, 300, 350]] * 2 + [[0, 1, 300]], 5), 5, known=False
    )
    assert (found.policies[:, 2] == 0).any()


def test_a_belief_that_knows_no_pairs():
    """Finitely many models do not say which pairs are certain: none is."""
    models = tuple(problem(0.37, "outcomes", seed) for seed in (8, 9, 10))
    models = tuple(TabularMDP(models[0].outcomes, m.prob, 0.37) for m in models)
    belief = b.beliefs.FiniteMDPs(models, [0.5, 0.2, 0.3])
    assert_equal(belief, log_of(models[1], MANY, 8), 8, known=False)


class Trusting:
    """A belief that accepts every log, and says what its range of rewards is."""

    def __init__(self, belief, low, high):
        self.belief, self.range, self.gamma = belief, (low, high), belief.gamma
        self.n_states, self.n_actions = S, A

    def sample_mdp(self, rng):
        return self.belief.sample_mdp(rng)

    def mean_mdp(self):
        return self.belief.mean_mdp()

    def reward_range(self):
        return self.range

    def update_many(self, log):
        return self


def test_rewards_at_the_ends_of_the_range():
    """The smallest and the largest reward are accepted, one beyond is refused; both ends must be finite."""
    belief = b.DirichletMDP.structured(problem())
    paid = [Transition(0, 0, r, 1) for r in (-0.7, 1.6)]
    found = pac.prior_check(Trusting(belief, -0.7, 1.6), paid, 1, rng=default_rng(0))
    assert (found.least, found.highest) == pytest.approx((-0.7 / 0.63, 1.6 / 0.63))
    assert found.prior_weights.sum() == found.weights.sum() == 1.0  # one policy was drawn
    for low, high in ((-0.69, 1.6), (-0.7, 1.59)):
        with pytest.raises(InvalidArgument, match=f"'log' must be one with rewards from {low:g} to {high:g}"):
            pac.prior_check(Trusting(belief, low, high), paid, 1, rng=default_rng(0))
    for low, high in ((-np.inf, 1.6), (-0.7, np.inf)):
        with pytest.raises(InvalidArgument, match="'belief' must be one with a discount below 1 and bounded rewards"):
            pac.prior_check(Trusting(belief, low, high), paid, 1, rng=default_rng(0))
