"""Each step of a sweep of `_beam.py` under given random numbers, against plain Python; and the chains around it.

Three inputs, two rows of signs before a step and one after it, three and four signs; two sequences and an empty one.
"""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import InfinitePOMDP, PolicyPrior
from bayesrl.beliefs.pomdp import _beam
from bayesrl.beliefs.pomdp import chains as _chains
from bayesrl.beliefs.pomdp._beam import Model, Rates, Sizes
from bayesrl.beliefs.pomdp.chains import Chain, Chains, appended, begun, check_chains, restarted
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import unchecked

SIZES, PRIOR = Sizes(3, 2, 3, 1, 4), Rates(1.7, 1.3, 0.6)
LENGTH = np.array([4, 0, 3])
STEPS = np.array([(0, 1, 2, 0, 3), (2, 0, 0, 0, 1), (1, 1, 1, 0, 0), (0, 0, 2, 0, 2),
                  (2, 1, 0, 0, 3), (2, 1, 2, 0, 0), (1, 0, 1, 0, 3)])  # fmt: skip
X = np.array([1, 0, 0, 2, 1, 0, 2, 2, 0, 1])
"""States of the three sequences: 5, 1 and 4 of them."""
FIRST = [0, 5, 6]
"""Where each begins."""
for _fixed in (LENGTH, STEPS, X):
    _fixed.setflags(write=False)


def drawn_model(seed=0, K=3):
    rng = default_rng(seed)
    M, G, V, H, Z = SIZES
    return Model(
        rng.dirichlet(np.full(K + 1, 2.0)), rng.dirichlet(np.full(K + 1, 2.0), (K + 1, M)),
        rng.dirichlet(np.full(V, 2.0), (K + 1, G)), rng.dirichlet(np.full(Z, 2.0), (K + 1, H)),
    )  # fmt: skip


def places():
    """(sequence's first entry, step, entry before, entry after) of each step."""
    t = 0
    for first, length in zip(FIRST, LENGTH, strict=True):
        for l in range(length):
            yield first, t, first + l, first + l + 1
            t += 1


def dirichlet(alpha, rng):
    p = np.array([rng.standard_gamma(a) for a in alpha])
    if not p.any():  # a corner
        p[int((np.cumsum(alpha) <= rng.random() * np.sum(alpha)).sum())] = 1.0
    return p / p.sum()


def piece(rng):
    return 1.0 - (1.0 - rng.random()) ** (1.0 / PRIOR.stick)


def close(mine, exact):
    for one, two in zip(mine, exact, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-13)


def test_states_are_numbered_as_they_appear():
    """Unused states join the rest; one in the rest gets a piece of it."""
    x, beta = np.array([3, 1, 1, 4, 3, 4]), np.array([0.1, 0.25, 0.2, 0.15, 0.3])
    x.setflags(write=False)
    beta.setflags(write=False)
    mine, new = _beam.renumbered(x, beta, PRIOR.stick, default_rng(0))
    own = 0.3 * piece(default_rng(0))
    assert mine.tolist() == [0, 1, 1, 2, 0, 2]
    np.testing.assert_allclose(new, [0.15, 0.25, own, 0.6 - own], atol=1e-14)
    mine, new = _beam.renumbered(x[:2], beta, PRIOR.stick, default_rng(0))
    np.testing.assert_allclose(new, [0.15, 0.25, 0.6], atol=1e-14)
    x, beta = np.array([0, 1]), np.array([0.5, 0.5 + 1e-12, 0.0])
    x.setflags(write=False)
    beta.setflags(write=False)
    new = _beam.renumbered(x, beta, 1.0, default_rng(0))[1]
    assert new.tolist() == [0.5, 0.5 + 1e-12, 0.0]  # the rest is never negative


