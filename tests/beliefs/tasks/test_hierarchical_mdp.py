"""Classes of tasks: enumerated clusterings, limits of the concentration, beliefs about tasks, transfer, bad input."""

from itertools import product
from math import log

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import diagnose
from bayesrl.beliefs.crp import draw_clustering, weight_of_new
from bayesrl.beliefs.dynamics.partitions import all_partitions
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.multitask import HierarchicalMDP, LogUniform
from bayesrl.parameters import unchecked
from bayesrl.testing import assert_chain_mean

MDP = b.TabularMDP.from_dense(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [0.5, 0.0]], gamma=0.9)
FACTS = [1 / 6, 0.380556, 0.3125, 0.118056, 0.020833, 0.001389]
"""Six customers, concentration 1: the probability of one to six tables."""


def logs(tasks, steps, seed, kinds=2):
    """Steps of tasks of two kinds: rows drawn once for each kind."""
    rng = default_rng(seed)
    P = rng.dirichlet([0.5, 0.5], (kinds, 2, 2))
    found = []
    for m, _ in product(range(tasks), range(steps)):
        s, a = int(rng.integers(2)), int(rng.integers(2))
        y = int(rng.random() < P[m % kinds, s, a, 1])
        found.append(Transition(s, a, float(MDP.mean_reward[s, a]), y, task=m))
    return found


def naive(data, tasks, c, alpha):
    """(labels, probability) of every clustering: the restaurant, and the urns of classes, one step after the other."""
    labels, _ = all_partitions(tasks)
    joint = np.zeros(len(labels))
    for i, z in enumerate(labels.tolist()):
        for m in range(tasks):
            n = sum(z[k] == z[m] for k in range(m))
            joint[i] += log((n or c) / (m + c))
        urns = {}
        for s, a, _, y, _, _, m in data:
            n = urns.setdefault((z[m], s, a), [alpha, alpha])
            joint[i] += log(n[y] / sum(n))
            n[y] += 1
    p = np.exp(joint - joint.max())
    return labels, p / p.sum()


@pytest.mark.parametrize(("tasks", "c", "alpha"), [(4, 0.5, 0.7), (5, 2.0, 1.0), (6, 1.0, 0.4)])
def test_draws_follow_the_enumerated_clusterings(tasks, c, alpha):
    """15, 52 and 203 clusterings: each probability, co-assignment and the number of classes, in 4000 sweeps.

    False alarm 1e-5 for each of about 300 numbers.
    """
    data = logs(tasks, 5, seed=tasks)
    labels, p = naive(data, tasks, c, alpha)
    belief = HierarchicalMDP(MDP, c, alpha).update_many(data).refresh(default_rng(1), sweeps=4000)
    z = belief.assignments
    assert_chain_mean((z[:, None] == labels).all(axis=2), p)
    same = labels[:, :, None] == labels[:, None, :]
    exact = np.tensordot(p, same, axes=1)
    assert_chain_mean((z[:, :, None] == z[:, None, :]).reshape(len(z), -1), exact.ravel())
    np.testing.assert_allclose(belief.co_class(), exact, atol=0.1)
    counts = labels.max(axis=1) + 1
    assert_chain_mean((z.max(axis=1) + 1)[:, None] == np.arange(1, tasks + 1), np.bincount(counts, p)[1:])
    assert belief.n_classes() == pytest.approx(p @ counts, abs=0.15)


def test_tasks_without_data_follow_the_restaurant():
    """The facts' table of counts; tasks 0 to 4 were skipped, task 5 has one step, which says nothing about classes."""
    belief = HierarchicalMDP(MDP).update(Transition(0, 0, 0.0, 1, task=5)).refresh(default_rng(2), 6000)
    assert belief.n_tasks == 6
    assert_chain_mean((belief.assignments.max(axis=1) + 1)[:, None] == np.arange(1, 7), FACTS)


