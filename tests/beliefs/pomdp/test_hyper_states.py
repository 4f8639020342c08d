"""Kernels over hyper-states and rows of counts, each against plain Python on a prior with tied and known rows."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import dirichlet

import bayesrl as b
from bayesrl.beliefs import BoundedBAPOMDP, DirichletPOMDP, ExactBAPOMDP
from bayesrl.beliefs.pomdp._count_rows import checked_counts, dirichlet_log_density, group_rows, listed, rewards_of
from bayesrl.beliefs.pomdp._hyper_samples import draw_step, mean_rows, observations_after, resampled
from bayesrl.beliefs.pomdp.hyper_states import (
    FRESH,
    KEYS,
    Branches,
    HyperStates,
    again,
    grown,
    mixed,
    nothing_seen,
    roots,
    rows_of,
    same_counts,
    step,
)
from bayesrl.beliefs.pomdp.over_hyper_states import example_prior, pick, tabled
from bayesrl.checks import all_frozen
from bayesrl.errors import InvalidArgument
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.parameters import unchecked

S, A, Z, END = 4, 3, 3, 2


def generic(seed=0):
    """Four states, three actions and observations; five groups of at most 3 outcomes, four of at most 2 signs."""
    rng = default_rng(seed)
    size, shown = np.array([3, 2, 3, 1, 2]), np.array([2, 1, 2, 2])
    phi, psi = rng.uniform(0.4, 3.0, (5, 3)).round(2), rng.uniform(0.4, 3.0, (4, 2)).round(2)
    phi[np.arange(3) >= size[:, None]], psi[np.arange(2) >= shown[:, None]] = 0.0, 0.0
    known, seen = np.array([False, False, True, False, False]), np.array([False, False, True, False])
    phi[known], psi[seen] = (x[k] / x[k].sum(axis=1, keepdims=True) for x, k in ((phi, known), (psi, seen)))
    outcomes = Outcomes(
        rng.integers(S, size=(S, A, 3)), np.zeros((S, A, 3)), rng.permutation(np.arange(S * A) % 5).reshape(S, A), size,
        np.zeros(1), np.array([0.5, 0.2, 0.0, 0.3]), np.arange(S) == END,
    )  # fmt: skip
    observed = ObservationOutcomes(
        rng.integers(Z, size=(S, A, 2)), rng.permutation(np.arange(S * A) % 4).reshape(S, A), shown, Z
    )
    rewards = rng.normal(size=(S, A, S)).round(2)
    return DirichletPOMDP(outcomes, phi, observed, psi, rewards, 0.83, known, seen)


PRIORS = [generic(seed) for seed in range(3)]


def learned(prior, bound=np.inf, steps=3, seed=0):
    """Steps that can be seen, and some of them in a second episode."""
    belief = ExactBAPOMDP(prior) if bound == np.inf else BoundedBAPOMDP(prior, bound=bound)
    rng = default_rng(seed)
    for t in range(steps):
        a = int(rng.integers(A))
        going = [o for o in range(Z) if step_probability(belief, a, o) > 0.0]
        belief = belief.update(b.Transition(-1, a, 0.0, int(rng.choice(going)), False))
        belief = belief.restart() if t == 0 else belief
    return belief


def step_probability(belief, a, o, ended=False):
    h = belief.hyper
    return step(belief.rows, h, roots(h, 2, len(belief.rows.mix)), a, o, ended).weight.sum()


def counts_of(m, h, i):
    """All rows of a hyper-state, (R, W), by its list."""
    x = np.array(m.alpha)
    for t in range(h.first[i], h.first[i + 1]):
        x[divmod(int(h.cell[t]), m.alpha.shape[1])] += h.times[t]
    return x


def counted(h, i):
    """The list of a hyper-state."""
    here = slice(h.first[i], h.first[i + 1])
    return Counter(dict(zip(h.cell[here].tolist(), h.times[here].tolist(), strict=True)))


def kept(h, branches, pad):
    """Branches as hyper-states that cannot be written to, as beliefs keep them."""
    return all_frozen(grown(h, branches, pad))


def stepped(m, h, a, o, ended):
    """{(state, counts): weight} after a step, by a sum over states, outcomes and signs."""
    found, W = defaultdict(float), m.alpha.shape[1]
    for i in range(len(h.weight)):
        x = counts_of(m, h, i)
        first = enumerate(m.start) if h.state[i] == FRESH else [(h.state[i], 1.0)]
        for s, p in first:
            g = m.move[s, a]
            for k in range(m.size[g]):
                y = m.succ[s, a, k] if s != END else s
                r = m.show[y, a]
                for j in range(m.size[r]):
                    w = h.weight[i] * p * x[g, k] / x[g].sum() * x[r, j] / x[r].sum()
                    if m.observation[y, a, j] == o and (y == END) == ended and w > 0.0:
                        up = counted(h, i)
                        up.update([g * W + k] * int(m.learnt[g] and x[g].sum() < m.bound))
                        up.update([r * W + j] * int(m.learnt[r] and x[r].sum() < m.bound))
                        found[int(y), frozenset((+up).items())] += w
    return found


def as_dict(h):
    found = {(int(h.state[i]), frozenset(counted(h, i).items())): float(h.weight[i]) for i in range(len(h.weight))}
    assert len(found) == len(h.weight)  # equal ones have merged
    return found


def close(one, two):
    assert one.keys() == two.keys()
    assert max(abs(one[key] - two[key]) for key in one) < 1e-13


@pytest.mark.parametrize("prior", PRIORS)
def test_rows_of_a_prior(prior):
    """Outcomes, then a certain row for the end, then signs; rewards 0 after the end."""
    m = rows_of(prior, 7.5)
    o, observed = prior.outcomes, prior.observed
    alpha = np.zeros((10, 3))
    alpha[:5], alpha[5, 0], alpha[6:, :2] = prior.phi, 1.0, prior.psi
    np.testing.assert_array_equal(m.alpha, alpha)
    np.testing.assert_allclose(m.total, alpha.sum(axis=1), atol=1e-14)
    np.testing.assert_array_equal(m.size, [*o.size, 1, *observed.size])
    np.testing.assert_array_equal(m.learnt, [*~prior.fixed[0], False, *~prior.fixed[1]])
    np.testing.assert_array_equal(m.move, [[5 if s == END else o.group[s, a] for a in range(A)] for s in range(S)])
    np.testing.assert_array_equal(m.show, observed.group + 6)
    np.testing.assert_array_equal(m.succ, o.succ)
    np.testing.assert_array_equal(m.observation, observed.observation)
    np.testing.assert_array_equal(m.terminal, np.arange(S) == END)
    np.testing.assert_array_equal(m.start, [0.5, 0.2, 0.0, 0.3])
    paid = np.array(prior.rewards)
    paid[END] = 0.0
    np.testing.assert_array_equal(m.reward, paid[..., None])
    assert m.bound == 7.5
    assert m.mix.shape == (30,)
    assert len(set(m.mix.tolist())) == 30


def test_mixed_numbers():
    """Splitmix64's finaliser with whole numbers of Python."""
    for n, x in enumerate(mixed(40).tolist(), 1):
        z = n * 0x9E3779B97F4A7C15 % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        assert x == (z ^ z >> 31) % (2**61 - 1)


