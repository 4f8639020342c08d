"""The named domains: layout by hand, optima by the solver, samples against probabilities."""

import pickle

import numpy as np
import pytest
from scipy.stats import chisquare

import bayesrl
from bayesrl.core import Transition, World, WorldStep
from bayesrl.errors import Incompatible, InvalidArgument, UnknownName
from bayesrl.lab.priors import prior_for
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import optimal_total, policy_total, solve
from bayesrl.registry import make_world, worlds
from bayesrl.worlds.settings import Setting, setting_of
from bayesrl.worlds.tabular import MDPWorld

NAMES = ("chain", "chain-tied", "chain-semi", "double-loop", "grid5", "grid10", "dearden-maze")


def leads_to(world, s, a):
    """{next state: probability}."""
    P, _ = world.dense()
    return {int(y): round(float(P[s, a, y]), 12) for y in np.flatnonzero(P[s, a])}


# Optima --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, optimum, start_value",
    [
        ("chain", 3665.8324480000642, 61.37948159998159),
        ("chain-tied", 3665.8324480000642, 61.37948159998159),
        ("chain-semi", 3665.8324480000642, 61.37948159998159),
        ("double-loop", 400.0, 7.201039921200657),
        ("grid5", 92.09907689284721, 1.4386336596412217),
        ("grid10", 86.89648360333388, 0.478808),
        ("dearden-maze", 1825.9572163694206, 0.781119303969387),
    ],
)
def test_declared_optimum(name, optimum, start_value):
    # Both columns were computed independently of this library.
    world = make_world(name)
    assert world.optimum() == pytest.approx(optimum, rel=1e-9)
    assert optimal_total(world, world.steps) == pytest.approx(world.declared_optimum, rel=1e-9)
    digits = 5e-7 if name == "grid10" else 1e-9
    assert solve(world).values[world.start] == pytest.approx(start_value, abs=digits)


def test_optimum_of_another_length_is_solved_for():
    world = make_world("double-loop")
    assert world.optimum(1000) == 400.0
    assert world.optimum(5) == 2.0
    assert world.optimum(4) == 0.0
    assert world.optimum(7) == 2.0


@pytest.mark.parametrize(
    "name, policy, total",
    [
        ("chain", 0, 3663.692800000065),
        ("chain", 1, 1603.1872000000467),
        ("double-loop", 0, 200.0),
        ("double-loop", 1, 400.0),
    ],
)
def test_constant_policies(name, policy, total):
    world = make_world(name)
    constant = np.full(world.n_states, policy)
    assert policy_total(world, constant, world.steps) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("name, total", [("grid5", 92.095), ("grid10", 86.894), ("dearden-maze", 1269.64)])
def test_discounting_loses_a_little_or_a_lot(name, total):
    world = make_world(name)
    assert policy_total(world, solve(world).policy, world.steps) == pytest.approx(total, abs=0.005)


@pytest.mark.parametrize(
    "name, mean, error", [("double-loop", 158.635, 0.487), ("grid10", 3.105, 0.117), ("dearden-maze", 95.86, 1.196)]
)
def test_random_policy_agrees_with_peer_code(name, mean, error):
    # Ours is exact; theirs was simulated (standard error given). Within 3 errors: false alarm .27% each, fixed by now.
    world = make_world(name)
    uniform = np.full((world.n_states, world.n_actions), 1 / world.n_actions)
    assert abs(policy_total(world, uniform, world.steps) - mean) < 3 * error


# Layout, by hand -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chain", "chain-tied", "chain-semi"])
def test_chain_by_hand(name):
    world = make_world(name)
    assert leads_to(world, 0, 0) == {0: 0.2, 1: 0.8}
    assert leads_to(world, 0, 1) == {0: 0.8, 1: 0.2}
    assert leads_to(world, 4, 0) == {0: 0.2, 4: 0.8}
    assert leads_to(world, 3, 1) == {0: 0.8, 4: 0.2}
    R = np.zeros((5, 2, 5))
    R[:, :, 0] = 2.0
    R[4, :, 4] = 10.0
    assert np.array_equal(world.dense()[1], R)  # also where the probability is zero; arriving in 4 from 3 pays nothing


