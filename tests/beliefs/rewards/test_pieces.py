"""Parts of the inverse methods against plain loops, on a problem in which nothing is equal, zero or one.

Four states, one of which ends an episode, three actions, features of pairs, rewards of both signs, a first state that
is drawn. Samplers are written down again and get the same random numbers.
"""

from functools import cache

import numpy as np
import pytest
from numpy.random import default_rng
from plain_inverse import optimal_q
from scipy import sparse, special

import bayesrl as b
from bayesrl.beliefs.chain import diagnose
from bayesrl.beliefs.crp import draw_clustering
from bayesrl.beliefs.rewards import _on_lattice, bnirl, dpm_birl, multitask_birl
from bayesrl.beliefs.rewards import linear_rewards as _rewards
from bayesrl.beliefs.rewards._clustered import gibbs
from bayesrl.beliefs.rewards._policy_optimality import log_sums, losses
from bayesrl.beliefs.rewards.likelihood import Counts, log_likelihood, log_softmax, slope
from bayesrl.beliefs.rewards.linear_rewards import LinearRewards
from bayesrl.checks import frozen
from bayesrl.errors import BayesRLError, NotConverged
from bayesrl.inverse import (
    BIRL,
    BNIRL,
    DPMBIRL,
    EMIRL,
    FinitePrior,
    GaussianPrior,
    ModifiedBIRL,
    MultitaskBIRL,
    UniformPrior,
    _ascent,
    demonstrate,
    em_irl,
    langevin,
    map_birl,
    value_loss,
)
from bayesrl.inverse import boltzmann as _boltzmann
from bayesrl.parameters import unchecked

S, A, D, GAMMA = 4, 3, 2, 0.83
RNG = default_rng(17)
P = RNG.dirichlet(np.ones(S), (S, A))
P[0, 1, 2] = P[1, 2, 0] = P[1, 2, 3] = 0.0
P /= P.sum(axis=2, keepdims=True)
START = np.array([0.2, 0.5, 0.3, 0.0])
PHI = RNG.normal(size=(S, A, D))
END = 3
LIVE = np.array([1.0, 1.0, 1.0, 0.0])
PAID = PHI * LIVE[:, None, None]
MOVES = P * LIVE[:, None, None]
MDP = b.TabularMDP.from_dense(P, np.zeros((S, A)), GAMMA, START, [END])
LISTED = b.TabularMDP.from_sparse(sparse.csr_array(P.reshape(S * A, S)), np.zeros((S, A)), GAMMA, START, [END])
PAIRS = [(0, 2), (1, 0), (2, 1), (0, 2), (1, 1), (2, 2), (0, 0)]
LOGS = [[(0, 2), (1, 0)], [(2, 1)], [(1, 1), (2, 2), (0, 0), (0, 2)]]
LIST = FinitePrior([[0.7, -0.4], [-0.3, 1.1], [0.2, 0.5], [1.3, 0.9]], [0.2, 0.4, 0.3, 0.1])


def q_of(w):
    """Optimal action values of weights, by value iteration."""
    return cached_q(tuple(w))


@cache
def cached_q(w):
    return optimal_q(MOVES, PAID @ w, GAMMA)


def of_pairs(R):
    """Rewards (S, A) as those of all transitions."""
    return np.repeat(R[:, :, None], S, axis=2)


def log_p(w, c):
    return special.log_softmax(c * q_of(np.asarray(w)), axis=1)


def taken_of(pairs):
    n = np.zeros((S, A))
    for s, a in pairs:
        n[s, a] += 1.0
    return n


def index(weights, u):
    """The first place at which the sum of the weights is above the share u of their total."""
    below = 0.0
    for j, w in enumerate(weights):
        below += w
        if below > u * sum(weights):
            return j
    raise AssertionError


# Linear rewards ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mdp", [MDP, LISTED], ids=["flat", "listed"])
@pytest.mark.parametrize("dense", [4, 3])
def test_linear_rewards(mdp, dense, monkeypatch):
    """Matrices, maps and adjoints of a policy, as dense and as sparse matrices."""
    monkeypatch.setattr(_rewards, "DENSE", dense)
    rewards, w, pi, rng = (
        LinearRewards.of("test", mdp, PHI),
        np.array([0.6, -1.4]),
        np.array([2, 0, 1, 1]),
        default_rng(0),
    )
    assert sparse.issparse(rewards.P) == (dense == 3)
    np.testing.assert_allclose(rewards.P.toarray() if dense == 3 else rewards.P, MOVES.reshape(S * A, S))
    np.testing.assert_array_equal(rewards.features, PAID)
    inverse = np.linalg.inv(np.eye(S) - GAMMA * MOVES[np.arange(S), pi])
    v, y = rng.normal(size=S), rng.normal(size=(S, A))
    np.testing.assert_allclose(rewards.factors(pi).solve(v), inverse @ v)
    np.testing.assert_allclose(rewards.factors(pi).transposed(v), v @ inverse)
    M = PAID + GAMMA * np.einsum("say,yd->sad", MOVES, inverse @ PAID[np.arange(S), pi])
    np.testing.assert_allclose(rewards.policy_map(pi), M)
    np.testing.assert_allclose(rewards.adjoint(pi, y), np.einsum("sa,sad->d", y, M))
    np.testing.assert_allclose(rewards.largest, np.abs(PAID).sum(axis=2).max() / (1.0 - GAMMA))
    np.testing.assert_allclose(rewards.table(w), PAID @ w)
    np.testing.assert_allclose(rewards.solve(w).q, q_of(w), atol=1e-10)
    np.testing.assert_allclose(rewards.model(w).dense()[1], of_pairs(PAID @ w))
    np.testing.assert_allclose(b.solve(rewards.model(w)).q, q_of(w), atol=1e-7)
    np.testing.assert_allclose(rewards.model(w).outcomes.otherwise, (PAID @ w)[:, :, None])
    np.testing.assert_array_equal(rewards.model(w).prob, mdp.prob)
    if dense == 4:
        ground, scattered = rewards.ground, np.zeros((S, A, S))
        assert ground.succ.shape == (S, A, S)
        for s, a, k in np.ndindex(ground.succ.shape):
            scattered[s, a, ground.succ[s, a, k]] += ground.prob[s, a, k]
        np.testing.assert_allclose(scattered, GAMMA * MOVES)
        np.testing.assert_array_equal(ground.phi, np.moveaxis(PAID, 2, 0))


def test_features_of_states_are_those_of_their_pairs():
    of_states = RNG.normal(size=(S, D))
    rewards = LinearRewards.of("test", MDP, of_states)
    np.testing.assert_array_equal(rewards.features, np.repeat((of_states * LIVE[:, None])[:, None], A, axis=1))
    np.testing.assert_array_equal(LinearRewards.of("test", MDP, None).table(np.arange(1.0, 5.0))[:, 1], [1, 2, 3, 0])
    few = b.TabularMDP.from_dense(np.eye(3)[[[1, 2], [2, 0], [0, 0]]], np.zeros((3, 2)), 0.9)
    assert LinearRewards.of("test", few, None).ground.succ.tolist() == [[[1], [2]], [[2], [0]], [[0], [0]]]
    for shape in ((S, A, D, 1), (S,), (A, S, D), (S, S, D), (A, D)):
        with pytest.raises(BayesRLError, match=r"'features' must be of shape \(4, d\) or \(4, 3, d\)"):
            LinearRewards.of("test", MDP, np.ones(shape))