ALIKE = np.array([0, 0, 0, 0, 0, 1, 0, 0, 0, 2])
"""States in which steps are repeated, so that tables are drawn."""
ALIKE.setflags(write=False)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("X", [X, ALIKE])
def test_parameters_given_states(X, seed):
    """Tables, then beta, then the rows of each state, in this order; the rest has the means."""
    K, (M, G, V, H, Z) = 3, SIZES
    beta = np.array([0.3, 0.25, 0.35, 0.1])
    beta.setflags(write=False)
    mine, rng = _beam.parameters(X, beta, STEPS, LENGTH, SIZES, PRIOR, default_rng(seed)), default_rng(seed)
    n, tables = np.zeros((K, M, K + 1)), np.append(np.zeros(K), PRIOR.stick)
    before, after = np.full((K, G, V), PRIOR.concentration), np.full((K, H, Z), PRIOR.concentration)
    for i in FIRST:
        tables[X[i]] += 1
    for _, t, i, j in places():
        n[X[i], STEPS[t, 0], X[j]] += 1
        before[X[i], STEPS[t, 1], STEPS[t, 2]] += 1
        after[X[j], STEPS[t, 3], STEPS[t, 4]] += 1
    for j, a, k in np.ndindex(K, M, K):
        c = PRIOR.row * beta[k]
        for i in range(int(n[j, a, k])):
            u = rng.random()
            tables[k] += i == 0 or u * (c + i) < c
    beta = dirichlet(tables, rng)
    moves, shown, seen = np.zeros((K + 1, M, K + 1)), np.zeros((K + 1, G, V)), np.zeros((K + 1, H, Z))
    for j in range(K):
        for a in range(M):
            moves[j, a] = dirichlet(PRIOR.row * beta + n[j, a], rng)
        for g in range(G):
            shown[j, g] = dirichlet(before[j, g], rng)
        for h in range(H):
            seen[j, h] = dirichlet(after[j, h], rng)
    moves[K], shown[K], seen[K] = beta, 1 / V, 1 / Z
    close(mine, (beta, moves, shown, seen))


def test_single_draws():
    """Indices by cumulative weights, tables, pieces, and rows of counts so small that all variates are zero."""

    w = np.array([0.0, 0.5, 0.0, 1.5, 0.0])
    assert _beam.tables(0.0, 0.7, default_rng(0)) == 0
    for n, c, seed in ((1, 0.7, 0), (6, 0.7, 1), (9, 2.5, 2)):
        rng = default_rng(seed)
        assert _beam.tables(float(n), c, default_rng(seed)) == sum(
            [rng.random() * (c + i) < c or i == 0 for i in range(n)]
        )
    for seed in range(5):
        u = default_rng(seed).random()
        assert _beam.piece(2.5, default_rng(seed)) == pytest.approx(1.0 - (1.0 - u) ** 0.4, abs=1e-14)
        k = int((np.cumsum(w) <= u * 2.0).sum())
        assert _beam.chosen(w, default_rng(seed)) == k
    tiny = np.array([1e-320, 3e-320, 0.0])
    found = {tuple(_beam.dirichlet(tiny, default_rng(seed)).tolist()) for seed in range(40)}
    assert found == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)}


def test_slices():
    """Below beta at the start of a sequence, and below the probability of each step."""
    model, rng = drawn_model(), default_rng(1)
    u = _beam.slices(X, model, STEPS, LENGTH, default_rng(1))
    below = {i: model.beta[X[i]] for i in FIRST} | {j: model.moves[X[i], STEPS[t, 0], X[j]] for _, t, i, j in places()}
    np.testing.assert_allclose(u, [(1.0 - rng.random()) * below[i] for i in range(len(X))], atol=1e-15)


def broken(model, rng):
    """One state more: pieces of the rest of beta and of every row, and rows of its own."""
    K, (M, G, V, H, Z) = len(model.beta) - 1, SIZES
    v = piece(rng)
    beta = np.append(model.beta[:K], [model.beta[K] * v, model.beta[K] * (1.0 - v)])
    moves, before, after = np.zeros((K + 2, M, K + 2)), np.zeros((K + 2, G, V)), np.zeros((K + 2, H, Z))
    for j in range(K):
        for a in range(M):
            w = dirichlet(PRIOR.row * beta[K:], rng)[0]
            rest = model.moves[j, a, K]
            moves[j, a] = [*model.moves[j, a, :K], rest * w, rest * (1.0 - w)]
    for a in range(M):
        moves[K, a] = dirichlet(PRIOR.row * beta, rng)
        moves[K + 1, a] = beta
    before[:K], after[:K] = model.before[:K], model.after[:K]
    for g in range(G):
        before[K, g] = dirichlet(np.full(V, PRIOR.concentration), rng)
    for h in range(H):
        after[K, h] = dirichlet(np.full(Z, PRIOR.concentration), rng)
    before[K + 1], after[K + 1] = 1 / V, 1 / Z
    return Model(beta, moves, before, after)


