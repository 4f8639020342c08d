"""The regret bounds of chapter 3 as functions of the instance, to be drawn beside measured regret (survey §3.1, §3.3).

An instance is the arms' means. Arms are Bernoulli unless `noise`, the deviation of Gaussian rewards, is given. `steps`
(T) may be an array. Each function says what kind of statement it is:

    exact    every constant is given: the number is a bound
    limit    every constant is given, but the bound holds in the limit of large T
    leading  the leading term with its constant; an additive constant that does not depend on T is left out
    order    a constant factor is not given: only the shape in T and in the instance means something

Lower bounds on frequentist regret: `lai_robbins` (limit), `mannor_tsitsiklis` (order); on Bayesian regret:
`bayesian_lower` (order; Omega, ERRATA 20), `linear_lower` (order). Upper bounds for Thompson sampling, frequentist:
`agrawal_goyal_dependent` (order), `kaufmann_thompson` (leading), `agrawal_goyal_independent` (order), `liu_li` (order),
`agrawal_goyal_linear` (order), and on the plays of worse arms `gopalan` (leading); Bayesian: `russo_van_roy` (exact),
`russo_van_roy_linear` (order); stochastic: `guha_munagala` (exact). For Bayes-UCB: `kaufmann_bayes_ucb` (leading).

`bounds_of` gives the bounds that hold in a world or a family, for `compare` to draw. `bandit_bounds` gives those that
the arms' means determine. A bound that exceeds what can be lost by the last step says nothing there: it is `vacuous`,
and `bounds_of` leaves it out. Claims: closed forms on instances worked by hand; Gopalan's program against enumeration;
measured and exact regrets are on the right side of the exact bounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.bandits.bayes_optimal_bandit import Arms, bayes_optimal_value
from bayesrl.capabilities import (
    HasBestArm,
    HasRewardDeviation,
    KnowsUniform,
    LinearInFeatures,
    ListsArmModels,
    ListsArms,
    ListsPosteriors,
    offers,
)
from bayesrl.checks import Floats, array, integer, number
from bayesrl.core import Family
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register

OPTIMAL_STEPS = 30
"""Guha and Munagala's bound is drawn up to here: it takes the Bayes-optimal value of every horizon."""
FEW = 10
"""Points on a curve of which every point takes an optimisation."""


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
    """The most that a step can add to the regret."""

    @property
    def end(self) -> float:
        """The bound at the last of the steps."""
        return float(np.ravel(self.value)[-1])

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing at the last of the steps: it exceeds all that can be lost by then.

        Bounds of kind order have no constant, so their numbers cannot be compared with anything.
        """
        return self.kind != "order" and self.end > self.most * float(np.ravel(self.steps)[-1])


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
    m, T = _means("bandit_bounds", means), _steps("bandit_bounds", steps)
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
        known = belief.best_arm()
        value = russo_van_roy(entropy(known.p), K, T, belief.reward_deviation())
        bounds["Thompson, Russo-Van Roy"] = Bound(T, value, "upper", "exact", "Bayesian", "Russo14IT")
    return bounds


# What holds in a world -----------------------------------------------------------------------------------------------


def bounds_of(world: object, steps: ArrayLike, prior: object = None, *, vacuous: bool = False) -> dict[str, Bound]:
    """The bounds of chapter 3 that hold in a bandit, by name: on frequentist regret in a world, Bayesian in a family.

    `prior` is the agents' belief, by default the world's own. In a world it decides which theorems apply: those for a
    uniform prior, or those for finitely many models of which one is true. In a family it must be the distribution of
    the worlds. The answer is empty for worlds that the chapter's theorems do not cover. Bounds that say nothing at the
    last of the steps, because they exceed what can be lost by then, are left out unless `vacuous` is True.

    >>> from bayesrl.registry import make_world
    >>> bound = bounds_of(make_world("bernoulli", arms=2), 1000)["Thompson, Russo-Van Roy"]
    >>> bound.kind, round(float(bound.value), 3)
    ('exact', 26.328)
    """
    T = _steps("bounds_of", steps, low=2.0)
    found = _of_world(world, T, prior)
    return {name: bound for name, bound in found.items() if vacuous or not bound.vacuous}


class Bandit(Protocol):
    """A bandit world or family that says which belief fits it."""

    def default_prior(self) -> object:
        """The belief that fits."""


@runtime_checkable
class PlainBandit(Protocol):
    """A bandit without contexts."""

    means: Floats
    rewards: str


def _of_world(world: object, T: Floats, prior: object) -> dict[str, Bound]:
    if not offers(world, Bandit):
        return {}
    own = world.default_prior()
    if isinstance(world, Family):
        return _of_family(own, T) if prior is None or prior == own else {}
    if not isinstance(world, PlainBandit) or world.rewards not in ("bernoulli", "gaussian") or world.means.ndim != 1:
        return {}
    belief = own if prior is None else prior
    if offers(belief, ListsArmModels):
        return _of_models(world.means, belief, T)
    every = bandit_bounds(world.means, T, None if world.rewards == "bernoulli" else 1.0)
    uniform = offers(belief, KnowsUniform) and belief.is_uniform
    names = [name for name, bound in every.items() if bound.regret == "frequentist"]
    return {name: every[name] for name in names if every[name].side == "lower" or uniform}


class Integrated(HasBestArm, HasRewardDeviation, ListsArms, Protocol):
    """What the bound of Russo and Van Roy is computed from."""


def _of_family(belief: object, T: Floats) -> dict[str, Bound]:
    """Bayesian regret if worlds are drawn from the belief."""
    if offers(belief, Linear):
        return _of_linear(belief, T)
    if not offers(belief, Integrated):
        return {}
    K, known = belief.n_actions, belief.best_arm()
    most = float(known.shortfall.max())
    value = russo_van_roy(entropy(known.p), K, T, belief.reward_deviation())
    bounds = {
        "Bubeck-Cesa-Bianchi": Bound(T, bayesian_lower(K, T), "lower", "order", "Bayesian", "Bubeck12RA", most),
        "Thompson, Russo-Van Roy": Bound(T, value, "upper", "exact", "Bayesian", "Russo14IT", most),
    }
    if offers(belief, KnowsUniform) and belief.is_uniform:
        independent = agrawal_goyal_independent(K, T)
        bounds["Thompson, Agrawal-Goyal 2013"] = Bound(
            T, independent, "upper", "order", "Bayesian", "agrawal2013further", most
        )
    if K == 2 and T.max() <= OPTIMAL_STEPS and offers(belief, ListsPosteriors):
        few = _few(T)
        twice = np.array([guha_munagala(belief, int(t)) for t in few])
        bounds["Thompson, Guha-Munagala"] = Bound(few, twice, "upper", "exact", "stochastic", "guha2014stochastic", 1.0)
    return bounds


class Linear(LinearInFeatures, HasRewardDeviation, Protocol):
    """What the bounds for linear rewards are computed from."""


def _of_linear(belief: Linear, T: Floats) -> dict[str, Bound]:
    features = belief.linear_features()
    d, K = features.shape[-1], features.shape[-2]
    # The expected maximum of K Gaussians of deviation s is at most s sqrt(2 ln K), the minimum at least minus that.
    most = 2.0 * belief.reward_deviation() * math.sqrt(2.0 * math.log(max(K, 2)))
    bounds = {
        "Rusmevichientong-Tsitsiklis": Bound(
            T, linear_lower(d, T), "lower", "order", "Bayesian", "rusmevichientong2010linearly", most
        ),
        "Thompson, Russo-Van Roy linear": Bound(
            T, russo_van_roy_linear(d, T), "upper", "order", "Bayesian", "russo2014learning", most
        ),
        "Thompson, Agrawal-Goyal linear": Bound(
            T, agrawal_goyal_linear(d, T, 0.5), "upper", "order", "Bayesian", "agrawal2013thompson", most
        ),
    }
    if features.size == K * d:  # one kind of context; there H(p_1) <= log K
        value = russo_van_roy(math.log(K), d, T, belief.reward_deviation())
        bounds["Thompson, Russo-Van Roy"] = Bound(T, value, "upper", "exact", "Bayesian", "Russo14IT", most)
    return bounds


def _of_models(means: Floats, belief: ListsArmModels, T: Floats) -> dict[str, Bound]:
    """Thompson sampling over finitely many Bernoulli models, one of which must be the world (a grain of truth)."""
    models = belief.model_means()
    true = np.flatnonzero((models == means).all(axis=1))
    if not offers(belief, ListsPosteriors) or belief.reward_values().tolist() != [0.0, 1.0] or not true.size:
        return {}
    few, truth, most = _few(T), int(true[0]), float(means.max() - means.min())
    plays = np.array([float(gopalan(models, truth, int(t))) for t in few])
    bounds = {"Thompson, Gopalan": Bound(few, plays, "upper", "leading", "stochastic", "Gopalan14TS", 1.0)}
    weight = float(belief.posterior()[truth])
    if models.shape == (2, 2) and weight > 0.0:
        small, large = liu_li(weight, T)
        bounds["Thompson, Liu-Li, unlikely truth"] = Bound(
            T, small, "upper", "order", "frequentist", "Liu2015prior", most
        )
        bounds["Thompson, Liu-Li, likely truth"] = Bound(
            T, large, "upper", "order", "frequentist", "Liu2015prior", most
        )
    return bounds


def _few(T: Floats) -> Floats:
    """Some whole numbers of steps among these, the last included."""
    whole = np.unique(np.floor(T))
    return whole[np.unique(np.linspace(0, len(whole) - 1, FEW).round().astype(np.int64))]


# Frequentist regret --------------------------------------------------------------------------------------------------


def lai_robbins_constant(means: ArrayLike, noise: float | None = None) -> float:
    """c of Lai and Robbins: sum over worse arms of Delta_a / KL(a, a*).

    >>> round(lai_robbins_constant([0.5, 0.6]), 4)
    4.8993
    """
    gap, divergence = _instance(means, noise)
    return float((gap / divergence).sum())


def lai_robbins(means: ArrayLike, steps: ArrayLike, noise: float | None = None) -> Floats:
    """c ln T: no policy that is good on every instance has, in the limit, less regret than this (limit)."""
    return np.asarray(lai_robbins_constant(means, noise) * np.log(_steps("lai_robbins", steps)))


def mannor_tsitsiklis(means: ArrayLike, steps: ArrayLike) -> Floats:
    """sum 1 / Delta_a ln T: a lower bound at every T is of this order; the survey gives no formula (order)."""
    gap, _ = _instance(means, 1.0)
    return np.asarray((1.0 / gap).sum() * np.log(_steps("mannor_tsitsiklis", steps)))


def agrawal_goyal_dependent(means: ArrayLike, steps: ArrayLike) -> Floats:
    """(sum 1 / Delta_a^2)^2 ln T for Thompson sampling on Bernoulli arms, uniform prior (order)."""
    gap, _ = _instance(means, 1.0)
    return np.asarray((1.0 / gap**2).sum() ** 2 * np.log(_steps("agrawal_goyal_dependent", steps)))


def agrawal_goyal_independent(arms: int, steps: ArrayLike) -> Floats:
    """sqrt(K T ln T) for Thompson sampling on any Bernoulli arms, so for Bayesian regret too (order)."""
    T = _steps("agrawal_goyal_independent", steps)
    return np.asarray(np.sqrt(integer("agrawal_goyal_independent", "arms", arms, 1) * T * np.log(T)))


def kaufmann_thompson(means: ArrayLike, steps: ArrayLike, epsilon: float = 0.1, noise: float | None = None) -> Floats:
    """(1 + e) sum Delta_a (ln T + ln ln T) / KL(a, a*) for Thompson sampling; plus a constant C(e, theta) (leading)."""
    T = _steps("kaufmann_thompson", steps, low=2.0)
    e = number("kaufmann_thompson", "epsilon", epsilon, 0.0)
    return np.asarray((1.0 + e) * lai_robbins_constant(means, noise) * (np.log(T) + np.log(np.log(T))))


def kaufmann_bayes_ucb(means: ArrayLike, steps: ArrayLike, epsilon: float = 0.1, noise: float | None = None) -> Floats:
    """(1 + e) c ln T for Bayes-UCB, Bernoulli arms, uniform prior: Lai and Robbins's; plus smaller terms (leading)."""
    e = number("kaufmann_bayes_ucb", "epsilon", epsilon, 0.0)
    return np.asarray((1.0 + e) * lai_robbins(means, steps, noise))