@pytest.mark.parametrize("dense", [4, 3])
def test_a_flat_problem(dense, monkeypatch):
    """Every next state is possible and none ends: the matrix of transitions is that of the model."""
    monkeypatch.setattr(_rewards, "DENSE", dense)
    full = 0.5 * P + 0.125
    mdp = b.TabularMDP.from_dense(full, np.zeros((S, A)), GAMMA, START)
    rewards = LinearRewards.of("test", mdp, PHI)
    assert mdp.outcomes.is_flat
    assert sparse.issparse(rewards.P) == (dense == 3)
    np.testing.assert_allclose(rewards.P.toarray() if dense == 3 else rewards.P, full.reshape(S * A, S))
    np.testing.assert_allclose(rewards.model(np.ones(D)).mean_reward, PHI.sum(axis=2))


def test_likelihood_and_slope():
    """Against loops; the gradient of the log posterior against differences; evidence of two kinds of pairs."""
    Q, c, h = RNG.normal(size=(S, A)), 1.7, 1e-6
    n = Counts.of(np.array(PAIRS), A)
    assert n.states.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(n.taken, taken_of(PAIRS)[:3])
    p = special.softmax(c * Q, axis=1)
    np.testing.assert_allclose(log_softmax(Q, c), np.log(p))
    assert log_likelihood(Q, n, c) == pytest.approx(sum(np.log(p[s, a]) for s, a in PAIRS))
    taken = taken_of(PAIRS)
    np.testing.assert_allclose(slope(Q, n, c), c * (taken - taken.sum(axis=1, keepdims=True) * p), atol=1e-12)
    belief = BIRL(MDP, PHI, GaussianPrior(0.3, 0.8), c).update_many(PAIRS)
    w = np.array([0.5, -0.9])
    gradient = [(belief.log_posterior(w + e) - belief.log_posterior(w - e)) / (2 * h) for e in h * np.eye(D)]
    np.testing.assert_allclose(belief.gradient(w), gradient, atol=1e-6)
    expected = (taken * log_p(w, c)).sum() - ((w - 0.3) ** 2).sum() / 1.28 - np.log(2 * np.pi * 0.64)
    assert belief.log_posterior(w) == pytest.approx(expected, abs=1e-8)


# Experts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mdp", [MDP, LISTED], ids=["flat", "listed"])
@pytest.mark.parametrize("rationality", [None, 1.4])
def test_experts_take_the_same_steps_as_a_loop(mdp, rationality):
    """The first state, the action and the next state take one random number each; action 1 is as good as action 2."""
    moves = P.copy()
    moves[:, 2] = moves[:, 1]
    R = np.array([[-0.4, 0.6, 0.6], [0.9, 0.1, 0.1], [-0.7, 0.2, 0.2], [3.0, 2.0, 1.0]])
    problem = type(mdp).from_dense(moves, np.zeros((S, A)), GAMMA, START, [END])
    if mdp is LISTED:
        matrix = sparse.csr_array(moves.reshape(S * A, S))
        problem = type(mdp).from_sparse(matrix, np.zeros((S, A)), GAMMA, START, [END])
    Q = optimal_q(moves * LIVE[:, None, None], R * LIVE[:, None], GAMMA)
    best = np.abs(Q - Q.max(axis=1, keepdims=True)) < 1e-9
    expert = best / best.sum(axis=1, keepdims=True) if rationality is None else special.softmax(rationality * Q, axis=1)
    rng, plain = default_rng(3), []
    for _ in range(12):
        s, steps = index(START, rng.random()), []
        while s != END and len(steps) < 5:
            a = index(expert[s], rng.random())
            steps.append([s, a])
            s = index(moves[s, a], rng.random())
        plain.append(steps)
    found = demonstrate(problem, R, 12, 5, default_rng(3), rationality)
    assert [demo.tolist() for demo in found] == plain
    assert {len(steps) for steps in plain} >= {2, 5}
    assert [demo.shape for demo in demonstrate(problem, R, 1, 1, default_rng(0), 0.4)] == [(1, 2)]


def test_value_loss_of_a_policy_that_is_drawn():
    R, mu = RNG.normal(size=(S, A)), RNG.dirichlet(np.ones(A), S)
    mine = np.einsum("sa,say->sy", mu, MOVES)
    V = np.linalg.solve(np.eye(S) - GAMMA * mine, (mu * R).sum(axis=1) * LIVE)
    best = optimal_q(MOVES, R * LIVE[:, None], GAMMA).max(axis=1)
    assert value_loss(MDP, R, mu) == pytest.approx(START @ (best - V), abs=1e-9)
    with pytest.raises(BayesRLError, match=r"'reward' must be an array of shape \(4,\) or \(4, 3\)"):
        value_loss(MDP, R.T, mu)
    with pytest.raises(BayesRLError, match="value_loss: 'problem' must be one whose episodes end under every"):
        value_loss(b.TabularMDP.from_dense(P, np.zeros(S), 1.0), R, mu)


def test_demonstrations_whose_steps_end():
    """A step that ended an episode in a state that is not terminal went to the added end, and only there."""
    table = {
        s: {a: [(0.5, 1 - s, 0.0, False), (0.5, 1 - s, 1.0, True)] if a else [(1.0, s, 0.0, False)] for a in range(2)}
        for s in range(2)
    }
    mdp = b.TabularMDP.from_gymnasium(table, 0.9)
    columns = {"state": [0, 1], "action": [1, 0], "next_state": [1, 1], "terminated": [True, False]}
    belief = BIRL(mdp).update_many(columns)
    np.testing.assert_array_equal(belief.demonstrations, [(0, 1), (1, 0)])
    del columns["terminated"]
    assert BIRL(mdp).update_many(columns) == belief
    with pytest.raises(BayesRLError, match="another world"):
        BIRL(mdp).update_many(columns | {"terminated": [False, True]})
    with pytest.raises(BayesRLError, match="another world"):
        BIRL(mdp).update_many(columns | {"next_state": [0, 1]})


def test_demonstrations_of_mixed_forms():
    """Pairs, transitions and logs in one sequence; a flat model in which a step has no probability."""
    mdp = b.TabularMDP(MDP.outcomes.flat(), P.reshape(S * A, S), GAMMA)
    mixed = [(0, 1), b.Transition(0, 1, 0.0, 3), [(1, 0), (2, 2)], np.array([[2, 0], [1, 1]])]
    plain = b.TabularMDP.from_dense(0.5 * P + 0.125, np.zeros((S, A)), GAMMA)
    zeros = b.TabularMDP(plain.outcomes, P.reshape(S * A, S), GAMMA)
    assert zeros.outcomes.is_flat
    for problem in (mdp, zeros):
        found = BIRL(problem).update_many(mixed).demonstrations
        assert found.tolist() == [[0, 1], [0, 1], [1, 0], [2, 2], [2, 0], [1, 1]]
        with pytest.raises(BayesRLError, match="another world"):
            BIRL(problem).update(b.Transition(0, 1, 0.0, 2))
        with pytest.raises(BayesRLError, match="another world"):
            BIRL(problem).update_many([b.Transition(0, 0, 0.0, 2), b.Transition(1, 2, 0.0, 0)])


# Beliefs about one reward --------------------------------------------------------------------------------------------


