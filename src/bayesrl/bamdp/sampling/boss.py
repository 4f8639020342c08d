"""BOSS, best of sampled sets (Asmuth, Li, Littman, Nouri, Wingate 2009, Algorithm 1; survey §4.6).

The agent draws K models from the belief and merges them into a hyper-model with K |A| actions: in every state it
chooses an action and the model that the action follows. It follows the best policy of the
hyper-model until some pair has been visited B times; then it draws new models. The hyper-model is optimistic: its value
is at least that of each of its models, and one of them is likely to be as good as the truth.

Paper to code: the merged model M# is `draw_merged`, its solution `hyper_q`; "q_{s,a} = B" is `full`.
Deviations: new models are drawn when the visits of a pair *first reach* B, as in the paper and its public code, and not
"a number of times for each pair" as the survey says (ERRATA 15). Visits are the planner's own, without prior counts.
Pairs that share a group share their visits, unless rewards are unknown. Unknown rewards are drawn with the models.
Cost: a solve of K |A| actions at most |S||A| + 1 times, otherwise O(|S||A|). Claims: the hyper-model's value dominates
each model's; equal to a transcription of the algorithm under the same random numbers; the public code's return.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import draws_must_end, state_in
from bayesrl.bamdp._posterior import count_visits
from bayesrl.bamdp.optimism.pac_bounds import THEORY, boss_knownness
from bayesrl.bamdp.sampling.merged_models import SamplesListedMDPs, hyper_q
from bayesrl.capabilities import GroupsVisits
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.ties import first_best, size
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class BOSSNeeds(SamplesListedMDPs, GroupsVisits, Protocol):
    """A belief for BOSS."""


class BOSSPlan(NamedTuple):
    """The action values of the hyper-model in use, its values, and the visits of each group."""

    q: Floats
    values: Floats
    visits: Floats


@register(
    "boss",
    kind="planner",
    survey="4.6",
    paper="asmuth09",
    example=lambda: BOSS(),
    facets=Facets(
        depth="N/A",
        actions="A x K",
        successors="all s'",
        posterior=Differs(
            "sample K per step",
            here="sample K when a pair becomes known",
            why="New models are drawn when the visits of a pair first reach B (ERRATA 15).",
        ),
        solution="Q solved by DP",
        guarantee="PAC-MDP",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/sampling/test_boss.py::test_boss_equals_its_transcription",
        "tests/bamdp/sampling/test_boss.py::test_hyper_model_dominates_each_model",
        "tests/bamdp/sampling/test_boss.py::test_returns_of_public_code",
        "tests/bamdp/sampling/test_boss.py::test_a_return_of_public_code_from_few_runs",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@declared
class BOSS:
    """Act on the best of K sampled models in every state; draw again when a pair becomes known.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), BOSS(samples=3, knownness=5))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    152.0
    """

    samples: Annotated[int, AtLeast(1), "Models drawn, K."] = 5
    knownness: Annotated[
        int | Literal["theory"],
        AtLeast(1),
        'Visits after which a pair counts as known, B; "theory" for the theorem\'s (`boss_knownness`).',
    ] = 10

    needs: ClassVar[tuple[type, ...]] = (BOSSNeeds,)

    def check(self, belief: BOSSNeeds) -> None:
        """Raise an error if the discount is 1 and the model need not end, or if theory prescribes no finite number."""
        draws_must_end("BOSS", belief)
        self._knownness(belief)

    def start(self) -> BOSSPlan | None:
        """No models yet."""
        return None

    def plan(
        self,
        belief: BOSSNeeds,
        observation: int,
        memory: BOSSPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Follow the hyper-model's policy; draw new models when a pair has just become known."""
        s = state_in("BOSS", belief, observation)
        visits = count_visits(None if memory is None else memory.visits, belief, last)
        full = last is not None and visits[belief.visit_groups()[last.state, last.action]] == self._knownness(belief)
        if memory is None or full:
            warm = None if memory is None else memory.values
            sizes = np.full(belief.outcomes.n_groups, self.samples)
            memory = BOSSPlan(*hyper_q(belief, sizes, warm, rng), visits)
        here = memory.q[s]
        return Decision(first_best(here, size(memory.values)), memory._replace(visits=visits), {"q": here})

    def _knownness(self, belief: BOSSNeeds) -> int:
        if self.knownness != THEORY:
            return int(self.knownness)
        return boss_knownness(belief.n_states, belief.n_actions, belief.gamma, self.samples)
