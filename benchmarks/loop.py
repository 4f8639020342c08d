"""The cost of the loop (belief update and record, without planning) at 9 and at 264 states with a flat prior.

The limit is 50 microseconds per step at 264 states. All parts are timed in one run; the planner acts at random.
"""

from __future__ import annotations

import time

import bayesrl as b
from bayesrl.core import Transition


def seconds(call, repeats=5):
    """The best of a few repeats."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def main() -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "world", "states", "update", "world step", "whole loop", title="Microseconds per step, random actions"
    )
    for name in ("double-loop", "dearden-maze"):
        world, n = b.make_world(name), 5000
        prior = b.DirichletMDP.flat(world, 1.0 / world.n_states)
        record = b.run(b.BayesAgent(prior, b.make("random")), world, n)
        columns = (record.columns[name].tolist() for name in Transition._fields[:4])
        log = [Transition(*row) for row in zip(*columns, strict=True)]

        def updates(log=log, prior=prior):
            belief = prior
            for datum in log:
                belief = belief.update(datum)

        def steps(world=world, n=n):
            from numpy.random import default_rng

            rng, (state, _) = default_rng(0), world.reset(default_rng(0))
            for _ in range(n):
                state = world.step(state, 0, rng)[0]

        def loop(world=world, prior=prior, n=n):
            b.run(b.BayesAgent(prior, b.make("random")), world, n)

        each = [f"{1e6 * seconds(call) / n:.1f}" for call in (updates, steps, loop)]
        table.add_row(name, str(world.n_states), *each)
    Console().print(table)


if __name__ == "__main__":
    main()
