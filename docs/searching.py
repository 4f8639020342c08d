"""Measure "Searching forward" and "Bandits on a box" of docs/continuous.md: `python docs/searching.py`.

Runs are kept in docs/searching.json, and only what is not there yet is measured (some minutes of CPU for all). Then
the tables and pictures are made again; `python docs/searching.py draw` does that alone. Run i has the same streams of
random numbers for every row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl._files import read_text, write_text
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.continuous import GPPOMDP, ContinuousForwardSearch, GPSparseSampling, NormalWishartDynamics
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.measures.regret import regret
from bayesrl.lab.plots.box_bandit import plot_box_bandit
from bayesrl.lab.plots.sheet import look, new_sheet, open_axes, panels_of, write
from bayesrl.lab.priors import prior_for
from bayesrl.statistics import mean_interval
from bayesrl.worlds.continuous import blimp as blimps
from bayesrl.worlds.continuous import robot_navigation as robots

DOCS = Path(__file__).parent
DATA, PAGE = DOCS / "searching.json", DOCS / "continuous.md"
MOTOR = np.array([[-1.0], [0.0], [1.0]])
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
SEARCHES = 40
Kept = dict[str, Any]


# Control -------------------------------------------------------------------------------------------------------------


def blimp_known(**more: Any) -> NormalWishartDynamics:
    """The blimp's own dynamics; the noise is known."""
    return NormalWishartDynamics(
        lambda s, a, v: s @ blimps.A.T + blimps.B @ a + v, np.diag(blimps.NOISE**2),
        inverse=lambda s, a, y: y - s @ blimps.A.T - blimps.B @ a, reward=blimps.blimp_reward, **more,
    )  # fmt: skip


SENSOR = {
    "observation": lambda s, a, w: s[:, :1] + w,
    "inverse_observation": lambda s, a, z: (z - s[:, :1], 0.0),
    "sensor": np.array([[blimps.SENSOR**2]]),
    "state": (np.array(blimps.START), 1e-4 * np.eye(2)),
}


def blimp_hidden_process() -> GPPOMDP:
    """The height is the sum of velocities; forces on the blimp are learned, from nothing."""
    forces = [Gaussian(scale=2.0, variance=1e-4), Gaussian(scale=2.0, variance=0.25)]
    return GPPOMDP(
        forces, Gaussian(scale=2.0, variance=1e-4), 0.03, blimps.SENSOR,
        lambda x, a: np.column_stack([x[:, 0] + blimps.STEP * x[:, 1], x[:, 1]]), lambda x: x[:, :1],
        SENSOR["state"], particles=300, reward=blimps.blimp_reward,
    )  # fmt: skip


def robot_known() -> NormalWishartDynamics:
    """The drift and both noises are known, the state is hidden."""
    world = b.make_world("robot-navigation")
    told = suggestions_for(world)["normal-wishart-dynamics"]
    known = {"noise": world.noise**2 * np.eye(2), "sensor": world.sensor**2 * np.eye(2)}
    drift = np.array(world.drift)
    return NormalWishartDynamics(**(told | known | {"transition": lambda s, a, v: robots.moved(s, a, v) + drift}))


class Idle:
    """Does nothing."""

    def start(self) -> None:
        """Nothing to remember."""

    def act(self, mind: None, observation: Any, rng: Any) -> b.Decision:
        """No thrust."""
        return b.Decision(np.zeros(1), None, {})

    def learn(self, mind: None, transition: Any, rng: Any) -> None:
        """Nothing is learned."""


def search(prior: Any, actions: Any, depth: int, width: int, inner: int = 50) -> b.BayesAgent:
    """An agent that searches forward."""
    return b.BayesAgent(prior, ContinuousForwardSearch(actions, depth, width, inner=inner))


CONTROL: dict[str, tuple[str, dict[str, Any], int, Callable[[Any], Any]]] = {
    "blimp, seen: Gaussian processes from nothing": (
        "blimp", {}, 10, lambda world: search(prior_for(world), MOTOR, 3, 2)),
    "blimp, seen: the model is known": ("blimp", {}, 10, lambda world: search(blimp_known(), MOTOR, 3, 2)),
    "blimp, seen: idle": ("blimp", {}, 10, lambda world: Idle()),
    "blimp, sensor: the model is known": (
        "blimp", {"hidden": True}, 10,
        lambda world: search(blimp_known(particles=300, **SENSOR), MOTOR, 3, 2)),
    "blimp, sensor: forces from nothing (`gp-pomdp`)": (
        "blimp", {"hidden": True}, 10, lambda world: search(blimp_hidden_process(), MOTOR, 3, 2, 10)),
    "robot: drift and noises unknown": (
        "robot-navigation", {}, 10, lambda world: search(prior_for(world), world.moves, 2, 4)),
    "robot: drift and noises known": (
        "robot-navigation", {}, 10, lambda world: search(robot_known(), world.moves, 2, 4)),
}  # fmt: skip


