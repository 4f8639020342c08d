"""Percentile criterion with Gaussian rewards: facts, closed forms, enumeration, certificates, and what is refused."""

import itertools
import pickle
import sys

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import norm

import bayesrl as b
from bayesrl.beliefs import GaussianRewards
from bayesrl.errors import BayesRLError, MissingExtra, NotConverged
from bayesrl.risk import percentile_rewards
from bayesrl.risk.percentile_rewards import PercentileRewards, arrays_of, occupancy_of, upper_bound

EPSILONS = (0.01, 0.1, 0.3, 0.5)


def random_belief(seed, S=3, A=3, rank=12, scale=1.0, terminal=()):
    """A random problem; correlated rewards of a given rank."""
    rng = default_rng(seed)
    P, half = rng.dirichlet(np.full(S, 0.5), (S, A)), rng.normal(size=(S * A, rank))
    mdp = b.TabularMDP.from_dense(P, np.zeros((S, A)), 0.9, rng.dirichlet(np.ones(S)), terminal=terminal)
    return GaussianRewards(mdp, scale * rng.normal(size=(S, A)), scale**2 * (half @ half.T))


def percentile(belief, policy, epsilon):
    """The percentile of the return of a policy (S, A), written out; terminal states have empty rows."""
    P, _ = belief.mdp.dense()
    P[belief.outcomes.terminal] = 0.0
    S = len(policy)
    X = np.linalg.inv(np.eye(S) - belief.gamma * np.einsum("sa,say->sy", policy, P))
    x = ((belief.outcomes.start @ X)[:, None] * policy).ravel()
    m, C = belief.reward_moments()
    return m.ravel() @ x + norm.ppf(epsilon) * np.sqrt(x @ C @ x)


def solved(belief, epsilon=0.1):
    return b.make("percentile-rewards", epsilon=epsilon).solve(belief)


# What must hold ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "value"), [(0.5, -50.0), (0.2, -61.902), (0.1, -66.264)])
def test_facts(epsilon, value):
    """Computed independently of this library."""
    safe = solved(b.make_world("machine-costs", n_states=10).belief, epsilon)
    assert safe.value == pytest.approx(value, abs=5e-4)
    assert safe.error_bound < 1e-6
    repair = safe.policy[:, 1]
    assert repair[-1] == pytest.approx(0.757 if epsilon == 0.1 else 0.0, abs=5e-4)
    assert repair[:-1].max() < 1e-6


