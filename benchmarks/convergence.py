"""How fast root values approach the exact ones, for every convergent planner of §4.3 to §4.6 over decades of budget.

    python -m benchmarks.convergence docs      measures, and writes docs/convergence.md's tables and its figure
    python -m benchmarks convergence           measures and prints

An error is the best root value, max_a q[a], minus the exact one (`bamdp-exact`). In all problems information has value:
acting on the mean model while learning is worth less than the Bayes-optimal value. Every figure is a mean over `SEEDS`
seeds. Slopes are least squares in log-log, over budgets whose error is not rounding.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng

import bayesrl as b
from bayesrl._files import read_text, write_text
from bayesrl.bamdp import exact_q
from bayesrl.lab.plots.sheet import write
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.solve import finite_horizon

SEEDS = 10
ROUNDING = 1e-9
"""Smaller relative errors are rounding: the value is exact."""
FLOOR = 1e-5
"""The relative error at which exact values are drawn."""
DECADES = tuple(10**n for n in range(1, 6))
STYLE = {
    "forward-search": ("#000000", "o", "-"),
    "branch-and-bound": ("#56B4E9", "s", "-"),
    "bop": ("#E69F00", "v", "-"),
    "hmdp": ("#CC79A7", "^", "-"),
    "bamcp": ("#0072B2", "o", "-"),
    "bamcp, wide": ("#0072B2", "x", "--"),
    "bayesian-sparse-sampling": ("#009E73", "D", "-"),
    "bfs3": ("#D55E00", "s", "-"),
    "sparse-sampling": ("#009E73", "D", "-"),
    "uct": ("#0072B2", "o", "-"),
    "fsss": ("#D55E00", "s", "-"),
    "beetle": ("#CC79A7", "^", "-"),
    "finite-state-controller": ("#000000", "P", "-"),
}
"""Colour (Okabe and Ito's), marker and dash of each method."""
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"


# Problems ------------------------------------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A belief, a state, and how many decisions are to be made (None: without end)."""

    name: str
    belief: Any
    state: int
    horizon: int | None
    q: Any
    """Exact values of the root's actions, (A,)."""
    greedy: float | None
    """The value of acting on the mean model with an update at every step."""
    mean: float
    """The value of the mean model itself."""

    @property
    def exact(self) -> float:
        """The Bayes-optimal value."""
        return float(self.q.max())


def problem(name: str, belief: Any, state: int, horizon: int | None, enough: int = 0) -> Problem:
    """A problem with its exact values; an endless one is cut after `enough` decisions."""
    d = horizon or enough
    earned = None if horizon is None else greedy(belief, state, d, {})
    return Problem(name, belief, state, horizon, exact_q(belief, state, d), earned, mean_q(belief, d)[state].max())


def greedy(belief: Any, s: int, d: int, memo: dict[Any, float]) -> float:
    """The value, in expectation over the belief, of planning in the mean model and learning; ties at random."""
    if d == 0 or belief.outcomes.terminal[s]:
        return 0.0
    key = (s, d, belief.alpha.tobytes())
    if key not in memo:
        q, o = mean_q(belief, d)[s], belief.outcomes
        tied = np.flatnonzero(q >= q.max() - 1e-12).tolist()
        memo[key] = sum(
            p
            * (
                o.reward[s, a, k]
                + belief.gamma * greedy(belief.seen_outcome(s, a, k), int(o.succ[s, a, k]), d - 1, memo)
            )
            for a in tied
            for k, p in enumerate(belief.predictive_row(s, a))
            if p > 0.0
        ) / len(tied)
    return memo[key]


def mean_q(belief: Any, d: int) -> Any:
    """q[s, a] of the mean model with d decisions to go."""
    return finite_horizon(belief.mean_mdp(), d).q


def tied_chain() -> Any:
    """One unknown slip, Beta(1, 1); discount .9."""
    return b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9))


def arm_or_wage() -> Any:
    """An arm that pays 1 with unknown probability, Beta(1, 1), and leads to state 1 if it does; or a wage of .6."""
    succ = np.array([[[1, 0], [0, 0]]] * 2)
    reward = np.array([[[1.0, 0.0], [0.6, 0.0]]] * 2)
    outcomes = Outcomes(succ, reward, [[0, 1]] * 2, np.array([2, 1]), 0.0, np.array([1.0, 0.0]), np.zeros(2, bool))
    return b.DirichletMDP(outcomes, [[1.0, 1.0], [1.0, 0.0]], 0.9, np.array([False, True]))


