"""Beliefs about one expert's reward whose sampler walks on a lattice of weights: what `birl` and `modified-birl` share.

A weight has the values low + j step inside the box of the prior. With a `FinitePrior` there is no lattice: draws are
independent draws of the exact posterior. Draws of a posterior are dropped when the posterior changes.

A subclass is a `@value` class with these fields and those of its own chain; it calls `_begin` in `__post_init__`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.chain import FEW, Diagnostics, diagnose, warn_if_poor
from bayesrl.beliefs.rewards._policy_walk import Lattice, Schedule, policy_walk, walk_many
from bayesrl.beliefs.rewards.demonstrations import Counts, log_likelihood, pairs_of, slope
from bayesrl.beliefs.rewards.linear_rewards import DENSE, AboutRewards, LinearRewards
from bayesrl.beliefs.rewards.reward_priors import FinitePrior, check_prior, finite
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import greedy
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.solve import solve
from bayesrl.parameters import unchecked
from bayesrl.traits import Traits

MOST_POINTS = 10_000
"""The largest number of values of a weight."""
PRECISION = 1e-12
"""An action is better if its advantage is larger than this share of the largest value."""
ENOUGH = 10 * FEW
"""Proposals before which a chain is not judged."""


class OnLattice(AboutRewards):
    """A belief about the weights of one reward function, whose chain walks on a lattice."""

    reward_prior: RewardPrior
    rationality: float
    step: float
    initial: Floats | None
    demonstrations: Ints
    """Pairs (state, action), (N, 2), oldest first."""
    draws: Floats
    """Weights drawn from the posterior by the sampler, (n, d)."""
    accepted: Ints
    """Accepted proposals and all proposals of these draws, (2,)."""
    at: Ints
    """Where the chain stands: the number j of the value of each weight, (d,)."""

    traits: ClassVar[Traits] = Traits(
        depends_on_data=("counts", "_exact"), grows=("demonstrations", "draws", "accepted", "at")
    )

    def _begin(self) -> None:
        """Check the fields, start without demonstrations, and put the chain at its start."""
        owner = type(self).__name__
        rewards = LinearRewards.of(owner, self.problem, self.features)
        check_prior(owner, "reward_prior", self.reward_prior, rewards.n_weights)
        new = {"problem": rewards.mdp, "rationality": float(self.rationality), "rewards": rewards}
        new |= {"demonstrations": frozen(np.zeros((0, 2), np.int64)), **self._no_draws(rewards.n_weights)}
        for name, x in new.items():
            object.__setattr__(self, name, x)
        object.__setattr__(self, "step", float(self.step))
        object.__setattr__(self, "at", frozen(self._first()))

    @staticmethod
    def _no_draws(d: int) -> dict[str, Any]:
        return {"draws": frozen(np.zeros((0, d))), "accepted": frozen(np.zeros(2, np.int64))}

    def check_grown(self) -> None:
        """Refuse fields that do not belong together, when a file is read."""
        owner, d, (S, A) = type(self).__name__, self.n_weights, self.problem.group.shape
        top = len(self.lattice.log_prior) if self.lattice else 1
        shapes = {"demonstrations": (-1, 2), "draws": (-1, d), "accepted": (2,), "at": (d,)}
        for name, shape in shapes.items():
            x, kind = getattr(self, name), "f" if name == "draws" else "i"
            if x.ndim != len(shape) or x.shape[-1] != shape[-1] or x.dtype.kind != kind or not np.isfinite(x).all():
                raise InvalidArgument(owner, name, f"of shape {shape}", x)
        pairs = self.demonstrations
        if (pairs < 0).any() or (pairs >= (S, A)).any() or (self.at < 0).any() or (self.at >= top).any():
            raise InvalidArgument(owner, "demonstrations", "pairs of the problem", pairs)

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

    # The lattice -----------------------------------------------------------------------------------------------------

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice; None if the prior lists its weights or has no finite box."""
        prior, owner = self.reward_prior, type(self).__name__
        if finite(prior) or not np.isfinite([prior.low, prior.high]).all():
            return None
        wide, most = prior.high - prior.low, MOST_POINTS - 1
        if not wide / most <= self.step <= wide * (1.0 + 1e-9):
            expected = f"at most the width of the box, {wide:g}, and at least {wide / most:.3g}"
            raise InvalidArgument(owner, "step", expected, self.step)
        values = prior.low + self.step * np.arange(int(wide / self.step * (1.0 + 1e-9)) + 1)
        inside = np.minimum(values, prior.high)  # the last value may be outside by a rounding error
        log_prior = frozen(np.array([prior.log_density([x]) for x in inside]))
        slack = PRECISION * (1.0 + self.rewards.largest * float(np.abs(values).max()))
        return Lattice(float(prior.low), self.step, log_prior, slack)

    def _first(self) -> Ints:
        """The point of the lattice at `initial`, or in the middle of the box."""
        owner, lattice, d = type(self).__name__, self.lattice, self.n_weights
        if self.initial is None:
            return np.full(d, 0 if lattice is None else (len(lattice.log_prior) - 1) // 2, np.int64)
        w = array(owner, "initial", self.initial, (d,), moderate=True)
        if lattice is None:
            raise InvalidArgument(owner, "initial", "None for a prior without a lattice", self.initial)
        j = (w - lattice.low) / lattice.step
        nearest = np.round(j)
        if (np.abs(j - nearest) > 1e-6).any():
            expected = f"on the lattice {lattice.low:g} + j {lattice.step:g}"
            raise InvalidArgument(owner, "initial", expected, self.initial)
        if (nearest < 0).any() or (nearest >= len(lattice.log_prior)).any():
            expected = f"inside the box from {self.reward_prior.low:g} to {self.reward_prior.high:g}"
            raise InvalidArgument(owner, "initial", expected, self.initial)
        return nearest.astype(np.int64)

    # The chain -------------------------------------------------------------------------------------------------------

    def _walked(self, rng: Generator, sweeps: int, chosen: Floats, cooling: int = 0) -> Self:
        """The belief after more sweeps. Weights are chosen in proportion to `chosen` (d,).

        A chain without draws first makes `cooling` sweeps. In these the log posterior is multiplied by a factor that
        rises to 1. They give no draws.
        """
        owner = f"{type(self).__name__}.refresh"
        generator(owner, rng)
        n = integer(owner, "sweeps", sweeps, 1)
        draws, at, new = np.zeros((n, self.n_weights)), self.at.copy(), np.zeros(2, np.int64)
        if listed := finite(self.reward_prior):
            below = np.cumsum(self.posterior())
            draws = listed.weights[np.searchsorted(below, rng.random(n) * below[-1], side="right")]
        else:
            cold = 0 if len(self.draws) else cooling
            share = np.minimum(np.arange(1, cold + n + 1) / (cold + 1.0), 1.0)
            new = np.array([self._walk(rng, at, Schedule(np.cumsum(chosen), share), draws), n * len(at)])
        known = frozen(np.concatenate([self.draws, draws]))
        moved = unchecked(self, draws=known, at=frozen(at), accepted=frozen(self.accepted + new))
        if moved.accepted[1] >= ENOUGH:
            warn_if_poor(owner, moved.diagnostics())
        return moved

    def _walk(self, rng: Generator, at: Ints, go: Schedule, draws: Floats) -> int:
        """Walk from `at` and fill `draws`; the number of accepted proposals."""
        if self.lattice is None:
            expected = "one with a finite box, whose weights form a lattice"
            raise InvalidArgument(f"{type(self).__name__}.refresh", "reward_prior", expected, self.reward_prior)
        n = Counts(frozen(self.counts.states), frozen(self.counts.taken))
        setting: Any = n, self.rationality, self.lattice, Schedule(*(frozen(x) for x in go)), at, draws
        if self.n_states > DENSE:
            return walk_many(rng, self.rewards, *setting)[0]
        return policy_walk(rng, self.rewards.ground, *setting)[0]
