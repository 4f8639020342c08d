import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import DirichletMDP, RewardBeta, RewardDirichlet, RewardNormal, UnknownRewards
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.testing import assert_mean_equal

CELLS = (2, 2)


def test_beta_matches_quadrature():
    belief = RewardBeta(np.full(CELLS, 0.8), np.full(CELLS, 1.3), low=-1.0, high=3.0)
    for r in (3.0, 3.0, -1.0):
        belief = belief.update(((0, 1), r))
    p = (np.arange(200000) + 0.5) / 200000
    weight = p ** (0.8 - 1 + 2) * (1 - p) ** (1.3 - 1 + 1)
    weight /= weight.sum()
    mean = (weight * (4 * p - 1)).sum()
    np.testing.assert_allclose(belief.mean_rewards()[0, 1], mean, rtol=1e-4)
    np.testing.assert_allclose(belief.reward_variances()[0, 1], (weight * (4 * p - 1 - mean) ** 2).sum(), rtol=1e-4)
    np.testing.assert_allclose(belief.mean_rewards()[1, 1], 4 * 0.8 / 2.1 - 1)
    values, chance = belief.reward_predictive((0, 1))
    np.testing.assert_allclose(values @ chance, belief.mean_rewards()[0, 1])


def test_dirichlet_moments():
    """`sample_rewards` has the stated mean and variance; 20000 draws, false alarm 1e-6."""
    belief = RewardDirichlet([0.0, 2.0, 10.0], np.full((*CELLS, 3), 0.6))
    for r in (2.0, 10.0, 2.0):
        belief = belief.update(((1, 0), r))
    rng = default_rng(0)
    draws = np.array([belief.sample_rewards(rng) for _ in range(20000)])
    assert_mean_equal(draws, belief.mean_rewards())
    assert_mean_equal((draws - belief.mean_rewards()) ** 2, belief.reward_variances())
    np.testing.assert_allclose(belief.mean_rewards()[1, 0], (0.6 * 12 + 14) / 4.8)


def test_strens_posterior_matches_quadrature():
    """Prior as Strens states it times the likelihood, on a grid of (mu, psi): means of mu and psi^2, spread of mu."""
    mu0, sigma0, seen = 1.0, 0.7, [2.5, 3.1, 1.9]
    belief = RewardNormal.strens((1, 1), mu0, sigma0)
    for r in seen:
        belief = belief.update(((0, 0), r))
    psi = np.linspace(1e-4, 8, 1200)[:, None]  # 1 / sigma
    mu = np.linspace(-8, 12, 3000)[None, :]
    log = np.log(psi) - psi**2 * sigma0**2 / 2  # the prior on psi
    log = log + np.log(psi) - psi**2 * (mu - mu0) ** 2 / 2  # mu given sigma
    for r in seen:
        log = log + np.log(psi) - psi**2 * (r - mu) ** 2 / 2
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    np.testing.assert_allclose(belief.mean_rewards()[0, 0], (weight * mu).sum(), rtol=1e-4)
    np.testing.assert_allclose((belief.shape / belief.rate)[0, 0], (weight * psi**2).sum(), rtol=1e-4)
    np.testing.assert_allclose(
        belief.reward_variances()[0, 0], (weight * (mu - belief.mean_rewards()[0, 0]) ** 2).sum(), rtol=1e-2
    )
    n, m, v = len(seen), np.mean(seen), np.var(seen)  # and the corrected closed form of ERRATA 8
    np.testing.assert_allclose(belief.mean_rewards()[0, 0], (mu0 + n * m) / (n + 1))
    np.testing.assert_allclose(belief.rate[0, 0], (sigma0**2 + n * v + n / (n + 1) * (m - mu0) ** 2) / 2)
    np.testing.assert_allclose(belief.shape[0, 0], 1 + n / 2)


def test_normal_sample_has_the_stated_moments():
    """20000 draws of the mean, shape 6 so that four moments exist; false alarm 1e-6."""
    belief = RewardNormal(np.array([[1.0]]), np.array([[2.0]]), np.array([[6.0]]), np.array([[3.0]]))
    rng = default_rng(0)
    draws = np.array([belief.sample_rewards(rng) for _ in range(20000)])
    assert_mean_equal(draws, belief.mean_rewards())
    assert_mean_equal((draws - belief.mean_rewards()) ** 2, belief.reward_variances())
    assert np.isinf(RewardNormal.strens((1, 1)).reward_variances()).all()


