"""Policies: what they sample is what `log_prob` says, scores are gradients, and a solved policy earns its value."""

import numpy as np
import pytest

import bayesrl as b
from bayesrl.beliefs.features import RBF
from bayesrl.core import Agent, DifferentiablePolicy, Policy, Solver, run
from bayesrl.errors import InvalidArgument
from bayesrl.lab.plots.explanation import plot_policy
from bayesrl.models.mdp import Problem
from bayesrl.models.policy import ControllerPolicy, GaussianPolicy, SoftmaxPolicy, TabularPolicy
from bayesrl.models.solution import Solution
from bayesrl.models.solve import evaluate_policy, policy_total, solve
from bayesrl.models.solvers.average_reward import average_reward
from bayesrl.models.solvers.mdp_lp import LinearProgram
from bayesrl.models.solvers.policy_iteration import PolicyIteration
from bayesrl.models.solvers.value_iteration import ValueIteration

RNG = np.random.default_rng(0)
THETA, PHI = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4, 2))
TABULAR = TabularPolicy([[0.1, 0.0, 0.6, 0.3], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
FINITE = {
    "deterministic": TabularPolicy([2, 0, 3]),
    "stochastic": TABULAR,
    "softmax": SoftmaxPolicy(THETA),
    "features": SoftmaxPolicy(np.array([0.7, -1.2]), PHI),
    "controller": ControllerPolicy(TABULAR, [[0, 1], [2, 2], [1, 0]]),
}
GAUSSIAN = GaussianPolicy(None, [[0.5, -1.0, 0.2], [1.0, 0.0, 2.0]], sigma=0.7)
WARM = SoftmaxPolicy(THETA, temperature=1.7)
WAVES = SoftmaxPolicy(RNG.normal(size=(3, 4)), RBF([0.0, 1.0, 2.0], scale=0.8), temperature=0.6)
LEARNS = GaussianPolicy(RBF([-1.0, 1.0]), [0.4, -0.3], sigma=0.7, learn_sigma=True)
FINITE |= {"temperature": WARM, "state features": WAVES}
PLANE = GaussianPolicy(None, [[0.5, -1.0, 0.2], [1.0, 0.3, 2.0]], sigma=0.7, learn_sigma=True)
ALL = {**FINITE, "gaussian": GAUSSIAN, "gaussian with sigma": LEARNS, "two actions and sigma": PLANE}
DIFFERENTIABLE = [n for n, policy in ALL.items() if isinstance(policy, (SoftmaxPolicy, GaussianPolicy))]


# Laws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ALL.values(), ids=ALL)
def test_a_policy_is_a_policy_and_an_agent(policy):
    assert isinstance(policy, Policy)
    assert isinstance(policy, Agent)
    assert isinstance(policy, DifferentiablePolicy) == isinstance(policy, (SoftmaxPolicy, GaussianPolicy))


@pytest.mark.parametrize("policy", FINITE.values(), ids=FINITE)
def test_samples_have_the_frequencies_that_log_prob_says(policy):
    # Each frequency within 5 standard errors: a right policy fails one of the 60 checks in 30,000 times at most.
    # 4000 draws detect a probability that is wrong by .04.
    rng, n = np.random.default_rng(1), 4000
    for s in range(3):
        drawn = np.bincount([policy.sample(s, rng) for _ in range(n)], minlength=4) / n
        p = np.exp([policy.log_prob(s, a) for a in range(4)])
        assert p.sum() == pytest.approx(1.0)
        assert (drawn[p == 0.0] == 0.0).all()
        assert (np.abs(drawn - p) <= 5.0 * np.sqrt(p * (1.0 - p) / n)).all()


def test_gaussian_samples_have_their_mean_and_spread():
    # 5 standard errors each, as above.
    rng, n, x = np.random.default_rng(2), 4000, [1.0, 0.5, -1.0]
    drawn = np.array([GAUSSIAN.sample(x, rng) for _ in range(n)])
    np.testing.assert_allclose(drawn.mean(axis=0), GAUSSIAN.theta @ x, atol=5 * 0.7 / np.sqrt(n))
    np.testing.assert_allclose(drawn.std(axis=0), 0.7, atol=5 * 0.7 / np.sqrt(2 * n))
    # The density, integrated over a fine grid of the first entry, at the mean of the second.
    grid = np.linspace(-5, 5, 2001)
    density = [np.exp(GAUSSIAN.log_prob(x, [y, (GAUSSIAN.theta @ x)[1]])) for y in grid]
    assert np.trapezoid(density, grid) == pytest.approx(1.0 / (0.7 * np.sqrt(2 * np.pi)), rel=1e-6)


def pairs(name):
    """Some observations and actions of a policy."""
    rng = np.random.default_rng(3)
    if name in ("gaussian", "two actions and sigma"):
        return [(rng.normal(size=3), rng.normal(size=2))]
    return [(x, x - 0.4) for x in (-0.5, 1.3)] if name in ALL and name not in FINITE else [(0, 3), (2, 0), (2, 3)]


def slopes(of, policy, s, a, eps=1e-6):
    """Derivatives of a method in the parameters, by central differences, the parameter last."""
    theta = policy.parameters
    moved = [[policy.with_parameters(theta + sign * d) for sign in (1, -1)] for d in eps * np.eye(len(theta))]
    return np.array([(getattr(up, of)(s, a) - getattr(down, of)(s, a)) / (2 * eps) for up, down in moved])


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_the_score_is_the_gradient_of_log_prob(name):
    for s, a in pairs(name):
        np.testing.assert_allclose(ALL[name].score(s, a), slopes("log_prob", ALL[name], s, a), atol=1e-8)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_the_hessian_is_the_derivative_of_the_score(name):
    for s, a in pairs(name):
        found = ALL[name].hessian(s, a)
        np.testing.assert_allclose(found, slopes("score", ALL[name], s, a), atol=1e-7)
        np.testing.assert_allclose(found, found.T, rtol=1e-15)


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n in FINITE])
def test_the_mean_score_is_zero(name):
    policy = FINITE[name]
    for s in range(3):
        mean = sum(np.exp(policy.log_prob(s, a)) * policy.score(s, a) for a in range(4))
        np.testing.assert_allclose(mean, 0.0, atol=1e-14)


