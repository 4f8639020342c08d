"""Splits and merges of classes of linear Gaussian weights (Dahl 2005), as a move of a Markov chain over clusterings.

Two random tasks are drawn. If they are of one class, each begins a class, and the other members choose between the two,
one after the other in a random order. Two classes are proposed as one. The proposal is accepted by the
Metropolis-Hastings ratio, where q is the probability of the choices made, or of those that would split the merged class
as it was.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesrl.beliefs.values.linear_model import log_partition
from bayesrl.checks import Floats, Ints


def split_or_merge(
    z: Ints, c: Floats, base: tuple[Floats, Floats], told: tuple[Floats, Floats], rng: Generator
) -> None:
    """Propose to split the class of two random tasks, or to merge their classes; z (M,) changes in place.

    c (M + 1,) is the weight of a new class by the number of the others. `base` is the precision and the shift of a
    class without tasks, `told` what each task says about its class, (M, d, d) and (M, d).
    """
    (P0, eta0), (precision, shift) = base, told
    first, second = pair = rng.choice(len(z), 2, replace=False)
    a, b, K = z[first], z[second], len(np.unique(z))
    P, eta, size, log_q = P0 + precision[pair], eta0 + shift[pair], np.ones(2), 0.0
    old, moved = log_partition(P, eta), [second]
    for m in rng.permutation(np.setdiff1d(np.flatnonzero((z == a) | (z == b)), pair)):
        new = log_partition(P + precision[m], eta + shift[m])
        log_p = np.log(size) + new - old
        log_p -= np.logaddexp(log_p[0], log_p[1])
        j = int(z[m] == b) if a != b else int(np.log(rng.random()) >= log_p[0])
        log_q += log_p[j]
        P[j], eta[j], size[j], old[j] = P[j] + precision[m], eta[j] + shift[m], size[j] + 1.0, new[j]
        moved += [m] * j
    one = log_partition(P.sum(axis=0) - P0, eta.sum(axis=0) - eta0) + log_partition(P0, eta0)
    log_ratio = np.log(c[K if a == b else K - 1]) - one  # of the two classes to the one
    log_ratio += gammaln(size).sum() - gammaln(size.sum()) + old.sum()
    if np.log(rng.random()) < (log_ratio - log_q if a == b else log_q - log_ratio):
        z[moved] = z.max() + 1 if a == b else a
