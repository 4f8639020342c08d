"""BOLT, POT, VBRB (and BEB's theorem): against their equations written out, and against exact Bayes-optimal values."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.optimism._imagined import Imagined, infinite_horizon
from bayesrl.bamdp.optimism.pac_bounds import beb_beta, effective_horizon, vbrb_betas
from bayesrl.bamdp.optimism.vbrb import variances
from bayesrl.beliefs import FiniteMDPs, RewardBeta, RewardDirichlet, RewardNormal, UnknownRewards
from bayesrl.beliefs.mdp.sparse_dirichlet import SparseDirichletMDP
from bayesrl.checks import frozen
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument, NotConverged
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import finite_horizon, solve
from bayesrl.testing import assert_mean_equal

WORLD = b.make_world("chain", gamma=0.8)


def flat(seed=0, states=3, actions=2, gamma=0.8):
    """Random counts and random rewards, which depend on the next state."""
    rng = default_rng(seed)
    R = rng.uniform(0.0, 1.0, (states, actions, states))
    mdp = TabularMDP.from_dense(np.full((states, actions, states), 1 / states), R, gamma)
    return b.DirichletMDP.flat(mdp, np.exp(rng.uniform(-3.0, 1.0, (states * actions, states))))


def terminal():
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.0, 1.0], [2.0, 0.5], [0, 0]], gamma=0.8, terminal=[2])
    return b.DirichletMDP.structured(
        mdp, [[0.5, 1.0, 0.3], [2.0, 0.2, 0.2], [0.3, 0.3, 0.3], [1.0, 1.0, 0.1]] + [[1.0] * 3] * 2
    )


def tied():
    return b.DirichletMDP.structured(b.make_world("chain-semi", gamma=0.8), [[0.5, 0.2], [0.3, 0.9]])


def sparse():
    return SparseDirichletMDP.flat(WORLD, 0.3).update(Transition(0, 0, 0.0, 1)).update(Transition(1, 0, 0.0, 2))


def unknown(cells=(5, 2)):
    rng = default_rng(8)
    transitions = b.DirichletMDP.flat(WORLD, rng.uniform(0.2, 1.0, (10, 5)))
    return UnknownRewards(transitions, RewardBeta(rng.uniform(0.5, 2.0, cells), rng.uniform(0.5, 2.0, cells), 0.0, 3.0))


def plan(planner, belief, s):
    return planner.plan(belief, s, planner.start(), default_rng(0))


def values(planner, belief):
    return np.array([plan(planner, belief, s).info["q"] for s in range(belief.n_states)])


# Imagined transitions ------------------------------------------------------------------------------------------------


def extended(belief, eta, paid=lambda s, a: 0.0):
    """BOLT's extended MDP, every (a, k) listed: (phi + eta(g, k) e_k) / (phi_0 + eta(g, k)) over the outcomes.

    Unknown rewards (Beta, of pairs) are (alpha + paid(s, a)) / (alpha + beta + paid(s, a)) times the high one.
    """
    o, mean, total, paying = belief.outcomes, belief.mean_mdp(), belief.counts(), np.array(belief.mean_mdp().reward)
    if isinstance(belief, UnknownRewards):
        won, lost = belief.rewards.alpha, belief.rewards.beta
        for s, a in np.ndindex(*won.shape):
            paying[s, a] = 3.0 * (won[s, a] + paid(s, a)) / (won[s, a] + lost[s, a] + paid(s, a))
    S, A, K = o.succ.shape
    P, R = np.zeros((S, A, K, S)), np.zeros((S, A, K))
    for s, a, chosen in np.ndindex(S, A, K):
        g = o.group[s, a]
        if chosen >= o.size[g]:
            P[s, a, chosen], R[s, a, chosen] = P[s, a, 0], R[s, a, 0]
            continue
        n, e = total[s, a], eta(g, chosen)
        for k in range(o.size[g]):
            p = mean.prob[g, k] if np.isinf(n) else (n * mean.prob[g, k] + e * (k == chosen)) / (n + e)
            P[s, a, chosen, o.succ[s, a, k]] += p
            R[s, a, chosen] += p * paying[s, a, k]
    ends = np.flatnonzero(o.terminal).tolist()
    mdp = TabularMDP.from_dense(P.reshape(S, A * K, S), R.reshape(S, A * K), belief.gamma, terminal=ends)
    return mdp, (S, A, K)


@pytest.mark.parametrize("belief", [flat, terminal, tied, sparse, unknown])
@pytest.mark.parametrize("eta", [0.0, 0.7, 5.0])
def test_bolt_equals_the_listed_extended_mdp(belief, eta):
    mdp, shape = extended(belief(), lambda g, k: eta, lambda s, a: eta)
    np.testing.assert_allclose(
        values(b.make("bolt", eta=eta), belief()), solve(mdp).q.reshape(shape).max(axis=2), atol=1e-8
    )
    ahead = finite_horizon(mdp, 3).q.reshape(shape).max(axis=2)
    np.testing.assert_allclose(values(b.make("bolt", eta=eta, depth=3), belief()), ahead, atol=1e-10)


@pytest.mark.parametrize("belief", [flat, terminal, tied, sparse, unknown])
def test_pot_equals_the_listed_extended_mdp(belief):
    """eta(s, a, sigma) = eta min(1, mean + beta sd), with moments of the Dirichlet by hand where it is one.

    And of an unknown reward's Beta.
    """
    here = belief()
    rows = here.transitions if isinstance(here, UnknownRewards) else here
    if hasattr(rows, "alpha"):
        n = rows.alpha.sum(axis=1, keepdims=True)
        p, v = rows.alpha / n, rows.alpha * (n - rows.alpha) / (n * n * (n + 1.0))
    else:
        p, v = rows.mean_mdp().prob, rows.row_variance()
    share = np.minimum(1.0, p + 1.5 * np.sqrt(v))

    def paid(s, a):
        won, lost = here.rewards.alpha[s, a], here.rewards.beta[s, a]
        sd = (won * lost / (won + lost + 1.0)) ** 0.5 / (won + lost)
        return 4.0 * min(1.0, won / (won + lost) + 1.5 * sd)

    mdp, shape = extended(here, lambda g, k: 4.0 * share[g, k], paid)
    np.testing.assert_allclose(
        values(b.make("pot", beta=1.5, eta=4.0), here), solve(mdp).q.reshape(shape).max(axis=2), atol=1e-8
    )


def imagined(seed, ends, gamma=0.83):
    """Four states, three actions, five groups of one to four outcomes, weights of every outcome, perhaps an end."""
    rng = default_rng(seed)
    size = np.array([4, 2, 3, 1, 4], np.int32)
    succ, reward = rng.integers(4, size=(4, 3, 4)).astype(np.int32), rng.normal(0.7, 2.0, (4, 3, 4))
    group = rng.integers(5, size=(4, 3)).astype(np.int32)
    prob = np.where(np.arange(4) < size[:, None], rng.uniform(0.1, 1.0, (5, 4)), 0.0)
    prob, weight = prob / prob.sum(axis=1, keepdims=True), rng.uniform(0.05, 0.9, (5, 4))
    terminal = np.arange(4) == 2 if ends else np.zeros(4, bool)
    return Imagined(*map(frozen, (succ, reward, group, size, prob)), weight, frozen(terminal), gamma)


def extended_backup(m, v):
    """(q, the outcome imagined) of all pairs, by a loop over outcomes."""
    q, best = np.zeros(m.group.shape), np.zeros(m.group.shape, int)
    for s, a in np.ndindex(*q.shape):
        n, g = m.size[m.group[s, a]], m.group[s, a]
        x = m.reward[s, a, :n] + m.gamma * v[m.succ[s, a, :n]]
        each = (1.0 - m.weight[g, :n]) * (m.prob[g, :n] @ x) + m.weight[g, :n] * x
        if not m.terminal[s]:
            q[s, a], best[s, a] = each.max(), each.argmax()
    return q, best


def sweeps_of(m, v, tol, limit):
    """Modified policy iteration in numpy: a backup, then sweeps until they change a twentieth; (v, q, error)."""
    S, made, live = np.arange(len(v)), 0, ~m.terminal
    shift = 0.0 if m.terminal.any() else 0.5 * m.gamma / (1.0 - m.gamma)
    size = (lambda x: x.max() - x.min()) if shift else (lambda x: max(x.max(), -x.min()))
    while True:
        q, best = extended_backup(m, v)
        change = q.max(axis=1) - v
        error = max(change.max(), -change.min()) / (1.0 - m.gamma)
        if error <= tol or made >= limit:
            return v, q, error
        pi = q.argmax(axis=1)
        v, goal = q.max(axis=1) + shift * (change.min() + change.max()) * live, 0.05 * size(change)
        for _ in range(100):
            new = np.zeros(len(v))
            for s in S[live]:
                g, k = m.group[s, pi[s]], best[s, pi[s]]
                x = m.reward[s, pi[s]] + m.gamma * v[m.succ[s, pi[s]]]
                n = m.size[g]
                new[s] = (1.0 - m.weight[g, k]) * (m.prob[g, :n] @ x[:n]) + m.weight[g, k] * x[k]
            change, made = new - v, made + 1
            v = new + shift * (change.min() + change.max()) * live
            if size(change) <= goal:
                break


@pytest.mark.parametrize("ends", [False, True])
def test_the_extended_equation_is_solved_as_it_says(ends):
    """Values, q and error after every number of sweeps, from a start that is not zero, beside the same in numpy."""
    for seed in range(2):
        m, start = imagined(seed, ends), np.where(np.arange(4) == 2 * ends, 0.0, [4.0, -3.0, 1.5, 9.0])
        start[m.terminal] = 0.0
        for tol, limit in [(1e-9, n) for n in (0, 1, 3, 6, 10, 1000)] + [(1e-2, 1000), (1.0, 1000)]:
            given = start.copy()
            found, expected = infinite_horizon(m, given, tol, limit), sweeps_of(m, start, tol, limit)
            for x, y in zip(found, expected, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12 if limit < 1000 or tol > 1e-9 else 1e-9)
            np.testing.assert_array_equal(given, start)


def test_what_counts_as_converged(monkeypatch):
    """An error below a millionth of 1 + the largest value; otherwise the error says how far it came."""
    belief, planner = flat(4), b.make("bolt", eta=2.0)
    v, q = np.array([3.0, -9.0, 0.5]), np.arange(6.0).reshape(3, 2)
    for error, fine in ((0.99e-5, True), (1.01e-5, False), (np.nan, False)):
        given = []
        monkeypatch.setattr(
            "bayesrl.bamdp.optimism.bolt.infinite_horizon",
            lambda *told, error=error, given=given: given.append(told[1:]) or (v, q, error),
        )
        if fine:
            decision = planner.plan(belief, 2, np.array([1.0, 2.0, 4.0]), default_rng(0))
            np.testing.assert_array_equal(decision.memory, v)
            np.testing.assert_array_equal(decision.info["q"], q[2])
        else:
            with pytest.raises(NotConverged, match="BOLT: not converged after 1000000 sweeps"):
                planner.plan(belief, 2, np.array([1.0, 2.0, 4.0]), default_rng(0))
        assert [x.tolist() if isinstance(x, np.ndarray) else x for x in given[0]] == [[1.0, 2.0, 4.0], 1e-9, 1_000_000]


def test_the_extended_equation_is_not_solved_beyond_rounding():
    """Rewards of 1e9: the error allowed is three times the rounding of a backup of K outcomes, not the tolerance."""
    m = imagined(1, False)
    m = m._replace(reward=frozen(1e9 * m.reward))
    v, _, error = infinite_horizon(m, np.zeros(4), 1e-9, 10_000)
    allowed = 3.0 * 2.0**-53 * (4 + 8) * (np.abs(v).max() + np.abs(m.reward).max()) / (1.0 - m.gamma)
    assert 1e-9 < error <= allowed
    # One more step from a point whose error is between half of that and all of it changes nothing.
    exact = sweeps_of(m, v, 0.0, 400)[0]
    for share in (0.6, 0.95, 1.2):
        near = exact + share * allowed * np.array([1.0, 0.0, 0.0, 0.0])
        error = np.abs(extended_backup(m, near)[0].max(axis=1) - near).max() / (1.0 - m.gamma)
        stays = np.array_equal(infinite_horizon(m, near, 1e-9, 10_000)[0], near)
        assert stays == (error <= allowed)


@pytest.mark.parametrize("belief", [flat, terminal, tied, sparse])
def test_pot_lies_between_the_mean_model_and_bolt(belief):
    """And rises with beta to BOLT's values, which it has when every outcome is probable."""
    mean, bolt = solve(belief().mean_mdp()).q, values(b.make("bolt", eta=6.0), belief())
    few, many, all_ = (values(b.make("pot", beta=x, eta=6.0), belief()) for x in (0.0, 1.0, 1e9))
    live = ~belief().outcomes.terminal
    assert (mean[live] <= few[live] + 1e-8).all()
    assert (few[live] < many[live]).all()
    assert (many <= bolt + 1e-8).all()
    np.testing.assert_allclose(all_, bolt, atol=1e-8)


