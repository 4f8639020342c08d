"""Limits of size: what is exactly at a limit is accepted, one more is refused, and the limit is the stated one.

Where a problem at the limit would not fit into a test, the limit is replaced by a small one. `LIMITS` states them.
"""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesrl as b
from bayesrl import beliefs as B
from bayesrl import checks
from bayesrl.bamdp.sampling.smart_sampler import sample_sizes
from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_q
from bayesrl.bandits.gittins import gittins_index_normal
from bayesrl.beliefs.arms.arms import check_reward
from bayesrl.beliefs.mdp.row_column_beta import cell
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.gradient.fisher import fisher_information
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.models.pomdp_file import read_pomdp
from bayesrl.registry import entries
from bayesrl.worlds.continuous._box import Bounds, check_action

LIMITS = {
    "bamdp.optimism._imagined.POLICIES": 1000,
    "lab.plots.transitions.MOST": 12,
    "worlds.pomdps.dialogue.MOST": 50,
    "worlds.factored.network.MOST": 100_000,
    "bamdp.optimism.bolt.SWEEPS": 1_000_000,
    "_files.LARGEST": 2**30,
    "core.LARGEST": sys.float_info.max,
    "risk._moments.MOST": 10**9,
    "bamdp.sampling.smart_sampler.MOST": 1_000_000,
    "bandits.bayes_optimal_bandit.LARGEST": 20_000_000,
    "bandits.gittins.LARGEST": 1e12,
    "beliefs.arms.arms.MOST": 100_000_000,
    "beliefs.games.coalitions.MOST": 20_000_000,
    "beliefs.dynamics._gp_moments.MOST": 1000,
    "beliefs.dynamics.linear_gaussian_dynamics.MOST": 100_000_000,
    "beliefs.games._belief_tree.MOST": 2_000_000,
    "beliefs.pomdp.pomdp_particles.MOST_RESCUES": 6,
    "beliefs.pomdp.pomdp_particles.MOST_TRIES": 100,
    "beliefs.pomdp._beam.MOST": 300,
    "beliefs.mdp.row_column_beta.FAR": 1_073_741_824,
    "checks.DEEPEST": 10_000_000,
    "checks.LARGEST": 1e100,
    "checks.ROW_SUM_TOLERANCE": 1e-9,
    "checks.SINGLE_ROW_SUM_TOLERANCE": 64 * 2.0**-23,
    "checks.SMALLEST": 1e-100,
    "checks.TINY": 1e-200,
    "checks.WORD": 9_223_372_036_854_775_807,
    "continuous.continuous_forward_search.MOST": 100_000_000,
    "continuous.gp_sparse_sampling.MOST": 4096,
    "gradient._improve.HALVINGS": 60,
    "gradient._improve.PROBES": 6,
    "beliefs.rewards._on_lattice.MOST_POINTS": 10_000,
    "lab.literature.figures.MIN_RUNS": 30,
    "models.pomdp_file.MOST": 268_435_456,
    "models.solvers.average_reward.POLICIES": 1000,
    "models.solvers.many.POLICIES": 1000,
    "models.solvers.modified_policy_iteration.LIMIT": 100_000,
    "beliefs.tasks.hierarchical_mdp.MOST_TASKS": 1_000_000,
    "multiagent.coalition_formation.MOST": 100_000_000,
    "beliefs.tasks.variable_reward_transfer.POLICIES": 1000,
    "risk.k_of_n.MOST": 100_000,
    "value.gprl.MOST_BACKUPS": 2000,
    "value.gprl.MOST_POLICIES": 50,
    "worlds.bandits._arms.MOST": 100_000_000,
    "worlds.continuous.linear_system.MOST": 100_000_000,
    "worlds.continuous.continuous_bandit.MOST": 2000,
    "worlds.continuous.lq.MOST_TRIES": 1000,
    "worlds.continuous._box.WIDE": 1e6,
    "worlds.pomdps.load_unload.MOST": 500,
    "worlds.pomdps.sysadmin.MOST": 8,
    "worlds.games.coalitions.LARGEST": 8,
    "worlds.risk.inventory.LARGEST": 200,
    "worlds.risk.inventory_binomial.LARGEST": 200,
    "beliefs.rewards.linear_rewards.DENSE": 200,
    "pacbayes.prior_check.MOST": 0.5,
    "inverse.map_birl.POLICIES": 1000,
    "worlds.tasks.gridworld_blocks.LARGEST": 64,
}


