"""Risk: processor time beside plain Python and peers, in one run, one thread; and how errors fall with iterations.

Each function is one measurement. Compilation and imports are excluded. A peer that is not installed is left out with a
message.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from tests.helpers.plain_k_of_n import Program, k_of_n, nested, posterior

import bayesrl as b
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import value_samples

REPEATS = 5


def seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """The median processor time of a call."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return float(np.median(found))


# Draws of values ------------------------------------------------------------------------------------------------------


def one_by_one(belief: b.DirichletMDP, mu: Any, n: int, rng: Generator) -> Any:
    """A Python loop over `sample_mdp` and `numpy.linalg.solve`."""
    V, identity = np.empty((n, belief.n_states)), np.eye(belief.n_states)
    for i in range(n):
        model = belief.sample_mdp(rng)
        P = np.einsum("sa,say->sy", mu, model.matrix.reshape(*mu.shape, -1))
        V[i] = np.linalg.solve(identity - model.gamma * P, (mu * model.mean_reward).sum(axis=1))
    return V


def all_at_once(belief: b.DirichletMDP, mu: Any, n: int, rng: Generator) -> Any:
    """NumPy over arrays: gamma variates (n, cells), matrices by one product, `numpy.linalg.solve` of all systems."""
    o, S = belief.outcomes, belief.n_states  # one group for each pair
    g, k = np.nonzero(o.valid)
    s, a = np.divmod(g, o.n_actions)
    x = rng.standard_gamma(belief.alpha[g, k], (n, len(g)))
    x /= np.repeat(np.add.reduceat(x, np.flatnonzero(np.diff(g, prepend=-1)), axis=1), o.size, axis=1)
    place, pay, cells = np.zeros((len(g), S * S)), np.zeros((len(g), S)), np.arange(len(g))
    place[cells, s * S + o.succ[s, a, k]], pay[cells, s] = mu[s, a], mu[s, a] * o.reward[s, a, k]
    P = (x @ place).reshape(n, S, S)
    return np.linalg.solve(np.eye(S) - belief.gamma * P, (x @ pay)[:, :, None])[:, :, 0]


