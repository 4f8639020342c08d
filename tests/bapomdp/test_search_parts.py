"""The parts of searches over hyper-states, bounds of counts, and limits of what is asked, against plain sums."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import _asking, bounded_error, risk_samples, value_difference_bound
from bayesrl.bapomdp import bapomdp_branch_and_bound as bounded
from bayesrl.bapomdp import count_bounds as _count_bounds
from bayesrl.bapomdp._asking import Answer, Asking, Drawn, after_reply, after_step, present_models
from bayesrl.bapomdp._hyper_search import expected, leaf_value
from bayesrl.bapomdp._settings import listening
from bayesrl.bapomdp.medusa import Learning
from bayesrl.beliefs import DirichletPOMDP, ExactBAPOMDP, FinitePOMDPs, ParticleBAPOMDP
from bayesrl.beliefs.pomdp.hyper_states import KEYS, roots, step
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models import AlphaVectors
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.models.solve import solve
from bayesrl.registry import make_world

S, A, Z, END, GAMMA = 4, 2, 3, 2, 0.83


def generic(seed=0, ndim=2, ends=True):
    """Tied and known rows of different lengths, rewards of both signs of the pair, the next state or what is seen."""
    rng = default_rng(seed)
    size, shown = np.array([3, 2, 3]), np.array([2, 1, 2])
    phi, psi = rng.uniform(0.4, 2.0, (3, 3)).round(2), rng.uniform(0.4, 2.0, (3, 2)).round(2)
    phi[np.arange(3) >= size[:, None]], psi[np.arange(2) >= shown[:, None]] = 0.0, 0.0
    phi[2] /= phi[2].sum()
    psi[2] /= psi[2].sum()
    groups = [rng.permutation(np.arange(S * A) % 3).reshape(S, A) for _ in range(2)]
    start, last = np.array([0.5, 0.2, 0.0, 0.3]), (np.arange(S) == END) & ends
    outcomes = Outcomes(
        rng.integers(S, size=(S, A, 3)), np.zeros((S, A, 3)), groups[0], size, np.zeros(1), start, last
    )  # fmt: skip
    observed = ObservationOutcomes(rng.integers(Z, size=(S, A, 2)), groups[1], shown, Z)
    R = rng.normal(size=(S, A, S, Z)[:ndim]).round(2)
    return DirichletPOMDP(outcomes, phi, observed, psi, R, GAMMA, [False, False, True], [False, False, True])


def learned(prior, steps=2):
    """A belief with several hyper-states."""
    belief = ExactBAPOMDP(prior)
    for t in range(steps):
        o = int(np.argmax([step_weight(belief, t % A, o) for o in range(Z)]))
        belief = belief.update(b.Transition(-1, t % A, 0.0, o, False))
    return belief


def step_weight(belief, a, o):
    h = belief.hyper
    return step(belief.rows, h, roots(h, 2, len(belief.rows.mix)), a, o, False).weight.sum()


def counts_of(m, h, i, path=()):
    """All rows of a branch, (R, W)."""
    x = np.array(m.alpha)
    for c, n in [*zip(h.cell[h.first[i] : h.first[i + 1]], h.times[h.first[i] : h.first[i + 1]], strict=True),
                 *((c, 1) for c in path if c < len(m.mix))]:  # fmt: skip
        x[divmod(int(c), m.alpha.shape[1])] += n
    return x


def four(m):
    return np.broadcast_to(m.reward, (S, A, S, Z))


PROBLEMS = [(0, 2, True), (1, 3, True), (2, 4, True), (3, 4, False)]
"""Seeds, dimensions of the rewards, and whether episodes end."""


@pytest.mark.parametrize("seed, ndim, ends", PROBLEMS)
def test_expected_rewards_and_what_comes_after(seed, ndim, ends):
    """The sum over branches, outcomes and signs, at the root and after a step; with no values, one row, and many."""
    belief, rng = learned(generic(seed, ndim, ends)), default_rng(seed)
    for h in (belief.restart().hyper, belief.hyper):
        m, pad = belief.rows, len(belief.rows.mix)
        first = roots(h, 4, pad)
        seen = max(range(Z), key=lambda o: step(m, h, first, 1, o, False).weight.sum())
        for e in (first, step(m, h, first, 1, seen, False)):
            for after in (np.empty((0, 0)), rng.normal(size=(1, S)), rng.normal(size=(len(h.weight), S))):
                for a in range(A):
                    total = 0.0
                    for i in range(len(e.weight)):
                        x = counts_of(m, h, e.root[i], e.path[i])
                        for s in range(S) if e.state[i] < 0 else [e.state[i]]:
                            w = e.weight[i] * (m.start[s] if e.state[i] < 0 else 1.0)
                            g = m.move[s, a]
                            for k in range(m.size[g]):
                                y = m.succ[s, a, k]
                                p, r = w * x[g, k] / x[g].sum(), m.show[y, a]
                                if len(after) and not m.terminal[y]:
                                    total += p * after[e.root[i] if len(after) > 1 else 0, y]
                                for j in range(m.size[r]):
                                    total += p * x[r, j] / x[r].sum() * four(m)[s, a, y, m.observation[y, a, j]]
                    assert expected(m, h, e, a, after) == pytest.approx(total, abs=1e-12)
        leaf = rng.normal(size=(S, A))
        e = step(m, h, first, 1, seen, False)
        q = sum(e.weight[i] * leaf[e.state[i]] for i in range(len(e.weight)))
        assert leaf_value(e, leaf) == pytest.approx(q.max(), abs=1e-14)
        assert leaf_value(e, np.zeros((0, 0))) == 0.0


@pytest.mark.parametrize("seed, ndim, ends", PROBLEMS)
@pytest.mark.parametrize("leaves", [False, True])
def test_naive_bounds(seed, ndim, ends, leaves):
    """Discounted sums of the least and of the largest reward, and of leaves; 0 at the end, and no less before it."""
    m = ExactBAPOMDP(generic(seed, ndim, ends)).rows
    for shift in (-4.0, 0.0, 4.0):
        leaf = np.where(m.terminal[:, None], 0.0, default_rng(seed).normal(size=(S, A)) + shift)
        going = ~m.terminal
        low, high = bounded.naive(m, 3, GAMMA, leaf if leaves else np.zeros((0, 0)))
        l, u = (max(leaf[going, a].min() for a in range(A)), leaf[going].max()) if leaves else (0.0, 0.0)
        for d in range(4):
            if d == 0:
                exact = (leaf, leaf.max(axis=1)) if leaves else (np.zeros((S, A)), np.zeros(S))
            else:
                l, u = (min(l, 0.0), max(u, 0.0)) if ends else (l, u)
                l, u = m.reward.min() + GAMMA * l, m.reward.max() + GAMMA * u
                exact = np.where(m.terminal[:, None], 0.0, np.full((S, A), l)), np.where(m.terminal, 0.0, u)
            np.testing.assert_allclose(low[0, d], exact[0], atol=1e-13)
            np.testing.assert_allclose(high[0, d], exact[1], atol=1e-13)
        assert low.shape == (1, 4, S, A)
        assert high.shape == (1, 4, S)


def extreme_bounds(m, h, D, leaf):
    """The bounds of states that are seen, if all further counts go to the worst or to the best."""
    N = len(h.weight)
    low, high = np.zeros((N, D + 1, S, A)), np.zeros((N, D + 1, S))
    for i in range(N):
        x = counts_of(m, h, i)
        going = ~m.terminal
        if leaf.size:
            low[i, 0, going], high[i, 0, going] = leaf[going], leaf[going].max(axis=1)
        for d in range(1, D + 1):
            for s in np.flatnonzero(going):
                upper = []
                for a in range(A):
                    g, n, values = m.move[s, a], D - d, []
                    for k in np.flatnonzero(x[g]):
                        y = m.succ[s, a, k]
                        r = m.show[y, a]
                        p, paid = x[r, : m.size[r]], four(m)[s, a, y][m.observation[y, a, : m.size[r]]]
                        extra = n if m.learnt[r] else 0
                        least, most = ((p @ paid + extra * z) / (p.sum() + extra) for z in (paid.min(), paid.max()))
                        values.append((x[g, k], least + GAMMA * low[i, d - 1, y, a], most + GAMMA * high[i, d - 1, y]))
                    p, l, u = np.array(values).T
                    extra = n if m.learnt[g] else 0
                    low[i, d, s, a] = (p @ l + extra * l.min()) / (p.sum() + extra)
                    upper.append((p @ u + extra * u.max()) / (p.sum() + extra))
                high[i, d, s] = max(upper)
    return low, high


@pytest.mark.parametrize("seed, ndim, ends", PROBLEMS)
def test_optimistic_bounds_and_the_search(seed, ndim, ends):
    """Bounds of each root, and values, bounds and the number of histories of a search in plain Python."""
    belief = learned(generic(seed, ndim, ends))
    m, h, D = belief.rows, belief.hyper, 3
    leaf = np.where(m.terminal[:, None], 0.0, default_rng(seed).normal(size=(S, A)))
    for leaves in (np.zeros((0, 0)), leaf):
        low, high = bounded.extremes(m, h, D, GAMMA, leaves)
        exact = extreme_bounds(m, h, D, leaves)
        np.testing.assert_allclose(low, exact[0], atol=1e-12)
        np.testing.assert_allclose(high, exact[1], atol=1e-12)
        for bounds in ((low, high), bounded.naive(m, D, GAMMA, leaves)):
            mine, plain = bounded.search(m, h, D, GAMMA, leaves, Z, *bounds), searched(m, h, D, leaves, *bounds)
            for one, two in zip(mine, plain, strict=True):
                np.testing.assert_allclose(one, two, atol=1e-12)


def searched(m, h, D, leaf, low, high):
    """Branch and bound: Q of each action, the bounds of the root, and histories searched."""
    root = (lambda e, i: e.root[i]) if len(low) > 1 else (lambda e, i: 0)
    nodes = [1]

    def below(e, d):
        return max(sum(e.weight[i] * low[root(e, i), d, e.state[i]] for i in range(len(e.weight))))

    def above(e, d):
        return sum(e.weight[i] * high[root(e, i), d, e.state[i]] for i in range(len(e.weight)))

    def ahead(e, d):
        return [expected(m, h, e, a, GAMMA * high[:, d - 1]) for a in range(A)]

    def value(e, d, floor):
        if d == 0:
            return leaf_value(e, leaf)
        nodes[0] += 1
        best, open_ = max(floor, below(e, d)), dict(enumerate(ahead(e, d)))
        while open_ and max(open_.values()) > best:
            a = max(open_, key=open_.get)
            q = open_.pop(a)
            if d == 1 and not leaf.size:
                return q
            for o in range(Z):
                new = step(m, h, e, a, o, False)
                if len(new.weight):
                    q -= GAMMA * above(new, d - 1)
                    need = (best - q) / GAMMA
                    v = value(new, d - 1, need)
                    q += GAMMA * v
                    if v <= need:
                        break
            else:
                best = max(best, q)
        return best

    e = roots(h, 2 * D, len(m.mix))
    e.key[:] = (e.key + np.arange(len(e.key))) % KEYS
    q, lower = (np.array([expected(m, h, e, a, np.empty((0, 0))) for a in range(A)]) for _ in range(2))
    for a in range(A):
        for o in range(Z):
            new = step(m, h, e, a, o, False)
            if len(new.weight):
                lower[a] += GAMMA * below(new, D - 1)
                q[a] += GAMMA * value(new, D - 1, -np.inf)
    return q, lower, ahead(e, D), nodes[0]


# Bounds of counts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_distances_of_counts(seed):
    """Every row by its definition, with infinite totals of known rows and of the end; the worst over a, s and s'."""
    rng = default_rng(seed)
    one = generic(seed)
    phi, psi = (np.where(x > 0.0, x + rng.uniform(0.1, 2.0, x.shape), 0.0) for x in (one.phi, one.psi))
    phi[2], psi[2] = one.phi[2], one.psi[2]
    phi[1], psi[0] = phi[1] / phi[1].sum(), psi[0] / psi[0].sum()
    known = ([False, True, True], [True, False, True])
    two = DirichletPOMDP(one.outcomes, phi, one.observed, psi, one.rewards, GAMMA, *known)
    constant = 4.0 / (np.e * np.log(1.0 / GAMMA))

    def dense(counts, target, group, n):
        x = np.zeros((S, A, n))
        for s, a, k in np.ndindex(*target.shape):
            x[s, a, target[s, a, k]] += counts[group[s, a], k]
        return x

    def apart(x, y, fixed, fixed_too):
        N, M = x.sum(), y.sum()
        far = np.abs(x / N - y / M).sum()
        if fixed and fixed_too:
            return far
        if fixed or fixed_too:
            return far + constant / ((M if fixed else N) + 1.0)
        return far + constant * np.abs(x - y).sum() / ((N + 1.0) * (M + 1.0))

    o, observed = one.outcomes, one.observed
    for first, second in ((one, two), (two, one), (one, one)):
        moves, shows = np.zeros((S, A)), np.zeros((S, A))
        for s, a in np.ndindex(S, A):
            rows = [dense(p.phi, o.succ, o.group, S)[s, a] for p in (first, second)]
            seen = [dense(p.psi, observed.observation, observed.group, Z)[s, a] for p in (first, second)]
            moves[s, a] = apart(*rows, *(p.fixed[0][o.group[s, a]] or s == END for p in (first, second)))
            shows[s, a] = apart(*seen, *(p.fixed[1][observed.group[s, a]] for p in (first, second)))
        worst = max(moves[s, a] + shows[y, a] for s in range(S) for y in range(S) for a in range(A))
        exact = 2.0 * GAMMA * 1.7 / (1.0 - GAMMA) ** 2 * worst
        assert value_difference_bound(first, second, 1.7) == pytest.approx(exact, rel=1e-12, abs=1e-12)
    mine = _count_bounds.tables("test", "one", one)
    np.testing.assert_allclose(mine[0], dense(one.phi, o.succ, o.group, S))
    np.testing.assert_array_equal(mine[2], one.fixed[0][o.group] | (np.arange(S) == END)[:, None])


