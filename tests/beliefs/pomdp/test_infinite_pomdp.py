"""The infinite POMDP against enumeration of all seatings of the Chinese restaurant franchise (franchise.py)."""

import itertools

import numpy as np
import pytest
from franchise import draw_prior, equal_states, joint
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import InfinitePOMDP
from bayesrl.beliefs.pomdp import _beam
from bayesrl.beliefs.pomdp._beam import Rates, Sizes
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.io.store import load, save
from bayesrl.testing import assert_frequencies, assert_mean_equal
from bayesrl.worlds.hidden import POMDPWorld

PRIOR = {"row": 1.5, "stick": 1.2, "concentration": 0.6}
PAYS = (0.0, 2.0)
DATA = {
    # steps (action, observation, index of the reward) of each sequence
    "one": [[(0, 0, 0), (1, 1, 0), (0, 1, 0), (1, 0, 0)]],
    "the same": [[(0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)]],
    "two": [[(0, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 1, 0)]],
    "rewards": [[(0, 0, 1), (0, 1, 0), (0, 0, 1)]],
}


def steps_of(sequences):
    return [[(a, a, r, a, o) for a, o, r in one] for one in sequences]


def sizes_of(name):
    return Sizes(2, 2, 2 if name == "rewards" else 1, 2, 2)


def learned(name, chains):
    belief = InfinitePOMDP(2, 2, **PRIOR, chains=chains, rewards=PAYS if name == "rewards" else None)
    for i, sequence in enumerate(DATA[name]):
        belief = belief.restart() if i else belief
        for a, o, r in sequence:
            belief = belief.update(Transition(-1, a, PAYS[r], o))
    return belief


@pytest.mark.long
@pytest.mark.parametrize("name", DATA)
def test_equal_states_follow_the_posterior(name):
    """P(x_i = x_j | data) and the number of states, from 600 chains after 40 sweeps; false alarm 1e-6.

    A probability that is off by .08 is detected.
    """
    same, states = equal_states(joint(steps_of(DATA[name]), sizes_of(name), **PRIOR))
    rng, belief = default_rng(1), learned(name, 600).refresh(default_rng(0), 40)
    got, number = [], []
    for _ in range(6):
        belief = belief.refresh(rng, 3)
        x = belief.trajectories
        got.append(x[:, :, None] == x[:, None, :])
        number.append(x.max(axis=1) + 1)
    above = np.triu_indices(len(same), 1)
    assert_mean_equal(np.mean(got, axis=0)[:, *above], same[above], what="equal states")
    assert_mean_equal(np.mean(number, axis=0), states, what="number of states")


@pytest.mark.parametrize("name", DATA)
def test_predictive_follows_the_posterior(name):
    """The predictive of single chains is on average the ratio of two evidences. False alarm 1e-6 for each action."""
    data, sizes = steps_of(DATA[name]), sizes_of(name)
    belief = learned(name, 600).refresh(default_rng(2), 40)
    for a in range(2):
        evidence = []
        for o in range(2):
            rewards = range(sizes.V)  # the reward of that step is not known yet
            more = [[*data[:-1], [*data[-1], (a, a, r, a, o)]] for r in rewards]
            evidence.append(sum(sum(joint(one, sizes, **PRIOR).values()) for one in more))
        shown = [now @ model.moves[:, a] @ model.after[:, a] for _, model, now in belief.data.chains]
        assert_mean_equal(shown, np.array(evidence) / sum(evidence), what="predictive")
        np.testing.assert_allclose(belief.predictive(a), np.mean(shown, axis=0), rtol=1e-12)


@pytest.mark.parametrize("n, c", [(1, 0.01), (3, 0.5), (6, 2.0)])
def test_tables(n, c):
    """Customer i opens a table with probability c / (c + i): the mean of 1500 draws; false alarm 1e-6."""
    rng = default_rng(0)
    drawn = [_beam.tables(float(n), c, rng) for _ in range(1500)]
    assert_mean_equal(drawn, sum(c / (c + i) for i in range(n)), what="tables")