def test_tasks_are_mixtures_over_the_clusterings():
    """Mean rows of a task and of the next one against sums over the 15 clusterings; learning goes on by Bayes' rule."""
    data, c, alpha = logs(4, 6, seed=3), 0.8, 0.6
    labels, p = naive(data, 4, c, alpha)
    belief = HierarchicalMDP(MDP, c, alpha).update_many(data).refresh(default_rng(3), 8000)
    n = np.zeros((4, 2, 2, 2))
    for s, a, _, y, _, _, m in data:
        n[m, s, a, y] += 1.0

    def rows(members):
        counts = alpha + n[members].sum(axis=0)
        return (counts / counts.sum(axis=2, keepdims=True)).reshape(4, 2)

    of_task = [sum(w * rows(z == z[m]) for w, z in zip(p, labels, strict=True)) for m in range(4)]
    for m in range(4):
        np.testing.assert_allclose(belief.task(m).mean_mdp().prob, of_task[m], atol=0.012)
    new = np.zeros((4, 2))
    for w, z in zip(p, labels, strict=True):
        for j in range(z.max() + 1):
            new += w * (z == j).sum() / (4 + c) * rows(z == j)
        new += w * c / (4 + c) * rows(np.zeros(4, bool))
    np.testing.assert_allclose(belief.new_task().mean_mdp().prob, new, atol=0.012)

    more = [Transition(0, 1, 1.0, 1), Transition(0, 1, 1.0, 1), Transition(1, 0, 0.5, 0)]
    again = [step._replace(task=1) for step in more]
    fresh = HierarchicalMDP(MDP, c, alpha).update_many(data + again).refresh(default_rng(4), 8000)
    np.testing.assert_allclose(
        belief.task(1).update_many(more).mean_mdp().prob, fresh.task(1).mean_mdp().prob, atol=0.015
    )
    fifth = HierarchicalMDP(MDP, c, alpha).update_many(data + [s._replace(task=4) for s in more])
    np.testing.assert_allclose(
        belief.new_task().update_many(more).mean_mdp().prob,
        fifth.refresh(default_rng(5), 8000).task(4).mean_mdp().prob,
        atol=0.015,
    )


def test_concentration_pools_and_separates():
    data, rng = logs(5, 6, seed=6), default_rng(6)
    pooled = HierarchicalMDP(MDP, 1e-9).update_many(data).refresh(rng, 50)
    apart = HierarchicalMDP(MDP, 1e9).update_many(data).refresh(rng, 50)
    np.testing.assert_array_equal(pooled.co_class(), 1.0)
    np.testing.assert_array_equal(apart.co_class(), np.eye(5))
    assert (pooled.n_classes(), apart.n_classes()) == (1.0, 5.0)
    every = b.DirichletMDP.flat(MDP).update_many(data)
    np.testing.assert_allclose(pooled.task(3).mean_mdp().prob, every.mean_mdp().prob)
    own = b.DirichletMDP.flat(MDP).update_many([step for step in data if step.task == 3])
    np.testing.assert_allclose(apart.task(3).mean_mdp().prob, own.mean_mdp().prob)
    np.testing.assert_allclose(apart.new_task().mean_mdp().prob, 0.5, atol=1e-8)


def test_before_any_task():
    """No task, no label and no draw, in the shapes that a file must have; one draw of no tasks is a sweep of it."""
    belief = HierarchicalMDP(MDP, 1.7)
    assert (belief.n_tasks, belief.data, belief.labels.shape, belief.assignments.shape) == (0, (), (0,), (0, 0))
    assert belief.labels.dtype == belief.assignments.dtype == np.int64
    belief.check_grown()
    swept = belief.refresh(default_rng(0), 3)
    assert (swept.labels.shape, swept.assignments.shape) == ((0,), (3, 0))
    swept.check_grown()
    for one in (belief, swept):
        assert (one.n_classes(), one.co_class().shape, one.sample(default_rng(0))) == (0.0, (0, 0), ())
        np.testing.assert_allclose(one.new_task().mean_mdp().prob, 0.5)


def test_many_classes():
    """The arrays of classes grow: 70 tasks, each in a class of its own, twice; and 70 in one."""
    data = logs(70, 3, seed=14)
    apart = HierarchicalMDP(MDP, 1e12).update_many(data).refresh(default_rng(0), 2)
    np.testing.assert_array_equal(apart.assignments, [np.arange(70)] * 2)
    np.testing.assert_array_equal(HierarchicalMDP(MDP, 1e-12).update_many(data).refresh(default_rng(0)).labels, 0)


