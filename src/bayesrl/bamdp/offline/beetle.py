"""BEETLE: an analytic solution of the Bayes-adaptive MDP (Poupart, Vlassis, Hoey, Regan 2006; survey §4.3).

The optimal value of a state is an upper envelope of alpha-functions, V(s, b) = max_alpha E_b[alpha(theta)]. Each of
them is a polynomial in the unknown probabilities theta, because a Bellman backup at (s, b) multiplies and adds,

    alpha'(theta) = sum_k theta_{g k} [ r_k + gamma alpha_k(theta) ],   g = group(s, a*),   alpha_k best at (s_k, b_k),

where a* and the alpha_k are chosen at b and hold for every theta. The number of terms explodes, so alpha' is projected
on a basis: densities of sampled hyper-states, which are the monomials prod theta^n of the outcomes n they have seen.
All work is done ahead; to act is to look expectations up. The method is for problems with few unknowns (tied rows,
known rows). With many unknowns no sampled history resembles the true one, and the result is one step of look-ahead on
the values of the prior.

Paper to code: hyper-states from random interaction `interact`; moments of monomials under a Dirichlet `log_moments`;
least squares on the basis `span` and `backup`; a stage of Perseus `sweep`.
Deviations: distances are measured under the even mixture of the sampled beliefs (the paper: uniformly). Apart from
repetitions this mixture is the prior on average, since posteriors average to the prior. But it has weight at every
belief at which values are looked up, so that E_b[alpha] errs by at most sqrt(B) times the distance. Under the prior
itself there is no such bound: with many unknowns and small counts the prior gives the sampled beliefs hardly any
weight, and values were rounding errors times 1e54. Every sampled belief is backed up in every state: if it is backed up
only in the states that were visited, states that few histories reach keep the values of a policy that does not learn.
The lengths of the histories are log-uniform, since beliefs change by ratios of counts. The basis is normalised, and
nearly dependent directions are dropped (`RCOND`), as monomials of similar counts are nearly equal. The action comes
from a one-step look-ahead, not from a label of the best alpha-function: such labels err if alpha-functions nearly meet.
Cost: zeros are not stored, as nearly all exponents are zero if there are many unknowns. For n basis functions, m
alpha-functions, B beliefs and z cells (g, k) that some of them has seen, z_g of these in the row of an action: O(B n (G
K + z + n G)) time and O(n^2 z) memory ahead; a backup O(n K + n^2 z_g), after a look-ahead of O(K + m n) for each
action, O(K) where no phi_i counts its row; a decision O(G K + z + m n) and a look-ahead.
Claims: unprojected backups give exact values, and so does a basis that spans; root values approach the exact ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bayesrl.bamdp._greedy import best_action, state_in
from bayesrl.capabilities import HasDirichletRows, SamplesMDPs, require
from bayesrl.checks import Floats, Ints, frozen, generator, number
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import B1, F1, F2, F3, I1, I2, I3
from bayesrl.kernels.jit import njit
from bayesrl.parameters import AtLeast, declared, value
from bayesrl.registry import register

RCOND = 1e-10
"""Directions of the basis with less than this share of the largest eigenvalue are rounding, not functions."""
PATIENCE = 20
"""Stages without a rise before the end: a stage backs few points up, perhaps none of those that could gain."""


class SampledDirichletRows(SamplesMDPs, HasDirichletRows, Protocol):
    """What BEETLE asks of a prior."""


@register(
    "beetle",
    kind="solver",
    survey="4.3",
    paper="poupart06beetle",
    example=lambda: BEETLE(beliefs=12, basis=10, iterations=60),
    evidence=(
        "tests/bamdp/test_beetle.py::test_unprojected_backups_give_exact_values",
        "tests/bamdp/test_beetle.py::test_a_basis_that_spans_gives_exact_values",
        "tests/bamdp/test_beetle.py::test_moments_against_quadrature",
        "tests/bamdp/test_beetle.py::test_root_values_approach_the_exact_ones",
    ),
)
@declared
class BEETLE:
    """Alpha-functions that are polynomials in the unknown probabilities, improved ahead at sampled hyper-states.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> world = b.make_world("chain-tied")
    >>> prior = b.DirichletMDP.structured(world)
    >>> planner = BEETLE(beliefs=12, basis=10, iterations=60).solve(prior, default_rng(0))
    >>> print(b.run(b.BayesAgent(prior, planner), world, steps=100, seed=0).total)
    328.0
    """

    beliefs: Annotated[int, AtLeast(1), "Beliefs b at which backups are made, each in every state."] = 60
    basis: Annotated[
        int, AtLeast(1), "Largest number of basis functions phi_i: monomials of what some of these beliefs have seen."
    ] = 50
    steps: Annotated[int, AtLeast(1), "Length of the longest random history of these beliefs."] = 200
    iterations: Annotated[int, AtLeast(1), "Largest number of stages of Perseus."] = 1000
    tolerance: Annotated[
        float, AtLeast(0), "Stop when further stages seem to raise no value by more than this share of the largest."
    ] = 1e-3

    yields: ClassVar[str] = "planner"

    def solve(self, problem: SampledDirichletRows, rng: Generator | None = None) -> AlphaFunctions:
        """Alpha-functions for the beliefs that may follow this prior."""
        require("BEETLE", problem, SampledDirichletRows)
        prior, rng = problem, generator("BEETLE", rng)
        number("BEETLE", "gamma", prior.gamma, 0.0, 1.0, below=True)
        histories = sorted(
            set(interact(prior, self.beliefs, self.steps, rng)), key=dense_order
        )  # the prior comes first
        chosen = np.sort(rng.permutation(len(histories) - 1)[: self.basis - 1]) + 1
        basis = span(prior, [histories[i] for i in (0, *chosen)], histories)
        alphas = self._improve(points_of(prior, histories, basis), lowest(prior, basis), problem_of(prior), basis, rng)
        c, first = frozen(alphas.coefficient), frozen(alphas.first)
        return AlphaFunctions(self, prior.alpha.shape, frozen(basis.exponent), frozen(basis.scale), c, first)

    def _improve(self, points: Points, alphas: Alphas, problem: Problem, basis: Basis, rng: Generator) -> Alphas:
        v, still = np.full((len(alphas.first) - 1, len(points.moment)), -np.inf), 0
        for _ in range(self.iterations):
            before = v
            coefficient, first, v = sweep(rng.permutation(v.size), points, alphas, problem, basis)
            alphas = Alphas(coefficient, first)
            rose = (v - before).max() > self.tolerance * (1.0 - problem.gamma) * np.abs(v).max()
            still = 0 if rose else still + 1
            if still == PATIENCE:
                break
        return alphas


@value
class AlphaFunctions:
    """A solved value function V(s, b) = max_alpha E_b[alpha]. It is a planner that looks one step ahead."""

    solver: BEETLE
    """The solver that made it."""
    shape: tuple[int, ...]
    """Groups and outcomes (G, K) of the problem."""
    exponent: Ints
    """Exponents of the basis monomials, see `listed`, (z, 4)."""
    scale: Floats
    """Logarithm of each monomial's norm under the prior, (n,)."""
    coefficient: Floats
    """Coefficients c_i of the alpha-functions, by states, (m, n)."""
    first: Ints
    """Index of the first alpha-function of each state, (S + 1,)."""

    needs: ClassVar[tuple[type, ...]] = (HasDirichletRows,)

    def check(self, belief: HasDirichletRows) -> None:
        """Raise an error if the belief is about another problem."""
        if belief.alpha.shape != self.shape or belief.n_states != len(self.first) - 1:
            raise InvalidArgument("AlphaFunctions", "belief", "about the problem that was solved", belief)

    def start(self) -> None:
        """Nothing to remember: the belief holds everything."""

    def plan(
        self, belief: HasDirichletRows, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Take the action of the largest value under the best alpha-functions one step ahead; ties to the first."""
        self.check(belief)
        s = state_in("AlphaFunctions", belief, observation)
        e = np.exp(log_moments(self.exponent, belief.alpha, len(self.scale)) - self.scale)
        v, alphas = self.coefficient @ e, Alphas(self.coefficient, self.first)
        best, rows = highest(v, self.first), belief.alpha[belief.outcomes.group[s]]
        q, _ = look_ahead(s, rows, e, v, best, alphas, problem_of(belief), self.exponent)
        return Decision(best_action(q, "first", rng), None, {"q": q, "value": float(v[best[s]])})


# Monomials -----------------------------------------------------------------------------------------------------------

History = tuple[tuple[int, int, int], ...]
"""What was seen since the prior, sorted (g, k, n): outcome k of group g, n times. Also a monomial, n its exponents."""


def listed(histories: Sequence[History]) -> Ints:
    """Rows (g, k, i, n) for all that history i has seen, sorted, (z, 4)."""
    rows = [(g, k, i, n) for i, history in enumerate(histories) for g, k, n in history]
    return np.array(sorted(rows), np.int64).reshape(-1, 4)


def after(alpha: Floats, history: History) -> Floats:
    """Dirichlet counts after a history."""
    new = alpha.copy()
    for g, k, n in history:
        new[g, k] += n
    return new


def dense_order(history: History) -> list[tuple[int, int, int]]:
    """A key that sorts histories as if their counts were written out in arrays (G, K)."""
    return [(-g, -k, n) for g, k, n in history]


class Basis(NamedTuple):
    """Monomials phi_i of norm one; products theta_{g k} phi_j are projected on them.

    Outcomes of a row that nobody has seen differ by their alpha_gk alone, so that one matrix serves them all.
    """

    exponent: I2  # (z, 4) rows (g, k, i, n); the first monomial has none: a constant
    scale: F1  # (n,) log norms
    identity: F2  # (n, n) projections of the phi_j
    cell: I2  # (c, 2) sorted (g, k) that some belief has seen; k = -1 before them stands for the other outcomes of g
    product: F3  # (c, n, n) projections of theta_{g k} phi_j; for k = -1, of theta_{g k} phi_j / alpha_gk


def span(prior: HasDirichletRows, monomials: Sequence[History], histories: Sequence[History]) -> Basis:
    """The basis of these monomials, with distances under the even mixture of the beliefs after these histories.

    E_b[phi_i phi_j] = E_b[phi_i] E[phi_j | b, and what i has seen]: weighting with a monomial is seeing its outcomes.
    """
    exponent, n = listed(monomials), len(monomials)
    both = np.array([after_each(monomials, after(prior.alpha, history), exponent, n) for history in histories])
    both += after_each(histories, prior.alpha, exponent, n)[:, :, None]
    scale = 0.5 * (logsumexp(both.diagonal(axis1=1, axis2=2), axis=0) - np.log(len(histories)))
    joint = np.exp(both - scale[:, None] - scale)  # (B, n, n) E_b[phi_i phi_j]
    gram = joint.mean(axis=0)
    inverse = np.linalg.pinv(gram, rcond=RCOND, hermitian=True)
    cell, product = products(joint, listed(histories), exponent, prior.alpha)
    return Basis(exponent, scale, inverse @ gram, cell, inverse @ product)


def after_each(histories: Sequence[History], alpha: Floats, exponent: Ints, n: int) -> Floats:
    """Logarithms of the n moments after each of these histories."""
    return np.array([log_moments(exponent, after(alpha, history), n) for history in histories])


def products(joint: Floats, seen: Ints, exponent: Ints, alpha: Floats) -> tuple[Ints, Floats]:
    """The cells of a basis and, for each, E[phi_i theta_{g k} phi_j], not projected yet.

    E_b[phi_i theta_{g k} phi_j] = E_b[phi_i phi_j] (alpha_gk + seen_bgk + n_igk + n_jgk) / (alpha_g + seen_bg + n_ig +
    n_jg), averaged over the beliefs b.
    """
    (B, n, _), K = joint.shape, alpha.shape[1]
    cell: list[tuple[int, int]] = []
    product = []
    for g in np.union1d(seen[:, 0], exponent[:, 0]).tolist():
        b, m = in_group(seen, g, (B, K)), in_group(exponent, g, (n, K))
        weight = joint / (alpha[g].sum() + b.sum(axis=1)[:, None, None] + m.sum(axis=1)[:, None] + m.sum(axis=1)) / B
        shared = weight.sum(axis=0)
        cell.append((g, -1))
        product.append(shared)
        for k in np.flatnonzero(b.any(axis=0) | m.any(axis=0)).tolist():
            who = np.flatnonzero(b[:, k])
            cell.append((g, k))
            product.append(shared * (alpha[g, k] + m[:, None, k] + m[:, k]) + np.tensordot(b[who, k], weight[who], 1))
    return np.array(cell, np.int64).reshape(-1, 2), np.array(product).reshape(-1, n, n)


def in_group(rows: Ints, g: int, shape: tuple[int, int]) -> Floats:
    """The entries of group g as a dense array, by member and outcome."""
    dense = np.zeros(shape)
    mine = rows[rows[:, 0] == g]
    dense[mine[:, 2], mine[:, 1]] = mine[:, 3]
    return dense


# Hyper-states --------------------------------------------------------------------------------------------------------


class Points(NamedTuple):
    """The beliefs at which backups are made, in every state each."""

    seen: I2  # (z, 4) rows (g, k, i, n): belief i has seen outcome k of group g n times since the prior
    moment: F2  # (B, n) E_b[phi_i]


def points_of(prior: HasDirichletRows, histories: Sequence[History], basis: Basis) -> Points:
    """Beliefs after these histories."""
    moment = after_each(histories, prior.alpha, basis.exponent, len(basis.scale))
    return Points(listed(histories), np.exp(moment - basis.scale))


def interact(prior: SampledDirichletRows, beliefs: int, steps: int, rng: Generator) -> list[History]:
    """Histories of random interaction, one for each belief; the first one is empty."""
    o = prior.outcomes
    histories: list[History] = [()]
    for _ in range(1, beliefs):
        cdf = np.cumsum(prior.sample_mdp(rng).prob, axis=1)
        s = int(rng.choice(len(o.start), p=o.start))
        seen: Counter[tuple[int, int]] = Counter()
        for _ in range(int((steps + 1.0) ** rng.random())):
            g = int(o.group[s, a := int(rng.random() * o.n_actions)])
            k = min(int(np.searchsorted(cdf[g], rng.random(), side="right")), int(o.size[g]) - 1)
            if not prior.known[g]:
                seen[g, k] += 1
            s = int(o.succ[s, a, k])
            s = int(rng.choice(len(o.start), p=o.start)) if o.terminal[s] else s
        histories.append(tuple((g, k, n) for (g, k), n in sorted(seen.items())))
    return histories


# The compiled part: letters as above ---------------------------------------------------------------------------------


class Problem(NamedTuple):
    """What the kernels read of a belief."""

    succ: I3
    reward: F3
    group: I2
    size: I1
    terminal: B1
    alpha: F2  # (G, K) the prior's counts, probabilities where known
    gamma: float


class Alphas(NamedTuple):
    """Alpha-functions sum_i c_i phi_i, those of state s from first[s] to first[s + 1]."""

    coefficient: F2  # (m, n)
    first: I1  # (S + 1,)


def problem_of(belief: HasDirichletRows) -> Problem:
    """The arrays of a belief."""
    o = belief.outcomes
    return Problem(o.succ, o.reward, o.group, o.size, o.terminal, belief.alpha, belief.gamma)


def lowest(prior: HasDirichletRows, basis: Basis) -> Alphas:
    """One constant alpha-function for each state, below every policy's value: the smallest reward at every step."""
    c = np.zeros((prior.n_states, len(basis.scale)))
    c[~prior.outcomes.terminal, 0] = prior.outcomes.reward.min() / (1.0 - prior.gamma)
    return Alphas(c, np.arange(prior.n_states + 1))


@njit
def log_moments(exponent: I2, alpha: F2, n: int) -> F1:
    """log E[prod theta^n] for each of n monomials under Dirichlet rows alpha (G, K).

    It is the chance that an urn gives these outcomes one after the other, each of them (alpha_gk + n_gk) / (alpha_g +
    n_g) after n_gk like it and n_g in all. Padding and known rows have no exponents.
    """
    moment, before, row, mass = np.zeros(n), np.zeros(n, np.int64), -1, 0.0
    for g, k, i, m in exponent:
        if g != row:
            row, mass = g, alpha[g].sum()
            before[:] = 0
        for t in range(m):
            moment[i] += np.log((alpha[g, k] + t) / (mass + before[i]))
            before[i] += 1
    return moment


@njit
def sweep(order: I1, points: Points, old: Alphas, problem: Problem, basis: Basis) -> tuple[F2, I1, F2]:
    """A stage of Perseus: back hyper-states s B + i up in this order, except those no worse than before.

    Returns the new alpha-functions (coefficient, first) and the values V(s, b_i) (S, B). No value falls.
    """
    (B, n), S = points.moment.shape, len(old.first) - 1
    v, v_new = np.dot(points.moment, old.coefficient.T), np.full((S, B), -np.inf)  # v (B, m)
    best = np.empty((B, S), np.int64)
    for i in range(B):
        best[i] = highest(v[i], old.first)
    c, state, m = np.empty((S * B, n)), np.empty(S * B, np.int64), 0
    for j in order:
        s, i = j // B, j % B
        v_old = v[i, best[i, s]]
        if v_new[s, i] >= v_old:
            continue
        rows = rows_after(s, i, points.seen, problem)
        q, pick = look_ahead(s, rows, points.moment[i], v[i], best[i], old, problem, basis.exponent)
        a = int(np.argmax(q))
        c[m], state[m] = backup(s, a, pick[a], old, problem, basis), s
        if problem.terminal[s] or np.dot(c[m], points.moment[i]) < v_old:
            c[m] = old.coefficient[best[i, s]]
        v_new[s] = np.maximum(v_new[s], np.dot(points.moment, c[m]))
        m += 1
    by_state = np.argsort(state[:m])
    return c[by_state], np.searchsorted(state[:m][by_state], np.arange(S + 1)), v_new


@njit
def highest(v: F1, first: I1) -> I1:
    """Which alpha-function is the best of each state, (S,), given their values v; ties go to the first."""
    best = first[:-1].copy()
    for s in range(len(best)):
        for l in range(first[s] + 1, first[s + 1]):
            if v[l] > v[best[s]]:
                best[s] = l
    return best


@njit
def of_group(exponent: I2, g: int) -> tuple[int, int]:
    """Where the rows of group g begin and end in a list."""
    return int(np.searchsorted(exponent[:, 0], g)), int(np.searchsorted(exponent[:, 0], g + 1))


@njit
def rows_after(s: int, i: int, seen: I2, problem: Problem) -> F2:
    """The counts (A, K) of belief i for the actions in s."""
    rows = problem.alpha[problem.group[s]]
    for a in range(len(rows)):
        begin, end = of_group(seen, problem.group[s, a])
        for _, k, b, n in seen[begin:end]:
            if b == i:
                rows[a, k] += n
    return rows


@njit
def look_ahead(
    s: int, rows: F2, e: F1, v: F1, best: I1, alphas: Alphas, problem: Problem, exponent: I2
) -> tuple[F1, I2]:
    """Q(s, b, a) (A,) and the best alpha-function after each outcome (A, K).

    Of the belief b: its counts `rows` (A, K) for the actions in s, e_i = E_b[phi_i], the alpha-functions' values v, and
    which are the best of each state. E_b[theta_{g k} phi_i] = e_i (alpha_gk + n_igk) / (alpha_g + n_ig) is the chance
    of outcome k times the moment of phi_i in the belief that has seen it, so that one sum gives the chance times the
    value of each outcome. Outcomes that no phi_i counts differ by their chance alone.
    """
    A, K = rows.shape
    q, pick = np.zeros(A), np.zeros((A, K), np.int64)
    for a in range(A):
        g = problem.group[s, a]
        (j, end), mass, total = of_group(exponent, g), rows[a].sum(), np.zeros(len(e))
        for _, _, i, n in exponent[j:end]:
            total[i] += n
        if j < end:
            v_g = np.dot(alphas.coefficient, e * mass / (mass + total))
            best_g = highest(v_g, alphas.first)
        else:
            v_g, best_g = v, best
        for k in range(problem.size[g]):
            y, p = problem.succ[s, a, k], rows[a, k] / mass
            pick[a, k] = best_g[y]
            later = p * v_g[best_g[y]]
            if j < end and exponent[j, 1] == k:
                w = e * rows[a, k] / (mass + total)
                while j < end and exponent[j, 1] == k:
                    i, n = exponent[j, 2], exponent[j, 3]
                    w[i] += e[i] * n / (mass + total[i])
                    j += 1
                x = np.dot(alphas.coefficient[alphas.first[y] : alphas.first[y + 1]], w)
                pick[a, k] = alphas.first[y] + np.argmax(x)
                later = x.max()
            q[a] += p * problem.reward[s, a, k] + problem.gamma * later
    return q, pick


@njit
def backup(s: int, a: int, pick: I1, alphas: Alphas, problem: Problem, basis: Basis) -> F1:
    """Coefficients of the projection of sum_k theta_{g k} [ r_k + gamma alpha_pick(k) ] on the basis."""
    g = problem.group[s, a]
    chance = problem.alpha[g, : problem.size[g]].copy()
    f = problem.gamma * alphas.coefficient[pick[: len(chance)]]  # f[k, j]: coefficients of r_k + gamma alpha_k
    f[:, 0] += problem.reward[s, a, : len(chance)]
    begin, end = of_group(basis.cell, g)
    if begin == end:
        known: F1 = np.dot(basis.identity, np.dot(chance, f))
        return known / chance.sum()
    c = np.zeros(f.shape[1])
    for j in range(begin + 1, end):
        k = basis.cell[j, 1]
        c += np.dot(basis.product[j], f[k])
        chance[k] = 0.0
    rest: F1 = np.dot(basis.product[begin], np.dot(chance, f))
    return c + rest
