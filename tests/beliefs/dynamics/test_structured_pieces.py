"""Beliefs about graphs and clusterings, part by part: samplers, urns and readings written down again in plain Python.

Samplers and simulations get the same random numbers as their plain forms. Variables have different numbers of values,
and actions different numbers of outcomes, so that no axis can stand for another.
"""

from functools import partial
from itertools import product
from math import lgamma

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import CRPDynamics, FactoredDBN
from bayesrl.beliefs.dynamics import _families, _graph_urn, crp_dynamics, factored_dbn
from bayesrl.beliefs.dynamics import partitions as _partitions
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.checks import frozen
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, forget, step
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import unchecked


def index(weights, u):
    """The first place at which the sum of the weights is above the share u of their total."""
    below = 0.0
    for j, w in enumerate(weights):
        below += w
        if below > u * sum(weights):
            return j
    raise AssertionError


# Graphs --------------------------------------------------------------------------------------------------------------

SIZES, A, EDGE, COUNT = (2, 3, 2), 2, 0.6, 0.7
RNG = default_rng(0)
STATES = list(product(*map(range, SIZES)))
DATA = [(STATES[RNG.integers(12)], int(RNG.integers(A)), STATES[RNG.integers(12)]) for _ in range(14)]
REWARDS = RNG.normal(size=(12, A))


def told(prior, steps, rng=None):
    for x, a, y in steps:
        prior = prior.update(Transition(x, a, 0.0, y), rng)
    return prior


def parents_of(mask):
    return [j for j in range(len(SIZES)) if mask >> j & 1]


def urn(steps, a, i, mask, x, equivalent=None):
    """The counts of the values of variable i after action a in a state that agrees with x in the parents."""
    among = parents_of(mask)
    count = COUNT if equivalent is None else equivalent / (SIZES[i] * np.prod([SIZES[j] for j in among]))
    n = np.full(SIZES[i], count)
    for before, action, after in steps:
        if action == a and all(before[j] == x[j] for j in among):
            n[after[i]] += 1.0
    return n


def log_score(steps, a, i, mask):
    """Log probability of the values of variable i, one step after the other."""
    score, before = 0.0, []
    for one in steps:
        if one[1] == a:
            n = urn(before, a, i, mask, one[0])
            score += np.log(n[one[2][i]] / n.sum())
        before.append(one)
    return score


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_moves_of_a_set_of_parents(most):
    """Metropolis-Hastings with the same random numbers; legal moves counted by hand."""
    x, y = (np.array([one[k] for one in DATA if one[1] == 0]) for k in (0, 2))
    for seed in range(4):
        rng, mask = default_rng(seed), 1 if most else 0
        found = _families.metropolis(
            default_rng(seed), x, y, 1, mask, most, np.array(SIZES), EDGE, np.array([COUNT, -1.0]), 12
        )
        for _ in range(12):
            legal = range(3) if len(parents_of(mask)) < most else parents_of(mask)
            if not len(legal):
                break
            new = mask ^ (1 << legal[int(rng.random() * len(legal))])
            after = 3 if len(parents_of(new)) < most else len(parents_of(new))
            ratio = np.exp(log_score(DATA, 0, 1, new) - log_score(DATA, 0, 1, mask))
            ratio *= EDGE ** (len(parents_of(new)) - len(parents_of(mask))) * len(legal) / after
            if rng.random() < ratio:
                mask = new
        assert found == mask


def test_bits_and_priors():
    for mask in range(32):
        bits = [j for j in range(5) if mask >> j & 1]
        assert _families.count_bits(mask) == len(bits)
        assert [_families.nth_bit(mask, n) for n in range(len(bits))] == bits
        for i, j in product(range(len(STATES)), repeat=2):
            same = all(STATES[i][k] == STATES[j][k] for k in parents_of(mask & 7))
            assert mask > 7 or _families.agree(np.array(STATES[i]), np.array(STATES[j]), mask) == same
    assert _families.masks_of(4, 2).tolist() == [0, 1, 2, 4, 8, 3, 5, 9, 6, 10, 12]
    assert _families.log_prior_total(4, 2, 0.3) == pytest.approx(np.log(1 + 4 * 0.3 + 6 * 0.09))
    sizes = np.array(SIZES)
    assert _families.prior_count(1, 5, sizes, 0.7, -1.0) == 0.7
    assert _families.prior_count(1, 5, sizes, 0.7, 6.0) == pytest.approx(6.0 / (3 * 2 * 2))
    assert _families.prior_count(0, 2, sizes, 0.7, 6.0) == pytest.approx(6.0 / (2 * 3))


