"""Classes of reward weights: enumerated clusterings with dense Gaussian evidence, moments, calibration, bad input."""

import importlib

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import multivariate_normal

import bayesrl as b
from bayesrl.beliefs.chain import diagnose
from bayesrl.beliefs.crp import draw_clustering, log_crp, relabelled
from bayesrl.beliefs.dynamics.partitions import all_partitions
from bayesrl.beliefs.tasks._splits_of_weights import split_or_merge
from bayesrl.beliefs.tasks.linear_reward_classes import merged
from bayesrl.beliefs.values.linear_model import log_partition, seen_through
from bayesrl.errors import InvalidArgument
from bayesrl.multitask import LinearRewardClasses, LogUniform
from bayesrl.parameters import unchecked
from bayesrl.testing import assert_chain_mean, assert_uniform_ranks

C, MEAN, BASE = np.array([[0.3, 0.1], [0.1, 0.2]]), np.array([0.5, -0.2]), np.array([[1.0, 0.2], [0.2, 2.0]])
PRIOR = LinearRewardClasses(0.8, 0.7, C, MEAN, BASE)


def data(tasks, n, seed):
    rng = default_rng(seed)
    weights = rng.normal(size=(2, 2))
    X = rng.normal(size=(tasks, n, 2))
    return [(m, X[m, i], float(weights[m % 2] @ X[m, i] + 0.7 * rng.normal())) for m in range(tasks) for i in range(n)]


def dense(log, z):
    """Joint law of the rewards given a clustering, and their covariance with the weights of all tasks: no algebra."""
    m, X, r = (np.array(x) for x in zip(*log, strict=True))
    Z = np.array(z)
    between = lambda i, j: (Z[i] == Z[j]) * BASE + (i == j) * C  # noqa: E731
    tasks = len(Z)
    W = np.block([[between(i, j) for j in range(tasks)] for i in range(tasks)])
    F = np.zeros((len(r), 2 * tasks))
    for i, (task, x) in enumerate(zip(m, X, strict=True)):
        F[i, 2 * task : 2 * task + 2] = x
    S = F @ W @ F.T + 0.49 * np.eye(len(r))
    mean = np.tile(MEAN, tasks)
    gain = W @ F.T @ np.linalg.inv(S)
    return (
        multivariate_normal(F @ mean, S).logpdf(r),
        mean + gain @ (r - F @ mean),
        W - gain @ F @ W,
    )


@pytest.mark.parametrize("tasks", [4, 5])
def test_draws_follow_the_enumerated_clusterings(tasks):
    """15 and 52 clusterings in 1500 sweeps; weights of the tasks, and of the next one.

    False alarm 1e-5 for each clustering.
    """
    log = data(tasks, 3, seed=tasks)
    labels, _ = all_partitions(tasks)
    known = [dense(log, z) for z in labels]
    joint = np.array([log_crp(z, 0.8) + found[0] for z, found in zip(labels, known, strict=True)])
    p = np.exp(joint - joint.max())
    p /= p.sum()
    belief = PRIOR.update_many(log).refresh(default_rng(0), 1500)
    z = belief.assignments
    assert_chain_mean((z[:, None] == labels).all(axis=2), p)
    assert belief.n_classes() == pytest.approx(p @ (labels.max(axis=1) + 1), abs=0.2)
    share = {tuple(row): 0.0 for row in labels.tolist()}
    for row in z.tolist():
        share[tuple(row)] += 1 / len(z)
    q = np.array([share[tuple(row)] for row in labels.tolist()])  # moments of the draws, exactly
    mean = q @ np.array([found[1] for found in known])
    np.testing.assert_allclose(belief.means(), mean.reshape(tasks, 2), atol=1e-9)
    second = sum(w * (S + np.outer(mu - mean, mu - mean)) for w, (_, mu, S) in zip(q, known, strict=True))
    np.testing.assert_allclose(belief.task(1).covariance, second[2:4, 2:4], atol=1e-9)
    ahead = [(w * (np.append(np.bincount(row), 0.8) / (tasks + 0.8)), row) for w, row in zip(q, labels, strict=True)]
    new = np.zeros(2)
    for w, row in ahead:
        for j, share_of in enumerate(w):
            if share_of:
                new += share_of * dense(log, [*row, j])[1][-2:]
    np.testing.assert_allclose(belief.new_task().mean, new, atol=1e-9)


