"""The learning curve of docs/multitask.md, "Classes of MDPs", and its picture: `python docs/task_sequence.py [RUNS]`.

Twelve tasks of `random-mdp` come one after the other, fifty steps each with `psrl`. With transfer, a task begins with
`new_task()` of `hierarchical-mdp`, whose concentration is learnt, and its steps are then added as a further task.
Without, every task begins with the flat prior from which the rows were drawn. Tasks are of three classes, or unrelated.
Both ways have the same tasks and the same seeds. Printed: returns by the number of the task, with 95% intervals.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.beliefs.log import transitions
from bayesrl.multitask import HierarchicalMDP, LogUniform
from bayesrl.statistics import mean_interval

STEPS, SWEEPS = 50, 150
WAYS = ("with transfer", "without")


def earned(classes: int | None, seed: int) -> NDArray[np.float64]:
    """Returns of the tasks of one sequence, with transfer and without, (2, tasks)."""
    rng, family = default_rng([seed, 9]), b.make_world("random-mdp", classes=classes)
    belief, found = HierarchicalMDP(family, LogUniform(), alpha=family.concentration), []
    for m, world in enumerate(family.draw(rng).tasks):
        priors = belief.new_task(draws=20), family.default_prior()
        records = [b.run(b.BayesAgent(prior, b.make("psrl")), world, STEPS, seed=1000 * seed + m) for prior in priors]
        found.append([record.reward.sum() for record in records])
        steps = [step._replace(task=m) for step in transitions("task_sequence", records[0])]
        belief = belief.update_many(steps).refresh(rng, SWEEPS)
    return np.array(found).T


def main(runs: int) -> None:
    """Print the tables and draw the picture."""
    warnings.simplefilter("ignore", PoorMixing)
    curves = {}
    for name, classes in (("three classes", 3), ("unrelated", None)):
        found = np.array([earned(classes, seed) for seed in range(runs)])  # (runs, 2, tasks)
        curves |= {f"{name}, {way}": found[:, i] for i, way in enumerate(WAYS)}
        for m in range(found.shape[2]):
            cells = [mean_interval(x) for x in (*found[:, :, m].T, found[:, 0, m] - found[:, 1, m])]
            said = " | ".join(f"{x.mean:.1f} ({x.low:.1f} to {x.high:.1f})" for x in cells)
            print(f"| {name}, {m + 1} | {said} |", flush=True)
        late = found[:, 0, 3:].mean(axis=1) - found[:, 1, 3:].mean(axis=1)
        print(f"{name}: gain of a task from the fourth on: {mean_interval(late)}", flush=True)
    b.lab.plot_task_curves(curves, Path(__file__).parent / "images" / "task-sequence.png", what="return in 50 steps")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
