"""Rounding noise chooses nothing: problems full of exact ties, once as they are and once with noise in the last digits.

Every action has a copy, a line is symmetric, and on another one values cancel to zero in the middle.
The noise, a share of about 1e-13, is what another order of additions makes of solved values, and more than
libraries differ by. It is added to what a method computes from: rewards, prior counts, places of actions. Runs on the
same seed must be equal.
"""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import BetaBernoulli, DirichletPOMDP, ParticleBAPOMDP, POMDPFilter
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.models.solve import finite_horizon, solve
from bayesrl.registry import entries, make
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.tabular import MDPWorld

NOISE, STEPS, SEEDS = 1e-13, 12, (1, 2)


def noise(seed, shape):
    """Factors 1 + NOISE e with e in [-1, 1]; 1 without a seed."""
    return np.ones(shape) if seed is None else 1.0 + NOISE * default_rng(seed).uniform(-1.0, 1.0, shape)


def line(seed=None):
    """Five states; left and right, each twice. The ends pay 1 and lead to the middle, steps cost."""
    P, R = np.zeros((5, 4, 5)), np.zeros((5, 4))
    for s, a in np.ndindex(5, 4):
        P[s, a, 2 if s in (0, 4) else s - 1 + 2 * (a % 2)] = 1.0
        R[s, a] = {0: 1.0, 4: 1.0}.get(s, -0.5)
    P = 0.75 * P + 0.25 * P[:, [1, 0, 3, 2]]  # slips
    return MDPWorld("line", TabularMDP.from_dense(P, R * noise(seed, R.shape), 0.9, 2))


def signed(seed=None):
    """A walk that no action changes. The left end pays -1 and the right one 1, so that the middle is worth 0."""
    P, R = np.zeros((5, 4, 5)), np.zeros((5, 4))
    for s, a in np.ndindex(5, 4):
        P[s, a, [max(s - 1, 0), min(s + 1, 4)]] += 0.5
        R[s, a] = {0: -1.0, 4: 1.0}.get(s, 0.0)
    return MDPWorld("signed", TabularMDP.from_dense(P, R * noise(seed, R.shape), 0.9, 2))


SETTINGS = {
    "bamcp": {"simulations": 30, "depth": 6}, "uct": {"simulations": 60, "depth": 6}, "bfs3": {"depth": 3},
    "fsss": {"depth": 3}, "bop": {"nodes": 20}, "bayesian-sparse-sampling": {"simulations": 10, "depth": 3},
    "branch-and-bound": {"depth": 2}, "forward-search": {"depth": 2}, "sparse-sampling": {"depth": 2, "width": 2},
    "hmdp": {"simulations": 5, "depth": 3}, "boss": {"knownness": 2}, "rmax": {"knownness": 2},
    "value-of-information": {"samples": 5},
}  # fmt: skip
PLANNERS = [
    n for n, e in entries().items() if e.kind == "planner" and e.package == "bamdp" and n != "sigma-point-robust"
]


def actions(planner, belief, world, steps=STEPS):
    return b.run(b.BayesAgent(belief, planner), world, steps, seed=3).action.tolist()


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("problem", [line, signed])
@pytest.mark.parametrize("name", PLANNERS)
def test_planners(name, problem, known):
    planner, world = make(name, **SETTINGS.get(name, {})), problem()
    found = [
        actions(planner, b.DirichletMDP.structured(problem(seed), known=known or None), world)
        for seed in (None, *SEEDS)
    ]
    assert found[1:] == found[:-1]


def test_solvers():
    """Equal policies of the exact solvers, also where values cancel, and equal finite-horizon policies."""
    for problem in (line, signed):
        for method in ("policy-iteration", "value-iteration", "mdp-lp"):
            found = [solve(problem(seed).mdp, method=method).policy[:].tolist() for seed in (None, *SEEDS)]
            assert found[0] == found[1] == found[2] == [0] * 5 if problem is signed else found[1:] == found[:-1]
        plans = [finite_horizon(problem(seed).mdp, 5).policy.tolist() for seed in (None, *SEEDS)]
        assert plans[1:] == plans[:-1]


