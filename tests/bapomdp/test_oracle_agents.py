"""Agents that ask for the best action or for a confirmation: weights after answers, what is done, and how often."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp._asking import Answer, draw_models
from bayesrl.beliefs import DirichletPOMDP, FinitePOMDPs, POMDPFilter
from bayesrl.core import Decision
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.pomdp import NOTHING
from bayesrl.registry import make_world

ACTION, RISK = "action-oracle", "bayes-risk"
A = 3


@pytest.fixture(scope="module")
def prior():
    """The tiger with an unknown accuracy; a mild one, whose models prefer different actions."""
    return make_world("tiger", wrong=-20.0).model_prior()


def agent(name, prior, **settings):
    return b.make(name, **{"model_prior": prior, "models": 6, "size": 6, "particles": 30, **settings})


def heard(o, action=0, **more):
    return b.Transition((NOTHING, NOTHING), action, -1.0, (o, NOTHING), **more)


def said(answer, asked=A):
    return b.Transition((NOTHING, NOTHING), asked, -1.0, (NOTHING, answer))


def best_actions(drawn, steps):
    """Each model's best action after these steps of an episode, by its own filter."""
    best = []
    for solution in drawn.solutions:
        filter_ = POMDPFilter(solution.pomdp)
        for datum in steps:
            filter_ = filter_.update(datum._replace(next_observation=datum.next_observation[0]))
        best.append(int(np.argmax(solution.q(filter_.states()))))
    return np.array(best)


def evidence(model, steps):
    filter_ = POMDPFilter(model)
    for datum in steps:
        filter_ = filter_.update(datum._replace(next_observation=datum.next_observation[0]))
    return np.exp(filter_.log_evidence())


def differing(name, prior, steps, **settings):
    """A mind whose models disagree about what is best after these steps, and the generator."""
    one = agent(name, prior, **settings)
    for seed in range(20):
        rng = default_rng(seed)
        mind = one.act(one.start(), None, rng).memory
        for datum in steps:
            mind = one.learn(mind, datum, rng)
        best = best_actions(mind.drawn, steps)
        if 1 < len(set(best.tolist())):
            return one, mind, best, rng
    raise AssertionError("no models that disagree")


STEPS = [heard(0), heard(0)]


@pytest.mark.parametrize("name", [ACTION, RISK])
def test_weights_after_answers(name, prior):
    """Prior weight times the probability of what was heard times that of the answer, by hand."""
    one, mind, best, rng = differing(name, prior, STEPS, error=0.2)
    w = np.array([evidence(s.pomdp, STEPS) for s in mind.drawn.solutions])
    np.testing.assert_allclose(mind.drawn.belief.posterior(), w / w.sum(), atol=1e-12)
    if name == ACTION:
        a, transition = int(best[0]), said(int(best[0]))
        likelihood = np.where(best == a, 0.8, 0.2 / 2)
    else:
        a, transition = int(best[0]), said(0, asked=A + int(best[0]))
        likelihood = np.where(best == a, 0.2, 0.8)  # a no
    after = one.learn(mind, transition, rng)
    expected = w * likelihood
    np.testing.assert_allclose(after.drawn.belief.posterior(), expected / expected.sum(), atol=1e-12)
    np.testing.assert_array_equal(after.drawn.belief.per_model(), mind.drawn.belief.per_model())
    assert after.learned is mind.learned, "nothing happened in the world"
    assert after.past[:-1] == mind.past
    assert after.past[-1] == (Answer(NOTHING, a) if name == ACTION else Answer(a, 0))


@pytest.mark.parametrize("name", [ACTION, RISK])
def test_new_models_are_weighted_by_past_answers(name, prior):
    """The past is replayed for each model. Observations do not weigh it: they are in the belief it was drawn from."""
    one, mind, _, rng = differing(name, prior, STEPS, error=0.2)
    mind = one.learn(mind, said(2) if name == ACTION else said(1, asked=A + 2), rng)
    mind = one.learn(mind, heard(1, truncated=True), rng)  # then a new episode
    mind = one.learn(mind, heard(1), rng)
    mind = one.learn(mind, said(0) if name == ACTION else said(0, asked=A + 1), rng)
    mind = one.learn(mind, heard(0), rng)
    drawn = draw_models(one, mind, rng)
    first, second = best_actions(drawn, STEPS), best_actions(drawn, [heard(1)])
    if name == ACTION:
        w = np.where(first == 2, 0.8, 0.1) * np.where(second == 0, 0.8, 0.1)
    else:
        w = np.where(first == 2, 0.8, 0.2) * np.where(second == 1, 0.2, 0.8)
    np.testing.assert_allclose(drawn.belief.posterior(), w / w.sum(), atol=1e-12)
    assert len(set(w.tolist())) > 1, "the answers must tell models apart"
    rows = []
    for solution in drawn.solutions:
        filter_ = POMDPFilter(solution.pomdp)
        for o in (1, 0):
            filter_ = filter_.update(b.Transition(NOTHING, 0, 0.0, o))
        rows.append(filter_.states())
    np.testing.assert_allclose(drawn.belief.per_model(), rows, atol=1e-12)
    np.testing.assert_allclose(drawn.solutions[0].pomdp.start, [0.5, 0.5])
    assert drawn.age == 0


