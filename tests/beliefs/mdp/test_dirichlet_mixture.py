"""A finite mixture of Dirichlet models: Bayes' rule by hand, its compiled simulator, planners unchanged."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import DirichletMDP, DirichletMixture
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, step
from bayesrl.models.mdp import TabularMDP
from bayesrl.testing import assert_frequencies, assert_mean_equal

# In state 0, action 0 is safe (0.4 a step, whatever comes); action 1 pays only if it leads to state 1.
P = np.full((2, 2, 2), 0.5)
R = np.array([[[0.4, 0.4], [0.0, 1.0]], [[0.0, 0.0], [0.2, 0.2]]])
MDP = TabularMDP.from_dense(P, R, gamma=0.9)
GOOD, BAD = DirichletMDP.flat(MDP, [[0.4, 3.0]]), DirichletMDP.flat(MDP, [[5.0, 0.3]])
MIXTURE = DirichletMixture((GOOD, BAD), np.array([0.3, 0.7]))


def steps(n, seed=0):
    rng = default_rng(seed)
    return [Transition(s, a, R[s, a, y], y) for s, a, y in rng.integers(2, size=(n, 3)).tolist()]


def test_weights_by_hand():
    after = MIXTURE.update(Transition(0, 1, 1.0, 1)).update(Transition(0, 1, 0.0, 0))
    joint = np.array([0.3 * 3.0 / 3.4 * 0.4 / 4.4, 0.7 * 0.3 / 5.3 * 5.0 / 6.3])
    np.testing.assert_allclose(after.posterior(), joint / joint.sum(), rtol=1e-12)
    np.testing.assert_allclose(after.log_evidence(), np.log(joint.sum()), rtol=1e-12)
    w, row = after.posterior(), after.mean_mdp().prob[1]
    np.testing.assert_allclose(row[1], w[0] * 4.0 / 5.4 + w[1] * 1.3 / 7.3, rtol=1e-12)
    assert [part.seen for part in after.components] == [2, 2]
    assert MIXTURE.components == (GOOD, BAD)


def test_a_mixture_of_one_is_its_component():
    one, alone = DirichletMixture((GOOD,)).update_many(steps(30)), GOOD.update_many(steps(30))
    for name in ("counts", "row_variance", "log_evidence", "reward_range", "reward_variance"):
        np.testing.assert_allclose(getattr(one, name)(), getattr(alone, name)(), rtol=1e-9)
    np.testing.assert_array_equal(one.mean_mdp().prob, alone.mean_mdp().prob)
    assert one.same_support
    drawn = default_rng(3)
    drawn.random()  # of the component
    np.testing.assert_array_equal(one.sample_mdp(default_rng(3)).prob, alone.sample_mdp(drawn).prob)


def test_variance_and_count_are_those_of_drawn_models():
    """20000 drawn models, false alarm 1e-6; the count is that of a Dirichlet row with the same total variance."""
    belief, rng = MIXTURE.update_many(steps(3)), default_rng(0)
    draws = np.array([belief.sample_mdp(rng).prob for _ in range(20000)])
    mean, var = belief.mean_mdp().prob, belief.row_variance()
    assert_mean_equal(draws, mean)
    assert_mean_equal((draws - mean) ** 2, var)
    n = belief.counts().ravel()[:, None]
    np.testing.assert_allclose((mean * (1 - mean) / (n + 1)).sum(axis=1), var.sum(axis=1))
    certain = DirichletMDP.structured(MDP, known=True)
    assert np.isinf(DirichletMixture((certain, certain)).counts()).all()
    other = DirichletMDP.structured(TabularMDP.from_dense([[[0.9, 0.1]] * 2] * 2, R, 0.9), known=True)
    assert np.isfinite(DirichletMixture((certain, other)).counts()).all()  # which of them holds is unknown


def exact_value(belief, s, depth):
    """Naive expectimax over beliefs: the mixture's own update and mean, nothing else."""
    return max(exact_q(belief, s, depth)) if depth else 0.0


def exact_q(belief, s, depth):
    q, prob = [], belief.mean_mdp().prob
    for a in range(2):
        now = 0.0
        for y in range(2):
            after = belief.update(Transition(s, a, R[s, a, y], y)) if depth > 1 else belief
            now += prob[2 * s + a, y] * (R[s, a, y] + 0.9 * exact_value(after, y, depth - 1))
        q.append(now)
    return np.array(q)


def test_bamcp_finds_the_values_of_exact_expectimax(monkeypatch):
    """Mean of four searches of 200000 simulations, 3 decisions: within .01 of the values of both actions.

    What one outcome says about all other rows is worth .25: a Dirichlet with the same means and counts has that less.
    """
    pays = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]]])
    monkeypatch.setitem(globals(), "R", pays)
    mdp, row = TabularMDP.from_dense(P, pays, gamma=0.9), [0.4, 3.0]
    good, bad = ([r, r, r, r[::-1]] for r in (row, row[::-1]))
    belief = DirichletMixture((DirichletMDP.flat(mdp, good), DirichletMDP.flat(mdp, bad)))
    exact = exact_q(belief, 0, 3)
    planner = b.make("bamcp", simulations=200000, depth=3, exploration=1.0)
    found = np.mean([planner.plan(belief, 0, None, default_rng(i)).info["q"] for i in range(4)], axis=0)
    np.testing.assert_allclose(found, exact, atol=0.01)
    blunt = DirichletMDP(belief.outcomes, belief.counts().reshape(-1, 1) * belief.mean_mdp().prob, 0.9)
    assert abs(exact_q(blunt, 0, 3).max() - exact.max()) > 0.2


