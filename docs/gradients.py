"""Measure estimates of policy gradients against exact ones, and draw them: `python docs/gradients.py`.

Squared errors are kept in docs/gradients.json; a section that is there is not measured again (about two minutes of CPU
for all). Then the tables of docs/gradients.md and the pictures in docs/images are made again;
`python docs/gradients.py draw` does that alone. Repetition i has the same episodes for every estimate.

The exact gradient of a world with few states follows from its tables: with d_t the distribution of the state after t
steps and Q_t the values of actions with H - t steps to go, it is the sum over t, s and a of
gamma^t d_t(s) pi(a|s) Q_t(s, a) u(s, a).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl import make_world
from bayesrl._files import read_text, write_text
from bayesrl.beliefs.covariances import Discrete
from bayesrl.beliefs.features import Tabular
from bayesrl.checks import Floats
from bayesrl.core import Streams, Transition, play
from bayesrl.gradient import (
    Gradient,
    SoftmaxPolicy,
    bac,
    bpg,
    fisher_information,
    gpomdp_gradient,
    reinforce_gradient,
)
from bayesrl.gradient._paths import Path as Episode
from bayesrl.gradient._paths import paths_of
from bayesrl.gradient.actor_critic import natural_weights
from bayesrl.gradient.bayesian_gradient import Whitened, quadrature_weights
from bayesrl.lab.plots.gradients import gradient_panel, plot_errors
from bayesrl.lab.plots.sheet import new_sheet, panels_of, write
from bayesrl.statistics import mean_interval, paired_difference

DOCS = Path(__file__).parent
DATA, PAGE, IMAGES = DOCS / "gradients.json", DOCS / "gradients.md", DOCS / "images"
EPISODES, REPETITIONS = (5, 10, 20, 40), 200
NOISES, PATHS, SCANNED = (0.1, 0.3, 1.0, 3.0), (10, 30, 100), 400
STATE = Discrete(variance=100.0)
LEVEL = 0.9
PLAIN = ("REINFORCE", "REINFORCE with baseline", "GPOMDP", "actor-critic")
BAYESIAN = ("bpg-1", "bpg-2", "bac")
AGAINST = (
    ("bpg-1", "REINFORCE"),
    ("bpg-2", "REINFORCE with baseline"),
    ("bac", "REINFORCE"),
    ("bpg-1", "REINFORCE with baseline"),
    ("bac", "REINFORCE with baseline"),
    ("bac", "actor-critic"),
)

Data = dict[str, Any]


# Exact gradients -----------------------------------------------------------------------------------------------------


class Exact(NamedTuple):
    """What tables say about a policy."""

    gradient: Floats
    steps: Floats
    """G over whole paths."""
    pairs: Floats
    """G over discounted pairs."""
    mean: float
    """Mean and variance of returns."""
    variance: float


def exact(P: Floats, R: Floats, policy: SoftmaxPolicy, gamma: float, horizon: int) -> Exact:
    """From P(y|s, a) and R(s, a, y), both (S, A, S), for paths that start in state 0 and last `horizon` steps.

    Rows of P that are zero belong to the end of an episode, where no action is taken.
    """
    pi = policy.probabilities()
    U = np.array([[policy.score(s, a) for a in range(pi.shape[1])] for s in range(len(pi))])
    pi = pi * P.sum(axis=2)
    V, squares, Q = np.zeros(len(pi)), np.zeros(len(pi)), []
    for _ in range(horizon):
        q = (P * R).sum(axis=2) + gamma * P @ V
        squares = (pi * ((P * R * R).sum(axis=2) + 2.0 * gamma * (P * R) @ V + gamma**2 * P @ squares)).sum(axis=1)
        V = (pi * q).sum(axis=1)
        Q.append(q)
    d, gradient, steps, pairs = np.eye(len(pi))[0], 0.0, 0.0, 0.0
    for t, q in enumerate(reversed(Q)):
        w = d[:, None] * pi
        gradient = gradient + gamma**t * np.einsum("sa,sa,san->n", w, q, U)
        G = np.einsum("sa,san,sam->nm", w, U, U)
        steps, pairs = steps + G, pairs + gamma**t * G
        d = np.einsum("sa,say->y", w, P)
    return Exact(gradient, steps, pairs, float(V[0]), float(squares[0] - V[0] ** 2))


# The random walk -----------------------------------------------------------------------------------------------------

WALK = make_world("random-walk")
RIGHT = np.log(0.82 / 0.18)


def walk_tables() -> tuple[Floats, Floats]:
    """P and R of the random walk; the last state is the end."""
    S, rng = WALK.n_states, default_rng(0)
    P, R = np.zeros((S, 2, S)), np.zeros((S, 2, S))
    for s in range(S - 1):
        for a in range(2):
            y = WALK.step(s, a, rng).state
            P[s, a, y], R[s, a, y] = 1.0, WALK.reward
    return P, R


def table_policy() -> SoftmaxPolicy:
    """A parameter for each state and action; right with probability .82 everywhere."""
    return SoftmaxPolicy.tabular(WALK.n_states, 2, np.tile([0.0, RIGHT], WALK.n_states))


def line_policy() -> SoftmaxPolicy:
    """Two parameters: the preference for right is theta_0 + theta_1 x, with x from -1 to 1 along the walk."""
    phi = np.zeros((WALK.n_states, 2, 2))
    phi[:, 1, 0], phi[:, 1, 1] = 1.0, np.linspace(-1.0, 1.0, WALK.n_states)
    return SoftmaxPolicy([RIGHT, 0.0], features=phi)


def exact_walk(policy: SoftmaxPolicy) -> Exact:
    """Exact, but for the noise of rewards, which does not move the gradient."""
    return exact(*walk_tables(), policy, WALK.gamma, WALK.horizon)


def episodes(policy: SoftmaxPolicy, count: int, seed: int, replicate: int = 0) -> list[list[Transition]]:
    """Some episodes of the random walk."""
    made: list[list[Transition]] = [[]]
    for step in play(policy, WALK, Streams.of(seed, replicate), horizon=WALK.horizon):
        made[-1].append(step.transition)
        if step.transition.ends_episode:
            if len(made) == count:
                break
            made.append([])
    return made


class Batch:
    """M episodes, and what is estimated from them."""

    def __init__(self, some: Sequence[list[Transition]], policy: SoftmaxPolicy) -> None:
        self.log, self.policy = [step for steps in some for step in steps], policy
        self.paths: list[Episode] = paths_of("page", self.log, policy)
        self.U = np.array([path.scores.sum(axis=0) for path in self.paths])
        self.rho = np.array([path.gain(WALK.gamma) for path in self.paths])
        self.steps = fisher_information(self.log, policy, "steps")
        self.pairs = fisher_information(self.log, policy, "pairs", WALK.gamma)

    def plain(self) -> dict[str, Floats]:
        """The estimates without error bars."""
        weights = natural_weights(self.paths, Tabular(WALK.n_states), 1.0, WALK.gamma, 0.1)
        return {
            "REINFORCE": reinforce_gradient(self.log, self.policy, WALK.gamma),
            "REINFORCE with baseline": reinforce_gradient(self.log, self.policy, WALK.gamma, baseline=True),
            "GPOMDP": gpomdp_gradient(self.log, self.policy, WALK.gamma),
            "actor-critic": self.pairs @ weights,
        }

    def bayesian(self, noise: float, known: Exact | None = None, scale: float = 1.0) -> dict[str, Gradient]:
        """The posteriors, with G from these episodes or exact; returns are divided by `scale`, gradients multiplied."""
        steps, pairs = (self.steps, self.pairs) if known is None else (known.steps, known.pairs)
        log = [step._replace(reward=step.reward / scale) for step in self.log]
        found = {
            "bpg-1": bpg(self.U, self.rho / scale, steps, 1, noise, "mean"),
            "bpg-2": bpg(self.U, self.rho / scale, steps, 2, noise, "mean"),
            "bac": bac(log, self.policy, pairs, STATE, noise, WALK.gamma, 0.0),
        }
        return {k: Gradient(scale * g.mean, scale**2 * g.covariance, scale * g.natural) for k, g in found.items()}


# What is measured ----------------------------------------------------------------------------------------------------


def squared(found: Floats, truth: Floats) -> float:
    """Squared error, in three digits."""
    return float(f"{np.sum((found - truth) ** 2):.3g}")


def measure_walk() -> Data:
    """Squared errors on the random walk, by estimate and number of episodes."""
    policy, errors = table_policy(), {}
    known = exact_walk(policy)
    for i in range(REPETITIONS):
        some = episodes(policy, EPISODES[-1], 0, i)
        for M in EPISODES:
            batch = Batch(some[:M], policy)
            found = batch.plain()
            for noise in (0.1, 1.0, 3.0):
                found |= {f"{name}, noise {noise:g}": g.mean for name, g in batch.bayesian(noise).items()}
            found |= {f"{name}, exact G": g.mean for name, g in batch.bayesian(1.0, known).items()}
            for name, estimate in found.items():
                errors.setdefault(name, {}).setdefault(str(M), []).append(squared(estimate, known.gradient))
    return errors


def measure_bars() -> Data:
    """How many posteriors with two parameters hold the exact gradient in their central 90%."""
    policy, held = line_policy(), {}
    known = exact_walk(policy)
    for i in range(REPETITIONS):
        some = episodes(policy, EPISODES[-1], 1, i)
        for M in (10, 40):
            batch = Batch(some[:M], policy)
            s = float(batch.rho.std())
            ways = {"as they are": (None, 1.0), "scaled": (None, s), "scaled, exact G": (known, s)}
            for way, (G, scale) in ways.items():
                for name, g in batch.bayesian(1.0, G, scale).items():
                    gap = g.mean - known.gradient
                    inside = gap @ np.linalg.solve(g.covariance, gap) < -2.0 * np.log1p(-LEVEL)
                    held.setdefault(name, {}).setdefault(way, {}).setdefault(str(M), []).append(int(inside))
    return {name: {way: {M: sum(x) for M, x in m.items()} for way, m in ways.items()} for name, ways in held.items()}


def chain_tables(sure: bool) -> tuple[Floats, Floats]:
    """P and R of the chain, with its slips or without."""
    P, R = make_world("chain").mdp.dense()
    return (np.round(P) if sure else P), R


STEPS, CHAIN_GAMMA = 5, 0.95


def chain_paths(P: Floats, R: Floats, policy: SoftmaxPolicy, M: int, rng: Generator) -> tuple[Floats, Floats]:
    """Scores (M, n) and returns (M,) of paths of five steps."""
    pi = policy.probabilities()
    U = np.array([[policy.score(s, a) for a in range(2)] for s in range(len(P))])
    s, u, rho = np.zeros(M, int), np.zeros((M, U.shape[2])), np.zeros(M)
    for t in range(STEPS):
        a = (rng.random(M) > pi[s, 0]).astype(int)
        y = np.minimum((rng.random(M)[:, None] > np.cumsum(P[s, a], axis=1)).sum(axis=1), len(P) - 1)
        u, rho, s = u + U[s, a], rho + CHAIN_GAMMA**t * R[s, a, y], y
    return u, rho


def measure_chain(sure: bool) -> Data:
    """Mean squared errors on the chain by paths and noise, the size of model 1's weights, and paired differences."""
    P, R = chain_tables(sure)
    policy = SoftmaxPolicy.tabular(len(P), 2)
    known = exact(P, R, policy, CHAIN_GAMMA, STEPS)
    G, g, root = known.steps, known.gradient, Whitened.by("page", known.steps, len(known.gradient)).root
    made: Data = {}
    for M in PATHS:
        errors: dict[float, list[list[float]]] = {noise: [] for noise in NOISES}
        weighed: dict[float, list[float]] = {noise: [] for noise in NOISES}
        rng = default_rng(M)
        for _ in range(SCANNED):
            u, rho = chain_paths(P, R, policy, M, rng)
            for noise in NOISES:
                found = (
                    rho @ u / M,
                    bpg(u, rho, G, 1, noise).mean,
                    (rho - rho.mean()) @ u / M,
                    bpg(u, rho, G, 1, noise, "mean").mean,
                    bpg(u, rho, G, 2, noise, "mean").mean,
                )
                errors[noise].append([float(np.sum((one - g) ** 2)) for one in found])
                w = quadrature_weights("page", u @ root, noise, 0.0)[0]
                weighed[noise].append(M * float(w**2 @ (u * u).sum(axis=1)) / float(np.trace(G)))
        for noise in NOISES:
            e = np.array(errors[noise]).T
            gaps = [paired_difference(e[i], e[j]) for i, j in ((1, 0), (3, 2), (4, 2))]
            made[f"{M}, {noise:g}"] = {
                "weights": round(float(np.mean(weighed[noise])), 2),
                "errors": [float(f"{x:.3g}") for x in e.mean(axis=1)],
                "standard errors": [round(gap.mean / (gap.half_width / 1.966), 1) for gap in gaps],
            }
    return made


