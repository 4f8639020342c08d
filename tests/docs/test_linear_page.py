"""The tables of linear systems in docs/continuous.md are those of docs/linear.json, and their claims hold."""

import runpy
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "linear.py"))


def test_tables_are_up_to_date(made):
    text = (DOCS / "continuous.md").read_text(encoding="utf-8")
    assert made["page"](text, made["read"]()) == text, "run: python docs/linear.py draw"


def test_a_row_can_be_measured(made):
    """A short one, which has the form of those that are kept, and is the same each time."""
    for row in made["ROWS"][3:6]:
        one = made["measured"](row, systems=6, steps=100)
        assert one == made["measured"](row, systems=6, steps=100)
        assert one.keys() == made["read"]()[row.label].keys()
        assert (len(one["regret"]), len(one["regret"][0])) == (1, 6)


def test_regret_agrees_with_the_reference(made):
    """Family `lq`, 400 systems each: the difference is within both 95% intervals, added as independent errors."""
    lost = np.array(made["read"]()["lazy in lq"]["regret"])
    assert lost.shape == (4, 400)
    for ours, (mean, error) in zip(lost, made["REFERENCE"], strict=True):
        assert abs(ours.mean() - mean) < 1.96 * np.hypot(error, ours.std(ddof=1) / 20.0)


def test_regret_grows_slowly(made):
    """Four times the steps multiply the regret by less than 2.6, and add about as many models each time (log T)."""
    found = made["read"]()["lazy in lq"]
    lost = np.array(found["regret"]).mean(axis=1)
    assert (lost[1:] / lost[:-1] < 2.6).all()
    more = np.diff(found["models"])
    assert ((more > 1.5) & (more < 3.5)).all()
