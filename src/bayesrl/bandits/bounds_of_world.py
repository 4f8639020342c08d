"""Which regret bounds of chapter 3 hold in a given bandit or family of bandits."""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.bandits._gopalan import gopalan
from bayesrl.bandits.bandit_bounds import (
    Bound,
    Integrated,
    agrawal_goyal_independent,
    agrawal_goyal_linear,
    bandit_bounds,
    bayesian_lower,
    checked_steps,
    entropy,
    guha_munagala,
    linear_lower,
    liu_li,
    russo_van_roy,
    russo_van_roy_linear,
)
from bayesrl.capabilities import (
    HasRewardDeviation,
    ListsPosteriors,
    offers,
)
from bayesrl.checks import Floats
from bayesrl.core import Family

OPTIMAL_STEPS = 30
"""The longest horizon of Guha and Munagala's bound, which needs the Bayes-optimal value of every horizon."""
FEW = 10
"""Number of points on a curve if each point needs an optimisation."""


@runtime_checkable
class KnowsUniform(Protocol):
    """A belief that says whether it is the uniform prior that theorems assume."""

    @property
    def is_uniform(self) -> bool:
        """Whether arms pay 0 or 1 and every probability is uniform on [0, 1]."""


@runtime_checkable
class LinearInFeatures(Protocol):
    """A belief about rewards that are linear in known features of the arms."""

    def linear_features(self) -> Floats:
        """The arms' features, (K, d), or (C, K, d) for C contexts."""


@runtime_checkable
class ListsArmModels(Protocol):
    """A belief over finitely many bandits."""

    def model_means(self) -> Floats:
        """Mean reward of arm a in model i, (N, K)."""

    def posterior(self) -> Floats:
        """Probability of each model, (N,)."""


def bounds_of(world: object, steps: ArrayLike, prior: object = None, *, vacuous: bool = False) -> dict[str, Bound]:
    """Return the bounds that hold in a bandit, by name: on frequentist regret in a world, Bayesian in a family.

    `prior` is the agents' belief; the default is the world's own. In a world it decides which theorems apply: those for
    a uniform prior, or those for finitely many models of which one is true. In a family it must be the distribution of
    the worlds. The result is empty if no theorem covers the world. Vacuous bounds, which exceed the largest possible
    regret, are left out unless `vacuous` is True.

    >>> from bayesrl.registry import make_world
    >>> bound = bounds_of(make_world("bernoulli", arms=2), 1000)["Thompson, Russo-Van Roy"]
    >>> bound.kind, round(float(bound.value), 3)
    ('exact', 26.328)
    """
    T = checked_steps("bounds_of", steps, low=2.0)
    found = _of_world(world, T, prior)
    return {name: bound for name, bound in found.items() if vacuous or not bound.vacuous}


class Bandit(Protocol):
    """A bandit world or family with a default prior."""

    def default_prior(self) -> object:
        """The belief that suits the world."""


@runtime_checkable
class PlainBandit(Protocol):
    """A bandit without contexts."""

    means: Floats
    rewards: str


@runtime_checkable
class PricedArms(Protocol):
    """A bandit without contexts whose arms pay a known price or 0."""

    rates: Floats
    prices: Floats
    means: Floats

    @property
    def coins(self) -> PlainBandit:
        """The same purchases with a reward of 1 for each."""


def _of_world(world: object, T: Floats, prior: object) -> dict[str, Bound]:
    if not offers(world, Bandit):
        return {}
    own = world.default_prior()
    if offers(world, Family):
        return _of_family(own, T) if prior is None or prior == own else {}
    if offers(world, PricedArms):
        return _of_priced(world, T) if offers(world.coins, PlainBandit) and world.means.ndim == 1 else {}
    if not offers(world, PlainBandit) or world.rewards not in ("bernoulli", "gaussian") or world.means.ndim != 1:
        return {}
    belief = own if prior is None else prior
    if offers(belief, ListsArmModels):
        return _of_models(world.means, belief, T)
    every = bandit_bounds(world.means, T, None if world.rewards == "bernoulli" else 1.0)
    uniform = offers(belief, KnowsUniform) and belief.is_uniform
    names = [name for name, bound in every.items() if bound.regret == "frequentist"]
    return {name: every[name] for name in names if every[name].side == "lower" or uniform}


def _of_priced(world: PricedArms, T: Floats) -> dict[str, Bound]:
    """The lower bound of Lai and Robbins where prices are known: rates alone are unknown.

    A worse arm of price r looks best at a rate of mean* / r. If that is 1 or more, the arm need not be tried. The other
    bounds of chapter 3 on frequentist regret are proved for rewards of one range and are left out.
    """
    best = float(world.means.max())
    worse = (world.means < best) & (world.prices > best)
    rate, least = world.rates[worse], best / world.prices[worse]
    divergence = special.rel_entr(rate, least) + special.rel_entr(1.0 - rate, 1.0 - least)
    constant = float(((best - world.means[worse]) / divergence).sum())
    most = best - float(world.means.min())
    return {"Lai-Robbins": Bound(T, constant * np.log(T), "lower", "limit", "frequentist", "Lai85AE", most)}


def _of_family(belief: object, T: Floats) -> dict[str, Bound]:
    """Bounds on Bayesian regret if worlds are drawn from the belief."""
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
    """A belief for the bounds of linear rewards."""


def _of_linear(belief: Linear, T: Floats) -> dict[str, Bound]:
    features = belief.linear_features()
    d, K = features.shape[-1], features.shape[-2]
    # The expected maximum of K Gaussians of deviation s is at most s sqrt(2 ln K), and the minimum at least minus that.
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
    if features.size == K * d:  # one context only, so H(p_1) <= log K
        value = russo_van_roy(math.log(K), d, T, belief.reward_deviation())
        bounds["Thompson, Russo-Van Roy"] = Bound(T, value, "upper", "exact", "Bayesian", "Russo14IT", most)
    return bounds


def _of_models(means: Floats, belief: ListsArmModels, T: Floats) -> dict[str, Bound]:
    """Bounds for Thompson sampling over finitely many Bernoulli models; the world must be one of them."""
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
    """At most FEW whole numbers of steps among these, including the last."""
    whole = np.unique(np.floor(T))
    return whole[np.unique(np.linspace(0, len(whole) - 1, FEW).round().astype(np.int64))]
