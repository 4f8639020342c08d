"""A belief over finitely many POMDPs: equal to sums over models and hidden paths, and what it refuses."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import FinitePOMDPs, POMDPFilter
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.pomdp import NOTHING
from bayesrl.testing import assert_mean_equal

S, A, Z, N = 3, 2, 2, 3


def random_pomdp(rng, terminal=()):
    P, O = rng.dirichlet(np.ones(S), (S, A)), rng.dirichlet(np.ones(Z), (S, A))
    start = rng.dirichlet(np.ones(S)) * [s not in terminal for s in range(S)]
    return b.TabularPOMDP.from_dense(P, O, rng.normal(size=(S, A)), 0.9, start / start.sum(), terminal)


def prior(seed, terminal=()):
    rng = default_rng(seed)
    return FinitePOMDPs(tuple(random_pomdp(rng, terminal) for _ in range(N)), rng.dirichlet(np.ones(N)))


def step(action, seen, terminated=False):
    return b.Transition(NOTHING, action, 0.0, seen, terminated)


def paths(pomdp, steps):
    """P(what was seen in one episode, last state = s), (S,), as a sum over every hidden path."""
    P, O, _ = pomdp.dense()
    total = np.zeros(S)
    for path in product(range(S), repeat=len(steps) + 1):
        p = pomdp.start[path[0]]
        for (a, o, ended), s, y in zip(steps, path, path[1:], strict=False):
            p *= P[s, a, y] * O[y, a, o] * (pomdp.terminal[y] == ended)
        total[path[-1]] += p
    return total


@pytest.mark.parametrize(
    "terminal, episodes",
    [
        ((), [[(0, 1, False), (1, 0, False), (1, 1, False), (0, 0, False)]]),
        ((), [[(0, 1, False), (1, 1, False)], [(1, 0, False), (1, 1, False), (0, 1, False)]]),
        ((2,), [[(0, 1, False), (1, 0, True)], [(1, 0, False), (0, 0, False)]]),
    ],
    ids=["one episode", "restart", "an end"],
)
def test_equals_the_sum_over_models_and_hidden_paths(terminal, episodes):
    belief, joint = prior(3, terminal), np.array(prior(3, terminal).weights)
    for i, episode in enumerate(episodes):
        belief = belief.restart() if i else belief
        for datum in episode:
            belief = belief.update(step(*datum))
        joint = joint * [paths(m, episode).sum() for m in belief.models]
    np.testing.assert_allclose(belief.posterior(), joint / joint.sum(), atol=1e-12)
    np.testing.assert_allclose(belief.log_evidence(), np.log(joint.sum()), atol=1e-10)
    last = np.array([paths(m, episodes[-1]) for m in belief.models])
    rows = last / last.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(belief.per_model(), rows, atol=1e-12)
    np.testing.assert_allclose(belief.states(), joint @ rows / joint.sum(), atol=1e-12)
    dense = [m.dense() for m in belief.models]
    for a in range(A):
        seen = [r @ P[:, a] @ O[:, a] for r, (P, O, _) in zip(rows, dense, strict=True)]
        np.testing.assert_allclose(belief.predictive(a), joint @ seen / joint.sum(), atol=1e-12)


@pytest.mark.parametrize("terminal", [(), (2,)])
def test_pairs_of_model_and_state_are_one_pomdp(terminal):
    """The filter of that POMDP has the joint probabilities of models and states, and the same evidence."""
    belief = prior(6, terminal).update(step(1, 0))
    pairs = belief.as_pomdp()
    np.testing.assert_allclose(pairs.start.reshape(N, S), belief.posterior()[:, None] * belief.per_model(), atol=1e-14)
    filter_, evidence = POMDPFilter(pairs), belief.log_evidence()
    for a, o in ((0, 1), (1, 1)):
        np.testing.assert_allclose(filter_.predictive(a), belief.predictive(a), atol=1e-12)
        belief, filter_ = belief.update(step(a, o)), filter_.update(step(a, o))
        joint = belief.posterior()[:, None] * belief.per_model()
        np.testing.assert_allclose(filter_.states().reshape(N, S), joint, atol=1e-12)
        np.testing.assert_allclose(filter_.log_evidence(), belief.log_evidence() - evidence, atol=1e-12)
    np.testing.assert_allclose(pairs.mean_reward.reshape(N, S, A), [m.mean_reward for m in belief.models])


def test_pairs_pay_what_their_model_pays():
    """And nothing for a step from one model to another, which is impossible."""
    rng = default_rng(9)
    for shapes in ([(S, A), (S, A, S)], [(S, A, S), (S, A, S, Z)]):
        rows = [(rng.dirichlet(np.ones(S), (S, A)), rng.dirichlet(np.ones(Z), (S, A))) for _ in range(2)]
        models = [
            b.TabularPOMDP.from_dense(*pair, rng.normal(size=n), 0.9) for pair, n in zip(rows, shapes, strict=True)
        ]
        pairs = FinitePOMDPs(tuple(models)).as_pomdp()
        for i, m in enumerate(models):
            for s, a, y, o in np.ndindex(S, A, S, Z):
                assert pairs.reward(i * S + s, a, i * S + y, o) == m.reward(s, a, y, o)
                assert pairs.reward(i * S + s, a, (1 - i) * S + y, o) == 0.0


def test_searches_draw_a_model_at_the_root():
    """One decision ahead, POMCP's values are the mean rewards of models and states. False alarm 1e-6 for each action.

    60 searches of 400 simulations detect an error of about .06.
    """
    belief = prior(7).update(step(0, 1))
    planner = b.make("pomcp", simulations=400, depth=1)
    q = [planner.plan(belief, NOTHING, planner.start(), default_rng(i)).info["q"] for i in range(60)]
    rewards = np.array([m.mean_reward for m in belief.models])
    expected = np.einsum("i,is,isa->a", belief.posterior(), belief.per_model(), rewards)
    assert_mean_equal(q, expected, false_alarm=1e-6)


def test_one_model_is_the_filter():
    rng = default_rng(0)
    model = random_pomdp(rng)
    one, many = POMDPFilter(model), FinitePOMDPs((model,))
    for a, o in ((0, 1), (1, 1), (0, 0)):
        one, many = one.update(step(a, o)), many.update(step(a, o))
        np.testing.assert_allclose(many.states(), one.states(), atol=1e-14)
        np.testing.assert_allclose(many.log_evidence(), one.log_evidence(), atol=1e-12)


def test_mean_and_drawn_models():
    belief = prior(5).update(step(0, 1)).update(step(1, 1))
    w, (P, O, r) = belief.posterior(), (np.array(x) for x in zip(*(m.dense() for m in belief.models), strict=True))
    mean = belief.mean_pomdp()
    for ours, models in zip(mean.dense(), (P, O, r), strict=True):
        np.testing.assert_allclose(ours, np.tensordot(w, models, 1), atol=1e-14)
    np.testing.assert_allclose(mean.start, belief.states(), atol=1e-14)
    rng, drawn = default_rng(1), np.zeros((N, S))
    for _ in range(2000):
        model = belief.sample_pomdp(rng)
        assert sorted(model.start.tolist()) == [0.0, 0.0, 1.0]
        i = next(i for i, m in enumerate(belief.models) if m.observed is model.observed)
        drawn[i, np.argmax(model.start)] += 1
    expected = 2000 * w[:, None] * belief.per_model()  # joint: the state is drawn given the model
    assert ((drawn - expected) ** 2 / expected).sum() < 40.8  # chi-squared with 8 degrees of freedom: false alarm 2e-6


def test_mean_of_models_that_pay_alike_keeps_what_they_pay():
    rng = default_rng(2)
    R = rng.normal(size=(S, A, S, Z))
    rows = [(rng.dirichlet(np.ones(S), (S, A)), rng.dirichlet(np.ones(Z), (S, A))) for _ in range(2)]
    belief = FinitePOMDPs(tuple(b.TabularPOMDP.from_dense(P, O, R, 0.9) for P, O in rows))
    np.testing.assert_array_equal(belief.mean_pomdp().rewards, R)
    assert belief.reward_range() == (R.min(), R.max())


def test_reweighted_keeps_filters_and_evidence():
    belief = prior(1).update(step(0, 1))
    new = belief.reweighted([0.2, 0.0, 0.8])
    np.testing.assert_allclose(new.posterior(), [0.2, 0.0, 0.8], atol=1e-14)
    np.testing.assert_array_equal(new.per_model(), belief.per_model())
    np.testing.assert_allclose(new.log_evidence(), belief.log_evidence())
    with pytest.raises(InvalidArgument, match="'weights' must be rows that sum to 1"):
        belief.reweighted([0.2, 0.0, 0.7])


def certain(seen):
    """A model with one state, which always shows the same observation."""
    return b.TabularPOMDP.from_dense([[[1.0]]], [[np.eye(2)[seen]]], [[0.0]], 0.9)


def test_models_that_cannot_explain_what_came_are_excluded():
    belief = FinitePOMDPs((certain(0), certain(1))).update(b.Transition(NOTHING, 0, 0.0, 1))
    assert belief.posterior().tolist() == [0.0, 1.0]
    assert belief.per_model().tolist() == [[0.0], [1.0]]
    assert belief.predictive(0).tolist() == [0.0, 1.0]
    assert belief.sample_pomdp(default_rng(0)).seen[0, 0].tolist() == [0.0, 1.0]
    before = belief.log_joint.copy()
    with pytest.raises(ImpossibleEvidence, match="observation 0 after action 0 has probability zero under this belief"):
        belief.update(b.Transition(1, 0, 0.0, 0))
    with pytest.raises(ImpossibleEvidence, match="with the end of the episode has probability zero"):
        belief.update(b.Transition(1, 0, 0.0, 1, True))
    np.testing.assert_array_equal(belief.log_joint, before)
    assert belief.restart().posterior().tolist() == [0.0, 1.0]


def test_a_log_restarts_at_ends():
    log = [step(0, 1), step(1, 0)._replace(truncated=True), step(1, 1)]
    by_hand = prior(4).update(log[0]).update(log[1]).restart().update(log[2])
    assert prior(4).update_many(log) == by_hand
    assert prior(4).update_many(log) != prior(4).update(log[0]).update(log[1]).update(log[2])


@pytest.mark.parametrize(
    "action, seen", [(2, 0), (-1, 0), (0, 2), (0, NOTHING), (0.5, 0), (0, 0.5), (None, 0), (0, None)]
)
def test_update_refuses(action, seen):
    with pytest.raises(InvalidArgument, match="must be a whole number of at least 0"):
        prior(0).update(step(action, seen))


def test_constructor_refuses():
    rng = default_rng(0)
    model = random_pomdp(rng)
    other = b.TabularPOMDP.from_dense([[[1.0]] * A], [[[1.0]] * A], [[0.0] * A], 0.9)
    for models in ((model, other), (model, random_pomdp(rng, (2,)))):
        with pytest.raises(InvalidArgument, match="'models' must be equal in states, actions, observations, discount"):
            FinitePOMDPs(models)
    for models in ((), model, (model, 3), None):
        with pytest.raises(InvalidArgument, match="'models' must be a sequence of TabularPOMDP"):
            FinitePOMDPs(models)
    for weights in ([0.5, 0.6], [0.5], [1.5, -0.5], [np.nan, 1.0]):
        with pytest.raises(InvalidArgument, match="'weights' must be"):
            FinitePOMDPs((model, model), weights)
