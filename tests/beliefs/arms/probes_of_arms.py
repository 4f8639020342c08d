"""Probes of beliefs about arms.

Data are rewards of arms chosen at random. A probe has `random = True` if the belief draws random numbers in `update`.
It has `approximate = True` if the belief only approximates the posterior; fewer laws hold then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from draws import one_of
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.binarised_rewards import BinarisedRewards
from bayesrl.beliefs.arms.exponential_arm import ExponentialArm
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.forgetting import Forgetting
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.arms.money.dirichlet_arm import DirichletArm
from bayesrl.beliefs.arms.money.log_normal_purchase import LogNormalPurchase
from bayesrl.beliefs.arms.money.priced import Priced
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.arms.poisson_arm import PoissonArm
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.beliefs.mdp.finite_mdps import FiniteMDPs
from bayesrl.capabilities import HasMeans, SamplesMeans
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import Probe, probe_for


class Arms(SamplesMeans, HasMeans, Protocol):
    """A belief about independent arms."""


class ArmProbe(NamedTuple):
    """Truths are the arms' mean rewards; `pay` draws a reward of an arm with that mean."""

    pay: Callable[[Any, float, Generator], float]
    random: bool = False

    def draw(self, belief: Arms, rng: Generator) -> Floats:
        return belief.sample_means(None, rng)

    def datum(self, belief: Arms, theta: Floats, rng: Generator) -> Transition:
        a = int(rng.integers(len(theta)))
        return Transition(0, a, self.pay(belief, float(theta[a]), rng), 0)

    def read(self, belief: Arms, theta: Floats) -> Floats:
        return theta

    def expect(self, belief: Arms) -> Floats:
        return belief.mean()


class NormalGammaProbe:
    """Truths are means and precisions of the arms, (2, K)."""

    def draw(self, belief: NormalGammaArm, rng: Generator) -> Floats:
        precision = rng.gamma(belief.shape, 1.0 / belief.rate)
        return np.array([rng.normal(belief.mean_, 1.0 / np.sqrt(belief.strength * precision)), precision])

    def datum(self, belief: NormalGammaArm, theta: Floats, rng: Generator) -> Transition:
        a = int(rng.integers(belief.n_actions))
        return Transition(0, a, float(rng.normal(theta[0, a], theta[1, a] ** -0.5)), 0)

    def read(self, belief: NormalGammaArm, theta: Floats) -> Floats:
        return theta.ravel()

    def expect(self, belief: NormalGammaArm) -> Floats:
        return np.concatenate([belief.mean(), belief.shape / belief.rate])


class LinearProbe:
    """Truths are the weights; the belief must hold the arms' features."""

    def draw(self, belief: LinearGaussianArms, rng: Generator) -> Floats:
        return belief.sample_weights(rng)

    def datum(self, belief: LinearGaussianArms, theta: Floats, rng: Generator) -> Transition:
        X = np.asarray(belief.features)
        a = int(rng.integers(len(X)))
        return Transition(0, a, float(rng.normal(X[a] @ theta, belief.noise)), 0)

    def read(self, belief: LinearGaussianArms, theta: Floats) -> Floats:
        return theta

    def expect(self, belief: LinearGaussianArms) -> Floats:
        return belief.mean_


Logistic = LogisticArms | LogisticLaplaceArms


class LogisticProbe:
    """Truths are the weights, drawn from the Gaussian; rewards have logistic probabilities."""

    approximate = True

    def draw(self, belief: Logistic, rng: Generator) -> Floats:
        if isinstance(belief, LogisticArms):
            return np.asarray(rng.normal(belief.mean_, belief.precision**-0.5))
        return np.asarray(belief.mean_ + belief.root @ rng.standard_normal(belief.mean_.shape))

    def datum(self, belief: Logistic, theta: Floats, rng: Generator) -> Transition:
        X = np.asarray(belief.features)
        a = int(rng.integers(len(X)))
        return Transition(0, a, float(rng.random() < special.expit(X[a] @ theta)), 0)

    def read(self, belief: Logistic, theta: Floats) -> Floats:
        return theta

    def expect(self, belief: Logistic) -> Floats:
        return belief.mean_


class SemiBanditProbe:
    """Truths are those of the belief inside; two arms are chosen at a time."""

    def draw(self, belief: SemiBandit, rng: Generator) -> Any:
        return probe_for(belief.arms).draw(belief.arms, rng)

    def datum(self, belief: SemiBandit, theta: Any, rng: Generator) -> Transition:
        inside = probe_for(belief.arms)
        one, two = (inside.datum(belief.arms, theta, rng) for _ in range(2))
        paid = np.array([one.reward, two.reward])
        return Transition(0, np.array([one.action, two.action]), float(paid.sum()), paid)

    def read(self, belief: SemiBandit, theta: Any) -> Floats:
        return probe_for(belief.arms).read(belief.arms, theta)

    def expect(self, belief: SemiBandit) -> Floats:
        return probe_for(belief.arms).expect(belief.arms)


class DirichletProbe:
    """Truths are the probabilities of the outcomes, (K, n)."""

    def draw(self, belief: DirichletArm, rng: Generator) -> Floats:
        return np.array([rng.dirichlet(alpha) for alpha in belief.alpha])

    def datum(self, belief: DirichletArm, theta: Floats, rng: Generator) -> Transition:
        a = int(rng.integers(len(theta)))
        values = np.broadcast_to(belief.values, theta.shape)
        return Transition(0, a, float(values[a, one_of(theta[a], rng)]), 0)

    def read(self, belief: DirichletArm, theta: Floats) -> Floats:
        return theta.ravel()

    def expect(self, belief: DirichletArm) -> Floats:
        return np.asarray((belief.alpha / belief.alpha.sum(axis=-1, keepdims=True)).ravel())


