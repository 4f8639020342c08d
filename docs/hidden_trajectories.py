"""Figures of docs/continuous.md, hidden trajectories: `python docs/hidden_trajectories.py` (some minutes).

It draws images/continuous-hidden.png and prints errors and coverage on the blimp whose height is measured with noise,
and the errors of the filter on three states against a grid.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.random import default_rng

from bayesrl.beliefs.covariances import Gaussian
from bayesrl.checks import Floats
from bayesrl.continuous import GPPOMDP
from bayesrl.core import Transition
from bayesrl.lab.plots.trajectories import plot_trajectory
from bayesrl.registry import make_world
from bayesrl.worlds.continuous.blimp import A, B

IMAGE = Path(__file__).parent / "images" / "continuous-hidden.png"
EPISODES, STEPS, EVERY, SWEEPS = 10, 30, 3, 2
NOISE, SENSOR, START = np.diag([0.01**2, 0.02**2]), 0.05**2, np.diag([0.02**2, 0.02**2])


def kinematics(x: Floats, a: Floats) -> Floats:
    """The prior mean: height changes with velocity, velocity stays. Motor and drag are not known."""
    return np.column_stack([x[:, 0] + 0.5 * x[:, 1], x[:, 1]])


def prior(particles: int) -> GPPOMDP:
    """Velocities change by a function of state and action of standard deviation .2; the rest is nearly known."""
    moves = [Gaussian(scale=2.0, variance=0.01**2), Gaussian(scale=2.0, variance=0.2**2)]
    sensor, start = Gaussian(scale=2.0, variance=0.02**2), ([1.0, 0.0], START)
    return GPPOMDP(moves, sensor, [0.01, 0.02], 0.05, kinematics, lambda x: x[:, 0], start, particles)


def episode(seed: int) -> tuple[Floats, list[Transition]]:
    """States and transitions of the hidden blimp under random actions."""
    world, rng = make_world("blimp", hidden=True), default_rng(seed)
    state, z = world.reset(rng)
    states, steps = [state], []
    for _ in range(STEPS):
        a = rng.integers(-1, 2, size=1).astype(float)
        step = world.step(state, a, rng)
        steps.append(Transition(z, a, step.reward, step.observation))
        state, z = step.state, step.observation
        states.append(state)
    return np.array(states), steps


def smoothed(steps: list[Transition]) -> tuple[Floats, Floats]:
    """Means of the filter and of the smoother that know the blimp, (T + 1, 2) each."""
    m, V, kept, ahead = np.array([1.0, 0.0]), START, [], []
    for t, z in enumerate([steps[0].observation[0], *(step.next_observation[0] for step in steps)]):
        if t:
            m, V = A @ m + B @ steps[t - 1].action, A @ V @ A.T + NOISE
            ahead.append((m, V))
        gain = V[:, 0] / (V[0, 0] + SENSOR)
        m, V = m + gain * (z - m[0]), V - np.outer(gain, V[0])
        kept.append((m, V))
    back = [kept[-1]]
    for (m, V), (predicted, P) in zip(kept[-2::-1], ahead[::-1], strict=True):
        G = V @ A.T @ np.linalg.inv(P)
        back.insert(0, (m + G @ (back[0][0] - predicted), V + G @ (back[0][1] - P) @ G.T))
    return np.array([m for m, _ in kept]), np.array([m for m, _ in back])


def blimp(particles: int, refreshed: bool, draw: bool = False) -> None:
    """Errors of the states now and of the whole path, and how often 95% intervals hold them, over the episodes."""
    rows = []
    for seed in range(EPISODES):
        states, steps = episode(seed)
        belief, rng, now = prior(particles), default_rng(100 + seed), []
        for t, step in enumerate(steps):
            belief = belief.update(step, rng)
            if refreshed and (t + 1) % EVERY == 0:
                belief = belief.refresh(rng, SWEEPS)
            now.append(belief.state_moments()[0])
        mean, covariance = belief.path_moments()
        held = np.abs(mean - states) < 1.96 * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        known = smoothed(steps)
        errors = [now - states[1:], known[0][1:] - states[1:], mean - states, known[1] - states]
        rows.append([*(np.sqrt(np.mean(e**2, axis=0)) for e in errors), held.mean(axis=0)])
        if draw and seed == 0:
            z = np.array([steps[0].observation[0], *(step.next_observation[0] for step in steps)])
            plot_trajectory(belief, IMAGE, states, {0: z}, belief.map_states(), names=("height", "velocity"))
        print(f"  episode {seed}: {np.round(rows[-1], 3).tolist()}, ancestors {belief.ancestors}", flush=True)
    names = "now", "now, blimp known", "path", "path, blimp known", "held by 95% intervals"
    for name, x in zip(names, np.swapaxes(rows, 0, 1), strict=True):
        error = 1.96 * x.std(axis=0, ddof=1) / np.sqrt(EPISODES)
        print(f"{name}: height {x[:, 0].mean():.3f} +- {error[0]:.3f}, velocity {x[:, 1].mean():.3f} +- {error[1]:.3f}")


if __name__ == "__main__":
    print("1000 particles, never refreshed")
    blimp(1000, refreshed=False)
    print(f"200 particles, refreshed after every {EVERY} steps")
    blimp(200, refreshed=True, draw=True)
