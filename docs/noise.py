"""The figures and the picture of "Unknown noise" in docs/continuous.md: `python docs/noise.py` (some minutes).

Words on the command line choose among picture, slopes and walks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.random import default_rng

from bayesrl.beliefs import NormalWishart
from bayesrl.continuous import NormalWishartDynamics
from bayesrl.core import Transition
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.plots.noise import plot_noise
from bayesrl.registry import make_world

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))
QUANTITIES = ("log evidence", "E s", "Var s", "E mu_v", "E mu_w", "E var_v", "E var_w")


def scalar(particles):
    """The scalar hidden system of the reference."""
    from noise_oracles import NOISE, SENSOR, START

    return NormalWishartDynamics(
        lambda s, a, v: s + a + v,
        NormalWishart(**NOISE),
        observation=lambda s, a, w: s + w,
        inverse_observation=lambda s, a, z: (z - s, 0.0),
        sensor=NormalWishart(**SENSOR),
        state=START,
        particles=particles,
    )


def errors(particles, runs):
    """Errors of the filter after three observations, (runs, 7)."""
    from noise_oracles import ACTIONS, SEEN, grid_filter

    exact, found = grid_filter(), []
    exact[0] = np.log(exact[0])
    for i in range(runs):
        belief, rng = scalar(particles), default_rng([1, particles, i])
        for a, z in zip(ACTIONS, SEEN, strict=True):
            belief = belief.update(Transition(None, a, 0.0, z), rng)
        (s, S), (v, V), (w, W) = belief.state_moments(), belief.noise_moments(), belief.sensor_moments()
        found.append([belief.log_evidence(), s[0], S[0, 0], v[0], w[0], V[0, 0], W[0, 0]])
    return np.array(found) - exact


def slopes(runs=200, resamples=1000):
    """Root mean squared errors by number of particles, and the slope of their logarithms with a 95% interval."""
    sizes = np.array([125, 500, 2000, 8000, 32_000])
    all_errors = [errors(int(n), runs) for n in sizes]
    for n, e in zip(sizes, all_errors, strict=True):
        print(n, np.sqrt((e**2).mean(axis=0)).round(4).tolist(), "largest", np.abs(e).max(axis=0).round(3).tolist())
    rng, found = default_rng(0), []
    for _ in range(resamples):
        roots = [np.sqrt((e[rng.integers(runs, size=runs)] ** 2).mean(axis=0)) for e in all_errors]
        found.append(np.polyfit(np.log(sizes), np.log(roots), 1)[0])
    middle = np.polyfit(np.log(sizes), np.log([np.sqrt((e**2).mean(axis=0)) for e in all_errors]), 1)[0]
    low, high = np.quantile(found, [0.025, 0.975], axis=0)
    for name, *said in zip(QUANTITIES, middle, low, high, strict=True):
        print(name, "slope", [round(float(x), 3) for x in said])


def walks(particles, runs=10, filters=8):
    """Ancestors that are left, and how far filters of the same data disagree, as the robot walks to and fro."""
    world, at, kept = make_world("robot-navigation"), (10, 50, 100, 200), []
    for i in range(runs):
        luck, log = default_rng([2, i]), []
        state, z = world.reset(luck)
        for t in range(at[-1]):
            a = world.moves[1 if t % 2 else 5]
            state, seen, reward, _ = world.step(state, a, luck)
            log.append(Transition(z, a, reward, seen))
            z = seen
        for k in range(filters):
            rng, found = default_rng([3, particles, i, k]), []
            belief = NormalWishartDynamics(
                **(suggestions_for(world)["normal-wishart-dynamics"] | {"particles": particles})
            )
            for t, step in enumerate(log):
                belief = belief.update(step, rng)
                if t + 1 in at:
                    drift, V = belief.noise_moments()
                    found.append([belief.ancestors, drift[0], np.sqrt(V[0, 0])])
            kept.append(found)
    x = np.array(kept).reshape(runs, filters, len(at), 3)
    apart = np.sqrt(x.var(axis=1, ddof=1).mean(axis=0))  # between filters of the same data
    off = np.sqrt(((x - [0.0, world.drift[0], world.noise]) ** 2).mean(axis=(0, 1)))
    for k, t in enumerate(at):
        said = [
            f"{what}: apart {apart[k, i]:.4f}, error {off[k, i]:.4f}" for i, what in ((1, "drift"), (2, "deviation"))
        ]
        print(particles, "particles, step", t, "ancestors", x[:, :, k, 0].mean().round(1), *said)


def picture(steps=100):
    """The marginal posteriors of drift and spread on one walk of the robot."""
    world, luck, rng = make_world("robot-navigation"), default_rng(4), default_rng(5)
    state, z = world.reset(luck)
    beliefs = [NormalWishartDynamics(**(suggestions_for(world)["normal-wishart-dynamics"] | {"particles": 10_000}))]
    for t in range(steps):
        a = world.moves[1 if t % 2 else 5]
        state, seen, reward, _ = world.step(state, a, luck)
        beliefs.append(beliefs[-1].update(Transition(z, a, reward, seen), rng))
        z = seen
    truth = np.array(world.drift), world.noise**2 * np.eye(2)
    title = f"Robot navigation: {beliefs[-1].ancestors} of 10,000 ancestors are left at the end"
    plot_noise(beliefs[2:], HERE / "images" / "continuous-noise.png", rng, truth, first=2, title=title)


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["picture", "slopes", "walks"]
    if "picture" in chosen:
        picture()
    if "slopes" in chosen:
        slopes()
    if "walks" in chosen:
        for n in (1000, 10_000):
            walks(n)
