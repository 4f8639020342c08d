"""The families of BBRL: their counts, what is drawn, and what an agent is told."""

from hashlib import sha256

import numpy as np
import pytest
from scipy.stats import kstest

from bayesrl.core import Family, Transition
from bayesrl.errors import BayesRLError, Incompatible, InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.models.solve import evaluate_policy, finite_horizon, solve
from bayesrl.registry import make_world
from bayesrl.worlds.mdps._dirichlet_family import DirichletFamily

FAMILIES = ("gc", "gdl", "grid-bbrl")


def fingerprint(table):
    return sha256(table.astype(np.int8).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(
    "name, shape, counts, rewards",
    [
        ("gc", (5, 3, 5), "35d20592f2496679", "b521c90eca87fc94"),
        ("gdl", (9, 2, 9), "bee51993b4492366", "50a96ec827adee12"),
        ("grid-bbrl", (25, 4, 25), "ea2369ac3a044468", "14e74aec8ace0953"),
    ],
)
def test_counts_and_rewards(name, shape, counts, rewards):
    # The hashes are those of the tables in BBRL's own data files, compared entry by entry when they were written down.
    family = make_world(name)
    assert family.transition_counts.shape == family.rewards.shape == shape
    assert fingerprint(family.transition_counts) == counts
    assert fingerprint(family.rewards) == rewards
    assert (family.steps, family.runs, family.gamma, family.prior) == (250, 500, 0.95, "accurate")


def test_grid_by_hand():
    counts, rewards = make_world("grid-bbrl").transition_counts, make_world("grid-bbrl").rewards
    left, right, up, down = range(4)

    def reached(s, a):
        return np.flatnonzero(counts[s, a]).tolist()

    assert [reached(12, a) for a in (left, right, up, down)] == [[11, 12], [12, 13], [7, 12], [12, 17]]
    assert [reached(0, a) for a in (left, right, up, down)] == [[0], [0, 1], [0], [0, 5]]
    assert (reached(23, right), reached(19, down)) == ([0, 23], [0, 19])
    assert np.argwhere(rewards).tolist() == [[19, down, 0], [23, right, 0]]
    assert rewards.max() == 10.0
    assert not counts[:24, :, 24].any()  # the corner is never entered


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_match_the_dirichlet(name):
    # Rows with two outcomes of count 1 are uniform on [0, 1]. All of 200 draws pooled, Kolmogorov-Smirnov with
    # false-alarm rate 1e-4; detects a count of 1.3 in place of 1. Rows with one outcome are certain.
    family, rng = make_world(name), np.random.default_rng(11)
    assert isinstance(family, Family)
    draws = np.array([family.draw(rng).dense()[0] for _ in range(200)])
    assert (draws[:, family.transition_counts == 0] == 0.0).all()
    two = (family.transition_counts == 1) & (family.transition_counts.sum(axis=2, keepdims=True) == 2)
    first = np.zeros_like(two)
    s, a = np.nonzero(two.any(axis=2))
    first[s, a, two.argmax(axis=2)[s, a]] = True
    assert kstest(draws[:, first].ravel(), "uniform").pvalue > 1e-4
    mean = family.transition_counts / family.transition_counts.sum(axis=2, keepdims=True)
    assert np.abs(draws.mean(axis=0) - mean).max() < 5 * np.sqrt(1 / 12 / 200)  # Bonferroni over 200 rows: about 1e-4


def test_draws_follow_unequal_counts():
    # Dirichlet(1, 2, 3) has means 1/6, 1/3, 1/2; 2000 draws, 4 standard errors: false-alarm rate 2e-4 in all.
    counts = np.broadcast_to([1.0, 2.0, 3.0, 0.0], (4, 1, 4))
    family, rng = DirichletFamily("mine", counts, np.zeros((4, 1, 4))), np.random.default_rng(2)
    rows = np.array([family.draw(rng).dense()[0][0, 0] for _ in range(2000)])
    mean = counts[0, 0] / 6
    error = np.sqrt(mean * (1 - mean) / 7 / 2000)
    assert (np.abs(rows.mean(axis=0) - mean) <= 4 * error).all()
    assert rows[:, :3].var(axis=0) == pytest.approx((mean * (1 - mean) / 7)[:3], rel=0.15)


def test_draws_depend_on_the_generator_alone():
    family = make_world("gc")
    assert family.draw(np.random.default_rng(1)) == family.draw(np.random.default_rng(1))
    assert family.draw(np.random.default_rng(1)) != family.draw(np.random.default_rng(2))
    assert family == make_world("gc")
    assert family != make_world("gc", gamma=0.9)


def start_values(name, runs):
    """V* and the value of random play at the start, exact in each of some worlds."""
    family, rng = make_world(name), np.random.default_rng(0)
    uniform = np.full((family.n_states, family.n_actions), 1 / family.n_actions)
    drawn = [family.draw(rng) for _ in range(runs)]
    return np.array([(solve(world).values[0], evaluate_policy(world, uniform)[0]) for world in drawn])


def test_gc_optimum_agrees_with_peer_code():
    # BBRL's own runs: optimum 70.8 (3.1), random 31.9 (1.0); 95% intervals of 500 simulated worlds.
    # Within 3 standard errors of the difference: false-alarm rate .27% each.
    values = start_values("gc", 1000)
    error = np.hypot(values.std(axis=0) / np.sqrt(1000), np.array([3.1, 1.0]) / 1.96)
    assert (np.abs(values.mean(axis=0) - [70.8, 31.9]) < 3 * error).all()


def test_gdl_optimum_agrees_with_peer_code():
    # BBRL's own run: 3.51 (.09), as above.
    best = start_values("gdl", 500)[:, 0]
    assert abs(best.mean() - 3.51) < 3 * np.hypot(best.std() / np.sqrt(500), 0.09 / 1.96)


def test_250_steps_are_nearly_for_ever():
    world = make_world("gc").draw(np.random.default_rng(4))
    assert 0.0 < solve(world).values[0] - finite_horizon(world, 250).start_value < 1e-3


# What an agent is told -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_accurate_and_inaccurate_priors(name):
    family = make_world(name)
    accurate, inaccurate = prior_for(family), prior_for(family, "inaccurate")
    P, R = accurate.mean_mdp().dense()
    assert np.allclose(P, family.transition_counts / family.transition_counts.sum(axis=2, keepdims=True), atol=1e-15)
    assert np.array_equal(R, family.rewards)
    assert accurate.alpha.sum() == family.transition_counts.sum()
    assert (inaccurate.alpha == 1.0).all()
    assert inaccurate.alpha.shape == (family.n_states * family.n_actions, family.n_states)
    assert np.array_equal(inaccurate.mean_mdp().dense()[1], family.rewards)
    assert accurate.gamma == inaccurate.gamma == family.gamma
    # A drawn world can be learnt about under either.
    world, rng = family.draw(np.random.default_rng(0)), np.random.default_rng(1)
    assert world.mdp.outcomes == accurate.outcomes
    state, _ = world.reset(rng)
    for action in rng.integers(family.n_actions, size=50).tolist():
        new, _, reward, _ = world.step(state, action, rng)
        accurate, inaccurate = (b.update(Transition(state, action, reward, new)) for b in (accurate, inaccurate))
        state = new
    assert accurate.seen == inaccurate.seen == 50


def test_a_family_has_no_table():
    family = make_world("gc")
    for asked in (lambda: family.mdp, family.dense, lambda: solve(family)):
        with pytest.raises(InvalidArgument) as caught:
            asked()
        assert "That is a family of worlds, which has no table: draw(rng) a world first." in str(caught.value)


def test_prior_specs_of_families():
    with pytest.raises(Incompatible, match="The prior 'flat' needs a problem with 'mdp', which gc lacks"):
        prior_for(make_world("gc"), "flat:1")
    with pytest.raises(InvalidArgument, match=r"prior: 'accurate' must be given without a value, got 2\."):
        prior_for(make_world("gc"), "accurate:2")


@pytest.mark.parametrize(
    "counts, rewards",
    [
        (np.ones((2, 1, 3)), np.zeros((2, 1, 3))),
        (np.ones((2, 1, 2)), np.zeros((2, 1))),
        (np.zeros((2, 1, 2)), np.zeros((2, 1, 2))),
        (-np.ones((2, 1, 2)), np.zeros((2, 1, 2))),
    ],
)
def test_malformed_families_are_refused(counts, rewards):
    with pytest.raises(BayesRLError, match=r"^DirichletFamily: "):
        DirichletFamily("mine", counts, rewards)
