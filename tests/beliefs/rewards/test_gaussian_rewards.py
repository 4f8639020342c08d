"""Gaussian rewards: belief laws, conditioning of the joint Gaussian, evidence, planners, and what is refused."""

import numpy as np
import pytest
from numpy.random import default_rng
from own_probes import probe_for
from scipy.stats import multivariate_normal

import bayesrl as b
from bayesrl.beliefs import GaussianRewards
from bayesrl.beliefs.rewards.gaussian_rewards import covariance_root
from bayesrl.capabilities import HasRewardMoments, HasRowCovariance, SamplesMDPs, offers
from bayesrl.errors import BayesRLError, ImpossibleEvidence, Incompatible
from bayesrl.testing.laws import check_calibration, check_exactness, check_martingale, check_purity
from bayesrl.testing.moments import check_moments

P = np.array([[[0.7, 0.3, 0.0], [0.0, 0.5, 0.5]], [[1.0, 0.0, 0.0], [0.2, 0.0, 0.8]], [[0, 0, 1.0], [0, 0, 1.0]]])
MDP = b.TabularMDP.from_dense(P, np.zeros((3, 2)), 0.9, terminal=[2])
ROOT = default_rng(0).normal(size=(6, 6))
C = ROOT @ ROOT.T
MEAN = np.arange(6.0).reshape(3, 2) - 2.0
BELIEF = GaussianRewards(MDP, MEAN, C, noise=0.7)
LOG = [b.Transition(0, 0, 1.0, 1), b.Transition(1, 1, -2.0, 2), b.Transition(0, 1, 0.5, 2), b.Transition(0, 0, 3.0, 0)]


def test_laws():
    """False alarm: 1e-6 for each statistical law."""
    rng, probe = default_rng(1), probe_for(BELIEF)
    check_purity(BELIEF, probe, rng=rng)
    check_exactness(BELIEF, probe, rng=rng)
    check_martingale(BELIEF, probe, rng=rng, draws=1000)
    check_calibration(BELIEF, probe, rng=rng, replicates=400)
    check_moments(BELIEF, probe, rng=rng, draws=4000)


def test_posterior_is_the_conditioned_joint_gaussian():
    new = BELIEF.update_many(LOG)
    H = np.zeros((4, 4))  # rows of observations, pairs that are not terminal
    H[range(4), [t.state * 2 + t.action for t in LOG]] = 1.0
    r, prior, m = np.array([t.reward for t in LOG]), C[:4, :4], MEAN.ravel()[:4]
    S = H @ prior @ H.T + 0.49 * np.eye(4)
    gain = prior @ H.T @ np.linalg.inv(S)
    mean, covariance = new.reward_moments()
    np.testing.assert_allclose(mean.ravel()[:4], m + gain @ (r - H @ m), atol=1e-12)
    np.testing.assert_allclose(covariance[:4, :4], prior - gain @ H @ prior, atol=1e-12)
    assert (covariance == covariance.T).all()
    assert not mean[2].any()
    assert not covariance[4:].any()  # terminal states pay nothing
    moves = np.log([0.3, 0.8, 0.5, 0.7]).sum()
    np.testing.assert_allclose(new.log_evidence(), multivariate_normal(H @ m, S).logpdf(r) + moves)
    assert BELIEF.log_evidence() == 0.0


def test_a_precise_reward_leaves_a_precise_posterior():
    """The naive difference would lose every digit of the remaining variance."""
    new = GaussianRewards(MDP, MEAN, C, noise=1e-9).update(LOG[0])
    np.testing.assert_allclose(new.reward_variance()[0, 0], 1e-18, rtol=1e-6)


def test_sampled_models_are_the_same_problem_with_drawn_rewards():
    """False alarm: none, the moments of a linear map are read off its factor."""
    model = BELIEF.sample_mdp(default_rng(2))
    z = default_rng(2).standard_normal(BELIEF.root.shape[1])
    np.testing.assert_allclose(model.mean_reward.ravel(), BELIEF.mean_.ravel() + BELIEF.root @ z, atol=1e-12)
    np.testing.assert_array_equal(model.dense()[0], MDP.dense()[0])
    np.testing.assert_allclose(BELIEF.mean_mdp().mean_reward, [[-2, -1], [0, 1], [0, 0]])


