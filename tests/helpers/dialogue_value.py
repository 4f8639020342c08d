"""The value of the dialogue world as a stopping problem, from below and from above: an oracle that shares no code.

Whatever is submitted, the next user may want anything. So the value is a number v with v = V(even belief), where V
solves the problem up to one submission that also pays gamma v. V is computed by going through all series of at
most `depth` answers. At the last belief one submits at once (from below), or submits knowing the goal (from above).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def dialogue_value(k: int, heard: float, confirmed: float, gamma: float, depth: int) -> tuple[float, float]:
    """Bounds of the value."""
    levels, links = tree(k, heard, confirmed, depth)

    def value(v: float, informed: bool) -> float:
        last = levels[-1].max(axis=1)
        below: Any = np.full(len(last), 10.0) if informed else 30.0 * last - 20.0
        below = below + gamma * v
        for beliefs, actions in zip(levels[-2::-1], links[::-1], strict=True):
            best = 30.0 * beliefs.max(axis=1) - 20.0 + gamma * v
            for chances, to in actions:
                best = np.maximum(best, -1.0 + gamma * (chances * below[to]).sum(axis=1))
            below = best
        return float(below[0])

    def fixed(informed: bool) -> float:
        low, high = -20.0 / (1.0 - gamma), 10.0 / (1.0 - gamma)
        for _ in range(60):
            v = (low + high) / 2.0
            low, high = (v, high) if value(v, informed) > v else (low, v)
        return high if informed else low

    return fixed(False), fixed(True)


def tree(k: int, heard: float, confirmed: float, depth: int) -> tuple[list[Any], list[Any]]:
    """Beliefs after each number of answers, sorted, each once; for each action its answers and where they lead."""
    levels, links = [np.full((1, k), 1.0 / k)], []
    for _ in range(depth):
        beliefs = levels[-1]
        found, chances = [], []
        for asked in range(-1, k):  # -1: what is it?
            for answer in range(k if asked < 0 else 2):
                if asked < 0:
                    likely = np.full(k, (1.0 - heard) / (k - 1))
                    likely[answer] = heard
                else:
                    likely = np.full(k, (1.0 - confirmed, confirmed)[answer])  # 0: yes
                    likely[asked] = (confirmed, 1.0 - confirmed)[answer]
                joint = beliefs * likely
                chances.append(joint.sum(axis=1))
                found.append(np.sort(joint / joint.sum(axis=1, keepdims=True), axis=1))
        _, first, to = np.unique(np.concatenate(found).round(11), axis=0, return_index=True, return_inverse=True)
        levels.append(np.concatenate(found)[first])
        to = to.reshape(len(found), -1)
        parts = [range(k), *(range(k + 2 * g, k + 2 * g + 2) for g in range(k))]
        links.append([(np.stack([chances[i] for i in part], 1), np.stack([to[i] for i in part], 1)) for part in parts])
    return levels, links