@pytest.fixture
def chains(monkeypatch):
    """A belief with four chains whose parents are given: enumeration is off."""
    monkeypatch.setattr(factored_dbn, "ENUMERABLE", 2)
    prior = FactoredDBN(SIZES, A, COUNT, edge=EDGE, chains=4, rewards=REWARDS, gamma=0.8)
    return unchecked(told(prior, DATA), parents=frozen(default_rng(1).integers(8, size=(4, A, 3))))


def test_readings_of_chains(chains):
    """Sets, edges, graphs and predictives are averages over chains; an update adds the log of the predictive."""
    masks = chains.parents
    for a in range(A):
        edges = np.zeros((3, 3))
        for i in range(3):
            found = {}
            for c in range(4):
                among = tuple(parents_of(int(masks[c, a, i])))
                found[among] = found.get(among, 0.0) + 0.25
                for j in among:
                    edges[j, i] += 0.25
                    assert chains.graphs[c, a, j, i] == 1
            sets = chains.parent_sets(i, a)
            assert dict(sets) == found
            assert [p for _, p in sets] == sorted(found.values(), reverse=True)
        np.testing.assert_allclose(chains.edges(a), edges)
        assert chains.graphs[:, a].sum() == 4 * edges.sum()
    x, y = (1, 2, 0), (0, 1, 1)
    rows = []
    for i in range(3):
        urns = [urn(DATA, 1, i, int(masks[c, 1, i]), x) for c in range(4)]
        rows.append(np.mean([n / n.sum() for n in urns], axis=0))
        np.testing.assert_allclose(chains.predictive(x, 1)[i], rows[i])
    after = chains.update(Transition(x, 1, 0.0, y))
    gain = sum(np.log(rows[i][y[i]]) for i in range(3))
    assert after.log_evidence() - chains.log_evidence() == pytest.approx(gain)
    np.testing.assert_array_equal(after.parents, masks)
    moved, rng = chains.refresh(default_rng(2), 2).parents, default_rng(2)
    steps = [[np.array([one[k] for one in DATA if one[1] == a]) for k in (0, 2)] for a in range(A)]
    for c, a, i in np.ndindex(4, A, 3):
        mask = int(masks[c, a, i])
        args = (*steps[a], i, mask, 3, np.array(SIZES), EDGE, np.array([COUNT, -1.0]), 6)
        assert moved[c, a, i] == _families.metropolis(rng, *args)
    again = chains.update(Transition(x, 1, 0.0, y), default_rng(3))
    assert again == after.refresh(default_rng(3))


def test_families_that_are_enumerated(monkeypatch):
    """1 + 3 + 3 sets of at most two parents among three: that many may be enumerated, and one less is not enough."""
    for most, exact in ((7, True), (6, False)):
        monkeypatch.setattr(factored_dbn, "ENUMERABLE", most)
        assert FactoredDBN(SIZES, 1, max_parents=2).is_exact == exact
    monkeypatch.setattr(factored_dbn, "ENUMERABLE", 8)
    assert FactoredDBN(SIZES, 1).is_exact
    assert FactoredDBN(SIZES, 1, max_parents=9).is_exact
    for listable, left in ((288, {}), (287, {"sample_mdp", "mean_mdp", "outcomes"})):
        monkeypatch.setattr(factored_dbn, "LISTABLE", listable)
        assert set(FactoredDBN(SIZES, A, rewards=REWARDS).unsupported) == set(left)


