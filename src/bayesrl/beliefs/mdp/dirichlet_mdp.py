"""The prior of the Bayes-adaptive MDP: Dirichlet counts over outcomes (Duff 2002; survey §4.1).

Each group g of outcomes has probabilities theta_g ~ Dirichlet(alpha_g), independent across groups. Observing outcome k
of a pair (s, a) in group g adds one to alpha[g, k]. (This is the corrected hyper-belief update: the survey's l.791
counts the likelihood twice, ERRATA 2.) Groups represent flat, listed, tied and partly known models in one class:

- `flat`: each (s, a) has a group over all states, so that any state may follow.
- `structured`: the problem's own outcomes and groups with unknown probabilities (tied rows share a group).
- `known[g]`: the row alpha[g] holds probabilities instead of counts, and data do not change it.

The prior counts are stored once. The outcomes seen are a shared append-only list (`ledger.py`), so that a pure update
costs O(1), whatever the number of states. `alpha`, prior counts plus data, is computed when it is needed.
`dataclasses.replace(belief, alpha=...)` sets the prior and forgets the data. Replacing any other field keeps the
distribution: the posterior counts become the prior counts.

Deviations: none. Cost: update O(1); sample_mdp and mean_mdp O(G K). sample_mdp draws a gamma variate for each cell; if
outcomes are many and prior counts equal and small, it draws some tens of uniform variates for each row instead
(`kernels/random/stick_breaking.py`). Claims: the belief laws (martingale, calibration, purity, order-freeness,
concentration), and conjugacy against quadrature.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import betaincinv, gammaln

from bayesrl.beliefs._problems import Concentration, needed
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.mdp._incremental_mean import SMALL, MeanRows, mean_of
from bayesrl.beliefs.mdp._kept_urns import urns_of
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows, even_counts
from bayesrl.beliefs.mdp.known_rewards import KnownRewards, dirichlet_predictive, with_diagonal
from bayesrl.beliefs.mdp.ledger import Ledger
from bayesrl.capabilities import ExactRow, ExactRows
from bayesrl.checks import (
    DEEPEST,
    Bools,
    Floats,
    Ints,
    array,
    as_array,
    frozen,
    generator,
    integer,
    number,
    probability,
    rows_sum_to_one,
)
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.random.stick_breaking import dense_rows, listed_rows
from bayesrl.kernels.simulators.counts import Counts
from bayesrl.kernels.simulators.urn import Urn, empty_urns, more_urns, urns
from bayesrl.models.mdp import TabularMDP, read_problem
from bayesrl.models.outcomes import Outcomes, impossible, outcome_of
from bayesrl.parameters import DISCOUNT, AtLeast, Shape, unchecked, value
from bayesrl.problems import HasMDP, HasOutcomeCounts
from bayesrl.registry import register
from bayesrl.traits import Traits


def _example() -> DirichletMDP:
    P = [[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.0, 1.0]]]
    return DirichletMDP.flat(TabularMDP.from_dense(P, [[0.0, 1.0], [0.5, 0.0]], gamma=0.9), concentration=0.7)


def flat(problem: object, concentration: Concentration = 1.0) -> DirichletMDP:
    """One Dirichlet for each (s, a) over all states."""
    return DirichletMDP.flat(needed("flat", problem, HasMDP), concentration)


def structured(problem: object, concentration: Concentration = 1.0) -> DirichletMDP:
    """The problem's own outcomes and groups, with unknown probabilities."""
    return DirichletMDP.structured(needed("structured", problem, HasMDP), concentration)


def accurate(problem: object) -> DirichletMDP:
    """The counts that the worlds of a family are drawn from."""
    family = needed("accurate", problem, HasOutcomeCounts)
    return DirichletMDP(family.outcomes, family.alpha, family.gamma)


def inaccurate(problem: object) -> DirichletMDP:
    """A count of 1 for every state, in a family that draws worlds from other counts."""
    return DirichletMDP.flat(needed("inaccurate", problem, HasOutcomeCounts))