@pytest.mark.parametrize("path", LIMITS)
def test_limits(path):
    module, name = path.rsplit(".", 1)
    limit = getattr(importlib.import_module(f"bayesrl.{module}"), name)
    assert limit == LIMITS[path]
    assert type(limit) is type(LIMITS[path])


def test_every_limit_is_stated():
    """Constants with the name of a limit, in all modules."""
    source = Path(b.__file__).parent
    named = re.compile(
        r"^((?:MOST|LARGEST|SMALLEST|DEEPEST|FAR|LIMIT|POLICIES|WIDE|WORD)(?:_[A-Z]+S)?) = ", re.MULTILINE
    )
    for file in source.rglob("*.py"):
        module = ".".join(file.relative_to(source).with_suffix("").parts)
        assert {f"{module}.{name}" for name in named.findall(file.read_text(encoding="utf-8"))} <= set(LIMITS)


# Numbers --------------------------------------------------------------------------------------------------------------


def test_whole_numbers_that_compiled_code_can_hold():
    """From -WORD to WORD, whatever the bounds and the type; longer ones only where they are asked for."""
    for x in (checks.WORD, -checks.WORD, np.int64(checks.WORD)):
        assert checks.integer("f", "x", x, -(10**30)) == x
        assert checks.integer("f", "x", x, -(10**30), 10**30) == x
    for x in (checks.WORD + 1, -checks.WORD - 1, np.uint64(checks.WORD + 1)):
        for high in (None, 10**30):
            with pytest.raises(InvalidArgument, match="at most 9223372036854775807"):
                checks.integer("f", "x", x, -(10**30), high)
            assert checks.integer("f", "x", x, -(10**30), high, any_length=True) == x
    assert checks.integer("f", "x", 7, 7, 7) == 7
    for x in (6, 8):
        with pytest.raises(InvalidArgument, match="at least 7 and at most 7"):
            checks.integer("f", "x", x, 7, 7)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rewards_of_arms(sign):
    far = sign * np.nextafter(1e100, np.inf)
    assert check_reward("f", (2,), sign * 1e100) == sign * 1e100
    assert check_reward("f", (1, 2), [sign * 1e100]).tolist() == [sign * 1e100]
    for shape, reward in (((2,), far), ((1, 2), [far])):
        with pytest.raises(InvalidArgument, match=r"at most 1e\+100 in size"):
            check_reward("f", shape, reward)


@pytest.mark.parametrize("kind, tolerance", [(np.float64, 1e-9), (np.float32, 64 * 2.0**-23)])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_sums_of_rows(kind, tolerance, sign):
    for share, accepted in ((0.9, True), (1.1, False)):
        given = np.array([[0.5, 0.5 + share * sign * tolerance]], kind)
        p = given.astype(np.float64)
        if accepted:
            total = checks.rows_sum_to_one("f", "p", p, given).sum()
            assert abs(total - 1.0) <= (1e-15 if kind is np.float32 else tolerance)
        else:
            with pytest.raises(InvalidArgument, match="rows that sum to 1"):
                checks.rows_sum_to_one("f", "p", p, given)


def test_levels_of_quantiles():
    for x, expected in ((0.0, 0.0), (1e-300, 1e-200), (1e-200, 1e-200), (2e-200, 2e-200), (1.0, 1.0)):
        assert checks.probability("f", "p", x) == expected
    for x in (-1e-300, np.nextafter(1.0, 2.0)):
        with pytest.raises(InvalidArgument):
            checks.probability("f", "p", x)


