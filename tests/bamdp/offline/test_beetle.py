"""BEETLE against polynomials written out, quadrature, and exact values."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats
from scipy.special import gamma, gammaln

import bayesrl as b
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.offline._monomials import counts_after, listed, log_moments, make_basis
from bayesrl.bamdp.offline.beetle import (
    BEETLE,
    Alphas,
    backup,
    best_of_each_state,
    interact,
    look_ahead,
    lower_bounds,
    points_of,
    problem_of,
    rows_after,
    sweep,
)
from bayesrl.beliefs import RewardBeta, UnknownRewards
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import solve
from bayesrl.testing import check_agent, check_planner, check_point_belief

TIED = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9), [[1.3, 0.6]])
SEMI = b.DirichletMDP.structured(b.make_world("chain-semi", gamma=0.8), [[1.3, 0.6], [0.4, 2.0]])


def mixed():
    """Rows of two and three outcomes, two of them known, and a terminal state."""
    P = np.array([[[0.5, 0.5, 0.0], [0.1, 0.8, 0.1]], [[0.4, 0.4, 0.2], [0.0, 0.3, 0.7]], [[0, 0, 1.0]] * 2])
    mdp = TabularMDP.from_dense(P, [[0.5, 1.0], [2.0, -0.5], [0, 0]], gamma=0.8, terminal=[2])
    return b.DirichletMDP.structured(mdp, [0.7, 1.2, 0.5], known=np.array([False, True, False, True, True, True]))


def arm_or_wage(wage=0.6, gamma=0.9):
    """One state: an arm that pays 1 with unknown probability, or a certain wage. Information has value."""
    succ, group, start = np.zeros((1, 2, 2), int), np.array([[0, 1]]), np.ones(1)
    reward = np.array([[[1.0, 0.0], [wage, 0.0]]])
    outcomes = Outcomes(succ, reward, group, np.array([2, 1]), np.zeros(1), start, np.zeros(1, bool))
    return b.DirichletMDP(outcomes, [[1.0, 1.0], [1.0, 0.0]], gamma, np.array([False, True]))


def monomials(belief, degree):
    """All monomials of the unknown probabilities up to this degree, the constant first."""
    cells = np.argwhere(belief.outcomes.valid & ~belief.known[:, None]).tolist()
    powers = [p for p in product(range(degree + 1), repeat=len(cells)) if sum(p) <= degree]
    return [tuple((g, k, n) for (g, k), n in zip(cells, p, strict=True) if n) for p in sorted(powers)]


def degree(life):
    return sum(n for _, _, n in life)


# Polynomials ---------------------------------------------------------------------------------------------------------


def test_moments_against_quadrature():
    """Rows of two and three outcomes with padding and a known row: E[theta^n] on a Gauss grid (whole counts: exact)."""
    alpha = mixed().alpha.copy()
    alpha[0, :2], alpha[2] = (3.0, 1.0), (1.0, 4.0, 2.0)
    rng = default_rng(0)
    t, w = np.polynomial.legendre.leggauss(30)
    t, w = 0.5 * (1 + t), 0.5 * w
    x, y = t[:, None], (1 - t[:, None]) * t  # the triangle x + y < 1, stretched to a square
    area = w[:, None] * w * (1 - t[:, None])
    for _ in range(10):
        (i, j), (k, l, m) = rng.integers(0, 6, 2).tolist(), rng.integers(0, 5, 3).tolist()
        two = (t**i * (1 - t) ** j * stats.beta(3, 1).pdf(t)) @ w
        density = gamma(7) / (gamma(1) * gamma(4) * gamma(2)) * y**3 * (1 - x - y)
        three = (x**k * y**l * (1 - x - y) ** m * density * area).sum()
        lives = [((0, 0, i), (0, 1, j)), ((0, 0, i), (0, 1, j), (2, 0, k), (2, 1, l), (2, 2, m)), ()]
        found = np.exp(log_moments(listed(lives), alpha, 3))
        np.testing.assert_allclose(found, [two, two * three, 1.0], rtol=1e-10)


def dense_log_moment(n, belief):
    """log E_b[prod theta^n], n (G, K), as a ratio of gamma functions."""
    mass, drawn = belief.alpha.sum(axis=1), n.sum(axis=1)
    alpha = np.where(n > 0, belief.alpha, 1.0)
    return (gammaln(alpha + n) - gammaln(alpha)).sum() - (gammaln(mass + drawn) - gammaln(mass)).sum()


def expectation(polynomial, belief):
    """E_b of a polynomial {exponents: coefficient}."""
    terms = [c * np.exp(dense_log_moment(np.reshape(n, belief.alpha.shape), belief)) for n, c in polynomial.items()]
    return sum(terms)


def alpha_function(belief, s, a, horizon):
    """sum_k theta_k [ r_k + gamma alpha_k ], the alpha_k the best ones at their beliefs, not projected."""
    o, K = belief.outcomes, belief.outcomes.n_outcomes
    g, terms = o.group[s, a], {}
    for k in range(o.size[g]):
        y, then = int(o.succ[s, a, k]), belief.seen_outcome(s, a, k)
        found = {(0,) * belief.alpha.size: o.reward[s, a, k]}
        for exponent, c in best_function(then, y, horizon - 1).items():
            found[exponent] = found.get(exponent, 0.0) + belief.gamma * c
        for exponent, c in found.items():
            if belief.known[g]:
                up, c = exponent, c * belief.alpha[g, k]
            else:
                up = tuple(n + (cell == g * K + k) for cell, n in enumerate(exponent))
            terms[up] = terms.get(up, 0.0) + c
    return terms


def best_function(belief, s, horizon):
    if horizon == 0 or belief.outcomes.terminal[s]:
        return {}
    found = [alpha_function(belief, s, a, horizon) for a in range(belief.n_actions)]
    return max(found, key=lambda f: expectation(f, belief))


@pytest.mark.parametrize(("belief", "horizon"), [(TIED, 5), (SEMI, 4), (mixed(), 4), (arm_or_wage(), 5)])
def test_unprojected_backups_give_exact_values(belief, horizon):
    """The paper's backup with polynomials as dictionaries: no projection, so no error."""
    s = 0 if belief.n_states < 5 else 3
    q = [expectation(alpha_function(belief, s, a, horizon), belief) for a in range(belief.n_actions)]
    np.testing.assert_allclose(q, exact_q(belief, s, horizon), atol=1e-9)