@register(
    "dirichlet-mdp",
    kind="belief",
    survey="4.1",
    paper="duff02",
    example=_example,
    prior_for={"flat": flat, "structured": structured, "accurate": accurate, "inaccurate": inaccurate},
    evidence=(
        "tests/beliefs/mdp/test_dirichlet.py::test_posterior_matches_quadrature",
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/bamdp/offline/test_exact.py::test_exact_equals_brute_force",
    ),
)
@value
class DirichletMDP(KnownRewards):
    """Dirichlet counts over the outcomes of a finite MDP: flat, listed, tied or partly known.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> prior = DirichletMDP.flat(world, concentration=0.2)  # any state may follow any pair
    >>> belief = prior.update(b.Transition(0, 1, 2.0, 0))
    >>> belief.predictive_row(0, 1).round(2).tolist()
    [0.6, 0.1, 0.1, 0.1, 0.1]
    >>> DirichletMDP.structured(world).outcomes  # only the world's own successors
    Outcomes(states=5, actions=2, outcomes=2, groups=10)
    """

    outcomes: Annotated[Outcomes, "The possible outcomes and their groups."]
    alpha: Annotated[
        Floats, AtLeast(0), Shape("(G, K)"),
        "Dirichlet counts phi, zero on padding; probabilities in the rows of known groups.",
    ]  # fmt: skip
    gamma: Annotated[float, DISCOUNT, "Discount."]
    known: Annotated[Bools, Shape("(G,)"), "Which groups are known; None if no group is."]

    even: Floats | None = field(init=False, repr=False, compare=False)
    """The prior count of each outcome of a group, (G,), if outcomes are many and counts equal and small; else None."""
    _prior: Floats = field(init=False, repr=False, compare=False)
    _ledger: Ledger = field(init=False, repr=False, compare=False)
    _shared: dict[str, Any] = field(init=False, repr=False, compare=False)
    """Values computed from the prior alone, shared by all its posteriors."""

    traits: ClassVar[Traits] = Traits(depends_on_data=("_alpha",))

    def __init__(self, outcomes: Outcomes, alpha: ArrayLike, gamma: float, known: ArrayLike | None = None) -> None:
        owner = "DirichletMDP"
        if not isinstance(outcomes, Outcomes):
            raise InvalidArgument(owner, "outcomes", "Outcomes", outcomes, "See flat and structured for worlds.")
        G, K = outcomes.n_groups, outcomes.n_outcomes
        prior = array(owner, "alpha", alpha, (G, K), low=0.0)
        fixed = np.zeros(G, np.bool_) if known is None else as_array(known).copy()
        if fixed.shape != (G,) or fixed.dtype != np.bool_:
            raise InvalidArgument(owner, "known", f"an array of {G} truth values", known)
        if prior[~outcomes.valid].any():
            raise InvalidArgument(owner, "alpha", "zero on padding", float(prior[~outcomes.valid].max()))
        learnt = outcomes.valid & ~fixed[:, None]
        if not prior[learnt].all():
            hint = "List only the outcomes that are possible."
            raise InvalidArgument(owner, "alpha", "greater than 0 for every outcome", 0.0, hint)
        if learnt.any():
            array(owner, "alpha", prior[learnt], low=0.0, above=True, moderate=True)
        if fixed.any():
            prior = np.array(prior)
            prior[fixed] = rows_sum_to_one(owner, "alpha (known groups)", prior[fixed], alpha)
        if (where := outcomes.ambiguous) is not None:
            hint = "Merge them, or give them different rewards."
            raise InvalidArgument(owner, "outcomes", "distinguishable by next state or reward", where, hint)
        self._begin(outcomes, frozen(prior), number(owner, "gamma", gamma, 0.0, 1.0), fixed)

    def _begin(self, outcomes: Outcomes, prior: Floats, gamma: float, known: Bools) -> None:
        """Set all fields without checks, with no data."""
        even = even_counts(prior, outcomes.valid, known)
        self.__dict__.update(outcomes=outcomes, gamma=gamma, known=frozen(known), even=even)
        self.__dict__.update(_prior=prior, _ledger=Ledger(prior.size), _shared={})

    @classmethod
    def flat(cls, problem: Any, concentration: ArrayLike = 1.0) -> DirichletMDP:
        """A Dirichlet over all states for each (s, a), with counts `concentration` and the problem's rewards."""
        outcomes, gamma, _ = read_problem("DirichletMDP", problem)
        alpha = _counts("flat", concentration, outcomes := outcomes.flat())
        if alpha.strides[0] == 0 and not outcomes.terminal.any():  # one number, stored once
            new = object.__new__(cls)
            new._begin(outcomes, alpha, gamma, np.zeros(outcomes.n_groups, np.bool_))
            return new
        return cls(outcomes, alpha, gamma)

    @classmethod
    def structured(cls, problem: Any, concentration: ArrayLike = 1.0, known: ArrayLike | None = None) -> DirichletMDP:
        """The problem's own outcomes and groups. Probabilities are unknown, except in the groups marked `known`."""
        outcomes, gamma, prob = read_problem("DirichletMDP", problem)
        alpha = _counts("structured", concentration, outcomes)
        if known is not None:
            if prob is None:
                raise InvalidArgument(
                    "DirichletMDP.structured", "problem", "a known MDP when 'known' is given", problem
                )
            fixed = np.asarray(known)
            if fixed.dtype != np.bool_ or fixed.shape not in ((), (outcomes.n_groups,)):
                expected = f"a truth value, or {outcomes.n_groups} of them"
                raise InvalidArgument("DirichletMDP.structured", "known", expected, known)
            known = np.broadcast_to(fixed, (outcomes.n_groups,))
            alpha = np.where(known[:, None], prob, alpha)
        return cls(outcomes, alpha, gamma, known)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> DirichletMDP:
        """The posterior after one transition. A transition of a known group changes nothing."""
        return self.seen_outcome(*self.outcome(datum))

    def seen_outcome(self, s: int, a: int, k: int) -> DirichletMDP:
        """The posterior after outcome k of (s, a), without checks."""
        g = self.outcomes.group.item(s, a)
        if self.known[g]:
            return self
        return unchecked(self, _ledger=self._ledger.append(g * self.outcomes.n_outcomes + k))

    def update_many(self, log: Log, rng: Generator | None = None) -> DirichletMDP:
        """The posterior after a log: transitions, a record, or columns state, action, reward, next_state."""
        cells, K = [], self.outcomes.n_outcomes
        for datum in transitions("DirichletMDP.update_many", log):
            s, a, k = self.outcome(datum)
            g = self.outcomes.group.item(s, a)
            if not self.known[g]:
                cells.append(g * K + k)
        return unchecked(self, _ledger=self._ledger.extend(np.array(cells, np.int64)))

    def outcome(self, datum: Transition, *, rewarded: bool = True) -> tuple[int, int, int]:
        """The outcome (s, a, k) of a transition. `rewarded=False` identifies it by the next state only."""
        s, a, k = outcome_of("DirichletMDP", self.outcomes, datum, rewarded)
        if self._some_known and self.alpha[self.outcomes.group.item(s, a), k] == 0.0:
            raise impossible("DirichletMDP", self.outcomes, datum, rewarded)
        return s, a, k

    @cached_property
    def _some_known(self) -> bool:
        return bool(self.known.any())

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property  # type: ignore[no-redef]
    def alpha(self) -> Floats:
        """The prior counts plus the counts of the data, (G, K)."""
        return self._alpha

    @cached_property
    def _alpha(self) -> Floats:
        if not len(self._ledger):
            return frozen(np.ascontiguousarray(self._prior))
        counts = self._ledger.counts().reshape(self._prior.shape)
        counts += self._prior
        return frozen(counts)

    @property
    def seen(self) -> int:
        """The number of transitions that the belief has learnt from."""
        return len(self._ledger)

    @property
    def entries(self) -> Ints:
        """The outcomes in the data, oldest first: g K + k for outcome k of group g."""
        return self._ledger.entries

    def counts(self) -> Floats:
        """Total count of each (s, a), including prior counts, (S, A); infinite if the group is known."""
        small = self.outcomes.n_groups * self.outcomes.n_outcomes <= SMALL
        total = np.where(self.known, np.inf, self.alpha.sum(axis=1) if small else self._mean()[1])
        return np.asarray(total[self.group])

    def predictive_row(self, state: int, action: int) -> Floats:
        """Predictive probability of each outcome of (s, a)."""
        row = self._counts_of(self.group.item(state, action))
        return np.asarray(row / row.sum())

    def chance(self, s: int, a: int, k: int) -> float:
        """Predictive probability of outcome k of (s, a)."""
        row = self._counts_of(self.group.item(s, a))
        return float(row[k] / row.sum())

    def _counts_of(self, g: int) -> Floats:
        """The row alpha[g], (K,), in time O(K)."""
        K = self.outcomes.n_outcomes
        return np.asarray(self._prior[g] + self._ledger.between(g * K, (g + 1) * K))

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities are the posterior means."""
        return self._mean()[0]

    def _mean(self) -> tuple[TabularMDP, Floats]:
        return mean_of(self._ledger, self.outcomes, self.gamma, self._mean_rows)

    def _mean_rows(self, groups: Ints | None) -> MeanRows:
        alpha = self.alpha if groups is None else np.array([self._counts_of(g) for g in groups.tolist()])
        total = alpha.sum(axis=1)
        return MeanRows(alpha / total[:, None], total)

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief."""
        generator("DirichletMDP.sample_mdp", rng)
        if self.even is None:
            prob = dirichlet_rows(self.alpha, rng)
        else:
            prob = dense_rows(np.arange(len(self.known)), self.even, self.outcomes.size, self.alpha, rng)
        prob[self.known] = self._prior[self.known]
        return TabularMDP.unchecked(self.outcomes, prob, self.gamma)

    @property
    def same_support(self) -> bool:
        """True, since a Dirichlet gives every listed outcome a positive probability."""
        return True

    @property
    def draws_short_rows(self) -> bool:
        """Whether states are many and prior counts equal and small, so that a drawn row is a short list."""
        return self.even is not None and self.outcomes.is_flat and self.gamma < 1.0

    def sample_rows(self, groups: Ints, rng: Generator) -> tuple[Ints, Ints, Floats]:
        """Draw the rows of n groups as short lists, if the belief `draws_short_rows`.

        Returns the lengths of the lists (n,), the outcomes (n, L) and their probabilities (n, L). Other outcomes have
        probability zero.
        """
        if self.even is None:
            raise InvalidArgument("DirichletMDP.sample_rows", "belief", "one that draws_short_rows", self)
        if groups.dtype.kind not in "iu" or groups.ndim != 1 or (groups.size and not self._has_groups(groups)):
            expected = f"a list of groups from 0 to {len(self.known) - 1}"
            raise InvalidArgument("DirichletMDP.sample_rows", "groups", expected, groups)
        lists: tuple[Ints, Ints, Floats] = listed_rows(groups, self.even, self.outcomes.size, self.alpha, rng)
        return lists

    def _has_groups(self, groups: Ints) -> bool:
        return bool(groups.min() >= 0 and groups.max() < len(self.known))

    def row_variance(self) -> Floats:
        """Posterior variance of each probability, (G, K); zero if it is known."""
        total = self.alpha.sum(axis=1, keepdims=True)
        p = self.alpha / total
        variance = 1.0 - p
        variance *= p
        variance /= total + 1.0
        variance[self.known] = 0.0
        return np.asarray(variance)

    def row_covariance(self) -> Floats:
        """Posterior covariance of each group's probabilities, (diag p - p p') / (alpha_0 + 1), (G, K, K)."""
        total = self.alpha.sum(axis=1, keepdims=True)
        p = self.alpha / total
        return with_diagonal(-p[:, :, None] * (p / (total + 1.0))[:, None, :], self.row_variance(), self.known)

    def row_quantile(self, p: float, state: int, action: int) -> Floats:
        """The p-quantile of the probability of each outcome of (s, a): that of a Beta, or the known probability."""
        p = probability("DirichletMDP.row_quantile", "p", p)
        g = self.group.item(state, action)
        alpha = self.alpha[g, : self.outcomes.size.item(g)]
        if self.known[g] or len(alpha) == 1:
            return np.asarray(alpha / alpha.sum())
        return np.asarray(betaincinv(alpha, alpha.sum() - alpha, p))

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in compiled simulations."""
        return self.outcome(datum)[2]

    def simulate(self, depth: int) -> Urn:
        """The belief as urns for compiled simulations of at most `depth` steps; see `kernels/simulators/urn.py`."""
        depth = integer("DirichletMDP.simulate", "depth", depth, 0, DEEPEST)

        def fill(entries: Ints, depth: int) -> Urn:
            return urns(self.outcomes.distinct_lists, *self.prior_urns(), entries, depth)

        return urns_of(self._ledger, depth, fill, more_urns)

    def prior_urns(self) -> tuple[Any, Floats]:
        """The rows of empty urns, and cumulative prior counts. They are computed once for a prior."""
        if "urns" not in self._shared:
            self._shared["urns"] = empty_urns(self._prior, self.outcomes.size, ~self.known)
        made: tuple[Any, Floats] = self._shared["urns"]
        return made

    def enumerable(self, depth: int) -> Counts:
        """The belief as counts, for a search that enumerates outcomes."""
        o, nothing = self.outcomes, np.zeros((0, 0))
        return Counts(
            o.succ, o.reward, o.group, o.terminal, o.size, np.array(self.alpha), self.alpha.sum(axis=1),
            np.where(self.known, 0.0, 1.0), np.zeros((1, 1, 1), np.int64), np.zeros(0), nothing, np.zeros(0),
            0.0, 0.0, np.zeros((o.n_groups, 3)), nothing,
        )  # fmt: skip

    def exact_rows(self) -> ExactRows:
        """The groups as rows for the exact oracle."""
        sizes = self.outcomes.size.tolist()
        rows = [
            ExactRow(self.alpha[g, :n].tolist(), not self.known[g], dirichlet_predictive) for g, n in enumerate(sizes)
        ]
        return ExactRows(rows, None, [])

    def log_evidence(self) -> float:
        """Log probability of the observed outcomes, in their order, under the prior."""
        learnt, prior, alpha = ~self.known, self._prior, self.alpha
        rows = gammaln(prior[learnt].sum(axis=1)) - gammaln(alpha[learnt].sum(axis=1))
        valid = self.outcomes.valid & learnt[:, None]
        return float(rows.sum() + (gammaln(alpha[valid]) - gammaln(prior[valid])).sum())

    def __getstate__(self) -> dict[str, Any]:
        return {name: kept for name, kept in self.__dict__.items() if name != "_alpha"} | {"_shared": {}}

    def described(self) -> dict[str, object] | None:
        """The sizes that a record stores in place of the arrays of a very large prior; None if it stores the arrays."""
        if self.outcomes.described() is None or self._prior.strides != (0, 0) or self.seen:
            return None
        prior = {"array": list(self._prior.shape), "all": float(self._prior[0, 0])}
        return {"type": "DirichletMDP", "outcomes": self.outcomes, "alpha": prior, "gamma": self.gamma}

    def __repr__(self) -> str:
        o = self.outcomes
        size = f"states={o.n_states}, actions={o.n_actions}, groups={o.n_groups}"
        return f"DirichletMDP({size}, outcomes={o.n_outcomes}, seen={self.seen}, gamma={self.gamma})"


def _counts(where: str, concentration: ArrayLike, outcomes: Outcomes) -> Floats:
    c = array(f"DirichletMDP.{where}", "concentration", concentration, low=0.0, above=True, moderate=True)
    shape = outcomes.valid.shape
    if c.ndim > 2 or any(n not in (1, m) for n, m in zip(c.shape[::-1], shape[::-1], strict=False)):
        raise InvalidArgument(f"DirichletMDP.{where}", "concentration", f"broadcastable to {shape}", c)
    if outcomes.made_flat and c.size == 1:
        return np.broadcast_to(c.reshape(()), shape)
    return np.where(outcomes.valid, np.broadcast_to(c, shape), 0.0)
