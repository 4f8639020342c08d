"""PAC-Bayes bound on value functions from their Bellman errors (Fard and Pineau 2010; survey §7.1).

The prior p is over action-value functions Q, without a model. With T^ the empirical Bellman operator, the mean of
||T^ Q - Q|| over q is what the data show, and E_q ||Q - Q*|| is what matters (maximum norms over pairs).

Proof. Q is in [0, r_max / (1 - gamma)] and does not depend on the data. (T^ Q - T Q)(s, a) is an average of n draws of
gamma max_b Q(s', b), minus its mean: the range is gamma r_max / (1 - gamma). If rewards are learnt too, r + gamma max_b
Q(s', b) has the range r_max / (1 - gamma). Hoeffding's inequality and the union over S A pairs give C = 2 S A, 2m = 2 n
/ range^2 for D = ||T^ Q - T Q||, and the lemma (`lemma.py`) bounds E_q D by `deviation`. So E_q ||T Q - Q|| <=
empirical + deviation. T is a contraction: ||Q - Q*|| <= ||Q - T Q|| + ||T Q - T Q*|| <= ||Q - T Q|| + gamma ||Q - Q*||,
which gives `total`.

Paper to code: the theorem for model-free RL is `value_bound`.
Deviations: the paper's constants are not known to us; these are proved above. Counts must not depend on what was seen.
Cost: none. Claims: by hand; at most delta failures for q chosen to fail.
"""

from __future__ import annotations

from typing import NamedTuple

from bayesrl.checks import integer, number, truth
from bayesrl.pacbayes.lemma import bound, discount, failure, nats
from bayesrl.registry import register


class ValueBound(NamedTuple):
    """A bound for a distribution over value functions, with its parts."""

    deviation: float
    """By how much the true Bellman error may exceed the empirical one, in the mean over q."""
    total: float
    """A bound on E_q max |Q - Q*|."""


@register(
    "pac-bayes-value",
    kind="tool",
    survey="7.1",
    paper="fard10",
    reading="The survey; the paper's constants are not known to us, and ours are proved here.",
    evidence=(
        "tests/pacbayes/test_bounds.py::test_value_bound_by_hand",
        "tests/pacbayes/test_coverage.py::test_value_bound_fails_rarely",
    ),
)
def value_bound(
    kl: float,
    n_states: int,
    n_actions: int,
    gamma: float,
    visits: int,
    delta: float,
    empirical: float,
    r_max: float = 1.0,
    known_rewards: bool = True,
) -> ValueBound:
    """Bound E_q max |Q - Q*| for all distributions q over action values at once, with probability 1 - delta.

    `empirical` is E_q max |T^ Q - Q|, the mean empirical Bellman error, from at least `visits` draws of each pair. The
    values Q must be in an interval as wide as r_max / (1 - gamma).

    Examples
    --------
    >>> found = value_bound(kl=0.5, n_states=2, n_actions=2, gamma=0.5, visits=60, delta=0.05, empirical=0.1)
    >>> round(found.deviation, 3), round(found.total, 3)
    (0.295, 0.79)
    """
    owner = "value_bound"
    kl, n = nats(owner, kl), integer(owner, "visits", visits, 1)
    S, A = integer(owner, "n_states", n_states, 1), integer(owner, "n_actions", n_actions, 1)
    known = truth(owner, "known_rewards", known_rewards)
    gamma, delta = discount(owner, gamma, positive=known), failure(owner, delta)
    error = number(owner, "empirical", empirical, 0.0, moderate=True)
    r_max = number(owner, "r_max", r_max, 0.0, above=True, moderate=True)
    inverse = (1.0 - gamma) / r_max / (gamma if known else 1.0)  # of the range
    deviation = bound(kl, 2.0 * S * A, 2.0 * n * inverse * inverse, delta)
    return ValueBound(deviation, (error + deviation) / (1.0 - gamma))