def test_only_counts_matter():
    """The order of a log, and how it is cut into updates, change nothing; older beliefs stay as they are."""
    data = logs(3, 5, seed=7)
    whole = HierarchicalMDP(MDP).update_many(data)
    one = HierarchicalMDP(MDP)
    for step in reversed(data):
        one = one.update(step)
    assert whole == one
    assert whole.refresh(default_rng(8), 20) == one.refresh(default_rng(8), 20)
    table = {
        name: [getattr(step, name) for step in data] for name in ("state", "action", "reward", "next_state", "task")
    }
    assert HierarchicalMDP(MDP).update_many(table) == whole
    assert len(whole.refresh(default_rng(8), 20).refresh(default_rng(9), 5).assignments) == 25
    assert len(whole.assignments) == len(whole.refresh(default_rng(8)).update(data[0]).assignments) == 0


def test_a_prior_of_classes_may_have_known_rows():
    prior = b.DirichletMDP.structured(b.make_world("chain-tied"), concentration=0.5)
    belief = HierarchicalMDP(prior)
    assert belief.problem is prior
    belief = belief.update(Transition(0, 0, 0.0, 1)).update(Transition(1, 0, 0.0, 2))
    np.testing.assert_allclose(belief.task(0).mean_mdp().prob[0], [5 / 6, 1 / 6])
    np.testing.assert_allclose(belief.new_task().posterior(), [0.5, 0.5])
    sure = HierarchicalMDP(b.DirichletMDP.structured(b.make_world("chain-tied"), known=True))
    assert sure.update(Transition(0, 0, 0.0, 1)).task(0).counts().min() == np.inf


@pytest.mark.parametrize("name", ["psrl", "exploit", pytest.param("bamcp", marks=pytest.mark.long), "boss", "vbrb"])
def test_planners_act_on_tasks(name):
    belief = HierarchicalMDP(MDP).update_many(logs(3, 6, seed=9)).refresh(default_rng(9), 30)
    planner = b.make(name, simulations=20) if name == "bamcp" else b.make(name)
    for prior in (belief.task(1), belief.new_task(draws=5)):
        world = b.worlds.tabular.MDPWorld("two states", MDP)
        assert len(b.run(b.BayesAgent(prior, planner), world, steps=5)) == 5


def test_a_draw_has_one_model_for_each_class():
    belief = HierarchicalMDP(MDP).update_many(logs(4, 8, seed=10)).refresh(default_rng(10), 200)
    rng = default_rng(11)
    drawn = [belief.sample(rng, 5) for _ in range(400)]
    same = np.mean([[[x is y for x in models] for y in models] for models in drawn], axis=0)
    np.testing.assert_allclose(same[:4, :4], belief.co_class(), atol=0.15)
    assert len(belief.sample(rng)) == 4


THREE = b.TabularMDP.from_dense(np.full((3, 2, 3), 1 / 3), [[0.0, 1.0], [0.5, 0.0], [0.2, 0.7]], gamma=0.9)
DRAWN = [[0, 0, 1, 0], [0, 1, 2, 0], [0, 0, 1, 0], [0, 1, 1, 1], [0, 1, 0, 1]]
"""Five clusterings of four tasks."""


def with_draws(c, alpha=0.7):
    """A belief over three states after steps of tasks 0, 1 and 3, with these clusterings; the counts (4, 3, 2, 3)."""
    rng, n, steps = default_rng(13), np.zeros((4, 3, 2, 3)), []
    for m in (0, 0, 0, 1, 1, 3, 3, 3, 3, 3):
        s, a, y = (int(rng.integers(k)) for k in (3, 2, 3))
        n[m, s, a, y] += 1.0
        steps.append(Transition(s, a, float(THREE.mean_reward[s, a]), y, task=m))
    belief = HierarchicalMDP(THREE, c, alpha).update_many(steps)
    return unchecked(belief, assignments=np.array(DRAWN)), n


