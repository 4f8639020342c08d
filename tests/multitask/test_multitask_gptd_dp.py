"""Classes of tasks with common priors: the sampler against enumerated partitions, its calibration and its limits."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.beliefs.crp import cluster_counts, draw_clustering, log_crp, relabelled
from bayesrl.beliefs.dynamics.normal_wishart import NormalWishart
from bayesrl.beliefs.dynamics.partitions import all_partitions
from bayesrl.errors import InvalidArgument
from bayesrl.multitask import LogUniform, MultitaskGPTDDPSolution
from bayesrl.multitask._class_sampler import Chain, Problem, split_or_merge
from bayesrl.multitask._triangles import draw_normal_wishart

NOISE, C, KAPPA, NU, PSI = 0.6, 0.8, 0.3, 3.0, 0.5
UNKNOWN = LogUniform(0.05, 60.0)
FEW = [([[1.0]], [1.5]), ([[0.8], [0.5]], [1.2, 0.9]), ([[1.0]], [-0.9]), ([[0.6]], [-0.5])]
MANY = [(np.ones((30, 1)), np.full(30, x)) for x in (1.4, 1.1, -1.0, -0.6, 1.2)]
FURTHER = ([[1.0], [0.4]], [1.1, 0.2])


def solver(**changed):
    given = {"noise": NOISE, "concentration": C, "strength": KAPPA, "degrees": NU, "scale": [[PSI]]}
    return b.make("multitask-gptd-dp", **given | changed)


# Enumerated partitions -----------------------------------------------------------------------------------------------


def class_evidence(tasks):
    """For one feature: log density of a class's rewards, and the posterior means of its weights.

    mu is integrated out exactly, and Sigma = s, which is inverse gamma, by quadrature over its quantiles. Only the
    estimate x = H'r / H'H of a task matters, with variance v = sigma^2 / H'H.
    """
    H, r = zip(*((np.ravel(h), np.ravel(y)) for h, y in tasks), strict=True)
    x = np.array([h @ y / (h @ h) for h, y in zip(H, r, strict=True)])
    v = np.array([NOISE**2 / (h @ h) for h in H])
    nodes, weight = np.polynomial.legendre.leggauss(400)
    s = stats.invgamma.ppf(0.5 * (nodes + 1.0), NU / 2, scale=PSI / 2)[:, None, None]
    prior = s * np.eye(len(x)) + s / KAPPA
    covariance = prior + np.diag(v)
    solved = np.linalg.solve(covariance, np.broadcast_to(x[:, None], (400, len(x), 1)))
    log_density = -0.5 * (np.linalg.slogdet(2.0 * np.pi * covariance)[1] + (x @ solved)[:, 0])
    density = 0.5 * weight * np.exp(log_density)
    return np.log(density.sum()), density @ (prior @ solved)[:, :, 0] / density.sum()


def enumerated(tasks, c=C):
    """Probability of each partition, co-class probabilities, mean number of classes, and means of the weights.

    c is a concentration, or several that are as probable.
    """
    M, kept = len(tasks), {}
    labels = all_partitions(M)[0]
    log_p, means = np.empty(len(labels)), np.empty((len(labels), M))
    for i, z in enumerate(labels):
        log_p[i] = logsumexp([log_crp(z, one) for one in np.atleast_1d(c)]) - np.log(np.size(c))
        for k in range(z.max() + 1):
            members = tuple(np.flatnonzero(z == k))
            if members not in kept:
                kept[members] = class_evidence([tasks[m] for m in members])
            log_p[i] += kept[members][0]
            means[i, list(members)] = kept[members][1]
    p = np.exp(log_p - log_p.max())
    evidence = log_p.max() + np.log(p.sum())
    p /= p.sum()
    co_class = sum(q * (z[:, None] == z) for q, z in zip(p, labels, strict=True))
    return p, co_class, p @ (labels.max(axis=1) + 1), p @ means, evidence


def batch_errors(x, batches=40):
    """Standard errors of the means of the columns of a chain."""
    parts = np.array([part.mean(axis=0) for part in np.array_split(x, batches)])
    return parts.std(axis=0, ddof=1) / np.sqrt(batches)


@pytest.mark.parametrize(
    ("tasks", "c"), [(FEW, C), (MANY, C), (FEW, UNKNOWN)], ids=["15 partitions", "52 partitions", "c unknown"]
)
def test_equal_to_enumerated_partitions(tasks, c):
    """Co-class probabilities, the number of classes and the weights, within 5 batch-means standard errors.

    Forty batches: a two-sided t of 39 degrees beyond 5 has probability 1e-5, for at most 16 quantities 2e-4.
    """
    found = solver(sweeps=12_000, concentration=c).solve(tasks, np.random.default_rng(1))
    _, co_class, classes, means, _ = enumerated(tasks, getattr(c, "values", c))
    pairs = np.triu_indices(len(tasks), 1)
    together = (found.assignments[:, :, None] == found.assignments[:, None, :])[:, pairs[0], pairs[1]]
    error = batch_errors(together.astype(float))
    assert (np.abs(found.co_class()[pairs] - co_class[pairs]) < 5 * error).all()
    assert error.max() < 0.02
    assert abs(found.n_classes() - classes) < 5 * batch_errors(cluster_counts(found.assignments)[:, None])[0]
    assert (np.abs(found.weights - means[:, None]) < 5 * batch_errors(found.samples)).all()


@pytest.mark.parametrize("c", [C, UNKNOWN], ids=["c known", "c unknown"])
def test_transfer_is_the_mixture_over_enumerated_partitions(c):
    """A further task is one more task: its weights' mean, and the ratio of evidences of all tasks and of the first.

    Draws are weighed by the density of the rewards, so that the mean is a ratio; twenty parts of the chain give its
    standard error. A t of 19 degrees beyond 5: false alarm 2e-4.
    """
    found = solver(sweeps=6000, concentration=c).solve(FEW, np.random.default_rng(2))
    values = getattr(c, "values", c)
    before, (*_, means, after) = enumerated(FEW, values)[-1], enumerated([*FEW, FURTHER], values)
    mean, covariance = found.transfer(FURTHER)
    parts = [part_of(found, i, 20) for i in range(20)]
    error = np.std([one.transfer(FURTHER)[0][0] for one in parts], ddof=1) / np.sqrt(20)
    assert abs(mean[0] - means[-1]) < 5 * error < 0.05
    H, r = np.array(FURTHER[0]), np.array(FURTHER[1])
    rest = stats.multivariate_normal.logpdf(
        r, np.zeros(2), NOISE**2 * np.eye(2)
    )  # `enumerated` has the density of x instead
    x, v = float(H[:, 0] @ r / (H.T @ H)[0, 0]), NOISE**2 / float((H.T @ H)[0, 0])
    expected = after - before + rest - stats.norm.logpdf(x, 0.0, np.sqrt(v))
    error = np.std([one.log_predictive(FURTHER) for one in parts], ddof=1) / np.sqrt(20)
    assert abs(found.log_predictive(FURTHER) - expected) < 5 * error < 0.05
    assert covariance[0, 0] > 0.0


def part_of(found, i, parts):
    """One of several stretches of a chain."""
    rows = np.array_split(np.arange(len(found.samples)), parts)[i]
    first = np.concatenate([[0], np.cumsum(cluster_counts(found.assignments) + 1)])
    use = slice(first[rows[0]], first[rows[-1] + 1])
    return MultitaskGPTDDPSolution(
        found.weights, found.samples[rows], found.assignments[rows], found.class_means[use],
        found.class_covariances[use], found.concentration, found.noise, False, None,
    )  # fmt: skip


def test_splits_and_merges_alone_keep_the_law_of_partitions():
    """Given the weights, p(partition) is the restaurant process times normal-inverse-Wishart evidences, 15 of them.

    Within 5 batch-means standard errors; forty batches, 15 partitions: false alarm 2e-4.
    """
    rng = np.random.default_rng(6)
    M, d, c, base = 4, 2, 1.3, NormalWishart(np.zeros(2), 0.5, 4.0, 0.5 * np.eye(2))
    w = np.array([[0.6, 0.1], [0.9, -0.3], [-0.5, 0.4], [0.1, 0.2]])
    labels = all_partitions(M)[0]
    log_p = np.array([
        log_crp(z, c) + sum(base.update_many(w[z == k]).log_evidence() for k in range(z.max() + 1)) for z in labels
    ])  # fmt: skip
    p = Problem(np.zeros((M, d, d)), np.zeros((M, d)), np.array(base.scatter), 0.5, 4.0, np.full(M + 1, c), 1)
    x = Chain(np.zeros(M, np.int64), np.array([4.0, 0, 0, 0, 0]), np.zeros((5, d)), np.zeros((5, d, d)), w)
    number = {tuple(z): i for i, z in enumerate(labels)}
    seen = np.zeros((16_000, len(labels)))
    for row in seen:
        split_or_merge(rng, p, x)
        row[number[tuple(relabelled(x.z))]] = 1.0
    np.testing.assert_array_equal(np.bincount(x.z, minlength=5), x.size)
    expected = np.exp(log_p - logsumexp(log_p))
    assert (np.abs(seen.mean(axis=0) - expected) < 5 * batch_errors(seen)).all()


def test_draws_of_the_base():
    """E[Sigma^-1] = nu Psi^-1, and mu' Sigma^-1 mu has mean d / kappa: within 5 standard errors, false alarm 1e-5."""
    rng, n, kappa, nu = np.random.default_rng(7), 4000, 0.4, 3.5
    Psi = np.array([[0.7, 0.2, 0.0], [0.2, 0.5, -0.1], [0.0, -0.1, 0.4]])
    mu, S, precision = np.zeros((n, 3)), np.zeros((n, 3, 3)), np.zeros((n, 3, 3))
    for i in range(n):
        draw_normal_wishart(rng, np.ones(3), kappa, nu, Psi, mu[i], S[i])
        root = np.linalg.inv(S[i])
        precision[i] = root.T @ root
    error = precision.std(axis=0) / np.sqrt(n)
    assert (np.abs(precision.mean(axis=0) - nu * np.linalg.inv(Psi)) < 5 * error).all()
    square = np.einsum("ni,nij,nj->n", mu - 1.0, precision, mu - 1.0)
    assert abs(square.mean() - 3 / kappa) < 5 * square.std() / np.sqrt(n)


