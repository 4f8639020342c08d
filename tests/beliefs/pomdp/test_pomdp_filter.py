"""The exact filter against sums over all hidden paths, and its errors."""

import itertools
import pickle

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import POMDPFilter
from bayesrl.capabilities import HasMeanPOMDP, Restarts, SamplesPOMDPs, offers
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes, TabularPOMDP


def random_pomdp(rng, S=4, A=2, Z=3, ends=0, zeros=0.3):
    """A random POMDP, some of whose probabilities are zero; the last `ends` states are terminal."""

    def rows(*shape):
        x = rng.gamma(0.7, size=shape) * (rng.random(shape) > zeros)
        x[..., 0] += (x.sum(axis=-1) == 0.0) * 1.0
        return x / x.sum(axis=-1, keepdims=True)

    start = rows(S) * np.r_[np.ones(S - ends), np.zeros(ends)] if ends else rows(S)
    start = start / start.sum() if start.sum() > 0 else np.eye(S)[0]
    R = rng.normal(size=(S, A, S, Z))
    return TabularPOMDP.from_dense(rows(S, A, S), rows(S, A, Z), R, 0.9, start, list(range(S - ends, S)))


def tied_pomdp():
    """One group of moves for all pairs and one of observations for all states; two outcomes lead to one state."""
    succ = np.array([[[(s + d) % 3 for d in (0, 1, 0)] for _ in range(2)] for s in range(3)])
    group = np.zeros((3, 2), int)
    outcomes = Outcomes(succ, np.zeros((3, 2, 3)), group, [3], np.zeros(1), [0.2, 0.3, 0.5], [False] * 3)
    observation = np.array([[[s % 2, (s + a) % 2, 1] for a in range(2)] for s in range(3)])
    mdp = TabularMDP(outcomes, np.array([[0.5, 0.3, 0.2]]), 0.9)
    return TabularPOMDP(
        mdp, ObservationOutcomes(observation, group, [3], 2), np.array([[0.6, 0.3, 0.1]]), np.zeros((3, 2))
    )


def path_sums(pomdp, steps):
    """P(history, state now) by the sum over all hidden paths, (S,)."""
    P, O, _ = pomdp.dense()
    joint = np.zeros(pomdp.n_states)
    for path in itertools.product(range(pomdp.n_states), repeat=len(steps) + 1):
        p = pomdp.start[path[0]]
        for (a, o, ended), s, y in zip(steps, path, path[1:], strict=False):
            p *= P[s, a, y] * O[y, a, o] * (pomdp.terminal[y] == ended)
        joint[path[-1]] += p
    return joint


POMDPS = {"tied": tied_pomdp()}
for i in range(6):
    POMDPS[f"random {i}"] = random_pomdp(default_rng(i), ends=i % 3)


@pytest.mark.parametrize("name", POMDPS)
def test_equals_the_sum_over_hidden_paths(name):
    """Every history of up to three steps: states, evidence and predictive, and which histories are impossible."""
    pomdp = POMDPS[name]
    A, Z = pomdp.n_actions, pomdp.n_observations
    P, O, _ = pomdp.dense()
    possible = 0
    level = [((), POMDPFilter(pomdp))]
    for _ in range(3):
        longer = []
        for steps, belief in level:
            for a, o, ended in itertools.product(range(A), range(Z), (False, True)):
                new = (*steps, (a, o, ended))
                joint = path_sums(pomdp, new)
                datum = b.Transition(-1, a, 0.0, o, ended)
                if joint.sum() == 0.0:
                    with pytest.raises(ImpossibleEvidence, match=f"observation {o} after action {a}"):
                        belief.update(datum)
                    continue
                after = belief.update(datum)
                np.testing.assert_allclose(after.states(), joint / joint.sum(), atol=1e-10)
                np.testing.assert_allclose(after.log_evidence(), np.log(joint.sum()), atol=1e-10)
                expected = np.einsum("s,sy,yo->o", joint / joint.sum(), P[:, a], O[:, a])
                np.testing.assert_allclose(after.predictive(a), expected, atol=1e-10)
                longer.append((new, after))
                possible += 1
        rng = default_rng(len(longer))
        level = [longer[i] for i in rng.permutation(len(longer))[:5]]
    assert possible > 20


def test_evidence_of_all_histories_sums_to_one():
    pomdp = random_pomdp(default_rng(9), S=3, ends=1)
    total = 0.0
    for o in range(3):
        for ended in (False, True):
            try:
                total += np.exp(POMDPFilter(pomdp).update(b.Transition(-1, 1, 0.0, o, ended)).log_evidence())
            except ImpossibleEvidence:
                continue
    assert total == pytest.approx(1.0, abs=1e-12)


