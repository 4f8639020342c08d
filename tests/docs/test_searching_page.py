"""The tables of docs/continuous.md about searches are those of docs/searching.json, and runs can be measured."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import bayesrl as b

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "searching.py"))


def test_tables_are_up_to_date(made):
    text = (DOCS / "continuous.md").read_text(encoding="utf-8")
    assert made["page"](text, made["tables"](made["read"]())) == text, "run: python docs/searching.py draw"


def test_a_run_can_be_measured_again(made):
    """The first steps of a run; the blimp is seen."""
    label = "blimp, seen: Gaussian processes from nothing"
    name, settings, _, agent = made["CONTROL"][label]
    world = b.make_world(name, **settings)
    again = b.run(agent(world), world, 15, seed=0, replicate=4).reward
    np.testing.assert_allclose(again, made["read"]()["control"][label][4][:15], atol=6e-6)


def test_the_blimp_is_held(made):
    kept = made["read"]()["control"]["blimp, seen: Gaussian processes from nothing"]
    assert len(kept) == 10
    assert np.mean(np.array(kept)[:, 50:]) >= 0.95