def test_parameters_of_a_table_are_numbered_by_state_and_action():
    theta = np.arange(6.0)
    policy = SoftmaxPolicy.tabular(2, 3, theta, temperature=2.0)
    assert policy.log_prob(1, 2) - policy.log_prob(1, 0) == pytest.approx((theta[5] - theta[3]) / 2.0)
    assert policy.parameters.tolist() == theta.tolist()
    assert SoftmaxPolicy.tabular(2, 3) == SoftmaxPolicy(np.zeros((2, 3)))


def test_sigma_may_stand_at_the_end_of_theta():
    same = GaussianPolicy(RBF([-1.0, 1.0]), [0.4, -0.3, 0.7], learn_sigma=True)
    assert same == LEARNS
    assert same.parameters.tolist() == [0.4, -0.3, 0.7]
    assert GaussianPolicy(lambda s: [1.0], [0.0], learn_sigma=True).score(0, 3.0).tolist() == [3.0, 8.0]


def test_features_may_be_functions():
    """A function of a state that returns phi(s, .) is the array; Gaussian features may be any function of a state."""
    named = FINITE["features"]
    same = SoftmaxPolicy(named.theta, PHI.__getitem__)
    assert same.score(2, 1).tolist() == named.score(2, 1).tolist()
    plain = GaussianPolicy(lambda s: [1.0, s, s * s], [0.1, 0.2, 0.3])
    assert plain.score(2.0, 2.0).tolist() == pytest.approx([0.3, 0.6, 1.2])
    for count in ("n_states", "n_actions"):
        with pytest.raises(InvalidArgument, match="to count"):
            getattr(same, count)


# What is solved is a policy ------------------------------------------------------------------------------------------


