"""The tables of docs/planning.md are those of the registry and of the kept scores, and its claims hold in them."""

import runpy
from pathlib import Path

import pytest

from bayesrl.registry import online_methods

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "planning.py"))


def test_tables_are_up_to_date(made):
    text = (DOCS / "planning.md").read_text(encoding="utf-8")
    assert made["page"](text, made["tables"]()) == text, "run: python docs/planning.py"


def test_a_row_has_seven_cells(made):
    """A bar inside a cell is escaped."""
    rows = made["tables"]()["methods"].partition("\n\n")[0].splitlines()
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}


def test_every_planner_has_a_return_on_the_chain(made):
    assert {row.method.partition(":")[0] for row in made["returns"]()} == {e.name for e in online_methods()}


def test_no_return_is_above_the_optimum(made):
    assert made["optimum"]() == pytest.approx(3665.83, abs=0.01)
    assert max(row.low for row in made["returns"]()) < made["optimum"]()


def test_the_worth_of_ties(made):
    """The sentence of the page about exploit."""
    found = {row.method: row for row in made["returns"]()}
    text = (DOCS / "planning.md").read_text(encoding="utf-8")
    for ties in ("first", "random"):
        row = found[f"exploit:ties={ties}"]
        assert f"{row.mean:.0f} ± {(row.high - row.low) / 2:.0f} with ties" in text
    assert found["exploit:ties=first"].low > found["exploit:ties=random"].high
