"""Explanations as text: values and probabilities as dots on a scale, and a map of arrows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesrl.lab.explain import Explanation, Outcome

SKETCH = 25
"""Width of a scale in characters."""
LETTERS = {"up": "↑", "right": "→", "down": "↓", "left": "←"}


def sketch(low: float, at: float, high: float, first: float, last: float) -> str:
    """A line from low to high with a dot at `at`, on a scale from first to last."""
    span = last - first if last > first else 1.0
    ends = [round((SKETCH - 1) * min(max((x - first) / span, 0.0), 1.0)) for x in (low, at, high)]
    line = [" "] * SKETCH
    line[ends[0] : ends[2] + 1] = "─" * (ends[2] + 1 - ends[0])
    line[ends[1]] = "●"
    return "".join(line)


def sketched_root(why: Explanation) -> list[str]:
    """Draw the value of each action and its bounds on a common scale; an empty string if it has none."""
    key = reading(why)
    if key is None:
        return [""] * len(why.actions)
    at = why.root[key]
    low, high = (why.root.get(end, at) for end in ("lower", "upper"))
    low, high = np.minimum(low, at), np.maximum(high, at)
    legal = at > -np.inf
    ends = low[legal].min(initial=np.inf), high[legal].max(initial=-np.inf)
    return [sketch(*three, *ends) if three[1] > -np.inf else "" for three in zip(low, at, high, strict=True)]


def sketched_map(why: Explanation) -> list[str]:
    """The best policy of the mean model on the world's map, the present state in brackets; empty without a map."""
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
    """The name of the reading that is drawn, or None."""
    return next((key for key in ("q", "upper", "probability", "visits") if key in why.root), None)


def unlisted(outcomes: Sequence[Outcome], shown: int) -> list[str]:
    """A line about the outcomes that are not shown, if there are any."""
    rest = outcomes[shown:]
    return [f"and {len(rest)} more, {sum(o.mean for o in rest):.3g} in all"] if rest else []