def test_the_next_task_with_data_of_its_own():
    """Weights and log density over the drawn clusterings and the classes of the next task, with dense Gaussians."""
    log, own = data(3, 2, seed=8), [([1.0, 0.3], 0.7), ([-0.2, 1.0], -1.1), ([0.5, 0.5], 0.1)]
    belief = PRIOR.update_many(log).refresh(default_rng(4), 6)
    more, shares, found, before = [*log, *((3, x, r) for x, r in own)], [], [], []
    for row in belief.assignments:
        for j, n in enumerate(np.append(np.bincount(row), 0.8)):
            shares.append(n / 3.8 / 6)
            found.append(dense(more, [*row, j]))
            before.append(dense(log, row)[0])
    gain = np.log(shares) + [one[0] for one in found] - np.array(before)
    assert belief.log_predictive(own) == pytest.approx(np.logaddexp.reduce(gain), abs=1e-9)
    w = np.exp(gain - np.logaddexp.reduce(gain))
    mean = w @ np.array([one[1][-2:] for one in found])
    second = sum(
        p * (S[-2:, -2:] + np.outer(mu[-2:] - mean, mu[-2:] - mean)) for p, (_, mu, S) in zip(w, found, strict=True)
    )
    got = belief.new_task(own)
    np.testing.assert_allclose(got.mean, mean, atol=1e-9)
    np.testing.assert_allclose(got.covariance, second, atol=1e-9)
    assert belief.log_predictive([]) == pytest.approx(0.0, abs=1e-12)


def test_splits_and_merges_alone_follow_the_enumerated_clusterings():
    """15 clusterings of four tasks, 3000 moves without Gibbs steps; false alarm 1e-5 for each clustering."""
    log, (labels, _), rng = data(4, 3, seed=1), all_partitions(4), default_rng(0)
    joint = np.array([log_crp(z, 0.8) + dense(log, z)[0] for z in labels])
    p = np.exp(joint - joint.max())
    belief, z, drawn = PRIOR.update_many(log), np.zeros(4, np.int64), np.zeros((3000, 4), np.int64)
    told, c = seen_through(belief.gram, belief.moment, C), np.full(5, 0.8)
    for i in range(len(drawn)):
        split_or_merge(z, c, belief._base(), told, rng)
        z = drawn[i] = relabelled(z)
    assert_chain_mean((drawn[:, None] == labels).all(axis=2), p / p.sum())


def test_a_learnt_concentration():
    """15 clusterings, each summed over 61 values of c, in 1500 sweeps; the next task by the posterior of c.

    False alarm 1e-5 for each clustering.
    """
    log, (labels, _), unknown = data(4, 3, seed=4), all_partitions(4), LogUniform(0.05, 60.0)
    restaurant = np.array([np.logaddexp.reduce([log_crp(z, c) for c in unknown.values]) for z in labels])
    p = np.exp(restaurant + [dense(log, z)[0] for z in labels])
    belief = LinearRewardClasses(unknown, 0.7, C, MEAN, BASE).update_many(log).refresh(default_rng(3), 1500)
    assert_chain_mean((belief.assignments[:, None] == labels).all(axis=2), p / p.sum())
    last, own = unchecked(belief, assignments=belief.assignments[-1:]), [([1.0, -0.5], 0.4)]
    z = last.assignments[0]
    c = np.exp([log_crp(z, c) for c in unknown.values])
    alone = (c / c.sum()) @ (unknown.values / (4.0 + unknown.values))  # the probability of a new class
    shares = np.append((1.0 - alone) * np.bincount(z) / 4.0, alone)
    ahead = [dense([*log, (4, *own[0])], [*z, j])[0] - dense(log, z)[0] for j in range(len(shares))]
    assert last.log_predictive(own) == pytest.approx(np.log(shares @ np.exp(ahead)), abs=1e-9)


def test_two_kinds_leave_one_class():
    """Two clear kinds under a wide base, begun as one class: the enumerated probability of the kinds is above 1 - 1e-5.

    Without splits the chain stays in one class for more than 2000 sweeps. False alarm 3e-4 for the 29 draws.
    """
    rng, kind, (labels, _) = default_rng(1), np.arange(6) % 2, all_partitions(6)
    prior = LinearRewardClasses(1.0, 0.1, 0.01 * np.eye(4), np.zeros(4), 100.0 * np.eye(4))
    weights = rng.normal(0.4 * kind[:, None], 0.1, (6, 4))
    belief = prior.update_many([(m, x, float(weights[m] @ x)) for m in range(6) for x in 2 * [*np.eye(4)]])
    P, eta = seen_through(belief.gram, belief.moment, belief.class_covariance)
    P0, eta0 = np.eye(4) / 100.0, np.zeros(4)
    joint = np.array([log_crp(z, 1.0) for z in labels])
    for i, z in enumerate(labels):
        inside = (z == np.arange(z.max() + 1)[:, None]).astype(float)
        joint[i] += (log_partition(P0 + np.tensordot(inside, P, 1), inside @ eta) - log_partition(P0, eta0)).sum()
    p = np.exp(joint - joint.max())
    assert p[(labels == kind).all(axis=1)] / p.sum() > 1.0 - 1e-5
    belief = unchecked(belief, labels=np.zeros(6, np.int64)).refresh(rng, 30)
    assert (belief.assignments[1:] == kind).all()


