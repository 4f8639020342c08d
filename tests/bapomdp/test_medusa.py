"""MEDUSA: weights are likelihoods of answers, renewal keeps them, and an answer makes every belief certain."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

import bayesrl as b
from bayesrl.bapomdp.medusa import Learning
from bayesrl.beliefs import DirichletPOMDP, FinitePOMDPs, POMDPFilter
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.pomdp import NOTHING
from bayesrl.testing import assert_mean_equal

S, A, Z = 2, 2, 3
KNOWN = [[False, True], [False, False]]
"""The move of action 1 in state 0 is known."""


def counts():
    rng = default_rng(8)
    phi, psi = 1.0 + rng.integers(0, 4, (S, A, S)), 1.0 + rng.integers(0, 4, (S, A, Z))
    phi[0, 1] = [0.3, 0.7]
    return DirichletPOMDP.from_dense(phi, psi, rng.normal(size=(S, A)), 0.9, [0.4, 0.6], known_transitions=KNOWN)


def agent(**settings):
    return b.make("medusa", **{"model_prior": counts(), "models": 4, "size": 4, **settings})


def answered(s, a, y, o, **more):
    return b.Transition((0, NOTHING, NOTHING), A + a, 0.0, (o, s, y), **more)


def unanswered(a, o, **more):
    return b.Transition((0, NOTHING, NOTHING), a, 0.0, (o, NOTHING, NOTHING), **more)


ANSWERS = [(0, 0, 1, 2), (1, 1, 1, 0), (1, 0, 0, 1), (0, 1, 1, 1), (1, 0, 1, 2)]


def likelihood(model, answers):
    """The probability of seen steps under a model; known rows are the same in all models."""
    P, O, _ = model.dense()
    return np.prod([P[s, a, y] * O[y, a, o] for s, a, y, o in answers])


def log_density(model, prior):
    """The Dirichlet density of a model's unknown rows, by scipy."""
    P, O, _ = model.dense()
    pairs = [(P[s, a], prior.phi[s * A + a]) for s in range(S) for a in range(A) if not KNOWN[s][a]]
    pairs += [(O[s, a], prior.psi[s * A + a]) for s in range(S) for a in range(A)]
    return sum(stats.dirichlet.logpdf(row, alpha) for row, alpha in pairs)


@pytest.mark.parametrize("rate", [1.0, 0.3, 2.0])
def test_weights_are_likelihoods_to_the_power_rate(rate):
    """An identity, for models that were drawn together: normalising constants are the same in all of them."""
    one, rng = agent(rate=rate, renew=100), default_rng(0)
    mind = one.act(one.start(), None, rng).memory
    np.testing.assert_allclose(mind.weights(), np.full(4, 0.25), atol=1e-12)
    for n, answer in enumerate(ANSWERS, 1):
        mind = one.learn(mind, answered(*answer), rng)
        expected = np.array([likelihood(model, ANSWERS[:n]) for model in mind.belief.models]) ** rate
        np.testing.assert_allclose(mind.weights(), expected / expected.sum(), rtol=1e-9)
        assert mind.answers == n
    assert mind.posterior == _learned(counts(), ANSWERS, rate)
    for datum in (unanswered(0, 1), unanswered(1, 2)):  # what was not answered changes no weight
        mind = one.learn(mind, datum, rng)
    np.testing.assert_allclose(mind.weights(), expected / expected.sum(), rtol=1e-9)


def _learned(prior, answers, rate):
    for answer in answers:
        prior = prior.learned(*answer, rate)
    return prior


def test_weights_are_kept_at_a_renewal():
    """The model of least weight is replaced. Its weight is that of a density ratio of 1; the others keep theirs."""
    one, rng = agent(renew=len(ANSWERS)), default_rng(0)
    first = mind = one.act(one.start(), None, rng).memory
    for answer in ANSWERS:
        mind = one.learn(mind, answered(*answer), rng)
    after = _learned(counts(), ANSWERS, 1.0)
    ratios = [np.exp(log_density(m, after) - log_density(m, counts())) for m in first.belief.models]
    worst = int(np.argmin(ratios))
    same = [i for i in range(4) if mind.belief.models[i] is first.belief.models[i]]
    assert same == [i for i in range(4) if i != worst]
    assert mind.belief.models[worst] != first.belief.models[worst]
    assert mind.solutions[worst].pomdp == mind.belief.models[worst]
    ratios[worst] = 1.0
    np.testing.assert_allclose(mind.weights(), np.array(ratios) / np.sum(ratios), rtol=1e-9)
    state = ANSWERS[-1][2]
    np.testing.assert_array_equal(mind.belief.per_model(), np.tile(np.eye(S)[state], (4, 1)))
    mind = one.learn(mind, answered(*ANSWERS[0]), rng)  # from now on it is weighted by what is answered after it
    later = after.learned(*ANSWERS[0])
    begun = [after if i == worst else counts() for i in range(4)]
    ratios = [log_density(m, later) - log_density(m, c) for m, c in zip(mind.belief.models, begun, strict=True)]
    np.testing.assert_allclose(mind.weights(), np.exp(ratios) / np.exp(ratios).sum(), rtol=1e-9)