def bamdps():
    """Random BAMDPs of two and three states, tied and with an end; discounts to 1; (belief, horizon)."""
    for seed in range(20):
        yield flat(seed, 2, 2, gamma=[1.0, 0.9][seed % 2]), 4
    for seed in range(6):
        yield flat(100 + seed, 3, 2, gamma=1.0), 3
    yield b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.95), [[0.2, 0.4]]), 6
    yield tied(), 5
    yield terminal(), 4
    for seed in range(6):
        yield unknown_pay(seed), 3


def unknown_pay(seed):
    """Two states, rewards of pairs or of outcomes unknown; every third one has known transitions."""
    rng, cells = default_rng(200 + seed), (2, 2) if seed % 2 else (2, 2, 2)
    moves = flat(200 + seed, 2, 2, gamma=[1.0, 0.9][seed % 2])
    if seed % 3 == 0:
        moves = b.DirichletMDP.structured(moves.mean_mdp(), known=True)
    if seed % 2:
        return UnknownRewards(moves, RewardBeta(rng.uniform(0.3, 2.0, cells), rng.uniform(0.3, 2.0, cells)))
    return UnknownRewards(moves, RewardDirichlet([0.0, 0.3, 1.0], rng.uniform(0.2, 1.0, (*cells, 3))))


