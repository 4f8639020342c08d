"""PAC sample complexity: the theorems of survey §4.6 as functions, and the parameters that they prescribe.

A PAC theorem bounds the number of steps that are not near-optimal, with probability at least 1 - delta. Near-optimal
means within an error that epsilon sets: near V* of the true MDP (BOSS, VBRB, MBIE-EB, R-max: PAC-MDP) or near the
Bayes-optimal value (BEB, BOLT, BFS3: PAC-BAMDP). The functions named `..._bound` give that number of steps without the
constant of O(.). They show how the bounds grow; they are not predictions. The other functions compute the parameter
that a theorem prescribes. A planner uses it if the parameter is "theory", as in `make("bolt", eta="theory")`, with
the EPSILON and DELTA of this module.

Theorems assume rewards in [0, 1]; a range of rewards r scales epsilon and the bonuses.

Paper to code: each function names its theorem. The survey's BOLT theorem has its inequality the wrong way round
(ERRATA 7); in the VBRB one it is the bonus, not the sample complexity, that falls as 1/sqrt(n) (ERRATA 17).
Deviations: for BOSS and VBRB the survey leaves f open, the number of visits after which a Dirichlet posterior is close
to the truth; `dirichlet_visits` is a value that Chebyshev's inequality gives. The survey has no formulas for MBIE-EB
and R-max; ours are recalled from the papers. Constants hidden in O(.) are set to 1.
Cost: none. Claims: the formulas by hand; the powers of S, A, 1/epsilon, H; `dirichlet_visits` does what it promises.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from math import ceil, isfinite, log, sqrt
from typing import Final, ParamSpec, TypeVar

from bayesrl.checks import integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register

THEORY: Final = "theory"
"""Stands for the number that the method's theorem prescribes."""
EPSILON = DELTA = 0.1
"""The error and the probability of failure for which parameters are prescribed."""

P = ParamSpec("P")
X = TypeVar("X", float, int, tuple[float, float])


def checked(f: Callable[P, X]) -> Callable[P, X]:
    """Check the arguments of a bound; the name of an argument determines its range.

    If the result is not finite, the error names the most extreme argument.
    """
    names = signature(f)

    @wraps(f)
    def careful(*args: P.args, **kwargs: P.kwargs) -> X:
        given = names.bind(*args, **kwargs)
        given.apply_defaults()
        for name, x in given.arguments.items():
            if name == "gamma":
                number(f.__name__, name, x, 0.0, 1.0, below=True)
            elif name == "accuracy":
                number(f.__name__, name, x, 0.0, 1.0, above=True, below=True)
            elif name in ("delta", "rho"):
                number(f.__name__, name, x, 0.0, 1.0, above=True)
            elif name == "epsilon":
                number(f.__name__, name, x, 0.0, above=True)
            elif name in ("reward_range", "eta"):
                number(f.__name__, name, x, 0.0)
            else:
                integer(f.__name__, name, x, 1, any_length=True)
        try:
            found = f(*args, **kwargs)
            if all(map(isfinite, found if isinstance(found, tuple) else (found,))):
                return found
        except (ArithmeticError, InvalidArgument):  # raised by a quantity computed from the arguments
            pass
        name = max(given.arguments, key=lambda name: _extremity(name, given.arguments[name]))
        expected = "less extreme, as the theorem prescribes too large a number"
        raise InvalidArgument(f.__name__, name, expected, given.arguments[name])

    return careful


def _extremity(name: str, x: float) -> float:
    """The distance of an argument from one, in orders of magnitude."""
    x = 1.0 - x if name == "gamma" else x
    return abs(log(x)) if x > 0.0 else 0.0


# What the theorems prescribe -----------------------------------------------------------------------------------------


@checked
def effective_horizon(gamma: float, accuracy: float = 0.01) -> int:
    """H, the number of decisions after which at most this share of the largest value remains: gamma^H <= accuracy.

    >>> effective_horizon(0.95)
    90
    """
    return max(1, ceil(log(accuracy) / log(gamma))) if gamma > 0.0 else 1


@checked
def beb_beta(horizon: int, reward_range: float = 1.0) -> float:
    """Kolter and Ng's beta = 2 H^2: with it BEB's values are at least the Bayes-optimal ones over H decisions."""
    return 2.0 * horizon**2 * reward_range