SECTIONS: dict[str, Callable[[], Data]] = {
    "walk": measure_walk,
    "bars": measure_bars,
    "chain, slips": lambda: measure_chain(False),
    "chain, no slips": lambda: measure_chain(True),
}


def read() -> Data:
    """What has been measured so far."""
    return json.loads(read_text(DATA)) if DATA.exists() else {}


def keep(data: Data) -> None:
    """Write it, a line for each estimate and number of episodes."""
    text = json.dumps(data, indent=1)
    for open_, close in (("[", "]"),):
        parts = text.split(open_)
        text = parts[0] + "".join(
            open_ + " ".join(inside.split()) + close + rest
            for inside, _, rest in (part.partition(close) for part in parts[1:])
        )
    write_text(DATA, text + "\n")


# The page ------------------------------------------------------------------------------------------------------------


def rows(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(x: float) -> str:
    """Three digits, at most two after the point."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def main_name(name: str) -> str:
    """The series of an estimate in the picture."""
    return name if name in PLAIN else f"{name}, noise 1"


def errors_table(walk: Data) -> str:
    """Means with 95% intervals."""
    body = []
    for name in walk:
        found = [mean_interval(walk[name][str(M)]) for M in EPISODES]
        body.append([name, *(f"{number(x.mean)} ± {number(x.half_width)}" for x in found)])
    return rows(["estimate", *(f"{M} episodes" for M in EPISODES)], body)


def pairs_table(walk: Data) -> str:
    """Paired differences in standard errors."""
    body = []
    for first, second in AGAINST:
        cells = []
        for M in EPISODES:
            gap = np.subtract(walk[main_name(second)][str(M)], walk[main_name(first)][str(M)])
            z = gap.mean() / (gap.std(ddof=1) / np.sqrt(len(gap)))
            cells.append(f"**{z:.1f}**" if z > 3.0 else f"{z:.1f}")
        body.append([f"{first} below {second}", *cells])
    return rows(["by how many standard errors", *(f"{M} episodes" for M in EPISODES)], body)


def bars_table(bars: Data) -> str:
    """Shares of posteriors that hold the exact gradient."""
    body = []
    for name, ways in bars.items():
        body.append([name, *(f"{100 * ways[way][M] / REPETITIONS:.0f}%" for way in ways for M in ("10", "40"))])
    ways = next(iter(bars.values()))
    return rows(["posterior", *(f"{way}, {M} episodes" for way in ways for M in (10, 40))], body)


def scan_table(scan: Data) -> str:
    """Errors of models 1 and 2 beside Monte Carlo; below it by three standard errors in bold, above it in italics."""

    def said(x: float, z: float) -> str:
        return f"**{x:.3g}**" if z < -3.0 else f"*{x:.3g}*" if z > 3.0 else f"{x:.3g}"

    body = []
    for cell, found in scan.items():
        e, z = found["errors"], found["standard errors"]
        M, noise = cell.split(", ")
        shown = [f"{e[0]:.3g}", said(e[1], z[0]), f"{e[2]:.3g}", said(e[3], z[1]), said(e[4], z[2])]
        body.append([M, noise, f"{found['weights']:.2f}", *shown])
    head = ["paths", "noise", "A", "Monte Carlo", "model 1", "with baseline", "model 1, offset", "model 2, offset"]
    return rows(head, body)


def facts() -> str:
    """Exact numbers of both versions of the chain."""
    body = []
    for sure in (False, True):
        P, R = chain_tables(sure)
        x = exact(P, R, SoftmaxPolicy.tabular(len(P), 2), CHAIN_GAMMA, STEPS)
        linear = float(x.gradient @ np.linalg.pinv(x.steps, rcond=1e-10) @ x.gradient)
        rest = x.variance - linear
        cells = (x.mean, linear, rest, 1.0 + (x.mean**2 + linear) / rest, 1.0 + linear / rest)
        body.append(["without slips" if sure else "with slips", *(f"{y:.2f}" for y in cells)])
    limits = ["below Monte Carlo if A <", "with offset, below the baseline if A <"]
    return rows(["chain", "c", "v'v", "s²", *limits], body)


def draw(data: Data) -> None:
    """The two pictures."""
    walk, policy = data["walk"], table_policy()
    shown = {name: np.array([walk[main_name(name)][str(M)] for M in EPISODES]) for name in (*PLAIN, *BAYESIAN)}
    norm = float(np.sum(exact_walk(policy).gradient ** 2))
    title = f"The random walk, {REPETITIONS} repetitions"
    plot_errors(shown, EPISODES, IMAGES / "gradient-errors.png", {"the error of zero": norm}, title)
    policy = line_policy()
    known, some = exact_walk(policy), episodes(policy, 40, 2)
    sheet = new_sheet("page", 10.0, 5.0)
    for axes, M in zip(panels_of(sheet, 1, 2), (10, 40), strict=True):
        batch = Batch(some[:M], policy)
        found: dict[str, Any] = dict(batch.bayesian(1.0, scale=float(batch.rho.std())))
        found |= {name: batch.plain()[name] for name in ("REINFORCE with baseline", "actor-critic")}
        gradient_panel(axes, found, known.gradient, level=LEVEL, names=("theta_0", "theta_1"))
        axes.set_title(f"{M} episodes", fontsize="medium")
    handles, labels = axes.get_legend_handles_labels()
    sheet.legend(handles, labels, frameon=False, loc="outside lower center", ncols=len(labels))
    write("page", sheet, IMAGES / "gradient-ellipses.png")


def tables(data: Data) -> dict[str, str]:
    """Everything on the page that is made of numbers."""
    return {
        "errors": errors_table(data["walk"]),
        "pairs": pairs_table(data["walk"]),
        "bars": bars_table(data["bars"]),
        "facts": facts(),
        "slips": scan_table(data["chain, slips"]),
        "no slips": scan_table(data["chain, no slips"]),
    }


def page(text: str, made: dict[str, str]) -> str:
    """The page with its tables made again: each stands between two marks."""
    for name, table in made.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, found, rest = text.partition(begin)
        assert found, f"the page has no mark {begin}"
        text = f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    return text


def main() -> None:
    """Measure what is missing, then draw and write."""
    data = read()
    for name, measured in SECTIONS.items():
        if name not in data and sys.argv[1:] != ["draw"]:
            data[name] = measured()
            keep(data)
            print(name, flush=True)
    draw(data)
    write_text(PAGE, page(read_text(PAGE), tables(data)))


if __name__ == "__main__":
    main()
