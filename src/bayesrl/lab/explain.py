"""Why this action: the root of a planner's search, what is believed about the action it chose, and a map of what to do.

    why = explain("bamcp:simulations=2000", "grid5", state=3, steps=200)
    why.root["q"], why.root["visits"]       what the planner's info says of each action
    why.outcomes                            where the chosen action may lead: posterior means with 95% intervals
    sketched_root(why), sketched_map(why)   pictures in text
    plot_explanation(why, "why.png")        both as a picture, with a map where the world has one
    plot_policy(world, "map.png")           the optimal policy of a world that has a map

The method first lives in the world for `steps` steps, as `run` would let it with that seed, and is then asked what it
would do in `state`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import betaincinv

from bayesrl.beliefs.tabular.dirichlet_mdp import DirichletMDP
from bayesrl.checks import Floats, Ints, integer
from bayesrl.core import Mind, Streams, Transition, meet
from bayesrl.errors import InvalidArgument
from bayesrl.lab.build import agent_for, merged, named, world_for
from bayesrl.lab.plots.posteriors import _write
from bayesrl.lab.report import PALETTE
from bayesrl.models.solve import solve

READINGS = ("q", "visits", "lower", "upper", "probability")
"""What a planner's info may say of every action."""
DRAWS = 400
"""Sampled models behind an interval that has no closed form."""
SHOWN = 12
"""Outcomes in a picture, the likeliest first."""


class Outcome(NamedTuple):
    """Where an action may lead, what that pays, and how likely it is: the posterior mean and its central 95%."""

    next_state: int
    reward: float
    mean: float
    low: float
    high: float


class Plan(NamedTuple):
    """A policy and its values, for a map."""

    values: Floats
    policy: Ints


@dataclass(frozen=True)
class Explanation:
    """What a method would do in a state, and why."""

    method: str
    world: str
    state: int
    steps: int
    """Steps lived before."""
    seed: int
    actions: tuple[str, ...]
    """What the actions are called."""
    action: int
    """The one chosen."""
    root: Mapping[str, Floats]
    """What the planner says of each action: those of READINGS that it has."""
    outcomes: tuple[Outcome, ...]
    """Of the chosen action, the likeliest first; empty where the method has no belief about them."""
    mean_plan: Plan | None
    """The best policy of the mean model; None where there is none."""
    layout: Ints | None
    """The world's map; None where it has none."""

    @property
    def title(self) -> str:
        """What was asked."""
        return f"{self.method} in state {self.state} of {self.world} after {self.steps} steps, seed {self.seed}"

    def page(self) -> dict[str, Any]:
        """All but the map, ready for JSON."""
        rows = [
            {"action": name, **{key: column[a].item() for key, column in self.root.items()}}
            for a, name in enumerate(self.actions)
        ]
        asked = {key: getattr(self, key) for key in ("method", "world", "state", "steps", "seed")}
        return asked | {
            "action": self.actions[self.action],
            "root": rows,
            "outcomes": [outcome._asdict() for outcome in self.outcomes],
        }


