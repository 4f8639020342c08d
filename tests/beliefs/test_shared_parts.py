"""Small parts that many beliefs share, each against loops or a closed form: choices, clusterings, logs, normal laws."""

from math import log

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import integrate, special, stats

import bayesrl as b
from bayesrl.beliefs import crp as crp
from bayesrl.beliefs.choices import best_action, value_of_perfect_information
from bayesrl.beliefs.dynamics.partitions import all_partitions
from bayesrl.beliefs.log import column_name, columns, table_of, transitions
from bayesrl.beliefs.mdp.finite_mdps import FiniteMDPs
from bayesrl.beliefs.normal_gamma import NormalGamma, increments, sample_means, scale_of_mean, variance_of_mean
from bayesrl.beliefs.values.linear_model import log_partition, seen_through
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.testing import assert_mean_equal

# Choices -------------------------------------------------------------------------------------------------------------


def test_ties_are_relative_to_the_largest_size():
    """1e-9 of the largest absolute value, here 100e-9; among ties the first, or one for each part of [0, 1)."""
    q = np.array([-100.0, 3.0 - 101e-9, 3.0 - 99e-9, 3.0, 2.0, 3.0 - 50e-9])
    assert best_action(q, "first", default_rng(0)) == 2
    rng, same = default_rng(1), default_rng(1)
    for _ in range(30):
        assert best_action(q, "random", rng) == [2, 3, 5][int(same.random() * 3)]
    assert best_action(q, "first", rng) == 2
    assert best_action(np.array([0.5, 2.0, 1.0]), "random", rng) == 1
    assert rng.random() == same.random()  # without a tie, and for the first, no number was drawn
    small = 1e-12 * q  # in any unit
    assert {best_action(small, "random", rng) for _ in range(40)} == {2, 3, 5}
    cancelled = np.array([0.0, -1.1e-9, -0.9e-9])  # what is left of numbers of this size
    assert {best_action(cancelled, "random", rng, scale=1e4) for _ in range(40)} == {0, 2}


@pytest.mark.parametrize("actions", [1, 2, 4])
def test_value_of_perfect_information(actions):
    """Gains over the best mean, or of the second best over the best action, in loops over weighted samples."""
    rng = default_rng(actions)
    q, w = rng.normal(size=(7, actions)) + 0.3 * np.arange(actions), rng.dirichlet(np.ones(7))
    mean, vpi = value_of_perfect_information(q, w)
    expected = [sum(w[i] * q[i, a] for i in range(7)) for a in range(actions)]
    np.testing.assert_allclose(mean, expected)
    assert vpi.shape == (actions,)
    order = sorted(range(actions), key=lambda a: -expected[a])
    for a in range(actions):
        if actions == 1:
            gain = 0.0
        elif a == order[0]:
            gain = sum(w[i] * max(expected[order[1]] - q[i, a], 0.0) for i in range(7))
        else:
            gain = sum(w[i] * max(q[i, a] - expected[order[0]], 0.0) for i in range(7))
        assert vpi[a] == pytest.approx(gain, abs=1e-14)


# Clusterings ---------------------------------------------------------------------------------------------------------