def test_a_task_moves_by_its_conditional_distribution():
    """Given the classes of the others, without its own: ratios of the joint densities."""
    log = data(4, 2, seed=6)
    belief, z = PRIOR.update_many(log), np.array([0, 0, 1, 0])
    told = seen_through(belief.gram, belief.moment, C)
    for m in range(4):
        names, log_w = belief._choices(z, m, *told)
        moved = [relabelled(np.where(np.arange(4) == m, j, z)) for j in names]
        joint = np.array([log_crp(one, 0.8) + dense(log, one)[0] for one in moved])
        np.testing.assert_allclose(log_w - log_w[0], joint - joint[0], atol=1e-9)


def test_tasks_without_data_follow_the_restaurant():
    """Features of zero say nothing: the 15 clusterings of four tasks in 1000 sweeps; false alarm 1e-5 for each."""
    belief = PRIOR.update_many([(m, [0.0, 0.0], 0.3) for m in range(4)]).refresh(default_rng(5), 1000)
    labels, _ = all_partitions(4)
    p = np.exp([log_crp(z, 0.8) for z in labels])
    assert_chain_mean((belief.assignments[:, None] == labels).all(axis=2), p)
    np.testing.assert_allclose(belief.means(), np.tile(MEAN, (4, 1)))


def test_calibrated():
    """Ranks of true weights of three tasks, one of them unseen, among 9 draws, 200 data sets; false alarm 1e-6."""
    rng, ranks = default_rng(1), []
    for _ in range(200):
        z = draw_clustering(3, 0.8, rng)
        phi = rng.multivariate_normal(MEAN, BASE, 3)
        w = np.array([rng.multivariate_normal(phi[j], C) for j in z])
        log = [(m, x, float(w[m] @ x + 0.7 * rng.normal())) for m in (0, 1) for x in rng.normal(size=(2, 2))]
        belief = PRIOR.update_many(log).refresh(rng, 9)
        others = np.array([belief.sample(rng, 3).ravel() for _ in range(9)])
        ranks.append((others < w.ravel()).sum(axis=0))
    assert_uniform_ranks(np.array(ranks), 10, false_alarm=1e-6)


@pytest.mark.parametrize("c", [0.8, LogUniform(0.1, 30.0)], ids=["c known", "c unknown"])
@pytest.mark.parametrize("tasks", [None, 3, 5])
def test_a_draw_under_the_same_random_numbers(c, tasks):
    """One of the drawn clusterings, classes of new tasks, means of classes, weights: each by dense conditioning."""
    log = data(3, 2, seed=9)
    drawn = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 2]])
    belief = unchecked(LinearRewardClasses(c, 0.7, C, MEAN, BASE).update_many(log), assignments=drawn)
    n = tasks or 3
    for seed in range(4):
        found, rng = belief.sample(default_rng(seed), tasks), default_rng(seed)
        z = draw_clustering(n, c, rng, drawn[int(rng.random() * 3)])
        phi = []
        for j in range(max(z) + 1):
            mine = [(x, r, m) for m, x, r in log if z[m] == j]
            if mine:
                X, r, m = (np.array(x) for x in zip(*mine, strict=True))
                S = X @ BASE @ X.T + (m[:, None] == m) * (X @ C @ X.T) + 0.49 * np.eye(len(r))
                gain = BASE @ X.T @ np.linalg.inv(S)
                mean, spread = MEAN + gain @ (r - X @ MEAN), BASE - gain @ X @ BASE
            else:
                mean, spread = MEAN, BASE
            phi.append(rng.multivariate_normal(mean, (spread + spread.T) / 2.0))
        for m in range(n):
            mean, spread = phi[z[m]], C
            mine = [(x, r) for k, x, r in log if k == m]
            if mine:
                X, r = (np.array(x) for x in zip(*mine, strict=True))
                gain = C @ X.T @ np.linalg.inv(X @ C @ X.T + 0.49 * np.eye(len(r)))
                mean, spread = mean + gain @ (r - X @ mean), C - gain @ X @ C
            w = rng.multivariate_normal(mean, (spread + spread.T) / 2.0)
            np.testing.assert_allclose(found[m], w, rtol=1e-7, atol=1e-9)
        assert found.shape == (n, 2)