def test_readings_of_a_finite_prior():
    """Posterior, mean, variance, table of rewards, models and draws, by sums over the list."""
    belief = BIRL(MDP, PHI, LIST, 1.9).update_many(PAIRS)
    joint = np.array(LIST.probabilities) * [np.exp((taken_of(PAIRS) * log_p(w, 1.9)).sum()) for w in LIST.weights]
    p = joint / joint.sum()
    mean = p @ LIST.weights
    np.testing.assert_allclose(belief.posterior(), p)
    assert belief.log_evidence() == pytest.approx(np.log(joint.sum()))
    np.testing.assert_allclose(belief.mean(), mean)
    np.testing.assert_allclose(belief.variance(), p @ (LIST.weights - mean) ** 2)
    R = np.array([PAID @ w for w in LIST.weights])
    expected = np.tensordot(p, R, axes=1)
    found, deviation = belief.reward_table()
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(deviation, np.sqrt(np.tensordot(p, (R - expected) ** 2, axes=1)), atol=1e-12)
    np.testing.assert_allclose(belief.mean_mdp().dense()[1], of_pairs(expected), atol=1e-12)
    np.testing.assert_array_equal(belief.apprentice().tolist(), q_of(mean).argmax(axis=1) * (LIVE > 0))
    for model, r in zip(belief.models, R, strict=True):
        np.testing.assert_allclose(model.dense()[1], of_pairs(r))
    rng, same = default_rng(5), default_rng(5)
    for _ in range(20):
        np.testing.assert_array_equal(belief.sample(rng), LIST.weights[index(p, same.random())])
    np.testing.assert_allclose(belief.sample_mdp(rng).dense()[1], of_pairs(R[index(p, same.random())]))
    drawn = belief.refresh(default_rng(6), 30)
    np.testing.assert_array_equal(drawn.draws, LIST.weights[[index(p, u) for u in default_rng(6).random(30)]])
    assert drawn.accepted.tolist() == [0, 0]
    assert np.isnan(drawn.diagnostics().acceptance)
    np.testing.assert_array_equal(drawn.refresh(default_rng(7), 2).draws[:30], drawn.draws)