def test_sizes_of_graphs():
    assert FactoredDBN((2,) * 60, 1, max_parents=0).n_states == 2**60
    assert FactoredDBN((3,), 1).n_states == 3
    for bad in ((2,) * 61, (1,) * 61, (2,) * 59 + (3,)):
        with pytest.raises(InvalidArgument, match="'sizes' must be of 1 to 60 variables with at most 2\\^60 states"):
            FactoredDBN(bad, 1, max_parents=0)
    values = partial(_graph_urn.values_of, "test", "state")
    for s, x in enumerate(STATES):
        for given in (s, x, list(x), np.array(x)):
            assert values(given, SIZES).tolist() == list(x)
    assert _graph_urn.all_states(np.array(SIZES)).tolist() == [list(x) for x in STATES]
    for bad in (12, -1, (0, 3, 0), (2, 0, 0), (0, 0), (0, 0, 0, 0), ((0, 0, 0),), "x"):
        with pytest.raises(InvalidArgument, match="test: 'state' must be"):
            values(bad, SIZES)
    o = _graph_urn.flat_outcomes(REWARDS)
    np.testing.assert_array_equal(o.reward, np.repeat(REWARDS[:, :, None], 12, axis=2))
    np.testing.assert_allclose(o.start, 1 / 12)
    assert not o.terminal.any()


@pytest.mark.parametrize("equivalent", [None, 3.0])
def test_models_drawn_from_graphs(equivalent):
    """Parents of each variable and action, then the rows of all their settings, with the same random numbers."""
    prior = FactoredDBN(SIZES, A, COUNT, equivalent, EDGE, rewards=REWARDS, gamma=0.8)
    belief, rng = told(prior, DATA), default_rng(4)
    mean = belief.mean_mdp().dense()[0]
    model = belief.sample_mdp(default_rng(4))
    for a in range(A):
        P = np.ones((12, 12))
        for i in range(3):
            sets = dict(belief.parent_sets(i, a))
            masks = _families.masks_of(3, 3).tolist()
            mask = masks[index([sets[tuple(parents_of(m))] for m in masks], rng.random())]
            settings = list(product(*(range(SIZES[j]) for j in parents_of(mask))))
            full = [dict(zip(parents_of(mask), setting, strict=True)) for setting in settings]
            counts = [urn(DATA, a, i, mask, [one.get(j, 0) for j in range(3)], equivalent) for one in full]
            rows = dirichlet_rows(np.array(counts), rng)
            for (s, x), (z, y) in product(enumerate(STATES), repeat=2):
                P[s, z] *= rows[settings.index(tuple(x[j] for j in parents_of(mask)))][y[i]]
        np.testing.assert_allclose(model.dense()[0][:, a], P, rtol=1e-9)
        for (s, x), (z, y) in product(enumerate(STATES), repeat=2):
            expected = np.prod([row[v] for row, v in zip(belief.predictive(x, a), y, strict=True)])
            assert mean[s, a, z] == pytest.approx(expected)
    assert model.gamma == 0.8