def test_bounds_of_counts_at_their_limits():
    """What is at the limit is accepted or refused as the formula allows; the sentence names the argument."""
    one = generic()

    def of(gamma, Z=Z):
        prior = generic()
        observed = (
            prior.observed
            if Z == prior.n_observations
            else ObservationOutcomes(prior.observed.observation, prior.observed.group, [2, 1, 2], Z)
        )
        return DirichletPOMDP(prior.outcomes, prior.phi, observed, prior.psi, prior.rewards, gamma, *prior.fixed)

    assert value_difference_bound(one, one, 0.0) == 0.0
    assert bounded_error(1e-9, 0.5, 0.0) == 0.0
    assert bounded_error(0.5, 0.5, 3.0) == pytest.approx(
        1.0 * 2.0 * 0.5 * 3.0 / 0.25 * (4.0 / 1.5 + 8.0 / (np.e * np.log(2.0) * 1.5 * 2.5)), rel=1e-12
    )
    for call, says in (
        (lambda: value_difference_bound(one, of(0.8), 1.0), "'two' must be of discount 0.83"),
        (lambda: value_difference_bound(one, of(GAMMA, Z=4), 1.0), "'two' must be of the size of"),
        (lambda: value_difference_bound(of(GAMMA, Z=4), one, 1.0), "'two' must be of the size of"),
        (lambda: value_difference_bound(of(1.0), of(1.0), 1.0), "'one.gamma' must be in"),
        (lambda: value_difference_bound(of(0.0), of(0.0), 1.0), "'one.gamma' must be in"),
        (lambda: value_difference_bound(one, one, -1e-9), "'r_max' must be at least 0"),
        (lambda: value_difference_bound(one, 3, 1.0), "'two' must be a DirichletPOMDP"),
        (lambda: value_difference_bound(3, one, 1.0), "'one' must be a DirichletPOMDP"),
        (lambda: bounded_error(0.0, 0.5, 1.0), "'bound' must be greater than 0"),
        (lambda: bounded_error(1.0, 0.0, 1.0), "'gamma' must be in"),
        (lambda: bounded_error(1.0, 1.0, 1.0), "'gamma' must be in"),
        (lambda: bounded_error(1.0, 0.5, -1e-9), "'r_max' must be at least 0"),
    ):
        with pytest.raises(InvalidArgument, match=says):
            call()


