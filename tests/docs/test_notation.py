"""The notation page names every parameter of every registered method."""

import re
from pathlib import Path

import pytest

from bayesrl.registry import methods

PAGE = Path(__file__).parents[2] / "docs" / "notation.md"
NAMED = set(re.findall(r"`(\w+)(?:\(\))?`", PAGE.read_text(encoding="utf-8")))
METHODS = [e for e in methods() if e.factory.__module__.startswith("bayesrl.")]


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.name)
def test_parameters_are_named(entry):
    missing = sorted(set(entry.parameters) - NAMED)
    assert not missing, f"enter {missing} in docs/notation.md"


def test_a_parameter_that_is_not_there_is_seen():
    assert "knownness" in NAMED
    assert "knowness" not in NAMED
    assert len(METHODS) > 50