def test_the_prior_as_a_hyper_state():
    weight, state, first, cell, times, key = nothing_seen()
    assert (weight.tolist(), state.tolist(), first.tolist()) == ([1.0], [-1], [0, 0])
    assert (cell.tolist(), times.tolist(), key.tolist()) == ([], [], [0])


@pytest.mark.parametrize("bound", [np.inf, 5.0])
@pytest.mark.parametrize("prior", PRIORS)
def test_a_step_is_a_sum_over_outcomes_and_signs(prior, bound):
    """From the prior and from hyper-states with counts; with and without the end; the lists, keys and restarts too."""
    for belief in (learned(prior, bound, 0), learned(prior, bound)):
        m, h = belief.rows, belief.hyper
        pad, ends = len(m.mix), 0
        for a, o, ended in np.ndindex(A, Z, 2):
            exact = stepped(m, h, a, o, bool(ended))
            found = step(m, h, roots(h, 2, pad), a, o, bool(ended))
            assert found.weight.sum() == pytest.approx(sum(exact.values()), abs=1e-13)
            if not exact:
                assert len(found.weight) == 0
                continue
            ends += ended
            new, total = kept(h, found, pad), sum(exact.values())
            close(as_dict(new), {key: w / total for key, w in exact.items()})
            for i in range(len(new.weight)):
                assert (np.diff(new.cell[new.first[i] : new.first[i + 1]]) > 0).all()
                assert new.key[i] == sum(int(m.mix[c]) * n for c, n in counted(new, i).items()) % KEYS
            forgotten = defaultdict(float)
            for (_, up), w in exact.items():
                forgotten[FRESH, up] += w / total
            close(as_dict(again(m, new)), forgotten)
        assert ends > 0


@pytest.mark.parametrize("prior", PRIORS)
def test_a_row_whose_total_is_the_bound_is_not_counted_up(prior):
    """The bound is the total of each learnt row in turn, to the last bit: every step from the prior."""
    h, first = all_frozen(nothing_seen()), rows_of(prior, 1.0)
    for row in np.flatnonzero(first.learnt):
        m = rows_of(prior, first.total[row])
        for a, o, ended in np.ndindex(A, Z, 2):
            exact = stepped(m, h, a, o, bool(ended))
            found = step(m, h, roots(h, 2, len(m.mix)), a, o, bool(ended))
            assert (len(found.weight) > 0) == (len(exact) > 0)
            if exact:
                total = sum(exact.values())
                close(as_dict(kept(h, found, len(m.mix))), {key: w / total for key, w in exact.items()})


