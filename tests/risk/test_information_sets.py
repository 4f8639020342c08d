"""Information sets: numbers of sets, plans, returns and values against walks through all histories."""

import itertools

import numpy as np
import pytest

import bayesrl as b
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import _information_sets as I

S, A, T = 3, 2, 3


def models(seed=0, n=3, shared=False, terminal=()):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(S), (n, S, A))
    P[:, 0, 0] = [0.0, 0.5, 0.5]
    P = np.broadcast_to(P[:1], P.shape) if shared else P
    return [TabularMDP.from_dense(p, rng.normal(size=(S, A)), 0.9, [0.5, 0.5, 0.0], terminal) for p in P]


def naive_return(mdp, act, horizon):
    """The return of a policy over histories: `act` maps a history (s0, a0, ..., st) to probabilities."""
    P, R = mdp.dense()
    r = (P * R).sum(axis=2)

    def earn(history, t):
        s = history[-1]
        if t == horizon or mdp.outcomes.terminal[s]:
            return 0.0
        p, total = act(history), 0.0
        for a in range(A):
            ahead = sum(P[s, a, y] * earn((*history, a, y), t + 1) for y in range(S) if P[s, a, y])
            total += p[a] * (r[s, a] + mdp.gamma * ahead)
        return total

    return sum(mdp.outcomes.start[s] * earn((s,), 0) for s in range(S))


def set_of(sets, history):
    i = sets.entry[history[0]]
    for a, s in zip(history[1::2], history[2::2], strict=True):
        i = sets.next_set(i, a, s)
    return i


def both_kinds(shared, terminal=()):
    found = models(shared=shared, terminal=terminal)
    if shared:
        return found, I.pairs_in_time("test", found[0], T, 100)
    return found, I.histories("test", found[0], I.possible_in(found), T, 1000)


@pytest.mark.parametrize("terminal", [(), (2,)])
@pytest.mark.parametrize("shared", [True, False])
def test_returns_are_those_of_walking_all_histories(shared, terminal):
    found, sets = both_kinds(shared, terminal)
    strategy = np.random.default_rng(1).dirichlet(np.ones(A), len(sets))
    flow = I.flow_of(sets, found[0])
    x = I.forward(sets, strategy, flow)
    for m in found:
        expected = naive_return(m, lambda h: strategy[set_of(sets, h)], T)
        c = I.coefficients(sets, m)
        assert (c * x).sum() == pytest.approx(expected, abs=1e-12)
        q = I.backward(sets, c, flow, strategy)
        assert flow.first @ (strategy * q).sum(axis=1) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_the_best_strategy_is_the_best_of_all_deterministic_ones(shared):
    found, sets = both_kinds(shared, (2,))
    flow, c = I.flow_of(sets, found[0]), np.mean([I.coefficients(sets, m) for m in found], axis=0)
    best = flow.first @ I.backward(sets, c, flow).max(axis=1)
    acting = [i for i in range(len(sets)) if sets.state[i] != 2]
    if not shared:  # two steps: three have too many strategies to list
        sets = I.histories("test", found[0], I.possible_in(found), 2, 1000)
        flow, c = I.flow_of(sets, found[0]), np.mean([I.coefficients(sets, m) for m in found], axis=0)
        best, acting = flow.first @ I.backward(sets, c, flow).max(axis=1), list(range(len(sets)))
    values = []
    for choice in itertools.product(range(A), repeat=len(acting)):
        strategy = np.zeros((len(sets), A))
        strategy[:, 0] = 1.0
        strategy[acting] = np.eye(A)[list(choice)]
        values.append((c * I.forward(sets, strategy, flow)).sum())
    assert best == pytest.approx(max(values), abs=1e-12)