def liu_li(weight: float, steps: ArrayLike) -> tuple[Floats, Floats]:
    """(sqrt(T / p), sqrt((1 - p) T)): two arms, two models, the true one with prior weight p (order).

    The first bounds Thompson's regret where p is small, the second where it is large; both orders are attained.
    """
    p = number("liu_li", "weight", weight, 0.0, 1.0, above=True)
    T = _steps("liu_li", steps)
    return np.asarray(np.sqrt(T / p)), np.asarray(np.sqrt((1.0 - p) * T))


def agrawal_goyal_linear(d: int, steps: ArrayLike, epsilon: float) -> Floats:
    """d^2 / e sqrt(T^(1 + e)), up to logarithms, for their Thompson sampling with d features (order)."""
    e = number("agrawal_goyal_linear", "epsilon", epsilon, 0.0, 1.0, above=True, below=True)
    T = _steps("agrawal_goyal_linear", steps)
    return np.asarray(integer("agrawal_goyal_linear", "d", d, 1) ** 2 / e * np.sqrt(T ** (1.0 + e)))


def gopalan(models: ArrayLike, truth: int, steps: int, epsilon: float = 0.1) -> int:
    """C(log T): Thompson sampling over finitely many Bernoulli models plays worse arms B + C(log T) times (leading).

    models[i, a] is the mean of arm a in model i, `truth` the true one. The statement holds with probability 1 - delta
    for T large enough; B does not depend on T. With L = (1 + e) / (1 - e) log T, C is the largest number of plays of
    worse arms on a path that drops them one after the other (z_k: plays when the k-th, a_k, is dropped for good),

        max sum_k z_k(a_k):  z_k <= z_{k+1},  z_i(a_k) = z_k(a_k) for i >= k,
                             min <z_k, D_theta> >= L > min <z_k - e(a_k), D_theta>,

    the minima over S'_{a_k}: the models whose best arm is a_k and that agree with the truth on a*, so that playing a*
    does not refute them; D_theta(a) = KL(true arm a, arm a of theta). The survey prints >= for > and takes the models
    that agree on a_k (ERRATA 13, 14). An arm without such models is played a bounded number of times and left out.
    Cost: an integer program for each order of the arms and each choice of the last models: a few arms and models.
    """
    owner = "gopalan"
    means = array(owner, "models", models, (None, None), low=0.0)
    if means.max() > 1.0:
        raise InvalidArgument(owner, "models", "probabilities", float(means.max()))
    true = means[integer(owner, "truth", truth, 0, len(means) - 1)]
    e = number(owner, "epsilon", epsilon, 0.0, 1.0, below=True)
    L = (1.0 + e) / (1.0 - e) * np.log(number(owner, "steps", steps, 2.0))
    best, star = means.argmax(axis=1), int(true.argmax())
    D = np.minimum(_bernoulli_kl(true, means), 2.0 * L)  # (N, K); what is more is refuted by one play just as well
    confusing = {a: D[(best == a) & (D[:, star] == 0.0)] for a in range(means.shape[1]) if a != star}
    arms = [a for a, rows in confusing.items() if len(rows)]
    most = 0
    for order in itertools.permutations(arms):
        for last in itertools.product(*(range(len(confusing[a])) for a in order)):
            most = max(most, _most_plays(order, last, confusing, L))
    return most


