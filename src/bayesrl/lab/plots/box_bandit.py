"""The posterior of a bandit on an interval: the mean and its band, the rewards seen, and what planners do next.

    plot_box_bandit(belief, "bandit.png", {"two decisions": planner.plan(belief, 0, None, rng)}, world.mean)

It writes a file (png, pdf, svg) and needs the extra `lab`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.beliefs.values.gp_regression import GPRegression
from bayesrl.checks import Floats, number
from bayesrl.core import Decision
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.sheet import PALETTE, look, new_sheet, open_axes, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

FINE = 301
"""Points of the curves."""


def plot_box_bandit(
    belief: GPRegression,
    path: str | Path,
    decisions: Mapping[str, Decision] | None = None,
    truth: Callable[[Floats], ArrayLike] | None = None,
    low: float = 0.0,
    high: float = 1.0,
    level: float = 0.95,
    title: str | None = None,
) -> None:
    """Draw the belief about rewards of the actions from `low` to `high`, and decisions as vertical lines."""
    write("plot_box_bandit", box_bandit_sheet(belief, decisions, truth, low, high, level), path, title)


def box_bandit_sheet(
    belief: GPRegression,
    decisions: Mapping[str, Decision] | None = None,
    truth: Callable[[Floats], ArrayLike] | None = None,
    low: float = 0.0,
    high: float = 1.0,
    level: float = 0.95,
) -> Sheet:
    """The matplotlib figure that `plot_box_bandit` writes."""
    owner = "plot_box_bandit"
    if belief.dims not in (None, 1):
        raise InvalidArgument(owner, "belief", "one about actions of one coordinate", belief.dims)
    p = 0.5 * (1.0 - number(owner, "level", level, 0.0, 1.0, above=True, below=True))
    number(owner, "high", high, number(owner, "low", low), above=True)
    line = np.linspace(low, high, FINE)[:, None]
    sheet = new_sheet(owner, 7.6, 3.4)
    axes: Any = sheet.subplots()
    band = belief.quantile(p, line), belief.quantile(1.0 - p, line)
    axes.fill_between(line[:, 0], *band, color=PALETTE[0], alpha=0.2, linewidth=0.0, label=f"{100 * level:g}%")
    axes.plot(line[:, 0], belief.mean(line), color=PALETTE[0], label="mean")
    if truth is not None:
        axes.plot(line[:, 0], np.asarray(truth(line)), color="0.3", linestyle=":", label="the reward function")
    if belief.data is not None:
        axes.plot(belief.data.points[:, 0], belief.data.y, "o", color="0.2", markersize=4, label="rewards seen")
    for k, (label, decision) in enumerate((decisions or {}).items(), start=1):
        axes.axvline(float(np.ravel(decision.action)[0]), label=f"next: {label}", **look(k))
    axes.set_xlabel("action")
    axes.set_ylabel("reward")
    open_axes(axes)
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return sheet
