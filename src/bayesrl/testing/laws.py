"""The laws that every belief, planner, agent and world must obey. Tests apply them to everything registered.

Each check raises AssertionError with a sentence. Random checks take a generator and have a stated false-alarm rate: a
correct object fails `check_belief` with probability at most `FALSE_ALARM` for each statistical law.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from copy import deepcopy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, get_type_hints

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl.capabilities import LearnsLogs, ListsActions, ListsStates, members
from bayesrl.checks import Floats
from bayesrl.core import Agent, BayesAgent, Belief, Family, Planner, Transition, World, run
from bayesrl.models.pomdp import NOTHING
from bayesrl.testing.moments import check_moments
from bayesrl.testing.probes import Probe, learned, probe_for, readings
from bayesrl.testing.statistics import assert_frequencies, assert_mean_equal, assert_uniform_ranks
from bayesrl.testing.stripped import stripped

if TYPE_CHECKING:
    from bayesrl.worlds.hidden import POMDPWorld
    from bayesrl.worlds.tabular import MDPWorld

FALSE_ALARM = 1e-6
"""Probability that a correct belief fails one statistical law."""
FEW = 3
"""Data after which the posterior expectation is compared with the prior's."""


# Beliefs -------------------------------------------------------------------------------------------------------------


def check_belief(belief: Belief[Any], probe: Probe[Any] | None = None, *, rng: Generator, exact: bool = True) -> None:
    """Purity, martingale, calibration, concentration, moments; exact beliefs also ignore the order of data, and rng.

    What a belief keeps of its answers changes none of them. A probe may declare its belief `random` (it uses rng),
    `approximate` (only purity, concentration, moments and what is kept hold) or `moving` (the truth changes with each
    datum: their order matters, and nothing concentrates).
    """
    probe = probe_for(belief) if probe is None else probe
    approximate = getattr(probe, "approximate", False)
    check_purity(belief, probe, rng=rng)
    if exact and not approximate and not getattr(probe, "random", False):
        check_exactness(belief, probe, rng=rng)
    if not approximate:
        begun = check_calibration(belief, probe, rng=rng)
        check_martingale(belief, probe, rng=rng, begun=begun)
    if not getattr(probe, "moving", False):
        check_concentration(belief, probe, rng=rng)
    if not getattr(probe, "point", False):  # an estimate without a distribution has no moments
        check_moments(belief, probe, rng=rng)
    check_kept_answers(belief, probe, rng=rng)


def _data(belief: Belief[Any], probe: Probe[Any], n: int, rng: Generator) -> tuple[Any, list[Any]]:
    theta = probe.draw(belief, rng)
    return theta, [probe.datum(belief, theta, rng) for _ in range(n)]


def check_purity(belief: Belief[Any], probe: Probe[Any], *, rng: Generator) -> None:
    """`update` does not change its belief, at any age, even if two posteriors branch from one belief."""
    _, data = _data(belief, probe, 9, rng)
    for datum in data:
        before, expected = pickle.dumps(belief), probe.expect(belief).copy()
        luck = deepcopy(rng)  # a belief that uses rng gets the same draws twice
        left, right = learned(probe, belief, datum, deepcopy(luck)), learned(probe, belief, data[0], rng)
        again = learned(probe, belief, datum, luck)
        assert pickle.dumps(belief) == before or belief == pickle.loads(before), "update changed its belief"
        assert np.array_equal(probe.expect(belief), expected), "update changed its belief's expectations"
        assert np.array_equal(probe.expect(left), probe.expect(again)), "two posteriors of one belief affect each other"
        assert pickle.loads(pickle.dumps(right)) == right, "a belief changes when it is pickled"
        belief = left


def check_kept_answers(belief: Belief[Any], probe: Probe[Any], *, rng: Generator) -> None:
    """A belief that was asked at every age answers as one that was never asked and came from a file each time.

    Other posteriors of the same ages are asked too, before and after.
    """
    _, data = _data(belief, probe, 12, rng)
    asked = silent = belief
    for datum in data:
        luck, other = deepcopy(rng), asked
        probe.expect(learned(probe, other, data[0], deepcopy(luck)))
        probe.expect(asked)
        asked = learned(probe, asked, datum, deepcopy(luck))
        silent = learned(probe, unasked(silent), datum, luck)
        probe.expect(learned(probe, other, data[-1], deepcopy(rng)))
    assert np.array_equal(probe.expect(asked), probe.expect(silent)), "what a belief keeps changes its answers"
    assert np.array_equal(probe.expect(deepcopy(asked)), probe.expect(silent)), "a copy of a belief answers differently"


