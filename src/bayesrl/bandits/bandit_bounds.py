"""The regret bounds of chapter 3 as functions of the instance, to be drawn beside measured regret (survey §3.1, §3.3).

An instance is the arms' means. Arms are Bernoulli unless `noise`, the standard deviation of Gaussian rewards, is given.
`steps` (T) may be an array. Each function says what kind of statement it is:

    exact    every constant is given: the number is a bound
    limit    every constant is given, but the bound holds only in the limit of large T
    leading  the leading term with its constant; an additive constant that does not depend on T is left out
    order    a constant factor is missing: only the growth in T and in the instance is meaningful

Lower bounds on frequentist regret: `lai_robbins` (limit), `mannor_tsitsiklis` (order); on Bayesian regret:
`bayesian_lower` (order; Omega, ERRATA 20), `linear_lower` (order). Upper bounds for Thompson sampling, frequentist:
`agrawal_goyal_dependent` (order), `kaufmann_thompson` (leading), `agrawal_goyal_independent` (order), `liu_li` (order),
`agrawal_goyal_linear` (order); Bayesian: `russo_van_roy` (exact), `russo_van_roy_linear` (order). Upper bounds on the
number of plays of worse arms (stochastic regret): `gopalan` (leading, in _gopalan.py), `guha_munagala` (exact). For
Bayes-UCB: `kaufmann_bayes_ucb` (leading).

`bandit_bounds` computes the bounds that the arms' means determine. `bounds_of` (in bounds_of_world.py) selects those
that hold in a world or a family. A bound is `vacuous` if it exceeds the largest possible regret after the last step.
Claims: closed forms on instances worked by hand; Gopalan's program against enumeration; measured and exact regrets are
on the right side of the exact bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesrl._shown import shown
from bayesrl.bandits.bayes_optimal_bandit import Arms, bayes_optimal_value
from bayesrl.capabilities import (
    HasBestArm,
    HasRewardDeviation,
    ListsArms,
    offers,
)
from bayesrl.checks import Floats, array, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register


class Bound(NamedTuple):
    """A bound as a curve."""

    steps: Floats
    """T, numbers of steps."""
    value: Floats
    """The bound at each of them."""
    side: str
    """lower or upper."""
    kind: str
    """exact, limit, leading or order."""
    regret: str
    """frequentist, Bayesian, or stochastic: a bound on the number of plays of worse arms."""
    paper: str
    """Key in references.bib."""
    most: float = math.inf
    """The largest regret of one step."""

    def __repr__(self) -> str:
        return shown(self)

    @property
    def end(self) -> float:
        """The bound at the last of the steps."""
        return float(np.ravel(self.value)[-1])

    @property
    def vacuous(self) -> bool:
        """Whether the bound exceeds the largest possible regret after the last of the steps.

        A bound of kind order has no constant, so it is never called vacuous.
        """
        return self.kind != "order" and self.end > self.most * float(np.ravel(self.steps)[-1])


class Integrated(HasBestArm, HasRewardDeviation, ListsArms, Protocol):
    """A belief for the bound of Russo and Van Roy."""


@register(
    "bandit-bounds",
    kind="tool",
    survey="3.1",
    paper="Lai85AE",
    evidence=(
        "tests/bandits/test_bounds.py::test_closed_forms",
        "tests/bandits/test_bounds.py::test_gopalan_equals_enumeration",
        "tests/bandits/test_bounds.py::test_regret_is_on_the_right_side",
        "tests/bandits/test_bounds.py::test_all_bounds_of_an_instance",
        "tests/bandits/test_bounds.py::test_measured_regret_is_below_the_exact_bounds_of_its_family",
    ),
)
def bandit_bounds(
    means: ArrayLike,
    steps: ArrayLike,
    noise: float | None = None,
    belief: Integrated | None = None,
    epsilon: float = 0.1,
) -> Mapping[str, Bound]:
    """Every bound of chapter 3 that the arms' means (and, for Bayesian regret, the prior belief) determine, by name.

    Examples
    --------
    >>> bound = bandit_bounds([0.5, 0.6], steps=1000)["Lai-Robbins"]
    >>> bound.side, bound.kind, round(bound.end, 2), bound.vacuous
    ('lower', 'limit', 33.84, False)
    """
    m, T = _means("bandit_bounds", means), checked_steps("bandit_bounds", steps)
    K, most = len(m), float(m.max() - m.min())
    bounds = {
        "Lai-Robbins": Bound(T, lai_robbins(means, T, noise), "lower", "limit", "frequentist", "Lai85AE", most),
        "Mannor-Tsitsiklis": Bound(T, mannor_tsitsiklis(means, T), "lower", "order", "frequentist", "Mannor04SC", most),
        "Thompson, Agrawal-Goyal 2012": Bound(
            T, agrawal_goyal_dependent(means, T), "upper", "order", "frequentist", "Agrawal11AT", most
        ),
        "Thompson, Kaufmann": Bound(
            T, kaufmann_thompson(means, T, epsilon, noise), "upper", "leading", "frequentist", "Kaufmann12TS", most
        ),
        "Bayes-UCB, Kaufmann": Bound(
            T, kaufmann_bayes_ucb(means, T, epsilon, noise), "upper", "leading", "frequentist", "Kaufmann12BU", most
        ),
        "Thompson, Agrawal-Goyal 2013": Bound(
            T, agrawal_goyal_independent(K, T), "upper", "order", "frequentist", "agrawal2013further", most
        ),
        "Bubeck-Cesa-Bianchi": Bound(T, bayesian_lower(K, T), "lower", "order", "Bayesian", "Bubeck12RA"),
    }
    if belief is not None:
        if not offers(belief, Integrated):
            raise InvalidArgument("bandit_bounds", "belief", "a belief about arms that knows its best arm", belief)
        known = belief.best_arm()
        value = russo_van_roy(entropy(known.p), K, T, belief.reward_deviation())
        bounds["Thompson, Russo-Van Roy"] = Bound(T, value, "upper", "exact", "Bayesian", "Russo14IT")
    return bounds


# Frequentist regret --------------------------------------------------------------------------------------------------


def lai_robbins_constant(means: ArrayLike, noise: float | None = None) -> float:
    """c of Lai and Robbins: sum over worse arms of Delta_a / KL(a, a*).

    >>> round(lai_robbins_constant([0.5, 0.6]), 4)
    4.8993
    """
    gap, divergence = _instance(means, noise)
    return float((gap / divergence).sum())


def lai_robbins(means: ArrayLike, steps: ArrayLike, noise: float | None = None) -> Floats:
    """c ln T: in the limit, no policy that is good on every instance has less regret (limit)."""
    return np.asarray(lai_robbins_constant(means, noise) * np.log(checked_steps("lai_robbins", steps)))


def mannor_tsitsiklis(means: ArrayLike, steps: ArrayLike) -> Floats:
    """sum 1 / Delta_a ln T: the order of a lower bound for every T; the survey gives no formula (order)."""
    gap, _ = _instance(means, 1.0)
    return np.asarray((1.0 / gap).sum() * np.log(checked_steps("mannor_tsitsiklis", steps)))


def agrawal_goyal_dependent(means: ArrayLike, steps: ArrayLike) -> Floats:
    """(sum 1 / Delta_a^2)^2 ln T for Thompson sampling on Bernoulli arms, uniform prior (order)."""
    gap, _ = _instance(means, 1.0)
    return np.asarray((1.0 / gap**2).sum() ** 2 * np.log(checked_steps("agrawal_goyal_dependent", steps)))


def agrawal_goyal_independent(arms: int, steps: ArrayLike) -> Floats:
    """sqrt(K T ln T) for Thompson sampling on any Bernoulli arms, hence also for Bayesian regret (order)."""
    T = checked_steps("agrawal_goyal_independent", steps)
    return np.asarray(np.sqrt(integer("agrawal_goyal_independent", "arms", arms, 1) * T * np.log(T)))


def kaufmann_thompson(means: ArrayLike, steps: ArrayLike, epsilon: float = 0.1, noise: float | None = None) -> Floats:
    """(1 + e) sum Delta_a (ln T + ln ln T) / KL(a, a*) for Thompson sampling; plus a constant C(e, theta) (leading)."""
    T = checked_steps("kaufmann_thompson", steps, low=2.0)
    e = number("kaufmann_thompson", "epsilon", epsilon, 0.0)
    return np.asarray((1.0 + e) * lai_robbins_constant(means, noise) * (np.log(T) + np.log(np.log(T))))


def kaufmann_bayes_ucb(means: ArrayLike, steps: ArrayLike, epsilon: float = 0.1, noise: float | None = None) -> Floats:
    """(1 + e) c ln T for Bayes-UCB on Bernoulli arms with a uniform prior; plus smaller terms (leading)."""
    e = number("kaufmann_bayes_ucb", "epsilon", epsilon, 0.0)
    return np.asarray((1.0 + e) * lai_robbins(means, steps, noise))


def liu_li(weight: float, steps: ArrayLike) -> tuple[Floats, Floats]:
    """(sqrt(T / p), sqrt((1 - p) T)) for two arms and two models; the true model has prior weight p (order).

    The first bounds the regret of Thompson sampling for small p, the second for large p. Both orders are attained.
    """
    p = number("liu_li", "weight", weight, 0.0, 1.0, above=True)
    T = checked_steps("liu_li", steps)
    return np.asarray(np.sqrt(T / p)), np.asarray(np.sqrt((1.0 - p) * T))


def agrawal_goyal_linear(d: int, steps: ArrayLike, epsilon: float) -> Floats:
    """d^2 / e sqrt(T^(1 + e)), up to logarithms, for their Thompson sampling with d features (order)."""
    e = number("agrawal_goyal_linear", "epsilon", epsilon, 0.0, 1.0, above=True, below=True)
    T = checked_steps("agrawal_goyal_linear", steps)
    return np.asarray(integer("agrawal_goyal_linear", "d", d, 1) ** 2 / e * np.sqrt(T ** (1.0 + e)))


# Bayesian and stochastic regret --------------------------------------------------------------------------------------


def entropy(p: ArrayLike) -> float:
    """Shannon entropy of a distribution, in nats. H(p_1) is the entropy of the best arm under the prior."""
    return float(special.entr(array("entropy", "p", p, (None,), low=0.0)).sum())


def russo_van_roy(H: float, arms: int, steps: ArrayLike, deviation: float = 0.5) -> Floats:
    """sqrt(2 s^2 H K T) for Thompson sampling, Bayesian; sqrt(H K T / 2) with rewards in [0, 1] (exact).

    If rewards are linear in d features, pass d as `arms`. The proof uses one property of rewards in [0, 1]: they are
    sub-Gaussian with deviation s = 1/2 under the posterior, so E[R | A*] - E[R] <= s sqrt(2 KL). A Gaussian reward has
    this property with the deviation of its predictive distribution. Conjugate updates never widen that distribution, so
    the prior's deviation holds at every step.
    """
    owner = "russo_van_roy"
    H, s = number(owner, "H", H, 0.0), number(owner, "deviation", deviation, 0.0)
    return np.asarray(s * np.sqrt(2.0 * H * integer(owner, "arms", arms, 1) * checked_steps(owner, steps)))


def russo_van_roy_linear(d: int, steps: ArrayLike) -> Floats:
    """d sqrt(T) ln T for Thompson sampling, Bayesian, with rewards linear in d features (order)."""
    T = checked_steps("russo_van_roy_linear", steps)
    return np.asarray(integer("russo_van_roy_linear", "d", d, 1) * np.sqrt(T) * np.log(T))


def linear_lower(d: int, steps: ArrayLike) -> Floats:
    """d sqrt(T): a lower bound for every policy if rewards are linear in d features (order)."""
    return np.asarray(integer("linear_lower", "d", d, 1) * np.sqrt(checked_steps("linear_lower", steps)))


def bayesian_lower(arms: int, steps: ArrayLike) -> Floats:
    """sqrt(K T): for every policy some prior gives Bayesian regret of this order (order)."""
    return np.asarray(np.sqrt(integer("bayesian_lower", "arms", arms, 1) * checked_steps("bayesian_lower", steps)))


def guha_munagala(arms: Arms, horizon: int) -> float:
    """2 OPT(T): stochastic regret of Thompson sampling on two arms, or on arms that one play reveals (exact).

    OPT is computed by dynamic programming. `arms` is as in `bayes_optimal_value`.
    """
    return 2.0 * bayes_optimal_value(arms, horizon, "regret")


# The instance --------------------------------------------------------------------------------------------------------


def _means(owner: str, means: ArrayLike) -> Floats:
    return array(owner, "means", means, (None,))


def _instance(means: ArrayLike, noise: float | None) -> tuple[Floats, Floats]:
    """Delta_a and KL(a, a*) of the worse arms."""
    m = _means("bandit_bounds", means)
    if noise is None and (m.min() < 0.0 or m.max() > 1.0):
        raise InvalidArgument("bandit_bounds", "means", "probabilities, or 'noise' given", m)
    best = m.max()
    worse = m[m < best]
    if noise is None:
        return best - worse, bernoulli_kl(worse, best)
    return best - worse, 0.5 * ((best - worse) / number("bandit_bounds", "noise", noise, 0.0, above=True)) ** 2


def bernoulli_kl(p: Floats, q: Floats | float) -> Floats:
    """KL divergence between Bernoulli distributions of means p and q."""
    return np.asarray(special.rel_entr(p, q) + special.rel_entr(1.0 - p, 1.0 - q))


def checked_steps(owner: str, steps: ArrayLike, low: float = 1.0) -> Floats:
    """The numbers of steps as an array, each at least `low`."""
    return array(owner, "steps", steps, low=low)