def test_a_state_is_broken_off():
    model = drawn_model()
    close(_beam.broken(model, PRIOR, default_rng(2)), broken(model, default_rng(2)))


def extended(model, u, most, rng):
    """Break states off until the rest of beta is below the least slice of a start, and that of each row below the
    least slice of its input."""
    first = min(u[i] for i in FIRST)
    low = [min((u[j] for _, t, _, j in places() if STEPS[t, 0] == a), default=2.0) for a in range(3)]
    while len(model.beta) <= most:
        K = len(model.beta) - 1
        if model.beta[K] < first and all(model.moves[j, a, K] < low[a] for j in range(K) for a in range(3)):
            break
        model = broken(model, rng)
    return model


@pytest.mark.parametrize("most", [6, 300])
def test_states_are_broken_off_until_enough(most):
    """As many as the slices ask for, or one more than `most` entries."""
    sizes = set()
    for seed in range(8):
        model = drawn_model(seed)
        u = _beam.slices(X, model, STEPS, LENGTH, default_rng(seed))
        u = u + 0.3 if seed == 7 else np.maximum(u, 0.02)  # with large ones nothing is asked for
        mine = _beam.extended(model, u, STEPS, LENGTH, PRIOR, most, default_rng(seed))
        close(mine, extended(model, u, most, default_rng(seed)))
        sizes.add(len(mine.beta))
    assert len(sizes) > 1
    assert max(sizes) <= most + 1
    at = drawn_model()  # a slice that equals the rest, of beta or of a row, can be reached by it
    high = np.full(len(X), 1.5)
    assert len(_beam.extended(at, high, STEPS, LENGTH, PRIOR, 300, default_rng(0)).beta) == 4
    for i, rest in ((0, at.beta[3]), (5, at.beta[3])):
        u = high.copy()
        u[i] = rest
        assert len(_beam.extended(at, u, STEPS, LENGTH, PRIOR, 300, default_rng(0)).beta) > 4
        u[i] = np.nextafter(rest, 1.0)
        assert len(_beam.extended(at, u, STEPS, LENGTH, PRIOR, 300, default_rng(0)).beta) == 4
    low = at.moves[:3, :, 3].max(axis=0)
    assert _beam.longer(at.moves, low)
    assert not _beam.longer(at.moves, np.nextafter(low, 1.0))
    assert not _beam.longer(at.moves, np.append(np.nextafter(low[:2], 1.0), 2.0))


def paths(model, u, rng):
    """Forward sums and draws backwards, one sequence at a time."""
    K, x, t = len(model.beta) - 1, np.zeros(len(X), int), 0
    for first, L in zip(FIRST, LENGTH, strict=True):
        p = []
        for l in range(L + 1):
            if l == 0:
                now = (model.beta[:K] >= u[first]).astype(float)
            else:
                m, _, _, h, z = STEPS[t + l - 1]
                now = p[-1] @ (model.moves[:K, m, :K] >= u[first + l]) * model.after[:K, h, z]
            if l < L:
                _, g, v, _, _ = STEPS[t + l]
                now = now * model.before[:K, g, v]
            p.append(now / now.sum())
        for l in range(L, -1, -1):
            now = p[l]
            if l < L:
                now = now * (model.moves[:K, STEPS[t + l, 0], x[first + l + 1]] >= u[first + l + 1])
            x[first + l] = int((np.cumsum(now) <= rng.random() * now.sum()).sum())
        t += L
    return x


def test_paths():
    """From slices of a path that is possible: 30 draws of all three sequences."""
    found = set()
    for seed in range(30):
        model = drawn_model(seed % 3)
        u = _beam.slices(X, model, STEPS, LENGTH, default_rng(seed))
        mine = _beam.paths(model, u, STEPS, LENGTH, default_rng(100 + seed))
        assert mine.tolist() == paths(model, u, default_rng(100 + seed)).tolist()
        found.add(tuple(mine.tolist()))
    assert len(found) > 10