def test_gittins_of_normal_arms(monkeypatch):
    """From 1 / LARGEST to LARGEST observations."""
    monkeypatch.setattr("bayesrl.bandits.gittins.LARGEST", 4.0)
    assert (gittins_index_normal(0.0, [0.25, 4.0], 0.5) > 0.0).all()
    for n in (0.249, 4.001):
        with pytest.raises(InvalidArgument, match=r"'n' must be from 0\.25 to 4, got"):
            gittins_index_normal(0.0, [1.0, n], 0.5)


def test_actions_at_the_faces_of_a_box():
    """An action outside by the rounding error is moved to the face; by more than 1e-9 (1 + |face|) it is refused."""
    box = Bounds.of([-1.0, 0.0], [1.0, 3.0])
    assert check_action("w", box, [-1.0 - 1.9e-9, 3.0 + 3.9e-9]).tolist() == [-1.0, 3.0]
    for a in ([-1.0 - 2.1e-9, 0.0], [1.0 + 2.1e-9, 0.0], [0.0, -4.1e-9], [0.0, 3.0 + 4.1e-9]):
        with pytest.raises(InvalidArgument, match="'action' must be between"):
            check_action("w", box, a)


@pytest.mark.parametrize("x, y", [(2**30, -(2**30)), (-(2**30), 2**30)])
def test_cells_of_the_infinite_grid(x, y):
    belief = entries()["row-column-beta"].example()
    assert cell("f", "state", (x, y)) == (x, y)
    belief.mean_rows_columns([y], [x], np.random.default_rng(0), sweeps=1)
    further = 1 if x > 0 else -1
    for call in (
        lambda: cell("f", "state", (x + further, y)),
        lambda: cell("f", "state", (x, y - further)),
        lambda: belief.mean_rows_columns([y - further], [x], np.random.default_rng(0), sweeps=1),
        lambda: belief.mean_rows_columns([y], [x + further], np.random.default_rng(0), sweeps=1),
    ):
        with pytest.raises(InvalidArgument, match="at least -1073741824 and at most 1073741824"):
            call()


def test_visits_of_paths_that_hardly_end():
    """The information of a model needs expected visits of at most 1e12; here they are 1 / (1 - gamma)."""
    policy, step = SoftmaxPolicy.tabular(1, 2), Transition(0, 0, 0.0, 0, truncated=True)
    both = [step, step._replace(action=1)]
    assert fisher_information(both, policy, gamma=1.0 - 1.1e-12, unit="model").max() > 1e11
    with pytest.raises(InvalidArgument, match="some paths never end"):
        fisher_information(both, policy, gamma=1.0 - 0.9e-12, unit="model")


# Sizes ----------------------------------------------------------------------------------------------------------------

BELIEFS = {name: entry.example() for name, entry in entries().items() if entry.kind == "belief"}
PAYS = TabularMDP.from_dense(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), 0.5)
BELIEFS["unknown-rewards"] = B.UnknownRewards(b.DirichletMDP.flat(PAYS), B.RewardBeta(np.ones((2, 1)), np.ones((2, 1))))


@pytest.mark.parametrize("name", [name for name, belief in BELIEFS.items() if hasattr(belief, "simulate")])
def test_depths_of_simulations(name, monkeypatch):
    belief = BELIEFS[name]
    module = importlib.import_module(type(belief).simulate.__module__)
    monkeypatch.setattr(module, "DEEPEST", 5)
    for depth in (0, 5):
        belief.simulate(depth)
    for depth in (-1, 6):
        with pytest.raises(InvalidArgument, match="'depth' must be a whole number of at least 0 and at most 5"):
            belief.simulate(depth)


CONJUGATE = ("beta-bernoulli", "exponential-arm", "forgetting", "normal-arm", "normal-gamma-arm", "poisson-arm")


