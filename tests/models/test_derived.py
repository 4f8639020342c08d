"""The law of derived models: what is made from a model keeps the rest of it, and answers as one made from its fields.

Models keep what they computed (cached properties). Each is read before another model is derived from it, so that an
answer that is taken over would be seen.
"""

import dataclasses
from functools import cached_property

import numpy as np
import pytest
from known_pomdps import tiger

from bayesrl.checks import frozen
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.models.pomdp_solvers.pbvi import PBVI

RNG = np.random.default_rng(0)


def outcomes(terminal=(3,), end=3, flat=False):
    """Five states; all rewards differ, one successor is not listed, and the start is uneven."""
    prob = RNG.dirichlet(np.ones(5), (5, 2))
    if not flat:
        prob[:, :, 2] = 0.0
    given = TabularMDP.from_dense(
        prob / prob.sum(axis=2, keepdims=True), RNG.normal(size=(5, 2, 5)), 0.9, [0.5, 0.25, 0.25, 0.0, 0.0], terminal
    ).outcomes
    return dataclasses.replace(given, end=end)


def mdp():
    o = outcomes()
    prob = np.where(o.valid, 1.0, 0.0)
    return TabularMDP(o, prob / prob.sum(axis=1, keepdims=True), 0.9)


def pomdp(rewards):
    S, A, Z = 3, 2, 2
    shape = (S, A, S, Z)[:rewards]
    return TabularPOMDP.from_dense(
        RNG.dirichlet(np.ones(S), (S, A)), RNG.dirichlet(np.ones(Z), (S, A)), RNG.normal(size=shape), 0.9, terminal=[2]
    )


DERIVED = {
    "other rewards": (outcomes, lambda o: o.with_rewards(frozen(2.0 * o.reward)), {"reward"}),
    "flat outcomes": (outcomes, lambda o: o.flat(), {"succ", "reward", "group", "size"}),
    "flat outcomes without an end": (
        lambda: outcomes((), None), lambda o: o.flat(), {"succ", "reward", "group", "size"}
    ),
    "flat outcomes of flat ones": (lambda: outcomes().flat(), lambda o: o.flat(), set()),
    "other rewards of flat ones": (
        lambda: outcomes((), None, True), lambda o: o.with_rewards(frozen(o.reward - 3.0)), {"reward"}
    ),
    "another discount": (mdp, lambda m: TabularMDP.unchecked(m.outcomes, m.prob, 0.5), {"gamma"}),
    "other probabilities": (mdp, lambda m: TabularMDP.unchecked(m.outcomes, m.prob[:, ::-1], m.gamma), {"prob"}),
}  # fmt: skip
DERIVED |= {
    f"another start, rewards of {n} axes": (
        lambda n=n: pomdp(n), lambda p: p.starting(np.array([0.1, 0.9, 0.0])), {"mdp"}
    )
    for n in (2, 3, 4)
}  # fmt: skip


def kept(thing):
    """All that a thing computes once, by name."""
    names = [name for name, x in vars(type(thing)).items() if isinstance(x, cached_property)]
    return {name: getattr(thing, name) for name in names}


def check_same(one, two, what):
    if isinstance(one, tuple):
        assert len(one) == len(two)
        for x, y in zip(one, two, strict=True):
            check_same(x, y, what)
    else:
        np.testing.assert_array_equal(one, two, err_msg=what)


@pytest.mark.parametrize("name", DERIVED)
def test_what_is_derived_keeps_the_rest_and_answers_as_made_anew(name):
    make, derive, changed = DERIVED[name]
    whole = make()
    kept(whole)
    new = derive(whole)
    fields = {field.name: getattr(new, field.name) for field in dataclasses.fields(new)}
    for field, x in fields.items():
        if field not in changed:
            same = x == getattr(whole, field)
            assert np.all(same), field
    anew = type(new)(**fields)
    if not (isinstance(new, Outcomes) and new.made_flat):  # whose lists are told apart otherwise
        for what, x in kept(new).items():
            check_same(x, getattr(anew, what), what)
    if isinstance(new, TabularPOMDP):
        for what, x in kept(new.mdp).items():
            check_same(x, getattr(anew.mdp, what), what)
        check_same(new.start, np.array([0.1, 0.9, 0.0]), "start")
        assert not np.array_equal(whole.start, new.start)
    if isinstance(new, Outcomes):
        for s, a, k in np.ndindex(*new.succ.shape):
            assert new.reward_of(s, a, k) == anew.reward_of(s, a, k)
        assert (new.reward_range, new.largest_reward) == (anew.reward_range, anew.largest_reward)


def test_a_solution_with_other_vectors_answers_as_one_made_anew():
    solution = PBVI(size=10).solve(tiger())
    b = np.array([[0.5, 0.5], [0.9, 0.1], [0.02, 0.98]])
    solution.q(b), solution.action(b[0]), solution.error_bound
    for change in ({"vectors": 2.0 * solution.vectors}, {"later": 0.5 * solution.vectors}, {"proved": 0.25}):
        new = dataclasses.replace(solution, **change)
        fields = {field.name: getattr(new, field.name) for field in dataclasses.fields(new)}
        anew = type(solution)(**fields)
        np.testing.assert_array_equal(new.q(b), anew.q(b))
        np.testing.assert_array_equal(new.value(b), anew.value(b))
        assert [new.action(x) for x in b] == [anew.action(x) for x in b]
        assert new.error_bound == anew.error_bound
    assert not np.array_equal(dataclasses.replace(solution, later=0.5 * solution.vectors).q(b), solution.q(b))


@pytest.mark.parametrize("seed", range(6))
def test_rewards_of_transitions_equal_loops(seed):
    """Of several rewards of one transition the last one counts; what is not listed pays by the rule, ends nothing."""
    rng = np.random.default_rng(seed)
    S, A, K = 4, 2, 3
    succ, reward = rng.integers(S, size=(S, A, K)), rng.normal(size=(S, A, K))
    group, size = rng.permutation(S * A).reshape(S, A), rng.integers(1, K + 1, S * A)
    otherwise = rng.normal(size=((1, 1, 1), (S, 1, 1), (S, A, 1), (1, 1, S), (S, A, S), (1, A, 1))[seed])
    terminal = np.arange(S) == (3 if seed % 2 else -1)
    o = Outcomes(succ, reward, group, size, otherwise, np.eye(S)[0], terminal)
    R = np.array(np.broadcast_to(otherwise, (S, A, S)))
    for s, a, k in np.ndindex(S, A, K):
        if k < size[group[s, a]]:
            R[s, a, succ[s, a, k]] = reward[s, a, k]
    R[terminal] = 0.0
    np.testing.assert_array_equal(o.rewards(), R)
    flat = o.flat()
    np.testing.assert_array_equal(flat.rewards(), R)
    for s, a, y in np.ndindex(S, A, S):
        assert flat.reward_of(s, a, y) == R[s, a, y]
