"""Second-order moments of a policy's value: transcription, finite differences, quadrature, computed values."""

import numpy as np
import pytest
from scipy.linalg import eigh_tridiagonal

import bayesrl as b
from bayesrl.beliefs import (
    FiniteMDPs,
    GaussianRewards,
    RewardBeta,
    RewardNormal,
    SparseDirichletMDP,
    UnknownRewards,
)
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.models.outcomes import Outcomes
from bayesrl.risk import value_moments

S, A, K, GAMMA = 4, 2, 3, 0.8
RNG = np.random.default_rng(5)
MU = RNG.dirichlet(np.ones(A), S)
START = np.array([0.1, 0.2, 0.3, 0.4])


def outcomes(group, terminal=(), of_pairs=False):
    """Random successors (distinct for each pair) and rewards: of outcomes, or of pairs."""
    rng = np.random.default_rng(1)
    succ = np.array([[rng.permutation(S)[:K] for _ in range(A)] for _ in range(S)])
    reward = rng.normal(size=(S, A, 1 if of_pairs else K)) * np.ones(K)
    ends = np.isin(np.arange(S), terminal)
    return Outcomes(succ, reward, np.reshape(group, (S, A)), np.full(np.max(group) + 1, K), np.zeros(1), START, ends)


def dirichlet(group, terminal=(), known=(), scale=1.0, of_pairs=False):
    o = outcomes(group, terminal, of_pairs)
    alpha = np.random.default_rng(2).uniform(2.0, 6.0, (o.n_groups, K)) * scale
    fixed = np.isin(np.arange(o.n_groups), known)
    alpha[fixed] /= alpha[fixed].sum(axis=1, keepdims=True)
    return b.DirichletMDP(o, alpha, GAMMA, fixed)


FREE, TIED = np.arange(S * A), np.array([0, 1, 1, 0, 2, 1, 3, 3])
ROWS = {
    "one group for each pair": dirichlet(FREE),
    "tied": dirichlet(TIED),
    "rewards of pairs": dirichlet(FREE, of_pairs=True),
    "terminal and known": dirichlet(TIED, terminal=(2,), known=(3,)),
    "everything known": dirichlet(TIED, known=(0, 1, 2, 3)),
    "sparse": SparseDirichletMDP(outcomes(TIED), 0.7, 1.0, GAMMA),
}


def naive(belief, mu, doubt=None):
    """The formulas of the issue, loop by loop; `doubt` is the covariance of the mean rewards of pairs."""
    mean, sigma, n = belief.mean_mdp(), belief.row_covariance(), belief.n_states
    o, gamma, A = mean.outcomes, belief.gamma, belief.n_actions
    P, R = np.zeros((n, n)), np.zeros(n)
    pairs = [(s, a) for s, a in np.ndindex(*o.group.shape) if not o.terminal[s]]
    for s, a in pairs:
        for k in range(o.n_outcomes):
            p = mu[s, a] * mean.prob[o.group[s, a], k]
            P[s, o.succ[s, a, k]] += p
            R[s] += p * o.reward[s, a, k]
    X = np.linalg.inv(np.eye(n) - gamma * P)
    V = X @ R
    covariance, bias = np.zeros((n, n)), np.zeros(n)
    for g in range(o.n_groups):
        mine = [pair for pair in pairs if o.group[pair] == g]
        J = np.zeros((n, o.n_outcomes))
        for s, a in mine:
            for k in range(o.n_outcomes):
                J[:, k] += mu[s, a] * X[:, s] * (o.reward[s, a, k] + gamma * V[o.succ[s, a, k]])
        covariance += J @ sigma[g] @ J.T
        for s, a in mine:
            for k, l in np.ndindex(o.n_outcomes, o.n_outcomes):
                bias += gamma * mu[s, a] * X[:, s] * sigma[g, k, l] * J[o.succ[s, a, k], l]
    if doubt is not None:
        M = np.zeros((n, n * A))
        for s, a in pairs:
            M[s, s * A + a] = mu[s, a]
        covariance += X @ M @ doubt @ M.T @ X.T
    return V, V + bias, covariance


def assert_moments(belief, mu, expected):
    moments = value_moments(belief, mu)
    for one, two in zip((moments.nominal, moments.mean, moments.covariance), expected, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-10, rtol=1e-10)
    V, mean, covariance = expected
    second = np.outer(V, V) + np.outer(mean - V, V) + np.outer(V, mean - V) + covariance
    np.testing.assert_allclose(moments.second_moment, second, atol=1e-10)


@pytest.mark.parametrize("name", ROWS)
def test_naive_transcription(name):
    assert_moments(ROWS[name], MU, naive(ROWS[name], MU))


