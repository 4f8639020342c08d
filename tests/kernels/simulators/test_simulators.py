"""Simulators of beliefs about tables: a simulation that was forgotten leaves nothing behind."""

from typing import get_type_hints

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import DirichletMixture, RewardBeta, RewardDirichlet, SparseDirichletMDP, UnknownRewards
from bayesrl.core import Transition
from bayesrl.kernels.simulators.hidden_model import HiddenModel, Rooted
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import Simulator, begin, forget, rollout_action, step
from bayesrl.registry import entries
from bayesrl.testing import assert_frequencies

CHAIN = b.make_world("chain", gamma=0.9)
STEPS = [(0, 0, 0.0, 1), (1, 0, 0.0, 2), (2, 1, 2.0, 0), (0, 0, 0.0, 1), (0, 0, 2.0, 0), (0, 0, 0.0, 1)]
LOG = [Transition(*step) for step in STEPS]
FLAT = b.DirichletMDP.flat(CHAIN, 0.3).update_many(LOG)
STRONG = b.DirichletMDP.flat(CHAIN, 4.0).update_many(LOG)
BELIEFS = {
    "flat": FLAT,
    "tied": b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9)).update_many(LOG),
    "sparse": SparseDirichletMDP.flat(CHAIN, 0.3).update_many(LOG),
    "mixture": DirichletMixture((FLAT, STRONG, b.DirichletMDP.flat(CHAIN, 1.0)), np.array([0.2, 0.6, 0.2])).update_many(
        LOG
    ),
    "unknown rewards": UnknownRewards(FLAT, RewardBeta(np.full((5, 2), 0.7), np.full((5, 2), 1.5), -1.0, 2.0)),
    "rewards of three values": UnknownRewards(FLAT, RewardDirichlet([0.0, 2.0, 10.0], np.full((5, 2, 3), 0.5))),
}
DEPTH = 12


def test_every_belief_names_a_simulator_that_a_search_can_use():
    """The class that `simulate` returns has the four functions without a default."""
    simulated = [entry.factory for entry in entries().values() if entry.kind == "belief"]
    simulated = [kind for kind in simulated if hasattr(kind, "simulate")]
    named = {kind: get_type_hints(kind.simulate)["return"] for kind in simulated}
    assert len(set(named.values())) >= 9
    for kind, simulator in named.items():
        for made in (HiddenModel, Rooted) if simulator is Simulator else (simulator,):
            assert issubclass(made, tuple)
            assert all(made in operation.registry for operation in (begin, step, forget, rollout_action)), kind


def told(belief, n):
    """The first steps of a fixed history from the start, as (s, a, k) with the states after them."""
    model, rng = belief.simulate(DEPTH), default_rng(7)
    s, path = 0, []
    for _ in range(n):
        a = int(rng.integers(2))
        begin(model, rng)
        k, y, *_ = step(model, s, a, rng)
        undo(model, s, a, k)
        replay(model, s, a, k)
        path.append((s, a, int(k)))
        s = int(y)
    return path, s


def played(model, s, rng, back=False):
    """One simulation: its outcomes, states and rewards. One draw in three is taken back at once, as searches do.

    In the end all is forgotten; with `back` it is taken back step by step, as after a replayed history.
    """
    begin(model, rng)
    marks, path, found, done = [], [], [], False
    while len(marks) < DEPTH and not done:
        a = int(rng.random() * 2)
        if rng.random() < 1 / 3:
            k, *_ = step(model, s, a, rng)
            undo(model, s, a, k)
            found.append((s, a, int(k)))
        k, y, r, done, mark = step(model, s, a, rng)
        marks.append(mark)
        path.append((s, a, k))
        found.append((int(k), int(y), float(r), bool(done)))
        s = y
    for one in reversed(path if back else []):
        undo(model, *one)
    if not back:
        forget(model, np.array(marks, np.int64), len(marks))
    return found


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("name", BELIEFS)
def test_a_forgotten_simulation_leaves_nothing_behind(name, before):
    """Thirty simulations on one simulator equal thirty on new ones, from the root and after a replayed history."""
    belief = BELIEFS[name]
    path, s = told(belief, before)

    def fresh():
        model = belief.simulate(DEPTH + before)
        for one in path:
            replay(model, *one)
        return model

    shared, different = fresh(), set()
    for i in range(30):
        found = played(shared, s, default_rng(i), before > 0)
        assert found == played(fresh(), s, default_rng(i), before > 0)
        different.add(tuple(found))
    assert len(different) > 20
    new = fresh()
    for a in range(2):
        for k in range(2):
            assert likelihood(shared, s, a, k) == pytest.approx(likelihood(new, s, a, k), rel=1e-12)
    for one in reversed(path):
        undo(shared, *one)
    assert played(shared, 0, default_rng(1)) == played(belief.simulate(DEPTH), 0, default_rng(1))


@pytest.mark.parametrize("name", BELIEFS)
def test_a_simulated_step_has_the_code_of_its_transition(name):
    """`code` finds what was simulated in the tree again: the outcome k of a transition is that of the step."""
    belief, rng = BELIEFS[name], default_rng(3)
    for _ in range(60):
        model, s, a = belief.simulate(1), int(rng.integers(5)), int(rng.integers(2))
        begin(model, rng)
        k, y, r, done, _ = step(model, s, a, rng)
        assert belief.code(Transition(s, a, float(r), int(y), terminated=bool(done))) == k


@pytest.mark.parametrize("name", ["flat", "tied", "sparse", "mixture"])
def test_a_simulator_knows_what_the_belief_knows(name):
    """At the root every outcome has its predictive probability, data included; first steps have these frequencies."""
    belief, rng = BELIEFS[name], default_rng(4)
    model, prob, o = belief.simulate(2), belief.mean_mdp().prob, belief.outcomes
    for s in range(5):
        for a in range(2):
            row = prob[o.group[s, a]]
            np.testing.assert_allclose([likelihood(model, s, a, k) for k in range(len(row))], row, atol=1e-12)
    counts = np.zeros(o.n_outcomes)
    for _ in range(2000):
        begin(model, rng)
        k, _, _, _, mark = step(model, 0, 0, rng)
        counts[k] += 1
        forget(model, np.array([mark]), 1)
    assert_frequencies(counts, prob[o.group[0, 0]])
