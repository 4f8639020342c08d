"""Finite-state controllers against dynamic programming over hyper-states, finite differences and enumeration."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.offline._controller_parameters import Logits, monte_carlo_gradient
from bayesrl.bamdp.offline._prior_models import models_of, stack
from bayesrl.bamdp.offline.finite_state_controller import (
    SMALL_GAIN,
    STAY,
    SUFFICIENT,
    TAIL,
    Controller,
    FiniteStateController,
    climb,
    climb_by_simulation,
    evaluate,
    gradient,
    start,
)
from bayesrl.beliefs import BetaBernoulli, RewardBeta, UnknownRewards
from bayesrl.core import Policy, Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import evaluate_policy
from bayesrl.testing import assert_frequencies, assert_mean_equal, check_agent, check_planner


def tied(gamma=0.6, alpha=((1.3, 0.6),)):
    return b.DirichletMDP.structured(b.make_world("chain-tied", gamma=gamma), alpha)


def mixed(gamma=0.2):
    """Rows of two and three outcomes, two of them known, two first states, and a terminal state."""
    P = np.array([[[0.5, 0.5, 0.0], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.0, 0.3, 0.7]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.5, 1.0], [2.0, -0.5], [0, 0]], gamma, start=[0.3, 0.7, 0.0], terminal=[2])
    return b.DirichletMDP.structured(mdp, [0.7, 1.2, 0.5], known=np.array([False, True, False, True, True, True]))


def leave(gamma=0.9):
    """One state to leave for a reward of 1; either action may be nearly useless, so that it is best to mix them."""
    P = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.0, 1.0]] * 2])
    R = np.zeros((2, 2, 2))
    R[0, :, 1] = 1.0
    mdp = TabularMDP.from_dense(P, R, gamma, terminal=[1])
    return b.DirichletMDP.structured(mdp, 0.2, known=np.array([False, False, True, True]))


def hyper_state_value(psi, eta, belief, q, s, horizon, memo):
    """The value of a controller with the posterior carried along: no models, no linear systems."""
    o = belief.outcomes
    if horizon == 0 or o.terminal[s]:
        return 0.0
    key = (q, s, horizon, belief.alpha.tobytes())
    if key not in memo:
        memo[key] = 0.0
        for a in range(belief.n_actions):
            for k, p in enumerate(belief.predictive_row(s, a)):
                if p > 0.0:
                    y, then = int(o.succ[s, a, k]), belief.seen_outcome(s, a, k)
                    later = sum(
                        eta[q, s, a, y, r] * hyper_state_value(psi, eta, then, r, y, horizon - 1, memo)
                        for r in range(len(psi))
                    )
                    memo[key] += psi[q, s, a] * p * (o.reward[s, a, k] + belief.gamma * later)
    return memo[key]


# Values --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("prior", "n", "horizon"), [(tied(), 40, 40), (mixed(), 1000, 11)])
def test_value_equals_dynamic_programming_over_hyper_states(prior, n, horizon):
    """Expectation over models of linear systems, against beliefs carried along; later rewards weigh under 1e-7."""
    models = models_of(prior, n, default_rng(0))
    logits = start(2, models, default_rng(1))
    psi, eta = logits.controller()
    memo, expected = {}, 0.0
    for s, p in enumerate(prior.outcomes.start):
        expected += p * hyper_state_value(psi, eta, prior, 0, s, horizon, memo) if p > 0 else 0.0
    np.testing.assert_allclose(evaluate(logits, models).J, expected, atol=1e-7)


def test_value_is_not_that_of_the_mean_model():
    """ERRATA 31: the linear system of the mean model gives something else."""
    prior = tied(0.9, ((1.0, 1.0),))
    models = models_of(prior, 40, default_rng(0))
    logits = start(2, models, default_rng(1))
    at_the_mean = evaluate(logits, stack(prior, [prior.mean_mdp()], np.ones(1))).J
    assert abs(evaluate(logits, models).J - at_the_mean) > 0.5


def test_value_is_what_the_planner_earns():
    """2000 lives of 30 steps in drawn models, through `plan`; false alarm 1e-6, sees 5% of the value.

    The controller is far from symmetric, so that a wrong node, edge or state would be seen.
    """
    prior, rng = tied(), default_rng(4)
    models = models_of(prior, 40, rng)
    first = start(2, models, rng)
    logits = Logits(3.0 * first.action, 3.0 * first.node)
    planner = Controller(FiniteStateController(), *logits.controller(), value=evaluate(logits, models).J)
    totals = []
    for _ in range(2000):
        model, s, q, last, total = prior.sample_mdp(rng), 0, planner.start(), None, 0.0
        for t in range(30):
            a, q, _ = planner.plan(prior, s, q, rng, last)
            k = int(rng.random() > model.prob[0, 0])
            y, r = int(model.succ[s, a, k]), float(model.reward[s, a, k])
            last, s, total = Transition(s, a, r, y), y, total + 0.6**t * r
        totals.append(total)
    assert_mean_equal(totals, planner.value, bias=1e-5)


def test_models_of_few_unknowns_are_exact():
    """Moments of a Gauss rule: E[p], E[p^2] and the product of independent unknowns; more unknowns are drawn."""
    for prior, n in ((tied(), 64), (mixed(), 1000)):
        models = models_of(prior, n, default_rng(0))
        np.testing.assert_allclose(models.weight.sum(), 1.0)
        mean = prior.mean_mdp().matrix.reshape(models.P.shape[1:])
        np.testing.assert_allclose(np.tensordot(models.weight, models.P, 1), mean, atol=1e-12)
    alpha, total = prior.alpha[0, :2], prior.alpha[0].sum()
    second = alpha[0] * (alpha[0] + 1) / (total * (total + 1))
    np.testing.assert_allclose(models.weight @ models.P[:, 0, 0, 0] ** 2, second)
    cross = mean[0, 0, 0] * mean[1, 0, 2]
    np.testing.assert_allclose(models.weight @ (models.P[:, 0, 0, 0] * models.P[:, 1, 0, 2]), cross)
    two = b.DirichletMDP.structured(b.make_world("chain-semi"), 1.0)  # two unknowns: 8^2 points, or draws
    for n, points in ((63, 63), (64, 64), (80, 64), (81, 81), (99, 81)):
        models = models_of(two, n, default_rng(0))
        assert len(models.P) == points
        assert (np.ptp(models.weight) == 0.0) == (n == 63)
    flat = b.DirichletMDP.flat(b.make_world("chain"))
    assert len(models_of(flat, 7, default_rng(0)).P) == 7
    assert len(models_of(b.DirichletMDP.structured(b.make_world("chain"), known=True), 7, default_rng(0)).P) == 1


# Gradients -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [tied(), mixed(0.8)])
def test_gradient_equals_finite_differences(prior):
    models, h = models_of(prior, 16, default_rng(0)), 1e-5
    logits = start(2, models, default_rng(1))
    slope = gradient(evaluate(logits, models), models)
    for part in ("action", "node"):
        x = getattr(logits, part)
        numerical = np.zeros_like(x)
        for cell in np.ndindex(*x.shape):
            step = np.zeros_like(x)
            step[cell] = h
            up, down = (evaluate(logits._replace(**{part: x + sign * step}), models).J for sign in (1, -1))
            numerical[cell] = (up - down) / (2 * h)
        np.testing.assert_allclose(getattr(slope, part), numerical, atol=1e-9)
        assert np.abs(numerical).max() > 1e-3


def test_monte_carlo_gradient_is_unbiased():
    """3600 estimates of 5 lives each against the exact gradient; false alarm 1e-6 for each of both parts.

    The nodes of the controller differ in what they do, so that memory matters. Standard errors are at most .02 of the
    largest entry of a node's gradient, so that a share of an eighth of it is seen (a mean over all 5 lives instead of
    the 4 others takes a fifth away). 20 steps at discount .5 leave out a millionth.
    """
    prior, rng = tied(0.5), default_rng(5)
    exact = models_of(prior, 40, rng)
    logits = start(2, exact, rng)
    logits = logits._replace(action=logits.action + np.array([[[2.0, -2.0]], [[-2.0, 2.0]]]), node=0.3 * logits.node)
    slope = gradient(evaluate(logits, exact), exact)

    def estimate():
        i = rng.choice(40, 5, p=exact.weight)
        return monte_carlo_gradient(logits, exact._replace(P=exact.P[i], r=exact.r[i]), 20, rng)

    found = [estimate() for _ in range(3600)]
    for part, share in (("action", 0.08), ("node", 0.02)):
        estimates, expected = np.array([getattr(f, part) for f in found]), getattr(slope, part)
        assert_mean_equal(estimates, expected, bias=1e-5, what=part)
        assert (estimates.std(axis=0) / np.sqrt(3600)).max() < share * np.abs(expected).max()


# Ascent --------------------------------------------------------------------------------------------------------------


def test_ascent_never_falls():
    prior = tied(0.9)
    models, rng = models_of(prior, 32, default_rng(0)), default_rng(2)
    for nodes in (1, 2, 3, 3):
        first = start(nodes, models, rng)
        last, values = climb(first, models, 200)
        assert (np.diff(values) > 0).all()
        assert len(values) > 5
        assert values[0] == evaluate(first, models).J
        assert values[-1] == evaluate(last, models).J


def test_one_node_is_the_best_memoryless_policy():
    """The 32 policies of the tied chain, each evaluated in 40 models of a Gauss rule over the unknown."""
    world, (x, w) = b.make_world("chain-tied", gamma=0.9), np.polynomial.legendre.leggauss(40)
    grid = [TabularMDP(world.mdp.outcomes, [[(1 + t) / 2, (1 - t) / 2]], 0.9) for t in x]
    policies = product(range(2), repeat=5)
    best = max(w @ [evaluate_policy(model, pi)[0] for model in grid] / 2 for pi in policies)
    found = FiniteStateController(nodes=1, restarts=3).solve(b.DirichletMDP.structured(world), default_rng(0))
    np.testing.assert_allclose(found.value, best, rtol=1e-4)
    assert found.value < best + 1e-9


def test_one_node_mixes_where_that_is_best():
    """One state, left with probability x or y: E[p / (1 - gamma (1 - p))] is concave in the chance of an action."""
    prior = leave()
    models = models_of(prior, 400, default_rng(0))
    x, y = models.P[:, 0, 0, 1], models.P[:, 0, 1, 1]
    grid = np.linspace(0, 1, 1001)[:, None]
    p = grid * x + (1 - grid) * y
    values = (p / (1 - 0.9 * (1 - p))) @ models.weight
    found = FiniteStateController(nodes=1, restarts=2, models=400).solve(prior, default_rng(0))
    np.testing.assert_allclose(found.value, values.max(), rtol=1e-5)
    np.testing.assert_allclose(found.psi[0, 0, 0], grid[values.argmax(), 0], atol=0.02)
    assert values.max() > values[[0, -1]].max() + 0.05


def test_more_nodes_never_hurt_and_memory_pays():
    """The tied chain: 20.93 without memory, at most the Bayes-optimal 25.66; two nodes come within a percent of it."""
    prior = tied(0.9, ((1.0, 1.0),))
    values = [
        FiniteStateController(nodes=nodes, restarts=12, models=32).solve(prior, default_rng(0)).value
        for nodes in (1, 2, 3)
    ]
    assert values[0] <= values[1] <= values[2] <= exact_q(prior, 0, 120).max()
    assert values[0] == pytest.approx(20.935, abs=1e-3)
    assert values[1] > 25.4


def test_ascent_by_simulation():
    """Gradients from 100 lives find nearly the best memoryless policy of the tied chain, 20.935."""
    prior = tied(0.9, ((1.0, 1.0),))
    solver = FiniteStateController(nodes=1, restarts=2, models=32, iterations=40, trajectories=100)
    assert solver.solve(prior, default_rng(0)).value > 20.5
    models = models_of(prior, 32, default_rng(0))
    first = start(2, models, default_rng(0))
    last = climb_by_simulation(first, prior, 40, 100, default_rng(0))
    assert evaluate(last, models).J > evaluate(first, models).J + 1.0


def test_steps_of_the_ascent_by_simulation():
    """One iteration moves the largest logit by one, two by no more than 1 + 1 / sqrt(2)."""
    prior = tied()
    first = start(2, models_of(prior, 4, default_rng(0)), default_rng(0))
    one, two = (climb_by_simulation(first, prior, n, 20, default_rng(0)) for n in (1, 2))
    assert one.moved(-1.0, first).largest() == pytest.approx(1.0)
    assert two.moved(-1.0, one).largest() == pytest.approx(0.5**0.5)


class Reached:
    """What stands for an evaluation: the value of a valley that is much steeper in one direction than in the other."""

    def __init__(self, logits):
        x, y = logits.action - 0.7, logits.node + 1.3
        self.J = float(5.0 - 0.5 * (40.0 * np.vdot(x, x) + np.vdot(y, y)))
        self.slope = Logits(-40.0 * x, -y)


@pytest.mark.parametrize("reward", [1e-3, 3.0, 1e5, 1e7])
def test_the_ascent_backtracks_as_it_says(reward, monkeypatch):
    """On a quadratic whose best steps are short: the values on the way, and where it ends, beside a plain loop.

    The step is twice the last one, at most one for a logit, and is halved until it gains a share of what the slope
    promises. Gains below a share of the largest return are not worth a step: that share decides where it ends.
    """
    module = "bayesrl.bamdp.offline.finite_state_controller."
    monkeypatch.setattr(module + "evaluate", lambda logits, models: Reached(logits))
    monkeypatch.setattr(module + "gradient", lambda found, models: found.slope)
    models = models_of(tied(0.83), 4, default_rng(0))
    models = models._replace(r=np.where(models.r == models.r.max(), -reward, 0.1 * reward))
    first = Logits(np.array([[2.0, -1.5]]), np.array([[4.0], [0.2], [-3.0]]))
    for iterations in (1, 2, 3, 5, 8, 60):
        logits, values, step = first, [Reached(first).J], np.inf
        enough = SMALL_GAIN * reward / (1.0 - 0.83)
        for _ in range(iterations):
            slope = Reached(logits).slope
            promise = sum(float((x**2).sum()) for x in slope)
            step = min(2.0 * step, 1.0 / max(float(np.abs(x).max()) for x in slope))
            last = None
            while Reached(logits.moved(step, slope)).J < values[-1] + SUFFICIENT * step * promise:
                step /= 2.0
                if step * promise <= enough:
                    last = logits
                    break
            if last is not None:
                break
            logits = logits.moved(step, slope)
            values.append(Reached(logits).J)
            if values[-1] - values[-2] <= enough:
                break
        found, reached = climb(first, models, iterations)
        np.testing.assert_allclose(reached, values, rtol=1e-12)
        np.testing.assert_allclose(found.action, logits.action, rtol=1e-9)
        np.testing.assert_allclose(found.node, logits.node, rtol=1e-9)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 0.6, 0.93])
def test_simulations_look_as_far_as_the_tail(gamma, monkeypatch):
    """The steps of a simulation are the first number with less than the tail left; step t moves by 1 / sqrt(t)."""
    asked, slope = [], Logits(np.array([[0.5, -4.0]]), np.array([[2.0], [3.0]]))

    def told(logits, models, horizon, rng):
        asked.append((len(models.P), horizon))
        return slope

    monkeypatch.setattr("bayesrl.bamdp.offline.finite_state_controller.monte_carlo_gradient", told)
    first = Logits(np.array([[1.0, 2.0]]), np.array([[3.0], [-1.0]]))
    last = climb_by_simulation(first, tied(gamma), 3, 5, default_rng(0))
    horizon = 2 if gamma == 0.0 else next(h for h in range(999) if gamma**h < TAIL)
    assert asked == [(5, horizon)] * 3
    moved = (1.0 + 2.0**-0.5 + 3.0**-0.5) / 4.0
    np.testing.assert_allclose(last.action, first.action + moved * slope.action)
    np.testing.assert_allclose(last.node, first.node + moved * slope.node)


def test_first_controllers_prefer_to_stay():
    """Logits of actions are standard normal, those of nodes too but for the preference to stay; 20 starts.

    450 edges each, of which 150 stay. Means and variances; false alarm 1e-6 each, sees .1 of either.
    """
    models, rng = models_of(tied(), 4, default_rng(0)), default_rng(1)
    found = [start(3, models, rng) for _ in range(20)]
    assert (found[0].action.shape, found[0].node.shape) == ((3, 5, 2), (3, 5, 2, 3, 5))
    off = np.array([x.node - STAY * np.eye(3)[:, None, None, :, None] for x in found])
    for part in (np.array([x.action for x in found]).ravel(), off[:, 0, :, :, 0].ravel(), off[:, 1, :, :, 0].ravel()):
        assert_mean_equal(np.column_stack([part, part**2]), [0.0, 1.0])


# The planner ---------------------------------------------------------------------------------------------------------


def test_laws():
    world = b.make_world("chain-tied", gamma=0.9)
    prior, solver = (
        b.DirichletMDP.structured(world),
        FiniteStateController(nodes=2, restarts=2, models=8, iterations=20),
    )
    planner = solver.solve(prior, default_rng(1))
    assert planner == solver.solve(prior, default_rng(1))
    assert planner != solver.solve(prior, default_rng(2))
    check_planner(planner, prior, 2, rng=default_rng(0))
    check_agent(b.BayesAgent(prior, planner), world)
    check_agent(b.BayesAgent(b.DirichletMDP.flat(world), planner), world)  # it never looks at the belief
    check_agent(planner, world)


def test_edges_are_followed():
    """A controller that goes to node 1 after (0, 1, 2) alone, and there prefers the other action."""
    psi, eta = np.zeros((2, 3, 2)), np.zeros((2, 3, 2, 3, 2))
    psi[0, :, 0] = psi[1, :, 1] = eta[..., 0] = 1.0
    eta[0, 0, 1, 2] = eta[1] = [0.0, 1.0]
    planner, rng = Controller(FiniteStateController(), psi, eta, 0.0), default_rng(0)

    def after(s, a, y, q=0, **ends):
        decision = planner.plan(None, y, q, rng, Transition(s, a, 0.0, y, **ends))
        assert decision.info["node"] == decision.memory == decision.action
        return decision.memory

    assert planner.plan(None, 0, planner.start(), rng).memory == 0
    assert [after(s, a, y) for s, a, y in product(range(3), range(2), range(3))].count(1) == 1
    assert after(0, 1, 2) == 1
    assert after(1, 0, 0, q=1) == 1
    assert after(1, 0, 0, q=1, terminated=True) == after(1, 0, 0, q=1, truncated=True) == 0


def test_a_controller_is_an_agent_and_a_policy():
    """As an agent it moves when it learns; as a policy it takes (node, state). 4000 draws, false alarm 1e-6."""
    rng, Q, S, A = default_rng(3), 2, 3, 2
    psi, eta = rng.dirichlet(np.ones(A), (Q, S)), rng.dirichlet(np.ones(Q), (Q, S, A, S))
    controller = Controller(FiniteStateController(), psi, eta, 0.0)
    assert isinstance(controller, Policy)
    assert controller.start() == 0
    step = Transition(0, 1, 0.0, 2)
    nodes = [controller.learn(1, step, rng) for _ in range(4000)]
    assert_frequencies(np.bincount(nodes, minlength=Q), eta[1, 0, 1, 2])
    assert controller.learn(1, step._replace(terminated=True), rng) == 0
    for drawn in (
        [controller.act(1, 2, rng).action for _ in range(4000)],
        [controller.sample((1, 2), rng) for _ in range(4000)],
    ):
        assert_frequencies(np.bincount(drawn, minlength=A), psi[1, 2])
    assert controller.act(1, 2, rng).memory == 1
    assert controller.log_prob((1, 2), 0) == pytest.approx(np.log(psi[1, 2, 0]))
    assert (
        Controller(FiniteStateController(), np.eye(2)[None], np.ones((1, 2, 2, 2, 1)), 0.0).log_prob((0, 1), 0)
        == -np.inf
    )


def test_unknown_rewards():
    """Any belief that models can be drawn from will do."""
    prior = UnknownRewards(b.DirichletMDP.flat(b.make_world("chain")), RewardBeta(np.ones((5, 2)), np.ones((5, 2))))
    planner = FiniteStateController(nodes=2, restarts=1, models=6, iterations=5).solve(prior, default_rng(0))
    check_planner(planner, prior, 3, rng=default_rng(0))


def test_refusals():
    with pytest.raises(Incompatible, match=r"FiniteStateController needs a belief with .*'sample_mdp'"):
        FiniteStateController().solve(BetaBernoulli(np.ones(2), np.ones(2)), default_rng(0))
    with pytest.raises(InvalidArgument, match="FiniteStateController: 'problem' must be one whose episodes end"):
        FiniteStateController().solve(tied(1.0), default_rng(0))
    with pytest.raises(InvalidArgument, match="'trajectories' must be a whole number of at least 2, got 1"):
        FiniteStateController(trajectories=1)
    with pytest.raises(InvalidArgument, match=r"FiniteStateController: 'rng' must be a numpy Generator, .* got None"):
        FiniteStateController().solve(tied())
    with pytest.raises(InvalidArgument, match=r"Controller: 'eta' must be an array of shape \(1, 2, 2, 2, 1\), got"):
        Controller(FiniteStateController(), np.eye(2)[None], np.ones((1, 2, 2, 2, 2)), 0.0)
    with pytest.raises(InvalidArgument, match=r"Controller: 'psi' must be rows that sum to 1, got 2.0"):
        Controller(FiniteStateController(), np.ones((1, 2, 2)), np.ones((1, 2, 2, 2, 1)), 0.0)


def test_the_largest_logit():
    small, large = np.array([[0.5, -1.0]]), np.array([[-3.0], [2.0]])
    assert Logits(small, large).largest() == Logits(large, small).largest() == 3.0
