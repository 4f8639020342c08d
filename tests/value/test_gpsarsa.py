"""GPSARSA against rows written by hand, and on the mountain car."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import SparseGPTD
from bayesrl.beliefs.covariances import Direction, Discrete, Gaussian, StateAction
from bayesrl.core import Streams, Transition, play
from bayesrl.errors import InvalidArgument
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.registry import make_world
from bayesrl.value.gpsarsa import GPSARSA, Box, Mind, greedy_direction

K = StateAction(Gaussian(scale=1.0), Discrete(), dims=1)
PAIRS = np.array([[s, a] for s in (0.0, 0.5, 2.0) for a in (0, 1)])


def played(agent, ends):
    """A mind after steps with given rewards and ends, and the pairs that were visited."""
    rng, mind, pairs = default_rng(0), agent.start(), []
    for i, (reward, terminated, truncated) in enumerate(ends):
        s = 0.3 * i
        decision = agent.act(mind, s, rng)
        pairs.append([s, decision.action])
        step = Transition(s, decision.action, reward, 0.3 * (i + 1), terminated, truncated)
        mind = agent.learn(decision.memory, step, rng)
    return mind, pairs


@pytest.mark.parametrize("residuals", ["coloured", "white"])
def test_pairs_are_the_rows_written_by_hand(residuals):
    """A pair is closed by the next action, or by its end, and once only; the last one stays open."""
    agent = GPSARSA(2, K, noise=0.5, gamma=0.9, threshold=0.0, epsilon=1.0, residuals=residuals)
    ends = [(1.0, False, False), (2.0, False, False), (3.0, True, False), (4.0, False, False), (5.0, False, False)]
    mind, z = played(agent, ends)
    by_hand = SparseGPTD(K, 0.5, 0.9, threshold=0.0, residuals=residuals)
    by_hand = by_hand.update_many(
        [Transition(z[0], 0, 1.0, z[1]), Transition(z[1], 0, 2.0, z[2]), Transition(z[2], 0, 3.0, z[2], True)]
    )
    by_hand = by_hand.update(Transition(z[3], 0, 4.0, z[4]))
    np.testing.assert_allclose(mind.belief.mean(PAIRS), by_hand.mean(PAIRS), atol=1e-12)
    np.testing.assert_allclose(mind.belief.covariance(PAIRS), by_hand.covariance(PAIRS), atol=1e-12)
    assert mind.open.reward == 5.0
    assert mind.episodes == 1


def test_a_truncated_episode_closes_with_the_action_it_would_take():
    agent = GPSARSA(2, K, noise=0.5, gamma=0.9, threshold=0.0, epsilon=0.0)
    mind, z = played(agent, [(1.0, True, False), (4.0, False, True)])
    base = SparseGPTD(K, 0.5, 0.9, threshold=0.0).update(Transition(z[0], 0, 1.0, z[0], True))
    q = base.mean([[0.6, 0], [0.6, 1]])
    expected = base.update(Transition(z[1], 0, 4.0, [0.6, int(q.argmax())], truncated=True))
    np.testing.assert_allclose(mind.belief.mean(PAIRS), expected.mean(PAIRS), atol=1e-12)
    assert mind.open is None
    assert mind.belief.tail is None
    assert mind.episodes == 2


def test_the_next_action_is_chosen_on_the_belief_as_it_stands():
    """The row that the next action closes must not have been learned when that action is chosen."""
    agent = GPSARSA(2, K, noise=0.1, gamma=0.9, threshold=0.0, epsilon=0.0)
    mind, _ = played(agent, [(9.0, False, False)])
    decision = agent.act(mind, 0.0, default_rng(0))
    np.testing.assert_array_equal(decision.info["q"], [0.0, 0.0])
    assert np.abs(decision.memory.belief.mean(PAIRS)).max() > 1.0


def test_ways_to_choose():
    """Each way against its definition; random actions at their rate within 5 standard errors (false alarm 6e-7)."""
    belief = SparseGPTD(K, 0.5, 0.9, threshold=0.0).update(Transition([0.0, 1], 0, 2.0, [0.0, 1], True))
    pairs = [[0.0, 0], [0.0, 1]]
    q, variance = belief.mean(pairs), belief.variance(pairs)

    def choices(episodes=0, **how):
        agent = GPSARSA(2, K, threshold=0.0, **how)
        return [agent.act(Mind(belief, None, episodes), 0.0, default_rng(i)).action for i in range(2000)]

    assert np.mean(choices(epsilon=0.0)) == 1.0
    for episodes, rate in ((0, 0.4), (30, 0.1)):
        share = 1.0 - np.mean(choices(episodes, epsilon=0.4, half_life=10.0))
        assert abs(share - rate / 2.0) < 5.0 * np.sqrt(rate / 2.0 / 2000)
    optimistic = q + 4.0 * np.sqrt(variance)
    assert set(choices(choose="optimistic", bonus=4.0)) == {int(optimistic.argmax())}
    assert int(optimistic.argmax()) != int(q.argmax())
    from scipy.stats import norm

    first = norm.cdf((q[0] - q[1]) / np.sqrt(variance.sum()))  # the two values are independent
    assert abs(1.0 - np.mean(choices(choose="thompson")) - first) < 5.0 * np.sqrt(first * (1 - first) / 2000)


def test_the_greedy_direction_is_the_best_of_many():
    k = StateAction(Gaussian(scale=1.0), Direction(b=0.1), dims=1)
    rng = default_rng(3)
    angles = rng.uniform(0.0, 2.0 * np.pi, 6)
    pairs = np.column_stack([rng.normal(size=6), np.cos(angles), np.sin(angles)])
    belief = SparseGPTD(k, 0.3, 0.9, threshold=1e-6)
    for pair in pairs:
        belief = belief.update(Transition(pair, 0, float(rng.normal()), pair, True))
    best = greedy_direction(belief, k, np.array([[0.2]]))[0]
    circle = np.linspace(0.0, 2.0 * np.pi, 721)
    values = belief.mean(np.column_stack([np.full(721, 0.2), np.cos(circle), np.sin(circle)]))
    np.testing.assert_allclose(belief.mean([[0.2, *best]]), values.max(), atol=1e-4)
    agent = GPSARSA(Box([-1.0, -1.0], [1.0, 1.0]), k, epsilon=0.0)
    action = agent.act(Mind(belief, None, 0), 0.2, default_rng(0)).action
    np.testing.assert_allclose(action, best, atol=1e-9)


def test_actions_of_a_box_stay_in_it():
    k = StateAction(Gaussian(scale=1.0), Gaussian(scale=1.0), dims=1)
    agent = GPSARSA(Box([-2.0], [-1.0]), k, candidates=5)
    mind = agent.start()
    for i in range(20):
        decision = agent.act(mind, 0.0, default_rng(i))
        assert -2.0 <= decision.action[0] <= -1.0
        assert decision.info["q"].shape == (5,)
        mind = agent.learn(decision.memory, Transition(0.0, decision.action, 1.0, 0.0), default_rng(i))


@pytest.mark.long
def test_learns_the_mountain_car():
    """The last 20 of 100 episodes are below 160 steps; the tied noise stays at the limit of 200 (one seed, fixed)."""
    world = make_world("mountain-car")
    agent = GPSARSA(gamma=world.gamma, **suggestions_for(world)["gpsarsa"])
    lengths, age = [], 0
    for step in play(agent, world, Streams.of(0), horizon=world.horizon):
        age += 1
        if step.transition.ends_episode:
            lengths.append(age)
            age = 0
        if len(lengths) == 100:
            break
    assert np.mean(lengths[:5]) > 180.0
    assert np.mean(lengths[-20:]) < 160.0


BAD = {
    "actions": lambda: GPSARSA(0, K),
    "no actions": lambda: GPSARSA([], K),
    "word": lambda: GPSARSA("left", K),
    "box": lambda: GPSARSA(Box([1.0], [0.0]), K),
    "covariance": lambda: GPSARSA(2, 1.0),
    "epsilon": lambda: GPSARSA(2, K, epsilon=1.5),
    "choose": lambda: GPSARSA(2, K, choose="best"),
    "gamma": lambda: GPSARSA(2, K, gamma=-0.1),
    "half_life": lambda: GPSARSA(2, K, half_life=0.0),
    "observation": lambda: GPSARSA(2, K).act(GPSARSA(2, K).start(), np.nan, default_rng(0)),
    "action taken": lambda: GPSARSA(2, K).learn(GPSARSA(2, K).start(), Transition(0.0, 5, 1.0, 0.0), default_rng(0)),
    "outside": lambda: GPSARSA(Box([0.0], [1.0]), K).learn(
        GPSARSA(2, K).start(), Transition(0.0, [5.0], 1.0, 0.0), default_rng(0)
    ),
    "rng": lambda: GPSARSA(2, K).act(GPSARSA(2, K).start(), 0.0, 3),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_a_sentence(name):
    with pytest.raises(InvalidArgument, match="must be"):
        BAD[name]()


# At the edges --------------------------------------------------------------------------------------------------------


def test_actions_are_numbers_lists_or_boxes():
    assert GPSARSA(3, K).actions.tolist() == [[0.0], [1.0], [2.0]]
    assert GPSARSA([-1.0, 2.5], K).actions.tolist() == [[-1.0], [2.5]]
    assert GPSARSA([[1.0, 0.0], [0.0, 1.0]], K).actions.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    low, high = GPSARSA(Box(0.0, 2.0), K).actions
    assert (low.tolist(), high.tolist()) == ([0.0], [2.0])


def test_ties_are_broken_evenly():
    """Nothing is known: 2000 choices among three actions, five standard errors (false alarm 6e-7 each)."""
    agent = GPSARSA(3, K, epsilon=0.0)
    counts = np.bincount([agent.act(agent.start(), 0.0, default_rng(i)).action for i in range(2000)], minlength=3)
    assert (np.abs(counts / 2000 - 1.0 / 3.0) < 5.0 * np.sqrt(2.0 / 9.0 / 2000)).all()


def test_another_action_than_the_chosen_one_starts_a_trajectory():
    """The row before it stays closed by the chosen action; the pair that was really visited begins anew."""
    agent, rng = GPSARSA(2, K, noise=0.5, gamma=0.9, threshold=0.0, epsilon=0.0), default_rng(0)
    first = agent.act(agent.start(), 0.0, rng)
    mind = agent.learn(first.memory, Transition(0.0, first.action, 1.0, 0.3), rng)
    second = agent.act(mind, 0.3, rng)
    other = 1 - second.action
    mind = agent.learn(second.memory, Transition(0.3, other, 2.0, 0.6, terminated=True), rng)
    by_hand = SparseGPTD(K, 0.5, 0.9, threshold=0.0).update(
        Transition([0.0, first.action], 0, 1.0, [0.3, second.action])
    )
    by_hand = by_hand.restart().update(Transition([0.3, other], 0, 2.0, [0.3, other], terminated=True))
    np.testing.assert_allclose(mind.belief.mean(PAIRS), by_hand.mean(PAIRS), atol=1e-12)
    np.testing.assert_allclose(mind.belief.covariance(PAIRS), by_hand.covariance(PAIRS), atol=1e-12)


def test_directions_are_tried_beside_the_greedy_one():
    """Unit vectors, uniform on the circle; the greedy one comes first once values differ."""
    k = StateAction(Gaussian(scale=1.0), Direction(b=0.1), dims=1)
    agent = GPSARSA(Box([-1.0, -1.0], [1.0, 1.0]), k, candidates=400, threshold=1e-6)
    mind = agent.start()
    tried = agent._tried(mind.belief, np.array([[0.0]]), default_rng(0))
    assert tried.shape == (400, 2)
    np.testing.assert_allclose(np.sum(tried**2, axis=1), 1.0)
    # 400 angles in four quadrants: five standard errors, false alarm 6e-7 each
    quadrant = np.bincount((tried[:, 0] > 0.0) + 2 * (tried[:, 1] > 0.0), minlength=4)
    assert (np.abs(quadrant - 100.0) < 5.0 * np.sqrt(75.0)).all()
    assert greedy_direction(mind.belief, k, np.array([[0.0]])) is None
    belief = mind.belief.update(Transition([0.0, 0.6, 0.8], 0, 3.0, [0.0, 0.6, 0.8], terminated=True))
    np.testing.assert_allclose(greedy_direction(belief, k, np.array([[0.1]])), [[0.6, 0.8]])
    tried = agent._tried(belief, np.array([[0.1]]), default_rng(0))
    assert tried.shape == (401, 2)
    np.testing.assert_allclose(tried[0], [0.6, 0.8])
    flat = mind.belief.update(Transition([0.0, 0.6, 0.8], 0, 0.0, [0.0, 0.6, 0.8], terminated=True))
    assert greedy_direction(flat, k, np.array([[0.1]])) is None


def test_actions_of_a_box_may_round():
    agent = GPSARSA(Box([0.0], [1.0]), K)
    for action in ([-5e-10], [1.0 + 5e-10], [0.0], [1.0]):
        assert agent.learn(agent.start(), Transition(0.0, action, 1.0, 0.0), default_rng(0)).open.reward == 1.0
    for action in ([-5e-9], [1.0 + 5e-9], [0.5, 0.5]):
        with pytest.raises(InvalidArgument, match="'action' must be"):
            agent.learn(agent.start(), Transition(0.0, action, 1.0, 0.0), default_rng(0))
    for action in (-1, 2):
        with pytest.raises(InvalidArgument, match="'action' must be"):
            GPSARSA(2, K).learn(agent.start(), Transition(0.0, action, 1.0, 0.0), default_rng(0))
