"""Clusterings of states: naive enumeration, the sampler against it, Geweke's joint test, planners unchanged."""

from itertools import product
from math import exp, factorial, gamma, lgamma

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import CRPDynamics
from bayesrl.beliefs.dynamics import crp_dynamics
from bayesrl.beliefs.dynamics import partitions as _partitions
from bayesrl.checks import frozen
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, step
from bayesrl.models.outcomes import Outcomes
from bayesrl.testing import assert_frequencies, assert_mean_equal


def ring(S=4, K=2, A=1):
    """S states in a ring; outcome k of every action moves on by k."""
    succ = np.array([[[(s + k) % S for k in range(K)]] * A for s in range(S)])
    reward = np.where(succ == 0, 1.0, 0.1 * np.arange(A)[:, None])
    return Outcomes(
        succ, reward, np.arange(S * A).reshape(S, A), np.full(S * A, K), 0.0, np.eye(S)[0], np.zeros(S, bool)
    )


def belief(S=4, K=2, A=1, **change):
    return CRPDynamics(ring(S, K, A), **({"gamma": 0.9, "crp": 0.7, "concentration": 0.4} | change))


def told(prior, steps):
    o = prior.outcomes
    log = [Transition(s, a, float(o.reward[s, a, k]), int(o.succ[s, a, k])) for s, a, k in steps]
    return prior.update_many(log)


STEPS = [(0, 0, 0), (0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 0), (2, 0, 1), (2, 0, 1), (2, 0, 1), (3, 0, 1)]


def naive(steps, S, A, K, crp, alpha):
    """{labels: p(labels, data)} by the urn of the restaurant and the urns of the clusters, one step after the other."""
    found = {}
    for z in product(range(S), repeat=S):
        if any(z[s] > max(z[:s], default=-1) + 1 for s in range(S)):
            continue
        p = 1.0
        for s in range(S):
            together = sum(z[t] == z[s] for t in range(s))
            p *= (together if together else crp) / (s + crp)
        counts = {}
        for s, a, k in steps:
            n = counts.setdefault((z[s], a), [alpha] * K)
            p *= n[k] / sum(n)
            n[k] += 1
        found[z] = p
    return found


@pytest.mark.parametrize(("A", "K"), [(1, 2), (2, 3)])
def test_posterior_equals_enumeration(A, K):
    """Clusterings, co-clustering, predictives, moments and evidence, against sequential urns; also of the prior."""
    rng = default_rng(0)
    steps = [(int(rng.integers(4)), int(rng.integers(A)), int(rng.integers(K))) for _ in range(12)]
    for data in ([], steps):
        posterior = told(belief(4, K, A), data)
        joint = naive(data, 4, A, K, 0.7, 0.4)
        total = sum(joint.values())
        found = dict(posterior.partitions())
        assert len(found) == 15
        for z, p in joint.items():
            assert found[z] == pytest.approx(p / total, rel=1e-10)
        assert posterior.log_evidence() == pytest.approx(np.log(total), abs=1e-10)
        same = posterior.coclustering()
        for s, t in product(range(4), repeat=2):
            assert same[s, t] == pytest.approx(sum(p for z, p in joint.items() if z[s] == z[t]) / total, rel=1e-10)
        for s, a, k in product(range(4), range(A), range(K)):
            after = sum(naive([*data, (s, a, k)], 4, A, K, 0.7, 0.4).values())
            assert posterior.predictive(s, a)[k] == pytest.approx(after / total, rel=1e-10)
            twice = sum(naive([*data, (s, a, k), (s, a, k)], 4, A, K, 0.7, 0.4).values()) / total
            assert posterior.row_variance()[s * A + a, k] == pytest.approx(twice - (after / total) ** 2, rel=1e-8)
        p, var = posterior.mean_mdp().prob, posterior.row_variance()
        count = (p * (1.0 - p)).sum(axis=1) / var.sum(axis=1) - 1.0
        np.testing.assert_allclose(posterior.counts().ravel(), count, rtol=1e-9)


def test_prior_by_hand():
    """crp^clusters times (size - 1)! of each, over crp (crp + 1) (crp + 2)."""
    found = dict(belief(3, crp=2.0).partitions())
    for z, p in found.items():
        sizes = np.bincount(z)
        weight = 2.0 ** len(sizes) * np.prod([factorial(n - 1) for n in sizes])
        assert p == pytest.approx(weight / (gamma(5.0) / gamma(2.0)))
    assert len(dict(belief(9).partitions())) == 21147


def test_sampler_follows_the_enumeration():
    """5000 independent chains of 25 sweeps against the 15 clusterings; false alarm 1e-6."""
    posterior = told(belief(chains=5000), STEPS).refresh(default_rng(1), sweeps=25)
    places = {z: i for i, (z, _) in enumerate(posterior.partitions())}
    seen = np.bincount([places[tuple(z)] for z in posterior.labels.tolist()], minlength=15)
    assert_frequencies(seen, np.array([p for _, p in posterior.partitions()]))


