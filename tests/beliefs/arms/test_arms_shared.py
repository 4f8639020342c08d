"""The functions that beliefs about arms share, each against plain loops, with refusals exactly at the limits."""

import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, special, stats

from bayesrl.beliefs.arms import _contexts
from bayesrl.beliefs.arms import arms as _arms
from bayesrl.beliefs.arms import best_arm as _best_arm
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.capabilities import BestArm
from bayesrl.checks import LARGEST
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument

BEYOND = float(np.nextafter(LARGEST, np.inf))


def refused(call, *parts):
    """The call is refused in a sentence with these parts."""
    with pytest.raises((InvalidArgument, ImpossibleEvidence)) as error:
        call()
    for part in parts:
        assert part in str(error.value)


# Reading data ---------------------------------------------------------------------------------------------------------


def test_shapes_of_arrays():
    one, two = np.ones(3), np.ones((2, 3))
    _arms.check_shapes("W", a=one, b=one)
    _arms.check_shapes("W", a=two, b=two)
    for bad in (np.ones(()), np.ones((2, 3, 4))):
        refused(lambda x=bad: _arms.check_shapes("W", a=x, b=x), "W: 'a' must be an array of shape (arms,) or")
    refused(lambda: _arms.check_shapes("W", a=one, b=two), "W: 'b' must be an array of shape (3,), got an array of")
    refused(lambda: _arms.check_shapes("W", a=two, b=two, c=one), "W: 'c' must be an array of shape (2, 3), got")
    refused(lambda: _arms.check_like("W", "x", one, ()), "W: 'x' must be an array of shape (), got")


def test_choices_of_arms():
    for a in (0, 2, np.int64(2), np.int16(1)):
        assert _arms.arm_index("W", (3,), a) == a
    for bad in (-1, 3, 1.0, True):
        refused(lambda a=bad: _arms.arm_index("W", (3,), a), "W: 'action' must be a whole number of at least 0 and at")
    assert_array_equal(_arms.arm_index("W", (2, 3), [2, 0]), [2, 3])  # the flattened table has rows of three
    assert_array_equal(_arms.arm_index("W", (4, 3), np.array([0, 1, 2, 1])), [0, 4, 8, 10])
    refused(lambda: _arms.arm_index("W", (2, 3), [0, 3]), "W: 'action' must be whole numbers from 0 to 2, got 3.")
    refused(lambda: _arms.arm_index("W", (2, 3), [-1, 3]), "W: 'action' must be whole numbers from 0 to 2, got -1.")
    refused(lambda: _arms.arm_index("W", (2, 3), [0.0, 1.0]), "W: 'action' must be whole numbers of shape (2,)")
    refused(lambda: _arms.arm_index("W", (2, 3), [0, 1, 2]), "W: 'action' must be whole numbers of shape (2,)")
    unsigned = np.array([[2], [1]], np.uint8)
    assert_array_equal(_arms.arm_indices("W", (1, 3), unsigned, (2, 1)), [[2], [1]])


