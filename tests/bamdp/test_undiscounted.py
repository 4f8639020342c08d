"""Discount 1 where episodes end, beside enumerations and linear systems; what need not end is refused."""

from itertools import product

import numpy as np
import pytest
from episodes import END, best_q, best_values, dense, endless, longest_lengths, policies, proper, tables, value_of
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.offline._controller_parameters import Logits, monte_carlo_gradient
from bayesrl.bamdp.offline._prior_models import draw_models, models_of
from bayesrl.bamdp.offline.beetle import BEETLE, longest_of_beliefs
from bayesrl.bamdp.offline.finite_state_controller import FiniteStateController, evaluate, gradient, start
from bayesrl.bamdp.optimism._imagined import undiscounted
from bayesrl.bamdp.optimism.bolt import imagined_model
from bayesrl.bamdp.search.bop import BOP
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.worlds.tabular import MDPWorld

REFUSED = "one whose episodes end under every policy, as the discount is 1, got 'one that need not end from state 1'"


def belief(seed=0, size=3.0, sign=None):
    """Counts of the possible outcomes of a proper problem; rewards are known."""
    mdp = proper(seed, sign)
    return b.DirichletMDP(mdp.outcomes, size * mdp.prob + 0.2 * mdp.outcomes.valid, 1.0)


def wandering(size=3.0):
    return b.DirichletMDP.structured(endless(), size)


def plan(name, prior, s=0, memory=None, last=None, **given):
    return b.make(name, **given).plan(prior, s, memory, default_rng(0), last)


# R-max and MBIE-EB ---------------------------------------------------------------------------------------------------


def optimistic(prior, untried, worth, bonus):
    """Q* where untried pairs pay `worth` and end, by enumeration."""
    P, r = dense(prior.mean_mdp())
    P, r = np.where(untried[:, :, None], 0.0, P), np.where(untried, worth, r + bonus)
    r[END] = 0.0
    return best_q(P, r)


@pytest.mark.parametrize("sign", [None, 1.0, -1.0])
@pytest.mark.parametrize("seed", range(3))
def test_rmax_and_mbie_eb_are_enumerated(seed, sign):
    """All pairs untried but three, then replanned after data. R_max L, or R_max if that is negative."""
    prior, done = belief(seed, sign=sign), [(0, 0), (1, 1), (2, 0)]
    high = prior.reward_range()[1] if sign is None or sign > 0 else -0.3
    for name, given in (("rmax", {"knownness": 1}), ("mbie-eb", {"beta": 0.5})):
        now, memory, last, n = prior, None, None, np.zeros((4, 2))
        for i in range(4):
            P = dense(now.mean_mdp())[0]
            worth = high * (longest_lengths(P).max() if high > 0.0 else 1.0)
            if not i or name == "mbie-eb" or last is not None:
                bonus = given.get("beta", 0.0) / np.sqrt(np.maximum(n, 1.0))
                q = optimistic(now, n == 0.0, worth, bonus)
            s = done[i][0] if i < 3 else 1
            found = plan(name, now, s, memory, last, r_max=high, **given)
            np.testing.assert_allclose(found.info["q"], q[s], atol=1e-8)
            if i < 3:
                k = 0 if now.outcomes.succ[(*done[i], 0)] != END else 1
                last = Transition(*done[i], 0.0, int(now.outcomes.succ[(*done[i], k)]))
                last = Transition(*done[i], float(now.outcomes.reward[(*done[i], k)]), last.next_state)
                now, memory = now.update(last), found.memory
                n[done[i]] += 1


def test_an_untried_pair_is_worth_all_that_any_policy_earns():
    """No policy of the mean model earns more than R_max L from anywhere."""
    prior = belief(5, sign=1.0)
    P, r = dense(prior.mean_mdp())
    q = plan("rmax", prior).info["q"]
    high = prior.reward_range()[1]
    assert (q == q[0]).all()
    assert q[0] == pytest.approx(high * longest_lengths(P).max())
    assert best_values(P, r).max() <= q[0]