def test_a_sweep_is_its_steps():
    """Numbers and parameters first; then slices, states broken off, paths, numbers and parameters for each sweep."""
    beta = np.array([0.3, 0.25, 0.35, 0.1])
    beta.setflags(write=False)
    for sweeps in (0, 1, 3):
        mine = _beam.sweep(X, beta, STEPS, LENGTH, SIZES, PRIOR, sweeps, 300, default_rng(5))
        rng = default_rng(5)
        x, b = _beam.renumbered(X, beta, PRIOR.stick, rng)
        model = _beam.parameters(x, b, STEPS, LENGTH, SIZES, PRIOR, rng)
        for _ in range(sweeps):
            u = _beam.slices(x, model, STEPS, LENGTH, rng)
            model = _beam.extended(model, u, STEPS, LENGTH, PRIOR, 300, rng)
            x, b = _beam.renumbered(paths(model, u, rng), model.beta, PRIOR.stick, rng)
            model = _beam.parameters(x, b, STEPS, LENGTH, SIZES, PRIOR, rng)
        assert mine[0].tolist() == x.tolist()
        close(mine[1], model)
    rng = default_rng(5)  # with more than `most` entries it stops with the states before
    x, b = _beam.renumbered(X, beta, PRIOR.stick, rng)
    model = _beam.parameters(x, b, STEPS, LENGTH, SIZES, PRIOR, rng)
    u = _beam.slices(x, model, STEPS, LENGTH, rng)
    needed = len(_beam.extended(model, u, STEPS, LENGTH, PRIOR, 300, rng).beta)
    assert needed > 4
    for most, stops in ((needed, False), (needed - 1, True)):
        y, model = _beam.sweep(X, beta, STEPS, LENGTH, SIZES, PRIOR, 1, most, default_rng(5))
        assert (len(model.beta) > most) is stops
        assert not stops or (y.tolist() == x.tolist() and len(model.beta) == most + 1)
        if not stops:
            y_, same = _beam.sweep(X, beta, STEPS, LENGTH, SIZES, PRIOR, 1, 300, default_rng(5))
            assert y.tolist() == y_.tolist()
            close(model, same)


# Chains --------------------------------------------------------------------------------------------------------------


def learned(chains=3):
    """Two sequences, and a third that has just begun, of a belief over POMDPs with three rewards."""
    belief = InfinitePOMDP(2, 4, chains=chains, rewards=(0.5, -1.0, 2.0), row=1.7, stick=1.3, concentration=0.6)
    for t, (a, o, r) in enumerate(((0, 3, 0.5), (1, 1, -1.0), (1, 2, 2.0), (0, 0, -1.0), (0, 2, 2.0))):
        belief = belief.update(Transition(-1, a, r, o))
        belief = belief.restart() if t == 2 else belief
    return belief


def test_chains_before_any_step():
    data = begun(SIZES, 2)
    assert data.steps.shape == (0, 5)
    assert (data.length.tolist(), data.log_weight.tolist()) == ([0], [0.0, 0.0])
    assert len(data.chains) == 2
    for x, model, now in data.chains:
        assert (x.tolist(), now.tolist(), model.beta.tolist()) == ([0], [1.0], [1.0])
        assert model.moves.tolist() == [[[1.0]] * 3]
        np.testing.assert_allclose(model.before, np.full((1, 2, 3), 1 / 3))
        np.testing.assert_allclose(model.after, np.full((1, 1, 4), 1 / 4))


