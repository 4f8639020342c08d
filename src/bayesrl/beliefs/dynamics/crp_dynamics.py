"""Clustered dynamics under a Chinese restaurant process (Asmuth, Li, Littman, Nouri, Wingate 2009; survey §4.10).

States fall into an unknown number of clusters. The states of a cluster share, for each action, the distribution of the
*relative* outcome k: move as intended, slip, stay. `succ[s, a, k]` says what outcome k means in state s. Data from one
state then tell about all states of its cluster, and the clustering is learnt.

The clustering c has the prior of a Chinese restaurant process, and each cluster and action a Dirichlet, integrated out:
p(c | data) is proportional to crp^|c| prod_j (n_j - 1)! times the Dirichlet-multinomial evidence of each cluster and
action. Up to nine states all clusterings are enumerated, and every reading is exact. Beyond that, readings are averages
over `chains` of a collapsed Gibbs sampler, each with its own labels.

Paper to code: the Gibbs sampler of its section 5 is `refresh` (`_partitions.gibbs`); BOSS draws models by `sample_mdp`.
Deviations: the paper does not state whether it integrates the Dirichlet rows out; here they are. It runs the sampler
before each draw. Here `update` makes one sweep of each chain if there are more than nine states and a generator is
given, so that planners which never call `refresh` have chains that move. Chains begin with every state alone.
Cost: an update O(S A K), with a sweep O(S^2 A K) for each chain; the first reading after it O(2^S A K + S Bell(S)) if
exact, O(S^2 A K) for each chain if not; a simulated step O(S K + depth).
Claims: clusterings, co-clustering, predictives and evidence equal a naive enumeration; the sampler's clusterings follow
it; Geweke's joint test; the belief laws; root values of BAMCP against exact expectimax.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import Concentration, needed
from bayesrl.beliefs.dynamics.partitions import ENUMERABLE, Enumerated, chain_moments, enumerate_partitions, gibbs
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.beliefs.mdp.known_rewards import KnownRewards
from bayesrl.checks import DEEPEST, Floats, Ints, frozen, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.simulators.partition_urn import PartitionUrn
from bayesrl.models.mdp import TabularMDP, find_outcomes
from bayesrl.models.outcomes import Outcomes, outcome_of
from bayesrl.parameters import DISCOUNT, Above, Within, unchecked, value
from bayesrl.problems import HasMDP
from bayesrl.registry import register
from bayesrl.traits import Traits


def _example() -> CRPDynamics:
    """A ring of three states: an action moves on or stays."""
    succ = np.array([[[(s + 1) % 3, s], [(s + 2) % 3, s]] for s in range(3)])
    reward = np.where(np.arange(3)[:, None, None] == 2, [1.0, 0.0], [0.0, 0.2])
    pairs = np.arange(6).reshape(3, 2)
    ring = Outcomes(
        succ, reward + np.zeros((3, 2, 2)), pairs, np.full(6, 2), np.zeros(1), np.eye(3)[0], np.zeros(3, bool)
    )
    return CRPDynamics(ring, gamma=0.9, crp=0.8, concentration=0.6)


def prior_for(
    problem: object,
    crp: Annotated[float, Above(0), "Concentration of the Chinese restaurant process."] = 1.0,
    concentration: Concentration = 0.5,
) -> CRPDynamics:
    """The problem's own outcomes; outcome k of an action has the same probability in all states of a cluster."""
    world = needed("crp-dynamics", problem, HasMDP)
    return CRPDynamics(world.mdp.outcomes, world.mdp.gamma, crp, concentration)


