"""A Gittins table of 1830 Bernoulli states (alpha + beta <= 61) beside markovianbandit-pkg, in one run.

The peer takes a finite bandit process, so it gets the triangle of the 1830 posteriors; posteriors of the last row are
absorbing. `gittins_index_process` on the same triangle shows the cost of the general method. Errors are distances to
the middle of `gittins_bounds`, which are proven and less than 5e-7 apart. Nothing is cached between calls, and
compilation is excluded on both sides. Times are the best of a few alternating repeats.
"""

from __future__ import annotations

import contextlib
import io
import time

import numpy as np

from bayesrl.bandits.gittins import gittins_bounds, gittins_index, gittins_index_normal, gittins_index_process

STATES = [(a, n - a) for n in range(2, 62) for a in range(1, n)]


def triangle(states: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Transitions and rewards of the posteriors; those of the last row are absorbing."""
    place = {state: i for i, state in enumerate(states)}
    P, r = np.zeros((len(states), len(states))), np.empty(len(states))
    for (a, b), i in place.items():
        p = r[i] = a / (a + b)
        P[i, place.get((a + 1, b), i)] += p
        P[i, place.get((a, b + 1), i)] += 1.0 - p
    return P, r


def peer_table(P: np.ndarray, r: np.ndarray, gamma: float) -> np.ndarray:
    import markovianbandit

    with contextlib.redirect_stdout(io.StringIO()):
        return np.asarray(markovianbandit.rested_bandit_from_P1_R1(P, r).gittins_indices(discount=gamma))


def main() -> None:
    P, r = triangle(STATES)
    small = triangle([s for s in STATES if sum(s) <= 12])
    alpha, beta = np.array(STATES).T
    ours = {"gittins_index": lambda gamma: gittins_index(alpha, beta, gamma)}
    peers = {"gittins_index_process, same triangle": lambda gamma: gittins_index_process(P, r, gamma)}
    try:
        settings = np.geterr()
        peer_table(*small, 0.9)
        np.seterr(**settings)  # importing the peer makes numpy raise on divisions by zero
        peers["markovianbandit-pkg"] = lambda gamma: peer_table(P, r, gamma)
    except ImportError:
        print("markovianbandit-pkg is not installed: left out.")
    gittins_index(1, 1, 0.5)
    print(f"Gittins indices of {len(STATES)} Bernoulli states")
    print(f"{'discount':>8}  {'method':<38} {'seconds':>9} {'times ours':>10} {'mean error':>10} {'max error':>10}")
    for gamma in (0.9, 0.95, 0.99):
        low, high = gittins_bounds(alpha, beta, gamma)
        best: dict[str, float] = {}
        error: dict[str, np.ndarray] = {}
        for _repeat in range(2):
            for name, compute in (ours | peers).items():
                for _ in range(5 if name in ours else 1):
                    began = time.perf_counter()
                    found = compute(gamma)
                    best[name] = min(best.get(name, np.inf), time.perf_counter() - began)
                    error[name] = np.abs(found - 0.5 * (low + high))
        for name, seconds in best.items():
            ratio = seconds / best["gittins_index"]
            e = error[name]
            print(f"{gamma:8}  {name:<38} {seconds:9.4f} {ratio:10.1f} {e.mean():10.1e} {e.max():10.1e}")
    for gamma in (0.9, 0.99):
        began = time.perf_counter()
        gittins_index_normal(0.0, np.arange(1, 101), gamma)
        print(f"Gaussian arms, n = 1..100, discount {gamma}: {time.perf_counter() - began:.3f} s")


if __name__ == "__main__":
    main()
