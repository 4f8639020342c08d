"""A finite mixture of Dirichlet models, when one of several priors is right (Poupart et al. 2006; §4.10).

A single Dirichlet cannot express that one of a few explanations holds, for example that the floor is slippery either
everywhere or nowhere. A mixture can. Component i is a Dirichlet belief with prior weight w_i. An outcome multiplies
each weight by the component's predictive probability of the outcome, and updates every component. The posterior is
again a mixture, so the belief is exact.

Deviations: Poupart et al. write each row as a mixture. The number of components of the model then grows with the number
of rows. Here the mixture is over whole models, and the user gives its components.
Cost: an update O(N K) for N components and K outcomes of a pair; sample_mdp as one component; mean_mdp O(N G K); a
simulated step O(1). Claims: the belief laws; weights by hand; a mixture of one is its component; root values of BAMCP
against exact expectimax.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs._problems import needed
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.mdp.known_rewards import KnownRewards
from bayesrl.checks import DEEPEST, Floats, array, frozen, generator, integer, rows_sum_to_one, sequence
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.simulators.mixture_urn import MixtureUrn
from bayesrl.kernels.simulators.urn import urns
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes, impossible, outcome_of
from bayesrl.parameters import Above, unchecked, value
from bayesrl.problems import HasMDP
from bayesrl.registry import register


def _example() -> DirichletMixture:
    P = [[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.0, 1.0]]]
    world = TabularMDP.from_dense(P, [[0.0, 1.0], [0.5, 0.0]], gamma=0.9)
    sure, unsure = DirichletMDP.flat(world, [[3.0, 0.5]]), DirichletMDP.flat(world, [[0.4, 0.8]])
    return DirichletMixture((sure, unsure), np.array([0.6, 0.4]))


def prior_for(
    problem: object,
    low: Annotated[float, Above(0), "Prior count of every outcome in the first component."] = 0.1,
    high: Annotated[float, Above(0), "Prior count of every outcome in the second component."] = 10.0,
) -> DirichletMixture:
    """The problem's own outcomes, either nearly certain or nearly uniform in all rows."""
    world = needed("dirichlet-mixture", problem, HasMDP)
    return DirichletMixture((DirichletMDP.structured(world, low), DirichletMDP.structured(world, high)))


