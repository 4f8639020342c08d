"""The prior over policies against enumeration (franchise.py), and the search that uses it against iteration."""

import itertools

import numpy as np
import pytest
from franchise import equal_states, joint
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import PolicyPriorSearch
from bayesrl.bapomdp.policy_prior_search import action_values, node_now
from bayesrl.beliefs import PolicyPrior, joint_posterior
from bayesrl.beliefs.pomdp._beam import Sizes
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.testing import assert_frequencies, assert_mean_equal

PRIOR = {"row": 1.3, "stick": 0.8, "concentration": 0.4}
SIZES = Sizes(2, 1, 2, 1, 1)
DATA = {"one": [[(0, 0), (1, 1), (0, 0), (1, 1)]], "two": [[(0, 1), (1, 1)], [(1, 0), (0, 1)]]}
"""Steps (action, observation) of each sequence."""


def steps_of(sequences):
    return [[(o, 0, a, 0, 0) for a, o in one] for one in sequences]


def learned(name, chains):
    belief = PolicyPrior(2, 2, **PRIOR, chains=chains)
    for i, sequence in enumerate(DATA[name]):
        belief = belief.restart() if i else belief
        for a, o in sequence:
            belief = belief.update(Transition(-1, a, 0.0, o))
    return belief


@pytest.fixture(scope="module", params=list(DATA))
def swept(request):
    return DATA[request.param], learned(request.param, 800).refresh(default_rng(0), 50)


def test_equal_nodes_follow_the_posterior(swept):
    """P(n_i = n_j | data) and the number of nodes, from 800 chains after 50 sweeps; false alarm 1e-6.

    A probability that is off by .09 is detected.
    """
    data, belief = swept
    same, nodes = equal_states(joint(steps_of(data), SIZES, **PRIOR))
    x, above = belief.trajectories, np.triu_indices(len(same), 1)
    assert_mean_equal((x[:, :, None] == x[:, None, :])[:, *above], same[above], what="equal nodes")
    assert_mean_equal(x.max(axis=1) + 1, nodes, what="number of nodes")


def test_predictive_follows_the_posterior(swept):
    """The next action: a ratio of two evidences. False alarm 1e-6."""
    data, belief = swept
    data = steps_of(data)
    evidence = [
        sum(sum(joint([*data[:-1], [*data[-1], (o, 0, a, 0, 0)]], SIZES, **PRIOR).values()) for o in range(2))
        for a in range(2)
    ]
    shown = [now @ model.before[:, 0] for _, model, now in belief.data.chains]
    assert_mean_equal(shown, np.array(evidence) / sum(evidence), what="next action")
    np.testing.assert_allclose(belief.predictive(), np.mean(shown, axis=0), rtol=1e-12)


def test_filter_and_weights_between_sweeps():
    """Without sweeps, each chain filters its node, and is weighted by what it predicted. A restart keeps weights."""
    begun = learned("two", 5).refresh(default_rng(4), 20)
    belief, more = begun, [(1, 0), (0, 1), (0, 0)]
    for a, o in more:
        belief = belief.update(Transition(-1, a, 0.0, o))
    weight, shown, first = [], [], []
    for x, model, now in begun.data.chains:
        assert now[x[-1]] == 1.0
        p = 1.0
        for a, o in more:
            after = np.zeros(len(now))
            for n, m in itertools.product(range(len(now)), repeat=2):
                after[m] += now[n] * model.before[n, 0, a] * model.moves[n, o, m]
            p *= after.sum()
            now = after / after.sum()
        weight.append(p)
        shown.append(now @ model.before[:, 0])
        first.append(model.beta @ model.before[:, 0])
    np.testing.assert_allclose(np.exp(belief.data.log_weight), weight, rtol=1e-9)
    np.testing.assert_allclose(belief.predictive(), np.average(shown, axis=0, weights=weight), rtol=1e-9)
    np.testing.assert_allclose(belief.restart().predictive(), np.average(first, axis=0, weights=weight), rtol=1e-9)
    assert np.ptp(belief.refresh(default_rng(0)).data.log_weight) == 0.0


def test_controllers_are_drawn_by_weight():
    """False alarm 1e-6."""
    belief, rng = learned("two", 4).refresh(default_rng(4), 20), default_rng(5)
    for a in (1, 0, 1, 1):
        belief = belief.update(Transition(-1, a, 0.0, 0))
    weight = np.exp(belief.data.log_weight)
    assert weight.max() > 1.5 * weight.min()
    drawn = [
        [c is one for one in belief.data.chains].index(True) for c in (belief.sample_chain(rng) for _ in range(2000))
    ]
    assert_frequencies(np.bincount(drawn, minlength=4), weight / weight.sum())


def test_before_any_step():
    belief = PolicyPrior(3, 2, chains=2)
    assert belief.trajectories.tolist() == [[0], [0]]
    np.testing.assert_allclose(belief.predictive(), 1.0 / 3.0)
    assert belief.restart() == belief