def test_naive_transcription_with_unknown_rewards():
    """Rewards of pairs, of outcomes, and jointly Gaussian ones with known transitions."""
    rows, rng = dirichlet(TIED, terminal=(2,)), np.random.default_rng(3)
    cells = RewardBeta(*rng.uniform(1.0, 4.0, (2, S, A)), low=-1.0, high=2.0)
    pairs = UnknownRewards(rows, cells)
    assert_moments(pairs, MU, naive(pairs, MU, np.diag(cells.reward_variances().ravel())))
    by_outcome = RewardBeta(*rng.uniform(1.0, 4.0, (2, S, A, K)), low=-1.0, high=2.0)
    each = UnknownRewards(rows, by_outcome)
    p = rows.mean_mdp().prob[rows.outcomes.group]
    assert_moments(each, MU, naive(each, MU, np.diag((p**2 * by_outcome.reward_variances()).sum(axis=2).ravel())))
    root = rng.normal(size=(S * A, S * A))
    joint = GaussianRewards(rows.mean_mdp(), rng.normal(size=(S, A)), root @ root.T)
    assert_moments(joint, MU, naive(joint, MU, joint.reward_moments()[1]))


@pytest.mark.parametrize(
    "name", ["one group for each pair", "tied", "rewards of pairs", "terminal and known", "sparse"]
)
def test_derivatives_are_finite_differences(name):
    """V as a function of the rows, differentiated twice numerically, gives the same mean and covariance to 1e-5."""
    belief = ROWS[name]
    mean, sigma, step = belief.mean_mdp(), belief.row_covariance(), 1e-4
    o = mean.outcomes
    w = MU * ~o.terminal[:, None]

    def values(change):
        prob = (mean.prob + change)[o.group]
        P = np.zeros((S, S))
        np.add.at(P, (np.arange(S)[:, None, None], o.succ), w[:, :, None] * prob)
        return np.linalg.solve(np.eye(S) - GAMMA * P, np.einsum("sa,sak,sak->s", w, prob, o.reward))

    def unit(g, k):
        return step * (np.arange(o.n_groups * K) == g * K + k).reshape(-1, K)

    bias, covariance = np.zeros(S), np.zeros((S, S))
    for g in range(o.n_groups):
        ends = [(values(unit(g, k)), values(-unit(g, k))) for k in range(K)]
        J = np.array([up - down for up, down in ends]).T / (2.0 * step)
        covariance += J @ sigma[g] @ J.T
        for k, l in np.ndindex(K, K):
            up, down, one, other = (
                values(x * unit(g, k) + y * unit(g, l)) for x, y in ((1, 1), (-1, -1), (1, -1), (-1, 1))
            )
            bias += 0.5 * sigma[g, k, l] * (up + down - one - other) / (4.0 * step**2)
    moments = value_moments(belief, MU)
    np.testing.assert_allclose(moments.mean - moments.nominal, bias, atol=1e-5)
    np.testing.assert_allclose(moments.covariance, covariance, atol=1e-5)


# Exact values --------------------------------------------------------------------------------------------------------


def beta_rule(a, b, nodes=40):
    """Nodes and weights of Gauss quadrature under Beta(a, b), from the recurrence of Jacobi's polynomials."""
    k, c = np.arange(1.0, nodes), a + b - 2.0
    diagonal = np.append((a - b) / (a + b), ((a - 1.0) ** 2 - (b - 1.0) ** 2) / ((2.0 * k + c) * (2.0 * k + c + 2.0)))
    beside = 4.0 * k * (k + a - 1.0) * (k + b - 1.0) * (k + c) / ((2.0 * k + c) ** 2 * (2.0 * k + c + 1.0))
    beside[0], beside[1:] = 4.0 * a * b / ((2.0 + c) ** 2 * (3.0 + c)), beside[1:] / (2.0 * k[1:] + c - 1.0)
    x, vectors = eigh_tridiagonal(diagonal, np.sqrt(beside))
    return 0.5 * (1.0 + x), vectors[0] ** 2


def exact(counts, r, gamma=0.9, tied=False):
    """Mean and variance of V(0) for two states and one action, by quadrature over the rows.

    If rows are tied, state 1 goes to state 0 with the probability with which state 0 goes to state 1.
    """
    (p, v), (q, u) = (beta_rule(*row) for row in counts)
    p, q = (p, 1.0 - p) if tied else (x.ravel() for x in np.meshgrid(p, q, indexing="ij"))
    weight = v if tied else np.outer(v, u).ravel()
    P = np.stack([p, 1.0 - p, q, 1.0 - q], axis=-1).reshape(-1, 2, 2)
    V = np.linalg.solve(np.eye(2) - gamma * P, np.einsum("nsy,sy->ns", P, r)[..., None])[:, 0, 0]
    return weight @ V, weight @ (V - weight @ V) ** 2