def test_readings_of_draws():
    draws = RNG.normal(size=(9, D))
    belief = unchecked(BIRL(MDP, PHI), draws=frozen(draws), accepted=frozen(np.array([5, 18])))
    np.testing.assert_allclose(belief.mean(), draws.mean(axis=0))
    np.testing.assert_allclose(belief.variance(), ((draws - draws.mean(axis=0)) ** 2).sum(axis=0) / 9)
    R = np.array([PAID @ w for w in draws])
    np.testing.assert_allclose(belief.reward_table()[0], R.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(belief.reward_table()[1], R.std(axis=0), atol=1e-12)
    assert belief.diagnostics().acceptance == 5 / 18
    np.testing.assert_array_equal(belief.diagnostics().r_hat, diagnose(draws).r_hat)
    np.testing.assert_array_equal(belief.sample(default_rng(2)), draws[default_rng(2).integers(9)])
    one = unchecked(BIRL(MDP, PHI[:, :, :1]), draws=frozen(draws[:, :1]))
    np.testing.assert_allclose(one.reward_table()[1], np.abs(PAID[:, :, 0]) * draws[:, 0].std(), atol=1e-12)


def test_lattices():
    """Their values, where a chain starts, and what is just allowed."""
    belief = BIRL(MDP, PHI, UniformPrior(-0.7, 1.4), step=0.3)
    assert len(belief.lattice.log_prior) == 8
    np.testing.assert_allclose(belief.lattice.weights(np.array([0, 7])), [-0.7, 1.4])
    np.testing.assert_allclose(belief.lattice.log_prior, -np.log(2.1))
    assert belief.at.tolist() == [3, 3]
    assert BIRL(MDP, PHI, UniformPrior(-0.7, 1.4), step=0.32).at.tolist() == [3, 3]  # of 7 values
    assert BIRL(MDP, PHI, UniformPrior(-0.7, 1.4), step=0.3, initial=[-0.7, 1.4]).at.tolist() == [0, 7]
    for initial in ([-1.0, 0.2], [0.2, 1.7]):
        with pytest.raises(BayesRLError, match=r"'initial' must be inside the box from -0.7 to 1.4"):
            BIRL(MDP, PHI, UniformPrior(-0.7, 1.4), step=0.3, initial=initial)
    with pytest.raises(BayesRLError, match=r"'initial' must be on the lattice -0.7 "):
        BIRL(MDP, PHI, UniformPrior(-0.7, 1.4), step=0.3, initial=[0.2, 0.21])
    assert len(BIRL(MDP, PHI, step=2.0).lattice.log_prior) == 2
    cut = BIRL(MDP, PHI, GaussianPrior(0.2, 0.6, -1.0, 0.5), step=0.5)
    z = np.exp(-((np.array([-1.0, -0.5, 0.0, 0.5]) - 0.2) ** 2) / 0.72)
    np.testing.assert_allclose(np.diff(cut.lattice.log_prior), np.diff(np.log(z)))
    for prior in (GaussianPrior(), GaussianPrior(low=-1.0), GaussianPrior(high=1.0), LIST):
        assert BIRL(MDP, PHI, prior).at.tolist() == [0, 0]  # no box, no lattice
        assert BIRL(MDP, PHI, prior).lattice is None


def test_the_finest_lattice(monkeypatch):
    monkeypatch.setattr(_on_lattice, "MOST_POINTS", 5)
    assert len(BIRL(MDP, PHI, step=0.5).lattice.log_prior) == 5
    with pytest.raises(BayesRLError, match=r"'step' must be at most the width of the box, 2, and at least 0.5"):
        BIRL(MDP, PHI, step=0.49)


def test_relevances_of_pairs():
    """Features of pairs, of both signs: means over the actions of their sizes; similarity by means of features."""
    belief = ModifiedBIRL(MDP, PHI, length=1.3).update_many(PAIRS)
    phi = PAID.mean(axis=1)
    rho = np.zeros(S)
    for s in range(S):
        for t, _ in PAIRS:
            rho[s] += np.exp(-((phi[s] - phi[t]) ** 2).sum() / (2 * 1.3**2))
    np.testing.assert_allclose(belief.relevances(), rho @ np.abs(PAID).mean(axis=1))
    np.testing.assert_array_equal(ModifiedBIRL(MDP, PHI, relevance=[0.3, 1.2]).relevances(), [0.3, 1.2])


@pytest.mark.parametrize(
    ("module", "belief"),
    [
        (_on_lattice, BIRL(MDP, PHI, step=1.0).update_many(PAIRS)),
        (bnirl, BNIRL(MDP).update_many(PAIRS)),
        (dpm_birl, DPMBIRL(MDP, PHI, LIST).update_many(LOGS)),
        (multitask_birl, MultitaskBIRL(MDP, PHI, moves=1).update_many(LOGS)),
    ],
    ids=["lattice", "bnirl", "dpm", "multitask"],
)
def test_chains_are_judged_when_they_have_enough_draws(module, belief, monkeypatch):
    """Draws, or proposals on a lattice, two for each sweep. Here six are enough."""
    judged = []
    monkeypatch.setattr(module, "ENOUGH", 6)
    monkeypatch.setattr(module, "warn_if_poor", lambda owner, found: judged.append((owner, found.draws)))
    n = 3 if module is _on_lattice else 6
    new = belief.refresh(default_rng(0), n - 1)
    assert judged == []
    new.refresh(default_rng(0))
    assert judged == [(f"{type(belief).__name__}.refresh", n)]


# Clusters ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("c", "shift"), [(0.7, 0.0), (30.0, 0.0), (0.7, -900.0)])
def test_collapsed_gibbs_sampling(c, shift):
    """Every conditional distribution by products over the members, with the same random numbers; two calls.

    A factor of all likelihoods of a thing changes nothing. It may be as small as exp(-900), and single ones smaller.
    """
    rng, N, G = default_rng(8), 5, 3
    L, u = rng.uniform(0.05, 0.9, (N, G)), np.array([0.5, 0.2, 0.3])
    log_l = np.log(L) + shift
    if shift:
        L[3, 2], log_l[3, 2] = 0.0, -2000.0
    z, labels, goals = np.array([1, -1, 0, 1, -1]), np.zeros((4, N), np.int64), np.zeros((4, N), np.int64)
    ours, plain = default_rng(9), default_rng(9)
    seats = z.tolist()
    for _ in range(2):
        gibbs(ours, z, frozen(log_l), u, c, labels, goals)
        for t in range(4):
            for i in range(N):
                seats[i] = -1
                weights, new = [], c
                for j in range(N + 1):
                    members = [k for k in range(N) if seats[k] == j]
                    p = u * L[members].prod(axis=0)
                    n, new = (len(members), new) if members else (new, 0.0)  # the first free place is the new one
                    weights.append(n * (p / p.sum()) @ L[i])
                seats[i] = index(weights, plain.random())
            first = list(dict.fromkeys(seats))
            goal = {}
            for j in first:
                p = u * L[[k for k in range(N) if seats[k] == j]].prod(axis=0)
                goal[j] = index(p, plain.random())
            assert labels[t].tolist() == [first.index(j) for j in seats]
            assert goals[t].tolist() == [goal[j] for j in seats]
        seats = labels[-1].tolist()
        assert z.tolist() == seats


def test_sub_goals():
    """The likelihood of goals, and their posterior given two drawn partitions, one of them twice."""
    belief = BNIRL(MDP, 1.6, 0.9, candidates=[2, 0]).update_many(PAIRS[:4])
    L = np.zeros((4, 2))
    for j, g in enumerate((0, 2)):
        R = np.zeros((S, A))
        R[g] = 1.0
        p = special.softmax(1.6 * optimal_q(MOVES, R, GAMMA), axis=1)
        L[:, j] = [p[s, a] for s, a in PAIRS[:4]]
    np.testing.assert_allclose(belief.likelihood(), L)
    z = np.array([[0, 1, 0, 2], [0, 0, 1, 1], [0, 1, 0, 2]])
    goals = np.array([[0, 2, 0, 0], [2, 2, 0, 0], [2, 2, 2, 0]])
    belief = unchecked(belief, assignments=frozen(z), goals=frozen(goals))
    exact = np.zeros((4, S))
    for labels in z:
        for i in range(4):
            p = L[labels == labels[i]].prod(axis=0)
            exact[i, [0, 2]] += p / p.sum() / 3
    np.testing.assert_allclose(belief.goal_posterior(), exact)
    columns = np.array([[3, 2, 1, 2, 1], [2, 2, 2, 2, 2], [3, 2, 1, 2, 1]], float)
    np.testing.assert_array_equal(belief.diagnostics().r_hat, diagnose(columns).r_hat)
    np.testing.assert_array_equal(belief._columns("x"), columns)
    assert belief.n_clusters() == pytest.approx(8 / 3)
    np.testing.assert_allclose(belief.co_assignment()[0], [1.0, 1 / 3, 2 / 3, 0.0])
    i = int(default_rng(4).integers(3))
    found = belief.sample(default_rng(4))
    assert (found.assignments.tolist(), found.goals.tolist()) == (z[i].tolist(), goals[i].tolist())


def plain_fit(w, c, logs):
    return np.array([(taken_of(pairs) * log_p(w, c)).sum() for pairs in logs])


def plain_walk(target, w, tau, moves, rng):
    """Langevin steps, and how many of them were accepted."""
    accepted = 0
    for _ in range(moves):
        new, log_ratio = langevin(target, w, tau, rng.standard_normal(len(w)))
        if np.log(rng.random()) < log_ratio:
            w, accepted = new, accepted + 1
    return w, accepted


@pytest.mark.parametrize("step", [0.4, None])
def test_clusters_of_experts_move_as_written_down(step):
    """Both parts of three sweeps, the warm-up, and a trajectory that comes later, with the same random numbers."""
    c, concentration, inner, moves, prior = 1.5, 0.9, 3, 2 if step else 1, GaussianPrior(0.1, 0.8, -2.0, 2.0)
    belief = DPMBIRL(MDP, PHI, prior, c, concentration, inner, step, moves)
    if step is None:
        belief = belief.update_many(LOGS[:2])
    else:
        belief = belief.update_many(LOGS[:2]).refresh(default_rng(1), 2).update(LOGS[2])
    rng, N = default_rng(10), belief.n_trajectories
    known = [j for j in belief.labels.tolist() if j >= 0]
    labels = draw_clustering(N, concentration, rng, np.array(known, np.int64)).tolist()
    weights = []
    for j in range(max(labels) + 1):
        i = labels.index(j)
        weights.append(belief.weights[i] if i < len(known) else prior.draw(D, rng))
    fits = [plain_fit(w, c, LOGS[:N]) for w in weights]
    tau, warm, assignments, samples, accepted = step or 0.1, 0 if step else 30, [], [], 0
    for t in range(warm + 3):
        for i in range(N):
            for _ in range(inner):
                sizes = [sum(labels[k] == j for k in range(N) if k != i) for j in range(len(weights))]
                j = index([*sizes, concentration], rng.random())
                w = weights[j] if j < len(weights) else prior.draw(D, rng)
                fit = fits[j] if j < len(weights) else plain_fit(w, c, LOGS[:N])
                if np.log(rng.random()) < fit[i] - fits[labels[i]][i]:
                    if j == len(weights):
                        weights, fits = [*weights, w], [*fits, fit]
                    labels[i] = j
        used = sorted(set(labels))
        weights, labels, taken = [weights[j] for j in used], [used.index(j) for j in labels], 0
        for j in range(len(used)):
            target = belief.cluster([i for i in range(N) if labels[i] == j])
            weights[j], more = plain_walk(target, weights[j], tau, moves, rng)
            taken += more
        fits = [plain_fit(w, c, LOGS[:N]) for w in weights]
        if t < warm:
            tau *= np.exp((taken / (moves * len(used)) - 0.574) / np.sqrt(t + 1.0))
        else:
            first = list(dict.fromkeys(labels))
            assignments.append([first.index(j) for j in labels])
            samples.append([weights[j] for j in labels])
            accepted += np.array([taken, moves * len(used)])
    found = belief.refresh(default_rng(10), 3)
    np.testing.assert_array_equal(found.assignments, assignments)
    np.testing.assert_allclose(found.samples, samples, rtol=1e-7)
    np.testing.assert_array_equal(found.accepted, accepted)
    assert found.tau == pytest.approx(tau)
    np.testing.assert_array_equal(found.labels, assignments[-1])
    np.testing.assert_array_equal(found.weights, found.samples[-1])


@pytest.mark.parametrize("prior", [LIST, GaussianPrior(0.1, 0.8)], ids=["list", "density"])
def test_a_new_trajectory(prior):
    """The mean over draws and clusters by loops: n L(w) for each old reward, concentration L(w) for a fresh one."""
    w = LIST.weights
    samples = np.array([[w[0], w[1], w[1]], [w[2], w[2], w[2]]])
    belief = DPMBIRL(MDP, PHI, prior, 1.5, 0.6).update_many(LOGS)
    belief = unchecked(belief, samples=frozen(samples), assignments=frozen(np.array([[0, 1, 1], [0, 0, 0]])))
    rng, demo, top, mass = default_rng(11), [(0, 1), (2, 0), (0, 1)], np.zeros(D), 0.0
    for draw in samples:
        terms = [(1.0, one) for one in draw]
        if prior is LIST:
            terms += [(0.6 * p, one) for p, one in zip(LIST.probabilities, w, strict=True)]
        else:
            terms.append((0.6, prior.draw(D, rng)))
        for share, one in terms:
            k = share * np.exp((taken_of(demo) * log_p(one, 1.5)).sum())
            top, mass = top + k * one, mass + k
    np.testing.assert_allclose(belief.new_trajectory(demo, default_rng(11)), top / mass)
    np.testing.assert_array_equal(belief.sample(default_rng(3)), samples[default_rng(3).integers(2)])
    np.testing.assert_allclose(belief.means(), samples.mean(axis=0))
    np.testing.assert_array_equal(belief.taken, [taken_of(pairs).ravel() for pairs in LOGS])
    np.testing.assert_allclose(belief.log_likelihoods(w[3]), plain_fit(w[3], 1.5, LOGS))
    if prior is LIST:
        empty = unchecked(DPMBIRL(MDP, PHI, LIST, 1.5, 0.6), samples=frozen(np.zeros((3, 0, D))))
        L = [np.exp((taken_of(demo) * log_p(one, 1.5)).sum()) for one in w] * np.array(LIST.probabilities)
        np.testing.assert_allclose(empty.new_trajectory(demo, default_rng(0)), L @ w / L.sum())


def test_diagnostics_of_clusters():
    """Of the number of clusters, the size of each one's cluster, and all weights; the share of accepted steps."""
    rng = default_rng(12)
    z = np.array([[0, 0, 1], [0, 1, 2], [0, 0, 0], [0, 1, 1], [0, 1, 0]])
    samples = rng.normal(size=(5, 3, D))
    belief = DPMBIRL(MDP, PHI, UniformPrior(), 1.5).update_many(LOGS)
    belief = unchecked(
        belief, samples=frozen(samples), assignments=frozen(z), accepted=frozen(np.array([3, 8], np.int64))
    )
    sizes = [[max(row) + 1, *(row.count(j) for j in row)] for row in z.tolist()]
    columns = np.column_stack([sizes, samples.reshape(5, -1)])
    expected, found = diagnose(columns, 3 / 8), belief.diagnostics()
    np.testing.assert_allclose(found.r_hat, expected.r_hat)
    np.testing.assert_allclose(found.effective_sample_size, expected.effective_sample_size)
    assert (found.acceptance, found.draws) == (3 / 8, 5)
    assert np.isnan(unchecked(belief, accepted=frozen(np.zeros(2, np.int64))).diagnostics().acceptance)


# Several tasks -------------------------------------------------------------------------------------------------------


def test_tasks_with_densities_move_as_written_down():
    """Three sweeps, and two after a further task, with the same random numbers."""
    c, moves, tau = 1.5, 2, 0.4
    priors, hyper = (UniformPrior(-1.5, 1.0), GaussianPrior(0.4, 0.5), GaussianPrior(-0.2, 0.9)), [0.2, 0.5, 0.3]
    belief = MultitaskBIRL(MDP, PHI, priors, hyper, c, step=tau, moves=moves).update_many(LOGS[:2])
    theta, weights = 1, []
    for sweeps, logs in ((3, LOGS[:2]), (2, LOGS)):
        belief = belief if sweeps == 3 else belief.update(LOGS[2])
        ours, rng, M = default_rng(sweeps), default_rng(sweeps), len(logs)
        weights += [priors[theta].draw(D, rng) for _ in range(M - len(weights))]
        thetas, samples, accepted = [], [], 0
        for _ in range(sweeps):
            for m in range(M):
                other = priors[theta].draw(D, rng)
                gain = plain_fit(other, c, logs)[m] - plain_fit(weights[m], c, logs)[m]
                weights[m] = other if np.log(rng.random()) < gain else weights[m]
                target = DPMBIRL(MDP, PHI, priors[theta], c).update_many(logs).cluster([m])
                weights[m], more = plain_walk(target, weights[m], tau, moves, rng)
                accepted += more
            joint = [h * np.exp(sum(q.log_density(w) for w in weights)) for h, q in zip(hyper, priors, strict=True)]
            theta = index(joint, rng.random())
            thetas.append(theta)
            samples.append(list(weights))
        belief = belief.refresh(ours, sweeps)
        assert belief.thetas.tolist() == thetas
        np.testing.assert_allclose(belief.samples, samples, rtol=1e-7)
        assert belief.accepted.tolist() == [accepted, sweeps * M * moves]
        assert belief.theta == theta
    np.testing.assert_allclose(belief.hyper_posterior(), np.bincount(thetas, minlength=3) / 2)
    expected = diagnose(np.column_stack([thetas, np.reshape(samples, (2, -1))]), accepted / (2 * 3 * moves))
    np.testing.assert_allclose(belief.diagnostics().r_hat, expected.r_hat)
    assert belief.diagnostics().acceptance == expected.acceptance
    i = int(default_rng(4).integers(2))
    assert belief.sample(default_rng(4)).theta == thetas[i]
    np.testing.assert_array_equal(belief.sample(default_rng(4)).weights, belief.samples[i])


def test_exact_draws_of_tasks():
    """The prior, then the reward of each task, with the same random numbers; three lists of unequal lengths."""
    priors = (FinitePrior(LIST.weights[:2], [0.3, 0.7]), LIST, FinitePrior(LIST.weights[1:], [0.5, 0.1, 0.4]))
    belief = MultitaskBIRL(MDP, PHI, priors, [0.5, 0.2, 0.3], 1.5).update_many(LOGS)
    joint, each = [], []
    for h, prior in zip([0.5, 0.2, 0.3], priors, strict=True):
        L = np.exp([plain_fit(w, 1.5, LOGS) for w in prior.weights]).T * np.array(prior.probabilities)
        joint.append(h * L.sum(axis=1).prod())
        each.append(L)
    np.testing.assert_allclose(belief.hyper_posterior(), np.array(joint) / sum(joint))
    rng, ours = default_rng(13), default_rng(13)
    for _ in range(15):
        theta = index(joint, rng.random())
        places = [index(row, rng.random()) for row in each[theta]]
        found = belief.sample(ours)
        assert found.theta == theta
        np.testing.assert_array_equal(found.weights, priors[theta].weights[places])


def test_losses_of_drawn_policies():
    """Under every reward of a list; sums of exp(-rate loss), with the same random numbers; the evidence by urns."""
    rewards, alpha, rate = LinearRewards.of("test", MDP, PHI), 0.7, 1.3
    taken = np.array([taken_of(pairs).ravel() for pairs in LOGS])
    best = np.array([q_of(w).max(axis=1) for w in LIST.weights])

    def loss(policy, j):
        mine = np.einsum("sa,say->sy", policy, MOVES)
        V = np.linalg.solve(np.eye(S) - GAMMA * mine, (policy * (PAID @ LIST.weights[j])).sum(axis=1))
        return max((best[j] - V).max(), 0.0)

    rng, sums = default_rng(14), np.zeros((4, 4))
    for _ in range(3):
        rows = rng.standard_gamma(alpha + np.concatenate([taken, np.zeros((1, S * A))]).reshape(4, S, A))
        for m in range(4):
            policy = rows[m] / rows[m].sum(axis=1, keepdims=True)
            np.testing.assert_allclose(losses(rewards, LIST, best, policy), [loss(policy, j) for j in range(4)])
            sums[m] += [np.exp(-rate * loss(policy, j)) for j in range(4)]
    found = log_sums(rewards, LIST, taken, alpha, rate, 3, default_rng(14))
    np.testing.assert_allclose(np.exp(found), sums, rtol=1e-8)
    belief = MultitaskBIRL(MDP, PHI, (LIST,), model="policy", optimality=rate, alpha=alpha).update_many(LOGS)
    belief = belief.refresh(default_rng(14), 3)
    np.testing.assert_allclose(np.exp(belief.sums), sums, rtol=1e-8)
    L = np.zeros((3, 4))
    for m, pairs in enumerate(LOGS):
        n, p = np.full((S, A), alpha), 1.0
        for s, a in pairs:
            p *= n[s, a] / n[s].sum()
            n[s, a] += 1.0
        L[m] = p * sums[m] / sums[3]
    joint = L * np.array(LIST.probabilities)
    assert belief.log_evidence() == pytest.approx(np.log(joint.sum(axis=1)).sum())
    np.testing.assert_allclose(belief.means(), joint @ LIST.weights / joint.sum(axis=1, keepdims=True))


# Ascents -------------------------------------------------------------------------------------------------------------


def test_starts_of_an_ascent(monkeypatch):
    """It goes on while a start gains more than 1e-9 of the value, five times at most; the trace never falls."""
    runs, called = [], []

    def climb(f, w, low, high, steps):
        called.append((float(w[0]), low, high, steps))
        return w + 1.0, runs[len(called) - 1]

    monkeypatch.setattr(_ascent, "_climb", climb)
    for values, trace in (
        ([[-7.0, -5.0, -6.0, -3.0], [-2.0], [-2.0]], [-8.0, -7.0, -5.0, -5.0, -3.0, -2.0]),
        ([[-7.0], [-7.0 + 6e-9]], [-8.0, -7.0, -7.0 + 6e-9]),
        ([[-7.0], [-7.0 + 8e-9], [-7.0 + 8e-9]], [-8.0, -7.0, -7.0 + 8e-9]),
        ([[-9.0]], [-8.0]),
        ([[-7.0], [-6.0], [-5.0], [-4.0], [-3.0], [-2.0]], [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0]),
    ):
        runs, called[:] = values, []
        w, found = _ascent.ascend(lambda x: (-8.0, x), np.array([0.5]), -1.0, 2.0, 40)
        assert found == trace
        assert called == [(0.5 + i, -1.0, 2.0, 40) for i in range(min(len(values), 5))]
        assert w.tolist() == [0.5 + len(called)]
    called.clear()
    _ascent.ascend(lambda x: (-8.0, x), np.array([0.5]), -1.0, 2.0, 40, 2)
    assert len(called) == 2


def test_one_run_of_an_ascent():
    """A quadratic with its maximum outside of the box, and inside; a run of one step; the best point is returned."""
    H, top, seen = np.array([[2.0, 0.7], [0.7, 1.1]]), np.array([0.4, 1.9]), []

    def f(x):
        seen.append(x.copy())
        return float(-0.5 * (x - top) @ H @ (x - top)) - 3.0, -H @ (x - top)

    w, values = _ascent._climb(f, np.array([-0.8, 0.3]), -1.0, 2.5, 60)
    np.testing.assert_allclose(w, top, atol=1e-6)
    assert values[-1] == pytest.approx(-3.0) == max(values)
    w, values = _ascent._climb(f, np.array([-0.8, 0.3]), -1.0, 1.2, 60)
    np.testing.assert_allclose(w, [0.4 + 0.7 * 0.7 / 2.0, 1.2], atol=1e-6)
    assert np.abs(seen).max() < 2.5 + 1e-9
    seen.clear()
    w, values = _ascent._climb(f, np.array([-0.8, 0.3]), -1.0, 1.2, 1)
    assert len(values) == 2
    assert values[1] == max(f(x)[0] for x in list(seen)) == f(w)[0]
    assert np.min(seen) >= -1.0
    assert np.max(seen) <= 1.2


# EM ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("totals", "trace"),
    [
        ([-9.0, -5.0, -4.5, -1.0, 0.0], [-9.0, -5.0, -4.5]),  # a gain of tol is the last
        ([-9.0, -5.0, -4.4, -3.0, -2.0, -1.0], [-9.0, -5.0, -4.4, -3.0, -2.0]),  # four iterations
        ([-9.0, -5.0, -6.0, -1.0], [-9.0, -5.0]),  # what falls is not kept
        ([-9.0, -9.0, -1.0], [-9.0]),
    ],
)
def test_when_em_stops(totals, trace):
    """A mixture with prescribed likelihoods: the trace, and the kinds and shares that belong to its end."""

    class Mixture:
        def __init__(self):
            self.n = -1

        def start(self, K, rng):
            return np.zeros((K, D))

        def climbed(self, w, z):
            return w + z[0]

        def state(self, w, rho):
            self.n += 1
            joint = np.log([[0.2 + 0.1 * self.n, 0.3], [0.1, 0.4]])
            return em_irl.State(w, rho, joint, totals[self.n])

    found = EMIRL(clusters=2, iterations=4, tol=0.5)._run(Mixture(), default_rng(0))
    assert found.trace.tolist() == trace
    assert found.log_likelihood == trace[-1]
    n = len(trace) - 1
    z = [[[0.2 + 0.1 * i, 0.3], [0.1, 0.4]] / np.array([[0.5 + 0.1 * i], [0.5]]) for i in range(n + 1)]
    np.testing.assert_allclose(found.responsibilities, z[n])
    np.testing.assert_allclose(found.mixing, z[n - 1].mean(axis=0) if n else [0.5, 0.5])
    climbed = np.sum([x[0] for x in z[:n]], axis=0) if n else np.zeros(2)
    np.testing.assert_allclose(found.weights, np.repeat(climbed, D).reshape(2, D))