def test_a_solved_policy_is_a_policy_and_reads_like_an_array():
    found = solve(b.make_world("double-loop")).policy
    actions = [1, 0, 0, 0, 0, 1, 1, 1, 0]
    assert isinstance(found, TabularPolicy)
    assert (found.n_states, found.n_actions, found.deterministic) == (9, 2, True)
    assert (len(found), found.shape, found.ndim, found.dtype) == (9, (9,), 1, np.int32)
    assert found.tolist() == actions == [int(a) for a in found]
    assert (found == np.array(actions)).all()
    assert (np.array(actions) == found).all()
    assert found == TabularPolicy(actions)
    assert found != TabularPolicy(actions, n_actions=3)
    np.testing.assert_array_equal(np.asarray(found), actions)
    assert np.asarray(found, dtype=np.float64).dtype == np.float64
    assert found[[0, 5]].tolist() == [1, 1]
    assert found[3] == 0
    assert isinstance(average_reward(b.make_world("chain")).policy, TabularPolicy)


def test_a_solved_policy_earns_its_value():
    # 400 runs of 200 steps; the rest is worth less than .003. Five standard errors: false alarms 6e-7. The error is
    # 1.1, so losses of 6 and more are found; the other action in a single state of the chain loses 9 to 45.
    world = b.make_world("chain")
    solution = solve(world)
    returns = [run(solution.policy, world, 200, seed=4, replicate=i).discounted for i in range(400)]
    error = np.std(returns) / np.sqrt(400)
    assert error < 1.2
    assert abs(np.mean(returns) - solution.values[0]) < 5 * error + 0.003


def test_policies_are_evaluated():
    world = b.make_world("chain")
    uniform = np.full((5, 2), 0.5)
    softmax = SoftmaxPolicy(np.zeros((5, 2)))

    class Plain:
        """No more than `core.Policy` asks."""

        def sample(self, observation, rng):
            return int(rng.random() < 0.5)

        def log_prob(self, observation, action):
            return float(np.log(0.5))

    best = solve(world)
    np.testing.assert_allclose(evaluate_policy(world, best.policy), best.values, rtol=1e-12)
    for policy in (TabularPolicy(uniform), softmax, Plain()):
        np.testing.assert_allclose(evaluate_policy(world, policy), evaluate_policy(world, uniform), rtol=1e-12)
        assert policy_total(world, policy, 50) == pytest.approx(policy_total(world, uniform, 50))
    with pytest.raises(InvalidArgument, match=r"evaluate_policy: 'policy' must be an array of shape \(5, 2\)"):
        evaluate_policy(world, FINITE["softmax"])


def test_policies_are_compared():
    world = b.make_world("chain")
    agents = {"best": solve(world).policy, "softmax": SoftmaxPolicy(np.zeros((5, 2)))}
    summary = b.compare(agents, world, 100, runs=5).summary()
    assert summary["best"].total.mean > summary["softmax"].total.mean


@pytest.mark.parametrize("solver", [ValueIteration(), PolicyIteration(), LinearProgram()])
def test_solvers_are_solvers(solver):
    def answer(s: Solver[Problem, Solution]) -> Solution:
        return s.solve(b.make_world("chain"))

    assert isinstance(solver, Solver)
    assert answer(solver).policy == solve(b.make_world("chain")).policy


@pytest.mark.parametrize("policy", ALL.values(), ids=ALL)
def test_policies_survive_a_file(policy, tmp_path):
    b.save(policy, tmp_path / "policy.zip")
    assert b.load(tmp_path / "policy.zip") == policy


def test_a_solution_survives_a_file(tmp_path):
    solution = solve(b.make_world("chain"))
    b.save(solution, tmp_path / "solution.zip")
    found = b.load(tmp_path / "solution.zip")
    assert found.policy == solution.policy
    assert found.values.tolist() == solution.values.tolist()


def test_a_policy_is_drawn(tmp_path):
    world = b.make_world("grid5")
    for policy in (solve(world).policy, TabularPolicy(np.full((25, 4), 0.25))):
        plot_policy(world, tmp_path / "map.svg", policy)
        assert "grid5: policy at discount 0.95" in (tmp_path / "map.svg").read_text()