def test_chain_variants_differ_only_in_what_is_tied():
    full, tied, semi = (make_world(name) for name in ("chain", "chain-tied", "chain-semi"))
    for other in (tied, semi):
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(full.dense(), other.dense(), strict=True))
    assert full.mdp.outcomes.n_groups == 10
    assert tied.mdp.outcomes.n_groups == 1
    assert semi.mdp.group.tolist() == [[0, 1]] * 5
    for world in (full, tied, semi):
        assert (world.mdp.prob == [0.8, 0.2]).all()  # outcome 0 is the action's own effect
        assert world.mdp.succ[2].tolist() == [[3, 0], [0, 3]]
        assert world.mdp.reward[4].tolist() == [[10.0, 2.0], [2.0, 10.0]]
    # Falling back under action a and going on under action b are the same slip where rows are tied.
    slip_a, slip_b = Transition(2, 0, 2.0, 0), Transition(2, 1, 0.0, 3)
    assert prior_for(tied).update(slip_a).update(slip_b).alpha.tolist() == [[1.0, 3.0]]
    assert prior_for(semi).update(slip_a).update(slip_b).alpha.tolist() == [[1.0, 2.0], [1.0, 2.0]]


def test_double_loop_by_hand():
    world = make_world("double-loop")
    assert [leads_to(world, 0, a) for a in (0, 1)] == [{1: 1.0}, {5: 1.0}]
    assert [leads_to(world, s, 0) for s in range(1, 9)] == [{y: 1.0} for y in (2, 3, 4, 0, 0, 0, 0, 0)]
    assert [leads_to(world, s, 1) for s in range(1, 9)] == [{y: 1.0} for y in (2, 3, 4, 0, 6, 7, 8, 0)]
    R = world.dense()[1]
    assert (R[4] == 1.0).all()
    assert (R[8] == 2.0).all()
    assert R.sum() == 2 * 9 * (1 + 2)


@pytest.mark.parametrize("name, L", [("grid5", 5), ("grid10", 10)])
def test_grid_by_hand(name, L):
    world = make_world(name)
    down, right, up, left = range(4)
    assert world.actions == ("down", "right", "up", "left")
    assert leads_to(world, 0, down) == {0: 0.1, 1: 0.8, L: 0.1}
    assert leads_to(world, 0, right) == {0: 0.1, 1: 0.1, L: 0.8}
    assert leads_to(world, 0, up) == {0: 0.9, L: 0.1}
    assert leads_to(world, 0, left) == {0: 0.9, 1: 0.1}
    middle = 2 * L + 2
    assert leads_to(world, middle, up) == {middle - 1: 0.8, middle - L: 0.1, middle + L: 0.1}
    goal = L * L - 1
    assert all(leads_to(world, goal, a) == {0: 1.0} for a in range(4))
    R = world.dense()[1]
    assert (R[goal] == 1.0).all()
    assert (R[:goal] == 0.0).all()
    assert world.layout.shape == (1, L, L)
    assert world.layout[0, 1, 2] == 2 * L + 1  # row y = 1, column x = 2


