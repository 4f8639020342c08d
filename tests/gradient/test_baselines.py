"""The frequentist gradients: by hand, without bias by enumeration, and in the limit."""

import numpy as np
import pytest
from gradient_toys import CHAIN, EXACT, POLICY, WALK

from bayesrl.beliefs.features import Tabular
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.gradient import SoftmaxPolicy, gpomdp_gradient, reinforce_gradient
from bayesrl.gradient._paths import paths_of
from bayesrl.gradient.actor_critic import natural_weights

PAIR = SoftmaxPolicy.tabular(2, 2, [0.2, -0.1, 0.4, 0.3])
LOG = [
    Transition(0, 1, 2.0, 1),
    Transition(1, 0, -1.0, 0, terminated=True),
    Transition(0, 0, 3.0, 1, truncated=True),
]


def test_reinforce_by_hand():
    u, v, w = PAIR.score(0, 1), PAIR.score(1, 0), PAIR.score(0, 0)
    rho = np.array([2.0 - 0.9, 3.0])
    np.testing.assert_allclose(reinforce_gradient(LOG, PAIR, 0.9), (rho[0] * (u + v) + rho[1] * w) / 2)
    rho = rho - rho.mean()
    found = reinforce_gradient(LOG, PAIR, 0.9, baseline=True)
    np.testing.assert_allclose(found, (rho[0] * (u + v) + rho[1] * w) / 2)


def test_gpomdp_by_hand():
    u, v, w = PAIR.score(0, 1), PAIR.score(1, 0), PAIR.score(0, 0)
    found = gpomdp_gradient(LOG, PAIR, 0.9, trace=0.5)
    np.testing.assert_allclose(found, (2.0 * u - 0.9 * (0.5 * u + v) + 3.0 * w) / 2)


def test_estimates_are_unbiased():
    """The mean over every path of the chain is the exact gradient; so it is in a trace below 1 no more."""
    for estimate in (reinforce_gradient, gpomdp_gradient):
        every = [estimate(log, CHAIN.policy, CHAIN.gamma) for log in CHAIN.logs]
        np.testing.assert_allclose(CHAIN.p @ every, CHAIN.gradient, atol=1e-12)
    biased = CHAIN.p @ [gpomdp_gradient(log, CHAIN.policy, CHAIN.gamma, 0.5) for log in CHAIN.logs]
    assert np.abs(biased - CHAIN.gradient).max() > 1e-3


def test_actor_critic_reaches_the_natural_gradient():
    """400 episodes of the walk: the direction is the exact natural gradient's. Ten seeds gave cosines above .988."""
    paths = paths_of("test", WALK.episodes(POLICY, np.random.default_rng(0), 400), POLICY)
    exact = np.linalg.pinv(EXACT[4], rcond=1e-10) @ EXACT[3]
    for lam in (0.0, 1.0):
        found = natural_weights(paths, Tabular(9), lam, 0.99, 1e-3)
        assert found @ exact / np.linalg.norm(found) / np.linalg.norm(exact) > 0.97


@pytest.mark.parametrize("lam", [0.0, 0.6, 1.0])
def test_the_critic_solves_its_equations_written_out(lam):
    """Traces begin with each episode. A truncated one goes on at its last state, whose own reward is left out."""
    gamma, ridge = 0.9, 0.3
    ends = [{"terminated": True}, {"truncated": True}, {"truncated": True}, {"terminated": True}, {"truncated": True}]
    walks, log = [[0, 1, 1], [1, 0, 0, 1], [0], [1], [0, 1]], []
    for number, (walk, end) in enumerate(zip(walks, ends, strict=True)):
        for t, s in enumerate(walk):
            last = t == len(walk) - 1
            then = 0 if last else walk[t + 1]
            log.append(Transition(s, (s + t) % 2, 1.0 + t - number, then, **(end if last else {})))
    A, b = ridge * np.eye(6), np.zeros(6)
    steps = iter(log)
    for walk, end in zip(walks, ends, strict=True):
        episode = [next(steps) for _ in walk]
        x = [np.append(np.eye(2)[step.state], PAIR.score(step.state, step.action)) for step in episode]
        z = np.zeros(6)
        for t in range(len(walk) - ("truncated" in end)):
            z = gamma * lam * z + x[t]
            A += np.outer(z, x[t] - (gamma * x[t + 1] if t + 1 < len(walk) else 0.0))
            b += z * episode[t].reward
    found = natural_weights(paths_of("test", log, PAIR), Tabular(2), lam, gamma, ridge)
    np.testing.assert_allclose(found, np.linalg.solve(A, b)[2:], rtol=1e-9, atol=1e-12)


def test_a_critic_is_exact_without_noise():
    """One state, one step, rewards 1 and 3: the weights of the scores are half the difference."""
    policy = SoftmaxPolicy.tabular(1, 2)
    log = [Transition(0, 0, 1.0, 0, terminated=True), Transition(0, 1, 3.0, 0, terminated=True)]
    found = natural_weights(paths_of("test", log, policy), Tabular(1), 1.0, 0.9, 1e-9)
    np.testing.assert_allclose(found, [-1.0, 1.0], atol=1e-6)
    with pytest.raises(InvalidArgument, match="LSTD: 'ridge' must be large enough to make A regular"):
        natural_weights(paths_of("test", log, policy), Tabular(1), 1.0, 0.9, 0.0)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: reinforce_gradient(LOG, PAIR, gamma=-0.1), "reinforce_gradient: 'gamma' must be in [0, 1]"),
        (lambda: reinforce_gradient(LOG, PAIR, baseline=1), "reinforce_gradient: 'baseline' must be True or False"),
        (lambda: reinforce_gradient([], PAIR), "reinforce_gradient: 'transitions' must be at least one transition"),
        (lambda: gpomdp_gradient(LOG, PAIR, trace=2.0), "gpomdp_gradient: 'trace' must be in [0, 1], got 2.0."),
        (lambda: gpomdp_gradient([LOG[0], LOG[2]], PAIR), "gpomdp_gradient: 'transitions' must be a log without gaps"),
        (lambda: gpomdp_gradient([Transition(0, 7, 0.0, 0)], PAIR), "SoftmaxPolicy: 'action' must be a whole number"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value).startswith(sentence)