# Calibration ---------------------------------------------------------------------------------------------------------


def test_calibrated():
    """Simulation-based calibration: classes, weights and rewards from the prior; ranks among thinned draws.

    Of two weights, their product, and the number of classes (ties broken at random). Ranks of 200 data sets among 19
    draws are uniform on 20 values; chi-squared tests of 4 quantities at 2.5e-6 each: false alarm 1e-5.
    """
    rng, d, M, draws = np.random.default_rng(3), 2, 4, 19
    H = rng.normal(size=(M, 2, d))
    scale = np.array([[0.5, 0.1], [0.1, 0.3]])
    made = b.make(
        "multitask-gptd-dp", noise=NOISE, concentration=C, strength=KAPPA, degrees=5.0, scale=scale,
        sweeps=draws * 8, burn_in=20,
    )  # fmt: skip
    ranks = []
    for _ in range(200):
        z = draw_clustering(M, C, rng)
        Sigma = [stats.invwishart.rvs(5.0, scale, random_state=rng) for _ in range(z.max() + 1)]
        mu = [rng.multivariate_normal(np.zeros(d), S / KAPPA) for S in Sigma]
        w = np.array([rng.multivariate_normal(mu[k], Sigma[k]) for k in z])
        tasks = [(h, h @ x + NOISE * rng.standard_normal(2)) for h, x in zip(H, w, strict=True)]
        found = made.solve(tasks, rng)
        x, classes = found.samples[7::8], cluster_counts(found.assignments)[7::8]
        true = np.array([w[0, 0], w[3, 1], w[0] @ w[1], z.max() + 1.0])
        drawn = np.column_stack([x[:, 0, 0], x[:, 3, 1], (x[:, 0] * x[:, 1]).sum(axis=1), classes])
        equal = (drawn == true).sum(axis=0)
        ranks.append((drawn < true).sum(axis=0) + rng.integers(equal + 1))
    for column in np.array(ranks).T:
        count = np.bincount(column, minlength=draws + 1)
        assert stats.chisquare(count).pvalue > 2.5e-6


