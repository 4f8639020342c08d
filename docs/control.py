"""Measure how well the agents of chapter 5 control, and draw it: `python docs/control.py`.

Curves are kept in docs/control.json, run by run, and only what is not there yet is measured (about forty minutes of
CPU for all). Then the pictures in docs/images and the tables in docs/control.md are made again; `python docs/control.py
draw` does that alone, and `python docs/control.py measure WORLD ...` measures some worlds only. Run i has the same
streams of random numbers for every method.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng

from bayesrl._files import read_text, write_text
from bayesrl.beliefs.covariances import Discrete, Gaussian, StateAction
from bayesrl.beliefs.features import Polynomial
from bayesrl.core import Streams, Transition, play
from bayesrl.errors import NotConverged
from bayesrl.lab.build import agent_for, named, world_for
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.plots import sheet as _sheet
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.statistics import Interval, mean_interval
from bayesrl.value import GPRL

DOCS = Path(__file__).parent
DATA, PAGE, IMAGES = DOCS / "control.json", DOCS / "control.md", DOCS / "images"
LAST = 20
"""Episodes at the end of a run that the tables average over."""

BLOCK = 10
"""Runs of every method that are measured before more of one."""

Curves = dict[str, dict[str, list[list[float]]]]
"""By world and by method, one curve for each run."""


class Place(NamedTuple):
    """A world, the methods that are run in it, and the episodes of a run."""

    world: str
    episodes: int
    methods: dict[str, int]
    """Methods with their parameters, and the number of runs of each."""
    score: str = "returns"
    """What a curve holds: the return of each episode, or the exact value of the policy after updates."""
    every: int = 1
    """Episodes between two points of an exact curve."""


PLACES = (
    Place("mountain-car", 100, {"gpsarsa": 20, "gpsarsa:residuals=coloured": 10}),
    Place(
        "random-walk",
        300,
        {
            "bac": 20,
            "bac:rate=0.02": 20,
            "actor-critic": 20,
            "bpg-1:paths=5": 20,
            "bpg-2:paths=5": 20,
            "reinforce:paths=5": 20,
            "reinforce:paths=5,rate=0.005": 20,
            "gpomdp:paths=5": 20,
            "gpomdp:paths=5,rate=0.005": 20,
        },
        "exact",
        15,
    ),
    Place(
        "bpg-regulator",
        2000,
        {
            "bpg-1": 10,
            "bpg-2": 10,
            "bpg-hessian": 10,
            "reinforce:rate=0.3,direction=natural,length=fisher": 10,
            "gpomdp:rate=0.3,direction=natural,length=fisher": 10,
        },
        "exact",
        100,
    ),
    Place("maze-2d", 100, {"gpsarsa": 10, "bac": 10}),
    Place("ship-steering", 100, {"gpsarsa": 10, "bac": 10}),
    Place("CartPole-v1", 100, {"gpsarsa": 10, "bac": 10, "bpg-2": 10}),
)


class Hill(NamedTuple):
    """A setting of GPRL on the car on the hill."""

    scale: tuple[float, float]
    width: float
    gamma: float
    jitter: float
    draws: int = 10

    @property
    def label(self) -> str:
        """Its name in the data."""
        scales = f"{self.scale[0]:g} {self.scale[1]:g}"
        return f"scales {scales}, width {self.width:g}, gamma {self.gamma:g}, jitter {self.jitter:g}"


SETTINGS = (((0.15, 0.3), 0.1, 0.9), ((0.25, 0.5), 0.1, 0.9), ((0.25, 0.5), 0.2, 0.9), ((0.25, 0.5), 0.2, 0.95))
"""Value scales, width and discount of the reference's four settings; the first is the world's."""
HILLS = (
    *(Hill(*one, 0.01, 20 if one is SETTINGS[0] else 10) for one in SETTINGS),
    *(Hill(*one, jitter) for one, jitter in zip(SETTINGS, (1e-4, 1e-4, 1e-3, 1e-3), strict=True)),
)
"""With the world's jitter, and with the reference's."""
NEAR, CLOSE, SOON, STEPS = 0.3, 0.2, 10, 30
"""Distances from the target that count as near and as close, the step from which the car stays near, and all steps."""


# What is kept --------------------------------------------------------------------------------------------------------


def read() -> Curves:
    """The curves measured so far."""
    return json.loads(read_text(DATA)) if DATA.exists() else {}


def write(curves: Curves) -> None:
    """Keep them, a line for each run."""
    worlds = []
    for world, found in curves.items():
        methods = []
        for name, runs in found.items():
            lines = ",\n".join(f"   {json.dumps(one)}" for one in runs)
            methods.append(f"  {json.dumps(name)}: [\n{lines}\n  ]")
        worlds.append(f" {json.dumps(world)}: {{\n" + ",\n".join(methods) + "\n }")
    write_text(DATA, "{\n" + ",\n".join(worlds) + "\n}\n")


def short(x: float) -> float:
    """Six digits; whole numbers without a point."""
    y = float(f"{x:.6g}")
    return int(y) if y == int(y) else y


# Measuring -----------------------------------------------------------------------------------------------------------


def cart_pole() -> tuple[Any, dict[str, dict[str, Any]]]:
    """Gymnasium's cart-pole, which suggests nothing, and what we give the agents: one set of scales, chosen once."""
    import gymnasium

    from bayesrl.adapters.gymnasium import GymWorld

    k_s, phi = Gaussian(scale=[2.4, 3.0, 0.2, 3.0], variance=1000.0), Polynomial(degree=1, dims=4)
    policy = SoftmaxPolicy(np.zeros((5, 2)), phi)
    given = {
        "gpsarsa": {
            "actions": 2,
            "covariance": StateAction(k_s, Discrete(), dims=4),
            "residuals": "white",
            "threshold": 10.0,
            "half_life": 10.0,
        },
        "bac": {"policy": policy, "covariance": k_s, "threshold": 0.1},
        "bpg-2": {"policy": policy},
    }
    return GymWorld(gymnasium.make("CartPole-v1"), gamma=0.99), given