def test_restart_forgets_the_state_and_keeps_the_evidence():
    belief = POMDPFilter(random_pomdp(default_rng(3), zeros=0.0))
    after = belief.update(b.Transition(-1, 0, 0.0, 1))
    again = after.restart()
    np.testing.assert_array_equal(again.states(), belief.states())
    assert again.log_evidence() == after.log_evidence() != 0.0
    log = [b.Transition(-1, 0, 0.0, 1, truncated=True), b.Transition(-1, 1, 0.0, 2), b.Transition(0, 0, 0.0, 0)]
    many = belief.update_many(log)
    one_by_one = again.update(log[1]).update(log[2])
    assert many == one_by_one
    columns = {name: [getattr(step, name) for step in log] for name in ("action", "next_observation", "truncated")}
    assert belief.update_many(columns) == many


def test_models_start_where_the_belief_is():
    belief = POMDPFilter(random_pomdp(default_rng(4), zeros=0.0)).update(b.Transition(-1, 0, 0.0, 1))
    mean = belief.mean_pomdp()
    np.testing.assert_array_equal(mean.start, belief.states())
    for x, y in zip(mean.dense(), belief.pomdp.dense(), strict=True):
        np.testing.assert_array_equal(x, y)
    assert not np.array_equal(belief.pomdp.start, mean.start), "the belief's own model must not change"
    rng = default_rng(0)
    drawn = np.mean([belief.sample_pomdp(rng).start for _ in range(4000)], axis=0)
    np.testing.assert_allclose(drawn, belief.states(), atol=0.05)  # six standard errors
    assert set(belief.sample_pomdp(rng).start) == {0.0, 1.0}
    assert pickle.loads(pickle.dumps(belief)) == belief


def test_rewards_of_possible_steps():
    """Rewards of what cannot happen do not count."""
    P, O = [[[1.0, 0.0]], [[0.0, 1.0]]], [[[1.0, 0.0]], [[1.0, 0.0]]]
    R = np.full((2, 1, 2, 2), 99.0)
    R[0, 0, 0, 0], R[1, 0, 1, 0] = 1.0, 3.0
    assert POMDPFilter(TabularPOMDP.from_dense(P, O, R, 0.9)).reward_range() == (1.0, 3.0)
    assert POMDPFilter(TabularPOMDP.from_dense(P, O, R, 0.9, 0, [1])).reward_range() == (0.0, 1.0)
    assert POMDPFilter(TabularPOMDP.from_dense(P, O, [[4.0], [5.0]], 0.9)).reward_range() == (4.0, 5.0)


def test_what_it_offers():
    belief = POMDPFilter(random_pomdp(default_rng(5)))
    for capability in (HasMeanPOMDP, SamplesPOMDPs, Restarts):
        assert offers(belief, capability)
    for name in ("psrl", "exploit", "bamcp"):
        with pytest.raises(Incompatible):
            b.BayesAgent(belief, b.make(name))


@pytest.mark.parametrize("field", ["action", "next_observation"])
@pytest.mark.parametrize("bad", [-1, 3, 0.5, None, "x", np.nan])
def test_bad_steps_are_refused(field, bad):
    belief = POMDPFilter(random_pomdp(default_rng(6), A=3))
    before = pickle.dumps(belief)
    with pytest.raises(InvalidArgument, match=f"POMDPFilter.update: '{field}' must be a whole number"):
        belief.update(b.Transition(0, 0, 0.0, 0)._replace(**{field: bad}))
    assert belief == pickle.loads(before)


def test_bad_arguments_are_refused():
    with pytest.raises(InvalidArgument, match="POMDPFilter: 'pomdp' must be a TabularPOMDP, got 3"):
        POMDPFilter(3)
    belief = POMDPFilter(random_pomdp(default_rng(6)))
    with pytest.raises(InvalidArgument, match="'action' must be a whole number of at least 0 and at most 1, got 2"):
        belief.predictive(2)
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        belief.sample_pomdp(None)
    with pytest.raises(InvalidArgument, match="'terminated' must be True or False"):
        belief.update(b.Transition(0, 0, 0.0, 0, "yes"))


def test_the_end_of_an_episode_is_evidence():
    """State 1 ends the episode; the reasons say what would have been possible."""
    P, O = [[[0.5, 0.5]], [[0.0, 1.0]]], [[[0.5, 0.5]], [[1.0, 0.0]]]
    belief = POMDPFilter(TabularPOMDP.from_dense(P, O, [[0.0], [0.0]], 0.9, 0, [1]))
    going = belief.update(b.Transition(-1, 0, 0.0, 0))
    assert going.states().tolist() == [1.0, 0.0]
    assert going.log_evidence() == pytest.approx(np.log(0.25))
    ended = belief.update(b.Transition(-1, 0, 0.0, 0, True))
    assert ended.states().tolist() == [0.0, 1.0]
    assert ended.log_evidence() == pytest.approx(np.log(0.5))
    with pytest.raises(ImpossibleEvidence, match="it is possible only if the episode goes on"):
        belief.update(b.Transition(-1, 0, 0.0, 1, True))
    with pytest.raises(ImpossibleEvidence, match=r"the episode has ended; restart\(\) begins the next one"):
        ended.update(b.Transition(-1, 0, 0.0, 0))
    assert belief.update(b.Transition(-1, 0, 0.0, 0, truncated=True)).states().tolist() == [1.0, 0.0]
