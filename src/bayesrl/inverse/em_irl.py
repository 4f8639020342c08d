"""Clusters of experts by EM (Babes, Marivate, Subramanian and Littman 2011; survey §7.2).

Trajectories come from K kinds of experts. Kind k has weights w_k and a share rho_k of the trajectories. EM maximises

    sum_i ln sum_k rho_k L_i(w_k),   L_i(w) = prod over pairs (s, a) of trajectory i of softmax(c Q_w)(s, a),

where Q_w is the fixed point of the Boltzmann backup (`boltzmann.py`), which is differentiable in w. The E step sets
z_ik proportional to rho_k L_i(w_k), the M step rho_k = mean_i z_ik, and w_k climbs sum_i z_ik ln L_i(w_k). That sum
depends on the pairs through their weighted numbers only, so that its cost is that of one trajectory.

Paper to code: E step `responsibilities`, M step `MixtureOfExperts.climbed`, the likelihood's gradient
`BoltzmannBackup.gradient`.
Deviations: the gradient is that of the fixed point, not of a finite number of backups. The M step takes a few steps of
L-BFGS-B within the prior's box, so that EM is a generalised EM, whose likelihood never falls. As in the paper, the
prior's density is not used: its box bounds the weights, and starts are drawn from it. A start is then fitted to one
random trajectory for each kind: from weights of the prior alone, one kind soon explains all trajectories. Of several
starts the best is kept. A start at which the backup does not converge is dropped, unless all are. With a `FinitePrior`
the M step is the best entry of the list, exactly.
Cost: O(restarts iterations K inner) fixed points, each O(sweeps S A K), and one S by S system for each gradient.
Claims: EM's fixed point is a maximum of the likelihood; the trace never falls; gradients equal finite differences.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl._explained import explain_failures
from bayesrl.beliefs.rewards.demonstrations import Counts, log_softmax
from bayesrl.beliefs.rewards.linear_rewards import LinearRewards
from bayesrl.beliefs.rewards.reward_priors import finite
from bayesrl.capabilities import HasLinearRewards, RewardPrior, require
from bayesrl.checks import Floats, Ints, frozen, generator
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.inverse._ascent import ascend
from bayesrl.inverse.boltzmann import BoltzmannBackup
from bayesrl.kernels.ties import first_best
from bayesrl.parameters import Above, AtLeast, Shape, declared, value
from bayesrl.registry import register

OWNER = "EMIRL"


@runtime_checkable
class KeepsTrajectories(HasLinearRewards, Protocol):
    """A belief about the rewards of several experts, whose trajectories it keeps apart."""

    @property
    def trajectories(self) -> tuple[Ints, ...]:
        """The pairs (state, action) of each trajectory, each (N, 2)."""


@explain_failures
@value
class EMSolution:
    """Kinds of experts, and which trajectory is of which kind."""

    weights: Annotated[Floats, Shape("(K, d)"), "The weights of each kind."]
    mixing: Annotated[Floats, Shape("(K,)"), "The share of each kind, rho."]
    responsibilities: Annotated[Floats, Shape("(N, K)"), "Probability that a trajectory is of a kind, z."]
    log_likelihood: Annotated[float, "Log probability of the trajectories."]
    trace: Annotated[Floats, Shape("(n,)"), "Log likelihood at the start and after each iteration of the best start."]


@register(
    "em-irl",
    kind="solver",
    survey="7.2",
    paper="Babes11AL",
    example=lambda: EMIRL(clusters=2, restarts=2),
    evidence=(
        "tests/inverse/test_em_irl.py::test_a_fixed_point_is_a_maximum",
        "tests/inverse/test_em_irl.py::test_finite_prior_by_enumeration",
    ),
)
@declared
class EMIRL:
    """Cluster trajectories of several experts, and find a reward for each cluster, by EM.

    Examples
    --------
    >>> import bayesrl as b
    >>> world, rng = b.make_world("gridworld-blocks", size=4), np.random.default_rng(0)
    >>> demos = [d for g in (0, 3) for d in b.inverse.demonstrate(world, world.features[:, g], 2, 20, rng)]
    >>> belief = b.inverse.DPMBIRL(world, features=world.features, rationality=5.0).update_many(demos)
    >>> kinds = EMIRL(clusters=2, restarts=2).solve(belief, rng)
    >>> z = kinds.responsibilities.argmax(axis=1)
    >>> bool(z[0] == z[1] != z[2] == z[3])
    True
    """

    clusters: Annotated[int, AtLeast(1), "Kinds of experts, K."] = 3
    restarts: Annotated[int, AtLeast(1), "Starts of EM, drawn from the prior; the best is kept."] = 10
    iterations: Annotated[int, AtLeast(1), "The most iterations of EM from one start."] = 50
    inner: Annotated[int, AtLeast(1), "Steps of the ascent of each kind in one iteration."] = 10
    tol: Annotated[float, Above(0), "EM stops when an iteration gains less."] = 1e-4

    needs: ClassVar[tuple[type, ...]] = (KeepsTrajectories,)

    def solve(self, belief: KeepsTrajectories, rng: Generator) -> EMSolution:
        """The best kinds found."""
        require(OWNER, belief, KeepsTrajectories, hint="Use a belief that keeps trajectories apart, such as DPMBIRL.")
        rng = generator(OWNER, rng)
        if not len(belief.trajectories):
            raise InvalidArgument(OWNER, "belief", "a belief with trajectories", "none")
        backup = BoltzmannBackup(OWNER, LinearRewards.read(belief.rewards), belief.rationality)
        mixture = MixtureOfExperts(backup, belief.trajectories, belief.reward_prior, self.inner)
        found, failed = [], None
        for _ in range(self.restarts):
            try:
                found.append(self._run(mixture, rng))
            except NotConverged as error:
                failed = error
        if failed is not None and not found:
            raise failed
        return found[first_best(np.array([one.log_likelihood for one in found]))]

    def _run(self, mixture: MixtureOfExperts, rng: Generator) -> EMSolution:
        """EM from one start."""
        now = mixture.state(mixture.start(self.clusters, rng), np.full(self.clusters, 1.0 / self.clusters))
        trace = [now.total]
        for _ in range(self.iterations):
            z = responsibilities(now.joint)
            new = mixture.state(np.array([mixture.climbed(w, z[:, k]) for k, w in enumerate(now.w)]), z.mean(axis=0))
            if not new.total > now.total:  # rounding
                break
            gain, now = new.total - now.total, new
            trace.append(now.total)
            if gain <= self.tol:
                break
        z = frozen(responsibilities(now.joint))
        return EMSolution(frozen(now.w), frozen(now.rho), z, now.total, frozen(np.array(trace)))


class State(NamedTuple):
    """Weights and shares of the kinds, and what they say of the trajectories."""

    w: Floats  # (K, d)
    rho: Floats  # (K,)
    joint: Floats  # (N, K): ln rho_k + ln L_i(w_k)
    total: float  # log likelihood


def responsibilities(joint: Floats) -> Floats:
    """z, (N, K), with rows that sum to one."""
    return np.asarray(special.softmax(joint, axis=1))


class MixtureOfExperts:
    """The likelihood of trajectories of several kinds."""

    def __init__(
        self, backup: BoltzmannBackup, trajectories: tuple[Ints, ...], reward_prior: RewardPrior, inner: int
    ) -> None:
        self.backup, self.reward_prior, self.inner = backup, reward_prior, inner
        A = backup.rewards.mdp.n_actions
        self.states = np.unique(np.concatenate(trajectories)[:, 0])
        self.taken = np.zeros((len(trajectories), len(self.states), A))  # n_i(s, a) in the demonstrated states
        for n, pairs in zip(self.taken, trajectories, strict=True):
            np.add.at(n, (np.searchsorted(self.states, pairs[:, 0]), pairs[:, 1]), 1.0)
        w = None if (listed := finite(reward_prior)) is None else listed.weights
        self.listed = None if w is None else (w, np.array([self.log_likelihoods(x) for x in w]))

    def log_likelihoods(self, w: Floats) -> Floats:
        """ln L_i(w) of each trajectory, (N,)."""
        return np.asarray(np.tensordot(self.taken, log_softmax(self.backup.q(w)[self.states], self.backup.c), 2))

    def state(self, w: Floats, rho: Floats) -> State:
        """The mixture with these weights and shares."""
        with np.errstate(divide="ignore"):
            joint = np.log(rho) + np.array([self.log_likelihoods(one) for one in w]).T
        return State(w, rho, joint, float(special.logsumexp(joint, axis=1).sum()))

    def start(self, K: int, rng: Generator) -> Floats:
        """Weights (K, d) from the prior, each then fitted to a trajectory of its own (while there are enough)."""
        N, d = len(self.taken), self.backup.rewards.n_weights
        own = np.concatenate([rng.permutation(N) for _ in range(-(-K // N))])[:K]
        return np.array([self.climbed(self.reward_prior.draw(d, rng), np.eye(N)[i]) for i in own])

    def climbed(self, w: Floats, z: Floats) -> Floats:
        """Weights with a larger sum_i z_i ln L_i(w); with a finite prior, those with the largest."""
        if self.listed is not None:
            weights, log_l = self.listed
            return np.asarray(weights[first_best(log_l @ z)])
        n = Counts(self.states, np.tensordot(z, self.taken, 1))
        return ascend(
            lambda x: self.backup.log_likelihood(x, n), w, self.reward_prior.low, self.reward_prior.high, self.inner, 1
        )[0]