def read_only(*arrays):
    for x in arrays:
        x.setflags(write=False)
    return arrays


def test_a_start_is_a_table():
    """After one start alone, beta ~ Dirichlet(1, stick): the mean of 500 draws; false alarm 1e-6."""
    given = read_only(np.zeros(1, int), np.ones(1), np.zeros((0, 5), int), np.zeros(1, int))
    rng, prior = default_rng(0), Rates(*PRIOR.values())
    drawn = [_beam.sweep(*given, Sizes(1, 1, 2, 1, 2), prior, 0, 60, rng)[1].beta[0] for _ in range(500)]
    assert_mean_equal(drawn, 1.0 / 2.2, what="beta")


def test_geweke():
    """Geweke's joint test: signs drawn given model and states alternate with a sweep, and the prior stays.

    1500 replicates begin in the prior, so that every quantity keeps its exact prior expectation. False alarm 1e-6 for
    each of five tests; a probability that is off by .08 is detected.
    """
    row, stick, c = PRIOR.values()
    lengths, sizes, prior = np.array([2, 1]), Sizes(1, 1, 2, 1, 2), Rates(row, stick, c)
    moved, rng = (0, 1, 3), default_rng(3)  # the places of x from which a step goes on
    same, number, starts, rows, observed = [], [], [], [], []
    for _ in range(1500):
        x, beta = draw_prior(lengths, (0, 0, 0), row, stick, rng)
        before, after = rng.beta(c, c, (2, len(beta)))
        for _ in range(4):
            steps = np.zeros((3, 5), int)
            for t, i in enumerate(moved):
                steps[t, 2], steps[t, 4] = rng.random() >= before[x[i]], rng.random() >= after[x[i + 1]]
            given = read_only(x, beta, steps, lengths)
            x, model = _beam.sweep(*given, sizes, prior, 1, 60, rng)
            beta, before, after = model.beta, model.before[:, 0, 0], model.after[:, 0, 0]
        same.append((x[:, None] == x[None, :])[np.triu_indices(5, 1)])
        number.append(x.max() + 1)
        starts.append(beta[x[[0, 3]]])
        rows.append([model.moves[x[i], 0, x[i + 1]] for i in moved])
        both = zip(moved, steps, strict=True)
        observed.append([[model.before[x[i], 0, s[2]], model.after[x[i + 1], 0, s[4]]] for i, s in both])
    nothing = [[(0, 0, 0, 0, 0)] * 2, [(0, 0, 0, 0, 0)]]
    equal, states = equal_states(joint(nothing, Sizes(1, 1, 1, 1, 1), **PRIOR))
    assert_mean_equal(same, equal[np.triu_indices(5, 1)], what="equal states")
    assert_mean_equal(number, states, what="number of states")
    assert_mean_equal(starts, 1.0 / (1.0 + stick), what="beta of a start")  # the mean of sum beta^2
    assert_mean_equal(rows, (row / (1.0 + stick) + 1.0) / (row + 1.0), what="probability of a step")
    assert_mean_equal(observed, (1.0 + c) / (1.0 + 2.0 * c), what="probability of a sign")


def test_filter_and_weights_between_sweeps():
    """Without sweeps, each chain filters under its own model, and is weighted by what the model predicted."""
    begun = learned("rewards", 5).refresh(default_rng(4), 20)
    belief, more = begun, [(1, 0, 1), (0, 1, 0), (0, 0, 0)]
    for a, o, r in more:
        belief = belief.update(Transition(-1, a, PAYS[r], o))
    weight, shown, first = [], [], []
    for x, model, now in begun.data.chains:
        assert now[x[-1]] == 1.0
        p = 1.0
        for a, o, r in more:
            S = len(now)
            after = np.zeros(S)
            for s, y in itertools.product(range(S), range(S)):
                after[y] += now[s] * model.before[s, a, r] * model.moves[s, a, y] * model.after[y, a, o]
            p *= after.sum()
            now = after / after.sum()
        weight.append(p)
        shown.append(now @ model.moves[:, 1] @ model.after[:, 1])
        first.append(model.beta @ model.moves[:, 1] @ model.after[:, 1])
    np.testing.assert_allclose(np.exp(belief.data.log_weight), weight, rtol=1e-9)
    np.testing.assert_allclose(belief.predictive(1), np.average(shown, axis=0, weights=weight), rtol=1e-9)
    np.testing.assert_allclose(belief.restart().predictive(1), np.average(first, axis=0, weights=weight), rtol=1e-9)
    assert np.ptp(belief.refresh(default_rng(0)).data.log_weight) == 0.0