def test_clusterings_by_hand():
    """Labels by first appearance, shares of draws in which two things are together, numbers of clusters."""
    z = np.array([[5, 2, 5, 0, 2], [1, 1, 1, 1, 1], [4, 3, 2, 1, 0]])
    assert [crp.relabelled(row).tolist() for row in z] == [[0, 1, 0, 2, 1], [0] * 5, [0, 1, 2, 3, 4]]
    assert crp.relabelled(z[0]).dtype == np.int64
    assert crp.cluster_counts(z).tolist() == [3, 1, 5]
    assert crp.mean_clusters(z) == pytest.approx(3.0)
    assert crp.mean_clusters(np.zeros((2, 0), int)) == 0.0
    expected = [[sum(row[i] == row[j] for row in z) / 3 for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(crp.together(z), expected)


def test_the_restaurant():
    """One guest after the other: n or c of i + c; the 52 clusterings of five things sum to one."""
    c, total = 0.7, 0.0
    for z in all_partitions(5)[0]:
        p = 1.0
        for i in range(5):
            p *= (np.sum(z[:i] == z[i]) or c) / (i + c)
        assert crp.log_crp(z, c) == pytest.approx(log(p), rel=1e-12)
        assert crp.log_crp(3 * z, c) == pytest.approx(log(p), rel=1e-12)  # labels that leave numbers out
        total += p
    assert total == pytest.approx(1.0)


def plain_mean(values, K, n):
    """E[c | n things in K clusters] for values that are as probable before."""
    w = [c**K * np.exp(special.gammaln(c) - special.gammaln(c + n)) for c in values]
    return float(np.dot(w, values) / sum(w))


@pytest.mark.parametrize("unknown", [False, True])
def test_a_drawn_clustering_under_the_same_random_numbers(unknown):
    """Given labels stay; later things join a cluster of n with weight n, or a new one with c or its posterior mean."""
    concentration = crp.LogUniform(0.3, 50.0) if unknown else 1.3
    values = np.exp(np.linspace(log(0.3), log(50.0), 61))
    for seed in range(12):
        given = [None, np.array([0]), np.array([0, 1, 0]), np.array([0, 1, 2])][seed % 4]
        rng, z = default_rng(seed), [] if given is None else given.tolist()
        for i in range(len(z), 8):
            K = len(set(z))
            new = plain_mean(values, K, i + 1) if unknown else 1.3
            weights = [*(z.count(j) for j in range(K)), new]
            z.append(int(np.searchsorted(np.cumsum(weights), rng.random() * sum(weights), side="right")))
        found = crp.draw_clustering(8, concentration, default_rng(seed), given)
        assert found.tolist() == z
        assert found.dtype == np.int64


def test_an_unknown_concentration():
    """61 values evenly spaced in the logarithm; posterior means and probabilities by plain sums, means over draws."""
    law = crp.LogUniform(0.2, 30.0)
    values = np.exp(np.linspace(log(0.2), log(30.0), 61))
    np.testing.assert_allclose(law.values, values, rtol=1e-12)
    assert (crp.LogUniform().low, crp.LogUniform().high, len(crp.LogUniform().values)) == (0.01, 10_000.0, 61)
    clusters = np.array([[1, 4], [2, 6]])
    expected = [[plain_mean(values, K, 7) for K in row] for row in clusters]
    np.testing.assert_allclose(crp.weight_of_new(law, clusters, 7), expected, rtol=1e-10)
    np.testing.assert_array_equal(crp.weight_of_new(1.7, clusters, 7), np.full((2, 2), 1.7))
    each = [c**K / np.prod([c + i for i in range(7)]) for K in (2, 3, 3) for c in values]
    each = np.array(each).reshape(3, 61)
    found = crp.concentrations(law, np.array([2, 3, 3]), 7)
    np.testing.assert_array_equal(found[0], law.values)
    np.testing.assert_allclose(found[1], (each / each.sum(axis=1, keepdims=True)).mean(axis=0), rtol=1e-10)
    assert [x.tolist() for x in crp.concentrations(1.7, np.array([2, 3]), 7)] == [[1.7], [1.0]]
    for bad in (0.0, -1.0, 1e101, 1e-101, "1"):
        with pytest.raises(InvalidArgument, match="'concentration' must be"):
            crp.check_concentration("f", bad)
    assert crp.check_concentration("f", law) is law
    assert crp.check_concentration("f", 1e-100) == 1e-100


# Normal laws ---------------------------------------------------------------------------------------------------------


def test_normal_gamma():
    """One observation at a time against the sums of all; the marginal of the mean is Student's t."""
    start, x = NormalGamma(0.4, 1.7, 2.2, 0.9), np.array([1.3, -0.8, 2.1, 0.2])
    now = start
    for y in x:
        now = NormalGamma(*(old + more for old, more in zip(now, increments(now.strength, y - now.mean), strict=True)))
    n, centre = len(x), x.mean()
    spread = 0.5 * ((x - centre) ** 2).sum() + 0.5 * 1.7 * n / (1.7 + n) * (centre - 0.4) ** 2
    expected = ((1.7 * 0.4 + n * centre) / (1.7 + n), 1.7 + n, 2.2 + n / 2, 0.9 + spread)
    np.testing.assert_allclose(now, expected, rtol=1e-12)
    t = stats.t(2 * now.shape, now.mean, scale_of_mean(now))

    def density(m):  # precision integrated out by quadrature
        tau = np.linspace(1e-6, 40.0, 40_001)
        gamma = now.shape * log(now.rate) - special.gammaln(now.shape) + (now.shape - 1) * np.log(tau) - now.rate * tau
        normal = 0.5 * np.log(now.strength * tau / (2.0 * np.pi)) - 0.5 * now.strength * tau * (m - now.mean) ** 2
        return integrate.trapezoid(np.exp(gamma + normal), tau)

    for m in (0.1, 1.4):
        assert t.pdf(m) == pytest.approx(density(m), rel=1e-6)
    assert variance_of_mean(now) == pytest.approx(t.var(), rel=1e-12)
    several = NormalGamma(np.zeros(3), np.array([1.5, 1.5, 2.0]), np.array([0.7, 1.0, 1.4]), np.array([0.6, 0.6, 0.8]))
    np.testing.assert_allclose(variance_of_mean(several), [np.inf, np.inf, 0.8 / (2.0 * 0.4)])


def test_draws_of_normal_gamma_means():
    """Mean and second moment of 20,000 draws of two cells, false alarm 1e-6 each; precisions are drawn first."""
    cells = NormalGamma(np.array([0.5, -2.0]), np.array([1.5, 4.0]), np.array([6.0, 9.0]), np.array([2.0, 12.0]))
    many = NormalGamma(*(np.repeat(x[None], 20_000, axis=0) for x in cells))
    draws = sample_means(many, default_rng(3))
    assert_mean_equal(draws, cells.mean, false_alarm=1e-6)
    assert_mean_equal((draws - cells.mean) ** 2, cells.rate / (cells.strength * (cells.shape - 1.0)), false_alarm=1e-6)
    rng = default_rng(4)
    tau = np.array([rng.standard_gamma(a) for a in cells.shape]) / cells.rate
    z = np.array([rng.standard_normal() for _ in range(2)])
    np.testing.assert_allclose(
        sample_means(cells, default_rng(4)), cells.mean + z / np.sqrt(cells.strength * tau), rtol=1e-12
    )


def test_information_of_linear_data():
    """The integral of exp(eta'w - w'Pw/2) by quadrature in one dimension and by completing the square in two.

    Data seen through noise of the weights: the precision of C + A^-1, whose shift is that of the estimate A^-1 b.
    """
    P, eta = np.array([[2.5]]), np.array([0.7])
    whole, _ = integrate.quad(lambda w: np.exp(0.7 * w - 1.25 * w * w), -np.inf, np.inf)
    assert log_partition(P, eta) == pytest.approx(log(whole) - 0.5 * log(2.0 * np.pi), rel=1e-9)
    rng = default_rng(5)
    A = np.array([x @ x.T + 0.2 * np.eye(3) for x in rng.normal(size=(2, 3, 3))])
    shift, C = rng.normal(size=(2, 3)), np.array([[0.5, 0.1, 0.0], [0.1, 0.3, -0.1], [0.0, -0.1, 0.9]])
    for i in range(2):
        mean = np.linalg.inv(A[i]) @ shift[i]
        expected = 0.5 * (mean @ A[i] @ mean - log(np.linalg.det(A[i])))
        assert log_partition(A, shift)[i] == pytest.approx(expected, rel=1e-10)
        precision = np.linalg.inv(C + np.linalg.inv(A[i]))
        np.testing.assert_allclose(seen_through(A, shift, C)[0][i], precision, rtol=1e-9)
        np.testing.assert_allclose(seen_through(A, shift, C)[1][i], precision @ mean, rtol=1e-9)
        np.testing.assert_array_equal(seen_through(A, shift, C)[0][i], seen_through(A, shift, C)[0][i].T)
    flat = np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0])  # a singular matrix: one row of features
    one = np.array([1.0, 2.0, 0.0]) / (1.0 + np.array([1.0, 2.0, 0.0]) @ C @ np.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(seen_through(flat, np.array([1.0, 2.0, 0.0]) * 0.4, C)[1], 0.4 * one, rtol=1e-12)


# One of many ---------------------------------------------------------------------------------------------------------


def test_one_of_many_models():
    """Posterior and evidence by Bayes' rule; equal weights if nothing is said; models must have one form."""
    rng = default_rng(6)
    rows = rng.dirichlet(np.ones(3), (3, 3, 2))
    models = [b.TabularMDP.from_dense(P, [[0.0, 1.0], [0.5, 2.0], [0.3, 0.0]], gamma=0.83) for P in rows]
    assert FiniteMDPs(models).weights.tolist() == [1 / 3] * 3
    belief = FiniteMDPs(models, [0.2, 0.5, 0.3])
    assert (belief.n_states, belief.n_actions, belief.gamma) == (3, 2, 0.83)
    assert belief.log_evidence() == pytest.approx(0.0, abs=1e-12)
    joint = np.array([0.2, 0.5, 0.3])
    for s, a, r, y in ((0, 1, 1.0, 2), (2, 0, 0.3, 1), (1, 1, 2.0, 1)):
        belief = belief.update(Transition(s, a, r, y))
        joint = joint * rows[:, s, a, y]
    np.testing.assert_allclose(belief.posterior(), joint / joint.sum(), rtol=1e-12)
    assert belief.log_evidence() == pytest.approx(log(joint.sum()), rel=1e-12)
    other = b.TabularMDP.from_dense(rows[0], [[0.0, 1.0], [0.5, 2.0], [0.3, 0.0]], gamma=0.8)
    for wrong in ([], [models[0], 3], 3):
        with pytest.raises(InvalidArgument, match="'models' must be a sequence of TabularMDP"):
            FiniteMDPs(wrong)
    for wrong in ([models[0], models[1], other], [models[0], other], [other, models[0], models[1]]):
        with pytest.raises(InvalidArgument, match="'models' must be equal in"):
            FiniteMDPs(wrong)
    alone = FiniteMDPs(models[:1])
    assert (alone.n_states, alone.n_actions, alone.gamma, alone.posterior().tolist()) == (3, 2, 0.83, [1.0])
    for weights in ([0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.5, 0.5]):
        with pytest.raises(InvalidArgument, match="'weights' must be"):
            FiniteMDPs(models, weights)


# Logs ----------------------------------------------------------------------------------------------------------------


def test_logs_as_transitions_and_as_columns():
    """The same steps in every form, with the names of observations or of states, and with further columns."""
    steps = [Transition(0, 1, 0.5, 2, task=3), Transition(2, 0, -1.5, 1, True, task=4), Transition(1, 1, 2.0, 0)]
    table = {name: [getattr(step, name) for step in steps] for name in Transition._fields}
    states = {{"observation": "state", "next_observation": "next_state"}.get(k, k): v for k, v in table.items()}
    for form in (steps, iter(steps), table, states):
        assert list(transitions("f", form)) == steps
    short = {name: table[name] for name in Transition._fields[:4]}
    assert list(transitions("f", short)) == [Transition(*step[:4]) for step in steps]
    assert list(transitions("f", {"state": [4, 5], "task": [1, 2]}, "observation")) == [
        Transition(4, None, 0.0, None, task=1),
        Transition(5, None, 0.0, None, task=2),
    ]
    for form in (steps, states):
        found = columns("f", form, "reward", "observation", "task")
        assert [x.tolist() for x in found] == [[0.5, -1.5, 2.0], [0, 2, 1], [3, 4, 0]]
    assert (table_of(steps), table_of(table)) == (None, table)
    assert [column_name(states, name) for name in ("observation", "action", "seen")] == ["state", "action", None]
    assert column_name(table | {"state": []}, "observation") == "observation"  # its own name comes first
    for bad, said in (
        ({"state": [0], "action": [0], "reward": [0.0]}, "f: 'log' must be with a column 'next_observation'"),
        (short | {"action": [0, 1]}, "f: 'log' must be columns of one length"),
        (np.array(3), "f: 'log' must be transitions, a record, or columns observation, action, reward, next_obs"),
        ([steps[0], 3], "f: 'log' must be transitions"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            list(transitions("f", bad))
    with pytest.raises(InvalidArgument, match="a record, or columns reward, task"):
        list(transitions("f", 3, "reward", "task"))
