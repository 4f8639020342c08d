"""The notation page names every parameter of every registered method and every member of every capability."""

import re
from pathlib import Path

import pytest

from bayesrl import capabilities
from bayesrl.registry import methods

PAGE = Path(__file__).parents[2] / "docs" / "notation.md"
NAMED = set(re.findall(r"`(\w+)(?:\([\w, ]*\))?`", PAGE.read_text(encoding="utf-8")))
METHODS = [e for e in methods() if e.factory.__module__.startswith("bayesrl.")]
CAPABILITIES = [getattr(capabilities, name) for name in capabilities.__all__]
PARTS = ("Needy", "FeatureRewards", "RewardPrior", "Predictive")  # of a planner, and of what beliefs answer
CAPABILITIES = [c for c in CAPABILITIES if getattr(c, "_is_protocol", False) and c.__name__ not in PARTS]


@pytest.mark.parametrize("entry", METHODS, ids=lambda entry: entry.name)
def test_parameters_are_named(entry):
    missing = sorted(set(entry.parameters) - NAMED)
    assert not missing, f"enter {missing} in docs/notation.md"


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda capability: capability.__name__)
def test_members_of_capabilities_are_named(capability):
    missing = sorted(set(capabilities.members(capability)) - NAMED)
    assert not missing, f"enter {missing} in docs/notation.md"


def test_a_parameter_that_is_not_there_is_seen():
    assert "knownness" in NAMED
    assert "knowness" not in NAMED
    assert len(METHODS) > 50
    assert len(CAPABILITIES) > 25