def _most_plays(order: tuple[int, ...], last: tuple[int, ...], confusing: dict[int, Floats], L: float) -> int:
    """The integer program for one order of dropping, in which model last[k] of S'_{a_k} is the last to be refuted."""
    from scipy import optimize  # a third of a second that only this needs

    n = len(order)
    if n == 0:
        return 0
    rows, low, high = [], [], []  # of the variables z[k, j]: plays of order[j] when order[k] is dropped

    def constrain(row: Floats, at_least: float, at_most: float) -> None:
        rows.append(row.ravel())
        low.append(at_least)
        high.append(at_most)

    for k, a in enumerate(order):
        for i, D in enumerate(confusing[a][:, list(order)]):
            row = np.zeros((n, n))
            row[k] = D
            # L > <z - e, D> as <z, D> <= L + D(a_k), less a little
            constrain(row, L, L + D[k] - 1e-9 if i == last[k] else np.inf)
        for j in range(n):
            if k + 1 < n:
                row = np.zeros((n, n))
                row[k + 1, j], row[k, j] = 1.0, -1.0
                constrain(row, 0.0, 0.0 if j <= k else np.inf)
    found = optimize.milp(
        -np.eye(n).ravel(),
        integrality=np.ones(n * n),
        bounds=optimize.Bounds(0.0, np.inf),
        constraints=optimize.LinearConstraint(np.array(rows), low, high),
    )
    return round(-found.fun) if found.status == 0 else 0