def test_mixtures():
    """Counts, likelihoods, joint probabilities and starts: kinds are fitted to trajectories in turn."""
    belief = DPMBIRL(MDP, PHI, UniformPrior(-1.2, 0.9), 1.4).update_many(LOGS)
    backup = _boltzmann.BoltzmannBackup("test", belief.rewards, 1.4)
    mixture = em_irl.MixtureOfExperts(backup, belief.trajectories, belief.reward_prior, 6)
    assert mixture.states.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(mixture.taken, [taken_of(pairs)[:3] for pairs in LOGS])
    w, rho = np.array([[0.3, -0.6], [-0.5, 0.2]]), np.array([0.35, 0.65])
    log_l = np.zeros((3, 2))
    for k in range(2):
        Q = np.zeros((S, A))
        for _ in range(400):
            Q = PAID @ w[k] + GAMMA * MOVES @ (special.softmax(1.4 * Q, axis=1) * Q).sum(axis=1)
        log_l[:, k] = [(taken_of(pairs) * special.log_softmax(1.4 * Q, axis=1)).sum() for pairs in LOGS]
        np.testing.assert_allclose(mixture.log_likelihoods(w[k]), log_l[:, k])
    state = mixture.state(w, rho)
    np.testing.assert_allclose(state.joint, log_l + np.log(rho))
    assert state.total == pytest.approx(np.log(np.exp(log_l) @ rho).sum())
    for K in (2, 3, 7):
        rng, given = default_rng(K), []
        mixture.climbed = lambda w, z, given=given: given.append((w.tolist(), z.tolist())) or w
        found = mixture.start(K, default_rng(K))
        own = np.concatenate([rng.permutation(3) for _ in range({2: 1, 3: 1, 7: 3}[K])])[:K]
        first = [rng.uniform(-1.2, 0.9, D).tolist() for _ in range(K)]
        assert found.tolist() == first
        assert given == [(x, np.eye(3)[i].tolist()) for x, i in zip(first, own, strict=True)]


