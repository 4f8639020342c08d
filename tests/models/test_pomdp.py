"""Known POMDPs as arrays: what they hold, what they refuse, and rewards that are seen."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import sparse

from bayesrl.errors import BayesRLError, InvalidArgument
from bayesrl.models import ObservationOutcomes, TabularMDP, TabularPOMDP


def random_arrays(seed, S=3, A=2, Z=2, zeros=True):
    """Rows with some zeros, and rewards that depend on everything."""
    rng = default_rng(seed)
    P, seen = rng.dirichlet(np.ones(S), (S, A)), rng.dirichlet(np.ones(Z), (S, A))
    if zeros:
        P[0, 0], seen[1, 1] = np.eye(S)[1], np.eye(Z)[0]
    return P, seen, rng.normal(size=(S, A, S, Z)).round(1)


@pytest.mark.parametrize("depends", [2, 3, 4])
def test_arrays_come_back(depends):
    """P and O as given, r(s, a) as the sum over what may happen, and R in the smallest shape that holds it."""
    P, seen, R = random_arrays(0)
    R = R[(slice(None),) * depends + (0,) * (4 - depends)]
    full = np.broadcast_to(R.reshape(R.shape + (1,) * (4 - depends)), (3, 2, 3, 2))
    for given in (R, full):
        pomdp = TabularPOMDP.from_dense(P, seen, given, gamma=0.9, start=[0.2, 0.3, 0.5])
        mine = pomdp.dense()
        np.testing.assert_allclose(mine[0], P)
        np.testing.assert_allclose(mine[1], seen)
        np.testing.assert_allclose(mine[2], np.einsum("say,yao,sayo->sa", P, seen, full))
        np.testing.assert_allclose(pomdp.mdp.mean_reward, mine[2])
        assert pomdp.rewards.shape == R.shape
        assert pomdp.reward(2, 1, 0, 1) == full[2, 1, 0, 1]
        np.testing.assert_array_equal(pomdp.start, [0.2, 0.3, 0.5])
    assert (pomdp.n_states, pomdp.n_actions, pomdp.n_observations, pomdp.gamma) == (3, 2, 2, 0.9)


def test_sparse_transitions():
    """The same model as from arrays, from a matrix for each action and from one with rows s*A + a."""
    P, seen, R = random_arrays(4, S=4, A=3)
    for rewards in (R[:, :, 0, 0], R[..., 0], R):
        dense = TabularPOMDP.from_dense(P, seen, rewards, 0.9, 2, [3])
        each = [sparse.csr_array(P[:, a]) for a in range(3)]
        assert TabularPOMDP.from_sparse(each, seen, rewards, 0.9, 2, [3]) == dense
        assert TabularPOMDP.from_sparse(sparse.csr_array(P.reshape(12, 4)), seen, rewards, 0.9, 2, [3]) == dense
    with pytest.raises(InvalidArgument, match="'O' must be of shape"):
        TabularPOMDP.from_sparse(each, seen[:3], R, 0.9)
    with pytest.raises(InvalidArgument, match="'P' must be"):
        TabularPOMDP.from_sparse(P, seen, R, 0.9)
    with pytest.raises(InvalidArgument, match="rows that sum to 1"):
        TabularPOMDP.from_sparse([2 * M for M in each], seen, R, 0.9)


def test_ends_pay_nothing_and_are_not_started_in():
    P, seen, R = random_arrays(1)
    pomdp = TabularPOMDP.from_dense(P, seen, R, gamma=1.0, terminal=[1])
    np.testing.assert_array_equal(pomdp.start, [0.5, 0.0, 0.5])
    np.testing.assert_allclose(pomdp.dense()[0][1], np.eye(3)[[1, 1]])
    np.testing.assert_array_equal(pomdp.mean_reward[1], 0.0)
    assert pomdp.reward(1, 0, 1, 0) == 0.0
    np.testing.assert_array_equal(pomdp.terminal, [False, True, False])


def test_tied_rows():
    """One distribution for two states, whose observations mean opposite things."""
    mdp = TabularMDP.from_dense(np.eye(2)[:, None], np.zeros((2, 1)), gamma=0.9)
    observed = ObservationOutcomes([[[0, 1]], [[1, 0]]], [[0], [0]], [2], 2)
    pomdp = TabularPOMDP(mdp, observed, [[0.85, 0.15]], np.zeros((2, 1)))
    np.testing.assert_allclose(pomdp.dense()[1], [[[0.85, 0.15]], [[0.15, 0.85]]])


def histories(pomdp, actions, read):
    """The probability of everything seen under a sequence of actions: sums over hidden paths; `read` names a sight."""
    P, seen, _ = pomdp.dense()
    found = {}

    def follow(s, p, story):
        if len(story) == len(actions):
            found[story] = found.get(story, 0.0) + p
            return
        a = actions[len(story)]
        for y, o in zip(*np.nonzero(P[s, a, :, None] * seen[:, a]), strict=True):  # other paths are impossible
            sight = None if pomdp.terminal[s] else read(s, a, y, o)  # nothing comes after the end
            follow(y, p * P[s, a, y] * seen[y, a, o], (*story, sight))

    for first in np.flatnonzero(pomdp.start):
        follow(first, pomdp.start[first], ())
    return found


@pytest.mark.parametrize("terminal", [(), (2,)])
def test_rewards_that_are_seen(terminal):
    """The law of (observation, reward) pairs is that of the original problem, for every sequence of three actions."""
    P, seen, R = random_arrays(2)
    R[:, 0] = R[:1, :1, 0, 0].round()  # some rewards that tell nothing
    pomdp = TabularPOMDP.from_dense(P, seen, R, gamma=0.9, start=[0.6, 0.4, 0.0], terminal=terminal)
    shown = pomdp.showing_rewards()
    pairs = sorted({(o, float(r)) for o in range(2) for r in [0.0, *np.unique(R[..., o])]})
    alike = [
        (o, r) for o, r in pairs
        if r == 0.0 or any(pomdp.reward(s, a, y, o) == r and P[s, a, y] > 0 for s, a, y in np.ndindex(3, 2, 3))
    ]  # fmt: skip
    for actions in [(0, 1), (1, 1), (1, 0)]:
        theirs = histories(pomdp, actions, lambda s, a, y, o: (o, pomdp.reward(s, a, y, o)))
        mine = histories(shown, actions, lambda s, a, y, z: (alike[z][0], alike[z][1]))
        assert mine.keys() == theirs.keys()
        for story, p in theirs.items():
            assert mine[story] == pytest.approx(p, abs=1e-12), story


def test_rewards_that_are_seen_are_paid():
    P, seen, R = random_arrays(3)
    pomdp = TabularPOMDP.from_dense(P, seen, R, gamma=0.9, start=0)
    shown = pomdp.showing_rewards()
    now, later = pomdp.start, shown.start
    for a in (0, 1, 1, 0):
        assert now @ pomdp.mean_reward[:, a] == pytest.approx(later @ shown.mean_reward[:, a])
        now, later = now @ pomdp.dense()[0][:, a], later @ shown.dense()[0][:, a]


BAD = {
    "P does not sum to one": ("P", lambda P, O, R: (P * 0.9, O, R, {})),
    "P has NaN": ("P", lambda P, O, R: (P * np.nan, O, R, {})),
    "P is negative": ("P", lambda P, O, R: (-P, O, R, {})),
    "P is not square": ("P", lambda P, O, R: (P[:, :, :2], O, R, {})),
    "O does not sum to one": ("O", lambda P, O, R: (P, O * 1.1, R, {})),
    "O has infinity": ("O", lambda P, O, R: (P, O + np.inf, R, {})),
    "O of other states": ("O", lambda P, O, R: (P, O[:2], R, {})),
    "O of two axes": ("O", lambda P, O, R: (P, O[0], R, {})),
    "R of another shape": ("R", lambda P, O, R: (P, O, R[0], {})),
    "R has NaN": ("R", lambda P, O, R: (P, O, R * np.nan, {})),
    "gamma above one": ("gamma", lambda P, O, R: (P, O, R, {"gamma": 1.1})),
    "start is no distribution": ("start", lambda P, O, R: (P, O, R, {"start": [0.5, 0.1, 0.1]})),
    "start is no state": ("start", lambda P, O, R: (P, O, R, {"start": 3})),
    "terminal is no state": ("terminal", lambda P, O, R: (P, O, R, {"terminal": [3]})),
    "terminal is no list": ("terminal", lambda P, O, R: (P, O, R, {"terminal": 1})),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arrays(case):
    name, spoil = BAD[case]
    P, seen, R, more = spoil(*random_arrays(4))
    with pytest.raises(InvalidArgument, match=f"'{name}'"):
        TabularPOMDP.from_dense(P, seen, R, **({"gamma": 0.9} | more))


def test_bad_parts():
    mdp = TabularMDP.from_dense(np.eye(2)[:, None], np.zeros((2, 1)), gamma=0.9)
    observed = ObservationOutcomes([[[0, 1]], [[1, 0]]], [[0], [0]], [2], 2)
    zero = np.zeros((2, 1))
    for parts, name in (
        ((None, observed, [[0.5, 0.5]], zero), "mdp"),
        ((mdp, None, [[0.5, 0.5]], zero), "observed"),
        ((mdp, ObservationOutcomes([[[0]]], [[0]], [1], 1), [[1.0]], zero), "observed"),
        ((mdp, observed, [[0.5, 0.6]], zero), "observation_prob"),
        ((mdp, observed, [[0.5, 0.5]], np.zeros(2)), "R"),
    ):
        with pytest.raises(InvalidArgument, match=f"'{name}'"):
            TabularPOMDP(*parts)
    for parts in (
        ([[[0, 2]]], [[0]], [2], 2), ([[[0, -1]]], [[0]], [2], 2), ([[[0]]], [[1]], [1], 1), ([[[0]]], [[0]], [0], 1),
        ([[0]], [[0]], [1], 1), ([[[0]]], [[0]], [1], 0), ([[[0]]], [[0]], [2], 1),
    ):  # fmt: skip
        with pytest.raises(BayesRLError):
            ObservationOutcomes(*parts)
    with pytest.raises(InvalidArgument, match="padding"):
        TabularPOMDP(
            mdp, ObservationOutcomes([[[0, 1]], [[1, 0]]], [[0], [1]], [2, 1], 2), [[0.5, 0.5], [0.5, 0.5]], zero
        )