@pytest.mark.long
def test_bfs3_brackets_exact_expectimax():
    exact = exact_q(MIXTURE, 0, 3)
    info = b.make("bfs3", simulations=4000, depth=3, width=20).plan(MIXTURE, 0, None, default_rng(0)).info
    assert (info["lower"] <= exact + 1e-9).all()
    assert (exact - 1e-9 <= info["upper"]).all()
    assert (info["upper"] - info["lower"] < 0.3).all()


def test_simulations_have_the_law_of_the_mixture():
    """Joint frequencies of three outcomes of one pair, 40000 simulations; false alarm 1e-6."""
    belief = MIXTURE.update_many(steps(2, seed=1))
    model, rng, counts = belief.simulate(3), default_rng(0), np.zeros((2, 2, 2))
    for _ in range(40000):
        begin(model, rng)
        marks = np.zeros(3, np.int64)
        ks = []
        for t in range(3):
            k, y, r, done, marks[t] = step(model, 0, 1, rng)
            assert (y, r, done) == (k, R[0, 1, k], False)
            ks.append(int(k))
        counts[tuple(ks)] += 1
        forget(model, marks, 3)
    expected = np.zeros((2, 2, 2))
    for ks in product(range(2), repeat=3):
        now, p = belief, 1.0
        for k in ks:
            p *= now.mean_mdp().prob[1, k]
            now = now.update(Transition(0, 1, R[0, 1, k], k))
        expected[ks] = p
    assert_frequencies(counts, expected)


def test_histories_are_replayed_and_taken_back():
    model, told = MIXTURE.simulate(4), MIXTURE
    before = [x.copy() for x in (model.weights[0], model.urn.rows, model.now)]
    for t in steps(4):
        np.testing.assert_allclose(likelihood(model, 0, 1, 1), told.mean_mdp().prob[1, 1], rtol=1e-12)
        begin(model, default_rng(0))
        k = int(step(model, 0, 1, default_rng(1))[0])
        undo(model, 0, 1, k)  # a draw at a node leaves no trace
        replay(model, t.state, t.action, t.next_state)
        told = told.update(t)
    np.testing.assert_allclose(model.weights[4], told.posterior(), rtol=1e-12)
    for t in reversed(steps(4)):
        undo(model, t.state, t.action, t.next_state)
    for x, y in zip(
        (model.weights[0], model.urn.rows["count"], model.now), (before[0], before[1]["count"], before[2]), strict=True
    ):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", ["psrl", "bayesian-dp", "boss", "bamcp", "exploit", "beb", "vbrb"])
def test_planners_work_at_once(name):
    options = {"simulations": 50, "depth": 5} if name == "bamcp" else {}
    world = b.make_world("chain")
    parts = tuple(DirichletMDP.structured(world, c) for c in (0.5, 5.0))
    agent = b.BayesAgent(DirichletMixture(parts), b.make(name, **options))
    assert b.run(agent, world, 60, seed=1) == b.run(agent, world, 60, seed=1)


def test_what_it_cannot_do_is_refused():
    with pytest.raises(Incompatible, match="'enumerable', which DirichletMixture lacks"):
        b.BayesAgent(MIXTURE, b.make("forward-search"))
    with pytest.raises(InvalidArgument, match="a sequence of DirichletMDP"):
        DirichletMixture(())
    with pytest.raises(InvalidArgument, match="equal in outcomes and discount"):
        DirichletMixture((GOOD, DirichletMDP.flat(TabularMDP.from_dense(P, R, gamma=0.5))))
    with pytest.raises(InvalidArgument, match="rows that sum to 1"):
        DirichletMixture((GOOD, BAD), [0.5, 0.6])
    with pytest.raises(ImpossibleEvidence, match="no outcome is listed"):
        MIXTURE.update(Transition(0, 0, 7.0, 0))
    left, right = (TabularMDP.from_dense([[[x, 1 - x]] * 2] * 2, R, 0.9) for x in (1.0, 0.0))
    flat = DirichletMDP.flat(MDP).outcomes
    known = [DirichletMDP(flat, m.matrix, 0.9, known=np.full(4, True)) for m in (left, right)]
    sure = DirichletMixture(tuple(known))
    assert not sure.same_support
    assert DirichletMixture((known[0], known[0])).same_support  # of a row in which an outcome is impossible
    assert MIXTURE.same_support
    after = sure.update(Transition(0, 0, 0.4, 1))
    assert after.posterior().tolist() == [0.0, 1.0]
    with pytest.raises(ImpossibleEvidence):
        after.update(Transition(0, 0, 0.4, 0))
    assert pickle.loads(pickle.dumps(after)) == after