def test_what_an_m_step_climbs(monkeypatch):
    """The sum of z_i ln L_i in the box of the prior; the best entry of a list; only demonstrated states are read."""
    logs = [[(0, 2)], [(2, 2), (0, 2), (2, 1)]]
    belief = DPMBIRL(MDP, PHI, UniformPrior(-1.2, 0.9), 1.4).update_many(logs)
    backup, z, w = _boltzmann.BoltzmannBackup("test", belief.rewards, 1.4), np.array([0.3, 0.9]), np.array([0.2, -0.7])
    mixture = em_irl.MixtureOfExperts(backup, belief.trajectories, belief.reward_prior, 6)
    assert mixture.states.tolist() == [0, 2]
    called = []
    monkeypatch.setattr(em_irl, "ascend", lambda f, *rest: called.append((f(w), rest)) or (w + 1.0, [0.0]))
    np.testing.assert_array_equal(mixture.climbed(w, z), w + 1.0)
    (value, gradient), rest = called[0]
    assert value == pytest.approx(z @ mixture.log_likelihoods(w))
    h = 1e-5 * np.eye(D)
    slopes = [(z @ (mixture.log_likelihoods(w + e) - mixture.log_likelihoods(w - e))) / 2e-5 for e in h]
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)
    assert (rest[0].tolist(), rest[1:]) == (w.tolist(), (-1.2, 0.9, 6, 1))
    listed = em_irl.MixtureOfExperts(backup, belief.trajectories, LIST, 6)
    for z in (np.array([1.0, 0.1]), np.array([0.0, 1.0])):
        best = np.argmax([z @ mixture.log_likelihoods(x) for x in LIST.weights])
        np.testing.assert_array_equal(listed.climbed(w, z), LIST.weights[best])
    goals = BNIRL(MDP).update_many([(0, 2), (2, 2), (0, 1)])
    assert goals.candidate_states().tolist() == [0, 2]
    first = goals.refresh(default_rng(0), 2)
    more = first.refresh(default_rng(1), 3)
    assert more.goals.shape == more.assignments.shape == (5, 3)
    np.testing.assert_array_equal(more.goals[:2], first.goals)
    assert set(np.unique(more.goals)) == {0, 2}