def test_how_many_models():
    """Hoeffding's number, rounded up, at least one; the interval ends at -cost if that is below all rewards."""
    for epsilon, delta, low, high, cost, gamma in (
        (0.7, 0.2, -1.5, 2.0, 0.4, 0.3), (0.7, 0.2, 0.5, 2.0, 0.4, 0.3), (0.3, 0.9, -2.0, -1.0, 3.0, 0.6),
        (5.0, 0.5, 0.1, 0.2, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0, 0.0, 0.5), (0.5, 0.01, 1.0, 1.0, 0.0, 0.2),
    ):  # fmt: skip
        width = (high - min(low, -cost)) / (1.0 - gamma)
        exact = max(int(np.ceil(width**2 * np.log(1.0 / delta) / (2.0 * epsilon**2))), 1)
        assert risk_samples(epsilon, delta, low, high, cost, gamma) == exact
    for bad, says in (
        ((1.0, 1.0 + 1e-9, 0.0, 1.0, 0.0, 0.5), "'delta' must be"),
        ((1.0, 0.5, 0.0, 1.0, -1e-9, 0.5), "'cost' must be"),
        ((1.0, 0.5, 0.0, 1.0, 0.0, -1e-9), "'gamma' must be"),
    ):
        with pytest.raises(InvalidArgument, match=says):
            risk_samples(*bad)