def test_a_renewal_leaves_the_mind_before_it_alone():
    """One may go on from an earlier mind: the same answer gives the same weights again."""
    one = agent(renew=2)
    mind = one.learn(one.act(one.start(), None, default_rng(0)).memory, answered(*ANSWERS[0]), default_rng(1))
    before = [x.copy() for x in (mind.log_drawn, mind.log_now)]
    first, again = (one.learn(mind, answered(*ANSWERS[1]), default_rng(2)) for _ in range(2))
    np.testing.assert_array_equal([mind.log_drawn, mind.log_now], before)
    np.testing.assert_array_equal(first.weights(), again.weights())


def test_a_renewed_model_comes_from_the_present_counts():
    """An answer that counts 10,000 times leaves no doubt about its rows."""
    one, rng = agent(rate=10_000.0, renew=1), default_rng(0)
    before = one.act(one.start(), None, rng).memory
    mind = one.learn(before, answered(0, 0, 1, 2), rng)
    new = next(m for m in mind.belief.models if all(m is not other for other in before.belief.models))
    P, O, _ = new.dense()
    assert P[0, 0, 1] > 0.99
    assert O[1, 0, 2] > 0.99


def test_weights_are_importance_weights():
    """Models of the prior, weighted so, have the posterior's mean, whatever part of them was drawn later.

    False alarm 1e-6 for each entry. 40 groups of 100 models detect a shift of about .04 (weights forgotten: .18).
    """
    prior, rng = counts(), default_rng(2)
    after = _learned(prior, ANSWERS, 1.0)
    means = []
    for _ in range(40):
        early = [prior.sample_pomdp(rng) for _ in range(80)]
        late = [after.sample_pomdp(rng) for _ in range(20)]
        log_drawn = [prior.log_density(m) for m in early] + [after.log_density(m) for m in late]
        log_now = [after.log_density(m) for m in early + late]
        mind = Learning(after, FinitePOMDPs(tuple(early + late)), (), np.array(log_drawn), np.array(log_now))
        means.append(np.tensordot(mind.weights(), np.array([m.seen for m in early + late]), 1).ravel())
    assert_mean_equal(means, after.mean_pomdp().seen.ravel(), false_alarm=1e-6, bias=0.02)