HUGE = [0.0, 1e150]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: BIRL(MDP, PHI).update_many(PAIRS).log_likelihood(HUGE), "weights"),
        (lambda: BIRL(MDP, PHI).update_many(PAIRS).gradient(HUGE), "weights"),
        (lambda: BIRL(MDP, PHI).log_prior(HUGE), "weights"),
        (lambda: BIRL(MDP, PHI, initial=HUGE), "initial"),
        (lambda: DPMBIRL(MDP, PHI).update_many(LOGS).log_likelihoods(HUGE), "weights"),
        (lambda: DPMBIRL(MDP, PHI).update_many(LOGS).cluster([0]).log_posterior(HUGE), "weights"),
        (lambda: langevin(DPMBIRL(MDP, PHI).update_many(LOGS).cluster([0]), HUGE, 0.1, [0.0, 0.0]), "weights"),
        (lambda: langevin(DPMBIRL(MDP, PHI).update_many(LOGS).cluster([0]), [0.0, 0.0], 0.1, HUGE), "eps"),
        (lambda: b.inverse.boltzmann_q(MDP, HUGE, 1.0, PHI), "weights"),
        (lambda: b.inverse.boltzmann_q(MDP, [0.0, 0.0], 1e150, PHI), "rationality"),
        (lambda: b.inverse.boltzmann_log_likelihood(MDP, [0.0, 0.0], 1e150, PAIRS, PHI), "rationality"),
    ],
)
def test_huge_numbers_are_refused(call, name):
    with pytest.raises(BayesRLError, match=f"'{name}' must be"):
        call()


def test_the_best_start_of_em_is_kept(monkeypatch):
    """Starts that do not converge are dropped, unless all are."""
    belief = DPMBIRL(MDP, PHI).update_many(LOGS)

    def solution(total):
        return em_irl.EMSolution(np.zeros((1, D)), np.ones(1), np.ones((3, 1)), total, np.array([total]))

    failed = NotConverged("EMIRL", np.zeros(1), 1.0, "2 backups")
    for outcomes, best in (([-3.0, failed, -1.0, -2.0], -1.0), ([failed, failed], None)):
        left = iter(outcomes)

        def run(self, mixture, rng, left=left):
            x = next(left)
            if isinstance(x, NotConverged):
                raise x
            return solution(x)

        monkeypatch.setattr(EMIRL, "_run", run)
        solver = EMIRL(clusters=1, restarts=len(outcomes))
        if best is None:
            with pytest.raises(NotConverged, match="2 backups"):
                solver.solve(belief, default_rng(0))
        else:
            assert solver.solve(belief, default_rng(0)).log_likelihood == best
        assert next(left, None) is None