def test_the_prior_of_examples_in_words():
    """Two states that stay; the first action tells them with 5 : 3, the second with 2 : 2; each pays in one state."""
    prior = listening()
    P, O, r = prior.mean_pomdp().dense()
    np.testing.assert_array_equal(P, np.repeat(np.eye(2)[:, None], 2, axis=1))
    np.testing.assert_allclose(O, [[[5 / 8, 3 / 8], [0.5, 0.5]], [[3 / 8, 5 / 8], [0.5, 0.5]]])
    np.testing.assert_array_equal(r, np.eye(2))
    assert prior.psi.sum(axis=1).tolist() == [8.0, 4.0, 8.0, 4.0]
    assert (prior.gamma, prior.start.tolist()) == (0.9, [0.5, 0.5])
    assert [x.tolist() for x in prior.fixed] == [[True] * 4, [False] * 4]
    assert prior.reward_range() == (0.0, 1.0)


# Agents --------------------------------------------------------------------------------------------------------------

WEIGHTS, AT = np.array([0.2, 0.5, 0.3]), np.array([0.3, 0.7])
PAYS = np.array([
    [[1.0, -2.0, 0.5], [2.0, 4.0, 0.0]], [[0.0, 3.0, 1.0], [5.0, 1.0, -1.0]], [[-3.0, 2.0, 6.0], [1.0, 2.5, 2.0]]
])  # fmt: skip
Q = AT @ PAYS
"""Q_i(b, a) of three models, which prefer the actions 1, 0 and 2."""