def test_one_state_has_a_closed_form():
    """Equal means: weights like 1 / variance; two actions of different means: the stationary point."""
    variance, z = np.array([1.0, 4.0, 0.5, 9.0]), norm.ppf(0.95)
    mdp = b.TabularMDP.from_dense(np.ones((1, 4, 1)), np.zeros((1, 4)), 0.9)
    safe = solved(GaussianRewards(mdp, np.full(4, -3.0), np.diag(variance)), 0.05)
    assert safe.value == pytest.approx(10.0 * (-3.0 - z / np.sqrt((1 / variance).sum())), abs=1e-6)
    np.testing.assert_allclose(safe.policy[0], (1 / variance) / (1 / variance).sum(), atol=1e-4)
    # Means 0 and d of variance 1: w of the second has d = z (2 w - 1) / sqrt(w^2 + (1 - w)^2).
    w, two = 0.8, b.TabularMDP.from_dense(np.ones((1, 2, 1)), np.zeros((1, 2)), 0.9)
    deviation = np.hypot(w, 1 - w)
    d = z * (2 * w - 1) / deviation
    safe = solved(GaussianRewards(two, [0.0, d], np.eye(2)), 0.05)
    assert safe.value == pytest.approx(10.0 * (w * d - z * deviation), abs=1e-6)
    assert safe.policy[0, 1] == pytest.approx(w, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_no_deterministic_policy_is_better(seed):
    belief, rng = random_belief(seed, terminal=(2,) if seed == 3 else ()), default_rng(seed)
    for epsilon in (0.05, 0.5):
        safe = solved(belief, epsilon)
        assert safe.value == pytest.approx(percentile(belief, safe.policy, epsilon), abs=1e-9)
        every = [np.eye(3)[list(p)] for p in itertools.product(range(3), repeat=3)]
        mixed = list(rng.dirichlet(np.ones(3), (60, 3)))
        assert max(percentile(belief, policy, epsilon) for policy in every + mixed) <= safe.value + 1e-7
    assert safe.value == pytest.approx(max(percentile(belief, policy, 0.5) for policy in every), abs=1e-7)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("rank", [0, 1, 4, 12])
def test_certificates(rank, scale):
    """Below 1e-5 of the value, at every scale and rank; and the optimum does not fall as epsilon grows."""
    belief, before = random_belief(rank, S=4, rank=rank, scale=scale), -np.inf
    for epsilon in EPSILONS:
        safe = solved(belief, epsilon)
        assert 0.0 <= safe.error_bound < 1e-5 * abs(safe.value)
        assert safe.value >= before - safe.error_bound - 1e-12
        before = safe.value
    assert safe.value == pytest.approx(belief.outcomes.start @ b.solve(belief.mean_mdp()).values, rel=1e-9)


def test_a_certificate_is_true_for_any_policy_and_direction():
    """The bound of a bad policy covers its distance from the best one; no direction gives a bound below the optimum."""
    belief, z = random_belief(5), norm.ppf(0.9)
    p, best, rng = arrays_of(belief), solved(belief).value, default_rng(0)
    uniform = PercentileRewards()._solution(p, z, np.full((3, 3), 1 / 3), np.inf)
    assert uniform.value < best - 0.1
    assert uniform.value + uniform.error_bound >= best
    u = rng.normal(size=(20, p.root.shape[1]))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    assert min(upper_bound(p, z, one) for one in u) >= best
    # The rewards of the linearisation at x are m - z C x / |C^1/2 x|.
    x = occupancy_of(p, uniform.policy).ravel()
    m, C = belief.reward_moments()
    r = m.ravel() - z * C @ x / np.sqrt(x @ C @ x)
    linear = b.TabularMDP.from_dense(belief.mdp.dense()[0], r.reshape(3, 3), 0.9)
    upper = belief.outcomes.start @ b.solve(linear).values
    assert uniform.error_bound == pytest.approx(upper - uniform.value, rel=1e-6)


def test_a_certain_action_is_a_kink():
    """The best policy has no risk at all: the linearisation at it says nothing, the dual variable does."""
    mdp = b.TabularMDP.from_dense(np.ones((1, 2, 1)), np.zeros((1, 2)), 0.9)
    safe = solved(GaussianRewards(mdp, [0.0, 1.0], np.diag([0.0, 100.0])), 0.01)
    assert safe.value == pytest.approx(0.0, abs=1e-6)
    assert safe.error_bound < 1e-4
    np.testing.assert_allclose(safe.policy, [[1.0, 0.0]], atol=1e-6)


def test_visits_satisfy_the_flow_equations():
    belief = random_belief(7)
    safe = solved(belief)
    P = belief.mdp.dense()[0]
    flow = safe.occupancy.sum(axis=1) - 0.9 * np.einsum("sa,say->y", safe.occupancy, P)
    np.testing.assert_allclose(flow, belief.outcomes.start, atol=1e-12)
    np.testing.assert_allclose(safe.occupancy, safe.occupancy.sum(axis=1, keepdims=True) * safe.policy, atol=1e-12)
    model = belief.sample_mdp(default_rng(0))  # the return is linear in the rewards
    value = belief.outcomes.start @ b.models.solve.evaluate_policy(model, safe.policy)
    assert (safe.occupancy * model.mean_reward).sum() == pytest.approx(value)


def test_visits_in_terminal_states_are_zero():
    """And those of the other states are as if the episode were over: P0 + gamma P' x without the terminal rows."""
    belief = random_belief(8, terminal=(1,))
    safe = solved(belief)
    assert not safe.occupancy[1].any()
    assert safe.policy[1].max() == 1.0
    flow = safe.occupancy.sum(axis=1) - 0.9 * np.einsum("sa,say->y", safe.occupancy, belief.mdp.dense()[0])
    np.testing.assert_allclose(flow[[0, 2]], belief.outcomes.start[[0, 2]], atol=1e-12)
    ended = b.TabularMDP.from_dense(np.ones((1, 2, 1)), np.zeros((1, 2)), 0.9, terminal=[0])
    nothing = GaussianRewards(ended, [1.0, 2.0], np.eye(2))
    assert solved(nothing).value == solved(nothing).error_bound == 0.0


def test_the_deviation_is_that_of_value_moments():
    belief = random_belief(9)
    safe, start = solved(belief), belief.outcomes.start
    moments = b.risk.value_moments(belief, safe.policy)
    assert start @ moments.mean == pytest.approx(safe.mean)
    assert start @ moments.covariance @ start == pytest.approx(safe.deviation**2)


def test_an_unreached_state_takes_the_mean_models_action():
    """State 1 is never reached: its row is that of the mean model, not the noise of the cone solver."""
    P = np.zeros((2, 3, 2))
    P[:, :, 0] = 1.0
    mdp = b.TabularMDP.from_dense(P, np.zeros((2, 3)), 0.5)
    safe = solved(GaussianRewards(mdp, [[0, 0, -1.0], [1.0, 2.0, 3.0]], np.eye(6)))
    np.testing.assert_array_equal(safe.policy[1], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(safe.policy[0], [0.5, 0.5, 0.0], atol=1e-4)
    assert safe.policy[0, 2] == 0.0
    assert not safe.occupancy[1].any()


def test_correlated_rewards_are_not_diversified():
    """Perfect correlation: nothing is gained by mixing; anticorrelation: the risk disappears."""
    mdp = b.TabularMDP.from_dense(np.ones((1, 2, 1)), np.zeros((1, 2)), 0.0)
    same = solved(GaussianRewards(mdp, [0.0, 0.0], np.ones((2, 2))))
    assert same.value == pytest.approx(-norm.ppf(0.9), abs=1e-6)
    opposite = solved(GaussianRewards(mdp, [0.0, 0.0], [[1.0, -1.0], [-1.0, 1.0]]))
    assert opposite.value == pytest.approx(0.0, abs=1e-6)


def test_a_rare_action_may_matter():
    """An action with three million times the deviation hedges the other one, although it is hardly ever taken."""
    mdp = b.TabularMDP.from_dense(np.ones((1, 2, 1)), np.zeros((1, 2)), 0.9)
    safe = solved(GaussianRewards(mdp, [1.0, 1.0], [[1.0, -3e6], [-3e6, 9e12]]))
    assert safe.value == pytest.approx(10.0, abs=1e-4)
    assert safe.error_bound < 1e-4
    assert safe.policy[0, 1] == pytest.approx(1 / 3e6, rel=1e-3)


# A solution is a planner ---------------------------------------------------------------------------------------------


def test_a_solution_runs_and_is_saved(tmp_path):
    family = b.make_world("machine-costs", n_states=5)
    safe = solved(family.belief)
    b.save(safe, tmp_path / "safe.zip")
    assert b.load(tmp_path / "safe.zip") == safe == pickle.loads(pickle.dumps(safe))
    assert not safe.policy.flags.writeable
    assert not safe.occupancy.flags.writeable
    agent = b.BayesAgent(family.belief, safe)
    record = b.run(agent, family, steps=40, seed=0, keep=["probability"])
    np.testing.assert_array_equal(record.columns["probability"], safe.policy[record.columns["observation"]])


# What is refused -----------------------------------------------------------------------------------------------------

DIRICHLET = b.DirichletMDP.flat(b.make_world("chain"))
EPISODIC = GaussianRewards(
    b.TabularMDP.from_dense([[[0.5, 0.5]], [[0.0, 1.0]]], np.zeros((2, 1)), 1.0, terminal=[1]), [0.0, 0.0], np.eye(2)
)
BAD = {
    "above a half": (lambda: PercentileRewards(epsilon=0.6), r"in \(0, 0.5\], got 0.6. Above a half .* not convex"),
    "zero": (lambda: PercentileRewards(epsilon=0.0), "'epsilon' must be greater than 0"),
    "negative": (lambda: PercentileRewards(epsilon=-0.1), "'epsilon' must be greater than 0"),
    "nan": (lambda: PercentileRewards(epsilon=np.nan), "'epsilon' must be"),
    "text": (lambda: PercentileRewards(epsilon="a tenth"), "'epsilon' must be"),
    "none": (lambda: PercentileRewards(epsilon=None), "'epsilon' must be"),
    "tolerance": (lambda: PercentileRewards(tol=0.0), "'tol' must be greater than 0"),
    "no moments": (lambda: solved(DIRICHLET), "needs a belief with 'reward_moments', which DirichletMDP lacks"),
    "a world": (
        lambda: solved(b.make_world("chain")),
        r"'belief' must be a belief, got 'MDPWorld'. .*GaussianRewards\(",
    ),
    "a family": (lambda: solved(b.make_world("machine-costs")), r"got 'MachineCosts'. .* family.belief"),
    "a model": (lambda: solved(EPISODIC.mean_mdp()), "'belief' must be a belief, got 'TabularMDP'"),
    "no belief": (lambda: solved(None), "needs a belief with"),
    "discount 1": (lambda: solved(EPISODIC), r"'gamma' must be in \[0, 1\), got 1.0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, sentence = BAD[name]
    with pytest.raises(BayesRLError, match=sentence):
        call()


@pytest.mark.parametrize("package", ["cvxpy", "clarabel"])
def test_without_a_cone_solver(package, monkeypatch):
    belief = b.make_world("machine-costs", n_states=5).belief
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"PercentileRewards needs {package}, .* pip install bayesrl\[cone\]"):
        solved(belief)
    assert solved(belief, 0.5).value == pytest.approx(-100.0)
    certain = GaussianRewards(belief.mdp, belief.mean_, np.zeros((10, 10)))
    assert solved(certain, 0.1).value == pytest.approx(-100.0)


@pytest.mark.parametrize("how", ["raises", "finds nothing", "stops early"])
def test_a_failed_program_says_what_it_has(how, monkeypatch):
    import cvxpy

    real = cvxpy.Problem.solve

    def failing(self, **options):
        if how == "raises":
            raise cvxpy.SolverError("no")
        if how == "stops early":
            real(self, **options, max_iter=3)

    monkeypatch.setattr(cvxpy.Problem, "solve", failing)
    belief = b.make_world("machine-costs", n_states=10).belief
    with pytest.raises(NotConverged, match="after the cone program") as caught:
        solved(belief)
    best = caught.value.best
    assert best.value + best.error_bound >= -66.26441
    assert best.value == pytest.approx(percentile(belief, best.policy, 0.1), abs=1e-9)
    assert caught.value.residual == best.error_bound


def test_parts_by_hand():
    """Scales, the problem as arrays, visits and the upper bound of a random belief with an end."""
    rng = default_rng(21)
    P = rng.dirichlet(np.ones(3), (3, 4))
    mdp = b.TabularMDP.from_dense(P, np.zeros((3, 4)), 0.83, [0.5, 0.2, 0.3], terminal=[1])
    root = rng.normal(size=(12, 12))
    mean = 3.0 * rng.normal(size=(3, 4)) - 1.0
    belief = GaussianRewards(mdp, mean, root @ root.T)
    p = percentile_rewards.arrays_of(belief)
    live, C = np.repeat([True, False, True], 4), root @ root.T
    np.testing.assert_allclose(p.m, np.where(live, mean.ravel(), 0.0), rtol=1e-12)
    L = p.root.toarray()
    np.testing.assert_allclose(L @ L.T, np.where(np.outer(live, live), C, 0.0), atol=1e-9)
    z = 1.3
    largest = (np.abs(p.m).max() + z * p.deviation) / 0.17
    assert p.deviation == pytest.approx(np.sqrt(np.diag(belief.reward_moments()[1]).max()))
    assert percentile_rewards.largest_return(p, z) == pytest.approx(largest)
    assert percentile_rewards.accuracy(p, z) == pytest.approx(1e-12 * largest)
    mu = rng.dirichlet(np.ones(4), 3)
    x = percentile_rewards.occupancy_of(p, mu)
    visits, at = np.zeros(3), np.array([0.5, 0.2, 0.3]) * [1, 0, 1]
    for _ in range(300):
        visits, at = visits + at, 0.83 * (at @ np.einsum("sa,say->sy", mu, P)) * [1, 0, 1]
    np.testing.assert_allclose(x, visits[:, None] * mu, atol=1e-12)
    solution = percentile_rewards.PercentileRewards(epsilon=0.2)._solution(p, z, mu, np.inf)
    deviation = np.linalg.norm(L.T @ x.ravel())
    assert (solution.mean, solution.deviation) == pytest.approx((p.m @ x.ravel(), deviation))
    assert solution.value == pytest.approx(solution.mean - z * deviation)
    assert percentile_rewards.size_of(solution, z) == pytest.approx(abs(solution.mean) + z * deviation)
    u = rng.normal(size=L.shape[1])
    u /= 1.7 * np.linalg.norm(u)
    paid, V = (p.m - z * L @ u).reshape(3, 4), np.zeros(3)
    for _ in range(300):
        V = (paid + 0.83 * P @ V).max(axis=1) * [1, 0, 1]
    upper = percentile_rewards.upper_bound(p, z, u)
    assert upper == pytest.approx(V @ [0.5, 0.2, 0.3], abs=1e-8)
    for one in rng.dirichlet(np.ones(4), (20, 3)):
        y = percentile_rewards.occupancy_of(p, one).ravel()
        assert p.m @ y - z * np.linalg.norm(L.T @ y) <= upper
    assert solution.error_bound == pytest.approx(
        percentile_rewards.upper_bound(p, z, L.T @ x.ravel() / deviation) - solution.value, rel=1e-9
    )
    tight = percentile_rewards.PercentileRewards(epsilon=0.2)._solution(p, z, mu, solution.value + 0.25)
    assert tight.error_bound == pytest.approx(0.25)


def test_small_visits_are_dropped():
    """An action below its share of its state's visits, and a state below its share of all; an end acts nominally."""
    mdp = b.TabularMDP.from_dense(np.full((4, 3, 4), 0.25), np.zeros((4, 3)), 0.5, terminal=[2])
    p = percentile_rewards.arrays_of(GaussianRewards(mdp, np.zeros((4, 3)), np.eye(12)))
    x = np.array([[3.0, 1.0, 3e-6], [2.0, 2.0, 6e-6], [5.0, 1.0, 1.0], [4e-8, 2e-8, 1e-8]])
    nominal = np.eye(3)[[1, 1, 2, 0]]
    found = percentile_rewards.policy_of(p, x, nominal, 1e-6)
    expected = np.array([[3.0, 1.0, 0.0], [2.0, 2.0, 6e-6], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    kept = percentile_rewards.policy_of(p, x * [[1.0], [1.0], [1.0], [2.0]], nominal, 0.0)
    np.testing.assert_allclose(kept[[0, 3]], (x / x.sum(axis=1, keepdims=True))[[0, 3]], rtol=1e-12)
