"""BIRL against enumeration, against its transcription, and by its laws."""

import warnings

import numpy as np
import pytest
from numpy.random import default_rng
from plain_inverse import DEMONSTRATION, lattice, line, log_likelihood, policy_walk, within_batch_means

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.beliefs.rewards import _on_lattice as on_lattice
from bayesrl.beliefs.rewards._policy_walk import Schedule, add, copy, table, walk_many
from bayesrl.beliefs.rewards._policy_walk import policy_walk as compiled
from bayesrl.errors import BayesRLError
from bayesrl.inverse import BIRL, FinitePrior, GaussianPrior, LaplacePrior, UniformPrior, demonstrate

FIVE = [-1.0, -0.5, 0.0, 0.5, 1.0]
FACTS = np.array([-0.456392, -0.307964, 0.641613])


def test_exact_values_of_the_facts():
    belief = BIRL(line(), reward_prior=FinitePrior(lattice(FIVE))).update_many(DEMONSTRATION)
    np.testing.assert_allclose(belief.mean(), FACTS, atol=5e-7)
    assert belief.log_evidence() == pytest.approx(-2.497922, abs=5e-7)
    P = line().dense()[0]
    log = [log_likelihood(P, np.repeat(w, 2).reshape(3, 2), 0.9, DEMONSTRATION, 1.0) for w in lattice(FIVE)]
    np.testing.assert_allclose(belief.posterior(), np.exp(log) / np.exp(log).sum(), atol=1e-8)


def test_draws_of_a_finite_prior_are_exact_draws():
    """Means of 4000 independent draws within five standard errors (false alarm 2e-6)."""
    belief = BIRL(line(), reward_prior=FinitePrior(lattice(FIVE))).update_many(DEMONSTRATION)
    new = belief.refresh(default_rng(0), 4000)
    assert within_batch_means(new.samples, belief.mean())
    np.testing.assert_array_equal(new.mean(), belief.mean())


SIX = np.array([[[1.0, 0.0], [0.2, 0.3]], [[0.0, 1.0], [0.5, 0.0]], [[0.0, 0.0], [0.0, -0.7]]])
CASES = {
    "uniform": (UniformPrior(-1, 1), None, 0.5, 1.0),
    "gaussian": (GaussianPrior(0.3, 0.5, -1.0, 1.1), SIX, 0.35, 4.0),
    "laplace": (LaplacePrior(0.2, -1.0, 1.0), SIX, 0.2, 2.0),
}


@pytest.mark.parametrize("case", CASES)
def test_draws_follow_the_enumerated_lattice(case):
    """Means, squares and products within five batch-means standard errors; false alarm about 1e-5 (50 batches)."""
    prior, phi, step, c = CASES[case]
    belief = BIRL(line(), phi, prior, c, step).update_many(DEMONSTRATION).refresh(default_rng(1), 40_000)
    values = prior.low + step * np.arange(int((prior.high - prior.low) / step + 1e-9) + 1)
    w = lattice(values, belief.n_weights)
    R = w @ np.moveaxis(np.repeat(np.eye(3)[:, None], 2, axis=1) if phi is None else phi, 2, 1)
    P = line().dense()[0]
    R = np.moveaxis(R, 1, 0)
    log = [log_likelihood(P, r, 0.9, DEMONSTRATION, c) + prior.log_density(x) for r, x in zip(R, w, strict=True)]
    p = np.exp(log - np.logaddexp.reduce(log))
    assert set(np.unique(belief.samples.round(9))) <= set(values.round(9))
    assert within_batch_means(moments(belief.samples), p @ moments(w))
    if case == "uniform":
        np.testing.assert_allclose(p @ w, FACTS, atol=5e-7)
    report = belief.diagnostics()
    assert report.draws == 40_000
    assert report.effective_sample_size.min() > 1000
    assert report.r_hat.max() < 1.01


def moments(w):
    return np.column_stack([w, w**2, w * np.roll(w, 1, axis=1)])


