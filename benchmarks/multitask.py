"""Several tasks: how the time of a sweep grows, as ratios in one run, one thread.

Each function is one measurement. Compilation and imports are excluded.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.random import Generator, default_rng

import bayesrl as b
from bayesrl.multitask import HierarchicalMDP

REPEATS = 5


def seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """The median processor time of a call."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return float(np.median(found))


# Classes of MDPs ------------------------------------------------------------------------------------------------------


def with_logs(tasks: int, steps: int, rng: Generator) -> HierarchicalMDP:
    """A belief with logs of random pairs of tasks of three classes, in a stationary state of its chain."""
    family = b.make_world("random-mdp", tasks=tasks)
    log = []
    for m, world in enumerate(family.draw(rng).tasks):
        P = world.mdp.prob.reshape(6, 3, 6).cumsum(axis=2)
        s, a, u = rng.integers(6, size=steps), rng.integers(3, size=steps), rng.random(steps)
        y = np.minimum((P[s, a] < u[:, None]).sum(axis=1), 5)
        steps_of = zip(s.tolist(), a.tolist(), (s == 5).astype(float), y.tolist(), strict=True)
        log += [b.Transition(*step, task=m) for step in steps_of]
    return HierarchicalMDP(family, alpha=0.3).update_many(log).refresh(rng, 20)


def time_of_a_sweep(tasks: int, steps: int, sweeps: int = 50) -> float:
    """Seconds of one sweep."""
    belief = with_logs(tasks, steps, default_rng(0))
    return seconds(lambda: belief.refresh(default_rng(1), sweeps)) / sweeps


def sweeps_of_classes() -> None:
    """Tasks: 100 to 1600 with logs of 400 steps. Lengths: 400 to 25600 steps of 20 tasks."""
    by_tasks = {n: time_of_a_sweep(n, 400) for n in (100, 400, 1600)}
    print("A sweep of hierarchical-mdp (6 states, 3 actions, 3 classes), by the number of tasks:")
    for n, took in by_tasks.items():
        print(f"  {n:5d} tasks of  400 steps: {1e3 * took:8.2f} ms, {took / by_tasks[100] / (n / 100):.2f} per task")
    by_length = {n: time_of_a_sweep(20, n) for n in (400, 3200, 25600)}
    print("  by the length of the logs:")
    for n, took in by_length.items():
        print(f"     20 tasks of {n:5d} steps: {1e3 * took:8.3f} ms, {took / by_length[400]:.2f} times")


def main() -> None:
    """All measurements."""
    sweeps_of_classes()