def test_sweeps_in_pieces_and_at_once():
    """One sweep and then two with one generator are three sweeps; a datum drops the draws and keeps the classes."""
    belief, ours, theirs = PRIOR.update_many(data(4, 2, seed=10)), default_rng(3), default_rng(3)
    pieces, whole = belief.refresh(ours).refresh(ours, 2), belief.refresh(theirs, 3)
    assert pieces == whole
    np.testing.assert_array_equal(whole.labels, whole.assignments[-1])
    more = whole.update_many([(5, [1.0, 0.3], 0.4), (0, [0.2, -1.0], 0.1)])
    assert (more.assignments.shape, more.n_tasks) == ((0, 6), 6)
    assert more.labels.tolist() == [*whole.labels, -1, -1]
    np.testing.assert_allclose(more.gram[5], np.outer([1.0, 0.3], [1.0, 0.3]) / 0.49)
    np.testing.assert_allclose(more.moment[5], np.array([1.0, 0.3]) * 0.4 / 0.49)
    np.testing.assert_array_equal(more.gram[4], 0.0)
    np.testing.assert_allclose(more.moment[0], whole.moment[0] + np.array([0.2, -1.0]) * 0.1 / 0.49)
    assert whole.co_class() == pytest.approx((whole.assignments[:, :, None] == whole.assignments[:, None]).mean(axis=0))
    sizes = [[z.max() + 1, *((z == z[m]).sum() for m in range(4))] for z in whole.assignments]
    expected, found = diagnose(np.array(sizes, float)), whole.diagnostics()
    np.testing.assert_array_equal(found.r_hat, expected.r_hat)
    np.testing.assert_array_equal(found.effective_sample_size, expected.effective_sample_size)


@pytest.mark.parametrize("name", ["gram", "moment", "labels", "assignments"])
def test_fields_of_other_tasks_are_refused(name):
    """Each grown field, one task longer or with a class that cannot be; the ends of labels are accepted."""
    belief = PRIOR.update_many(data(2, 1, seed=4)).refresh(default_rng(0), 2)
    belief.check_grown()
    unchecked(belief, labels=np.array([-1, 1])).check_grown()
    x = getattr(belief, name)
    wrong = [np.hstack([x, x[:, :1]]) if name == "assignments" else np.concatenate([x, x[-1:]])]
    if name in ("labels", "assignments"):
        wrong += [np.full_like(x, 2), np.full_like(x, -2 if name == "labels" else -1), x[None]]
    for bad in wrong:
        with pytest.raises(InvalidArgument, match="LinearRewardClasses: "):
            unchecked(belief, **{name: bad}).check_grown()


def test_classes_are_merged_by_their_members():
    """Equal members add up, and weights sum to one, in the order of their first appearance."""
    a, c = np.array([True, False, True]), np.array([False, True, False])
    members, weights = merged([(a, 0.5), (c, 1.5), (a.copy(), 2.0)])
    assert members.tolist() == [a.tolist(), c.tolist()]
    assert weights.tolist() == [2.5 / 4.0, 1.5 / 4.0]


def test_concentration_pools_and_separates():
    log = data(4, 3, seed=2)
    for c, same in ((1e-9, 1.0), (1e9, np.eye(4))):
        belief = LinearRewardClasses(c, 0.7, C, MEAN, BASE).update_many(log).refresh(default_rng(2), 20)
        np.testing.assert_array_equal(belief.co_class(), np.broadcast_to(same, (4, 4)))
        z = np.zeros(4, int) if c < 1 else np.arange(4)
        np.testing.assert_allclose(belief.means().ravel(), dense(log, z)[1], atol=1e-9)


def test_order_and_cuts_of_the_data_change_nothing():
    log = data(2, 2, seed=3)
    one = PRIOR
    for datum in log:
        one = one.update(datum)
    assert one == PRIOR.update_many(log)
    assert PRIOR.n_tasks == 0
    np.testing.assert_allclose(PRIOR.new_task().mean, MEAN)
    np.testing.assert_allclose(PRIOR.new_task().covariance, BASE + C)
    np.testing.assert_allclose(PRIOR.update(log[0]).means()[0], dense(log[:1], [0])[1])