def test_a_rare_end_counts_as_a_billion_steps():
    mdp = TabularMDP.from_dense([[[0.5, 0.5]] * 2, [[0.0, 1.0]] * 2], [[1.0, 0.0], [0.0, 0.0]], 1.0, terminal=[1])
    prior = b.DirichletMDP(mdp.outcomes, np.array([[1.0, 1e-12], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), 1.0)
    assert plan("rmax", prior).info["q"].tolist() == [1e9, 1e9]


@pytest.mark.parametrize("name", ["rmax", "mbie-eb", "bolt", "pot", "bop"])
def test_planners_refuse_what_need_not_end(name):
    owner = type(b.make(name)).__name__
    with pytest.raises(InvalidArgument, match=f"{owner}: 'belief' must be {REFUSED}"):
        b.BayesAgent(wandering(), b.make(name))
    assert len(b.run(b.BayesAgent(belief(), b.make(name)), MDPWorld("proper", proper()), 20, seed=0)) == 20


# BOLT and POT --------------------------------------------------------------------------------------------------------


def extended(prior, eta):
    """The mean model with an action (a, k) for each outcome k: P (S, A K, S) and r."""
    m, o, alpha = prior.mean_mdp(), prior.outcomes, prior.alpha
    P, r = np.zeros((4, 8, 4)), np.zeros((4, 8))
    for s, a, k in product(range(END), range(2), range(4)):
        g = o.group[s, a]
        j = k if k < o.size[g] else 0
        n, more = alpha[g].sum(), np.broadcast_to(eta, alpha.shape)[g, j]
        row = m.prob[g] * n / (n + more)
        row[j] += more / (n + more)
        np.add.at(P[s, 4 * a + k], o.succ[s, a], row)
        r[s, 4 * a + k] = row @ o.reward[s, a]
    return P, r


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["bolt", "pot"])
def test_bolt_and_pot_are_the_enumerated_extended_mdp(name, seed):
    prior, eta = belief(seed), 2.0
    share = 1.0
    if name == "pot":
        share = np.minimum(1.0, prior.mean_mdp().prob + np.sqrt(prior.row_variance()))
    P, r = extended(prior, eta * share)
    q = best_q(P, r).reshape(4, 2, 4).max(axis=2)
    memory = None
    for s in range(END):
        found = plan(name, prior, s, memory, eta=eta)
        memory = found.memory
        np.testing.assert_allclose(found.info["q"], q[s], atol=1e-9)
    wild = plan(name, prior, 0, 50.0 * default_rng(seed).normal(size=4) * [1, 1, 1, 0], eta=eta)
    np.testing.assert_allclose(wild.info["q"], q[0], atol=1e-9)
    assert (best_q(*dense(prior.mean_mdp())) <= q + 1e-9).all()


def test_the_bound_of_the_extended_mdp_is_its_longest_episode():
    """Values that are off by x in one backup are off by x L at most: the bound of an exact solution is rounding."""
    prior = belief(1)
    m = imagined_model(prior, np.full((1, 1), 2.0), 2.0)
    v, _, error = undiscounted(m, np.zeros(4))
    np.testing.assert_allclose(v, best_values(*extended(prior, 2.0)), atol=1e-10)
    rounding = 2.0**-53 * (m.succ.shape[2] + 8) * (np.abs(v).max() + np.abs(m.reward).max())
    longest = longest_lengths(extended(prior, 2.0)[0]).max()
    assert rounding * longest * (1.0 - 1e-9) <= error <= 3.0 * rounding * longest


def test_theory_needs_a_horizon():
    for name in ("bolt", "pot"):
        with pytest.raises(InvalidArgument, match="'depth' must be given for theory if the discount is 1"):
            plan(name, belief(), eta="theory")
        assert plan(name, belief(), eta="theory", depth=3).info["q"].shape == (2,)


# BOP -----------------------------------------------------------------------------------------------------------------


def line(gamma=1.0):
    """States 0, 1, 2 in order; each step goes on by one or two; four outcomes are unknown."""
    P = np.zeros((4, 2, 4))
    P[0, :, [1, 2]] = P[1, :, [2, 3]] = 0.5
    P[2, :, 3] = P[3, :, 3] = 1.0
    R = default_rng(2).normal(size=(4, 2, 4))
    R[3] = 0.0
    return b.DirichletMDP.structured(TabularMDP.from_dense(P, R, gamma, terminal=[3]), 0.7)