def measure(place: Place, method: str, i: int) -> list[float]:
    """The curve of run i."""
    world, given = cart_pole() if place.world == "CartPole-v1" else (world_for(place.world), {})
    name, params = named(method)
    agent = agent_for(name, world, params=given.get(name, {}) | params)
    value = {"random-walk": walk_return, "bpg-regulator": regulator_cost}.get(place.world)
    curve, paid, episodes = [], 0.0, 0
    if place.score == "exact":
        curve.append(value(agent.start().policy))
    for step in play(agent, world, Streams.of(0, i), horizon=world.horizon):
        paid += step.transition.reward
        if not step.transition.ends_episode:
            continue
        episodes += 1
        if place.score == "returns":
            curve.append(paid)
        elif episodes % place.every == 0:
            curve.append(value(step.mind.policy))
        paid = 0.0
        if episodes == place.episodes:
            break
    return [short(x) for x in curve]


def walk_return(policy: Any) -> float:
    """The exact expected discounted return of a policy on the random walk."""
    n, gamma = 9, 0.99
    right = np.array([np.exp(policy.log_prob(s, 1)) for s in range(n)])
    P = np.zeros((n, n))
    P[np.arange(n), np.maximum(np.arange(n) - 1, 0)] += 1.0 - right
    P[np.arange(n - 1), np.arange(1, n)] += right[:-1]
    return float(np.linalg.solve(np.eye(n) - gamma * P, -np.ones(n))[0])


def regulator_cost(policy: Any) -> float:
    """The exact expected cost of a policy of the regulator: m is E x^2."""
    gain, sigma = policy.gain, policy.sigma
    m, cost = 0.3**2 + 0.001**2, 0.0
    for _ in range(20):
        cost += m + 0.1 * (gain * gain * m + sigma * sigma)
        m = (1.0 + gain) ** 2 * m + sigma * sigma + 0.01**2
    return cost


def climb(hill: Hill, draw: int) -> list[float]:
    """Whether values settled, and the distances from the target after each step, from one draw of transitions."""
    world, rng = world_for("car-on-the-hill", {"width": hill.width}), default_rng(draw)
    log = []
    for _ in range(100):
        s, a = rng.uniform([-1.0, -2.0], [1.0, 2.0]), rng.uniform(-4.0, 4.0)
        log.append(Transition(s, [a], 0.0, world.step(s, [a], rng).state))
    given = dict(suggestions_for(world)["gprl"]) | {
        "covariance": Gaussian(scale=list(hill.scale)),
        "jitter": hill.jitter,
    }
    dynamics = Gaussian(scale=[1.0, 2.0, 8.0])
    solver = GPRL(actions=np.linspace(-4.0, 4.0, 9), gamma=hill.gamma, dynamics=dynamics, **given)
    settled = 1
    try:
        found = solver.solve(log, rng)
    except NotConverged as error:
        settled, found = 0, error.best
    state, _ = world.reset(rng)
    far = []
    for _ in range(STEPS):
        state = world.step(state, solver.actions[found.act(None, state, rng).action], rng).state
        far.append(short(float(np.hypot(state[0] - 0.6, state[1]))))
    return [settled, *far]


