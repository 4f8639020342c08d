"""The parts of solvers of POMDPs, each against dense arrays: seven states, of which one is an end."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.checks import frozen
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models import PBVI, Perseus, POMDPValueIteration, TabularPOMDP, bracket, fast_informed_bound, qmdp_bound
from bayesrl.models.pomdp_solvers import bounds as _bounds
from bayesrl.models.pomdp_solvers import pbvi as point_based
from bayesrl.models.pomdp_solvers import perseus
from bayesrl.models.pomdp_solvers import pomdp_value_iteration as exact_iteration
from bayesrl.models.pomdp_solvers._backups import (
    arrays_of,
    assemble,
    look_ahead,
    predict,
    products,
    still_needed,
    successors,
    sweep,
    values_ahead,
    without_repetitions,
)
from bayesrl.models.pomdp_solvers._pruning import TooMany
from bayesrl.models.pomdp_solvers.alpha_vectors import lowest
from bayesrl.models.pomdp_solvers.bounds import lower
from bayesrl.models.pomdp_solvers.pbvi import draw, expand, nearest, settle, settled_below, simulate
from bayesrl.models.pomdp_solvers.perseus import explore

S, A, Z, END = 7, 3, 4, 5


def sparse(seed=0, gamma=0.83):
    """Rows with zeros, observations that some states rule out, rewards of both signs, and an end in the middle."""
    rng = default_rng(seed)
    P, O = rng.dirichlet(np.ones(S), (S, A)), rng.dirichlet(np.ones(Z), (S, A))
    P[rng.random(P.shape) < 0.3] = 0.0
    O[rng.random(O.shape) < 0.3] = 0.0
    O[:, 1, 2] = 0.0  # never seen after action 1
    P[..., 0] += 0.05
    O[..., 1] += 0.05
    P, O = P / P.sum(axis=2, keepdims=True), O / O.sum(axis=2, keepdims=True)
    start = rng.dirichlet(np.ones(S))
    start[END] = 0.0
    return TabularPOMDP.from_dense(P, O, rng.normal(size=(S, A)), gamma, start / start.sum(), [END])


def points_and_vectors(n=5, N=6, seed=1):
    """Beliefs, one of them certain, none at the end; alpha-vectors, zero at the end."""
    rng = default_rng(seed)
    points, vectors = rng.dirichlet(np.ones(S), n), rng.normal(size=(N, S))
    points[:, END] = vectors[:, END] = 0.0
    points[1] = np.eye(S)[3]
    return points / points.sum(axis=1, keepdims=True), vectors


def ahead(pomdp, x):
    """w_ao (A, Z, S) of a belief, without the end."""
    P, O, _ = pomdp.dense()
    return np.einsum("s,say,yao->aoy", x, P, O) * ~pomdp.terminal


def backed_up(pomdp, x, vectors):
    """Q (A,), the best vector after each observation (A, Z), and the alpha-vector of each action (A, S)."""
    P, O, r = pomdp.dense()
    w = ahead(pomdp, x)
    pick = np.argmax(w @ vectors.T, axis=2)
    blind = np.argmax(w.sum(axis=1) @ vectors.T, axis=1)
    pick = np.where(w.any(axis=2), pick, blind[:, None])
    q = x @ r + pomdp.gamma * (w * vectors[pick]).sum(axis=(1, 2))
    alpha = r.T + pomdp.gamma * np.einsum("say,yao,aoy->as", P, O, vectors[pick])
    return q, pick, np.where(pomdp.terminal, 0.0, alpha)


def test_successors_and_products():
    """The lists hold every positive entry of w_ao once, in the order of states; products are those of whole vectors."""
    pomdp, (points, vectors) = sparse(), points_and_vectors()
    m = arrays_of(pomdp)
    w, columns, v = successors(m, points), vectors.T.copy(), np.empty(len(vectors))
    assert len(w.first) == len(points) * A * Z + 1
    assert w.first[0] == 0
    assert w.first[-1] == len(w.state) == len(w.weight)
    most = 0
    for i, x in enumerate(points):
        exact = ahead(pomdp, x)
        for a in range(A):
            np.testing.assert_allclose(predict(m, x, a), exact[a].sum(axis=0), atol=1e-15)
            for o in range(Z):
                c = (i * A + a) * Z + o
                here = slice(w.first[c], w.first[c + 1])
                np.testing.assert_array_equal(w.state[here], np.flatnonzero(exact[a, o]))
                np.testing.assert_allclose(w.weight[here], exact[a, o][exact[a, o] > 0.0], atol=1e-15)
                products(w, c, columns, v)
                np.testing.assert_allclose(v, vectors @ exact[a, o], atol=1e-14)
                most = max(most, len(w.state[here]))
    assert most > 4  # four states at a time, and a rest


def test_a_backup_at_each_belief():
    """Values and picks of all actions, also after observations that are ruled out; the vector of each action."""
    pomdp, (points, vectors) = sparse(), points_and_vectors()
    m, columns = arrays_of(pomdp), vectors.T.copy()
    w, never = successors(m, points), 0
    for i, x in enumerate(points):
        q, pick, alpha = backed_up(pomdp, x, vectors)
        mine = look_ahead(m, i, x, w, columns)
        np.testing.assert_allclose(mine[0], q, atol=1e-14)
        np.testing.assert_array_equal(mine[1], pick)
        never += (~ahead(pomdp, x).any(axis=2)).sum()
        for a in range(A):
            np.testing.assert_allclose(assemble(m, a, pick[a], vectors), alpha[a], atol=1e-14)
    assert never > 3
    each = values_ahead(m, points, frozen(columns))
    np.testing.assert_allclose(each, [backed_up(pomdp, x, vectors)[0] for x in points], atol=1e-14)


def test_each_action_has_its_own_prediction():
    """Two actions rule out an observation each; the vectors for them are those of their own next states."""
    P, O, r = (np.array(x) for x in sparse().dense())
    O[:, 2, 3] = 0.0  # never seen after action 2, as 2 is not after action 1
    pomdp = TabularPOMDP.from_dense(P, O / O.sum(axis=2, keepdims=True), r, 0.83, np.eye(S)[0], [END])
    points, vectors = points_and_vectors(n=12, N=60, seed=2)
    m, columns, differ = arrays_of(pomdp), vectors.T.copy(), 0
    w = successors(m, points)
    for i, x in enumerate(points):
        pick = look_ahead(m, i, x, w, columns)[1]
        np.testing.assert_array_equal(pick, backed_up(pomdp, x, vectors)[1])
        differ += pick[1, 2] != pick[2, 3]
    assert differ > 2


def test_which_old_vectors_stay():
    """Those that some belief has picked after an observation it may see, and that no new vector reaches there."""
    kept = set()
    for seed in range(6):
        pomdp, (points, vectors) = sparse(seed), points_and_vectors(seed=seed)
        m, made = arrays_of(pomdp), [backed_up(pomdp, x, vectors) for x in points]
        chosen = np.array([np.argmax(q) for q, _, _ in made])
        new = np.array([alpha[a] for (_, _, alpha), a in zip(made, chosen, strict=True)]) + 0.3 * (seed % 3)
        new[:, END] = 0.0
        picks = np.array([pick[a] for (_, pick, _), a in zip(made, chosen, strict=True)])
        stays = np.zeros(len(vectors), bool)
        for x, a, pick in zip(points, chosen, picks, strict=True):
            for o in range(Z):
                w = ahead(pomdp, x)[a, o]
                stays[pick[o]] |= (new @ w).max() < vectors[pick[o]] @ w - 1e-12
        np.testing.assert_array_equal(still_needed(m, successors(m, points), new, chosen, picks, vectors), stays)
        kept |= set(stays.tolist())
    assert kept == {False, True}


def test_what_ties_does_not_stay():
    """An old vector that a new one equals where it is picked is replaced; one that exceeds it by 1e-9 stays."""
    pomdp, (points, vectors) = sparse(), points_and_vectors()
    m, w = arrays_of(pomdp), successors(arrays_of(pomdp), points)
    picks, chosen = np.array([backed_up(pomdp, x, vectors)[1][0] for x in points]), np.zeros(len(points), np.int64)
    for below, stay in ((0.0, False), (1e-9, True)):
        stays = still_needed(m, w, vectors - below * (vectors != 0.0), chosen, picks, vectors)
        np.testing.assert_array_equal(stays, np.isin(np.arange(len(vectors)), picks) & stay)


def test_a_sweep():
    """Vectors, actions and values of a sweep; beliefs whose value would fall keep their best old vector and action."""
    pomdp, (points, vectors) = sparse(), points_and_vectors()
    actions, m = np.array([2, 0, 1, 1, 2, 0]), arrays_of(pomdp)
    vectors = vectors + np.where(pomdp.terminal, 0.0, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])[:, None])
    new, chosen, picks, losers = [], [], [], 0
    for x in points:
        q, pick, alpha = backed_up(pomdp, x, vectors)
        a, best = int(np.argmax(q)), int(np.argmax(vectors @ x))
        picks.append(pick[a])
        falls = alpha[a] @ x < vectors[best] @ x
        losers += falls
        new.append(vectors[best] if falls else alpha[a])
        chosen.append(actions[best] if falls else a)
    assert 0 < losers < len(points)
    w = successors(m, points)
    stays = still_needed(m, w, np.array(new), np.array(chosen), np.array(picks), vectors)
    mine = sweep(m, points, w, vectors, actions)
    np.testing.assert_allclose(mine[0], np.vstack([new, vectors[stays]]), atol=1e-14)
    np.testing.assert_array_equal(mine[1], np.append(chosen, actions[stays]))
    np.testing.assert_allclose(mine[2], (points @ mine[0].T).max(axis=1), atol=1e-14)


def test_draws_of_an_index():
    """By cumulative sums; -1 beyond them."""
    p = np.array([0.2, 0.0, 0.5, 0.1])
    for u, i in ((0.0, 0), (0.19, 0), (0.2, 2), (0.69, 2), (0.71, 3), (0.79, 3), (0.81, -1), (0.99, -1)):
        assert draw(p, u) == i


def test_simulated_beliefs():
    """One number draws the next state, another the observation; zeros if the step ends the episode."""
    pomdp, (points, _) = sparse(3), points_and_vectors()
    (P, O, _), m, ended = pomdp.dense(), arrays_of(pomdp), 0
    for seed in range(40):
        x, a = points[seed % len(points)], seed % A
        mine, rng = simulate(m, x, a, default_rng(seed)), default_rng(seed)
        y = (x @ P[:, a]) * ~pomdp.terminal
        s = int((np.cumsum(y) <= rng.random()).sum())
        if s == S:
            ended += 1
            assert not mine.any()
            continue
        listed = m.observation[s, a, : m.observation_size[m.observation_group[s, a]]]
        o = listed[int((np.cumsum(O[s, a, listed]) <= rng.random()).sum())]
        np.testing.assert_allclose(mine, y * O[:, a, o] / (y * O[:, a, o]).sum(), atol=1e-14)
    assert 2 < ended < 20


def test_the_distance_to_the_nearest():
    """L1, of the first n points only; at most 2."""
    points = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0]])
    x = np.array([0.2, 0.1, 0.7])
    for n in (1, 2, 3):
        assert nearest(points, n, x) == pytest.approx(np.abs(points[:n] - x).sum(axis=1).min(), abs=1e-15)
    assert nearest(points, 0, x) == 2.0


@pytest.mark.parametrize("size", [6, 8, 20])
def test_expansion_equals_its_transcription(size):
    """For each belief the farthest of its simulated successors; the farthest of those come first, while there is room.

    What was added counts as a point for those that wait.
    """
    for seed in range(4):
        pomdp, (points, _) = sparse(seed), points_and_vectors(seed=seed)
        points = np.vstack([points, points[2:3]])
        m, rng, found = arrays_of(pomdp), default_rng(seed), []
        for x in points:
            after = [simulate(m, x, a, rng) for a in range(A)]
            far = [np.abs(points - y).sum(axis=1).min() if y.any() else 0.0 for y in after]
            found.append(after[int(np.argmax(far))] if max(far) > 0.0 else None)
        grown = list(points)
        waiting = [y for y in found if y is not None]
        while len(grown) < size and waiting:
            far = [min(np.abs(np.array(grown) - y).sum(axis=1)) for y in waiting]
            if max(far) <= 1e-9:
                break
            grown.append(waiting.pop(int(np.argmax(far))))
        np.testing.assert_array_equal(expand(m, points, size, default_rng(seed)), grown)


@pytest.mark.parametrize("size", [1, 2, 25])
def test_exploration_equals_its_transcription(size):
    """Back to the start with probability 1 - gamma and at an end; equal beliefs are kept once; limited patience."""
    for seed in range(2):
        pomdp = sparse(seed, gamma=0.6)
        m, rng, start = arrays_of(pomdp), default_rng(seed), np.array(pomdp.start)
        kept, x, steps = [start], start, 0
        while len(kept) < size and steps < 20 * size:
            if not x.any() or rng.random() >= 0.6:
                x = start
            x = simulate(m, x, int(A * rng.random()), rng)
            if x.any() and np.abs(np.array(kept) - x).sum(axis=1).min() > 1e-9:
                kept.append(x)
            steps += 1
        np.testing.assert_array_equal(explore(m, start, size, default_rng(seed)), kept)


def test_exploration_gives_up():
    """Twenty steps for each belief that is wanted, each with four random numbers where nothing is ever learned."""
    P, O = np.repeat(np.eye(2)[:, None], 2, axis=1), np.full((2, 2, 2), 0.5)
    m = arrays_of(TabularPOMDP.from_dense(P, O, np.zeros((2, 2)), 0.9, start=[0.3, 0.7]))
    rng, plain = default_rng(4), default_rng(4)
    assert len(explore(m, np.array([0.3, 0.7]), 7, rng)) == 1
    plain.random(7 * 20 * 4)  # restart, action, state, observation
    assert rng.random() == plain.random()
    assert (point_based.PATIENCE, perseus.PATIENCE) == (20, 20)


def test_settling():
    """Sweeps until the values at the beliefs move by less than tol (1 - gamma) / gamma, counted in plain numpy."""
    pomdp, (points, _) = sparse(), points_and_vectors()
    m, tol = arrays_of(pomdp), 0.03
    w, vectors, actions = successors(m, points), lowest(pomdp, "test")[None], np.zeros(1, np.int64)
    v, n = (points @ vectors.T).max(axis=1), 0
    while True:
        new, acts, after = sweep(m, points, w, vectors, actions)
        first = sorted({row.tobytes(): i for i, row in reversed(list(enumerate(new)))}.values())
        vectors, actions, n = new[first], acts[first], n + 1
        if np.abs(after - v).max() < tol * 0.17 / 0.83:
            break
        v = after
    mine = settle(m, points, lowest(pomdp, "test")[None], np.zeros(1, np.int64), tol, 99)
    assert mine[2] == n > 5
    assert mine[3] == pytest.approx(np.abs(after - v).max() * 0.83 / 0.17, rel=1e-9)
    np.testing.assert_array_equal(mine[0], vectors)
    np.testing.assert_array_equal(mine[1], actions)


def test_how_far_values_may_move():
    """tol (1 - gamma) / gamma; tol itself at the discounts 0 and 1."""
    for gamma, move in ((0.8, 0.3 * 0.25), (0.5, 0.3), (0.1, 0.3 * 9.0), (0.0, 0.3), (1.0, 0.3)):
        m = arrays_of(sparse())._replace(gamma=gamma)
        assert settled_below(m, 0.3) == pytest.approx(move, rel=1e-14)


def test_sweeps_have_a_limit():
    """As many sweeps as the budget says and no more; the error tells how far the last one moved a value."""
    pomdp, (points, _) = sparse(), points_and_vectors()
    m, first = arrays_of(pomdp), lowest(pomdp, "test")[None]
    vectors, _, n, left = settle(m, points, first, np.zeros(1, np.int64), 1e-9, 3)
    assert n == 3
    w, before = successors(m, points), settle(m, points, first, np.zeros(1, np.int64), 1e-9, 2)
    moved = np.abs(sweep(m, points, w, *before[:2])[2] - (points @ before[0].T).max(axis=1)).max()
    assert left == pytest.approx(moved * 0.83 / 0.17, rel=1e-9)
    with pytest.raises(NotConverged, match="pbvi: not converged after 3 sweeps") as error:
        PBVI(beliefs=points, tol=1e-9, sweeps=3).solve(pomdp)
    np.testing.assert_array_equal(error.value.best.vectors, vectors)
    assert (error.value.residual, error.value.best.iterations) == (left, 3)
    with pytest.raises(NotConverged, match="perseus: not converged after 3 stages") as error:
        Perseus(beliefs=points, tol=1e-9, sweeps=3).solve(pomdp)
    assert error.value.best.iterations == 3
    assert error.value.residual > 1e-9
    for solver in (PBVI(beliefs=points, tol=1e-9), Perseus(beliefs=points, tol=1e-9)):
        n = solver.solve(pomdp).iterations
        assert replace(solver, sweeps=n).solve(pomdp) == solver.solve(pomdp)  # the whole budget was needed
        with pytest.raises(NotConverged):
            replace(solver, sweeps=n - 1).solve(pomdp)


def test_sets_of_beliefs_share_a_budget(monkeypatch):
    """A set that has not settled by its limit grows all the same; the last one gets what is left."""
    pomdp, full = sparse(), PBVI(size=5, tol=1e-9)
    monkeypatch.setattr(point_based, "SWEEPS", 4)
    solution = full.solve(pomdp)
    m, rng, points = arrays_of(pomdp), default_rng(0), np.array(pomdp.start[None])
    vectors, actions, n, _ = settle(m, points, lowest(pomdp, "test")[None], np.zeros(1, np.int64), 1e-9, 4)
    while len(points) < 5:
        points = expand(m, points, 5, rng)
        vectors, actions, more, _ = settle(m, points, vectors, actions, 1e-9, 4)
        n += more
    vectors, actions, more, left = settle(m, points, vectors, actions, 1e-9, 10_000)
    assert left < 1e-9
    np.testing.assert_array_equal(solution.vectors, vectors)
    assert solution.iterations == n + more > n
    for budget in (2, 4, 7, n, n + 1):
        with pytest.raises(NotConverged, match=f"after {budget} sweeps") as spent:
            replace(full, sweeps=budget).solve(pomdp)
        assert np.isfinite(spent.value.residual)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_pbvi_from_its_parts(size):
    """Settle, expand and settle again, until there are `size` beliefs; the sweeps of all rounds are added up."""
    pomdp = sparse(2, gamma=1.0 if size == 5 else 0.83)
    m, rng, same = arrays_of(pomdp), default_rng(8), default_rng(8)
    points = np.array(pomdp.start[None])
    vectors, actions, n, _ = settle(m, points, lowest(pomdp, "test")[None], np.zeros(1, np.int64), 0.02, 999)
    while len(points) < size:
        points = expand(m, points, size, rng)
        vectors, actions, more, _ = settle(m, points, vectors, actions, 0.02, 999)
        n += more
    solution = PBVI(size=size, tol=0.02).solve(pomdp, same)
    assert solution.iterations == n
    assert rng.random() == same.random()
    np.testing.assert_array_equal(solution.vectors, vectors)
    np.testing.assert_array_equal(solution.actions, actions)
    assert PBVI(size=size, tol=0.02).solve(pomdp) == PBVI(size=size, tol=0.02).solve(pomdp, default_rng(0))
    points = points_and_vectors()[0]  # beliefs that are given do not grow
    given = PBVI(beliefs=points, size=20, tol=0.02).solve(pomdp)
    alone = settle(m, points, lowest(pomdp, "test")[None], np.zeros(1, np.int64), 0.02, 999)
    np.testing.assert_array_equal(given.vectors, alone[0])
    np.testing.assert_array_equal(given.actions, alone[1])


def test_pbvi_stops_when_nothing_is_new():
    """Twenty expansions without a new belief, each of one random number for the state and one for the observation."""
    P, O = np.repeat(np.eye(2)[:, None], 2, axis=1), np.full((2, 2, 2), 0.5)
    dull = TabularPOMDP.from_dense(P, O, np.ones((2, 2)), 0.5, start=[0.3, 0.7])
    rng, plain = default_rng(4), default_rng(4)
    PBVI(size=7).solve(dull, rng)
    plain.random(20 * 2 * 2)
    assert rng.random() == plain.random()


def test_perseus_from_its_parts():
    """Stages, and a sweep after each stage that moves no value by the tolerance; two idle ones in a row are the end."""
    idle = 0
    for seed in range(4):
        pomdp, (points, _) = sparse(seed), points_and_vectors(seed=seed)
        m, rng = arrays_of(pomdp), default_rng(5)
        w, move = successors(m, points), 0.05 * 0.17 / 0.83
        vectors, actions = lowest(pomdp, "test")[None], np.zeros(1, np.int64)
        v, n, done = (points @ vectors.T).max(axis=1), 0, False
        while not done:
            n, before = n + 1, v
            vectors, actions, v = perseus.stage(m, points, w, vectors, actions, rng.permutation(len(points)))
            if (v - before).max() < move:
                before = v
                vectors, actions, v = sweep(m, points, w, vectors, actions)
                vectors, actions = without_repetitions(vectors, actions)
                done = (v - before).max() < move
                idle += not done
        solution = Perseus(beliefs=points, tol=0.05).solve(pomdp, default_rng(5))
        assert solution.iterations == n
        np.testing.assert_array_equal(solution.vectors, vectors)
        np.testing.assert_array_equal(solution.actions, actions)
    assert idle > 0
    pomdp = sparse(1)
    grown = Perseus(size=6, tol=0.05).solve(pomdp, default_rng(3))
    rng = default_rng(3)
    points = explore(arrays_of(pomdp), np.array(pomdp.start), 6, rng)
    assert grown == Perseus(beliefs=points, tol=0.05).solve(pomdp, rng)
    assert Perseus(size=6, tol=0.05).solve(pomdp) == Perseus(size=6, tol=0.05).solve(pomdp, default_rng(0))


def test_lowering_equals_its_transcription():
    """The fast informed bound in place, state by state; it stops after the sweep in which nothing falls by more."""
    pomdp = sparse(4)
    (P, O, r), m = pomdp.dense(), arrays_of(pomdp)
    first = np.where(pomdp.terminal, 0.0, 9.0 + default_rng(0).random((A, S)))
    for move, most in ((0.2, 1000), (1e-6, 1000), (0.0, 4)):
        alpha, n, fell = first.copy(), 0, np.inf
        while fell > move and n < most:
            n, fell = n + 1, 0.0
            for s in np.flatnonzero(~pomdp.terminal):
                for a in range(A):
                    new = r[s, a] + 0.83 * np.einsum("y,yo,cy->oc", P[s, a], O[:, a], alpha).max(axis=1).sum()
                    fell = max(fell, alpha[a, s] - new)
                    alpha[a, s] = min(alpha[a, s], new)
        mine = first.copy()
        assert lower(m, mine, move, most) == n
        np.testing.assert_allclose(mine, alpha, atol=1e-12)


def test_lowering_stops_at_a_fall_of_just_what_is_allowed():
    """One state that pays 1 at discount 1/2: 4, 3, 2.5, 2.25, ... without rounding."""
    m = arrays_of(TabularPOMDP.from_dense([[[1.0]]], [[[1.0]]], [[1.0]], 0.5))
    for move, sweeps, value in ((1.0, 1, 3.0), (0.5, 2, 2.5), (0.25, 3, 2.25), (0.3, 3, 2.25)):
        alpha = np.array([[4.0]])
        assert lower(m, alpha, move, 100) == sweeps
        assert alpha.item() == value


def test_accuracy_of_upper_bounds(monkeypatch):
    """QMDP within rounding of Q; the fast informed bound stops at moves of tol (1 - gamma), and of tol / 1000 at 1."""
    asked = []
    monkeypatch.setattr(_bounds, "lower", lambda m, alpha, move, sweeps: asked.append((move, sweeps)))
    for gamma, move in ((0.83, 0.02 * 0.17), (0.9995, 0.02 * 1e-3), (1.0, 0.02 * 1e-3)):
        pomdp = sparse(gamma=gamma)
        P, _, r = pomdp.dense()
        q = fast_informed_bound(pomdp, tol=0.02).T
        assert asked.pop() == (pytest.approx(move, rel=1e-12), 10_000)
        v = q.max(axis=1) * ~pomdp.terminal
        np.testing.assert_allclose(np.where(pomdp.terminal[:, None], 0.0, r + gamma * P @ v), q, atol=1e-6)
        np.testing.assert_array_equal(qmdp_bound(pomdp).T, q)
        assert q.T.flags.c_contiguous or q.flags.f_contiguous


def test_qmdp_adds_what_the_solver_may_miss(monkeypatch):
    """gamma times the solver's error, but nothing at the end."""
    pomdp = sparse()
    q = default_rng(0).normal(size=(S, A))
    monkeypatch.setattr(_bounds, "solve", lambda mdp: SimpleNamespace(q=q.copy(), error_bound=0.3))
    np.testing.assert_allclose(qmdp_bound(pomdp).T, np.where(pomdp.terminal[:, None], 0.0, q + 0.83 * 0.3), atol=1e-14)