@pytest.mark.parametrize(("belief", "horizon"), [(TIED, 6), (SEMI, 4), (mixed(), 4), (arm_or_wage(), 6)])
def test_a_basis_that_spans_gives_exact_values(belief, horizon):
    """Backups at every hyper-state within reach, on all monomials of the degree that they need."""
    lives, S = monomials(belief, horizon - 1), belief.n_states
    basis, problem = make_basis(belief, lives, [life for life in lives if degree(life) <= 1]), problem_of(belief)
    alphas = Alphas(np.zeros((S, len(lives))), np.arange(S + 1))  # V_0 = 0
    for to_go in range(1, horizon):
        points = points_of(belief, [life for life in lives if degree(life) <= horizon - to_go], basis)
        found = []
        for s in range(S):
            for i, e in enumerate(points.moment):
                q, pick = ahead(s, rows_after(s, i, points.seen, problem), e, alphas, problem, basis)
                a = int(np.argmax(q))
                found.append(backup(s, a, pick[a], alphas, problem, basis))
                np.testing.assert_allclose(found[-1] @ e, q.max(), atol=1e-8)  # the projection lost nothing
        alphas = Alphas(np.array(found), np.arange(S + 1) * len(points.moment))
    for s in range(S):
        q, _ = ahead(s, belief.alpha[belief.group[s]], points.moment[0], alphas, problem, basis)
        np.testing.assert_allclose(q, exact_q(belief, s, horizon), atol=1e-9)