# Bayesian and stochastic regret --------------------------------------------------------------------------------------


def entropy(p: ArrayLike) -> float:
    """Shannon's entropy of a distribution, in nats: H(p_1) is that of the best arm under the prior."""
    return float(special.entr(array("entropy", "p", p, (None,), low=0.0)).sum())


def russo_van_roy(H: float, arms: int, steps: ArrayLike, deviation: float = 0.5) -> Floats:
    """sqrt(2 s^2 H K T): Thompson's Bayesian regret, sqrt(H K T / 2) with rewards in [0, 1] (exact).

    If rewards are linear in d features, `arms` is d for K. The proof takes no more of rewards in [0, 1] than that they
    are sub-Gaussian with deviation s = 1/2 under the posterior: E[R | A*] - E[R] <= s sqrt(2 KL). A Gaussian reward is
    so with the deviation of its predictive distribution, which conjugate beliefs never widen, so that the prior's does.
    """
    owner = "russo_van_roy"
    H, s = number(owner, "H", H, 0.0), number(owner, "deviation", deviation, 0.0)
    return np.asarray(s * np.sqrt(2.0 * H * integer(owner, "arms", arms, 1) * _steps(owner, steps)))


def russo_van_roy_linear(d: int, steps: ArrayLike) -> Floats:
    """d sqrt(T) ln T: Thompson's Bayesian regret with rewards linear in d features (order)."""
    T = _steps("russo_van_roy_linear", steps)
    return np.asarray(integer("russo_van_roy_linear", "d", d, 1) * np.sqrt(T) * np.log(T))