def test_a_bracket_from_its_parts():
    """PBVI's value of the start, and the fast informed bound there; the limits of its arguments."""
    pomdp = sparse()
    high = float((fast_informed_bound(pomdp) @ pomdp.start).max())
    for size, tol in ((5, 0.02), (1, 0.7)):
        low = PBVI(size=size, tol=tol).solve(pomdp).start_value
        assert bracket(pomdp, size, tol) == (low, high)
        assert low < high
    for call, says in (
        (lambda: bracket(pomdp, 0), "'size' must be a whole number of at least 1"),
        (lambda: bracket(pomdp, 1, 0.0), "bracket: 'tol' must be greater than 0"),
        (lambda: bracket(3), "bracket: 'problem' must be a TabularPOMDP"),
        (lambda: fast_informed_bound(pomdp, 0.0), "'tol' must be greater than 0"),
    ):
        with pytest.raises(InvalidArgument, match=says):
            call()


def test_the_first_vector():
    """The worst reward for ever; if episodes end, nothing at the end and at most 0 elsewhere; random actions at 1."""
    pomdp = sparse()
    P, O, r = pomdp.dense()
    going = ~pomdp.terminal
    np.testing.assert_allclose(lowest(pomdp, "test"), np.where(going, r[going].min() / 0.17, 0.0), atol=1e-12)
    kind = TabularPOMDP.from_dense(P, O, np.abs(r) + 0.4, 0.83, terminal=[END])
    np.testing.assert_array_equal(lowest(kind, "test"), np.zeros(S))
    endless = TabularPOMDP.from_dense(P, O, np.abs(r) + 0.4, 0.83)
    np.testing.assert_allclose(lowest(endless, "test"), np.full(S, (np.abs(r) + 0.4).min() / 0.17), atol=1e-12)
    ending = sparse(gamma=1.0)
    v = np.zeros(S)
    for _ in range(3000):
        v = np.where(going, (r + P @ v).mean(axis=1), 0.0)
    np.testing.assert_allclose(lowest(ending, "test"), v, atol=1e-9)


