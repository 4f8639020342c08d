"""The tables and the picture of docs/pac-bayes.md: `python docs/pac_bayes.py` prints and draws them."""

from bisect import bisect_left
from collections.abc import Callable
from math import log, sqrt

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl.models.mdp import TabularMDP
from bayesrl.pacbayes import bandit_bound, function_approximation_bound, model_bound, value_bound

S, A, GAMMA, DELTA = 5, 2, 0.9, 0.05
RANGE = 1.0 / (1.0 - GAMMA)
EPSILON = 0.1
UNIT = 1.0 - GAMMA


def first(below: Callable[[int], bool]) -> int:
    """The least number of data for which a bound is below what is certain anyway."""
    return 1 + bisect_left(range(1, 2**50), True, key=below)


def rows(kl: float) -> dict[str, int]:
    """The number of data that each bound needs."""
    return {
        "`pac-bayes-model`": first(lambda n: model_bound(kl, S, GAMMA, n, DELTA) < RANGE),
        "`pac-bayes-model`, values in units of their range": first(
            lambda n: model_bound(kl, S, GAMMA, n, DELTA, UNIT) < 1.0
        ),
        '`pac-bayes-model`, `form="l1"`': first(lambda n: model_bound(kl, S, GAMMA, n, DELTA, form="l1") < RANGE),
        "`pac-bayes-value`": first(lambda n: value_bound(kl, S, A, GAMMA, n, DELTA, 0.0).total < RANGE),
        "`pac-bayes-function-approximation`": first(
            lambda n: function_approximation_bound(kl, n, DELTA, 0.0, RANGE**2) < RANGE**2
        ),
        "`pac-bayes-function-approximation`, for ‖V − V^π‖": first(
            lambda n: sqrt(function_approximation_bound(kl, n, DELTA, 0.0, RANGE**2)) / (1.0 - GAMMA) < RANGE
        ),
        "`pac-bayes-bandit`": first(lambda t: bandit_bound(kl, t, DELTA, EPSILON, S) < t),
        '`pac-bayes-bandit`, `form="bernstein"`': first(
            lambda t: bandit_bound(kl, t, DELTA, EPSILON, S, "bernstein") < t
        ),
    }


def errors(visits: list[int], runs: int = 200) -> tuple[list[float], np.ndarray]:
    """The largest error over the policy with the best estimate, S = 2 and discount .5, (n, runs)."""
    rng = default_rng(0)
    P = rng.dirichlet([1.0, 1.0], (2, 2))
    R = np.array([[1.0, 0.0], [0.0, 0.8]])
    policies = [(i, j) for i in range(2) for j in range(2)]
    true = [b.models.evaluate_policy(TabularMDP.from_dense(P, R, 0.5), pi) for pi in policies]
    found = np.empty((len(visits), runs))
    for i, n in enumerate(visits):
        for run in range(runs):
            seen = np.array([[rng.multinomial(n, P[s, a]) / n for a in range(2)] for s in range(2)])
            mdp = TabularMDP.from_dense(seen, R, 0.5)
            V = [b.models.evaluate_policy(mdp, pi) for pi in policies]
            best = int(np.argmax([v[0] for v in V]))
            found[i, run] = np.abs(V[best] - true[best]).max()
    return [model_bound(log(4), 2, 0.5, n, DELTA) for n in visits], found


def main() -> None:
    """Print the table and draw the picture."""
    few, many = rows(0.0), rows(S * log(A))
    print("| bound | KL = 0 | KL = ln 32 |\n|---|---|---|")
    for name in few:
        print(f"| {name} | {few[name]:,} | {many[name]:,} |")
    visits = [3, 5, 10, 20, 40, 60, 100, 200, 500, 1000]
    bound, error = errors(visits)
    l1 = [model_bound(log(4), 2, 0.5, n, DELTA, form="l1") for n in visits]
    b.lab.plot_bound(
        visits,
        {"model_bound": bound, 'model_bound, form="l1"': l1},
        error,
        "docs/images/pac-bayes-bound.png",
        vacuous=2.0,
    )


if __name__ == "__main__":
    main()