@pytest.mark.parametrize("block", [2, 1])
def test_transcription(block):
    """The same random numbers give the same draws as value iteration for every proposal; also with sparse matrices."""
    world = b.make_world("gridworld-blocks", size=4, block=block, noise=0.1)
    pairs = demonstrate(world, world.features @ world.weights, 2, 6, default_rng(3), rationality=4.0)
    prior, d, sweeps = GaussianPrior(0.1, 0.4, -1.0, 1.0), 16 // block**2, 3 * block**2
    at = default_rng(4).integers(9, size=d)
    belief = BIRL(world, world.features, prior, 4.0, 0.25, -1.0 + 0.25 * at).update_many(pairs)
    phi = np.repeat(world.features[:, None], 4, axis=1)
    log_prior = [prior.log_density([x]) for x in np.arange(-1.0, 1.1, 0.25)]
    plain = policy_walk(world.mdp, phi, np.concatenate(pairs), 4.0, -1.0, 0.25, log_prior, at, sweeps, default_rng(5))
    np.testing.assert_array_equal(belief.refresh(default_rng(5), sweeps).samples, plain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_lattice, "DENSE", 1)
        np.testing.assert_array_equal(belief.refresh(default_rng(5), sweeps).samples, plain)


@pytest.mark.parametrize("many", [False, True])
def test_accepted_proposals_of_one_weight(many, monkeypatch):
    """A sweep of one weight is one proposal: it was accepted if the draw differs from the one before.

    Sweeps before the draws are walked but not counted, and the values at the end are those of the last draw.
    """
    phi = default_rng(6).normal(size=(3, 2, 1))
    belief = BIRL(line(), phi, GaussianPrior(0.2, 0.5, -1.0, 1.0), 1.7, 0.25, [0.5]).update_many(DEMONSTRATION)
    monkeypatch.setattr(on_lattice, "DENSE", 1 if many else 100)
    new = belief.refresh(default_rng(7), 60)
    moves = int((np.diff(new.samples[:, 0], prepend=0.5) != 0.0).sum())
    assert 10 < moves < 50
    assert new.accepted.tolist() == [moves, 60]
    n = on_lattice.Counts(*(on_lattice.frozen(x) for x in belief.counts))
    go = Schedule(*(on_lattice.frozen(x) for x in (np.ones(1), np.ones(60))))
    at, draws = belief.at.copy(), np.zeros((35, 1))
    ground = belief.rewards if many else belief.rewards.ground
    accepted, Q = (walk_many if many else compiled)(default_rng(7), ground, n, 1.7, belief.lattice, go, at, draws)
    np.testing.assert_array_equal(draws, new.samples[25:])
    np.testing.assert_array_equal(at, new.at)
    assert accepted == (np.diff(new.samples[24:, 0]) != 0.0).sum()
    np.testing.assert_allclose(Q, belief.rewards.solve(draws[-1]).q, atol=1e-9)


@pytest.mark.parametrize("many", [False, True])
def test_two_weights_with_shares(many):
    """The transcription on three states: weights are chosen unevenly, and the posterior of a sweep has its share."""
    phi, chosen, shares = default_rng(9).normal(size=(3, 2, 2)), [0.7, 1.9], np.linspace(0.2, 1.3, 40)
    prior = GaussianPrior(0.2, 0.5, -1.0, 1.0)
    belief = BIRL(line(0.6), phi, prior, 2.7, 0.5, [0.5, -1.0]).update_many(DEMONSTRATION)
    log_prior = [prior.log_density([x]) for x in FIVE]
    plain = policy_walk(
        line(0.6), phi, DEMONSTRATION, 2.7, -1.0, 0.5, log_prior, [3, 0], 40, default_rng(2), chosen, shares
    )
    n = on_lattice.Counts(*(on_lattice.frozen(x) for x in belief.counts))
    go = Schedule(*(on_lattice.frozen(x) for x in (np.cumsum(chosen), shares)))
    ground, at, draws = belief.rewards if many else belief.rewards.ground, belief.at.copy(), np.zeros((33, 2))
    _, Q = (walk_many if many else compiled)(default_rng(2), ground, n, 2.7, belief.lattice, go, at, draws)
    np.testing.assert_array_equal(draws, plain[7:])
    np.testing.assert_allclose(Q, belief.rewards.solve(draws[-1]).q, atol=1e-9)
    assert draws.max() == 1.0  # the walk begins at the lower end of the box and reaches the upper one


