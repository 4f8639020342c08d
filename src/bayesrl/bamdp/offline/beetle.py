"""BEETLE: an analytic solution of the Bayes-adaptive MDP (Poupart, Vlassis, Hoey, Regan 2006; survey §4.3).

The optimal value of a state is an upper envelope of alpha-functions, V(s, b) = max_alpha E_b[alpha(theta)]. Each
alpha-function is a polynomial in the unknown probabilities theta, because a Bellman backup at (s, b) only multiplies
and adds,

    alpha'(theta) = sum_k theta_{g k} [ r_k + gamma alpha_k(theta) ],   g = group(s, a*),   alpha_k best at (s_k, b_k),

where a* and the alpha_k are chosen at b and then used for every theta. The number of terms grows exponentially, so
alpha' is projected on a basis: the monomials prod theta^n, where n are the outcomes that sampled hyper-states have
seen. All of this happens before the first step; a decision only evaluates expectations. The method is for problems with
few unknowns (tied rows, known rows). With many unknowns no sampled history resembles the true one, and the result is a
one-step look-ahead on the values of the prior.

Paper to code: hyper-states from random interaction `interact`; moments of monomials under a Dirichlet `log_moments`;
least squares on the basis `make_basis` (both in _monomials.py) and `backup`; a stage of Perseus `sweep`.
Deviations:
- Distances are measured under the even mixture of the sampled beliefs; the paper measures them uniformly. The mixture
  has weight at every belief at which values are computed, so E_b[alpha] errs by at most sqrt(B) times the distance.
  Under the prior there is no such bound: with many unknowns and small counts the prior gives the sampled beliefs almost
  no weight, and values were rounding errors times 1e54.
- Every sampled belief is backed up in every state. If it is backed up in the visited states only, states that few
  histories reach keep the values of a policy that does not learn.
- The lengths of the histories are log-uniform, since beliefs change by ratios of counts.
- The basis is normalised, and nearly dependent directions are dropped (`RCOND`), since monomials of similar counts are
  nearly equal.
- The action comes from a one-step look-ahead. The paper labels each alpha-function with an action; a label can be wrong
  where two alpha-functions nearly meet.
Discount 1: every policy must end with probability one in the mean model, and then in every drawn one, as all have the
prior's outcomes; a prior that need not end is refused with the state. The first alpha-functions are min(r_min, 0) w(s)
instead of r_min / (1 - gamma), where w(s) is the longest expected episode if every step has the mean row of any sampled
belief. As w(s) >= 1 + sum_s' E_b[P(s'|s, a)] w(s') for all of them, no first backup at a sampled belief falls below.
For costs this is no bound under the whole posterior, under which the mean length of episodes may be infinite; with
rewards of at least zero it is 0, and sure.
Cost: exponents are stored as lists, since nearly all are zero if there are many unknowns. Let there be n basis
functions, m alpha-functions, B beliefs, z cells (g, k) that some belief has seen, and z_g of them in an action's row.
Solving takes O(B n (G K + z + n G)) time and O(n^2 z) memory before the stages; a backup takes O(n K + n^2 z_g), after
a look-ahead of O(K + m n) per action, O(K) if no phi_i depends on its row. A decision takes O(G K + z + m n) and a
look-ahead.
Claims: unprojected backups give exact values, and so does a basis that spans them; root values approach the exact ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import best_action, state_in
from bayesrl.bamdp.offline._monomials import (
    Basis,
    History,
    counts_after,
    dense_order,
    listed,
    log_moments,
    log_moments_after,
    make_basis,
)
from bayesrl.capabilities import HasDirichletRows, SamplesMDPs, require
from bayesrl.checks import Floats, Ints, frozen, generator
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import B1, F1, F2, F3, I1, I2, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import better, first_best
from bayesrl.models.solvers.proper import Rows, endless_choice, longest_choices, refuse_endless
from bayesrl.parameters import AtLeast, declared, value
from bayesrl.registry import register
from bayesrl.traits import Traits

PATIENCE = 20
"""Stages without a gain before the end; one stage backs up few points, perhaps none that could gain."""


class SampledDirichletRows(SamplesMDPs, HasDirichletRows, Protocol):
    """A prior that BEETLE can solve."""


@register(
    "beetle",
    kind="solver",
    survey="4.3",
    paper="poupart06beetle",
    example=lambda: BEETLE(beliefs=12, basis=10, iterations=60),
    evidence=(
        "tests/bamdp/offline/test_beetle.py::test_unprojected_backups_give_exact_values",
        "tests/bamdp/offline/test_beetle.py::test_a_basis_that_spans_gives_exact_values",
        "tests/bamdp/offline/test_beetle.py::test_moments_against_quadrature",
        "tests/bamdp/offline/test_beetle.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/test_undiscounted.py::test_beetle_solves_a_known_model",
    ),
)
@declared
class BEETLE:
    """Point-based value iteration with alpha-functions that are polynomials in the unknown probabilities.

    With discount 1 every policy must end under the prior. Values begin at the smallest reward (or 0) for the longest
    expected episode.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> world = b.make_world("chain-tied")
    >>> prior = b.DirichletMDP.structured(world)
    >>> planner = BEETLE(beliefs=12, basis=10, iterations=60).solve(prior, default_rng(0))
    >>> print(b.run(b.BayesAgent(prior, planner), world, steps=100, seed=0).total)
    322.0
    """

    beliefs: Annotated[int, AtLeast(1), "Beliefs b at which backups are made, each in every state."] = 60
    basis: Annotated[
        int,
        AtLeast(1),
        "Largest number of basis functions phi_i, monomials of outcomes that beliefs have seen.",
    ] = 50
    steps: Annotated[int, AtLeast(1), "Length of the longest random history of these beliefs."] = 200
    iterations: Annotated[int, AtLeast(1), "Largest number of stages of Perseus."] = 1000
    tolerance: Annotated[
        float,
        AtLeast(0),
        "Stop when further stages seem to raise no value by more than this share of the largest.",
    ] = 1e-3

    needs: ClassVar[tuple[type, ...]] = (SampledDirichletRows,)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def check(self, belief: SampledDirichletRows) -> None:
        """Refuse a discount of 1 if episodes need not end."""
        if belief.gamma == 1.0:
            o = belief.outcomes
            state = endless_choice(Rows(o.succ, o.group, belief.alpha[None]), o.terminal)
            refuse_endless("BEETLE", "problem", state)

    def solve(self, problem: SampledDirichletRows, rng: Generator | None = None) -> AlphaFunctions:
        """Compute alpha-functions for the beliefs that can follow this prior."""
        require("BEETLE", problem, SampledDirichletRows)
        prior, rng = problem, generator("BEETLE", rng)
        self.check(prior)
        histories = sorted(
            set(interact(prior, self.beliefs, self.steps, rng)), key=dense_order
        )  # the prior comes first
        chosen = np.sort(rng.permutation(len(histories) - 1)[: self.basis - 1]) + 1
        basis = make_basis(prior, [histories[i] for i in (0, *chosen)], histories)
        lasts = longest_of_beliefs(prior, histories) if prior.gamma == 1.0 else None
        points, alphas = points_of(prior, histories, basis), lower_bounds(prior, basis, lasts)
        rest = 1.0 - prior.gamma if lasts is None else 1.0 / max(float(lasts.max()), 1.0)
        alphas = self._improve(points, alphas, problem_of(prior), basis, rest, rng)
        c, first = frozen(alphas.coefficient), frozen(alphas.first)
        return AlphaFunctions(self, prior.alpha.shape, frozen(basis.exponent), frozen(basis.scale), c, first)

    def _improve(
        self, points: Points, alphas: Alphas, problem: Problem, basis: Basis, rest: float, rng: Generator
    ) -> Alphas:
        v, still = np.full((len(alphas.first) - 1, len(points.moment)), -np.inf), 0
        for _ in range(self.iterations):
            before = v
            coefficient, first, v = sweep(rng.permutation(v.size), points, alphas, problem, basis)
            alphas = Alphas(coefficient, first)
            rose = (v - before).max() > self.tolerance * rest * np.abs(v).max()
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
    """Logarithm of each monomial's norm, (n,)."""
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
        """Nothing to remember."""

    def plan(
        self, belief: HasDirichletRows, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Take the best action of a one-step look-ahead; ties go to the first."""
        self.check(belief)
        s = state_in("AlphaFunctions", belief, observation)
        e = np.exp(log_moments(self.exponent, belief.alpha, len(self.scale)) - self.scale)
        v, alphas = self.coefficient @ e, Alphas(self.coefficient, self.first)
        best, rows = best_of_each_state(v, self.first), belief.alpha[belief.outcomes.group[s]]
        q, _ = look_ahead(s, rows, e, v, best, alphas, problem_of(belief), self.exponent)
        return Decision(best_action(q, "first", rng), None, {"q": q, "value": float(v[best[s]])})


# Hyper-states --------------------------------------------------------------------------------------------------------


class Points(NamedTuple):
    """The beliefs at which backups are made, each in every state."""

    seen: I2  # (z, 4) rows (g, k, i, n), see `listed`
    moment: F2  # (B, n) E_b[phi_i]


def points_of(prior: HasDirichletRows, histories: Sequence[History], basis: Basis) -> Points:
    """The beliefs after these histories."""
    moment = log_moments_after(histories, prior.alpha, basis.exponent, len(basis.scale))
    return Points(listed(histories), np.exp(moment - basis.scale))


def interact(prior: SampledDirichletRows, beliefs: int, steps: int, rng: Generator) -> list[History]:
    """Simulate random interaction: one history for each belief. The first one is empty."""
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
    """The arrays that the kernels read of a belief."""

    succ: I3
    reward: F3
    group: I2
    size: I1
    terminal: B1
    alpha: F2  # (G, K) the prior's counts, probabilities where known
    gamma: float


class Alphas(NamedTuple):
    """Alpha-functions sum_i c_i phi_i; those of state s have indices first[s] to first[s + 1] - 1."""

    coefficient: F2  # (m, n)
    first: I1  # (S + 1,)


def problem_of(belief: HasDirichletRows) -> Problem:
    """The arrays of a belief."""
    o = belief.outcomes
    return Problem(o.succ, o.reward, o.group, o.size, o.terminal, belief.alpha, belief.gamma)


def lower_bounds(prior: HasDirichletRows, basis: Basis, lasts: Floats | None = None) -> Alphas:
    """One constant alpha-function for each state: the smallest reward at every step, a lower bound.

    `lasts` are the expected lengths of episodes (S,) with discount 1.
    """
    c, worst = np.zeros((prior.n_states, len(basis.scale))), prior.outcomes.reward.min()
    if lasts is None:
        c[~prior.outcomes.terminal, 0] = worst / (1.0 - prior.gamma)
    else:
        c[:, 0] = min(worst, 0.0) * lasts
    return Alphas(c, np.arange(prior.n_states + 1))


def longest_of_beliefs(prior: HasDirichletRows, histories: Sequence[History]) -> Floats:
    """w(s), (S,): the longest expected episode if each step has the mean row of any belief after these histories."""
    counts = np.array([np.where(prior.known[:, None], prior.alpha, counts_after(prior.alpha, h)) for h in histories])
    o = prior.outcomes
    return longest_choices(Rows(o.succ, o.group, counts / counts.sum(axis=2, keepdims=True)), o.terminal)


@njit
def sweep(order: I1, points: Points, old: Alphas, problem: Problem, basis: Basis) -> tuple[F2, I1, F2]:
    """A stage of Perseus: back up hyper-states s B + i in this order, unless their value has already improved.

    Returns the new alpha-functions (coefficient, first) and the values V(s, b_i) (S, B). No value decreases.
    """
    (B, n), S = points.moment.shape, len(old.first) - 1
    v, v_new = np.dot(points.moment, old.coefficient.T), np.full((S, B), -np.inf)  # v (B, m)
    best = np.empty((B, S), np.int64)
    for i in range(B):
        best[i] = best_of_each_state(v[i], old.first)
    c, state, m = np.empty((S * B, n)), np.empty(S * B, np.int64), 0
    for j in order:
        s, i = j // B, j % B
        v_old = v[i, best[i, s]]
        if not better(v_old, v_new[s, i]):
            continue
        rows = rows_after(s, i, points.seen, problem)
        q, pick = look_ahead(s, rows, points.moment[i], v[i], best[i], old, problem, basis.exponent)
        a = first_best(q)
        c[m], state[m] = backup(s, a, pick[a], old, problem, basis), s
        if problem.terminal[s] or better(v_old, np.dot(c[m], points.moment[i])):
            c[m] = old.coefficient[best[i, s]]
        v_new[s] = np.maximum(v_new[s], np.dot(points.moment, c[m]))
        m += 1
    by_state = np.argsort(state[:m])
    return c[by_state], np.searchsorted(state[:m][by_state], np.arange(S + 1)), v_new


@njit
def best_of_each_state(v: F1, first: I1) -> I1:
    """The index of the best alpha-function of each state, (S,), given all values v; ties go to the first."""
    best = first[:-1].copy()
    for s in range(len(best)):
        for l in range(first[s] + 1, first[s + 1]):
            if better(v[l], v[best[s]]):
                best[s] = l
    return best


@njit
def range_of_group(exponent: I2, g: int) -> tuple[int, int]:
    """The first row of group g in a sorted list, and the first row after it."""
    return int(np.searchsorted(exponent[:, 0], g)), int(np.searchsorted(exponent[:, 0], g + 1))


@njit
def rows_after(s: int, i: int, seen: I2, problem: Problem) -> F2:
    """The counts (A, K) of belief i for the actions in s."""
    rows = problem.alpha[problem.group[s]]
    for a in range(len(rows)):
        begin, end = range_of_group(seen, problem.group[s, a])
        for _, k, b, n in seen[begin:end]:
            if b == i:
                rows[a, k] += n
    return rows


@njit
def look_ahead(
    s: int, rows: F2, e: F1, v: F1, best: I1, alphas: Alphas, problem: Problem, exponent: I2
) -> tuple[F1, I2]:
    """Q(s, b, a) (A,) and the best alpha-function after each outcome (A, K).

    The belief b is given by its counts `rows` (A, K) for the actions in s, the moments e_i = E_b[phi_i], the values v
    of the alpha-functions and the best one of each state. E_b[theta_{g k} phi_i] = e_i (alpha_gk + n_igk) / (alpha_g +
    n_ig) is the probability of outcome k times the moment of phi_i after it. So one sum gives the probability times the
    value of an outcome. Outcomes without an exponent in any phi_i differ only in their probability.
    """
    A, K = rows.shape
    q, pick = np.zeros(A), np.zeros((A, K), np.int64)
    for a in range(A):
        g = problem.group[s, a]
        (j, end), mass, total = range_of_group(exponent, g), rows[a].sum(), np.zeros(len(e))
        for _, _, i, n in exponent[j:end]:
            total[i] += n
        if j < end:
            v_g = np.dot(alphas.coefficient, e * mass / (mass + total))
            best_g = best_of_each_state(v_g, alphas.first)
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
                pick[a, k] = alphas.first[y] + first_best(x)
                later = x.max()
            q[a] += p * problem.reward[s, a, k] + problem.gamma * later
    return q, pick


@njit
def backup(s: int, a: int, pick: I1, alphas: Alphas, problem: Problem, basis: Basis) -> F1:
    """Project sum_k theta_{g k} [ r_k + gamma alpha_pick(k) ] on the basis; return the coefficients."""
    g = problem.group[s, a]
    chance = problem.alpha[g, : problem.size[g]].copy()
    f = problem.gamma * alphas.coefficient[pick[: len(chance)]]  # f[k, j]: coefficients of r_k + gamma alpha_k
    f[:, 0] += problem.reward[s, a, : len(chance)]
    begin, end = range_of_group(basis.cell, g)
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
