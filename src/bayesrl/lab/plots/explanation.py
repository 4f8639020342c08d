"""Plots of explanations and policies: the root of a search, a posterior row, a belief, and a policy on a map.

plot_explanation(why, "why.png")        an explanation, with a map if the world has one
plot_policy(world, "map.png")           the optimal or another policy of a world with a map, with its probabilities
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayesrl.checks import Ints
from bayesrl.errors import InvalidArgument, from_extra
from bayesrl.lab.explain import Explanation, Hidden, Plan, best_plan
from bayesrl.lab.plots.sheet import PALETTE, new_sheet, panels_of, write
from bayesrl.lab.sketches import reading, unlisted
from bayesrl.models.policy import policy_matrix
from bayesrl.models.solve import evaluate_policy
from bayesrl.problems import layout_of, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from bayesrl.worlds.tabular import MDPWorld

SHOWN = 12
"""Number of outcomes in a plot, the likeliest first."""
CHOSEN, OTHER = PALETTE[1], PALETTE[0]
ARROWS = {"up": (0.0, -1.0), "right": (1.0, 0.0), "down": (0.0, 1.0), "left": (-1.0, 0.0)}
"""Directions of these actions on a map; rows are counted from the top."""
LEAST = 0.005
"""Less probable actions are not drawn on a map."""


def plot_explanation(why: Explanation, path: str | Path) -> None:
    """Draw the root, the posterior of the chosen row and the map, if there is one, into a file (png, pdf, svg)."""
    mapped = why.mean_plan is not None and why.layout is not None
    lines = why.hidden is not None and why.hidden.vectors is not None
    found = {"root": why.root, "row": why.outcomes, "states": why.hidden, "vectors": lines, "map": mapped}
    panels = [name for name, there in found.items() if there]
    if not panels:
        raise InvalidArgument("plot_explanation", "why", "of a method with values or a belief", why.method)
    sheet = new_sheet("plot_explanation", 0.6 + 4.2 * len(panels), 3.8)
    for axes, name in zip(panels_of(sheet, 1, len(panels)), panels, strict=True):
        if name == "root":
            _root(axes, why)
        elif name == "row":
            _row(axes, why)
        elif name == "states":
            _states(axes, cast(Hidden, why.hidden))
        elif name == "vectors":
            _vectors(axes, cast(Hidden, why.hidden), why)
        else:
            assert why.mean_plan is not None
            assert why.layout is not None
            panel = next(p for p in why.layout if why.state in p)
            image = _map(axes, panel, why.mean_plan, why.actions, (None, None), why.state)
            axes.set_title("best policy and values of the mean model", fontsize="medium")
            sheet.colorbar(image, ax=axes, shrink=0.8)
    write("plot_explanation", sheet, path, why.title)


def plot_policy(world: MDPWorld, path: str | Path, policy: object = None) -> None:
    """Draw a policy of a world with a map into a file: arrows for actions, colours for values.

    The default is the optimal policy. Others are actions (S,), probabilities (S, A), a policy, or a solution that has
    one. Where a policy is stochastic, an arrow is as long as its action is probable, and a name has its percentage.
    """
    layout = layout_of(world)
    if layout is None:
        raise InvalidArgument("plot_policy", "world", "one with a map", name_of(world))
    plan = best_plan(world.mdp) if policy is None else plan_of(world, policy)
    if plan is None:
        raise InvalidArgument("plot_policy", "gamma", "less than 1", 1.0)
    panels, rows, columns = layout.shape
    across = min(panels, 4)
    down = -(-panels // across)
    size = np.clip(4.6 / max(rows, columns) / max(across / 2, 1), 0.3, 0.9)
    sheet = new_sheet("plot_policy", 1.6 + size * (columns + 0.3) * across, 0.5 + size * (rows + 0.4) * down)
    grid = panels_of(sheet, down, across)
    shown = plan.values[layout[layout >= 0]]
    ends = float(shown.min()), float(shown.max())
    for k, axes in enumerate(grid):
        if k < panels:
            image = _map(axes, layout[k], plan, world.actions, ends)
        else:
            axes.set_visible(False)
    sheet.colorbar(image, ax=grid, label="value", shrink=0.9)
    what = "optimal policy" if policy is None else "policy"
    write("plot_policy", sheet, path, f"{world.name}: {what} at discount {world.gamma:g}")


def plan_of(world: MDPWorld, policy: Any) -> Plan:
    """A policy, or that of a solution, and its values."""
    mu = policy_matrix("plot_policy", getattr(policy, "policy", policy), world.n_states, world.n_actions)
    return Plan(evaluate_policy(world, mu), mu.argmax(axis=1), mu)


def _root(axes: Axes, why: Explanation) -> None:
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


def _row(axes: Axes, why: Explanation) -> None:
    """The likeliest outcomes of the chosen action with their intervals."""
    shown = why.outcomes[:SHOWN]
    y = np.arange(len(shown))
    axes.hlines(y, [o.low for o in shown], [o.high for o in shown], color=CHOSEN, linewidth=2.5, alpha=0.45)
    axes.scatter([o.mean for o in shown], y, color=CHOSEN, s=30, zorder=3)
    axes.set_yticks(y, [f"to {o.next_state}, pays {o.reward:.3g}" for o in shown])
    axes.set(xlim=(-0.02, 1.02), ylim=(max(len(shown), 4) - 0.5, -0.5))
    axes.set_xlabel("\n".join(["probability (dot: mean, line: 95%)", *unlisted(why.outcomes, SHOWN)]))
    axes.set_title(f"posterior outcomes of {why.actions[why.action]} in state {why.state}", fontsize="medium")
    _plain(axes)


def _states(axes: Axes, hidden: Hidden) -> None:
    """The likeliest states as bars."""
    names = sorted(hidden.states, key=lambda name: -hidden.states[name])[:SHOWN]
    y = np.arange(len(names))
    axes.barh(y, [hidden.states[name] for name in names], color=OTHER, height=0.6)
    axes.set_yticks(y, names)
    axes.set(xlim=(-0.02, 1.02), ylim=(max(len(names), 4) - 0.5, -0.5))
    rest = len(hidden.states) - len(names)
    axes.set_xlabel("probability" + (f" ({rest} more are not shown)" if rest else ""))
    axes.set_title("the hidden state", fontsize="medium")
    _plain(axes)


def _vectors(axes: Axes, hidden: Hidden, why: Explanation) -> None:
    """Values of a problem with two states: one line for each alpha-vector, in the colour of its action."""
    assert hidden.vectors is not None
    assert hidden.best is not None
    second = list(hidden.states)[1]
    p = np.linspace(0.0, 1.0, 201)
    values = np.outer(1.0 - p, hidden.vectors[:, 0]) + np.outer(p, hidden.vectors[:, 1])
    upper, which = values.max(axis=1), hidden.best[values.argmax(axis=1)]
    for i, a in enumerate(hidden.best):
        axes.plot((0.0, 1.0), hidden.vectors[i], color=PALETTE[a % len(PALETTE)], linewidth=0.6, alpha=0.35)
    for a in np.unique(which):
        there = np.where(which == a, upper, np.nan)
        axes.plot(p, there, color=PALETTE[a % len(PALETTE)], linewidth=2.5, label=why.actions[a])
    now = hidden.states[second]
    axes.scatter([now], [np.interp(now, p, upper)], color="black", zorder=3, s=35)
    low, high = float(upper.min()), float(upper.max())
    axes.set_ylim(low - 0.25 * (high - low + 1e-9), high + 0.1 * (high - low + 1e-9))
    axes.set_xlabel(f"probability of {second} (dot: now)")
    axes.set_title("alpha-vectors of the believed model", fontsize="medium")
    axes.legend(fontsize="small", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _plain(axes: Axes) -> None:
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)


def _map(
    axes: Axes,
    panel: Ints,
    plan: Plan,
    actions: Sequence[str],
    ends: tuple[float | None, float | None],
    here: int | None = None,
) -> AxesImage:
    """One panel of a map: values as colours, actions as arrows if they are directions, otherwise as names."""
    with from_extra("plot_policy"):
        from matplotlib.patches import Rectangle

    rows, columns = panel.shape
    free = panel >= 0
    values = np.ma.masked_where(~free, plan.values[np.where(free, panel, 0)])
    image = axes.imshow(values, cmap="cividis", vmin=ends[0], vmax=ends[1])
    axes.set_facecolor("0.82")
    numbered = rows * columns <= 144
    for y, x in np.argwhere(free):
        s = int(panel[y, x])
        dark = bool(np.asarray(image.norm(plan.values[s : s + 1]))[0] < 0.55)
        ink = "white" if dark else "black"
        _actions(axes, x, y, [(actions[a] if actions else str(a), p) for a, p in probable(plan, s)], ink)
        if numbered:
            axes.text(x - 0.44, y - 0.42, str(s), color=ink, alpha=0.75, fontsize=5, ha="left", va="top")
        if s == here:
            axes.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=CHOSEN, linewidth=2.2))
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=0.8)
    axes.tick_params(which="both", bottom=False, left=False, labelbottom=False, labelleft=False)
    axes.spines[:].set_visible(False)
    return image


def probable(plan: Plan, s: int) -> list[tuple[int, float]]:
    """The actions of a state that have a probability worth showing, the most probable first."""
    if plan.probability is None:
        return [(int(plan.policy[s]), 1.0)]
    row = plan.probability[s]
    return [(int(a), float(row[a])) for a in np.argsort(-row, kind="stable") if row[a] >= LEAST]


def _actions(axes: Axes, x: int, y: int, chosen: Sequence[tuple[str, float]], ink: str) -> None:
    """The actions of one cell: arrows as long as they are probable, or names with percentages if there are several."""
    alone = len(chosen) == 1
    if not all(name in ARROWS for name, _ in chosen):
        lines = [name if alone else f"{name} {p:.0%}" for name, p in chosen]
        cell = 72.0 / axes.figure.dpi * axes.bbox.width / np.ptp(axes.get_xlim())  # width in points
        size = min(10.0, 1.5 * cell / max(map(len, lines)))
        axes.text(x, y, "\n".join(lines), color=ink, ha="center", va="center", fontsize=size)
        return
    for name, p in chosen:
        dx, dy = (0.28 * d for d in ARROWS[name])
        head, tail = ((x + k * dx, y + 0.06 + k * dy) for k in ((1.0, -1.0) if alone else (1.6 * p, 0.0)))
        style = {"arrowstyle": "-|>", "color": ink, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", head, tail, arrowprops=style | {"mutation_scale": 10.0 if alone else 3.0 + 7.0 * p})