@pytest.mark.parametrize("prior", [b.DirichletMDP.flat(b.make_world("chain", gamma=0.9), 0.3), mixed()])
def test_what_is_listed_equals_what_is_written_out(prior):
    """Short lives, which leave most outcomes unseen, against sums over all outcomes and exponents.

    The oracle sees each outcome, knows moments as gamma functions of arrays, and projects by the normal equations.
    """
    rng, problem, S, n = default_rng(3), problem_of(prior), prior.n_states, 5
    lives = sorted(set(interact(prior, 9, 6, rng)))
    basis = make_basis(prior, lives[:n], lives)
    points, alphas = points_of(prior, lives, basis), Alphas(rng.standard_normal((2 * S, n)), 2 * np.arange(S + 1))
    seen = [counts_after(np.zeros(prior.alpha.shape), life) for life in lives]
    beliefs = [replace(prior, alpha=prior.alpha + counts) for counts in seen]

    def products(cell):
        """E[phi_i theta_cell phi_j], phi not normalised."""
        return np.exp([[[dense_log_moment(x + y + cell, b) for y in seen[:n]] for x in seen[:n]] for b in beliefs])

    gram = products(0.0).mean(axis=0)
    norm = np.sqrt(gram.diagonal())
    np.testing.assert_allclose(np.exp(basis.scale), norm)
    for s, i, a in product(range(S), range(len(beliefs)), range(prior.n_actions)):
        q, pick = ahead(s, rows_after(s, i, points.seen, problem), points.moment[i], alphas, problem, basis)
        g, expected, right = prior.group[s, a], 0.0, np.zeros(n)
        for k in range(prior.outcomes.size[g]):
            y, then, r = prior.succ[s, a, k], beliefs[i].seen_outcome(s, a, k), prior.reward[s, a, k]
            e = np.exp([dense_log_moment(x, then) for x in seen[:n]]) / norm
            values = alphas.coefficient[2 * y : 2 * y + 2] @ e
            expected += beliefs[i].predictive_row(s, a)[k] * (r + prior.gamma * values.max())
            assert pick[a, k] == 2 * y + values.argmax()
            if i == len(beliefs) - 1:
                f = prior.gamma * alphas.coefficient[pick[a, k]] / norm + r * np.eye(n)[0]
                theta = np.zeros(prior.alpha.shape)
                theta[g, k] = not prior.known[g]
                right += (prior.alpha[g, k] if prior.known[g] else 1.0) * products(theta).mean(axis=0) @ f
        np.testing.assert_allclose(q[a], expected, rtol=1e-10)
        if i == len(beliefs) - 1:
            found = backup(s, a, pick[a], alphas, problem, basis)
            expected = points.moment * norm @ np.linalg.lstsq(gram, right, rcond=1e-12)[0]
            np.testing.assert_allclose(points.moment @ found, expected, rtol=1e-7)  # theta's sum to one: c may differ


def ahead(s, rows, e, alphas, problem, basis):
    v = alphas.coefficient @ e
    return look_ahead(s, rows, e, v, best_of_each_state(v, alphas.first), alphas, problem, basis.exponent)


# Projection and Perseus against functions on a grid ------------------------------------------------------------------


class Grid:
    """The tied chain's functions of theta as values on a fine Gauss grid: no moments, no gamma functions."""

    def __init__(self, belief, exponent, lives):
        x, w = np.polynomial.legendre.leggauss(200)
        self.x, self.belief = 0.5 * (1 + x), belief
        self.weight = self.seen(belief.alpha[0] - 1) * w
        self.phi = np.array([self.seen(n) for n in exponent]).T
        posteriors = [self.weight * self.seen(counts_after(np.zeros((1, 2)), life)[0]) for life in lives]
        self.mixture = np.mean([p / p.sum() for p in posteriors], axis=0)

    def seen(self, n):
        return self.x ** n[0] * (1 - self.x) ** n[1]

    def expect(self, f, alpha):
        b = self.weight * self.seen(alpha - self.belief.alpha[0])
        return f @ b / b.sum()

    def project(self, f):
        root = np.sqrt(self.mixture)
        c = np.linalg.lstsq(self.phi * root[:, None], f * root, rcond=1e-9)[0]
        return self.phi @ c


