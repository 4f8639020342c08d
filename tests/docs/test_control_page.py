"""The tables of docs/control.md are those of docs/control.json, and its rows can be measured again."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.registry import make_world

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "control.py"))


def test_tables_are_up_to_date(made):
    text = (DOCS / "control.md").read_text(encoding="utf-8")
    assert made["page"](text, made["tables"](made["read"]())) == text, "run: python docs/control.py draw"


@pytest.mark.parametrize(("method", "i"), [("reinforce:paths=5", 0), ("bac", 3)])
def test_a_row_can_be_measured_again(made, method, i):
    """To the last of the six digits that are kept."""
    place = next(place for place in made["PLACES"] if place.world == "random-walk")
    assert made["measure"](place, method, i) == made["read"]()["random-walk"][method][i]


def test_exact_values_of_policies(made):
    """The reference's numbers: even chances and the best policy of the walk, the best gain of the regulator."""
    even = suggestions_for(make_world("random-walk"))["gradient"]["policy"]
    assert made["walk_return"](even) == pytest.approx(-51.2577, abs=5e-5)
    best = even.with_parameters(np.tile([0.0, 50.0], 10))
    assert made["walk_return"](best) == pytest.approx(-8.64828, abs=5e-6)
    policy = suggestions_for(make_world("bpg-regulator"))["gradient"]["policy"]
    share = (1.999 - 0.916) / 1.998
    theta = [np.log(1.0 / share - 1.0), 40.0]
    assert made["regulator_cost"](policy.with_parameters(theta)) == pytest.approx(0.100342, abs=5e-7)
