"""Bayes-adaptive POMDPs by enumeration: slow, and obviously right.

A hidden path is a first state and, for each step, an outcome and an observation. Given its path, the data have the
probability of the start, times a Dirichlet-multinomial for each row: the probability of the number of times that each
entry was drawn, in that order. Known rows multiply their probabilities.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.checks import Floats
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes

Entry = tuple[str, int, int]
"""An entry of a row: "phi" or "psi", the group, and k."""
Step = tuple[int, int, bool]
"""(action, observation, terminated)."""
Weighted = tuple[float, int, Counter[Entry]]
"""A weight, a state and the counts of entries that the path to it has drawn."""
Counted = Callable[[float], bool]
"""Whether a row of this total is counted up."""


def always(total: float) -> bool:
    """No bound."""
    return True


def paths(prior: DirichletPOMDP, data: Sequence[Sequence[Step]]) -> list[Weighted]:
    """(log probability, last state, counts by entry) of each hidden path that explains the episodes."""
    found: list[tuple[float, int, tuple[Entry, ...]]] = [(0.0, -1, ())]
    for episode in data:
        begun = []
        for log_p, _, drawn in found:
            for s in np.flatnonzero(prior.start):
                begun.append((log_p + np.log(prior.start[s]), int(s), drawn))
        for a, o, ended in episode:
            begun = [new for old in begun for new in moves(prior, old, a, o, ended)]
        found = begun
    return [(log_p + log_marginal(prior, Counter(drawn)), s, Counter(drawn)) for log_p, s, drawn in found]


def moves(
    prior: DirichletPOMDP, old: tuple[float, int, tuple[Entry, ...]], a: int, o: int, ended: bool
) -> Iterator[tuple[float, int, tuple[Entry, ...]]]:
    """A path with one more step: every outcome that leads to the right kind of state, every entry that shows o."""
    log_p, s, drawn = old
    o_, observed = prior.outcomes, prior.observed
    g = o_.group[s, a]
    entries: list[tuple[int, tuple[Entry, ...]]] = [(s, ())] if o_.terminal[s] else [
        (int(o_.succ[s, a, k]), (("phi", int(g), k),)) for k in range(o_.size[g]) if prior.phi[g, k] > 0.0
    ]  # fmt: skip
    for y, moved in entries:
        h = observed.group[y, a]
        for j in range(observed.size[h]):
            if o_.terminal[y] == ended and observed.observation[y, a, j] == o and prior.psi[h, j] > 0.0:
                yield log_p, y, drawn + moved + (("psi", int(h), j),)


def log_marginal(prior: DirichletPOMDP, drawn: Counter[Entry]) -> float:
    """Log probability of the drawn entries, in their order, with the rows integrated out."""
    total = 0.0
    for name, counts, fixed in (("phi", prior.phi, prior.fixed[0]), ("psi", prior.psi, prior.fixed[1])):
        for r in range(len(counts)):
            n = np.array([drawn[name, r, k] for k in range(counts.shape[1])])
            if fixed[r]:
                total += sum(n[k] * np.log(counts[r, k]) for k in np.flatnonzero(n))
            elif n.any():
                alpha, own = counts[r], counts[r] > 0.0
                total += gammaln(alpha.sum()) - gammaln(alpha.sum() + n.sum())
                total += (gammaln(alpha[own] + n[own]) - gammaln(alpha[own])).sum()
    return total


def posterior(
    prior: DirichletPOMDP, data: Sequence[Sequence[Step]]
) -> tuple[float, dict[tuple[int, frozenset[tuple[Entry, int]]], float]]:
    """(log evidence, {(s, counts up): weight}) after episodes; known rows have no counts."""
    found = paths(prior, data)
    if not found:
        return -np.inf, {}
    evidence = np.logaddexp.reduce([log_p for log_p, _, _ in found])
    weights: dict[Any, float] = defaultdict(float)
    for log_p, s, drawn in found:
        up = frozenset((c, n) for c, n in drawn.items() if not prior.fixed[0 if c[0] == "phi" else 1][c[1]])
        weights[s, up] += np.exp(log_p - evidence)
    return evidence, dict(weights)


def of_belief(belief: Any) -> dict[tuple[int, frozenset[tuple[Entry, int]]], float]:
    """The same reading of a belief."""
    G, W = len(belief.prior.phi), belief.rows.alpha.shape[1]
    weights: dict[Any, float] = {}
    for i, w in enumerate(belief.hyper.weight):
        entries = range(belief.hyper.first[i], belief.hyper.first[i + 1])
        cells = [(divmod(int(belief.hyper.cell[t]), W), int(belief.hyper.times[t])) for t in entries]
        up = frozenset((("phi", r, k) if r < G else ("psi", r - G - 1, k), n) for (r, k), n in cells)
        key = int(belief.hyper.state[i]), up
        assert key not in weights, "equal hyper-states did not merge"
        weights[key] = float(w)
    return weights


def q_values(
    prior: DirichletPOMDP,
    history: Sequence[tuple[int, int]],
    depth: int,
    leaf: Floats | None = None,
    counted: Counted = always,
) -> Floats:
    """Q_depth(a) after a history of (a, o) that goes on, by recursion. A belief is a list of hidden paths.

    `leaf` holds Q(s, a) after the last decision, (S, A).
    """
    belief: list[Weighted] = [(float(p), s, Counter()) for s, p in enumerate(prior.start) if p > 0.0]
    for a, o in history:
        belief = [x for x in after(prior, belief, a, o, counted) if not prior.outcomes.terminal[x[1]]]
    total = sum(w for w, _, _ in belief)
    return node([(w / total, s, n) for w, s, n in belief], prior, depth, leaf, counted)


def node(belief: list[Weighted], prior: DirichletPOMDP, depth: int, leaf: Floats | None, counted: Counted) -> Floats:
    """Q_depth(a) of a belief that need not be normalised."""
    q = np.zeros(prior.n_actions)
    for a in range(prior.n_actions):
        q[a] = sum(w * reward(prior, s, n, a) for w, s, n in belief)
        for o in range(prior.n_observations):
            new = [x for x in after(prior, belief, a, o, counted) if not prior.outcomes.terminal[x[1]]]
            if new and depth > 1:
                q[a] += prior.gamma * node(new, prior, depth - 1, leaf, counted).max()
            elif new and leaf is not None:
                q[a] += prior.gamma * np.sum([w * leaf[s] for w, s, _ in new], axis=0).max()
    return q


def reward(prior: DirichletPOMDP, s: int, n: Counter[Entry], a: int) -> float:
    """The expected reward of an action."""
    P, O = row(prior, "phi", prior.outcomes.group[s, a], n), prior.rewards
    total = 0.0
    for k, p in enumerate(P):
        y = s if prior.outcomes.terminal[s] else int(prior.outcomes.succ[s, a, k])
        for j, q in enumerate(row(prior, "psi", prior.observed.group[y, a], n)):
            paid = O[(s, a, y, int(prior.observed.observation[y, a, j]))[: O.ndim]]
            total += 0.0 if prior.outcomes.terminal[s] else p * q * paid
    return total


def row(prior: DirichletPOMDP, name: str, r: int, n: Counter[Entry]) -> Floats:
    """The mean of a row given counts up."""
    counts, fixed = (prior.phi, prior.fixed[0]) if name == "phi" else (prior.psi, prior.fixed[1])
    x = counts[r] + (0.0 if fixed[r] else np.array([n[name, int(r), k] for k in range(counts.shape[1])]))
    return np.asarray(x / x.sum())


def after(prior: DirichletPOMDP, belief: list[Weighted], a: int, o: int, counted: Counted = always) -> list[Weighted]:
    """The belief after a step, not normalised; whether the episode goes on is not looked at, and nothing merges."""
    new = []
    for w, s, n in belief:
        for ended in (False, True):
            for _, y, up in moves(prior, (0.0, s, ()), a, o, ended):
                p, grown = w, n.copy()
                for c in up:
                    p *= row(prior, c[0], c[1], n)[c[2]]
                    counts, fixed = (prior.phi, prior.fixed[0]) if c[0] == "phi" else (prior.psi, prior.fixed[1])
                    seen = sum(n[c[0], c[1], k] for k in range(counts.shape[1]))
                    if not fixed[c[1]] and counted(counts[c[1]].sum() + seen):
                        grown[c] += 1
                new.append((p, y, grown))
    return new


# Priors --------------------------------------------------------------------------------------------------------------


def random_prior(
    rng: Generator, S: int = 2, A: int = 2, Z: int = 2, known: bool = False, terminal: tuple[int, ...] = ()
) -> DirichletPOMDP:
    """Fractional counts everywhere, one impossible transition; `known` fixes some rows."""
    phi, psi = rng.uniform(0.2, 2.0, (S, A, S)), rng.uniform(0.2, 2.0, (S, A, Z))
    phi[0, 0, S - 1] = 0.0
    fixed, seen = rng.random((2, S, A)) < (0.5 if known else 0.0)
    phi[fixed] /= phi[fixed].sum(axis=-1, keepdims=True)
    psi[seen] /= psi[seen].sum(axis=-1, keepdims=True)
    start = np.where(np.isin(np.arange(S), terminal), 0.0, rng.uniform(0.1, 1.0, S))
    R = rng.normal(size=(S, A)).round(2)
    return DirichletPOMDP.from_dense(phi, psi, R, 0.9, start / start.sum(), fixed, seen, terminal)


def tied_prior() -> DirichletPOMDP:
    """One row of outcomes for all pairs, two of which lead to the same state from state 1; one row of observations.

    State 2 is terminal. From state 1 two outcomes lead to it. In state 2 two entries show the same observation.
    """
    succ = np.array([[[0, 1, 2], [1, 0, 2]], [[1, 2, 2], [0, 0, 1]], [[2, 2, 2], [2, 2, 2]]])
    observation = np.array([[[0, 1], [0, 1]], [[1, 0], [0, 1]], [[0, 0], [1, 1]]])
    one, start, ends = np.zeros((3, 2), int), np.array([0.6, 0.4, 0.0]), np.array([False, False, True])
    outcomes = Outcomes(succ, np.zeros((3, 2, 3)), one, np.array([3]), np.zeros(1), start, ends)
    R = np.array([[0.5, -1.0], [1.0, 0.2], [0.0, 0.0]])
    observed = ObservationOutcomes(observation, one, np.array([2]), 2)
    return DirichletPOMDP(outcomes, np.array([[1.2, 0.7, 0.4]]), observed, np.array([[2.5, 0.8]]), R, 0.9)


def tiger_prior(correct: float = 5.0, incorrect: float = 3.0, wrong: float = -100.0) -> DirichletPOMDP:
    """The tiger whose accuracy is unknown, with a row of counts for each state."""
    P, O = np.zeros((2, 3, 2)), np.full((2, 3, 2), 0.5)
    P[:, 0], P[:, 1:] = np.eye(2), 0.5
    O[0, 0], O[1, 0] = (correct, incorrect), (incorrect, correct)
    R = [[-1.0, wrong, 10.0], [-1.0, 10.0, wrong]]
    doors = np.array([[False, True, True]] * 2)
    return DirichletPOMDP.from_dense(P, O, R, 0.95, [0.5, 0.5], np.ones((2, 3), bool), doors)