def naive_stage(grid, order, alphas, functions):
    """A stage of Perseus as printed: functions[s] is a list of values on the grid."""
    o, B, theta = grid.belief.outcomes, len(alphas), np.array([grid.x, 1 - grid.x])

    def v(s, alpha, among):
        return max(((grid.expect(f, alpha), -i) for i, f in enumerate(among[s])), default=(-np.inf, 0))

    new, kept = {s: [] for s in functions}, 0
    for j in order:
        s, alpha = j // B, alphas[j % B]
        before, which = v(s, alpha, functions)
        if v(s, alpha, new)[0] >= before - 1e-12:
            continue
        found = []
        for a in range(o.n_actions):
            f = np.zeros_like(grid.x)
            for k in range(2):
                y = int(o.succ[s, a, k])
                best = functions[y][-v(y, alpha + np.eye(2)[k], functions)[1]]
                f += theta[k] * (o.reward[s, a, k] + grid.belief.gamma * best)
            found.append((grid.expect(f, alpha), -a, f))
        f = grid.project(max(found, key=lambda x: x[:2])[2])
        kept += grid.expect(f, alpha) < before
        new[s].append(f if grid.expect(f, alpha) >= before else functions[s][-which])
    return new, [[v(s, alpha, new)[0] for alpha in alphas] for s in functions], kept


def test_stages_equal_a_naive_transcription():
    """Stages on a basis too small to span, in the same order: the values of all hyper-states.

    Some projections spoil what the backup gained, so that an old function must be kept.
    """
    belief, rng = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.5), [[2.0, 1.5]]), default_rng(1)
    lives, problem = interact(belief, 6, 12, rng), problem_of(belief)
    basis, grid = make_basis(belief, [(), ((0, 0, 3), (0, 1, 1))], lives), Grid(belief, [(0, 0), (3, 1)], lives)
    points, beliefs = points_of(belief, lives, basis), [counts_after(belief.alpha, life)[0] for life in lives]
    alphas, before, spoilt = lower_bounds(belief, basis), 0.0, 0
    functions = {s: [np.zeros_like(grid.x)] for s in range(5)}
    for _ in range(8):
        order = rng.permutation(30)
        coefficient, first, values = sweep(order, points, alphas, problem, basis)
        alphas = Alphas(coefficient, first)
        functions, expected, kept = naive_stage(grid, order, beliefs, functions)
        np.testing.assert_allclose(values, expected, rtol=1e-6)
        assert [len(f) for f in functions.values()] == np.diff(first).tolist()
        assert (values >= before - 1e-9).all(), "a stage may lower no value"
        before, spoilt = values, spoilt + kept
    assert before.max() > 4.0
    assert spoilt > 0


def test_beliefs_can_be_reached():
    """Counts add up to the number of steps, known rows teach nothing, and the prior is among them."""
    prior, lives = mixed(), interact(mixed(), 60, 30, default_rng(0))
    assert lives[0] == ()
    assert all(k < prior.outcomes.size[g] and not prior.known[g] for life in lives for g, k, _ in life)
    ages = np.array([degree(life) for life in interact(TIED, 401, 30, default_rng(0))])
    assert ages.max() <= 30
    # Log-uniform: an age of 1 has probability log 2 / log 31 = .202; 4.9 standard errors are .098, false alarm 1e-6.
    assert abs((ages[1:] == 1).mean() - 0.202) < 0.098


@pytest.mark.parametrize("basis", [1, 5, 12, 40])
def test_the_basis_is_drawn_from_the_beliefs(basis):
    """The constant, then different monomials, each the outcomes of a sampled belief; all of them if there is room."""
    lives = {frozenset(life) for life in interact(TIED, 12, 30, default_rng(3))}
    solution = BEETLE(beliefs=12, basis=basis, steps=30, iterations=1).solve(TIED, default_rng(3))
    monomials = [frozenset((g, k, n) for g, k, j, n in solution.exponent.tolist() if j == i)
                 for i in range(len(solution.scale))]  # fmt: skip
    assert monomials[0] == frozenset()
    assert len(set(monomials)) == len(monomials) == min(basis, len(lives))
    assert set(monomials) <= lives


# Values --------------------------------------------------------------------------------------------------------------