@pytest.mark.parametrize("problem", [line, signed])
def test_beetle(problem):
    solver = make("beetle", beliefs=3, basis=3, steps=5, iterations=5)
    found = []
    for seed in (None, *SEEDS):
        belief = b.DirichletMDP.structured(problem(seed))
        found.append(actions(solver.solve(belief, default_rng(0)), belief, problem()))
    assert found[1:] == found[:-1]


BANDITS = {"bayes-optimal-bandit": {"depth": 2}, "finite-horizon-index": {"horizon": 4}, "information-directed": {}}
BANDITS |= {name: {} for name in ("ucb1", "bayes-ucb", "gittins", "thompson")}


@pytest.mark.parametrize("name", BANDITS)
def test_bandits(name):
    """Three equal arms whose priors differ by the noise."""
    world, found = b.make_world("bernoulli", arms=3).draw(default_rng(0)), []
    for seed in (None, *SEEDS):
        arms = BetaBernoulli(1.5 * noise(seed, 3), 1.5 * noise(seed, 3), 0.9)
        found.append(b.run(b.BayesAgent(arms, make(name, **BANDITS[name])), world, 6, seed=3).action.tolist())
    assert found[1:] == found[:-1]


# Hidden states -------------------------------------------------------------------------------------------------------


def tiger(seed=None):
    """Listen, open left, open right, each twice; both doors are alike at the start."""
    P = np.repeat(np.stack([np.eye(2), np.full((2, 2), 0.5), np.full((2, 2), 0.5)], axis=1), 2, axis=1)
    O = np.repeat(np.stack([np.array([[0.8, 0.2], [0.2, 0.8]]), *np.full((2, 2, 2), 0.5)], axis=1), 2, axis=1)
    R = np.repeat(np.array([[-1.0, -10.0, 5.0], [-1.0, 5.0, -10.0]]), 2, axis=1)
    return TabularPOMDP.from_dense(P, O, R * noise(seed, R.shape), 0.8)


@pytest.mark.parametrize("method", ["pomdp-value-iteration", "pbvi", "perseus"])
def test_pomdp_solvers(method):
    """Equal actions at beliefs, those at which two doors tie included."""
    beliefs = np.array([[p, 1.0 - p] for p in np.linspace(0.0, 1.0, 21)])
    found = []
    for seed in (None, *SEEDS):
        solved = solve(tiger(seed), 1e-3, method=method)
        found.append([solved.action(x) for x in beliefs])
    assert found[1:] == found[:-1]
    assert set(found[0]) <= {0, 2, 4}


HIDDEN = {
    "ba-pomcp": {"simulations": 40, "depth": 4}, "pomcp": {"simulations": 40, "depth": 4},
    "bapomdp-forward-search": {"depth": 2}, "bapomdp-branch-and-bound": {"depth": 2},
    "sampled-pomdps": {"models": 2, "size": 5}, "policy-prior-search": {"models": 2, "controllers": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_planners_of_hidden_states(name):
    world, found = POMDPWorld("two tigers", tiger()), []
    for seed in (None, *SEEDS):
        prior = DirichletPOMDP.structured(tiger(seed))
        belief = POMDPFilter(tiger(seed)) if name == "pomcp" else ParticleBAPOMDP(prior, 20)
        found.append(actions(make(name, **HIDDEN[name]), belief, world, 5))
    assert found[1:] == found[:-1]


# Continuous ----------------------------------------------------------------------------------------------------------


def test_gprl():
    """Two actions and their copies, which are elsewhere by the noise."""
    rng = default_rng(0)
    s, a = rng.uniform(-1.0, 1.0, 20), rng.integers(4, size=20)
    log = [b.Transition([x], int(u), 0.0, [x + 0.4 * (-1.0) ** u]) for x, u in zip(s, a, strict=True)]
    found = []
    for seed in (None, *SEEDS):
        moves = np.array([-0.4, 0.4, -0.4, 0.4]) * noise(seed, 4)
        how = {"noise": 0.03, "covariance": Gaussian(scale=0.4), "gamma": 0.8, "fit": False, "fit_dynamics": False}
        solver = make("gprl", support=np.linspace(-1.0, 1.0, 7), actions=moves, target=[0.6], width=0.3, **how)
        found.append(solver.solve(log, default_rng(0)).policy.tolist())
    assert found[1:] == found[:-1]
    assert set(found[0]) == {0, 1}