def test_the_average_of_plans_is_the_plan_of_its_strategy():
    found, sets = both_kinds(False)
    rng, flow = np.random.default_rng(2), I.flow_of(sets, found[0])
    x = np.mean([I.forward(sets, rng.dirichlet(np.ones(A), len(sets)), flow) for _ in range(3)], axis=0)
    strategy = I.strategy_of(x, np.full(x.shape, 1.0 / A))
    np.testing.assert_allclose(I.forward(sets, strategy, flow), x, atol=1e-15)


def test_all_histories_of_a_flat_problem():
    found = models()
    sets = I.histories("test", found[0], np.ones((S * A, S), bool), T, 1000)
    assert len(sets) == sum(2 * S**t * A**t for t in range(T))  # two states can be the first
    assert (np.diff(sets.step) >= 0).all()
    full = TabularMDP.from_dense(found[0].dense()[0], np.zeros((S, A)), 0.9, np.full(S, 1 / S))
    assert len(I.histories("test", full, np.ones((S * A, S), bool), T, 1000)) == sum(
        S ** (t + 1) * A**t for t in range(T)
    )


def test_histories_that_no_model_allows_are_left_out():
    _, sets = both_kinds(False)
    assert sets.next_set(0, 0, 0) == -1
    assert sets.next_set(0, 0, 1) == 2
    assert sets.state[2] == 1


