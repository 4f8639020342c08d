"""Published figures: complete, named as the registry names things, judged only where that is fair."""

import inspect

import numpy as np
import pytest

from bayesrl.lab.figures import JUDGED, SHOWN, Figure, lookup, published
from bayesrl.lab.statistics import Interval
from bayesrl.registry import entries


def figure(**change):
    row = {
        "method": "m", "world": "w", "prior": None, "gamma": None, "steps": 10, "params": {}, "metric": "return",
        "value": 100.0, "spread": 1.0, "spread_kind": "95% interval", "runs": None, "source": "s",
        "provenance": "computed",
    }  # fmt: skip
    return Figure(**(row | change))


def test_rows_are_well_formed():
    assert len(published()) > 150
    for row in published():
        assert row.provenance in JUDGED + SHOWN
        assert row.spread_kind in ("exact", "standard error", "95% interval", "unstated")
        assert np.isfinite(row.value)
        assert row.spread is None or row.spread >= 0.0
        assert row.source


def test_names_are_the_registrys():
    # Methods and worlds that do not exist yet cannot be checked; those that do must take the parameters named.
    known = entries()
    worlds = {row.world.partition(":")[0] for row in published()}
    assert worlds <= set(known)
    seen = set()
    for row in published():
        if row.method in known:
            seen.add(row.method)
            assert set(row.params) <= set(inspect.signature(known[row.method].factory).parameters), row
    assert {"beb", "bayesian-dp", "exploit", "epsilon-greedy", "softmax", "random", "q-learning", "thompson"} <= seen


def test_lookup_of_the_double_loop():
    rows = lookup("beb", "double-loop", "flat:1/9", {"beta": 1.0, "ties": "first"}, 1000, gamma=0.95)
    assert [row.value for row in rows] == [386, 386]
    assert [row.provenance for row in rows] == ["peer code run here", "recalled, recomputed"]
    assert [r.value for r in lookup("beb", "double-loop", "flat:1/9", {"beta": 2})] == [376]
    assert lookup("beb", "double-loop", "flat:1/9", {"beta": 3.0}) == []
    assert lookup("beb", "double-loop", "flat:1", {"beta": 1.0}) == []
    assert lookup("beb", "double-loop", "flat:1/9", {"beta": 1.0}, 500) == []
    assert lookup("beb", "double-loop", "flat:1/9", {"beta": 1.0}, gamma=0.99) == []
    assert lookup("nobody", "double-loop") == []


def test_lookup_leaves_open_what_was_not_stated():
    assert lookup("bayesian-dp", "chain", "flat:1", {"every": 20}, 1000)[0].value == 3158
    assert lookup("optimum", "chain", steps=1000)[0].value == pytest.approx(3665.8324480000642)
    assert {r.metric for r in lookup("q-learning", "chain", metric="return")} == {"return"}


@pytest.mark.parametrize(
    "a, b, same",
    [("flat", "flat:1", True), ("flat:1/4", "flat:.25", True), ("flat:1", "structured:1", False), ("x:y", "x:y", True)],
)
def test_priors_are_compared_by_meaning(a, b, same, monkeypatch):
    monkeypatch.setattr("bayesrl.lab.figures.published", lambda: (figure(prior=a),))
    assert bool(lookup("m", "w", b)) is same


def test_verdicts():
    ours = Interval(98.0, 97.0, 99.0, 50)
    assert figure().verdict(ours) == "agrees"  # the intervals touch
    assert figure(value=100.1).verdict(ours) == "differs"
    assert figure(spread_kind="standard error", value=100.9).verdict(ours) == "agrees"  # 1 + 1.96 reach 2.96
    assert figure(spread_kind="standard error", value=101.0).verdict(ours) == "differs"
    assert figure(spread_kind="standard error", value=101.0, runs=3).verdict(ours) == "agrees"  # t of 2: 4.30
    assert figure(spread=None, spread_kind="exact", value=99.0).verdict(ours) == "agrees"
    assert figure(spread=None, spread_kind="exact", value=99.1).verdict(ours) == "differs"
    assert figure(spread=None, spread_kind="unstated").verdict(ours) is None
    assert figure().verdict(Interval(98.0, -np.inf, np.inf, 1)) is None
    for provenance in SHOWN:
        assert figure(provenance=provenance, value=5.0).verdict(ours) is None
    for provenance in JUDGED:
        assert figure(provenance=provenance, value=5.0).verdict(ours) == "differs"