def test_maze_by_hand():
    world = make_world("dearden-maze")
    up, right, down, _ = range(4)
    assert (world.n_states, world.n_actions) == (264, 4)
    assert leads_to(world, 0, down) == {0: 0.1, 8: 0.9}
    assert leads_to(world, 0, up) == {0: 1.0}
    assert leads_to(world, 5, right) == {5: 0.95, 13: 0.05}  # held flags are kept
    at = {(x, y): int(world.layout[0, y, x]) for y in range(6) for x in range(7)}
    assert [at[x, 0] for x in range(7)] == [0, -1, 64, 112, -1, 192, 232]
    # Picking up: the bottom left flag from above (bit 1), the top one from below (2), the right one from the left (4).
    assert leads_to(world, at[0, 4] + 2, down) == {at[0, 4] + 2: 0.05, at[0, 5] + 3: 0.9, at[1, 4] + 2: 0.05}
    assert leads_to(world, at[2, 1], up) == {at[2, 1]: 0.05, at[2, 0] + 2: 0.9, at[3, 1]: 0.05}
    assert leads_to(world, at[5, 4] + 3, right) == {at[5, 4] + 3: 0.05, at[5, 5] + 3: 0.05, at[6, 4] + 7: 0.9}
    R = world.dense()[1]
    for flags, paid in enumerate((0, 1, 1, 2, 1, 2, 2, 3)):
        assert all(leads_to(world, at[6, 0] + flags, a) == {0: 1.0} for a in range(4))
        assert (R[at[6, 0] + flags] == paid).all()
    assert R.sum() == 12 * 4 * 264
    assert (world.layout >= 0).sum() == 264
    assert sorted(world.layout[world.layout >= 0].tolist()) == list(range(264))


# Acting --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_samples_match_probabilities(name):
    # Uniformly random (s, a), 20000 steps: counts of (s, a, s') against their expectation, given the (s, a) drawn.
    # Chi-square with false-alarm rate 1e-4 per world; detects a shift of .02 in a slip.
    world, rng = make_world(name), np.random.default_rng(7)
    assert isinstance(world, World)
    P, R = world.dense()
    S, A = world.n_states, world.n_actions
    n = 20_000
    states, actions = rng.integers(S, size=n), rng.integers(A, size=n)
    seen = np.zeros((S, A, S))
    for s, a in zip(states.tolist(), actions.tolist(), strict=True):
        state, observation, reward, terminated = world.step(s, a, rng)
        assert state == observation
        assert reward == R[s, a, state]
        assert not terminated
        seen[s, a, state] += 1
    assert (seen[P == 0] == 0).all()
    # Rows are pooled by the probability of an outcome, so that expectations are not small.
    levels = np.unique(P[P > 0].round(9))
    expected = np.array([(seen.sum(2, keepdims=True) * P)[P.round(9) == p].sum() for p in levels])
    counted = np.array([seen[P.round(9) == p].sum() for p in levels])
    assert counted.sum() == n
    if len(levels) > 1:
        assert chisquare(counted, expected).pvalue > 1e-4


def test_one_row_in_detail():
    # The three outcomes of one slippery move, 20000 draws; chi-square, false-alarm rate 1e-4.
    world, rng = make_world("grid5"), np.random.default_rng(3)
    counts = np.bincount([world.step(12, 0, rng)[0] for _ in range(20_000)], minlength=25)
    assert chisquare(counts[[7, 13, 17]], [2000, 16000, 2000]).pvalue > 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_a_step_takes_one_random_number_and_gives_plain_values(name):
    world = make_world(name)
    rng, same = np.random.default_rng(0), np.random.default_rng(0)
    state, seen = world.reset(rng)
    assert state == seen == world.start == 0
    assert rng.bit_generator.state == same.bit_generator.state
    step = world.step(state, np.int64(1), rng)
    same.random()
    assert rng.bit_generator.state == same.bit_generator.state
    assert [type(part) for part in step] == [int, int, float, bool]