@checked
def bolt_eta(horizon: int) -> float:
    """Araya-López et al.'s eta = H: with it BOLT's values are at least the Bayes-optimal ones over H decisions."""
    return float(horizon)


@checked
def vbrb_betas(
    states: int, actions: int, gamma: float, delta: float = DELTA, reward_range: float = 1.0
) -> tuple[float, float]:
    """Sorg et al.'s (beta_R, beta_P) = (1, gamma S / (1 - gamma)) / sqrt(rho) with rho = delta / (2 S^2 A^2)."""
    rho = delta / (2.0 * states**2 * actions**2)
    return 1.0 / sqrt(rho), reward_range * gamma * states / (1.0 - gamma) / sqrt(rho)


@checked
def mbie_eb_visits(states: int, actions: int, gamma: float, epsilon: float = EPSILON, delta: float = DELTA) -> float:
    """Strehl and Littman's m, the visits needed: (S + log(S A / eps (1-gamma) delta)) / eps^2 (1-gamma)^4."""
    rest = epsilon * (1.0 - gamma)
    return (states + log(states * actions / (rest * delta))) / (rest**2 * (1.0 - gamma) ** 2)


@checked
def mbie_eb_beta(
    states: int, actions: int, gamma: float, epsilon: float = EPSILON, delta: float = DELTA, reward_range: float = 1.0
) -> float:
    """Strehl and Littman's beta = sqrt(log(2 S A m / delta) / 2) / (1 - gamma), or 0 if every policy is good enough."""
    if reward_range <= epsilon * (1.0 - gamma):
        return 0.0
    m = mbie_eb_visits(states, actions, gamma, epsilon / reward_range, delta)
    return reward_range * sqrt(0.5 * log(2.0 * states * actions * m / delta)) / (1.0 - gamma)


@checked
def rmax_knownness(
    states: int, actions: int, horizon: int, epsilon: float = EPSILON, delta: float = DELTA, reward_range: float = 1.0
) -> int:
    """Brafman and Tennenholtz's K_1 = max((4 S T R_max / eps)^3, -6 log^3(delta / 6 S A^2)) + 1."""
    accurate = ceil((4.0 * states * horizon * reward_range / epsilon) ** 3)
    likely = ceil(-6.0 * log(delta / (6.0 * states * actions**2)) ** 3)
    return max(accurate, likely) + 1


@checked
def dirichlet_visits(states: int, epsilon: float, delta: float, rho: float) -> int:
    """f(epsilon, delta, rho) for a Dirichlet row over S states: visits n with S 2 / ((n + 1) epsilon^2 rho) <= delta.

    With probability 1 - delta over truth and data, all but rho of the posterior is within epsilon of the truth (in L1).
    Given the data, a draw theta and the truth theta* have the same law. So E |theta - theta*|_1^2 <= S E |theta -
    theta*|_2^2 <= 2 S / (n + 1), where n is the total count. The rest is Chebyshev's and Markov's inequalities.
    """
    return ceil(2.0 * states / (epsilon**2 * delta * rho))


@checked
def boss_knownness(
    states: int, actions: int, gamma: float, samples: int, epsilon: float = EPSILON, delta: float = DELTA
) -> int:
    """Asmuth et al.'s B = f(eps (1-gamma)^2, delta / S A, delta / S^2 A^2 K)."""
    pairs = states * actions
    return dirichlet_visits(states, epsilon * (1.0 - gamma) ** 2, delta / pairs, delta / (pairs**2 * samples))


# The theorems' numbers of steps --------------------------------------------------------------------------------------


@checked
def boss_bound(
    states: int, actions: int, gamma: float, samples: int = 5, epsilon: float = EPSILON, delta: float = DELTA
) -> float:
    """Steps that are not 4 eps-optimal in the true MDP, with probability 1 - 4 delta (Asmuth et al. 2009)."""
    B = boss_knownness(states, actions, gamma, samples, epsilon, delta)
    return states * actions * B * _escapes(gamma, epsilon, delta)


@checked
def beb_bound(states: int, actions: int, horizon: int, epsilon: float = EPSILON, delta: float = DELTA) -> float:
    """Steps that are not eps-Bayes-optimal over H decisions (Kolter and Ng 2009, theorem 1)."""
    return states * actions * horizon**6 / epsilon**2 * log(states * actions / delta)


