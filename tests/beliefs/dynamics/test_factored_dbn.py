"""Unknown graphs of variables: naive enumeration, the sampler against it, Geweke's joint test, planners unchanged."""

from itertools import combinations, product
from math import comb, log

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import FactoredDBN
from bayesrl.beliefs.dynamics import _families, factored_dbn
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, step
from bayesrl.testing import assert_frequencies, assert_mean_equal
from bayesrl.worlds.tabular import MDPWorld

SIZES = (2, 3, 2)
STEPS = [((0, 1, 1), 0, (1, 1, 0)), ((1, 1, 0), 0, (0, 1, 1)), ((0, 1, 1), 1, (0, 2, 1)), ((0, 2, 1), 0, (1, 2, 0)),
         ((1, 2, 0), 0, (0, 2, 1)), ((0, 2, 1), 0, (1, 0, 1)), ((1, 0, 1), 1, (1, 0, 0)), ((1, 0, 0), 0, (0, 0, 1)),
         ((0, 0, 1), 0, (1, 0, 0)), ((1, 0, 0), 0, (0, 1, 1))]  # fmt: skip


def told(prior, steps):
    for x, a, y in steps:
        prior = prior.update(Transition(x, a, 0.0, y))
    return prior


def naive(steps, a, i, sizes, edge=0.5, most=3, alpha=None, equivalent=None):
    """{parents: p(parents, values of variable i after action a)} by urns, one step after the other."""
    found = {}
    prior = sum(comb(len(sizes), n) * edge**n for n in range(most + 1))
    for n in range(most + 1):
        for parents in combinations(range(len(sizes)), n):
            p, urns = edge**n / prior, {}
            count = alpha if equivalent is None else equivalent / (sizes[i] * np.prod([sizes[j] for j in parents]))
            for x, action, y in steps:
                if action == a:
                    urn = urns.setdefault(tuple(x[j] for j in parents), [count] * sizes[i])
                    p *= urn[y[i]] / sum(urn)
                    urn[y[i]] += 1.0
            found[parents] = p
    return found


