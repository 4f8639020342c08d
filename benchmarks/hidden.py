"""Hidden states: POMCP beside pomdp_py in one run, BA-POMCP beside POMCP, a step of the filter, memory, peers' returns.

pomdp_py plans on its own tiger (the one in Python, since its compiled one is slower) and its own RockSample(7,8), whose
agent only considers legal moves. Ours is timed with as many decisions a simulation: whole decisions, rollouts among all
actions, in RockSample also among those that `rollout="preferred"` allows. Limits: POMCP makes at least 30 times as many
simulations a second as pomdp_py; a simulated step of BA-POMCP takes at most 3 times one of POMCP; a decision of 1000
simulations in the episodic tiger takes at most .73 ms, as the authors' C++ code; a step of the filter with 60 states
takes at most 20 microseconds; memory does not grow over 10,000 decisions.

`python -m benchmarks.hidden returns` measures the returns of the fact sheet's set-ups beside those of peer code.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.random import default_rng
from rich.console import Console
from rich.table import Table

import bayesrl as b
from bayesrl.bapomdp import BAPOMCP, POMCP
from bayesrl.beliefs import ParticleBAPOMDP, POMDPFilter
from bayesrl.core import Transition
from benchmarks.bamcp import resident

DEPTHS = (20, 90)


def seconds(call, repeats=7):
    """Processor time: the least of a few repeats. The first call compiles and does not count."""
    call()
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return best


# Simulations a second ------------------------------------------------------------------------------------------------


def ours(name, depth, simulations=5000, **settings):
    """Simulations a second in whole decisions, and nanoseconds a simulated step."""
    world = b.make_world(name) if isinstance(name, str) else name
    belief = POMDPFilter(world.pomdp, world.preferred)
    planner = POMCP(simulations=simulations, depth=depth, **settings)
    steps = planner.plan(belief, -1, None, default_rng(0)).info["steps"]
    spent = seconds(lambda: planner.plan(belief, -1, None, default_rng(0)))
    return simulations / spent, 1e9 * spent / steps


def theirs(problem, depth, simulations=300):
    """Simulations a second of pomdp_py's POMCP on one of its problems."""
    import pomdp_py

    planner = pomdp_py.POMCP(
        max_depth=depth, discount_factor=0.95, num_sims=simulations, exploration_const=110.0,
        rollout_policy=problem.agent.policy_model,
    )  # fmt: skip

    def decide():
        problem.agent.tree = None
        planner.plan(problem.agent)

    return simulations / seconds(decide, 4)


def pomdp_py_problems():
    """pomdp_py's tiger and RockSample(7,8), with particles; none if it is not installed."""
    try:
        import pomdp_py
        from pomdp_py.problems.rocksample.rocksample_problem import create_instance
        from pomdp_py.problems.tiger import tiger_problem
    except ImportError:
        return {}
    tiger = tiger_problem.make_tiger()
    tiger.agent.set_belief(pomdp_py.Particles.from_histogram(tiger.agent.belief, num_particles=100), prior=True)
    return {"tiger": tiger, "rock-sample": create_instance(7, 8)}


def against_pomdp_py(console):
    """Simulations a second beside pomdp_py's."""
    table = Table("world", "depth", "pomdp_py", "ours", "ns a step", "ratio", title="Simulations a second")
    problems, ratios = pomdp_py_problems(), []
    if not problems:
        console.print("pomdp_py is not installed.")
    rocks = b.make_world("rock-sample", size=7, rocks=8)
    for depth in DEPTHS:
        rows = [("tiger", "tiger", {}), (rocks, "rock-sample", {}), (rocks, "rock-sample", {"rollout": "preferred"})]
        for world, name, settings in rows:
            mine, each = ours(world, depth, **settings)
            peer = theirs(problems[name], depth) if problems else np.nan
            ratios.append(mine / peer)
            said = name + "".join(f", {v}" for v in settings.values())
            table.add_row(said, str(depth), f"{peer:,.0f}", f"{mine:,.0f}", f"{each:.0f}", f"{ratios[-1]:.0f}")
    console.print(table)
    return min(ratios)


