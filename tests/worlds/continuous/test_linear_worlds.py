"""Linear worlds: their numbers, their steps, the family, lockstep, and what is refused."""

import gymnasium
import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl.adapters.gymnasium  # noqa: F401 (registers the environments)
from bayesrl.core import BayesAgent, run
from bayesrl.errors import Incompatible, InvalidArgument, NotConverged
from bayesrl.lab.build import agent_for
from bayesrl.lab.measures.regret import regret
from bayesrl.lab.priors import prior_for
from bayesrl.registry import make, make_world
from bayesrl.testing import assert_mean_equal
from bayesrl.worlds.continuous.linear_system import LinearSystem
from bayesrl.worlds.continuous.lq import LQ, Moderate


def test_facts():
    world = make_world("lq-system")
    np.testing.assert_array_equal(np.hstack([world.A, world.B]), [[1.0, 0.1, 0.0], [0.0, 1.0, 0.1]])
    np.testing.assert_array_equal(np.diagonal(world.Q), [1.0, 0.1])
    np.testing.assert_array_equal(np.diagonal(world.noise), [0.01, 0.02])
    assert (world.R.item(), world.gamma, world.horizon) == (0.1, 1.0, None)
    assert world.optimum() == pytest.approx(-0.158146, abs=5e-7)
    server = make_world("web-server")
    assert server.optimum() == pytest.approx(-7.31336, abs=5e-6)
    assert make_world("web-server", noise=0.5).optimum() == pytest.approx(-7.31336 / 4.0, abs=5e-6)
    np.testing.assert_allclose(server.B, [[-0.0085, 0.00044], [-0.00025, 0.00028]])
    np.testing.assert_allclose(np.diagonal(server.R), [0.0004, 1e-6])


@pytest.mark.parametrize("name", ["lq-system", "web-server", "lq"])
def test_steps(name):
    """Moments of 4000 steps from one state; false alarm 1e-6 each. The reward is minus the cost of the state before."""
    rng = default_rng(3)
    world = make_world(name).draw(rng) if name == "lq" else make_world(name)
    x, u = np.arange(1.0, 1.0 + world.A.shape[0]), np.full(world.B.shape[1], 2.0)
    steps = [world.step(x, u, rng) for _ in range(4000)]
    moved = np.array([step.state for step in steps]) - (world.A @ x + world.B @ u)
    assert_mean_equal(moved, np.zeros(len(x)))
    n = len(x)
    assert_mean_equal(np.einsum("ki,kj->kij", moved, moved).reshape(-1, n * n), world.noise.ravel())
    assert {step.reward for step in steps} == {-float(x @ world.Q @ x + u @ world.R @ u)}
    assert not steps[0].terminated
    start, seen = world.reset(rng)
    assert (start == 0.0).all()
    assert (seen == start).all()


def test_the_family_draws_what_it_says():
    """A normal prior, restricted: moments of the accepted part of 20,000 draws by hand; false alarm 1e-6."""
    family, rng = LQ(), default_rng(0)
    many = family.batch(20_000).draw(rng)
    a, b = many.A.ravel(), many.B.ravel()
    assert (np.abs(a) < 1.1).all()
    assert (np.abs(b) > 0.15).all()
    other = default_rng(1).normal((0.7, 0.6), 0.5, (200_000, 2))
    other = other[(np.abs(other[:, 0]) < 1.1) & (np.abs(other[:, 1]) > 0.15)]
    for mine, by_hand in ((a, other[:, 0]), (b, other[:, 1])):
        assert_mean_equal(mine, by_hand.mean(), error=np.hypot(mine.std() / 141.0, by_hand.std() / 350.0))
        assert mine.std() == pytest.approx(by_hand.std(), rel=0.03)
    one = family.draw(default_rng(4))
    assert one.A.shape == (1, 1)
    assert one.accept == Moderate()
    np.testing.assert_allclose(family.default_prior().precision, 0.04 * np.eye(2))
    np.testing.assert_allclose(LQ(spread=2.0).default_prior().covariance(), 4.0 * np.eye(2))
    np.testing.assert_array_equal(family.default_prior().theta.ravel(), [0.7, 0.6])


def test_the_restriction_reaches_the_planner():
    """By name, on the family and on a drawn system; a system without restriction has none."""
    family = make_world("lq")
    assert agent_for("lazy-psrl", family).planner.accept == Moderate()
    assert agent_for("lazy-psrl", family.draw(default_rng(0))).planner.accept == Moderate()
    assert agent_for("lazy-psrl", make_world("lq-system")).planner.accept is None
    assert agent_for("lazy-psrl", family, params={"accept": None}).planner.accept is None