def test_tables_that_are_not_square():
    x, y = default_rng(8).normal(size=(2, 2, 3))
    y, to = on_lattice.frozen(y), table(2, 3)
    assert (to.shape, to.any()) == ((2, 3), False)
    copy(x, to)
    np.testing.assert_array_equal(to, x)
    add(x, 0.7, y, to)
    np.testing.assert_allclose(to, x + 0.7 * y)


def test_rounding_errors_do_not_grow():
    """After 32,000 proposals, thousands of changes of the policy, the values are those of the weights."""
    world = b.make_world("gridworld-blocks", size=4, block=1, noise=0.1)
    belief = BIRL(world, None, rationality=3.0, step=0.25).update((3, 1))
    at, draws = belief.at.copy(), np.zeros((2000, 16))
    go = Schedule(np.arange(1.0, 17.0), np.ones(2000))
    go = Schedule(*(on_lattice.frozen(x) for x in go))
    n = on_lattice.Counts(*(on_lattice.frozen(x) for x in belief.counts))
    _, Q = compiled(default_rng(0), belief.rewards.ground, n, 3.0, belief.lattice, go, at, draws)
    np.testing.assert_allclose(Q, belief.rewards.solve(draws[-1]).q, atol=1e-9)


def test_likelihood_is_invariant():
    """To a constant in all rewards, and to a factor that the rationality makes up for."""
    rng, phi = default_rng(0), np.ones((3, 2, 3))
    phi[:, :, :2] = rng.normal(size=(3, 2, 2))
    w = rng.normal(size=3)
    one = BIRL(line(), phi, rationality=2.0).update_many(DEMONSTRATION)
    assert one.log_likelihood(w + np.array([0.0, 0.0, 5.0])) == pytest.approx(one.log_likelihood(w), abs=1e-8)
    other = BIRL(line(), phi, rationality=0.5).update_many(DEMONSTRATION)
    assert other.log_likelihood(4.0 * w) == pytest.approx(one.log_likelihood(w), abs=1e-8)
    assert one.log_posterior([2.0, 0.0, 0.0]) == -np.inf


def test_the_chain_goes_on():
    """Two refreshes are one; an update keeps the place of the chain and drops its draws."""
    belief = BIRL(line(), step=0.25).update_many(DEMONSTRATION)
    rng = default_rng(2)
    twice = belief.refresh(rng, 30).refresh(rng, 20)
    assert twice == belief.refresh(default_rng(2), 50)
    more = twice.update((0, 1))
    np.testing.assert_array_equal(more.at, twice.at)
    assert len(more.draws) == 0
    assert len(more.demonstrations) == 6
    with pytest.raises(BayesRLError, match="refresh"):
        more.mean()


def test_planners_solvers_and_files_work_on_it(tmp_path):
    """From records to a cautious policy."""
    world = b.make_world("gridworld-blocks", size=4)
    record = b.run(b.BayesAgent(b.DirichletMDP.flat(world), b.make("random")), world, steps=30, seed=0)
    belief = BIRL(world, world.features, step=0.5).update_many(record).refresh(default_rng(0), 60)
    np.testing.assert_array_equal(belief.apprentice().tolist(), b.solve(belief.mean_mdp()).policy.tolist())
    cautious = b.make("percentile-measure", measure=b.risk.Measure.cvar(0.2)).solve(belief, default_rng(0))
    assert np.asarray(cautious.policy).shape == (16, 4)
    for name in ("psrl", "exploit"):
        agent = b.BayesAgent(belief, b.make(name))
        assert 0 <= agent.act(agent.start(), 3, default_rng(0)).action < 4
    b.save(belief, tmp_path / "belief")
    read = b.load(tmp_path / "belief")
    assert read == belief
    assert read.refresh(default_rng(1), 5) == belief.refresh(default_rng(1), 5)


