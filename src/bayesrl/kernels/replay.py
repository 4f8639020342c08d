"""What a search that comes back to a history asks of a simulator, besides `simulator.py`'s four functions:

    replay(model, s, a, k)        take the step from (s, a) whose outcome k is known
    undo(model, s, a, k)          take back the last step of the simulation, which was this one
    likelihood(model, s, a, k)    the probability of that outcome

For urns (`urn.py`, `paid_urn.py`): to replay a step is to put its ball in, to undo it to take the last ball out.
"""

from functools import singledispatch

from bayesrl.kernels.jit import njit
from bayesrl.kernels.paid_urn import PaidUrn
from bayesrl.kernels.simulator import implements
from bayesrl.kernels.urn import SparseUrn, Urn, chance_of_nothing_new


@singledispatch
def replay(model, s, a, k):
    """Take the step from (s, a) with outcome k."""


@singledispatch
def undo(model, s, a, k):
    """Take back the last step, from (s, a) with outcome k."""


@singledispatch
def likelihood(model, s, a, k):
    """Probability of outcome k of (s, a)."""


@singledispatch
def put(urn, g, k):
    """A ball of outcome k into urn g."""


@singledispatch
def out(urn, g):
    """The last ball of urn g out again."""


@singledispatch
def share(urn, g, k):
    """Probability that the next ball of urn g is of outcome k."""


# Dirichlet urns ------------------------------------------------------------------------------------------------------


@implements(put, Urn)
@njit
def _put_dirichlet(urn, g, k):
    m = urn.own_count[g]
    if urn.learns[g] and m < urn.own.shape[1]:
        urn.own[g, m] = k
        urn.own_count[g] = m + 1


@implements(out, Urn)
@njit
def _out_dirichlet(urn, g):
    if urn.learns[g]:
        urn.own_count[g] -= 1


@implements(share, Urn)
@njit
def _share_dirichlet(urn, g, k):
    mass, n, m = urn.mass[g], urn.first[g + 1] - urn.first[g], urn.own_count[g]
    if urn.even[g] > 0:
        weight = mass / urn.even[g] if k < urn.even[g] else 0.0
    else:
        weight = urn.cdf[g, k] - (urn.cdf[g, k - 1] if k > 0 else 0.0)
    return (weight + balls(urn, g, k)) / (mass + n + m)


@njit
def balls(urn, g, k):
    """How many balls of outcome k urn g holds: seen, and of the running simulation."""
    count = 0
    for j in range(urn.first[g], urn.first[g + 1]):
        if urn.seen[j] == k:
            count += 1
    for j in range(urn.own_count[g]):
        if urn.own[g, j] == k:
            count += 1
    return count


# Sparse urns ---------------------------------------------------------------------------------------------------------


@implements(put, SparseUrn)
@njit
def _put_sparse(urn, g, k):
    m = urn.own_count[g]
    if m == 0:
        urn.own_kinds[g, 0] = 0
    if balls(urn, g, k) == 0:
        urn.new[g, urn.own_kinds[g, 0]] = k
        urn.own_kinds[g, 0] += 1
    urn.own[g, m] = k
    urn.own_count[g] = m + 1


@implements(out, SparseUrn)
@njit
def _out_sparse(urn, g):
    urn.own_count[g] -= 1
    if balls(urn, g, urn.own[g, urn.own_count[g]]) == 0:
        urn.own_kinds[g, 0] -= 1


@implements(share, SparseUrn)
@njit
def _share_sparse(urn, g, k):
    news = urn.own_kinds[g, 0] if urn.own_count[g] > 0 else 0
    k0 = urn.kind_first[g + 1] - urn.kind_first[g] + news
    N, alpha = urn.first[g + 1] - urn.first[g] + urn.own_count[g], urn.prior[0]
    C, n = chance_of_nothing_new(urn, k0, N, urn.size[g]), balls(urn, g, k)
    if n > 0:
        return C * (alpha + n) / (k0 * alpha + N)
    return (1.0 - C) / (urn.size[g] - k0) if k < urn.size[g] else 0.0


# Steps ---------------------------------------------------------------------------------------------------------------


@implements(replay, Urn, SparseUrn)
@njit
def _replay(model, s, a, k):
    put(model, model.group[s, a], k)


@implements(undo, Urn, SparseUrn)
@njit
def _undo(model, s, a, k):
    out(model, model.group[s, a])


@implements(likelihood, Urn, SparseUrn)
@njit
def _likelihood(model, s, a, k):
    return share(model, model.group[s, a], k)


@implements(replay, PaidUrn)
@njit
def _replay_paid(model, s, a, k):
    V = len(model.values)
    put(model.moves, model.moves.group[s, a], k // V)
    put(model.pays, model.cell[s, a, k // V], k % V)


@implements(undo, PaidUrn)
@njit
def _undo_paid(model, s, a, k):
    out(model.moves, model.moves.group[s, a])
    out(model.pays, model.cell[s, a, k // len(model.values)])


@implements(likelihood, PaidUrn)
@njit
def _likelihood_paid(model, s, a, k):
    V = len(model.values)
    p = share(model.moves, model.moves.group[s, a], k // V)
    return p * share(model.pays, model.cell[s, a, k // V], k % V)
