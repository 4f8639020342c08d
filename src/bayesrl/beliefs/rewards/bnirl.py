"""BNIRL: an expert with sub-goals (Michini and How 2012; survey §7.2).

Each observation (s_i, a_i) serves one sub-goal g: the expert takes a_i with probability proportional to
exp(c Q*_g(s_i, a_i)), where the reward is 1 in state g and 0 elsewhere. The partition of the observations follows a
Chinese restaurant process, and the goals of its clusters are uniform on the candidates. So the number of goals need not
be known, and a complicated behaviour becomes a few simple rewards. Use it to cut one long demonstration into parts. It
is no belief about one reward: it has no `sample_mdp`. The optimal policy of a part is that of its goal.

Paper to code: the likelihood is `likelihood`; the candidates are the visited states, which the paper proposes because
an expert probably visits its goals; Q*_g is solved once for each candidate. A sweep visits every observation
(`gibbs`, _clustered.py).
Deviations: the paper samples the goals of clusters; here they are summed out, which mixes faster and has the same
posterior. `goal_posterior` averages their distributions over the drawn partitions. The goal does not end the task.
Cost: one solve for each candidate; a sweep O(observations x clusters x candidates).
Claims: draws follow the enumerated partitions of 4, 5 and 6 observations; calibration; concentration to 0 pools and to
infinity separates.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.chain import Diagnostics, diagnose, warn_if_poor
from bayesrl.beliefs.rewards._clustered import ENOUGH, Clustered, drawn, gibbs
from bayesrl.beliefs.rewards.demonstrations import pairs_of
from bayesrl.beliefs.rewards.likelihood import log_softmax
from bayesrl.beliefs.rewards.linear_rewards import PRECISE, rewarded
from bayesrl.checks import Floats, Ints, frozen, generator, indices, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.reading import mdp_of
from bayesrl.models.solve import solve
from bayesrl.models.solvers.proper import must_be_proper
from bayesrl.parameters import Above, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits


class SubGoals(NamedTuple):
    """One draw of a partition and its goals."""

    assignments: Ints
    """The cluster of each observation, (N,)."""
    goals: Ints
    """The goal of each observation: a state, (N,)."""


def _example() -> BNIRL:
    P = [[[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]], [[0.7, 0.3, 0.0], [0.0, 0.3, 0.7]], [[0.0, 0.8, 0.2], [0.0, 0.1, 0.9]]]
    return BNIRL(TabularMDP.from_dense(P, np.zeros(3), gamma=0.8), 3.0, 0.7, candidates=[0, 1, 2])


@register(
    "bnirl",
    kind="belief",
    survey="7.2",
    paper="Michini12BN",
    example=_example,
    taken_by="bayesrl irl",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_bnirl.py::test_draws_follow_the_enumerated_partitions",
    ),
)
@value
class BNIRL(Clustered):
    """Sub-goals of an expert: observations in an unknown number of clusters, each with a goal state.

    Examples
    --------
    An expert walks to the right end of a line and then to the left end:

    >>> import bayesrl as b
    >>> right, left = [(s, 1) for s in range(4)], [(s, 0) for s in range(4, 0, -1)]
    >>> P = [[np.eye(5)[max(s - 1, 0)], np.eye(5)[min(s + 1, 4)]] for s in range(5)]
    >>> line = b.TabularMDP.from_dense(P, np.zeros(5), gamma=0.9)
    >>> belief = BNIRL(line, rationality=10.0, concentration=0.1, candidates=[0, 4]).update_many(right + left)
    >>> belief = belief.refresh(np.random.default_rng(0), sweeps=500)
    >>> belief.goal_posterior()[:, [0, 4]].round(1).tolist()[3:5]
    [[0.0, 1.0], [1.0, 0.0]]
    >>> round(belief.n_clusters())
    2
    """

    problem: Annotated[
        TabularMDP, "The known dynamics: a TabularMDP, or a world that has one. Its rewards are ignored."
    ]
    rationality: Annotated[float, Above(0), "How surely the expert takes the best action for its goal, c."] = 1.0
    concentration: Annotated[float, Above(0), "Concentration of the Chinese restaurant process over partitions."] = 1.0
    candidates: Annotated[ArrayLike | None, "States that may be goals, in increasing order; None: those visited."] = (
        None
    )
    demonstrations: Ints = field(init=False, repr=False)
    """Pairs (state, action), (N, 2), oldest first."""
    labels: Ints = field(init=False, repr=False)
    """The state of the chain: the cluster of each observation, (N,); -1 for one that was in no sweep yet."""
    assignments: Ints = field(init=False, repr=False)
    """The drawn cluster of each observation, (n, N), numbered in the order of their first one."""
    goals: Ints = field(init=False, repr=False)
    """The drawn goal of each observation: a state, (n, N)."""

    traits: ClassVar[Traits] = Traits(
        depends_on_data=("_log_likelihood",), grows=("demonstrations", "labels", "assignments", "goals")
    )

    def __post_init__(self) -> None:
        mdp = mdp_of(self.problem, "BNIRL")
        must_be_proper("BNIRL", "problem", mdp)
        none = frozen(np.zeros(0, np.int64))
        made: dict[str, Any] = {"problem": mdp, "rationality": float(self.rationality)}
        made |= {"concentration": float(self.concentration), "demonstrations": frozen(np.zeros((0, 2), np.int64))}
        made |= {"labels": none, "assignments": none.reshape(0, 0), "goals": none.reshape(0, 0)}
        if self.candidates is not None:
            found = np.unique(indices("BNIRL", "candidates", self.candidates, (None,), mdp.n_states))
            if not len(found) or mdp.outcomes.terminal[found].any():
                raise InvalidArgument("BNIRL", "candidates", "at least one state, none of them terminal", found)
            made["candidates"] = frozen(found.astype(np.int64))
        for name, x in made.items():
            object.__setattr__(self, name, x)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        N, S = len(self.demonstrations), self.problem.n_states
        if N:
            pairs_of("BNIRL", self.demonstrations, self.problem)
        shapes = {"labels": ((N,), -1, N), "assignments": ((-1, N), 0, N), "goals": ((-1, N), 0, S)}
        for name, (shape, low, high) in shapes.items():
            x = getattr(self, name)
            if x.ndim != len(shape) or x.shape[-1] != N or x.dtype.kind != "i" or ((x < low) | (x >= high)).any():
                raise InvalidArgument("BNIRL", name, f"numbers for {N} observations", x)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition | tuple[int, int], rng: Generator | None = None) -> BNIRL:
        """The belief after one more observation (state, action), or a transition. See `refresh`."""
        return self._with(pairs_of("BNIRL.update", [datum], self.problem))

    def update_many(self, log: Any, rng: Generator | None = None) -> BNIRL:
        """The belief after a record, transitions or pairs; or after a sequence of those, one after the other."""
        return self._with(pairs_of("BNIRL.update_many", log, self.problem))

    def _with(self, pairs: Ints) -> BNIRL:
        known = frozen(np.concatenate([self.demonstrations, pairs]))
        labels = frozen(np.append(self.labels, np.full(len(pairs), -1)))
        none = frozen(np.zeros((0, len(known)), np.int64))
        return unchecked(self, demonstrations=known, labels=labels, assignments=none, goals=none)

    def refresh(self, rng: Generator, sweeps: int = 1) -> BNIRL:
        """The belief after further sweeps of the chain, each of which adds a draw. A badly mixed chain warns."""
        generator("BNIRL.refresh", rng)
        n, N, states = integer("BNIRL.refresh", "sweeps", sweeps, 1), len(self.demonstrations), self.candidate_states()
        labels, goals = np.zeros((n, N), np.int64), np.zeros((n, N), np.int64)
        z = np.array(self.labels)
        if N:
            gibbs(rng, z, self._log_likelihood, np.ones(len(states)), self.concentration, labels, goals)
        labels = np.concatenate([self.assignments, labels]) if N else labels
        goals = np.concatenate([self.goals, states[goals]]) if N else goals
        new = unchecked(self, labels=frozen(z), assignments=frozen(labels), goals=frozen(goals))
        if len(labels) >= ENOUGH:
            warn_if_poor("BNIRL.refresh", new.diagnostics())
        return new

    # The posterior ---------------------------------------------------------------------------------------------------

    def candidate_states(self) -> Ints:
        """The states that may be goals, (G,), in increasing order."""
        return np.unique(self.demonstrations[:, 0]) if self.candidates is None else np.asarray(self.candidates)

    def likelihood(self) -> Floats:
        """Probability of each observed action given each candidate goal, (N, G)."""
        return np.exp(self._log_likelihood)

    @cached_property
    def _log_likelihood(self) -> Floats:
        s, a = self.demonstrations.T
        states = self.candidate_states()
        found = np.zeros((len(s), len(states)))
        for j, g in enumerate(states.tolist()):
            found[:, j] = self._log_policy(g)[s, a]
        return frozen(found)

    def _log_policy(self, goal: int) -> Floats:
        """Log probability of each action, (S, A), for a goal. It is computed once."""
        if goal not in self._solved:
            R = np.zeros(self.problem.group.shape)
            R[goal] = 1.0
            q = solve(rewarded(self.problem, R), PRECISE).q
            self._solved[goal] = frozen(log_softmax(q, self.rationality))
        return self._solved[goal]

    @cached_property
    def _solved(self) -> dict[int, Floats]:
        return {}

    def goal_posterior(self) -> Floats:
        """The probability that each observation serves each state as its goal, (N, S).

        The goals of clusters are summed out given each drawn partition.
        """
        z = drawn(self, "goal_posterior", self.assignments)
        found, states = np.zeros((z.shape[1], self.problem.n_states)), self.candidate_states()
        for labels, times in zip(*np.unique(z, axis=0, return_counts=True), strict=True):
            total = np.zeros((int(labels.max(initial=-1)) + 1, len(states)))
            np.add.at(total, labels, self._log_likelihood)
            p = np.exp(total - total.max(axis=1, keepdims=True, initial=-np.inf))
            found[:, states] += times * (p / p.sum(axis=1, keepdims=True))[labels]
        return found / len(z)

    def sample(self, rng: Generator) -> SubGoals:
        """One of the draws of `refresh`: a partition and the goals of its observations."""
        generator("BNIRL.sample", rng)
        i = int(rng.integers(len(drawn(self, "sample", self.assignments))))
        return SubGoals(self.assignments[i], self.goals[i])

    def diagnostics(self) -> Diagnostics:
        """How well the chain has mixed: the number of clusters, and the size of each observation's cluster."""
        return diagnose(self._columns("diagnostics"))