def test_simulations_of_graphs():
    """Six steps with the same random numbers: parents when they are first needed, then values from growing urns."""
    belief = told(FactoredDBN(SIZES, A, COUNT, edge=EDGE, rewards=REWARDS, gamma=0.8), DATA)
    model, masks = belief.simulate(8), _families.masks_of(3, 3).tolist()
    assert (model.path.shape, model.actions.shape, model.drawn.tolist()) == ((9, 2, 3), (9,), [[-1] * 3] * A)
    assert (model.row.shape, model.now.tolist()) == ((max(SIZES),), [0, 0])

    def check(replayed, seed):
        ours, rng, steps, drawn = default_rng(seed), default_rng(seed), list(replayed), {}
        known = told(belief, replayed)
        begin(model, ours)
        s = 5
        for a in (1, 0, 0, 1, 0, 1):
            y = []
            for i in range(3):
                if (a, i) not in drawn:
                    sets = dict(known.parent_sets(i, a))
                    drawn[a, i] = masks[index([sets[tuple(parents_of(m))] for m in masks], rng.random())]
                y.append(index(urn(DATA + steps, a, i, drawn[a, i], STATES[s]), rng.random()))
            k, z, r, done, _ = step(model, s, a, ours)
            assert STATES[k] == tuple(y)
            assert (z, r, done) == (k, REWARDS[s, a], False)
            steps.append((STATES[s], a, tuple(y)))
            s = int(k)

    for seed in range(3):
        check([], seed)
        forget(model, np.zeros(2, np.int64), 2)
    first, second = (STATES[3], 1, STATES[7]), (STATES[7], 0, STATES[2])
    replay(model, 3, 1, 7)
    check([first], 3)
    forget(model, np.zeros(2, np.int64), 2)
    replay(model, 7, 0, 2)
    check([first, second], 4)
    forget(model, np.zeros(2, np.int64), 2)
    for left in ([first, second], [first], []):
        known = told(belief, left)
        for s, a, k in ((3, 1, 7), (2, 0, 11), (7, 0, 0)):
            rows = known.predictive(s, a)
            expected = np.prod([row[v] for row, v in zip(rows, STATES[k], strict=True)])
            assert likelihood(model, s, a, k) == pytest.approx(expected)
        if left:
            undo(model, *((7, 0, 2) if len(left) == 2 else (3, 1, 7)))
    replay(model, 3, 1, 7)
    begin(model, default_rng(5))
    step(model, 7, 0, default_rng(5))
    undo(model, 7, 0, 0)  # of the step that was simulated: what was replayed stays
    check([first], 6)


@pytest.mark.parametrize("most", [1, 2, None])
def test_evidence_of_graphs(most):
    """By sums over all sets of parents, for each action and variable; and what else a belief says of itself."""
    belief = told(FactoredDBN(SIZES, A, COUNT, edge=EDGE, max_parents=most, rewards=REWARDS, gamma=0.8), DATA)
    total = 0.0
    for a, i in product(range(A), range(3)):
        masks = [m for m in range(8) if len(parents_of(m)) <= (3 if most is None else most)]
        prior = np.array([EDGE ** len(parents_of(m)) for m in masks])
        total += np.log(prior / prior.sum() @ np.exp([log_score(DATA, a, i, m) for m in masks]))
        assert len(belief.parent_sets(i, a)) == len(masks)
    assert belief.log_evidence() == pytest.approx(total)
    assert (belief.n_states, belief.numbered_states) == (12, 12)
    assert belief.rewards_known
    assert belief.same_support
    for s, x in enumerate(STATES):
        assert belief.encode(x) == s == belief.code(Transition((0, 0, 0), 0, 0.0, x))
        assert not belief.is_terminal(s)
    assert belief.visit_groups().tolist() == np.arange(24).reshape(12, A).tolist()
    for call, name in (
        (lambda: belief.parent_sets(3, 0), "variable"),
        (lambda: belief.parent_sets(-1, 0), "variable"),
        (lambda: belief.parent_sets(0, A), "action"),
        (lambda: belief.predictive(0, A), "action"),
        (lambda: belief.predictive(0, -1), "action"),
        (lambda: belief.edges(A), "action"),
        (lambda: belief.simulate(-1), "depth"),
        (lambda: belief.update(Transition(0, A, 0.0, 0)), "action"),
    ):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be a whole number"):
            call()
    assert belief.simulate(0).path.shape == (1, 2, 3)


