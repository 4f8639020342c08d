"""Partially observable Monte-Carlo planning (Silver and Veness 2010, Algorithm 1; after the survey, see §4.9).

UCT on histories of actions and observations: every simulation draws a hidden state from the belief at the root and
follows it, so that values at the root converge to those of the POMDP. The cost of a simulation does not depend on the
number of states. Use it for known models that are too large for point-based solvers, or where time is short.

Paper to code: Search is `plan` and the loop of `search` over simulations (kernels/search/uct_on_histories.py), Simulate
and Rollout are the two loops in it; what differs from BAMCP is the simulator (kernels/simulators/hidden_model.py): a
state is drawn at the root, and an outcome is an observation.
Deviations: the belief is the agent's own (exact or particles), not the states that simulations brought to the new
root; `reuse` keeps values and visits only. The first simulation at a node counts its first action, as in BAMCP. The
paper's c is the range of returns of a trial search. Ours is by default the range of one step's rewards; "auto" is
BAMCP's rule. A belief may say which actions are legal in a state; as in the authors' code, no others are tried, and
`info["q"]` has minus infinity for them. A simulation ends after `depth` decisions, where gamma^depth is .01 by default.
Ties are broken at random.
Cost: O(simulations x depth x (actions + log outcomes)). Claims: root values approach the exact ones; equal in law to a
naive transcription; returns of peer code.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from numpy.random import Generator

from bayesrl.bapomdp._history_search import Memory, POMCPNeeds, SearchesHistories, check_settings, decide
from bayesrl.capabilities import PrefersActions, demand
from bayesrl.core import Decision, Transition
from bayesrl.parameters import declared
from bayesrl.registry import register


@register(
    "pomcp",
    kind="planner",
    survey="4.9",
    paper="silver10",
    example=lambda: POMCP(simulations=50, depth=10),
    evidence=(
        "tests/bapomdp/test_pomcp.py::test_root_values_approach_the_exact_ones",
        "tests/bapomdp/test_pomcp.py::test_equal_in_law_to_a_naive_transcription",
    ),
)
@declared
class POMCP(SearchesHistories):
    """Monte-Carlo tree search on histories of a hidden state, which is drawn at the root.

    Examples
    --------
    Listen first. `info` has the root's values `q`, by which the action is chosen, and its visits.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.beliefs.POMDPFilter(b.make_world("tiger").pomdp)
    >>> decision = POMCP(simulations=2000, depth=20).plan(belief, -1, None, default_rng(0))
    >>> decision.action, int(decision.info["visits"].sum())
    (0, 2000)
    """

    rollout: Annotated[
        Literal["uniform", "preferred"], "Actions of a rollout: any, or those that the belief prefers in a state."
    ] = "uniform"

    needs: ClassVar[tuple[type, ...]] = (POMCPNeeds,)

    def check(self, belief: POMCPNeeds) -> None:
        """Raise an error if the belief cannot serve these settings."""
        check_settings(self, belief, self.rollout == "preferred")

    def plan(
        self,
        belief: POMCPNeeds,
        observation: Any,
        memory: Memory | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Search from the present belief. The observation is not looked at: the belief knows it."""
        preferred = None
        if self.rollout == "preferred":
            demand(self, belief)
            preferred = cast(PrefersActions, belief).preferred_actions().astype(np.float64)
        return decide(self, belief, memory, rng, last, preferred)