def test_vectors_without_repetitions():
    """In the order of their first places, with the first action."""
    vectors = np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0], [4.0, 0.0], [0.0, 3.0]])
    new, actions = without_repetitions(vectors, np.array([2, 0, 1, 1, 3]))
    assert new.tolist() == [[1.0, 2.0], [0.0, 3.0], [4.0, 0.0]]
    assert actions.tolist() == [2, 0, 1]


# Exact value iteration -----------------------------------------------------------------------------------------------


def small(gamma=0.83):
    """Three states of which one is an end, two actions, two observations."""
    rng = default_rng(5)
    P, O = rng.dirichlet(np.ones(3), (3, 2)), rng.dirichlet(np.ones(2), (3, 2))
    return TabularPOMDP.from_dense(P, O, rng.normal(size=(3, 2)) * 3.0, gamma, [0.4, 0.0, 0.6], [1])


def test_a_pomdp_without_its_end():
    """P by action, signs by action and observation, rewards by action, over the states that go on."""
    P, O, r = small().dense()
    live = exact_iteration.live_of(small(), 7, 11)
    going = [0, 2]
    for a, s, y in np.ndindex(2, 2, 2):
        assert live.P[a, s, y] == P[going[s], a, going[y]]
        assert live.seen[a, s, y] == O[going[y], a, s]
    np.testing.assert_array_equal(live.r, r[going].T)
    assert (live.gamma, live.limit, live.left.tolist(), live.live.tolist()) == (0.83, 7, [11], [True, False, True])


