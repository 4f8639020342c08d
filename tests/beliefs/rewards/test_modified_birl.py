"""Modified BIRL against enumeration and against its transcription."""

import numpy as np
import pytest
from numpy.random import default_rng
from plain_inverse import DEMONSTRATION, lattice, line, log_likelihood, policy_walk, within_batch_means

from bayesrl.beliefs.chain import PoorMixing
from bayesrl.errors import BayesRLError
from bayesrl.inverse import FinitePrior, ModifiedBIRL, UniformPrior

FIVE = [-1.0, -0.5, 0.0, 0.5, 1.0]
FACTS = np.array([-0.456392, -0.307964, 0.641613])


def test_positive_relevance_leaves_the_law_unchanged():
    """Means within five batch-means standard errors of enumeration; false alarm about 1e-5 (50 batches)."""
    belief = ModifiedBIRL(line(), step=0.5, relevance=[1.0, 4.0, 0.5], cooling=10).update_many(DEMONSTRATION)
    belief = belief.refresh(default_rng(0), 40_000)
    assert within_batch_means(belief.samples, FACTS)


def test_relevance_zero_gives_the_conditional_posterior():
    """Weight 1 stays at its initial value; false alarm about 1e-5."""
    first = [0.0, 0.5, 0.0]
    belief = ModifiedBIRL(line(), step=0.5, rationality=2.0, initial=first, relevance=[1.0, 0.0, 2.0])
    belief = belief.update_many(DEMONSTRATION).refresh(default_rng(0), 20_000)
    assert (belief.samples[:, 1] == 0.5).all()
    w, P = lattice(FIVE)[lattice(FIVE)[:, 1] == 0.5], line().dense()[0]
    log = np.array([log_likelihood(P, np.repeat(x, 2).reshape(3, 2), 0.9, DEMONSTRATION, 2.0) for x in w])
    p = np.exp(log - np.logaddexp.reduce(log))
    assert within_batch_means(belief.samples[:, [0, 2]], (p @ w)[[0, 2]])


def test_transcription():
    """The same random numbers give the same draws, cooling included; a second refresh does not cool again."""
    rho, cooling, log_prior = [0.2, 1.0, 0.4], 7, np.zeros(9)
    made = ModifiedBIRL(line(), rationality=3.0, step=0.25, relevance=rho, cooling=cooling).update_many(DEMONSTRATION)
    shares = [min((t + 1) / (cooling + 1), 1.0) for t in range(cooling + 40)]
    phi = np.repeat(np.eye(3)[:, None], 2, axis=1)
    plain = policy_walk(
        line(), phi, DEMONSTRATION, 3.0, -1.0, 0.25, log_prior, [4, 4, 4], 47, default_rng(1), rho, shares
    )
    rng = default_rng(1)
    np.testing.assert_array_equal(made.refresh(rng, 25).refresh(rng, 15).samples, plain[cooling:])


def test_relevances_by_hand():
    demos = [(0, 1), (2, 0), (2, 1)]
    phi = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    K = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.0]])
    rho = np.array([1.0, 0.5 + 2 * 0.25, 2.0])
    given = ModifiedBIRL(line(), kernel=K).update_many(demos)
    np.testing.assert_allclose(given.relevances(), rho)
    np.testing.assert_allclose(ModifiedBIRL(line(), phi, kernel=K).update_many(demos).relevances(), rho @ phi)
    gauss = ModifiedBIRL(line(), phi, length=0.7).update_many(demos).relevances()
    k = np.array([[np.exp(-((x - y) ** 2).sum() / (2 * 0.49)) for y in phi] for x in phi])
    np.testing.assert_allclose(gauss, (k[:, 0] + 2 * k[:, 2]) @ phi)
    np.testing.assert_array_equal(ModifiedBIRL(line()).relevances(), np.ones(3))


LINE, RNG = line(), default_rng(0)
BAD = [
    (lambda: ModifiedBIRL(LINE, relevance=[1.0, 2.0]), "relevance"),
    (lambda: ModifiedBIRL(LINE, relevance=[1.0, -2.0, 0.0]), "relevance"),
    (lambda: ModifiedBIRL(LINE, relevance=[0.0, 0.0, 0.0]), "relevance"),
    (lambda: ModifiedBIRL(LINE, relevance=[1.0, np.nan, 0.0]), "relevance"),
    (lambda: ModifiedBIRL(LINE, relevance="x"), "relevance"),
    (lambda: ModifiedBIRL(LINE, kernel=np.ones((2, 3))), "kernel"),
    (lambda: ModifiedBIRL(LINE, kernel=-np.eye(3)), "kernel"),
    (lambda: ModifiedBIRL(LINE, kernel=np.eye(3), relevance=[1.0] * 3), "kernel"),
    (lambda: ModifiedBIRL(LINE, kernel=np.diag([1.0, 0.0, 0.0])).update((1, 0)).refresh(RNG), "kernel"),
    (lambda: ModifiedBIRL(LINE, length=0.0), "length"),
    (lambda: ModifiedBIRL(LINE, cooling=-1), "cooling"),
    (lambda: ModifiedBIRL(LINE, cooling=1.5), "cooling"),
    (lambda: ModifiedBIRL(LINE, initial=[0.01, 0.0, 0.0]), "lattice"),
    (lambda: ModifiedBIRL(LINE, reward_prior=UniformPrior(0, 1), step=2.0), "step"),
    (lambda: ModifiedBIRL(LINE, features=np.ones((4, 2))), "features"),
    (lambda: ModifiedBIRL(LINE).refresh(RNG, 0), "sweeps"),
    (lambda: ModifiedBIRL(LINE).mean(), "refresh"),
]


@pytest.mark.parametrize(("call", "word"), BAD)
def test_bad_input(call, word):
    with pytest.raises(BayesRLError, match=word):
        call()


def test_exact_with_a_finite_prior():
    belief = ModifiedBIRL(line(), reward_prior=FinitePrior(lattice(FIVE))).update_many(DEMONSTRATION)
    np.testing.assert_allclose(belief.mean(), FACTS, atol=5e-7)
    assert belief.refresh(default_rng(0), 5).samples.shape == (5, 3)


@pytest.mark.parametrize(("step", "rationality", "word"), [(0.001, 1.0, "step"), (1.0, 1e5, "0% of the proposals")])
def test_a_bad_step_warns(step, rationality, word):
    pairs = [(s, a) for s in range(3) for a in range(2)]
    belief = ModifiedBIRL(line(), step=step, rationality=rationality, cooling=1).update_many(pairs)
    with pytest.warns(PoorMixing, match=f"ModifiedBIRL.refresh: .*{word}"):
        belief = belief.refresh(default_rng(0), 400)
    assert belief.diagnostics().effective_sample_size.shape == belief.diagnostics().r_hat.shape == (3,)