def test_new_models_come_from_what_was_learned():
    """A belief that has heard 200 consistent sounds draws accurate models; the prior does not."""
    counts = make_world("tiger-tied").model_prior()
    one, rng = agent(ACTION, counts, models=3, size=2, particles=200), default_rng(0)
    mind = one.start()
    for _ in range(60):
        mind = one.learn(mind, heard(0), rng)
    mean = np.mean([s.pomdp.seen[0, 0, 0] for s in draw_models(one, mind, rng).solutions])
    assert mean > 0.85  # (5 + 60) / 68 = .96 if the tiger is on the left, against .625


def test_models_are_renewed(prior):
    one, rng = agent(ACTION, prior, renew=2, agreement=0.0, models=2, size=2), default_rng(0)
    mind, kept = one.start(), []
    for _ in range(5):
        mind = one.act(mind, None, rng).memory
        kept.append(mind.drawn.solutions)
        mind = one.learn(mind, heard(0), rng)
    assert [kept[i] is kept[i - 1] for i in range(1, 5)] == [True, False, True, False]


def test_the_answer_is_done(prior):
    one, mind, best, rng = differing(ACTION, prior, STEPS, agreement=1.0)
    decision = one.act(mind, None, rng)
    votes = np.bincount(best, mind.drawn.belief.posterior(), A)
    np.testing.assert_allclose(decision.info["votes"], votes)
    assert decision.info["asked"]
    assert decision.action == A
    mind = one.learn(decision.memory, said(2), rng)
    assert one.act(mind, None, rng).action == 2  # whatever the models think of it
    mind = one.learn(mind, heard(1, action=2), rng)
    assert mind.chosen == NOTHING
    content = agent(ACTION, prior, agreement=float(votes.max()) - 1e-9)
    assert content.act(differing(ACTION, prior, STEPS)[1], None, default_rng(0)).action == np.argmax(votes)


def test_the_choice_of_least_risk(prior):
    one, mind, _, rng = differing(RISK, prior, STEPS, cost=0.0)
    q = np.array([s.q(row) for s, row in zip(mind.drawn.solutions, mind.drawn.belief.per_model(), strict=True)])
    risk = mind.drawn.belief.posterior() @ (q - q.max(axis=1, keepdims=True))
    decision = one.act(mind, None, rng)
    np.testing.assert_allclose(decision.info["risks"], risk, atol=1e-12)
    a = int(np.argmax(risk))
    assert risk[a] < 0.0
    assert decision.action == A + a
    lenient = agent(RISK, prior, cost=float(-risk[a]))  # it loses exactly as much as a question costs
    assert lenient.act(mind, None, rng).action == a
    mind = one.learn(decision.memory, said(1, asked=A + a), rng)
    assert one.act(mind, None, rng).action == a  # a yes is done


def test_after_a_no_the_next_is_asked_about(prior):
    one, mind, _, rng = differing(RISK, prior, STEPS, cost=0.0, error=0.5)  # answers say nothing about models
    first = one.act(mind, None, rng)
    mind = one.learn(first.memory, said(0, asked=first.action), rng)
    second = one.act(mind, None, rng)
    risk = second.info["risks"].copy()
    risk[first.action - A] = -np.inf
    assert second.action == A + int(np.argmax(risk)) != first.action
    patient = agent(RISK, prior, cost=1e9).act(mind, None, rng)  # having begun, it goes on
    assert patient.action == second.action
    mind = one.learn(second.memory, said(0, asked=second.action), rng)
    left = ({0, 1, 2} - {first.action - A, second.action - A}).pop()
    third = one.act(mind, None, rng)
    assert (third.action, third.info["asked"]) == (left, False)  # one is left
    mind = one.learn(third.memory, heard(0, action=left), rng)
    assert (mind.refused, mind.chosen) == ((), NOTHING)


