"""Worlds say whether their episodes end, and steps keep to it."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.registry import entries, make_world

WORLDS = [name for name, e in entries().items() if e.kind == "world"]
CONTINUOUS = {"bpg-regulator": [-0.5], "car-on-the-hill": 4.0, "bpg-bandit": [0.3], "ship-steering": [0.2]}
CONTINUOUS |= {"blimp": [0.5], "robot-navigation": [0.5, -0.1], "lq-system": [0.5], "web-server": [1.0, -1.0]}
"""An action of those whose actions are not numbered."""
LONG = ("mountain-car", "maze-2d", "ship-steering")
"""Their episodes end, but hardly ever under random actions."""


def steps(name, n, rng):
    """The states before n random steps and what the steps gave; a new episode follows an end."""
    world = make_world(name)
    state, _ = world.reset(rng)
    for _ in range(n):
        action = CONTINUOUS[name] if name in CONTINUOUS else int(rng.integers(world.n_actions))
        if name == "online-shop-several":
            action = np.array([0, 1])
        step = world.step(state, action, rng)
        yield state, step
        state = world.reset(rng)[0] if step.terminated else step.state


@pytest.mark.parametrize("name", WORLDS)
def test_steps_end_where_the_world_says_that_episodes_end(name):
    world, ended = make_world(name), 0
    for _, step in steps(name, 300, default_rng(0)):
        assert type(step.terminated) is bool
        ended += step.terminated
        if hasattr(world, "mdp"):
            assert step.terminated == world.mdp.outcomes.terminal[step.state]
    if not getattr(world, "ends", False):
        assert ended == 0
    elif name not in LONG:
        assert ended > 0
