"""BEETLE: an analytic solution of the Bayes-adaptive MDP (Poupart, Vlassis, Hoey, Regan 2006; survey §4.3).

The optimal value of a state is an upper envelope of alpha-functions, V(s, b) = max_alpha E_b[alpha(theta)], and each of
them is a polynomial in the unknown probabilities theta: a Bellman backup at (s, b) multiplies and adds,

    alpha'(theta) = sum_k theta_{g k} [ r_k + gamma alpha_k(theta) ],   g = group(s, a*),   alpha_k best at (s_k, b_k),

where a* and the alpha_k are chosen at b and hold for every theta. The number of terms explodes, so alpha' is projected
on a basis: densities of sampled hyper-states, which are the monomials prod theta^n of the outcomes n they have seen.
All work is done ahead; acting looks expectations up. For problems with few unknowns (tied rows, known rows).

Paper to code: hyper-states from random interaction `interact`; moments of monomials under a Dirichlet, ratios of gamma
functions, `log_moments`; least squares on the basis `span` and `backup`; a stage of Perseus `sweep`.
Deviations: distances are measured under the prior (the paper's uniform measure where the prior is uniform). Every
sampled belief is backed up in every state: on the few states that chance leaves it in, values of states behind a gap
stay those of a policy that does not learn. Ages of the beliefs are log-uniform, one to a simulated life, since beliefs
change by ratios of counts. The basis is normalised and nearly dependent directions are dropped (`RCOND`), as monomials
of like counts are nearly equal. The action comes from a one-step look-ahead, not from a label of the best
alpha-function: that errs where alpha-functions nearly meet.
Cost: a backup is O(n^2 K + m n A K) for n basis functions and m alpha-functions; a decision O(n G K + m n A K).
Claims: unprojected backups give exact values, and so does a basis that spans; root values approach the exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesrl.bamdp.greedy import best_action
from bayesrl.beliefs.dirichlet import DirichletMDP
from bayesrl.checks import Bools, Floats, Ints, frozen, integer, number, value
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.jit import njit
from bayesrl.registry import register

RCOND = 1e-10
"""Directions of the basis with less than this share of the largest eigenvalue are rounding, not functions."""
PATIENCE = 20
"""Stages without a rise before the end: a stage backs few points up, perhaps none of those that could gain."""


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
@dataclass(frozen=True, slots=True)
class BEETLE:
    """Alpha-functions that are polynomials in the unknown probabilities, improved ahead at sampled hyper-states."""

    beliefs: int = 60
    """Beliefs b at which backups are made, in every state each."""
    basis: int = 50
    """Basis functions phi_i at most: monomials of the outcomes that some of these beliefs have seen."""
    steps: int = 200
    """Random steps that the oldest of these beliefs may have behind it."""
    iterations: int = 1000
    """Stages of Perseus at most."""
    tolerance: float = 1e-3
    """Stop when further stages seem to raise no value by more than this share of the largest."""

    yields: ClassVar[str] = "planner"

    def __post_init__(self) -> None:
        integer("BEETLE", "beliefs", self.beliefs, 1)
        integer("BEETLE", "basis", self.basis, 1)
        integer("BEETLE", "steps", self.steps, 1)
        integer("BEETLE", "iterations", self.iterations, 1)
        number("BEETLE", "tolerance", self.tolerance, 0.0)

    def solve(self, prior: DirichletMDP, rng: Generator) -> AlphaFunctions:
        """Alpha-functions for the beliefs that may follow this prior."""
        if not isinstance(prior, DirichletMDP):
            raise InvalidArgument("BEETLE", "prior", "a DirichletMDP", type(prior).__name__)
        number("BEETLE", "gamma", prior.gamma, 0.0, 1.0, below=True)
        seen = np.unique(interact(prior, self.beliefs, self.steps, rng), axis=0)  # sorted: the prior comes first
        chosen = np.sort(rng.permutation(len(seen) - 1)[: self.basis - 1]) + 1
        basis = span(prior, seen[[0, *chosen]])
        alphas = self._improve(points_of(prior, seen, basis), lowest(prior, basis), problem_of(prior), basis, rng)
        c, first = frozen(alphas.coefficient), frozen(alphas.first)
        return AlphaFunctions(self, frozen(basis.exponent), frozen(basis.scale), c, first)

    def _improve(self, points: Points, alphas: Alphas, problem: Problem, basis: Basis, rng: Generator) -> Alphas:
        v, still = np.full((len(alphas.first) - 1, len(points.alpha)), -np.inf), 0
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
    """A solved value function, which is a planner: V(s, b) = max_alpha E_b[alpha], one step ahead."""

    solver: BEETLE
    """What made it."""
    exponent: Floats
    """Exponents of the basis monomials, (n, G, K)."""
    scale: Floats
    """Logarithm of each monomial's norm under the prior, (n,)."""
    coefficient: Floats
    """Coefficients c_i of the alpha-functions, by states, (m, n)."""
    first: Ints
    """Where those of each state begin, (S + 1,)."""

    needs: ClassVar[tuple[str, ...]] = ("alpha", "known", "outcomes", "gamma")

    def start(self) -> None:
        """Nothing to remember: the belief says it all."""

    def plan(
        self, belief: DirichletMDP, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Values of the actions under the best alpha-functions one step ahead; ties go to the first action."""
        e = np.exp(log_moments(self.exponent, belief.alpha, learnt(belief)) - self.scale)
        alphas, total = Alphas(self.coefficient, self.first), self.exponent.sum(axis=2)
        q, _ = look_ahead(observation, belief.alpha, e, alphas, problem_of(belief), self.exponent, total)
        own = self.coefficient[self.first[observation] : self.first[observation + 1]]
        return Decision(best_action(q, "first", rng), None, {"q": q, "value": float((own @ e).max())})


# Monomials -----------------------------------------------------------------------------------------------------------


def learnt(belief: DirichletMDP) -> Bools:
    """Which cells (g, k) are unknown probabilities."""
    return belief.outcomes.valid & ~belief.known[:, None]


def log_moments(exponent: Floats, alpha: Floats, unknown: Bools) -> Floats:
    """log E[prod theta^n] for exponents n (..., G, K) under Dirichlet rows alpha (G, K).

    E = prod_g Gamma(alpha_g) / Gamma(alpha_g + n_g) prod_k Gamma(alpha_gk + n_gk) / Gamma(alpha_gk), alpha_g and n_g
    being sums over k. Padding and known rows have no exponents.
    """
    a = np.where(unknown, alpha, 1.0)
    mass = np.where(unknown.any(axis=-1), np.where(unknown, alpha, 0.0).sum(axis=-1), 1.0)
    cells, rows = gammaln(a + exponent) - gammaln(a), gammaln(mass + exponent.sum(axis=-1)) - gammaln(mass)
    return np.asarray(cells.sum(axis=(-2, -1)) - rows.sum(axis=-1))


class Basis(NamedTuple):
    """Monomials phi_i of norm one under the prior; products theta_{g k} phi_j are projected on them."""

    exponent: Floats  # (n, G, K), the first one zero: a constant
    total: Floats  # (n, G), sums over k
    scale: Floats  # (n,) log norms
    gram: Floats  # (n, n) E[phi_i phi_j] under the prior
    inverse: Floats  # (n, n) its pseudo-inverse


def span(prior: DirichletMDP, exponent: Floats) -> Basis:
    """The basis of these monomials."""
    unknown = learnt(prior)
    scale = 0.5 * log_moments(2.0 * exponent, prior.alpha, unknown)
    product = np.array([log_moments(exponent + other, prior.alpha, unknown) for other in exponent])
    gram = np.exp(product - scale[:, None] - scale)
    return Basis(exponent, exponent.sum(axis=2), scale, gram, np.linalg.pinv(gram, rcond=RCOND, hermitian=True))


# Hyper-states --------------------------------------------------------------------------------------------------------


class Points(NamedTuple):
    """The beliefs at which backups are made, in every state each."""

    alpha: Floats  # (B, G, K)
    moment: Floats  # (B, n) E_b[phi_i]


def points_of(prior: DirichletMDP, seen: Floats, basis: Basis) -> Points:
    """Beliefs that have seen these outcomes since the prior."""
    alpha, unknown = prior.alpha + seen, learnt(prior)
    moment = np.exp(np.array([log_moments(basis.exponent, a, unknown) for a in alpha]) - basis.scale)
    return Points(alpha, moment)


def interact(prior: DirichletMDP, beliefs: int, steps: int, rng: Generator) -> Floats:
    """Counts of the outcomes seen in random interaction, one life for each belief (B, G, K); the first saw none."""
    o = prior.outcomes
    seen = np.zeros((beliefs, *prior.alpha.shape))
    for i in range(1, beliefs):
        cdf = np.cumsum(prior.sample_mdp(rng).prob, axis=1)
        s = int(rng.choice(len(o.start), p=o.start))
        for _ in range(int((steps + 1.0) ** rng.random())):
            g = o.group[s, a := int(rng.random() * o.n_actions)]
            k = min(int(np.searchsorted(cdf[g], rng.random(), side="right")), o.size[g] - 1)
            seen[i, g, k] += not prior.known[g]
            s = int(o.succ[s, a, k])
            s = int(rng.choice(len(o.start), p=o.start)) if o.terminal[s] else s
    return seen


# The compiled part: letters as above ---------------------------------------------------------------------------------


class Problem(NamedTuple):
    """What the kernels read of a belief."""

    succ: Ints
    reward: Floats
    group: Ints
    size: Ints
    terminal: Bools
    alpha: Floats  # (G, K) the prior's counts, probabilities where known
    gamma: float


class Alphas(NamedTuple):
    """Alpha-functions sum_i c_i phi_i, those of state s from first[s] to first[s + 1]."""

    coefficient: Floats  # (m, n)
    first: Ints  # (S + 1,)


def problem_of(belief: DirichletMDP) -> Problem:
    """The arrays of a belief."""
    o = belief.outcomes
    return Problem(o.succ, o.reward, o.group, o.size, o.terminal, belief.alpha, belief.gamma)


def lowest(prior: DirichletMDP, basis: Basis) -> Alphas:
    """One constant alpha-function for each state, below every policy's value: to be paid least for ever."""
    c = np.zeros((prior.n_states, len(basis.scale)))
    c[~prior.outcomes.terminal, 0] = prior.outcomes.reward.min() / (1.0 - prior.gamma)
    return Alphas(c, np.arange(prior.n_states + 1))


@njit
def sweep(order: Any, points: Any, old: Any, problem: Any, basis: Any) -> Any:
    """A stage of Perseus: back hyper-states s B + i up in this order, passing over those no worse than before.

    Returns the new alpha-functions (coefficient, first) and the values V(s, b_i) (S, B), none of which falls.
    """
    (B, n), S = points.moment.shape, len(old.first) - 1
    v_old, best, v_new = np.full((S, B), -np.inf), np.zeros((S, B), np.int64), np.full((S, B), -np.inf)
    for s in range(S):
        for l in range(old.first[s], old.first[s + 1]):
            v = np.dot(points.moment, old.coefficient[l])
            for i in range(B):
                if v[i] > v_old[s, i]:
                    v_old[s, i], best[s, i] = v[i], l
    c, state, m = np.empty((S * B, n)), np.empty(S * B, np.int64), 0
    for j in order:
        s, i = j // B, j % B
        if v_new[s, i] >= v_old[s, i]:
            continue
        q, pick = look_ahead(s, points.alpha[i], points.moment[i], old, problem, basis.exponent, basis.total)
        a = int(np.argmax(q))
        c[m], state[m] = backup(s, a, pick[a], old, problem, basis), s
        if problem.terminal[s] or np.dot(c[m], points.moment[i]) < v_old[s, i]:
            c[m] = old.coefficient[best[s, i]]
        v_new[s] = np.maximum(v_new[s], np.dot(points.moment, c[m]))
        m += 1
    by_state = np.argsort(state[:m])
    return c[by_state], np.searchsorted(state[:m][by_state], np.arange(S + 1)), v_new


@njit
def look_ahead(s: int, alpha: Any, e: Any, alphas: Any, problem: Any, exponent: Any, total: Any) -> Any:
    """Q(s, b, a) (A,) and the best alpha-function after each outcome (A, K), given e_i = E_b[phi_i].

    E_b[theta_{g k} phi_i] = e_i (alpha_gk + n_igk) / (alpha_g + n_ig) is the chance of outcome k times the moment of
    phi_i in the belief that has seen it, so that one sum gives the chance times the value of each outcome.
    """
    A, K = problem.succ.shape[1:]
    q, pick = np.zeros(A), np.zeros((A, K), np.int64)
    for a in range(A):
        g = problem.group[s, a]
        mass = alpha[g].sum()
        for k in range(problem.size[g]):
            y = problem.succ[s, a, k]
            w = e * (alpha[g, k] + exponent[:, g, k]) / (mass + total[:, g])
            v = np.dot(alphas.coefficient[alphas.first[y] : alphas.first[y + 1]], w)
            best = np.argmax(v)
            pick[a, k] = alphas.first[y] + best
            q[a] += alpha[g, k] / mass * problem.reward[s, a, k] + problem.gamma * v[best]
    return q, pick


@njit
def backup(s: int, a: int, pick: Any, alphas: Any, problem: Any, basis: Any) -> Any:
    """Coefficients of the projection of sum_k theta_{g k} [ r_k + gamma alpha_pick(k) ] on the basis.

    The normal equations have E[phi_i theta_{g k} phi_j] = E[phi_i phi_j] (alpha_gk + n_igk + n_jgk) / (alpha_g + n_ig
    + n_jg) on their right-hand side, under the prior.
    """
    n, g = len(basis.scale), problem.group[s, a]
    mass, d = problem.alpha[g].sum(), np.zeros(n)
    f = np.empty((n, problem.size[g]))  # f[j, k]: coefficients of r_k + gamma alpha_k
    for k in range(problem.size[g]):
        f[:, k] = problem.gamma * alphas.coefficient[pick[k]]
        f[0, k] += problem.reward[s, a, k]
    for i in range(n):
        for j in range(n):
            x = 0.0
            for k in range(problem.size[g]):
                x += f[j, k] * (problem.alpha[g, k] + basis.exponent[i, g, k] + basis.exponent[j, g, k])
            d[i] += basis.gram[i, j] * x / (mass + basis.total[i, g] + basis.total[j, g])
    return np.dot(basis.inverse, d)