TWO = PRIOR.update_many(data(2, 1, seed=4))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: LinearRewardClasses(0.0, 1.0, C, MEAN, BASE), "'concentration' must be greater than 0"),
        (lambda: LinearRewardClasses(1.0, -1.0, C, MEAN, BASE), "'noise' must be greater than 0"),
        (lambda: LinearRewardClasses(1.0, 1.0, -C, MEAN, BASE), "'class_covariance' must be symmetric and positive"),
        (lambda: LinearRewardClasses(1.0, 1.0, C, MEAN, [[1, 2], [0, 1]]), "'base_covariance' must be symmetric and"),
        (lambda: LinearRewardClasses(1.0, 1.0, np.eye(3), MEAN, BASE), "'class_covariance' must be an array of shape"),
        (lambda: LinearRewardClasses(1.0, 1.0, C, [np.nan, 0.0], BASE), "'base_mean' must be finite"),
        (lambda: LinearRewardClasses(1.0, 1.0, C, [1e101, 0.0], BASE), "'base_mean' must be of moderate size"),
        (lambda: LinearRewardClasses(1.0, 1.0, 1e101 * C, MEAN, BASE), "'class_covariance' must be of moderate size"),
        (lambda: LinearRewardClasses(1.0, 1.0, C, MEAN, 1e101 * BASE), "'base_covariance' must be of moderate size"),
        (lambda: LinearRewardClasses(1.0, 1.0, C, MEAN, [[1, 1], [1, 1]]), "'base_covariance' must be symmetric and"),
        (lambda: LinearRewardClasses(1.0, 1.0, C, 0.0, BASE), "'base_mean' must be an array of shape"),
        (lambda: PRIOR.update((-1, [1.0, 0.0], 0.0)), "'task' must be a whole number of at least 0"),
        (lambda: PRIOR.update((None, [1.0, 0.0], 0.0)), "'task' must be a whole number of at least 0"),
        (lambda: PRIOR.update((0, [1.0], 0.0)), "'features' must be an array of shape"),
        (lambda: PRIOR.update((0, [1.0, np.inf], 0.0)), "'features' must be finite"),
        (lambda: PRIOR.update((0, [1.0, 0.0], np.nan)), "'reward' must be a finite number"),
        (lambda: PRIOR.update((0, [1.0, 0.0])), "'datum' must be a task, its features and a reward"),
        (lambda: PRIOR.update_many(3), "'log' must be a sequence"),
        (lambda: PRIOR.new_task(3), "'log' must be a sequence"),
        (lambda: PRIOR.new_task([(0, [1.0, 0.0], 1.0)]), "'datum' must be features and a reward"),
        (lambda: PRIOR.log_predictive([([1.0], 1.0)]), "'features' must be an array of shape"),
        (lambda: PRIOR.log_predictive([([1.0, 0.0], np.nan)]), "'reward' must be a finite number"),
        (lambda: TWO.log_predictive([]), "'belief' must be one that was refreshed"),
        (lambda: TWO.refresh(default_rng(0), 0), "'sweeps' must be a whole number of at least 1"),
        (lambda: TWO.refresh(None), "'rng' must be a numpy Generator"),
        (lambda: TWO.means(), "'belief' must be one that was refreshed"),
        (lambda: TWO.co_class(), "'belief' must be one that was refreshed"),
        (lambda: PRIOR.task(0), "'index' must be the number of a task that has data"),
        (lambda: TWO.refresh(default_rng(0)).task(2), "'index' must be a whole number of at least 0 and at most 1"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()


@pytest.mark.parametrize("name", ["linear_reward_classes", "hierarchical_mdp"])
def test_the_largest_number_of_tasks(name, monkeypatch):
    """With a limit of three tasks, the last is task 2."""
    module = importlib.import_module(f"bayesrl.beliefs.tasks.{name}")
    monkeypatch.setattr(module, "MOST_TASKS", 3)
    two = b.TabularMDP.from_dense([[[0.5, 0.5]], [[0.5, 0.5]]], [[0.0], [1.0]], gamma=0.9)
    for task in (2, 3):
        if name == "hierarchical_mdp":
            belief, datum = b.make("hierarchical-mdp", problem=two), b.Transition(0, 0, 0.0, 1, task=task)
        else:
            belief, datum = PRIOR, (task, [1.0, 0.0], 0.5)
        if task == 2:
            assert belief.update(datum).n_tasks == 3
        else:
            with pytest.raises(InvalidArgument, match="'task' must be a whole number of at least 0 and at most 2"):
                belief.update(datum)