def test_draws_that_underflow(tmp_path):
    """Rows of tiny counts are corners, and may call impossible what is seen. The belief goes on, and can be saved."""
    rng, belief = default_rng(1), InfinitePOMDP(1, 3, row=1e-60, stick=1e-60, concentration=1e-4, chains=6, sweeps=3)
    for o in (0, 1, 1, 1):
        belief = belief.update(Transition(-1, 0, 0.0, o), rng)
    for o in (0, 1, 2, 1):
        belief = belief.update(Transition(-1, 0, 0.0, o))
        assert belief.predictive(0).sum() == pytest.approx(1.0)
    assert belief.data.log_weight.min() < -400.0  # the logarithm of 1e-200 at least once
    save(belief, tmp_path / "kept")
    assert load(tmp_path / "kept") == belief
    assert np.ptp(belief.refresh(rng).data.log_weight) == 0.0


def test_sequences():
    belief = InfinitePOMDP(1, 2, chains=3)
    assert belief.trajectories.shape == (3, 1)
    assert belief.restart() == belief
    assert belief.predictive(0).tolist() == [0.5, 0.5]
    rng = default_rng(0)
    step = Transition(-1, 0, 0.0, 1)
    belief = belief.update(step, rng).update(step, rng)
    assert belief.trajectories.shape == (3, 3)
    again = belief.restart()
    assert again.trajectories.shape == (3, 4)
    assert again == again.restart()
    again = again.update(step, rng)
    assert again.trajectories.shape == (3, 5)
    assert again.data.length.tolist() == [2, 1]
    assert belief.trajectories.shape == (3, 3)


def test_update_sweeps_only_with_rng():
    step = Transition(-1, 0, 0.0, 1)
    rng, still = default_rng(0), InfinitePOMDP(1, 2, chains=2, sweeps=0)
    assert still.update(step, rng) == still.update(step)
    moving = InfinitePOMDP(1, 2, chains=2, sweeps=3)
    assert moving.update(step, default_rng(1)) == moving.update(step).refresh(default_rng(1), 3)


def test_models_that_are_drawn():
    belief = learned("rewards", 4).refresh(default_rng(5), 10)
    for seed in range(20):
        pomdp = belief.sample_pomdp(default_rng(seed))
        P, O, r = pomdp.dense()
        chain = next(c for c in belief.data.chains if P.shape == c.model.moves.shape and np.allclose(P, c.model.moves))
        np.testing.assert_allclose(O, chain.model.after)
        np.testing.assert_allclose(r, 2.0 * chain.model.before[:, :, 1])
        assert pomdp.start.tolist() == chain.now.tolist()
    assert pomdp.gamma == 0.95


def test_models_are_drawn_by_weight():
    """Chains by weight, and the start from what a chain knows of its state: 600 draws; false alarm 2e-6."""
    belief, rng = learned("rewards", 3).refresh(default_rng(5), 10), default_rng(6)
    for a, o, r in ((1, 0, 1), (0, 1, 0), (0, 0, 0)):
        belief = belief.update(Transition(-1, a, PAYS[r], o))
    weight, chains = np.exp(belief.data.log_weight), belief.data.chains
    heaviest, seen, starts = int(weight.argmax()), np.zeros(3), np.zeros(len(chains[weight.argmax()].now))
    for _ in range(600):
        pomdp = belief.sample_pomdp(rng)
        P, _, _ = pomdp.dense()
        i = next(i for i, c in enumerate(chains) if P.shape == c.model.moves.shape and np.allclose(P, c.model.moves))
        seen[i] += 1
        if i == heaviest:
            starts[pomdp.start.argmax()] += 1
    assert weight.max() > 1.5 * weight.min()
    assert chains[heaviest].now.max() < 0.8
    assert_frequencies(seen, weight / weight.sum())
    assert_frequencies(starts, chains[heaviest].now)