def test_a_step_is_appended():
    """Filtered states, weights and the likeliest next entry of each chain; nothing else changes."""
    belief = learned().refresh(default_rng(0), 3)
    data = belief.data._replace(log_weight=np.array([0.5, -0.25, 1.0]))
    step = (1, 1, 2, 1, 3)
    new = appended(data, step)
    for i, (x, model, now) in enumerate(data.chains):
        K = len(now)
        joint = np.zeros(K)
        for s, y in np.ndindex(K, K):
            joint[y] += now[s] * model.before[s, 1, 2] * model.moves[s, 1, y] * model.after[y, 1, 3]
        np.testing.assert_allclose(new.chains[i].now, joint / joint.sum(), atol=1e-14)
        assert new.log_weight[i] == pytest.approx(data.log_weight[i] + np.log(joint.sum()), abs=1e-12)
        likely = [model.moves[x[-1], 1, y] * model.after[y, 1, 3] for y in range(K)]
        assert new.chains[i].x.tolist() == [*x.tolist(), int(np.argmax(likely))]
        assert new.chains[i].model is model
    assert new.steps.tolist() == [*data.steps.tolist(), list(step)]
    assert new.length.tolist() == [3, 3]
    assert data.length.tolist() == [3, 2]
    dead = Model(np.array([0.5, 0.5]), np.full((2, 3, 2), 0.5), np.full((2, 2, 3), 1 / 3), np.zeros((2, 1, 4)))
    at = Chains(
        np.zeros((0, 5), np.int64), np.zeros(1, np.int64), (Chain(X[:1], dead, np.array([0.2, 0.8])),), np.zeros(1)
    )
    after = appended(at, (2, 0, 0, 0, 1))  # draws that underflow: the prediction stays, at the least probability
    np.testing.assert_allclose(after.chains[0].now, [0.5, 0.5])
    assert after.log_weight[0] == np.log(_chains.TINY)


def test_a_new_sequence():
    """The likeliest state begins it, and states now are beta's; none begins while nothing was seen."""
    data = learned().refresh(default_rng(0), 3).data
    new = restarted(data)
    assert new.length.tolist() == [3, 2, 0]
    for old, one in zip(data.chains, new.chains, strict=True):
        assert one.x.tolist() == [*old.x.tolist(), int(np.argmax(old.model.beta))]
        np.testing.assert_array_equal(one.now, old.model.beta)
        assert one.model is old.model
    assert restarted(new) is new
    assert new.steps is data.steps
    assert new.log_weight is data.log_weight


def test_sweeps_of_chains():
    """Each chain in turn; the last state is certain afterwards, and the weights are equal."""
    belief = learned()
    data = belief.data._replace(log_weight=np.array([0.5, -0.25, 1.0]))
    new, rng = unchecked(belief, data=data).refresh(default_rng(4), 2).data, default_rng(4)
    assert new.log_weight.tolist() == [0.0] * 3
    sizes = Sizes(2, 2, 3, 2, 4)
    for old, one in zip(data.chains, new.chains, strict=True):
        x, model = _beam.sweep(old.x, old.model.beta, data.steps, data.length, sizes, PRIOR, 2, 300, rng)
        assert one.x.tolist() == x.tolist()
        close(one.model, model)
        assert one.now.tolist() == np.eye(len(model.beta))[x[-1]].tolist()
    assert (belief._sizes, PolicyPrior(3, 4)._sizes) == (sizes, Sizes(4, 1, 3, 1, 1))


