"""The tables of docs/oracles.md are those of docs/oracles.json, and runs can be measured."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "oracles.py"))


def test_tables_are_up_to_date(made):
    text = (DOCS / "oracles.md").read_text(encoding="utf-8")
    assert made["page"](text, made["tables"](made["read"]())) == text, "run: python docs/oracles.py draw"


def test_a_run_can_be_measured_again(made):
    row = next(row for row in made["ROWS"] if row.label == "medusa in tiger-episodic")
    assert made["measured"](row, 4) == made["read"]()[row.label][4]


@pytest.mark.parametrize("label", ["medusa in tiger-episodic", "sampled-pomdps in tiger"])
def test_a_run_can_be_measured(made, label, monkeypatch):
    """A short one, which has the form of those that are kept, and is the same each time."""
    monkeypatch.setitem(made["measured"].__globals__, "STEPS", 10)
    monkeypatch.setitem(made["measured"].__globals__, "BLOCK", 5)
    monkeypatch.setitem(made["measured"].__globals__, "SMALL", {"models": 2, "size": 3})
    row = next(row for row in made["ROWS"] if row.label == label)
    one = made["measured"](row, 4)
    assert one == made["measured"](row, 4)
    assert one.keys() == made["read"]()[label][4].keys()
    assert [len(x) for x in one.values()] == [2, 2]


@pytest.mark.parametrize("method", ["action-oracle in tiger", "bayes-risk in tiger", "medusa in tiger-episodic"])
def test_agents_ask_less_and_end_above_listening(made, method):
    """The claims of the page, in its own figures; intervals of 95%."""
    runs = made["read"]()[method]
    assert len(runs) >= 30
    questions, rewards = ([run[key] for run in runs] for key in ("questions", "rewards"))
    fewer = made["mean_interval"]([last - first for first, *_, last in questions])
    assert fewer.high < 0.0
    assert made["mean_interval"]([last / 100 for *_, last in rewards]).low > -1.0
