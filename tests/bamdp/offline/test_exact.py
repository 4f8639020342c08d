"""Exact Bayes-optimal values against an enumeration of histories that shares no code with them."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl import DirichletMDP, make, make_world
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.offline.bamdp_exact import BAMDPExact
from bayesrl.beliefs import FiniteMDPs, RewardBeta, RewardDirichlet, RewardNormal, SparseDirichletMDP, UnknownRewards
from bayesrl.core import BayesAgent, Planner, Solver, Transition, run
from bayesrl.errors import Incompatible
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import finite_horizon


def brute_force(belief, s, d):
    """Expectimax over histories: every outcome is passed through `belief.update`, nothing is merged."""
    o, q = belief.outcomes, np.zeros(belief.n_actions)
    if d == 0 or o.terminal[s]:
        return q
    for a in range(belief.n_actions):
        mean = belief.mean_mdp()
        for k in range(o.size[o.group[s, a]]):
            y, p = int(o.succ[s, a, k]), mean.prob[o.group[s, a], k]
            if isinstance(belief, UnknownRewards):
                values, chances = belief.rewards.reward_predictive(belief.cell(s, a, k))
                pays = list(zip(values.tolist(), chances.tolist(), strict=True))
            else:
                pays = [(float(o.reward[s, a, k]), 1.0)]
            for r, c in pays:
                if p * c > 0:
                    after = belief.update(Transition(s, a, r, y))
                    q[a] += p * c * (r + belief.gamma * brute_force(after, y, d - 1).max())
    return q


@pytest.mark.parametrize(("name", "horizon"), [("chain-tied", 5), ("chain-semi", 4), ("chain", 4)])
def test_exact_equals_brute_force(name, horizon):
    world = make_world(name, gamma=0.93)
    rng = default_rng(list(name.encode()))
    shape = DirichletMDP.structured(world).alpha.shape
    belief = DirichletMDP.structured(world, rng.uniform(0.2, 2.0, shape))
    for s in (0, 3, 4):
        np.testing.assert_allclose(exact_q(belief, s, horizon), brute_force(belief, s, horizon), atol=1e-9)


def test_exact_on_the_flat_chain_equals_brute_force():
    belief = DirichletMDP.flat(make_world("chain"), default_rng(0).uniform(0.2, 2.0, (10, 5)))
    np.testing.assert_allclose(exact_q(belief, 0, 3), brute_force(belief, 0, 3), atol=1e-9)


def test_groups_terminals_and_known_rows():
    """A tied group drawn twice on one path, a known row, a terminal state, and a posterior as the root."""
    succ = np.array([[[0, 1], [1, 2]], [[2, 0], [0, 1]], [[2, 2], [2, 2]]])
    reward = np.array([[[0.0, 1.0], [2.0, 0.5]], [[4.0, 0.0], [1.0, 0.0]], [[0.0, 0.0]] * 2])
    group = np.array([[0, 0], [1, 0], [2, 2]])
    start, terminal = np.array([1.0, 0, 0]), np.array([False, False, True])
    outcomes = Outcomes(succ, reward, group, np.array([2, 2, 1]), np.zeros(1), start, terminal)
    belief = DirichletMDP(outcomes, [[0.4, 1.1], [0.3, 0.7], [1.0, 0.0]], 1.0, known=[False, True, True])
    belief = belief.update(Transition(0, 1, 2.0, 1))
    for s in range(3):
        np.testing.assert_allclose(exact_q(belief, s, 5), brute_force(belief, s, 5), atol=1e-9)


@pytest.mark.parametrize("cells", [(2, 2), (2, 2, 2)])
def test_exact_with_unknown_rewards_equals_brute_force(cells):
    P = [[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.2, 0.8]]]
    rng = default_rng(5)
    transitions = DirichletMDP.flat(TabularMDP.from_dense(P, np.zeros((2, 2)), gamma=0.9), rng.uniform(0.3, 2, (4, 2)))
    beta = RewardBeta(rng.uniform(0.3, 2, cells), rng.uniform(0.3, 2, cells), low=-1.0, high=2.0)
    three = RewardDirichlet([0.0, 1.0, 5.0], rng.uniform(0.3, 2, (*cells, 3)))
    for rewards in (beta, three):
        belief = UnknownRewards(transitions, rewards)
        np.testing.assert_allclose(exact_q(belief, 0, 3), brute_force(belief, 0, 3), atol=1e-9)


def test_known_model_equals_finite_horizon():
    world = make_world("chain", gamma=0.9)
    belief = DirichletMDP.structured(world, known=True)
    np.testing.assert_allclose(BAMDPExact(horizon=8).solve(belief), finite_horizon(world, 8).q, atol=1e-9)


def earned(planner, belief, s, memory, d):
    """What a planner earns on average in d decisions if the belief is right: all its histories, none merged."""
    o, total = belief.outcomes, 0.0
    if d == 0 or o.terminal[s]:
        return total
    a, memory, _ = planner.plan(belief, s, memory, default_rng(0))
    for k, p in enumerate(belief.mean_mdp().prob[o.group[s, a]]):
        if p > 0.0:
            r, y = float(o.reward[s, a, k]), int(o.succ[s, a, k])
            after = belief.update(Transition(s, a, r, y))
            total += p * (r + belief.gamma * earned(planner, after, y, memory, d - 1))
    return total


def test_the_solution_earns_what_it_promises():
    """It is a planner. Its first 5 decisions earn the exact value of horizon 5; looking one decision ahead does not."""
    prior = DirichletMDP.structured(make_world("chain-tied", gamma=0.9), [[0.6, 1.0]])
    solution = BAMDPExact(horizon=5).solve(prior)
    assert isinstance(BAMDPExact(), Solver)
    assert isinstance(solution, Planner)
    np.testing.assert_array_equal(solution, [exact_q(prior, s, 5) for s in range(5)])
    assert solution[2].tolist() == solution.q[2].tolist()
    for s in range(5):
        assert earned(solution, prior, s, solution.start(), 5) == pytest.approx(solution.q[s].max(), rel=1e-12)
    short = BAMDPExact(horizon=1).solve(prior)
    assert earned(short, prior, 0, short.start(), 5) < solution.q[0].max() - 0.01


def test_the_solution_counts_its_decisions():
    """After the last decision of the horizon, and after the end of an episode, it has all of them to go again."""
    prior = DirichletMDP.structured(make_world("chain-tied"))
    agent = BayesAgent(prior, BAMDPExact(horizon=3).solve(prior))
    assert run(agent, make_world("chain-tied"), 7, keep=("left",)).left.tolist() == [3, 2, 1, 3, 2, 1, 3]
    assert run(agent, make_world("chain-tied"), 5, horizon=2, keep=("left",)).left.tolist() == [3, 2, 3, 2, 3]


def test_long_horizons_need_no_recursion():
    """A known model over 2000 decisions, and the tied chain over 300, the first 150 of which decide: .9^150 < 1e-6."""
    world = make_world("chain", gamma=0.99)
    known = DirichletMDP.structured(world, known=True)
    np.testing.assert_allclose(exact_q(known, 0, 2000), finite_horizon(world, 2000).q[0], rtol=1e-10)
    tied = DirichletMDP.structured(make_world("chain-tied", gamma=0.9))
    long, short = exact_q(tied, 0, 300), exact_q(tied, 0, 150)
    assert (long >= short).all()
    np.testing.assert_allclose(long, short, atol=10.0 / 0.1 * 0.9**150)


def test_beliefs_that_do_not_fit():
    mdp = TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.eye(2), 0.9)
    with pytest.raises(Incompatible, match="exact_q needs a belief with 'exact_rows', which FiniteMDPs lacks"):
        exact_q(FiniteMDPs((mdp,)), 0, 2)
    vague = UnknownRewards(DirichletMDP.flat(mdp), RewardNormal.strens((2, 2)))
    with pytest.raises(Incompatible, match=r"BAMDPExact needs .* RewardNormal do not take finitely many values"):
        BAMDPExact().solve(vague)


def test_information_has_value():
    """On the tied chain learning is worth something: the Bayes-optimal value exceeds the best blind policy's."""
    belief = DirichletMDP.structured(make_world("chain-tied", gamma=1.0), [[1.0, 1.0]])
    blind = finite_horizon(belief.mean_mdp(), 8, gamma=1.0).start_value
    assert exact_q(belief, 0, 8).max() > blind + 0.1