@pytest.mark.parametrize("prior", PRIORS)
def test_two_steps_of_a_search_are_two_updates(prior):
    """Branches of branches, with room for four cells, against a step, new lists, and another step."""
    belief = learned(prior)
    m, h = belief.rows, belief.hyper
    pad = len(m.mix)
    for a, o in np.ndindex(A, Z):
        one = step(m, h, roots(h, 4, pad), a, o, False)
        if len(one.weight) == 0:
            continue
        lists = kept(h, one, pad)
        for a2, o2 in np.ndindex(A, Z):
            two = step(m, h, one, a2, o2, False)
            plain = step(m, lists, roots(lists, 2, pad), a2, o2, False)
            if len(plain.weight):
                close(as_dict(kept(h, two, pad)), as_dict(kept(lists, plain, pad)))
                assert two.weight.sum() == pytest.approx(plain.weight.sum() * one.weight.sum(), abs=1e-13)


def test_counts_are_compared_whatever_is_in_the_path():
    """All pairs of five roots and four paths: equal if and only if the counts are."""
    lists = [{}, {3: 1}, {3: 2}, {3: 1, 7: 1}, {7: 2, 9: 1}]
    first = np.cumsum([0, *map(len, lists)])
    cell, times = (np.array([x for one in lists for x in pick(one)]) for pick in (dict.keys, dict.values))
    h = all_frozen(HyperStates(np.full(5, 0.2), np.zeros(5, np.int64), first, cell, times, np.zeros(5, np.int64)))
    path = np.array([[20, 20, 20], [3, 20, 20], [3, 7, 20], [7, 7, 9]])
    root, way = (x.ravel() for x in np.indices((5, 4)))
    zero = np.zeros(20, np.int64)
    pairs = Branches(np.ones(20), zero, root, path[way], zero)
    whole = [Counter(lists[r]) + Counter(c for c in path[w].tolist() if c < 20) for r, w in zip(root, way, strict=True)]
    for i in range(20):
        for j in range(20):
            assert same_counts(h, pairs, i, j, 20) == (whole[i] == whole[j])
    made = kept(h, pairs, 20)
    assert [counted(made, i) for i in range(20)] == whole
    assert made.cell.tolist() == [c for one in whole for c in sorted(one)]
    np.testing.assert_allclose(made.weight, 0.05)


@pytest.mark.parametrize("prior", PRIORS)
def test_readings(prior):
    """Predictive probabilities and mean rows, as sums over hyper-states."""
    for belief in (learned(prior, steps=0), learned(prior)):
        m, h = belief.rows, belief.hyper
        tables = [counts_of(m, h, i) for i in range(len(h.weight))]
        mean = sum(w * x / x.sum(axis=1, keepdims=True) for w, x in zip(h.weight, tables, strict=True))
        np.testing.assert_allclose(mean_rows(m, h), mean, atol=1e-13)
        for a in range(A):
            p = np.zeros(Z)
            for o, ended in np.ndindex(Z, 2):
                p[o] += sum(stepped(m, h, a, o, bool(ended)).values())
            np.testing.assert_allclose(observations_after(m, h, a, Z), p, atol=1e-13)
        for i, x in enumerate(tables):
            np.testing.assert_allclose(belief.counts_of(i)[0], x[:5])
            np.testing.assert_allclose(belief.counts_of(i)[1], x[6:, :2])