def test_shapes_of_controllers():
    """Nodes move by the observation and show the action; nothing is seen of the node after a step. As begun, and drawn.

    Four actions and three observations. The largest ones are accepted, and the next ones are refused.
    """
    begun = PolicyPrior(4, 3, chains=2)
    belief = begun.update(Transition(-1, 3, 0.0, 2)).update(Transition(2, 0, 0.0, 0))
    assert belief.data.steps.tolist() == [[2, 0, 3, 0, 0], [0, 0, 0, 0, 0]]
    for one in (begun, belief, belief.refresh(default_rng(0), 2)):
        for _, (beta, moves, before, after), now in one.data.chains:
            K = len(beta)
            assert (moves.shape, before.shape, after.shape, now.shape) == ((K, 3, K), (K, 1, 4), (K, 1, 1), (K,))
            for rows in (beta, moves, before, after, now):
                np.testing.assert_allclose(rows.sum(axis=-1), 1.0)
        one.check_grown()
    datum = Transition(0, 1, 0.0, 1)
    for sweeps in (1, 3):
        own = PolicyPrior(4, 3, chains=2, sweeps=sweeps)
        assert own.update(datum, default_rng(5)) == own.update(datum).refresh(default_rng(5), sweeps)
    still = PolicyPrior(4, 3, chains=2, sweeps=0)
    assert still.update(datum, default_rng(5)) == still.update(datum)
    for action, seen, name in ((4, 2, "action"), (3, 3, "next_observation"), (3, 4, "next_observation")):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
            belief.update(Transition(-1, action, 0.0, seen))


def test_joint_posterior():
    """By hand, without and with values; large values and logs do not overflow."""
    for v, m, p in ((0.0, -1.5e308, 0.0), (0.0, 0.0, -1.5e308), (1.5e308, 1.5e308, 1.5e308), (-1.5e308, 0.0, 0.0)):
        even = joint_posterior(np.full((2, 3), v), np.full(2, m), np.full(3, p), temperature=1.0)
        np.testing.assert_allclose(even, np.full((2, 3), 1.0 / 6.0))
    m, p = np.log([0.2, 0.8]), np.log([0.5, 0.3, 0.2])
    values = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]])
    np.testing.assert_allclose(joint_posterior(values, m, p), np.outer([0.2, 0.8], [0.5, 0.3, 0.2]))
    by_hand = np.exp(values / 2.0) * np.outer([0.2, 0.8], [0.5, 0.3, 0.2])
    np.testing.assert_allclose(joint_posterior(values, m, p, temperature=2.0), by_hand / by_hand.sum())
    assert joint_posterior(1e300 * values, m, p, temperature=1.0)[1, 2] == 1.0
    for wrong in (0.0, -1.0, np.nan, None):
        with pytest.raises(InvalidArgument, match="'temperature' must be"):
            joint_posterior(values, m, p, temperature=wrong)
    for args in ((values[0], m, p), (values, p, p), (values, m, m), (np.nan * values, m, p)):
        with pytest.raises(InvalidArgument):
            joint_posterior(*args)


def problem(terminal=(), gamma=0.8):
    rng = default_rng(1)
    P, O = rng.dirichlet([1.0, 1.0, 1.0], (3, 2)), rng.dirichlet([1.0, 1.0], (3, 2))
    return b.TabularPOMDP.from_dense(P, O, rng.normal(size=(3, 2)), gamma, 0, terminal)


@pytest.mark.parametrize("terminal, gamma", [((), 0.8), ((2,), 0.8), ((2,), 1.0)])
def test_values_of_controllers(terminal, gamma):
    """Linear systems equal 200 steps of iteration over states and nodes, one entry at a time."""
    pomdp, chain = problem(terminal, gamma), learned("one", 1).refresh(default_rng(3), 9).data.chains[0]
    P, O, r = pomdp.dense()
    eta, pi = chain.model.moves, chain.model.before[:, 0]
    S, N = len(P), len(pi)
    V = np.zeros((S, N))
    for _ in range(200):
        Q = np.zeros((S, N, 2))
        for s, n, a in itertools.product(range(S), range(N), range(2)):
            Q[s, n, a] = r[s, a]
            for y, o, m in itertools.product(range(S), range(2), range(N)):
                if y not in terminal:
                    Q[s, n, a] += gamma * P[s, a, y] * O[y, a, o] * eta[n, o, m] * V[y, m]
        V = (pi * Q).sum(axis=2)
    node = default_rng(4).dirichlet(np.ones(N))
    value, q = action_values(pomdp, chain, node)
    np.testing.assert_allclose(q, node @ Q[0], rtol=1e-9)
    np.testing.assert_allclose(value, node @ V[0], rtol=1e-9)