def test_geweke():
    """Labels from the prior, then three times: data given labels, one sweep given data. The joint law stays.

    6000 independent chains; statistics of labels and data; false alarm 1e-6. The prior expectations are exact.
    """
    prior, rng, alpha = belief(), default_rng(2), np.array([[0.4, 0.4]])
    first = prior.partitions()
    found = []
    for i in rng.choice(len(first), 6000, p=[p for _, p in first]):
        z = np.array(first[i][0])
        for _ in range(3):
            seen = np.zeros((4, 1, 2))
            for s in (0, 1, 2, 3, 0, 1, 2, 3):
                n = alpha[0] + seen[z == z[s], 0].sum(axis=0)
                seen[s, 0, int(rng.random() * n.sum() >= n[0])] += 1.0
            _partitions.gibbs(rng, z, frozen(seen), frozen(alpha), 0.7, 1)
        alike = float((seen[0, 0] == seen[1, 0]).all())
        found.append([z.max() + 1.0, float(z[0] == z[1]), float(z[2] == z[3]), alike * (z[0] == z[1])])
    clusters = sum(p * (max(z) + 1) for z, p in first)
    together = 1.0 / 1.7

    def chance(
        a, c
    ):  # that states 0 and 1, in one cluster, show a times the first outcome and c times, in two steps each
        n = [a + c, 4 - a - c]
        return exp(lgamma(0.8) - lgamma(4.8) + sum(lgamma(0.4 + x) - lgamma(0.4) for x in n))

    alike = chance(0, 0) + 4 * chance(1, 1) + chance(2, 2)
    assert_mean_equal(np.array(found), np.array([clusters, together, together, together * alike]))


def test_chains_give_the_readings_where_states_are_many(monkeypatch):
    """With enumeration off: 4000 chains after 25 sweeps, against the enumeration; errors of six deviations at most."""
    exact = told(belief(A=2, K=3), [(s, s % 2, k) for s, _, k in STEPS])
    joint, together = exact.mean_mdp().prob, exact.coclustering()
    variance, evidence = exact.row_variance(), exact.log_evidence()
    monkeypatch.setattr(crp_dynamics, "ENUMERABLE", 2)
    prior = belief(A=2, K=3, chains=4000).refresh(default_rng(3), 15)
    many = prior
    for s, _, k in STEPS:
        o = prior.outcomes
        many = many.update(Transition(s, s % 2, float(o.reward[s, s % 2, k]), int(o.succ[s, s % 2, k])), default_rng(9))
    many = many.refresh(default_rng(3), 25)
    assert not many.is_exact
    np.testing.assert_allclose(many.coclustering(), together, atol=6 * 0.5 / 4000**0.5)
    np.testing.assert_allclose(many.mean_mdp().prob, joint, atol=6 * 0.3 / 4000**0.5)
    np.testing.assert_allclose(many.row_variance(), variance, atol=6 * 0.1 / 4000**0.5)
    assert many.log_evidence() == pytest.approx(evidence, abs=0.15)
    draws = np.array([many.sample_mdp(default_rng(i)).prob for i in range(1500)])
    assert_mean_equal(draws, many.mean_mdp().prob)
    assert sum(p for _, p in many.partitions()) == pytest.approx(1.0)


def test_states_of_a_cluster_share_their_row():
    """In 3000 drawn models two states have equal rows as often as they share a cluster; false alarm 1e-6."""
    posterior, rng = told(belief(), STEPS), default_rng(6)
    P = np.array([posterior.sample_mdp(rng).prob for _ in range(3000)])
    equal = (P[:, :, None] == P[:, None, :]).all(axis=3).astype(float)
    off = ~np.eye(4, dtype=bool)
    assert_mean_equal(equal[:, off], posterior.coclustering()[off])


def test_beyond_nine_states_a_generator_moves_the_chains():
    """Two kinds of states among twelve: those that always go on and those that never do; then they are told apart."""
    prior, rng = belief(12, concentration=0.5, chains=3), default_rng(4)
    steps = [(s, 0, s % 2) for s in range(12)] * 6
    o, after = prior.outcomes, prior
    for s, a, k in steps:
        after = after.update(Transition(s, a, float(o.reward[s, a, k]), int(o.succ[s, a, k])), rng)
    kind = np.arange(12) % 2
    same = after.coclustering()[kind[:, None] == kind].mean()
    other = after.coclustering()[kind[:, None] != kind].max()
    assert same > 0.75
    assert other < 0.1
    assert told(prior, steps).labels.tolist() == prior.labels.tolist()  # without one they stay
    model = after.simulate(3)
    begin(model, rng)
    assert step(model, 0, 0, rng)[0] in (0, 1)