def test_an_exact_sweep():
    """All combinations of an old vector for each observation, by action; those that are best somewhere, and their
    actions; the stated loss is 1e-12 of the largest entry for each of 2 Z + 1 prunings."""
    live = exact_iteration.live_of(small(), 5000, 10**9)
    old = default_rng(1).normal(size=(4, 2)) * 20.0
    v = exact_iteration.Vectors(old, np.zeros(4, np.int64), np.full((4, 2), 0.5))
    new, lost = exact_iteration.sweep(live, v)
    combined = []
    for a in range(2):
        for i, j in np.ndindex(4, 4):
            after = live.seen[a, 0] * old[i] + live.seen[a, 1] * old[j]
            combined.append((live.r[a] + 0.83 * live.P[a] @ after, a))
    every, grid = np.array([alpha for alpha, _ in combined]), np.linspace(0.0, 1.0, 4001)
    points = np.column_stack([1.0 - grid, grid])
    best = sorted(set(np.argmax(points @ every.T, axis=1).tolist()))
    found = sorted((*alpha.round(9), a) for alpha, a in zip(new.alpha, new.action, strict=True))
    assert found == sorted((*every[i].round(9), combined[i][1]) for i in best)
    assert lost == pytest.approx(5.0 * 1e-12 * np.abs(old).max(), rel=1e-12)
    assert exact_iteration.sweep(live, v._replace(alpha=old * 1e-3))[1] == pytest.approx(
        5.0 * 1e-12 * np.abs(live.r).max(), rel=1e-12
    )