@register(
    "crp-dynamics",
    kind="belief",
    survey="4.10",
    paper="asmuth09",
    example=_example,
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/dynamics/test_crp_dynamics.py::test_posterior_equals_enumeration",
        "tests/beliefs/dynamics/test_crp_dynamics.py::test_sampler_follows_the_enumeration",
        "tests/beliefs/dynamics/test_crp_dynamics.py::test_geweke",
        "tests/beliefs/dynamics/test_crp_dynamics.py::test_bamcp_finds_the_values_of_exact_expectimax",
    ),
)
@value
class CRPDynamics(KnownRewards):
    """Dynamics that states share by an unknown clustering, with a Chinese restaurant process as its prior.

    Examples
    --------
    The chain's five states slip alike. After some steps the belief puts them together:

    >>> import bayesrl as b
    >>> world = b.make_world("chain-tied")
    >>> belief = CRPDynamics(world.mdp.outcomes, gamma=0.99)
    >>> print(belief.coclustering()[0, 1].round(2))
    0.5
    >>> steps = [b.Transition(s, 0, 0.0, s + 1) for s in (0, 1, 2, 3)] * 5
    >>> print(belief.update_many(steps).coclustering()[0, 1].round(2))
    0.78
    """

    outcomes: Annotated[Outcomes, "What outcome k of (s, a) means; an action has as many outcomes in every state."]
    gamma: Annotated[float, DISCOUNT, "Discount."]
    crp: Annotated[float, Above(0), "Concentration of the Chinese restaurant process."] = 1.0
    concentration: Annotated[float, Above(0), "Prior count of every outcome."] = 0.5
    chains: Annotated[int, Within(1, 100_000), "Chains of the sampler."] = 1
    seen: Floats = field(init=False, repr=False)
    """How often outcome k of (s, a) was seen, (S, A, K)."""
    labels: Ints = field(init=False, repr=False)
    """The cluster of each state in each chain, (chains, S); numbered in the order of their first state."""
    log_score: float = field(init=False, repr=False)
    """Sum of the logs of the chains' mean predictive probabilities of what came."""

    traits: ClassVar[Traits] = Traits(depends_on_data=("_exact", "_moments"))

    def __post_init__(self) -> None:
        owner, set_ = "CRPDynamics", object.__setattr__
        o = find_outcomes(self.outcomes)
        if o is None:
            raise InvalidArgument(owner, "outcomes", "Outcomes, or a model or world that has them", self.outcomes)
        sizes, going = o.size[o.group], ~o.terminal
        if going.any() and (sizes[going] != sizes[going][0]).any():
            expected = "as many for an action in every state"
            raise InvalidArgument(owner, "outcomes", expected, sizes[going].tolist(), "Clusters share them.")
        if o.ambiguous is not None:
            hint = f"After (s, a) = {o.ambiguous} two outcomes have the same next state and reward."
            raise InvalidArgument(owner, "outcomes", "told apart by next state or reward", o, hint)
        S, A = o.group.shape
        size = np.broadcast_to(sizes[going][0] if going.any() else sizes[0], (S, A))
        pairs = np.arange(S * A).reshape(S, A)
        set_(self, "outcomes", Outcomes(o.succ, o.reward, pairs, size.ravel(), o.otherwise, o.start, o.terminal, o.end))
        set_(self, "seen", frozen(np.zeros((S, A, o.n_outcomes))))
        set_(self, "labels", frozen(np.tile(np.arange(S), (self.chains, 1))))
        set_(self, "log_score", 0.0)

    def __repr__(self) -> str:
        o = self.outcomes
        shape = f"states={o.n_states}, actions={o.n_actions}, seen={int(self.seen.sum())}"
        return f"CRPDynamics({shape}, gamma={self.gamma}, crp={self.crp}, concentration={self.concentration})"

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> CRPDynamics:
        """The posterior after one transition. Beyond nine states, a generator also moves each chain by one sweep."""
        s, a, k = outcome_of("CRPDynamics", self.outcomes, datum)
        seen = self.seen.copy()
        seen[s, a, k] += 1.0
        if self.is_exact:
            return unchecked(self, seen=frozen(seen))
        same = self.labels == self.labels[:, [s]]
        n = same @ self.seen[:, a] + self.alpha[a]
        score = self.log_score + float(np.log(np.mean(n[:, k] / n.sum(axis=1))))
        new = unchecked(self, seen=frozen(seen), log_score=score)
        return new if rng is None else new.refresh(rng)

    def update_many(self, log: Log, rng: Generator | None = None) -> CRPDynamics:
        """The posterior after a log: transitions, a record, or columns state, action, reward, next_state."""
        new = self
        for datum in transitions("CRPDynamics.update_many", log):
            new = new.update(datum, rng)
        return new

    def refresh(self, rng: Generator, sweeps: int = 1) -> CRPDynamics:
        """The belief after further sweeps of each chain."""
        generator("CRPDynamics.refresh", rng)
        sweeps = integer("CRPDynamics.refresh", "sweeps", sweeps, 1)
        labels = self.labels.copy()
        for z in labels:
            gibbs(rng, z, self.seen, self.alpha, self.crp, sweeps)
        return unchecked(self, labels=frozen(labels))

    # The clustering --------------------------------------------------------------------------------------------------

    @property
    def is_exact(self) -> bool:
        """Whether all clusterings are enumerated."""
        return self.n_states <= ENUMERABLE

    @cached_property
    def alpha(self) -> Floats:
        """Prior counts of the outcomes of each action, (A, K), zero on padding."""
        o = self.outcomes
        return frozen(np.where(np.arange(o.n_outcomes) < o.size[: o.n_actions, None], self.concentration, 0.0))

    @cached_property
    def _exact(self) -> Enumerated:
        return enumerate_partitions(self.seen, self.alpha, self.crp)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats]:
        if self.is_exact:
            return self._exact.moments(self.alpha)
        return chain_moments(self.labels, self.seen, self.alpha)

    def partitions(self) -> list[tuple[tuple[int, ...], float]]:
        """The clusterings as (labels, probability), the most probable first; beyond nine states those of the chains."""
        if self.is_exact:
            found = dict(zip(map(tuple, self._exact.labels.tolist()), self._exact.probability.tolist(), strict=True))
        else:
            found = {z: n / self.chains for z, n in Counter(map(tuple, self.labels.tolist())).items()}
        return sorted(found.items(), key=lambda pair: -pair[1])

    def coclustering(self) -> Floats:
        """Probability that two states share a cluster, (S, S)."""
        if self.is_exact:
            return self._exact.together()
        return np.asarray(np.mean(self.labels[:, :, None] == self.labels[:, None, :], axis=0))

    def predictive(self, state: int, action: int) -> Floats:
        """Probability of each outcome of (s, a), theta and the clustering integrated out, (K,)."""
        owner = "CRPDynamics.predictive"
        s = integer(owner, "state", state, 0, self.n_states - 1)
        return np.array(self._moments[0][s, integer(owner, "action", action, 0, self.n_actions - 1)])

    def log_evidence(self) -> float:
        """Log probability of the outcomes seen, in their order; beyond nine states an estimate from the chains."""
        return self._exact.log_evidence if self.is_exact else self.log_score

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def same_support(self) -> bool:
        """True: every outcome has a positive probability in every model."""
        return True

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief: a clustering, then the row of each cluster and action."""
        generator("CRPDynamics.sample_mdp", rng)
        if self.is_exact:
            below = np.cumsum(self._exact.probability)
            z = self._exact.labels[np.searchsorted(below, rng.random() * below[-1], side="right")]
        else:
            z = self.labels[int(rng.random() * self.chains)]
        clusters = np.arange(z.max() + 1)[:, None] == z
        n = np.tensordot(clusters, self.seen, axes=1) + self.alpha
        rows = dirichlet_rows(n.reshape(-1, n.shape[2]), rng).reshape(n.shape)
        return TabularMDP.unchecked(self.outcomes, rows[z].reshape(-1, n.shape[2]), self.gamma)

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities are the posterior means."""
        return TabularMDP.unchecked(self.outcomes, self._rows(self._moments[0]), self.gamma)

    def row_variance(self) -> Floats:
        """Posterior variance of each probability, (S A, K)."""
        mean, square, _ = self._moments
        return self._rows(np.maximum(square - mean**2, 0.0))

    def counts(self) -> Floats:
        """Total count of each (s, a), (S, A): that of a Dirichlet row with the same means and the same total variance.

        A row with a single outcome has the expected count of its cluster.
        """
        mean, square, total = self._moments
        spread, var = (mean * (1.0 - mean)).sum(axis=2), (square - mean**2).sum(axis=2)
        return np.asarray(np.divide(spread, var, out=total + 1.0, where=spread > 0.0) - 1.0)

    def _rows(self, table: Floats) -> Floats:
        return np.ascontiguousarray(table.reshape(-1, self.outcomes.n_outcomes))

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in compiled simulations."""
        return outcome_of("CRPDynamics", self.outcomes, datum)[2]

    def simulate(self, depth: int) -> PartitionUrn:
        """The belief as weighted clusterings with urns, for compiled simulations (`partition_urn.py`)."""
        depth = integer("CRPDynamics.simulate", "depth", depth, 0, DEEPEST)
        o = self.outcomes
        labels = self._exact.labels if self.is_exact else self.labels
        weights = np.empty((depth + 1, len(labels)))
        weights[0] = self._exact.probability if self.is_exact else 1.0 / self.chains
        path, now = np.zeros((depth + 1, 3), np.int64), np.array([-1, 0, 0])
        cdf, row = np.cumsum(weights[0]), np.zeros(o.n_outcomes)
        return PartitionUrn(o.succ, o.reward, o.terminal, labels, cdf, weights, self.seen, self.alpha, path, row, now)
