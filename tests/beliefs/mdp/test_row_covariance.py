"""Covariances of a group's probabilities: closed forms, and which beliefs do not have them."""

import numpy as np

import bayesrl as b
from bayesrl.beliefs import RewardBeta, SparseDirichletMDP, UnknownRewards
from bayesrl.capabilities import HasRowCovariance, offers
from bayesrl.models.outcomes import Outcomes
from bayesrl.registry import entries

HAVE = {"dirichlet-mdp", "tied-dirichlet", "sparse-dirichlet"}


def test_of_a_dirichlet():
    """By hand: counts 1, 3, 4 have the covariance (diag p - p p') / 9. A known group is zero, padding too."""
    succ, size = np.array([[[0, 1, 2]], [[0, 1, 0]], [[0, 2, 0]]]), np.array([3, 2, 2])
    outcomes = Outcomes(succ, 0.0 * succ, np.arange(3)[:, None], size, np.zeros(1), np.eye(3)[0], np.zeros(3, bool))
    alpha = [[1.0, 3.0, 4.0], [0.5, 1.5, 0.0], [0.3, 0.7, 0.0]]
    belief = b.DirichletMDP(outcomes, alpha, 0.9, [False, False, True])
    p, q = np.array([1.0, 3.0, 4.0]) / 8.0, np.array([0.25, 0.75, 0.0])
    exact = [(np.diag(p) - np.outer(p, p)) / 9.0, (np.diag(q) - np.outer(q, q)) / 3.0, np.zeros((3, 3))]
    np.testing.assert_allclose(belief.row_covariance(), exact, atol=1e-15)
    np.testing.assert_array_equal(np.diagonal(belief.row_covariance(), axis1=1, axis2=2), belief.row_variance())
    ones = np.ones((3, 1))
    np.testing.assert_array_equal(
        UnknownRewards(belief, RewardBeta(ones, ones)).row_covariance(), belief.row_covariance()
    )


def test_of_sparse_groups_of_unequal_sizes():
    """Padding has no covariance, and each group uses its own number of outcomes: every matrix sums to zero."""
    succ, size = np.array([[[0, 1, 0]], [[0, 1, 2]], [[2, 0, 0]]]), np.array([2, 3, 1])
    outcomes = Outcomes(succ, 0.0 * succ, np.arange(3)[:, None], size, np.zeros(1), np.eye(3)[0], np.zeros(3, bool))
    belief = SparseDirichletMDP(outcomes, 0.4, 1.5, 0.9).update(b.Transition(1, 0, 0.0, 1))
    covariance = belief.row_covariance()
    np.testing.assert_allclose(covariance.sum(axis=2), 0.0, atol=1e-15)
    assert not covariance[0, 2].any()
    assert not covariance[2].any()
    assert (np.linalg.eigvalsh(covariance) > -1e-15).all()


def test_beliefs_with_dependent_groups_do_not_have_it():
    """In mixtures over whole models one row tells about another, so that covariances within groups say too little."""
    listed = {name for name, e in entries().items() if e.kind == "belief" and offers(e.example(), HasRowCovariance)}
    assert listed == HAVE