def random_rows() -> Any:
    """Three states, two actions, nothing known of any row (counts 1/3), rewards uniform; discount .95.

    The seed is the one of 0 to 9 in which information is worth most.
    """
    rewards = default_rng(8).uniform(0.0, 1.0, (3, 2, 3))
    return b.DirichletMDP.flat(TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), rewards, 0.95), 1 / 3)


# Budgets -------------------------------------------------------------------------------------------------------------


class Method(NamedTuple):
    """A method: its name, the unit of its budget, the budgets, and a constructor."""

    name: str
    unit: str
    budgets: tuple[int, ...]
    at: Callable[[int], Any]
    offline: bool = False


def online(p: Problem) -> list[Method]:
    """Planners on hyper-states.

    The constant of BAMCP's UCB rule is the range of one reward, or (wide) that of all returns, as the theory of UCT has
    it. The width of BFS3 is the cube root of its budget.
    """
    H, gamma, rewards = p.horizon, p.belief.gamma, p.belief.outcomes.reward
    c = float(rewards.max() - rewards.min())
    wide = c * (1.0 - gamma**H) / (1.0 - gamma)
    depths = (H - 6, H - 4, H - 2, H) if H > 6 else (H - 3, H - 2, H - 1, H)

    def bamcp(exploration: float) -> Callable[[int], Any]:
        return lambda n: b.make("bamcp", simulations=n, depth=H, exploration=exploration)

    def sampled(name: str) -> Callable[[int], Any]:
        return lambda n: b.make(name, simulations=n, depth=H)

    return [
        Method("forward-search", "depth", depths, lambda n: b.make("forward-search", depth=n)),
        Method("branch-and-bound", "depth", depths, lambda n: b.make("branch-and-bound", depth=n)),
        Method("bop", "nodes", DECADES, lambda n: b.make("bop", nodes=n, depth=H)),
        Method("hmdp", "simulations", DECADES, sampled("hmdp")),
        Method("bamcp", "simulations", (*DECADES[1:], 10**6), bamcp(c)),
        Method("bamcp, wide", "simulations", (*DECADES[1:], 10**6), bamcp(wide)),
        Method("bayesian-sparse-sampling", "simulations", DECADES, sampled("bayesian-sparse-sampling")),
        Method(
            "bfs3",
            "simulations",
            DECADES,
            lambda n: b.make("bfs3", simulations=n, depth=H, width=round(n ** (1 / 3))),
        ),
    ]


def known(p: Problem) -> list[Method]:
    """Planners in a known model."""
    H = p.horizon
    return [
        Method("sparse-sampling", "width", (2, 4, 8, 16, 32), lambda n: b.make("sparse-sampling", depth=H, width=n)),
        Method("uct", "simulations", (*DECADES[1:], 10**6),
               lambda n: b.make("uct", simulations=n, depth=H, exploration=10.0)),
        Method("fsss", "width", (2, 10, 10**2, 10**3, 10**4),
               lambda n: b.make("fsss", simulations=10**4, depth=H, width=n)),
    ]  # fmt: skip


def endless(p: Problem) -> list[Method]:
    """Planners of problems without end: the two offline ones, and BOP."""
    return [
        Method("beetle", "basis", (3, 10, 30, 100),
               lambda n: b.make("beetle", beliefs=round(1.3 * n), basis=n, tolerance=1e-4), True),
        Method("finite-state-controller", "nodes", (1, 2, 3, 4, 5),
               lambda n: b.make("finite-state-controller", nodes=n, restarts=5), True),
        Method("bop", "nodes", DECADES, lambda n: b.make("bop", nodes=n)),
    ]  # fmt: skip


# Measuring -----------------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    """What was measured at one budget, over the seeds."""

    budget: int
    error: Any
    milliseconds: float
    nodes: int
    """Hyper-states expanded, if the budget is a depth."""
    right: float
    """The share of seeds whose action is a best one."""
    bracketed: bool | None
    """Whether lower <= exact <= upper for every seed and action; None: no bounds."""

    @property
    def absolute(self) -> float:
        """Mean error without sign."""
        return float(np.abs(self.error).mean())

    @property
    def work(self) -> int:
        """The budget, or the number of nodes if the budget is a depth."""
        return self.nodes or self.budget