# Limits --------------------------------------------------------------------------------------------------------------


def test_concentration_to_zero_pools_and_to_infinity_separates():
    rng = np.random.default_rng(4)
    one, apart = (solver(concentration=c, sweeps=300).solve(FEW, rng) for c in (1e-12, 1e12))
    assert one.n_classes() == 1.0
    assert (one.co_class() == 1.0).all()
    assert apart.n_classes() == 4.0
    np.testing.assert_array_equal(apart.co_class(), np.eye(4))
    alone = [class_evidence([task])[1][0] for task in FEW]
    assert (np.abs(apart.weights[:, 0] - alone) < 6 * batch_errors(apart.samples[:, :, 0], 20)).all()


@pytest.mark.parametrize("c", [C, UNKNOWN], ids=["c known", "c unknown"])
def test_the_same_seed_gives_the_same_draws_and_a_solution_is_saved(c, tmp_path):
    found, again = (solver(sweeps=150, concentration=c).solve(FEW, np.random.default_rng(5)) for _ in range(2))
    assert found == again
    b.save(found, tmp_path / "kept.zip")
    assert b.load(tmp_path / "kept.zip") == found
    assert found.transfer(FURTHER)[0] == b.load(tmp_path / "kept.zip").transfer(FURTHER)[0]


def test_a_chain_that_does_not_mix_warns():
    """The weights of a tight class hold its mean in place: with much noise it moves little in a sweep."""
    slow = solver(noise=3.0, concentration=1e-6, strength=1e-3, degrees=20.0, scale=1e-3, sweeps=400)
    with pytest.warns(PoorMixing, match="MultitaskGPTDDP: .*more sweeps"):
        slow.solve(FEW, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"concentration": 0.0}, "'concentration' must be greater than 0"),
        ({"concentration": np.nan}, "'concentration'"),
        ({"concentration": LogUniform}, "'concentration' must be greater than 0"),
        ({"sweeps": 0}, "'sweeps' must be a whole number of at least 1"),
        ({"sweeps": 1.5}, "'sweeps'"),
        ({"burn_in": -1}, "'burn_in'"),
        ({"auxiliary": 0}, "'auxiliary'"),
    ],
)  # fmt: skip
def test_refused(parameters, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        solver(**parameters).solve(FEW, np.random.default_rng(0))


def test_fields_of_a_solution():
    """Two draws of three tasks in two and one classes have five pairs (mu, Sigma): each field of another length."""
    good = {
        "weights": np.zeros((3, 2)),
        "samples": np.zeros((2, 3, 2)),
        "assignments": np.array([[0, 1, 0], [0, 0, 0]]),
        "class_means": np.zeros((5, 2)),
        "class_covariances": np.tile(np.eye(2), (5, 1, 1)),
        "concentration": 0.7,
        "noise": 0.5,
        "coloured": False,
        "gamma": None,
    }
    assert MultitaskGPTDDPSolution(**good).diagnostics().r_hat.shape == (7,)
    for name, wrong in (
        ("assignments", {"assignments": np.array([0, 1, 0])}),
        ("assignments", {"assignments": np.array([[0, 1], [0, 0]])}),
        ("assignments", {"samples": np.zeros((3, 3, 2))}),
        ("class_means", {"class_means": np.zeros((4, 2))}),
        ("class_means", {"class_covariances": np.tile(np.eye(2), (4, 1, 1))}),
        ("class_means", {"assignments": np.array([[0, 1, 2], [0, 0, 0]])}),
        ("concentration", {"concentration": 0.0}),
        ("noise", {"noise": 0.0}),
    ):
        with pytest.raises(InvalidArgument, match=f"MultitaskGPTDDPSolution: '{name}' must be"):
            MultitaskGPTDDPSolution(**good | wrong)


@pytest.mark.parametrize("name", ["multitask-gptd", "multitask-gptd-dp"])
def test_a_base_is_checked_when_a_solver_is_made(name):
    """A matrix that is no covariance, and too few degrees for it; without a scale the tasks say the dimension."""
    for wrong, said in (
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, "scale"),
        ({"scale": np.eye(3), "degrees": 2.0}, "degrees"),
    ):
        with pytest.raises(InvalidArgument, match=f"'{said}' must be"):
            b.make(name, **wrong)
    b.make(name, scale=np.eye(3), degrees=2.01)
    b.make(name, degrees=0.1)


def test_a_generator_is_needed():
    for rng in (None, 3, "rng"):
        with pytest.raises(InvalidArgument, match="'rng'"):
            solver().solve(FEW, rng)


@pytest.mark.filterwarnings("ignore::bayesrl.beliefs.chain.PoorMixing")
@pytest.mark.parametrize("burn_in", [1, 2, 5])
def test_burnt_sweeps_are_the_first_of_a_longer_chain(burn_in):
    """The draws that are kept are those that come after as many sweeps."""
    long = solver(sweeps=burn_in + 6, burn_in=0).solve(FEW, np.random.default_rng(5))
    kept = solver(sweeps=6, burn_in=burn_in).solve(FEW, np.random.default_rng(5))
    np.testing.assert_array_equal(kept.samples, long.samples[burn_in:])
    np.testing.assert_array_equal(kept.assignments, long.assignments[burn_in:])
    np.testing.assert_array_equal(kept.class_means, long.class_means[-len(kept.class_means) :])
