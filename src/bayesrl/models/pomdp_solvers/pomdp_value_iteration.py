"""Exact value iteration for known POMDPs (Smallwood and Sondik 1973; survey §2.3), by incremental pruning.

V_h, the value of h decisions, is piecewise linear and convex in the belief: the upper envelope of alpha-vectors. A
sweep makes them from those of V_{h-1}. For each action and observation

    Gamma_a^o = { r_a / Z + gamma T_a diag(Omega_a^o) alpha },

then cross-sums over o, pruned as they grow (Cassandra, Littman and Zhang 1997), then the union over actions, pruned.

Without a horizon, iteration begins at r_min / (1 - gamma), so that V stays below V*. After a sweep W of V the optimum
is at most W + gamma / (1 - gamma) max (W - V). The maximum over the whole simplex is a linear program for each vector
of W. With discount 1 a second set is swept, from the values of the MDP downwards, and the bound is the gap of the two.

Paper to code: Gamma and cross-sums `sweep`; the linear programs `_pruning.py`; the upper envelope for two states there.
Pruning leaves out what rounding hides, and the bound counts it. Where `tol` is too small for that, twice this loss is
accepted, up to a millionth of the largest entry of V.

Deviations: between sweeps, point-based backups at the witnesses of the vectors bring V nearer to V* (Zhang and Zhang
2001). V stays a lower bound, and is never below what sweeps alone would give. A controller with a node for each witness
is evaluated now and then by a linear system, if that is small: sweeps alone need 1 / (1 - gamma) of them.
Cost: in the worst case |V|^Z vectors for each action before they are pruned; a program for each candidate. `limit`
bounds the vectors, `entries` the programs, so that a problem that is too large is given up, whatever the machine. Only
trying tells which: of the library's worlds those with at most 30 `pairs` are solved, the others are given up.
Claims: equal to expectimax over histories; sets are parsimonious; the error is at most `error_bound`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.capabilities import HasStates
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels.arrays import B1, F2, F3, I1, I2
from bayesrl.models.pomdp import POMDPProblem, TabularPOMDP, pomdp_of
from bayesrl.models.pomdp_solvers._backups import arrays_of, controller, successors
from bayesrl.models.pomdp_solvers._pruning import SLACK, TooMany, largest_excess, prune
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors, lowest, refuse_overflow
from bayesrl.models.pomdp_solvers.pbvi import SWEEPS, settle
from bayesrl.models.solve import solve
from bayesrl.parameters import Above, AtLeast, declared
from bayesrl.problems import HasPOMDP
from bayesrl.registry import register
from bayesrl.traits import Traits

NAME = "pomdp-value-iteration"
POINT_SWEEPS = 250_000
"""Sweeps over witnesses, in all, between those over the simplex."""
BETWEEN = 50
"""Sweeps over witnesses before a controller is evaluated; twice as many before the next one."""
UNKNOWNS = 1000
"""Largest linear system that is solved for it."""
LEAST = 1e-6
"""An error that rounding leaves is accepted up to this share of the largest entry."""


class Vectors(NamedTuple):
    """Alpha-vectors over the states that are not terminal."""

    alpha: F2  # (N, S)
    action: I1  # (N,)
    witness: F2  # (N, S) a belief at which each is best


class Live(NamedTuple):
    """A POMDP without its terminal states."""

    P: F3  # (A, S, S)
    seen: F3  # (A, Z, S')
    r: F2  # (A, S)
    gamma: float
    live: B1  # (S,) of all states
    limit: int
    left: I1  # (1,) entries of tables that linear programs may still change


@register(
    NAME,
    kind="solver",
    survey="2.3",
    paper="smallwood73",
    example=lambda: POMDPValueIteration(tol=1e-3),
    evidence=(
        "tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_equal_to_expectimax",
        "tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_parsimonious",
        "tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_tiger",
        "tests/models/pomdp_solvers/test_pomdp_value_iteration.py::test_the_error_bound_is_true",
    ),
)
@declared
class POMDPValueIteration:
    """Exact alpha-vectors of a known POMDP, for small problems.

    Examples
    --------
    >>> from bayesrl.models.pomdp import TabularPOMDP
    >>> P = [[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2]  # a hidden state that stays
    >>> O = [[[0.8, 0.2]] * 2, [[0.2, 0.8]] * 2]  # and is seen with noise
    >>> solved = POMDPValueIteration(horizon=2).solve(TabularPOMDP.from_dense(P, O, [[1, 0], [0, 1]], gamma=0.9))
    >>> solved.vectors.round(2).tolist(), solved.actions.tolist()
    ([[1.9, 0.0], [1.72, 0.72], [0.72, 1.72], [0.0, 1.9]], [0, 0, 1, 1])
    """

    horizon: Annotated[int | None, AtLeast(1), "Number of decisions that are left; None: endlessly many."] = None
    tol: Annotated[float, Above(0), "How far the values may be from the optimum, without a horizon."] = 1e-6
    limit: Annotated[
        int, AtLeast(1), "Largest number of vectors of a set before it is pruned; for two states, its square root."
    ] = 5000
    sweeps: Annotated[int, AtLeast(1), "Sweeps over the simplex before giving up, without a horizon."] = 10_000
    entries: Annotated[
        int, AtLeast(1), "Entries of tables that linear programs may change, in all, before giving up."
    ] = 20_000_000_000
    pairs: Annotated[
        int, AtLeast(1), "Largest number of pairs of a live state and an action of a prior; `solve` takes any POMDP."
    ] = 30

    needs: ClassVar[tuple[type, ...]] = (HasPOMDP, HasStates)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def check(self, belief: HasPOMDP) -> None:
        """Refuse a POMDP that would be given up after long."""
        pomdp = belief.pomdp
        n = int((~pomdp.terminal).sum()) * pomdp.n_actions
        if n > self.pairs:
            expected = f"about a POMDP with at most {self.pairs} pairs of a state and an action"
            hint = "Exact vectors are often too many: set 'pairs' higher to try, or take pbvi or perseus."
            raise InvalidArgument(NAME, "prior", expected, n, hint)

    def solve(self, problem: POMDPProblem, rng: Generator | None = None) -> AlphaVectors:
        """Solve a POMDP, or that of a world or a filter. `NotConverged` carries the best solution found."""
        pomdp = pomdp_of(problem, "POMDPValueIteration")
        p = live_of(pomdp, self.limit, self.entries)
        if not p.live.any():
            return solution(pomdp, p, constant(np.zeros(0)), 0.0, 0)
        return self._finite(pomdp, p, self.horizon) if self.horizon is not None else self._endless(pomdp, p)

    def _finite(self, pomdp: TabularPOMDP, p: Live, horizon: int) -> AlphaVectors:
        refuse_overflow(pomdp, "POMDPValueIteration", float(horizon))
        v, error = constant(np.zeros(p.r.shape[1])), 0.0
        later = v
        for n in range(horizon):
            try:
                later, (v, lost) = v, sweep(p, v)
            except TooMany as many:
                missing = float(np.abs(p.r).max(initial=0.0)) * sum(p.gamma**i for i in range(n, horizon))
                best = solution(pomdp, p, v, error + missing, n, later)
                raise NotConverged(NAME, best, error + missing, f"{n} of {horizon} decisions, then {many}") from None
            error = p.gamma * error + lost
        return solution(pomdp, p, v, error, horizon, later)

    def _endless(self, pomdp: TabularPOMDP, p: Live) -> AlphaVectors:
        v, bound, n = constant(lowest(pomdp, "POMDPValueIteration")[p.live]), np.inf, 0
        upper = constant(solve(pomdp.mdp).values[p.live]) if p.gamma == 1.0 else None
        tol, left = self.tol, POINT_SWEEPS
        try:
            while bound > tol and n < self.sweeps and left > 0:
                w, lost = sweep(p, v)
                n += 1
                if upper is None:
                    lost /= 1.0 - p.gamma
                    bound = p.gamma / (1.0 - p.gamma) * largest_excess(w.alpha, v.alpha) + lost
                else:
                    upper, gained = sweep(p, upper)
                    lost += n * gained
                    bound = largest_excess(upper.alpha, w.alpha) + lost
                tol = max(self.tol, 2.0 * lost)  # as accurate as rounding allows
                v, used = (w, 0) if bound <= tol else improved(pomdp, p, w, 0.25 * tol, left)
                left -= used
        except TooMany as many:
            raise NotConverged(NAME, solution(pomdp, p, v, bound, n), bound, f"{n} sweeps, then {many}") from None
        best = solution(pomdp, p, v, bound, n)
        if bound > max(self.tol, LEAST * float(np.abs(v.alpha).max())):
            raise NotConverged(NAME, best, bound, f"{n} sweeps and {POINT_SWEEPS - left} over witnesses")
        return best


def live_of(pomdp: TabularPOMDP, limit: int, entries: int) -> Live:
    """The arrays of a POMDP without its terminal states."""
    P, seen, r = pomdp.dense()
    live = ~pomdp.terminal
    P, seen = P[live][:, :, live].transpose(1, 0, 2), seen[live].transpose(1, 2, 0)
    left = np.array([entries])
    return Live(np.ascontiguousarray(P), np.ascontiguousarray(seen), r[live].T, pomdp.gamma, live, limit, left)


def constant(alpha: np.ndarray) -> Vectors:
    """One vector."""
    return Vectors(np.array(alpha[None]), np.zeros(1, np.int64), np.full((1, len(alpha)), 1.0 / max(len(alpha), 1)))


def sweep(p: Live, v: Vectors) -> tuple[Vectors, float]:
    """The vectors of one decision more, and a bound on what pruning has lost at any belief."""
    A, Z, S = p.seen.shape
    slack = SLACK * max(float(np.abs(v.alpha).max()), float(np.abs(p.r).max()), 1e-300)
    alphas, actions = [], []
    for a in range(A):
        total = p.r[a][None]
        for o in np.flatnonzero(p.seen[a].any(axis=1)):
            gamma_ao = p.gamma * (v.alpha * p.seen[a, o]) @ p.P[a].T
            gamma_ao = gamma_ao[prune(gamma_ao, v.witness, slack, p.left)[0]]
            total = (total[:, None] + gamma_ao).reshape(-1, S)
            total = total[prune(refuse(p, total), v.witness, slack, p.left)[0]]
        alphas.append(total)
        actions.append(np.full(len(total), a))
    alpha, action = refuse(p, np.vstack(alphas)), np.concatenate(actions)
    kept, witness = prune(alpha, v.witness, slack, p.left)
    return Vectors(alpha[kept], action[kept], witness), slack * (2 * Z + 1)


def refuse(p: Live, alpha: F2) -> F2:
    """The vectors, unless there are too many."""
    if len(alpha) > (most := p.limit if alpha.shape[1] > 2 else p.limit**2):
        raise TooMany(f"{len(alpha)} vectors, more than {most}")
    return alpha


def improved(pomdp: TabularPOMDP, p: Live, v: Vectors, tol: float, most: int) -> tuple[Vectors, int]:
    """The vectors with those that at most `most` sweeps over the witnesses give, pruned, and the sweeps."""
    points, vectors = np.zeros((2, len(v.alpha), pomdp.n_states))
    points[:, p.live], vectors[:, p.live] = v.witness, v.alpha
    m, actions, n, most, error = arrays_of(pomdp), v.action, 0, min(SWEEPS, most), np.inf
    between = BETWEEN
    while error >= tol and n < most:
        vectors, actions, used, error = settle(m, points, vectors, actions, tol, min(between, most - n))
        n, between = n + used, 2 * between
        if error >= tol and p.gamma < 1.0 and v.alpha.size <= UNKNOWNS:
            chosen, after = controller(m, points, successors(m, points), vectors)
            alpha = everywhere(pomdp, p, evaluated(p, chosen, after))
            vectors, actions = np.vstack([alpha, vectors]), np.concatenate([chosen, actions])
    alpha, action = np.vstack([vectors[:, p.live], v.alpha]), np.concatenate([actions, v.action])
    kept, witness = prune(alpha, v.witness, SLACK * max(float(np.abs(alpha).max()), 1e-300), p.left)
    return Vectors(alpha[kept], action[kept], witness), n


def evaluated(p: Live, chosen: I1, after: I2) -> F2:
    """The values of a controller that takes action chosen[i] in node i and goes to node after[i, o], from below (n, S).

    Values alpha that exceed their backup by at most x exceed the true ones by at most x / (1 - gamma).
    """
    n, S = len(chosen), p.r.shape[1]
    blocks, r = np.zeros((n, S, n, S)), p.r[chosen].ravel()
    for i, a in enumerate(chosen):
        for o, j in enumerate(after[i]):
            blocks[i, :, j] += p.gamma * p.P[a] * p.seen[a, o]
    step = blocks.reshape(n * S, n * S)
    alpha = np.linalg.solve(np.eye(n * S) - step, r)
    return np.asarray(alpha - max((alpha - r - step @ alpha).max(), 0.0) / (1.0 - p.gamma)).reshape(n, S)


def solution(
    pomdp: TabularPOMDP, p: Live, v: Vectors, bound: float, sweeps: int, later: Vectors | None = None
) -> AlphaVectors:
    """The vectors over all states."""
    after = None if later is None else everywhere(pomdp, p, later.alpha)
    return AlphaVectors(pomdp, everywhere(pomdp, p, v.alpha), v.action, float(bound), sweeps, NAME, after)


def everywhere(pomdp: TabularPOMDP, p: Live, alpha: F2) -> F2:
    """Vectors over all states: zero in terminal ones."""
    vectors = np.zeros((len(alpha), pomdp.n_states))
    vectors[:, p.live] = alpha
    return vectors