def measure(p: Problem, method: Method, budget: int) -> Point:
    """Errors at the root for each seed, the median time, and whether the bounds hold."""
    made, slack, info = method.at(budget), ROUNDING * p.exact, {}
    values, times, right, brackets = [], [], [], []
    for seed in range(SEEDS):
        rng, began = default_rng(seed), time.process_time()
        planner = made.solve(p.belief, rng) if method.offline else made
        action, _, info = planner.plan(p.belief, p.state, planner.start(), rng)
        times.append(1000.0 * (time.process_time() - began))
        values.append(planner.value if method.name == "finite-state-controller" else info["q"].max())
        right.append(p.q[action] >= p.exact - slack)
        if "lower" in info and (method.unit != "depth" or budget == p.horizon):
            brackets.append(bool((info["lower"] <= p.q + slack).all() and (p.q <= info["upper"] + slack).all()))
    nodes = info["nodes"] if method.unit == "depth" else 0
    error, bounds = np.array(values) - p.exact, all(brackets) if brackets else None
    return Point(budget, error, float(np.median(times)), nodes, float(np.mean(right)), bounds)


class Curve(NamedTuple):
    """A method on a problem."""

    method: Method
    points: list[Point]


def curve(p: Problem, method: Method) -> Curve:
    """All budgets of a method, after a call that compiles."""
    measure(p, method, method.budgets[0])
    return Curve(method, [measure(p, method, n) for n in method.budgets])


def slope(p: Problem, points: list[Point]) -> float | None:
    """Slope of log error in log budget, without rounding errors; None for fewer than three points."""
    kept = [(x.budget, x.absolute) for x in points if x.absolute > ROUNDING * p.exact]
    if len(kept) < 3:
        return None
    return float(np.polyfit(*np.log10(np.array(kept)).T, 1)[0])


# Report ---------------------------------------------------------------------------------------------------------------


def row(p: Problem, found: Curve) -> list[str]:
    """A row of the table: errors and best actions by budget, slope, time of the largest budget, bounds."""
    rate, depth = slope(p, found.points), found.method.unit == "depth"
    bounds = [x.bracketed for x in found.points if x.bracketed is not None]
    every = (p.q >= p.exact - ROUNDING * p.exact).all()
    return [
        f"`{found.method.name}`",
        found.method.unit,
        "<br>".join(cell(p, x) for x in found.points),
        "" if rate is None or depth else f"{rate:.2f}".replace("-", "−"),
        "" if every else "<br>".join(f"{x.right:.1f}" for x in found.points),
        short(found.points[-1].milliseconds),
        f"{sum(bounds)} of {len(bounds)}" if bounds else "",
    ]


def cell(p: Problem, x: Point) -> str:
    """Budget: mean absolute error (mean error ± standard error, if it is a thousandth or more)."""
    n = round(np.log10(x.budget))
    head = f"10{'⁰¹²³⁴⁵⁶'[n]}" if n > 1 and x.budget == 10**n else f"{x.budget}"
    head += f" ({x.nodes:,} nodes)" if x.nodes else ""
    if x.absolute <= ROUNDING * p.exact:
        return f"{head}: exact"
    mean, spread = x.error.mean(), x.error.std(ddof=1) / np.sqrt(SEEDS)
    sign = "+" if mean > 0 else "−"
    doubt = f" ± {short(spread)}" if spread > 1e-3 * x.absolute else ""
    return f"{head}: {short(x.absolute)} ({sign}{short(abs(mean))}{doubt})"


def short(x: float) -> str:
    """Two significant digits, without powers of ten."""
    return f"{x:,.0f}" if x >= 10 else f"{x:.{max(0, 1 - int(np.floor(np.log10(x))))}f}"


def markdown(rows: list[list[str]]) -> str:
    """A table; its first row is the head."""
    rows = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def table(p: Problem, curves: list[Curve]) -> str:
    """The problem's table."""
    errors = "mean error without sign (with sign ± standard error)"
    head = ["planner", "budget", errors, "slope", "best action", "ms of CPU", "bounds hold"]
    return markdown([head, *(row(p, found) for found in curves)])