def test_sets_of_arms():
    assert_array_equal(_arms.check_set("W", (4,), [3, 0]), [3, 0])
    assert_array_equal(_arms.check_set("W", (4,), [2]), [2])
    assert_array_equal(_arms.check_set("W", (4,), np.array([3, 2, 1, 0], np.uint8)), [3, 2, 1, 0])
    assert_array_equal(_arms.check_set("W", (2, 4), [[0, 1], [3, 1]]), [[0, 1], [3, 1]])
    for shape, bad in (
        ((4,), [0.0, 1.0]),
        ((4,), []),
        ((4,), 2),
        ((4,), [[0, 1]]),
        ((4,), [-1, 0]),
        ((4,), [0, 4]),
        ((2, 4), [0, 1]),
        ((2, 4), [[0, 1]]),
        ((2, 4), [[0, 1], [1, 4]]),
        ((2, 4), np.zeros((2, 0), int)),
    ):
        refused(lambda s=shape, x=bad: _arms.check_set("W", s, x), "W: 'action' must be sets of arms from 0 to 3, got")
    for shape, bad in (((4,), [1, 0, 1]), ((2, 4), [[0, 1], [3, 3]])):
        refused(lambda s=shape, x=bad: _arms.check_set("W", s, x), "W: 'action' must be sets of different arms, got")


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_sizes_of_rewards(sign):
    """1e100 is the largest reward, alone, in lockstep and in logs; the next float is refused."""
    assert _arms.check_reward("W", (3,), sign * LARGEST) == sign * LARGEST
    assert _arms.check_reward("W", (3,), True) == 1.0
    assert _arms.check_reward("W", (3,), np.float32(0.5)) == 0.5
    refused(lambda: _arms.check_reward("W", (3,), sign * BEYOND), "W: 'reward' must be at most 1e+100 in size")
    refused(lambda: _arms.check_reward("W", (3,), sign * np.inf), "W: 'reward' must be a finite number")
    for bad in ("1", b"1", None, 10**400, [1.0, 2.0]):
        refused(lambda x=bad: _arms.check_reward("W", (3,), x), "W: 'reward' must be a finite number")
    assert_array_equal(_arms.check_reward("W", (2, 3), [1, sign * LARGEST]), [1.0, sign * LARGEST])
    refused(lambda: _arms.check_reward("W", (2, 3), [1.0, sign * BEYOND]), "'reward' must be at most 1e+100 in size")
    refused(lambda: _arms.check_reward("W", (2, 3), [sign * np.inf, 1.0]), "'reward' must be finite everywhere, got")
    refused(lambda: _arms.check_reward("W", (2, 3), 1.0), "W: 'reward' must be numbers of shape (2,), got")
    refused(lambda: _arms.check_reward("W", (2, 3), ["1", "2"]), "W: 'reward' must be numbers of shape (2,), got")
    for kind in (np.bool_, np.int8, np.uint16, np.float32):
        found = _arms.check_rewards("W", np.array([0, 1], kind), (2,))
        assert found.dtype == np.float64
        assert_array_equal(found, [0.0, 1.0])
    assert _arms.check_rewards("W", np.zeros(0), (0,)).shape == (0,)


def test_zeros_and_ones():
    _arms.check_binary("W", np.array([0.0, 1.0, -0.0]))
    refused(lambda: _arms.check_binary("W", np.array([[1.0, 0.25], [2.0, 0.0]])), "W: reward 0.25", "0 or 1")
    refused(lambda: _arms.check_binary("W", np.float64(-1.0)), "W: reward -1", "0 or 1")


