"""The sparse Dirichlet: an unknown, small set of outcomes is possible (Friedman, Singer 1999; survey §4.10).

The probabilities of each group are positive on an unknown set of outcomes, the support. A support of size k has prior
weight k^-exponent, all supports of one size are equally probable, and given the support the probabilities are Dirichlet
with counts alpha. After N observations of k0 distinct outcomes, out of L:

    m_k = k^-exponent  k! / (k - k0)!  Gamma(k alpha) / Gamma(k alpha + N),      P(size k | data) = m_k / sum m,
    C = sum_k P(size k | data) (k0 alpha + N) / (k alpha + N)                    probability of an outcome seen before,
    P(next is i) = C (alpha + N_i) / (k0 alpha + N) if i was seen,  (1 - C) / (L - k0) if not.

The predictive depends only on (k0, N) and the counts, so it can be simulated by an urn: with probability 1 - C it draws
a new outcome, otherwise one of those seen. C is tabulated when it is needed.

Deviations: none. Cost: update O(1); mean and sampled models O(G K); a simulated step O(1) once C is in the table.
Claims: belief laws; predictive against enumeration of all supports; the urn's joint law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, logsumexp

from bayesrl.beliefs._problems import Concentration, needed
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.mdp._incremental_mean import MeanRows, mean_of
from bayesrl.beliefs.mdp._kept_urns import urns_of
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.beliefs.mdp.known_rewards import KnownRewards, with_diagonal
from bayesrl.beliefs.mdp.ledger import Ledger
from bayesrl.capabilities import ExactRow, ExactRows
from bayesrl.checks import DEEPEST, Floats, Ints, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.simulators.counts import DRAWS, KINDS, Counts, weigh_all
from bayesrl.kernels.simulators.sparse_urn import (
    SparseUrn,
    log_weights,
    more_sparse_urns,
    sparse_urns,
    unseen_probability,
    weight_of_all,
)
from bayesrl.models.mdp import TabularMDP, read_problem
from bayesrl.models.outcomes import Outcomes, outcome_of
from bayesrl.parameters import DISCOUNT, Above, AtLeast, unchecked, value
from bayesrl.problems import HasMDP
from bayesrl.registry import register
from bayesrl.traits import Traits

FIRST_COLUMNS = 256
"""Numbers of observations for which the table of weights has room at first."""


def _example() -> SparseDirichletMDP:
    P = np.full((3, 1, 3), 1 / 3)
    return SparseDirichletMDP.flat(TabularMDP.from_dense(P, [[0.0], [1.0], [0.5]], gamma=0.9), 0.6, 1.0)


def sparse(
    problem: object,
    concentration: Concentration = 0.2,
    size_exponent: Annotated[float, AtLeast(0), "A support of size k has prior weight k^-exponent."] = 2.0,
) -> SparseDirichletMDP:
    """For each (s, a) a Dirichlet over an unknown subset of the states."""
    return SparseDirichletMDP.flat(needed("sparse", problem, HasMDP), concentration, size_exponent)


@register(
    "sparse-dirichlet",
    kind="belief",
    survey="4.10",
    paper="friedman99",
    example=_example,
    prior_for={"sparse": sparse},
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/mdp/test_sparse_dirichlet.py::test_predictive_against_enumerated_supports",
        "tests/beliefs/mdp/test_sparse_dirichlet.py::test_urn_has_the_law_of_a_model_drawn_once",
    ),
)
@value
class SparseDirichletMDP(KnownRewards):
    """A Dirichlet on an unknown support of unknown size, for problems where few outcomes are possible.

    Examples
    --------
    After ten steps to one state the sparse belief hardly expects another state. A flat Dirichlet still does:

    >>> import bayesrl as b
    >>> world = b.make_world("grid5")
    >>> seen = [b.Transition(0, 1, 0.0, 1)] * 10
    >>> sparse, flat = SparseDirichletMDP.flat(world), b.DirichletMDP.flat(world)
    >>> [belief.update_many(seen).mean_mdp().prob[1, 1].round(2).item() for belief in (sparse, flat)]
    [0.99, 0.31]
    """

    outcomes: Annotated[Outcomes, "The possible outcomes and their groups."]
    concentration: Annotated[float, Above(0), "Count of every outcome in the support, alpha."]
    size_exponent: Annotated[float, AtLeast(0), "A support of size k has prior weight k^-exponent."]
    gamma: Annotated[float, DISCOUNT, "Discount."]
    _ledger: Ledger = field(init=False, repr=False, compare=False)
    _weights: list[Floats] = field(init=False, repr=False, compare=False)
    """The table T(k0, N) of `kernels/simulators/sparse_urn.py`; all posteriors of a prior share it."""

    traits: ClassVar[Traits] = Traits(depends_on_data=("_supports",))

    def __post_init__(self) -> None:
        owner = "SparseDirichletMDP"
        if not isinstance(self.outcomes, Outcomes):
            raise InvalidArgument(owner, "outcomes", "Outcomes", self.outcomes, "See flat for worlds.")
        if (where := self.outcomes.ambiguous) is not None:
            raise InvalidArgument(owner, "outcomes", "distinguishable by next state or reward", where)
        G, K = self.outcomes.n_groups, self.outcomes.n_outcomes
        self.__dict__.update(_ledger=Ledger(G * K), _weights=[np.full((0, 0), np.nan)])

    @classmethod
    def flat(cls, problem: Any, concentration: float = 0.2, size_exponent: float = 2.0) -> SparseDirichletMDP:
        """A sparse Dirichlet over all states for each (s, a). The defaults are those of the published grid results."""
        outcomes, gamma, _ = read_problem("SparseDirichletMDP", problem)
        return cls(outcomes.flat(), concentration, size_exponent, gamma)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> SparseDirichletMDP:
        """The posterior after one transition."""
        return self.seen_outcome(*self.outcome(datum))

    def update_many(self, log: Log, rng: Generator | None = None) -> SparseDirichletMDP:
        """The posterior after a log: transitions, a record, or columns state, action, reward, next_state."""
        where = [self.outcome(datum) for datum in transitions("SparseDirichletMDP.update_many", log)]
        cells = [int(self.outcomes.group[s, a]) * self.outcomes.n_outcomes + k for s, a, k in where]
        return unchecked(self, _ledger=self._ledger.extend(np.array(cells, np.int64)))

    def outcome(self, datum: Transition, *, rewarded: bool = True) -> tuple[int, int, int]:
        """The outcome (s, a, k) of a transition."""
        return outcome_of("SparseDirichletMDP", self.outcomes, datum, rewarded)

    def seen_outcome(self, s: int, a: int, k: int) -> SparseDirichletMDP:
        """The posterior after outcome k of (s, a)."""
        g = self.outcomes.group.item(s, a)
        return unchecked(self, _ledger=self._ledger.append(g * self.outcomes.n_outcomes + k))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseDirichletMDP):
            return NotImplemented
        mine, theirs = ((b.outcomes, b.concentration, b.size_exponent, b.gamma) for b in (self, other))
        one, two = (np.sort(b._ledger.entries) for b in (self, other))
        return mine == theirs and bool(np.array_equal(one, two))

    # The posterior over supports -------------------------------------------------------------------------------------

    @property
    def seen_counts(self) -> Floats:
        """The number of times that each outcome of each group was seen, (G, K)."""
        return self._supports.seen

    @cached_property
    def _supports(self) -> Supports:
        """The posterior over the supports of all groups."""
        return self._supports_of(None)

    def _supports_of(self, groups: Ints | None) -> Supports:
        """The posterior over the supports of these groups, or of all groups if None."""
        o, K = self.outcomes, self.outcomes.n_outcomes
        if groups is None:
            seen, size = self._ledger.counts().reshape(-1, K), o.size
        else:
            seen = np.array([self._ledger.between(g * K, (g + 1) * K) for g in groups.tolist()])
            size = o.size[groups]
        N, k0 = seen.sum(axis=1), (seen > 0).sum(axis=1)
        kinds, which = np.unique(np.stack([k0, N, size], axis=1), axis=0, return_inverse=True)
        log_m = log_weights(kinds, K, self.concentration, self.size_exponent)
        weight = np.exp(log_m - logsumexp(log_m, axis=1, keepdims=True))
        return Supports(seen, N, k0, size, weight, which.reshape(-1))

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def seen(self) -> int:
        """The number of transitions that the belief has learnt from."""
        return len(self._ledger)

    def counts(self) -> Floats:
        """Total count of each (s, a), including prior counts: N plus alpha times the expected size of the support."""
        return np.asarray(self._mean()[1][self.outcomes.group])

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities are the posterior means."""
        return self._mean()[0]

    def _mean(self) -> tuple[TabularMDP, Floats]:
        return mean_of(self._ledger, self.outcomes, self.gamma, self._mean_rows)

    def _mean_rows(self, groups: Ints | None) -> MeanRows:
        a, x = self.concentration, self._supports if groups is None else self._supports_of(groups)
        old = x.expected(lambda k, N: 1.0 / (k * a + N))[:, None] * (a + x.seen)
        new = x.expected(lambda k, N: np.maximum(k - x.k0[:, None], 0) * a / (k * a + N))
        prob = x.each(old, new)
        return MeanRows(prob / prob.sum(axis=1, keepdims=True), x.expected(lambda k, N: N + a * k))

    def row_variance(self) -> Floats:
        """Posterior variance of each probability, (G, K)."""
        a, x = self.concentration, self._supports
        both = x.expected(lambda k, N: 1.0 / ((k * a + N) * (k * a + N + 1.0)))
        old = both[:, None] * (a + x.seen) * (a + x.seen + 1.0)
        new = x.expected(
            lambda k, N: np.maximum(k - x.k0[:, None], 0) * a * (a + 1.0) / ((k * a + N) * (k * a + N + 1.0))
        )
        return np.maximum(x.each(old, new) - self.mean_mdp().prob ** 2, 0.0)

    def row_covariance(self) -> Floats:
        """Posterior covariance of each group's probabilities, (G, K, K): E[p_i p_j] over supports, less the means."""
        a, x = self.concentration, self._supports

        def both(fresh: int) -> Floats:
            """E[1 / ((k a + N) (k a + N + 1))], (G, 1, 1), over supports that have `fresh` given unseen outcomes."""
            k0, L, chance = x.k0[:, None], x.size[:, None], np.ones((1, 1))
            for i in range(fresh):  # chance that the support has them, given its size
                chance = chance * np.maximum(x.sizes - k0 - i, 0) / np.maximum(L - k0 - i, 1)
            return x.expected(lambda k, N: chance / ((k * a + N) * (k * a + N + 1.0)))[:, None, None]

        unseen = (x.seen == 0).astype(np.int64)
        fresh = unseen[:, :, None] + unseen[:, None, :]
        n, p = np.where(self.outcomes.valid, a + x.seen, 0.0), self.mean_mdp().prob
        product = n[:, :, None] * n[:, None, :] * np.choose(fresh, [both(0), both(1), both(2)])
        return with_diagonal(product - p[:, :, None] * p[:, None, :], self.row_variance())

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief: first sizes, then supports, then probabilities."""
        generator("SparseDirichletMDP.sample_mdp", rng)
        seen, _, _, _, weight, which = self._supports
        cumulative = np.cumsum(weight, axis=1)[which]
        k = 1 + (cumulative < rng.random((len(which), 1)) * cumulative[:, -1:]).sum(axis=1)
        # The support: the outcomes seen, and those k - k0 unseen ones that have the smallest random keys.
        key = np.where(seen > 0, -1.0, rng.random(seen.shape))
        key[~self.outcomes.valid] = 2.0
        rank = key.argsort(axis=1).argsort(axis=1)
        alpha = np.where(rank < k[:, None], self.concentration + seen, 0.0)
        return TabularMDP.unchecked(self.outcomes, dirichlet_rows(alpha, rng), self.gamma)

    def log_evidence(self) -> float:
        """Log probability of the observed outcomes, in their order, under the prior."""
        N_i, a = self.seen_counts, self.concentration
        k0, L = (N_i > 0).sum(axis=1), self.outcomes.size
        after = np.stack([k0, N_i.sum(axis=1), L], axis=1)
        log_m, prior = (
            log_weights(kinds, N_i.shape[1], a, self.size_exponent) for kinds in (after, after * [0.0, 0.0, 1.0])
        )
        chosen = gammaln(L - k0 + 1.0) - gammaln(L + 1.0)  # the support contains the k0 outcomes seen
        rows = logsumexp(log_m, axis=1) - logsumexp(prior, axis=1) + chosen
        return float(rows.sum() + (gammaln(a + N_i) - gammaln(a))[N_i > 0].sum())

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in compiled simulations."""
        return self.outcome(datum)[2]

    def simulate(self, depth: int) -> SparseUrn:
        """The belief as urns for compiled simulations of at most `depth` steps; see `sparse_urn.py`."""
        depth = integer("SparseDirichletMDP.simulate", "depth", depth, 0, DEEPEST)
        o, K = self.outcomes, self.outcomes.n_outcomes
        prior = np.array([self.concentration, self.size_exponent, K, 1.0 / self.concentration])

        def fill(entries: Ints, depth: int) -> SparseUrn:
            return sparse_urns(o.distinct_lists, o.size, entries, depth, prior, self._table)

        def add(urn: SparseUrn, rows: Any, end: Ints, entries: Ints, depth: int) -> SparseUrn:
            return more_sparse_urns(urn, rows, end, entries, depth, self._table)

        return urns_of(self._ledger, depth, fill, add)

    def enumerable(self, depth: int) -> Counts:
        """The belief as counts, with a table of weights large enough for a search of `depth` steps."""
        o, urn, nothing = self.outcomes, self.simulate(depth), np.zeros((0, 0))
        m = Counts(
            o.succ, o.reward, o.group, o.terminal, o.size, np.array(self.seen_counts), np.array(urn.rows["total"]),
            np.ones(o.n_groups), np.zeros((1, 1, 1), np.int64), np.zeros(0), nothing, np.zeros(0),
            float(self.concentration), float(self.size_exponent), np.zeros((o.n_groups, 3)), urn.weights,
        )  # fmt: skip
        m.support[:, KINDS], m.support[:, DRAWS] = urn.rows["kinds"], urn.rows["count"]
        weigh_all(m)
        return m

    def exact_rows(self) -> ExactRows:
        """The groups as rows for the exact oracle. Their counts exclude the prior."""
        sizes = self.outcomes.size.tolist()
        rows = [ExactRow(self.seen_counts[g, :n].tolist(), True, self._predictive) for g, n in enumerate(sizes)]
        return ExactRows(rows, None, [])

    def _predictive(self, counts: list[float]) -> list[float]:
        k0, N, L = sum(count > 0.0 for count in counts), sum(counts), len(counts)
        a = self.concentration
        T = weight_of_all(k0, N, L, a, self.size_exponent)
        new = unseen_probability(k0, N, L, a, T)
        return [(a + count) / T if count > 0.0 else new for count in counts]

    def _table(self, k0: int, N: int) -> Floats:
        """The table T(k0, N), nan where it is not computed yet. All posteriors of a prior share it; it grows."""
        k0 = min(k0, self.outcomes.n_outcomes)
        table = self._weights[0]
        if table.shape[0] <= k0 or table.shape[1] <= N:
            grown = np.full((max(k0 + 1, table.shape[0]), max(2 * N, N + 1, FIRST_COLUMNS, table.shape[1])), np.nan)
            grown[: table.shape[0], : table.shape[1]] = table
            self._weights[0] = table = grown
        return table

    def __repr__(self) -> str:
        o, prior = self.outcomes, f"concentration={self.concentration}, size_exponent={self.size_exponent}"
        return f"SparseDirichletMDP(states={o.n_states}, actions={o.n_actions}, {prior}, seen={self.seen})"

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: x for name, x in self.__dict__.items() if name not in self.traits.depends_on_data}
        return kept | {"_weights": [np.full((0, 0), np.nan)]}


