"""The page on hidden states: its table of worlds says what the worlds say."""

import re
from pathlib import Path

import pytest

from bayesrl.lab.build import named, world_for
from bayesrl.registry import worlds

PAGE = Path(__file__).parents[2] / "docs" / "hidden.md"
ROWS = re.findall(r"(?m)^\| `(\S+)` \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d. to]+) \|", PAGE.read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_what_the_world_says(row):
    text, *sizes, gamma, value = row
    world = world_for(text)
    assert [world.n_states, world.n_actions, world.n_observations] == list(map(int, sizes))
    assert world.gamma == float(gamma)
    low, _, high = value.partition(" to ")
    assert world.value == pytest.approx((float(low), float(high or low)), abs=5.1e-5)


def test_every_hidden_world_has_a_row():
    pomdps = {e.name for e in worlds() if e.factory.__module__.startswith("bayesrl.worlds.pomdps.")}
    assert {named(row[0])[0] for row in ROWS} == pomdps