def policy_value(belief, planner, s, horizon, memo):
    """The value of a planner without memory over the hyper-states within the horizon, by dynamic programming."""
    if horizon == 0:
        return 0.0
    key = (s, horizon, belief.alpha.tobytes())
    if key not in memo:
        o, a = belief.outcomes, planner.plan(belief, s, planner.start(), default_rng(0)).action
        memo[key] = sum(
            p
            * (
                o.reward[s, a, k]
                + belief.gamma
                * policy_value(belief.seen_outcome(s, a, k), planner, int(o.succ[s, a, k]), horizon - 1, memo)
            )
            for k, p in enumerate(belief.predictive_row(s, a))
            if p > 0.0
        )
    return memo[key]


def test_root_values_approach_the_exact_ones():
    """The tied chain at discount .9: mean error of the root value over ten seeds as points and basis grow.

    Measured: 6.2, .49, .029 of 25.66. Each must be less than half of the one before.
    """
    belief = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.9))
    exact, errors = exact_q(belief, 0, 100).max(), []
    for beliefs, basis in ((4, 3), (12, 10), (40, 30)):
        solver = BEETLE(beliefs=beliefs, basis=basis, tolerance=1e-4)
        roots = [solver.solve(belief, default_rng(i)).plan(belief, 0, None, default_rng(0)).info for i in range(10)]
        errors.append(np.mean([abs(info["q"].max() - exact) for info in roots]))
    assert errors[2] < errors[1] / 2 < errors[0] / 4
    assert errors[2] < 0.01 * exact


def test_explores_where_exploit_does_not():
    """An arm of unknown pay against a wage of .6: its Gittins index at discount .9 is .703, so it is worth a try.

    Greed on the mean (.5) takes the wage for ever. Values by dynamic programming over hyper-states.
    """
    belief = arm_or_wage()
    planner = BEETLE(beliefs=30, basis=25, tolerance=1e-4).solve(belief, default_rng(0))
    exact = exact_q(belief, 0, 100)
    info = planner.plan(belief, 0, None, default_rng(0)).info
    np.testing.assert_allclose(info["q"], exact, rtol=0.01)
    earned = policy_value(belief, planner, 0, 40, {})
    greedy = policy_value(belief, b.make("exploit"), 0, 40, {})
    assert greedy == pytest.approx(0.6 * (1 - 0.9**40) / 0.1)
    assert greedy + 0.3 < earned
    assert earned > 0.99 * exact_q(belief, 0, 40).max()


def test_the_arm_is_left_for_a_better_wage():
    """A wage above the index of .703 is taken at once, one below it is not."""
    for wage, action in ((0.65, 0), (0.75, 1)):
        belief = arm_or_wage(wage)
        planner = BEETLE(beliefs=15, basis=10, iterations=40).solve(belief, default_rng(0))
        assert planner.plan(belief, 0, None, default_rng(0)).action == action


def test_acts_nearly_optimally_on_the_tied_chain():
    belief = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=0.8))
    planner = BEETLE(beliefs=30, basis=25).solve(belief, default_rng(0))
    earned = policy_value(belief, planner, 0, 25, {})
    assert earned > 0.99 * exact_q(belief, 0, 25).max()


# Laws and refusals ---------------------------------------------------------------------------------------------------


def test_laws():
    world = b.make_world("chain-tied", gamma=0.9)
    prior, solver = b.DirichletMDP.structured(world), BEETLE(beliefs=12, basis=10, iterations=60)
    planner = solver.solve(prior, default_rng(1))
    assert planner == solver.solve(prior, default_rng(1))
    assert planner != solver.solve(prior, default_rng(2))
    check_planner(planner, prior.seen_outcome(0, 0, 1), 2, rng=default_rng(0))
    check_agent(b.BayesAgent(prior, planner), world)


def test_point_belief_gives_solved_values():
    world = b.make_world("chain", gamma=0.7)
    point = b.DirichletMDP.structured(world, known=True)
    planner = BEETLE(beliefs=2, basis=2, tolerance=0.0).solve(point, default_rng(0))
    check_point_belief(planner, point, solve(world).q)