def learning_beside_knowing(console):
    """A simulated step of BA-POMCP over one of POMCP, at the prior and after a step."""
    table = Table("world", "depth", "POMCP, ns a step", "BA-POMCP", "after data", "ratio", title="Learning in the tree")
    worst = 0.0
    for name in ("tiger", "tiger-episodic", "sysadmin", "follow"):
        world = b.make_world(name)
        prior = ParticleBAPOMDP(world.model_prior())
        rng = default_rng(0)
        learnt, (state, _) = prior, world.reset(rng)
        for a in (0, 0, 0):
            state, o, r, done = world.step(state, a, rng)
            learnt = learnt.update(Transition(-1, a, r, o, done), rng)
            if done:
                learnt, (state, _) = learnt.restart(), world.reset(rng)
        for depth in DEPTHS:
            each = []
            for planner, belief in (
                (POMCP(5000, depth), POMDPFilter(world.pomdp)),
                (BAPOMCP(5000, depth), prior),
                (BAPOMCP(5000, depth), learnt),
            ):
                steps = planner.plan(belief, -1, None, default_rng(0)).info["steps"]
                spent = seconds(lambda planner=planner, belief=belief: planner.plan(belief, -1, None, default_rng(0)))
                each.append(1e9 * spent / steps)
            ratio = max(each[1:]) / each[0]
            worst = max(worst, ratio)
            table.add_row(name, str(depth), *(f"{x:.0f}" for x in each), f"{ratio:.2f}")
    console.print(table)
    return worst


# Single calls --------------------------------------------------------------------------------------------------------


def decision():
    """Milliseconds of a decision of 1000 simulations in the episodic tiger, with 1000 particles that have learnt."""
    rng = default_rng(0)
    belief = ParticleBAPOMDP(b.make_world("tiger-episodic").model_prior()).update(Transition(-1, 0, -1.0, 0), rng)
    planner = BAPOMCP(simulations=1000, depth=20, exploration=100.0)
    return 1e3 * seconds(lambda: planner.plan(belief, -1, None, default_rng(0)), 50)


def filter_step(repeats=2000):
    """Microseconds of an update of the filter of the hallway, which has 60 states."""
    belief = POMDPFilter(b.make_world("hallway").pomdp)
    datum = Transition(-1, 1, 0.0, 5)

    def updates():
        for _ in range(repeats):
            belief.update(datum)

    return 1e6 * seconds(updates) / repeats


def memory(decisions=10_000):
    """Memory after a tenth of the decisions and after all of them, learning in the episodic tiger."""
    world, rng = b.make_world("tiger-episodic"), default_rng(0)
    agent = b.BayesAgent(ParticleBAPOMDP(world.model_prior(), particles=100), BAPOMCP(simulations=10, depth=20))
    mind, (state, seen), early = agent.start(), world.reset(rng), 0.0
    for t in range(decisions):
        action, mind, _ = agent.act(mind, seen, rng)
        state, after, reward, done = world.step(state, action, rng)
        mind, seen = agent.learn(mind, Transition(seen, action, reward, after, done), rng), after
        if done:
            state, seen = world.reset(rng)
        if t == decisions // 10:
            early = resident()
    return early, resident()


# Returns of peer code ------------------------------------------------------------------------------------------------


def episodes(world, agent, number, horizon, rng):
    """Discounted returns of episodes of at most `horizon` steps, one after the other with one mind."""
    mind, found = agent.start(), []
    for _ in range(number):
        (state, seen), total = world.reset(rng), 0.0
        for t in range(horizon):
            action, mind, _ = agent.act(mind, seen, rng)
            state, after, reward, done = world.step(state, action, rng)
            total += world.gamma**t * reward
            last = Transition(seen, action, reward, after, done, t + 1 == horizon and not done)
            mind, seen = agent.learn(mind, last, rng), after
            if done:
                break
        found.append(total)
    return found


