"""The lemma behind the bounds of chapter 7.1, and the check of a divergence.

Let p be a distribution over things theta (policies, value functions), chosen before the data. Let D(theta) >= 0 be a
deviation with P(D(theta) >= e) <= C exp(-2m e^2) for every e >= 0 and every theta, where P is over the data. Then, with
probability at least 1 - delta over the data, for all q at once,

    E_q D <= sqrt((KL(q, p) + ln((1 + C (2m - 1)) / delta)) / (2m - 1)),   infinite if 2m <= 1.

Proof. Let c = 2m - 1 > 0.
1. E exp(c D^2) = 1 + int_0^inf 2 c e exp(c e^2) P(D >= e) de <= 1 + 2 c C int_0^inf e exp(-e^2) de = 1 + c C.
2. The same holds for the mean over p. By Markov's inequality E_p exp(c D^2) <= (1 + c C) / delta with probability at
   least 1 - delta. Here p must not depend on the data: otherwise the two means cannot be exchanged.
3. Change of measure: E_q f <= KL(q, p) + ln E_p exp(f) for every q and f. With f = c D^2 and Jensen's inequality,
   c (E_q D)^2 <= c E_q D^2 <= KL(q, p) + ln((1 + c C) / delta).

Every c in (0, 2m) is allowed, with 1 + C c / (2m - c) in place of 1 + C c. The choice c = 2m - 1 depends on the unit of
D: D / u has 2m u^2 in place of 2m. The lemma holds in every unit that is chosen before the data, and the results
differ (docs/pac-bayes.md has an example).
"""

from __future__ import annotations

from math import inf, isinf, log, log1p, sqrt
from typing import Any

from bayesrl.checks import number
from bayesrl.errors import InvalidArgument


def lemma(kl: float, constant: float, exponent: float, delta: float) -> float:
    """The bound on E_q D for all q at once, if P(D >= e) <= constant exp(-exponent e^2) for all e. `exponent` is 2m.

    >>> round(lemma(kl=1.0, constant=4.0, exponent=21.0, delta=0.05), 4)
    0.6477
    >>> lemma(kl=0.0, constant=4.0, exponent=1.0, delta=0.05)
    inf
    """
    owner = "lemma"
    kl, delta = nats(owner, kl), failure(owner, delta)
    C = number(owner, "constant", constant, 0.0, above=True, moderate=True)
    return bound(kl, C, number(owner, "exponent", exponent, 0.0), delta)


def bound(kl: float, C: float, exponent: float, delta: float) -> float:
    """The lemma for arguments that are checked; `exponent` may be infinite, and D is then zero."""
    c = exponent - 1.0
    if c <= 0.0 or isinf(kl):
        return inf
    return 0.0 if isinf(c) else sqrt((kl + log1p(C * c) - log(delta)) / c)


def nats(owner: str, kl: Any) -> float:
    """A divergence: at least 0, perhaps infinite."""
    try:
        return inf if float(kl) == inf else number(owner, "kl", kl, 0.0)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(owner, "kl", "at least 0", kl) from None


def failure(owner: str, delta: Any) -> float:
    """A probability of failure, in (0, 1)."""
    return number(owner, "delta", delta, 0.0, 1.0, above=True, below=True)


def discount(owner: str, gamma: Any, positive: bool) -> float:
    """A discount below 1; `positive` if the formula divides by it."""
    return number(owner, "gamma", gamma, 0.0, 1.0, above=positive, below=True)
