"""What the searches are made of, beside plain Python with the same random numbers, and not compiled.

The search on histories runs on a toy that is written here: it has a hidden state, outcomes that show a part of it,
an action that is not legal everywhere, and an end.
"""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.kernels.jit import plain
from bayesrl.kernels.search import history_tree, uct_on_histories
from bayesrl.kernels.search import search_bounds as trees
from bayesrl.kernels.search.history_tree import Tree, new_tree, subtree
from bayesrl.kernels.search.search_bounds import LeafBounds
from bayesrl.kernels.search.uct_on_histories import Budget, SearchSettings, best_action
from bayesrl.kernels.simulators.reversible_step import likelihood, undo
from bayesrl.kernels.simulators.simulator import begin, forget, mask_illegal, rollout_action, root, step

S, A, Z = 4, 3, 2
P = default_rng(0).dirichlet(np.full(S, 0.8), (S, A))
R = default_rng(1).normal(size=(S, A, S)) - 0.4
SEEN = np.array([0, 1, 1, 0])
"""What is seen of each state; state 3 is the end."""
BARRED = {(1, 2), (2, 0)}
"""Actions that are not legal."""
Q_ROLLOUT = default_rng(2).normal(size=(S, A))
V0 = np.array([0.7, -1.1, 2.3, 0.0])


class Toy(NamedTuple):
    """A simulator in plain Python, and the marks that were forgotten."""

    marks: list


@begin.register(Toy)
def _(model, rng):
    rng.random()


@root.register(Toy)
def _(model, s, rng):
    return s if rng.random() < 0.6 else 1


@mask_illegal.register(Toy)
def _(model, s, Q, N, h):
    for a in range(A):
        if (s, a) in BARRED:
            Q[h, a], N[h, a] = -np.inf, 1


@step.register(Toy)
def _(model, s, a, rng):
    y = int((rng.random() >= np.cumsum(P[s, a])[:-1]).sum())
    return int(SEEN[y]), y, float(R[s, a, y]), y == 3, 10 * s + a


@forget.register(Toy)
def _(model, marks, n):
    model.marks.append(marks[:n].tolist())


@undo.register(Toy)
def _(model, s, a, k):
    pass


@likelihood.register(Toy)
def _(model, s, a, k):
    return float(P[s, a][SEEN == k].sum())


@rollout_action.register(Toy)
def _(model, table, s, a, epsilon, rng):
    """At random with probability epsilon, else after the last action; where that is masked the best of the table."""
    new = int(rng.random() * A) if rng.random() < epsilon else (a + 1) % A
    return int(table[s, 0]) if (s, new) in BARRED else new


@pytest.fixture(autouse=True)
def not_compiled(monkeypatch):
    """The functions that a search calls are the Python functions of their kernels."""
    for name in ("select", "ucb_constants", "add_return", "child_of", "best_actions", "search"):
        monkeypatch.setattr(uct_on_histories, name, plain(getattr(uct_on_histories, name)))
    for name in ("find_slot", "hash_all", "renumber", "child_of"):
        monkeypatch.setattr(history_tree, name, plain(getattr(history_tree, name)))
    monkeypatch.setattr(trees, "leaf_bounds", plain(trees.leaf_bounds))


def naive(s0, settings, leaves, simulations, rng, N, Q, returns):
    """UCT on histories with root sampling: values and visits by history; the steps and the marks of each simulation."""
    gamma, given, epsilon, depth = settings
    marks, toy = [], Toy([])
    for _ in range(simulations):
        begin(toy, rng)
        s, h, a, path, here, grown, end = root(toy, s0, rng), (), -1, [], [], False, False
        c, e = given, 0.0
        if given < 0.0:
            c, e = 0.0, 0.0
            if returns:
                off = np.array(returns) - np.mean(returns)
                c, e = np.sqrt(2.0 * (off @ off) / max(len(returns) - 1, 1)), (max(returns) - min(returns)) / 3.0
        for _ in range(depth):
            new = h not in N
            if new and not grown:
                illegal = [(s, b) in BARRED for b in range(A)]
                N[h], Q[h] = [int(x) for x in illegal], [-np.inf if x else 0.0 for x in illegal]
                N[h].append(0)  # visits of the history, without those that mask
            if grown or new:
                a = rollout_action(toy, Q_ROLLOUT.argmax(axis=1)[:, None], s, a, epsilon, rng)
            else:
                a = chosen_at(N[h], Q[h], c, e, rng)
            if not grown:
                path.append((h, a))
            k, y, r, end, _ = step(toy, s, a, rng)
            here.append((10 * s + a, r))
            grown, h, s = grown or new, (*h, (k, a)), y
            if end:
                break
        value = 0.0 if end or not leaves else V0[s]
        for i in range(len(here) - 1, -1, -1):
            value = here[i][1] + gamma * value
            if i < len(path):
                h, a = path[i]
                N[h][A] += 1
                N[h][a] += 1
                Q[h][a] += (value - Q[h][a]) / N[h][a]
        returns.append(value)
        marks.append([mark for mark, _ in here])
    return marks


