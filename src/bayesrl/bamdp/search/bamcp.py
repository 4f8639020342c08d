"""Bayes-adaptive Monte-Carlo planning (Guez, Silver, Dayan 2012, Algorithm 1; survey §4.5).

UCT on histories: every simulation draws a model from the belief at the root and follows it, so that values at the
root converge to the Bayes-optimal ones. (The survey says one model per step; it is one per simulation, ERRATA 5.)
Beyond the tree, rollouts follow an epsilon-greedy policy on a Q-table that is learned from the real transitions alone
(ERRATA 30).

Paper to code: Search is `plan` and the loop of `search` over simulations (kernels/search/uct_on_histories.py), Simulate
and Rollout are the two loops in it, the UCB rule is `select`, the learned rollout policy `learned`.
Deviations: outcomes are drawn from urns (`kernels/simulators/urn.py`) instead of models from the posterior. This has
the same law and costs O(1) a step, where a row of a model costs O(S). The tree is made anew at every decision, as in
the author's code, unless `reuse` keeps a part of it. The author's c is 3 in units of reward. By default the bonus is
that of Bernstein's inequality, with the standard deviation and the range of the returns simulated from the root so far
(`kernels/search/search_bounds.py: ucb_constants`), so that the unit of rewards does not matter; docs/convergence.md
compares it with numbers on all worlds. Ties are broken at random. If states cannot be listed there is no Q-table, and
rollouts are those of the simulator (`kernels/simulators/simulator.py`), as the author's are on the infinite grid.
Cost: O(simulations x depth x actions). Claims: root values approach the exact ones; the author's returns; equal in
law to a naive transcription that draws models.
"""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import step_in
from bayesrl.bamdp.search._lookahead import Exploration, check_leaf, constant_of, leaf_values
from bayesrl.capabilities import Simulates
from bayesrl.checks import Floats, frozen
from bayesrl.core import Decision, Transition
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.search.history_tree import Tree, subtree
from bayesrl.kernels.search.uct_on_histories import Budget, SearchSettings, best_action
from bayesrl.models.search_budget import SearchBudget
from bayesrl.parameters import PROBABILITY, AtLeast, declared
from bayesrl.registry import register


@runtime_checkable
class NamesOutcomes(Protocol):
    """A belief that can identify a transition among the outcomes of its simulator."""

    def code(self, datum: Transition) -> int:
        """The index of this transition's outcome in the simulator."""


class BAMCPNeeds(Simulates, NamesOutcomes, Protocol):
    """A belief for BAMCP."""


class Memory(NamedTuple):
    """The rollout policy's table, and the tree of the last search if it is to be used again."""

    Q: Floats
    tree: Tree | None


@register(
    "bamcp",
    kind="planner",
    survey="4.5",
    paper="guez12",
    example=lambda: BAMCP(simulations=50, depth=10),
    facets=Facets(
        depth="fixed d",
        actions="UCT criteria",
        successors="s' ~ Pr(s'|s,a,phi)",
        posterior=Differs(
            "sample 1 per step",
            here="sample 1 per simulation",
            why="A model is drawn at the root of every simulation. One per step would be Thompson sampling (ERRATA 5).",
        ),
        solution=Differs(
            "rollouts with fixed policy",
            here="rollouts with a learned policy",
            why="Rollouts are epsilon-greedy on a Q-table that is learned from the real transitions (ERRATA 30).",
        ),
        guarantee="Bayes-opt. in the limit",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/test_convergence.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/search/test_bamcp.py::test_root_values_approach_the_exact_ones",
        "tests/bamdp/search/test_bamcp.py::test_equal_in_law_to_a_naive_transcription",
        "tests/bamdp/search/test_bamcp.py::test_returns_of_the_authors_code",
    ),
)
@declared
class BAMCP(SearchBudget):
    """Monte-Carlo tree search on the Bayes-adaptive MDP with root sampling.

    Examples
    --------
    `info` has the root's values `q`, by which the action is chosen, and its visits.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> prior = b.DirichletMDP.flat(b.make_world("chain"))
    >>> decision = BAMCP(simulations=200, depth=30).plan(prior, 0, None, default_rng(0))
    >>> decision.action == int(decision.info["q"].argmax()), int(decision.info["visits"].sum())
    (True, 200)
    """

    exploration: Annotated[
        Exploration,
        AtLeast(0),
        'The UCB constant, c, in units of returns; "auto": Bernstein\'s bound on the returns simulated so far.',
    ] = "auto"
    rollout_epsilon: Annotated[float, PROBABILITY, "Probability of a random action in a rollout."] = 0.5
    rollout_rate: Annotated[float, PROBABILITY, "Learning rate of the rollout policy's Q-table."] = 0.2

    needs: ClassVar[tuple[type, ...]] = (BAMCPNeeds,)

    def check(self, belief: BAMCPNeeds) -> None:
        """Raise an error if the leaves need a mean model and there is none."""
        check_leaf("BAMCP", belief, self.leaf)

    def start(self) -> Memory | None:
        """No rollout policy and no tree yet."""
        return None

    def plan(
        self,
        belief: BAMCPNeeds,
        observation: Any,
        memory: Memory | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Search from the present state and belief."""
        began = perf_counter()
        S, A, s = belief.numbered_states, belief.n_actions, belief.encode(observation, "BAMCP")
        Q = frozen(np.zeros((S, A)) if memory is None else memory.Q)  # of one type, for the compiler
        if S > 0:
            Q = learned(Q, last, belief.gamma, self.rollout_rate)
        depth = 0 if belief.is_terminal(s) else self.depth  # nothing comes after the end
        action, tree, info = best_action(
            belief.simulate(self.depth),
            start=s,
            rollout_q=Q,
            leaf_values=leaf_values("BAMCP", belief, S, self.leaf),
            settings=SearchSettings(belief.gamma, constant_of(self.exploration), self.rollout_epsilon, depth),
            budget=Budget(self.simulations, self.milliseconds),
            kept=self._kept(belief, observation, memory, last),
            began=began,
            rng=rng,
        )
        return Decision(action, Memory(Q, tree if self.reuse else None), info)

    def _kept(
        self, belief: BAMCPNeeds, observation: Any, memory: Memory | None, last: Transition | None
    ) -> Tree | None:
        """The part of the last tree that can be used again; none if the episode was reset in between."""
        if not self.reuse or memory is None or memory.tree is None or last is None:
            return None
        return subtree(memory.tree, belief.code(last), last.action) if last.next_state == observation else None


# The rollout policy --------------------------------------------------------------------------------------------------


def learned(Q: Floats, last: Transition | None, gamma: float, rate: float) -> Floats:
    """One step of Q-learning on the transition just seen, on a copy."""
    if last is None:
        return Q
    S, A = Q.shape
    s, a, r, y = step_in("plan", S, A, last)
    new = Q.copy()
    new[s, a] += rate * ((r if y is None else r + gamma * Q[y].max()) - Q[s, a])
    return frozen(new)
