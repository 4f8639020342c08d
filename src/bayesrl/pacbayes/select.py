"""The choice between prior and data by a lower bound (Fard and Pineau 2010; survey §7.1).

Things with a prior p have empirical values V^. A Gibbs posterior q in proportion to p exp(lambda V^) follows the prior
for lambda = 0 and the data for large lambda. Among all q with the same KL(q, p) it has the largest E_q V^. The bounds
of this chapter hold for all q at once. So lambda may be chosen with the data: the q with the largest E_q V^ -
bound(KL) has the best guarantee, with the same probability.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, called, frozen
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best
from bayesrl.pacbayes.divergence import divergence, probabilities
from bayesrl.parameters import value
from bayesrl.renamed import with_old_words


@explain_failures
@value
class Selection:
    """A Gibbs posterior and what it guarantees."""

    weights: Floats
    """q, (n,)."""
    temperature: float
    """lambda; 0 is the prior."""
    kl: float
    """KL(q, p)."""
    empirical: float
    """E_q V^."""
    bound: float
    """bound(kl)."""
    lower: float
    """empirical - bound."""


@with_old_words
def select(
    values: ArrayLike, prior_weights: ArrayLike, temperatures: ArrayLike, bound: Callable[[float], float]
) -> Selection:
    """The Gibbs posterior with the largest lower bound E_q V^ - bound(KL(q, p)); ties go to the smallest temperature.

    `values` (n,) are empirical values and `prior_weights` (n,) probabilities that do not depend on the data. `bound`
    takes KL(q, p), for example `lambda kl: model_bound(kl, n_states, gamma, visits, delta)`.

    >>> from bayesrl.pacbayes import mcallester
    >>> few, many = (lambda kl, n=n: mcallester(kl, n, delta=0.05, empirical=0.0) for n in (10, 1000))
    >>> trusted, values = [0.98, 0.02], [0.6, 0.7]
    >>> select(values, trusted, [0, 1, 10, 100], few).weights.round(2).tolist()
    [0.95, 0.05]
    >>> select(values, trusted, [0, 1, 10, 100], many).weights.round(2).tolist()
    [0.0, 1.0]
    """
    owner = "select"
    V, p = array(owner, "values", values, (None,), moderate=True), probabilities(owner, "prior_weights", prior_weights)
    if len(V) != len(p):
        raise InvalidArgument(owner, "prior_weights", f"of length {len(V)}, as values are", p)
    tried = np.unique(array(owner, "temperatures", temperatures, (None,), low=0.0, moderate=True))
    found = [gibbs(V, p, float(t), bound) for t in tried]
    return found[first_best(np.array([one.lower for one in found]))]


def gibbs(V: Floats, p: Floats, temperature: float, bound: Callable[[float], float]) -> Selection:
    """The Gibbs posterior of one temperature."""
    below = np.where(p > 0.0, V - V[p > 0.0].max(), -np.inf)  # where p = 0, q = 0
    weights = p * np.exp(temperature * below) if temperature > 0.0 else p
    weights = frozen(weights / weights.sum())
    divergent, mean = divergence(weights, p), float(weights @ V)
    width = _number(bound, divergent)
    return Selection(weights, temperature, divergent, mean, width, mean - width)


def _number(bound: Any, kl: float) -> float:
    """bound(kl), or an error if it is not a number from 0 to infinity."""
    expected = "a function of KL that returns a number of at least 0"
    if not callable(bound):
        raise InvalidArgument("select", "bound", expected, bound)
    width = called("select", "bound", bound, kl)
    try:
        if not float(width) >= 0.0:
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidArgument("select", "bound", expected, width) from None
    return float(width)