def test_steps_in_files_belong_to_the_graph():
    """Each limit is allowed; one value beyond it is refused."""
    belief = FactoredDBN(SIZES, A)
    good = np.array([[0, 0, 0], [1, 2, 1]]), np.array([0, A - 1]), np.array([[1, 2, 1], [0, 0, 0]])
    unchecked(belief, log=good).check_grown()
    for place, bad in (
        (0, [[0, 0, 0], [1, 3, 1]]), (0, [[0, -1, 0], [0, 0, 0]]), (0, [[0, 0], [0, 0]]), (1, [0, A]), (1, [-1, 0]),
        (1, [0, 1, 0]), (2, [[0, 0, 2], [0, 0, 0]]), (2, [[0, 0, 0]]), (2, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ):  # fmt: skip
        log = tuple(np.array(bad) if i == place else x for i, x in enumerate(good))
        with pytest.raises(InvalidArgument, match="'log' must be steps of these variables and actions"):
            unchecked(belief, log=log).check_grown()


# Clusterings ---------------------------------------------------------------------------------------------------------

S, K = 4, 3
SEEN = default_rng(6).integers(0, 4, size=(S, A, K)).astype(float)
SEEN[:, 1, 2] = 0.0  # action 1 has two outcomes
ALPHA = np.array([[0.7, 0.7, 0.7], [0.7, 0.7, 0.0]])


def clustered(terminal=(), **change):
    """Outcome k of action a moves on by k + a; action 0 has three outcomes, and action 1 two."""
    succ = np.array([[[(s + k + a) % S for k in range(K)] for a in range(A)] for s in range(S)])
    reward, ends = default_rng(7).normal(size=(S, A, K)), np.isin(np.arange(S), terminal)
    pairs, start = np.arange(S * A).reshape(S, A), np.eye(S)[0]
    o = Outcomes(succ, reward, pairs, np.tile([3, 2], S), np.zeros(1), start, ends)
    return CRPDynamics(o, **({"gamma": 0.9, "crp": 0.8, "concentration": 0.7} | change))


def dm(counts):
    """Log probability of outcomes with these counts (A, K), one after the other."""
    total = 0.0
    for a in range(A):
        n = ALPHA[a].copy()
        for k in range(K):
            for _ in range(int(counts[a, k])):
                total += np.log(n[k] / n.sum())
                n[k] += 1.0
    return total


def test_evidence_of_sequences():
    np.testing.assert_allclose(_partitions.log_sequence(SEEN, ALPHA).sum(axis=1), [dm(n) for n in SEEN])
    gain = _partitions.log_gain(frozen(SEEN)[0], SEEN[1] + SEEN[2], frozen(ALPHA))
    assert gain == pytest.approx(dm(SEEN[0] + SEEN[1] + SEEN[2]) - dm(SEEN[1] + SEEN[2]))
    mean, square, total = _partitions.row_moments(SEEN, ALPHA)
    for s, a, k in np.ndindex(S, A, K):
        n = SEEN[s, a] + ALPHA[a]
        assert total[s, a] == pytest.approx(n.sum())
        assert mean[s, a, k] == pytest.approx(n[k] / n.sum())
        assert square[s, a, k] == pytest.approx(n[k] * (n[k] + 1.0) / (n.sum() * (n.sum() + 1.0)) if n[k] else 0.0)


def test_sweeps_over_clusterings():
    """A sweep of each of 40 chains, and a second one, with the same random numbers; evidence of whole clusters.

    Half of the chains have seen little, so that the sizes of clusters decide.
    """
    for seed in range(40):
        seen = SEEN % 2 if seed % 2 else SEEN
        z, rng, sweeps = default_rng(seed).integers(3, size=S), default_rng(seed + 10), 1 + seed % 2
        seats = z.tolist()
        _partitions.gibbs(default_rng(seed + 10), z, frozen(seen), frozen(ALPHA), 0.8, sweeps)
        for _, s in product(range(sweeps), range(S)):
            seats[s] = -1
            weights, new = [], 0.8
            for j in range(S + 1):
                members = [t for t in range(S) if seats[t] == j]
                n, new = (len(members), new) if members else (new, 0.0)
                old = seen[members].sum(axis=0)
                weights.append(n * np.exp(dm(old + seen[s]) - dm(old)))
            seats[s] = index(weights, rng.random())
        first = list(dict.fromkeys(seats))
        assert z.tolist() == [first.index(j) for j in seats]


def test_readings_of_clusterings(monkeypatch):
    """Moments, counts and drawn models: by sums over all clusterings, and over chains whose labels are given."""
    belief = unchecked(clustered(), seen=frozen(SEEN))
    np.testing.assert_array_equal(belief.alpha, ALPHA)
    labels, _ = _partitions.all_partitions(S)
    joint = []
    for z in labels.tolist():
        sizes = [z.count(j) for j in range(max(z) + 1)]
        evidence = sum(dm(SEEN[[s for s in range(S) if z[s] == j]].sum(axis=0)) for j in range(len(sizes)))
        log_prior = len(sizes) * np.log(0.8) + sum(lgamma(n) for n in sizes) + lgamma(0.8) - lgamma(0.8 + S)
        joint.append(np.exp(evidence + log_prior))
    p = np.array(joint) / sum(joint)
    assert belief.log_evidence() == pytest.approx(np.log(sum(joint)))
    given = [found for found, _ in belief.partitions()]
    assert [q for _, q in belief.partitions()] == sorted((q for _, q in belief.partitions()), reverse=True)
    assert set(given) == {tuple(z) for z in labels.tolist()}
    drawn = np.array([[0, 1, 0, 2], [0, 0, 1, 1], [0, 1, 0, 2]])
    for exact, zs, weights in ((True, labels, p), (False, drawn, np.full(3, 1 / 3))):
        if not exact:
            monkeypatch.setattr(crp_dynamics, "ENUMERABLE", 3)
            belief = unchecked(clustered(chains=3), seen=frozen(SEEN), labels=frozen(drawn))
        assert belief.is_exact == exact
        mean, square, together = np.zeros((S, A, K)), np.zeros((S, A, K)), np.zeros((S, S))
        for z, w in zip(zs, weights, strict=True):
            together += w * (z[:, None] == z)
            for s in range(S):
                n = SEEN[z == z[s]].sum(axis=0) + ALPHA
                total = n.sum(axis=1, keepdims=True)
                mean[s] += w * n / total
                square[s] += w * n * (n + (ALPHA > 0.0)) / (total * (total + 1.0))
        np.testing.assert_allclose(belief.coclustering(), together)
        np.testing.assert_allclose(belief.mean_mdp().prob, mean.reshape(S * A, K))
        np.testing.assert_allclose(belief.predictive(2, 1), mean[2, 1])
        variance = square - mean**2
        np.testing.assert_allclose(belief.row_variance(), variance.reshape(S * A, K), atol=1e-12)
        count = (mean * (1.0 - mean)).sum(axis=2) / variance.sum(axis=2) - 1.0
        np.testing.assert_allclose(belief.counts(), count)
        rng = default_rng(8)
        z = zs[index(weights, rng.random())]
        n = np.array([SEEN[z == j].sum(axis=0) + ALPHA for j in range(z.max() + 1)])
        rows = dirichlet_rows(n.reshape(-1, K), rng).reshape(n.shape)
        same = default_rng(8)
        np.testing.assert_array_equal(belief.sample_mdp(same).prob, rows[z].reshape(S * A, K))
        assert same.random() == rng.random()  # and nothing else was drawn
    assert dict(belief.partitions()) == pytest.approx({(0, 1, 0, 2): 2 / 3, (0, 0, 1, 1): 1 / 3})
    o = belief.outcomes
    after = belief.update(Transition(1, 0, float(o.reward[1, 0, 2]), int(o.succ[1, 0, 2])))
    assert after.log_evidence() - belief.log_evidence() == pytest.approx(np.log(belief.predictive(1, 0)[2]))
    assert (after.seen - SEEN)[1, 0].tolist() == [0.0, 0.0, 1.0]
    assert after.seen.sum() == SEEN.sum() + 1.0
    same = belief.update(Transition(1, 0, float(o.reward[1, 0, 2]), int(o.succ[1, 0, 2])), default_rng(9))
    assert same == after.refresh(default_rng(9))


def test_a_new_belief_about_clusterings():
    """Chains begin with every state alone; nothing was seen; states and actions within their numbers."""
    belief = clustered(chains=2)
    assert belief.labels.tolist() == [[0, 1, 2, 3]] * 2
    assert (belief.log_score, belief.seen.shape, belief.seen.any()) == (0.0, (S, A, K), False)
    assert belief.same_support
    assert belief.simulate(0).path.shape == (1, 3)
    assert belief.predictive(0, 0).tolist() == pytest.approx([1 / 3] * 3)
    assert belief.predictive(3, 1).tolist() == pytest.approx([0.5, 0.5, 0.0])
    for call, name in (
        (lambda: belief.predictive(S, 0), "state"),
        (lambda: belief.predictive(-1, 0), "state"),
        (lambda: belief.predictive(0, A), "action"),
        (lambda: belief.predictive(0, -1), "action"),
        (lambda: belief.simulate(-1), "depth"),
        (lambda: belief.refresh(default_rng(0), 0), "sweeps"),
    ):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be a whole number"):
            call()
    o = belief.outcomes
    assert [belief.code(Transition(1, 0, float(o.reward[1, 0, k]), int(o.succ[1, 0, k]))) for k in range(K)] == [
        0,
        1,
        2,
    ]
    np.testing.assert_array_equal(clustered(terminal=range(S)).alpha, ALPHA)


def test_the_most_states_that_are_enumerated(monkeypatch):
    monkeypatch.setattr(crp_dynamics, "ENUMERABLE", S)
    assert clustered().is_exact
    assert clustered(terminal=[3]).alpha.tolist() == ALPHA.tolist()
    alone = Outcomes(np.zeros((2, 1, 1)), np.zeros((2, 1, 1)), [[0], [1]], [1, 1], 0.0, [1.0, 0.0], [False] * 2)
    one = CRPDynamics(alone, 0.9)
    # A single outcome: the expected prior count of its cluster, which holds nothing.
    np.testing.assert_allclose(one.counts(), 0.5)


@pytest.mark.parametrize("exact", [True, False])
def test_simulations_of_clusterings(exact, monkeypatch):
    """The clustering at the first step, then outcomes from growing urns, with the same random numbers."""
    if not exact:
        monkeypatch.setattr(crp_dynamics, "ENUMERABLE", 3)
    drawn = np.array([[0, 1, 0, 2], [0, 0, 1, 1], [0, 1, 0, 2]])
    belief = unchecked(clustered(terminal=[3], chains=3), seen=frozen(SEEN), labels=frozen(drawn))
    o, model = belief.outcomes, belief.simulate(8)
    zs, weights = (belief._exact.labels, belief._exact.probability) if exact else (drawn, np.full(3, 1 / 3))

    def counts(z, s, a, steps):
        n = SEEN[z == z[s], a].sum(axis=0) + ALPHA[a]
        for t, action, k in steps:
            if action == a and z[t] == z[s]:
                n[k] += 1.0
        return n

    def after(replayed):
        w, before = np.array(weights), []
        for s, a, k in replayed:
            w *= [(n := counts(z, s, a, before))[k] / n.sum() for z in zs]
            before.append((s, a, k))
        return w / w.sum()

    def check(replayed, seed):
        ours, rng, steps = default_rng(seed), default_rng(seed), list(replayed)
        begin(model, ours)
        z = zs[index(after(replayed), rng.random())]
        s = 1
        for a in (0, 1, 0, 0, 1):
            k = index(counts(z, s, a, steps), rng.random())
            found = step(model, s, a, ours)
            y = int(o.succ[s, a, k])
            assert tuple(found) == (k, y, o.reward[s, a, k], y == 3, 0)
            steps.append((s, a, k))
            s = y if y != 3 else 2

    for seed in range(3):
        check([], seed)
        forget(model, np.zeros(2, np.int64), 2)
    done = [(1, 0, 2), (0, 1, 1)]
    for n in (1, 2):
        replay(model, *done[n - 1])
        for seed in range(2):
            check(done[:n], seed + 4)
            forget(model, np.zeros(2, np.int64), 2)
    for n in (2, 1, 0):
        for s, a, k in ((1, 0, 2), (2, 1, 0), (0, 0, 1)):
            w, chance = after(done[:n]), [(c := counts(z, s, a, done[:n]))[k] / c.sum() for z in zs]
            assert likelihood(model, s, a, k) == pytest.approx(w @ chance)
        if n:
            undo(model, *done[n - 1])
    check([], 9)
