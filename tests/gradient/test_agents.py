"""Agents: an update by hand, directions and lengths, the line search, Newton steps, and that all of them improve."""

from types import SimpleNamespace

import numpy as np
import pytest
from gradient_toys import Walk

import bayesrl as b
from bayesrl.beliefs.covariances import Discrete
from bayesrl.beliefs.features import RBF, Tabular
from bayesrl.core import Agent, Streams, Transition, play, run
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.gradient import (
    BAC,
    BPG1,
    BPG2,
    GPOMDP,
    REINFORCE,
    ActorCritic,
    BPGHessian,
    GaussianPolicy,
    SoftmaxPolicy,
    bac,
    bpg,
    bpg_hessian,
    fisher_information,
    gpomdp_gradient,
    reinforce_gradient,
)
from bayesrl.gradient._improve import conjugate, improve, step_from, step_length
from bayesrl.gradient._paths import path_hessian, paths_of
from bayesrl.gradient.bayesian_gradient import Gradient
from bayesrl.gradient.bpg_hessian import newton
from bayesrl.registry import entries

WALK = Walk(n=5, gamma=0.95)
START = SoftmaxPolicy.tabular(4, 2)
AGENTS = {
    "bpg-1": BPG1(paths=5, gamma=0.95, policy=START),
    "bpg-2": BPG2(paths=5, gamma=0.95, policy=START),
    "bpg-hessian": BPGHessian(paths=5, gamma=0.95, policy=START),
    "reinforce": REINFORCE(paths=5, rate=0.1, gamma=0.95, policy=START),
    "gpomdp": GPOMDP(paths=5, rate=0.1, gamma=0.95, policy=START),
    "bac": BAC(episodes=5, gamma=0.95, policy=START),
    "actor-critic": ActorCritic(episodes=5, gamma=0.95, policy=START),
    "conjugate": BPG2(paths=5, direction="conjugate", gamma=0.95, policy=START),
    "covariance": BAC(episodes=5, length="covariance", rate=0.3, gamma=0.95, policy=START),
    "half-life": REINFORCE(paths=5, rate=0.3, half_life=10.0, direction="natural", length="fisher", policy=START),
}


def until(agent, updates, seed=0, world=WALK):
    """The transitions and the mind when an agent has made some updates."""
    log = []
    for step in play(agent, world, Streams.of(seed)):
        log.append(step.transition)
        if step.mind.updates == updates or len(log) > 20_000:
            break
    return log, step.mind


# One update ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in AGENTS if n != "half-life"])
def test_an_update_by_hand(name):
    """The first update from the log alone: estimate, direction, length."""
    agent = AGENTS[name]
    log, mind = until(agent, 1)
    gamma = 0.95
    G = fisher_information(log, START, "steps")
    U = np.array([path.scores.sum(axis=0) for path in paths_of("test", log, START)])
    rho = np.array([path.gain(gamma) for path in paths_of("test", log, START)])
    assert len(rho) == 5
    if name in ("bac", "covariance", "actor-critic"):
        G = fisher_information(log, START, "pairs", gamma)
    if name in ("bpg-1", "bpg-2", "conjugate"):
        found = bpg(U, rho, G, 1 if name == "bpg-1" else 2, 0.1, "mean")
        d = found.mean if name == "conjugate" else found.natural
        step = 0.3 * d / np.sqrt(d @ G @ d)
    elif name == "bpg-hessian":
        found = bpg(U, rho, G, 1, 0.1, "mean")
        H = [path_hessian("test", path, START) for path in paths_of("test", log, START)]
        step = newton(found.mean, bpg_hessian(U, H, rho, G, 0.1, "mean").mean, 1e-3, 1.0)
    elif name == "reinforce":
        step = 0.1 * reinforce_gradient(log, START, gamma, baseline=True)
    elif name == "gpomdp":
        step = 0.1 * gpomdp_gradient(log, START, gamma)
    elif name == "actor-critic":
        step = 0.1 * mind.gradient.natural
        np.testing.assert_allclose(mind.gradient.mean, G @ mind.gradient.natural)
    else:
        found = bac(log, START, G, Discrete(variance=100.0), 3.0, gamma, 0.0)
        size = found.mean @ found.mean
        share = 0.3 * size / (size + np.trace(found.covariance)) if name == "covariance" else 0.1
        step = share * found.natural
    np.testing.assert_allclose(mind.policy.parameters, step, rtol=1e-9, atol=1e-12)
    assert mind.paths == ()
    assert mind.episode == ()


