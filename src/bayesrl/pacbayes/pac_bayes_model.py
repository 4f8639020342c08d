"""PAC-Bayes bound on values in the empirical model (Fard and Pineau 2010; survey §7.1).

How far are the values V^ that policies have in the empirical model from their true values V? The bound holds for all
distributions q over policies at once, so q may be chosen with the same data; the price is KL(q, p).

Proof. Rewards of pairs are known and in [0, r_max]. Let P^ be the empirical rows of a policy pi, from n draws of each
pair. V^ - V = gamma (I - gamma P^)^-1 (P^ - P) V, so ||V^ - V|| <= gamma / (1 - gamma) max_s |((P^ - P) V)(s)| in the
maximum norm. V does not depend on the data and is in [0, r_max / (1 - gamma)]. By Hoeffding's inequality each state
exceeds t with probability at most 2 exp(-2 n t^2 (1 - gamma)^2 / r_max^2). This holds too if pi mixes actions, since
sum_a pi(a|s)^2 / n <= 1 / n. The union over S states gives C = 2 S and, with t = e (1 - gamma) / gamma, 2m = 2 n k^2,
k = (1 - gamma)^2 / (gamma r_max), for the lemma (`lemma.py`).

If rewards are learnt too, or depend on the next state, (P^ - P)(R + gamma V) takes the place of gamma (P^ - P) V. Its
range is r_max / (1 - gamma), so that k = (1 - gamma)^2 / r_max (`known_rewards=False`).

Form "l1": |(P^ - P) V| <= ||P^ - P||_1 r_max / (1 - gamma), and P(||P^ - P||_1 >= t) <= 2^S exp(-n t^2 / 2) (Weissman
et al. 2003). So C = S 2^S and 2m = n k^2 / 2. The proof of the lemma with c = (n - 1) k^2 / 2 has 1 + C (n - 1) <= C n
inside the logarithm. It is finite from two visits on.

Paper to code: the theorem for model-based RL is `model_bound`; q, p and pi as there.
Deviations: "hoeffding" is sharper than the paper's theorem, as it needs no bound on whole rows; "l1" has the paper's
constants as recalled, and the proof above. Counts must not depend on what was seen: of a log use the first n
transitions of each pair (`prior_check` does). Values need not start at 0, only their width matters.
Cost: none. Claims: by hand; at most delta failures for q chosen to fail; S = 2, gamma = .5: below the range of values
after 60 visits.
"""

from __future__ import annotations

from math import inf, isinf, log, sqrt
from typing import Final

from bayesrl.checks import choice, integer, number, truth
from bayesrl.pacbayes.lemma import bound, discount, failure, nats
from bayesrl.registry import register

FORMS: Final = ("hoeffding", "l1")


@register(
    "pac-bayes-model",
    kind="tool",
    survey="7.1",
    paper="fard10",
    reading="The survey; the constants of the form l1 are recalled, and proved here.",
    evidence=(
        "tests/pacbayes/test_bounds.py::test_model_bound_by_hand",
        "tests/pacbayes/test_coverage.py::test_model_bound_fails_rarely",
    ),
)
def model_bound(
    kl: float,
    n_states: int,
    gamma: float,
    visits: int,
    delta: float,
    r_max: float = 1.0,
    form: str = "hoeffding",
    known_rewards: bool = True,
) -> float:
    """Bound E_q max_s |V^(s) - V(s)| for all distributions q over policies at once, with probability 1 - delta.

    V^ are values in the empirical model, from at least `visits` draws of each pair that the policies use. `kl` is KL(q,
    p), where the prior p over policies was chosen before the data.

    Examples
    --------
    Values are in [0, 2]. After 60 visits of each pair the bound says something:

    >>> round(model_bound(kl=0.5, n_states=2, gamma=0.5, visits=60, delta=0.05), 3)
    0.534
    >>> round(model_bound(kl=0.5, n_states=2, gamma=0.5, visits=60, delta=0.05, form="l1"), 3)
    1.145
    """
    owner = "model_bound"
    kl, S, n = nats(owner, kl), integer(owner, "n_states", n_states, 1), integer(owner, "visits", visits, 1)
    known = truth(owner, "known_rewards", known_rewards)
    gamma, delta = discount(owner, gamma, positive=known), failure(owner, delta)
    r_max = number(owner, "r_max", r_max, 0.0, above=True, moderate=True)
    k = (1.0 - gamma) ** 2 / (gamma if known else 1.0) / r_max
    if choice(owner, "form", form, FORMS) == "hoeffding":
        return bound(kl, 2.0 * S, 2.0 * n * k * k, delta)
    c = 0.5 * (n - 1) * k * k if n > 1 else 0.0
    return inf if c == 0.0 or isinf(kl) else sqrt((kl - log(delta) + S * log(2.0) + log(S) + log(n)) / c)