@pytest.mark.parametrize("c", [1.7, LogUniform(0.2, 40.0)], ids=["c known", "c unknown"])
def test_tasks_and_the_next_one_of_given_clusterings(c):
    """The components and weights of the mixtures, written out: members of a class in each draw, and a new class."""
    belief, n = with_draws(c)

    def mixed(found, expected):
        alpha = np.array([one.alpha.reshape(3, 2, 3) for one in found.components])
        for (members, weight), got, w in zip(expected.items(), alpha, found.posterior(), strict=True):
            np.testing.assert_allclose(got, 0.7 + n[list(members)].sum(axis=0))
            assert w == pytest.approx(weight, rel=1e-12)

    for m in range(4):
        expected = {}
        for z in DRAWN:
            members = tuple(i for i in range(4) if z[i] == z[m])
            expected[members] = expected.get(members, 0.0) + 1 / 5
        mixed(belief.task(m), expected)
    expected = {}
    for z in DRAWN:
        new = float(weight_of_new(c, max(z) + 1, 5))
        for j in range(max(z) + 1):
            members = tuple(i for i in range(4) if z[i] == j)
            expected[members] = expected.get(members, 0.0) + len(members) / (4 + new) / 5
    expected[()] = sum(float(w / (4 + w)) for w in (weight_of_new(c, max(z) + 1, 5) for z in DRAWN)) / 5
    mixed(belief.new_task(), expected)
    # Draws are evenly spaced: of five, the first, the third and the last.
    mixed(belief.task(1, draws=3), {(0, 1, 3): 2 / 3, (1, 3): 1 / 3})
    mixed(belief.task(1, draws=1), {(0, 1, 3): 1.0})
    mixed(belief.task(1, draws=2), {(0, 1, 3): 0.5, (1, 3): 0.5})
    assert belief.task(1, draws=5) == belief.task(1, draws=6) == belief.task(1)
    assert belief.n_classes() == pytest.approx(11 / 5)
    same = np.mean([[[x == y for x in z] for y in z] for z in DRAWN], axis=0)
    np.testing.assert_allclose(belief.co_class(), same)


@pytest.mark.parametrize("tasks", [None, 4, 7])
def test_a_draw_of_given_clusterings(tasks):
    """The same random numbers in order: one of the draws, classes of new tasks, a model of each class."""
    belief, n = with_draws(1.7)
    prior = belief.problem
    for seed in range(6):
        found, rng = belief.sample(default_rng(seed), tasks), default_rng(seed)
        z = draw_clustering(tasks or 4, 1.7, rng, np.array(DRAWN[int(rng.random() * 5)]))
        models = []
        for j in range(max(z) + 1):
            counts = n[np.array(z[:4]) == j].sum(axis=0).reshape(6, 3)
            models.append(b.DirichletMDP(prior.outcomes, 0.7 + counts, 0.9, prior.known).sample_mdp(rng))
        assert len(found) == (tasks or 4)
        for got, j in zip(found, z, strict=True):
            np.testing.assert_allclose(got.prob, models[j].prob, rtol=1e-12)