def test_models_stay_between_a_no_and_the_next_question(prior):
    one, mind, _, rng = differing(RISK, prior, STEPS, cost=0.0, renew=2)
    fresh = one.act(mind, None, rng)
    assert fresh.memory.drawn is not mind.drawn  # two steps are over
    while fresh.action < A:  # the new models agree
        fresh = one.act(mind, None, rng)
    aged = fresh.memory._replace(drawn=fresh.memory.drawn._replace(age=5))
    mind = one.learn(aged, said(0, asked=fresh.action), rng)
    assert one.act(mind, None, rng).memory.drawn is mind.drawn


# In their worlds -----------------------------------------------------------------------------------------------------


SETTINGS = {
    "medusa": ("asking-for-state", {"models": 5, "size": 8}),
    ACTION: ("asking-for-action", {"models": 5, "size": 8, "particles": 100}),
    RISK: ("asking-for-confirmation", {"models": 5, "size": 8, "particles": 100}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_agents_ask_less_in_time(name):
    """Over five runs: a third less questions in the last third than in the first, and more than listening pays, -1.

    Seeds are fixed, so there is no false alarm. docs/oracles.md has the figures of many runs.
    """
    home, settings = SETTINGS[name]
    world = make_world(home, world="tiger-episodic")
    one = b.make(name, model_prior=world.model_prior(), **settings)
    records = [b.run(one, world, 150, seed=seed, keep=("asked",)) for seed in range(5)]
    first, last = (sum(int(r.asked[part].sum()) for r in records) for part in (slice(50), slice(100, 150)))
    assert last < 2 / 3 * first
    assert np.mean([r.reward[100:].mean() for r in records]) > -1.0
    assert np.mean([r.reward.mean() for r in records]) > 0.0
    again = b.run(one, world, 30, seed=0, keep=("asked",))
    assert again.action.tolist() == records[0].action[:30].tolist()


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, home", [(ACTION, "asking-for-action"), (RISK, "asking-for-confirmation")])
def test_refusals(name, home, prior):
    for settings, sentence in (
        ({"model_prior": None}, "'model_prior' must be a DirichletPOMDP, got None"),
        ({"models": 0}, "'models' must be a whole number of at least 1"),
        ({"error": 1.5}, r"'error' must be in \[0, 1\]"),
        ({"renew": 0}, "'renew' must be a whole number of at least 1"),
        ({"particles": 0}, "'particles' must be a whole number of at least 1"),
        ({"agreement": 1.5} if name == ACTION else {"cost": -1.0}, "'agreement' must be in|'cost' must be at least 0"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            agent(name, prior, **settings)
    for world in ("tiger", "asking-for-state"):
        with pytest.raises(InvalidArgument, match=f"'world' must be one that takes questions, such as {home}"):
            b.run(agent(name, prior), make_world(world), 1)
    one, rng = agent(name, prior, models=2, size=2), default_rng(0)
    for seen in (0, None, (0, 0, 0), ("a", 0)):
        with pytest.raises(InvalidArgument, match="'next_observation' must be"):
            one.learn(one.start(), heard(0)._replace(next_observation=seen), rng)
    with pytest.raises(InvalidArgument, match="must be a whole number"):
        one.learn(one.start(), said(3, asked=A), rng)
    mind = one.act(one.start(), None, rng).memory
    assert pickle.loads(pickle.dumps(mind)).drawn.belief == mind.drawn.belief


@pytest.mark.parametrize("name", [ACTION, RISK])
def test_an_answer_that_no_model_can_give(name, prior):
    """With an oracle that never errs, and models that all prefer to listen at first."""
    one, rng = agent(name, prior, models=2, size=6, error=0.0), default_rng(0)
    mind = one.act(one.start(), None, rng).memory
    assert mind.drawn.best().tolist() == [0, 0]
    with pytest.raises(ImpossibleEvidence, match="the answer"):
        one.learn(mind, said(2) if name == ACTION else said(1, asked=A + 2), rng)
    past = (Answer(NOTHING, 2) if name == ACTION else Answer(2, 1),)
    with pytest.raises(ImpossibleEvidence, match="no drawn model can give all answers"):
        draw_models(one, mind._replace(past=past), rng)


def test_an_agent_that_only_learns_draws_models_when_it_is_told(prior):
    """A log can be learned from without a decision."""
    one, rng = agent(ACTION, prior), default_rng(0)
    mind = one.learn(one.start(), heard(0), rng)
    assert mind.drawn is None
    mind = one.learn(mind, said(0), rng)
    assert isinstance(mind.drawn.belief, FinitePOMDPs)
    assert isinstance(one.act(mind, None, rng), Decision)
    assert isinstance(one.prior, DirichletPOMDP)
