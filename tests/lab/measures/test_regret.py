"""The three regrets: by hand in bandits, against enumerated policies in MDPs, on worlds drawn again from the seed."""

import itertools

import numpy as np
import pytest
from lab_toys import Always, Arms, Betas, Draws, DrawsTogether, Noise, Paying, UniformArms

from bayesrl.core import BayesAgent, Decision, Streams, run
from bayesrl.errors import InvalidArgument
from bayesrl.lab.compare import BLOCK, compare
from bayesrl.lab.measures.regret import optimal_totals, regret
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import make_world
from bayesrl.statistics import mean_interval
from bayesrl.worlds.tabular import MDPWorld

MEANS = np.array([0.2, 0.7, 0.7, 0.4])
ONE_BY_ONE = BayesAgent(Betas.ones(4), Draws())
TOGETHER = BayesAgent(Betas.ones(4), DrawsTogether())


# Bandits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", [ONE_BY_ONE, TOGETHER], ids=["one by one", "lockstep"])
def test_bandit_regret_is_the_sum_of_gaps(agent):
    found = compare({"a": agent}, Arms(MEANS), 60, 30)
    lost = found.regret(Arms(MEANS))["a"]
    gaps = 0.7 - MEANS[found["a"].action]
    np.testing.assert_allclose(lost.curve, gaps.cumsum(0), atol=1e-12)
    wrong = np.isin(found["a"].action, [0, 3])  # both of the two best arms are right
    np.testing.assert_array_equal(lost.suboptimal, wrong.cumsum(0))
    assert lost.total == mean_interval(lost.curve[-1])
    assert lost.stochastic == mean_interval(wrong.sum(0))
    assert lost.name == "frequentist regret"


@pytest.mark.parametrize("agent", [ONE_BY_ONE, TOGETHER], ids=["one by one", "lockstep"])
def test_bayesian_regret_redraws_the_worlds_of_the_runs(agent):
    runs, seed, family = BLOCK + 4, 7, UniformArms(4)
    found = compare({"a": agent, "b": Always(2)}, family, 8, runs, seed)
    lost = found.regret(family)
    assert lost["a"].name == "Bayesian regret"
    one_by_one = np.array([family.draw(Streams.of(seed, i).draw).means for i in range(runs)])
    if agent is TOGETHER:
        blocks = [family.batch(BLOCK).draw(Streams.of(seed, k, lockstep=True).draw).means for k in range(2)]
        means = {"a": np.concatenate(blocks)[:runs], "b": one_by_one}
    else:
        means = {"a": one_by_one, "b": one_by_one}
    for label, theta in means.items():
        action = found[label].action
        played = np.take_along_axis(theta.T, action.astype(int), axis=0) if action.ndim == 2 else None
        np.testing.assert_allclose(lost[label].curve, (theta.max(1) - played).cumsum(0), atol=1e-12)
        np.testing.assert_array_equal(lost[label].suboptimal, (action != theta.argmax(1)).cumsum(0))


def test_a_single_run_has_its_own_world():
    family = UniformArms(4)
    for i in (0, 3):
        record = run(ONE_BY_ONE, family, 20, 9, replicate=i)
        means = family.draw(Streams.of(9, i).draw).means
        np.testing.assert_allclose(regret(record, family).curve[:, 0], (means.max() - means[record.action]).cumsum())


def test_expected_rewards_lost_are_the_expected_gaps():
    # E[sum of gaps] = T theta* - E[rewards]. 2000 runs of 50 steps: the two estimates differ by the noise of rewards,
    # standard error .08 on a regret of 10; 4.5 of them, false alarm 7e-6; detects a regret wrong by 4%.
    found = compare({"a": TOGETHER}, Arms(MEANS), 50, 2000)
    lost = found.regret(Arms(MEANS))["a"].curve[-1]
    by_reward = 50 * 0.7 - found["a"].total
    difference = mean_interval(lost - by_reward, 0.999993)
    assert difference.low < 0.0 < difference.high
    assert difference.half_width < 0.5


# MDPs ----------------------------------------------------------------------------------------------------------------