def explain(
    method: str,
    world: str,
    state: int | None = None,
    *,
    steps: int = 0,
    prior: str | None = None,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Explanation:
    """What a method, named as on the command line, would do in a state (None: where it is) after so many steps."""
    integer("explain", "steps", steps, 0)
    integer("explain", "seed", seed, 0)
    place = world_for(world)
    if not hasattr(place, "n_states"):
        raise InvalidArgument("explain", "world", "one whose states are listed", world)
    s = None if state is None else integer("explain", "state", state, 0, place.n_states - 1)
    name, own = named(method)
    agent = agent_for(name, place, prior, merged(name, own, params or {}))
    streams = Streams.of(seed)
    place = meet(place, streams)
    mind, here = lived(agent, place, steps, streams)
    s = here if s is None else s
    action, mind, info = agent.act(mind, s, streams.thought)
    belief = mind.belief if isinstance(mind, Mind) else None
    modelled = hasattr(belief, "mean_mdp") and hasattr(belief, "sample_mdp")
    return Explanation(
        method=method,
        world=world,
        state=s,
        steps=steps,
        seed=seed,
        actions=place.actions or tuple(map(str, range(place.n_actions))),
        action=int(action),
        root={key: np.asarray(info[key]) for key in READINGS if np.shape(info.get(key)) == (place.n_actions,)},
        outcomes=posterior_row(belief, s, int(action), streams.learning) if modelled else (),
        mean_plan=best_plan(belief.mean_mdp()) if modelled and place.layout is not None else None,  # type: ignore[union-attr]
        layout=place.layout,
    )


def lived(agent: Any, world: Any, steps: int, streams: Streams) -> tuple[Any, int]:
    """The mind after so many steps, and what it then sees."""
    mind = agent.start()
    state, seen = world.reset(streams.world)
    for _ in range(steps):
        action, mind, _ = agent.act(mind, seen, streams.thought)
        state, new, reward, terminated = world.step(state, action, streams.world)
        mind = agent.learn(mind, Transition(seen, action, reward, new, terminated), streams.learning)
        if terminated:
            state, new = world.reset(streams.world)
        seen = new
    return mind, seen


def posterior_row(belief: Any, s: int, a: int, rng: Generator) -> tuple[Outcome, ...]:
    """The outcomes of (s, a), the likeliest first: intervals are the Dirichlet's own, or those of sampled models."""
    model = belief.mean_mdp()
    transitions = getattr(belief, "transitions", belief)
    if isinstance(transitions, DirichletMDP):
        g = int(model.group[s, a])
        n = int(model.outcomes.size[g])
        succ, reward, mean = model.succ[s, a, :n], model.reward[s, a, :n], model.prob[g, :n]
        low, high = _beta_ends(transitions.alpha[g, :n]) if not transitions.known[g] else (mean, mean)
    else:  # by next state, because sampled models may have outcomes of their own
        drawn = [belief.sample_mdp(rng) for _ in range(DRAWS)]
        low, high = np.quantile([_to_states(m, s, a) for m in drawn], (0.025, 0.975), axis=0)
        succ, mean = np.arange(model.n_states), _to_states(model, s, a)
        paid = _to_states(model, s, a, model.reward[s, a])
        reward = np.divide(paid, mean, out=np.zeros_like(paid), where=mean > 0.0)
    order = [k for k in np.argsort(-mean, kind="stable") if mean[k] > 0.0]
    return tuple(Outcome(int(succ[k]), *(float(x[k]) for x in (reward, mean, low, high))) for k in order)


def _beta_ends(alpha: Floats) -> tuple[Floats, Floats]:
    """The central 95% of each probability of a Dirichlet: Beta(alpha_k, the rest)."""
    rest = alpha.sum() - alpha
    if len(alpha) == 1:
        return np.ones(1), np.ones(1)
    return betaincinv(alpha, rest, 0.025), betaincinv(alpha, rest, 0.975)


def _to_states(model: Any, s: int, a: int, weight: Floats | float = 1.0) -> Floats:
    into = np.bincount(model.succ[s, a], model.prob[model.group[s, a]] * weight, model.n_states)
    return np.asarray(into, np.float64)


def best_plan(model: Any) -> Plan | None:
    """The optimal policy of a model and its values; None without a discount, where a map would need a horizon."""
    if model.gamma == 1.0:
        return None
    solution = solve(model)
    return Plan(solution.values, solution.policy)


# Pictures in text ----------------------------------------------------------------------------------------------------

SKETCH = 25
"""Letters that a scale is wide."""
LETTERS = {"up": "↑", "right": "→", "down": "↓", "left": "←"}


def sketch(low: float, at: float, high: float, first: float, last: float) -> str:
    """A line from low to high with a dot on it, on a scale from first to last."""
    span = last - first if last > first else 1.0
    ends = [round((SKETCH - 1) * min(max((x - first) / span, 0.0), 1.0)) for x in (low, at, high)]
    line = [" "] * SKETCH
    line[ends[0] : ends[2] + 1] = "─" * (ends[2] + 1 - ends[0])
    line[ends[1]] = "●"
    return "".join(line)


def sketched_root(why: Explanation) -> list[str]:
    """Of each action its value with its bounds, all on one scale; nothing where the planner says nothing of values."""
    key = reading(why)
    if key is None:
        return [""] * len(why.actions)
    at = why.root[key]
    low, high = (why.root.get(end, at) for end in ("lower", "upper"))
    low, high = np.minimum(low, at), np.maximum(high, at)
    return [sketch(*three, low.min(), high.max()) for three in zip(low, at, high, strict=True)]


def sketched_map(why: Explanation) -> list[str]:
    """The best policy of the mean model on the world's map, the state in question in brackets; empty without a map."""
    if why.mean_plan is None or why.layout is None:
        return []
    panel, policy = next(p for p in why.layout if why.state in p), why.mean_plan.policy
    names = [LETTERS.get(name, name[:1]) for name in why.actions]
    cells = [[names[policy[s]] if s >= 0 else "█" for s in row] for row in panel]
    return [
        "".join(f"[{cell}]" if s == why.state else f" {cell} " for s, cell in zip(states, row, strict=True))
        for states, row in zip(panel, cells, strict=True)
    ]


def reading(why: Explanation) -> str | None:
    """What the planner says of its actions that is drawn."""
    return next((key for key in ("q", "upper", "probability", "visits") if key in why.root), None)


# Pictures ------------------------------------------------------------------------------------------------------------

CHOSEN, OTHER = PALETTE[1], PALETTE[0]
ARROWS = {"up": (0.0, -1.0), "right": (1.0, 0.0), "down": (0.0, 1.0), "left": (-1.0, 0.0)}
"""What these words mean on a map, whose rows are counted from the top."""


def plot_explanation(why: Explanation, path: str | Path) -> None:
    """Draw the root, the posterior of the chosen row and, where there is one, the map into a file (png, pdf, svg)."""
    from matplotlib.figure import Figure as Sheet

    mapped = why.mean_plan is not None and why.layout is not None
    panels = [name for name, there in (("root", why.root), ("row", why.outcomes), ("map", mapped)) if there]
    if not panels:
        raise InvalidArgument("plot_explanation", "why", "of a method that gives reasons", why.method)
    sheet = Sheet(figsize=(0.6 + 4.2 * len(panels), 3.8), dpi=150, layout="constrained")
    for axes, name in zip(np.atleast_1d(sheet.subplots(1, len(panels))), panels, strict=True):
        if name == "root":
            _root(axes, why)
        elif name == "row":
            _row(axes, why)
        else:
            assert why.mean_plan is not None
            assert why.layout is not None
            panel = next(p for p in why.layout if why.state in p)
            image = _map(axes, panel, why.mean_plan, why.actions, (None, None), why.state)
            axes.set_title("best policy and values of the mean model", fontsize="medium")
            sheet.colorbar(image, ax=axes, shrink=0.8)
    _write("plot_explanation", sheet, path, why.title)


def plot_policy(world: Any, path: str | Path) -> None:
    """Draw the optimal policy of a world with a map into a file: arrows for actions, colours for values."""
    from matplotlib.figure import Figure as Sheet

    if getattr(world, "layout", None) is None:
        raise InvalidArgument("plot_policy", "world", "one with a map", getattr(world, "name", type(world).__name__))
    plan = best_plan(world.mdp)
    if plan is None:
        raise InvalidArgument("plot_policy", "gamma", "less than 1", 1.0)
    panels, rows, columns = world.layout.shape
    across = min(panels, 4)
    down = -(-panels // across)
    size = np.clip(4.6 / max(rows, columns) / max(across / 2, 1), 0.3, 0.9)
    sheet = Sheet(
        figsize=(1.6 + size * (columns + 0.3) * across, 0.5 + size * (rows + 0.4) * down), dpi=150, layout="constrained"
    )
    grid = np.atleast_1d(sheet.subplots(down, across)).ravel()
    shown = plan.values[world.layout[world.layout >= 0]]
    ends = float(shown.min()), float(shown.max())
    for k, axes in enumerate(grid):
        if k < panels:
            image = _map(axes, world.layout[k], plan, world.actions, ends)
        else:
            axes.set_visible(False)
    sheet.colorbar(image, ax=grid.tolist(), label="value", shrink=0.9)
    _write("plot_policy", sheet, path, f"{world.name}: optimal policy at discount {world.gamma:g}")


def _root(axes: Any, why: Explanation) -> None:
    """Action values as points with their bounds (or bars of probabilities), visits beside them."""
    n, y = len(why.actions), np.arange(len(why.actions))
    colours = [CHOSEN if a == why.action else OTHER for a in range(n)]
    bounded = "lower" in why.root and "upper" in why.root
    key = reading(why)
    if bounded:
        axes.hlines(y, why.root["lower"], why.root["upper"], colors=colours, linewidth=2.5, alpha=0.45)
    if key is not None:
        axes.scatter(why.root[key], y, color=colours, s=45, zorder=3)
    axes.margins(x=0.12)
    axes.locator_params(axis="x", nbins=5)
    axes.ticklabel_format(axis="x", useOffset=False)
    visits = [f"\n{n:g} visits" for n in why.root["visits"]] if "visits" in why.root else [""] * n
    axes.set_yticks(y, [name + said for name, said in zip(why.actions, visits, strict=True)])
    axes.get_yticklabels()[why.action].set(color=CHOSEN, fontweight="bold")
    axes.set_ylim(n - 0.5, -0.5)
    said = {"q": "value", "upper": "upper bound", "probability": "probability of choosing it", "visits": "visits"}
    axes.set_xlabel((said[key] if key else "") + (" (line: bounds)" if bounded else ""))
    axes.set_title(f"at the root, {why.actions[why.action]} is chosen", fontsize="medium")
    _plain(axes)


def _row(axes: Any, why: Explanation) -> None:
    """The likeliest outcomes of the chosen action with their intervals."""
    shown = why.outcomes[:SHOWN]
    y = np.arange(len(shown))
    axes.hlines(y, [o.low for o in shown], [o.high for o in shown], color=CHOSEN, linewidth=2.5, alpha=0.45)
    axes.scatter([o.mean for o in shown], y, color=CHOSEN, s=30, zorder=3)
    axes.set_yticks(y, [f"to {o.next_state}, pays {o.reward:.3g}" for o in shown])
    axes.set(xlim=(-0.02, 1.02), ylim=(max(len(shown), 4) - 0.5, -0.5))
    axes.set_xlabel("\n".join(["probability (dot: mean, line: 95%)", *unlisted(why.outcomes, SHOWN)]))
    axes.set_title(f"where {why.actions[why.action]} leads from {why.state}, as believed", fontsize="medium")
    _plain(axes)


def unlisted(outcomes: Sequence[Outcome], shown: int) -> list[str]:
    """A line about the outcomes beyond so many, if there are any."""
    rest = outcomes[shown:]
    return [f"and {len(rest)} more, {sum(o.mean for o in rest):.3g} in all"] if rest else []


def _plain(axes: Any) -> None:
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)


def _map(
    axes: Any,
    panel: Ints,
    plan: Plan,
    actions: Sequence[str],
    ends: tuple[float | None, float | None],
    here: int | None = None,
) -> Any:
    """One panel of a map: values as colours, actions as arrows where they are directions, else as words."""
    from matplotlib.patches import Rectangle

    rows, columns = panel.shape
    free = panel >= 0
    values = np.ma.masked_where(~free, plan.values[np.where(free, panel, 0)])
    image = axes.imshow(values, cmap="cividis", vmin=ends[0], vmax=ends[1])
    axes.set_facecolor("0.82")
    numbered = rows * columns <= 144
    for y, x in np.argwhere(free):
        s = int(panel[y, x])
        dark = image.norm(plan.values[s]) < 0.55
        ink, name = ("white" if dark else "black"), actions[plan.policy[s]] if actions else str(plan.policy[s])
        if name in ARROWS:
            dx, dy = (0.28 * d for d in ARROWS[name])
            style = {"arrowstyle": "-|>", "color": ink, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (x + dx, y + 0.06 + dy), (x - dx, y + 0.06 - dy), arrowprops=style)
        else:
            axes.text(x, y, name, color=ink, ha="center", va="center")
        if numbered:
            axes.text(x - 0.44, y - 0.42, s, color=ink, alpha=0.75, fontsize=5, ha="left", va="top")
        if s == here:
            axes.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=CHOSEN, linewidth=2.2))
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=0.8)
    axes.tick_params(which="both", bottom=False, left=False, labelbottom=False, labelleft=False)
    axes.spines[:].set_visible(False)
    return image