@pytest.mark.parametrize("name", CONJUGATE)
def test_replicates_of_beliefs(name, monkeypatch):
    """MOST numbers in all: with three arms and a limit of 14, four replicates."""
    belief = BELIEFS[name]
    assert belief.n_actions == 3
    monkeypatch.setattr("bayesrl.beliefs.arms.arms.MOST", 14)
    belief.batch(4)
    with pytest.raises(InvalidArgument, match="'replicates' must be a whole number of at least 1 and at most 4, got 5"):
        belief.batch(5)


@pytest.mark.parametrize("name, numbers", [("online-shop", 3), ("online-shop-several", 3), ("contextual-shop", 6)])
def test_replicates_of_worlds(name, numbers, monkeypatch):
    world = b.make_world(name)
    assert world.means.size == numbers
    for module in ("_arms", "_contextual"):
        monkeypatch.setattr(f"bayesrl.worlds.bandits.{module}.MOST", 5 * numbers - 1)
    world.batch(4)
    with pytest.raises(InvalidArgument, match="'replicates' must be a whole number of at least 1 and at most 4, got 5"):
        world.batch(5)


def test_posteriors_of_two_arms(monkeypatch):
    """After two plays of two arms with two outcomes there are 10 posteriors of 4 counts each: 40 numbers."""
    belief = B.BetaBernoulli.uniform(2)
    monkeypatch.setattr("bayesrl.bandits.bayes_optimal_bandit.LARGEST", 40)
    bayes_optimal_q(belief, 3)
    monkeypatch.setattr("bayesrl.bandits.bayes_optimal_bandit.LARGEST", 39)
    with pytest.raises(InvalidArgument, match="10 posteriors after 2 plays of 2 arms with 2 outcomes"):
        bayes_optimal_q(belief, 3)


def test_models_of_the_smart_sampler(monkeypatch):
    """Two outcomes with a count of 1 each: variance 1/12, so that 1 / (12 epsilon) models are drawn."""
    belief = b.DirichletMDP.flat(PAYS)
    monkeypatch.setattr("bayesrl.bamdp.sampling.smart_sampler.MOST", 4)
    assert sample_sizes(belief, 1 / 48).tolist() == [4, 4]
    with pytest.raises(InvalidArgument, match=r"at least 0\.0208 with this belief, as at most 4 models are drawn"):
        sample_sizes(belief, 1 / 48.01)


POMDP = "states: {} actions: 1 observations: 1 T: * uniform O: * uniform R: * : * : * : * 1"


def test_sizes_of_pomdp_files(monkeypatch):
    """The number of states, and the entries of the largest table: 5 x 5 transitions."""
    monkeypatch.setattr("bayesrl.models.pomdp_file.MOST", 25)
    for said in ("5", "05", "0" * 5000 + "5"):  # Python does not convert so many digits
        assert read_pomdp(POMDP.format(said)).n_states == 5
    for said in ("026", "100", "9" * 5000):
        with pytest.raises(UnreadableFile, match="states are too many"):
            read_pomdp(POMDP.format(said))
    for zeros in (0, 3, 5000):
        found = read_pomdp(f"{POMDP.format(5)} R: * : {'0' * zeros}4 : * : * 7 R: * : {'0' * (zeros + 1)} : * : * 3")
        assert found.mdp.mean_reward[:, 0].tolist() == pytest.approx([3.0, 1.0, 1.0, 1.0, 7.0])
        for missing in (f"{'0' * zeros}5", "9" * (zeros + 1)):
            with pytest.raises(UnreadableFile, match=r"there is no state .*: they are numbered from 0 to 4"):
                read_pomdp(f"{POMDP.format(5)} R: * : {missing} : * : * 7")
    with pytest.raises(UnreadableFile, match="26 states are too many"):
        read_pomdp(POMDP.format(26))
    with pytest.raises(UnreadableFile, match="the table T has 625 entries, more than 25"):
        read_pomdp(POMDP.format(25))
    monkeypatch.setattr("bayesrl.models.pomdp_file.MOST", 24)
    with pytest.raises(UnreadableFile, match="the table T has 25 entries, more than 24"):
        read_pomdp(POMDP.format(5))