def control(kept: Kept) -> None:
    """Rewards of each step of each run."""
    runs = kept.setdefault("control", {})
    for label, (name, settings, n, agent) in CONTROL.items():
        found = runs.setdefault(label, [])
        world = b.make_world(name, **settings)
        while len(found) < n:
            record = b.run(agent(world), world, world.steps, seed=0, replicate=len(found))
            found.append([round(float(r), 5) for r in record.reward])
            keep(kept)
            print(label, len(found), np.mean(found[-1][world.steps // 2 :]), flush=True)


# Error against width -------------------------------------------------------------------------------------------------


def plain_values(belief: Any, s: float, actions: Any, width: int, fresh: bool, rng: Any, depth: int = 3) -> Any:
    """A search with plain draws, whose random numbers are those of all actions or fresh for each."""
    rewards = np.array([belief.expected_reward(np.array([s]), a) for a in actions])
    if depth == 1:
        return rewards
    q, seed = np.empty(len(actions)), int(rng.integers(2**63))
    for k, a in enumerate(actions):
        own = default_rng([seed, k]) if fresh else default_rng(seed)
        drawn = belief.draw(np.array([s]), a, own, width)
        if depth == 2:
            after = np.max([belief.expected_rewards(drawn, c) for c in actions], axis=0)
        else:
            new = [belief.update(b.Transition(np.array([s]), a, 0.0, z)) for z in drawn]
            after = np.array([
                plain_values(one, z[0], actions, width, fresh, own, depth - 1).max()
                for one, z in zip(new, drawn, strict=True)
            ])  # fmt: skip
        q[k] = rewards[k] + belief.gamma * after.mean()
    return q


def widths(kept: Kept) -> None:
    """Errors of the three values of an unknown drift, and of three actions that are the same, by width."""
    from test_continuous_forward_search import ACTIONS, SeesRewards, three_decisions

    belief, found = SeesRewards(), kept.setdefault("widths", {})
    problems = {"drift": ACTIONS, "tie": np.zeros((3, 1))}
    exact = three_decisions(belief, 0.5, 100_001)
    truth = {"drift": exact, "tie": np.repeat(one_action(belief), 3)}
    for problem, actions in problems.items():
        for how in ("stratified", "common", "fresh"):
            errors = found.setdefault(f"{problem}, {how}", {})
            for width in WIDTHS:
                if str(width) in errors:
                    continue
                rows = []
                for i in range(SEARCHES):
                    rng = default_rng([width, i])
                    if how == "stratified":
                        planner = ContinuousForwardSearch(actions, 3, width)
                        q = planner.plan(belief, np.array([0.5]), None, rng).info["q"]
                    else:
                        q = plain_values(belief, 0.5, actions, width, how == "fresh", rng)
                    rows.append([round(float(x), 5) for x in q - truth[problem]])
                errors[str(width)] = rows
                keep(kept)


def one_action(belief: Any) -> float:
    """Three decisions, all with action 0: quantiles of the first draw, then closed forms."""
    from scipy.stats import t as student

    n = 100_001
    v = belief.scale * student(belief.nu).ppf((np.arange(n) + 0.5) / n)
    after, k = 0.5 + belief.m + v, belief.kappa
    m, psi, nu = belief.m + v / (k + 1), belief.psi + k / (k + 1) * v * v, belief.nu + 1
    variance = psi * (k + 2) / ((k + 1) * nu) * nu / (nu - 2.0)
    return float(-0.25 + belief.gamma * (-(after**2) - belief.gamma * ((after + m) ** 2 + variance)).mean())


def picture_of_widths(kept: Kept) -> None:
    """Mean errors and standard deviations of single searches, by width."""
    sheet = new_sheet("searching", 9.0, 3.4)
    left, right = panels_of(sheet, 1, 2)
    for panel, problem, title in ((left, "drift", "unknown drift"), (right, "tie", "three actions that are the same")):
        for k, how in enumerate(("stratified", "common", "fresh")):
            errors = {int(w): np.array(x) for w, x in kept["widths"][f"{problem}, {how}"].items()}
            x = sorted(errors)
            best = [errors[w].max(axis=1) if problem == "tie" else errors[w].mean(axis=1) for w in x]
            mean = np.array([e.mean() for e in best])
            panel.plot(x, mean, label=f"{how}: mean", **look(k))
            panel.plot(x, [np.sqrt((errors[w] ** 2).mean()) for w in x], color=look(k)["color"], linestyle=":")
        panel.axhline(0.0, color="0.3", linewidth=0.8)
        panel.set_xscale("log", base=2)
        panel.set_title(title, fontsize="medium")
        panel.set_xlabel("width")
        open_axes(panel)
    left.set_ylabel("error of values (dotted: root mean square)")
    left.set_ylim(-0.5, 2.5)
    right.legend(frameon=False, fontsize="small")
    write("searching", sheet, DOCS / "images" / "searching-width.png")


# Bandits on a box ----------------------------------------------------------------------------------------------------

BANDITS = {
    "greedy": {"depth": 1},
    "Thompson": {"depth": 0},
    "two decisions": {"depth": 2},
    "three decisions": {"depth": 3},
}
STEPS, RUNS = 30, 40


def bandits(kept: Kept) -> None:
    """Regret of each run after 10 and after all steps."""
    family, found = b.make_world("continuous-bandit"), kept.setdefault("bandits", {})
    for label, settings in BANDITS.items():
        rows = found.setdefault(label, [])
        agent = b.BayesAgent(family.default_prior(), GPSparseSampling(**settings))
        while len(rows) < RUNS:
            record = b.run(agent, family, STEPS, seed=0, replicate=len(rows))
            curve = regret(record, family).curve[:, 0]
            rows.append([round(float(curve[9]), 4), round(float(curve[-1]), 4)])
        keep(kept)
        print(label, np.mean(rows, axis=0), flush=True)


def picture_of_a_bandit() -> None:
    """The posterior after six steps and the next action of each planner."""
    family = b.make_world("continuous-bandit")
    record = b.run(b.BayesAgent(family.default_prior(), GPSparseSampling()), family, 5, seed=4)
    belief = family.default_prior().update_many((record.action, record.reward))
    world = family.draw(b.core.Streams.of(4).draw)
    decisions = {
        label: GPSparseSampling(**settings).plan(belief, 0, None, default_rng(0))
        for label, settings in BANDITS.items()
        if label != "three decisions"
    }
    plot_box_bandit(belief, DOCS / "images" / "continuous-bandit.png", decisions, world.mean)


# The page ------------------------------------------------------------------------------------------------------------


def read() -> Kept:
    """What was measured so far."""
    return json.loads(read_text(DATA)) if DATA.exists() else {}


def keep(kept: Kept) -> None:
    """Keep it, a line for each row."""
    parts = []
    for name, rows in kept.items():
        lines = ",\n".join(f"  {json.dumps(label)}: {json.dumps(found)}" for label, found in rows.items())
        parts.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    write_text(DATA, "{\n" + ",\n".join(parts) + "\n}\n")


def interval(x: Any, digits: int = 3) -> str:
    """A mean with its 95% interval."""
    mean, low, high, _ = mean_interval(np.asarray(x, np.float64))
    return f"{mean:.{digits}f} ± {(high - low) / 2:.{digits}f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of the page."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def tables(kept: Kept) -> dict[str, str]:
    """The tables of the page, by name."""
    made = {}
    for name, blocks in (("blimp", ((0, 20), (20, 50), (50, 100))), ("robot", ((0, 10), (10, 50)))):
        rows = []
        for label, found in kept["control"].items():
            if label.startswith(name):
                x = np.array(found)
                rows.append([label.removeprefix(name + ", ").removeprefix(name + ": "), str(len(x))])
                rows[-1] += [interval(x[:, i:j].mean(axis=1)) for i, j in blocks]
        made[name] = table([name, "runs", *(f"steps {i + 1}-{j}" for i, j in blocks)], rows)
    shown = (2, 8, 32, 128)
    rows = []
    for label, errors in kept["widths"].items():
        x = [np.array(errors[str(w)]) for w in shown]
        best = [e.max(axis=1) if label.startswith("tie") else e.mean(axis=1) for e in x]
        cells = [f"{interval(m, 2)}; {np.sqrt((e**2).mean()):.2f}" for m, e in zip(best, x, strict=True)]
        rows.append([label, *cells])
    made["widths"] = table(["problem, draws", *(f"width {w}" for w in shown)], rows)
    rows = [[label, *(interval(np.array(x)[:, i], 2) for i in range(2))] for label, x in kept["bandits"].items()]
    made["bandits"] = table(["`gp-sparse-sampling`", "regret of 10 steps", f"of {STEPS} steps"], rows)
    return made


def page(text: str, made: dict[str, str]) -> str:
    """The page with its tables."""
    for name, one in made.items():
        begin, end = f"<!-- searching: {name} -->\n", f"\n<!-- end of {name} -->"
        head, opened, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        assert opened, f"the page has no place for {name}"
        assert closed, f"the place for {name} has no end"
        text = f"{head}{begin}\n{one}\n{end}{tail}"
    return text


if __name__ == "__main__":
    kept = read()
    chosen = sys.argv[1:] or ["bandits", "widths", "control"]
    for part in (bandits, widths, control):
        if part.__name__ in chosen:
            part(kept)
    if {"bandits", "widths", "control"} <= kept.keys():
        picture_of_widths(kept)
        picture_of_a_bandit()
        write_text(PAGE, page(read_text(PAGE), tables(kept)))
