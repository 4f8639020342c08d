"""Which problems end under every policy, and how long their episodes may last, beside enumerations."""

from itertools import product

import numpy as np
import pytest
from episodes import END, dense, endless, longest_lengths, policies, proper, value_of

from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solvers.proper import (
    Rows,
    endless_choice,
    endless_state_of,
    endless_state_under,
    longest_choices,
    longest_episode,
    longest_episodes,
    longest_path,
    must_be_proper,
    value_scale,
)


def sparse_problem(seed, S=5, A=2):
    """Rows of one or two outcomes; the last state is an end."""
    rng = np.random.default_rng(seed)
    P = np.zeros((S, A, S))
    for s, a in product(range(S), range(A)):
        np.add.at(P[s, a], np.minimum(rng.integers(0, S + 2, 2), S - 1), 0.5)
    return TabularMDP.from_dense(P, np.zeros(S), 1.0, terminal=[S - 1])


def never_ends(mdp, pi):
    """The states from which a deterministic policy cannot reach an end, by powers of its matrix."""
    P, _ = dense(mdp)
    S = len(P)
    step = P[np.arange(S), pi] + np.diag(mdp.outcomes.terminal.astype(float))
    return (
        np.linalg.matrix_power((step > 0.0).astype(float) + np.eye(S), S)[:, mdp.outcomes.terminal].sum(axis=1) == 0.0
    )


@pytest.mark.parametrize("seed", range(40))
def test_endless_states_are_those_that_some_policy_keeps(seed):
    mdp = sparse_problem(seed)
    kept = np.any([never_ends(mdp, pi) for pi in policies(5)], axis=0)
    assert endless_state_of(mdp) == (int(kept.argmax()) if kept.any() else None)
    for pi in policies(5):
        lost = never_ends(mdp, pi)
        assert endless_state_under(mdp, np.eye(2)[pi]) == (int(lost.argmax()) if lost.any() else None)
    P, _ = dense(mdp)
    reach = np.linalg.matrix_power((P.sum(axis=1) > 0.0) + np.eye(5), 5)[:, -1] > 0.0
    both = ~reach
    assert endless_state_under(mdp, np.full((5, 2), 0.5)) == (int(both.argmax()) if both.any() else None)


def test_there_are_problems_of_both_kinds():
    found = [endless_state_of(sparse_problem(seed)) for seed in range(40)]
    assert 5 < sum(f is None for f in found) < 35
    assert len(set(found)) >= 3


@pytest.mark.parametrize("seed", range(20))
def test_longest_episodes_are_the_enumerated_ones(seed):
    mdp = proper(seed)
    np.testing.assert_allclose(longest_episodes(mdp), longest_lengths(dense(mdp)[0]), rtol=1e-11)
    assert longest_episode(mdp) == value_scale(mdp) == longest_episodes(mdp).max()
    assert value_scale(TabularMDP.from_dense([[[1.0]]], [[1.0]], 0.75)) == 4.0


@pytest.mark.parametrize("seed", range(5))
def test_longest_choices_are_the_enumerated_ones(seed):
    """Three rows for each pair: every policy with every choice of a row in each state."""
    P = np.array([dense(proper(seed + 10 * j))[0] for j in range(3)])
    succ, group = np.broadcast_to(np.arange(4), (4, 2, 4)), np.arange(8).reshape(4, 2)
    found = longest_choices(Rows(succ, group, P.reshape(3, 8, 4)), np.arange(4) == END)
    live, s = np.arange(4) != END, np.arange(4)
    lengths = [
        np.linalg.solve(np.eye(4) - P[np.array((*j, 0)), s, pi], live.astype(float))
        for j in product(range(3), repeat=3)
        for pi in policies(4)
    ]
    np.testing.assert_allclose(found, np.max(lengths, axis=0), rtol=1e-11)


def test_a_choice_of_rows_may_be_endless_where_no_row_is():
    """One scenario goes from 0 to 1 and ends there; the other goes from 1 to 0 and ends there."""
    one = np.array([[[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]]])
    two = np.array([[[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]]])
    succ, group = np.broadcast_to(np.arange(3), (3, 1, 3)), np.arange(3)[:, None]
    ended = np.arange(3) == 2
    assert endless_choice(Rows(succ, group, one.reshape(1, 3, 3)), ended) is None
    assert endless_choice(Rows(succ, group, two.reshape(1, 3, 3)), ended) is None
    assert endless_choice(Rows(succ, group, np.array([one, two]).reshape(2, 3, 3)), ended) == 0


def test_the_longest_path():
    P = np.zeros((5, 2, 5))
    P[0, 0, [1, 2]], P[0, 1, 3] = 0.5, 1.0
    P[1, :, 2] = P[2, :, [3, 4]] = 1.0
    P[2] /= P[2].sum(axis=1, keepdims=True)
    P[3, :, 4] = P[4, :, 4] = 1.0
    line = TabularMDP.from_dense(P, np.zeros(5), 1.0, terminal=[4])
    assert longest_path(line) == 4  # 0, 1, 2, 3, the end
    P[3, 1] = [0.1, 0.0, 0.0, 0.0, 0.9]
    assert longest_path(TabularMDP.from_dense(P, np.zeros(5), 1.0, terminal=[4])) is None
    assert longest_path(TabularMDP.from_dense([[[1.0]]], [[0.0]], 1.0, terminal=[0])) == 0


def test_what_need_not_end_is_refused_with_the_state():
    must_be_proper("me", "belief", proper())
    must_be_proper("me", "belief", TabularMDP.from_dense([[[1.0]]], [[1.0]], 0.9))
    with pytest.raises(InvalidArgument) as caught:
        must_be_proper("me", "belief", endless(), "Or not.")
    assert str(caught.value) == (
        "me: 'belief' must be one whose episodes end under every policy, as the discount is 1, "
        "got 'one that need not end from state 1'. Or not."
    )


def test_ends_that_are_lost_in_rounding():
    rare = TabularMDP.from_dense([[[1.0, 1e-19]], [[0.0, 1.0]]], [[-1.0], [0.0]], gamma=1.0, terminal=[1])
    with pytest.raises(InvalidArgument, match="ends have probabilities above 1e-16"):
        longest_episode(rare)
    slow = TabularMDP.from_dense([[[1.0 - 1e-10, 1e-10]], [[0.0, 1.0]]], [[-1.0], [0.0]], gamma=1.0, terminal=[1])
    assert longest_episode(slow) == pytest.approx(1e10, rel=1e-5)
    with pytest.raises(InvalidArgument, match=r"at most 1e\+09 steps, got 'longer ones from state 0'"):
        longest_choices(Rows(slow.succ, slow.group, slow.prob[None]), slow.outcomes.terminal)


def test_the_helpers_own_values():
    P, r = dense(proper(3))
    pi = np.array([1, 0, 1, 0])
    V = value_of(P, r, pi)
    np.testing.assert_allclose(V[:3], [r[s, pi[s]] + P[s, pi[s]] @ V for s in range(3)])