def test_it_acts_through_sampled_pomdps():
    """Without a hidden state to find, it learns which of two actions pays."""
    paid = np.array([[0.0, 1.0]])
    world = POMDPWorld("pays", b.TabularPOMDP.from_dense([[[1.0]] * 2], [[[1.0]] * 2], paid, 0.5))
    prior = InfinitePOMDP(2, 1, chains=3, rewards=(0.0, 1.0), gamma=0.5)
    agent = b.BayesAgent(prior, b.make("sampled-pomdps", models=3, renew=5, size=5))
    record = b.run(agent, world, steps=40, seed=0)
    assert record.reward[-10:].sum() == 10.0
    with pytest.raises(Incompatible, match=r"'sample_pomdp', which InfinitePOMDP lacks\. It has no rewards"):
        b.BayesAgent(InfinitePOMDP(2, 1), b.make("sampled-pomdps"))
    with pytest.raises(Incompatible, match="rewards"):
        InfinitePOMDP(2, 1).sample_pomdp(default_rng(0))
    with pytest.raises(Incompatible):
        b.BayesAgent(prior, b.make("psrl"))


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"row": 0.0}, "'row' must be"),
        ({"stick": -1.0}, "'stick' must be"),
        ({"stick": float("nan")}, "'stick' must be"),
        ({"concentration": 0.0}, "'concentration' must be"),
        ({"chains": 0}, "'chains' must be"),
        ({"chains": None}, "'chains' must be"),
        ({"n_actions": 0}, "'n_actions' must be"),
        ({"n_observations": 1.5}, "'n_observations' must be"),
        ({"gamma": 1.2}, "'gamma' must be"),
        ({"sweeps": -1}, "'sweeps' must be"),
        ({"rewards": ()}, "'rewards' must be"),
        ({"rewards": (1.0, 1.0)}, "'rewards' must be different numbers"),
        ({"rewards": "x"}, "'rewards' must be"),
    ],
)
def test_bad_parameters(given, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        InfinitePOMDP(**({"n_actions": 2, "n_observations": 2} | given))


@pytest.mark.parametrize("a", [2, -1, None, 0.5, "x"])
def test_bad_steps(a):
    belief = learned("one", 2)
    for step, name in ((Transition(-1, a, 0.0, 0), "action"), (Transition(-1, 0, 0.0, a), "next_observation")):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
            belief.update(step)
    with pytest.raises(InvalidArgument, match="'action' must be"):
        belief.predictive(a)
    assert belief == learned("one", 2)


def test_bad_rewards_and_calls():
    belief = InfinitePOMDP(1, 1, rewards=PAYS, chains=2)
    with pytest.raises(
        ImpossibleEvidence, match="reward 1 has probability zero under this belief: rewards are one of 0, 2"
    ):
        belief.update(Transition(-1, 0, 1.0, 0))
    with pytest.raises(InvalidArgument, match="'reward' must be"):
        belief.update(Transition(-1, 0, None, 0))
    with pytest.raises(InvalidArgument, match="'sweeps' must be"):
        belief.refresh(default_rng(0), 0)
    with pytest.raises(InvalidArgument, match="'rng' must be"):
        belief.refresh(None)


def test_too_many_states():
    """A sweep may have MOST - 1 states and the rest."""
    with pytest.raises(InvalidArgument, match="'stick' must be so small that a sweep needs fewer than 300 states"):
        InfinitePOMDP(1, 1, stick=1e4, chains=1).refresh(default_rng(0))