def test_a_chain_that_does_not_mix_warns():
    belief = BIRL(line(), step=0.001).update_many(DEMONSTRATION)
    with pytest.warns(PoorMixing, match="step"):
        belief.refresh(default_rng(0), 100)
    sharp = BIRL(line(), step=1.0, rationality=1e5).update_many([(s, a) for s in range(3) for a in range(2)])
    with pytest.warns(PoorMixing, match="0% of the proposals"):
        sharp.refresh(default_rng(0), 400)
    slow = BIRL(line(), step=0.02).update_many(DEMONSTRATION)
    with pytest.warns(PoorMixing, match="sweeps"):
        slow.refresh(default_rng(0), 300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BIRL(line(), step=0.5).update_many(DEMONSTRATION).refresh(default_rng(0), 2000)


LINE = line()
BAD = [
    (lambda: BIRL(LINE, initial=[0.03, 0.0, 0.0]), "lattice"),
    (lambda: BIRL(LINE, initial=[0.0, 1.05, 0.0]), "inside the box"),
    (lambda: BIRL(LINE, initial=[0.0, 0.0]), "initial"),
    (lambda: BIRL(LINE, initial=[0.0, np.nan, 0.0]), "initial"),
    (lambda: BIRL(LINE, initial="x"), "initial"),
    (lambda: BIRL(LINE, reward_prior=GaussianPrior(), initial=[0.0] * 3), "initial"),
    (lambda: BIRL(LINE, step=0.0), "step"),
    (lambda: BIRL(LINE, step=2.5), "width of the box"),
    (lambda: BIRL(LINE, step=1e-7), "width of the box"),
    (lambda: BIRL(LINE, step=np.nan), "step"),
    (lambda: BIRL(LINE, rationality=0.0), "rationality"),
    (lambda: BIRL(LINE, rationality=None), "rationality"),
    (lambda: BIRL(LINE, features=np.ones((2, 1))), "features"),
    (lambda: BIRL(LINE, features="x"), "features"),
    (lambda: BIRL(LINE, features=np.ones((3, 0))), "features"),
    (lambda: BIRL(LINE, reward_prior=3), "prior"),
    (lambda: BIRL(LINE, reward_prior=FinitePrior([[0.0]])), "3 weights"),
    (lambda: BIRL(None), "problem"),
    (lambda: BIRL(line(1.0)), "discount"),
    (lambda: BIRL(LINE).refresh(default_rng(0), 0), "sweeps"),
    (lambda: BIRL(LINE).refresh(default_rng(0), 1.5), "sweeps"),
    (lambda: BIRL(LINE).refresh(None, 1), "rng"),
    (lambda: BIRL(LINE, reward_prior=GaussianPrior()).refresh(default_rng(0), 1), "finite box"),
    (lambda: BIRL(LINE).mean(), "refresh"),
    (lambda: BIRL(LINE).samples, "refresh"),
    (lambda: BIRL(LINE).sample(default_rng(0)), "refresh"),
    (lambda: BIRL(LINE).diagnostics(), "refresh"),
    (lambda: BIRL(LINE).posterior(), "FinitePrior"),
    (lambda: BIRL(LINE).log_likelihood([0.0, 1.0]), "weights"),
    (lambda: BIRL(LINE, reward_prior=FinitePrior(np.zeros((1, 3)))).gradient([0.0] * 3), "gradient"),
    (lambda: BIRL(LINE).update((3, 0)), "state"),
    (lambda: BIRL(LINE).update((0, 2)), "action"),
    (lambda: BIRL(LINE).update(None), "demonstrations"),
    (lambda: BIRL(LINE).update_many([]), "demonstrations"),
    (lambda: BIRL(LINE).update_many([(0, np.nan)]), "action"),
    (lambda: BIRL(LINE).update(b.Transition(0, 1, 0.0, 2)), "another world"),
]


@pytest.mark.parametrize(("call", "word"), BAD)
def test_bad_input(call, word):
    with pytest.raises(BayesRLError, match=word):
        call()
