"""Factored dynamics with unknown structure: a dynamic Bayesian network (Ross and Pineau 2008; survey §4.10).

A state is a tuple of V variables. For each action, each variable after a step depends on an unknown set of variables
before it, its parents. A set G of at most `max_parents` has prior probability proportional to edge^|G|. Each setting
of the parents has a Dirichlet over the variable's values, integrated out. Few parents mean few parameters, so that what
is learnt in one state holds in many.

Edges go from the layer before the step to the layer after it. The graph has no cycles, whatever the sets are, and the
posterior factorises over actions and variables. If the sets are few they are enumerated, and every reading is exact.
Otherwise each of `chains` graphs moves by Metropolis-Hastings on single edges.

Paper to code: the score of a family is `_families.log_family`; the sampler of its section 4 is `refresh`
(`_families.metropolis`). Planners draw models (`sample_mdp`) or simulate, with the graph drawn at the root.
Deviations: the paper's particles hold one graph for each action, and its moves add, delete and reverse edges between
all variables. Two layers leave only additions and deletions, and let every family move by itself. The prior counts of
the paper are its BDe counts; here they are `concentration` each, or BDeu's with `equivalent`. Where families are not
enumerated, `update` makes one sweep of each chain if a generator is given. Chains begin without edges.
Cost: an update O(T V) for T steps; a reading O(T log T) for each set of parents of the families it needs; a sweep
O(A V^2 T log T) for each chain; a simulated step O(V T).
Claims: parent sets, edges, predictives and evidence equal a naive enumeration; the sampler follows it, also with a cap
on parents; Geweke's joint test; the belief laws; root values of BAMCP against exact expectimax.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import special

from bayesrl.beliefs._problems import needed
from bayesrl.beliefs.dynamics._families import log_families, log_prior_total, masks_of, mean_row, metropolis
from bayesrl.beliefs.dynamics._graph_urn import (
    GraphUrn,
    all_states,
    drawn_rows,
    flat_outcomes,
    graph_urn,
    joint_rows,
    values_of,
)
from bayesrl.checks import DEEPEST, Floats, Ints, array, frozen, generator, integer, sequence
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Within, unchecked, value
from bayesrl.problems import HasMDP, name_of
from bayesrl.registry import register
from bayesrl.traits import Traits

ENUMERABLE = 1024
"""The largest number of parent sets of a variable that are enumerated."""
LISTABLE = 2**22
"""The largest number S A S of probabilities of a drawn model."""
NO_REWARDS = "Rewards are not given; FactoredDBN(..., rewards=R) takes R of shape (S, A)."
TOO_MANY = f"A model would have more than {LISTABLE} probabilities; planners that simulate do not need one."


def _example() -> FactoredDBN:
    """Two binary variables and one action: the first is copied, mostly, and the second follows it."""
    return FactoredDBN((2, 2), 1, concentration=0.7, edge=0.6, rewards=np.array([[0.0], [0.3], [0.5], [1.0]]))


def prior_for(
    problem: object,
    values: Annotated[int, AtLeast(2), "Number of values of each variable; the states are all their combinations."] = 2,
    concentration: Annotated[float, Above(0), "Prior count of every value."] = 1.0,
) -> FactoredDBN:
    """Variables with equally many values, in a problem without ends whose rewards depend on state and action alone."""
    owner, mdp = "The prior 'factored-dbn'", needed("factored-dbn", problem, HasMDP).mdp
    o, V = mdp.outcomes, round(math.log(mdp.n_states, values))
    if values**V != mdp.n_states:
        raise InvalidArgument(owner, "values", f"a number of which {mdp.n_states} (states) is a power", values)
    paid = np.where(o.valid[o.group], o.reward, o.reward[..., :1])
    if o.terminal.any() or (paid != paid[..., :1]).any():
        expected = "one without ends whose rewards depend on state and action alone"
        raise InvalidArgument(owner, "problem", expected, name_of(problem))
    return FactoredDBN((values,) * V, mdp.n_actions, concentration, rewards=paid[..., 0], gamma=mdp.gamma)


@register(
    "factored-dbn",
    kind="belief",
    survey="4.10",
    paper="ross08uai",
    example=_example,
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/dynamics/test_factored_dbn.py::test_posterior_equals_enumeration",
        "tests/beliefs/dynamics/test_factored_dbn.py::test_sampler_follows_the_enumeration",
        "tests/beliefs/dynamics/test_factored_dbn.py::test_geweke",
        "tests/beliefs/dynamics/test_factored_dbn.py::test_bamcp_finds_the_values_of_exact_expectimax",
    ),
)
@value
class FactoredDBN:
    """Dynamics of several variables, each of which depends on an unknown set of the others.

    States are tuples of values, or their numbers: the last variable changes fastest.

    Examples
    --------
    The first variable copies the second one:

    >>> import bayesrl as b
    >>> belief = FactoredDBN(sizes=(2, 2), n_actions=1)
    >>> for x, y in (((0, 1), (1, 0)), ((1, 0), (0, 0)), ((1, 1), (1, 1)), ((0, 0), (0, 1))) * 2:
    ...     belief = belief.update(b.Transition(x, 0, 0.0, y))
    >>> belief.parent_sets(0, 0)[0][0], belief.edges(0).round(2).tolist()
    ((1,), [[0.24, 0.83], [0.95, 0.83]])
    >>> [row.round(2).tolist() for row in belief.predictive((0, 1), 0)]
    [[0.2, 0.8], [0.69, 0.31]]
    """

    sizes: Annotated[tuple[int, ...], "Number of values of each of the V variables."]
    n_actions: Annotated[int, Within(1, 100_000), "Number of actions, A."]
    concentration: Annotated[float, Above(0), "Prior count of every value."] = 1.0
    equivalent: Annotated[
        float | None, Above(0), "Prior counts of a family in all (BDeu), instead of `concentration`."
    ] = None
    edge: Annotated[float, Above(0), "Prior weight of each edge, relative to none."] = 1.0
    max_parents: Annotated[int | None, AtLeast(0), "The most parents of a variable; None: no limit."] = None
    chains: Annotated[int, Within(1, 100_000), "Chains of the sampler."] = 1
    rewards: Annotated[ArrayLike | None, "Known rewards (S, A), for planners; None: no planning."] = field(
        default=None, repr=False
    )
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    log: tuple[Ints, Ints, Ints] = field(init=False, repr=False)
    """Values before each step (T, V), its action (T,), values after it (T, V)."""
    parents: Ints = field(init=False, repr=False)
    """The parents of each variable in each chain, as bit masks, (chains, A, V)."""
    log_score: float = field(init=False, repr=False)
    """Sum of the logs of the chains' mean predictive probabilities of what came."""

    traits: ClassVar[Traits] = Traits(depends_on_data=("_families", "_steps_of_actions"), grows=("log",))

    def __post_init__(self) -> None:
        owner, set_ = "FactoredDBN", object.__setattr__
        given = sequence(owner, "sizes", self.sizes, "a sequence of numbers of values")
        sizes = tuple(integer(owner, "sizes", n, 1) for n in given)
        if not 1 <= len(sizes) <= 60 or np.prod(np.array(sizes, float)) > 2.0**60:
            raise InvalidArgument(owner, "sizes", "of 1 to 60 variables with at most 2^60 states", self.sizes)
        V, S = len(sizes), int(np.prod(sizes, dtype=np.int64))
        set_(self, "sizes", sizes)
        if self.rewards is not None:
            set_(self, "rewards", array(owner, "rewards", self.rewards, (S, self.n_actions)))
        none = np.zeros((0, V), np.int64)
        set_(self, "log", (none, np.zeros(0, np.int64), none))
        set_(self, "parents", frozen(np.zeros((self.chains, self.n_actions, V), np.int64)))
        set_(self, "log_score", 0.0)

    def check_grown(self) -> None:
        """Refuse steps that do not fit, when a file is read."""
        before, actions, after = self.log
        T, V = len(actions), len(self.sizes)
        for x, shape, sizes in (
            (before, (T, V), self.sizes),
            (actions, (T,), self.n_actions),
            (after, (T, V), self.sizes),
        ):
            if x.dtype != np.int64 or x.shape != shape or ((x < 0) | (x >= np.array(sizes))).any():
                raise InvalidArgument("FactoredDBN", "log", "steps of these variables and actions", x)

    def __repr__(self) -> str:
        return f"FactoredDBN(sizes={self.sizes}, actions={self.n_actions}, seen={len(self.log[1])})"

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> FactoredDBN:
        """The posterior after one transition. If families are not enumerated, a generator also moves each chain."""
        owner = "FactoredDBN.update"
        if not isinstance(datum, Transition):
            raise InvalidArgument(owner, "datum", "a Transition", datum)
        x, y = self._values(owner, "state", datum.state), self._values(owner, "next_state", datum.next_state)
        a = integer(owner, "action", datum.action, 0, self.n_actions - 1)
        if datum.terminated:
            raise ImpossibleEvidence("FactoredDBN", "The end of the episode", "no state is terminal")
        before, actions, after = self.log
        log = (np.vstack([before, x]), np.append(actions, a), np.vstack([after, y]))
        if self.is_exact:
            return unchecked(self, log=log)
        rows = self._rows(x, a)
        score = self.log_score + float(np.log([row[v] for row, v in zip(rows, y, strict=True)]).sum())
        new = unchecked(self, log=log, log_score=score)
        return new if rng is None else new.refresh(rng)

    def refresh(self, rng: Generator, sweeps: int = 1) -> FactoredDBN:
        """The belief after further sweeps of each chain: V moves of every family."""
        generator("FactoredDBN.refresh", rng)
        moves = integer("FactoredDBN.refresh", "sweeps", sweeps, 1) * len(self.sizes)
        parents, prior = self.parents.copy(), self._prior
        for c, a, i in np.ndindex(*parents.shape):
            x, y = self._steps(a)
            old = int(parents[c, a, i])
            parents[c, a, i] = metropolis(rng, x, y, i, old, self._most, self._sizes, self.edge, prior, moves)
        return unchecked(self, parents=frozen(parents))

    # The structure ---------------------------------------------------------------------------------------------------

    @cached_property
    def is_exact(self) -> bool:
        """Whether the parent sets of a variable are enumerated."""
        V = len(self.sizes)
        return bool(sum(special.comb(V, n) for n in range(self._most + 1)) <= ENUMERABLE)

    @property
    def graphs(self) -> Ints:
        """The graph of each chain and action, [parent, child], (chains, A, V, V)."""
        V = len(self.sizes)
        return (self.parents[..., None, :] >> np.arange(V)[:, None]) & 1

    @property
    def _most(self) -> int:
        V = len(self.sizes)
        return V if self.max_parents is None else min(self.max_parents, V)

    @property
    def _sizes(self) -> Ints:
        return np.array(self.sizes)

    @property
    def _prior(self) -> Floats:
        return np.array([self.concentration, -1.0 if self.equivalent is None else self.equivalent])

    @cached_property
    def _steps_of_actions(self) -> dict[int, tuple[Ints, Ints]]:
        return {}

    def _steps(self, a: int) -> tuple[Ints, Ints]:
        """The values before and after the steps of action a."""
        if a not in self._steps_of_actions:
            x, actions, y = self.log
            self._steps_of_actions[a] = x[actions == a], y[actions == a]
        return self._steps_of_actions[a]

    @cached_property
    def _families(self) -> dict[tuple[int, int], tuple[float, Floats]]:
        return {}

    def _scores(self, a: int, i: int) -> tuple[float, Floats]:
        """log sum_G edge^|G| times its score, and the probability of each G, (N,); computed when first needed."""
        if (a, i) not in self._families:
            x, y = self._steps(a)
            masks = masks_of(len(self.sizes), self._most)
            joint = log_families(x, y, i, masks, self._sizes, self.edge, *self._prior)
            total = float(special.logsumexp(joint))
            self._families[a, i] = total, np.exp(joint - total)
        return self._families[a, i]

    def _weighted(self, a: int, i: int) -> tuple[Ints, Floats]:
        """Sets of parents of a variable and their probabilities: all of them, or those of the chains."""
        if self.is_exact:
            return masks_of(len(self.sizes), self._most), self._scores(a, i)[1]
        return self.parents[:, a, i].copy(), np.full(self.chains, 1.0 / self.chains)

    def parent_sets(self, variable: int, action: int) -> list[tuple[tuple[int, ...], float]]:
        """The sets of parents of a variable as (parents, probability), the most probable first."""
        owner, V = "FactoredDBN.parent_sets", len(self.sizes)
        i = integer(owner, "variable", variable, 0, V - 1)
        found: dict[tuple[int, ...], float] = {}
        masks, weights = self._weighted(integer(owner, "action", action, 0, self.n_actions - 1), i)
        for mask, p in zip(masks.tolist(), weights.tolist(), strict=True):
            parents = tuple(j for j in range(V) if mask >> j & 1)
            found[parents] = found.get(parents, 0.0) + p
        return sorted(found.items(), key=lambda pair: -pair[1])

    def edges(self, action: int) -> Floats:
        """Probability of each edge [parent, child], (V, V)."""
        V, a = len(self.sizes), integer("FactoredDBN.edges", "action", action, 0, self.n_actions - 1)
        families = [self._weighted(a, i) for i in range(V)]
        return np.stack([((masks >> np.arange(V)[:, None]) & 1) @ w for masks, w in families], axis=1)

    def predictive(self, state: ArrayLike, action: int) -> list[Floats]:
        """Probability of each value of each variable after an action; one row for each variable."""
        owner = "FactoredDBN.predictive"
        x = self._values(owner, "state", state)
        return self._rows(x, integer(owner, "action", action, 0, self.n_actions - 1))

    def _rows(self, x: Ints, a: int) -> list[Floats]:
        before, after = self._steps(a)
        V, sizes, prior = len(self.sizes), self._sizes, self._prior
        return [mean_row(before, after, i, *self._weighted(a, i), x, sizes, *prior) for i in range(V)]

    def log_evidence(self) -> float:
        """Log probability of the next states seen, in their order; if not enumerated, an estimate from the chains."""
        if not self.is_exact:
            return self.log_score
        families = [self._scores(a, i)[0] for a, i in np.ndindex(self.n_actions, len(self.sizes))]
        return float(sum(families) - len(families) * log_prior_total(len(self.sizes), self._most, self.edge))

    # States ----------------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """S, the number of tuples of values."""
        return int(np.prod(self.sizes, dtype=np.int64))

    @property
    def numbered_states(self) -> int:
        """S."""
        return self.n_states

    def encode(self, observation: Any, owner: str = "encode") -> int:
        """The number of a state, given as a tuple of values or as its number."""
        return int(np.ravel_multi_index(tuple(self._values(owner, "observation", observation)), self.sizes))

    def is_terminal(self, state: int) -> bool:
        """False: no state ends an episode."""
        return False

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in compiled simulations: the next state."""
        return self.encode(datum.next_state, "FactoredDBN.code")

    def _values(self, owner: str, name: str, state: Any) -> Ints:
        return values_of(owner, name, state, self.sizes)

    # Planning --------------------------------------------------------------------------------------------------------

    @property
    def unsupported(self) -> dict[str, str]:
        """Why members that need rewards, or a table of all states, are not there."""
        if self.rewards is None:
            return dict.fromkeys(("sample_mdp", "mean_mdp", "simulate", "outcomes"), NO_REWARDS)
        many = self.n_states**2 * self.n_actions > LISTABLE
        return dict.fromkeys(("sample_mdp", "mean_mdp", "outcomes"), TOO_MANY) if many else {}

    @cached_property
    def outcomes(self) -> Outcomes:
        """Flat outcomes: any state may follow any (s, a)."""
        self._need("outcomes")
        return flat_outcomes(np.asarray(self.rewards))

    @property
    def rewards_known(self) -> bool:
        """True."""
        return True

    @property
    def same_support(self) -> bool:
        """True: every next state is possible in every model."""
        return True

    def visit_groups(self) -> Ints:
        """The index of each pair, (S, A): every pair has its own counter."""
        return self.outcomes.group

    def sample_mdp(self, rng: Generator) -> TabularMDP:
        """A model drawn from the belief: parents, then a row for each setting of them."""
        self._need("sample_mdp")
        generator("FactoredDBN.sample_mdp", rng)

        def rows(a: int, i: int) -> Floats:
            masks, weights = self._weighted(a, i)
            below = np.cumsum(weights)
            n = int(np.searchsorted(below, rng.random() * below[-1], side="right"))
            return drawn_rows(*self._steps(a), i, int(masks[n]), self._sizes, self._prior, rng)

        return self._model(rows)

    def mean_mdp(self) -> TabularMDP:
        """The model whose probabilities are the posterior means: products, since families are independent."""
        self._need("mean_mdp")
        found = [[self._rows(x, a) for x in all_states(self._sizes)] for a in range(self.n_actions)]
        return self._model(lambda a, i: np.array([rows[i] for rows in found[a]]))

    def _model(self, rows: Callable[[int, int], Floats]) -> TabularMDP:
        S, A, V = self.n_states, self.n_actions, len(self.sizes)
        P = np.stack([joint_rows([rows(a, i) for i in range(V)]) for a in range(A)], axis=1)
        return TabularMDP.unchecked(self.outcomes, P.reshape(S * A, S), self.gamma)

    def _need(self, member: str) -> None:
        if member in self.unsupported:
            why = self.unsupported[member]
            raise InvalidArgument("FactoredDBN", "rewards", "given, for a table of moderate size", self.rewards, why)

    def simulate(self, depth: int) -> GraphUrn:
        """The belief as weighted parents with urns, for compiled simulations (`_graph_urn.py`)."""
        depth = integer("FactoredDBN.simulate", "depth", depth, 0, DEEPEST)
        self._need("simulate")
        families = [[self._weighted(a, i) for i in range(len(self.sizes))] for a in range(self.n_actions)]
        return graph_urn(self._sizes, np.asarray(self.rewards), self._prior, families, self.log, depth)