def test_bolt_is_optimistic_on_random_bamdps():
    """eta = H: q over H decisions is at least the Bayes-optimal one. With eta = 0, the mean model, it often is not."""
    below = 0
    for belief, H in bamdps():
        for s in np.flatnonzero(~belief.outcomes.terminal):
            exact = exact_q(belief, int(s), H)
            optimistic = plan(b.make("bolt", eta="theory", depth=H), belief, int(s)).info["q"]
            assert (optimistic >= exact - 1e-9).all()
            below += int((plan(b.make("bolt", eta=0.0, depth=H), belief, int(s)).info["q"] < exact - 1e-6).sum())
    assert below >= 20


def test_beb_is_optimistic_on_random_bamdps():
    """beta = 2 H^2, rewards in [0, 1]: BEB's equation over H decisions is at least the Bayes-optimal value."""
    below = 0
    for belief, H in bamdps():
        o, mean = belief.outcomes, belief.mean_mdp()
        spread, doubt = float(o.reward.max() - min(o.reward.min(), 0.0)), 1.0 / (1.0 + belief.counts())
        if isinstance(belief, UnknownRewards):
            spread, doubt = 1.0, np.maximum(doubt, belief.inverse_reward_counts())
        for beta in (beb_beta(H, spread), 0.0):
            V = np.zeros(belief.n_states)
            for _ in range(H):
                q = mean.mean_reward + beta * doubt + belief.gamma * (mean.matrix @ V).reshape(o.group.shape)
                q[o.terminal] = 0.0
                V = q.max(axis=1)
            exact = np.array([exact_q(belief, s, H) for s in range(belief.n_states)])
            if beta > 0.0:
                assert (V >= exact.max(axis=1) - 1e-9).all()
            else:
                below += int((V < exact.max(axis=1) - 1e-6).sum())
    assert below >= 20


