"""Fisher information: four estimates, their expectations, and what logs are refused."""

import numpy as np
import pytest
from gradient_toys import CHAIN, EXACT, POLICY, WALK

from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.gradient import GaussianPolicy, SoftmaxPolicy, fisher_information
from bayesrl.gradient.fisher import RunningInformation
from bayesrl.models.policy import TabularPolicy

LOGS = [log for log, p in zip(CHAIN.logs, CHAIN.p, strict=True) if p > 0.0]


def expected(unit, gamma=1.0):
    each = [fisher_information(log, CHAIN.policy, unit, gamma) for log in LOGS]
    return np.tensordot(CHAIN.p[CHAIN.p > 0.0], each, 1)


@pytest.mark.parametrize(
    "unit, gamma, exact", [("paths", 1.0, CHAIN.G), ("steps", 1.0, CHAIN.G), ("pairs", 0.9, CHAIN.G_pairs)]
)
def test_expectations(unit, gamma, exact):
    """The mean over every path is the information; paths and steps have the same one."""
    np.testing.assert_allclose(expected(unit, gamma), exact, atol=1e-12)
    np.testing.assert_allclose(CHAIN.G, CHAIN.G_steps, atol=1e-12)


def test_paths_are_whole():
    u = sum(CHAIN.policy.score(t.observation, t.action) for t in LOGS[7])
    np.testing.assert_allclose(fisher_information(LOGS[7], CHAIN.policy, "paths"), np.outer(u, u), atol=1e-14)


def test_several_episodes_are_averaged():
    two = fisher_information([*LOGS[5], *LOGS[100]], CHAIN.policy, "pairs", 0.9)
    each = [fisher_information(LOGS[i], CHAIN.policy, "pairs", 0.9) for i in (5, 100)]
    np.testing.assert_allclose(two, np.mean(each, axis=0), rtol=1e-14)


def test_pairs_are_not_normalised():
    """ERRATA 32: the mass is that of the discounted weighting; on the random walk the trace is 3.7556."""
    _, _, nu, _, G = EXACT
    assert np.trace(G) == pytest.approx(3.7556, abs=5e-5)
    assert nu.sum() == pytest.approx(-EXACT[0][0])  # every step costs 1, so the mass is the discounted cost
    log = WALK.episodes(POLICY, np.random.default_rng(0), 400)
    found = fisher_information(log, POLICY, gamma=0.99)
    np.testing.assert_allclose(found, G, atol=0.1)  # the largest error of ten seeds was .054


def test_the_model_is_summed_exactly():
    """Moves on the walk are certain, so that its maximum-likelihood model is exact once every pair was tried."""
    log = WALK.episodes(POLICY, np.random.default_rng(1), 60)
    assert len({(t.observation, t.action) for t in log}) == 18
    np.testing.assert_allclose(fisher_information(log, POLICY, "model", 0.99), EXACT[4], atol=1e-10)


def test_a_pair_that_was_not_tried_ends_the_path():
    policy = SoftmaxPolicy.tabular(2, 2)
    log = [Transition(0, 1, 0.0, 1), Transition(1, 1, 0.0, 1, terminated=True)]
    block = np.array([[0.25, -0.25], [-0.25, 0.25]])
    G = fisher_information(log, policy, "model")
    np.testing.assert_allclose(G, np.kron(np.diag([1.0, 0.5]), block))


def test_a_running_mean_weighs_old_estimates_less():
    first, second = np.eye(2), np.diag([3.0, 0.0])
    known = RunningInformation().after(first, 0.5).after(second, 0.5)
    np.testing.assert_allclose(known.mean, (0.5 * first + second) / 1.5)
    np.testing.assert_array_equal(RunningInformation().after(first, 0.9).mean, first)
    np.testing.assert_array_equal(known.after(first, 0.0).mean, first)


class NoScore:
    def sample(self, observation, rng):
        return 0

    def log_prob(self, observation, action):
        return 0.0