def chosen_at(n, q, c, e, rng):
    """UCB at a history whose visits are counted apart."""
    best, ties, action = -np.inf, 0, 0
    for a in range(A):
        x = np.log(n[A]) / n[a] if n[a] else np.inf
        value = q[a] + c * np.sqrt(x) + e * x if n[a] else np.inf
        if value > best:
            best, ties, action = value, 1, a
        elif value == best:
            ties += 1
            action = a if rng.random() * ties < 1.0 else action
    return action


def histories(tree):
    """The rows of a tree by history."""
    found = [()]
    for h in range(1, int(tree.used[0])):
        edge = int(tree.edge[h])
        found.append((*found[tree.parent[h]], (edge // A, edge % A)))
    return found


@pytest.mark.parametrize(
    "given, epsilon, depth, leaves",
    [(1.7, 0.3, 6, True), (-1.0, 0.8, 5, False), (0.0, 0.0, 1, True), (-1.0, 0.5, 4, True)],
)
def test_the_search_on_histories_is_the_naive_one(given, epsilon, depth, leaves):
    """Visits, values, statistics of returns, steps, what is forgotten; in two parts, the second on the kept tree."""
    settings, toy = SearchSettings(0.83, given, epsilon, depth), Toy([])
    mine, theirs, N, Q, returns, marks = default_rng(9), default_rng(9), {}, {}, [], []
    tree, steps = None, 0
    for simulations in (40, 35):
        tree = new_tree(A, simulations, tree)
        worth = V0 if leaves else np.zeros(0)
        steps += plain(uct_on_histories.search)(mine, toy, 0, Q_ROLLOUT, worth, settings, tree, simulations)
        marks += naive(0, settings, leaves, simulations, theirs, N, Q, returns)
    assert mine.random() == theirs.random()
    assert toy.marks == marks
    assert steps == sum(map(len, marks))
    rows = {h: i for i, h in enumerate(histories(tree))}
    assert len(rows) == tree.used[0], "a history has one row"
    for h, visits in N.items():
        i = rows[h]
        assert [*tree.N[i].tolist(), tree.total[i]] == visits
        np.testing.assert_allclose(tree.Q[i], Q[h], rtol=1e-12)
    for h in rows.keys() - N.keys():
        assert tree.total[rows[h]] == 0
    off = np.array(returns) - np.mean(returns)
    np.testing.assert_allclose(tree.spread, [np.mean(returns), off @ off, min(returns), max(returns)], rtol=1e-10)


def searched(rng, start, budget, kept=None, began=0.0):
    """The best action of the toy, by simulations of three decisions."""
    return best_action(
        Toy([]),
        start=start,
        rollout_q=Q_ROLLOUT,
        leaf_values=V0,
        settings=SearchSettings(0.83, 1, 0.4, 3),
        budget=budget,
        kept=kept,
        began=began,
        rng=rng,
    )


def test_the_best_action_is_that_of_the_highest_value():
    """With ties at random, on a kept tree; visits that mask an action are not reported."""
    kept, action, tied = None, 0, set()
    for i in range(3):
        rng = default_rng(i)
        action, tree, info = searched(rng, 1, Budget(12, None), kept)
        assert info["simulations"] == 12
        assert tree.total[0] == 12 * (i + 1) == info["visits"].sum()
        assert info["steps"] > 12
        np.testing.assert_array_equal(info["q"], tree.Q[0])
        assert info["q"] is not tree.Q[0]
        assert action == int(info["q"].argmax())
        assert info["q"][2] == -np.inf
        assert info["visits"].tolist() == [*tree.N[0, :2], 0]
        kept = tree
    for i in range(30):
        new = new_tree(A, 1)
        new.Q[0] = [2.5, -1.0, 2.5]
        tied.add(searched(default_rng(i), 0, Budget(0, None), new)[0])
    assert tied == {0, 2}


def test_a_search_without_decisions_enters_nothing():
    tree, toy = new_tree(A, 5), Toy([])
    settings = SearchSettings(0.8, -1.0, 0.5, 0)
    assert plain(uct_on_histories.search)(default_rng(0), toy, 0, Q_ROLLOUT, V0, settings, tree, 5) == 0
    assert toy.marks == [[]] * 5
    assert not any(x.any() for x in (tree.N, tree.Q, tree.total, tree.spread))
    assert tree.used.tolist() == [1]


def test_a_budget_of_time_is_given_in_seconds(monkeypatch):
    """The search by time gets a tree with room for the first histories; otherwise there is room for all simulations."""
    rooms = []

    def search_for(seconds, simulations, tree, began):
        rooms.append((seconds, len(tree.total), began))
        return tree, 17, 40

    monkeypatch.setattr(uct_on_histories, "search_for", search_for)
    _, _, info = searched(default_rng(0), 0, Budget(3, 250.0), began=1.5)
    assert rooms == [(0.25, 1002, 1.5)]
    assert (info["simulations"], info["steps"]) == (17, 40)
    assert len(searched(default_rng(0), 0, Budget(30, None))[1].total) == 32


def test_a_kept_subtree_row_by_row():
    """The histories below a step, with their visits, values, places and hashes; what is said about returns."""
    settings, toy = SearchSettings(0.9, 1.2, 0.5, 6), Toy([])
    tree = new_tree(A, 120)
    plain(uct_on_histories.search)(default_rng(3), toy, 0, Q_ROLLOUT, V0, settings, tree, 120)
    rows = {h: i for i, h in enumerate(histories(tree))}
    for k in range(Z):
        for a in range(A):
            kept = subtree(tree, k, a)
            below = {h[1:]: i for h, i in rows.items() if h[:1] == ((k, a),)}
            if not below:
                assert kept is None
                continue
            found = {h: i for i, h in enumerate(histories(kept))}
            assert found.keys() == below.keys()
            assert kept.used.tolist() == [len(below)]
            for h, i in found.items():
                assert kept.N[i].tolist() == tree.N[below[h]].tolist()
                assert kept.Q[i].tolist() == tree.Q[below[h]].tolist()
                assert kept.total[i] == tree.total[below[h]]
            n, q, count = tree.N[below[()]], tree.Q[below[()]], int(tree.total[below[()]])
            mean = sum(n[b] * q[b] for b in range(A) if np.isfinite(q[b])) / max(count, 1)
            shift = mean - tree.spread[0]
            np.testing.assert_allclose(
                kept.spread,
                [mean, tree.spread[1] * count / 120, tree.spread[2] + shift, tree.spread[3] + shift],
                rtol=1e-12,
            )
            again = new_tree(A, 7, kept)
            assert len(again.total) == len(below) + 8
            assert histories(again) == histories(kept)
            assert len(again.slots) >= 2 * len(again.total)
            for h, i in found.items():
                if h:
                    edge = h[-1][0] * A + h[-1][1]
                    assert again.slots[history_tree.find_slot(again, found[h[:-1]], edge)] == i
    assert isinstance(tree, Tree)


# Rules of choice and statistics --------------------------------------------------------------------------------------


def test_constants_of_the_rule_and_statistics_of_returns():
    """Given constants as they are; otherwise those of Bernstein's inequality for the returns so far."""
    returns, spread = [1.3, -0.4, 2.6, 2.6, -3.1], np.zeros(4)
    assert plain(trees.ucb_constants)(-1.0, spread, 0) == (0.0, 0.0)
    for n, x in enumerate(returns, start=1):
        plain(trees.add_return)(spread, x, n)
        far = np.array(returns[:n])
        deviation = np.sqrt(far.var(ddof=1)) if n > 1 else 0.0
        np.testing.assert_allclose(
            spread, [far.mean(), ((far - far.mean()) ** 2).sum(), far.min(), far.max()], atol=1e-14
        )
        c, e = plain(trees.ucb_constants)(-1.0, spread, n)
        np.testing.assert_allclose([c, e], [np.sqrt(2.0) * deviation, (far.max() - far.min()) / 3.0], atol=1e-14)
    assert plain(trees.ucb_constants)(0.0, spread, 5) == (0.0, 0.0)
    assert plain(trees.ucb_constants)(0.7, spread, 5) == (0.7, 0.0)


def test_ucb_in_every_row():
    """argmax of Q + c sqrt(x) + e x; an untried action first."""
    rng = default_rng(4)
    for _ in range(60):
        Q, N = rng.normal(size=(3, A)), rng.integers(1, 9, (3, A))
        n, c, e, h = int(rng.integers(3, 40)), float(rng.uniform(0, 2)), float(rng.uniform(0, 2)), int(rng.integers(3))
        x = np.log(n) / N[h]
        assert plain(trees.select)(rng, Q, N, n, h, c, e) == np.argmax(Q[h] + c * np.sqrt(x) + e * x)
        assert plain(trees.select)(rng, Q, N, n, h, c) == np.argmax(Q[h] + c * np.sqrt(x))
        N[h, 1] = 0
        assert plain(trees.select)(rng, Q, N, n, h, c, e) == 1
        assert plain(trees.highest)(rng, Q[h]) == Q[h].argmax()


# Sparse trees with bounds --------------------------------------------------------------------------------------------

LEAVES = LeafBounds(0.83, V0, np.array([[0.0, 0.0], [-1.4, 2.2], [-2.9, 3.7], [-4.1, 5.3]]))


def test_bounds_of_leaves():
    """Nothing after the end, the leaf's value after the last decision, else the range of returns."""
    none = LEAVES._replace(leaf=np.zeros(0))
    for s in range(S):
        for d in range(4):
            assert plain(trees.leaf_bounds)(LEAVES, s, d, True) == (0.0, 0.0)
            expected = (V0[s], V0[s]) if d == 0 else tuple(LEAVES.range[d])
            assert plain(trees.leaf_bounds)(LEAVES, s, d, False) == expected
            assert plain(trees.leaf_bounds)(none, s, d, False) == ((0.0, 0.0) if d == 0 else tuple(LEAVES.range[d]))


def test_a_sampled_node_and_its_bounds():
    """Distinct outcomes with their shares, chances and rewards; bounds by sums over them, above and below children."""
    C, rng, other = 7, default_rng(12), default_rng(12)
    tree = plain(trees.sparse_tree)(9, A, C)
    for n, (low, high) in enumerate([(-5.0, 6.0), (-0.3, 0.9), (0.2, 1.6)]):
        assert plain(trees.add_node)(tree, low, high) == n
        assert tree.value[n].tolist() == [low, high, low, high]
        assert tree.size[n, 0] == 0
    assert tree.nodes.tolist() == [3]
    h, s, d = 1, 2, 2
    plain(trees.sample)(rng, tree, Toy([]), h, s)
    assert (tree.q[h] == -np.inf).all()
    drawn = []
    for a in range(A):
        found = {}
        for _ in range(C):
            k, y, r, done, _ = step(Toy([]), s, a, other)
            n, first = found.get(k, (0, (k, y, int(done), r)))
            found[k] = (n + 1, first)
        drawn.append([(n / C, likelihood(Toy([]), s, a, k), *first) for k, (n, first) in found.items()])
        assert tree.size[h, a] == len(found)
        for i, (share, chance, k, y, done, r) in enumerate(drawn[a]):
            assert tree.edge[h, a, i].tolist() == [k, y, done, -1]
            np.testing.assert_allclose(tree.weight[h, a, i], [share, chance, r], rtol=1e-14)
    assert any(len(found) > 1 for found in drawn)
    assert rng.random() == other.random()
    tree.value[2] = [0.2, 1.6, -0.7, 2.4]  # sure bounds that differ from those of the sample
    tree.edge[h, 1, 0, 3] = 2
    q = np.full((4, A), -np.inf)
    for a in range(A):
        plain(trees.back_up)(tree, LEAVES, h, a, d)
        bounds, rest = np.zeros(4), 1.0
        gaps = []
        for i, (share, chance, _, _, done, r) in enumerate(drawn[a]):
            low, high = (0.0, 0.0) if done else tuple(LEAVES.range[d - 1])
            values = tree.value[2] if a == 1 and i == 0 else np.array([low, high, low, high])
            bounds += np.array([share, share, chance, chance]) * (r + LEAVES.gamma * values)
            rest -= chance
            gaps.append(share * (values[1] - values[0]))
        bounds[2:] += max(rest, 0.0) * LEAVES.range[d]
        q[:, a] = bounds
        np.testing.assert_allclose(tree.q[h], q, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(tree.value[h], q.max(axis=1), rtol=1e-12, atol=1e-12)
        widest = plain(trees.widest_child)(rng, tree, LEAVES, h, a, d)
        assert widest == (int(np.argmax(gaps)) if max(gaps) > 0.0 else -1)
        last = plain(trees.widest_child)(rng, tree, LEAVES, h, a, 1)  # leaves have one value
        assert last == (0 if a == 1 else -1)