def test_logs_of_arms():
    where, r = _arms.read_log("W", (3,), {"action": [2, 0], "reward": [1, 0]})
    assert_array_equal(where, [2, 0])
    assert_array_equal(r, [1.0, 0.0])
    where, r = _arms.read_log("W", (2, 3), {"action": [[2, 0], [1, 1], [0, 2]], "reward": np.arange(6.0).reshape(3, 2)})
    assert_array_equal(where, [[2, 3], [1, 4], [0, 5]])
    assert_array_equal(r, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    for shape in ((3,), (2, 3)):
        where, r = _arms.read_log("W", shape, [])
        assert where.shape == r.shape == (0,)
        assert where.dtype == np.int64
    refused(lambda: _arms.read_log("W", (2, 3), {"action": [0, 1], "reward": [0, 1]}), "numbers of shape (2, 2)")


def test_arrays_are_changed_in_copies():
    x = np.arange(6.0).reshape(2, 3)
    new = _arms.add_at(x, np.array([2, 3]), np.array([0.5, -7.0]))
    assert_array_equal(new, [[0.0, 1.0, 2.5], [-4.0, 4.0, 5.0]])
    assert_array_equal(x, np.arange(6.0).reshape(2, 3))
    assert not new.flags.writeable
    where, amount = np.array([[0, 4], [0, 5]]), np.array([[0.5, 2.0], [0.25, -1.0]])
    found = _arms.sum_at((2, 3), where, amount)
    assert_array_equal(found, [[0.75, 0.0, 0.0], [0.0, 2.0, -1.0]])
    assert_array_equal(_arms.sum_at((2, 3), where, 1.5), [[3.0, 0.0, 0.0], [0.0, 1.5, 1.5]])
    assert _arms.sum_at((2, 3), np.zeros(0, int), 1.0).dtype == np.float64


def test_replicates_up_to_the_largest_array(monkeypatch):
    monkeypatch.setattr(_arms, "MOST", 13)
    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    a, b = _arms.tile_replicates("W", 4, x, y)
    assert_array_equal(a, [[1.0, 2.0, 3.0]] * 4)
    assert_array_equal(b, [[4.0, 5.0, 6.0]] * 4)
    assert not a.flags.writeable
    assert _arms.tile_replicates("W", 13, np.ones(1))[0].shape == (13, 1)
    assert _arms.tile_replicates("W", 13, np.ones(0))[0].shape == (13, 0)
    refused(lambda: _arms.tile_replicates("W", 5, x, y), "W: 'replicates' must be a whole number of at least 1 and at")
    refused(lambda: _arms.tile_replicates("W", 0, x, y), "W: 'replicates' must be")
    refused(lambda: _arms.tile_replicates("W", 1, np.ones((2, 3))), "W: 'belief' must be of a single experiment")


@pytest.mark.parametrize("seed", range(4))
def test_distinct_rows_are_those_of_numpy(seed):
    rows = default_rng(seed).integers(0, 3, (17, 3)).astype(float)
    rows = rows[:1] if seed == 3 else rows
    expected, inverse = np.unique(rows, axis=0, return_inverse=True)
    found, which = _arms.distinct_rows(rows)
    assert_array_equal(found, expected)
    assert_array_equal(which, inverse.ravel())


def test_fading_by_natural_parameters():
    """x, and kappa and kappa m, move by 1 - keep; the third result is kappa0 kappa keep (1 - keep) / kappa' (m - m0)^2,
    the squares about the new mean that the two means add."""
    x, x0 = np.array([3.0, 0.7]), np.array([0.4, 5.0])
    found = _arms.fade_towards(x, x0, 0.85)
    assert_allclose(found, 0.15 * x0 + 0.85 * x, rtol=1e-15)
    kappa, m, kappa0, m0 = np.array([3.0, 0.7]), np.array([1.3, -2.0]), np.array([0.4, 5.0]), np.array([-0.6, 0.9])
    mixed, mean, squares = _arms.fade_normal(kappa, m, kappa0, m0, 0.85)
    assert_allclose(mixed, 0.15 * kappa0 + 0.85 * kappa, rtol=1e-14)
    assert_allclose(mean, (0.15 * kappa0 * m0 + 0.85 * kappa * m) / mixed, rtol=1e-14)
    assert_allclose(squares, 0.15 * kappa0 * (m0 - mean) ** 2 + 0.85 * kappa * (m - mean) ** 2, rtol=1e-13)
    assert not any(array.flags.writeable for array in (found, mixed, mean))


# The best arm ---------------------------------------------------------------------------------------------------------


def listed(theta, weight):
    """P(A* = a), E[theta_b | A* = a] and E[theta_b] of one list of means, by loops."""
    N, K = theta.shape
    p, sums = np.zeros(K), np.zeros((K, K))
    for i in range(N):
        a = int(np.argmax(theta[i]))
        p[a] += weight[i]
        sums[a] += weight[i] * theta[i]
    mean = weight @ theta
    given = np.array([sums[a] / p[a] if p[a] > 0.0 else mean for a in range(K)])
    return p, given, mean


def test_the_best_arm_of_a_list():
    """Two replicates of five lists of three means; in the second replicate arm 2 is never the best one."""
    rng = default_rng(0)
    theta, weight = rng.normal(size=(2, 5, 3)), rng.dirichlet(np.ones(5), 2)
    theta[1, :, 2] -= 9.0
    known = _best_arm.best_arm_of_list(theta, weight, None)
    assert known.gain is None
    for r in range(2):
        p, given, mean = listed(theta[r], weight[r])
        assert_allclose(known.p[r], p, rtol=1e-13)
        assert_allclose(known.given[r], given, rtol=1e-12)
        assert_allclose(known.mean[r], mean, rtol=1e-13)
        top = sum(p[a] * given[a, a] for a in range(3))
        assert_allclose(known.shortfall[r], [max(top - m, 0.0) for m in mean], rtol=1e-12)
        spread = [sum(p[a] * (given[a, b] - mean[b]) ** 2 for a in range(3)) for b in range(3)]
        assert_allclose(known.variance[r], spread, rtol=1e-12)
        alone = _best_arm.best_arm_of_list(theta[r], weight[r], None)
        assert_allclose(alone.given, given, rtol=1e-12)
    assert known.p[1, 2] == 0.0


def test_shortfall_is_never_negative():
    """Rounding may make the best arm seem better than the best."""
    known = BestArm(np.array([1.0, 0.0]), np.array([[0.5, 0.2], [0.5, 0.2]]), np.array([0.5 + 1e-9, 0.2]))
    assert_allclose(known.shortfall, [0.0, 0.3])


def nats(p, q):
    """KL divergence of two distributions, by a loop."""
    return sum(x * math.log(x / y) for x, y in zip(p, q, strict=True) if x > 0.0)


def test_information_of_zeros_and_ones():
    """I(A*; Y_b) from the joint table of A* and Y_b, for lists, for Betas and in lockstep."""
    rng = default_rng(1)
    theta, weight = rng.random((2, 5, 3)), rng.dirichlet(np.ones(5), 2)
    gain = _best_arm.best_arm_of_list(theta, weight, "bernoulli").gain()
    for r, b in itertools.product(range(2), range(3)):
        joint = np.zeros((3, 2))
        for i in range(5):
            joint[theta[r, i].argmax()] += weight[r, i] * np.array([1.0 - theta[r, i, b], theta[r, i, b]])
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        assert gain[r, b] == pytest.approx(nats(joint.ravel(), apart.ravel()), rel=1e-10)
    known = BetaBernoulli([[2.0, 1.5, 3.0], [1.0, 4.0, 2.5]], [[1.0, 2.5, 3.5], [3.0, 2.0, 1.2]]).best_arm()
    for r, b in itertools.product(range(2), range(3)):
        p, given, mean = known.p[r], known.given[r], known.mean[r]
        by_hand = sum(p[a] * nats([given[a, b], 1 - given[a, b]], [mean[b], 1 - mean[b]]) for a in range(3))
        assert known.gain()[r, b] == pytest.approx(by_hand, rel=1e-9)


def gaussian_information(x, J, noise):
    """I(A; theta + noise Z) for a table J[a, i] of A and theta = x[i], by adaptive quadrature."""
    p = J.sum(axis=1)

    def integrand(y):
        density = J @ stats.norm.pdf(y, x, noise)
        return sum(d * math.log(d / (q * density.sum())) for d, q in zip(density, p, strict=True) if d > 0.0)

    low, high = x.min() - 10.0 * noise, x.max() + 10.0 * noise
    points = np.linspace(low, high, 12)
    return sum(integrate.quad(integrand, a, b, epsabs=1e-11)[0] for a, b in itertools.pairwise(points))


def test_information_of_gaussian_rewards_over_a_list():
    first = [[0.4, -1.1, 0.2], [-0.7, 0.9, 1.4], [2.0, 0.3, 0.1]]
    theta = np.array([first, [[0.1, 0.2, 0.6], [1.0, -0.4, 0.8], [0.5, 0.9, 0.7]]])
    weight = np.array([[0.5, 0.2, 0.3], [0.25, 0.35, 0.4]])
    known = _best_arm.best_arm_of_list(theta, weight, 0.6)
    gain = known.gain()
    for r, b in itertools.product(range(2), range(3)):
        J = np.zeros((3, 3))
        for i in range(3):
            J[theta[r, i].argmax(), i] = weight[r, i]
        kept = J.sum(axis=1) > 0.0
        assert gain[r, b] == pytest.approx(gaussian_information(theta[r, :, b], J[kept], 0.6), abs=1e-8)
    one = _best_arm.best_arm_of_list(theta[1], weight[1], 0.6)
    assert_allclose(one.gain(), gain[1], rtol=1e-12)
    sure = _best_arm.best_arm_of_list(theta[0, :1], np.ones(1), 0.6)
    assert_allclose(sure.gain(), np.zeros(3), atol=1e-12)  # one model only: nothing can be learnt
    assert (sure.gain() >= 0.0).all()


def test_joint_law_of_the_best_of_gaussian_arms():
    """Its weights for A* = a and theta_b in an interval, against quadrature of the density in the docstring."""
    m, s = np.array([0.3, -0.4, 0.9]), np.array([0.8, 0.5, 1.1])
    arms = [stats.norm(*arm) for arm in zip(m, s, strict=True)]
    x, w, _, J = _best_arm._gaussian_joint(m, s, _best_arm.FEW)
    grid = np.linspace(-7.0, 9.0, 8001)
    pdf, cdf = np.array([d.pdf(grid) for d in arms]), np.array([d.cdf(grid) for d in arms])
    for a, b in itertools.product(range(3), range(3)):
        rest = np.prod([cdf[c] for c in range(3) if c not in (a, b)], axis=0)
        if a == b:
            density = pdf[a] * rest
        else:
            inner = integrate.cumulative_simpson(pdf[a] * rest, x=grid, initial=0.0)
            density = pdf[b] * (inner[-1] - inner)
        for k in range(4):  # moments of theta_b where a is best
            assert (w * J[a, b]) @ x**k == pytest.approx(integrate.simpson(density * grid**k, x=grid), abs=1e-7)
    deviation = 2.5  # equal arms: the middle panels are those of one density, cut where another one begins
    x, w, half, _ = _best_arm._gaussian_joint(m, np.full(3, deviation), 5)
    low, high = m.min() - _best_arm.DEVIATIONS * deviation, m.max() + _best_arm.DEVIATIONS * deviation
    assert 2.0 * half.sum() == pytest.approx(high - low)
    assert half.max() <= _best_arm.DEVIATIONS * deviation / 5 * (1.0 + 1e-12)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    left = low + 2.0 * np.concatenate([[0.0], np.cumsum(half)[:-1]])
    assert_allclose(x, (left[:, None] + half[:, None] * (1.0 + nodes)).ravel(), atol=1e-12)
    assert_allclose(w, (half[:, None] * weights).ravel())


def test_information_of_gaussian_arms_against_quadrature():
    """Two replicates of two arms: the joint law on a fine grid, then the information by quadrature."""
    m, s, noise = np.array([[0.3, -0.4], [0.0, 0.2]]), np.array([[0.8, 0.5], [0.4, 1.2]]), 0.7
    known = _best_arm.best_arm_of_normals(m, s, noise)
    gain = known.gain()
    assert gain.shape == (2, 2)
    for r, b in itertools.product(range(2), range(2)):
        grid = np.linspace(m[r, b] - 7.0 * s[r, b], m[r, b] + 7.0 * s[r, b], 241)
        mass = stats.norm.pdf(grid, m[r, b], s[r, b]) * (grid[1] - grid[0])
        other = 1 - b
        wins = mass * stats.norm.cdf(grid, m[r, other], s[r, other])
        J = np.empty((2, len(grid)))
        J[b], J[other] = wins, mass - wins
        assert gain[r, b] == pytest.approx(gaussian_information(grid, J, noise), abs=1e-6)
        assert known.p[r, b] == pytest.approx(wins.sum(), abs=1e-7)


def test_information_about_arms_that_are_hardly_ever_best():
    """Probabilities near 0, of either sign by rounding, give little information, not an infinite amount."""
    for m, s in (([0.3, -0.4], [0.8, 0.5]), ([0.0, -40.0], [1.0, 1.0]), ([0.0, -1.0, -12.0], [1.0, 0.02, 0.3])):
        known = _best_arm.best_arm_of_normals(np.array(m), np.array(s), 0.5)
        unsure = -sum(p * math.log(p) for p in known.p if p > 0.0)
        assert (known.gain() <= unsure + 1e-8).all()  # no play tells more than all there is to know
    theta = np.array([[1.0, 0.0, -5.0], [0.0, 2.0, -5.0], [0.0, 0.0, 60.0]])
    gain = _best_arm.best_arm_of_list(theta, np.array([0.4, 0.6, 1e-280]), 0.1).gain()
    assert_allclose(gain, [math.log(5 / 2) * 0.4 + math.log(5 / 3) * 0.6] * 2 + [0.0], atol=1e-6)


class Uneven:
    """Three arms whose means are drawn around 0, 1 and -2 times the context, from the generator that is given."""

    def sample_means(self, context, rng):
        return context * np.array([0.0, 1.0, -2.0]) + rng.standard_normal(3)


def test_the_best_arm_by_draws():
    """As many draws as told, each of the same weight, from the given generator and context."""
    known = _best_arm.best_arm_by_draws(Uneven(), 0.4, 7, default_rng(5), None)
    rng = default_rng(5)
    theta = np.array([Uneven().sample_means(0.4, rng) for _ in range(7)])
    for x, y in zip(known[:3], listed(theta, np.full(7, 1 / 7)), strict=True):
        assert_allclose(x, y, rtol=1e-12)
    assert _best_arm.best_arm_by_draws(Uneven(), 0.4, 2, default_rng(5), 0.5).gain() is not None
    refused(lambda: _best_arm.best_arm_by_draws(Uneven(), 0.4, 1, default_rng(5), None), "Uneven.best_arm: 'samples'")
    refused(lambda: _best_arm.best_arm_by_draws(Uneven(), 0.4, 7, None, None), "Uneven.best_arm: 'rng' must be given")


# Contexts -------------------------------------------------------------------------------------------------------------

TABLE = default_rng(2).normal(size=(4, 3, 2))
"""Four contexts, three arms, two features."""


def test_features_that_a_belief_holds():
    assert _contexts.check_features("W", None, 2) is None
    assert_array_equal(_contexts.check_features("W", TABLE.tolist(), 2), TABLE)
    assert_array_equal(_contexts.check_features("W", TABLE[0], 2), TABLE[0])
    for bad in (TABLE[0, 0], TABLE[None], TABLE[..., :1]):
        refused(lambda x=bad: _contexts.check_features("W", x, 2), "W: 'features' must be of shape (arms, 2) or (cont")


def test_features_in_a_context():
    of = _contexts.features_of
    arms, matrix = TABLE[1], TABLE[3] + 1.0
    # Fixed features: a number is ignored, a matrix replaces them.
    for context in (None, 0, 17, np.int64(-4)):
        assert of("W", arms, context, (), 2) is arms
    for context in (None, 5, np.array([7, -1])):
        assert of("W", arms, context, (2,), 2) is arms
    assert_array_equal(of("W", arms, matrix, (), 2), matrix)
    # A table: a number from 0 to 3.
    for c in range(4):
        assert_array_equal(of("W", TABLE, c, (), 2), TABLE[c])
    assert_array_equal(of("W", TABLE, [3, 0], (2,), 2), TABLE[[3, 0]])
    assert_array_equal(of("W", TABLE, matrix, (), 2), matrix)
    for bad in (-1, 4):
        refused(lambda c=bad: of("W", TABLE, c, (), 2), "W: 'context' must be whole numbers from 0 to 3")
        refused(lambda c=bad: of("W", TABLE, [1, c], (2,), 2), "W: 'context' must be whole numbers from 0 to 3")
    # Nothing held: matrices only, one for all replicates or one for each.
    both = np.stack([matrix, matrix + 1.0])
    for given in (matrix, np.ones((5, 2), int), np.ones((1, 2), bool)):
        found = of("W", None, given, (), 2)
        assert found.dtype == np.float64
        assert_array_equal(found, given)
    assert_array_equal(of("W", None, both, (2,), 2), both)
    assert_array_equal(of("W", None, matrix, (2,), 2), matrix)
    sentence = "W: 'context' must be a matrix of shape (arms, 2)"
    for bad in (None, 3, [1.0, 2.0], both, matrix[:, :1], [[1.0, 2.0], [1.0]], [["a", "b"]]):
        refused(lambda c=bad: of("W", None, c, (), 2), sentence)
    for bad in (np.stack([matrix] * 3), both[None], [0, 1]):
        refused(lambda c=bad: of("W", None, c, (2,), 2), sentence)
    one = "W: 'context' must be left out or a matrix of shape (3, 2)"
    for bad in (1.5, matrix[:2], [1, 2], TABLE, "x", [[1], [2, 3]]):
        refused(lambda c=bad: of("W", arms, c, (), 2), one)
    many = "W: 'context' must be a whole number from 0 to 3 or a matrix of shape (3, 2)"
    for bad in (None, 1.5, matrix[:2], [1, 2], [[1], [2, 3]]):
        refused(lambda c=bad: of("W", TABLE, c, (), 2), many)
    for value in (np.nan, np.inf):
        bad = matrix.copy()
        bad[2, 1] = value
        refused(lambda c=bad: of("W", None, c, (), 2), f"W: 'context' must be finite everywhere, got {value}")


def test_features_of_the_chosen_arm():
    X = TABLE[:2]
    assert_array_equal(_contexts.chosen_features("W", X[0], 2, ()), X[0, 2])
    assert_array_equal(_contexts.chosen_features("W", X[0], np.int16(0), ()), X[0, 0])
    assert_array_equal(_contexts.chosen_features("W", X[0], [2, 1], (2,)), X[0][[2, 1]])
    assert_array_equal(_contexts.chosen_features("W", X, [2, 1], (2,)), [X[0, 2], X[1, 1]])
    for replicates, bads in (((), (-1, 3, 1.0, [1])), ((2,), ([0, 3], [-1, 0], 1, [0.0, 1.0]))):
        for bad in bads:
            refused(lambda r=replicates, a=bad: _contexts.chosen_features("W", X[0], a, r), "numbers from 0 to 2, got")


def test_logs_with_contexts():
    rows = [TABLE[3, 1], TABLE[0, 2]]
    as_table = {"state": [3, 0], "action": [1, 2], "reward": [0.5, -1.0]}
    as_steps = [Transition(3, 1, 0.5, 0), Transition(0, 2, -1.0, 0)]
    for log in (as_table, as_steps, iter(as_steps)):
        X, r = _contexts.read_log("W", TABLE, log, 2)
        assert_array_equal(X, rows)
        assert_array_equal(r, [0.5, -1.0])
        assert not X.flags.writeable
    X, _ = _contexts.read_log("W", None, {"state": TABLE[[3, 0]], "action": [1, 2], "reward": [0.5, -1.0]}, 2)
    assert_array_equal(X, rows)
    # A belief with features of its own: matrices replace them, numbers do not, and contexts may be left out.
    X, _ = _contexts.read_log("W", TABLE[1], {"action": [1, 2], "reward": [0.5, -1.0]}, 2)
    assert_array_equal(X, [TABLE[1, 1], TABLE[1, 2]])
    mixed = [Transition(TABLE[3], 1, 0.5, 0), Transition(2, 2, -1.0, 0)]
    assert_array_equal(_contexts.read_log("W", TABLE[1], mixed, 2)[0], [TABLE[3, 1], TABLE[1, 2]])
    for features in (TABLE[1], TABLE):
        X, r = _contexts.read_log("W", features, [], 2)
        assert X.shape == (0, 2)
        assert r.shape == (0,)


def test_moments_of_a_sigmoid():
    centre, spread = np.array([[0.4, -2.0], [3.0, 0.0]]), np.array([[0.5, 1.5], [0.8, 0.1]])
    mean, variance = _contexts.logistic_moments(centre, spread)
    for i in np.ndindex(2, 2):
        z = np.linspace(-11.0, 11.0, 4001)
        p, f = special.expit(centre[i] + spread[i] * z), stats.norm.pdf(z)
        first, second = (integrate.simpson(f * p**k, x=z) for k in (1, 2))
        assert mean[i] == pytest.approx(first, abs=1e-9)
        assert variance[i] == pytest.approx(second - first**2, abs=1e-9)


def test_products_for_one_replicate_and_many():
    A, x = TABLE[:2], np.array([[0.3, -1.2], [2.0, 0.7]])
    assert_allclose(_contexts.apply(A[0], x[0]), [sum(A[0, k, i] * x[0, i] for i in range(2)) for k in range(3)])
    assert_allclose(_contexts.apply(A, x), [A[r] @ x[r] for r in range(2)], rtol=1e-14)
    assert_allclose(_contexts.apply(A[0], x), [A[0] @ x[r] for r in range(2)], rtol=1e-14)


def test_gaussians_fade_by_precisions():
    """Two replicates; precision and precision times mean move by 1 - keep."""
    rng = default_rng(3)
    root, root0, mean, mean0 = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 3)), *rng.normal(size=(2, 2, 3))
    m, S = _contexts.fade_gaussian(mean, root, mean0, root0, 0.85)
    for r in range(2):
        now, before = np.linalg.inv(root[r] @ root[r].T), np.linalg.inv(root0[r] @ root0[r].T)
        P = 0.15 * before + 0.85 * now
        assert_allclose(np.linalg.inv(S[r] @ S[r].T), P, rtol=1e-8)
        assert_allclose(m[r], np.linalg.solve(P, 0.15 * before @ mean0[r] + 0.85 * now @ mean[r]), rtol=1e-8)
        alone = _contexts.fade_gaussian(mean[r], root[r], mean0[r], root0[r], 0.85)
        assert_allclose(alone[0], m[r], rtol=1e-9)
    assert not any(array.flags.writeable for array in (m, S))