def test_the_information_is_carried_on():
    """After two updates it is the weighted mean of both batches, each under the policy that acted."""
    agent = AGENTS["bpg-2"]
    log, mind = until(agent, 2)
    first, before = until(agent, 1)
    G, H = fisher_information(first, START, "steps"), fisher_information(log[len(first) :], before.policy, "steps")
    np.testing.assert_allclose(mind.information.mean, (0.9 * G + H) / 1.9)


def test_an_agent_stops():
    """After a number of updates, or when the gradient is small; then the policy stays and nothing is kept."""
    agent = BPG2(paths=2, gamma=0.95, updates=2, policy=START)
    minds = [step.mind for _, step in zip(range(400), play(agent, WALK, Streams.of(0)), strict=False)]
    assert minds[-1].updates == 2
    assert minds[-1].stopped
    assert minds[-1].episode == ()
    lazy = BPG2(paths=2, gamma=0.95, tolerance=1e9, policy=START)
    minds = [step.mind for _, step in zip(range(400), play(lazy, WALK, Streams.of(0)), strict=False)]
    assert minds[-1].updates == 1
    assert minds[-1].policy == START


def test_truncated_episodes_are_paths():
    record = run(AGENTS["bac"], WALK, 400, horizon=7, keep=("updates",))
    assert record.updates[-1] > 5
    assert record.truncated.sum() > 10


