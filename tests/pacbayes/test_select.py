"""Selection of Gibbs posteriors against plain search, what priors are kept and dropped, and `prior_check`."""

import math
from math import inf

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl import pacbayes as pac
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.models.mdp import TabularMDP


def test_selection_is_the_best_of_those_tried():
    """By plain arithmetic; values of things without prior probability do not matter."""
    V, p, tried = np.array([0.2, 0.5, 0.9, 1e6]), np.array([0.5, 0.3, 0.2, 0.0]), [0.0, 0.5, 2.0, 8.0, 50.0]

    def bound(kl):
        return 0.3 * kl**0.5 + 0.1

    best = -inf
    for t in tried:
        q = p * np.exp(t * np.minimum(V, 1.0))
        q = q / q.sum()
        kl = sum(x * math.log(x / y) for x, y in zip(q, p, strict=True) if x > 0)
        mean = sum(x * y for x, y in zip(q, V, strict=True) if x > 0)
        if mean - bound(kl) > best:
            best, expected = mean - bound(kl), (t, kl, mean, bound(kl), mean - bound(kl))
            weights = q
    found = pac.select(V, p, tried, bound)
    assert expected[0] not in (0.0, 50.0)
    assert (found.temperature, found.kl, found.empirical, found.bound, found.lower) == pytest.approx(expected)
    assert found.weights == pytest.approx(weights)


def test_ends_of_the_temperatures():
    V, p = [1.0, 2.0], [0.75, 0.25]
    for t in (1e-6, 0.5, 1.0):
        q = np.array([0.75 * math.exp(t), 0.25 * math.exp(2 * t)])
        np.testing.assert_allclose(pac.select(V, p, [t], lambda kl: 0.0).weights, q / q.sum())
    assert pac.select(V, p, [0.0], lambda kl: 0.0).weights.tolist() == p
    sure = pac.select(V, p, [0.0, 1e99], lambda kl: 0.0)
    assert sure.weights.tolist() == [0.0, 1.0]
    assert sure.kl == pytest.approx(math.log(4))
    nothing = pac.select(V, p, [5.0, 1.0], lambda kl: inf)  # ties: the smallest temperature
    assert (nothing.temperature, nothing.bound, nothing.lower) == (1.0, inf, -inf)


def test_an_informative_prior_is_kept_against_misleading_data_and_a_misleading_one_is_dropped():
    """Ten rewards of each arm that mislead do not drop a good prior; a thousand rewards drop a wrong one.

    Ten arms; arm 0 pays .7, the others .3. Data mislead if another arm looks better by .1. False alarms: the seen
    difference is above ten standard errors, and the thousand rewards leave no other arm within .1 (ten deviations).
    """
    mu, rng, tried = np.r_[0.7, np.full(9, 0.3)], default_rng(0), np.r_[0.0, np.geomspace(0.1, 1e3, 30)]
    good, flat, wrong = np.r_[0.91, np.full(9, 0.01)], np.full(10, 0.1), np.r_[0.01, 0.91, np.full(8, 0.01)]

    def worth(n, prior, V):
        return pac.select(V, prior, tried, lambda kl: pac.mcallester(kl, n, 0.05, 0.0)).weights @ mu

    few = rng.binomial(10, mu, (2000, 10)) / 10
    few = few[few[:, 1:].max(axis=1) >= few[:, 0] + 0.1]
    assert len(few) > 100
    kept = np.array([worth(10, good, V) for V in few])
    gain = kept - [worth(10, flat, V) for V in few]
    assert gain.mean() - 5 * gain.std() / len(gain) ** 0.5 > 0.1
    many = rng.binomial(1000, mu, (20, 10)) / 1000
    assert min(worth(1000, wrong, V) for V in many) > 0.69


# Prior or data --------------------------------------------------------------------------------------------------------


def plant(works):
    """A machine that wears; repairs work with this probability."""
    run = [[0.7, 0.3, 0.0], [0.0, 0.7, 0.3], [0.0, 0.0, 1.0]]
    repair = [[1.0, 0.0, 0.0], [works, 1.0 - works, 0.0], [works, 0.0, 1.0 - works]]
    P, R = np.stack([run, repair], axis=1), [[1.0, 0.0], [0.6, 0.0], [0.2, 0.0]]
    return TabularMDP.from_dense(P, R, gamma=0.5, start=[0.2, 0.4, 0.4])


def log_of(mdp, n, rng):
    """n visits of each pair."""
    P, R = mdp.dense()
    pairs = [(s, a) for s in range(3) for a in range(2)]
    return [Transition(s, a, R[s, a, y], int(y)) for s, a in pairs for y in rng.choice(3, n, p=P[s, a])]


HERE, OTHER = plant(0.2), plant(0.9)
FLAT = b.DirichletMDP.flat(HERE)


