"""Bayes-adaptive POMCP (Katt, Oliehoek, Amato 2017, Algorithms 1 to 3; after the survey, see §4.9).

POMCP on the Bayes-adaptive POMDP: every simulation draws a hyper-state (a hidden state and counts) from the belief at
the root, so that values at the root converge to the Bayes-optimal ones. What a simulation learns, it uses in its own
later steps, and forgets at its end. Use it where the model is unknown and the state is hidden.

Paper to code: BA-POMCP is `plan` and the loop of `search` over simulations (kernels/search/uct_on_histories.py);
Simulate and Rollout are the two loops in it; Step is `step` of kernels/simulators/hyper_urn.py.
Deviations: counts are neither copied nor is a model drawn at the root. Outcomes and observations are drawn from urns,
which has the same law as both and costs the same whatever the number of counts. A search that keeps the mean model
fixed within a simulation ("expected models") is not Bayes-optimal and is not offered. The other deviations are those of
POMCP. Cost: O(simulations x depth x (actions + log outcomes)). Claims: root values approach the exact ones; equal in
law to transcriptions that copy counts and that draw models; returns of the authors' code.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from numpy.random import Generator

from bayesrl.bapomdp._history_search import Memory, SearchesHistories, check_settings, decide
from bayesrl.capabilities import HasStates, SimulatesHidden, demand, offers
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.parameters import declared
from bayesrl.registry import register


@runtime_checkable
class ListsHyperStates(HasStates, Protocol):
    """A belief that is a finite mixture of hyper-states: a hidden state and counts of transitions and observations."""

    @property
    def n_hyper_states(self) -> int:
        """The number of hyper-states with positive weight."""

    def hyper_states(self) -> list[tuple[float, int, Floats, Floats]]:
        """The mixture as (weight, s, phi, psi): phi[s, a, s'] and psi[s', a, o] are its counts."""


class BAPOMCPNeeds(SimulatesHidden, ListsHyperStates, Protocol):
    """A belief for BA-POMCP."""


@register(
    "ba-pomcp",
    kind="planner",
    survey="4.9",
    paper="katt17",
    example=lambda: BAPOMCP(simulations=50, depth=10),
    evidence=(
        "tests/bapomdp/test_ba_pomcp.py::test_root_values_approach_the_exact_ones",
        "tests/bapomdp/test_ba_pomcp.py::test_equal_in_law_to_a_naive_transcription",
        "tests/bapomdp/test_ba_pomcp.py::test_a_fixed_mean_model_is_told_apart",
    ),
)
@declared
class BAPOMCP(SearchesHistories):
    """Monte-Carlo tree search on the Bayes-adaptive POMDP: a hyper-state is drawn at the root.

    Examples
    --------
    The accuracy of listening is unknown. `info` has the root's values `q`, by which the action is chosen.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.beliefs.ExactBAPOMDP(b.make_world("tiger").model_prior())
    >>> decision = BAPOMCP(simulations=2000, depth=20).plan(belief, -1, None, default_rng(0))
    >>> decision.action, int(decision.info["visits"].sum())
    (0, 2000)
    """

    needs: ClassVar[tuple[type, ...]] = (BAPOMCPNeeds,)

    def check(self, belief: BAPOMCPNeeds) -> None:
        """Raise an error if the belief cannot serve these settings."""
        check_settings(self, belief, False)

    def plan(
        self,
        belief: BAPOMCPNeeds,
        observation: Any,
        memory: Memory | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Search from the present belief. The observation is not looked at: the belief knows it."""
        if not offers(belief, ListsHyperStates):  # a planner may be used without an agent
            demand(self, belief)
        return decide(self, belief, memory, rng, last, None)
