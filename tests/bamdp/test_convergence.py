"""Where information has value: searches approach the exact root value as their budget grows, and bounds bracket it.

docs/convergence.md has the measured rates, over more budgets and problems.
"""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.beliefs import SparseDirichletMDP
from bayesrl.models.mdp import Outcomes
from bayesrl.models.solve import finite_horizon


def tied_chain():
    return b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9)), 8


def arm_or_wage():
    """An arm that pays 1 with unknown probability and leads to state 1 if it does, or a wage of .6."""
    succ, reward = np.array([[[1, 0], [0, 0]]] * 2), np.array([[[1.0, 0.0], [0.6, 0.0]]] * 2)
    outcomes = Outcomes(succ, reward, [[0, 1]] * 2, np.array([2, 1]), 0.0, np.array([1.0, 0.0]), np.zeros(2, bool))
    return b.DirichletMDP(outcomes, [[1.0, 1.0], [1.0, 0.0]], 0.9, np.array([False, True])), 10


def doors():
    """A door, the same everywhere, behind which few of three states are, paying 0, .3 and 1, or a wage of .5."""
    succ = np.array([[[0, 1, 2], [0, 0, 0]]] * 3)
    reward = np.array([[[0.0, 0.3, 1.0], [0.5, 0.0, 0.0]]] * 3)
    start = np.array([1.0, 0.0, 0.0])
    outcomes = Outcomes(succ, reward, [[0, 1]] * 3, np.array([3, 1]), 0.0, start, np.zeros(3, bool))
    return SparseDirichletMDP(outcomes, 0.2, 2.0, 0.9), 6


PROBLEMS = {"tied chain": tied_chain, "arm or wage": arm_or_wage, "doors": doors}
PLANNERS = {
    "bamcp": lambda n, H, c: b.make("bamcp", simulations=10 * n, depth=H, exploration=c),
    "bamcp, auto": lambda n, H, c: b.make("bamcp", simulations=10 * n, depth=H),
    "bayesian-sparse-sampling": lambda n, H, c: b.make("bayesian-sparse-sampling", simulations=10 * n, depth=H),
    "bfs3": lambda n, H, c: b.make("bfs3", simulations=n, depth=H, width=round(n ** (1 / 3))),
    "bop": lambda n, H, c: b.make("bop", nodes=n, depth=H),
    "hmdp": lambda n, H, c: b.make("hmdp", simulations=n, depth=H),
}


def greedy(belief, s, d, memo):
    """What acting on the mean model is worth where the belief is updated at every step; ties at random."""
    if d == 0:
        return 0.0
    model, o = belief.mean_mdp(), belief.outcomes
    key = (s, d, model.prob.tobytes())
    if key not in memo:
        q = finite_horizon(model, d).q[s]
        tied, memo[key] = np.flatnonzero(q >= q.max() - 1e-12).tolist(), 0.0
        for a in tied:
            for k, p in enumerate(model.prob[o.group[s, a]].tolist()):
                if p > 0.0:
                    later = greedy(belief.seen_outcome(s, a, k), int(o.succ[s, a, k]), d - 1, memo)
                    memo[key] += p / len(tied) * (o.reward[s, a, k] + belief.gamma * later)
    return memo[key]


@pytest.mark.parametrize("name", PROBLEMS)
def test_information_has_value(name):
    """Looking at what may be learnt is worth more than 4% of the value."""
    belief, H = PROBLEMS[name]()
    assert greedy(belief, 0, H, {}) < 0.96 * exact_q(belief, 0, H).max()


@pytest.mark.long
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("planner", PLANNERS)
def test_root_values_approach_the_exact_ones(planner, problem):
    """A hundredfold budget at least halves the mean error over ten seeds; certain bounds hold for each of them."""
    belief, H = PROBLEMS[problem]()
    q, error = exact_q(belief, 0, H), []
    for n in (10, 1000):
        made = PLANNERS[planner](n, H, np.ptp(belief.outcomes.reward))
        found = [made.plan(belief, 0, made.start(), default_rng(i)).info for i in range(10)]
        error.append(np.mean([abs(info["q"].max() - q.max()) for info in found]))
        for info in found:
            if "lower" in info:
                assert (info["lower"] <= q + 1e-9).all()
                assert (q <= info["upper"] + 1e-9).all()
    assert error[1] < error[0] / 2


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("planner", ["forward-search", "branch-and-bound"])
def test_searches_to_the_end_are_exact(planner, problem):
    """At every depth, and their values rise with it, as no reward is negative."""
    belief, H = PROBLEMS[problem]()
    values = [b.make(planner, depth=d).plan(belief, 0, None, default_rng(0)).info["q"].max() for d in range(1, H + 1)]
    assert values == sorted(values)
    assert values == pytest.approx([exact_q(belief, 0, d).max() for d in range(1, H + 1)], rel=1e-12)
