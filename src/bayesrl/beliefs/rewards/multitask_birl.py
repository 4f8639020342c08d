"""Multi-task BIRL: tasks whose rewards have a common, unknown prior (Dimitrakakis and Rothkopf 2011; survey §7.2).

There is one prior for all tasks, theta, drawn from `hyper` among `priors`. The weights w_m of task m are drawn from
that prior, and the expert of task m acts on them. Each task is scored on its own demonstrations. What tasks have in
common is learnt through theta only: trajectories are not grouped (see `dpm-birl`). Use it where each log has its own
reward, but the kind of rewards is the same.

    p(theta, w_1..M | D) proportional to hyper(theta) prod_m priors[theta](w_m) L_m(w_m)

With finite priors everything is a finite sum, and the posterior is exact. With densities `refresh` alternates moves of
each w_m given theta (a proposal from the prior, then Langevin steps) with a draw of theta: Metropolis within Gibbs.

Their second model, `model="policy"`, is a prior on the optimality of policies. Task m has a policy with Dirichlet rows
(`alpha` counts for each action) times exp(-optimality x loss), where the loss is max_s V*(s) - V(s) under w_m. The
demonstrations are draws of that policy. So

    L_m(w) = p(D_m) E[exp(-optimality loss(pi, w)) | D_m] / E[exp(-optimality loss(pi, w))],

where pi is drawn from the Dirichlet posterior and prior. `refresh` estimates both by draws: one of each in a sweep.

Paper to code: the reward model is `_log_l`; its hyper-prior on the prior of rewards is `hyper`; the loss is `losses`
(_policy_optimality.py).
Deviations: the paper was not re-read, and the second model is recalled: a product-Dirichlet prior of policies and an
exponential prior of their loss, with rewards restricted to those for which the policy is that good. We normalise the
prior of policies for each reward, so that it is a prior of (w, policy) and data can teach theta; the recalled form
normalises the rewards for each policy, and theta would then learn nothing. It needs finite priors: draw a list of
rewards, as the paper does. The rationality c is known here, and has a prior there.
Cost: exact: a solve for each listed reward once, then O(rewards x pairs) for each trajectory. With densities a sweep
is `moves` solves for each task. With `model="policy"` a sweep is M + 1 linear systems of S equations.
Claims: exact posteriors equal enumeration to 1e-8; draws agree with quadrature; sweeps keep the joint
distribution, and ranks of truths are uniform, with lists, with densities and for policies.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import gammaln

from bayesrl.beliefs.chain import Diagnostics, diagnose, warn_if_poor
from bayesrl.beliefs.rewards._clustered import ENOUGH, drawn
from bayesrl.beliefs.rewards._policy_optimality import log_sums
from bayesrl.beliefs.rewards._several import SeveralExperts, log_policies
from bayesrl.beliefs.rewards._target import Target, fit
from bayesrl.beliefs.rewards.reward_priors import FinitePrior, UniformPrior, check_prior, finite
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import Above, AtLeast, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits


class TaskRewards(NamedTuple):
    """One draw of the common prior and the rewards of the tasks."""

    theta: int
    """The number of the prior."""
    weights: Floats
    """The weights of each task, (M, d)."""


def _example() -> MultitaskBIRL:
    P = [[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]]]
    first = FinitePrior(np.array([[1.0, 0.0], [0.5, 0.3]]), [0.7, 0.3])
    second = FinitePrior(np.array([[0.0, 1.0], [0.2, 0.5], [1.0, 0.0]]))
    return MultitaskBIRL(TabularMDP.from_dense(P, np.zeros(2), gamma=0.8), None, (first, second), [0.4, 0.6], 2.0)


@register(
    "multitask-birl",
    kind="belief",
    survey="7.2",
    paper="Dimitrakakis11BM",
    example=_example,
    taken_by="bayesrl infer-reward",
    reading="The survey; the paper's second model is recalled, and its normalisation is ours.",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_multitask_birl.py::test_exact_posterior_is_the_enumerated_one",
        "tests/beliefs/rewards/test_multitask_birl.py::test_draws_agree_with_quadrature",
        "tests/beliefs/rewards/test_calibration_of_tasks.py::test_sweeps_keep_the_joint_distribution",
        "tests/beliefs/rewards/test_undiscounted_rewards.py::test_the_posterior_over_tasks_is_enumerated",
    ),
)
@value
class MultitaskBIRL(SeveralExperts):
    """Experts of several tasks; the rewards of the tasks have a common, unknown prior.

    With discount 1 every policy must end, so that the optimal values of all rewards are finite.

    Examples
    --------
    Two tasks have their reward at the right end. The prior of such rewards becomes more probable:

    >>> import bayesrl as b
    >>> line = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.9)
    >>> right, left = (b.inverse.FinitePrior([w, [0.5, 0.5]]) for w in ([0.0, 1.0], [1.0, 0.0]))
    >>> belief = MultitaskBIRL(line, priors=(right, left)).update_many([[(0, 1), (1, 1)], [(1, 1)]])
    >>> belief.hyper_posterior().round(2).tolist()
    [0.78, 0.22]
    >>> belief.means().round(2).tolist()
    [[0.27, 0.73], [0.31, 0.69]]
    """

    problem: Annotated[
        TabularMDP, "The known dynamics: a TabularMDP, or a world that has one. Its rewards are ignored."
    ]
    features: Annotated[ArrayLike | None, "Of states, (S, d), or pairs, (S, A, d); None: each state has a weight."] = (
        None
    )
    priors: Annotated[tuple[RewardPrior, ...], "Possible priors of the weights; all of them are finite, or none."] = (
        UniformPrior(-1.0, 1.0),
    )
    hyper: Annotated[ArrayLike | None, "Their probabilities; None if all are equally probable."] = None
    rationality: Annotated[float, Above(0), "How surely experts take the best action, c."] = 1.0
    model: Annotated[
        Literal["reward", "policy"], "Experts act on rewards; or their policies have a prior optimality."
    ] = "reward"
    optimality: Annotated[float, Above(0), 'Rate at which the probability of a loss falls, for model="policy".'] = 1.0
    alpha: Annotated[float, Above(0), 'Prior count of each action of a policy, for model="policy".'] = 1.0
    step: Annotated[float, Above(0), "Standard deviation of a Langevin step."] = 0.1
    moves: Annotated[int, AtLeast(1), "Langevin steps of each task in a sweep."] = 10
    trajectories: tuple[Ints, ...] = field(init=False, repr=False)
    """The pairs (state, action) of each task, each (N, 2), in the order in which they were learnt."""
    theta: int = field(init=False, repr=False)
    """The state of the chain: the number of the prior."""
    weights: Floats = field(init=False, repr=False)
    """The state of the chain: the weights of the tasks that were in a sweep, (up to M, d)."""
    thetas: Ints = field(init=False, repr=False)
    """The drawn numbers of the prior, (n,)."""
    samples: Floats = field(init=False, repr=False)
    """The drawn weights of each task, (n, M, d)."""
    accepted: Ints = field(init=False, repr=False)
    """Accepted Langevin steps and all of them, (2,)."""
    sums: Floats = field(init=False, repr=False)
    """For model="policy": log sums of exp(-optimality loss) over drawn policies, (M + 1, rewards); the prior's last."""
    policies: int = field(init=False, repr=False)
    """How many policies of each task were drawn."""

    traits: ClassVar[Traits] = Traits(
        depends_on_data=("taken", "_tables"),
        grows=("trajectories", "theta", "weights", "thetas", "samples", "accepted", "sums", "policies"),
    )

    def __post_init__(self) -> None:
        self._begin()
        owner, priors = "MultitaskBIRL", self.priors
        if not isinstance(priors, (tuple, list)) or not priors:
            raise InvalidArgument(owner, "priors", "a tuple of priors over weights", priors)
        for prior in priors:
            check_prior(owner, "priors", prior, self.n_weights)
        if len({finite(prior) is None for prior in priors}) > 1:
            raise InvalidArgument(owner, "priors", "all finite, or all densities", priors)
        if self.model == "policy" and finite(priors[0]) is None:
            hint = "Draw a list of rewards from the prior: FinitePrior(weights)."
            raise InvalidArgument(owner, "priors", 'finite for model="policy"', priors[0], hint)
        K = len(priors)
        hyper = np.full(K, 1.0 / K) if self.hyper is None else array(owner, "hyper", self.hyper, (K,), low=0.0)
        hyper = rows_sum_to_one(owner, "hyper", hyper[None], self.hyper)[0].copy()
        made: dict[str, Any] = {"priors": tuple(priors), "hyper": frozen(hyper), "theta": int(hyper.argmax())}
        made |= {name: float(getattr(self, name)) for name in ("optimality", "alpha", "step")}
        made |= {"weights": frozen(np.zeros((0, self.n_weights))), **self._no_draws(0)}
        for name, x in made.items():
            object.__setattr__(self, name, x)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        self._check_trajectories()
        M, d, n = len(self.trajectories), self.n_weights, len(self.thetas)
        shapes = {"weights": (min(M, len(self.weights)), d), "samples": (n, M, d), "thetas": (n,), "accepted": (2,)}
        for name, shape in (shapes | {"sums": (M + 1, self._n_listed)}).items():
            if getattr(self, name).shape != shape:
                raise InvalidArgument("MultitaskBIRL", name, f"an array for {M} tasks", getattr(self, name))
        integer("MultitaskBIRL", "theta", self.theta, 0, len(self.priors) - 1)
        if ((self.thetas < 0) | (self.thetas >= len(self.priors))).any():
            raise InvalidArgument("MultitaskBIRL", "thetas", f"numbers of {len(self.priors)} priors", self.thetas)
        integer("MultitaskBIRL", "policies", self.policies, 0)

    @property
    def _n_listed(self) -> int:
        return sum(len(one.weights) for prior in self.priors if (one := finite(prior)) is not None)

    def _no_draws(self, M: int) -> dict[str, Any]:
        none = {"thetas": np.zeros(0, np.int64), "samples": np.zeros((0, M, self.n_weights))}
        none |= {"accepted": np.zeros(2, np.int64), "sums": np.full((M + 1, self._n_listed), -np.inf)}
        return {name: frozen(x) for name, x in none.items()} | {"policies": 0}

    def _after(self, more: int) -> dict[str, Any]:
        return self._no_draws(self.n_trajectories + more)

    # The chain -------------------------------------------------------------------------------------------------------

    def refresh(self, rng: Generator, sweeps: int = 1) -> MultitaskBIRL:
        """The belief after further sweeps. An exact posterior needs none and stays as it is."""
        generator("MultitaskBIRL.refresh", rng)
        n = integer("MultitaskBIRL.refresh", "sweeps", sweeps, 1)
        if self.model == "policy":
            more = log_sums(self.rewards, self._stacked, self.taken, self.alpha, self.optimality, n, rng)
            return unchecked(self, sums=frozen(np.logaddexp(self.sums, more)), policies=self.policies + n)
        return self if finite(self.priors[0]) else self._walked(n, rng)

    def _walked(self, n: int, rng: Generator) -> MultitaskBIRL:
        """Metropolis within Gibbs, for priors with densities."""
        M, d, theta = self.n_trajectories, self.n_weights, self.theta
        w = [*self.weights, *(self.priors[theta].draw(d, rng) for _ in range(M - len(self.weights)))]
        now, accepted = [fit(self, x) for x in w], np.array(self.accepted)
        thetas, samples = np.zeros(n, np.int64), np.zeros((n, M, d))
        for t in range(n):
            for m in range(M):
                other = fit(self, self.priors[theta].draw(d, rng))
                if np.log(rng.random()) < other.log_l[m] - now[m].log_l[m]:
                    now[m] = other
                target = Target(self, self.priors[theta], self.taken[m], now[m])
                accepted += (target.walk(self.step, self.moves, rng), self.moves)
                now[m] = target.now
            p = normalised(self._log_hyper + [sum(q.log_density(x.weights) for x in now) for q in self.priors])
            theta = chosen(p, rng)
            thetas[t], samples[t] = theta, np.reshape([x.weights for x in now], (M, d))
        made: dict[str, Any] = {"thetas": np.append(self.thetas, thetas), "accepted": accepted}
        made |= {"samples": np.concatenate([self.samples, samples]), "weights": samples[-1].copy()}
        new = unchecked(self, theta=theta, **{name: frozen(x) for name, x in made.items()})
        if len(new.thetas) >= ENOUGH:
            warn_if_poor("MultitaskBIRL.refresh", new.diagnostics())
        return new

    @property
    def _log_hyper(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.asarray(self.hyper)))

    # Exact, with finite priors ---------------------------------------------------------------------------------------

    @property
    def _listed(self) -> list[FinitePrior]:
        return [one for prior in self.priors if (one := finite(prior)) is not None]

    @cached_property
    def _stacked(self) -> FinitePrior:
        """The rewards of all priors, one list after the other."""
        return FinitePrior(np.concatenate([one.weights for one in self._listed]))

    @cached_property
    def _log_policies(self) -> Floats:
        return log_policies(self.rewards, self._stacked, self.rationality)

    def _log_l(self) -> Floats:
        """Log likelihood of each task under each listed reward, (M, rewards)."""
        if self.model == "reward":
            return np.asarray(self.taken @ self._log_policies.T)
        if not self.policies:
            expected = "a belief with drawn policies: call refresh(rng, sweeps) after the last demonstration"
            raise InvalidArgument("MultitaskBIRL", "self", expected, "none")
        return np.asarray(self._log_evidence_of_policies[:, None] + self.sums[:-1] - self.sums[-1])

    @property
    def _log_evidence_of_policies(self) -> Floats:
        """Log probability of each task's demonstrations if policies had their Dirichlet prior, (M,)."""
        n = self.taken.reshape(-1, self.n_states, self.n_actions)
        a, total = self.alpha, self.alpha * self.n_actions
        rows = (gammaln(n + a) - gammaln(a)).sum(axis=2) + gammaln(total) - gammaln(total + n.sum(axis=2))
        return np.asarray(rows.sum(axis=1))

    @cached_property
    def _tables(self) -> tuple[Floats, ...]:
        """log priors[theta](w) L_m(w) for each theta, each (M, rewards of the prior)."""
        self._need_finite()
        ends = np.cumsum([len(one.weights) for one in self._listed])[:-1]
        parts = np.split(self._log_l(), ends, axis=1)
        with np.errstate(divide="ignore"):
            logs = [np.log(np.asarray(one.probabilities)) for one in self._listed]
        return tuple(part + log_p for part, log_p in zip(parts, logs, strict=True))

    def _need_finite(self) -> None:
        if not finite(self.priors[0]):
            raise InvalidArgument("MultitaskBIRL", "priors", "finite, with which sums are exact", self.priors[0])

    @property
    def unsupported(self) -> dict[str, str]:
        """Members that need finite priors."""
        return {} if finite(self.priors[0]) else {"log_evidence": "Give it finite priors."}

    def _joint(self) -> Floats:
        """log of hyper(theta) times the evidence of all tasks given theta, (priors,)."""
        return np.asarray(self._log_hyper + [np.logaddexp.reduce(x, axis=1).sum() for x in self._tables])

    def log_evidence(self) -> float:
        """Log probability of the demonstrated actions of all tasks, for finite priors."""
        return float(np.logaddexp.reduce(self._joint()))

    # The posterior ---------------------------------------------------------------------------------------------------

    def hyper_posterior(self) -> Floats:
        """The probability of each prior, (priors,)."""
        if finite(self.priors[0]):
            return normalised(self._joint())
        return np.bincount(drawn(self, "hyper_posterior", self.thetas), minlength=len(self.priors)) / len(self.thetas)

    def means(self) -> Floats:
        """Posterior mean of the weights of each task, (M, d)."""
        if not finite(self.priors[0]):
            return np.asarray(drawn(self, "means", self.samples).mean(axis=0))
        each = [normalised(x) @ one.weights for x, one in zip(self._tables, self._listed, strict=True)]
        return np.asarray(np.tensordot(self.hyper_posterior(), each, axes=1))

    def sample(self, rng: Generator) -> TaskRewards:
        """The prior and the weights of all tasks, drawn together; exact with finite priors."""
        generator("MultitaskBIRL.sample", rng)
        if not finite(self.priors[0]):
            i = int(rng.integers(len(drawn(self, "sample", self.thetas))))
            return TaskRewards(int(self.thetas[i]), self.samples[i])
        theta = chosen(self.hyper_posterior(), rng)
        places = [chosen(p, rng) for p in normalised(self._tables[theta])]
        return TaskRewards(theta, np.asarray(self._listed[theta].weights[places]))

    def diagnostics(self) -> Diagnostics:
        """How well the chain has mixed: the number of the prior, the weights, and the share of accepted steps."""
        thetas = drawn(self, "diagnostics", self.thetas)
        done, all_of_them = self.accepted.tolist()
        columns = np.column_stack([thetas, self.samples.reshape(len(thetas), -1)])
        return diagnose(columns, done / all_of_them if all_of_them else None)


def normalised(log_p: Floats) -> Floats:
    """Probabilities proportional to exp(log_p), over the last axis."""
    p = np.exp(log_p - log_p.max(axis=-1, keepdims=True))
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def chosen(p: Floats, rng: Generator) -> int:
    """Draw an index with probabilities p."""
    below = np.cumsum(p)
    return int(np.searchsorted(below, rng.random() * below[-1], side="right"))
