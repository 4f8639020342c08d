"""The cost of a simulated step of BAMCP at 9 to 264 states, and whether its budgets of time and memory are kept.

Whole runs are compared with repeated planning on one belief: a run also updates the belief, and quantities that are
derived from the prior must not be computed again at every step.

The bare loop draws a random number and reads a table entry, the least that a simulation can do. Lazy rows follow the
author's code: the first visit of (s, a) in a simulation draws its row from the posterior (S gamma variates), and later
visits read outcomes from it. Limits: steps per second differ by at most a factor 2 between worlds; a simulated step
costs at most 8 bare ones; urns are at least 20 times as fast as lazy rows at 264 states; a decision takes at most 1.2
times its time budget; memory does not grow over 10,000 decisions.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import SparseDirichletMDP
from bayesrl.core import Transition
from bayesrl.kernels.jit import njit
from bayesrl.kernels.random.stream import stream, uniform
from bayesrl.kernels.simulators.simulator import begin, borrowed, forget, step

WORLDS = ("double-loop", "grid5", "grid10", "dearden-maze")
SIMULATIONS, DEPTH = 1000, 89


@njit
def bare(rng, table, s, n):
    """Take n steps, each with one random number and one entry of a table (S, K) of next states."""
    K = table.shape[1]
    for _ in range(n):
        s = table[s, int(rng.random() * K)]
    return s


@njit
def by_lazy_rows(rng, alpha, group, s0, K, D):
    """K simulations of D steps with random actions in a flat model whose rows are drawn when they are first met."""
    A, S = group.shape[1], alpha.shape[1]
    met, row, s = np.full(len(alpha), -1), np.empty(alpha.shape), s0
    for i in range(K):
        s = s0
        for _ in range(D):
            g = group[s, int(rng.random() * A)]
            if met[g] != i:
                met[g], total = i, 0.0
                for k in range(S):
                    total += rng.standard_gamma(alpha[g, k])
                    row[g, k] = total
            s = min(np.searchsorted(row[g], rng.random() * row[g, S - 1], side="right"), S - 1)
    return s


@njit
def by_urns(rng, model, A, s0, K, D):
    """The same simulations by urns."""
    rng, model, marks, s = stream(rng), borrowed(model), np.empty(D, np.int64), s0
    for _ in range(K):
        begin(model, rng)
        s = s0
        for d in range(D):
            _, s, _, _, marks[d] = step(model, s, int(uniform(rng) * A), rng)
        forget(model, marks, D)
    return s


def seconds(call, repeats=9):
    """The best of a few repeats; the first call compiles and does not count."""
    call()
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def learnt(prior, world, steps):
    """The belief after a number of random steps."""
    record = b.run(b.BayesAgent(prior, b.make("random")), world, steps)
    columns = (record.columns[name].tolist() for name in Transition._fields[:4])
    return prior.update_many(Transition(*row) for row in zip(*columns, strict=True))


def resident():
    """Memory of this process, in MB."""
    with open("/proc/self/statm") as page:
        return int(page.read().split()[1]) * 4096 / 2**20


def steps_per_second(table):
    """Nanoseconds of a step in a whole decision: making urns and tree, and 1000 simulations of 89 steps."""
    rng = default_rng(0)
    ours, ratios = {"flat": [], "sparse": []}, {"flat": [], "sparse": []}
    planner = b.make("bamcp", simulations=SIMULATIONS, depth=DEPTH)
    for name in WORLDS:
        world = b.make_world(name)
        S = world.n_states
        moves = rng.integers(S, size=(S, S))
        floor = 1e-6 * seconds(lambda moves=moves: bare(rng, moves, 0, 1_000_000)) * 1e9
        for kind, prior in (("flat", b.DirichletMDP.flat(world, 1 / S)), ("sparse", SparseDirichletMDP.flat(world))):
            for age in (0, 500):
                belief = learnt(prior, world, age) if age else prior
                steps = planner.plan(belief, 0, None, default_rng(0)).info["steps"]
                each = 1e9 * seconds(lambda belief=belief: planner.plan(belief, 0, None, default_rng(0))) / steps
                ours[kind].append(each)
                ratios[kind].append(each / floor)
                table.add_row(name, str(S), kind, str(age), f"{floor:.2f}", f"{each:.1f}", f"{each / floor:.1f}")
    return {kind: (max(each) / min(each), max(ratios[kind])) for kind, each in ours.items()}


def whole_runs(table, steps=200):
    """The time of a decision in a whole run (act, learn, record) over that of planning again on the last belief."""
    worst = 0.0
    for name in WORLDS:
        world = b.make_world(name)
        S = world.n_states
        for kind, prior in (("flat", b.DirichletMDP.flat(world, 1 / S)), ("sparse", SparseDirichletMDP.flat(world))):
            planner = b.make("bamcp", simulations=100, depth=DEPTH)
            agent = b.BayesAgent(prior, planner)
            whole = seconds(lambda agent=agent, world=world: b.run(agent, world, steps), 3) / steps
            belief = learnt(prior, world, steps)
            Q = np.zeros((S, world.n_actions))
            memory = planner.plan(belief, 0, None, default_rng(0)).memory._replace(Q=Q)
            again = seconds(partial(planner.plan, belief, 0, memory, default_rng(0)))
            worst = max(worst, whole / again)
            table.add_row(name, str(S), kind, f"{1e6 * whole:.0f}", f"{1e6 * again:.0f}", f"{whole / again:.2f}")
    return worst


def urns_against_lazy_rows():
    """The speed of urns over that of lazy rows in the maze."""
    world = b.make_world("dearden-maze")
    belief, rng = learnt(b.DirichletMDP.flat(world, 1 / 264), world, 500), default_rng(0)
    alpha, group, model = np.array(belief.alpha), world.mdp.outcomes.flat().group, belief.simulate(DEPTH)
    lazy = seconds(lambda: by_lazy_rows(rng, alpha, group, 0, 20, DEPTH), 3) / 20
    urns = seconds(lambda: by_urns(rng, model, 4, 0, 1000, DEPTH)) / 1000
    return lazy / urns


def time_kept(milliseconds, decisions=100):
    """Median and largest time of a decision over its budget, in the maze."""
    world = b.make_world("dearden-maze")
    belief, planner = learnt(SparseDirichletMDP.flat(world), world, 2000), b.make("bamcp", milliseconds=milliseconds)
    planner.plan(belief, 0, None, default_rng(0))
    spent = []
    for i in range(decisions):
        began = time.perf_counter()
        planner.plan(belief, 0, None, default_rng(i))
        spent.append(1000 * (time.perf_counter() - began) / milliseconds)
    return np.median(spent), np.max(spent)


def memory(decisions=10_000):
    """Memory after a tenth of the decisions and after all of them, acting and learning in the maze."""
    world, rng = b.make_world("dearden-maze"), default_rng(0)
    agent = b.BayesAgent(SparseDirichletMDP.flat(world), b.make("bamcp", simulations=10))
    mind, (state, seen), early = agent.start(), world.reset(rng), 0.0
    for t in range(decisions):
        action, mind, _ = agent.act(mind, seen, rng)
        state, after, reward, *_ = world.step(state, action, rng)
        mind, seen = agent.learn(mind, Transition(seen, action, reward, after), rng), after
        if t == decisions // 10:
            early = resident()
    return early, resident()


def main() -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "world", "states", "prior", "seen", "bare, ns", "ours, ns", "ratio", title="A simulated step, planning whole"
    )
    found = steps_per_second(table)
    Console().print(table)
    runs = Table(
        "world", "states", "prior", "whole run, us", "planning again, us", "ratio", title="A decision, 100 simulations"
    )
    worst = whole_runs(runs)
    Console().print(runs)
    print(f"a decision of a whole run over planning again on one belief: at most {worst:.2f}")
    for kind, (spread, worst) in found.items():
        print(f"{kind} prior: slowest world over fastest {spread:.2f} (at most 2), over bare {worst:.1f} (at most 8)")
    print(f"urns over lazy rows at 264 states: {urns_against_lazy_rows():.0f} times (at least 20)")
    for milliseconds in (1.0, 10.0, 100.0):
        middle, most = time_kept(milliseconds)
        print(f"{milliseconds:g} ms at 264 states: median {middle:.3f}, at most {most:.3f} of it (at most 1.2)")
    early, late = memory()
    print(f"memory after 1000 decisions {early:.1f} MB, after 10,000 {late:.1f} MB")


if __name__ == "__main__":
    main()