def unasked(belief: Belief[Any]) -> Any:
    """The belief from a file, without what it has kept of its answers."""
    new = pickle.loads(pickle.dumps(belief))
    for name in list(getattr(new, "__dict__", ())):
        if isinstance(getattr(type(new), name, None), cached_property):
            del new.__dict__[name]
    return new


def check_exactness(belief: Belief[Any], probe: Probe[Any], *, rng: Generator) -> None:
    """An exact belief does not depend on the order of its data and never uses rng."""
    _, data = _data(belief, probe, 12, rng)
    untouched = default_rng(0)
    forward = backward = belief
    moving = getattr(probe, "moving", False)
    for a, b in zip(data, data if moving else reversed(data), strict=True):
        forward, backward = learned(probe, forward, a, untouched), learned(probe, backward, b, untouched)
    assert untouched.bit_generator.state == default_rng(0).bit_generator.state, "an exact belief used rng"
    np.testing.assert_allclose(probe.expect(forward), probe.expect(backward), rtol=1e-9, atol=1e-12)
    if isinstance(belief, LearnsLogs):
        data = [step for episode in data for step in episode] if hasattr(probe, "learn") else data
        np.testing.assert_allclose(probe.expect(belief.update_many(data)), probe.expect(forward), rtol=1e-9, atol=1e-12)


def check_martingale(
    belief: Belief[Any],
    probe: Probe[Any],
    *,
    rng: Generator,
    draws: int = 3000,
    data: int = FEW,
    begun: Sequence[Floats] = (),
) -> None:
    """The prior expectation of the posterior expectation is the prior expectation (`ahead`, if the truth moves).

    3000 draws detect a shift of about a tenth of a posterior standard deviation. Some of them may be `begun`: they are
    posterior expectations after as many data of other truths.
    """
    ahead, after = getattr(probe, "ahead", None), list(begun)
    for _ in range(draws - len(after)):
        posterior = belief
        for datum in _data(belief, probe, data, rng)[1]:
            posterior = learned(probe, posterior, datum, rng)
        after.append(probe.expect(posterior))
    expected = probe.expect(belief) if ahead is None else ahead(belief, data)
    assert_mean_equal(after, expected, false_alarm=FALSE_ALARM, what="posterior expectation")


def check_calibration(
    belief: Belief[Any], probe: Probe[Any], *, rng: Generator, replicates: int = 1200, draws: int = 19, data: int = 8
) -> list[Floats]:
    """Simulation-based calibration: the rank of a truth among draws from its posterior is uniform.

    1200 replicates over 20 ranks detect a posterior that is too wide or narrow by a fifth, or off by a third of its
    width. Returns the expectations after `FEW` data, for `check_martingale`.
    """
    ranks, after = [], []
    for _ in range(replicates):
        theta, seen = _data(belief, probe, data, rng)
        posterior = belief
        for i, datum in enumerate(seen, start=1):
            posterior = learned(probe, posterior, datum, rng)
            if i == FEW:
                after.append(probe.expect(posterior))
        x = probe.read(belief, theta)
        others = readings(probe, posterior, draws, rng)
        below, equal = (others < x).sum(axis=0), (others == x).sum(axis=0)
        ranks.append(below + (rng.random(x.shape) * (equal + 1)).astype(int))
    assert_uniform_ranks(np.array(ranks), draws + 1, false_alarm=FALSE_ALARM)
    return after


def check_concentration(
    belief: Belief[Any], probe: Probe[Any], *, rng: Generator, truths: int = 12, data: int = 400
) -> None:
    """With much data the expectation is, on average, less than half as far from the truth as the prior's.

    A probe whose data leave part of the truth open says what share `remains` instead, and one whose belief grows with
    its data how `many` it gets. The false-alarm rate is about 1e-5 for each belief. It is measured, not derived: over
    40 truths of each registered belief the error that remained was at most .22 of the prior's (.31 for beliefs over
    hyper-states, which get fewer data). The margin of a truth is half the prior's error, or the error that may remain,
    minus the error that did remain. The mean of 12 margins was at least 4.4 of its standard errors above zero.
    """
    far = near = 0.0
    data = getattr(probe, "many", data)
    for _ in range(truths):
        theta, seen = _data(belief, probe, data, rng)
        posterior = belief
        for datum in seen:
            posterior = learned(probe, posterior, datum, rng)
        x = probe.read(belief, theta)
        far += float(np.abs(probe.expect(belief) - x).sum())
        near += float(np.abs(probe.expect(posterior) - x).sum())
    share = getattr(probe, "remains", 0.5)
    assert near <= share * far, f"after {data} data the error is {near / max(far, 1e-300):.2f} of the prior's"