def three_models():
    """Models that pay PAYS and are then worth nothing, at the belief AT, with the weights WEIGHTS."""
    P, O = np.repeat(np.eye(2)[:, None], 3, axis=1), np.full((2, 3, 2), 0.5)
    models = tuple(b.TabularPOMDP.from_dense(P, O, r, GAMMA, start=AT) for r in PAYS)
    solutions = tuple(AlphaVectors(model, np.zeros((1, 2)), [0]) for model in models)
    return FinitePOMDPs(models, WEIGHTS), solutions


def test_agents_ask_just_beyond_the_limit():
    """What each agent shows, by hand; it asks if the limit is passed by more than a tie."""
    belief, solutions = three_models()
    prior = make_world("tiger").model_prior()
    asking = Asking(ParticleBAPOMDP(prior, 10), (), Drawn(belief, solutions))
    np.testing.assert_allclose(Drawn(belief, solutions).q(), Q)
    best = Q.argmax(axis=1)
    assert sorted(best.tolist()) == [0, 1, 2]
    votes = np.bincount(best, belief.posterior(), 3)
    risk = WEIGHTS @ (Q - Q.max(axis=1, keepdims=True))
    for limit, asks in ((votes.max(), False), (votes.max() * (1.0 + 3e-9), True)):
        decision = b.make("action-oracle", model_prior=prior, agreement=limit).act(asking, None, default_rng(0))
        assert decision.info["asked"] is asks
        assert decision.action == (3 if asks else int(np.argmax(votes)))
        assert decision.info["agreement"] == votes.max()
        np.testing.assert_allclose(decision.info["votes"], votes)
        np.testing.assert_allclose(decision.info["weights"], WEIGHTS)
    shown = float(b.make("bayes-risk", model_prior=prior).act(asking, None, default_rng(0)).info["risk"])
    assert shown == pytest.approx(risk.max(), abs=1e-12)
    for limit, asks in ((-shown, False), (-shown - 3e-9 * np.abs(Q).max(), True)):
        decision = b.make("bayes-risk", model_prior=prior, cost=limit).act(asking, None, default_rng(0))
        assert decision.info["asked"] is asks
        assert decision.action == int(np.argmax(risk)) + 3 * asks
        np.testing.assert_allclose(decision.info["risks"], risk)
        np.testing.assert_allclose(decision.info["q"], WEIGHTS @ Q)
    refused = asking._replace(refused=(int(np.argmax(risk)),))  # after a no the next best is asked about, however safe
    decision = b.make("bayes-risk", model_prior=prior, cost=100.0).act(refused, None, default_rng(0))
    assert decision.action == 3 + int(np.argsort(risk)[-2])
    learning = Learning(prior, belief, solutions, np.zeros(3), np.log(WEIGHTS))
    for seed in range(6):
        a = int(best[default_rng(seed).choice(3, p=learning.weights())])
        mean = WEIGHTS @ Q[:, a]
        deviation = np.sqrt(WEIGHTS @ Q[:, a] ** 2 - mean**2)
        shown = b.make("medusa", model_prior=prior).act(learning, None, default_rng(seed)).info["deviation"]
        assert shown == pytest.approx(deviation, abs=1e-9)
        for limit, asks in ((shown, False), (shown - 3e-9 * np.abs(Q).max(), True)):
            decision = b.make("medusa", model_prior=prior, threshold=limit).act(learning, None, default_rng(seed))
            assert decision.info["asked"] is asks
            assert decision.action == a + 3 * asks
            np.testing.assert_allclose(decision.info["q"], WEIGHTS @ Q)
            np.testing.assert_allclose(decision.info["weights"], WEIGHTS)


