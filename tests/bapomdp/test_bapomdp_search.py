"""Exact searches of Bayes-adaptive POMDPs: equal to brute force, pruned without loss, and what bounded counts cost."""

from itertools import pairwise

import numpy as np
import pytest
from hidden_paths import q_values, random_prior, tied_prior, tiger_prior
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import bounded_error, value_difference_bound
from bayesrl.beliefs import BoundedBAPOMDP, DirichletPOMDP, ExactBAPOMDP, ParticleBAPOMDP
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.models.solve import solve
from bayesrl.parameters import unchecked


def seeing(prior, o):
    """The same prior with a reward that depends on what is reached and seen."""
    rng = default_rng(9)
    rewards = rng.normal(size=(prior.n_states, prior.n_actions, prior.n_states, prior.n_observations)[:o]).round(2)
    return DirichletPOMDP(
        prior.outcomes, prior.phi, prior.observed, prior.psi, rewards, prior.gamma,
        prior.known_transitions, prior.known_observations,
    )  # fmt: skip


PRIORS = {
    "all unknown": random_prior(default_rng(0)),
    "known rows": random_prior(default_rng(1), known=True),
    "terminal": random_prior(default_rng(2), S=3, terminal=(2,)),
    "tied": tied_prior(),
    "tiger": tiger_prior(2.0, 1.0, -20.0),
    "paid by next state": seeing(random_prior(default_rng(3)), 3),
    "paid by observation": seeing(random_prior(default_rng(3), known=True), 4),
}
DEPTHS = {"tied": (1, 2, 3), "terminal": (1, 2, 3), "tiger": (1, 2, 3)}
HISTORIES = {"tied": [], "terminal": [(1, 0)], "tiger": [(0, 0)]}


def decide(name, belief, **parameters):
    return b.make(f"bapomdp-{name}", **parameters).plan(belief, -1, None, default_rng(0)).info


def after(belief, history):
    for a, o in history:
        belief = belief.update(b.Transition(-1, a, 0.0, o))
    return belief


@pytest.mark.parametrize("name", PRIORS)
def test_equals_brute_force_at_every_depth(name):
    prior, history = PRIORS[name], HISTORIES.get(name, [(1, 1)])
    for seen in ([], history):
        belief = after(ExactBAPOMDP(prior), seen)
        for depth in DEPTHS.get(name, (1, 2, 3, 4) if not seen else (1, 2, 3)):
            exact = q_values(prior, seen, depth)
            np.testing.assert_allclose(decide("forward-search", belief, depth=depth)["q"], exact, atol=1e-9)


@pytest.mark.parametrize("name", ["all unknown", "terminal", "tied"])
def test_leaves_are_qmdp_of_the_mean_model(name):
    prior = PRIORS[name]
    belief = ExactBAPOMDP(prior)
    leaf = solve(belief.mean_pomdp().mdp).q
    for depth in (1, 2):
        exact = q_values(prior, [], depth, leaf)
        np.testing.assert_allclose(decide("forward-search", belief, depth=depth, leaf="mean")["q"], exact, atol=1e-7)


def test_learning_in_the_tree_shows_from_the_third_decision_on():
    """Q_1 and Q_2 are those of the mean model, Q_3 is not: a search whose counts stay fixed is another one."""
    for prior in (PRIORS["all unknown"], PRIORS["tiger"]):
        fixed = ExactBAPOMDP(DirichletPOMDP.structured(prior.mean_pomdp()))
        learns = ExactBAPOMDP(prior)
        for depth in (1, 2):
            one, two = (decide("forward-search", x, depth=depth)["q"] for x in (learns, fixed))
            np.testing.assert_allclose(one, two, atol=1e-12)
        one, two = (decide("forward-search", x, depth=3)["q"] for x in (learns, fixed))
        assert np.abs(one - two).max() > 1e-3


def test_values_of_the_tigers():
    """The mild tiger (wrong door -20, counts (2, 1)) has -1.566 for four decisions; its mean model kept fixed -.822."""
    mild = tiger_prior(2.0, 1.0, -20.0)
    assert decide("forward-search", ExactBAPOMDP(mild), depth=4)["q"].max() == pytest.approx(-1.566, abs=5e-4)
    fixed = ExactBAPOMDP(DirichletPOMDP.structured(mild.mean_pomdp()))
    assert decide("forward-search", fixed, depth=4)["q"].max() == pytest.approx(-0.822, abs=5e-4)
    known = ExactBAPOMDP(DirichletPOMDP.structured(tiger_prior(85.0, 15.0).mean_pomdp()))
    for h, value in zip((1, 2, 3, 4, 5, 6), (-1, -1.95, 2.3098, 1.795544, 2.763096, 4.428531), strict=True):
        assert decide("forward-search", known, depth=h)["q"].max() == pytest.approx(value, abs=1e-6)