class BeliefOverStates(Belief[Transition], ListsStates, Protocol):
    """A belief about an MDP with listed states."""


# Planners, agents, worlds --------------------------------------------------------------------------------------------


def check_planner(
    planner: Planner[Any, Any], belief: Belief[Any], observation: Any, *, rng: Generator, box: Box | None = None
) -> None:
    """Actions are legal and depend only on the arguments and rng; the belief and the memory do not change.

    An action is a number of the belief's `n_actions`. If the belief does not list actions, it is a vector, inside the
    `box` if there is one.
    """
    before = pickle.dumps(belief)
    memory = planner.start()
    seed = int(rng.integers(2**31))
    for _ in range(3):
        kept = pickle.dumps(memory)
        one = planner.plan(belief, observation, memory, default_rng(seed), None)
        two = planner.plan(belief, observation, pickle.loads(kept), default_rng(seed), None)
        if isinstance(belief, ListsActions):
            assert isinstance(one.action, int), f"the action {one.action!r} is not an int"
            assert 0 <= one.action < belief.n_actions, f"the action {one.action} is not one of {belief.n_actions}"
        else:
            check_vector(one.action, box)
        assert np.array_equal(one.action, two.action), "the same arguments and rng gave two actions"
        assert pickle.dumps(memory) == kept, "plan changed the memory it was given"
        for key in one.info:
            np.testing.assert_array_equal(one.info[key], two.info[key])
        memory = one.memory
    assert pickle.loads(before) == belief, "plan changed the belief"


def check_cache(
    planner: Planner[Any, Any],
    belief: Belief[Any],
    observation: Any,
    memory: Any,
    *,
    seed: int = 0,
    rounding: float = 0.0,
) -> None:
    """A memory that is only a cache, from whatever belief, plans like a fresh one.

    Numbers in `info` may differ by `rounding`, relative and absolute, if the memory only says where a solver starts.
    """
    kept = planner.plan(belief, observation, memory, default_rng(seed), None)
    fresh = planner.plan(belief, observation, planner.start(), default_rng(seed), None)
    assert np.array_equal(kept.action, fresh.action), "a kept memory chose another action than a fresh one"
    assert kept.info.keys() == fresh.info.keys(), "a kept memory reports other things than a fresh one"
    for key in fresh.info:
        np.testing.assert_allclose(kept.info[key], fresh.info[key], rounding, rounding, err_msg=f"kept {key}")


class Box(Protocol):
    """Vectors between two corners."""

    @property
    def low(self) -> Floats:
        """The lower corner, (e,)."""

    @property
    def high(self) -> Floats:
        """The upper corner, (e,)."""


def check_vector(action: Any, box: Box | None) -> None:
    """An action among infinitely many is a finite vector, inside the box if there is one."""
    assert isinstance(action, np.ndarray), f"the action {action!r} is not an array"
    assert action.ndim == 1, f"the action {action!r} is not a vector"
    assert action.dtype == np.float64, f"the action {action!r} does not hold floats"
    assert np.isfinite(action).all(), f"the action {action} is not finite"
    if box is not None:
        assert action.shape == box.low.shape, f"the action {action} does not have the coordinates of the box"
        assert ((box.low <= action) & (action <= box.high)).all(), f"the action {action} is outside the box"


def check_needs(
    planner: Planner[Any, Any], prior: Belief[Transition], world: World | Family, *, steps: int = 8
) -> None:
    """`needs` names all members that a planner uses: a belief stripped to them gives the same actions.

    The type of `belief` in the signature of `plan` must not have other members.
    """
    whole = run(BayesAgent(prior, planner), world, steps, seed=3)
    bare = run(BayesAgent(stripped(prior, planner.needs), planner), world, steps, seed=3)
    np.testing.assert_array_equal(bare.action, whole.action, "a stripped belief gave other actions")
    asked = get_type_hints(type(planner).plan).get("belief", Any)
    assert asked is not Any, "the belief of plan has no type"
    named = {name for need in planner.needs for name in members(need)}
    extra = set(members(asked)) - named
    assert not extra, f"the type of plan's belief asks for {sorted(extra)}, which are not among the needs"