def test_too_many_vectors_are_refused_beyond_the_limit():
    """The limit for three states and more, and its square for two."""
    for S_, limit, most in ((3, 4, 4), (2, 3, 9), (5, 1, 1)):
        live = exact_iteration.live_of(small(), limit, 100)
        fine = np.zeros((most, S_))
        assert exact_iteration.refuse(live, fine) is fine
        with pytest.raises(TooMany, match=f"{most + 1} vectors, more than {most}"):
            exact_iteration.refuse(live, np.zeros((most + 1, S_)))


def test_one_vector_and_all_states():
    """A constant has the uniform belief for its witness; solutions are zero at the end."""
    one = exact_iteration.constant(np.array([1.0, 2.0, 4.0]))
    assert (one.alpha.tolist(), one.action.tolist(), one.witness.tolist()) == ([[1.0, 2.0, 4.0]], [0], [[1 / 3] * 3])
    assert exact_iteration.constant(np.zeros(0)).alpha.shape == (1, 0)
    pomdp = small()
    live = exact_iteration.live_of(pomdp, 9, 9)
    made = exact_iteration.solution(pomdp, live, exact_iteration.constant(np.array([3.0, 5.0])), 0.25, 6)
    assert made.vectors.tolist() == [[3.0, 0.0, 5.0]]
    assert (made.error_bound, made.iterations, made.method) == (0.25, 6, "pomdp-value-iteration")
    ended = TabularPOMDP.from_dense(*pomdp.dense(), 0.83, start=0, terminal=[0, 1, 2])
    assert POMDPValueIteration().solve(ended).iterations == 0
    assert POMDPValueIteration().solve(ended).actions.tolist() == [0]


