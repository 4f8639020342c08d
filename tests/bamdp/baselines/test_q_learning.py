import numpy as np
from numpy.random import default_rng
from scipy.special import softmax

import bayesrl as b
from bayesrl.bamdp.baselines.q_learning import QLearning
from bayesrl.core import Transition
from bayesrl.models.solve import solve
from bayesrl.testing import assert_frequencies, check_agent


def test_update_by_hand():
    agent = QLearning(n_states=3, n_actions=2, gamma=0.9, rate=0.5, initial=1.0)
    first = agent.start()
    one = agent.learn(first, Transition(0, 1, 2.0, 1), default_rng(0))
    assert one[0, 1] == 1.0 + 0.5 * (2.0 + 0.9 * 1.0 - 1.0)
    two = agent.learn(one, Transition(2, 0, 4.0, 0), default_rng(0))
    assert two[2, 0] == 1.0 + 0.5 * (4.0 + 0.9 * one[0, 1] - 1.0)
    end = agent.learn(two, Transition(1, 0, 3.0, 0, terminated=True), default_rng(0))
    assert end[1, 0] == 1.0 + 0.5 * (3.0 - 1.0)
    cut = agent.learn(two, Transition(1, 0, 3.0, 0, truncated=True), default_rng(0))
    assert cut[1, 0] == 1.0 + 0.5 * (3.0 + 0.9 * two[0].max() - 1.0)
    assert (first == 1.0).all()


def test_converges_to_optimal_values():
    """Random behaviour, a small constant rate: within the noise the rate leaves (rate * range / 2, generously)."""
    world = b.make_world("chain", gamma=0.5)
    agent = QLearning(5, 2, 0.5, rate=0.02, epsilon=1.0)
    mind, rng, (state, _) = agent.start(), default_rng(0), world.reset(default_rng(0))
    average = np.zeros((5, 2))
    for t in range(60000):
        action = agent.act(mind, state, rng).action
        new, _, reward, _ = world.step(state, action, rng)
        mind = agent.learn(mind, Transition(state, action, reward, new), rng)
        state = new
        average += mind * (t >= 30000) / 30000
    np.testing.assert_allclose(average[:3], solve(world).q[:3], atol=0.25)


def test_boltzmann_frequencies():
    """2000 draws, false alarm 1e-6."""
    agent = QLearning(1, 3, 0.9, temperature=2.0)
    q, rng = np.array([[1.0, 2.0, 0.0]]), default_rng(0)
    actions = [agent.act(q, 0, rng).action for _ in range(2000)]
    assert_frequencies(np.bincount(actions, minlength=3), softmax(q[0] / 2.0))


def test_reproducible():
    check_agent(QLearning(5, 2, 0.95), b.make_world("chain"))