@pytest.mark.parametrize(
    "state, action, sentence",
    [
        (0, 2, "chain: 'action' must be a whole number of at least 0 and at most 1, got 2."),
        (0, -1, "chain: 'action' must be a whole number of at least 0 and at most 1, got -1."),
        (0, 0.0, "chain: 'action' must be a whole number of at least 0 and at most 1, got 0.0."),
        (0, True, "chain: 'action' must be a whole number of at least 0 and at most 1, got True."),
        (5, 0, "chain: 'state' must be a whole number of at least 0 and at most 4, got 5."),
        (None, 0, "chain: 'state' must be a whole number of at least 0 and at most 4, got None."),
    ],
)
def test_an_illegal_step_is_refused_and_draws_nothing(state, action, sentence):
    world, rng = make_world("chain"), np.random.default_rng(0)
    world.step(0, 0, rng)
    before = rng.bit_generator.state
    with pytest.raises(InvalidArgument) as caught:
        world.step(state, action, rng)
    assert str(caught.value) == sentence
    assert rng.bit_generator.state == before


def test_impossible_outcomes_never_happen_whatever_the_rounding():
    class Highest:
        def random(self):
            return 1.0 - 2.0**-53

    p = [0.1] * 10  # sums to a little less than one
    P = np.zeros((12, 1, 12))
    P[:, 0, :10] = p
    world = MDPWorld("rounding", TabularMDP.from_dense(P, np.zeros((12, 1)), 0.9))
    assert world.step(0, 0, Highest())[0] == 9


def test_episodes_random_starts_and_terminal_states():
    P = np.zeros((3, 1, 3))
    P[:, 0, 2] = 1.0
    mdp = TabularMDP.from_dense(P, np.ones((3, 1)), 1.0, start=[0.25, 0.75, 0.0], terminal=[2])
    world, rng = MDPWorld("short", mdp), np.random.default_rng(5)
    assert world.step(0, 0, rng) == (2, 2, 1.0, True)
    assert world.step(2, 0, rng) == (2, 2, 0.0, True)
    counts = np.bincount([world.reset(rng)[0] for _ in range(4000)], minlength=3)
    assert counts[2] == 0
    assert chisquare(counts[:2], [1000, 3000]).pvalue > 1e-4  # false-alarm rate 1e-4
    with pytest.raises(InvalidArgument, match="a single state"):
        _ = world.start


# Values --------------------------------------------------------------------------------------------------------------


def test_gaps_are_what_an_action_gives_away():
    # Q* of the chain at discount .9, computed independently.
    q = [[25.499084799991202, 25.0866534399912], [28.4850687999912, 25.833149439991203],
         [32.6322687999912, 26.869949439991203], [38.39226879999121, 28.3099494399912],
         [46.39226879999121, 30.3099494399912]]  # fmt: skip
    gaps = make_world("chain", gamma=0.9).gaps
    assert gaps == pytest.approx(np.max(q, axis=1, keepdims=True) - q, abs=1e-8)
    assert (gaps.min(axis=1) == 0.0).all()
    with pytest.raises(ValueError, match="read-only"):
        gaps[0, 0] = 1.0


@pytest.mark.parametrize("name", NAMES)
def test_worlds_are_values(name):
    world = make_world(name, gamma=0.9)
    assert world == make_world(name, gamma=0.9)
    assert world != make_world(name)
    world.step(0, 0, np.random.default_rng(0))
    copy = pickle.loads(pickle.dumps(world))
    assert copy == world
    assert copy.gamma == 0.9
    assert copy.name == name
    assert len(world.actions) == world.n_actions


def test_a_world_needs_an_mdp():
    with pytest.raises(InvalidArgument, match=r"MDPWorld: 'mdp' must be a TabularMDP, got 'str'\."):
        MDPWorld("mine", "chain")
    with pytest.raises(InvalidArgument, match="Setting: 'steps' must be a whole number of at least 1"):
        Setting(steps=0)


