"""What fits what: every pair that is promised runs, and what is not promised is refused with a reason."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import bayesrl as b
from bayesrl.capabilities import demand
from bayesrl.errors import BayesRLError, InvalidArgument, UnknownName
from bayesrl.lab.build import acting, acts, believes
from bayesrl.lab.fits import Fit, fits
from bayesrl.lab.priors import prior_for
from bayesrl.registry import entries, find, parameters_of, worlds
from bayesrl.risk import percentile, sigma_point_robust
from bayesrl.risk.sigma_points import roots

ALL = fits()
METHODS = sorted(e.name for e in entries().values() if acts(e))
PARTS = 3
"""One of this many fits is run by `make test`, the others with the mark `long`."""


def small(method):
    """The whole numbers of the example that are smaller than the default: simulations, depth, particles, ..."""
    entry = find(method)
    given = parameters_of(entry.example())
    usual = {name: p.default for name, p in entry.parameters.items() if type(p.default) is int}
    return {n: given[n] for n in usual if type(given.get(n)) is int and given[n] < usual[n] and n != "suggestions"}


def chosen(fit, part, parts=PARTS):
    return zlib.crc32(" ".join(map(str, fit)).encode()) % parts == part


def run_three_steps(fit, **settings):
    agent = b.agent(fit.method, fit.world, fit.prior, **(small(fit.method) | settings))
    assert len(b.run(agent, b.make_world(fit.world), steps=3)) == 3


LEAST = {
    "bayesian-sparse-sampling": {"simulations": 1, "depth": 1},
    "beetle": {"beliefs": 1, "basis": 1, "steps": 1, "iterations": 1},
    "boss": {"samples": 1},
    "finite-state-controller": {"nodes": 1, "restarts": 1, "models": 1, "iterations": 1},
    "percentile": {"restarts": 1},
    "sboss": {"samples": 1},
    "scenario-max-min": {"scenarios": 2},
    "sigma-point-robust": {"every": 3},
    "value-of-information": {"samples": 2},
}
"""For worlds in which small parameters are not small enough: minutes, or gigabytes."""
SLOW_SOLVERS = ("finite-state-controller", "percentile", "sigma-point-robust")
SLOW = [
    fit
    for fit in ALL
    if fit.world == "highway" or (fit.world in ("dearden-maze", "grid10", "wumpus") and fit.method in SLOW_SOLVERS)
]
"""The highway has 3072 states; the solvers work on the covariances of all rows."""
QUICK = [fit for fit in ALL if fit not in SLOW]


@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")  # compiled for views of arrays
@pytest.mark.parametrize("method", METHODS)
def test_every_third_fit_runs(method):
    for fit in QUICK:
        if fit.method == method and chosen(fit, 0):
            run_three_steps(fit)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_the_other_fits_run(method):
    for fit in QUICK:
        if fit.method == method and not chosen(fit, 0):
            run_three_steps(fit)


def equal_roots(covariance):
    """The roots of equal rows, computed once: all rows of a flat prior are equal."""
    assert (covariance == covariance[:1]).all()
    return np.repeat(roots(covariance[:1]), len(covariance), axis=0)


@pytest.mark.long
@pytest.mark.parametrize("fit", SLOW, ids=lambda fit: f"{fit.method}-{fit.world}")
def test_slow_fits_run(fit, monkeypatch):
    """Without the ascent of `percentile` (its first policy is taken), and with one root for rows that are equal."""
    monkeypatch.setattr(percentile, "maximise", lambda starts, model, z: starts[0])
    if fit.world != "highway":
        monkeypatch.setattr(sigma_point_robust, "roots", equal_roots)
    run_three_steps(fit, **LEAST.get(fit.method, {}))


def test_there_are_many_fits():
    assert len({(fit.method, fit.world) for fit in ALL}) == len(ALL) >= 700
    assert {fit.method for fit in ALL} >= set(METHODS) - NOWHERE
    assert {fit.world for fit in ALL} == {e.name for e in worlds()}


NOWHERE = {"k-of-n"}
"""Methods whose parameters have no default: how many of how many drawn models count is for the user to say."""


@pytest.mark.parametrize("method", METHODS)
def test_what_is_not_promised_is_refused_with_a_reason(method):
    """In a sample of the worlds: every refused pair tries all priors."""
    promised = {fit.world for fit in ALL if fit.method == method}
    for entry in worlds():
        pair = Fit(method, entry.name, None)
        if entry.name not in promised and chosen(pair, 1, 20):
            with pytest.raises(BayesRLError) as caught:
                b.agent(method, entry.name, **small(method))
            assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("world", ["chain", "tiger", "bernoulli", "gc", "mountain-car"])
def test_a_prior_that_fits_satisfies_the_planner(world):
    place = b.make_world(world)
    for fit in fits(world=world):
        entry = acting(fit.method)
        if entry.kind == "planner":
            demand(b.make(fit.method), prior_for(place, fit.prior))
        assert (fit.prior is None) == (not believes(entry))


def test_the_prior_is_the_worlds_own_if_it_fits_else_the_first_that_does():
    assert fits("psrl", "chain") == (("psrl", "chain", "flat:1"),)
    assert fits("ba-pomcp", "tiger") == (("ba-pomcp", "tiger", "particle"),)
    assert fits("bapomdp-forward-search", "tiger") == (("bapomdp-forward-search", "tiger", "bounded"),)
    assert fits("medusa", "asking-for-state") == (("medusa", "asking-for-state", None),)
    assert b.agent("ba-pomcp", "tiger").prior == prior_for(b.make_world("tiger"), "particle")


def test_an_exact_solver_fits_where_it_ends():
    """In the other worlds with a known POMDP it gives up, after a minute in some."""
    small = {"load-unload", "shuttle", "tiger", "tiger-episodic", "tiger-tied"}
    assert {fit.world for fit in fits("pomdp-value-iteration")} == small


def test_a_given_prior():
    assert fits("psrl", "chain", "crp-dynamics") == (("psrl", "chain", "crp-dynamics"),)
    assert fits("beetle", "chain", "crp-dynamics") == ()
    assert fits("q-learning", "chain", "flat") == ()
    assert {fit.world for fit in fits(prior="crp-dynamics", method="psrl")} == {
        "chain", "chain-semi", "chain-tied", "double-loop", "cluster-maze", "deep-sea", "li-example", "wumpus"
    }  # fmt: skip


def test_bad_names():
    with pytest.raises(UnknownName, match="Did you mean psrl"):
        fits("psrll")
    with pytest.raises(UnknownName, match=r"no world called 'tigre'\. Did you mean tiger"):
        fits(world="tigre")
    with pytest.raises(UnknownName, match=r"no prior called 'flt'\. Did you mean flat"):
        fits("psrl", "chain", "flt")
    with pytest.raises(InvalidArgument, match="fits: 'method' must be a name, got 3"):
        fits(3)
    with pytest.raises(InvalidArgument, match="It is a belief, not something that acts"):
        fits("dirichlet-mdp")


# Agents by name -------------------------------------------------------------------------------------------------------


def test_agents_of_names_and_objects():
    world = b.make_world("chain")
    by_name = b.agent("beb", "chain", "flat:1", beta=2)
    assert by_name == b.agent("beb:beta=2", world, b.DirichletMDP.flat(world))
    assert by_name == b.BayesAgent(b.DirichletMDP.flat(world), b.make("beb", beta=2))
    with pytest.raises(InvalidArgument, match="beb: 'beta' must be set once"):
        b.agent("beb:beta=2", "chain", beta=3)
    with pytest.raises(InvalidArgument, match="q-learning: 'prior' must be left out"):
        b.agent("q-learning", "chain", "flat")


@pytest.mark.parametrize("method", ["medusa", "action-oracle", "bayes-risk", "bayesian-marl", "coalition-formation"])
@pytest.mark.parametrize("world", ["gc", "gdl", "grid-bbrl"])
def test_agents_that_need_a_model_left_unknown_refuse_a_family(method, world):
    with pytest.raises(InvalidArgument, match="'world' must be one that leaves a model unknown"):
        b.agent(method, world)


def test_agents_that_read_the_state_refuse_a_hidden_one():
    with pytest.raises(InvalidArgument, match="q-learning: 'world' must be one whose state is observed, got 'tiger'"):
        b.agent("q-learning", "tiger")