@register(
    "dirichlet-mixture",
    kind="belief",
    survey="4.10",
    paper="poupart06beetle",
    example=_example,
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/mdp/test_dirichlet_mixture.py::test_weights_by_hand",
        "tests/beliefs/mdp/test_dirichlet_mixture.py::test_bamcp_finds_the_values_of_exact_expectimax",
    ),
)
@value
class DirichletMixture(KnownRewards):
    """A finite mixture of Dirichlet beliefs about an MDP.

    Examples
    --------
    Either both actions nearly always lead to state 0, or both lead to state 1. One step shows which is right:

    >>> import bayesrl as b
    >>> from bayesrl.models.mdp import TabularMDP
    >>> mdp = TabularMDP.from_dense([[[0.5, 0.5]] * 2] * 2, [[0.0, 0.0], [1.0, 1.0]], gamma=0.9)
    >>> belief = DirichletMixture(tuple(b.DirichletMDP.flat(mdp, [row]) for row in ([9.0, 1.0], [1.0, 9.0])))
    >>> belief.update(b.Transition(0, 1, 0.0, 1)).posterior().round(2).tolist()
    [0.1, 0.9]
    """

    components: Annotated[
        tuple[DirichletMDP, ...], "N Dirichlet beliefs with the same outcomes and the same discount."
    ] = field(repr=False)
    weights: Annotated[
        ArrayLike | None, "Prior probability of each component, (N,); None if all are equally probable."
    ] = None
    log_joint: Floats = field(init=False, repr=False)
    """Log of prior weight times the likelihood of the data, (N,)."""

    def __post_init__(self) -> None:
        owner, set_ = "DirichletMixture", object.__setattr__
        parts = sequence(owner, "components", self.components, "a sequence of DirichletMDP")
        if not parts or not all(isinstance(part, DirichletMDP) for part in parts):
            raise InvalidArgument(owner, "components", "a sequence of DirichletMDP", self.components)
        first = parts[0]
        if any(part.gamma != first.gamma or part.outcomes != first.outcomes for part in parts[1:]):
            raise InvalidArgument(owner, "components", "equal in outcomes and discount", list(parts))
        N = len(parts)
        w = array(owner, "weights", np.full(N, 1.0 / N) if self.weights is None else self.weights, (N,), low=0.0)
        w = rows_sum_to_one(owner, "weights", w, self.weights)
        set_(self, "components", parts)
        set_(self, "weights", w)
        with np.errstate(divide="ignore"):
            set_(self, "log_joint", frozen(np.log(w)))

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> DirichletMixture:
        """The posterior after one transition."""
        s, a, k = outcome_of("DirichletMixture", self.outcomes, datum)
        with np.errstate(divide="ignore"):
            joint = self.log_joint + np.log([part.chance(s, a, k) for part in self.components])
        if joint.max() == -np.inf:
            raise impossible("DirichletMixture", self.outcomes, datum, True)
        return unchecked(
            self, components=tuple(part.seen_outcome(s, a, k) for part in self.components), log_joint=frozen(joint)
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> DirichletMixture:
        """The posterior after a log: transitions, a record, or columns state, action, reward, next_state."""
        new = self
        for datum in transitions("DirichletMixture.update_many", log):
            new = new.update(datum)
        return new

    def posterior(self) -> Floats:
        """Posterior probability of each component, (N,)."""
        return np.asarray(special.softmax(self.log_joint))

    def log_evidence(self) -> float:
        """Log probability of the observed outcomes, in their order, under the prior."""
        return float(special.logsumexp(self.log_joint))

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> Outcomes:  # type: ignore[override]
        """The possible outcomes and their groups."""
        return self.components[0].outcomes

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""
        return self.components[0].gamma

    @property
    def same_support(self) -> bool:
        """Whether the components have the same support. They can differ only in known rows."""
        first = self.components[0].alpha > 0.0
        return all(np.array_equal(part.alpha > 0.0, first) for part in self.components[1:])

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief: first the component, then a model of that component."""
        generator("DirichletMixture.sample_mdp", rng)
        below = np.cumsum(self.posterior())
        return self.components[int(np.searchsorted(below, rng.random() * below[-1], side="right"))].sample_mdp(rng)

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities are the posterior means."""
        return TabularMDP.unchecked(
            self.outcomes, self._weighted([p.mean_mdp().prob for p in self.components]), self.gamma
        )

    def row_variance(self) -> Floats:
        """Posterior variance of each probability, (G, K): within and between the components."""
        means, mean = [part.mean_mdp().prob for part in self.components], self.mean_mdp().prob
        within = [part.row_variance() for part in self.components]
        return self._weighted([var + (p - mean) ** 2 for var, p in zip(within, means, strict=True)])

    def counts(self) -> Floats:
        """Total count of each (s, a), (S, A): that of a Dirichlet row with the same means and the same total variance.

        For one component it is that component's count. It is infinite if all components have the same known row. A row
        with a single outcome has the average count of the components.
        """
        p, var = self.mean_mdp().prob, self.row_variance().sum(axis=1)
        spread = (p * (1.0 - p)).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            n = np.where(var > 0.0, spread / var - 1.0, np.inf)
            average = self._weighted([part.counts() for part in self.components])
        return np.where(spread[self.outcomes.group] > 0.0, n[self.outcomes.group], average)

    def _weighted(self, tables: list[Floats]) -> Floats:
        """The sum of tables, weighted by the posterior; components of weight 0 are left out."""
        parts = [w * x for w, x in zip(self.posterior(), tables, strict=True) if w > 0.0]
        return np.asarray(sum(parts[1:], start=parts[0]))

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in compiled simulations."""
        return outcome_of("DirichletMixture", self.outcomes, datum)[2]

    def simulate(self, depth: int) -> MixtureUrn:
        """The belief as urns, one set for each component, for compiled simulations (`mixture_urn.py`)."""
        depth = integer("DirichletMixture.simulate", "depth", depth, 0, DEEPEST)
        o, N = self.outcomes, len(self.components)
        rows, cdf = (np.concatenate(parts) for parts in zip(*(p.prior_urns() for p in self.components), strict=True))
        first = np.cumsum([0, *(len(part.prior_urns()[1]) for part in self.components[:-1])])
        rows["prior"] += np.repeat(first, o.n_groups).astype(rows["prior"].dtype)
        seen = [part.entries + i * o.n_groups * o.n_outcomes for i, part in enumerate(self.components)]
        weights = np.zeros((depth + 1, N))
        weights[0] = self.posterior()
        return MixtureUrn(urns(o.distinct_lists, rows, cdf, np.concatenate(seen), depth), weights, np.array([-1, 0, 0]))

    def __repr__(self) -> str:
        o, w = self.outcomes, self.posterior().round(3).tolist()
        return f"DirichletMixture(components={len(w)}, states={o.n_states}, actions={o.n_actions}, posterior={w})"
