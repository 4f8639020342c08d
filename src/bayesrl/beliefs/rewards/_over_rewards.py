"""The common parts of beliefs about one expert's reward: learning, densities, exact posteriors, and models.

A subclass is a `@value` class. Its fields are `problem`, `features`, `prior`, `rationality`, and those of its sampler.
It calls `_begin` in `__post_init__`. Draws of a posterior are dropped when the posterior changes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.chain import Diagnostics, diagnose
from bayesrl.beliefs.rewards.demonstrations import pairs_of
from bayesrl.beliefs.rewards.likelihood import Counts, log_likelihood, slope
from bayesrl.beliefs.rewards.linear_rewards import AboutRewards, LinearRewards
from bayesrl.beliefs.rewards.reward_priors import FinitePrior, check_prior, finite
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats, Ints, frozen, generator
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import greedy
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.solve import solve
from bayesrl.parameters import unchecked
from bayesrl.traits import Traits


class OverRewards(AboutRewards):
    """A belief about the weights of one reward function."""

    reward_prior: RewardPrior
    rationality: float
    demonstrations: Ints
    """Pairs (state, action), (N, 2), oldest first."""
    draws: Floats
    """Weights drawn from the posterior by the sampler, (n, d)."""
    accepted: Ints
    """Accepted proposals and all proposals of these draws, (2,)."""

    traits: ClassVar[Traits] = Traits(depends_on_data=("counts", "_exact"))

    def _begin(self) -> None:
        """Check what all subclasses have, and start without demonstrations."""
        owner = type(self).__name__
        rewards = LinearRewards.of(owner, self.problem, self.features)
        check_prior(owner, "reward_prior", self.reward_prior, rewards.n_weights)
        new = {"problem": rewards.mdp, "rationality": float(self.rationality), "rewards": rewards}
        new |= {"demonstrations": frozen(np.zeros((0, 2), np.int64)), **self._no_draws(rewards.n_weights)}
        for name, x in new.items():
            object.__setattr__(self, name, x)

    @staticmethod
    def _no_draws(d: int) -> dict[str, Any]:
        return {"draws": frozen(np.zeros((0, d))), "accepted": frozen(np.zeros(2, np.int64))}

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition | tuple[int, int], rng: Generator | None = None) -> Self:
        """The belief after one more pair (state, action), or a transition. Its chain starts where this one stands."""
        return self._with(pairs_of(f"{type(self).__name__}.update", [datum], self.problem))

    def update_many(self, log: Any, rng: Generator | None = None) -> Self:
        """The belief after a record, transitions or pairs; or after a sequence of those, one after the other."""
        return self._with(pairs_of(f"{type(self).__name__}.update_many", log, self.problem))

    def _with(self, pairs: Ints) -> Self:
        known = frozen(np.concatenate([self.demonstrations, pairs]))
        return unchecked(self, demonstrations=known, **self._no_draws(self.n_weights))

    @cached_property
    def counts(self) -> Counts:
        """How often each action was taken in the demonstrated states."""
        return Counts.of(self.demonstrations, self.n_actions)

    # Densities -------------------------------------------------------------------------------------------------------

    def log_likelihood(self, weights: ArrayLike) -> float:
        """Log probability of the demonstrated actions given weights (d,)."""
        w = self._weights("log_likelihood", weights)
        return log_likelihood(self.rewards.solve(w).q, self.counts, self.rationality)

    def log_prior(self, weights: ArrayLike) -> float:
        """Log density of weights (d,) under the prior."""
        return self.reward_prior.log_density(self._weights("log_prior", weights))

    def log_posterior(self, weights: ArrayLike) -> float:
        """Log of prior times likelihood; it is not normalised."""
        prior = self.log_prior(weights)
        return prior if prior == -np.inf else prior + self.log_likelihood(weights)

    def gradient(self, weights: ArrayLike) -> Floats:
        """The gradient of the log posterior in the weights, (d,); a subgradient where several policies are optimal."""
        w = self._weights("gradient", weights)
        prior = self.reward_prior.gradient(w)
        found = self.rewards.solve(w)
        y = slope(found.q, self.counts, self.rationality)
        return prior + self.rewards.adjoint(greedy(found.q), y)

    def _weights(self, method: str, weights: ArrayLike) -> Floats:
        return self.rewards.weights(f"{type(self).__name__}.{method}", weights)

    # The posterior ---------------------------------------------------------------------------------------------------

    @property
    def samples(self) -> Floats:
        """The weights drawn by `refresh` since the last demonstration, (n, d)."""
        return self._drawn("samples")

    def mean(self) -> Floats:
        """Posterior mean of the weights, (d,): exact with a `FinitePrior`, else of the draws."""
        if listed := finite(self.reward_prior):
            return np.asarray(self.posterior() @ listed.weights)
        return np.asarray(self._drawn("mean").mean(axis=0))

    def variance(self) -> Floats:
        """Posterior variance of each weight, (d,)."""
        if listed := finite(self.reward_prior):
            return np.asarray(self.posterior() @ (listed.weights - self.mean()) ** 2)
        return np.asarray(self._drawn("variance").var(axis=0))

    def sample(self, rng: Generator) -> Floats:
        """Weights from the posterior, (d,): one of the draws of `refresh`; exact with a `FinitePrior`."""
        rng = generator(f"{type(self).__name__}.sample", rng)
        if listed := finite(self.reward_prior):
            below = np.cumsum(self.posterior())
            return np.asarray(listed.weights[int(np.searchsorted(below, rng.random() * below[-1], side="right"))])
        draws = self._drawn("sample")
        return np.asarray(draws[int(rng.integers(len(draws)))])

    def diagnostics(self) -> Diagnostics:
        """Effective sample size and split R-hat of each weight, and the share of accepted proposals."""
        draws = self._drawn("diagnostics")
        accepted, proposed = self.accepted.tolist()
        return diagnose(draws, accepted / proposed if proposed else None)

    def _drawn(self, what: str) -> Floats:
        if not len(self.draws):
            expected = "a belief with draws: call refresh(rng, sweeps) after the last demonstration"
            raise InvalidArgument(f"{type(self).__name__}.{what}", "self", expected, "no draws")
        return self.draws

    # Exact, with a finite prior --------------------------------------------------------------------------------------

    def posterior(self) -> Floats:
        """The probability of each vector of weights of a `FinitePrior`, (n,)."""
        joint = self._exact
        return np.exp(joint - self.log_evidence()) if len(joint) else joint

    def log_evidence(self) -> float:
        """Log probability of the demonstrated actions under a `FinitePrior`."""
        return float(np.logaddexp.reduce(self._exact))

    @cached_property
    def _exact(self) -> Floats:
        """Log of prior times likelihood of each vector of a `FinitePrior`, (n,)."""
        with np.errstate(divide="ignore"):
            log_prior = np.log(np.asarray(self._finite_prior.probabilities))
        return frozen(log_prior + [log_likelihood(q, self.counts, self.rationality) for q in self._listed_q])

    @cached_property
    def _listed_q(self) -> Floats:
        """Q* of each vector of a `FinitePrior`, (n, S, A)."""
        return frozen(np.array([self.rewards.solve(w).q for w in self._finite_prior.weights]))

    @property
    def _finite_prior(self) -> FinitePrior:
        listed = finite(self.reward_prior)
        if listed is None:
            expected = "a FinitePrior, with which the posterior is exact"
            raise InvalidArgument(type(self).__name__, "reward_prior", expected, type(self.reward_prior).__name__)
        return listed

    # Models ----------------------------------------------------------------------------------------------------------

    @property
    def models(self) -> tuple[TabularMDP, ...]:
        """The models of a `FinitePrior`, with probabilities `posterior()`."""
        return tuple(self.rewards.model(w) for w in self._finite_prior.weights)

    @property
    def unsupported(self) -> dict[str, str]:
        """Members that need a `FinitePrior`."""
        if finite(self.reward_prior):
            return {}
        return dict.fromkeys(("models", "posterior", "log_evidence"), "Give it a FinitePrior.")

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """The problem with rewards drawn from the posterior."""
        return self.rewards.model(self.sample(rng))

    def mean_mdp(self) -> TabularMDP:
        """The problem with the posterior mean of the rewards."""
        return self.rewards.model(self.mean())

    def reward_table(self) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of each reward R(s, a), both (S, A)."""
        phi, C = self.rewards.features, self._covariance()
        variance = ((phi @ C) * phi).sum(axis=2)
        return self.rewards.table(self.mean()), np.sqrt(np.maximum(variance, 0.0))

    def _covariance(self) -> Floats:
        """Posterior covariance of the weights, (d, d)."""
        listed = finite(self.reward_prior)
        w, p = (self._drawn("covariance"), None) if listed is None else (listed.weights, self.posterior())
        return np.atleast_2d(np.cov(w, rowvar=False, bias=True, aweights=p))

    def apprentice(self) -> TabularPolicy:
        """The policy that is optimal for the posterior mean of the rewards."""
        return solve(self.mean_mdp()).policy