def test_beb_explores_rewards_where_transitions_are_known():
    """The bonus is beta / (1 + n) of the transitions, or of the rewards (a mean over outcomes) where that is more."""
    moves, rng = flat(5, 2, 2), default_rng(5)
    known = b.DirichletMDP.structured(moves.mean_mdp(), known=True)
    for transitions, cells in ((moves, (2, 2)), (known, (2, 2)), (known, (2, 2, 2))):
        belief = UnknownRewards(transitions, RewardBeta(rng.uniform(0.3, 9.0, cells), rng.uniform(0.3, 9.0, cells)))
        mean, n, bonus = belief.mean_mdp(), belief.rewards.alpha + belief.rewards.beta, np.zeros((2, 2))
        for s, a in np.ndindex(2, 2):
            row = mean.prob[mean.group[s, a]]
            paid = 1.0 / (1.0 + n[s, a]) if n.ndim == 2 else row @ (1.0 / (1.0 + n[s, a]))
            bonus[s, a] = 3.0 * max(1.0 / (1.0 + transitions.counts()[s, a]), paid)
        np.testing.assert_allclose(values(b.make("beb", beta=3.0), belief), solve(mean, bonus=bonus).q, atol=1e-8)


def test_bolt_warm_start_and_ties():
    """A warm start changes nothing; tied actions are the first, or one at random."""
    belief, planner = flat(3), b.make("bolt", eta=2.0)
    memory = plan(planner, flat(4), 0).memory
    warm = planner.plan(belief, 1, memory, default_rng(0)).info["q"]
    np.testing.assert_allclose(warm, plan(planner, belief, 1).info["q"], atol=1e-8)
    even = b.DirichletMDP.flat(TabularMDP.from_dense(np.full((2, 3, 2), 0.5), np.zeros((2, 3)), 0.9))
    assert plan(planner, even, 0).action == 0
    rng = default_rng(0)
    assert {b.make("bolt", ties="random").plan(even, 0, None, rng).action for _ in range(60)} == {0, 1, 2}