def test_a_particle_belief_is_searched_exactly_from_its_particles_on():
    """After one sound its particles have two kinds of counts. The exact belief, so weighted, has the same values."""
    belief = ParticleBAPOMDP(PRIORS["tiger"], particles=30).update(b.Transition(-1, 0, -1.0, 0), default_rng(0))
    exact = after(ExactBAPOMDP(PRIORS["tiger"]), [(0, 0)])
    weight = belief.states()[exact.hyper.state]
    weight.setflags(write=False)
    listed = unchecked(exact, hyper=exact.hyper._replace(weight=weight))
    ours, same = (decide("forward-search", x, depth=3)["q"] for x in (belief, listed))
    np.testing.assert_allclose(ours, same, atol=1e-12)
    assert np.abs(ours - decide("forward-search", exact, depth=3)["q"]).max() > 1e-3


# Branch and bound ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaf", ["zero", "mean"])
@pytest.mark.parametrize("bound", ["naive", "optimistic"])
@pytest.mark.parametrize("name", PRIORS)
def test_branch_and_bound_has_the_same_values_with_no_more_nodes(name, bound, leaf):
    belief = ExactBAPOMDP(PRIORS[name])
    belief = after(belief, HISTORIES.get(name, [(1, 1)]))
    for depth in (1, 2, 3, 4):
        full = decide("forward-search", belief, depth=depth, leaf=leaf)
        pruned = decide("branch-and-bound", belief, depth=depth, leaf=leaf, bound=bound)
        np.testing.assert_allclose(pruned["q"], full["q"], atol=1e-9)
        assert pruned["nodes"] <= full["nodes"]
        assert (pruned["lower"] <= full["q"] + 1e-9).all()
        assert (pruned["upper"] >= full["q"] - 1e-9).all()


def test_bounds_bracket_the_values():
    """On random problems, of any depth; the optimistic bounds are inside the naive ones."""
    for seed in range(12):
        prior = random_prior(
            default_rng(seed), S=2 + seed % 2, known=seed % 3 == 0, terminal=(1,) if seed % 4 == 3 else ()
        )
        prior = seeing(prior, 2 + seed % 3)
        belief = ExactBAPOMDP(prior)
        for leaf in ("zero", "mean"):
            q = decide("forward-search", belief, depth=3, leaf=leaf)["q"]
            tight = decide("branch-and-bound", belief, depth=3, leaf=leaf)
            loose = decide("branch-and-bound", belief, depth=3, leaf=leaf, bound="naive")
            for found in (tight, loose):
                assert (found["lower"] <= q + 1e-9).all()
                assert (found["upper"] >= q - 1e-9).all()
            if leaf == "zero":
                assert (tight["upper"] <= loose["upper"] + 1e-9).all()
                assert (tight["lower"] >= loose["lower"] - 1e-9).all()


def test_fewer_nodes():
    """Pruning leaves out most of the tree of the tiger at depth 5, and all of what is certain to be worse."""
    belief = ExactBAPOMDP(tiger_prior())
    full, pruned = decide("forward-search", belief, depth=5), decide("branch-and-bound", belief, depth=5)
    assert full["nodes"] == sum(6**i for i in range(5))
    assert pruned["nodes"] < 0.7 * full["nodes"]


# Bounded counts ------------------------------------------------------------------------------------------------------


def test_bounded_counts_have_exact_values_from_the_bound_on():
    """As soon as the bound is the largest prior total plus the depth. With less, the rule is that of brute force."""
    for prior in (PRIORS["all unknown"], PRIORS["tiger"], PRIORS["tied"]):
        largest = max(
            float(x[~f].sum(axis=1).max(initial=0.0)) for x, f in zip((prior.phi, prior.psi), prior.fixed, strict=True)
        )
        exact = decide("forward-search", ExactBAPOMDP(prior), depth=3)["q"]
        np.testing.assert_array_equal(decide("forward-search", BoundedBAPOMDP(prior, largest + 3), depth=3)["q"], exact)
        for bound in (0.5, largest, largest + 1):
            hand = q_values(prior, [], 3, counted=lambda total, n=bound: total < n)
            np.testing.assert_allclose(
                decide("forward-search", BoundedBAPOMDP(prior, bound), depth=3)["q"], hand, atol=1e-9
            )