def test_the_chance_at_the_mode():
    """The maximum of the log density of s + sqrt(h) z and one answer, found by its derivative."""
    s, h, y = np.array([0.4, -3.0, 1.2, 0.0]), np.array([0.5, 9.0, 2.0, 30.0]), np.array([1.0, 1.0, 0.0, 0.0])
    p = _contexts.chance_at_mode(s, h, y)
    u = special.logit(p)
    assert_allclose((u - s) / h + p - y, 0.0, atol=1e-9)
    assert _contexts.chance_at_mode(s[0], h[0], y[0]).shape == ()


def test_weights_and_arms_of_features():
    _contexts.check_weights("W", np.ones(2))
    _contexts.check_weights("W", np.ones((3, 2)))
    for bad in (np.ones(()), np.ones((1, 3, 2))):
        refused(lambda m=bad: _contexts.check_weights("W", m), "W: 'mean_' must be of shape (d,) or (replicates, d)")
    for features in (TABLE, TABLE[0]):
        belief = LinearGaussianArms.isotropic(2, features=features)
        assert (belief.n_actions, belief.n_weights) == (3, 2)
    assert LinearGaussianArms.isotropic(2).batch(5).n_weights == 2
    refused(lambda: LinearGaussianArms.isotropic(2).n_actions, "LinearGaussianArms: 'features' must be given, since")