@pytest.mark.parametrize("prior", PRIORS)
def test_a_belief_reads_its_hyper_states(prior):
    """States, numbers, mean models, lists of counts and drawn models, from the weights and counts; the evidence."""
    start = ExactBAPOMDP(prior)
    assert (start.log_evidence(), start.n_hyper_states) == (0.0, 3)
    belief = learned(prior)
    for one in (start, belief, belief.restart()):
        h, fresh = one.hyper, one.hyper.state[0] == FRESH
        states = np.array(prior.start) if fresh else np.array([h.weight[h.state == s].sum() for s in range(S)])
        np.testing.assert_allclose(one.states(), states, atol=1e-14)
        assert one.n_hyper_states == len(h.weight) * (3 if fresh else 1)
        rows = mean_rows(one.rows, h)
        model = one.mean_pomdp()
        np.testing.assert_allclose(model.mdp.prob, rows[:5], atol=1e-14)
        np.testing.assert_allclose(model.observation_prob, rows[6:, :2], atol=1e-14)
        np.testing.assert_allclose(model.start, states, atol=1e-14)
        for a in range(A):
            np.testing.assert_array_equal(one.predictive(a), observations_after(one.rows, h, a, Z))
        mixture, each = one.hyper_states(), iter(range(len(h.weight)))
        assert len(mixture) == one.n_hyper_states
        for i in each:
            phi, psi = one.counts_of(i)
            for s, p in [(s, p) for s, p in enumerate(prior.start) if p > 0.0] if fresh else [(int(h.state[i]), 1.0)]:
                weight, state, moves, seen = mixture.pop(0)
                assert (weight, state) == (pytest.approx(h.weight[i] * p, abs=1e-15), s)
                np.testing.assert_allclose(moves, tabled(prior.outcomes.succ, phi[prior.outcomes.group], S))
                np.testing.assert_allclose(seen, tabled(prior.observed.observation, psi[prior.observed.group], Z))
        for seed in range(4):
            rng = default_rng(seed)
            i = pick(h.weight, rng)
            s = pick(prior.start, rng) if fresh else int(h.state[i])
            same, drawn = prior.drawn(*one.counts_of(i), rng, np.eye(S)[s]), one.sample_pomdp(default_rng(seed))
            for mine, theirs in zip(drawn.dense(), same.dense(), strict=True):
                np.testing.assert_array_equal(mine, theirs)
            assert drawn.start.tolist() == np.eye(S)[s].tolist()
    log, evidence, one = [], 0.0, start
    for t in range(6):
        a, ended = t % A, t in (2, 3)
        p = [sum(stepped(one.rows, one.hyper, a, o, ended).values()) for o in range(Z)]
        if max(p) == 0.0:
            continue
        o = int(np.argmax(p))
        log.append(b.Transition(-1, a, 0.0, o, ended, t == 4))
        evidence += np.log(max(p))
        one = one.update(log[-1])
        assert one.log_evidence() == pytest.approx(evidence, abs=1e-12)
        one = one.restart() if ended or t == 4 else one
    assert len(log) > 3
    again_ = start.update_many(log)
    close(as_dict(again_.hyper), as_dict(one.hyper))
    assert again_.log_evidence() == pytest.approx(evidence, abs=1e-12)
    for bad in (-1, A):
        with pytest.raises(InvalidArgument, match=r"ExactBAPOMDP\.predictive: 'action' must be"):
            one.predictive(bad)
        with pytest.raises(InvalidArgument, match=r"ExactBAPOMDP\.update: 'action' must be"):
            one.update(b.Transition(-1, bad, 0.0, 0))
        with pytest.raises(InvalidArgument, match=r"ExactBAPOMDP\.update: 'next_observation' must be"):
            one.update(b.Transition(-1, 0, 0.0, Z if bad == A else -1))


def drawn_index(x, total, rng):
    """By cumulative sums."""
    return int((np.cumsum(x) <= rng.random() * total).sum())


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("row", [None, 0, 1, 6, 9])
def test_drawn_steps_equal_their_transcription(prior, row):
    """N copies of the prior, and then each of them again, under the same random numbers; no bound, or a row's total."""
    start = learned(prior, np.inf if row is None else float(ExactBAPOMDP(prior).rows.total[row]), 0)
    m, N, W = start.rows, 12, 3
    pad, weighed = len(m.mix), 0
    for a, ended in ((0, False), (1, False), (2, True)):
        h, rng, same = start.hyper, default_rng(a), default_rng(a)
        for a2, ended2 in ((1, False), (a, ended)):
            o2 = int(np.argmax([sum(stepped(m, h, a2, o, ended2).values()) for o in range(Z)]))
            new = draw_step(m, h, N, a2, o2, ended2, rng)
            for n in range(N):
                i = n if len(h.weight) > 1 else 0
                x = counts_of(m, h, i)
                s = h.state[i] if h.state[i] >= 0 else drawn_index(m.start, 1.0, same)
                g = m.move[s, a2]
                k = drawn_index(x[g, : m.size[g]], x[g].sum(), same)
                y = m.succ[s, a2, k]
                r = m.show[y, a2]
                agree = np.where(m.observation[y, a2, : m.size[r]] == o2, x[r, : m.size[r]], 0.0)
                assert (new.root[n], new.state[n]) == (i, y)
                cells = []
                if not agree.any() or (y == END) != ended2:
                    assert new.weight[n] == 0.0
                else:
                    before = h.weight[i] if len(h.weight) > 1 else 1.0 / N
                    assert new.weight[n] == pytest.approx(before * agree.sum() / x[r].sum(), abs=1e-14)
                    j = drawn_index(agree, agree.sum(), same)
                    cells += [g * W + k] * int(m.learnt[g] and x[g].sum() < m.bound)
                    cells += [r * W + j] * int(m.learnt[r] and x[r].sum() < m.bound)
                    weighed += 1
                assert new.path[n].tolist() == sorted([*cells, pad, pad])[:2]
                assert new.key[n] == (int(h.key[i]) + sum(int(m.mix[c]) for c in cells)) % KEYS
            if not new.weight.any():
                break
            h = kept(h, resampled(new, default_rng(3)), pad)
        assert rng.random() == same.random()
    assert weighed > 20