def check_agent(agent: Agent[Any], world: World | Family, *, steps: int = 30) -> None:
    """The same seed gives the same record, also after pickling the agent."""
    one, two = run(agent, world, steps, seed=5), run(agent, world, steps, seed=5)
    assert one == two, "the same seed gave two records"
    copy = pickle.loads(pickle.dumps(agent))
    assert run(copy, world, steps, seed=5) == one, "a pickled agent behaves differently"


def check_world(world: MDPWorld, *, rng: Generator, draws: int = 4000) -> None:
    """Rows of the table are distributions, samples follow them, and the declared optimum is the solved one."""
    from bayesrl.models.solve import optimal_total

    P, R = world.dense()
    np.testing.assert_allclose(P.sum(axis=2), 1.0, atol=1e-12)
    assert (P >= 0.0).all(), "a probability is negative"
    assert R.shape == P.shape, "a reward must be defined for every (s, a, s')"
    assert np.isfinite(R).all(), "a reward is not finite"
    s = int(rng.choice(world.n_states))
    a = int(rng.integers(world.n_actions))
    seen = np.zeros(world.n_states)
    for _ in range(draws):
        state, observation, reward, terminated = world.step(s, a, rng)
        assert terminated == world.mdp.outcomes.terminal[state], "a step ends the episode in a terminal state alone"
        assert state == observation, "a fully observed world shows its state"
        assert reward == R[s, a, state], "the reward is not the table's"
        seen[state] += 1
    assert_frequencies(seen, P[s, a], false_alarm=FALSE_ALARM)
    np.testing.assert_allclose(world.optimum(), optimal_total(world, world.steps), rtol=1e-9)


def check_hidden_world(
    world: POMDPWorld, *, rng: Generator, draws: int = 4000, pairs: int = 3, beliefs: int = 40
) -> None:
    """Rows are distributions; starts, next states and observations follow them; steps pay and end as the table says.

    A correct world fails with probability at most `FALSE_ALARM` for the start and for each of `pairs` pairs (s, a). A
    step draws two random numbers. The bracket of the optimal value holds for a policy solved on that many `beliefs`,
    and for the fast informed bound.
    """
    from bayesrl.models.pomdp_solvers.bounds import bracket

    pomdp, (low, high) = world.pomdp, world.value
    for table in (pomdp.mdp.prob, pomdp.observation_prob, pomdp.start[None]):
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-9)
    assert low <= high, "the bracket of the value is empty"
    solved, bound = bracket(pomdp, beliefs)
    slack = 1e-6 * (1.0 + abs(solved) + abs(bound))
    assert solved <= high + slack, f"a policy has the value {solved}, above the bracket's {high}"
    assert low <= bound + slack, f"the value is at most {bound}, below the bracket's {low}"
    first = [world.reset(rng) for _ in range(draws)]
    assert {seen for _, seen in first} == {NOTHING}, "something is seen at a reset"
    starts = np.bincount([s for s, _ in first], minlength=world.n_states)
    assert_frequencies(starts, pomdp.start, false_alarm=FALSE_ALARM)
    for _ in range(pairs):
        s, a = int(rng.choice(np.flatnonzero(~pomdp.terminal))), int(rng.integers(world.n_actions))
        k = pomdp.mdp.group[s, a]
        T = np.bincount(pomdp.mdp.succ[s, a], pomdp.mdp.prob[k], minlength=world.n_states)
        counts = np.zeros((world.n_states, world.n_observations))
        beside = pickle.loads(pickle.dumps(rng))
        for _ in range(draws):
            state, seen, reward, terminated = world.step(s, a, rng)
            assert reward == pomdp.reward(s, a, state, seen), "the reward is not the table's"
            assert terminated == bool(pomdp.terminal[state]), "an episode ends in terminal states and only there"
            counts[state, seen] += 1
        beside.random(2 * draws)
        assert beside.bit_generator.state == rng.bit_generator.state, "a step must draw two random numbers"
        assert_frequencies(counts, T[:, None] * pomdp.seen[:, a], false_alarm=FALSE_ALARM)


def check_point_belief(planner: Planner[Any, Any], belief: BeliefOverStates, q: Floats) -> None:
    """If everything is known, a planner's root values are the solved ones."""
    for s in range(belief.n_states):
        info = BayesAgent(belief, planner).act(BayesAgent(belief, planner).start(), s, default_rng(0)).info
        np.testing.assert_allclose(info["q"], q[s], atol=1e-7)