@pytest.mark.parametrize("name", AGENTS)
def test_updates_are_counted(name):
    """Episodes of two steps in batches of five: the policy of step t has been updated t // 10 times."""
    record = run(AGENTS[name], WALK, 31, horizon=2, keep=("updates",))
    assert record.updates.tolist() == [t // 10 for t in range(31)]


# Directions and lengths ----------------------------------------------------------------------------------------------


def test_lengths():
    G, d = np.diag([4.0, 1.0]), np.array([1.0, 2.0])
    gradient = Gradient(np.array([3.0, 4.0]), np.diag([5.0, 20.0]), d)
    assert step_length("fixed", 0.2, d, gradient, G) == 0.2
    assert step_length("fisher", 0.2, d, gradient, G) == pytest.approx(0.2 / np.sqrt(8.0))
    assert step_length("covariance", 0.2, d, gradient, G) == pytest.approx(0.2 * 25.0 / 50.0)
    assert step_length("fisher", 0.2, 0.0 * d, gradient, G) == 0.0
    nothing = Gradient(np.zeros(2), np.zeros((2, 2)), d)
    assert step_length("covariance", 0.2, d, nothing, G) == 0.0


def test_the_rate_falls_with_the_half_life():
    """In update j the step has length rate c / (c + j) in the metric of the information."""
    agent = AGENTS["half-life"]
    before = START
    for j in range(3):
        _, mind = until(agent, j + 1)
        step, G = mind.policy.parameters - before.parameters, mind.information.mean
        assert np.sqrt(step @ G @ step) == pytest.approx(0.3 * 10.0 / (10.0 + j))
        before = mind.policy


def test_conjugate_directions_climb_a_quadratic():
    """Exact gradients of a concave quadratic in three dimensions: the top after a few searches."""
    A, top = np.diag([1.0, 4.0, 9.0]), np.array([1.0, -2.0, 0.5])
    theta, search, settled = np.zeros(3), None, 0
    for _ in range(60):
        search = conjugate(search, theta, -A @ (theta - top))
        if search.probes == 0:
            search = search._replace(step=0.05)
        settled += search.settled
        theta = search.base + search.step * search.direction
        if np.linalg.norm(theta - top) < 1e-6 and search.settled:
            break
    assert np.linalg.norm(theta - top) < 1e-6
    assert settled <= 6  # a quadratic's slope is linear along a line, so that each search is exact


def test_a_line_search_gives_up():
    """Where the return grows for ever, the step doubles a few times and the search is over."""
    search = conjugate(None, np.zeros(1), np.ones(1))._replace(step=1.0)
    for _ in range(20):
        search = conjugate(search, search.base + search.step, np.ones(1))
        if search.settled:
            break
    assert search.settled
    assert (search.probes, search.step) == (6, 32.0)
    search = conjugate(None, np.zeros(1), np.ones(1))._replace(step=1.0)
    while not search.settled:  # where it falls at once, the step is halved as often
        search = conjugate(search, search.base + search.step, -np.ones(1))
    assert (search.probes, search.step) == (6, 1.0 / 32.0)


def test_a_line_search_goes_back_where_nothing_changes():
    """A batch whose returns are all equal has the gradient zero: the step was too long, as if the return had fallen."""
    search = conjugate(None, np.zeros(2), np.array([1.0, 2.0]))._replace(step=1.0)
    search = conjugate(search, search.base + search.step, np.zeros(2))
    assert (search.step, search.probes, search.uphill, search.downhill) == (0.5, 1, None, (1.0, 0.0))
    search = conjugate(search, search.base + search.step, np.array([1.0, 0.0]))  # slope 1 here, 0 there
    assert (search.step, search.probes, search.settled) == (1.0, 2, True)


def test_conjugate_directions_are_those_of_polak_and_ribiere():
    """The next direction is g + (g - g_0)'g / g_0'g_0 times the last one; g alone if that points downhill."""
    g = np.array([[1.0, -2.0, 0.5], [0.7, 0.4, -1.1], [-3.0, 0.6, 2.0]])
    theta = np.array([0.3, -0.2, 0.9])
    first = conjugate(None, theta, g[0])
    assert first[:4] == (pytest.approx(theta), pytest.approx(g[0]), pytest.approx(g[0]), 0.0)
    last = first._replace(direction=np.array([2.0, 0.1, -0.6]), settled=True, probes=4, uphill=(1.0, 2.0), step=0.4)
    for now in (g[1], g[2]):
        expected = now + (now - g[0]) @ now / (g[0] @ g[0]) * last.direction
        expected = expected if expected @ now >= 0.0 else now
        found = conjugate(last, 2.0 * theta, now)
        np.testing.assert_allclose(found.direction, expected)
        np.testing.assert_array_equal(found.base, 2.0 * theta)
        np.testing.assert_array_equal(found.gradient, now)
        assert found[3:] == (0.0, 0, None, None, False)
    down = last._replace(direction=-9.0 * g[1])
    np.testing.assert_array_equal(conjugate(down, theta, g[1]).direction, g[1])
    small = last._replace(gradient=0.1 * g[0])  # a squared length below one
    expected = g[1] + (g[1] - 0.1 * g[0]) @ g[1] / (0.01 * g[0] @ g[0]) * last.direction
    assert expected @ g[1] > 0.0
    np.testing.assert_allclose(conjugate(small, theta, g[1]).direction, expected)
    flat = last._replace(gradient=np.zeros(3))
    np.testing.assert_array_equal(conjugate(flat, theta, g[1]).direction, g[1])
    # Between slopes of either sign the secant: 2 at step .5 and -3 at step 1.5 cross zero at .9.
    d = np.array([1.0, 0.0, 0.0])
    search = first._replace(direction=d, step=0.5)
    search = conjugate(search, theta, np.array([2.0, 8.0, 9.0]))
    assert (search.step, search.probes, search.uphill, search.downhill) == (1.0, 1, (0.5, 2.0), None)
    search = conjugate(search._replace(step=1.5), theta, np.array([-3.0, 8.0, 9.0]))
    assert (search.probes, search.uphill, search.downhill, search.settled) == (2, (0.5, 2.0), (1.5, -3.0), True)
    assert search.step == pytest.approx(0.9)


@pytest.mark.parametrize("half_life", [None, 7.0])
@pytest.mark.parametrize("length", ["fixed", "fisher", "covariance"])
@pytest.mark.parametrize("direction", ["plain", "natural", "conjugate"])
def test_a_step_is_a_direction_times_a_length(direction, length, half_life):
    """All directions and lengths with numbers in generic position, in the fourth update."""
    rng = np.random.default_rng(3)
    policy, root, spread = SoftmaxPolicy.tabular(2, 3).with_parameters(rng.normal(size=6)), *rng.normal(size=(2, 6, 6))
    G, gradient = root @ root.T, Gradient(rng.normal(size=6), spread @ spread.T, rng.normal(size=6))
    rule = BPG2(rate=0.4, direction=direction, length=length, half_life=half_life, policy=policy)
    d = gradient.natural if direction == "natural" else gradient.mean
    rate = 0.4 if half_life is None else 0.4 * 7.0 / (7.0 + 3)
    size = sum(x * x for x in gradient.mean)
    factor = {
        "fixed": rate,
        "fisher": rate / np.sqrt(sum(d[i] * G[i, j] * d[j] for i in range(6) for j in range(6))),
        "covariance": rate * size / (size + sum(gradient.covariance[i, i] for i in range(6))),
    }[length]
    found = improve(rule, policy, gradient, G, 3, None)
    np.testing.assert_allclose(found.policy.parameters, policy.parameters + factor * d)
    assert found.gradient is gradient
    if direction != "conjugate":
        assert found.search is None
        return
    assert found.search.step == pytest.approx(factor)
    further = improve(rule, found.policy, gradient, G, 4, found.search)  # the return still grows: twice as far
    np.testing.assert_allclose(further.policy.parameters, policy.parameters + 2.0 * factor * d)
    assert (further.search.probes, further.search.step) == (1, pytest.approx(2.0 * factor))


def test_a_newton_step_in_generic_position():
    """V |L|^-1 V'g with the eigenvalues of a full matrix, of which one is floored; then cut to the radius."""
    rng = np.random.default_rng(5)
    V, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    g, values = rng.normal(size=4), np.array([-3.0, 0.01, 0.7, 5.0])
    expected = sum(V[:, i] * (V[:, i] @ g) / max(abs(values[i]), 0.2) for i in range(4))
    H = V @ np.diag(values) @ V.T
    np.testing.assert_allclose(newton(g, H, 0.2, 1e9), expected)
    length = np.sqrt(sum(expected**2))
    np.testing.assert_allclose(newton(g, H, 0.2, 1.01 * length), expected)
    np.testing.assert_allclose(newton(g, H, 0.2, 0.6), 0.6 * expected / length)


def test_a_step_that_never_fits_is_not_taken():
    """It is halved sixty times; the policy stays."""
    tried = []

    class Narrow:
        parameters = np.array([1.0, 2.0])

        def with_parameters(self, parameters):
            tried.append(parameters)
            raise InvalidArgument("Narrow", "parameters", "as they are", parameters)

    policy = Narrow()
    assert step_from(policy, np.array([4.0, -8.0])) == (policy, 0.0)
    np.testing.assert_allclose(tried, [policy.parameters + 0.5**i * np.array([4.0, -8.0]) for i in range(60)])


def test_a_newton_step_by_hand():
    """Eigenvalues in absolute value, floored, and the step capped."""
    g, H = np.array([1.0, 2.0]), np.diag([-4.0, 0.5])
    np.testing.assert_allclose(newton(g, H, 1e-3, 10.0), [0.25, 4.0])
    np.testing.assert_allclose(newton(g, H, 2.0, 10.0), [0.25, 1.0])
    np.testing.assert_allclose(newton(g, H, 1e-3, 1.0), np.array([0.25, 4.0]) / np.hypot(0.25, 4.0))


def test_a_step_out_of_the_domain_is_halved():
    policy = GaussianPolicy(None, [0.0], sigma=1.0, learn_sigma=True)
    moved, share = step_from(policy, np.array([0.4, -3.0]))
    assert share == 0.25
    assert moved.parameters.tolist() == [0.1, 0.25]


# Learning ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AGENTS)
def test_agents_improve(name):
    """Twenty updates of five episodes: the exact value of the start rises from -11.02 (even chances) to above -6.

    The optimum is -3.71. Ten seeds of every agent gave -3.7 to -5.6."""
    agent = AGENTS[name]
    assert isinstance(agent, Agent)
    _, mind = until(agent, 20, seed=1)
    assert WALK.exact(START)[0][0] == pytest.approx(-11.02, abs=0.005)
    assert WALK.exact(mind.policy)[0][0] > -6.0


@pytest.mark.parametrize("name", AGENTS)
def test_runs_are_reproducible(name):
    one, same = (run(AGENTS[name], WALK, 150, seed=3) for _ in range(2))
    assert one.action.tolist() == same.action.tolist()
    assert one.action.tolist() != run(AGENTS[name], WALK, 150, seed=4).action.tolist()


def test_continuous_actions():
    """A bandit on the line with reward -(a - 1)^2: the mean moves to 1, and sigma, the last parameter, shrinks."""

    class Line:
        gamma = 1.0

        def reset(self, rng):
            return 0.0, 0.0

        def step(self, state, action, rng):
            return 0.0, 0.0, -((action - 1.0) ** 2), True

    policy = GaussianPolicy(lambda s: [1.0], [0.0], sigma=1.0, learn_sigma=True)
    for make in (BPG1, BPG2):
        _, mind = until(make(paths=20, policy=policy), 30, world=Line())
        assert mind.policy.theta[0] == pytest.approx(1.0, abs=0.2)
        assert mind.policy.sigma < 0.3
    critic = ActorCritic(episodes=20, features=RBF([0.0]), policy=policy, updates=1)
    _, mind = until(critic, 1, world=Line())
    assert mind.policy.theta[0] > 0.0


def test_minds_survive_a_file(tmp_path):
    for name in ("bpg-1", "bac", "conjugate"):
        _, mind = until(AGENTS[name], 1)
        b.save(mind, tmp_path / "mind.zip")
        found = b.load(tmp_path / "mind.zip")
        assert found.policy == mind.policy
        assert found.updates == 1


class Endless:
    """A world that never ends."""

    gamma = 1.0
    ends = False

    def reset(self, rng):
        return 0, 0

    def step(self, state, action, rng):
        return 0, 0, float(action), False


def test_a_critic_needs_a_discount_where_episodes_do_not_end():
    """It uses the value after a cut. Estimates from whole paths use returns, which a horizon makes finite."""
    policy = SoftmaxPolicy.tabular(1, 2)
    paths, pairs = ("bpg-1", "bpg-2", "bpg-hessian", "reinforce", "gpomdp"), ("bac", "actor-critic")
    assert {*paths, *pairs} == {n for n, e in entries().items() if e.package == "gradient" and e.kind == "agent"}
    for name in paths:
        assert len(run(b.make(name, policy=policy, gamma=1.0), Endless(), 6, horizon=3)) == 6
        with pytest.raises(InvalidArgument, match="'gamma' must be less than 1 where episodes do not end"):
            run(b.make(name, policy=policy, gamma=1.0), Endless(), 6)
    for name in pairs:
        given = {"features": Tabular(1)} if name == "actor-critic" else {}
        with pytest.raises(InvalidArgument, match="'gamma' must be less than 1 where episodes do not end"):
            run(b.make(name, policy=policy, gamma=1.0, **given), Endless(), 6, horizon=3)
        assert len(run(b.make(name, policy=policy, gamma=0.9, **given), Endless(), 6, horizon=3)) == 6
    for name in (*paths, *pairs):
        given = {"features": Tabular(1)} if name == "actor-critic" else {}
        with pytest.raises(InvalidArgument, match="'horizon' must be given where episodes do not end, got None"):
            run(b.make(name, policy=policy, gamma=0.9, **given), Endless(), 6)


# Bad input -----------------------------------------------------------------------------------------------------------


class Plain:
    """A policy that cannot be differentiated."""

    def sample(self, observation, rng):
        return 0

    def log_prob(self, observation, action):
        return 0.0


class NoHessian(Plain):
    parameters = np.zeros(1)

    def score(self, observation, action):
        return np.zeros(1)

    def with_parameters(self, parameters):
        return self


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (lambda: b.make("bpg-1").start(), InvalidArgument, "BPG1: 'policy' must be given"),
        (
            lambda: b.make("bpg-1", policy=Plain()),
            Incompatible,
            "BPG1 needs a policy with 'score', 'parameters', 'with_parameters', which Plain lacks.",
        ),
        (
            lambda: b.make("bpg-hessian", policy=NoHessian()),
            Incompatible,
            "BPGHessian needs a policy with 'hessian', which NoHessian lacks.",
        ),
        (lambda: b.make("bpg-2", noise=-1.0), InvalidArgument, "BPG2: 'noise' must be at least 0, got -1.0."),
        (lambda: b.make("bpg-2", paths=0), InvalidArgument, "BPG2: 'paths' must be a whole number of at least 1"),
        (lambda: b.make("bpg-1", decay=1.0), InvalidArgument, "BPG1: 'decay' must be in [0, 1), got 1.0."),
        (lambda: b.make("bpg-1", unit="pairs"), InvalidArgument, "BPG1: 'unit' must be one of paths, steps, model"),
        (lambda: b.make("bac", direction="up"), InvalidArgument, "BAC: 'direction' must be one of plain, natural"),
        (lambda: b.make("bac", gamma=1.2), InvalidArgument, "BAC: 'gamma' must be in [0, 1], got 1.2."),
        (lambda: b.make("bac", covariance=3.0), InvalidArgument, "BAC: 'covariance' must be a covariance of states"),
        (lambda: b.make("reinforce", length="covariance"), InvalidArgument, "REINFORCE: 'length' must be one of fixed"),
        (lambda: b.make("gpomdp", trace=1.5), InvalidArgument, "GPOMDP: 'trace' must be in [0, 1], got 1.5."),
        (lambda: b.make("actor-critic", features=3), InvalidArgument, "ActorCritic: 'features' must be features of"),
        (
            lambda: until(ActorCritic(policy=GaussianPolicy(None, [1.0])), 1, world=OneStep()),
            InvalidArgument,
            "ActorCritic: 'features' must be given, got None.",
        ),
    ],
)
def test_bad_input(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(sentence)


class OneStep:
    def reset(self, rng):
        return 1.0, 1.0

    def step(self, state, action, rng):
        return 1.0, 1.0, 0.0, True


def test_a_call_that_fails_changes_nothing():
    agent = AGENTS["bpg-2"]
    mind = agent.start()
    with pytest.raises(InvalidArgument, match="'reward' must be a finite number, got nan"):
        agent.learn(mind, Transition(0, 0, np.nan, 0, terminated=True), np.random.default_rng(0))
    assert mind == agent.start()


class Bounded:
    """A policy with parameters below 1."""

    def __init__(self, parameters):
        self.parameters = np.array(parameters, float)

    def with_parameters(self, parameters):
        if np.max(parameters) > 1.0:
            raise InvalidArgument("Bounded", "parameters", "at most 1", parameters)
        return Bounded(parameters)


def test_a_line_search_remembers_the_step_that_was_taken():
    """A step of 8 is refused and halved to 1/2: the next probe doubles or halves 1/2, and knows the slope there."""
    rule = SimpleNamespace(direction="conjugate", length="fixed", rate=8.0, half_life=None)
    first = improve(rule, Bounded([0.25, 0.0]), SimpleNamespace(mean=np.array([1.0, -1.0])), np.eye(2), 0, None)
    assert first.policy.parameters.tolist() == [0.75, -0.5]
    assert first.search.step == 0.5
    assert first.search.base.tolist() == [0.25, 0.0]
    up = improve(rule, first.policy, SimpleNamespace(mean=np.array([1.0, 0.0])), np.eye(2), 1, first.search)
    assert up.search.uphill == (0.5, 1.0)
    assert up.search.step == 0.5  # doubled to 1, which is refused
    down = improve(rule, first.policy, SimpleNamespace(mean=np.array([-1.0, 0.0])), np.eye(2), 1, first.search)
    assert down.search.downhill == (0.5, -1.0)
    assert down.search.step == 0.25
    assert down.policy.parameters.tolist() == [0.5, -0.25]


def test_what_is_kept_of_one_policy_is_not_used_for_another():
    """Scores and Hessians of the same steps, asked for in turn, are those of each policy alone."""
    steps = [Transition(0, 1, 1.0, 1), Transition(1, 0, 0.5, 2, terminated=True)]
    policies = [SoftmaxPolicy.tabular(4, 2, np.linspace(-x, x, 8)) for x in (0.1, 1.0, 0.1)]
    for policy in policies:
        (path,) = paths_of("test", steps, policy)
        np.testing.assert_array_equal(path.scores, [policy.score(s.observation, s.action) for s in steps])
        expected = sum(policy.hessian(s.observation, s.action) for s in steps)
        np.testing.assert_array_equal(path_hessian("test", path, policy), expected)