def test_models_are_kept_until_they_are_old(monkeypatch):
    """`renew` steps, but not between a no and the next question; a step makes them older, an answer does not."""
    belief, solutions = three_models()
    prior = make_world("tiger").model_prior()
    monkeypatch.setattr(_asking, "draw_models", lambda agent, mind, rng: "new")
    agent = b.make("bayes-risk", model_prior=prior, renew=4, particles=10)
    for age, refused, new in ((3, (), False), (4, (), True), (5, (), True), (4, (1,), False), (9, (0, 1), False)):
        mind = Asking(ParticleBAPOMDP(prior, 10), (), Drawn(belief, solutions, age), refused=refused)
        assert (present_models(agent, mind, default_rng(0)) == "new") is new
    assert present_models(agent, Asking(ParticleBAPOMDP(prior, 10)), default_rng(0)) == "new"
    mind = Asking(ParticleBAPOMDP(prior, 10), (), Drawn(belief, solutions, 3), 1, (2,))
    datum = b.Transition(-1, 0, 0.0, 1)
    after = after_step(mind, datum, default_rng(0))
    assert (after.drawn.age, after.past, after.chosen, after.refused) == (4, (datum,), -1, ())
    np.testing.assert_array_equal(after.drawn.belief.per_model(), belief.update(datum).per_model())
    over = after_step(mind, datum._replace(terminated=False, truncated=True), default_rng(0))
    np.testing.assert_array_equal(over.drawn.belief.per_model(), belief.per_model())
    np.testing.assert_array_equal(over.learned.states(), prior.start)
    assert after_step(mind._replace(drawn=None), datum, default_rng(0)).drawn is None
    answer = Answer(2, 0)
    told = after_reply(mind, mind.drawn, np.array([0.1, 0.6, 0.3]), answer, 5, (0,))
    assert (told.drawn.age, told.past, told.chosen, told.refused) == (3, (answer,), 5, (0,))
    np.testing.assert_allclose(told.drawn.belief.posterior(), [0.1, 0.6, 0.3])