def test_an_answer_makes_every_belief_certain():
    one, rng = agent(), default_rng(1)
    mind = one.learn(one.start(), unanswered(0, 1), rng)
    filters = [POMDPFilter(m).update(b.Transition(NOTHING, 0, 0.0, 1)) for m in mind.belief.models]
    np.testing.assert_allclose(mind.belief.per_model(), [f.states() for f in filters], atol=1e-12)
    mind = one.learn(mind, answered(1, 1, 0, 2), rng)
    np.testing.assert_array_equal(mind.belief.per_model(), [[1.0, 0.0]] * 4)
    mind = one.learn(mind, unanswered(0, 1), rng)  # and from there they filter
    P, O, _ = (np.array(x) for x in zip(*(m.dense() for m in mind.belief.models), strict=True))
    joint = P[:, 0, 0] * O[:, :, 0, 1]
    np.testing.assert_allclose(mind.belief.per_model(), joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    for end in ({"truncated": True}, {"terminated": False, "truncated": True}):
        ended = one.learn(mind, answered(1, 1, 0, 2, **end), rng)
        np.testing.assert_allclose(ended.belief.per_model(), [[0.4, 0.6]] * 4)


def test_questions_are_asked_when_models_disagree():
    """The deviation of Q_i(b_i, a) by hand; the action of the model drawn is done, with a question or without."""
    for threshold in (0.0, 1e9):
        one, rng = agent(threshold=threshold), default_rng(3)
        decision = one.act(one.start(), None, rng)
        mind, info = decision.memory, decision.info
        q = np.array([sol.q([0.4, 0.6]) for sol in mind.solutions])
        a = decision.action % A
        np.testing.assert_allclose(info["q"], q.mean(axis=0))
        np.testing.assert_allclose(info["deviation"], np.sqrt(np.mean((q[:, a] - q[:, a].mean()) ** 2)))
        assert a in np.argmax(q, axis=1)
        assert info["asked"] == (threshold == 0.0) == (decision.action >= A)


def test_models_are_drawn_by_their_weight():
    """False alarm 1e-6: the share of decisions of one model is its weight."""
    one, rng = agent(threshold=1e9), default_rng(4)
    mind = one.act(one.start(), None, rng).memory
    w = np.array([0.85, 0.05, 0.05, 0.05])
    mind = mind._replace(log_now=mind.log_drawn + np.log(w))
    best = np.argmax([sol.q([0.4, 0.6]) for sol in mind.solutions], axis=1)
    share = w @ (best == 1)
    assert abs(share - (best == 1).mean()) > 0.2, "the models must differ in what they prefer"
    drawn = np.array([one.act(mind, None, rng).action for _ in range(600)], float)
    assert_mean_equal(drawn, share, false_alarm=1e-6)


def test_a_model_that_cannot_explain_what_came_gets_no_weight():
    one, rng = agent(), default_rng(5)
    mind = one.act(one.start(), None, rng).memory
    P, O, r = mind.belief.models[2].dense()
    O[:, 0] = [[1.0, 0.0, 0.0]] * S  # never shows 1
    blind = b.TabularPOMDP.from_dense(P, O, r, 0.9, [0.4, 0.6])
    models = (*mind.belief.models[:2], blind, mind.belief.models[3])
    mind = one.learn(mind._replace(belief=FinitePOMDPs(models)), unanswered(0, 1), rng)
    assert mind.weights()[2] == 0.0
    assert one.act(mind, None, rng).info["weights"][2] == 0.0
    mind = one.learn(mind, answered(0, 1, 1, 1), rng)
    assert mind.weights()[2] == 0.0
    assert agent(renew=1).learn(mind, answered(0, 1, 1, 1), rng).weights()[2] > 0.0  # it is the one that is renewed


def test_runs_are_reproducible_and_minds_are_values():
    world = b.make_world("asking-for-state", world="tiger-episodic")
    one = b.make("medusa", model_prior=world.model_prior(), models=3, size=5, renew=3)
    first, second = (b.run(one, world, 25, seed=1, keep=("asked",)) for _ in range(2))
    assert first == second
    mind = one.act(one.start(), None, default_rng(0)).memory
    assert pickle.loads(pickle.dumps(mind)).belief == mind.belief
    before = mind.log_now.copy()
    one.learn(mind, b.Transition((NOTHING,) * 3, 3, 0.0, (0, 0, 0)), default_rng(0))
    np.testing.assert_array_equal(mind.log_now, before)


def test_refusals():
    for settings, sentence in (
        ({"model_prior": None}, "'model_prior' must be a DirichletPOMDP"),
        ({"models": 0}, "'models' must be a whole number of at least 1"),
        ({"rate": 0.0}, "'rate' must be greater than 0"),
        ({"threshold": -1.0}, "'threshold' must be at least 0"),
        ({"renew": 0}, "'renew' must be a whole number of at least 1"),
        ({"size": 0}, "'size' must be a whole number of at least 1"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            agent(**settings)
    with pytest.raises(InvalidArgument, match="'model_prior' must be given"):
        b.make("medusa")
    for world in ("tiger", "asking-for-action"):
        with pytest.raises(InvalidArgument, match="'world' must be one that takes questions, such as asking-for-state"):
            b.run(agent(), b.make_world(world), 1)
    one, rng = agent(), default_rng(0)
    for seen in (0, None, (0, 1), (0, 0, 0.5)):
        with pytest.raises(InvalidArgument, match="'next_observation' must be"):
            one.learn(None, unanswered(0, 0)._replace(next_observation=seen), rng)
    with pytest.raises(InvalidArgument, match="'action' must be"):
        one.learn(None, unanswered(4, 0), rng)


def test_an_answer_that_no_model_can_give():
    world = b.make_world("asking-for-state", world="tiger")
    one, rng = b.make("medusa", model_prior=world.model_prior(), models=2, size=3), default_rng(0)
    mind = one.act(one.start(), None, rng).memory
    with pytest.raises(ImpossibleEvidence):  # listening leaves the tiger where it is
        one.learn(mind, b.Transition((NOTHING,) * 3, 3, -1.0, (0, 0, 1)), rng)