@pytest.mark.parametrize("w", [[0.6, -0.8], [0.03, -0.04], [0.0, 0.0]])
def test_some_boltzmann_backups(w):
    """Three of them by hand: Q belongs to the last values, and the change is a share of the largest of these."""
    backup = _boltzmann.BoltzmannBackup("test", LinearRewards.of("test", MDP, PHI), 2.2)
    model = backup.model._replace(r=frozen(backup.rewards.table(np.array(w))))
    V = [np.zeros(S)]
    for _ in range(3):
        Q = PAID @ w + GAMMA * MOVES @ V[-1]
        V.append((special.softmax(2.2 * Q, axis=1) * Q).sum(axis=1))
    found, change = _boltzmann.fixed_point(model, 2.2, 1e-13, 3)
    np.testing.assert_allclose(found, PAID @ w + GAMMA * MOVES @ V[-1], atol=1e-12)
    assert change == pytest.approx(np.abs(V[-1] - V[-2]).max() / (np.abs(V[-1]).max() or 1.0))
    rough, change = _boltzmann.fixed_point(model, 2.2, 10.0, 3)  # the first change is 1
    np.testing.assert_allclose(rough, PAID @ w + GAMMA * MOVES @ V[1], atol=1e-12)
    assert change == (1.0 if any(w) else 0.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_boltzmann_backups_of_large_rewards(sign):
    """Values of some thousands, whose exponentials overflow or vanish: nearly the best action's."""
    backup = _boltzmann.BoltzmannBackup("test", LinearRewards.of("test", MDP, PHI), 2.2)
    w = sign * np.array([3000.0, -4000.0])
    found, _ = _boltzmann.fixed_point(backup.model._replace(r=frozen(backup.rewards.table(w))), 2.2, 1e-13, 2)
    V = np.zeros(S)
    for _ in range(2):
        Q = PAID @ w + GAMMA * MOVES @ V
        V = (special.softmax(2.2 * Q, axis=1) * Q).sum(axis=1)
    np.testing.assert_allclose(found, PAID @ w + GAMMA * MOVES @ V, rtol=1e-12, atol=1e-9)


def test_maps_that_are_kept(monkeypatch):
    """Values of policies are linear in the weights, by a dense inverse; two maps have room, and the oldest goes."""
    monkeypatch.setattr(map_birl, "KEPT", 2 * S * D)
    maps, policies = map_birl.LinearMaps(LinearRewards.of("test", MDP, PHI)), [[0, 2, 1, 0], [1, 1, 2, 0], [2, 0, 0, 0]]
    for n in (0, 1, 0, 2):
        pi = np.array(policies[n])
        moves, paid = MOVES[np.arange(S), pi], PAID[np.arange(S), pi]
        np.testing.assert_allclose(maps.values(pi), np.linalg.inv(np.eye(S) - GAMMA * moves) @ paid, atol=1e-12)
    assert list(maps.kept) == [np.array(policies[n]).tobytes() for n in (1, 2)]
    monkeypatch.setattr(map_birl, "KEPT", 2 * S * D - 1)
    maps.values(np.array(policies[0]))
    assert list(maps.kept) == [np.array(policies[0]).tobytes()]
    y = default_rng(3).normal(size=(S, A))
    ahead = np.einsum("say,yd->sad", MOVES, maps.values(np.array(policies[0])))
    np.testing.assert_allclose(
        maps.gradient(np.array(policies[0]), y), np.einsum("sa,sad->d", y, PAID + GAMMA * ahead), atol=1e-12
    )


# Files ---------------------------------------------------------------------------------------------------------------


@cache
def walked(name):
    """A belief of a kind with two draws."""
    densities = (UniformPrior(), GaussianPrior())
    new = {
        "lattice": lambda: BIRL(MDP, PHI, step=1.0).update_many(PAIRS),
        "goals": lambda: BNIRL(MDP).update_many(PAIRS[:3]),
        "kinds": lambda: DPMBIRL(MDP, PHI, LIST).update_many(LOGS),
        "tasks": lambda: MultitaskBIRL(MDP, PHI, densities, moves=1).update_many(LOGS),
        "policies": lambda: MultitaskBIRL(MDP, PHI, (LIST,), model="policy").update_many(LOGS),
    }
    return new[name]().refresh(default_rng(0), 2)


FIELDS = [
    # belief, field, values that fit, values that do not
    (
        "lattice",
        "demonstrations",
        [[[3, 2], [0, 0]]],
        [[[0, 0], [4, 0]], [[0, 0], [0, 3]], [[0, 0, 0]]],
    ),
    ("lattice", "demonstrations", [], [[0, 1], [[0.0, 1.0]], [[0, 0], [0, -1]], [[-1, 0], [0, 0]]]),
    ("lattice", "at", [[0, 2]], [[0, 3], [-1, 0], [0, -1], [3, 0], [0], [0, 0, 0], [0.0, 1.0], [[0, 0]]]),
    ("lattice", "draws", [[[0.5, 1.0]]], [[[0.5, np.nan]], [[0.5]], [0.5, 0.5], [[1, 0]], [[0.5, 0.5, 0.5]]]),
    ("lattice", "accepted", [[3, 4]], [[3], [3, 4, 5], [3.0, 4.0], [[3, 4]]]),
    ("goals", "labels", [[-1, 0, 2]], [[-2, 0, 1], [0, 3, 1], [0, 0], [0.0, 0.0, 0.0], [[0, 0, 0]]]),
    ("goals", "assignments", [[[0, 0, 2]]], [[[0, -1, 1]], [[0, 3, 1]], [[0, 0]], [0, 0, 0], [[0.0, 0.0, 0.0]]]),
    ("goals", "goals", [[[0, 1, 3]]], [[[0, -1, 1]], [[0, 4, 1]], [[0, 0]], [0, 0, 0], [[0.0, 0.0, 0.0]]]),
    ("kinds", "labels", [[-1, 0, 2]], [[-2, 0, 1], [0, 3, 1], [0, 0]]),
    ("kinds", "assignments", [[[0, 0, 2], [0, 1, 1]]], [[[0, 0, 3], [0, 0, 0]], [[0, 0, 0], [0, -1, 0]], [[0, 0, 0]]]),
    ("kinds", "tau", [0.001], [0.0, -0.1]),
    ("kinds", "accepted", [[1, 2]], [[1], [1, 2, 3]]),
    ("tasks", "theta", [0, 1], [-1, 2]),
    ("tasks", "thetas", [[0, 1]], [[0, 2], [-1, 0], [0, 0, 1]]),
    ("tasks", "weights", [[[0.1, 0.2]], [[0.1, 0.2]] * 3], [[[0.1, 0.2]] * 4, [[0.1]]]),
    ("tasks", "policies", [0], [-1]),
    ("policies", "sums", [np.zeros((4, 4))], [np.zeros((3, 4)), np.zeros((5, 4)), np.zeros((4, 3))]),
    ("policies", "policies", [0, 7], [-1]),
]


@pytest.mark.parametrize(("kind", "name", "good", "bad"), FIELDS, ids=lambda x: x if isinstance(x, str) else "")
def test_fields_of_files_belong_together(kind, name, good, bad):
    """Each limit is allowed; one entry beyond it is refused, also beside entries that fit."""
    belief = walked(kind)

    def put(x):
        unchecked(belief, **{name: np.array(x) if isinstance(x, list) else x}).check_grown()

    put(getattr(belief, name))
    for x in good:
        put(x)
    for x in bad:
        with pytest.raises(BayesRLError, match=f"{type(belief).__name__}: '"):
            put(x)


def test_beliefs_begin_without_draws():
    assert BNIRL(MDP).assignments.shape == BNIRL(MDP).goals.shape == (0, 0)
    assert BNIRL(MDP).demonstrations.shape == (0, 2)
    new, tasks = DPMBIRL(MDP, PHI), MultitaskBIRL(MDP, PHI, (UniformPrior(), GaussianPrior()))
    policies = MultitaskBIRL(MDP, PHI, (LIST,), model="policy")
    assert (new.labels.shape, new.weights.shape, new.assignments.shape) == ((0,), (0, D), (0, 0))
    assert (new.samples.shape, new.accepted.tolist(), new.tau) == ((0, 0, D), [0, 0], 0.1)
    assert (tasks.weights.shape, tasks.samples.shape, tasks.thetas.shape) == ((0, D), (0, 0, D), (0,))
    assert (tasks.sums.shape, tasks.policies, tasks.theta, tasks.accepted.tolist()) == ((1, 0), 0, 0, [0, 0])
    assert tasks.hyper.tolist() == [0.5, 0.5]
    assert policies.update(PAIRS).sums.tolist() == np.full((2, 4), -np.inf).tolist()
    assert BIRL(MDP, PHI).draws.shape == (0, D)
    assert tasks.unsupported == {"log_evidence": "Give it finite priors."}
    assert policies.unsupported == {}
    assert BIRL(MDP, PHI, LIST).unsupported == {}
    assert set(BIRL(MDP, PHI).unsupported) == {"models", "posterior", "log_evidence"}


def test_improbable_trajectories():
    """Log probabilities of -2000 and less: only their differences count."""
    p = multitask_birl.normalised(np.array([[-2000.0, -2001.0], [3000.0, 3002.0]]))
    np.testing.assert_allclose(p, special.softmax([[0.0, -1.0], [0.0, 2.0]], axis=1))
    rng, same = default_rng(0), default_rng(0)
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    for _ in range(20):
        assert multitask_birl.chosen(weights, rng) == index(weights, same.random())
