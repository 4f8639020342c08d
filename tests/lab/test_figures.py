"""Published figures: complete, named as the registry names things, judged only where that is fair."""

import inspect

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import ttest_1samp, ttest_ind

from bayesrl.lab.literature.figures import ASSUMED_RUNS, JUDGED, SHOWN, Figure, lookup, published
from bayesrl.lab.statistics import Interval, mean_interval
from bayesrl.registry import entries

T12 = stdtrit(11, 0.975)  # of 12 runs


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
    [
        ("flat", "flat:1", True),
        ("flat:1/4", "flat:.25", True),
        ("flat:1", "structured:1", False),
        ("x:y", "x:y", True),
        ("sparse", "sparse:1/5", True),
        ("sparse", "sparse:1", False),
        ("sparse", "flat:.2", False),
    ],
)
def test_priors_are_compared_by_meaning(a, b, same, monkeypatch):
    monkeypatch.setattr("bayesrl.lab.literature.figures.published", lambda: (figure(prior=a),))
    assert bool(lookup("m", "w", b)) is same


def test_a_difference_is_welchs():
    """Two samples: the figure is given as its mean, standard error and runs, ours as a mean with its interval."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(3.0, 1.0, 30), rng.normal(2.0, 4.0, 7)
    theirs = figure(value=y.mean(), spread=y.std(ddof=1) / np.sqrt(7), spread_kind="standard error", runs=7)
    found = theirs.difference(mean_interval(x))
    known = ttest_ind(x, y, equal_var=False)
    assert found.gap == pytest.approx(x.mean() - y.mean())
    assert (found.p, found.freedom) == pytest.approx((known.pvalue, known.df))
    half = stdtrit(6, 0.975) * theirs.spread
    same = figure(value=y.mean(), spread=half, spread_kind="95% interval", runs=7).difference(mean_interval(x))
    assert same == pytest.approx(found)


def test_an_exact_figure_is_a_point():
    x = np.random.default_rng(1).normal(5.0, 2.0, 12)
    found = figure(value=4.0, spread=None, spread_kind="exact").difference(mean_interval(x))
    assert (found.p, found.freedom) == pytest.approx((ttest_1samp(x, 4.0).pvalue, 11))
    certain = mean_interval(np.full(3, 7.0))
    assert figure(value=7.0, spread=None, spread_kind="exact").difference(certain).p == 1.0
    assert figure(value=7.0 + 1e-12, spread=None, spread_kind="exact").difference(certain).verdict(1) == "agrees"
    assert figure(value=7.1, spread=None, spread_kind="exact").difference(certain).verdict(1000) == "differs"


def test_what_is_not_stated_is_assumed():
    """Unknown runs are ten; a spread of unknown kind is a standard error; runs without a spread spread as ours do."""
    x = mean_interval(np.random.default_rng(2).normal(0.0, 3.0, 40))
    stated = figure(spread=1.0, spread_kind="standard error", runs=10)
    assert figure(spread=1.0, spread_kind="standard error").difference(x) == stated.difference(x)
    assert figure(spread=1.0, spread_kind="unstated").difference(x) == stated.difference(x)
    error = x.half_width / stdtrit(39, 0.975)
    alone = figure(spread=None, spread_kind="unstated").difference(x)
    assert alone.error == pytest.approx(error * np.sqrt(1 + 40 / ASSUMED_RUNS))


def test_only_what_may_be_judged_is():
    ours = Interval(98.0, 97.0, 99.0, 50)
    for provenance in SHOWN:
        assert figure(provenance=provenance, value=5.0).difference(ours) is None
    for provenance in JUDGED:
        assert figure(provenance=provenance, value=5.0).difference(ours).verdict(1) == "differs"
    assert figure().difference(Interval(98.0, -np.inf, np.inf, 1)) is None  # one run says nothing about its spread


def test_the_family_wise_rate():
    """Twenty true figures judged together, 2000 times: one or more of them differs in 1% of the families.

    Between 6 and 38 false alarms of 20 expected; outside has probability 1e-3. Judging each at 5% gives 1280.
    """
    rng, alarms, n, m = np.random.default_rng(3), 0, 12, 20
    for _ in range(2000):
        x, y = rng.normal(0.0, 2.0, (m, n)), rng.normal(0.0, 1.0, (m, 6))
        gaps = [
            figure(
                value=b.mean(), spread=b.std(ddof=1) / np.sqrt(6), spread_kind="standard error", runs=6
            ).difference(Interval(a.mean(), *(a.mean() + t * a.std(ddof=1) / np.sqrt(n) for t in (-T12, T12)), n))
            for a, b in zip(x, y, strict=True)
        ]  # fmt: skip
        alarms += any(gap.verdict(m) == "differs" for gap in gaps)
    assert 6 <= alarms <= 38


def test_what_can_be_detected():
    """A shift of the stated size is found nine times in ten: 450 of 500, +-28 at 1e-4."""
    rng, found, wanted = np.random.default_rng(4), 0, None
    for _ in range(500):
        a, b = rng.normal(0.0, 1.0, 400), rng.normal(0.0, 1.0, 400)
        theirs = figure(value=b.mean(), spread=b.std(ddof=1) / 20, spread_kind="standard error", runs=400)
        wanted = wanted or theirs.difference(mean_interval(a)).detectable(30)
        found += theirs.difference(mean_interval(a + wanted)).verdict(30) == "differs"
    assert abs(found - 450) <= 28