def test_bounded_counts_come_nearer_and_stay_within_the_bound():
    prior = PRIORS["tiger"]
    exact = decide("forward-search", ExactBAPOMDP(prior), depth=5)["q"].max()
    errors = [
        abs(decide("forward-search", BoundedBAPOMDP(prior, n), depth=5)["q"].max() - exact) for n in (3, 4, 5, 6, 8)
    ]
    assert all(x >= y for x, y in pairwise(errors))
    assert errors[0] > 0.1
    assert errors[-1] == 0.0
    assert all(error <= bounded_error(n, prior.gamma, 20.0) for n, error in zip((3, 4, 5, 6, 8), errors, strict=True))


def test_values_of_two_counts_differ_by_less_than_the_bound():
    for seed in range(6):
        rng = default_rng(seed)
        one = random_prior(rng)
        two = one.learned(0, 0, 0, 1).learned(1, 1, 1, 0, float(rng.uniform(0.5, 3.0)))
        apart = np.abs(
            decide("forward-search", ExactBAPOMDP(one), depth=4)["q"]
            - decide("forward-search", ExactBAPOMDP(two), depth=4)["q"]
        ).max()
        bound = value_difference_bound(one, two, float(np.abs(one.rewards).max()))
        assert 0.0 < apart < bound
        assert value_difference_bound(one, one, 1.0) == 0.0


def test_the_bounds_by_hand():
    gamma, r = 0.9, 2.0
    one, two = (tiger_prior(c, 3.0) for c in (5.0, 6.0))
    means = 2 * (6 / 9 - 5 / 8)
    constant = 4 / (np.e * np.log(1 / 0.95))
    hand = 2 * 0.95 * 20 / 0.05**2 * (means + constant * 1 / (9 * 10))
    assert value_difference_bound(one, two, 20.0) == pytest.approx(hand)
    known = DirichletPOMDP.structured(one.mean_pomdp())
    assert value_difference_bound(one, known, 20.0) == pytest.approx(2 * 0.95 * 20 / 0.05**2 * constant / 9)
    assert value_difference_bound(known, known, 20.0) == 0.0
    N = 7
    inner = 4 / (N + 1) + 8 / (np.e * np.log(1 / gamma) * (N + 1) * (N + 2))
    assert bounded_error(N, gamma, r) == pytest.approx(gamma / (1 - gamma) * 2 * gamma * r / (1 - gamma) ** 2 * inner)


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: b.make("bapomdp-forward-search", depth=0),
        lambda: b.make("bapomdp-branch-and-bound", depth=0),
        lambda: b.make("bapomdp-branch-and-bound", bound="wild"),
        lambda: b.make("bapomdp-forward-search", leaf="best"),
        lambda: bounded_error(0, 0.9, 1.0),
        lambda: bounded_error(5, 1.0, 1.0),
        lambda: bounded_error(5, 0.9, -1.0),
        lambda: value_difference_bound(None, tiger_prior(), 1.0),
        lambda: value_difference_bound(tiger_prior(), tied_prior(), 1.0),
        lambda: value_difference_bound(tiger_prior(), tiger_prior(), np.nan),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(InvalidArgument):
        call()


@pytest.mark.parametrize("name", ["bapomdp-forward-search", "bapomdp-branch-and-bound"])
def test_beliefs_without_hyper_states_are_refused(name):
    known = b.beliefs.POMDPFilter(b.make_world("tiger").pomdp)
    for belief in (known, b.DirichletMDP.flat(b.make_world("chain"))):
        with pytest.raises(Incompatible, match="compiled_hyper_states"):
            b.BayesAgent(belief, b.make(name))
        with pytest.raises(Incompatible, match="compiled_hyper_states"):
            b.make(name).plan(belief, -1, None, default_rng(0))
    with pytest.raises(Incompatible):
        b.BayesAgent(ExactBAPOMDP(tiger_prior()), b.make("psrl"))