def test_values_do_not_depend_on_the_prior_alone():
    """A planner solved for one prior acts on any later belief: much evidence makes the solved values come out."""
    world = b.make_world("chain-tied", gamma=0.8)
    prior = b.DirichletMDP.structured(world)
    planner = BEETLE(beliefs=50, basis=40).solve(prior, default_rng(0))
    for _ in range(160):
        prior = prior.seen_outcome(0, 0, 0)
    for _ in range(40):
        prior = prior.seen_outcome(0, 0, 1)
    info = planner.plan(prior, 0, None, default_rng(0)).info
    np.testing.assert_allclose(info["q"], solve(prior.mean_mdp()).q[0], rtol=0.05)
    assert info["value"] == pytest.approx(info["q"].max(), rel=0.05)


def test_values_are_bounded_where_beliefs_are_unforeseen():
    """Many unknowns with small counts: beliefs that the prior gives hardly any chance, yet no moment above sqrt(B)."""
    prior = b.DirichletMDP.flat(b.make_world("double-loop", gamma=0.9), 1 / 9)
    lives = interact(prior, 20, 100, default_rng(0))
    assert log_moments(listed(lives), prior.alpha, 20).min() < -100.0
    assert points_of(prior, lives, make_basis(prior, lives[:15], lives)).moment.max() < np.sqrt(20)
    planner = BEETLE(beliefs=20, basis=15, steps=100).solve(prior, default_rng(0))
    for life in lives:
        belief = replace(prior, alpha=counts_after(prior.alpha, life))
        found = [planner.plan(belief, s, None, default_rng(0)).info for s in range(9)]
        assert all(0.0 <= info["value"] <= 2.0 / 0.1 and (info["q"] <= 2.0 / 0.1).all() for info in found)


def test_refusals():
    ones = np.ones((5, 2))
    unknown = UnknownRewards(b.DirichletMDP.flat(b.make_world("chain")), RewardBeta(ones, ones))
    with pytest.raises(Incompatible, match="BEETLE needs a belief with 'alpha', 'known', which UnknownRewards lacks"):
        BEETLE().solve(unknown, default_rng(0))
    with pytest.raises(InvalidArgument, match=r"BEETLE: 'rng' must be a numpy Generator, .* got 0"):
        BEETLE().solve(TIED, 0)
    forever = b.DirichletMDP.structured(b.make_world("chain-tied", gamma=1.0))
    with pytest.raises(InvalidArgument, match="BEETLE: 'problem' must be one whose episodes end under every policy"):
        BEETLE().solve(forever, default_rng(0))
    with pytest.raises(InvalidArgument, match="BEETLE: 'basis' must be a whole number of at least 1, got 0"):
        BEETLE(basis=0)
    other, solved = (
        b.DirichletMDP.flat(b.make_world("chain-tied")),
        BEETLE(beliefs=5, basis=2, iterations=2).solve(TIED, default_rng(0)),
    )
    for refused in (lambda: solved.plan(other, 0, None, default_rng(0)), lambda: b.BayesAgent(other, solved)):
        with pytest.raises(InvalidArgument, match="AlphaFunctions: 'belief' must be about the problem that was solved"):
            refused()
    with pytest.raises(Incompatible):
        b.BayesAgent(unknown, solved)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_stages_end_when_nothing_rises(sign, monkeypatch):
    """Twenty stages without a rise by the tolerance, whatever the sign of the values; one that rises starts anew.

    One hyper-state rises, the others stay. The tolerance is a share of the largest value, times 1 - gamma: .01 here.
    """
    rises, done, v = {1, 2, 10, 25, 40}, [], np.full((5, 1), 3.0 * sign)
    v[0] = 10.0 * sign

    def staged(order, points, alphas, problem, basis):
        done.append(1)
        v[2] += 0.0101 if len(done) in rises else 0.0099
        return alphas.coefficient, alphas.first, v.copy()

    monkeypatch.setattr("bayesrl.bamdp.offline.beetle.sweep", staged)
    basis = make_basis(TIED, [()], [()])
    solver, points, alphas = BEETLE(tolerance=1e-2), points_of(TIED, [()], basis), lower_bounds(TIED, basis)
    solver._improve(points, alphas, problem_of(TIED), basis, 1.0 - TIED.gamma, default_rng(0))
    assert len(done) == 60
