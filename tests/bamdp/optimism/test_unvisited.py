"""R-max and MBIE-EB: the papers' algorithms on an empirical model, in plain Python, beside ours on vanishing counts."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp.optimism._optimistic_state import optimistic_q, with_absorbing_pairs
from bayesrl.bamdp.optimism.pac_bounds import effective_horizon, mbie_eb_beta, rmax_knownness
from bayesrl.beliefs import RewardBeta, RewardDirichlet, RewardNormal, UnknownRewards
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solution import model_of
from bayesrl.models.solve import solve

CHAIN = b.make_world("chain", gamma=0.7).mdp


def ending():
    P = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.2, 0.3, 0.5]], [[0, 0, 1.0]] * 2])
    return TabularMDP.from_dense(P, [[0.0, 1.0], [2.0, 0.5], [0, 0]], gamma=0.8, terminal=[2])


def empirical(mdp, paid=None):
    """A belief whose mean model is what was seen; rewards known, or unknown with the values `paid`."""
    belief = b.DirichletMDP.structured(mdp, 1e-10)
    if paid is None:
        return belief
    return UnknownRewards(belief, RewardDirichlet(np.array(paid), np.full((*mdp.group.shape, len(paid)), 1e-10)))


def naive_q(seen, mdp, worth, unknown, bonus):
    """Value iteration on frequencies; seen[s, a] lists (s', r). Unknown pairs are worth `worth`."""
    S, A = mdp.group.shape
    V = [0.0] * S
    for _ in range(5000):
        Q = [[0.0] * A for _ in range(S)]
        for s, a in np.ndindex(S, A):
            if mdp.outcomes.terminal[s]:
                continue
            if unknown(s, a):
                Q[s][a] = worth
                continue
            n = len(seen[s, a])
            Q[s][a] = bonus(n) + sum((r + mdp.gamma * V[y]) / n for y, r in seen[s, a])
        new = [max(q) for q in Q]
        gap, V = max(abs(x - y) for x, y in zip(new, V, strict=True)), new
        if gap < 1e-12:
            return np.array(Q)
    raise AssertionError("no convergence")


def journey(mdp, belief, steps, seed, paid):
    """An agent that acts at random: (belief, state, last transition, what was seen of each pair)."""
    rng = default_rng(seed)
    s, last = 0, None
    seen = {pair: [] for pair in np.ndindex(*mdp.group.shape)}
    for _ in range(steps):
        yield belief, s, last, seen
        a = int(rng.integers(mdp.n_actions))
        k = int(rng.choice(mdp.outcomes.n_outcomes, p=mdp.prob[mdp.group[s, a]]))
        r = float(mdp.reward[s, a, k]) if paid is None else float(rng.choice(paid))
        last = Transition(s, a, r, int(mdp.succ[s, a, k]))
        belief = belief.update(last)
        seen[s, a].append((last.next_state, r))
        s = 0 if mdp.outcomes.terminal[last.next_state] else last.next_state


CASES = [(CHAIN, None), (ending(), None), (CHAIN, [0.0, 1.0, 5.0])]


@pytest.mark.parametrize(("mdp", "paid"), CASES)
def test_rmax_equals_its_transcription(mdp, paid):
    """m = 3: the plan is made anew when a pair has been seen three times, from all that was seen by then."""
    planner, memory, Q, made = b.make("rmax", knownness=3), None, None, 0
    worth = (mdp.outcomes.reward.max() if paid is None else 5.0) / (1.0 - mdp.gamma)
    for belief, s, last, seen in journey(mdp, empirical(mdp, paid), 60, 1, paid):
        decision = planner.plan(belief, s, memory, default_rng(0), last)
        if last is None or len(seen[last.state, last.action]) == 3:
            Q = naive_q(seen, mdp, worth, lambda s, a: len(seen[s, a]) < 3, lambda n: 0.0)  # noqa: B023
            made += 1
        np.testing.assert_allclose(decision.info["q"], Q[s], atol=1e-6)
        assert memory is None or (decision.memory.q is memory.q) == (len(seen[last.state, last.action]) != 3)
        memory = decision.memory
    assert made >= 4


@pytest.mark.parametrize(("mdp", "paid"), CASES)
def test_mbie_eb_equals_its_transcription(mdp, paid):
    """R^ + beta / sqrt(n) + gamma sum T^ V; a pair never tried is worth R_max / (1 - gamma)."""
    planner, memory = b.make("mbie-eb", beta=0.8), None
    worth = (mdp.outcomes.reward.max() if paid is None else 5.0) / (1.0 - mdp.gamma)
    for belief, s, last, seen in journey(mdp, empirical(mdp, paid), 25, 2, paid):
        decision = planner.plan(belief, s, memory, default_rng(0), last)
        Q = naive_q(seen, mdp, worth, lambda s, a: not seen[s, a], lambda n: 0.8 / n**0.5)  # noqa: B023
        np.testing.assert_allclose(decision.info["q"], Q[s], atol=1e-6)
        memory = decision.memory


def test_the_absorbing_state_is_worth_what_it_says():
    """Also beside values that are larger, and for groups that other pairs share."""
    belief = b.DirichletMDP.structured(b.make_world("chain-semi", gamma=0.7))
    untried = np.zeros((5, 2), bool)
    untried[1, 0] = untried[4, 1] = True
    for worth in (1.0, 1000.0):
        q, values = optimistic_q(belief, untried, worth, np.full((5, 2), 0.5), None)
        assert q[1, 0] == pytest.approx(worth)
        assert q[4, 1] == pytest.approx(worth)
        rest = np.where(untried, worth, solve_rest(belief.mean_mdp(), values) + 0.5)
        np.testing.assert_allclose(q, rest, atol=1e-7)


def listed_absorbing_state(model, untried, worth, bonus):
    """The values of the model with the absorbing state listed; each step in it pays (1 - gamma) worth."""
    P, R = model.dense()
    S, gamma = len(untried), model.gamma
    P, R = np.pad(P, ((0, 1), (0, 0), (0, 1))), np.pad(R + bonus[:, :, None], ((0, 1), (0, 0), (0, 1)))
    P[S], P[:S][untried] = np.eye(S + 1)[S], np.eye(S + 1)[S]
    R[S], R[:S][untried] = (1.0 - gamma) * worth, (1.0 - gamma) * worth
    ends = np.flatnonzero(model.outcomes.terminal)
    return solve(TabularMDP.from_dense(P, R, gamma, terminal=ends.tolist())).q[:S]


BELIEFS = {
    "flat": lambda: b.DirichletMDP.flat(b.make_world("grid10", gamma=0.95), 0.01),
    "lists": lambda: b.DirichletMDP.structured(b.make_world("grid10", gamma=0.95)),
    "terminal": lambda: b.DirichletMDP.structured(ending()),
}


@pytest.mark.parametrize("name", BELIEFS)
def test_the_absorbing_state_need_not_be_listed(name):
    """Beside the model that has one, cold and from other values, with few untried pairs and with many."""
    belief, rng = BELIEFS[name](), default_rng(8)
    S, A = belief.n_states, belief.n_actions
    for share in (0.02, 0.5, 1.0):
        untried, bonus = rng.random((S, A)) < share, rng.uniform(0.0, 1.0, (S, A))
        untried[0, 0], ended = True, belief.outcomes.terminal
        expected = np.where(ended[:, None], 0.0, listed_absorbing_state(belief.mean_mdp(), untried, 9.0, bonus))
        for warm in (None, rng.uniform(0.0, 20.0, S)):
            q, values = optimistic_q(belief, untried, 9.0, bonus, warm)
            np.testing.assert_allclose(q, expected, atol=1e-7)
            np.testing.assert_allclose(values, expected.max(axis=1), atol=1e-7)


@pytest.mark.parametrize("name", ["flat", "lists"])
def test_values_are_not_shifted_where_pairs_end(name):
    """A solver may add a constant to all values only if no pair ends. (Policy iteration would repair a wrong shift, at
    a cost that no other test sees.)"""
    mdp = BELIEFS[name]().mean_mdp()
    untried = np.zeros(mdp.group.shape, np.bool_)
    untried[0, 0] = True
    assert with_absorbing_pairs(model_of(mdp), untried, 9.0).shiftable is False


def solve_rest(model, values):
    return model.mean_reward + model.gamma * (model.matrix @ values).reshape(model.group.shape)


def test_tied_pairs_share_their_visits():
    """One slip for both actions everywhere: after m steps all is known."""
    belief = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.7))
    planner, memory, last = b.make("rmax", knownness=2), None, None
    for _ in range(3):
        decision = planner.plan(belief, 0, memory, default_rng(0), last)
        memory, last = decision.memory, Transition(0, 0, 0.0, 1)
        belief = belief.update(last) if decision.memory.visits[0] < 2 else belief
    np.testing.assert_allclose(decision.info["q"], solve(belief.mean_mdp()).q[0], atol=1e-7)