def test_simulated_steps_follow_the_predictive():
    """Two steps from (0, 0): 20000 simulations against the chain rule; replayed outcomes too; false alarm 1e-6."""
    posterior, rng = told(belief(), STEPS), default_rng(5)
    model, seen = posterior.simulate(5), np.zeros((2, 2))
    for _ in range(20000):
        begin(model, rng)
        k, y, r, done, mark = step(model, 0, 0, rng)
        j, *_ = step(model, int(y), 0, rng)
        seen[k, j] += 1
        assert (y, r, done) == (k, float(posterior.outcomes.reward[0, 0, k]), False)
        forget(model, np.array([mark, mark]), 2)
    joint = np.array([[posterior.predictive(0, 0)[k] * told(posterior, [(0, 0, k)]).predictive(k, 0)[j] for j in (0, 1)]
                      for k in (0, 1)])  # fmt: skip
    assert_frequencies(seen.ravel(), joint.ravel())
    for k in (0, 1):
        assert likelihood(model, 0, 0, k) == pytest.approx(posterior.predictive(0, 0)[k])
        replay(model, 0, 0, k)
        assert likelihood(model, k, 0, 1) == pytest.approx(told(posterior, [(0, 0, k)]).predictive(k, 0)[1])
        drawn = np.zeros(2)
        for _ in range(4000):
            begin(model, rng)
            drawn[step(model, k, 0, rng)[0]] += 1
            forget(model, np.zeros(1, np.int64), 1)
        assert_frequencies(drawn, told(posterior, [(0, 0, k)]).predictive(k, 0))
        undo(model, 0, 0, k)


def exact_q(posterior, s, depth):
    """Naive expectimax over beliefs: the belief's own update and predictive, nothing else."""
    o, q = posterior.outcomes, []
    for a in range(o.n_actions):
        now = 0.0
        for k, p in enumerate(posterior.predictive(s, a)):
            later = (
                0.9 * max(exact_q(told(posterior, [(s, a, k)]), int(o.succ[s, a, k]), depth - 1)) if depth > 1 else 0.0
            )
            now += p * (o.reward[s, a, k] + later)
        q.append(now)
    return q


@pytest.mark.long
def test_bamcp_finds_the_values_of_exact_expectimax():
    """Ten seeds of 3000 simulations at three decisions; the mean root value within .02 of the exact one."""
    prior = told(belief(3, 2, 2), [(0, 0, 1), (1, 0, 1), (2, 1, 0), (2, 1, 0)])
    exact = exact_q(prior, 1, 3)
    planner = b.make("bamcp", simulations=3000, depth=3, exploration=1.0)
    q = np.mean([planner.plan(prior, 1, None, default_rng(i)).info["q"] for i in range(10)], axis=0)
    assert max(q) == pytest.approx(max(exact), abs=0.02)


@pytest.mark.parametrize(
    "name", ["boss", "psrl", "bamcp", pytest.param("bfs3", marks=pytest.mark.long), "exploit", "tsmdp"]
)
def test_planners_run_unchanged(name):
    """And a belief with a clustering learns the tied chain faster than the flat one does, which shares nothing."""
    world = b.make_world("chain-tied")
    planner = b.make(name, **({"simulations": 30, "depth": 15} if name == "bamcp" else {}))
    record = b.run(b.BayesAgent(CRPDynamics(world.mdp.outcomes, gamma=0.95), planner), world, 30, seed=0)
    assert len(record) == 30


def test_bad_input():
    """One sentence each; nothing changed by the call."""
    for name, bad in [("crp", 0.0), ("crp", -1.0), ("concentration", 0.0), ("concentration", np.nan), ("gamma", 1.5)]:
        with pytest.raises(InvalidArgument, match=f"CRPDynamics: '{name}' must be"):
            belief(**{name: bad})
    with pytest.raises(InvalidArgument, match="'chains' must be a whole number of at least 1"):
        belief(chains=0)
    with pytest.raises(InvalidArgument, match="'outcomes' must be Outcomes"):
        CRPDynamics(np.zeros((2, 2)), 0.9)
    o = ring()
    stuck = Outcomes(np.zeros((4, 1, 2)), np.zeros((4, 1, 2)), o.group, o.size, 0.0, o.start, o.terminal)
    with pytest.raises(InvalidArgument, match="told apart by next state or reward"):
        CRPDynamics(stuck, 0.9)
    ragged = Outcomes(o.succ, o.reward, o.group, [2, 1, 2, 2], 0.0, o.start, o.terminal)
    with pytest.raises(InvalidArgument, match="as many for an action in every state"):
        CRPDynamics(ragged, 0.9)
    prior = belief()
    for bad in (
        Transition(4, 0, 0.0, 0),
        Transition(0, 1, 0.0, 0),
        Transition(0, 0, 0.0, -1),
        Transition(0.5, 0, 0.0, 0),
    ):
        with pytest.raises(InvalidArgument, match=r"CRPDynamics.update"):
            prior.update(bad)
    with pytest.raises(ImpossibleEvidence):
        prior.update(Transition(0, 0, 0.0, 2))
    with pytest.raises(InvalidArgument, match="'sweeps' must be a whole number of at least 1, got 0"):
        prior.refresh(default_rng(0), 0)
    for s, a in ((-1, 0), (4, 0), (0, 1), (None, 0)):
        with pytest.raises(InvalidArgument, match=r"CRPDynamics.predictive"):
            prior.predictive(s, a)
    assert prior == belief()
