"""PAC-Bayes bounds for bandits with adaptive sampling (Seldin et al. 2011; survey §7.1).

A bandit plays arms with probabilities pi_t(a) >= epsilon that may depend on the past. S_t(a) sums the importance-
weighted rewards 1[a_i = a] r_i / pi_i(a) of rewards in [0, 1]. Then M_t(a) = S_t(a) - t mu(a) is a martingale, and the
bound holds for all distributions q over arms at once, so q may be chosen with the data.

Proof. The steps of M are in an interval of width 1 / epsilon and have second moments of at most 1 / epsilon, since
E[(r / pi)^2 1[a_i = a]] <= 1 / pi. For a number lambda > 0 fixed before the data,
"hoeffding": E exp(lambda M_t) <= exp(lambda^2 t / (8 epsilon^2)) (Hoeffding and Azuma);
"bernstein": E exp(lambda M_t) <= exp((e - 2) lambda^2 t / epsilon) if lambda <= epsilon, as exp(x) <= 1 + x +
(e - 2) x^2 for x <= 1 and lambda times a step is at most 1.
Both hold for -M_t. Markov's inequality with delta / 2 for each sign and change of measure (`lemma.py`, step 3) give
lambda |E_q M_t| <= KL(q, p) + ln(2 / delta) + the exponent. Here lambda is the best one for KL = ln(arms), the largest
KL(q, p) of a uniform prior. It uses neither q nor the data.

Paper to code: `bandit_bound`, t is `steps`. The first paper (seldin11) and the second (seldin11b) have both forms.
Deviations: one number of steps, fixed before the data; for all steps at once divide delta among them. The papers' grids
of lambda are left out.
Cost: none. Claims: by hand; at most delta failures for q chosen to fail, under adaptive sampling.
"""

from __future__ import annotations

from math import e, inf, isinf, log, sqrt
from typing import Final

from bayesrl.checks import choice, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.pacbayes.lemma import failure, nats
from bayesrl.registry import register

FORMS: Final = ("hoeffding", "bernstein")
ROUNDING = 1e-12
"""How far epsilon times arms may exceed one."""


@register(
    "pac-bayes-bandit",
    kind="tool",
    survey="7.1",
    paper="seldin11",
    evidence=(
        "tests/pacbayes/test_bounds.py::test_bandit_bound_by_hand",
        "tests/pacbayes/test_coverage.py::test_bandit_bound_fails_rarely",
    ),
)
def bandit_bound(kl: float, steps: int, delta: float, epsilon: float, arms: int, form: str = "hoeffding") -> float:
    """Bound |E_q (S_t - t mu)| for all distributions q over arms at once, with probability 1 - delta.

    S_t are sums of importance-weighted rewards in [0, 1] after t `steps`; every arm is played with probability
    `epsilon` at least. Divided by t it bounds the error of the mean reward.

    Examples
    --------
    >>> round(bandit_bound(kl=0.5, steps=1000, delta=0.05, epsilon=0.1, arms=5), 1)
    460.8
    >>> round(bandit_bound(kl=0.5, steps=1000, delta=0.05, epsilon=0.1, arms=5, form="bernstein"), 1)
    349.3
    """
    owner = "bandit_bound"
    kl, delta, t = nats(owner, kl), failure(owner, delta), integer(owner, "steps", steps, 1)
    K = integer(owner, "arms", arms, 1)
    eps = number(owner, "epsilon", epsilon, 0.0, 1.0, above=True, moderate=True)
    if eps * K > 1.0 + ROUNDING:
        raise InvalidArgument(owner, "epsilon", f"at most 1 / arms = {1.0 / K:g}", epsilon)
    sure = log(2.0) - log(delta)
    if choice(owner, "form", form, FORMS) == "hoeffding":
        lam = eps * sqrt(8.0 * (log(K) + sure) / t)
        spread = lam * t / 8.0 / eps / eps
    else:
        lam = min(eps, sqrt((log(K) + sure) * eps / ((e - 2.0) * t)))
        spread = (e - 2.0) * lam * t / eps
    return inf if isinf(kl) else (kl + sure) / lam + spread