KINDS = {
    "each": ({"concentration": 0.6}, {"alpha": 0.6}),
    "BDeu": ({"equivalent": 2.0}, {"equivalent": 2.0}),
    "capped": ({"concentration": 0.6, "max_parents": 1}, {"alpha": 0.6, "most": 1}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_posterior_equals_enumeration(kind):
    """Parent sets, edges, predictives and evidence, against sequential urns; also of the prior."""
    fields, words = KINDS[kind]
    for data in ([], STEPS):
        posterior, evidence = told(FactoredDBN(SIZES, 2, edge=0.5, **fields), data), 0.0
        for a, i in product(range(2), range(3)):
            joint = naive(data, a, i, SIZES, **words)
            total = sum(joint.values())
            evidence += log(total)
            found = dict(posterior.parent_sets(i, a))
            assert found == pytest.approx({parents: p / total for parents, p in joint.items()}, rel=1e-10)
            for j in range(3):
                p = sum(p for parents, p in joint.items() if j in parents) / total
                assert posterior.edges(a)[j, i] == pytest.approx(p, rel=1e-10)
            for x in ((0, 1, 1), (1, 2, 0)):
                for v in range(SIZES[i]):
                    y = [0, 0, 0]
                    y[i] = v
                    after = sum(naive([*data, (x, a, tuple(y))], a, i, SIZES, **words).values())
                    assert posterior.predictive(x, a)[i][v] == pytest.approx(after / total, rel=1e-10)
        assert posterior.log_evidence() == pytest.approx(evidence, abs=1e-10)


@pytest.mark.parametrize("most", [None, 1, 2])
def test_sampler_follows_the_enumeration(most):
    """3000 independent chains of 15 sweeps for every family of action 0; false alarm 1e-6.

    With a cap, sets have different numbers of legal moves: without the Hastings ratio a full set would be too probable.
    """
    posterior = told(FactoredDBN(SIZES, 2, 0.6, edge=0.5, max_parents=most, chains=3000), STEPS)
    graphs = posterior.refresh(default_rng(0), sweeps=15).graphs
    assert graphs.shape == (3000, 2, 3, 3)
    for i in range(3):
        sets = posterior.parent_sets(i, 0)
        places = {parents: n for n, (parents, _) in enumerate(sets)}
        seen = np.zeros(len(sets))
        for g in graphs[:, 0, :, i]:
            seen[places[tuple(np.flatnonzero(g).tolist())]] += 1
        assert_frequencies(seen, np.array([p for _, p in sets]))


def test_geweke():
    """Parents from the prior, then three times: data given parents, one sweep given data. The joint law stays.

    4000 independent chains of a binary variable among three, at most two parents; false alarm 1e-6.
    """
    rng, sizes, prior = default_rng(1), np.array([2, 2, 2]), np.array([0.5, -1.0])
    masks = _families.masks_of(3, 2)
    p = np.array([0.7 ** bin(m).count("1") for m in masks.tolist()])
    x = np.array(list(product(range(2), repeat=3)))
    found = []
    for mask in rng.choice(masks, 4000, p=p / p.sum()):
        for _ in range(3):
            y, urns = np.zeros((8, 3), np.int64), {}
            for t in rng.permutation(8):
                urn = urns.setdefault(tuple(int(x[t, j]) for j in range(3) if mask >> j & 1), [0.5, 0.5])
                y[t, 1] = int(rng.random() * sum(urn) >= urn[0])
                urn[y[t, 1]] += 1.0
            mask = _families.metropolis(rng, x, y, 1, int(mask), 2, sizes, 0.7, prior, 3)
        alike = float(y[0, 1] == y[1, 1])  # which share their values of all variables but the last
        found.append([bin(mask).count("1"), mask & 1, mask >> 2 & 1, alike * (mask >> 2 & 1 == 0)])
    total = 1 + 3 * 0.7 + 3 * 0.49
    edge = (0.7 + 2 * 0.49) / total
    # Without the last variable among its parents both have one urn: alike with probability .75 of Beta(.5, .5).
    assert_mean_equal(np.array(found, float), np.array([3 * edge, edge, edge, 0.75 * (1 - edge)]))


@pytest.mark.long
def test_chains_give_the_readings_where_sets_are_many(monkeypatch):
    """With enumeration off: 3000 chains, against the enumeration; six deviations at most."""
    exact = told(FactoredDBN(SIZES, 2, 0.6, edge=0.5), STEPS)
    edges, rows, evidence = exact.edges(0), exact.predictive((0, 1, 0), 0), exact.log_evidence()
    monkeypatch.setattr(factored_dbn, "ENUMERABLE", 2)
    many, rng = FactoredDBN(SIZES, 2, 0.6, edge=0.5, chains=3000).refresh(default_rng(2), 12), default_rng(3)
    for x, a, y in STEPS:
        many = many.update(Transition(x, a, 0.0, y), rng)
    assert not many.is_exact
    many = many.refresh(rng, 12)
    np.testing.assert_allclose(many.edges(0), edges, atol=6 * 0.5 / 3000**0.5)
    for one, other in zip(many.predictive((0, 1, 0), 0), rows, strict=True):
        np.testing.assert_allclose(one, other, atol=6 * 0.4 / 3000**0.5)
    assert many.log_evidence() == pytest.approx(evidence, abs=0.2)
    assert sum(p for _, p in many.parent_sets(0, 0)) == pytest.approx(1.0)


REWARDS = np.array([[0.0, 0.2], [0.3, 0.0], [0.0, 0.6], [1.0, 0.0]])
SMALL = told(
    FactoredDBN((2, 2), 2, 0.5, edge=0.5, rewards=REWARDS, gamma=0.9),
    [((0, 1), 0, (1, 1)), ((1, 1), 1, (0, 0)), ((0, 0), 0, (0, 1)), ((0, 1), 0, (1, 0))],
)


def test_drawn_models_have_the_mean():
    """4000 models; false alarm 1e-6. The law suite checks the martingale and calibration."""
    rng = default_rng(4)
    assert_mean_equal(np.array([SMALL.sample_mdp(rng).prob for _ in range(4000)]), SMALL.mean_mdp().prob)
    P = SMALL.mean_mdp().dense()[0]
    for s, a in product(range(4), range(2)):
        first, second = SMALL.predictive(s, a)
        np.testing.assert_allclose(P[s, a], np.outer(first, second).ravel(), rtol=1e-12)
    assert SMALL.encode((1, 0)) == SMALL.encode(2) == 2


def test_simulated_steps_follow_the_predictive():
    """Two steps: 20000 simulations against the chain rule; replayed steps too; false alarm 1e-6."""
    rng, model, seen = default_rng(5), SMALL.simulate(4), np.zeros((4, 4))
    for _ in range(20000):
        begin(model, rng)
        k, y, r, done, mark = step(model, 1, 0, rng)
        seen[k, step(model, int(y), 0, rng)[0]] += 1
        assert (k, r, done) == (y, 0.3, False)
        forget(model, np.array([mark, mark]), 2)
    row = SMALL.mean_mdp().dense()[0][1, 0]
    after = [told(SMALL, [((0, 1), 0, (k // 2, k % 2))]) for k in range(4)]
    joint = np.array([row[k] * after[k].mean_mdp().dense()[0][k, 0] for k in range(4)])
    assert_frequencies(seen.ravel(), joint.ravel())
    for k in range(4):
        assert likelihood(model, 1, 0, k) == pytest.approx(row[k])
        replay(model, 1, 0, k)
        for j in range(4):
            assert likelihood(model, k, 0, j) == pytest.approx(joint[k, j] / row[k])
        undo(model, 1, 0, k)


def exact_q(posterior, s, depth):
    """Naive expectimax over beliefs: the belief's own update and mean, nothing else."""
    q, P = [], posterior.mean_mdp().dense()[0]
    for a in range(2):
        q.append(REWARDS[s, a])
        for y in range(4) if depth > 1 else ():
            q[a] += 0.9 * P[s, a, y] * max(exact_q(posterior.update(Transition(s, a, 0.0, y)), y, depth - 1))
    return q


@pytest.mark.long
def test_bamcp_finds_the_values_of_exact_expectimax():
    """Four seeds of 30000 simulations at three decisions; the mean root value within .02 of the exact one."""
    exact = exact_q(SMALL, 1, 3)
    planner = b.make("bamcp", simulations=30000, depth=3, exploration=0.5)
    q = np.mean([planner.plan(SMALL, 1, None, default_rng(i)).info["q"] for i in range(4)], axis=0)
    assert max(q) == pytest.approx(max(exact), abs=0.02)


@pytest.mark.parametrize("name", ["boss", "psrl", "bamcp", "exploit"])
def test_planners_run_unchanged(name):
    """States are numbered in the order of tuples."""
    world = MDPWorld("two variables", SMALL.mean_mdp())
    planner = b.make(name, **({"simulations": 30, "depth": 15} if name == "bamcp" else {}))
    assert len(b.run(b.BayesAgent(FactoredDBN((2, 2), 2, rewards=REWARDS, gamma=0.9), planner), world, 20)) == 20


def test_planners_need_rewards():
    """And a model only where it can be listed."""
    with pytest.raises(Incompatible, match="Rewards are not given"):
        b.BayesAgent(FactoredDBN((2, 2), 2), b.make("psrl"))
    many = FactoredDBN((2,) * 12, 1, max_parents=2, rewards=np.zeros((4096, 1)))
    with pytest.raises(Incompatible, match="planners that simulate do not need one"):
        b.BayesAgent(many, b.make("psrl"))
    with pytest.raises(InvalidArgument, match="Rewards are not given"):
        FactoredDBN((2, 2), 2).sample_mdp(default_rng(0))
    agent = b.BayesAgent(many, b.make("bamcp", simulations=5, depth=3))
    assert agent.act(agent.start(), (0, 1) * 6, default_rng(0)).action == 0


def test_bad_input():
    """One sentence each; nothing changed by the call."""
    for name, bad in [("concentration", 0.0), ("equivalent", -1.0), ("edge", 0.0), ("gamma", 1.5), ("n_actions", 0),
                      ("max_parents", -1), ("chains", 0), ("sizes", ()), ("sizes", (2, 0)), ("sizes", 3),
                      ("rewards", np.zeros((2, 2))), ("rewards", np.full((4, 1), np.nan))]:  # fmt: skip
        with pytest.raises(InvalidArgument, match=f"FactoredDBN: '{name}' must be"):
            FactoredDBN(**({"sizes": (2, 2), "n_actions": 1} | {name: bad}))
    prior = FactoredDBN((2, 3), 2)
    for x, a, y in [((0, 3), 0, (0, 0)), ((0, 0), 2, (0, 0)), ((0, 0), 0, (-1, 0)), ((0, 0), 0, None), (6, 0, 0),
                    ((0.5, 0), 0, (0, 0)), ((0, 0, 0), 0, (0, 0)), ((0, 0), None, (0, 0))]:  # fmt: skip
        with pytest.raises(InvalidArgument, match=r"FactoredDBN.update"):
            prior.update(Transition(x, a, 0.0, y))
    with pytest.raises(InvalidArgument, match="'datum' must be a Transition"):
        prior.update(3)
    with pytest.raises(ImpossibleEvidence, match="no state is terminal"):
        prior.update(Transition((0, 0), 0, 0.0, (0, 0), terminated=True))
    for call in (lambda: prior.parent_sets(2, 0), lambda: prior.edges(2), lambda: prior.predictive((0, 5), 0)):
        with pytest.raises(InvalidArgument):
            call()
    with pytest.raises(InvalidArgument, match="'sweeps' must be a whole number of at least 1, got 0"):
        prior.refresh(default_rng(0), 0)
    assert prior == FactoredDBN((2, 3), 2)
