"""Gopalan, Mannor and Mansour's bound on the plays of worse arms, for finitely many Bernoulli models (survey §3.3)."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.bandits.bandit_bounds import bernoulli_kl
from bayesrl.checks import Floats, array, integer, number
from bayesrl.errors import InvalidArgument


def gopalan(models: ArrayLike, truth: int, steps: int, epsilon: float = 0.1) -> int:
    """C(log T): Thompson sampling over finitely many Bernoulli models plays worse arms B + C(log T) times (leading).

    models[i, a] is the mean of arm a in model i; model `truth` is the true one. The statement holds with probability
    1 - delta for T large enough, and B does not depend on T. The worse arms are dropped for good one after the other.
    Let a_k be the k-th arm dropped and z_k the vector of plays at that time. With L = (1 + e) / (1 - e) log T, C is

        max sum_k z_k(a_k):  z_k <= z_{k+1},  z_i(a_k) = z_k(a_k) for i >= k,
                             min <z_k, D_theta> >= L > min <z_k - e(a_k), D_theta>,

    where D_theta(a) = KL(true arm a, arm a of theta). The minima are over S'_{a_k}, the models whose best arm is a_k
    and that agree with the truth on the best arm a*; playing a* does not refute them. The survey prints >= for > and
    takes the models that agree on a_k (ERRATA 13, 14). An arm without such models is played a bounded number of times
    and is left out.
    Cost: one integer program for each order of the arms and each choice of the last models, so few arms and models.
    """
    owner = "gopalan"
    means = array(owner, "models", models, (None, None), low=0.0)
    if means.max() > 1.0:
        raise InvalidArgument(owner, "models", "probabilities", float(means.max()))
    true = means[integer(owner, "truth", truth, 0, len(means) - 1)]
    e = number(owner, "epsilon", epsilon, 0.0, 1.0, below=True)
    L = (1.0 + e) / (1.0 - e) * np.log(number(owner, "steps", steps, 2.0))
    best, star = means.argmax(axis=1), int(true.argmax())
    D = np.minimum(bernoulli_kl(true, means), 2.0 * L)  # (N, K), finite; one play refutes a model beyond L
    confusing = {a: D[(best == a) & (D[:, star] == 0.0)] for a in range(means.shape[1]) if a != star}
    arms = [a for a, rows in confusing.items() if len(rows)]
    most = 0
    for order in itertools.permutations(arms):
        for last in itertools.product(*(range(len(confusing[a])) for a in order)):
            most = max(most, _most_plays(order, last, confusing, L))
    return most


def _most_plays(order: tuple[int, ...], last: tuple[int, ...], confusing: dict[int, Floats], L: float) -> int:
    """Solve the integer program for one order of dropping; model last[k] of S'_{a_k} is refuted last."""
    from scipy import optimize  # this import takes a third of a second

    n = len(order)
    if n == 0:
        return 0
    rows, low, high = [], [], []  # constraints on z[k, j], the plays of order[j] when order[k] is dropped

    def constrain(row: Floats, at_least: float, at_most: float) -> None:
        rows.append(row.ravel())
        low.append(at_least)
        high.append(at_most)

    for k, a in enumerate(order):
        for i, D in enumerate(confusing[a][:, list(order)]):
            row = np.zeros((n, n))
            row[k] = D
            # L > <z - e, D> is written as <z, D> <= L + D(a_k) - 1e-9
            constrain(row, L, L + D[k] - 1e-9 if i == last[k] else np.inf)
        for j in range(n):
            if k + 1 < n:
                row = np.zeros((n, n))
                row[k + 1, j], row[k, j] = 1.0, -1.0
                constrain(row, 0.0, 0.0 if j <= k else np.inf)
    found = optimize.milp(
        -np.eye(n).ravel(),
        integrality=np.ones(n * n),
        bounds=optimize.Bounds(0.0, np.inf),
        constraints=optimize.LinearConstraint(np.array(rows), low, high),
    )
    return round(-found.fun) if found.status == 0 else 0
