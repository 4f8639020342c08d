"""Searches that enumerate outcomes: forward search, branch and bound, BOP, and HMDP's sampled tree."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.search._lookahead import bounds_of_leaves
from bayesrl.bamdp.search.bamcp import learned
from bayesrl.bamdp.search.bop import BOP
from bayesrl.bamdp.search.branch_and_bound import BranchAndBound, extremes, highest_mean, naive
from bayesrl.bamdp.search.forward_search import ForwardSearch, search
from bayesrl.bamdp.search.hmdp import HMDP, grow, solve_program
from bayesrl.beliefs import FiniteMDPs, RewardBeta, RewardNormal, SparseDirichletMDP, UnknownRewards
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.simulators.counts import add, branches, read_outcome
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import solve
from bayesrl.testing import assert_mean_equal


def flat(gamma=0.9, seed=3, low=-1.0):
    """Three states, uneven counts, rewards (of both signs, unless low says otherwise) that depend on the next state."""
    rng = default_rng(seed)
    mdp = TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), rng.uniform(low, 1.0, (3, 2, 3)), gamma)
    return b.DirichletMDP.flat(mdp, rng.uniform(0.1, 2.0, (6, 3))).update(Transition(0, 1, mdp.reward[0, 1, 2], 2))


def tied(gamma=0.9):
    return b.DirichletMDP.structured(b.make_world("chain-tied", gamma=gamma), [[2.0, 1.0]])


def terminal(gamma=0.8):
    """Two states and a terminal third."""
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.2, 1.0], [2.0, 0.5], [0, 0]], gamma, terminal=[2])
    return b.DirichletMDP.structured(
        mdp, [[0.5, 1.0, 0.3], [2.0, 0.2, 0.2], [0.3, 0.3, 0.3], [1.0, 1.0, 0.1]] + [[1.0] * 3] * 2
    )


def half_known():
    """The rows of the first state are known."""
    return b.DirichletMDP.structured(b.make_world("chain", gamma=0.9), 0.7, known=np.arange(10) < 2)


def unknown():
    """Rewards of two values, unknown for each state and action."""
    return UnknownRewards(tied(), RewardBeta(np.full((5, 2), 1.5), np.linspace(0.5, 2.0, 10).reshape(5, 2), -1.0, 2.0))


def known_moves():
    """Where actions lead is known, what they pay is not."""
    moves = b.DirichletMDP.structured(b.make_world("chain", gamma=0.9), known=True)
    return UnknownRewards(moves, RewardBeta(np.full((5, 2), 1.5), np.linspace(0.5, 2.0, 10).reshape(5, 2)))


def sparse(seed=3, concentration=0.2, exponent=2.0):
    """Three states of which few can follow, some seen, and rewards of both signs."""
    rng = default_rng(seed)
    mdp = TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), rng.uniform(-1.0, 1.0, (3, 2, 3)), 0.9)
    belief = SparseDirichletMDP.flat(mdp, concentration, exponent)
    for s, a, k in ((0, 1, 2), (2, 0, 0), (2, 0, 0), (2, 0, 1), (1, 1, 1))[: 1 + seed]:
        belief = belief.seen_outcome(s, a, k)
    return belief


def sparse_ends():
    """Lists of three, two and one outcome, one of them of two states, and a terminal state."""
    succ = np.array([[[0, 1, 2], [1, 0, 0]], [[0, 1, 2], [1, 0, 2]], [[2, 2, 2]] * 2])
    reward = np.array([[[0.0, 1.0, 0.5], [0.3, 0.2, 0.0]], [[0.0, 2.0, -1.0], [0.1, 0.7, 0.4]], [[0.0] * 3] * 2])
    size, start = np.array([3, 2, 3, 1]), np.array([1.0, 0.0, 0.0])
    outcomes = Outcomes(succ, reward, [[0, 1], [0, 2], [3, 3]], size, 0.0, start, np.array([False, False, True]))
    return SparseDirichletMDP(outcomes, 1.5, 0.0, 0.8).seen_outcome(1, 1, 2)


BELIEFS = {
    "flat": flat,
    "tied": tied,
    "terminal": terminal,
    "half-known": half_known,
    "unknown": unknown,
    "known moves": known_moves,
    "undiscounted": lambda: terminal(1.0),
    "myopic": lambda: flat(0.0),
    "sparse": sparse,
    "sparse ends": sparse_ends,
}
BUSHY = ("unknown", "known moves")
"""Where rewards are outcomes too, searches are shorter."""


def predictive(belief, s, a):
    """P(k | s, a), as the belief itself says."""
    return (
        belief.mean_mdp().prob[belief.outcomes.group[s, a]]
        if isinstance(belief, SparseDirichletMDP)
        else (belief.predictive_row(s, a))
    )


def info(planner, belief, s=0, seed=0):
    return planner.plan(belief, s, planner.start(), default_rng(seed)).info


@pytest.mark.parametrize("name", ["sparse", "sparse ends"])
def test_sparse_counts_follow_the_belief(name):
    """Outcomes at random, added and taken away again: the predictive of every (s, a) is the updated belief's."""
    beliefs, rng = [BELIEFS[name]()], default_rng(1)
    m, path, o = beliefs[0].enumerable(3), [], beliefs[0].outcomes

    def check():
        for s, a in np.ndindex(*o.group.shape):
            found = [read_outcome(m, s, a, e)[0] for e in range(branches(m, s, a))]
            np.testing.assert_allclose(found, predictive(beliefs[-1], s, a)[: len(found)], atol=1e-12)

    for _ in range(12):
        s, a = int(rng.integers(2)), int(rng.integers(2))
        e = int(rng.integers(o.size[o.group[s, a]]))
        add(m, s, a, e, 1.0)
        beliefs.append(beliefs[-1].seen_outcome(s, a, e))
        path.append((s, a, e))
        check()
    while path:
        add(m, *path.pop(), -1.0)
        beliefs.pop()
        check()