def test_a_prior_from_another_plant():
    """A prior from the same plant is kept; from another plant it rules while data are few, and then data do."""
    rng = default_rng(0)
    same, other = (FLAT.update_many(log_of(mdp, 50, rng)) for mdp in (HERE, OTHER))
    few, more, many = (log_of(HERE, n, rng) for n in (5, 100, 2000))
    verdicts = [
        [pac.prior_check(prior, log, 30, rng=default_rng(1)).rules for log in (few, more, many)]
        for prior in (same, other)
    ]
    assert verdicts == [["neither", "prior", "prior"], ["neither", "prior", "data"]]
    between = pac.prior_check(other, log_of(HERE, 50, default_rng(8)), 30, rng=default_rng(1))
    assert between.rules == "prior"
    assert between.prior_lower > between.data_lower == between.least  # one end says something


def test_the_unit_of_rewards_does_not_matter():
    """Rewards times 1e-12: the same policies, and returns times 1e-12. The best policy is not the myopic one."""
    log, unit = log_of(OTHER, 100, default_rng(9)), 1e-12
    P, R = OTHER.dense()
    small = TabularMDP.from_dense(P, unit * R[:, :, 0], gamma=0.5, start=[0.2, 0.4, 0.4])
    scaled = [step._replace(reward=unit * step.reward) for step in log]
    one = pac.prior_check(FLAT, log, 10, rng=default_rng(0))
    other = pac.prior_check(b.DirichletMDP.flat(small), scaled, 10, rng=default_rng(0))
    assert other.policies[other.weights.argmax()].tolist() == [0, 0, 1]
    np.testing.assert_array_equal(other.policies, one.policies)
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-9)
    for name in ("empirical", "lower", "prior_lower", "data_lower", "highest"):
        assert getattr(other, name) == pytest.approx(unit * getattr(one, name), rel=1e-9)
    assert (other.visits, other.needed, other.rules) == (one.visits, one.needed, one.rules)


def test_guarantees_by_hand():
    """All from the plain lists: what p, the empirical model and the bound are."""
    rng, n, delta = default_rng(2), 100, 0.1
    prior, log = FLAT.update_many(log_of(OTHER, 50, rng)), log_of(HERE, n, rng)
    found = pac.prior_check(prior, log, 40, delta, rng=default_rng(3))
    draws, rng = [], default_rng(3)
    for _ in range(40):
        draws.append(tuple(int(a) for a in b.solve(prior.sample_mdp(rng)).policy))
    P, _ = HERE.dense()
    P = np.zeros_like(P)
    for step in log:
        P[step.state, step.action, step.next_state] += 1.0 / n
    empirical = TabularMDP.from_dense(P, [[1.0, 0.0], [0.6, 0.0], [0.2, 0.0]], 0.5, start=[0.2, 0.4, 0.4])
    best = tuple(int(a) for a in b.solve(empirical).policy)
    things = sorted({*draws, best})
    p = np.array([0.95 * draws.count(pi) / 40 + 0.05 / 2**3 for pi in things])
    V = np.array([b.models.evaluate_policy(empirical, pi) @ [0.2, 0.4, 0.4] for pi in things])

    def bound(kl):
        return 2.0 * pac.model_bound(kl, 3, 0.5, n, delta / (n * (n + 1)), r_max=0.5)

    assert set(map(tuple, found.policies.tolist())) == set(things)
    assert best == (0, 0, 0)
    at = [things.index(tuple(pi)) for pi in found.policies.tolist()]
    assert found.prior_weights == pytest.approx(p[at])
    assert found.data_lower == pytest.approx(V.max() - bound(-math.log(p[V.argmax()])))
    assert found.prior_lower == pytest.approx(p @ V / p.sum() - bound(-math.log(p.sum())))
    q = found.weights
    assert found.kl == pytest.approx(sum(x * math.log(x / y) for x, y in zip(q, p[at], strict=True) if x > 0))
    assert found.empirical == pytest.approx(q @ V[at])
    assert found.lower == pytest.approx(found.empirical - bound(found.kl))
    assert found.lower >= max(found.data_lower, found.prior_lower)
    assert (found.visits, found.least, found.highest) == (n, 0.0, 2.0)
    needed = [pac.model_bound(0.0, 3, 0.5, m, delta / m / (m + 1), 0.5) for m in (found.needed - 1, found.needed)]
    assert needed[1] < found.empirical / 2.0 <= needed[0]