def test_bop_on_a_line_has_certain_bounds_and_the_exact_values():
    exact = exact_q(line(), 0, 3)
    for nodes in (1, 2, 5, 40):
        info = plan("bop", line(), nodes=nodes).info
        assert (info["lower"] <= exact + 1e-12).all()
        assert (exact <= info["upper"] + 1e-12).all()
        at_most = plan("bop", line(), nodes=nodes, depth=3).info
        np.testing.assert_array_equal(info["q"], at_most["q"])
    assert info["lower"].max() == pytest.approx(exact.max(), abs=1e-12)
    assert info["upper"].max() == pytest.approx(exact.max(), abs=1e-12)


@pytest.mark.parametrize("sign", [None, 1.0, -1.0])
def test_bop_brackets_a_known_model_that_comes_back(sign):
    mdp = proper(2, sign)
    known = b.DirichletMDP.structured(mdp, known=np.ones(len(mdp.prob), bool))
    q, L = best_q(*dense(mdp)), longest_lengths(dense(mdp)[0]).max()
    width = np.inf
    low, high = known.reward_range()
    first = plan("bop", known, nodes=1).info
    P, r = dense(mdp)
    np.testing.assert_allclose(first["upper"], r[0] + P[0, :, :END].sum(axis=1) * L * max(high, 0.0), atol=1e-9)
    np.testing.assert_allclose(first["lower"], r[0] + P[0, :, :END].sum(axis=1) * L * min(low, 0.0), atol=1e-9)
    for nodes in (1, 10, 100, 1000):
        info = plan("bop", known, nodes=nodes).info
        assert (info["lower"] <= q[0] + 1e-9).all()
        assert (q[0] <= info["upper"] + 1e-9).all()
        assert info["upper"].max() - info["lower"].max() <= width + 1e-9
        width = info["upper"].max() - info["lower"].max()
    assert width < 0.9 * (first["upper"].max() - first["lower"].max())


# Finite-state controllers --------------------------------------------------------------------------------------------


def controller_value(logits, P, r, first):
    """J in one model, by a linear system over (node, state) in plain loops."""
    psi, eta = logits.controller()
    Q, S, A = psi.shape
    M, c = np.eye(Q * S), np.zeros(Q * S)
    for q, s, a in product(range(Q), range(S), range(A)):
        c[q * S + s] += psi[q, s, a] * r[s, a]
        for y, then in product(range(S), range(Q)):
            M[q * S + s, then * S + y] -= psi[q, s, a] * P[s, a, y] * eta[q, s, a, y, then]
    return first @ np.linalg.solve(M, c)[:S]


def test_controllers_have_the_values_of_linear_systems_and_their_gradients():
    prior = belief(3)
    models = draw_models(prior, 4, default_rng(0))
    logits = start(2, models, default_rng(1))
    first = prior.outcomes.start
    J = np.mean([controller_value(logits, P, r, first) for P, r in zip(models.P, models.r, strict=True)])
    found = evaluate(logits, models)
    assert found.J == pytest.approx(J, abs=1e-12)
    slope = gradient(found, models)
    for part in (0, 1):
        for i in default_rng(part).integers(0, logits[part].size, 8):
            h = np.zeros(logits[part].size)
            h[i] = 1e-5
            step = h.reshape(logits[part].shape)
            zero = np.zeros_like(logits[1 - part])
            there = [
                evaluate(logits.moved(x, Logits(step, zero) if part == 0 else Logits(zero, step)), models).J
                for x in (1.0, -1.0)
            ]
            assert slope[part].ravel()[i] == pytest.approx((there[0] - there[1]) / 2e-5, abs=1e-8)
    assert models.longest == pytest.approx(max(longest_lengths(P).max() for P in models.P))