@pytest.mark.parametrize("name", ["rmax", "mbie-eb"])
def test_unknown_rewards_are_explored_where_transitions_are_known(name):
    """A pair whose reward is unknown is worth V_max until it is tried; a model that is all known is solved at once."""
    world = b.make_world("chain", gamma=0.7)
    moves = b.DirichletMDP.structured(world, known=True)
    paid = UnknownRewards(moves, RewardBeta(np.ones((5, 2)), np.ones((5, 2)), 0.0, 5.0))
    first = b.make(name).plan(paid, 2, None, default_rng(0))
    np.testing.assert_allclose(first.info["q"], 5.0 / 0.3)
    np.testing.assert_allclose(
        b.make(name).plan(moves, 2, None, default_rng(0)).info["q"], solve(world).q[2], atol=1e-7
    )


@pytest.mark.parametrize("name", ["rmax", "mbie-eb", "boss"])
def test_tied_pairs_count_for_themselves_where_rewards_are_unknown(name):
    """One slip for all: a visit of (0, 0) tells where all pairs lead, and nothing of what the others pay."""
    moves = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.7))
    belief = UnknownRewards(moves, RewardBeta(np.ones((5, 2)), np.ones((5, 2)), 0.0, 5.0))
    planner, last = b.make(name, **({} if name == "mbie-eb" else {"knownness": 1})), Transition(0, 0, 5.0, 1)
    rng = default_rng(0)
    first = planner.plan(belief, 0, None, rng)
    second = planner.plan(belief.update(last), 1, first.memory, rng, last)
    if name == "boss":  # new models for each pair that becomes known, be it the same slip
        third = planner.plan(belief.update(last), 0, second.memory, rng, Transition(1, 1, 5.0, 0))
        assert (third.memory.values != second.memory.values).any()
        return
    there = planner.plan(belief.update(last), 0, first.memory, rng, last)
    assert there.info["q"][0] < 5.0 / 0.3 - 0.1
    np.testing.assert_allclose(there.info["q"][1], 5.0 / 0.3)
    np.testing.assert_allclose(second.info["q"], 5.0 / 0.3)


