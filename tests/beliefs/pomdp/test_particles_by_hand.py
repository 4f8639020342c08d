"""Weighted states and filters under given random numbers, in plain Python: four states, three actions and signs."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import FinitePOMDPs, POMDPFilter, POMDPParticles
from bayesrl.beliefs.pomdp import pomdp_particles
from bayesrl.beliefs.pomdp._weighted_states import Sample, moved, reweighted, thinned
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.parameters import unchecked

S, A, Z, END = 4, 3, 3, 2


def generic(seed=0, ndim=2):
    """Rows with some zeros, an end in the middle, rewards of both signs."""
    rng = default_rng(seed)
    P, O = rng.dirichlet(np.ones(S), (S, A)), rng.dirichlet(np.ones(Z), (S, A))
    P[0, 1, 3] = O[1, 2, 0] = 0.0
    P, O = P / P.sum(axis=2, keepdims=True), O / O.sum(axis=2, keepdims=True)
    R = rng.normal(size=(S, A, S, Z)[:ndim])
    return TabularPOMDP.from_dense(P, O, R, 0.83, [0.5, 0.2, 0.0, 0.3], [END])


POMDP = generic()


def cumulative_index(p, u):
    return int((np.cumsum(p) <= u).sum())


def test_weights_are_evened_out_if_few_count():
    """Below half of the effective sample size, which is 1 / sum w^2; exactly half is kept. The sum is returned."""
    states = np.arange(4)
    for weights, resampled in (
        ([0.2, 0.2, 0.0, 0.0], False), ([0.2, 0.2 + 1e-4, 0.0, 0.0], True), ([0.1, 0.1, 0.1, 0.1], False),
        ([0.5, 0.1, 0.1, 0.0], True), ([0.3, 0.3, 0.1, 0.0], False),
    ):  # fmt: skip
        weights = np.array(weights)
        sample, p = reweighted(states, weights, default_rng(0))
        assert p == pytest.approx(weights.sum(), abs=1e-15)
        if resampled:
            same = thinned(Sample(states, weights / p), 4, default_rng(0))
            np.testing.assert_array_equal(sample.states, same.states)
            assert sample.weights.tolist() == [0.25] * 4
        else:
            np.testing.assert_array_equal(sample.states, states)
            np.testing.assert_allclose(sample.weights, weights / p, atol=1e-15)
    assert reweighted(states, np.zeros(4), default_rng(0)) == (None, 0.0)


def test_systematic_resampling():
    """The i-th of n is drawn at (i + u) / n of the total; states are an array or a tuple."""
    weights = np.array([0.1, 0.0, 0.4, 0.2, 0.3])
    for n in (1, 4, 7):
        for seed in range(5):
            u = default_rng(seed).random()
            chosen = [cumulative_index(weights, (i + u) / n) for i in range(n)]
            array = thinned(Sample(np.arange(5) * 10, weights), n, default_rng(seed))
            words = thinned(Sample(tuple("abcde"), weights * 3.0), n, default_rng(seed))
            assert array.states.tolist() == [10 * i for i in chosen]
            assert words.states == tuple("abcde"[i] for i in chosen)
            assert array.weights.tolist() == words.weights.tolist() == [1.0 / n] * n


def test_steps_of_particles():
    """A next state by cumulative probabilities; what was seen has its probability there, or none at the wrong end."""
    belief = POMDPFilter(POMDP)
    P, O, _ = POMDP.dense()
    states = np.array([0, 1, 3, 3, 0, 1, 1])
    for a, o, ended in np.ndindex(A, Z, 2):
        mine, likelihood = moved(belief._hidden_model, belief._tables, states, a, o, bool(ended), default_rng(a))
        rng = default_rng(a)
        for s, y, p in zip(states, mine, likelihood, strict=True):
            listed = POMDP.mdp.succ[s, a, : POMDP.mdp.outcomes.size[POMDP.mdp.group[s, a]]]
            assert y == listed[cumulative_index(P[s, a, listed], rng.random())]
            assert p == pytest.approx(O[y, a, o] * ((y == END) == ended), abs=1e-15)


def test_an_update_from_its_parts():
    """The start is drawn, then steps, then new weights; evidence adds up; restarts forget the sample only."""
    rng, same = default_rng(1), default_rng(1)
    belief = POMDPParticles(POMDP, particles=25)
    model = POMDPFilter(POMDP)
    old = Sample(same.choice(S, size=25, p=POMDP.start), np.full(25, 1 / 25))
    evidence = 0.0
    for a, o, ended in ((0, 1, False), (2, 2, False), (1, 0, False)):
        belief = belief.update(b.Transition(-1, a, 0.0, o, ended), rng)
        after, likelihood = moved(model._hidden_model, model._tables, old.states, a, o, ended, same)
        old, p = reweighted(after, old.weights * likelihood, same)
        evidence += np.log(p)
        np.testing.assert_array_equal(belief.sample.states, old.states)
        np.testing.assert_array_equal(belief.sample.weights, old.weights)
        assert belief.log_evidence() == pytest.approx(evidence, abs=1e-12)
    states = np.array([old.weights[old.states == s].sum() for s in range(S)])
    np.testing.assert_allclose(belief.states(), states, atol=1e-14)
    drawn = thinned(old, 1, default_rng(7)).states[0]
    assert belief.sample_state(default_rng(7)) == drawn
    assert belief.sample_pomdp(default_rng(7)).start.tolist() == np.eye(S)[drawn].tolist()
    again = belief.restart()
    assert again.sample is None
    assert again.log_evidence() == belief.log_evidence()
    assert again.sample_state(default_rng(7)) == default_rng(7).choice(S, size=1, p=POMDP.start)[0]
    log = [b.Transition(-1, 0, 0.0, 1), b.Transition(-1, 1, 0.0, 0, False, True), b.Transition(-1, 2, 0.0, 2)]
    many = POMDPParticles(POMDP, particles=25).update_many(log, default_rng(2))
    rng, one = default_rng(2), POMDPParticles(POMDP, particles=25)
    for i, datum in enumerate(log):
        one = one.update(datum, rng)
        one = one.restart() if i == 1 else one
    np.testing.assert_array_equal(many.sample.states, one.sample.states)
    assert many.log_evidence() == one.log_evidence()


class Bare:
    """States are words; the next one and what is seen are functions of two numbers."""

    n_actions, gamma = 2, 0.7

    def reset(self, rng):
        return "ab"[int(rng.random() < 0.5)], -1

    def step(self, state, action, rng):
        u, v = rng.random(2)
        after = "end" if u < 0.2 else "ab"[int(u < 0.5 + 0.2 * action)]
        return after, int(v < 0.4), 0.0, after == "end"


class Telling(Bare):
    def observation_probability(self, next_state, action, observation):
        return (0.6, 0.4)[observation] + 0.01 * (next_state == "a")


@pytest.mark.parametrize("ended", [False, True])
def test_rejection_and_weights_without_a_table(ended):
    """Steps are drawn until n show what came; or each is weighted by its probability."""
    datum, n = b.Transition(-1, 1, 0.0, 1, ended), 6
    belief, rng, world = POMDPParticles(Bare(), particles=n), default_rng(3), Bare()
    first = belief.update(datum, default_rng(3))
    kept, tries = [], 0
    while len(kept) < n:
        after, seen, _, done = world.step(world.reset(rng)[0], 1, rng)
        tries += 1
        kept += [after] * (seen == 1 and done == ended)
    assert first.sample.states == tuple(kept)
    assert first.sample.weights.tolist() == [1 / n] * n
    assert first.log_evidence() == pytest.approx(np.log((n - 1) / (tries - 1)), abs=1e-12)
    if not ended:
        rng, second = default_rng(4), first.update(datum, default_rng(4))
        kept = []
        while len(kept) < n:
            s = first.sample.states[int(rng.random() * n)]
            after, seen, _, done = world.step(s, 1, rng)
            kept += [after] * (seen == 1 and not done)
        assert second.sample.states == tuple(kept)
    told, rng = POMDPParticles(Telling(), particles=n).update(datum, default_rng(5)), default_rng(5)
    drawn = [world.step(s, 1, rng) for s in [world.reset(rng)[0] for _ in range(n)]]
    weight = np.array([(0.4 + 0.01 * (x[0] == "a")) * (x[3] == ended) for x in drawn]) / n
    same, p = reweighted(tuple(x[0] for x in drawn), weight, rng)
    assert told.sample.states == same.states
    np.testing.assert_allclose(told.sample.weights, same.weights, atol=1e-15)
    assert told.log_evidence() == pytest.approx(np.log(p), abs=1e-12)


def test_rejection_gives_up(monkeypatch):
    """After so many tries for each particle fewer are kept; none are an error. A rescue doubles the particles."""
    monkeypatch.setattr(pomdp_particles, "MOST_TRIES", 3)
    tried = []

    class Rare(Bare):
        def step(self, state, action, rng):
            tried.append(state)
            return state, int(len(tried) == 5), 0.0, False

    belief = POMDPParticles(Rare(), particles=4).update(b.Transition(-1, 0, 0.0, 1), default_rng(0))
    assert len(tried) == 12
    assert len(belief.sample.states) == 1
    assert belief.sample.weights.tolist() == [1.0]
    assert belief.log_evidence() == pytest.approx(np.log(1 / 12), abs=1e-12)
    with pytest.raises(ImpossibleEvidence, match="none of 4 particles"):
        belief.update(b.Transition(-1, 0, 0.0, 1), default_rng(0))
    assert len(tried) == 24
    tried += [None] * 100
    monkeypatch.setattr(pomdp_particles, "MOST_RESCUES", 3)
    with pytest.raises(ImpossibleEvidence, match="nor did up to 32 from the episode's start"):
        POMDPParticles(Rare(), particles=4, rescue=True).update(b.Transition(-1, 0, 0.0, 1), default_rng(0))
    assert len(tried) == 124 + 3 * (4 + 8 + 16 + 32)


class Scripted:
    """The i-th step leads to state i; it shows 1, or does so with a given probability, as a script says."""

    n_actions, gamma = 1, 0.9

    def __init__(self, script):
        self.script, self.steps = script, 0

    def reset(self, rng):
        return 0, -1

    def step(self, state, action, rng):
        self.steps += 1
        return self.steps, int(self.script[self.steps - 1] > 0.0), 0.0, False


class Weighing(Scripted):
    def observation_probability(self, next_state, action, observation):
        return self.script[next_state - 1]


BOTH, THREE = {0.0: 0.8, 1.0: 0.2}, {0.0: 0.8, 0.9: 0.05, 0.3: 0.15}


@pytest.mark.parametrize(
    "world, n, tries, chances",
    [(Weighing, 1, 1, THREE), (Weighing, 2, 1, THREE), (Weighing, 3, 1, BOTH),
     (Scripted, 1, 2, BOTH), (Scripted, 2, 2, BOTH), (Scripted, 3, 1, BOTH)],
)  # fmt: skip
def test_the_evidence_of_a_rescue_is_unbiased(world, n, tries, chances, monkeypatch):
    """Over all outcomes of all draws that a rescue may make, the mean estimate is the probability of what came.

    An error counts as zero. The particles are the draws that fit, and the estimate is that of the docstring.
    """
    monkeypatch.setattr(pomdp_particles, "MOST_RESCUES", 1)
    monkeypatch.setattr(pomdp_particles, "MOST_TRIES", tries)
    mean, first, most = 0.0, n * tries, 3 * n * tries
    for script in product(chances, repeat=most):
        made, chance = world(script), np.prod([chances[x] for x in script])
        datum = b.Transition(-1, 0, 0.0, 1)
        fits = [i for i, x in enumerate(script, 1) if x]
        if not fits:
            with pytest.raises(ImpossibleEvidence, match=f"nor did up to {2 * n} from"):
                POMDPParticles(made, n, rescue=True).update(datum, default_rng(0))
            assert made.steps == most
            continue
        belief = POMDPParticles(made, n, rescue=True).update(datum, default_rng(0))
        fits = [i for i in fits if i <= made.steps]
        early = sum(i <= first for i in fits) > 1
        assert (made.steps <= first) is early
        if len(fits) == 1:
            share = 1 / most
        elif not early:
            share = 1 / (fits[1] - 1)
        elif world is Scripted and len(fits) == max(n, 2):
            share = (len(fits) - 1) / (made.steps - 1)
        else:
            share = len(fits) / first
        likely = np.mean([script[i - 1] for i in fits])
        assert np.exp(belief.log_evidence()) == pytest.approx(share * likely, rel=1e-12)
        mean += chance * np.exp(belief.log_evidence())
        held = {s for s, w in zip(*belief.sample, strict=True) if w > 0.0}
        assert held <= set(fits)
        if chances is BOTH:
            assert len(held) == min(n, len(fits))
    assert mean == pytest.approx(sum(x * chance for x, chance in chances.items()), rel=1e-12)


def test_samples_that_do_not_fit():
    """Weights that are not probabilities, or states that do not exist, are refused when a file is read."""
    belief = POMDPParticles(POMDP, particles=3)
    belief.check_grown()

    def check(states, weights):
        unchecked(belief, sample=Sample(states, weights)).check_grown()

    check(np.array([0, 3, 3]), np.array([0.2, 0.8, 0.0]))
    for states, weights in (
        ([0, 3, 4], [0.2, 0.8, 0.0]), ([0, 3, -1], [0.2, 0.8, 0.0]), ([0, 3], [0.2, 0.8, 0.0]),
        ([0, 3, 3], [0.2, 0.9, 0.0]), ([0, 3, 3], [0.2, 1.0, -0.2]), ([0, 3, 3], [np.nan, 0.5, 0.5]),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            check(np.array(states), np.array(weights))
    with pytest.raises(InvalidArgument, match="'sample' must be weighted states"):
        unchecked(belief, sample=3).check_grown()


def test_what_particles_say_of_their_world():
    """Sizes, discount and rewards, with and without a table; what is asked of a world that lacks it."""
    belief, bare = POMDPParticles(POMDP), POMDPParticles(Bare())
    assert (belief.n_states, belief.n_actions, belief.n_observations, belief.gamma) == (4, 3, 3, 0.83)
    assert (bare.n_actions, bare.gamma, bare.reward_range()) == (2, 0.7, (-np.inf, np.inf))
    assert set(bare.unsupported) == {
        "n_states", "n_observations", "states", "predictive", "mean_pomdp", "sample_pomdp", "preferred_actions",
        "simulate",
    }  # fmt: skip
    assert set(belief.unsupported) == {"preferred_actions"}
    for a in (-1, A):
        with pytest.raises(InvalidArgument, match="'action' must be"):
            belief.predictive(a)
        with pytest.raises(InvalidArgument, match="'action' must be"):
            belief.update(b.Transition(-1, a, 0.0, 0), default_rng(0))
    for o in (-1, Z):
        with pytest.raises(InvalidArgument, match="'next_observation' must be"):
            belief.update(b.Transition(-1, 0, 0.0, o), default_rng(0))


# The exact filter ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ndim", [2, 3, 4])
def test_the_filter_by_sums(ndim):
    """Posterior, evidence and predictions after three steps; a drawn start; the model that searches read."""
    pomdp = generic(ndim, ndim)
    P, O, _ = pomdp.dense()
    belief, now, evidence = POMDPFilter(pomdp), np.array(pomdp.start), 0.0
    for a, o in ((0, 1), (2, 2), (1, 0)):
        for action in range(A):
            np.testing.assert_allclose(belief.predictive(action), now @ P[:, action] @ O[:, action], atol=1e-14)
        belief = belief.update(b.Transition(-1, a, 0.0, o))
        joint = now @ P[:, a] * O[:, a, o] * ~pomdp.terminal
        now, evidence = joint / joint.sum(), evidence + np.log(joint.sum())
        np.testing.assert_allclose(belief.states(), now, atol=1e-14)
        assert belief.log_evidence() == pytest.approx(evidence, abs=1e-12)
    for seed in range(6):
        s = cumulative_index(now, default_rng(seed).random())
        assert belief.sample_pomdp(default_rng(seed)).start.tolist() == np.eye(S)[s].tolist()
    model = belief.simulate(3)
    paid = np.where((np.arange(S) == END).reshape(-1, *[1] * (ndim - 1)), 0.0, pomdp.rewards)
    np.testing.assert_array_equal(model.reward, paid.reshape(paid.shape + (1,) * (4 - ndim)))
    assert model.states.tolist() == np.flatnonzero(now).tolist()
    assert model.legal.shape == (0, A)
    for depth in (-1, 0.5):
        with pytest.raises(InvalidArgument, match="'depth' must be"):
            belief.simulate(depth)
    belief.simulate(0)


def test_why_something_is_impossible():
    """It has ended; it is possible only at the end, or only before it; or no state shows it."""
    P = [[[0.5, 0.5, 0.0]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]]]
    O = [[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], [[0.0, 1.0, 0.0]]]
    belief = POMDPFilter(TabularPOMDP.from_dense(P, O, np.zeros((3, 1)), 0.9, start=0, terminal=[2]))
    step = b.Transition(-1, 0, 0.0, 1)
    in_last = belief.update(step)
    over = in_last.update(step._replace(terminated=True))
    for one, datum, why in (
        (belief, step._replace(terminated=True), "it is possible only if the episode goes on"),
        (in_last, step, "it is possible only at its end"),
        (belief, step._replace(next_observation=2), "no state that can be reached now shows it"),
        (over, step, "the episode has ended"),
    ):
        with pytest.raises(ImpossibleEvidence, match=why) as error:
            one.update(datum)
        assert ("with the end of the episode" in str(error.value)) is bool(datum.terminated)


@pytest.mark.parametrize("dims", [(2, 2, 2), (2, 3, 4), (4, 3, 4)])
def test_models_and_states_as_one_pomdp(dims):
    """State i S + s is model i in state s: steps, signs, rewards and belief of the pair, for rewards of all shapes."""
    models = tuple(generic(i, ndim) for i, ndim in enumerate(dims))
    belief = FinitePOMDPs(models, [0.2, 0.5, 0.3]).update(b.Transition(-1, 1, 0.0, 2))
    pair = belief.as_pomdp()
    P, O, r = pair.dense()
    w = belief.posterior()
    for i, m in enumerate(models):
        here = slice(i * S, (i + 1) * S)
        dense = m.dense()
        np.testing.assert_allclose(P[here, :, here], dense[0], atol=1e-15)
        np.testing.assert_allclose(P[here].sum(axis=2), 1.0)
        np.testing.assert_allclose(O[here], dense[1], atol=1e-15)
        np.testing.assert_allclose(r[here], dense[2], atol=1e-13)
        np.testing.assert_allclose(pair.start[here], w[i] * belief.per_model()[i], atol=1e-15)
        assert pair.terminal[here].tolist() == m.terminal.tolist()
    lows, highs = zip(*(m.reward_range for m in models), strict=True)
    assert belief.reward_range() == (min(lows), max(highs))
    np.testing.assert_allclose(belief.states(), w @ belief.per_model(), atol=1e-15)
    for a in range(A):
        seen = [belief.per_model()[i] @ m.dense()[0][:, a] @ m.dense()[1][:, a] for i, m in enumerate(models)]
        np.testing.assert_allclose(belief.predictive(a), w @ seen, atol=1e-14)
    for seed in range(4):
        rng = default_rng(seed)
        i = int(rng.choice(3, p=w))
        s = rng.choice(S, p=belief.per_model()[i])
        drawn = belief.sample_pomdp(default_rng(seed))
        assert drawn.start.tolist() == np.eye(S)[s].tolist()
        np.testing.assert_array_equal(drawn.dense()[0], models[i].dense()[0])
    told = belief.certain(3)
    assert told.per_model().tolist() == [[0.0, 0.0, 0.0, 1.0]] * 3
    for bad in (-1, S):
        with pytest.raises(InvalidArgument, match="'state' must be"):
            belief.certain(bad)
    other = belief.reweighted([0.1, 0.0, 0.9])
    np.testing.assert_allclose(other.posterior(), [0.1, 0.0, 0.9])
    assert other.log_evidence() == pytest.approx(belief.log_evidence(), abs=1e-12)