def missing(curves: Curves) -> Iterator[tuple[str, str, Callable[[], list[float]]]]:
    """What is not measured yet, with how to measure it: ten runs of everything first."""
    for begin in (0, BLOCK):
        for place in PLACES:
            for method, runs in place.methods.items():
                done = len(curves.get(place.world, {}).get(method, ()))
                for i in range(max(begin, done), runs if begin else min(runs, BLOCK)):
                    yield place.world, method, lambda place=place, method=method, i=i: measure(place, method, i)
    for hill in HILLS:
        for i in range(len(curves.get("car-on-the-hill", {}).get(hill.label, ())), hill.draws):
            yield "car-on-the-hill", hill.label, lambda hill=hill, i=i: climb(hill, i)


def sweep(worlds: list[str]) -> None:
    """Measure what is missing, in some worlds or in all."""
    for world, name, make in list(missing(read())):
        if not worlds or world in worlds:
            curve = make()
            curves = read()
            curves.setdefault(world, {}).setdefault(name, []).append(curve)
            write(curves)
            print(world, name, len(curves[world][name]), f"{np.mean(curve[-LAST:]):.4g}", flush=True)


# Telling -------------------------------------------------------------------------------------------------------------


def show(x: Interval, digits: int, sign: float = 1.0) -> str:
    """A mean and its 95% interval."""
    return f"{sign * x.mean:.{digits}f} ± {x.half_width:.{digits}f}"


def lines(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def final(runs: list[list[float]], part: slice = slice(-LAST, None)) -> Interval:
    """The mean over runs of each run's mean over some of its episodes."""
    return mean_interval([float(np.mean(run[part])) for run in runs])


def tables(curves: Curves) -> dict[str, str]:
    """The tables of the page by name."""
    car = [
        [f"`{name}`", str(len(runs)), show(final(runs), 1, -1.0), f"{-max(ends):.0f} to {-min(ends):.0f}"]
        for name, runs in curves["mountain-car"].items()
        for ends in [[float(np.mean(run[-LAST:])) for run in runs]]
    ]
    made = {"mountain-car": lines(["agent", "runs", "steps of the last 20 of 100 episodes", "single runs"], car)}
    for world, digits, points in (("random-walk", 2, (5, 10, 20)), ("bpg-regulator", 5, (2, 10, 20))):
        place = next(place for place in PLACES if place.world == world)
        batch = 5 if world == "random-walk" else 10
        head = ["agent", "runs", *(f"{k * place.every // batch} updates" for k in points)]
        rows = [
            [f"`{name}`", str(len(runs)), *(show(mean_interval([run[k] for run in runs]), digits) for k in points)]
            for name, runs in curves[world].items()
        ]
        made[world] = lines(head, rows)
    rows = []
    for hill in HILLS:
        runs = curves["car-on-the-hill"].get(hill.label, [])
        if runs:
            far = np.array([run[1:] for run in runs])
            stays = [int((far[:, SOON - 1 :].max(axis=1) <= r).sum()) for r in (NEAR, CLOSE)]
            rows.append(
                [f"{hill.scale[0]:g}, {hill.scale[1]:g}", f"{hill.width:g}", f"{hill.gamma:g}", f"{hill.jitter:g}"]
                + [f"{n} of {len(runs)}" for n in (sum(int(run[0]) for run in runs), *stays)]
            )
    head = ["value scales", "width", "discount", "jitter", "values settled"]
    made["car-on-the-hill"] = lines([*head, "near and stays", f"within {CLOSE:g} and stays"], rows)
    rows = [
        [place.world, f"`{name}`", str(len(runs)), show(final(runs, slice(0, LAST)), 1), show(final(runs), 1)]
        for place in PLACES
        if place.world in ("maze-2d", "ship-steering", "CartPole-v1")
        for name, runs in curves.get(place.world, {}).items()
    ]
    made["others"] = lines(["world", "agent", "runs", "return of episodes 1 to 20", "81 to 100"], rows)
    passed = {
        name: [float(np.mean(np.array(run[-LAST:]) > -100.0)) for run in runs]
        for name, runs in curves["ship-steering"].items()
    }
    rows = [
        [f"`{name}`", f"{np.mean(shares):.0%}", f"{sum(x >= 0.5 for x in shares)} of {len(shares)}"]
        for name, shares in passed.items()
    ]
    made["ship"] = lines(["agent", "last 20 episodes that pass the gate", "runs in which half of them do"], rows)
    return made


def page(text: str, tables: dict[str, str]) -> str:
    """The page with its tables made again."""
    for name, table in tables.items():
        before, begin, rest = text.partition(f"<!-- {name} -->")
        end = f"<!-- end of {name} -->"
        text = f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    return text


COLOURS = ("#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#000000", "0.55", "#E69F00", "#F0E442")


def band(ax: Any, x: Any, runs: list[list[float]], colour: str, label: str) -> None:
    """The mean of curves with its 95% band."""
    found = [mean_interval(list(column)) for column in zip(*runs, strict=True)]
    ax.plot(x, [one.mean for one in found], color=colour, lw=1.3, label=label)
    ax.fill_between(x, [one.low for one in found], [one.high for one in found], color=colour, alpha=0.18, lw=0)


def draw_exact(curves: Curves) -> None:
    """The random walk and the regulator: exact values of policies against episodes, all agents at equal samples."""
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(11, 4.6), layout="constrained")
    left, right = sheet.subplots(1, 2)
    for ax, world in ((left, "random-walk"), (right, "bpg-regulator")):
        every = next(place.every for place in PLACES if place.world == world)
        for colour, (name, runs) in zip(COLOURS, curves[world].items(), strict=False):
            if world == "bpg-regulator":
                name, runs = name.partition(":")[0], [[x - 0.100342 for x in run] for run in runs]
            band(
                ax, every * np.arange(len(runs[0])), runs, colour, name.replace("paths=5,", "").replace(":paths=5", "")
            )
        ax.set(xlabel="episodes", title=world)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)
    left.axhline(-8.648, color="0.7", lw=0.8, ls=":")
    left.set(ylabel="expected discounted return of the policy", ylim=(-30.0, -8.0))
    right.set(ylabel="expected cost above the least", yscale="log", ylim=(1e-4, 10.0))
    _sheet.write("docs", sheet, IMAGES / "control-gradients.png", dpi=110)