class Supports(NamedTuple):
    """The posterior over the supports of n groups."""

    seen: Floats
    """Number of observations of each outcome, N_i, (n, K)."""
    N: Floats
    """Number of observations, (n,)."""
    k0: Ints
    """Number of distinct outcomes seen, (n,)."""
    size: Ints
    """Number of outcomes L, (n,)."""
    weight: Floats
    """P(size k | data) for k = 1..K, a row for each distinct (k0, N, L)."""
    which: Ints
    """The row of `weight` of each group, (n,)."""

    def expected(self, f: Callable[[Ints, Floats], Floats]) -> Floats:
        """E[f(k, N) | data] of each group, (n,), over the size k of its support."""
        return np.asarray((self.weight[self.which] * f(self.sizes, self.N[:, None])).sum(axis=1))

    @property
    def sizes(self) -> Ints:
        """The possible sizes 1..K, (K,)."""
        return np.arange(1, self.weight.shape[1] + 1)

    def each(self, old: Floats, new: Floats) -> Floats:
        """A table (n, K): `old` (n, K) for outcomes that were seen, and equal shares of `new` (n,) for the others."""
        share = new / np.maximum(self.size - self.k0, 1)
        conceivable = np.arange(self.seen.shape[1]) < self.size[:, None]
        return np.where(conceivable, np.where(self.seen > 0, old, share[:, None]), 0.0)
