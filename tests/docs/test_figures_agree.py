"""Pages and docstrings that quote what `exploit` earns on the chain quote the recorded scores."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("src/bayesrl/worlds/mdps/chain.py", "src/bayesrl/bamdp/baselines/exploit.py")
QUOTING = ("README.md", "docs/adding-a-method.md", *SOURCES)


def recorded(method, world="chain:gamma=0.99"):
    """Mean, half width of the 95% interval and number of runs, as the pages write them."""
    for score in json.loads((ROOT / "docs" / "scores.json").read_text("utf-8")):
        row, ours = score["row"], score["ours"]
        if (row["method"], row["world"], row["since"]) == (method, world, 0) and score["metric"] == "return":
            return f"{ours['mean']:.0f}", f"{(ours['high'] - ours['low']) / 2:.0f}", str(ours["n"])
    raise AssertionError(f"no score of {method}")


@pytest.mark.parametrize("path", QUOTING)
def test_exploit_on_the_chain(path):
    text = " ".join((ROOT / path).read_text("utf-8").split())
    for ties in ("first", "random"):
        mean, half, runs = recorded(f"exploit:ties={ties}")
        assert f"{mean} ± {half}" in text
        assert f"{runs} runs)" in text
    for other in ("3175", "2275", "3253", "2112"):
        assert other not in text, "one figure for one thing"
