"""A small world as a graph: states on a line, and an arrow for each outcome of each action.

plot_transitions(make_world("chain"), "chain.png")
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bayesrl.errors import InvalidArgument, from_extra
from bayesrl.lab.plots.sheet import PALETTE, new_sheet, panels_of, write
from bayesrl.models.mdp import TabularMDP
from bayesrl.problems import action_names, name_of
from bayesrl.worlds.tabular import MDPWorld

MOST = 12
"""The largest number of states."""
RADIUS, SPACE = 0.28, 1.6
"""The radius of a state, and the distance between two."""


class Arrow(NamedTuple):
    """An outcome of an action in a state."""

    state: int
    action: int
    next_state: int
    probability: float
    reward: float


def plot_transitions(world: MDPWorld, path: str | Path) -> list[Arrow]:
    """Draw the transitions of a world into a file (png, pdf, svg), and give back what was drawn.

    Arrows above the line go right, and below it left; a colour is an action. The widths are probabilities, and rewards
    other than zero are written.
    """
    n = world.n_states
    if n > MOST:
        raise InvalidArgument("plot_transitions", "world", f"one with at most {MOST} states", name_of(world))
    with_names = action_names(world, world.n_actions)
    arrows = arrows_of(world.mdp)
    with from_extra("plot_transitions"):
        from matplotlib.patches import Circle, FancyArrowPatch

    sheet = new_sheet("plot_transitions", 1.4 + 1.3 * n, 4.2)
    axes = panels_of(sheet, 1, 1)[0]
    tall = max(0.34 * SPACE * (n - 1), 1.0) + 0.4
    axes.set(xlim=(-0.7, SPACE * (n - 1) + 0.7), ylim=(-tall, tall), aspect="equal")
    axes.set_axis_off()
    for state in range(n):
        axes.add_patch(Circle((SPACE * state, 0.0), RADIUS, facecolor="white", edgecolor="black", zorder=3))
        axes.text(SPACE * state, 0.0, str(state), ha="center", va="center", zorder=4)
    for arrow in arrows:
        s, y = SPACE * arrow.state, SPACE * arrow.next_state
        side = 1 if arrow.next_state > arrow.state or (y == s and arrow.action % 2 == 0) else -1
        bend = 0.18 + 0.16 * (arrow.action % 2) if y != s else 0.0
        shift = 0.12 if y == s else 0.0
        ends = (s - shift, side * RADIUS), (y + shift, side * RADIUS)
        curve = f"arc3,rad={-2.6 * side if y == s else -bend * 2.0}"
        colour, width = PALETTE[arrow.action % len(PALETTE)], 0.5 + 2.0 * arrow.probability
        line = FancyArrowPatch(*ends, connectionstyle=curve, arrowstyle="-|>", mutation_scale=9)
        line.set(color=colour, linewidth=width)
        axes.add_patch(line)
        if arrow.reward != 0.0:
            height = side * (RADIUS + (0.5 if y == s else bend * abs(y - s) + 0.1))
            paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            text = axes.text((s + y) / 2, height, f"{arrow.reward:g}", ha="center", va="center", bbox=paper)
            text.set(color=colour, fontsize=8)
    for a, name in enumerate(with_names):
        axes.plot([], [], color=PALETTE[a % len(PALETTE)], label=name)
    axes.legend(frameon=False, fontsize="small", loc="upper left", title="action")
    write("plot_transitions", sheet, path, f"{name_of(world)}: width is probability, numbers are rewards")
    return arrows


def arrows_of(model: TabularMDP) -> list[Arrow]:
    """The outcomes of a model that have a probability, by state and action; those of terminal states are left out."""
    return [
        Arrow(s, a, int(model.succ[s, a, k]), float(p), float(model.reward[s, a, k]))
        for s in range(model.n_states)
        if not model.outcomes.terminal[s]
        for a in range(model.n_actions)
        for k, p in enumerate(model.prob[model.group[s, a]])
        if p > 0.0
    ]