def linear_lower(d: int, steps: ArrayLike) -> Floats:
    """d sqrt(T): no policy does better with rewards linear in d features (order)."""
    return np.asarray(integer("linear_lower", "d", d, 1) * np.sqrt(_steps("linear_lower", steps)))


def bayesian_lower(arms: int, steps: ArrayLike) -> Floats:
    """sqrt(K T): for every policy there is a prior with Bayesian regret of this order (order)."""
    return np.asarray(np.sqrt(integer("bayesian_lower", "arms", arms, 1) * _steps("bayesian_lower", steps)))


def guha_munagala(arms: Arms, horizon: int) -> float:
    """2 OPT(T): Thompson's stochastic regret with two arms, or arms that a single play reveals (exact).

    OPT is computed by dynamic programming; `arms` as in `bayes_optimal_value`.
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
        return best - worse, _bernoulli_kl(worse, best)
    return best - worse, 0.5 * ((best - worse) / number("bandit_bounds", "noise", noise, 0.0, above=True)) ** 2


def _bernoulli_kl(p: Floats, q: Floats | float) -> Floats:
    return np.asarray(special.rel_entr(p, q) + special.rel_entr(1.0 - p, 1.0 - q))


def _steps(owner: str, steps: ArrayLike, low: float = 1.0) -> Floats:
    return array(owner, "steps", steps, low=low)