@pytest.mark.parametrize("name", ["lq-system", "web-server", "lq"])
def test_lockstep(name):
    """Every replicate follows its own system; optima of all are those of each."""
    many = make_world(name).batch(4)
    many = many.draw(default_rng(0)) if name == "lq" else many
    x, _ = many.reset(default_rng(0))
    n, m = many.B.shape[1:]
    assert x.shape == (4, n)
    x, u = default_rng(1).normal(size=(4, n)), default_rng(2).normal(size=(4, m))
    step = many.step(x, u, default_rng(3))
    E = default_rng(3).standard_normal((4, n)) @ np.linalg.cholesky(many.noise).T
    for i in range(4):
        alone = LinearSystem(many.A[i], many.B[i], many.Q, many.R, many.noise)
        np.testing.assert_allclose(step.state[i], alone.A @ x[i] + alone.B @ u[i] + E[i])
        assert step.reward[i] == pytest.approx(alone.step(x[i], u[i], default_rng(0)).reward)
        assert many.optimum()[i] == pytest.approx(alone.optimum(), rel=1e-9)


def test_the_optimal_controller_has_no_regret():
    """Regret of the known gain over 20,000 steps: its mean a step within 5 errors of zero (batches of 500)."""
    world = make_world("lq-system")
    known = world.default_prior()
    known = type(known)(np.hstack([world.A, world.B]).T, 1e16 * np.eye(3), world.noise, world.Q, world.R)
    record = run(BayesAgent(known, make("certainty-equivalence")), world, 500, lockstep=200)
    lost = regret(record, world)
    assert lost.suboptimal is None
    late = (lost.curve[-1] - lost.curve[99]) / 400
    assert abs(late.mean()) < 5.0 * late.std() / np.sqrt(200)
    assert lost.curve[9].mean() < 0.0  # the start at rest costs less than the average


def test_priors_by_name():
    world = make_world("lq-system")
    assert prior_for(world) == prior_for(world, "linear") == world.default_prior()
    assert prior_for(world, "linear-gaussian-dynamics") == world.default_prior()
    with pytest.raises(Incompatible, match="The prior 'flat' needs a problem with 'mdp', which lq-system lacks"):
        prior_for(world, "flat")
    assert LinearSystem([[0.5]], [[1.0]], [[1.0]], [[1.0]], [[0.1]]).default_prior().theta.tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("name", ["lq-system", "web-server", "lq"])
def test_gymnasium(name):
    env = gymnasium.make(f"bayesrl/{name}-v0")
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    seen, reward, terminated, truncated, _ = env.step(np.full(env.action_space.shape, 0.5))
    assert env.observation_space.contains(seen)
    assert (terminated, truncated) == (False, False)
    assert reward < 0.0


SCALAR = {"A": [[0.9]], "B": [[0.5]], "Q": [[1.0]], "R": [[0.2]], "noise": [[0.04]]}


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"A": [0.9]}, "'A' must be an array of shape (n, n), got an array of shape (1,)."),
        ({"A": [[0.9, 1.0]]}, "'A' must be an array of shape (1, 1), got an array of shape (1, 2)."),
        ({"B": [[0.5], [1.0]]}, "'B' must be an array of shape (1, any), got an array of shape (2, 1)."),
        ({"Q": [[-1.0]]}, "'Q' must be symmetric and positive semidefinite, got an array of shape (1, 1)."),
        ({"R": [[0.0]]}, "'R' must be symmetric and positive definite, got an array of shape (1, 1)."),
        ({"noise": [[0.0]]}, "'noise' must be symmetric and positive definite, got an array of shape (1, 1)."),
    ],
)
def test_bad_systems(changed, sentence):
    with pytest.raises(InvalidArgument) as wrong:
        LinearSystem(**(SCALAR | changed))
    assert str(wrong.value) == f"linear-system: {sentence}"


def test_bad_steps():
    world = LinearSystem(**SCALAR)
    for x, u, sentence in [
        ([0.0], [np.nan], "linear-system: 'action' must be finite everywhere"),
        ([0.0], [1.0, 2.0], r"linear-system: 'action' must be an array of shape \(1,\)"),
        ([0.0], [2e6], "linear-system: 'action' must be between"),
        ([0.0, 1.0], [1.0], r"linear-system: 'state' must be an array of shape \(1,\)"),
        ([np.nan], [1.0], "linear-system: 'state' must be finite everywhere"),
    ]:
        with pytest.raises(InvalidArgument, match=sentence):
            world.step(x, u, default_rng(0))
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        world.step([0.0], [1.0], None)


def test_a_system_that_cannot_be_stabilised_has_no_optimum():
    stuck = LinearSystem(**(SCALAR | {"A": [[1.2]], "B": [[0.0]]}))
    for world in (stuck, stuck.batch(2)):
        with pytest.raises(NotConverged, match=r"a closed loop of spectral radius 1\.2;"):
            world.optimum()


def test_a_spread_of_which_nothing_is_moderate():
    with pytest.raises(
        InvalidArgument, match="lq: 'spread' must be one of which a draw in 1000 is moderate, got 1000000"
    ):
        LQ(spread=1e9).draw(default_rng(0))