def test_errors_of_a_finite_horizon(monkeypatch):
    """Losses are discounted and added up; if a sweep is too large, the rewards that are missing are added at most."""
    pomdp = small()
    largest = np.abs(pomdp.dense()[2][[0, 2]]).max()
    plain = exact_iteration.sweep
    for last in (4, 2):
        calls = []

        def told(p, v, calls=calls, last=last):
            if len(calls) == last:
                raise TooMany("stop")
            calls.append(1)
            return plain(p, v)[0], 0.1 * len(calls)

        monkeypatch.setattr(exact_iteration, "sweep", told)
        lost = sum(0.1 * (i + 1) * 0.83 ** (last - 1 - i) for i in range(last))
        if last == 4:
            solved = POMDPValueIteration(horizon=4).solve(pomdp)
            assert (solved.error_bound, solved.iterations) == (pytest.approx(lost, rel=1e-12), 4)
        else:
            with pytest.raises(NotConverged, match="2 of 4 decisions, then stop") as error:
                POMDPValueIteration(horizon=4).solve(pomdp)
            missing = largest * (0.83**2 + 0.83**3)
            assert error.value.residual == pytest.approx(lost + missing, rel=1e-12)
            assert error.value.best.iterations == 2


@pytest.mark.parametrize("gamma, tol", [(0.83, 0.11), (1.0, 0.025)])
def test_bounds_without_a_horizon(monkeypatch, gamma, tol):
    """gamma / (1 - gamma) times the largest rise, and the losses over 1 - gamma; no less accurate than twice these.

    With discount 1: the gap between sweeps from below and from above, and n losses of the upper ones."""
    pomdp, rises, asked, plain = small(gamma), iter([8.0, 0.5, 0.02]), [], exact_iteration.sweep
    monkeypatch.setattr(exact_iteration, "sweep", lambda p, v: (plain(p, v)[0], 0.001))
    monkeypatch.setattr(exact_iteration, "largest_excess", lambda upper, lower: next(rises))
    monkeypatch.setattr(exact_iteration, "improved", lambda pomdp, p, v, tol, left: asked.append(tol) or (v, 1))
    solved = POMDPValueIteration(tol=tol).solve(pomdp)
    bound = 0.02 * 0.83 / 0.17 + 0.001 / 0.17 if gamma < 1.0 else 0.02 + 0.001 + 3 * 0.001
    assert solved.error_bound == pytest.approx(bound, rel=1e-9)
    assert solved.iterations == 3
    assert asked == [pytest.approx(tol / 4, rel=1e-12)] * 2
    for accepted in (True, False):  # a tolerance that losses do not allow
        rises, asked = iter([8.0, 0.0, 0.0]), []
        lost = 0.001 / 0.17 if gamma < 1.0 else 0.003
        monkeypatch.setattr(exact_iteration, "LEAST", 1.0 if accepted else 1e-9)
        if accepted:
            solved = POMDPValueIteration(tol=1e-9).solve(pomdp)
            assert (solved.error_bound, solved.iterations) == (pytest.approx(lost, rel=1e-9), 2)
        else:
            with pytest.raises(NotConverged, match="after 2 sweeps and 1 over witnesses") as error:
                POMDPValueIteration(tol=1e-9).solve(pomdp)
            assert error.value.residual == pytest.approx(lost, rel=1e-9)
            assert error.value.best.error_bound == error.value.residual
        assert asked == [pytest.approx(0.5 * (lost if gamma < 1.0 else 0.002), rel=1e-9)]
