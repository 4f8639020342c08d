"""DPM-BIRL: several experts in an unknown number of clusters (Choi and Kim 2012; survey §7.2).

Trajectories fall into clusters by a Chinese restaurant process, and each cluster has one reward, drawn from the prior.
So the number of experts need not be known, and trajectories of one kind teach each other. After learning, a new
trajectory is explained by the rewards found: `new_trajectory`. Use it where logs come from several people.

A sweep of the sampler has two parts.

1. For every trajectory, `inner` times: take it out of its cluster and propose a cluster for it, an old one with weight
   n (its trajectories without this one), or a new one with weight `concentration` and a reward from the prior. Accept
   with probability min(1, L(new reward) / L(old reward)), where L is the likelihood of this trajectory.
2. For every cluster, `moves` Langevin steps of its reward, w' = w + step^2 / 2 gradient + step eps, accepted by the
   exact Metropolis ratio (`langevin`).

A chain without draws and without a given `step` first makes 30 sweeps that are dropped, in which the step changes until
about .57 of the Langevin steps are accepted. Then the step is constant, so the law of the draws is exact.

With a `FinitePrior` there is no gradient, and rewards are summed out of the first part: Gibbs sampling over the list.

Paper to code: its Metropolis-Hastings algorithm is `_sweep` and `_assign`; the reward of a new trajectory, given what
was learnt, is `new_trajectory`.
Deviations: public code clips Langevin proposals to the box and computes ratios of exponentials; here a proposal outside
the box is rejected and ratios are logarithms. It reports the best draw; here posterior means over the draws. In
`new_trajectory` the draws are weighted by how well they explain the new trajectory, so that the mean is that of the
posterior given all trajectories. The paper scales the likelihood's rationality; here it is a constant. The warm-up is
ours; .574 is the share that is best for Langevin steps in many dimensions (Roberts and Rosenthal 1998).
Cost: a sweep O(trajectories x inner) likelihoods, a solve for each proposal of a new cluster, and `moves` solves and
linear systems of S equations for each cluster.
Claims: draws follow the enumerated partitions of 4 and 5 trajectories, with a list of rewards and with a density;
calibration; concentration to 0 pools and to infinity separates.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.chain import Diagnostics, diagnose, warn_if_poor
from bayesrl.beliefs.crp import draw_clustering, relabelled
from bayesrl.beliefs.rewards._clustered import ENOUGH, Clustered, drawn, gibbs
from bayesrl.beliefs.rewards._several import SeveralExperts, log_policies
from bayesrl.beliefs.rewards._target import Fit, Target, fit
from bayesrl.beliefs.rewards.demonstrations import pairs_of
from bayesrl.beliefs.rewards.reward_priors import FinitePrior, UniformPrior, check_prior, finite
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats, Ints, frozen, generator, indices, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import Above, AtLeast, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits

FIRST_STEP, WARM_UP, BEST = 0.1, 30, 0.574
"""Where a warm-up begins, its sweeps, and the share of accepted steps that is best in many dimensions."""


def _example() -> DPMBIRL:
    P = [[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]]]
    prior = FinitePrior(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.4]]), [0.5, 0.3, 0.2])
    return DPMBIRL(TabularMDP.from_dense(P, np.zeros(2), gamma=0.8), None, prior, 3.0, 0.7)


@register(
    "dpm-birl",
    kind="belief",
    survey="7.2",
    paper="Choi12NV",
    example=_example,
    taken_by="bayesrl infer-reward",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_dpm_birl.py::test_draws_follow_the_enumerated_partitions",
        "tests/beliefs/rewards/test_dpm_birl.py::test_densities_follow_the_enumerated_partitions",
    ),
)
@value
class DPMBIRL(SeveralExperts, Clustered):
    """Trajectories of several experts, in an unknown number of clusters with one reward each.

    Examples
    --------
    Two experts like the right end of a line, and one the left end:

    >>> import bayesrl as b
    >>> line = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.9)
    >>> right, left = [(0, 1)] + 9 * [(1, 1)], [(1, 0)] + 9 * [(0, 0)]
    >>> belief = DPMBIRL(line, reward_prior=b.inverse.FinitePrior([[0.0, 1.0], [1.0, 0.0]]), rationality=5.0)
    >>> belief = belief.update_many([right, left, right]).refresh(np.random.default_rng(0), sweeps=2000)
    >>> belief.means().round(1).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    >>> belief.new_trajectory([(0, 0)], np.random.default_rng(0)).round(1).tolist()
    [1.0, 0.0]
    """

    problem: Annotated[
        TabularMDP, "The known dynamics: a TabularMDP, or a world that has one. Its rewards are ignored."
    ]
    features: Annotated[ArrayLike | None, "Of states, (S, d), or pairs, (S, A, d); None: each state has a weight."] = (
        None
    )
    reward_prior: Annotated[RewardPrior, "Prior over the weights of a cluster's reward."] = UniformPrior(-1.0, 1.0)
    rationality: Annotated[float, Above(0), "How surely experts take the best action, c."] = 1.0
    concentration: Annotated[float, Above(0), "Concentration of the Chinese restaurant process over clusters."] = 1.0
    inner: Annotated[int, AtLeast(1), "Clusters proposed for each trajectory in a sweep."] = 2
    step: Annotated[float | None, Above(0), "Standard deviation of a Langevin step; None: found by a warm-up."] = None
    moves: Annotated[int, AtLeast(1), "Langevin steps of each cluster in a sweep."] = 10
    trajectories: tuple[Ints, ...] = field(init=False, repr=False)
    """The pairs (state, action) of each trajectory, each (N, 2), in the order in which they were learnt."""
    labels: Ints = field(init=False, repr=False)
    """The state of the chain: the cluster of each trajectory, (N,); -1 for one that was in no sweep yet."""
    weights: Floats = field(init=False, repr=False)
    """The state of the chain: the weights of each trajectory's cluster, (N, d); 0 for one that was in no sweep."""
    assignments: Ints = field(init=False, repr=False)
    """The drawn cluster of each trajectory, (n, N), numbered in the order of their first one."""
    samples: Floats = field(init=False, repr=False)
    """The drawn weights of each trajectory's cluster, (n, N, d)."""
    accepted: Ints = field(init=False, repr=False)
    """Accepted Langevin steps and all of them, (2,)."""
    tau: float = field(init=False, repr=False)
    """The step of the chain: `step`, or what the last warm-up found."""

    traits: ClassVar[Traits] = Traits(
        depends_on_data=("taken",),
        grows=("trajectories", "labels", "weights", "assignments", "samples", "accepted", "tau"),
    )

    def __post_init__(self) -> None:
        self._begin()
        check_prior("DPMBIRL", "reward_prior", self.reward_prior, self.n_weights)
        made: dict[str, Any] = {"concentration": float(self.concentration)}
        made |= {"step": None if self.step is None else float(self.step), "tau": float(self.step or FIRST_STEP)}
        made |= {"labels": np.zeros(0, np.int64), "weights": np.zeros((0, self.n_weights)), **self._no_draws(0)}
        for name, x in made.items():
            object.__setattr__(self, name, frozen(x) if isinstance(x, np.ndarray) else x)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        self._check_trajectories()
        N, d, n = len(self.trajectories), self.n_weights, len(self.samples)
        shapes = {"labels": (N,), "assignments": (n, N), "samples": (n, N, d), "weights": (N, d), "accepted": (2,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise InvalidArgument("DPMBIRL", name, f"an array for {N} trajectories", getattr(self, name))
        for name, x, low in (("labels", self.labels, -1), ("assignments", self.assignments, 0)):
            if ((x < low) | (x >= N)).any():
                raise InvalidArgument("DPMBIRL", name, f"clusters of {N} trajectories", x)
        number("DPMBIRL", "tau", self.tau, 0.0, above=True)

    def _no_draws(self, n: int) -> dict[str, Any]:
        none = {"assignments": np.zeros((0, n), np.int64), "samples": np.zeros((0, n, self.n_weights))}
        return {name: frozen(x) for name, x in (none | {"accepted": np.zeros(2, np.int64)}).items()}

    def _after(self, more: int) -> dict[str, Any]:
        labels = frozen(np.append(self.labels, np.full(more, -1)))
        weights = frozen(np.concatenate([self.weights, np.zeros((more, self.n_weights))]))
        return {"labels": labels, "weights": weights, **self._no_draws(len(labels))}

    # The chain -------------------------------------------------------------------------------------------------------

    def refresh(self, rng: Generator, sweeps: int = 1) -> DPMBIRL:
        """The belief after further sweeps of the chain, each of which adds a draw. A badly mixed chain warns."""
        generator("DPMBIRL.refresh", rng)
        n, N = integer("DPMBIRL.refresh", "sweeps", sweeps, 1), self.n_trajectories
        z, accepted, tau = np.zeros((n, N), np.int64), np.array(self.accepted), self.tau
        if not N:
            return unchecked(self, assignments=frozen(z), samples=frozen(np.zeros((n, 0, self.n_weights))))
        if listed := finite(self.reward_prior):
            labels, goals, u = np.array(self.labels), np.zeros((n, N), np.int64), np.asarray(listed.probabilities)
            gibbs(rng, labels, self._fits[:, u > 0.0], u[u > 0.0], self.concentration, z, goals)
            w = listed.weights[u > 0.0][goals]
        else:
            w = np.zeros((n, N, self.n_weights))
            clusters, labels = self._seated(rng)
            for t in range(0 if self.step or len(self.assignments) else WARM_UP):
                clusters, labels, taken = self._sweep(clusters, labels, tau, rng)
                tau *= np.exp((taken[0] / taken[1] - BEST) / np.sqrt(t + 1.0))
            for t in range(n):
                clusters, labels, taken = self._sweep(clusters, labels, tau, rng)
                z[t], w[t] = relabelled(labels), np.array([one.weights for one in clusters])[labels]
                accepted += taken
        made: dict[str, Any] = {"assignments": np.concatenate([self.assignments, z]), "labels": z[-1].copy()}
        made |= {"samples": np.concatenate([self.samples, w]), "weights": w[-1].copy(), "accepted": accepted}
        new = unchecked(self, tau=float(tau), **{name: frozen(x) for name, x in made.items()})
        if len(new.assignments) >= ENOUGH:
            warn_if_poor("DPMBIRL.refresh", new.diagnostics())
        return new

    def _seated(self, rng: Generator) -> tuple[list[Fit], Ints]:
        """The clusters and the labels of the chain; new trajectories are seated by the restaurant."""
        known = self.labels[self.labels >= 0]
        labels = draw_clustering(len(self.labels), self.concentration, rng, known)
        first = np.unique(labels, return_index=True)[1]
        rewards = [self.weights[i] if i < len(known) else self.reward_prior.draw(self.n_weights, rng) for i in first]
        return [fit(self, w) for w in rewards], labels

    def _sweep(self, clusters: list[Fit], labels: Ints, tau: float, rng: Generator) -> tuple[list[Fit], Ints, Ints]:
        """The clusters and labels after a sweep; accepted Langevin steps and all of them, (2,)."""
        self._assign(clusters, labels, rng)
        used, labels = np.unique(labels, return_inverse=True)
        moved, accepted = [], 0
        for j, old in enumerate(used):
            target = Target(self, self.reward_prior, self.taken[labels == j].sum(axis=0), clusters[old])
            accepted += target.walk(tau, self.moves, rng)
            moved.append(target.now)
        return moved, labels, np.array([accepted, len(moved) * self.moves])

    def _assign(self, clusters: list[Fit], labels: Ints, rng: Generator) -> None:
        """Part 1 of a sweep. Labels change in place; clusters may be added, and may become empty."""
        for i in range(len(labels)):
            for _ in range(self.inner):
                size = np.bincount(labels, minlength=len(clusters)).astype(float)
                size[labels[i]] -= 1.0  # the restaurant without this trajectory
                below = np.cumsum(np.append(size, self.concentration))
                j = int(np.searchsorted(below, rng.random() * below[-1], side="right"))
                new = clusters[j] if j < len(clusters) else fit(self, self.reward_prior.draw(self.n_weights, rng))
                if np.log(rng.random()) < new.log_l[i] - clusters[labels[i]].log_l[i]:
                    if j == len(clusters):
                        clusters.append(new)
                    labels[i] = j

    @cached_property
    def _log_policies(self) -> Floats:
        return log_policies(self.rewards, self._listed("prior"), self.rationality)

    @property
    def _fits(self) -> Floats:
        """Log likelihood of each trajectory under each reward of a `FinitePrior`, (N, n)."""
        return self.taken @ self._log_policies.T

    def _listed(self, what: str) -> FinitePrior:
        listed = finite(self.reward_prior)
        if listed is None:
            raise InvalidArgument(f"DPMBIRL.{what}", "reward_prior", "a FinitePrior", type(self.reward_prior).__name__)
        return listed

    # The posterior ---------------------------------------------------------------------------------------------------

    def means(self) -> Floats:
        """Posterior mean of the weights of each trajectory's reward, (N, d)."""
        return np.asarray(drawn(self, "means", self.samples).mean(axis=0))

    def sample(self, rng: Generator) -> Floats:
        """The weights of each trajectory's reward in one of the draws of `refresh`, (N, d)."""
        generator("DPMBIRL.sample", rng)
        draws = drawn(self, "sample", self.samples)
        return np.asarray(draws[int(rng.integers(len(draws)))])

    def cluster(self, members: ArrayLike) -> Target:
        """The posterior of the reward of a cluster with these trajectories: `log_posterior` and `gradient`."""
        i = indices("DPMBIRL.cluster", "members", members, (None,), max(self.n_trajectories, 1))
        if not len(i) or not self.n_trajectories:
            raise InvalidArgument("DPMBIRL.cluster", "members", "at least one trajectory", members)
        return Target(self, self.reward_prior, self.taken[i].sum(axis=0))

    def new_trajectory(self, demo: Any, rng: Generator) -> Floats:
        """Posterior mean of the weights of a new trajectory's reward, (d,), from the stored draws.

        It joins a cluster of n of the N trajectories with weight n L(w), and a new one with the weight `concentration`
        times L at a reward drawn from the prior, or summed over a `FinitePrior`.
        """
        owner = "DPMBIRL.new_trajectory"
        pairs, rng = pairs_of(owner, demo, self.problem), generator(owner, rng)
        draws = drawn(self, "new_trajectory", self.samples)
        A, listed = self.n_actions, finite(self.reward_prior)
        taken = np.bincount(pairs @ [A, 1], minlength=self.n_states * A).astype(np.float64)
        N, c = self.n_trajectories, self.concentration
        if listed is not None:
            fresh, prior = listed.weights, np.asarray(listed.probabilities) * len(draws)
        else:
            fresh = np.array([self.reward_prior.draw(self.n_weights, rng) for _ in range(len(draws))])
            prior = np.ones(len(draws))
        old, times = np.unique(draws.reshape(-1, self.n_weights), axis=0, return_counts=True)
        w = np.concatenate([old, fresh]) if N else fresh
        prior = np.append(times.astype(float), c * prior) if N else prior
        log_l = np.array([taken @ fit(self, one).log_p for one in w])
        weight = prior * np.exp(log_l - log_l[prior > 0.0].max())
        return np.asarray(weight @ w / weight.sum())

    def diagnostics(self) -> Diagnostics:
        """How well the chain has mixed: clusters' number and sizes, and the weights; the share of accepted steps."""
        columns = np.column_stack([self._columns("diagnostics"), self.samples.reshape(len(self.samples), -1)])
        done, all_of_them = self.accepted.tolist()
        return diagnose(columns, done / all_of_them if all_of_them else None)