def test_a_controller_walks_its_nodes():
    # Any observation: 0 -> 1 -> 2 -> 0, and an episode starts in node 0.
    walk = ControllerPolicy(TabularPolicy([0, 0, 1], n_actions=2), np.tile([[1], [2], [0]], 5))
    record = run(walk, b.make_world("chain"), 7, keep=("node",))
    assert record.node.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert record.action.tolist() == [0, 0, 1, 0, 0, 1, 0]
    assert run(walk, b.make_world("chain"), 5, horizon=2, keep=("node",)).node.tolist() == [0, 1, 0, 1, 0]


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: TabularPolicy([0, 2], 2), "'table' must be whole numbers from 0 to 1, got 2.0. First at index 1."),
        (lambda: TabularPolicy([[0.5, 0.6]]), "'table' must be rows that sum to 1, got 1.1. First at row 0."),
        (
            lambda: TabularPolicy([[-0.5, 1.5]]),
            "'table' must be at least 0 everywhere, got -0.5. First at index (0, 0).",
        ),
        (lambda: TabularPolicy([0], 0), "'n_actions' must be a whole number of at least 1, got 0."),
        (
            lambda: TABULAR.sample(3, np.random.default_rng(0)),
            "'observation' must be a whole number of at least 0 and at most 2, got 3.",
        ),
        (lambda: TABULAR.log_prob(0, 4), "'action' must be a whole number of at least 0 and at most 3, got 4."),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value) == "TabularPolicy: " + sentence


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: SoftmaxPolicy([0.0]), "SoftmaxPolicy: 'theta' must be an array of shape (any, any)"),
        (lambda: SoftmaxPolicy([0.0], PHI), "SoftmaxPolicy: 'theta' must be an array of shape (2,)"),
        (
            lambda: SoftmaxPolicy([[0.0]], temperature=0.0),
            "SoftmaxPolicy: 'temperature' must be greater than 0, got 0.0.",
        ),
        (
            lambda: SoftmaxPolicy.tabular(2, 2, [1.0]),
            "SoftmaxPolicy.tabular: 'theta' must be 4 numbers, got an array of shape (1,).",
        ),
        (
            lambda: SoftmaxPolicy([[0.0]], lambda s: [1.0, s]).score(0, 0),
            "SoftmaxPolicy: 'features' must be a function that returns 1 numbers",
        ),
        (lambda: GaussianPolicy(None, [1.0], 0.0), "GaussianPolicy: 'sigma' must be greater than 0, got 0.0."),
        (lambda: GaussianPolicy([[1.0]], [1.0]), "GaussianPolicy: 'features' must be a function of states, or None"),
        (lambda: GaussianPolicy(None, [[[1.0]]]), "GaussianPolicy: 'theta' must be an array of shape (k,) or (m, k)"),
        (lambda: LEARNS.with_parameters([1.0, 2.0]), "GaussianPolicy: 'parameters' must be an array of shape (3,)"),
        (lambda: GAUSSIAN.log_prob([1.0], [0.0, 0.0]), "GaussianPolicy: 'observation' must be an array of shape (3,)"),
        (lambda: ControllerPolicy([0], [[0]]), "ControllerPolicy: 'acts' must be a TabularPolicy over the nodes"),
        (lambda: ControllerPolicy(TABULAR, [[3]] * 3), "ControllerPolicy: 'moves' must be whole numbers from 0 to 2"),
    ],
)
def test_bad_input_of_the_others(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value).startswith(sentence)


def test_a_policy_is_an_array_of_its_actions():
    """As of an exact solution: a copy is a new array, and another type is a copy."""
    policy = TabularPolicy([1, 0, 1], 2)
    assert np.asarray(policy) is policy.table
    one = np.array(policy)
    assert not np.shares_memory(one, policy.table)
    one[...] = 0
    assert policy.tolist() == [1, 0, 1]
    assert np.asarray(policy, np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(policy, policy.table.dtype), policy.table)
