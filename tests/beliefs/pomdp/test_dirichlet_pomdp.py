"""Counts of transitions and observations: means, draws, densities, learning from steps that were seen, bad input."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import dirichlet

import bayesrl as b
from bayesrl.beliefs import DirichletPOMDP
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.testing.statistics import assert_mean_equal

PHI = np.array([[[1.5, 0.5], [0.0, 1.0]], [[2.0, 1.0], [0.7, 0.3]]])
PSI = np.array([[[1.0, 2.0, 0.0], [0.4, 0.3, 0.3]], [[0.5, 0.5, 3.0], [1.0, 1.0, 1.0]]])
R = np.array([[0.0, 1.0], [-1.0, 2.0]])
KNOWN_T, KNOWN_O = np.array([[False, True], [False, True]]), np.array([[False, True], [False, False]])


def prior(**changed):
    given = {"phi": PHI, "psi": PSI, "R": R, "gamma": 0.9, "start": [0.25, 0.75]}
    return DirichletPOMDP.from_dense(**given | {"known_transitions": KNOWN_T, "known_observations": KNOWN_O} | changed)


def tied():
    """Two outcomes of every pair share one row, and one of the pairs leads to state 0 in both cases."""
    succ = np.array([[[0, 1]], [[0, 0]]])
    observation = np.array([[[0, 1]], [[1, 0]]])
    start, ends = np.array([1.0, 0.0]), np.zeros(2, bool)
    outcomes = Outcomes(succ, np.zeros((2, 1, 2)), np.zeros((2, 1)), [2], np.zeros(1), start, ends)
    return DirichletPOMDP(
        outcomes,
        [[3.0, 1.0]],
        ObservationOutcomes(observation, np.zeros((2, 1)), [2], 2),
        [[5.0, 3.0]],
        [[0.0], [1.0]],
        0.9,
    )


def test_means_are_counts_over_totals_and_known_rows_stay():
    P, O, r = prior().mean_pomdp().dense()
    np.testing.assert_allclose(P, PHI / PHI.sum(axis=2, keepdims=True), atol=1e-15)
    np.testing.assert_allclose(O, PSI / PSI.sum(axis=2, keepdims=True), atol=1e-15)
    np.testing.assert_array_equal(r, R)
    np.testing.assert_array_equal(prior().mean_pomdp().start, [0.25, 0.75])


def test_draws_have_these_means_and_keep_known_rows():
    """False-alarm rate 1e-6 for each of the two means."""
    rng = default_rng(0)
    drawn = [prior().sample_pomdp(rng).dense() for _ in range(800)]
    P, O = (np.array([d[i] for d in drawn]) for i in (0, 1))
    assert (P[:, KNOWN_T] == PHI[KNOWN_T]).all()
    assert (O[:, KNOWN_O] == PSI[KNOWN_O]).all()
    assert_mean_equal(P[:, :, 0].reshape(800, -1), (PHI / PHI.sum(2, keepdims=True))[:, 0].ravel(), false_alarm=1e-6)
    assert_mean_equal(O[:, 0, 0, :2], [1 / 3, 2 / 3], false_alarm=1e-6)
    assert (O[:, 0, 0, 2] == 0.0).all()


def test_density_is_that_of_unknown_rows():
    belief, rng = prior(), default_rng(1)
    drawn = belief.sample_pomdp(rng)
    P, O, _ = drawn.dense()
    hand = dirichlet.logpdf(P[0, 0], PHI[0, 0]) + dirichlet.logpdf(P[1, 0], PHI[1, 0])
    hand += dirichlet.logpdf(O[0, 0, :2], PSI[0, 0, :2])
    hand += dirichlet.logpdf(O[1, 0], PSI[1, 0]) + dirichlet.logpdf(O[1, 1], PSI[1, 1])
    assert belief.log_density(drawn) == pytest.approx(hand, abs=1e-9)
    again = b.TabularPOMDP.from_dense(P, O, R, 0.9)  # the same rows in another list
    assert belief.log_density(again) == pytest.approx(hand, abs=1e-9)
    O[0, 0] = [0.2, 0.3, 0.5]
    assert belief.log_density(b.TabularPOMDP.from_dense(P, O, R, 0.9)) == -np.inf


def test_density_of_a_tied_row_counts_it_once():
    belief = tied()
    P, O, r = belief.sample_pomdp(default_rng(2)).dense()
    hand = dirichlet.logpdf(P[0, 0], [3.0, 1.0]) + dirichlet.logpdf(O[0, 0], [5.0, 3.0])
    assert belief.log_density(b.TabularPOMDP.from_dense(P, O, r, 0.9)) == pytest.approx(hand, abs=1e-9)
    O[1, 0] = [0.5, 0.5]
    with pytest.raises(InvalidArgument, match="equal probabilities in tied rows"):
        belief.log_density(b.TabularPOMDP.from_dense(P, O, r, 0.9))


def test_steps_that_were_seen_are_counted():
    belief = prior().learned(0, 0, 1, 2, 0.5).learned(0, 1, 1, 0)
    P, O, _ = belief.mean_pomdp().dense()
    np.testing.assert_allclose(P[0, 0], [0.6, 0.4])
    np.testing.assert_allclose(O[1, 0], np.array([0.5, 0.5, 3.5]) / 4.5)
    np.testing.assert_allclose(O[1, 1], [0.5, 0.25, 0.25])
    np.testing.assert_array_equal(P[0, 1], [0.0, 1.0])
    both = tied().learned(1, 0, 0, 0)  # two outcomes lead there and share the count
    np.testing.assert_allclose(both.phi, [[3.75, 1.25]])
    np.testing.assert_allclose(both.psi, [[6.0, 3.0]])


def test_structure_of_a_pomdp_with_counts_of_its_groups():
    pomdp = prior().mean_pomdp()
    known = DirichletPOMDP.structured(pomdp)
    np.testing.assert_array_equal(known.sample_pomdp(default_rng(0)).dense()[0], pomdp.dense()[0])
    counts = DirichletPOMDP.structured(
        pomdp, psi=10 * pomdp.observation_prob, known_observations=[True, False, False, False]
    )
    assert counts.mean_pomdp().dense()[1][1, 0] == pytest.approx(pomdp.seen[1, 0])
    assert counts.psi.sum(axis=1).round(9).tolist() == [1.0, 10.0, 10.0, 10.0]
    for name, rows in (("phi", pomdp.mdp.prob), ("psi", pomdp.observation_prob)):
        known = "known_transitions" if name == "phi" else "known_observations"
        with pytest.raises(InvalidArgument, match=f"'{known}' must be truth values"):
            DirichletPOMDP.structured(pomdp, **{name: rows, known: [True]})


def test_rewards_of_observations_are_means_over_what_is_seen():
    paid = np.zeros((2, 2, 2, 3))
    paid[..., 2] = 1.0
    belief = prior(R=paid)
    model = belief.sample_pomdp(default_rng(3))
    P, O, r = model.dense()
    np.testing.assert_allclose(r, np.einsum("say,ya->sa", P, O[..., 2]))
    np.testing.assert_allclose(model.mdp.mean_reward, r)
    assert belief.reward_range() == (0.0, 1.0)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"phi": -PHI}, "phi"),
        ({"phi": PHI * np.nan}, "phi"),
        ({"psi": PSI + np.inf}, "psi"),
        ({"phi": PHI[:, :, :1]}, "phi"),
        ({"psi": PSI[:1]}, "psi"),
        ({"phi": PHI * [[[0.0]], [[1.0]]]}, "phi"),
        ({"psi": PSI * [[[0.0]], [[1.0]]]}, "psi"),
        ({"phi": 2 * PHI}, "phi (known rows)"),
        ({"psi": 2 * PSI}, "psi (known rows)"),
        ({"known_transitions": [True]}, "known_transitions"),
        ({"known_observations": KNOWN_O.astype(int)}, "known_observations"),
        ({"gamma": 1.5}, "gamma"),
        ({"start": [0.5, 0.6]}, "start"),
        ({"start": 2}, "start"),
        ({"R": [1.0, 2.0]}, "R"),
        ({"terminal": [2]}, "terminal"),
        ({"terminal": 1}, "terminal"),
    ],
)
def test_bad_input(changed, name):
    with pytest.raises(InvalidArgument) as error:
        prior(**changed)
    assert error.value.name == name
    assert len(str(error.value).splitlines()) == 1


def test_bad_steps_and_models():
    belief = prior()
    for bad in ((2, 0, 0, 0), (0, -1, 0, 0), (0, 0, 0.5, 0), (0, 0, 0, None), (0, 0, 0, 3), (0, 0, 0, 0, 0.0)):
        with pytest.raises(InvalidArgument):
            belief.learned(*bad)
    for impossible in ((0, 1, 0, 0), (0, 0, 0, 2)):
        with pytest.raises(ImpossibleEvidence):
            belief.learned(*impossible)
    for call in (
        lambda: belief.log_density(None),
        lambda: DirichletPOMDP.structured(None),
        lambda: belief.sample_pomdp(0),
    ):
        with pytest.raises(InvalidArgument):
            call()
    with pytest.raises(InvalidArgument, match="known_transitions"):
        DirichletPOMDP(belief.outcomes, belief.phi, belief.observed, belief.psi, belief.rewards, 0.9, [True])
    with pytest.raises(InvalidArgument, match="See from_dense"):
        DirichletPOMDP(None, belief.phi, belief.observed, belief.psi, belief.rewards, 0.9)