def test_eta_by_theory():
    H = effective_horizon(0.8)
    assert H == 21
    np.testing.assert_array_equal(
        values(b.make("bolt", eta="theory"), flat()), values(b.make("bolt", eta=21.0), flat())
    )
    np.testing.assert_array_equal(values(b.make("pot", eta="theory"), flat()), values(b.make("pot", eta=21.0), flat()))
    known = b.DirichletMDP.structured(WORLD, known=True)
    np.testing.assert_allclose(values(b.make("bolt", eta="theory"), known), solve(WORLD).q, atol=1e-8)


# Variances -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("belief", [flat, terminal, tied])
def test_vbrb_variances_are_the_dirichlets(belief):
    """sum_k p (1 - p) / (n + 1), and r' Cov r with Cov = (diag(p) - p p') / (n + 1), row by row."""
    here = belief()
    found_r, found_p = variances(here)
    for s, a in np.ndindex(*here.group.shape):
        n = here.alpha[here.group[s, a]]
        p, total = n / n.sum(), n.sum()
        covariance = (np.diag(p) - np.outer(p, p)) / (total + 1.0)
        np.testing.assert_allclose(found_p[s, a], np.trace(covariance), atol=1e-12)
        np.testing.assert_allclose(found_r[s, a], here.reward[s, a] @ covariance @ here.reward[s, a], atol=1e-12)


@pytest.mark.parametrize("kind", ["pairs", "outcomes", "values"])
def test_vbrb_reward_variance_by_monte_carlo(kind):
    """Var[R(s, a)] over 3000 drawn models with unknown rewards; false alarm 1e-6, a fifth too much is seen."""
    belief, rng = unknown((5, 2) if kind == "pairs" else (5, 2, 5)), default_rng(1)
    if kind == "values":
        belief = UnknownRewards(
            belief.transitions, RewardDirichlet(np.array([0.0, 1.0, 4.0]), rng.uniform(0.3, 2.0, (5, 2, 5, 3)))
        )
    mean = belief.mean_mdp().mean_reward
    drawn = np.array([belief.sample_mdp(rng).mean_reward for _ in range(3000)])
    assert_mean_equal(drawn, mean)
    assert_mean_equal((drawn - mean) ** 2, variances(belief)[0])


@pytest.mark.parametrize("belief", [flat, terminal, unknown])
def test_vbrb_equals_its_transcription(belief):
    """The survey's equation with its gamma and t - 1 (ERRATA 6), by plain value iteration."""
    here = belief()
    o, mean, (var_r, var_p) = here.outcomes, here.mean_mdp(), variances(here)
    V = np.zeros(here.n_states)
    for _ in range(400):
        Q = np.zeros(o.group.shape)
        for s, a in np.ndindex(*o.group.shape):
            if not o.terminal[s]:
                Q[s, a] = 0.5 * var_r[s, a] ** 0.5 + 2.0 * var_p[s, a] ** 0.5
                for k in range(o.size[o.group[s, a]]):
                    Q[s, a] += mean.prob[o.group[s, a], k] * (mean.reward[s, a, k] + here.gamma * V[o.succ[s, a, k]])
        V = Q.max(axis=1)
    np.testing.assert_allclose(values(b.make("vbrb", beta_r=0.5, beta_p=2.0), here), Q, atol=1e-8)