def test_new_models_go_through_the_past():
    """Weights are the likelihoods of past answers; a model that past steps rule out has none, and no answer by itself
    rules out all."""
    stay = np.repeat(np.eye(2)[:, None], 3, axis=1)
    shows = [np.full((2, 3, 2), 0.5) for _ in range(3)]
    shows[1][:] = [1.0, 0.0]
    models = [b.TabularPOMDP.from_dense(stay, O, r, GAMMA) for O, r in zip(shows, PAYS, strict=True)]
    begun = SimpleNamespace(states=lambda: AT)
    step_, answers = b.Transition(-1, 0, 0.0, 1), (Answer(-1, 2), Answer(-1, 0))

    def drawn(*likelihood, past=(answers[0], step_, answers[1])):
        found, asked = iter(models), []

        def told(best, answer):
            asked.append((best.tolist(), answer))
            return np.array(likelihood[len(asked) - 1])

        learned = SimpleNamespace(restart=lambda: begun, sample_pomdp=lambda rng: next(found))
        agent = SimpleNamespace(models=3, size=1, likelihood=told)
        new = _asking.draw_models(agent, SimpleNamespace(learned=learned, past=past), default_rng(0))
        assert [answer for _, answer in asked] == list(answers)
        assert new.age == 0
        return new.belief

    belief = drawn([0.9, 0.4, 0.2], [0.1, 0.5, 0.7])
    np.testing.assert_allclose(belief.posterior(), np.array([0.09, 0.0, 0.14]) / 0.23)
    np.testing.assert_allclose(belief.per_model()[[0, 2]], [AT, AT])
    np.testing.assert_allclose(drawn([0.0, 1.0, 0.2], [0.1, 0.5, 0.7]).posterior(), [0.0, 0.0, 1.0])
    with pytest.raises(ImpossibleEvidence, match="no drawn model can give all answers"):
        drawn([0.0, 1.0, 0.2], [1.0, 1.0, 0.0])


def test_leaves_are_read_from_the_mean_model():
    """Q of the mean model, where leaves are asked for; a tree over it has those values in the end."""
    belief = learned(generic())
    planner = b.make("bapomdp-branch-and-bound", depth=1, leaf="mean")
    q = planner.plan(belief, -1, None, default_rng(0)).info["q"]
    m, h = belief.rows, belief.hyper
    leaf = solve(belief.mean_pomdp().mdp).q
    first = roots(h, 2, len(m.mix))
    for a in range(A):
        total = expected(m, h, first, a, np.empty((0, 0)))
        for o in range(Z):
            e = step(m, h, first, a, o, False)
            if len(e.weight):
                total += GAMMA * max(sum(e.weight[i] * leaf[e.state[i]] for i in range(len(e.weight))))
        assert q[a] == pytest.approx(total, abs=1e-12)