def summary(problems: list[Problem]) -> str:
    """The values of the problems."""
    head = ["problem", "Bayes-optimal", "acting on the mean model", "what the mean model promises"]
    worth = [[p.exact, p.greedy, p.mean] for p in problems]
    cells = [["" if x is None else f"{x:.4f}" for x in values] for values in worth]
    return markdown([head, *([p.name, *told] for p, told in zip(problems, cells, strict=True))])


def draw(panels: list[tuple[Problem, list[Curve]]], path: Path) -> None:
    """Two panels for each problem: error by budget, and by time."""
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(4.3 * len(panels), 8.6), layout="constrained")
    axes = sheet.subplots(2, len(panels), sharey="col", squeeze=False)
    for (p, curves), (above, below) in zip(panels, axes.T, strict=True):
        floor = FLOOR * p.exact
        for method, points in curves:
            y, e = (np.array([f(np.abs(x.error)) for x in points]) for f in (np.mean, np.std))
            e /= np.sqrt(SEEDS - 1)
            colour, marker, dash = STYLE[method.name]
            unit = "nodes" if method.unit == "depth" else method.unit
            for ax, x in ((above, [x.work for x in points]), (below, [x.milliseconds for x in points])):
                ax.fill_between(x, np.maximum(y - e, floor), np.maximum(y + e, floor), color=colour, alpha=0.2, lw=0)
                ax.plot(
                    x, np.maximum(y, floor), color=colour, ls=dash, lw=1.5, marker=marker, ms=4.5,
                    label=f"{method.name} ({unit})",
                )  # fmt: skip
        for ax in (above, below):
            ax.set(xscale="log", yscale="log")
            ax.axhline(floor, color="0.6", lw=0.8, zorder=0)
            ax.text(0.01, floor, "exact", transform=ax.get_yaxis_transform(), va="bottom", size=8, color="0.4")
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(color="0.92", lw=0.6)
        above.set_title(f"{p.name} (value {p.exact:.3f})", size=10)
        above.set_xlabel("budget, in the unit of each planner")
        below.set_xlabel("milliseconds of CPU")
    for ax in axes[:, 0]:
        ax.set_ylabel("mean |error| of the best root value")
    labels = {label: line for ax in axes[0] for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    sheet.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    write("convergence", sheet, path, dpi=110)


def main(docs: Path | None = None) -> None:
    began = time.perf_counter()
    finite = [
        problem("tied chain, 8 decisions", tied_chain(), 0, 8),
        problem("arm or wage, 10 decisions", arm_or_wage(), 0, 10),
        problem("random rows, 5 decisions", random_rows(), 0, 5),
    ]
    chain = b.DirichletMDP.structured(b.make_world("chain", gamma=0.9), known=True)
    certain = problem("known chain, 4 decisions", chain, 3, 4)
    mean = finite[0]._replace(name="mean model of the tied chain, 8 decisions", q=mean_q(tied_chain(), 8)[0])
    without_end = [
        problem("tied chain, without end", tied_chain(), 0, None, 200),
        problem("arm or wage, without end", arm_or_wage(), 0, None, 120),
    ]
    tasks = [(p, online(p)) for p in finite] + [(certain, known(certain)), (mean, known(mean)[1:])]
    tasks += [(p, endless(p)) for p in without_end]
    text, panels = [summary(finite + without_end)], []
    for p, methods in tasks:
        panels.append((p, [curve(p, m) for m in methods]))
        text.append(f"### {p.name[0].upper()}{p.name[1:]}: {p.exact:.4f}\n\n{table(*panels[-1])}")
        print(text[-1], flush=True)
    print(text[0], f"\n\n{time.perf_counter() - began:.0f} s")
    if docs is not None:
        draw(panels[:3], docs / "images" / "convergence.png")
        draw([panels[3], *panels[5:]], docs / "images" / "convergence-offline.png")
        page = docs / "convergence.md"
        before, _, rest = read_text(page).partition(BEGIN)
        parts = [before + BEGIN, *text, END + rest.partition(END)[2]]
        write_text(page, "\n\n".join(parts))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
