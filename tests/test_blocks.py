"""The law of blocks: a constant that cuts work into blocks, or gives a buffer its first size, changes no result.

`LAWS` has an entry for each such constant: a function that computes a result which the constant would change if the
border between two blocks were wrong. The result with small constants (1, 2, 3, 7) must be that of one block: bit for
bit, or to rounding where sums are added in another order. Kernels, in which Numba freezes constants, run uncompiled.
A test reads the sources and finds constants of this kind that no test names.
"""

import ast
import re
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import DirichletGame, SparseDirichletMDP
from bayesrl.models.mdp import TabularMDP

ROOT = Path(b.__file__).parent
ONE = 2**62
"""A block that holds everything."""
LAWS = {}


def law(constant, rounding=0.0, whole=ONE, exact=()):
    """Enter the law of a constant, "module:NAME"; results may differ by `rounding`, relative and absolute."""

    def enter(compute):
        LAWS[constant] = compute, rounding, whole
        return compute

    return enter


def uncompiled(patch, module):
    """Replace the kernels of a module by their Python functions."""
    for name, kernel in list(vars(module).items()):
        if hasattr(kernel, "py_func"):
            patch.setattr(module, name, kernel.py_func)


# Beliefs -------------------------------------------------------------------------------------------------------------


def chained(belief, n):
    """Every third posterior of n outcomes of the chain."""
    for i in range(n):
        belief = belief.seen_outcome(i * 7 % 5, i % 2, i * i % 5)
        if i % 3 == 0:
            yield belief


@law("beliefs.mdp.ledger:CHUNK")
@law("beliefs.mdp.ledger:DENSE")
@law("beliefs.mdp.ledger:FIRST", whole=64)
@law("beliefs.mdp._incremental_mean:SMALL", rounding=1e-15)
def counts_of_posteriors(patch):
    found = []
    for belief in chained(b.DirichletMDP.flat(b.make_world("chain")), 30):
        rows = [belief.predictive_row(s, a) for s in range(5) for a in range(2)]
        found += [belief.alpha, belief.entries, belief.mean_mdp().prob, belief.mean_mdp().mean_reward, *rows]
    return found


@law("beliefs.mdp.sparse_dirichlet:FIRST_COLUMNS", whole=256)
def sparse_weights(patch):
    found = []
    for belief in chained(SparseDirichletMDP.flat(b.make_world("chain")), 30):
        urn = belief.simulate(4)
        found += [urn.rows["total"].copy(), urn.rows["kinds"].copy()]
    return found


@law("beliefs.values.gptd_sparse:CHUNK", rounding=1e-9)
def values_of_a_long_trajectory(patch):
    belief = b.make("gptd-sparse", noise=0.3, gamma=0.9, threshold=0.05)
    states = default_rng(12).normal(size=(40, 1))
    belief = belief.update_many((states, np.sin(states[:-1, 0])))
    at = np.linspace(-2.0, 2.0, 5)[:, None]
    return [belief.mean(at), belief.variance(at), belief.dictionary]


