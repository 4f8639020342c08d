"""Inverse reinforcement learning: processor time beside plain forms and peers, in one run, one thread.

Each function is one measurement. Compilation and imports are excluded. A peer that is not installed is left out with a
message.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl.inverse import BIRL, demonstrate, value_loss

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
    phi, gamma, c, n = belief.rewards.features, belief.gamma, belief.rationality, belief.counts
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
        demos = demonstrate(world, world.features @ world.weights, 10, 60, default_rng(0), rationality=5.0)
        belief = BIRL(world, world.features, rationality=5.0, step=step).update_many(demos).refresh(default_rng(0), 200)
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


# MAP -----------------------------------------------------------------------------------------------------------------

PEERS = {"irl-maxent": "IRL_MAXENT_PYTHON", "imitation": "IMITATION_PYTHON"}
"""Peers, and the variables that name the Python of their own environments."""
RATES = {"irl-maxent": (0.2, 0.05, 1.0, 5.0), "imitation": (0.01, 0.001, 0.1, 1.0)}
"""Step sizes that are tried for each peer; first that of its example, or its default. That of irl-maxent then falls."""


def map_beside_peers(patience: float = 20.0) -> None:
    """MAP on the 8 by 8 grid and its peers: time until they lose as little as MAP in the end; least ratio 10.

    The policy of a reward is its optimal one. Time counts up to the first step after which as little is lost, of one
    start of MAP and of the peer. Only who knows the true reward can stop there, so that losses at the end are printed.
    """
    for seed in range(3):
        world, rng = b.make_world("gridworld-blocks"), default_rng(seed)
        R = world.features @ world.weights
        logs = np.stack(demonstrate(world, R, 10, 61, rng))
        belief = BIRL(world, features=world.features, rationality=10.0).update_many(list(logs))
        lost, whole = ascent(belief, R)
        for steps in range(1, 100):
            so_far, ours = ascent(belief, R, restarts=1, steps=steps)
            if so_far <= lost:
                break
        print(
            f"MAP, seed {seed}: as good after {ours:.3f} s ({steps} steps of one start); at its end, after ten starts "
            f"and {whole:.2f} s, it loses {lost:.3f}.",
            flush=True,
        )
        for name, variable in PEERS.items():
            python = os.environ.get(variable)
            if python is None:
                print(f"  {name}: name its Python in {variable}.")
                continue
            for rate in RATES[name]:
                times, weights = peer(name, python, world, logs, patience, rate)
                good = np.isfinite(weights).all(axis=1)  # some step sizes diverge
                models = (belief.rewards.model(w / max(1.0, abs(w).max())) for w in weights[good])
                losses = np.array([value_loss(world, R, b.solve(m).policy) for m in models])
                as_good = np.flatnonzero(losses <= lost)
                when = times[good][as_good[0]] if len(as_good) else times[-1]
                said = "as good after" if len(as_good) else f"never as good (at best {losses.min():.3f}) in"
                print(
                    f"  {name}, step size {rate}: {said} {when:.2f} s, {when / ours:.1f} times as long; at its end, "
                    f"after {times[-1]:.2f} s, it loses {losses[-1]:.3f}.",
                    flush=True,
                )


def ascent(belief: BIRL, R: Any, **limits: int) -> tuple[float, float]:
    """The value loss of MAP under the true reward, and its processor time, the least of three."""
    solve = partial(b.make("map-birl", **limits).solve, belief)
    lost = value_loss(belief.problem, R, solve(default_rng(1)).policy)
    return lost, min(seconds(lambda: solve(default_rng(1))) for _ in range(3))


def peer(name: str, python: str, world: Any, logs: Any, patience: float, rate: float) -> tuple[Any, Any]:
    """Times and weights of at most 200 steps of a peer, run by its own Python."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = f"{folder}/given.npz", f"{folder}/found.npz"
        P, states, actions = world.mdp.dense()[0], logs[:, :, 0], logs[:, :, 1]
        rest = {"gamma": 0.9, "seconds": patience, "rate": rate}
        np.savez(given, P=P, features=world.features, states=states, actions=actions, **rest)
        script = str(Path(__file__).with_name("_irl_peers.py"))
        subprocess.run([python, script, name, given, found], check=True, capture_output=True)
        with np.load(found) as data:
            some = np.unique(np.geomspace(1, len(data["times"]), 200).astype(int)) - 1
            return (data["times"] - data["times"][0])[some], data["weights"][some]


def map_on_highway() -> None:
    """MAP on 3072 states; at most 60 s."""
    for style in ("fast", "safe", "demolition"):
        world, rng = b.make_world("highway", style=style), default_rng(0)
        R = world.features @ world.weights
        belief = BIRL(world, features=world.features, rationality=10.0).update_many(demonstrate(world, R, 10, 60, rng))
        took = seconds(lambda belief=belief: b.make("map-birl").solve(belief, default_rng(1)))
        print(f"MAP, highway ({style}), ten starts: {took:.1f} s.")


def main() -> None:
    """Run all measurements."""
    policy_walk()
    map_beside_peers()
    map_on_highway()


if __name__ == "__main__":
    main()