class PurchaseProbe:
    """Truths are the rates and the mean logarithms of the amounts, (2, K)."""

    def draw(self, belief: LogNormalPurchase, rng: Generator) -> Floats:
        log = rng.normal(belief.log_mean, belief.spread / np.sqrt(belief.strength))
        return np.array([rng.beta(belief.alpha, belief.beta), log])

    def datum(self, belief: LogNormalPurchase, theta: Floats, rng: Generator) -> Transition:
        a = int(rng.integers(belief.n_actions))
        amount = float(np.exp(rng.normal(theta[1, a], belief.spread)))
        return Transition(0, a, amount if rng.random() < theta[0, a] else 0.0, 0)

    def read(self, belief: LogNormalPurchase, theta: Floats) -> Floats:
        return theta.ravel()

    def expect(self, belief: LogNormalPurchase) -> Floats:
        return np.concatenate([belief.alpha / (belief.alpha + belief.beta), belief.log_mean])


class PricedProbe:
    """Truths are those of the belief inside; a reward of 1 becomes the price of its arm."""

    def draw(self, belief: Priced, rng: Generator) -> Any:
        return probe_for(belief.belief).draw(belief.belief, rng)

    def datum(self, belief: Priced, theta: Any, rng: Generator) -> Transition:
        made: Transition = probe_for(belief.belief).datum(belief.belief, theta, rng)
        return made._replace(reward=made.reward * float(belief.prices[made.action]))

    def read(self, belief: Priced, theta: Any) -> Floats:
        return probe_for(belief.belief).read(belief.belief, theta)

    def expect(self, belief: Priced) -> Floats:
        return belief.mean() / belief.prices


class ForgettingProbe:
    """Truths are those of the belief inside, which is wider than the posterior by design."""

    approximate = True

    def draw(self, belief: Forgetting, rng: Generator) -> Any:
        return probe_for(belief.belief).draw(belief.belief, rng)

    def datum(self, belief: Forgetting, theta: Any, rng: Generator) -> Transition:
        datum: Transition = probe_for(belief.belief).datum(belief.belief, theta, rng)
        return datum

    def read(self, belief: Forgetting, theta: Any) -> Floats:
        return probe_for(belief.belief).read(belief.belief, theta)

    def expect(self, belief: Forgetting) -> Floats:
        return probe_for(belief.belief).expect(belief.belief)


class FullBanditProbe:
    """Truths are the arms' means; two arms are chosen at a time and their sum is observed."""

    def draw(self, belief: FullBandit, rng: Generator) -> Floats:
        return belief.sample_means(None, rng)

    def datum(self, belief: FullBandit, theta: Floats, rng: Generator) -> Transition:
        chosen = rng.choice(len(theta), 2, replace=False)
        return Transition(0, chosen, float(rng.normal(theta[chosen].sum(), belief.weights.noise)), 0)

    def read(self, belief: FullBandit, theta: Floats) -> Floats:
        return theta

    def expect(self, belief: FullBandit) -> Floats:
        return belief.mean()


class FiniteProbe:
    """Truths are indices of models; the quantities are indicators of the index."""

    def draw(self, belief: FiniteModels | FiniteMDPs, rng: Generator) -> int:
        return one_of(belief.posterior(), rng)

    def datum(self, belief: FiniteModels | FiniteMDPs, theta: int, rng: Generator) -> Transition:
        if isinstance(belief, FiniteModels):
            a = int(rng.integers(belief.n_actions))
            return Transition(0, a, float(rng.random() < belief.models.means[theta, a]), 0)
        mdp = belief.models[theta]
        s, a = int(rng.integers(belief.n_states)), int(rng.integers(belief.n_actions))
        k = one_of(mdp.prob[mdp.group[s, a]], rng)
        return Transition(s, a, float(mdp.reward[s, a, k]), int(mdp.succ[s, a, k]))

    def read(self, belief: FiniteModels | FiniteMDPs, theta: int) -> Floats:
        return np.asarray(np.eye(len(belief.posterior()))[theta])

    def expect(self, belief: FiniteModels | FiniteMDPs) -> Floats:
        return np.asarray(belief.posterior())


def _coin(belief: object, mean: float, rng: Generator) -> float:
    return float(rng.random() < mean)


def _normal(belief: NormalArm, mean: float, rng: Generator) -> float:
    return float(rng.normal(mean, belief.noise))


def _poisson(belief: object, mean: float, rng: Generator) -> float:
    return float(rng.poisson(mean))


def _exponential(belief: object, mean: float, rng: Generator) -> float:
    return float(rng.exponential(mean))


PROBES: dict[type, Probe] = {
    BetaBernoulli: ArmProbe(_coin),
    BinarisedRewards: ArmProbe(_coin, random=True),
    NormalArm: ArmProbe(_normal),
    NormalGammaArm: NormalGammaProbe(),
    PoissonArm: ArmProbe(_poisson),
    ExponentialArm: ArmProbe(_exponential),
    LinearGaussianArms: LinearProbe(),
    LogisticArms: LogisticProbe(),
    LogisticLaplaceArms: LogisticProbe(),
    SemiBandit: SemiBanditProbe(),
    Forgetting: ForgettingProbe(),
    Priced: PricedProbe(),
    DirichletArm: DirichletProbe(),
    LogNormalPurchase: PurchaseProbe(),
    FullBandit: FullBanditProbe(),
    FiniteModels: FiniteProbe(),
    FiniteMDPs: FiniteProbe(),
}
for kind, probe in PROBES.items():
    probe_for.register(kind, lambda belief, probe=probe: probe)