# Forward search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BELIEFS)
def test_equal_to_exact_values_at_every_depth(name):
    belief = BELIEFS[name]()
    for depth in range(1, 6 if name not in BUSHY else 4):
        for s in range(belief.n_states):
            np.testing.assert_allclose(info(ForwardSearch(depth), belief, s)["q"], exact_q(belief, s, depth), atol=1e-9)


def test_leaves_are_the_mean_models():
    """One decision and then the mean model, by hand; where everything is known, the solved values at any depth."""
    belief = flat()
    V, alpha = solve(belief.mean_mdp()).values, belief.alpha
    q = [sum(alpha[a, y] / alpha[a].sum() * (belief.reward[0, a, y] + 0.9 * V[y]) for y in range(3)) for a in range(2)]
    for planner in (ForwardSearch(1, "mean"), BranchAndBound(1, leaf="mean"), BOP(1, 1, "mean")):
        np.testing.assert_allclose(info(planner, belief)["q"], q)
    point = b.DirichletMDP.structured(b.make_world("chain", gamma=0.9), known=True)
    searches = (ForwardSearch(3, "mean"), BranchAndBound(3, leaf="mean"), BranchAndBound(3, "naive", "mean"))
    for planner in searches:
        np.testing.assert_allclose(info(planner, point, 2)["q"], solve(point.mean_mdp()).q[2], atol=1e-8)


@pytest.mark.parametrize("name", ["flat", "terminal", "undiscounted", "sparse", "sparse ends"])
def test_bop_brackets_the_values_of_forward_search_with_leaves(name):
    """And meets that of the best action; the undiscounted mean model ends."""
    belief = BELIEFS[name]()
    exact = info(ForwardSearch(3, "mean"), belief)["q"]
    for nodes in (1, 5, 30, 1000):
        found = info(BOP(nodes, 3, "mean"), belief)
        assert (found["lower"] <= exact + 1e-9).all()
        assert (found["upper"] >= exact - 1e-9).all()
    np.testing.assert_allclose((found["lower"].max(), found["upper"].max()), exact.max(), atol=1e-9)