@pytest.mark.parametrize(("name", "owner", "by_theory"), [("rmax", "RMax", "knownness"), ("mbie-eb", "MBIEEB", "beta")])
def test_pairs_that_do_not_fit_are_refused_at_once(name, owner, by_theory):
    endless = b.DirichletMDP.flat(TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.eye(2), 1.0))
    vague = UnknownRewards(b.DirichletMDP.flat(CHAIN), RewardNormal.strens((CHAIN.n_states, CHAIN.n_actions)))
    for belief, params, sentence in [
        (endless, {}, "'belief' must be one whose episodes end under every policy, as the discount is 1"),
        (vague, {}, "'belief' must be one with bounded rewards, got 'UnknownRewards'"),
        (vague, {by_theory: "theory", "r_max": 1.0}, "'belief' must be one with bounded rewards"),
    ]:
        with pytest.raises(InvalidArgument, match=f"{owner}: {sentence}"):
            b.BayesAgent(belief, b.make(name, **params))


def test_a_value_beyond_all_numbers_is_not_planned_for():
    for name, params in (("rmax", {"r_max": 1e308}), ("mbie-eb", {"r_max": 1e308}), ("mbie-eb", {"beta": 1e308})):
        with pytest.raises(InvalidArgument, match="Numbers beyond 1e\\+100 are refused"):
            b.make(name, **params)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ["value-iteration", "modified-policy-iteration"])
def test_a_value_beyond_all_numbers_is_not_solved_for(method):
    mdp = TabularMDP.from_dense([[[1.0]]], [[1e308]], 0.9)  # worth 1e309
    with pytest.raises(NotConverged, match="not converged after 1 iterations; the error is still at most inf"):
        solve(mdp, method=method)


def test_r_max_may_be_given():
    belief = empirical(CHAIN)
    for name in ("rmax", "mbie-eb"):
        q = b.make(name, r_max=7.0).plan(belief, 0, None, default_rng(0)).info["q"]
        np.testing.assert_allclose(q, 7.0 / 0.3)
        own = b.make(name).plan(belief, 0, None, default_rng(0)).info["q"]
        np.testing.assert_allclose(own, 10.0 / 0.3)


def test_parameters_by_theory():
    belief = b.DirichletMDP.flat(CHAIN)
    assert b.make("mbie-eb", beta="theory")._beta(belief) == mbie_eb_beta(5, 2, 0.7, reward_range=10.0)
    H = effective_horizon(0.7)
    assert b.make("rmax", knownness="theory")._knownness(belief) == rmax_knownness(5, 2, H, reward_range=10.0)


def test_what_does_not_fit():
    normal = UnknownRewards(b.DirichletMDP.flat(CHAIN), RewardNormal.strens((5, 2)))
    for name, owner in (("rmax", "RMax"), ("mbie-eb", "MBIEEB")):
        with pytest.raises(InvalidArgument, match=f"{owner}: 'belief' must be one with bounded rewards"):
            b.make(name).plan(normal, 0, None, default_rng(0))
        assert b.make(name, r_max=1.0).plan(normal, 0, None, default_rng(0)).action == 0
        coin = UnknownRewards(b.DirichletMDP.flat(CHAIN), RewardBeta(np.ones((5, 2)), np.ones((5, 2)), -1.0, 2.0))
        q = b.make(name).plan(coin, 0, None, default_rng(0)).info["q"]
        np.testing.assert_allclose(q, 2.0 / 0.3)
        with pytest.raises(InvalidArgument, match=f"{owner}: 'belief' must be one whose episodes end under every"):
            b.make(name).plan(b.DirichletMDP(coin.outcomes, coin.transitions.alpha, 1.0), 0, None, default_rng(0))
    for name, params, sentence in [
        ("rmax", {"knownness": 0}, "RMax: 'knownness' must be a whole number of at least 1, got 0."),
        ("rmax", {"r_max": "much"}, "RMax: 'r_max' must be a finite number, got 'much'."),
        ("mbie-eb", {"beta": -0.1}, "MBIEEB: 'beta' must be at least 0, got -0.1."),
    ]:
        with pytest.raises(InvalidArgument) as error:
            b.make(name, **params)
        assert str(error.value) == sentence