def step(*args, **kwargs):
    return Transition(*args, **kwargs)


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (lambda: fisher_information([], POLICY), InvalidArgument, "'transitions' must be at least one transition"),
        (lambda: fisher_information(3, POLICY), InvalidArgument, "'transitions' must be transitions, got 3"),
        (lambda: fisher_information([1], POLICY), InvalidArgument, "'transitions' must be transitions, got 1"),
        (
            lambda: fisher_information([step(0, 1, 0.0, 1), step(2, 1, 0.0, 3)], POLICY),
            InvalidArgument,
            "'transitions' must be a log without gaps, got 2",
        ),
        (lambda: fisher_information(LOGS[0], CHAIN.policy, "path"), InvalidArgument, "'unit' must be one of paths"),
        (lambda: fisher_information(LOGS[0], CHAIN.policy, gamma=1.1), InvalidArgument, "'gamma' must be in"),
        (
            lambda: fisher_information([step(0, 0, np.nan, 0)], POLICY),
            InvalidArgument,
            "'reward' must be a finite number, got nan",
        ),
        (
            lambda: fisher_information(LOGS[0], NoScore()),
            Incompatible,
            "needs a policy with 'score', which NoScore lacks",
        ),
        (
            lambda: fisher_information([step(0.0, 0.5, 0.0, 0.0)], GaussianPolicy(None, [1.0]), "model"),
            Incompatible,
            "needs a policy with 'probabilities', which GaussianPolicy lacks",
        ),
        (
            lambda: fisher_information([step(0, 0, 0.0, 0), step(0, 1, 0.0, 0)], SoftmaxPolicy.tabular(1, 2), "model"),
            InvalidArgument,
            "'gamma' must be less than 1, because some paths never end",
        ),
    ],
)
def test_bad_input(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith("fisher_information")
    assert sentence in str(caught.value)


def test_an_action_that_the_policy_never_takes_is_impossible():
    class Sure(TabularPolicy):
        def score(self, observation, action):
            return np.zeros(1)

    with pytest.raises(ImpossibleEvidence, match=r"Action 0 has probability zero .* the policy never takes it there"):
        fisher_information([Transition(0, 0, 0.0, 0)], Sure([1], n_actions=2))


class Loose:
    """A table that takes any number for an action."""

    def probabilities(self):
        return np.full((2, 2), 0.5)

    def sample(self, observation, rng):
        return 0

    def log_prob(self, observation, action):
        return -0.5

    def score(self, observation, action):
        return np.zeros(4)


@pytest.mark.parametrize("s, a, y, name", [(2, 0, 0, "observation"), (0, 2, 0, "action"), (0, 0, 2, "observation")])
def test_a_model_has_its_states_and_actions_only(s, a, y, name):
    for wrong in ((s, a, y), tuple(-1 if x == 2 else x for x in (s, a, y))):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be a whole number of at least 0 and at most 1"):
            fisher_information([Transition(wrong[0], wrong[1], 0.0, wrong[2])], Loose(), "model", 0.9)


@pytest.mark.parametrize("gamma", [0.0, 0.83, 1.0])
def test_the_model_by_hand(gamma):
    """Pairs that sometimes end and sometimes go on, a pair that was never tried, a state that was never met.

    Frequencies by counting, discounted visits by summing over time, then the scores of both actions in each state.
    """
    policy = SoftmaxPolicy.tabular(4, 2).with_parameters(np.array([0.3, -0.9, 1.1, 0.2, -0.4, 0.8, 0.5, 0.0]))
    episodes = [  # (states, actions, whether it ends); after the last action of those that are cut off comes state 0
        ([0, 1, 0, 2], [0, 1, 0, 1], True),
        ([0, 1, 2], [0, 1, 1], False),
        ([2, 0, 1, 1], [1, 1, 0, 1], True),
        ([0, 2, 0], [0, 1, 0], True),
        ([1], [1], True),
    ]
    log, seen, ended, start = [], np.zeros((4, 2, 4)), np.zeros((4, 2)), np.zeros(4)
    for states, actions, ends in episodes:
        start[states[0]] += 1.0 / len(episodes)
        for i, (s, a) in enumerate(zip(states, actions, strict=True)):
            last = i == len(states) - 1
            y = 0 if last else states[i + 1]
            log.append(Transition(s, a, 0.0, y, terminated=last and ends, truncated=last and not ends))
            if last and ends:
                ended[s, a] += 1
            else:
                seen[s, a, y] += 1
    pi = np.exp([[policy.log_prob(s, a) for a in range(2)] for s in range(4)])
    visits, now = np.zeros(4), start
    for t in range(400):
        visits = visits + gamma**t * now
        step = np.zeros(4)
        for s in range(4):
            for a in range(2):
                tried = seen[s, a].sum() + ended[s, a]
                if tried > 0:
                    step += now[s] * pi[s, a] * seen[s, a] / tried
        now = step
    G = np.zeros((8, 8))
    for s in range(4):
        for a in range(2):
            u = policy.score(s, a)
            G += visits[s] * pi[s, a] * np.outer(u, u)
    assert ((seen.sum(axis=2) > 0) & (ended > 0)).sum() >= 3
    np.testing.assert_allclose(fisher_information(log, policy, "model", gamma), G, atol=1e-9)