def test_counts_of_tasks_and_their_lists():
    """Cells g K + k in order with their counts, task by task; the lists of the sampler hold the cells seen alone."""
    belief, n = with_draws(1.7)
    flat = n.reshape(4, 18)
    seen = np.flatnonzero(flat.any(axis=0))
    groups = sorted(set((seen // 3).tolist()))
    for m in range(4):
        np.testing.assert_array_equal(belief.data[m].cells, np.flatnonzero(flat[m]))
        np.testing.assert_array_equal(belief.data[m].counts, flat[m][flat[m] > 0.0])
    steps = belief._steps()
    assert steps.start.tolist() == [0, *np.cumsum((flat > 0.0).sum(axis=1))]
    assert seen[steps.cell].tolist() == [cell for m in range(4) for cell in np.flatnonzero(flat[m])]
    assert steps.n.tolist() == [x for m in range(4) for x in flat[m] if x]
    assert steps.group.tolist() == [groups.index(cell // 3) for cell in seen.tolist()]
    np.testing.assert_allclose(steps.alpha, np.full(len(seen), 0.7))
    np.testing.assert_allclose(steps.total, np.full(len(groups), 3 * 0.7))
    again = belief.update(Transition(2, 1, float(THREE.mean_reward[2, 1]), 0, task=5))
    assert (again.n_tasks, again.labels.tolist(), again.assignments.shape) == (6, [*belief.labels, -1, -1], (0, 6))
    assert (again.data[5].cells.tolist(), again.data[5].counts.tolist()) == ([15], [1.0])
    assert len(again.data[4].cells) == 0


def test_diagnostics_are_of_classes_and_their_sizes():
    """The number of classes, and the size of each task's class, of every draw."""
    belief, _ = with_draws(1.7)
    columns = [[max(z) + 1, *(z.count(z[m]) for m in range(4))] for z in DRAWN]
    expected = diagnose(np.array(columns, float))
    found = belief.diagnostics()
    np.testing.assert_allclose(found.effective_sample_size, expected.effective_sample_size)
    np.testing.assert_allclose(found.r_hat, expected.r_hat)
    assert found.draws == 5


def test_log_evidence_of_one_class_is_that_of_pooled_counts():
    """DM of a class is the product of its urns: the weight of a task's move is a ratio of evidences."""
    from bayesrl.beliefs.tasks._gibbs_of_counts import log_gain

    belief = HierarchicalMDP(MDP, alpha=0.3).update_many(logs(2, 9, seed=12))
    first, second = belief._steps(), b.DirichletMDP.flat(MDP, 0.3)
    N = np.bincount(first.cell[: first.start[1]], first.n[: first.start[1]], len(first.alpha))
    T = np.bincount(first.group, N, len(first.total))
    both, one = (second.update_many([s for s in logs(2, 9, seed=12) if s.task <= m]) for m in (1, 0))
    assert log_gain(1, first, N, T) == pytest.approx(both.log_evidence() - one.log_evidence(), abs=1e-10)


PRIOR = HierarchicalMDP(MDP)
TWO = PRIOR.update_many(logs(2, 2, seed=0))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: HierarchicalMDP(MDP, 0.0), "'concentration' must be greater than 0"),
        (lambda: HierarchicalMDP(MDP, np.nan), "'concentration' must be greater than 0"),
        (lambda: HierarchicalMDP(MDP, "1"), "'concentration' must be greater than 0"),
        (lambda: HierarchicalMDP(MDP, alpha=-1.0), "'alpha' must be greater than 0"),
        (lambda: HierarchicalMDP(None), "'problem' must be a TabularMDP or a world with a table"),
        (lambda: PRIOR.update(Transition(0, 0, 0.0, 0, task=-1)), "'task' must be a whole number of at least 0"),
        (lambda: PRIOR.update(Transition(0, 0, 0.0, 0, task=None)), "'task' must be a whole number of at least 0"),
        (lambda: PRIOR.update(Transition(0, 0, 0.0, 0, task=0.5)), "'task' must be a whole number of at least 0"),
        (lambda: PRIOR.update(Transition(0, 0, 0.0, 0, task=10**6)), "'task' must be a whole number"),
        (lambda: PRIOR.update(Transition(2, 0, 0.0, 0)), "'state' must be a whole number from 0 to 1"),
        (lambda: PRIOR.update(Transition(0, 2, 0.0, 0)), "'action' must be a whole number from 0 to 1"),
        (lambda: PRIOR.update(Transition(0, 0, np.nan, 0)), "'reward' must be a finite number"),
        (lambda: PRIOR.update((0, 0)), "'datum' must be a Transition"),
        (lambda: PRIOR.update_many(3), "'log' must be transitions"),
        (lambda: PRIOR.update_many([3]), "'log' must be transitions"),
        (lambda: PRIOR.update_many({"state": [0]}), "'log' must be with a column"),
        (lambda: TWO.refresh(default_rng(0), 0), "'sweeps' must be a whole number of at least 1"),
        (lambda: TWO.refresh(0), "'rng' must be a numpy Generator"),
        (lambda: TWO.co_class(), "'belief' must be one that was refreshed"),
        (lambda: TWO.n_classes(), "'belief' must be one that was refreshed"),
        (lambda: TWO.new_task(), "'belief' must be one that was refreshed"),
        (lambda: TWO.task(0), "'belief' must be one that was refreshed"),
        (lambda: PRIOR.task(0), "'index' must be the number of a task that has data"),
        (lambda: TWO.refresh(default_rng(0)).task(2), "'index' must be a whole number of at least 0 and at most 1"),
        (lambda: TWO.refresh(default_rng(0)).task(-1), "'index' must be a whole number of at least 0"),
        (lambda: TWO.refresh(default_rng(0)).new_task(draws=0), "'draws' must be a whole number of at least 1"),
        (lambda: TWO.refresh(default_rng(0)).sample(default_rng(0), 1), "'tasks' must be a whole number of at least 2"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()
    assert TWO.n_tasks == 2


def test_the_largest_number_of_tasks():
    assert PRIOR.update(Transition(0, 0, 0.0, 0, task=999_999)).n_tasks == 1_000_000


def test_rewards_of_another_problem_are_impossible():
    with pytest.raises(ImpossibleEvidence, match="no outcome is listed"):
        PRIOR.update(Transition(0, 0, 7.0, 0))
    assert PRIOR.n_tasks == 0
    assert PRIOR.n_classes() == 0.0