def test_a_large_tree_is_refused_with_its_size():
    found = models()
    n = len(I.histories("Solver", found[0], I.possible_in(found), 5, 10_000))
    assert len(I.histories("Solver", found[0], I.possible_in(found), 5, n)) == n
    with pytest.raises(InvalidArgument, match=f"got {n - 1}"):
        I.histories("Solver", found[0], I.possible_in(found), 5, n - 1)
    assert len(I.pairs_in_time("Solver", found[0], 10, 30)) == 30
    with pytest.raises(InvalidArgument, match=rf"at least {n} for the histories of 5 steps, got 1000.*4 would fit"):
        I.histories("Solver", found[0], I.possible_in(found), 5, 1000)
    with pytest.raises(InvalidArgument, match="at least"):
        I.histories("Solver", found[0], I.possible_in(found), 10_000, 1000)
    line = TabularMDP.from_dense([[[1.0]]], [[0.0]], 0.9)  # one history of each length
    with pytest.raises(
        InvalidArgument, match=r"at least 1002 for the histories of 1000000000 steps, got 7.*7 would fit"
    ):
        I.histories("Solver", line, np.ones((1, 1), bool), 10**9, 7)
    assert len(I.histories("Solver", line, np.ones((1, 1), bool), 2000, 2000)) == 2000
    ends = TabularMDP.from_dense([[[0.0, 1.0]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.9, 0, [1])
    assert len(I.histories("Solver", ends, np.ones((2, 2), bool) & [False, True], 10**9, 7)) == 1
    with pytest.raises(InvalidArgument, match="at least 30 for 10 steps, got 29"):
        I.pairs_in_time("Solver", found[0], 10, 29)


def test_shared_transitions():
    assert I.share_transitions(models(shared=True))
    assert not I.share_transitions(models())


class Solution(I.HistorySolution):
    def __init__(self, sets, strategy):
        self.sets, self.strategy = sets, strategy


def test_acting_moves_along_what_was_seen():
    _, sets = both_kinds(False)
    strategy = np.random.default_rng(1).dirichlet(np.ones(A), len(sets))
    planner, rng = Solution(sets, strategy), np.random.default_rng(0)
    memory, last, s, i = planner.start(), None, 1, sets.entry[1]
    for step in range(7):
        decision = planner.plan(None, s, memory, rng, last)
        assert decision.memory == i
        np.testing.assert_array_equal(decision.info["probability"], strategy[i])
        y, ends = (step * 2 + 1) % S, step == 3
        last = Transition(s, decision.action, 0.0, y, truncated=ends)
        i = sets.next_set(i, decision.action, y)
        if ends or step == 2:  # after the horizon it starts again
            assert ends or i == -1
            y = 1 if ends else y
            i = sets.entry[y]
        memory, s = decision.memory, y
    with pytest.raises(InvalidArgument, match="'observation'"):
        planner.plan(None, S, -1, rng)
    for action in (-1, A):
        with pytest.raises(InvalidArgument, match=f"'action' must be a whole number of at least 0 and at most {A - 1}"):
            planner.plan(None, 0, 0, rng, Transition(0, action, 0.0, 1))


def test_a_state_without_a_set_has_uniform_actions():
    _, sets = both_kinds(False, (2,))
    planner = Solution(sets, np.tile([1.0, 0.0], (len(sets), 1)))
    decision = planner.plan(None, 2, -1, np.random.default_rng(0))
    assert decision.memory == -1
    np.testing.assert_array_equal(decision.info["probability"], [0.5, 0.5])


def test_sets_are_saved(tmp_path):
    _, sets = both_kinds(False)
    b.save(sets, tmp_path / "sets.zip")
    assert b.load(tmp_path / "sets.zip") == sets


def fields(sets):
    names = ("state", "step", "entry", "offset", "seen", "child")
    return {name: getattr(sets, name).copy() for name in names} | {"histories": sets.histories}


@pytest.mark.parametrize("name", ["state", "step", "entry", "offset", "seen", "child"])
def test_numbers_out_of_range_are_refused(name):
    """The largest number is accepted, the next one is not, nor one below the least; the sentence gives the range."""
    _, sets = both_kinds(False)
    N, E = len(sets), len(sets.seen)
    low, high = {"state": (0, S - 1), "step": (0, N - 1), "entry": (-1, N - 1), "offset": (0, E), "seen": (0, S - 1),
                 "child": (0, N - 1)}[name]  # fmt: skip
    for x in (low, high):
        given = fields(sets)
        given[name][0 if x == low else -1] = x
        assert I.InformationSets(**given) is not None
    for x in (low - 1, high + 1, 0.5):
        given = fields(sets)
        given[name] = given[name].astype(float)
        given[name][-1] = x
        shift = name == "entry"
        with pytest.raises(InvalidArgument, match=f"'{name}' must be whole numbers from 0 to {high + shift}, got"):
            I.InformationSets(**given)


def test_offsets_that_do_not_fit_are_refused():
    """One too few or too many, edges without an end, offsets that fall, and children that are missing."""
    given = fields(both_kinds(False)[1])
    offset = given["offset"]
    fall = offset.copy()
    fall[3] = fall[5] + 1
    wrong = [{"offset": offset[:-1]}, {"offset": np.append(offset, offset[-1])}, {"offset": fall},
             {"offset": np.where(offset == offset[-1], offset[-1] - 1, offset)}, {"child": given["child"][:-1]},
             {"offset": offset[:1]}]  # fmt: skip
    for each in wrong:
        with pytest.raises(InvalidArgument, match="'offset' must be the first edge of each set and action"):
            I.InformationSets(**given | each)


def test_one_and_two_sets():
    """The number of actions and the levels of the smallest trees; a last step has no edges."""
    one = TabularMDP.from_dense(np.full((2, 3, 2), 0.5), np.zeros((2, 3)), 0.9)
    for start, roots in ((0, 1), ([0.5, 0.5], 2)):
        model = TabularMDP.from_dense(one.dense()[0], np.zeros((2, 3)), 0.9, start)
        sets = I.histories("test", model, np.ones((6, 2), bool), 1, 10)
        assert (len(sets), sets.n_actions, sets.levels) == (roots, 3, ((0, roots),))
    _, sets = both_kinds(False)
    counts = np.bincount(sets.step)
    ends = np.cumsum(counts)
    assert sets.levels == tuple(zip((ends - counts).tolist(), ends.tolist(), strict=True))
    pairs = I.pairs_in_time("test", one, 4, 100)
    assert pairs.levels == ((0, 2), (2, 4), (4, 6), (6, 8))


def test_one_action():
    """With one action the return of every model is that of its chain."""
    rng = np.random.default_rng(4)
    found = [TabularMDP.from_dense(rng.dirichlet(np.ones(3), (3, 1)), rng.normal(size=(3, 1)), 0.7, [0.2, 0.3, 0.5])
             for _ in range(2)]  # fmt: skip
    sets = I.histories("test", found[0], I.possible_in(found), 3, 1000)
    for m in found:
        P, r = m.matrix, m.mean_reward[:, 0]
        expected = m.outcomes.start @ (r + 0.7 * P @ r + 0.49 * P @ P @ r)
        assert I.coefficients(sets, m).sum() == pytest.approx(expected, abs=1e-12)


def test_shared_transitions_of_two_or_three_models():
    """Equal matrices are shared, whoever owns them; one model that differs is enough. Rewards do not matter."""
    rng = np.random.default_rng(5)
    P, Q = rng.dirichlet(np.ones(S), (2, S, A))
    one, same, other = (TabularMDP.from_dense(p, rng.normal(size=(S, A)), 0.9) for p in (P, P, Q))
    rows = TabularMDP(one.outcomes, other.prob, 0.9)  # the outcomes of one, the probabilities of the other
    turned = TabularMDP(one.outcomes.with_rewards(one.reward + 1.0), one.prob, 0.9)
    for models, shared in (
        ((one,), True), ((one, same), True), ((one, same, other), False), ((one, other, same), False),
        ((other, one, same), False), ((one, rows), False), ((rows, one), False), ((one, turned), True),
        ((one, same, turned), True), ((rows, other), True), ((one, one, rows), False), ((rows, one, one), False),
    ):  # fmt: skip
        assert I.share_transitions(models) is shared
    swapped = TabularMDP(one.outcomes.flat(), one.prob[::-1], 0.9)
    assert not I.share_transitions((one, swapped))


def test_possible_in_one_of_the_models():
    P = np.array([[[1.0, 0.0]], [[0.0, 1.0]]]), np.array([[[0.5, 0.5]], [[0.0, 1.0]]])
    found = [TabularMDP.from_dense(p, np.zeros((2, 1)), 0.9) for p in P]
    assert I.possible_in(found).tolist() == I.possible_in(found[::-1]).tolist() == [[True, True], [False, True]]
    assert I.possible_in(found[:1]).tolist() == [[True, False], [False, True]]


def test_the_size_of_a_tree_that_is_refused():
    """Not even the roots fit; ten times as many with every step, up to 1e300; one more than `nodes` after long."""
    found = models()
    with pytest.raises(InvalidArgument, match=r"got 1\. Raise 'nodes'\."):
        I.histories("Solver", found[0], I.possible_in(found), 5, 1)
    wide = TabularMDP.from_dense(np.ones((1, 10, 1)), np.zeros((1, 10)), 0.9)
    with pytest.raises(InvalidArgument, match=r"at least 1\.111111e\+300 for .*got 1000\. Lower 'horizon' \(3 would"):
        I.histories("Solver", wide, np.ones((10, 1), bool), 10**6, 1000)
    line = TabularMDP.from_dense([[[1.0]]], [[0.0]], 0.9)
    with pytest.raises(InvalidArgument, match=r"at least 1501 for .*got 1500\. Lower 'horizon' \(1500 would fit"):
        I.histories("Solver", line, np.ones((1, 1), bool), 2000, 1500)


def test_the_strategy_of_a_plan_by_hand():
    """Rounding below zero is nothing; a row without a plan is taken from elsewhere."""
    x = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.2, -1e-17, 0.3], [-1e-17, 0.0, -1e-20]])
    other = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.25, 0.25], [0.0, 0.9, 0.1]])
    expected = [[0.25, 0.75, 0.0], [0.3, 0.3, 0.4], [0.4, 0.0, 0.6], [0.0, 0.9, 0.1]]
    np.testing.assert_allclose(I.strategy_of(x, other), expected, rtol=1e-15)