def test_resampling_equals_its_transcription():
    """The t-th is drawn at (t + u) / n of the total."""
    rng = default_rng(0)
    for n in (1, 3, 8):
        weight = rng.exponential(size=n) * 0.3
        weight[n // 2] = 0.0 if n > 1 else 0.2
        names = np.arange(n)
        old = Branches(weight, names + 1, names + 2, np.column_stack([names, names + 50]), names + 3)
        for seed in range(5):
            new, u = resampled(old, default_rng(seed)), default_rng(seed).random()
            at = (np.arange(n) + u) / n * weight.sum()
            chosen = np.searchsorted(np.cumsum(weight), at, side="right")
            np.testing.assert_allclose(new.weight, weight.sum() / n, atol=1e-15)
            for mine, theirs in zip(new[1:], old[1:], strict=True):
                np.testing.assert_array_equal(mine, theirs[chosen])


# Files ---------------------------------------------------------------------------------------------------------------


def damaged(m, h):
    """Every way in which hyper-states can be wrong, by a small change."""
    cell, times, key, first = (np.array(x) for x in (h.cell, h.times, h.key, h.first))
    unknown = int(np.argmax(m.learnt[cell // m.alpha.shape[1]]))
    known = int(np.argmin(m.learnt)) * m.alpha.shape[1]
    half = h.weight * 0.5

    def with_cell(i, c, n=None):
        """Another cell or number, with the key that belongs to it, so that only the check of cells can see it."""
        new, number = cell.copy(), times.copy()
        new[i], number[i] = c, times[i] if n is None else n
        owner = int(np.searchsorted(first, i, side="right")) - 1
        own = slice(first[owner], first[owner + 1])
        keys = key.copy()
        keys[owner] = (
            sum(int(m.mix[c % len(m.mix)]) * int(n) for c, n in zip(new[own], number[own], strict=True)) % KEYS
        )
        return {"cell": new, "times": number, "key": keys}

    pair = next(i for i in range(len(cell) - 1) if i + 1 not in first)  # two cells of one list
    swapped = cell.copy()
    swapped[[pair, pair + 1]] = swapped[[pair + 1, pair]]
    swapped_times = times.copy()
    swapped_times[[pair, pair + 1]] = swapped_times[[pair + 1, pair]]
    short = next(r for r in range(len(m.size)) if m.learnt[r] and m.size[r] < m.alpha.shape[1])
    return [
        {"weight": half}, {"weight": h.weight.astype(np.float32)}, {"weight": h.weight[:-1]},
        {"weight": h.weight + np.eye(len(h.weight))[0] * 2e-6}, {"weight": h.weight - np.eye(len(h.weight))[0] * 2e-6},
        {"weight": np.append(h.weight[:-2], [-0.1, h.weight[-2:].sum() + 0.1])},
        {"weight": np.append(h.weight[:-1], np.nan)}, {"weight": h.weight[None]}, {"weight": list(h.weight)},
        {"state": h.state + 9}, {"state": np.append(h.state[:-1], S)}, {"state": np.append(h.state[:-1], -1)},
        {"state": h.state.astype(np.int32)}, {"state": h.state[:-1]}, {"key": key[:-1]}, {"key": key + 1},
        {"key": np.append(key[:-1], key[-1] + 1)}, {"key": key.astype(np.int32)},
        {"first": first + 1}, {"first": first[:-1]}, {"first": np.append(first, first[-1])},
        {"first": np.append(first[:-1], first[-1] - 1)}, {"first": np.append(first[:-1], first[-1] + 1)},
        {"first": np.concatenate([first[:1], first[2:3] + 1, first[2:]])},
        {"cell": cell[:-1]}, {"times": times[:-1]}, {"times": times * 0}, {"cell": cell.astype(np.int32)},
        {"cell": cell[:-1], "times": times[:-1]}, {"times": times.astype(np.int32)},
        with_cell(unknown, len(m.mix)), with_cell(unknown, -1), with_cell(unknown, known),
        with_cell(pair, cell[pair + 1]), {"cell": swapped, "times": swapped_times},
        with_cell(first[-2], short * m.alpha.shape[1] + m.size[short]), with_cell(unknown, cell[unknown], 0),
        with_cell(unknown, cell[unknown], -1),
    ]  # fmt: skip


@pytest.mark.parametrize("prior", PRIORS)
def test_files_that_do_not_fit(prior):
    """Each array too short, too long, of another type, out of range, out of order; all that is right is accepted."""
    belief = learned(prior)
    for fine in (belief, belief.restart(), learned(prior, steps=0), learned(prior, steps=1)):
        fine.check_grown()
    m, h = belief.rows, belief.hyper
    last = np.append(h.state[:-1], S - 1)
    unchecked(belief, hyper=h._replace(state=last)).check_grown()  # whatever is in range
    unchecked(belief, hyper=h._replace(state=h.state * 0)).check_grown()
    nearly = h.weight + np.eye(len(h.weight))[0] * 0.9e-6
    unchecked(belief, hyper=h._replace(weight=nearly)).check_grown()
    for changed in damaged(m, h):
        with pytest.raises(InvalidArgument, match="hyper-states of its prior"):
            unchecked(belief, hyper=h._replace(**changed)).check_grown()


def test_one_cell_or_none():
    """A hyper-state with two counts of one cell: accepted in rows that are learnt, up to their size, and nowhere else.

    Lists whose borders do not ascend are refused even if their keys agree; a weight may be zero.
    """
    belief = ExactBAPOMDP(PRIORS[0])
    m = belief.rows
    W = m.alpha.shape[1]

    def accepted(cell, times=2, first=(0, 1), weight=(1.0,), state=None, keys=None):
        cells = np.atleast_1d(cell)
        key = [sum(int(m.mix[c % len(m.mix)]) * times for c in cells) % KEYS] if keys is None else keys
        state = np.zeros(len(weight), np.int64) if state is None else np.array(state)
        h = HyperStates(
            np.array(weight, float), state, np.array(first), cells, np.full(len(cells), times), np.array(key)
        )  # fmt: skip
        try:
            unchecked(belief, hyper=h).check_grown()
        except InvalidArgument:
            return False
        return True

    for c in range(-1, len(m.mix) + 1):
        r, k = divmod(c, W)
        assert accepted(c) == (0 <= r < len(m.size) and bool(m.learnt[r]) and k < m.size[r])
    assert not accepted(0, times=0)
    both = [*(int(m.mix[c]) for c in (0, 1)), 0]
    key = 2 * (both[0] + both[1]) % KEYS
    two = {"cell": [0, 1], "weight": (0.4, 0.6)}
    assert accepted(**two, first=(0, 2, 2), keys=[key, 0])
    assert accepted(**two, first=(0, 1, 2), keys=[2 * x % KEYS for x in both[:2]])
    assert not accepted(**two, first=(0, 5, 2), keys=[key, 0])
    assert accepted(cell=[0, 1], weight=(0.0, 1.0), first=(0, 2, 2), keys=[key, 0])
    assert not accepted(cell=[0, 1], weight=(), first=(0,), keys=[])
    assert not accepted(cell=np.zeros(0, np.int64), weight=(), first=(0,), keys=[])
    assert not accepted(cell=[1, 0], first=(0, 2))
    assert not accepted(cell=[0, 0], first=(0, 2))
    for state, fits in (([0, 3], True), ([-1, -1], True), ([-1, 0], False), ([0, 4], False), ([-2, -2], False)):
        assert accepted(**two, first=(0, 2, 2), keys=[key, 0], state=state) is fits


# Rows of counts ------------------------------------------------------------------------------------------------------


def test_the_example_in_words():
    """Looking stays and shows the state with accuracy 2.5 : 1; trying changes the state 2 : 1 or ends, and is known to
    show either sign."""
    prior = example_prior()
    P, O, r = prior.mean_pomdp().dense()
    np.testing.assert_allclose(P[:2, 0], np.eye(3)[:2])
    np.testing.assert_allclose(P[:2, 1], [[0.0, 2 / 3, 1 / 3], [2 / 3, 0.0, 1 / 3]])
    np.testing.assert_allclose(P[2], np.eye(3)[[2, 2]])
    np.testing.assert_allclose(O[:, 0], [[5 / 7, 2 / 7], [2 / 7, 5 / 7], [5 / 7, 2 / 7]])
    np.testing.assert_allclose(O[:, 1], 0.5)
    np.testing.assert_allclose(r, [[-1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])
    np.testing.assert_allclose(prior.start, [0.8, 0.2, 0.0])
    assert prior.outcomes.terminal.tolist() == [False, False, True]
    assert (prior.gamma, prior.reward_range()) == (0.9, (-2.0, 2.0))
    assert (prior.outcomes.size.tolist(), prior.observed.size.tolist()) == ([1, 2], [2, 2])
    assert [x.tolist() for x in prior.fixed] == [[True, False], [False, True]]
    assert prior.phi.tolist() == [[1.0, 0.0], [2.0, 1.0]]
    assert prior.psi.tolist() == [[2.5, 1.0], [0.5, 0.5]]
    np.testing.assert_array_equal(prior.outcomes.reward[:, :, 0], [[-1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])


def test_picks_and_tables():
    """An index by cumulative sums, of weights that need not sum to one; entries added up by their targets."""

    class Number:
        def __init__(self, u):
            self.u = u

        def random(self):
            return self.u

    for u, i in ((0.0, 0), (0.24, 0), (0.26, 2), (0.99, 2)):
        assert pick(np.array([0.5, 0.0, 1.5]), Number(u)) == i
    target, rows = default_rng(0).integers(3, size=(4, 2, 5)), default_rng(1).random((4, 2, 5))
    dense = np.zeros((4, 2, 3))
    for s, a, k in np.ndindex(4, 2, 5):
        dense[s, a, target[s, a, k]] += rows[s, a, k]
    np.testing.assert_allclose(tabled(target, rows, 3), dense, atol=1e-15)


def test_lists_of_positive_entries():
    """Columns of positive entries first, in their order, and as many as the longest row has."""
    x = np.array([[[0.0, 2.0, 0.0, 3.0], [1.0, 0.0, 0.5, 4.0]], [[0.0, 0.0, 0.0, 7.0], [1.5, 0.0, 0.0, 2.5]]])
    columns, size, entries = listed("phi", x)
    assert size.tolist() == [2, 3, 1, 2]
    assert columns.shape == (2, 2, 3)
    for row, n, mine, values in zip(x.reshape(4, 4), size, columns.reshape(4, 3), entries, strict=True):
        assert mine[:n].tolist() == np.flatnonzero(row).tolist()
        np.testing.assert_array_equal(values, [*row[row > 0.0], *[0.0] * (3 - n)])
    x[1, 0] = 0.0
    with pytest.raises(InvalidArgument, match=r"'psi' must be rows with a positive count, got 'none in row \(1, 0\)'"):
        listed("psi", x)


def test_counts_at_their_limits():
    """Padding is zero, no count is below 1e-100, every row has one; the sentence says which row."""
    valid, none = np.array([[True, True, False], [True, True, True]]), np.zeros(2, bool)
    fine = [[1.0, 0.0, 0.0], [0.0, 1e-100, 2.0]]
    np.testing.assert_array_equal(checked_counts("phi", fine, valid, none), fine)
    for bad, says in (
        ([[1.0, 0.0, 1e-5], [0.0, 1.0, 2.0]], "'phi' must be zero on padding"),
        ([[1.0, 0.0, 0.0], [0.0, 0.9e-100, 2.0]], "'phi' must be zero or at least 1e-100"),
        ([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], "none in row 1"),
        ([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "none in row 0"),
    ):
        with pytest.raises(InvalidArgument, match=says):
            checked_counts("phi", bad, valid, none)
    half = [[0.25, 0.75, 0.0], [0.5, 0.5, 3.0]]
    checked_counts("phi", half, valid, np.array([True, False]))
    for known in ([True, True], [False, True]):
        with pytest.raises(InvalidArgument, match="known rows"):
            checked_counts("phi", half, valid, np.array(known))
    with pytest.raises(InvalidArgument, match="'phi' must be"):
        checked_counts("phi", [[1.0, 0.0, 0.0], [0.0, 1e200, 2.0]], valid, none)


def test_rewards_of_outcomes():
    """Of the pair, or of the next state; nothing on padding and after the end."""
    prior = PRIORS[1]
    o = prior.outcomes
    for paid in (default_rng(0).normal(size=(S, A)), default_rng(0).normal(size=(S, A, S))):
        mine = rewards_of(o, paid)
        for s, a, k in np.ndindex(*o.succ.shape):
            one = paid[s, a] if paid.ndim == 2 else paid[s, a, o.succ[s, a, k]]
            assert mine[s, a, k] == (one if s != END and k < o.size[o.group[s, a]] else 0.0)


def test_probabilities_of_groups():
    """Read from pairs whose outcomes differ and that do not end; pairs of one group must agree within 1e-9."""
    target = np.array([[[0, 1, 2], [1, 1, 0]], [[2, 0, 1], [1, 2, 0]], [[0, 2, 1], [2, 1, 0]]])
    group, size = np.array([[0, 2], [0, 1], [0, 1]]), np.array([3, 2, 2])
    p, q = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.4])
    rows = np.zeros((3, 2, 3))
    for s in range(3):
        np.add.at(rows[s, 0], target[s, 0], p)
        np.add.at(rows[s, 1], target[s, 1, :2], q)
    live, some = np.array([True, True, False]), np.array([True, True, False])
    rows[2] = 7.0  # not looked at
    prob = group_rows(group, size, target, rows, live, some)
    np.testing.assert_allclose(prob[:2], [p, [*q, np.nan]], atol=1e-15)
    assert np.isnan(prob[2]).all()
    one = np.zeros((1, 1), np.int64), np.array([1]), np.zeros((1, 1, 1), np.int64), np.ones((1, 1, 1))
    assert group_rows(*one, np.array([True]), np.array([True])).tolist() == [[1.0]]
    with pytest.raises(InvalidArgument, match="one that shows every group"):
        group_rows(group, size, target, rows, live, np.array([True, True, True]))
    for error, fine in ((0.9e-9, True), (1.1e-9, False)):
        other = rows.copy()
        other[1, 0, [0, 1]] += [error, -error]
        if fine:
            np.testing.assert_allclose(group_rows(group, size, target, other, live, some)[0], p, atol=2e-9)
        else:
            with pytest.raises(InvalidArgument, match="equal probabilities in tied rows"):
                group_rows(group, size, target, other, live, some)


def test_densities_of_rows():
    """Sums of scipy's; minus infinity where what has no count has probability."""
    alpha = np.array([[2.5, 0.7, 0.0], [1.0, 3.0, 4.2]])
    p = np.array([[0.3, 0.7, 0.0], [0.2, 0.3, 0.5]])
    exact = dirichlet.logpdf(p[0, :2], alpha[0, :2]) + dirichlet.logpdf(p[1], alpha[1])
    assert dirichlet_log_density(alpha, p) == pytest.approx(exact, abs=1e-12)
    assert dirichlet_log_density(alpha[:0], p[:0]) == 0.0
    for lost, finite in ((0.9e-9, True), (1.1e-9, False)):
        off = p + np.array([[-lost, 0.0, lost], [0.0, 0.0, 0.0]])
        assert np.isfinite(dirichlet_log_density(alpha, off)) == finite


def test_steps_that_were_seen_in_tied_rows():
    """Every step that is possible: outcomes and signs that agree share the weight by their counts."""
    for prior in PRIORS:
        o, observed = prior.outcomes, prior.observed
        for s, a, y, z in np.ndindex(S, A, S, Z):
            g, h = o.group[s, a], observed.group[y, a]
            moved = np.array([prior.phi[g, k] * (o.succ[s, a, k] == y) for k in range(3)])
            shown = np.array([prior.psi[h, j] * (observed.observation[y, a, j] == z) for j in range(2)])
            if not moved.any() or not shown.any():
                with pytest.raises(b.errors.ImpossibleEvidence):
                    prior.learned(s, a, y, z, 0.7)
                continue
            new = prior.learned(s, a, y, z, 0.7)
            phi, psi = np.array(prior.phi), np.array(prior.psi)
            if not prior.fixed[0][g] and s != END:
                phi[g] += 0.7 * moved / moved.sum()
            if not prior.fixed[1][h]:
                psi[h] += 0.7 * shown / shown.sum()
            np.testing.assert_allclose(new.phi, phi, atol=1e-14)
            np.testing.assert_allclose(new.psi, psi, atol=1e-14)


def test_the_start_of_a_dense_prior():
    """The same probability of all states that are not terminal; of all states if all are; one that is given."""
    phi, psi, R = np.ones((3, 2, 3)), np.ones((3, 2, 4)), np.ones((3, 2))

    def start(**given):
        return DirichletPOMDP.from_dense(phi, psi, R, 0.8, **given).start.tolist()

    assert start() == [1 / 3] * 3
    assert start(terminal=[1]) == [0.5, 0.0, 0.5]
    assert start(terminal=[2, 1, 0]) == [1 / 3] * 3
    assert start(start=1) == [0.0, 1.0, 0.0]
    assert start(start=2) == [0.0, 0.0, 1.0]
    assert start(start=[0.2, 0.3, 0.5], terminal=[0]) == [0.2, 0.3, 0.5]
    for bad, says in (
        ({"start": 3}, "'start' must be a whole number of at least 0 and at most 2"),
        ({"start": -1}, "'start' must be a whole number of at least 0 and at most 2"),
        ({"terminal": [3]}, "'terminal' must be a whole number of at least 0 and at most 2"),
        ({"terminal": [-1]}, "'terminal' must be a whole number of at least 0 and at most 2"),
    ):
        with pytest.raises(InvalidArgument, match=says):
            start(**bad)


def test_the_range_of_rewards():
    """Without what terminal states would pay, and with the 0 that they pay."""
    phi, psi, R = np.ones((3, 2, 3)), np.ones((3, 2, 4)), np.array([[3.0, 4.0], [5.0, 7.0], [-9.0, 99.0]])
    for terminal, extremes in (((), (-9.0, 99.0)), ((2,), (0.0, 7.0)), ((0, 1, 2), (0.0, 0.0))):
        for observation in (1.0, -1.0):
            low, high = DirichletPOMDP.from_dense(phi, psi, observation * R, 0.8, terminal=terminal).reward_range()
            assert (low, high) == (extremes if observation > 0 else (-extremes[1], -extremes[0]))