def test_composition_answers_for_the_variance_of_each():
    """Probabilities and rewards of 20000 drawn models; false alarm 1e-6, a tenth too much is seen."""
    mdp = TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.zeros((2, 2)), gamma=0.9)
    rng = default_rng(0)
    flat = DirichletMDP.flat(mdp, rng.uniform(0.3, 2.0, (4, 2)))
    belief = UnknownRewards(flat, RewardBeta(rng.uniform(0.3, 2.0, CELLS), np.ones(CELLS), -1.0, 2.0))
    belief = belief.update(Transition(0, 1, 2.0, 1))
    models = [belief.sample_mdp(rng) for _ in range(20000)]
    mean = belief.mean_mdp()
    for drawn, centre, variance in (
        ([m.prob for m in models], mean.prob, belief.row_variance()),
        ([m.reward[:, :, 0] for m in models], mean.reward[:, :, 0], belief.rewards.reward_variances()),
    ):
        assert_mean_equal((np.array(drawn) - centre) ** 2, variance)


def test_composition_learns_both_and_refuses_what_cannot_be():
    mdp = TabularMDP.from_dense([[[0.5, 0.5]], [[0.5, 0.5]]], np.zeros((2, 1)), gamma=0.9)
    belief = UnknownRewards(DirichletMDP.flat(mdp), RewardBeta(np.ones((2, 1)), np.ones((2, 1))))
    after = belief.update(Transition(0, 0, 1.0, 1))
    np.testing.assert_allclose(after.mean_mdp().prob[0], [1 / 3, 2 / 3])
    np.testing.assert_allclose(after.mean_mdp().mean_reward, [[2 / 3], [0.5]])
    with pytest.raises(ImpossibleEvidence, match=r"reward 0\.5 has probability zero"):
        belief.update(Transition(0, 0, 0.5, 1))
    with pytest.raises(InvalidArgument, match="cells of shape"):
        UnknownRewards(DirichletMDP.flat(mdp), RewardBeta(np.ones(3), np.ones(3)))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: RewardBeta(np.ones(CELLS), np.ones(CELLS)).sample_rewards(3),
        lambda: RewardDirichlet([0.0, 1.0], np.ones((*CELLS, 2))).sample_rewards(3),
        lambda: RewardNormal.strens(CELLS).sample_rewards(3),
        lambda: DirichletMDP.flat(TabularMDP.from_dense(np.ones((1, 1, 1)), [[0.0]], 0.9)).sample_mdp(3),
    ],
)
def test_a_seed_is_not_a_generator(draw):
    with pytest.raises(InvalidArgument, match=r"'rng' must be a numpy Generator, .*, got 3\."):
        draw()


@pytest.mark.parametrize(
    "belief",
    [
        RewardBeta(np.ones(CELLS), np.ones(CELLS)),
        RewardDirichlet([0.0, 1.0], np.ones((*CELLS, 2))),
        RewardNormal.strens(CELLS),
    ],
    ids=lambda belief: type(belief).__name__,
)
def test_a_datum_is_a_cell_and_a_reward(belief):
    """A list is no cell: as an index of an array it would name other cells."""
    belief.update(((0, 1), 1.0))
    belief.update(((np.int64(1), 1), 1.0))
    for cell in ([0, 1], (0,), (0, 1, 0), (0, 0.5), (0, "1"), ((0, 1),), np.array([0, 1]), 1, None):
        with pytest.raises(InvalidArgument, match="'cell' must be a tuple of 2 whole numbers"):
            belief.update((cell, 1.0))
    for cell in ((0, 2), (-1, 0), (2, 0)):
        with pytest.raises(InvalidArgument, match=r"'cell' must be inside the shape \(2, 2\)"):
            belief.update((cell, 1.0))
    for datum in (None, 3, ((0, 1),), ((0, 1), 1.0, 2.0), [(0, 1), 1.0]):
        with pytest.raises(InvalidArgument, match=r"'datum' must be a pair \(cell, reward\)"):
            belief.update(datum)