def draw_episodes(curves: Curves) -> None:
    """Returns by episode, averages of five, in the worlds where the policy cannot be valued exactly; and the hill."""
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(11, 6.0), layout="constrained")
    axes = sheet.subplots(2, 3).ravel()
    for ax, world in zip(axes, ("mountain-car", "maze-2d", "ship-steering", "CartPole-v1"), strict=False):
        for colour, (name, runs) in zip(
            (COLOURS[0], COLOURS[3], COLOURS[2]), curves.get(world, {}).items(), strict=False
        ):
            five = [np.mean(np.reshape(run, (-1, 5)), axis=1).tolist() for run in runs]
            if len(five) > 1:
                band(ax, 5 * np.arange(1, len(five[0]) + 1), five, colour, f"{name} ({len(runs)} runs)")
        ax.set(xlabel="episodes", ylabel="return", title=world)
        ax.legend(frameon=False, fontsize=8)
    for ax, hill, title in (
        (axes[4], HILLS[0], "the world's jitter, .01"),
        (axes[5], HILLS[4], "the reference's, 1e-4"),
    ):
        for run in curves["car-on-the-hill"].get(hill.label, ()):
            ax.plot(np.arange(1, STEPS + 1), run[1:], color=COLOURS[0], lw=0.9, alpha=0.6)
        ax.axhline(NEAR, color="0.5", lw=0.8, ls=":")
        ax.set(xlabel="steps", ylabel="distance from the target", ylim=(0.0, 3.0), title=f"car-on-the-hill, {title}")
    for ax in axes:
        ax.title.set_size(10)
        ax.spines[["top", "right"]].set_visible(False)
    _sheet.write("docs", sheet, IMAGES / "control-episodes.png", dpi=110)


def tell() -> None:
    """Make the pictures and the tables again."""
    curves = read()
    draw_exact(curves)
    draw_episodes(curves)
    write_text(PAGE, page(read_text(PAGE), tables(curves)))


if __name__ == "__main__":
    if sys.argv[1:2] != ["draw"]:
        sweep(sys.argv[2:])
    if sys.argv[1:2] != ["measure"]:
        tell()