def test_values_without_a_discount():
    """Each step ends the episode with probability 1/2, so that two steps are made on average."""
    chain = PolicyPrior(2, 2, chains=1).data.chains[0]
    P = [[[0.5, 0.5]] * 2, [[0.0, 1.0]] * 2]
    pomdp = b.TabularPOMDP.from_dense(P, np.full((2, 2, 2), 0.5), [[1.0, 3.0], [0.0, 0.0]], 1.0, 0, (1,))
    value, q = action_values(pomdp, chain, np.ones(1))
    assert value == pytest.approx(4.0)
    assert q == pytest.approx([3.0, 5.0])


def test_the_search_weighs_pairs():
    """The root values are those of all pairs, weighed by `joint_posterior`, under the same random numbers."""
    expert = learned("one", 4).refresh(default_rng(5), 9)
    other = b.TabularPOMDP.from_dense(*problem().dense()[:2], [[1.0, 0.0]] * 3, 0.8, 1)
    prior = b.beliefs.FinitePOMDPs((problem(), other))
    prior = prior.update(Transition(-1, 0, 0.0, 1))
    seen = (Transition(-1, 0, 0.0, 1), Transition(1, 1, 0.0, 0))
    for temperature in (None, 0.7):
        planner = PolicyPriorSearch(expert, models=3, controllers=2, temperature=temperature)
        decision = planner.plan(prior, None, seen[:1], default_rng(6), seen[1])
        rng = default_rng(6)
        models = [prior.sample_pomdp(rng) for _ in range(3)]
        controllers = [expert.sample_chain(rng) for _ in range(2)]
        found = [[action_values(m, c, node_now(c, seen)) for c in controllers] for m in models]
        v = np.array([[x for x, _ in row] for row in found])
        w = np.ones((3, 2)) / 6 if temperature is None else np.exp(v / 0.7) / np.exp(v / 0.7).sum()
        np.testing.assert_allclose(decision.info["weights"], w)
        np.testing.assert_allclose(
            decision.info["q"], sum(w[i, j] * found[i][j][1] for i in range(3) for j in range(2))
        )
        assert decision.action == int(np.argmax(decision.info["q"]))
        assert decision.memory == seen
    ended = planner.plan(prior, None, seen, default_rng(0), seen[0]._replace(truncated=True))
    assert ended.memory == ()


def test_nodes_follow_an_episode():
    chain = learned("one", 1).refresh(default_rng(3), 9).data.chains[0]
    beta, eta, pi = chain.model.beta, chain.model.moves, chain.model.before[:, 0]
    by_hand = np.zeros(len(beta))
    for n, m, k in itertools.product(range(len(beta)), repeat=3):
        by_hand[k] += beta[n] * pi[n, 1] * eta[n, 0, m] * pi[m, 0] * eta[m, 1, k]
    steps = (Transition(-1, 1, 0.0, 0), Transition(0, 0, 0.0, 1))
    np.testing.assert_allclose(node_now(chain, steps), by_hand / by_hand.sum())
    np.testing.assert_allclose(node_now(chain, ()), beta)


@pytest.mark.parametrize("name", ["row", "stick", "concentration", "chains", "n_actions", "n_observations", "sweeps"])
def test_bad_parameters(name):
    for wrong in (-1, None, float("nan"), "x"):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
            PolicyPrior(**({"n_actions": 2, "n_observations": 2} | {name: wrong}))


@pytest.mark.parametrize("wrong", [2, -1, None, 0.5])
def test_bad_steps(wrong):
    belief = learned("one", 2)
    for step, name in ((Transition(-1, wrong, 0.0, 0), "action"), (Transition(-1, 0, 0.0, wrong), "next_observation")):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
            belief.update(step)
    assert belief == learned("one", 2)


def test_bad_calls():
    with pytest.raises(InvalidArgument, match="'sweeps' must be"):
        learned("one", 2).refresh(default_rng(0), 0)
    with pytest.raises(InvalidArgument, match="'expert' must be a PolicyPrior or None"):
        PolicyPriorSearch(expert=3)
    with pytest.raises(InvalidArgument, match="'expert' must be one of 2 actions and 2 observations"):
        PolicyPriorSearch(PolicyPrior(3, 2)).plan(b.beliefs.POMDPFilter(problem()), None, (), default_rng(0))
    known = b.beliefs.POMDPFilter(problem())
    for memory in (3, "x", Transition(-1, 0, 0.0, 0), (Transition(-1, 0, 0.0, 0), 1)):
        with pytest.raises(InvalidArgument, match="'memory' must be the steps of this episode"):
            PolicyPriorSearch().plan(known, None, memory, default_rng(0))
    for wrong in (2, -1, None, 0.5):
        for last, name in (((wrong, 0.0, 0), "action"), ((0, 0.0, wrong), "next_observation")):
            with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
                PolicyPriorSearch().plan(known, None, (), default_rng(0), Transition(-1, *last))
    endless = b.TabularPOMDP.from_dense([[[1.0]]], [[[1.0]]], [[1.0]], 1.0, 0)
    with pytest.raises(InvalidArgument, match="'gamma' must be below 1"):
        PolicyPriorSearch().plan(b.beliefs.POMDPFilter(endless), None, (), default_rng(0))