def test_vbrb_coefficients_by_theory():
    beta_r, beta_p = vbrb_betas(3, 2, 0.8, reward_range=float(np.ptp(flat().reward)))
    by_name = values(b.make("vbrb", beta_r="theory", beta_p="theory"), flat())
    np.testing.assert_allclose(by_name, values(b.make("vbrb", beta_r=beta_r, beta_p=beta_p), flat()))
    one = values(b.make("vbrb", beta_r=1.0, beta_p="theory"), flat())
    np.testing.assert_allclose(one, values(b.make("vbrb", beta_r=1.0, beta_p=beta_p), flat()))


def test_vbrb_bonus_falls_as_one_over_the_root_of_n():
    """Four times the counts, half the bonus (ERRATA 17)."""
    few, many = flat(), b.DirichletMDP(flat().outcomes, 400.0 * flat().alpha, 0.8)
    more = b.DirichletMDP(flat().outcomes, 1600.0 * flat().alpha, 0.8)
    bonus = b.make("vbrb").bonus
    np.testing.assert_allclose(bonus(many) / bonus(more), 2.0, rtol=0.02)
    assert (bonus(few) > bonus(many)).all()


# What does not fit ---------------------------------------------------------------------------------------------------


def test_bad_arguments():
    for name, params, sentence in [
        ("bolt", {"eta": -1.0}, "BOLT: 'eta' must be at least 0, got -1.0."),
        ("bolt", {"eta": "practice"}, "BOLT: 'eta' must be a number or \"theory\", got 'practice'."),
        ("bolt", {"depth": 0}, "BOLT: 'depth' must be a whole number of at least 1, got 0."),
        ("pot", {"beta": float("nan")}, "POT: 'beta' must be at least 0, got nan."),
        ("vbrb", {"ties": "last"}, "VBRB: 'ties' must be one of first, random, got 'last'."),
    ]:
        with pytest.raises(InvalidArgument) as error:
            b.make(name, **params)
        assert str(error.value) == sentence


def test_beliefs_that_do_not_fit():
    for name, lacks in (("bolt", "counts"), ("pot", "counts"), ("vbrb", "row_variance"), ("rmax", "certain_pairs")):
        with pytest.raises(Incompatible, match=f"'{lacks}'"):
            b.BayesAgent(FiniteMDPs((TabularMDP.from_dense(np.eye(2)[:, None], [[0.0], [1.0]], 0.9),)), b.make(name))
    endless = flat(gamma=1.0)
    with pytest.raises(InvalidArgument, match="BOLT: 'belief' must be one whose episodes end under every policy"):
        b.BayesAgent(endless, b.make("bolt"))
    with pytest.raises(InvalidArgument, match="POT: 'belief' must be one whose episodes end under every policy"):
        b.BayesAgent(endless, b.make("pot"))
    with pytest.raises(InvalidArgument, match=r"effective_horizon: 'gamma' must be in \[0, 1\), got 1.0"):
        b.BayesAgent(endless, b.make("beb", beta="theory"))
    vague = UnknownRewards(unknown().transitions, RewardNormal.strens((5, 2)))
    with pytest.raises(InvalidArgument, match="VBRB: 'belief' must be one with finite variances of rewards"):
        b.BayesAgent(vague, b.make("vbrb"))
    with pytest.raises(InvalidArgument, match="VBRB: 'belief' must be one with bounded rewards, got 'UnknownRewards'"):
        plan(b.make("vbrb", beta_p="theory"), vague, 0)
    with pytest.raises(InvalidArgument, match="BEB: 'belief' must be one with bounded rewards, got 'UnknownRewards'"):
        b.BayesAgent(vague, b.make("beb", beta="theory"))
    for name in ("bolt", "pot", "vbrb", "beb"):
        for nowhere in (-1, 3, 0.5, None):
            with pytest.raises(
                InvalidArgument, match="'observation' must be a whole number of at least 0 and at most 2"
            ):
                plan(b.make(name), flat(), nowhere)
