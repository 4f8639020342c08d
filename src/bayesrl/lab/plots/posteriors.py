"""Plots of beliefs about arms (the posterior density of each mean reward) and of regret over time.

    plot_posteriors(shop.belief, "posteriors.png", names=shop.actions)
    plot_regret(comparison.regret(world), "regret.png")

A density is computed from the belief's quantiles: the mass between two of them divided by their distance. So every
belief with `quantile` can be drawn; a belief that can only be sampled is drawn as a histogram.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import default_rng
from scipy import special

from bayesrl.capabilities import HasMeans, HasQuantiles, SamplesMeans, offers
from bayesrl.checks import Floats
from bayesrl.errors import InvalidArgument
from bayesrl.lab.measures.regret import Regret
from bayesrl.lab.plots.curves import regret_panel
from bayesrl.lab.plots.sheet import look, new_sheet, write

if TYPE_CHECKING:
    from bayesrl.bandits.bandit_bounds import Bound

ORDERS = special.ndtr(np.linspace(-3.1, 3.1, 249))
"""Orders of the quantiles of a density: .001 to .999, denser where a Gaussian has little mass."""
DRAWS, BINS = 4000, 40


def plot_posteriors(
    belief: HasMeans,
    path: str | Path,
    names: Sequence[Any] | None = None,
    context: Any = None,
    title: str | None = None,
) -> None:
    """Draw the density of each arm's mean reward under the belief into a file (png, pdf, svg; needs the extra `lab`).

    A dot marks the mean and a bar the central 95%. `context` is the context of the belief.
    """
    mean = np.asarray(belief.mean(context))
    if mean.ndim != 1:
        raise InvalidArgument("plot_posteriors", "belief", "of a single experiment", mean)
    labels = [f"arm {a}" for a in range(len(mean))] if names is None else [str(name) for name in names]
    if len(labels) != len(mean):
        raise InvalidArgument("plot_posteriors", "names", f"{len(mean)} of them, one for each arm", labels)
    x, height, ends, top = densities(belief, context)
    sheet = new_sheet("plot_posteriors", 7.2, 4.2 + 0.12 * len(mean))
    upper, lower = sheet.subplots(2, 1, sharex=True, height_ratios=(3.0, 0.3 + 0.16 * len(mean)))
    for a, label in enumerate(labels):
        style = look(a)
        upper.plot(x[a], height[a], label=label, linewidth=1.6, **style)
        upper.fill_between(x[a], height[a], color=style["color"], alpha=0.10, linewidth=0)
        lower.plot(ends[:, a], [a, a], linewidth=2.0, solid_capstyle="butt", **style)
        lower.plot(mean[a], a, "o", color=style["color"], markersize=4.5)
    upper.set(ylabel="posterior density", ylim=(0, min(1.05 * height.max(), top)), yticks=[])
    lower.set(xlabel="mean reward (dot: expected, bar: 95%)", yticks=range(len(labels)), ylim=(len(labels) - 0.4, -0.6))
    lower.set_yticklabels(labels)
    lower.grid(axis="x", color="0.9", linewidth=0.8)
    for axes in (upper, lower):
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
    upper.legend(frameon=False, fontsize="small")
    write("plot_posteriors", sheet, path, title)


def plot_regret(
    regrets: Mapping[str, Regret],
    path: str | Path,
    title: str | None = None,
    bounds: Mapping[str, Bound] | None = None,
) -> None:
    """Draw the mean regret of each method over time with its 95% band into a file, and bounds on it if given.

    Needs the extra `lab`.
    """
    if not regrets:
        raise InvalidArgument("plot_regret", "regrets", "of at least one method", dict(regrets))
    sheet = new_sheet("plot_regret", 6.4, 4.2)
    axes = sheet.subplots()
    regret_panel(axes, regrets, bounds or {}, tuple(regrets))
    axes.set_ylim(bottom=0.0)
    axes.legend(frameon=False)
    write("plot_regret", sheet, path, title)


def densities(belief: object, context: Any = None) -> tuple[Floats, Floats, Floats, float]:
    """Points and densities of each arm, both (K, n), the ends of the central 95%, (2, K), and the height of the plot.

    A density may be infinite at an end, so the height is four times the largest density at a median.
    """
    if offers(belief, HasQuantiles):
        q = np.array([belief.quantile(p, context) for p in ORDERS]).T
        ends = np.array([belief.quantile(p, context) for p in (0.025, 0.975)])
        width = np.diff(q, axis=1)
        if (width > 0.0).all():  # otherwise the mean takes finitely many values
            height = np.diff(ORDERS) / width
            return 0.5 * (q[:, 1:] + q[:, :-1]), height, ends, 4.0 * float(height[:, len(ORDERS) // 2].max())
    elif not offers(belief, SamplesMeans):
        expected = "one with 'quantile' or 'sample_means'"
        raise InvalidArgument("plot_posteriors", "belief", expected, type(belief).__name__)
    rng = default_rng(0)
    assert offers(belief, SamplesMeans)
    drawn = np.array([belief.sample_means(context, rng) for _ in range(DRAWS)])
    low, high = drawn.min(), drawn.max()
    edges = np.linspace(low, high, BINS + 1) if low < high else np.linspace(low - 0.5, low + 0.5, BINS + 1)
    height = np.repeat([np.histogram(column, edges, density=True)[0] for column in drawn.T], 2, axis=1)
    x = np.tile(np.repeat(edges, 2)[1:-1], (len(height), 1))
    return x, height, np.quantile(drawn, (0.025, 0.975), axis=0), np.inf