@checked
def vbrb_bound(states: int, actions: int, gamma: float, epsilon: float = EPSILON, delta: float = DELTA) -> float:
    """Steps that are not 4 eps-optimal in the true MDP, with probability 1 - 4 delta (Sorg et al. 2010)."""
    pairs = states * actions
    C = dirichlet_visits(states, epsilon * (1.0 - gamma) ** 2 / 4.0, delta / pairs, delta / (2.0 * pairs**2))
    return pairs * C * _escapes(gamma, epsilon, delta)


@checked
def bolt_bound(states: int, actions: int, gamma: float, eta: float, epsilon: float = EPSILON) -> float:
    """Steps that are not eps-Bayes-optimal, without logarithmic factors (Araya-López et al. 2012)."""
    return states * actions * eta**2 / (epsilon**2 * (1.0 - gamma) ** 2)


@checked
def bfs3_bound(states: int, actions: int, depth: int, knownness: int, delta: float = DELTA) -> float:
    """Expected number of actions that are not eps-Bayes-optimal: B S A (S + 1) d / delta (Asmuth 2013)."""
    return knownness * states * actions * (states + 1) * depth / delta


@checked
def mbie_eb_bound(states: int, actions: int, gamma: float, epsilon: float = EPSILON, delta: float = DELTA) -> float:
    """Steps that are not eps-optimal in the true MDP (Strehl and Littman 2008, theorem 2)."""
    m = mbie_eb_visits(states, actions, gamma, epsilon, delta)
    return states * actions * m * _escapes(gamma, epsilon, delta)


def _escapes(gamma: float, epsilon: float, delta: float) -> float:
    """Steps for each visit of an unknown pair: log(1/delta) log(1 / eps (1-gamma)) / eps (1-gamma)^2."""
    rest = epsilon * (1.0 - gamma)  # if this is 1 or more, every policy is near-optimal
    return log(1.0 / delta) * max(log(1.0 / rest), 0.0) / (rest * (1.0 - gamma))


@register(
    "pac-bounds",
    kind="tool",
    survey="4.6",
    paper="asmuth09",
    reading="The survey, and for MBIE-EB and R-max the formulas of their papers as recalled.",
    evidence=(
        "tests/bamdp/optimism/test_pac_bounds.py::test_bounds_by_hand",
        "tests/bamdp/optimism/test_pac_bounds.py::test_table_of_bounds",
        "tests/bamdp/optimism/test_pac_bounds.py::test_bounds_grow_as_their_theorems_say",
        "tests/bamdp/optimism/test_pac_bounds.py::test_dirichlet_visits_are_enough",
    ),
)
def pac_bounds(
    states: int,
    actions: int,
    gamma: float = 0.95,
    horizon: int | None = None,
    epsilon: float = EPSILON,
    delta: float = DELTA,
) -> dict[str, float]:
    """The theorems' bounds on the number of steps with an error above epsilon, by method (without constants).

    >>> bounds = pac_bounds(5, 2, gamma=0.95, horizon=20)
    >>> sorted(bounds, key=bounds.get)
    ['bolt', 'beb', 'mbie-eb', 'boss', 'vbrb']
    """
    owner = "pac_bounds"
    S, A = integer(owner, "states", states, 1, any_length=True), integer(owner, "actions", actions, 1, any_length=True)
    gamma = number(owner, "gamma", gamma, 0.0, 1.0, below=True)
    eps, delta = (
        number(owner, "epsilon", epsilon, 0.0, 1.0, above=True),
        number(owner, "delta", delta, 0.0, 1.0, above=True),
    )
    H = effective_horizon(gamma) if horizon is None else integer(owner, "horizon", horizon, 1, any_length=True)
    return {
        "boss": boss_bound(S, A, gamma, 5, eps, delta),
        "beb": beb_bound(S, A, H, eps, delta),
        "vbrb": vbrb_bound(S, A, gamma, eps, delta),
        "bolt": bolt_bound(S, A, gamma, bolt_eta(H), eps),
        "mbie-eb": mbie_eb_bound(S, A, gamma, eps, delta),
    }
