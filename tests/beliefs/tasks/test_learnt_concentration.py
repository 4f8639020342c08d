"""An unknown concentration of the restaurant: enumerated clusterings and values, limits, calibration, bad input."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from own_probes import check_belief
from scipy import special

import bayesrl as b
from bayesrl.beliefs.crp import draw_clustering, log_crp, weight_of_new
from bayesrl.beliefs.dynamics.partitions import all_partitions
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.multitask import HierarchicalMDP, LogUniform
from bayesrl.testing import assert_chain_mean

MDP = b.TabularMDP.from_dense(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [0.5, 0.0]], gamma=0.9)
UNKNOWN, ALPHA = LogUniform(0.05, 60.0), 0.6


def logs(tasks, steps, seed, kinds=2):
    """Steps of tasks of some kinds, each with its own rows."""
    rng = default_rng(seed)
    P, found = rng.dirichlet([0.5, 0.5], (kinds, 2, 2)), []
    for m in range(tasks):
        for _ in range(steps):
            s, a = int(rng.integers(2)), int(rng.integers(2))
            found.append(
                Transition(s, a, float(MDP.mean_reward[s, a]), int(rng.random() < P[m % kinds, s, a, 1]), task=m)
            )
    return found


def counts(data, tasks):
    """The counts of each task, (M, 2, 2, 2)."""
    n = np.zeros((tasks, 2, 2, 2))
    for step in data:
        n[step.task, step.state, step.action, step.next_state] += 1.0
    return n


def enumerated(data, tasks):
    """(labels, values of c, probability of each clustering and value): a restaurant for each c, an evidence for each z.

    Nothing here is integrated out but the rows, by `DirichletMDP`.
    """
    labels, _ = all_partitions(tasks)
    joint = np.zeros((len(labels), len(UNKNOWN.values)))
    for i, z in enumerate(labels):
        members = [[step for step in data if z[step.task] == j] for j in range(z.max() + 1)]
        evidence = sum(b.DirichletMDP.flat(MDP, ALPHA).update_many(log).log_evidence() for log in members)
        joint[i] = [log_crp(z, c) + evidence for c in UNKNOWN.values]
    return labels, UNKNOWN.values, np.exp(joint - special.logsumexp(joint))


@pytest.fixture(scope="module", params=[4, 5])
def case(request):
    tasks = request.param
    data = logs(tasks, 6, seed=tasks)
    belief = HierarchicalMDP(MDP, UNKNOWN, ALPHA).update_many(data).refresh(default_rng(1), 3000)
    return belief, data, *enumerated(data, tasks)


def test_draws_follow_the_enumerated_clusterings(case):
    """15 and 52 clusterings, summed over 61 values of c. False alarm 1e-5 for each."""
    belief, _, labels, _, joint = case
    assert_chain_mean((belief.assignments[:, None] == labels).all(axis=2), joint.sum(axis=1))


def test_the_concentration_has_its_posterior(case):
    """Each draw gives the distribution of c given its number of classes. False alarm 1e-5 for each of 61 means."""
    belief, _, labels, values, joint = case
    K = labels.max(axis=1) + 1
    given = np.array([joint[K == k].sum(axis=0) / joint[K == k].sum() for k in range(1, K.max() + 1)])
    drawn = given[belief.assignments.max(axis=1)]
    found = belief.concentrations()
    np.testing.assert_array_equal(found[0], values)
    np.testing.assert_allclose(found[1], drawn.mean(axis=0), atol=1e-12)
    assert_chain_mean(drawn, joint.sum(axis=0))


def test_the_next_task_is_the_enumerated_mixture(case):
    """The probability of a new class and the mean rows against sums over clusterings and values of c.

    False alarm 1e-5 for the first.
    """
    belief, data, labels, values, joint = case
    M = belief.n_tasks
    n, rows, new = counts(data, M), np.zeros((2, 2, 2)), 0.0
    for p, z in zip(joint, labels, strict=True):
        for j in range(z.max() + 1):
            alpha = ALPHA + n[z == j].sum(axis=0)
            rows += (p / (M + values)).sum() * (z == j).sum() * alpha / alpha.sum(axis=2, keepdims=True)
        new += (p * values / (M + values)).sum()
    found = belief.new_task()
    K = labels.max(axis=1)
    given = [(joint[K == k].sum(axis=0) / joint[K == k].sum()) @ (values / (M + values)) for k in range(M)]
    drawn = np.array(given)[belief.assignments.max(axis=1)]
    flat = next(i for i, one in enumerate(found.components) if (one.alpha == ALPHA).all())
    assert found.posterior()[flat] == pytest.approx(drawn.mean(), rel=1e-9)
    assert_chain_mean(drawn[:, None], [new])
    np.testing.assert_allclose(found.mean_mdp().prob, (rows + new * 0.5).reshape(4, 2), atol=0.015)


def test_a_draw_of_new_tasks_is_a_draw_of_c_and_a_restaurant():
    """Clusterings of four things, the first two apart, against the sum over c. False alarm 1e-5 for each of 6."""
    rng, labels = default_rng(3), [z for z in all_partitions(4)[0] if z[1] == 1]
    p = np.array([sum(np.exp(log_crp(z, c)) for c in UNKNOWN.values) for z in labels])
    drawn = np.array([draw_clustering(4, UNKNOWN, rng, np.array([0, 1])) for _ in range(1000)])
    assert_chain_mean((drawn[:, None] == np.array(labels)).all(axis=2), p / p.sum())


def test_the_weight_of_a_new_class():
    """In plain sums, for up to twelve things; it is c where the values are narrow."""
    c = LogUniform().values
    for n in (1, 2, 12):
        for K in range(n + 1):
            w = c**K / np.prod([c + i for i in range(n)], axis=0)
            assert weight_of_new(LogUniform(), K, n) == pytest.approx((w * c).sum() / w.sum(), rel=1e-10)
    np.testing.assert_allclose(weight_of_new(LogUniform(3.0, 3.0000001), np.arange(5), 5), 3.0, rtol=1e-7)
    assert np.isfinite(weight_of_new(LogUniform(1e-100, 1e100), np.arange(1001), 1000)).all()


def test_unrelated_tasks_make_it_large_and_related_ones_small():
    """Twelve tasks apart: the next one is of a known class with probability .037, instead of 12/13 for c = 1."""
    rows = b.TabularMDP.from_dense(np.full((13, 1, 13), 1 / 13), np.zeros((13, 1)), gamma=0.9)
    apart = [Transition(0, 0, 0.0, m, task=m) for m in range(12) for _ in range(60)]
    alike = [Transition(0, 0, 0.0, m % 3, task=m) for m in range(12) for _ in range(60)]
    new = []
    for data in (apart, alike):
        belief = HierarchicalMDP(rows, LogUniform()).update_many(data).refresh(default_rng(0), 100)
        new.append(belief.new_task().posterior()[-1])
    assert (belief.n_classes(), belief.concentrations()[1].sum()) == (3.0, pytest.approx(1.0))
    c = LogUniform().values
    w = np.prod([c / (c + i) for i in range(12)], axis=0)
    assert new[0] == pytest.approx((w * c / (c + 12)).sum() / w.sum(), rel=1e-10) == pytest.approx(0.963, abs=1e-3)
    assert new[1] < 0.2


def test_narrow_priors_pool_and_separate():
    data = logs(5, 6, seed=6)
    pooled = HierarchicalMDP(MDP, LogUniform(1e-10, 1e-9)).update_many(data).refresh(default_rng(6), 50)
    apart = HierarchicalMDP(MDP, LogUniform(1e9, 1e10)).update_many(data).refresh(default_rng(6), 50)
    assert (pooled.n_classes(), apart.n_classes()) == (1.0, 5.0)
    known = HierarchicalMDP(MDP, 2.0).update_many(data).refresh(default_rng(7), 50)
    narrow = HierarchicalMDP(MDP, LogUniform(2.0, np.nextafter(2.0, 3.0))).update_many(data).refresh(default_rng(7), 50)
    np.testing.assert_array_equal(known.assignments, narrow.assignments)
    assert [x.tolist() for x in known.concentrations()] == [[2.0], [1.0]]


@pytest.mark.long
def test_belief_laws():
    """Martingale, purity and calibration with three tasks. False alarm 1e-6 for each."""
    check_belief(HierarchicalMDP(MDP, LogUniform(0.1, 20.0), 0.7), rng=default_rng(5))


def test_up_to_one_task():
    """The concentration has its prior; the next task of no task is the prior's."""
    none = HierarchicalMDP(MDP, LogUniform())
    one = none.update(Transition(0, 0, 0.0, 1))
    for belief in (none, one, none.refresh(default_rng(0)), one.refresh(default_rng(0))):
        np.testing.assert_allclose(belief.concentrations()[1], 1 / 61)
    assert none.new_task().mean_mdp() == b.DirichletMDP.flat(MDP).mean_mdp()
    mean = (LogUniform().values / (1.0 + LogUniform().values)).mean()
    np.testing.assert_allclose(one.new_task().posterior(), [1.0 - mean, mean])
    assert len(none.sample(default_rng(0), 3)) == len(one.sample(default_rng(0), 3)) == 3


