"""How far the optimal values of two vectors of counts can be apart (Ross and others 2011; survey §4.9).

The constants of the theorem are recalled, not read. Tests check that they hold. The bounds are very loose.
"""

from __future__ import annotations

import numpy as np

from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.over_hyper_states import tabled
from bayesrl.checks import Bools, Floats, number
from bayesrl.errors import InvalidArgument


def value_difference_bound(one: DirichletPOMDP, two: DirichletPOMDP, r_max: float) -> float:
    """A bound on the difference of optimal values, from any state, between two priors that differ in their counts.

    It is 2 gamma r_max / (1 - gamma)^2 times the largest, over a, s and s', of D(phi_sa, phi'_sa) + D(psi_s'a,
    psi'_s'a) + 4 / (e ln(1/gamma)) [|phi_sa - phi'_sa|_1 / ((N + 1)(N' + 1)) + the same of psi_s'a], where D is the L1
    distance of the means, N and N' are the totals, and r_max bounds |r|. Rows that are known have an infinite total.

    >>> stay, known = [[[1.0]]], [[True]]
    >>> one, two = (
    ...     DirichletPOMDP.from_dense(stay, [[c]], [[1.0]], 0.5, 0, known) for c in ([5.0, 3.0], [6.0, 3.0])
    ... )
    >>> round(value_difference_bound(one, two, 1.0), 4)
    0.4277
    """
    owner = "value_difference_bound"
    (phi, psi, fixed, seen), (phi2, psi2, fixed2, seen2) = tables(owner, "one", one), tables(owner, "two", two)
    if phi.shape != phi2.shape or psi.shape != psi2.shape:
        raise InvalidArgument(owner, "two", f"of the size of {one}", two)
    gamma = number(owner, "one.gamma", one.gamma, 0.0, 1.0, above=True, below=True)
    if two.gamma != gamma:
        raise InvalidArgument(owner, "two", f"of discount {gamma}", two.gamma)
    r = number(owner, "r_max", r_max, 0.0)
    moves, shows = row_distance(phi, phi2, fixed, fixed2, gamma), row_distance(psi, psi2, seen, seen2, gamma)
    worst = moves.max(axis=0) + shows.max(axis=0)
    return float(2.0 * gamma * r / (1.0 - gamma) ** 2 * worst.max())


def bounded_error(bound: float, gamma: float, r_max: float) -> float:
    """A bound on what optimal values lose if rows are counted up to a total of `bound` only.

    It is gamma / (1 - gamma) times the value difference of one increment that is left out, in a row of each kind:
    2 gamma r_max / (1 - gamma)^2 [4 / (N + 1) + 8 / (e ln(1/gamma) (N + 1)(N + 2))], N the bound.

    >>> round(bounded_error(10, 0.5, 1.0), 4)
    1.5832
    """
    N = number("bounded_error", "bound", bound, 0.0, above=True)
    g = number("bounded_error", "gamma", gamma, 0.0, 1.0, above=True, below=True)
    r = number("bounded_error", "r_max", r_max, 0.0)
    one = 4.0 / (N + 1.0) + 8.0 / (np.e * np.log(1.0 / g) * (N + 1.0) * (N + 2.0))
    return float(g / (1.0 - g) * 2.0 * g * r / (1.0 - g) ** 2 * one)


def tables(owner: str, name: str, model_prior: DirichletPOMDP) -> tuple[Floats, Floats, Bools, Bools]:
    """phi[s, a, s'], psi[s', a, o], and which of their rows are known."""
    try:
        o, observed, (fixed, seen) = model_prior.outcomes, model_prior.observed, model_prior.fixed
    except AttributeError:
        raise InvalidArgument(owner, name, "a DirichletPOMDP", model_prior) from None
    phi = tabled(o.succ, model_prior.phi[o.group], model_prior.n_states)
    psi = tabled(observed.observation, model_prior.psi[observed.group], model_prior.n_observations)
    return phi, psi, fixed[o.group] | o.terminal[:, None], seen[observed.group]


def row_distance(one: Floats, two: Floats, fixed: Bools, fixed_too: Bools, gamma: float) -> Floats:
    """D + 4 / (e ln(1/gamma)) |one - two|_1 / ((N + 1)(N' + 1)) of each row, (S, A)."""
    N, M = one.sum(axis=2), two.sum(axis=2)
    means = np.abs(one / N[..., None] - two / M[..., None]).sum(axis=2)
    apart = np.abs(one - two).sum(axis=2) / ((N + 1.0) * (M + 1.0))
    apart = np.where(fixed, 1.0 / (M + 1.0), apart)  # the limit of an infinite total
    apart = np.where(fixed_too, np.where(fixed, 0.0, 1.0 / (N + 1.0)), apart)
    return np.asarray(means + 4.0 / (np.e * np.log(1.0 / gamma)) * apart)