def test_a_world_is_dynamics_and_its_setting_is_apart():
    world = make_world("dearden-maze")
    assert setting_of("dearden-maze") == setting_of(world) == world.setting
    assert (world.prior, world.steps, world.declared_optimum) == ("flat:1/264", 20000, world.setting.optimum)
    assert "maze" in world.figures
    mine = MDPWorld("mine", make_world("chain").mdp)
    assert setting_of(mine) == Setting("flat:1", 1000)
    # A drawn world is run as its family is; its prior knows what can happen in the family.
    drawn = make_world("gc").draw(np.random.default_rng(0))
    assert (drawn.prior, drawn.steps, drawn.runs) == ("structured:1", 250, None)
    # A world that says these things itself, such as a bandit.
    assert setting_of("bernoulli") == Setting("uniform", 1000)
    with pytest.raises(InvalidArgument, match="MDPWorld: 'setting' must be a Setting, got 'flat:1'"):
        MDPWorld("mine", make_world("chain").mdp, "flat:1")


def test_a_step_is_named():
    step = make_world("chain").step(4, 0, np.random.default_rng(0))
    assert isinstance(step, WorldStep)
    _, observation, reward, terminated = step  # four entries
    assert (step.state, step.reward, step.terminated) == (4, 10.0, False) == (observation, reward, terminated)
    with pytest.raises(InvalidArgument, match=r"chain: 'rng' must be a numpy Generator, such as .* got 0\."):
        make_world("chain").step(4, 0, 0)
    with pytest.raises(InvalidArgument, match="chain: 'rng' must be a numpy Generator"):
        make_world("chain").reset(0)


def test_the_package_can_be_called():
    names = [entry.name for entry in bayesrl.worlds()]
    assert set(NAMES) <= set(names)
    assert bayesrl.worlds() == worlds()


def test_summaries_are_one_sentence():
    for entry in worlds():
        assert entry.summary.endswith(".")
        assert entry.evidence


# Priors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, shape, count",
    [
        ("chain", (10, 5), 1.0),
        ("chain-tied", (1, 2), 1.0),
        ("chain-semi", (2, 2), 1.0),
        ("double-loop", (18, 9), 1 / 9),
        ("grid5", (100, 25), 1 / 25),
        ("grid10", (400, 100), 1 / 100),
        ("dearden-maze", (1056, 264), 1 / 264),
    ],
)
def test_default_priors(name, shape, count):
    world = make_world(name)
    belief = prior_for(world)
    assert belief.alpha.shape == shape
    assert np.allclose(belief.alpha, count, rtol=1e-15)
    assert belief.gamma == world.gamma


def test_prior_specs():
    world = make_world("chain-tied")
    assert prior_for(world, "flat").alpha.shape == (10, 5)
    assert prior_for(world, "flat:0.5").alpha[0, 0] == 0.5
    assert prior_for(world, "structured:1e-2").alpha.tolist() == [[0.01, 0.01]]
    assert prior_for(world, "structured:3/4").alpha.tolist() == [[0.75, 0.75]]


@pytest.mark.parametrize("text", ["", "0", "-1", "1/0", "one", "nan", "inf", "1:2"])
def test_a_bad_concentration_is_refused(text):
    expected = "'concentration' must be|'spec' must be NAME, NAME:VALUE or"
    with pytest.raises(InvalidArgument, match=expected):
        prior_for(make_world("chain"), f"flat:{text}")


def test_an_unknown_prior_is_refused():
    with pytest.raises(UnknownName, match=r"There is no prior called 'flt'\. Did you mean flat\?"):
        prior_for(make_world("chain"), "flt:1")
    with pytest.raises(Incompatible, match="The prior 'accurate' needs a problem with 'outcomes', 'alpha'"):
        prior_for(make_world("chain"), "accurate")


def test_the_setting_of_a_world_that_only_has_attributes():
    class Place:
        prior, runs, optimum = "flat:1/3", 5, 8.0

    assert setting_of(Place()) == Setting("flat:1/3", 1000, 5)
    Place.steps, Place.figures = 77, ("a", "b")
    assert setting_of(Place()) == Setting("flat:1/3", 77, 5, ("a", "b"))
    assert setting_of(object()) == Setting()
