"""The figures and the picture of "Unknown noise" in docs/continuous.md: `python docs/noise.py` (some minutes)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.random import default_rng

from bayesrl.beliefs import NormalWishart
from bayesrl.continuous import NormalWishartDynamics
from bayesrl.core import Transition
from bayesrl.lab.plots.noise import plot_noise
from bayesrl.registry import make_world

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "continuous"))
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


def walks(particles, runs=40, steps=200):
    """Ancestors left, and the error of the drift, of the robot that walks to and fro: at 10, 50, 100 and 200 steps."""
    world, kept = make_world("robot-navigation"), []
    for i in range(runs):
        luck, rng = default_rng([2, i]), default_rng([3, particles, i])
        belief = NormalWishartDynamics(**(world.defaults["normal-wishart-dynamics"] | {"particles": particles}))
        state, z = world.reset(luck)
        row = []
        for t in range(steps):
            a = world.moves[1 if t % 2 else 5]
            state, seen, reward, _ = world.step(state, a, luck)
            belief, z = belief.update(Transition(z, a, reward, seen), rng), seen
            if t + 1 in (10, 50, 100, 200):
                off = belief.noise_moments()[0] - world.drift
                row.append([belief.ancestors, np.sqrt((off**2).mean())])
        kept.append(row)
    at = np.array(kept)
    for k, t in enumerate((10, 50, 100, 200)):
        x = np.sqrt((at[:, k, 1] ** 2).mean())
        print(
            particles, "particles, step", t, "ancestors", at[:, k, 0].mean().round(1), "error of the drift", x.round(4)
        )


def picture(steps=100):
    """The marginal posteriors of drift and spread on one walk of the robot."""
    world, luck, rng = make_world("robot-navigation"), default_rng(4), default_rng(5)
    state, z = world.reset(luck)
    beliefs = [NormalWishartDynamics(**(world.defaults["normal-wishart-dynamics"] | {"particles": 10_000}))]
    for t in range(steps):
        a = world.moves[1 if t % 2 else 5]
        state, seen, reward, _ = world.step(state, a, luck)
        beliefs.append(beliefs[-1].update(Transition(z, a, reward, seen), rng))
        z = seen
    truth = np.array(world.drift), world.noise**2 * np.eye(2)
    title = f"Robot navigation: {beliefs[-1].ancestors} of 10,000 ancestors are left at the end"
    plot_noise(beliefs[2:], HERE / "images" / "continuous-noise.png", rng, truth, title=title)


if __name__ == "__main__":
    picture()
    slopes()
    for n in (1000, 10_000):
        walks(n)