def test_only_first_visits_count_and_policies_with_unseen_pairs_pay():
    """Later visits of a pair change nothing; without repairs in the log only the policy that never repairs is left."""
    rng = default_rng(4)
    log = log_of(HERE, 60, rng)
    again = [*log, *(Transition(0, 0, 1.0, 1) for _ in range(500))]
    first, second = (pac.prior_check(FLAT, each, 30, rng=default_rng(0)) for each in (log, again))
    assert first == second
    runs = [step for step in log if step.action == 0]
    found = pac.prior_check(FLAT, runs, 200, rng=default_rng(0))
    assert found.policies.tolist() == [[0, 0, 0]]
    assert found.kl == pytest.approx(-math.log(found.prior_weights[0]))
    nothing = pac.prior_check(FLAT, [step for step in log if step.state], 30, rng=default_rng(0))
    assert (nothing.rules, nothing.visits, nothing.lower) == ("neither", 0, 0.0)
    assert nothing.weights == pytest.approx(nothing.prior_weights)


def test_guarantees_hold():
    """60 logs and delta = .5: at most 30 failures plus chance; none is seen, as the bound is loose."""
    rng, failed = default_rng(5), 0
    for _ in range(60):
        found = pac.prior_check(FLAT, log_of(HERE, 40, rng), 5, 0.5, rng=rng)
        true = [b.models.evaluate_policy(HERE, pi) @ [0.2, 0.4, 0.4] for pi in found.policies]
        failed += found.weights @ true < found.lower
    assert failed == 0


def test_rewards_of_next_states_and_ends():
    """Rewards that depend on the next state are estimated too, with the larger range; an end pays nothing."""
    P = np.zeros((3, 2, 3))
    P[:, 0, 1], P[:, 0, 2], P[:, 1, 0], P[:, 1, 2] = 0.5, 0.5, 0.5, 0.5
    R = np.zeros((3, 2, 3))
    R[:, :, 2] = 1.0
    mdp = TabularMDP.from_dense(P, R, 0.5, terminal=[2])
    rng = default_rng(6)
    log = [
        Transition(s, a, float(y == 2), y, y == 2)
        for s in range(2)
        for a in range(2)
        for y in (1 - a, 2)
        for _ in range(200)
    ]
    found = pac.prior_check(b.DirichletMDP.structured(mdp), [log[i] for i in rng.permutation(len(log))], 10, rng=rng)
    assert found.visits == 400
    assert found.empirical == pytest.approx(0.5 / (1.0 - 0.25))
    bound = 2.0 * pac.model_bound(found.kl, 3, 0.5, 400, 0.05 / 400 / 401, r_max=0.5, known_rewards=False)
    assert found.lower == pytest.approx(found.empirical - bound)


def test_sentences():
    rng = default_rng(7)
    other = FLAT.update_many(log_of(OTHER, 50, rng))
    few, more, many = (pac.prior_check(other, log_of(HERE, n, rng), 30, rng=rng) for n in (5, 100, 2000))
    assert few.sentence.startswith("Neither rules yet: after 5 visits of each pair")
    assert more.sentence.startswith("The prior rules: its policies return at least")
    assert many.sentence.startswith("The data rule: the policy that looks best in them returns at least")
    assert few.needed > 5


LOG = [Transition(0, 0, 1.0, 0)]
SELECT = {"values": [1.0, 2.0], "prior_weights": [0.5, 0.5], "temperatures": [0.0], "bound": lambda kl: 0.0}


@pytest.mark.parametrize(
    "name, x",
    [
        ("values", [np.nan, 1.0]), ("values", []), ("values", "x"), ("values", [1e101, 1.0]),
        ("temperatures", [1e101]), ("prior_weights", [0.5, 0.6]), ("prior_weights", [1.0]),
        ("prior_weights", [-0.5, 1.5]), ("temperatures", []), ("temperatures", [-1.0]), ("temperatures", [np.nan]),
        ("temperatures", 1.0), ("bound", None), ("bound", lambda kl: np.nan), ("bound", lambda kl: -1.0),
        ("bound", lambda kl: "x"), ("bound", lambda kl: None),
    ],
)  # fmt: skip
def test_bad_selection(name, x):
    with pytest.raises(InvalidArgument, match=f"select: '{name}' must be "):
        pac.select(**SELECT | {name: x})


def test_bad_checks():
    rng = default_rng(0)
    for wrong, error in (
        ({"belief": HERE}, Incompatible),
        ({"belief": None}, Incompatible),
        ({"belief": b.DirichletMDP.flat(TabularMDP.from_dense([[[1.0]]], [0.0], 1.0))}, InvalidArgument),
        ({"log": None}, InvalidArgument),
        ({"log": [3]}, InvalidArgument),
        ({"log": [Transition(0, 0, 2.0, 0)]}, ImpossibleEvidence),
        ({"log": [Transition(0, 5, 1.0, 0)]}, InvalidArgument),
        ({"policies": 0}, InvalidArgument),
        ({"delta": 1.0}, InvalidArgument),
        ({"rng": 3}, InvalidArgument),
    ):
        with pytest.raises(error):
            pac.prior_check(**{"belief": FLAT, "log": LOG, "rng": rng} | wrong)