def test_simulated_gradients_stop_at_the_end():
    """1500 estimates of 40 steps, after which fewer than 1e-5 of the episodes go on; false alarm 1e-6. State 0 ends."""
    order = [3, 1, 2, 0]
    P, R = tables(3)
    R = np.abs(R[order][:, :, order])
    mdp = TabularMDP.from_dense(P[order][:, :, order], R, 1.0, start=3, terminal=[0])
    prior = b.DirichletMDP(mdp.outcomes, 3.0 * mdp.prob + 0.2 * mdp.outcomes.valid, 1.0)
    models = draw_models(prior, 4, default_rng(0))
    logits = start(1, models, default_rng(1))
    rng = default_rng(5)
    drawn = np.array([monte_carlo_gradient(logits, models, 40, rng).action.ravel() for _ in range(1500)])
    exact = gradient(evaluate(logits, models), models).action.ravel()
    error = drawn.std(axis=0) / np.sqrt(1500) + 1e-9
    assert (np.abs(drawn.mean(axis=0) - exact) < 5.6 * error + 1e-4).all()


def test_one_node_is_the_best_policy_without_memory():
    prior = belief(6)
    found = FiniteStateController(nodes=1, restarts=6, models=6, iterations=400).solve(prior, default_rng(0))
    models = models_of(prior, 6, default_rng(0))
    values = [np.mean([value_of(P, r, pi)[0] for P, r in zip(models.P, models.r, strict=True)]) for pi in policies(4)]
    assert found.value >= max(values) - 1e-3 * models.longest
    each = [value_of(P, r, found.psi[0])[0] for P, r in zip(models.P, models.r, strict=True)]
    assert found.value == pytest.approx(np.mean(each), abs=1e-12)
    by_paths = FiniteStateController(nodes=1, restarts=1, models=6, iterations=60, trajectories=40)
    assert by_paths.solve(prior, default_rng(1)).value > min(values)


# BEETLE --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [None, 1.0, -1.0])
def test_beetle_solves_a_known_model(sign):
    mdp = proper(4, sign)
    known = b.DirichletMDP.structured(mdp, known=np.ones(len(mdp.prob), bool))
    solved = BEETLE(beliefs=5, basis=3, iterations=400, tolerance=1e-9).solve(known, default_rng(0))
    q = best_q(*dense(mdp))
    for s in range(END):
        np.testing.assert_allclose(solved.plan(known, s, None, default_rng(0)).info["q"], q[s], atol=1e-6)


def test_beetle_on_a_line_is_exact():
    """Two more steps after the first: monomials of the outcomes seen span what is needed."""
    solved = BEETLE(beliefs=400, basis=60, steps=6, iterations=200, tolerance=1e-9).solve(line(), default_rng(0))
    found = solved.plan(line(), 0, None, default_rng(0)).info["q"]
    np.testing.assert_allclose(found, exact_q(line(), 0, 3), atol=0.02)


def test_beetle_begins_below_every_backup_at_its_beliefs():
    prior = belief(2)
    histories = [(), ((0, 0, 3),), ((1, 0, 1), (2, 1, 5))]
    w = longest_of_beliefs(prior, histories)
    o = prior.outcomes
    for history in histories:
        alpha = prior.alpha.copy()
        for g, k, n in history:
            alpha[g, k] += n
        row = alpha / alpha.sum(axis=1, keepdims=True)
        later = (row[o.group] * w[o.succ]).sum(axis=2)
        assert (w[:END, None] >= 1.0 + later[:END] - 1e-9).all()
    assert w[END] == 0.0
    assert w.max() >= longest_lengths(dense(prior.mean_mdp())[0]).max() - 1e-9


def test_solvers_refuse_what_need_not_end():
    for solver, owner in ((BEETLE(beliefs=3, basis=2), "BEETLE"), (FiniteStateController(), "FiniteStateController")):
        for ask in (lambda s=solver: s.solve(wandering(), default_rng(0)), lambda s=solver: s.check(wandering())):
            with pytest.raises(InvalidArgument, match=f"{owner}: 'problem' must be {REFUSED}"):
                ask()
    with pytest.raises(InvalidArgument, match="BOP: 'belief'"):
        BOP(5).plan(wandering(), 0, None, default_rng(0))