def small_mdp(terminal=()):
    rng = np.random.default_rng(5)
    P, R = rng.dirichlet(np.ones(3), (3, 2)), rng.normal(size=(3, 2, 3))
    return TabularMDP.from_dense(P, R, 0.9, start=[0.5, 0.5, 0.0], terminal=terminal)


def enumerated(mdp, steps, horizon=None):
    """The best expected total over all policies that know the time, episodes following each other: by brute force."""
    P, R = mdp.dense()
    start, terminal = mdp.outcomes.start, mdp.outcomes.terminal
    S, A = mdp.group.shape
    live = np.flatnonzero(~terminal)
    rules = list(itertools.product(range(A), repeat=len(live)))
    best = -np.inf
    for plan in itertools.product(rules, repeat=steps):
        at, total, age = start.copy(), 0.0, 0
        for rule in plan:
            new = np.zeros(S)
            for s, a in zip(live, rule, strict=True):
                total += at[s] * P[s, a] @ R[s, a]
                new += at[s] * P[s, a]
            age += 1
            ended = new.sum() if age == horizon else new[terminal].sum()
            new = np.zeros(S) if age == horizon else np.where(terminal, 0.0, new)
            at, age = new + ended * start, 0 if age == horizon else age
        best = max(best, total)
    return best


@pytest.mark.parametrize("terminal, horizon", [((), None), ((2,), None), ((), 2), ((), 3)])
def test_mdp_regret_against_enumerated_policies(terminal, horizon):
    mdp = small_mdp(terminal)
    steps = 4 if terminal else 3
    best = np.array([enumerated(mdp, t, horizon) for t in range(1, steps + 1)])
    np.testing.assert_allclose(optimal_totals(mdp, steps, horizon), best, atol=1e-12)
    world = MDPWorld("small", mdp)
    found = compare({"a": Always(1)}, world, steps, 5, horizon=horizon)
    np.testing.assert_allclose(found.regret(world)["a"].curve, best[:, None] - found["a"].reward.cumsum(0), atol=1e-12)


@pytest.mark.parametrize("name", ["chain", "double-loop", "grid5"])
def test_optimal_totals_end_at_the_declared_optimum(name):
    world = make_world(name)
    totals = optimal_totals(world.mdp, world.steps)
    assert totals[-1] == pytest.approx(world.declared_optimum, rel=1e-12)
    assert totals[9] == pytest.approx(world.optimum(10), rel=1e-12)


class Greedy:
    """Always the action that is best at the world's discount, or always the worst."""

    def __init__(self, policy):
        self.policy = policy

    def start(self):
        return None

    def act(self, mind, seen, rng):
        return Decision(int(self.policy[seen]), mind, {})

    def learn(self, mind, transition, rng):
        return mind


def test_regret_of_optimal_play_is_zero_on_average():
    # The policy that is optimal at discount .95 is always-a, which earns 3663.69 of the optimum 3665.83 over 1000
    # steps: a regret of 2.14. 100 runs: standard error 26; 4.5 of them, false alarm 7e-6; detects 3% of the optimum.
    world = make_world("chain")
    agents = {"best": Greedy(world.gaps.argmin(1)), "worst": Greedy(world.gaps.argmax(1))}
    lost = compare(agents, world, 1000, 100).regret(world)
    assert abs(lost["best"].total.mean - 2.14) < 4.5 * lost["best"].total.half_width / 1.98
    assert lost["best"].stochastic == (0.0, 0.0, 0.0, 100)
    assert lost["worst"].stochastic == (1000.0, 1000.0, 1000.0, 100)
    assert lost["worst"].total.mean == pytest.approx(3665.83 - 1603.19, abs=60)


def test_families_of_mdps():
    family = make_world("gc")
    found = compare({"a": Always(1)}, family, 30, 3, seed=2)
    lost = found.regret(family)["a"]
    for i in range(3):
        world = family.draw(Streams.of(2, i).draw)
        assert lost.curve[-1, i] == pytest.approx(world.optimum(30) - found["a"].total[i], rel=1e-10)
        wrong = world.gaps[found["a"].state[:, i], 1] > 1e-6
        assert lost.suboptimal[-1, i] == wrong.sum()