def finite(world, simulations, horizon, c, rng):
    """The discounted return of an episode of POMCP that never searches beyond the horizon."""
    belief, (state, seen), total = POMDPFilter(world.pomdp), world.reset(rng), 0.0
    for t in range(horizon):
        action = POMCP(simulations, horizon - t, c).plan(belief, seen, None, rng).action
        state, seen, reward, done = world.step(state, action, rng)
        total += world.gamma**t * reward
        belief = belief.update(Transition(-1, action, reward, seen, done))
    return total


def returns(console):
    """Our returns beside those of peer code (fact sheet), with standard errors; z is the difference over both."""
    table = Table(
        "method", "set-up", "episodes", "runs", "ours", "theirs", "z", title="Discounted returns (standard error)"
    )

    def row(method, set_up, which, runs, peer):
        mean, error = runs.mean(), runs.std(ddof=1) / np.sqrt(len(runs))
        z = (mean - peer[0]) / np.hypot(error, peer[1])
        cells = (f"{mean:.2f} ({error:.2f})", f"{peer[0]} ({peer[1]})", f"{z:.1f}")
        table.add_row(method, set_up, which, str(len(runs)), *cells)

    tiger = b.make_world("tiger-episodic")
    for simulations, runs, number, peers in (
        (1000, 150, 100, {(0, 10): (-6.2, 0.9), (10, 30): (-4.6, 0.6), (90, 100): (-3.8, 0.8)}),
        (5000, 80, 60, {(0, 10): (0.3, 1.2), (50, 60): (3.2, 0.9)}),
    ):
        planner = BAPOMCP(simulations, 20, 100.0)
        agent = b.BayesAgent(ParticleBAPOMDP(tiger.counts(), particles=1000), planner)
        found = np.array([episodes(tiger, agent, number, 20, default_rng(i)) for i in range(runs)])
        for (first, end), peer in peers.items():
            each = found[:, first:end].mean(axis=1)
            row("ba-pomcp", f"episodic tiger, {simulations} simulations", f"{first + 1}-{end}", each, peer)
    known = POMDPFilter(tiger.pomdp)
    for simulations, runs, peer in ((10_000, 1000, (2.9, 1.0)), (1000, 1000, (-2.8, 1.8))):
        agent = b.BayesAgent(known, POMCP(simulations, 20, 100.0))
        each = np.array([episodes(tiger, agent, 1, 20, default_rng(i))[0] for i in range(runs)])
        row("pomcp", f"episodic tiger, {simulations} simulations", "1", each, peer)
    for topology, peer in (("none", (34.84, 0.24)), ("line", (33.72, 0.29))):
        world = b.make_world("sysadmin", computers=3, topology=topology)
        each = np.array([finite(world, 1000, 20, 10.0, default_rng(i)) for i in range(400)])
        row("pomcp", f"sysadmin of 3, {topology}, 1000 simulations", "1", each, peer)
    console.print(table)


def main():
    console = Console(width=130)
    least, most = against_pomdp_py(console), learning_beside_knowing(console)
    told, step = decision(), filter_step()
    early, late = memory()
    for what, ok in (
        (f"POMCP over pomdp_py: at least {least:.0f} times (30)", not least < 30.0),
        (f"a step of BA-POMCP over one of POMCP: at most {most:.2f} (3)", most <= 3.0),
        (f"1000 simulations in the episodic tiger: {told:.2f} ms (.73)", told <= 0.73),
        (f"a step of the filter with 60 states: {step:.1f} microseconds (20)", step <= 20.0),
        (f"memory after 1000 and 10,000 decisions: {early:.0f} and {late:.0f} MB", late - early < 5.0),
    ):
        console.print(what, "" if ok else "[bold red]missed[/]")


if __name__ == "__main__":
    returns(Console(width=130)) if sys.argv[1:] == ["returns"] else main()
