"""The tables of docs/multitask.md, "New weights of the same rewards": `python docs/variable_rewards.py`.

Forty problems of each kind, with thirty tasks each. "grid": 8 by 8 cells, a move succeeds with probability .8 and is
random otherwise; five random cells have a feature each, and weights are uniform on [0, 1]. "dense": 50 states, 4
actions, sparse Dirichlet rows; five Gaussian features of every pair, Gaussian weights. The discount is .95. Printed
for some tasks, by number: policies that policy iteration evaluates with the cache and from scratch, and the loss per
step against the best policy over the first 50 steps if the start of each acts unchanged. From scratch, the start is
greedy for rewards. Intervals are 95%.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

import bayesrl as b
from bayesrl.models.solve import optimal_total, policy_total
from bayesrl.multitask import VariableReward
from bayesrl.statistics import mean_interval

Table = NDArray[np.float64]
SHOWN = (0, 1, 2, 4, 9, 19, 29)
PROBLEMS, TASKS, STEPS, GAMMA = 40, 30, 50, 0.95


def grid(rng: Generator) -> tuple[Table, Table, Table]:
    """Rows, features and the weights of the tasks."""
    n, k = 8, 5
    P = np.zeros((n * n, 4, n * n))
    moves = ((-1, 0), (1, 0), (0, -1), (0, 1))
    for s in range(n * n):
        reached = [min(max(s // n + dy, 0), n - 1) * n + min(max(s % n + dx, 0), n - 1) for dy, dx in moves]
        for a in range(4):
            for other in range(4):
                P[s, a, reached[other]] += 0.05 + 0.8 * (other == a)
    F = np.zeros((n * n, 4, k))
    F[rng.choice(n * n, k, replace=False), :, np.arange(k)] = 1.0
    return P, F, rng.random((TASKS, k))


def dense(rng: Generator) -> tuple[Table, Table, Table]:
    """The same, where rewards are everywhere."""
    P = rng.dirichlet(np.full(50, 0.1), (50, 4))
    return P, rng.standard_normal((50, 4, 5)), rng.standard_normal((TASKS, 5))


def measured(kind: Callable[[Generator], tuple[Table, Table, Table]], criterion: str, seed: int) -> Table:
    """For each task: policies with the cache and from scratch, losses of both starts, and the size of the cache."""
    P, F, weights = kind(default_rng(seed))
    S, A, _ = F.shape
    start = np.full(S, 1.0 / S)
    mdp = b.TabularMDP.from_dense(P, np.zeros((S, A)), GAMMA, start=start)
    belief = empty = VariableReward(mdp, F, criterion=criterion)
    found = []
    for w in weights:
        task = b.TabularMDP.from_dense(P, F @ w, GAMMA, start=start)
        first = myopic = np.argmax(F @ w, axis=1)
        if len(belief.policies):
            first = np.array([belief.policies[belief.best(w, s), s] for s in range(S)])
        lost = [(optimal_total(task, STEPS) - policy_total(task, policy, STEPS)) / STEPS for policy in (first, myopic)]
        belief = belief.update(w)
        found.append([belief.iterations[-1], empty.update(w).iterations[-1], *lost, len(belief.policies)])
    return np.array(found)


def main() -> None:
    """Print all tables."""
    for kind, criterion in ((grid, "discounted"), (grid, "average"), (dense, "discounted")):
        runs = np.array([measured(kind, criterion, seed) for seed in range(PROBLEMS)])
        print(kind.__name__, criterion)
        for t in SHOWN:
            cells = [mean_interval(runs[:, t, i]) for i in range(runs.shape[2])]
            print(f"| {t + 1} | " + " | ".join(f"{c.mean:.2f} ({c.low:.2f} to {c.high:.2f})" for c in cells) + " |")


if __name__ == "__main__":
    main()
