"""Sampled POMDPs: the solution of a known model, equality with a transcription, renewal, and beliefs without states."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp.sampled_pomdps import Sampled
from bayesrl.beliefs import FinitePOMDPs, POMDPFilter
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.models.pomdp import NOTHING
from bayesrl.registry import make_world

TIGER = make_world("tiger")


def hear(accuracy, start=None):
    return make_world("tiger", accuracy=accuracy).pomdp


@pytest.fixture(scope="module")
def belief():
    return FinitePOMDPs((hear(0.85), hear(0.7), hear(0.95)), [0.5, 0.3, 0.2])


def planned(planner, belief, steps, seed=0):
    """Decisions along given steps, as an agent makes them."""
    rng, memory, decisions, last = default_rng(seed), planner.start(), [], None
    for step in [*steps, None]:
        decisions.append(planner.plan(belief, NOTHING, memory, rng, last))
        memory, last = decisions[-1].memory, step
        if step is not None:
            belief = belief.update(step)
            belief = belief.restart() if step.ends_episode else belief
    return decisions


STEPS = [b.Transition(NOTHING, 0, -1.0, o) for o in (0, 0, 1, 0)]


def test_a_known_model_gives_its_solution():
    """All drawn models are the same one; its values are those of the same point-based solution."""
    planner = b.make("sampled-pomdps", models=2, size=8)
    filter_ = POMDPFilter(TIGER.pomdp)
    for decision, n in zip(planned(planner, filter_, STEPS), range(5), strict=True):
        now = filter_
        for step in STEPS[:n]:
            now = now.update(step)
        one, two = (model.solution.q(now.states()) for model in decision.memory.models)
        np.testing.assert_allclose(decision.info["weights"], [0.5, 0.5])
        np.testing.assert_allclose(decision.info["q"], (one + two) / 2)
        np.testing.assert_allclose(one, two, atol=0.02)  # they back up different beliefs
        assert decision.action == np.argmax(decision.info["q"])
        np.testing.assert_allclose(decision.memory.models[0].filter.states(), now.states())


def transcription(belief, episode, models, size, rng):
    """Draw, solve, filter the episode from its start, and take the mean value; weights are equal after a draw."""
    start, q = belief.restart().states(), []
    for _ in range(models):
        pomdp = belief.sample_pomdp(rng)
        P, O, _ = pomdp.dense()
        now = np.array(start)
        for step in episode:
            now = (now @ P[:, step.action]) * O[:, step.action, step.next_observation]
            now /= now.sum()
        q.append(b.make("pbvi", size=size).solve(pomdp.starting(start), rng).q(now))
    return np.mean(q, axis=0)


def test_equal_to_a_transcription(belief):
    planner = b.make("sampled-pomdps", models=3, size=6, renew=1)
    rng, now, memory, last = default_rng(4), belief, planner.start(), None
    beside = default_rng(4)
    for n, step in enumerate(STEPS):
        decision = planner.plan(now, NOTHING, memory, rng, last)
        expected = transcription(now, STEPS[:n], 3, 6, beside)
        np.testing.assert_allclose(decision.info["q"], expected, atol=1e-9)
        risk = decision.info["risks"]
        np.testing.assert_allclose(risk - risk.max(), expected - expected.max(), atol=1e-9)
        now, memory, last = now.update(step), decision.memory, step


def test_models_are_kept_weighted_and_renewed(belief):
    planner = b.make("sampled-pomdps", models=3, size=4, renew=3)
    decisions = planned(planner, belief, STEPS)
    solutions = [[model.solution for model in d.memory.models] for d in decisions]
    assert [solutions[i] == solutions[i - 1] for i in range(1, 5)] == [True, True, False, True]
    first = decisions[0].memory.models
    likelihood = []
    for model in first:
        filter_ = model.filter
        for step in STEPS[:2]:
            filter_ = filter_.update(step)
        likelihood.append(np.exp(filter_.log_evidence()))
    np.testing.assert_allclose(decisions[2].info["weights"], np.array(likelihood) / np.sum(likelihood), atol=1e-12)
    np.testing.assert_allclose(decisions[3].info["weights"], np.full(3, 1 / 3))  # drawn given all that was heard


def test_an_episode_is_forgotten_at_its_end():
    world = make_world("tiger-episodic")
    end = b.Transition(0, 1, 10.0, 0, True)
    planner = b.make("sampled-pomdps", models=2, size=4)
    decisions = planned(planner, POMDPFilter(world.pomdp), [STEPS[0], end, STEPS[1]])
    assert [len(d.memory.episode) for d in decisions] == [0, 1, 0, 1]
    np.testing.assert_allclose(decisions[2].memory.models[0].filter.states(), [0.5, 0.5, 0.0])


def test_models_grow_older_over_the_end_of_an_episode():
    end = b.Transition(0, 1, 10.0, 0, True)
    planner = b.make("sampled-pomdps", models=2, size=4, renew=3)
    decisions = planned(planner, POMDPFilter(make_world("tiger-episodic").pomdp), [STEPS[0], end, STEPS[1], STEPS[2]])
    assert [d.memory.age for d in decisions] == [0, 1, 2, 0, 1]


class Drawing:
    """A belief from which models can be drawn, and nothing else: they may differ in their states."""

    n_actions = 3

    def __init__(self, drawn=0):
        self.states_of = drawn

    def restart(self):
        return self

    def update(self, datum, rng=None):
        return self

    def sample_pomdp(self, rng):
        if rng.random() < 0.5:
            return hear(0.85).starting(np.eye(2)[int(rng.random() < 0.2)])
        P, O = np.tile(np.eye(3)[:, None], (1, 3, 1)), np.full((3, 3, 2), 0.5)
        return b.TabularPOMDP.from_dense(P, O, np.full((3, 3), -5.0), 0.95, start=2)


def test_a_belief_without_states():
    """Models start from the state drawn with them. They may have different states, and are drawn anew at an end."""
    planner = b.make("sampled-pomdps", models=8, size=4, renew=50)
    ends = STEPS[1]._replace(truncated=True)
    decisions = planned(planner, Drawing(), [STEPS[0], ends, STEPS[2]])
    models = [d.memory.models for d in decisions]
    assert {m.filter.n_states for m in models[0]} == {2, 3}
    assert all(set(m.filter.states().tolist()) == {0.0, 1.0} for m in models[0])
    assert [m.solution for m in models[1]] == [m.solution for m in models[0]]
    assert [m.solution for m in models[2]] != [m.solution for m in models[1]]


def test_models_that_do_not_explain_are_dropped(belief):
    deaf = b.TabularPOMDP.from_dense(*(x for x in _deaf()), 0.95, [0.5, 0.5])
    mixed = FinitePOMDPs((hear(0.85), deaf))
    planner = b.make("sampled-pomdps", models=6, size=3)
    heard = [b.Transition(NOTHING, 0, -1.0, 1)]
    decisions = planned(planner, mixed, heard)
    assert len(decisions[0].memory.models) == 6
    assert 0 < len(decisions[1].memory.models) < 6
    np.testing.assert_allclose(decisions[1].info["weights"].sum(), 1.0)
    memory = Sampled((), tuple(heard))
    with pytest.raises(ImpossibleEvidence, match="this episode has probability zero"):
        planner.plan(POMDPFilter(deaf), NOTHING, memory, default_rng(0))


def _deaf():
    """A tiger that is only ever heard on the left."""
    P, O, r = TIGER.pomdp.dense()
    O[:, 0] = [[1.0, 0.0]] * 2
    return P, O, r


def test_it_acts_on_particles():
    counts = make_world("tiger-tied").model_prior()
    agent = b.BayesAgent(b.beliefs.ParticleBAPOMDP(counts, particles=50), b.make("sampled-pomdps", models=3, size=5))
    one, two = (b.run(agent, TIGER, 20, seed=2) for _ in range(2))
    assert one == two
    assert one.action.max() > 0


def test_refusals():
    for name in ("models", "renew", "size"):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be a whole number of at least 1"):
            b.make("sampled-pomdps", **{name: 0})
    with pytest.raises(Incompatible, match="'sample_pomdp'"):
        b.BayesAgent(b.DirichletMDP.flat(make_world("chain")), b.make("sampled-pomdps"))