@law("beliefs.games._belief_tree:MOST")
def values_of_leaves(patch):
    """MOST counts entries, of which a part has some for each of its leaves."""
    from bayesrl.beliefs.games import _belief_tree as tree

    rng = default_rng(0)
    game = DirichletGame(rng.uniform(0.5, 2.0, (2, 2, 2, 2)), rng.normal(size=(2, 2, 2)), np.ones((2, 2)), 0.8)
    u = game.urns
    _, J, _, C, B = u.shape
    most = tree.MOST
    patch.setattr(tree, "MOST", 10**6)
    grown = tree.grow("game", tree.shape_of(u), 1, u.context(1, 0), 2, 2)
    patch.setattr(tree, "MOST", most * (C * C * J // B))
    assert len(grown.events) > 7
    return [tree.leaf_values(u, grown)]


# Risk ----------------------------------------------------------------------------------------------------------------


def machine():
    world = b.make_world("machine-replacement")
    return b.DirichletMDP.structured(world, 0.7)


@law("risk.k_of_n:BLOCK", rounding=1e-12)
def games_of_drawn_models(patch):
    found = []
    P, R = np.full((2, 2, 2), 0.5), np.array([[0.0, 1.0], [0.3, 0.6]])
    belief = b.DirichletMDP.flat(TabularMDP.from_dense(P, R, 0.9), 0.8)
    size = 2 * (len(P) ** 2 * 2)
    from bayesrl.risk import k_of_n

    patch.setattr(k_of_n, "BLOCK", k_of_n.BLOCK * 3 * size)
    solver = b.make("k-of-n", k=2, n=3, horizon=2, iterations=20, samples=20, variant="plus")
    solution = solver.solve(belief, default_rng(1))
    found += [solution.strategy, list(solution.value)]
    return found


@law("risk._regret_matching:WIDTH", rounding=1e-12, whole=64)
def games_of_listed_models(patch):
    from bayesrl.beliefs import FiniteMDPs
    from bayesrl.risk import _regret_matching, k_of_n

    uncompiled(patch, _regret_matching)
    patch.setattr(k_of_n, "returns_of", _regret_matching.returns_of)
    patch.setattr(k_of_n, "iterate", _regret_matching.iterate)
    rng = default_rng(2)
    models = [TabularMDP.from_dense(rng.dirichlet(np.ones(2), (2, 2)), rng.normal(size=(2, 2)), 0.9) for _ in range(9)]
    belief = FiniteMDPs(tuple(models), np.full(9, 1 / 9))
    solution = b.make("k-of-n", k=8, n=9, horizon=2, iterations=4).solve(belief, default_rng(3))
    return [solution.strategy, [solution.value]]


@law("risk.samples:CELLS")
def drawn_values(patch):
    from bayesrl.risk import samples as _samples

    belief = SparseDirichletMDP.flat(b.make_world("chain"))
    patch.setattr(_samples, "CELLS", _samples.CELLS * 25)
    return [_samples.value_samples(belief, np.zeros(5, int), 10, default_rng(4))]


# Kernels -------------------------------------------------------------------------------------------------------------


@law("kernels.dynamic_programming.bellman:BLOCK", rounding=1e-13)
def backups(patch):
    from bayesrl.kernels.dynamic_programming import bellman
    from bayesrl.models.mdp import model_of

    uncompiled(patch, bellman)
    rng, S, A = default_rng(5), 9, 2
    m = model_of(TabularMDP.from_dense(rng.dirichlet(np.ones(S), (S, A)), rng.normal(size=(S, A)), 0.9))
    assert len(m.matrix)
    v, q, new = rng.normal(size=S), np.zeros((S, A)), np.zeros(S)
    pi = rng.integers(A, size=S)
    found = [bellman.dot(rng.normal(size=20), rng.normal(size=20)), bellman.backup(m, v, q), q]
    found += [bellman.policy_backup(m, pi, v, new), new.copy()]
    changes = bellman.sweep(m, new, pi, np.arange(S))
    return [*found, new, pi, changes]


@law("kernels.dynamic_programming.retirement:STRIDE", whole=8, rounding=1e-8)
@law("kernels.dynamic_programming.retirement:LANES", whole=21, rounding=1e-8)
def advantages(patch):
    """Values of playing on, for 21 incomes, as many at a time as there are lanes.

    The band is that of the incomes evaluated together, and `drop` bounds what it leaves out.
    """
    from bayesrl.kernels.dynamic_programming import retirement

    uncompiled(patch, retirement)
    incomes, found = np.linspace(0.3, 0.7, 21), []
    lattice = retirement.Lattice(1.0, 1.0, 0.8, 30, 5.0, True, 1e-10)
    t, r = np.array([3, 1, 2, 0, 0]), np.array([5, 4, 3, 1, 0])
    L = retirement.LANES
    for begin in range(0, 21, L):
        lam, C = np.full(L, incomes[-1]), np.empty((5, L))
        lam[: len(incomes[begin : begin + L])] = incomes[begin : begin + L]
        retirement.advantage(lam, t, r, lattice, C)
        found.append(C)
    return [np.concatenate(found, axis=1)[:, :21]]


@law("kernels.dynamic_programming.gittins_roots:SWEEPS", whole=32, rounding=4e-7)
def indices(patch):
    """Brackets of the indices, each at most 2e-7 wide."""
    from bayesrl.kernels.dynamic_programming import gittins_roots as calibration
    from bayesrl.kernels.dynamic_programming import retirement

    uncompiled(patch, retirement)
    uncompiled(patch, calibration)
    lattice = retirement.Lattice(1.0, 1.0, 0.7, 30, 1 / 0.3, True, 1e-9)
    patch.setattr(calibration, "advantage", retirement.advantage)
    t, r = np.array([2, 1, 0, 1, 0]), np.array([2, 2, 1, 1, 0])
    return list(calibration.calibrate(t, r, lattice, 2e-7))


@law("kernels.search.uct_on_histories:FIRST_CAPACITY", whole=1000)
def searched_trees(patch):
    """A search by a clock of the test's own, in which a simulation takes a millisecond."""
    from bayesrl.kernels.search import uct_on_histories

    now, search = [0.0], uct_on_histories.search

    def timed(*given):
        now[0] += given[-1] / 1000.0
        return search(*given)

    for module in ("kernels.search.uct_on_histories", "bamdp.search.bamcp"):
        patch.setattr(f"bayesrl.{module}.perf_counter", lambda: now[0])
    patch.setattr(uct_on_histories, "search", timed)
    planner = b.make("bamcp", depth=8, milliseconds=100.0, reuse=True)
    decision = planner.plan(b.DirichletMDP.flat(b.make_world("chain")), 0, None, default_rng(6))
    tree, n = decision.memory.tree, int(decision.memory.tree.used[0])
    assert n > 20
    return [decision.info["simulations"], decision.info["q"], *(x[:n] for x in tree[:5]), tree.spread]


@law("kernels.random.stick_breaking:PIECES", whole=64)
def lists_of_pieces(patch):
    from bayesrl.kernels.random import stick_breaking

    uncompiled(patch, stick_breaking)
    alpha = np.full((3, 70), 0.01)
    alpha[1, 5] += 4.0
    rows, a, size = np.array([0, 1, 2, 1]), np.full(3, 0.01), np.full(3, 70)
    return list(stick_breaking.listed_rows(rows, a, size, alpha, default_rng(7)))


# Chains --------------------------------------------------------------------------------------------------------------


@law("beliefs.rewards._policy_walk:FRESH", rounding=1e-9)
def walks(patch):
    from bayesrl.beliefs.rewards import _on_lattice, _policy_walk
    from bayesrl.inverse import BIRL, GaussianPrior

    uncompiled(patch, _policy_walk)
    patch.setattr(_on_lattice, "policy_walk", _policy_walk.policy_walk)
    mdp = TabularMDP.from_dense(
        [[[1.0, 0.0, 0.0]] * 2, [[0.0, 0.5, 0.5]] * 2, [[0.2, 0.8, 0.0]] * 2], [[0.0] * 2] * 3, 0.7
    )
    phi = default_rng(8).normal(size=(3, 2, 2))
    belief = BIRL(mdp, phi, GaussianPrior(0.2, 0.5, -1.0, 1.0), 1.7, 0.25, [0.5, 0.0])
    new = belief.update_many([[(0, 1), (1, 0), (2, 1)]]).refresh(default_rng(9), 40)
    return [new.samples, new.at, new.accepted]


@law("multitask.multitask_gptd_dp:BLOCK")
def sweeps_over_tasks(patch):
    tasks = [([[1.0]], [1.5]), ([[0.8], [0.5]], [1.2, 0.9]), ([[1.0]], [-0.9]), ([[0.6]], [-0.5])]
    solver = b.make("multitask-gptd-dp", noise=0.6, strength=0.3, degrees=3.0, scale=[[0.5]], sweeps=30, burn_in=11)
    made = solver.solve(tasks, default_rng(10))
    return [made.weights, made.samples, made.assignments, made.class_means, made.class_covariances]


@law("inverse.map_birl:KEPT")
def kept_maps(patch):
    world = b.make_world("gridworld-blocks", size=4)
    pairs = [[(0, 1), (1, 1), (5, 2)], [(3, 0), (2, 2)]]
    belief = b.inverse.BIRL(world, features=world.features, rationality=3.0).update_many(pairs)
    solution = b.make("map-birl", restarts=2, steps=20).solve(belief, default_rng(11))
    return [solution.weights, solution.trace]


# Files ---------------------------------------------------------------------------------------------------------------


@law("io.archive:CHUNK", whole=2**20)
def loaded_beliefs(patch):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "belief.zip"
        b.save(b.DirichletMDP.flat(b.make_world("chain"), 0.3).update(b.Transition(0, 1, 2.0, 0)), path)
        loaded = b.load(path)
    return [loaded.alpha, loaded.outcomes.reward, loaded.entries]


# The law -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("constant", LAWS)
def test_a_small_block_gives_the_result_of_one(constant, size, monkeypatch):
    compute, rounding, whole = LAWS[constant]
    module, name = constant.split(":")
    found = []
    for value in (whole, size):
        with monkeypatch.context() as patch:
            patch.setattr(import_module(f"bayesrl.{module}"), name, value)
            found.append(compute(patch))
    assert len(found[0]) == len(found[1]) > 0
    for one, other in zip(*found, strict=True):
        if rounding:
            np.testing.assert_allclose(other, one, rtol=rounding, atol=rounding)
        else:
            np.testing.assert_array_equal(other, one)


# What there is in the sources ----------------------------------------------------------------------------------------

OTHER = {
    "_shown:FIRST": "how many rows of a long list a prompt shows",
    "lab.tour:LEAST": "the fewest runs of a part of the tour",
    "lab.tour:PAGE": "how many products the shop of one part suggests at once",
    "lab.compare:BLOCK": "a block has streams of its own, so its size is a part of what a seed means",
    "beliefs.dynamics.linear_gaussian_dynamics:MOST": "the largest array that is allowed",
    "models.pomdp_file:MOST": "the largest table that is read",
    "models.pomdp_file:NAMES": "the largest number that a short file may declare",
    "lab.measures.episodes:LAST": "how many episodes count as the last ones",
}
"""Constants that do change results, with the reason."""
NUMBER, ASSIGNED = re.compile(r"[\d_ *()+-]+"), re.compile(r"^[A-Z][A-Z_]* = \d", re.MULTILINE)


def whole_numbers(tree):
    """The constants of a module that are whole numbers of at least 2, by name."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and NUMBER.fullmatch(ast.unparse(node.value)):
            value = eval(ast.unparse(node.value))
            if isinstance(value, int) and value >= 2:
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def cuts(tree):
    """The names by which a module may cut.

    They are the step of a range, an end of a slice, a side of a quotient, of a smaller or of a larger one of two
    numbers, and the size of a new array.
    """
    for node in ast.walk(tree):
        parts = []
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if called in ("empty", "zeros", "full"):
                parts = [x for x in ast.walk(node) if x is not node.func]
            elif called in ("range", "min", "max"):
                parts = node.args[2:] if called == "range" else node.args
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Slice):
            parts = [x for end in (node.lower, node.upper) if end for x in ast.walk(end)]
        yield from (x.id for x in parts if isinstance(x, ast.Name))


def test_every_constant_that_cuts_is_named_in_a_test():
    """In quotes, in a test that names its module too. Pictures, words and worlds have sizes of their own."""
    tests = [path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py")]
    unnamed = []
    for path in ROOT.rglob("*.py"):
        text, module = path.read_text("utf-8"), ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if module.startswith(("cli.", "lab.plots.", "worlds.", "testing.")) or not ASSIGNED.search(text):
            continue
        tree = ast.parse(text)
        for name in {*whole_numbers(tree)} & {*cuts(tree)}:
            constant = f"{module}:{name}"
            if constant not in OTHER and constant not in LAWS:
                unnamed += (
                    [constant]
                    if not any(path.stem in x and (f'"{name}"' in x or f'.{name}"' in x) for x in tests)
                    else []
                )
    assert not unnamed