def value_draws(n: int = 20_000) -> None:
    """Draws of a policy's value on machine-replacement; least ratios 15 (loop) and 3 (batched NumPy)."""
    mdp = b.make_world("machine-replacement").mdp
    belief = b.DirichletMDP(mdp.outcomes, 10.0 * mdp.prob, mdp.gamma)
    for name, mu in (
        ("the optimal policy", np.eye(2)[[0, 0, 0, 0, 0, 1, 1, 1, 0, 1]]),
        ("uniform", np.full((10, 2), 0.5)),
    ):
        methods = {value_samples: n, all_at_once: n, one_by_one: n // 20}
        means = [method(belief, mu, m, default_rng(0)).mean() for method, m in methods.items()]
        assert np.ptp(means) < 0.3, means
        ours, batched, loop = np.array(
            [
                [seconds(lambda: method(belief, mu, m, default_rng(0)), 1) / m for method, m in methods.items()]  # noqa: B023
                for _ in range(4 * REPEATS)
            ]
        ).T
        print(
            f"value_samples, {name}: {1e6 * np.median(ours):.2f} us a draw; batched NumPy takes {ratio(batched / ours)}"
        )
        print(f"  times as long, a Python loop {ratio(loop / ours)} (medians; quartiles of the rounds in brackets)")


def ratio(x: Any) -> str:
    """A median with the quartiles of its rounds."""
    low, middle, high = np.quantile(x, (0.25, 0.5, 0.75))
    return f"{middle:.1f} [{low:.1f}, {high:.1f}]"


# k of n --------------------------------------------------------------------------------------------------------------


def iteration(belief: object, **settings: int) -> float:
    """Processor time of an iteration of k-of-n, draws of models included."""
    few, many = (b.make("k-of-n", iterations=m, samples=2, **settings) for m in (1, 401))
    few.solve(belief, default_rng(0))
    times = [seconds(lambda made=made: made.solve(belief, default_rng(0))) for made in (few, many)]
    return (times[1] - times[0]) / 400


def k_of_n_iterations() -> None:
    """An iteration of k-of-n beside the plain transcription, and per information set beside OpenSpiel's CFR (C++)."""
    print("k-of-n, an iteration on a posterior of four models:")
    for states, actions, horizon, k, n in ((3, 2, 3, 1, 2), (3, 2, 4, 2, 5), (4, 3, 4, 2, 10), (4, 3, 4, 10, 100)):
        belief = posterior(1, 4, S=states, A=actions)
        sets = len(b.make("k-of-n", k=k, n=n, horizon=horizon, iterations=1).solve(belief, default_rng(0)).sets)
        ours = iteration(belief, k=k, n=n, horizon=horizon)
        drawn = default_rng(0).choice(4, n, p=belief.posterior())
        arguments = nested(belief.models), [drawn.tolist()], k, horizon, 0.95, belief.models[0].outcomes.start.tolist()
        plain = seconds(lambda arguments=arguments: k_of_n(*arguments), 3)
        print(
            f"  {sets:5d} information sets, {k} of {n}: {1e6 * ours:.0f} us, {1e9 * ours / sets:.0f} ns per set;"
            f" plain Python takes {plain / ours:.0f} times as long"
        )
    stock = b.DirichletMDP.structured(b.make_world("inventory", capacity=3))
    print(f"  inventory of capacity 3, 1 of 10, 3 steps: {1e6 * iteration(stock, k=1, n=10, horizon=3):.0f} us")
    try:
        import pyspiel
    except ImportError:
        print("  OpenSpiel is not installed (pip install open_spiel)")
        return
    for name, iterations in (("kuhn_poker", 1000), ("leduc_poker", 20)):
        game = pyspiel.load_game(name)
        solver = pyspiel.CFRPlusSolver(game)
        took = seconds(lambda s=solver, m=iterations: [s.evaluate_and_update_policy() for _ in range(m)]) / iterations
        sets = {"kuhn_poker": 12, "leduc_poker": 936}[name]
        print(f"  OpenSpiel, CFR+ on {name}, {sets} information sets: {1e9 * took / sets:.0f} ns per set")


def losses(iterations: int, seeds: int, **settings: str) -> np.ndarray:
    """The linear program's value minus that of k-of-n, for six random posteriors and some seeds, (6, seeds)."""
    found = np.zeros((6, seeds))
    for i in range(6):
        belief, horizon, (k, n) = posterior(i, 3 + i % 2), 2 + i % 2, (1, 3) if i % 3 else (2, 4)
        made = b.make("k-of-n", k=k, n=n, horizon=horizon, iterations=iterations, **settings)
        best = Program(belief, horizon).best(k, n)
        found[i] = [best - made.solve(belief, default_rng(seed)).value for seed in range(seeds)]
    return found


def k_of_n_errors() -> None:
    """The loss of k-of-n against iterations: means over posteriors and seeds."""
    budgets = [100, 300, 1000, 3000, 10_000, 30_000, 100_000]
    print("k-of-n, loss of value after", *budgets, "iterations:")
    for variant in ("plus", "plain"):
        of_each = np.array([losses(m, 4, variant=variant).mean(axis=1) for m in budgets])
        loss = of_each.mean(axis=1)
        slope, each = (np.polyfit(np.log(budgets), np.log(x), 1)[0] for x in (loss, of_each))
        print(f"  {variant}:", *(f"{x:.5f}" for x in loss), f"slope {slope:.2f}, of each", each.round(2))
        drawn = losses(10_000, 10, variant=variant, strategy="random").ravel()
        print(f"    the strategy of an iteration drawn from 10000: {drawn.mean():.4f}, at most {drawn.max():.4f}")


# Gaussian rewards ----------------------------------------------------------------------------------------------------


def percentile_rewards(n_states: int = 200, epsilon: float = 0.1, repeats: int = 41) -> None:
    """`percentile-rewards` beside cvxpy on the same program: `problem.solve` alone, the program already built."""
    import cvxpy as cp
    from scipy import sparse
    from scipy.stats import norm

    belief = b.make_world("machine-costs", n_states=n_states).belief
    (m, C), P = belief.reward_moments(), belief.mdp.matrix
    flow = sparse.csr_array(np.kron(np.eye(n_states), np.ones((1, 2))) - belief.gamma * P.T)
    root = sparse.diags_array(np.sqrt(np.diagonal(C))).tocsr()

    def program() -> cp.Problem:
        x = cp.Variable(2 * n_states, nonneg=True)
        aim = cp.Maximize(m.ravel() @ x - norm.ppf(1.0 - epsilon) * cp.norm(root @ x))
        return cp.Problem(aim, [flow @ x == belief.outcomes.start])

    solver = b.make("percentile-rewards", epsilon=epsilon)
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(seconds(partial(solver.solve, belief), 1))
        built = program()  # a new one: cvxpy keeps what it has compiled
        theirs.append(seconds(partial(built.solve, solver=cp.CLARABEL), 1))
    ratio, n = np.array(ours[1:]) / np.array(theirs[1:]), repeats - 1
    low, high = np.quantile(ratio, [0.1, 0.9])
    print(
        f"percentile-rewards, machine-costs with {n_states} states: {1e3 * np.median(ours[1:]):.1f} ms, cvxpy's solve "
        f"{1e3 * np.median(theirs[1:]):.1f} ms, ratio {np.median(ratio):.2f} ({low:.2f} to {high:.2f}, 80% of {n})"
    )


# Scenarios -----------------------------------------------------------------------------------------------------------


def scenarios(
    n: int, S: int = 100, A: int = 4, K: int | None = None, gamma: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Transitions (n, S, A, S) with K successors in each row, and rewards (S, A)."""
    rng = default_rng(0)
    P = np.zeros((n, S, A, S))
    for s in range(S):
        for a in range(A):
            after = rng.permutation(S)[: K or S]
            P[:, s, a, after] = rng.dirichlet(np.ones(len(after)), n)
    return P, rng.normal(size=(S, A))


def max_min() -> None:
    """Rectangular max-min over 100 scenarios beside 100 value iterations of pymdptoolbox, and its time in scenarios."""
    tol, gamma = 1e-6, 0.95
    for K in (None, 5):
        P, R = scenarios(100, K=K)
        models = [TabularMDP.from_dense(p, R, gamma) for p in P]
        solver = b.make("scenario-max-min", tol=tol)
        solver.solve(models[:2])
        ours = seconds(lambda solver=solver, models=models: solver.solve(models))
        parts = [seconds(lambda n=n, models=models, solver=solver: solver.solve(models[:n])) / n for n in (25, 50, 100)]
        print(
            f"scenario-max-min, 100 scenarios of 100 states and 4 actions, {K or 100} next states: {1e3 * ours:.0f} ms;"
        )
        print("  milliseconds for each of 25, 50, 100 scenarios: " + ", ".join(f"{1e3 * part:.3f}" for part in parts))
        try:
            from mdptoolbox.mdp import ValueIteration
        except ImportError:
            print("  pymdptoolbox is not installed")
            continue

        def peer(P: np.ndarray = P, R: np.ndarray = R) -> None:
            for p in P:
                ValueIteration(p.transpose(1, 0, 2), R, gamma, epsilon=tol).run()

        theirs = seconds(peer)
        print(f"  100 value iterations of pymdptoolbox at the same tolerance: {theirs / ours:.1f} times as long")


def main() -> None:
    """Run all measurements."""
    for measure in (value_draws, max_min, k_of_n_iterations, k_of_n_errors, percentile_rewards):
        measure()


if __name__ == "__main__":
    main()
