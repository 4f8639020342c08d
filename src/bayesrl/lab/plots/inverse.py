"""Plots of inverse reinforcement learning: what an expert wants, how sure that is, and whether the chain has mixed.

    plot_reward_map(world, belief, "map.png")
    plot_chain(belief, "chain.png")

Each function returns a matplotlib figure, writes it if it is given a path (png, pdf, svg), and needs the extra `lab`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bayesrl.beliefs.chain import Diagnostics
from bayesrl.capabilities import require
from bayesrl.checks import Floats, Ints
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import look, new_sheet, open_axes, panels_of, write
from bayesrl.problems import layout_of, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

    from bayesrl.worlds.tabular import MDPWorld

CHAINS, BINS = 4, 20
"""Parts of a chain whose ranks are compared, and bins of the ranks."""
LINES = 4
"""The most weights in a plot of a chain."""


class HasRewardTable(Protocol):
    """A belief about rewards."""

    def reward_table(self) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of each reward R(s, a), both (S, A)."""


class HasChain(Protocol):
    """A belief with draws of weights."""

    @property
    def samples(self) -> Floats:
        """The draws, (n, d)."""

    def diagnostics(self) -> Diagnostics:
        """How well the chain has mixed."""


def plot_reward_map(
    world: MDPWorld, belief: HasRewardTable, path: str | Path | None = None, title: str | None = None
) -> Sheet:
    """Draw the posterior mean of the reward in each cell of a map, and beside it its standard deviation.

    Demonstrations do not visit most states. Where they say nothing, the deviation is that of the prior. A reward that
    depends on the action is averaged over actions.
    """
    owner = "plot_reward_map"
    layout = layout_of(world)
    if layout is None:
        raise InvalidArgument(owner, "world", "one with a map", name_of(world))
    require(owner, belief, HasRewardTable)
    mean, deviation = (table.mean(axis=1) for table in belief.reward_table())
    if len(mean) != world.n_states:
        raise InvalidArgument(owner, "belief", f"about the {world.n_states} states of the world", f"{len(mean)} states")
    panels, rows, columns = layout.shape
    sheet = new_sheet(owner, 9.0, 0.6 + max(3.2 * rows / columns, 1.5) * panels)
    grid = panels_of(sheet, panels, 2)
    size = float(np.abs(mean).max()) or 1.0
    for k, panel in enumerate(layout):
        _cells(sheet, grid[2 * k], panel, mean, "posterior mean of the reward", "RdBu", (-size, size))
        _cells(sheet, grid[2 * k + 1], panel, deviation, "posterior standard deviation", "cividis", (0.0, None))
    return _finished(owner, sheet, path, title)


def _cells(
    sheet: Sheet, axes: Axes, panel: Ints, x: Floats, what: str, colours: str, ends: tuple[float, float | None]
) -> None:
    free = panel >= 0
    shown = np.ma.masked_where(~free, x[np.where(free, panel, 0)])
    image = axes.imshow(shown, cmap=colours, vmin=ends[0], vmax=ends[1])
    axes.set_facecolor("0.82")
    axes.set(xticks=[], yticks=[])
    axes.set_title(what, fontsize="medium")
    sheet.colorbar(image, ax=axes, shrink=0.85)


def plot_chain(belief: HasChain, path: str | Path | None = None, title: str | None = None) -> Sheet:
    """Draw the weights of a chain over its sweeps, and the ranks of its quarters.

    If the chain has mixed, the quarters have the same distribution, and each has equally many draws of every rank. The
    band holds nineteen of twenty bins of independent draws. The four weights with the fewest effective draws are
    shown.
    """
    owner = "plot_chain"
    require(owner, belief, HasChain)
    draws, found = belief.samples, belief.diagnostics()
    n = len(draws) // CHAINS
    if n < BINS:
        raise InvalidArgument(owner, "belief", f"with at least {CHAINS * BINS} draws", f"{len(draws)} draws")
    worst = np.argsort(found.effective_sample_size, kind="stable")[:LINES]
    sheet = new_sheet(owner, 9.0, 3.4)
    trace, ranks = panels_of(sheet, 1, 2)
    for k, j in enumerate(worst.tolist()):
        said = f"{j}: {found.effective_sample_size[j]:.0f} effective draws, R-hat {found.r_hat[j]:.2f}"
        trace.plot(draws[:, j], linewidth=0.7, label=said, **look(k))
    trace.set(xlabel="draw", ylabel="weight")
    trace.legend(fontsize="xx-small", framealpha=0.9, edgecolor="none")
    one = draws[: CHAINS * n, worst[0]]
    tie = np.random.default_rng(0).random(len(one))  # weights on a lattice are often equal
    place = np.argsort(np.lexsort((tie, one))).reshape(CHAINS, n)
    edges = np.linspace(0, CHAINS * n, BINS + 1)
    for k, quarter in enumerate(place):
        count, _ = np.histogram(quarter, edges)
        ranks.step(edges, np.append(count, count[-1:]), where="post", label=f"quarter {k + 1}", **look(k))
    half = 1.96 * np.sqrt(n / BINS * (1.0 - 1.0 / BINS))
    ranks.axhspan(n / BINS - half, n / BINS + half, color="0.85", zorder=0)
    ranks.set(xlabel=f"rank of weight {worst[0]} among all draws", ylabel="draws", ylim=(0.0, None))
    ranks.legend(fontsize="xx-small", framealpha=0.9, edgecolor="none")
    for axes in (trace, ranks):
        open_axes(axes)
    return _finished(owner, sheet, path, title)


def _finished(owner: str, sheet: Sheet, path: str | Path | None, title: str | None) -> Sheet:
    if title:
        sheet.suptitle(title, fontsize="medium")
    if path is not None:
        write(owner, sheet, path)
    return sheet