def two_states(counts, r=((1.0, 1.0), (0.0, 0.0)), tied=False):
    succ, group = np.array([[[0, 1]], [[1, 0] if tied else [0, 1]]]), np.array([[0], [0 if tied else 1]])
    size, reward = np.full(1 if tied else 2, 2), np.take_along_axis(np.array(r)[:, None, :], succ, axis=2)
    o = Outcomes(succ, reward, group, size, np.zeros(1), np.eye(2)[0], np.zeros(2, bool))
    return b.DirichletMDP(o, counts[: len(size)], 0.9)


def test_computed_values():
    """The fact sheet's two states and one action, and machine replacement with counts 10 P."""
    counts = [[3.0, 2.0], [2.0, 4.0]]
    moments = value_moments(two_states(counts), [0, 0])
    np.testing.assert_allclose(moments.nominal, [5.263158, 3.947368], atol=1e-6)
    np.testing.assert_allclose(moments.mean, [5.347510, 3.899335], atol=1e-6)
    assert moments.covariance[0, 0] == pytest.approx(2.552763, abs=1e-6)
    np.testing.assert_allclose(exact(counts, ((1.0, 1.0), (0.0, 0.0))), [5.374541, 2.755806], atol=1e-6)
    mdp = b.make_world("machine-replacement").mdp
    moments = value_moments(b.DirichletMDP(mdp.outcomes, 10.0 * mdp.prob, mdp.gamma), [0, 0, 0, 0, 0, 1, 1, 1, 0, 1])
    assert moments.start @ moments.nominal == pytest.approx(-5.97624, abs=1e-5)
    assert moments.start @ moments.mean == pytest.approx(-6.14386, abs=1e-5)


@pytest.mark.parametrize("tied", [False, True])
def test_errors_fall_with_the_counts(tied):
    """Against quadrature: slope -2 for mean and variance, -1 for the nominal value; rewards of outcomes, with a tie."""
    r, base = ((1.0, -0.5), (0.3, 2.0)), np.array([[3.0, 2.0], [2.0, 4.0]])
    n, errors = np.array([64.0, 128.0, 256.0, 512.0]), []
    for scale in n:
        moments = value_moments(two_states(scale * base, r, tied), [0, 0])
        mean, variance = exact(scale * base, r, tied=tied)
        errors.append([moments.nominal[0] - mean, moments.mean[0] - mean, moments.covariance[0, 0] - variance])
    slopes = np.polyfit(np.log(n), np.log(np.abs(errors)), 1)[0]
    np.testing.assert_allclose(slopes, [-1.0, -2.0, -2.0], atol=0.1)


def test_a_first_state_is_a_certain_distribution():
    moments = value_moments(ROWS["tied"], MU)
    for s in range(S):
        assert moments.interval(s, 0.8) == moments.interval(np.eye(S)[s], 0.8)
        assert moments.interval(s, 0.8).low < moments.mean[s] < moments.interval(s, 0.8).high


# Bad input -----------------------------------------------------------------------------------------------------------


def test_beliefs_with_dependent_groups_are_refused():
    few = FiniteMDPs((b.TabularMDP.from_dense(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), 0.9),))
    for belief in (few, None, b.make_world("bernoulli").default_prior()):
        with pytest.raises(Incompatible, match="'row_covariance'"):
            value_moments(belief, [0, 0])


def test_infinite_variances_are_refused():
    wide = UnknownRewards(ROWS["tied"], RewardNormal(*(np.full((S, A), x) for x in (0.0, 1.0, 0.5, 1.0))))
    with pytest.raises(InvalidArgument, match="'belief' must be one with finite variances of mean rewards, got inf"):
        value_moments(wide, MU)


@pytest.mark.parametrize(
    ("start", "level", "name"),
    [(4, 0.9, "start"), (-1, 0.9, "start"), ("here", 0.9, "start"), ([1.0, 0.0], 0.9, "start"), (None, 0.0, "level"),
     (np.full(S, 0.3), 0.9, "start"), ([np.nan] * S, 0.9, "start"), (0, 1.0, "level"), (0, "high", "level")],
)  # fmt: skip
def test_bad_interval(start, level, name):
    with pytest.raises(InvalidArgument, match=f"Moments.interval: '{name}'"):
        value_moments(ROWS["tied"], MU).interval(start, level)


def test_moments_are_saved_and_compared(tmp_path):
    moments = value_moments(ROWS["tied"], MU)
    b.save(moments, tmp_path / "moments.npz")
    assert b.load(tmp_path / "moments.npz") == moments
    with pytest.raises(ValueError, match="read-only"):
        moments.mean[0] = 1.0
