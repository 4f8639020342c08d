"""Inverse reinforcement learning: processor time beside plain forms and peers, in one run, one thread.

Each function is one measurement. Compilation and imports are excluded. A peer that is not installed is left out with a
message.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl.inverse import BIRL, demonstrate

ROUNDS = 7


def seconds(call: Callable[[], object]) -> float:
    """The processor time of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def ratio(x: Any) -> str:
    """A median with the quartiles of its rounds."""
    low, middle, high = np.quantile(x, (0.25, 0.5, 0.75))
    return f"{middle:.0f} [{low:.0f}, {high:.0f}]"


# PolicyWalk ----------------------------------------------------------------------------------------------------------


def by_value_iteration(belief: BIRL, sweeps: int, rng: Any, warm: bool, tol: float = 1e-6) -> Any:
    """PolicyWalk with value iteration in NumPy for every proposal: from zero, or from the values before the move."""
    phi, gamma, c, n = belief.rewards.features, belief.gamma, belief.confidence, belief.counts
    P, (S, A, d) = belief.problem.dense()[0].reshape(-1, belief.n_states), belief.rewards.features.shape
    lattice, at, draws = belief.lattice, belief.at.copy(), []

    def solved(w: Any, V: Any) -> tuple[Any, float]:
        R = phi @ w
        while True:
            Q = R + gamma * (P @ V).reshape(S, A)
            new = Q.max(axis=1)
            if np.abs(new - V).max() < tol * (1.0 - gamma) / gamma:
                q = c * Q[n.states]
                top = q.max(axis=1, keepdims=True)
                return new, float((n.taken * (q - top - np.log(np.exp(q - top).sum(axis=1, keepdims=True)))).sum())
            V = new

    V, L = solved(lattice.weights(at), np.zeros(S))
    for _ in range(sweeps):
        for _ in range(d):
            i, sign, u = int(rng.random() * d), 1 if rng.random() < 0.5 else -1, rng.random()
            if not 0 <= at[i] + sign < len(lattice.log_prior):
                continue
            w = lattice.weights(at)
            w[i] += sign * lattice.step
            V_, L_ = solved(w, V if warm else np.zeros(S))
            if np.log(u) < lattice.log_prior[at[i] + sign] - lattice.log_prior[at[i]] + L_ - L:
                at[i], V, L = at[i] + sign, V_, L_
        draws.append(lattice.weights(at))
    return np.array(draws)


def policy_walk() -> None:
    """A proposal of PolicyWalk on 64 states beside value iteration for every proposal; least ratio 50."""
    warnings.simplefilter("ignore")  # short chains have not mixed
    for block, step in ((2, 0.05), (2, 0.25), (1, 0.05)):
        world = b.make_world("gridworld-blocks", block=block, noise=0.4 if block == 2 else 0.3)
        demos = demonstrate(world, world.features @ world.weights, 10, 60, default_rng(0), confidence=5.0)
        belief = BIRL(world, world.features, confidence=5.0, step=step).update_many(demos).refresh(default_rng(0), 200)
        belief = belief.update_many(demos[:1])  # from here, without draws
        few, many = 64 // belief.n_weights, 200 * 16 // belief.n_weights
        slow = by_value_iteration(belief, few, default_rng(1), True, 1e-10)
        assert (slow == belief.refresh(default_rng(1), few).samples).all()
        times = np.array([round_of(belief, few, many) for _ in range(ROUNDS)])
        cold, warm = (ratio(times[:, i] / times[:, 0]) for i in (1, 2))
        print(
            f"PolicyWalk, 64 states, {belief.n_weights} weights, step {step}: {1e6 * np.median(times[:, 0]):.1f} us a"
            f" proposal. Value iteration to 1e-6 takes {cold} times as long from zero, {warm} from the last values"
            f" (medians; quartiles of {ROUNDS} rounds in brackets)."
        )


def round_of(belief: BIRL, few: int, many: int) -> list[float]:
    """Seconds for a proposal: ours, and by value iteration from zero and from the last values."""
    ours = seconds(lambda: belief.refresh(default_rng(1), many)) / many
    plain = [seconds(lambda w=w: by_value_iteration(belief, few, default_rng(1), w)) / few for w in (False, True)]
    return [x / belief.n_weights for x in (ours, *plain)]


def main() -> None:
    """Run all measurements."""
    policy_walk()


if __name__ == "__main__":
    main()