def test_without_discount_or_end_no_choice_is_called_wrong():
    P, R = small_mdp().dense()
    world = MDPWorld("small", TabularMDP.from_dense(P, R, 1.0))
    lost = compare(Always(), world, 5, 2).regret(world)["Always"]
    assert lost.suboptimal is None
    assert lost.stochastic is None
    assert np.isfinite(lost.curve).all()


def test_an_average_reward_is_what_is_lost_in_each_step():
    """t times the average minus what was earned, by hand, alone and as a comparison; no choice is called wrong."""
    world = Paying((0.3, -0.8, 1.7), average_reward=0.45)
    earned = np.cumsum(0.45 - np.array([0.3, -0.8, 1.7, 0.3, -0.8]))
    lost = regret(run(Always(), world, 5), world)
    np.testing.assert_allclose(lost.curve[:, 0], earned, rtol=1e-12)
    assert lost.suboptimal is None
    several = compare(Always(), world, 5, 3).regret(world)["Always"]
    np.testing.assert_allclose(several.curve, np.repeat(earned[:, None], 3, axis=1), rtol=1e-12)
    assert several.total.mean == pytest.approx(earned[-1])


def test_choices_of_an_episode_without_discount():
    """With an end, action values are finite at discount 1, and choices are judged."""
    P = np.array([[[0.5, 0.0, 0.5], [0.0, 0.6, 0.4]], [[0.3, 0.3, 0.4], [0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]] * 2])
    world = MDPWorld("ends", TabularMDP.from_dense(P, [[1.0, 0.2], [-0.5, 2.0], [0.0, 0.0]], 1.0, terminal=[2]))
    found = compare(Always(1), world, 9, 4)
    lost = found.regret(world)["Always"]
    wrong = world.gaps[found["Always"].state, 1] > 1e-9
    np.testing.assert_array_equal(lost.suboptimal, wrong.cumsum(0))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_small_gaps_are_relative_to_the_largest_reward(unit):
    """A gap of a hundredth of the tolerance is none, one of a hundred times the tolerance is wrong, in every unit."""
    for gap, wrong in ((1e-8, 0.0), (1e-4, 6.0)):
        P = np.ones((1, 3, 1))
        world = MDPWorld("one", TabularMDP.from_dense(P, [[unit, unit * (1.0 - gap), 0.001 * unit]], 0.5))
        lost = regret(run(Always(1), world, 6), world)
        assert lost.suboptimal[-1, 0] == wrong


# Refusals ------------------------------------------------------------------------------------------------------------


def test_refusals():
    record = run(Always(), Arms(MEANS), 5)
    with pytest.raises(InvalidArgument, match=r"regret: 'world' must be the one that the runs were made in, got "):
        regret(record, Arms(MEANS / 2))
    with pytest.raises(InvalidArgument, match=r"regret: 'record' must be a Record, got 3\."):
        regret(3, Arms(MEANS))
    noise = run(Always(), Noise(), 5)
    with pytest.raises(InvalidArgument, match=r"'world' must be a world with a table .* got Noise\(gamma=0.5\)\."):
        regret(noise, Noise())
    world = MDPWorld("small", small_mdp(terminal=(2,)))
    with pytest.raises(InvalidArgument, match=r"'horizon' must be None in this world, got 3\. Its episodes can also"):
        regret(run(Always(), world, 6, horizon=3), world)


def test_regret_of_one_lockstep_block():
    from bayesrl.lab.build import agent_for
    from bayesrl.registry import make_world

    family = make_world("bernoulli")
    record = run(agent_for("thompson", family), family, 20, lockstep=6)
    means = family.batch(6).draw(Streams.of(0, 0, lockstep=True).draw).means
    gaps = means.max(axis=1) - np.take_along_axis(means, record.action.T, axis=1).T
    np.testing.assert_allclose(regret(record, family).curve, gaps.cumsum(0), atol=1e-12)