@pytest.mark.parametrize("rank", [0, 1, 3, 6])
def test_roots_of_any_rank(rank):
    half = default_rng(rank).normal(size=(6, rank)) * [[1], [1e-3], [1], [1e3], [0], [1]]
    L = covariance_root(half @ half.T)
    assert L.shape[1] <= max(rank, 5 * (rank == 6))
    np.testing.assert_allclose(L @ L.T, half @ half.T, atol=1e-9)


def test_an_ordinary_belief():
    assert offers(BELIEF, SamplesMDPs)
    assert offers(BELIEF, HasRewardMoments)
    assert offers(BELIEF, HasRowCovariance)
    ring = b.make_world("chain")
    prior = GaussianRewards(ring, np.full((5, 2), 5.0), 10.0 * np.eye(10))
    for name in ("psrl", "exploit"):
        assert len(b.run(b.BayesAgent(prior, b.make(name)), ring, steps=20, seed=0)) == 20
    with pytest.raises(Incompatible, match="simulate"):
        b.BayesAgent(prior, b.make("bamcp"))


def test_saved_with_its_evidence(tmp_path):
    new = BELIEF.update_many(LOG)
    b.save(new, tmp_path / "belief.zip")
    assert b.load(tmp_path / "belief.zip") == new


BAD = {
    "shape of the mean": (lambda: GaussianRewards(MDP, np.zeros((2, 3)), C), r"shape \(3, 2\) or \(6,\)"),
    "text": (lambda: GaussianRewards(MDP, "a", C), "'mean_' must be an array of numbers"),
    "nan": (lambda: GaussianRewards(MDP, MEAN * np.nan, C), "'mean_' must be finite everywhere"),
    "none": (lambda: GaussianRewards(MDP, MEAN, None), "'covariance_' must be an array of numbers"),
    "size": (lambda: GaussianRewards(MDP, MEAN, np.eye(5)), r"'covariance_' must be an array of shape \(6, 6\)"),
    "not symmetric": (lambda: GaussianRewards(MDP, MEAN, C + np.eye(6, k=1)), "'covariance_' must be symmetric"),
    "negative": (lambda: GaussianRewards(MDP, MEAN, C - 9.0 * np.eye(6)), r"positive semi-definite.*eigenvalue is -"),
    "negative variance": (lambda: GaussianRewards(MDP, MEAN, -np.eye(6)), "positive semi-definite"),
    "infinite": (lambda: GaussianRewards(MDP, MEAN, np.full((6, 6), np.inf)), "'covariance_' must be finite"),
    "no noise": (lambda: GaussianRewards(MDP, MEAN, C, noise=0.0), "'noise' must be greater than 0"),
    "a family": (lambda: GaussianRewards(b.make_world("gc"), MEAN, C), "draw.rng. a world first"),
    "no model": (lambda: GaussianRewards(None, MEAN, C), "GaussianRewards: 'mdp' must be a TabularMDP"),
    "reward": (lambda: BELIEF.update(b.Transition(0, 0, np.nan, 0)), "'reward' must be a finite number"),
    "state": (lambda: BELIEF.update(b.Transition(3, 0, 0.0, 0)), "'state' must be a whole number from 0 to 2"),
    "datum": (lambda: BELIEF.update((0, 0, 0.0, 0)), "'datum' must be a Transition"),
    "log": (lambda: BELIEF.update_many(3), "'log' must be transitions"),
    "rng": (lambda: BELIEF.sample_mdp(0), "'rng' must be a numpy Generator"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, sentence = BAD[name]
    with pytest.raises(BayesRLError, match=sentence):
        call()


@pytest.mark.parametrize(("s", "a", "y"), [(0, 0, 2), (1, 1, 1), (2, 0, 2)])
def test_impossible_transitions(s, a, y):
    with pytest.raises(ImpossibleEvidence):
        BELIEF.update(b.Transition(s, a, 0.0, y))
    listed = b.TabularMDP(MDP.outcomes, np.where(MDP.prob == 0.3, 0.0, np.where(MDP.prob == 0.7, 1.0, MDP.prob)), 0.9)
    with pytest.raises(ImpossibleEvidence):  # listed, with probability zero
        GaussianRewards(listed, MEAN, C).update(b.Transition(0, 0, 0.0, 1))
