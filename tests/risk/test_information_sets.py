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