# Branch and bound ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", ["naive", "optimistic"])
@pytest.mark.parametrize("name", BELIEFS)
def test_values_of_forward_search(name, bound):
    belief = BELIEFS[name]()
    for depth in range(1, 6 if name not in BUSHY else 4):
        for s in range(belief.n_states):
            found = info(BranchAndBound(depth, bound), belief, s)
            full = info(ForwardSearch(depth), belief, s)
            np.testing.assert_allclose(found["q"], full["q"], atol=1e-9)
            assert found["nodes"] <= full["nodes"]
            assert (found["lower"] <= full["q"] + 1e-9).all()
            assert (found["upper"] >= full["q"] - 1e-9).all()


@pytest.mark.parametrize("bound", ["naive", "optimistic"])
def test_values_of_forward_search_on_random_beliefs(bound):
    """Where actions are close, a branch given up too soon shows."""
    for seed in range(15):
        belief = flat(0.7, seed, 0.0)
        np.testing.assert_allclose(
            info(BranchAndBound(4, bound), belief)["q"], info(ForwardSearch(4), belief)["q"], atol=1e-9
        )


@pytest.mark.parametrize("bound", ["naive", "optimistic"])
def test_exact_values_of_random_sparse_beliefs(bound):
    for seed in range(12):
        belief = sparse(seed, [0.05, 0.2, 1.0][seed % 3], float(seed % 4))
        found = info(BranchAndBound(4, bound), belief)["q"]
        np.testing.assert_allclose(found, exact_q(belief, 0, 4), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_highest_mean_is_that_of_the_best_outcomes_to_come(seed):
    """Of a row of four outcomes after all sequences of at most n more."""
    rng = default_rng(seed)
    mdp = TabularMDP.from_dense(np.full((4, 1, 4), 1 / 4), np.zeros((4, 1)), 0.9)
    belief = SparseDirichletMDP.flat(mdp, [0.05, 0.4, 3.0][seed % 3], float(seed // 2))
    for _ in range(seed):
        belief = belief.seen_outcome(0, 0, int(rng.integers(3)))
    m, x = belief.enumerable(0), rng.uniform(-1.0, 1.0, 4)
    reached, best = [belief], -np.inf
    for n in range(4):
        best = max(best, *(predictive(now, 0, 0) @ x for now in reached))
        assert highest_mean(m, np.int32(0), n, x) == pytest.approx(best, abs=1e-12)
        reached = [now.seen_outcome(0, 0, k) for now in reached for k in range(4)]


def generic(gamma=0.83, rewards=False):
    """Four states, of which the second ends, three actions, uneven counts, a known row; rewards known or not."""
    rng = default_rng(17)
    P, R = rng.dirichlet(np.ones(4), (4, 3)), rng.normal(0.4, 1.0, (4, 3, 4))
    mdp = TabularMDP.from_dense(P, R, gamma, terminal=[1])
    moves = b.DirichletMDP.structured(mdp, rng.uniform(0.2, 2.5, (12, 4)), known=np.arange(12) == 7)
    if not rewards:
        return moves
    shape = (4, 3)
    return UnknownRewards(moves, RewardBeta(rng.uniform(0.5, 3.0, shape), rng.uniform(0.5, 3.0, shape), -0.7, 1.9))


def plain_extremes(belief, D, leaf):
    """L_d(s) and U_d(s) from their definition: the extreme mean after n = D - d more outcomes of a row, or fewer.

    Rows of a Dirichlet: all n at the extreme outcome. Rows of a sparse prior: all sequences are tried.
    """
    moves = belief.transitions if isinstance(belief, UnknownRewards) else belief
    o, gamma, tables = belief.outcomes, belief.gamma, [[leaf.copy(), leaf.copy()]]
    for d in range(1, D + 1):
        n, rows = D - d, [np.zeros(belief.n_states), np.zeros(belief.n_states)]
        for s in np.flatnonzero(~o.terminal):
            found = []
            for a in range(belief.n_actions):
                y, p = o.succ[s, a, : o.size[o.group[s, a]]], predictive(moves, s, a)
                for sign, before in zip((-1.0, 1.0), tables[-1], strict=True):
                    r = o.reward[s, a]
                    if belief is not moves:
                        won, lost = belief.rewards.alpha[s, a], belief.rewards.beta[s, a]
                        high = (won + n * (sign > 0.0)) / (won + lost + n)
                        r = np.full(len(r), -0.7 + 2.6 * high)
                    x = sign * (r[: len(y)] + gamma * before[y])
                    if isinstance(moves, SparseDirichletMDP):
                        now, best = [moves], -np.inf
                        for i in range(n + 1):
                            best = max(best, *(predictive(each, s, a)[: len(y)] @ x for each in now))
                            now = [each.seen_outcome(s, a, k) for each in now for k in range(len(y)) if i < n]
                    else:
                        total = moves.counts()[s, a]
                        m = 0.0 if np.isinf(total) else n
                        best = p[: len(y)] @ x if m == 0.0 else (total * p[: len(y)] @ x + m * x.max()) / (total + m)
                    found.append(sign * best)
            rows[0][s], rows[1][s] = max(found[::2]), max(found[1::2])
        tables.append(rows)
    return np.array(tables).swapaxes(0, 1)


@pytest.mark.parametrize(
    "make", [generic, lambda: generic(rewards=True), flat, half_known, sparse, sparse_ends],
    ids=["generic", "generic, unknown rewards", "flat", "half-known", "sparse", "sparse ends"],
)  # fmt: skip
def test_bounds_are_those_of_their_definition(make):
    """Tables of both kinds with leaves that are not zero; bounds of the root's actions are one step before them."""
    belief, D = make(), 3
    leaf = np.where(belief.outcomes.terminal, 0.0, default_rng(5).normal(0.5, 2.0, belief.n_states))
    m = belief.enumerable(D)
    plain = plain_extremes(belief, D, leaf)
    np.testing.assert_allclose(extremes(m, D, belief.gamma, leaf), plain, atol=1e-12)
    r, gamma, live = belief.reward_range(), belief.gamma, ~belief.outcomes.terminal
    wide = naive(m, bounds_of_leaves(r, gamma, D, leaf).range, leaf)
    for d in range(1, D + 1):
        for i, end in enumerate((leaf.min(), leaf.max())):
            expected = sum(gamma**j * r[i] for j in range(d)) + gamma**d * end
            np.testing.assert_allclose(wide[i, d], np.where(live, expected, 0.0), atol=1e-12)
    np.testing.assert_array_equal(wide[:, 0], [leaf, leaf])
    for kind, table in (("optimistic", plain_extremes(belief, D, 0.0 * leaf)), ("naive", None)):
        if table is None:
            table = naive(m, bounds_of_leaves(r, gamma, D, 0.0 * leaf).range, 0.0 * leaf)
        found = info(BranchAndBound(D, kind), belief)
        for name, v in zip(("lower", "upper"), table[:, D - 1], strict=True):
            expected = [
                sum(p * (r + gamma * v[y]) for p, y, r in (read_outcome(m, 0, a, e) for e in range(branches(m, 0, a))))
                for a in range(belief.n_actions)
            ]
            np.testing.assert_allclose(found[name], expected, atol=1e-12)


def pruned(belief, s0, D, bounds):
    """Branch and bound over beliefs as its docstring says: (values of the root's actions, hyper-states expanded)."""
    o, gamma, (lower, upper), nodes = belief.outcomes, belief.gamma, bounds, [1]

    def value(now, s, d, floor):
        nodes[0] += 1
        chances = [predictive(now, s, a)[: o.size[o.group[s, a]]] for a in range(belief.n_actions)]
        succ = [o.succ[s, a, : len(p)] for a, p in enumerate(chances)]
        x = [p @ (o.reward[s, a, : len(p)] + gamma * upper[d - 1, succ[a]]) for a, p in enumerate(chances)]
        best = max(floor, lower[d, s])
        while True:
            a = int(np.argmax(x))
            if d == 1 or x[a] <= best:
                return max(best, x[a])
            q, pruned = x[a], False
            for k, (p, y) in enumerate(zip(chances[a], succ[a], strict=True)):
                if p > 0.0 and lower[d - 1, y] != upper[d - 1, y] and not pruned:
                    need = (best - (q - gamma * p * upper[d - 1, y])) / (gamma * p)
                    v = value(now.seen_outcome(s, a, k), y, d - 1, need)
                    q += gamma * p * (v - upper[d - 1, y])
                    pruned = v <= need
            best, x[a] = best if pruned else max(best, q), -np.inf

    q = np.zeros(belief.n_actions)
    for a in range(belief.n_actions):
        for k, p in enumerate(predictive(belief, s0, a)[: o.size[o.group[s0, a]]]):
            y, v = o.succ[s0, a, k], upper[0, o.succ[s0, a, k]]
            if p > 0.0 and D > 1 and not o.terminal[y]:
                v = value(belief.seen_outcome(s0, a, k), y, D - 1, -np.inf)
            q[a] += p * (o.reward[s0, a, k] + gamma * v)
    return q, nodes[0]


@pytest.mark.parametrize(
    ("make", "D"), [(generic, 1), (generic, 2), (generic, 3), (sparse, 3), (half_known, 3), (flat, 4), (sparse_ends, 4)]
)
def test_the_search_prunes_as_it_says(make, D):
    """Values and numbers of hyper-states, beside the same rule in plain Python on the same tables."""
    belief = make()
    leaf = np.zeros(belief.n_states)
    m = belief.enumerable(D)
    wide = naive(m, bounds_of_leaves(belief.reward_range(), belief.gamma, D, leaf).range, leaf)
    for kind, table in (("naive", wide), ("optimistic", extremes(m, D, belief.gamma, leaf))):
        found = info(BranchAndBound(D, kind), belief)
        q, nodes = pruned(belief, 0, D, table)
        np.testing.assert_allclose(found["q"], q, atol=1e-12)
        assert found["nodes"] == nodes


def test_fewer_nodes():
    """Tied chain, eight decisions: measured 21845 hyper-states in all, 19281 with the naive bound, 6318 optimistic."""
    full, naive, found = (
        info(p, tied())["nodes"] for p in (ForwardSearch(8), BranchAndBound(8, "naive"), BranchAndBound(8))
    )
    assert naive < 0.9 * full
    assert found < 0.3 * full


@pytest.mark.parametrize("name", BELIEFS)
def test_bounds_bracket_the_exact_values_of_every_hyper_state(name):
    """After t of D steps at random, the tables made at the root bracket the exact value with D - t to go."""
    prior, D, rng = BELIEFS[name](), 4 if name not in BUSHY else 3, default_rng(5)
    m, leaf = prior.enumerable(0), np.zeros(prior.n_states)
    reach = bounds_of_leaves(prior.reward_range(), prior.gamma, D, leaf).range
    tables = {"naive": naive(m, reach, leaf), "optimistic": extremes(m, D, prior.gamma, leaf)}
    for _ in range(60):
        belief, s = prior, int(rng.integers(prior.n_states))
        for t in range(D):
            for lower, upper in tables.values():
                v = exact_q(belief, s, D - t).max()
                assert lower[D - t, s] - 1e-9 <= v <= upper[D - t, s] + 1e-9
            if belief.outcomes.terminal[s]:
                break
            a = int(rng.integers(belief.n_actions))
            belief, s = stepped(belief, s, a, rng)


def stepped(belief, s, a, rng):
    """(The belief after an outcome of (s, a) that it thinks likely, the next state)."""
    moves = belief.transitions if isinstance(belief, UnknownRewards) else belief
    o = moves.outcomes
    k = int(rng.choice(o.n_outcomes, p=predictive(moves, s, a)))
    y, r = int(o.succ[s, a, k]), float(o.reward[s, a, k])
    if belief is not moves:
        values, p = belief.rewards.reward_predictive(belief.cell(s, a, k))
        r = float(rng.choice(values, p=p))
    return belief.update(Transition(s, a, r, y)), y


# BOP -----------------------------------------------------------------------------------------------------------------


class Node:
    def __init__(self, belief, s, chance, depth):
        self.belief, self.s, self.chance, self.depth, self.children = belief, s, chance, depth, None


def naive_bop(belief, s0, nodes, horizon):
    """The paper's loop with everything computed anew: T+, its leaves, the one with the largest P(x) gamma^depth."""
    gamma, paid, o = belief.gamma, np.array(belief.reward_range()), belief.outcomes

    def outside(x, r):
        if belief.outcomes.terminal[x.s]:
            return 0.0
        if horizon is None:
            return r / (1.0 - gamma)
        return sum(r * gamma**i for i in range(horizon - x.depth))

    def q(x, a, r):
        return sum(p * (pay + gamma * value(y, r)) for p, pay, y in x.children[a])

    def value(x, r):
        return outside(x, r) if x.children is None else max(q(x, a, r) for a in range(belief.n_actions))

    def leaves(x):
        if x.children is None:
            yield x
        else:
            a = max(range(belief.n_actions), key=lambda a: q(x, a, paid.max()))
            for _, _, y in x.children[a]:
                yield from leaves(y)

    def child(x, a, k, p):
        return Node(x.belief.seen_outcome(x.s, a, k), o.succ[x.s, a, k], x.chance * p, x.depth + 1)

    def expand(x):
        chances = [predictive(x.belief, x.s, a) for a in range(belief.n_actions)]
        x.children = [
            [(p, o.reward[x.s, a, k], child(x, a, k, p)) for k, p in enumerate(row) if p > 0.0]
            for a, row in enumerate(chances)
        ]

    root = Node(belief, s0, 1.0, 0)
    expand(root)
    for _ in range(nodes - 1):
        open_ = [x for x in leaves(root) if not belief.outcomes.terminal[x.s] and x.depth != horizon]
        if not open_:
            break
        expand(max(open_, key=lambda x: x.chance * gamma**x.depth))
    return tuple([q(root, a, r) for a in range(belief.n_actions)] for r in (paid.min(), paid.max()))


@pytest.mark.parametrize("horizon", [None, 3])
@pytest.mark.parametrize("name", ["flat", "tied", "terminal", "half-known", "sparse ends"])
def test_bop_equals_a_naive_transcription(name, horizon):
    belief = BELIEFS[name]()
    for nodes in (1, 2, 5, 12, 25):
        found = info(BOP(nodes, horizon), belief)
        np.testing.assert_allclose((found["lower"], found["upper"]), naive_bop(belief, 0, nodes, horizon), atol=1e-9)


@pytest.mark.parametrize("name", BELIEFS)
def test_bop_bounds_bracket_the_exact_values_and_never_widen(name):
    belief, depth = BELIEFS[name](), 5 if name not in BUSHY else 3
    for s in range(belief.n_states):
        exact, before = exact_q(belief, s, depth), (-np.inf, np.inf)
        for nodes in (1, 2, 4, 8, 30, 100, 300, 1000, 100000):
            found = info(BOP(nodes, depth), belief, s)
            lower, upper = found["lower"], found["upper"]
            assert (lower <= exact + 1e-9).all()
            assert (exact <= upper + 1e-9).all()
            assert (lower >= before[0] - 1e-9).all()
            assert (upper <= before[1] + 1e-9).all()
            before = lower, upper
        np.testing.assert_allclose((lower.max(), upper.max()), exact.max(), atol=1e-9)


def test_bop_without_horizon_brackets_long_horizons():
    """Twenty decisions at discount .9 leave less than 10 x .9^20 / .1 = 12.2 of value, none of it negative."""
    exact = exact_q(tied(), 0, 20)
    for nodes in (1, 100, 10000):
        found = info(BOP(nodes), tied())
        assert (found["lower"] <= exact + 12.2).all()
        assert (exact <= found["upper"]).all()
    endless = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=1.0))
    for refused in (lambda: info(BOP(10), endless), lambda: b.BayesAgent(endless, BOP(10))):
        with pytest.raises(InvalidArgument, match=r"'belief' must be one whose episodes end .* Or give a depth"):
            refused()


# HMDP ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BELIEFS)
def test_program_equals_backward_induction(name):
    belief, rng = BELIEFS[name](), default_rng(1)
    fringe = np.where(belief.outcomes.terminal, 0.0, rng.uniform(-1.0, 3.0, belief.n_states))
    child, p, y, r = grow(rng, belief.enumerable(0), 0, 30, 4)

    def value(x):
        return max(
            sum(
                p[x, a, e] * (r[x, a, e] + belief.gamma * (value(c) if c >= 0 else fringe[y[x, a, e]]))
                for e, c in enumerate(child[x, a])
            )
            for a in range(belief.n_actions)
        )

    found = solve_program(child, p, r, fringe[y], belief.gamma)
    np.testing.assert_allclose(found, [value(x) for x in range(len(child))], atol=1e-6)


@pytest.mark.parametrize("name", ["tied", "terminal", "undiscounted", "sparse ends"])
def test_many_trajectories_give_the_exact_values(name):
    """With every history of three decisions in the tree: exact values, and with a table at the fringe its leaves."""
    belief = BELIEFS[name]()
    planner, rng = HMDP(3000, 3), default_rng(0)
    np.testing.assert_allclose(planner.plan(belief, 0, None, rng).info["q"], exact_q(belief, 0, 3), atol=1e-6)
    Q = default_rng(2).uniform(0.0, 5.0, (belief.n_states, 2))
    leaf = np.where(belief.outcomes.terminal, 0.0, Q.max(axis=1))
    expected, _ = search(belief.enumerable(0), 0, 3, belief.gamma, leaf)
    np.testing.assert_allclose(planner.plan(belief, 0, Q, rng).info["q"], expected, atol=1e-6)


def test_hmdp_learns_its_fringe_from_real_transitions():
    last = Transition(0, 1, 2.0, 0)
    memory = HMDP(5, 2, fringe_rate=0.5).plan(tied(), 0, np.ones((5, 2)), default_rng(0), last).memory
    np.testing.assert_array_equal(memory, learned(np.ones((5, 2)), last, 0.9, 0.5))


def naive_hmdp(belief, s0, planner, Q, rng):
    """Trajectories of beliefs with random actions, kept in a dictionary of histories, valued by backward induction."""
    A, gamma, o = belief.n_actions, belief.gamma, belief.outcomes
    inside = {(): (s0, belief)}
    for _ in range(planner.simulations):
        h = ()
        for _ in range(planner.depth - 1):
            s, now = inside[h]
            a = int(rng.integers(A))
            k = int(rng.choice(o.n_outcomes, p=predictive(now, s, a)))
            y = int(o.succ[s, a, k])
            if o.terminal[y]:
                break
            h = (*h, (a, k))
            inside.setdefault(h, (y, now.seen_outcome(s, a, k)))

    def q(h, a):
        s, now = inside[h]
        total = 0.0
        for k, p in enumerate(predictive(now, s, a)):
            y, then = int(o.succ[s, a, k]), (*h, (a, k))
            v = max(q(then, c) for c in range(A)) if then in inside else 0.0 if o.terminal[y] else Q[y].max()
            total += p * (o.reward[s, a, k] + gamma * v)
        return total

    return [q((), a) for a in range(A)], len(inside)


@pytest.mark.parametrize("name", ["flat", "terminal", "sparse"])
def test_tree_is_sampled_like_a_naive_transcription(name):
    """Root values and sizes of 300 trees each; false alarm 1e-6 each, sees a third of a standard deviation."""
    belief, planner, rng = BELIEFS[name](), HMDP(6, 3), default_rng(4)
    Q = default_rng(2).uniform(-1.0, 1.0, (3, 2))
    ours = [planner.plan(belief, 0, Q, rng).info for _ in range(300)]
    theirs = [naive_hmdp(belief, 0, planner, Q, rng) for _ in range(300)]
    for key, i in (("q", 0), ("nodes", 1)):
        assert_mean_equal([o[key] - np.array(t[i]) for o, t in zip(ours, theirs, strict=True)], 0.0, what=key)


# All -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "planner",
    [ForwardSearch(2), BranchAndBound(2), BranchAndBound(2, "naive"), BOP(1), BOP(3, 2), HMDP(1, 1), HMDP(2, 3)],
)
def test_small_budgets_ends_and_unfit_beliefs(planner):
    for belief in (tied(), sparse()):
        assert planner.plan(belief, 0, planner.start(), default_rng(0)).action in (0, 1)
    for belief in (terminal(), sparse_ends()):
        end = planner.plan(belief, 2, planner.start(), default_rng(0))
        assert end.action in (0, 1)
        np.testing.assert_array_equal(end.info["q"], [0.0, 0.0])
    endless = UnknownRewards(tied(), RewardNormal(*np.ones((4, 5, 2))))
    lacks = "needs a belief with '.*', which UnknownRewards lacks. The rewards of RewardNormal do not take finitely"
    with pytest.raises(Incompatible, match=lacks):
        planner.plan(endless, 0, planner.start(), default_rng(0))
    with pytest.raises(Incompatible, match=lacks):  # with the same sentence before any step is taken
        b.BayesAgent(endless, planner)
    few = FiniteMDPs([tied().mean_mdp()])
    with pytest.raises(Incompatible, match=r"needs a belief with '.*enumerable', which FiniteMDPs lacks"):
        planner.plan(few, 0, planner.start(), default_rng(0))
    with pytest.raises(Incompatible, match=r"needs a belief with '.*enumerable', which FiniteMDPs lacks"):
        b.BayesAgent(few, planner)
    with pytest.raises(InvalidArgument, match="'observation' must be"):
        planner.plan(tied(), 5, planner.start(), default_rng(0))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ForwardSearch(0), "ForwardSearch: 'depth' must be a whole number of at least 1, got 0."),
        (lambda: ForwardSearch(2, "max"), "ForwardSearch: 'leaf' must be one of zero, mean, got 'max'."),
        (lambda: BranchAndBound(0), "BranchAndBound: 'depth' must be a whole number of at least 1, got 0."),
        (lambda: BranchAndBound(2, "mean"), "BranchAndBound: 'bound' must be one of naive, optimistic, got 'mean'."),
        (lambda: BOP(0), "BOP: 'nodes' must be a whole number of at least 1, got 0."),
        (lambda: BOP(5, 0), "BOP: 'depth' must be a whole number of at least 1, got 0."),
        (lambda: BOP(5, 2, "max"), "BOP: 'leaf' must be one of zero, mean, got 'max'."),
        (lambda: BOP(5, leaf="mean"), "BOP: 'leaf' must be zero if there is no depth, got 'mean'."),
        (lambda: HMDP(0), "HMDP: 'simulations' must be a whole number of at least 1, got 0."),
        (lambda: HMDP(1, 0), "HMDP: 'depth' must be a whole number of at least 1, got 0."),
    ],
)
def test_budgets_of_nothing_are_refused(make, said):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert str(error.value) == said
