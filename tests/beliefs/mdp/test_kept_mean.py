"""The mean model is kept along updates: equal to the last digit to one made anew, and no model ever changes."""

import gc

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import DirichletMDP, SparseDirichletMDP
from bayesrl.core import Transition
from bayesrl.models.mdp import TabularMDP


@pytest.fixture(autouse=True)
def also_small_models(monkeypatch):
    monkeypatch.setattr("bayesrl.beliefs.mdp._incremental_mean.SMALL", 0)


def world(states=70, seed=0):
    rng = default_rng(seed)
    P = rng.dirichlet(np.ones(states), size=(states, 2))
    P[rng.random(P.shape) < 0.6] = 0.0
    P += np.eye(states)[:, None] * 1e-3
    return TabularMDP.from_dense(P / P.sum(axis=2, keepdims=True), rng.normal(size=(states, 2, states)), gamma=0.9)


WORLD = world()
PRIORS = {
    "flat": DirichletMDP.flat(WORLD, 1 / 70),
    "structured": DirichletMDP.structured(WORLD, 0.3),
    "tied": DirichletMDP.structured(b.make_world("chain-tied")),
    "sparse": SparseDirichletMDP.flat(WORLD),
}


def steps(belief, n, seed=1):
    rng, o = default_rng(seed), belief.outcomes
    for _ in range(n):
        s, a = int(rng.integers(o.n_states)), int(rng.integers(o.n_actions))
        k = int(rng.integers(o.size[o.group[s, a]]))
        yield Transition(s, a, float(o.reward[s, a, k]), int(o.succ[s, a, k]))


def anew(belief):
    """The mean model and counts as a belief computes them that nobody has asked before."""
    prior = belief.__getstate__() | {"_ledger": type(belief._ledger)(belief._ledger._cells)}
    other = object.__new__(type(belief))
    other.__dict__.update(prior, _ledger=prior["_ledger"].extend(np.array(belief._ledger.entries)))
    model = TabularMDP.unchecked(other.outcomes, np.array(other.mean_mdp().prob), 0.9)
    return model.prob, model.mean_reward, other.counts()


@pytest.mark.parametrize("name", PRIORS)
def test_the_kept_model_equals_one_made_anew(name):
    """At every step of a line, with branches and with versions skipped; to the last digit."""
    belief = PRIORS[name]
    held = []
    for i, datum in enumerate(steps(belief, 150)):
        belief = belief.update(datum)
        if i % 3 == 0:
            model, (prob, r, counts) = belief.mean_mdp(), anew(belief)
            assert np.array_equal(model.prob, prob)
            assert np.array_equal(model.mean_reward, r)
            assert np.array_equal(belief.counts(), counts)
            if i % 30 == 0:
                held.append((belief, model, prob, r))
        if i == 60:
            branch = belief
    for datum in steps(belief, 5, seed=2):
        branch = branch.update(datum)
        assert np.array_equal(branch.mean_mdp().prob, anew(branch)[0])
    for old, model, prob, r in held:  # nobody's model has changed, and old beliefs still say what they said
        assert np.array_equal(model.prob, prob)
        assert np.array_equal(model.mean_reward, r)
        assert np.array_equal(old.mean_mdp().prob, prob)


def test_an_earlier_posterior_is_asked_after_a_later_one():
    for name, belief in PRIORS.items():
        line = [belief]
        for datum in steps(belief, 6, seed=3):
            line.append(line[-1].update(datum))
        for i in (5, 2, 6, 3, 1, 4):
            assert np.array_equal(line[i].mean_mdp().prob, anew(line[i])[0]), name


def test_a_buffer_is_written_only_if_nobody_looks():
    belief = PRIORS["flat"]
    data = list(steps(belief, 4))
    belief = belief.update(data[0])
    model = belief.mean_mdp()
    rows, place = model.matrix[3:5], model.prob.__array_interface__["data"][0]
    kept = rows.copy()
    del model
    gc.collect()
    after = belief.update(data[1]).mean_mdp()  # `rows` is still a view of the buffer
    assert after.prob.__array_interface__["data"][0] != place
    assert np.array_equal(rows, kept)
    del rows, after
    last = belief.update(data[1]).update(data[2])
    first = last.mean_mdp().prob.__array_interface__["data"][0]
    assert last.update(data[3]).mean_mdp().prob.__array_interface__["data"][0] == first


@pytest.mark.parametrize("name", PRIORS)
def test_another_thread_asks_for_a_later_posterior_in_between(name):
    """After this one has seen that the kept model is not too new, and before it holds the lock."""

    class Between:
        def __init__(self, kept):
            self.lock, self.kept = kept.lock, kept

        def __enter__(self):
            self.kept.lock = self.lock
            later.mean_mdp()
            self.lock.acquire()

        def __exit__(self, *error):
            self.lock.release()

    first, second, third = steps(PRIORS[name], 3)
    start = PRIORS[name].update(first)
    start.mean_mdp()
    now = start.update(second)
    later = now.update(third)
    kept = now._ledger.kept_mean
    kept.lock = Between(kept)
    np.testing.assert_array_equal(np.array(now.mean_mdp().prob), anew(now)[0])
    assert kept.n == 3
