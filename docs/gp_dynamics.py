"""Figures of docs/continuous.md, Gaussian-process dynamics: `python docs/gp_dynamics.py` (some minutes).

It draws images/continuous-paths.png and prints the errors of single steps in Pendulum-v1 and CartPole-v1.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.random import Generator, default_rng

from bayesrl.adapters.gymnasium import GymWorld
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.continuous import GPDynamics
from bayesrl.core import Transition
from bayesrl.lab.plots.paths import plot_paths
from bayesrl.registry import make_world

SHORT = 10
"""Steps after which an episode is cut off, so that 300 transitions meet many starts."""


class Errors(NamedTuple):
    """Held-out errors of one step, for each coordinate."""

    relative: np.ndarray
    """Root mean squared error, in units of the standard deviation of the change s' - s."""
    covered: np.ndarray
    """Share of next states inside their 95% intervals."""
    fastest: float
    """The largest absolute value of the last coordinate among the training states."""


def transitions(name: str, n: int, rng: Generator, horizon: int | None = SHORT) -> list[Transition]:
    """Transitions of random actions in a Gymnasium environment."""
    world, found = GymWorld(gymnasium.make(name)), []
    box = world.env.action_space if name.startswith("Pendulum") else None
    age, limit = 0, horizon or world.horizon
    while len(found) < n:
        if age == 0:
            state, seen = world.reset(rng)
        action = int(rng.integers(world.n_actions)) if box is None else rng.uniform(box.low, box.high)
        step = world.step(state, action, rng)
        found.append(Transition(seen, action, step.reward, step.observation, step.terminated))
        state, seen = step.state, step.observation
        age = 0 if step.terminated or age + 1 == limit else age + 1
    return found


def errors(name: str, seed: int, horizon: int | None = SHORT, n: int = 300, starts: int = 1) -> Errors:
    """Fit by the evidence on n random transitions, and predict 300 others."""
    rng = default_rng(seed)
    log, held_out = transitions(name, n, rng, horizon), transitions(name, 300, rng, horizon)
    prior = GPDynamics(Gaussian(scale=np.ones(len(log[0].observation) + 1)), noise=0.01)
    belief = prior.update_many(log).fit(rng, starts)
    s, y = (np.array([one[i] for one in held_out], float) for i in (0, 3))
    found = [belief.predictive(one.observation, one.action) for one in held_out]
    mean, variance = (np.array([one[i] for one in found]) for i in range(2))
    relative = np.sqrt(np.mean((y - mean) ** 2, axis=0)) / (y - s).std(axis=0)
    covered = np.mean(np.abs(y - mean) <= 1.959964 * np.sqrt(variance), axis=0)
    return Errors(relative, covered, max(abs(float(one.observation[-1])) for one in log))


def blimp_paths(path: Path) -> None:
    """Predictions of the blimp after 60 random steps, by moments and by samples, beside a real path."""
    world, rng = make_world("blimp"), default_rng(4)
    belief = GPDynamics(Gaussian(scale=2.0), noise=0.03)
    state, _ = world.reset(rng)
    for _ in range(60):
        action = rng.integers(-1, 2, size=1).astype(float)
        step = world.step(state, action, rng)
        belief, state = belief.update(Transition(state, action, step.reward, step.state)), step.state
    actions = np.repeat([[-1.0], [0.0], [1.0], [0.0]], [1, 7, 1, 11], axis=0)
    state, _ = world.reset(rng)
    real = [state]
    for action in actions:
        real.append(world.step(real[-1], action, rng).state)
    drawn = belief.sample_paths(state, actions, rng, 1000)
    apart = drawn - drawn.mean(axis=0)
    moments = belief.predict_path(state, actions)
    samples = type(moments)(drawn.mean(axis=0), np.einsum("pti,ptj->tij", apart, apart) / 999.0, drawn)
    plot_paths({"moments": moments, "samples, one function each": samples}, path, real, ("height", "velocity"))
    for name, one in (("moments", moments), ("samples", samples)):
        print(
            name, "standard deviation of the height after 5, 10, 20 steps", np.sqrt(one.covariance[[5, 10, 20], 0, 0])
        )


def main() -> None:
    """The picture, then the tables."""
    blimp_paths(Path(__file__).parent / "images" / "continuous-paths.png")
    for name in ("Pendulum-v1", "CartPole-v1"):
        for horizon in (1, SHORT, None):
            for seed in range(10):
                found = errors(name, seed, horizon)
                print(name, "cut at", horizon, "seed", seed, *found, flush=True)


if __name__ == "__main__":
    main()
