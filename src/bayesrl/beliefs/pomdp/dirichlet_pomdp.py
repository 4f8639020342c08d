"""The prior of the Bayes-adaptive POMDP: Dirichlet counts of transitions and of observations (Ross and others 2011).

The outcome of (s, a) is drawn by the group `outcomes.group[s, a]`, with counts phi[g, k]. The observation after
reaching s' by a is drawn by the group `observed.group[s', a]`, with counts psi[h, j]. Known rows hold probabilities,
and tied rows share a group, as in `dirichlet_mdp.py`. Rewards are known.

This is a distribution over models, not over hidden states. The beliefs `bapomdp-exact`, `bapomdp-bounded`,
`bapomdp-particle` and `bapomdp-most-probable` start from it, and so does MEDUSA, whose oracle shows hidden states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.beliefs.mdp.dirichlet_rows import dirichlet_rows
from bayesrl.beliefs.pomdp._count_rows import (
    OWNER,
    checked_counts,
    dirichlet_log_density,
    group_rows,
    listed,
    means,
    rewards_of,
    truths,
)
from bayesrl.checks import Bools, Floats, array, frozen, generator, integer, number, rows_sum_to_one
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.arrays import F1
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes, TabularPOMDP, mean_over_observations, smallest
from bayesrl.parameters import DISCOUNT, AtLeast, Shape, unchecked, value


@explain_failures
@value
class DirichletPOMDP:
    """Dirichlet counts over the transitions and observations of a POMDP with known rewards.

    Examples
    --------
    The tiger whose accuracy is unknown: listening keeps the state, and each of its two rows has the counts (5, 3).

    >>> import bayesrl as b
    >>> stay, listen = [[[1.0, 0.0]], [[0.0, 1.0]]], [[[5.0, 3.0]], [[3.0, 5.0]]]
    >>> known = [[True], [True]]
    >>> prior = b.beliefs.DirichletPOMDP.from_dense(stay, listen, [[-1.0], [-1.0]], 0.95, known_transitions=known)
    >>> prior.learned(0, 0, 0, 0).mean_pomdp().seen[:, 0].round(3).tolist()
    [[0.667, 0.333], [0.375, 0.625]]
    """

    outcomes: Annotated[
        Outcomes,
        "Next states and their groups, the start and the terminal states. Its rewards are replaced by `rewards`.",
    ]
    phi: Annotated[
        Floats, AtLeast(0), Shape("(G, K)"), "Counts of outcomes, zero on padding; probabilities in known groups."
    ]
    observed: Annotated[ObservationOutcomes, "What can be seen, and its groups."]
    psi: Annotated[
        Floats, AtLeast(0), Shape("(H, L)"), "Counts of observations, zero on padding; probabilities in known groups."
    ]
    rewards: Annotated[Floats, "Known rewards, in one of the shapes (S, A), (S, A, S) and (S, A, S, Z)."]
    gamma: Annotated[float, DISCOUNT, "Discount."]
    known_transitions: Annotated[ArrayLike | None, Shape("(G,)"), "Which groups of outcomes are known."] = None
    known_observations: Annotated[ArrayLike | None, Shape("(H,)"), "Which groups of observations are known."] = None

    def __post_init__(self) -> None:
        for name, kind in (("outcomes", Outcomes), ("observed", ObservationOutcomes)):
            if not isinstance(getattr(self, name), kind):
                raise InvalidArgument(OWNER, name, kind.__name__, getattr(self, name), "See from_dense for arrays.")
        S, A, Z = self.n_states, self.n_actions, self.n_observations
        if self.observed.group.shape != (S, A):
            raise InvalidArgument(OWNER, "observed", f"those of {S} states and {A} actions", self.observed.group.shape)
        set_ = object.__setattr__
        for counts, known, form in (
            ("phi", "known_transitions", self.outcomes),
            ("psi", "known_observations", self.observed),
        ):
            fixed = truths(known, getattr(self, known), form.size.shape)
            set_(self, known, fixed)
            set_(self, counts, checked_counts(counts, getattr(self, counts), form.valid, fixed))
        rewards = smallest(OWNER, self.rewards, S, A, Z)
        set_(self, "rewards", rewards)
        paid = np.zeros(self.outcomes.succ.shape) if rewards.ndim == 4 else rewards_of(self.outcomes, rewards)
        set_(self, "outcomes", self.outcomes.with_rewards(paid))

    @classmethod
    def from_dense(
        cls,
        phi: ArrayLike,
        psi: ArrayLike,
        R: ArrayLike,
        gamma: float,
        start: int | ArrayLike | None = None,
        known_transitions: ArrayLike | None = None,
        known_observations: ArrayLike | None = None,
        terminal: Sequence[int] = (),
    ) -> DirichletPOMDP:
        """Make a prior from phi[s, a, s'], psi[s', a, o] and rewards r[s, a]. What has no count is impossible.

        `known_transitions` and `known_observations`, each (S, A), mark rows that hold probabilities. `start` is a state
        or a distribution; None: every state that is not terminal has the same probability.
        """
        moves, seen = (array(OWNER, n, x, (None,) * 3, low=0.0) for n, x in (("phi", phi), ("psi", psi)))
        S, A, Z = *moves.shape[:2], seen.shape[2]
        if moves.shape != (S, A, S):
            raise InvalidArgument(OWNER, "phi", "of shape (S, A, S)", moves)
        if seen.shape != (S, A, Z):
            raise InvalidArgument(OWNER, "psi", f"of shape ({S}, {A}, Z)", seen)
        if np.ndim(terminal) != 1:
            raise InvalidArgument(OWNER, "terminal", "a sequence of states", terminal)
        ends = np.zeros(S, np.bool_)
        ends[[integer(OWNER, "terminal", s, 0, S - 1) for s in terminal]] = True
        if start is None:
            going = ends if ends.all() else ~ends
            start = going / going.sum()
        elif np.ndim(start) == 0:
            start = np.eye(S)[integer(OWNER, "start", start, 0, S - 1)]
        first = cast(F1, rows_sum_to_one(OWNER, "start", array(OWNER, "start", start, (S,), low=0.0), start))
        shape, group = (S, A), np.arange(S * A).reshape(S, A)
        (succ, n, alpha), (observation, m, beta) = listed("phi", moves), listed("psi", seen)
        outcomes = Outcomes(succ, np.zeros(succ.shape), group, n, np.zeros(1), first, ends)
        fixed = [truths(name, x, shape).ravel() for name, x in (
            ("known_transitions", known_transitions), ("known_observations", known_observations)
        )]  # fmt: skip
        return cls(
            outcomes, alpha, ObservationOutcomes(observation, group, m, Z), beta, array(OWNER, "R", R), gamma, *fixed
        )

    @classmethod
    def structured(
        cls,
        pomdp: TabularPOMDP,
        phi: ArrayLike | None = None,
        psi: ArrayLike | None = None,
        known_transitions: ArrayLike | None = None,
        known_observations: ArrayLike | None = None,
    ) -> DirichletPOMDP:
        """A prior with the outcomes, observations, groups and rewards of a POMDP.

        phi (G, K) and psi (H, L) are counts of its groups; None: all are known. Groups that are marked known keep the
        POMDP's probabilities.
        """
        if not isinstance(pomdp, TabularPOMDP):
            raise InvalidArgument(f"{OWNER}.structured", "pomdp", "a TabularPOMDP", pomdp)
        made: list[Any] = []
        for name, counts, known, truth in (
            ("phi", phi, known_transitions, pomdp.mdp.prob),
            ("psi", psi, known_observations, pomdp.observation_prob),
        ):
            label = "known_transitions" if name == "phi" else "known_observations"
            fixed = truths(label, known if counts is not None else np.ones(len(truth), np.bool_), truth.shape[:1])
            given = truth if counts is None else array(OWNER, name, counts, truth.shape, low=0.0)
            made.append((np.where(fixed[:, None], truth, given), fixed))
        (alpha, moves), (beta, seen) = made
        return cls(pomdp.mdp.outcomes, alpha, pomdp.observed, beta, pomdp.rewards, pomdp.gamma, moves, seen)

    def __repr__(self) -> str:
        S, A, Z = self.n_states, self.n_actions, self.n_observations
        unknown = f"unknown={int((~self.fixed[0]).sum())}+{int((~self.fixed[1]).sum())}"
        return f"DirichletPOMDP(states={S}, actions={A}, observations={Z}, {unknown}, gamma={self.gamma})"

    # Readings --------------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """S."""
        return self.outcomes.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.outcomes.n_actions

    @property
    def n_observations(self) -> int:
        """Z."""
        return self.observed.n_observations

    @property
    def start(self) -> F1:
        """Distribution of the first state of an episode, shape (S,)."""
        return self.outcomes.start

    @property
    def fixed(self) -> tuple[Bools, Bools]:
        """Which groups of outcomes, (G,), and of observations, (H,), are known."""
        return cast(Bools, self.known_transitions), cast(Bools, self.known_observations)

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step, with the 0 of terminal states."""
        paid = self.rewards[~self.outcomes.terminal]
        ends = [0.0] if self.outcomes.terminal.any() else []
        return min([*ends, float(paid.min(initial=np.inf))]), max([*ends, float(paid.max(initial=-np.inf))])

    # Models ----------------------------------------------------------------------------------------------------------

    def mean_pomdp(self) -> TabularPOMDP:
        """The POMDP whose probabilities are the means."""
        return self.model(means(self.phi), means(self.psi))

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """A POMDP drawn from the prior. Its start is the prior's."""
        return self.drawn(self.phi, self.psi, generator(f"{OWNER}.sample_pomdp", rng))

    def drawn(self, phi: Floats, psi: Floats, rng: Generator, start: Floats | None = None) -> TabularPOMDP:
        """A POMDP drawn from these counts, of the same groups."""
        prob, observation_prob = np.array(self.phi), np.array(self.psi)
        for rows, counts, fixed in ((prob, phi, self.fixed[0]), (observation_prob, psi, self.fixed[1])):
            if not fixed.all():
                rows[~fixed] = dirichlet_rows(counts[~fixed], rng)
        return self.model(prob, observation_prob, start)

    def model(self, prob: Floats, observation_prob: Floats, start: Floats | None = None) -> TabularPOMDP:
        """The POMDP of these probabilities, (G, K) and (H, L), unchecked."""
        outcomes = self.outcomes if start is None else unchecked(self.outcomes, start=frozen(start))
        made = {"observed": self.observed, "observation_prob": frozen(observation_prob), "rewards": self.rewards}
        pomdp = object.__new__(TabularPOMDP)
        pomdp.__dict__.update(made, mdp=TabularMDP.unchecked(outcomes, prob, self.gamma))
        if self.rewards.ndim == 4:  # the reward of an outcome is a mean over what is seen
            outcomes = outcomes.with_rewards(rewards_of(outcomes, mean_over_observations(self.rewards, pomdp.seen)))
            pomdp.__dict__.update(mdp=TabularMDP.unchecked(outcomes, prob, self.gamma))
        return pomdp

    def log_density(self, pomdp: TabularPOMDP) -> float:
        """Log density of a POMDP's rows under the Dirichlet distributions of the unknown groups.

        It is infinite at models with a probability of zero, unless the count is 1. Probabilities of known groups are
        not looked at.
        """
        if not isinstance(pomdp, TabularPOMDP) or (pomdp.n_states, pomdp.n_actions, pomdp.n_observations) != (
            self.n_states, self.n_actions, self.n_observations
        ):  # fmt: skip
            raise InvalidArgument(f"{OWNER}.log_density", "pomdp", f"a TabularPOMDP of the size of {self}", pomdp)
        P, seen = pomdp.mdp.matrix.reshape(self.n_states, self.n_actions, -1), pomdp.seen
        same = pomdp.mdp.outcomes.succ is self.outcomes.succ and pomdp.observed is self.observed
        going = ~self.outcomes.terminal
        density = 0.0
        for counts, fixed, form, target, rows, own, live in (
            (self.phi, self.fixed[0], self.outcomes, self.outcomes.succ, P, pomdp.mdp.prob, going),
            (
                self.psi,
                self.fixed[1],
                self.observed,
                self.observed.observation,
                seen,
                pomdp.observation_prob,
                np.ones_like(going),
            ),
        ):
            prob = own if same else group_rows(form.group, form.size, target, rows, live, ~fixed)
            density += float(dirichlet_log_density(counts[~fixed], prob[~fixed]))
        return density

    # Learning --------------------------------------------------------------------------------------------------------

    def learned(self, s: int, a: int, next_state: int, o: int, weight: float = 1.0) -> DirichletPOMDP:
        """The counts after a step whose states were seen, counted `weight` times.

        If several outcomes of a tied group lead to the same state, they share the weight in proportion to their counts,
        and so do outcomes of the same observation. (The exact posterior is then a mixture.)
        """
        owner = f"{OWNER}.learned"
        s, y = (integer(owner, n, x, 0, self.n_states - 1) for n, x in (("s", s), ("next_state", next_state)))
        a = integer(owner, "a", a, 0, self.n_actions - 1)
        o = integer(owner, "o", o, 0, self.n_observations - 1)
        weight = number(owner, "weight", weight, 0.0, above=True, moderate=True)
        g, h = self.outcomes.group.item(s, a), self.observed.group.item(y, a)
        moved = self.phi[g] * (self.outcomes.succ[s, a] == y)
        shown = self.psi[h] * (self.observed.observation[y, a] == o)
        for share, what in ((moved, f"({s}, {a}) -> {y}"), (shown, f"observation {o} after reaching {y} by {a}")):
            if not share.any():
                raise ImpossibleEvidence(OWNER, what, "its count is zero")
        phi, psi = np.array(self.phi), np.array(self.psi)
        if not self.fixed[0][g] and not self.outcomes.terminal[s]:
            phi[g] += weight * moved / moved.sum()
        if not self.fixed[1][h]:
            psi[h] += weight * shown / shown.sum()
        return unchecked(self, phi=frozen(phi), psi=frozen(psi))