def test_chains_that_do_not_fit():
    """Every field too long, too short, of another type or out of range is refused; what fits is not."""
    belief = learned().refresh(default_rng(0), 3)
    sizes, data = belief._sizes, belief.data
    check_chains("test", data, sizes, 3)
    check_chains("test", begun(sizes, 3), sizes, 3)
    check_chains("test", restarted(data), sizes, 3)
    chain = data.chains[1]
    K = len(chain.now)
    assert K > 1

    def with_chain(**changed):
        return data._replace(chains=(data.chains[0], chain._replace(**changed), data.chains[2]))

    def with_model(**changed):
        return with_chain(model=chain.model._replace(**changed))

    def other(x, place, value):
        x = np.array(x)
        x[place] = value
        return x

    highest = np.array([[size - 1 for size in sizes]] * 5)
    check_chains("test", data._replace(steps=highest), sizes, 3)
    check_chains("test", data._replace(steps=highest * 0), sizes, 3)
    check_chains("test", with_chain(x=other(chain.x, 0, K - 1)), sizes, 3)
    check_chains("test", with_chain(x=chain.x * 0), sizes, 3)
    wrong = [
        None, data._replace(chains=data.chains[:2]), data._replace(chains=(*data.chains[:2], None)),
        data._replace(chains=(*data.chains[:2], Chain(chain.x, None, chain.now))),
        data._replace(length=np.array([3, 1])), data._replace(length=np.array([3, 3])),
        data._replace(length=np.array([6, -1])), data._replace(length=np.array([3.0, 2.0])),
        data._replace(length=np.array([[3, 2]])), data._replace(length=[3, 2]),
        data._replace(length=np.zeros(0, np.int64), steps=np.zeros((0, 5), np.int64)),
        data._replace(steps=data.steps[:, :4]), data._replace(steps=data.steps.astype(np.int32)),
        *(data._replace(steps=other(data.steps, (4, i), size)) for i, size in enumerate(sizes)),
        *(data._replace(steps=other(data.steps, (0, i), -1)) for i in range(5)),
        data._replace(log_weight=np.zeros(2)), data._replace(log_weight=np.array([0.0, np.nan, 0.0])),
        with_chain(x=chain.x[:-1]), with_chain(x=np.append(chain.x, 0)), with_chain(x=other(chain.x, 2, K)),
        with_chain(x=other(chain.x, 2, -1)), with_chain(x=chain.x.astype(float)), with_chain(now=chain.now[:-1]),
        with_chain(now=other(chain.now, 0, chain.now[0] + 0.1)), with_model(beta=chain.model.beta * 0.9),
        with_model(moves=chain.model.moves[:, :1]), with_model(moves=chain.model.moves * 1.1),
        with_model(before=chain.model.before[..., :2]), with_model(after=chain.model.after[:-1]),
        with_model(after=-chain.model.after),
    ]  # fmt: skip
    for one in wrong:
        with pytest.raises(InvalidArgument):
            check_chains("test", one, sizes, 3)
    with pytest.raises(InvalidArgument, match="'x' must be states from 0 to"):
        check_chains("test", with_chain(x=other(chain.x, 2, K)), sizes, 3)


@pytest.mark.parametrize("make", [lambda: InfinitePOMDP(2, 3, chains=2), lambda: PolicyPrior(2, 3, chains=2)])
def test_steps_at_the_limits(make):
    """The last action and observation are accepted, and the next ones refused."""
    belief = make()
    belief.update(Transition(-1, 1, 0.0, 2))
    for a, o, name in ((2, 0, "action"), (-1, 0, "action"), (0, 3, "next_observation"), (0, -1, "next_observation")):
        with pytest.raises(InvalidArgument, match=f"update: '{name}' must be"):
            belief.update(Transition(-1, a, 0.0, o))
    with pytest.raises(InvalidArgument, match="'sweeps' must be"):
        belief.refresh(default_rng(0), 0)


def test_one_reward_may_be_listed():
    """A single reward, several different ones, but not none and not one twice."""
    assert InfinitePOMDP(2, 3, chains=1, rewards=[0.5])._sizes.V == 1
    assert InfinitePOMDP(2, 3, chains=1, rewards=[0.5, 1.0, 2.0])._sizes.V == 3
    for rewards in ([], [1.0, 2.0, 1.0]):
        with pytest.raises(InvalidArgument, match="'rewards' must be"):
            InfinitePOMDP(2, 3, chains=1, rewards=rewards)
    step = learned().data.steps
    assert step[:, 2].tolist() == [0, 1, 2, 1, 2]  # the place of each reward in the list
    assert step[:, 4].tolist() == [3, 1, 2, 0, 2]
    assert (step[:, [0, 1, 3]] == np.array([0, 1, 1, 0, 0])[:, None]).all()


def test_the_state_between_sweeps_follows_the_last_one():
    """A new step moves on from the last state, in every chain; a new sequence begins in the most probable one."""
    belief, rng = InfinitePOMDP(2, 2, chains=30), default_rng(0)
    for t in range(12):
        belief = belief.update(Transition(None, t % 2, 0.0, t // 3 % 2))
    belief = belief.refresh(rng, 20)
    after, begun = belief.update(Transition(None, 1, 0.0, 0)), belief.restart()
    places = set()
    for old, new, first in zip(belief.data.chains, after.data.chains, begun.data.chains, strict=True):
        assert new.x[-1] == np.argmax(old.model.moves[old.x[-1], 1] * old.model.after[:, 1, 0])
        assert first.x[-1] == np.argmax(old.model.beta)
        places.add((old.x[0] == old.x[-1], first.x[-1] == old.x[-1]))
    assert {False} <= {one for one, _ in places}
    assert {False} <= {one for _, one in places}