def test_files(tmp_path):
    belief = HierarchicalMDP(MDP, UNKNOWN).update_many(logs(3, 4, seed=8)).refresh(default_rng(8), 20)
    b.save(belief, tmp_path / "belief.zip")
    for again in (b.load(tmp_path / "belief.zip"), pickle.loads(pickle.dumps(belief))):
        assert again == belief
        assert again.refresh(default_rng(9), 5) == belief.refresh(default_rng(9), 5)
    assert belief != HierarchicalMDP(MDP, LogUniform()).update_many(logs(3, 4, seed=8)).refresh(default_rng(8), 20)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: LogUniform(0.0), "LogUniform: 'low' must be .*greater than 0"),
        (lambda: LogUniform(-1.0), "LogUniform: 'low' must be .*greater than 0"),
        (lambda: LogUniform(np.nan), "LogUniform: 'low' must be .*greater than 0"),
        (lambda: LogUniform("1"), "LogUniform: 'low' must be .*greater than 0"),
        (lambda: LogUniform(None), "LogUniform: 'low' must be .*greater than 0"),
        (lambda: LogUniform([1.0, 2.0]), "LogUniform: 'low' must be .*greater than 0"),
        (lambda: LogUniform(high=np.inf), "LogUniform: 'high' must be .*greater than 0"),
        (lambda: LogUniform(high=0.0), "LogUniform: 'high' must be .*greater than 0"),
        (lambda: LogUniform(1e-200), "LogUniform: 'low' must be .*greater than 0.* Positive numbers below 1e-100"),
        (lambda: LogUniform(high=1e200), "LogUniform: 'high' must be .*greater than 0.* Numbers beyond 1e.100"),
        (lambda: LogUniform(2.0, 2.0), "LogUniform: 'low' must be below high, 2, got 2.0"),
        (lambda: LogUniform(3.0, 2.0), "LogUniform: 'low' must be below high"),
        (lambda: HierarchicalMDP(MDP, LogUniform), "HierarchicalMDP: 'concentration' must be .*greater than 0"),
        (lambda: HierarchicalMDP(MDP, (0.1, 10.0)), "HierarchicalMDP: 'concentration' must be .*greater than 0"),
        (lambda: HierarchicalMDP(MDP, None), "HierarchicalMDP: 'concentration' must be .*greater than 0"),
        (
            lambda: HierarchicalMDP(MDP, UNKNOWN).update_many(logs(2, 1, seed=0)).concentrations(),
            "'belief' must be one that was refreshed",
        ),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()