@pytest.mark.parametrize("seed", range(6))
def test_exact_with_unknown_supports_equals_brute_force(seed):
    """A sparse Dirichlet, after a few steps: outcomes of a group are told apart by whether they were seen."""
    rng, S = default_rng(seed), 2 + seed % 2
    mdp = TabularMDP.from_dense(rng.dirichlet(np.ones(S), (S, 2)), rng.uniform(-1.0, 1.0, (S, 2)), 0.9)
    belief = SparseDirichletMDP.flat(mdp, concentration=[0.05, 0.2, 1.5][seed % 3], size_exponent=float(seed % 3))
    for _ in range(seed):
        belief = belief.seen_outcome(*(int(rng.integers(n)) for n in (S, 2, S)))
    for d in (1, 3):
        np.testing.assert_allclose(exact_q(belief, 0, d), brute_force(belief, 0, d), atol=1e-10)


def test_searches_on_a_sparse_prior_bracket_and_approach_the_exact_values():
    """BFS3's bounds hold in every seed; BAMCP's mean root value is within a fifth of what learning is worth.

    Of a return of 1.46 the mean model promises .1 less: a search that learnt nothing on its way would be seen.
    """
    mdp = TabularMDP.from_dense(np.full((2, 2, 2), 0.5), [[0.0, 0.0], [1.0, 0.0]], 0.95)
    belief = SparseDirichletMDP.flat(mdp, 0.2, 2.0)
    exact, found = exact_q(belief, 0, 4), []
    learning = exact.max() - finite_horizon(belief.mean_mdp(), 4).q[0].max()
    assert learning > 0.1
    for seed in range(10):
        search = make("bamcp", simulations=20_000, depth=4, exploration=1.0).plan(belief, 0, None, default_rng(seed))
        found.append(search.info["q"].max())
        bounds = make("bfs3", simulations=300, depth=4, width=6).plan(belief, 0, None, default_rng(seed)).info
        assert (bounds["lower"] <= exact + 1e-9).all()
        assert (bounds["upper"] >= exact - 1e-9).all()
    assert abs(np.mean(found) - exact.max()) < 0.2 * learning


def test_a_solution_is_an_array_of_its_values():
    """A copy that is asked for is a new array; without one, the solution's own; another type is a copy."""
    solution = BAMDPExact(horizon=2).solve(DirichletMDP.structured(make_world("chain-tied"), [[2.0, 1.0]]))
    assert np.asarray(solution) is solution.q
    one = np.array(solution)
    assert not np.shares_memory(one, solution.q)
    one[...] = 0.0
    np.testing.assert_array_equal(np.asarray(solution), solution.q)
    assert (solution.q > 0.0).any()
    small = np.asarray(solution, np.float32)
    assert small.dtype == np.float32
    np.testing.assert_allclose(small, solution.q, rtol=1e-6)
    assert not np.shares_memory(np.array(solution, np.float64), solution.q)
